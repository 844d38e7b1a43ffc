"""What tells a document from its neighbours: its name, with periods as documents write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import identity
from shared.identity import name_of, with_plain_periods


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("What is FY22 capex?", "What is fiscal 2022 capex?"),
        ("FY2021, FY 2019 and FY'98", "fiscal 2021, fiscal 2019 and fiscal 1998"),
        ("2Q23 against 4Q 2021", "Q2 2023 against Q4 2021"),
        ("Q3'22 and q1 23", "Q3 2022 and Q1 2023"),
        ("FY2023Q1", "fiscal Q1 2023"),
        ("in Q2 of FY2024", "in Q2 of fiscal 2024"),
        ("the Q1 10-Q of 2022", "the Q1 10-Q of 2022"),
        ("Q2 2023", "Q2 2023"),
        ("model 2Q2341 and Q4 12,500", "model 2Q2341 and Q4 12,500"),
    ],
)
def test_periods_are_written_out(written: str, plain: str):
    assert with_plain_periods(written) == plain


@given(st.text(alphabet="FYQ fyq'0123456789-", max_size=30))
def test_writing_periods_out_twice_changes_nothing(text: str):
    once = with_plain_periods(text)
    assert with_plain_periods(once) == once


def test_a_file_name_names_its_period_as_a_question_does():
    assert name_of("Results", "uploads/acme/ORCHARD_2023Q2_10Q.pdf") == "Results ORCHARD Q2 2023 10Q"
    assert name_of("Results", "uploads/acme/PLUM 10K FY22.pdf") == "Results PLUM 10K fiscal 2022"


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("ADBE 10K FY22", ["2022"]),
        ("2023 Q1 AAPL", ["Q1 2023"]),
        ("AMCOR 2023Q4 EARNINGS", ["Q4 2023"]),
        ("Second Quarter 2024 and full year 2023", ["Q2 2024", "2023"]),
        ("the fourth quarter of fiscal year 2022", ["Q4 2022"]),
        ("Q2 of FY2023", ["Q2 2023"]),
        ("12-15-2015", []),
        ("part 12019", []),
    ],
)
def test_periods_have_one_form(text: str, periods: list[str]) -> None:
    assert identity.periods_in(text) == periods


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("nova y70: User's Guide", "user manual"),
        ("Geschäftsbericht 2021", "annual report"),
        ("A Survey of Claim Verification", "survey"),
        ("How agents act on reports of others", ""),
        ("AMZN 10-K 2022", "10-K"),
        ("Object Storage Service: Product Introduction", "product description"),
    ],
)
def test_a_title_tells_the_kind_of_document(title: str, kind: str) -> None:
    assert identity.kind_in(title) == kind


def test_of_two_kinds_that_are_as_long_the_first_is_named() -> None:
    assert (identity.kind_in("Survey: Manual"), identity.kind_in("Manual: Survey")) == ("survey", "user manual")


def test_a_kind_is_taken_out_of_a_title() -> None:
    assert identity.is_kind("Owner\u2019s Manual")
    assert not identity.is_kind("Owner\u2019s Manual of the Orchard")
    assert identity.without_kind("nova y70: User\u2019s Guide") == "nova y70"
    assert identity.without_kind("nova y70") == "nova y70"


def test_questions_name_kinds_by_other_words() -> None:
    assert identity.kinds_asked("What did the annual report say?") == {"10-K", "20-F", "40-F", "annual report"}
    assert identity.kinds_asked("as per the 10K of 2022") == {"10-K"}
    assert identity.kinds_asked("Which report do I act on?") == frozenset()


@pytest.mark.parametrize(
    ("organisation", "named"),
    [
        ("BEST BUY CO., INC.", "Best Buy"),
        ("Apple Inc.", "Apple"),
        ("3M COMPANY", "3M"),
        ("Bank of America Corporation", "Bank of America"),
        ("Verizon Communications Inc.", "Verizon"),
        ("General Electric Company", ""),
        ("The Boeing Company", ""),
        ("Rival plc", ""),
        ("", ""),
    ],
)
def test_an_organisation_is_named_by_the_beginning_of_its_name(organisation: str, named: str):
    text = "Did the best buy of general use, by Best Buy, Apple, 3M, Verizon or Bank of America, rival others?"
    assert identity.organisation_in(text, organisation) == named


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Does the ferry to Nida run on Sundays?", ["Nida", "Sundays"]),
        ("where is room B12, and is it for 4?", ["B12", "4"]),
        ("can I charge an iPhone? My battery is flat.", ["iPhone"]),
        ("What if I'm late? I’ll call.", []),
        ("does Mr. Patel or St. Anne pay?", ["Patel", "Anne"]),
        ("Acme's canteen, is it open?", ["Acme"]),
        ("is a bill of £1,200 paid?", ["1200"]),
        ("IBM lays off whom?", ["IBM"]),
        ("WHERE IS THE FERRY TO NIDA IN 2024", ["2024"]),
        ("what about the dog", []),
        ("", []),
    ],
)
def test_words_written_like_names_are_told_from_the_beginning_of_a_sentence(text: str, marked: list[str]):
    assert list(identity.marked_words_in(text)) == marked


@pytest.mark.parametrize(
    ("question", "speakers"),
    [
        ("What did President Halvorsen promise to drain?", ["President Halvorsen"]),
        ("What jobs were mentioned by Ann Lee, according to Bo Ek?", ["Ann Lee", "Bo Ek"]),
        ("What are the measures that Halvorsen mentioned?", ["Halvorsen"]),
        ("What does Ann Lee's second letter say?", ["Ann Lee"]),
        ("Which refunds does Deutsche Telekom pay?", []),
        ("Is Friday's concert refunded?", []),
        ("Did Churchill visit the trenches?", []),
        ("DOES THE BURGLAR ALARM MENTION A REFUND?", []),
    ],
)
def test_who_speaks_is_told_by_what_they_do(question: str, speakers: list[str]) -> None:
    assert sorted(identity.speakers_in(question)) == speakers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I was born in the war. My father drove a bus.", True),
        ("When I was young, I’ve heard it said.", True),
        ("I was born in the war.", False),
        ("How do I cancel my order? When do I get my money? By post.", False),
        ("World War I trenches are deep. After World War I ended they fell in.", False),
        ("Elizabeth I was crowned. Charles I was not.", False),
    ],
)
def test_own_words_are_told_by_who_says_i(text: str, expected: bool) -> None:
    assert identity.is_own_words(text) is expected
