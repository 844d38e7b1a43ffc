"""Checks whether a claim joins words, or a word and a number, that no sentence has together."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from functions.query.grounding.facts import facts_in
from functions.query.grounding.names import names_in
from functions.query.grounding.polarity import is_negation
from functions.query.grounding.quantities import SCALE, is_number_word, is_unit, spelled_value
from functions.query.grounding.wording import BESIDE_ANY, NOT_ALWAYS_NUMBERS, common_stems
from functions.query.grounding.words import (
    has_digit,
    is_degree,
    is_stop_word,
    stem_of,
    stems_of,
    tokens_of,
    with_synonyms,
)
from functions.query.understanding.question import word_lists
from shared.dates import is_year
from shared.lexical import fold
from shared.text import SEPARATOR

_PART = re.compile(r"[.;:,]\s|\s(?:and|but|while|whereas|which|who|that|ir|bet)\s", re.IGNORECASE)
"""Where a part of a claim ends; each part may be about another sentence."""
_OPENING = re.compile(r"\A((?:among|for|of|within)\s[^,]{1,80}),\s", re.IGNORECASE)
_OPENED = r"\1 "
"""What a claim says at its beginning about what follows: "Among the members, …"."""
_NUMBER_PART = re.compile(
    r"(?<=\w{3})\.\s|[;:]\s|,\s(?!\d{4}\b)|\s\(|\s(?:and|but|while|whereas|compared (?:to|with)|versus)\s",
    re.IGNORECASE,
)
"""Where a part of a sentence ends that may have a number of its own."""
_ITEM = r"[^\s,;()]+(?:\s(?:hundred|thousand|million|billion|trillion|%|shares))*"
_ROW = re.compile(rf"{_ITEM}(?:, {_ITEM})*,? and {_ITEM}", re.IGNORECASE)
_ROW_ITEM = re.compile(r",? and |, ", re.IGNORECASE)
"""A row of names, years or amounts, and what stands between its items."""
_RESPECTIVELY = "respectively"
_COUNTED = re.compile(rf"(?<![\w.,])([$€£¥]?\w[\w.,]*?)%?(?:\s(?:{SCALE}))?[\s-](?=([^\W\d_]+))")
_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3})")
_FREE = BESIDE_ANY | {"percent", "per", "cent", *SCALE.split("|")}
"""Words that may stand beside any others: they join, refer or scale."""
MIN_TOLD = 2
"""Words that a sentence must have of a claim for a common one to be told in other words than its own."""
NEAR_NUMBER = 2
"""How many words a number may stand from a word in a sentence that is next to it in the claim."""


_BEGINS_REFERRING = re.compile(r"(?:(?:in|on|from|since|by) [^,.;]{1,20},?\s)?(?:he|she|they)\b", re.IGNORECASE)
"""The beginning of a sentence about a person whom another one names."""


def is_merged(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a part of a claim is made of words that its sentences have, but none of them all.

    A common word that only another sentence has was not taken from there: "costs" for "pays". Whom a sentence
    calls "she" another one may name.
    """
    texts = [frozenset(_told_stems(sentence, language)) for sentence in sentences]
    refers = [_BEGINS_REFERRING.match(sentence) is not None for sentence in sentences]
    if any(refers):
        inside = f"that {claim}"  # a claim's first word may be a name, too
        names = frozenset(_told_stems(" ".join(names_in(inside)), language)) & frozenset().union(*texts)
        texts = [stems | names if by_pronoun else stems for stems, by_pronoun in zip(texts, refers, strict=True)]
    common = common_stems(claim, language)
    parts = _PART.split(_OPENING.sub(_OPENED, claim))
    return any(_is_merged(frozenset(_told_stems(part, language)), texts, common, language) for part in parts)


def _is_merged(said: frozenset[str], texts: Sequence[frozenset[str]], common: frozenset[str], language: str) -> bool:
    if any(said <= stems for stems in texts):
        return False
    held = [(said & stems) | with_synonyms(said, stems, language) for stems in texts]
    found, most = frozenset().union(*held), max(map(len, held), default=0)
    if not found or found in held:
        return False
    return most < MIN_TOLD or not any(found - each <= common for each in held if len(each) == most)


# --- numbers ---


