"""Metadata as columns, so that a filter over 100,000 records is a handful of array operations.

A column is built when a filter first names its field, and kept in step with every write from then on: fields that
nobody filters on (texts) cost nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from local.pinecone.filters import COMPARISONS, All, AnyOf, Compare, Exists, Key, Node, Not, Some, key_of

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
