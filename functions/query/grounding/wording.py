"""Who did it to whom: a claim that has a sentence's words, turned round.

English says by the order of words what other languages say by endings, so only English is looked at. "A acquired B" and
"B acquired A" have the same words in reverse; "B was acquired by A" is in reverse too, but in the other voice.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from functions.query.grounding.polarity import are_opposite, is_negation
from functions.query.grounding.quantities import canonical, is_month, is_number_word, is_unit
from functions.query.grounding.restatement import MOST_WORDS, tokens_of
from functions.query.grounding.words import are_synonyms, content_stems, is_degree, is_stop_word, stem_of

# --- a claim that keeps a sentence's wording but changes a word ---

NEAR = 0.6
"""Share of a claim's words, in order, from which on it is taken to keep a sentence's wording."""
WHOLE = 0.9
"""Share of a sentence's words from which on a claim is taken to repeat it, whatever is put before or behind it."""
AS_NEAR = 0.1
"""A sentence that is less near than the nearest by so much does not tell."""
LONGEST_EXCHANGE = 4
"""Content words that may be exchanged together; more of them are a paraphrase."""
SHORTEST_CLAUSE = 6
_CLAUSE = re.compile(r"[;:—]\s|,?\s(?:and|while|whereas|but|bei|tačiau)\s")
_MODALS = frozenset(("may", "might", "can", "could", "must", "shall", "should", "will", "would", "need"))
"""Words that may be put in where there is none: "Replace the filter" is "The filter must be replaced"."""
_JOINING = frozenset(
    (
        *(
            "additionally",
            "also",
            "furthermore",
            "moreover",
            "however",
            "therefore",
            "thus",
            "hence",
            "overall",
            "further",
        ),
        *("specifically", "namely", "respectively", "instead", "likewise", "accordingly", "finally", "like"),
        *("according", "document", "documents", "source", "sources", "text", "section", "page", "table", "report"),
        *(
            "says",
            "said",
            "states",
            "stated",
            "mentions",
            "notes",
            "following",
            "follows",
            "based",
            "example",
            "instance",
        ),
        *(
            "further",
            "instance",
            "called",
            "take",
            "takes",
            "taken",
            "st",
            "nd",
            "rd",
            "th",
            "pagal",
            "taip",
            "pat",
            "todel",
            "taigi",
        ),
    )
)
"""Words that join claims, or say where they stand, and nothing else."""

_ROUGHLY = frozenset(("about", "approximately", "around", "roughly", "nearly", "almost", "between", "circa", "apie"))
"""What may stand before a number or not; whether it is near enough is judged with the number."""
_ROMAN = re.compile(r"[ivx]+")
_PERIODS = frozenset(("min", "h", "day", "week", "month", "year"))
_NOT_ALWAYS_NUMBERS = frozenset(
    ("one", "million", "billion", "thousand", "hundred", "first", "second", "third", "fourth", "fifth")
)
"""Number words that facts do not always have: alone they are compared as words."""

Held = Callable[[str], bool]


def is_altered(claim: str, sentences: Sequence[str], held: Held, language: str) -> bool:
    """Say whether a claim is one of the sentences with a word exchanged or put in.

    `held` says whether a stem stands elsewhere in the passage, its titles or the question: such a word may be put in
    for a pronoun.
    """
    said = tokens_of(claim)
    if not said or len(said) > MOST_WORDS:
        return False
    verdict = _verdict(said, sentences, held, language)
    if verdict is not None:
        return verdict
    parts = [tokens_of(part) for part in _CLAUSE.split(claim)]
    return len(parts) > 1 and any(
        _verdict(part, sentences, held, language) for part in parts if len(part) >= SHORTEST_CLAUSE
    )


def _verdict(said: Sequence[str], sentences: Sequence[str], held: Held, language: str) -> bool | None:
    """Judge some words by the sentences nearest to them; None if none is near."""
    mine = [stem_of(word, language) for word in said]
    found: list[tuple[float, bool]] = []
    everywhere = frozenset(word for sentence in sentences for word in tokens_of(sentence))
    for sentence in sentences:
        theirs = tokens_of(sentence)
        if not theirs or len(theirs) > MOST_WORDS:
            continue
        stems = [stem_of(word, language) for word in theirs]
        among = set(stems)
        if sum(stem in among for stem in mine) < min(NEAR * len(mine), WHOLE * len(stems)):
            continue
        matcher = SequenceMatcher(None, mine, stems, autojunk=False)
        equal = sum(block.size for block in matcher.get_matching_blocks())
        near = max(equal / len(mine), equal / len(stems) if equal >= WHOLE * len(stems) else 0.0)
        if near >= NEAR:
            pair = _Pair(said, theirs, mine, stems, held, everywhere, language)
            found.append((near, any(pair.strange(matcher.get_opcodes()))))
    nearest = max((near for near, _ in found), default=0.0)
    return all(strange for near, strange in found if near > nearest - AS_NEAR) if found else None


