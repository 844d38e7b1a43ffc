"""Which lines begin an item: of a list, of notes, or of an index."""

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from string import ascii_lowercase

from functions.ingest.parsing.paragraphs import BLANK, EVEN, FIELD_CHARACTERS, HANGING, goes_on, has_leader, leads_on
from functions.ingest.parsing.parts import Part
from functions.ingest.parsing.table_cells import BULLETS
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.vocabulary import ends_hyphenated
from functions.ingest.parsing.wire import Line

_BULLETS = "".join(sorted(BULLETS))
_BULLET = re.compile(rf"^(?:[o§]\s+[A-Z]|[·→*∙–—{_BULLETS}-]\s+|−\s+(?=\w\w)|[{_BULLETS}]\S)")
_ITEM = re.compile(
    r"^(?:\d{1,3}[.)]|\(\d{1,3}\)|[a-zA-Z][.)]|\(([a-zA-Z])\1?\)|[ivxIVX]{1,5}[.)]|\([ivxIVX]{1,5}\)|\[\d{1,3}\])\s+\S"
)
_NUMBERED = re.compile(r"[(\[]?(\d{1,3})[.)\]] ")
_INITIAL = re.compile(r"[B-HJ-UWYZ]\. [A-Z][a-z]+\b(?! [a-z])")
_IN_PARENTHESES = re.compile(r"(\(?)([a-z]|\d{1,3}|[ivx]{1,5})\) ")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_MARKS_BEFORE = {
    after: [before for before, other in chain(pairwise(ascii_lowercase), pairwise(_ROMAN)) if other == after]
    for after in chain(ascii_lowercase[1:], _ROMAN[1:])
}
"""What is counted before another letter or number: "h" before "i"."""
_STEP = re.compile(r"(\d{1,2}) [A-Z][a-z]")
FIRST_ITEM = 12
"""Lines below the first item of a numbered list within which its second begins."""
_GLUED = re.compile(r"(\d{1,2})(?:[^\W\d_]{3}|[A-Z])")
"""A note whose mark was raised: "2https://…" above "3https://…"."""
_INDEXED = re.compile(r"[^\W\d].*?,\s?\d{1,4}(?:[-–]\d{1,4})?")
"""An entry of an index, up to a page."""
_ENDS_ENTRY = re.compile(r",\s?\d{1,4}(?:[-–]\d{1,4})?$")
_SECTION = re.compile(r"(?:\d{1,2}|[A-Z](?=[. ]))(?:\.\d{1,3})*\.? ?[^\W\d_]")
MOST_APART = 1.7
"""What an entry of a contents list begins with, and how far below each other two lines of one begin, in font sizes."""
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DATE = re.compile(rf"\b(?:{_MONTHS})\.?(?: \d{{1,2}})?, \d{{4}}$", re.IGNORECASE)
"""The year of a date is no page: "July 1, 2021"."""
MIN_INDEXED = 8
INDEXED_SHARE = 0.4
SUB_ENTRY = 2.5
"""Entries of a page that is an index, and share of its lines; how far sub-entries are indented, in font sizes."""
_NOTE = re.compile(r"(\d{1,2}) +[^\W\d]")
_DASHES = "-–—−"
END_OF_ENTRY = 12
END_WITH_DATE = 20
"""Characters at the end of a line in which an entry of a contents list ends, and in which a date would stand."""
SMALLEST_EM = 4.0
FARTHEST_HANGING = 3
"""Font size in points that is used for lines without one, or in smaller print; and how far an item's further lines may
be indented, in font sizes."""
SAME_EDGE = 3
"""Points by which the edges of an item's marks may differ."""


def is_index(lines: Sequence[Line]) -> bool:
    """Whether a page is part of an index: many of its lines end in numbers of pages."""
    texts = [line.text for line in lines if not line.column]
    indexed = sum(map(_is_indexed, texts))
    return indexed >= MIN_INDEXED and indexed > INDEXED_SHARE * len(texts)


def _is_indexed(text: str) -> bool:
    may_be = text[-1:].isdecimal() and len(text) <= FIELD_CHARACTERS
    return may_be and _INDEXED.match(text) is not None and not _DATE.search(text)


def begins_entry(lines: Sequence[Line], i: int, last: Part | None) -> bool:
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
    return _ENDS_ENTRY.search(text[-END_OF_ENTRY:]) is not None and not _DATE.search(text[-END_WITH_DATE:])


def is_item(lines: Sequence[Line], i: int, last: Part | None, text: str) -> bool:
    """Whether line `i`, which reads `text` when it is cleaned, begins an item."""
    line = lines[i]
    return bool(
        _is_next_note(last, text)
        or _is_next_item(last, line, text)
        or (_BULLET.match(text) and not (text[0] in _DASHES and _mid_sentence(last) and _is_only_dash(lines, i)))
        or (
            leads_on(line.text)
            and not _ends_sentence_in_blank(last, line)
            and not _ends_entry_of_contents(lines, i, last)
        )
        or (
            _ITEM.match(text)
            and not _mid_sentence(last)
            and not _goes_on_inside(lines, i, last)
            and not _is_within(lines, i, last)
            and not _counts_on_within(last, text)
            and not _is_initial(lines, i, text)
        )
        or _is_numbered_list(lines, i, text)
        or (line.leads and text.startswith("o ") and not _mid_sentence(last))
        or (line.leads and _is_step(lines, i, text))
    )


