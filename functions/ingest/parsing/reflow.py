"""From lines to blocks: paragraphs joined; lists, tables and code kept line by line."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from operator import attrgetter
from typing import Literal

from functions.ingest.parsing.headings import Heading
from functions.ingest.parsing.tables import BULLETS, is_figure, is_number
from functions.ingest.parsing.text import cleaned, is_cjk
from functions.ingest.parsing.vocabulary import ANDS, LONGEST, Vocabulary, ends_hyphenated
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN
from shared.models import Block, LinePlace, Page
from shared.rects import CORNERS, number_at, with_words, without_words, word_count
from shared.text import SEPARATOR, row_cells

Kind = Literal["heading", "paragraph", "list_item", "table", "code", "figure"]

_BULLETS = "".join(sorted(BULLETS))
_BULLET = re.compile(rf"^(?:[o§]\s+[A-Z]|[·→*∙–—{_BULLETS}-]\s+|[{_BULLETS}]\S)")
_ITEM = re.compile(
    r"^(?:\d{1,3}[.)]|\(\d{1,3}\)|[a-zA-Z][.)]|\(([a-zA-Z])\1?\)|[ivxIVX]{1,5}[.)]|\([ivxIVX]{1,5}\)|\[\d{1,3}\])\s+\S"
)
_END = re.compile(r"[.!?:;…。！？；：؟।][)\]\"'”’»]*$")
_LEADER = re.compile(r"(?:\. ?){4,}|…{2,}|(?:_ ?){5,}")
_NUMBERED = re.compile(r"\(?(\d{1,3})[.)] ")
_GLUED = re.compile(r"(\d{1,2})(?:[^\W\d_]{3}|[A-Z])")
"""A note whose mark was raised: "2https://…" above "3https://…"."""
_SIGNED = re.compile(r"(?:By: ?)?/s/ ")
"""A signature, below which the name is printed."""
_FIELD = re.compile(r"[^\W\d_][^\s:.,]*(?: [^\s:.,]+){0,3}: .{1,40}(?<![.,;!?])")
"""A line of a form: "Tax code: 1257L", "Ordered by: Ann Lee"."""
_INDEXED = re.compile(r"[^\W\d].*?,\s?\d{1,4}(?:[-–]\d{1,4})?")
"""An entry of an index, up to a page."""
_ENDS_ENTRY = re.compile(r",\s?\d{1,4}(?:[-–]\d{1,4})?$")
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DATE = re.compile(rf"\b(?:{_MONTHS})\.?(?: \d{{1,2}})?, \d{{4}}$", re.IGNORECASE)
"""The year of a date is no page: "July 1, 2021"."""
_PARENTHESES = re.compile(r"\([^\W\d_][^()]*\)[,;]?\s([^\W\d_])")
"""A word in parentheses that begins a line, and the first letter behind it."""
_CUT_RANGE = re.compile(r"\d[-–\u00ad]$")
"""How a line ends within a range, if a digit follows: "430–"."""
_CUT_CODE = re.compile(r"(?<![\w.,–-])\d{1,2}[-\u00ad]$")
_CODE_END = re.compile(r"[A-Z]\b|([^\W\d_A-Z]{3,})\b(?! \d)")
"""How a line ends within a compound, and what follows there: "10-" and "K", or "30-" and "day"; but the hyphen in "5-"
before "bis 12-Jährige" or "tot 10-jarigen" stands for the rest of a word."""
_SCHEME = re.compile(r"\b(?:https?|ftp):$", re.IGNORECASE)
MIN_INDEXED = 8
INDEXED_SHARE = 0.4
SUB_ENTRY = 2.5
ENTRIES = 4
"""Entries of a page that is an index, and share of its lines; how far those below another are indented, in font sizes;
sentences of one line each that are entries of a list."""
FIELD_CHARACTERS = 60
"""Characters of such a line, and of the one above it, at most; those of running text are longer."""
LITTLE_WORD = 3
"""Letters of a last word up to which the sentence goes on."""
_NOTE = re.compile(r"(\d{1,2}) +[^\W\d]")
_JOINT = re.compile(r"-|[ |]*")
"""What stands between two lines of a table row's cells: the hyphen that joins them, a space, or borders of cells."""
LONGEST_JOINT = 2
"""Characters between two lines of a heading: a space, or the hyphen of a word that is written with one."""
_DASHES = "-–—"
HANGING = 0.8
"""How much further right than the first line of an entry the others begin, in font sizes."""
SET_OFF = 0.15
"""Room between two entries beyond that between lines of one, in font sizes."""
FAR = 0.4
"""The same from which on what follows a sentence begins anew, however full its line was."""
EVEN = 0.05
"""How much the distances of a paragraph's lines may differ, in font sizes."""
TIGHT = 0.5
"""Room between two lines of an item, in font sizes, under which one goes on though a sentence has ended."""
LISTED = 1.2
"""Room around a single line of code, from line to line, as a share of the page's usual one."""
OUTDENT = 1.5
"""How much further left than a line that is not full the next one begins, in font sizes, that does not go on in it."""
MIN_JUSTIFIED = 3
"""Lines of a paragraph from which on the two above its last tell where all end."""
CENTRED_APART = 0.6
"""Room between centred lines that are no lines of one text, in font sizes."""
MIN_NARROW = 3
GOING_ON = 0.15
"""Lines nearby that end before something beside them, so that they are measured by each other, and the share of them
that begins in lower case: that of running text."""
LEAST_FULL = 20
"""Characters of a line that may be full although others reach further; shorter ones are those of a list."""
MAX_BESIDE = 500
"""Lines of a page up to which what stands beside a line is looked for; bounds a quadratic cost."""
HEADER_ROWS = 4
HEADER_TITLES = 5
"""Rows of several cells in a header at most, and of one."""
CAPTION_PARTS = 3
CAPTION_CHARACTERS = 200
"""Headings and paragraphs above a table, and their length, that may be its caption."""


