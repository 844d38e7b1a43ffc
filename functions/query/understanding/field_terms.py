"""The vocabulary of the field: "capex" is "purchases of property, plant and equipment" in a cash-flow statement.

The list is `texts/field_terms.txt`. A question with one of its phrases is searched for in the documents' words as well.
"""

import re
from collections.abc import Mapping
from functools import cache

from functions.query.retrieval.search import QueryVariant
from functions.query.understanding.question import lines_of

TERM_SHARE = 0.15
"""Share of the search for a question in the documents' words."""


def field_variants(question: str, language: str) -> tuple[QueryVariant, ...]:
    """Return the question in the words of documents, once for each phrase of the list in it; English only."""
    if language not in {"", "en"}:
        return ()
    pattern, words_for = _terms()
    found = {match.group().lower(): match for match in pattern.finditer(question)}
    variants = (
        question[: match.start()] + words_for[" ".join(phrase.replace("-", " ").split())] + question[match.end() :]
        for phrase, match in found.items()
    )
    return tuple(QueryVariant(text, TERM_SHARE) for text in variants)


def document_words(question: str) -> Mapping[str, str]:
    """Return the documents' words for each phrase of the list in a question, by the phrase as typed."""
    pattern, words_for = _terms()
    typed = {match.group() for match in pattern.finditer(question)}
    return {phrase: words_for[" ".join(phrase.lower().replace("-", " ").split())] for phrase in sorted(typed)}


@cache
def _terms() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern of all phrases, the longest first, and the documents' words for each."""
    words_for: dict[str, str] = {}
    for line in lines_of("field_terms.txt"):
        phrases, _, words = line.partition(":")
        words_for |= dict.fromkeys((phrase.strip() for phrase in phrases.split(";")), words.strip())
    longest_first = sorted(words_for, key=lambda phrase: -len(phrase))
    alternatives = "|".join(re.escape(phrase).replace(r"\ ", r"[\s-]+") for phrase in longest_first)
    return re.compile(rf"(?<![\w&])(?:{alternatives})(?![\w&])", re.IGNORECASE), words_for
