"""What erased documents and users have left in the tables of conversations and of caches: found by reading them whole.

Nothing names the answers that cite a document, or the hand-offs that an agent has answered. So a scan looks at every
item once, for all erasures together, page by page (docs/decisions/0036).
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import dynamo_errors, from_item, to_item
from shared.adapters.conversations import DynamoConversationStore, feedback_key, handoffs_key, unanswered_key
from shared.erasures import ERASED_ANSWER, ERASED_USER, Erasure, ScanPosition, SoughtErasure
from shared.receipts import packed, unpacked, without_documents

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_DEPENDENCY = "traces"
_ULID_TIME = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_UNCITED = ("service", "refused")
"""Modes of answers that may name a document without citing it."""


@dataclass(frozen=True)
class DynamoTraces:
    """Implements `TraceScan`. `chunk_cache_ttl_s` is how long vectors of chunks are cached, 0 if they are not."""

    client: "DynamoDBClient"
    conversations_table: str
    cache_table: str
    chunk_cache_ttl_s: int

    def remove(
        self, sought: Sequence[SoughtErasure], position: ScanPosition
    ) -> tuple[Mapping[str, Counter[str]], ScanPosition | None]:
        """Remove what one page of a table holds of these erasures; return counts by erasure and store, and the place.

        The place is None after the last page. Items that another writer is changing just now are counted, and left for
        the next scan. Raises `DependencyError`.
        """
        table = self.conversations_table if position.table == "conversations" else self.cache_table
        start: dict[str, Any] = {"ExclusiveStartKey": to_item(position.key)} if position.key else {}
        if position.table == "conversations":
            start["ConsistentRead"] = True
        with dynamo_errors(_DEPENDENCY):
            answer = self.client.scan(TableName=table, **start)
        found: dict[str, Counter[str]] = {each.erasure.erasure_id: Counter() for each in sought}
        page = _Page(self, sought, found)
        look: Callable[[Mapping[str, Any]], None] = page.look if position.table == "conversations" else page.look_cached
        for item in answer["Items"]:
            look(from_item(item))
        if last := answer.get("LastEvaluatedKey"):
            return found, ScanPosition(position.table, from_item(last))
        return found, ScanPosition("cache") if position.table == "conversations" else None

    @cached_property
    def conversations(self) -> DynamoConversationStore:
        """The store of conversations, which erases whole ones."""
        return DynamoConversationStore(self.client, self.conversations_table)

    def update(self, key: Mapping[str, str], values: Mapping[str, object], *, drop: Sequence[str] = ()) -> None:
        """Change attributes of an item of the conversations table that still exists."""
        names = [*values, *drop]
        removed = " REMOVE " + ", ".join(f"#{name}" for name in drop) if drop else ""
        assigned = "SET " + ", ".join(f"#{name} = :{name}" for name in values) if values else ""
        request: dict[str, Any] = {
            "ExpressionAttributeValues": to_item({f":{name}": value for name, value in values.items()})
        }
        try:
            with dynamo_errors(_DEPENDENCY):
                self.client.update_item(
                    TableName=self.conversations_table,
                    Key=to_item(key),
                    UpdateExpression=(assigned + removed).strip(),
                    ConditionExpression="attribute_exists(pk)",
                    ExpressionAttributeNames={f"#{name}": name for name in names},
                    **(request if values else {}),
                )
        except ClientError:  # it is gone: other errors are translated
            return

    def change_handoff(self, key: Mapping[str, str], values: Mapping[str, object], revision: int) -> None:
        """Change a hand-off unless somebody else has changed it meanwhile."""
        assigned = ", ".join(f"#{name} = :{name}" for name in values)
        try:
            with dynamo_errors(_DEPENDENCY):
                self.client.update_item(
                    TableName=self.conversations_table,
                    Key=to_item(key),
                    UpdateExpression=f"SET {assigned}, revision = :next",
                    ConditionExpression="revision = :revision",
                    ExpressionAttributeNames={f"#{name}": name for name in values},
                    ExpressionAttributeValues=to_item(
                        {f":{name}": value for name, value in values.items()}
                        | {":revision": revision, ":next": revision + 1}
                    ),
                )
        except ClientError:  # the next scan finds it again
            return

    def move_usage(self, item: Mapping[str, Any]) -> None:
        """Move a user's day of usage to an anonymous one, so that the tenant's sums stay."""
        day, _, _ = item["sk"].partition("#")
        added = {name: value for name, value in item.items() if name not in {"pk", "sk", "expires_at"}}
        names = {f"#n{at}": name for at, name in enumerate(added)}
        values = {f":v{at}": value for at, value in enumerate(added.values())}
        total: Any = {
            "Update": {
                "TableName": self.conversations_table,
                "Key": to_item({"pk": item["pk"], "sk": f"{day}#{ERASED_USER}"}),
                "UpdateExpression": "SET expires_at = :expires_at"
                + (" ADD " + ", ".join(f"#n{at} :v{at}" for at in range(len(added))) if added else ""),
                "ExpressionAttributeValues": to_item({**values, ":expires_at": item["expires_at"]}),
                **({"ExpressionAttributeNames": names} if names else {}),
            }
        }
        theirs: Any = {
            "Delete": {
                "TableName": self.conversations_table,
                "Key": to_item({"pk": item["pk"], "sk": item["sk"]}),
                # Otherwise it would be counted twice, or usage since the read not at all.
                "ConditionExpression": " AND ".join(
                    ["attribute_exists(sk)", *(f"{n} = {v}" for n, v in zip(names, values, strict=True))]
                ),
                **({"ExpressionAttributeNames": names, "ExpressionAttributeValues": to_item(values)} if names else {}),
            }
        }
        try:
            with dynamo_errors(_DEPENDENCY):
                self.client.transact_write_items(TransactItems=[total, theirs])
        except ClientError:  # the next scan finds it again
            return

    def delete(self, key: Mapping[str, str], *, cached: bool = False) -> None:
        """Delete an item."""
        table = self.cache_table if cached else self.conversations_table
        with dynamo_errors(_DEPENDENCY):
            self.client.delete_item(TableName=table, Key=to_item(key))


@dataclass
class _Page:
    """One page of a scan: each item is looked at for every erasure."""

    traces: DynamoTraces
    sought: Sequence[SoughtErasure]
    found: dict[str, Counter[str]]
    erased: set[tuple[str, str]] = field(default_factory=set)

    @cached_property
    def documents(self) -> Mapping[str, Sequence[SoughtErasure]]:
        """The documents to be erased, by tenant."""
        return self._by_tenant("document")

    @cached_property
    def users(self) -> Mapping[str, Sequence[SoughtErasure]]:
        """The users to be erased, by tenant."""
        return self._by_tenant("user")

    def _by_tenant(self, kind: str) -> Mapping[str, Sequence[SoughtErasure]]:
        found: dict[str, list[SoughtErasure]] = {}
        for each in self.sought:
            if each.erasure.kind == kind:
                found.setdefault(each.erasure.tenant, []).append(each)
        return found

    def look(self, item: Mapping[str, Any]) -> None:
        """Look at an item of the conversations table."""
        tenant = tenant_of(item)
        if item["pk"] == "ERASURES":
            return
        for each in self.users.get(tenant, ()):
            if self._of_user(each, item):
                return
        if item["pk"].endswith("#ERASURES"):
            return
        held: dict[str, Any] | None = dict(item)
        # An item may name several: each is removed from what the one before has left.
        for each in self.documents.get(tenant, ()):
            if held is not None and (_names(held, each.erasure) or _lists(held, each.erasure)):
                held = self._of_document(each, held)

    def _count(self, each: SoughtErasure, store: str, count: int = 1) -> None:
        self.found[each.erasure.erasure_id][store] += count

    # --- documents ---

    def _of_document(self, each: SoughtErasure, item: dict[str, Any]) -> dict[str, Any] | None:
        """Take a document out of an item; return what is left of it, None if it was deleted."""
        key = {"pk": item["pk"], "sk": item["sk"]}
        kind = item["pk"].rpartition("#")[2]
        if "role" in item:
            return self._message(each, item, key)
        if kind == "HANDOFF" and "near_misses" in item:
            self._count(each, "handoffs")
            changed = {"near_misses": without(item["near_misses"], each.erasure)}
            self.traces.change_handoff(key, changed, item["revision"])
            return {**item, **changed, "revision": item["revision"] + 1}
        if kind == "UNANSWERED" and "nearest" in item:
            self._count(each, "unanswered")
            return self._changed(item, key, {"nearest": without(item["nearest"], each.erasure)})
        if "receipt" in item and "documents" in item:
            self._count(each, "answer_receipts")
            return self._receipt(each, item, key)
        if "question" not in item and "title" not in item:
            self._count(each, "other")
            self.traces.delete(key)
            return None
        return item

    def _changed(self, item: dict[str, Any], key: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
        """Change attributes of an item, and return it as it is then."""
        self.traces.update(key, values)
        return {**item, **values}

    def _receipt(self, each: SoughtErasure, item: dict[str, Any], key: Mapping[str, str]) -> dict[str, Any] | None:
        """Take a document out of an answer's receipt."""
        kept = packed(without(without_documents(unpacked(item["receipt"]), {each.erasure.subject}), each.erasure))
        if kept is None or each.erasure.subject in kept.documents:
            self.traces.delete(key)
            return None
        return self._changed(item, key, {"receipt": kept.data, "documents": list(kept.documents)})

    def _message(self, each: SoughtErasure, item: dict[str, Any], key: Mapping[str, str]) -> dict[str, Any] | None:
        """Redact a message, or the editors' copy of one; a message written after `until` is about a new document."""
        if message_time(item["sk"]) > each.until:
            return item
        is_copy = item["pk"].endswith("#FEEDBACK")
        if item["role"] != "assistant":
            said = item["content"].replace(each.erasure.subject, ERASED_USER)
            if said == item["content"]:
                return item
            self._count(each, "questions")
            return self._changed(item, key, {"content": said})
        details = without(json.loads(item.get("details", "{}")), each.erasure)
        if not _is_made_from(item, details, each.erasure):
            self._count(each, "feedback" if is_copy else "answers_that_read_it")
            return self._changed(item, key, {"details": json.dumps(details, separators=(",", ":"), sort_keys=True)})
        if is_copy:
            self._count(each, "feedback")
            self.traces.delete(key)
            return None
        self._count(each, "answers")
        gone = {"mode": details.get("mode", ""), "language": details.get("language", ""), "erased": "document"}
        values = {"content": ERASED_ANSWER, "citations": [], "claims": [], "details": json.dumps(gone)}
        self.traces.update(key, values, drop=["feedback"])
        head = {"pk": item["pk"], "sk": item["sk"].partition("#MSG#")[0]}
        self.traces.update(head, {}, drop=["summary", "summarized"])  # it may say what the answer said
        return {**item, **values}

    # --- users ---

    def _of_user(self, each: SoughtErasure, item: Mapping[str, Any]) -> bool:
        """Remove what an item holds about a user; return whether the item needs no further look."""
        tenant, user = each.erasure.tenant, each.erasure.subject
        pk, sk = item["pk"], item["sk"]
        key = {"pk": pk, "sk": sk}
        if pk == f"TENANT#{tenant}#USER#{user}":
            return self._own(each, item)
        if pk.startswith(f"LIMIT#{tenant}#USER#{user}#"):
            self._count(each, "limits")
            self.traces.delete(key)
            return True
        if pk == f"USAGE#{tenant}" and sk.partition("#")[2] == user:
            self._count(each, "usage")
            self.traces.move_usage(item)
            return True
        if pk.startswith("KEY#") and item.get("tenant") == tenant and item.get("created_by") == user:
            self._count(each, "api_keys")
            self.traces.update(key, {"created_by": ERASED_USER})
        if pk.endswith("#ERASURES") and item.get("requested_by") == user and item.get("subject") != user:
            self._count(each, "erasures")
            self.traces.update(key, {"requested_by": ERASED_USER})
        if pk == f"TENANT#{tenant}#HANDOFF" and item.get("user") == user and not self._is_newer(each, item):
            self._count(each, "handoffs")
            self.traces.delete(key)
            self.traces.delete(handoffs_key(tenant, item["conversation_id"]))
            return True
        if pk == f"TENANT#{tenant}#HANDOFF" and item.get("claimed_by") == user:
            self._count(each, "handoffs")
            is_over = item["status"] not in {"open", "claimed"}
            values = {"claimed_by": ERASED_USER} if is_over else {"claimed_by": "", "status": "open"}
            self.traces.change_handoff(key, values, item["revision"])
        return False

    def _own(self, each: SoughtErasure, item: Mapping[str, Any]) -> bool:
        """Erase an item of the user's own partition, unless it belongs to a conversation that began later."""
        if self._is_newer(each, item):
            return False
        tenant, user, sk = each.erasure.tenant, each.erasure.subject, item["sk"]
        conversation_id = sk.removeprefix("CONV#").partition("#")[0] if sk.startswith("CONV#") else ""
        if conversation_id and (user, conversation_id) not in self.erased:
            self.erased.add((user, conversation_id))
            self.traces.conversations.erase(tenant, user, conversation_id)
        self._count(each, "conversations" if sk == f"CONV#{conversation_id}" else "messages")
        if "role" in item:
            message_id = sk.rsplit("#", 1)[1]
            self.traces.delete(feedback_key(tenant, message_id))
            self.traces.delete(unanswered_key(tenant, message_id))
        if sk != f"CONV#{conversation_id}":
            self.traces.delete({"pk": item["pk"], "sk": sk})
        return True

    def _is_newer(self, each: SoughtErasure, item: Mapping[str, Any]) -> bool:
        """Say whether an item belongs to a conversation that began after the erasure."""
        sk = item["sk"]
        named = sk.removeprefix("CONV#").partition("#")[0] if sk.startswith("CONV#") else ""
        return message_time(named or str(item.get("conversation_id") or sk)) > each.erasure.began

    # --- caches ---

    def look_cached(self, item: Mapping[str, Any]) -> None:
        """Look at an item of the cache table."""
        kind, _, rest = item["pk"].partition("#")
        if kind == "ANS":
            for each in self.documents.get(rest.partition("#")[0], ()):
                if each.erasure.subject.encode() in _unzipped(item.get("answer", b"")):
                    self._count(each, "cached_answers")
                    self.traces.delete({"pk": item["pk"]}, cached=True)
                    return
        elif kind == "CHUNK":  # a vector does not name its documents, so all of that age are deleted
            documents = [each for held in self.documents.values() for each in held]
            old = [each for each in documents if self._is_as_old(item, each)]
            if old:
                self._count(old[0], "cached_vectors")
                self.traces.delete({"pk": item["pk"]}, cached=True)

    def _is_as_old(self, item: Mapping[str, Any], each: SoughtErasure) -> bool:
        ttl_s = self.traces.chunk_cache_ttl_s
        return not ttl_s or item.get("expires_at", 0) <= each.settled + ttl_s


