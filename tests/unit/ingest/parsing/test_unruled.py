"""Tables without rules: which rows name columns, and where columns stand that are hardly apart."""

from pathlib import Path

import pytest

from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.reflow import _table, reflow
from functions.ingest.parsing.table_cells import body_of
from functions.ingest.parsing.unruled import tables_by_room
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import Style
from tests.support.made_pages import BODY, PAGE, Piece, in_one_line, laid_out, read, width_of, words_of, written
from tests.support.pdfs import document, lines, text

MONO = Style(size=10, mono=True)


def header_in(tmp_path: Path, rows: list[list[str]]) -> str:
    """Return the header that is stored of a table of these rows."""
    path = tmp_path / "table.pdf"
    page = b"".join(
        text(72 + 180 * n, 700 - 14 * at, cell) for at, row in enumerate(rows) for n, cell in enumerate(row)
    )
    path.write_bytes(document([page]))
    with open_pdf(path, file_name=path.name, limits=Limits()) as parsed:
        (read_page,) = parsed.pages()
    return next(block.header for block in read_page.blocks if block.kind == "table")


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        (["Breed", "12 kg", "Crossbred"], True),
        (["Breed", "4 May", "Autumn"], True),
        (["Collie", "12 kg", "9 kg"], False),
        (["Collie", "12", "Crossbred"], False),
        (["Collie", "12", "9"], False),
    ],
)
def test_figures_with_words_head_columns_of_figures_alone(first: list[str], is_header: bool) -> None:
    rows = [first, ["Beagle", "14", "8"], ["Poodle", "n/a", "7"], ["Whippet", "11", "–"]]
    assert body_of(rows) == (1 if is_header else 0)


def test_a_row_with_units_below_a_header_is_none() -> None:
    names, first = ["Town", "Distance", "Time"], ["Leeds", "40 miles", "an hour"]
    assert body_of([names, first, ["York", "24", "35"], ["Hull", "60", "70"]]) == 1


def test_figures_with_words_above_others_with_words_or_above_one_row_are_no_header() -> None:
    first = ["Collie", "12 kg", "9 kg"]
    assert body_of([first, ["Beagle", "14 kg", "8"], ["Poodle", "11", "7"]]) == 0
    assert body_of([first, ["Beagle", "14", "8"]]) == 0
    assert body_of([["Kennel", "Weight"], ["", "Male"]]) == 0


def rows_of(*cells: tuple[str, str], top: float = 700) -> list[Piece]:
    """Rows of two cells, the second ones below each other."""
    return [piece for at, (a, b) in enumerate(cells) for piece in ((50, top - 12 * at, a), (170, top - 12 * at, b))]


def test_a_name_in_fixed_pitch_in_the_middle_of_what_is_told_beside_it_is_a_rows_label() -> None:
    pieces: list[Piece] = []
    for top, name in ((700, "auth"), (660, "type"), (620, "scope")):
        pieces.append((50, top - 12, name, MONO))
        pieces += [(170, top - 12 * at, f"{'abc'[at]} line of what it tells") for at in range(3)]
    told = "a line of what it tells b line of what it tells c line of what it tells"
    assert read(*pieces) == [f"{name} | {told}" for name in ("auth", "type", "scope")]


def test_the_lines_of_a_listing_are_no_labels_of_what_is_told_beside_the_last() -> None:
    listing: list[Piece] = [(50, 700 - 12 * at, text, MONO) for at, text in enumerate(("a = 1", "b = 2", "print(a)"))]
    got = read(*listing, (170, 676, "shows the first one"))
    assert "print(a) | shows the first one" not in got


def test_a_row_whose_label_leaves_no_room_is_cut_where_those_around_it_have_their_second_cell() -> None:
    above, below = rows_of(("sow", "puts seed into"), ("mow", "cuts")), rows_of(("rake", "gathers"), top=664)
    narrow = [*_line(676, "prick out (young plants)", "moves them")]
    assert read(*above, *narrow, *below)[2] == "prick out (young plants) | moves them"
    off = [*_line(676, "prick out (young plants)", "moves them", by=4)]
    assert "prick out (young plants) moves them" in read(*above, *off, *below)
    assert "prick out (young plants) moves them" in read(*above, *narrow)


def test_the_last_row_is_cut_below_two_others_if_no_word_has_more_room_before_it() -> None:
    above = rows_of(("sow", "puts seed into"), ("mow", "cuts"))
    last: list[Piece] = [(50, 676, "transplanting seedlings"), (170, 676, "moves")]
    assert read(*above, *last)[2] == "transplanting seedlings | moves"
    assert (
        read(*above, *_line(676, "prick out (young plants)", "moves them"))[2]
        != "prick out (young plants) | moves them"
    )


def _line(y: float, label: str, rest: str, by: float = 0) -> list[Piece]:
    """One line of a label that ends a space before 170, where the rest begins."""
    begin = 170 - 2.5 - width_of(label) + by
    style = Style(size=10 * 120 / (170 - begin))
    return [(50, y, label, BODY if style.size > 12 else style), (170 + by, y, rest)]


