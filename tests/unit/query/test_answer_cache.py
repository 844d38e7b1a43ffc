"""The answer cache: the same question about the same documents is answered from it, and no other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from functions.query.answer import Answer, Question
from functions.query.pipeline import answer_question
from functions.query.ports import QueryPorts
from shared.deadline import Deadline
from shared.errors import DependencyRefused, DependencyUnavailable
from shared.models import EmbeddingSpace, IndexVersion, Match, Principal
from shared.ports import TenantKnowledge
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.query import SPACE, WHO, FakeChat, FakeEmbedder, FakeRegistry, FakeSearch, match, query_ports

TEXT = "The boiler holds 1.8 litres of water. It must be descaled every 90 days. Spare parts are in room 12."
QUESTION = "How often must the boiler be descaled?"


class Answers:
    """An answer cache in a dict that keeps to the clock."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.held: dict[str, tuple[bytes, float]] = {}

    def get(self, key: str) -> bytes | None:
        data, until = self.held.get(key, (None, 0.0))
        return data if until > self.clock.monotonic() else None

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        self.held[key] = data, self.clock.monotonic() + ttl_s


class Knowledge:
    """A version that tests count up; None is a registry that is down."""

    def __init__(self) -> None:
        self.current: int | None = 1

    def knowledge(self, tenant: str) -> TenantKnowledge:
        if self.current is None:
            raise DependencyUnavailable("registry")
        return TenantKnowledge(f"{tenant}.{self.current}")


def cached_ports(matches: Sequence[Match] | None = None, chat: FakeChat | None = None, **settings: Any) -> QueryPorts:
    ports = query_ports(
        matches if matches is not None else [match(TEXT)],
        chat=chat,
        settings=Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, **settings),
        generations={"doc1": "g1"},
    )
    assert isinstance(ports.clock, FakeClock)
    return replace(ports, answers=Answers(ports.clock), knowledge=Knowledge())


def ask(ports: QueryPorts, text: str = QUESTION, who: Principal = WHO, **more: Any) -> Answer:
    return answer_question(Question(text, **more), who, ports, Deadline(ports.clock, 26))


def knowledge(ports: QueryPorts) -> Knowledge:
    assert isinstance(ports.knowledge, Knowledge)
    return ports.knowledge


def searches(ports: QueryPorts) -> int:
    assert isinstance(ports.search, FakeSearch)
    return len(ports.search.calls)


def test_the_same_question_is_answered_once():
    ports = cached_ports()
    first, second = ask(ports), ask(ports, f"  {QUESTION} ")
    assert (first.cached, second.cached) == (False, True)
    assert (second.text, second.citations, second.support) == (first.text, first.citations, first.support)
    assert second.claims == first.claims != ()
    assert (second.bands, second.band, second.confidence) == (first.bands, first.band, first.confidence)
    assert [source.chunk_id for source in second.sources] == [source.chunk_id for source in first.sources]
    assert second.message_id != first.message_id
    assert second.usage.input_tokens == 0
    assert searches(ports) == 2  # both arms, once
    assert isinstance(ports.embedder, FakeEmbedder)
    assert len(ports.embedder.asked) == 1


def test_the_model_is_called_once():
    chat = FakeChat("It must be descaled every 90 days [1].")
    ports = cached_ports(chat=chat)
    assert ask(ports).text == ask(ports).text
    assert len(chat.prompts) == 1


def test_a_refusal_is_cached_too():
    ports = cached_ports([])
    assert ask(ports).no_relevant_info
    again = ask(ports)
    assert again.cached
    assert again.mode == "refused"
    assert again.handoff_offered


def test_both_turns_of_a_cached_answer_are_saved():
    ports = cached_ports()
    ask(ports)
    conversation = ask(ports).conversation_id
    recent = ports.conversations.recent_messages(WHO.tenant, WHO.user, conversation, limit=5)
    assert [turn.role for turn in recent] == ["user", "assistant"]
    assert recent[1].citations


@pytest.mark.parametrize(
    "more",
    [
        {"text": "How often must the boiler be cleaned?"},
        {"top_k": 3},
        {"filter": {"language": "en"}},
        {"language": "lt"},
        {"preferences": {"tone": "friendly"}},
        {"who": Principal("other", "user-1")},
    ],
)
def test_another_question_another_answer(more: dict[str, Any]):
    ports = cached_ports()
    ask(ports)
    assert not ask(ports, **more).cached


def test_users_of_one_tenant_share_it_other_tenants_do_not():
    ports = cached_ports()
    ask(ports)
    assert ask(ports, who=Principal("acme", "user-2")).cached
    assert not ask(ports, who=Principal("acm", "user-1")).cached


