"""The query pipeline: what is answered, what is refused, and what happens when a part is down."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from functions.query.answer import Answer, Question
from functions.query.history import read_history
from functions.query.pipeline import answer_question
from functions.query.ports import QueryPorts
from functions.query.writing.localization import texts_for
from shared.deadline import Deadline
from shared.errors import DependencyTimeout, DependencyUnavailable, NotFound
from shared.models import Message, Principal
from shared.settings import Settings
from tests.support.query import WHO, FakeChat, FakeConversations, FakeEmbedder, FakeSearch, match, query_ports

TEXT = "The boiler holds 1.8 litres of water. It must be descaled every 90 days. Spare parts are in room 12."

SESSION_SETTINGS = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, history_messages=4)
TOPICS = ("alder", "birch", "cedar", "maple", "willow")
EARLIER = [f"What does the handbook say about topic {word}?" for word in TOPICS]


def ask(ports: QueryPorts, text: str = "How often must it be descaled?", **more: str) -> Answer:
    return answer_question(Question(text, **more), WHO, ports, Deadline(ports.clock, 26))


def test_an_answer_is_extracted_word_for_word_when_no_model_is_configured():
    answer = ask(query_ports([match(TEXT)]))
    assert answer.mode == "extractive"
    assert answer.text == "The boiler holds 1.8 litres of water. [1] It must be descaled every 90 days. [1]"
    assert answer.citations[0].quote == "The boiler holds 1.8 litres of water. It must be descaled every 90 days."
    assert (answer.citations[0].char_start, answer.citations[0].char_end) == (100, 100 + TEXT.index(" Spare"))


def test_a_model_is_shown_the_sources_and_its_markers_become_citations():
    chat = FakeChat("Descaling is due every 90 days [1].")
    answer = ask(query_ports([match(TEXT)], chat=chat))
    assert answer.mode == "generated"
    assert answer.text == "Descaling is due every 90 days. [1]"
    assert answer.citations[0].quote in TEXT
    assert TEXT in chat.prompts[0][-1].content
    assert answer.usage.output_tokens == 5


def test_under_the_threshold_it_refuses_and_asks_no_model():
    chat = FakeChat("Paris [1].")
    answer = ask(query_ports([match(TEXT, score=0.2)], chat=chat), "What is the capital of France?")
    assert answer.no_relevant_info
    assert answer.mode == "refused"
    assert not answer.citations
    assert not answer.sources
    assert not chat.prompts


def test_a_refusal_is_in_the_requests_language():
    assert "Dokumentuose" in ask(query_ports(), language="lt").text
    assert "could not find" in ask(query_ports(), language="sw").text


@pytest.mark.parametrize("published", [{}, {"doc1": "g2"}, {"doc1": ""}])
def test_what_is_not_published_is_never_answered_from(published: dict[str, str]):
    answer = ask(query_ports([match(TEXT)], generations=published))
    assert answer.no_relevant_info


def test_stale_hits_do_not_crowd_out_published_ones():
    stale = [match(f"old {n}", n=n, generation="g0", score=0.9) for n in range(2, 140)]
    answer = ask(query_ports([*stale, match(TEXT, score=0.7)]))
    assert [source.document_id for source in answer.sources] == ["doc1"]


def test_the_same_text_in_two_documents_is_one_source():
    answer = ask(query_ports([match(TEXT, n=1), match(TEXT, n=2)]))
    assert len(answer.sources) == 1


@pytest.mark.parametrize("error", [DependencyTimeout("chat"), DependencyUnavailable("chat")])
def test_a_model_that_fails_is_replaced_by_extraction(error: Exception):
    answer = ask(query_ports([match(TEXT)], chat=FakeChat(error=error)))
    assert answer.mode == "extractive"
    assert "model_unavailable" in answer.warnings
    assert answer.citations


def test_an_answer_without_citations_is_replaced_by_extraction():
    answer = ask(query_ports([match(TEXT)], chat=FakeChat("The capital of France is Paris.")))
    assert answer.mode == "extractive"
    assert "answer_not_supported" in answer.warnings
    assert "Paris" not in answer.text


def test_invented_source_numbers_are_dropped():
    answer = ask(query_ports([match(TEXT)], chat=FakeChat("It must be descaled every 90 days [1][7].")))
    assert answer.text == "It must be descaled every 90 days. [1]"
    assert answer.dropped_citations == 1


def test_a_model_that_does_not_know_is_a_refusal():
    answer = ask(query_ports([match(TEXT)], chat=FakeChat("I don't have that information in the sources.")))
    assert answer.no_relevant_info
    assert answer.mode == "generated"


def test_a_cut_answer_says_so():
    answer = ask(query_ports([match(TEXT)], chat=FakeChat("It is 1.8 litres of water [1]", finish_reason="length")))
    assert "answer_cut_short" in answer.warnings


def test_both_turns_are_saved_in_order_and_a_follow_up_sees_them():
    ports = query_ports([match(TEXT)])
    first = ask(ports, "How much water does the boiler hold?")
    ask(ports, "How often must it be descaled?", conversation_id=first.conversation_id)
    assert isinstance(ports.conversations, FakeConversations)
    turns = ports.conversations.turns[WHO.tenant, WHO.user, first.conversation_id]
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert sorted(turns, key=lambda turn: turn.message_id) == turns
    assert isinstance(ports.embedder, FakeEmbedder)
    # What "it" is comes from the conversation; the question as typed may be embedded besides.
    assert any("descaled" in text and "boiler" in text for text in ports.embedder.asked)


def test_a_follow_up_sees_what_was_answered_without_marks_and_notes():
    chat = FakeChat("It must be descaled every 90 days [1].")
    ports = query_ports([match(TEXT)], chat=chat)
    conversation = ask(ports).conversation_id
    assert isinstance(ports.conversations, FakeConversations)
    turns = ports.conversations.turns[WHO.tenant, WHO.user, conversation]
    told = f"It is old. [1] (unconfirmed)\n\n{texts_for('en').left_out}"
    turns[-1] = replace(turns[-1], content=told)
    ask(ports, "How much water does the boiler hold?", conversation_id=conversation)
    earlier = [message.content for message in chat.prompts[-1] if message.role == "assistant"]
    assert earlier == ["It is old. (1)"]


def test_another_users_conversation_is_not_found():
    ports = query_ports([match(TEXT)])
    first = ask(ports)
    for stranger in (Principal("acme", "user-2"), Principal("other", "user-1")):
        with pytest.raises(NotFound):
            answer_question(Question("And?", first.conversation_id), stranger, ports, Deadline(ports.clock, 26))


def test_a_history_that_is_down_costs_a_warning_not_the_answer():
    ports = query_ports([match(TEXT)])
    first = ask(ports)
    assert isinstance(ports.conversations, FakeConversations)
    ports.conversations.read_error = DependencyUnavailable("conversations")
    ports.conversations.write_error = DependencyUnavailable("conversations")
    answer = ask(ports, conversation_id=first.conversation_id)
    assert answer.citations
    assert list(answer.warnings) == ["history_unavailable", "not_saved"]


def test_the_same_question_is_embedded_once():
    ports = query_ports([match(TEXT)])
    assert not ask(ports, "How  often?\u200b").embedding_cached
    assert ask(ports, "How often?").embedding_cached
    assert isinstance(ports.embedder, FakeEmbedder)
    assert ports.embedder.asked == ["How often?"]


def test_the_tenant_is_the_namespace_and_the_filter_goes_into_the_search():
    ports = query_ports([match(TEXT)])
    answer_question(
        Question("How must it be descaled?", filter={"language": "en"}), WHO, ports, Deadline(ports.clock, 26)
    )
    assert isinstance(ports.search, FakeSearch)
    assert ports.search.calls[0]["namespace"] == "acme"
    assert ports.search.calls[0]["filter"] == {"language": "en"}


def test_without_an_index_there_is_an_error_not_an_answer():
    down = DependencyUnavailable("vectors")
    ports = replace(query_ports(), search=FakeSearch([match(TEXT)], dense=down, hybrid=down))
    with pytest.raises(DependencyUnavailable):
        ask(ports)


@pytest.mark.parametrize("arm", ["dense", "hybrid"])
def test_either_search_may_fail_alone(arm: str):
    ports = replace(query_ports(), search=FakeSearch([match(TEXT)], **{arm: DependencyUnavailable("vectors")}))
    answer = ask(ports, "How often must it be descaled in days?")
    assert "90 days" in answer.text
    assert f"{arm}_search_unavailable" in answer.warnings
    assert answer.best_score == pytest.approx(0.8)


@pytest.mark.parametrize(("language", "says"), [("en", "ask again in a moment"), ("lt", "paklauskite dar kartą")])
def test_a_refusal_without_embeddings_says_that_the_search_was_incomplete(language: str, says: str):
    ports = replace(query_ports([match(TEXT)]), embedder=FakeEmbedder(DependencyUnavailable("embeddings")))
    answer = ask(ports, "Who won the chess championship?", language=language)
    assert answer.no_relevant_info
    assert says in answer.text
    assert list(answer.warnings) == ["embeddings_unavailable"]
    complete = ask(query_ports(), "Who won the chess championship?", language=language)
    assert complete.no_relevant_info
    assert says not in complete.text


def test_without_embeddings_the_decision_is_lexical():
    ports = replace(query_ports([match(TEXT)]), embedder=FakeEmbedder(DependencyUnavailable("embeddings")))
    answer = ask(ports, "How often must the boiler be descaled?")
    assert "90 days" in answer.text
    assert list(answer.warnings) == ["embeddings_unavailable"]
    assert answer.best_score is None
    assert ask(ports, "Who won the football world cup?").no_relevant_info


def test_with_no_time_left_nothing_is_called():
    ports = query_ports([match(TEXT)])
    with pytest.raises(DependencyTimeout):
        answer_question(Question("How must it be descaled?"), WHO, ports, Deadline(ports.clock, 0.5))
    assert isinstance(ports.embedder, FakeEmbedder)
    assert not ports.embedder.asked


def test_in_session_mode_all_questions_are_searched_for_but_only_the_last_messages_are_shown():
    chat = FakeChat("The boiler holds 1.8 litres of water [1]")
    ports = query_ports([match("The boiler holds 1.8 litres of water.")], chat=chat, settings=SESSION_SETTINGS)
    assert isinstance(ports.conversations, FakeConversations)
    assert isinstance(ports.embedder, FakeEmbedder)
    ports.conversations.turns[WHO.tenant, WHO.user, "c1"] = [
        Message(f"{n}", "user" if n % 2 == 0 else "assistant", text, "")
        for n, text in enumerate(part for question in EARLIER for part in (question, "It says this and that."))
    ]
    question = "How much water does the boiler hold?"
    answer = answer_question(
        Question(question, conversation_id="c1", mode="session"), WHO, ports, Deadline(ports.clock, 26)
    )
    assert answer.rewritten == ""
    assert " ".join([*EARLIER, question]) in ports.embedder.asked
    shown = " ".join(message.content for message in chat.prompts[-1])
    assert "maple" in shown
    assert "willow" in shown
    assert "cedar" not in shown


def test_the_setting_decides_the_mode_where_the_request_does_not_say():
    ports = query_ports([match("x")], settings=Settings(**{**SESSION_SETTINGS.model_dump(), "query_mode": "session"}))
    assert isinstance(ports.conversations, FakeConversations)
    ports.conversations.turns[WHO.tenant, WHO.user, "c1"] = [Message("1", "user", EARLIER[0], "")]
    assert isinstance(ports.embedder, FakeEmbedder)
    for mode, session in ((None, True), ("question", False)):
        ports.embedder.asked.clear()
        ports.conversations.turns[WHO.tenant, WHO.user, "c1"] = [Message("1", "user", EARLIER[0], "")]
        answer_question(
            Question(f"{mode} {EARLIER[1]}", conversation_id="c1", mode=mode),
            WHO,
            ports,
            Deadline(ports.clock, 26),
        )
        assert (f"{EARLIER[0]} {mode} {EARLIER[1]}" in ports.embedder.asked) is session


def test_a_history_that_the_client_sends_is_used_and_nothing_is_stored():
    ports = query_ports([match(TEXT)], chat=FakeChat("Descaling is due every 90 days [1]."))
    history = (
        Message("", "user", "What is the Brunata Duo?", ""),
        Message("", "assistant", "An espresso machine. (unconfirmed)", ""),
    )
    question = Question("How often must it be descaled?", history=history, is_saved=False)
    answer = answer_question(question, WHO, ports, Deadline(ports.clock, 26))
    assert isinstance(ports.chat, FakeChat)
    assert isinstance(ports.conversations, FakeConversations)
    assert [message.content for message in ports.chat.prompts[-1][1:3]] == [
        "What is the Brunata Duo?",
        "An espresso machine.",
    ]
    assert "Brunata" in answer.rewritten
    assert (answer.conversation_id, ports.conversations.turns) == ("", {})
    assert answer.message_id


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("And at Easter?", "At Easter the ferry runs from 9 to 12."),
        ("And on Sundays?", "On Sundays the ferry runs from 8 to 20."),
    ],
)
def test_without_a_model_a_follow_up_is_answered_by_its_own_word(question: str, told: str):
    text = "On Sundays the ferry runs from 8 to 20.\n\nAt Easter the ferry runs from 9 to 12."
    before = "When does the ferry run at Easter?" if "Sundays" in question else "When does the ferry run on Sundays?"
    history = (Message("", "user", before, ""), Message("", "assistant", "It runs [1].", ""))
    ports = query_ports([match(text, score=0.9)])
    answer = answer_question(Question(question, history=history, is_saved=False), WHO, ports, Deadline(ports.clock, 26))
    assert answer.text.startswith(told)


@pytest.mark.parametrize(("turns", "has_rewriter", "is_read"), [(0, True, False), (4, True, True), (4, False, False)])
def test_the_head_of_a_conversation_is_read_where_it_may_have_a_summary(
    turns: int, has_rewriter: bool, is_read: bool
) -> None:
    settings = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, summary_every_turns=turns)
    stored = Mock(recent_messages=Mock(return_value=[]))
    ports = replace(query_ports(settings=settings), conversations=stored, rewriter=FakeChat() if has_rewriter else None)
    read_history(Question("And?", "c1"), WHO, ports)
    assert stored.get.called is is_read
