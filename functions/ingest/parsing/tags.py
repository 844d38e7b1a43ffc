"""What a tagged PDF says of its own structure: which words are of a table's cell, a heading, a paragraph, an item.

Word processors, browsers and report tools write it ("Tagged PDF", ISO 32000-1, 14.8). Nothing forces it to be right, so
a table is taken only if its cells stand on the page as the tags say (`tagged_tables`), and paragraphs only if they do
not cut sentences; else rules and text tell what is there.
"""

import ctypes
from collections.abc import Iterator, Sequence
from ctypes import byref
from dataclasses import dataclass, field, replace
from itertools import count, groupby, pairwise, repeat
from operator import attrgetter

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.parts import ends_sentence
from functions.ingest.parsing.wire import ITEM, Line
from functions.ingest.parsing.words import NO_BLOCK, Block

MAX_TAGS = 20_000
"""Tags of a page that are read; pages of the largest tables have some thousands."""
MAX_WITHIN = 10_000
"""Tags that one holds at most: a filing of 500 pages has 6,400 in one, and pdfium goes through all for each page."""
MAX_SPAN = 100
MAX_ATTRIBUTES = 20
"""Columns or rows that a cell goes over at most, and lists of its attributes that are looked at."""
LONGEST_TYPE = 40
"""Characters of a tag's type; those that mean something here are short."""
LEVELS = {
    **{"P": 0, "Caption": 0, "BlockQuote": 0, "Note": 0},
    **{"Title": 1, "H": 1, **{f"H{level}": level for level in range(1, 7)}},
}
"""Types of paragraphs and headings, with their level (`Line.level`)."""
DIVISIONS = frozenset({"Div", "NonStruct"})
"""Types that browsers give to paragraphs without a name of their own, and to texts, which hold no other tags."""
ITEMS = frozenset({"LI", "TOCI"})
"""Types of items of lists."""
GROUPS = frozenset({"Document", "Part", "Sect", "Table", "THead", "TBody", "TFoot", "TR", "L", "TOC"})
"""Types of what holds other tags only: a document's can hold thousands, of all pages."""
CELLS = {"TD": False, "TH": True}
"""Types of cells: whether they name others."""
TEXT_LEVELS = (0, ITEM)
FULL_EM, ROOM_EM, RAGGED_EM = 20, 1.5, 6
"""Levels of paragraphs and items; width of a line from which on it may be full, and how near the right edge it ends
then, in font sizes: further from it if the next one begins in small letters."""
MOST_CUTS, CUTS_SHARE = 1, 0.2
"""Paragraphs of a page that end within a sentence at most, and share of them."""


@dataclass(slots=True)
class TaggedCell:
    """The marks of a cell's words, how many columns and rows it goes over, and whether it names others."""

    names: bool
    columns: int = 1
    rows: int = 1
    marks: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TaggedTable:
    """The rows of a table on one page. It `is_frame` if it only places what is in it: other tables, or headings.

    `within` is the row of another table that it stands in.
    """

    rows: list[list[TaggedCell]] = field(default_factory=list)
    is_frame: bool = False
    within: list[TaggedCell] = field(default_factory=list)

    @property
    def is_apart(self) -> bool:
        """Whether no text stands beside it in the row of another table, which it would be torn out of."""
        return not any(cell.marks for cell in self.within)


@dataclass(slots=True)
class Tags:
    """The tables of a page, and its blocks: the number on the page and the level (`Line`) of the one a mark is of."""

    tables: list[TaggedTable] = field(default_factory=list)
    blocks: dict[int, Block] = field(default_factory=dict)


