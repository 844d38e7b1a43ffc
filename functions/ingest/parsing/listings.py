"""What in fixed pitch is a listing: a page of code, what is typed behind prompts; and which tables are none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise
from operator import attrgetter

from functions.ingest.parsing.table_columns import is_typed_table
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import Row, Word

_ENDS_CODE = re.compile(r"[;{}(\[<>=+|\\]$|[)\]][,;:]$|^[})\]]+$|\*/$")
_BEGINS_CODE = re.compile(r"#[a-z]|//|/\*|</?[a-z]")
CODE = 0.4
"""How lines of code end that are none of a text, and share of them on a page of code."""
PROMPTS = frozenset((">", ">>>", "R>", "$", "#"))
_TYPED = re.compile(r"[\w.]\(|^(?:<-|=)$")
_COMMENT = re.compile(r"(?:^|\s)(?://|/\*|\*|#|%|--|;)\s?[^\W\d]")
MAX_COMMENTS = 6
SAME_SIZE, NEXT_LINE = 0.5, 1.6
"""How a comment in a listing begins, lines of one, points by which its print may differ from the listing's, and how far
below each other lines of a listing begin, in font sizes."""
MIN_TYPED = 2
"""What a program writes before what is typed, what that holds, and lines of it that make a page a listing."""
NUMBERED = 0.9
LONGEST_NUMBER = 6
"""Share of a page's lines that have the next number after the one above, from which on they are numbered, and
characters that no such number has."""


def is_listing(words: Sequence[Word]) -> bool:
    """Whether a page in fixed pitch is a listing that fills it: its lines are numbered, or end as those of code do.

    Or some are what is typed behind a prompt: "> plot(x)", "R> x <- 2".
    """
    firsts = [words[0], *(word for before, word in pairwise(words) if before.ends)]
    typed = [at for at, word in enumerate(words) if word.text in PROMPTS and (not at or words[at - 1].ends)]
    if sum([any(map(_TYPED.search, _texts_of_line(words, at + 1))) for at in typed]) >= MIN_TYPED:
        return True
    ends = [word for word in words if word.ends]
    of_code = [
        _ENDS_CODE.search(last.text) is not None or _BEGINS_CODE.match(first.text) is not None
        for first, last in zip(firsts, ends, strict=False)
    ]
    if sum(of_code) > CODE * len(of_code):
        return True
    numbers = [int(word.text) for word in firsts if word.text.isdecimal() and len(word.text) < LONGEST_NUMBER]
    steps = sum([after == before + 1 for before, after in pairwise(numbers)])
    return steps > NUMBERED * len(firsts)


def take_comments(lines: Sequence[Line]) -> None:
    """Put lines with a comment in another print into the listing that goes on, in fixed pitch, above and below them.

    The number of an empty line is of it, too.
    """
    for above, line in pairwise(lines):
        if above.mono and not line.mono and line.text.isdecimal() and _is_next(above, line):
            line.mono = True
    at = 0
    while at < len(lines):
        start = at = next((n for n in range(at, len(lines)) if lines[n].mono), len(lines)) + 1
        while at < min(len(lines), start + MAX_COMMENTS) and _is_comment(lines[at - 1], lines[at]):
            at += 1
        if start < at < len(lines) and lines[at].mono and _is_below(lines[at - 1], lines[at]):
            for line in lines[start:at]:
                line.mono = True


def _is_next(above: Line, line: Line) -> bool:
    """Whether a line is no more than the number after the one that the line of a listing above it begins with."""
    number = above.text.split(" ", 1)[0]
    is_short = max(len(number), len(line.text)) < LONGEST_NUMBER
    is_number = number.isdecimal() and is_short and line.text == str(int(number) + 1)
    return is_number and not line.column and 0 < line.y0 - above.y0 < NEXT_LINE * max(line.size, above.size)


def _is_comment(above: Line, line: Line) -> bool:
    is_plain = not (line.mono or line.column or line.figure) and line.cells > 0
    return is_plain and _is_below(above, line) and _COMMENT.search(line.text) is not None


def _is_below(above: Line, line: Line) -> bool:
    """Whether a line in the print of another one stands right below it."""
    return abs(line.size - above.size) < SAME_SIZE and 0 < line.y0 - above.y0 < NEXT_LINE * line.size


def _texts_of_line(words: Sequence[Word], start: int) -> Iterator[str]:
    """Yield the words from `start` on to the end of their line."""
    for word in islice(words, start, None):
        yield word.text
        if word.ends:
            return


def with_typed_tables(rows: Sequence[Row]) -> list[Row]:
    """Return rows in which tables that are set by spaces in fixed pitch are tables, and no listings."""
    out: list[Row] = []
    for is_mono, run in groupby(rows, attrgetter("mono")):
        lines = list(run)
        if is_mono and is_typed_table(lines) and not any(_ENDS_CODE.search(each.words[-1].text) for each in lines):
            lines = [
                Row.of([replace(each, style=replace(each.style, mono=False)) for each in row.words]) for row in lines
            ]
        out += lines
    return out
