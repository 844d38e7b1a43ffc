"""The benchmarks that are programs of their own, so that `make bench` runs them too: each says what it found and exits.

Parsing and the whole line (pages/s, peak memory) and the chunker (tokens/s) beside the libraries'; our client of the
model API beside the vendor's. The peers are in the dependency group `evals`; without it they are left out.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from evals.systems.peers import give_nltk_its_data

PROJECT = Path(__file__).parents[2]
PEERS = ["--peers"] if find_spec("langchain_community") and find_spec("llama_index") else []


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("bench_parse", PEERS), ("bench_chunking", [])],
    ids=["parse", "chunking"],
)
@pytest.mark.timeout(1800)
def test_program(program: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLTK_DATA", "")  # so that what is set now is taken back
    give_nltk_its_data(tmp_path / "nltk")
    command = [sys.executable, "-W", "ignore", "-m", f"tests.benchmarks.{program}", *arguments]
    run = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(f"\n{program}\n{run.stdout}")
    assert run.returncode == 0
