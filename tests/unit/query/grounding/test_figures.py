"""A claim's numbers are stated by its evidence, cells of a table, or calculated; others are missing."""

import pytest

from functions.query.grounding.comparison import Context
from functions.query.grounding.figures import FigureCheck, check_figures
from functions.query.grounding.judge import Verdict, judge
from functions.query.grounding.quotes import quoted_spans
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from tests.support.query import passage

HEAD = "Sales by product (dollars in millions):\n\n2023 | 2022 | Change\n"
ROWS = "Pens | $ 65,775 | $ 71,628 | (8)%\nInk | 7,735 | 10,852 | (29)%\nPaper | 20,766 | 19,516 | 6 %"
SALES = passage(HEAD + ROWS)
TERMS = passage(
    "Appeals must arrive within two calendar weeks. The period cannot exceed 12 months. 48,213 people took part."
)


def of_sales(claim: str, *quotes: str) -> FigureCheck:
    spans = [span for quote in quotes or ROWS.split("\n") for span in quoted_spans(quote, SALES)]
    return check_figures(claim, spans, question="How did sales change in 2023?", sources=[SALES])


def of_terms(claim: str) -> FigureCheck:
    return check_figures(claim, quoted_spans(TERMS.text, TERMS), sources=[TERMS])


def test_a_row_told_as_a_sentence_is_bound():
    assert of_sales("Ink sales fell 29% to $7,735 million.") == FigureCheck(
        is_bound=True, texts=of_sales("Ink had $7,735 million.").texts
    )


def test_the_next_row_conflicts():
    assert of_sales("Ink sales were $20,766 million.").conflict == "row"


@pytest.mark.parametrize(
    ("claim", "derived"),
    [
        ("Pens sales decreased by $5,853 million.", "71,628 − 65,775 = 5,853"),
        ("In 2023 pens, ink and paper together brought in $94,276 million.", "65,775 + 7,735 + 20,766 = 94,276"),
        ("In 2022 pens, ink and paper together brought in $101,996 million.", "71,628 + 10,852 + 19,516 = 101,996"),
    ],
)
def test_calculations_are_shown(claim: str, derived: str):
    assert of_sales(claim) == FigureCheck(derived=derived, texts=of_sales(claim).texts)


@pytest.mark.parametrize(
    "claim",
    [
        "Pens sales decreased by $6,853 million.",
        "In 2022 pens, ink and paper together brought in $94,276 million.",  # the sum of the other year
        "Ink sales were $7,735 thousand.",
    ],
)
def test_wrong_results_are_missing(claim: str):
    assert of_sales(claim).missing


def test_only_quoted_rows_are_calculated_with():
    claim = "Pens sales decreased by $5,853 million."
    assert of_sales(claim, "Ink | 7,735 | 10,852 | (29)%").missing == ("$5,853 million",)


@pytest.mark.parametrize(
    "claim",
    ["Appeals must arrive within 14 days.", "The period is at most one year.", "About 48,000 people took part."],
)
def test_conversions_and_roundings_are_not_missing(claim: str):
    assert not of_terms(claim).missing


@pytest.mark.parametrize(
    "claim",
    ["Appeals must arrive within 15 days.", "The period is at most two years.", "About 47,000 people took part."],
)
def test_wrong_conversions_and_roundings_are_missing(claim: str):
    assert of_terms(claim).missing


def test_the_scale_and_names_may_be_in_another_source_of_the_document():
    before = passage(HEAD.rstrip(), char_start=0)
    rows = passage(ROWS, char_start=len(HEAD))
    spans = quoted_spans("Ink | 7,735 | 10,852 | (29)%", rows)
    claim = "In 2022, ink sales were $7,735 million."
    assert check_figures(claim, spans, sources=[before, rows]).conflict == "column"


LOWER_HALF = "Tax | 4,222 | 5,129 | 9,847 | 11,740\nNet income | $ 24,160 | $ 25,010 | $ 54,158 | $ 59,640"
ABOVE = (
    "STATEMENTS OF OPERATIONS\n(In millions)\n"
    "Three Months Ended | Six Months Ended\n| April 1, 2023 | March 26, 2022 | April 1, 2023 | March 26, 2022"
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Net income for the three months ended April 1, 2023 was $24,160 million.", Verdict.CONFIRMED),
        ("Net income was $24.16 billion in the three months ended April 1, 2023.", Verdict.CONFIRMED),
        ("Net income fell from $25,010 million to $24,160 million.", Verdict.CONFIRMED),
        ("Net income for the three months ended March 26, 2022 was $24,160 million.", Verdict.REFUTED),
        ("Net income for the six months ended April 1, 2023 was $24,160 million.", Verdict.REFUTED),
        ("Net income rose from $24,160 million to $25,010 million.", Verdict.REFUTED),
        ("Net income for the three months ended April 1, 2023 was $24,160 thousand.", Verdict.REFUTED),
    ],
)
def test_a_table_that_a_passage_goes_on_with_is_read_with_the_lines_above_it(claim: str, expected: Verdict):
    rows = passage(LOWER_HALF, language="en", table=ABOVE)
    spans = quoted_spans("Net income | $ 24,160 | $ 25,010 | $ 54,158 | $ 59,640", rows)
    assert judge(claim, spans, Context("What was net income?", [rows])).verdict is expected


