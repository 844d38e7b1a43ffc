"""Run the Pinecone emulator: `python -m local.pinecone --port 5081 --state DIR`."""

import argparse
from pathlib import Path

from local.pinecone.app import create_app
from local.pinecone.database import Database
from local.serving import serve


def main() -> None:
    """Read the command line and serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.pinecone", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--state", type=Path, required=True, help="folder of the vectors")
    parser.add_argument("--visibility-delay-s", type=float, default=0.0, help="seconds until reads see a write")
    arguments = parser.parse_args()
    serve(create_app(Database(arguments.state, visibility_delay_s=arguments.visibility_delay_s)), arguments.port)


if __name__ == "__main__":
    main()
