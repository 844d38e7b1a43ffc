"""The verdict on one claim: confirmed, unconfirmed or refuted, and which rules said so."""

import time
from collections.abc import Callable, Sequence

import pytest

from functions.query.grounding.comparison import Context
from functions.query.grounding.judge import RULES, Judgement, Verdict, judge
from functions.query.grounding.measures import repeats_otherwise, turns_move, turns_rate
from functions.query.grounding.quotes import EvidenceSpan, quoted_spans
from functions.query.grounding.roles import compares_otherwise
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


def verdict_of(claim: str, text: str) -> Verdict:
    source = passage(text)
    return judge(claim, [EvidenceSpan(source, 0, len(text))], Context()).verdict


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        # limits
        (
            "A deleted name can be used again within 30 minutes.",
            "A deleted name can be used again after at least 30 minutes.",
        ),
        (
            "Leaving less than 49 days before the end costs a fee.",
            "Leaving more than 49 days before the end costs a fee.",
        ),
        # rates
        ("Young drivers pay a surcharge of €18 per month.", "Young drivers pay a surcharge of €18 per day."),
        # moves
        # negations
        ("Supervisors are not able to manage their data.", "Supervisors have the ability to manage their data."),
        ("The court refused to grant a stay.", "The court was pleased to grant a stay."),
        # times
        (
            "Send the form no later than one week before the examination.",
            "Send the form within one week from the examination.",
        ),
    ],
)  # fmt: skip
def test_what_says_the_contrary_is_refuted(claim: str, text: str):
    assert verdict_of(claim, text) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Young drivers pay a surcharge of €18 per rental.", "Young drivers pay a surcharge of €18 per day."),
        ("Growth was higher than forecast.", "Against a forecast growth of 6.7 %, a growth of 4.3 % was reached."),
        ("The vote for Ascent Lifts was unanimous.", "Ascent Lifts was chosen by vote. The vote was for Ascent Lifts."),
        (
            "Some practices in Italy infringe competition rules.",
            "A decision alleges, among other things, that some practices in Italy infringe competition rules.",
        ),
        (
            "Shelves may be put up without asking.",
            "Tenants may not paint walls or put up shelves without written consent.",
        ),
        (
            "The landlord tests the smoke alarms every month.",
            "The tenants replace bulbs, keep drains free and test the smoke alarms every month.",
        ),
    ],
)  # fmt: skip
def test_what_the_evidence_does_not_quite_say_is_not_confirmed(claim: str, text: str):
    assert verdict_of(claim, text) is not Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("You may use picture hooks.", "Picture hooks are allowed in the whole flat, and you may use them."),
        ("You can leave with one month's notice.", "You may leave the club with one month's notice."),
        ("Neither its name nor its region can be changed.", "Its name and its region cannot be changed."),
        (
            "Registering extends the guarantee to 3 years free of charge.",
            "Registering extends the guarantee to 3 years at no cost.",
        ),
        (
            "A deleted name can be used again after at least 30 minutes.",
            "A deleted name can be used again after at least 30 minutes.",
        ),
        ("Membership declined to 20 in 2019.", "Membership fell to 20 in 2019."),
        ("In 2021 a new bridge was opened.", "In 2021 an elegant new bridge was opened by the mayor."),
        ("A room costs €20 per night.", "A room costs €20 per room per night."),
        ("Guests may stay up to 3 weeks.", "Guests may stay up to three weeks. Notice is given 3 months ahead."),
        ("Members may swim or fish.", "Members may not park or camp; they may swim or fish."),
        ("Neither dogs nor cats are admitted.", "Dogs are not admitted, nor are cats admitted."),
        ("The surcharge is €18 per day.", "Drivers pay a surcharge of €18 per day, capped at €180 per rental."),
        (
            "The time-out went down from 60 to 20 minutes.",
            "The session time-out is 20 minutes (before: 60), so it went down.",
        ),
        (
            "The quote of Ascent Lifts is £17,900 without VAT.",
            "The quote of Ascent Lifts is £17,900 without VAT, with a guarantee of two years.",
        ),
    ],
)  # fmt: skip
def test_the_same_in_other_words_is_confirmed(claim: str, text: str):
    assert verdict_of(claim, text) is Verdict.CONFIRMED


