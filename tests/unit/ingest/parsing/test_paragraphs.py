"""Which lines are one paragraph, item, table or piece of code, on made pages; with room at each limit."""

from dataclasses import replace

import pytest

from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.headings import Heading
from functions.ingest.parsing.joining import join
from functions.ingest.parsing.paragraphs import has_leader
from functions.ingest.parsing.places import place_in, without_first_word
from functions.ingest.parsing.reflow import cells, page_of, reflow
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN
from shared.rects import CORNERS, STEPS, place_of
from tests.support.made_pages import FRUIT, line, parts_of, prose, texts


def filled(y: float = 20, count: int = 4) -> list[Line]:
    return [
        line(f"words {'abcdef'[at]} of a paragraph that go on and fill this line", y + 12 * at) for at in range(count)
    ]


def are_one(above: Line, below: Line, *, lead: int = 3) -> bool:
    """Whether two lines are one paragraph on a page whose lines are 12 points apart."""
    found = texts(*filled(above.y0 - 12 * lead, lead), above, below)
    return any(above.text in text and below.text in text for text in found)


@pytest.mark.parametrize(
    ("text", "x1", "below", "expected"),
    [
        ("it goes on here", 400, "And this is next", True),  # the line is full
        ("it ends here", 250, "And this is next", False),  # it is short
        ("it goes on here", 250, "and this is next", True),  # short, but the sentence goes on
        ("It ends here.", 250, "and this is next", False),
        ("It ends here.", 400, "And this is next", True),  # full: it may go on
        ("It ends here!”", 250, "and this is next", False),
        ("what comes:", 250, "this and that", False),
        ("Two trees stand above the old stone wall of the", 300, "Upper garden, and one below", True),
        ("Two trees stand above the old stone wall, all wet", 300, "Upper garden, and one below", False),
        ("Two trees, and the wall of the", 250, "Upper garden, and one below", False),  # as rows are
    ],
)
def test_a_full_line_or_an_open_sentence_goes_on_below(text: str, x1: float, below: str, expected: bool) -> None:
    assert are_one(line(text, 100, x1=x1), line(below, 112)) is expected


@pytest.mark.parametrize(
    ("x0", "below", "left", "expected"),
    [
        (90, "and this is next", 50, False),  # back at the page's edge: a text of its own
        (90, "and this is next", 80, True),
        (90, "and this is next", -60, True),  # below a line in its middle, as a formula
        (150, "and this is next", 50, True),  # nothing tells whether the line above had room
        (150, "shop.order(number, day=None)", 50, False),
    ],
)
def test_an_open_sentence_does_not_go_on_further_left(x0: float, below: str, left: float, expected: bool) -> None:
    assert are_one(line("returns a list", 100, x0=x0, x1=250), line(below, 124, x0=left)) is expected


@pytest.mark.parametrize(("drop", "expected"), [(14.5, False), (10.5, True)])
def test_a_note_of_one_line_ends_at_more_room_than_is_above_it(drop: float, expected: bool) -> None:
    notes = (
        line("Source: a survey of all", 100, x0=50, x1=250, size=8),
        line("Note: see below for it all.", 110, x0=50, x1=400, size=8),
    )
    found = texts(*filled(20), *notes, line("THE FRUIT COUNCIL", 110 + drop, x0=50, x1=180, size=8))
    assert any("all. THE" in text for text in found) is expected


@pytest.mark.parametrize(
    ("drop", "below", "expected"),
    [
        (12, "And this is next", True),
        (16, "And this is next", True),
        (24, "And this is next", False),
        (24, "and this is next", True),
        (36, "and this is next", False),
    ],
)
def test_room_between_lines_ends_a_paragraph_unless_the_sentence_goes_on_close_below(
    drop: float, below: str, expected: bool
) -> None:
    assert are_one(line("it goes on here", 100), line(below, 100 + drop)) is expected


@pytest.mark.parametrize(
    ("size", "bold", "below", "expected"),
    [
        (10, False, "And this is next", True),
        (10.3, True, "And this is next", True),
        (13, True, "And this is next", False),
        (13, False, "And this is next", False),
        (13, False, "and this is next", True),
        (7, False, "And this is next", False),
    ],
)
def test_lines_in_another_print_are_another_paragraph(size: float, bold: bool, below: str, expected: bool) -> None:
    assert are_one(line("it goes on here", 100), line(below, 112, size=size, bold=bold)) is expected


@pytest.mark.parametrize(
    ("x0", "text", "expected"),
    [(52, "It goes on.", True), (66, "It goes on.", False), (66, "it goes on", True), (130, "it goes on", True)],
)
def test_an_indented_line_begins_a_paragraph_where_a_sentence_has_ended(x0: float, text: str, expected: bool) -> None:
    assert are_one(line(text, 100), line("And this is next", 112, x0=x0)) is expected


def test_a_term_and_what_is_said_of_it_indented_below_are_one_block() -> None:
    terms = [
        line("Autumn term", 80, x1=110),
        line("from 2 September to 18 December, without the last week of October", 92, x0=78, x1=395),
        line("Spring term", 104, x1=108),
        line("from 5 January to 25 March, without the third", 116, x0=78, x1=390),
        line("week of February", 128, x0=78, x1=160),
        line("Sports day", 140, x1=100),
        line("25 June", 152, x0=78, x1=120),
    ]
    assert texts(*filled(), *terms)[-3:] == [
        "Autumn term\nfrom 2 September to 18 December, without the last week of October",
        "Spring term\nfrom 5 January to 25 March, without the third week of February",
        "Sports day\n25 June",
    ]


def test_marks_beside_what_they_mark_are_no_terms() -> None:
    marked = [
        line("[9]", 80, x1=60),
        line("the first book, of the year 1999, with two maps", 80, x0=72, x1=330),
        line("[10]", 110, x1=60),
        line("the second book, of the year 2004, with none", 110, x0=72, x1=320),
    ]
    assert not any("\n" in text for text in texts(*filled(), *marked))


