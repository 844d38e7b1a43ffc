"""Hand-offs over the real handler: asked for, claimed, answered into the conversation, published, answered from."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from functions.query import bootstrap, handoffs
from functions.query.bootstrap import services
from shared.adapters.events import EventBridgeSender
from shared.adapters.handoffs import DynamoHandoffStore
from shared.errors import Conflict, DependencyUnavailable, NotFound
from shared.models import Handoff
from tests.support.ingest import Stack
from tests.support.query_stack import call, query_stack

UNKNOWN = "Who won the football world cup in 1998?"
WHISTLED = "Which tune does the harbour master whistle on Sundays?"
TUNE = "The harbour master whistles a sea shanty on Sundays."


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("handoffs")) as made:
        yield made


class Outbox:
    """The events sent, or the failure of the bus."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.is_down = False

    def send(self, _sender: EventBridgeSender, kind: str, detail: str) -> None:
        assert kind == handoffs.OPENED
        if self.is_down:
            raise DependencyUnavailable("events", "InternalFailure")
        self.sent.append(json.loads(detail))


@pytest.fixture(autouse=True)
def outbox(monkeypatch: pytest.MonkeyPatch) -> Outbox:
    made = Outbox()
    monkeypatch.setattr(EventBridgeSender, "send", lambda sender, kind, detail: made.send(sender, kind, detail))
    return made


def asked(question: str = UNKNOWN, **who: str) -> str:
    status, body, _ = call("POST", "/query", {"question": question}, **who)
    assert (status, body["no_relevant_info"], body["handoff_offered"]) == (200, True, True)
    return str(body["conversation_id"])


def opened(conversation: str = "", **who: str) -> dict[str, Any]:
    status, body, _ = call(
        "POST", f"/conversations/{conversation or asked(**who)}/handoff", {"reason": "Urgent."}, **who
    )
    assert status in {200, 201}, body
    return body


def act(
    handoff: dict[str, Any], action: str, agent: str = "bea", groups: str = "agent", **body: Any
) -> tuple[int, Any]:
    path = f"/handoffs/{handoff['handoff_id']}/{action}"
    sent = body if action in {"resolve", "publish"} else None
    status, answer, _ = call("POST", path, sent, user=agent, groups=groups)
    return status, answer


def messages_of(conversation: str) -> list[dict[str, Any]]:
    status, body, _ = call("GET", f"/conversations/{conversation}")
    assert status == 200
    assert body["message_count"] == len(body["messages"])
    found: list[dict[str, Any]] = body["messages"]
    return found


def test_the_loop_from_a_refusal_to_the_persons_answer_with_its_citation(stack: Stack, outbox: Outbox):
    conversation = asked(WHISTLED)
    handoff = opened(conversation)
    assert (handoff["status"], handoff["question"], handoff["refusal"]) == ("open", WHISTLED, "no_relevant_info")
    (event,) = outbox.sent
    assert event["transcript"][0]["content"] == WHISTLED
    assert event["near_misses"][0]["title"] == "Orsk Lighthouse Handbook"
    assert (event["reason"], event["transcript_omitted"]) == ("Urgent.", 0)

    assert act(handoff, "claim")[0] == 200
    status, resolved = act(handoff, "resolve", answer=TUNE, publish=True)
    assert (status, resolved["status"], resolved["publication"]) == (200, "resolved", "requested")
    last = messages_of(conversation)[-1]
    assert (last["role"], last["content"], last["citations"]) == ("agent", TUNE, [])

    assert act(handoff, "publish")[0] == 403, "an agent who is no editor does not approve"
    status, published = act(handoff, "publish", "eva", "editor")
    assert (status, published["publication"]) == (200, "published")
    assert stack.deliver(f"resolved/acme/{handoff['handoff_id']}.json") == []
    _, answer, _ = call("POST", "/query", {"question": WHISTLED}, user="someone-else")
    assert "sea shanty" in answer["answer"]
    citation = answer["citations"][0]
    assert (citation["source_type"], citation["document_id"]) == ("resolved_query", published["document_id"])

    # The asker goes on, and the person's answer is part of the history.
    status, body, _ = call("POST", "/query", {"question": "And the lamp?", "conversation_id": conversation})
    assert (status, "history_unavailable" in body["warnings"]) == (200, False)