@dataclass(slots=True)
class Part:
    """A block in the making. `full`: its last line reaches the right edge; `lines` says where each begins in `text`.

    `begin` is where its first line begins; `hangs` is that where it is on the left of all others, else 0.
    """

    kind: Kind
    text: str
    section: str = ""
    header: str = ""
    size: float = 0.0
    full: bool = False
    hangs: float = 0.0
    begin: float = 0.0
    lines: list[LinePlace] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether the paragraph may continue: its last sentence has not ended."""
        return self.kind in {"paragraph", "list_item"} and not _ends_sentence(self.text)


def _ends_sentence(text: str) -> bool:
    return _END.search(text[-8:]) is not None


def _has_leader(text: str) -> bool:
    """Whether a line has dots or strokes that lead to a figure; few need the slow pattern to tell."""
    may_have = ".." in text or ". ." in text or "…" in text or "_" in text
    return may_have and _LEADER.search(text) is not None


def reflow(page: RawPage, headings: list[Heading], words: Vocabulary) -> list[Part]:
    """Make the parts of a page. Lines of one paragraph become one line, words cut by a line's end whole again."""
    parts: list[Part] = []
    starts = {heading.start: heading for heading in headings}
    right = _right_edges(page.lines)
    pitch = _pitch(page.lines)
    is_index = _is_index(page.lines)
    i = 0
    while i < len(page.lines):
        line = page.lines[i]
        if i in starts:
            heading = starts[i]
            places = _heading_places(page.lines[i : heading.end], heading.text)
            parts.append(Part("heading", heading.text, heading.path, size=line.size, lines=places))
            i = heading.end
            continue
        if line.figure:
            end = _run(page.lines, i, {}, attrgetter("figure"))
            parts.append(_figure(page.lines[i:end]))
            i = end
            continue
        if line.column:
            end = _run(page.lines, i, starts, attrgetter("column"))
            parts.append(_table(page.lines[i:end], words))
            i = end
            continue
        end = _run(page.lines, i, starts, attrgetter("mono")) if line.mono else i
        if end > i and _is_code(page.lines, i, end, parts, pitch):
            parts.append(_code(page.lines[i:end]))
            i = end
            continue
        text = cleaned(_LEADER.sub(" … ", line.text) if _has_leader(line.text) else line.text)
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
                is_entry=is_index and _begins_entry(page.lines, i, parts[-1] if parts else None),
            )
        i += 1
    _caption_figures(parts)
    _caption_tables(parts)
    for part in parts[:-1]:  # the last may continue on the next page
        part.text = part.text.replace(SOFT_HYPHEN, "-")
    return [part for part in parts if part.text]