def test_lines_above_paragraphs_that_begin_indented_are_no_terms() -> None:
    below = [
        line("A title without a size", 80, x1=160),
        line("The first line of a paragraph is set in, and the next one", 92, x0=78),
        line("is not.", 104, x1=80),
        line("Another title like it", 116, x1=150),
        line("The first line of a paragraph is set in, and the next one", 128, x0=78),
        line("is not, either.", 140, x1=100),
    ]
    assert not any("\n" in text for text in texts(*filled(), *below))


def test_a_line_in_the_next_column_goes_on_by_its_text_alone() -> None:
    assert are_one(line("it goes on here", 700), line("and this is next", 40, x0=320, x1=560))
    assert are_one(line("it goes on here", 700), line("And this is next", 40, x0=320, x1=560))
    assert not are_one(line("it ends", 700, x1=200), line("And this is next", 40, x0=320, x1=560))
    assert not are_one(line("It goes no further.", 700), line("And this is next", 40, x0=320, x1=560))


@pytest.mark.parametrize("mark", ["•", "▪", "–", "1.", "(2)", "a)", "(iv)", "[12]", "B.", "*", "✓", "▶", "◆", "12)"])
def test_a_line_with_a_mark_is_an_item_and_keeps_its_second_line(mark: str) -> None:
    lines = [
        line(f"{mark} Wash the fruit and cut it so that it fills the line", 20),
        line("well enough.", 32, x0=62, x1=120),
    ]
    lines += [line(f"{mark} Boil it.", 44, x1=120)]
    assert parts_of(*lines) == [
        ("list_item", f"{lines[0].text} well enough."),
        ("list_item", f"{mark} Boil it."),
    ]


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("H. Miller", "Anne Bauer", "paragraph"),
        ("H. Miller", "I. Bauer", "list_item"),
        ("I. Courts", "Anne Bauer", "list_item"),
        ("H. Apples and pears", "The end", "list_item"),
        ("A. Miller", "Anne Bauer", "list_item"),
    ],
)
def test_the_initial_of_a_name_marks_no_item(first: str, second: str, kind: str) -> None:
    assert parts_of(line(first, 20, x1=120), line(second, 60, x1=130))[0][0] == kind


def test_a_minus_marks_items_as_a_dash_does() -> None:
    items = line("− apples of the north", 100), line("− pears", 112, x1=120)
    assert [kind for kind, _ in parts_of(*filled(), *items)][-2:] == ["list_item", "list_item"]
    assert parts_of(line("− e n + 2,", 100))[0][0] == "paragraph"  # of a formula


@pytest.mark.parametrize(
    ("leads", "x0", "kind"), [(True, 66, "list_item"), (False, 66, "paragraph"), (True, 50, "paragraph")]
)
def test_a_number_in_bold_that_the_next_line_leaves_room_for_marks_an_item(leads: bool, x0: float, kind: str) -> None:
    first = replace(line("2 Turn the tree round, and then look at it from", 20), leads=leads)
    assert parts_of(first, line("the other side.", 32, x0=x0, x1=160))[0][0] == kind


def test_a_date_at_a_lines_begin_is_not_the_next_item() -> None:
    assert len(parts_of(line("2. Die Lieferung erfolgt am", 20), line("3. März 2024 an die Anschrift.", 32))) == 1


@pytest.mark.parametrize(("number", "x0", "expected"), [("3.", 50, 2), ("4.", 50, 1), ("3.", 62, 1)])
def test_the_next_number_is_an_item_though_the_one_above_fills_its_line(number: str, x0: float, expected: int) -> None:
    above = line("2. RFC 3369, as it stands at http://www.example.org/rfc/3852.txt", 20)
    assert len(parts_of(above, line(f"{number} RFC 5280, which is another one", 32, x0=x0))) == expected


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        ("Pay period: 1 March 2024 to 31 March 2024", "Tax code: 1257L", 2),
        ("The survey asked the patients of the clinic about", "Vitamin D: 45 of them had little", 1),
        ("Sample taken: 22 October 2024, in the morning", "Ordered by: Ann Lee", 2),
        ("14 Harbour Street, Galway H91 X2K4, Republic", "Ordered by: Ann Lee", 1),
        ("The public goes on to have divided views of", "Bo Ray's work: 46 of them", 1),
        ("It is told in the longer lines of a text that fill the whole page", "By year: 46", 1),
    ],
)
def test_a_field_of_a_form_goes_on_in_no_line_above_it(above: str, below: str, expected: int) -> None:
    assert len(parts_of(line(above, 20), line(below, 32, x1=160))) == expected


@pytest.mark.parametrize("text", ["1937 was a year", "x", "(see below) it", "1.5 percent of it"])
def test_a_number_or_letter_within_a_sentence_marks_no_item(text: str) -> None:
    found = parts_of(*filled(), line(text, 68))
    assert len(found) == 1


def test_an_item_ends_where_the_next_line_stands_on_its_left_or_is_plain_below_bold() -> None:
    item = line("• Wash the fruit.", 20, x0=62, x1=160)
    assert len(parts_of(item, line("This is a paragraph of its own.", 32))) == 2
    bold = line("• Wash the fruit", 20, x0=50, x1=160, bold=True)
    assert len(parts_of(bold, line("This is a paragraph of its own.", 32))) == 2


@pytest.mark.parametrize(("x1", "drop", "expected"), [(370, 14, False), (370, 12, True), (398, 14, True)])
def test_a_little_room_ends_a_paragraph_if_its_last_line_had_some_left(x1: float, drop: float, expected: bool) -> None:
    above, below = line("which ends it here.", 56, x1=x1), line("The next begins", 56 + drop, x1=150)
    assert are_one(above, below, lead=1) is expected


@pytest.mark.parametrize(("x1", "expected"), [(370, False), (398, True)])
def test_a_paragraph_whose_lines_end_at_the_edge_ends_with_one_that_had_room(x1: float, expected: bool) -> None:
    above, below = line("which ends it here.", 56, x1=x1), line("The next begins", 68, x1=150)
    assert are_one(above, below) is expected
    assert len(texts(*filled()[:2], line("is not as wide", 44, x1=380), above, below)) == 1


