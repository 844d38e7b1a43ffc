"""Several Lambdas at once, a provider that says 429 to all of them for a while: all documents are READY in the end.

Seconds are played forty times as fast, for the waits as for the clock that tells when they are over.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest

from functions.ingest import bootstrap
from functions.ingest.changes import change_body, unpack
from functions.ingest.delivery import Batch
from functions.ingest.embedding import BatchEmbedder
from functions.ingest.lease import InvocationTime
from functions.ingest.pipeline import WINDOW
from shared.models import DocumentStatus
from shared.settings import Settings
from tests.support.embeddings import count_embeddings
from tests.support.ingest import Stack, close_clients, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import LocalQueue

WORKERS = 4
DOCUMENTS = 16
FASTER = 40.0
RETRY_AFTER_S = 4
STORM_S = 120.0


@pytest.fixture
def embedded() -> Iterator[Counter[str]]:
    """Text → how often the emulator has embedded it."""
    with pytest.MonkeyPatch.context() as patch:
        yield count_embeddings(patch)


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory, embedded: Counter[str]) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


@dataclass
class SharedQueue(LocalQueue):
    """What several workers take messages from; a delay of SQS's is played fast as well."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    not_before: dict[str, float] = field(default_factory=dict)
    postponed: int = 0

    def send(self, body: str, *, delay_s: int = 0) -> None:
        with self.lock:
            self.postponed += delay_s > 0
            self.not_before[body] = time.monotonic() + delay_s / FASTER
            self.sent.append(body)

    def take(self) -> dict[str, Any] | None:
        with self.lock:
            ready = [body for body in self.sent if self.not_before.get(body, 0.0) <= time.monotonic()]
            if not ready:
                return None
            self.sent.remove(ready[0])
            return self.record(ready[0])


def worker_of(queue: SharedQueue) -> Batch:
    """Wire one Lambda, with clients of its own."""
    settings: dict[str, Any] = {"chunk_size_tokens": 64, "chunk_overlap_tokens": 0, "embedding_batch_inputs": 4}
    batch = bootstrap.build_batch(Settings(**settings))
    access = batch.reconciler.access

    def still(beat: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()

    embedder = BatchEmbedder(
        access.configured.embedder.embedder,
        lambda seconds: time.sleep(seconds / FASTER),
        random.random,
        lambda: time.monotonic() * FASTER,
    )
    access = replace(access, configured=replace(access.configured, embedder=embedder))
    reconciler = replace(batch.reconciler, queue=queue, access=access, heartbeat=still)
    return replace(batch, build_reconciler=lambda: reconciler, queue=queue, heartbeat=still)


def calls(stack: Stack) -> dict[int, int]:
    """Return status → how often the emulator answered an embeddings request so."""
    answered = stack.http.get(f"{stack.openai_url.removesuffix('/v1')}/_admin/calls").raise_for_status().json()
    found: dict[int, int] = {}
    for each in answered["calls"]:
        if each["path"] == "/v1/embeddings":
            found[each["status"]] = found.get(each["status"], 0) + each["count"]
    return found


@pytest.mark.timeout(110)
def test_a_storm_of_429_costs_few_calls_and_no_try_of_any_message(stack: Stack, embedded: Counter[str]) -> None:
    keys = [f"uploads/storm/{n}.pdf" for n in range(DOCUMENTS)]
    queue, unconsumed = SharedQueue(), list[str]()
    for n, key in enumerate(keys):
        stack.put(key, pdf_of([prose(f"Doc{n}", sentences=6, seed=page) for page in range(3)]))
        queue.send(change_body(key))
    admin = f"{stack.openai_url.removesuffix('/v1')}/_admin"
    stack.http.delete(f"{admin}/calls").raise_for_status()
    headers = {"retry-after": str(RETRY_AFTER_S)}
    stack.faults(stack.openai_url, route="/v1/embeddings", kind="status", status=429, headers=headers)
    begun = time.monotonic()

    def blow_over() -> None:
        while 429 not in calls(stack):
            time.sleep(0.05)
        time.sleep(STORM_S / FASTER)
        stack.http.delete(f"{admin}/faults").raise_for_status()

    weather = threading.Thread(target=blow_over)
    weather.start()

    def all_ready() -> bool:
        found = [stack.find(key) for key in keys]
        return all(each is not None and each.status is DocumentStatus.READY for each in found)

    def work(batch: Batch) -> None:
        while time.monotonic() - begun < 90:
            record = queue.take()
            if record is not None:
                deliveries = unpack({"Records": [record]}, request_id="")
                unconsumed.extend(batch.handle(deliveries, InvocationTime(lambda: 900.0)))
            elif not queue.sent and all_ready():
                return
            else:
                time.sleep(0.02)

    with ExitStack() as open_clients:
        batches = [worker_of(queue) for _ in range(WORKERS)]
        for batch in batches:
            open_clients.callback(partial(close_clients, batch))
        threads = [threading.Thread(target=work, args=(batch,)) for batch in batches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    weather.join()
    assert all_ready()
    assert unconsumed == [], "a message came back: after five times it would have died"
    assert queue.postponed > 0, "the storm was too short to postpone anything"
    answered = calls(stack)
    refused, rounds = answered[429], STORM_S / RETRY_AFTER_S
    print(f"{refused} refusals in {rounds:.0f} rounds of {WORKERS} workers; then {answered[200]} requests")  # noqa: T201
    assert refused <= WORKERS * WINDOW * (rounds + 1)
    chunks = sum(stack.document(key).chunk_count for key in keys)
    # Only a delivery under way when the storm ended can have had some answers and been postponed for the others.
    assert answered[200] <= chunks + WORKERS * WINDOW
    assert max(embedded.values()) <= 2, "at most one extra embedding a chunk"
