"""MiniLM for every system that is measured: each distinct text is embedded once, and remembered on disk.

The vectors are those of the laptop stack's model emulator (the same graph, the same handling of long texts), so what is
measured without the stack is what the stack does. They are kept by the hash of the text, in slices, so that a run that
was interrupted goes on where it stopped and a second run computes nothing.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from evals.errors import EvalError
from local.openai import tokens
from local.openai.build_graph import HIDDEN, default_model_dir, ensure_graph
from local.openai.cache import VectorCache
from local.openai.engine import Engine, default_threads
from local.openai.minilm import MiniLM, Vectors
from local.openai.models import MINILM
from shared.models import Embeddings, EmbeddingSpace, Usage

SLICE = 64
"""Texts computed between two commits to disk: about two seconds' worth."""
MOST_ROWS = 400_000
"""Vectors kept: 0.7 GB at most."""
Advance = Callable[[int], None]


class SharedEmbedder:
    """MiniLM with its cache under `folder`. It is also the `Embedder` port of Recto's own pipelines.

    `computed`, `cached` and `seconds` tell what was done since `reset_cost`. Close it, or use `with`.
    """

    def __init__(self, folder: Path, *, quantized: bool = True) -> None:
        graphs = Path(os.environ.get("RECTO_MODEL_CACHE") or folder / "model")
        try:
            model_dir = default_model_dir()
            graph = ensure_graph(model_dir, graphs, quantized=quantized)
        except FileNotFoundError as error:
            raise EvalError(str(error)) from error
        self.space = EmbeddingSpace(MINILM, HIDDEN)
        self.graph = graph.stem
        self._engine = Engine(MiniLM(model_dir, graph), threads=default_threads())
        self._cache = VectorCache(folder / "vectors.sqlite", space=graph.stem, max_rows=MOST_ROWS)
        self._lock = threading.Lock()
        self.reset_cost()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the model's threads and close the cache."""
        self._engine.close()
        self._cache.close()

    def reset_cost(self) -> None:
        """Count anew."""
        self.computed = 0
        self.cached = 0
        self.seconds = 0.0
        self.tokens = 0

    def vectors(self, texts: Sequence[str], *, advance: Advance = lambda _: None) -> Vectors:
        """Return unit vectors, shape (texts, 384), in the order of `texts`; `advance` is told how many are done."""
        parts = [np.empty((0, HIDDEN), np.float32)]
        for start in range(0, len(texts), SLICE):
            part = texts[start : start + SLICE]
            parts.append(self._slice(part))
            advance(len(part))
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
            computed = dict(zip(missing, self._engine.embed(missing), strict=True))
            self._cache.put_many(computed)
            known |= computed
        with self._lock:
            self.seconds += time.perf_counter() - started
            self.computed += len(missing)
            self.cached += len(set(texts)) - len(missing)
        return np.stack([known[text] for text in texts]) if texts else np.empty((0, HIDDEN), np.float32)
