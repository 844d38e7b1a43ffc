"""What is told by room and place: running lines by their block, paragraphs, steps, addresses that a line cuts.

Each on a made page, and what looks like it and must stay as it is.
"""

import pytest

from functions.ingest.parsing.distances import pitch_of
from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.joining import join
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Header, Line, RawPage
from tests.support.made_pages import PROSE, line, parts_of, prose

# --- Running lines ----------------------------------------------------------------------------------------------------


def running(*tops: str, bold: bool = False, room: float = 20, size: float = 10, at_end: bool = False) -> list[str]:
    """Return what goes of pages that begin, or end, with these lines and have other text."""

    def page(number: int, top: str) -> RawPage:
        text = [line(f"{PROSE} {'abcdefghijkl'[number]}{at}x", 40 + room + 12 * at) for at in range(6)]
        y = 760 if at_end else 30
        return RawPage(number, "", 600, 800, [Line(top, 50, y, 300, y + 10, size, bold), *text])

    return [
        gone for _, lines in remove_running_lines(iter([page(*each) for each in enumerate(tops, 1)])) for gone in lines
    ]


def test_a_line_goes_that_a_page_nearby_has_in_a_block_that_most_pages_have_there() -> None:
    tops = ["Apples", "Apples", "Pears", "Pears", "Plums", "Plums"]
    assert running(*tops) == tops
    assert running(*tops, room=6) == []  # as near as the text
    assert running(*tops, size=14) == []  # a title
    assert running(*[f"{top}:" for top in tops]) == []  # it introduces what stands below
    assert running("Apples", "Apples") == []  # too few pages to tell


def test_the_header_of_a_chapter_of_one_page_goes_where_others_begin_as_it_does() -> None:
    tops = ["CHAPTER 3. FRUIT 3.1. JAM", "CHAPTER 3. FRUIT 3.2. NUTS", "CHAPTER 3. FRUIT 3.3. PIE", "CHAPTER 4. WINE"]
    assert running(*tops) == tops
    assert running(*tops, bold=True) == []  # as the headings of notes, one a page
    assert running("Note 3 of all", "Note 4 on it", "Note 5 with us", "Note 6 to them") == []


def test_a_footer_is_not_known_by_its_end() -> None:
    ends = [f"{word} IS WHAT WE HAVE" for word in ("GOLD", "IRON", "LEAD", "ZINC")]
    assert running(*ends, at_end=True) == []
    assert running(*ends) == ends


@pytest.mark.parametrize(
    "tops",
    [
        ["How to clean the oven", "How to fit the racks", "How to use the grill", "How to defrost food"],
        ["Recipe for apple cake", "Recipe for plum cake", "Recipe for rye bread", "Recipe for oat bread"],
        ["What is the fee for adults?", "What is the fine for loss?", "What is the rule on pets?", "What is the age?"],
        ["Invoice number: 1234 of May", "Invoice number: 1299 of May", "Invoice number: 1310 of May"],
    ],
)
def test_titles_of_pages_that_begin_alike_stay(tops: list[str]) -> None:
    assert running(*tops) == []


# --- Paragraphs -------------------------------------------------------------------------------------------------------


def test_the_room_between_lines_is_that_in_which_sentences_go_on() -> None:
    going_on = [line("the words of a sentence that goes on and", 40 + 12 * at) for at in range(5)]
    alone = [line("A paragraph of one line.", 200 + 23 * at) for at in range(12)]
    assert pitch_of([*going_on, *alone]) == 12
    assert pitch_of(alone) == 23
    listing = [line("the_word = of(a, listing)", 40 + 9 * at, mono=True) for at in range(5)]
    assert pitch_of([*listing, *alone]) == 23


def test_the_lettering_of_a_figure_says_nothing_about_the_distance_of_lines() -> None:
    lettering = [Line("axis", 50, 20 + 7 * n, 90, 26 + 7 * n, 6, figure=1) for n in range(9)]
    text = [Line("Words of the text", 50, 200 + 18 * n, 400, 210 + 18 * n, 10) for n in range(4)]
    assert pitch_of([*lettering, *text]) == 18


