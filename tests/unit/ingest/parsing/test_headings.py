"""Which lines are headings and which stands under which, on made pages; with room at each limit."""

from dataclasses import replace

import pytest

from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.wire import Header, Line, RawPage
from tests.support.made_pages import written

TEXT = "The line of quite ordinary words that fills the page"


def prose(y: float, count: int = 5, size: float = 10) -> list[Line]:
    return [Line(TEXT, 50, y + 12 * i, 400, y + 12 * i + size, size) for i in range(count)]


def title(
    text: str, y: float = 20, size: float = 10, *, bold: bool = False, apart: bool = False, x: float = 50
) -> Line:
    return Line(text, x, y, x + 0.5 * size * len(text), y + size, size, bold, apart=apart)


def paths(*lines: Line, pages_before: int = 0) -> list[str]:
    page = RawPage(pages_before + 1, "", 600, 800, list(lines))
    found = Headings(Header(pages_before + 1))
    found.learn(page)
    return [heading.path for heading in found.of(page)]


def is_heading(line: Line, *below: Line) -> bool:
    return bool(paths(*prose(20), line, *(below or prose(line.y1 + 8)), pages_before=1))


@pytest.mark.parametrize("body", [6, 10, 20])
def test_larger_print_is_a_heading_by_its_share_of_the_bodys_size(body: float) -> None:
    text = prose(200, size=body)
    assert paths(title("Stone fruit", 20, 1.25 * body), *text) == ["Stone fruit"]
    assert paths(title("Stone fruit", 20, 1.05 * body), *text) == []
    assert paths(title("Stone fruit", 20, 0.7 * body, bold=True), *text) == []


@pytest.mark.parametrize(
    "text",
    [
        "12", "(1,204)",  # no letters
        "$15.3B 42.6% 45.9% $(7.1)B",  # figures of a chart
        "Plums . . . . . . 12", "Plums ____________",  # lines of contents and forms
        "word " * 30,  # too long
        "Table 3 Plums by year", "Year ended June 30", "In millions", "June 30, 2023",  # names of columns
        "Plums,", "Plums;",  # goes on
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_section_is_no_heading_however_large_or_bold(text: str) -> None:
    shown = title(text.strip(), 100, 10, bold=True)
    assert not is_heading(shown, *prose(130))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plums in the north", True),
        ("plums in the north", False),
        ("2 Plums in the north", True),
        ("Čekiai ir kaina", True),
        ("Plums grow here.", False),
        ("Item 7. Plums grow here.", True),
        ("Plums:", False),  # one word
        ("Plums and pears:", True),
        ("Plums and pears are:", False),
        ("Important warning:", False),
        ("a) Plums", True),
        ("Plums " * 14 + "end", True),
        ("Plums " * 17 + "end", False),
    ],
)
def test_a_bold_line_is_a_heading_by_how_it_begins_and_ends(text: str, expected: bool) -> None:
    line = title(text, 100, bold=True)
    line.x1 = 390
    assert is_heading(line, *prose(122)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RISK FACTORS", True),
        ("XR-77", False),
        ("RISK_FACTORS", False),
        ("DEVICE=C:HIMEM NOEMS", False),
        ("RISKS <FACTORS>", False),
        ("PROMPT $FACTORS", False),
        ("Risk Factors", False),
        ("这是一个关于果园种植和树木修剪的 GNU 文档", False),
    ],
)
def test_capitals_alone_make_a_heading_if_they_are_enough(text: str, expected: bool) -> None:
    assert is_heading(title(text, 100), *prose(122)) is expected


@pytest.mark.parametrize(
    ("text", "y", "below", "x", "expected"),
    [
        ("RISKS", 100, 122, 50, True),
        ("RISKS", 80, 122, 50, False),  # no room above it
        ("RISKS", 100, 112, 50, False),  # nor below it
        ("RISKS", 100, 122, 60, False),  # not at the edge of what stands below it
    ],
)
def test_a_short_name_in_capitals_is_a_heading_above_prose(
    text: str, y: float, below: float, x: float, expected: bool
) -> None:
    assert is_heading(title(text, y, x=x), *prose(below)) is expected
    assert not is_heading(title(text, y, x=x), title("equiv.", below))


@pytest.mark.parametrize(
    ("text", "x1", "below", "expected"),
    [
        ("Plums are better than apples", 398, "preserves. They keep until spring and need no room", False),
        ("Plums are better than apples", 398, "They keep until spring, and they need no room at all", True),
        ("Plums are better than apples", 300, "preserves. They keep until spring and need no room", True),
    ],
)
def test_a_bold_line_that_goes_on_in_a_paragraph_is_no_heading(
    text: str, x1: float, below: str, expected: bool
) -> None:
    line = replace(title(text, 100, bold=True), x1=x1)
    assert is_heading(line, Line(below, 50, 112, 400, 122, 10), *prose(124)) is expected


@pytest.mark.parametrize(
    ("text", "size", "room", "expected"),
    [
        ("II. STONE FRUIT", 9, 8, True),
        ("A. Plums in the north", 9, 8, True),
        ("Plums in the north", 9, 8, False),  # not counted
        ("A. Plums in the north", 8, 8, False),
        ("A. Plums in the north", 9, 2, False),  # as near as lines of the text
    ],
)
def test_a_counted_heading_in_bold_may_be_smaller_than_the_text(
    text: str, size: float, room: float, expected: bool
) -> None:
    line = title(text, 78 + room, size, bold=True)
    assert is_heading(line, *prose(line.y1 + room)) is expected


@pytest.mark.parametrize(("text", "expected"), [("Gains on plums sold in", False), ("Gains on plums", True)])
def test_a_name_of_columns_that_cannot_end_is_no_heading(text: str, expected: bool) -> None:
    row = Line("Spring | Autumn", 80, 122, 380, 132, 10, column=1, cells=2)
    assert is_heading(title(text, 100, bold=True, x=150), row) is expected


