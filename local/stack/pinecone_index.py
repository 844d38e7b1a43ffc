"""Creates the Pinecone index the stack searches: on the emulator, or with a real key on Pinecone itself."""

import time
from collections.abc import Callable
from typing import Any

import httpx

from local.stack.config import EMBEDDING_DIMENSIONS, PINECONE_INDEX, LocalStackError

API_VERSION = "2025-10"
"""Version of Pinecone's API whose control plane is spoken here."""


def ensure(
    control_url: str,
    *,
    name: str = PINECONE_INDEX,
    dimension: int = EMBEDDING_DIMENSIONS,
    metric: str = "dotproduct",
    cloud: str = "aws",
    region: str = "us-east-1",
    api_key: str = "local",
    timeout_s: float = 120.0,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> bool:
    """Make the serverless index if it is missing, wait until it is ready, and say whether it was made now.

    `metric` is dotproduct, because only such an index takes sparse values beside dense ones; vectors have unit length,
    so the scores are cosines all the same. Raises `LocalStackError` when the key is refused, or when an index of this
    name has another dimension or metric: the embedding space is part of the name, so that would be somebody else's.
    """
    headers = {"Api-Key": api_key, "X-Pinecone-API-Version": API_VERSION}
    with httpx.Client(base_url=control_url, headers=headers, timeout=30.0) as http:
        found = _call(http, "GET", f"/indexes/{name}")
        created = found is None
        if found is None:
            spec = {"serverless": {"cloud": cloud, "region": region}}
            _call(
                http,
                "POST",
                "/indexes",
                json={"name": name, "dimension": dimension, "metric": metric, "spec": spec},
            )
        elif (found["dimension"], found["metric"]) != (dimension, metric):
            raise LocalStackError(
                f"There is an index {name} already, with dimension {found['dimension']} and metric {found['metric']} "
                f"instead of {dimension} and {metric}: choose another name with --name."
            )
        deadline = clock() + timeout_s
        while not ((found := _call(http, "GET", f"/indexes/{name}")) and found["status"]["ready"]):
            if clock() > deadline:
                raise LocalStackError(f"The index {name} was not ready within {timeout_s:g} s; try again later.")
            wait(0.5)
    return created


def _call(http: httpx.Client, method: str, path: str, **kwargs: Any) -> dict[str, Any] | None:
    """Call the control plane; None for 404."""
    try:
        response = http.request(method, path, **kwargs)
    except httpx.HTTPError as error:
        raise LocalStackError(f"Pinecone's control plane at {http.base_url} does not answer ({error}).") from error
    if response.status_code == 404 and method == "GET":
        return None
    if not response.is_success:
        raise LocalStackError(f"Pinecone answered {response.status_code} to {method} {path}: {response.text[:300]}")
    body: dict[str, Any] = response.json()
    return body
