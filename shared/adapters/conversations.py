"""Conversations in DynamoDB: one item per conversation and one per message, because an item is limited to 400 KB.

pk = TENANT#{tenant}#USER#{user}
sk = CONV#{conversation}                    title, created_at, updated_at, message_count, summary, summarized
sk = CONV#{conversation}#MSG#{message}      role, content, created_at, citations, claims, details, feedback
sk = MSG#{message}                          conversation_id
sk = RECEIPT#{message}                      receipt, documents (shared/receipts.py)

Only a conversation has `updated_at`, so the index `recent` (pk, updated_at) holds a user's conversations by their last
use and none of the messages. It follows the table after a moment.
"""

import base64
import binascii
import json
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from heapq import merge
from itertools import batched, groupby, islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, pages, to_item, until_processed
from shared.adapters.retry import Retry
from shared.errors import Conflict, DependencyRefused, DependencyUnavailable, InvalidRequest, NotFound, RateLimited
from shared.models import AnswerClaim, Citation, Conversation, Feedback, FoundMessage, Message, UnansweredQuestion
from shared.receipts import StoredReceipt

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_DEPENDENCY = "conversations"
NO_CONVERSATION = "There is no such conversation."
_INVALID_CURSOR = "The cursor is invalid: start again without one."
_THROTTLED = {"ProvisionedThroughputExceeded", "ThrottlingError"}
"""Reasons why DynamoDB cancels a valid transaction."""
_KEY_CHARACTERS = 200
"""Maximum length of a cursor's key: three times ours. DynamoDB rejects keys over 1,024 bytes with an error."""
RECENT = "recent"
"""The index of conversations by their last use."""
ERASING = "erasing"
"""The `updated_at` of a conversation that is being erased. It sorts after `_NEWEST`, so no listing reaches it."""
EXISTS = "attribute_exists(sk) AND updated_at <> :erasing"
"""The condition that a conversation exists and is not being erased."""
_NEWEST = "9"
"""Sorts after every time, whose first digit is a 2."""
_MOVED = 200
"""Conversations used since a listing began, at most: each costs a query. With more, the listing must begin again."""
_BATCH_WRITES = 25
"""Items in one BatchWriteItem (DynamoDB's limit)."""
_CONFLICT_WAIT_S = 0.05
"""The longest first wait after two writers collided: a transaction takes a few milliseconds."""

_NO_MESSAGE = Message("", "user", "", "")

type _Place = tuple[str, str]
"""A conversation's place in a listing: its last use, and its sort key. The greatest comes first."""
NEWEST_LOOKED_AT = 10
"""Messages of a conversation, the newest first, among which the last one before a time is looked for."""