ASKED = Context("How did sales change in 2023?", [SALES])


def verdict(claim: str) -> Verdict:
    spans = [span for quote in ROWS.split("\n") for span in quoted_spans(quote, SALES)]
    return judge(claim, spans, ASKED).verdict


@pytest.mark.parametrize(
    "claim",
    [
        "Ink sales fell 29% to $7,735 million.",
        "In 2022, sales of paper amounted to $19,516 million.",
        "Pens had sales of about $65.8 billion in 2023, compared with $71,628 million a year earlier.",
        "| Pens | $65,775 | $71,628 | (8)% |",
        "Pens, ink and paper together had sales of $94,276 million in 2023.",
    ],
)
def test_a_claim_that_tells_a_table_is_confirmed(claim: str):
    assert verdict(claim) is Verdict.CONFIRMED


@pytest.mark.parametrize(
    "claim",
    [
        "Ink sales fell 29% to $7,735 million because of the strike.",
        "Ink sales may have been $7,735 million in 2023.",
        "Ink sales never fell to $7,735 million in 2023.",
        "Ink sales were $10,852 million.",  # of the year before
    ],
)
def test_what_a_claim_adds_to_a_table_is_not_confirmed(claim: str):
    assert verdict(claim) is not Verdict.CONFIRMED


@pytest.mark.parametrize(
    "claim",
    ["Ink sales rose 29% to $7,735 million.", "Paper had $7,735 million.", "Ink fell to $7,735 million in 2022."],
)
def test_a_claim_that_contradicts_a_table_is_refuted(claim: str):
    assert verdict(claim) is Verdict.REFUTED


def test_the_calculation_is_part_of_the_judgement():
    spans = quoted_spans("Ink | 7,735 | 10,852 | (29)%", SALES)
    assert judge("Ink fell by 3,117.", spans, ASKED).derived == "10,852 − 7,735 = 3,117"


def test_a_converted_number_is_compared_as_the_evidence_has_it():
    (span,) = quoted_spans("The period cannot exceed 12 months.", TERMS)
    assert judge("The period cannot exceed one year.", [span], Context()).verdict is Verdict.CONFIRMED
    assert judge("The period can exceed one year.", [span], Context()).verdict is not Verdict.CONFIRMED


def test_a_name_with_a_small_first_letter_is_no_stop_word():
    assert "iphon" in content_stems("iPhone")
    assert "ebay" in content_stems("eBay")


LEASE = passage(
    "The lease began on 1 March 2021 and ends on 29 February 2024. The tenant gave notice on 5 May 2023. "
    "Objections must arrive within 14 days after 5 May 2023."
)


@pytest.mark.parametrize(
    ("claim", "derived"),
    [
        ("The lease runs for 3 years.", "29 February 2024 − 1 March 2021 = 3 years"),
        ("The lease runs for 36 months.", "29 February 2024 − 1 March 2021 = 36 months"),
        ("Objections must arrive by 19 May 2023.", "5 May 2023 + 14 days = 19 May 2023"),
    ],
)
def test_times_between_dates_of_one_sentence_and_dates_after_a_time_are_calculated(claim: str, derived: str):
    check = check_figures(claim, quoted_spans(LEASE.text, LEASE), sources=[LEASE])
    assert (check.missing, check.derived) == ((), derived)


@pytest.mark.parametrize(
    "claim",
    ["The lease runs for 4 years.", "Objections must arrive by 20 May 2023.", "The notice came after 795 days."],
)
def test_other_times_and_those_between_dates_of_two_sentences_are_missing(claim: str):
    check = check_figures(claim, quoted_spans(LEASE.text, LEASE), sources=[LEASE])
    assert (len(check.missing), check.derived) == (1, "")


PLANS = passage(
    "What membership costs:\n\nMembership | Monthly price | Minimum term | Guest visits per month | Pool\n"
    "Off-Peak | £24.90 | 1 month | 0 | No\nStandard | £36.50 | 6 months | 1 | No\nPlus | £47.00 | 12 months | 2 | Yes"
)
HOURS = passage(
    "Doors close at 8 p.m. on weekdays. A ticket costs £2.75 instead of £2.50. Checks are half-hourly. In the year the "
    "museum spent $352 million. The river was closed for 37 days. The insurance paid £11,300 of the £14,900 that the "
    "floor cost; the rest came from the club. A pass of 5 GB costs €14.90. You can enter by the north gate, the south "
    "gate or the bridge."
)


