"""Starts the emulator: `python -m local.openai --port 8081 --state .state/openai`."""

import argparse
import logging
import os
import time
from pathlib import Path

from local.openai.app import Upstream, create_app
from local.openai.engine import default_threads, open_engine
from local.serving import serve

_log = logging.getLogger("local.openai")


def main() -> None:
    """Read the arguments, load the model, serve until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m local.openai", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--state", type=Path, required=True, help="folder of the built graph and the vector cache")
    parser.add_argument("--model-dir", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--threads", type=int, default=default_threads(), help="threads that embed (%(default)s)")
    parser.add_argument("--precision", choices=["int8", "fp32"], default="int8", help="of the weights (%(default)s)")
    parser.add_argument("--no-cache", action="store_true", help="compute every vector anew, for benchmarks")
    parser.add_argument("--api-key", default="", help="the only key that is accepted (any, if not given)")
    text = "pass chat on to this OpenAI-compatible server (ends in /v1; key in RECTO_CHAT_UPSTREAM_KEY)"
    parser.add_argument("--chat-upstream", default="", metavar="URL", help=text)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    started = time.perf_counter()
    try:
        engine = open_engine(
            options.state,
            model_dir=options.model_dir,
            threads=options.threads,
            quantized=options.precision == "int8",
            cached=not options.no_cache,
        )
    except FileNotFoundError as error:
        parser.exit(1, f"{error}\n")
    upstream = None
    if options.chat_upstream:
        upstream = Upstream(options.chat_upstream, os.environ.get("RECTO_CHAT_UPSTREAM_KEY", ""))
    app = create_app(engine, api_key=options.api_key, upstream=upstream)
    ready = f"{options.precision}, {options.threads} threads, ready after {time.perf_counter() - started:.1f} s"
    _log.info("The OpenAI emulator answers on http://%s:%d/v1 (%s)", options.host, options.port, ready)
    serve(app, options)


if __name__ == "__main__":
    main()
