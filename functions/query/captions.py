"""Lines of a document that name what stands beside them: captions of figures and tables, and who wrote it."""

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
MAX_BYLINES = 3
MAX_BYLINE_CHARACTERS = 250
MIN_NAMES = 0.8
"""Share of a line's words that are names, from which on it is a line of names."""

LEADERS = re.compile(r"(?:\.[ ]?){4,}|…")
"""What leads to the page's number in a table of contents or a list of figures."""
_WRITTEN_BY = re.compile(
    r"(?:^|(?<=[.;] ))(?:(?:(?:written|prepared|compiled|edited|authored) by|verfasst von|parengė)\b:?"
    r"|(?:authors?|autor(?:en|es)?|auteurs?|autori(?:us|ai))\s?:)\s+(?-i:[^\W\d_a-z]).{2,200}$",
    re.IGNORECASE,
)
_BY = re.compile(r"(?:by|von|par|por)\s+", re.IGNORECASE)
_ENDS_NAMES = re.compile(
    r"(?:abstract|summary|zusammenfassung|resumen|r[ée]sum[ée]|santrauka|introduction|contents)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_][\w'’.-]*")


class Caption(NamedTuple):
    """A caption: its element's number, its text, its page, and the passage that holds it."""

    number: str
    text: str
    page: PageStart
    passage: Passage


def captions_in(passages: Sequence[Passage], kind: ElementKind) -> Iterator[Caption]:
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
    for each in captions_in(passages, kind):
        before = found.setdefault(each.number, each)
        if before is not each and before.text[-1].isdigit() and not each.text[-1].isdigit():
            found[each.number] = each
    return found


def bylines_in(beginning: str) -> Sequence[str]:
    """Return what names the authors: "Prepared by …", "By Ann Lee", or names between a title and the abstract."""
    lines = [line.strip() for line in beginning.split("\n") if line.strip()]
    said = [found[0] for line in lines if (found := _WRITTEN_BY.search(line))]
    said = said or [line for line in lines if (by := _BY.match(line)) and _is_of_names(line[by.end() :])]
    return (said or _names_below_title(lines))[:MAX_BYLINES]


def _names_below_title(lines: Sequence[str]) -> Sequence[str]:
    end = next((at for at, line in enumerate(lines) if _ENDS_NAMES.match(line)), None)
    return [line for line in lines[1:end] if _is_of_names(line)] if end else []


def _is_of_names(line: str) -> bool:
    words = _WORD.findall(line)
    names = sum(word[0].isupper() for word in words)
    return len(line) <= MAX_BYLINE_CHARACTERS and names > 1 and names >= MIN_NAMES * len(words)
