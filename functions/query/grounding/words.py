"""Prepares words for comparison: stems, stop words, synonyms."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from functions.query.understanding.question import lines_of
from shared import lexical
from shared.lexical import fold

LONGEST_COMPARED_TOKENS = 150
"""Longer claims and sentences are not compared word by word, which takes quadratic time."""
MAX_SPELLED_OUT = 100
"""Characters before an abbreviation in brackets in which it may be spelled out."""
_SHORTEST_PREFIX = 5
"""Minimum common prefix of two forms of a word ("replace", "replacement")."""
_TOKEN = re.compile(r"(?:(?<!\d)[-−])?[$€£¥]?\d+(?:[.,:]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)?|\w+")
_ABBREVIATION = re.compile(r"\((?:the )?[“\"]?([A-Z]{2,6})s?[”\"]?\)")
"""An abbreviation where a text introduces it, in brackets."""
_BETWEEN_INITIALS = r"[^\W\d_]*[\s-]+(?:(?:of|and|the|for|in)\s+)?"
"""What stands between the initials of what an abbreviation is short for."""

WORD = re.compile(r"[^\W\d_]+")
"""A run of letters."""
STOP_WORDS = frozenset(lines_of("stop_words.txt"))
LONGEST_ENDING = 3
"""Letters that two forms of one word may differ at the end."""


def is_stop_word(word: str) -> bool:
    """Return whether a word (in lower case) is a stop word or a single letter."""
    return word in STOP_WORDS or (len(word) == 1 and "a" <= word <= "z")


def has_digit(text: str) -> bool:
    """Return whether a text has a digit."""
    return any(map(str.isdigit, text))


@lru_cache(maxsize=512)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return all words and numbers of a text, folded, in lower case, in order."""
    if text.isascii():
        return tuple(_TOKEN.findall(text.lower()))
    return tuple(fold(word).lower() for word in _TOKEN.findall(text))


@lru_cache(maxsize=4_096)
def content_stems(text: str, language: str = "en") -> Sequence[str]:
    """Return the stems of the content words and numbers, in order."""
    return tuple(chain.from_iterable(map(_kept_stems(language or "en").__getitem__, lexical.runs_of(text))))


@cache
def _kept_stems(language: str) -> Mapping[str, Sequence[str]]:
    """Map runs without spaces to the stems of their content words; kept, because all texts share most of them."""
    return lexical.KeptWords(lambda run: _stems_in(run, language))


def _stems_in(run: str, language: str) -> Sequence[str]:
    stems: list[str] = []
    for forms in lexical.words_of(run, language):
        # The first form and a lighter second one are the whole word; a part ("i" of "iPhone") makes no stop word.
        whole = forms[: 1 + (len(forms) > 1 and forms[1][1] < 1)]
        if not any(form in STOP_WORDS for form, _ in whole):
            # Weight 1 marks stems and identifiers with their parts; the other forms are only for the index.
            stems.extend(form for form, weight in forms if weight == 1.0 and not is_stop_word(form))
    return tuple(stems)


@lru_cache(maxsize=4_096)
def stems_of(text: str, language: str = "en") -> frozenset[str]:
    """Return the stems of the content words, without numbers."""
    return frozenset(stem for stem in content_stems(text, language) if not stem.isdigit())


@lru_cache(maxsize=8_192)
def stem_of(word: str, language: str) -> str:
    """Return the stem of a word; a stop word is returned unchanged."""
    stems = content_stems(word, language)
    return stems[0] if stems else word


def are_synonyms(word: str, other: str, language: str) -> bool:
    """Return whether two words (folded, in lower case) are forms of one word, or synonyms."""
    if word == other or stem_of(word, language) == stem_of(other, language):
        return True
    shorter = min(len(word), len(other))
    prefix = max(_SHORTEST_PREFIX, shorter - LONGEST_ENDING)
    if shorter >= _SHORTEST_PREFIX and word[:prefix] == other[:prefix]:
        return True
    return bool(_synonym_groups(word, language) & _synonym_groups(other, language))


def with_synonyms(stems: frozenset[str], held: frozenset[str], language: str) -> frozenset[str]:
    """Return the stems that have a synonym among `held`."""
    groups = _groups(language)
    known = frozenset().union(*(groups[stem] for stem in held if stem in groups))
    return frozenset(stem for stem in stems if known & groups.get(stem, frozenset()))


def other_words_of(stem: str, language: str) -> frozenset[str]:
    """Return the stems of words by which a document may call what a question calls by a word with this stem.

    Its synonyms, but for degrees, and everyday words. They help to find an answer, but make no claim true.
    """
    return _other_words(language).get(stem, frozenset())


def is_degree(word: str) -> bool:
    """Return whether a word (folded, in lower case) is a degree: "may", "all", "often"."""
    return word in _degrees()


@lru_cache(maxsize=8_192)
def _synonym_groups(word: str, language: str) -> frozenset[int]:
    groups, none = _groups(language), frozenset[int]()
    return groups.get(word, none) | groups.get(stem_of(word, language), none)


@cache
def _synonyms() -> Sequence[Sequence[str]]:
    return [fold(line).lower().split() for line in lines_of("synonyms.txt")]


@lru_cache(maxsize=8)
def _other_words(language: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in (*_synonyms(), *_everyday_words()):
        if line[0] != "=":
            stems = {stem_of(word, language) for word in line}
            for stem in stems:
                found.setdefault(stem, set()).update(stems - {stem})
    return {stem: frozenset(stems) for stem, stems in found.items()}


@cache
def _everyday_words() -> Sequence[Sequence[str]]:
    return [fold(line).lower().split() for line in lines_of("everyday_words.txt")]


@cache
def _degrees() -> frozenset[str]:
    return frozenset(word for line in _synonyms() if line[0] == "=" for word in line[1:])


@lru_cache(maxsize=8)
def _groups(language: str) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_synonyms()):
        for word in line:
            found.setdefault(word, set()).add(number)
            found.setdefault(stem_of(word, language), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


def spells_out(text: str, short: str) -> bool:
    """Return whether a text has, with capitals, what an abbreviation is short for: "Chief Executive Officer", "CEO"."""
    # Of most statements the letters alone tell, for less than a search.
    return all(map(text.__contains__, short)) and _spelled_out(short).search(text) is not None


@lru_cache(maxsize=1_000)
def abbreviations_in(text: str) -> Sequence[tuple[str, str]]:
    """Return the abbreviations that a text introduces, each with what it is short for: "diagnostic test (DT)"."""
    found = []
    for match in _ABBREVIATION.finditer(text):
        before = text[: match.start()][-MAX_SPELLED_OUT:].rstrip(' -“"')
        words = re.search(rf"{_spelled_out(match[1]).pattern}[^\W\d_]*\Z", before, re.IGNORECASE)
        if words:
            found.append((match[1], words.group()))
    return found


def spelled_out_for(claim: str, texts: Iterable[str], abbreviation: re.Pattern[str]) -> Iterator[str]:
    """Yield the words of a claim, in capitals or not, that an abbreviation of the texts is short for."""
    letters = claim.casefold()
    for short in {short for text in texts for short in abbreviation.findall(text)}:
        if all(map(letters.__contains__, short.casefold())):  # of most the letters alone tell, for less than a search
            pattern = rf"{_spelled_out(short).pattern}[^\W\d_]*"
            yield from (found.group() for found in re.finditer(pattern, claim, re.IGNORECASE))


@cache
def _spelled_out(short: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_BETWEEN_INITIALS.join(short)}")
