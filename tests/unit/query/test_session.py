"""A request for the whole session: what is searched for, and what the model is shown."""

from functions.query.answer import Question
from functions.query.pipeline import answer_question
from shared.deadline import Deadline
from shared.models import Message
from shared.settings import Settings
from tests.support.query import WHO, FakeChat, FakeConversations, FakeEmbedder, match, query_ports

SETTINGS = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, history_messages=4)
ASKED = [f"What does the handbook say about topic {word}?" for word in ("alder", "birch", "cedar", "maple", "willow")]


def test_all_questions_are_searched_for_but_only_the_last_messages_are_shown():
    chat = FakeChat("The boiler holds 1.8 litres of water [1]")
    ports = query_ports([match("The boiler holds 1.8 litres of water.")], chat=chat, settings=SETTINGS)
    assert isinstance(ports.conversations, FakeConversations)
    assert isinstance(ports.embedder, FakeEmbedder)
    ports.conversations.turns[WHO.tenant, WHO.user, "c1"] = [
        Message(f"{n}", "user" if n % 2 == 0 else "assistant", text, "")
        for n, text in enumerate(part for question in ASKED for part in (question, "It says this and that."))
    ]
    question = "How much water does the boiler hold?"
    answer = answer_question(
        Question(question, conversation_id="c1", mode="session"), WHO, ports, Deadline(ports.clock, 26)
    )
    assert answer.rewritten == ""
    assert " ".join([*ASKED, question]) in ports.embedder.asked
    shown = " ".join(message.content for message in chat.prompts[-1])
    assert "maple" in shown
    assert "willow" in shown
    assert "cedar" not in shown


def test_the_setting_decides_where_the_request_does_not_say():
    ports = query_ports([match("x")], settings=Settings(**{**SETTINGS.model_dump(), "query_mode": "session"}))
    assert isinstance(ports.conversations, FakeConversations)
    ports.conversations.turns[WHO.tenant, WHO.user, "c1"] = [Message("1", "user", ASKED[0], "")]
    assert isinstance(ports.embedder, FakeEmbedder)
    for mode, session in ((None, True), ("question", False)):
        ports.embedder.asked.clear()
        ports.conversations.turns[WHO.tenant, WHO.user, "c1"] = [Message("1", "user", ASKED[0], "")]
        answer_question(
            Question(f"{mode} {ASKED[1]}", conversation_id="c1", mode=mode), WHO, ports, Deadline(ports.clock, 26)
        )
        assert (f"{ASKED[0]} {mode} {ASKED[1]}" in ports.embedder.asked) is session
