"""Slides: what the title of one heads ends with it, but for those that stand alone before others as their title."""

from functions.ingest.parsing.sections import OpenSection
from functions.ingest.parsing.wire import RawPage

MIN_SLIDES, WIDE_SHARE, MOST_TEXT = 3, 0.8, 1_200
"""Pages, share of them that are wider than high, and characters of each on average, of a document that is slides."""
DIVIDER_LINES = 4
"""Lines of a slide at most that stands before others as their title."""


class Slides:
    """Tells whether a document is slides, from the pages given to `learn`, and which sections go on in the next."""

    def __init__(self) -> None:
        self._pages = self._wide = self._characters = 0
        self._dividers: set[OpenSection] = set()
        self._is_divider = False

    def learn(self, page: RawPage) -> None:
        """Count a page and its text."""
        width, height = page.shown_size
        self._pages += 1
        self._wide += width > height
        self._characters += sum([len(line.text) for line in page.lines])

    def open_on(self, page: RawPage, stack: list[OpenSection]) -> list[OpenSection]:
        """Return the sections that go on where a page begins new ones; `stack` are those open behind the last such."""
        if self._wide < max(MIN_SLIDES, WIDE_SHARE * self._pages) or self._characters >= MOST_TEXT * self._pages:
            return stack
        if self._is_divider:
            self._dividers.update(stack)
        self._is_divider = len(page.lines) <= DIVIDER_LINES
        return [section for section in stack if section in self._dividers]
