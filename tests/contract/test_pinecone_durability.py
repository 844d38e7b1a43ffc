"""What was acknowledged stays, what is written becomes visible in order, and many may ask at once."""

import concurrent.futures
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from pinecone import Index

from tests.support.pinecone_clients import API_KEY, create_index, wire
from tests.support.pinecone_server import running_pinecone
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _committed(response: Any) -> int:
    """The sequence number a write was given."""
    lsn = response.response_info.lsn_committed
    assert isinstance(lsn, int)
    return lsn


def _reflects(response: Any, lsn: int) -> bool:
    """Whether a read had seen the write of that number."""
    return bool(response.response_info.is_reconciled(lsn))


def _start(state: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "local.pinecone", "--port", str(port), "--state", str(state)]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})

    def is_up() -> bool:
        assert process.poll() is None, "the emulator stopped by itself"
        with suppress(httpx.HTTPError):
            return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=1).is_success
        return False

    until(is_up, what="the emulator's start", within_s=30, every_s=0.02)
    return process


def test_every_acknowledged_write_survives_kill_9(tmp_path: Path) -> None:
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    process = _start(tmp_path, port)
    acknowledged: list[str] = []
    sent: list[str] = []
    try:
        create_index(url, "kept", dimension=8)
        enough = threading.Event()

        def write(writer: int) -> None:
            with wire(url) as http:
                for batch in range(10_000):
                    ids = [f"{writer}-{batch}-{n}" for n in range(20)]
                    vectors = [{"id": record_id, "values": [1, 2, 3, 4, 5, 6, 7, batch]} for record_id in ids]
                    sent.extend(ids)
                    try:
                        answer = http.post("/vectors/upsert", json={"vectors": vectors, "namespace": "n"})
                    except httpx.TransportError:
                        return
                    assert answer.status_code == 200
                    acknowledged.extend(ids)
                    if len(acknowledged) > 1_000:
                        enough.set()

        with concurrent.futures.ThreadPoolExecutor() as pool:
            writers = [pool.submit(write, writer) for writer in range(3)]
            assert enough.wait(timeout=30)
            process.send_signal(signal.SIGKILL)
            process.wait()
            for writer in writers:
                writer.result()
        process = _start(tmp_path, port)
        with Index(host=url, api_key=API_KEY) as index:
            kept = {item.id for page in index.list(namespace="n") for item in page.vectors}
            assert set(acknowledged) <= kept <= set(sent)
            assert index.describe_index_stats().namespaces["n"].vector_count == len(kept)
            last = acknowledged[-1]
            assert index.query(id=last, top_k=1, namespace="n", include_values=True).matches[0].values[:3] == [1, 2, 3]
            # Sequence numbers go on where they stopped.
            assert _committed(index.upsert(vectors=[("x", [1.0] * 8)], namespace="n")) > len(acknowledged) // 20
    finally:
        process.kill()
        process.wait()


def test_reads_say_which_write_they_reflect(tmp_path: Path) -> None:
    with running_pinecone(tmp_path) as url, Index(host=create_index(url, "lsn"), api_key=API_KEY) as index:
        assert _committed(index.upsert(vectors=[("a", [1, 0, 0, 0])], namespace="n")) == 1
        assert _reflects(index.query(vector=[1, 0, 0, 0], top_k=1, namespace="n"), 1)
        assert _committed(index.update(id="a", set_metadata={"x": 1}, namespace="n")) == 2
        assert _reflects(index.fetch(ids=["a"], namespace="n"), 2)
        assert not _reflects(index.fetch(ids=["a"], namespace="n"), 3)


def test_writes_become_visible_after_the_delay_and_in_order(tmp_path: Path) -> None:
    with (
        running_pinecone(tmp_path, visibility_delay_s=1.5) as url,
        Index(host=create_index(url, "slow"), api_key=API_KEY) as index,
    ):
        lsn = _committed(index.upsert(vectors=[("a", [1, 0, 0, 0], {"v": 1})], namespace="n"))
        index.upsert(vectors=[("a", [1, 0, 0, 0], {"v": 2})], namespace="n")
        early = index.query(vector=[1, 0, 0, 0], top_k=1, namespace="n")
        assert early.matches == []
        assert not _reflects(early, lsn)
        assert index.fetch(ids=["a"], namespace="n").vectors == {}
        seen: list[int] = []

        def look() -> Any:
            found = index.query(vector=[1, 0, 0, 0], top_k=1, namespace="n", include_metadata=True)
            seen.extend(match.metadata["v"] for match in found.matches if match.metadata)
            return found

        found = until(look, lambda _: seen[-1:] == [2], what="the second write", within_s=10, every_s=0)
        assert seen == sorted(seen)
        assert _reflects(found, lsn)


def test_what_a_write_selects_it_selects_among_everything_committed(tmp_path: Path) -> None:
    with (
        running_pinecone(tmp_path, visibility_delay_s=60) as url,
        wire(url) as admin,
        Index(host=create_index(url, "slow"), api_key=API_KEY) as index,
    ):
        index.upsert(vectors=[("old", [1, 0, 0, 0], {"v": 1}), ("new", [1, 0, 0, 0], {"v": 2})], namespace="n")
        assert index.update(filter={"v": 2}, set_metadata={"w": 1}, namespace="n").matched_records == 1
        index.delete(filter={"v": 1}, namespace="n")
        assert index.describe_index_stats().total_vector_count == 0
        assert admin.post("/_admin/visibility", json={"delay_s": 0}).status_code == 200
        found = index.query(vector=[1, 0, 0, 0], top_k=9, namespace="n", include_metadata=True)
        assert [(match.id, match.metadata) for match in found.matches] == [("new", {"v": 2, "w": 1})]
        index.delete(ids=["new"], namespace="n")
        assert index.query(vector=[1, 0, 0, 0], top_k=9, namespace="n").matches == []


def test_the_visibility_route_explains_itself(tmp_path: Path) -> None:
    with running_pinecone(tmp_path) as url, wire(url) as http:
        assert http.post("/_admin/visibility", content=b"soon").status_code == 400


def test_many_clients_write_and_read_at_once(tmp_path: Path) -> None:
    with running_pinecone(tmp_path) as url, Index(host=create_index(url, "busy"), api_key=API_KEY) as index:

        def work(worker: int) -> None:
            mine = f"w{worker}"
            for turn in range(15):
                ids = [f"{mine}-{turn}-{n}" for n in range(10)]
                index.upsert(vectors=[(one, [1.0, worker, turn, 1.0], {"w": mine}) for one in ids], namespace="n")
                found = index.query(vector=[1, 0, 0, 0], top_k=500, namespace="n", filter={"w": mine})
                # Read your own writes, and whole batches only.
                assert len(found.matches) == 9 * turn + 10
                index.delete(ids=ids[:1], namespace="n")

        with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
            for future in [pool.submit(work, worker) for worker in range(8)]:
                future.result()
        assert index.describe_index_stats().namespaces["n"].vector_count == 8 * 15 * 9


@pytest.mark.parametrize("arguments", [[], ["--port", "1"], ["--state", "x"]])
def test_the_command_line_says_what_it_needs(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "local.pinecone", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "required" in result.stderr