def test_other_settings_or_another_index_version_do_not_share():
    ports = cached_ports()
    ask(ports)
    warmer = replace(ports, settings=ports.settings.model_copy(update={"temperature": 1.0}))
    assert not ask(warmer).cached
    elsewhere = replace(
        ports, index_version=IndexVersion(2, "acme@2", "recto", EmbeddingSpace(SPACE.model, SPACE.dimensions))
    )
    assert not ask(elsewhere).cached


def test_another_prompt_does_not_share(monkeypatch: pytest.MonkeyPatch):
    ports = cached_ports()
    ask(ports)
    assert ask(ports).cached
    monkeypatch.setattr("functions.query.answer_cache.PROMPT_VERSION", "another")
    assert not ask(ports).cached


def test_a_change_of_any_document_invalidates_it():
    ports = cached_ports()
    ask(ports)
    knowledge(ports).current = 2
    assert not ask(ports).cached
    assert ask(ports).cached


def test_it_expires():
    ports = cached_ports(answer_cache_ttl_s=60)
    ask(ports)
    assert isinstance(ports.clock, FakeClock)
    ports.clock.advance(59)
    assert ask(ports).cached
    ports.clock.advance(2)
    assert not ask(ports).cached


@pytest.mark.parametrize("published", [{}, {"doc1": "g2"}])
def test_what_is_not_published_any_more_is_not_given_again_even_if_the_version_missed_it(published: dict[str, str]):
    ports = cached_ports()
    ask(ports)
    answer = ask(replace(ports, registry=FakeRegistry(published)))
    assert not answer.cached
    assert answer.no_relevant_info


def test_a_ttl_of_zero_switches_the_cache_off():
    ports = cached_ports(answer_cache_ttl_s=0)
    ask(ports)
    assert not ask(ports).cached
    assert isinstance(ports.answers, Answers)
    assert not ports.answers.held


def test_an_answer_within_a_conversation_is_not_cached():
    ports = cached_ports()
    first = ask(ports, "Where are spare parts of the boiler?")
    followed = ask(ports, conversation_id=first.conversation_id)
    assert not followed.cached
    assert not ask(ports).cached


def test_a_follow_up_that_stands_alone_may_get_a_cached_answer():
    ports = cached_ports()
    ask(ports)
    first = ask(ports, "Where are spare parts of the boiler?")
    assert ask(ports, conversation_id=first.conversation_id).cached


def test_an_answer_for_which_something_failed_is_not_cached():
    ports = cached_ports(chat=FakeChat(error=DependencyUnavailable("chat")))
    assert "model_unavailable" in ask(ports).warnings
    assert not ask(ports).cached


def test_how_it_was_decided_is_cached_with_the_answer():
    ports = cached_ports(score_threshold=0.99, relaxed_threshold=0.01)
    first = ask(ports)
    searched = searches(ports)
    again = ask(ports)
    assert list(first.warnings) == list(again.warnings) == ["threshold_relaxed"]
    assert (first.cached, again.cached, again.text) == (False, True, first.text)
    assert searches(ports) == searched


def test_a_version_that_cannot_be_read_means_no_cache():
    ports = cached_ports()
    ask(ports)
    knowledge(ports).current = None
    assert not ask(ports).cached


def test_damaged_data_in_the_cache_is_a_miss():
    ports = cached_ports()
    ask(ports)
    assert isinstance(ports.answers, Answers)
    for damaged in (b"", b"nonsense", b"x\x9c"):
        ports.answers.held = {key: (damaged, until) for key, (_, until) in ports.answers.held.items()}
        assert not ask(ports).cached


def test_while_the_index_is_down_an_old_answer_is_better_than_none():
    ports = cached_ports(answer_cache_ttl_s=60)
    first = ask(ports)
    down = DependencyUnavailable("vectors")
    broken = replace(ports, search=FakeSearch([], dense=down, hybrid=down))
    knowledge(ports).current = 2
    again = ask(broken)
    assert (again.text, again.cached) == (first.text, True)
    assert list(again.warnings) == ["search_unavailable"]
    with pytest.raises(DependencyUnavailable):
        ask(replace(broken, registry=FakeRegistry({"doc1": "g2"})))
    with pytest.raises(DependencyUnavailable):
        ask(broken, "Another question about the boiler?")
    assert isinstance(ports.clock, FakeClock)
    ports.clock.advance(3_601)
    with pytest.raises(DependencyUnavailable):
        ask(broken)


def test_a_registry_that_is_down_is_an_error_despite_the_cache():
    class Down(FakeRegistry):
        def published_generations(
            self, tenant: str, document_ids: Sequence[str], *, index_version: int = 1
        ) -> dict[str, str]:
            raise DependencyRefused("registry")

    ports = cached_ports()
    ask(ports)
    with pytest.raises(DependencyRefused):
        ask(replace(ports, registry=Down()))
