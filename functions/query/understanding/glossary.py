"""A tenant's glossary: names and spellings of entities, and rules for questions that match a pattern.

It is the object `glossary/{tenant}.json` of the bucket. Patterns are words, not regular expressions, so that no
glossary can make a question slow. Comparisons ignore case and diacritics and use the stems of the question's language,
so that inflected forms match.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""Bytes of a glossary at most; each container keeps those of its tenants in memory."""
MAX_LIFT = 0.3
MAX_SKIPPED_WORDS = 4
"""Words that a `*` between two words of a pattern matches at most."""

_PATTERN_WORD = re.compile(r"[^\W_]+\*?|\*")
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
DEFAULT_LIFT = 0.1
MAX_SPELLINGS = 50
MAX_SYNONYMS = 20
MAX_PATTERNS = 50
MAX_VARIATIONS = 5
MAX_ENTITIES = 2_000
MAX_RULES = 200
"""What a rule lifts by, if it does not say; spellings and synonyms of an entity, patterns and variations of a rule, and
entities and rules of a glossary, at most."""


def _valid_filter(value: dict[str, object]) -> dict[str, object]:
    try:
        checked_filter(value)
    except InvalidFilter as error:
        raise ValueError(str(error)) from error
    return value


MetadataFilter = Annotated[dict[str, object], Field(min_length=1, max_length=20), AfterValidator(_valid_filter)]


class GlossaryInvalid(ValueError):
    """The glossary is not in the expected form; the message has one line per mistake: file, entry, field."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lift(_Part):
    """Adds `lift`, in units of cosine, to the score of passages whose metadata match `filter`."""

    filter: MetadataFilter
    lift: float = Field(DEFAULT_LIFT, gt=0, le=MAX_LIFT)


class Entity(_Part):
    """Something that questions name. `name` is its most common name in the documents.

    `spellings` are replaced by `name` before the search. `synonyms` are other names in the documents: each adds a query
    variant. `exact` compares case, for names that are also ordinary words ("IT").
    """

    name: Words
    spellings: list[Words] = Field(default=[], max_length=MAX_SPELLINGS)
    synonyms: list[Words] = Field(default=[], max_length=MAX_SYNONYMS)
    exact: bool = False
    filter: MetadataFilter | None = None
    boost: Lift | None = None


class Rule(_Part):
    """What a kind of question ("how to …", "where …") adds to its search.

    A pattern is a sequence of words, anywhere in a question. `*` at a word's end matches any ending; alone, up to
    `MAX_SKIPPED_WORDS` words. A leading `^` matches only at the question's beginning. A variation may contain
    `{question}`.
    """

    name: Words
    patterns: list[Words] = Field(min_length=1, max_length=MAX_PATTERNS)
    variations: list[Words] = Field(default=[], max_length=MAX_VARIATIONS)
    filter: MetadataFilter | None = None
    boost: Lift | None = None

    @model_validator(mode="after")
    def _does_something(self) -> "Rule":
        for at, pattern in enumerate(self.patterns):
            words = _folded(pattern)
            if not words or "*" in (words[0], words[-1]):
                raise ValueError(f"patterns[{at}]: {pattern!r} must begin and end with a word")
        if not (self.variations or self.filter or self.boost):
            raise ValueError("has no effect: give it `filter`, `boost` or `variations`")
        return self


class Glossary(_Part):
    """A tenant's entities and rules. An empty glossary changes nothing."""

    version: int = Field(1, ge=1, le=1)
    entities: list[Entity] = Field(default=[], max_length=MAX_ENTITIES)
    rules: list[Rule] = Field(default=[], max_length=MAX_RULES)
    _indexes: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def indexes(self) -> dict[str, Any]:
        """The lookup tables of the entities' names, by language."""
        return self._indexes

    @model_validator(mode="after")
    def _spellings_are_unique(self) -> "Glossary":
        owners: dict[tuple[str, ...], int] = {}
        for at, entity in enumerate(self.entities):
            for field, texts in (("name", [entity.name]), ("spellings", entity.spellings)):
                for text in texts:
                    words = _folded(text)
                    if not words:
                        raise ValueError(f"entities[{at}].{field}: {text!r} has no word")
                    owner = owners.setdefault(words, at)
                    if owner != at:
                        raise ValueError(
                            f"entities[{at}].{field}: {text!r} belongs to entities[{owner}] already; "
                            "a spelling can mean one entity only"
                        )
        return self


NO_GLOSSARY = Glossary()


def parse_glossary(data: bytes, *, file: str = "glossary") -> Glossary:
    """Parse a glossary's JSON. Raises `GlossaryInvalid`."""
    if len(data) > MAX_BYTES:
        raise GlossaryInvalid(f"{file}: the glossary has {len(data)} bytes; at most {MAX_BYTES} are allowed.")
    try:
        return Glossary.model_validate_json(data)
    except ValidationError as error:
        raise GlossaryInvalid("\n".join(_mistake(file, each["loc"], each["msg"]) for each in error.errors())) from None


