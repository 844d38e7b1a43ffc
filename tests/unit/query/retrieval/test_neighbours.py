"""Neighbours come from the same document and generation, and positions stay exact where passages are put together."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from functions.query.retrieval.filters import matches
from functions.query.retrieval.neighbours import EXPANDED, Place, expanded, filter_for, place_of, places_beside
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import diverse
from shared.models import PageStart
from tests.support.query import passage

TEXT = "".join(f"Sentence number {n} of the text. " for n in range(60))


def cut(start: int, end: int, index: int, **more: object) -> Passage:
    """A passage cut from TEXT."""
    return passage(
        TEXT[start:end], document_id="d", chunk_index=index, char_start=start, chunk_id=f"d#g1#{index}", **more
    )


def by_place(passages: Sequence[Passage]) -> dict[Place, Passage]:
    return {place_of(each): each for each in passages}


def test_the_places_beside_the_best_are_fetched_once_and_only_in_their_generation():
    hits = [cut(0, 10, 0), cut(100, 110, 3), cut(40, 50, 2)]
    assert places_beside(hits, neighbours=1) == [("d", "g1", 1), ("d", "g1", 4)]


def test_only_the_best_are_expanded():
    hits = [passage("x", n=n, chunk_index=5) for n in range(1, 9)]
    assert len(places_beside(hits, neighbours=1)) == 2 * EXPANDED


def test_the_filter_finds_exactly_the_places_that_the_askers_own_filter_lets_through():
    wanted = filter_for([("d", "g1", 1), ("d", "g1", 4), ("e", "g7", 0)], {"language": "en"})
    right = {"document_id": "d", "generation": "g1", "chunk_index": 4, "language": "en"}
    assert matches(wanted, right)
    for wrong in ({"chunk_index": 2}, {"generation": "g0"}, {"language": "lt"}, {"document_id": "e"}):
        assert not matches(wanted, right | wrong)


def test_overlapping_neighbours_become_one_passage_with_the_text_in_between_once():
    [whole] = expanded(
        [cut(100, 200, 3, score=0.8)],
        by_place([cut(20, 120, 2, score=0.3), cut(190, 300, 4, score=0.9)]),
        neighbours=1,
        budget_tokens=1_000,
    )
    assert (whole.text, whole.char_start, whole.char_end) == (TEXT[20:300], 20, 300)
    assert (whole.chunk_id, whole.chunk_index, whole.score) == ("d#g1#3", 3, 0.9)


def test_pages_of_both_are_kept_in_order():
    first = cut(0, 50, 0, page_start=1, page_end=1, pages=(PageStart(1, 0),))
    second = cut(50, 90, 1, page_start=2, page_end=2, pages=(PageStart(2, 50),))
    [whole] = expanded([second], by_place([first]), neighbours=1, budget_tokens=1_000)
    assert (whole.page_start, whole.page_end, whole.pages) == (1, 2, (PageStart(1, 0), PageStart(2, 50)))
    assert [whole.page_at(at).number for at in (0, 49, 50, 89)] == [1, 1, 2, 2]


def test_what_stands_between_is_filled_in_only_where_it_is_known():
    first = cut(0, 10, 0)
    for gap, at_page, joined in ((2, False, "\n\n"), (1, True, "\n"), (1, False, None), (3, False, None)):
        pages = (PageStart(2, 10 + gap),) if at_page else ()
        second = cut(50, 60, 1, page_start=2 if at_page else 1, page_end=2 if at_page else 1, pages=pages)
        second = second._replace(char_start=10 + gap)
        [found, *_] = expanded([first], by_place([second]), neighbours=1, budget_tokens=1_000)
        assert found.text == (first.text if joined is None else first.text + joined + second.text)


def test_texts_that_do_not_agree_are_not_joined():
    first, second = cut(0, 20, 0), cut(10, 30, 1)._replace(text="something else here!")
    assert expanded([first], by_place([second]), neighbours=1, budget_tokens=1_000) == [first]


def test_of_two_hits_that_touch_the_better_absorbs_the_other():
    better, other, apart = cut(50, 100, 1), cut(0, 50, 0), cut(400, 450, 9)
    found = expanded([better, apart, other], {}, neighbours=1, budget_tokens=0)
    assert [each.chunk_index for each in found] == [1, 9]
    assert found[0].text == TEXT[0:100]


def test_the_token_budget_bounds_what_is_added():
    hit, before, after = cut(50, 100, 1), cut(0, 50, 0, token_count=30), cut(100, 150, 2, token_count=30)
    [whole] = expanded([hit], by_place([before, after]), neighbours=1, budget_tokens=45)
    assert whole.text == TEXT[0:100]


@st.composite
def pieces(draw: st.DrawFn) -> list[Passage]:
    """TEXT cut into overlapping or touching passages, numbered in order."""
    cuts, start = [], 0
    while start < 600:
        end = start + draw(st.integers(5, 120))
        cuts.append((start, end))
        start = end - draw(st.integers(0, min(4, end - start - 1)))
    return [cut(start, end, index) for index, (start, end) in enumerate(cuts)]


@given(pieces(), st.data())
def test_a_joined_passage_is_the_text_at_its_positions(every: list[Passage], data: st.DataObject):
    hits = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=5, unique_by=place_of))
    neighbours = data.draw(st.integers(0, 3))
    held = by_place(hits)
    wanted = places_beside(hits, neighbours=neighbours)
    found = {place: each for place, each in by_place(every).items() if place in set(wanted) and place not in held}
    result = expanded(hits, found, neighbours=neighbours, budget_tokens=data.draw(st.integers(0, 200)))
    assert result[0].chunk_id == hits[0].chunk_id
    for each in result:
        assert each.text == TEXT[each.char_start : each.char_end]
    for hit in hits:
        assert any(each.char_start <= hit.char_start and hit.char_end <= each.char_end for each in result)


@given(
    st.lists(
        st.tuples(st.sampled_from([TEXT[:80], TEXT[40:120], TEXT[500:600], "other"]), st.floats(0, 2)), max_size=12
    ),
    st.integers(1, 5),
    st.floats(0, 1),
)
def test_diversity_only_changes_the_order_and_keeps_the_best_first(
    scored: list[tuple[str, float]], wanted: int, diversity: float
):
    ranked = sorted(
        (passage(text, n=n, rank_score=score) for n, (text, score) in enumerate(scored)),
        key=lambda each: -each.rank_score,
    )
    found = diverse(ranked, wanted=wanted, diversity=diversity)
    assert sorted(each.chunk_id for each in found) == sorted(each.chunk_id for each in ranked)
    if diversity == 0:
        assert found == ranked
    if ranked and diversity < 1:
        assert found[0].rank_score == ranked[0].rank_score


def test_diversity_puts_another_text_before_a_similar_one():
    same, again, other = (
        passage("the clock runs fast", n=1, rank_score=1.0),
        passage("the clock runs fast", n=2, rank_score=0.9),
        passage("a door stands open", n=3, rank_score=0.8),
    )
    worst = passage("unrelated", n=4, rank_score=0.0)
    ranked = [same, again, other, worst]
    assert diverse(ranked, wanted=2, diversity=0.0)[:2] == [same, again]
    assert diverse(ranked, wanted=2, diversity=0.5)[:2] == [same, other]


HEADER = "Dish | Milk"
ROWS = ("Soup | x\nPie | ", "Tart | x\nStew | ", "Cake | x\n\nOpen every day.")


def pieces(*texts: str) -> list[Passage]:
    """The pieces of a table, as ingest cuts it."""
    found: list[Passage] = []
    start = 0
    for n, text in enumerate(texts):
        table = HEADER if n else ""
        found.append(passage(text, document_id="d", chunk_index=n, char_start=start, chunk_id=f"d#{n}", table=table))
        start += len(text) + 1
    return found


def test_a_table_that_is_cut_is_completed_on_both_sides() -> None:
    first, second, third = pieces(f"{HEADER}\n{ROWS[0]}", *ROWS[1:])
    assert places_beside([second], neighbours=0, tables="whole") == [("d", "g1", n) for n in (0, 2, 3, 4)]
    assert places_beside([third], neighbours=0, tables="whole") == [("d", "g1", 0), ("d", "g1", 1)]
    [whole] = expanded([second], by_place([first, third]), neighbours=0, budget_tokens=1_000, tables="whole")
    assert whole.text == "\n".join((HEADER, *ROWS))
    assert (whole.table, whole.table_ends) == ("", False)


def test_where_things_are_counted_only_a_table_that_a_passage_begins_is_completed() -> None:
    first, second, third = pieces(f"{HEADER}\n{ROWS[0]}", *ROWS[1:])
    assert places_beside([second], neighbours=0, tables="begun") == []
    assert places_beside([first], neighbours=0, tables="begun") == [("d", "g1", n) for n in (1, 2, 3)]
    [whole] = expanded([first], by_place([second, third]), neighbours=0, budget_tokens=1_000, tables="begun")
    assert whole.text == "\n".join((HEADER, *ROWS))


def test_a_table_ends_where_nothing_of_it_follows() -> None:
    first, second, _ = pieces(f"{HEADER}\n{ROWS[0]}", *ROWS[1:])
    [last] = expanded([first], {}, neighbours=0, budget_tokens=1_000, tables="whole")
    assert last.table_ends
    [whole] = expanded([first], by_place([second]), neighbours=0, budget_tokens=1_000, tables="whole")
    assert (whole.text, whole.table_ends) == ("\n".join((HEADER, *ROWS[:2])), True)
    prose = second._replace(text="Open every day.", table="")
    [alone] = expanded([first], by_place([prose]), neighbours=0, budget_tokens=1_000, tables="whole")
    assert (alone.text, alone.table_ends) == (first.text, True)
    unknown = second._replace(table="")
    [cut_off] = expanded([first], by_place([unknown]), neighbours=0, budget_tokens=1_000, tables="whole")
    assert (cut_off.text, cut_off.table_ends) == (first.text, False)
    [too_long] = expanded([first], by_place([second]), neighbours=0, budget_tokens=0, tables="whole")
    assert not too_long.table_ends
