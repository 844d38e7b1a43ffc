"""What manuals and reference cards are made of: definitions, lists without marks, listings, numbered sections.

Each on a made page, and what looks like it and must stay as it is.
"""

from itertools import batched
from pathlib import Path

import pytest

from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.headings import Heading, Headings
from functions.ingest.parsing.joining import join
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.page_objects import MONO
from functions.ingest.parsing.reflow import reflow
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import HEADER, Header, Line, RawPage, pack_page, unpack
from functions.ingest.parsing.words import Style, Word
from tests.support.made_pages import PAGE, PROSE, in_one_line, line, prose, texts, width_of, written
from tests.support.pdfs import document, text

FIXED = Style(size=10, mono=True)


FULL = "The line of quite ordinary words that fills the page"


# --- Definitions ------------------------------------------------------------------------------------------------------


def test_a_line_that_says_what_it_defines_is_neither_a_table_nor_the_begin_of_a_paragraph() -> None:
    words: list[Word] = []
    for at, (name, kind) in enumerate([("echo message", "[Command]"), ("bind name", "[Config Command]")]):
        words += in_one_line(700 - 40 * at, (50, name), (500 - width_of(kind), kind))
        words += written(70, 688 - 40 * at, "It writes a message to the log, or so it says.")
    lines = lay_out(words, PAGE)
    assert [(one.text, one.cells, one.column) for one in lines[::2]] == [
        ("echo message [Command]", 0, 0),
        ("bind name [Config Command]", 0, 0),
    ]
    # Each name and what it does are one block, as in a list of definitions.
    assert texts(*lines) == [f"{name.text}\n{said.text}" for name, said in batched(lines, 2, strict=True)]


@pytest.mark.parametrize("cell", ["[12]", "[200,200,200]", "Command", "[a description of it that is much too long]"])
def test_other_cells_at_the_right_are_a_tables(cell: str) -> None:
    words = [word for at in range(3) for word in in_one_line(700 - 12 * at, (50, f"echo {at}x"), (300, cell))]
    assert {one.text for one in lay_out(words, PAGE)} == {f"echo {at}x | {cell}" for at in range(3)}


# --- Lists without marks ----------------------------------------------------------------------------------------------

COMMANDS = [("i lists things", 120), ("picks up what lies on the ground", 210), ("Drops items", 105)]
COMMANDS += [("looks around in the whole level", 205), ("Saves", 75), ("goes deeper by one level, if any", 208)]


def test_lines_that_had_room_for_the_next_word_are_entries_whatever_they_begin_with() -> None:
    entries = [line(content, 20 + 12 * at, x1=x1) for at, (content, x1) in enumerate(COMMANDS)]
    assert texts(*prose(-50), *entries)[1:] == [content for content, _ in COMMANDS]


def test_a_narrow_paragraph_is_one_though_it_stands_beside_something_wide() -> None:
    rows = [
        ("were in favor of it, while", 178),
        ("others did not, and some of the", 203),
        ("members a part of it", 160),
    ]
    rows += [("favored all of the", 145), ("others as well, it", 140), ("seems to be so for", 142)]
    lines = [line(content, 20 + 12 * at, x1=x1) for at, (content, x1) in enumerate(rows)]
    wide = line("everybody, in a line that goes over the whole width of this page.", 20 + 12 * 6, x1=520)
    assert texts(*lines[:2], *lines[3:], wide)[0].startswith("were in favor of it, while others did not")
    assert len(texts(*lines)) == 1


def test_an_entry_begins_with_its_command_in_other_print_though_the_line_above_is_full() -> None:
    rows = ["count events up to this time and the number", "split the follow-up along a scale of time on", "add it"]
    full = [line(row, 20 + 12 * at, x1=400, leads=True) for at, row in enumerate([*rows, "plot it"])]
    assert texts(*full) == [*rows, "plot it"]
    mixed = [line(row, 20 + 12 * at, x1=400, leads=at != 1) for at, row in enumerate([*rows, "plot it"])]
    assert texts(*mixed) == [" ".join([*rows, "plot it"])]  # a sentence has commands at the begin of some lines, too


