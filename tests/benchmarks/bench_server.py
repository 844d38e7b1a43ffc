"""64 clients for 30 seconds on a freshly deployed laptop stack: the API server, beside the emulated API Gateway.

Every question is a new one, so none comes from the answer cache. A client asks again as soon as it has its answer. The
emulator starts a process for each request at a time; its clients give up like a person's would, after 30 s.
"""

import itertools
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx
import pytest
from rich.console import Console

from local.cli_demo import sample_pdfs, sample_questions
from local.client import ApiClient, ApiError
from local.report import Reporter
from local.stack.config import PORTS, LocalConfig
from local.stack.laptop import Laptop
from tests.support.local_stack import UP_LIMIT_S, free_ports

CLIENTS = 64
SECONDS = 30.0
P95_LIMIT_S = 10.0
GATEWAY_SECONDS = 10.0
QUESTIONS = [each.question for each in sample_questions()]


@dataclass(slots=True)
class Measured:
    """The seconds of every answer, and every error."""

    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[int(share * (len(ordered) - 1))] if ordered else float("nan")

    def told(self, name: str) -> str:
        errors = ", ".join(f"{count} × {error}" for error, count in self.errors.most_common(3)) or "none"
        quantiles = f"median {self.quantile(0.5):.2f} s, p95 {self.quantile(0.95):.2f} s"
        return f"{name}: {len(self.seconds)} answers, {quantiles}, errors: {errors}\n"


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    stack = Laptop(LocalConfig(state=tmp_path_factory.mktemp("stack"), **ports), Reporter(Console(quiet=True)))  # type: ignore[arg-type]
    stack.up()
    try:
        with stack.client(streaming=True) as api:
            uploads = [api.upload(pdf) for pdf in sample_pdfs()]
            for each in uploads:
                assert api.wait_until_final(each.document_id)["status"] == "READY"
        yield stack
    finally:
        stack.down()


def measured(url: str, token: str, seconds: float, numbers: Callable[[], int]) -> Measured:
    result, lock = Measured(), threading.Lock()
    until = time.monotonic() + seconds

    def client() -> None:
        with ApiClient(url, token) as api:
            while time.monotonic() < until:
                number = numbers()
                begun = time.monotonic()
                try:
                    api.query(f"Case {number}: {QUESTIONS[number % len(QUESTIONS)]}")
                except (ApiError, httpx.HTTPError) as error:
                    with lock:
                        result.errors[str(error).partition(" (request")[0]] += 1
                else:
                    with lock:
                        result.seconds.append(time.monotonic() - begun)

    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(CLIENTS):
            pool.submit(client)
    return result


@pytest.mark.timeout(UP_LIMIT_S + 180)
def test_a_crowd_asks(laptop: Laptop) -> None:
    numbers = itertools.count().__next__
    token = laptop.token()
    server = measured(laptop.config.streaming_url, token, SECONDS, numbers)
    gateway = measured(laptop.deployed().api_url, token, GATEWAY_SECONDS, numbers)
    sys.stdout.write(f"\n{CLIENTS} clients, {SECONDS:g} s\n{server.told('API server')}{gateway.told('API Gateway')}")
    assert not server.errors
    assert server.quantile(0.95) <= P95_LIMIT_S
