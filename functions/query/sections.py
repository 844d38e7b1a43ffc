"""The sections of a document, as they are read from its passages: their order, their places, their numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.retrieval.passages import Passage, last_title
from functions.query.understanding.structure import (
    LAST,
    are_one,
    is_called,
    is_contents,
    number_in,
)
from functions.query.understanding.talk import folded_words
from shared import lexical
from shared.models import PageStart
from shared.text import SEPARATOR

MIN_HEADINGS = 3
"""With fewer sections at the top, those below them are listed."""
MIN_OUTLINED = 2
"""Sections of an outline: a single one tells nothing of what a document holds."""
MAX_HEADING_CHARACTERS = 120
"""Of a line that names a section without having been read as a heading."""
BEFORE_HEADING = 20
"""Characters before a heading in which its number may stand on a line of its own."""
HEADING_BEGINNING = 12
"""Characters of a heading by which it is known again behind its number."""

_LABEL = re.compile(r"\W*(?:(\d+(?:\.\d+)*\.?)|(\w+)(\.(?=\s))?)")
"""The number or the first word of a heading, and whether a full stop follows the word."""
_NUMBER_BEFORE = re.compile(r"(?:^|\n)[^\W\d_]+ (\d{1,3})\s*\Z")
_NUMBERED = re.compile(
    r"(?:(?P<sign>[^\W\d_]{2,})\s+)?"
    r"(?P<number>\d{1,3}(?:[.-]\d{1,3}){0,3}(?:[A-Za-z]?(?=[.:)\s–—-]|$)|(?=[^\W\d_]{2}))"
    r"|[A-Z](?:\.?\d{1,3})?(?=[.:)\s]|$)|[IVXL]+(?=[.:)\s]|$))"
)
"""The label at the beginning of a heading: "3.1", "Chapter 4", "A", "Part II"."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document: its headings from the top, and its span in the document's text."""

    path: Sequence[str]
    start: int
    end: int
    page: PageStart

    @property
    def name(self) -> str:
        """Its own heading."""
        return self.path[-1]


def headings(passages: Sequence[Passage]) -> Sequence[str]:
    """Return a document's sections in order: the top ones, or with fewer than three of those, the ones below, too.

    The document's title is no section: on the first page it stands above them all, later it does not.
    """
    named = (_below_title(path.split(" > "), passage.title) for passage in passages for path in _paths(passage))
    paths = _on_one_level([path for path in named if path])
    for depth in (1, 2):
        found = list(dict.fromkeys(" – ".join(path[:depth]) for path in paths))
        if len(found) >= MIN_HEADINGS or depth == 2:
            break
    return found


def _below_title(path: Sequence[str], title: str) -> Sequence[str]:
    """Return the path without the document's title, or the beginning of it that is printed above the sections."""
    top, whole = (re.findall(r"\w+", text.casefold()) for text in (path[0], title))
    shared = min(len(top), len(whole))
    is_title = top == whole or (shared > 1 and top[:shared] == whole[:shared])
    return path[1:] if is_title else path