def test_a_percent_sign_away_from_a_figure_is_a_cell_of_its_own() -> None:
    heads: list[Piece] = [(50, 712, "Crop"), (200, 712, "Tonnes"), (260, 712, "%")]
    figures = [(50.0, 700.0, "Rye"), (210.0, 700.0, "412"), (256.0, 700.0, "31")]
    more = [(50.0, 688.0, "Oats"), (210.0, 688.0, "918"), (256.0, 688.0, "69")]
    assert read(*heads, *figures, *more)[0] == "Crop | Tonnes | %"


def test_a_unit_that_begins_with_a_currency_makes_no_cell_in_a_sentence() -> None:
    assert read((50, 700, "Hay cost 92 €/t in May"), (50, 688, "and 88 €/t in June"))[0] == "Hay cost 92 €/t in May"


def pairs_of_columns(gap: float) -> list[str]:
    """Rows of four cells, of which the second ends `gap` before the third begins."""
    pieces: list[Piece] = []
    names = "A Alder L Larch / B Birch M Maple / C Cherry O Oak / D Elder P Pine / E Elm R Rowan / F Fir S Spruce"
    for at, (a, b, c, d) in enumerate(map(str.split, names.split("/"))):
        y = 700 - 12 * at
        pieces += [(50, y, a), (200 - width_of(b), y, b), (200 + gap, y, c), (320, y, d)]
    return read(*pieces)


def test_room_at_one_place_in_nearly_all_rows_is_between_columns_though_it_is_narrow() -> None:
    assert pairs_of_columns(6)[1] == "B | Birch | M | Maple"
    assert pairs_of_columns(2.5)[1] != "B | Birch | M | Maple"


def test_a_header_over_two_of_four_columns_is_told_apart() -> None:
    pieces: list[Piece] = [(243, 724, "Barley"), (50, 712, "Farm")]
    pieces += [
        (x - width_of(name) / 2, 712, name) for x, name in ((220, "wet"), (300, "dry"), (380, "Peas"), (460, "All"))
    ]
    for y, label in ((700, "Hill"), (688, "Brook"), (676, "Marsh")):
        pieces += [(50, y, label), *((x - 6, y, "12") for x in (220, 300, 380, 460))]
    assert read(*pieces)[:2] == ["Barley", "Farm | wet | dry | Peas | All"]


def test_the_first_line_of_a_columns_name_is_no_header_over_two() -> None:
    pieces: list[Piece] = [(220 - width_of("Very") / 2, 724, "Very"), (50, 712, "Farm")]
    pieces += [(x - width_of(name) / 2, 712, name) for x, name in ((220, "Wet"), (300, "dry"), (380, "Peas"))]
    for y, label in ((700, "Hill"), (688, "Brook"), (676, "Marsh")):
        pieces += [(50, y, label), *((x - 6, y, "12") for x in (220, 300, 380))]
    assert read(*pieces)[0] == "Farm | Very Wet | dry | Peas"


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["Tool", "Purpose"], ["Hoe", "weeds"], ["Spade", "digs"]], "Tool | Purpose"),
        ([["dish", "vegan", "spicy"], ["Pie", "no", "yes"], ["Stew", "yes", "no"]], "dish | vegan | spicy"),
        ([["Sign", "What it means."], ["Red", "Stop at once."], ["Green", "Go on."]], "Sign | What it means."),
        ([["Player:", "Team:"], ["Ann", "Reds"], ["Bo", "Blues"]], "Player: | Team:"),
        ([["Town:", "Leeds"], ["Street:", "High Road"], ["Tenant:", "Bo Lund"]], ""),
        ([["hoe", "Takes out the weeds."], ["spade", "Turns the soil."], ["dibber", "Makes holes."]], ""),
        ([["tool", "use", "Maker"], ["hoe", "weeds", "Lund"], ["spade", "digs", "Berg"]], "tool | use | Maker"),
        ([["tool", "purpose"], ["hoe", "Weeds"], ["spade", "Digs"]], "tool | purpose"),
    ],
)
def test_the_first_row_of_a_list_of_terms_names_no_columns(tmp_path: Path, rows: list[list[str]], header: str) -> None:
    assert header_in(tmp_path, rows) == header


@pytest.mark.parametrize(("first", "is_header"), [("prune", False), ("Key", True)])
def test_a_first_row_with_code_as_the_others_have_names_no_columns(first: str, *, is_header: bool) -> None:
    rows = [(first, "Cuts a tree"), ("water", "gives rain"), ("graft", "joins two"), ("pick", "takes fruit")]
    words = [word for at, row in enumerate(rows) for word in in_one_line(700 - 14 * at, (72, row[0]), (252, row[1]))]
    for word in words:
        if word.text in {"prune", "water", "graft", "pick"}:
            word.style = MONO
    lines = lay_out(words, PAGE)
    part = next(part for part in reflow(RawPage(1, "", 600, 800, lines), [], Vocabulary()) if part.kind == "table")
    assert part.header == ("Key | Cuts a tree" if is_header else "")


def test_the_raised_letter_of_a_note_is_a_word_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "note.pdf"
    raised = text(72, 700, "Orchard") + text(109, 704, "b", size=6)
    level = text(72, 680, "Orchard") + text(109, 680, "b", size=6)
    path.write_bytes(document([raised + level + lines("Plain text below them, long enough", y=600)]))
    page = PdfiumEngine(str(path)).page(1)
    assert [line.text for line in page.lines][:2] == ["Orchard b", "Orchardb"]


