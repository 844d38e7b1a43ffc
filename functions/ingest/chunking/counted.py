"""What chunks are made of: units of text and their tokens."""

from dataclasses import dataclass, field
from typing import NamedTuple

from functions.ingest.chunking.borders import Border


class Unit(NamedTuple):
    """A sentence, item, row or line, up to the start of the next; positions count in the document's cleaned text.

    Tokens are counted from `cut` to the next unit's `cut` (see `borders.count_cut`, which gives `exact` too).
    `after_heading` says that a heading stands right before it, `new_page` that it is the first to begin on its page;
    `header` is the header row of the table it is a row of.
    """

    start: int
    cut: int
    exact: bool
    border: Border
    kind: str
    section: str
    header: str
    after_heading: bool
    new_page: bool = False


type UnitRow = tuple[int, int, bool, Border, str, str, str, bool, bool]
"""A `Unit` as a plain tuple: there are thousands, cheaper to make, and the garbage collector need not look at them."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Units in order, their tokens, and the sum of each one's token ids: a cheap fingerprint of its text."""

    rows: list[UnitRow] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    fingerprints: list[int] = field(default_factory=list)

    def append(self, row: UnitRow, tokens: int, fingerprint: int) -> None:
        """Add a unit at the end."""
        self.rows.append(row)
        self.tokens.append(tokens)
        self.fingerprints.append(fingerprint)
