"""The documents table: its item format, the registry for the API, and scans for maintenance.

`pk=TENANT#{tenant}`, `sk=DOC#{document_id}`. Attributes in addition to the fields of `Document`:

    final_status       the last final status, restored when a lease ends without a change
    lease_owner        the worker's `{message id}/{unique}`; absent without a lease
    lease_until        when the lease ends, epoch seconds
    pending_sequencer  a change notification that arrived during the lease ("now" for one without a sequencer)
    generations        every generation that may have vectors in the index → upper bound of their number
    published          index version number → what is published in it: generation, version_id, settings_hash, …
    made_with          index version number → what editors had said when its generation was made: generation, …
    edits              hash of a passage's original text → what its edit says (`Edits`); absent without any
    unfinished         the unfinished ingest: generation, version_id, settings_hash, chunks_done
    pages_read         its progress for people: generation, page, page_count
    uncounted_change   the searchable content changed, and the tenant's knowledge version does not count it yet
    attempt_error      why the current ingest has not succeeded yet; `error` belongs to the final status
    unpublished_at     when the API was asked to delete the document
    access             the document's own rule, as lists `groups` and `users`; a tombstone keeps it
    access_version     the object version whose metadata were last asked for a rule
    expires_at         TTL, epoch seconds; only on tombstones and announcements
"""

