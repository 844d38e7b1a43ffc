"""Words that may stand for one another: groups of a reviewed file, compared by their stems."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from shared import lexical
from shared.lexical import fold

# --- Words as they are compared inside one answer: stemmed by their language, stop words out ---

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


_ALIKE = 5
"""Letters two words must begin with in common to be taken for forms of one ("replace", "replacement")."""


def are_synonyms(word: str, other: str, language: str) -> bool:
    """Say whether two words (folded, in lower case) are forms or synonyms of one another."""
    if word == other or stem_of(word, language) == stem_of(other, language):
        return True
    shorter = min(len(word), len(other))
    if word[:_ALIKE] == other[:_ALIKE] and shorter >= _ALIKE and word[: shorter - 3] == other[: shorter - 3]:
        return True
    groups = _groups(language)
    none: frozenset[int] = frozenset()
    mine = groups.get(word, none) | groups.get(stem_of(word, language), none)
    theirs = groups.get(other, none) | groups.get(stem_of(other, language), none)
    return bool(mine & theirs)


def with_synonyms(stems: frozenset[str], held: frozenset[str], language: str) -> frozenset[str]:
    """Return those of some stems that have a synonym among those that are held."""
    groups = _groups(language)
    known = frozenset().union(*(groups[stem] for stem in held if stem in groups))
    return frozenset(stem for stem in stems if known & groups.get(stem, frozenset()))


def is_degree(word: str) -> bool:
    """Say whether a word (folded, in lower case) tells how far a statement goes; such a stop word counts."""
    return word in _degrees()


@lru_cache(maxsize=8_192)
def stem_of(word: str, language: str) -> str:
    """Return the stem of a word, a stop word as it is."""
    stems = content_stems(word, language)
    return stems[0] if stems else word


@lru_cache(maxsize=1)
def _lines() -> tuple[tuple[str, ...], ...]:
    text = (Path(__file__).parents[1] / "texts" / "synonyms.txt").read_text(encoding="utf-8")
    return tuple(tuple(fold(line).lower().split()) for line in text.splitlines() if line and not line.startswith("#"))


@lru_cache(maxsize=1)
def _degrees() -> frozenset[str]:
    return frozenset(word for line in _lines() if line[0] == "=" for word in line[1:])


@lru_cache(maxsize=8)
def _groups(language: str) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_lines()):
        for word in line:
            found.setdefault(word, set()).add(number)
            found.setdefault(stem_of(word, language), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}
