"""Proper names of a claim that no source holds."""

import re
from collections.abc import Iterable

from functions.query.proof.dates import is_month
from functions.query.proof.sanitizing import plain
from shared.lexical import fold

_NAME = re.compile(r"(?<![\w&])[^\W\d_a-z][\w&]*(?:['’-][^\W\d_]\w*)*")
_STARTS = re.compile(r"(?:\A|[.!?…\n(\[\"“„«'‘|*•–—-])[\s\"“„«'‘(*_-]*\Z")
_CASED_NOUNS = frozenset({"de", "lb"})
"""Languages that write every noun with a capital."""
_ALIKE = 4
_ALIKE_BENT = 3
"""Letters two words must begin with in common to be forms of one name; other languages than English bend names."""


def foreign_names(claim: str, texts: Iterable[str], language: str) -> list[str]:
    """Return the capitalised words inside a claim's sentences that none of the texts holds in any form.

    Empty for languages that write nouns with capitals and for texts all in capitals: there a capital says nothing.
    """
    if language in _CASED_NOUNS or claim.isupper():
        return []
    names = [match.group() for match in _NAME.finditer(claim) if not _STARTS.search(claim, 0, match.start())]
    names = [name for name in names if len(name) > 1 and name[0].isupper() and not is_month(fold(name).lower())]
    if not names:
        return []
    held = fold(plain("\n".join(texts))).lower()
    tokens = set(re.findall(r"\w+", held))
    return [
        name
        for name in names
        if not _is_held(fold(name).lower(), name, tokens, held, _ALIKE if language == "en" else _ALIKE_BENT)
    ]


def _is_held(folded: str, name: str, tokens: set[str], held: str, alike: int) -> bool:
    parts = re.findall(r"\w+", folded)
    parts = parts[:-1] if len(parts) > 1 and parts[-1] == "s" else parts
    if all(part in tokens or _has_form(part, tokens, alike) for part in parts):
        return True
    # "CEO" for "chief executive officer".
    return (
        name.isupper()
        and 2 <= len(name) <= 6
        and re.search(r"\b" + r"\w*\W+(?:of\W+|and\W+|the\W+)?".join(map(re.escape, folded)), held) is not None
    )


def _has_form(part: str, tokens: set[str], alike: int) -> bool:
    if len(part) < alike:
        return False
    stem = part[: max(alike, len(part) - 3)]
    return any(token.startswith(stem) and abs(len(token) - len(part)) <= 3 for token in tokens)
