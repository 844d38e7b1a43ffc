"""Checks whether a claim says more than its evidence: of all, of the most, as done, or what is denied."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

from functions.query.grounding.clauses import clauses_of
from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.known_facts import known_facts, missing_facts
from functions.query.grounding.polarity import count_negations, is_verb_negation
from functions.query.grounding.words import LONGEST_COMPARED_TOKENS, stems_of, tokens_of, with_synonyms
from functions.query.understanding.question import lines_of, of_any_language, patterns_of
from shared.dates import is_year
from shared.lexical import background, fold

_PATTERNS = patterns_of("claim_patterns.txt")
_ANY = frozenset(("any", "anybody", "anyone", "anything", "anywhere", "whatever", "wherever", "whenever", "whoever"))
_NONE = frozenset(("nobody", "none", "nothing", "nowhere", "never"))
_NO = frozenset(("no", "without", "neither", "nor"))
_ALL = frozenset(("all", "every", "each", "everybody", "everyone", "everything", "always", "whole"))
"""Words that speak of all, whichever they are, or of none."""
_IF_ANY = re.compile(r"\b(?:if|when|whether|unless|without|before)\b[^,;]{0,80}\bany|\bat any time\b", re.IGNORECASE)
"""What speaks of some only, "if any issues are found", or of nothing: "at any time"."""


def generalises(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim speaks of any or of none ("wherever", "nobody"), and no sentence of all, or of none."""
    said, held = frozenset(tokens_of(claim)), frozenset(chain.from_iterable(map(tokens_of, sentences)))
    is_any = not said.isdisjoint(_ANY) and held.isdisjoint(_ANY | _ALL) and not _IF_ANY.search(claim)
    of_none = said & _NONE
    others = {"not", "cannot"} if of_none == {"never"} else frozenset[str]()
    return is_any or (bool(of_none) and held.isdisjoint(_NONE | _ALL | _NO | others))


