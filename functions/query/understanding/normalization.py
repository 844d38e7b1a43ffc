"""The one form a question is searched, cached and shown in."""

import re
import unicodedata

_SPACES = re.compile(r"\s+")
# Zero-width and direction marks, soft hyphens, control characters, and half surrogate pairs, which nothing encodes.
_INVISIBLE = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]"
)


def normalized(text: str) -> str:
    """Return the text in NFC, single-spaced, without invisible characters: the form that is embedded and cached.

    Normalising twice changes nothing. Diacritics stay as they were typed: the lexical arm also compares without them.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", _INVISIBLE.sub("", text))).strip()


def shortened(text: str, characters: int) -> str:
    """Return at most so many characters, cut between words where there is a space in the last fifth."""
    if len(text) <= characters:
        return text
    cut = text[:characters]
    space = cut.rfind(" ", characters - characters // 5)
    return (cut[:space] if space > 0 else cut).rstrip()