@pytest.mark.parametrize(
    ("figure", "mark", "rise", "read_as"),
    [
        ("412", "2", 4, "412²"),
        ("Annex 1.", "1", 4, "Annex 1.¹"),
        ("1884.", "16", 4, "1884.¹⁶"),
        ("1884", "10", 4, "1884¹⁰"),
        ("412", "2", 0, "4122"),
        ("10", "2", 4, "10²"),
        ("m", "2", 4, "m2"),
    ],
)
def test_a_raised_number_is_no_digit_of_the_figure_before_it(
    tmp_path: Path, figure: str, mark: str, rise: int, read_as: str
) -> None:
    path = tmp_path / "note.pdf"
    shown = text(72, 700, figure) + text(72 + width_of(figure), 700 + rise, mark, size=6)
    path.write_bytes(document([shown + lines("Plain text below it, long enough", y=600)]))
    assert PdfiumEngine(str(path)).page(1).lines[0].text == read_as


def test_a_currency_sign_without_a_figure_behind_it_is_of_the_figure_before_it() -> None:
    pieces: list[Piece] = [(60, 712, "Charge"), (200, 712, "Amount")]
    for y, label, amount in ((700, "Lift", "72 € a month"), (688, "Water", "310 € a year"), (676, "Fund", "145 €")):
        pieces += [(60, y, label), (200, y, amount)]
    assert read(*pieces)[1:] == ["Lift | 72 € a month", "Water | 310 € a year", "Fund | 145 €"]


def test_a_currency_sign_before_a_figure_begins_its_cell() -> None:
    pieces: list[Piece] = [(60, 712, "Charge"), (200, 712, "2026"), (240, 712, "2025")]
    for y, label, last in ((700, "Lift", "€ 68"), (688, "Water", "€ 301"), (676, "Fund", "€ 140")):
        pieces += [(60, y, label), (200, y, "€ 721"), (232, y, last)]
    assert read(*pieces)[1:] == ["Lift | € 721 | € 68", "Water | € 721 | € 301", "Fund | € 721 | € 140"]


def test_cells_over_groups_of_different_sizes_head_them_unless_one_is_over_a_single_column() -> None:
    def top(*heads: tuple[float, str], columns: int) -> list[str]:
        places = [190.0 + 70 * n for n in range(columns)]
        pieces: list[Piece] = [(x - width_of(head) / 2, 740, head) for x, head in heads]
        pieces += [(x - width_of("Part") / 2, 722, f"Part{n}") for n, x in enumerate(places)]
        for y, label in ((700, "Bolts"), (688, "Nuts"), (676, "Pins")):
            pieces += [(50, y, label), *((x - 5, y, "12") for x in places)]
        return read(*pieces)

    assert top((260, "Steel"), (435, "Brass"), columns=5)[0] == "Steel | Brass"
    assert top((260, "Steel"), (400, "Brass"), columns=4)[0] != "Steel | Brass"


def test_a_header_beside_another_one_over_the_same_columns_is_over_one_of_them() -> None:
    pieces: list[Piece] = [(219, 712, "Three weeks"), (300, 712, "Year until December"), (60, 700, "Herd")]
    pieces += [(296, 700, "Ewes"), (419, 700, "Rams")]
    for y, label in ((688, "Hill"), (676, "Brook"), (664, "Marsh")):
        pieces += [(60, y, label), (306, y, "12"), (429, y, "7")]
    assert read(*pieces)[0] != "Three weeks | Year until December"


TIMES = ("Day        From    To      Pool", "Monday     7.00    9.00    large", "Tuesday    8.00    9.30    small")


def rows_read(tmp_path: Path, *rows: str) -> list[str]:
    """Return the rows of tables on a page with these lines in fixed pitch, and prose."""
    path = tmp_path / "typed.pdf"
    prose = ["The pool and its rooms are cleaned on Sundays, and stay closed then."] * 9
    path.write_bytes(document([lines(*rows, font="F3") + lines(*prose, y=500)]))
    return [line.text for line in PdfiumEngine(str(path)).page(1).lines if line.column]


def test_a_table_set_by_spaces_in_fixed_pitch_is_one(tmp_path: Path) -> None:
    rows = rows_read(tmp_path, *TIMES, "Sunday     none    -       -")
    times = ["Monday | 7.00 | 9.00 | large", "Tuesday | 8.00 | 9.30 | small"]
    assert rows == ["Day | From | To | Pool", *times, "Sunday | none | - | -"]


@pytest.mark.parametrize(
    "rows",
    [
        ("int   count   = 0;", "int   total   = 1;", "int   other   = 2;"),
        ("-f   --file     read from it", "-o   --out   write there", "-v   --verbose        say more"),
        ("Monday     7.00", "Tuesday    8.00", "Sunday     none"),
        TIMES[:2],
    ],
)
def test_code_options_two_columns_and_two_rows_in_fixed_pitch_are_listings(
    tmp_path: Path, rows: tuple[str, ...]
) -> None:
    assert rows_read(tmp_path, *rows) == []


def contents(*entries: tuple[str, str], led: int = 3, edge: float = 400) -> list[str]:
    """Return what is read of some entries of a table of contents with dots, and of others without."""
    dotted = [(f"{n}.1 Pruning . . . . . . . . {n}", 700 - 14 * n) for n in range(led)]
    pieces: list[Piece] = [(400 - width_of(entry), y, entry) for entry, y in dotted]
    for n, (label, page) in enumerate(entries):
        pieces += [(60, 640 - 14 * n, label), (edge - width_of(page), 640 - 14 * n, page)]
    return [row.replace("....", "…") for row in read(*pieces)][led:]


