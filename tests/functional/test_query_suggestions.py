"""Follow-up questions suggested with an answer, through the real handler: each one is answered when it is asked."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from functions.query import suggesting
from tests.support.eval_folder import SAMPLES
from tests.support.ingest import Stack
from tests.support.query_stack import Faulty, call, calls_of, events_of, forget_calls, query_stack, raw_call

MANUAL = "uploads/acme/brunata-duo.pdf"
FAQ = "faq/acme/01M80F2X79R4FEZBAPJFTCM54P.json"
PAIR = {"question": "Which water is right for the coffee boilers?", "answer": "Soft water for the coffee boilers."}
BOILERS = "How often are the coffee boilers descaled?"
WORLD_CUP = "Who won the football world cup in 1998?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(
            patch, tmp_path_factory.mktemp("suggestions"), SUGGESTIONS="3", CHAT_MODEL="", ANSWER_CACHE_TTL_S="0"
        ) as made,
    ):
        # The tests' machine may be slow; what is tested is what comes, not when.
        patch.setattr(suggesting, "WAIT_S", 20.0)
        made.put(MANUAL, (SAMPLES / "brunata-duo-maintenance-manual.pdf").read_bytes())
        made.put(FAQ, json.dumps(PAIR).encode())
        assert made.deliver(MANUAL, FAQ) == []
        yield made


def ask(question: str, **more: Any) -> dict[str, Any]:
    status, body, _ = call("POST", "/query", {"question": question, **more})
    assert status == 200, body
    return body


def test_faqs_and_headings_near_the_sources_are_suggested_and_each_is_answered(stack: Stack) -> None:
    answer = ask(BOILERS)
    assert len(answer["suggestions"]) == 3
    assert answer["suggestions"][0] == PAIR["question"]
    assert "Descaling" in answer["citations"][0]["section"]
    assert not any("Descaling" in each for each in answer["suggestions"]), "what is told already"
    for each in answer["suggestions"]:
        follow_up = ask(each)
        assert not follow_up["no_relevant_info"], each
        assert follow_up["citations"], each
        assert each not in follow_up["suggestions"]


def test_suggestions_keep_to_the_filter(stack: Stack) -> None:
    answer = ask(BOILERS, filter={"document_id": {"$eq": stack.document(MANUAL).document_id}})
    assert answer["suggestions"]
    assert PAIR["question"] not in answer["suggestions"]


def test_what_would_be_refused_in_the_answers_language_is_not_suggested(stack: Stack) -> None:
    """The documents and the laptop's embedding model are English."""
    assert ask(BOILERS, language="de")["suggestions"] in ([], [PAIR["question"]])


def test_a_stream_has_them_in_its_last_event(stack: Stack) -> None:
    text = raw_call("POST", "/query", {"question": BOILERS}, headers={"accept": "text/event-stream"})[1]
    events = events_of(text)
    assert [name for name, data in events if "suggestions" in data] == ["done"]
    assert len(events[-1][1]["suggestions"]) == 3


def test_a_refusal_with_nothing_near_suggests_and_searches_nothing(stack: Stack) -> None:
    ask(WORLD_CUP)  # its embedding is cached from now on
    forget_calls(stack)
    assert ask(WORLD_CUP)["suggestions"] == []
    assert calls_of(stack, stack.openai_url, "/v1/embeddings") == 0


def test_without_embeddings_the_answer_comes_without_suggestions(stack: Stack) -> None:
    ask(BOILERS)  # its embedding is cached from now on
    with Faulty(stack, stack.openai_url, route="/v1/embeddings", kind="status", status=500):
        answer = ask(BOILERS)
    assert answer["citations"]
    assert (answer["suggestions"], answer["warnings"]) == ([], [])
