"""Stored texts that results are compared with; `pytest --write-snapshots` rewrites those that differ.

Whoever rewrites one reads its diff before it is committed: a snapshot says what the code does, not what is right.
"""

from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path

import pytest

OPTION = "--write-snapshots"
"""The option of pytest (`tests/conftest.py`)."""
SHOWN_LINES = 80


class Rewriting:
    """Whether this run stores what it gets, as the command line says."""

    asked_for = False


def check(path: Path, text: str) -> None:
    """Compare a text with the stored one, exactly; fail with their differences. With `OPTION`, store it instead."""
    text = text.rstrip("\n") + "\n"
    stored = path.read_bytes().decode() if path.exists() else ""
    if stored == text:
        return
    if Rewriting.asked_for:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return
    lines = list(unified_diff(stored.split("\n"), text.split("\n"), "stored", "now", lineterm=""))
    if len(lines) > SHOWN_LINES:
        lines = [*lines[:SHOWN_LINES], f"… and {len(lines) - SHOWN_LINES} more lines"]
    advice = f"{path.name} is not what comes out now. If the change is wanted, `make snapshots`, and read the diff."
    pytest.fail("\n".join([advice, *lines]), pytrace=False)


def check_names(folder: Path, names: Iterable[str]) -> None:
    """Fail if a folder's stored texts are not exactly those of these names; with `OPTION`, remove what is left over."""
    stored = {path.stem for path in folder.glob("*.txt")}
    if Rewriting.asked_for:
        for name in stored - set(names):
            (folder / f"{name}.txt").unlink()
        return
    assert stored == set(names), "a snapshot is missing or left over: `make snapshots`"
