"""From lines to blocks: paragraphs joined; lists, tables and code kept line by line."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import islice, pairwise, takewhile, zip_longest
from operator import attrgetter

from functions.ingest.parsing.distances import first_word, pitch_of, right_edges
from functions.ingest.parsing.heading_lines import SAME_SIZE
from functions.ingest.parsing.headings import Heading
from functions.ingest.parsing.items import begins_entry, is_index, is_item
from functions.ingest.parsing.joining import join
from functions.ingest.parsing.listings import take_comments
from functions.ingest.parsing.paragraphs import FARTHEST_INDENT, HANGING, LEADER, has_leader, joins, ragged_entries
from functions.ingest.parsing.parts import Kind, Part, ends_sentence
from functions.ingest.parsing.places import heading_places, moved_by, places_in
from functions.ingest.parsing.table_cells import UNIT, YEAR, body_of, is_figure, is_number
from functions.ingest.parsing.tables import MAX_HEADER_CHARACTERS
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.vocabulary import Vocabulary, ends_hyphenated
from functions.ingest.parsing.wire import ITEM, Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN
from shared.models import Block, LinePlace, Page
from shared.text import SEPARATOR, row_cells

MARK = "• "
"""What an item begins with that tags tell and that has no mark of its own."""
LISTED = 1.2
"""Room around a single line of code, from line to line, as a share of the page's usual one."""
_TAG = re.compile(r"</?[^\W\d_]|<[!?]")
LEAST_TAGS, TAGS = 3, 0.6
MAX_BETWEEN_TAGS, LONGEST_BETWEEN_TAGS, MOST_TAGS = 3, 60, 200
"""Lines with a tag that make a listing, and share of its lines that have one; lines between two, characters of
one, and lines of the whole, at most; what goes on is another listing."""
_DIGITS = re.compile(r"\d+")
_CAPTION = re.compile(r"(?:table|tableau|tabla|tabelle|lentelė) \d", re.IGNORECASE)
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(?:\d\d)?\d\d|\d{4}-\d\d-\d\d")
HEADER_ROWS = 4
HEADER_TITLES = 5
"""Rows of several cells in a header at most, and of one."""
WORDS_OF_SENTENCE = 3
"""Spaces, at least, in a cell with a full stop at its end that is a sentence, and no name."""
CAPTION_PARTS, TAGGED_PARTS = 3, 5
CAPTION_CHARACTERS = 200
"""Headings and paragraphs above a table, more of those that tags tell, and their length, that may be its caption."""
CENTRED = 2
"""How far the middles of two centred lines may be apart, in half font sizes."""
FARTHEST_LEFT = 3
"""How much further left the next line of a paragraph may begin, in font sizes, as below an indented one."""
NEXT_LINE = 1.4
SMALLEST_EM = 4.0
"""How far below each other lines of a paragraph begin, in usual distances, at most, and font size in points that is
used for lines without one, or in smaller print."""
WORDS_OF_ROOM = 2
"""Room behind a line, in widths of the next one's first word, from which on it was ended."""
NEAR_ABOVE = 3
"""How far below the line above, in font sizes, a line that is set in begins, at most."""
SHORT_OF_EDGE = 0.12
"""Share of the width that a full line may lack."""
LONGEST_TERM, LETTERS_OF_TERM, LEAST_TERMS = 80, 2, 2
"""Characters of a term that is told below it, at most, its letters, and such terms of a page at one edge, at least."""
MAX_INDENT = 40
"""Spaces that a line of code is indented by, at most."""


