"""Reads the JSON of models whose server does not enforce a schema: nearly JSON, or cut off.

Understood besides JSON: single and curly quotation marks, names without any, trailing and missing commas, comments,
Python's `True`, `False`, `None`, line breaks and unescaped quotation marks inside strings. Of what is cut off the
whole items of a list are kept.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 12
_BETWEEN = re.compile(r"(?:[\s,;\ufeff]+|//[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_CLOSES = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’"}
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]]|\Z|//|/\*)")
_BARE = re.compile(r"[\w$.+-]+")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def read_json(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the value that begins at `start`, and where it ends. Raises `ValueError` if it is nothing like JSON."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        value = reader.value(0)
        return value, reader.at


class _CutOff(Exception):
    """The text ended inside a value; `part` is what of it is whole."""

    def __init__(self, part: Any = None) -> None:
        self.part = part


@dataclass
class _Reader:
    text: str
    at: int

    def value(self, depth: int) -> Any:
        """Read the value of the whole text; of a list or object that is cut off, the whole items."""
        try:
            return self._value(depth)
        except _CutOff as cut:
            if cut.part is None:
                raise ValueError("cut off") from None
            return cut.part

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError("nested too deep")
        sign = self._next()
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._list(depth)
        return self._string() if sign in _CLOSES else self._bare()

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while True:
            try:
                sign = self._next()
                if sign == "}":
                    self.at += 1
                    return found
                name = str(self._string() if sign in _CLOSES else self._bare())
                if self._next() != ":":
                    raise ValueError("a name without a value")
                self.at += 1
            except _CutOff:
                raise _CutOff(found) from None
            try:
                found[name] = self._value(depth + 1)
            except _CutOff as cut:
                # Half a string is no value; half a list or object may hold whole items.
                raise _CutOff(found if cut.part is None else {**found, name: cut.part}) from None

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while True:
            try:
                if self._next() == "]":
                    self.at += 1
                    return found
                found.append(self._value(depth + 1))
            except (_CutOff, ValueError):  # behind an item that is no JSON nothing can be told
                raise _CutOff(found) from None

    def _string(self) -> str:
        close = _CLOSES[self.text[self.at]]
        begin = self.at + 1
        end = begin
        while True:
            end = self.text.find(close, end)
            if end < 0:
                self.at = len(self.text)
                raise _CutOff
            if not self._is_escaped(end, begin) and _AFTER_STRING.match(self.text, end + 1):
                break
            end += 1
        self.at = end + 1
        said = _ESCAPE.sub(_unescaped, self.text[begin:end])
        # Escapes beyond the first 65,536 characters come in pairs of surrogates.
        return said if said.isascii() else said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _is_escaped(self, at: int, begin: int) -> bool:
        slashes = at
        while slashes > begin and self.text[slashes - 1] == "\\":
            slashes -= 1
        return (at - slashes) % 2 == 1

    def _bare(self) -> Any:
        word = _BARE.match(self.text, self.at)
        if word is None:
            raise ValueError("no value")
        self.at = word.end()
        if self.at == len(self.text):
            raise _CutOff
        said = word.group()
        if said.lower() in _CONSTANTS:
            return _CONSTANTS[said.lower()]
        try:
            return json.loads(said)
        except ValueError:
            return said

    def _next(self) -> str:
        """Move to the next sign of a value, and return it."""
        between = _BETWEEN.match(self.text, self.at)
        self.at = between.end() if between else self.at
        if self.at >= len(self.text):
            raise _CutOff
        return self.text[self.at]


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape[1]
    return chr(int(sign[1:], 16)) if len(sign) == 5 else _ESCAPED.get(sign, sign)
