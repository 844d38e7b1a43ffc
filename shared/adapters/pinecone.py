"""Vectors in Pinecone, and reranking by it, through the official SDK.

The SDK is imported when a client is built, because importing it is slow. Its own retries are off: `Retry` decides.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import batched
from threading import Lock
from typing import TYPE_CHECKING, Any

from shared.adapters.provider_health import HEALTH, without_echo
from shared.adapters.retry import Guard, Retry
from shared.adapters.secrets import ApiKey, KeyedClient, with_renewed_key
from shared.deadline import Closable, call_within
from shared.errors import (
    ConfigurationError,
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    KeyRefused,
    QuotaExhausted,
    RateLimited,
)
from shared.models import Filter, Match, MetadataValue, SparseVector, VectorRecord
from shared.settings import Settings

if TYPE_CHECKING:
    from pinecone import ApiError, Index, Pinecone

MAX_UPSERT_VECTORS = 1_000
MAX_UPSERT_BYTES = 2_000_000
"""Bytes of vectors in one request: the vendor's 2 MB, taken as the smaller of its two meanings."""
MAX_DELETE_IDS = 1_000
LIST_PAGE = 100
FETCH_IDS = 100
"""Ids of one fetch go into its URL: a hundred of ours make 7 KB of the 8 KB that are safe."""
RERANK_TIMEOUT_S = 10.0
"""Seconds for each read of a rerank response; the caller bounds the whole."""

_VECTORS = "vectors"
_DECODERS = Lock()
_LASTING_LIMIT = {
    402: re.compile(""),
    403: re.compile(r"quota|\breached|\bupgrade", re.IGNORECASE),
    429: re.compile(r"quota|\bmonth", re.IGNORECASE),
}
"""Words in an error's message that mean a limit which retries cannot outlast. A monthly limit is a 429 like one per
second, a full project a 403 like a wrong key (docs.pinecone.io, "Rate limits" and "Object limits")."""
WRITE_ATTEMPTS = 5
FIRST_WAIT_S = 0.5
"""Attempts of a write, and seconds before the second one."""
WRITE_TIMEOUT_S = 20.0
RESOLVE_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 10.0
"""Seconds that a write, the question for an index's host, and any other call may take."""
MAX_CONNECTIONS = 20
"""Connections to an index at once."""


