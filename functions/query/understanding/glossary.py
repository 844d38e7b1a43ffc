"""A tenant's own words: how entities are spelled and called, and which patterns mean which documents.

The object `glossary/{tenant}.json` of the bucket. Nothing in it is a regular expression: patterns are words, so that no
glossary can make a question slow. All comparing is without case and diacritics, and by the stems of the question's
language, so that inflected forms match.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

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

from functions.query.retrieval.filters import InvalidFilter, checked
from shared import lexical

MOST_BYTES = 256 * 1024
"""Bytes of a glossary at most; it is held in every container, for every tenant that asks."""
MOST_LIFT = 0.3
ANY_WORDS = 4
"""Words that a `*` between two words of a pattern may stand for at most."""

_WORD = re.compile(r"[^\W_]+\*?|\*")
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


def _filter(value: dict[str, object]) -> dict[str, object]:
    try:
        checked(value)
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
    lift: float = Field(0.1, gt=0, le=MOST_LIFT)


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


class GlossarySource(Protocol):
    """Where glossaries come from."""

    def of(self, tenant: str) -> Glossary:
        """Return the tenant's glossary, an empty one where there is none.

        Raises `DependencyError` when it cannot be read and `GlossaryInvalid` when it is not in the expected form.
        """
        ...


def parse_glossary(data: bytes, *, file: str = "glossary") -> Glossary:
    """Read a glossary's JSON. Raises `GlossaryInvalid` with one line a mistake: file, entry, field, what is wrong."""
    if len(data) > MOST_BYTES:
        raise GlossaryInvalid(f"{file}: {len(data)} bytes are too many; a glossary has {MOST_BYTES} at most.")
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
