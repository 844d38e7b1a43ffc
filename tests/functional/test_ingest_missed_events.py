"""The bucket is the truth when events are missed too: what they would have said is found and repaired."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from rich.console import Console

from functions.ingest import bootstrap, maintenance
from functions.ingest.changes import change_body
from functions.ingest.delivery import MAX_RECEIVES
from functions.ingest.lease import InvocationTime
from functions.ingest.repair import Compared, Comparison, Reason
from local.operate import Target, sweep
from local.report import Reporter
from shared.models import VectorRecord, vector_id_of
from tests.support.clock import FakeClock
from tests.support.ingest import Context, Stack, ingest_stack
from tests.support.ingest_kills import LocalQueue

MINUTE_S = 60.0
HOUR_S = 60 * MINUTE_S
DAY_S = 24 * HOUR_S


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture
def clock(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The maintenance function's clock, an hour later: nothing is left to its own event any more.

    Its change notifications go to a queue of the test's own.
    """
    later = FakeClock(datetime.now(UTC))
    later.advance(HOUR_S)
    comparison = replace(bootstrap.comparison(), clock=later, queue=LocalQueue())
    monkeypatch.setattr(bootstrap, "comparison", lambda: comparison)
    return later


def pair(answer: str) -> bytes:
    return json.dumps({"question": "What holds?", "answer": answer}).encode()


def run(event: dict[str, Any] | None = None) -> dict[str, Any]:
    return dict(maintenance.handler(event or {}, cast("Any", Context())))


def compare(tenant: str, **how: Any) -> Compared:
    return bootstrap.comparison().compare(tenant, InvocationTime(lambda: 900.0), **how)


def deliver(stack: Stack, *keys: str, event: str = "ObjectCreated:Put", receives: int = 1) -> list[str]:
    """Deliver an event for each key; return those whose messages have to come back (here they never do)."""
    failed = []
    for key in keys:
        record = LocalQueue().record(json.dumps(stack.s3_event(key, event=event)))
        record["attributes"]["ApproximateReceiveCount"] = str(receives)
        if stack.invoke({"Records": [record]})["batchItemFailures"]:
            failed.append(key)
    return failed


def deliver_changes(stack: Stack) -> int:
    """Deliver the change notifications that were sent; return how many there were."""
    queue, count = cast("LocalQueue", bootstrap.comparison().queue), 0
    while (message := queue.receive()) is not None:
        assert stack.invoke({"Records": [message]}) == {"batchItemFailures": []}
        count += 1
    return count


def texts(stack: Stack, key: str) -> list[str]:
    return [metadata["text"] for metadata in stack.vectors(key.split("/")[1], key).values()]


def test_missed_puts_replacements_and_deletions_are_found_by_the_next_round(
    stack: Stack, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Comparison, "tenants", lambda _self: ["unheard"])  # the other tests leave objects of theirs
    new, replaced, gone, kept = (f"faq/unheard/{name}.json" for name in ("new", "replaced", "gone", "kept"))
    for key in (replaced, gone, kept):
        stack.put(key, pair("The first."))
    assert deliver(stack, replaced, gone, kept) == []
    before = stack.document(kept)
    stack.put(new, pair("New."))
    stack.put(replaced, pair("The second."))
    stack.delete(gone)

    answer = run()
    assert (answer["new"], answer["replaced"], answer["gone"], answer["failed"], answer["changes"]) == (1, 1, 1, 0, 3)
    assert (answer["objects"], answer["unfinished"]) == (3, [])
    assert deliver_changes(stack) == 3
    assert "New." in texts(stack, new)[0]
    (text,) = texts(stack, replaced)
    assert "The second." in text
    assert (texts(stack, gone), stack.document(gone).status.value) == ([], "DELETED")
    assert stack.document(kept) == before

    assert run()["changes"] == 0
    assert deliver_changes(stack) == 0


