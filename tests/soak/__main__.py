"""The second part of `make soak`: the ingest state machine for 10,000 steps and more, shared out over processes.

The work is cut into runs, each with a seed of its own that follows from `--seed` and its number. A run that is through
is noted in a journal, so an interrupted soak continues where it stopped; `--fresh` starts over. A violation comes with
the shortest program that shows it, and with the command that repeats it.
"""

import argparse
import json
import math
import multiprocessing
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path

from local.report import Reporter
from tests.soak.worker import EXAMPLES, STEPS, Run, prepare, work

JOURNALS = Path(__file__).parents[2] / ".hypothesis" / "soak"
REPORT_EVERY_S = 10.0


def read_journal(path: Path) -> list[Run]:
    """Return the runs that are through."""
    return [Run(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def progress(done: int, expected: int, seconds: float) -> str:
    """Return how far it is, how fast, and about how long it will take."""
    speed = done / seconds
    left = f", about {max(expected - done, 0) / speed / 60:.0f} minutes to go" if done else ""
    return f"  {done:,} of about {expected:,} steps, {speed:.1f} a second{left}; no violation"


def soak(numbers: list[int], through: list[Run], arguments: argparse.Namespace, journal: Path, report: Reporter) -> int:
    """Share the runs of these numbers out, and note each in `through` and in the journal; return the exit code."""
    context = multiprocessing.get_context("spawn")
    counter = context.Value("i", 0)
    begun = time.monotonic()
    pool = ProcessPoolExecutor(arguments.processes, mp_context=context, initializer=prepare, initargs=(counter,))
    waiting: set[Future[Run]] = {pool.submit(work, n, arguments.seed * 1_000_003 + n) for n in numbers}
    try:
        while waiting and not any(run.violation for run in through):
            finished, waiting = wait(waiting, timeout=REPORT_EVERY_S, return_when=FIRST_COMPLETED)
            for run in (future.result() for future in finished):
                through.append(run)
                journal.parent.mkdir(parents=True, exist_ok=True)
                with journal.open("a") as file:
                    file.write(json.dumps(asdict(run)) + "\n")
            if not any(run.violation for run in through):
                report.say(progress(counter.value, len(numbers) * EXAMPLES * STEPS, time.monotonic() - begun))
    except KeyboardInterrupt:
        report.say(f"Interrupted. {len(through)} finished runs are kept: `make soak` continues from there.")
        return 130
    finally:
        for process in list((pool._processes or {}).values()):
            process.kill()  # after a violation nobody waits for the other runs
        pool.shutdown(wait=False, cancel_futures=True)
    violations = [run for run in through if run.violation]
    for run in violations:
        report.say(f"\nRun {run.number} broke a promise:\n{run.violation}")
        report.say(f"Again: {sys.executable} -m tests.soak --seed {arguments.seed} --only {run.number}")
    report.say(
        f"soak: {sum(run.steps for run in through):,} steps in {len(through)} runs (seed {arguments.seed}, "
        f"{arguments.processes} processes, {time.monotonic() - begun:.0f} s): "
        f"{len(violations)} violations"
    )
    return 1 if violations else 0


def main() -> int:
    """Read the command line and soak."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=10_000, help="steps in total (default: 10000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once (default: one a core)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other programs (default: 1)")
    parser.add_argument("--only", type=int, metavar="RUN", help="do this one run, to see its violation again")
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted soak had done")
    arguments = parser.parse_args()
    report = Reporter()
    if arguments.only is not None:
        return soak([arguments.only], [], arguments, Path(os.devnull), report)
    journal = JOURNALS / f"seed-{arguments.seed}.jsonl"
    # Runs with a violation are repeated: a soak after a fix must check them.
    through = [] if arguments.fresh else [run for run in read_journal(journal) if not run.violation]
    journal.unlink(missing_ok=True)
    if through:
        journal.write_text("".join(json.dumps(asdict(run)) + "\n" for run in through))
        report.say(f"Continuing after {sum(run.steps for run in through):,} steps (--fresh starts over).")
    done = {run.number for run in through}
    # One run more: a program may end a step early.
    numbers = [n for n in range(math.ceil(arguments.steps / (EXAMPLES * STEPS)) + 1) if n not in done]
    return soak(numbers, through, arguments, journal, report)


if __name__ == "__main__":
    sys.exit(main())