def test_a_line_begins_in_other_print_if_most_of_it_is_set_in_the_texts() -> None:
    def leads(marked: str, rest: str, style: Style) -> bool:
        words = [*written(50, 700, marked, style), *written(50 + width_of(marked) + 3, 700, rest)]
        for word in words[:-1]:
            word.ends = ""
        (one,) = lay_out(words, PAGE)
        sent = unpack(pack_page(RawPage(1, lines=[one]))[HEADER.size :])
        assert isinstance(sent, RawPage)
        assert sent.lines == [one]
        return one.leads

    assert leads("cut", "divides it at events", FIXED)
    assert leads("cut", "divides it at events", Style(size=10, bold=True))
    assert not leads("cut", "divides it at events", Style(size=10))
    assert not leads("cut-at-all-of-the-events", "divides it", FIXED)


def test_what_stands_below_a_bold_line_with_room_does_not_go_on_in_it() -> None:
    title, entry = line("Boxes and plots", 80, x1=130, bold=True), line("draw a diagram", 104, x1=150, x0=70)
    assert texts(*prose(20), title, entry)[-2:] == ["Boxes and plots", "draw a diagram"]
    plain = line("and in some of the", 80, x1=130)
    assert texts(*prose(20), plain, entry)[-1] != "draw a diagram"


@pytest.mark.parametrize(("drop", "expected"), [(18, False), (13, True)])
def test_a_line_in_bold_and_another_are_two_texts_if_there_is_room_between_them(drop: int, expected: bool) -> None:
    sparse = [line("Some text that goes on", 20 + 20 * at) for at in range(4)]
    lines = [*sparse[:3], line("and ends with a name,", 80, x1=160), line("file name", 80 + drop, x1=95, bold=True)]
    below = line("load the file", 80 + 2 * drop, x1=115)
    assert texts(*lines, below)[-1].endswith("name, file name load the file") is expected


def test_addresses_below_each_other_are_two() -> None:
    assert join("See http://scipy.org/", "http://www.scipy.org/doc", Vocabulary()) == (
        "See http://scipy.org/ http://www.scipy.org/doc"
    )
    assert join("See http://scipy.org/", "docs", Vocabulary()) == "See http://scipy.org/docs"


def test_a_paragraph_of_one_indented_line_ends_above_the_next_indented_one() -> None:
    indented = [
        line("Some of the paragraphs begin here, at some", 20, x0=65), line("distance from the edge.", 32, x1=200),
        line("Others do so as well, if they are of two lines or", 44, x1=400, x0=65), line("more.", 56, x1=80),
        line("This paragraph is a single line that is nearly full.", 68, x1=380, x0=65),
        line("The next one has two lines, of which the second is", 80, x1=400, x0=65), line("short.", 92, x1=80),
    ]  # fmt: skip
    assert texts(*indented)[-1] == "The next one has two lines, of which the second is short."
    even = [*indented[4:6], line("and so is all of this.", 92, x1=160, x0=65)]
    assert len(texts(*even)) == 1
    assert len(texts(*indented[4:])) == 1  # no other paragraph tells that the first lines are indented


def test_sentences_begin_at_the_indent_of_a_pages_paragraphs() -> None:
    indented = [
        line("Some of the paragraphs begin here, at some", 20, x0=65), line("distance from the edge.", 32, x1=200),
        line("Others do so as well, if they are of two lines or", 44, x1=400, x0=65), line("more.", 56, x1=80),
        line("This one stands at the edge, since it follows some code.", 92),
        line("What comes then is a paragraph:", 104, x1=210, x0=65),
    ]  # fmt: skip
    assert texts(*indented)[-1] == "What comes then is a paragraph:"
    entry = [line("Some words that stand above it.", 60, x1=240), *indented[4:], Line("foo", 50, 128, 80, 138, 10)]
    assert texts(*entry)[1].endswith("What comes then is a paragraph:")  # an entry that hangs


# --- Rows of a table whose labels are long ----------------------------------------------------------------------------


