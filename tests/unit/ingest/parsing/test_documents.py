"""Whole documents on made pages, with order, tables, headings, layout, placing, reflow and running lines at work.

What must come out is known, because it was set.
"""

import itertools

import pytest

from functions.ingest.parsing.figures import Figure, figures_of
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.ruled import Rules
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import SOFT_HYPHEN, Box, Style, Word
from tests.support import varied_layouts
from tests.support.made_documents import Setter, Told, read_document, told
from tests.support.made_pages import BODY, PAGE, SMALL, moved, width_of
from tests.support.retold import parsed
from tests.support.varied_documents import KINDS, document_of

BOLD = Style(size=10, bold=True)
LARGE = Style(size=14, bold=True)
MONO = Style(size=10, mono=True)
SUBJECTS = [
    "keeper",
    "lamp",
    "boat",
    "signal",
    "lens",
    "mirror",
    "captain",
    "harbour",
    "gull",
    "storm",
    "engine",
    "bell",
]
VERBS = ["guards", "lights", "follows", "hides", "repairs", "passes", "carries", "meets", "colours", "marks"]
PLACES = ["cliffs", "channel", "cottage", "tower", "shore", "village", "island", "meadow", "bridge", "market", "chapel"]


def prose(seed: int, sentences: int = 5) -> str:
    """Sentences that no two seeds share."""
    said = []
    for at in range(sentences):
        n = 7 * seed + at
        one, two, three = SUBJECTS[n % 12], VERBS[(3 * n + seed) % 10], SUBJECTS[(5 * n + 1) % 12]
        where, when = PLACES[(2 * n + seed) % 11], PLACES[(n + 5) % 11]
        said.append(f"The {one} {two} the {three} near the {where}, and nobody in the {when} asks why.")
    return " ".join(said)


def columns(page: int, *, numbered: bool = True) -> tuple[list[Setter], list[Told]]:
    """Two columns with a section each, a running header and a page number, in the order in which they are read."""
    head, left, right = Setter(y=775), Setter(y=700, width=225), Setter(x=315, y=700, width=225)
    head.line(f"Annals of Lights {page}" if page % 2 else f"{page} A. Keeper", style=Style(size=8))
    sections = []
    for at, column in enumerate((left, right)):
        n = 2 * page + at - 1
        name = f"{n} On the {SUBJECTS[n % 12]}"
        column.line(name, style=BOLD)
        column.room(0.5)
        column.text(prose(n))
        column.text(prose(n + 40), indent=12)
        sections += [("heading", name, name), ("paragraph", "", prose(n)), ("paragraph", "", prose(n + 40))]
    foot = Setter(y=40)
    foot.centred(str(page))
    return [head, left, right, foot] if numbered else [head, left, right], sections


def test_two_columns_are_read_one_after_the_other_without_header_and_page_number():
    pages, expected = zip(*(columns(page) for page in range(1, 7)), strict=True)
    read = read_document(*([word for part in page for word in part.words] for page in pages))
    assert [told(page) for page in read] == [*expected]


def test_it_does_not_matter_in_which_order_header_and_footer_are_drawn():
    pages, expected = zip(*(columns(page) for page in range(1, 7)), strict=True)
    read = read_document(*([*p[3].words, *p[1].words, *p[2].words, *p[0].words] for p in pages))
    assert [told(page) for page in read] == [*expected]


def test_lines_that_run_across_both_columns_are_cut_between_them():
    """As some producers write: both columns line by line."""
    parts, expected = columns(1)
    _, left, right, _ = parts
    by_line: dict[float, list[Word]] = {}
    for word in [*left.words, *right.words]:
        by_line.setdefault(word.y0, []).append(word)
    words = []
    for line in by_line.values():
        for word in line[:-1]:
            word.ends = ""
        words += line
    (page,) = read_document(words)
    assert [text for _, _, text in told(page)] == [text for _, _, text in expected]


def test_the_right_column_drawn_first_is_read_last():
    parts, expected = columns(1)
    head, left, right, foot = parts
    (page,) = read_document([*head.words, *right.words, *left.words, *foot.words])
    assert [each for each in told(page) if each[2] not in {"Annals of Lights 1", "1"}] == expected