def test_an_entry_of_the_contents_without_dots_is_one_beside_others_with_dots() -> None:
    assert contents(("2 The orchard", "9"), ("3 The hives", "14")) == ["2 The orchard … 9", "3 The hives … 14"]


def test_many_entries_of_the_contents_without_dots_are_some_if_they_are_counted() -> None:
    several = (("4 The orchard", "9"), ("5 The hives", "14"), ("6 The well", "15"), ("7 The barn", "21"))
    assert contents(*several) == [f"{label} … {page}" for label, page in several]
    assert contents(*several[:2], ("8 Oxen in it", "15"))[0] == "4 The orchard | 9"


def test_no_entries_are_a_table_elsewhere_and_rows_that_end_elsewhere() -> None:
    apart = ["2 The orchard | 9", "3 The hives | 14"]
    assert contents(("2 The orchard", "9"), ("3 The hives", "14"), led=2) == apart
    assert contents(("2 The orchard", "9"), ("3 The hives", "14"), edge=380) == apart
    assert contents(("2 The orchard", "9 kg"), ("3 The hives", "14 kg"))[0] == "2 The orchard | 9 kg"


def test_rows_below_the_contents_whose_numbers_are_no_pages_are_a_table() -> None:
    several = (("Boats", "12"), ("Crews", "48"), ("Races", "60"))
    assert contents(*several) == ["Boats | 12", "Crews | 48", "Races | 60"]
    assert contents(("Steak", "24"), ("Soup", "9")) == ["Steak | 24", "Soup | 9"]


def farms(*above: str) -> list[str]:
    """Return a table in whose second row the last cell has lines above, and ends at the row's height."""
    rows: list[Piece] = [(50, 740, "Farm"), (150, 740, "Cows"), (250, 740, "Milk goes to")]
    rows += [(50, 724, "Hill"), (160, 724, "31"), (250, 724, "Dairy North")]
    rows += [(50, 684, "Brook"), (160, 684, "12")]
    rows += [(250, 684 + 10 * n, line) for n, line in reversed([*enumerate(reversed(above))])]
    return read(*rows, (50, 668, "Marsh"), (160, 668, "47"), (250, 668, "Dairy South"))


def test_a_cell_that_ends_at_its_rows_height_and_begins_above_it_is_in_that_row() -> None:
    assert farms("the cheese factory", "in town")[2] == "Brook | 12 | the cheese factory in town"


def test_figures_above_each_other_are_no_cell() -> None:
    assert not any("77 78" in row for row in farms("77", "78"))


def test_formulas_that_are_numbered_are_no_table() -> None:
    def rows(*numbers: str, sign: str = "=") -> list[int]:
        pieces: list[Piece] = []
        for at, number in enumerate(numbers):
            pieces += [(120, 700 - 14 * at, f"y {sign} {at}x"), (500, 700 - 14 * at, number)]
        return [line.cells for line in laid_out(*pieces)]

    assert rows("(7)", "(8)", "(9)")[0] == 1
    assert rows("(2.7)", "(2.8)")[0] == 1
    assert rows("(7)", "(9)", "(4)")[0] == 2  # losses
    assert rows("(7)", "(8)", "(9)", sign="and")[0] == 2


@pytest.mark.parametrize(
    ("fonts", "header"), [(("F3", "F3"), ""), (("F1", "F3"), "Key | Command"), (("F1", "F1"), "Key | Command")]
)
def test_the_first_row_of_a_key_in_fixed_pitch_names_no_columns(
    tmp_path: Path, fonts: tuple[str, str], header: str
) -> None:
    rows = [("Key", "Command"), ("Sow", "sow-all"), ("Mow", "mow-all"), ("Rake", "rake-all")]
    cells = b"".join(
        text(72, 700 - 14 * at, label) + text(250, 700 - 14 * at, key, font=fonts[at > 0])
        for at, (label, key) in enumerate(rows)
    )
    path = tmp_path / "key.pdf"
    path.write_bytes(document([cells + lines("Prose that stands below the key on this page.", y=500)]))
    with open_pdf(path, file_name=path.name, limits=Limits()) as parsed:
        (page,) = parsed.pages()
    assert next(block.header for block in page.blocks if block.kind == "table") == header


def cells_of_row(y: float, *cells: tuple[float, str, float]) -> list[Piece]:
    """Cells of a row, each line by line: the place of each, its lines, and how far the first stands above `y`."""
    pieces: list[Piece] = []
    for x, words, above in cells:
        pieces += [(x, y + above - 12 * at, line) for at, line in enumerate(words.split("/"))]
    return pieces


def test_cells_whose_lines_are_centred_in_their_row_stand_beside_each_other() -> None:
    header = cells_of_row(740, (50, "Tree", 0), (150, "Where it grows", 0), (350, "Fruit", 0))
    first = cells_of_row(706, (50, "Alder", 0), (150, "on wet ground beside/brooks and in fens,/never in chalk", 12))
    first += cells_of_row(706, (350, "cones", 0))
    second = cells_of_row(664, (50, "Hazel", 0), (150, "in hedges and/woods", 6), (350, "nuts", 0))
    assert read(*header, *first, *second) == [
        "Tree | Where it grows | Fruit",
        "Alder | on wet ground beside brooks and in fens, never in chalk | cones",
        "Hazel | in hedges and woods | nuts",
    ]


