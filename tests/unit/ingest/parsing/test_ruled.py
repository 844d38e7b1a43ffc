"""Tables whose cells are ruled, on made pages: what the rules say of cells, and when they say nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.reflow import reflow
from functions.ingest.parsing.ruled import LONGEST_FIELD, MAX_RULES, Grid, Rules, fields_in, grids_of
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Header, RawPage, pack_page, unpack
from functions.ingest.parsing.words import Box
from tests.support.made_pages import PAGE, Piece, width_of, words_of

COLUMNS = (50, 150, 300, 450)
"""Places of the rules down the page."""


def ruled(rows: Sequence[float], columns: Sequence[float] = COLUMNS) -> list[Box]:
    """Rules along all sides of all cells; rows are counted from the page's top."""
    across = [(columns[0], y - 0.5, columns[-1], y + 0.5) for y in rows]
    return across + [(x - 0.5, rows[0], x + 0.5, rows[-1]) for x in columns]


def tables(boxes: Iterable[Box], *pieces: Piece, frames: Iterable[Box] = ()) -> list[str]:
    """The lines of a page, those of tables only; `y` of pieces counts from the page's bottom, at 800."""
    lines = lay_out(words_of(pieces), PAGE, rules=Rules.of(boxes, frames))
    return [line.text for line in lines if line.column]


HEADER: list[Piece] = [(52, 690, "Test"), (152, 690, "Level"), (302, 690, "Guidance")]
BODY: list[Piece] = [
    (52, 670, "Discharge"),
    (152, 676, "6 kV contact"),
    (152, 664, "8 kV air"),
    (302, 676, "Floors should be of wood or"),
    (302, 664, "of tiles."),
]


def test_a_cell_of_several_lines_is_one_whatever_stands_beside_it() -> None:
    got = tables(ruled((100, 120, 145)), *HEADER, *BODY)
    assert got == [
        "Test | Level | Guidance",
        "Discharge | 6 kV contact 8 kV air | Floors should be of wood or of tiles.",
    ]


def fields(left: float, right: float, text: str = "ab") -> int:
    """Return how many cells of two rows and three columns are fields, on a page with these edges."""
    rows = (100, 120, 140)
    words = words_of([(x + 2, 690 - 20 * at, text) for at in range(2) for x in COLUMNS[:3]])
    grid = Grid(COLUMNS, rows, [[0, 1, 2], [3, 4, 5]])
    held = {number: [number] for number in range(6)}
    return len(fields_in(grid, held, Rules.of(ruled(rows), ()), words, (left, 0, right, 800)))


@pytest.mark.parametrize(
    ("left", "right", "found"), [(0, 600, 6), (50, 450, 6), (57, 443, 6), (59, 600, 0), (0, 441, 0)]
)
def test_cells_that_go_beyond_the_page_on_either_side_are_no_fields(left: float, right: float, found: int) -> None:
    assert fields(left, right) == found


def test_a_cell_with_a_long_text_is_no_field() -> None:
    assert fields(0, 600, "a" * LONGEST_FIELD) == 6
    assert fields(0, 600, "a" * (LONGEST_FIELD + 1)) == 0


def test_outermost_rules_may_be_left_out() -> None:
    boxes = [box for box in ruled((100, 120, 145)) if box[0] not in {49.5, 449.5}]
    assert tables(boxes, *HEADER, *BODY)[0] == "Test | Level | Guidance"


def test_two_tables_below_each_other_are_two_though_a_third_beside_them_goes_over_the_room_between() -> None:
    upper, lower = ruled((100, 120, 140), (50, 120, 200)), ruled((180, 200, 220), (50, 120, 200))
    beside = ruled((100, 140, 180, 220), (350, 420, 500))
    pieces: list[Piece] = [(52, 687, "ls"), (122, 687, "lists"), (52, 667, "cp"), (122, 667, "copies")]
    pieces += [(52, 640, "Rights"), (52, 607, "chmod"), (122, 607, "alters"), (52, 587, "id"), (122, 587, "tells")]
    pieces += [(352, 720, "Keys")]
    pieces += [(x, 677 - 40 * at, f"{text} {at}") for at in range(3) for x, text in ((352, "key"), (422, "value"))]
    lines = lay_out(words_of(pieces), PAGE, rules=Rules.of([*upper, *lower, *beside], ()))
    texts = ["ls | lists", "cp | copies", "Rights", "chmod | alters", "id | tells", "Keys", "key 0 | value 0"]
    assert [line.text for line in lines][:7] == texts
    assert len({line.column for line in lines if line.column}) == 3