@pytest.mark.parametrize(
    ("first", "second", "drop", "expected"),
    [
        ("Plums", "Plums by kind and year", 16, ["Plums", "Plums by kind and year"]),
        ("Plums", "Plums by kind and year", 12, ["Plums Plums by kind and year"]),  # as near as lines of one heading
        ("Plums by kind and", "year of the harvest", 16, ["Plums by kind and year of the harvest"]),  # cannot end
        ("Plums by kind", "Year", 16, ["Plums by kind Year"]),  # the first line is the longer one
        ("Part II", "Plums by kind and year", 16, ["Part II Plums by kind and year"]),
    ],
)
def test_two_headings_one_below_the_other_are_told_by_room(
    first: str, second: str, drop: float, expected: list[str]
) -> None:
    lines = title(first, 100, bold=True), title(second, 100 + drop, bold=True)
    assert [path.rsplit(" > ", 1)[-1] for path in paths(*prose(20), *lines, *prose(140), pages_before=1)] == expected


@pytest.mark.parametrize(("room", "expected"), [(20, True), (2, False)])
@pytest.mark.parametrize("text", ["Foreign exchange risk", "ITEM 7 - Discussion"])
def test_another_face_or_a_name_alone_needs_room_above_it(text: str, room: float, expected: bool) -> None:
    line = title(text, 78 + room, apart=text.startswith("F"))
    assert is_heading(line, *prose(line.y1 + 8)) is expected


def test_lines_in_large_print_below_each_other_are_one_heading_up_to_a_limit() -> None:
    def lines(count: int, step: float = 18) -> list[str]:
        names = "On the growing", "of stone fruit", "in the north", "of the country"
        many = [title(name, 100 + step * at, 16) for at, name in enumerate(names[:count])]
        return paths(*prose(20), *many, *prose(200), pages_before=1)

    assert lines(2) == ["On the growing of stone fruit"]
    assert lines(3) == ["On the growing of stone fruit in the north"]
    assert lines(4) == []
    assert len(lines(2, step=40)) == 2


def test_a_heading_goes_on_in_the_line_that_closes_its_bracket() -> None:
    below = title("2026)", 34, 14, bold=True)
    assert paths(title("The third quarter (1 July to 30", 20, 14, bold=True), below, *prose(60)) == [
        "The third quarter (1 July to 30 2026)"
    ]
    assert (
        len(paths(title("The third quarter (Q3)", 20, 14, bold=True), replace(below, text="2) Pears"), *prose(60))) == 2
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (title("Stone fruit.", 100, 16), title("In the north", 118, 16)),
        (title("Stone fruit", 100, 16), title("In the north", 118, 14)),
        (title("Stone fruit", 100, 16), title("In the north", 118, 16, bold=True)),
        (title("1 Stone fruit", 100, 16), title("1.1 In the north", 118, 16)),
        (title("Stone fruit", 100, 16), title("In the north", 102, 16, x=300)),
    ],
)
def test_large_lines_that_differ_in_print_number_or_row_are_two_headings(first: Line, second: Line) -> None:
    found = paths(*prose(20), first, second, *prose(200), pages_before=1)
    assert not any(first.text in path and second.text in path and " > " not in path for path in found)


Print = tuple[str, float, bool]


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (("Fruit", 16, False), ("Plums", 13, False)),  # larger
        (("Fruit", 16, False), ("Plums", 13, True)),
        (("1 Fruit", 13, True), ("1.1 Plums", 13, True)),  # numbers
        (("Part I", 13, True), ("Item 2 Plums", 13, True)),
        (("Item 2 Fruit", 13, True), ("Note 3 Plums", 13, True)),
        (("Note 3 Fruit", 13, True), ("1 Plums", 13, True)),
        (("Fruit", 13, True), ("Plums", 13, False)),  # bold
        (("Item 2 Fruit", 13, True), ("Plums", 13, True)),  # named over unnamed
        (("FRUIT", 13, True), ("Plums", 13, True)),  # capitals
        (("1 Fruit", 13, True), ("Plums", 13, True)),
        (("FRUIT OF ALL", 13, True), ("1 Plums", 13, True)),
    ],
)
def test_the_heavier_heading_stands_above_the_other(above: Print, below: Print) -> None:
    lines = [*prose(20)]
    for at, (text, size, bold) in enumerate((above, below, above)):
        lines += [title(text, 100 + 100 * at, size, bold=bold), *prose(122 + 100 * at)]
    found = paths(*lines, pages_before=1)
    assert found == [above[0], f"{above[0]} > {below[0]}", above[0]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Fruit", 13, True), ("Plums", 13, True)),
        (("Fruit", 13, True), ("Plums", 13.2, True)),
        (("1 Fruit", 13, True), ("2 Plums", 13, True)),
        (("Item 1 Fruit", 13, True), ("Section 2 Plums", 13, True)),
        (("Item 1 Fruit", 13, True), ("Chapter 2 Plums", 13, True)),
        (("1 Fruit", 13, True), ("References", 13, True)),
    ],
)
def test_headings_alike_stand_beside_each_other(first: Print, second: Print) -> None:
    lines = [title(first[0], 100, first[1], bold=first[2]), *prose(122)]
    lines += [title(second[0], 202, second[1], bold=second[2]), *prose(222)]
    assert paths(*prose(20), *lines, pages_before=1) == [first[0], second[0]]


def test_sections_nest_no_deeper_than_six_levels() -> None:
    sizes = 40, 35, 30, 26, 22, 18, 15, 12
    lines = [*prose(20)]
    for at, size in enumerate(sizes):
        lines += [title(f"Plums {'abcdefgh'[at]}", 100 + 100 * at, size), *prose(150 + 100 * at, 3)]
    assert max(path.count(" > ") for path in paths(*lines, pages_before=1)) == 5


@pytest.mark.parametrize(("times", "expected"), [(2, True), (9, False)])
def test_a_line_that_recurs_on_many_pages_heads_no_section(times: int, expected: bool) -> None:
    found = Headings(Header(12))
    pages = [
        RawPage(n, "", 600, 800, [*prose(20), *([title("Plums", 100, 16)] if n <= times else []), *prose(130)])
        for n in range(1, 13)
    ]
    for page in pages:
        found.learn(page)
    assert bool(found.of(pages[0])) is expected


