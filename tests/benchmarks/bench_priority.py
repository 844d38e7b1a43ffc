"""How long a question waits for the model emulator while documents are ingested, beside an idle emulator.

Some clients embed batches of passages without a pause, as ingest does; one asks for the vector of a question, and then
for the sentences of its passages, as an answer does. In the same run: the same questions with nobody else there, and
the batches with no questions between them.
"""

import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.openai_server import running_openai

CLIENTS = 3

PASSAGES = 8
WORDS_OF_PASSAGE = 120
QUESTIONS = 15
SOURCES = 20
LIMIT_S = 3.0
"""Generous: a guard against questions that wait for whole documents, not a promise."""
TEXT = "the annual report of a company says that its net revenue rose by more than half in the third quarter"


def passage(number: int, words: int) -> str:
    vocabulary = TEXT.split()
    picked = (vocabulary[(number * 7 + place * place) % len(vocabulary)] for place in range(words))
    return " ".join(f"{word}{number % 9}" for word in picked) + "."


class Client:
    """Embeds texts that no cache has seen."""

    def __init__(self, base_url: str) -> None:
        self._http = httpx.Client(base_url=base_url, headers={"Authorization": "Bearer any"}, timeout=300)
        self._next = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        self._http.close()

    def embed(self, count: int, words: int) -> float:
        """Embed `count` new texts and return the seconds it took."""
        with self._lock:
            first, self._next = self._next, self._next + count
        texts = [f"{first + number} {passage(first + number, words)}" for number in range(count)]
        begun = time.perf_counter()
        body = {"model": "all-MiniLM-L6-v2", "input": texts}
        self._http.post("/embeddings", json=body).raise_for_status()
        return time.perf_counter() - begun

    def ask(self, _number: int = 0) -> float:
        """Embed a question, then have it answered from sources that were never seen; return the seconds."""
        embedding = self.embed(1, 12)
        with self._lock:
            first, self._next = self._next, self._next + SOURCES
        sources = "".join(
            f'<source n="{n}" title="t" page="1">\n{passage(first + n, 15)} {passage(first - n, 20)}\n</source>\n'
            for n in range(SOURCES)
        )
        body = {
            "model": "extractive-minilm",
            "messages": [{"role": "user", "content": f"{sources}Question: {passage(first, 12)}"}],
        }
        begun = time.perf_counter()
        self._http.post("/chat/completions", json=body).raise_for_status()
        return embedding + time.perf_counter() - begun


@contextmanager
def ingesting(client: Client) -> Iterator[Callable[[], float]]:
    """Keep the emulator busy with batches; yields what returns the passages a second so far."""
    stop = threading.Event()
    done: list[int] = []
    begun = time.perf_counter()

    def work() -> None:
        while not stop.is_set():
            client.embed(PASSAGES, WORDS_OF_PASSAGE)
            done.append(PASSAGES)

    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(CLIENTS):
            pool.submit(work)
        try:
            yield lambda: sum(done) / (time.perf_counter() - begun)
        finally:
            stop.set()


@pytest.mark.timeout(600)
def test_questions_beside_ingest(tmp_path: Path) -> None:
    with running_openai(tmp_path, cached=False) as url:
        client = Client(url)
        client.ask()
        idle = [client.ask() for _ in range(QUESTIONS)]
        with ingesting(client) as rate:
            time.sleep(8)
            alone = rate()
        with ingesting(client) as rate:
            time.sleep(2)
            busy = [client.ask() for _ in range(QUESTIONS)]
            time.sleep(max(0.0, 8 - sum(busy)))
            calm = rate()
        with ingesting(client) as rate, ThreadPoolExecutor(4) as crowd:
            time.sleep(2)
            crowded = list(crowd.map(client.ask, range(3 * QUESTIONS)))
            beside = rate()
        client.close()
    median, slowest = statistics.median(busy), max(busy)
    sys.stdout.write(
        f"\na question's two requests: {1000 * statistics.median(idle):.0f} ms idle, {1000 * median:.0f} ms beside "
        f"{CLIENTS} clients that ingest ({median / statistics.median(idle):.1f} ×), slowest {slowest:.2f} s; "
        f"{statistics.median(crowded):.2f} s with four askers without a pause\n"
        f"passages ingested a second: {alone:.1f} alone, {calm:.1f} beside one asker, {beside:.1f} beside four\n"
    )
    assert slowest <= LIMIT_S
