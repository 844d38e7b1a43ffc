"""Abbreviations: what a statement says of a question in place of its words, as "DT" says "diagnostic test"."""

from collections.abc import Sequence

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