def _folded(text: str) -> tuple[str, ...]:
    """Return a text's words without case and diacritics, the stars of patterns included."""
    return tuple(lexical.fold(word).casefold() for word in _PATTERN_WORD.findall(text))


def _mistake(file: str, place: Sequence[int | str], message: str) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    text = message.removeprefix("Value error, ").replace("Input should", "should")
    text = text.replace("Extra inputs are not permitted", "this field is not known")
    return f"{file}: {where}: {text}" if where else f"{file}: {text}"


# --- Applying a glossary to a question ---

SYNONYM_SHARE = 0.15
"""Share of the search for a variant with a synonym."""
RULE_SHARE = 0.15
MAX_WORDS = 400
"""Words of a question that are compared; longer questions are pasted texts."""

_WORD = re.compile(r"[^\W_]+")


class AppliedGlossary(NamedTuple):
    """A question with corrected spellings, and what the glossary adds to its search."""

    question: str
    variants: tuple[QueryVariant, ...] = ()
    filter: Filter | None = None
    boosts: tuple[Boost, ...] = ()


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    forms: frozenset[str]


class _Name(NamedTuple):
    """A name, spelling or synonym of an entity, and the forms of each of its words."""

    entity: Entity
    text: str
    words: Sequence[frozenset[str]]
    is_right: bool


class _Mention(NamedTuple):
    entity: Entity
    start: int
    end: int
    is_right: bool


def apply_glossary(glossary: Glossary, question: str, language: str) -> AppliedGlossary:
    """Correct spellings and collect query variants, filters and boosts. `language` is for stems ("" is English).

    The filters of several entities are joined by "or" (a comparison needs both), those of rules by "and".
    """
    tokens = [
        _Token(match.group(), *match.span(), _forms(match.group(), language))
        for match, _ in zip(_WORD.finditer(question), range(MAX_WORDS), strict=False)
    ]
    mentions = list(_mentions(glossary, tokens, language))
    rules = [rule for rule in glossary.rules if any(_matches(pattern, tokens, language) for pattern in rule.patterns)]
    corrected = _replaced(question, [(each, each.entity.name) for each in mentions if not each.is_right])
    variants = [
        QueryVariant(_replaced(question, [(each, synonym)]), SYNONYM_SHARE)
        for each in mentions
        for synonym in each.entity.synonyms
    ]
    variants += [
        QueryVariant(variation.replace("{question}", corrected, 1), RULE_SHARE)
        for rule in rules
        for variation in rule.variations
    ]
    return AppliedGlossary(
        question=corrected,
        variants=tuple({each.text: each for each in reversed(variants) if each.text != corrected}.values())[::-1],
        filter=_combined_filter([each.entity for each in mentions], rules),
        boosts=tuple(_boosts([*(each.entity.boost for each in mentions), *(rule.boost for rule in rules)])),
    )


def _mentions(glossary: Glossary, tokens: Sequence[_Token], language: str) -> Iterator[_Mention]:
    """Yield the entities that the question names, from left to right: the longest match at each place, no overlaps."""
    index = _index(glossary, language)
    at = 0
    while at < len(tokens):
        best: _Name | None = None
        for name in {id(each): each for form in tokens[at].forms for each in index.get(form, ())}.values():
            here = tokens[at : at + len(name.words)]
            if len(here) < len(name.words) or (best and len(best.words) >= len(name.words)):
                continue
            if name.entity.exact and [token.text for token in here] != _WORD.findall(name.text):
                continue
            if all(token.forms & forms for token, forms in zip(here, name.words, strict=True)):
                best = name
        if best:
            end = at + len(best.words)
            yield _Mention(best.entity, tokens[at].start, tokens[end - 1].end, best.is_right)
            at = end
        else:
            at += 1


def _index(glossary: Glossary, language: str) -> Mapping[str, list[_Name]]:
    """Return the glossary's names by the forms of their first words, built once per language."""
    held: Mapping[str, list[_Name]] | None = glossary.indexes.get(language)
    if held is None:
        index: dict[str, list[_Name]] = {}
        for entity in glossary.entities:
            for text in (entity.name, *entity.spellings, *entity.synonyms):
                words = [_forms(word, language) for word in _WORD.findall(text)]
                # A synonym is correct, too: it is recognised, but not replaced.
                name = _Name(entity, text, words, text not in entity.spellings)
                for form in words[0] if words else ():
                    index.setdefault(form, []).append(name)
        held = glossary.indexes[language] = index
    return held


@lru_cache(maxsize=20_000)
def _forms(word: str, language: str) -> frozenset[str]:
    """Return a word without case and diacritics, and its stem."""
    folded = lexical.fold(word).casefold()
    terms = next(lexical.words_of(word, language or "en"), None)
    return frozenset((folded, terms[0][0])) if terms else frozenset((folded,))


def _replaced(text: str, by: Sequence[tuple[_Mention, str]]) -> str:
    for mention, name in reversed(by):
        text = text[: mention.start] + name + text[mention.end :]
    return text


