"""Faults, seen from a client over a real socket."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from local.faults import FaultMiddleware
from local.serving import serving
from tests.support.waiting import until

ANSWER = {"answer": "x" * 1000}


async def _echo(request: Request) -> JSONResponse:
    return JSONResponse({**ANSWER, "got": len(await request.body())})


def _read_into(received: bytearray, response: httpx.Response) -> None:
    for piece in response.iter_bytes():
        received.extend(piece)


class FaultClient:
    """A client with its own connections, and the admin routes by name."""

    def __init__(self, base_url: str) -> None:
        self.http = httpx.Client(base_url=base_url, timeout=5)

    def break_with(self, **rule: Any) -> str:
        response = self.http.post("/_admin/faults", json=rule)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def statuses(self, path: str, times: int) -> list[int]:
        return [self.http.post(path, content=b"{}").status_code for _ in range(times)]

    def calls(self) -> dict[tuple[str, str, int], int]:
        calls = self.http.get("/_admin/calls").json()["calls"]
        return {(call["method"], call["path"], call["status"]): call["count"] for call in calls}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    routes = [Route(path, _echo, methods=["GET", "POST"]) for path in ("/query", "/vectors/upsert", "/i/a/query")]
    app = FaultMiddleware(Starlette(routes=routes), path_of=lambda path: path.removeprefix("/i/a"))
    with serving(app, name="faults") as url:
        yield url


@pytest.fixture
def client(base_url: str) -> Iterator[FaultClient]:
    client = FaultClient(base_url)
    client.http.delete("/_admin/faults")
    client.http.delete("/_admin/calls")
    yield client
    client.http.delete("/_admin/faults")
    client.http.close()


def test_without_rules_nothing_changes(client: FaultClient) -> None:
    assert client.http.post("/query", content=b"abc").json() == {**ANSWER, "got": 3}


def test_a_status_is_answered_count_times_with_headers_and_body(client: FaultClient) -> None:
    client.break_with(
        route="/query", kind="status", status=429, headers={"Retry-After": "1"}, body={"code": 8}, count=2
    )
    first = client.http.post("/query")
    assert (first.status_code, first.headers["retry-after"], first.json()) == (429, "1", {"code": 8})
    assert client.statuses("/query", 3) == [429, 200, 200]


def test_the_first_requests_can_be_let_through(client: FaultClient) -> None:
    client.break_with(route="/query", kind="status", status=503, skip=2, count=1)
    assert client.statuses("/query", 4) == [200, 200, 503, 200]


def test_a_rule_is_for_its_route_and_method_only(client: FaultClient) -> None:
    client.break_with(route="/vectors/*", method="post", kind="status", status=500)
    assert client.statuses("/query", 1) == [200]
    assert client.statuses("/vectors/upsert", 1) == [500]
    assert client.http.get("/vectors/upsert").status_code == 200


def test_a_rule_speaks_of_the_path_without_what_the_emulator_put_in_front(client: FaultClient) -> None:
    client.break_with(route="/query", kind="status", status=500)
    assert client.statuses("/i/a/query", 1) == [500]
    assert client.calls() == {("POST", "/query", 500): 1}


def test_probability_repeats_with_its_seed(client: FaultClient) -> None:
    runs = []
    for _ in range(2):
        client.break_with(route="/query", kind="status", status=500, probability=0.5, seed=7)
        runs.append(client.statuses("/query", 20))
        client.http.delete("/_admin/faults")
    assert runs[0] == runs[1]
    assert set(runs[0]) == {200, 500}


def test_a_delay_comes_before_the_real_answer(client: FaultClient) -> None:
    client.break_with(route="/query", kind="delay", delay_s=0.2, count=1)
    started = time.monotonic()
    assert client.statuses("/query", 1) == [200]
    assert time.monotonic() - started >= 0.2


def test_a_reset_ends_the_connection_without_an_answer(client: FaultClient) -> None:
    client.break_with(route="/query", kind="reset", count=1)
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        client.http.post("/query", content=b"x" * 100_000)
    assert client.statuses("/query", 1) == [200]
    assert client.calls() == {("POST", "/query", 0): 1, ("POST", "/query", 200): 1}


def test_a_truncated_body_is_shorter_than_announced(client: FaultClient) -> None:
    client.break_with(route="/query", kind="truncate", count=1)
    received = bytearray()
    with client.http.stream("POST", "/query") as response:
        with pytest.raises(httpx.RemoteProtocolError):
            _read_into(received, response)
        announced = int(response.headers["content-length"])
    assert response.status_code == 200
    assert announced == len(json.dumps({**ANSWER, "got": 0}, separators=(",", ":")))
    assert len(received) == announced // 2
    assert client.statuses("/query", 1) == [200]


def test_a_hanging_request_never_answers(client: FaultClient) -> None:
    client.break_with(route="/query", kind="hang")
    with pytest.raises(httpx.ReadTimeout):
        client.http.post("/query", timeout=0.2)


def test_a_dripping_answer_never_ends(client: FaultClient) -> None:
    client.break_with(route="/query", kind="drip", headers={"Content-Type": "text/plain"})
    with client.http.stream("POST", "/query", content=b"abc") as response:
        pieces = response.iter_raw()
        assert [next(pieces) for _ in range(3)] == [b" "] * 3
    assert (response.status_code, response.headers["content-type"]) == (200, "text/plain")


def test_a_rule_can_be_for_bodies_with_or_without_a_word(client: FaultClient) -> None:
    client.break_with(route="/query", kind="status", status=500, holding="sparse", lacking="dense")
    bodies = [b"", b"sparse", b"sparse dense", b"dense"]
    assert [client.http.post("/query", content=body).status_code for body in bodies] == [200, 500, 200, 200]
    assert client.http.post("/query", content=b"x" * 100_000).json()["got"] == 100_000


def hanging(client: FaultClient) -> int:
    return int(client.http.get("/_admin/faults").json()["hanging"])


def test_a_hanging_request_hangs_until_its_client_gives_up(client: FaultClient, base_url: str) -> None:
    client.break_with(route="/query", kind="hang", count=1)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{base_url}/query", timeout=0.1)
    assert client.calls() == {("POST", "/query", 0): 1}
    until(lambda: hanging(client), lambda requests: requests == 0, what="its end", within_s=10, every_s=0.005)


def test_clearing_lets_hanging_requests_go(client: FaultClient, base_url: str) -> None:
    client.break_with(route="/query", kind="hang", count=1)
    failures: list[Exception] = []

    def ask() -> None:
        try:
            httpx.post(f"{base_url}/query", timeout=5)
        except httpx.TransportError as error:
            failures.append(error)

    waiting = threading.Thread(target=ask)
    waiting.start()
    until(lambda: hanging(client), what="the request", every_s=0.005)
    assert waiting.is_alive()
    client.http.delete("/_admin/faults")
    waiting.join(timeout=3)
    assert not waiting.is_alive()
    assert not isinstance(failures[0], httpx.TimeoutException)


def test_the_list_shows_what_remains(client: FaultClient) -> None:
    rule_id = client.break_with(route="/query", kind="status", count=2)
    client.statuses("/query", 1)
    faults = client.http.get("/_admin/faults").json()["faults"]
    assert [(fault["id"], fault["kind"], fault["count"]) for fault in faults] == [(rule_id, "status", 1)]


def test_calls_are_counted_and_the_counters_can_be_reset(client: FaultClient) -> None:
    client.statuses("/query", 3)
    client.http.get("/nowhere")
    assert client.calls() == {("POST", "/query", 200): 3, ("GET", "/nowhere", 404): 1}
    client.http.delete("/_admin/calls")
    assert client.calls() == {}


@pytest.mark.parametrize("rule", [{"kind": "explode"}, {"kind": "status", "statsu": 1}, {"kind": "hang", "count": 0}])
def test_a_rule_that_makes_no_sense_is_refused(client: FaultClient, rule: dict[str, Any]) -> None:
    assert client.http.post("/_admin/faults", json=rule).status_code == 400
    assert client.http.get("/_admin/faults").json()["faults"] == []
