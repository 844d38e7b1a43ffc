"""Applying a tenant's glossary to a question."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from functions.query.retrieval.filters import both
from functions.query.understanding.glossary import ANY_WORDS, Entity, Glossary, Lift, Rule, folded_words
from functions.query.understanding.understood import Boost, Variation
from shared import lexical
from shared.models import Filter

SYNONYM_SHARE = 0.15
"""Share of the search that a wording with another name for an entity gets."""
RULE_SHARE = 0.15
MOST_WORDS = 400
"""Words of a question that are compared; longer ones are pasted texts."""

_WORD = re.compile(r"[^\W_]+")


_PatternWord = tuple[str, frozenset[str]]


class Applied(NamedTuple):
    """A question with its entities called by name, and what the glossary adds to its search."""

    question: str
    variations: tuple[Variation, ...] = ()
    filter: Filter | None = None
    boosts: tuple[Boost, ...] = ()


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    forms: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    entity: Entity
    start: int
    end: int
    is_name: bool


def applied(glossary: Glossary, question: str, language: str) -> Applied:
    """Put spellings right and collect variations, filters and boosts. `language` is for stems ("" is English).

    Filters of several entities are alternatives (a comparison needs both); those of rules are further conditions.
    """
    tokens = [
        _Token(match.group(), *match.span(), _forms(match.group(), language))
        for match, _ in zip(_WORD.finditer(question), range(MOST_WORDS), strict=False)
    ]
    found = list(_entities(glossary, tokens, language))
    rules = [rule for rule in glossary.rules if any(_matches(pattern, tokens, language) for pattern in rule.patterns)]
    named = _replaced(question, {each: each.entity.name for each in found if not each.is_name})
    wordings = [
        *(
            Variation(_replaced(question, {each: synonym}), SYNONYM_SHARE)
            for each in found
            for synonym in each.entity.synonyms
        ),
        *(
            Variation(wording.replace("{question}", named, 1), RULE_SHARE)
            for rule in rules
            for wording in rule.variations
        ),
    ]
    return Applied(
        question=named,
        variations=tuple({each.text: each for each in reversed(wordings) if each.text != named}.values())[::-1],
        filter=_filter([each.entity for each in found], rules),
        boosts=tuple(_boosts([*(each.entity.boost for each in found), *(rule.boost for rule in rules)])),
    )


def _entities(glossary: Glossary, tokens: Sequence[_Token], language: str) -> Iterator[_Found]:
    """Yield the entities that are named, from left to right, the longest name first, none inside another."""
    index = _index(glossary, language)
    at = 0
    while at < len(tokens):
        best: tuple[int, Entity, bool] | None = None
        for phrase in {id(each): each for form in tokens[at].forms for each in index.get(form, ())}.values():
            entity, text, words, is_name = phrase
            here = tokens[at : at + len(words)]
            if len(here) < len(words) or (best and best[0] >= len(words)):
                continue
            if entity.exact and [token.text for token in here] != _WORD.findall(text):
                continue
            if all(token.forms & forms for token, forms in zip(here, words, strict=True)):
                best = (len(words), entity, is_name)
        if best:
            length, entity, is_name = best
            yield _Found(entity, tokens[at].start, tokens[at + length - 1].end, is_name)
        at += best[0] if best else 1


_Phrase = tuple[Entity, str, list[frozenset[str]], bool]


def _index(glossary: Glossary, language: str) -> Mapping[str, list[_Phrase]]:
    """Return the glossary's names and spellings by the forms of their first words, made once for each language."""
    held: Mapping[str, list[_Phrase]] | None = glossary.indexes.get(language)
    if held is None:
        index: dict[str, list[_Phrase]] = {}
        for entity in glossary.entities:
            for text in (entity.name, *entity.spellings, *entity.synonyms):
                words = [_forms(word, language) for word in _WORD.findall(text)]
                # A synonym is a right name, too: it is found, and left as it was typed.
                phrase = (entity, text, words, text not in entity.spellings)
                for form in words[0] if words else ():
                    index.setdefault(form, []).append(phrase)
        held = glossary.indexes[language] = index
    return held


@lru_cache(maxsize=20_000)
def _forms(word: str, language: str) -> frozenset[str]:
    """Return a word without case and diacritics, and its stem."""
    folded = lexical.fold(word).casefold()
    terms = next(lexical.words_of(word, language or "en"), None)
    return frozenset((folded, terms[0][0])) if terms else frozenset((folded,))


def _replaced(question: str, by: Mapping[_Found, str]) -> str:
    text = question
    for found in sorted(by, key=lambda each: -each.start):
        text = text[: found.start] + by[found] + text[found.end :]
    return text


def _matches(pattern: str, tokens: Sequence[_Token], language: str) -> bool:
    """Say whether the pattern's words stand in the question, in a row."""
    words, at_the_beginning = _words_of(pattern, language)
    reach = len(words) * (ANY_WORDS + 1)
    # A pattern begins with a word: only where that stands, the rest is looked at.
    starts = (0,) if at_the_beginning else range(len(tokens))
    return any(_fits(words[0], tokens[at]) and _goes_on(words, tokens[at : at + reach]) for at in starts if tokens)


@lru_cache(maxsize=4_096)
def _words_of(pattern: str, language: str) -> tuple[tuple[_PatternWord, ...], bool]:
    words = tuple((word, frozenset[str]() if "*" in word else _forms(word, language)) for word in folded_words(pattern))
    return words, pattern.lstrip().startswith("^")


def _fits(word: _PatternWord, token: _Token) -> bool:
    text, forms = word
    if text.endswith("*"):
        return any(form.startswith(text[:-1]) for form in token.forms)
    return bool(forms & token.forms)


def _goes_on(words: Sequence[_PatternWord], tokens: Sequence[_Token]) -> bool:
    """Follow all readings of the pattern at once: each word moves a set of places on."""
    places = {0}
    for word in words:
        if word[0] == "*":
            places = {place + skipped for place in places for skipped in range(ANY_WORDS + 1)}
        else:
            places = {place + 1 for place in places if place < len(tokens) and _fits(word, tokens[place])}
    return bool(places)


def _filter(entities: Sequence[Entity], rules: Sequence[Rule]) -> Filter | None:
    alternatives: list[Filter] = []
    for entity in entities:
        if entity.filter and entity.filter not in alternatives:
            alternatives.append(entity.filter)
    # Who names an entity that any document may speak of beside one that is filtered for means both.
    if any(entity.filter is None for entity in entities):
        alternatives = []
    whole: Filter | None = {"$or": list(alternatives)} if len(alternatives) > 1 else next(iter(alternatives), None)
    for rule in rules:
        whole = both(whole, rule.filter)
    return whole


def _boosts(lifts: Iterable[Lift | None]) -> Iterator[Boost]:
    seen: list[Filter] = []
    for lift in lifts:
        if lift and lift.filter not in seen:
            seen.append(lift.filter)
            yield Boost(lift.filter, lift.lift)
