"""The options and shared resources of every command."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.display import Display
from evals.embedding import RemoteModel, SharedEmbedder
from evals.storage import ResultCache, write_json

Progress = Callable[[str, int, int], None]
"""Called with the name of the step, how much of it is done, and how much there is in all."""


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

    @property
    def chosen(self) -> dict[str, int | None]:
        """The options that decide about figures."""
        return {"sample": self.sample, "seed": self.seed}

    def save(self, result: Mapping[str, object]) -> None:
        """Write the result where `--json` says. Raises `EvalError`."""
        if self.json:
            write_json(self.json, result)


@dataclass(frozen=True, slots=True)
class SystemContext:
    """What every system is built with: the shared embedder, the cache of results, a folder, and the progress report."""

    embedder: SharedEmbedder
    cache: ResultCache
    folder: Path
    progress: Progress = lambda _what, _done, _total: None


@contextmanager
def open_context(options: Options) -> Iterator[SystemContext]:
    """Open the shared embedder on the cache folder."""
    with closing(SharedEmbedder(options.cache / "embeddings", remote=options.remote)) as embedder:
        yield SystemContext(embedder, ResultCache(options.cache), options.cache, options.display.advance)
