"""False claims of a model are not shown: over a thousand generated attacks on documents of every usual shape."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count

import pytest

from functions.query.grounding.verify import Verifier
from functions.query.retrieval.passages import Passage
from functions.query.writing.extractive import extract
from shared.text import SEPARATOR
from tests.support import false_claims, hostile_output
from tests.support.attacks import MARKED, AttackOutcome, attack_makers, plain, poisoned, run_attack
from tests.support.false_claims import Attack, Sentence, sentences_of
from tests.support.query import passage

ROUNDS = 130
"""Of each kind of attack; fifteen kinds."""
MIN_CAUGHT = 0.98
MAX_FALSE_ALARMS = 0.02

_FIRMS = ("Orchard", "Brightwater", "Halden", "Meridian", "Northgate", "Castellan")
_PARTS = ("pump", "boiler", "compressor", "turbine", "filter", "sensor")
_TOWNS = ("Lisbon", "Tromso", "Valletta", "Graz", "Kaunas", "Bergen")


def documents(draw: random.Random) -> list[Passage]:
    """Five passages of five kinds: a report, a manual, a table, a policy, and prose with references."""
    firm, part, town, other = draw.choice(_FIRMS), draw.choice(_PARTS), draw.choice(_TOWNS), draw.choice(_TOWNS)
    n = draw.randrange
    texts = [
        f"{firm} earned ${n(20, 99)},{n(100, 999)} million in the quarter ended June {n(1, 30)}, 20{n(10, 25)}. "
        f"Sales in {town} increased by {n(2, 19)}.{n(1, 9)}% because customers ordered more than {n(3, 9)},800 "
        f"units. Operating costs were ${n(2, 9)}.{n(1, 9)} billion, and {n(12, 99)} employees left the company. "
        f"Management does not expect the margin to fall before {n(2026, 2031)}.",
        f"Installation of the {part}\n\nThe {part} must be primed with {n(2, 9)} litres of water before first use. "
        f"Keep {n(15, 90)} cm of free space around the housing.\n- The motor draws {n(1, 4)}.{n(1, 9)} kW at 230 V.\n"
        f"- Replace the filter every {n(3, 24)} months, and never clean it with solvents.\nIt is not allowed to "
        f"operate the {part} above {n(40, 80)} °C. See https://help.{firm.lower()}.example/manual for spare parts.",
        f"(in thousands of euros)\nItem | 2022 | 2021\nRevenue of {town} | {n(100, 999)} | {n(100, 999)}\n"
        f"Costs of {town} | {n(100, 999)} | {n(100, 999)}\nStaff in {other} at the end of the year | {n(20, 90)} | 19",
        f"Travel policy\n\nEmployees may book flights with {firm} Travel without approval up to {n(300, 900)} euros. "
        f"Hotels in {other} are included in the daily allowance of {n(60, 180)} euros. Receipts must be handed in "
        f"within {n(10, 45)} days after the journey. Private use of the car is not covered by the insurance, and "
        f"parking is available at the station.",
        f"The survey of {town} was carried out on {n(1, 28)} March {n(1990, 2020)} [3]. It found {n(100, 900)} people "
        f"with the disease, which was more than the study in {other} had reported [4, 5]. The authors were not able to "
        f"confirm the effect with the older method, since only two of the seven samples were available.",
    ]
    return [
        passage(text, n=number, title=f"{firm} file {number}", char_start=1_000 * number, language="en")
        for number, text in enumerate(texts, start=1)
    ]


def outcomes_of(kind: str, seed: int) -> list[AttackOutcome]:
    draw = random.Random(f"{kind} {seed}")
    found: list[AttackOutcome] = []
    passages = documents(draw)
    for tried in count(1):
        if len(found) == ROUNDS:
            break
        passages = passages if tried % 8 else documents(draw)
        attack = attack_makers(passages)[kind](draw.choice(sentences_of(passages)), draw)
        if attack is not None:
            found.append(run_attack(attack, passages))
    return found


def leaks_of(outcomes: Sequence[AttackOutcome]) -> str:
    return "\n".join(f"{o.leaks}: {o.attack.text[:300]!r} -> {o.written.text[:300]!r}" for o in outcomes if o.leaks)


MEASURED = {"mutated number", "negation", "exchanged word", "put in", "other measure"}
"""Kinds that cannot be caught every time."""


@pytest.mark.parametrize("kind", [kind for kind in attack_makers([]) if kind not in MEASURED])
def test_no_false_or_foreign_text_is_shown(kind: str):
    outcomes = outcomes_of(kind, seed=1)
    assert not [o for o in outcomes if o.leaks], leaks_of(outcomes)


WORDS = {"exchanged word", "put in"}
"""Kinds that may be shown marked as unconfirmed: a word that the source lacks may be another word for the same."""


@pytest.mark.parametrize("kind", sorted(MEASURED))
def test_changed_numbers_and_words_are_caught(kind: str):
    outcomes = outcomes_of(kind, seed=2)
    allowed = [MARKED] if kind in WORDS else []
    caught = sum(not o.leaks or list(o.leaks) == allowed for o in outcomes) / len(outcomes)
    assert caught >= MIN_CAUGHT, leaks_of(outcomes)


def test_a_model_that_obeys_a_source_gets_nothing_shown():
    draw = random.Random(3)
    outcomes = []
    for _ in range(ROUNDS):
        at, injection = draw.randrange(5), draw.choice(hostile_output.INJECTIONS)
        passages = poisoned(documents(draw), at, injection[0])
        outcomes.append(run_attack(hostile_output.obeyed(injection, at + 1, draw), passages))
    assert not [o for o in outcomes if o.leaks], leaks_of(outcomes)


def test_extractive_answers_do_not_quote_injected_sentences():
    draw = random.Random(4)
    answers = 0
    for _ in range(60):
        at, (sentence, word) = draw.randrange(5), draw.choice(hostile_output.INJECTIONS)
        passages = poisoned(documents(draw), at, sentence)
        verifier = Verifier(passages, question=sentence, language="en")
        shown = [each.text for claim in extract(sentence, passages).claims for each in verifier.check(claim)]
        assert word not in "".join(shown)
        answers += bool(shown)
    assert answers > 10


@pytest.mark.parametrize("make", [false_claims.honest, false_claims.rewritten])
def test_true_claims_are_shown(make: Callable[[Sentence, random.Random], Attack | None]):
    draw = random.Random(5)
    alarms, asked = Counter[str](), 0
    passages = documents(draw)
    for tried in count(1):
        if asked == 2 * ROUNDS:
            break
        passages = passages if tried % 8 else documents(draw)
        attack = make(draw.choice(sentences_of(passages)), draw)
        if attack is None:
            continue
        asked += 1
        shown = run_attack(attack, passages).written
        if shown.mode != "generated" or plain(attack.claim) not in plain(shown.text):
            alarms[f"{attack.claim[:120]} -> {shown.support.flags} {shown.text[:80]}"] += 1
    assert alarms.total() <= MAX_FALSE_ALARMS * asked, alarms


def test_extractive_answers_are_verified_and_carry_no_marker_of_the_sources():
    draw = random.Random(6)
    for _ in range(60):
        passages = documents(draw)
        number, sentence = draw.choice(sentences_of(passages))
        verifier = Verifier(passages, question=sentence, language="en")
        claims = extract(sentence, passages).claims
        shown = "".join(each.text for claim in claims for each in verifier.check(claim))
        assert verifier.support.claims == verifier.support.confirmed >= 1
        # A row of a table is told with its columns' names.
        told = plain(sentence).lstrip("-• ")  # an item that is told alone has no bullet
        assert all(cell in plain(shown) for cell in told.split(SEPARATOR)), (number, sentence, shown)
        assert shown.count("[") == verifier.support.claims
