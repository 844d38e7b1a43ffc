"""Conversations on DynamoDB: appended in one transaction, read back in order, invisible to anybody else."""

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import asdict, replace

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient

from shared.adapters.cache import DynamoEmbeddingCache
from shared.adapters.conversations import DynamoConversationStore
from shared.errors import Conflict, DependencyRefused, InvalidRequest, NotFound, RateLimited, RectoError
from shared.models import AnswerClaim, Citation, Message, SourceType
from tests.support.clock import FakeClock

CITATION = Citation(
    1, "doc", "Title", SourceType.PDF, 3, 3, "iii", "1 Scope", "A quote.", 10, 18, 0.7312, "uploads/acme/a/b.pdf", "v1"
)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoDBClient]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        dynamodb = boto3.client("dynamodb")
        for table, keys in (("conversations", ("pk", "sk")), ("cache", ("pk",))):
            dynamodb.create_table(
                TableName=table,
                KeySchema=[
                    {"AttributeName": name, "KeyType": kind}
                    for name, kind in zip(keys, ("HASH", "RANGE"), strict=False)
                ],
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
                BillingMode="PAY_PER_REQUEST",
            )
        yield dynamodb


@pytest.fixture
def store(client: DynamoDBClient) -> DynamoConversationStore:
    return DynamoConversationStore(client, "conversations")


CLAIMS = (AnswerClaim("It is 5.", "confirmed", (1, 2), "2 + 3 = 5"), AnswerClaim("It is blue.", "unconfirmed", (1,)))


def turns(n: int) -> list[Message]:
    at = f"2026-01-01T00:00:{n:02d}.000+00:00"
    return [
        Message(f"{2 * n:026d}", "user", f"question {n}", at),
        Message(
            f"{2 * n + 1:026d}", "assistant", f"answer {n}", at, (CITATION,), {"best_score": 0.5, "sources": []}, CLAIMS
        ),
    ]


def test_what_was_saved_is_read_back_whole(store: DynamoConversationStore):
    store.save_turns("acme", "ann", "C1", title="question 1", turns=turns(1))
    assert store.recent_messages("acme", "ann", "C1", limit=5) == turns(1)
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert (head.title, head.message_count) == ("question 1", 2)


def test_a_citation_stored_before_it_named_its_object_is_read():
    stored = asdict(CITATION)
    for later in ("key", "version_id"):
        del stored[later]
    assert Citation.of(stored) == replace(CITATION, key="", version_id="")


def test_recent_messages_are_the_last_ones_oldest_first(store: DynamoConversationStore):
    for n in range(1, 5):
        store.save_turns("acme", "ann", "C1", title=f"question {n}", turns=turns(n))
    recent = store.recent_messages("acme", "ann", "C1", limit=3)
    assert [each.content for each in recent] == ["answer 3", "question 4", "answer 4"]
    assert store.recent_messages("acme", "ann", "C1", limit=0) == []
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert (head.title, head.message_count, head.updated_at[:19]) == ("question 1", 8, "2026-01-01T00:00:04")


def test_recent_messages_of_more_than_a_page_of_dynamodb_are_all_there(store: DynamoConversationStore):
    long = [replace(message, content="x" * 150_000) for n in range(1, 7) for message in turns(n)]
    for message in long:
        store.save_turns("acme", "ann", "C1", title="t", turns=[message])
    assert store.recent_messages("acme", "ann", "C1", limit=50) == long
    assert store.recent_messages("acme", "ann", "C1", limit=9) == long[-9:]


@pytest.mark.parametrize(("tenant", "user"), [("acme", "bob"), ("other", "ann")])
def test_somebody_elses_conversation_does_not_exist(store: DynamoConversationStore, tenant: str, user: str):
    store.save_turns("acme", "ann", "C1", title="mine", turns=turns(1))
    assert store.get(tenant, user, "C1") is None
    with pytest.raises(NotFound):
        store.recent_messages(tenant, user, "C1", limit=5)


def test_pages_of_messages_join_without_gap_or_repeat(store: DynamoConversationStore):
    for n in range(1, 6):
        store.save_turns("acme", "ann", "C1", title="t", turns=turns(n))
    seen: list[str] = []
    cursor = ""
    while True:
        page, cursor = store.messages("acme", "ann", "C1", limit=3, cursor=cursor)
        seen += [each.message_id for each in page]
        if not cursor:
            break
    assert seen == [f"{n:026d}" for n in range(2, 12)]


TOO_LONG = urlsafe_b64encode(b"CONV#C1#MSG#" + b"1" * 2_000).decode()


@pytest.mark.parametrize("cursor", ["%%%", "Q09OViNDMiNNU0cjMQ==", TOO_LONG])
def test_a_cursor_of_another_conversation_is_refused(store: DynamoConversationStore, cursor: str):
    with pytest.raises(InvalidRequest):
        store.messages("acme", "ann", "C1", limit=3, cursor=cursor)


def test_saving_the_same_turns_twice_changes_nothing(store: DynamoConversationStore):
    store.save_turns("acme", "ann", "C1", title="t", turns=turns(1))
    store.save_turns("acme", "ann", "C1", title="t", turns=turns(1))
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert head.message_count == 2


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("TransactionConflict", Conflict),
        ("ThrottlingError", RateLimited),
        ("ProvisionedThroughputExceeded", RateLimited),
        ("ValidationError", DependencyRefused),  # an item over 400 KB, for one
    ],
)
def test_only_two_writers_at_once_are_a_conflict(client: DynamoDBClient, reason: str, expected: type[RectoError]):
    """Moto cancels for failed conditions alone; what else DynamoDB cancels for is no fault of the asker's."""
    with Stubber(client) as stub:
        stub.add_client_error(
            "transact_write_items",
            "TransactionCanceledException",
            modeled_fields={"CancellationReasons": [{"Code": "None"}, {"Code": reason}, {"Code": "None"}]},
        )
        with pytest.raises(expected):
            DynamoConversationStore(client, "conversations").save_turns("acme", "ann", "C1", title="t", turns=turns(1))


def test_a_cached_embedding_comes_back_to_float32_and_expires(client: DynamoDBClient):
    clock = FakeClock()
    writer, reader = (DynamoEmbeddingCache(client, "cache", clock) for _ in range(2))
    writer.put("k", [0.1, -0.25, 1.0], ttl_s=60)
    for cache in (writer, reader, reader):
        assert cache.get("k") == pytest.approx([0.1, -0.25, 1.0])
    clock.advance(61)
    assert writer.get("k") is None
    assert DynamoEmbeddingCache(client, "cache", clock).get("k") is None


def test_a_cache_that_is_down_is_a_miss(client: DynamoDBClient):
    cache = DynamoEmbeddingCache(client, "no-such-table", FakeClock(), container_size=1)
    cache.put("k", [1.0], ttl_s=60)
    cache.put("l", [1.0], ttl_s=60)
    assert cache.get("l") is not None
    assert cache.get("k") is None