def reflow(page: RawPage, headings: list[Heading], words: Vocabulary) -> list[Part]:
    """Make the parts of a page. Lines of one paragraph become one line, words cut by a line's end whole again."""
    parts: list[Part] = []
    starts = {heading.start: heading for heading in headings}
    take_comments(page.lines)
    right = right_edges(page.lines)
    pitch = pitch_of(page.lines)
    is_indexed, ragged = is_index(page.lines), ragged_entries(page.lines)
    i = 0
    while i < len(page.lines):
        line = page.lines[i]
        if i in starts:
            heading = starts[i]
            places = heading_places(page.lines[i : heading.end], heading.text)
            parts.append(Part("heading", heading.text, heading.path, size=line.size, lines=places))
            i = heading.end
            continue
        if line.figure:
            end = _run(page.lines, i, {}, attrgetter("figure"))
            parts.append(_figure(page.lines[i:end], words))
            i = end
            continue
        if line.column:
            end = _run(page.lines, i, starts, attrgetter("column"))
            parts.append(_table(page.lines[i:end], words))
            i = end
            continue
        end = _end_of_listing(page.lines, i, _run(page.lines, i, starts, attrgetter("mono"))) if line.mono else i
        is_code = end > i and _is_code(page.lines, i, end, parts, pitch, right)
        if not is_code and line.text[:1] == "<":
            end = _end_of_tags(page.lines, i, starts)
            is_code = end > i
        if is_code:
            parts.append(_code(page.lines[i:end]))
            i = end
            continue
        text = cleaned(LEADER.sub(" … ", line.text) if has_leader(line.text) else line.text)
        if line.text.endswith(SOFT_HYPHEN):
            text += SOFT_HYPHEN
        if text:
            _add(
                parts,
                page,
                i,
                text,
                words,
                right,
                pitch,
                is_entry=is_indexed and begins_entry(page.lines, i, parts[-1] if parts else None),
                is_ragged=i in ragged,
            )
        i += 1
    _tell_terms(parts, page.lines)
    _caption_figures(parts)
    _caption_tables(parts)
    for part in parts[:-1]:  # the last may continue on the next page
        part.text = part.text.replace(SOFT_HYPHEN, "-")
    return [part for part in parts if part.text]


def _end_of_listing(lines: Sequence[Line], start: int, end: int) -> int:
    """Return where lines in fixed pitch end at a name, in larger print left of them, of what is told below it."""
    left = lines[start].x0
    for at in range(start + 1, end):
        line, above = lines[at], lines[at - 1]
        if line.size > above.size + SAME_SIZE and line.x0 < left - line.size:
            return at
        left = min(left, line.x0)
    return end


def _end_of_tags(lines: Sequence[Line], start: int, starts: Collection[int]) -> int:
    """Return where lines of XML or HTML end that are not in fixed pitch, or `start` if they are too few.

    Most are tags, the first and the last among them; a few short lines may stand between two. One at least ends what
    another begins: names in angle brackets do not.
    """
    end, tags = start, 0
    for at in range(start, min(len(lines), start + MOST_TAGS)):
        line = lines[at]
        if at in starts or line.column or line.figure or line.x0 < lines[start].x0 - HANGING * line.size:
            break
        if _TAG.match(line.text) or line.text.endswith(">"):
            end, tags = at + 1, tags + 1
        elif at - end >= MAX_BETWEEN_TAGS or len(line.text) > LONGEST_BETWEEN_TAGS:
            break
    is_closed = any("</" in line.text or "/>" in line.text for line in lines[start:end])
    return end if is_closed and tags >= max(LEAST_TAGS, TAGS * (end - start)) else start