def test_bold_lines_are_no_headings_where_most_of_the_text_is_bold() -> None:
    bold = [Line(line.text, line.x0, line.y0, line.x1, line.y1, 10, True) for line in prose(20) + prose(130)]
    assert paths(*bold[:5], title("Plums in the north", 100, bold=True), *bold[5:], pages_before=1) == []


def test_a_page_full_of_large_lines_is_a_slide_whose_largest_line_counts() -> None:
    lines = [title("The largest", 20, 24), *(title(f"Point {'abcdefghij'[i]}", 60 + 40 * i, 14) for i in range(10))]
    body = RawPage(2, "", 600, 800, [*prose(20), *prose(90), *prose(160)])
    found = Headings(Header(3))
    slide = RawPage(3, "", 600, 800, lines)
    for page in (body, slide):
        found.learn(page)
    assert [heading.text for heading in found.of(slide)] == ["The largest"]


def test_headings_of_a_table_of_code_or_of_a_figure_are_none() -> None:
    for changed in ({"column": 1}, {"mono": True}, {"figure": 1}, {"cells": 0}):
        line = title("Plums", 100, 16)
        for name, value in changed.items():
            setattr(line, name, value)
        assert not is_heading(line, *prose(130))


def test_a_word_cut_by_the_end_of_a_headings_line_is_whole_again_and_a_real_hyphen_stays() -> None:
    def joined(first: str, second: str) -> list[str]:
        lines = [title(first, 150, 14), title(second, 166, 14), *prose(190)]
        return paths(*prose(20), *lines, pages_before=1)

    assert joined("A quadratic expres\u00ad", "sion of it") == ["A quadratic expression of it"]
    assert joined("Skills of the Work-", "Shop") == ["Skills of the Work-Shop"]


@pytest.mark.parametrize(("right", "expected"), [(300, False), (150, True)])
def test_titles_of_charts_beside_each_other_in_one_line_are_no_heading(right: float, expected: bool) -> None:
    words = written(50, 640, "Revenue of CCG") + written(right, 640, "Income of CCG")
    for word in words[:-1]:
        word.ends = ""
    words = [replace(word, style=replace(word.style, size=14)) for word in words]
    (line,) = lay_out(words, (0, 0, 600, 800))
    assert is_heading(line) is expected


def test_the_lines_of_a_heading_that_cannot_end_yet_are_one_though_they_begin_with_a_number_or_are_many() -> None:
    texts = ("CERTIFICATION PURSUANT TO", "18 U.S.C. SECTION 1350,", "AS ADOPTED PURSUANT TO", "SECTION 906 OF THE ACT")
    lines = [title(text, 150 + 12 * at, bold=True) for at, text in enumerate(texts)]
    assert paths(*prose(20), *lines, *prose(220), pages_before=1) == [" ".join(texts)]


@pytest.mark.parametrize(("end", "expected"), [("hold", 1), ("hold.", 0)])
def test_a_heading_of_several_lines_may_be_long_and_a_bold_sentence_is_none(end: str, expected: int) -> None:
    first, second = (
        "What the purposes of the provisions of the act on securities",
        "and of all the later acts that came with it are to protect and to " + end,
    )
    lines = [title(first, 150, bold=True), title(second, 162, bold=True)]
    assert len(paths(*prose(20), *lines, *prose(190), pages_before=1)) == expected


def paths_of_pages(*pages: list[Line]) -> list[str]:
    made = [RawPage(number, "", 600, 800, list(lines)) for number, lines in enumerate(pages, 1)]
    found = Headings(Header(len(made)))
    for page in made:
        found.learn(page)
    return [heading.path for page in made for heading in found.of(page)]


def signed(*lines: Line) -> list[list[Line]]:
    """A page that ends with the signatures, and one that begins with these lines."""
    return [prose(20), [title("SIGNATURES", bold=True), *prose(40)], [*lines, *prose(300)]]


def test_nothing_stands_above_an_exhibit_in_whatever_print_it_begins() -> None:
    certificate = title("CERTIFICATION", 60, 12, bold=True)
    assert paths_of_pages(*signed(title("Exhibit 31.1", 20, 8, x=480), certificate)) == [
        "SIGNATURES", "Exhibit 31.1", "Exhibit 31.1 > CERTIFICATION",
    ]  # fmt: skip
    attached = title("EXHIBIT A", 20, bold=True), title("Terms of the Award", 60, bold=True)
    assert paths_of_pages(*signed(title("EXHIBIT 10.5(14)", 20, bold=True), *prose(40)), list(attached)) == [
        "SIGNATURES", "EXHIBIT 10.5(14)", "EXHIBIT 10.5(14) > EXHIBIT A",
        "EXHIBIT 10.5(14) > EXHIBIT A > Terms of the Award",
    ]  # fmt: skip
    again = [[title("Exhibit 31.2", 20, 8), *prose(40)]]
    assert paths_of_pages(*signed(title("Exhibit 31.1", 20, 8)), *again)[1:] == ["Exhibit 31.1", "Exhibit 31.2"]


@pytest.mark.parametrize("text", ["Exhibit 31.1 is a certificate", "Exhibit A", "Exhibits 31.1", "Exhibit 31.1a"])
def test_what_is_more_than_the_number_of_an_exhibit_needs_the_print_of_a_heading(text: str) -> None:
    assert paths_of_pages(*signed(title(text, 20, 8))) == ["SIGNATURES"]


def test_the_number_of_an_exhibit_below_the_first_lines_of_a_page_is_none() -> None:
    assert paths_of_pages(*signed(*prose(20, 2), title("Exhibit 31.1", 60)))[1:] == ["Exhibit 31.1"]
    assert paths_of_pages(*signed(*prose(20, 3), title("Exhibit 31.1", 60)))[1:] == []


def test_a_note_in_capitals_stands_above_what_is_in_bold_below_it() -> None:
    top = [title("NOTES TO THE STATEMENTS", 20, bold=True), *prose(40)]
    notes = [title("Uncertain Positions", 110, bold=True), *prose(130), title("NOTE 4 — DEBT", 210), *prose(230)]
    assert paths(*top, *notes, title("Loans", 310, bold=True), *prose(330), pages_before=1)[2:] == [
        "NOTES TO THE STATEMENTS > NOTE 4 — DEBT", "NOTES TO THE STATEMENTS > NOTE 4 — DEBT > Loans",
    ]  # fmt: skip
    small = [title("Uncertain Positions", 110, bold=True), *prose(130), title("Note 4 — Debt", 210, apart=True)]
    assert paths(*top, *small, *prose(230), pages_before=1)[-1].endswith("Uncertain Positions > Note 4 — Debt")
    back = [title("Signatures", 310, bold=True), *prose(330)]
    assert paths(*top, *notes, *back, pages_before=1)[-1] == "NOTES TO THE STATEMENTS > Signatures"