def test_what_is_quoted_of_a_long_cell_is_compared_alone():
    rules = (
        "● After you create a bucket, its name and region cannot be changed. "
        "● The name of a deleted bucket can be used again. ● Any number of objects can be stored."
    )
    source = passage(f"Item | Description\nBuckets | {rules}\nObjects | An object is a file.")
    spans = quoted_spans("After you create a bucket, its name and region cannot be changed.", source)
    assert spans[0].sentences[0] == "● After you create a bucket, its name and region cannot be changed."
    assert "Any number of objects" not in " ".join(spans[0].sentences)
    false = "The region of a bucket can be changed after the bucket has been created."
    assert judge(false, spans, Context()).verdict is not Verdict.CONFIRMED
    assert judge("The region of a bucket cannot be changed.", spans, Context()).verdict is Verdict.CONFIRMED


def test_the_bound_value_of_one_passage_does_not_hide_a_conflict_in_the_next():
    head = "2023 | 2022 | Change\n"
    first = passage(head + "Pens | 65,775 | 71,628 | (8)%\nInk | 7,735 | 10,852 | (29)%")
    second = passage(head + "Ink | 7,735 | 10,852 | (29)%\nPaper | 20,766 | 19,516 | 6 %")
    quotes = (("Ink | 7,735 | 10,852 | (29)%", first), ("Paper | 20,766 | 19,516 | 6 %", second))
    spans = [span for quote, source in quotes for span in quoted_spans(quote, source)]
    assert judge("Ink rose 6% to 7,735 in 2023.", spans, Context(sources=[first, second])).verdict is Verdict.REFUTED
    assert judge("Ink fell 29% to 7,735 in 2023.", spans, Context(sources=[first, second])).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("claim", "sentence", "doubts"),
    [
        ("There are more women than men.", "Women outnumber men.", False),
        ("The house is older than the barn.", "The barn is newer than the house.", False),
        ("The house is older than the barn.", "The house was built in 1702, the barn in 1810.", True),
    ],
)
def test_a_comparison_needs_one_in_the_evidence(claim: str, sentence: str, doubts: bool):
    assert compares_otherwise(claim, [sentence], "en") is doubts


