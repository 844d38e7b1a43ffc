"""The items of lists: how a text shows by a bullet, a letter or a number that one begins, and what follows it."""

import re

from shared.text import BOX_SIGNS, BULLETS, LIST_ITEM

_BULLET = rf"[{BULLETS}]"
_ITEM = re.compile(rf"(?:{_BULLET}|\(?[a-z\d]{{1,3}}[.)])\s")
_LONE_BULLET = re.compile(rf"\A(?![{BOX_SIGNS}]){_BULLET}\s+(?=[^\W\d_])")
_NEXT_ITEM = re.compile(rf"\s*\n\s*(?={LIST_ITEM})|(?<=[:;])\s*\n\s*(?=\S)")
_STEP = re.compile(r"\(?(\d{1,2})(?:[.)]\s|\s(?=[^\W\d_a-z]))")
"""A numbered step: "2. Lift", "(2) Lift", "2 Lift"."""


def without_bullet(item: str) -> str:
    """Return an item without its bullet, which says nothing where the item is told alone."""
    return _LONE_BULLET.sub("", item)


def is_item(text: str) -> bool:
    """Return whether a text begins like an item of a list."""
    return bool(_ITEM.match(text) or _STEP.match(text))


def without_item_sign(text: str) -> str:
    """Return an item's text without its bullet or number."""
    sign = _ITEM.match(text) or _STEP.match(text)
    return text[sign.end() :] if sign else text


def on_lines(text: str) -> str:
    """Return a text on one line, with each item of a list on its own line."""
    return "\n".join(" ".join(line.split()) for line in _NEXT_ITEM.split(text.strip()))


def follows_in_list(items: str, text: str) -> bool:
    """Return whether a text is the next item after a line of items: with the next number, or the same bullet."""
    step = _STEP.match(text)
    if step:
        return re.search(rf"(?<!\S)\(?{int(step[1]) - 1}[.)]?\s+[^\W\d_a-z]", items) is not None
    return is_item(items) and items[:1] == text[:1]


def count_items(text: str, start: int, end: int) -> int:
    """Return how many items a list has; 0 if it may go on after its end, or if they do not count up from 1.

    Of bullets those of the first one's kind are counted: others are below them.
    """
    items = [line.lstrip() for line in text[start:end].split("\n") if is_item(line.lstrip())]
    after = text[end:].lstrip()
    if not items or not after or follows_in_list(text[start:end].rpartition("\n")[2].lstrip(), after):
        return 0
    steps = [int(step[1]) for item in items if (step := _STEP.match(item))]
    if _STEP.match(items[0]):
        return len(steps) if steps == list(range(1, len(steps) + 1)) else 0
    return sum(item[0] == items[0][0] for item in items) if re.match(_BULLET, items[0]) else 0


def is_step(text: str, span: tuple[int, int]) -> bool:
    """Return whether a numbered step begins at a span of a text."""
    return _STEP.match(text, *span) is not None


def step_number(text: str, span: tuple[int, int]) -> int:
    """Return the number of the step at a span of a text; 0 if it is none."""
    step = _STEP.match(text, *span)
    return int(step[1]) if step else 0