class PineconeIndex:
    """`VectorSearch`, `VectorWriter` and `VectorReader` on one index. Thread-safe; connections are kept.

    A search is one attempt within the caller's time; with a `guard` one more if the first failed quickly and the retry
    budget allows it, and none while the breaker is open. Writes can be repeated safely: transient failures are retried
    as `writes` says, each attempt within `write_timeout_s`.
    """

    def __init__(
        self,
        *,
        host: str,
        api_key: str | ApiKey,
        write_timeout_s: float = WRITE_TIMEOUT_S,
        writes: Retry | None = None,
        guard: Guard | None = None,
    ) -> None:
        self._index = KeyedClient(api_key, partial(index_client, host))
        self._timeout_s = write_timeout_s
        self._writes = writes or Retry(_VECTORS, attempts=WRITE_ATTEMPTS, first_wait_s=FIRST_WAIT_S)
        self._searches = Retry(_VECTORS, attempts=2 if guard else 1, guard=guard)

    def query(
        self,
        *,
        namespace: str,
        vector: Sequence[float],
        sparse: SparseVector | None = None,
        top_k: int,
        filter: Filter | None = None,
        timeout_s: float,
        metadata: bool = True,
        is_retry: bool = False,
    ) -> Sequence[Match]:
        """Return up to `top_k` matches, best first, within `timeout_s`. Raises `DependencyError`."""

        def attempt(left_s: float) -> Any:
            return self._call(
                left_s,
                lambda index: index.query(
                    top_k=top_k,
                    vector=list(vector),
                    sparse_vector={"indices": list(sparse.indices), "values": list(sparse.values)} if sparse else None,
                    namespace=namespace,
                    filter=filter,
                    include_metadata=metadata,
                    timeout=left_s,
                ),
                private=(filter or {},),
            )

        response = self._searches.run(attempt, timeout_s=timeout_s, is_retry=is_retry)
        matches = [Match(match.id, match.score, _plain_metadata(match.metadata)) for match in response.matches]
        # The vendor does not promise the order it returns.
        return sorted(matches, key=lambda match: -match.score)

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        """Write records of any number, in requests of at most 1,000 vectors and 2 MB. Raises `DependencyError`."""
        for vectors in upsert_batches(records):
            self._persist(
                lambda index, vectors=vectors: index.upsert(  # type: ignore[misc]
                    vectors=vectors, namespace=namespace, show_progress=False, timeout=self._timeout_s
                ),
                private=[vector["metadata"] for vector in vectors],
            )

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        """Delete by id, any number; missing ids and namespaces are not an error. Raises `DependencyError`."""
        for some in batched(ids, MAX_DELETE_IDS, strict=False):
            self._persist(partial(self._delete, namespace, list(some)))

    def _delete(self, namespace: str, ids: list[str], index: "Index") -> None:
        from pinecone import NotFoundError

        with suppress(NotFoundError):  # the namespace comes into being with its first vector: nothing is there
            index.delete(ids=ids, namespace=namespace, timeout=self._timeout_s)

    def list_ids(self, *, namespace: str, prefix: str) -> Iterator[Sequence[str]]:
        """Yield pages of the ids that start with `prefix`. Raises `DependencyError`."""
        token: str | None = None
        while True:
            ids, token = self._persist(partial(self._page, namespace, prefix, token))
            if ids:
                yield ids
            if token is None:
                return

    def _page(self, namespace: str, prefix: str, token: str | None, index: "Index") -> tuple[list[str], str | None]:
        page = index.list_paginated(
            prefix=prefix, limit=LIST_PAGE, pagination_token=token, namespace=namespace, timeout=self._timeout_s
        )
        ids = [item.id for item in page.vectors if item.id is not None]
        return ids, page.pagination.next if page.pagination is not None else None

    def fetch(self, *, namespace: str, ids: Sequence[str]) -> Mapping[str, VectorRecord]:
        """Return those of the vectors that are visible by now, with their dense values. Raises `DependencyError`."""
        found: dict[str, VectorRecord] = {}
        for some in batched(ids, FETCH_IDS, strict=False):
            found |= self._persist(partial(self._fetch, namespace, list(some)))
        return found

    def _fetch(self, namespace: str, ids: list[str], index: "Index") -> dict[str, VectorRecord]:
        from pinecone import NotFoundError

        try:
            answer = index.fetch(ids=ids, namespace=namespace, timeout=self._timeout_s)
        except NotFoundError:
            return {}  # no vector was ever written to this namespace
        return {
            vector.id: VectorRecord(vector.id, vector.values, _plain_metadata(vector.metadata))
            for vector in answer.vectors.values()
        }

    def drop(self, *, namespace: str) -> None:
        """Delete a namespace with all its vectors; a missing one is not an error. Raises `DependencyError`."""
        self._persist(partial(self._drop, namespace))

    def _drop(self, namespace: str, index: "Index") -> None:
        from pinecone import NotFoundError

        with suppress(NotFoundError):
            index.delete_namespace(name=namespace, timeout=self._timeout_s)

    def ping(self, *, timeout_s: float) -> None:
        """Ask for the index's statistics; `HEALTH` notes whether that works. Raises `DependencyError`."""
        try:
            self._call(timeout_s, lambda index: index.describe_index_stats(timeout=timeout_s))
        except DependencyError as error:
            HEALTH.failed(error, when_asked=True)
            raise
        HEALTH.reached(_VECTORS)

    def close(self) -> None:
        """Close the connections."""
        self._index.close()

    def _persist[T](self, use: Callable[["Index"], T], *, private: Sequence[object] = ()) -> T:
        return self._writes.run(lambda _: self._call(self._timeout_s, use, private=private))

    def _call[T](self, timeout_s: float, use: Callable[["Index"], T], *, private: Sequence[object] = ()) -> T:
        def translated(index: "Index") -> T:
            with _vendor_errors(_VECTORS, private=private):
                return use(index)

        return self._index.call(timeout_s, _VECTORS, translated)


