"""MiniLM (all-MiniLM-L6-v2) on onnxruntime: texts become windows of tokens, windows become vectors, vectors are cached.

A text of up to 254 tokens is one window, and its vector is that of sentence-transformers. A longer one is split into
windows of about the same length, cut after a sentence or at least between words; its vector is the mean over the
tokens of all its windows. Nothing of a text is ignored.

Questions do not wait behind documents. Every request is cut into small batches of windows. Small requests, and those
for answers, have threads of their own; large requests take turns on other threads, which have a lower priority where
the system allows that for single threads (Linux). Neither kind can block the other for ever.
"""

import hashlib
import itertools
import os
import queue
import sqlite3
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from local.openai import tokens
from local.openai.build_graph import HIDDEN, default_model_dir, ensure_graph

WINDOW_TOKENS = 256  # sentence_bert_config.json: max_seq_length, [CLS] and [SEP] included
_ROOM = WINDOW_TOKENS - 2
_LOOK_BACK = 40  # tokens a cut may move back to reach the end of a sentence or word; a sixth of a window

Window = list[int]
Vectors = npt.NDArray[np.float32]


class MiniLM:
    """The model and its tokenizer; `means` may be called by several threads at once."""

    def __init__(self, model_dir: Path, graph: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
        self._tokenizer.no_truncation()  # the file asks for 128 tokens
        self._tokenizer.no_padding()
        vocabulary = self._tokenizer.get_vocab()
        self._cls, self._sep = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._continues = frozenset(number for token, number in vocabulary.items() if token.startswith("##"))
        self._ends = frozenset(vocabulary[mark] for mark in ".!?。" if mark in vocabulary)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # parallel over windows (see engine.py), not inside one product
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(graph),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # the fused operator costs a quarter of the whole
        )

    def windows(self, texts: Sequence[str]) -> list[list[Window]]:
        """Return each text's windows of token ids, [CLS] and [SEP] included; at least one a text."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [[[self._cls, *part, self._sep] for part in self.split(encoding.ids)] for encoding in encodings]

    def split(self, ids: Sequence[int]) -> list[Sequence[int]]:
        """Cut token ids into as few parts of at most 254 as possible, about equally long."""
        parts = []
        start = 0
        while (left := len(ids) - start) > _ROOM:
            even = -(-left // -(-left // _ROOM))
            end = self._cut(ids, start, start + even)
            parts.append(ids[start:end])
            start = end
        parts.append(ids[start:])
        return parts

    def _cut(self, ids: Sequence[int], start: int, end: int) -> int:
        positions = range(end, max(start + 1, end - _LOOK_BACK), -1)
        between_words = [position for position in positions if ids[position] not in self._continues]
        after_sentence = (position for position in between_words if ids[position - 1] in self._ends)
        return next(after_sentence, between_words[0] if between_words else end)

    def means(self, windows: Sequence[Window]) -> Vectors:
        """Return the mean over each window's tokens, shape (windows, 384), not of unit length."""
        ids = np.zeros((len(windows), max(map(len, windows))), np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        means: Vectors = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return means


def pool(means: Vectors, token_counts: Sequence[int]) -> Vectors:
    """Return the unit vector of one text: the mean of its windows' means, weighted by their token counts."""
    mean = np.average(means, axis=0, weights=token_counts)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def resize(vectors: Vectors, dimensions: int) -> Vectors:
    """Return unit vectors of `dimensions`: longer by zeros (same cosines), shorter by cutting and renormalising."""
    if dimensions >= HIDDEN:
        return np.pad(vectors, ((0, 0), (0, dimensions - HIDDEN)))
    cut = vectors[:, :dimensions]
    return np.asarray(cut / np.maximum(np.linalg.norm(cut, axis=1, keepdims=True), 1e-12), np.float32)


_VARIABLES = 500  # SQLite's oldest limit on `?` in one statement is 999


class VectorCache:
    """Vectors on disk by the hash of their text, in a bounded SQLite table, so that a second run is quick.

    `space` keeps the results of different graphs apart. Texts are not stored.
    """

    def __init__(self, path: Path, *, space: str, max_rows: int = 50_000, dimensions: int = HIDDEN) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._space = space
        self._max_rows = max_rows
        self._bytes = 4 * dimensions
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        columns = "id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB UNIQUE, vector BLOB"
        self._db.execute(f"CREATE TABLE IF NOT EXISTS vectors ({columns})")

    def get_many(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors known among `texts`."""
        by_hash = {self._hash(text): text for text in texts}
        found: dict[str, Vectors] = {}
        with self._lock:
            for part in itertools.batched(by_hash, _VARIABLES, strict=False):
                marks = ",".join("?" * len(part))
                rows = self._db.execute(f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})", part)
                whole = ((key, blob) for key, blob in rows if len(blob) == self._bytes)
                found |= {by_hash[key]: np.frombuffer(blob, np.float32) for key, blob in whole}
        return found

    def put_many(self, vectors: Mapping[str, Vectors]) -> None:
        """Remember `vectors`; the oldest rows go when there are more than `max_rows`."""
        rows = [(self._hash(text), np.asarray(vector, np.float32).tobytes()) for text, vector in vectors.items()]
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO vectors (hash, vector) VALUES (?, ?)", rows)
            newest_to_go = "SELECT id FROM vectors ORDER BY id DESC LIMIT 1 OFFSET ?"
            self._db.execute(f"DELETE FROM vectors WHERE id <= ({newest_to_go})", (self._max_rows,))
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _hash(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._space}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]


_BATCH_TOKENS = 512  # padded tokens in one run: ~35 ms on one core, so that threads take turns often
_SMALL_REQUEST_TOKENS = 1_024  # up to here a request counts as a question
_NICENESS = 5  # added for the threads of large requests: beside a busy question they get a quarter of a core


@dataclass(order=True)
class _Task:
    key: tuple[int, int]
    windows: Sequence[Window] = field(compare=False)
    result: "Future[Vectors]" = field(compare=False)


class EmbeddingEngine:
    """Embeds texts as unit vectors of 384 float32; safe to call from many threads. Close it to end its threads.

    `threads` is how many compute for small requests, and how many for large ones.
    """

    def __init__(self, model: MiniLM, *, threads: int, cache: VectorCache | None = None) -> None:
        self._model = model
        self._cache = cache
        self._small: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._large: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._requests = itertools.count()
        self._closed = False
        self._lock = threading.Lock()
        self._workers = [
            threading.Thread(target=self._work, args=(tasks, yields), name=f"minilm-{name}-{number}", daemon=True)
            for name, tasks, yields in (("small", self._small, False), ("large", self._large, True))
            for number in range(threads)
        ]
        for worker in self._workers:
            worker.start()

    def embed(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        """Return unit vectors, shape (texts, 384), in the order of `texts`; each different text is computed once.

        `urgent` gives a large request the priority of a small one, because a person is waiting.
        """
        if not texts:
            return np.empty((0, HIDDEN), np.float32)
        distinct = list(dict.fromkeys(texts))
        known = self._cache.get_many(distinct) if self._cache else {}
        missing = [text for text in distinct if text not in known]
        if missing:
            computed = dict(zip(missing, self._compute(missing, urgent), strict=True))
            if self._cache:
                self._cache.put_many(computed)
            known = known | computed
        return np.stack([known[text] for text in texts])

    def close(self) -> None:
        """End the worker threads; pending requests fail."""
        with self._lock:
            self._closed = True
        for tasks in (self._small, self._large):
            for _ in self._workers:
                # An empty task only wakes a worker; it sorts before everything else.
                tasks.put(_Task((-1, next(self._requests)), (), Future()))
        for worker in self._workers:
            worker.join()
        for tasks in (self._small, self._large):
            while not tasks.empty():
                tasks.get().result.cancel()
        if self._cache:
            self._cache.close()

    def _compute(self, texts: Sequence[str], urgent: bool) -> list[Vectors]:
        windows_of = self._model.windows(texts)
        flat = [window for windows in windows_of for window in windows]
        request = next(self._requests)
        is_large = not urgent and sum(map(len, flat)) > _SMALL_REQUEST_TOKENS
        tasks = self._large if is_large else self._small
        pending: list[tuple[list[int], Future[Vectors]]] = []
        for turn, rows in enumerate(_batches([len(window) for window in flat])):
            task = _Task((turn, request), [flat[row] for row in rows], Future())
            pending.append((rows, task.result))
            with self._lock:  # after `close` no worker takes the task, and this thread would wait for ever
                if self._closed:
                    raise RuntimeError("The engine is closed.")
                tasks.put(task)
        means = np.empty((len(flat), HIDDEN), np.float32)
        for rows, result in pending:
            means[rows] = result.result()
        ends = itertools.accumulate(map(len, windows_of))
        return [
            pool(means[end - len(windows) : end], [len(window) for window in windows])
            for windows, end in zip(windows_of, ends, strict=True)
        ]

    def _work(self, tasks: "queue.PriorityQueue[_Task]", yields: bool) -> None:
        if yields and sys.platform == "linux":  # elsewhere a priority is the whole process's
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + _NICENESS)
        while True:
            task = tasks.get()
            if self._closed:
                task.result.cancel()
                return
            try:
                task.result.set_result(self._model.means(task.windows))
            except Exception as error:  # noqa: BLE001 - raised in the request that waits for it
                task.result.set_exception(error)


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Group rows of about the same length, so that little is spent on padding."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True):
        # Sorted from long to short: the first of a batch is its longest, and sets the cost of each row.
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= _BATCH_TOKENS:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches


def default_threads() -> int:
    """Return how many threads embed: one a core, at most 4, so that a laptop stays usable."""
    return min(4, os.process_cpu_count() or 1)


def open_engine(
    state: Path, *, model_cache: Path | None = None, quantized: bool = True, cached: bool = True
) -> EmbeddingEngine:
    """Load MiniLM, building its graph at first use, and start its threads.

    The graph is kept in `model_cache`, else in `RECTO_MODEL_CACHE`, else under `state`; the vectors always under
    `state`. Raises `FileNotFoundError` when the weights are missing.
    """
    folder = default_model_dir()
    graphs = model_cache or Path(os.environ.get("RECTO_MODEL_CACHE") or state / "model")
    graph = ensure_graph(folder, graphs, quantized=quantized)
    tokens.count("")  # loads the vocabulary now (0.2 s) rather than in the first request
    cache = VectorCache(state / "vectors.sqlite", space=graph.stem) if cached else None
    return EmbeddingEngine(MiniLM(folder, graph), threads=default_threads(), cache=cache)