def test_lines_that_begin_above_a_row_and_do_not_have_its_middle_are_none_of_its_cells() -> None:
    text = cells_of_row(706, (150, "on wet ground beside/brooks and in fens,/never in chalk", 26))
    assert not any(" | " in line for line in read((50, 706, "Alder"), *text))


def test_the_last_line_of_a_cell_may_be_written_with_the_cells_behind_it() -> None:
    header = cells_of_row(740, (50, "Tree", 0), (150, "Where it grows", 0), (350, "Fruit", 0))
    rows = [*cells_of_row(700, (50, "Alder", 0), (150, "beside brooks/in fens", 12)), (350, 700, "cones")]
    rows += [*cells_of_row(670, (50, "Hazel", 0), (150, "in hedges/and woods", 12)), (350, 670, "nuts")]
    assert read(*header, *rows)[1:] == ["Alder | beside brooks in fens | cones", "Hazel | in hedges and woods | nuts"]


def test_a_cell_that_is_written_after_those_on_both_its_sides_stands_between_them() -> None:
    rows: list[Piece] = [(50, 740, "Tree"), (150, 740, "Where"), (300, 740, "Metres")]
    for y, tree, where, height in ((720, "Alder", "brooks", "20"), (704, "Hazel", "hedges", "6")):
        rows += [(50, y, tree), (300, y, height), (150, y, where)]
    assert read(*rows) == ["Tree | Where | Metres", "Alder | brooks | 20", "Hazel | hedges | 6"]


def stretched(last: str) -> list[str]:
    """The rows of a table in which a cell's first line has wide room before its last word, and ends as the next one."""
    edge = 150 + width_of("brooks and fens.")
    words = words_of([(50, 740, "Tree"), (150, 740, "Where it grows"), (50, 722, "Alder")])
    words += in_one_line(722, (150, "near"), (edge - width_of(last), last))
    words += words_of([(150, 710, "brooks and fens."), (50, 692, "Hazel"), (150, 692, "in hedges")])
    return [line.text for line in lay_out(words, PAGE)]


def test_a_line_that_is_stretched_to_the_edges_of_the_next_one_is_one_cell() -> None:
    assert stretched("the")[1] == "Alder | near the brooks and fens."
    assert "near 14" not in stretched("14")[1]


def under(names: str, *heads: tuple[float, str]) -> list[str]:
    """The first rows of a table with these heads above names that begin 70 points apart, at 190."""
    pieces: list[Piece] = [(x, 740, head) for x, head in heads]
    pieces += [(190 + 70 * n, 722, name) for n, name in enumerate(names.split())]
    for y, label in ((700, "Bolts"), (688, "Nuts"), (676, "Pins")):
        pieces += [(50, y, label), *((195 + 70 * n, y, "12") for n in range(len(names.split())))]
    return read(*pieces)[:2]


def test_cells_over_names_that_come_again_head_them_wherever_they_stand() -> None:
    assert under("Long Short Long Short", (260, "Steel"), (400, "Brass")) == [
        "Steel | Brass",
        "| Long | Short | Long | Short",
    ]
    assert under("Long Short Long Short", (190, "Steel"), (330, "Brass"))[0] == "Steel | Brass"


def test_a_cell_beside_a_group_is_over_as_many_columns_as_it_is_in_the_middle_of() -> None:
    middle = 190 + 70 + width_of("Short") / 2 - width_of("Steel") / 2
    between = (400 + 470 + width_of("Thin")) / 2 - width_of("Brass") / 2
    assert under("Long Short Wide Flat Thin", (middle, "Steel"), (between, "Brass"))[0] == "Steel | Brass"


def test_the_sign_of_a_currency_is_the_name_of_a_column_where_no_figure_follows() -> None:
    rows: list[Piece] = [(50, 724, "Crop"), (200, 724, "€"), (260, 724, "%"), (320, 724, "kg")]
    for y, crop, *cells in ((700, "Rye", "412", "31", "7"), (688, "Oats", "918", "69", "8")):
        rows += [(50, y, crop), *((195 + 60 * n, y, cell) for n, cell in enumerate(cells))]
    assert read(*rows)[0] == "Crop | € | % | kg"


def test_a_sentence_with_a_colon_at_its_end_begins_no_table_though_a_figure_cuts_it() -> None:
    sentence: Piece = (
        50,
        718,
        "All hay that the farms of the upper valley have sold to others since May 2011 $5.0 a bale:",
    )
    rows: list[Piece] = [(60, 706, "Farm"), (200, 706, "Bales"), (260, 706, "Price")]
    rows += [(60, 692, "Brook"), (205, 692, "412"), (265, 692, "31"), (60, 680, "Hill"), (205, 680, "918")]
    got = read(sentence, *rows, (265, 680, "69"))
    assert got[1:] == ["Farm | Bales | Price", "Brook | 412 | 31", "Hill | 918 | 69"]


