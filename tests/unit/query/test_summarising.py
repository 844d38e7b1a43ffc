"""What a summary is made of: a document's sections, passages from all of it, and its most telling sentences."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.sections import headings
from functions.query.summarising import chosen_passages, telling_sentences
from shared.models import SectionStart
from tests.support.query import passage


def part(
    at: int, section: str = "", *, score: float = 0.5, text: str = "Text.", sections: tuple[str, ...] = ()
) -> Passage:
    starts = tuple(SectionStart(10 * n, path) for n, path in enumerate(sections))
    return passage(text, chunk_id=f"doc1#g1#{at}", chunk_index=at, section=section, score=score, sections=starts)


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["A > a", "A > b", "B", "C > c"], ["A", "B", "C"]),
        (["A > a", "A > b", "B > x > y"], ["A – a", "A – b", "B – x"]),
        (["A", "A", "A"], ["A"]),
        ([], []),
    ],
)
def test_the_top_sections_are_listed_or_where_they_are_few_those_below(paths: list[str], found: list[str]):
    assert headings([part(at, path) for at, path in enumerate(paths)]) == found
    assert headings([part(0, "ignored", sections=tuple(paths))] if paths else []) == found


def test_the_title_is_no_section_above_those_of_the_first_page():
    paths = ["House rules", "House rules > 1. Noise", "House rules > 2. Bins", "3. Pets > Dogs"]
    found = [part(at, path)._replace(title="House Rules, 2025") for at, path in enumerate(paths)]
    assert headings(found) == ["1. Noise", "2. Bins", "3. Pets"]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (
            ["Policy", "Policy > Section A", "Policy > Section B", "Section C > Theft", "Annex"],
            ["Section A", "Section B", "Section C", "Annex"],
        ),
        (
            ["Lease > Parties", "Lease > Clauses > First. Term", "Lease > Clauses > Second. Rent", "Third. Pets"],
            ["Parties", "First. Term", "Second. Rent", "Third. Pets"],
        ),
        (["1 Aim > 1.1 Scope", "1 Aim > 1.2 Words", "2 Methods", "3 Results"], ["1 Aim", "2 Methods", "3 Results"]),
        (["Aim > 1.1 Scope", "Aim > 1.2 Words", "2 Methods", "3 Results"], ["Aim", "2 Methods", "3 Results"]),
        (["Aim > Scope", "Aim > Words", "Methods", "Results"], ["Aim", "Methods", "Results"]),
    ],
)
def test_a_title_that_is_printed_above_some_of_the_sections_is_none(paths: list[str], found: list[str]):
    assert headings([part(at, path) for at, path in enumerate(paths)]) == found


def test_a_summary_is_made_of_all_parts_of_a_document():
    def chosen(parts: list[Passage]) -> list[int]:
        return [each.chunk_index for each in chosen_passages(parts)]

    assert chosen([part(at, "A") for at in range(5)]) == [0, 1, 2, 3, 4]
    long = [part(at, f"S{at // 2}", score=0.1 * (at == 31)) for at in range(32)]
    assert chosen(long) == [0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 31]
    late = [part(0), *(part(at, "A", score=0.9) for at in range(1, 20))]
    assert chosen(late)[0] == 0, "the beginning is always there"


LAMP = "The lamp of the tower is lit by its keeper at sunset."
SHIP = "A ship was once seen from there by somebody else."


def told(*texts: str) -> list[tuple[str, list[int]]]:
    sources = [part(at, text=text) for at, text in enumerate(texts)]
    claims = telling_sentences(
        sources, [*sources, *(part(9, text="The lamp, the tower, the keeper.") for _ in range(3))]
    )
    return [(claim.text, [reference.source for reference in claim.references]) for claim in claims]


def test_the_sentence_with_the_documents_frequent_words_tells_a_passage():
    assert told(f"{SHIP} {LAMP}", SHIP) == [(LAMP, [1]), (SHIP, [2])]


@pytest.mark.parametrize(
    "text",
    [
        "The lamp of the tower is lit now.",  # too short
        f"The lamp of the tower is lit by its keeper {'and is lit again ' * 20}.",  # too long
        "Is the lamp of the tower lit by its keeper at sunset?",
        "The lamp of the tower is lit by its keeper at sunset and",  # it is cut
    ],
)
def test_what_says_too_little_or_is_no_sentence_is_not_told(text: str):
    assert told(text) == []


def test_the_six_most_telling_passages_are_told_in_their_order():
    texts = [f"{LAMP[:-1]} of day {name}." for name in ("one", "two", "three", "four", "five", "six")]
    found = told(SHIP, *texts)
    assert [n for _, (n,) in found] == [2, 3, 4, 5, 6, 7]
