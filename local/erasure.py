"""Erasures on the command line: verify a receipt, finish erasures that were begun, look for traces (also on AWS).

`check` does not use the code that erases: it reads every store whole, and looks for the erased ids.
"""

import argparse
import json
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.operate import Target, dead_letters, keys_of, maintain, settings_of
from local.report import Reporter, counted
from local.stack.config import LocalStackError, read_json
from shared.adapters.aws import from_item
from shared.adapters.pinecone import PineconeIndex, resolve_host
from shared.adapters.secrets import PINECONE_API_KEY, read_secret
from shared.erasures import is_genuine, signing_key
from shared.errors import RectoError
from shared.models import document_id_of
from shared.settings import Settings

TABLES = ("DocumentsTableName", "ConversationsTableName", "CacheTableName")
SAID = ("kind", "subject", "state", "key", "finished_at")
"""Fields of a receipt that `verify` tells."""
WAIT_S = 30.0
SHOWN = 20
"""Traces that are named one by one."""
_TOMBSTONE = {
    "pk", "sk", "tenant", "document_id", "key", "status", "final_status", "sequencer", "created_at", "updated_at",
    "expires_at", "chunk_count", "page_count", "token_count", "size_bytes",
}  # fmt: skip
"""The fields of an erased document that are kept, so that late events find it: neither its name nor its text."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Where an erased id still is: the store, and the item or object."""

    store: str
    place: str
    subject: str


def run(target: Target, report: Reporter, given: argparse.Namespace) -> int:
    """Take a step; 0 when nothing is wrong. Raises `LocalStackError`."""
    if given.step == "verify":
        if len(given.names) != 1:
            raise LocalStackError("`erasure verify` needs one file: the receipt, as GET /erasures/{id} shows it.")
        return verify(target, report, Path(given.names[0]))
    if given.step == "finish":
        return finish(target, report, given.settle)
    return check(target, report, given.names)


def verify(target: Target, report: Reporter, file: Path) -> int:
    """Say whether a receipt is genuine, and what it says."""
    receipt = _receipt_in(file)
    kind, subject, state, key_name, finished_at = (receipt[name] for name in SAID)
    key = signing_key(read_secret(target.client("secretsmanager"), target.outputs["SecretId"]))
    if not is_genuine(receipt, key):
        report.say(
            f"NOT genuine: this stack has not signed it, or its key ({key_name} in the receipt) was changed since."
        )
        return 1
    report.say(f"Genuine. The {kind} {subject} is {state}{f' since {finished_at}' if finished_at else ''}.")
    for each in receipt["stores"]:
        report.say(f"  {each['store']}: {each['before']} before, {each['after']} after")
    for line in receipt["left"]:
        report.say(f"  left: {line}")
    return 0


def _receipt_in(file: Path) -> dict[str, Any]:
    """Return the receipt that a file holds, alone or within the response of GET /erasures/{id}."""
    held = read_json(file, "a receipt")
    receipt = held.get("receipt", held) if isinstance(held, dict) else held
    if receipt is None:
        raise LocalStackError(
            f"{file} holds no receipt yet, because the erasure is still running. It takes about a quarter of an hour; "
            "`python -m local erasure finish` does it now. Then read GET /erasures/{id} again."
        )
    if not isinstance(receipt, dict):
        raise LocalStackError(f"{file} is not a receipt: it is no JSON object.")
    if missing := [name for name in SAID if name not in receipt]:
        raise LocalStackError(f"{file} is not a receipt: it has no `{missing[0]}`.")
    return receipt


def finish(target: Target, report: Reporter, settle_s: float | None) -> int:
    """Have maintenance continue until no erasure is left."""
    request = {"recto": "erase"} | ({} if settle_s is None else {"settle_s": str(settle_s)})
    finished = 0
    with report.live("Erasing") as show:
        while True:
            done = maintain(target, request)
            finished += done["finished"]
            if not done["unfinished"]:
                break
            show(f"{finished} finished, {done['unfinished']} left")
            time.sleep(WAIT_S if settle_s is None else min(settle_s, WAIT_S))
    report.say(f"{counted(finished, 'erasure')} finished.")
    return 0


# --- check ------------------------------------------------------------------------------------------------------------


def check(target: Target, report: Reporter, ids: Sequence[str]) -> int:
    """Look for traces in every store; 1 when there are any."""
    sought = list(ids) or sorted(erased_subjects(target))
    if not sought:
        report.say("Nothing has been erased yet.")
        return 0
    with report.live("Reading every store") as show:
        found = []
        for trace in traces(target, sought, settings_of(target)):
            found.append(trace)
            show(counted(len(found), "trace"))
    for trace in found[:SHOWN]:
        report.say(f"  {trace.store}: {trace.place} holds {trace.subject}")
    if len(found) > SHOWN:
        report.say(f"  … and {len(found) - SHOWN} more")
    report.say(f"{counted(len(found), 'trace')} of {counted(len(sought), 'erased id')}.")
    return 1 if found else 0