def test_a_word_far_to_the_left_of_the_one_before_it_begins_a_cell_of_its_own_unless_it_is_a_mark() -> None:
    words = words_of([(50, 740, "Tree"), (150, 740, "Where"), (300, 740, "Metres")])
    for y, tree, where, height in ((720, "Alder", "brooks", "20"), (704, "Hazel", "hedges", "6")):
        words += in_one_line(y, (50, tree), (300, height), (150, where))
    assert [line.text for line in lay_out(words, PAGE)][1:] == ["Alder | brooks | 20", "Hazel | hedges | 6"]
    marked = in_one_line(740, (50, "Alders grow beside brooks and in all the fens"))
    marked[-1].ends = ""
    marked += written(122, 744, "2", Style(size=5))
    assert len(lay_out(marked, PAGE)) == 1


def test_figures_below_each_other_are_no_lines_of_a_cell_that_was_written_between_others() -> None:
    rows: list[Piece] = [(50, 740, "Tree"), (150, 740, "Parks"), (300, 740, "Metres")]
    rows += [(50, 720, "Alder"), (300, 720, "20"), (150, 720, "14"), (150, 706, "31"), (50, 690, "Hazel")]
    assert "Alder | 14 31 | 20" not in read(*rows, (300, 690, "6"), (150, 690, "9"))


def beside(*heads: tuple[float, str], left: str = "31", right: str = "9") -> list[str]:
    """Rows that run through two tables, of which the second begins at 300."""
    pieces: list[Piece] = [(x, 724, head) for x, head in heads]
    for y, label, other in ((710, "Rye", "Ewes"), (698, "Oats", "Rams"), (686, "Hay", "Lambs")):
        cells = (50, label), (150, left), (220, "17"), (300, other), (400, right), (470, "4")
        pieces += [(x, y, cell) for x, cell in cells]
    return read(*pieces)


def test_two_tables_side_by_side_stand_below_each_other() -> None:
    named = beside((50, "Kind"), (150, "2019"), (220, "2020"), (300, "Kind"), (400, "2019"), (470, "2020"))
    assert named[:2] == ["Kind | 2019 | 2020", "Rye | 31 | 17"]
    assert named[4:6] == ["Kind | 2019 | 2020", "Ewes | 9 | 4"]
    unnamed = beside((150, "2019"), (220, "2020"), (400, "Sold"), (470, "Kept"))
    assert unnamed[0] == "| 2019 | 2020"
    assert unnamed[4:6] == ["| Sold | Kept", "Ewes | 9 | 4"]


def test_a_table_with_words_in_its_middle_is_one() -> None:
    whole = beside((50, "Crop"), (150, "2019"), (220, "2020"), (300, "Flock"), (400, "2019"), (470, "2020"))
    assert whole[1] == "Rye | 31 | 17 | Ewes | 9 | 4"
    groups = beside((50, "Crop"), (150, "2019"), (220, "2020"), (300, "Beasts"), (400, "Sold"), (470, "Kept"))
    assert len(groups) == 4
    figures = beside((150, "2019"), (220, "2020"), (300, "Flock"), (400, "Sold"), (470, "Kept"))
    assert len(figures) == 4


def test_an_item_that_begins_with_no_letter_is_no_row_and_a_rank_is_one() -> None:
    rules: list[Piece] = [
        (50, 700, "4."),
        (80, 700, "(In winter) Boots stay outside."),
        (50, 686, "5."),
        (80, 686, "£3 is kept for each lost key."),
    ]
    assert read(*rules) == ["4. (In winter) Boots stay outside.", "5. £3 is kept for each lost key."]
    ranks: list[Piece] = [(50, 700, "4."), (80, 700, "12 km"), (50, 686, "5."), (80, 686, "11 km")]
    assert read(*ranks) == ["4. | 12 km", "5. | 11 km"]


def test_items_whose_numbers_stand_in_the_middle_of_their_lines_are_no_rows() -> None:
    text: list[Piece] = []
    for n, y in enumerate((700, 664)):
        text += [(50, y - 6, f"{n + 3}."), (90, y, "Lamps are put out by"), (90, y - 12, "whoever leaves last.")]
    assert read(*text)[0] == "3. Lamps are put out by"
    one_line: list[Piece] = [
        (50, 690, "2."),
        (68, 690, "Doors are shut."),
        (50, 664, "3."),
        (90, 670, "Lamps are put out by"),
        (90, 658, "whoever leaves last."),
    ]
    assert read(*one_line)[1] == "3. Lamps are put out by"
    apart: list[Piece] = [(x, y, "9." if piece == "4." else piece) for x, y, piece, *_ in text]
    assert read(*apart)[0].startswith("3. | ")


def test_notes_below_a_table_are_none_of_its_rows() -> None:
    rows: list[Piece] = [(200, 724, "2019"), (270, 724, "2020")]
    for y, label in ((710, "Rye"), (698, "Oats"), (686, "Hay")):
        rows += [(50, y, label), (200, y, "31"), (270, y, "17")]
    small = Style(size=6)
    for y, mark in ((670, "1"), (658, "2")):
        rows += [(50, y + 4, mark, small), (70, y, "Weighed in the barn when dry.", Style(size=9))]
    assert read(*rows)[-2:] == ["1 Weighed in the barn when dry.", "2 Weighed in the barn when dry."]