def test_a_little_room_between_lines_that_are_all_as_far_from_each_other_ends_a_paragraph() -> None:
    def paragraphs(drop: float, step: float = 12) -> int:
        above = [line("A first one goes on", 20), line("and ends at the edge.", 32)]
        below = [line("Another begins here", 32 + drop), line("and goes on", 32 + drop + step)]
        return len(texts(*above, *below))

    assert (paragraphs(14), paragraphs(12), paragraphs(14, step=13.5)) == (2, 1, 1)


def test_a_line_that_stands_below_another_and_right_of_all_of_it_does_not_go_on_in_it() -> None:
    assert not are_one(line("A short line of", 56, x1=120), line("august at the right", 68, x0=130))
    assert are_one(line("A short line of", 56, x1=140), line("august at the right", 68, x0=130))


@pytest.mark.parametrize(
    ("ends", "x0", "expected"), [("in perspective.", 62, True), ("in perspective?", 62, False), ("no.", 50, False)]
)
def test_an_item_goes_on_under_its_text_though_a_sentence_ended_on_a_short_line(
    ends: str, x0: float, expected: bool
) -> None:
    item = [line("• Ask others and discuss your differences and what they", 80), line(ends, 92, x0=62, x1=150)]
    assert (texts(*filled(), *item, line("(To be handed in", 104, x0=x0))[-1].endswith("in")) is True
    assert texts(*filled(), *item, line("(To be handed in", 104, x0=x0))[-1].startswith("•") is expected


@pytest.mark.parametrize(
    ("above", "below", "are_apart"),
    [
        ("1.2.1 absolute-dynamic-event", "1.2.2 ad-hoc-jump-event", True),
        ("1.4.6. Names", "1.5. Security", True),
        ("2. Configuration", "2.1. The space of all settings", True),
        ("4.5.2. Central management", "4.5.3. “Why is it so?”", True),
        ("1.9 Last things", "2 Needs", True),
        ("1.2.1 absolute-dynamic-event", "1.2.3 is missing", False),
        ("1.4 million people, and then", "1.5 million of them", False),
    ],
)
def test_an_entry_of_contents_ends_where_the_next_number_begins_a_line(above: str, below: str, are_apart: bool) -> None:
    assert len(texts(line(above, 20), line(below, 32))) == (2 if are_apart else 1)


def test_a_line_with_a_leader_is_an_entry_of_contents_and_joins_nothing() -> None:
    found = parts_of(line("Plums ........ 12", 20), line("Pears . . . . . 13", 32), line("and this is text", 44))
    assert [text for _, text in found] == ["Plums … 12", "Pears … 13", "and this is text"]


def test_a_word_cut_by_the_end_of_a_line_is_whole_again_and_a_real_hyphen_stays() -> None:
    words = Vocabulary()
    words.add("the compartment is well-known")
    assert join("the compart" + SOFT_HYPHEN, "ment", words) == "the compartment"
    assert join("it is well-", "known", words) == "it is well-known"
    assert join("see http://a.b/", "c/d", words) == "see http://a.b/c/d"
    assert join("this and/", "or that", words) == "this and/ or that"
    assert join("関", "係", words) == "関係"
    assert join("関", "x", words) == "関 x"


@pytest.mark.parametrize(
    ("end", "below", "y", "expected"),
    [
        (SOFT_HYPHEN, "ment", 112, True),
        (SOFT_HYPHEN, "Ment", 112, True),  # the engine has seen that the word goes on
        (SOFT_HYPHEN, "ment", 40, True),  # in the next column
        (SOFT_HYPHEN, "Ment", 40, False),
        ("-", "ment", 112, True),
        ("-", "Ment", 112, False),
        ("-", "Ment", 40, False),
    ],
)
def test_a_line_that_ends_within_a_word_goes_on_in_lower_case_or_where_the_engine_says_so(
    end: str, below: str, y: float, expected: bool
) -> None:
    found = texts(*filled(52), line("it is in the compart" + end, 100), line(below, y))
    assert (len(found) == 1) is expected


def test_a_heading_of_two_lines_has_the_place_of_each() -> None:
    lines = [line("On the growing", 20), line("of stone fruit", 32), *filled(60)]
    for at, each in enumerate(lines):
        each.place = f"place{at}"[:6] + "##"
    heading = Heading(0, 2, "On the growing of stone fruit", "On the growing of stone fruit")
    part = reflow(RawPage(1, "", 600, 800, lines), [heading], Vocabulary())[0]
    assert (part.kind, part.lines) == ("heading", [(0, "place0##"), (15, "place1##")])
    renamed = Heading(0, 2, "Fruit", "Fruit")
    assert reflow(RawPage(1, "", 600, 800, lines), [renamed], Vocabulary())[0].lines == []


# --- Tables and code --------------------------------------------------------------------------------------------------


def rows(*texts: str) -> list[Line]:
    return [
        Line(text, 50, 100 + 12 * at, 500, 110 + 12 * at, 10, cells=text.count("|") + 1, column=1)
        for at, text in enumerate(texts)
    ]


def header_of(*texts: str) -> str:
    (table,) = reflow(RawPage(1, "", 600, 800, rows(*texts)), [], Vocabulary())
    return table.header


