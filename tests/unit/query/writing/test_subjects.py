"""Names, codes and periods that a question takes for granted must be those of a document found."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.writing.premises import missing_words
from functions.query.writing.subjects import absent_codes, absent_subjects
from tests.support.query import passage


def report(company: str, year: int, text: str = "Revenue | 12 | 11") -> Passage:
    title = f"{company}, Form 10-K, fiscal year ended June 30, {year}"
    return passage(text, title=title, language="en")


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What was Tesla's revenue?", ["Tesla"]),
        ("What was the revenue of Kellogg Foods in 2022?", ["Kellogg Foods"]),
        ("What was the revenue of Orbico in FY2009?", ["2009"]),
        ("What was Orbico's revenue in Q1 31?", ["2031"]),
        ("How did Orbico's revenue change between FY1999 and FY1998?", ["1999", "1998"]),
        ("What was Tesla's revenue in 2031?", ["Tesla", "2031"]),
    ],
)
def test_a_foreign_name_or_year_is_absent(question: str, absent: list[str]):
    others = report("Orbico Inc", 2022, "The notes are due 2031. The lease was signed in 2009. | Revenue | 12")
    assert absent_subjects(question, [others]) == absent


@pytest.mark.parametrize(
    "question",
    [
        "What was Orbico's revenue in FY2022?",
        "What was Orrbico's revenue?",  # misspelt
        "What was OrbicoInc's revenue?",
        "What was the revenue in fiscal 2020?",  # compared in the report of 2022
        "What was it in the year ended June 30, 2015?",  # the report has a table of ten years
        "As of FY2022, what does Orbico expect to pay in 2030?",  # one year is enough, where the other is mentioned
        "What do ROIC, EBITDA and the WACC show?",
        "What Was The Revenue Of The Whole Company?",  # written like a title
        "Unbelievably, what is the revenue?",
        "How many degrees Celsius?",
        "",
    ],
)
def test_what_a_passage_is_about_is_not_absent(question: str):
    text = "In the year ended June 30, 2015 the revenue was 9. We expect to pay 3 in 2030."
    assert not absent_subjects(question, [report("Orbico Inc", 2022, text)])


@pytest.mark.parametrize(
    ("question", "inherited", "absent"),
    [
        ("How does it compare to the year before?", "Tesla 10-Q", ["Tesla"]),
        ("How does it compare to the year before?", "10-Q Tesla", ["Tesla"]),
        ("How does it compare to the year before", "Tesla's revenue", ["Tesla"]),
        ("How does it compare to the year before?", "Orbico 2009", []),  # what was asked before may be of another year
        ("How does it compare to fiscal 2009?", "Orbico 2031", ["2009"]),
        ("What was its revenue? Do not mention Tesla.", "", []),
        ("What was its revenue?", "", []),
    ],
)
def test_a_follow_up_asks_about_the_names_that_it_took_over(question: str, inherited: str, absent: list[str]):
    searched = f"{question} {inherited}".rstrip()
    assert absent_subjects(searched, [report("Orbico Inc", 2022)], inherited=inherited) == absent


@pytest.mark.parametrize("asked", ["May Mrs Moor drive the car?", "What did the nurse give Mr Moor for it?"])
def test_how_somebody_is_addressed_is_no_part_of_the_name(asked: str):
    told = passage(
        "Hirer: Philippa Jane Moor. The nurse gave it to her. The car may be driven.",
        language="en",
        key="uploads/a/2024.pdf",
    )
    assert absent_subjects(asked, [told]) == []
    assert absent_subjects(asked.replace("Moor", "Blackwood"), [told])


def test_a_number_and_a_word_are_no_initials():
    text = "Revenue was 3 million, by all means great margins."
    others = passage(text, title="Report", language="en", organisations=("Orbico Inc",))
    assert absent_subjects("What was the revenue of 3M?", [others]) == ["3M"]
    assert absent_subjects("What was the revenue of BAMGM?", [others]) == []


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What is the maximum flow of the VP-50?", ["VP-50"]),
        ("What is the maximum flow of the vp50?", ["vp50"]),
        ("What is the maximum flow of the VP 50?", ["VP 50"]),
        ("What is the maximum flow of the VP-35?", []),
        ("What is the maximum flow of the VP-70?", []),
        ("What is the maximum flow of the VP-25?", []),
        ("What is the maximum flow of the vp 35?", []),
        ("Does the VP20 have a filter?", []),
        ("What does error E7 mean?", []),  # one letter may be anything: a road, a size of paper
        ("Is the VP-50 or the VP-20 louder?", []),  # what is told of one answers
        ("Which DS50 fits?", []),  # a range
        ("Do I pay EUR 40?", []),
        ("What was the flow in Q4?", []),
        ("Is the VP-100 louder?", []),  # of another form
        ("Does it meet ISO 9001?", []),
        ("Does it cost EUR 50?", []),
    ],
)
def test_a_code_that_stands_nowhere_among_others_of_its_form_is_absent(question: str, absent: list[str]):
    pumps = passage(
        "Model | Flow\nVP-10 | 9\nVP-20 | 19\nVP 35 | 30\nE5, E6 and E8: no water. In Q1, Q2 and Q3. "
        "DS10 to DS60, EUR 20 or EUR 30, VP-70b, kit VP-15/25",
        language="en",
    )
    assert list(absent_codes(question, [pumps])) == absent
    assert not absent_codes(question, [passage("Only the VP-10 is sold.", language="en")])


def test_a_document_without_a_period_need_only_mention_the_year():
    history = passage("The mole was built in 1897.", title="The harbour", language="en")
    assert not absent_subjects("What was built in 1897?", [history])
    assert absent_subjects("What was built in 1997?", [history]) == ["1997"]


def test_capitals_tell_names_in_some_languages_only():
    german = passage("Der Kessel wird entkalkt.", title="Handbuch", language="de")
    assert not absent_subjects("Wie oft wird der Durchlauferhitzer entkalkt?", [german])
    lithuanian = passage("Katilas kalkinamas kasmet.", title="Vadovas", language="lt", kind="handbook")
    assert absent_subjects("Kokios yra įmonės Orbico pajamos?", [lithuanian]) == ["Orbico"]


def test_what_stands_on_the_identity_card_is_not_absent():
    card = {"organisations": ("Tal Gebrus Instruments plc", "TGI"), "periods": ("2015",), "language": "en"}
    carded = passage("Sales rose by a tenth.", title="Report", **card)
    assert not absent_subjects("What were Gebrus's sales in 2015?", [carded])
    assert not absent_subjects("What were TGI's sales?", [carded])
    plain = passage("Sales rose by a tenth.", title="Report", language="en", kind="report")
    assert absent_subjects("What were Gebrus's sales in 2015?", [plain]) == ["Gebrus", "2015"]
    assert absent_subjects("What were its sales in 2011?", [carded]) == ["2011"]


def test_where_no_document_says_whose_it_is_a_name_may_be_the_authors():
    speech = passage("We will cut the deficit. I was born in the war.", title="address", language="en")
    question = "What does President Halvorsen say about the deficit?"
    assert not absent_subjects(question, [speech])
    assert not missing_words(question, [speech])
    assert absent_subjects(question, [speech._replace(organisations=("Orbico",))]) == ["President Halvorsen"]
    filed = passage("The deficit of Orbico rose.", title="Report", language="en", organisations=("Orbico",))
    assert not absent_subjects(question, [speech._replace(text="My plan is good. I will cut the deficit."), filed])
    assert absent_subjects(question, [speech._replace(text="The deficit will be cut."), filed]) == [
        "President Halvorsen"
    ]
    assert absent_subjects(question, [filed, speech]) == ["President Halvorsen"]


# --- among documents that read alike ---


def filing(organisation: str, *periods: str, text: str = "Revenue | 12 | 11", kind: str = "10-K") -> Passage:
    title = f"{organisation}, Form {kind}"
    return passage(text, title=title, organisations=(organisation,), periods=periods, kind=kind, language="en")


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What was Orbico's revenue in FY2022?", ["2022"]),  # Tebrun's report on 2022 does not tell of it
        ("What was Orbico's revenue in FY2018?", []),
        ("What was Tebrun's revenue in FY2022?", []),
        ("What was the revenue of Best Lamp in 2022?", ["Best Lamp"]),  # known by another document's card
        ("What was the revenue of 4K?", ["4K"]),
        ("What is the best lamp of 2022?", []),
    ],
)
def test_a_period_is_looked_for_in_what_is_of_the_organisation_that_is_named(question: str, absent: list[str]):
    passages = [filing("Orbico Inc.", "2019"), filing("Tebrun plc", "2022")]
    assert absent_subjects(question, passages, {"BEST LAMP CO., INC.", "4K Company"}) == absent


def test_another_organisations_report_that_tells_of_the_named_one_counts_as_its_own():
    passages = [filing("Orbico Inc.", "2022", text="In 2022 we bought Best Lamp for 3.")]
    assert not absent_subjects("What was paid for Best Lamp in 2022?", passages, {"Best Lamp Co."})


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What was the revenue in Q2 2023?", ["Q2 2023"]),  # the year's report has no quarters
        ("What was the revenue in the fourth quarter of 2022?", []),
        ("What was the revenue in 2022?", []),
        ("Did the debt grow between 2023 and 2022?", ["2023"]),  # mentioned, but the report ends before
        ("What payments are expected in 2023?", []),
        ("Welche Zahlungen sind 2023 fällig?", []),
    ],
)
def test_the_latest_period_asked_about_is_one_that_a_report_tells_of(question: str, absent: list[str]):
    report = filing("Orbico Inc.", "2022", text="We will pay 3 in 2023. | Revenue | 12")
    assert absent_subjects(question, [report]) == absent


def test_a_quarter_is_told_of_by_its_own_report_and_compared_in_the_next_years():
    assert not absent_subjects("What was the revenue in Q2 2023?", [filing("Orbico Inc.", "Q2 2024", kind="10-Q")])
    assert absent_subjects("What was it in Q3 2023?", [filing("Orbico Inc.", "Q2 2024", kind="10-Q")]) == ["Q3 2023"]
    told = filing("Orbico Inc.", "2023", text="In the second quarter of 2023 sales fell.")
    assert not absent_subjects("Why did sales fall in Q2 2023?", [told])


def test_a_later_quarter_does_not_tell_of_a_fiscal_year():
    quarter = filing("Orbico Inc.", "Q2 2024", kind="10-Q")
    assert absent_subjects("What was bought in FY2023?", [quarter]) == ["2023"]
    assert not absent_subjects("What was bought in FY2023?", [quarter, filing("Orbico Inc.", "2023")])


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What was the cash flow in the Q3 2022 10-Q?", ["Q3 2022"]),  # next year's report compares the quarter
        ("What was the cash flow in the report for Q3 2022?", ["Q3 2022"]),
        ("What was the cash flow in Q3 2022?", []),
        ("What does the Q3 2023 10-Q say?", []),
        ("What was agreed according to the 8-K?", ["8-K"]),
        ("What does the latest quarterly report say?", []),
    ],
)
def test_a_report_that_is_named_by_its_form_and_period_is_that_one(question: str, absent: list[str]):
    assert absent_subjects(question, [filing("Orbico Inc.", "Q3 2023", kind="10-Q")]) == absent


def test_a_document_of_no_kind_may_be_of_the_form_that_is_named():
    passages = [filing("Orbico Inc.", "Q3 2023", kind="10-Q"), passage("Agreed.", organisations=("Orbico Inc.",))]
    assert not absent_subjects("What was agreed according to Orbico's 8-K?", passages)


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What acquisitions has Best Buy made?", ["Best Buy"]),  # common words
        ("What industry does AMCOR operate in?", ["AMCOR"]),
        ("Is 3M a capital-intensive business?", ["3M"]),
        ("In Apple's report, what was the tax rate?", ["Apple"]),
        ("What was the revenue of EMEA?", []),  # in the text
        ("What was the tax rate of the CEO's country, by TSA?", []),  # initials: total sales and
        ("What is the share of CAPEX?", []),  # a term of the field
        ("What was the revenue for FY22 and of Q2?", ["2022"]),
        ("What did Orbico pay for Best Buy?", []),  # the document's own name stands beside it
        ("What was the Revenue of Total Sales?", []),
    ],
)
def test_a_subject_that_stands_nowhere_is_anothers_where_the_best_passage_says_whose_it_is(
    question: str, absent: list[str]
):
    text = "Total sales and revenue in EMEA. We buy the best lamps. The chief executive officer stayed."
    reports = [filing("Orbico Inc.", "2019", text=text), filing("Orbico Inc.", "2018", text="Revenue | 12 | 11")]
    assert absent_subjects(question, reports) == absent
    unnamed = passage("Sales rose.", language="en")
    assert absent_subjects(question, [*reports, unnamed]) == absent
    assert not absent_subjects("Is 3M a capital-intensive business?", [unnamed, *reports])


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What were total assets in FY2021?", []),
        ("What were total assets in FY2020?", ["2020"]),  # a balance sheet has two years
        ("What was the revenue in FY2020?", []),
        ("What was the free cash flow in FY2020, and what the inventory?", []),
    ],
)
def test_a_balance_is_compared_with_one_year_before(question: str, absent: list[str]):
    assert absent_subjects(question, [filing("Orbico Inc.", "2022", text="Fiscal 2020 | 11")]) == absent


# --- where each limit lies ---


@pytest.mark.parametrize(
    ("asks", "text", "told"),
    [
        # A report compares its year with the two before, and tells of others that it names as its periods.
        ("What was the revenue in {}?", "Revenue | 12 | 11", (2020, 2021, 2022)),
        ("What was the revenue in {}?", "We will pay 3 in {}.", (2020, 2021, 2022)),
        ("What was the revenue in {}?", "In fiscal {} it was 3.", (2018, 2019, 2020, 2021, 2022)),
        ("What was the revenue in {}?", "Fiscal years 2010, 2011 and {}.", (2018, 2019, 2020, 2021, 2022)),
        ("What was the revenue in {}?", "It ended May 3, {}.", (2018, 2019, 2020, 2021, 2022)),
        ("What revenue is expected in {}?", "We will pay 3 in {}.", (2020, 2021, 2022, 2023)),
        ("What revenue is expected in {}?", "We will pay 3.", (2020, 2021, 2022)),
        ("What were the total assets in {}?", "In fiscal {} they were 3.", (2021, 2022)),
        ("What was the revenue in {} and 2022?", "Revenue | 12 | 11", (2020, 2021, 2022)),
    ],
)
def test_a_report_tells_of_these_years(asks: str, text: str, told: tuple[int, ...]):
    years = range(2018, 2026)
    reports = {year: filing("Orbico Inc.", "2022", text=text.format(year)) for year in years}
    assert tuple(year for year in years if not absent_subjects(asks.format(year), [reports[year]])) == told


@pytest.mark.parametrize(
    ("periods", "kind", "told"),
    [
        (("2022",), "10-K", ["Q4 2022"]),
        (("Q2 2023",), "10-Q", ["Q2 2022", "Q2 2023"]),
        (("2023",), "10-K", ["Q4 2023"]),
        (("Q2 2023",), "letter", ["Q1 2023", "Q4 2022", "Q4 2023", "Q2 2022", "Q2 2023"]),
    ],
)
def test_a_report_tells_of_these_quarters(periods: tuple[str, ...], kind: str, told: list[str]):
    quarters = ["Q1 2023", "Q4 2022", "Q4 2023", "Q2 2022", "Q2 2023", "Q2 2025"]
    reports = [filing("Orbico Inc.", *periods, kind=kind)]
    assert [each for each in quarters if not absent_subjects(f"What was the revenue in {each}?", reports)] == told


@pytest.mark.parametrize(
    ("name", "held", "is_there"),
    [
        ("Pepsi", "PepsiCo", True),
        ("Pepsi", "PepsiCom", True),  # three letters more
        ("Pepsi", "PepsiCorp", False),
        ("PepsiCo", "Pepsi", True),
        ("Peps", "PepsiCo", False),  # five letters at least
        ("Orbico", "Orbica", False),
        ("Halvorsen", "Halversen", True),
        ("Halvorsen", "Halvarsun", False),
        ("Kellogg Foods", "Kellogg", True),
    ],
)
def test_a_name_is_there_in_a_longer_form_or_misspelt(name: str, held: str, is_there: bool):
    report = passage(f"It is of {held}.", language="en", title="Report 2022")
    assert absent_subjects(f"What does {name} say?", [report]) == ([] if is_there else [name])