_PatternWord = tuple[str, frozenset[str]]
"""A word of a pattern, and its forms if it has no star."""


def _matches(pattern: str, tokens: Sequence[_Token], language: str) -> bool:
    """Say whether the question contains the pattern's words in sequence."""
    words, at_the_beginning = _pattern_words(pattern, language)
    reach = len(words) * (MAX_SKIPPED_WORDS + 1)
    # A pattern begins with a word: the rest is compared only where that word occurs.
    starts = (0,) if at_the_beginning else range(len(tokens))
    return any(_fits(words[0], tokens[at]) and _follows(words, tokens[at : at + reach]) for at in starts if tokens)


@lru_cache(maxsize=4_096)
def _pattern_words(pattern: str, language: str) -> tuple[tuple[_PatternWord, ...], bool]:
    words = tuple((word, frozenset[str]() if "*" in word else _forms(word, language)) for word in _folded(pattern))
    return words, pattern.lstrip().startswith("^")


def _fits(word: _PatternWord, token: _Token) -> bool:
    text, forms = word
    if text.endswith("*"):
        return any(form.startswith(text[:-1]) for form in token.forms)
    return bool(forms & token.forms)


def _follows(words: Sequence[_PatternWord], tokens: Sequence[_Token]) -> bool:
    """Say whether the pattern matches from the first token, by advancing a set of possible positions word by word."""
    positions = {0}
    for word in words:
        if word[0] == "*":
            positions = {at + skipped for at in positions for skipped in range(MAX_SKIPPED_WORDS + 1)}
        else:
            positions = {at + 1 for at in positions if at < len(tokens) and _fits(word, tokens[at])}
    return bool(positions)


def _combined_filter(entities: Sequence[Entity], rules: Sequence[Rule]) -> Filter | None:
    alternatives: list[Filter] = []
    # If one entity has no filter, any document may be about it, so the other entities' filters are not applied.
    if all(entity.filter for entity in entities):
        for entity in entities:
            if entity.filter and entity.filter not in alternatives:
                alternatives.append(entity.filter)
    combined: Filter | None = {"$or": alternatives} if len(alternatives) > 1 else next(iter(alternatives), None)
    for rule in rules:
        combined = both(combined, rule.filter)
    return combined


def _boosts(lifts: Iterable[Lift | None]) -> Iterator[Boost]:
    seen: list[Filter] = []
    for lift in lifts:
        if lift and lift.filter not in seen:
            seen.append(lift.filter)
            yield Boost(lift.filter, lift.lift)


# --- Glossaries read from the bucket and cached in the container ---

MAX_TENANTS = 200
"""Cached glossaries at most; the one read longest ago is evicted."""
RETRY_S = 5.0
"""Seconds after a failed read before the next one."""


class _Held(NamedTuple):
    outcome: Glossary | GlossaryInvalid | DependencyError
    etag: str
    fresh_until: float


class CachedGlossaries:
    """Implements `GlossarySource`: at most one conditional read per tenant every `ttl_s` seconds.

    While the bucket cannot be read, the last glossary is used.
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
        held = self._fresh(tenant)
        if held is None:
            with self._turns.setdefault(tenant, Lock()):
                # Another thread may have read it while this one waited for the lock.
                held = self._fresh(tenant) or self._renew(tenant)
        if isinstance(held.outcome, Glossary):
            return held.outcome
        # Without its traceback, which would grow with every question and keep the questions in memory.
        raise held.outcome.with_traceback(None)

    def _fresh(self, tenant: str) -> _Held | None:
        held = self._held.get(tenant)
        return held if held and held.fresh_until > self._clock.monotonic() else None

    def _renew(self, tenant: str) -> _Held:
        held = self._read(_glossary_key(tenant), self._held.get(tenant))
        with self._lock:
            self._held.pop(tenant, None)
            self._held[tenant] = held
            while len(self._held) > MAX_TENANTS:
                oldest = next(iter(self._held))
                del self._held[oldest]
                self._turns.pop(oldest, None)
        return held

    def _read(self, key: str, held: _Held | None) -> _Held:
        known_etag = held.etag if held else ""
        try:
            found = self._objects.read_small(key, known_etag=known_etag, max_bytes=MAX_BYTES)
        except DependencyError as error:
            kept = held.outcome if held and isinstance(held.outcome, Glossary) else error
            return _Held(kept, known_etag, self._clock.monotonic() + RETRY_S)
        fresh_until = self._clock.monotonic() + self._ttl_s
        if found is None:
            return _Held(NO_GLOSSARY, "", fresh_until)
        if held is not None and found.body is None:
            return held._replace(fresh_until=fresh_until)
        try:
            return _Held(parse_glossary(found.body or b"", file=key), found.etag, fresh_until)
        except GlossaryInvalid as error:
            return _Held(error, found.etag, fresh_until)


def _glossary_key(tenant: str) -> str:
    """Return the object key of a tenant's glossary."""
    return f"glossary/{tenant}.json"