def _is_index(lines: Sequence[Line]) -> bool:
    """Whether a page is part of an index: many of its lines end in numbers of pages."""
    texts = [line.text for line in lines if not line.column]
    indexed = sum(map(_is_indexed, texts))
    return indexed >= MIN_INDEXED and indexed > INDEXED_SHARE * len(texts)


def _is_indexed(text: str) -> bool:
    may_be = text[-1:].isdecimal() and len(text) <= FIELD_CHARACTERS
    return may_be and _INDEXED.match(text) is not None and not _DATE.search(text)


def _begins_entry(lines: Sequence[Line], i: int, last: Part | None) -> bool:
    """Whether a line of an index begins an entry: below one that has its page, or at the edge of the one above it.

    In small letters only below one with its page or, if it has one itself, first or under a short one: else a sentence
    goes on.
    """
    line = lines[i]
    if line.text[:1].isdecimal() or (last is not None and ends_hyphenated(last.text)):
        return False
    if line.text[:1].islower() and not (last is not None and _ends_entry(last.text)):
        is_first = not i or last is None or last.kind == "heading" or len(last.text) == 1
        if not _is_indexed(line.text) or not (is_first or _is_under(line, lines[i - 1], last)):
            return False
    if not i or last is None or lines[i - 1].text[-1:].isdecimal():
        return True
    if line.y0 > lines[i - 1].y0 and line.x0 < last.begin + 1:
        return True
    return _is_indexed(line.text) and line.x0 - last.begin < SUB_ENTRY * line.size


def _is_under(line: Line, above: Line, last: Part | None) -> bool:
    """Whether a line is indented under a part of one line that had room, as the entries of a word in an index are."""
    return last is not None and len(last.lines) == 1 and not last.full and line.x0 > above.x0 + 1


def _ends_entry(text: str) -> bool:
    """Whether a text ends in a page, and not in a date."""
    return _ENDS_ENTRY.search(text[-12:]) is not None and not _DATE.search(text[-20:])


def _is_code(lines: Sequence[Line], i: int, end: int, parts: Sequence[Part], pitch: float) -> bool:
    """Whether the lines from `i` to `end` in fixed pitch are a listing, and not the end of a paragraph or a lone name.

    A single line is a listing if there is more room above and below it than between lines.
    """
    above, line = lines[i - 1] if i else None, lines[i]
    if end - i > 1:
        is_open = bool(parts) and parts[-1].is_open and parts[-1].full
        if above is None or not is_open:
            return True
        is_below = 0 < line.y0 - above.y0 < 1.4 * pitch + 1 and abs(line.x0 - above.x0) < HANGING * line.size
        return not is_below
    below = lines[end] if end < len(lines) else None
    around = [abs(line.y0 - other.y0) for other in (above, below) if other is not None]
    return min(around, default=0.0) > LISTED * pitch


def _figure(lines: Sequence[Line]) -> Part:
    """Keep what is written in a figure, line by line."""
    rows: list[str] = []
    places: list[LinePlace] = []
    at = 0
    for line in lines:
        if text := cleaned(line.text.replace(SOFT_HYPHEN, "-")):
            places += moved_by(at, places_in(line, text))
            rows.append(text)
            at += len(text) + 1
    return Part("figure", "\n".join(rows), lines=places)


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
    """Put the lines that introduce a table before its header: what it is called, its period and its unit."""
    for at, table in enumerate(parts):
        if table.kind == "table":
            above = takewhile(_introduces, reversed(parts[max(0, at - CAPTION_PARTS) : at]))
            caption = [" ".join(part.text.split()) for part in above]
            table.header = "\n".join(filter(None, [*reversed(caption), table.header]))


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
) -> None:
    """Append a line of prose to the part before it, or begin a new one, as where it `is_entry` of an index."""
    line = page.lines[i]
    full = line.x1 >= right[i] - 0.12 * max(1.0, right[i] - line.x0)
    last = parts[-1] if parts else None
    places = places_in(line, text)
    item = (
        is_entry
        or _is_next_note(last, text)
        or _is_next_item(last, line, text)
        or (_BULLET.match(text) and not (text[0] in _DASHES and _mid_sentence(last) and _is_only_dash(page.lines, i)))
        or _has_leader(line.text)
        or (
            _ITEM.match(text)
            and not _mid_sentence(last)
            and not _goes_on_inside(page.lines, i, last)
            and not _is_within(page.lines, i, last)
        )
    )
    if (
        last
        and i
        and last.kind in {"paragraph", "list_item"}
        and not item
        and _joins(page, i, last, pitch, right[i - 1])
    ):
        if len(last.lines) == 1 and line.x0 > page.lines[i - 1].x0 + HANGING * line.size:
            last.hangs = page.lines[i - 1].x0
        last.text = join(last.text, text, words)
        last.lines += moved_by(len(last.text) - len(text), places)
        last.full = full
        return
    kind: Kind = "list_item" if item else "paragraph"
    parts.append(Part(kind, text, size=line.size, full=full, lines=places, begin=line.x0))