def test_a_row_goes_on_a_table_though_its_label_leaves_little_room() -> None:
    wide = [in_one_line(700 - 12 * at, (50, label), (120, "what it is")) for at, label in enumerate(["Rules", "Model"])]
    narrow = in_one_line(676, (50, "Variants of A"), (120, "another form"))
    below = in_one_line(650, (50, "and then some text that goes on as it did"))
    rows = [one.text for one in lay_out([*wide[0], *wide[1], *narrow, *below], PAGE)]
    assert rows == ["Rules | what it is", "Model | what it is", "Variants of A | another form", below_text(below)]


def test_a_line_of_text_below_a_table_that_has_a_word_at_its_column_by_chance_is_no_row() -> None:
    wide = [in_one_line(700 - 12 * at, (50, label), (120, "what it is")) for at, label in enumerate(["Rules", "Model"])]
    chance = in_one_line(676, (50, "Some text here"), (122.5, "and so on"))
    assert lay_out([*wide[0], *wide[1], *chance], PAGE)[-1].column == 0


def test_rows_that_stand_near_each_other_go_on_a_table_each_by_itself() -> None:
    wide = [in_one_line(700 - 12 * at, (50, "By:"), (90, f"Signer {name}")) for at, name in enumerate("AB")]
    names = enumerate(["Called:", "Kindly:"])
    below = [in_one_line(676 - 12 * at, (50, label), (90, "Ann Lee")) for at, label in names]
    lines = lay_out([word for row in (*wide, *below) for word in row], PAGE)
    assert [one.text for one in lines[2:]] == ["Called: | Ann Lee", "Kindly: | Ann Lee"]


def test_a_row_below_a_table_that_has_cells_of_its_own_keeps_the_lines_of_each() -> None:
    words: list[Word] = []
    for label, y in (("Rules", 700), ("Model", 656), ("Worm", 590)):
        words += in_one_line(y, (50, label), (120, "It is made"))
        words += [*written(120, y - 12, "to be hard to"), *written(120, y - 24, "see.")]
    rows = [one.text for one in lay_out(words, PAGE)]
    assert rows == [f"{label} | It is made to be hard to see." for label in ("Rules", "Model", "Worm")]


def test_a_paragraph_indented_as_far_as_the_column_is_no_row() -> None:
    wide = [in_one_line(700 - 20 * at, (50, label), (120, "what it is")) for at, label in enumerate(["Rules", "Model"])]
    text = [*written(120, 660, "This is said of both of them,"), *written(120, 648, "in two lines.")]
    assert [one.column for one in lay_out([*wide[0], *wide[1], *text], PAGE)] == [1, 1, 0, 0]


def below_text(words: list[Word]) -> str:
    return " ".join(word.text for word in words)


# --- Listings ---------------------------------------------------------------------------------------------------------


def test_a_listing_that_fills_its_page_is_told_by_how_its_lines_end() -> None:
    def is_code(*rows: str) -> bool:
        words = [word for at, row in enumerate(rows * 6) for word in written(50, 760 - 12 * at, row, FIXED)]
        return all(one.mono for one in lay_out(words, PAGE))

    assert is_code(r"\begin{center}", r"\hrule", "A title", r"\end{center}")
    assert is_code("if (x) {", "run(x);", "}")
    assert not is_code("Dear Sir or Madam,", "I write to you again", "about the boiler (again).")


def test_a_sign_in_a_font_of_symbols_makes_a_line_no_other_than_code() -> None:
    def is_mono(last: str) -> bool:
        words = [*written(50, 700, "print(caption =", FIXED), *written(140, 700, last, Style(size=10))]
        for word in words[:-1]:
            word.ends = ""
        return [one.mono for one in lay_out([*written(50, 740, "A line of prose."), *words], PAGE)][1]

    assert is_mono('\\"\\""),')
    assert not is_mono("prints")
    boxes = [*written(50, 700, "☑", FIXED), *written(58, 700, "☐ ☐", Style(size=10))]
    boxes[0].ends = ""
    assert not any(one.mono for one in lay_out([*written(50, 740, "A line of prose."), *boxes], PAGE))


