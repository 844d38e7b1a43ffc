"""The document, the pages and the sections that a question names are ranked higher."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import (
    CONTENTS,
    IN_SECTION,
    ON_PAGE,
    ON_STATEMENT,
    NamedPlaces,
    document_boosts,
    lists_contents,
    named_documents,
    rank,
    statement_boosts,
)
from functions.query.retrieval.search import Search, lexical_weight
from tests.support.query import match, passage

FILINGS = [
    passage("The Company's net sales rose.", n=n, title="FORM 10-Q", key=f"uploads/acme/{name}.pdf", cover=cover)
    for n, (name, cover) in enumerate(
        [
            ("2023 Q1 AAPL", "form 10-q december 31 2022 apple inc"),
            ("2023 Q2 AAPL", "form 10-q april 2023 apple inc"),
            ("2023 Q1 MSFT", "form 10-q march 31 2023 microsoft corporation"),
            ("2022 Q3 NVDA", "form 10-q october 30 2022 nvidia corporation"),
        ],
        start=1,
    )
]


def test_the_document_that_company_and_quarter_name_is_boosted_most():
    lifts = document_boosts("What were Apple's net sales in the Q1 2023 10-Q?", "en", FILINGS)
    assert max(lifts, key=lambda document: lifts[document]) == "doc1"
    assert lifts["doc1"] > 2 * max(lift for document, lift in lifts.items() if document != "doc1")


def test_a_question_that_names_nothing_boosts_nothing():
    assert set(document_boosts("How did net sales change?", "en", FILINGS).values()) == {0.0}


def test_a_name_in_a_title_is_enough_where_nothing_says_more():
    filings = [passage("Sales rose.", n=n, title=f"{name}, Form 10-Q") for n, name in enumerate(("Orbico", "Tal"), 1)]
    lifts = document_boosts("How have Orbico's total sales evolved?", "en", filings)
    assert lifts["doc1"] > lifts["doc2"] == 0.0
    assert set(document_boosts("How has the orbico evolved?", "en", filings).values()) == {0.0}  # a word like any other


def test_what_all_documents_are_called_boosts_none():
    assert set(document_boosts("What is a 10-Q form?", "en", FILINGS).values()) == {0.0}


def test_one_document_alone_gets_no_boost():
    assert document_boosts("Apple Q1 2023", "en", FILINGS[:1]) == {"doc1": 0.0}


# --- The identity card ---


def shares(question: str, *cards: dict[str, object]) -> list[float]:
    """Return the boosts of documents of one organisation beside one of another."""
    others = passage("Sales rose.", n=9, title="Tal", organisations=("Tal plc",))
    filings = [
        passage("Sales rose.", n=n, title="Report", organisations=("Orbico, Inc.", "ORB"), **card)
        for n, card in enumerate(cards, 1)
    ]
    lifts = document_boosts(question, "en", [*filings, others])
    assert lifts["doc9"] == 0.0
    return [lifts[f"doc{n}"] for n in range(1, len(cards) + 1)]


def test_a_symbol_and_initials_name_an_organisation():
    papers = [
        passage("Sales rose.", n=1, title="Report", organisations=("Advanced Orbital Devices, Inc.",)),
        passage("Sales rose.", n=2, title="Report", organisations=("Tal plc", "TLP")),
    ]
    assert document_boosts("What were AOD's sales?", "en", papers)["doc1"] > 0.0
    assert document_boosts("What were TLP's sales?", "en", papers)["doc2"] > 0.0


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("What were Orbico's sales in FY2022?", [("2022",), ("Q2 2022",), ("2023",), ("2021",)]),
        ("What were Orbico's sales in Q2 2023?", [("Q2 2023",), ("Q1 2023", "Q2 2023"), ("Q3 2023",), ("2021",)]),
        ("What were Orbico's sales?", [("2022",), ("Q2 2023",)]),
        ("What were Orbico's sales in fiscal 2022?", [("2022",), ("Q4 2022", "2022")]),
    ],
)
def test_the_period_on_the_card_decides_between_reports_of_one_company(question: str, periods: list[tuple[str, ...]]):
    lifts = shares(question, *({"periods": each} for each in periods))
    assert lifts == sorted(lifts, reverse=True)
    assert len(set(lifts)) == len(lifts)


def test_the_kind_that_a_question_names_is_preferred():
    annual, release = shares("What does Orbico's annual report say?", {"kind": "10-K"}, {"kind": "earnings release"})
    assert annual > release
    assert len(set(shares("What does Orbico say?", {"kind": "10-K"}, {"kind": "earnings release"}))) == 1


@pytest.mark.parametrize(
    "question", ["What are Orbico's sales in the latest report?", "Wie ist der neueste Umsatz von Orbico?"]
)
def test_the_latest_of_the_documents_that_are_named_is_preferred_where_it_is_asked_for(question: str):
    periods = [("Q3 2023",), ("Q2 2023",), ("2022",)]
    latest, *earlier = shares(question, *({"periods": each} for each in periods))
    assert latest > max(earlier)


def test_the_latest_is_not_looked_for_where_a_period_is_named():
    question = "What were Orbico's latest sales in Q2 2023?"
    asked, later = shares(question, {"periods": ("Q2 2023",)}, {"periods": ("Q3 2023",)})
    assert asked > later


def test_a_year_later_than_those_of_all_documents_that_are_named_does_not_choose_among_them():
    question = "As of 2021, what did Orbico expect to pay in 2024?"
    asked, later = shares(question, {"periods": ("2021",)}, {"periods": ("2022",)})
    assert asked > later
    one, other = shares("What will Orbico pay in 2024 and 2025?", {"periods": ("2021",)}, {"periods": ("2022",)})
    assert one == other


def test_a_period_that_an_editor_wrote_is_read_in_any_form():
    found = match("Sales rose.", period=["FY22", "spring"], organisation="Orbico", kind="10-K")
    read = Passage.of(found)
    assert (read.periods, read.organisations, read.kind) == (("2022",), ("Orbico",), "10-K")


# --- Words ---


def test_bm25_weighs_more_for_a_short_question():
    assert lexical_weight("E4 fault") > lexical_weight("what is the meaning of this rather long question")


def test_the_terms_of_a_question_add_up_to_the_weight_of_bm25():
    question = "How many litres does the generator burn a day?"
    assert abs(sum(Search(question, [1.0], 1, "acme").sparse.values) - lexical_weight(question)) < 1e-6


def test_words_in_lower_case_count_less_than_names():
    papers = [
        passage("x", n=1, title="Evoking reasoning steps", key="a.pdf"),
        passage("y", n=2, title="Fact checking of claims", key="b.pdf"),
    ]
    talked_about = document_boosts("How many reasoning steps are in Figure 1?", "en", papers)
    named = document_boosts("how many reasoning steps are evoked?", "en", papers)
    assert 0 < talked_about["doc1"] < named["doc1"]


def test_one_shared_word_does_not_name_a_document():
    papers = [
        passage("x", n=1, title="Program-guided checking", key="a.pdf"),
        passage("y", n=2, title="Facts", key="b.pdf"),
    ]
    assert document_boosts("What is the average gap to our program?", "en", papers)["doc1"] == 0.0


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("What does the table on page 28 show?", {"28"}),
        ("What is signed on page 15 and page 16?", {"15", "16"}),
        ("Which figures stand on pages 3-10?", {"3", "10"}),
        ("What is the title of slide 5?", {"5"}),
        ("See p. 7: what is meant?", {"7"}),
        ("Kas parašyta 12 puslapyje?", {"12"}),
        ("Kokia kaina nurodyta psl. 4?", {"4"}),
        ("How many pages does chapter 3 have?", set()),
        ("Is the report longer than 20 pages?", set()),
        ("Who is on the home page of 2024?", set()),
    ],
)
def test_a_question_names_pages_by_their_number(question: str, pages: set[str]):
    assert NamedPlaces.of(question).pages == pages


@pytest.mark.parametrize("where", [{"page_start": 12}, {"page_start": 3, "page_label": "12"}])
def test_a_passage_on_a_named_page_is_boosted_by_number_or_by_printed_label(where: dict[str, object]):
    named = NamedPlaces.of("What is the result on page 12?")
    assert named.boost(passage("The result.", **where)) == ON_PAGE  # type: ignore[arg-type]
    assert named.boost(passage("The result.", n=2)) == 0.0


def test_a_page_that_is_named_counts_more_than_a_section() -> None:
    named = NamedPlaces.of("What does 'Spare parts' say on page 12?")
    on_page, in_section = passage("a", page_start=12), passage("b", page_start=3, section="Service > Spare parts")
    assert named.boost(on_page) > named.boost(in_section) > named.boost(passage("c", page_start=3)) == 0


def test_a_passage_in_a_quoted_section_is_boosted():
    inside = passage("Press the button.", section="Basics > Lock and Unlock Your Screen > Turn On the Screen")
    for question in ("In the 'Unlock your screen' section, what comes first?", "What does “Turn On the Screen” say?"):
        assert NamedPlaces.of(question).boost(inside) == IN_SECTION
    assert NamedPlaces.of("What does 'Unlock' in 'Screens' mean?").boost(passage("x", section="Unlocked screen")) == 0.0


def test_apostrophes_quote_nothing():
    assert NamedPlaces.of("Does the company's plan change the users' rights?").quoted == []


CONTENTS_PAGE = (
    "Contents\n\n1 About the pump … 3\n2 Parts … 4\nValves | 4\n3 Service . . . . . . | 9\n3.1 Spare parts … 12"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CONTENTS_PAGE, True),
        (CONTENTS_PAGE.replace("9", "2").replace("4", "1"), False),  # the numbers go down
        ("Pump | 4\nValve | 5\nHose | 6\nLamp | 7\nFuse | 8", False),  # a list of ranks
        ("Pump | 2 x 18 | 16 | 5\nValve | 2 x 18 | 16 | 7\nHose | 3 x 18 | 16 | 9\nLamp | 3 x 18 | 16 | 12", False),
        (f"{CONTENTS_PAGE}\n\n{'The pump is old.\n' * 6}", False),
        ("Pumps … 3\nValves … 4", False),
        ("City | Inhabitants\nVilnius | 5\nKaunas | 12\nOslo | 30\nBerlin | 80\nParis | 200", False),
        ("CONTENTS\nThe city | 5\nIts people | 12\nIts river | 30\nIts hills | 80", True),
    ],
)
def test_a_table_of_contents_is_told_by_page_numbers_that_go_up(text: str, expected: bool) -> None:
    assert lists_contents(text) is expected


def test_a_table_of_contents_is_put_back_unless_it_is_asked_where_something_is() -> None:
    contents = passage(CONTENTS_PAGE)
    assert NamedPlaces.of("How are the valves serviced?").boost(contents) == -CONTENTS
    assert NamedPlaces.of("Which chapter is about the valves?").boost(contents) == 0.0
    assert NamedPlaces.of("What is said on p. 2?").boost(contents) == 0.0
    assert NamedPlaces.of("How are the valves serviced?").boost(passage("The valves are oiled.")) == 0.0


def test_a_question_that_names_no_place_boosts_none():
    assert NamedPlaces.of("How much fuel does it burn?").boost(passage("x", section="Fuel", page_label="1")) == 0.0


def order(question: str, passages: list[Passage]) -> list[str]:
    boosts = document_boosts(question, "en", passages)
    return [each.passage.document_id for each in rank(Search(question, [1.0], 1, "acme"), passages, boosts)]


def test_the_named_page_comes_first_among_pages_that_read_alike():
    alike = [passage("Signature of the officer.", n=n) for n in (4, 5, 6)]
    assert order("Who signed on page 6?", alike)[0] == "doc6"


def test_a_page_that_has_nothing_to_do_with_the_question_does_not_come_first_by_its_number():
    good = passage("The licence fee is 40 euros a year.", n=1, score=1.6)
    other = passage("Birds of the marsh.", n=7, score=0.3)
    assert order("What licence fee is given on page 7?", [other, good])[0] == "doc1"


def test_a_clearly_named_document_is_one_of_few_that_the_question_tells_apart():
    assert named_documents({"a": 0.8, "b": 0.5, "c": 0.1}) == ["a", "b"]
    assert named_documents({"a": 0.2, "b": 0.1}) == []
    assert named_documents({str(n): 0.8 for n in range(9)}) == []
    assert named_documents({}) == []


BALANCE = (
    "Consolidated Balance Sheets\n| 2022 | 2021\nInventories | 5,372 | 4,985\nTotal current assets | 14,688 | 15,403"
)
CASH = "Purchases of property, plant and equipment | (1,749) | (1,603)\nNet cash used in investing | (1,046) | (1,317)"
PROSE = "The consolidated balance sheets of the company are discussed below. Inventories rose as demand fell in 2022."


@pytest.mark.parametrize(
    ("question", "boosted"),
    [
        ("What are total current assets?", [True, False, False]),
        ("How large was capex in 2022?", [False, True, False]),
        ("What is the quick ratio, and what was the free cash flow?", [True, True, False]),
        ("Who audits the company?", [False, False, False]),
    ],
)
def test_a_statement_is_boosted_when_its_figures_are_asked_for(question: str, boosted: list[bool]):
    passages = [
        passage(BALANCE, n=1),
        passage(CASH, n=2, section="Item 8 > Consolidated Statements of Cash Flows"),
        passage(PROSE, n=3, section="Consolidated Balance Sheets"),
    ]
    assert statement_boosts(question, passages) == [ON_STATEMENT * each for each in boosted]


def test_a_note_about_a_statement_is_none():
    note = passage(f"NOTE 7. Supplemental Balance Sheet Information\n{CASH}")
    assert statement_boosts("What are total current assets?", [note]) == [0.0]


def test_a_piece_of_a_statement_is_known_by_its_tables_header_before_the_section_that_it_stands_in():
    pieces = [
        passage(CASH, n=1, table="Consolidated Statements of Cash Flows\n2022 | 2021", section="Balance Sheets"),
        passage(f"CASH FLOWS STATEMENTS\n{CASH}", n=2, section="Balance Sheets"),
    ]
    assert statement_boosts("What was the free cash flow?", pieces) == [ON_STATEMENT, ON_STATEMENT]
    assert statement_boosts("What are total current assets?", pieces) == [0.0, 0.0]
