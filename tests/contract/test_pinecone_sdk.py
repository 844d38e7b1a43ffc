"""What `shared.adapters.pinecone_sdk` makes up for in Pinecone's SDK: an upgrade that changes it fails here."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import httpx
import pinecone
import pytest

from shared.adapters.pinecone import control_client, index_client
from tests.support.pinecone_clients import API_KEY, create_index, wire
from tests.support.pinecone_server import running_pinecone


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running_pinecone(tmp_path_factory.mktemp("pinecone")) as url, wire(url) as client:
        create_index(url, "recto")
        yield client


def calls(admin: httpx.Client, path: str) -> int:
    return sum(each["count"] for each in admin.get("/_admin/calls").json()["calls"] if each["path"] == path)


@pytest.fixture
def busy(admin: httpx.Client) -> Iterator[str]:
    admin.delete("/_admin/calls")
    for route in ("/query", "/indexes"):
        fault = {"route": route, "kind": "status", "status": 429, "headers": {"Retry-After": "0"}}
        admin.post("/_admin/faults", json=fault).raise_for_status()
    yield str(admin.base_url).rstrip("/")
    admin.delete("/_admin/faults")


def test_an_index_still_takes_no_retry_policy_so_the_exception_is_still_needed() -> None:
    assert "retry_config" not in inspect.signature(pinecone.Index).parameters
    given = pinecone.Pinecone(api_key="key", retry_config=pinecone.RetryConfig(max_retries=0))
    assert "retry_config" not in inspect.signature(given.index).parameters


def test_the_sdk_s_index_would_try_four_times(admin: httpx.Client, busy: str) -> None:
    policy = pinecone.RetryConfig(max_retries=0)
    with (
        pinecone.Pinecone(api_key=API_KEY, host=busy, retry_config=policy) as client,
        client.index(host=busy) as index,
        pytest.raises(pinecone.RateLimitError),
    ):
        index.query(namespace="t", vector=[1.0, 0.0, 0.0, 0.0], top_k=1)
    assert calls(admin, "/query") == 4


def test_ours_tries_once(admin: httpx.Client, busy: str) -> None:
    with index_client(busy, API_KEY) as index, pytest.raises(pinecone.RateLimitError):
        index.query(namespace="t", vector=[1.0, 0.0, 0.0, 0.0], top_k=1)
    assert calls(admin, "/query") == 1


def test_the_control_plane_is_told_by_its_public_setting(admin: httpx.Client, busy: str) -> None:
    with control_client(busy, API_KEY, timeout_s=5) as client, pytest.raises(pinecone.RateLimitError):
        client.describe_index("recto")
    assert calls(admin, "/indexes/recto") == 1


def test_the_exception_stays_small() -> None:
    path = Path(inspect.getsourcefile(index_client) or "").with_name("pinecone_sdk.py")
    assert len(path.read_text().splitlines()) <= 40


def test_nothing_else_reaches_into_an_sdk() -> None:
    project = Path(__file__).parents[2]
    private = ("._transport", "._http", "_network_backend", "pinecone._", "openai._")
    found = [
        str(path.relative_to(project))
        for folder in ("functions", "shared", "evals", "local")
        for path in (project / folder).rglob("*.py")
        if path.name != "pinecone_sdk.py" and any(each in path.read_text() for each in private)
    ]
    assert found == []
