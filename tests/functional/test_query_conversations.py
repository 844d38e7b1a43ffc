"""A user's conversations through the real handler: listed, read, renamed, exported, erased, and nobody else's."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from functions.query import bootstrap, history
from shared.errors import DependencyUnavailable
from tests.support.ingest import Stack
from tests.support.query_stack import LENS, call, events_of, query_stack, raw_call, web_server

BUILT = "When was the lighthouse of Orsk built?"
KEEPER = "And where does its keeper live?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("talks")) as made:
        yield made


@pytest.fixture(scope="module")
def web(stack: Stack) -> Iterator[httpx.Client]:
    with web_server() as client:
        yield client


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """A user of the test's own, so that no other test's conversations are listed."""
    return str(request.node.name)


def ask(question: str, user: str, **more: Any) -> dict[str, Any]:
    status, body, _ = call("POST", "/query", {"question": question, **more}, user=user)
    assert status == 200, body
    return body


def listed(user: str, **params: str) -> dict[str, Any]:
    status, body, _ = call("GET", "/conversations", user=user, params=params)
    assert status == 200, body
    return body


def items_of(stack: Stack, user: str) -> list[str]:
    items = stack.aws.dynamodb.scan(TableName="conversations")["Items"]
    return [item["sk"]["S"] for item in items if item["pk"]["S"] == f"TENANT#acme#USER#{user}"]


def test_conversations_are_listed_by_last_use_with_their_counts(stack: Stack, user: str) -> None:
    first, second, third = (ask(question, user)["conversation_id"] for question in (LENS, BUILT, LENS))
    assert [each["conversation_id"] for each in listed(user)["conversations"]] == [third, second, first]
    page = listed(user, limit="1")
    assert ask(KEEPER, user, conversation_id=second)["conversation_id"] == second
    rest = listed(user, limit="5", cursor=page["next_cursor"])
    assert [each["conversation_id"] for each in rest["conversations"]] == [second, first]
    newest = listed(user)["conversations"][0]
    assert (newest["conversation_id"], newest["title"], newest["message_count"]) == (second, BUILT, 4)
    assert newest["created_at"] < newest["updated_at"]
    found = listed(user, q="LENS of  the", limit="1")
    assert (found["conversations"][0]["conversation_id"], bool(found["next_cursor"])) == (third, True)
    assert listed(user, q="elephants") == {"conversations": [], "next_cursor": ""}


@pytest.mark.parametrize("params", [{"limit": "0"}, {"limit": "201"}, {"cursor": "bm9uZQ=="}, {"q": "x" * 201}])
def test_a_wrong_page_is_a_problem(stack: Stack, params: dict[str, str]) -> None:
    status, body, _ = call("GET", "/conversations", params=params)
    assert (status, body["code"]) == (400, "invalid_request")


def test_a_conversation_is_renamed(stack: Stack, user: str) -> None:
    path = f"/conversations/{ask(BUILT, user)['conversation_id']}"
    status, body, _ = call("PATCH", path, {"title": "  The\u202e  lighthouse "}, user=user)
    assert (status, body["title"], body["message_count"]) == (200, "The lighthouse", 2)
    assert call("GET", path, user=user)[1]["title"] == "The lighthouse"
    for title in ("", " \u200b ", "x" * 201):
        assert call("PATCH", path, {"title": title}, user=user)[0] == 400


def test_a_stored_answer_says_how_it_was_made(stack: Stack, user: str) -> None:
    first = ask(BUILT, user)
    path = f"/conversations/{first['conversation_id']}"
    refused = call("POST", f"{path}/messages", {"question": "Who invented the saxophone?"}, user=user)[1]
    again = call("POST", f"{path}/messages", {"question": BUILT, "fresh": True}, user=user)[1]
    question, *answers = [
        [each[name] for name in ("mode", "refusal", "cached")] for each in call("GET", path, user=user)[1]["messages"]
    ]
    assert question == [None, None, False]
    made = [[each[name] for name in ("mode", "refusal", "cached")] for each in (first, refused, again)]
    assert answers[::2] == made
    assert made[1][:2] == ["refused", "no_relevant_info"]
    assert not again["cached"]


def test_a_question_is_asked_in_a_conversation(stack: Stack, user: str) -> None:
    conversation_id = ask(BUILT, user)["conversation_id"]
    path = f"/conversations/{conversation_id}/messages"
    status, body, _ = call("POST", path, {"question": KEEPER}, user=user)
    assert (status, body["conversation_id"]) == (200, conversation_id)
    assert "white cottage" in body["citations"][0]["quote"]
    assert len(call("GET", f"/conversations/{conversation_id}", user=user)[1]["messages"]) == 4
    status, body, _ = call("POST", path, {"question": KEEPER, "conversation_id": conversation_id}, user=user)
    assert (status, body["errors"][0]["field"]) == (400, "conversation_id")


def test_it_is_answered_as_a_stream_by_both_functions(stack: Stack, web: httpx.Client) -> None:
    conversation_id = ask(BUILT, "ann")["conversation_id"]
    path, accept = f"/conversations/{conversation_id}/messages", {"accept": "text/event-stream"}
    streamed = web.post(f"/v1{path}", json={"question": KEEPER}, headers=accept)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    status, buffered, headers = raw_call("POST", path, {"question": KEEPER}, headers=accept)
    assert (status, headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    for text in (streamed.text, buffered):
        name, done = events_of(text)[-1]
        assert (name, done["conversation_id"]) == ("done", conversation_id)
        assert "white cottage" in done["answer"]


def test_an_export_holds_everything_and_is_named_after_the_title(stack: Stack, user: str) -> None:
    conversation_id = ask(LENS, user)["conversation_id"]
    path = f"/conversations/{conversation_id}/export"
    status, text, headers = raw_call("GET", path, user=user)
    assert (status, headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert 'filename="How often must the lens' in headers["content-disposition"]
    assert "Orsk Lighthouse Handbook, handbook.pdf, page 2" in text
    assert "> The lens must be cleaned with vinegar every Thursday." in text
    assert "- **confirmed**: " in text
    status, exported, headers = raw_call("GET", path, user=user, params={"format": "json"})
    assert (status, headers["content-disposition"].endswith(".json")) == (200, True)
    assert json.loads(exported) == call("GET", f"/conversations/{conversation_id}", user=user)[1]
    assert call("GET", path, user=user, params={"format": "pdf"})[0] == 400


def test_a_very_long_conversation_is_exported_in_pages(
    stack: Stack, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = ask(BUILT, user)["conversation_id"]
    for _ in range(2):
        ask(KEEPER, user, conversation_id=conversation_id)
    monkeypatch.setattr("functions.query.api.conversations.MAX_EXPORT_BYTES", 1)
    monkeypatch.setattr("functions.query.api.conversations.EXPORT_PAGE", 4)
    path = f"/conversations/{conversation_id}/export"
    first = call("GET", path, user=user, params={"format": "json"})[1]
    assert len(first["messages"]) == 4
    _, text, headers = raw_call("GET", path, user=user)
    assert first["next_cursor"] in text
    assert headers["x-next-cursor"] == first["next_cursor"]
    rest = {"format": "json", "cursor": first["next_cursor"]}
    _, exported, headers = raw_call("GET", path, user=user, params=rest)
    second = json.loads(exported)
    assert (len(second["messages"]), second["next_cursor"]) == (2, "")
    assert "x-next-cursor" not in headers


def test_an_erased_conversation_is_gone_with_everything_below_it(stack: Stack, user: str) -> None:
    kept = ask(LENS, user)["conversation_id"]
    before = items_of(stack, user)
    answer = ask(BUILT, user)
    path = f"/conversations/{answer['conversation_id']}"
    assert raw_call("DELETE", path, user=user)[:2] == (204, "")
    assert call("GET", path, user=user)[0] == 404
    assert call("DELETE", path, user=user)[0] == 404
    assert call("POST", f"{path}/messages", {"question": KEEPER}, user=user)[0] == 404
    assert [each["conversation_id"] for each in listed(user)["conversations"]] == [kept]
    assert items_of(stack, user) == before


def test_a_question_that_is_being_answered_does_not_bring_an_erased_conversation_back(
    stack: Stack, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = ask(BUILT, user)["conversation_id"]
    save_turns = history.save_turns

    def erase(*arguments: Any) -> bool:
        assert bootstrap.services().conversations.erase("acme", user, conversation_id)
        return save_turns(*arguments)

    monkeypatch.setattr("functions.query.pipeline.save_turns", erase)
    answer = ask(KEEPER, user, conversation_id=conversation_id)
    assert "white cottage" in answer["answer"]
    assert answer["warnings"] == ["not_saved"]
    assert items_of(stack, user) == []


def test_an_erasure_that_was_cut_short_is_finished_by_deleting_again_or_by_the_next_listing(
    stack: Stack, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"/conversations/{ask(BUILT, user)['conversation_id']}" for _ in range(2)]
    with monkeypatch.context() as broken:

        def fails(*_: object) -> None:
            raise DependencyUnavailable("conversations")

        broken.setattr(type(bootstrap.services().conversations), "_delete", fails)
        for path in paths:
            assert call("DELETE", path, user=user)[0] == 503
            assert call("GET", path, user=user)[0] == 404
        assert listed(user)["conversations"] == []
    assert len(items_of(stack, user)) == 12
    assert call("DELETE", paths[0], user=user)[0] == 204
    assert len(items_of(stack, user)) == 6
    assert listed(user)["conversations"] == []
    assert items_of(stack, user) == []


STRANGERS = [{"user": "mallory"}, {"tenant": "other"}]


@pytest.mark.parametrize("stranger", STRANGERS, ids=["another user", "another tenant"])
def test_somebody_elses_conversation_does_not_exist(stack: Stack, user: str, stranger: dict[str, str]) -> None:
    path = f"/conversations/{ask(BUILT, user)['conversation_id']}"
    who = {"user": user, **stranger}
    for method, rest, body in (
        ("GET", "", None),
        ("PATCH", "", {"title": "Mine"}),
        ("DELETE", "", None),
        ("POST", "/messages", {"question": KEEPER}),
        ("GET", "/export", None),
    ):
        status, problem, _ = call(method, f"{path}{rest}", body, **who)
        assert (status, problem["code"]) == (404, "not_found"), method
    assert call("GET", path, user=user)[1]["title"] == BUILT
    assert call("GET", "/conversations", **who)[1]["conversations"] == []