class _Pair:
    """A claim's words and a sentence's, with their stems."""

    def __init__(
        self,
        said: Sequence[str],
        theirs: Sequence[str],
        said_stems: Sequence[str],
        their_stems: Sequence[str],
        held: Held,
        everywhere: frozenset[str],
        language: str,
    ) -> None:
        self._everywhere = everywhere
        self._said, self._theirs = said, theirs
        self._said_stems, self._their_stems = said_stems, their_stems
        self._held = held
        self._negated = sum(map(is_negation, said)) % 2 != sum(map(is_negation, theirs)) % 2
        self._language = language

    def strange(self, steps: Sequence[tuple[str, int, int, int, int]]) -> Iterator[bool]:
        """Yield True for each word that was exchanged for one that means another thing, or put in from nowhere."""
        for at, (kind, start, end, other, other_end) in enumerate(steps):
            if kind not in {"replace", "delete"}:  # seen from the sentence: it would have to lose a claim's own words
                continue
            mine = [word for word in self._said[start:end] if self._counts(word)]
            theirs = [word for word in self._theirs[other:other_end] if self._counts(word) or _is_fact(word)]
            yield _is_other_number(self._said[start:end], self._theirs[other:other_end])
            if not theirs:
                yield from (True for word in mine if self._is_put_in(word))
            elif len(mine) <= LONGEST_EXCHANGE and not _is_number(mine, theirs):
                single = len(mine) == len(theirs) == 1 and self._is_tight(steps, at)
                yield from (True for word in mine if self._is_exchanged(word, theirs, single))

    def _counts(self, word: str) -> bool:
        """Say whether a word means something by itself that nobody else compares."""
        if is_degree(word):
            return True
        if is_negation(word) or word in _ROUGHLY or (_is_fact(word) and word not in _NOT_ALWAYS_NUMBERS):
            return False
        return not is_stop_word(word)

    def _is_put_in(self, word: str) -> bool:
        if word in _MODALS or word in _JOINING or self._stands(word) or word in self._everywhere:
            return False
        return is_degree(word) or word in _NOT_ALWAYS_NUMBERS or not self._held(stem_of(word, self._language))

    def _is_exchanged(self, word: str, theirs: Sequence[str], single: bool) -> bool:
        if any(are_synonyms(word, other, self._language) for other in theirs):
            return False
        if self._negated and are_opposite([word], theirs):
            return False
        if not self._stands(word):
            return True
        # It stands elsewhere in the sentence: moved, or taken from there to say another thing.
        return single and stem_of(theirs[0], self._language) not in self._said_stems

    def _stands(self, word: str) -> bool:
        return any(are_synonyms(word, other, self._language) for other in self._theirs)

    def _is_tight(self, steps: Sequence[tuple[str, int, int, int, int]], at: int) -> bool:
        """Say whether the words before and behind a step are the same in both texts, or both texts end there."""
        kind, start, end, _, _ = steps[at - 1] if at else ("", 0, 0, 0, 0)
        before = at == 0 or (kind == "equal" and (start == 0 or end - start >= 2))
        after = at == len(steps) - 1 or steps[at + 1][0] == "equal"
        return before and after


def _is_fact(word: str) -> bool:
    return any(map(str.isdigit, word)) or is_number_word(word) or is_unit(word) or is_month(word)


def _is_other_number(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether numbers that are no facts stand for one another: "one", Roman ones, "per month" for "per year"."""
    if "one" in mine:
        return not {"one", "1"}.intersection(theirs) and any(map(_is_countable, theirs))
    if len(mine) == len(theirs) == 1 and _ROMAN.fullmatch(mine[0]) and _ROMAN.fullmatch(theirs[0]):
        return True
    periods, other_periods = _PERIODS.intersection(map(canonical, mine)), _PERIODS.intersection(map(canonical, theirs))
    return bool(periods and other_periods) and not periods & other_periods


def _is_countable(word: str) -> bool:
    return word.isdigit() or is_number_word(word)


def _is_number(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether one number is written in two ways: "3rd" and "third"; facts compare them."""
    return any(any(map(str.isdigit, word)) for word in theirs) and all(map(_is_fact, mine))


HELD = 0.8
"""Share of a claim's content words that a sentence must hold to be the one that the claim turns round."""
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "isn't", "wasn't", "aren't", "weren't"))
_JOINING_ORDER = frozenset(("and", "or", "as", "well", "both", "nor"))
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
    return len(between) <= 2 and bool(_JOINING_ORDER.intersection(between))


def _content(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    for at, token in enumerate(tokens):
        if is_month(token) or re.fullmatch(r"(?:19|20)\d\d", token) or _is_day(tokens, at):
            continue  # when it was may be said first or last
        if token in _BETWEEN or (content_stems(token, "en") and stem_of(token, "en") not in _SAYING):
            yield at, stem_of(token, "en")


def _is_day(tokens: Sequence[str], at: int) -> bool:
    near = (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 4])
    return len(tokens[at]) <= 2 and tokens[at].isdigit() and any(map(is_month, near))
