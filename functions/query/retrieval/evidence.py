"""A second look at the best hits, in their stored text: do the question's words stand together, in its order?

A sum over words cannot tell a page that defines "external clock drive" from one that uses the three words far apart.
So of each candidate three things are worked out that the index cannot know:

    together   the share of the question's words inside the best stretch of `STRETCH` words
    phrases    the share of the question's pairs of neighbouring words that follow each other there as well
    beside     how well the passage before or after it matches

For the first, a word weighs its rarity in the language times its rarity among the candidates: where all of them say
"refrigerator", the word tells nothing. What each is worth was measured: see docs/decisions/0006-lexical-arm.md.
"""

import codecs
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
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
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return text.encode("ascii", "recto.folding").translate(_SPACED).decode("ascii").split()


def is_latin(question: str) -> bool:
    """Say whether `plain_words` may leave other scripts out: every letter is a plain one once its marks are off."""
    folded = lexical.fold(unicodedata.normalize("NFKC", question))
    return folded.isascii() or all(character.isascii() for character in folded if character.isalnum())


@lru_cache(maxsize=1_000)
def kept_words(text: str, latin: bool) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """Map the first two letters of a text's `plain_words` to the words that begin so, and those to where they stand.

    A thousand texts are kept, because many questions find the same passages.
    """
    kept: dict[str, dict[str, list[int]]] = {}
    for at, word in enumerate(plain_words(text, latin=latin)):
        kept.setdefault(word[:2], {}).setdefault(word, []).append(at)
    return kept


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is looked for: how rare each of its telling stems is, and which pairs of them belong together.

    A pair maps to how far apart the two may stand.
    """

    rarity: Mapping[str, float]
    pairs: Mapping[tuple[str, str], int]
    language: str
    latin: bool

    @classmethod
    def of(cls, question: str, language: str) -> "Asked":
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


def evidence(question: str, language: str, passages: Sequence[Passage]) -> list[float]:
    """Return what the stored text of each candidate adds to its score; `passages` are scored already."""
    asked = Asked.of(question, language)
    found = _occurrences(asked, [passage.text for passage in passages])
    held = [{stem for _, stem in places} for places in found]
    weights = {
        stem: worth * _rarity_here(sum(stem in stems for stems in held), len(passages))
        for stem, worth in asked.rarity.items()
    }
    return [
        TOGETHER * _together(places, weights) + PHRASES * _phrases(asked, places) + BESIDE * beside
        for places, beside in zip(found, _beside(passages), strict=True)
    ]


def _occurrences(asked: Asked, texts: Sequence[str]) -> list[Places]:
    """Find the question's stems; only words that begin like one of them are stemmed, each of them once."""
    beginnings = {stem[:2] for stem in asked.rarity}
    stem_of: dict[str, str] = {}
    found: list[Places] = []
    for text in texts:
        kept = kept_words(text, asked.latin)
        places: list[tuple[int, str]] = []
        for beginning in beginnings & kept.keys():
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
    """Return the greatest share, by weight, of the question's words that one stretch of the text holds."""
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
    return best / (sum(weights.values()) or 1.0)


def _phrases(asked: Asked, places: Places) -> float:
    """Return the share, by the rarity of the commoner word, of the question's pairs that stand so in the text."""
    if not asked.pairs:
        return 0.0
    positions: dict[str, list[int]] = {}
    for at, stem in places:
        positions.setdefault(stem, []).append(at)
    found = total = 0.0
    for (first, second), gap in asked.pairs.items():
        worth = min(asked.rarity[first], asked.rarity[second])
        total += worth
        if first in positions and second in positions:
            after = set(positions[second])
            if any(at + step in after for at in positions[first] for step in range(1, gap + 1)):
                found += worth
    return found / total


def _beside(passages: Sequence[Passage]) -> list[float]:
    """Return, for each candidate, the better score of the two passages next to it, as far as they are candidates."""
    scores = {(each.document_id, each.chunk_index): each.score for each in passages}
    return [
        max(0.0, *(scores.get((each.document_id, each.chunk_index + step), 0.0) for step in (-1, 1)))
        for each in passages
    ]
