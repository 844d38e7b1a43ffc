"""The official Pinecone clients, sync and async, behind one blocking interface, so that one test uses both."""

import asyncio
import inspect
from typing import Any

import httpx
from pinecone import AsyncIndex, AsyncPinecone, Index, Pinecone

API_KEY = "test-key"


def create_index(url: str, name: str, *, dimension: int = 4, metric: str = "dotproduct", sparse: bool = True) -> str:
    """Create an index, a hybrid one if the metric allows it, and return its host."""
    fields: dict[str, Any] = {"_values": {"type": "dense_vector", "dimension": dimension, "metric": metric}}
    if metric == "dotproduct" and sparse:
        fields["_sparse_values"] = {"type": "sparse_vector"}
    with Pinecone(api_key=API_KEY, host=url) as client:
        return str(client.indexes.create(name=name, schema={"fields": fields}).host)


def wire(host: str) -> httpx.Client:
    """A plain HTTP client that shows bodies and headers as they are."""
    return httpx.Client(base_url=host, headers={"Api-Key": API_KEY, "X-Pinecone-Api-Version": "2026-07"}, timeout=30)


class Blocking:
    """An async client whose calls wait for their result; async iterators become lists."""

    def __init__(self, client: Any, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            result = found(*args, **kwargs)
            if inspect.isasyncgen(result):
                return self._runner.run(_collect(result))
            return self._runner.run(_awaited(result)) if inspect.isawaitable(result) else result

        return call


async def _collect(items: Any) -> list[Any]:
    return [item async for item in items]


async def _awaited(result: Any) -> Any:
    return await result


def index_client(kind: str, host: str, runner: asyncio.Runner) -> Any:
    """A data-plane client: the sync one, or the async one made blocking."""
    if kind == "sync":
        return Index(host=host, api_key=API_KEY)
    return Blocking(AsyncIndex(host=host, api_key=API_KEY), runner)


def control_client(kind: str, url: str, runner: asyncio.Runner) -> Any:
    """A control-plane client, likewise."""
    if kind == "sync":
        return Pinecone(api_key=API_KEY, host=url)
    return Blocking(AsyncPinecone(api_key=API_KEY, host=url), runner)