def _is_code(
    lines: Sequence[Line], i: int, end: int, parts: Sequence[Part], pitch: float, right: Sequence[float]
) -> bool:
    """Whether the lines from `i` to `end` in fixed pitch are a listing, and not the end of a paragraph or a lone name.

    A single line is a listing if there is more room above and below it than between lines, or if there was room for its
    first word above it, it is set further in than that line, and what stands below it is not.
    """
    above, line = lines[i - 1] if i else None, lines[i]
    if end - i == 1 and above is not None and 0 < line.block == above.block and not above.mono:
        return False  # tags tell that the paragraph goes on
    if end - i > 1:
        is_open = bool(parts) and parts[-1].is_open and parts[-1].full
        if above is None or not is_open:
            return True
        # The first line of a paragraph may be indented.
        is_centred = abs(line.x0 + line.x1 - above.x0 - above.x1) < CENTRED * line.size
        least = -HANGING if is_centred else -FARTHEST_LEFT
        is_below = (
            0 < line.y0 - above.y0 < NEXT_LINE * pitch + 1
            and least < (line.x0 - above.x0) / max(SMALLEST_EM, line.size) < HANGING
        )
        return not is_below
    below = lines[end] if end < len(lines) else None
    if (
        above is not None
        and i
        and above.x1 + WORDS_OF_ROOM * first_word(line) < right[i - 1]
        and _is_set_in(above, line, below)
    ):
        return True
    around = [abs(line.y0 - other.y0) for other in (above, below) if other is not None]
    return min(around, default=0.0) > LISTED * pitch


def _is_set_in(above: Line, line: Line, below: Line | None) -> bool:
    """Whether a line is set further in than those next to it, and stands between them."""
    least = line.x0 - HANGING * line.size
    if (
        above.column
        or above.mono
        or above.text.endswith((",", "("))
        or above.x0 > least
        or not 0 < line.y0 - above.y0 < NEAR_ABOVE * line.size
    ):
        return False
    return below is None or below.y0 < line.y0 or (below.x0 < least and not below.text[:1].islower())


def _figure(lines: Sequence[Line], words: Vocabulary) -> Part:
    """Keep what is written in a figure, line by line."""
    rows: list[str] = []
    places: list[LinePlace] = []
    at = 0
    for line in lines:
        if text := cleaned(words.rejoin_cut(line.text).replace(SOFT_HYPHEN, "-")):
            places += moved_by(at, places_in(line, text))
            rows.append(text)
            at += len(text) + 1
    return Part("figure", "\n".join(rows), lines=places)


def _tell_terms(parts: list[Part], lines: Sequence[Line]) -> None:
    """Put each term of a list of definitions before what is said of it, as one block: apart neither says anything.

    Terms are short lines at one edge, and what is said of each stands below it, indented.
    """
    pairs = [at for at in range(len(parts) - 1) if _is_defined(parts[at], parts[at + 1], lines)]
    edges = Counter((round(parts[at].begin), round(parts[at + 1].begin)) for at in pairs)
    for at in reversed(pairs):
        term, said = parts[at : at + 2]
        if edges[round(term.begin), round(said.begin)] < LEAST_TERMS:
            continue
        text = term.text.replace(SOFT_HYPHEN, "-")
        places = term.lines + moved_by(len(text) + 1, said.lines)
        parts[at : at + 2] = [replace(said, text=f"{text}\n{said.text}", begin=term.begin, hangs=0.0, lines=places)]


def _is_defined(term: Part, said: Part, lines: Sequence[Line]) -> bool:
    """Whether a part may be a term, and the next one what is said of it: all its lines are indented."""
    if not (term.kind == said.kind == "paragraph" and len(term.lines) == 1 and len(term.text) <= LONGEST_TERM):
        return False
    if sum(map(str.isalpha, term.text)) < LETTERS_OF_TERM:
        return False  # a mark or a number: what it marks stands beside it
    indent = said.begin - term.begin
    if ends_sentence(term.text) or not HANGING * term.size < indent < FARTHEST_INDENT * max(SMALLEST_EM, term.size):
        return False
    if len(said.lines) == 1:
        return True
    starts = [
        below.x0
        for line, below in pairwise(lines)
        if abs(line.x0 - said.begin) < 1 and said.text.startswith(cleaned(line.text))
    ]
    return bool(starts) and all(abs(start - said.begin) < 1 for start in starts)