def erased_subjects(target: Target) -> set[str]:
    """Return the ids of all documents and users whose erasure is finished."""
    items = _items(target, target.outputs["ConversationsTableName"])
    return {
        item["subject"] for item in items if str(item["pk"]).endswith("#ERASURES") and item.get("state") == "erased"
    }


def traces(target: Target, sought: Sequence[str], settings: Settings) -> Iterator[Trace]:
    """Yield each place where one of the ids still is: tables, bucket, index versions, dead letters."""
    pattern = re.compile("|".join(rf"(?<![\w-]){re.escape(each)}(?![\w-])" for each in sought))
    wanted = set(sought)
    for name in TABLES:
        for item in _items(target, target.outputs[name]):
            if not is_allowed(item):
                place = f"{item['pk']} {item.get('sk', '')}".strip()
                yield from (Trace(name, place, each) for each in set(pattern.findall(_text_of(item))))
    yield from _in_bucket(target, wanted)
    yield from _in_indexes(target, wanted, settings)
    yield from in_dead_letters(target, wanted)


def _items(target: Target, table: str) -> Iterator[dict[str, Any]]:
    pages = target.client("dynamodb").get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    for page in pages:
        yield from map(from_item, page["Items"])


def is_allowed(item: Mapping[str, Any]) -> bool:
    """Say whether an item may name an erased id: a receipt, a tombstone without a name, the key of an erased edit."""
    if str(item["pk"]).endswith("ERASURES"):
        return True
    if item.get("status") == "DELETED":
        said = {name for name, value in item.items() if value != {}}  # a late event leaves `generations`, empty
        return said <= _TOMBSTONE and not item["key"]
    return str(item.get("sk", "")).startswith("EDIT#") and item.keys() <= {"pk", "sk", "expires_at"}


def _text_of(item: Mapping[str, Any]) -> str:
    """Return all that an item holds as text, unpacked, except access rules, which editors write."""
    held = {name: _unpacked(value) for name, value in item.items() if name != "access"}
    return json.dumps(held, default=str, ensure_ascii=False)


def _unpacked(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return zlib.decompress(value).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""


def _in_bucket(target: Target, wanted: set[str]) -> Iterator[Trace]:
    bucket = target.outputs["BucketName"]
    for page in target.client("s3").get_paginator("list_object_versions").paginate(Bucket=bucket):
        for entry in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            if (document_id := _document_id(entry["Key"])) in wanted:
                yield Trace("bucket", f"{entry['Key']} {entry['VersionId']}", document_id)


def _document_id(key: str) -> str:
    parts = key.split("/")
    return document_id_of(parts[1], key) if len(parts) > 2 else ""


def _in_indexes(target: Target, wanted: set[str], settings: Settings) -> Iterator[Trace]:
    """Look at every namespace that a tenant's pointer names."""
    key = read_secret(target.client("secretsmanager"), target.outputs["SecretId"])[PINECONE_API_KEY]
    spaces: dict[str, set[str]] = {}
    for item in _items(target, target.outputs["DocumentsTableName"]):
        if item.get("sk") == "TENANT" and "current" in item:
            for stored in filter(None, (item["current"], item.get("other"), *item.get("dropped", ()))):
                spaces.setdefault(stored["index"], set()).add(stored["namespace"])
    for name, namespaces in spaces.items():
        with closing(_index(settings, name, key)) as index:
            for namespace in sorted(namespaces):
                for page in index.list_ids(namespace=namespace, prefix=""):
                    for vector_id in page:
                        if vector_id.partition("#")[0] in wanted:
                            yield Trace(f"index {name}", f"{namespace} {vector_id}", vector_id.partition("#")[0])


def _index(settings: Settings, name: str, key: str) -> PineconeIndex:
    elsewhere = {} if name == settings.pinecone_index else {"pinecone_index": name, "pinecone_host": ""}
    try:
        return PineconeIndex(host=resolve_host(settings.model_copy(update=elsewhere), key), api_key=key)
    except RectoError as error:
        raise LocalStackError(f"The index {name} cannot be read: {error.message}") from error


def in_dead_letters(target: Target, wanted: set[str]) -> Iterator[Trace]:
    """Look at the dead letters without taking them: those that were read are hidden until all have been."""
    read: dict[str, str] = {}
    try:
        for message in dead_letters(target):
            if message["MessageId"] in read:
                break  # it is visible again: reading takes longer than they stay hidden
            read[message["MessageId"]] = message["ReceiptHandle"]
            for key in keys_of(message["Body"]):
                if (document_id := _document_id(key)) in wanted:
                    yield Trace("dead letters", message["MessageId"], document_id)
    finally:
        for handle in read.values():
            target.sqs.change_message_visibility(
                QueueUrl=target.outputs["DlqUrl"], ReceiptHandle=handle, VisibilityTimeout=0
            )