def _is_next_note(last: Part | None, text: str) -> bool:
    """Whether a line begins the note behind the one that has just ended: "2 Derivatives …" after "1 Debts …"."""
    return last is not None and not last.is_open and _counts_on(_NOTE, last.text, text)


def _is_next_item(last: Part | None, line: Line, text: str) -> bool:
    """Whether a line begins the item behind the one above it, however that ends: "3. …" below "2. RFC, http://…"."""
    if last is None or abs(line.x0 - last.begin) >= 1 or _goes_on(last.text):
        return False
    return _counts_on(_NUMBERED, last.text, text) or _counts_on(_GLUED, last.text, text)


def _counts_on(numbered: re.Pattern[str], before: str, text: str) -> bool:
    """Whether two texts begin with a number, and the second one's is the next."""
    number, above = numbered.match(text), numbered.match(before)
    return number is not None and above is not None and int(number[1]) == int(above[1]) + 1


def _mid_sentence(last: Part | None) -> bool:
    """Whether "2." or "R." at a line's begin is part of a sentence rather than the mark of an item."""
    return last is not None and last.is_open and last.full and not last.text.endswith((",", ";", " and", " or"))


def _goes_on_inside(lines: Sequence[Line], i: int, last: Part | None) -> bool:
    """Whether a line begins under the text of the item above it, which had no room: "(…," / "4) in the format"."""
    if last is None or last.kind != "list_item" or not (last.is_open and last.full and len(last.lines) == 1):
        return False
    return HANGING < (lines[i].x0 - lines[i - 1].x0) / max(4.0, lines[i].size) < 3


def _is_within(lines: Sequence[Line], i: int, last: Part | None) -> bool:
    """Whether what looks like an item's mark is a word of a sentence: "…, and subject to payment," / "(A) such …".

    It stands as near as the lines above it and at their edge, where the part's first line, and so an item, does not.
    """
    if last is None or not (last.is_open and last.full and len(last.lines) > 2 and i > 2):
        return False
    above, line = lines[i - 1], lines[i]
    is_at_edge = abs(line.x0 - above.x0) < 1 and abs(line.x0 - lines[i - 2].x0) < 1
    drop = above.y0 - lines[i - 2].y0
    return (
        is_at_edge
        and abs(line.y0 - above.y0 - drop) < EVEN * line.size
        and abs(line.x0 - last.begin) > HANGING * line.size
    )


def _is_only_dash(lines: Sequence[Line], i: int) -> bool:
    """Whether no other line of the page begins with a dash at the same edge: this one marks no item of a list."""
    dash, edge = lines[i].text[0], lines[i].x0
    return not any(n != i and other.text[:1] == dash and abs(other.x0 - edge) < 3 for n, other in enumerate(lines))


