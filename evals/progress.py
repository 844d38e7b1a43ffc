"""Progress on a terminal as a bar, in a log as a line now and then; tables for people."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

LOG_EVERY_S = 10.0
LOG_WIDTH = 180


class Display:
    """Shows what is being done. Progress goes to standard error, results to standard output."""

    def __init__(self, *, quiet: bool = False, out: Console | None = None, err: Console | None = None) -> None:
        # A pipe has no width of its own; a table must not be cut there.
        self.out = out or Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else LOG_WIDTH)
        self._err = err or Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._bar: Progress | None = None
        self._last = 0.0

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Show a bar while the block runs."""
        if self._quiet or not self._err.is_terminal:
            yield
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._err, transient=True) as bar:
            self._bar = bar
            bar.add_task("", total=None)
            try:
                yield
            finally:
                self._bar = None

    def advance(self, what: str, done: int, total: int) -> None:
        """Tell how far it is."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=what[:70], completed=min(done, total), total=total)
        elif not self._quiet and time.monotonic() - self._last > LOG_EVERY_S:
            self._last = time.monotonic()
            self._err.print(f"{what} ({min(done, total)} of {total})", markup=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Say something on the side."""
        if not self._quiet:
            self._err.print(text, markup=False)

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        self.out.print(text, markup=False)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table of the result."""
        table = Table(title=title, title_justify="left")
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number == 0 else "right", no_wrap=number > 0)
        for row in rows:
            table.add_row(*row)
        self.out.print(table)
