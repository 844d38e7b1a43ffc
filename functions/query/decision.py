"""Is there anything to answer from? The decision that comes before every model call."""

from collections.abc import Mapping

from functions.query.passages import Passage
from functions.query.retrieval import Retrieved, Search
from shared import identity, lexical

LEAST_COVERAGE = 0.6
"""Share of a question's rare words that the best passage must hold when similarity cannot be had."""


def is_relevant(search: Search, found: Retrieved, threshold: float) -> bool:
    """Say whether the best passage is near enough: by cosine similarity, or by its words when there is no vector."""
    if not found.passages:
        return False
    if found.best_score is not None:
        return found.best_score >= threshold
    asked = lexical.term_weights(search.question, language=search.language)
    return max(coverage(asked, passage) for passage in found.passages) >= LEAST_COVERAGE


def coverage(asked: Mapping[str, float], passage: Passage) -> float:
    """Return the share, by rarity, of a question's words that the passage or its document's name holds: 0 to 1."""
    rare = {term: worth for term, worth in asked.items() if worth >= identity.COMMON}
    if not rare:
        return 0.0
    language = passage.language or "en"
    name = identity.name_of(passage.title, passage.key)
    held = {term for text in (passage.text, name) for term, _ in lexical.terms_of(text, language)}
    return sum(worth for term, worth in rare.items() if term in held) / sum(rare.values())