def _hangs(lines: Sequence[Line], i: int) -> bool:
    """Whether a line indented under the first line of an entry goes on in it, as in lists of references.

    An entry is set off from what is above it by more room than is between its own lines, or by its left edge.
    """
    above, line = lines[i - 1], lines[i]
    if above.bold != line.bold or abs(above.size - line.size) > 0.4:
        return False
    drop = line.y0 - above.y0
    before, below = (lines[i - 2] if i > 1 else None), (lines[i + 1] if i + 1 < len(lines) else None)

    def is_set_off(first: Line | None, entry: Line) -> bool:
        return first is not None and not first.column and entry.y0 - first.y0 > drop + SET_OFF * line.size

    def is_indented(other: Line | None) -> bool:
        return other is not None and not other.column and abs(other.x0 - line.x0) < 0.3 * line.size

    begins = is_set_off(before, above) or (is_indented(before) and before is not None and before.y0 < above.y0)
    if below is None or below.y0 < line.y0:
        return begins
    if is_indented(below) and below.y0 - line.y0 < drop + SET_OFF * line.size:
        return begins or before is None or before.y0 > above.y0
    return begins and abs(below.x0 - above.x0) < 0.3 * line.size and is_set_off(line, below)


def _joins(page: RawPage, i: int, last: Part, pitch: float, edge: float) -> bool:
    """Whether line `i` continues the part before it; `edge` is the right one of the line above."""
    above, line = page.lines[i - 1], page.lines[i]
    first = cleaned(line.text)[:1]
    if _has_leader(above.text) or not line.cells or not above.cells or _is_field(line, above, last):
        return False
    if ends_hyphenated(last.text):
        below = line.y0 > above.y0 - 2 and abs(line.size - above.size) < 0.5
        return first.islower() or (below and last.text.endswith(SOFT_HYPHEN))
    if above.bold != line.bold and abs(above.size - line.size) > 0.4:
        return False
    if line.size and above.size and not 0.9 < line.size / above.size < 1.12 and not first.islower():
        return False
    ended = _ends_sentence(last.text)
    if not page.has_positions or line.y0 < above.y0 - 2:
        # Another column, or no positions: only the text decides.
        return not ended and (first.islower() or last.full)
    drop = line.y0 - above.y0
    if drop > 1.4 * max(pitch, 0.9 * (above.y1 - above.y0)) + 1:
        return not ended and first.islower() and drop < 2.2 * pitch
    if line.x0 > above.x1 and line.y0 > above.y1 - 0.3 * (above.y1 - above.y0):
        return False  # it stands below the line, and right of all of it
    indent = line.x0 - above.x0
    em = max(4.0, line.size)
    had_room = above.x1 + _first_word(line) + 0.25 * em < edge
    more = drop - _drop_above(page.lines, i, last, pitch)
    is_set_off = more > SET_OFF * em
    if (ended and more > FAR * em and not first.islower()) or _SIGNED.match(above.text):
        return False
    if last.kind == "list_item":
        is_tight = not is_set_off and line.y0 - above.y1 < TIGHT * em
        is_under_text = last.hangs and abs(indent) < HANGING * em and is_tight and above.bold == line.bold
        is_under_text = is_under_text and last.text[-1] != "?"  # what answers a question begins anew
        if not last.full and (ended or (above.bold and not line.bold)) and not is_under_text:
            return False
        if not last.full and len(last.lines) == 1 and indent < 0.4 * em and not first.islower() and had_room:
            return False  # a paragraph at the edge of the item's mark
        return indent > -0.4 * em or (not ended and (first.islower() or last.full))
    if last.hangs and line.x0 - last.hangs < 0.3 * em < above.x0 - last.hangs:
        return False
    begins = last.full and len(last.lines) == 1 and last.text[-1] != "?"
    if HANGING * em < indent < 6 * em and begins and _hangs(page.lines, i):
        return True
    if HANGING * em < indent < 6 * em and (ended or not last.full):
        return False
    if _is_centred_apart(above, line):
        return False
    if ended and (_begins_hanging(page.lines, i) or _is_one_of_many(page.lines, i)):
        return False
    if ended and is_set_off and not first.islower() and (had_room or _is_even(page.lines, i, last)):
        return False
    is_centred = abs(line.x0 + line.x1 - above.x0 - above.x1) < 2 * em
    if ended and had_room and not first.islower() and _is_justified(page.lines, i, last, edge):
        return False
    if last.full:
        return not (ended and is_set_off) or indent > -OUTDENT * em or is_centred
    if indent < -OUTDENT * em and not is_centred:
        return False
    # A short line ends a paragraph, unless the next one continues in the middle of a sentence.
    inside = _PARENTHESES.match(line.text) if first == "(" and above.text[-1:].isalpha() and not had_room else None
    goes_on = inside is not None and inside[1].islower()
    return not ended and (first.islower() or goes_on or is_cjk(first))


