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
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, pairwise
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

Positions = Mapping[str, Sequence[int]]
"""Where stems stand among a text's words, in order."""


class TextScore(NamedTuple):
    """The three bonuses of one candidate."""

    together: float = 0.0
    phrases: float = 0.0
    beside: float = 0.0


def text_scores(question: str, language: str, passages: Sequence[Passage]) -> list[TextScore]:
    """Return the bonuses of each candidate's stored text, with the lines above its table.

    The passages come with their first scores.
    """
    terms, signs = QueryTerms.of(question, language), signs_of(language)
    wanted = [(stem, signs.of_stem(stem)) for stem in terms.rarity]
    found = []
    for passage in passages:
        text = signs.of_text(passage.whole, terms.latin)
        found.append({stem: positions_of(sign, text) for stem, sign in wanted if sign in text})
    holders = Counter(chain.from_iterable(found))
    weights = {stem: rarity * lexical.idf(len(passages), holders[stem]) for stem, rarity in terms.rarity.items()}
    all_words = sum(weights.values()) or 1.0
    all_pairs = sum(pair.weight for pair in terms.pairs) or 1.0
    score_at = {(each.document_id, each.chunk_index): each.score for each in passages}.get
    scores = []
    for passage, positions in zip(passages, found, strict=True):
        document, at = passage.document_id, passage.chunk_index
        beside = max(0.0, score_at((document, at - 1), 0.0), score_at((document, at + 1), 0.0))
        held = _best_window(positions, weights)
        paired = sum([pair.weight for pair in terms.pairs if _has_pair(positions, pair)])
        scores.append(TextScore(TOGETHER * held / all_words, PHRASES * paired / all_pairs, BESIDE * beside))
    return scores


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
            latin,
        )


def _best_window(positions: Positions, weights: Mapping[str, float]) -> float:
    """Return the greatest weight of the question's words that one window of the text holds."""
    if len(positions) < 2:
        return sum([weights[stem] for stem in positions])
    events = sorted([(at, stem) for stem, places in positions.items() for at in places])
    leaving = iter(events)
    first, gone = next(leaving)
    best = held = 0.0
    counts, missing = dict.fromkeys(positions, 0), len(positions)
    for at, stem in events:
        if not counts[stem]:
            held += weights[stem]
            missing -= 1
        counts[stem] += 1
        while first < at - WINDOW_WORDS:
            counts[gone] -= 1
            if not counts[gone]:
                held -= weights[gone]
                missing += 1
            first, gone = next(leaving)
        if held > best:
            best = held
        if not missing:  # no other window holds more
            break
    return best


def _has_pair(positions: Positions, pair: _Pair) -> bool:
    """Say whether a text with stems at these positions has the pair in the question's order."""
    before, after = positions.get(pair.first), positions.get(pair.second)
    if before is None or after is None:
        return False
    for at in before:
        following = bisect_right(after, at)
        if following < len(after) and after[following] - at <= pair.distance:
            return True
    return False


# --- The words of a text, without case and diacritics ---

_SPACED = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))
_WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+")


def plain_words(text: str, *, latin: bool = True) -> list[str]:
    """Return a text's words in order, in lower case and without diacritics; "ß" is "ss", as it is written elsewhere.

    `latin` skips words of other scripts: ten times faster, for questions without such words.
    """
    return _latin_words(text) if latin else _WORD.findall(_folded(text).lower())


def is_latin(question: str) -> bool:
    """Say whether `plain_words` may skip other scripts: without diacritics, every letter is ASCII."""
    return all(character.isascii() for character in _folded(question) if character.isalnum())


MAX_SIGNS = 60_000
"""Stems of a language until their signs are given anew: up to here a sign takes two bytes."""


class Signs:
    """A character for each stem of a language, its sign: in a text of signs a stem's places are found at once."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._of_stems: dict[str, str] = {}
        self._of_words = lexical.KeptWords(lambda word: self.of_stem(lexical.stem(word, language)))
        self._numbers = count()
        self.of_text = lru_cache(maxsize=4_000)(self._of_text)  # texts are found again

    def __len__(self) -> int:
        """Return the number of stems that have one."""
        return len(self._of_stems)

    def of_stem(self, stem: str) -> str:
        """Return a stem's sign."""
        sign = self._of_stems.get(stem)
        # The same for all threads: each number is drawn once, and `setdefault` keeps the first.
        return self._of_stems.setdefault(stem, chr(next(self._numbers))) if sign is None else sign

    def _of_text(self, text: str, latin: bool) -> str:
        """Return the sign of the stem of each of a text's `plain_words`."""
        return "".join(map(self._of_words.__getitem__, plain_words(text, latin=latin)))


_SIGNS: dict[str, Signs] = {}


def signs_of(language: str) -> Signs:
    """Return the signs of a language, new ones after `MAX_SIGNS`: only those of one `Signs` can be compared."""
    signs = _SIGNS.get(language)
    if signs is None or len(signs) >= MAX_SIGNS:
        signs = _SIGNS[language] = Signs(language)
    return signs


def positions_of(sign: str, text: str) -> Sequence[int]:
    """Return the places of a sign in a text of signs, in order."""
    places = []
    at = text.find(sign)
    while at >= 0:
        places.append(at)
        at = text.find(sign, at + 1)
    return places


@lru_cache(maxsize=400)
def words_by_beginning(text: str, latin: bool) -> Mapping[str, Set[str]]:
    """Map two letters to those of a text's `plain_words` that begin so; cached, because they are asked for twice."""
    words: defaultdict[str, set[str]] = defaultdict(set)
    for word in plain_words(text, latin=latin):
        words[word[:2]].add(word)
    return dict(words)


def _folded(text: str) -> str:
    return lexical.fold(unicodedata.normalize("NFKC", text)).replace("ß", "ss")


def _latin_words(text: str) -> list[str]:
    if text.isascii():
        plain = text.encode("ascii")
    else:
        text = unicodedata.normalize("NFKD", text).replace("ß", "ss")
        # Where there are no marks to drop, the codec's own "?" separates words as well, and takes no Python.
        has_marks = any(map(unicodedata.combining, set(text)))
        plain = text.encode("ascii", "recto.folding" if has_marks else "replace")
    return plain.translate(_SPACED).decode("ascii").split()


def _drop_marks(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    strange = error.object[error.start : error.end]
    return "".join("" if unicodedata.combining(character) else " " for character in strange), error.end


codecs.register_error("recto.folding", _drop_marks)
