"""Repairs the state that a killed AWS emulator leaves behind.

It saves tables and stacks only when it is stopped, but objects at once: after a kill the registry may be older than the
bucket, and there may be a bucket whose stack it has forgotten. The bucket is the source of truth: everything else is
rebuilt from it.
"""

from contextlib import suppress

from botocore.exceptions import ClientError

from functions.ingest.changes import change_body, document_ref_of
from local.stack.aws import Aws, Deployed, find_stack
from local.stack.config import STACK_NAME, LocalConfig

RESCUE_BUCKET = "recto-rescued"


def notify_every_object(aws: Aws, deployed: Deployed) -> int:
    """Send a change notification for every document in the bucket; return how many."""
    keys = [key for key in _keys(aws, deployed.bucket) if document_ref_of(key)]
    for key in keys:
        aws.sqs.send_message(QueueUrl=deployed.outputs["QueueUrl"], MessageBody=change_body(key))
    return len(keys)


def clear_the_way(aws: Aws, config: LocalConfig) -> None:
    """Remove a half-made stack, and move aside the objects of a bucket without a stack: both would stop a deploy."""
    if find_stack(aws, config) is not None:
        return
    with suppress(ClientError):
        aws.cloudformation.delete_stack(StackName=STACK_NAME)
    for bucket in aws.s3.list_buckets()["Buckets"]:
        if bucket["Name"].startswith(f"{STACK_NAME}-uploads-"):
            _move(aws, bucket["Name"], RESCUE_BUCKET)
            aws.s3.delete_bucket(Bucket=bucket["Name"])


def bring_back(aws: Aws, deployed: Deployed) -> int:
    """Copy what `clear_the_way` moved aside into the new bucket, which ingests it; return how many objects."""
    if RESCUE_BUCKET not in {bucket["Name"] for bucket in aws.s3.list_buckets()["Buckets"]}:
        return 0
    moved = _move(aws, RESCUE_BUCKET, deployed.bucket)
    aws.s3.delete_bucket(Bucket=RESCUE_BUCKET)
    return moved


def _keys(aws: Aws, bucket: str) -> list[str]:
    pages = aws.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    return [item["Key"] for page in pages for item in page.get("Contents", [])]


def _move(aws: Aws, source: str, target: str) -> int:
    """Copy the present version of every object to `target`, then remove every version from `source`."""
    with suppress(aws.s3.exceptions.BucketAlreadyOwnedByYou):
        aws.s3.create_bucket(Bucket=target)
    keys = _keys(aws, source)
    for key in keys:
        aws.s3.copy_object(Bucket=target, Key=key, CopySource={"Bucket": source, "Key": key})
    for page in aws.s3.get_paginator("list_object_versions").paginate(Bucket=source):
        for item in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
            aws.s3.delete_object(Bucket=source, Key=item["Key"], VersionId=item["VersionId"])
    return len(keys)
