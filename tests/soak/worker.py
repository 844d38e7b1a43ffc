"""What one process of the soak does: emulators of its own, and one run after the other."""

import logging
import signal
import tempfile
import time
import traceback
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from shared.telemetry import metrics
from tests.support.ingest_kills import World
from tests.support.ingest_machine import IngestMachine, machine_world, run_machine

EXAMPLES = 10
STEPS = 50
"""Of one run: so many programs of so many steps."""


_CHECKS = ("state.check", "state.note_what", "state.count")


def told(error: Exception) -> str:
    """Return what was broken, where, and the shortest program that breaks it: its steps without the checks between."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    program = [
        line.replace("data=data(...), ", "").replace("data=data(...)", "")
        for line in "\n".join(getattr(error, "__notes__", ())).splitlines()
        if line.startswith(("state.", "Draw")) and not line.startswith(_CHECKS)
    ]
    what = f"{type(error).__name__}: {error}".partition("\nassert ")[0]
    return "\n".join([f"{what} ({Path(place.filename).name}:{place.lineno})", *(f"    {line}" for line in program)])


@dataclass(frozen=True, slots=True)
class Run:
    """One run that is through; `violation` is empty, or tells the program and what it broke."""

    number: int
    steps: int
    seconds: float
    violation: str = ""


class _Kept:
    """What a process keeps between runs."""

    stack = ExitStack()
    world: World
    counter: "Synchronized[int]"


def prepare(counter: "Synchronized[int]") -> None:
    """Start the emulators of this process."""
    metrics.add_metric = lambda *args, **kwargs: None  # type: ignore[method-assign]
    logging.disable(logging.CRITICAL)  # what the functions say about each message would bury everything else
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who shares out
    folder = Path(_Kept.stack.enter_context(tempfile.TemporaryDirectory(prefix="recto-soak-")))
    _Kept.world = _Kept.stack.enter_context(machine_world(folder))
    _Kept.counter = counter


def work(number: int, seeded: int) -> Run:
    """Do one run."""
    begun = time.monotonic()
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1
        with _Kept.counter.get_lock():
            _Kept.counter.value += 1

    violation = ""
    try:
        run_machine(lambda: IngestMachine(_Kept.world, count), examples=EXAMPLES, steps=STEPS, seeded=seeded)
    except ExceptionGroup as several:
        violation = "\n\n".join(told(each) for each in several.exceptions)
    except Exception as error:
        violation = told(error)
    return Run(number, steps, round(time.monotonic() - begun, 1), violation)