@pytest.mark.parametrize(
    ("texts", "header"),
    [
        (("Item | 2023 | 2022", "Cash | 1,204 | 998", "Loans | 7 | 8"), ["Item | 2023 | 2022"]),
        (("Year", "Item | 2023 | 2022", "Cash | 1,204 | 998"), ["Year", "Item | 2023 | 2022"]),
        (("Item | 2023 | 2022", "Assets:", "Cash | 1,204 | 998"), ["Item | 2023 | 2022"]),
        (("Cash | 1,204 | 998", "Loans | 7 | 8", "Gold | 7 | 9"), []),
        (("Name | Work", "Ann | cook", "Cleo | clerk"), ["Name | Work"]),
        (("Name | Work", "Ann | cook"), []),
        (("1 | Work", "2 | cook", "3 | clerk"), []),
        (("Affects all", "Name | Work", "Ann | cook", "Cleo | clerk"), ["Affects all", "Name | Work"]),
        (("Reported | 112 bps", "Effect | 28", "Core | 51 bps"), []),
        ((*(f"Head {n} | of it" for n in "abcd"), "Cash | 1,204"), [f"Head {n} | of it" for n in "abcd"]),
        ((*(f"Head {n} | Of it" for n in "abcdefg"), "Cash | 1,204"), ["Head a | Of it"]),
        (("Task | Hall", "Bins | daily", "Doors | weekly", "Mats | 3 times", "Desks | daily"), ["Task | Hall"]),
        (("Sender: | Ann Lee", "Goods: | ropes, sails", "Weight: | -"), []),
        (("Sender: | 2023 | 2022", "Goods: | 4 | 5", "Weight | 6 | 7"), ["Sender: | 2023 | 2022"]),
    ],
)
def test_the_rows_above_the_first_figure_are_a_tables_header(texts: tuple[str, ...], header: list[str]) -> None:
    assert header_of(*texts) == "\n".join(header)


@pytest.mark.parametrize(("rows_", "count"), [("a | b\nc | d\nf", 2), ("a\nb\nc | d", 1), ("a | b | c\nd | e | f", 3)])
def test_a_table_has_as_many_columns_as_most_of_its_rows(rows_: str, count: int) -> None:
    assert cells(rows_) == count


def test_code_keeps_its_lines_and_what_they_are_indented_by() -> None:
    def code(text: str, at: int, indent: int) -> Line:
        return Line(text, 50 + 6 * indent, 20 + 12 * at, 50 + 6 * (indent + len(text)), 30 + 12 * at, 10, mono=True)

    lines = [code("def f():", 0, 0), code("return 1", 1, 4), code("x = [", 2, 0), code("2]", 3, 9)]
    assert parts_of(*lines) == [("code", "def f():\n    return 1\nx = [\n         2]")]
    assert [kind for kind, _ in parts_of(lines[0])] == ["paragraph"]
    assert [kind for kind, _ in parts_of(*lines[:2], line("Prose follows.", 80), *lines[2:])] == [
        "code", "paragraph", "code"
    ]  # fmt: skip


def test_lines_of_tags_are_a_listing_in_whatever_print() -> None:
    tags = ['<fruit name="plum">', "<stone>", "hard", "</stone>", "</fruit>"]
    lines = [line(tag, 20 + 12 * at, x0=50 + 10 * (at in (1, 3)), x1=120) for at, tag in enumerate(tags)]
    assert [kind for kind, _ in parts_of(*prose(-60), *lines, *prose(90))] == ["paragraph", "code", "paragraph"]
    assert [kind for kind, _ in parts_of(*lines[:1], *prose(32), *lines[3:])] == ["paragraph"] * 3
    assert "code" not in [kind for kind, _ in parts_of(*lines[:2], *prose(50))]
    names = [line(f"<{name} of the year>", 20 + 12 * at, x1=120) for at, name in enumerate(FRUIT[:4])]
    assert "code" not in [kind for kind, _ in parts_of(*names)]


def test_a_listing_ends_at_a_name_in_larger_print() -> None:
    listing = [line(f"call({at})", 20 + 12 * at, x0=100, x1=140, size=9, mono=True) for at in range(3)]
    name = line("--depth INT", 62, x0=50, x1=110, size=11, mono=True)
    told = [line("Ends at this depth, which is a number", 76 + 12 * at, x0=80, size=11) for at in range(2)]
    assert [kind for kind, _ in parts_of(*listing, name, *told)] == ["code", "paragraph", "paragraph"]
    assert parts_of(*listing)[0] == ("code", "call(0)\ncall(1)\ncall(2)")


def test_blocks_are_parted_by_a_blank_line_and_items_by_a_line() -> None:
    lines = [*filled(), line("• One.", 90, x1=100), line("• Two.", 102, x1=100), line("Prose follows.", 140)]
    page = RawPage(4, "iv", 600, 800, lines)
    made = page_of(page, reflow(page, [], Vocabulary()), continues=True)
    assert made.text.count("\n\n") == 2
    assert "• One.\n• Two.\n\nProse" in made.text
    assert (made.number, made.label) == (4, "iv")
    assert [made.text[block.char_start : block.char_end] for block in made.blocks][1:] == [
        "• One.", "• Two.", "Prose follows."
    ]  # fmt: skip


# --- Running lines and footnotes --------------------------------------------------------------------------------------


def left_of(running: str, *, y: float = 30, size: float = 10, pages: int = 12, on: int = 1) -> int:
    """On how many pages a line that stands on each (or each second, third …) one is kept."""

    def page(number: int) -> RawPage:
        body = [line(f"All about {FRUIT[number % 12]} and more of {at}.", 200 + 30 * at) for at in range(4)]
        shown = [line(running.format(number), y, size=size)] if number % on == 0 else []
        return RawPage(number, "", 600, 800, [*shown, *body])

    kept = 0
    for page_, removed in remove_running_lines(map(page, range(1, pages + 1))):
        kept += len(page_.lines) - 4
        assert len(removed) <= 1
    return kept


@pytest.mark.parametrize("y", [30, 90, 710, 770])
def test_a_line_that_recurs_near_the_head_or_foot_of_the_pages_goes(y: float) -> None:
    assert left_of("A Book of Fruit", y=y) == 0


@pytest.mark.parametrize("y", [180, 400, 640])
def test_a_line_that_recurs_within_the_pages_stays(y: float) -> None:
    assert left_of("A Book of Fruit", y=y) == 12


@pytest.mark.parametrize(("on", "kept"), [(1, 0), (2, 0), (6, 2)])
def test_a_line_must_recur_on_enough_of_the_neighbours(on: int, kept: int) -> None:
    assert left_of("A Book of Fruit", on=on) == kept


@pytest.mark.parametrize("form", ["{}", "- {} -", "Page {}", "page {} of 12", "Seite {}", "A Book of Fruit {}"])
def test_page_numbers_of_every_form_go(form: str) -> None:
    assert left_of(form) == 0


