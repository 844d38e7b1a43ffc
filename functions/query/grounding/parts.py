"""Checks whether a claim tells of one thing what a part of a sentence tells of another.

A sentence often says like things of several subjects, each in a part of its own: "Barbecues on balconies are forbidden;
in the garden they are allowed". A claim that takes the end of one part without the words that it begins with, and has
another's words in their place, tells of the one what is so of the other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from functions.query.grounding.polarity import are_opposite, count_negations, has_opposite
from functions.query.grounding.quantities import is_unit
from functions.query.grounding.wording import BESIDE_ANY, function_stems
from functions.query.grounding.words import (
    LONGEST_COMPARED_TOKENS,
    is_degree,
    is_stop_word,
    stem_of,
    tokens_of,
    with_synonyms,
)
from functions.query.understanding.question import word_lists
from shared.dates import is_month, is_year
from shared.lexical import is_irregular_form
from shared.text import SEPARATOR

_PART = re.compile(
    r"[;:]\s|,\s(?=(?:\w+\s){1,4}(?:aber|jedoch|hingegen|dagegen)\b)|,\saber\s"
    r"|,?\s(?:and|but|while|whereas|und|während|et|mais|y|pero|mientras|ir|bet)\s(?!\d)"
    r"|,\s(?:(?:of|in|to|for)\s)?(?:which|who|whose|where|when)\s",
    re.IGNORECASE,
)
"""Where a part of a sentence ends that may have a subject of its own."""
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_AUXILIARIES = word_lists("claim_words.txt")["be"] | word_lists("claim_words.txt")["auxiliaries"]
_VERB = re.compile(
    r"\b(?:be|may|will|shall|[a-z]{2,}(?:ed|[a-hj-rtv-z]s)|is|was|has|does|are|were|have|had|can|could|must)\b"
)
_SURE_VERB = re.compile(r"\b(?:be|may|will|shall|[a-z]{2,}ed|is|was|has|does|are|were|have|had|can|could|must)\b")
"""What may be a verb: an auxiliary, or a word in "-ed" or "-s"."""
_SUBORDINATE = re.compile(r"\A\s*(?:\w+\s){1,3}that\s(?=(?:it|they|he|she|this|these)\b)", re.IGNORECASE)
"""What leads to a part whose subject is that of the one before: "… and found that it does not work"."""
_IRREGULAR_PLURAL = re.compile(r"children|\w*men|people|feet|teeth|mice|geese|\w+ves")
_JOINING = ("and", "but", "und", "aber", "et", "mais", "y", "pero", "ir", "bet")
"""What may join words as well as statements."""
_DATE_WORDS = word_lists("claim_words.txt")["dating"]
"""Words beside a year that belong to the date: "the end of 2028"."""
MOST_OF_SUBJECT = 2
"""Content words before "and" that are taken for the first of several subjects."""
LONGEST_SUBJECT = 6
"""Content words before the first one that a claim shares with a part, up to which they are taken for its subject."""
MIN_TAKEN = 2
"""Content words that a claim takes from a part of a sentence to be compared with it."""


@dataclass(frozen=True, slots=True)
class _SentencePart:
    """A part of a sentence with its content words as stems, in order."""

    stems: Sequence[str]
    text: str
    is_clause: bool

    def states(self, language: str) -> bool:
        """Return whether it may state something of its own; behind "and" in English, only if a verb may be seen."""
        return self.is_clause or language.split("-")[0] != "en" or _VERB.search(self.text) is not None

    def begins_otherwise(self, said: frozenset[str], language: str) -> bool:
        """Return whether a subject of its own stands before the first word that is said, too, or a synonym of one."""
        held = said | with_synonyms(frozenset(self.stems), said, language)
        first = next((at for at, stem in enumerate(self.stems) if stem in held), 0)
        opener = next(iter(tokens_of(self.text)), "")
        is_irregular = is_irregular_form(opener) and not _IRREGULAR_PLURAL.fullmatch(opener)
        is_verb = opener.endswith(("ed", "ing")) or opener in _AUXILIARIES or is_irregular
        return 0 < first <= LONGEST_SUBJECT and not is_verb


def tells_of_another(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim tells of one thing what a sentence tells of another in a part of its own."""
    texts = [_parts_of(sentence, language) for sentence in _compared(claim, sentences)]
    return any(_is_crossed(mine.stems, texts, language) for mine in _parts_of(claim, language))


