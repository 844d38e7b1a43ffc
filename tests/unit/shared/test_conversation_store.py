"""Conversations on DynamoDB: appended in one transaction, read back in order, invisible to anybody else."""

from base64 import urlsafe_b64encode
from dataclasses import asdict, replace

import pytest
from botocore.stub import Stubber
from mypy_boto3_dynamodb import DynamoDBClient

from shared.adapters.cache import DynamoEmbeddingCache
from shared.adapters.conversations import DynamoConversationStore
from shared.adapters.retry import AWS_ATTEMPTS
from shared.errors import Conflict, DependencyRefused, InvalidRequest, NotFound, RateLimited, RectoError
from shared.models import AnswerClaim, Citation, FoundMessage, Message, SourceType
from shared.rects import PageSize, Rect
from tests.support.clock import FakeClock
from tests.support.moto_aws import Killed, kill_after

CITATION = Citation(
    *(1, "doc", "Title", SourceType.PDF, 3, 3, "iii", "1 Scope", "A quote.", 10, 18, 0.7312),
    key="uploads/acme/a/b.pdf",
    version_id="v1",
    rects=(Rect(3, 72.0, 100.5, 210.3, 112.0), Rect(3, 72.0, 112.5, 90.0, 124.0)),
    page_sizes=(PageSize(3, 595.3, 841.9),),
)


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
    store.save_turns("acme", "ann", "C1", title="question 1", turns=turns(1), is_new=True)
    assert store.recent_messages("acme", "ann", "C1", limit=5) == turns(1)
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert (head.title, head.message_count) == ("question 1", 2)


def test_a_citation_stored_before_it_named_its_object_is_read():
    stored = asdict(CITATION)
    for later in ("key", "version_id", "rects", "page_sizes"):
        del stored[later]
    assert Citation.of(stored) == replace(CITATION, key="", version_id="", rects=(), page_sizes=())


def test_recent_messages_are_the_last_ones_oldest_first(store: DynamoConversationStore):
    for n in range(1, 5):
        store.save_turns("acme", "ann", "C1", title=f"question {n}", turns=turns(n), is_new=n == 1)
    recent = store.recent_messages("acme", "ann", "C1", limit=3)
    assert [each.content for each in recent] == ["answer 3", "question 4", "answer 4"]
    assert store.recent_messages("acme", "ann", "C1", limit=0) == []
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert (head.title, head.message_count, head.updated_at[:19]) == ("question 1", 8, "2026-01-01T00:00:04")


def test_recent_messages_of_more_than_a_page_of_dynamodb_are_all_there(store: DynamoConversationStore):
    long = [replace(message, content="x" * 150_000) for n in range(1, 7) for message in turns(n)]
    for at, message in enumerate(long):
        store.save_turns("acme", "ann", "C1", title="t", turns=[message], is_new=at == 0)
    assert store.recent_messages("acme", "ann", "C1", limit=50) == long
    assert store.recent_messages("acme", "ann", "C1", limit=9) == long[-9:]


@pytest.mark.parametrize(("tenant", "user"), [("acme", "bob"), ("other", "ann")])
def test_somebody_elses_conversation_does_not_exist(store: DynamoConversationStore, tenant: str, user: str):
    store.save_turns("acme", "ann", "C1", title="mine", turns=turns(1), is_new=True)
    assert store.get(tenant, user, "C1") is None
    with pytest.raises(NotFound):
        store.recent_messages(tenant, user, "C1", limit=5)


def test_pages_of_messages_join_without_gap_or_repeat(store: DynamoConversationStore):
    for n in range(1, 6):
        store.save_turns("acme", "ann", "C1", title="t", turns=turns(n), is_new=n == 1)
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
    store.save_turns("acme", "ann", "C1", title="t", turns=turns(1), is_new=True)
    store.save_turns("acme", "ann", "C1", title="t", turns=turns(1), is_new=True)
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert head.message_count == 2


def save(store: DynamoConversationStore, conversation_id: str, n: int, *, is_new: bool = True) -> None:
    store.save_turns("acme", "ann", conversation_id, title=f"About {conversation_id}", turns=turns(n), is_new=is_new)


def test_a_message_is_found_with_its_conversation_and_question(store: DynamoConversationStore):
    save(store, "C1", 1)
    save(store, "C1", 2, is_new=False)
    question, answer = turns(2)
    found = store.find_message("acme", "ann", answer.message_id)
    assert found == FoundMessage("C1", answer, "question 2")
    assert store.find_message("acme", "ann", question.message_id) == FoundMessage("C1", question)
    assert store.find_message("acme", "ann", f"{99:026d}") is None


@pytest.mark.parametrize(("tenant", "user"), [("acme", "bob"), ("other", "ann")])
def test_somebody_elses_message_is_not_found(store: DynamoConversationStore, tenant: str, user: str):
    save(store, "C1", 1)
    assert store.find_message(tenant, user, turns(1)[1].message_id) is None


def listed(store: DynamoConversationStore, cursor: str = "", *, limit: int = 2, title: str = "") -> tuple[str, str]:
    """One page of a listing, its ids in one string, and the next page's cursor."""
    page, following = store.recent("acme", "ann", limit=limit, cursor=cursor, title=title)
    return " ".join(each.conversation_id for each in page), following


def test_the_last_used_conversation_comes_first(store: DynamoConversationStore):
    for n in (1, 2, 3):
        save(store, f"C{n}", n)
    save(store, "C1", 4, is_new=False)
    assert listed(store, limit=9) == ("C1 C3 C2", "")
    assert store.recent("acme", "bob", limit=9) == store.recent("other", "ann", limit=9) == ([], "")


