"""Feedback on answers through the real handler: the asker's last word, kept beside what was retrieved, for editors."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.query.bootstrap import services
from shared.models import Message
from tests.support.ingest import Stack
from tests.support.query_stack import HANDBOOK, LENS, call, query_stack, raw_call

UNKNOWN = "Who won the football world cup in 1998?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("feedback")) as made:
        yield made


@pytest.fixture
def who(request: pytest.FixtureRequest) -> dict[str, str]:
    """A tenant and a user of the test's own, an editor."""
    return {"tenant": f"t{abs(hash(request.node.name))}", "user": "ann", "groups": "editor"}


def ask(question: str, who: dict[str, str]) -> dict[str, Any]:
    status, body, _ = call("POST", "/query", {"question": question}, **who)
    assert status == 200, body
    return body


def rate(message_id: str, who: dict[str, str], **body: Any) -> tuple[int, dict[str, Any]]:
    return call("PUT", f"/messages/{message_id}/feedback", body, **who)[:2]


def given(who: dict[str, str], **params: str) -> dict[str, Any]:
    status, body, _ = call("GET", "/feedback", params=params, **who)
    assert status == 200, body
    return body


def shown(answer: dict[str, Any], who: dict[str, str]) -> list[Any]:
    messages = call("GET", f"/conversations/{answer['conversation_id']}", **who)[1]["messages"]
    return [message["feedback"] for message in messages]


def test_the_last_word_is_shown_and_editors_see_what_was_retrieved(stack: Stack) -> None:
    who = {"tenant": "acme", "user": "ann", "groups": "reader"}
    answer = ask(LENS, who)
    assert rate(answer["message_id"], who, rating="up")[0] == 200
    word = {"rating": "down", "reason": "incomplete", "comment": "Which vinegar?\nAnd how much?"}
    status, body = rate(answer["message_id"], who, **word)
    assert status == 200
    assert shown(answer, who) == [None, {**word, "updated_at": body["updated_at"]}]
    (rated,) = given({**who, "groups": "editor"})["feedback"]
    assert rated["feedback"] == body
    assert (rated["question"], rated["answer"]) == (LENS, answer["answer"])
    assert rated["citations"] == answer["citations"]
    assert rated["claims"] == answer["claims"]
    for name in ("mode", "refusal", "rewritten", "band", "confidence", "best_score", "relevance", "threshold", "model"):
        assert rated[name] == pytest.approx(answer[name], abs=1e-3), name
    assert [source["chunk_id"] for source in rated["sources"]] == [each["chunk_id"] for each in answer["sources"]]
    assert {source["key"] for source in rated["sources"]} == {HANDBOOK}
    assert "ann" not in json.dumps(rated)


def test_a_refusal_is_rated_with_its_near_misses(stack: Stack) -> None:
    who = {"tenant": "acme", "user": "bob", "groups": "editor"}
    answer = ask(UNKNOWN, who)
    assert rate(answer["message_id"], who, rating="down", reason="not_answered")[0] == 200
    rated = given(who)["feedback"][0]
    assert (rated["refusal"], rated["sources"], rated["citations"]) == ("no_relevant_info", [], [])
    assert rated["near_misses"]


def test_feedback_is_withdrawn_as_often_as_one_likes(stack: Stack, who: dict[str, str]) -> None:
    answer = ask("Hello", who)
    path = f"/messages/{answer['message_id']}/feedback"
    assert raw_call("DELETE", path, **who)[0] == 204
    assert rate(answer["message_id"], who, rating="up")[0] == 200
    for _ in range(2):
        assert raw_call("DELETE", path, **who)[0] == 204
        assert shown(answer, who) == [None, None]
        assert given(who)["feedback"] == []


