"""Packs units into chunks: the cheapest way to cut the whole document, settled piece by piece as pages come in.

Dynamic programming over borders: a cut costs what its border is worth, a chunk how far its size is from the target.
Where all cheapest paths agree the chunks are final, so a long document streams; and because the cheapest paths from
two different starts soon meet, a change on one page leaves the chunks some pages away unchanged.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from functions.ingest.chunking import borders
from functions.ingest.chunking.borders import Border


class Unit(NamedTuple):
    """A sentence, item, row or line, up to the start of the next; positions count in the document's cleaned text.

    Tokens are counted from `cut` to the next unit's `cut` (see `borders.count_cut`, which gives `exact` too).
    `after_heading`: it follows a heading directly; `new_page`: it is the first to begin on its page;
    `header` is the header row of the table it is a row of.
    """

    start: int
    cut: int
    exact: bool
    border: Border
    kind: str
    section: str
    header: str
    after_heading: bool
    new_page: bool = False


type UnitRow = tuple[int, int, bool, Border, str, str, str, bool, bool]
"""A `Unit` as a plain tuple: there are thousands; tuples are cheaper to make and to collect."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Units in order, their tokens, and the sum of each one's token ids: a cheap fingerprint of its text."""

    rows: list[UnitRow] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    fingerprints: list[int] = field(default_factory=list)

    def append(self, row: UnitRow, tokens: int, fingerprint: int) -> None:
        """Add a unit at the end."""
        self.rows.append(row)
        self.tokens.append(tokens)
        self.fingerprints.append(fingerprint)


_ENDLESS_TOKENS = 100_000


