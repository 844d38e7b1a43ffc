"""What every command is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.cache import ResultCache
from evals.embedding import RemoteModel, SharedEmbedder
from evals.progress import Display
from evals.systems.base import SystemContext


@dataclass(frozen=True, slots=True)
class Options:
    """The options all commands share. `seed` is that of the bootstrap; `fresh` forgets cached results, not vectors."""

    data: Path
    json: Path | None
    sample: int | None
    cache: Path
    seed: int
    fresh: bool
    display: Display
    remote: RemoteModel | None = None


@contextmanager
def embedding(options: Options) -> Iterator[SharedEmbedder]:
    """Open the shared embedder on the cache folder."""
    with SharedEmbedder(options.cache / "embeddings", remote=options.remote) as embedder:
        yield embedder


def context_of(options: Options, embedder: SharedEmbedder) -> SystemContext:
    """Return what systems are built with."""
    return SystemContext(embedder, ResultCache(options.cache), options.cache, options.display.advance)
