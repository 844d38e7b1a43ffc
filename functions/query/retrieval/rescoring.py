"""A second look at the best hits, in their stored text: do the question's words stand together, in its order?

A sum over words cannot tell a page that defines "external clock drive" from one that uses the three words far apart.
So of each candidate three things are worked out that the index cannot know:

    together   the share of the question's words inside the best stretch of `STRETCH` words
    phrases    the share of the question's pairs of neighbouring words that follow each other there as well
    beside     how well the passage before or after it matches

For the first, a word weighs its rarity in the language times its rarity among the candidates: where all of them say
"refrigerator", the word tells nothing. What each is worth was measured: see docs/decisions/0006-bm25-and-rescoring.md.
"""

import codecs
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from functions.query.retrieval.passages import Passage
from shared import lexical

STRETCH = 15
"""Words of a stretch: about a sentence."""
TOGETHER = 1.1
PHRASES = 1.0
BESIDE = 0.25
"""Worth of each, in units of cosine: fitted with each document left out in turn, then rounded."""
TELLING = 1.0
"""Words less rare than this are not looked for: "the", "of", "is"."""
CONTENT = 2.0
"""Words less rare than this are in no pair."""
LONGEST_GAP = 3
"""How far apart in the question two words of a pair stand at most: with two small words between them."""

_SPACED = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))
_WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+")

Places = Sequence[tuple[int, str]]
"""Where in a text stems of the question stand: position among its words, stem; in order."""