def _caption_figures(parts: list[Part]) -> None:
    """Put each figure's caption before what is written in it, as one block: they are found together."""
    for at in range(len(parts) - 1, 0, -1):
        figure, caption = parts[at - 1], parts[at]
        if figure.kind != "figure" or caption.kind not in {"paragraph", "list_item", "heading"} or not figure.text:
            continue
        text = caption.text.replace(SOFT_HYPHEN, "-")
        lines = caption.lines + moved_by(len(text) + 1, figure.lines)
        parts[at - 1 : at + 1] = [Part("figure", f"{text}\n{figure.text}", size=caption.size, lines=lines)]


def _caption_tables(parts: Sequence[Part]) -> None:
    """Put the lines that introduce a table before its header: what it is called, its period and its unit.

    Where each table of a page has its caption below it, that is the one.
    """
    tables = [at for at, part in enumerate(parts) if part.kind == "table"]
    are_below = all(at + 1 < len(parts) and _CAPTION.match(parts[at + 1].text) for at in tables)
    if tables and tables[0] and _CAPTION.match(parts[tables[0] - 1].text):
        are_below = False  # "Table 4. Fees" above it, and "Table 4 shows that …" below
    for at in tables:
        table = parts[at]
        most = TAGGED_PARTS if at and parts[at - 1].is_tagged else CAPTION_PARTS
        above = list(takewhile(_introduces, reversed(parts[max(0, at - most) : at])))
        if are_below:
            above = [parts[at + 1], *takewhile(lambda part: not _CAPTION.match(part.text), above)]
        ends = [n for n in range(1, len(above)) if not are_below and _ends_section(parts, at - 1 - n)]
        caption = [" ".join(part.text.split()) for part in above[: min(ends, default=len(above))]]
        table.header = "\n".join(filter(None, [*reversed(caption), table.header]))


def _ends_section(parts: Sequence[Part], at: int) -> bool:
    """Whether a part ends what stands above a heading, and neither introduces it nor is a line of the titles there."""
    part, above = parts[at], parts[at - 1] if at else None
    is_last = parts[at + 1].kind == "heading" != part.kind
    return is_last and above is not None and above.kind != "heading" and not part.text.endswith(":")


def _introduces(part: Part) -> bool:
    """Whether a part may belong to the caption of the table below: it is short, and no whole sentence."""
    is_line = part.kind in {"heading", "paragraph"} and len(part.text) <= CAPTION_CHARACTERS
    return is_line and (part.kind == "heading" or not part.text.endswith((".", ";", ",")))


def page_of(raw: RawPage, parts: list[Part], *, continues: bool) -> Page:
    """Join parts to a page: list items on lines of their own, everything else separated by a blank line."""
    pieces: list[str] = []
    blocks: list[Block] = []
    lines: list[LinePlace] = []
    at = 0
    before: Part | None = None
    for part in parts:
        if before:
            separator = "\n" if before.kind == part.kind == "list_item" else "\n\n"
            pieces.append(separator)
            at += len(separator)
        text = part.text.replace(SOFT_HYPHEN, "-")
        blocks.append(Block(part.kind, at, at + len(text), part.section, part.header))
        lines += moved_by(at, part.lines or [(0, "")])
        pieces.append(text)
        at += len(text)
        before = part
    label, is_continued = raw.label, continues and bool(blocks)
    if not any(place for _, place in lines):
        return Page(raw.number, "".join(pieces), label, tuple(blocks), is_continued)
    return Page(raw.number, "".join(pieces), label, tuple(blocks), is_continued, tuple(lines), *raw.shown_size)


