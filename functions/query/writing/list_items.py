"""The items of lists: how a text shows by a bullet, a letter or a number that one begins, and what follows it."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from shared.text import BOX_SIGNS, BULLET_SIGNS, BULLETS, LIST_ITEM

_BULLET = rf"[{BULLETS}]"
_ITEM = re.compile(rf"(?:{_BULLET}|\(?[a-z\d]{{1,3}}[.)])\s")
_LONE_BULLET = re.compile(rf"\A(?![{BOX_SIGNS}]){_BULLET}\s+(?=[^\W\d_])")
_NEXT_ITEM = re.compile(rf"\s*\n\s*(?={LIST_ITEM})|(?<=[:;])\s*\n\s*(?=\S)")
_STEP = re.compile(r"\(?(\d{1,2})(?:[.)]\s|\s(?=[^\W\d_a-z]))")
"""A numbered step: "2. Lift", "(2) Lift", "2 Lift"."""
_SIGN = re.compile(
    rf"(?<!\S)(?:(?P<open>\(?)(?P<value>[a-z]|[ivx]{{2,4}}|\d{{1,2}})(?P<close>[.)])|(?P<bare>\d{{1,2}})(?=\s[^\W\d_a-z])"
    rf"|(?P<bullet>(?![{BOX_SIGNS}])[{BULLET_SIGNS}]))\s+(?=\S)"
)
"""What an item of a list may begin with: "(a)", "b)", "iv.", "3.", "3 Lift", "•"; not "|" and the like."""
_ENDS_SENTENCE = re.compile(r"[:.!?]\s*\Z")
_ENDS_ITEM = re.compile(r"(?:[,;:.!?]|\s(?:and|or|und|oder|et|ou|y|e|o|u|ir|ar|arba))\s*\Z", re.IGNORECASE)
"""What stands before an item within a line: before one with a number, or the first with a bullet; a letter's."""
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


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
    """Return a text on one line, with each item of a list on its own line, also where the text runs them on."""
    text = text.strip()
    borders = {found.end() for found in _NEXT_ITEM.finditer(text)} | {*_items_of_lists(text)}
    places = sorted({0, *borders, len(text)})
    return "\n".join(filter(None, (" ".join(text[start:end].split()) for start, end in pairwise(places))))


def _items_of_lists(text: str) -> Iterator[int]:
    """Yield where the items of lists begin: two or more signs of one form that count up from the first, or are alike.

    Within a line a number in brackets is none, because it may number the parts of a sentence, which stays one.
    """
    runs: dict[tuple[str, ...], list[int]] = {}
    for sign in _SIGN.finditer(text):
        before = text[: sign.start()]
        begins_line = not before or "\n" in before[len(before.rstrip()) :]
        for form, value in _readings(sign):
            run = runs.get(form, [])
            is_next = bool(run) and (value is None or value == len(run) + 1)
            if is_next or value in (None, 1):
                if not (begins_line or _may_stand_in_line(sign, before, is_next=is_next)):
                    continue
                if is_next:
                    run.append(sign.start())
                else:
                    yield from _whole(run)
                    runs[form] = [sign.start()]
    for run in runs.values():
        yield from _whole(run)


def _may_stand_in_line(sign: re.Match[str], before: str, *, is_next: bool) -> bool:
    """Say whether a sign within a line may be an item's: the first letter's behind a colon."""
    if sign["bullet"] or ((sign["value"] or "").isdigit() and sign["close"] == "."):
        return bool(sign["bullet"] and is_next) or _ENDS_SENTENCE.search(before) is not None
    is_letter = bool(sign["value"]) and not sign["value"].isdigit()
    is_letter = is_letter and re.match(r"[^\W\d_]\.", sign.string[sign.end() :]) is None  # "a. m. Smith"
    return is_letter and (_ENDS_ITEM.search(before) is not None if is_next else before.rstrip().endswith(":"))


def _readings(sign: re.Match[str]) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """Yield the forms that a sign may have, with the value that it counts by; None for a bullet."""
    if sign["bullet"]:
        yield (sign["bullet"],), None
        return
    value = sign["value"] or sign["bare"]
    form = (sign["open"] or "", sign["close"] or "")
    if value.isdigit():
        yield ("number", *form), int(value)
        return
    if value in _ROMAN:
        yield ("roman", *form), _ROMAN.index(value) + 1
    if len(value) == 1:
        yield ("letter", *form), ord(value) - ord("a") + 1


def _whole(run: Sequence[int]) -> Sequence[int]:
    return run if len(run) > 1 else ()


def follows_in_list(items: str, text: str) -> bool:
    """Return whether a text is the next item after a line of items: with the next number, or the same bullet."""
    step = _STEP.match(text)
    if step:
        return re.search(rf"(?<!\S)\(?{int(step[1]) - 1}[.)]?\s+[^\W\d_a-z]", items) is not None
    return is_item(items) and items[:1] == text[:1]


def count_items(text: str, start: int, end: int) -> int:
    """Return how many items a list has; 0 if it may go on after its end, or if they do not count up from 1.

    Of bullets those of the first one's kind are counted: others are below them. Where some of these begin small, they
    may be, too.
    """
    items = [line.lstrip() for line in text[start:end].split("\n") if is_item(line.lstrip())]
    after = text[end:].lstrip()
    if not items or not after or follows_in_list(text[start:end].rpartition("\n")[2].lstrip(), after):
        return 0
    steps = [int(step[1]) for item in items if (step := _STEP.match(item))]
    if _STEP.match(items[0]):
        return len(steps) if steps == list(range(1, len(steps) + 1)) else 0
    alike = [item for item in items if item[0] == items[0][0]] if re.match(_BULLET, items[0]) else []
    begins = [begin for item in alike if (begin := without_item_sign(item)[:1]).isalpha()]
    return len(alike) if len({begin.islower() for begin in begins}) <= 1 else 0


def is_step(text: str, span: tuple[int, int]) -> bool:
    """Return whether a numbered step begins at a span of a text."""
    return _STEP.match(text, *span) is not None


def step_number(text: str, span: tuple[int, int]) -> int:
    """Return the number of the step at a span of a text; 0 if it is none."""
    step = _STEP.match(text, *span)
    return int(step[1]) if step else 0
