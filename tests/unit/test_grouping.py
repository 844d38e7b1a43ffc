"""`make test` on two workers: the suite that shares a stack stays together, and so does every file."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.grouping import next_group

ROOT = Path(__file__).parents[2]
WRITES_ITS_WORKER = """
import os, time
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(6))
def test_worker(number):
    time.sleep(0.01)  # so that the other worker gets to ask for work
    with Path(__file__).with_suffix(".workers").open("a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def test_a_group_runs_on_one_worker(tmp_path: Path) -> None:
    names = ("e2e/test_a.py", "e2e/test_b.py", "unit/test_c.py", "unit/test_d.py")
    files = [tmp_path / "tests" / each for each in names]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(WRITES_ITS_WORKER)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.grouping", "-n", "2", "--dist", "loadscope"]
    command += ["--no-loadscope-reorder", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout
    e2e, more_e2e, unit, more_unit = (set(file.with_suffix(".workers").read_text().split()) for file in files)
    assert e2e == more_e2e
    assert [len(each) for each in (e2e, unit, more_unit)] == [1, 1, 1]
    assert unit != e2e, "the other worker had the next file"


@pytest.mark.parametrize(
    ("elsewhere", "expected"),
    [
        ([], "tests/unit/test_a.py"),
        (["tests/e2e"], "tests/unit/test_a.py"),
        (["tests/e2e", "tests/unit/test_0.py"], "tests/faults/test_b.py"),
    ],
)
def test_one_worker_has_unit_tests_while_the_others_wait_for_servers(elsewhere: list[str], expected: str) -> None:
    left = ["tests/faults/test_b.py", "tests/functional/test_c.py", "tests/unit/test_a.py"]
    assert next_group(left, elsewhere) == expected


def test_what_is_left_at_the_end_is_for_every_worker() -> None:
    assert next_group(["tests/unit/test_a.py"], ["tests/unit/test_0.py"]) == "tests/unit/test_a.py"
    assert next_group(["tests/faults/test_b.py"], ["tests/faults/test_0.py"]) == "tests/faults/test_b.py"