def _add(
    parts: list[Part],
    page: RawPage,
    i: int,
    text: str,
    words: Vocabulary,
    right: list[float],
    pitch: float,
    *,
    is_entry: bool,
    is_ragged: bool,
) -> None:
    """Append a line of prose to the part before it, or begin a new one, as where it `is_entry` of an index.

    One that `is_ragged` belongs to no other line but one that cuts a word.
    """
    line = page.lines[i]
    full = line.x1 >= right[i] - SHORT_OF_EDGE * max(1.0, right[i] - line.x0)
    last = parts[-1] if parts else None
    places = places_in(line, text)
    begins = line.level == ITEM and (page.lines[i - 1].block < line.block if i else text[0].isupper())
    item = is_entry or is_item(page.lines, i, None if begins else last, text)
    if begins and not item and text[0].isalpha():  # its mark is not written, or a picture
        item, text, places = True, MARK + text, [(0, ""), *moved_by(len(MARK), places)]
    if (
        last
        and i
        and last.kind in {"paragraph", "list_item"}
        and not item
        and not (is_ragged and not ends_hyphenated(last.text))
        and joins(page, i, last, pitch, right[i - 1])
    ):
        if len(last.lines) == 1 and line.x0 > page.lines[i - 1].x0 + HANGING * line.size:
            last.hangs = page.lines[i - 1].x0
        last.text = join(last.text, text, words)
        last.lines += moved_by(len(last.text) - len(text), places)
        last.full = full
        return
    kind: Kind = "list_item" if item else "paragraph"
    told = line.block > 0
    parts.append(
        Part(kind, text, size=line.size, full=full, lines=places, begin=line.x0, leads=line.leads, is_tagged=told)
    )


def _run(lines: list[Line], start: int, starts: dict[int, Heading], key: Callable[[Line], object]) -> int:
    end = start + 1
    while end < len(lines) and end not in starts and key(lines[end]) == key(lines[start]):
        end += 1
    return end


def _table(lines: list[Line], words: Vocabulary) -> Part:
    rows: list[str] = []
    places: list[LinePlace] = []
    at = named = 0
    for line in lines:
        if row := cleaned(words.rejoin_cut(line.text)):
            named += line.names and named == len(rows)
            places += moved_by(at, places_in(line, row))
            rows.append(row)
            at += len(row) + 1
    bold = [line.bold for line in lines if line.cells > 1]
    of_code = [line.apart for line in lines if line.cells > 1]
    is_key = of_code[:1] == [True] and 2 * sum(of_code) > len(of_code)  # names of columns are not in fixed pitch
    is_key = is_key or (any(line.leads for line in lines) and not _names_figures(rows))
    head = [] if is_key else _head(rows, is_bold=bold[:1] == [True] and not all(bold))
    if named and SEPARATOR in rows[named - 1]:
        head = rows[:named] + list(takewhile(_tells_periods, head[named:]))
    if head and SEPARATOR in head[-1]:
        group = row_cells(head[-1])[0]
        if _begins_group(group, rows[len(head) :]):
            head[-1] = head[-1][len(group) :].lstrip()
    return Part("table", "\n".join(rows), header="\n".join(head), lines=places)


def _begins_group(label: str, rows: Sequence[str]) -> bool:
    """Whether the first cell of a header heads the rows below it alone: others do, with another number."""
    pattern = _DIGITS.sub("0", label)
    return label != pattern != "0" and any(_DIGITS.sub("0", row) == pattern for row in rows if row != label)


def _head(rows: list[str], *, is_bold: bool) -> list[str]:
    """Return a table's header: the rows above the first with a figure, or up to the first of cells if none has one.

    Where each label ends with a colon, the rows are fields.
    """
    cells = [row_cells(row) for row in rows]
    labels = [row[0] for row in cells if len(row) > 1]
    heads = next((row for row in cells if len(row) > 1), [])
    if all(label.endswith(":") for label in labels) and not all(cell.endswith(":") for cell in heads):
        return []
    has_figures = any(is_figure(cell) for row in cells for cell in row[1:])
    head = rows[: body_of(cells)] if has_figures else list(rows)
    first = next((at for at, row in enumerate(cells) if len(row) > 1), 0)
    if has_figures and not _holds_sentence(cells[first]):
        head = list(takewhile(lambda row: not _holds_sentence(row_cells(row)), head))
    head = head[: _first_with_values(cells, first, len(head))]
    if any(len(row) > 1 for row in cells[: len(head)]):
        # Dates look like figures: "31.3.2003 | 31.3.2002" below "For the year ended".
        head += takewhile(_is_of_dates, rows[len(head) :])
    while head and SEPARATOR not in head[-1] and not UNIT.match(head[-1]):
        head.pop()  # a label that begins the first group of rows
    titles = sum(SEPARATOR not in row for row in head)
    if 0 < len(head) - titles <= HEADER_ROWS and titles <= HEADER_TITLES and len(head) < len(rows):
        return head
    if first >= HEADER_TITLES or first + 2 >= len(rows) or any(map(_has_value, cells[first])):
        return []
    return rows[: first + 1] if is_bold or _names_columns(cells[first]) else []


