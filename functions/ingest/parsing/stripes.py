"""A long document is read by two children at a time, in stripes of pages: pdfium has one thread, a machine has more."""

import os
from collections.abc import Iterator

LONG = 300
"""Pages from which a second child is worth its start, the opening of the file, and its memory."""

STRIPE = 16
"""Pages one child reads before it is the other's turn: few enough for what is read ahead to fit into a pipe."""

ALL, FIRST, SECOND = 0, 1, 2
"""Which part of a document a child reads; one told to read the first part of a short document reads all of it."""


def has_two_cores() -> bool:
    """Tell whether two children can run at the same time."""
    return (os.process_cpu_count() or 1) >= 2


def part_of(number: int) -> int:
    """Return which part of a long document a page (from 1) belongs to."""
    return FIRST if (number - 1) // STRIPE % 2 == 0 else SECOND


def is_shared(part: int, page_count: int) -> bool:
    """Tell whether a child with this part has another one beside it."""
    return part != ALL and page_count >= LONG


def pages_of(part: int, first: int, last: int, page_count: int) -> Iterator[int]:
    """Yield the pages `first` to `last` (0: the end) that a child with this part is to read."""
    for number in range(first, (last or page_count) + 1):
        if not is_shared(part, page_count) or part_of(number) == part:
            yield number