def test_the_sections_of_an_article_stand_below_it() -> None:
    law = [title("ARTICLE IX", 20, bold=True), *prose(40), title("Section 9.01 Guarantee", 120, bold=True), *prose(140)]
    assert paths(*law, pages_before=1) == ["ARTICLE IX", "ARTICLE IX > Section 9.01 Guarantee"]
    plain = [title("ARTICLE IX", 20, bold=True), *prose(40), title("Section 9 Guarantee", 120, bold=True), *prose(140)]
    assert paths(*plain, pages_before=1) == ["ARTICLE IX", "Section 9 Guarantee"]


# --- What looks like a heading and names nothing ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size", "bold", "expected"),
    [
        ("We agree to receive every letter about the claim as an e-mail.", 12, False, False),
        ("We agree to receive every letter about the claim as an e-mail", 12, False, True),
        ("We may lose the customers whom we have had for so many years.", 12, True, True),  # a risk
        ("Report on the density of energy in plane waves of every kind.", 16, False, True),  # a title
        ("(millions of dollars)", 12, True, False),
        ("(A) Plums and pears", 12, True, True),
        ("[GeV] and its errors", 12, True, False),
    ],
)
def test_sentences_remarks_and_units_are_no_headings(text: str, size: float, *, bold: bool, expected: bool) -> None:
    first, _, second = text.partition(" the ") if len(text) > 60 else (text, "", "")
    lines = [title(f"{first} the" if second else first, 100, size, bold=bold)]
    lines += [title(second, 101 + size, size, bold=bold)] if second else []
    assert bool(paths(*prose(20), *lines, *prose(140), pages_before=1)) is expected


# --- Titles that the outline has --------------------------------------------------------------------------------------


def of_outline(entries: list[tuple[int, int, str]], *lines: Line) -> list[tuple[str, str]]:
    page = RawPage(2, "", 600, 800, list(lines))
    found = Headings(Header(2, outline=entries))
    found.learn(page)
    return [(heading.text, heading.path) for heading in found.of(page)]


@pytest.mark.parametrize("name", ["A short history", "O sistema inicial", "Ordinary words"])
def test_a_title_that_begins_with_an_article_is_found_once(name: str) -> None:
    entries = [(2, 1, "Plums"), (2, 2, name), (2, 2, "Pears")]
    lines = [title("4.1 Plums", 20, 14, bold=True), *prose(50), title(f"4.1.1 {name}", 120, 12, bold=True), *prose(150)]
    lines += [title("4.1.2 Pears", 220, 12, bold=True), *prose(250)]
    assert [path for _, path in of_outline(entries, *lines)] == ["Plums", f"Plums > {name}", "Plums > Pears"]


@pytest.mark.parametrize(
    ("entry", "printed"),
    [
        ("The apparatus", "A The apparatus"), ("The apparatus", "Appendix A The apparatus"),
        ("A short history", "2 A short history"), ("Plums", "Part II. Plums"), ("Plums", "A.3 Plums"),
        ("A. Plums", "Plums"), ("Chapter 3: Plums", "3 Plums"),
    ],
)  # fmt: skip
def test_titles_are_found_by_their_words_whatever_their_number(entry: str, printed: str) -> None:
    entries = [(2, 1, entry), (2, 1, "Pears"), (2, 1, "Quinces")]
    shown = [title(text, 20 + 80 * i, 14) for i, text in enumerate((printed, "Pears", "Quinces"))]
    lines = [line for head in shown for line in (head, *prose(head.y1 + 6, 3))]
    assert of_outline(entries, *lines)[0][0] == printed


@pytest.mark.parametrize(
    ("label", "size", "expected"),
    [("Capítulo 10", 20, True), ("Appendix B", 20, True), ("Capítulo 2", 10, False), ("Figure of plums", 20, False)],
)
def test_the_number_of_a_chapter_above_its_title_belongs_to_it(label: str, size: float, *, expected: bool) -> None:
    entries = [(2, 1, "Plums"), (2, 1, "Pears"), (2, 1, "Quinces")]
    lines = [title(label, 20, size), title("Plums", 50, 24), *prose(90), title("Pears", 200, 24), *prose(240)]
    found = dict(of_outline(entries, *lines))
    assert (f"{label} Plums" in found) is expected
    assert ("Plums" in found) is not expected


@pytest.mark.parametrize(
    ("labels", "name", "bold", "expected"),
    [
        (["Kapitel 2"], "Stone fruit", True, ["Kapitel 2 Stone fruit"]),
        (["ROZDZIAŁ 2"], "Stone fruit", False, ["ROZDZIAŁ 2 Stone fruit"]),
        (["CHAPTER", "TWO"], "STONE FRUIT", False, ["CHAPTER TWO STONE FRUIT"]),
        (["CHAPTER", "THIRTYNINE"], "STONE FRUIT", False, ["CHAPTER THIRTYNINE STONE FRUIT"]),
        (["Part II"], "1 Stone fruit", True, ["Part II", "1 Stone fruit"]),  # a section of its own
        (["Act II"], "Scene 1", True, ["Act II", "Scene 1"]),
        (["Tabelle 2"], "Stone fruit", False, ["Stone fruit"]),
        (["Kapitel 2"], "Stone fruit", False, ["Stone fruit"]),  # in the text's print
    ],
)
def test_a_chapters_number_above_its_title_belongs_to_it_without_an_outline(
    labels: list[str], name: str, bold: bool, expected: list[str]
) -> None:
    above = [title(text, 20 + 14 * at, bold=bold) for at, text in enumerate(labels)]
    assert paths(*above, title(name, 70, 20, bold=True), *prose(120), pages_before=1) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Abbildung 3: Pflaumen", False),
        ("Tabla 2.1 Ciruelas", False),
        ("Rys. 4 Śliwki", False),
        ("Abbildung der Pflaumen", True),
        ("Grafiken", True),
    ],
)
def test_captions_in_several_languages_are_no_headings(text: str, *, expected: bool) -> None:
    assert is_heading(title(text, 100, bold=True), *prose(130)) == expected


