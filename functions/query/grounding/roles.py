"""Checks who does what to whom: the order of words, and causes turned round or invented."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from functions.query.grounding.clauses import clauses_of
from functions.query.grounding.quantities import is_month
from functions.query.grounding.words import LONGEST_COMPARED_TOKENS, content_stems, stem_of, stems_of, tokens_of

# --- word order: only in English does it tell who did what to whom ---

MIN_SHARED_WORDS = 0.8
"""Share of a claim's content words that a sentence must contain for their order to be compared."""
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "isn't", "wasn't", "aren't", "weren't"))
_PARTICIPLE_ENDINGS = ("ed", "en", "wn")
_LIST_WORDS = frozenset(("and", "or", "as", "well", "both", "nor"))
_DIRECTION_WORDS = frozenset(("than", "from", "to"))
"""Stop words that carry a direction."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_SAYING = frozenset(("say", "said", "accord", "explain", "told", "tell", "add"))

WordPlace = tuple[int, int]
"""The index of a word in the claim, and in the sentence."""


def is_reversed(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim has a sentence's words in reverse order, and matches no sentence as it is.

    "B acquired A" reverses "A acquired B"; "B was acquired by A" does not, because the voice changes too.
    """
    if language.split("-")[0] != "en":
        return False
    said = tokens_of(claim)
    clauses = [clause.text for sentence in sentences for clause in clauses_of(sentence, language)]
    for texts in (clauses, sentences):
        found = [result for each in texts if (result := _is_reversed(said, tokens_of(each))) is not None]
        if found:
            return all(found)
    return False


def _is_reversed(said: tuple[str, ...], held: tuple[str, ...]) -> bool | None:
    """Compare a claim with one sentence; None if they share too few words."""
    if max(len(said), len(held)) > LONGEST_COMPARED_TOKENS:
        return None
    mine, theirs = _ordered_stems(said), _ordered_stems(held)
    if len(mine) < 3 or len({stem for _, stem in mine} & {stem for _, stem in theirs}) < MIN_SHARED_WORDS * len(mine):
        return None
    counts: dict[str, list[int]] = {}
    for at, stem in theirs:
        counts.setdefault(stem, []).append(at)
    once = {stem for stem in counts if sum(stem == each for _, each in mine) == 1 and len(counts[stem]) == 1}
    places = [(at, counts[stem][0]) for at, stem in mine if stem in once]
    my_agents, their_agents = _agents(said), _agents(held)
    return _changes_voice_only(said, held, places, my_agents, their_agents) or any(
        _any_between(my_agents, *here) == _any_between(their_agents, *there) for here, there in _reversals(said, places)
    )


def _reversals(said: Sequence[str], places: Sequence[WordPlace]) -> Iterator[tuple[WordPlace, WordPlace]]:
    """Yield the spans, in the claim and in the sentence, of three words that the sentence has in reverse order."""
    for middle in range(1, len(places) - 1):
        _, there = places[middle]
        before = [each for each in places[:middle] if each[1] > there]
        after = [each for each in places[middle + 1 :] if each[1] < there]
        if before and after:
            first, last = before[-1], after[0]
            between = said[first[0] + 1 : last[0]]
            if len(between) > 2 or not _LIST_WORDS.intersection(between):
                yield (first[0], last[0]), (last[1], first[1])


def _changes_voice_only(
    said: Sequence[str],
    held: Sequence[str],
    places: Sequence[WordPlace],
    my_agents: Sequence[int],
    their_agents: Sequence[int],
) -> bool:
    """Return whether only the voice changed: "A acquired B" → "A was acquired by B"."""
    for (_, first), (here, there), (_, last) in zip(places, places[1:], places[2:], strict=False):
        passive, was_passive = here + 1 in my_agents, there + 1 in their_agents
        if first < there < last and passive != was_passive:
            other, at = (held, there) if passive else (said, here)
            if not _BE.intersection(other[max(0, at - 3) : at]):
                return True
    return False


def _agents(tokens: Sequence[str]) -> Sequence[int]:
    """Return the indices of the word "by" after a passive ("was caused by", "caused by"), where it marks the agent."""
    return [
        at
        for at, word in enumerate(tokens)
        if word == "by"
        and not any(map(str.isdigit, "".join(tokens[at + 1 : at + 2])))
        and (_BE.intersection(tokens[max(0, at - 4) : at]) or tokens[at - 1].endswith(_PARTICIPLE_ENDINGS))
    ]


def _any_between(places: Sequence[int], start: int, end: int) -> bool:
    return any(start <= at <= end for at in places)


@lru_cache(maxsize=256)
def _ordered_stems(tokens: tuple[str, ...]) -> Sequence[tuple[int, str]]:
    """Return the words whose order matters; dates are left out, because they may come first or last."""
    return [
        (at, stem_of(word, "en"))
        for at, word in enumerate(tokens)
        if not (is_month(word) or _YEAR.fullmatch(word) or _is_day(tokens, at))
        and (word in _DIRECTION_WORDS or (content_stems(word, "en") and stem_of(word, "en") not in _SAYING))
    ]


def _is_day(tokens: Sequence[str], at: int) -> bool:
    if len(tokens[at]) > 2 or not tokens[at].isdigit():
        return False
    return any(map(is_month, (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 4])))


# --- causes ---

MIN_CAUSE_SHARE = 0.5
"""Share of the words of a claim with a cause that a sentence with one must contain to be compared with it."""
_CAUSE = re.compile(
    r"\b(?:because(?:\s+of)?|as(?=\s+(?:it|they|we|he|she)\b)|(?:due|owing|thanks)\s+(?:\w+\s+)?to|as\s+a\s+result\s+of|(?:caused|driven)\s+(?:\w+\s+)?by)\b",
    re.IGNORECASE,
)
_CAUSES = re.compile(
    r"\b(?:(?:cause|lead|drive|contribute|result)s?|caused|led|drove|contributed|resulted)\s+(?:(?:to|in)\s+)?",
    re.IGNORECASE,
)
"""What stands between an effect and its cause, and between a cause and its effect."""


def turns_cause(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim gives as the cause what its sentences give as the effect."""
    mine = _effect_and_cause(claim, language)
    held = [theirs for sentence in sentences if (theirs := _effect_and_cause(sentence, language))]
    found = [_turns_cause(mine, theirs) for theirs in held if _is_about(mine, theirs)] if mine else []
    return bool(found) and all(found)


def invents_cause(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim gives a cause ("because of"), and none of its sentences gives any."""
    return bool(_CAUSE.search(claim)) and not any(_CAUSE.search(each) or _CAUSES.search(each) for each in sentences)


def _is_about(mine: tuple[frozenset[str], frozenset[str]], theirs: tuple[frozenset[str], frozenset[str]]) -> bool:
    said = mine[0] | mine[1]
    return len(said & (theirs[0] | theirs[1])) >= MIN_CAUSE_SHARE * len(said)


def _effect_and_cause(text: str, language: str) -> tuple[frozenset[str], frozenset[str]] | None:
    found = _CAUSE.search(text) or _CAUSES.search(text)
    if found is None or not text[: found.start()].strip():
        return None
    first, second = stems_of(text[: found.start()], language), stems_of(text[found.end() :], language)
    return (first, second) if found.re is _CAUSE else (second, first)


def _turns_cause(mine: tuple[frozenset[str], frozenset[str]], theirs: tuple[frozenset[str], frozenset[str]]) -> bool:
    effect, cause = theirs[0] - theirs[1], theirs[1] - theirs[0]
    kept = len(mine[0] & effect) + len(mine[1] & cause)
    return len(mine[0] & cause) + len(mine[1] & effect) > kept