@pytest.mark.parametrize(("room", "found"), [(6, 2), (12, 3)])
def test_beside_another_table_rules_may_have_gaps_in_which_no_line_has_room(room: float, found: int) -> None:
    boxes = ruled((100, 120, 140)) + ruled((140 + room, 160 + room, 180 + room))
    boxes += ruled((100, 140, 180 + room), (500, 540, 580))
    assert len(list(grids_of(Rules.of(boxes, ())))) == found


def test_rectangles_drawn_around_cells_are_rules() -> None:
    rows = (100, 120, 145)
    frames = [(a, y, b, z) for a, b in pairwise(COLUMNS) for y, z in pairwise(rows)]
    assert len(tables((), *HEADER, *BODY, frames=frames)) == 2


def test_a_cell_over_several_columns_keeps_the_others_in_their_places() -> None:
    boxes = [box for box in ruled((100, 120, 145, 165)) if box[0] != 149.5]
    boxes += [(149.5, 100, 150.5, 145)]  # not in the last row
    got = tables(boxes, *HEADER, *BODY, (52, 643, "Both of them"), (302, 643, "None"))
    assert got[2] == "Both of them | | None"


def test_a_header_over_several_columns_has_no_empty_cells() -> None:
    boxes = [box for box in ruled((80, 100, 120, 145)) if box[0] != 149.5]
    boxes += [(149.5, 100, 150.5, 145)]  # not in the first row
    got = tables(boxes, (52, 708, "Tests"), (302, 708, "Remarks"), *HEADER, *BODY)
    assert got[:2] == ["Tests | Remarks", "Test | Level | Guidance"]


def test_a_cell_without_text_is_empty() -> None:
    assert tables(ruled((100, 120, 145)), *HEADER, BODY[0], BODY[1])[1] == "Discharge | 6 kV contact |"


def test_lines_without_a_rule_between_them_are_rows_if_they_had_room() -> None:
    pieces: list[Piece] = [(52, 676, "Loans"), (52, 664, "Leases"), (152, 676, "1,204"), (152, 664, "998")]
    pieces += [(302, 676, "due"), (302, 664, "paid")]
    assert tables(ruled((100, 120, 145)), *HEADER, *pieces)[1:] == ["Loans | 1,204 | due", "Leases | 998 | paid"]


def labelled_rows(room: float) -> list[str]:
    """The rows of a ruled row with four labels of two lines, of which some have words of one line or three beside."""
    pieces: list[Piece] = []
    y = 676.0
    for label, count in (("Plums", 1), ("Pears", 3), ("Figs", 2), ("Dates", 3)):
        pieces += [(52, y, label), (52, y - 12, "of trees"), (152, y, f"{count} to 9")]
        pieces += [(302, y - 12 * at, f"{'abc'[at]} word of a sentence or two") for at in range(count)]
        y -= 12 * max(2, count) + room
    return tables(ruled((100, 120, 800 - y)), *HEADER, *pieces)[1:]


@pytest.mark.parametrize(("first", "rows"), [("make a folder", 2), ("make a folder with all its", 1)])
def test_lines_that_all_begin_small_are_rows_if_they_had_room(first: str, rows: int) -> None:
    pieces: list[Piece] = [
        (152, 676, "mkdir demo"),
        (152, 664, "cd demo"),
        (302, 676, first),
        (302, 664, "change to it"),
    ]
    assert len(tables(ruled((100, 120, 145)), *HEADER, *pieces)[1:]) == rows


def test_a_label_beside_several_ruled_rows_has_a_line_in_each() -> None:
    boxes = [(50, y - 0.5, 450, y + 0.5) for y in (100, 120, 160)] + [(150, 139.5, 450, 140.5)]
    boxes += [(x - 0.5, 100, x + 0.5, 160) for x in COLUMNS]
    pieces: list[Piece] = [(52, 667, "Subtotal"), (52, 645, "Tax"), (152, 667, "617"), (152, 645, "30")]
    assert tables(boxes, *HEADER, *pieces)[1:] == ["Subtotal | 617 |", "Tax | 30 |"]


