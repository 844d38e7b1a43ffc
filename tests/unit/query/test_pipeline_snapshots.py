"""What the pipeline answers to hundreds of questions about the made passages, without a model, and how it got there.

The questions are in `tests/unit/query/made/questions.txt`. `make snapshots` stores what comes out now.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Condition
from typing import Any

import pytest

from functions.query.answer import Answer, Question, facts_of
from functions.query.explaining import Explanation
from functions.query.pipeline import answer_question
from functions.query.ports import QueryPorts
from shared.deadline import Deadline
from shared.models import Citation, Match
from tests.support.clock import FakeClock
from tests.support.made_library import Asked, conversations, made_ports, questions, told
from tests.support.query import WHO, FakeSearch
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots" / "answers"
MANY = 15
"""Questions under a heading from which on only every second is asked here: each is in the snapshots of writing."""
SETTINGS: dict[str, dict[str, Any]] = {
    "strict": {"grounding": "strict"},
    "relaxed": {"score_threshold": 0.62, "relaxed_threshold": 0.3},
    "few": {"top_k": 2, "query_variations": 0, "default_language": "de"},
    "beside": {"neighbours": 1, "diversity": 0.4, "suggestions": 3, "context_budget_tokens": 300},
}


@pytest.mark.parametrize("heading", questions())
def test_the_answers_to_made_questions_are_the_stored_ones(heading: str) -> None:
    ports = made_ports()
    listed = questions()[heading]
    lines = [line for asked in listed[:: 2 if len(listed) > MANY else 1] for line in _of(asked, ports)]
    check(HERE / f"{_name(heading)}.txt", "\n".join(lines))


@pytest.mark.parametrize("named", SETTINGS)
def test_the_answers_under_other_settings_are_the_stored_ones(named: str) -> None:
    ports = made_ports(**SETTINGS[named])
    every = [asked for listed in questions().values() for asked in listed]
    first = list(SETTINGS).index(named)
    lines = [line for asked in every[first :: 4 * len(SETTINGS)] for line in _of(asked, ports)]
    check(HERE / f"setting-{named}.txt", "\n".join(lines))


def test_the_answers_to_follow_ups_are_the_stored_ones() -> None:
    ports = made_ports()
    lines = []
    for number, (history, question) in enumerate(conversations()):
        lines += [f"{each.role}: {each.content}" for each in history]
        lines += _of(Asked(question), ports, history=history, mode="session" if number % 4 == 3 else None)
    check(HERE / "follow-ups.txt", "\n".join(lines))


COMPARISON = Asked("Compare Norvane and Brightwater.")
SEARCHES = 6
"""Searches for a comparison of two: for the whole and for each part, one by meaning and one by both."""


@pytest.mark.parametrize("last", range(SEARCHES))
def test_an_answer_does_not_depend_on_which_of_its_searches_ends_last(
    last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name_of(asked: dict[str, Any]) -> tuple[Sequence[float], bool]:
        return asked["vector"], asked["sparse"] is not None

    search, names, ended, changed = FakeSearch.query, [], 0, Condition()

    def recorded(self: FakeSearch, **asked: Any) -> Sequence[Match]:
        names.append(name_of(asked))
        return search(self, **asked)

    def ordered(self: FakeSearch, **asked: Any) -> Sequence[Match]:
        nonlocal ended
        with changed:
            if name_of(asked) == sorted(names)[last]:
                assert changed.wait_for(lambda: ended == SEARCHES - 1, timeout=30)
            found = search(self, **asked)
            ended += 1
            changed.notify_all()
        return found

    monkeypatch.setattr(FakeSearch, "query", recorded)
    expected = [*_of(COMPARISON, made_ports())]
    assert len(names) == SEARCHES
    monkeypatch.setattr(FakeSearch, "query", ordered)
    assert [*_of(COMPARISON, made_ports())] == expected


def test_each_stored_text_has_its_questions() -> None:
    check_names(HERE, [*map(_name, questions()), *(f"setting-{each}" for each in SETTINGS), "follow-ups"])


def _name(heading: str) -> str:
    return heading.replace(" ", "-").replace(",", "")


def _of(asked: Asked, ports: QueryPorts, **more: Any) -> Iterator[str]:
    question = Question(asked.text, language=asked.language, explain=True, is_saved=False, **more)
    answer = answer_question(question, WHO, ports, Deadline(FakeClock(), 60))
    yield f"? {asked.text}" + (f" ({asked.language})" if asked.language else "")
    yield from (f"    {line}" for line in _told(answer))
    yield ""


def _told(answer: Answer) -> Iterator[str]:
    yield f"answer: {answer.text}".replace("\n", "⏎")
    about = facts_of(answer) | {
        "rewritten": answer.rewritten,
        "language": answer.language,
        "warnings": list(answer.warnings),
        "bands": [answer.band.value, *(each.value for each in answer.bands)],
        "confidence": answer.confidence,
        "found_by": dict(answer.found_by),
        "named": list(answer.named),
        "suggestions": list(answer.suggestions),
    }
    silent = {
        "no_relevant_info",
        "model",
        "prompt_version",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "found_by",
        "threshold",
    }
    kept = {name: value for name, value in about.items() if name not in silent or (name == "found_by" and value)}
    yield "; ".join(
        f"{name}: {told(value)}".replace("\n", " ")
        for name, value in kept.items()
        if value not in ("", [], None, False)
    )
    if len({claim.verdict for claim in answer.claims}) > 1 or any(claim.derived for claim in answer.claims):
        yield "claims: " + "; ".join(f"{each.verdict} {list(each.citations)} {each.derived}" for each in answer.claims)
    yield from map(_cited, answer.citations)
    if answer.explanation is not None:
        yield from _ranking(answer.explanation)


def _cited(citation: Citation) -> str:
    place = f"[{citation.n}] {citation.document_id} p. {citation.page_start} {citation.char_start}-{citation.char_end}"
    return f"{place} > {citation.section}; {told(citation.score)}"


def _ranking(explanation: Explanation) -> Iterator[str]:
    yield f"searched: {explanation.searched}; decision: {told(explanation.decision.score)}" + (
        f"; absent: {', '.join(explanation.decision.absent)}" if explanation.decision.absent else ""
    )
    for each in explanation.passages[:2]:
        parts = ", ".join(f"{name} {value:.3f}" for name, value in each.parts.items() if abs(value) >= 0.0005)
        yield (
            f"{each.rank}. {told(each.passage)} {each.score:.3f} = {parts}; "
            f"relevance {told(each.relevance)}, coverage {told(each.coverage)}"
        )
