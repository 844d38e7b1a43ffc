"""Unanswered questions, over the real handler: noted, grouped, answered once, erased with its conversation."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from functions.query import bootstrap
from functions.query.bootstrap import services
from shared.adapters.aws import to_item
from shared.adapters.conversations import unanswered_key
from tests.support.ingest import Stack
from tests.support.query_stack import LENS, call, query_stack

SAME = (
    "Where can I buy a ticket for the football cup?",
    "Where are tickets for the football cup sold?",
    "How do I buy football cup tickets?",
)
OTHER = "Which vaccine does a kitten need first?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("insights")) as made:
        yield made


def asked(question: str, tenant: str, user: str = "ann") -> dict[str, Any]:
    status, body, _ = call("POST", "/query", {"question": question}, tenant=tenant, user=user)
    assert status == 200, body
    return body


def insights(tenant: str, **params: str) -> dict[str, Any]:
    status, body, _ = call("GET", "/insights/unanswered", params=params or None, tenant=tenant)
    assert status == 200, body
    return body


def test_like_questions_are_one_cluster_which_an_faq_answers(stack: Stack):
    tenant = "clustered"
    for number, question in enumerate((*SAME, OTHER)):
        assert asked(question, tenant, user=f"user-{number}")["no_relevant_info"]
    found = insights(tenant)
    assert [(each["count"], each["refused"], each["rated_down"]) for each in found["clusters"]] == [
        (3, 3, 0), (1, 1, 0),
    ]  # fmt: skip
    largest, smallest = found["clusters"]
    assert [each["question"] for each in largest["examples"]] == list(reversed(SAME))
    assert (largest["cluster_id"], found["questions"], found["truncated"]) == (largest["question_ids"][0], 4, False)
    assert "user-" not in json.dumps(found), "who asked is nobody's business"
    assert insights(tenant) == found, "the same questions give the same clusters"
    assert len(insights(tenant, limit="1")["clusters"]) == 1

    pair = {"question": SAME[0], "answer": "Tickets are sold at the harbour office."}
    sent = {**pair, "answers": largest["question_ids"]}
    status, faq, _ = call("POST", "/faqs", sent, tenant=tenant)
    assert (status, faq["answered"]) == (201, 3)
    assert insights(tenant)["clusters"] == [smallest]


def test_only_editors_see_it_and_only_their_tenants(stack: Stack):
    asked(OTHER, "seen")
    assert insights("unseen")["clusters"] == []
    for groups in ("reader", "agent"):
        assert call("GET", "/insights/unanswered", groups=groups, tenant="seen")[0] == 403


def test_an_answer_from_the_cache_counts_too_and_near_passages_are_named(stack: Stack):
    question = "Who won the football world cup in 1998?"
    before = insights("acme")["questions"]
    assert not asked(question, "acme")["cached"]
    assert asked(question, "acme")["cached"]
    found = insights("acme")
    (cluster,) = [each for each in found["clusters"] if each["examples"][0]["question"] == question]
    assert (cluster["count"], found["questions"]) == (2, before + 2)
    assert cluster["nearest"][0]["title"] == "Orsk Lighthouse Handbook"


def test_a_badly_rated_answer_is_shown_until_it_is_answered_or_the_rating_withdrawn(stack: Stack):
    answered = asked(LENS, "acme")
    assert not answered["no_relevant_info"]
    path = f"/messages/{answered['message_id']}/feedback"

    def shown() -> list[dict[str, Any]]:
        return [each for each in insights("acme")["clusters"] if each["rated_down"]]

    assert shown() == []
    assert call("PUT", path, {"rating": "down"})[0] == 200
    (cluster,) = shown()
    assert (cluster["examples"][0]["question"], cluster["refused"]) == (LENS, 0)
    call("DELETE", path)
    assert shown() == []
    call("PUT", path, {"rating": "down"})
    pair = {"question": LENS, "answer": "Every Thursday.", "answers": cluster["question_ids"]}
    assert call("POST", "/faqs", pair)[1]["answered"] == 1
    assert shown() == []


def test_an_erased_conversation_takes_its_questions_and_hand_offs_with_it(stack: Stack):
    tenant = "erased"
    conversation = asked(OTHER, tenant)["conversation_id"]
    _, handoff, _ = call("POST", f"/conversations/{conversation}/handoff", {"contact": "ann"}, tenant=tenant)
    assert insights(tenant)["questions"] == 1
    assert call("DELETE", f"/conversations/{conversation}", tenant=tenant)[0] in {200, 202, 204}
    assert insights(tenant)["questions"] == 0
    assert call("GET", f"/handoffs/{handoff['handoff_id']}", tenant=tenant, groups="agent")[0] == 404
    items = stack.aws.dynamodb.scan(TableName="conversations")["Items"]
    left = [item["pk"]["S"] for item in items if item["pk"]["S"].startswith(f"TENANT#{tenant}#")]
    assert left == []


def test_an_expired_question_is_not_shown_and_none_is_kept_where_that_is_off(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
):
    asked(OTHER, "expired")
    made = services()
    first = made.clock.now() - timedelta(days=1)
    kept, _ = made.unanswered.since("expired", first, limit=10)
    key = unanswered_key("expired", kept[0].question_id)
    stack.aws.dynamodb.update_item(
        TableName="conversations",
        Key=to_item(key),
        UpdateExpression="SET expires_at = :past",
        ExpressionAttributeValues=to_item({":past": int(first.timestamp())}),
    )
    assert insights("expired")["questions"] == 0
    later = (made.clock.now() + timedelta(hours=1)).isoformat()
    asked(SAME[0], "expired")
    assert insights("expired", since=later)["questions"] == 0
    monkeypatch.setenv("RECTO_UNANSWERED_DAYS", "0")
    bootstrap.reset()
    try:
        asked(OTHER, "off")
        assert insights("off")["questions"] == 0
    finally:
        monkeypatch.undo()
        bootstrap.reset()
