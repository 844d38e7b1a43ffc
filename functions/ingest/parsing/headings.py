"""Section paths: from the outline where there is one, else from font size, weight and numbering."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import inf
from operator import attrgetter

from functions.ingest.parsing.table_cells import BULLETS
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.vocabulary import Vocabulary, ends_hyphenated
from functions.ingest.parsing.wire import Header, Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN
from shared.rects import word_count, word_starts

MAX_LENGTH = 120
MAX_DEPTH = 6
LEAST_NAME = 4
"""Characters of a heading at least that a document may have many times."""
MAX_LINES_OF_ONE = 3
BIGGER = 1.12
"""A heading's size over the body's; TeX's \\large is 1.2, many house styles stay under it."""
SAME = 1.04
SMALLER = 0.93
"""A size under the body's: that of what explains a chart."""
MAX_ENTRIES = 60
"""Outline entries looked for on one page."""
MAX_LINES = 3_000
"""A page of more lines than this has no headings, and would take long to look for them."""
NAMED = 3
"""The depth of "Note 7"; plain numbers are below it, parts and items above."""
BESIDE = 2
"""Room between two parts of one row, in font sizes, above which they are cells and no one heading."""
WIDEST = 0.8
"""Room that a letter takes at most, in font sizes."""
SCATTERED = 4
MIN_SCATTERED = 3
"""Room between two words, in font sizes, beyond what their letters take, and words of a line, from which on it is
several lines beside each other."""
MOST_WORDS = 13
"""Words of a heading that ends with a colon; more are a sentence."""
BOLD = 2
"""The weight of bold print; another face than the body's weighs 1, the body's 0."""
MANY = 8
CROWDED = 0.25
"""More candidates than this on a page, and a larger share of its lines, are a slide or a form: the largest count."""
MIN_CAPITALS = 8
"""Letters of a line in capitals that make it a heading, though neither large nor bold; shorter ones are codes."""
LONG = 45
"""Characters of a line of prose across the page; names of companies above the titles of their tables have fewer."""
PROSE = 30
"""Characters from which on a line that is no table's counts for the body's size."""
MIN_PROSE = 600
"""Characters of prose from which on a page has a body size of its own, as an annex has."""
SET_OFF = 0.25
"""Room above a line beyond what the page's lines have, in its height, that sets it off."""
TIGHT = 0.6
"""Room above the first row of a table, in heights of the line above it, under which that line is the table's."""
CAPTIONS = 0.7
"""Share of a style's lines with small print right below them that makes it the style of charts' titles."""
FOUND = 0.3
"""Share of an outline's entries found on the pages they point to, under which the outline names something else."""
CAPTIONS_SEEN = 3
IN_SERIES = 2
"""Sections numbered in one style from which on that style is the document's for sections."""
SPARSE = 0.6
"""Entries per page, or the share of them found, under which an outline does not tell every section."""
_NUMBERED = re.compile(r"^(?:[A-Z]\.)?(\d{1,2}(?:\.\d{1,3})*)[.)]?\s+\S")
_LETTERED = re.compile(r"^(?:[a-z]|[ivx]{1,5})[.)]\s+\W?[A-Z]")
_JOINS = re.compile(r"(?:[,&]|\b(?:and|or|of|the|to|for|in|on|with|by|from))$", re.IGNORECASE)
"""How a line ends that goes on in the next one."""
_ANNOUNCES = re.compile(
    r"\b(?:follow\w*|below|include[sd]?|including|are|is|was|were|as|that|to|for|by|of):$", re.IGNORECASE
)
"""How a sentence ends that introduces what stands below it."""
_NAMED = re.compile(
    r"^(?:(?P<top>chapter|part|appendix|annex|volume|book)|(?P<second>section|item|article|schedule|exhibit)|note)"
    r"\s+(?:\d|[A-Z]\b|[IVX]+\b)",
    re.IGNORECASE,
)
_EXHIBIT = re.compile(r"exhibit\s+\d{1,3}(?:\.\d{1,3})*(?:\(\w{1,3}\))?(?!\S)", re.IGNORECASE)
"""A document within a filing: what stands before it is no section above it."""
FIRST_LINES = 3
"""Lines of a page of which one may be no more than "Exhibit 31.1", and a heading in whatever print."""
_DOTTED = re.compile(r"section\s+\d+\.", re.IGNORECASE)
"""A section of an article: "Section 9.01" of "Article IX"."""
_PLAIN = re.compile(
    r"^(?:chapter|part|appendix|item|note)\s+(?:\d+[A-Z]?|[A-Z]|[IVX]+)(?:$|[\s.:,–—-]+[A-Z“\[])", re.IGNORECASE
)
"""Headings that need neither size nor weight, only room around them: "ITEM 7 - Business", "Part II"."""
_LABEL = re.compile(r"(?:\w+ )?(?:notes?|warnings?|cautions?|tips?|sources?|examples?)\s*:$", re.IGNORECASE)
"""What marks a remark and names no section."""
_COLUMNS = re.compile(
    r"\W*(?:(?:three|six|nine|twelve|\d+) (?:months|weeks)|(?:fiscal )?(?:years?|quarters?|periods?)) end(?:ed|ing)\b|"
    r"(?:table|figure|fig\.|chart)\s*(?:[A-Z][.-]?)?\d|"
    r"\W*(?:in|dollars in|amounts in) (?:millions|thousands|billions)\b|"
    r"(?:(?:as of|at) )?(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)\w* \d{1,2},? (?:19|20)\d\d$",
    re.IGNORECASE,
)
"""How tables and figures are called, their columns and their unit."""
_GOES_ON = re.compile(r"[a-z,;)\]]")
"""How a line begins that is no new sentence."""
_BACK_MATTER = re.compile(
    r"(?:references|bibliography|acknowledge?ments?|limitations|ethic\w+|signatures?|glossary|index)\b", re.IGNORECASE
)
"""Unnumbered headings that end the last numbered section instead of belonging to it."""
_ROW_OF_FIGURES = re.compile(r"(?:\S*\d\S*[^\W\d]?\s+){2,}\S*\d\S*")
"""Three figures or more, as those below a chart or above what they are of: "$15.3B 42.6% $0.25"."""
_DIGITS = re.compile(r"\d+")
_LEADER = re.compile(r"(?:\. ?){4,}|…{2,}|_{4,}")
_PREFIX = re.compile(r"^(?:chapter|appendix|section|part)?\s*(?:[A-Z]|\d{1,3})?(?:\.\d+)*[.:]?\s+", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")
_Style = tuple[float, bool]
"""How headings are told apart: size in half points, and whether they are bold."""
MIN_OUTLINED = 3
PAGES_PER_ENTRY = 20
"""Entries of an outline, and pages of the document for each, with which the outline is taken for its headings."""
MAX_REPEATS = 100_000
MAX_STYLES_BELOW = 1_000
"""Different lines whose repetition is counted, and styles for which the print below them is kept."""
PROSE_SHARE = 0.2
"""Share of a document's text that prose has if its size alone is that of the body."""
MOST_CROWDED = 3
"""Headings that are kept of a page where nearly every line looks like one."""
BOLD_BODY = 0.5
"""Share of the text in the body's size that is bold if the body is."""
MIN_LETTERS = 3
"""Letters of a heading at least, unless it is shorter."""
MAX_REPEATED = 3
REPEATED_SHARE = 0.08
"""Times that a line may be repeated, and share of the pages it may stand on, and still be a heading."""
LONGEST_SENTENCE = 60
LONGEST_PLAIN = 90
"""Characters of a heading in large print that ends with a full stop, and of one in plain print, at most."""
OVER_LABELS = 0.5
"""How far the edges of a heading and of a table below it may be apart, in font sizes, if it is the table's."""
SAME_SIZE = 0.4
"""How much the print of two lines of one item may differ, in points."""
CAPITALS_SHARE = 0.7
"""Share of a line's characters that are letters if it is a heading in capitals."""
SAME_HEADING = 0.3
NEXT_LINE = 1.7
"""How much the print of two lines of one heading may differ, in points, and how far below each other they begin at
most, in heights of a line."""
MAX_MISSED = 3
"""Steps from one section's number to the next that is found, at most."""
ENTRY_LINES = 3
"""Lines of the text that an entry of the outline may take."""
SHORTEST_ENTRY = 3
"""Characters of an entry of the outline that may be the beginning of a longer line."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Lines `start`..`end` (exclusive) of a page, and the whole path that begins there."""

    start: int
    end: int
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class _OpenSection:
    """`weight` is `BOLD`, 1 for another face or 0 for the body's; `level` is the outline's, 0 without one."""

    title: str
    size: float
    weight: int
    depth: int
    level: int = 0
    cover: bool = False

    def outranks(self, other: "_OpenSection") -> bool:
        """Whether `other` belongs under this one; nothing belongs under a letter, as of an index."""
        if len(self.title) == 1:
            return False
        if _EXHIBIT.match(self.title) or _EXHIBIT.match(other.title):
            return not _EXHIBIT.match(other.title)
        if self.level or other.level:
            return 0 < self.level < (other.level or self.level + 1)
        if self.size > SAME * other.size or other.size > SAME * self.size:
            return self.size > other.size
        if self.depth and other.depth:
            return self.depth < other.depth
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

    def _is_louder(self, other: "_OpenSection") -> bool:
        """Whether this note is in capitals and `other`, though in heavier print, is not: "NOTE 4 — INVESTMENTS"."""
        if self.depth < NAMED or self.weight >= other.weight or _BACK_MATTER.match(other.title):
            return False
        return self.title.isupper() and not other.title.isupper()

    @property
    def _is_named(self) -> bool:
        return 0 < self.depth <= NAMED

    def _is_over_unnumbered(self, other: "_OpenSection") -> bool:
        """Whether this numbered heading stands above an unnumbered one in the same print: "Item 7" over "Results"."""
        if _BACK_MATTER.match(other.title):
            return False
        return self.depth <= NAMED or self.title.isupper() or not other.title.isupper()


@dataclass(frozen=True, slots=True)
class _Opening:
    """A section that begins on a page: with a heading in its lines, or (`start` is `end`) where none was found."""

    start: int
    end: int
    text: str
    section: _OpenSection


class Headings:
    """Finds the headings of one document, page by page; what its styles mean comes from the pages given to `learn`."""

    def __init__(self, header: Header, words: Vocabulary | None = None) -> None:
        self._words = words or Vocabulary()
        self._by_page: dict[int, list[tuple[int, str]]] = {}
        tops = [level for _, level, _ in header.outline]
        self._root = min(tops) if len(tops) > 1 and tops.count(min(tops)) == 1 else 0
        for page, level, title in header.outline:
            entries = self._by_page.setdefault(page, [])
            if len(entries) < MAX_ENTRIES:
                entries.append((level, cleaned(title)))
        self._outlined = len(header.outline) >= max(MIN_OUTLINED, header.page_count / PAGES_PER_ENTRY)
        self._is_flat = len(set(tops)) == 1
        self._is_sparse = self._is_flat or len(header.outline) < SPARSE * header.page_count
        self._sought = self._found = 0
        self._sizes: Counter[float] = Counter()
        self._prose: Counter[float] = Counter()
        self._bold: Counter[float] = Counter()
        self._below: dict[_Style, Counter[float]] = {}
        self._repeats: Counter[str] = Counter()
        self._levels: dict[_Style, int] = {}
        self._series: dict[_Style, int] = {}
        self._stack: list[_OpenSection] = []
        self._numbered: tuple[str, int, tuple[int, ...]] = (
            "",
            0,
            (),
        )  # a section's number and level, and the last below it
        self._seen_pages = 0
        self.title = ""
        self.has_form_cover = False

    def learn(self, page: RawPage) -> None:
        """Count sizes, weight and repeated short lines of a page, what stands below each style, and outline entries."""
        self._seen_pages += 1
        above: Line | None = None
        for line in page.lines:
            length = len(line.text)
            size = _to_half_points(line.size)
            self._sizes[size] += length
            if length >= PROSE and not line.column:
                self._prose[size] += length
            if line.bold:
                self._bold[size] += length
            if length <= MAX_LENGTH and len(self._repeats) < MAX_REPEATS:
                self._repeats[_masked(line.text)] += 1
            if above is not None and (above.bold or above.size > line.size) and not above.column and not line.column:
                style = _style_of(above)
                if style != (size, line.bold) and len(self._below) < MAX_STYLES_BELOW and _is_below(above, line):
                    self._below.setdefault(style, Counter())[size] += 1
            above = line
        if self._outlined and len(page.lines) <= MAX_LINES:
            entries = self._by_page.get(page.number, ())
            self._sought += len(entries)
            self._found += sum([_place_of(title, page.lines, 0) is not None for _, title in entries])

    @property
    def body_size(self) -> float:
        """The size most characters of prose are set in; of all text, where there is hardly any prose."""
        sizes = self._prose if self._prose.total() > PROSE_SHARE * self._sizes.total() else self._sizes
        return sizes.most_common(1)[0][0] if sizes else 0.0

    def of(self, page: RawPage) -> list[Heading]:
        """Return the headings of a page in order."""
        if len(page.lines) > MAX_LINES:
            return []
        if not self._outlined or self._found < FOUND * self._sought:
            openings = self._from_fonts(page) if page.has_positions else []
        else:
            openings = self._from_outline(page)
            is_whole = not self._is_sparse and self._found >= SPARSE * self._sought
            taken = {at for each in openings for at in range(each.start, each.end)}
            if page.has_positions and (not is_whole or self._has_larger(page, taken)):
                others = [each for each in self._from_fonts(page) if taken.isdisjoint(range(each.start, each.end))]
                if is_whole:
                    starts = {each.start for each in openings if each.end > each.start}
                    parts = [each for each in others if self._is_part(page, each, starts)]
                    others = [replace(each, section=replace(each.section, level=0)) for each in parts]
                openings += others
        if page.has_positions:
            openings += self._numbered_below(page, openings)
        if page.number > 1:
            # Large print on a cover is no section; a numbered heading there is one.
            self._stack = [entry for entry in self._stack if not entry.cover]
        found: list[Heading] = []
        for each in sorted(openings, key=attrgetter("start")):
            path = self._push(each.section)
            if each.end > each.start:
                found.append(Heading(each.start, each.end, each.text, path))
        return found

    def _from_outline(self, page: RawPage) -> list[_Opening]:
        found: list[_Opening] = []
        at = 0
        for level, title in self._by_page.get(page.number, ()):
            is_cover = level == self._root  # a single entry above all others: of a form, what its cover begins with
            section = _OpenSection(title[:MAX_LENGTH], 0.0, 0, 0, level, is_cover and self.has_form_cover)
            place = _place_of(title, page.lines, at) or _place_of(title, page.lines, 0)
            place = place or self._place_of_number(title, page.lines, at)
            if place and not any(place[0] < other.end and other.start < place[1] for other in found):
                text = self._text_of(page.lines[place[0] : place[1]])
                first = page.lines[place[0]]
                if self._is_flat:
                    section = replace(section, level=0, size=first.size, weight=self._weight(first), depth=_depth(text))
                else:
                    self._levels[_style_of(first)] = min(level, self._levels.get(_style_of(first), level))
                found.append(_Opening(*place, text, section))
                at = place[1]
            elif not self._is_flat:
                found.append(_Opening(at, at, "", section))
        return found

    def _has_larger(self, page: RawPage, taken: set[int]) -> bool:
        """Whether a page but the first has a line in bold print larger than the text, besides those taken."""
        least = SAME * self.body_size
        lines = page.lines if page.number > 1 else []
        return any(line.bold and line.size > least and i not in taken for i, line in enumerate(lines))

    def _is_part(self, page: RawPage, found: _Opening, starts: set[int]) -> bool:
        """Whether a heading that no outline tells heads a part of a section: it is in bold print larger than the text.

        It is not what stands right above a section's title, such as its number, nor a title that the outline has here.
        """
        line = page.lines[found.start]
        if not line.bold or line.size <= SAME * self.body_size or found.end in starts:
            return False
        return _bare(found.text) not in self._titles_near(page)

    def _titles_near(self, page: RawPage) -> set[str]:
        """Return the titles that the outline has on a page and the one before, where some say that a section begins."""
        near = [*self._by_page.get(page.number - 1, ()), *self._by_page.get(page.number, ())]
        return {_bare(title) for _, title in near}

    def _place_of_number(self, title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
        """Find the heading with the number of an outline entry that calls it otherwise: "6.7.1 cursor"."""
        numbered = _NUMBERED.match(title)
        if numbered is None or "." not in numbered[1]:
            return None
        return next(((i, i + 1) for i in range(start, len(lines)) if self._is_numbered(lines, i, numbered[1])), None)

    def _numbered_below(self, page: RawPage, openings: list[_Opening]) -> list[_Opening]:
        """Return the sections that are numbered below one of the openings but were not found: "3.1.1" below "3.1".

        Some outlines do not go so deep, and some headings are in print hardly larger than the text, or smaller.
        """
        found: list[_Opening] = []
        lines = page.lines
        known = {each.start: each for each in openings if each.end > each.start}
        until = 0
        for i, line in enumerate(lines):
            above, level, last = self._numbered
            if i in known:
                number = _NUMBERED.match(known[i].text)
                numbers = _numbers(number[1]) if number else ()
                is_below = above and numbers[: len(_numbers(above))] == _numbers(above) and not known[i].section.level
                if not is_below:
                    above, level = number[1] if number else "", known[i].section.level
                self._numbered = above, level, numbers
                until = known[i].end
                continue
            if not above or i < until or not line.text.startswith(f"{above}."):  # nearly always
                continue
            number = _NUMBERED.match(line.text)
            if number is None or not _follows(_numbers(number[1]), last, len(_numbers(above))):
                continue
            if not self._is_numbered(lines, i, number[1]):
                continue
            self._numbered = above, level, _numbers(number[1])
            until = i + 1
            while until < min(len(lines), i + MAX_LINES_OF_ONE) and until not in known:
                if not _continues_heading(lines[until - 1], lines[until]):
                    break
                until += 1
            text = self._text_of(lines[i:until])
            if _bare(text) in self._titles_near(page):
                continue
            if level:
                depth = number[1].count(".") - above.count(".")
                section = _OpenSection(text, 0.0, 0, 0, level + depth)
            else:
                section = _OpenSection(text, line.size, self._weight(line), _depth(text))
            found.append(_Opening(i, until, text, section))
        return found

    def _is_numbered(self, lines: list[Line], i: int, number: str) -> bool:
        """Whether a line is a heading of its own with this number: in other print than the text, and set off."""
        line = lines[i]
        if not line.text.startswith(number) or len(line.text) > MAX_LENGTH or line.column or line.figure:
            return False
        numbered = _NUMBERED.match(line.text)
        is_other = line.bold or line.leads or line.apart or line.size > SAME * self.body_size
        is_heading = numbered is not None and numbered[1] == number and is_other and not line.text.endswith((".", ","))
        return is_heading and not _LEADER.search(line.text) and _room(lines, i) > _usual_room(lines)

    def _from_fonts(self, page: RawPage) -> list[_Opening]:
        lines = page.lines
        groups = self._candidates(lines)
        if len(groups) > MANY and sum([end - start for start, end in groups]) > CROWDED * len(lines):
            largest = max(lines[start].size for start, _ in groups)
            groups = [group for group in groups if lines[group[0]].size * SAME >= largest][:MOST_CROWDED]
        longer_side = max(page.width, page.height)
        groups = [each for each in groups if not any(_is_scattered(line, longer_side) for line in lines[slice(*each)])]
        found: list[_Opening] = []
        for start, end in groups:
            text = self._text_of(lines[start:end])
            first = lines[start]
            depth = _depth(text)
            may_be_long = 0 < depth <= NAMED or (end > start + 1 and not text.endswith("."))
            if not text or len(text) > (2 * MAX_LENGTH if may_be_long else MAX_LENGTH):
                continue
            style = _style_of(first)
            if page.number > 1 and not 0 < depth <= NAMED and self._is_over_series(style):
                continue  # lettering of a picture
            self._note_series(text, style)
            cover = page.number == 1 and not depth
            section = _OpenSection(text, first.size, self._weight(first), depth, self._levels.get(style, 0), cover)
            found.append(_Opening(start, end, text, section))
        return found

    def _text_of(self, lines: list[Line]) -> str:
        """Return the text of a heading's lines; a word cut at the end of one is whole again."""
        text = cleaned(lines[0].text)
        for above, line in pairwise(lines):
            after = cleaned(line.text)
            text += SOFT_HYPHEN if above.text.endswith(SOFT_HYPHEN) else ""
            text = self._words.join_hyphenated(text, after) if ends_hyphenated(text) else f"{text} {after}"
        return text

    def _weight(self, line: Line) -> int:
        """Return how heavy a heading's print is; large print needs no other face."""
        return BOLD if line.bold else int(line.apart and line.size < BIGGER * self.body_size)

    def _note_series(self, text: str, style: _Style) -> None:
        """Count how far the first-level numbers of a style have come: 1, 2, 3, …"""
        number = _NUMBERED.match(text)
        if number and number[1].isdecimal() and int(number[1]) == self._series.get(style, 0) + 1:
            self._series[style] = int(number[1])

    def _is_over_series(self, style: _Style) -> bool:
        """Whether a style is larger than those of the document's numbered sections, and not bold as they are."""
        largest = max((size for (size, bold), last in self._series.items() if bold and last >= IN_SERIES), default=0.0)
        return not style[1] and 0 < largest < style[0] / SAME

    def _candidates(self, lines: list[Line]) -> list[tuple[int, int]]:
        """Return runs of lines that look like a heading, those of one heading together."""
        body = self.body_size
        body_bold = self._bold[body] > BOLD_BODY * self._sizes[body]
        sizes = body, _size_of_prose(lines) or body
        usual = _usual_room(lines)
        groups: list[tuple[int, int]] = []
        item: Line | None = None
        for i, line in enumerate(lines):
            if line.text[:1] in BULLETS and line.text[1:2] == " " and not line.bold:
                item = line
                continue
            if item is not None and _is_in_item(item, lines[i - 1], line):
                continue
            item = None
            follows = bool(groups) and groups[-1][1] == i
            if follows and _goes_on(lines[i - 1], line):
                groups[-1] = (groups[-1][0], i + 1)
                continue
            if not self._looks_like_heading(lines, i, sizes, usual, body_bold=body_bold):
                continue
            is_tight = _room(lines, i) <= usual + SET_OFF * (line.y1 - line.y0)
            if not follows and is_tight and _ends_paragraph(lines[i - 1], line):
                continue
            if follows and _continues_heading(lines[i - 1], line):
                groups[-1] = (groups[-1][0], i + 1)
            else:
                groups.append((i, i + 1))
        groups = _without_cells(lines, groups)
        starts = {start for start, _ in groups}
        return [group for group in groups if self._is_heading(lines, *group, body, starts)]

    def _looks_like_heading(
        self, lines: list[Line], i: int, sizes: tuple[float, float], usual: float, *, body_bold: bool
    ) -> bool:
        """Whether a line looks like a heading; `sizes` are those of the document's prose and of the page's."""
        line = lines[i]
        text = line.text
        if line.figure or not text or line.column or line.mono or not line.cells or len(text) > MAX_LENGTH:
            return False
        if i < FIRST_LINES and _EXHIBIT.fullmatch(text):
            return True
        is_large = line.size >= BIGGER * max(sizes)
        if not (is_large or line.bold or line.apart or text.isupper() or _PLAIN.match(text)):  # nearly always
            return False
        if _LEADER.search(text):
            return False
        if sum(map(str.isalpha, text)) < min(MIN_LETTERS, len(text)) or _ROW_OF_FIGURES.fullmatch(text):
            return False
        if not (is_large and line.bold and _is_name(text)) and self._repeats[_masked(text)] > max(
            MAX_REPEATED, REPEATED_SHARE * self._seen_pages
        ):
            return False
        if _COLUMNS.match(text):
            return False
        if is_large:
            return not (text.endswith(".") and len(text) > LONGEST_SENTENCE)
        if _to_half_points(line.size) < min(sizes):
            return False
        if i and _is_cut(lines[i - 1]) and not _continues_heading(lines[i - 1], line):
            return False  # a sentence goes on in it, perhaps in the next column
        is_bold = line.bold and not body_bold
        is_named = 0 < _depth(text) <= NAMED
        if not is_bold and not _is_in_capitals(text):
            is_set_off = _room(lines, i) > usual + SET_OFF * (line.y1 - line.y0)
            below = _room(lines, i + 1) if i + 1 < len(lines) else inf
            if not is_set_off or not (line.apart or (_PLAIN.match(text) and below > usual)):
                return False
        if text.endswith(":"):
            is_short = 0 < text.count(" ") < MOST_WORDS and not (_ANNOUNCES.search(text) or _LABEL.match(text))
            return is_short and _room(lines, i) > usual + SET_OFF * (line.y1 - line.y0)
        if not is_named and (text.endswith(".") or len(text) > LONGEST_PLAIN):
            return False
        return (
            text[0].isupper() or text[0].isdigit() or not text[0].isascii() or bool(is_bold and _LETTERED.match(text))
        )

    def _is_heading(self, lines: list[Line], start: int, end: int, body: float, starts: set[int]) -> bool:
        """Whether a run of lines is a heading by its end, and by what stands below it: another one of `starts`, say."""
        last = lines[end - 1]
        wholes = sum([not _JOINS.search(line.text) for line in lines[start:end]])
        if wholes > MAX_LINES_OF_ONE or last.text.endswith((",", ";", "-", "\u00ad")):
            return False
        if self._is_caption(_style_of(last), body):
            return False
        if end == len(lines):
            return True
        below = lines[end]
        is_plain = last.size < BIGGER * body and not _depth(lines[start].text)
        is_over = abs(below.x0 - last.x0) < OVER_LABELS * last.size and _room(lines, end) < TIGHT * (last.y1 - last.y0)
        if below.column and is_plain and is_over:
            return False  # what the table below it calls its labels
        # Another face alone says little: italics that go on, or in a sentence, are text.
        is_weak = last.apart and not last.bold
        return not is_weak or end in starts or not (below.apart or _GOES_ON.match(below.text))

    def _is_caption(self, style: _Style, body: float) -> bool:
        """Whether lines of a style mostly have small print below them, while headings of another style have text."""
        counts = self._below.get(style) if style[1] or style[0] >= BIGGER * body else None
        if counts is None or counts.total() < CAPTIONS_SEEN or not _is_over_small_print(style, counts, body):
            return False
        return any(
            (bold or size >= BIGGER * body) and size >= body and counts.total() > 1
            for (size, bold), counts in self._below.items()
            if not _is_over_small_print((size, bold), counts, body)
        )

    def _push(self, heading: _OpenSection) -> str:
        if heading.cover and self.has_form_cover:
            return ""
        while self._stack and not self._stack[-1].outranks(heading):
            self._stack.pop()
        if heading.title == self.title:
            # The document's own title precedes every passage anyway.
            return heading.title
        if len(self._stack) < MAX_DEPTH:
            self._stack.append(heading)
        return " > ".join(entry.title for entry in self._stack)


def _is_over_small_print(style: _Style, below: Counter[float], body: float) -> bool:
    """Whether what stands below lines of a style is mostly smaller than the body and than they are."""
    small = SMALLER * min(body, style[0])
    return sum([count for size, count in below.items() if size < small]) >= CAPTIONS * below.total()


def _style_of(line: Line) -> _Style:
    return _to_half_points(line.size), line.bold


def _is_below(above: Line, line: Line) -> bool:
    return line.y0 > above.y0 and line.x0 < above.x1 and above.x0 < line.x1


def _is_alike(above: Line, line: Line) -> bool:
    """Whether two lines are printed alike, as those of one paragraph are."""
    capitals = _is_in_capitals(above.text) == _is_in_capitals(line.text)
    return capitals and _style_of(above) == _style_of(line) and above.apart == line.apart and not above.column


def _is_in_item(item: Line, above: Line, line: Line) -> bool:
    """Whether a line goes on in the item that begins with a bullet above it, as on slides, whose print is large."""
    is_alike = abs(line.size - item.size) < SAME_SIZE and line.bold == item.bold
    return is_alike and line.x0 > item.x0 + 1 and 0 < line.y0 - above.y0 < 2 * line.size


def _ends_paragraph(above: Line, line: Line) -> bool:
    """Whether a line is printed as the long one above it, and goes no further: the last of a paragraph."""
    return _is_alike(above, line) and len(above.text) >= LONG and line.x1 <= above.x1 + 1


def _room(lines: list[Line], i: int) -> float:
    """Return the room between a line and the one before it; infinite where that is none or stands elsewhere."""
    if not 0 < i < len(lines) or not _is_below(lines[i - 1], lines[i]):
        return inf
    return lines[i].y0 - lines[i - 1].y1


def _size_of_prose(lines: list[Line]) -> float:
    """Return the size that most of a page's prose is set in; 0 if it has little."""
    sizes = Counter[float]()
    for line in lines:
        if len(line.text) >= PROSE and not line.column:
            sizes[_to_half_points(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes.total() >= MIN_PROSE else 0.0


def _usual_room(lines: list[Line]) -> float:
    """Return the commonest room between lines of one style, in steps of half a point."""
    rooms = Counter(
        [
            _to_half_points(line.y0 - above.y1)
            for above, line in pairwise(lines)
            if (above.size, above.bold, above.apart) == (line.size, line.bold, line.apart)
            if not above.column and _is_below(above, line)
        ]
    )
    return rooms.most_common(1)[0][0] if rooms else 0.0


def _is_in_capitals(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return text.isupper() and letters >= max(MIN_CAPITALS, CAPITALS_SHARE * len(text)) and "_" not in text


@lru_cache(maxsize=1_024)  # a document has few
def _to_half_points(size: float) -> float:
    return round(2 * size) / 2


def _masked(text: str) -> str:
    return _DIGITS.sub("#", text.lower())


def _is_name(text: str) -> bool:
    """Whether a text is of words alone, as what each chapter has ("Synopsis"), and marks no remark ("Note")."""
    return len(text) >= LEAST_NAME and text.replace(" ", "").isalpha() and not _LABEL.match(f"{text}:")


def _depth(text: str) -> int:
    """Return how deep the numbering of a heading says it is, from 1 ("Part II"); 0 without one."""
    named = _NAMED.match(text)
    if named:
        return 1 if named["top"] else 2 if named["second"] and not _DOTTED.match(text) else NAMED
    numbered = _NUMBERED.match(text)
    return NAMED + 1 + numbered.group(1).count(".") if numbered else 0


def _numbers(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _follows(number: tuple[int, ...], last: tuple[int, ...], depth: int) -> bool:
    """Whether a section's number, deeper than `depth`, is the next after the last one; a few may be in other print."""
    at = len(number) - 1
    if not depth <= at <= len(last) or number[:at] != last[:at]:
        return False
    return 0 < number[at] - last[at] <= MAX_MISSED if at < len(last) else number[at] == 1


def _without_cells(lines: list[Line], groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs of lines without those written one after the other on one row: cells of a table's header."""
    cells: set[int] = set()
    for (start, end), (other, _) in pairwise(groups):
        left, right = lines[start], lines[other]
        are_alike = end == other and _style_of(left) == _style_of(right)
        if are_alike and right.x0 > left.x1 and right.y0 < left.y1 and left.y0 < right.y1:
            cells |= {start, other}
    return [group for group in groups if group[0] not in cells]


def _is_scattered(line: Line, longer_side: float) -> bool:
    """Whether a line is several ones beside each other, as the titles of charts: much more room than letters."""
    words = line.text.split()
    if len(words) < MIN_SCATTERED or " " in line.place or word_count(line.place) != len(words) or _depth(line.text):
        return False
    starts = word_starts(line.place, longer_side)
    steps = [(b - a) / (len(word) + 1) for word, (a, b) in zip(words, pairwise(starts), strict=False)]
    usual = min(sorted(steps)[len(steps) // 2], WIDEST * line.size)
    rooms = [(step - usual) * (len(word) + 1) for word, step in zip(words, steps, strict=False)]
    return max(rooms) > SCATTERED * line.size


def _is_cut(line: Line) -> bool:
    """Whether a line of prose ends in the middle of a sentence."""
    return len(line.text) >= PROSE and not line.column and _JOINS.search(line.text) is not None


def _goes_on(above: Line, line: Line) -> bool:
    """Whether a line is the rest of the heading above it, which cannot end there."""
    is_rest = line.text[:1].islower() or _JOINS.search(above.text) is not None
    return is_rest and not line.column and (line.bold or line.apart) and _continues_heading(above, line)


def _continues_heading(above: Line, line: Line) -> bool:
    """Whether a line is the second line of the heading above it."""
    same = abs(above.size - line.size) < SAME_HEADING and above.bold == line.bold and above.apart == line.apart
    near = 0 <= line.y0 - above.y0 < NEXT_LINE * max(line.size, above.y1 - above.y0)
    begins = (_depth(line.text) > 0 or _LETTERED.match(line.text) is not None) and not _JOINS.search(above.text)
    is_beside = line.y0 < above.y1 and line.x0 - above.x1 > BESIDE * line.size  # as a cell is
    return same and near and not begins and not is_beside and not above.text.endswith((".", ":", "!", "?"))


@lru_cache(maxsize=2_048)  # the lines of a page are compared with each of its outline entries
def _bare(text: str) -> str:
    return _NOT_WORD.sub("", _PREFIX.sub("", text.strip() + " ")).lower()


@lru_cache(maxsize=2_048)
def _squeezed(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()


def _place_of(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    return _find(title, lines, start) or _find_begin(title, lines, start)


def _find(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Find the lines an outline entry names: the text may lack its number, or run over two lines."""
    wanted = _bare(title)
    whole = _squeezed(title)
    if not wanted and not whole:
        return None
    for i in range(start, len(lines)):
        if len(lines[i].text) > 2 * MAX_LENGTH or not _squeezed(lines[i].text):
            continue
        text = ""
        for end in range(i + 1, min(i + ENTRY_LINES, len(lines)) + 1):
            text += " " + lines[end - 1].text
            got, full = _bare(text), _squeezed(text)
            if got and (got == wanted or full == whole):
                return i, end
            if not (wanted.startswith(got) or whole.startswith(full)):
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
