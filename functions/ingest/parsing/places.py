"""Where the lines of a text stand: kept when it is cleaned or joined, or left out."""

import re
from itertools import takewhile

from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.wire import Line
from shared.models import LinePlace
from shared.rects import CORNERS, number_at, with_words, without_words, word_count

_JOINT = re.compile(r"-|[ |]*")
"""What stands between two lines of a table row's cells: the hyphen that joins them, a space, or borders of cells."""
LONGEST_JOINT = 2
"""Characters between two lines of a heading: a space, or the hyphen of a word that is written with one."""


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


def heading_places(lines: list[Line], text: str) -> list[LinePlace]:
    """Return where the lines of a heading begin in its text; empty if one cannot be found there."""
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
