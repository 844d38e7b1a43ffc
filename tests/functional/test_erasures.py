"""Verified erasures: every trace of a document or a user goes, whatever happens meanwhile, and the receipt says so."""

import json
from collections.abc import Iterator
from typing import Any, cast

import boto3
import pytest

from functions.ingest import bootstrap as ingest_bootstrap
from functions.ingest import maintenance
from functions.query import bootstrap
from functions.query.writing.localization import texts_for
from local.erasure import is_allowed
from shared.adapters.aws import from_item
from shared.erasures import ERASED_ANSWER, is_genuine, signing_key
from shared.models import DocumentStatus, VectorRecord, document_id_of, vector_id_of
from tests.soak.erasures import run
from tests.support.ingest import Context, Stack, pdf_of, prose
from tests.support.query_stack import LENS, PAGES, call, query_stack

OTHER = "When was the windmill of Dunmore built?"
SECRET = {"OPENAI_API_KEY": "sk-test", "PINECONE_API_KEY": "pc-test"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("erasures")) as made:
        yield made


def round_(**event: Any) -> dict[str, Any]:
    answer = maintenance.handler({"recto": "erase", "settle_s": 0, **event}, cast("Any", Context()))
    return {name: answer[name] for name in ("finished", "unfinished")}


def finish() -> None:
    """Make rounds until nothing is left to be erased: two, and one more for each time that something is found late."""
    for _ in range(6):
        if not round_()["unfinished"]:
            return
    raise AssertionError([item for item in scanned("conversations") if "ERASURES" in item["pk"]])


def scanned(table: str) -> list[dict[str, Any]]:
    return [from_item(item) for item in boto3.client("dynamodb").scan(TableName=table)["Items"]]


def put(stack: Stack, key: str, *, title: str, pages: list[str]) -> str:
    stack.put(key, pdf_of(pages, title=title))
    assert stack.deliver(key) == []
    return document_id_of(key.split("/")[1], key)


def ask(question: str, *, user: str = "ann", **more: Any) -> dict[str, Any]:
    status, answer, _ = call("POST", "/query", {"question": question, **more}, user=user)
    assert status == 200
    return answer


def items(stack: Stack, table: str = "conversations") -> list[dict[str, Any]]:
    return [from_item(item) for item in stack.aws.dynamodb.scan(TableName=table)["Items"]]


def own(stack: Stack, user: str) -> list[dict[str, Any]]:
    return [item for item in items(stack) if user in json.dumps(item, default=str) and "#ERASURES" not in item["pk"]]


def erasure(erasure_id: str, **more: Any) -> dict[str, Any]:
    status, body, _ = call("GET", f"/erasures/{erasure_id}", **more)
    assert status == 200, body
    return body


def test_nothing_of_an_erased_document_is_left_and_a_receipt_says_so(stack: Stack) -> None:
    key = "uploads/acme/windmill.pdf"
    name = "The windmill of Dunmore"
    document_id = put(stack, key, title=name, pages=["The windmill of Dunmore was built in 1802 by Ada Finch."])
    cited = ask(OTHER)
    assert [each["document_id"] for each in cited["citations"]] == [document_id]
    listed = ask("Kokius dokumentus turi?", conversation_id=cited["conversation_id"])
    assert name in listed["answer"]
    kept = ask(LENS, user="bob")
    assert call("PUT", f"/messages/{cited['message_id']}/feedback", {"rating": "down"})[0] == 200
    assert call("POST", f"/conversations/{cited['conversation_id']}/handoff", {"reason": "why"})[0] in {200, 201}

    status, deleted, headers = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})
    assert (status, deleted["status"]) == (202, "DELETING")
    assert headers["location"] == f"/erasures/{deleted['erasure_id']}"
    assert ask(OTHER, user="eve")["no_relevant_info"]
    running = erasure(deleted["erasure_id"])
    assert (running["state"], running["receipt"]) == ("running", None)

    assert round_() == {"finished": 0, "unfinished": 1}, "ingest has not removed the document yet"
    assert "a worker is handling" in erasure(deleted["erasure_id"])["receipt"]["left"][0]
    assert stack.deliver(key, event="ObjectRemoved:Delete") == []
    assert round_() == {"finished": 0, "unfinished": 1}, "what was found is looked for again"
    assert round_() == {"finished": 1, "unfinished": 0}

    done = erasure(deleted["erasure_id"])
    receipt = done["receipt"]
    assert (done["state"], receipt["left"], receipt["subject"]) == ("erased", [], document_id)
    before = {each["store"]: each["before"] for each in receipt["stores"]}
    assert before.items() >= {"object_versions": 1, "vectors": 1, "answers": 2, "feedback": 1, "registry": 1}.items()
    assert {each["after"] for each in receipt["stores"]} == {0}
    assert is_genuine(receipt, signing_key(SECRET))
    assert not is_genuine({**receipt, "rounds": 0}, signing_key(SECRET))
    assert not is_genuine(receipt, signing_key({"RECEIPT_KEY": "another"}))

    assert traces(stack, document_id, key, name, "1802", "Ada Finch") == []
    shown = call("GET", f"/conversations/{cited['conversation_id']}")[1]["messages"]
    assert [each["content"] for each in shown if each["role"] == "assistant"] == [ERASED_ANSWER, texts_for("lt").erased]
    assert shown[0]["content"] == OTHER
    other = call("GET", f"/conversations/{kept['conversation_id']}", user="bob")[1]["messages"]
    assert other[1]["content"] == kept["answer"]
    assert other[1]["citations"]
    assert call("GET", f"/documents/{document_id}/content")[1]["code"] == "erased"
    assert call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[0] == 404
    assert round_() == {"finished": 0, "unfinished": 0}


