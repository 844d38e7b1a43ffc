"""Rows that a question names by a code: "Unit 14", "zone B"."""

import re
from functools import lru_cache

from shared.text import first_row, row_cells

_CODE = re.compile(r"[^\W\d_]|\d{1,3}[^\W\d_]?|[^\W\d_]\d{1,2}|[IVX]{2,4}")
"""What says nothing without the name before it: "B", "12", "3a", "IV"."""
_BEHIND_A_WORD = re.compile(rf"\w ({_CODE.pattern})(?!\w)", re.IGNORECASE)
_MONTHS = "january february march april may june july august september october november december"
_NO_NAMES = frozenset((*_MONTHS.split(), "page", "pages"))
"""What a number behind it is no code of."""


def is_row_named(text: str, start: int, question: str) -> bool | None:
    """Return whether a question names a row by a code; None if by none.

    The code stands behind the label's word, "influenza B", or behind a column's name: "zone B" of `Zone | Price`.
    """
    if not _may_name_a_code(question):
        return None
    end = text.find("\n", start)
    cells = row_cells(text[start : end if end >= 0 else len(text)])
    *words, code = cells[0].split() if cells and cells[0] else [""]
    if words and words[-1].lower() in _NO_NAMES:
        return None
    if words:
        return _is_code_asked(words[-1], code, question, needs_capital=True) if _CODE.fullmatch(code) else None
    if not any(_CODE.fullmatch(cell) for cell in cells):
        return None
    header = first_row(text, start)
    names = row_cells(text[slice(*header)]) if header and header[0] != start else ()
    asked = (
        _is_code_asked(name.split()[-1], cell, question, needs_capital=at > 0)
        for at, (name, cell) in enumerate(zip(names, cells, strict=False))
        if name.split() and _CODE.fullmatch(cell) and not _CODE.fullmatch(name)
    )
    return next((each for each in asked if each is not None), None)


@lru_cache(maxsize=100)
def _may_name_a_code(question: str) -> bool:
    return _BEHIND_A_WORD.search(question) is not None


def _is_code_asked(word: str, code: str, question: str, *, needs_capital: bool) -> bool | None:
    """Return whether a question has a code behind a word; None if it has none there.

    With `needs_capital` no small "a" or "i" is one: "Is influenza a risk?"
    """
    word, one = re.escape(word), rf"(?:{_CODE.pattern})(?!\w)"
    named = re.findall(
        rf"(?<!\w){word}s? ({one}(?:(?:,? (?:and|or|to) |, | ?[-–/&] ?)(?:{word}s? )?{one})*)", question, re.IGNORECASE
    )
    is_range = any(re.search(r" to |[-–]", each) for each in named)
    codes = {each.casefold() for each in re.findall(rf"(?<!\w){one}", " ".join(named), re.IGNORECASE)}
    if needs_capital:
        codes -= {each for each in ("a", "i") if not re.search(rf"(?<!\w){each.upper()}(?!\w)", question)}
    if code.casefold() in codes:
        return True
    return None if is_range or not codes else False
