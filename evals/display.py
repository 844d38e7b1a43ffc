"""Terminal output: progress (a bar, or now and then a line in a log), tables and plots."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

LOG_EVERY_S = 10.0
LOG_WIDTH = 180
PLOT_WIDTH, PLOT_HEIGHT = 61, 17
MARKS = "●○▲△◆◇"


class Display:
    """Prints progress to standard error and results to standard output."""

    def __init__(self, *, quiet: bool = False) -> None:
        # A pipe has no width of its own; a table must not be cut there.
        self._out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else LOG_WIDTH)
        self._err = Console(stderr=True, highlight=False)
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
        """Report how much of `total` is done."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=what[:70], completed=min(done, total), total=total)
        elif not self._quiet and time.monotonic() - self._last > LOG_EVERY_S:
            self._last = time.monotonic()
            self._err.print(f"{what} ({min(done, total)} of {total})", markup=False, soft_wrap=True)

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        self._out.print(text, markup=False)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table of the result."""
        table = Table(title=title, title_justify="left")
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number == 0 else "right", no_wrap=number > 0)
        for row in rows:
            table.add_row(*row)
        self._out.print(table)


def plus_minus(figures: Mapping[str, Any], metric: str, *, percent: bool = False) -> str:
    """Return a mean with half the width of its interval."""
    low, high = figures["ci"][metric]
    if percent:
        return f"{100 * figures[metric]:.1f} ±{50 * (high - low):.1f}"
    return f"{figures[metric]:.3f} ±{(high - low) / 2:.3f}"


def line_plot(title: str, series: Mapping[str, Sequence[tuple[float, float]]], *, x_label: str, mark: float) -> str:
    """Draw shares (0 to 1) over x from 0 to 1, each series with its own sign; `mark` is an upright line.

    Where two series meet, the first one is seen.
    """
    grid = [[" "] * PLOT_WIDTH for _ in range(PLOT_HEIGHT)]
    for row in grid:
        row[round(mark * (PLOT_WIDTH - 1))] = "┊"
    for (_, points), sign in reversed(list(zip(series.items(), MARKS, strict=False))):
        for x, y in points:
            grid[PLOT_HEIGHT - 1 - round(y * (PLOT_HEIGHT - 1))][round(min(1.0, x) * (PLOT_WIDTH - 1))] = sign
    drawn = [title]
    for number, row in enumerate(grid):
        label = f"{100 * (1 - number / (PLOT_HEIGHT - 1)):4.0f} %" if number % 4 == 0 else " " * 6
        drawn.append(f"{label} │{''.join(row)}")
    drawn.append(" " * 7 + "└" + "─" * PLOT_WIDTH)
    ticks = "".join(f"{step / 10:<{(PLOT_WIDTH - 1) // 5}.1f}" for step in range(0, 10, 2)) + "1.0"
    legend = "   ".join(f"{sign} {name}" for name, sign in zip(series, MARKS, strict=False))
    return "\n".join([*drawn, *(" " * 8 + line for line in (ticks, x_label, legend))])