@cache
def _absolutes() -> Sequence[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return what says in some way that there is no exception, each with what of a source says as much."""
    lines = ([part.split(" | ") for part in line.split(" ; ")] for line in lines_of("absolute_words.txt"))
    return [(_any_of(said), _any_of([*said, *chain.from_iterable(others)])) for said, *others in lines]


def _any_of(phrases: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, map(str.strip, phrases)))})\b")


def leaves_no_exception(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim says "always", "at once", "every day" or the like, and no sentence says as much."""
    said = fold(claim).lower()
    ways = [allowing for absolute, allowing in _absolutes() if absolute.search(said)]
    held = fold("\n".join(sentences)).lower() if ways else ""
    return any(not allowing.search(held) for allowing in ways)


_SUPERLATIVE = r"most|least|best|worst|[^\W\d_]{3,}est"
_THE_MOST = re.compile(rf"\bthe\s+(?:\w+\s+)?({_SUPERLATIVE})\b", re.IGNORECASE)
_TELLS_MOST = re.compile(
    r"\b(?:record|peak(?:ed)?|top|lead(?:s|ing)?|first|main|chief|than (?:all|any)|no other"
    rf"|(?<!\bat )(?:{_SUPERLATIVE}))\b",
    re.IGNORECASE,
)


def has_own_superlative(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim calls something the most or the least, and no sentence does so."""
    is_said = any(_is_superlative(found[1].lower()) for found in _THE_MOST.finditer(claim))
    return is_said and not any(map(_TELLS_MOST.search, sentences))


def _is_superlative(word: str) -> bool:
    """Return whether a word with the ending of a superlative is one: it has a comparative, "harvest" has none."""
    comparative = f"{word.removesuffix('st')}r"
    return word == "best" or not word.endswith("est") or comparative in background("en")


_DONE = re.compile(r"\b(?:has|have|had|was|were|did)\b", re.IGNORECASE)
_PROPOSED = re.compile(
    r"\b(?:intend|propos|aim|hop)(?:e|es|s|ed)? to\b|\bthat\b[^,.;:]{0,80}(?<!\bto)(?<!\bll)(?<!\bnot)"
    r"(?<!\bcan)(?<!\bmay)(?<!\bmust)(?<!\bwill)(?<!\bcould)(?<!\bmight)(?<!\bshall)(?<!\bwould)(?<!\bshould)\sbe\b",
    re.IGNORECASE,
)
"""What is only proposed: "intends to apply", "moved that the rise *be* put off"."""
MIN_PROPOSED_SHARE = 0.6
"""Share of a claim's content words that a sentence has which speaks of the same."""


def tells_as_done(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim tells as done what all sentences that speak of it only propose, and tell nothing else."""
    if not _DONE.search(claim) or _PROPOSED.search(claim):
        return False
    said = stems_of(claim, language)
    clauses = [clause.text for each in sentences for clause in clauses_of(each, language)]

    def near_of(texts: Sequence[str]) -> list[str]:
        return [each for each in texts if len(said & stems_of(each, language)) >= MIN_PROPOSED_SHARE * len(said)]

    near = near_of(clauses) or near_of(sentences)
    return bool(near) and all(_PROPOSED.search(each) and not _DONE.search(each) for each in near)


_OPENING = re.compile(
    r"\A(?P<word>after|before|during|in|for|with|without|at|on|if|when|until|from|under)\s(?P<what>[^,]{3,60}),\s(?P<rest>.+)",
    re.IGNORECASE,
)
MIN_SAME_REST = 0.8
"""Share of the content words behind a claim's opening that a sentence has behind its own."""


def begins_otherwise(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim says of one thing what its sentence says of another: "After rain, …", "After snow, …"."""
    mine = _OPENING.match(claim)
    if mine is None:
        return False
    what, rest = (stems_of(mine[part], language) for part in ("what", "rest"))
    for theirs in filter(None, map(_OPENING.match, sentences)):
        held = stems_of(theirs["rest"], language)
        if theirs["word"].lower() == mine["word"].lower() and len(rest & held) >= MIN_SAME_REST * len(rest):
            others = stems_of(theirs["what"], language)
            if what and others and not what & (others | held) and not with_synonyms(what, others, language):
                return True
    return False


_DENIES = of_any_language(_PATTERNS["limits"])
"""Words with which a claim may deny something, or tell a limit, without "not"."""


def affirms_number(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim affirms of a number what all clauses with it deny: "64 had *not* paid"."""
    if count_negations(tokens_of(claim)) or _DENIES.search(claim):
        return False
    clauses = [clause for each in sentences for clause in clauses_of(each, language)]
    for fact in facts_in(claim):
        if fact.kind == "number" and not is_year(fact.text):
            with_it = [each for each in clauses if not missing_facts(fact.text, known_facts([each.text], ""))]
            if with_it and all(any(map(is_verb_negation, each.words)) for each in with_it):
                return True
    return False


_BEFORE_LIMIT, _BEHIND_LIMIT = (of_any_language(_PATTERNS[kind]) for kind in ("before_limit", "behind_limit"))


def is_example(written: str, claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a number of a claim may be an example for a limit of a sentence: "a child of eight", "under 9"."""
    mine = [fact for fact in facts_in(claim) if fact.text.rstrip(" .,;") == written]
    units = {fact.unit for each in sentences for fact in facts_in(each) if _is_limit(fact, each)}
    return bool(mine) and all(
        fact.kind == "number" and not (is_year(fact.text) or _is_limit(fact, claim)) and fact.unit in units
        for fact in mine
    )


def _is_limit(fact: Fact, text: str) -> bool:
    if fact.kind != "number":
        return False
    folded = fold(text)
    return bool(_BEFORE_LIMIT.search(folded, 0, fact.start) or _BEHIND_LIMIT.match(folded, fact.end))


_CONDITION = re.compile(r"\b(?:if|provided(?: that)?|unless|when)\s(?P<what>[^,.;:]+)", re.IGNORECASE)
_AND = re.compile(r"\sand\s", re.IGNORECASE)
MIN_SAME_CONDITION = 0.6
"""Share of the content words of a claim's condition that one of a sentence has to be the same."""
MIN_OTHER_CONDITION = 2
"""Content words of the other condition, which else may be a part of the first: "if it is wet and cold"."""


def drops_condition(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim tells one of two conditions only: "if it rains" of "if it rains *and blows*"."""
    mine = _CONDITION.search(claim)
    if mine is None or _AND.search(mine["what"]):
        return False
    said, what = stems_of(claim, language), stems_of(mine["what"], language)
    for found in chain.from_iterable(map(_CONDITION.finditer, sentences)):
        first, *others = (stems_of(each, language) for each in _AND.split(found["what"], maxsplit=1))
        for second in others:
            for one, other in ((first, second - first), (second, first - second)):
                is_told = len(what & one) >= MIN_SAME_CONDITION * len(what)
                is_left_out = not said & other and not with_synonyms(other, said, language)
                if is_told and is_left_out and len(other) >= MIN_OTHER_CONDITION:
                    return True
    return False


_EXCEPTED = re.compile(
    r"\b(?:other than|except(?: for)?|apart from|with the exception of|excluding|but not|not including)\s"
    r"(?P<what>(?:(?!\b(?:is|are|was|were|has|have|had|may|must|can|will|shall|receives?|gets?|pays?)\b)[^,.;:()])+)",
    re.IGNORECASE,
)
_EXCEPTS = re.compile(
    r"\b(?:other than|any\w+ but|except|apart from|exception|exclud\w+|unless|only|alone|without|no|none|neither|never"
    r"|save|plus|added|additional(?:ly)?|extra|before (?:vat|tax)|on top|net|separate(?:ly)?|stays?|remains?|still)\b",
    re.IGNORECASE,
)
"""What is excepted, and words with which a claim may tell that something is."""


def tells_of_excepted(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim says of what a sentence excepts what that says of all others.

    "If an expert opens it" of "if anyone other than an expert opens it".
    """
    if _EXCEPTS.search(claim) or count_negations(tokens_of(claim)):
        return False
    said = stems_of(claim, language)
    for sentence in sentences:
        for found in _EXCEPTED.finditer(sentence):
            before, what = (stems_of(each, language) for each in (sentence[: found.start()], found["what"]))
            rest = said - what
            if what and what <= said and _is_same_condition(rest, before):
                return True
    return False


_WHEN = re.compile(
    r"\b(?:unless|until|till|(?P<then>(?:even )?if|when|once))\s(?P<what>(?:(?!\b(?:if|when|unless|until)\b)[^,.;:])+)",
    re.IGNORECASE,
)


def turns_condition(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim says "if" or "once" where its sentences say "unless" or "until", or the other way round.

    Texts that deny something else, or say "only", may mean the same by it.
    """
    mine = list(_conditions_in(claim, language))
    theirs = [each for sentence in sentences for each in _conditions_in(sentence, language)] if mine else []
    for is_then, what, rest in mine:
        held = [each for each in theirs if _is_same_condition(what, each[1]) and _is_same_condition(rest, each[2])]
        if held and all(each[0] != is_then for each in held):
            return True
    return False


def _conditions_in(text: str, language: str) -> Iterator[tuple[bool, frozenset[str], frozenset[str]]]:
    """Yield the conditions of a text: whether it holds then, not until or unless then; its stems, and the others'."""
    words = tokens_of(text)
    if count_negations(words) or "only" in words or len(words) > LONGEST_COMPARED_TOKENS:
        return
    for found in _WHEN.finditer(text):
        rest = f"{text[: found.start()]} {text[found.end() :]}"
        yield bool(found["then"]), stems_of(found["what"], language), stems_of(rest, language)


def _is_same_condition(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return bool(mine) and len(mine & theirs) >= MIN_SAME_CONDITION * len(mine)


_PUT_FORWARD, _TELLS_PROPOSAL, _FAILED, _CARRIED = (
    of_any_language(_PATTERNS[kind]) for kind in ("put_forward", "tells_proposal", "failed", "carried")
)
AFTER_PROPOSAL = 2
"""Sentences after a proposal that may tell what became of it."""


def tells_as_decided(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim tells as a fact what was put forward and failed: "the motion to close was lost"."""
    if any(way.search(claim) for way in (_TELLS_PROPOSAL, _FAILED, _CARRIED)) or count_negations(tokens_of(claim)):
        return False
    said = stems_of(claim, language)

    def tells(text: str) -> bool:
        return len(said & stems_of(text, language)) >= max(1, MIN_PROPOSED_SHARE * len(said))

    for at, each in enumerate(sentences):
        found = _PUT_FORWARD.search(each)
        if found is None or not tells(each[found.start() :]) or any(map(tells, {*sentences} - {each})):
            continue
        rest = " ".join((each[found.end() :], *sentences[at + 1 : at + 1 + AFTER_PROPOSAL]))
        failed, carried = _FAILED.search(rest), _CARRIED.search(rest)
        if failed is not None and (carried is None or failed.start() < carried.start()):
            return True
    return False
