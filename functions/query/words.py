"""Words as they are compared inside one answer: folded, stop words out, endings cut lightly."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

_WORD = re.compile(r"\d+(?:[.,]\d+)*%?|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[\u3040-\u30ff\u3400-\u9fff]", re.UNICODE)
_STOP_WORDS = frozenset((Path(__file__).parent / "texts" / "stop_words.txt").read_text(encoding="utf-8").split())
_ENDINGS = re.compile(r"(?:ies|ing|edly|ed|ly|es|s)$")


def terms_of(text: str) -> Counter[str]:
    """Count the words that carry meaning, folded to lower case without diacritics and with light English stemming."""
    return Counter(
        _folded(word)
        for word in _WORD.findall(text.lower())
        if word not in _STOP_WORDS and (len(word) > 1 or word > "z")
    )


def overlap(wanted: Mapping[str, int], found: Mapping[str, int]) -> float:
    """Return the share of the wanted words that were found, 0 to 1."""
    return sum(1 for term in wanted if term in found) / len(wanted) if wanted else 0.0


def bm25(
    query: Mapping[str, int], texts: Sequence[Mapping[str, int]], *, k1: float = 1.2, b: float = 0.5
) -> list[float]:
    """Score each text against the query by BM25 (Robertson and Zaragoza 2009), frequencies taken from these texts."""
    lengths = [sum(text.values()) for text in texts]
    mean = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
    frequency = Counter(term for text in texts for term in text)
    weight = {term: _idf(frequency[term], len(texts)) for term in query if term in frequency}
    return [
        sum(
            idf * text[term] * (k1 + 1) / (text[term] + k1 * (1 - b + b * length / mean))
            for term, idf in weight.items()
            if term in text
        )
        for text, length in zip(texts, lengths, strict=True)
    ]


def _idf(containing: int, total: int) -> float:
    return math.log(1 + (total - containing + 0.5) / (containing + 0.5))


def _folded(word: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    stem = _ENDINGS.sub("", plain)
    return stem if len(stem) >= 3 else plain
