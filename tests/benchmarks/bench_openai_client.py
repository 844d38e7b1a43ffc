"""What the thin client saves the query function beside the official SDK: import time and unzipped size, in one run.

    python tests/benchmarks/bench_openai_client.py

Import: best of seven fresh interpreters, bytecode compiled. Size: the packages that only this client brings to the
query function (the rest of its dependency group is there anyway), files plus bytecode.
"""

import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2]
THIN = [PROJECT / "shared/adapters" / name for name in ("openai.py", "openai_http.py", "deadline_http.py")]
RUNS = 7


def closure(names: set[str]) -> set[str]:
    """Return distributions and all they need, as installed here."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        found.add(name)
        waiting += [re.split(r"[\s<>=!~;\[(]", text, maxsplit=1)[0] for text in requirements if "extra ==" not in text]
    return found


def files_of(distributions: set[str]) -> list[Path]:
    """Return the files of installed distributions, without bytecode."""
    files = []
    for name in distributions:
        distribution = importlib.metadata.distribution(name)
        paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or []]
        files += [path for path in paths if path.suffix != ".pyc" and path.is_file()]
    return files


def size_mb(files: list[Path], scratch: Path) -> float:
    """Return the size of files and of the bytecode of those that are Python."""
    sources = [str(path) for path in files if path.suffix == ".py"]
    (scratch / "list").write_text("\n".join(sources))
    command = [sys.executable, "-m", "compileall", "-q", "-i", str(scratch / "list")]
    subprocess.run(command, env=os.environ | {"PYTHONPYCACHEPREFIX": str(scratch / "pyc")}, check=False)
    compiled = list((scratch / "pyc").rglob("*.pyc"))
    return sum(path.stat().st_size for path in [*files, *compiled]) / 2**20


def import_ms(statement: str) -> float:
    """Return the best import time of fresh interpreters; the first run, which compiles, does not count."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    times = []
    for _ in range(RUNS + 1):
        done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
        times.append(1000 * float(done.stdout))
    return min(times[1:])


def main() -> None:
    """Measure both and print a table with the ratios."""
    group = tomllib.loads((PROJECT / "pyproject.toml").read_text())["dependency-groups"]["query"]
    named = {re.split(r"[\s<>=!~;\[]", text, maxsplit=1)[0] for text in group}
    there = closure(named - {"httpx"})
    rows = []
    for title, statement, distributions, own in (
        ("openai SDK", "import openai; openai.OpenAI(api_key='k')", closure({"openai"}) - there, []),
        ("thin client", "import shared.adapters.openai", closure({"httpcore"}) - there, THIN),
    ):
        with tempfile.TemporaryDirectory() as scratch:
            size = size_mb([*files_of(distributions), *own], Path(scratch))
        rows.append((title, import_ms(statement), size, ", ".join(sorted(distributions)) or "nothing new"))
    out = sys.stdout.write
    out(f"{'':<12}{'import ms':>10}{'size MB':>10}  brings\n")
    for title, milliseconds, size, brings in rows:
        out(f"{title:<12}{milliseconds:>10.0f}{size:>10.2f}  {brings}\n")
    (_, sdk_ms, sdk_mb, _), (_, thin_ms, thin_mb, _) = rows
    out(f"{'ratio':<12}{sdk_ms / thin_ms:>9.1f}×{sdk_mb / thin_mb:>9.1f}×\n")


if __name__ == "__main__":
    main()
