"""Families of words: "payable" and "payment" say the same of a thing, though they are no forms of one word.

Stems are of forms only, so that a search is exact. But a document that speaks of "abstentions" mentions who abstained.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from functions.query.understanding.question import lines_of
from shared import lexical

MIN_ROOT = 4
"""Letters that two words of a family share at their beginning, at least."""
MIN_WORD = 3
"""The same where they go on with one of `_OF_SHORT_WORDS`, or nothing: "pay", "payment"."""

_OF_SHORT_WORDS = frozenset(("", "able", "ment", "ments"))
_CHANGED = ((re.compile("tain"), "ten"), (re.compile("ceiv"), "cep"), (re.compile("scrib"), "scrip"))
"""Letters that change within an English family: "abstain", "abstention"; "receive", "reception"."""


@lru_cache(maxsize=10_000)
def are_of_family(word: str, other: str, language: str) -> bool:
    """Return whether two words, in lower case and without diacritics, are the same, or of one family."""
    if word == other or lexical.stem(word, language) == lexical.stem(other, language):
        return True
    endings = _endings().get(language)
    if endings is None or word[:MIN_WORD] != other[:MIN_WORD]:
        return False
    shorter, longer = sorted((_unchanged(word, language), _unchanged(other, language)), key=len)
    if shorter[MIN_WORD:] in _OF_SHORT_WORDS and longer[MIN_WORD:] in _OF_SHORT_WORDS:
        return True
    alike = next((at for at in range(len(shorter)) if shorter[at] != longer[at]), len(shorter))
    return any(shorter[at:] in endings and longer[at:] in endings for at in range(MIN_ROOT, alike + 1))


def _unchanged(word: str, language: str) -> str:
    for pattern, letters in _CHANGED if language == "en" else ():
        word = pattern.sub(letters, word)
    return word


@cache
def _endings() -> Mapping[str, frozenset[str]]:
    lines = (line.split() for line in lines_of("word_endings.txt"))
    return {language: frozenset(("", *endings)) for language, *endings in lines}
