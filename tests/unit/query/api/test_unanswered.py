"""Questions that got no answer, or a bad one, over the API: shown together until somebody answers them."""

from typing import Any

from functions.query import bootstrap
from shared.models import Message
from tests.support.routes import NOW, Routes


def clusters(api: Routes, **params: str) -> dict[str, Any]:
    status, told = api.call("GET", "/insights/unanswered", params=params)
    assert status == 200, told
    return dict(told)


def test_refused_and_badly_rated_questions_are_shown_together_until_somebody_answers(api: Routes):
    ferry = api.publish("uploads/acme/ferry.pdf", "The ferry leaves at eight.", title="Ferry")
    refusals = []
    for question in ("Who won the football world cup in 1998?", "Who won the football world cup in 2002?"):
        api.clock.advance(1)
        refusals.append(api.call("POST", "/query", {"question": question})[1])
    assert {each["no_relevant_info"] for each in refusals} == {True}
    rated = f"01{'0' * 22}1A"
    details = {"mode": "generated", "sources": [{"chunk_id": f"{ferry.document_id}#G1#0", "score": 0.9}]}
    turns = [
        Message(f"01{'0' * 22}0Q", "user", "Who is he?", NOW),
        Message(rated, "assistant", "He is Bo.", NOW, details=details),
    ]
    store = bootstrap.services().conversations
    store.save_turns("acme", "ann", f"01{'0' * 22}C0", title="T", turns=turns, is_new=True)
    assert api.call("PUT", f"/messages/{rated}/feedback", {"rating": "down"})[0] == 200
    told = clusters(api)
    ids = sorted([rated, *(each["message_id"] for each in refusals)])
    (cluster,) = told.pop("clusters")
    examples, nearest = cluster.pop("examples"), cluster.pop("nearest")
    assert told == {"questions": 3, "truncated": False}
    assert cluster == {
        "cluster_id": ids[0],
        "count": 3,
        "refused": 2,
        "rated_down": 1,
        "language": "en",
        "first_asked_at": NOW,
        "last_asked_at": "2026-01-01T00:00:02.000+00:00",
        "question_ids": ids,
    }
    assert [each["question_id"] for each in examples] == ids[::-1]
    assert examples[2] == {"question_id": rated, "question": "Who is he?", "asked_at": NOW, "refusal": ""}
    assert nearest == [
        {
            "chunk_id": f"{ferry.document_id}#G1#0",
            "document_id": ferry.document_id,
            "title": "Ferry",
            "relevance": 0.9,
        }
    ]
    assert clusters(api, since="2026-01-01T00:00:02+00:00")["questions"] == 2  # the rating is of then, too
    assert clusters(api, limit="1")["questions"] == 3
    faq = {"question": "Who won?", "answer": "France.", "answers": ids[:2]}
    assert api.call("POST", "/faqs", faq)[1]["answered"] == 2
    (left,) = clusters(api)["clusters"]
    assert left["question_ids"] == ids[2:]
    api.clock.advance(91 * 86_400)
    assert clusters(api, since=NOW)["clusters"] == []