@pytest.mark.parametrize(("name", "expected"), [("NimbusMonL-Regu", True), ("NimbusRomNo9L", False)])
def test_a_font_of_fixed_pitch_is_known_by_its_name(name: str, expected: bool) -> None:
    assert (MONO.search(name) is not None) is expected


def test_code_whose_first_line_ends_an_indented_paragraph_begins_below_it() -> None:
    rows = [line("He replaces one of these by the names: amd64, arm64,", 60, x1=400, x0=65)]
    rows += [Line("mipsel, s390x.", 50, 72, 130, 82, 10, mono=True)]
    code = [Line("run --all", 50, 90, 110, 100, 9, mono=True), Line("quit", 50, 101, 75, 111, 9, mono=True)]
    centred = [line("First University, Second University of some place", 60, x1=400, x0=65), *rows[1:], *code]
    centred[1].x0, centred[1].x1, centred[2].x0 = 50, 415, 50
    assert texts(*prose(12), *centred)[-1].startswith("mipsel")
    rows[1] = Line("mipsel, s390x.", 50, 72, 130, 82, 10, mono=True)
    code = [Line("run --all", 50, 90, 110, 100, 9, mono=True), Line("quit", 50, 101, 75, 111, 9, mono=True)]
    *_, paragraph, listing = texts(*prose(12), *rows, *code)
    assert paragraph.endswith(" amd64, arm64, mipsel, s390x.")
    assert listing == "run --all\nquit"


# --- Underscores that are drawn ---------------------------------------------------------------------------------------


def drawn(tmp_path: Path, strokes: bytes) -> list[str]:
    data = document([text(72, 700, "glp") + text(89.4, 700, "add") + text(72, 680, "of one") + strokes])
    path = tmp_path / "drawn.pdf"
    path.write_bytes(data)
    return [one.text for one in PdfiumEngine(str(path)).page(1).lines]


def test_an_underscore_drawn_between_two_words_joins_them(tmp_path: Path) -> None:
    (first, second) = drawn(tmp_path, b"85.9 700 3 0.4 re f\n")
    assert (first, second) == ("glp_add", "of one")


@pytest.mark.parametrize(
    "strokes",
    [
        b"85.9 705 3 0.4 re f\n",  # a minus
        b"85.9 698.5 3 0.4 re f\n",  # an underlined space
        b"72 700 14 0.4 re f\n85.9 700 3 0.4 re f\n88.8 700 16 0.4 re f\n",  # a line below both words
        b"72 700 40 0.4 re f\n",
        b"",
    ],
)
def test_other_strokes_leave_words_apart(strokes: bytes, tmp_path: Path) -> None:
    assert drawn(tmp_path, strokes)[0] == "glp add"


# --- Sections ---------------------------------------------------------------------------------------------------------


def headed(*lines: Line, outline: list[tuple[int, int, str]] | None = None) -> list[str]:
    found = Headings(Header(2, "", outline or []))
    page = RawPage(1, "", 600, 800, list(lines))
    found.learn(page)
    return [heading.path for heading in found.of(page)]


def test_sections_numbered_below_one_that_was_found_are_found_in_print_hardly_larger_than_the_text() -> None:
    top = Line("3.1 Symbols", 50, 20, 120, 34, 14)
    first, second = Line("3.1.1 Walls", 50, 100, 110, 110.8, 10.8), Line("3.1.2 Doors", 50, 180, 110, 190.8, 10.8)
    page = [top, *prose(40), first, *prose(116), second, *prose(196)]
    assert headed(*page) == ["3.1 Symbols", "3.1 Symbols > 3.1.1 Walls", "3.1 Symbols > 3.1.2 Doors"]
    rest = Line("and gates", 50, 192, 110, 202.8, 10.8)
    assert headed(*page[:-4], rest, *prose(208))[-1] == "3.1 Symbols > 3.1.2 Doors and gates"
    outline = [(1, 1, "Exploring"), (1, 2, "Symbols"), (2, 1, "Others")]
    assert headed(*page, outline=outline)[-2:] == [f"Exploring > Symbols > 3.1.{n}" for n in ("1 Walls", "2 Doors")]