def _first_with_values(cells: Sequence[Sequence[str]], first: int, end: int) -> int:
    """Return the first row below the `first` of cells that has a value of the rows from `end` on, or `end`.

    Names do not recur in their columns: "daily" and "weekly" are values, though words.
    """
    columns = list(zip_longest(*cells[end:], fillvalue=""))
    for at in range(first + 1, end):
        if any(
            len(cell) > 1 and cell in below for cell, below in islice(zip(cells[at], columns, strict=False), 1, None)
        ):
            return at
    return end


def _tells_periods(row: str) -> bool:
    """Whether a row has periods or units alone behind its first cell, as below names that go over several columns."""
    names = [cell for cell in row_cells(row)[1:] if cell]
    return bool(names) and all(YEAR.search(name) or UNIT.match(name) for name in names)


def _is_of_dates(row: str) -> bool:
    """Whether a row has no label, and dates of different days alone behind it: they name the columns below."""
    label, *names = row_cells(row)
    dates = [name for name in names if name]
    return not label and 1 < len(dates) == len(set(dates)) and all(map(_DATE.fullmatch, dates))


def _names_figures(rows: Sequence[str]) -> bool:
    """Whether a first row has words or years where most rows below it have figures alone."""
    first, *below = [cells for row in rows if len(cells := row_cells(row)) > 1]
    columns = [[cells[at] for cells in below if len(cells) == len(first)] for at in range(1, len(first))]
    names = zip(first[1:], columns, strict=True)
    return any(not is_figure(name) and 2 * sum(map(is_figure, column)) > len(column) for name, column in names)


def _names_columns(row: Sequence[str]) -> bool:
    """Whether a row of words may name columns: behind its first cell it holds no sentence, nor what the first does."""
    is_told = len(row) == 2 and row[1][:1].islower() and " " in row[1]  # "tab | switch sides"
    return not (is_told or _holds_sentence(row) or any(len(cell) > MAX_HEADER_CHARACTERS for cell in row[1:]))


def _holds_sentence(row: Sequence[str]) -> bool:
    """Whether a row holds a sentence behind its first cell."""
    return any(cell.endswith(".") and cell.count(" ") >= WORDS_OF_SENTENCE for cell in row[1:])


def _has_value(cell: str) -> bool:
    return is_number(cell) or is_figure(cell)


def cells(table: str) -> int:
    """Return how many columns a table has: the commonest number of cells of its rows."""
    return Counter(len(row_cells(row)) for row in table.split("\n")).most_common(1)[0][0]


def _code(lines: list[Line]) -> Part:
    """Keep lines, and their indentation in characters of the font."""
    left = min(line.x0 for line in lines)
    rows: list[str] = []
    places: list[LinePlace] = []
    at = 0
    for line in lines:
        width = (line.x1 - line.x0) / max(1, len(line.text))
        indent = min(MAX_INDENT, round((line.x0 - left) / width)) if width > 0 else 0
        text = cleaned(line.text.replace(SOFT_HYPHEN, "-"), keep_spaces=True)
        if text.strip():
            rows.append(" " * indent + text)
            places += moved_by(at + indent, places_in(line, text))
            at += len(rows[-1]) + 1
    return Part("code", "\n".join(rows), lines=places)
