"""One change at a time in a copy of the checkout, and the tests that reach it."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutating import Mutant, mutated

ROOT = Path(__file__).parents[2]
KINDS = ("unit", "functional", "contract", "faults")
"""In the order in which they are asked."""
BUDGET_S = {"unit": 40.0, "functional": 60.0, "contract": 30.0, "faults": 30.0}
"""Seconds that the tests of one kind took when they were measured, at most so much for one change."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Test:
    """One test as it was measured, with the functions it reaches and how many those are."""

    name: str
    seconds: float
    reached: frozenset[str]
    width: int

    @property
    def kind(self) -> str:
        return self.name.split("/")[1]

    def reaches(self, mutant: Mutant) -> bool:
        """Whether it calls the changed function, or for what stands outside of any, anything in that file."""
        if mutant.function:
            return f"{mutant.path}:{mutant.function}" in self.reached
        return any(name.startswith(f"{mutant.path}:") for name in self.reached)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant: caught (`by` which test), survived, unreached by any test, or broken at import."""

    mutant: str
    outcome: str
    by: str
    tests: int
    seconds: float


def selected(mutant: Mutant, tests: Iterable[Test]) -> list[list[str]]:
    """Return the tests to ask, kind by kind: those that reach the change, the narrowest first, within `BUDGET_S`."""
    reaching = sorted((test for test in tests if test.reaches(mutant)), key=lambda test: (test.width, test.name))
    rounds = []
    for kind in KINDS:
        left_s, names = BUDGET_S[kind], []
        for test in reaching:
            if test.kind == kind and test.seconds <= left_s:
                left_s -= test.seconds
                names.append(test.name)
        if names:
            rounds.append(names)
    return rounds


class Copy:
    """A copy of the checkout in which files can be changed. Its compiled files are checked by content, not by time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for name in (".venv", ".venvs", ".tools"):
            (folder / name).symlink_to(ROOT / name)
        self.run(["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "functions", "shared"], limit_s=300)

    def run(self, arguments: Sequence[str], *, limit_s: float, **environment: str) -> tuple[int | None, str]:
        """Run Python in the copy; return its exit code (None: it overran the limit) and what it printed."""
        process = subprocess.Popen(
            [ROOT / ".venv/bin/python", *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            # Whatever the tests started goes too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode, output

    def pytest(self, names: Sequence[str], *, limit_s: float) -> tuple[int | None, str]:
        options = ["-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
        return self.run([*options, *names], limit_s=limit_s)

    def try_out(self, mutant: Mutant, tests: Sequence[Test]) -> Result:
        """Change the copy, ask the tests, change it back."""
        begun, asked, file = time.monotonic(), 0, self.folder / mutant.path
        seconds = {test.name: test.seconds for test in tests}
        outcome, by, original = "unreached", "", file.read_text()
        file.write_text(mutated(self.folder, mutant))
        try:
            for names in selected(mutant, tests):
                asked += len(names)
                code, output = self.pytest(names, limit_s=90 + 10 * sum(seconds[name] for name in names))
                outcome = {None: "caught", 0: "survived", 1: "caught"}.get(code, "broken")
                if outcome != "survived":
                    by = "the time limit" if code is None else ", ".join(_FAILED.findall(output)[:1])
                    break
        finally:
            file.write_text(original)
        return Result(mutant.name, outcome, by, asked, round(time.monotonic() - begun, 1))


def measure(copy: Copy, test_file: str, kept: Path) -> list[Test]:
    """Run a file of tests once and note what each reaches; what is kept of the same file is taken as it is."""
    text = (ROOT / test_file).read_bytes()
    note = kept / f"{test_file.replace('/', '.')}.{hashlib.sha256(text).hexdigest()[:12]}.json"
    if not note.exists():
        kept.mkdir(parents=True, exist_ok=True)
        for old in kept.glob(f"{test_file.replace('/', '.')}.*.json"):
            old.unlink()
        written = copy.folder / "reach.json"
        written.unlink(missing_ok=True)
        options = ["-m", "pytest", "-q", "-n", "0", "-p", "tests.mutants.reach", "-p", "no:cacheprovider"]
        copy.run([*options, test_file], limit_s=900, RECTO_REACH=str(written), PYTHONPATH=str(copy.folder))
        note.write_text(written.read_text() if written.exists() else "{}")
    return [
        Test(name, test["seconds"], frozenset(test["reached"]), len(test["reached"]))
        for name, test in json.loads(note.read_text()).items()
        if test["passed"] and test["reached"]
    ]
