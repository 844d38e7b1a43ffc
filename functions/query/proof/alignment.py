"""Where a quote stands in a stored text: exactly, or with nothing but white space, hyphens and typography different."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

MOST_PLACES = 5
"""Places looked at where the same words stand several times in one passage."""
MOST_QUOTED_CHARACTERS = 1_200
"""Longest stretch that is quoted; also how far apart the two ends of a quote with an omission may stand."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.{3})\s*\]|\(\s*(?:…|\.{3})\s*\)|…|\.{3,})\s*")
_QUOTATION = "\"“”„«»'‘’"
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_SAME = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'",
        "`": "'", "−": "-", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
        "[": "(", "]": ")", "【": "(", "】": ")",
    }
)  # fmt: skip
"""Ways to write one and the same; brackets, because a source's own "[3]" is shown to the model as "(3)"."""
_GONE = frozenset("-‐‑‒–—\u00ad\u2010\ufffe\x02")


def places_of(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches `(start, end)` of `text` that a quote stands at, the exact ones first; none if it does not.

    What may differ is white space, hyphens (a line-end hyphen or a dash), quotation marks and ligatures; letters,
    digits and every other sign must be the same, in the same order. A quote with an omission ("… ") stands where its
    parts follow each other within `MOST_QUOTED_CHARACTERS`. A quote begins and ends at the border of a word.
    """
    wanted = quote.strip()
    bare = wanted.strip(_QUOTATION).strip()
    if not bare or len(wanted) > 2 * MOST_QUOTED_CHARACTERS:
        return
    seen = set()
    for form in dict.fromkeys((wanted, bare)):
        # Each way is dearer than the one before, and needed only where that finds nothing.
        for place in next(filter(None, (list(way(form, text)) for way in _WAYS)), ()):
            if place not in seen and place[1] - place[0] <= MOST_QUOTED_CHARACTERS:
                seen.add(place)
                yield place
            if len(seen) == MOST_PLACES:
                return
        if seen:
            return


def _exact(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(wanted)
    found = 0
    while at >= 0 and found < MOST_PLACES:
        if _at_word_borders(text, at, at + len(wanted)):
            found += 1
            yield at, at + len(wanted)
        at = text.find(wanted, at + 1)


def _squeezed_places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    needle, _ = _squeezed(wanted)
    haystack, positions = _squeezed(text)
    if len(needle) < 2:
        return
    at = haystack.find(needle)
    found = 0
    while at >= 0 and found < MOST_PLACES:
        begin, end = positions[at], positions[at + len(needle) - 1] + 1
        if _at_word_borders(text, begin, end):
            found += 1
            yield begin, end
        at = haystack.find(needle, at + 1)


def _with_omission(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    parts = [part for part in _ELLIPSIS.split(wanted) if part]
    if not 1 <= len(parts) <= 4 or parts == [wanted] or any(len(part.split()) < 2 for part in parts):
        return
    for start, end in _squeezed_places(parts[0], text):
        last = end
        for part in parts[1:]:
            after = next((place for place in _squeezed_places(part, text) if place[0] >= last), None)
            if after is None:
                break
            last = after[1]
        else:
            yield start, last


@lru_cache(maxsize=64)
def _squeezed(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the text without white space, hyphens and invisible characters, and where each character of it stood."""
    characters: list[str] = []
    positions: list[int] = []
    at = 0
    while at < len(text):
        entity = _ENTITY.match(text, at) if text[at] == "&" else None
        character = _ENTITIES[entity.group()] if entity else text[at]
        if not character.isspace() and character not in _GONE and unicodedata.category(character) != "Cf":
            for each in unicodedata.normalize("NFC", character).translate(_SAME):
                characters.append(each)
                positions.append(at)
        at = entity.end() if entity else at + 1
    return "".join(characters), tuple(positions)


def _at_word_borders(text: str, start: int, end: int) -> bool:
    """A quote may not begin or end inside a word or a number ("5" in "15", "1.2" in "1.25")."""
    if start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        return False
    if end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        return False
    if start > 1 and text[start].isdigit() and text[start - 1] in ".," and text[start - 2].isdigit():
        return False
    return not (end + 1 < len(text) and text[end - 1].isdigit() and text[end] in ".," and text[end + 1].isdigit())


_WAYS = (_exact, _squeezed_places, _with_omission)
