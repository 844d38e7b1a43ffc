"""Pinecone's metadata filter language, parsed once into a tree.

    {"genre": {"$in": ["drama", "comedy"]}, "$or": [{"year": {"$gte": 2020}}, {"classic": true}]}

A list of strings matches `$eq` and `$in` when one of its members does. `$ne` and `$nin` are the exact opposites, so
they match records that lack the field. `$gt` and its kin look at numbers only. True and 1 are different values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from local.pinecone import limits
from local.pinecone.errors import DataError
from local.pinecone.records import render

type Key = tuple[str, str | float | bool]
"""A scalar together with its JSON type, because Python takes True, 1 and 1.0 for the same dictionary key."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field's value, or one member of its list, is among `keys`."""

    field: str
    keys: frozenset[Key]


@dataclass(frozen=True, slots=True)
class Compare:
    """The field is a number that stands in the relation `operator` ("$gt", …) to `bound`."""

    field: str
    operator: str
    bound: float


@dataclass(frozen=True, slots=True)
class Exists:
    """The record has the field."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of `part`."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part holds."""

    parts: tuple["Node", ...]


type Node = AnyOf | Compare | Exists | Not | All | Some

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "$gt": lambda left, right: left > right,
    "$gte": lambda left, right: left >= right,
    "$lt": lambda left, right: left < right,
    "$lte": lambda left, right: left <= right,
}


def key_of(value: str | float | bool) -> Key:
    """Make a scalar comparable by type and value."""
    if isinstance(value, str):
        return ("s", value)
    return ("b", value) if isinstance(value, bool) else ("n", float(value))


def parse_filter(raw: Any) -> Node:
    """Parse a filter; an empty one matches everything. Raises `DataError` with the vendor's words."""
    if not isinstance(raw, dict):
        raise DataError(f"a filter must be an object, got {render(raw)} instead")
    return All(tuple(_clause(name, condition) for name, condition in raw.items()))


def _clause(name: str, condition: Any) -> Node:
    if name in ("$and", "$or"):
        if not isinstance(condition, list) or not condition or not all(isinstance(part, dict) for part in condition):
            raise DataError(
                f"the {name} operator must be followed by a list of filters, got {render(condition)} instead"
            )
        parts = tuple(parse_filter(part) for part in condition)
        return All(parts) if name == "$and" else Some(parts)
    if name.startswith("$"):
        raise DataError(f"{name} is not a valid operator")
    if isinstance(condition, dict):
        if not condition or not all(operator.startswith("$") for operator in condition):
            raise DataError(f"illegal condition for field {name}, got {render(condition)}")
        return All(tuple(_condition(name, operator, operand) for operator, operand in condition.items()))
    if isinstance(condition, list):
        raise DataError(f"illegal condition for field {name}, got {render(condition)}")
    return _condition(name, "$eq", condition)


def _condition(field: str, operator: str, operand: Any) -> Node:
    match operator:
        case "$eq" | "$ne":
            if not isinstance(operand, (str, bool, int, float)):
                raise _wrong_operand(operator, "a string, boolean or a number", operand)
            found: Node = AnyOf(field, frozenset([key_of(operand)]))
            return found if operator == "$eq" else Not(found)
        case "$in" | "$nin":
            found = AnyOf(field, _keys(operator, operand))
            return found if operator == "$in" else Not(found)
        case "$gt" | "$gte" | "$lt" | "$lte":
            if isinstance(operand, bool) or not isinstance(operand, (int, float)):
                raise _wrong_operand(operator, "a number", operand)
            return Compare(field, operator, float(operand))
        case "$exists":
            if not isinstance(operand, bool):
                raise _wrong_operand(operator, "a boolean", operand)
            return Exists(field) if operand else Not(Exists(field))
        case _:
            raise DataError(f"{operator} is not a valid operator")


def _keys(operator: str, operand: Any) -> frozenset[Key]:
    is_list = isinstance(operand, list)
    all_strings = is_list and all(isinstance(item, str) for item in operand)
    all_numbers = is_list and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in operand)
    if not (all_strings or all_numbers):
        raise _wrong_operand(operator, "a list of strings or a list of numbers", operand)
    if len(operand) > limits.MAX_FILTER_LIST:
        raise DataError(
            f"the {operator} operator accepts at most {limits.MAX_FILTER_LIST} values, got {len(operand)} instead"
        )
    return frozenset(key_of(item) for item in operand)


def _wrong_operand(operator: str, expected: str, operand: Any) -> DataError:
    return DataError(f"the {operator} operator must be followed by {expected}, got {render(operand)} instead")


def matches(node: Node, metadata: dict[str, Any]) -> bool:
    """Say whether one record's metadata passes the filter (the columns do the same for a whole namespace)."""
    match node:
        case AnyOf(field, keys):
            value = metadata.get(field)
            if isinstance(value, list):
                return any(key_of(item) in keys for item in value)
            return value is not None and key_of(value) in keys
        case Compare(field, operator, bound):
            value = metadata.get(field)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return is_number and bool(COMPARISONS[operator](value, bound))
        case Exists(field):
            return field in metadata
        case Not(part):
            return not matches(part, metadata)
        case All(parts):
            return all(matches(part, metadata) for part in parts)
        case Some(parts):
            return any(matches(part, metadata) for part in parts)
