"""`make mutants`: small changes of `functions` and `shared`, one at a time; do the tests notice?

A random sample of changes is tried, each with the tests that reach it: unit, functional, contract, those of the same
room first, until one fails. Each file of tests is run once when it is first needed, to learn which functions its tests
reach. Everything learned is kept in `.recto/mutants`, so an interrupted run continues, and a larger sample begins with
the results of the smaller one.
"""

import argparse
import hashlib
import json
import math
import os
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from local.report import Reporter
from tests.mutants.mutating import Mutant, mutants_of, sample_of
from tests.mutants.trying import KINDS, ROOT, Copy, Result, measured, nearness

KEPT = ROOT / ".recto" / "mutants"
RESULTS = KEPT / "results.jsonl"
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


class Copies:
    """As many copies of the checkout as changes are tried at once."""

    def __init__(self, count: int, test_files: list[str]) -> None:
        self._copies = [Copy(KEPT / f"copy-{number}", test_files) for number in range(count)]
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in self._copies:
            self._free.put(copy)
        self._pool = ThreadPoolExecutor(count)

    def each[T, R](self, work: Callable[[Copy, T], R], items: Iterable[T], then: Callable[[T, R], None]) -> None:
        """Do the work for each item on a copy of its own; `then` gets each item with its result, one at a time."""

        def on_a_copy(item: T) -> tuple[T, R]:
            copy = self._free.get()
            try:
                return item, work(copy, item)
            finally:
                self._free.put(copy)

        try:
            for done in as_completed([self._pool.submit(on_a_copy, item) for item in items]):
                then(*done.result())
        except BaseException:
            self._pool.shutdown(wait=False, cancel_futures=True)
            for copy in self._copies:
                copy.stop()
            raise


def files_under(places: Iterable[str], pattern: str) -> list[str]:
    """Return the files at or under each place, sorted."""
    found = [
        path for place in places for path in ([Path(place)] if Path(place).is_file() else Path(place).rglob(pattern))
    ]
    return sorted({str(path) for path in found if "__pycache__" not in path.parts})


def room_of(path: str) -> str:
    """Return the room of a file: its folder, without the file."""
    return str(Path(path).parent)


def fingerprint(mutant: Mutant) -> str:
    """Return a key for a mutant of a file as it is now: a changed file has new mutants."""
    return f"{mutant.name}@{hashlib.sha256((ROOT / mutant.path).read_bytes()).hexdigest()[:12]}"


def judged_equivalent() -> set[tuple[str, str, str]]:
    """Return what people have read and found to change nothing: file, operator and source line of each."""
    lines = [line for line in EQUIVALENT.read_text().splitlines() if line and not line.startswith("#")]
    return {(path, kind, source) for path, kind, source, _why in (line.split(" | ", 3) for line in lines)}