import base64
import binascii
import gzip
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.access import AccessRule, FolderRules, Rules, kinds_of
from shared.adapters.aws import Item, batch_get, dynamo_errors, from_item, pages, to_item
from shared.adapters.cache import Recent
from shared.adapters.folder_rules import DynamoFolderRules
from shared.adapters.index_versions import begin_change, end_change, read_knowledge
from shared.adapters.retry import Retry
from shared.errors import DependencyError, InvalidRequest
from shared.lexical import fold
from shared.models import (
    FIRST_INDEX_VERSION,
    Document,
    DocumentError,
    DocumentStatus,
    Edits,
    Labels,
    PageReport,
    PagesRead,
    PageState,
    Published,
    PublishedDocument,
    SourceType,
    values_of,
)
from shared.ports import (
    ALL_DOCUMENTS,
    CatalogueEntry,
    Clock,
    DocumentEntry,
    DocumentFilter,
    DocumentPage,
    ScannedDocument,
    UnfinishedIngest,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


SEQUENCER_WIDTH = 64
MAX_DETAIL = 200
"""Maximum characters of a page's detail: 5,000 pages must fit into the 400 KB of an item."""
REPORT_BYTES = 300_000
_PUBLISHED_FIELDS = ("generation", "version_id", "settings_hash", "embedding_space", "chunk_count")
_PLAIN_FIELDS = (
    "title", "version_id", "etag", "generation", "chunk_count", "page_count", "token_count", "size_bytes",
    "embedding_space", "settings_hash", "updated_at", "ocr", "card",
)  # fmt: skip
SHORTER_DETAIL = 40
"""Characters of a page's detail in a report that is too long with whole ones."""


def key_of(tenant: str, document_id: str) -> Item:
    """Return the primary key."""
    return to_item({"pk": f"TENANT#{tenant}", "sk": f"DOC#{document_id}"})


def normal_sequencer(sequencer: str) -> str:
    """Make S3's sequencers comparable as strings.

    S3 documents them as hexadecimal numbers, to be compared after padding the shorter one with zeros on the right.
    """
    return sequencer.upper().ljust(SEQUENCER_WIDTH, "0") if sequencer else ""


def result_attributes(document: Document) -> dict[str, object]:
    """Return the attributes set by the outcome of an ingest, without identity, status and lease."""
    values: dict[str, object] = {name: getattr(document, name) for name in _PLAIN_FIELDS}
    values["card"] = dict(document.card)
    values["main_language"] = document.language  # `language` is a reserved word of DynamoDB
    values["source_type"] = document.source_type.value
    values["report"] = pack_report(document.report)
    values["published"] = published_attribute(document)
    values["made_with"] = made_with_attribute(document)
    return values


def published_attribute(document: Document) -> dict[str, dict[str, object]]:
    """Return the stored form of `index_versions`; if it is empty, the document itself counts as the first version."""
    index_versions = document.index_versions or (
        {FIRST_INDEX_VERSION: document.as_published()} if document.generation else {}
    )
    return {
        str(number): {name: getattr(published, name) for name in _PUBLISHED_FIELDS}
        for number, published in index_versions.items()
    }


def made_with_attribute(document: Document) -> dict[str, dict[str, object]]:
    """Return the stored form of the edits and OCR readings that each index version was made with; beside `published`.

    An entry counts only while its generation is the published one: an older release, which knows nothing of these
    entries, may have published another generation meanwhile.
    """
    return {
        str(number): {
            "generation": published.generation,
            "editorial": published.editorial,
            "edited": dict(published.edited),
            "ocr": published.ocr,
        }
        for number, published in (document.index_versions or {FIRST_INDEX_VERSION: document.as_published()}).items()
        if published.editorial or published.edited or published.ocr
    }


def _index_versions_of(item: Mapping[str, Any]) -> dict[int, Published]:
    """Read what is published in each index version."""
    if "published" not in item:
        return {}
    stored = from_item({name: item[name] for name in ("published", "made_with") if name in item})
    made_with = stored.get("made_with", {})
    return {
        int(number): Published(**published, **_said_of(published["generation"], made_with.get(number, {})))
        for number, published in stored["published"].items()
    }


def _said_of(generation: str, made_with: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of `Published` that are stored beside it."""
    if made_with.get("generation") != generation:
        return {}
    return {name: value for name, value in made_with.items() if name != "generation"}


def error_attribute(error: DocumentError | None) -> dict[str, str] | None:
    """Return the stored form of an error."""
    return None if error is None else {"code": error.code, "message": error.message}


def document_of(item: Mapping[str, Any]) -> Document:
    """Read a document from a wire item."""
    values = from_item(item)
    error = values.get("attempt_error") or values.get("error")
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
        edits=values.get("edits", {}),
        access=_rule_in(values.get("access")),
        access_version=values.get("access_version", ""),
        created_at=values.get("created_at", ""),
        index_versions=_index_versions_of(item),
        progress=_progress_in(values),
        **{name: values[name] for name in _PLAIN_FIELDS if name in values},
    )


def _progress_in(values: Mapping[str, Any]) -> PagesRead | None:
    """Read the progress of the ingest under way: what is stored of another generation is of an earlier one."""
    stored, unfinished = values.get("pages_read"), values.get("unfinished")
    if not stored or not unfinished or stored["generation"] != unfinished["generation"]:
        return None
    return PagesRead(int(stored["page"]), int(stored["page_count"]))


def _rule_in(stored: Mapping[str, Sequence[str]] | None) -> AccessRule | None:
    """Read a document's own rule."""
    return None if stored is None else AccessRule(frozenset(stored["groups"]), frozenset(stored["users"]))


def rule_attribute(rule: AccessRule | None) -> dict[str, list[str]] | None:
    """Return the stored form of a document's own rule."""
    return None if rule is None else {"groups": sorted(rule.groups), "users": sorted(rule.users)}


def written_of(item: Mapping[str, Any]) -> dict[str, int]:
    """Read which generations may have vectors in the index."""
    return from_item({"value": item["generations"]})["value"] if "generations" in item else {}


def unfinished_of(item: Mapping[str, Any]) -> UnfinishedIngest | None:
    """Read the unfinished ingest, if there is one."""
    return UnfinishedIngest(**from_item({"value": item["unfinished"]})["value"]) if "unfinished" in item else None


def pack_report(report: Sequence[PageReport]) -> bytes:
    """Pack a report as gzipped JSON rows: about 50 KB for 5,000 pages.

    If it is over `REPORT_BYTES`, details are cut, then the last rows, which only happens to knowledge files of tens of
    thousands of chunks.
    """
    packed = b""
    for length in (MAX_DETAIL, SHORTER_DETAIL, 0):
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


_NO_EDITS: Edits = MappingProxyType({})
_SHOWN_FIELDS = ("document_id", "key", "edits", "access")
_RULE_NAMES = {"#key": "key", "#access": "access"}
_NOT_PUBLISHED = PublishedDocument("")
REMEMBERED = 20_000
"""Documents whose generations a container remembers: 8 MB."""
_BATCH_ATTEMPTS = 5
_FIRST_WAIT_S = 0.05
NEWEST = "newest"
"""The table's index that lists a tenant's documents by `created_at`, with what a listing shows (template.yaml)."""
LISTED_PAGES = 5
"""Pages of that index that one listing reads, of 1 MB each: some ten thousand documents."""


class DynamoDocumentRegistry:
    """Implements `DocumentRegistry` on the documents table."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock, *, remembered: int = REMEMBERED) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._remembered: Recent[tuple[str, int, str], tuple[str, PublishedDocument]] = Recent(remembered)
        self._folders = DynamoFolderRules(client, table)

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document, tombstones included, or None. Consistent read."""
        with dynamo_errors("registry"):
            item = self._client.get_item(
                TableName=self._table, Key=key_of(tenant, document_id), ConsistentRead=True
            ).get("Item")
        return None if item is None or self._expired(item) else document_of(item)

    def list(
        self, tenant: str, wanted: DocumentFilter = ALL_DOCUMENTS, *, limit: int, cursor: str = ""
    ) -> DocumentPage:
        """Return documents, newest first, without tombstones and reports; a change shows within a second or so.

        Words are compared without case and diacritics. A page that has to leave out many documents may hold fewer than
        `limit` and still have a cursor. Raises `InvalidRequest` for a bad cursor.
        """
        after = _start_of(cursor) if cursor else None
        words = _folded(wanted.q).split()
        documents: list[Document] = []
        for _ in range(LISTED_PAGES):
            request: dict[str, Any] = {"ExclusiveStartKey": _index_key(tenant, *after)} if after else {}
            if wanted.status is None and not words and not wanted.identity:
                request["Limit"] = limit - len(documents) + 1  # one more, to know whether this is the last page
            with dynamo_errors("registry"):
                answer = self._client.query(
                    TableName=self._table,
                    IndexName=NEWEST,
                    KeyConditionExpression="pk = :pk",
                    ExpressionAttributeValues=to_item({":pk": f"TENANT#{tenant}"}),
                    ScanIndexForward=False,
                    **request,
                )
            for item in answer["Items"]:
                if len(documents) == limit:
                    return DocumentPage(documents, _cursor_of(after))
                document = document_of(item)
                after = document.created_at, document.document_id
                if document.status is DocumentStatus.DELETED or self._expired(item):
                    continue
                is_wanted = wanted.status in (None, document.status) and _is_named(document, words)
                if is_wanted and _is_identified(document, wanted.identity):
                    documents.append(document)
            if "LastEvaluatedKey" not in answer:
                return DocumentPage(documents, "")
        return DocumentPage(documents, _cursor_of(after))

    def cursor_after(self, document: Document) -> str:
        """Return the cursor with which `list` goes on after this document."""
        return _cursor_of((document.created_at, document.document_id))

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, PublishedDocument]:
        """Map each searchable document to what may be shown of it in `index_version`.

        One consistent read of the tenant's knowledge version, and a consistent batch read of the documents that were
        not read under this version before. Each change of a document changes the version before and after it (see
        `begin_change`), so what was read under a version is true for as long as the version stays (docs/decisions, 22).
        """
        knowledge = read_knowledge(self._client, self._table, tenant)
        shown: dict[str, PublishedDocument] = {}
        wanted: list[str] = []
        for document_id in dict.fromkeys(document_ids):
            version, held = self._remembered.get((tenant, index_version, document_id)) or ("", None)
            if held is not None and version == knowledge.version and document_id not in knowledge.changing:
                shown[document_id] = held
            else:
                wanted.append(document_id)
        folders = self._folders.of(tenant, knowledge.access)
        read = self._published_read(tenant, wanted, index_version, folders)
        if index_version == knowledge.index_version:  # changes in the other one are not counted
            for document_id in wanted:
                if document_id not in knowledge.changing:
                    remembered = knowledge.version, read.get(document_id, _NOT_PUBLISHED)
                    self._remembered.put((tenant, index_version, document_id), remembered)
        return {document_id: each for document_id, each in (shown | read).items() if each.generation}

    def _published_read(
        self, tenant: str, document_ids: Sequence[str], index_version: int, folders: FolderRules
    ) -> dict[str, PublishedDocument]:
        items = self._read_all(
            tenant,
            document_ids,
            ProjectionExpression="document_id, #key, published, edits, #access",
            ExpressionAttributeNames=_RULE_NAMES,
        )
        found: dict[str, PublishedDocument] = {}
        for item in items:
            published = _index_versions_of(item).get(index_version)
            if published is not None:
                values = from_item({name: item[name] for name in _SHOWN_FIELDS if name in item})
                found[values["document_id"]] = PublishedDocument(
                    published.generation,
                    values.get("edits", _NO_EDITS),
                    folders.rules_for(values["key"], _rule_in(values.get("access"))),
                )
        return found

    def rules_of(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Rules] | None:
        """Map each document of the registry, tombstones included, to its rules; None if no document ever had one.

        Consistent reads: one of the tenant's item and, where there are rules, one of all documents.
        """
        knowledge = read_knowledge(self._client, self._table, tenant)
        if not knowledge.restricted:
            return None
        folders = self._folders.of(tenant, knowledge.access)
        items = self._read_all(
            tenant,
            list(dict.fromkeys(document_ids)),
            ProjectionExpression="document_id, #key, #access",
            ExpressionAttributeNames=_RULE_NAMES,
        )
        known = (values for values in map(from_item, items) if values["key"])  # one that was erased has lost its name
        return {each["document_id"]: folders.rules_for(each["key"], _rule_in(each.get("access"))) for each in known}

    def folder_rules(self, tenant: str) -> FolderRules:
        """Return the tenant's folder rules in force. Consistent read."""
        return self._folders.of(tenant, read_knowledge(self._client, self._table, tenant).access)

    def titles(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, str]:
        """Map each document that is not deleted to its title, or to its file's name if it has none."""
        items = self._read_all(
            tenant,
            list(dict.fromkeys(document_ids)),
            ProjectionExpression="document_id, title, #key, #status",
            ExpressionAttributeNames={"#key": "key", "#status": "status"},
        )
        gone = {DocumentStatus.DELETING.value, DocumentStatus.DELETED.value}
        return {
            values["document_id"]: values.get("title") or values["key"].rsplit("/", 1)[-1]
            for values in map(from_item, items)
            if values["status"] not in gone
        }

    def versions(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        """Map each document that is not deleted to the published versions of its object, or to the last one read."""
        items = self._read_all(
            tenant,
            list(dict.fromkeys(document_ids)),
            ProjectionExpression="document_id, published, version_id, #status",
            ExpressionAttributeNames={"#status": "status"},
        )
        found: dict[str, Collection[str]] = {}
        for item in items:
            values = from_item(item)
            published = {each.version_id for each in _index_versions_of(item).values()}
            versions = published or {values.get("version_id", "")}
            if values["status"] != DocumentStatus.DELETING.value and any(versions):  # a tombstone has no version
                found[values["document_id"]] = versions
        return found

    def _read_all(self, tenant: str, document_ids: Sequence[str], **request: Any) -> Iterator[Item]:
        return batch_get(
            self._client,
            self._table,
            [key_of(tenant, document_id) for document_id in document_ids],
            retry=Retry("registry", attempts=_BATCH_ATTEMPTS, first_wait_s=_FIRST_WAIT_S),
            ConsistentRead=True,
            **request,
        )

    def catalogue(self, tenant: str, *, index_version: int = FIRST_INDEX_VERSION) -> Iterator[CatalogueEntry]:
        """Yield every document that is published in `index_version`, unordered (consistent reads, page by page)."""
        names = {"#key": "key", "#labels": "labels", "#access": "access"}
        folders = self.folder_rules(tenant)
        items = pages(
            "registry",
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :doc)",
            FilterExpression="attribute_exists(published)",
            ExpressionAttributeValues=to_item({":pk": f"TENANT#{tenant}", ":doc": "DOC#"}),
            ProjectionExpression=(
                "document_id, #key, title, main_language, source_type, #labels, card, published, edits, #access,"
                " page_count, created_at"
            ),
            ExpressionAttributeNames=names,
            ConsistentRead=True,
        )
        for item in items:
            published = _index_versions_of(item).get(index_version)
            if published is not None and published.generation:
                yield _catalogue_entry(from_item(item), published, folders)

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Create a PENDING item for an announced upload, and return it.

        An existing document is returned unchanged, but a tombstone or an expired announcement is replaced.
        """
        now = self._clock.now()
        values = {
            ":tenant": document.tenant,
            ":id": document.document_id,
            ":key": document.key,
            ":pending": DocumentStatus.PENDING.value,
            ":deleted": DocumentStatus.DELETED.value,
            ":title": document.title,
            ":size": document.size_bytes,
            ":labels": dict(document.labels),
            ":now": now.isoformat(),
            ":epoch": int(now.timestamp()),
            ":expires": int(now.timestamp()) + expires_s,
        }
        names = {"#key": "key", "#status": "status", "#error": "error"}
        ruled = ""
        if document.access is not None:
            ruled, names["#access"] = ", #access = :access", "access"
            values[":access"] = rule_attribute(document.access)
            marks = self._restricted_by(document.tenant, document.document_id, document.access)
            end_change(self._client, self._table, document.tenant, marks)  # nothing of it is published yet
        try:
            with dynamo_errors("registry"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=key_of(document.tenant, document.document_id),
                    UpdateExpression=(
                        "SET tenant = :tenant, document_id = :id, #key = :key, #status = :pending,"
                        " final_status = :pending, title = :title, size_bytes = :size, labels = :labels,"
                        f" created_at = :now, updated_at = :now, expires_at = :expires{ruled}"
                        " REMOVE #error, attempt_error, report"
                    ),
                    ConditionExpression=(
                        "attribute_not_exists(lease_owner) AND"
                        " (attribute_not_exists(pk) OR #status = :deleted OR expires_at < :epoch)"
                    ),
                    ExpressionAttributeNames=names,
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            return document_of(error.response["Item"])  # type: ignore[typeddict-item]
        return document_of(answer["Attributes"])

    def label(self, tenant: str, document_id: str, labels: Labels, *, before: Labels) -> bool:
        """Replace a document's labels if they are still those `before`; else return False.

        A searchable document gets a pending change in the same write: if its notification is lost, maintenance sends
        another one.
        """
        now = self._clock.now()
        values: dict[str, object] = {
            ":labels": dict(labels),
            ":before": dict(before),
            ":deleting": DocumentStatus.DELETING.value,
            ":deleted": DocumentStatus.DELETED.value,
            ":now": now.isoformat(),
        }
        is_there = "attribute_exists(pk) AND NOT #status IN (:deleting, :deleted)"
        unchanged = f"{is_there} AND (labels = :before{' OR attribute_not_exists(labels)' if not before else ''})"
        expression = "SET labels = :labels, updated_at = :now"
        for searchable in (True, False):
            pending: dict[str, object] = {":change": "now"} if searchable else {}
            try:
                with dynamo_errors("registry"):
                    self._client.update_item(
                        TableName=self._table,
                        Key=key_of(tenant, document_id),
                        UpdateExpression=expression + (", pending_sequencer = :change" if searchable else ""),
                        ConditionExpression=unchanged + (" AND attribute_exists(published)" if searchable else ""),
                        ExpressionAttributeNames={"#status": "status"},
                        ExpressionAttributeValues=to_item({**values, **pending}),
                    )
            except ClientError:
                continue
            return True
        return False

    def restrict(self, tenant: str, document_id: str, rule: AccessRule | None, *, before: AccessRule | None) -> bool:
        """Replace a document's own rule if it is still the one `before`; else return False.

        In force for every reader once this returns.
        """
        values: dict[str, object] = {
            ":deleting": DocumentStatus.DELETING.value,
            ":deleted": DocumentStatus.DELETED.value,
            ":access": rule_attribute(rule),
            ":before": rule_attribute(before),
        }
        same = "attribute_not_exists(#access)" if before is None else "#access = :before"
        marks = self._restricted_by(tenant, document_id, rule)
        try:
            with dynamo_errors("registry"):
                self._client.update_item(
                    TableName=self._table,
                    Key=key_of(tenant, document_id),
                    UpdateExpression="REMOVE #access" if rule is None else "SET #access = :access",
                    ConditionExpression=f"attribute_exists(pk) AND NOT #status IN (:deleting, :deleted) AND {same}",
                    ExpressionAttributeNames={"#status": "status", "#access": "access"},
                    ExpressionAttributeValues=to_item(values),
                )
            is_changed = True
        except ClientError:
            is_changed = False
        end_change(self._client, self._table, tenant, marks)
        return is_changed

    def _restricted_by(self, tenant: str, document_id: str, rule: AccessRule | None) -> Set[str]:
        restricts = kinds_of(() if rule is None else (rule,))
        return begin_change(self._client, self._table, tenant, document_id, self._clock.now(), restricts=restricts)

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Set DELETING and remove the generation pointer in one write; None if there is no such document.

        A worker that is ingesting the document sees the pending change before it publishes.
        """
        now = self._clock.now()
        values = {
            ":deleting": DocumentStatus.DELETING.value,
            ":deleted": DocumentStatus.DELETED.value,
            ":now": now.isoformat(),
            ":change": "now",
            ":true": True,
        }
        marks = begin_change(self._client, self._table, tenant, document_id, now)
        try:
            with dynamo_errors("registry"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=key_of(tenant, document_id),
                    UpdateExpression=(
                        "SET #status = :deleting, final_status = :deleting, updated_at = :now, unpublished_at = :now,"
                        " pending_sequencer = :change, uncounted_change = :true"
                        " REMOVE generation, published, expires_at"
                    ),
                    ConditionExpression="attribute_exists(pk) AND #status <> :deleted",
                    ExpressionAttributeNames={"#status": "status"},
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues="ALL_NEW",
                )
            document = document_of(answer["Attributes"])
        except ClientError:
            document = None
        with suppress(DependencyError):  # the mark stays, so the document is read anew; ingest counts the change
            end_change(self._client, self._table, tenant, marks)
        return document

    def _expired(self, item: Mapping[str, Any]) -> bool:
        # Only announcements expire here, because TTL deletes lag by days; tombstones have their own status.
        if "expires_at" not in item or item["status"]["S"] != DocumentStatus.PENDING.value:
            return False
        return float(item["expires_at"]["N"]) <= self._clock.now().timestamp()


def _catalogue_entry(values: Mapping[str, Any], published: Published, folders: FolderRules) -> CatalogueEntry:
    return CatalogueEntry(
        document_id=values["document_id"],
        key=values["key"],
        title=values.get("title", ""),
        generation=published.generation,
        chunk_count=published.chunk_count,
        language=values.get("main_language", ""),
        source_type=SourceType(values.get("source_type", SourceType.PDF)),
        labels=values.get("labels", {}),
        card=values.get("card", {}),
        page_count=int(values.get("page_count", 0)),
        created_at=values.get("created_at", ""),
        edits=values.get("edits", _NO_EDITS),
        rules=folders.rules_for(values["key"], _rule_in(values.get("access"))),
    )


def _is_named(document: Document, words: Sequence[str]) -> bool:
    """Say whether title or file name contain each of the folded words."""
    name = _folded(f"{document.title} {document.key.rpartition('/')[2]}") if words else ""
    return all(word in name for word in words)


def _is_identified(document: Document, wanted: Mapping[str, str]) -> bool:
    """Say whether each wanted field has a value that contains the words wanted in it."""
    held = {**document.identity, "language": document.language}
    return all(
        any(_holds_words(value, words) for value in values_of(held.get(name, ""))) for name, words in wanted.items()
    )


def _holds_words(value: str, words: str) -> bool:
    there = re.findall(r"\w+", _folded(value))
    return set(re.findall(r"\w+", _folded(words))) <= set(there)


def _folded(text: str) -> str:
    return fold(unicodedata.normalize("NFKC", text)).casefold()


_Place = tuple[str, str]
"""Where a listing continues: after this `created_at` and document id."""
_PLACE = re.compile(r"([0-9T:.+Z-]{10,40})\|([0-9A-Za-z]{1,64})")
"""DynamoDB rejects keys over 1,024 bytes with an error."""


def _index_key(tenant: str, created_at: str, document_id: str) -> Item:
    return key_of(tenant, document_id) | to_item({"created_at": created_at})


def _cursor_of(place: _Place | None) -> str:
    return base64.urlsafe_b64encode("|".join(place).encode()).decode().rstrip("=") if place else ""


def _start_of(cursor: str) -> _Place:
    try:
        decoded = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        decoded = ""
    found = _PLACE.fullmatch(decoded)
    if found is None:
        raise InvalidRequest("The cursor is invalid: start again without one.")
    return found[1], found[2]


_TENANT = "TENANT#"


class DynamoDocumentScan:
    """Implements `DocumentScan` and `TenantScan` on the documents table."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def tenants(self) -> set[str]:
        """Return every tenant with a document or a pointer, which outlives the documents."""
        items = self._pages(
            self._client.scan,
            FilterExpression="begins_with(pk, :tenant)",
            ExpressionAttributeValues=to_item({":tenant": _TENANT}),
            ProjectionExpression="pk",
        )
        return {item["pk"]["S"].removeprefix(_TENANT) for item in items}

    def entries(self, tenant: str) -> Iterator[DocumentEntry]:
        """Yield every document of one tenant, tombstones included, unordered. Consistent read."""
        names = {"#key": "key", "#status": "status"}
        wanted = "#key, #status, etag, updated_at, lease_until, pending_sequencer, attempt_error"
        for item in self._of(tenant, ProjectionExpression=wanted, ExpressionAttributeNames=names):
            values = from_item(item)
            yield DocumentEntry(
                key=values["key"],
                status=DocumentStatus(values["status"]),
                etag=values.get("etag", ""),
                updated_at=_epoch_of(values.get("updated_at", "")),
                leased_until=float(values.get("lease_until", 0.0)),
                change_pending="pending_sequencer" in values,
                attempt_error=values.get("attempt_error", {}).get("code", ""),
            )

    def of(self, tenant: str) -> Iterator[ScannedDocument]:
        """Yield every document of one tenant, tombstones included, without its report. Consistent read."""
        for item in self._of(tenant):
            item.pop("report", None)
            yield ScannedDocument(document_of(item), "lease_owner" in item)

    def stalled(self, *, quiet_s: float) -> Iterator[Document]:
        """Yield unfinished documents without a lease for `quiet_s` seconds.

        Unfinished: PROCESSING; with a pending change (its worker died on the message's last delivery, or the API died
        before it deleted the object); or with vectors to sweep (the worker died between publishing and sweeping, and
        its message was lost).
        """
        limit = self._clock.now().timestamp() - quiet_s
        for item in self._items():
            is_finished = item["status"]["S"] != DocumentStatus.PROCESSING.value and "pending_sequencer" not in item
            if is_finished and not _has_vectors_to_sweep(item):
                continue
            item.pop("report", None)
            document = document_of(item)
            leased_until = float(item["lease_until"]["N"]) if "lease_until" in item else 0.0
            if max(leased_until, _epoch_of(document.updated_at)) < limit:
                yield document

    def _items(self) -> Iterator[Item]:
        return self._pages(
            self._client.scan,
            FilterExpression="begins_with(sk, :doc)",
            ExpressionAttributeValues=to_item({":doc": "DOC#"}),
        )

    def _of(self, tenant: str, **request: Any) -> Iterator[Item]:
        return self._pages(
            self._client.query,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :doc)",
            ExpressionAttributeValues=to_item({":pk": f"{_TENANT}{tenant}", ":doc": "DOC#"}),
            ConsistentRead=True,
            **request,
        )

    def _pages(self, ask: Callable[..., Any], **request: Any) -> Iterator[Item]:
        return pages("registry", ask, TableName=self._table, **request)


def _has_vectors_to_sweep(item: Item) -> bool:
    """Return whether a generation that is neither published nor being built may have vectors."""
    unfinished = unfinished_of(item)
    kept = {published.generation for published in _index_versions_of(item).values()} | (
        {unfinished.generation} if unfinished else set()
    )
    return not written_of(item).keys() <= kept


def _epoch_of(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0
