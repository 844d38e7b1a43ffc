"""A tenant's own words: how entities are spelled and called, and which patterns mean which documents.

The object `glossary/{tenant}.json` of the bucket. Nothing in it is a regular expression: patterns are words, so that no
glossary can make a question slow. All comparing is without case and diacritics, and by the stems of the question's
language, so that inflected forms match.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from functions.query.ports import SmallObjectReader
from functions.query.retrieval.filters import InvalidFilter, both, checked_filter
from functions.query.retrieval.passages import Boost
from functions.query.retrieval.search import QueryVariant
from shared import lexical
from shared.errors import DependencyError
from shared.models import Filter
from shared.ports import Clock

MAX_BYTES = 256 * 1024
"""Bytes of a glossary at most; it is held in every container, for every tenant that asks."""
MAX_LIFT = 0.3
ANY_WORDS = 4
"""Words that a `*` between two words of a pattern may stand for at most."""

_WORD = re.compile(r"[^\W_]+\*?|\*")
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


def _filter(value: dict[str, object]) -> dict[str, object]:
    try:
        checked_filter(value)
    except InvalidFilter as error:
        raise ValueError(str(error)) from error
    return value


MetadataFilter = Annotated[dict[str, object], Field(min_length=1, max_length=20), AfterValidator(_filter)]


class GlossaryInvalid(ValueError):
    """The glossary is not in the expected form; the message has a line a mistake: file, entry, field."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lift(_Part):
    """Passages whose metadata match are lifted by `lift`, in units of cosine."""

    filter: MetadataFilter
    lift: float = Field(0.1, gt=0, le=MAX_LIFT)


class Entity(_Part):
    """Something that questions name. `name` is how the documents call it most.

    `spellings` are put right: the question is searched for with `name` instead. `synonyms` are other names, used by
    documents: each is searched for besides. `exact` compares case, for spellings that are words otherwise ("IT").
    """

    name: Words
    spellings: list[Words] = Field(default=[], max_length=50)
    synonyms: list[Words] = Field(default=[], max_length=20)
    exact: bool = False
    filter: MetadataFilter | None = None
    boost: Lift | None = None


class Rule(_Part):
    """What questions of a kind mean: "how to …", "where …".

    A pattern is a row of words that may stand anywhere in a question; `*` at a word's end stands for any ending, alone
    for up to `ANY_WORDS` words; `^` before it all: only where the question begins. A variation may hold `{question}`.
    """

    name: Words
    patterns: list[Words] = Field(min_length=1, max_length=50)
    variations: list[Words] = Field(default=[], max_length=5)
    filter: MetadataFilter | None = None
    boost: Lift | None = None

    @model_validator(mode="after")
    def _does_something(self) -> "Rule":
        for at, pattern in enumerate(self.patterns):
            words = folded_words(pattern)
            if not words or "*" in (words[0], words[-1]):
                raise ValueError(f"patterns[{at}]: {pattern!r} must begin and end with a word")
        if not (self.variations or self.filter or self.boost):
            raise ValueError("has no effect: give it `filter`, `boost` or `variations`")
        return self


class Glossary(_Part):
    """All a tenant has set. An empty one changes nothing."""

    version: int = Field(1, ge=1, le=1)
    entities: list[Entity] = Field(default=[], max_length=2_000)
    rules: list[Rule] = Field(default=[], max_length=200)
    _indexes: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def indexes(self) -> dict[str, Any]:
        """What matching has made of the entities, by language."""
        return self._indexes

    @model_validator(mode="after")
    def _says_one_thing_only(self) -> "Glossary":
        owners: dict[tuple[str, ...], int] = {}
        for at, entity in enumerate(self.entities):
            for field, texts in (("name", [entity.name]), ("spellings", entity.spellings)):
                for text in texts:
                    words = folded_words(text)
                    if not words:
                        raise ValueError(f"entities[{at}].{field}: {text!r} holds no word")
                    owner = owners.setdefault(words, at)
                    if owner != at:
                        raise ValueError(
                            f"entities[{at}].{field}: {text!r} belongs to entities[{owner}] already; "
                            "a spelling can mean one entity only"
                        )
        return self


NO_GLOSSARY = Glossary()


def parse_glossary(data: bytes, *, file: str = "glossary") -> Glossary:
    """Read a glossary's JSON. Raises `GlossaryInvalid` with one line a mistake: file, entry, field, what is wrong."""
    if len(data) > MAX_BYTES:
        raise GlossaryInvalid(f"{file}: {len(data)} bytes are too many; a glossary has {MAX_BYTES} at most.")
    try:
        return Glossary.model_validate_json(data)
    except ValidationError as error:
        raise GlossaryInvalid("\n".join(_line(file, each["loc"], each["msg"]) for each in error.errors())) from None


def folded_words(text: str) -> tuple[str, ...]:
    """Return a text's words without case and diacritics; the stars of patterns stay."""
    return tuple(lexical.fold(word).casefold() for word in _WORD.findall(text))


def glossary_key(tenant: str) -> str:
    """Name the object a tenant's glossary lies in."""
    return f"glossary/{tenant}.json"