def interval(caught: int, total: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share (as `evals.metrics.wilson`, which brings numpy with it)."""
    share, spread = caught / total, 1.96**2 / total
    half = 1.96 * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    middle = share + spread / 2
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def summary(results: dict[Mutant, Result]) -> list[str]:
    """Return the table by room, who caught how many, and the list of what no test noticed."""
    equivalent = judged_equivalent()
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    missed = []
    for mutant, result in results.items():
        outcome = result.outcome
        if outcome in {"survived", "unreached"}:
            if (mutant.path, mutant.kind, mutant.source) in equivalent:
                outcome = "equivalent"
            missed.append(f"{outcome}: {result.mutant}: {mutant.source}")
        rooms[room_of(mutant.path)][outcome] += 1
    lines = [f"{'room':40} {'caught':>7} {'of':>5} {'share':>6}  95 %       besides: equivalent, broken"]
    for room, counts in [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter()))]:
        total = counts["caught"] + counts["survived"] + counts["unreached"]
        low, high = interval(counts["caught"], max(total, 1))
        share = f"{counts['caught'] / max(total, 1):6.0%}  {low:.0%} to {high:.0%}"
        lines.append(f"{room:40} {counts['caught']:7} {total:5} {share:19} {counts['equivalent']}, {counts['broken']}")
    by = Counter(result.by.split("/")[1] if "/" in result.by else result.by for result in results.values() if result.by)
    lines += ["", "caught by: " + ", ".join(f"{kind} {count}" for kind, count in by.most_common()), "", *sorted(missed)]
    return lines


def read_results() -> dict[str, Result]:
    """Return the results of earlier runs by fingerprint, the last of each."""
    if not RESULTS.exists():
        return {}
    entries = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    return {key: Result(**entry) for key, entry in entries}


def main() -> int:
    """Read the command line, measure the tests, try the sample, tell the outcome."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=__doc__,
        epilog="A change takes ten seconds to two minutes. Ctrl-C at any time: the same command goes on from there.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sample", type=int, default=300, help="changes to try (default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other changes (default: 1)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once (default: one a core)")
    parser.add_argument("--of", nargs="+", default=["functions", "shared"], help="folders or files to change")
    parser.add_argument("--tests", nargs="+", default=[f"tests/{kind}" for kind in KINDS], help="tests to ask")
    parser.add_argument("--near", action="store_true", help="ask only tests of the same rooms: a lower bound, soon")
    parser.add_argument("--budgets", type=float, default=1, help="so many times the seconds of tests for each change")
    parser.add_argument("--survivors", action="store_true", help="try those again that survived, after new tests")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results, and what the tests reach")
    parser.add_argument("--show", action="store_true", help="only sum up the sample's results so far")
    arguments = parser.parse_args()
    for place in [*arguments.of, *arguments.tests]:
        if not (ROOT / place).exists():
            parser.error(f"there is no {place}")
    os.chdir(ROOT)
    for stop in (signal.SIGINT, signal.SIGTERM):  # A shell's background job is started with Ctrl-C ignored.
        signal.signal(stop, signal.default_int_handler)
    report = Reporter()
    try:
        return run(arguments, report)
    except KeyboardInterrupt:
        report.say("\nInterrupted. What is finished is kept: the same command goes on from there.")
        return 130


def run(arguments: argparse.Namespace, report: Reporter) -> int:
    """Do what the command line says; return the exit code."""
    if arguments.fresh:
        shutil.rmtree(KEPT, ignore_errors=True)
    with report.step("Find the places that can be changed") as note:
        every = [mutant for path in files_under(arguments.of, "*.py") for mutant in mutants_of(ROOT, path)]
        sample = sample_of(every, arguments.seed)[: arguments.sample]
        note(f"{len(every):,} changes, {len(sample)} in the sample")
    known = read_results()
    if arguments.survivors:
        known = {key: result for key, result in known.items() if result.outcome in {"caught", "broken"}}
    keys = {mutant: fingerprint(mutant) for mutant in sample}
    results = {mutant: known[key] for mutant, key in keys.items() if key in known}
    left = [] if arguments.show else [mutant for mutant in sample if mutant not in results]
    if results:
        report.say(f"{len(results)} results are kept from before; {len(left)} changes to go.")
    if left:
        KEPT.mkdir(parents=True, exist_ok=True)
        with report.step("Copy the checkout"):
            test_files = files_under(arguments.tests, "test_*.py")
            copies = Copies(arguments.processes, test_files)
        begun = time.monotonic()

        def tried(mutant: Mutant, result: Result) -> None:
            results[mutant] = result
            with RESULTS.open("a") as file:
                file.write(json.dumps([keys[mutant], asdict(result)]) + "\n")
            done = len(results) - len(sample) + len(left)
            to_go_s = (time.monotonic() - begun) / done * (len(left) - done)
            by = f" by {result.by}" if result.by else ""
            what = f"{result.outcome}{by} in {result.seconds:.0f} s: {result.mutant}: {mutant.source}"
            report.say(f"  {len(results)} of {len(sample)}, {to_go_s / 60:.0f} min to go: {what}")

        how = {"near": arguments.near, "budgets": arguments.budgets}
        copies.each(lambda copy, mutant: try_out(copy, mutant, test_files, **how), left, tried)
    report.say("\n".join(summary(results)))
    return 0


def try_out(copy: Copy, mutant: Mutant, test_files: list[str], *, near: bool, budgets: float) -> Result:
    """Try a change with the tests of these files; `near`, of those that have a word of its path in theirs."""
    files = [file for file in test_files if not near or nearness(file, mutant.path)]
    return copy.try_out(mutant, files, lambda file: measured(copy, file, KEPT / "reach"), budgets)


if __name__ == "__main__":
    sys.exit(main())
