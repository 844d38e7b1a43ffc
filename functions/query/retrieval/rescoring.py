"""Rescoring: the best hits are scored again by whether their text has the question's words together and in its order.

BM25 cannot distinguish a page that defines "external clock drive" from one that uses the three words far apart. So each
candidate gets three bonuses that the index cannot compute:

    together   the share of the question's words inside the best window of `WINDOW_WORDS` words
    phrases    the share of the question's pairs of neighbouring words that follow each other in the text as well
    beside     the score of the better one of the two passages next to it

In `together`, a word's weight is its rarity in the language times its rarity among the candidates: a word that all of
them contain does not count. The factors were measured: see docs/decisions/0006-bm25-and-rescoring.md.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from functions.query.retrieval.passages import Passage
from shared import lexical

WINDOW_WORDS = 15
"""About a sentence."""
TOGETHER = 1.1
PHRASES = 1.0
BESIDE = 0.25
"""Factors of the bonuses, in units of cosine: fitted with each document left out in turn, then rounded."""
MIN_RARITY = 1.0
"""Commoner words are not looked for: "the", "of", "is"."""
MIN_PAIR_RARITY = 2.0
"""Commoner words belong to no pair."""
MAX_PAIR_DISTANCE = 3
"""Distance of a pair's words in the question at most: two small words between them."""

Occurrences = Sequence[tuple[int, str]]
"""Where stems of the question occur in a text: (position among its words, stem), in order."""


class TextScore(NamedTuple):
    """The three bonuses of one candidate."""

    together: float = 0.0
    phrases: float = 0.0
    beside: float = 0.0


def text_scores(question: str, language: str, passages: Sequence[Passage]) -> list[TextScore]:
    """Return the bonuses of each candidate's stored text. The passages come with their first scores."""
    terms = QueryTerms.of(question, language)
    found = _occurrences(terms, [passage.text for passage in passages])
    positions = [_positions(occurrences) for occurrences in found]
    holders = Counter(stem for each in positions for stem in each)
    weights = {stem: rarity * lexical.idf(len(passages), holders[stem]) for stem, rarity in terms.rarity.items()}
    all_words = sum(weights.values()) or 1.0
    all_pairs = sum(pair.weight for pair in terms.pairs) or 1.0
    scores = {(each.document_id, each.chunk_index): each.score for each in passages}
    return [
        TextScore(
            TOGETHER * _best_window(occurrences, weights) / all_words,
            PHRASES * sum(pair.weight for pair in terms.pairs if _has_pair(positions_of, pair)) / all_pairs,
            BESIDE * max(0.0, *(scores.get((each.document_id, each.chunk_index + step), 0.0) for step in (-1, 1))),
        )
        for each, occurrences, positions_of in zip(passages, found, positions, strict=True)
    ]


class _Pair(NamedTuple):
    """Two stems of the question, their greatest distance, and the rarity of the commoner one."""

    first: str
    second: str
    distance: int
    weight: float


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The stems of a question with their rarity, and the pairs of neighbouring ones."""

    rarity: Mapping[str, float]
    pairs: Sequence[_Pair]
    language: str
    latin: bool

    @classmethod
    def of(cls, question: str, language: str) -> "QueryTerms":
        """Read a question."""
        latin = is_latin(question)
        stems = [lexical.stem(word, language) for word in plain_words(question, latin=latin)]
        tables = [lexical.background(spoken) for spoken in dict.fromkeys((language, "en"))]
        rarity = {stem: min(table.get(stem, lexical.MAX_RARITY) for table in tables) for stem in stems}
        content = [at for at, stem in enumerate(stems) if rarity[stem] >= MIN_PAIR_RARITY]
        pairs = {
            (stems[first], stems[second]): second - first
            for first, second in pairwise(content)
            if second - first <= MAX_PAIR_DISTANCE
        }
        return cls(
            {stem: rare for stem, rare in rarity.items() if rare >= MIN_RARITY},
            [_Pair(*pair, distance, min(rarity[stem] for stem in pair)) for pair, distance in pairs.items()],
            language,
            latin,
        )


def _occurrences(terms: QueryTerms, texts: Sequence[str]) -> list[Occurrences]:
    """Find the question's stems; only words that begin like one of them are stemmed, each of them once."""
    beginnings = {stem[:2] for stem in terms.rarity}
    stem_of: dict[str, str] = {}
    found: list[Occurrences] = []
    for text in texts:
        positions_of = word_positions(text, terms.latin, beginnings)
        occurrences: list[tuple[int, str]] = []
        for beginning in beginnings:
            for word, positions in positions_of[beginning].items():
                stem = stem_of.get(word)
                if stem is None:
                    stem_of[word] = stem = lexical.stem(word, terms.language)
                if stem in terms.rarity:
                    occurrences += [(at, stem) for at in positions]
        found.append(sorted(occurrences))
    return found


