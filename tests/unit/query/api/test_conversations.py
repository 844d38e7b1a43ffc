"""Conversations over the API: listed, read, renamed, exported, erased; each user's are their own."""

from typing import Any

import pytest

from functions.query import bootstrap
from shared.models import AnswerClaim, Citation, Message, SourceType
from tests.support.query_stack import raw_call
from tests.support.routes import NOW, Routes


def cited(document_id: str, version_id: str, n: int = 1) -> Citation:
    return Citation(
        *(
            n,
            document_id,
            "Lamp *handbook*",
            SourceType.PDF,
            3,
            4,
            "iii",
            "1 Scope",
            "A quote.\n\nOn two lines.",
            10,
            18,
        ),
        0.7312,
        key="uploads/acme/a/lamp.pdf",
        version_id=version_id,
    )


def saved(number: int, *answers: Message, user: str = "ann", title: str = "") -> str:
    """Store a conversation with a question before each answer."""
    name = f"{'0' * 24}C{number}"
    turns = []
    for at, answer in enumerate(answers):
        turns += [Message(f"{number:02}{at:022}0Q", "user", f"Question {at}?", NOW), answer]
    store = bootstrap.services().conversations
    store.save_turns("acme", user, name, title=title or f"Title {number}", turns=turns, is_new=True)
    return name


def answer(number: int, at: int = 0, **more: Any) -> Message:
    return Message(f"{number:02}{at:022}1A", "assistant", f"Answer {at}.", NOW, **more)


def test_a_conversation_shows_what_has_become_of_the_quoted_versions(api: Routes):
    lamp = api.publish("uploads/acme/a/lamp.pdf", "The lamp.")
    citations = (
        cited(lamp.document_id, lamp.version_id),
        cited(lamp.document_id, "older", 2),
        cited(lamp.document_id, "", 3),
        cited("f" * 32, "v1", 4),
    )
    claims = (
        AnswerClaim("It is 5.", "confirmed", (1, 2), "2 + 3 = 5"),
        AnswerClaim("It is blue.", "unconfirmed", (1,)),
    )
    details = {"mode": "generated", "cached": True, "band": "low", "refusal": "", "best_score": 0.5}
    name = saved(1, answer(1, citations=citations, claims=claims, details=details))
    status, shown = api.call("GET", f"/conversations/{name}")
    assert status == 200
    question, reply = shown.pop("messages")
    assert shown == {
        "conversation_id": name,
        "title": "Title 1",
        "created_at": NOW,
        "updated_at": NOW,
        "message_count": 2,
        "next_cursor": "",
    }
    assert question == {
        "message_id": f"01{'0' * 22}0Q",
        "role": "user",
        "content": "Question 0?",
        "created_at": NOW,
        "citations": [],
        "claims": [],
        "feedback": None,
        "mode": None,
        "refusal": None,
        "band": None,
        "cached": False,
        "withheld": False,
    }
    assert [each["state"] for each in reply["citations"]] == ["current", "changed", None, "erased"]
    first = reply["citations"][0]
    assert (first["file_name"], first["score"], first["page_start"], first["page_end"]) == ("lamp.pdf", 0.7312, 3, 4)
    assert reply["claims"] == [
        {"text": "It is 5.", "verdict": "confirmed", "citations": [1, 2], "derived": "2 + 3 = 5"},
        {"text": "It is blue.", "verdict": "unconfirmed", "citations": [1], "derived": ""},
    ]
    assert (reply["mode"], reply["cached"], reply["refusal"], reply["withheld"]) == ("generated", True, None, False)
    assert reply["band"] == "low"


def test_messages_come_page_by_page(api: Routes):
    name = saved(1, *(answer(1, at) for at in range(3)))
    seen, cursor, sizes = [], "", []
    while True:
        status, page = api.call("GET", f"/conversations/{name}", params={"limit": "4", "cursor": cursor})
        assert (status, page["message_count"]) == (200, 6)
        seen += [each["content"] for each in page["messages"]]
        sizes.append(len(page["messages"]))
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert sizes == [4, 2]
    assert seen == [text for at in range(3) for text in (f"Question {at}?", f"Answer {at}.")]
    assert api.call("GET", f"/conversations/{name}", params={"limit": "201"})[0] == 400
    assert api.call("GET", f"/conversations/{name}", params={"limit": "0"})[0] == 400
    assert api.call("GET", f"/conversations/{name}", user="bob")[0] == 404
    assert api.call("GET", f"/conversations/{name}", tenant="other")[0] == 404
    assert api.call("GET", "/conversations/x")[0] == 404


def titles(api: Routes, **params: str) -> tuple[list[str], str]:
    status, page = api.call("GET", "/conversations", params=params)
    assert status == 200
    return [each["title"] for each in page["conversations"]], page["next_cursor"]


