"""The fields of JSON sources as pydantic models, and what is wrong with them in words of our own.

`null` means the same as leaving a field out.
"""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

MAX_LABEL = 200
_SHOWN = 5
"""Fields of one object that are named at most."""
_SHOWN_NAME = 60
_TEXTS = {
    "missing": "this field is missing",
    "string_type": "a text is expected",
    "string_too_short": "it is empty",
    "string_too_long": "at most {max_length} characters are taken",
    "string_unicode": "it holds half of a character (a lone surrogate)",
    "string_pattern_mismatch": "a language tag is expected, such as en or pt-BR",
    "bool_type": "true or false is expected",
    "bool_parsing": "true or false is expected",
    "model_type": "an object is expected",
    "dict_type": "an object is expected",
    "too_short": "it is empty",
}
"""By pydantic's name of the error; any other one keeps pydantic's words."""


def _given(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: field for name, field in value.items() if field is not None}


def _checked_tag(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        text = f"a text of at most {MAX_LABEL} characters is expected, or a list of such texts"
        raise PydanticCustomError("tag", "{text}", {"text": text}) from None


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Label = Annotated[str, StringConstraints(max_length=MAX_LABEL)]
Language = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$", max_length=35)]
"""A language tag as BCP 47 has them; an underscore is taken for a hyphen."""
TagName = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Tags = Annotated[dict[TagName, Annotated[Label | list[Label], WrapValidator(_checked_tag)]], BeforeValidator(_given)]


class Fields(BaseModel):
    """Any object of a JSON source."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        return _given(value)


class Pair(Fields):
    """A question with its answer."""

    question: Text
    answer: Text
    language: Label = ""
    department_id: Label = ""
    conversation_id: Label = ""
    tags: Tags = Field(default_factory=dict)


class Variant(Fields):
    """A chunk's text in one language."""

    text: Text


class About(Fields):
    """A chunk's metadata."""

    chunk_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    title: Label = ""
    chapter: Label = ""
    department_id: Label = ""
    is_active: bool = True


class Strings(Fields):
    """What is embedded in place of the text."""

    semantic: Text | None = None


class KnowledgeChunk(Fields):
    """One entry of a knowledge file."""

    metadata: About
    languageVariants: dict[Language, Variant] = Field(min_length=1)  # noqa: N815 - the format's own name
    embeddingStrings: Strings = Field(default_factory=Strings)  # noqa: N815 - the format's own name
    tags: Tags = Field(default_factory=dict)
    is_active: bool = True


def fields_of(error: ValidationError) -> str:
    """Name every field that is wrong and what is expected there, never its value."""
    found = error.errors(include_url=False, include_input=False)
    told = dict.fromkeys(f"{_place_of(each['loc'])}: {_text_of(each)}" for each in found)
    return "; ".join(list(told)[:_SHOWN])


def _place_of(path: tuple[int | str, ...]) -> str:
    # `[key]` is pydantic's word for the name of a field itself; a name may be of any length.
    return ".".join(str(part)[:_SHOWN_NAME] for part in path if part != "[key]") or "the object"


def _text_of(found: Any) -> str:
    text: str = _TEXTS.get(found["type"], found["msg"])
    return text.format_map(found.get("ctx", {}))
