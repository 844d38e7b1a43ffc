"""`make mutants`: small changes of `functions` and `shared`, one at a time; do the tests notice?

First each file of tests is run once, to learn which functions each test reaches. Then a random sample of changes is
tried, each with the tests that reach it: unit, functional, contract, until one fails. Everything learned is kept in
`.recto/mutants`, so an interrupted run continues, and a larger sample begins with the results of the smaller one.
"""

import argparse
import hashlib
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from local.report import Reporter
from tests.mutants.mutating import Mutant, mutants_of, sample_of
from tests.mutants.trying import KINDS, ROOT, Copy, Result, Test, measure

KEPT = ROOT / ".recto" / "mutants"


class Copies:
    """As many copies of the checkout as changes are tried at once."""

    def __init__(self, count: int) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        self._pool = ThreadPoolExecutor(count)
        for number in range(count):
            self._free.put(Copy(KEPT / f"copy-{number}"))

    def map[T, R](self, work: Callable[[Copy, T], R], items: Iterable[T], then: Callable[[R], None]) -> None:
        """Do the work for each item on a copy of its own; `then` gets each result in the items' order."""

        def on_a_copy(item: T) -> R:
            copy = self._free.get()
            try:
                return work(copy, item)
            finally:
                self._free.put(copy)

        try:
            for result in self._pool.map(on_a_copy, items):
                then(result)
        except KeyboardInterrupt:
            self._pool.shutdown(wait=False, cancel_futures=True)
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


def summary(results: dict[Mutant, Result]) -> list[str]:
    """Return the table by room and the list of what no test noticed."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mutant, result in results.items():
        rooms[room_of(mutant.path)][result.outcome] += 1
    lines = [f"{'room':40} {'caught':>7} {'of':>5} {'share':>6}"]
    for room, counts in [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter()))]:
        total = counts["caught"] + counts["survived"] + counts["unreached"]
        lines.append(f"{room:40} {counts['caught']:7} {total:5} {counts['caught'] / max(total, 1):6.0%}")
    missed = [result for result in results.values() if result.outcome in {"survived", "unreached"}]
    lines += ["", *sorted(f"{result.outcome}: {result.mutant}" for result in missed)]
    return lines


def main() -> int:
    """Read the command line, measure the tests, try the sample, tell the outcome."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sample", type=int, default=300, help="changes to try (default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other changes (default: 1)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once (default: one a core)")
    parser.add_argument("--of", nargs="+", default=["functions", "shared"], help="folders or files to change")
    parser.add_argument("--tests", nargs="+", default=[f"tests/{kind}" for kind in KINDS], help="tests to ask")
    parser.add_argument("--survivors", action="store_true", help="try those again that survived, after new tests")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    report = Reporter()
    results_file = KEPT / "results.jsonl"
    known: dict[str, Result] = {}
    if results_file.exists() and not arguments.fresh:
        for line in results_file.read_text().splitlines():
            key, entry = json.loads(line)
            known[key] = Result(**entry)
    with report.step("Find the places that can be changed") as note:
        every = [mutant for path in files_under(arguments.of, "*.py") for mutant in mutants_of(ROOT, path)]
        sample = sample_of(every, arguments.seed)[: arguments.sample]
        note(f"{len(every):,} changes, {len(sample)} in the sample")
    keys = {mutant: fingerprint(mutant) for mutant in sample}
    if arguments.survivors:
        known = {key: result for key, result in known.items() if result.outcome in {"caught", "broken"}}
    results = {mutant: known[key] for mutant, key in keys.items() if key in known}
    left = [mutant for mutant in sample if mutant not in results]
    if results:
        report.say(f"{len(results)} results are kept from before; {len(left)} changes to go.")
    if left:
        copies = Copies(arguments.processes)
        tests: list[Test] = []
        test_files = files_under(arguments.tests, "test_*.py")
        done = 0

        def measured(found: list[Test]) -> None:
            nonlocal done
            done += 1
            tests.extend(found)
            if done % 10 == 0 or done == len(test_files):
                report.say(f"  {done} of {len(test_files)} files of tests measured: {len(tests):,} tests")

        copies.map(lambda copy, file: measure(copy, file, KEPT / "reach"), test_files, measured)

        def tried(result: Result) -> None:
            mutant = left[len(results) - before]
            results[mutant] = result
            with results_file.open("a") as file:
                file.write(json.dumps([keys[mutant], asdict(result)]) + "\n")
            by = f" by {result.by}" if result.by else ""
            report.say(
                f"  {len(results)} of {len(sample)}: {result.outcome}{by}, {result.seconds:.0f} s: {result.mutant}"
            )

        before = len(results)
        try:
            copies.map(lambda copy, mutant: copy.try_out(mutant, tests), left, tried)
        except KeyboardInterrupt:
            report.say("Interrupted. What is finished is kept: `make mutants` continues from there.")
            return 130
    report.say("\n".join(summary(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