def test_the_mark_of_a_note_stays_with_its_name() -> None:
    def head(size: float) -> str:
        words = words_of([(50, 724, "Crop"), (150, 724, "2019")])
        words += in_one_line(724, (220, "2020"))
        words[-1].ends = ""
        words += [
            *written(243, 726, "(1)", Style(size=size)),
            *written(290, 724, "% Change"),
            *written(380, 724, "2021"),
        ]
        words[-2].ends = ""
        words[-4].ends = ""
        for y, label in ((700, "Rye"), (688, "Oats"), (676, "Hay")):
            words += words_of([(50, y, label), *((x, y, "31") for x in (155, 225, 305, 385))])
        return lay_out(words, PAGE)[0].text

    assert head(6) == "Crop | 2019 | 2020 (1) | % Change | 2021"


def table_rows(y: float, *rows: tuple[str, str, str]) -> list[Piece]:
    """Return rows of three cells below each other."""
    return [(x, y - 12 * at, cell) for at, row in enumerate(rows) for x, cell in zip((80, 200, 280), row, strict=True)]


def test_a_table_begins_anew_where_its_header_is_repeated_below_a_line() -> None:
    names = ("fruit", "size", "comments")
    first = table_rows(700, names, ("plum", "1", "blue"), ("pear", "8", "green"))
    second = table_rows(620, names, ("fig", "9", "soft"), ("date", "1", "sweet"))
    lines = laid_out(*first, (50, 642, "The second shelf has these fruits:"), *second)
    assert [line.column for line in lines] == [1, 1, 1, 0, 2, 2, 2]
    other = [(x, y, "kind" if cell == "fruit" else cell) for x, y, cell, *_ in second]
    lines = laid_out(*first, (50, 642, "The second shelf has these fruits:"), *other)
    assert [line.column for line in lines] == [1, 1, 1, 0, 2, 2, 2]  # white space tells each by itself


def test_rows_that_all_read_the_same_are_blanks_of_a_form_and_no_table() -> None:
    def rows(*names: str) -> list[int]:
        pieces: list[Piece] = []
        for at, name in enumerate(names):
            pieces += [(50, 700 - 14 * at, name), (150, 700 - 14 * at, "%"), (250, 700 - 14 * at, "Other")]
        return [line.cells for line in laid_out(*pieces) if line.column]

    assert rows("Own", "Own", "Own") == []
    assert rows("Own", "Mine", "Yours") == [3, 3, 3]


def rows_by_room(top: float, *rows: tuple[str, ...], at: tuple[float, ...] = (50, 95, 140)) -> list[Piece]:
    """Rows of cells that begin at the same places, with hardly any room behind the longest cell of each column."""
    return [(x, top - 16 * n, cell) for n, row in enumerate(rows) for x, cell in zip(at, row, strict=True) if cell]


SHELF = (
    ("gnucash", "V:2, I:9", "accounts for small firms"),
    ("kicad", "I:14", "circuits"),
    ("evince", "V:96", "pages"),
)


def test_white_space_that_all_rows_share_is_between_columns_however_narrow() -> None:
    assert read(*rows_by_room(700, *SHELF))[:2] == [
        "gnucash | V:2, I:9 | accounts for small firms",
        "kicad | I:14 | circuits",
    ]


def test_all_lines_of_a_cell_are_written_before_the_next_cell_of_its_row() -> None:
    wrapped: list[Piece] = [(50, 652, "okular"), (95, 652, "V:35"), (140, 652, "pages of many"), (140, 640, "kinds")]
    after = rows_by_room(624, ("xsane", "V:13", "scanners"))
    assert read(*rows_by_room(700, *SHELF), *wrapped, *after)[3:] == [
        "okular | V:35 | pages of many kinds",
        "xsane | V:13 | scanners",
    ]


def test_bold_names_over_such_columns_are_its_header() -> None:
    bold = Style(size=10, bold=True)
    names: list[Piece] = [(x, 716, name, bold) for x, name in ((50, "package"), (95, "use"), (140, "what it is"))]
    found = laid_out(*names, *rows_by_room(700, *SHELF))
    assert [line.names for line in found] == [True, False, False, False]


def test_the_order_in_which_ocr_found_words_tells_no_rows() -> None:
    found = lay_out(words_of(rows_by_room(700, *SHELF)), PAGE, ocr=True)
    assert "kicad | I:14 | circuits" not in [line.text for line in found]


def test_numbers_alone_before_texts_are_of_pages_or_items() -> None:
    texts = ("Message", "Why", "Programmes", "Rooms")
    for numbers in (("1", "3", "6", "16"), ("1.", "1.1", "1.2", "Item 2"), ("K31x", "K3b", "6", "16kx")):
        words = words_of(rows_by_room(700, *zip(numbers, texts, strict=True), at=(50, 80)))
        assert any(tables_by_room(words, PAGE[3], ())) is ("6" in numbers and "1" not in numbers)


@pytest.mark.parametrize("at", [50, 330])
@pytest.mark.parametrize("apart", [12, 20])
def test_a_cell_in_the_middle_of_its_rows_does_not_join_them(apart: float, at: float) -> None:
    pieces: list[Piece] = []
    for top, label in ((700, "Harbour"), (640, "Bridge"), (580, "Market")):
        pieces.append((at, top - apart / 2, label))
        pieces += [
            (x, top - apart * n, text) for n in (0, 1) for x, text in ((120, "Count"), (190, "Ann"), (260, "tea"))
        ]
    assert not any(tables_by_room(words_of(pieces), PAGE[3], ()))


