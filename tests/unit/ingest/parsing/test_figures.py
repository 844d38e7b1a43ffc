"""Which drawings and lines make a figure: a caption and what is drawn beside it, or nothing at all."""

from collections.abc import Sequence

import pytest

from functions.ingest.figures import DescribedFigure, notes_of, usable
from functions.ingest.parsing.figures import MAX_ON_PAGE, Box, clusters, figures_of, has_caption, pictures_of
from functions.ingest.parsing.reflow import page_of, reflow
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import HEADER, Line, RawPage, pack_page, unpack

PAGE = (0.0, 0.0, 600.0, 800.0)
PROSE = "This sentence goes on for long enough to be one of the running text."


def line(text: str, x: float, y: float, *, width: float = 0.0, size: float = 10.0, column: int = 0) -> Line:
    return Line(text, x, y, x + (width or 5.0 * len(text)), y + size, size, column=column, cells=1 + bool(column))


def chart(x: float, y: float, width: float = 300, height: float = 150) -> list[Box]:
    """Axes and bars."""
    bars = [(x + at, y + height - at / 3, x + at + 15, y + height) for at in range(0, int(width) - 15, 30)]
    return [(x, y, x + 1, y + height), (x, y + height, x + width, y + height + 1), *bars]


LABELS = [line("Kilometres", 90, 130), line("1930 1940 1950 1960 1970 1980 1990 2000", 100, 262)]
CAPTION = [line("Figure 1: How long the glacier was in each of eight", 100, 285), line("decades.", 100, 297)]
BEFORE, AFTER = line(PROSE, 60, 60), line(PROSE, 60, 330)
WHOLE = [BEFORE, LABELS[0], AFTER, LABELS[1], *CAPTION]


def found(lines: Sequence[Line], boxes: Sequence[Box]) -> tuple[list[str], int]:
    """Return the words in figures, in order, and how many figures there are."""
    kept, figures = figures_of(lines, boxes, PAGE)
    assert sorted(each.text for each in kept) == sorted(each.text for each in lines)
    return [each.text for each in kept if each.figure], len(figures)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Figure 3: Overview", True),
        ("Fig. 2. Overview", True),
        ("FIGURE 1-1 Product architecture", True),
        ("Chart A.2 – Sales", True),
        ("Abbildung 4: Aufbau", True),
        ("Figure 2 shows the general", False),
        ("Figure out what is wrong", False),
        ("Table 2: Sales", False),
        ("Figures 2: Sales", False),
        ("See Figure 3: there", False),
    ],
)
def test_what_begins_a_caption(text: str, expected: bool) -> None:
    assert has_caption(line(text, 0, 0)) is expected


def test_a_row_of_a_table_is_no_caption() -> None:
    assert not has_caption(line("Figure 3: Overview", 0, 0, column=1))


def test_what_is_written_in_a_chart_comes_together_before_its_caption() -> None:
    kept, (figure,) = figures_of(WHOLE, chart(100, 110), PAGE)
    assert [each.text for each in kept] == [each.text for each in [BEFORE, AFTER, *LABELS, *CAPTION]]
    assert [each.figure for each in kept] == [0, 0, 1, 1, 0, 0]
    assert figure.caption == "Figure 1: How long the glacier was in each of eight decades."
    assert figure.box == (100, 110, 400, 261)


def test_the_empty_page_that_a_chart_was_cut_from_joins_nothing() -> None:
    assert found(WHOLE, [(20, 40, 580, 500), *chart(100, 120)]) == found(WHOLE, chart(100, 120))


def test_a_caption_may_stand_above_its_chart() -> None:
    below = [line("Figure 1: Length", 100, 90), *LABELS, AFTER]
    assert found(below, chart(100, 110)) == ([each.text for each in LABELS], 1)


def test_running_text_between_a_drawing_and_a_caption_parts_them() -> None:
    apart = [line(PROSE, 80, 262), line("Figure 1: Length", 100, 285)]
    assert found(apart, chart(100, 110)) == ([], 0)


def test_a_drawing_two_captions_claim_is_nobodys() -> None:
    captions = [line("Figure 1: Length", 100, 265), line("Figure 2: Width", 260, 265)]
    assert found([*captions, LABELS[0]], chart(100, 110)) == ([], 0)


def test_text_of_the_next_column_over_the_margin_of_a_picture_is_not_in_it() -> None:
    picture = [(60.0, 120.0, 420.0, 280.0)]
    text = [line(PROSE, 360, 130, width=240), line("in the next column, and ends here at last.", 360, 142, width=240)]
    caption = [line("Figure 1: How long the glacier was in each of the", 60, 285, width=240), line("decades.", 60, 297)]
    assert found([LABELS[0], *caption, *text], picture) == ([LABELS[0].text], 1)


def test_panels_side_by_side_and_above_each_other_are_one_figure() -> None:
    caption = line("Figure 1: Length and width, each by decade, of all", 60, 460, width=480)
    panels = [*chart(60, 110, 200), *chart(310, 110, 200), *chart(60, 290, 200), *chart(310, 290, 200)]
    labels = [line("(a)", 50, 115), line("(d)", 330, 300)]
    words, count = found([*labels, caption], panels)
    assert (words, count) == (["(a)", "(d)"], 1)


