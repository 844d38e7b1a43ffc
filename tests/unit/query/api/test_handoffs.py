"""Hand-offs over the API: asked for, claimed, given back, answered, published, closed; who sees what of them."""

from typing import Any

import pytest

from functions.query import bootstrap
from shared.errors import DependencyUnavailable
from shared.models import Message, document_id_of
from tests.support.routes import FIRST_ID, NOW, Routes, routes

CONVERSATION = "0" * 24 + "CV"
ANSWER = "0" * 24 + "M4"


def refused(api: Routes, near: list[list[object]], *, conversation: str = CONVERSATION, user: str = "ann") -> None:
    """Store a conversation that ends with a refusal."""
    turns = [
        Message("0" * 24 + "M1", "user", "What is a lens?", NOW),
        Message("0" * 24 + "M2", "assistant", "A glass.", NOW, details={"near_misses": [["x#y#0", 0.9]]}),
        Message("0" * 24 + "M3", "user", "Who cleans the lens?", NOW),
        Message(ANSWER, "assistant", "Nothing.", NOW, details={"refusal": "no_relevant_info", "near_misses": near}),
    ]
    bootstrap.services().conversations.save_turns("acme", user, conversation, title="T", turns=turns, is_new=True)


def opened(api: Routes, conversation: str = CONVERSATION) -> dict[str, Any]:
    status, handoff = api.call(
        "POST", f"/conversations/{conversation}/handoff", {"reason": "Urgent.", "contact": "ann@example.com"}
    )
    assert status == 201
    return dict(handoff)


def act(api: Routes, handoff: dict[str, Any], verb: str, body: Any = None, **who: str) -> tuple[int, Any]:
    as_agent = {"user": "bea", "groups": "agent"}
    return api.call("POST", f"/handoffs/{handoff['handoff_id']}/{verb}", body, **{**as_agent, **who})


def test_a_handoff_says_what_was_asked_and_is_announced_once(api: Routes):
    document = api.publish("uploads/acme/lamp.pdf", "The lamp is lit at sunset.", title="The lamp")
    hidden = api.publish("uploads/acme/pay.pdf", "Ann earns little.", title="Pay")
    rule = {"access": {"allowed_groups": ["hr"], "allowed_users": ["ann"]}}
    assert api.call("PATCH", f"/documents/{hidden.document_id}", rule, groups="admin")[0] == 200
    near = [[f"{hidden.document_id}#G1#0", 0.5], [f"{document.document_id}#G1#0", 0.25], ["gone#G1#0", 0.125]]
    refused(api, near)

    handoff = opened(api)
    assert handoff == {
        "handoff_id": FIRST_ID,
        "conversation_id": CONVERSATION,
        "status": "open",
        "reason": "Urgent.",
        "question": "Who cleans the lens?",
        "refusal": "no_relevant_info",
        "created_at": NOW,
        "updated_at": NOW,
        "claimed_by": "",
        "answer": "",
        "publication": "",
        "document_id": "",
        "notified": True,
    }
    ((kind, event),) = api.events
    said = [{"role": role, "created_at": NOW} for role in ("user", "assistant", "user", "assistant")]
    withheld = "This answer is not shown: you may no longer read a document that it was made from."
    texts = [each["content"] for each in event["transcript"]]
    assert texts[:3:2] == ["What is a lens?", "Who cleans the lens?"]
    assert withheld[:24] in texts[3]
    assert [{name: each[name] for name in ("role", "created_at")} for each in event["transcript"]] == said
    assert (kind, event["near_misses"]) == (
        "HandoffOpened",
        [
            {
                "chunk_id": f"{document.document_id}#G1#0",
                "document_id": document.document_id,
                "title": "The lamp",
                "score": 0.25,
            },
        ],
    )
    assert event["contact"] == "ann@example.com"
    assert (event["tenant"], event["transcript_omitted"]) == ("acme", 0)

    api.clock.advance(5)
    again, same = api.call("POST", f"/conversations/{CONVERSATION}/handoff", {})
    assert (again, same) == (200, handoff)
    assert len(api.events) == 1