def test_the_age_of_the_oldest_document_without_a_result_is_counted(
    stack: Stack, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "faq/waiting/a.json"
    stack.put(key, pair("Waits."))
    assert abs(compare("waiting").oldest_s - HOUR_S) < MINUTE_S  # the object is a little younger than the clock
    capsys.readouterr()
    run({"recto": "compare", "tenant": "waiting"})
    (told,) = (line for line in capsys.readouterr().out.splitlines() if "OldestUnfinishedDocument" in line)
    assert json.loads(told)["OldestUnfinishedDocument"][0] > HOUR_S - MINUTE_S
    deliver_changes(stack)
    assert compare("waiting").oldest_s == 0


def test_the_same_bytes_put_again_without_an_event_are_a_version_of_their_own(stack: Stack, clock: FakeClock) -> None:
    key = "faq/sameness/a.json"
    stack.put(key, pair("As ever."))
    deliver(stack, key)
    first = stack.document(key)
    make_older(stack, key, seconds=60)
    stack.put(key, pair("As ever."))
    assert compare("sameness").changes == {Reason.REPLACED: 1}
    deliver_changes(stack)
    assert stack.document(key).version_id != first.version_id
    assert not compare("sameness").changes


def test_a_bucket_that_was_filled_before_there_was_a_stack_is_read(stack: Stack, clock: FakeClock) -> None:
    keys = ["faq/filled/a.json", "resolved/filled/b.json", "knowledge/filled/deep/c.json"]
    chunk = {"metadata": {"chunk_id": "c"}, "languageVariants": {"en": {"text": "Be kind."}}}
    for key, body in zip(keys, (pair("A."), pair("B."), json.dumps([chunk]).encode()), strict=True):
        stack.put(key, body)
    for ignored in ("uploads/filled/", "glossary/filled.json", "faq/~odd/a.json", "elsewhere/filled/x.json"):
        stack.put(ignored, b"{}")
    tenants = run({"recto": "tenants"})["tenants"]
    assert "filled" in tenants
    assert "~odd" not in tenants
    answer = run({"recto": "compare", "tenant": "filled"})
    assert (answer["new"], answer["changes"], answer["objects"]) == (3, 3, 3)
    assert deliver_changes(stack) == 3
    assert all(stack.document(key).status.value == "READY" for key in keys)


def test_a_recent_change_is_left_to_its_own_event(stack: Stack) -> None:
    stack.put("faq/young/new.json", pair("New."))
    stack.put("faq/young/gone.json", pair("Gone."))
    deliver(stack, "faq/young/gone.json")
    stack.delete("faq/young/gone.json")
    compared = compare("young")
    assert (compared.changes, compared.young, compared.finished) == ({}, 2, True)


def test_more_objects_than_one_page_of_a_listing_are_compared_and_continued_where_it_stopped(
    stack: Stack, clock: FakeClock
) -> None:
    for number in range(1_050):
        stack.put(f"faq/many/{number:05}.json", b"{}")
    first = compare("many", most=1_020)
    assert (first.changes, first.finished, first.last) == ({Reason.NEW: 1_020}, False, "faq/many/01019.json")
    second = compare("many", most=1_020, after=first.last)
    assert (second.changes, second.finished, second.objects) == ({Reason.NEW: 30}, True, 30)


def test_no_deletion_is_seen_in_a_part_that_was_not_listed(stack: Stack, clock: FakeClock) -> None:
    keys = [f"faq/parts/{name}.json" for name in "abcd"]
    for key in keys:
        stack.put(key, pair("There."))
    deliver(stack, *keys)
    for key in (keys[1], keys[3]):
        stack.delete(key)
    first = compare("parts", most=1)
    assert (first.changes, first.last) == ({Reason.GONE: 1}, keys[1])
    assert compare("parts", after=first.last).changes == {Reason.GONE: 1}
    assert compare("parts", after=keys[3]).changes == {}


def test_a_round_sends_so_many_changes_and_says_for_whom_it_stopped(
    stack: Stack, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        stack.put(f"faq/bounded/{number}.json", pair("Many."))
    monkeypatch.setattr(maintenance, "MAX_CHANGES", 3)
    answer = run({"recto": "compare", "tenant": "bounded"})
    assert (answer["changes"], answer["unfinished"], answer["after"]) == (3, ["bounded"], "faq/bounded/2.json")
    rest = run({"recto": "compare", "tenant": "bounded", "after": answer["after"]})
    assert (rest["changes"], rest["unfinished"]) == (1, [])
    assert deliver_changes(stack) == 4


def test_a_round_that_is_short_of_time_says_so(stack: Stack, clock: FakeClock) -> None:
    stack.put("faq/hurry/a.json", pair("Late."))
    late = bootstrap.comparison().compare("hurry", InvocationTime(lambda: 10.0))
    assert (late.changes, late.finished, late.last) == ({}, False, "")


def test_a_failed_document_is_retried_less_and_less_often(stack: Stack, clock: FakeClock) -> None:
    key = "faq/given/up.json"
    stack.put(key, pair("Later."))
    rule = {"route": "/v1/embeddings", "kind": "status", "status": 503}
    stack.faults(stack.openai_url, **rule)
    try:
        assert deliver(stack, key, receives=MAX_RECEIVES) == [key]
    finally:
        stack.http.delete(f"{stack.openai_url.removesuffix('/v1')}/_admin/faults").raise_for_status()
    failed = stack.document(key)
    assert failed.error is not None
    assert (failed.status.value, failed.error.code) == ("FAILED", "RETRIES_EXHAUSTED")
    assert compare("given").changes == {Reason.FAILED: 1}
    make_older(stack, key, seconds=-3 * HOUR_S)  # tried again three hours after it was put, in vain
    clock.advance(5 * HOUR_S)
    assert compare("given").changes == {}
    assert compare("given", at_once=True).changes == {Reason.FAILED: 1}
    clock.advance(HOUR_S)
    assert compare("given").changes == {Reason.FAILED: 1}
    deliver_changes(stack)
    assert stack.document(key).error is None


@pytest.mark.parametrize("body", [b"{", b'{"question": "Q"}'])
def test_what_failed_for_good_is_left_alone_until_the_object_is_another(
    stack: Stack, clock: FakeClock, body: bytes
) -> None:
    key = "faq/final/bad.json"
    stack.put(key, body)
    deliver(stack, key)
    clock.advance(30 * DAY_S)
    assert compare("final", at_once=True).changes == {}
    stack.put(key, pair("Good."))
    assert compare("final").changes == {Reason.REPLACED: 1}


@pytest.mark.parametrize(
    ("attributes", "notified"),
    [
        ("#s = :processing", False),
        ("lease_until = :far", False),
        ("pending_sequencer = :now", False),
        ("attempt_error = :crashed, #s = :failed", False),
        ("attempt_error = :quota, #s = :failed", True),
        ("#s = :deleted", True),
    ],
)
def test_documents_with_a_worker_or_that_crashed_workers_are_left_alone(
    stack: Stack, clock: FakeClock, attributes: str, notified: bool
) -> None:
    key = "faq/busy/a.json"
    stack.put(key, pair("Mine."))
    deliver(stack, key)
    known = {
        ":processing": {"S": "PROCESSING"},
        ":failed": {"S": "FAILED"},
        ":deleted": {"S": "DELETED"},
        ":far": {"N": str(clock.now().timestamp() + 10)},
        ":now": {"S": "now"},
        ":crashed": {"M": {"code": {"S": "CRASHED"}, "message": {"S": "x"}}},
        ":quota": {"M": {"code": {"S": "QUOTA_EXHAUSTED"}, "message": {"S": "x"}}},
    }
    names = {"#s": "status"} if "#s" in attributes else {}
    change(stack, key, f"SET {attributes}", {k: v for k, v in known.items() if k in attributes}, names)
    try:
        assert bool(compare("busy").changes) is notified
        assert bool(compare("busy", at_once=True).changes) is (notified or "crashed" in attributes)
    finally:
        change(stack, key, "REMOVE pending_sequencer, lease_until, attempt_error", {}, {})


def test_an_announced_upload_that_has_not_come_is_no_missed_deletion(stack: Stack, clock: FakeClock) -> None:
    key = "faq/promised/a.json"
    stack.put(key, pair("Soon."))
    deliver(stack, key)
    stack.delete(key)
    change(stack, key, "SET #s = :pending REMOVE etag", {":pending": {"S": "PENDING"}}, {"#s": "status"})
    assert compare("promised").changes == {}
    stack.put(key, pair("Here."))
    assert compare("promised").changes == {Reason.NEW: 1}


def test_the_start_of_a_reindex_includes_missed_events_and_failed_documents(stack: Stack, clock: FakeClock) -> None:
    failed, unheard = "faq/anew/failed.json", "faq/anew/unheard.json"
    stack.put(failed, b"{")
    deliver(stack, failed)
    stack.put(unheard, pair("Unheard."))
    begun = run({"recto": "reindex", "action": "start", "tenant": "anew"})
    assert begun["phase"] == "building"
    assert deliver_changes(stack) == 1, "the object that was never read"
    bodies = [
        message["Body"]
        for message in stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url, MaxNumberOfMessages=10)["Messages"]
    ]
    assert change_body(failed) in bodies
    assert len(stack.document(unheard).index_versions) == 2


def test_orphans_of_a_tenant_whose_documents_have_all_expired_are_swept(stack: Stack, clock: FakeClock) -> None:
    key = "faq/expired/a.json"
    stack.put(key, pair("Once."))
    deliver(stack, key)
    document = stack.document(key)
    stack.delete(key)
    deliver(stack, key, event="ObjectRemoved:Delete")
    stack.aws.dynamodb.delete_item(TableName=stack.aws.documents_table, Key=item_key(stack, key))  # the TTL does this
    orphan = VectorRecord(vector_id_of(document.document_id, "G", 0), [1.0] + [0.0] * 383, {"text": "x"})
    bootstrap.batch().reconciler.access.configured.vectors.upsert(namespace="expired", records=[orphan])
    assert run()["orphans"] == 1
    assert stack.vectors("expired") == {}


class Invoked:
    """The maintenance function behind Lambda's `Invoke`."""

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        return {"Payload": io.BytesIO(json.dumps(run(json.loads(Payload))).encode())}


def test_a_sweep_by_hand_goes_on_until_all_is_compared_and_tells_what_it_found(
    stack: Stack, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [f"faq/byhand/{number}.json" for number in range(5)]
    for key in keys:
        stack.put(key, pair("Asked for."))
    monkeypatch.setattr(maintenance, "MAX_CHANGES", 2)
    monkeypatch.setattr(Comparison, "tenants", lambda _self: ["byhand"])
    nobody = cast("Any", None)
    target = Target(cast("Any", Invoked()), nobody, nobody, {"MaintenanceFunctionName": "maintenance"}, nobody)
    console = Console(file=io.StringIO(), record=True, width=300)
    assert sweep(target, Reporter(console)) == 0
    answer = console.export_text()
    assert "1 tenant, 5 objects, 0 vectors: 0 orphans deleted" in answer
    assert "bucket and registry differ: 5 objects that were never read." in answer
    assert "Out of time" not in answer
    assert deliver_changes(stack) == 5
    assert sweep(target, Reporter(console)) == 0
    assert "registry differ" not in console.export_text().removeprefix(answer)


def test_a_comparison_needs_no_provider(stack: Stack, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    def down() -> Any:
        raise RuntimeError("no provider")

    monkeypatch.setattr(bootstrap, "batch", down)
    stack.put("faq/alone/a.json", pair("Alone."))
    assert run({"recto": "compare", "tenant": "alone"})["new"] == 1


def item_key(stack: Stack, key: str) -> dict[str, Any]:
    tenant = key.split("/")[1]
    return {"pk": {"S": f"TENANT#{tenant}"}, "sk": {"S": f"DOC#{stack.document(key).document_id}"}}


def change(stack: Stack, key: str, expression: str, values: dict[str, Any], names: dict[str, str]) -> None:
    optional: dict[str, Any] = {"ExpressionAttributeNames": names} if names else {}
    if values:
        optional["ExpressionAttributeValues"] = values
    stack.aws.dynamodb.update_item(
        TableName=stack.aws.documents_table, Key=item_key(stack, key), UpdateExpression=expression, **optional
    )


def make_older(stack: Stack, key: str, *, seconds: float) -> None:
    """Move the time of the last look at a document into the past."""
    when = datetime.fromtimestamp(datetime.now(UTC).timestamp() - seconds, UTC).isoformat()
    change(stack, key, "SET updated_at = :when", {":when": {"S": when}}, {})


def test_folder_rules_whose_event_was_lost_are_put_in_force(stack: Stack, clock: FakeClock) -> None:
    key, rules = "access/ruled.json", bootstrap.comparison().rules_in_force
    folder = {"prefix": "uploads/ruled/hr/", "allowed_groups": ["hr"]}
    stack.put(key, json.dumps({"folders": [folder]}).encode())
    assert run({"recto": "rules"}) == {"changes": 1}
    assert deliver_changes(stack) == 1
    assert rules("ruled") == stack.aws.s3.head_object(Bucket=stack.aws.bucket, Key=key)["ETag"].strip('"')
    assert run({"recto": "rules"}) == {"changes": 0}

    stack.put(key, b'{"folders": [{"prefix": "uploads/other/"}]}')
    before = rules("ruled")
    assert run({"recto": "rules"}) == {"changes": 1}
    assert deliver_changes(stack) == 1
    assert rules("ruled") == before, "what is not in the expected form is told of, and not put in force"

    stack.delete(key)
    assert run({"recto": "rules"}) == {"changes": 0}
    assert "ruled" in run({"recto": "tenants"})["tenants"]
    answer = run({"recto": "compare", "tenant": "ruled"})
    assert (answer["rules"], answer["changes"]) == (1, 1)
    assert deliver_changes(stack) == 1
    assert rules("ruled") == ""
    assert run({"recto": "compare", "tenant": "ruled"})["changes"] == 0