def test_of_a_title_in_large_print_that_recurs_the_first_stays() -> None:
    assert left_of("A Book of Fruit", size=16) == 1
    assert left_of("A Book of Fruit", size=11) == 0


def test_lines_that_recur_far_apart_in_a_long_document_stay() -> None:
    assert left_of("A Book of Fruit", on=12, pages=48) == 4


def note_moves(size: float = 7, y: float = 640, text: str = "1 A note on it.", above: str = "It ends here.") -> bool:
    lines = [
        line(above, 600, x0=50, x1=280),
        line(text, y, x0=50, x1=280, size=size),
        line("Next column.", 80, x0=320, x1=550),
    ]
    found = [one.text for one in footnotes_last(lines, 10, 800)]
    assert sorted(found) == sorted(one.text for one in lines)
    return found[-1] == text


def test_small_print_with_a_mark_at_the_foot_of_a_column_moves_behind_the_others() -> None:
    assert note_moves()
    assert note_moves(text="* A note on it.")
    assert not note_moves(size=9.8)
    assert not note_moves(text="A note on it.")
    assert not note_moves(y=640 - 300)


# --- Where lines stand ------------------------------------------------------------------------------------------------


def placed(*starts: float) -> str:
    """The place of a line whose words begin there."""
    return place_of((starts[0], 100, starts[-1] + 30, 110), starts, 800 / STEPS)


THREE, TWO = placed(50, 90, 130), placed(50, 90)


@pytest.mark.parametrize(
    ("lines", "length", "left"),
    [
        ([(0, THREE), (20, TWO)], 4, [(0, placed(90, 130)), (16, TWO)]),
        ([(0, placed(50)), (4, TWO)], 4, [(0, TWO)]),  # the word is the whole of its line
        ([(0, placed(50)), (4, TWO), (20, THREE)], 4, [(0, TWO), (16, THREE)]),
        ([(0, placed(50)), (3, TWO), (20, THREE)], 6, [(0, ""), (14, THREE)]),  # it runs over two lines
        ([(0, THREE)], 4, [(0, placed(90, 130))]),
    ],
)
def test_a_text_without_its_first_word_keeps_the_places_of_the_others(
    lines: list[tuple[int, str]], length: int, left: list[tuple[int, str]]
) -> None:
    assert without_first_word(lines, length) == left


@pytest.mark.parametrize(
    ("raw", "text", "place", "expected"),
    [
        ("one two three", "one two three", THREE, THREE),
        ("one  two three", "one two three", THREE, THREE),
        ("one \u200b three", "one three", THREE, placed(50, 130)),  # a word that was cleaned away
        ("one . . . . 12", "one … 12", placed(50, 90, 100, 110, 120, 160), placed(50, 90, 160)),  # leaders
        ("one two three", "three four", THREE, THREE[:CORNERS]),  # it is not certain which words are left
        ("one two", "one", THREE, THREE[:CORNERS]),  # nor where they begin
        ("one two", "one", "", ""),
    ],
)
def test_a_cleaned_line_keeps_the_places_of_the_words_that_are_left(
    raw: str, text: str, place: str, expected: str
) -> None:
    assert place_in(place, raw, text) == expected


@pytest.mark.parametrize(
    ("x0", "drop", "expected"),
    [
        (50, 12, True),  # where the lines above begin, as near as they are
        (70, 12, False),  # where the first line begins
        (50, 18, False),  # with room above it
    ],
)
def test_what_looks_like_a_mark_at_the_edge_of_a_paragraph_with_an_indent_is_a_word_of_it(
    x0: float, drop: float, *, expected: bool
) -> None:
    before = [
        line("(b) If all of the principal has been paid, the company may end it", 20, x0=70),
        *(line(f"words {'abcd'[at]} of a paragraph that go on and fill this line", 32 + 12 * at) for at in range(3)),
        line("and subject to payment of said principal and of interest,", 68),
    ]
    got = texts(*before, line("(A) such subsidiary shall have no obligation.", 68 + drop, x0=x0))
    assert (len(got) == 1) is expected


def test_entries_of_an_index_are_items_with_what_they_go_on_in() -> None:
    entries = [line(f"{fruit}, {at}", 50 + 12 * at, x1=100) for at, fruit in enumerate(FRUIT, 1)]
    head, part = line("vegetables", 206, x1=100), line("leeks, 12, 14", 218, x0=60, x1=120)
    long, rest = line("words that take more than a line,", 230, x1=190), line("31", 242, x0=80, x1=90)
    found = parts_of(*entries, head, part, long, rest)
    items = [("list_item", entry.text) for entry in [*entries, head, part]]
    assert found == [*items, ("list_item", f"{long.text} 31")]
    assert parts_of(*entries[:4]) != items[:4]
    rows = [
        Line(f"{fruit}, 1 | 5, {at}", 50, 50 + 12 * at, 400, 60 + 12 * at, 10, cells=2, column=1)
        for at, fruit in enumerate(FRUIT)
    ]
    assert parts_of(*rows, *filled(260))[-1][0] == "paragraph"


def test_a_reference_begins_where_the_next_line_is_indented_to_go_on_in_it() -> None:
    first = line("Ann Pear. On fruit, and on what grows beside it in the year 2020.", 50)
    second, rest = (
        line("Bob Plum and others. On the trees of the north and of the", 62),
        line("south. 2021.", 74, x0=65),
    )
    third = line("Cid Quince. On jam and on how it is kept over all of a winter.", 86)
    assert texts(first, second, rest, third)[:2] == [first.text, f"{second.text} {rest.text}"]
    formula = [line("x = y + z", 84, x0=65, x1=120), line("where x is what grows.", 106)]
    assert texts(first, second, *formula)[0].startswith(f"{first.text} {second.text}")
    further, apart = line("south and the east", 86, x0=80), line("It is as was said.", 110, x0=65)
    for after in (further, apart, line("It stands above.", 20)):
        assert texts(first, second, rest, after)[0].startswith(f"{first.text} {second.text}")


