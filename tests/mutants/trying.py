"""One change at a time in a copy of the checkout, and the tests that reach it."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tests.mutants.asking import NAME, OPTIONS, Answer, Request
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
LIMITS = "test_limits_snapshots.py"
"""Tests that compare named limits with the stored ones: asked first about what stands outside of functions."""
FIRST = 100
"""More than any test file's nearness."""


class Stopped(Exception):
    """The run was interrupted: what the last tests said counts for nothing."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test as it was measured, with the functions it reaches and how many those are.

    `shared_s` is how long the fixtures took that all tests of its file share.
    """

    name: str
    seconds: float
    reached: frozenset[str]
    width: int
    shared_s: float

    @property
    def file(self) -> str:
        return self.name.split("::")[0]

    @property
    def kind(self) -> str:
        return self.name.split("/")[1]

    def reaches(self, mutant: Mutant) -> bool:
        """Whether it calls the changed function; for what stands outside of any, anything in that file, or names it.

        Defaults and limits are read without a call.
        """
        if mutant.function:
            return f"{mutant.path}:{mutant.function}" in self.reached
        return any(name.startswith(f"{mutant.path}:") for name in self.reached) or _imports(self.file, mutant.path)


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


@cache
def _imports(test_file: str, path: str) -> bool:
    package, _, name = path.removesuffix(".py").replace("/", ".").rpartition(".")
    imported = rf"^(?:from|import) {package}\.{name}\b|^from {package} import .*\b{name}\b"
    return re.search(imported, (ROOT / test_file).read_text(), re.MULTILINE) is not None


type TestsOf = Callable[[str], list[Test]]
"""The tests of a file as they were measured."""


def nearness(test_file: str, path: str) -> int:
    """Return how many words the path of a test file shares with that of a changed file: most with its own tests."""
    return len(_words_of(test_file) & _words_of(path))


def _words_of(path: str) -> frozenset[str]:
    return frozenset(re.split(r"[/_.]", path)) - {"tests", "test", "unit", "functional", "functions", "init", "", "py"}


def rounds(mutant: Mutant, test_files: Sequence[str], tests_of: TestsOf, budgets: float) -> Iterator[list[Test]]:
    """Yield the tests to ask: those that reach the change, from the nearest files to the farthest, kind by kind.

    Of one kind they take `BUDGET_S`, or so many such budgets, together; of files as near as each other, the narrowest
    tests are taken first, but asked file by file, so that what a file's tests share is set up once. Files are measured
    when their turn comes.
    """
    for kind in KINDS:
        left_s = budgets * BUDGET_S[kind]
        files: defaultdict[int, list[str]] = defaultdict(list)
        for file in test_files:
            if file.split("/")[1] == kind:
                is_of_limits = not mutant.function and file.endswith(f"/{LIMITS}") and _imports(file, mutant.path)
                files[FIRST if is_of_limits else nearness(file, mutant.path)].append(file)
        for _, alike in sorted(files.items(), reverse=True):
            reaching = [test for file in alike for test in tests_of(file) if test.reaches(mutant)]
            asked: dict[str, list[Test]] = {}
            for test in sorted(reaching, key=lambda test: (test.width, test.name)):
                cost_s = test.seconds + (0 if test.file in asked else test.shared_s)
                if cost_s <= left_s:
                    left_s -= cost_s
                    asked.setdefault(test.file, []).append(test)
            if asked:
                # In the file's own order, in which they were measured.
                yield [test for file, chosen in asked.items() for test in tests_of(file) if test in chosen]


class Asked:
    """A process of `tests.mutants.warm`, which runs tests in forks of itself; the command says how it is started."""

    def __init__(self, folder: Path, *command: str) -> None:
        reads, theirs = os.pipe()
        theirs_too, writes = os.pipe()
        self._process = subprocess.Popen(
            [ROOT / ".venv/bin/python", "-m", *command],
            cwd=folder,
            env=os.environ | {NAME: f"{theirs_too},{theirs}", "PYTHONPATH": str(folder)},
            pass_fds=(theirs, theirs_too),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs)
        os.close(theirs_too)
        self._answers, self._requests = os.fdopen(reads), os.fdopen(writes, "w")

    def say(self, what: object) -> None:
        print(json.dumps(what), file=self._requests, flush=True)

    def hear(self) -> Any:
        """Return what it says next; it says nothing more when it was ended."""
        if line := self._answers.readline():
            return json.loads(line)
        raise Stopped

    def ask(self, request: Request) -> Answer:
        self.say(asdict(request))
        return Answer(**self.hear())

    def end(self) -> None:
        self._process.terminate()


