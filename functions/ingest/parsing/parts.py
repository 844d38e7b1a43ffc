"""The blocks of a page in the making: paragraphs, items, tables, code, figures and headings."""

import re
from dataclasses import dataclass, field
from typing import Literal

from shared.models import LinePlace

Kind = Literal["heading", "paragraph", "list_item", "table", "code", "figure"]

_END = re.compile(r"[.!?:;…。！？；：؟।][)\]\"'”’»]*$")


@dataclass(slots=True)
class Part:
    """A block in the making. `full`: its last line reaches the right edge; `lines` says where each begins in `text`.

    `begin` is where its first line begins, `leads` whether in other print than it goes on in (`Line.leads`);
    `is_tagged`, if tags tell it; `hangs` is `begin` where it is on the left of all others, else 0.
    """

    kind: Kind
    text: str
    section: str = ""
    header: str = ""
    size: float = 0.0
    full: bool = False
    hangs: float = 0.0
    begin: float = 0.0
    leads: bool = False
    is_tagged: bool = False
    lines: list[LinePlace] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether the paragraph may continue: its last sentence has not ended."""
        return self.kind in {"paragraph", "list_item"} and not ends_sentence(self.text)


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return not text[-1:].isalnum() and _END.search(text[-8:]) is not None  # most lines end in a letter
