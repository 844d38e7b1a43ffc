"""Words as they are compared inside one answer: stemmed by their language, stop words out."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from shared import lexical

_STOP_WORDS = frozenset((Path(__file__).parents[1] / "texts" / "stop_words.txt").read_text(encoding="utf-8").split())


def is_stop_word(word: str) -> bool:
    """Say whether a word (in lower case) carries no meaning of its own."""
    return word in _STOP_WORDS or (len(word) == 1 and "a" <= word <= "z")


def content_stems(text: str, language: str = "en") -> Sequence[str]:
    """Return the stems of the words and numbers that carry meaning, in order, by the language's own endings."""
    return _content_stems(text, language or "en")


def stems_of(text: str, language: str = "en") -> frozenset[str]:
    """Return the stems of the words that carry meaning; numbers are left out."""
    return _stems(text, language or "en")


@lru_cache(maxsize=4_096)
def _content_stems(text: str, language: str) -> tuple[str, ...]:
    stems: list[str] = []
    for forms in lexical.words_of(text, language):
        if not any(form in _STOP_WORDS for form, _ in forms):
            # An identifier counts whole and by its parts; the other forms of a word are there for the index.
            stems.extend(form for form, weight in forms if weight == 1.0 and (len(form) > 1 or not "a" <= form <= "z"))
    return tuple(stems)


@lru_cache(maxsize=4_096)
def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(stem for stem in _content_stems(text, language) if not stem[0].isdigit() or not stem.isdigit())