def test_nothing_stands_under_a_table_of_contents() -> None:
    def found(name: str, *entries: str) -> list[str]:
        rows = [Line(text, 50, 60 + 14 * at, 400, 70 + 14 * at, 10) for at, text in enumerate(entries)]
        return paths(title(name, 20, 20), *rows, title("Plums", 150, 14), *prose(190), pages_before=1)

    assert found("S p i s treści", "Śliwki i gruszki 3", "Wiśnie i czereśnie 12") == ["S p i s treści", "Plums"]
    assert found("Contents", "What you keep in the house", "is insured") == ["Contents", "Contents > Plums"]
    assert found("Fruit", "Plums and pears 3", "Cherries and figs 12") == ["Fruit", "Fruit > Plums"]


def test_the_lines_of_a_large_title_need_no_one_face() -> None:
    lines = title("The plum.sty and what it", 20, 18), title("does to your fruit", 42, 18, apart=True)
    assert paths(*lines, *prose(90)) == ["The plum.sty and what it does to your fruit"]
    small = title("The plum.sty and what it", 20, 10, bold=True), title("Does to your fruit", 32, bold=True, apart=True)
    assert len(paths(*small, *prose(90))) == 2


def centred(text: str, y: float, size: float = 12, *, bold: bool = False) -> Line:
    return title(text, y, size, bold=bold, x=300 - 0.25 * size * len(text))


@pytest.mark.parametrize(
    ("below", "kept"),
    [
        (centred("Anna Lee", 50), False),
        (title("Anna Lee", 50, 12), True),  # not centred as the title is
        (centred("Anna Lee", 50, bold=True), True),
        (centred("1 Plums", 50), True),
        (centred("Zusammenfassung", 50), True),
        (title("17. September 2011", 50, 12, bold=True), False),
        (title("Version 1.2", 50, 12, bold=True), False),
        (title("anna@fruit.example", 50, 12, bold=True), False),
        (title("Plums of 2011", 50, 12, bold=True), True),
        (title("M", 50, 12), False),
    ],
)
def test_author_and_date_below_the_title_head_nothing(below: Line, *, kept: bool) -> None:
    page = paths(centred("All about stone fruit", 20, 18), below, title("Plums", 90, 13, bold=True), *prose(120))
    found = [path.rpartition(" > ")[2] for path in page]
    assert found == ["All about stone fruit", *[below.text] * kept, "Plums"]


def test_a_cover_has_no_heading_but_the_title() -> None:
    small = [title("For all who grow it", 200 + 14 * at) for at in range(4)]
    lines = [title("Fruit Institute", 20, 14), title("Stone fruit", 60, 24), title("Anna Lee", 120, 14), *small]
    page, found = RawPage(1, "", 600, 800, lines), Headings(Header(2))
    found.learn(page)
    assert [each.text for each in found.of(page)] == ["Stone fruit"]
    assert len(paths(*lines)) == 3  # a document of one page


def test_another_face_says_nothing_where_most_prose_is_in_it() -> None:
    listing = [Line(f"plum = {at}", 50, 20 + 12 * at, 120, 30 + 12 * at, 10, mono=True) for at in range(8)]
    alone = title("And how often do these numbers count", 150, apart=True)
    below = [Line(f"pear = {at}", 50, 190 + 12 * at, 120, 200 + 12 * at, 10, mono=True) for at in range(8)]
    assert paths(*listing, alone, *below, pages_before=1) == []
    assert paths(*prose(20), alone, *prose(190), pages_before=1) == [alone.text]


def test_large_print_in_another_face_above_text_in_that_face_is_a_heading() -> None:
    text = [replace(line, apart=True) for line in prose(60)]
    assert paths(title("Stone fruit", 20, 14, apart=True), *text, pages_before=1) == ["Stone fruit"]


def test_a_paragraph_in_capitals_that_cuts_a_word_is_no_heading() -> None:
    def found(end: str) -> list[str]:
        words = (
            f"{'THE FRUIT IS PROVIDED AS IT IS ' * 3} INCLUD{end}",
            "ING BUT NOT LIMITED TO THE TASTE OF IT",
        )
        lines = [Line(text, 50, 90 + 12 * at, 350 + 50 * at, 100 + 12 * at, 10) for at, text in enumerate(words)]
        return paths(*prose(20), *lines, *prose(114), pages_before=1)

    assert found("-") == []
    assert found("ED") != []


@pytest.mark.parametrize(("below", "expected"), [("and by hand.", False), ("By hand, too.", True)])
def test_a_long_bold_line_that_goes_on_in_a_short_one_is_no_heading(below: str, expected: bool) -> None:
    line = title("The trees are pruned in March with the long saw", 100, bold=True)
    assert is_heading(line, title(below, 118, bold=True), *prose(150)) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("What the trees are treated by", False), ("What the trees want", True)]
)
def test_a_plain_line_that_cannot_end_is_no_heading(text: str, expected: bool) -> None:
    assert is_heading(title(text, 100, apart=True), *prose(130)) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("row_1.csv, row_2.csv, row_3.csv", False), ("Trees_1, Trees_2, Trees_3", True)]
)
def test_names_with_numbers_are_no_row_of_figures(text: str, expected: bool) -> None:
    assert is_heading(title(text.capitalize(), 100, bold=True), *prose(130)) is expected


@pytest.mark.parametrize(("room", "expected"), [(2, False), (12, True)])
def test_small_print_right_below_a_bold_title_explains_a_chart_and_further_below_it_is_text(
    room: float, expected: bool
) -> None:
    lines = [title("Trees of the garden", 20, 14, bold=True), *prose(40, 2)]
    for at in (80, 180, 280):
        named = title("Use of a long saw", at, 13, bold=True)
        lines += [named, Line("saw: long", 50, named.y1 + room, 120, named.y1 + room + 9, 9), *prose(at + 50, 3)]
    lines += [title("Tools of the garden", 400, 14, bold=True), *prose(430)]
    assert any(path.endswith("Use of a long saw") for path in paths(*lines, pages_before=1)) is expected


