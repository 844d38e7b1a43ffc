"""Counts and decodes tokens as OpenAI's cl100k_base does, with a vocabulary that comes in a wheel.

quicktok gives the ids of tiktoken's `encode_ordinary` (a contract test compares them); tiktoken itself would fetch its
vocabulary from the internet.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any


@cache
def _encoding() -> Any:
    import quicktok

    return quicktok.get_encoding("cl100k_base")


def encode(text: str) -> list[int]:
    """Return the token ids of `text`; what looks like a special token is plain text."""
    return list(_encoding().encode_ordinary(text))


def count(text: str) -> int:
    """Return how many tokens OpenAI would bill for `text`."""
    return len(_encoding().encode_ordinary(text))


def decode(tokens: Sequence[int]) -> str:
    """Return the text of token ids; bytes that are no UTF-8 become U+FFFD. Raises `ValueError` for an unknown id."""
    try:
        return bytes(_encoding().decode_bytes(list(tokens))).decode("utf-8", "replace")
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError("unknown token id") from error
