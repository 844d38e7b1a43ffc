"""Vectors in Pinecone, by its official SDK.

The SDK's own retries are switched off: a search has a deadline to keep, and writes are retried by rules of our own.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from shared.adapters.deadline_http import ending_at
from shared.adapters.pinecone_sdk import (
    DEPENDENCY,
    control_client,
    index_client,
    plain_metadata,
    upsert_batches,
    vendor_errors,
)
from shared.adapters.retry import Guard
from shared.errors import ConfigurationError, DependencyError, DependencyTimeout, DependencyUnavailable, RateLimited
from shared.models import Filter, Match, SparseVector, VectorRecord
from shared.settings import Settings

MAX_DELETE_IDS = 1_000
LIST_PAGE = 100
FETCH_IDS = 100
"""Ids of one fetch go into its URL: a hundred of ours make 7 KB of the 8 KB that are safe."""

_SEARCH_PAUSE_S = 0.25
_SHORTEST_SEARCH_S = 0.1
_BACKOFF_BASE_S = 0.5
_BACKOFF_CAP_S = 8.0
_LONGEST_WAIT_S = 20.0
"""A longer `Retry-After` is handed to the caller: a queue waits cheaper than a running function."""


class PineconeIndex:
    """`VectorSearch`, `VectorWriter` and `VectorReader` on one index. Thread-safe; connections are kept.

    A search is one attempt within the caller's time; with a `guard`, one more where the first failed quickly and the
    retry budget allows it, and none while its breaker is open. Every write can be repeated safely, so passing failures
    of writes are retried: at most `attempts` tries a request, each of `write_timeout_s`; between them `wait` (seconds)
    with full jitter, or what `Retry-After` asks for. `jitter` returns numbers in [0, 1).
    """

    def __init__(
        self,
        *,
        host: str,
        api_key: str,
        write_timeout_s: float = 20.0,
        attempts: int = 5,
        wait: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        guard: Guard | None = None,
    ) -> None:
        self._guard = guard
        self._index = index_client(host, api_key)
        self._timeout_s = write_timeout_s
        self._attempts = attempts
        self._wait = wait
        self._jitter = jitter

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
        again: bool = False,
    ) -> Sequence[Match]:
        """Return up to `top_k` matches, best first, within `timeout_s`. Raises `DependencyError`."""
        if timeout_s <= 0:
            raise DependencyTimeout(DEPENDENCY, "no time left to search")
        search = partial(
            self._index.query,
            top_k=top_k,
            vector=list(vector),
            sparse_vector={"indices": list(sparse.indices), "values": list(sparse.values)} if sparse else None,
            namespace=namespace,
            filter=filter,
            include_metadata=metadata,
        )
        response = self._search(search, time.monotonic() + timeout_s, again=again)
        matches = [Match(match.id, match.score, plain_metadata(match.metadata)) for match in response.matches]
        # The vendor does not promise the order it returns.
        return sorted(matches, key=lambda match: -match.score)

    def _search(self, search: Callable[..., Any], end: float, *, again: bool) -> Any:
        def attempt() -> Any:
            with vendor_errors(), ending_at(end):
                return search(timeout=end - time.monotonic())

        if self._guard is None:
            return attempt()
        if not again:
            self._guard.budget.earn()
        elif not self._guard.budget.spend(busy=True):
            raise DependencyUnavailable(DEPENDENCY, "too many searches failed for one more try")
        begun = time.monotonic()
        try:
            with self._guard.breaker.attempt(end - begun):
                return attempt()
        except DependencyError as error:
            took_s = time.monotonic() - begun
            pause_s = error.retry_after_s or _SEARCH_PAUSE_S * self._jitter()
            in_time = time.monotonic() + pause_s + max(took_s, _SHORTEST_SEARCH_S) < end
            if not error.retriable or not in_time:
                raise
            if not self._guard.budget.spend(busy=isinstance(error, RateLimited)):
                raise
            self._wait(pause_s)
        with self._guard.breaker.attempt(end - time.monotonic()):
            return attempt()

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        """Write records of any number, in requests of at most 1,000 vectors and 2 MB. Raises `DependencyError`."""
        for vectors in upsert_batches(records):
            self._persist(partial(self._upsert, namespace, vectors))

    def _upsert(self, namespace: str, vectors: list[dict[str, Any]]) -> None:
        self._index.upsert(vectors=vectors, namespace=namespace, show_progress=False, timeout=self._timeout_s)

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        """Delete by id, any number; ids and namespaces that are not there are no error. Raises `DependencyError`."""
        for start in range(0, len(ids), MAX_DELETE_IDS):
            chunk = list(ids[start : start + MAX_DELETE_IDS])
            self._persist(partial(self._delete, namespace, chunk))

    def _delete(self, namespace: str, ids: list[str]) -> None:
        from pinecone.errors import NotFoundError

        try:
            self._index.delete(ids=ids, namespace=namespace, timeout=self._timeout_s)
        except NotFoundError:
            return  # The namespace comes into being with its first vector: nothing is there to delete.

    def list_ids(self, *, namespace: str, prefix: str) -> Iterator[Sequence[str]]:
        """Yield pages of the ids that start with `prefix`. Raises `DependencyError`."""
        token: str | None = None
        while True:
            ids, token = self._persist(partial(self._page, namespace, prefix, token))
            if ids:
                yield ids
            if token is None:
                return

    def _page(self, namespace: str, prefix: str, token: str | None) -> tuple[list[str], str | None]:
        page = self._index.list_paginated(
            prefix=prefix, limit=LIST_PAGE, pagination_token=token, namespace=namespace, timeout=self._timeout_s
        )
        ids = [item.id for item in page.vectors if item.id is not None]
        return ids, page.pagination.next if page.pagination is not None else None

    def fetch(self, *, namespace: str, ids: Sequence[str]) -> Mapping[str, VectorRecord]:
        """Return those of the vectors that are visible by now, with their dense values. Raises `DependencyError`."""
        found: dict[str, VectorRecord] = {}
        for start in range(0, len(ids), FETCH_IDS):
            found |= self._persist(partial(self._fetch, namespace, list(ids[start : start + FETCH_IDS])))
        return found

    def _fetch(self, namespace: str, ids: list[str]) -> dict[str, VectorRecord]:
        from pinecone.errors import NotFoundError

        try:
            answer = self._index.fetch(ids=ids, namespace=namespace, timeout=self._timeout_s)
        except NotFoundError:
            return {}  # no vector was ever written to this namespace
        return {
            vector.id: VectorRecord(vector.id, vector.values, plain_metadata(vector.metadata))
            for vector in answer.vectors.values()
        }

    def drop(self, *, namespace: str) -> None:
        """Delete a namespace with all its vectors; one that is not there is no error. Raises `DependencyError`."""
        self._persist(partial(self._drop, namespace))

    def _drop(self, namespace: str) -> None:
        from pinecone.errors import NotFoundError

        with suppress(NotFoundError):
            self._index.delete_namespace(name=namespace, timeout=self._timeout_s)

    def close(self) -> None:
        """Close the connections."""
        self._index.close()

    def _persist[T](self, attempt: Callable[[], T]) -> T:
        for tried in range(1, self._attempts + 1):
            try:
                with vendor_errors():
                    return attempt()
            except DependencyError as error:
                asked_s = error.retry_after_s or 0.0
                if not error.retriable or tried == self._attempts or asked_s > _LONGEST_WAIT_S:
                    raise
                self._wait(asked_s + self._jitter() * min(_BACKOFF_CAP_S, _BACKOFF_BASE_S * 2 ** (tried - 1)))
        raise AssertionError("unreachable: the last attempt returns or raises")


# --- which index -------------------------------------------------------------------------------------------------


def resolve_host(settings: Settings, api_key: str, *, timeout_s: float = 10.0) -> str:
    """Return the index's data-plane host: the one configured, else the one the control plane names.

    Either is asked whether the index fits the embedding space: a configured host itself, since who sets one may not
    reach the control plane. Raises `ConfigurationError` when the index is missing or does not fit, `DependencyError`
    when nobody can be asked.
    """
    if settings.pinecone_host:
        data_plane = index_client(settings.pinecone_host, api_key)
        try:
            with vendor_errors():
                stats = data_plane.describe_index_stats(timeout=timeout_s)
        finally:
            data_plane.close()
        _check_fit(settings, settings.pinecone_host, stats.dimension, stats.metric)
        return settings.pinecone_host
    from pinecone.errors import NotFoundError

    with vendor_errors(), control_client(settings, api_key, timeout_s=timeout_s) as client:
        try:
            index = client.describe_index(settings.pinecone_index)
        except NotFoundError as error:
            raise ConfigurationError(
                f"There is no Pinecone index {settings.pinecone_index!r}. Create it with `make index`, or set "
                "RECTO_PINECONE_INDEX (template parameter PineconeIndex) to the one you have."
            ) from error
    _check_fit(settings, settings.pinecone_index, index.dimension, index.metric)
    if not index.status.ready or not index.host:
        raise DependencyUnavailable(DEPENDENCY, f"index {settings.pinecone_index!r} is {index.status.state}")
    return str(index.host)


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
