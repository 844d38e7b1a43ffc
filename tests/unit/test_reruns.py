"""A test that is tried again finds its module's fixtures as its first try did."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

TRIES = []

@pytest.fixture(scope="module")
def box():
    made = ["new"]
    yield made
    made.append("closed")

@pytest.fixture(scope="module")
def lid(box):
    return box

def test_before(lid):
    assert lid == ["new"]

@pytest.mark.flaky(reruns=1)
def test_that_fails_once(lid, box):
    TRIES.append(box)
    assert box == ["new"]
    box.append("used")
    assert len(TRIES) == 2

def test_after(box):
    assert box == ["new", "used"]
    assert TRIES[0] == ["new", "used", "closed"]
"""


def test_a_second_try_gets_new_fixtures_of_its_module(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_runtest_setup\n")
    (tmp_path / "test_box.py").write_text(TESTS)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed, 1 rerun" in ran.stdout, ran.stdout
