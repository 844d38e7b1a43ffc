"""Random readers, questions and changes of rules against a model of who may read what (`python -m tests.access`)."""

from dataclasses import replace
from pathlib import Path

import pytest

from functions.query import withholding
from functions.query.answer import Question
from functions.query.pipeline import answer_question
from shared.deadline import Deadline
from tests.access.light import LightWorld, changed, seen_by, take_light
from tests.access.world import USERS, changing_world, question_of, take
from tests.support.clock import FakeClock


def test_nobody_is_shown_what_they_may_not_read_whatever_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(withholding, "CHECK_EVERY_S", 0.0)
    done = take_light(LightWorld(seed=1), 400)
    # It all happened, so it could have leaked.
    for what in ("shown", "mode:service", "suggestions", "withheld", "receipt", "streams ended", "opened"):
        assert done[what], what


def test_a_leak_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.query.readable.may_read", lambda *_: True)
    with pytest.raises(AssertionError):
        take_light(LightWorld(seed=1), 200)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_one_may_not_read_leaves_no_sign_that_it_exists(seed: int) -> None:
    """Counts, scores, cursors, corrections, near misses: all is as if it had never been uploaded."""
    world = LightWorld(seed)
    for _ in range(15):
        changed(world)
    questions = [question_of(world) for _ in range(12)]
    readers = [user for user in USERS if world.forbidden(user)][:3]
    assert len(readers) == 3
    for user in readers:
        own = [paper for paper in world.papers if world.may_read(user, paper)]
        for one, other in zip(
            *(seen_by(world.anew(each), user, questions) for each in (world.papers, own)), strict=True
        ):
            assert one == other


def test_nor_is_one_that_is_gone_named_by_what_the_index_still_holds_of_it() -> None:
    world, question = LightWorld(1), "What is the colour of the ferry door?"
    gone = world.papers.pop()
    for user, are_named in ((USERS[0], False), (USERS[-1], True)):
        ports = replace(world.ports, registry=world.registry_of(user))
        answer = answer_question(Question(question, explain=True), user.principal, ports, Deadline(FakeClock(), 30))
        assert answer.explanation is not None
        assert (f"{gone.document_id}#g1#0" in answer.explanation.unpublished) is are_named


def test_nor_through_the_whole_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with changing_world(monkeypatch, tmp_path, seed=3) as world:
        take(world, 30)
        assert any(world.done[f"mode:{mode}"] for mode in ("generated", "extractive"))
