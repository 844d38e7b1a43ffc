"""What tags tell of tables, headings, paragraphs and items is used where it stands on the page, and else is not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.reflow import reflow
from functions.ingest.parsing.tags import with_likely_blocks
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import ITEM, Header, Line, RawPage, pack_page, unpack
from tests.support.pdfs import stream
from tests.support.tagged import Tag, Written, cell, table, tagged_pdf

HEAD = [cell(72, 700, "Item", names=True), cell(200, 700, "Fee", names=True)]


def raw_page(folder: Path, *tags: Tag, untold: Sequence[Written] = (), drawn: bytes = b"") -> RawPage:
    path = folder / "tagged.pdf"
    path.write_bytes(tagged_pdf(*tags, untold=untold, drawn=drawn))
    return PdfiumEngine(str(path)).page(1)


def rows_read(folder: Path, *tags: Tag, untold: Sequence[Written] = ()) -> list[str]:
    """The lines of a page, those of tables with a bar before each cell."""
    return [line.text for line in raw_page(folder, *tags, untold=untold).lines]


def parts_read(folder: Path, *tags: Tag, untold: Sequence[Written] = ()) -> list[tuple[str, str, str]]:
    """Kind, text and header of the parts of a page."""
    page = raw_page(folder, *tags, untold=untold)
    headings = Headings(Header(1))
    headings.learn(page)
    return [(part.kind, part.text, part.header) for part in reflow(page, headings.of(page), Vocabulary())]


def test_words_of_cells_without_room_between_them_are_a_table(tmp_path: Path) -> None:
    rows = [[cell(72, 680 - 14 * at, f"Room {at} on the left"), cell(172, 680 - 14 * at, "is let")] for at in range(3)]
    assert rows_read(tmp_path, table(*rows)) == [f"Room {at} on the left | is let" for at in range(3)]


def test_cells_that_tags_call_names_are_the_header(tmp_path: Path) -> None:
    head = [cell(72, 700, "2023", names=True), cell(200, 700, "2024", names=True)]
    rows = [
        [cell(72, 680 - 14 * at, f"{at + 4} boats"), cell(200, 680 - 14 * at, f"{at + 7} boats")] for at in range(3)
    ]
    [(kind, _, header)] = parts_read(tmp_path, table(head, *rows))
    assert (kind, header) == ("table", "2023 | 2024")


def test_a_table_all_of_names_has_no_header_by_its_tags(tmp_path: Path) -> None:
    rows = [
        [cell(72, 700 - 14 * at, f"Boat {at}", names=True), cell(200, 700 - 14 * at, f"{at}", names=True)]
        for at in range(3)
    ]
    assert not any(line.names for line in raw_page(tmp_path, table(*rows)).lines)


def test_a_name_over_several_columns_is_told_for_each(tmp_path: Path) -> None:
    head = [cell(72, 714, ""), cell(200, 714, "Summer", names=True, columns=2), cell(400, 714, "Winter", names=True)]
    names = [
        cell(72, 700, ""),
        *(cell(x, 700, name, names=True) for x, name in ((200, "May"), (300, "June"), (400, "January"))),
    ]
    rows = [[cell(x, 680 - 14 * at, f"{x + at}") for x in (72, 200, 300, 400)] for at in range(2)]
    rows = [[cell(72, 680 - 14 * at, f"Boat {at}"), *row[1:]] for at, row in enumerate(rows)]
    assert rows_read(tmp_path, table(head, names, *rows))[:2] == [
        "| Summer | Summer | Winter",
        "| May | June | January",
    ]


def test_names_over_two_rows_of_a_header_and_over_two_columns_are_told(tmp_path: Path) -> None:
    """As browsers set them: at the left of their columns, in the middle of their rows."""
    head = [
        cell(72, 707, "Boat", names=True, rows=2),
        cell(200, 714, "Weekdays", names=True, columns=2),
        cell(320, 714, "Weekend", names=True, columns=2),
        cell(440, 707, "Deposit", names=True, rows=2),
    ]
    names = [cell(200 + 60 * at, 700, name, names=True) for at, name in enumerate(("Half", "Full", "Half", "Full"))]
    rows = [[cell(72, y, "Punt"), *(cell(200 + 60 * at, y, f"{at + 2}0") for at in range(5))] for y in (680, 660)]
    assert rows_read(tmp_path, table(head, names, *rows))[:3] == [
        "Boat | Weekdays | Weekdays | Weekend | Weekend | Deposit",
        "| Half | Full | Half | Full |",
        "Punt | 20 | 30 | 40 | 50 | 60",
    ]


def test_a_cell_over_several_rows_does_not_stop_its_table(tmp_path: Path) -> None:
    rows = [
        [cell(72, 680, "Boats", rows=2), cell(200, 686, "red"), cell(300, 686, "4")],
        [cell(200, 672, "blue"), cell(300, 672, "5")],
        [cell(72, 652, "Bikes"), cell(200, 652, "green"), cell(300, 652, "6")],
    ]
    assert rows_read(tmp_path, table(*rows)) == ["Boats | red | 4", "| blue | 5", "Bikes | green | 6"]


def test_cells_that_only_make_room_are_no_columns(tmp_path: Path) -> None:
    """As in filings: the currency has a column of its own, and there are empty ones beside it."""
    rows = [
        [
            cell(72, 700 - 14 * at, label),
            cell(190, 700 - 14 * at, sign),
            cell(200, 700 - 14 * at, value),
            cell(260, 0, ""),
        ]
        for at, (label, sign, value) in enumerate(
            (("Sales", "$", "4,213"), ("Costs", "", "1,900"), ("Profit", "$", "2,313"))
        )
    ]
    assert rows_read(tmp_path, table(*rows)) == ["Sales | $ 4,213", "Costs | 1,900", "Profit | $ 2,313"]


@pytest.mark.parametrize(("mark", "name"), [("%", "TWh"), ("(a)", "Total")])
def test_only_a_figure_takes_a_sign_in(tmp_path: Path, mark: str, name: str) -> None:
    head = [cell(72, 714, "Source"), cell(200, 714, name), cell(240, 714, mark)]
    rows = [
        [cell(72, 700 - 14 * at, "Wind"), cell(200, 700 - 14 * at, "12"), cell(214, 700 - 14 * at, mark)]
        for at in range(2)
    ]
    others = [[cell(72, 672, "Sun"), cell(200, 672, "14"), cell(240, 672, "15")]]
    assert rows_read(tmp_path, table(head, *rows, *others))[:2] == [f"Source | {name} | {mark}", f"Wind | 12 {mark} |"]


def test_marks_of_items_in_a_column_of_their_own_stand_before_their_texts(tmp_path: Path) -> None:
    rows = [
        [cell(72, 700 - 14 * at, f"{at}."), cell(100, 700 - 14 * at, f"Socket {at}"), cell(300, 700 - 14 * at, "front")]
        for at in range(3)
    ]
    assert rows_read(tmp_path, table(*rows)) == [f"{at}. Socket {at} | front" for at in range(3)]
    head = [cell(72, 714, "No."), cell(100, 714, "Part"), cell(300, 714, "Side")]
    assert rows_read(tmp_path, table(head, *rows))[1] == "0. | Socket 0 | front"


def test_names_repeated_on_a_page_that_no_tag_tells_are_of_their_table(tmp_path: Path) -> None:
    rows = [
        [cell(72, 680 - 14 * at, f"Boat {at}"), cell(200, 680 - 14 * at, "fast"), cell(300, 680 - 14 * at, "red")]
        for at in range(3)
    ]
    untold = [
        (72, 706, "All our boats and what they are like in short"),
        (72, 692, "Name"),
        (200, 692, "Speed"),
        (300, 692, "Colour"),
    ]
    kinds = parts_read(tmp_path, table(*rows), untold=untold)
    assert kinds[-1][2].endswith("Name | Speed | Colour")


def test_words_of_two_cells_in_one_place_stay_in_the_table(tmp_path: Path) -> None:
    """A header of more cells than the rows have: where one would drop out, rules and text tell the table."""
    head = [cell(72 + 100 * at, 714, name) for at, name in enumerate(("Group", "Stock", "Count", "Note"))]
    rows = [[cell(172, 700 - 14 * at, f"Pens {at}"), cell(210, 700 - 14 * at, f"{at}0")] for at in range(3)]
    texts = rows_read(tmp_path, table(head, *rows))
    assert sorted(" ".join(texts).replace("|", "").split()) == sorted(
        ["Group", "Stock", "Count", "Note", "Pens", "0", "00", "Pens", "1", "10", "Pens", "2", "20"]
    )


def test_a_cell_beside_its_column_belongs_to_the_nearest(tmp_path: Path) -> None:
    """Names amid their columns over figures at the left, and a first column that began on the page before."""
    head = [
        cell(100, 714, "Region", names=True),
        cell(240, 714, "City", names=True),
        cell(340, 714, "2024", names=True),
    ]
    rows = [[cell(200, 700 - 14 * at, f"Ghent {at}"), cell(340, 700 - 14 * at, f"{at}7")] for at in range(3)]
    assert rows_read(tmp_path, table(head, *rows)) == [
        "Region | City | 2024",
        "| Ghent 0 | 07",
        "| Ghent 1 | 17",
        "| Ghent 2 | 27",
    ]


def test_a_table_is_not_torn_out_of_the_row_that_it_stands_in(tmp_path: Path) -> None:
    inner = [
        table(
            [cell(150, 686 - 40 * at, "Pen"), cell(250, 686 - 40 * at, "1")],
            [cell(150, 672 - 40 * at, "Ink"), cell(250, 672 - 40 * at, "2")],
        )
        for at in range(2)
    ]
    rows = [
        Tag("TR", [cell(72, 686 - 40 * at, f"#{at}"), Tag("TD", [inner[at]]), cell(350, 686 - 40 * at, "9.00")])
        for at in range(2)
    ]
    texts = " ".join(rows_read(tmp_path, Tag("Table", rows)))
    assert texts.index("#0") < texts.index("Pen") < texts.index("#1") < texts.rindex("Pen")


def test_cells_with_headings_only_place_what_they_hold(tmp_path: Path) -> None:
    columns = [
        Tag("TD", [Tag("H2", [(x, y, name)]), Tag("P", [(x, y - 14, f"All about {name.lower()} here.")])])
        for x, y, name in ((72, 700, "Skills"), (300, 650, "Experience"))
    ]
    parts = parts_read(
        tmp_path, Tag("Table", [Tag("TR", columns), Tag("TR", [cell(72, 600, "York"), cell(300, 600, "May")])])
    )
    assert {text for kind, text, _ in parts if kind == "heading"} == {"Skills", "Experience"}


def test_a_table_stands_behind_what_is_written_before_it(tmp_path: Path) -> None:
    """Nothing above it stands over it: it is indented."""
    told: list[Tag] = []
    for at, name in enumerate(("Winter", "Summer")):
        y = 700 - 100 * at
        rows = [
            [cell(250, y - 20 - 14 * row, f"{name} guest {row}"), cell(400, y - 20 - 14 * row, f"{row}4")]
            for row in range(3)
        ]
        told += [Tag("H2", [(72, y, name)]), table(*rows)]
    assert rows_read(tmp_path, *told) == [
        *("Winter", "Winter guest 0 | 04", "Winter guest 1 | 14", "Winter guest 2 | 24"),
        *("Summer", "Summer guest 0 | 04", "Summer guest 1 | 14", "Summer guest 2 | 24"),
    ]


def test_dates_below_the_names_that_tags_tell_are_of_the_header(tmp_path: Path) -> None:
    head = [cell(72, 714, "", names=True), cell(200, 714, "Three months ended", names=True, columns=2)]
    dates = [cell(72, 700, ""), cell(200, 700, "May 1, 2022"), cell(300, 700, "May 1, 2021")]
    rows = [
        [cell(72, 680 - 14 * at, label), cell(200, 680 - 14 * at, "1,548"), cell(300, 680 - 14 * at, "1,527")]
        for at, label in enumerate(("Casino", "Rooms"))
    ]
    [(_, _, header)] = parts_read(tmp_path, table(head, dates, *rows))
    assert header.endswith("| May 1, 2022 | May 1, 2021")


@pytest.mark.parametrize("figure", ["4.2M", "$1.3B", "98%"])
def test_a_figure_tagged_as_heading_heads_nothing(tmp_path: Path, figure: str) -> None:
    parts = parts_read(tmp_path, Tag("H1", [(72, 720, figure)]), Tag("P", [(72, 700, "This is what we sold.")]))
    assert {kind for kind, _, _ in parts} == {"paragraph"}


def test_a_file_whose_tags_would_take_long_is_read_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.ingest.parsing.tags.MAX_WITHIN", 2)
    divisions = [Tag("P", [(72, 700 - 12 * at, f"Line {at}.")]) for at in range(3)]
    assert {line.block for line in raw_page(tmp_path, Tag("Document", divisions)).lines} == {0}


def test_marks_within_forms_are_not_the_pages(tmp_path: Path) -> None:
    form = stream(
        b"/P<</MCID 0>>BDC BT /F1 10 Tf 72 650 Td (A stamp) Tj ET EMC", b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]"
    )
    data = tagged_pdf(Tag("H1", [(72, 700, "Title of it")]), drawn=b"/X Do ", extra={9_090: form})
    path = tmp_path / "tagged.pdf"
    path.write_bytes(data.replace(b"/Resources<<", b"/Resources<</XObject<</X 9090 0 R>>", 1))
    levels = {line.text: line.level for line in PdfiumEngine(str(path)).page(1).lines}
    assert levels == {"Title of it": 1, "A stamp": 0}


@pytest.mark.parametrize(
    "above",
    [
        pytest.param([(72, 692, "which all of us let from May to the end of our season")], id="prose"),
        pytest.param([(72, 692, "Name"), (180, 692, "Speed"), (215, 692, "Sails")], id="two over one"),
        pytest.param([(72, 692, "Name"), (200, 692, "Speed"), (200, 702, "Top")], id="two lines"),
    ],
)
def test_what_stands_above_a_table_and_is_no_names_is_not_its_header(tmp_path: Path, above: Sequence[Written]) -> None:
    rows = [
        [cell(x, 680 - 14 * at, words) for x, words in ((72, "Boat"), (200, "fast"), (300, "red"))] for at in range(3)
    ]
    assert not any(line.names for line in raw_page(tmp_path, table(*rows), untold=above).lines)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([[(72, 700), (200, 700)], [(72, 714), (200, 714)]], id="rows from below"),
        pytest.param([[(72, 700), (110, 700)], [(90, 680), (72, 680)]], id="cells in no columns"),
        pytest.param([[(72, 700), (200, 700)]], id="one row"),
    ],
)
def test_tags_that_are_not_so_on_the_page_tell_no_table(
    tmp_path: Path, rows: Sequence[Sequence[tuple[float, float]]]
) -> None:
    told = table(*([cell(*place, "Some words here") for place in row] for row in rows))
    assert not any(line.column for line in raw_page(tmp_path, told).lines)


def test_a_table_that_holds_another_only_places_it(tmp_path: Path) -> None:
    inner = table(HEAD, [cell(72, 680, "Boat"), cell(200, 680, "4")], [cell(72, 666, "Bike"), cell(200, 666, "5")])
    frame = Tag(
        "Table",
        [
            Tag("TR", [Tag("TD", [inner]), cell(400, 680, "Notes")]),
            Tag("TR", [cell(72, 600, "a"), cell(400, 600, "b")]),
        ],
    )
    assert rows_read(tmp_path, frame)[:3] == ["Item | Fee", "Boat | 4", "Bike | 5"]


def test_a_bullet_that_is_drawn_is_of_the_cell_it_stands_in(tmp_path: Path) -> None:
    rows = [[cell(72, y, "Fruit"), cell(200, y, "Ripe plums of the old garden")] for y in (700, 686)]
    dots = b"".join(b"0 g 190 %f m 192 %f l 194 %f l 192 %f l f " % (y, y + 2, y, y - 2) for y in (702.5, 688.5))
    texts = [line.text for line in raw_page(tmp_path, table(*rows), drawn=dots).lines]
    assert texts == ["Fruit | • Ripe plums of the old garden"] * 2


def test_a_tagged_heading_is_one_in_whatever_print(tmp_path: Path) -> None:
    parts = parts_read(
        tmp_path,
        Tag("H2", [(72, 720, "the boats")]),
        Tag("P", [(72, 706, "They are let from May to September."), (72, 694, "Ask at the desk.")]),
        Tag("H2", [(72, 680, "the bikes")]),
        Tag("P", [(72, 666, "They are let all year.")]),
    )
    assert [text for kind, text, _ in parts if kind == "heading"] == ["the boats", "the bikes"]


def test_a_copyright_tagged_as_heading_is_none(tmp_path: Path) -> None:
    parts = parts_read(tmp_path, Tag("H1", [(72, 720, "© Boats Ltd 2019")]), Tag("P", [(72, 700, "We let boats.")]))
    assert {kind for kind, _, _ in parts} == {"paragraph"}


def test_paragraphs_and_items_are_as_tags_tell_them(tmp_path: Path) -> None:
    """Without marks, and at the distance of lines: nothing else tells them apart. Items get a mark, by which
    they are known to be statements.
    """
    items = Tag("L", [Tag("LI", [Tag("LBody", [(72, 696 - 12 * at, f"Boat number {at}")])]) for at in range(3)])
    parts = parts_read(tmp_path, Tag("P", [(72, 720, "We have")]), Tag("P", [(72, 708, "these boats")]), items)
    assert [(kind, text) for kind, text, _ in parts] == [
        ("paragraph", "We have"),
        ("paragraph", "these boats"),
        *(("list_item", f"• Boat number {at}") for at in range(3)),
    ]


def test_an_items_mark_and_its_first_paragraph_are_one_and_its_second_is_apart(tmp_path: Path) -> None:
    body = Tag("LBody", [Tag("P", [(84, 700, "The first.")]), Tag("P", [(84, 688, "The second.")])])
    item = Tag("LI", [Tag("Lbl", [(72, 700, "1.")]), body])
    parts = parts_read(tmp_path, Tag("P", [(72, 720, "We have these rules for boats and bikes")]), Tag("L", [item]))
    assert [(kind, text) for kind, text, _ in parts[1:]] == [
        ("list_item", "1. The first."),
        ("paragraph", "The second."),
    ]


def test_a_paragraph_goes_on_below_a_full_line_however_far(tmp_path: Path) -> None:
    """As below a formula in the line, or a picture of a sign: without tags another one begins there."""
    first = "Add flags to the compiler with the same meaning as the properties NAMES."
    told = Tag("P", [(72, 700, first), (72, 676, "They are used by all of it.")])
    other = Tag("P", [(72, 640 - 12 * at, f"Another one that is shorter {at}") for at in range(4)])
    assert parts_read(tmp_path, told, other)[0][1] == f"{first} They are used by all of it."


def test_divisions_of_a_browser_are_paragraphs(tmp_path: Path) -> None:
    divisions = [Tag("NonStruct", [Tag("NonStruct", [(72, 700 - 12 * at, f"Entry of words {at}")])]) for at in range(3)]
    parts = parts_read(tmp_path, *divisions)
    assert [text for _, text, _ in parts] == [f"Entry of words {at}" for at in range(3)]


@pytest.mark.parametrize(
    ("texts", "edges", "is_believed"),
    [
        (["The boats of", "our club are", "let from May", "to the end", "of June."], [300, 270, 300, 280, 90], False),
        (["Die Boote des", "Vereins sind", "Montag frei", "Mai bis", "Juni."], [300, 290, 298, 300, 90], False),
        (
            ["The number of the boat", "boat_name", "text", "What it is called", "boat_year"],
            [110, 60, 40, 90, 60],
            True,
        ),
        (["The boats are let.", "so are bikes.", "Ask for them"], [300, 300, 120], True),
    ],
)
def test_paragraphs_that_cut_full_lines_of_sentences_are_not_believed(
    texts: Sequence[str], edges: Sequence[float], is_believed: bool
) -> None:
    read = [Line(each, x1=edge, size=10, block=at) for at, (each, edge) in enumerate(zip(texts, edges, strict=True), 1)]
    assert [line.block for line in with_likely_blocks(read)] == [
        at if is_believed else 0 for at in range(1, len(texts) + 1)
    ]


def test_what_tags_tell_of_lines_reaches_the_parent() -> None:
    lines = [
        Line("a | b", cells=2, column=1, names=True),
        Line("c", block=3, level=2),
        Line("d", leads=True),
        Line("e"),
    ]
    lines.append(Line("f", figure=2, boxed=4, block=5, level=ITEM))
    page = unpack(pack_page(RawPage(1, lines=lines))[4:])
    assert isinstance(page, RawPage)
    assert page.lines == lines