class DynamoConversationStore:
    """Implements `ConversationStore`. The user is part of the key, so another user's conversation is never found."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table
        self._retry = Retry(_DEPENDENCY, first_wait_s=_CONFLICT_WAIT_S)

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages, oldest first. Raises `NotFound` for an unknown conversation."""
        newest_first = partial(self._query, tenant, user, conversation_id, ScanIndexForward=False)
        # A page also ends at 1 MB, which fifty long answers with quotes can reach.
        found = list(islice(pages(_DEPENDENCY, newest_first, Limit=max(1, limit)), max(1, limit)))
        if self.get(tenant, user, conversation_id) is None:
            raise NotFound(NO_CONVERSATION)
        return [message_of(item) for item in reversed(found)][-limit:] if limit else []

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return a conversation without its messages, or None."""
        with dynamo_errors(_DEPENDENCY):
            item = self._client.get_item(
                TableName=self._table,
                Key=to_item({"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}),
                ConsistentRead=True,
            ).get("Item")
        head = _head(item) if item is not None else None
        return None if head is None or head.updated_at == ERASING else head

    def recent(
        self, tenant: str, user: str, *, limit: int, cursor: str = "", title: str = ""
    ) -> tuple[Sequence[Conversation], str]:
        """Return conversations whose title holds `title`, the last used first, and the cursor of the next page.

        All pages show the order in which the first one found them: a conversation that is used meanwhile keeps its
        place, and one that is begun meanwhile is left out. Raises `InvalidRequest` for a cursor that is no longer good.
        """
        begun, at, conversation_id = place_of(cursor, parts=3)
        pk, wanted = _pk(tenant, user), _comparable(title)
        found = self._by_last_use(pk, at or _NEWEST)
        if cursor:
            found = merge(found, self._moved(pk, begun), key=lambda each: each[0], reverse=True)
        following = ((place, head) for place, head in found if not cursor or place < (at, conversation_id))
        page: list[tuple[_Place, Conversation]] = []
        for place, head in following:
            begun = begun or head.updated_at
            if wanted not in _comparable(head.title):
                continue
            if len(page) == limit:
                return [each for _, each in page], cursor_of(begun, *page[-1][0])
            page.append((place, head))
        return [each for _, each in page], ""

    def rename(self, tenant: str, user: str, conversation_id: str, title: str) -> Conversation | None:
        """Give a conversation another title, and return it; None if there is none. Its last use stays."""
        try:
            with dynamo_errors(_DEPENDENCY):
                changed = self._client.update_item(
                    TableName=self._table,
                    Key=to_item({"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}),
                    UpdateExpression="SET title = :title",
                    ConditionExpression=EXISTS,
                    ExpressionAttributeValues=to_item({":title": title, ":erasing": ERASING}),
                    ReturnValues="ALL_NEW",
                )
        except ClientError:  # the condition failed: other errors are translated
            return None
        return _head(changed["Attributes"])

    def find_message(self, tenant: str, user: str, message_id: str) -> FoundMessage | None:
        """Return one of the user's messages with its conversation and the question before it; None if there is none."""
        pk = _pk(tenant, user)
        with dynamo_errors(_DEPENDENCY):
            pointer = self._client.get_item(
                TableName=self._table, Key=to_item({"pk": pk, "sk": f"MSG#{message_id}"}), ConsistentRead=True
            ).get("Item")
        if pointer is None:
            return None
        conversation_id = str(from_item(pointer)["conversation_id"])
        first = f"CONV#{conversation_id}#MSG#"
        with dynamo_errors(_DEPENDENCY):
            newest_first = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues=to_item({":pk": pk, ":first": first, ":last": f"{first}{message_id}"}),
                ConsistentRead=True,
                ScanIndexForward=False,
                Limit=2,
            )["Items"]
        message, *before = [message_of(item) for item in newest_first] or [_NO_MESSAGE]
        # While the conversation is erased, its messages are still there for a moment.
        if message.message_id != message_id or self.get(tenant, user, conversation_id) is None:
            return None
        asked = [each.content for each in before if (each.role, message.role) == ("user", "assistant")]
        return FoundMessage(conversation_id, message, "".join(asked))

    def messages_before(self, tenant: str, user: str, found: FoundMessage, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages before a found answer and its question, oldest first."""
        first = f"CONV#{found.conversation_id}#MSG#"
        newest_first = pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues=to_item(
                {":pk": _pk(tenant, user), ":first": first, ":last": f"{first}{found.message.message_id}"}
            ),
            ConsistentRead=True,
            ScanIndexForward=False,
            Limit=limit + 2,
        )
        before = [message_of(item) for item in islice(newest_first, 2, limit + 2)]
        return before[::-1]

    def receipt(self, tenant: str, user: str, message_id: str) -> bytes | None:
        """Return the packed receipt of one of the user's answers, or None."""
        with dynamo_errors(_DEPENDENCY):
            item = self._client.get_item(
                TableName=self._table, Key=to_item(_receipt_key(tenant, user, message_id)), ConsistentRead=True
            ).get("Item")
        return None if item is None else bytes(from_item(item)["receipt"])

    def messages(
        self, tenant: str, user: str, conversation_id: str, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[Message], str]:
        """Return messages oldest first, and the cursor of the next page (empty at the end)."""
        start: dict[str, Any] = {}
        if cursor:
            start = {"ExclusiveStartKey": to_item({"pk": _pk(tenant, user), "sk": _decoded(cursor, conversation_id)})}
        answer = self._query(tenant, user, conversation_id, Limit=limit, **start)
        last = answer.get("LastEvaluatedKey")
        following = base64.urlsafe_b64encode(from_item(last)["sk"].encode()).decode() if last else ""
        return [message_of(item) for item in answer["Items"]], following

    def save_turns(
        self,
        tenant: str,
        user: str,
        conversation_id: str,
        *,
        title: str,
        turns: Sequence[Message],
        is_new: bool,
        unanswered: UnansweredQuestion | None = None,
        receipt: StoredReceipt | None = None,
    ) -> None:
        """Append the turns, with a pointer to each, in one transaction.

        An `unanswered` question, and the `receipt` of the last turn, are kept by the same transaction. Writing the
        same turns again (a retry after a lost response) changes nothing. Raises `NotFound` unless the conversation
        exists or is new: one that was erased meanwhile does not come back.
        """
        also: list[TransactWriteItemTypeDef] = []
        if unanswered is not None:
            also.append({"Put": {"TableName": self._table, "Item": _unanswered_item(tenant, unanswered)}})
        if receipt is not None:
            key = _receipt_key(tenant, user, turns[-1].message_id)
            item = to_item({**key, "receipt": receipt.data, "documents": list(receipt.documents)})
            also.append({"Put": {"TableName": self._table, "Item": item}})
        if self.write_turns(tenant, user, conversation_id, title=title, turns=turns, is_new=is_new, also=also) == {0}:
            raise NotFound(NO_CONVERSATION)

    def write_turns(
        self,
        tenant: str,
        user: str,
        conversation_id: str,
        *,
        title: str,
        turns: Sequence[Message],
        is_new: bool,
        also: Sequence["TransactWriteItemTypeDef"] = (),
    ) -> set[int]:
        """Append the turns and write the items of `also`, all or none; return which conditions failed, 0: the head's.

        The items of `also` are counted from the end: the last one is -1.
        """
        pk = _pk(tenant, user)
        head: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": to_item({"pk": pk, "sk": f"CONV#{conversation_id}"}),
                "UpdateExpression": (
                    "SET title = if_not_exists(title, :title), created_at = if_not_exists(created_at, :now), "
                    "updated_at = :now ADD message_count :count"
                ),
                "ConditionExpression": ("attribute_not_exists(sk) OR updated_at <> :erasing" if is_new else EXISTS),
                "ExpressionAttributeValues": to_item(
                    {":title": title, ":now": turns[-1].created_at, ":count": len(turns), ":erasing": ERASING}
                ),
            }
        }
        puts: list[TransactWriteItemTypeDef] = [
            {
                "Put": {
                    "TableName": self._table,
                    "Item": to_item(
                        {**message_key(tenant, user, conversation_id, turn.message_id), **message_values(turn)}
                    ),
                    "ConditionExpression": "attribute_not_exists(sk)",
                }
            }
            for turn in turns
        ]
        pointers: list[TransactWriteItemTypeDef] = [
            {
                "Put": {
                    "TableName": self._table,
                    "Item": to_item({"pk": pk, "sk": f"MSG#{turn.message_id}", "conversation_id": conversation_id}),
                }
            }
            for turn in turns
        ]
        items = [head, *puts, *pointers, *also]
        failed = write_together(self._client, items, self._retry)
        return {at - len(items) if at >= len(items) - len(also) else at for at in failed}

    def erase(self, tenant: str, user: str, conversation_id: str) -> bool:
        """Erase a conversation and everything below it; return False if there is none.

        After the first write its owner no longer sees it, and no question can be saved to it. If the rest is
        interrupted, a second call continues it (`unfinished_erasures`). Raises `DependencyError`.
        """
        pk = _pk(tenant, user)
        head = to_item({"pk": pk, "sk": f"CONV#{conversation_id}"})
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key=head,
                    UpdateExpression="SET updated_at = :erasing, title = :none REMOVE summary, summarized",
                    ConditionExpression="attribute_exists(sk)",
                    ExpressionAttributeValues=to_item({":erasing": ERASING, ":none": ""}),
                )
        except ClientError:  # the condition failed: other errors are translated
            return False
        found = pages(_DEPENDENCY, partial(self._query, tenant, user, conversation_id))
        for messages in batched(map(from_item, found), _BATCH_WRITES, strict=False):
            ids = {message["sk"].rsplit("#", 1)[1]: message for message in messages}
            # What belongs to a message goes first: once it is gone, nobody would find them.
            answers = [each for each, message in ids.items() if message["role"] == "assistant"]
            receipts = [_receipt_key(tenant, user, each) for each in answers]
            self._delete([*receipts, *({"pk": pk, "sk": f"MSG#{each}"} for each in ids)])
            self._delete([feedback_key(tenant, each) for each, message in ids.items() if "feedback" in message])
            self._delete([unanswered_key(tenant, each) for each, message in ids.items() if _is_unanswered(message)])
            self._delete([{"pk": pk, "sk": message["sk"]} for message in messages])
        self._erase_handoffs(tenant, conversation_id)
        with dynamo_errors(_DEPENDENCY):
            self._client.delete_item(TableName=self._table, Key=head)
        return True

    def _erase_handoffs(self, tenant: str, conversation_id: str) -> None:
        """Erase the conversation's hand-offs, and last the item that lists them. Published answers stay."""
        names = handoffs_key(tenant, conversation_id)
        with dynamo_errors(_DEPENDENCY):
            found = self._client.get_item(TableName=self._table, Key=to_item(names), ConsistentRead=True).get("Item")
        if found is not None:
            self._delete([handoff_key(tenant, each) for each in from_item(found)["handoffs"]])
            self._delete([names])

    def unfinished_erasures(self, tenant: str, user: str) -> Sequence[str]:
        """Return the ids of the user's conversations whose erasure was interrupted, or is running just now."""
        found = self._in_index(_pk(tenant, user), "updated_at = :erasing", {":erasing": ERASING})
        return [head.conversation_id for head in map(_head, found)]

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Store the summary of the first `upto` messages, unless a longer one is stored or the conversation is gone."""
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key=to_item({"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}),
                    UpdateExpression="SET summary = :summary, summarized = :upto",
                    ConditionExpression=(f"{EXISTS} AND (attribute_not_exists(summarized) OR summarized < :upto)"),
                    ExpressionAttributeValues=to_item({":summary": summary, ":upto": upto, ":erasing": ERASING}),
                )
        except ClientError:
            return

    def _delete(self, keys: Sequence[Mapping[str, str]]) -> None:
        def send(requests: Sequence[Any]) -> Sequence[Any]:
            with dynamo_errors(_DEPENDENCY):
                answer = self._client.batch_write_item(RequestItems={self._table: requests})
            return answer.get("UnprocessedItems", {}).get(self._table, ())

        for batch in batched(keys, _BATCH_WRITES, strict=False):
            until_processed([{"DeleteRequest": {"Key": to_item(key)}} for key in batch], send, self._retry)

    def _in_index(self, pk: str, condition: str, values: Mapping[str, str]) -> Iterator[Item]:
        """Yield the user's items of the index that meet a condition on `updated_at`, the last used first."""
        return pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            IndexName=RECENT,
            KeyConditionExpression=f"pk = :pk AND {condition}",
            ExpressionAttributeValues=to_item({":pk": pk, **values}),
            ScanIndexForward=False,
        )

    def _by_last_use(self, pk: str, newest: str, *, since: str = "0") -> Iterator[tuple[_Place, Conversation]]:
        """Yield conversations by their places, the last used first, from the time `newest` back to `since`."""
        within = {":since": since, ":newest": newest}
        heads = map(_head, self._in_index(pk, "updated_at BETWEEN :since AND :newest", within))
        # The index does not say in which order it has those of one millisecond.
        for at, same in groupby(heads, key=lambda head: head.updated_at):
            for head in sorted(same, key=lambda head: head.conversation_id, reverse=True):
                yield (at, head.conversation_id), head

    def _moved(self, pk: str, begun: str) -> Sequence[tuple[_Place, Conversation]]:
        """Return conversations used since a listing began, by the places they had then: their last message before."""
        used = list(islice(self._by_last_use(pk, _NEWEST, since=begun), _MOVED + 1))
        if len(used) > _MOVED:
            raise InvalidRequest(_INVALID_CURSOR)
        moved = []
        for _, head in used:
            if head.created_at <= begun < head.updated_at:
                moved.append(((self._last_use_before(pk, head.conversation_id, begun), head.conversation_id), head))
        return sorted(moved, key=lambda each: each[0], reverse=True)

    def _last_use_before(self, pk: str, conversation_id: str, time: str) -> str:
        """Return when the conversation's last message up to a time was written."""
        newest_first = pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
            ExpressionAttributeValues=to_item({":pk": pk, ":sk": f"CONV#{conversation_id}#MSG#"}),
            ProjectionExpression="created_at",
            ScanIndexForward=False,
            Limit=NEWEST_LOOKED_AT,
        )
        return next((at for item in newest_first if (at := str(from_item(item)["created_at"])) <= time), "")

    def _query(self, tenant: str, user: str, conversation_id: str, **request: Any) -> Mapping[str, Any]:
        with dynamo_errors(_DEPENDENCY):
            return self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                ExpressionAttributeValues=to_item({":pk": _pk(tenant, user), ":sk": f"CONV#{conversation_id}#MSG#"}),
                ConsistentRead=True,
                **request,
            )


