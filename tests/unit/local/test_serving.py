"""Emulators in a thread of the test's own process, and a server in several processes."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from time import perf_counter
from typing import Any

import httpx
import psutil
import pytest

from local.serving import AtMost, serving
from local.stack.config import PROJECT
from tests.support.waiting import until

LIMIT_S = 90.0
TELLS_ITS_PID = """
import os, sys
from local.serving import serve_in_processes

async def app(scope, receive, send):
    if scope["type"] == "http":
        body = str(os.getpid()).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

serve_in_processes(lambda: app, int(sys.argv[1]), processes=2)
"""

HANGS = """
import asyncio, sys, time
from local.serving import serve_in_processes

async def app(scope, receive, send):
    if scope["type"] == "http":
        print("asked", flush=True)
        await asyncio.to_thread(time.sleep, 600)

serve_in_processes(lambda: app, int(sys.argv[1]), processes=2)
"""


async def hello(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"hello"})


def test_an_answer_in_two_parts_does_not_wait_for_an_acknowledgement() -> None:
    # A delayed acknowledgement is 40 ms late every time once a connection is warm; a busy machine only now and then.
    took = []
    with serving(hello, name="hello") as url, httpx.Client() as client:
        for _ in range(25):
            started = perf_counter()
            assert client.post(url, json={"text": "x" * 100}).text == "hello"
            took.append(perf_counter() - started)
    assert min(took[10:]) < 0.03


async def test_a_crowd_is_served_in_turns_and_who_only_reads_does_not_wait() -> None:
    served: list[str] = []
    leave = asyncio.Event()
    at_once = most = 0

    async def app(scope: dict[str, Any], *_: object) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if scope["method"] == "POST":
            await leave.wait()
        at_once -= 1
        served.append(scope["method"])

    limited = AtMost(app, 2)
    crowd = [asyncio.create_task(limited({"method": "POST"}, None, None)) for _ in range(10)]
    while at_once < 2:
        await asyncio.sleep(0)
    await limited({"method": "GET"}, None, None)
    leave.set()
    await asyncio.gather(*crowd)
    assert served == ["GET", *["POST"] * 10]
    assert most == 3


@pytest.fixture
def port() -> Iterator[int]:
    """A port that nobody else can take meanwhile: bound here, and shared as the server's own processes share it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def server(port: int) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-c", TELLS_ITS_PID, str(port)], cwd=PROJECT) as running:
        yield running
        running.kill()


def pids_that_answer(port: int) -> set[int]:
    """Ask until two processes have answered, each time over a new connection."""
    found: set[int] = set()

    def two() -> bool:
        with suppress(httpx.TransportError):
            found.add(int(httpx.get(f"http://127.0.0.1:{port}", trust_env=False, timeout=LIMIT_S).text))
        return len(found) == 2

    until(two, within_s=LIMIT_S)
    return found


def is_listening(port: int, pid: int) -> bool:
    """Say whether the process listens on the port: the fixture is bound to it, too, but does not listen."""
    return any(
        each.laddr.port == port and each.status == psutil.CONN_LISTEN for each in psutil.Process(pid).net_connections()
    )


def is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux spreads connections over processes")
def test_several_processes_answer_on_one_port_and_end_together(port: int, server: "subprocess.Popen[bytes]") -> None:
    pids = pids_that_answer(port)
    assert server.pid in pids
    server.terminate()
    assert server.wait(LIMIT_S) == 0
    until(lambda: all(is_gone(pid) for pid in pids), within_s=LIMIT_S)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux spreads connections over processes")
def test_the_other_processes_end_when_the_first_is_killed(port: int, server: "subprocess.Popen[bytes]") -> None:
    pids = pids_that_answer(port)
    os.kill(server.pid, signal.SIGKILL)
    until(lambda: all(is_gone(pid) for pid in pids), within_s=LIMIT_S)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux spreads connections over processes")
def test_a_request_that_hangs_in_a_thread_does_not_hold_up_the_stop(port: int) -> None:
    command = [sys.executable, "-c", HANGS, str(port)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            until(lambda: is_listening(port, server.pid), within_s=LIMIT_S)
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
                assert server.stdout.readline() == b"asked\n"
                server.terminate()
                assert server.wait(LIMIT_S) == 0
        finally:
            server.kill()