def test_a_title_in_a_frame_of_the_tables_width_stays_outside() -> None:
    boxes = [*ruled((100, 120, 145)), (50, 79.5, 450, 80.5), (49.5, 80, 50.5, 100), (449.5, 80, 450.5, 100)]
    lines = lay_out(
        words_of([(52, 707, "What is intended for use in such an environment."), *HEADER, *BODY]),
        PAGE,
        rules=Rules.of(boxes, ()),
    )
    assert [(line.column, line.text[:7]) for line in lines] == [(0, "What is"), (1, "Test | "), (1, "Dischar")]


def test_a_rule_under_a_word_is_no_border() -> None:
    boxes = [*ruled((100, 120, 145)), (220, 130.5, 240, 131.5)]
    assert tables(boxes, *HEADER, *BODY)[1].startswith("Discharge | 6 kV contact 8 kV air |")


@pytest.mark.parametrize(
    ("left", "right", "rows"),
    [
        (152, 152 + width_of("6 kV contact"), 1),
        (152, 154 + width_of("6 kV contact"), 1),  # under the space behind the words, too
        (150, 215, 2),  # from rule to rule: a border
    ],
)
def test_a_line_under_all_words_of_a_cell_is_no_border(left: float, right: float, rows: int) -> None:
    boxes = [*ruled((100, 120, 145), (50, 150, 215, 450)), (left, 124.5, right, 125.5)]
    assert len(tables(boxes, *HEADER, *BODY)[1:]) == rows


def test_a_frame_close_around_a_table_is_none_of_its_columns() -> None:
    frame = [(44.5, 80, 45.5, 150), (454.5, 80, 455.5, 150), (45, 79.5, 455, 80.5), (45, 149.5, 455, 150.5)]
    (grid,) = grids_of(Rules.of([*ruled((100, 120, 145)), *frame], ()))
    assert tuple(grid.columns) == COLUMNS


@pytest.mark.parametrize(("drop", "rows"), [(6, 3), (12, 1)])  # in the middle of two lines, or beside the second
def test_rows_without_a_rule_between_them_are_told_by_labels_in_their_middle(drop: float, rows: int) -> None:
    texts = ["Floors should be of wood or", "of tiles.", "Humid.", "Dry."]
    pieces: list[Piece] = [(52, 676 - drop, "Contact"), (152, 676 - drop, "6 kV")]
    pieces += [(302, y, text) for y, text in zip((676, 664, 648, 632), texts, strict=True)]
    pieces += [(52, 648, "Air"), (152, 648, "8 kV"), (52, 632, "None"), (152, 632, "0 kV")]
    got = tables(ruled((100, 120, 175)), *HEADER, *pieces)[1:]
    assert len(got) == rows
    assert rows == 1 or got[0] == "Contact | 6 kV | Floors should be of wood or of tiles."


def test_where_columns_are_not_ruled_the_text_tells_them() -> None:
    figures: list[Piece] = [(152, 670, "17"), (220, 670, "18"), (302, 670, "19")]
    got = tables(ruled((100, 120, 145)), *HEADER, (52, 670, "Cash"), *figures)
    assert got[-1].startswith("Cash | 17 | 18 | 19")


def test_figures_in_frames_are_rows_with_the_labels_beside_them() -> None:
    boxes = ruled((100, 124, 136, 148), (250, 330, 450))
    pieces: list[Piece] = [
        piece
        for y, label, *both in (
            (690, "Gains", "(788)", "115"),
            (678, "Losses", "(37)", "13"),
            (666, "Other", "(825)", "128"),
            (654, "Balance", "(435)", "62"),
        )
        for piece in ((52, y, label), (300, y, both[0]), (420, y, both[1]))
    ]
    assert tables(boxes, *pieces) == [
        "Gains | (788) | 115",
        "Losses | (37) | 13",
        "Other | (825) | 128",
        "Balance | (435) | 62",
    ]


@pytest.mark.parametrize("columns", [(50, 450), (50, 150, 300, 450)])
def test_frames_of_texts_are_no_tables(columns: Sequence[float]) -> None:
    prose: list[Piece] = [(52, 690 - 12 * at, "Words of a long text that is set in a frame") for at in range(25)]
    assert tables(ruled((100, 420), columns), *prose) == []