def _ends_sentence_in_blank(last: Part | None, line: Line) -> bool:
    """Whether a line with a blank ends the sentence of a full one above it: "day or night. Initial here: ____"."""
    return BLANK in line.text and line.text[0].islower() and last is not None and last.full and last.is_open


def _ends_entry_of_contents(lines: Sequence[Line], i: int, last: Part | None) -> bool:
    """Whether a line with a leader is the second one of an entry of a table of contents, which begins with a number.

    It stands below the entry's text and bears no number itself.
    """
    if last is None or not i or not last.full or len(last.lines) > 1 or _SECTION.match(lines[i].text):
        return False
    above, line = lines[i - 1], lines[i]
    is_below = 0 < line.y0 - above.y0 < MOST_APART * line.size and line.x0 > above.x0 + 1
    return is_below and _SECTION.match(above.text) is not None and not has_leader(above.text)


def _is_next_note(last: Part | None, text: str) -> bool:
    """Whether a line begins the note behind the one that has just ended: "2 Derivatives …" after "1 Debts …"."""
    return last is not None and not last.is_open and _counts_on(_NOTE, last.text, text)


def _is_next_item(last: Part | None, line: Line, text: str) -> bool:
    """Whether a line begins the item behind the one above it, however that ends: "[3] …" below "[2] …, http://…"."""
    if last is None or abs(line.x0 - last.begin) >= 1 or goes_on(last.text):
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
    return HANGING < (lines[i].x0 - lines[i - 1].x0) / max(SMALLEST_EM, lines[i].size) < FARTHEST_HANGING


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


def _counts_on_within(last: Part | None, text: str) -> bool:
    """Whether a line begins with the mark behind one in the middle of the sentence above it: "(c) …, (d)"."""
    mark = _IN_PARENTHESES.match(text)
    if mark is None or last is None or not last.is_open or not last.full:
        return False
    before = [str(int(mark[2]) - 1)] if mark[2].isdecimal() else _MARKS_BEFORE.get(mark[2], ())
    before = [f"{mark[1]}{each})" for each in before]
    return any(f" {each} " in last.text and not last.text.startswith(each) for each in before)


def _is_initial(lines: Sequence[Line], i: int, text: str) -> bool:
    """Whether a letter that a line begins with is a name's: "H. Miller", no line begins with the letter next to it.

    Those that are numerals are none.
    """
    if _INITIAL.match(text) is None:
        return False
    marks = tuple(f"{chr(ord(text[0]) + step)}." for step in (-1, 1))
    return not any(other.text.startswith(marks) for n, other in enumerate(lines) if n != i)


def _is_numbered_list(lines: Sequence[Line], i: int, text: str) -> bool:
    """Whether a line begins with "1." or "1 Press", and another, soon below it at its edge, with "2." or "2 Turn".

    Without a point the one above counts, too.
    """
    number, step = _NUMBERED.match(text), _STEP.match(text)
    if number is None and step is None:
        return False
    edge, top = lines[i].x0, lines[i].y0
    below = [other for other in lines[i + 1 : i + 1 + FIRST_ITEM] if abs(other.x0 - edge) < 1 and other.y0 > top]
    if number is not None:
        return number[1] == "1" and any(_counts_on(_NUMBERED, text, cleaned(other.text)) for other in below)
    above = [other for other in lines[max(0, i - FIRST_ITEM) : i] if abs(other.x0 - edge) < 1 and other.y0 < top]
    return any(_counts_on(_STEP, text, cleaned(other.text)) for other in below) or any(
        _counts_on(_STEP, cleaned(other.text), text) for other in above
    )


def _is_step(lines: Sequence[Line], i: int, text: str) -> bool:
    """Whether a line begins with a number in bold that the next one leaves room for: "2  Turn the …"."""
    line, below = lines[i], lines[i + 1] if i + 1 < len(lines) else None
    is_below = below is not None and 0 < below.y0 - line.y0 < 2 * line.size
    hangs = below is not None and HANGING < (below.x0 - line.x0) / max(SMALLEST_EM, line.size) < FARTHEST_HANGING
    return is_below and hangs and _STEP.match(text) is not None


def _is_only_dash(lines: Sequence[Line], i: int) -> bool:
    """Whether no other line of the page begins with a dash at the same edge: this one marks no item of a list."""
    dash, edge = lines[i].text[0], lines[i].x0
    return not any(
        n != i and other.text[:1] == dash and abs(other.x0 - edge) < SAME_EDGE for n, other in enumerate(lines)
    )
