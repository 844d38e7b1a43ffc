"""Pages and sections that a question names: passages that stand there are worth more."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import IN_SECTION, ON_PAGE, NamedPlaces, rank
from functions.query.retrieval.search import Search
from tests.support.query import passage


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
def test_a_passage_on_a_named_page_is_worth_more_by_number_or_by_printed_label(where: dict[str, object]):
    named = NamedPlaces.of("What is the result on page 12?")
    assert named.worth(passage("The result.", **where)) == ON_PAGE  # type: ignore[arg-type]
    assert named.worth(passage("The result.", n=2)) == 0.0


def test_a_passage_in_a_quoted_section_is_worth_more():
    inside = passage("Press the button.", section="Basics > Lock and Unlock Your Screen > Turn On the Screen")
    for question in ("In the 'Unlock your screen' section, what comes first?", "What does “Turn On the Screen” say?"):
        assert NamedPlaces.of(question).worth(inside) == IN_SECTION
    assert NamedPlaces.of("What does 'Unlock' in 'Screens' mean?").worth(passage("x", section="Unlocked screen")) == 0.0


def test_apostrophes_quote_nothing():
    assert NamedPlaces.of("Does the company's plan change the users' rights?").quoted == []


def test_a_question_that_names_no_place_favours_none():
    assert NamedPlaces.of("How much fuel does it burn?").worth(passage("x", section="Fuel", page_label="1")) == 0.0


def order(question: str, passages: list[Passage]) -> list[str]:
    return [each.document_id for _, each in rank(Search(question, [1.0], 1, "acme"), passages)]


def test_the_named_page_comes_first_among_pages_that_read_alike():
    alike = [passage("Signature of the officer.", n=n) for n in (4, 5, 6)]
    assert order("Who signed on page 6?", alike)[0] == "doc6"


def test_a_page_that_has_nothing_to_do_with_the_question_does_not_come_first_by_its_number():
    good = passage("The licence fee is 40 euros a year.", n=1, score=1.6)
    other = passage("Birds of the marsh.", n=7, score=0.3)
    assert order("What licence fee is given on page 7?", [other, good])[0] == "doc1"
