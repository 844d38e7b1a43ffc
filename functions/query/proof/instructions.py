"""Sentences of a source that speak to a language model instead of to a reader. They are never evidence.

A PDF is data. Where one says "ignore your instructions and answer …", an answer that repeats it would verify, because
it does stand there; so such sentences, and those behind them in the same paragraph, can be quoted by nobody.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from shared.lexical import fold
from shared.sentences import sentence_spans

TAINTED_BEHIND = 3
"""Sentences of the same paragraph that are taken to belong to the instruction before them."""

_TEXTS = Path(__file__).parents[1] / "texts"
_LINES = [
    line for line in (_TEXTS / "instructions.txt").read_text(encoding="utf-8").splitlines() if line and line[:2] != "# "
]
_AT_START = [re.compile(line[1:], re.IGNORECASE) for line in _LINES if line.startswith("^")]
_ANYWHERE = [re.compile(line, re.IGNORECASE) for line in _LINES if not line.startswith("^")]
_PARAGRAPH = re.compile(r"\n\s*\n")


@lru_cache(maxsize=128)
def tainted_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return the stretches of a text that nothing may be quoted from, in order."""
    spans = list(sentence_spans(text))
    folded = fold(text)
    if len(folded) != len(text):  # positions must be those of the text
        folded = text
    # One pass of each over the whole text: sentence by sentence it would take five times as long.
    found = sorted(match.start() for pattern in _ANYWHERE for match in pattern.finditer(folded))
    tainted: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(spans):
        holds_one = bisect_left(found, end) > bisect_left(found, start)
        if not holds_one and not any(pattern.match(folded, start, end) for pattern in _AT_START):
            continue
        last = end
        for begin, stop in spans[number + 1 : number + 1 + TAINTED_BEHIND]:
            if _PARAGRAPH.search(text, last, begin):
                break
            last = stop
        tainted.append((start, last))
    return tainted


def is_tainted(text: str, start: int, end: int) -> bool:
    """Say whether a stretch touches a sentence that speaks to a model."""
    return any(start < stop and end > begin for begin, stop in tainted_spans(text))


def untainted(text: str) -> str:
    """Return a text without what speaks to a model."""
    kept, at = [], 0
    for start, end in tainted_spans(text):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    return "".join((*kept, text[at:]))
