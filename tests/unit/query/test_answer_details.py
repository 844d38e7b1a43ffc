"""What is logged about an answer, stored with its message and shown in the response."""

import json
import logging
from dataclasses import replace

import pytest

from functions.query.answer import Answer, Question, facts_of
from functions.query.api.asking import report
from functions.query.api.schemas import QueryOut
from functions.query.pipeline import answer_question
from functions.query.ports import QueryPorts
from functions.query.writing.prompting import PROMPT_VERSION
from shared.deadline import Deadline
from shared.models import Conversation, Message
from shared.telemetry import logger
from tests.support.query import WHO, FakeChat, FakeConversations, match, query_ports

TEXT = "The boiler holds 1.8 litres of water. It must be descaled every 90 days. Spare parts are in room 12."
QUESTION = "How often must it be descaled?"
KNOWS = json.dumps(
    {
        "answered": True,
        "claims": [
            {
                "text": "It must be descaled every 90 days.",
                "citations": [{"source": 1, "quote": "It must be descaled every 90 days."}],
            }
        ],
    }
)
DOES_NOT_KNOW = json.dumps({"answered": False, "claims": []})


def ask(ports: QueryPorts, text: str = QUESTION, **more: str) -> Answer:
    return answer_question(Question(text, **more), WHO, ports, Deadline(ports.clock, 26))


def stored(ports: QueryPorts, answer: Answer) -> dict[str, object]:
    assert isinstance(ports.conversations, FakeConversations)
    return dict(ports.conversations.turns[WHO.tenant, WHO.user, answer.conversation_id][-1].details)


def logged(answer: Answer, caplog: pytest.LogCaptureFixture) -> dict[str, object]:
    with caplog.at_level(logging.INFO, logger=logger.name):
        report(answer, "acme", {})
    return dict(vars(caplog.records[-1]))


def test_what_a_model_used_and_why_it_stopped_is_shown_stored_and_logged(caplog: pytest.LogCaptureFixture):
    ports = query_ports([match(TEXT)], chat=FakeChat(KNOWS))
    answer = ask(ports)
    assert answer.mode == "generated"
    shown, details, line = QueryOut.of(answer).model_dump(), stored(ports, answer), logged(answer, caplog)
    assert shown["finish_reason"] == details["finish_reason"] == line["finish_reason"] == "stop"
    assert details["output_tokens"] == line["output_tokens"] == shown["usage"]["output_tokens"] == 5
    assert details["input_tokens"] == line["input_tokens"] == shown["usage"]["input_tokens"] > 10  # the embedding's too


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_short_says_so(reason: str):
    answer = ask(query_ports([match(TEXT)], chat=FakeChat(KNOWS, finish_reason=reason)))
    assert (answer.finish_reason, answer.warnings) == (reason, ("answer_cut_short",))


def test_an_answer_is_logged_and_stored_with_the_version_of_its_prompt(caplog: pytest.LogCaptureFixture):
    ports = query_ports([match(TEXT)], chat=FakeChat(KNOWS))
    answer = ask(ports)
    assert stored(ports, answer)["prompt_version"] == logged(answer, caplog)["prompt_version"] == PROMPT_VERSION
    assert facts_of(ask(query_ports([match(TEXT)])))["prompt_version"] == ""


def test_without_a_model_there_is_no_reason():
    assert ask(query_ports([match(TEXT)])).finish_reason == ""


def test_a_refusal_of_the_search_names_its_near_misses_to_the_operator(caplog: pytest.LogCaptureFixture):
    ports = query_ports([match(TEXT, score=0.2), match("The garden is open.", n=2, score=0.1)])
    answer = ask(ports, "What is the capital of France?")
    assert answer.refusal == "no_relevant_info"
    for kept in (stored(ports, answer), logged(answer, caplog)):
        misses = kept["near_misses"]
        assert isinstance(misses, list)
        assert [name for name, _ in misses] == ["doc1#g1#0", "doc2#g1#0"]
        assert misses[0][1] == kept["relevance"] == pytest.approx(answer.relevance, abs=1e-4)
        assert kept["threshold"] == answer.threshold > answer.relevance
        assert kept["refusal"] == "no_relevant_info"
        assert "garden" not in str(kept["near_misses"])


def test_a_refusal_of_the_model_names_the_sources_it_was_shown(caplog: pytest.LogCaptureFixture):
    ports = query_ports([match(TEXT), match("It is descaled in room 4.", n=2, score=0.7)], chat=FakeChat(DOES_NOT_KNOW))
    answer = ask(ports)
    assert answer.refusal == "model_does_not_know"
    for kept in (stored(ports, answer), logged(answer, caplog)):
        misses = kept["near_misses"]
        assert isinstance(misses, list)
        assert {name for name, _ in misses} == {"doc1#g1#0", "doc2#g1#0"}
        assert misses[0][1] == max(score for _, score in misses) >= answer.threshold


def test_an_answer_has_no_near_misses():
    assert facts_of(ask(query_ports([match(TEXT)])))["near_misses"] == []


class LongConversations(FakeConversations):
    """One conversation that is long enough to be summed up."""

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation:
        return Conversation(conversation_id, "Boilers", "", "", 40)

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        self.summary = summary


@pytest.mark.parametrize(("text", "warnings"), [("They ask about boilers.", ()), ("", ("summary_unusable",))])
def test_the_usage_of_a_summary_is_part_of_the_answers(text: str, warnings: tuple[str, ...]):
    conversations = LongConversations()
    said = [Message(f"{n:026d}", "user", "What does the boiler hold?", "") for n in range(40)]
    conversations.turns[WHO.tenant, WHO.user, "c1"] = said
    ports = replace(query_ports([match(TEXT)], chat=FakeChat(KNOWS)), conversations=conversations)
    settings = ports.settings.model_copy(update={"query_mode": "question", "rewrite_model": ""})
    without = ask(ports, conversation_id="c1")
    answer = ask(replace(ports, settings=settings, rewriter=FakeChat(text)), conversation_id="c1")
    assert answer.usage.output_tokens >= without.usage.output_tokens + 5
    assert tuple(each for each in answer.warnings if each.startswith("summary")) == warnings
