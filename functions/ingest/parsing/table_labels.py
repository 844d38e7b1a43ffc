"""The labels of a table's rows: those cut in two are whole again, those without figures are rows of their own."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from functions.ingest.parsing.table_cells import LARGER, YEAR, Cell, Group, has_figure, is_figure, is_number
from functions.ingest.parsing.words import Row, Word, box_of
from shared.abbreviations import is_abbreviated

_GOES_ON = re.compile(r"(?:[\w)][,–—-]|\b(?:and|or|of|the|to|for|in|on|with|by|from))$", re.IGNORECASE)
"""How a label ends that goes on in the next row: "Issued and outstanding 311,108,000 and"."""
SPARE = 0.25
"""Room behind a line beyond the next word, in its heights, from which on the word had room there."""
SAME_EDGE = 20
NEAR = 0.4
LONG = 20
"""Points that the two lines of a label may begin apart, room between them in heights of a line, and characters that the
first one has more than."""


@dataclass(frozen=True, slots=True)
class _Room:
    """The room for labels: where the figures beside them begin, and where the two widest of them end."""

    figures: float
    widest: float
    second: float

    @classmethod
    def of(cls, run: Sequence[Group]) -> Self:
        """Measure it; in a table without figures, by the first cells of its rows."""
        figures = min(
            (cell.x0 for group in run for cell in group.cells[1:2] if is_figure(cell.text)), default=-math.inf
        )
        has_figures = figures > -math.inf
        labels = [g.cells[0] for g in run if (g.cells[0].x1 < figures if has_figures else len(g.cells) > 1)]
        ends = sorted(box_of(words)[2] for cell in labels for words in cell.lines)
        return cls(figures, *reversed([0.0, 0.0, *ends][-2:]))

    def had_none(self, end: float, word: Word) -> bool:
        """Whether a line that ends there had no room for a word; the widest one alone does not tell where they end."""
        is_alone = end > self.second + 1 and self.figures > -math.inf
        limit = self.figures if is_alone else self.widest + 1
        return end + (word.x1 - word.x0) + SPARE * (word.y1 - word.y0) > limit


def _labels_apart(run: Sequence[Group], room: _Room) -> list[Group]:
    """Return a table's groups with labels that have no figures, one below the other, each in a row of its own.

    Of two lines the second goes on in the first if that cannot end there, or had no room for the next word.
    """
    out: list[Group] = []
    for group in run:
        (cell, *others) = group.cells
        lines = cell.lines
        if len(lines) < 2 or cell.x1 >= room.figures or any(other.y0 < lines[-2][0].y1 - 1 for other in others):
            out.append(group)
            continue
        cuts = [at for at in range(1, len(lines)) if not _goes_on_below(lines[at - 1], lines[at], room)]
        parts = [[Row.of(words) for words in lines[a:b]] for a, b in pairwise([0, *cuts, len(lines)])]
        labels = [Group(rows, [Cell([row.words for row in rows], *box_of(rows))]) for rows in parts]
        if others:
            labels[-1].cells += others
            labels[-1].rows += [Row.of(words) for other in others for words in other.lines]
        out += labels if cuts else [group]
    return out


def _goes_on_below(above: Sequence[Word], below: Sequence[Word], room: _Room) -> bool:
    text = " ".join([word.text for word in above])
    if below[0].text[:1].islower() or above[-1].ends == "-" or text.count("(") > text.count(")"):
        return True
    return _GOES_ON.search(text) is not None or room.had_none(above[-1].x1, below[0])


def join_wrapped_labels(run: Sequence[Group]) -> list[Group]:
    """Move the first lines of a label into the row of its last line: label and figures in one row."""
    room = _Room.of(run)
    run = _labels_apart(run, room)
    out: list[Group] = []
    for group, following in zip(run, [*run[1:], None], strict=True):
        while (
            out
            and len(out[-1].cells) == 1
            and len(group.cells) > 1
            and not _begin_with_years(group, following)
            and _is_cut(out[-1], group, room)
        ):
            label = out.pop()
            group.cells[0].lines = label.cells[0].lines + group.cells[0].lines
            group.cells[0].y0 = label.cells[0].y0
            group.rows = label.rows + group.rows
        out.append(group)
    return out


def _begin_with_years(group: Group, following: Group | None) -> bool:
    """Whether two rows begin with a year each: what stands above them ("Year ending December 31,") is their title."""
    return following is not None and all(YEAR.match(each.cells[0].text) for each in (group, following))


def _is_cut(label: Group, row: Group, room: _Room) -> bool:
    """Whether a line above a row begins its label: the row goes on in the middle of a phrase, or had no room there."""
    above, first = label.cells[0], row.cells[0]
    text = above.text
    if abs(above.x0 - first.x0) >= SAME_EDGE or text.endswith(":"):
        return False
    if above.lines[0][0].style.size > LARGER * first.lines[0][0].style.size:
        return False
    if first.text[:1].islower() or text.count("(") > text.count(")"):
        return True
    if text.endswith(".") and not is_abbreviated(text, len(text) - 1):
        return False
    if _GOES_ON.search(text) and has_figure(row):
        return True
    word = first.lines[0][0]
    is_near = first.y0 - above.y1 < NEAR * (word.y1 - word.y0)
    is_alike = above.lines[-1][-1].style.bold == word.style.bold and not is_number(first.text)
    return is_near and is_alike and len(text) > LONG and room.had_none(above.x1, word)
