"""One tokenizer for ingest and query, and BM25 as sparse vectors.

A chunk's sparse vector holds, per term, BM25's saturated and length-normalised term frequency (Robertson and Zaragoza
2009); a question's holds the IDF of its terms. Their dot product is a BM25 score, so one dot-product index serves dense
and lexical search. IDF comes from a background table of the language, not from the tenant's documents, because a
chunk's vector must not change when another document is added. On 27 PDFs this scored no worse than corpus frequencies.

A word gives several terms, so that a missing diacritic or another ending still matches, and the exact form ranks
higher:

    the stem of the folded word    1      "Įmonės" → "imon", "wrote" → "write"
    the folded word                0.3    "imones"
    the word as written            0.3    "įmonės"
    an identifier, whole           1      "cve-2025-1234", in addition to its parts
    its parts, if run together     0.5    "8052ah" → "8052", "ah": people also write "8052 AH"
"""

import math
import re
import sys
import unicodedata
import zlib
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain
from operator import mul
from pathlib import Path
from typing import NamedTuple

import Stemmer

from shared.models import SparseVector

K1 = 1.2
B = 0.6
AVERAGE_LENGTH = 250.0
"""Words of an average chunk. A constant, because a chunk's vector must not depend on other chunks."""
FORM_WEIGHT = 0.3
PART_WEIGHT = 0.5
MAX_RARITY = 7.0
"""IDF of a word that is not in the background table; the table leaves out words rarer than this."""
MAX_TERMS = 1_000
"""Maximum non-zero values of a sparse vector (Pinecone's limit for sparse-dense vectors)."""

_BACKGROUND = Path(__file__).parent / "background"
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "lt": "lithuanian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_TOKEN = re.compile(
    r"""(?P<number> [-+]?\d{1,3}(?:[,\u00a0\u202f'’]\d{3})+(?:\.\d+)?%?(?![\w-]) | [-+]?\d+(?:[.,]\d+)?%?(?![\w-]) )
      | (?P<identifier> [^\W_]+(?:[-._/:@&+][^\W_]+|_+[^\W_]+)+ )
      | (?P<cjk> [\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+ )
      | (?P<word> [^\W_]+(?:['’][^\W\d_]+)? )
    """,
    re.VERBOSE,
)
_PART = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d{1,2}%?")
_GROUPING = re.compile(r"[,\u00a0\u202f'’]")

MAX_KEPT_CHARACTERS = 40
"""Longest word that is kept: longer ones rarely recur, and CJK has no spaces."""
MAX_KEPT_WORDS = 50_000
"""Words of each language whose terms, and whose stems, are kept."""

_CODE_BYTES = array("I").itemsize

Term = tuple[str, float]
"""A term and the weight of one occurrence."""


def document_vector(text: str, *, language: str = "en", context: Sequence[tuple[str, float]] = ()) -> SparseVector:
    """Return a chunk's sparse vector.

    `context` are texts that belong to it (title, section, …), each with the weight of its words; they do not count
    towards the length.
    """
    counts: defaultdict[str, float] = defaultdict(float)
    reads, length = _reads_of(language), 0
    for number, (part, worth) in enumerate(((text, 1.0), *context)):
        for run in runs_of(part):
            read = reads[run]
            length += 0 if number else len(read.words)
            for term, weight in read.terms:
                counts[term] += worth * weight
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    by_index: defaultdict[int, float] = defaultdict(float)
    for term, count in counts.items():
        by_index[_index_of(term)] += count
    return _sparse({index: count * (K1 + 1) / (count + norm) for index, count in by_index.items()})


def score(
    query: Mapping[int, float], text: str, *, language: str = "en", context: Sequence[tuple[str, float]] = ()
) -> float:
    """Return the dot product of a question's sparse vector and `document_vector(text, …)`, but several times faster."""
    wanted = [(index, index.to_bytes(_CODE_BYTES, sys.byteorder)) for index in query]
    counts: dict[int, float] = {}
    length = most = 0
    for number, (part, worth) in enumerate(((text, 1.0), *context)):
        counted = _counted(part, language)
        most += counted.terms
        length += 0 if number else counted.words
        for index, code in wanted:
            at = counted.codes.find(code)
            while at >= 0:
                place, apart = divmod(at, _CODE_BYTES)
                if not apart:
                    counts[index] = counts.get(index, 0.0) + worth * counted.weight_at(place)
                at = counted.codes.find(code, at + 1)
    if most > MAX_TERMS:
        # The stored vector may have been cut to its heaviest terms.
        stored = document_vector(text, language=language, context=context)
        return sum(query[index] * value for index, value in zip(*stored, strict=True) if index in query)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return sum(query[index] * round(count * (K1 + 1) / (count + norm), 4) for index, count in counts.items())


