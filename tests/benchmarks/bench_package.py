"""What a cold start pays before the first line of ours: the import of `functions.query.app`, and the packages' size.

Built as for a deploy, for this machine's processor. The package as it ships, with bytecode, is compared to the same
one without. Limits: import ≤ 0.9 s with bytecode, ≤ 60 MB unzipped for the query function. Held to the limit is CPU
time: an import is one thread on cached files, so on an idle machine it is what the clock shows, and on a busy one the
neighbours do not count. The clock's seconds are printed beside it.
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
IMPORT_LIMIT_S = 0.9
SIZE_LIMIT_MB = 60
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


def import_s(package: Path, module: str) -> tuple[float, float]:
    """Import `module` in fresh processes that see nothing but the package: the medians of CPU and of clock seconds.

    The interpreter's own start is left out, as Lambda's runtime has done it already. No bytecode is written.
    """
    code = (
        "import time; clock, cpu = time.perf_counter(), time.process_time(); "
        f"import {module}; print(time.process_time() - cpu, time.perf_counter() - clock, {module}.__file__)"
    )
    environment = {
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "POWERTOOLS_TRACE_DISABLED": "true",
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


def test_importing_the_query_function_is_quick(package: Build, tmp_path: Path) -> None:
    shipped = package("query")
    bare = tmp_path / "bare"
    shutil.copytree(shipped, bare, ignore=shutil.ignore_patterns("__pycache__"))
    with_bytecode, with_bytecode_clock = import_s(shipped, "functions.query.app")
    without, without_clock = import_s(bare, "functions.query.app")
    say(
        f"import of functions.query.app, median of {RUNS}: {with_bytecode:.2f} s of CPU with bytecode "
        f"({with_bytecode_clock:.2f} s by the clock), {without:.2f} s without ({without_clock:.2f} s): "
        f"×{without / with_bytecode:.1f}"
    )
    assert with_bytecode <= IMPORT_LIMIT_S
    assert with_bytecode < without


def test_the_query_package_is_small_and_holds_no_pdf_or_tokenizer_library(package: Build) -> None:
    shipped = package("query")
    mb = size_mb(shipped)
    bytecode = sum(path.stat().st_size for path in shipped.rglob("*.pyc")) / 1e6
    share = mb / SIZE_LIMIT_MB
    say(f"query package, {ARCH}: {mb:.1f} MB unzipped, {bytecode:.1f} MB of it bytecode (×{share:.2f} of the limit)")
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
