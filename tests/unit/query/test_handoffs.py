"""The life of a hand-off: every order of every agent's actions; the event's size."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.query import handoffs
from functions.query.handoffs import MAX_DETAIL_BYTES, NearPassage, detail_of, question_of
from shared.errors import Conflict
from shared.models import Handoff, Message

NEW = Handoff("acme", "1" * 26, "2" * 26, "ann", "2026-11-23T10:00:00.000+00:00", "2026-11-23T10:00:00.000+00:00")
AGENTS = ("bea", "cem")
ACTIONS = st.tuples(
    st.sampled_from(["claim", "release", "resolve", "close", "published"]),
    st.sampled_from(AGENTS),
    st.booleans(),  # an administrator; with `resolve`: to be published
    st.sampled_from(["Noon.", "Midnight."]),
)


def act(handoff: Handoff, action: str, agent: str, flag: bool, answer: str) -> Handoff:
    match action:
        case "claim":
            return handoffs.claim(handoff, agent)
        case "release":
            return handoffs.release(handoff, agent, is_admin=flag)
        case "resolve":
            return handoffs.resolve(handoff, agent, answer, publish=flag)
        case "close":
            return handoffs.close(handoff, agent, is_admin=flag)
        case _:
            return handoffs.published(handoff)


FOLLOWS = {
    "open": {"open", "claimed", "closed"},
    "claimed": {"claimed", "open", "resolved", "closed"},
    "resolved": {"resolved"},
    "closed": {"closed"},
}


@settings(max_examples=300, deadline=None)
@given(st.lists(ACTIONS, max_size=12))
def test_in_any_order_of_actions_a_hand_off_stays_sound(actions: list[tuple[str, str, bool, str]]) -> None:
    handoff = NEW
    for action in actions:
        try:
            after = act(handoff, *action)
        except Conflict:
            continue
        name, agent, _, _ = action
        assert after.status in FOLLOWS[handoff.status]
        assert (after.claimed_by == "") == (after.status == "open") or after.status == "closed"
        assert bool(after.answer) == (after.status == "resolved")
        assert not after.publication or after.status == "resolved"
        assert handoff.publication != "published" or after.publication == "published"
        if after.claimed_by != handoff.claimed_by:
            assert name in {"claim", "release"}
        if after.status == "resolved" != handoff.status:
            assert (name, agent) == ("resolve", handoff.claimed_by), "only the agent who has it answers it"
        if handoff.status == "resolved":
            assert after.answer == handoff.answer, "an answer that was given stays"
        # The same again, as after a lost response, gives the same.
        assert act(after, *action) == after
        assert replace(after, status=NEW.status, claimed_by="", answer="", publication="") == NEW
        handoff = after


def test_two_agents_do_not_both_get_it() -> None:
    mine = handoffs.claim(NEW, "bea")
    with pytest.raises(Conflict):
        handoffs.claim(mine, "cem")
    with pytest.raises(Conflict):
        handoffs.release(mine, "cem", is_admin=False)
    with pytest.raises(Conflict):
        handoffs.resolve(mine, "cem", "Noon.", publish=False)
    with pytest.raises(Conflict):
        handoffs.close(mine, "cem", is_admin=False)
    assert handoffs.release(mine, "cem", is_admin=True).status == "open"


def test_what_nobody_has_claimed_cannot_be_answered() -> None:
    with pytest.raises(Conflict, match="Claim"):
        handoffs.resolve(NEW, "bea", "Noon.", publish=False)


def said(number: int, content: str) -> Message:
    return Message(f"{number:026d}", "user" if number % 2 == 0 else "assistant", content, NEW.created_at)


@pytest.mark.parametrize("letter", ["x", "ž", "💧", '"', "\n"])
@pytest.mark.parametrize(("count", "length"), [(0, 0), (3, 50), (50, 9_000), (50, 60_000), (1, 500_000)])
def test_the_event_is_small_enough_and_says_what_is_missing(count: int, length: int, letter: str) -> None:
    messages = [said(number, letter * length) for number in range(count)]
    full = replace(NEW, question=letter * 4_000, reason=letter * 1_000, contact=letter * 200)
    text = detail_of(full, messages, 7, [NearPassage("d#g#1", "d", letter * 500, 0.3)])
    assert len(text.encode()) <= MAX_DETAIL_BYTES
    detail = json.loads(text)
    shown = detail["transcript"]
    assert detail["transcript_omitted"] == 7 + count - len(shown)
    assert len(shown) > 0 or count == 0
    for message, original in zip(reversed(shown), reversed(messages), strict=False):
        assert original.content.startswith(message["content"])
        assert message.get("cut", False) == (message["content"] != original.content)


def test_the_last_question_and_its_near_misses_are_handed_over() -> None:
    details = {"refusal": "no_relevant_info", "near_misses": [["d#g#1", 0.21]]}
    messages = [said(0, "First?"), said(1, "Yes."), said(2, "When?"), replace(said(3, "No."), details=details)]
    asked = question_of(messages)
    assert asked == ("When?", messages[3].message_id, "no_relevant_info", (("d#g#1", 0.21),))
    assert question_of(messages[:3]) == ("When?", "", "", ())
    assert question_of([]) == ("", "", "", ())