def query_vector(text: str, *, language: str = "en") -> SparseVector:
    """Return a question's sparse vector: the IDF of each term. English stems are included."""
    by_index: dict[int, float] = {}
    for term, weight in term_weights(text, language=language).items():
        index = _index_of(term)
        by_index[index] = max(by_index.get(index, 0.0), weight)
    return _sparse(by_index)


def term_weights(text: str, *, language: str = "en") -> dict[str, float]:
    """Map the terms of a question to their weight times their IDF, 0 to `MAX_RARITY`."""
    weights: dict[str, float] = {}
    for spoken in dict.fromkeys((language, "en")):
        table = background(spoken)
        for token in _TOKEN.finditer(_normalized(text)):
            for term, weight in _terms(token, spoken):
                worth = weight * table.get(term, MAX_RARITY)
                weights[term] = min(worth, weights.get(term, worth))
    return weights


@cache
def background(language: str) -> Mapping[str, float]:
    """Return the IDF of a language's terms: -ln of the share of 200-word texts with the term; empty if unknown.

    `python -m evals.research.background` makes the tables from wordfreq (CC BY-SA 4.0).
    """
    path = _BACKGROUND / f"{language}.tsv"
    if not path.exists():
        return {}
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {term: float(rarity) for term, rarity in rows}


def idf(texts: int, holders: int) -> float:
    """Return BM25's IDF of a word that occurs in `holders` of `texts` texts."""
    return math.log(1 + (texts - holders + 0.5) / (holders + 0.5))


def rarity(frequency: float, length: float = 200.0) -> float:
    """Return -ln of the share of texts of `length` words that contain a word of this relative frequency."""
    share = -math.expm1(-frequency * length)
    return -math.log(share) if share > 0 else math.inf


def fold(text: str) -> str:
    """Return the text without diacritics: "Žąsis" → "Zasis"."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", _NOT_ASCII.sub(_without_combining, plain))


def _without_combining(run: re.Match[str]) -> str:
    return "".join([character for character in run[0] if not unicodedata.combining(character)])


def words_of(text: str, language: str = "en") -> Iterator[Sequence[Term]]:
    """Yield the terms of each word, number or identifier of a text, in order."""
    reads = _reads_of(language)
    return chain.from_iterable(reads[run].words for run in runs_of(text))


def terms_of(text: str, language: str = "en") -> Iterator[Term]:
    """Yield every term of a text, in order, with its weight."""
    for terms in words_of(text, language):
        yield from terms


def runs_of(text: str) -> list[str]:
    """Return the runs of a text without spaces, in order: what is kept of words (`KeptWords`) is kept by them."""
    return _normalized(text).split()


def _normalized(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


class _Read(NamedTuple):
    """The words in a run without spaces, each as its terms; all terms; how many they are, and the terms' `codes`.

    A code is a term's index in four bytes.
    """

    words: Sequence[Sequence[Term]]
    terms: Sequence[Term]
    word_count: int
    term_count: int
    codes: bytes


class _Counted(NamedTuple):
    """How many words and terms a text has, and its different runs without spaces, each with how often it occurs.

    `codes` are those of all runs, among which a term is found at once; `ends` says how many terms there are up to the
    end of each run.
    """

    words: int
    terms: int
    runs: Sequence[_Read]
    times: Sequence[int]
    codes: bytes
    ends: Sequence[int]

    def weight_at(self, place: int) -> float:
        """Return the weight of all occurrences of a term, by its place among the indices."""
        number = bisect_right(self.ends, place)
        return self.times[number] * self.runs[number].terms[place - self.ends[number]][1]


@lru_cache(maxsize=400)
def _counted(text: str, language: str) -> _Counted:
    """Count a text's words; cached (some 25 kB each), because many questions find the same passages."""
    counts = Counter(runs_of(text))
    reads, times = _reads_of(language), [*counts.values()]
    runs = [reads[word] for word in counts]
    term_counts = [run.term_count for run in runs]
    return _Counted(
        words=sum(map(mul, times, [run.word_count for run in runs])),
        terms=sum(map(mul, times, term_counts)),
        runs=runs,
        times=times,
        codes=b"".join([run.codes for run in runs]),
        ends=array("I", accumulate(term_counts)),
    )


