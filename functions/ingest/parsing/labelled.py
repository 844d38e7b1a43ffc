"""Puts values that are written in a column of their own behind the labels that they stand beside."""

from collections.abc import Iterator, Sequence

from functions.ingest.parsing.words import Row

LEAST_PAIRS = 3
"""Labels with a value each, at least."""
LONGEST = 30
"""Characters of a label, without spaces, at most."""
SAME_EDGE = 1.5
"""Points by which the edges of labels, or of values, may differ."""
LEVEL = 0.5
"""How much higher or lower the middle of a value is than that of its label at most, in heights of the label."""
FARTHEST = 40
"""Rows behind the labels within which their values begin."""
MAX_ROWS = 400
"""Rows of a page that is looked at; a form has fewer."""


def with_values_beside(rows: list[Row]) -> list[Row]:
    """Return the rows with each value of a column behind its label, where the labels were written before them all."""
    if len(rows) > MAX_ROWS:
        return rows
    for start, end in _labels(rows):
        for first in range(end, min(len(rows), end + FARTHEST)):
            pairs = _pairs(rows[start:end], rows[first:])
            if len(pairs) >= LEAST_PAIRS and _are_alone(rows, range(start, end), range(first, first + len(pairs))):
                values = rows[first : first + len(pairs)]
                out = rows[:start]
                for at, label in enumerate(rows[start:end]):
                    out += [label, *(value for value, number in zip(values, pairs, strict=True) if number == at)]
                return with_values_beside([*out, *rows[end:first], *rows[first + len(pairs) :]])
    return rows


def _labels(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield where labels stand below each other at one edge: short, and in bold or with a colon."""
    start = 0
    for at in range(len(rows) + 1):
        is_label = at < len(rows) and _is_label(rows[at])
        if at > start and is_label and abs(rows[at].x0 - rows[start].x0) < SAME_EDGE and rows[at].y0 >= rows[at - 1].y1:
            continue
        if at - start >= LEAST_PAIRS:
            yield start, at
        start = at if is_label else at + 1


def _is_label(row: Row) -> bool:
    is_set_so = row.words[-1].text.endswith(":") or (
        row.words[0].style.bold and all(word.style.bold for word in row.words)
    )
    return is_set_so and row.length <= LONGEST


def _pairs(labels: Sequence[Row], rows: Sequence[Row]) -> list[int]:
    """Return at which labels the first rows stand, one behind the other: plain ones at one edge on their right."""
    right = max(row.x1 for row in labels)
    found: list[int] = []
    for row in rows:
        if row.x0 <= right or abs(row.x0 - rows[0].x0) >= SAME_EDGE or _is_label(row):
            break
        beside = [at for at, label in enumerate(labels) if _are_level(label, row)]
        if len(beside) != 1 or (found and beside[0] <= found[-1]):
            break
        found += beside
    return found


def _are_level(label: Row, value: Row) -> bool:
    return abs(label.y0 + label.y1 - value.y0 - value.y1) < 2 * LEVEL * (label.y1 - label.y0)


def _are_alone(rows: Sequence[Row], labels: range, values: range) -> bool:
    """Whether nothing else stands beside the labels that have values."""
    top, bottom = rows[values[0]].y0, rows[values[-1]].y1
    others = (row for at, row in enumerate(rows) if at not in labels and at not in values)
    return not any(row.y0 < bottom and top < row.y1 for row in others)
