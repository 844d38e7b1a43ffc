"""The interface of a measured system: take PDFs, answer a question with ranked chunks. And the systems by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from evals.context import SystemContext
from evals.errors import EvalError, not_installed

SYSTEMS = {
    "recto": "evals.systems.recto:RectoInProcess",
    "langchain": "evals.systems.langchain:LangChain",
    "llamaindex": "evals.systems.llamaindex:LlamaIndex",
    "bm25-pages": "evals.systems.bm25_pages:Bm25Pages",
}
STACK = "evals.systems.stack:RectoOnStack"
"""Recto in this process, and as deployed on the laptop. A peer's library is imported when it is used."""


@dataclass(slots=True)
class Ingested:
    """The cost of ingesting: chunks, tokens (of cl100k, as OpenAI bills them), seconds by stage; and what went wrong.

    `pages` names every page some chunk covers; `problems` maps a PDF's name to why it is not (or not all) there.
    """

    chunks: int = 0
    tokens: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    pages: set[tuple[str, int]] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A retrieved chunk: the PDF's file name, the pages it covers (from 1, most of the chunk first), its score."""

    doc: str
    pages: Sequence[int]
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A question's ranked chunks, best first, with the first words of each for people to look at.

    `score` is what a refusal is decided on, the best similarity where a system never refuses (None where there is
    none, as with BM25); `refused` is what it decided, None where it never refuses. `milliseconds` are by stage.
    """

    hits: Sequence[RankedChunk]
    snippets: Sequence[str] = ()
    score: float | None = None
    refused: bool | None = None
    milliseconds: Mapping[str, float] = field(default_factory=dict)


class System(Protocol):
    """One retrieval system. Its adapter stays thin: what is measured is the system."""

    name: str
    """The name for `--system`."""
    settings: Mapping[str, object]
    """Its settings."""
    versions: Mapping[str, str]
    """The versions of its libraries."""

    @property
    def threshold(self) -> float | None:
        """The similarity under which it refuses, None when it never does."""
        ...

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Take in all the PDFs. One that cannot be read is a problem to report, not an error."""
        ...

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Return the best `k` chunks, within one PDF when `doc` names it."""
        ...

    def close(self) -> None:
        """Stop whatever was started."""
        ...


def chosen_systems(named: Sequence[Sequence[str]] | None) -> list[str]:
    """Return the names, each once, in their order; `all` means all, none means Recto. Raises `EvalError`."""
    names = [name for group in named or [["recto"]] for name in group]
    chosen = list(dict.fromkeys([*SYSTEMS] if "all" in names else names))
    for name in chosen:
        if name not in SYSTEMS:
            raise EvalError(f"There is no system {name!r}: choose from {', '.join(SYSTEMS)}, all.")
    return chosen


def open_system(
    name: str, context: SystemContext, *, on_stack: bool = False, rerank_path: Path | None = None
) -> System:
    """Build one of `SYSTEMS`, Recto `on_stack` if asked, or with the cross-encoder in a folder.

    Raises `EvalError` when a library is not installed.
    """
    module, _, attribute = (STACK if on_stack and name == "recto" else SYSTEMS[name]).partition(":")
    try:
        build: Callable[..., System] = getattr(import_module(module), attribute)
        return build(context) if name != "recto" or rerank_path is None else build(context, rerank_path=rerank_path)
    except ModuleNotFoundError as error:
        raise not_installed(name, error) from error


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
