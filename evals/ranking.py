"""From a system's ranked chunks to ranked pages, by one rule for every system.

The rule. A system is asked for its best `DEPTH` chunks and gives them best first. Each chunk counts for every page it
covers, in the order of how much of the chunk stands on them where the system knows, else in reading order. The pages
are put in a row in the order of their chunks; a page that is there already is not repeated, it keeps its first and
best place. Ranks, and the k of hit@k, count distinct pages in this row: a system with small chunks does not lose
places to ten chunks of one page, and one with chunks across pages pays a place for each page it names.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DEPTH = 50
"""Chunks asked for. Ten distinct pages need more than ten chunks; fifty is the most the query API takes."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk: the PDF's file name, the pages it covers (from 1, in the order of the rule), its score."""

    doc: str
    pages: Sequence[int]
    score: float


@dataclass(frozen=True, slots=True)
class RankedPage:
    """One page in the row, with the score of the chunk that brought it there."""

    doc: str
    page: int
    score: float


def ranked_pages(hits: Iterable[Hit], *, at_most: int) -> list[RankedPage]:
    """Return the distinct pages of `hits` in the order of the rule above, `at_most` of them."""
    row: dict[tuple[str, int], RankedPage] = {}
    for hit in hits:
        for page in hit.pages:
            if (hit.doc, page) not in row:
                if len(row) == at_most:
                    return list(row.values())
                row[hit.doc, page] = RankedPage(hit.doc, page, hit.score)
    return list(row.values())


def pages_by_share(starts: Sequence[tuple[int, int]], char_start: int, char_end: int) -> list[int]:
    """Return the pages a chunk covers, the one that holds most of its characters first, ties in reading order.

    `starts` says `(page, first character)` of each page the chunk touches; `char_start`/`char_end` are the chunk's own.
    """
    shares: list[tuple[int, int]] = []
    for number, (page, first) in enumerate(starts):
        end = starts[number + 1][1] if number + 1 < len(starts) else char_end
        share = min(end, char_end) - max(first, char_start)
        if share > 0:
            shares.append((-share, page))
    return [page for _, page in sorted(shares)]
