"""What is made of a question before it is searched for, with every part on the wire: follow-ups, glossary, language."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from functions.query import bootstrap
from tests.support.ingest import Stack
from tests.support.query_stack import LENS, Faulty, call, calls_of, forget_calls, query_stack

CHAT = "/v1/chat/completions"
GLOSSARY = "glossary/acme.json"
LITHUANIAN = {
    "question": "Kada galima apžiūrėti švyturį?",
    "answer": "Švyturį lankytojai gali apžiūrėti kiekvieną šeštadienį nuo dešimtos valandos ryto. Bilietai parduodami "
    "prižiūrėtojo namelyje.",
}
STORE = {
    "question": "Where is the spare fuel kept?",
    "answer": "Spare fuel for the beacon engine lies in the northern shed, behind the boats.",
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(
            patch,
            tmp_path_factory.mktemp("understanding"),
            ANSWER_CACHE_TTL_S="0",
            GLOSSARY_TTL_S="0",
            REWRITE_TIMEOUT_S="1",
            SUMMARY_AFTER_MESSAGES="4",
            SUMMARY_EVERY_TURNS="2",
        ) as made,
    ):
        for name, faq in (("tours", LITHUANIAN), ("fuel", STORE)):
            key = f"faq/acme/{name}.json"
            made.put(key, json.dumps(faq).encode())
            assert made.deliver(key) == []
        yield made


@pytest.fixture(autouse=True)
def _no_glossary_is_left(stack: Stack) -> Iterator[None]:
    yield
    stack.delete(GLOSSARY)


def ask(question: str, **more: Any) -> dict[str, Any]:
    status, body, _ = call("POST", "/query", {"question": question, **more})
    assert status == 200, body
    return body


def quoted(answer: dict[str, Any]) -> str:
    return " ".join(citation["quote"] for citation in answer["citations"])


class TestOtherLanguages:
    @staticmethod
    def translating(stack: Stack, question: str) -> Faulty:
        """Have the model translate every question as this one; it writes answers as ever."""
        message = {"role": "assistant", "content": json.dumps({"question": question})}
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "extractive-minilm",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
        }
        return Faulty(
            stack, stack.openai_url, route=CHAT, holding="translated_question", kind="status", status=200, body=body
        )

    def test_a_question_and_its_follow_up_are_tried_in_the_documents_language_before_a_refusal(self, stack: Stack):
        typed = "Womit muss man dort drüben das Glas putzen?"
        refused = ask(typed)
        assert refused["no_relevant_info"]
        assert refused["answer"].startswith("Dazu habe ich in den Dokumenten nichts gefunden.")
        with self.translating(stack, LENS):
            first = ask(typed)
        assert first["rewritten"] == LENS
        assert "vinegar every Thursday" in quoted(first)
        follow_up = "Und wann leuchtet das Ding?"
        with self.translating(stack, "When is the lamp lit?"):
            answer = ask(follow_up, conversation_id=first["conversation_id"])
        assert answer["rewritten"] == "When is the lamp lit?"
        assert "lit at sunset" in quoted(answer)


class TestFollowUps:
    def test_the_model_makes_a_follow_up_stand_alone_and_it_is_answered(self, stack: Stack):
        first = ask(LENS)
        forget_calls(stack)
        answer = ask("When is it lit?", conversation_id=first["conversation_id"])
        assert answer["rewritten"].startswith("When is it lit? ")
        assert "lit at sunset" in quoted(answer)
        assert answer["warnings"] == []
        assert calls_of(stack, stack.openai_url, CHAT) == 2  # one to rewrite, one to answer

    def test_a_first_question_costs_no_call_for_rewriting(self, stack: Stack):
        forget_calls(stack)
        assert ask(LENS)["rewritten"] is None
        assert calls_of(stack, stack.openai_url, CHAT) == 1

    @pytest.mark.parametrize(
        "fault",
        [
            {"kind": "delay", "delay_s": 4.0},
            {"kind": "hang"},
            {"kind": "status", "status": 429, "headers": {"retry-after": "30"}},
            {"kind": "status", "status": 503},
            {"kind": "reset"},
            {"kind": "truncate"},
            {"kind": "status", "status": 200, "body": {"choices": [{"message": {"content": "I would rather sing."}}]}},
            {"kind": "status", "status": 200, "body": {"choices": []}},
        ],
        ids=lambda fault: f"{fault['kind']} {fault.get('status', '')}",
    )
    def test_a_model_that_fails_at_rewriting_leaves_the_heuristic_in_time(self, stack: Stack, fault: dict[str, Any]):
        first = ask(LENS)
        started = time.monotonic()
        with Faulty(stack, stack.openai_url, route=CHAT, count=1, **fault):
            answer = ask("When is it lit?", conversation_id=first["conversation_id"])
        assert "lit at sunset" in quoted(answer)
        assert answer["rewritten"].startswith("When is it lit? ")
        assert set(answer["warnings"]) & {"rewrite_unavailable", "rewrite_unusable"}
        # The rewrite has a second; searching and answering have theirs.
        assert answer["timings_ms"]["rewrite"] < 1_800
        assert time.monotonic() - started < 10

    def test_the_whole_session_can_be_searched_for(self, stack: Stack):
        first = ask("Who lives in the cottage of the lighthouse?")
        forget_calls(stack)
        answer = ask(
            "In which year was the lighthouse built?", conversation_id=first["conversation_id"], mode="session"
        )
        # Nothing of the question is rewritten: the session is searched for beside it.
        assert answer["rewritten"] is None
        assert "1871" in quoted(answer)
        assert calls_of(stack, stack.openai_url, CHAT) == 1

    def test_a_long_conversation_is_summed_up_and_the_summary_stored_with_it(self, stack: Stack):
        conversation_id = ask(LENS)["conversation_id"]
        for _ in range(3):
            ask(LENS, conversation_id=conversation_id)
        head = bootstrap.services().conversations.get("acme", "ann", conversation_id)
        assert head is not None
        assert head.summarized >= 4
        assert "lens" in head.summary


class TestGlossary:
    def put(self, stack: Stack, **parts: Any) -> None:
        stack.put(GLOSSARY, json.dumps(parts).encode())

    def test_the_tenants_own_word_finds_what_the_documents_call_otherwise(self, stack: Stack):
        question = "Where do we keep the gasolio?"
        assert ask(question)["no_relevant_info"]
        self.put(stack, entities=[{"name": "spare fuel", "spellings": ["gasolio"]}])
        answer = ask(question)
        assert answer["rewritten"] == "Where do we keep the spare fuel?"
        assert answer["sources"][0]["title"] == STORE["question"]

    def test_a_filter_of_an_entity_narrows_the_search(self, stack: Stack):
        self.put(stack, entities=[{"name": "lighthouse", "filter": {"source_type": "faq"}}])
        answer = ask("Where is the spare fuel of the lighthouse kept?")
        assert answer["sources"]
        status, found, _ = call("GET", f"/documents/{answer['sources'][0]['document_id']}")
        assert status == 200, found
        assert not any("Orsk" in source["title"] for source in answer["sources"])

    def test_an_invalid_one_is_skipped(self, stack: Stack):
        self.put(stack, entities=[{"nome": "x"}])
        answer = ask(LENS)
        assert "vinegar" in quoted(answer)
        assert answer["warnings"] == ["glossary_invalid"]

    def test_it_is_of_its_tenant_only(self, stack: Stack):
        self.put(stack, entities=[{"name": "spare fuel", "spellings": ["gasolio"]}])
        status, body, _ = call("POST", "/query", {"question": "Where is the gasolio?"}, tenant="other")
        assert status == 200
        assert body["rewritten"] is None

    def test_it_never_becomes_a_document(self, stack: Stack):
        self.put(stack, entities=[{"name": "spare fuel"}])
        assert stack.deliver(GLOSSARY) == []
        assert stack.find(GLOSSARY) is None


class TestLanguage:
    @pytest.mark.parametrize("question", ["Kada galima apžiūrėti švyturį?", "Kada galima apziureti svyturi?"])
    def test_a_question_without_diacritics_finds_the_text_that_has_them(self, stack: Stack, question: str):
        answer = ask(question)
        assert answer["sources"][0]["title"] == LITHUANIAN["question"]
        assert answer["citations"]

    def test_a_refusal_is_in_the_language_of_the_question(self, stack: Stack):
        answer = ask("Kas laimejo pasaulio futbolo cempionata?")
        assert answer["no_relevant_info"]
        assert answer["answer"].startswith("Dokumentuose neradau")
        assert ask("Who won the football world cup?")["answer"].startswith("I could not find")

    def test_a_requested_language_goes_before_that_of_the_question(self, stack: Stack):
        answer = ask("Who won the football world cup?", language="lt")
        assert answer["answer"].startswith("Dokumentuose neradau")
