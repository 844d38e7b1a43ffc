"""The captions of a document's figures and tables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import shortened
from functions.query.understanding.structure import ElementKind, number_in, signs_of
from shared import lexical
from shared.models import PageStart
from shared.text import sentence_spans

MAX_CHARACTERS = 500
"""Of a caption that is told."""
CAPTIONED: Sequence[ElementKind] = ("figure", "table")

LEADERS = re.compile(r"(?:\.[ ]?){4,}|…")
"""What leads to the page's number in a table of contents or a list of figures."""


class Caption(NamedTuple):
    """A caption: its element's number, its text, its page, and the passage that holds it."""

    number: str
    text: str
    page: PageStart
    passage: Passage


def _captions_in(passages: Sequence[Passage], kind: ElementKind) -> Iterator[Caption]:
    """Yield the captions of figures or tables."""
    for passage in passages:
        for number, start, text in _lines_in(passage.text, kind):
            page = passage.page_at(passage.char_start + start)
            yield Caption(number, _shortened(text), page, passage)


def _lines_in(text: str, kind: ElementKind) -> Iterator[tuple[str, int, str]]:
    """Yield each line that begins with the name of a figure or table and goes on like a title: number, start, text."""
    signs = "|".join(sorted(map(re.escape, signs_of(kind)), key=len, reverse=True))
    line = re.compile(rf"^[ \t]*(?:{signs}|\d+(?:\.\d+)*\.?[ ](?:{signs}))\b.*$", re.I | re.M)
    for found in line.finditer(lexical.fold(text)):
        said = text[found.start() : found.end()].strip()
        named = number_in(said, kind)
        if named is None or named[2] > 0:
            continue
        rest = said[named[3] :]
        title = rest.lstrip(" .:|–—-")
        if title and not (title[0].islower() and title == rest.lstrip()) and not LEADERS.search(said):
            yield named[1], found.start(), said


def without_captions(text: str) -> str:
    """Return a text without the lines that are captions."""
    lines = [line for kind in CAPTIONED for _, _, line in _lines_in(text, kind)]
    for line in lines:
        text = text.replace(line, "", 1)
    return text


def _shortened(text: str) -> str:
    """Return the whole sentences of a caption that are short enough, at least the first."""
    if len(text) <= MAX_CHARACTERS:
        return text
    ends = [span[1] for span in sentence_spans(text)]
    fitting = [end for end in ends if end <= MAX_CHARACTERS]
    return text[: fitting[-1]].rstrip() if fitting else shortened(text, MAX_CHARACTERS)


def captions_by_number(passages: Sequence[Passage], kind: ElementKind) -> Mapping[str, Caption]:
    """Return each number's caption: the first, or the second where the first is an entry of a list with pages."""
    found: dict[str, Caption] = {}
    for each in _captions_in(passages, kind):
        before = found.setdefault(each.number, each)
        if before is not each and before.text[-1].isdigit() and not each.text[-1].isdigit():
            found[each.number] = each
    return found
