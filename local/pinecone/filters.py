"""Pinecone's metadata filter language, compiled once into a function over metadata columns.

    {"genre": {"$in": ["drama", "comedy"]}, "$or": [{"year": {"$gte": 2020}}, {"classic": true}]}

A list of strings matches `$eq` and `$in` when one of its members does. `$ne` and `$nin` are the exact opposites, so
they match records that lack the field. `$gt`, `$gte`, `$lt` and `$lte` compare numbers only. True and 1 differ.

Columns make a filter over 100,000 records a handful of array operations. A column is built when a filter first names
its field and updated with every write from then on: fields that nobody filters on (texts) cost nothing.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from local.pinecone.records import render
from local.pinecone.validation import MAX_FILTER_LIST, RpcError

type Mask = NDArray[np.bool_]
type Key = tuple[str, str | float | bool]
"""A scalar together with its JSON type, because Python takes True, 1 and 1.0 for the same dictionary key."""

_MISSING, _LIST = -1, -2
_COMPARISONS: dict[str, Callable[[Any, Any], Mask]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def _key(value: str | float | bool) -> Key:
    if isinstance(value, str):
        return ("s", value)
    return ("b", value) if isinstance(value, bool) else ("n", float(value))


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
            self._members[slot] = codes = tuple({self._code(_key(item)) for item in value})
            for code in codes:
                self._slots_with.setdefault(code, set()).add(slot)
        else:
            self._codes[slot] = self._code(_key(value))

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

    def compare(self, name: str, bound: float, count: int) -> Mask:
        """Mark the slots whose number compares with `bound` as "$gt", … say; NaN, for "no number", never does."""
        return _COMPARISONS[name](self._numbers[:count], bound)

    def exists(self, count: int) -> Mask:
        """Mark the slots that have the field."""
        mask: Mask = self._codes[:count] != _MISSING
        return mask


class Columns:
    """The columns of a namespace. `records` yields (slot, metadata) of every live record, to build a column from."""

    def __init__(self, records: Callable[[], Iterator[tuple[int, dict[str, Any]]]], capacity: int) -> None:
        self._records = records
        self._capacity = capacity
        self._columns: dict[str, Column] = {}

    @property
    def in_use(self) -> bool:
        """Whether writes have any column to update."""
        return bool(self._columns)

    def grow(self, capacity: int) -> None:
        """Make room for more slots in every column."""
        self._capacity = capacity
        for column in self._columns.values():
            column.grow(capacity)

    def set(self, slot: int, metadata: dict[str, Any]) -> None:
        """Update every column with a record's metadata ({} when it is gone)."""
        for field, column in self._columns.items():
            column.set(slot, metadata.get(field))

    def column(self, field: str) -> Column:
        """Return a field's column, built at its first use."""
        column = self._columns.get(field)
        if column is None:
            column = self._columns[field] = Column(self._capacity)
            for slot, metadata in self._records():
                if field in metadata:
                    column.set(slot, metadata[field])
        return column


type Filter = Callable[[Columns, int], Mask]
"""Marks which of the first `count` slots pass. Dead slots may be marked: the caller knows which ones are alive."""


def matches(passes: Filter, metadata: dict[str, Any]) -> bool:
    """Say whether one record's metadata passes."""
    return bool(passes(Columns(lambda: iter([(0, metadata)]), 1), 1)[0])


def parse_filter(raw: Any) -> Filter:
    """Compile a filter; an empty one matches everything. Raises `RpcError` with the vendor's message."""
    if not isinstance(raw, dict):
        raise RpcError(f"a filter must be an object, got {render(raw)} instead")
    return _all([_clause(name, condition) for name, condition in raw.items()])


def _all(parts: Sequence[Filter]) -> Filter:
    return lambda columns, count: np.all([np.ones(count, bool), *(part(columns, count) for part in parts)], axis=0)


def _any(parts: Sequence[Filter]) -> Filter:
    return lambda columns, count: np.any([part(columns, count) for part in parts], axis=0)


def _clause(name: str, condition: Any) -> Filter:
    if name in ("$and", "$or"):
        if not isinstance(condition, list) or not condition or not all(isinstance(part, dict) for part in condition):
            raise _wrong_operand(name, "a list of filters", condition)
        parts = [parse_filter(part) for part in condition]
        return _all(parts) if name == "$and" else _any(parts)
    if name.startswith("$"):
        raise RpcError(f"{name} is not a valid operator")
    if not isinstance(condition, dict | list):
        return _condition(name, "$eq", condition)
    if isinstance(condition, list) or not condition or not all(each.startswith("$") for each in condition):
        raise RpcError(f"illegal condition for field {name}, got {render(condition)}")
    return _all([_condition(name, each, operand) for each, operand in condition.items()])


def _condition(field: str, name: str, operand: Any) -> Filter:
    positive: Filter
    match name:
        case "$eq" | "$ne":
            if not isinstance(operand, (str, bool, int, float)):
                raise _wrong_operand(name, "a string, boolean or a number", operand)
            keys = frozenset([_key(operand)])
            positive, negated = lambda columns, count: columns.column(field).any_of(keys, count), name == "$ne"
        case "$in" | "$nin":
            keys = _keys(name, operand)
            positive, negated = lambda columns, count: columns.column(field).any_of(keys, count), name == "$nin"
        case "$gt" | "$gte" | "$lt" | "$lte":
            if isinstance(operand, bool) or not isinstance(operand, (int, float)):
                raise _wrong_operand(name, "a number", operand)
            bound = float(operand)
            positive, negated = lambda columns, count: columns.column(field).compare(name, bound, count), False
        case "$exists":
            if not isinstance(operand, bool):
                raise _wrong_operand(name, "a boolean", operand)
            positive, negated = lambda columns, count: columns.column(field).exists(count), not operand
        case _:
            raise RpcError(f"{name} is not a valid operator")
    return (lambda columns, count: ~positive(columns, count)) if negated else positive


def _keys(name: str, operand: Any) -> frozenset[Key]:
    is_list = isinstance(operand, list)
    all_strings = is_list and all(isinstance(item, str) for item in operand)
    all_numbers = is_list and all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in operand)
    if not (all_strings or all_numbers):
        raise _wrong_operand(name, "a list of strings or a list of numbers", operand)
    if (got := len(operand)) > MAX_FILTER_LIST:
        raise RpcError(f"the {name} operator accepts at most {MAX_FILTER_LIST} values, got {got} instead")
    return frozenset(_key(item) for item in operand)


def _wrong_operand(name: str, expected: str, operand: Any) -> RpcError:
    return RpcError(f"the {name} operator must be followed by {expected}, got {render(operand)} instead")