def _is_justified(lines: Sequence[Line], i: int, last: Part, edge: float) -> bool:
    """Whether the two lines above a part's last one end at the edge, so that one with room for another word ends it."""
    if len(last.lines) < MIN_JUSTIFIED or i < MIN_JUSTIFIED:
        return False
    return all(abs(line.x1 - edge) < 1 for line in lines[i - MIN_JUSTIFIED : i - 1])


def _begins_hanging(lines: Sequence[Line], i: int) -> bool:
    """Whether a line begins an entry of a list of references: the next one, which goes on in it, is indented.

    It is as near as the line above, and so is what follows: else it is a formula or a quotation.
    """
    if i + 2 >= len(lines):
        return False
    line, below, after = lines[i : i + 3]
    em = max(4.0, line.size)
    indent, drop = below.x0 - line.x0, line.y0 - lines[i - 1].y0
    if not HANGING * em < indent < 6 * em or _ends_sentence(line.text) or line.x0 > lines[i - 1].x0 + 1:
        return False
    if not 0 < below.y0 - line.y0 < drop + EVEN * em or abs(below.size - line.size) > 0.4 or below.column or below.mono:
        return False
    return after.x0 < below.x0 + 1 and 0 < after.y0 - below.y0 < 2 * drop


def _is_one_of_many(lines: Sequence[Line], i: int) -> bool:
    """Whether a line is one of several at one edge that each end a sentence, and each at another place."""
    em = max(4.0, lines[i].size)
    for start in range(max(0, i + 1 - ENTRIES), min(i, len(lines) - ENTRIES + 1)):
        some = lines[start : start + ENTRIES]
        drops = [below.y0 - line.y0 for line, below in pairwise(some)]
        ends = sorted([line.x1 for line in some])
        if (
            all(_ends_sentence(line.text) and abs(line.x0 - lines[i].x0) < 1 and not line.column for line in some)
            and 0 < min(drops) > max(drops) - EVEN * em
            and all(b - a > 0.1 for a, b in pairwise(ends))
        ):
            return True
    return False


def _is_field(line: Line, above: Line, last: Part) -> bool:
    """Whether a line is the field of a form: below another field, or with a figure where no sentence goes on."""
    is_short = max(len(line.text), len(above.text)) <= FIELD_CHARACTERS
    if not is_short or not line.text[:1].isupper() or _FIELD.fullmatch(line.text) is None:
        return False
    has_figure = any(map(str.isdigit, line.text)) and not (last.full and last.is_open)
    return has_figure or (_FIELD.fullmatch(above.text) is not None and not _goes_on(above.text))


def _goes_on(text: str) -> bool:
    """Whether a text ends in a little word, as "divided views of": its sentence goes on."""
    *_, last = text.split() or [""]
    return last.islower() and len(last) <= LITTLE_WORD


def _drop_above(lines: Sequence[Line], i: int, last: Part, pitch: float) -> float:
    """Return the distance between the last two lines of a part that may go on in line `i`; the page's for one line."""
    drop = lines[i - 1].y0 - lines[i - 2].y0 if len(last.lines) > 1 and i > 1 else 0.0
    return drop if drop > 0 else pitch


def _is_even(lines: Sequence[Line], i: int, last: Part) -> bool:
    """Whether the lines below line `i` are as far from each other as those of the part above it."""
    if len(last.lines) == 1 or i < 2 or i + 1 == len(lines) or lines[i + 1].column:
        return False
    below, above = lines[i + 1].y0 - lines[i].y0, lines[i - 1].y0 - lines[i - 2].y0
    return abs(below - above) < EVEN * lines[i].size and lines[i + 1].size == lines[i].size


def _is_centred_apart(above: Line, line: Line) -> bool:
    """Whether two lines are centred, neither of them as wide as the other, and there is room between them."""
    em = max(4.0, line.size)
    is_centred = abs(line.x0 + line.x1 - above.x0 - above.x1) < em and abs(line.x0 - above.x0) > 2 * em
    return is_centred and line.y0 - above.y1 > CENTRED_APART * em


