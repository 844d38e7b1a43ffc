"""Which section belongs under which: by the outline's level, size, weight, numbers and names."""

import re
from dataclasses import dataclass

SAME = 1.04
NAMED = 3
"""The depth of "Note 7"; plain numbers are below it, parts and items above."""
BOLD = 2
"""The weight of bold print; another face than the body's weighs 1, the body's 0."""
NUMBERED = re.compile(r"^(?:[A-Z]\.|§+ ?)?(\d{1,2}(?:\.\d{1,3})*)[.)]?\s+\S")
_NAMED = re.compile(
    r"^(?:(?P<top>chapter|part|appendix|annex|volume|book)|(?P<second>section|item|article|schedule|exhibit)|note)"
    r"\s+(?:\d|[A-Z]\b|[IVX]+\b)",
    re.IGNORECASE,
)
EXHIBIT = re.compile(r"exhibit\s+\d{1,3}(?:\.\d{1,3})*(?:\(\w{1,3}\))?(?!\S)", re.IGNORECASE)
"""A document within a filing: what stands before it is no section above it."""
_DOTTED = re.compile(r"section\s+\d+\.", re.IGNORECASE)
"""A section of an article: "Section 9.01" of "Article IX"."""
_BACK_MATTER = re.compile(
    r"(?:references|bibliography|acknowledge?ments?|limitations|ethic\w+|signatures?|glossary|index)\b", re.IGNORECASE
)
"""Unnumbered headings that end the last numbered section instead of belonging to it."""
LEAST_SPACES = 2
"""Spaces of a title that a section and what is below it do not both have by chance."""
MAX_MISSED = 3
"""Steps from one section's number to the next that is found, at most."""


@dataclass(frozen=True, slots=True)
class OpenSection:
    """`weight` is `BOLD`, 1 for another face or 0 for the body's; `level` is the outline's, 0 without one.

    `leaf`: nothing belongs under it, as under a table of contents.
    """

    title: str
    size: float
    weight: int
    depth: int
    level: int = 0
    cover: bool = False
    leaf: bool = False

    def is_called(self, title: str) -> bool:
        """Whether the section has this title, of so many words that no part of it has the same by chance."""
        return title.count(" ") >= LEAST_SPACES and self.title.lower() == title.lower()

    def outranks(self, other: "OpenSection") -> bool:
        """Whether `other` belongs under this one; nothing belongs under a letter, as of an index."""
        if self.leaf or len(self.title) == 1:
            return False
        if EXHIBIT.match(self.title) or EXHIBIT.match(other.title):
            return not EXHIBIT.match(other.title)
        if self.level or other.level:
            return 0 < self.level < (other.level or self.level + 1)
        if self._is_beside(other):
            return False
        if self.size > SAME * other.size or other.size > SAME * self.size:
            return self.size > other.size
        if self.depth and other.depth:
            return self.depth < other.depth and not self._has_another_number(other)
        if self._is_named != other._is_named:
            named, plain = (self, other) if self._is_named else (other, self)
            if max(self.weight, other.weight) < BOLD or named._is_louder(plain):
                return self._is_named
        if self.weight != other.weight:
            return self.weight > other.weight
        if self.depth or other.depth:
            is_apart = _BACK_MATTER.match(self.title) or other._is_over_unnumbered(self)
            return self._is_over_unnumbered(other) if self.depth else not is_apart
        return self.title.isupper() and not other.title.isupper()

    def _is_beside(self, other: "OpenSection") -> bool:
        """Whether both are numbered within the same section, whatever their print: "3.1.1" and "3.1.2"."""
        mine, theirs = self._number, other._number
        return len(mine) > 1 and bool(theirs) and mine[:-1] == theirs[:-1]

    def _has_another_number(self, other: "OpenSection") -> bool:
        """Whether the number of `other` is none below this one's: "4.1" is not of "3", whose "4" was not found."""
        mine, theirs = self._number, other._number
        return bool(mine) and len(theirs) > 1 and theirs[: len(mine)] != mine

    def _is_louder(self, other: "OpenSection") -> bool:
        """Whether this note is in capitals and `other`, though in heavier print, is not: "NOTE 4 — INVESTMENTS"."""
        if self.depth < NAMED or self.weight >= other.weight or _BACK_MATTER.match(other.title):
            return False
        return self.title.isupper() and not other.title.isupper()

    @property
    def _number(self) -> list[str]:
        """The parts of the number that the title begins with: "3" and "1" of "3.1 Scope"; none without one."""
        found = NUMBERED.match(self.title)
        return found[1].split(".") if found else []

    @property
    def _is_named(self) -> bool:
        return 0 < self.depth <= NAMED

    def _is_over_unnumbered(self, other: "OpenSection") -> bool:
        """Whether this numbered heading stands above an unnumbered one in the same print: "Item 7" over "Results"."""
        if _BACK_MATTER.match(other.title):
            return False
        return self.depth <= NAMED or self.title.isupper() or not other.title.isupper()


def depth_of(text: str) -> int:
    """Return how deep the numbering of a heading says it is, from 1 ("Part II"); 0 without one."""
    named = _NAMED.match(text)
    if named:
        return 1 if named["top"] else 2 if named["second"] and not _DOTTED.match(text) else NAMED
    numbered = NUMBERED.match(text)
    return NAMED + 1 + numbered.group(1).count(".") if numbered else 0


def numbers_of(number: str) -> tuple[int, ...]:
    """Return the parts of a section's number: "3.1" as 3 and 1."""
    return tuple(map(int, number.split(".")))


def follows(number: tuple[int, ...], last: tuple[int, ...], depth: int, steps: int = 1) -> bool:
    """Whether a section's number, deeper than `depth`, is at most some steps after the last one.

    Those between them may be in other print.
    """
    at = len(number) - 1
    if not depth <= at <= len(last) or number[:at] != last[:at]:
        return False
    return 0 < number[at] - last[at] <= steps if at < len(last) else number[at] == 1