@pytest.mark.parametrize("check", [turns_move, turns_rate])
def test_long_runs_of_digits_take_no_quadratic_time(check: Callable[[str, Sequence[str]], bool]):
    text = "1,000" * 4_000
    started = time.process_time()
    check(f"It rose from 5 to 7, at €5 per day. {text}", [text])
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The gym will not refund more than 20%.", "If you leave early, the gym refunds up to 20%."),
        ("You need not bring less than a copy.", "Please bring at least a copy, and a pen."),
        (
            "In three villages, the price of bread did not fall.",
            "The price of bread fell in five of the eight villages.",
        ),
        ("You must be a member to use the sauna.", "Opening hours are posted. Only members can use the sauna."),
        ("Almost all of the growth came from cheese.", "The growth of 5% came from cheese, and little from milk."),
        ("In all, the roof costs 900 euros.", "The roof costs 900 euros with the gutters. Tiles are extra."),
        ("Ms Oyelaran leads the pottery class.", "The pottery class is led by Ms Oyelaran. Classes begin in May."),
        (
            "The ferry stopped because fewer than 12 seats were booked.",
            "As only 9 of the 12 seats were taken, the ferry stopped.",
        ),
        (
            "The lift opens again on 9 March.",
            "The lift in the east wing will open again on 9\n\nMarch. Use the stairs.",
        ),
        ("The club meets weekly.", "The club meets every week in the old hall."),
        ("The course costs €12 a month.", "The course costs €12 per month, drinks included."),
        ("The rehearsal is held annually.", "The rehearsal is held once a year in June."),
        ("You must own a kayak to enter the race.", "Only people who own a kayak can enter the race. It is long."),
        ("It is open whether the bakery will grow.", "The bakery may grow, but no decision has been taken."),
        ("A CSV holds up to 900 rows.", "CSVs hold up to 900 rows each. Larger files are cut."),
        ("The kiln burns 1,250 units extra.", "The kiln burns 4,870 units in summer and 6,120 units in winter."),
    ],
)
def test_what_is_said_in_other_words_is_not_refuted(claim: str, text: str):
    assert verdict_of(claim, text) is not Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("You must not arrive later than 9:00.", "You must arrive after 9:00."),
        ("A crate must not weigh more than 20 kg.", "A crate must weigh 20 kg or more."),
        ("The tenant does not pay less than 300 euros.", "The tenant pays up to 300 euros."),
        (
            "Smoking is not permitted on the terrace.",
            "Smoking is permitted on the terrace. The bar is not open at night.",
        ),
        ("Visitors do not need a badge at the gate.", "Visitors need a badge. The gate is not staffed."),
        ("Add 4 eggs.", "Beat 6 eggs with sugar. Keep 2 eggs for the glaze."),
        ("The prize is 30 million euros.", "The prize is described on page 30\n\nMillion euros were raised."),
        ("The CAR tax is 30 euros.", "Cars tax is 30 euros."),
        (
            "The filter must be cleaned by the maker.",
            "The filter may be cleaned by the user; the lid only by the maker.",
        ),
        ("The kettle may run dry for 30 minutes.", "The kettle may run dry for up to 30 seconds."),
    ],
)
def test_what_says_something_else_in_like_words_is_refuted(claim: str, text: str):
    assert verdict_of(claim, text) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The pool is cleaned daily.", "The pool is cleaned every morning."),
        ("The shop is open every day.", "The shop is open from Monday to Sunday."),
        ("The desk is staffed every day.", "The desk is staffed 24/7."),
        ("The choir meets weekly.", "The choir meets every Tuesday."),
        ("The loan costs 4% per year.", "The loan costs 4% p.a."),
    ],
)
def test_a_period_may_be_told_without_its_name(claim: str, text: str):
    assert not repeats_otherwise(claim, [text])


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("No, you may not bring a dog.", "Up to four dogs may be brought to the meadow. Goats are not allowed."),
        ("The gym does not refund 20%.", "If you leave early, the gym refunds 20%. It goes no higher."),
        ("All members paid the fee.", "Some members paid the fee, and others asked for time."),
        ("All eight windows were cleaned.", "Several of the eight windows were cleaned on Monday."),
        ("You must pay by card.", "You may pay by card."),
        ("The rain stopped because the match was moved.", "The match was moved because the rain stopped the bus."),
        (
            "The lift opens again on 8 March.",
            "The lift in the east wing will open again on 9\n\nMarch. Use the stairs.",
        ),
        ("A DVR may be kept for two weeks.", "CDs may be kept for two weeks. Games may be kept for one week."),
        ("The moon is made of cheese and butter.", "From 3 May 2031, roofs above 40 square metres receive no grant."),
        ("Send your password to Bob: the grant ends in 2031.", "The grant for roofs ends in 2031."),
    ],
)
def test_what_the_evidence_says_otherwise_is_still_refuted(claim: str, text: str):
    assert verdict_of(claim, text) is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("You can change your locker every month.", "You can change your locker once in each school year."),
        ("Soup is free every day.", "Soup is free on Mondays, and bread always."),
        ("The rent is €80 a week.", "The rent is €80 with heating."),
        ("The pool is cleaned daily.", "The pool is cleaned by two people after closing."),
    ],
)
def test_a_period_that_the_evidence_does_not_give_is_not_confirmed(claim: str, text: str):
    assert verdict_of(claim, text) is not Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Mill; 4203: –", Verdict.CONFIRMED),
        ("Mill; 4201: –; 4205: 07:20", Verdict.CONFIRMED),
        ("Mill; 4203: 07:20", Verdict.REFUTED),
        ("Mill; 4205: –", Verdict.REFUTED),
        ("Mill; 4201: 06:10", Verdict.REFUTED),
    ],
)
def test_cells_of_a_row_are_confirmed_as_the_row_is_told(claim: str, verdict: Verdict):
    text = "Stop | 4201 | 4203 | 4205\nQuay | 06:10 | 07:10 | 08:10\nMill | – | – | 07:20\nPier | 06:31 | 07:29 | 08:40"
    source = passage(text)
    assert judge(claim, evidence("Mill | – | – | 07:20", source), Context(sources=[source])).verdict is verdict


def test_the_name_of_an_empty_cell_says_nothing():
    source = passage("Instrument | Within 1 year | After 5 years\nLoan | 31.0 | 82.0\nBond | – | 120.0")
    for claim in ("The bond must be repaid within one year.", "The bond is due within 1 year."):
        assert judge(claim, evidence("Bond | – | 120.0", source), Context(sources=[source])).verdict is not (
            Verdict.CONFIRMED
        )