def _best_window(occurrences: Occurrences, weights: Mapping[str, float]) -> float:
    """Return the greatest weight of the question's words that one window of the text holds."""
    best = held = 0.0
    counts = dict.fromkeys(weights, 0)
    first = 0
    for at, stem in occurrences:
        counts[stem] += 1
        if counts[stem] == 1:
            held += weights[stem]
        while occurrences[first][0] < at - WINDOW_WORDS:
            left = occurrences[first][1]
            counts[left] -= 1
            if counts[left] == 0:
                held -= weights[left]
            first += 1
        best = max(best, held)
    return best


def _positions(occurrences: Occurrences) -> Mapping[str, Sequence[int]]:
    positions: dict[str, list[int]] = {}
    for at, stem in occurrences:
        positions.setdefault(stem, []).append(at)
    return positions


def _has_pair(positions: Mapping[str, Sequence[int]], pair: _Pair) -> bool:
    """Say whether a text with stems at these positions has the pair in the question's order."""
    if pair.first not in positions or pair.second not in positions:
        return False
    before, after = positions[pair.first], set(positions[pair.second])
    return any(not after.isdisjoint([at + step for at in before]) for step in range(1, pair.distance + 1))


# --- The words of a text, without case and diacritics ---

_SPACED = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))
_WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+")


def plain_words(text: str, *, latin: bool = True) -> list[str]:
    """Return a text's words in order, in lower case and without diacritics.

    `latin` skips words of other scripts: ten times faster, for questions without such words.
    """
    return _latin_words(text) if latin else _WORD.findall(_folded(text).lower())


def is_latin(question: str) -> bool:
    """Say whether `plain_words` may skip other scripts: without diacritics, every letter is ASCII."""
    return all(character.isascii() for character in _folded(question) if character.isalnum())


def word_positions(text: str, latin: bool, beginnings: Set[str]) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """Map each of `beginnings` (first two letters) to a text's `plain_words` that begin so, and those to positions.

    Cached for 4,000 texts, because many questions find the same passages.
    """
    words, kept = _kept(text, latin)
    if not beginnings <= kept.keys():
        found: dict[str, dict[str, list[int]]] = {beginning: {} for beginning in beginnings}
        position = last = 0
        for match in _beginning_with(frozenset(beginnings)).finditer(words):
            position, last = position + words.count(" ", last, match.start()), match.start()
            word = match.group()[1:]
            found[word[:2]].setdefault(word, []).append(position)
        kept.update(found)
    return kept


@lru_cache(maxsize=4_000)
def _kept(text: str, latin: bool) -> tuple[str, dict[str, Mapping[str, Sequence[int]]]]:
    """Return a text's words with a space before each and after the last, and an empty table for their positions."""
    return f" {' '.join(plain_words(text, latin=latin))} ", {}


@lru_cache(maxsize=100)
def _beginning_with(beginnings: frozenset[str]) -> re.Pattern[str]:
    # A beginning of one letter is a whole word: there is no second one.
    return re.compile("|".join(f" {re.escape(each)}{'[^ ]*' if len(each) > 1 else '(?= )'}" for each in beginnings))


def _folded(text: str) -> str:
    return lexical.fold(unicodedata.normalize("NFKC", text))


def _latin_words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return text.encode("ascii", "recto.folding").translate(_SPACED).decode("ascii").split()


def _drop_marks(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    strange = error.object[error.start : error.end]
    return "".join("" if unicodedata.combining(character) else " " for character in strange), error.end


codecs.register_error("recto.folding", _drop_marks)