def test_an_event_that_was_not_sent_is_sent_when_asked_again(api: Routes):
    refused(api, [])
    api.events_fail = DependencyUnavailable("events", "InternalFailure")
    assert opened(api)["notified"] is False
    api.events_fail = None
    status, handoff = api.call("POST", f"/conversations/{CONVERSATION}/handoff", {})
    assert (status, handoff["notified"], len(api.events)) == (200, True, 1)


def test_one_agent_has_it_and_only_an_administrator_takes_it_away(api: Routes):
    refused(api, [])
    handoff = opened(api)
    api.clock.advance(1.5)
    status, claimed = act(api, handoff, "claim")
    later = "2026-01-01T00:00:01.500+00:00"
    assert (status, claimed) == (
        200,
        {**handoff, "status": "claimed", "claimed_by": "bea", "updated_at": later},
    )
    api.clock.advance(1)
    assert act(api, handoff, "claim") == (200, claimed)
    for verb, body in (("claim", None), ("release", None), ("close", None), ("resolve", {"answer": "Bo."})):
        status, problem = act(api, handoff, verb, body, user="cal")
        assert (status, problem["detail"]) == (409, "Another agent has claimed this hand-off."), verb
    assert act(api, handoff, "resolve", {"answer": "Bo."}, user="root", groups="admin")[0] == 409
    status, released = act(api, handoff, "release", user="root", groups="admin")
    assert (status, released["status"], released["claimed_by"]) == (200, "open", "")
    assert act(api, handoff, "release")[0] == 200
    status, problem = act(api, handoff, "resolve", {"answer": "Bo."})
    assert (status, problem["detail"]) == (409, "Claim this hand-off before you answer it.")
    assert act(api, handoff, "publish", {}, groups="editor")[1]["detail"].startswith("Only an answer can be published")
    status, closed = act(api, handoff, "close")
    assert (status, closed["status"]) == (200, "closed")
    assert act(api, handoff, "close") == (200, closed)
    for verb, body in (("claim", None), ("release", None), ("resolve", {"answer": "Bo."})):
        assert act(api, handoff, verb, body)[1]["detail"] == "This hand-off is closed already.", verb
    assert opened(api)["handoff_id"] != handoff["handoff_id"]


def test_an_answer_reaches_the_asker_and_becomes_a_document_when_an_editor_approves(api: Routes):
    refused(api, [])
    handoff = opened(api)
    act(api, handoff, "claim")
    status, resolved = act(api, handoff, "resolve", {"answer": "Bo does.", "publish": True})
    assert (status, resolved["status"], resolved["answer"], resolved["publication"], resolved["document_id"]) == (
        200,
        "resolved",
        "Bo does.",
        "requested",
        "",
    )
    assert act(api, handoff, "resolve", {"answer": "Bo does.", "publish": True}) == (200, resolved)
    said = api.call("GET", f"/conversations/{CONVERSATION}")[1]["messages"]
    assert [(each["role"], each["content"]) for each in said[4:]] == [("agent", "Bo does.")]
    assert said[4]["message_id"] > handoff["handoff_id"]

    status, published = act(api, handoff, "publish", {"answer": "Bo cleans it.", "language": "en"}, groups="editor")
    key = f"resolved/acme/{handoff['handoff_id']}.json"
    assert (status, published["publication"], published["document_id"]) == (
        200,
        "published",
        document_id_of("acme", key),
    )
    stored = api.aws.s3.get_object(Bucket=api.aws.bucket, Key=key)
    assert stored["ContentType"] == "application/json"
    assert (
        stored["Body"].read()
        == b'{\n "question": "Who cleans the lens?",\n "answer": "Bo cleans it.",\n "language": "en"\n}'
    )
    assert api.call("GET", "/insights/unanswered")[1] == {"clusters": [], "questions": 0, "truncated": False}


def test_an_administrators_answer_is_published_at_once(api: Routes):
    refused(api, [])
    handoff = opened(api)
    root = {"user": "root", "groups": "admin"}
    act(api, handoff, "claim", **root)
    assert act(api, handoff, "resolve", {"answer": "Bo does.", "publish": False}, **root)[1]["publication"] == ""
    assert (
        act(api, handoff, "resolve", {"answer": "Bo does.", "publish": True}, **root)[1]["publication"] == "published"
    )