def test_it_is_erased_with_its_conversation(stack: Stack, who: dict[str, str]) -> None:
    answer = ask("Hello", who)
    assert rate(answer["message_id"], who, rating="up")[0] == 200
    assert call("DELETE", f"/conversations/{answer['conversation_id']}", **who)[0] == 204
    assert given(who)["feedback"] == []
    assert rate(answer["message_id"], who, rating="up")[0] == 404
    items = stack.aws.dynamodb.scan(TableName="conversations")["Items"]
    assert not [item for item in items if who["tenant"] in item["pk"]["S"] and "USAGE" not in item["pk"]["S"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "rating"),
        ({"rating": "sideways"}, "rating"),
        ({"rating": "down", "reason": "because"}, "reason"),
        ({"rating": "down", "comment": "x" * 2_001}, "comment"),
        ({"rating": "up", "stars": 5}, "stars"),
    ],
)
def test_feedback_in_another_form_is_a_problem(stack: Stack, body: dict[str, Any], field: str) -> None:
    status, problem = rate("0" * 26, {"tenant": "acme"}, **body)
    assert (status, problem["errors"][0]["field"]) == (400, field)


def test_only_answers_take_feedback(stack: Stack, who: dict[str, str]) -> None:
    answer = ask("Hello", who)
    question = call("GET", f"/conversations/{answer['conversation_id']}", **who)[1]["messages"][0]
    assert rate(question["message_id"], who, rating="up")[0] == 400
    for unknown in ("0" * 26, "x", "0" * 2_000):
        assert rate(unknown, who, rating="up")[0] == 404


@pytest.mark.parametrize("stranger", [{"user": "mallory"}, {"tenant": "another"}], ids=["user", "tenant"])
def test_somebody_elses_message_does_not_exist(stack: Stack, who: dict[str, str], stranger: dict[str, str]) -> None:
    answer = ask("Hello", who)
    assert rate(answer["message_id"], {**who, **stranger}, rating="up")[0] == 404
    assert call("DELETE", f"/messages/{answer['message_id']}/feedback", **{**who, **stranger})[0] == 404
    assert rate(answer["message_id"], who, rating="up")[0] == 200
    assert len(given(who)["feedback"]) == 1
    assert given({**who, "tenant": "another"})["feedback"] == []


def test_editors_page_through_it_by_rating_and_time(stack: Stack, who: dict[str, str]) -> None:
    begun = datetime.now(UTC) - timedelta(minutes=1)
    rated: list[tuple[str, str]] = []
    for n in range(5):
        answer = ask("Hello", who)
        rating = "down" if n % 2 else "up"
        assert rate(answer["message_id"], who, rating=rating)[0] == 200
        rated.insert(0, (answer["message_id"], rating))

    def read(**params: str) -> list[str]:
        found, cursor = [], ""
        while True:
            page = given(who, limit="2", cursor=cursor, **params)
            found += [each["message_id"] for each in page["feedback"]]
            cursor = page["next_cursor"]
            if not cursor:
                return found

    # Those of one millisecond are in the order of their answers, which is the same here.
    assert read() == [message_id for message_id, _ in rated]
    assert read(rating="down") == [message_id for message_id, rating in rated if rating == "down"]
    assert read(since=begun.isoformat()) == read()
    assert read(since=(begun + timedelta(days=1)).isoformat()) == []
    for params in ({"since": "yesterday"}, {"since": "2026-11-23T00:00:00"}, {"cursor": "bm9uZQ"}, {"rating": "good"}):
        assert call("GET", "/feedback", params=params, **who)[0] == 400
    assert call("GET", "/feedback", **{**who, "groups": "agent"})[0] == 403


def test_an_answer_of_an_earlier_release_is_shown_without_its_details(stack: Stack, who: dict[str, str]) -> None:
    turns = [
        Message("0" * 25 + "1", "user", "Old?", "2026-01-01T00:00:00.000+00:00"),
        Message("0" * 25 + "2", "assistant", "Old.", "2026-01-01T00:00:00.000+00:00", details={"sources": ["d#g#1"]}),
    ]
    services().conversations.save_turns(who["tenant"], "ann", "0" * 26, title="Old", turns=turns, is_new=True)
    assert rate("0" * 25 + "2", who, rating="up")[0] == 200
    (rated,) = given(who)["feedback"]
    assert (rated["question"], rated["sources"][0]["chunk_id"], rated["threshold"]) == ("Old?", "d#g#1", 0.0)