def _folding(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    strange = error.object[error.start : error.end]
    return "".join("" if unicodedata.combining(character) else " " for character in strange), error.end


codecs.register_error("recto.folding", _folding)


def plain_words(text: str, *, latin: bool = True) -> list[str]:
    """Return a text's words in order, in lower case and without diacritics; all else separates.

    With `latin`, words of other scripts are left out: ten times faster, for questions that hold none.
    """
    if not latin:
        return _WORD.findall(lexical.fold(unicodedata.normalize("NFKC", text)).lower())
    return _spaced(text).split()


def _spaced(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return text.encode("ascii", "recto.folding").translate(_SPACED).decode("ascii")


def is_latin(question: str) -> bool:
    """Say whether `plain_words` may leave other scripts out: every letter is a plain one once its marks are off."""
    folded = lexical.fold(unicodedata.normalize("NFKC", question))
    return folded.isascii() or all(character.isascii() for character in folded if character.isalnum())


def word_positions(text: str, latin: bool, beginnings: Set[str]) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """Map each of `beginnings` (first two letters) to a text's `plain_words` that begin so, and those to their places.

    Both the words and what was found are kept for some thousand texts, because many questions find the same passages.
    """
    words, kept = _kept(text, latin)
    if not beginnings <= kept.keys():
        found: dict[str, dict[str, list[int]]] = {beginning: {} for beginning in beginnings}
        place = last = 0
        for match in _beginning_with(frozenset(beginnings)).finditer(words):
            place, last = place + words.count(" ", last, match.start()), match.start()
            word = match.group()[1:]
            found[word[:2]].setdefault(word, []).append(place)
        kept.update(found)
    return kept


@lru_cache(maxsize=4_000)
def _kept(text: str, latin: bool) -> tuple[str, dict[str, Mapping[str, Sequence[int]]]]:
    """Return a text's words, a space before each of them and behind the last, and an empty table."""
    words = f" {_spaced(text)} " if latin else f" {' '.join(plain_words(text, latin=False))} "
    while "  " in words:
        words = words.replace("  ", " ")
    return words, {}


@lru_cache(maxsize=100)
def _beginning_with(beginnings: frozenset[str]) -> re.Pattern[str]:
    # A beginning of one letter is a whole word: there is no second one.
    return re.compile("|".join(f" {re.escape(each)}{'[^ ]*' if len(each) > 1 else '(?= )'}" for each in beginnings))


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A question as it is looked for: how rare each of its telling stems is, and which pairs of them belong together.

    A pair maps to how far apart the two may stand.
    """

    rarity: Mapping[str, float]
    pairs: Mapping[tuple[str, str], int]
    language: str
    latin: bool

    @classmethod
    def of(cls, question: str, language: str) -> "QueryTerms":
        """Read a question."""
        latin = is_latin(question)
        stems = [lexical.stem(word, language) for word in plain_words(question, latin=latin)]
        tables = [lexical.background(spoken) for spoken in dict.fromkeys((language, "en"))]
        rare = {stem: min(table.get(stem, lexical.RAREST) for table in tables) for stem in stems}
        content = [at for at, stem in enumerate(stems) if rare[stem] >= CONTENT]
        pairs = {
            (stems[first], stems[second]): second - first
            for first, second in pairwise(content)
            if second - first <= LONGEST_GAP
        }
        return cls({stem: worth for stem, worth in rare.items() if worth >= TELLING}, pairs, language, latin)

    def worth_of(self, pair: tuple[str, str]) -> float:
        """Return the rarity of a pair's commoner word."""
        return min(self.rarity[pair[0]], self.rarity[pair[1]])


def text_scores(question: str, language: str, passages: Sequence[Passage]) -> list[float]:
    """Return what the stored text of each candidate adds to its score; `passages` are scored already."""
    asked = QueryTerms.of(question, language)
    found = _occurrences(asked, [passage.text for passage in passages])
    held = [{stem for _, stem in places} for places in found]
    holders = Counter(stem for stems in held for stem in stems)
    weights = {stem: worth * _rarity_here(holders[stem], len(passages)) for stem, worth in asked.rarity.items()}
    whole = sum(weights.values()) or 1.0
    pairs = sum(asked.worth_of(pair) for pair in asked.pairs) or 1.0
    return [
        TOGETHER * _together(places, weights) / whole + PHRASES * _phrases(asked, places, stems) / pairs + BESIDE * near
        for places, stems, near in zip(found, held, _beside(passages), strict=True)
    ]


def _occurrences(asked: QueryTerms, texts: Sequence[str]) -> list[Places]:
    """Find the question's stems; only words that begin like one of them are stemmed, each of them once."""
    beginnings = {stem[:2] for stem in asked.rarity}
    stem_of: dict[str, str] = {}
    found: list[Places] = []
    for text in texts:
        kept = word_positions(text, asked.latin, beginnings)
        places: list[tuple[int, str]] = []
        for beginning in beginnings:
            for word, positions in kept[beginning].items():
                stem = stem_of.get(word)
                if stem is None:
                    stem_of[word] = stem = lexical.stem(word, asked.language)
                if stem in asked.rarity:
                    places += [(at, stem) for at in positions]
        found.append(sorted(places))
    return found


def _rarity_here(holders: int, candidates: int) -> float:
    return math.log(1 + (candidates - holders + 0.5) / (holders + 0.5))


def _together(places: Places, weights: Mapping[str, float]) -> float:
    """Return the greatest weight of the question's words that one stretch of the text holds."""
    best = held = 0.0
    counts = dict.fromkeys(weights, 0)
    first = 0
    for at, stem in places:
        counts[stem] += 1
        if counts[stem] == 1:
            held += weights[stem]
        while places[first][0] < at - STRETCH:
            left = places[first][1]
            counts[left] -= 1
            if counts[left] == 0:
                held -= weights[left]
            first += 1
        best = max(best, held)
    return best


def _phrases(asked: QueryTerms, places: Places, stems: Set[str]) -> float:
    """Return the worth of the question's pairs that stand so in the text, which holds `stems`."""
    found = 0.0
    for (first, second), gap in asked.pairs.items():
        if first in stems and second in stems:
            before = [at for at, stem in places if stem == first]
            after = {at for at, stem in places if stem == second}
            if any(at + step in after for at in before for step in range(1, gap + 1)):
                found += asked.worth_of((first, second))
    return found


def _beside(passages: Sequence[Passage]) -> list[float]:
    """Return, for each candidate, the better score of the two passages next to it, as far as they are candidates."""
    scores = {(each.document_id, each.chunk_index): each.score for each in passages}
    return [
        max(0.0, *(scores.get((each.document_id, each.chunk_index + step), 0.0) for step in (-1, 1)))
        for each in passages
    ]