def test_asking_twice_returns_the_same_open_hand_off_and_sends_one_event(stack: Stack, outbox: Outbox):
    conversation = asked()
    first = call("POST", f"/conversations/{conversation}/handoff", {})
    second = call("POST", f"/conversations/{conversation}/handoff", {"reason": "Again."})
    assert (first[0], second[0]) == (201, 200)
    assert first[1]["handoff_id"] == second[1]["handoff_id"]
    assert len(outbox.sent) == 1
    assert act(first[1], "close")[0] == 200
    third = call("POST", f"/conversations/{conversation}/handoff", {})
    assert (third[0], third[1]["handoff_id"] != first[1]["handoff_id"]) == (201, True)


def test_of_two_requests_at_the_same_moment_one_opens_a_hand_off(stack: Stack):
    made, conversation = services(), asked()
    now = made.clock.now().isoformat(timespec="milliseconds")
    new = [Handoff("acme", made.new_id(), conversation, "ann", now, now) for _ in range(2)]
    assert [made.handoffs.open(each).handoff_id for each in new] == [new[0].handoff_id] * 2
    assert made.handoffs.get("acme", new[1].handoff_id) is None
    with pytest.raises(NotFound):
        made.handoffs.open(replace(new[0], user="bob"))


def test_a_notice_that_failed_is_told_and_sent_when_asked_again(stack: Stack, outbox: Outbox):
    conversation = asked()
    outbox.is_down = True
    handoff = opened(conversation)
    assert (handoff["status"], handoff["notified"]) == ("open", False)
    assert act(handoff, "claim")[0] == 200, "the hand-off stands without its notice"
    outbox.is_down = False
    again = opened(conversation)
    assert (again["handoff_id"], again["notified"], len(outbox.sent)) == (handoff["handoff_id"], True, 1)


def test_of_two_agents_one_wins_and_the_other_gets_a_409(stack: Stack):
    handoff = opened()
    assert act(handoff, "claim", "bea")[0] == 200
    status, body = act(handoff, "claim", "cem")
    assert (status, body["code"]) == (409, "conflict")
    assert act(handoff, "claim", "bea")[1]["claimed_by"] == "bea", "claiming it again is no error"
    assert act(handoff, "resolve", "cem", answer="Mine.")[0] == 409
    assert act(handoff, "release", "cem")[0] == 409
    assert act(handoff, "release", "adam", "admin")[1]["status"] == "open"
    assert act(handoff, "claim", "cem")[1]["claimed_by"] == "cem"
    assert act(handoff, "close", "cem")[1]["status"] == "closed"
    assert act(handoff, "claim", "bea")[0] == 409