def test_a_sentence_goes_on_in_parentheses_and_an_address_behind_its_colon() -> None:
    assert are_one(line("in a book of plums", 100, x1=340), line("(Pearson-Roberts) on fruit", 112))
    assert texts(line("It stands at http:", 50), line("//example.org/fruit", 62)) == [
        "It stands at http://example.org/fruit"
    ]


@pytest.mark.parametrize(
    ("above", "x1", "below"),
    [
        ("in a book of plums", 250, "(A. Pear, ed.) on fruit"),  # there was room
        ("in a book of plums", 340, "(Pearson-Roberts) On fruit"),
        ("in a book of plums", 340, "(Pearson-Roberts on fruit)"),
        ("in a book of 12", 340, "(Pearson-Roberts) on fruit"),
    ],
)
def test_a_line_in_parentheses_begins_anew_unless_the_sentence_goes_on_behind_them(
    above: str, x1: float, below: str
) -> None:
    assert not are_one(line(above, 100, x1=x1), line(below, 112))


def test_rows_of_a_statement_that_begin_in_parentheses_and_doubled_letters_of_items_stay_apart() -> None:
    rows = ["Net revenue", "(Loss) from operations", "(Gain) on sale of land"]
    statement = [line(text, 100 + 12 * at, x1=50 + 5 * len(text)) for at, text in enumerate(rows)]
    assert texts(*filled(), *statement)[-3:] == rows
    items = ["(aa) a car of the owner or", "(bb) a bicycle"]
    before = line("A vehicle that is the following may be lent; or", 92, x1=360)
    law = [before, *(line(text, 104 + 12 * at, x1=50 + 5 * len(text)) for at, text in enumerate(items))]
    assert parts_of(*filled(), *law)[-2:] == [("list_item", text) for text in items]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("It stands at ftp:", "//a.org", "It stands at ftp://a.org"),
        ("(https:", "//a.org)", "(https://a.org)"),
        ("see also:", "//comment in code", "see also: //comment in code"),
        ("Note:", "// the path", "Note: // the path"),
        ("by http:", "// as it was", "by http: // as it was"),
    ],
)
def test_only_an_address_goes_on_behind_its_colon(before: str, after: str, expected: str) -> None:
    assert join(before, after, Vocabulary()) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Psychology, 40(5):733–", "745.", "Psychology, 40(5):733–745."),
        ("on Form 10-", "K for", "on Form 10-K for"),
        ("on Form 10" + SOFT_HYPHEN, "K for", "on Form 10" + SOFT_HYPHEN + "K for"),
        ("(10-", "Q) for", "(10-Q) for"),
        ("the 5-", "and 10-year notes", "the 5- and 10-year notes"),
        ("the 5-", "and ten-year notes", "the 5- and ten-year notes"),
        ("within 30-", "day periods", "within 30-day periods"),
        ("a 2-", "percentage-point rise", "a 2-percentage-point rise"),
        ("voor 5-", "tot 10-jarigen", "voor 5- tot 10-jarigen"),
        ("für 10-", "bis 12-Jährige", "für 10- bis 12-Jährige"),
        ("les 3-", "à 5-jährige", "les 3- à 5-jährige"),
        ("entre 5-", "y 10", "entre 5- y 10"),
        ("von 2019–", "Das Jahr", "von 2019– Das Jahr"),
        ("in 2019-", "however", "in 2019- however"),
        ("in 2019-", "A year", "in 2019- A year"),
        ("1,234.56-", "The customer", "1,234.56- The customer"),
        ("1,234.56-", "A customer", "1,234.56- A customer"),
        ("0711-", "Fax 0712", "0711- Fax 0712"),
        ("0711-", "0712", "0711-0712"),
        ("it was 7 -", "8 at most", "it was 7 - 8 at most"),
        ("in 2010-", "(see there)", "in 2010- (see there)"),
        ("the name –", "3 of them", "the name – 3 of them"),
    ],
)
def test_a_number_cut_at_its_hyphen_or_dash_is_whole_again(before: str, after: str, expected: str) -> None:
    assert join(before, after, Vocabulary()) == expected


def test_running_text_of_dates_and_addresses_is_no_index() -> None:
    def column(*pair: str) -> list[str]:
        return texts(*(line(pair[at % 2], 50 + 12 * at, x1=190 + at % 2) for at in range(20)))

    for date in ("July 1, 2021", "Sept. 2021", "May, 2021"):
        assert len(column(f"the house was sold on {date}", "and bought again by Ann Lee in")) == 1
    assert len(column("It was sold by Ann on July 1, 2021", "Bob Lee bought it back again in")) == 1
    went, to = "and he went on foot again to", "the house of Mill Road, 40"
    assert column(went, to) == [f"{went} {to}"] * 10


def test_entries_in_small_letters_begin_below_the_letter_that_heads_them() -> None:
    entries = [line(f"{fruit}, {at}", 62 + 12 * at, x1=100) for at, fruit in enumerate(FRUIT)]
    assert texts(line("A", 50, x1=58), *entries) == ["A", *(entry.text for entry in entries)]
    dated = [line("Treaty of May 1, 2021", 206, x1=150), line("and its outcome, 12", 218, x1=140)]
    assert texts(*entries, *dated)[-1] == "Treaty of May 1, 2021 and its outcome, 12"


def test_sentences_of_one_line_each_are_entries_unless_they_end_at_the_edge() -> None:
    listed = [
        line(f"{name} led the house for a number of years.", 50 + 12 * i, x1=380 + 5 * i)
        for i, name in enumerate("ABCD")
    ]
    assert texts(*listed) == [one.text for one in listed]
    filled_up = [line(one.text, one.y0) for one in listed]
    assert len(texts(*filled_up)) == 1
    assert len(texts(*listed[:3])) == 1


def test_a_wider_line_in_the_middle_goes_on_though_it_begins_far_to_the_left() -> None:
    above = line("in the middle of the page it ends.", 56, x0=80, x1=420)
    below = line("iPads in the middle go on below it and are wider", 71, x1=450)
    assert texts(*filled(20, 3), above, below)[1:] == [f"{above.text} {below.text}"]
    assert texts(*filled(20, 3), above, line(below.text, 71, x0=20, x1=450))[1:] == [above.text, below.text]