@pytest.mark.parametrize(("size", "leading"), [*itertools.product((8, 10, 12), (1.1, 1.2, 1.4))])
def test_paragraphs_sections_and_lists_come_out_as_they_were_set(size: float, leading: float):
    body = Style(size=size)
    page = Setter(style=body, leading=leading, width=420)
    bold = Style(size=size, bold=True)
    page.line("On the Lamps of the Coast", style=Style(size=1.6 * size))
    page.room(1.5)
    page.text(prose(1, 3))
    page.room()
    page.line("1 What is needed", style=bold)
    page.room(0.5)
    page.text(prose(2, 3))
    page.room()
    items = [f"• {prose(3, 1)}", f"• {prose(4, 1)}", "• A bell."]
    for item in items:
        page.text(item, hang=1.1 * size)
    page.room()
    page.line("1.1 What is not", style=bold)
    page.room(0.5)
    page.text(prose(5, 2), indent=1.2 * size)
    page.text(prose(6, 2), indent=1.2 * size)
    page.room()
    page.line("2 What it costs", style=bold)
    page.room(0.5)
    steps = [f"{at}. {prose(6 + at, 1)}" for at in (1, 2, 3)]
    for step in steps:
        page.text(step, hang=1.3 * size)
    (read,) = read_document(page.words)
    top = "On the Lamps of the Coast"
    first, below, second = "1 What is needed", "1.1 What is not", "2 What it costs"
    assert told(read) == [
        ("heading", top, top),
        ("paragraph", "", prose(1, 3)),
        ("heading", f"{top} > {first}", first),
        ("paragraph", "", prose(2, 3)),
        *(("list_item", "", item) for item in items),
        ("heading", f"{top} > {first} > {below}", below),
        ("paragraph", "", prose(5, 2)),
        ("paragraph", "", prose(6, 2)),
        ("heading", f"{top} > {second}", second),
        *(("list_item", "", step) for step in steps),
    ]


ROWS = [
    ("Revenue:",),
    ("Products", "$ 1,204", "$ 998", "21 %"),
    ("Services of all kinds", "617", "163", "—"),
    ("Other revenue, net of what was given back", "(12)", "(7)", "(71) %"),
    ("Total revenue", "1,809", "1,154", "57 %"),
]
EDGES = (380.0, 450.0, 520.0)


def statement(*, unit: str = "(in millions)") -> Setter:
    page = Setter()
    page.text(prose(1, 2))
    page.room()
    page.centred("Statements of Revenue", BOLD)
    page.centred(unit)
    page.row("", "2023", "2022", "Change", edges=EDGES, style=BOLD)
    for label, *cells in ROWS:
        page.row(label, *(cells or ("", "", "")), edges=EDGES)
    page.room()
    page.text(prose(2, 2))
    return page


def test_a_statement_is_a_table_with_its_caption_unit_and_years():
    (read,) = read_document(statement().words)
    (table,) = [block for block in read.blocks if block.kind == "table"]
    head = ["Statements of Revenue", "(in millions)", "| 2023 | 2022 | Change"]
    assert read.text[table.char_start : table.char_end].splitlines() == [
        *head,
        "Revenue:",
        "Products | $ 1,204 | $ 998 | 21 %",
        "Services of all kinds | 617 | 163 | —",
        "Other revenue, net of what was given back | (12) | (7) | (71) %",
        "Total revenue | 1,809 | 1,154 | 57 %",
    ]
    assert table.header.splitlines() == head
    others = [each for each in told(read) if each[0] == "paragraph"]
    assert [text for _, _, text in others] == [prose(1, 2), prose(2, 2)]


def test_dates_below_the_names_of_columns_belong_to_the_header():
    page = Setter()
    page.text(prose(1, 2))
    page.room()
    page.row("", "For the year", "For the year", edges=EDGES[:2], style=BOLD)
    page.row("", "31.3.2003", "31.3.2002", edges=EDGES[:2], style=BOLD)
    for label, *cells in (("Sales", "1,204", "998"), ("Other income", "617", "163"), ("Costs", "12", "7")):
        page.row(label, *cells, edges=EDGES[:2])
    page.room()
    page.text(prose(2, 2))
    (read,) = read_document(page.words)
    (table,) = [block for block in read.blocks if block.kind == "table"]
    assert table.header.splitlines() == ["| For the year | For the year", "| 31.3.2003 | 31.3.2002"]


def test_a_table_written_column_by_column_reads_as_one_written_by_line():
    page = Setter()
    page.text(prose(1, 2))
    page.room()
    top = page.y
    cells = [
        ("Lamp", "Height", "Keeper"),
        ("Orsk", "31 m", "Ann"),
        ("Skagen", "46 m", "Bo"),
        ("Kullen", "17 m", "Cleo"),
    ]
    for at, x in enumerate((60, 220, 380)):
        column = Setter(x=x, y=top, leading=1.4)
        for row in cells:
            column.line(row[at])
        page.words += column.words
        page.y = column.y
    page.room()
    page.text(prose(2, 2))
    (read,) = read_document(page.words)
    text = [each[2] for each in told(read)]
    assert text[0] == prose(1, 2)
    assert text[-1] == prose(2, 2)
    words = " ".join(text[1:-1]).replace("|", " ").split()
    assert sorted(words) == sorted(" ".join(" ".join(row) for row in cells).split())


