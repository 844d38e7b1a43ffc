"""What Recto itself adds to a question: the whole handler, with upstreams that answer at once.

Fakes stand in for embeddings, vectors, chat and DynamoDB; everything else is the deployed code: API Gateway's event in,
Mangum, FastAPI, the pipeline with seven passages of about 500 tokens, the response out. Beside it, in the same run, an
empty route of the same application on the same event: the ratio is what Recto's own work comes to. Limits (DESIGN):
median ≤ 15 ms, 95th percentile ≤ 40 ms; held to is CPU time, so that neighbours on the machine do not count.
"""

import contextlib
import copy
import io
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from functions.query import app as query_app
from functions.query.bootstrap import Services
from functions.query.pipeline import QueryPorts
from functions.query.routes import dependencies
from shared.adapters.aws import SystemClock
from shared.settings import Settings
from shared.telemetry import logger
from tests.support.query import FakeChat, FakeConversations, FakeEmbedder, FakeRegistry, match, query_ports

EVENT = Path(__file__).parents[2] / "events" / "api_post_query.json"
CALLS = 150
P50_LIMIT_MS = 15.0
P95_LIMIT_MS = 40.0
SENTENCES = [
    f"Clause {n} says that the pump of unit {n % 9} is serviced every {n + 3} weeks by the crew of the eastern shed."
    for n in range(25)
]


@dataclass(frozen=True)
class Context:
    """As much of Lambda's context as is asked for."""

    function_name: str = "query"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:query"
    aws_request_id: str = "bench"

    def get_remaining_time_in_millis(self) -> int:
        """Return a lot."""
        return 30_000


def ports(chat: FakeChat | None) -> QueryPorts:
    """Seven passages on seven documents, about 500 tokens each."""
    matches = [match(f"{' '.join(SENTENCES)} Document {n}.", n=n, score=0.8 - n / 100) for n in range(1, 8)]
    return query_ports(matches, chat=chat)


def event(path: str, method: str = "POST") -> dict[str, Any]:
    found: dict[str, Any] = copy.deepcopy(json.loads(EVENT.read_text()))
    body = json.dumps({"question": "How often is the pump of unit 4 serviced, and by whom?"})
    return found | {"path": path, "httpMethod": method, "body": body if method == "POST" else None}


def timed(call: Callable[[], dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return CPU and wall milliseconds of each call."""
    cpu, wall = [], []
    with contextlib.redirect_stdout(io.StringIO()):  # metrics are written there
        for _ in range(CALLS):
            started, started_cpu = time.perf_counter(), time.process_time()
            assert call()["statusCode"] == 200
            cpu.append(1000 * (time.process_time() - started_cpu))
            wall.append(1000 * (time.perf_counter() - started))
    return cpu, wall


@pytest.mark.parametrize("mode", ["extractive", "generated"])
def test_own_time_of_a_warm_query(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_TRACE_DISABLED", "true")
    monkeypatch.setattr(logger.registered_handler, "stream", io.StringIO())  # written, but not into the figures
    chat = (
        FakeChat("The pump is serviced every 7 weeks [1]. The eastern shed does it [2].")
        if mode == "generated"
        else None
    )
    wired = ports(chat)
    settings = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2, embedding_cache_ttl_s=0)
    services = Services(settings, SystemClock(), FakeRegistry(), FakeConversations(), objects=None)  # type: ignore[arg-type]
    monkeypatch.setattr(Services, "query_ports", lambda _self: wired)
    monkeypatch.setitem(query_app.app.dependency_overrides, dependencies._services, lambda: services)
    asked, empty = event("/query"), event("/bench-empty", "GET")
    if not any(getattr(route, "path", "") == "/bench-empty" for route in query_app.app.routes):
        query_app.app.get("/bench-empty")(lambda: {})

    def ask() -> dict[str, Any]:
        assert isinstance(wired.embedder, FakeEmbedder)
        return query_app.handler(asked, Context())  # type: ignore[arg-type]

    timed(ask)  # warm
    cpu, wall = timed(ask)
    base, _ = timed(lambda: query_app.handler(empty, Context()))  # type: ignore[arg-type]
    p50, p95 = statistics.median(cpu), sorted(cpu)[int(0.95 * CALLS)]
    empty_ms = statistics.median(base)
    sys.stdout.write(
        f"\nquery, {mode}: own CPU time p50 {p50:.1f} ms, p95 {p95:.1f} ms (clock {statistics.median(wall):.1f}); "
        f"{p50 / empty_ms:.1f} × an empty route ({empty_ms:.1f} ms)\n"
    )
    assert p50 <= P50_LIMIT_MS
    assert p95 <= P95_LIMIT_MS
