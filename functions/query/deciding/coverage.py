"""How much of a question's words a passage holds: the half of relevance that similarity does not see.

A passage may be near to a question in meaning and yet be about another product, year or person. What it lacks then is a
rare word of the question. Words are compared by their stems, folded and in lower case, identifiers by their parts.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from functions.query.retrieval.evidence import is_latin, kept_words, plain_words
from functions.query.retrieval.passages import Passage
from shared import identity, lexical

_GROUPING = re.compile(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")
_LONG_NUMBER = re.compile(r"\d{4}|\d[,'’\u00a0\u202f]\d{3}")


@dataclass(frozen=True, slots=True)
class RareWords:
    """How rare the rare words of a question are, by stem (`lexical.background`, from `identity.COMMON` on).

    `latin` says that it holds none of another script; `grouped` that it holds a number that may be written grouped.
    """

    rarity: Mapping[str, float]
    language: str
    latin: bool
    grouped: bool

    @classmethod
    def of(cls, question: str, language: str) -> "RareWords":
        """Read a question."""
        plain = unicodedata.normalize("NFKC", question)
        latin, grouped = is_latin(question), bool(_LONG_NUMBER.search(plain))
        table = lexical.background(language) or lexical.background("en")
        words = plain_words(_GROUPING.sub("", question) if grouped else question, latin=latin)
        rarity = {stem: table.get(stem, lexical.RAREST) for stem in (lexical.stem(word, language) for word in words)}
        rare = {stem: worth for stem, worth in rarity.items() if worth >= identity.COMMON}
        return cls(rare, language, latin, grouped)

    @property
    def sum(self) -> float:
        """How much there is to go by."""
        return sum(self.rarity.values())


def coverage(rare: RareWords, passage: Passage) -> float | None:
    """Return the share, by rarity, of a question's rare words that the passage, its section or its name holds: 0 to 1.

    None where words cannot be compared: the question has no rare ones, or the passage is in another language.
    """
    if not rare.rarity or (passage.language and rare.language and passage.language != rare.language):
        return None
    around = f"{passage.section}\n{identity.name_of(passage.title, passage.key)}"
    # Only words that begin like one that is looked for are stemmed: that is ten times faster.
    beginnings = {stem[:2] for stem in rare.rarity}
    if rare.grouped:
        words = plain_words(_GROUPING.sub("", f"{passage.text}\n{around}"), latin=rare.latin)
    else:
        kept = kept_words(passage.text, rare.latin, beginnings)
        words = [word for beginning in beginnings for word in kept[beginning]]
        words += plain_words(around, latin=rare.latin)
    held = {lexical.stem(word, rare.language) for word in set(words) if word[:2] in beginnings}
    return sum(worth for stem, worth in rare.rarity.items() if stem in held) / rare.sum
