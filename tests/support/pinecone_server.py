"""A Pinecone emulator on a free port, in a thread of the test process."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from local.pinecone.app import create_app
from local.pinecone.database import Database
from local.serving import serving


@contextlib.contextmanager
def running_pinecone(state_dir: Path, *, visibility_delay_s: float = 0.0) -> Iterator[str]:
    """Serve `state_dir` and yield the base URL: control plane, and data plane while there is one index."""
    with serving(create_app(Database(state_dir, visibility_delay_s=visibility_delay_s)), name="Pinecone") as url:
        yield url
