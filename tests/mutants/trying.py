"""One change at a time in a copy of the checkout, and the tests that reach it."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.mutants.mutating import Mutant, mutated
from tests.mutants.reach_child import LINES

ROOT = Path(__file__).parents[2]
KINDS = ("unit", "functional", "contract", "faults")
"""In the order in which they are asked."""
BUDGET_S = {"unit": 30.0, "functional": 40.0, "contract": 20.0, "faults": 30.0}
"""Seconds that the tests of one kind took when they were measured, at most so much for one change."""
START_S = 60.0
"""How long starting the tests may take on a busy machine."""
NOTHING = f"-:0:0:{os.devnull}"


class Stopped(Exception):
    """The run was interrupted: what the last tests said counts for nothing."""


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
    """What became of a mutant: `outcome` and, if caught, `by` which test.

    caught: a test fails that passes without the change. survived: none does, and some run the changed statement.
    unreached: no test that was asked runs it. broken: the changed file cannot be imported.
    """

    mutant: str
    outcome: str
    by: str
    tests: int
    seconds: float


def selected(mutant: Mutant, tests: Sequence[Test]) -> list[list[str]]:
    """Return the tests to ask, kind by kind: those that reach the change, the narrowest first, within `BUDGET_S`.

    If none enters the function, those that enter another one of its file: a result may be kept from an earlier test.
    """
    reaching = [test for test in tests if test.reaches(mutant)]
    reaching = reaching or [test for test in tests if test.reaches(replace(mutant, function=""))]
    reaching.sort(key=lambda test: (test.width, test.name))
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
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._fails_anyway: dict[str, bool] = {}
        shutil.rmtree(folder, ignore_errors=True)
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for name in (".venv", ".venvs", ".tools"):
            (folder / name).symlink_to(ROOT / name)
        self.run(["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "functions", "shared"], limit_s=300)

    def stop(self) -> None:
        """End the tests that run: their process group is not the terminal's, so Ctrl-C does not reach them."""
        self._stopped = True
        if self._process is not None:
            _kill(self._process)

    def run(self, arguments: Sequence[str], *, limit_s: float, **environment: str) -> tuple[int | None, str]:
        """Run Python in the copy; return its exit code (None: it overran the limit) and what it printed."""
        if self._stopped:
            raise Stopped
        process = self._process = subprocess.Popen(
            [ROOT / ".venv/bin/python", *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        code: int | None = None
        output = ""
        try:
            output, _ = process.communicate(timeout=limit_s)
            code = process.returncode
        except subprocess.TimeoutExpired:
            pass
        finally:
            _kill(process)  # Whatever the tests started goes too.
            process.wait()
        if self._stopped:
            raise Stopped
        return code, output

    def pytest(self, names: Sequence[str], *, limit_s: float, watching: str) -> tuple[int | None, str]:
        options = ["-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
        environment = {LINES: watching, "PYTHONPATH": str(self.folder)}
        return self.run([*options, "-p", "tests.mutants.reach", *names], limit_s=limit_s, **environment)

    def try_out(self, mutant: Mutant, tests: Sequence[Test]) -> Result:
        """Change the copy, ask the tests, change it back."""
        begun, asked, file = time.monotonic(), 0, self.folder / mutant.path
        seconds = {test.name: test.seconds for test in tests}
        outcome, by, original = "unreached", "", file.read_text()
        changed = mutated(self.folder, mutant)
        seen = self.folder / "seen"
        seen.unlink(missing_ok=True)
        watching = f"{mutant.path}:{mutant.lines[0]}:{mutant.lines[1]}:{seen}"
        rounds = selected(mutant, tests)

        def ask(names: Sequence[str], limit_s: float) -> tuple[int | None, str]:
            file.write_text(changed)
            try:
                return self.pytest(names, limit_s=limit_s, watching=watching)
            finally:
                file.write_text(original)

        while rounds and outcome == "unreached":
            names = rounds.pop(0)
            code, output = ask(names, START_S + 10 * sum(seconds[name] for name in names))
            if code is None:  # The change may hang the tests, or the machine is busier than when they were measured.
                again = time.monotonic()
                self.pytest(names, limit_s=600, watching=NOTHING)
                code, output = ask(names, START_S + 5 * (time.monotonic() - again))
            asked += len(names)
            if code is None:
                outcome, by = "caught", "the time limit"
            elif code == 1:
                by = _failed(names, output)
                if by and self._fails_without_change(by):
                    asked -= len(names)
                    rounds[:0] = [others] if (others := [name for name in names if name != by]) else []
                    by = ""
                else:
                    outcome = "caught"
            elif code:
                outcome = "broken"
        if outcome == "unreached" and seen.exists():
            outcome = "survived"
        return Result(mutant.name, outcome, by, asked, round(time.monotonic() - begun, 1))

    def _fails_without_change(self, name: str) -> bool:
        """Whether a test fails by itself: it has no say then."""
        if name not in self._fails_anyway:
            code, _ = self.pytest([name], limit_s=300, watching=NOTHING)
            self._fails_anyway[name] = code != 0
        return self._fails_anyway[name]


def measure(copy: Copy, test_file: str, kept: Path) -> list[Test]:
    """Run a file of tests once and note what each reaches; what is kept of the same file is taken as it is."""
    text = (ROOT / test_file).read_bytes()
    note = kept / f"{test_file.replace('/', '.')}.{hashlib.sha256(text).hexdigest()[:12]}.json"
    if not note.exists():
        kept.mkdir(parents=True, exist_ok=True)
        written = copy.folder / "reach.json"
        written.unlink(missing_ok=True)
        options = ["-m", "pytest", "-q", "-n", "0", "-p", "tests.mutants.reach", "-p", "no:cacheprovider"]
        copy.run([*options, test_file], limit_s=900, RECTO_REACH=str(written), PYTHONPATH=str(copy.folder))
        for old in kept.glob(f"{test_file.replace('/', '.')}.*.json"):
            old.unlink()
        note.write_text(written.read_text() if written.exists() else "{}")
    return [
        Test(name, test["seconds"], frozenset(test["reached"]), len(test["reached"]))
        for name, test in json.loads(note.read_text()).items()
        if test["passed"] and test["reached"]
    ]


def _failed(names: Sequence[str], output: str) -> str:
    """Return the test that pytest says has failed, "" if it names none; parameters may hold spaces."""
    told = [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return max((name for name in names for line in told if f"{line} ".startswith(f"{name} ")), key=len, default="")


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
