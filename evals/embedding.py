"""One embedder for every system that is measured: each distinct text is embedded once, and cached on disk.

MiniLM's vectors are those of the laptop stack's model emulator (the same graph, the same handling of long texts), so a
measurement without the stack gives the same as one with it. Any model behind OpenAI's API can take its place, so that
its threshold can be calibrated. Vectors are kept by the hash of the text, in slices, so that an interrupted run
continues where it stopped and a second run computes nothing.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evals.errors import EvalError
from local.openai import tokens
from local.openai.build_graph import HIDDEN, default_model_dir, ensure_graph
from local.openai.engine import EmbeddingEngine, MiniLM, VectorCache, Vectors, default_threads
from local.openai.models import MINILM
from shared.adapters.openai import OpenAIEmbedder
from shared.errors import RectoError
from shared.models import Embeddings, EmbeddingSpace, Usage

SLICE = 64
"""Texts computed between two commits to disk: about two seconds' worth."""
MAX_ROWS = 400_000
"""Vectors kept: 0.7 GB at most."""
REMOTE_TIMEOUT_S = 120.0
Advance = Callable[[int, int], None]
"""Called with how many texts are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model behind OpenAI's embeddings API. `base_url` ends in /v1."""

    space: EmbeddingSpace
    base_url: str
    api_key: str = field(repr=False)


class SharedEmbedder:
    """MiniLM, or a remote model, with a cache under `folder`. It is also the `Embedder` port of Recto's own pipelines.

    `computed`, `cached` and `seconds` count since `reset_cost`; `graph` names what made the vectors. Close it.
    """

    def __init__(self, folder: Path, *, remote: RemoteModel | None = None) -> None:
        self._engine: EmbeddingEngine | None = None
        self._remote: OpenAIEmbedder | None = None
        if remote is None:
            self.space = EmbeddingSpace(MINILM, HIDDEN)
            self.graph = self._start_engine(folder)
        else:
            self.space = remote.space
            self.graph = f"{remote.space} at {remote.base_url}"
            self._remote = OpenAIEmbedder(base_url=remote.base_url, api_key=remote.api_key, space=remote.space)
        self._cache = VectorCache(
            folder / ("vectors.sqlite" if remote is None else "remote.sqlite"),
            space=self.graph,
            max_rows=MAX_ROWS,
            dimensions=self.space.dimensions,
        )
        self._lock = threading.Lock()
        self.reset_cost()

    def _start_engine(self, folder: Path) -> str:
        graphs = Path(os.environ.get("RECTO_MODEL_CACHE") or folder / "model")
        try:
            model_dir = default_model_dir()
            graph = ensure_graph(model_dir, graphs)
        except FileNotFoundError as error:
            raise EvalError(str(error)) from error
        self._engine = EmbeddingEngine(MiniLM(model_dir, graph), threads=default_threads())
        return graph.stem

    def close(self) -> None:
        """End the model's threads, or the connections to it, and close the cache."""
        for model in (self._engine, self._remote):
            if model is not None:
                model.close()
        self._cache.close()

    def reset_cost(self) -> None:
        """Start counting at zero."""
        self.computed = 0
        self.cached = 0
        self.seconds = 0.0
        self.tokens = 0

    def vectors(self, texts: Sequence[str], *, advance: Advance = lambda _done, _total: None) -> Vectors:
        """Return unit vectors, shape (texts, dimensions), in their order."""
        parts = [np.empty((0, self.space.dimensions), np.float32)]
        for start in range(0, len(texts), SLICE):
            parts.append(self._slice(texts[start : start + SLICE]))
            advance(min(start + SLICE, len(texts)), len(texts))
        return np.concatenate(parts)

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:  # noqa: ARG002 - nothing to wait for
        """Return the vectors as the port `Embedder` has them; tokens are counted as OpenAI counts them."""
        used = sum(map(tokens.count, texts))
        with self._lock:
            self.tokens += used
        return Embeddings(self.vectors(texts).tolist(), Usage(input_tokens=used))

    def _slice(self, texts: Sequence[str]) -> Vectors:
        known = self._cache.get_many(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        started = time.perf_counter()
        if missing:
            computed = dict(zip(missing, self._computed(missing), strict=True))
            self._cache.put_many(computed)
            known |= computed
        with self._lock:
            self.seconds += time.perf_counter() - started
            self.computed += len(missing)
            self.cached += len(set(texts)) - len(missing)
        return np.stack([known[text] for text in texts])

    def _computed(self, texts: Sequence[str]) -> Sequence[Vectors]:
        if self._remote is None:
            return list(self._engine.embed(texts)) if self._engine else []
        try:
            answer = self._remote.embed(texts, timeout_s=REMOTE_TIMEOUT_S)
        except RectoError as error:
            raise EvalError(f"{self.graph} did not embed: {error.message}") from error
        return [np.asarray(vector, np.float32) for vector in answer.vectors]
