"""The verdict on one claim: confirmed, unconfirmed or refuted, and which rules said so."""

import pytest

from functions.query.grounding.judge import RULES, Context, Judgement, Verdict, judge
from functions.query.grounding.quotes import EvidenceSpan, quoted_spans
from functions.query.retrieval.passages import Passage
from tests.support.query import passage

PUMP = passage("The pump starts at 40 °C. It must be oiled once a year.")


def evidence(quote: str, source: Passage = PUMP) -> list[EvidenceSpan]:
    return quoted_spans(quote, source)


def test_a_claim_that_repeats_its_quote_is_confirmed():
    quote = "The pump starts at 40 °C."
    assert judge(quote, evidence(quote), Context()) == Judgement(Verdict.CONFIRMED)


LISTED = "Carry these things:\n• a flare pistol with six cartridges\n• food for two days"


@pytest.mark.parametrize("glue", ["\n• ", " • "])
def test_a_list_that_is_repeated_whole_is_confirmed(glue: str):
    source = passage(f"No one leaves alone.\n\n{LISTED}\n\nBears come past.")
    claim = LISTED.replace("\n• ", glue)
    assert judge(claim, evidence(LISTED, source), Context()) == Judgement(Verdict.CONFIRMED)


def test_a_list_with_an_exchanged_item_is_not_confirmed():
    source = passage(f"No one leaves alone.\n\n{LISTED}\n\nBears come past.")
    claim = "Carry these things: • a flare pistol with six days • food for two cartridges"
    assert judge(claim, evidence(LISTED, source), Context()).verdict is not Verdict.CONFIRMED


def test_a_claim_without_evidence_is_refuted():
    assert judge("The pump starts at 40 °C.", [], Context()).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "rule"), [("The pump starts at 50 °C.", "number"), ("The pump does not start at 40 °C.", "negation")]
)
def test_a_rule_can_be_switched_off(claim: str, rule: str):
    spans = evidence("The pump starts at 40 °C.")
    others = frozenset(each.name for each in RULES) - {rule, "covered"}
    assert judge(claim, spans, Context(), without=others) == Judgement(Verdict.REFUTED, (rule,))
    assert judge(claim, spans, Context(), without=others | {rule}).verdict is Verdict.CONFIRMED


def test_rules_have_different_names():
    assert len({rule.name for rule in RULES}) == len(RULES)


SOURCE = passage("Išlaidos 2022 m. sumažėjo 3 %. Siurblys neturi filtro.", language="lt")


@pytest.mark.parametrize(
    ("claim", "original", "verdict"),
    [
        ("Costs fell by 3 % in 2022.", "Išlaidos 2022 m. sumažėjo 3 %.", Verdict.CONFIRMED),
        ("Costs fell by 3 % in 2022.", "", Verdict.UNCONFIRMED),
        ("Costs fell by 3 % in 2022.", "Išlaidos 2022 m. sumažėjo.", Verdict.UNCONFIRMED),
        ("Costs fell by 4 % in 2022.", "Išlaidos 2022 m. sumažėjo 3 %.", Verdict.REFUTED),
    ],
)
def test_a_translation_is_confirmed_by_the_same_statement_in_the_language_of_the_source(
    claim: str, original: str, verdict: Verdict
):
    spans = evidence("Išlaidos 2022 m. sumažėjo 3 %.", SOURCE)
    assert judge(claim, spans, Context(), original=original).verdict is verdict


def test_a_sentence_that_the_next_one_denies_is_not_confirmed():
    source = passage("The pump starts at 40 °C. This is not true. It starts at 50 °C.")
    quote = "The pump starts at 40 °C."
    assert judge(quote, evidence(quote, source), Context()).verdict is Verdict.UNCONFIRMED


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Yes, the pump starts at 40 °C.", Verdict.CONFIRMED),
        ("No, the pump starts at 40 °C.", Verdict.UNCONFIRMED),
        ("No, the pump does not start at 40 °C.", Verdict.REFUTED),
    ],
)
def test_yes_and_no_answer_the_question(claim: str, verdict: Verdict):
    context = Context("Does the pump start at 40 °C?")
    assert judge(claim, evidence("The pump starts at 40 °C."), context).verdict is verdict


@pytest.mark.parametrize(
    ("quote", "claim", "verdict"),
    [
        ("Sales rose 12% to $340 million and rent fell 4%.", "Rent fell 4%.", Verdict.CONFIRMED),
        (
            "On May 3 the company sold its northern plant for $450 million in cash, and later the annual rent fell.",
            "The annual rent fell by $450 million.",
            Verdict.UNCONFIRMED,
        ),
        (
            "Total staff in the group, with its subsidiary Ardent Tools Limited, was up by 22 at 1376.",
            "Total staff in Ardent Tools Limited was 1376.",
            Verdict.UNCONFIRMED,
        ),
        ("The plant opened in spring 2019 with eleven workers.", "In 2019 the plant opened.", Verdict.CONFIRMED),
    ],
)
def test_a_number_beside_words_that_the_quote_has_elsewhere_is_unconfirmed(quote: str, claim: str, verdict: Verdict):
    assert judge(claim, evidence(quote, passage(quote)), Context()).verdict is verdict


CARE = (
    "The manager reviewed all plans in spring. The nurse stored the keys in the office. "
    "Twelve plans were not updated. The fee is 40 euros."
)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The nurse reviewed all plans in spring.", Verdict.UNCONFIRMED),
        ("The plans were not updated because the nurse stored the keys.", Verdict.UNCONFIRMED),
        ("The nurse stored the keys in the office, and the manager reviewed all plans.", Verdict.CONFIRMED),
        ("The manager reviewed all plans, but 12 plans were not updated.", Verdict.CONFIRMED),
    ],
)
def test_words_that_no_sentence_has_together_are_unconfirmed(claim: str, verdict: Verdict):
    judged = judge(claim, evidence(CARE, passage(CARE)), Context())
    assert judged.verdict is verdict
    assert verdict is Verdict.CONFIRMED or "apart" in judged.findings


def test_a_calculation_may_bring_sentences_together():
    quote = "Rent was 40 euros. Heating was 12 euros."
    judged = judge("Rent and heating were 52 euros together.", evidence(quote, passage(quote)), Context())
    assert judged.verdict is Verdict.CONFIRMED