def test_the_table_stands_between_what_is_above_and_below_it_though_a_header_was_written_last() -> None:
    words = words_of([(50, 740, "Before."), (50, 600, "After."), *HEADER, *BODY, (50, 780, "Running title")])
    texts = [line.text.split(" ")[0] for line in lay_out(words, PAGE, rules=Rules.of(ruled((100, 120, 145)), ()))]
    assert texts == ["Running", "Before.", "Test", "Discharge", "After."]


def test_a_table_that_begins_a_column_follows_the_column_on_its_left() -> None:
    left: list[Piece] = [(50, 740 - 12 * at, "words of the left column") for at in range(20)]
    table: list[Piece] = [
        (x + 300, y, text) for x, y, text in ((52, 690, "Cat"), (122, 690, "4"), (52, 670, "Dog"), (122, 670, "6"))
    ]
    boxes = ruled((100, 120, 140), (350, 420, 500))
    lines = lay_out(
        words_of([*left, *table, (350, 640, "Below it"), (350, 628, "it goes on.")]), PAGE, rules=Rules.of(boxes, ())
    )
    assert [line.text for line in lines][19:] == [
        "words of the left column",
        "Cat | 4",
        "Dog | 6",
        "Below it",
        "it goes on.",
    ]


def test_a_drawing_of_very_many_lines_is_not_looked_at() -> None:
    across = [(float(at), 0.0, 100.0) for at in range(MAX_RULES)]
    assert list(grids_of(Rules(across, [(0.0, 0.0, 100.0), (50.0, 0.0, 100.0)]))) == []


def test_frames_that_lie_over_each_other_are_no_cells() -> None:
    frames = [(50, 100, 250, 160), (150, 130, 350, 190), (250, 160, 450, 220)]
    pieces: list[Piece] = [(52, 690, "Claim"), (152, 655, "Claim"), (252, 630, "Claim")]
    pieces += [(200, 690, "Program"), (300, 655, "Program"), (400, 630, "Program")]
    assert tables((), *pieces, frames=frames) == []


def test_names_over_several_rows_of_a_header_stand_with_those_below_groups() -> None:
    boxes = [box for box in ruled((100, 120, 140, 160, 180)) if box[1] != 119.5]
    boxes = [box for box in boxes if box[0] != 299.5]
    boxes += [(150, 119.5, 450, 120.5), (299.5, 120, 300.5, 180)]
    pieces: list[Piece] = [(52, 678, "Dam"), (152, 687, "Water"), (152, 667, "Inflow"), (302, 667, "Outflow")]
    pieces += [
        (52, 647, "Upper"),
        (152, 647, "4"),
        (302, 647, "5"),
        (52, 627, "Lower"),
        (152, 627, "6"),
        (302, 627, "7"),
    ]
    assert tables(boxes, *pieces)[:3] == ["Water", "Dam | Inflow | Outflow", "Upper | 4 | 5"]


def test_a_header_without_rules_above_a_ruled_table_is_its_own() -> None:
    rows: list[Piece] = [(52, 683, "Upper"), (152, 683, "4"), (302, 683, "5")]
    rows += [(52, 663, "Lower"), (152, 663, "6"), (302, 663, "7")]
    names: list[Piece] = [(52, 703, "Dam"), (152, 703, "Inflow"), (302, 703, "Outflow")]
    assert tables(ruled((100, 120, 140)), *names, *rows)[0] == "Dam | Inflow | Outflow"
    title: list[Piece] = [(52, 703, "Water of both dams in the dry years since they were built, in litres")]
    assert tables(ruled((100, 120, 140)), *title, *rows)[0] == "Upper | 4 | 5"


def test_a_rule_below_a_cell_tells_the_columns_that_it_heads() -> None:
    pieces: list[Piece] = [(225, 724, "Water"), (60, 706, "Dam")]
    pieces += [(160 + 70 * n, 706, name) for n, name in enumerate(("In", "Out", "Lost", "Fish"))]
    for y, label in ((690, "Upper"), (678, "Lower"), (666, "Third")):
        pieces += [(60, y, label), *((160 + 70 * n, y, str(n + 2)) for n in range(4))]
    assert tables([(155, 82, 320, 82.5)], *pieces)[:2] == ["Water", "Dam | In | Out | Lost | Fish"]
    assert tables([(50, 82, 420, 82.5)], *pieces)[0] == "Dam | In | Water Out | Lost | Fish"