def test_of_two_agents_at_the_same_moment_one_wins(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    handoff = opened()
    change = DynamoHandoffStore.change

    def after_another(store: DynamoHandoffStore, before: Handoff, after: Handoff) -> bool:
        monkeypatch.setattr(DynamoHandoffStore, "change", change)
        # Both have read the open hand-off; this one writes first.
        handoffs.changed("acme", before.handoff_id, lambda each: handoffs.claim(each, "cem"), store, services().clock)
        return store.change(before, after)

    monkeypatch.setattr(DynamoHandoffStore, "change", after_another)
    assert act(handoff, "claim", "bea")[0] == 409
    _, body, _ = call("GET", f"/handoffs/{handoff['handoff_id']}", groups="agent")
    assert body["claimed_by"] == "cem"


def test_an_answer_is_written_once_however_often_it_is_sent(stack: Stack):
    conversation = asked()
    handoff = opened(conversation)
    act(handoff, "claim")
    for _ in range(3):
        status, body = act(handoff, "resolve", answer="At noon.")
        assert (status, body["answer"]) == (200, "At noon.")
    assert act(handoff, "resolve", answer="At midnight.")[0] == 409
    said = [message["content"] for message in messages_of(conversation) if message["role"] == "agent"]
    assert said == ["At noon."]


def test_two_answers_at_the_same_moment_are_one(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    conversation = asked()
    handoff = opened(conversation)
    act(handoff, "claim")
    answer = DynamoHandoffStore.answer

    def after_another(store: DynamoHandoffStore, before: Handoff, *more: Any) -> bool:
        monkeypatch.setattr(DynamoHandoffStore, "answer", answer)
        handoffs.changed(
            "acme",
            before.handoff_id,
            lambda each: handoffs.resolve(each, "bea", "At noon.", publish=False),
            store,
            services().clock,
            new_id=services().new_id,
        )
        return store.answer(before, *more)

    monkeypatch.setattr(DynamoHandoffStore, "answer", after_another)
    assert act(handoff, "resolve", answer="At noon.")[0] == 200
    assert [message["role"] for message in messages_of(conversation)].count("agent") == 1


def test_an_editor_who_answers_publishes_at_once_and_a_failed_write_can_be_repeated(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
):
    handoff = opened()
    act(handoff, "claim", "eva", "admin")
    with monkeypatch.context() as patch:
        patch.setattr(handoffs, "publish", _down)
        assert act(handoff, "resolve", "eva", "admin", answer="At noon.", publish=True)[0] == 503
    _, body, _ = call("GET", f"/handoffs/{handoff['handoff_id']}", groups="agent")
    assert (body["status"], body["publication"], body["document_id"]) == ("resolved", "requested", "")
    status, body = act(handoff, "resolve", "eva", "admin", answer="At noon.", publish=True)
    assert (status, body["publication"]) == (200, "published")
    stored = stack.aws.s3.get_object(Bucket=stack.aws.bucket, Key=f"resolved/acme/{handoff['handoff_id']}.json")
    assert json.loads(stored["Body"].read()) == {"question": UNKNOWN, "answer": "At noon."}


def _down(*_: object) -> str:
    raise DependencyUnavailable("objects")


def test_an_editor_may_word_what_is_published(stack: Stack):
    handoff = opened()
    assert act(handoff, "publish", "eva", "editor")[0] == 409, "there is no answer yet"
    act(handoff, "claim")
    act(handoff, "resolve", answer="noon, I guess")
    wording = {"question": "When does the ferry leave?", "answer": "The ferry leaves at noon.", "language": "en"}
    assert act(handoff, "publish", "eva", "editor", **wording)[1]["publication"] == "published"
    stored = stack.aws.s3.get_object(Bucket=stack.aws.bucket, Key=f"resolved/acme/{handoff['handoff_id']}.json")
    assert json.loads(stored["Body"].read()) == wording


def test_agents_see_the_conversation_and_editors_only_what_they_approve(stack: Stack):
    handoff = opened(reader := asked())
    path = f"/handoffs/{handoff['handoff_id']}"
    _, seen, _ = call("GET", path, user="bea", groups="agent")
    assert seen["transcript"][0]["content"] == UNKNOWN
    assert seen["near_misses"]
    _, seen, _ = call("GET", path, user="eva", groups="editor")
    assert (seen["transcript"], seen["contact"], seen["question"]) == ([], "", UNKNOWN)
    assert call("GET", path, groups="reader")[0] == 403
    assert "ann" not in json.dumps(seen), "who asked is nobody's business"
    assert call("GET", path, groups="agent", tenant="other")[0] == 404
    assert call("POST", f"/conversations/{reader}/handoff", {}, user="mallory")[0] == 404


def test_hand_offs_are_listed_by_status_page_by_page(stack: Stack):
    who = {"tenant": "listed"}
    made = [opened(**who)["handoff_id"] for _ in range(4)]
    call("POST", f"/handoffs/{made[1]}/close", groups="agent", **who)
    seen: list[str] = []
    cursor = ""
    for _ in range(4):
        params = {"limit": "2", "cursor": cursor, "status": "open"}
        _, page, _ = call("GET", "/handoffs", params=params, groups="agent", **who)
        seen += [each["handoff_id"] for each in page["handoffs"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert seen == [made[0], made[2], made[3]]
    _, page, _ = call("GET", "/handoffs", params={"limit": "3"}, groups="agent", **who)
    assert ([each["handoff_id"] for each in page["handoffs"]], page["next_cursor"]) == (made[:3], made[2])
    assert call("GET", "/handoffs", groups="agent", tenant="nobody")[1]["handoffs"] == []


def test_nobody_is_asked_for_where_nobody_answers(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    conversation = asked()
    monkeypatch.setenv("RECTO_HANDOFF_OFFER", "false")
    bootstrap.reset()
    try:
        assert call("POST", f"/conversations/{conversation}/handoff", {})[0] == 403
    finally:
        monkeypatch.undo()
        bootstrap.reset()


def test_a_change_that_always_comes_too_late_is_a_conflict(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    handoff = opened()
    monkeypatch.setattr(DynamoHandoffStore, "change", lambda *_: False)
    made = services()
    with pytest.raises(Conflict):
        handoffs.changed(
            "acme",
            handoff["handoff_id"],
            lambda each: replace(each, reason="x"),
            made.handoffs,
            made.clock,
        )