def join(before: str, after: str, words: Vocabulary) -> str:
    """Join two lines of one paragraph: with a space, without one between Han or kana, or by rejoining a cut word."""
    if ends_hyphenated(before):
        return words.join_hyphenated(before, after)
    if before and after and is_cjk(before[-1]) and is_cjk(after[0]):
        return before + after
    if after[:1].isdecimal() and _CUT_RANGE.search(before[-2:]):
        return before + after
    end = _CODE_END.match(after[:LONGEST]) if _CUT_CODE.search(before[-4:]) else None
    if end and end[1] not in ANDS:
        return before + after
    if before.endswith("/") and "://" in before.rsplit(" ", 1)[-1]:
        return before + after
    if after[:2] == "//" and not after[2:3].isspace() and _SCHEME.search(before[-8:]):
        return before + after
    return f"{before} {after}"


def _run(lines: list[Line], start: int, starts: dict[int, Heading], key: Callable[[Line], object]) -> int:
    end = start + 1
    while end < len(lines) and end not in starts and key(lines[end]) == key(lines[start]):
        end += 1
    return end


def _table(lines: list[Line], words: Vocabulary) -> Part:
    rows: list[str] = []
    places: list[LinePlace] = []
    at = 0
    for line in lines:
        if row := cleaned(words.rejoin_cut(line.text)):
            places += moved_by(at, places_in(line, row))
            rows.append(row)
            at += len(row) + 1
    head = _head(rows)
    return Part("table", "\n".join(rows), header="\n".join(head), lines=places)


def _head(rows: list[str]) -> list[str]:
    """Return a table's header: the rows above the first with a figure, or up to the first of cells if none has one."""
    above = takewhile(lambda row: not any(map(is_figure, row_cells(row)[1:])), rows)
    head = list(above)
    while head and SEPARATOR not in head[-1]:
        head.pop()  # a label that begins the first group of rows
    titles = sum(SEPARATOR not in row for row in head)
    if 0 < len(head) - titles <= HEADER_ROWS and titles <= HEADER_TITLES and len(head) < len(rows):
        return head
    first = next((at for at, row in enumerate(rows) if SEPARATOR in row), 0) + 1
    if first > HEADER_TITLES or first + 1 >= len(rows) or any(map(_has_value, row_cells(rows[first - 1]))):
        return []
    return rows[:first]


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
        indent = min(40, round((line.x0 - left) / width)) if width > 0 else 0
        text = cleaned(line.text.replace(SOFT_HYPHEN, "-"), keep_spaces=True)
        if text.strip():
            rows.append(" " * indent + text)
            places += moved_by(at + indent, places_in(line, text))
            at += len(rows[-1]) + 1
    return Part("code", "\n".join(rows), lines=places)


# --- where lines stand: kept when the text is cleaned, or left out ---


def moved_by(characters: int, places: list[LinePlace]) -> list[LinePlace]:
    """Return the places for a text with so many characters before it."""
    return [(characters + start, place) for start, place in places]


def places_in(line: Line, text: str) -> list[LinePlace]:
    """Return where a line stands whose cleaned text is `text`; several places for a table row, or a line in runs."""
    if line.column or " " in line.place:
        return _record_places(line, text)
    return [(0, place_in(line.place, line.text, text))]


def place_in(place: str, raw: str, text: str) -> str:
    """Return the place of a line whose text was `raw` and is `text` now: its words as they are, or the whole line."""
    if not place or raw == text:
        return place
    now, before = text.split(), raw.split()
    if word_count(place) != len(before):
        return place[:CORNERS]
    if len(now) == len(before):
        return place
    kept = _words_kept([cleaned(word) for word in before], now)
    return with_words(place, kept) if kept else place[:CORNERS]


def _words_kept(before: list[str], now: list[str]) -> list[int]:
    """Return which of the words `before` begin those of `now`; empty if that is not certain.

    Words that were cleaned away are left out; one run of words in between may have become one word, as leaders do.
    """
    kept = [at for at, word in enumerate(before) if word]
    if len(kept) == len(now):
        return kept
    alike = sum(1 for _ in takewhile(lambda at: before[kept[at]] == now[at], range(min(len(kept), len(now)))))
    if not alike < len(now) < len(kept):
        return []
    last = kept[len(kept) - (len(now) - alike - 1) :]
    return kept[: alike + 1] + last if [before[at] for at in last] == now[alike + 1 :] else []


