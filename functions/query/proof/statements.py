"""The statements of a passage that an answer can be put together from, and the words each of them holds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from functions.query.proof.instructions import is_tainted
from functions.query.proof.words import content_stems
from shared.sentences import is_abbreviated, statement_spans
from shared.tables import table_head

LONGEST_CHARACTERS = 600
"""A stretch without sentence borders (a table's row, a list of names) is parted here, at a line or word."""
RUN_ON_CHARACTERS = 350
"""Text without capitals has no borders that `sentence_spans` sees; above this they are looked for without them."""
SHORTEST_CHARACTERS = 40
_PAIR = re.compile(r"(?:(?<=\n)|\A)Answer:\s+(?=\S)")
"""Where the answer of an FAQ pair begins, as ingest writes one: "Question: …", a line feed, "Answer: …"."""
_ASKED = "Question: "

_LEADERS = re.compile(r"(?:\.[ ]?){4,}[ |]*\d*\Z|\w[ ]?…[ |]*\d*\Z")
"""Ends an entry of a table of contents: dots, and the page's number if it stands behind them."""
_BORDER = re.compile(r"[.?!]['\")\]]*\s+(?=[a-z\d(\"'])")


@dataclass(frozen=True)
class Statement:
    """A stretch of a text. `head` is what stands over it: the head of its table."""

    start: int
    end: int
    text: str
    head: str
    language: str

    @cached_property
    def stems(self) -> Sequence[str]:
        """Its content words, stemmed, in order."""
        return content_stems(self.text, self.language)

    @cached_property
    def head_stems(self) -> frozenset[str]:
        """The content words of its head."""
        return frozenset(content_stems(self.head, self.language)) if self.head else frozenset()

    @property
    def asks(self) -> bool:
        """Whether it is a question: those seldom answer one."""
        return self.text.rstrip("\"'”’) ").endswith("?") or self.text.startswith(_ASKED)

    @property
    def points(self) -> bool:
        """Whether it only names what stands elsewhere: an entry of a table of contents."""
        return _LEADERS.search(self.text) is not None


@lru_cache(maxsize=1_000)
def statements_of(text: str, language: str) -> Sequence[Statement]:
    """Return the statements of a passage's text in order, those that speak to a model left out."""
    return tuple(
        Statement(start, end, text[start:end], "\n".join(table_head(text, start)), language)
        for whole in statement_spans(text)
        for part in _unlabelled(text, *whole)
        for start, end in _parts(text, *part)
        if not is_tainted(text, start, end)
    )


def _unlabelled(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Part an FAQ's question from its answer, and leave the word "Answer:" out; a quote of it is still exact."""
    for label in _PAIR.finditer(text, start, end):
        asked = len(text[: label.start()].rstrip())
        if asked > start:
            yield start, asked
        start = label.end()
    yield start, end


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start <= RUN_ON_CHARACTERS:
        yield start, end
        return
    begin = start
    for border in _borders(text, start, end):
        stop = len(text[:border].rstrip())
        if stop - begin >= SHORTEST_CHARACTERS and (end - border >= SHORTEST_CHARACTERS or border == end):
            yield from _windows(text, begin, stop)
            begin = border


def _borders(text: str, start: int, end: int) -> Iterator[int]:
    for match in _BORDER.finditer(text, start, end):
        between_numbers = text[match.start() - 1].isdigit() and text[match.end() : match.end() + 1].isdigit()
        if not between_numbers and not is_abbreviated(text, match.start()):
            yield match.end()
    yield end


def _windows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST_CHARACTERS:
        half, last = start + LONGEST_CHARACTERS // 2, start + LONGEST_CHARACTERS
        at = max(text.rfind("\n", half, last), -1)
        at = at if at >= 0 else text.rfind(" ", half, last)
        at = at if at >= 0 else last
        yield start, at
        start = at + len(text[at:end]) - len(text[at:end].lstrip())
    if start < end:
        yield start, end
