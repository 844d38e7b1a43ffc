"""Run the Pinecone emulator: `python -m local.pinecone --port 5081 --state DIR`."""

import argparse
from pathlib import Path

import uvicorn

from local.pinecone.app import create_app
from local.pinecone.database import Database


def main() -> None:
    """Read the command line and serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.pinecone", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--state", type=Path, required=True, help="folder the vectors are kept in")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument(
        "--visibility-delay-s", type=float, default=0.0, help="seconds until a write is visible to reads"
    )
    arguments = parser.parse_args()
    database = Database(arguments.state, visibility_delay_s=arguments.visibility_delay_s)
    uvicorn.run(
        create_app(database),
        host=arguments.host,
        port=arguments.port,
        log_level="warning",
        # A hanging request (a fault) must not keep the process from stopping.
        timeout_graceful_shutdown=2,
        # Longer than clients keep idle connections, so that none is closed under a request.
        timeout_keep_alive=75,
    )


if __name__ == "__main__":
    main()
