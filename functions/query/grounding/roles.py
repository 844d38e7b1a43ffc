"""Checks who does what to whom, why, when and how certainly, and what is compared with what."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache

from functions.query.grounding.clauses import clauses_of
from functions.query.grounding.polarity import direction_of
from functions.query.grounding.words import (
    LONGEST_COMPARED_TOKENS,
    are_synonyms,
    content_stems,
    has_digit,
    stem_of,
    stems_of,
    tokens_of,
)
from functions.query.understanding.question import word_lists
from shared import identity
from shared.dates import RECENT_YEAR, is_month, is_year

# --- word order: only in English does it tell who did what to whom ---

MIN_SHARED_WORDS = 0.8
"""Share of a claim's content words that a sentence must contain for their order to be compared."""
_BE = word_lists("claim_words.txt")["be"]
_PARTICIPLE_ENDINGS = ("ed", "en", "wn")
_VERB = re.compile(r"(?:ed|ing|en|wn|[^su]s|\d)\Z")
"""Endings of words that may say what one thing does to another; a number may stand between what it is of."""
_LIST_WORDS = frozenset(("and", "or", "both", "nor"))
_DIRECTION_WORDS = frozenset(("than", "from", "to"))
"""Stop words that carry a direction."""
_RELATING = word_lists("claim_words.txt")["relating"]
"""Words that may stand between two things to tell how they are related."""
_SAYING = frozenset(("say", "accord", "explain", "tell", "add"))
"""Stems of verbs that only tell who says something."""

WordPlace = tuple[int, int]
"""The index of a word in the claim, and in the sentence."""
MIN_WORDS = 3
"""Content words of a claim whose roles are compared."""
BEFORE_VERB = 3
"""Words before a participle among which its auxiliary verb stands."""
_MANNER = frozenset(stem_of(word, "en") for word in word_lists("claim_words.txt")["manner"])
"""Words behind "by" that tell how something is done, or that anybody does it."""
LONGEST_AGENT = 8
"""Words after "by" that may name who acts."""
AFTER_MONTH = 3
"""Words behind a number among which a month makes it a date."""


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
    if len(mine) < MIN_WORDS or len({stem for _, stem in mine} & {stem for _, stem in theirs}) < MIN_SHARED_WORDS * len(
        mine
    ):
        return None
    counts: dict[str, list[int]] = {}
    for at, stem in theirs:
        counts.setdefault(stem, []).append(at)
    once = {stem for stem in counts if sum(stem == each for _, each in mine) == 1 and len(counts[stem]) == 1}
    places = [(at, counts[stem][0]) for at, stem in mine if stem in once]
    my_agents, their_agents = _agents(said, once), _agents(held, once)
    exchange = _exchange(said, places)
    if exchange is not None:
        here, there = exchange
        return _any_between(my_agents, *here) == _any_between(their_agents, *there)
    return _changes_voice_only(said, held, places, my_agents, their_agents)


def _exchange(said: Sequence[str], places: Sequence[WordPlace]) -> tuple[WordPlace, WordPlace] | None:
    """Return the spans, in a claim and in its sentence, of two parts that are exchanged around words that relate them.

    None if the rest is in another order, too, as in a paraphrase, or if nothing between them says what one is to the
    other ("its fourth album, Renegades").
    """
    theirs = [there for _, there in places]
    ordered = sorted(theirs)
    changed = [at for at, pair in enumerate(zip(theirs, ordered, strict=True)) if pair[0] != pair[1]]
    if not changed:
        return None
    start, stop = changed[0], changed[-1] + 1
    mine, kept = theirs[start:stop], ordered[start:stop]
    last, first = kept.index(mine[-1]) + 1, kept.index(mine[0])
    middle = kept[last:first]
    if not middle or mine != [*kept[first:], *middle, *kept[:last]]:
        return None
    here = (places[start][0], places[stop - 1][0])
    after = len(kept) - first  # words of the part that now stands first
    between = said[places[start + after - 1][0] + 1 : places[start + after + len(middle)][0]]
    are_numbers = all(said[places[at][0]].isdigit() for at in (start, stop - 1))
    acted = [said[at].endswith(_PARTICIPLE_ENDINGS) for at, _ in places[start:stop]]
    acts = any(acted[after : after + len(middle)]) and not any((*acted[:after], *acted[after + len(middle) :]))
    is_list = not acts and (not _LIST_WORDS.isdisjoint(between) or "as well as" in " ".join(between))
    relates = any(word in _DIRECTION_WORDS or word in _RELATING for word in between)
    if are_numbers or relates or (not is_list and any(map(_VERB.search, between))):
        return here, (kept[0], kept[-1])
    return None


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
            if not _BE.intersection(other[max(0, at - BEFORE_VERB) : at]):
                return True
    return False