class PineconeReranker:
    """`Reranker` by a model that Pinecone hosts: one attempt, within the caller's time. Thread-safe."""

    def __init__(self, *, base_url: str, api_key: str | ApiKey, model: str, guard: Guard | None = None) -> None:
        self._client = KeyedClient(api_key, partial(control_client, base_url, timeout_s=RERANK_TIMEOUT_S))
        self._model = model
        self._retry = Retry("rerank", attempts=1, guard=guard)

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        """Return one score a text, 0 to 1, in their order. Raises `DependencyError`."""

        def ask(client: "Pinecone") -> dict[int, float]:
            private = [question, *texts]
            with _vendor_errors("rerank", private=private, check=": check RECTO_RERANK_MODEL and the key"):
                result = client.inference.rerank(
                    model=self._model,
                    query=question,
                    documents=list(texts),
                    top_n=len(texts),
                    return_documents=False,
                    parameters={"truncate": "END"},
                )
            return {ranked.index: float(ranked.score) for ranked in result.data}

        scores = self._retry.run(lambda left_s: self._client.call(left_s, "rerank", ask), timeout_s=timeout_s)
        if sorted(scores) != list(range(len(texts))):
            raise DependencyUnavailable("rerank", f"Pinecone scored {len(scores)} of {len(texts)} texts")
        return [scores[at] for at in range(len(texts))]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


# --- which index -------------------------------------------------------------------------------------------------


def resolve_host(settings: Settings, api_key: str | ApiKey, *, timeout_s: float = RESOLVE_TIMEOUT_S) -> str:
    """Return the index's data-plane host: the one configured, else the one the control plane names.

    The index must match the embedding space. A configured host is asked directly, because the control plane may be
    unreachable there. A refused key is read again, once. Raises `ConfigurationError` if the index is missing or does
    not match, `DependencyError` if no answer comes within `timeout_s`.
    """
    return with_renewed_key(ApiKey.of(api_key), partial(_resolved, settings, timeout_s))


def _resolved(settings: Settings, timeout_s: float, api_key: str) -> str:
    if settings.pinecone_host:
        stats = _once(
            index_client(settings.pinecone_host, api_key),
            lambda index, left_s: index.describe_index_stats(timeout=left_s),
            timeout_s,
        )
        _check_fit(settings, settings.pinecone_host, stats.dimension, stats.metric)
        return settings.pinecone_host
    control = control_client(settings.pinecone_control_url, api_key, timeout_s=timeout_s)
    index = _once(control, lambda client, _: _described(client, settings.pinecone_index), timeout_s)
    _check_fit(settings, settings.pinecone_index, index.dimension, index.metric)
    if not index.status.ready or not index.host:
        raise DependencyUnavailable(_VECTORS, f"index {settings.pinecone_index!r} is {index.status.state}")
    return str(index.host)


def _described(client: "Pinecone", name: str) -> Any:
    from pinecone import NotFoundError

    try:
        return client.describe_index(name)
    except NotFoundError as error:
        raise ConfigurationError(
            f"There is no Pinecone index {name!r}. Create it with `make index`, or set "
            "RECTO_PINECONE_INDEX (template parameter PineconeIndex) to the one you have."
        ) from error


def _once[C: Closable, T](client: C, use: Callable[[C, float], T], timeout_s: float) -> T:
    """Make one call, retried within `timeout_s`, and close the client."""

    def attempt(left_s: float) -> T:
        def translated() -> T:
            with _vendor_errors(_VECTORS):
                return use(client, left_s)

        return call_within(left_s, _VECTORS, translated)

    try:
        return Retry(_VECTORS).run(attempt, timeout_s=timeout_s)
    finally:
        client.close()


def _check_fit(settings: Settings, name: str, dimension: int | None, metric: str | None) -> None:
    if dimension != settings.embedding_dimensions:
        raise ConfigurationError(
            f"The Pinecone index {name!r} holds vectors of {dimension} dimensions, but "
            f"{settings.embedding_model} is set to {settings.embedding_dimensions}. Use an index of "
            f"{settings.embedding_dimensions} dimensions, or set RECTO_EMBEDDING_DIMENSIONS to {dimension} and "
            "ingest everything again."
        )
    if metric == "euclidean":
        raise ConfigurationError(
            f"The Pinecone index {name!r} ranks by euclidean distance; scores are taken as cosine "
            "similarity. Use an index with the metric dotproduct."
        )