@pytest.mark.parametrize(
    ("number", "shift", "expected"),
    [(3, 0, ["Trees"]), (4, 0, ["Trees", "Trees > Prepared for"]), (3, 40, ["Trees", "Trees > Prepared for"])],
)
def test_a_title_page_behind_the_cover_has_one_heading(number: int, shift: float, expected: list[str]) -> None:
    lines = [
        Line("Trees", 250, 100, 350, 120, 20, bold=True),
        Line("Prepared for", 260 + shift, 160, 340 + shift, 172, 12, bold=True),
        Line("the town", 270, 300, 330, 310, 10),
    ]
    found = Headings(Header(9))
    found.learn(RawPage(number + 1, "", 600, 800, prose(20, 20)))
    page = RawPage(number, "", 600, 800, lines)
    found.learn(page)
    assert [heading.path for heading in found.of(page)] == expected


@pytest.mark.parametrize(
    ("own", "path"),
    [
        ("Stone fruit", "Plums"),
        ("Stone fruit: Handbook", "Plums"),
        ("Stone fruit of the north", "Stone fruit > Plums"),
        ("", "Stone fruit > Plums"),
    ],
)
def test_the_documents_own_title_and_its_first_part_open_no_section(own: str, path: str) -> None:
    page = RawPage(1, "", 600, 800, [title("Stone fruit", 20, 20), *prose(60), title("Plums", 140, 14), *prose(170)])
    found = Headings(Header(1))
    found.learn(page)
    found.title = own
    assert found.of(page)[-1].path == path


def test_the_documents_own_title_opens_no_section_with_its_number_either() -> None:
    page = RawPage(1, "", 600, 800, [title("1 Stone fruit", 20, 20), *prose(60), title("Plums", 140, 14), *prose(170)])
    found = Headings(Header(1))
    found.learn(page)
    found.title = "Stone fruit"
    assert found.of(page)[-1].path == "Plums"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (title("EXCEPT FOR THE WARRANTIES OF SECTION THREE", 100), []),  # goes on overleaf
        (title("Continued on the next page", 100, apart=True), []),
        (title("Ripening of plums", 100, bold=True), ["Ripening of plums"]),
        (title("Ripening of plums", 100, 14), ["Ripening of plums"]),
        (title("3. Ripening", 100, apart=True), ["3. Ripening"]),
    ],
)
def test_a_page_ends_with_no_heading_in_the_texts_own_size_that_is_not_bold(last: Line, expected: list[str]) -> None:
    assert paths(*prose(20), last, pages_before=1) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("up to the harvest ..... 12", 0),
        ("up to the harvest .12", 0),
        ("up to the harvest", 1),
        ("up to the harvest 12", 1),
    ],
)
def test_the_first_line_of_an_entry_of_the_contents_is_no_heading(entry: str, expected: int) -> None:
    lines = [title("2 Plums and pears, their care", 100, bold=True), title(entry, 112, bold=True)]
    assert len(paths(*prose(20), *lines, *prose(140), pages_before=1)) == expected


def test_a_name_with_a_comma_may_be_a_heading_many_times() -> None:
    names = [title("Plums, Pears and Figs", 100 + 60 * i, 12, bold=True) for i in range(5)]
    lines = [line for i, name in enumerate(names) for line in (name, *prose(114 + 60 * i, 3))]
    assert len(paths(*lines, pages_before=1)) == 5


def test_a_title_that_is_repeated_does_not_stand_below_itself() -> None:
    pages = [
        [title("Notes to the accounts", 20, 16, bold=True), title("Plums", 60, 13, bold=True), *prose(80)],
        [title("notes to the accounts", 20, 12, bold=True), title("Pears", 60, 13, bold=True), *prose(80)],
        [title("Plums", 20, 12, bold=True), *prose(80)],
    ]
    raw = [RawPage(2 + at, "", 600, 800, lines) for at, lines in enumerate(pages)]
    found = Headings(Header(4))
    for page in raw:
        found.learn(page)
    got = [heading.path for page in raw for heading in found.of(page)]
    notes = "Notes to the accounts"
    assert got == [notes, f"{notes} > Plums", notes, f"{notes} > Pears", f"{notes} > Pears > Plums"]


def test_a_chapters_title_that_is_repeated_with_its_number_ends_no_part_of_it() -> None:
    pages = [
        [title("2. Care of the trees", 20, 16, bold=True), title("2.1 Plums", 60, 13, bold=True), *prose(80)],
        [title("2. Care of the trees", 20, 10, bold=True), *prose(80)],
    ]
    raw = [RawPage(2 + at, "", 600, 800, lines) for at, lines in enumerate(pages)]
    found = Headings(Header(3))
    for page in raw:
        found.learn(page)
    got = [heading.path for page in raw for heading in found.of(page)]
    assert got[-1] == "2. Care of the trees > 2.1 Plums"


def test_names_in_large_print_that_differ_in_their_number_alone_are_headings_however_many_they_are() -> None:
    raw = [RawPage(2 + at, "", 600, 800, [title(f"Week {at}", 20, 16), *prose(80)]) for at in range(12)]
    found = Headings(Header(13))
    for page in raw:
        found.learn(page)
    assert [heading.text for page in raw for heading in found.of(page)] == [f"Week {at}" for at in range(12)]


def crowded(below: str, count: int, number: str = "") -> list[str]:
    names = [title(f"{number}Name {'abcdefghij'[i]} of it", 20 + 40 * i, bold=True) for i in range(count)]
    rest = [Line(below, 50, line.y1 + 2, 50 + 5 * len(below), line.y1 + 12, 10) for line in names]
    return paths(*(line for pair in zip(names, rest, strict=True) for line in pair), *prose(600), pages_before=1)


