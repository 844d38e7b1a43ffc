"""Pages whose text runs in another way, code with its spaces, and the places of what was read; all on made pages."""

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.ruled import Rules
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import Style, Word
from shared.rects import STEPS, number_at, word_count
from tests.support.made_pages import PAGE, Piece, in_one_line, laid_out, words_of, written

Bounds = tuple[float, float, float, float]


def turned(words: list[Word], bounds: Bounds, turn: int) -> list[Word]:
    """Words of a page of 600 by 800 points as they stand on one whose text runs `turn` quarter turns to the left."""
    left, bottom, right, top = bounds
    out: list[Word] = []
    for word in words:
        x0, x1, y0, y1 = word.x0, word.x1, 800 - word.y1, 800 - word.y0  # from the top left corner, as it is read
        box = {
            0: (x0, top - y1, x1, top - y0),
            1: (left + y0, bottom + x0, left + y1, bottom + x1),
            2: (right - x1, bottom + y0, right - x0, bottom + y1),
            3: (right - y1, top - x1, right - y0, top - x0),
        }[turn]
        out.append(Word(word.text, *box, Style(word.style.size, turn=turn), word.ends))
    return out


def page() -> list[Word]:
    """A page with a header, a table, prose in two columns and a footer far below."""
    rows: list[Piece] = []
    for at, name in enumerate(("Cash", "Loans", "Shares")):
        y = 700.0 - 12 * at
        rows += [(50, y, name), (275, y, "1,204"), (385, y, "998")]
    columns = [
        word
        for i in range(8)
        for word in in_one_line(600 - 14 * i, (50, f"words of the left one {i}"), (300, f"words of the right one {i}"))
    ]
    head: list[Piece] = [(50, 760, "Notes to the report"), (300, 760, "17")]
    return [*words_of([*head, *rows]), *columns, *words_of([(50, 30, "At the foot of it")])]


@pytest.mark.parametrize("bounds", [(0, 0, 600, 800), (30, 40, 630, 840)])
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_page_is_read_alike_whichever_way_its_text_runs(turn: int, bounds: Bounds) -> None:
    left, bottom, right, top = bounds
    if turn & 1:
        right, top = left + (top - bottom), bottom + (right - left)
    upright = lay_out(page(), PAGE)
    got = lay_out(turned(page(), (left, bottom, right, top), turn), (left, bottom, right, top))
    assert [box_of(line) for line in got] == [box_of(line) for line in upright]


def box_of(line: Line) -> tuple[object, ...]:
    return line.text, line.column, *(round(edge, 3) for edge in (line.x0, line.y0, line.x1, line.y1))


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_lines_that_run_in_another_way_than_most_follow_the_text_once_each(turn: int) -> None:
    aside = turned(written(100, 600, "a note") + written(100, 580, "of two lines"), PAGE, turn)
    text = words_of([(50, 700, "The first line"), (50, 688, "and the second.")])
    lines = lay_out(aside + text, PAGE)
    assert [line.text for line in lines] == ["The first line", "and the second.", "a note", "of two lines"]
    assert [line.cells for line in lines] == [1, 1, 0, 0]


def coded(*parts: tuple[float, str], pitch: float = 6, size: float = 10) -> str:
    style = Style(size=size, mono=True)
    code = [Word(text, x, 698, x + pitch * len(text), 698 + size, style) for x, text in parts]
    code[-1].ends = "\n"
    prose: list[Piece] = [(50, 600.0 - 12 * i, "words of prose in a face that is no typewriter's") for i in range(9)]
    (line, *_) = lay_out(code + words_of(prose), PAGE)
    assert line.mono
    return line.text


@pytest.mark.parametrize("pitch", [4, 6, 9])
def test_code_keeps_the_room_between_its_words_as_spaces(pitch: float) -> None:
    assert coded((50, "if"), (50 + 3 * pitch, "a:"), (50 + 9 * pitch, "go"), pitch=pitch) == "if a:    go"
    assert coded((50, "if"), (50 + 2.5 * pitch, "a:"), pitch=pitch) == "if a:"
    assert coded((50, "if"), (50 + 2.3 * pitch, "("), (50 + 4.2 * pitch, "a"), pitch=pitch) == "if( a"
    assert len(coded((20, "if"), (560, "a:"), pitch=pitch)) == 44


def test_a_page_that_is_typewritten_all_over_holds_no_code() -> None:
    mono = Style(size=10, mono=True)
    letter: list[Piece] = [(50, 700.0 - 12 * i, "words of a letter that was typewritten", mono) for i in range(9)]
    assert not any(line.mono for line in laid_out(*letter))


# --- Places -----------------------------------------------------------------------------------------------------------


def corners(place: str) -> list[int]:
    """Left, top, right, bottom in points."""
    return [round(number_at(place, at) * 800 / STEPS) for at in range(0, 8, 2)]


def test_a_line_has_the_place_of_its_words() -> None:
    (line,) = laid_out((50, 700, "three words here"))
    assert corners(line.place) == [50, 92, 125, 102]
    assert word_count(line.place) == 3