def _line(file: str, place: Sequence[int | str], message: str) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    text = message.removeprefix("Value error, ").replace("Input should", "should")
    text = text.replace("Extra inputs are not permitted", "this field is not known")
    return f"{file}: {where}: {text}" if where else f"{file}: {text}"


# --- Glossaries out of the bucket, held in the container ---

MAX_TENANTS = 200
"""Glossaries held at once; the one that was read longest ago goes."""
RETRY_S = 5.0
"""Seconds for which a bucket that could not be read is not asked again."""


class _Held(NamedTuple):
    glossary: Glossary | None
    etag: str
    error: GlossaryInvalid | DependencyError | None
    fresh_until: float


class CachedGlossaries:
    """Implements `GlossarySource`: at most one conditional read a tenant every `ttl_s` seconds.

    While the bucket cannot be read, the glossary that was read last is used.
    """

    def __init__(self, objects: SmallObjectReader, clock: Clock, *, ttl_s: float) -> None:
        self._objects = objects
        self._clock = clock
        self._ttl_s = ttl_s
        self._held: dict[str, _Held] = {}
        self._turns: dict[str, Lock] = {}
        self._lock = Lock()

    def of(self, tenant: str) -> Glossary:
        """Return the tenant's glossary. Raises `DependencyError` and `GlossaryInvalid`."""
        held = self._held.get(tenant)
        if held is None or not self._is_fresh(held):
            with self._turns.setdefault(tenant, Lock()):
                held = self._held.get(tenant)  # whoever had to wait finds what was read meanwhile
                if held is None or not self._is_fresh(held):
                    held = self._read(tenant, held)
                    self._hold(tenant, held)
        if held.glossary is not None:
            return held.glossary
        error = held.error or AssertionError("a glossary or an error is held")
        raise error.with_traceback(None)  # else it grew with every question, and held what each of them was about

    def _is_fresh(self, held: _Held) -> bool:
        return held.fresh_until > self._clock.monotonic()

    def _hold(self, tenant: str, held: _Held) -> None:
        with self._lock:
            self._held.pop(tenant, None)
            self._held[tenant] = held
            while len(self._held) > MAX_TENANTS:
                oldest = next(iter(self._held))
                del self._held[oldest]
                self._turns.pop(oldest, None)

    def _read(self, tenant: str, held: _Held | None) -> _Held:
        key = glossary_key(tenant)
        known = held.etag if held else ""
        try:
            found = self._objects.read_small(key, known_etag=known, most_bytes=MAX_BYTES)
        except DependencyError as error:
            return _Held(held.glossary if held else None, known, error, self._clock.monotonic() + RETRY_S)
        fresh_until = self._clock.monotonic() + self._ttl_s
        if found is None:
            return _Held(NO_GLOSSARY, "", None, fresh_until)
        if held is not None and found.body is None:
            return _Held(held.glossary, held.etag, held.error, fresh_until)
        try:
            return _Held(parse_glossary(found.body or b"", file=key), found.etag, None, fresh_until)
        except GlossaryInvalid as error:
            return _Held(None, found.etag, error, fresh_until)


# --- Applying a tenant's glossary to a question ---

SYNONYM_SHARE = 0.15
"""Share of the search that a wording with another name for an entity gets."""
RULE_SHARE = 0.15
MAX_WORDS = 400
"""Words of a question that are compared; longer ones are pasted texts."""

_WORD_GLOSSARY_MATCHING = re.compile(r"[^\W_]+")


_PatternWord = tuple[str, frozenset[str]]


class AppliedGlossary(NamedTuple):
    """A question with its entities called by name, and what the glossary adds to its search."""

    question: str
    variants: tuple[QueryVariant, ...] = ()
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


def apply_glossary(glossary: Glossary, question: str, language: str) -> AppliedGlossary:
    """Put spellings right and collect variations, filters and boosts. `language` is for stems ("" is English).

    Filters of several entities are alternatives (a comparison needs both); those of rules are further conditions.
    """
    tokens = [
        _Token(match.group(), *match.span(), _forms(match.group(), language))
        for match, _ in zip(_WORD_GLOSSARY_MATCHING.finditer(question), range(MAX_WORDS), strict=False)
    ]
    found = list(_entities(glossary, tokens, language))
    rules = [rule for rule in glossary.rules if any(_matches(pattern, tokens, language) for pattern in rule.patterns)]
    named = _replaced(question, {each: each.entity.name for each in found if not each.is_name})
    wordings = [
        *(
            QueryVariant(_replaced(question, {each: synonym}), SYNONYM_SHARE)
            for each in found
            for synonym in each.entity.synonyms
        ),
        *(
            QueryVariant(wording.replace("{question}", named, 1), RULE_SHARE)
            for rule in rules
            for wording in rule.variations
        ),
    ]
    return AppliedGlossary(
        question=named,
        variants=tuple({each.text: each for each in reversed(wordings) if each.text != named}.values())[::-1],
        filter=_filter_glossary_matching([each.entity for each in found], rules),
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
            if entity.exact and [token.text for token in here] != _WORD_GLOSSARY_MATCHING.findall(text):
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
                words = [_forms(word, language) for word in _WORD_GLOSSARY_MATCHING.findall(text)]
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


def _filter_glossary_matching(entities: Sequence[Entity], rules: Sequence[Rule]) -> Filter | None:
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
