"""Abbreviations and signs: "DT" said for "diagnostic test", and what N of "What does N mean?" stands for."""

import re
from collections.abc import Sequence
from functools import lru_cache

from functions.query.grounding.words import abbreviations_in, content_stems, spells_out
from functions.query.retrieval.passages import Passage
from functions.query.writing.asked import Asked
from functions.query.writing.statements import Statement

MIN_SPELLED_OUT = 0.6
"""Minimum share of the words that an abbreviation is short for, in the question, for it to stand for them."""

_NO_STEMS: frozenset[str] = frozenset()


class Abbreviated:
    """The abbreviations of a question and its passages: what a statement says in them, or in place of them."""

    def __init__(self, asked: Asked, passages: Sequence[Passage]) -> None:
        self._asked = asked.abbreviations
        self._short_for: dict[str, frozenset[str]] = {}
        for passage in passages:
            language = passage.language or "en"
            wanted = frozenset(content_stems(asked.text, language))
            for short, words in abbreviations_in(passage.text):
                stems = frozenset(content_stems(words, language))
                if len(stems & wanted) >= MIN_SPELLED_OUT * len(stems):
                    self._short_for |= dict.fromkeys(content_stems(short, language), stems & wanted)

    def said_in(self, statement: Statement) -> frozenset[str]:
        """Return the question's words that a statement abbreviates, and the abbreviations that it spells out."""
        if not self._asked and not self._short_for:
            return _NO_STEMS
        names = self._short_for.keys() & frozenset(statement.stems) if self._short_for else ()
        spelled = (short for short in self._asked if spells_out(statement.text, short))
        words = (content_stems(short, statement.language) for short in spelled)
        return _NO_STEMS.union(*(self._short_for[stem] for stem in names), *words)


# --- what a sign means ---

_SIGN = r"[A-Z]{1,3}\d?|[^\w\s?\"“”'‘’«»„]"
_ASKS = re.compile(
    r"(?P<english>(?i:\bwhat (?:does|do)))"
    r"|(?i:\b(?:was (?:bedeutet|heißt)|wofür steht|que (?:signifie|veut dire)|qué significa|ką reiškia))"
)
_NAMED = re.compile(
    r"\s(?i:(?:the|an?|der|die|das|la|el|le|une?)\s)?"
    r"(?i:(?:letter|code|symbol|mark|sign|abbreviation|buchstabe|zeichen|kürzel|abkürzung|lettre|signe|letra|signo|raidė"
    rf"|ženklas)\s)?[\"“'‘«„]?(?P<sign>{_SIGN})[\"”'’»“]?(?!\w)(?P<rest>.*)",
    re.DOTALL,
)
_MEAN = re.compile(r"\s(?:mean|stand for)\b")
_EXPLAINS = (
    r"(?:\s?[=:]\s?|\s[–—-]\s|\s(?:means?|stands? for|bedeutet|steht für|signifie|veut dire|significa|reiškia)\s)\S"
)


@lru_cache(maxsize=256)
def sign_asked(question: str) -> str:
    """Return the letters or the mark that a question asks the meaning of; empty if it asks for that of none."""
    if (asks := _ASKS.search(question)) is None or (named := _NAMED.match(question, asks.end())) is None:
        return ""
    return "" if asks["english"] and not _MEAN.match(named["rest"]) else named["sign"]


def explains(text: str, sign: str) -> bool:
    """Return whether a text says what a sign means: "N = night", "– means that …", "(S) sesame"."""
    letters = re.escape(sign)
    pattern = rf"(?<![\w{letters}]){letters}[\"”'’]?{_EXPLAINS}|\({letters}\)\s\w"
    return re.search(pattern, text) is not None
