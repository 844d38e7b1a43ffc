"""Pinecone's metadata filter language: parsed once into a tree, evaluated over a record or over metadata columns.

    {"genre": {"$in": ["drama", "comedy"]}, "$or": [{"year": {"$gte": 2020}}, {"classic": true}]}

A list of strings matches `$eq` and `$in` when one of its members does. `$ne` and `$nin` are the exact opposites, so
they match records that lack the field. `$gt`, `$gte`, `$lt` and `$lte` compare numbers only. True and 1 differ.

Columns make a filter over 100,000 records a handful of array operations. A column is built when a filter first names
its field and updated with every write from then on: fields that nobody filters on (texts) cost nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from local.pinecone.records import render
from local.pinecone.validation import MAX_FILTER_LIST, DataPlaneError

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
    """Parse a filter; an empty one matches everything. Raises `DataPlaneError` with the vendor's words."""
    if not isinstance(raw, dict):
        raise DataPlaneError(f"a filter must be an object, got {render(raw)} instead")
    return All(tuple(_clause(name, condition) for name, condition in raw.items()))


def _clause(name: str, condition: Any) -> Node:
    if name in ("$and", "$or"):
        if not isinstance(condition, list) or not condition or not all(isinstance(part, dict) for part in condition):
            raise DataPlaneError(
                f"the {name} operator must be followed by a list of filters, got {render(condition)} instead"
            )
        parts = tuple(parse_filter(part) for part in condition)
        return All(parts) if name == "$and" else Some(parts)
    if name.startswith("$"):
        raise DataPlaneError(f"{name} is not a valid operator")
    if isinstance(condition, dict):
        if not condition or not all(operator.startswith("$") for operator in condition):
            raise DataPlaneError(f"illegal condition for field {name}, got {render(condition)}")
        return All(tuple(_condition(name, operator, operand) for operator, operand in condition.items()))
    if isinstance(condition, list):
        raise DataPlaneError(f"illegal condition for field {name}, got {render(condition)}")
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
            raise DataPlaneError(f"{operator} is not a valid operator")


def _keys(operator: str, operand: Any) -> frozenset[Key]:
    is_list = isinstance(operand, list)
    all_strings = is_list and all(isinstance(item, str) for item in operand)
    all_numbers = is_list and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in operand)
    if not (all_strings or all_numbers):
        raise _wrong_operand(operator, "a list of strings or a list of numbers", operand)
    if len(operand) > MAX_FILTER_LIST:
        raise DataPlaneError(
            f"the {operator} operator accepts at most {MAX_FILTER_LIST} values, got {len(operand)} instead"
        )
    return frozenset(key_of(item) for item in operand)


def _wrong_operand(operator: str, expected: str, operand: Any) -> DataPlaneError:
    return DataPlaneError(f"the {operator} operator must be followed by {expected}, got {render(operand)} instead")


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


type Mask = NDArray[np.bool_]

_MISSING, _LIST = -1, -2


class Column:
    """One field over all slots: a code per scalar, the number itself for comparisons, lists by member."""

    def __init__(self, capacity: int) -> None:
        self._codes_of: dict[Key, int] = {}
        self._codes = np.full(capacity, _MISSING, dtype=np.int32)
        self._numbers = np.full(capacity, np.nan)
        self._members: dict[int, tuple[int, ...]] = {}
        self._slots_with: dict[int, set[int]] = {}

    def grow(self, capacity: int) -> None:
        """Make room for more slots."""
        extra = capacity - len(self._codes)
        self._codes = np.concatenate([self._codes, np.full(extra, _MISSING, dtype=np.int32)])
        self._numbers = np.concatenate([self._numbers, np.full(extra, np.nan)])

    def set(self, slot: int, value: Any) -> None:
        """Put a value (None for absent) into a slot."""
        for code in self._members.pop(slot, ()):
            self._slots_with[code].discard(slot)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        self._numbers[slot] = value if is_number else np.nan
        if value is None:
            self._codes[slot] = _MISSING
        elif isinstance(value, list):
            self._codes[slot] = _LIST
            self._members[slot] = codes = tuple({self._code(key_of(item)) for item in value})
            for code in codes:
                self._slots_with.setdefault(code, set()).add(slot)
        else:
            self._codes[slot] = self._code(key_of(value))

    def _code(self, key: Key) -> int:
        return self._codes_of.setdefault(key, len(self._codes_of))

    def any_of(self, keys: frozenset[Key], count: int) -> Mask:
        """Mark the slots whose value, or a member of it, is among `keys`."""
        codes = [self._codes_of[key] for key in keys if key in self._codes_of]
        mask: Mask = np.isin(self._codes[:count], codes) if len(codes) != 1 else self._codes[:count] == codes[0]
        for code in codes:
            if slots := self._slots_with.get(code):
                mask[list(slots)] = True
        return mask

    def compare(self, operator: str, bound: float, count: int) -> Mask:
        """Mark the slots whose number stands in the relation to `bound`; NaN, for "no number", never does."""
        mask: Mask = COMPARISONS[operator](self._numbers[:count], bound)
        return mask

    def exists(self, count: int) -> Mask:
        """Mark the slots that have the field."""
        mask: Mask = self._codes[:count] != _MISSING
        return mask


class Columns:
    """The columns of a namespace. `records` yields (slot, metadata) of everything alive, to build a column from."""

    def __init__(self, records: Callable[[], Iterator[tuple[int, dict[str, Any]]]], capacity: int) -> None:
        self._records = records
        self._capacity = capacity
        self._columns: dict[str, Column] = {}

    @property
    def in_use(self) -> bool:
        """Whether writes have any column to keep in step."""
        return bool(self._columns)

    def grow(self, capacity: int) -> None:
        """Make room for more slots in every column."""
        self._capacity = capacity
        for column in self._columns.values():
            column.grow(capacity)

    def set(self, slot: int, metadata: dict[str, Any]) -> None:
        """Bring every built column up to date with a record ({} when it is gone)."""
        for field, column in self._columns.items():
            column.set(slot, metadata.get(field))

    def mask(self, node: Node, count: int) -> Mask:
        """Evaluate a filter over the first `count` slots. Dead slots may be marked: the caller knows who is alive."""
        match node:
            case AnyOf(field, keys):
                return self._column(field).any_of(keys, count)
            case Compare(field, operator, bound):
                return self._column(field).compare(operator, bound, count)
            case Exists(field):
                return self._column(field).exists(count)
            case Not(part):
                return ~self.mask(part, count)
            case All(parts):
                every = np.ones(count, dtype=np.bool_)
                for part in parts:
                    every &= self.mask(part, count)
                return every
            case Some(parts):
                some = np.zeros(count, dtype=np.bool_)
                for part in parts:
                    some |= self.mask(part, count)
                return some

    def _column(self, field: str) -> Column:
        column = self._columns.get(field)
        if column is None:
            column = Column(self._capacity)
            for slot, metadata in self._records():
                if field in metadata:
                    column.set(slot, metadata[field])
            self._columns[field] = column
        return column