def test_a_section_below_in_other_print_ends_no_series_and_a_far_one_goes_on_in_none() -> None:
    def below(last: str) -> list[str]:
        top = Line("3.1 Symbols", 50, 20, 120, 34, 14)
        first, second = Line("3.1.1 Walls", 50, 100, 110, 110.8, 10.8), Line(last, 50, 180, 110, 190.8, 10.8)
        plain = Line("3.1.2 Doors", 50, 140, 110, 150, 10)
        return headed(top, *prose(40), first, *prose(116), plain, *prose(156), second, *prose(196))

    told = ["3.1 Symbols > 3.1.1 Walls", "3.1 Symbols > 3.1.2 Doors", "3.1 Symbols > 3.1.3 Roofs"]
    assert below("3.1.3 Roofs")[1:] == told  # their numbers tell that all are sections
    assert below("3.1.7 Roofs")[1:] == ["3.1 Symbols > 3.1.1 Walls"]


def test_an_entry_of_the_outline_is_found_by_its_number_and_not_told_twice() -> None:
    def below(*outline: tuple[int, int, str]) -> list[str]:
        found = Headings(Header(2, "", [(2, 1, "3.1 Symbols"), *outline]))
        top, first = Line("3.1 Symbols", 50, 20, 120, 34, 14), Line("3.1.1 def walls(w)", 50, 100, 150, 110.8, 10.8)
        raw = RawPage(2, "", 600, 800, [top, *prose(40), first, *prose(116)])
        found.learn(raw)
        return [f"{heading.path} | {heading.text}" for heading in found.of(raw)]

    called = (2, 2, "3.1.1 walls"), (1, 2, "Doors")
    assert below(*called)[1:] == ["3.1 Symbols > 3.1.1 walls | 3.1.1 def walls(w)"]
    assert below((1, 2, "def walls(w)"), (1, 2, "Doors"))[1:] == []  # it began on the page before, by the outline
    assert below((1, 2, "Windows"), (1, 2, "Doors"))[1:] == ["3.1 Symbols > 3.1.1 def walls(w) | 3.1.1 def walls(w)"]


@pytest.mark.parametrize(
    "other", ["3.1.2 Walls", "3.2.1 Walls", "3.1.1 Walls are those that stand.", "3.1.1 . . . . 7"]
)
def test_what_does_not_count_on_or_is_a_sentence_is_no_section_below(other: str) -> None:
    top, below = Line("3.1 Symbols", 50, 20, 120, 34, 14), Line(other, 50, 100, 110, 110.8, 10.8)
    assert headed(top, *prose(40), below, *prose(116)) == ["3.1 Symbols"]


def test_a_section_number_in_the_print_of_the_text_is_a_clause() -> None:
    top, below = Line("3.1 Symbols", 50, 20, 120, 34, 14), Line("3.1.1 Walls", 50, 100, 110, 110, 10)
    assert headed(top, *prose(40), below, *prose(116)) == ["3.1 Symbols"]


def test_bold_print_larger_than_the_text_is_a_section_below_a_whole_outline() -> None:
    def bold(content: str, y: float, size: float) -> Line:
        return Line(content, 50, y, 50 + 6 * len(content), y + size, size, bold=True)

    def below(page: list[Line]) -> list[str]:
        found = Headings(Header(2, "", [(2, 1, "Matrices"), (2, 1, "Solutions"), (1, 2, "Others")]))
        raw = RawPage(2, "", 600, 800, [*page, *prose(220)])
        found.learn(raw)
        return [heading.path for heading in found.of(raw)]

    page = [bold("Matrices", 20, 16), *prose(50), bold("Example 10", 110, 11), *prose(130), bold("Solutions", 190, 16)]
    assert below(page) == ["Matrices", "Matrices > Example 10", "Solutions"]
    page[5] = bold("Example 10", 110, 17)
    assert below(page) == ["Matrices", "Matrices > Example 10", "Solutions"]  # whatever its size
    page[5] = bold("Example 10", 110, 10)
    assert below(page) == ["Matrices", "Solutions"]
    page[5] = bold("1. Others", 110, 11)  # the outline tells it, if on the page before
    assert below(page) == ["Matrices", "Solutions"]
    assert below([*page[:5], *prose(130), bold("SIX", 178, 11), page[-1]]) == ["Matrices", "Solutions"]


