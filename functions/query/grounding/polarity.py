"""Does a claim say the opposite of the sentence it is proven by? Negations and opposites, by their words."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from functions.query.grounding.words import content_stems, stems_of
from shared.lexical import fold

Flip = Literal["", "likely", "certain"]
LIKELY = 0.6
CERTAIN = 0.75
"""Share of a claim's content words that a sentence must hold to be the one whose opposite the claim may be."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "ne", "nebe")
_AUXILIARY = frozenset(
    (
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "ca",
        "wo",
        "would",
        "should",
        "could",
        "must",
    )
)


def _read() -> tuple[frozenset[str], dict[str, set[tuple[int, int]]]]:
    negations: frozenset[str] = frozenset()
    sides: dict[str, set[tuple[int, int]]] = {}
    text = (Path(__file__).parents[1] / "texts" / "opposites.txt").read_text(encoding="utf-8")
    for number, line in enumerate(each for each in text.splitlines() if each and not each.startswith("#")):
        groups = [group.split() for group in line.split("|")]
        if groups[0][:1] == ["not"]:
            negations = frozenset(groups[0])
            continue
        for side, words in enumerate(groups):
            for word in words:
                sides.setdefault(word, set()).add((number, side))
    return negations, sides


_NEGATIONS, _SIDES = _read()


def is_negation(word: str) -> bool:
    """Say whether a word (folded, in lower case) negates."""
    return word in _NEGATIONS or (word.endswith(("n't", "nt")) and word[:-2].rstrip("'n") in _AUXILIARY)


def flipped(claim: str, sentences: Sequence[str], language: str) -> Flip:
    """Say whether a claim turns round the sentence it is nearest to.

    "certain" when nearly all its content words stand there with one negation more or fewer, or with the opposite of one
    of them in its place; "likely" when most do. Sentences that share little with the claim prove nothing either way.
    """
    said = frozenset(content_stems(claim, language)) - _negation_stems(language)
    judged = [verdict for each in sentences if (verdict := _judged(claim, each, said, language)) is not None]
    # One sentence that agrees is enough: a source may say a thing in two ways.
    return max(judged, key=("likely", "certain").index) if judged and all(judged) else ""


def _judged(claim: str, sentence: str, said: frozenset[str], language: str) -> Flip | None:
    """Judge a claim by one sentence; None when the two have too little in common to tell."""
    mine, theirs = _tokens(claim), _tokens(sentence)
    if _without_negations(mine) == _without_negations(theirs):
        return "certain" if _negations(mine) % 2 != _negations(theirs) % 2 else ""
    if len(said) < 2:
        return None
    held = frozenset(content_stems(sentence, language))
    share = len(said & held) / len(said)
    # A word that stands there as its opposite is no word that the sentence lacks.
    turned = {word for word in mine if _opposes(word, mine, theirs)}
    rest = said - {stem for word in turned for stem in content_stems(word, language)}
    share_of_rest = len(rest & held) / len(rest) if len(rest) > 1 else share
    if max(share, share_of_rest) < LIKELY:
        return None
    negated, opposite = _differs(mine, theirs, said, language)
    if not negated and not opposite:
        return ""
    if negated and opposite and not _is_negation_itself(mine, theirs):
        return "likely"  # "not allowed" is "prohibited"
    repeated = len(set(mine) & set(theirs)) / max(1, len(set(mine)))
    # A negation that a claim brings along is nobody else's; one that it lacks may be put in other words.
    added = _negations(mine) > 0 and not _negations(theirs)
    return "certain" if added or max(share, share_of_rest, repeated) >= CERTAIN else "likely"


def are_opposite(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether some word (folded, in lower case) of one text has its opposite in the other, in either direction."""
    return any(_opposes(word, mine, theirs) for word in mine) or any(_opposes(word, theirs, mine) for word in theirs)


def _differs(mine: Sequence[str], theirs: Sequence[str], said: frozenset[str], language: str) -> tuple[bool, bool]:
    """Say whether one of two texts has a negation more, and whether one has the opposite of a word of the other."""
    begin, end = _stretch(theirs, said, language)
    inside = theirs[begin:end]
    wide = theirs[max(0, begin - 3) : end + 2]
    negated = _negations(mine) % 2 not in {_negations(part) % 2 for part in (inside, wide, theirs)}
    return negated, are_opposite(mine, wide)


def _is_negation_itself(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether the only opposites are negations themselves: "with" and "without"."""
    return not are_opposite(_without_negations(mine), _without_negations(theirs))


def _opposes(word: str, mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether the other text has the opposite of a word, where this one has it, and not the word itself."""
    if word in theirs:
        return False
    if any(f"{prefix}{word}" in theirs and f"{prefix}{word}" not in mine for prefix in _PREFIXES):
        return True
    for pair, side in _SIDES.get(word, ()):
        same = any((pair, side) in _SIDES.get(other, ()) for other in theirs)
        opposite = any((pair, 1 - side) in _SIDES.get(other, ()) for other in theirs)
        opposite_here = any((pair, 1 - side) in _SIDES.get(other, ()) for other in mine)
        if opposite and not same and not opposite_here:
            return True
    return False


def _stretch(tokens: Sequence[str], said: frozenset[str], language: str) -> tuple[int, int]:
    """Return the shortest part of a sentence that holds all it has of a claim's words; the rest says other things."""
    places = [
        (at, stem) for at, token in enumerate(tokens) for stem in said.intersection(content_stems(token, language))
    ]
    wanted = {stem for _, stem in places}
    best = (0, len(tokens))
    for first, (begin, _) in enumerate(places):
        lacking = set(wanted)
        for at, stem in places[first:]:
            lacking.discard(stem)
            if not lacking:
                if at + 1 - begin < best[1] - best[0]:
                    best = (begin, at + 1)
                break
    return best


def _negations(tokens: Sequence[str]) -> int:
    return sum(map(is_negation, tokens))


def _without_negations(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in _NEGATIONS]


@lru_cache(maxsize=1_024)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_token_list(text))


def _token_list(text: str) -> Iterator[str]:
    for match in _WORD.finditer(fold(text).lower().replace("’", "'")):
        yield match.group()


@lru_cache(maxsize=8)
def _negation_stems(language: str) -> frozenset[str]:
    return frozenset(stem for word in _NEGATIONS for stem in stems_of(word, language))