def head_exists(table: str, tenant: str, user: str, conversation_id: str) -> "TransactWriteItemTypeDef":
    """Return the condition of a transaction that the conversation exists and is not being erased."""
    return {
        "ConditionCheck": {
            "TableName": table,
            "Key": to_item({"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}),
            "ConditionExpression": EXISTS,
            "ExpressionAttributeValues": to_item({":erasing": ERASING}),
        }
    }


def write_together(client: "DynamoDBClient", items: Sequence["TransactWriteItemTypeDef"], retry: Retry) -> set[int]:
    """Write all items or none; return the positions of those whose condition failed.

    If another writer collides, it tries again. Raises `Conflict` if that happens each time, and `DependencyError`.
    """
    tried = 0
    while True:
        try:
            with dynamo_errors(retry.dependency):
                client.transact_write_items(TransactItems=items)
        except ClientError as error:
            reasons = [reason.get("Code", "") for reason in error.response.get("CancellationReasons", [])]
            if "ConditionalCheckFailed" in reasons:
                return {at for at, reason in enumerate(reasons) if reason == "ConditionalCheckFailed"}
            codes = ", ".join(sorted(set(reasons) - {"None"}))
            if "TransactionConflict" not in reasons:
                if _THROTTLED & set(reasons):
                    raise RateLimited(retry.dependency, codes) from error
                raise DependencyRefused(retry.dependency, f"the items cannot be written: {codes}") from error
            tried += 1
            try:
                retry.wait(DependencyUnavailable(retry.dependency, codes), tried)
            except DependencyUnavailable:
                raise Conflict("Another request is writing to this conversation.") from error
        else:
            return set()


def conversation_key(tenant: str, user: str, conversation_id: str) -> dict[str, str]:
    """Return the key of a conversation."""
    return {"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}


def message_key(tenant: str, user: str, conversation_id: str, message_id: str) -> dict[str, str]:
    """Return the key of a message."""
    return {"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}#MSG#{message_id}"}


def _receipt_key(tenant: str, user: str, message_id: str) -> dict[str, str]:
    """Return the key of an answer's receipt: known from the message, so that it is erased with it."""
    return {"pk": _pk(tenant, user), "sk": f"RECEIPT#{message_id}"}


def handoff_key(tenant: str, handoff_id: str) -> dict[str, str]:
    """Return the key of a hand-off."""
    return {"pk": f"TENANT#{tenant}#HANDOFF", "sk": f"HANDOFF#{handoff_id}"}


def handoffs_key(tenant: str, conversation_id: str) -> dict[str, str]:
    """Return the key of the item that lists a conversation's hand-offs, so that they are erased with it."""
    return {"pk": f"TENANT#{tenant}#HANDOFF", "sk": f"CONV#{conversation_id}"}


def unanswered_key(tenant: str, message_id: str) -> dict[str, str]:
    """Return the key of an unanswered question: known from the message, so that it is erased with it."""
    return {"pk": f"TENANT#{tenant}#UNANSWERED", "sk": f"MSG#{message_id}"}


def _unanswered_item(tenant: str, question: UnansweredQuestion) -> Item:
    """Return the item of an unanswered question (shared/adapters/unanswered.py)."""
    return to_item(
        {
            **unanswered_key(tenant, question.question_id),
            "question": question.question,
            "asked_at": question.asked_at,
            "lang": question.language,  # `language` is a reserved word of DynamoDB
            "space": question.space,
            "vector": struct.pack(f"<{len(question.vector)}f", *question.vector),
            "refusal": question.refusal,
            "nearest": [list(each) for each in question.nearest],
            "expires_at": question.expires_at,
        }
    )


def _is_unanswered(item: Mapping[str, Any]) -> bool:
    """Say whether a message may have an unanswered question: it is a refusal, or it was rated."""
    return "feedback" in item or bool(json.loads(item.get("details", "{}")).get("no_relevant_info"))


def feedback_key(tenant: str, message_id: str) -> dict[str, str]:
    """Return the key of what editors see of a rated answer: known from the message, so that it is erased with it."""
    return {"pk": f"TENANT#{tenant}#FEEDBACK", "sk": f"MSG#{message_id}"}


def _pk(tenant: str, user: str) -> str:
    return f"TENANT#{tenant}#USER#{user}"


def cursor_of(*place: str) -> str:
    """Return the cursor of a place in a listing by time: times, and the id of what was shown last."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def place_of(cursor: str, *, parts: int) -> Sequence[str]:
    """Return the parts of a cursor; all are empty without one. Raises `InvalidRequest`."""
    if not cursor:
        return [""] * parts
    if len(cursor) > _KEY_CHARACTERS:
        raise InvalidRequest(_INVALID_CURSOR)
    try:
        *times, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        # Only times in the stored form: anything else would query the index for something that is not a time.
        for time in times:
            datetime.fromisoformat(time)
    except (ValueError, TypeError) as error:
        raise InvalidRequest(_INVALID_CURSOR) from error
    if len(times) != parts - 1:
        raise InvalidRequest(_INVALID_CURSOR)
    return [*times, str(last)]


def _comparable(title: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())


def _decoded(cursor: str, conversation_id: str) -> str:
    try:
        sk = base64.urlsafe_b64decode(cursor.encode()).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidRequest(_INVALID_CURSOR) from error
    if not sk.startswith(f"CONV#{conversation_id}#MSG#") or len(sk) > _KEY_CHARACTERS:
        raise InvalidRequest(_INVALID_CURSOR)
    return sk


def _head(item: Mapping[str, Any]) -> Conversation:
    values = from_item(item)
    return Conversation(
        values["sk"].removeprefix("CONV#"),
        values["title"],
        values["created_at"],
        values["updated_at"],
        int(values["message_count"]),
        values.get("summary", ""),
        int(values.get("summarized", 0)),
    )


def message_values(message: Message) -> dict[str, object]:
    """Return what is stored of a message, without its key and its feedback, which is only ever added."""
    return {
        "role": message.role,
        "content": message.content,
        "created_at": message.created_at,
        "citations": [asdict(citation) for citation in message.citations],
        "claims": [asdict(claim) for claim in message.claims],
        # One JSON string, because details are never searched.
        "details": json.dumps(message.details, separators=(",", ":"), sort_keys=True),
    }


def message_of(item: Mapping[str, Any]) -> Message:
    """Read a stored message, or what editors see of it."""
    values = from_item(item)
    feedback = values.get("feedback")
    return Message(
        message_id=values["sk"].rsplit("#", 1)[1],
        role=values["role"],
        content=values["content"],
        created_at=values["created_at"],
        citations=tuple(map(Citation.of, values.get("citations", ()))),
        details=json.loads(values.get("details", "{}")),
        claims=tuple(map(AnswerClaim.of, values.get("claims", ()))),
        feedback=Feedback(**feedback) if feedback else None,
    )
