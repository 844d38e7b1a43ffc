"""Finds the entries of an outline among a page's lines."""

import re
from functools import lru_cache
from unicodedata import normalize

from functions.ingest.parsing.heading_lines import LONGEST_PLAIN, MAX_LENGTH
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.wire import Line

_PREFIX = re.compile(
    r"^(?:(?:(?:chapter|appendix|section|part)\s+|§+\s*)?(?:\d{1,3}(?:\.\d+)*|[A-Z](?:\.\d+)+|[A-Z](?=[.:]))|"
    r"[^\W\d_]{4,}\s+(?:\d{1,3}|[A-Z])(?=[.:])|"
    r"(?:chapter|appendix|section|part)(?:\s+[A-Z]\b)?)?[.:]?\s+",
    re.IGNORECASE,
)
_LETTER = re.compile(r"^[A-Z]\s+(?=\S)")
"""An appendix's letter, or an article: "A The code", "A short history"."""
_NOT_WORD = re.compile(r"[\W_]+")
ENTRY_LINES = 3
"""Lines of the text that an entry of the outline may take."""
SHORTEST_ENTRY = 3
"""Characters of an entry of the outline that may be the beginning of a longer line."""


@lru_cache(maxsize=2_048)
def _squeezed(text: str) -> str:
    """Return a text's letters and digits in small letters, without accents, which capitals may lack."""
    return _NOT_WORD.sub("", text if text.isascii() else normalize("NFD", text)).casefold()


@lru_cache(maxsize=2_048)  # the lines of a page are compared with each of its outline entries
def bare(text: str) -> str:
    """Return a title's letters and digits without its number, in small letters."""
    return _squeezed(_PREFIX.sub("", text.strip() + " "))


@lru_cache(maxsize=2_048)
def names_of(text: str) -> frozenset[str]:
    """Return a title's letters and digits without its number, and without the letter that it may begin with."""
    return frozenset({bare(text), bare(_LETTER.sub("", text.strip()))} - {""})


def place_of(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Return which of the lines from `start` on are an entry of the outline, None if none is."""
    return _find(title, lines, start) or _find_begin(title, lines, start)


def _find(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Find the lines an outline entry names: the text may lack its number, or run over two lines."""
    wanted = names_of(title)
    whole = _squeezed(title)
    if not wanted and not whole:
        return None
    for i in range(start, len(lines)):
        if len(lines[i].text) > 2 * MAX_LENGTH or not _squeezed(lines[i].text):
            continue
        text = ""
        for end in range(i + 1, min(i + ENTRY_LINES, len(lines)) + 1):
            text += " " + lines[end - 1].text
            full = _squeezed(text)
            if full == whole or not wanted.isdisjoint(names_of(text)):
                return i, end
            begins = names_of(text) or {""}
            if not (whole.startswith(full) or any(name.startswith(got) for name in wanted for got in begins)):
                break
    return None


def _find_begin(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Find a short line that begins with the entry and continues: "abs  Absolute value", "2. Data: `head`"."""
    if len(title) < SHORTEST_ENTRY:
        return None
    title = title.lower()
    for i in range(start, len(lines)):
        text = cleaned(lines[i].text)
        begin = (_PREFIX.sub("", text) if text[:1].isdigit() else text).lower()
        continues = begin.startswith(title) and begin[len(title) : len(title) + 1] in {" ", ":"}
        if continues and len(text) <= LONGEST_PLAIN and lines[i].cells and not lines[i].column:
            return i, i + 1
    return None