def test_a_line_is_placed_from_the_corner_of_what_is_shown_of_the_page() -> None:
    (line,) = lay_out(written(50, 700, "three words here"), (30, 20, 600, 780))
    unit = 760 / STEPS
    assert [round(number_at(line.place, at) * unit) for at in range(0, 8, 2)] == [20, 72, 95, 82]


def cells_with_places(text: str, place: str) -> list[tuple[str, list[int]]]:
    """What each record of a place holds of the text, and where that stands."""
    found: list[tuple[str, list[int]]] = []
    begin = 0
    for record in place.split(" "):
        at, length = number_at(record, 0), number_at(record, 2)
        begin = at
        found.append((text[begin : begin + length], corners(record[4:])))
    return found


def test_cells_of_a_table_have_places_of_their_own_even_if_they_hold_the_same() -> None:
    rows: list[Piece] = [
        (x, 700.0 - 12 * at, text) for at in range(2) for x, text in ((50.0, "12 of 12"), (200.0, "12"), (300.0, "12"))
    ]
    first = laid_out(*rows)[0]
    assert first.text == "12 of 12 | 12 | 12"
    assert cells_with_places(first.text, first.place) == [
        ("12 of 12", [50, 92, 85, 102]),
        ("12", [200, 92, 210, 102]),
        ("12", [300, 92, 310, 102]),
    ]


def test_each_line_of_a_cell_has_a_place_of_its_own_even_if_it_holds_the_same() -> None:
    rows: list[Piece] = []
    for at in range(2):
        y = 700.0 - 30 * at
        rows += [(50, y, "the same"), (50, y - 11, "the same"), (200, y, "open"), (300, y, "17")]
    first = laid_out(*rows)[0]
    assert first.text == "the same the same | open | 17"
    assert cells_with_places(first.text, first.place) == [
        ("the same", [50, 92, 88, 102]),
        ("the same", [50, 103, 88, 113]),
        ("open", [200, 92, 220, 102]),
        ("17", [300, 92, 310, 102]),
    ]


@pytest.mark.parametrize(
    ("rotation", "expected"),
    [
        (0, [50, 92, 125, 102]),  # as it is written
        (1, [698, 50, 708, 125]),  # shown turned to the right: its text runs down
        (2, [475, 698, 550, 708]),  # upside down
        (3, [92, 475, 102, 550]),  # its text runs up
    ],
)
def test_a_line_is_placed_where_it_stands_on_the_page_as_it_is_shown(rotation: int, expected: list[int]) -> None:
    (line,) = lay_out(written(50, 700, "three words here"), PAGE, rotation)
    assert corners(line.place) == expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (0, [50, 92, 125, 102]),
        (1, [92, 675, 102, 750]),
        (2, [475, 698, 550, 708]),
        (3, [498, 50, 508, 125]),
    ],
)
def test_a_line_that_runs_another_way_is_placed_where_it_stands(turn: int, expected: list[int]) -> None:
    (line,) = lay_out(turned(written(50, 700, "three words here"), PAGE, turn), PAGE)
    assert corners(line.place) == expected


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_a_page_that_is_turned_as_its_text_runs_is_placed_as_it_is_read(turn: int) -> None:
    bounds = (0.0, 0.0, 800.0, 600.0) if turn & 1 else PAGE
    (line,) = lay_out(turned(written(50, 700, "three words here"), bounds, turn), bounds, turn)
    assert corners(line.place) == [50, 92, 125, 102]
    assert word_count(line.place) == 3


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_table_is_read_by_its_rules_whichever_way_its_text_runs(turn: int) -> None:
    pieces: list[Piece] = [(52, 690, "Fruit"), (152, 690, "Where it grows"), (52, 670, "Plum")]
    pieces += [(152, 676, "in orchards and along"), (152, 664, "old walls"), (52, 645, "Pear"), (152, 645, "espaliers")]
    rows, columns = (100, 120, 145, 165), (50, 150, 400)
    boxes = [(50.0, y - 0.5, 400.0, y + 0.5) for y in rows] + [(x - 0.5, 100.0, x + 0.5, 165.0) for x in columns]
    upright = lay_out(words_of(pieces), PAGE, rules=Rules.of(boxes, ()))
    assert [line.text for line in upright if line.column][1] == "Plum | in orchards and along old walls"
    width, height = (800, 600) if turn & 1 else (600, 800)
    moved = [
        {
            1: (y0, height - x1, y1, height - x0),
            2: (width - x1, height - y1, width - x0, height - y0),
            3: (width - y1, x0, width - y0, x1),
        }[turn]
        for x0, y0, x1, y1 in boxes
    ]
    bounds = (0, 0, width, height)
    got = lay_out(turned(words_of(pieces), bounds, turn), bounds, rules=Rules.of(moved, ()))
    assert [box_of(line) for line in got] == [box_of(line) for line in upright]