def test_a_listing_keeps_its_order_while_conversations_are_used_begun_and_erased(store: DynamoConversationStore):
    for n in range(1, 7):
        save(store, f"C{n}", n)
    first, cursor = listed(store)
    save(store, "C5", 7, is_new=False)  # shown already
    save(store, "C2", 8, is_new=False)  # not yet
    save(store, "C2", 9, is_new=False)
    save(store, "C7", 10)
    store.erase("acme", "ann", "C4")
    second, cursor = listed(store, cursor)
    save(store, "C1", 11, is_new=False)
    third, cursor = listed(store, cursor)
    assert (first, second, third, cursor) == ("C6 C5", "C3 C2", "C1", "")
    assert listed(store, limit=9)[0] == "C1 C7 C2 C5 C6 C3"


def test_a_conversation_used_meanwhile_keeps_the_place_of_its_last_use_before(store: DynamoConversationStore):
    for name, n in (("C1", 1), ("C2", 2), ("C1", 3), ("C3", 4), ("C4", 5)):
        save(store, name, n, is_new=(name, n) != ("C1", 3))
    first, cursor = listed(store)
    save(store, "C1", 6, is_new=False)
    assert (first, *listed(store, cursor)) == ("C4 C3", "C1 C2", "")


def test_conversations_used_in_the_same_millisecond_are_all_listed_once(store: DynamoConversationStore):
    for n in range(6):
        same = [replace(each, message_id=f"{n}-{each.role}") for each in turns(1)]
        store.save_turns("acme", "ann", f"C{n}", title="t", turns=same, is_new=True)
    seen, cursor = listed(store, limit=4)
    assert f"{seen} {listed(store, cursor, limit=4)[0]}" == "C5 C4 C3 C2 C1 C0"


def test_conversations_are_found_by_words_of_their_titles_in_any_case(store: DynamoConversationStore):
    for n in range(1, 5):
        save(store, f"C{n}", n)
    store.rename("acme", "ann", "C2", "Die Straße nach  Orsk")
    store.rename("acme", "ann", "C3", "STRASSE nach Süden")
    assert listed(store, limit=1, title="strasse NACH")[0] == "C3"
    assert listed(store, listed(store, limit=1, title="strasse nach")[1], limit=1, title="strasse nach") == ("C2", "")
    assert listed(store, title="lighthouse") == ("", "")


@pytest.mark.parametrize("cursor", [b"none", b"[1, 2]", b'["x", "y", "z"]', b'["2026-01-01", "2026-01-02", "z"]' * 9])
def test_a_listing_refuses_a_cursor_that_is_none(store: DynamoConversationStore, cursor: bytes):
    with pytest.raises(InvalidRequest):
        store.recent("acme", "ann", limit=2, cursor=urlsafe_b64encode(cursor).decode())


def test_a_conversation_is_renamed_without_being_used_and_keeps_its_name(store: DynamoConversationStore):
    save(store, "C1", 1)
    save(store, "C2", 2)
    renamed = store.rename("acme", "ann", "C1", "The lamp")
    assert renamed is not None
    assert (renamed.title, renamed.message_count) == ("The lamp", 2)
    assert listed(store)[0] == "C2 C1"
    save(store, "C1", 3, is_new=False)
    head = store.get("acme", "ann", "C1")
    assert head is not None
    assert head.title == "The lamp"
    assert store.rename("acme", "bob", "C1", "Mine") is None


def items_of(client: DynamoDBClient) -> list[str]:
    return sorted(item["sk"]["S"] for item in client.scan(TableName="conversations")["Items"])


def test_an_erased_conversation_leaves_nothing_and_the_others_stay(
    client: DynamoDBClient, store: DynamoConversationStore
):
    save(store, "C2", 50)
    others = items_of(client)
    for n in range(1, 30):  # more than one batch
        save(store, "C1", n, is_new=n == 1)
    assert not store.erase("acme", "bob", "C1")
    assert store.erase("acme", "ann", "C1")
    assert items_of(client) == others
    assert not store.erase("acme", "ann", "C1")


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5, 6])
def test_an_erasure_that_was_killed_hides_everything_and_is_finished_later(
    client: DynamoDBClient, store: DynamoConversationStore, monkeypatch: pytest.MonkeyPatch, calls: int
):
    """The calls are: mark, read the messages, delete pointers, messages, look for hand-offs, delete the head."""
    save(store, "C1", 1)
    kill_after(monkeypatch, client, calls)
    if calls < 6:
        with pytest.raises(Killed):
            store.erase("acme", "ann", "C1")
    else:
        assert store.erase("acme", "ann", "C1")
    monkeypatch.undo()
    assert store.get("acme", "ann", "C1") is None
    assert store.find_message("acme", "ann", turns(1)[1].message_id) is None
    assert listed(store) == ("", "")
    assert store.rename("acme", "ann", "C1", "Back again") is None
    store.save_summary("acme", "ann", "C1", summary="Once there was", upto=2)
    with pytest.raises(NotFound):
        store.recent_messages("acme", "ann", "C1", limit=5)
    with pytest.raises(NotFound):
        save(store, "C1", 2, is_new=False)
    for conversation_id in store.unfinished_erasures("acme", "ann"):
        assert store.erase("acme", "ann", conversation_id)
    assert items_of(client) == []


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
        for _ in range(AWS_ATTEMPTS if expected is Conflict else 1):
            stub.add_client_error(
                "transact_write_items",
                "TransactionCanceledException",
                modeled_fields={"CancellationReasons": [{"Code": "None"}, {"Code": reason}, {"Code": "None"}]},
            )
        with pytest.raises(expected):
            DynamoConversationStore(client, "conversations").save_turns(
                "acme", "ann", "C1", title="t", turns=turns(1), is_new=True
            )
        stub.assert_no_pending_responses()


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