def test_a_foot_written_before_the_title_of_a_table_says_nothing_of_its_place() -> None:
    above: list[Piece] = [(50, 760, "Floors are tested in spring."), (290, 30, "17"), (50, 724, "Table 3. Tests")]
    lines = lay_out(words_of([*above, *HEADER, *BODY]), PAGE, rules=Rules.of(ruled((100, 120, 145)), ()))
    texts = [line.text for line in lines]
    assert texts.index("Table 3. Tests") < texts.index("Test | Level | Guidance")


def test_a_rule_below_the_last_line_of_a_name_tells_the_columns_of_all_its_lines() -> None:
    def header(boxes: Sequence[Box]) -> list[str]:
        pieces: list[Piece] = [(180, 752, "Sold by"), (182, 741, "weight"), (390, 752, "Sold by"), (392, 741, "weight")]
        places = (150, 195, 240, 290, 360, 405, 450, 500)
        pieces += [(x, 720, name) for x, name in zip(places, 2 * ["Rye", "Oat", "Hay", "All"], strict=True)]
        for y, farm in ((700, "Hill"), (688, "Dale"), (676, "Moor")):
            pieces += [(50, y, farm), *((x, y, "31") for x in places)]
        return [line.text for line in lay_out(words_of(pieces), PAGE, rules=Rules.of(boxes, ()))][:2]

    rules = [(148, 65, 262, 66), (358, 65, 472, 66)]
    assert header(rules) == ["Sold by weight | Sold by weight", "| Rye | Oat | Hay | All | Rye | Oat | Hay | All"]


def test_numbers_far_before_what_stands_in_their_cell_are_another_column() -> None:
    rows = (100, 120, 140, 160, 180)
    pieces: list[Piece] = []
    for at in range(4):
        y = 687.0 - 20 * at
        pieces += [(52, y, f"plum {at}"), (152, y, f"0{at}"), (215, y, f"pear {at}"), (302, y, f"1{at}")]
    assert tables(ruled(rows), *pieces)[0] == "plum 0 | 00 | pear 0 | 10"
    near = [(185.0, y, text) if x == 215 else (x, y, text) for x, y, text in pieces]
    assert tables(ruled(rows), *near)[0] == "plum 0 | 00 pear 0 | 10"  # it marks an item


def test_the_fields_of_a_form_are_marked_and_head_nothing() -> None:
    boxes = ruled((100, 140, 180, 220, 260), (50, 250, 450))
    pieces: list[Piece] = [(52, 687, "Sender"), (52, 675, "PLUM TRADING COMPANY"), (252, 647, "Country")]
    pieces += [(52, 607, "Weight"), (252, 567, "Signature")]
    lines = lay_out(words_of(pieces), PAGE, rules=Rules.of(boxes, ()))
    assert [(line.text, line.boxed, line.column) for line in lines] == [
        ("Sender", 1, 0), ("PLUM TRADING COMPANY", 1, 0), ("Country", 2, 0), ("Weight", 3, 0), ("Signature", 4, 0),
    ]  # fmt: skip
    shaded = Rules.of([*boxes, *((x, 100, x + 1, 5000) for x in (50, 250, 450))], ())  # beyond the page
    assert not any(line.boxed for line in lay_out(words_of(pieces), PAGE, rules=shaded))
    assert not any(line.boxed for line in lay_out(words_of(pieces), PAGE))
    page = RawPage(2, "", 600, 800, lines)
    found = Headings(Header(2))
    found.learn(page)
    assert not found.of(page)
    assert unpack(pack_page(page)[4:]) == page
    near = replace(lines[1], text="Of plums and pears", y0=lines[1].y0 + 12, y1=lines[1].y1 + 12)
    fields = [replace(lines[1], text="These are the Traders"), near]
    for number, text, count in ((1, "Of plums and pears", 1), (3, "Of plums and pears", 2), (3, "of plums", 1)):
        fields[1].boxed, fields[1].text = number, text
        assert len(reflow(RawPage(1, lines=fields), [], Vocabulary())) == count
    lines[1].text = "PART II OF THE PLUMS"
    assert [heading.text for heading in found.of(page)] == ["PART II OF THE PLUMS"]
    lines[1].text = "PLUM TRADING COMPANY"
    for line in lines:
        line.boxed = 0
    assert [heading.text for heading in found.of(page)] == ["PLUM TRADING COMPANY"]