def test_code_keeps_its_lines_between_paragraphs():
    page = Setter()
    page.text(prose(1, 2))
    page.room()
    for indent, text in ((0, "def light(lamp):"), (4, "lamp.on = True"), (4, "return lamp")):
        page.line(text, x=page.x + 5 * indent, style=MONO)
    page.room()
    page.text(prose(2, 2))
    (read,) = read_document(page.words)
    kinds = [kind for kind, _, _ in told(read)]
    assert kinds == ["paragraph", "code", "paragraph"]
    lines = told(read)[1][2].splitlines()
    assert [line.strip() for line in lines] == ["def light(lamp):", "lamp.on = True", "return lamp"]
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 4, 4]


def test_a_word_cut_at_the_end_of_a_line_is_whole_and_a_note_is_read_last():
    left, right, note = Setter(width=225), Setter(x=315, width=225), Setter(y=80, width=225, style=SMALL)
    left.y = 200
    left.text(prose(1, 3))
    left.line("The keeper repairs the lamp with every instru" + SOFT_HYPHEN)
    left.line("ment that the village has, and")
    note.text("1 It was built in a year of storms.")
    right.text("so he never sleeps. " + prose(2, 2))
    (read,) = read_document([*left.words, *note.words, *right.words])
    texts = [text for _, _, text in told(read)]
    whole = (
        f"The keeper repairs the lamp with every instrument that the village has, and so he never sleeps. {prose(2, 2)}"
    )
    assert " ".join(texts) == f"{prose(1, 3)} {whole} 1 It was built in a year of storms."
    assert texts[-1] == "1 It was built in a year of storms."


def test_headings_that_are_drawn_after_all_text_are_read_above_theirs():
    page, late = Setter(width=420), []
    expected: list[Told] = []
    for at in (1, 2, 3):
        name = f"{at} On the {SUBJECTS[at]}"
        head = Setter(y=page.y)
        head.line(name, style=BOLD)
        late += head.words
        page.y = head.y
        page.room(0.5)
        page.text(prose(at, 3))
        page.room()
        expected += [("heading", name, name), ("paragraph", "", prose(at, 3))]
    (read,) = read_document(page.words + late)
    assert told(read) == expected


def test_a_table_of_contents_has_an_entry_a_line():
    page = Setter()
    page.line("Contents", style=LARGE)
    page.room(0.5)
    entries = [(f"{at} On the {SUBJECTS[at]}", str(10 * at)) for at in range(1, 7)]
    for name, number in entries:
        dots = "." * int((400 - width_of(name, BODY)) / 5)
        page.line(f"{name} {dots} {number}")
    (read,) = read_document(page.words)
    assert [text for _, _, text in told(read)] == ["Contents", *(f"{name} … {number}" for name, number in entries)]


# --- What says nothing ---


def told_of(kind: str, number: int) -> list[object]:
    """Return what is read of a made document, without the places of its words."""
    _, pages = parsed(*document_of(kind, number))
    return [(page.text, page.blocks, page.continues) for page in pages]


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"doubtful"}))
def test_where_a_pages_box_begins_says_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is read as the same page 64 points further right and 128 lower; `doubtful` has lines of OCR."""
    right, up = 64.0, -128.0
    bounds = PAGE[0] + right, PAGE[1] + up, PAGE[2] + right, PAGE[3] + up

    def elsewhere(words: list[Word], box: Box, rotation: int = 0, rules: Rules | None = None) -> list[Line]:
        box = box[0] + right, box[1] + up, box[2] + right, box[3] + up
        if rules is not None:
            across = [(y, x0 + right, x1 + right) for y, x0, x1 in rules.across]
            rules = Rules(across, [(x + right, y0, y1) for x, y0, y1 in rules.down])
        return lay_out(moved(words, by=(right, up)), box, rotation, rules)

    def figures_elsewhere(lines: list[Line], boxes: list[Box], _: Box) -> tuple[list[Line], list[Figure]]:
        return figures_of(lines, [(x0 + right, y0, x1 + right, y1) for x0, y0, x1, y1 in boxes], bounds)

    before = [told_of(kind, number) for number in range(3)]
    monkeypatch.setattr(varied_layouts, "lay_out", elsewhere)
    monkeypatch.setattr(varied_layouts, "figures_of", figures_elsewhere)
    assert [told_of(kind, number) for number in range(3)] == before