def test_what_stands_far_to_the_left_of_a_sentence_and_apart_from_it_begins_anew() -> None:
    name, said = (
        line("rubberend", 100, x1=100),
        line("Used within the program for moves of a line or arc.", 112, x0=110),
    )
    following = line("0x400 This one is obsolete.", 132, x1=300)
    assert texts(*filled(), name, said, following)[-2:] == [said.text, following.text]
    assert texts(*filled(), name, said, line(following.text, 124))[-1] == f"{said.text} {following.text}"
    assert texts(*filled(), name, said, line(following.text, 128))[-2:] == [said.text, following.text]
    assert texts(*filled(), name, said, line(following.text, 128, x0=100))[-1] == f"{said.text} {following.text}"


OPEN, ENDED = "This one goes on", "This one ends it."


@pytest.mark.parametrize(
    ("head", "size", "before", "below", "goes"),
    [
        ("2 Ann Lee et al.", 9, OPEN, "tellus goes on here.", True),
        ("On Fruit 2", 9, OPEN, "tellus goes on here.", True),
        ("2 Methods", 9, OPEN, "Tellus begins here.", False),
        ("3 Ann Lee", 9, OPEN, "tellus goes on here.", False),
        ("Ann Lee", 9, OPEN, "tellus goes on here.", False),
        ("Step 2", 9, ENDED, "insert the card into the slot.", False),
        ("Total due: 2", 10, OPEN, "to be paid within the month.", False),
        ("2 cups", 10, ENDED, "of flour, sifted.", False),
    ],
)
def test_a_small_line_with_the_pages_number_above_a_sentence_that_goes_on_is_its_header(
    head: str, size: float, before: str, below: str, *, goes: bool
) -> None:
    note, number = line("1 A note on it.", 700, size=8), line("1", 770, x0=295, x1=305)
    pages = [
        RawPage(1, "1", 600, 800, [line("A title", 60, size=14), *filled(100), line(before, 148), note, number]),
        RawPage(2, "2", 600, 800, [line(head, 40, x1=150, size=size), line(below, 64), *filled(76)]),
    ]
    (_, _), (_, removed) = remove_running_lines(iter(pages))
    assert removed == ([head] if goes else [])


def test_the_header_of_several_authors_is_no_sentence() -> None:
    heads = {2: "2 Ann Lee and Bob Roe et al.", 4: "4 Ann Lee and Bob Roe et al.", 6: "6 Ann Lee and Bob Roe et al."}
    pages = [
        RawPage(i, str(i), 600, 800, [line(heads.get(i, f"On Fruit {i}"), 40, x1=200), *filled(80 + i)])
        for i in range(1, 7)
    ]
    assert [removed for _, removed in remove_running_lines(iter(pages))][1] == [heads[2]]


@pytest.mark.parametrize(("room", "expected"), [(3, True), (5, False)])
def test_what_stands_well_below_a_sentence_begins_anew_however_full_its_line_was(room: float, expected: bool) -> None:
    assert are_one(line("It ends here.", 100), line("And this is next", 112 + room)) is expected
    assert are_one(line("It goes on", 100), line("And this is next", 112 + room))
    assert are_one(line("as in e.g.", 100), line("and this is next", 112 + room))


def test_the_name_below_a_signature_is_no_part_of_it() -> None:
    for signature in ("By: /s/ Ann Lee", "/s/ Ann Lee"):
        assert texts(line(signature, 100), line("Ann Lee", 112)) == [signature, "Ann Lee"]
    assert len(texts(line("as signed by /s/ Ann Lee", 100), line("Ann Lee", 112))) == 1


@pytest.mark.parametrize(
    ("above", "below", "x0", "expected"),
    [
        ("2https://a.org/fruit", "3https://a.org/trees", 50, 2),
        ("2https://a.org/fruit", "4https://a.org/trees", 50, 1),
        ("2https://a.org/fruit", "3https://a.org/trees", 52, 1),
        ("2x and more of it", "3x and more of it", 50, 1),
    ],
)
def test_notes_whose_marks_were_raised_are_told_by_their_numbers(
    above: str, below: str, x0: float, expected: int
) -> None:
    assert len(texts(line(above, 100), line(below, 112, x0=x0))) == expected


@pytest.mark.parametrize(
    ("line", "leads"),
    [
        ("Apples .... 2", True),
        ("Rent . . . . . - 358 52.2%", True),
        ("Fees ..... see p. 9", True),
        ("Name . . . . . . . . . to be filled in by hand", True),
        ("--tree=<name> .... Otherwise it takes the first one", False),
        ("and so on .... until the last apple is picked", False),
        ("the trees of the county. . . .", False),
        ("the trees of the county . . . .", True),
    ],
)
def test_few_dots_with_a_sentence_behind_them_lead_to_nothing(line: str, leads: bool) -> None:
    assert has_leader(line) is leads


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        ("tree.count = 12", "tree.kind = plum", False),
        ("tree.count = 12", "and of pears", True),
        ("prune hard", "prune none", False),
        ("prune hard", "and again", True),
    ],
)
def test_settings_and_short_lines_that_begin_alike_are_entries(above: str, below: str, *, expected: bool) -> None:
    found = texts(*filled(), line(above, 100, x1=130), line(below, 112, x1=130))
    assert (f"{above} {below}" in found) is expected


@pytest.mark.parametrize(("bold", "expected"), [(False, True), (True, False)])
def test_what_explains_a_term_in_bold_is_no_part_of_it(bold: bool, expected: bool) -> None:
    term = line("the term", 100, x1=110, bold=bold)
    assert (texts(term, line("and what it means", 112, x0=70, x1=115))[0] != "the term") is expected


@pytest.mark.parametrize(("second", "expected"), [(100, True), (340, False)])
def test_what_stands_below_a_name_with_its_kind_at_the_edge_begins_anew(second: float, expected: bool) -> None:
    place = place_of((50, 100, 400, 110), [50, second], 800 / STEPS)
    name = Line("prune-tree procedure", 50, 100, 400, 110, 10, place=place)
    below = [line("The tree is pruned by this", 112, x0=74), line("and that is all.", 124, x0=74, x1=150)]
    found = texts(*filled(), name, *below)
    assert any(text.startswith("prune-tree procedure The") for text in found) is expected