def test_rows_without_rules_between_them_are_found_by_their_text() -> None:
    names = ("angle", "arrow", "brush size", "colours", "custom ticks", "grid lines", "legend", "title")
    pieces: list[Piece] = [(52, 690, "Attribute"), (152, 690, "Bars"), (302, 690, "Lines")]
    for at, name in enumerate(names):
        y = 672.0 - 12 * at
        pieces += [(52, y, name), *([(152, y, "X")] if at != 3 else []), *([(302, y, "X")] if at & 1 else [])]
    got = tables(ruled((100, 115, 220)), *pieces)
    assert got[1] == "angle | X |"
    assert got[4] == "colours | | X"


def test_marks_with_rows_between_them_tell_rows_without_rules() -> None:
    rows = [
        ("Basic shapes and colours", "×", "×"),
        ("Links", "", "×"),
        ("Views of one column", "×", ""),
        ("Extra", "×", "×"),
    ]
    pieces: list[Piece] = [
        (x, 676 - 12 * at, text)
        for n, x in enumerate((52, 152, 302))
        for at, row in enumerate(rows)
        if (text := row[n])
    ]
    found = tables(ruled((100, 120, 170)), *HEADER, *pieces)[1:]
    assert found == ["Basic shapes and colours | × | ×", "Links | | ×", "Views of one column | × |", "Extra | × | ×"]


def test_several_columns_of_figures_tell_rows_though_others_have_gaps() -> None:
    pieces: list[Piece] = [(52, 676 - 12 * at, text) for at, text in ((1, "Delivery"), (3, "Abroad"))]
    pieces += [(152, 676 - 12 * at, f"{at}.00") for at in range(4)]
    pieces += [(302, 676 - 12 * at, f"{at}0%") for at in range(4)]
    found = tables(ruled((100, 120, 170)), *HEADER, *pieces)[1:]
    assert found == ["| 0.00 | 00%", "Delivery | 1.00 | 10%", "| 2.00 | 20%", "Abroad | 3.00 | 30%"]


def test_one_wrapped_text_beside_single_figures_is_one_row() -> None:
    pieces: list[Piece] = [(52, 676, "Delivery"), (302, 676, "12.00")]
    pieces += [
        (152, 676 - 12 * at, text) for at, text in enumerate(("to all towns of the north", "and to islands", "by boat"))
    ]
    assert tables(ruled((100, 120, 170)), *HEADER, *pieces)[1:] == [
        "Delivery | to all towns of the north and to islands by boat | 12.00"
    ]


def test_rules_that_go_through_lines_of_text_make_no_table() -> None:
    def lines_of(x: float) -> list[str]:
        pieces: list[Piece] = [(x, 690 - 12 * at, f"Line {at} of a text that is set here") for at in range(5)]
        pieces += [(320, 690, "Upper"), (320, 660, "Lower")]
        boxes = ruled((100, 130, 170), (80, 300, 450))
        return [line.text for line in lay_out(words_of(pieces), PAGE, rules=Rules.of(boxes, ())) if line.column]

    assert len(lines_of(82)) == 2
    assert lines_of(40) == []  # "Line 1" stands outside


def test_quarter_turns_add_up() -> None:
    rules = Rules(across=[(100, 20, 220), (130, 40, 90)], down=[(20, 100, 130), (260, 10, 300)])
    once = rules.turned(1, 400, 600)
    assert once.turned(1, 600, 400) == rules.turned(2, 400, 600)
    assert once.turned(2, 600, 400) == rules.turned(3, 400, 600)
    assert once.turned(3, 600, 400) == rules


def test_a_half_turn_twice_is_none() -> None:
    rules = Rules(across=[(100, 20, 220)], down=[(260, 10, 300)])
    assert rules.turned(2, 400, 600).turned(2, 400, 600) == rules
