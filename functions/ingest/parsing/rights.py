"""Reads whose the rights to a document are, and since when: "Copyright (c) 2019-2021 Ann Lee. All rights reserved"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from shared import identity

MAX_HOLDER = 200
_YEARS = rf"(?:{identity.YEAR}[\s,\u2013\u2014-]*)"
_LETTER_ALONE = rf"\([cC]\)(?=\s*(?:{_YEARS}{{1,9}}(?:by )?[A-Z]|(?:[A-Z][\w.'\u2019-]*,? ){{1,4}}{identity.YEAR}))"
"""That sign is also an item of a list, so a year and a name must follow it."""
_BETWEEN = r"(?:[^\w(]|_){0,10}"
_SIGN = re.compile(
    rf"(?:\u00a9|[Cc]opyright|COPYRIGHT|{_LETTER_ALONE}){_BETWEEN}(?:(?:\u00a9|\([cC]\)|c\b){_BETWEEN}){{0,2}}"
    rf"(?P<years>{_YEARS}*)(?:by )?"
)
_SENTENCE_END = r"(?<=\w\w)(?<!\bSt)(?<!\bMt)(?<!\bDr)(?<!\bJr)\.\s"
_END = re.compile(
    rf"[.,]? {identity.YEAR}|\.?\s+[Aa]ll [Rr]ights|{_SENTENCE_END}|\.?$|[|\n]|\s*[Cc]opyright\b|\u00a9",
    re.MULTILINE,
)
"""What stands behind the holder of a right."""
_IS_RIGHT = re.compile(
    r"\W*(?:copyright\W*(?:\u00a9|\(c\)|\d{4}|$)|\u00a9|\(c\) ?\d|all rights reserved\b)", re.IGNORECASE
)


class Right(NamedTuple):
    """The years before the name of a right's holder, that name, and whether a year stands on either side of it."""

    years: str
    holder: str
    has_year: bool


def is_right(line: str) -> bool:
    """Whether a line begins with a right."""
    return _IS_RIGHT.match(line) is not None


def rights_in(text: str) -> Iterator[Right]:
    """Yield the rights that a text tells."""
    for found in _SIGN.finditer(text):
        rest = text[found.end() : found.end() + MAX_HOLDER]
        end = _END.search(rest)
        holder, behind = (rest[: end.start()], end[0]) if end else (rest, "")
        yield Right(found["years"], holder, bool(found["years"]) or behind[-1:].isdigit())
