"""Section paths: from the outline where there is one, else from font size, weight and numbering."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.wire import Header, Line, RawPage

MAX_LENGTH = 120
MAX_DEPTH = 6
BIGGER = 1.12
"""A heading's size over the body's; TeX's \\large is 1.2, many house styles stay under it."""
SAME = 1.04
MAX_ENTRIES = 60
"""Outline entries looked for on one page."""
MAX_LINES = 3_000
"""A page of more lines than this has no headings, and would take long to look for them."""
NAMED = 3
"""The depth of "Note 7"; plain numbers are below it, parts and items above."""
MANY = 8
"""More candidates than this on a page are a slide or a form: only the largest count."""
MIN_CAPITALS = 8
"""Letters of a line in capitals that make it a heading, though neither large nor bold; shorter ones are codes."""
_NUMBERED = re.compile(r"^(?:[A-Z]\.)?(\d{1,2}(?:\.\d{1,3})*)[.)]?\s+\S")
_NAMED = re.compile(
    r"^(?:(?P<top>chapter|part|appendix|annex|volume|book)|(?P<second>section|item|article|schedule|exhibit)|note)"
    r"\s+(?:\d|[A-Z]\b|[IVX]+\b)",
    re.IGNORECASE,
)
_BACK_MATTER = re.compile(
    r"(?:references|bibliography|acknowledge?ments?|limitations|ethic\w+|signatures?|glossary|index)\b", re.IGNORECASE
)
"""Unnumbered headings that end the last numbered section instead of belonging to it."""
_LEADER = re.compile(r"(?:\. ?){4,}|…{2,}|_{4,}")
_PREFIX = re.compile(r"^(?:chapter|appendix|section|part)?\s*(?:[A-Z]|\d{1,3})?(?:\.\d+)*[.:]?\s+", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """Lines `start`..`end` (exclusive) of a page, and the whole path that begins there."""

    start: int
    end: int
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class _OpenSection:
    title: str
    size: float
    bold: bool
    depth: int
    level: int = 0
    cover: bool = False

    def outranks(self, other: "_OpenSection") -> bool:
        """Whether `other` belongs under this one."""
        if self.level or other.level:
            return self.level < other.level
        if self.size > SAME * other.size or other.size > SAME * self.size:
            return self.size > other.size
        if self.depth and other.depth:
            return self.depth < other.depth
        if self.bold != other.bold:
            return self.bold
        if self.depth or other.depth:
            return self._is_over_unnumbered(other) if self.depth else not other._is_over_unnumbered(self)
        return self.title.isupper() and not other.title.isupper()

    def _is_over_unnumbered(self, other: "_OpenSection") -> bool:
        """Whether this numbered heading stands above an unnumbered one in the same print: "Item 7" over "Results"."""
        if _BACK_MATTER.match(other.title):
            return False
        return self.depth <= NAMED or self.title.isupper() or not other.title.isupper()


class Headings:
    """Finds the headings of one document, page by page; the body's size comes from the pages given to `learn`."""

    def __init__(self, header: Header) -> None:
        self._by_page: dict[int, list[tuple[int, str]]] = {}
        for page, level, title in header.outline:
            entries = self._by_page.setdefault(page, [])
            if len(entries) < MAX_ENTRIES:
                entries.append((level, cleaned(title)))
        self._outlined = len(header.outline) >= max(3, header.page_count / 20)
        self._sizes: Counter[float] = Counter()
        self._bold: Counter[float] = Counter()
        self._repeats: Counter[str] = Counter()
        self._stack: list[_OpenSection] = []
        self._seen_pages = 0
        self.title = ""

    def learn(self, page: RawPage) -> None:
        """Count sizes, weight and repeated short lines of a page."""
        self._seen_pages += 1
        for line in page.lines:
            length = len(line.text)
            self._sizes[_to_half_points(line.size)] += length
            if line.bold:
                self._bold[_to_half_points(line.size)] += length
            if length <= MAX_LENGTH and len(self._repeats) < 100_000:
                self._repeats[_masked(line.text)] += 1

    @property
    def body_size(self) -> float:
        """The size most characters are set in."""
        return self._sizes.most_common(1)[0][0] if self._sizes else 0.0

    def of(self, page: RawPage) -> list[Heading]:
        """Return the headings of a page in order."""
        if len(page.lines) > MAX_LINES:
            return []
        if self._outlined:
            return self._from_outline(page)
        if not page.has_positions:
            return []
        if page.number > 1:
            # Large print on a cover is no section; a numbered heading there is one.
            self._stack = [entry for entry in self._stack if not entry.cover]
        return self._from_fonts(page)

    def _from_outline(self, page: RawPage) -> list[Heading]:
        found: list[Heading] = []
        at = 0
        for level, title in self._by_page.get(page.number, ()):
            path = self._push(_OpenSection(title[:MAX_LENGTH], 0.0, False, 0, level))
            place = _find(title, page.lines, at) or _find(title, page.lines, 0) or _find_begin(title, page.lines, at)
            if place and not any(place[0] < other.end and other.start < place[1] for other in found):
                text = " ".join(cleaned(line.text) for line in page.lines[place[0] : place[1]])
                found.append(Heading(*place, text, path))
                at = place[1]
        return sorted(found, key=lambda heading: heading.start)

    def _from_fonts(self, page: RawPage) -> list[Heading]:
        lines = page.lines
        groups = self._candidates(lines)
        if len(groups) > MANY and groups:
            largest = max(lines[start].size for start, _ in groups)
            groups = [group for group in groups if lines[group[0]].size * SAME >= largest][:3]
        found: list[Heading] = []
        for start, end in groups:
            text = " ".join(cleaned(line.text) for line in lines[start:end])
            first = lines[start]
            depth = _depth(text)
            if not text or len(text) > (2 * MAX_LENGTH if 0 < depth <= NAMED else MAX_LENGTH):
                continue
            cover = page.number == 1 and not depth
            path = self._push(_OpenSection(text, first.size, first.bold, depth, cover=cover))
            found.append(Heading(start, end, text, path))
        return found

    def _candidates(self, lines: list[Line]) -> list[tuple[int, int]]:
        """Return runs of lines that look like a heading, those of one heading together."""
        body = self.body_size
        body_bold = self._bold[body] > 0.5 * self._sizes[body]
        groups: list[tuple[int, int]] = []
        for i, line in enumerate(lines):
            if not self._looks_like_heading(line, body, body_bold):
                continue
            if groups and groups[-1][1] == i and _continues_heading(lines[i - 1], line):
                groups[-1] = (groups[-1][0], i + 1)
            else:
                groups.append((i, i + 1))
        return [group for group in groups if group[1] - group[0] <= 3]

    def _looks_like_heading(self, line: Line, body: float, body_bold: bool) -> bool:
        text = line.text
        if not text or line.column or line.mono or not line.cells or len(text) > MAX_LENGTH or _LEADER.search(text):
            return False
        if sum(character.isalpha() for character in text) < min(3, len(text)) or text.endswith(
            (",", ";", "-", "\u00ad")
        ):
            return False
        if self._repeats[_masked(text)] > max(3, 0.08 * self._seen_pages):
            return False
        if line.size >= BIGGER * body:
            return not (text.endswith(".") and len(text) > 60)
        stands_out = (line.bold and not body_bold) or _is_in_capitals(text)
        if not stands_out or _to_half_points(line.size) < body:
            return False
        is_named = 0 < _depth(text) <= NAMED
        if text.endswith(":") or (not is_named and (text.endswith(".") or len(text) > 90)):
            return False
        return text[0].isupper() or text[0].isdigit() or not text[0].isascii()

    def _push(self, heading: _OpenSection) -> str:
        while self._stack and not self._stack[-1].outranks(heading):
            self._stack.pop()
        if heading.title == self.title:
            # The document's own title precedes every passage anyway.
            return heading.title
        if len(self._stack) < MAX_DEPTH:
            self._stack.append(heading)
        return " > ".join(entry.title for entry in self._stack)


def _is_in_capitals(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    return text.isupper() and letters >= max(MIN_CAPITALS, 0.7 * len(text)) and "_" not in text


def _to_half_points(size: float) -> float:
    return round(2 * size) / 2


def _masked(text: str) -> str:
    return re.sub(r"\d+", "#", text.lower())


def _depth(text: str) -> int:
    """Return how deep the numbering of a heading says it is, from 1 ("Part II"); 0 without one."""
    named = _NAMED.match(text)
    if named:
        return 1 if named["top"] else 2 if named["second"] else NAMED
    numbered = _NUMBERED.match(text)
    return NAMED + 1 + numbered.group(1).count(".") if numbered else 0


def _continues_heading(above: Line, line: Line) -> bool:
    """Whether a line is the second line of the heading above it."""
    same = abs(above.size - line.size) < 0.3 and above.bold == line.bold
    near = 0 <= line.y0 - above.y0 < 1.7 * max(line.size, above.y1 - above.y0)
    return same and near and not _depth(line.text) and not above.text.endswith((".", ":", "!", "?"))


@lru_cache(maxsize=2_048)  # the lines of a page are compared with each of its outline entries
def _bare(text: str) -> str:
    return _NOT_WORD.sub("", _PREFIX.sub("", text.strip() + " ")).lower()


@lru_cache(maxsize=2_048)
def _squeezed(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()


def _find(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Find the lines an outline entry names: the text may lack its number, or run over two lines."""
    wanted = _bare(title)
    whole = _squeezed(title)
    if not wanted and not whole:
        return None
    for i in range(start, len(lines)):
        if len(lines[i].text) > 2 * MAX_LENGTH:
            continue
        text = ""
        for end in range(i + 1, min(i + 3, len(lines)) + 1):
            text += " " + lines[end - 1].text
            got, full = _bare(text), _squeezed(text)
            if got and (got == wanted or full == whole):
                return i, end
            if not (wanted.startswith(got) or whole.startswith(full)):
                break
    return None


def _find_begin(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Find a short line that begins with the entry and continues ("abs" in "abs  Absolute value")."""
    if len(title) < 3:
        return None
    for i in range(start, len(lines)):
        text = cleaned(lines[i].text)
        if text.startswith(title + " ") and len(text) <= 90 and lines[i].cells and not lines[i].column:
            return i, i + 1
    return None
