"""What a system has to do to be measured: take PDFs, answer a question with ranked chunks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from evals.cache import ResultCache
from evals.embedding import SharedEmbedder
from evals.ranking import Hit

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is in all."""


@dataclass(frozen=True, slots=True)
class SystemContext:
    """What every system is built with: the one embedder, the cache of results, and where to tell progress."""

    embedder: SharedEmbedder
    cache: ResultCache
    folder: Path
    progress: Progress = lambda _what, _done, _total: None


@dataclass(slots=True)
class Ingested:
    """What ingesting cost: chunks, tokens (of cl100k, as OpenAI bills them), seconds by stage; and what went wrong.

    `pages` names every page some chunk covers; `problems` maps a PDF's name to why it is not (or not all) there.
    """

    chunks: int = 0
    tokens: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    pages: set[tuple[str, int]] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A question's ranked chunks, best first, with the first words of each for people to look at.

    `score` is what a refusal is decided on, the best similarity where a system never refuses (None where there is
    none, as with BM25); `refused` is what it decided, None where it never refuses. `milliseconds` are by stage.
    """

    hits: Sequence[Hit]
    snippets: Sequence[str] = ()
    score: float | None = None
    refused: bool | None = None
    milliseconds: Mapping[str, float] = field(default_factory=dict)


class System(Protocol):
    """One retrieval system. Its adapter stays thin: what is measured is the system."""

    @property
    def name(self) -> str:
        """The name it is chosen by."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything that was chosen about it."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of what it is made of."""
        ...

    @property
    def threshold(self) -> float | None:
        """The similarity under which it refuses, None when it never does."""
        ...

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Take in all the PDFs. One that cannot be read is a problem to report, not an error."""
        ...

    def search(self, question: str, k: int, *, doc: str | None = None) -> Found:
        """Return the best `k` chunks, within one PDF when `doc` names it."""
        ...

    def close(self) -> None:
        """Stop whatever was started."""
        ...