class Copy:
    """A copy of the checkout in which files can be changed. Its compiled files are checked by content, not by time."""

    def __init__(self, folder: Path, test_files: Sequence[str]) -> None:
        self.folder = folder
        self._test_files = test_files
        self._asked: list[Asked] = []
        self._fails_anyway: dict[str, bool] = {}
        self.measured: dict[str, list[Test]] = {}
        shutil.rmtree(folder, ignore_errors=True)
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for name in (".venv", ".venvs", ".tools"):
            (folder / name).symlink_to(ROOT / name)
        compiling = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "functions", "shared"]
        subprocess.run([ROOT / ".venv/bin/python", *compiling], cwd=folder, check=False)

    @cached_property
    def _collected(self) -> tuple[Asked, list[str], list[str]]:
        """The process that has collected the tests of the unchanged copy, their names, the packages it has imported."""
        options = [*OPTIONS, "-p", "tests.mutants.warm", "--continue-on-collection-errors"]
        asked = self._started("pytest", *options, *self._test_files)
        return asked, *asked.hear()

    @property
    def warm(self) -> Asked:
        return self._collected[0]

    @property
    def tests(self) -> list[str]:
        """The names of all tests."""
        return self._collected[1]

    @cached_property
    def fresh(self) -> Asked:
        """The process whose forks import the product themselves, as it is then."""
        asked = self._started("tests.mutants.warm")
        asked.say(self._collected[2])
        return asked

    def _started(self, *command: str) -> Asked:
        self._asked.append(Asked(self.folder, *command))
        return self._asked[-1]

    def stop(self) -> None:
        """End the tests that run: their process group is not the terminal's, so Ctrl-C does not reach them."""
        for asked in self._asked:
            asked.end()

    def try_out(self, mutant: Mutant, test_files: Sequence[str], tests_of: TestsOf, budgets: float) -> Result:
        """Change the copy, ask the tests, change it back.

        If none enters the changed function, those are asked that enter another one of its file: a result may be kept
        from an earlier test.
        """
        begun, file = time.monotonic(), self.folder / mutant.path
        original, changed = file.read_text(), mutated(self.folder, mutant)
        seen = self.folder / "seen"
        seen.unlink(missing_ok=True)
        watching = f"{mutant.path}:{mutant.lines[0]}:{mutant.lines[1]}:{seen}"

        def ask(whom: Asked, names: list[str], limit_s: float) -> Answer:
            file.write_text(changed)  # The parser's children read it, and so does a fresh start.
            try:
                return whom.ask(Request(names, limit_s, {LINES: watching}, mutant.path, original, changed))
            finally:
                file.write_text(original)

        outcome, by, asked = "", "", 0
        for place in (mutant, replace(mutant, function="")) if mutant.function else (mutant,):
            for tests in [] if asked else rounds(place, test_files, tests_of, budgets):
                asked += len(tests)
                outcome, by = self._noticed(ask, tests, afresh=not place.function)
                if outcome:
                    break
        outcome = outcome or ("survived" if seen.exists() else "unreached")
        return Result(mutant.name, outcome, by, asked, round(time.monotonic() - begun, 1))

    def _noticed(
        self, ask: Callable[[Asked, list[str], float], Answer], tests: Sequence[Test], *, afresh: bool
    ) -> tuple[str, str]:
        """Return "caught" and by which test, or "broken"; "" if all pass."""
        names = [test.name for test in tests]
        shared_s = {test.file: test.shared_s for test in tests}
        limit_s = START_S + 10 * (sum(test.seconds for test in tests) + sum(shared_s.values()))
        while names:
            answer = Answer(None) if afresh else ask(self.warm, names, limit_s)
            if afresh or answer.code == 70 or (answer.code == 0 and not answer.whole):
                answer = ask(self.fresh, names, limit_s)
            if answer.code is None:  # It may be the machine that is slow.
                begun = time.monotonic()
                self.fresh.ask(Request(names, 10 * limit_s, {LINES: NOTHING}))
                answer = ask(self.fresh, names, 3 * (time.monotonic() - begun))
            if answer.code is None:
                return "caught", "the time limit"
            if answer.code == 0:
                break
            if answer.code != 1:
                return "broken", ""
            if not self._fails_without_change(answer.failed):
                return "caught", answer.failed
            names.remove(answer.failed)
        return "", ""

    def _fails_without_change(self, name: str) -> bool:
        """Whether a test fails by itself: it has no say then."""
        if name not in self._fails_anyway:
            answer = self.warm.ask(Request([name], 300, {LINES: NOTHING}))
            self._fails_anyway[name] = answer.code != 0
        return self._fails_anyway[name]


def measured(copy: Copy, test_file: str, kept: Path) -> list[Test]:
    """Run a file of tests once and note what each reaches; what is kept of the same file is taken as it is."""
    if test_file not in copy.measured:
        copy.measured[test_file] = _measure(copy, test_file, kept)
    return copy.measured[test_file]


def _measure(copy: Copy, test_file: str, kept: Path) -> list[Test]:
    text = (ROOT / test_file).read_bytes()
    note = kept / f"{test_file.replace('/', '.')}.{hashlib.sha256(text).hexdigest()[:12]}.json"
    if not note.exists():
        kept.mkdir(parents=True, exist_ok=True)
        written = copy.folder / "reach.json"
        written.unlink(missing_ok=True)
        if names := [name for name in copy.tests if name.startswith(f"{test_file}::")]:
            copy.warm.ask(Request(names, 900, {"RECTO_REACH": str(written)}))
        for old in kept.glob(f"{test_file.replace('/', '.')}.*.json"):
            old.unlink(missing_ok=True)
        note.write_text(written.read_text() if written.exists() else "{}")
    tests = json.loads(note.read_text())
    shared_s = sum(test["shared_s"] for test in tests.values())
    return [
        Test(name, test["seconds"], frozenset(test["reached"]), len(test["reached"]), shared_s)
        for name, test in tests.items()
        if test["passed"]
    ]