def split_unit(
    unit: Unit, text: str, base: int, stop: int, *, encode: Callable[[str], list[int]], limit: int, done: Counted
) -> None:
    """Cut a unit that ends at `stop` at clauses, where that is not enough at words, then inside words.

    `text` begins at position `base` of the document; the parts, of `limit` tokens at most, are appended to `done`.
    """
    end = stop - base
    starts = [(unit.start - base, unit.border)]
    # `limit // 4` characters are at most `limit` bytes in UTF-8, and no token is shorter than a byte.
    for border, find in (
        (Border.CLAUSE, borders.clause_starts),
        (Border.WORD, lambda t, a, b: borders.word_starts(t, a, b, 2 * limit)),
        (Border.WORD, lambda t, a, b: borders.word_starts(t, a, b, limit // 4)),
        (Border.TOKEN, lambda t, a, b: borders.token_starts(t, a, b, limit // 4)),
    ):
        finer: list[tuple[int, Border]] = []
        for (start, level), (last, _) in zip(starts, [*starts[1:], (end, border)], strict=True):
            finer.append((start, level))
            if last - start > 16 * limit or len(encode(text[start:last])) > limit:
                finer.extend((position, border) for position in find(text, start, last) if not text[position].isspace())
        starts = finer
    cuts = [(unit.cut - base, unit.exact), *(borders.count_cut(text, start) for start, _ in starts[1:])]
    for (start, border), (first, exact), (last, _) in zip(starts, cuts, [*cuts[1:], (end, True)], strict=True):
        part = unit._replace(
            start=start + base,
            cut=first + base,
            exact=exact,
            border=border,
            after_heading=unit.after_heading and start + base == unit.start,
            new_page=unit.new_page and start + base == unit.start,
        )
        piece = text[first:last]
        # A piece still that long ends in endless white space: it becomes a chunk of its own, and is trimmed.
        ids = encode(piece) if len(piece) <= 16 * limit else [0] * _ENDLESS_TOKENS
        done.append((*part,), len(ids), sum(ids))


# Chosen by hand, looking at manuals, filings and the Chroma corpora, not by a sweep: a section start is worth a chunk
# half its size, a sentence border is the usual place, finer ones only for what fits in no other way.
_BORDER_COST = {
    Border.SECTION: 0.0,
    Border.PARAGRAPH: 1.5,
    Border.ITEM: 3.0,
    Border.SENTENCE: 5.0,
    Border.CLAUSE: 40.0,
    Border.WORD: 100.0,
    Border.TOKEN: 200.0,
}
_SIZE_COST = 10.0
_TARGET = 0.85  # of the size
_LEAST = 0.4  # of the size; smaller only where nothing else fits and at the end
# Among borders of one rank the text decides: each unit gets a bonus from its fingerprint, mostly small, rarely large
# (an exponential distribution with this mean). Paths soon meet at a large bonus, so after a change the chunks are the
# old ones again even where all sentences are alike. Knuth's multiplicative hash picks the entry.
_MEAN_BONUS = 1.0
_BONUS = [round(-_MEAN_BONUS * math.log((number + 1) / 1024), 3) for number in range(1024)]
_HEADING_ALONE_COST = 60.0  # a heading stays with what follows, but for a chunk that fits in no other way
_TOO_LARGE = 1e6
_MIN_PAGE_TOKENS = 48
"""A page is cut from the next one when it holds this much: a passage of two pages names neither."""
_SLACK_TOKENS = 3  # a chunk's first and last word may count a little differently than they do in the running text
_SENTENCE = Border.SENTENCE
_NEVER_REPEATED = ("table", "code", "heading")
_SETTLE_CHUNKS = 8  # how far to read ahead before checking whether the paths agree
_UNSETTLED_CHUNKS = 64  # then one of the paths is taken, to keep memory bounded


class Span(NamedTuple):
    """A chunk as units: `first` counting the overlap, `own` where its own text begins, `end` behind the last."""

    first: int
    own: int
    end: int


@lru_cache(8)
def _size_costs(size_tokens: int) -> list[float]:
    """Return what a chunk of 0, 1, 2 … tokens costs."""
    target = size_tokens * _TARGET
    costs = [_SIZE_COST * ((size - target) / target) ** 2 for size in range(size_tokens - _SLACK_TOKENS + 1)]
    return costs + [_TOO_LARGE] * (2 * size_tokens)


class Packer:
    """Takes units as they come; `settled` and `finish` say which chunks are final."""

    def __init__(self, size_tokens: int, overlap_tokens: int) -> None:
        self._cap = size_tokens - _SLACK_TOKENS
        self._overlap = min(overlap_tokens, size_tokens // 2)
        self._least = int(size_tokens * _LEAST)
        self._size_cost = _size_costs(size_tokens)
        self._border_cost = [_BORDER_COST[border] for border in Border]
        self.units: list[UnitRow] = []
        self.total: list[int] = [0]  # tokens before each unit, and after the last
        # the least cost up to a border, and the tokens before it less the overlap of a chunk that begins there
        self._best: list[tuple[float, int]] = []
        self._previous: list[int] = []
        self._overlap_from: list[int] = []
        self._repeatable = 0  # no overlap begins before this unit
        self._low = 0
        self._high = 0
        self._page_total = 0  # tokens before the last page border that no chunk may cross
        self._origin = 0  # the last border that is settled
        self._origin_before = -1

    def extend(self, units: Counted, *, last: bool = False) -> None:
        """Append units with their tokens and find the cheapest way to end a chunk right before each.

        `last`: this is no unit but the end of the document, where a chunk may be of any size.
        """
        totals, best, starts = self.total, self._best, self._previous
        low, high, number, total = self._low, self._high, len(self.units), totals[-1]
        cap, least, overlap, repeatable = self._cap, self._least, self._overlap, self._repeatable
        size_cost, border_cost, overlap_from, bonus = self._size_cost, self._border_cost, self._overlap_from, _BONUS
        page_total = self._page_total
        for row, tokens, fingerprint in zip(units.rows, units.tokens, units.fingerprints, strict=True):
            _, _, _, border, kind, _, _, after_heading, new_page = row
            cost, start = 0.0, 0
            page_ends = new_page and total - page_total >= _MIN_PAGE_TOKENS
            if number:
                earliest, latest = total - cap, total - least
                while totals[low] < earliest and low < number - 1:
                    low += 1
                while high + 1 < number and totals[high + 1] <= latest:
                    high += 1
                if totals[low] < earliest:  # the unit before is longer than a chunk on its own
                    cost, start = best[low][0] + _TOO_LARGE, low
                else:
                    end = number if last or page_ends or high < low or totals[high] > latest else high + 1
                    costs = [before + size_cost[total - lead] for before, lead in best[low:end]]
                    cost = min(costs)
                    start = low + costs.index(cost)
            cost += border_cost[border] - bonus[(fingerprint * 2_654_435_761 >> 16) & 1023]
            if after_heading:
                cost += _HEADING_ALONE_COST
            # the overlap: whole sentences, but nothing before a section
            first = number
            if page_ends:
                low, high, page_total, repeatable = number, number - 1, total, number
            elif border and overlap:
                first = bisect_left(totals, total - overlap, low)
                if first < repeatable:
                    first = repeatable
            best.append((cost, totals[first]))
            starts.append(start)
            overlap_from.append(first)
            total += tokens
            totals.append(total)
            number += 1
            if border > _SENTENCE or kind in _NEVER_REPEATED:
                repeatable = number
        self.units += units.rows
        self._low, self._high, self._repeatable, self._page_total = low, high, repeatable, page_total

    def settled(self) -> list[Span]:
        """Return the chunks that no later unit can change: those all cheapest paths have in common."""
        origin, border, start = self._origin, len(self.units) - 1, self._previous
        waiting = self.total[-1] - self.total[origin]
        if waiting < _SETTLE_CHUNKS * self._cap:
            return []
        for other in set(start[self._low :]):
            while other != border:  # where the two paths back meet
                if other > border:
                    other = start[other]
                else:
                    border = start[border]
        if border == origin < len(start) - 1 and waiting > _UNSETTLED_CHUNKS * self._cap:
            border = self._low = max(self._low, origin + 1)
        return self._path_to(border) if border > origin else []

    def finish(self, end: int) -> list[Span]:
        """Return the chunks that are left; the text ends at position `end`."""
        if self._origin == len(self.units):
            return []
        self.extend(Counted([(end, end, True, Border.SECTION, "", "", "", False, False)], [0], [0]), last=True)
        return self._path_to(len(self.units) - 1)

    def discard_settled(self) -> int:
        """Discard the units before the next chunk and its overlap; return the position where needed text begins.

        Spans returned earlier become invalid: units are numbered from the first one kept.
        """
        keep = self._overlap_from[self._origin]
        for column in (self.units, self.total, self._best, self._previous, self._overlap_from):
            del column[:keep]
        origin = self._origin
        self._previous = [max(origin, number) - keep for number in self._previous]
        self._overlap_from = [max(0, number - keep) for number in self._overlap_from]
        self._repeatable = max(0, self._repeatable - keep)
        self._low -= keep
        self._high = max(-1, self._high - keep)
        self._origin -= keep
        self._origin_before -= keep
        return self.units[0][1]

    def _path_to(self, border: int) -> list[Span]:
        """Follow the cheapest path back from `border` and settle it."""
        path = [border]
        while path[-1] > self._origin:
            path.append(self._previous[path[-1]])
        path.reverse()
        spans = []
        for own, stop in pairwise(path):
            first = max(self._overlap_from[own], self._origin_before + 1)  # never the whole chunk before
            spans.append(Span(first, own, stop))
            self._origin_before = own
        self._origin = border
        return spans