def tags_of(page: int) -> Tags | None:
    """Read the tags of a page; None if one holds so many others that reading them for each page would take too long."""
    tree = pdfium.load_tags(page)
    if not tree:
        return Tags()
    try:
        return _read(tree)
    finally:
        pdfium.close_tags(tree)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tag stands: in which table, cell and block. `item` is the block of an item that has no text yet."""

    table: TaggedTable | None = None
    cell: TaggedCell | None = None
    block: Block = NO_BLOCK
    item: Block = NO_BLOCK


def _read(tree: int) -> Tags | None:
    tags = Tags()
    numbers = count(1)
    filled: set[Block] = set()
    stack = [(pdfium.tag(tree, at), _Place()) for at in reversed(range(min(pdfium.count_tags(tree), MAX_TAGS)))]
    read = 0
    while stack and read < MAX_TAGS:
        tag, place = stack.pop()
        if not tag:
            continue
        read += 1
        kind = pdfium.utf16(pdfium.tag_type, tag, limit=LONGEST_TYPE)
        if (most := pdfium.count_within_tag(tag)) > MAX_WITHIN:
            return None
        within = list(map(pdfium.tag_within, repeat(*pdfium.pointers_to([tag])), range(most)))
        if kind == "Table":
            outer = place.table
            if outer is not None:
                outer.is_frame = True
            tags.tables.append(TaggedTable(within=outer.rows[-1] if outer is not None and outer.rows else []))
            place = _Place(tags.tables[-1], None, place.block)
        elif kind == "TR" and place.table is not None:
            place.table.rows.append([])
            place = _Place(place.table, None, place.block)
        elif kind in CELLS and place.table is not None and place.table.rows:
            place.table.rows[-1].append(TaggedCell(CELLS[kind], *_spans_of(tag)))
            place = _Place(place.table, place.table.rows[-1][-1], (next(numbers), 0))
        elif kind in ITEMS:
            item = next(numbers), ITEM
            place = replace(place, block=item, item=item)
        elif kind == "Lbl":
            place = replace(place, item=NO_BLOCK)
        elif kind in LEVELS or (kind in DIVISIONS and all(within)):
            level = LEVELS.get(kind, 0)
            is_first = place.item != NO_BLOCK and place.item not in filled and not level
            block = place.item if is_first else (next(numbers), level)
            filled.add(block)
            if level and place.table is not None and place.cell is not None and not place.cell.names:
                place.table.is_frame = True
            place = replace(place, block=block, item=NO_BLOCK)
        stack += [(child, place) for child in reversed(list(filter(None, within)))]
        if kind in GROUPS or all(within):
            continue
        marks = [pdfium.mark_within(tag, at) for at, child in enumerate(within) if not child]
        told = [mark for mark in marks if mark >= 0]
        if place.cell is not None:
            place.cell.marks += told
        if place.block != NO_BLOCK:
            tags.blocks.update(dict.fromkeys(told, place.block))
        if told and place.item != NO_BLOCK:
            filled.add(place.item)
    return tags


def _spans_of(tag: int) -> tuple[int, int]:
    """Return how many columns and rows a cell goes over."""
    spans = [1, 1]
    number = ctypes.c_float()
    for at in range(min(pdfium.count_attributes(tag), MAX_ATTRIBUTES)):
        attributes = pdfium.attributes(tag, at)
        for which, name in enumerate((b"ColSpan", b"RowSpan")):
            value = pdfium.attribute(attributes, name)
            if value and pdfium.attribute_number(value, byref(number)):
                spans[which] = min(MAX_SPAN, max(1, int(number.value)))
    return spans[0], spans[1]


def with_likely_blocks(lines: list[Line]) -> list[Line]:
    """Return a page's lines, without paragraphs and items that cut sentences: some programs make one of each line."""
    ends = cuts = 0
    right = max([line.x1 for line in lines], default=0.0)
    for above, line in pairwise(lines):
        if not (above.block and line.block) or above.block == line.block:
            continue
        ends += 1
        if above.level in TEXT_LEVELS and line.level in TEXT_LEVELS and not ends_sentence(above.text):
            is_wide = above.x1 - above.x0 > FULL_EM * above.size
            room = RAGGED_EM if line.text[:1].islower() else ROOM_EM
            cuts += is_wide and above.x1 > right - room * above.size
    if cuts > max(MOST_CUTS, CUTS_SHARE * ends):
        for line in lines:
            if line.level in TEXT_LEVELS:
                line.block = line.level = 0
    return lines


def tagged_headings(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield where the headings that tags tell begin and end among a page's lines."""
    at = 0
    for block, same in groupby(lines, key=attrgetter("block")):
        run = list(same)
        if block and 0 < run[0].level < ITEM and not any(line.column or line.figure for line in run):
            yield at, at + len(run)
        at += len(run)