def test_lines_of_double_spaced_text_are_one_paragraph_though_both_are_centred() -> None:
    first = "The plan is told here at some length, because it is needed by all who"
    assert (
        len(
            parts_of(
                line(first, 100, x1=540, x0=80),
                line("Work for the company and need it in their daily work.", 125, x1=560, x0=60),
            )
        )
        == 1
    )
    assert (
        len(parts_of(line("The plan is told here", 100, x1=400, x0=200), line("Work for it", 125, x1=350, x0=250))) == 2
    )


def test_what_a_function_does_stands_below_its_name() -> None:
    name, told = (
        line("class shop.Order(number, day=None)", 100, x1=300),
        line("Order what is sold there.", 112, x1=300, x0=72),
    )
    assert [text for _, text in parts_of(name, told)] == [name.text, told.text]
    other = line("The order of these things (and of others)", 100, x1=300)
    assert len(parts_of(other, told)) == 1


def test_entries_in_labelled_fields_are_lines_of_their_own() -> None:
    labels = ["Name", "Type", "Description", "Default"]
    fields = [
        line(f"{label}: what it is called in a very long table of them all", 100 + 12 * at)
        for at, label in enumerate(labels)
    ]
    assert [text for _, text in parts_of(*fields)] == [field.text for field in fields]
    one = [line(PROSE, 100), line("Name: what it is called in a very long table", 112)]
    assert len(parts_of(*one)) == 1


def test_a_title_of_an_item_stands_alone_and_a_line_that_cannot_end_goes_on() -> None:
    wide = line("1. Words that fill the line up to its very end, so that we know", 60)
    title = [
        line("2. Create a board", 100, x1=150),
        line("Usually we use the one that all use, if you like it so.", 116, x1=400, x0=62),
    ]
    assert [text for _, text in parts_of(*prose(0, 4), wide, *title)][-2:] == [one.text for one in title]
    cut = [
        line("It comes without any warranty; without even the implied warranty of", 100, x1=300),
        line("MERCHANTABILITY, if any.", 112, x1=200),
    ]
    assert len(parts_of(*prose(40), *cut)) == 2


# --- Items ------------------------------------------------------------------------------------------------------------


def test_a_mark_in_the_middle_of_a_sentence_begins_no_item() -> None:
    first = line("Debt means, without doubt, (a) all of it, (b) what is owed, (c) what is not,", 100)
    assert len(parts_of(first, line("(d) all that was lent to anyone.", 112, x1=300))) == 1
    assert len(parts_of(line("(c) all that was lent to anyone;", 100), line("(d) all that was not.", 112, x1=300))) == 2
    second = "2) what it is used for by whoever keeps it."
    assert len(parts_of(line("It says 1) what it is and where it is kept, and", 100), line(second, 112, x1=300))) == 1
    assert len(parts_of(line("It says (1) what it is and where it is kept, and", 100), line(second, 112, x1=300))) == 2
    roman = line("It was done (i) by us and (ii) by you, as is told elsewhere, or else", 100)
    assert len(parts_of(roman, line("(iii) by others.", 112, x1=200))) == 1


def test_a_list_begins_with_its_first_number_and_steps_need_no_point() -> None:
    open_item = line("• a list of things that has no end at all and goes on to", 100)
    steps = [line("1. Load the file here", 114, x1=200), line("2. Run the file", 128, x1=200)]
    assert [kind for kind, _ in parts_of(open_item, *steps)] == ["list_item"] * 3
    plain = [line("1 Go to the door", 100, x1=200), line("2 Open it", 116, x1=200)]
    assert [kind for kind, _ in parts_of(*plain)] == ["list_item"] * 2
    assert parts_of(line("1 Go to the door", 100, x1=200), line("Open it", 116, x1=200))[0][0] == "paragraph"


def test_a_small_circle_in_other_print_marks_an_item() -> None:
    assert parts_of(line("o the price of it, or", 100, x1=200, leads=True))[0][0] == "list_item"
    assert parts_of(line("o the price of it, or", 100, x1=200))[0][0] == "paragraph"