def verdict_on(claim: str, source: Passage) -> Verdict:
    return judge(claim, quoted_spans(source.text, source), Context("", [source])).verdict


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("A Standard membership costs £36.50 per month.", Verdict.CONFIRMED),
        ("Standard members pay £36.50 monthly and are tied in for 6 months.", Verdict.CONFIRMED),
        ("Over its minimum term, Standard comes to £219 in monthly fees.", Verdict.CONFIRMED),
        ("Over its minimum term, Standard comes to £229 in monthly fees.", Verdict.REFUTED),
        ("Over its minimum term, Standard comes to £219 in yearly fees.", Verdict.REFUTED),
        ("Over its minimum term, Plus comes to £219 in monthly fees.", Verdict.REFUTED),
        ("Plus is about £10 more per month than Standard.", Verdict.CONFIRMED),
        ("Off-Peak is the cheapest membership.", Verdict.CONFIRMED),
        ("Standard is the cheapest membership.", Verdict.REFUTED),
        ("Plus has the longest minimum term.", Verdict.CONFIRMED),
        ("Standard has the longest minimum term.", Verdict.REFUTED),
        ("Standard is not the cheapest membership.", Verdict.UNCONFIRMED),
        ("Off-Peak is not the cheapest membership.", Verdict.REFUTED),
        ("Standard has the pool and costs £36.50.", Verdict.REFUTED),
        ("Members of the Harbour Club pay £36.50 for Standard.", Verdict.REFUTED),
    ],
)
def test_a_table_whose_names_speak_of_months_has_columns(claim: str, expected: Verdict):
    assert verdict_on(claim, PLANS) is expected


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("Doors close at 20:00 on weekdays.", False),
        ("Doors close at 8 in the evening.", False),
        ("Doors close at 8 on weekdays.", False),
        ("Doors close at 8 a.m. on weekdays.", True),
        ("A ticket is 25p more expensive than before.", False),
        ("A ticket is 75p more expensive than before.", True),
        ("There is a check every 30 minutes.", False),
        ("The river was closed for a bit over five weeks.", False),
        ("The river was closed for a bit over six weeks.", True),
        ("The club had to find £3,600 for the floor.", False),
        ("A gigabyte works out at €2.98.", False),
        ("A gigabyte works out at €3.98.", True),
        ("The museum spent some $350 million.", False),
        ("The museum spent $350 million.", True),
        ("The hall has 8 doors.", False),
        ("There were 9 in the morning group.", True),
    ],
)
def test_times_pence_and_what_a_claim_lists_are_read(claim: str, *, missing: bool):
    assert bool(check_figures(claim, quoted_spans(HOURS.text, HOURS), sources=[HOURS]).missing) is missing


def test_what_a_claim_counts_in_its_own_list_is_doubted_at_most():
    three = "There are 3 ways in: the north gate, the south gate and the bridge."
    assert verdict_on(three, HOURS) is Verdict.UNCONFIRMED
    assert verdict_on(three.replace("3", "7"), HOURS) is Verdict.REFUTED


SPEEDS = passage(
    "Runs of the three cars:\n\nCar | Price | Speed | Rank\nArrow | £20 | 300 | 2\nBolt | £10 | 200 | 1\n"
    "Comet | £30 | 100 | 3\nTotal | £60 | 600 | 6"
)


@pytest.mark.parametrize(
    ("claim", "is_refuted"),
    [
        ("Bolt is the cheapest.", False),
        ("Arrow is the cheapest.", True),
        ("Comet is the most expensive.", False),
        ("Bolt is the most expensive.", True),
        ("Comet has the highest price.", False),
        ("Bolt is the cheapest and does not have a high speed.", False),
        ("Arrow is more expensive than the cheapest car.", False),
        ("Arrow costs £20, twice the lowest price.", False),
        ("Arrow is by no means the cheapest.", False),
        ("Arrow is neither the cheapest nor the dearest.", False),
        ("Arrow has the fastest speed.", False),
        ("Bolt has the highest rank.", False),
        ("Arrow is the most popular.", False),
        ("Comet has the largest increase.", False),
        ("Arrow is the cheapest of the fast cars.", False),
    ],
)
def test_only_a_plain_superlative_refutes(claim: str, *, is_refuted: bool):
    found = check_figures(claim, quoted_spans(SPEEDS.text, SPEEDS), sources=[SPEEDS])
    assert (found.conflict == "order") is is_refuted


STUDENTS = passage("Membership:\n\nGroup | Price | Time\nStudents | £27.50 | 3 months\nAdults | £40.00 | 6 months")


