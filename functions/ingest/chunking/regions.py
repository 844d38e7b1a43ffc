"""A page as stretches of one kind: the parser's blocks, and what a plain text shows by its look."""

import re
from collections.abc import Iterator
from operator import attrgetter

from functions.ingest.chunking import borders
from shared.models import Page

_CHAR_START = attrgetter("char_start")
# Markdown's "# Pumps", after a blank line (else it may be a comment in code), and a wiki's "== Pumps ==".
_HEADING = re.compile(
    r"(?:\A|(?<=\n\n))(?P<hashes>#{1,6})[ \t]+(?P<title>\S[^\n]{0,120}?)(?:[ \t]+#+)?[ \t]*(?=\n|\Z)"
    r"|(?:\A|(?<=\n))[ ]?(?P<signs>=(?:[ ]?=){0,5})[ ]*(?P<name>[^\s=][^\n=]{0,120}?)[ ]*(?P=signs)[ \t]*(?=\n|\Z)"
)
_SIGNS = ("#", "=", " =")
_LINES = ("\n#", "\n=", "\n =")  # looked for first, which costs next to nothing


type Region = tuple[int, int, str, str, str]
"""A stretch of text: start, end (behind the last character), kind, section path, header row. Pages have thousands."""


class Regions:
    """Cuts pages into regions; remembers the headings of plain text, for the section paths of those to come.

    A plain stretch shorter than `least` characters takes the next one in.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._open: list[tuple[int, str]] = []

    def of(self, page: Page, origin: int) -> list[Region]:
        """Return the page's blocks and what stands between them, in order, none of them blank, shifted by `origin`."""
        text = page.text
        position = 0
        regions: list[Region] = []
        length = len(text)
        for block in sorted(page.blocks, key=_CHAR_START):
            start, end = block.char_start, block.char_end
            if start < position:
                start = position
            if end > length:
                end = length
            if start >= end:
                continue
            if position < start and not text[position:start].isspace():
                self._add_plain(regions, text, position, start, origin)
            position = end
            lead = start
            if text[start].isspace():
                lead = _first_ink(text, start, end)
                if lead == end:
                    continue
            kind, header = block.kind, block.header
            if kind == "code":  # keep the indent of the first line
                lead = max(start, text.rfind("\n", start, lead) + 1)
            regions.append((lead + origin, end + origin, kind, block.section, header))
        if position < length:
            self._add_plain(regions, text, position, length, origin)
        return regions

    def _add_plain(self, regions: list[Region], text: str, start: int, end: int, origin: int) -> None:
        """Add the paragraphs of a stretch the parser said nothing about; markup is known by its look."""
        start = _first_ink(text, start, end)
        has_code = text.find("```", start, end) >= 0
        fenced = False
        for first, last in borders.paragraphs(text, start, end, self._least):
            if has_code and (fenced or "```" in text[first:last]):
                regions.append((first + origin, last + origin, "code", "", ""))
                fenced ^= text.count("```", first, last) % 2 == 1
            elif text[first] == "|" and "\n|" in text[first:last]:
                lines = text[first:last].split("\n", 2)
                header = lines[0] if lines[1].strip("|-: \t") else "\n".join(lines[:2])
                regions.append((first + origin, last + origin, "table", "", header))
            elif text.startswith(_SIGNS, first, last) or any(text.find(sign, first, last) >= 0 for sign in _LINES):
                regions.extend(self._with_headings(text, first, last, origin))
            else:
                regions.append((first + origin, last + origin, "paragraph", "", ""))

    def _with_headings(self, text: str, start: int, end: int, origin: int) -> Iterator[Region]:
        """Yield a plain stretch as headings and the paragraphs between them."""
        at = start
        for match in _HEADING.finditer(text[start:end]):
            first, last = start + match.start(), start + match.end()
            if text[at:first].strip():
                yield (_first_ink(text, at, first) + origin, first + origin, "paragraph", "", "")
            signs = match["hashes"] or match["signs"].replace(" ", "")
            path = self._path(len(signs), (match["title"] or match["name"]).strip())
            yield (_first_ink(text, first, last) + origin, last + origin, "heading", path, "")
            at = last
        if text[at:end].strip():
            yield (_first_ink(text, at, end) + origin, end + origin, "paragraph", "", "")

    def _path(self, level: int, title: str) -> str:
        self._open = [(depth, name) for depth, name in self._open if depth < level]
        self._open.append((level, title))
        return " > ".join(name for _, name in self._open)


def _first_ink(text: str, start: int, end: int) -> int:
    """Return the position of the first character that is not white space, or `end`."""
    while start < end and text[start].isspace():
        start += 1
    return start
