"""Runs MiniLM on a few threads so that a question does not wait behind a whole document.

Every request is cut into small batches of windows. Small requests go first; large ones take turns, batch by batch.
"""

import itertools
import os
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from local.openai import tokens
from local.openai.build_graph import HIDDEN, default_model_dir, ensure_graph
from local.openai.cache import VectorCache
from local.openai.minilm import MiniLM, Vectors, Window, pool

_BATCH_TOKENS = 512  # padded tokens in one run: ~35 ms on one core, so the wait of a question is short
_SMALL_REQUEST_TOKENS = 1_024  # up to here a request counts as a question


@dataclass(order=True)
class _Task:
    key: tuple[int, int, int]
    windows: Sequence[Window] = field(compare=False)
    result: "Future[Vectors]" = field(compare=False)


class Engine:
    """Embeds texts as unit vectors of 384 float32; safe to call from many threads. Close it to end its threads."""

    def __init__(self, model: MiniLM, *, threads: int, cache: VectorCache | None = None) -> None:
        self._model = model
        self._cache = cache
        self._tasks: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._requests = itertools.count()
        self._closed = False
        self._lock = threading.Lock()
        self._workers = [
            threading.Thread(target=self._work, name=f"minilm-{number}", daemon=True) for number in range(threads)
        ]
        for worker in self._workers:
            worker.start()

    def embed(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        """Return unit vectors, shape (texts, 384), in the order of `texts`; each different text is computed once.

        `urgent` lets a large request go before the others too, for a person is waiting.
        """
        distinct = list(dict.fromkeys(texts))
        known = self._cache.get_many(distinct) if self._cache else {}
        missing = [text for text in distinct if text not in known]
        if missing:
            computed = dict(zip(missing, self._compute(missing, urgent), strict=True))
            if self._cache:
                self._cache.put_many(computed)
            known = known | computed
        if not texts:
            return np.empty((0, HIDDEN), np.float32)
        return np.stack([known[text] for text in texts])

    @property
    def waiting(self) -> int:
        """How many batches wait for a thread."""
        return self._tasks.qsize()

    def close(self) -> None:
        """End the worker threads; requests under way fail."""
        with self._lock:
            self._closed = True
        for _ in self._workers:
            # An empty task only wakes a worker up; it sorts before everything else.
            self._tasks.put(_Task((-1, 0, next(self._requests)), (), Future()))
        for worker in self._workers:
            worker.join()
        while not self._tasks.empty():
            self._tasks.get().result.cancel()
        if self._cache:
            self._cache.close()

    def _compute(self, texts: Sequence[str], urgent: bool) -> list[Vectors]:
        windows_of = self._model.windows(texts)
        flat = [window for windows in windows_of for window in windows]
        request = next(self._requests)
        large = int(not urgent and sum(map(len, flat)) > _SMALL_REQUEST_TOKENS)
        pending: list[tuple[list[int], Future[Vectors]]] = []
        for turn, rows in enumerate(_batches([len(window) for window in flat])):
            task = _Task((large, turn, request), [flat[row] for row in rows], Future())
            pending.append((rows, task.result))
            with self._lock:  # after `close` nobody would take the task, and this thread would wait for ever
                if self._closed:
                    raise RuntimeError("The engine is closed.")
                self._tasks.put(task)
        means = np.empty((len(flat), HIDDEN), np.float32)
        for rows, result in pending:
            means[rows] = result.result()
        vectors = []
        start = 0
        for windows in windows_of:
            end = start + len(windows)
            vectors.append(pool(means[start:end], [len(window) for window in windows]))
            start = end
        return vectors

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            if self._closed:
                task.result.cancel()
                return
            try:
                task.result.set_result(self._model.means(task.windows))
            except Exception as error:  # noqa: BLE001 - handed to the request that waits for it
                task.result.set_exception(error)


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Group rows of about the same length, so that little is spent on padding."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True):
        # Sorted from long to short: the first of a batch is its longest, and sets what each row costs.
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= _BATCH_TOKENS:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches


def default_threads() -> int:
    """Return how many threads embed: one a core, at most 4, so that a laptop stays usable."""
    return min(4, os.process_cpu_count() or 1)


def open_engine(
    state: Path,
    *,
    model_dir: Path | None = None,
    model_cache: Path | None = None,
    threads: int = 0,
    quantized: bool = True,
    cached: bool = True,
) -> Engine:
    """Load MiniLM, building its graph at first use, and start its threads.

    The graph is kept in `model_cache`, else in `RECTO_MODEL_CACHE`, else under `state`; the vectors always under
    `state`. Raises `FileNotFoundError` when the weights are missing.
    """
    folder = model_dir or default_model_dir()
    graphs = model_cache or Path(os.environ.get("RECTO_MODEL_CACHE") or state / "model")
    graph = ensure_graph(folder, graphs, quantized=quantized)
    tokens.count("")  # loads the vocabulary now (0.2 s) rather than in the first request
    cache = VectorCache(state / "vectors.sqlite", space=graph.stem) if cached else None
    return Engine(MiniLM(folder, graph), threads=threads or default_threads(), cache=cache)
