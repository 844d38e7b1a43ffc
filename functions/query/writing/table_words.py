"""The words of questions, and of the tables and texts that answer them: what marks, dashes and negations say."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from functions.query.grounding.quantities import UP_TO_TWELVE
from functions.query.grounding.words import is_stop_word, stem_of
from functions.query.understanding.question import lines_of, without_contractions
from functions.query.understanding.vocabulary import are_of_family
from shared.lexical import fold
from shared.text import is_dash

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_LISTS: dict[str, list[str]] = {}
for _line in lines_of("selecting_words.txt"):
    _LISTS.setdefault(_line.split()[0], []).extend(fold(_line).lower().split()[1:])


def words_for(name: str) -> frozenset[str]:
    """Return a list of `texts/selecting_words.txt`, folded, in lower case."""
    return frozenset(_LISTS[name])


NO, NOT, EXCLUDES = (words_for(name) for name in ("no", "not", "excludes"))
DENIES = NO | NOT | words_for("denies")
"""Words that deny what is named behind them."""
YES, TICKS, CROSSES, NONE, FREE = (words_for(name) for name in ("yes", "ticks", "crosses", "none", "free"))
ASIDE, ANY_KIND, OPENS, OPENS_ALONE = (words_for(name) for name in ("aside", "any", "opens", "alone"))
ASKING = words_for("asking")
"""What questions say besides what they ask about: "how much", "findet … statt"."""
JOINS, TURNS, EITHER, HOLDS = (words_for(name) for name in ("joins", "turns", "either", "holds"))


COMPARED: Mapping[str, tuple[int, bool]] = {
    how.replace("_", " "): meant
    for name, meant in (("below", (-1, False)), ("above", (1, False)), ("most", (-1, True)), ("least", (1, True)))
    for how in sorted(words_for(name))
}
"""What compares, with the direction (1 up, -1 down), and whether the limit itself is meant."""
_AMOUNT = (
    rf"(?P<sign>[€$£]|(?:EUR|USD|GBP|CHF) )?\s?(?P<number>[-−–]?\d+(?:[.,:]\d+){{0,4}}|(?:{UP_TO_TWELVE})\b)\s?"
    r"(?P<unit>[€$£%]|[^\W\d_]+[²³]?)?"
)
"""A figure with its unit, or its currency before or behind it."""
_COMPARES = re.compile(
    rf"\b(?P<not>(?:no|not|nicht) )?(?P<how>{'|'.join(sorted(COMPARED, key=len, reverse=True))}) (?:the )?"
    rf"{_AMOUNT}",
    re.IGNORECASE,
)
"""A comparison with a figure: "less than 10 euros", "before 9:00"."""
_OR_MORE: Mapping[str, tuple[int, bool]] = {
    how: (direction, True) for name, direction in (("or_more", 1), ("or_less", -1)) for how in sorted(words_for(name))
}
_COMPARES_BEHIND = re.compile(
    rf"(?<![\w.,:-]){_AMOUNT} (?:or|oder|ou|o|ir|ar) (?P<how>{'|'.join(_OR_MORE)})\b(?! than)",
    re.IGNORECASE,
)
"""The same where the limit itself is meant: "100 euros or more"."""
_FIGURE = r"(?:[€$£]|(?:EUR|USD|GBP|CHF) )?\s?\d+(?:[.,:]\d+)*\s?[€$£%]?"
_BETWEEN = re.compile(
    rf"\b(?:between|zwischen|entre|tarp) (?P<low>{_FIGURE}) (?:and|und|et|y|ir) (?P<high>{_FIGURE}) ?"
    r"(?P<unit>[^\W\d_]+)?",
    re.IGNORECASE,
)


class AskedWord(NamedTuple):
    """A word or number of a question, folded, in lower case; its stem, and where it stands."""

    word: str
    key: str
    start: int
    end: int


class StatedLimit(NamedTuple):
    """A comparison with a figure: where it stands, the direction (1 up, -1 down), and whether the limit is meant."""

    found: re.Match[str]
    direction: int
    is_met: bool


def comparison_in(question: str) -> StatedLimit | None:
    """Return how a question compares with a figure: "less than 10 euros", "before 9:00", "10 euros or less"."""
    text = fold(question)
    if found := _COMPARES.search(text):
        direction, is_met = COMPARED[found["how"].lower()]
        return StatedLimit(found, -direction, True) if found["not"] else StatedLimit(found, direction, is_met)
    if found := _COMPARES_BEHIND.search(text):
        return StatedLimit(found, *_OR_MORE[found["how"].lower()])
    return None


def range_in(question: str) -> re.Match[str] | None:
    """Return where a question names a range of figures: "between €10 and €20"."""
    return _BETWEEN.search(fold(question))


def words_in(text: str, language: str) -> Sequence[AskedWord]:
    """Return the words and numbers of a text, in order."""
    return [
        AskedWord(word, stem_of(word, language), found.start(), found.end())
        for found in _TOKEN.finditer(text)
        for word in [fold(found.group()).lower()]
    ]


@lru_cache(maxsize=4_096)
def keys_of(text: str, language: str) -> tuple[str, ...]:
    """Return the stems of the words and numbers of a text, in order."""
    words = _TOKEN.findall(text)
    return tuple(stem_of(fold(word).lower(), language) for word in words)


def marks_for_yes(cells: Sequence[str]) -> frozenset[str]:
    """Return the marks of a column's cells (in lower case) that say yes: beside ticks a cross says no."""
    yes = frozenset(cell for cell in cells if cell in YES)
    return yes - CROSSES if yes & TICKS else yes


def says_no(cell: str, yes: frozenset[str]) -> bool:
    """Return whether a cell (in lower case) is empty, or says that there is none, in a column with these marks."""
    return not cell or is_dash(cell) or cell in NONE | (CROSSES - yes)


# --- what a question says is not so: "someone who does not live in the parish" ---

WORDS_AFTER = 4
"""Words behind a negation in which what it denies is looked for."""
WORDS_BEFORE = 3
"""Words before a word of a text in which what denies it is looked for."""
_DENIES_BEFORE = DENIES | {"non", "un"}


@lru_cache(maxsize=256)
def denied_words(question: str, language: str) -> tuple[AskedWord, ...]:
    """Return the content words that a question denies; none where it asks for one of two: "or not"."""
    text = without_contractions(question)
    words = words_in(text, language)
    found: list[AskedWord] = []
    for at, each in enumerate(words):
        if each.word not in NOT or (at and words[at - 1].word in EITHER | {"if", "why"}):
            continue
        last = each.end
        for other in words[at + 1 : at + 1 + WORDS_AFTER]:
            if other.word in JOINS or any(mark in text[last : other.start] for mark in ",;:.?–-"):
                break
            last = other.end
            if not is_stop_word(other.word):
                found.append(other)
    return tuple(found)


def agrees_on_denied(text: str, question: str, language: str, *, is_label: bool) -> bool | None:
    """Return whether a text denies, too, what a question denies; None if it does not speak of that.

    A sentence speaks of it with the first word that is denied: "has not answered my request". The label of a row may
    do so with any: "does not live in the parish".
    """
    denied = denied_words(question, language)
    denied = denied if is_label else denied[:1]
    words = words_in(text, language) if denied else ()
    spoken_of = False
    for at, each in enumerate(words):
        if not any(each.key == one.key or are_of_family(each.word, one.word, language) for one in denied):
            continue
        if any(before.word in _DENIES_BEFORE for before in words[max(0, at - WORDS_BEFORE) : at]):
            return True
        spoken_of = True
    return False if spoken_of else None