def _compared(claim: str, sentences: Sequence[str]) -> Sequence[str]:
    """Return the sentences that are no rows of a table, and short enough to be compared with a claim that is."""
    if len(tokens_of(claim)) > LONGEST_COMPARED_TOKENS:
        return []
    return [each for each in sentences if SEPARATOR not in each and len(tokens_of(each)) <= LONGEST_COMPARED_TOKENS]


def _is_crossed(mine: Sequence[str], texts: Sequence[Sequence[_SentencePart]], language: str) -> bool:
    said = frozenset(mine)
    held = [[_held(said, part, language) for part in parts] for parts in texts]
    whole = [frozenset[str]().union(*each) for each in held]
    most = max(map(len, whole), default=0)
    near = [at for at, each in enumerate(whole) if len(each) == most]
    return most > MIN_TAKEN and all(_crosses(mine, texts[at], held[at], language) for at in near)


def _crosses(
    mine: Sequence[str], parts: Sequence[_SentencePart], held: Sequence[frozenset[str]], language: str
) -> bool:
    """Return whether a claim has words of two parts, and lacks those that one begins with."""
    said = frozenset(mine)
    for at, part in enumerate(parts):
        others = frozenset[str]().union(*(each for place, each in enumerate(held) if place != at)) - held[at]
        own = held[at].difference(*(each for place, each in enumerate(held) if place != at))
        first = next((stem for stem in mine if stem in others or stem in held[at]), "")
        is_dated = any(map(is_year, others)) and all(map(_is_of_date, others))
        is_moved = is_dated or (first in others and part.states(language))
        if is_moved and len(own) >= MIN_TAKEN and part.begins_otherwise(said, language):
            return True
    return False


def tells_opposite_of_part(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim says of one part of a sentence what only another one says, and that part the opposite.

    "The cafe is open on Tuesdays" of "The cafe is open at noon but closed on Tuesdays".
    """
    words = [word for word in tokens_of(claim) if has_opposite(word)]
    if not words or count_negations(tokens_of(claim)):
        return False
    said = frozenset(stem for part in _parts_of(claim, language) for stem in part.stems)
    return any(
        _is_opposite(word, said - {stem_of(word, language)}, sentence, language)
        for sentence in _compared(claim, sentences)
        for word in words
    )


def _is_opposite(word: str, others: frozenset[str], sentence: str, language: str) -> bool:
    """Return whether the other words of a claim are of a part that has the opposite of a word, and not of the word's.

    If one of the two parts has no subject of its own, what stands behind the opposite counts, else its whole subject.
    """
    texts = [tokens_of(each) for each in _PART.split(sentence)]
    with_it = [words for words in texts if word in words]
    if len(with_it) != 1 or are_opposite([word], with_it[0]):
        return False
    held, place = with_it[0], with_it[0].index(word)
    own, lead, trail = (frozenset(_stems(" ".join(each), language)) for each in (held, held[:place], held[place:]))
    if others & trail:
        return False
    for words in texts:
        turned = next((at for at, each in enumerate(words) if are_opposite([word], [each])), None)
        if words is held or turned is None:
            continue
        begin, end = (frozenset(_stems(" ".join(each), language)) for each in (words[:turned], words[turned + 1 :]))
        if (others & end - own) if not (lead and begin) else (begin <= others and begin - own):
            return True
    return False


def _is_of_date(stem: str) -> bool:
    return is_year(stem) or is_month(stem) or stem in _DATE_WORDS


def _held(said: frozenset[str], part: _SentencePart, language: str) -> frozenset[str]:
    stems = frozenset(part.stems)
    return (said & stems) | with_synonyms(said, stems, language)


@lru_cache(maxsize=512)
def _parts_of(text: str, language: str) -> Sequence[_SentencePart]:
    plain = _IN_BRACKETS.sub(" ", text)
    found: list[_SentencePart] = []
    start, is_clause = 0, True
    for end, behind, joint in (*((*each.span(), each.group()) for each in _PART.finditer(plain)), (len(plain), 0, "")):
        part = plain[start:end]
        stems = tuple(_stems(_SUBORDINATE.sub("", part), language))
        joins_words = joint.strip(" ,").lower() in _JOINING
        if joins_words and len(stems) <= MOST_OF_SUBJECT and not _SURE_VERB.search(part):
            continue  # "Adults and children take one tablet"
        if stems:
            found.append(_SentencePart(stems, part, is_clause))
        start, is_clause = behind, not joins_words
    return tuple(found)


def _stems(text: str, language: str) -> Iterator[str]:
    for word in tokens_of(text):
        stem = stem_of(word, language)
        is_empty = is_stop_word(word) or word in BESIDE_ANY or stem in function_stems(language)
        if not (is_empty or is_degree(word) or is_unit(word)):
            yield stem
