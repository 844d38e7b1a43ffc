"""Creates the Pinecone index that the stack searches, and tests it: on the emulator, or with a real key on Pinecone."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from functions.query.retrieval.search import Search
from local.stack.config import EMBEDDING_DIMENSIONS, PINECONE_INDEX, LocalStackError
from shared.adapters.pinecone import PineconeIndex
from shared.errors import DependencyError
from shared.models import Match, SparseVector, VectorRecord

if TYPE_CHECKING:
    from pinecone import Pinecone

METRIC = "dotproduct"
"""Only an index with this metric takes sparse values, too; vectors have unit length, so the scores are cosines."""
PROBE = "~probe"
"""Namespace and id of the probe: no tenant's name contains a tilde."""
PROBE_TIMEOUT_S = 10.0
VISIBLE_S = 60.0
"""Seconds until an upserted vector must be found: Pinecone is eventually consistent."""


def ensure(
    control_url: str,
    *,
    name: str = PINECONE_INDEX,
    dimension: int = EMBEDDING_DIMENSIONS,
    cloud: str = "aws",
    region: str = "us-east-1",
    api_key: str = "local",
    timeout_s: float = 120.0,
    create: bool = True,
) -> bool:
    """Create the hybrid index if it is missing, wait until it is ready, test it; return whether it was created now.

    With `create=False` a missing index is an error, too. Raises `LocalStackError` when the key is refused, when an
    index of this name has another dimension or metric (the embedding space is part of the name, so it belongs to
    someone else), and when the index does not do what is needed.
    """
    # Imported late: half a second that only `up` and `index` need.
    from pinecone import Pinecone
    from pinecone.errors import NotFoundError, PineconeError

    created = False
    try:
        with Pinecone(api_key=api_key, host=control_url) as client:
            try:
                found = client.describe_index(name)
            except NotFoundError:
                if not create:
                    make = f'`make index ARGS="--name {name} --dimension {dimension}"`'
                    raise LocalStackError(f"There is no index {name}: create it with {make}.") from None
                found = _create(client, name, dimension, {"cloud": cloud, "region": region})
                created = True
            if (found.dimension, found.metric) != (dimension, METRIC):
                other = f'`make index ARGS="--name NAME --dimension {dimension}"`'
                raise LocalStackError(
                    f"The index {name} has dimension {found.dimension} and metric {found.metric} instead of "
                    f"{dimension} and {METRIC}: create another one with {other}, and deploy with PineconeIndex=NAME."
                )
            deadline = time.monotonic() + timeout_s
            while not (found := client.describe_index(name)).status.ready:
                if time.monotonic() > deadline:
                    raise LocalStackError(f"The index {name} was not ready within {timeout_s:g} s; try again later.")
                time.sleep(0.5)
    except PineconeError as error:
        raise LocalStackError(f"Pinecone ({control_url}) refused or did not answer: {error}") from error
    with closing(PineconeIndex(host=str(found.host), api_key=api_key, write_timeout_s=PROBE_TIMEOUT_S)) as index:
        probe(index, name, dimension)
    return created


def _create(client: "Pinecone", name: str, dimension: int, place: dict[str, str]) -> Any:
    # With exactly these two fields the vectors API serves the index; the sparse one cannot be added later (pinecone
    # 10.2, `Indexes.create`: without it the creation succeeds, and sparse upserts are refused).
    fields = {
        "_values": {"type": "dense_vector", "dimension": dimension, "metric": METRIC},
        "_sparse_values": {"type": "sparse_vector"},
    }
    deployment = {"deployment_type": "managed", **place}
    return client.indexes.create(name=name, schema={"fields": fields}, deployment=deployment, timeout=-1)


def probe(index: PineconeIndex, name: str, dimension: int) -> None:
    """Write, find and delete one vector in every way the service does. Raises `LocalStackError` with what failed."""
    search = Search(question="", vector=None, dimensions=dimension, namespace=PROBE)
    dense, sparse = [1.0, *[0.0] * (dimension - 1)], SparseVector([7], [1.0])

    def found_by(vector: Sequence[float], sparse: SparseVector | None) -> Callable[[], Sequence[Match]]:
        return lambda: index.query(namespace=PROBE, vector=vector, sparse=sparse, top_k=1, timeout_s=PROBE_TIMEOUT_S)

    with _step(name, "a vector with dense and sparse values is not accepted"):
        index.upsert(namespace=PROBE, records=[VectorRecord(PROBE, dense, {"text": "probe"}, sparse)])
    try:
        for how, find in {
            "dense": found_by(dense, None),
            "hybrid": found_by(dense, sparse),
            "lexical": found_by(search.faint_vector, sparse),
        }.items():
            with _step(name, f"the {how} search fails"):
                _await(find, name, how)
        with _step(name, "a vector cannot be deleted"):
            index.delete(namespace=PROBE, ids=[PROBE])
    finally:
        with _step(name, "a namespace cannot be deleted"):
            index.drop(namespace=PROBE)


def _await(find: Callable[[], Sequence[Match]], name: str, how: str) -> None:
    deadline = time.monotonic() + VISIBLE_S
    while [match.id for match in find()] != [PROBE]:
        if time.monotonic() > deadline:
            raise LocalStackError(
                f"The index {name} does not find a vector by {how} search {VISIBLE_S:g} s after it was written."
            )
        time.sleep(0.5)


@contextmanager
def _step(name: str, what: str) -> Iterator[None]:
    try:
        yield
    except DependencyError as error:
        raise LocalStackError(
            f"The index {name} cannot be used: {what} ({error}). An index's fields cannot be changed: create another "
            "one (--name), set PineconeIndex to it and deploy; re-indexing moves the documents across."
        ) from error
