"""Words that say the same: of a family ("payable", "payment"), and of the field ("capex").

Stems are of forms only, so that a search is exact. But a document that speaks of "abstentions" mentions who abstained,
and "capex" is "purchases of property, plant and equipment" in a cash-flow statement (`texts/field_terms.txt`).
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from functions.query.retrieval.search import QueryVariant
from functions.query.understanding.question import lines_of
from shared import lexical

MIN_ROOT = 4
"""Letters that two words of a family share at their beginning, at least."""
MIN_WORD = 3
"""The same where they go on with one of `_OF_SHORT_WORDS`, or nothing: "pay", "payment"."""

_OF_SHORT_WORDS = frozenset(("", "able", "ment", "ments"))
_CHANGED = tuple(
    (re.compile(letters), others)
    for letters, others in (
        ("tain", "ten"),
        ("ceiv", "cep"),
        ("scrib", "scrip"),
        ("acquir", "acquisi"),
        ("acquisit", "acquisi"),
        ("solv(?!en)", "solu"),
        ("sum(?!p)", "sump"),
        ("mit(?!ig|ment)", "mis"),
    )
)
"""Letters that change within an English family: "abstain", "abstention"; "receive", "reception"; "permit"."""


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


# --- terms of the field ---

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
