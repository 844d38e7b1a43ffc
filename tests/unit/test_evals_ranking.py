"""From chunks to pages, by the same rule for everybody."""

from hypothesis import given
from hypothesis import strategies as st

from evals.ranking import Hit, pages_by_share, ranked_pages


def places(hits: list[Hit], at_most: int = 10) -> list[tuple[str, int]]:
    return [(each.doc, each.page) for each in ranked_pages(hits, at_most=at_most)]


def test_a_page_keeps_its_first_place_and_the_score_it_came_with() -> None:
    hits = [Hit("a.pdf", (1,), 0.9), Hit("a.pdf", (2,), 0.8), Hit("a.pdf", (1,), 0.7), Hit("b.pdf", (1,), 0.6)]
    assert places(hits) == [("a.pdf", 1), ("a.pdf", 2), ("b.pdf", 1)]
    assert ranked_pages(hits, at_most=1)[0].score == 0.9


def test_a_chunk_across_pages_takes_a_place_for_each_of_them() -> None:
    assert places([Hit("a.pdf", (4, 3), 0.9), Hit("a.pdf", (5,), 0.8)]) == [("a.pdf", 4), ("a.pdf", 3), ("a.pdf", 5)]


def test_the_row_ends_at_the_number_asked_for_even_inside_a_chunk() -> None:
    assert places([Hit("a.pdf", (1, 2, 3), 0.9)], at_most=2) == [("a.pdf", 1), ("a.pdf", 2)]


def test_the_page_with_most_of_the_chunk_comes_first() -> None:
    # A chunk from 90 to 200: ten characters on page 3, ninety on page 4, ten on page 5.
    assert pages_by_share([(3, 0), (4, 100), (5, 190)], 90, 200) == [4, 3, 5]


def test_a_page_the_chunk_does_not_touch_is_left_out() -> None:
    assert pages_by_share([(3, 0), (4, 100), (5, 200)], 100, 150) == [4]


def test_without_page_starts_there_is_no_share_to_order_by() -> None:
    assert pages_by_share([], 0, 100) == []


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))))
def test_no_page_occurs_twice_and_none_is_lost(chunks: list[tuple[str, list[int]]]) -> None:
    row = places([Hit(doc, pages, 0.5) for doc, pages in chunks], at_most=1000)
    assert len(row) == len(set(row))
    assert set(row) == {(doc, page) for doc, pages in chunks for page in pages}
