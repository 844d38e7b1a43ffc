"""Erasures as they are kept: begun once, worked on by one, and proved by a receipt that nobody can change."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.adapters.erasures import KEPT_S, DynamoErasures
from shared.erasures import Erasure, canonical, is_genuine, receipt_of, signed, signing_key
from tests.support.moto_aws import MockedAws, create_tables, mocked_aws, stale_reads

AT = "2026-01-01T00:00:00.000+00:00"
ERASURE = Erasure("acme", "E1", "document", "d1", "ann", AT, key="uploads/acme/a/lamp.v1.pdf", title="Lamp", left=[])


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockedAws]:
    with mocked_aws(monkeypatch) as made:
        stale_reads(monkeypatch)
        create_tables(made.dynamodb, "ConversationsTable")
        yield made


@pytest.fixture
def store(aws: MockedAws) -> DynamoErasures:
    return DynamoErasures(aws.dynamodb, "conversations")


def test_an_erasure_is_begun_once_and_begun_anew_after_its_end(store: DynamoErasures, aws: MockedAws):
    assert store.begin(ERASURE) == ERASURE
    assert store.begin(replace(ERASURE, erasure_id="E2", begun_at="later")) == ERASURE
    other = replace(ERASURE, erasure_id="E3", kind="user", subject="d1")
    assert store.begin(other) == other
    foreign = replace(ERASURE, erasure_id="E4", tenant="rival")
    assert store.begin(foreign) == foreign
    assert sorted(each.erasure_id for each in store.unfinished()) == ["E1", "E3", "E4"]
    store.count_before(ERASURE, "vectors", 3)
    store.count_before(ERASURE, "messages", 2)
    known = store.get("acme", "E1")
    assert known == replace(ERASURE, before={"vectors": 3, "messages": 2})
    assert store.get("rival", "E1") is None

    done = replace(ERASURE, state="erased", finished_at=AT, rounds=2, key="", title="", requested_by="x", before={})
    store.save(done)
    saved = store.get("acme", "E1")
    assert saved == replace(done, before={"vectors": 3, "messages": 2}, requested_by="ann")
    item = aws.dynamodb.get_item(
        TableName="conversations",
        Key={"pk": {"S": "TENANT#acme#ERASURES"}, "sk": {"S": "ERASURE#E1"}},
        ConsistentRead=True,
    )["Item"]
    assert int(item["expires_at"]["N"]) == 1_767_225_600 + KEPT_S
    assert sorted(each.erasure_id for each in store.unfinished()) == ["E3", "E4"]
    again = replace(ERASURE, erasure_id="E5")
    assert store.begin(again) == again


def test_an_erasure_that_is_not_finished_stays_open(store: DynamoErasures, aws: MockedAws):
    store.begin(ERASURE)
    store.save(replace(ERASURE, rounds=1, left=["more"]))
    (open_one,) = store.unfinished()
    assert (open_one.rounds, open_one.left) == (1, ["more"])
    items = aws.dynamodb.scan(TableName="conversations")["Items"]
    assert not [each for each in items if "expires_at" in each]


def test_one_round_at_a_time_and_the_next_goes_on_where_it_stopped(store: DynamoErasures):
    assert store.hold(1_000, 1_900) == {}
    assert store.hold(1_899, 2_799) is None
    assert store.hold(1_900, 2_800) is None
    assert store.hold(1_901, 2_801) == {}, "the first one was killed"
    store.let_go({"position": ["cache", {}], "at": 7})
    assert store.hold(1, 2) == {"position": ["cache", {}], "at": 7}
    store.let_go({})
    assert store.hold(1, 2) == {}


def test_a_receipt_counts_each_store_before_and_after():
    erasure = replace(
        ERASURE, before={"vectors": 3, "messages": 2}, found={"messages": 5, "answers": 1}, left=["more"], rounds=4
    )
    receipt = receipt_of(erasure, re_read_at="now", settled_s=60, left={"answers": 2, "other": 1})
    not_erased = receipt.pop("not_erased")
    assert receipt == {
        "version": 1,
        "erasure_id": "E1",
        "tenant": "acme",
        "kind": "document",
        "subject": "d1",
        "state": "running",
        "begun_at": AT,
        "finished_at": "",
        "re_read_at": "now",
        "settled_s": 60,
        "rounds": 4,
        "stores": [
            {"store": "answers", "before": 1, "after": 2},
            {"store": "messages", "before": 5, "after": 0},
            {"store": "other", "before": 0, "after": 1},
            {"store": "vectors", "before": 3, "after": 0},
        ],
        "left": ["more"],
    }
    assert len(not_erased) == 6
    assert len(receipt_of(replace(erasure, kind="user"), re_read_at="", settled_s=0, left={})["not_erased"]) == 7


def test_a_signature_holds_for_one_receipt_and_one_key():
    key = signing_key({"PINECONE_API_KEY": "pc"})
    receipt = signed({"b": 1, "a": "ä"}, key)
    assert canonical(receipt) == f'{{"a":"ä","b":1,"key":"{receipt["key"]}"}}'.encode()
    assert len(receipt["key"]) == 12
    assert is_genuine(receipt, key)
    for changed in (
        {**receipt, "b": 2},
        {**receipt, "key": "x"},
        {**receipt, "signature": "ä"},
        {**receipt, "signature": 1},
    ):
        assert not is_genuine(changed, key)
    assert not is_genuine({"b": 1}, key)
    own = signing_key({"PINECONE_API_KEY": "pc", "RECEIPT_KEY": "own"})
    assert own != key
    assert own == signing_key({"RECEIPT_KEY": "own"})
    assert not is_genuine(receipt, own)


def test_a_document_is_called_by_its_title_and_its_files_name():
    assert ERASURE.names() == ["Lamp", "lamp.v1.pdf", "lamp.v1"]
    assert replace(ERASURE, key="", title="").names() == []
    assert ERASURE.began == 1_767_225_600
