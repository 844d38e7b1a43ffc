"""How a page says which one of how many it is, and what a browser prints around it.

`page_words.txt` holds what a page is called in several languages, and what stands between its number and their count.
"""

import re
from pathlib import Path

from functions.ingest.parsing.sides import SAME_PLACE, Sides
from functions.ingest.parsing.wire import Line

LONGEST_NUMBER = 40
"""Characters of a line that is nothing but the number of a page, at most."""
LONGEST_ROW = 300
"""Characters of a row that a browser prints, at most."""


def _words() -> dict[str, str]:
    rows = Path(__file__).with_name("page_words.txt").read_text("utf-8").splitlines()
    return {name: "|".join(re.escape(word) for word in words) for name, *words in map(str.split, rows)}


_WORDS = _words()
_PAGE = rf"(?:(?:{_WORDS['page']})(?!\w)\s*)"
_COUNT = rf"(?:\s*(?:(?:{_WORDS['of']})(?!\w)|/)\s*(\d{{1,4}}))"
_PAGE_NUMBER = re.compile(rf"[-–—\s]*{_PAGE}?\s*(\w{{1,6}}){_COUNT}?[-–—\s]*", re.IGNORECASE)
_PAGE_OF_PAGES = re.compile(rf"(?<!\w)({_PAGE})?(\d{{1,4}}){_COUNT}(?![\w./-])", re.IGNORECASE)
_ANY_FIGURES = re.compile(r"\d\d")
_TIME = re.compile(r"\b\d{1,4}[./-] ?\d{1,2}[./-] ?\d{1,4},? \d{1,2}[:.]\d\d\b")
"""When a browser printed a page: "11/29/26, 1:55 PM", "29. 11. 2026 13:55"."""


def page_number(text: str) -> str:
    """Return the number of a page, if a line is nothing else: "Page ii of 12"; else ""."""
    match = _PAGE_NUMBER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    return match[1] if match else ""


def counts_pages(text: str, number: int, count: int) -> bool:
    """Whether a line says that this is page `number` of `count`, and has no other figures: "Minutes – page 1 of 2"."""
    if str(count) not in text or str(number) not in text:  # nearly always
        return False
    return any(
        found[1] and _is(found, number, count) and not _ANY_FIGURES.search(text[: found.start()] + text[found.end() :])
        for found in _PAGE_OF_PAGES.finditer(text)
    )


def printed_by_browser(sides: Sides, count: int) -> list[Line]:
    """Return the rows that a browser has printed around a page: its address, the time, the number of pages.

    They are told by the last row, which has the number with the address or the time; the first row has the title.
    """
    top, bottom = (_row(side) for side in sides.lines)
    last = _text_of(bottom)
    if not _is_browsers(last):
        return []
    found = [match for match in _PAGE_OF_PAGES.finditer(last) if not (last[: match.start()] and last[match.end() :])]
    is_numbered = any(_is(match, sides.page.number, count) for match in found)
    if not is_numbered:
        return []
    return [*bottom, *(top if _is_browsers(_text_of(top)) else [])]


def _is(found: re.Match[str], number: int, count: int) -> bool:
    return (int(found[2]), int(found[3])) == (number, count)


def _is_browsers(text: str) -> bool:
    return len(text) <= LONGEST_ROW and ("://" in text or _TIME.search(text) is not None)


def _row(side: list[Line]) -> list[Line]:
    """Return the outermost lines of a page that stand beside each other."""
    return [line for line in side if abs(line.y0 - side[0].y0) < SAME_PLACE]


def _text_of(row: list[Line]) -> str:
    return " ".join(line.text.replace(" | ", " ") for line in sorted(row, key=lambda line: line.x0))
