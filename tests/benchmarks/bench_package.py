"""What a cold start pays before it can answer: importing `functions.query.app`, the first clients, the packages' size.

Built as for a deploy, for this machine's processor. The package as it ships, with bytecode, is compared to the same
one without, and to what it was before the official SDKs (decision 16). Limits: import and first clients ≤ 1.6 s with
bytecode, ≤ 100 MB unzipped for the query function. Held to the limit is CPU time: an import is one thread on cached
files, so on an idle machine it is what the clock shows, and on a busy one the neighbours do not count for much. The
clock's seconds are printed beside it.
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from local.packaging import build
from tests.support.template import ROOT

RUNS = 5
INIT_LIMIT_S = 1.6
IMPORT_BEFORE_S, INIT_BEFORE_S = 0.68, 0.85
"""CPU seconds before the SDKs: of the import alone, and with the first clients."""
SIZE_LIMIT_MB = 100
SIZE_BEFORE_MB = 55.8
ARCH = "arm64" if platform.machine().lower() in ("aarch64", "arm64") else "x86_64"
NOT_IN_QUERY = ("pypdf", "pypdfium2", "pypdfium2_raw", "tiktoken", "quicktok", "numpy")

Build = Callable[[str], Path]
pytestmark = pytest.mark.timeout(900)  # a package is built first, from wheels that may have to be fetched


def say(line: str) -> None:
    """Print a figure; `make bench` runs with -s."""
    sys.stdout.write(f"\n{line}\n")


def uv() -> str:
    """Return the uv of `make setup`, else the one on the PATH."""
    ours = sorted(ROOT.glob(".tools/uv-*/bin/uv"))
    found = str(ours[-1]) if ours else shutil.which("uv")
    assert found, "uv is missing: run `make setup`."
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build a function's package, once."""
    built: dict[str, Path] = {}

    def once(function: str) -> Path:
        if function not in built:
            into = tmp_path_factory.mktemp("package") / function
            build(function, ARCH, into, uv())
            built[function] = into
        return built[function]

    return once


def size_mb(directory: Path) -> float:
    """Sum the bytes of the files, as AWS counts an unzipped package (MB of 10^6)."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


FIRST_CLIENTS = """
from functions.query.bootstrap import services
from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.pinecone import PineconeIndex
from shared.models import EmbeddingSpace

services()
nobody, key = "http://127.0.0.1:9", "key"
OpenAIEmbedder(base_url=nobody + "/v1", api_key=key, space=EmbeddingSpace("m", 2))
OpenAIChatModel(base_url=nobody + "/v1", api_key=key, model="m")
PineconeIndex(host=nobody, api_key=key)
"""
"""As the function builds them while its container starts; nobody is asked."""


def import_s(package: Path, module: str, then: str = "") -> tuple[float, float]:
    """Import `module` in fresh processes that see nothing but the package: the medians of CPU and of clock seconds.

    `then` is what is done besides.

    The interpreter's own start is left out, as Lambda's runtime has done it already. No bytecode is written.
    """
    code = (
        "import time; clock, cpu = time.perf_counter(), time.process_time(); "
        f"import {module}\n{then}\n"
        f"print(time.process_time() - cpu, time.perf_counter() - clock, {module}.__file__)"
    )
    environment = {
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "PATH": os.environ["PATH"],
    }
    cpu, clock = [], []
    for _ in range(RUNS + 1):
        # -S -s: no site-packages of this venv, so what the package lacks is missing here as it would be on Lambda.
        run = subprocess.run(
            [sys.executable, "-S", "-s", "-c", code],
            env=environment,
            cwd=package,
            check=True,
            capture_output=True,
            text=True,
        )
        cpu_s, clock_s, file = run.stdout.split()[-3:]
        assert Path(file).is_relative_to(package)
        cpu.append(float(cpu_s))
        clock.append(float(clock_s))
    return statistics.median(cpu[1:]), statistics.median(clock[1:])  # the first run fills the file cache


def test_the_query_function_starts_quickly(package: Build, tmp_path: Path) -> None:
    shipped = package("query")
    bare = tmp_path / "bare"
    shutil.copytree(shipped, bare, ignore=shutil.ignore_patterns("__pycache__"))
    import_cpu, _ = import_s(shipped, "functions.query.app")
    init, init_clock = import_s(shipped, "functions.query.app", FIRST_CLIENTS)
    without, without_clock = import_s(bare, "functions.query.app", FIRST_CLIENTS)
    say(
        f"init of the query function, median of {RUNS}: {init:.2f} s of CPU with bytecode ({init_clock:.2f} s by the "
        f"clock), {import_cpu:.2f} s of it the import of functions.query.app; before the SDKs {INIT_BEFORE_S} and "
        f"{IMPORT_BEFORE_S} s; "
        f"{without:.2f} s without bytecode ({without_clock:.2f} s): ×{without / init:.1f}"
    )
    assert init <= INIT_LIMIT_S
    assert init < without


def test_the_query_package_is_small_and_holds_no_pdf_or_tokenizer_library(package: Build) -> None:
    shipped = package("query")
    mb = size_mb(shipped)
    bytecode = sum(path.stat().st_size for path in shipped.rglob("*.pyc")) / 1e6
    share = mb / SIZE_LIMIT_MB
    say(
        f"query package, {ARCH}: {mb:.1f} MB unzipped, {bytecode:.1f} MB of it bytecode (×{share:.2f} of the limit); "
        f"before the SDKs {SIZE_BEFORE_MB} MB"
    )
    assert mb <= SIZE_LIMIT_MB
    assert [name for name in NOT_IN_QUERY if (shipped / name).exists()] == []


def test_the_ingest_package_runs_with_what_it_holds(package: Build) -> None:
    shipped = package("ingest")
    mb = size_mb(shipped)
    say(f"ingest package, {ARCH}: {mb:.1f} MB unzipped (×{mb / 250:.2f} of Lambda's 250 MB)")
    assert mb <= 250
    cpu, clock = import_s(shipped, "functions.ingest.app")
    say(f"import of functions.ingest.app, median of {RUNS}: {cpu:.2f} s of CPU ({clock:.2f} s by the clock)")
    code = "from functions.ingest.chunking.tokens import encoding; print(len(encoding().encode('hello world')))"
    run = subprocess.run(
        [sys.executable, "-S", "-s", "-c", code],
        env={"PYTHONPATH": str(shipped), "HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PATH": os.environ["PATH"]},
        cwd=shipped,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "2", run.stderr