def _record_places(line: Line, row: str) -> list[LinePlace]:
    """Return where the records of a line begin in `row`, its text as it was cleaned.

    The places are those up to the first that cannot be found again; what follows that is not known.
    """
    records = line.place.split(" ") if line.place else []
    if records and row == line.text:
        return [(number_at(record, 0), record[4:]) for record in records]
    found: list[LinePlace] = []
    at = 0
    for record in records:
        start, length = number_at(record, 0), number_at(record, 2)
        raw = line.text[start : start + length]
        if text := cleaned(raw):
            joint = _JOINT.match(row, at) if at else None
            begin = joint.end() if joint else at
            if not row.startswith(text, begin):
                found.append((at, ""))
                break
            found.append((begin, place_in(record[4:], raw, text)))
            at = begin + len(text)
    return found or [(0, "")]


def _heading_places(lines: list[Line], text: str) -> list[LinePlace]:
    places: list[LinePlace] = []
    at = 0
    for line in lines:
        cleared = cleaned(line.text)
        whole = cleared.removesuffix("-")
        begin = text.find(whole, at, at + len(whole) + LONGEST_JOINT)
        if begin < 0:
            return []
        places += moved_by(begin, places_in(line, cleared))
        at = begin + len(whole)
    return places


def without_first_word(lines: list[LinePlace], length: int) -> list[LinePlace]:
    """Return the lines of a text without its first word, which has `length` characters with the space behind it."""
    moved = [(start - length, place) for start, place in lines]
    others = [line for line in moved if line[0] > 0]
    if any(line[0] == 0 for line in moved):
        return [line for line in moved if line[0] >= 0]
    is_within = len(others) + 1 == len(lines)  # else the word runs over two lines
    return [(0, without_words(lines[0][1], 1) if is_within else ""), *others]


def _right_edges(lines: list[Line]) -> list[float]:
    """Return the right edge of each line's column: the furthest that any overlapping line nearby reaches.

    Where running text is set beside something, as beside a figure, only the lines that end before that count. A line of
    running text after which the next word had no room reaches the edge itself.
    """
    edges: list[float] = []
    for i, line in enumerate(lines):
        x0, x1 = line.x0, line.x1
        near = [
            other
            for other in lines[max(0, i - 5) : i + 6]
            if not other.column and other.x0 < x1 and other.x1 > x0 and -60 < other.x0 - x0 < 60
        ]
        edge = max([other.x1 for other in near], default=line.x1)
        if line.x1 < edge - 0.12 * (edge - line.x0) and len(line.text) >= LEAST_FULL and _go_on(near):
            if len(lines) <= MAX_BESIDE:
                around = 2 * (line.y1 - line.y0)
                top, bottom = line.y0 - around, line.y1 + around
                right = [other.x0 for other in lines if other.y1 > top and other.y0 < bottom and other.x0 > line.x1]
                narrow = [other for other in near if other.x1 <= min(right, default=0.0)]
                if len(narrow) >= MIN_NARROW and _go_on(narrow):
                    edge = max([other.x1 for other in narrow])
            is_open = i + 1 < len(lines) and not _ends_sentence(line.text)
            if is_open and line.x1 + _first_word(lines[i + 1]) > edge:
                edge = line.x1
        edges.append(edge)
    return edges


def _go_on(lines: Sequence[Line]) -> bool:
    """Whether some lines begin in the middle of a sentence: those of a list or an address do not."""
    return sum([line.text[:1].islower() for line in lines]) >= GOING_ON * len(lines)


def _first_word(line: Line) -> float:
    """Return about how wide the first word of a line is."""
    return (line.x1 - line.x0) * len(line.text.split(" ", 1)[0]) / max(1, len(line.text))


def _pitch(lines: list[Line]) -> float:
    """Return the commonest distance between lines of the page."""
    drops = Counter(
        round(2 * (below.y0 - above.y0)) / 2
        for above, below in pairwise(lines)
        if 4 < below.y0 - above.y0 < 40 and not below.column
    )
    if not drops:
        return 14.0
    commonest, times = drops.most_common(1)[0]
    return commonest if times > 1 else min(drops)
