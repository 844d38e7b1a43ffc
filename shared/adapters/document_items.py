"""How a document lies in DynamoDB: keys, attributes, and the way back.

`pk=TENANT#{tenant}`, `sk=DOC#{document_id}`. Beside the fields of `Document`:

    settled_status     the last final status, shown again when a lease ends with nothing changed
    lease_owner        who works on it, as `{message id}/{unique}`; absent when nobody does
    lease_until        when that ends, epoch seconds
    pending_sequencer  a change notification that arrived while the lease was held ("now" for one without a sequencer)
    generations        every generation that may have vectors in the index → upper bound of their number
    published          what is published in each index version: its number → generation, version_id, settings_hash, …
    draft              the unfinished ingest: generation, version_id, settings_hash, chunks_done
    news               what is found has changed, and the tenant's knowledge version does not count it yet
    trouble            why the ingest under way has not succeeded yet; `error` stays that of what is settled
    unpublished_at     when the API was asked to delete it
    expires_at         TTL, epoch seconds: on tombstones and announcements only
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

from shared.adapters.dynamo import Item, from_item, to_item
from shared.models import (
    FIRST_INDEX_VERSION,
    Document,
    DocumentError,
    DocumentStatus,
    PageReport,
    PageState,
    Published,
    SourceType,
)
from shared.ports import UnfinishedIngest

SEQUENCER_WIDTH = 64
MAX_DETAIL = 200
"""Characters of a page's detail kept: 5,000 pages must fit into the 400 KB of an item beside all else."""
REPORT_BYTES = 300_000
_PLAIN_FIELDS = (
    "title",
    "version_id",
    "etag",
    "generation",
    "chunk_count",
    "page_count",
    "token_count",
    "size_bytes",
    "embedding_space",
    "settings_hash",
    "updated_at",
)


def key_of(tenant: str, document_id: str) -> Item:
    """Return the primary key."""
    return to_item({"pk": f"TENANT#{tenant}", "sk": f"DOC#{document_id}"})


def normal_sequencer(sequencer: str) -> str:
    """Make S3's sequencers comparable as strings.

    S3 says: hexadecimal, of differing length, to be compared after padding the shorter one with zeros on the right.
    """
    return sequencer.upper().ljust(SEQUENCER_WIDTH, "0") if sequencer else ""


def result_attributes(document: Document) -> dict[str, object]:
    """Return the attributes that the outcome of an ingest sets; identity, status and lease are not among them."""
    values: dict[str, object] = {name: getattr(document, name) for name in _PLAIN_FIELDS}
    values["main_language"] = document.language  # `language` is a word DynamoDB has reserved
    values["source_type"] = document.source_type.value
    values["report"] = pack_report(document.report)
    values["labels"] = dict(document.labels)
    values["published"] = published_attribute(document)
    return values


def published_attribute(document: Document) -> dict[str, dict[str, object]]:
    """Return the stored form of what is published in each index version; without any, the document itself is the first
    one's.
    """
    index_versions = document.index_versions or (
        {FIRST_INDEX_VERSION: _published_by(document)} if document.generation else {}
    )
    return {str(number): published._asdict() for number, published in index_versions.items()}


def index_versions_of(item: Mapping[str, Any]) -> dict[int, Published]:
    """Read what is published in each index version."""
    if "published" not in item:
        return {}
    stored = from_item({"value": item["published"]})["value"]
    return {int(number): Published(**published) for number, published in stored.items()}


def _published_by(document: Document) -> Published:
    return Published(
        document.generation,
        document.version_id,
        document.settings_hash,
        document.embedding_space,
        document.chunk_count,
    )


def error_attribute(error: DocumentError | None) -> dict[str, str] | None:
    """Return the stored form of an error."""
    return None if error is None else {"code": error.code, "message": error.message}


def document_of(item: Mapping[str, Any]) -> Document:
    """Read a document from a wire item."""
    values = from_item(item)
    error = values.get("trouble") or values.get("error")
    return Document(
        tenant=values["tenant"],
        document_id=values["document_id"],
        key=values["key"],
        language=values.get("main_language", ""),
        status=DocumentStatus(values["status"]),
        sequencer=values.get("sequencer", ""),
        source_type=SourceType(values.get("source_type", SourceType.PDF)),
        error=DocumentError(error["code"], error["message"]) if error else None,
        report=unpack_report(values["report"]) if "report" in values else (),
        labels=values.get("labels", {}),
        created_at=values.get("created_at", ""),
        index_versions=index_versions_of(item),
        **{name: values[name] for name in _PLAIN_FIELDS if name in values},
    )


def written_of(item: Mapping[str, Any]) -> dict[str, int]:
    """Read which generations may have vectors in the index."""
    return from_item({"value": item["generations"]})["value"] if "generations" in item else {}


def draft_of(item: Mapping[str, Any]) -> UnfinishedIngest | None:
    """Read the unfinished ingest, if there is one."""
    return UnfinishedIngest(**from_item({"value": item["draft"]})["value"]) if "draft" in item else None


def pack_report(report: Sequence[PageReport]) -> bytes:
    """Store a report as gzipped JSON rows: 5,000 pages take some 50 KB.

    Details are left out where they would make it larger than an item can hold; after them the last rows, which happens
    to knowledge files of tens of thousands of chunks alone.
    """
    packed = b""
    for length in (MAX_DETAIL, 40, 0):
        packed = _packed(report, length)
        if len(packed) <= REPORT_BYTES:
            return packed
    while len(packed) > REPORT_BYTES:
        report = report[: len(report) * 3 // 4]
        packed = _packed(report, 0)
    return packed


def _packed(report: Sequence[PageReport], detail: int) -> bytes:
    rows = [
        [p.number, p.characters, p.state, p.detail[:detail], round(p.seconds, 3), *_shares(p), int(p.text_layer)]
        for p in report
    ]
    return gzip.compress(json.dumps(rows, separators=(",", ":"), ensure_ascii=False).encode(), mtime=0)


def unpack_report(packed: bytes) -> tuple[PageReport, ...]:
    """Read a stored report."""
    return tuple(_page_of(*row) for row in json.loads(gzip.decompress(packed)))


def _shares(page: PageReport) -> tuple[float, float]:
    return round(page.doubtful, 2), round(page.pictured, 2)


def _page_of(number: int, characters: int, state: PageState, detail: str, seconds: float, *more: float) -> PageReport:
    doubtful, pictured, text_layer = more or (0.0, 0.0, characters > 0)  # older reports end with the seconds
    return PageReport(number, characters, state, detail, seconds, doubtful, pictured, bool(text_layer))
