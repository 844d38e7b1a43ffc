"""Pages and sections that a question names: "on page 12", "In the 'Unlock Your Screen' section".

Neither stands in the passage's own text: the page number was cut off as a running foot, and the heading stands in the
first passage of its section only. Both weights were measured with each document left out in turn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.retrieval.evidence import plain_words
from functions.query.retrieval.passages import Passage

ON_PAGE = 1.0
"""Worth, in units of cosine, of a passage that begins on a page the question names, by its number or printed label."""
IN_SECTION = 0.5
"""Worth of one whose section has, as its heading or a part of it, what the question quotes."""

_PAGES = re.compile(
    r"\b(?:pages?|slides?|pp?\.|psl\.|puslap\w*|skaidr\w*)\s*(\d{1,4})\b"
    r"(?:\s*(?:and|&|,|or|to|ir|iki|-|–)\s*(?:pages?\s*|slides?\s*)?(\d{1,4})\b)?"
    r"|\b(\d{1,4})(?:-\w{1,4})?\s*(?:psl\b|puslap|skaidr)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)['\"‘“„`]([^'\"’‘”“`]{3,80})['\"’”“`](?!\w)")


@dataclass(frozen=True, slots=True)
class Places:
    """The pages a question names, and what it puts in quotes, as words between spaces."""

    pages: frozenset[str]
    quoted: Sequence[str]

    @classmethod
    def of(cls, question: str) -> "Places":
        """Read a question."""
        pages = frozenset(number for found in _PAGES.findall(question) for number in found if number)
        quoted = [spaced for text in _QUOTED.findall(question) if (spaced := _spaced(text)).strip()]
        return cls(pages, quoted)

    def worth(self, passage: Passage) -> float:
        """Return what a passage is worth for where it stands, in units of cosine."""
        on_page = bool(self.pages) and not self.pages.isdisjoint((str(passage.page_start), passage.page_label))
        section = _spaced(passage.section) if self.quoted and passage.section else ""
        return ON_PAGE * on_page + IN_SECTION * any(text in section for text in self.quoted)


def _spaced(text: str) -> str:
    return f" {' '.join(plain_words(text, latin=False))} "
