"""Pinecone's emulator in a thread of this process, with an index for the evaluation's vectors."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.pinecone.app import create_app
from local.pinecone.database import Database
from local.serving import serving
from local.stack import pinecone_index


@contextmanager
def running_index(folder: Path, *, dimensions: int) -> Iterator[str]:
    """Serve the vectors under `folder` on a free port and yield the base URL, which is also the index's host."""
    with serving(create_app(Database(folder)), name="Pinecone") as url:
        pinecone_index.ensure(url, dimension=dimensions)
        yield url