def test_of_many_names_alike_on_a_page_those_are_headings_that_stand_over_text() -> None:
    assert len(crowded(TEXT, 10)) == 10
    assert crowded("a line of few words, a field", 10) == []
    assert len(crowded("a line of few words, a field", 10, "2.1 ")) == 10
    assert len(crowded("a line of few words, a field", 5)) == 5


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (800, 600, ["Plums", "Pears", "Figs", "Figs > Dates"]),
        (600, 800, ["Plums", "Plums > Pears", "Figs", "Figs > Dates"]),
    ],
)
def test_what_the_title_of_a_slide_heads_ends_with_it(width: int, height: int, expected: list[str]) -> None:
    slides = [
        [title("Plums", 20, 22), *prose(80, 6)],
        [title("Pears", 20, 18), *prose(80, 6)],
        [title("Figs", 200, 30)],  # stands before others
        [title("Dates", 20, 18), *prose(80, 6)],
    ]
    raw = [RawPage(2 + at, "", width, height, lines) for at, lines in enumerate(slides)]
    found = Headings(Header(5))
    for page in raw:
        found.learn(page)
    assert [heading.path for page in raw for heading in found.of(page)] == expected


@pytest.mark.parametrize(("size", "expected"), [(13, []), (10, ["Plums"])])
def test_a_line_above_a_row_of_a_table_in_its_own_print_is_the_rows(size: float, expected: list[str]) -> None:
    row = Line("of the year | 12", 50, 115, 400, 128, size, cells=2, column=1)
    assert paths(*prose(20), title("Plums", 100, 13), row, *prose(140), pages_before=1) == expected


def test_names_alike_on_a_crowded_page_are_headings_over_tables_too() -> None:
    names = [title(f"Name {'abcdefghij'[i]} of it", 20 + 40 * i, bold=True) for i in range(10)]
    rows = [
        Line("one | 1", 80, line.y1 + 14, 120, line.y1 + 24, 10, cells=2, column=1 + i) for i, line in enumerate(names)
    ]
    lines = [line for pair in zip(names, rows, strict=True) for line in pair]
    assert len(paths(*lines, *prose(600), pages_before=1)) == 10


@pytest.mark.parametrize("day", ["30 Sep-2008", "7. Mai 2014"])
def test_a_day_below_the_title_heads_nothing_in_whatever_print(day: str) -> None:
    lines = [title("Plums", 20, 20, bold=True), title(day, 44, 20, bold=True), title("1 Stones", 90, bold=True)]
    found = Headings(Header(3))
    page = RawPage(1, "", 600, 800, [*lines, *prose(120)])
    found.learn(page)
    assert [heading.text for heading in found.of(page)] == ["Plums", "1 Stones"]


def test_a_heading_that_is_a_day_stays_where_no_title_stands_above_it() -> None:
    assert paths(title("17-Aug-2008", 20, 20, bold=True), *prose(60)) == ["17-Aug-2008"]


@pytest.mark.parametrize("text", ["∂ϵxc", "\u093c\u0928\u0928", "\u0942\u0928\u0928"])
def test_no_heading_begins_with_a_sign_of_a_formula_or_a_mark_on_a_letter(text: str) -> None:
    assert not is_heading(title(text, 100, apart=True))
    assert not is_heading(title(text, 100, 16))
    assert is_heading(title(f"A{text}", 100, apart=True))


def test_a_section_stands_below_none_with_another_number() -> None:
    lines = [title("3 Plums", 20, bold=True), *prose(40), title("4.1 Figs", 120, bold=True), *prose(140)]
    assert paths(*lines, pages_before=1) == ["3 Plums", "4.1 Figs"]
    lines[6] = title("3.1 Figs", 120, bold=True)
    assert paths(*lines, pages_before=1) == ["3 Plums", "3 Plums > 3.1 Figs"]


def outlined(*pages: list[Line], outline: list[tuple[int, int, str]]) -> list[list[str]]:
    found = Headings(Header(len(pages), outline=outline))
    raw = [RawPage(number, "", 600, 800, lines) for number, lines in enumerate(pages, 1)]
    for page in raw:
        found.learn(page)
    return [[heading.path for heading in found.of(page)] for page in raw]


def test_a_title_of_the_outline_that_begins_the_page_after_its_own_is_found_there() -> None:
    first, second = [title("Stone fruit", 20, 14), *prose(50)], [title("Plums", 20, 12), *prose(50)]
    outline = [(1, 1, "Stone fruit"), (1, 2, "Plums"), (1, 2, "Pears")]
    assert outlined(first, second, outline=outline) == [["Stone fruit"], ["Stone fruit > Plums"]]
    later = [*prose(20), title("Plums", 100, 12), *prose(130)]
    assert outlined(first, later, outline=outline)[1] == ["Stone fruit > Pears > Plums"]


def test_a_heading_in_the_print_of_an_outlines_titles_is_one_beside_them() -> None:
    chapters = [(2, 1, "Stone fruit"), (2, 2, "Plums"), (3, 1, "Nuts"), (3, 2, "Hazels")]
    first = [title("Stone fruit", 20, 14), title("Plums", 50, 12), *prose(80)]
    unlisted = [title("References", 200, 14), *prose(230)]
    last = [title("Nuts", 20, 14), title("Hazels", 50, 12), *prose(80)]
    assert outlined(prose(20), [*first, *unlisted], last, outline=chapters)[1:] == [
        ["Stone fruit", "Stone fruit > Plums", "References"],
        ["Nuts", "Nuts > Hazels"],
    ]
    below = [title("Pears", 400, 12), *prose(430)]
    deeper = [*chapters[:2], (2, 2, "Pears"), *chapters[2:]]
    found = outlined(prose(20), [*first, *unlisted, *below], last, outline=deeper)
    assert found[1][2:] == ["References", "Stone fruit > Pears"]
    within = [*unlisted, title("Books", 300, 12), *prose(330)]
    found = outlined(prose(20), [*first, *within, *below], last, outline=deeper)
    assert found[1][2:] == ["References", "References > Books", "Stone fruit > Pears"]