@pytest.mark.parametrize(("apart", "expected"), [(False, True), (True, False)])
def test_a_line_in_another_face_that_is_set_off_and_set_in_is_no_end_of_a_sentence(apart: bool, expected: bool) -> None:
    above = line("as in", 68, x1=75)
    below = replace(line("tree.count = 12", 88, x0=80, x1=150), apart=apart)
    assert any(text.endswith("as in tree.count = 12") for text in texts(*filled(), above, below)) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("URL http://CRAN.", "R-project.org.", "URL http://CRAN.R-project.org."),
        ("URL http://www.", "R-project.org/doc/", "URL http://www.R-project.org/doc/"),
        ("see http://www.trees.org.", "Trees.org is", "see http://www.trees.org. Trees.org is"),
        ("see http://trees.", "Pruning comes next", "see http://trees. Pruning comes next"),
    ],
)
def test_an_address_cut_within_its_host_goes_on_with_a_capital(before: str, after: str, expected: str) -> None:
    assert join(before, after, Vocabulary()) == expected


def test_the_second_line_of_an_entry_of_the_contents_belongs_to_the_first() -> None:
    entries = [line("14.1 A history of pruning, and of all that was", 20), line("cut . . . . . . . 56", 32, x0=70)]
    assert texts(*entries) == ["14.1 A history of pruning, and of all that was cut … 56"]
    entries[1] = line("14.1.1 Saws . . . . . . . 57", 32, x0=70)
    assert texts(*entries) == ["14.1 A history of pruning, and of all that was", "14.1.1 Saws … 57"]


@pytest.mark.parametrize(("x1", "expected"), [(339, 1), (310, 2)])
def test_a_line_is_as_long_as_its_words_allow_with_the_space_before_the_next_one(x1: float, expected: int) -> None:
    ragged = [
        line("words of a paragraph that go on in the next", 20, x1=420),
        line("line and in the one below it. The Company", 32, x1=x1),
        line("Extraordinary Limited has trees and all of it", 44, x1=415),
        line("words of a paragraph that go on in the next", 56, x1=410),
        line("line and end here.", 68, x1=150),
    ]
    assert len(texts(*ragged)) == expected


def test_items_numbered_in_brackets_are_items_however_the_one_above_ends() -> None:
    found = parts_of(line("[1] Lee, A.: On plums, in Fruit [a journal]", 20), line("[2] Moss, B.: On pears", 32))
    assert found == [
        ("list_item", "[1] Lee, A.: On plums, in Fruit [a journal]"),
        ("list_item", "[2] Moss, B.: On pears"),
    ]


@pytest.mark.parametrize(
    ("address", "are_one"), [("https://fruit.example/plums-and-pears", True), ("Plums and pears", False)]
)
def test_an_address_that_had_no_room_goes_on_behind_its_colon(address: str, *, are_one: bool) -> None:
    above = line("34. Lee A. On plums. Fruit 2003;361:501. Available at:", 20, x1=330)
    wide = line("words of a paragraph that fills the width of the page here", 60, x1=400)
    assert (texts(above, line(address, 32, x1=300), wide)[0].endswith(address)) is are_one


def test_a_comment_in_another_print_belongs_to_the_listing_around_it() -> None:
    def of(text: str, y: float, *, mono: bool = True) -> Line:
        return Line(text, 60, y, 300, y + 10, 10, mono=mono)

    code = [of("int ripe(void) {", 20), of("return 1; // all are ripe", 32, mono=False), of("}", 44)]
    assert [kind for kind, _ in parts_of(*code)] == ["code"]
    code[1].text, code[1].mono = "returns whether all are ripe", False
    assert [kind for kind, _ in parts_of(*code)] != ["code"]


def test_a_two_column_list_of_words_has_no_header() -> None:
    def header(*rows: str) -> str:
        lines = [Line(row, 50, 20 + 12 * at, 400, 30 + 12 * at, 10, cells=2, column=1) for at, row in enumerate(rows)]
        return reflow(RawPage(1, "", 600, 800, lines), [], Vocabulary())[0].header

    rows = "u | undo the last step", "q | leave the game"
    assert header("tab | switch sides of the board", *rows) == ""
    assert header("Key | What it does", *rows) == "Key | What it does"


@pytest.mark.parametrize(
    ("above", "below", "count"),
    [
        ("I, ________________, certify that all of this is true, as", "far as I know it.", 1),
        ("Name: ________________ Date of birth: ________________", "far as I know it.", 2),
        ("Sworn on the ______ day of ________, 20____", "before me.", 2),
        ("You may tell us that you do not want this at any time of", "day or night. Initial here: ________", 1),
        ("C.2 set_of – a tool that makes sets . . . . . . . . . . . 4", "far as I know it.", 2),
    ],
)
def test_a_sentence_goes_on_behind_a_blank_and_below_it(above: str, below: str, count: int) -> None:
    assert len(texts(*prose(20), line(above, 100), line(below, 112, x1=150))) == count + 1


@pytest.mark.parametrize(
    ("x1", "text", "expected"),
    [
        (120, "string: where plums are kept", False),
        (300, "string: where plums are kept", True),  # no short line
        (120, "for plums that are kept", True),  # a sentence goes on
    ],
)
def test_a_short_line_ends_where_small_letters_are_set_off_below_it(x1: float, text: str, expected: bool) -> None:
    name, below = line("default: none", 90, x1=x1), line(text, 113)
    assert (f"{name.text} {below.text}" in texts(*filled(), name, below)) is expected


def test_a_name_in_fixed_pitch_between_lines_set_in_is_no_end_of_the_one_above() -> None:
    rows = [
        line("load plums into shared memory and keep them in it", 100, x0=80),
        replace(line("LoadAndRemove", 112, x1=130), mono=True),
        line("load plums into shared memory and remove them", 124, x0=80),
    ]
    assert "LoadAndRemove" in texts(*filled(), *rows)
