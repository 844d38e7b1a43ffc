"""Notes the functions of the product that a process calls; run in place of the parser's fork server, its children's.

A child is killed when it is done, so it writes each name at once. It holds nothing but the standard library.
"""

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

NOTES = "RECTO_REACH_CHILD"
LINES = "RECTO_REACH_LINES"
"""What to watch instead: "path:first line:last line:file that appears once one of them runs"."""
_ROOT = f"{Path(__file__).resolve().parents[2]}/"
_ROOMS = tuple(f"{_ROOT}{room}/" for room in ("functions", "shared"))
_TOOL = sys.monitoring.PROFILER_ID


def watch(note: Callable[[str], Any]) -> None:
    """Call `note` with "path:qualified name" at the first call of each function, until `begin_again`."""

    def called(code: CodeType, _offset: int) -> Any:
        if code.co_filename.startswith(_ROOMS):
            note(f"{code.co_filename.removeprefix(_ROOT)}:{code.co_qualname}")
        return sys.monitoring.DISABLE

    sys.monitoring.use_tool_id(_TOOL, "reach")
    sys.monitoring.register_callback(_TOOL, sys.monitoring.events.PY_START, called)
    sys.monitoring.set_events(_TOOL, sys.monitoring.events.PY_START)


def watch_lines(what: str) -> None:
    """Make the file named by `what` (see `LINES`) when one of these lines runs."""
    path, first, last, seen = what.split(":")

    def called(code: CodeType, _offset: int) -> Any:
        if code.co_filename == f"{_ROOT}{path}":
            sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def ran(_code: CodeType, line: int) -> Any:
        if int(first) <= line <= int(last):
            Path(seen).touch()
        return sys.monitoring.DISABLE

    sys.monitoring.use_tool_id(_TOOL, "reach")
    sys.monitoring.register_callback(_TOOL, sys.monitoring.events.PY_START, called)
    sys.monitoring.register_callback(_TOOL, sys.monitoring.events.LINE, ran)
    sys.monitoring.set_events(_TOOL, sys.monitoring.events.PY_START)


def begin_again() -> None:
    """Note every function again at its next call."""
    sys.monitoring.restart_events()


if __name__ == "__main__":
    if LINES in os.environ:
        watch_lines(os.environ[LINES])
    else:
        notes = os.open(os.environ[NOTES], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        watch(lambda name: os.write(notes, f"{name}\n".encode()))
    runpy.run_module("functions.ingest.parsing.child", run_name="__main__", alter_sys=True)