def test_a_line_of_code_below_a_line_with_room_is_a_listing() -> None:
    code = line("close(&server, &status);", 112, x1=250, x0=90, mono=True)
    parts = parts_of(line(PROSE, 80), line("• Stop to listen", 100, x1=150), code, line("• Clear it", 124, x1=120))
    assert ("code", code.text) in parts
    call = parts_of(line(PROSE, 80), line("• f(const Any&,", 100, x1=150), code, line("• Clear it", 124, x1=120))
    assert ("code", code.text) not in call


# --- Addresses and names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("at http://www.example.org/rfc2119.", "txt.", "at http://www.example.org/rfc2119.txt."),
        ("write to people@lists.example.", "org so that", "write to people@lists.example.org so that"),
        ("see https://example.org/report.cgi?", "users=a", "see https://example.org/report.cgi?users=a"),
        ("It is at https://example.org.", "Nobody knows", "It is at https://example.org. Nobody knows"),
        ("see https://example.org.", "however", "see https://example.org. however"),
        ("on www.gov.uk.", "2023 was", "on www.gov.uk. 2023 was"),
        ("at www.gov.uk?", "2 people asked", "at www.gov.uk? 2 people asked"),
        ("Write to ann@x.org.", "24 hours later", "Write to ann@x.org. 24 hours later"),
        ("ask at www.gov.uk.", "in winter", "ask at www.gov.uk. in winter"),
        ("at lists.", "debian.org", "at lists. debian.org"),
        ("to debian-release@lists.", "debian.org and", "to debian-release@lists.debian.org and"),
        ("(mailto:fox@isc.tamu.", "edu) with", "(mailto:fox@isc.tamu.edu) with"),
        ("from (http://www.", "mingw.org). If", "from (http://www.mingw.org). If"),
        ("in /usr/share/doc/", "things.pdf or", "in /usr/share/doc/things.pdf or"),
        ("in /usr/share/doc/", "of it", "in /usr/share/doc/ of it"),
        ("unter /usr/share/man/de/", "suchen.", "unter /usr/share/man/de/ suchen."),
        ("from https://example.org/", "In it", "from https://example.org/ In it"),
        ("(http://www.example.org/-", "prep/standards)", "(http://www.example.org/prep/standards)"),
        ("call shop::", "order()", "call shop::order()"),
        ("the type shop_", "order is", "the type shop_order is"),
        ("as follows::", "order", "as follows::order"),
    ],
)
def test_an_address_or_a_name_that_a_line_cuts_is_whole(before: str, after: str, joined: str) -> None:
    assert join(before, after, Vocabulary()) == joined


# --- Sections ---------------------------------------------------------------------------------------------------------


def headings(*titles: Line, pages: int = 6) -> list[str]:
    found = Headings(Header(pages))
    made_pages = [
        RawPage(
            n,
            "",
            600,
            800,
            [
                *prose(100, 20),
                *(Line(t.text, t.x0, 380 + 40 * k, t.x1, 394 + 40 * k, t.size, t.bold) for k, t in enumerate(titles)),
                *prose(600, 8),
            ],
        )
        for n in range(1, pages + 1)
    ]
    for page in made_pages:
        found.learn(page)
    return [heading.path for heading in found.of(made_pages[-1])]


def test_what_each_chapter_has_in_large_bold_print_is_a_heading() -> None:
    assert headings(Line("Synopsis", 50, 0, 120, 0, 14, True)) == ["Synopsis"]
    assert headings(Line("Note", 50, 0, 80, 0, 14, True)) == []
    assert headings(Line("Page 7", 50, 0, 80, 0, 14, True)) == []
    assert headings(Line("Synopsis", 50, 0, 120, 0, 10, True)) == []


def test_a_letter_is_above_no_section_and_a_figure_of_an_annex_is_none() -> None:
    assert (
        headings(Line("Y", 50, 0, 60, 0, 20, True), Line("A.1 Maps of it", 50, 0, 160, 0, 14, True), pages=2)[-1]
        == "A.1 Maps of it"
    )
    assert headings(Line("Figure A-26. Maps", 50, 0, 160, 0, 14, True), pages=2) == []