def test_conversations_are_listed_the_last_used_first(api: Routes):
    for number, hour in ((1, "10"), (2, "12"), (3, "11")):
        at = f"2026-01-01T{hour}:00:00.000+00:00"
        turns = [Message(f"{number:02}{0:022}0Q", "user", "Q?", at)]
        bootstrap.services().conversations.save_turns(
            "acme", "ann", f"{'0' * 24}C{number}", title=f"Title {number}", turns=turns, is_new=True
        )
    saved(4, answer(4), user="bob")
    assert titles(api) == (["Title 2", "Title 3", "Title 1"], "")
    assert titles(api, limit="3") == (["Title 2", "Title 3", "Title 1"], "")
    first, cursor = titles(api, limit="2")
    assert first == ["Title 2", "Title 3"]
    assert titles(api, limit="2", cursor=cursor) == (["Title 1"], "")
    assert titles(api, q="title 3") == (["Title 3"], "")
    name = f"{'0' * 24}C1"
    status, renamed = api.call("PATCH", f"/conversations/{name}", {"title": "  Of the   lamp "})
    assert (status, renamed) == (
        200,
        {
            "conversation_id": name,
            "title": "Of the lamp",
            "created_at": "2026-01-01T10:00:00.000+00:00",
            "updated_at": "2026-01-01T10:00:00.000+00:00",
            "message_count": 1,
        },
    )
    assert titles(api)[0] == ["Title 2", "Title 3", "Of the lamp"]
    for nothing in ("  ", "…", " -- ?"):
        assert api.call("PATCH", f"/conversations/{name}", {"title": nothing})[0] == 400
    assert api.call("PATCH", f"/conversations/{name}", {"title": "x" * 201})[0] == 400
    assert api.call("PATCH", f"/conversations/{name}", {"title": "x"}, user="bob")[0] == 404
    assert api.call("DELETE", f"/conversations/{name}", user="bob")[0] == 404
    assert api.call("DELETE", f"/conversations/{name}")[0] == 204
    assert api.call("DELETE", f"/conversations/{name}")[0] == 404
    assert titles(api)[0] == ["Title 2", "Title 3"]


def test_an_export_is_a_file_with_quotes_pages_and_verdicts(api: Routes):
    lamp = api.publish("uploads/acme/a/lamp.pdf", "The lamp.")
    citations = (cited(lamp.document_id, "older"), cited("f" * 32, "v1", 2))
    claims = (
        AnswerClaim("It is 5.", "confirmed", (1, 2), "2 + 3 = 5"),
        AnswerClaim("It is blue.", "unconfirmed", (1,)),
    )
    name = saved(1, answer(1, citations=citations, claims=claims), title="Lamp & one, “ä”")
    answered = f"01{'0' * 22}1A"
    rating = {"rating": "down", "reason": "wrong", "comment": "# No"}
    assert api.call("PUT", f"/messages/{answered}/feedback", rating)[0] == 200
    status, text, headers = raw_call("GET", f"/conversations/{name}/export")
    assert (status, headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert headers["content-disposition"].startswith(
        "attachment; filename=\"Lamp one.md\"; filename*=UTF-8''Lamp%20one"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert "x-next-cursor" not in headers
    quote = "  > A quote\\.  \n  > On two lines\\.  \n".replace("\\", "")
    assert text == (
        "# Lamp \\& one, “ä”\n\n"
        f"2026-01-01 00:00 UTC to 2026-01-01 00:00 UTC, 2 messages, conversation {name}\n\n"
        "## Question, 2026-01-01 00:00 UTC\n\nQuestion 0?  \n\n"
        "## Answer, 2026-01-01 00:00 UTC\n\nAnswer 0.  \n\n"
        "### Claims\n\n"
        "- **confirmed**: It is 5. \\[1\\] \\[2\\] (2 + 3 = 5)\n"
        "- **unconfirmed**: It is blue. \\[1\\]\n\n"
        "### Sources\n\n"
        "- \\[1\\] Lamp \\*handbook\\*, lamp.pdf, pages 3 to 4 (printed iii), 1 Scope, changed since\n\n"
        f"{quote}\n"
        "- \\[2\\] Lamp \\*handbook\\*, lamp.pdf, pages 3 to 4 (printed iii), 1 Scope, erased since\n\n"
        f"{quote}\n\n"
        "Feedback, 2026-01-01 00:00 UTC: down, wrong, \\# No\n"
    )
    status, text, headers = raw_call("GET", f"/conversations/{name}/export", params={"format": "json"})
    assert (status, headers["content-type"]) == (200, "application/json")
    assert 'filename="Lamp one.json"' in headers["content-disposition"]
    assert text.startswith('{\n  "conversation_id": "')


@pytest.mark.parametrize(("room", "messages"), [(0, 4), (1, 6)])
def test_a_long_export_ends_once_it_has_its_bytes(
    api: Routes, monkeypatch: pytest.MonkeyPatch, room: int, messages: int
):
    name = saved(1, *(answer(1, at) for at in range(4)))
    stored = bootstrap.services().conversations.recent_messages("acme", "ann", name, limit=50)
    two_pages = sum(len(repr(each).encode()) for each in stored[:4])
    monkeypatch.setattr("functions.query.api.conversations.EXPORT_PAGE", 2)
    monkeypatch.setattr("functions.query.api.conversations.MAX_EXPORT_BYTES", two_pages + room)
    text, headers = raw_call("GET", f"/conversations/{name}/export")[1:]
    cursor = headers["x-next-cursor"]
    assert text.endswith(f"*The rest is on the next page, with the cursor `{cursor}`.*\n")
    assert text.count("\n## ") == messages
    rest = raw_call("GET", f"/conversations/{name}/export", params={"cursor": cursor})[1]
    assert rest.count("\n## ") == 8 - messages
    assert [each for each in range(4) if f"Answer {each}." in text + rest] == [*range(4)]
