"""Incoming events: S3 events, bare or in SQS messages, and our own change notifications."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote_plus

from shared.models import SourceType, document_id_of

MAX_WAITS = 30
"""Postponements for a busy provider, from 15 seconds to 15 minutes each: more than six hours in all."""


@dataclass(frozen=True, slots=True)
class ChangeNotification:
    """A key that may have changed. `chunks_done`: chunks done by the run that this continues, -1 if it is new.

    `waits` counts how often it was postponed because a provider was rate-limiting.
    """

    key: str
    sequencer: str = ""
    chunks_done: int = -1
    waits: int = 0

    @property
    def may_wait(self) -> bool:
        """Whether it may be postponed once more without counting as a failure."""
        return self.waits < MAX_WAITS


type Verb = Literal["read", "describe"]
"""What to do with pages: read them by OCR, or have a model describe their figures."""


@dataclass(frozen=True, slots=True)
class PagesRequest:
    """Pages (from 1) of one object version, and what to do with them."""

    verb: Verb
    key: str
    version_id: str
    pages: Sequence[int]

    @property
    def body(self) -> str:
        """The request as a message."""
        body = {"recto": self.verb, "key": self.key, "version_id": self.version_id, "pages": list(self.pages)}
        return json.dumps(body, ensure_ascii=False)

    @classmethod
    def of(cls, verb: Verb, body: object) -> "PagesRequest | None":
        """Read a message; None when it does not ask for this."""
        match body:
            case {"recto": str(asked), "key": str(key), "version_id": str(version_id), "pages": [*pages]}:
                if asked == verb and all(isinstance(page, int) and page > 0 for page in pages):
                    return cls(verb, key, version_id, tuple(pages))
        return None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message with its changes, or with a request to describe `figures`.

    `problem` says why it can never be read; `receives` counts deliveries from 1.

    A bare S3 event has no `receipt_handle`.
    """

    message_id: str
    changes: Sequence[ChangeNotification] = ()
    receipt_handle: str = ""
    receives: int = 1
    problem: str = ""
    figures: PagesRequest | None = None


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """Which document a key is, and what kind of source."""

    tenant: str
    document_id: str
    key: str
    source_type: SourceType

    @property
    def file_name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]


PREFIXES = {
    "uploads": SourceType.PDF,
    "faq": SourceType.FAQ,
    "resolved": SourceType.RESOLVED_QUERY,
    "knowledge": SourceType.KNOWLEDGE,
}
"""First part of the bucket's keys → the kind of source under it."""


def document_ref_of(key: str) -> DocumentRef | None:
    """Read tenant and kind from `{prefix}/{tenant}/{path}`; None for any other key and for folder markers.

    A tenant's name has no `~`: that separates the namespaces of one tenant's index versions.
    """
    prefix, _, rest = key.partition("/")
    tenant, _, path = rest.partition("/")
    if prefix not in PREFIXES or not tenant or not path or path.endswith("/") or "~" in tenant:
        return None
    return DocumentRef(tenant, document_id_of(tenant, key), key, PREFIXES[prefix])


def change_body(key: str, *, chunks_done: int = -1, waits: int = 0) -> str:
    """Return a change notification as JSON."""
    body: dict[str, object] = {"recto": "change", "key": key}
    if chunks_done >= 0:
        body["chunks_done"] = chunks_done
    if waits:
        body["waits"] = waits
    return json.dumps(body, ensure_ascii=False)


def unpack(event: Mapping[str, Any], *, request_id: str) -> list[Delivery]:
    """Return the deliveries of a Lambda event, in order. A bare S3 event is one delivery named `request_id`."""
    records = event.get("Records", [])
    if records and all(record.get("eventSource") == "aws:sqs" for record in records):
        return [_delivery_of(record) for record in records]
    try:
        return [Delivery(request_id, changes=_changes_of(event))]
    except _Unreadable as error:
        return [Delivery(request_id, problem=str(error))]


class _Unreadable(Exception):
    """The body of a message cannot be read, however often it is delivered."""


def _delivery_of(record: Mapping[str, Any]) -> Delivery:
    changes: Sequence[ChangeNotification] = ()
    figures = None
    problem = ""
    try:
        body = json.loads(record["body"])
        figures = PagesRequest.of("describe", body)
        changes = () if figures else _changes_of(body)
    except _Unreadable as error:
        problem = str(error)
    except (ValueError, KeyError, RecursionError) as error:
        problem = f"body is not JSON: {type(error).__name__}"
    receives = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
    return Delivery(record["messageId"], changes, record.get("receiptHandle", ""), receives, problem, figures)


def _changes_of(body: object) -> list[ChangeNotification]:
    match body:
        case {"recto": "change", "key": str(key), **rest}:
            done, waits = rest.get("chunks_done"), rest.get("waits")
            done, waits = done if isinstance(done, int) else -1, waits if isinstance(waits, int) else 0
            return [ChangeNotification(key, chunks_done=done, waits=waits)]
        case {"recto": "read", "key": str(key)}:  # OCR gave up: look at the document again, which asks for it anew
            return [ChangeNotification(key)]
        case {"Event": "s3:TestEvent"}:
            return []
        case {"Records": list(records)}:
            return [_s3_change_of(record) for record in records]
    raise _Unreadable("body is neither an S3 event nor a change notification")


def _s3_change_of(record: object) -> ChangeNotification:
    match record:
        case {"eventSource": "aws:s3", "s3": {"object": {"key": str(key), **about}}}:
            return ChangeNotification(unquote_plus(key), sequencer=str(about.get("sequencer", "")))
    raise _Unreadable("a record of the S3 event names no object key")
