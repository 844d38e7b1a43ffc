"""What every source is read as, whatever its kind: passages, and what was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.models import Chunk, DocumentError, DocumentStatus, MetadataValue, PageReport


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk, and what its vector's metadata holds beside the usual."""

    chunk: Chunk
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a source turned out to be, once all its passages have been taken."""

    status: DocumentStatus
    error: DocumentError | None
    page_count: int
    report: Sequence[PageReport]


class Source(Protocol):
    """An opened object. `findings` is complete when `passages` is exhausted."""

    @property
    def title(self) -> str:
        """The document's title."""
        ...

    def passages(self) -> Iterator[Passage]:
        """Yield the passages in order, the same ones every time for the same bytes and settings."""
        ...

    def findings(self) -> Findings:
        """Return status, reason and report."""
        ...
