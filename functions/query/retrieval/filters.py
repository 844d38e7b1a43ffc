"""Metadata filters in Pinecone's language: checked before a search, and applied to the tenant's boosts.

    {"language": "en", "$or": [{"page_start": {"$gte": 10}}, {"department_id": {"$in": ["d1", "d2"]}}]}

Pinecone rejects a wrong filter too, but that would look like a failing dependency and would not name the place.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from shared.errors import ClientError, cut_name
from shared.models import CARD, Filter, MetadataValue

MAX_DEPTH = 10
"""Levels of nested filters. Our limit; Pinecone documents none."""
MAX_CONDITIONS = 200
"""Conditions in one filter. Our limit: each costs the index a pass."""
MAX_VALUES = 10_000
"""Values of a list (docs.pinecone.io, "Metadata filter expressions")."""
MAX_INTEGER = 2**63 - 1
"""The largest integer that the vendors' clients can write."""

FIELDS = (
    "document_id", "source_id", "source_type", "title", "section", "page_start", "page_end", "page_label", "language",
    "chapter", "phase", "goal", "type", "tags", "department_id", "conversation_id", "created_at", "version_id",
    "object_key", "chunk_index", "token_count", "char_start", "char_end", "content_hash", "generation", "text", "cover",
    "pages", "sections", "edit", "original_hash", "table", "described_by", *CARD,
)  # fmt: skip
"""The fields of every passage's metadata that we give ourselves; FAQs and knowledge files add their tags by name."""

_HALVES = re.compile("[\ud800-\udfff]")
_COMPARING = ("$gt", "$gte", "$lt", "$lte")
_OPERATORS = ("$eq", "$ne", *_COMPARING, "$in", "$nin", "$exists")
_JOINING = ("$and", "$or")
_NAMING = frozenset(("document_id", "source_id", "object_key", "title"))
"""The fields that say which document is meant."""


class InvalidFilter(ClientError):
    """The filter is not in Pinecone's language. `path` says where: `filter.$or[1].page_start.$gte`."""

    code = "invalid_filter"
    status = 422

    def __init__(self, path: str, message: str) -> None:
        path = _HALVES.sub("\ufffd", cut_name(path))
        super().__init__(f"{path}: {message}")
        self.path = path


def checked_filter(value: object) -> Filter | None:
    """Return the filter unchanged, None for an empty one. Raises `InvalidFilter` with the place and the correction."""
    if value is None or value == {}:
        return None
    _check(value, "filter", depth=1, left=[MAX_CONDITIONS])
    return cast(Filter, value)


def own_fields(wanted: Filter, path: str = "filter") -> Iterator[tuple[str, str]]:
    """Iterate over place and name of a checked filter's fields that are none of `FIELDS`: tags, or mistakes."""
    for name, condition in wanted.items():
        if name in _JOINING:
            for at, part in enumerate(cast(Sequence[Filter], condition)):
                yield from own_fields(part, f"{path}.{name}[{at}]")
        elif name not in FIELDS:
            yield f"{path}.{name}", name


def documents_chosen(wanted: Filter | None) -> int:
    """Return how many documents a filter names, at most, by id, file or title; 0 if it does not choose any."""
    counts = []
    for name, condition in (wanted or {}).items():
        if name == "$and":
            counts += [documents_chosen(part) for part in cast(Sequence[Filter], condition)]
        elif name in _NAMING:
            values = condition if isinstance(condition, Mapping) else {"$eq": condition}
            counts += [1 for operator in values if operator == "$eq"]
            counts += [len(cast(Sequence[object], values[operator])) for operator in values if operator == "$in"]
    return min(filter(None, counts), default=0)


def both(one: Filter | None, other: Filter | None) -> Filter | None:
    """Return the filter that matches what both match."""
    if not one or not other:
        return one or other or None
    return {"$and": [one, other]}


def _check(value: object, path: str, *, depth: int, left: list[int]) -> None:
    if not isinstance(value, Mapping):
        raise InvalidFilter(path, f'must be an object like {{"language": {{"$eq": "en"}}}}, not {_kind(value)}.')
    if depth > MAX_DEPTH:
        raise InvalidFilter(path, f"is nested deeper than {MAX_DEPTH} levels; flatten it.")
    for name, condition in value.items():
        here = f"{path}.{name}"
        if name in _JOINING:
            if not isinstance(condition, list) or not condition:
                raise InvalidFilter(here, f"must be a list of at least one filter, not {_kind(condition)}.")
            for at, part in enumerate(condition):
                _check(part, f"{here}[{at}]", depth=depth + 1, left=left)
        elif not _is_text(name):
            raise InvalidFilter(here, "this name is not text that UTF-8 can encode.")
        elif not name or name.startswith("$"):
            where = "belongs under a field's name" if name in _OPERATORS else "is not known"
            raise InvalidFilter(here, f"this operator {where}; join filters with {_either(_JOINING)}.")
        else:
            _check_field(condition, here, left)