def test_a_table_that_reaches_out_of_the_drawing_stays_whole() -> None:
    rows = [line("a | 1", 120, 150, column=1), line("b | 2", 120, 400, column=1)]
    assert found([*rows, *CAPTION], chart(100, 110)) == ([], 0)


@pytest.mark.parametrize(
    "boxes",
    [
        [(0.0, 0.0, 600.0, 800.0)],  # a background
        [(60.0, 275.0, 540.0, 276.0)],  # a rule
        [(100.0, 250.0, 140.0, 280.0)],  # an icon
        [],
    ],
)
def test_backgrounds_rules_and_icons_are_no_figures(boxes: list[Box]) -> None:
    assert found(WHOLE, boxes) == ([], 0)


def test_a_page_has_so_many_figures_at_most() -> None:
    lines = [line(f"Figure {n}: Length", 100, 62 + 70.0 * n) for n in range(11)]
    boxes = [(100.0, 20 + 70.0 * n, 300.0, 60 + 70.0 * n) for n in range(11)]
    assert found(lines, boxes)[1] == MAX_ON_PAGE


def test_words_that_run_upwards_are_where_they_are_seen() -> None:
    from shared.rects import STEPS, place_of

    upwards = Line("Length (km)", 600, 90, 660, 100, 10, cells=0, place=place_of((88, 140, 98, 200), (), 800 / STEPS))
    assert "Length (km)" in found([upwards, *WHOLE], chart(100, 110))[0]
    elsewhere = Line("Margin", 150, 150, 200, 160, 10, cells=0, place=place_of((560, 140, 570, 200), (), 800 / STEPS))
    assert "Margin" not in found([elsewhere, *WHOLE], chart(100, 110))[0]


def test_drawings_near_each_other_are_one_and_those_beyond_the_page_none() -> None:
    boxes = [(0.0, 0.0, 10.0, 10.0), (14.0, 2.0, 30.0, 9.0), (100.0, 100.0, 120.0, 120.0), (900.0, 900.0, 950.0, 950.0)]
    for drawn in (boxes, boxes[::-1]):
        assert sorted(clusters(drawn, 600, 800)) == [(0, 0, 30, 10), (100, 100, 120, 120)]


def test_pictures_without_a_caption_are_those_large_enough_and_not_known() -> None:
    _, figures = figures_of(WHOLE, chart(100, 110), PAGE)
    small, large, scan, known = (0, 0, 90, 90), (50, 400, 350, 700), (0, 0, 600, 800), (110, 120, 390, 250)
    assert [each.box for each in pictures_of([small, large, scan, known, large], figures, 600, 800)] == [large]


def test_caption_and_words_are_one_block_and_travel_between_processes() -> None:
    raw = RawPage(1, width=600, height=800)
    raw.lines, figures = figures_of(WHOLE, chart(100, 110), PAGE)
    raw.figures = [(*each.box, each.caption, "") for each in figures]
    sent = unpack(pack_page(raw)[HEADER.size :])
    assert isinstance(sent, RawPage)
    assert [each.figure for each in sent.lines] == [0, 0, 1, 1, 0, 0]
    assert [tuple(each) for each in sent.figures] == raw.figures
    page = page_of(sent, reflow(sent, [], Vocabulary()), continues=False)
    (block,) = [block for block in page.blocks if block.kind == "figure"]
    caption = "Figure 1: How long the glacier was in each of eight decades."
    assert page.text[block.char_start : block.char_end] == "\n".join([caption, *(each.text for each in LABELS)])


def test_a_models_words_are_plain_text_of_bounded_length() -> None:
    assert usable("A chart\r\n\n of  [sales](http://x.example/a). ![x](y) <b>Up</b>\x07") == "A chart\nof sales. x Up"
    assert usable(" *None.* ") == ""
    assert usable("?!") is None
    long = usable("It rises. " * 1_000)
    assert long is not None
    assert 1_400 < len(long) <= 1_500
    assert long.endswith("rises.")


def test_a_report_counts_what_was_described_and_what_was_not() -> None:
    figures = [
        DescribedFigure(1, "", "m", text="A chart"),
        DescribedFigure(1, "", "m", problem="busy"),
        DescribedFigure(2, "", "m"),
        DescribedFigure(3, "", "m", problem="busy"),
        DescribedFigure(3, "", "m", problem="busy"),
    ]
    assert notes_of(figures) == {
        1: "figures described by a model: 1; figures not described: 1 (busy)",
        3: "figures not described: 2 (busy)",
    }


def test_what_is_drawn_in_a_corner_of_the_page_is_found() -> None:
    corners = [(0, 0, 4, 4), (596, 0, 600, 4), (0, 796, 4, 800), (596, 796, 600, 800)]
    assert sorted(clusters(corners, 600, 800)) == sorted(corners)