def has_moved_number(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether another number stands nearer, in its sentences, to the words beside a number of a claim.

    "The exam counts for 30%" of "the exam counts for 50%, the essay for 30%". Years may stand anywhere.
    """
    said = _told_stems(claim, language)
    texts = [_told_stems(sentence, language) for sentence in sentences]
    stems = frozenset(stem for text in texts for stem in text)
    told = stems_of(claim, language)
    words = [stem for stem in said if stem in stems and (stem in told or has_digit(stem))]
    for at, number in enumerate(words):
        beside = frozenset((*words[max(0, at - 2) : at], *words[at + 1 : at + 2])) - {number}
        holding = [text for text in texts if number in text and beside & frozenset(text)]
        if _is_amount(number) and holding and all(_is_moved(number, beside, frozenset(said), text) for text in holding):
            return True
    return False


def _is_moved(number: str, beside: frozenset[str], said: frozenset[str], text: Sequence[str]) -> bool:
    """Return whether each word beside a number is farther from it in a text than from one that the claim leaves out."""
    places = [at for at, stem in enumerate(text) if stem == number]
    others = [at for at, stem in enumerate(text) if _is_amount(stem) and stem not in said]
    for word in beside:
        for at in (at for at, stem in enumerate(text) if stem == word):
            distance = min(abs(at - place) for place in places)
            if distance <= NEAR_NUMBER or not any(abs(at - other) < distance for other in others):
                return False
    return True


def has_number_of_another(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a number of a claim is told in its sentences of another thing, year or unit than in the claim.

    "The record date is September 6, the payment date September 27"; "55 and 67 million in 2023 and 2022, respectively".
    """
    said = _told_stems(claim, language)
    words = frozenset(stem for stem in said if not _is_amount(stem))
    amounts = frozenset(filter(_is_amount, said))
    return any(
        _is_of_another_unit(number, claim, sentences, language)
        or any(
            _is_of_another_part(number, amounts, words, sentence, language)
            or _is_of_another_item(number, claim, sentence)
            for sentence in sentences
        )
        for number in amounts
    )


# --- values of any kind ---

_VALUES = word_lists("claim_words.txt")["values"]
"""Words that may be a value, like numbers."""
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_VALUE_PART = re.compile(
    r";\s|,\s(?!\d{4}\b)|\s(?:and(?! an? (?:half|third|quarter)\b)|but|while|whereas|or)\s", re.IGNORECASE
)


def has_value_of_another(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a value of a claim ("half", "8 pm") is in its sentences that of another thing than in the claim.

    "The second child pays none" of "the second child pays half, any further child pays none".
    """
    said = frozenset(_value_stems(claim, language))
    words = f" {' '.join(tokens_of(claim))} "
    for value in filter(_is_value, said):
        holding = [each for each in sentences if value in _value_stems(each, language)]
        if any(words in f" {' '.join(tokens_of(each))} " for each in holding):
            return False  # a part of the sentence, word for word
        if holding and all(_has_value_of_another(said, value, each, language) for each in holding):
            return True
    return False


def _has_value_of_another(said: frozenset[str], value: str, sentence: str, language: str) -> bool:
    """Return whether the words of a claim are those of a part of a sentence that has another value.

    The part with the claim's value must have words of its own, none of which the claim has.
    """
    parts = [frozenset(_value_stems(text, language)) for text in _VALUE_PART.split(sentence) if text]
    told = [frozenset(filter(_is_value, part)) for part in parts]
    places = [n for n, each in enumerate(told) if value in each]
    if SEPARATOR in sentence or len(places) != 1:
        return False
    at = places[0]
    without = frozenset[str]().union(*(part for part, values in zip(parts, told, strict=True) if not values))
    shared = frozenset(stem for stem in said & frozenset[str]().union(*parts) if not _is_value(stem))
    for n, other in enumerate(parts):
        if n == at or told[n] <= said:
            continue
        label = frozenset(stem for stem in parts[at] - told[at] - other - without if not is_unit(stem))
        is_of_other = bool(shared & other) and (bool(shared & (other - parts[at])) or shared <= other | without)
        if label and is_of_other and not label & said and not with_synonyms(label, said, language):
            return True
    return False


def _is_value(stem: str) -> bool:
    return (stem[0].isdigit() and not _YEAR.fullmatch(stem)) or stem in _VALUES


@lru_cache(maxsize=512)
def _value_stems(text: str, language: str) -> Sequence[str]:
    """Return the stems of a text, its numbers as digits; "one" only before a unit, where it is a number."""
    words = tokens_of(text)
    return tuple(
        word if word in _VALUES else stem_of(_plain_number(word), language)
        for word, after in pairwise((*words, ""))
        if (word in _VALUES and (word != "one" or is_unit(after)))
        or not (word in _VALUES or is_stop_word(word) or is_degree(word) or is_negation(word))
    )


def _is_amount(stem: str) -> bool:
    return has_digit(stem) and not is_year(stem)


def _is_of_another_part(
    number: str, amounts: frozenset[str], words: frozenset[str], sentence: str, language: str
) -> bool:
    """Return whether a later part of a sentence, with another number, holds all that a number's own part holds of a
    claim, and more; an earlier part, whose words the later ones may mean as well, only if it has the claim's year."""
    if _RESPECTIVELY in sentence:
        return False
    texts = _NUMBER_PART.split(sentence)
    parts = [frozenset(_told_stems(part, language)) for part in texts]
    own = [at for at, part in enumerate(parts) if number in part]
    if len(own) != 1:
        return False
    held = words & parts[own[0]]
    for at, part in enumerate(parts):
        others = frozenset(filter(_is_amount, part)) - amounts
        more = (words & part) - held
        if at < own[0]:
            has_year = any(map(is_year, parts[own[0]]))
            is_contrast = _are_alike(texts[at], texts[own[0]]) and bool(parts[own[0]] - part - words - amounts)
            more = frozenset(filter(is_year, more)) if has_year else more if is_contrast else frozenset()
        # "Cups cost 3 euros to glaze, bowls 5."
        is_short = at > own[0] and words >= _words_in(part) and _units_in(texts[at]) <= _units_in(texts[own[0]]) | {""}
        if at != own[0] and others and more and (is_short or not (at > own[0] and held - part)):
            return True
    return False


def _words_in(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for stem in stems if not _is_amount(stem))


def _units_in(text: str) -> frozenset[str]:
    return frozenset(fact.unit for fact in facts_in(text) if fact.kind == "number")


def _are_alike(one: str, other: str) -> bool:
    """Return whether two texts have each one number, of the same unit: "boats €9 an hour", "bikes €5 an hour"."""
    units = [[fact.unit for fact in facts_in(text) if fact.kind == "number"] for text in (one, other)]
    return len(units[0]) == len(units[1]) == 1 and units[0] == units[1] != [""]


def _is_of_another_item(number: str, claim: str, sentence: str) -> bool:
    """Return whether a number belongs, by "respectively", to another item of a row than the one that a claim names."""
    before = sentence[: max(0, sentence.rfind(_RESPECTIVELY))]
    rows = [_items(_ROW_ITEM.split(row.group())) for row in _ROW.finditer(before)]
    said = set(tokens_of(claim))
    for values in rows:
        places = [at for at, value in enumerate(values) if number in map(_plain_number, tokens_of(value))]
        if len(places) != 1 or not all(any(map(has_digit, tokens_of(value))) for value in values):
            continue
        for items in rows:
            named = [at for at, item in enumerate(items) if set(tokens_of(item)) <= said]
            if items is not values and len(items) == len(values) and len(named) == 1 and named != places:
                return True
    return False


def _items(row: Sequence[str]) -> Sequence[str]:
    """Return the items of a row; of a row with years only these: "March 31, 2023 and 2022"."""
    return [item for item in row if is_year(item)] or row


def _is_of_another_unit(number: str, claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a number counts in a claim what its sentences do not mention, or another number counts there."""
    mine = _counted(number, claim)
    theirs = frozenset().union(*(_counted(number, sentence) for sentence in sentences))
    if not theirs or mine & theirs or any(map(is_unit, mine)):  # units are compared as facts
        return False
    if any(mine & _counted(other, sentence) for sentence in sentences for other in _numbers_in(sentence)):
        return True
    told = frozenset(stem for sentence in sentences for stem in stems_of(sentence, language))
    counted = stems_of(" ".join(mine), language)
    return bool(counted) and not (counted & told or with_synonyms(counted, told, language))


def _numbers_in(text: str) -> frozenset[str]:
    return frozenset(word for word in map(_plain_number, tokens_of(text)) if has_digit(word) or is_number_word(word))


def _counted(number: str, text: str) -> frozenset[str]:
    """Return the words that stand directly after a number, and its scale."""
    after = (match[2] for match in _COUNTED.finditer(fold(text).lower()) if _plain_number(match[1]) == number)
    return frozenset(word for word in after if not (is_stop_word(word) or word in _FREE))


@lru_cache(maxsize=512)
def _told_stems(text: str, language: str) -> Sequence[str]:
    """Return the stems of what a text tells, and its numbers as digits; degrees and units have rules of their own."""
    return tuple(
        stem_of(_plain_number(word), language)
        for word in tokens_of(text)
        if not (is_stop_word(word) or word in _FREE or is_degree(word) or is_unit(word) or is_negation(word))
    )


def _plain_number(word: str) -> str:
    """Return a number as digits without signs and separators of thousands; any other word as it is."""
    if word in NOT_ALWAYS_NUMBERS or not (has_digit(word) or is_number_word(word)):
        return word
    return _SEPARATOR.sub("", word).strip("$€£¥%-−") if has_digit(word) else str(spelled_value(word))
