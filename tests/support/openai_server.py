"""The OpenAI emulator on a free port, inside the test's process."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from local.openai.app import Upstream, create_app
from local.openai.engine import open_engine
from local.serving import serving

_PROJECT = Path(__file__).parents[2]


@contextlib.contextmanager
def running_openai(
    state_dir: Path, *, api_key: str = "", chat_upstream: str = "", cached: bool = True, quantized: bool = True
) -> Iterator[str]:
    """Yield the base URL (`http://127.0.0.1:PORT/v1`) of a running emulator; faults go to `/_admin/faults` beside it.

    The graph is built at first use (seconds) in `RECTO_MODEL_CACHE`, else in pytest's own cache folder: runs share it.
    """
    model_cache = Path(os.environ.get("RECTO_MODEL_CACHE") or _PROJECT / ".pytest_cache" / "minilm")
    engine = open_engine(state_dir, model_cache=model_cache, cached=cached, quantized=quantized)
    upstream = Upstream(chat_upstream, "upstream-key") if chat_upstream else None
    app = create_app(engine, api_key=api_key, upstream=upstream)
    with serving(app, name="OpenAI") as url:
        yield f"{url}/v1"
