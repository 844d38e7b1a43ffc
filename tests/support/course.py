"""A made course of events: what an adapter was called with, what it asked for, and what came of it, as lines."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.errors import RectoError
from tests.support.made_library import told


class Course:
    """Calls an adapter, and notes what it was asked and what came of it."""

    def __init__(self, asked: list[str]) -> None:
        self.asked, self.lines = asked, list[str]()

    def __call__[**P, R](self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the call returns; an error of ours is noted, and raised."""
        self.asked.clear()
        given = ", ".join([*map(_short, args), *(f"{name}={_short(each)}" for name, each in kwargs.items())])
        self.lines.append(f"{call.__name__}({given})")
        try:
            result = call(*args, **kwargs)
            if isinstance(result, Iterator):
                result = list(result)  # type: ignore[assignment]
        except RectoError as error:
            self.lines += [f"    {type(error).__name__}: {error}", *(f"    {each}" for each in self.asked)]
            raise
        self.lines += [f"    = {' '.join(told(result).split())}", *(f"    {each}" for each in self.asked)]
        return result

    def fails(self, call: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Note a call that raises an error of ours."""
        with pytest.raises(RectoError):
            self(call, *args, **kwargs)


def _short(value: object) -> str:
    return re.sub(r" object at 0x\w+", "", told(value).replace("\n", " "))[:120]