@pytest.mark.parametrize("text", ["INTRODUCCION", "ANNEXE C. INTRODUCCIÓN", "Capítulo 2. Introducción"])
def test_a_title_is_found_in_capitals_without_accents_and_behind_what_it_is_called(text: str) -> None:
    pages = [title(text, 20, 14), *prose(50)]
    assert outlined(pages, outline=[(1, 1, "Introducción"), (1, 1, "One"), (1, 1, "Two")]) == [["Introducción"]]


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("ACKNOWLEDGMENTS", 9, True),
        ("ACKNOWLEDGMENTS", 8, False),
        ("Acknowledgments", 9, False),
        ("V8 ENGINES 2", 9, False),
    ],
)
def test_a_name_in_bold_capitals_that_is_set_off_may_be_smaller_than_the_text(
    text: str, size: float, *, expected: bool
) -> None:
    assert is_heading(title(text, 110, size, bold=True)) is expected


def test_a_single_small_letter_heads_nothing() -> None:
    assert paths(*prose(20), title("k", 110, 14), *prose(140), pages_before=1) == []
    assert paths(*prose(20), title("K", 110, 14), *prose(140), pages_before=1) == ["K"]


@pytest.mark.parametrize(("word", "expected"), [("Manual", False), ("To", True)])
def test_a_bold_line_whose_first_word_had_no_room_above_it_is_no_heading(word: str, expected: bool) -> None:
    above = replace(title("** On the page you may open the guide of the user", 100, bold=True), x1=380)
    line = replace(title(f"{word} be read before the first use of all machines", 112, bold=True), x1=400)
    assert is_heading(line, *prose(140)) is expected or not expected
    found = paths(*prose(20), above, line, *prose(140), pages_before=1)
    assert any(word in path for path in found) is expected


@pytest.mark.parametrize(("text", "expected"), [("TOTAL EXPENSES", True), ("TOTAL EXPENSES: $", False)])
def test_what_waits_for_an_amount_is_no_heading(text: str, expected: bool) -> None:
    assert is_heading(title(text, 100, bold=True)) is expected


@pytest.mark.parametrize(
    ("above", "text", "expected"),
    [
        ("• Bring it to the local court-", "house of the town", False),
        ("• Bring it to the local court", "House of the town", True),
        ("• Bring it to the local court", "The closest one to you is:", False),
    ],
)
def test_the_rest_of_a_word_and_what_announces_something_are_no_headings_in_larger_print(
    above: str, text: str, expected: bool
) -> None:
    lines = Line(above, 50, 100, 280, 112, 12), Line(text, 50, 113, 150 + 5 * len(text), 125, 12)
    found = paths(*prose(20), *lines, *prose(140), pages_before=1)
    assert any(text.removesuffix(":") in path for path in found) is expected


@pytest.mark.parametrize(("room", "expected"), [(2, False), (8, True)])
def test_a_title_that_runs_into_its_text_is_no_heading(room: int, expected: bool) -> None:
    outline = [(2, 1, "Fruit"), (2, 2, "2.2.2 Stones"), (2, 2, "Seeds")]
    lines = [title("Fruit", 20, bold=True), *prose(40), title("2.2.2 Stones", 110, bold=True), *prose(130, 2)]
    led = replace(title("2.2.2.1 Plums", 166), x1=400 if room == 2 else 120, leads=True)
    found = of_outline(outline, *lines, led, *prose(176 + room, 3), title("Seeds", 240, bold=True), *prose(260))
    assert any("Plums" in text for text, _ in found) is expected


def test_a_heading_of_the_first_page_in_the_print_of_an_outlines_titles_is_one_below_the_first_of_them() -> None:
    head = [title("A Study of Fruit", 20, 18), title("Ann Lee", 44, 14), title("Abstract", 60, 14), *prose(80)]
    lines = [*head, title("KEYWORDS", 150, 14), *prose(170), title("Introduction", 240, 14), *prose(260)]
    outline = [(1, 1, "Abstract"), (1, 1, "Introduction"), (1, 2, "Stones")]
    found = outlined([*lines, title("Stones", 340, 12), *prose(360)], outline=outline)
    assert found == [["Abstract", "KEYWORDS", "Introduction", "Introduction > Stones"]]


def test_a_section_sign_before_a_number_belongs_to_it() -> None:
    entries = [(2, 1, "Plums"), (2, 2, "Pears"), (2, 2, "Figs")]
    lines = [title("1 Plums", 20, 14), *prose(50), title("§ 1.1 Pears", 120, 12), *prose(150)]
    lines += [title("§ 1.2 Figs", 220, 12), *prose(250)]
    assert [path for _, path in of_outline(entries, *lines)] == ["Plums", "Plums > Pears", "Plums > Figs"]


def test_nothing_stands_under_a_remark_in_large_print() -> None:
    lines = [title("Plums", 20, 20), title("IMPORTANT", 60, 16), *prose(90), title("Pears", 180, 13), *prose(210)]
    assert paths(*lines, pages_before=1) == ["Plums", "Plums > IMPORTANT", "Plums > Pears"]


def minutes(names: int, *, room: float = 12) -> list[str]:
    """The headings of a page with large lines, and so many names in bold over prose."""
    lines = [title(f"Orchard {'abcdefghi'[at]}", 20 + 20 * at, 20) for at in range(2)]
    y = 80.0
    for at in range(names):
        lines += [title(f"{'ABCDEFGHI'[at]} matter of it", y, bold=True), *prose(y + 10 + room, 2)]
        y += 34 + 2 * room
    return paths(*lines, *prose(y + 40), pages_before=1)


def test_names_over_prose_are_headings_where_nearly_every_line_looks_like_one() -> None:
    assert len(minutes(9)) == 10
    assert len(minutes(9, room=2)) == 1  # set no further off than lines are


def test_a_bold_line_of_chinese_that_ends_a_sentence_is_no_heading() -> None:
    assert is_heading(title("果园种植", 100, bold=True))
    assert not is_heading(title("果园种植和修剪。", 100, bold=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("g m X g F>", False), ("2 N h P", False), ("` m Hm", False), ("From A to Z", True), ("AI in EU", True)],
)
def test_signs_that_are_no_words_head_nothing(text: str, expected: bool) -> None:
    assert is_heading(title(text, 100, 20), *prose(130)) is expected


def test_two_signs_of_chinese_are_a_name() -> None:
    assert is_heading(title("3.4 总结", 100, 14), *prose(130))
