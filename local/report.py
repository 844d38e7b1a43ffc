"""Shows progress: a spinner on a terminal, plain lines in a pipe or a log."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

SILENCE_S = 5.0
"""Seconds between two lines which say that a long step is still running, where there is no terminal."""


def counted(n: int, one: str, more: str = "") -> str:
    """Return "1 page", or "1,200 pages"; `more` is the plural where it is not made with an s."""
    return f"{n:,} {one if n == 1 else more or f'{one}s'}"


class Reporter:
    """Prints one line per finished step with its duration; steps may run at the same time in threads."""

    def __init__(self, console: Console | None = None) -> None:
        # soft_wrap: a token or a curl line is copied as one line, or not at all.
        self.console = console or Console(highlight=False, soft_wrap=True)
        self._lock = threading.Lock()
        self._active: list[str] = []
        self._status: Status | None = None

    def say(self, text: str = "") -> None:
        """Print a line of plain text."""
        with self._lock:
            self.console.print(escape(text))

    def markup(self, text: str) -> None:
        """Print a line with rich's markup; text from outside has to be escaped."""
        with self._lock:
            self.console.print(text)

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Show that a step is running; yields a function that adds a note to its line."""
        notes: list[str] = []
        begun = time.monotonic()
        self._show(title, begin=True)
        mark = "[red]✗[/]"
        ended = threading.Event()
        if not self.console.is_terminal:
            threading.Thread(target=self._say_that_it_runs, args=(title, begun, ended), daemon=True).start()
        try:
            yield notes.append
            mark = "[green]✓[/]"
        finally:
            ended.set()
            self._show(title, begin=False)
            note = f" [dim]({escape('; '.join(notes))})[/]" if notes else ""
            self.markup(f"{mark} {escape(title)} [dim]{time.monotonic() - begun:.1f} s[/]{note}")

    def _say_that_it_runs(self, title: str, begun: float, ended: threading.Event) -> None:
        while not ended.wait(SILENCE_S):
            self.say(f"  {title}: {time.monotonic() - begun:.0f} s so far")

    @contextmanager
    def live(self, title: str, *, every_s: float = 0.0) -> Iterator[Callable[[str], None]]:
        """Show one changing line: in place on a terminal, else a new line at each change, one in `every_s` at most."""
        last, said_at = "", float("-inf")

        def change(text: str) -> None:
            nonlocal last, said_at
            if text == last:
                return
            if self._status is not None:
                self._status.update(escape(f"{title}: {text}"))
            elif time.monotonic() - said_at >= every_s:
                said_at = time.monotonic()
                self.say(f"  {title}: {text}")
            else:
                return
            last = text

        self._show(title, begin=True)
        try:
            yield change
        finally:
            self._show(title, begin=False)

    def _show(self, title: str, *, begin: bool) -> None:
        with self._lock:
            if begin:
                self._active.append(title)
            else:
                self._active.remove(title)
            if not self.console.is_terminal:
                return
            if self._status is None:
                self._status = self.console.status("")
                self._status.start()
            self._status.update(escape(" · ".join(self._active)))
            if not self._active:
                self._status.stop()
                self._status = None