def traces(stack: Stack, *words: str) -> list[tuple[str, str]]:
    """Return where any of the words stands in any store; receipts and tombstones without a name may tell the id."""
    found = []
    for table in (stack.aws.documents_table, "conversations", "cache"):
        for item in items(stack, table):
            if "#ERASURES" in item["pk"] or (item.get("status") == "DELETED" and not item["key"]):
                continue
            if item["pk"].startswith("EMB#") or item.get("role") == "user" or "question" in item or "title" in item:
                continue  # what people have asked
            text = json.dumps(item, default=str)
            found += [(table, item["pk"]) for word in words if word in text]
    listed = stack.aws.s3.list_object_versions(Bucket=stack.aws.bucket)
    entries = [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]
    found += [("bucket", each["Key"]) for each in entries if each["Key"] in words]
    found += [("vectors", name) for name in stack.vectors("acme") if name.startswith(words[0])]
    return found


def test_a_late_event_brings_no_name_back(stack: Stack) -> None:
    key = "uploads/acme/john doe's CV.pdf"
    document_id = put(stack, key, title="CV", pages=["John Doe was a lighthouse keeper."])
    assert call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[0] == 202
    stack.deliver(key, event="ObjectRemoved:Delete")
    round_()
    assert round_()["finished"] == 1
    assert stack.deliver(key, event="ObjectRemoved:Delete") == []
    assert traces(stack, document_id, key, "John Doe") == []
    (tombstone,) = (each for each in items(stack, stack.aws.documents_table) if each["sk"] == f"DOC#{document_id}")
    assert is_allowed(tombstone), "what `make erasure-check` takes for a trace"
    assert put(stack, key, title="CV", pages=["John Doe is back."]) == document_id, "a new document of the same name"
    assert stack.document(key).status is DocumentStatus.READY


def test_an_upload_of_the_same_name_is_another_document(stack: Stack) -> None:
    key = "uploads/acme/again.pdf"
    document_id = put(stack, key, title="Again", pages=[prose("First", sentences=3, seed=1)])
    deleted = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[1]
    stack.deliver(key, event="ObjectRemoved:Delete")
    later = bootstrap.services().clock.now().replace(microsecond=0)
    while True:  # S3 gives times in whole seconds
        put(stack, key, title="Again", pages=[prose("Second", sentences=3, seed=2)])
        head = stack.aws.s3.head_object(Bucket=stack.aws.bucket, Key=key)
        if head["LastModified"] > later:
            break
    finish()
    assert erasure(deleted["erasure_id"])["state"] == "erased"
    assert stack.document(key).status is DocumentStatus.READY
    assert {vector["text"][:6] for vector in stack.vectors("acme", key).values()} == {"Second"}


