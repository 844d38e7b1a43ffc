"""Objects, the queue and the secret, through their adapters."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.s3 import S3Objects
from shared.adapters.secrets import read_secret
from shared.adapters.sqs import SqsChangeQueue
from shared.errors import ConfigurationError, DependencyRefused, NotFound
from tests.support.moto_aws import MockedAws, mocked_aws


@pytest.fixture(scope="module")
def aws() -> Iterator[MockedAws]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as mocked:
        yield mocked


@pytest.fixture
def objects(aws: MockedAws) -> S3Objects:
    return S3Objects(aws.s3, aws.bucket)


def put(aws: MockedAws, key: str, data: bytes) -> str:
    return aws.s3.put_object(Bucket=aws.bucket, Key=key, Body=data, ContentType="application/pdf")["VersionId"]


def test_head_tells_version_size_and_type(aws: MockedAws, objects: S3Objects) -> None:
    version = put(aws, "a b/ü.pdf", b"12345")
    head = objects.head("a b/ü.pdf")
    assert head is not None
    assert (head.version_id, head.size_bytes, head.content_type) == (version, 5, "application/pdf")
    assert head.last_modified is not None
    assert head.last_modified.tzinfo is not None


def test_what_is_not_there_or_deleted_is_none(aws: MockedAws, objects: S3Objects) -> None:
    assert objects.head("never") is None
    put(aws, "deleted", b"x")
    aws.s3.delete_object(Bucket=aws.bucket, Key="deleted")
    assert objects.head("deleted") is None


def test_the_version_that_was_looked_at_is_downloaded_even_when_a_newer_one_is_there(
    aws: MockedAws, objects: S3Objects, tmp_path: Path
) -> None:
    put(aws, "k", b"first")
    head = objects.head("k")
    put(aws, "k", b"second")
    assert head is not None
    objects.download(head, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"first"


def test_a_version_that_is_gone_is_not_found(aws: MockedAws, objects: S3Objects, tmp_path: Path) -> None:
    version = put(aws, "gone", b"first")
    head = objects.head("gone")
    aws.s3.delete_object(Bucket=aws.bucket, Key="gone", VersionId=version)
    assert head is not None
    with pytest.raises(NotFound):
        objects.download(head, tmp_path / "file")


def test_all_versions_of_one_key_are_deleted_and_of_no_other(aws: MockedAws, objects: S3Objects) -> None:
    for data in (b"1", b"2"):
        put(aws, "v/a.pdf", data)
    aws.s3.delete_object(Bucket=aws.bucket, Key="v/a.pdf")
    put(aws, "v/a.pdf", b"3")
    put(aws, "v/a.pdf.pdf", b"other")
    assert objects.delete_all_versions("v/a.pdf") == 4
    left = aws.s3.list_object_versions(Bucket=aws.bucket, Prefix="v/")
    assert [version["Key"] for version in left["Versions"]] == ["v/a.pdf.pdf"]
    assert objects.delete_all_versions("v/a.pdf") == 0


def test_an_upload_form_binds_key_type_and_size(objects: S3Objects) -> None:
    post = objects.presigned_post("uploads/t/a.pdf", max_bytes=1_000, content_type="application/pdf", expires_s=60)
    policy = json.loads(base64.b64decode(post.fields["policy"]))
    assert ["content-length-range", 1, 1_000] in policy["conditions"]
    assert {"key": "uploads/t/a.pdf"} in policy["conditions"]
    assert {"Content-Type": "application/pdf"} in policy["conditions"]
    assert post.fields["Content-Type"] == "application/pdf"
    assert post.fields["x-amz-algorithm"] == "AWS4-HMAC-SHA256"


def test_a_reading_link_names_the_version_and_expires(aws: MockedAws, objects: S3Objects) -> None:
    version = put(aws, "link.pdf", b"x")
    head = objects.head("link.pdf")
    assert head is not None
    link = objects.presigned_get(head, expires_s=60, file_name='an "odd"\r\nnäme.pdf', content_type="application/pdf")
    assert f"versionId={version}" in link
    assert "X-Amz-Expires=60" in link
    assert "%0D" not in link
    assert "UTF-8%27%27an%2520%2522odd%2522n%25C3%25A4me.pdf" in link


def test_a_missing_bucket_is_the_objects_fault_by_name(aws: MockedAws) -> None:
    with pytest.raises(DependencyRefused, match="objects"):
        S3Objects(aws.s3, "no-such-bucket").delete_all_versions("k")


def test_a_change_is_seen_again_after_it_was_made_visible(aws: MockedAws) -> None:
    queue = SqsChangeQueue(aws.sqs, aws.queue_url)
    queue.send('{"recto": "change"}', delay_s=-3)
    message = aws.sqs.receive_message(QueueUrl=aws.queue_url)["Messages"][0]
    assert message["Body"] == '{"recto": "change"}'
    assert "Messages" not in aws.sqs.receive_message(QueueUrl=aws.queue_url)
    queue.extend(message["ReceiptHandle"], visibility_s=0)
    assert aws.sqs.receive_message(QueueUrl=aws.queue_url)["Messages"][0]["MessageId"] == message["MessageId"]


def test_the_secret_is_a_json_object_of_strings(aws: MockedAws) -> None:
    assert read_secret(aws.secrets, aws.secret_id)["OPENAI_API_KEY"] == "sk-test"


@pytest.mark.parametrize("text", ["sk-plain", "[1]", '{"OPENAI_API_KEY": 7}'])
def test_a_secret_of_another_shape_is_a_configuration_error_that_does_not_show_it(aws: MockedAws, text: str) -> None:
    aws.secrets.put_secret_value(SecretId=aws.secrets.create_secret(Name=f"bad{hash(text)}")["Name"], SecretString=text)
    with pytest.raises(ConfigurationError, match="JSON object") as caught:
        read_secret(aws.secrets, f"bad{hash(text)}")
    assert text not in str(caught.value)


def test_a_missing_key_or_secret_says_what_to_do(aws: MockedAws) -> None:
    with pytest.raises(ConfigurationError, match="no CHAT_API_KEY"):
        read_secret(aws.secrets, aws.secret_id, required=("CHAT_API_KEY",))
    with pytest.raises(ConfigurationError, match="RECTO_SECRET_ID"):
        read_secret(aws.secrets, "")
    with pytest.raises(DependencyRefused, match="ResourceNotFound"):
        read_secret(aws.secrets, "nothing-here")
