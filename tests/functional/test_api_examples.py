"""The examples of docs/api.md, pasted into bash in their order: each succeeds, as the page says."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from functions.ingest import maintenance
from functions.query.app import app
from functions.query.streaming_app import REQUEST_CONTEXT, FromAdapter
from local.cli_demo import sample_pdfs
from local.serving import serving
from shared.erasures import is_genuine, signing_key
from tests.support.ingest import Context, Stack
from tests.support.query_stack import authorized, query_stack
from tests.support.readme import PROJECT, blocks

EXPECTS_AN_ERROR = "0123456789abcdef"
"""The example of an error asks for a document that does not exist."""
ERASED = "uploads/demo/tides-museum-annual-report.pdf"
SHELL = """
curl() { command curl --fail-with-body --noproxy '*' "$@" || { echo "failed: $*" >&2; return 1; }; }
python() {
  case "$3 $4" in
    "token --role") echo admin ;;
    "erasure finish") curl -s -X POST "$API/-/finish" ;;
    *) : ;;
  esac
}
"""
"""`curl` fails where the API does; `python -m local` needs a stack, so what it does here is done by the test."""


class Laptop:
    """ASGI middleware in place of the laptop's server: the token is the role, and maintenance has a path."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["path"] == "/-/finish":
            await JSONResponse(await run_in_threadpool(finish, self._stack))(scope, receive, send)
            return
        role = dict(scope["headers"])[b"authorization"].decode().removeprefix("Bearer ")
        context = {"requestId": "r-1", "authorizer": authorized("demo", f"the-{role}", role)}
        headers = [*scope["headers"], (REQUEST_CONTEXT, json.dumps(context).encode())]
        await FromAdapter(app)({**scope, "headers": headers}, receive, send)


def finish(stack: Stack) -> dict[str, Any]:
    """Deliver the deletion, and do what `python -m local erasure finish --settle 1` asks maintenance for."""
    assert stack.deliver(ERASED, event="ObjectRemoved:Delete") == []
    for _ in range(6):
        done = dict(maintenance.handler({"recto": "erase", "settle_s": 0}, cast("Any", Context())))
        if not done["unfinished"]:
            return done
    raise AssertionError(done)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("examples")) as made,
    ):
        for pdf in sample_pdfs():
            key = f"uploads/demo/{pdf.name}"
            made.put(key, pdf.read_bytes())
            assert made.deliver(key) == []
        yield made


@pytest.mark.skipif(shutil.which("jq") is None, reason="the examples need jq")
def test_the_examples_of_the_api_run_in_their_order(stack: Stack, tmp_path: Path) -> None:
    examples = [each for each in blocks("bash", pages=[PROJECT / "docs" / "api.md"]) if EXPECTS_AN_ERROR not in each]
    with serving(cast("Any", Laptop(stack)), name="examples") as url:
        ran = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", "\n".join([SHELL, *examples])],
            env={"PATH": "/usr/bin:/bin", "API": url, "TOKEN": "editor"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    assert list(tmp_path.glob("*.md")), "the export"
    receipt = json.loads((tmp_path / "RECEIPT.json").read_text())
    secret = json.loads(stack.aws.secrets.get_secret_value(SecretId=stack.aws.secret_id)["SecretString"])
    assert is_genuine(receipt, signing_key(secret))
    assert receipt["left"] == []