def _check_field(condition: object, path: str, left: list[int]) -> None:
    if isinstance(condition, Mapping):
        if not condition:
            raise InvalidFilter(path, f"needs an operator: {_either(_OPERATORS)}.")
        for operator, operand in condition.items():
            _check_operand(operator, operand, f"{path}.{operator}", left)
    elif isinstance(condition, list):
        raise InvalidFilter(path, 'is a list; write {"$in": [...]} for any of several values.')
    else:
        _check_operand("$eq", condition, path, left)


def _check_operand(operator: object, operand: object, path: str, left: list[int]) -> None:
    left[0] -= 1
    if left[0] < 0:
        raise InvalidFilter(path, f"is one condition too many; a filter has at most {MAX_CONDITIONS}.")
    if operator in ("$eq", "$ne"):
        if not isinstance(operand, bool) and not _is_text(operand) and not _is_number(operand):
            raise InvalidFilter(path, f"must be a string, a number or a boolean, not {_kind(operand)}.")
    elif operator in _COMPARING:
        if not _is_number(operand):
            raise InvalidFilter(path, f"must be a number, not {_kind(operand)}.")
    elif operator in ("$in", "$nin"):
        _check_values(operand, path)
    elif operator == "$exists":
        if not isinstance(operand, bool):
            raise InvalidFilter(path, f"must be true or false, not {_kind(operand)}.")
    else:
        raise InvalidFilter(path, f"this operator is not known; use {_either(_OPERATORS)}.")


def _check_values(operand: object, path: str) -> None:
    if not isinstance(operand, list) or not operand:
        raise InvalidFilter(path, f"must be a list of strings or of numbers, not {_kind(operand)}.")
    if len(operand) > MAX_VALUES:
        raise InvalidFilter(path, f"has {len(operand)} values; at most {MAX_VALUES} are allowed.")
    if not all(map(_is_text, operand)) and not all(map(_is_number, operand)):
        raise InvalidFilter(path, "must hold strings only or numbers only.")


def _is_number(value: object) -> bool:
    """Say whether the index accepts it as a number: JSON has integers of any length."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= MAX_INTEGER
    return isinstance(value, float) and math.isfinite(value)


def _is_text(value: object) -> bool:
    """Say whether it is a string that UTF-8 can encode: JSON's escapes can hold halves of surrogate pairs."""
    return isinstance(value, str) and not _HALVES.search(value)


def _kind(value: object) -> str:
    names = {"NoneType": "null", "str": "a string", "bool": "a boolean", "dict": "an object", "list": "a list"}
    if value == [] and isinstance(value, list):
        return "an empty list"
    if isinstance(value, str) and not _is_text(value):
        return "half of a character"
    return names.get(type(value).__name__, "such a number" if isinstance(value, int | float) else "this")


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def matches(wanted: Filter, metadata: Mapping[str, MetadataValue]) -> bool:
    """Say whether metadata match a checked filter, by the index's rules."""
    return all(_passes(name, condition, metadata) for name, condition in wanted.items())


def _passes(name: str, condition: object, metadata: Mapping[str, MetadataValue]) -> bool:
    if name in _JOINING:
        parts = (matches(part, metadata) for part in cast(Sequence[Filter], condition))
        return all(parts) if name == "$and" else any(parts)
    conditions = condition if isinstance(condition, Mapping) else {"$eq": condition}
    return all(_holds(operator, operand, name, metadata) for operator, operand in conditions.items())


def _holds(operator: str, operand: object, name: str, metadata: Mapping[str, MetadataValue]) -> bool:
    value = metadata.get(name)
    if operator == "$exists":
        return (name in metadata) is operand
    if operator in ("$ne", "$nin"):
        return not _is_among(value, operand if operator == "$nin" else [operand])
    if operator in ("$eq", "$in"):
        return _is_among(value, operand if operator == "$in" else [operand])
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    bound = cast(float, operand)
    return {"$gt": value > bound, "$gte": value >= bound, "$lt": value < bound, "$lte": value <= bound}[operator]


def _is_among(value: MetadataValue | None, wanted: object) -> bool:
    """Compare as JSON does (true is not 1); a list matches if one member does."""
    members = value if isinstance(value, list) else [value]
    return any(
        member == each and isinstance(member, bool) == isinstance(each, bool)
        for member in members
        for each in cast(Sequence[object], wanted)
    )