# --- the SDK -----------------------------------------------------------------------------------------------------


def control_client(base_url: str, api_key: str, *, timeout_s: float) -> "Pinecone":
    """Build a control-plane client that makes one attempt per call; `timeout_s` is for each read."""
    import pinecone

    _prepare_decoders(pinecone.IndexModel, pinecone.RerankResult)
    return pinecone.Pinecone(
        api_key=api_key, host=base_url, timeout=timeout_s, retry_config=pinecone.RetryConfig(max_retries=0)
    )


def index_client(host: str, api_key: str) -> "Index":
    """Build a data-plane client that makes one attempt per call."""
    import pinecone

    from shared.adapters.pinecone_sdk import without_retries

    _prepare_decoders(
        pinecone.QueryResponse,
        pinecone.FetchResponse,
        pinecone.ListResponse,
        pinecone.UpsertResponse,
        pinecone.DescribeIndexStatsResponse,
    )
    return without_retries(
        pinecone.Index(host=host, api_key=api_key, timeout=CALL_TIMEOUT_S, connection_pool_maxsize=MAX_CONNECTIONS)
    )


def _prepare_decoders(*answers: type) -> None:
    """Have msgspec, which decodes the SDK's responses, prepare their types in one thread.

    It prepares a type at first use, without a lock: a second thread that decodes the same type meanwhile finds it half
    made, and the process crashes (seen with msgspec 0.22: both searches of a new container's first question came back
    at once, or the clients of two index versions were built at once).
    """
    from msgspec.json import Decoder

    with _DECODERS:
        for answer in answers:
            Decoder(answer)


@contextmanager
def _vendor_errors(dependency: str, *, private: Sequence[object] = (), check: str = "") -> Iterator[None]:
    """Translate the SDK's errors. `private` are the values sent, whose texts no error message repeats."""
    import httpx
    from pinecone import ApiError, PineconeConnectionError, PineconeError, PineconeTimeoutError, ResponseParsingError

    try:
        yield
    except PineconeTimeoutError as error:
        raise DependencyTimeout(dependency, "Pinecone did not answer in time") from error
    except PineconeConnectionError as error:
        raise DependencyUnavailable(dependency, "no connection to Pinecone, or it broke") from error
    except ApiError as error:
        raise _translated(dependency, error, private, check) from error
    except ResponseParsingError as error:
        raise DependencyUnavailable(dependency, "the answer of Pinecone is malformed") from error
    except PineconeError as error:  # our arguments did not pass the SDK's own checks
        raise DependencyRefused(dependency, without_echo(str(error), _texts_in(private))) from error
    except (httpx.DecodingError, UnicodeDecodeError) as error:  # the SDK lets them through
        raise DependencyUnavailable(dependency, "the answer of Pinecone is malformed") from error


def _texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value of lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts_in(list(value.values()))
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts_in(each)


def _translated(dependency: str, error: "ApiError", private: Sequence[object], check: str) -> DependencyError:
    status = error.status_code
    message = f"Pinecone answered {status} {without_echo(error.message, _texts_in(private))}"
    lasting = _LASTING_LIMIT.get(status)
    if lasting is not None and lasting.search(f"{error.error_code} {error.message}"):
        return QuotaExhausted(dependency, message)
    if status == 429:
        return RateLimited(dependency, message, retry_after_s=getattr(error, "retry_after", None))
    if status in (401, 403):
        return KeyRefused(
            dependency, f"the API key was refused (HTTP {status}): check PINECONE_API_KEY in the secret. {message}"
        )
    if status == 408 or status >= 500:
        return DependencyUnavailable(dependency, message)
    if "sparse" in error.message:
        check = ": the index takes no sparse values; `make index` creates one that does (docs/operating.md, The index)"
    return DependencyRefused(dependency, message + check)


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


def _plain_metadata(metadata: Mapping[str, Any] | None) -> dict[str, MetadataValue]:
    """Turn whole floats back into `int`: Pinecone stores every number as a float, and ours are counts and pages."""
    return {
        name: int(value) if type(value) is float and value.is_integer() else value
        for name, value in (metadata or {}).items()
    }