@pytest.mark.parametrize(
    "claim",
    [
        "Students lose £27.50 deposit within 3 months.",
        "Students get a grant worth £27.50.",
        "Students owe tax on £27.50.",
        "Students pay double £27.50.",
        "At most, students pay £27.50.",
    ],
)
def test_words_that_say_more_than_the_figure_are_not_confirmed(claim: str):
    assert verdict_on(claim, STUDENTS) is not Verdict.CONFIRMED


def test_a_whole_year_beside_a_quarter_is_told():
    both = passage("In the whole year revenue was $20 million, of which $6 million came in the fourth quarter.")
    quarter = passage("In the three months ended December 31 occupancy was 91 percent in all hotels.")
    assert verdict_on(both.text, both) is Verdict.CONFIRMED
    assert verdict_on("Full-year occupancy was 91 percent in all hotels.", quarter) is Verdict.UNCONFIRMED


def test_percentage_points_are_no_per_cent():
    rates = passage("Occupancy by year:\n\n2023 | 2022\nNorth | 91 % | 86 %\nSouth | 80 % | 78 %")
    points, per_cent = (f"Occupancy in the North rose by 5 {unit}." for unit in ("percentage points", "percent"))
    assert verdict_on(points, rates) is Verdict.CONFIRMED
    assert verdict_on(per_cent, rates) is Verdict.REFUTED


def test_a_quarter_that_ended_is_three_months():
    quarters = passage(
        "Net revenue (in millions):\n\nThree Months Ended | Six Months Ended\n"
        "Jul 1, 2023 | Jul 2, 2022 | Jul 1, 2023 | Jul 2, 2022\nMobile | 4,004 | 4,695 | 7,722 | 10,769\n"
        "Desktop | 454 | 460 | 912 | 854"
    )
    right, wrong = (f"Mobile revenue for the quarter ended July 1, 2023 was ${n} million." for n in ("4,004", "7,722"))
    assert verdict_on(right, quarters) is Verdict.CONFIRMED
    assert verdict_on(wrong, quarters) is Verdict.REFUTED


HIRE = passage(
    "Prices of hire:\n\nBoat | Low Members | Low Guests | High Members | High Guests\n"
    "Canoe | £4 | £6 | £5 | £8\nKayak | £7 | £9 | £8 | £12\nPunt | £9 | £9 | £10 | £9"
)


@pytest.mark.parametrize(
    ("claim", "conflict", "is_shown"),
    [
        ("A kayak is dearer than a canoe.", "", True),
        ("A canoe is dearer than a kayak.", "order", False),
        ("The price is lower for a canoe than for a kayak.", "", True),
        ("The price is higher for a canoe than for a kayak.", "order", False),
        ("Members pay less than guests for a canoe.", "", True),
        ("Members pay more than guests for a canoe.", "order", False),
        ("Members pay more than guests for a punt.", "", False),  # it depends on the season
        ("A kayak is much dearer than a canoe.", "", False),
        ("A kayak is not dearer than a punt.", "", False),
    ],
)
def test_rows_and_columns_are_compared(claim: str, conflict: str, *, is_shown: bool):
    found = check_figures(claim, quoted_spans(HIRE.text, HIRE), sources=[HIRE])
    assert (found.conflict, found.is_bound) == (conflict, is_shown)


def test_figures_in_other_units_are_not_compared():
    drain = passage("Use:\n\nState | Typical | Unit\nAsleep | 1.5 | µA\nAwake | 0.9 | mA")
    assert verdict_on("The typical use is lower asleep than awake.", drain) is not Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "conflict"),
    [
        ("Comet has the lowest speed of the three.", ""),
        ("Arrow has the lowest speed of the three.", "order"),
        ("Comet has the lowest speed of the five.", ""),
    ],
)
def test_the_most_of_several_is_compared_if_there_are_as_many(claim: str, conflict: str):
    cars = passage(SPEEDS.text.replace("\nTotal | £60 | 600 | 6", ""))
    assert check_figures(claim, quoted_spans(cars.text, cars), sources=[cars]).conflict == conflict


def test_the_most_is_compared_in_all_columns_of_a_name():
    errors = passage(
        "Errors:\n\nType | Heat error Usual | Heat error Worst | Cold error Usual | Cold error Worst\n"
        "A1 Cup | 3 | 5 | 1 | 1\nB2 Bowl | 2 | 4 | 2 | 2\nC3 Jug | 1 | 2 | 3 | 3"
    )
    jug, cup = (f"The {each} has the smallest heat error." for each in ("jug", "cup"))
    found = [check_figures(each, quoted_spans(errors.text, errors), sources=[errors]) for each in (jug, cup)]
    assert [each.conflict for each in found] == ["", "order"]
    assert found[0].is_bound