@pytest.mark.parametrize(
    ("text", "room", "below", "expected"),
    [
        ("Picking the fruit", 10, FULL, True),
        ("Picking the fruit", 3, FULL, False),  # as near to what is above it
        ("Picking the fruit", 10, "By hand.", False),
        ("P", 10, FULL, False),  # of an index
        ("1 Picking 5", 10, FULL, False),  # of a table of contents
        ("NOTE", 10, FULL, False),
        ("HINWEIS!", 10, FULL, False),
    ],
)
def test_bold_print_as_large_as_the_text_is_a_section_below_a_whole_outline_if_it_names_prose(
    text: str, room: float, below: str, expected: bool
) -> None:
    found = Headings(Header(2, "", [(2, 1, "Trees"), (1, 1, "Others"), (1, 2, "More")]))
    top, name = Line("Trees", 50, 20, 90, 36, 16, bold=True), Line(text, 50, 86 + room, 150, 96 + room, 10, bold=True)
    rest = [Line(below, 50, 98 + room, 400, 108 + room, 10), *prose(120 + room)]
    raw = RawPage(2, "", 600, 800, [top, *prose(40), name, *rest])
    found.learn(raw)
    assert [heading.text for heading in found.of(raw)] == (["Trees", text] if expected else ["Trees"])


def test_items_of_a_slide_are_no_headings_though_they_are_large() -> None:
    title = Line("Future work", 50, 20, 200, 54, 34)
    items = [
        Line("• How much musical structure can an", 50, 80, 400, 108, 28),
        Line("automaton describe?", 70, 110, 250, 138, 28),
        Line("• Others", 50, 140, 150, 168, 28),
    ]
    page = [title, *items, *prose(300, 20)]
    assert headed(*page) == ["Future work"]
    apart = Line("Next steps", 70, 220, 250, 248, 28)
    assert headed(*page[:4], apart, *page[4:]) == ["Future work", "Future work > Next steps"]


def test_a_numbered_section_behind_the_references_does_not_stand_below_them() -> None:
    def bold(content: str, y: float) -> Line:
        return Line(content, 50, y, 150, y + 14, 14, bold=True)

    page = [bold("References", 20), *prose(50), bold("6 Copyright", 110), *prose(130)]
    assert headed(*page) == ["References", "6 Copyright"]


def test_an_entry_of_the_outline_is_not_found_in_signs_above_it() -> None:
    lines = [*prose(20), Line("}", 50, 70, 55, 80, 10), Line("House calculation", 50, 90, 140, 100, 10), *prose(110)]
    found = Headings(Header(1, "", [(1, 1, "A"), (1, 1, "B"), (1, 1, "House calculation")]))
    page = RawPage(1, "", 600, 800, lines)
    found.learn(page)
    assert [heading.text for heading in found.of(page) if heading.end > heading.start] == ["House calculation"]


# --- Captions, notes and headers --------------------------------------------------------------------------------------


def captions(*above: str, title: str = "Colours", sizes: float = 10) -> str:
    lines = [Line(content, 50, 20 + 40 * at, 200, 30 + 40 * at, sizes) for at, content in enumerate([*above, title])]
    y = 40.0 * len(lines) + 10
    rows = [
        Line(f"Carbon | {at} | {at + 3}", 50, y + 12 * at, 400, y + 12 * at + 10, 10, False, False, 3, 1)
        for at in (1, 2)
    ]
    heading = Heading(len(above), len(above) + 1, title, title)
    parts = reflow(RawPage(1, "", 600, 800, [*lines, *rows]), [heading], Vocabulary())
    return parts[-1].header


