"""Creates the Pinecone index the stack searches: on the emulator, or with a real key on Pinecone itself."""

import time

from local.stack.config import EMBEDDING_DIMENSIONS, PINECONE_INDEX, LocalStackError


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
) -> bool:
    """Create the serverless index if it is missing, wait until it is ready, and say whether it was created now.

    `metric` is dotproduct, because only such an index takes sparse values beside dense ones; vectors have unit length,
    so the scores are cosines all the same. Raises `LocalStackError` when the key is refused, or when an index of this
    name has another dimension or metric: the embedding space is part of the name, so it belongs to someone else.
    """
    # Imported late: half a second that only `up` and `index` need.
    from pinecone import Pinecone, ServerlessSpec
    from pinecone.errors import NotFoundError, PineconeError

    created = False
    try:
        with Pinecone(api_key=api_key, host=control_url) as client:
            try:
                found = client.describe_index(name)
            except NotFoundError:
                spec = ServerlessSpec(cloud=cloud, region=region)
                found = client.create_index(name=name, spec=spec, dimension=dimension, metric=metric, timeout=-1)
                created = True
            if (found.dimension, found.metric) != (dimension, metric):
                raise LocalStackError(
                    f"There is an index {name} already, with dimension {found.dimension} and metric {found.metric} "
                    f"instead of {dimension} and {metric}: choose another name with --name."
                )
            deadline = time.monotonic() + timeout_s
            while not client.describe_index(name).status.ready:
                if time.monotonic() > deadline:
                    raise LocalStackError(f"The index {name} was not ready within {timeout_s:g} s; try again later.")
                time.sleep(0.5)
    except PineconeError as error:
        raise LocalStackError(f"Pinecone ({control_url}) refused or did not answer: {error}") from error
    return created
