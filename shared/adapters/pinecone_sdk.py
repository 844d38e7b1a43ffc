"""Pinecone's SDK as the adapter wants it: one try a call, errors of our tree, requests within the vendor's limits.

The SDK is imported when a client is built, because it costs a cold start a third of a second.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from shared.adapters.deadline_http import DeadlineBackend
from shared.errors import (
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)
from shared.models import MetadataValue, VectorRecord
from shared.settings import Settings

if TYPE_CHECKING:
    from pinecone import Index, Pinecone

DEPENDENCY = "vectors"

MAX_UPSERT_VECTORS = 1_000
MAX_UPSERT_BYTES = 2_000_000
"""Bytes of vectors in one request: the vendor's 2 MB, taken as the smaller of its two meanings."""

_ANSWER_TYPES = Lock()


def control_client(settings: Settings, api_key: str, *, timeout_s: float) -> "Pinecone":
    """Build a control-plane client; `timeout_s` is for each of at most three tries."""
    from pinecone import Pinecone, RetryConfig
    from pinecone.models.indexes.index import IndexModel

    _work_out(IndexModel)
    return Pinecone(
        api_key=api_key,
        host=settings.pinecone_control_url,
        timeout=timeout_s,
        retry_config=RetryConfig(max_retries=2, backoff_factor=0.25, max_wait=2.0),
    )


def index_client(host: str, api_key: str) -> "Index":
    """Build a data-plane client that tries once.

    The SDK (10.2) takes a retry policy for the control plane only, so the transport is built again with one; and its
    connections bound each read alone, so they are opened by the backend that knows when the whole has to end. Contract
    tests count the requests and drip on them, and fail should a new version ignore this.
    """
    from dataclasses import replace

    from pinecone import Index, RetryConfig
    from pinecone._internal.constants import DATA_PLANE_API_VERSION
    from pinecone._internal.http_client import HTTPClient
    from pinecone.models.vectors import responses

    index = Index(host=host, api_key=api_key, timeout=10.0, connection_pool_maxsize=20)
    index._http.close()
    index._http = HTTPClient(replace(index._config, retry_config=RetryConfig(max_retries=0)), DATA_PLANE_API_VERSION)
    transport: Any = index._http._client._transport
    transport._transport._pool._network_backend = DeadlineBackend()
    _work_out(
        responses.QueryResponse,
        responses.FetchResponse,
        responses.ListResponse,
        responses.UpsertResponse,
        responses.DescribeIndexStatsResponse,
    )
    return index


def _work_out(*answers: type) -> None:
    """Have msgspec, by which the SDK reads answers, work out their types in one thread.

    It does so at a type's first use, without a lock: a second thread that reads such an answer meanwhile finds the type
    half made, and the process dies of it (seen with msgspec 0.22, where both searches of a new container's first
    question came back at once, and where the clients of two index versions were built at once).
    """
    from msgspec.json import Decoder

    with _ANSWER_TYPES:
        for kind in answers:
            Decoder(kind)


@contextmanager
def vendor_errors() -> Iterator[None]:
    """Translate the SDK's errors. Messages are cut: they quote what was sent."""
    from pinecone.errors import ApiError, PineconeConnectionError, PineconeError, PineconeTimeoutError

    try:
        yield
    except PineconeTimeoutError as error:
        raise DependencyTimeout(DEPENDENCY, "Pinecone did not answer in time") from error
    except PineconeConnectionError as error:
        raise DependencyUnavailable(DEPENDENCY, "no connection to Pinecone, or it broke") from error
    except ApiError as error:
        raise _translated(error.status_code, error.message[:200], getattr(error, "retry_after", None)) from error
    except PineconeError as error:
        # What is left: our arguments did not pass the SDK's own checks, or the answer was no JSON of the known shape.
        garbled = type(error).__name__ == "ResponseParsingError"
        kind = DependencyUnavailable if garbled else DependencyRefused
        raise kind(DEPENDENCY, str(error)[:200]) from error


def _translated(status: int, message: str, retry_after_s: float | None) -> DependencyError:
    text = f"{status} {message}"
    if status == 429:
        return RateLimited(DEPENDENCY, text, retry_after_s=retry_after_s)
    if status in (402, 403):
        return QuotaExhausted(DEPENDENCY, text)
    if status == 408 or status >= 500:
        return DependencyUnavailable(DEPENDENCY, text)
    return DependencyRefused(DEPENDENCY, text)


def upsert_batches(records: Sequence[VectorRecord]) -> Iterator[list[dict[str, Any]]]:
    """Split records into requests of at most 1,000 vectors and 2 MB as encoded; a larger record goes alone."""
    import orjson  # What the SDK encodes with, so that sizes are exact.

    batch: list[dict[str, Any]] = []
    size_bytes = 0
    for record in records:
        vector = _wire_vector(record)
        vector_bytes = len(orjson.dumps(vector)) + 1
        if batch and (len(batch) == MAX_UPSERT_VECTORS or size_bytes + vector_bytes > MAX_UPSERT_BYTES):
            yield batch
            batch, size_bytes = [], 0
        batch.append(vector)
        size_bytes += vector_bytes
    if batch:
        yield batch


def _wire_vector(record: VectorRecord) -> dict[str, Any]:
    vector: dict[str, Any] = {"id": record.id, "values": list(record.values), "metadata": dict(record.metadata)}
    if record.sparse is not None and record.sparse.indices:
        vector["sparse_values"] = {"indices": list(record.sparse.indices), "values": list(record.sparse.values)}
    return vector


def plain_metadata(metadata: Mapping[str, Any] | None) -> dict[str, MetadataValue]:
    """Pinecone keeps every number as a float; whole ones are counts and pages here, so they become `int` again."""
    return {
        name: int(value) if type(value) is float and value.is_integer() else value
        for name, value in (metadata or {}).items()
    }
