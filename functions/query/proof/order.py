"""Who did it to whom: a claim that has a sentence's words, turned round.

English says by the order of words what other languages say by endings, so only English is looked at. "A acquired B" and
"B acquired A" have the same words in reverse; "B was acquired by A" is in reverse too, but in the other voice.
"""

import re
from collections.abc import Iterator, Sequence

from functions.query.proof.dates import is_month
from functions.query.proof.echoes import MOST_WORDS, tokens_of
from functions.query.proof.synonyms import stem_of
from functions.query.proof.words import content_stems

HELD = 0.8
"""Share of a claim's content words that a sentence must hold to be the one that the claim turns round."""
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "isn't", "wasn't", "aren't", "weren't"))
_JOINING = frozenset(("and", "or", "as", "well", "both", "nor"))
_BETWEEN = frozenset(("than", "from", "to"))
"""Words without a meaning of their own that tell which is which."""
_SAYING = frozenset(("say", "said", "state", "accord", "note", "report", "explain", "told", "tell", "add", "claim"))


Place = tuple[int, int]
"""Where a word stands in the claim, and where in the sentence."""


def is_reversed(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Say whether a claim has the words of a sentence in reverse order, and of no sentence as they stand."""
    if language.split("-")[0] != "en":
        return False
    said = tokens_of(claim)
    verdicts = [verdict for each in sentences if (verdict := _judged(said, tokens_of(each))) is not None]
    return bool(verdicts) and all(verdicts)


def _judged(said: Sequence[str], held: Sequence[str]) -> bool | None:
    if max(len(said), len(held)) > MOST_WORDS:
        return None
    mine, theirs = list(_content(said)), list(_content(held))
    if len(mine) < 3 or len({stem for _, stem in mine} & {stem for _, stem in theirs}) < HELD * len({*mine}):
        return None
    counts: dict[str, list[int]] = {}
    for at, stem in theirs:
        counts.setdefault(stem, []).append(at)
    once = {stem for stem in counts if sum(stem == each for _, each in mine) == 1 and len(counts[stem]) == 1}
    places = [(at, counts[stem][0]) for at, stem in mine if stem in once]
    my_agents, their_agents = _agents(said), _agents(held)
    return _turned_voice(said, held, places, my_agents, their_agents) or any(
        _any_between(my_agents, *here) == _any_between(their_agents, *there) for here, there in _reversals(said, places)
    )


def _reversals(said: Sequence[str], places: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    """Yield from where to where three words go that stand the other way round in the sentence, here and there."""
    for middle in range(1, len(places) - 1):
        _, there = places[middle]
        before = [each for each in places[:middle] if each[1] > there]
        after = [each for each in places[middle + 1 :] if each[1] < there]
        if before and after and not _is_list(said, before[-1][0], after[0][0]):
            yield (before[-1][0], after[0][0]), (after[0][1], before[-1][1])


def _turned_voice(
    said: Sequence[str],
    held: Sequence[str],
    places: Sequence[Place],
    my_agents: Sequence[int],
    their_agents: Sequence[int],
) -> bool:
    """Say whether the voice changed and nothing else: "A acquired B" → "A was acquired by B"."""
    for (_, first), (here, there), (_, last) in zip(places, places[1:], places[2:], strict=False):
        passive, was_passive = here + 1 in my_agents, there + 1 in their_agents
        if first < there < last and passive != was_passive:
            other, at = (held, there) if passive else (said, here)
            if not _BE.intersection(other[max(0, at - 3) : at]):
                return True
    return False


def _agents(tokens: Sequence[str]) -> Sequence[int]:
    """Return where it is told by whom something is done."""
    return [
        at
        for at, token in enumerate(tokens)
        if token == "by"  # noqa: S105 - a word
        and not any(map(str.isdigit, "".join(tokens[at + 1 : at + 2])))
        and _BE.intersection(tokens[max(0, at - 4) : at])
    ]


def _any_between(places: Sequence[int], start: int, end: int) -> bool:
    return any(start <= at <= end for at in places)


def _is_list(said: Sequence[str], first: int, last: int) -> bool:
    between = said[first + 1 : last]
    return len(between) <= 2 and bool(_JOINING.intersection(between))


def _content(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    for at, token in enumerate(tokens):
        if is_month(token) or re.fullmatch(r"(?:19|20)\d\d", token) or _is_day(tokens, at):
            continue  # when it was may be said first or last
        if token in _BETWEEN or (content_stems(token, "en") and stem_of(token, "en") not in _SAYING):
            yield at, stem_of(token, "en")


def _is_day(tokens: Sequence[str], at: int) -> bool:
    near = (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 4])
    return len(tokens[at]) <= 2 and tokens[at].isdigit() and any(map(is_month, near))