def _on_one_level(paths: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return the paths without what stands above some sections only, while later ones of their form are at the top.

    That is a printed title or the like: "Policy > Section A", "Policy > Section B", "Section C".
    """
    last = {path[0]: at for at, path in enumerate(paths)}

    def begin(at: int, path: Sequence[str]) -> int:
        later = {_form(top) for top, place in last.items() if place > at and top != path[0]} - {"", _form(path[0])}
        return next((depth for depth, name in enumerate(path) if _form(name) in later), 0)

    begins = [begin(at, path) for at, path in enumerate(paths)]
    titles = {path[0] for path, first in zip(paths, begins, strict=True) if first} & {path[0] for path in paths[:1]}
    levelled = (path[max(first, path[0] in titles) :] for path, first in zip(paths, begins, strict=True))
    return [path for path in levelled if path]


def _form(heading: str) -> str:
    """Return how headings of one form begin: "section" for "Section A", "0.0" for "2.3 Bins", "." for "First. Pay"."""
    found = _LABEL.match(heading)
    if found is None:
        return ""
    number, word, stop = found.groups()
    if number:
        return re.sub(r"\d+", "0", number.strip("."))
    return "." if stop else word.casefold() if len(word) > 1 else ""


def _paths(passage: Passage) -> Sequence[str]:
    return [section.path for section in passage.sections] or ([passage.section] if passage.section else [])


def sections_of(passages: Sequence[Passage]) -> Sequence[Section]:
    """Return the sections of a document in order, each once, not where the table of contents names them."""
    begun = [(section, passage) for passage in passages for section in passage.sections]
    contents = {
        passage.page_at(section.char_start).number
        for section, passage in begun
        if is_contents(last_title(section.path))
    }
    starts: dict[str, tuple[int, Passage]] = {}
    for section, passage in begun:
        if passage.page_at(section.char_start).number in contents:
            continue
        names = section.path.split(" > ")
        for depth in range(1, len(names) + 1):
            starts.setdefault(" > ".join(names[:depth]), (section.char_start, passage))
    in_order = sorted(starts.items(), key=lambda each: (each[1][0], len(each[0])))
    end = end_of(passages)
    found: list[Section] = []
    for at, (path, (start, passage)) in enumerate(in_order):
        after = (begin for other, (begin, _) in in_order[at + 1 :] if not other.startswith(f"{path} > "))
        page = passage.page_at(start)
        found.append(Section(path.split(" > "), start, next(after, end), page))
    return found


def end_of(passages: Sequence[Passage]) -> int:
    """Return the position behind the last character of a document's passages."""
    return max((passage.char_end for passage in passages), default=0)


def section_at(sign: str, number: str, passages: Sequence[Passage]) -> Section | None:
    """Return the section at a place in the order of those at the top, or of those that are called so: "Unit 1"."""
    found = sections_called(sign, passages) or []
    at = len(found) if number == LAST else int(number)
    return found[at - 1] if 0 < at <= len(found) else None


def sections_called(sign: str, passages: Sequence[Passage]) -> Sequence[Section] | None:
    """Return the sections that are called so: "Unit 1", "Unit 2"; else those at the top, None if they are not meant.

    Chapters are those with a number, if any have one.
    """
    stem, sections = _stem(sign), sections_of(passages)
    called = [each for each in sections if stem and (_stem(own := _sign_of(each.name)) == stem or are_one(own, sign))]
    if called:
        numbers = {_number_of(each.name) for each in called}
        missed = [
            each for each in _by_lines(called[0].name.split()[0], passages) if _number_of(each.name) not in numbers
        ]
        return sorted([*called, *missed], key=lambda each: each.start)
    if is_called(sign, "annex"):
        lettered = [each for each in sections if len(each.path) == 1 and _own_number(each, passages).isalpha()]
        return lettered if len(lettered) >= MIN_OUTLINED else None
    if stem and not is_called(sign, "tops"):
        return None
    tops = [name.rsplit(" – ", 1)[-1] for name in headings(passages)]
    found = [each for each in (_first_of(top, sections) for top in tops) if each is not None]
    if found and set(folded_words(found[0].name)) <= set(folded_words(passages[0].title)):
        found = found[1:]  # the title, printed above all of them
    numbered = [each for each in found if _own_number(each, passages).isdigit()]
    return numbered if is_called(sign, "chapter") and len(numbered) >= MIN_OUTLINED else found


def _by_lines(sign: str, passages: Sequence[Passage]) -> Sequence[Section]:
    """Return what lines name as sections of this kind, where they were not read as headings: "UNIT 14: Accounting"."""
    lines: dict[str, tuple[int, str, Passage]] = {}
    for passage in passages:
        for line in re.finditer(r"^.+$", passage.text, re.MULTILINE):
            named = number_in(line[0], "section") if len(line[0]) <= MAX_HEADING_CHARACTERS else None
            if named is None or named[2] > 0 or not are_one(named[0], sign.casefold()):
                continue
            rest = line[0][named[3] :].lstrip(" .:–—-")
            if rest[:1].isupper() and SEPARATOR not in rest and not rest[-1].isdigit():
                lines.setdefault(named[1], (passage.char_start + line.start(), line[0].strip(), passage))
    in_order = sorted(lines.values(), key=lambda each: each[0])
    found: list[Section] = []
    ends = [*(start for start, _, _ in in_order[1:]), end_of(passages)]
    for (start, heading, passage), end in zip(in_order, ends, strict=False):  # without a line there is an end, too
        page = passage.page_at(start)
        found.append(Section([heading], start, end, page))
    return found


def without_number(name: str) -> str:
    """Return a heading without its label: "Care" of "2.1 Care"."""
    return _NUMBERED.sub("", name, count=1)


def _number_of(name: str) -> str:
    label = _NUMBERED.match(name)
    return label["number"] if label else ""


def _first_of(name: str, sections: Sequence[Section]) -> Section | None:
    return next((each for each in sections if each.name == name), None)


def numbered_section(sign: str, number: str, passages: Sequence[Passage]) -> Section | None:
    """Return the section with that number: called so, or numbered alone, or named so by a line that is no heading."""
    sections, wanted = sections_of(passages), _plain_number(number)
    alike: list[Section] = []
    for each in sections:
        label = _NUMBERED.match(each.name)
        own = _own_number(each, passages)
        if _plain_number(own) != wanted:
            continue
        if label and label["sign"]:
            if are_one(_sign_of(each.name), sign):
                return each
        elif not own.isalpha() or _has_sibling(each, sections, passages):
            alike.append(each)
    if alike and (is_called(sign, "general") or number[:1].isalpha()):
        return alike[0]
    by_line = next((each for each in _by_lines(sign, passages) if _number_of(each.name) == number), None)
    if by_line is None and number.isdigit() and is_called(sign, "tops") and not any(map(_has_number, sections)):
        return section_at(sign, number, passages)  # where nothing is numbered, they are counted
    return by_line


def _has_number(section: Section) -> bool:
    return any(map(str.isdigit, _number_of(section.name)))


def _plain_number(number: str) -> str:
    return number.replace("-", ".").strip(".")


def _number_in_text(section: Section, passages: Sequence[Passage]) -> str:
    """Return the number that stands before a heading in the text, where bookmarks name it without: "Capitolo 3"."""
    for passage in passages:
        if passage.char_start <= section.start < passage.char_end:
            at = section.start - passage.char_start
            beginning = re.escape(section.name[:HEADING_BEGINNING])
            found = _NUMBER_BEFORE.search(passage.text[max(0, at - BEFORE_HEADING) : at]) or re.match(
                rf"\s*(?:[^\W\d_]+\s)?((?:\d{{1,3}}|(?-i:[A-Z]))(?:\.\d{{1,3}})*)\.?\s+{beginning}",
                passage.text[at:],
                re.IGNORECASE,
            )
            return found[1] if found else ""
    return ""


def _own_number(section: Section, passages: Sequence[Passage]) -> str:
    return _number_of(section.name) or _number_in_text(section, passages)


def _has_sibling(section: Section, sections: Sequence[Section], passages: Sequence[Passage]) -> bool:
    """Say whether another heading of its level begins with another letter alone, or one in it with its letter.

    "A Data", "B Proofs" or "A.1 Sources".
    """
    own = _own_number(section, passages)
    within = any(_number_of(each.name).startswith(f"{own}.") for each in sections)
    level = (_own_number(each, passages) for each in sections if len(each.path) == len(section.path))
    return within or len({number for number in level if number.isalpha()}) > 1


def _stem(sign: str) -> str:
    return lexical.stem(" ".join(folded_words(sign)), "en")


def _sign_of(name: str) -> str:
    label = _NUMBERED.match(name)
    return " ".join(folded_words(label["sign"])) if label and label["sign"] else ""
