"""How much of a question's words a passage holds: the half of relevance that similarity does not see.

A passage may be near to a question in meaning and yet be about another product, year or person. What it lacks then is a
rare word of the question. Words are compared by their stems, folded and in lower case, identifiers by their parts.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from functions.query.passages import Passage
from shared import identity, lexical

_WORD = re.compile(r"[^\W_]+")
_GROUPING = re.compile(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")


def rare_words(question: str, language: str) -> Mapping[str, float]:
    """Map the stems of a question's rare words to how rare they are (`lexical.background`, `identity.COMMON` up)."""
    rarities = lexical.background(language) or lexical.background("en")
    rarity = {stem: rarities.get(stem, lexical.RAREST) for stem in stems_of(question, language)}
    return {stem: rare for stem, rare in rarity.items() if rare >= identity.COMMON}


def coverage(rare: Mapping[str, float], passage: Passage, language: str) -> float | None:
    """Return the share, by rarity, of a question's rare words that the passage, its section or its name holds: 0 to 1.

    None where words cannot be compared: the question has no rare ones, or the passage is in another language.
    """
    if not rare or (passage.language and language and passage.language != language):
        return None
    name = identity.name_of(passage.title, passage.key)
    held = stems_of(f"{passage.text}\n{passage.section}\n{name}", language)
    return sum(rarity for stem, rarity in rare.items() if stem in held) / sum(rare.values())


def stems_of(text: str, language: str) -> set[str]:
    """Return the stems of a text's words, numbers without their grouping."""
    plain = lexical.fold(_GROUPING.sub("", text)).lower()
    return {stem for word in set(_WORD.findall(plain)) for stem in _stems(word, language)}


@lru_cache(maxsize=50_000)
def _stems(word: str, language: str) -> tuple[str, ...]:
    return tuple(term for term, weight in lexical.terms_of(word, language) if weight == 1.0)
