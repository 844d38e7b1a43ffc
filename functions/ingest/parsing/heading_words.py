"""What headings are called in several languages: tables of contents, captions, numbers of chapters, and what is none.

`heading_words.txt` holds a row of words for each, and what documents open with; names without the room between words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from functions.ingest.parsing.wire import Line

_ROWS = (row.split() for row in Path(__file__).with_name("heading_words.txt").read_text("utf-8").splitlines())
_WORDS = {name: tuple(words) for name, *words in _ROWS}
_CONTENTS = frozenset(_WORDS["contents"])
_OPENING = frozenset(_WORDS["opening"])
_REMARK = frozenset(_WORDS["remark"])
_AUTHORS = frozenset(_WORDS["authors"])
_NOT_LETTER = re.compile(r"[\W\d_]+")
_ENTRY = re.compile(r"\D\s?(?:\d{1,4}|[ivxlc]{1,7})$")
"""How an entry of a table of contents ends: with the number of a page."""
_ENTRIES_LOOKED_AT = 6
_MIN_ENTRIES = 2
CAPTION = "|".join(re.escape(word) for word in _WORDS["caption"])
"""What is called by a number above or below it: "Table", "Abbildung"."""
_LABEL = re.compile(r"[^\W\d_]{3,}\.? (?:\d{1,3}|[IVXLC]{1,6}|[A-Z])\.?")
_IS_CAPTION = re.compile(rf"(?:{CAPTION})(?!\w)", re.IGNORECASE)
_NUMERAL = f"(?:{'|'.join(_WORDS['numeral'])})"
_WRITTEN_OUT = re.compile(rf"[^\W\d_]{{3,}} {_NUMERAL}(?:[- ]?{_NUMERAL})?", re.IGNORECASE)


@lru_cache(maxsize=1_024)
def _letters(text: str) -> str:
    return _NOT_LETTER.sub("", text).lower()


def opens_document(text: str) -> bool:
    """Whether a heading is what many documents open with: "Abstract", "Contents"."""
    return _letters(text) in _OPENING or _letters(text) in _CONTENTS


def is_remark(text: str) -> bool:
    """Whether a text is no more than what marks a remark: "CAUTION", "Hinweis!"."""
    return text[:1].isalpha() and _letters(text) in _REMARK


def is_contents(text: str, below: Sequence[Line]) -> bool:
    """Whether a heading is that of a table of contents, whose entries stand below it."""
    if _letters(text) not in _CONTENTS:
        return False
    return sum([_ENTRY.search(line.text) is not None for line in below[:_ENTRIES_LOOKED_AT]]) >= _MIN_ENTRIES


_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_WORDS = 1
_EDITION = re.compile(
    rf"(?:for |document |program )*(?:{'|'.join(map(re.escape, _WORDS['edition']))})(?![^\W\d_])\W*v?\.?\d|v\.? ?\d",
    re.IGNORECASE,
)


def is_edition(text: str) -> bool:
    """Whether a line says little but the number of a version: "Version 2.1 of May 2020", "for release 3"."""
    found = _EDITION.match(text)
    return found is not None and len(_LONG_WORD.findall(text[found.end() :])) <= _MOST_WORDS


def is_of_authors(text: str) -> bool:
    """Whether a line ends in what those who write a document are called together: "The Plum development team"."""
    return text.rsplit(" ", 1)[-1].lower() in _AUTHORS and " " in text


def is_label(text: str) -> bool:
    """Whether a line is no more than what a chapter is called by its number: "Capítulo 10", "Appendix B"."""
    return _LABEL.fullmatch(text) is not None and not _IS_CAPTION.match(text)


def is_label_written_out(above: str, line: str) -> bool:
    """Whether two lines in capitals are the label of a chapter: "CHAPTER" and "ONE"."""
    return above.isupper() and line.isupper() and _WRITTEN_OUT.fullmatch(f"{above} {line}") is not None