def _unzipped(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def tenant_of(item: Mapping[str, Any]) -> str:
    """Return the tenant that an item of the conversations table belongs to; empty if it does not say."""
    kind, _, rest = str(item["pk"]).partition("#")
    if kind == "KEY":
        return str(item.get("tenant", ""))
    return rest.partition("#")[0]


def message_time(key: str) -> float:
    """Return when the id at the end of a key was made (a ULID), in epoch seconds; 0 if it is none."""
    ulid = key.rpartition("#")[2]
    if not re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{26}", ulid):
        return 0.0
    milliseconds = 0
    for letter in ulid[:10]:
        milliseconds = milliseconds * 32 + _ULID_TIME.index(letter)
    return milliseconds / 1_000


def without(value: Any, erasure: Erasure) -> Any:
    """Return a JSON value without the entries of its lists that name the document."""
    if isinstance(value, Mapping):
        return {name: without(inner, erasure) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without(inner, erasure) for inner in value if not _names(inner, erasure)]
    return value


def _is_made_from(item: Mapping[str, Any], details: Mapping[str, Any], erasure: Erasure) -> bool:
    """Say whether an answer shows anything of the document: it cites it, lists it, or `details` still name it."""
    told = [item["content"], item.get("citations", []), item.get("claims", []), details]
    return _names(told, erasure) or _lists(item, erasure)


def _names(value: Any, erasure: Erasure) -> bool:
    if isinstance(value, Mapping) and isinstance(value.get("receipt"), bytes):
        value = {**value, "receipt": unpacked(value["receipt"])}
    return _is_named(json.dumps(value, default=str, ensure_ascii=False), erasure)


def _is_named(text: str, erasure: Erasure) -> bool:
    return erasure.subject in text or (bool(erasure.key) and json.dumps(erasure.key, ensure_ascii=False)[1:-1] in text)


def _lists(item: Mapping[str, Any], erasure: Erasure) -> bool:
    """Say whether an answer without citations (a list of documents, or a refusal) names the document."""
    if item.get("role") != "assistant" or item.get("citations") or item["content"] == ERASED_ANSWER:
        return False
    names = (re.escape(name.casefold()) for name in erasure.names())
    if not any(re.search(rf"(?<!\w){name}(?!\w)", item["content"].casefold()) for name in names):
        return False
    return json.loads(item.get("details", "{}")).get("mode") in _UNCITED