def _agents(tokens: Sequence[str], shared: Set[str]) -> Sequence[int]:
    """Return the indices of the word "by" after a passive ("was caused by") of a shared verb: it marks the agent."""
    return [
        at
        for at, word in enumerate(tokens)
        if word == "by"
        and any(stem_of(each, "en") in shared for each in tokens[max(0, at - BEFORE_VERB) : at])
        and not has_digit("".join(tokens[at + 1 : at + 2]))
        and (
            _BE.intersection(tokens[max(0, at - BEFORE_VERB - 1) : at]) or tokens[at - 1].endswith(_PARTICIPLE_ENDINGS)
        )
    ]


def names_other_agent(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether somebody else acts in a claim than the one by whom a sentence says that it is done.

    "The tenant decides" of "is decided by the landlord"; "paid by the tenant" of "paid by the landlord".
    """
    if language.split("-")[0] != "en":
        return False
    said = tokens_of(claim)
    stems = frozenset(stem_of(word, "en") for word in said if content_stems(word, "en"))
    found = [result for each in sentences if (result := _has_other_agent(said, stems, tokens_of(each))) is not None]
    return bool(found) and all(found)


def _has_other_agent(said: tuple[str, ...], stems: Set[str], held: tuple[str, ...]) -> bool | None:
    """Compare with one sentence; None if it names nobody by whom something is done that the claim tells."""
    for at in _agents(held, stems):
        agent = _words_after(held, at)
        verb = stem_of(held[at - 1], "en") if at else ""
        if verb not in stems:
            continue
        places = [place for place, word in enumerate(said) if stem_of(word, "en") == verb]
        if not agent or not places or agent & _MANNER:
            continue
        acts = any(agent & _words_after(said, place) for place, word in enumerate(said) if word == "by")
        if acts or agent & {stem_of(word, "en") for word in said[: places[0]]}:
            return False
        mine = [_words_after(said, by) for by in _agents(said, {verb})] or [_subject_before(said, places[0])]
        if mine[0] and not any(are_synonyms(one, other, "en") for one in mine[0] for other in agent):
            return True
    return None


def _words_after(tokens: Sequence[str], at: int) -> frozenset[str]:
    """Return the stems of the words of the group that begins after a "by"."""
    found: list[str] = []
    for word in tokens[at + 1 : at + 1 + LONGEST_AGENT]:
        if content_stems(word, "en"):
            found.append(stem_of(word, "en"))
        elif found and word in {"of", "and", "or"}:
            continue
        elif word not in {"the", "a", "an", "its", "their", "his", "her", "our", "your"} or found:
            break
    return frozenset(found)


def _subject_before(tokens: Sequence[str], at: int) -> frozenset[str]:
    """Return the stems of the words before a verb in the active voice; none if it is passive."""
    if _BE.intersection(tokens[max(0, at - BEFORE_VERB) : at]):
        return frozenset()
    return frozenset(stem_of(word, "en") for word in tokens[:at] if content_stems(word, "en"))


def _any_between(places: Sequence[int], start: int, end: int) -> bool:
    return any(start <= at <= end for at in places)


@lru_cache(maxsize=256)
def _ordered_stems(tokens: tuple[str, ...]) -> Sequence[tuple[int, str]]:
    """Return the words whose order matters; dates are left out, because they may come first or last."""
    return [
        (at, stem_of(word, "en"))
        for at, word in enumerate(tokens)
        if not (is_month(word) or is_year(word) or _is_day(tokens, at))
        and (word in _DIRECTION_WORDS or (content_stems(word, "en") and stem_of(word, "en") not in _SAYING))
    ]


def _is_day(tokens: Sequence[str], at: int) -> bool:
    if len(tokens[at]) > 2 or not tokens[at].isdigit():
        return False
    return any(map(is_month, (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 1 + AFTER_MONTH])))


# --- causes ---

MIN_CAUSE_SHARE = 0.5
"""Share of the words of a claim with a cause that a sentence with one must contain to be compared with it."""
_CAUSE = re.compile(
    r"\b(?:because(?:\s+of)?|(?<!soon\s)(?<!long\s)(?<!far\s)as(?=\s+(?:it|they|we|he|she)\b)"
    r"|(?:due|owing|thanks)\s+(?:\w+\s+)?to|as\s+a\s+result\s+of|result(?:s|ed|ing)?\s+from|(?:caused|driven)\s+(?:\w+\s+)?by)\b",
    re.IGNORECASE,
)
_CAUSES = re.compile(
    r"\b(?:(?:cause|drive)s?|caused|drove|(?:leads?|led|contribute[sd]?)(?=\s+to\b)|resulted"
    r"|(?:which|that|this|may|can|will)\s+results?(?=\s+in\b))"
    r"\s+(?:(?:to|in)\s+)?",
    re.IGNORECASE,
)
"""What stands between an effect and its cause, and between a cause and its effect."""
_IMPLIES = re.compile(
    r"\b(?:resulting|(?:which|that|this)\s+(?:makes|means|allows)|so|therefore|thus|hence|since|as(?!\s+(?:an?|of|to|for|soon|long|much|many|well|far)\b)|reasons?|why)\b",
    re.IGNORECASE,
)
"""Other words of a sentence that gives a cause."""
_TIME = re.compile(r"\b(?:before|after|(?:hour|day|week|month|year)s?\s+from)\b", re.IGNORECASE)


def turns_cause(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim gives as the cause what its sentences give as the effect."""
    mine = _effect_and_cause(claim, language)
    held = [theirs for sentence in sentences if (theirs := _effect_and_cause(sentence, language))]
    found = [_turns_cause(mine, theirs) for theirs in held if _is_about(mine, theirs)] if mine else []
    return bool(found) and all(found)


def invents_cause(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim gives a cause ("because of") and none of its sentences does."""
    found = _CAUSE.search(claim)
    ways = (_CAUSE, _CAUSES, _IMPLIES)
    return found is not None and not any(way.search(each) for each in sentences for way in ways)


def turns_time(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim puts before what its sentences put after."""
    mine = _first_and_second(claim, language)
    held = [theirs for sentence in sentences if (theirs := _first_and_second(sentence, language))]
    found = (
        [
            _turns_cause(mine, theirs) and not mine[0].isdisjoint(theirs[1]) and not mine[1].isdisjoint(theirs[0])
            for theirs in held
            if _is_about(mine, theirs)
        ]
        if mine
        else []
    )
    return bool(found) and all(found)


_DATE = rf"(?:[^\W\d_]{{3,9}}\.? (?:\d{{1,2}}, )?)?{identity.YEAR}"
_SPAN = re.compile(rf"\bfrom ({_DATE}) (?:to|until|through) ({_DATE})", re.IGNORECASE)


_MOVED = re.compile(
    r"\b(?:from|von|de|del|du|da|dal) (\d[\d.,]*\d|\d)(?: ?[%€$£]| [^\W\d_]+)? (?:to|auf|a|à|au|al) (\d[\d.,]*\d|\d)",
    re.IGNORECASE,
)
"""From one number to another."""


def turns_span(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim exchanges the beginning and the end of a time or a move that its sentences name."""
    for pattern in (_SPAN, _MOVED):
        held = {found.groups() for sentence in sentences for found in pattern.finditer(sentence)}
        if any(found.groups()[::-1] in held and found.groups() not in held for found in pattern.finditer(claim)):
            return True
    return False


def _first_and_second(text: str, language: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the words of what is before and of what is after in a text with one "before" or "after"."""
    found = list(_TIME.finditer(text))
    if len(found) != 1:
        return None
    before, after = text[: found[0].start()], text[found[0].end() :]
    if not before.strip():
        after, _, before = after.partition(",")
    first, second = stems_of(before, language), stems_of(after, language)
    if not first or not second:
        return None
    return (first, second) if found[0].group().lower() == "before" else (second, first)


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


# --- time and certainty of a verb ---

_CHAIN = word_lists("claim_words.txt")["chain"]
"""Words that may stand between an auxiliary and its verb, besides adverbs."""
_MODES = {
    **dict.fromkeys(("may", "might", "could"), "possible"),
    **dict.fromkeys(("will", "shall"), "future"),
    "must": "duty",
    **dict.fromkeys(("was", "were", "has", "have", "had"), "past"),
}
"""How an auxiliary says that something happens."""
_HAVE = frozenset(("have", "has", "had"))
"""Auxiliaries that before "to" tell a duty."""
_EXCLUDED = frozenset(
    (("possible", "future"), ("possible", "duty"), ("possible", "past"), ("future", "past"), ("past", "future"))
)
"""Modes of a verb in a sentence and in a claim of which the second is not true because the first is."""
_LONGEST_CHAIN = 5
"""Words before a verb among which its auxiliary is looked for."""


def turns_mode(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim says that something has happened, or must, that its sentences say will or may happen."""
    if language.split("-")[0] != "en":
        return False
    stated = claim.partition(" whether ")[0]  # "whether it will" leaves it open
    mine = {stem: modes for stem, modes in _modes_in(stated).items() if "" not in modes}
    theirs = [_modes_in(sentence) for sentence in sentences] if mine else []
    for stem, modes in mine.items():
        held = frozenset().union(*(each.get(stem, frozenset()) for each in theirs))
        if held and all((there, here) in _EXCLUDED for there in held for here in modes):
            return True
    return False


@lru_cache(maxsize=512)
def _modes_in(text: str) -> dict[str, frozenset[str]]:
    """Return the modes in which each verb with an auxiliary stands; "" for a word that has none."""
    tokens = tokens_of(text)
    found: dict[str, set[str]] = {}
    for at, word in enumerate(tokens):
        if content_stems(word, "en"):
            found.setdefault(stem_of(word, "en"), set()).add(_mode_of(tokens, at))
    return {stem: frozenset(modes) for stem, modes in found.items()}


def _mode_of(tokens: Sequence[str], at: int) -> str:
    """Return the mode of the word at a place: that of its first auxiliary."""
    mode = ""
    for index in reversed(range(max(0, at - _LONGEST_CHAIN), at)):
        word = tokens[index]
        if word in {"is", "are"}:
            return ""
        if word in _MODES and not (mode and _MODES[word] == "past"):
            mode = "duty" if word in _HAVE and tokens[index + 1] == "to" else _MODES[word]
        if (mode not in {"", "past"} and word not in _HAVE) or not (
            word in _MODES or word in _CHAIN or word.endswith("ly")
        ):
            break
    return mode


# --- alternatives and comparisons ---

_BOTH = re.compile(
    r"\bboth\s+(?:(?:an?|the)\s+)?([\w-]+)(?:\s+\w+)?\s+and\s+(?:(?:an?|the)\s+)?([\w-]+)", re.IGNORECASE
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_FREE_TO_CHOOSE = re.compile(r"\b(?:may|can|could|allowed|permitted|entitled)\b", re.IGNORECASE)
"""Words with which "or" means both: "Adults or children may use it"."""
_ALSO_BOTH = re.compile(r"\b(?:and|both|as well as)\b", re.IGNORECASE)


def joins_alternatives(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim says "both A and B" of what each sentence with both calls "A or B"."""
    for one, other in _BOTH.findall(claim):
        between = [
            found.group()
            for sentence in sentences
            if (found := re.search(rf"\b{re.escape(one)}\b.*\b{re.escape(other)}\b", sentence, re.IGNORECASE))
            and not _FREE_TO_CHOOSE.search(sentence)
        ]
        if between and all(_OR.search(each) and not _ALSO_BOTH.search(each) for each in between):
            return True
    return False


_COMPARED = re.compile(
    r"\b(more|less|fewer|better|worse|(?!(?:rath|oth|lat|earli|furth|wheth|eith|aft)er\b)[^\W\d_]{2,}er)\b"
    r"(?:\s+[^\W\d_]+){0,6}?\s+than\b(?!\s+[$€£]?\d)|\b(outnumber(?:s|ed)?|outweigh(?:s|ed)?|surpass(?:es|ed)?)\b",
    re.IGNORECASE,
)


_THAN_EXPECTED = re.compile(
    r"\bthan\s+(?:(?:was|were|had been|originally|first)\s+)*"
    r"(?:expected|planned|budgeted|estimated|forecast|intended|usual|before)\b",
    re.IGNORECASE,
)
"""What a number is compared with that is no number."""


def compares_otherwise(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim compares two things ("higher than") of which no sentence compares any."""
    found = _COMPARED.search(claim)
    if found is None or (has_digit(RECENT_YEAR.sub("", claim)) and not _THAN_EXPECTED.search(claim)):
        return False  # numbers are compared as facts
    word = (found[1] or found[2]).lower()
    held = {token for sentence in sentences for token in tokens_of(sentence)}
    way = direction_of(word)
    alike = {other for other in held if other.endswith("er") and way and direction_of(other) == way}
    told = "than" in held or bool(alike) or any(are_synonyms(word, other, language) for other in held)
    return not told and not any(_COMPARED.search(sentence) for sentence in sentences)
