"""Starts the emulator: `python -m local.openai --port 8081 --state .state/openai`."""

import argparse
import logging
import os
import time
from pathlib import Path

from local.openai.app import Upstream, create_app
from local.openai.engine import open_engine
from local.serving import serve

_log = logging.getLogger("local.openai")


def main() -> None:
    """Read the arguments, load the model, serve until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m local.openai", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--state", type=Path, required=True, help="folder of the built graph and the vector cache")
    text = "pass chat on to this OpenAI-compatible server (ends in /v1; key in RECTO_CHAT_UPSTREAM_KEY)"
    parser.add_argument("--chat-upstream", default="", metavar="URL", help=text)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    started = time.perf_counter()
    try:
        engine = open_engine(options.state)
    except FileNotFoundError as error:
        parser.exit(1, f"{error}\n")
    upstream = None
    if options.chat_upstream:
        upstream = Upstream(options.chat_upstream, os.environ.get("RECTO_CHAT_UPSTREAM_KEY", ""))
    ready_s = time.perf_counter() - started
    _log.info("The OpenAI emulator answers on http://127.0.0.1:%d/v1 (ready after %.1f s)", options.port, ready_s)
    serve(create_app(engine, upstream=upstream), options.port)


if __name__ == "__main__":
    main()
