"""Units that are longer than a chunk, as in text without full stops."""

from collections.abc import Callable

from functions.ingest.chunking import borders
from functions.ingest.chunking.borders import Border
from functions.ingest.chunking.counted import Counted, Unit

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
        # What is still that long has endless white space at its end: too large for company, trimmed on its own.
        ids = encode(piece) if len(piece) <= 16 * limit else [0] * _ENDLESS_TOKENS
        done.append((*part,), len(ids), sum(ids))