def _read(word: str, language: str) -> _Read:
    words = tuple(tuple(_terms(token, language)) for token in _TOKEN.finditer(word))
    terms = words[0] if len(words) == 1 else tuple(chain.from_iterable(words))
    codes = array("I", (_index_of(term) for term, _ in terms)).tobytes()
    return _Read(words, terms, len(words), len(terms), codes)


def _terms(token: re.Match[str], language: str) -> Iterator[Term]:
    text = token.group()
    match token.lastgroup:
        case "word":
            yield from _word(text, language)
            if not text.islower() and not text.isupper() and len(parts := _CAMEL.split(text)) > 1:
                for part in parts:
                    yield from _word(part, language)
        case "number":
            plain = text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else _GROUPING.sub("", text)
            yield plain.strip("+-%"), 1.0
        case "identifier":
            yield text.lower(), 1.0
            for part in _PART.findall(text):
                yield from _word(part, language)
        case _:
            # CJK is written without spaces: pairs of characters serve as words.
            yield from ((text[at : at + 2], 1.0) for at in range(max(1, len(text) - 1)))


class KeptWords[T](dict[str, T]):
    """What is made of words, each kept until there are `MAX_KEPT_WORDS`: texts share most of their words."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> T:
        made = self._make(word)
        if len(word) <= MAX_KEPT_CHARACTERS:
            if len(self) >= MAX_KEPT_WORDS:
                self.clear()
            self[word] = made
        return made


@cache
def _reads_of(language: str) -> Mapping[str, _Read]:
    return KeptWords(lambda word: _read(word, language))


def _irregular(language: str) -> Mapping[str, str]:
    """Map irregular forms to the word that they are forms of: "wrote" to "write" (English; chosen from WordNet's list).

    Left out are helpers ("was"), and forms that are as often a word of their own ("ground", "left") or a regular form
    of another one ("lives" of "live").
    """
    if language != "en":
        return {}
    lines = Path(__file__).with_name("irregular_words.txt").read_text("utf-8").splitlines()
    return {form: word for word, *forms in map(str.split, lines[1:]) for form in forms}


def is_irregular_form(word: str) -> bool:
    """Return whether a lower-case English word is an irregular form of another: "found", "alumni"."""
    return word in _irregular("en")


@cache
def _stems_of(language: str) -> Mapping[str, str]:
    name = _STEMMERS.get(language, "english")
    stemmer, irregular = Stemmer.Stemmer(name), _irregular(language)
    return KeptWords(lambda word: word if word.isdigit() else str(stemmer.stemWord(irregular.get(word, word))))


def stem(folded: str, language: str) -> str:
    """Return the stem of a folded, lower-case word, of "write" for "wrote"; numbers are returned unchanged."""
    return _stems_of(language)[folded]


@lru_cache(maxsize=50_000)
def _word(word: str, language: str) -> tuple[Term, ...]:
    written = word.lower().replace("’", "'").removesuffix("'s")
    folded = fold(written)
    forms = {stem(folded, language): 1.0}
    for form in (folded, written):
        forms.setdefault(form, FORM_WEIGHT)
    if not folded.isalpha() and len(parts := _PART.findall(folded)) > 1:
        for part in parts:
            if len(part) > 1:
                forms.setdefault(stem(part, language), PART_WEIGHT)
    return tuple(forms.items())


def _index_of(term: str) -> int:
    """Return a term's index. Two that share one are taken for one term: 1 of 10,000 texts of 900 terms has such."""
    return zlib.crc32(term.encode())


def _sparse(values: Mapping[int, float]) -> SparseVector:
    """Return the sparse vector of the heaviest values."""
    if len(values) > MAX_TERMS:
        values = dict(sorted(values.items(), key=lambda each: -each[1])[:MAX_TERMS])
    indices = sorted(index for index, value in values.items() if value > 0)
    return SparseVector(indices, [round(values[index], 4) for index in indices])
