"""Section paths: from the outline where there is one, else from font size, weight and numbering."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from operator import attrgetter

from functions.ingest.parsing.chart_titles import BIGGER, ChartTitles
from functions.ingest.parsing.heading_lines import (
    ANNOUNCES,
    COLUMNS,
    FIRST_LINES,
    FIRST_PAGES,
    GOES_ON,
    JOINS,
    LABEL,
    LEADER,
    LETTERED,
    LONGEST_PLAIN,
    LONGEST_SENTENCE,
    MAX_LENGTH,
    MAX_LINES_OF_ONE,
    PLAIN,
    PROSE,
    ROW_OF_FIGURES,
    SAME_HEADING,
    LineStyle,
    continues_heading,
    ends_paragraph,
    goes_on,
    is_body_apart,
    is_cut,
    is_cut_by_end,
    is_in_capitals,
    is_in_entry,
    is_in_item,
    is_name,
    is_name_over_prose,
    is_name_set_off,
    is_no_name,
    is_numbered_name,
    is_over_row,
    is_scattered,
    is_title_page,
    label_above,
    masked,
    may_begin,
    may_end_page,
    names_prose,
    of_crowded_page,
    room_above,
    size_of_prose,
    style_of,
    to_half_points,
    usual_room,
    without_cells,
    without_title_matter,
)
from functions.ingest.parsing.heading_words import is_contents, is_remark
from functions.ingest.parsing.outline import names_of, place_of
from functions.ingest.parsing.plain_numbers import NumbersBelow, PlainNumbers, place_of_number
from functions.ingest.parsing.sections import (
    BOLD,
    EXHIBIT,
    NAMED,
    NUMBERED,
    SAME,
    OpenSection,
    depth_of,
)
from functions.ingest.parsing.slides import Slides
from functions.ingest.parsing.table_cells import BULLETS, CURRENCIES
from functions.ingest.parsing.tags import tagged_headings
from functions.ingest.parsing.text import cleaned, is_cjk
from functions.ingest.parsing.titles import is_own_title
from functions.ingest.parsing.vocabulary import Vocabulary, ends_hyphenated
from functions.ingest.parsing.wire import Header, Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN

MAX_DEPTH = 6
_AMOUNT = re.compile(rf":[\s.]*[{CURRENCIES}]$")
"""How a line of a form ends that waits for an amount: "Total: $"."""
MAX_ENTRIES = 60
"""Outline entries looked for on one page."""
MAX_LINES = 3_000
"""A page of more lines than this has no headings, and would take long to look for them."""
MOST_WORDS = 13
"""Words of a heading that ends with a colon; more are a sentence."""
SET_OFF = 0.25
"""Room above a line beyond what the page's lines have, in its height, that sets it off."""
FOUND = 0.3
"""Share of an outline's entries found on the pages they point to, under which the outline names something else."""
IN_SERIES = 2
"""Sections numbered in one style from which on that style is the document's for sections."""
SPARSE = 0.6
"""Entries per page, or the share of them found, under which an outline does not tell every section."""
MIN_OUTLINED, PAGES_PER_ENTRY = 3, 20
"""Entries of an outline, and pages of the document for each, with which the outline is taken for its headings."""
MAX_REPEATS = 100_000
"""Different lines whose repetition is counted."""
PROSE_SHARE = 0.2
"""Share of a document's text that prose has if its size alone is that of the body."""
BOLD_BODY = 0.5
"""Share of the text in the body's size that is bold if the body is."""
SMALLER_BOLD, MIN_LETTERS = 1.0, 3
"""Points by which a numbered heading in bold may be smaller than the text, and letters of a longer one at least."""
MAX_REPEATED, REPEATED_SHARE = 3, 0.08
"""Times that a line may be repeated, and share of the pages it may stand on, and still be a heading."""
LEAST_TAGGED = 3
"""Headings that tags tell and print does, from which on what only looks like one is none, if it is rarer."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Lines `start`..`end` (exclusive) of a page, and the whole path that begins there."""

    start: int
    end: int
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class _Opening:
    """A section that begins on a page: with a heading in its lines, or (`start` is `end`) where none was found."""

    start: int
    end: int
    text: str
    section: OpenSection
    is_unlisted: bool = False


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
        self._page_count = header.page_count
        self._is_flat = len(set(tops)) == 1
        self._is_sparse = self._is_flat or len(header.outline) < SPARSE * header.page_count
        self._sought = self._found = 0
        self._agreed = self._untagged = 0
        self._late: list[tuple[int, str]] = []
        self._sizes: Counter[float] = Counter()
        self._prose: Counter[float] = Counter()
        self._bold: Counter[float] = Counter()
        self._chart_titles = ChartTitles()
        self._repeats: Counter[str] = Counter()
        self._levels: dict[LineStyle, int] = {}
        self._levels_of: dict[LineStyle, set[int]] = {}
        self._series: dict[LineStyle, int] = {}
        self._stack: list[OpenSection] = []
        self._unlisted: OpenSection | None = None
        self._before_unlisted: list[OpenSection] = []
        """A section in the print of the outline's that it does not tell, and what was open before it."""
        self._numbers_below = NumbersBelow()
        self._seen_pages = 0
        self._slides, self._plain_numbers = Slides(), PlainNumbers()
        self.title = ""
        self.has_form_cover = False
        self.body_size = 0.0

    def learn(self, page: RawPage) -> None:
        """Count sizes, weight and repeated short lines of a page, what stands below each style, and outline entries."""
        self._seen_pages += 1
        self._slides.learn(page)
        for line in page.lines:
            length = len(line.text)
            size = to_half_points(line.size)
            self._sizes[size] += length
            if length >= PROSE and not line.column:
                self._prose[size] += length
            if line.bold:
                self._bold[size] += length
            if length <= MAX_LENGTH and len(self._repeats) < MAX_REPEATS:
                self._repeats.update({masked(line.text), line.text.lower()})
        body = self.body_size = self._commonest_size()
        for above, line in pairwise(page.lines):
            self._chart_titles.learn(above, line, body)
        self._plain_numbers.learn(page.lines)
        if self._outlined and len(page.lines) <= MAX_LINES:
            self._take_over(page)
            entries = self._by_page.get(page.number, ())
            self._sought += len(entries)
            missed = [entry for entry in entries if place_of(entry[1], page.lines, 0) is None]
            self._found += len(entries) - len(missed)
            self._late = [entry for entry in missed if place_of_number(entry[1], page.lines, 0, body) is None]

    def _take_over(self, page: RawPage) -> None:
        """Move to a page what the outline has on the one before, if it is not there but is what this one begins with.

        The anchor of a title stays behind where the title itself had no room left on the page.
        """
        for entry in self._late:
            place = place_of(entry[1], page.lines[:FIRST_LINES], 0)
            if place is not None and entry in (before := self._by_page.get(page.number - 1, [])):
                before.remove(entry)
                self._by_page.setdefault(page.number, []).insert(0, entry)
                self._sought -= 1

    def _commonest_size(self) -> float:
        """Return the size most characters of prose are set in; of all text, where there is hardly any prose."""
        sizes = self._prose if self._prose.total() > PROSE_SHARE * self._sizes.total() else self._sizes
        return sizes.most_common(1)[0][0] if sizes else 0.0

    def of(self, page: RawPage) -> list[Heading]:
        """Return the headings of a page in order."""
        if len(page.lines) > MAX_LINES:
            return []
        if not self._outlined or self._found < FOUND * self._sought:
            openings = self._from_tags_and_fonts(page) if page.has_positions else []
            self._stack = self._slides.open_on(page, self._stack) if openings else self._stack
        else:
            openings = self._from_outline(page)
            is_whole = not self._is_sparse and self._found >= SPARSE * self._sought
            taken = {at for each in openings for at in range(each.start, each.end)}
            first = min(taken, default=len(page.lines)) if page.number == 1 else 0  # the document's title stands above
            has_bold = any(
                i not in taken and ((line.bold and page.number > 1) or self._is_outlined(line))
                for i, line in enumerate(page.lines[first:], first)
            )
            if page.has_positions and (not is_whole or has_bold):
                others = [each for each in self._from_fonts(page) if taken.isdisjoint(range(each.start, each.end))]
                if is_whole:
                    starts = {each.start for each in openings if each.end > each.start}
                    parts = [each for each in others if each.start >= first and self._is_part(page, each, starts)]
                    others = [self._with_known_level(page, each) for each in parts]
                openings += others
        if page.has_positions:
            openings += self._numbered_below(page, openings)
        if page.number > 1:
            # Large print on a cover is no section; a numbered heading there is one.
            self._stack = [entry for entry in self._stack if not entry.cover]
        found: list[Heading] = []
        for each in sorted(openings, key=attrgetter("start")):
            self._note_unlisted(each)
            path = self._push(each.section)
            if each.end > each.start:
                found.append(Heading(each.start, each.end, each.text, path))
        return found

    def _note_unlisted(self, opening: _Opening) -> None:
        """Remember what an unlisted section closes: a deeper one that the outline tells goes on in that."""
        is_open = any(entry is self._unlisted for entry in self._stack)
        is_within = is_open and self._unlisted is not None and opening.section.level > self._unlisted.level
        if opening.is_unlisted and not is_within:
            self._before_unlisted = self._before_unlisted if is_open else self._stack.copy()
            self._unlisted = opening.section
        elif is_within and not opening.is_unlisted:
            self._stack = self._before_unlisted

    def _from_outline(self, page: RawPage) -> list[_Opening]:
        found: list[_Opening] = []
        at = 0
        for level, title in self._by_page.get(page.number, ()):
            is_cover = level == self._root  # a single entry above all others: of a form, what its cover begins with
            section = OpenSection(title[:MAX_LENGTH], 0.0, 0, 0, level, is_cover and self.has_form_cover)
            place = place_of(title, page.lines, at) or place_of(title, page.lines, 0)
            place = place or place_of_number(title, page.lines, at, self.body_size)
            if place and not any(place[0] < other.end and other.start < place[1] for other in found):
                text = self._text_of(page.lines[place[0] : place[1]])
                first = page.lines[place[0]]
                if self._is_flat:
                    section = replace(
                        section, level=0, size=first.size, weight=self._weight(first), depth=depth_of(text)
                    )
                else:
                    self._levels[style_of(first)] = min(level, self._levels.get(style_of(first), level))
                    self._levels_of.setdefault(style_of(first), set()).add(level)
                begin = place[0] - label_above(page.lines, place[0], BIGGER * self.body_size)
                section = replace(section, leaf=is_contents(text, page.lines[place[1] :]))
                found.append(_Opening(begin, place[1], self._text_of(page.lines[begin : place[1]]), section))
                at = place[1]
            elif not self._is_flat:
                found.append(_Opening(at, at, "", section))
        return found

    def _is_outlined(self, line: Line) -> bool:
        """Whether a line is in large print of which the outline has entries, all of one level."""
        levels = self._levels_of.get(style_of(line), ()) if line.size >= BIGGER * self.body_size else ()
        return len(levels) == 1

    def _with_known_level(self, page: RawPage, found: _Opening) -> _Opening:
        """Return a heading with a level only if its print is that of the outline's entries."""
        if self._is_outlined(page.lines[found.start]):
            return replace(found, is_unlisted=True)
        return replace(found, section=replace(found.section, level=0))

    def _is_part(self, page: RawPage, found: _Opening, starts: set[int]) -> bool:
        """Whether a heading that no outline tells heads a part of a section: in bold, larger or naming the prose below.

        Or in the print of the outline's entries. It is not what stands right above a section's title, such as its
        number, nor a title that the outline has here.
        """
        line = max(page.lines[found.start : found.end], key=attrgetter("size"))
        if found.end in starts or not (line.bold or self._is_outlined(line)):
            return False
        if line.size <= SAME * self.body_size and not names_prose(page.lines, found.start, found.end):
            return False
        return self._titles_near(page).isdisjoint(names_of(found.text))

    def _titles_near(self, page: RawPage) -> set[str]:
        """Return the titles that the outline has on a page and the one before, where some say that a section begins."""
        near = [*self._by_page.get(page.number - 1, ()), *self._by_page.get(page.number, ())]
        return set[str]().union(*(names_of(title) for _, title in near))

    def _numbered_below(self, page: RawPage, openings: list[_Opening]) -> list[_Opening]:
        """Return the sections that are numbered below one of the openings but were not found: "3.1.1" below "3.1".

        Some outlines do not go so deep, and some headings are in print hardly larger than the text, or smaller.
        """
        known = {each.start: (each.end, each.text, each.section.level) for each in openings if each.end > each.start}
        found: list[_Opening] = []
        for start, end, level in self._numbers_below.of(page.lines, known, self.body_size):
            text = self._text_of(page.lines[start:end])
            if self._titles_near(page).isdisjoint(names_of(text)):
                line = page.lines[start]
                section = OpenSection(text, line.size, self._weight(line), depth_of(text))
                found.append(_Opening(start, end, text, OpenSection(text, 0.0, 0, 0, level) if level else section))
        return found

    def _from_fonts(self, page: RawPage) -> list[_Opening]:
        lines = page.lines
        groups = self._candidates(lines)
        groups = of_crowded_page(lines, groups)
        longer_side = max(page.width, page.height)
        groups = [each for each in groups if not any(is_scattered(line, longer_side) for line in lines[slice(*each)])]
        if page.number == 1 or (page.number <= FIRST_PAGES and is_title_page(lines)):
            groups = without_title_matter(lines, groups, self.body_size, has_more=self._page_count > 1)
        large = BIGGER * self.body_size
        labels = {start: label_above(lines, start, large) if lines[start].size >= large else 0 for start, _ in groups}
        taken = {at for start, label in labels.items() for at in range(start - label, start)}
        found: list[_Opening] = []
        for at, end in groups:
            if at in taken:
                continue
            start, first = at - labels[at], lines[at]
            text = self._text_of(lines[start:end])
            depth = depth_of(text)
            may_be_long = 0 < depth <= NAMED or (end > at + 1 and not text.endswith("."))
            if not text or len(text) > (2 * MAX_LENGTH if may_be_long else MAX_LENGTH):
                continue
            if is_no_name(text, first, self.body_size):
                continue
            style = style_of(first)
            if page.number > 1 and not 0 < depth <= NAMED and self._is_over_series(style):
                continue  # lettering of a picture
            self._note_series(text, style)
            cover = page.number == 1 and not depth
            level, leaf = self._levels.get(style, 0), is_remark(text) or is_contents(text, lines[end:])
            section = OpenSection(text, first.size, self._weight(first), depth, level, cover, leaf)
            found.append(_Opening(start, end, text, section))
        return found

    def _from_tags_and_fonts(self, page: RawPage) -> list[_Opening]:
        """Return the headings that tags tell, and those that only look like some, unless tags tell most of those."""
        tagged: list[_Opening] = []
        for start, end in tagged_headings(page.lines):
            line, text = page.lines[start], self._text_of(page.lines[start:end])
            letters = sum(map(str.isalpha, text))
            is_name = letters >= (1 if text[:1].isalpha() else MIN_LETTERS) and len(text) <= 2 * MAX_LENGTH
            if is_name and not is_no_name(text, line, self.body_size):
                self._levels[style_of(line)] = min(line.level, self._levels.get(style_of(line), line.level))
                leaf = is_remark(text) or is_contents(text, page.lines[end:])
                section = OpenSection(text, line.size, self._weight(line), depth_of(text), line.level, leaf=leaf)
                tagged.append(_Opening(start, end, text, section))
        taken = {at for each in tagged for at in range(each.start, each.end)}
        found = self._from_fonts(page)
        others = [each for each in found if taken.isdisjoint(range(each.start, each.end))]
        self._agreed += len(found) - len(others)
        self._untagged += len(others)
        is_told = self._agreed >= LEAST_TAGGED and self._agreed > self._untagged
        return tagged if is_told else [*tagged, *others]

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

    def _note_series(self, text: str, style: LineStyle) -> None:
        """Count how far the first-level numbers of a style have come: 1, 2, 3, …"""
        number = NUMBERED.match(text)
        if number and number[1].isdecimal() and int(number[1]) == self._series.get(style, 0) + 1:
            self._series[style] = int(number[1])

    def _is_over_series(self, style: LineStyle) -> bool:
        """Whether a style is larger than those of the document's numbered sections, and not bold as they are."""
        largest = max((size for (size, bold), last in self._series.items() if bold and last >= IN_SERIES), default=0.0)
        return not style[1] and 0 < largest < style[0] / SAME

    def _candidates(self, lines: list[Line]) -> list[tuple[int, int]]:
        """Return runs of lines that look like a heading, those of one heading together."""
        body = self.body_size
        body_bold = self._bold[body] > BOLD_BODY * self._sizes[body]
        apart_size = body if is_body_apart(lines, body) else 0.0
        sizes = body, size_of_prose(lines) or body
        usual = usual_room(lines)
        groups: list[tuple[int, int]] = []
        item: Line | None = None
        for i, line in enumerate(lines):
            if line.text[:1] in BULLETS and line.text[1:2] == " " and not line.bold:
                item = line
                continue
            if item is not None and is_in_item(item, lines[i - 1], line):
                continue
            item = None
            follows = bool(groups) and groups[-1][1] == i
            if follows and goes_on(lines[i - 1], line):
                groups[-1] = (groups[-1][0], i + 1)
                continue
            if not self._looks_like_heading(lines, i, sizes, usual, body_bold=body_bold, apart_size=apart_size):
                continue
            is_tight = room_above(lines, i) <= usual + SET_OFF * (line.y1 - line.y0)
            if not follows and is_tight and ends_paragraph(lines[i - 1], line):
                continue
            if follows and continues_heading(lines[i - 1], line, BIGGER * body):
                groups[-1] = (groups[-1][0], i + 1)
            else:
                groups.append((i, i + 1))
        groups = without_cells(lines, groups)
        starts = {start for start, _ in groups}
        return [group for group in groups if self._is_heading(lines, *group, body, starts)]

    def _looks_like_heading(
        self, lines: list[Line], i: int, sizes: tuple[float, float], usual: float, *, body_bold: bool, apart_size: float
    ) -> bool:
        """Whether a line looks like a heading; `sizes` are those of the document's prose and of the page's.

        In print of `apart_size` another face is no sign of one.
        """
        line = lines[i]
        text = line.text
        if not 0 < len(text) <= MAX_LENGTH or line.figure or line.column or line.mono or not line.cells:
            return False
        if i < FIRST_LINES and EXHIBIT.fullmatch(text):
            return True
        is_large = line.size >= BIGGER * max(sizes)
        if line.boxed and not is_large and not 0 < depth_of(text) <= NAMED:
            return False  # a field of a form, which is no "Part II"
        is_plain = PLAIN.match(text) is not None or self._plain_numbers.tell(lines, i, usual)
        if not (is_large or line.bold or line.apart or text.isupper() or is_plain):  # nearly always
            return False
        if LEADER.search(text) or not may_begin(text) or _AMOUNT.search(text) or COLUMNS.match(text):
            return False
        letters = sum(map(str.isalpha, text)) + sum(map(is_cjk, text))  # two signs are a word there
        if letters < min(MIN_LETTERS, len(text)) or ROW_OF_FIGURES.fullmatch(text):
            return False
        pattern, whole = masked(text), text.lower()
        is_own = is_large and ((line.bold and is_name(text)) or (pattern != whole and self._repeats[whole] == 1))
        if not is_own and self._repeats[pattern] > max(MAX_REPEATED, REPEATED_SHARE * self._seen_pages):
            return False
        if is_large:
            return not (text.endswith(".") and len(text) > LONGEST_SENTENCE) and not (len(text) == 1 and text.islower())
        may_be_smaller = line.bold and (is_numbered_name(lines, i) or is_name_set_off(lines, i))
        least = min(sizes) - (SMALLER_BOLD if may_be_smaller else 0.0)
        if to_half_points(line.size) < least or is_remark(text):
            return False
        if i and is_cut(lines[i - 1]) and not continues_heading(lines[i - 1], line):
            return False  # a sentence goes on in it, perhaps in the next column
        is_bold = line.bold and not body_bold
        is_named = 0 < depth_of(text) <= NAMED
        if not is_bold and not is_in_capitals(text):
            is_set_off = room_above(lines, i) > usual + SET_OFF * (line.y1 - line.y0)
            below = room_above(lines, i + 1) if i + 1 < len(lines) else inf
            is_plain = below > usual and (is_plain or is_name_over_prose(lines, i))
            if not (is_set_off and ((line.apart and to_half_points(line.size) != apart_size) or is_plain)):
                return False
        if text.endswith(":"):
            is_short = 0 < text.count(" ") < MOST_WORDS and not (ANNOUNCES.search(text) or LABEL.match(text))
            return is_short and room_above(lines, i) > usual + SET_OFF * (line.y1 - line.y0)
        if not is_named and (text.endswith((".", "。")) or len(text) > LONGEST_PLAIN):
            return False
        return text[0].isupper() or text[0].isdigit() or not text[0].isascii() or bool(is_bold and LETTERED.match(text))

    def _is_heading(self, lines: list[Line], start: int, end: int, body: float, starts: set[int]) -> bool:
        """Whether a run of lines is a heading by its end, and by what stands below it: another one of `starts`, say."""
        last = lines[end - 1]
        wholes = sum([not JOINS.search(line.text) for line in lines[start:end]])
        if wholes > MAX_LINES_OF_ONE or last.text.endswith((",", ";", "-", "\u00ad")):
            return False
        if self._chart_titles.has(style_of(last), body) or is_in_entry(lines, start, end):
            return False
        is_plain = last.size < BIGGER * body and not depth_of(lines[start].text)
        if end == len(lines):
            return not is_plain or may_end_page(lines, start)
        below = lines[end]
        is_label = (is_plain or abs(below.size - last.size) < SAME_HEADING) and is_over_row(lines, end)
        if is_label or is_cut_by_end(last, below):
            return False  # what the table below it calls its labels, or a part of a sentence
        # Another face alone says little: italics that go on, or in a sentence, are text.
        is_weak = last.apart and not last.bold and last.size < BIGGER * body
        return not is_weak or end in starts or not (below.apart or GOES_ON.match(below.text))

    def _push(self, heading: OpenSection) -> str:
        if heading.cover and self.has_form_cover:
            return ""
        while self._stack and not self._stack[-1].outranks(heading):
            self._stack.pop()
        if is_own_title(heading.title, self.title):  # it precedes every passage anyway
            return heading.title
        if again := [at for at, entry in enumerate(self._stack, 1) if entry.is_called(heading.title)]:
            # Its title is repeated over what goes on in it; one with a number stands over its parts, too.
            del self._stack[len(self._stack) if heading.depth else again[0] :]
        elif len(self._stack) < MAX_DEPTH:
            self._stack.append(heading)
        return " > ".join(entry.title for entry in self._stack)