def test_marks_of_items_are_no_column() -> None:
    for mark in ("•", "a)"):
        items = rows_by_room(700, *((mark, text) for text in ("one thing", "two", "more of it", "four")), at=(50, 68))
        assert not any(line.column for line in laid_out(*items))


def test_a_table_whose_next_line_has_cells_at_other_places_is_not_cut_there() -> None:
    longer: list[Piece] = [(50, 652, "a label over two columns"), (190, 652, "beside")]
    assert len({line.column for line in laid_out(*rows_by_room(700, *SHELF), *longer)} - {0}) < 2


def rows_far_apart(pitch: float) -> list[str]:
    """Rows of three cells that are as far apart as told."""
    pieces: list[Piece] = []
    for at, cells in enumerate((*SHELF, ("xsane", "V:13", "scanners"))):
        pieces += [(x, 700 - pitch * at, cell) for x, cell in zip((50, 95, 140), cells, strict=True)]
    return read(*pieces)


def test_rows_may_be_as_far_apart_as_paragraphs_if_all_are() -> None:
    for pitch in (14, 32):
        assert rows_far_apart(pitch)[3] == "xsane | V:13 | scanners"
    assert rows_far_apart(50)[3] != "xsane | V:13 | scanners"


def test_cells_of_several_lines_that_are_written_one_after_the_other_are_of_one_row() -> None:
    pieces: list[Piece] = []
    for top, label in ((700, "Harbour"), (664, "Bridge"), (628, "Market")):
        pieces.append((50, top - 6, label))
        pieces += [(x, top - 12 * n, text) for x, text in ((120, "Count"), (190, "tea")) for n in (0, 1)]
    assert read(*pieces) == [f"{label} | Count Count | tea tea" for label in ("Harbour", "Bridge", "Market")]


def test_a_row_whose_middle_cell_is_empty_is_one_and_so_is_the_rest_of_a_row_from_the_page_before() -> None:
    rest = ("", "", "and their keepers")
    empty = ("okular", "", "pages of many kinds")
    found = read(*rows_by_room(700, rest, empty, *SHELF))
    assert found[:2] == ["| | and their keepers", "okular | | pages of many kinds"]


def test_bold_names_that_fill_their_columns_name_them() -> None:
    bold = Style(size=10, bold=True)
    names: list[Piece] = [(x, 716, name, bold) for x, name in ((50, "packages"), (92.5, "popularity"), (145, "what"))]
    rows = rows_by_room(700, *SHELF, at=(50, 95, 145))
    assert [line.names for line in laid_out(*names, *rows)] == [True, False, False, False]


def test_pages_of_contents_are_no_column() -> None:
    entries = [(f"Part {at}", name, str(3 * at)) for at, name in enumerate(("Business", "Risks", "Land", "Law"), 1)]
    assert not any(tables_by_room(words_of(rows_by_room(700, *entries)), PAGE[3], ()))
    sizes = [("a", "Hill", "9"), ("b", "Brook", "14"), ("c", "Marsh", "3"), ("d", "Moor", "8")]
    assert any(tables_by_room(words_of(rows_by_room(700, *sizes)), PAGE[3], ()))


def test_a_long_line_that_has_a_word_where_a_column_begins_is_no_row() -> None:
    prose = written(50, 652, "a sentence of many words that stands close below all of these rows and goes on to here")
    word = min(prose, key=lambda each: abs(each.x0 - 400))
    pairs = [("gnucash", "accounts"), ("kicad", "circuits"), ("evince", "pages"), ("xsane", "scanners")]
    words = [*words_of(rows_by_room(716, *pairs, at=(50, word.x0))), *prose]
    (table,) = tables_by_room(words, PAGE[3], ())
    assert len(words) - 1 not in {index for held in table.held.values() for index in held}


def test_a_label_in_a_header_that_begins_the_first_of_several_groups_does_not_head_the_others() -> None:
    rows = [
        "Declared | Paid | Amount",
        "Year 2023 | | (In millions)",
        "May 3 | June 4 | 9",
        "Year 2022",
        "May 5 | June 6 | 8",
    ]
    found = _table(
        [Line(row, cells=row.count("|") + 1, column=1, names=at < 2) for at, row in enumerate(rows)], Vocabulary()
    )
    assert found.header == "Declared | Paid | Amount\n| | (In millions)"
    alone = _table(
        [Line(row, cells=row.count("|") + 1, column=1, names=at < 2) for at, row in enumerate(rows[:3])], Vocabulary()
    )
    assert alone.header == "Declared | Paid | Amount\nYear 2023 | | (In millions)"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["Name:", "Street:", "City:"], ["Anna Berg", "Lane 4", "York"]),
        (["Soup", "Salad", "Bread"], ["4 euros", "6 euros", "2 euros"]),
    ],
)
def test_labels_and_figures_with_units_written_by_column_are_rows_of_their_own(
    left: list[str], right: list[str]
) -> None:
    """Two blocks, each written column after column: no two rows of three lines."""
    pieces = [
        (x, 700.0 - 52 * block - 12 * at, text)
        for block in range(4)
        for x, texts in ((72, left), (200, right))
        for at, text in enumerate(texts)
    ]
    read_rows = [line.text for line in laid_out(*pieces)]
    assert not any(left[0] in row and left[1] in row and "|" in row for row in read_rows)