def test_what_stands_above_the_heading_of_a_table_is_no_caption_of_it() -> None:
    assert captions("A list of keys", "Ctrl-N goes to the next one") == "Colours"
    assert captions("A list of keys", "These are the colours:") == "A list of keys\nThese are the colours:\nColours"
    assert captions("Plum Ltd and Subsidiaries") == "Plum Ltd and Subsidiaries\nColours"


def test_captions_below_all_tables_of_a_page_are_theirs() -> None:
    def read(*captioned: str) -> list[str]:
        lines: list[Line] = []
        for number, caption in enumerate(captioned, 1):
            y = 100.0 * number
            lines += [
                Line(f"Key | {at} | 3", 50, y + 12 * at, 400, y + 12 * at + 10, 10, cells=3, column=number)
                for at in (1, 2)
            ]
            lines += [Line(caption, 50, y + 60, 200, y + 70, 10)] if caption else []
        parts = reflow(RawPage(1, "", 600, 800, lines), [], Vocabulary())
        return [part.header for part in parts if part.kind == "table"]

    assert read("Table 1: Plums", "Table 2: Pears") == ["Table 1: Plums", "Table 2: Pears"]
    assert read("Table 1: Plums", "") == ["", "Table 1: Plums"]  # one goes on from the page before
    assert read("These are plums", "Table 2: Pears") == ["", "These are plums"]


def test_a_sentence_about_a_table_does_not_take_the_place_of_its_caption() -> None:
    lines = [Line("Table 4. Fees", 50, 80, 150, 90, 10)]
    lines += [Line(f"Key | {at} | 3", 50, 100 + 12 * at, 400, 110 + 12 * at, 10, cells=3, column=1) for at in (1, 2)]
    lines += [Line("Table 4 shows that adults pay more.", 50, 160, 250, 170, 10)]
    parts = reflow(RawPage(1, "", 600, 800, lines), [], Vocabulary())
    assert [part.header for part in parts if part.kind == "table"] == ["Table 4. Fees"]


def test_small_print_is_no_note_where_most_of_the_page_is_set_in_it() -> None:
    entries = [Line(f"layers, of kind {at} . . . {at}", 50, 100 + 10 * at, 290, 108 + 10 * at, 8) for at in range(58)]
    letter = Line("M", 50, 690, 62, 704, 14)
    rest = [Line("7 moves . . .", 50, 710, 290, 718, 8), Line("name . . . 9", 320, 100, 560, 108, 8)]
    lines = [*entries, letter, *rest]
    assert footnotes_last(lines, 10, 800) == lines
    body = [Line(PROSE, 50, 100 + 12 * at, 290, 110 + 12 * at, 10) for at in range(48)]
    assert footnotes_last([*body, *rest], 10, 800) == [*body, rest[1], rest[0]]


def headers(*tops: str, x1: float = 550) -> list[str]:
    def pages() -> list[RawPage]:
        return [
            RawPage(n, "", 600, 800, [Line(top, 50 - 20 * (n % 2), 30, x1 - 20 * (n % 2), 40, 10), *prose(100)])
            for n, top in enumerate(tops, 1)
        ]

    return [line for _, gone in remove_running_lines(iter(pages())) for line in gone]


def test_a_header_of_two_parts_goes_though_one_of_them_is_another_on_each_page() -> None:
    sections = ["TREES", "JAM", "WINE", "NUTS", "CAKES", "BREAD"]
    tops = [f"CHAPTER 8. FRUIT 8.{n}. ALL ABOUT {section}" for n, section in enumerate(sections, 1)]
    assert headers(*tops) == tops
    assert headers(*[f"FRUIT 8.{n}. OF {section}" for n, section in enumerate(sections, 1)], x1=300) == []  # one part
    assert headers(*[f"ALL {section} AND THINGS LIKE {section}" for section in sections]) == []
    assert headers(tops[0], *["A title of quite another kind"] * 5)[:1] != tops[:1]


def test_a_letter_that_is_like_one_of_a_numerals_is_none() -> None:
    assert headers(*["Plums ı İ"] * 6, x1=300) == ["Plums ı İ"] * 6
