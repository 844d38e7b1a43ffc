"""What the query line tells while it works: the one path behind the buffered and the streamed answer.

`Sources` comes once, before the answer is written; then `Delta`s, whose texts make the answer when put together, each
citation before the first delta that bears its marker; then `SupportFound`; `Done` is the last. Nothing is told that has
not been verified.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from functions.query.answer import Answer
from functions.query.deciding.decision import Band
from functions.query.proof.verification import Support
from functions.query.retrieval.passages import Passage
from shared.models import Citation

_PIECES = re.compile(r".+?(?:[.!?…:;][\"”’)]*(?:\s*\[\d+\])*\s+|\n+|\Z)", re.DOTALL)
_MARKER = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages that the answer will be made from, each with its band; none when there is nothing to answer from."""

    sources: Sequence[Passage]
    bands: Sequence[Band] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer, about a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationFound:
    """A citation that the next piece bears the marker of."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class SupportFound:
    """How much of what was written is supported, and how sure the answer is."""

    support: Support
    band: Band
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer, remembered by now."""

    answer: Answer


Event = Sources | Delta | CitationFound | SupportFound | Done


def told(text: str, citations: Sequence[Citation]) -> Iterator[Delta | CitationFound]:
    """Tell a verified answer piece by piece. The deltas' texts add up to `text`; every citation is told once."""
    waiting = {citation.n: citation for citation in citations}
    for piece in _PIECES.findall(text):
        for marker in _MARKER.findall(piece):
            citation = waiting.pop(int(marker), None)
            if citation is not None:
                yield CitationFound(citation)
        yield Delta(piece)
    for citation in waiting.values():
        yield CitationFound(citation)