def test_agents_see_contact_and_transcript_and_editors_do_not(api: Routes):
    document = api.publish("uploads/acme/lamp.pdf", "The lamp is lit at sunset.", title="The lamp")
    refused(api, [[f"{document.document_id}#G1#0", 0.25], ["gone", 0.0625]])
    handoff = opened(api)
    path = f"/handoffs/{handoff['handoff_id']}"
    near = [
        {
            "chunk_id": f"{document.document_id}#G1#0",
            "document_id": document.document_id,
            "title": "The lamp",
            "relevance": 0.25,
        },
        {"chunk_id": "gone", "document_id": "", "title": "", "relevance": 0.0625},
    ]
    status, seen = api.call("GET", path, user="bea", groups="agent")
    assert (status, seen["contact"], seen["near_misses"]) == (200, "ann@example.com", near)
    assert [each["content"] for each in seen["transcript"]] == [
        "What is a lens?",
        "A glass.",
        "Who cleans the lens?",
        "Nothing.",
    ]
    status, seen = api.call("GET", path, user="eve", groups="editor")
    assert (status, seen["contact"], seen["transcript"], seen["near_misses"]) == (200, "", [], near)
    assert api.call("GET", path, tenant="other", groups="admin")[0] == 404
    assert api.call("GET", "/handoffs/x", groups="admin")[0] == 404
    assert api.call("DELETE", f"/conversations/{CONVERSATION}")[0] == 204
    assert api.call("GET", path, user="bea", groups="agent")[0] == 404


def test_handoffs_are_listed_page_by_page_and_by_status(api: Routes):
    names = [f"{'0' * 24}C{n}" for n in range(5)]
    made = []
    for name in names:
        turns = [Message(f"{'0' * 24}Q{name[-1]}", "user", f"Question {name[-1]}?", NOW)]
        bootstrap.services().conversations.save_turns("acme", "ann", name, title="T", turns=turns, is_new=True)
        made.append(opened(api, name)["handoff_id"])
    act(api, {"handoff_id": made[1]}, "claim")
    act(api, {"handoff_id": made[3]}, "claim")

    def page(**params: str) -> tuple[list[str], str]:
        status, answer = api.call("GET", "/handoffs", groups="agent", params=params)
        assert status == 200
        return [each["handoff_id"] for each in answer["handoffs"]], answer["next_cursor"]

    assert page() == (made, "")
    assert page(limit="5") == (made, "")
    assert page(limit="2") == (made[:2], made[1])
    assert page(limit="2", cursor=made[1]) == (made[2:4], made[3])
    assert page(limit="2", cursor=made[3]) == (made[4:], "")
    assert page(limit="4", cursor=made[0]) == (made[1:], "")
    assert page(status="claimed") == ([made[1], made[3]], "")
    assert page(status="claimed", limit="1") == ([made[1]], made[1])
    assert page(status="claimed", limit="1", cursor=made[1]) == ([made[3]], "")
    assert page(status="closed") == ([], "")
    assert api.call("GET", "/handoffs", groups="reader")[0] == 403
    assert api.call("GET", "/handoffs", groups="agent", params={"limit": "201"})[0] == 400
    assert api.call("GET", "/handoffs", groups="agent", params={"limit": "0"})[0] == 400


def test_what_does_not_exist_is_not_found(api: Routes):
    assert api.call("POST", f"/conversations/{CONVERSATION}/handoff", {})[0] == 404
    for verb, body in (("claim", None), ("release", None), ("close", None), ("resolve", {"answer": "Bo."})):
        assert act(api, {"handoff_id": "0" * 26}, verb, body)[0] == 404
    assert act(api, {"handoff_id": "0" * 26}, "publish", {}, groups="editor")[0] == 404


def test_nobody_is_asked_where_nobody_answers(monkeypatch: pytest.MonkeyPatch):
    with routes(monkeypatch, HANDOFF_OFFER="false") as api:
        refused(api, [])
        status, problem = api.call("POST", f"/conversations/{CONVERSATION}/handoff", {})
        assert (status, problem["detail"]) == (403, "Nobody answers questions here: HandoffOffer is off.")