def test_an_erasure_that_the_api_only_began_is_done_by_maintenance(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "uploads/acme/killed.pdf"
    document_id = put(stack, key, title="Killed", pages=["The ferry of Killed leaves at noon."])

    def die(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(type(bootstrap.services().registry), "unpublish", die)
        with pytest.raises(SystemExit):
            call("DELETE", f"/documents/{document_id}", params={"verify": "true"})
    assert stack.document(key).status is DocumentStatus.READY
    assert round_() == {"finished": 0, "unfinished": 1}
    assert stack.document(key).status is DocumentStatus.DELETING
    stack.deliver(key, event="ObjectRemoved:Delete")
    round_()
    assert round_()["finished"] == 1
    assert traces(stack, document_id, key, "ferry of Killed") == []


def test_vectors_that_a_late_worker_writes_are_found_in_every_index_version(stack: Stack) -> None:
    key = "uploads/acme/late.pdf"
    document_id = put(stack, key, title="Late", pages=["The late train."])
    deleted = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[1]
    stack.deliver(key, event="ObjectRemoved:Delete")
    round_()
    vectors = ingest_bootstrap.batch().reconciler.access.configured.vectors
    late = VectorRecord(vector_id_of(document_id, "01LATE", 0), [1.0] + [0.0] * 383, {"text": "The late train."})
    vectors.upsert(namespace="acme", records=[late])
    assert round_() == {"finished": 0, "unfinished": 1}
    assert round_() == {"finished": 1, "unfinished": 0}
    assert document_id not in str(stack.vectors("acme"))
    assert {"store": "vectors", "before": 1, "after": 0} in erasure(deleted["erasure_id"])["receipt"]["stores"]


def test_nothing_ends_before_requests_from_before_have_ended(stack: Stack) -> None:
    key = "uploads/acme/early.pdf"
    document_id = put(stack, key, title="Early", pages=["The early bird."])
    deleted = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[1]
    stack.deliver(key, event="ObjectRemoved:Delete")
    for _ in range(3):
        assert round_(settle_s=3_600)["finished"] == 0
    left = erasure(deleted["erasure_id"])["receipt"]["left"]
    assert any(line.startswith("requests that began before it may write until") for line in left)
    assert round_()["finished"] == 1


def test_a_round_that_runs_out_of_time_goes_on_where_it_stopped(stack: Stack) -> None:
    key = "uploads/acme/cut.pdf"
    document_id = put(stack, key, title="Cut", pages=["The cut rope."])
    deleted = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[1]
    stack.deliver(key, event="ObjectRemoved:Delete")
    late = cast("Any", Context(remaining_ms=1_000))
    for _ in range(2):
        assert maintenance.handler({"recto": "erase", "settle_s": 0}, late)["unfinished"] == 1
    assert "read completely" in erasure(deleted["erasure_id"])["receipt"]["left"][0]
    finish()
    assert erasure(deleted["erasure_id"])["state"] == "erased"


def test_a_store_that_is_down_is_named_and_tried_again(stack: Stack) -> None:
    key = "uploads/acme/down.pdf"
    document_id = put(stack, key, title="Down", pages=["The well is down the hill."])
    deleted = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[1]
    stack.deliver(key, event="ObjectRemoved:Delete")
    stack.faults(stack.pinecone_url, route="/vectors/list", kind="status", status=403, count=1)
    try:
        assert round_() == {"finished": 0, "unfinished": 1}
    finally:
        stack.http.delete(f"{stack.pinecone_url}/_admin/faults").raise_for_status()
    assert "could not be read" in erasure(deleted["erasure_id"])["receipt"]["left"][0]
    round_()
    assert round_()["finished"] == 1


def test_only_one_round_goes_on_at_a_time_and_a_killed_one_is_outwaited(stack: Stack) -> None:
    document_id = put(stack, "uploads/acme/held.pdf", title="Held", pages=["The rope is held."])
    deleted = call("DELETE", f"/documents/{document_id}", params={"verify": "true"})[1]
    stack.deliver("uploads/acme/held.pdf", event="ObjectRemoved:Delete")
    store = ingest_bootstrap.eraser().store
    now = bootstrap.services().clock.now().timestamp()
    assert store.hold(now, now + 900) is not None  # and then that round is killed
    assert round_() == {"finished": 0, "unfinished": 1}
    assert erasure(deleted["erasure_id"])["receipt"] is None
    assert store.hold(now + 901, now) is not None, "after 15 minutes the next one begins"
    finish()
    assert erasure(deleted["erasure_id"])["state"] == "erased"


def test_a_rule_of_access_goes_after_what_it_protects(stack: Stack) -> None:
    key = "uploads/acme/ruled.pdf"
    document_id = put(stack, key, title="Ruled", pages=["The seal of the Ruled charter is red."])
    stack.aws.dynamodb.update_item(
        TableName=stack.aws.documents_table,
        Key={"pk": {"S": "TENANT#acme"}, "sk": {"S": f"DOC#{document_id}"}},
        UpdateExpression="SET #access = :rule",
        ExpressionAttributeNames={"#access": "access"},
        ExpressionAttributeValues={":rule": {"M": {"groups": {"L": [{"S": "law"}]}, "users": {"L": []}}}},
    )
    call("DELETE", f"/documents/{document_id}", params={"verify": "true"})
    stack.deliver(key, event="ObjectRemoved:Delete")
    late = cast("Any", Context(remaining_ms=1_000))
    maintenance.handler({"recto": "erase", "settle_s": 0}, late)
    assert stack.document(key).access is not None
    finish()
    assert stack.document(key).access is None
    assert stack.document(key).title == ""


def test_an_answer_that_read_several_erased_documents_loses_all_in_one_round(stack: Stack) -> None:
    told = [
        "The Varde beacon is lit at six.",
        "The Varde beacon is painted white.",
        "The Varde beacon has two keepers.",
    ]
    keys = [f"uploads/acme/varde-{number}.pdf" for number in range(3)]
    ids = [put(stack, key, title=key[-11:-4], pages=[text]) for key, text in zip(keys, told, strict=True)]
    answer = ask("When is the Varde beacon lit?")
    assert {each["document_id"] for each in answer["sources"]} >= set(ids)
    begun = [call("DELETE", f"/documents/{each}", params={"verify": "true"})[1]["erasure_id"] for each in ids]
    for key in keys:
        stack.deliver(key, event="ObjectRemoved:Delete")
    assert round_() == {"finished": 0, "unfinished": 3}
    assert round_() == {"finished": 3, "unfinished": 0}
    assert traces(stack, *ids, *keys, "Varde beacon") == []
    assert {erasure(each)["state"] for each in begun} == {"erased"}


# --- users ------------------------------------------------------------------------------------------------------------


def test_nothing_of_an_erased_user_is_left_and_others_keep_theirs(stack: Stack) -> None:
    user = "6f1f4f0a-7c0b-4b5e-9d59-3d1c8f6f2a11"
    asked = ask(LENS, user=user)
    ask("Who keeps it?", user=user, conversation_id=asked["conversation_id"])
    kept = ask(LENS, user="bob")
    assert call("PUT", f"/messages/{asked['message_id']}/feedback", {"rating": "up"}, user=user)[0] == 200
    refused = ask("What does the moon weigh?", user=user)
    assert call("POST", f"/conversations/{refused['conversation_id']}/handoff", {}, user=user)[0] in {200, 201}
    theirs = call("POST", f"/conversations/{kept['conversation_id']}/handoff", {}, user="bob")[1]["handoff_id"]
    assert call("POST", f"/handoffs/{theirs}/claim", user=user, groups="agent")[0] == 200
    made = call("POST", "/keys", {"name": "a machine"}, user=user, groups="admin")[1]
    usage = call("GET", "/admin/usage", groups="admin")[1]["total"]
    assert own(stack, user)

    status, begun, headers = call("DELETE", "/users/me", user=user, groups="")
    assert (status, begun["kind"], begun["subject"]) == (202, "user", user)
    assert headers["location"] == f"/erasures/{begun['erasure_id']}"
    assert call("GET", "/conversations", user=user)[1]["conversations"] == []
    finish()
    assert own(stack, user) == []
    receipt = erasure(begun["erasure_id"], user=user, groups="")["receipt"]
    assert receipt["state"] == "erased"
    assert is_genuine(receipt, signing_key(SECRET))
    assert {each["store"] for each in receipt["stores"] if each["before"]} >= {"conversations", "usage", "api_keys"}
    assert call("GET", f"/erasures/{begun['erasure_id']}", user="bob", groups="")[0] == 404

    assert call("GET", "/admin/usage", groups="admin")[1]["total"] == usage
    keys = call("GET", "/keys", groups="admin")[1]["keys"]
    assert [each["created_by"] for each in keys if each["key_id"] == made["key_id"]] == ["erased"]
    handed = call("GET", f"/handoffs/{theirs}", groups="agent")[1]
    assert handed["status"] == "open"
    assert call("GET", f"/conversations/{kept['conversation_id']}", user="bob")[1]["messages"]


def test_who_goes_on_asking_keeps_what_came_since(stack: Stack) -> None:
    user = "goes-on"
    before = ask(LENS, user=user)
    assert call("DELETE", f"/users/{user}", groups="admin")[0] == 202
    after = ask(LENS, user=user)
    for _ in range(3):
        round_()
    assert call("GET", f"/conversations/{before['conversation_id']}", user=user)[0] == 404
    assert len(call("GET", f"/conversations/{after['conversation_id']}", user=user)[1]["messages"]) == 2
    stack.aws.dynamodb.delete_item(
        TableName="conversations",
        Key={"pk": {"S": "ERASURES"}, "sk": {"S": f"OPEN#acme#user#{user}"}},
    )


def test_an_api_key_erases_nobody_and_a_strange_id_is_nobody(stack: Stack) -> None:
    assert call("DELETE", "/users/bob", user="key:01M82Z3Q6W0V6T2C8R4Y1B7N5K", groups="admin")[0] == 403
    assert call("DELETE", "/users/%7Bbob", groups="admin")[0] == 404
    assert call("GET", "/erasures/01M82Z3Q6W0V6T2C8R4Y1B7N5K")[0] == 404
    assert call("GET", "/erasures/nonsense")[0] == 404
    assert PAGES


@pytest.mark.filterwarnings("ignore:No application metrics:UserWarning")  # two functions in one process
def test_documents_and_users_erased_under_load_with_faults_and_kills_leave_no_trace(stack: Stack) -> None:
    assert "\n".join(run(stack, documents=3, users=1, seed=1, say=print)) == ""
