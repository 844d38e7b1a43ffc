"""Feedback over the API: given and taken back by the asker, and what editors learn of it."""

from typing import Any

from functions.query import bootstrap
from shared.models import AnswerClaim, Citation, Message, SourceType
from tests.support.routes import NOW, Routes

DETAILS = {
    "mode": "generated",
    "refusal": "",
    "rewritten": "What is a lamp?",
    "sources": [
        {"chunk_id": "d#G1#0", "key": "uploads/acme/a.pdf", "page_start": 2, "score": 0.5, "band": "low"},
        "d#G1#1",
    ],
    "near_misses": [["d#G1#2", 0.25]],
    "band": "medium",
    "confidence": 0.75,
    "best_score": 0.5,
    "relevance": 0.625,
    "threshold": 0.35,
    "model": "gpt",
    "prompt_version": "7",
}


def saved(number: int, question: str = "A lamp?", *, user: str = "ann", **details: Any) -> str:
    """Store a question with its answer; return the answer's id."""
    answered = f"{number:02}{'0' * 22}1A"
    citation = Citation(1, "d", "Lamp", SourceType.PDF, 3, 3, "", "", "A quote.", 10, 18, 0.5)
    turns = [
        Message(f"{number:02}{'0' * 22}0Q", "user", question, NOW),
        Message(
            answered,
            "assistant",
            "It is a lamp.",
            NOW,
            (citation,) if not details else (),
            details or DETAILS,
            (AnswerClaim("It is a lamp.", "confirmed", (1,)),),
        ),
    ]
    store = bootstrap.services().conversations
    store.save_turns("acme", user, f"{number:02}{'0' * 22}C0", title="T", turns=turns, is_new=True)
    return answered


def rate(api: Routes, message_id: str, rating: str = "down", **more: Any) -> dict[str, Any]:
    status, given = api.call("PUT", f"/messages/{message_id}/feedback", {"rating": rating, **more})
    assert status == 200, given
    return dict(given)


def listed(api: Routes, **params: str) -> tuple[list[dict[str, Any]], str]:
    status, page = api.call("GET", "/feedback", params=params)
    assert status == 200, page
    return page["feedback"], page["next_cursor"]


def test_editors_see_a_rating_with_all_that_the_answer_was(api: Routes):
    message_id = saved(1)
    given = {"rating": "down", "reason": "wrong", "comment": "No.", "updated_at": NOW}
    assert rate(api, message_id, reason="wrong", comment=" No. ") == given
    (rated,), cursor = listed(api)
    citations, claims = rated.pop("citations"), rated.pop("claims")
    nothing = {"key": "", "page_start": 0, "page_end": 0, "score": 0.0, "band": "none"}
    assert rated == {
        "message_id": message_id,
        "conversation_id": f"01{'0' * 22}C0",
        "feedback": given,
        "question": "A lamp?",
        "rewritten": "What is a lamp?",
        "asked_at": NOW,
        "answer": "It is a lamp.",
        "mode": "generated",
        "refusal": "",
        "sources": [
            {
                "chunk_id": "d#G1#0",
                "key": "uploads/acme/a.pdf",
                "page_start": 2,
                "page_end": 0,
                "score": 0.5,
                "band": "low",
            },
            {"chunk_id": "d#G1#1", **nothing},
        ],
        "near_misses": ["d#G1#2"],
        "band": "medium",
        "confidence": 0.75,
        "best_score": 0.5,
        "relevance": 0.625,
        "threshold": 0.35,
        "model": "gpt",
        "prompt_version": "7",
    }
    assert ([each["quote"] for each in citations], [each["text"] for each in claims], cursor) == (
        ["A quote."],
        ["It is a lamp."],
        "",
    )
    shown = api.call("GET", f"/conversations/01{'0' * 22}C0")[1]["messages"][1]
    assert shown["feedback"] == given


def test_an_answer_of_an_earlier_release_lacks_details(api: Routes):
    rate(api, saved(1, mode="service"))
    ((rated,), _) = listed(api)
    assert [
        rated[name]
        for name in (
            *("band", "relevance", "threshold", "model", "prompt_version", "rewritten", "refusal"),
            *("sources", "near_misses", "confidence", "best_score"),
        )
    ] == ["none", 0.0, 0.0, "", "", None, None, [], [], None, None]


def test_the_latest_rating_counts_and_can_be_taken_back(api: Routes):
    message_id = saved(1)
    rate(api, message_id)
    api.clock.advance(1)
    rate(api, message_id, "up")
    ((rated,), _) = listed(api)
    assert (rated["feedback"]["rating"], rated["feedback"]["reason"], rated["feedback"]["updated_at"]) == (
        "up",
        None,
        "2026-01-01T00:00:01.000+00:00",
    )
    for _ in range(2):
        assert api.call("DELETE", f"/messages/{message_id}/feedback")[0] == 204
        assert listed(api) == ([], "")


def test_only_answers_of_ones_own_are_rated(api: Routes):
    message_id = saved(1)
    question = message_id.replace("1A", "0Q")
    for method, body in (("PUT", {"rating": "up"}), ("DELETE", None)):
        status, problem = api.call(method, f"/messages/{question}/feedback", body)
        assert (status, problem["detail"][:26]) == (400, "Only answers take feedback")
        for unknown in ("0" * 26, "x"):
            assert api.call(method, f"/messages/{unknown}/feedback", body)[0] == 404
        assert api.call(method, f"/messages/{message_id}/feedback", body, user="bob")[0] == 404
    assert api.call("PUT", f"/messages/{message_id}/feedback", {"rating": "so-so"})[0] == 400
    assert api.call("PUT", f"/messages/{message_id}/feedback", {"rating": "up", "comment": "x" * 2_001})[0] == 400
    assert rate(api, message_id, comment="x" * 2_000)["comment"] == "x" * 2_000


def test_ratings_are_listed_the_latest_first_by_rating_and_time(api: Routes):
    ids = [saved(number) for number in range(1, 6)]
    for at, message_id in enumerate(ids):
        if at != 2:
            api.clock.advance(1)  # the second and the third come in the same millisecond
        rate(api, message_id, "up" if at % 2 else "down")
    newest = ids[::-1]

    def names(**params: str) -> tuple[list[str], str]:
        found, cursor = listed(api, **params)
        return [each["message_id"] for each in found], cursor

    assert names() == (newest, "")
    assert names(limit="5") == (newest, "")
    seen, cursor = names(limit="2")
    while cursor:
        page, cursor = names(limit="2", cursor=cursor)
        seen += page
    assert seen == newest
    assert names(rating="up")[0] == [ids[3], ids[1]]
    assert names(since="2026-01-01T00:00:03+00:00")[0] == newest[:2]
    assert names(since="2026-01-01T02:00:03+02:00")[0] == newest[:2]
    assert api.call("GET", "/feedback", params={"limit": "51"})[0] == 400
    assert api.call("GET", "/feedback", params={"since": "2026-01-01T00:00:03"})[0] == 400
    assert api.call("GET", "/feedback", groups="reader")[0] == 403


def test_a_rated_answer_from_a_closed_document_is_listed_without_its_text(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.")
    rate(api, saved(1, mode="generated", documents=[lamp.document_id]))
    rule = {"access": {"allowed_groups": ["hr"]}}
    assert api.call("PATCH", f"/documents/{lamp.document_id}", rule, groups="admin")[0] == 200
    ((rated,), _) = listed(api)
    assert (rated["question"], rated["claims"], rated["feedback"]["rating"]) == ("A lamp?", [], "down")
    assert "It is a lamp" not in rated["answer"]
