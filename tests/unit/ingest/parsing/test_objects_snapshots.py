"""What is made of a page's characters and drawings stays as it is stored; `make snapshots` rewrites it (decision 76).

Measures are drawn from both sides of each limit and from the limit itself.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from functions.ingest.parsing import page_objects, pdfium
from functions.ingest.parsing.page_objects import Scene, with_underscores, words_of
from functions.ingest.parsing.ruled import MAX_RULES, SHORTEST, THIN
from functions.ingest.parsing.words import JOINT, Style, Word
from tests.support.made_objects import Box, Font, MadePage, Print, Thing
from tests.support.snapshots import check

HERE = Path(__file__).parent / "snapshots" / "objects"
BOUNDS = (0.0, 0.0, 100.0, 200.0)
LEFT_SEEN = 40.0
"""Pale text of two objects is seen right of it: what drawing the page would tell."""
FONTS = (
    Font(), Font("Serif-Bold"), Font("ABCDEF+CMBX10"), Font("Courier"), Font("Plain", flags=1 << 18), Font("Odd", -1),
    Font("MSAM10"), Font(""), Font("Even", width=0.6), Font("Even", width=0.7),
    Font("Most", width=0.6, widths={"l": 0.0, "\x01": 0.5}), Font("Few", width=0.6, widths=dict.fromkeys("lW.", 0.0)),
    Font("Subset", width=0.5, widths=dict.fromkeys("lW.", 0.6)), Font("Narrow", width=0.6, widths={"i": 0.3}),
)  # fmt: skip
FILLS = (
    (0, 0, 0, 255), (0, 0, 0, 10), (0, 0, 0, 9), (255, 255, 255, 255), (245, 245, 245, 255), (244, 250, 250, 255), None,
)  # fmt: skip
TURNS = (
    (1, 0, 0, 1, 0, 0), (0, 1, -1, 0, 0, 0), (0, -1, 1, 0, 0, 0), (-1, 0, 0, -1, 0, 0), (2, 0, 0, 2, 0, 0),
    (1, 1, -1, 1, 0, 0), (-1, 0, 0, 1, 0, 0), (1, 0, 0, -1, 0, 0), (1, 0, 0, 0, 0, 0),
)  # fmt: skip
TOKENS = (
    "word", "wordb", "wordsc", "XVIIIe", "2019a", "abcda", "abca", "NNEEBBRRAASSKKAA", "aabbcc", "aabb", "======",
    "I", "\x88", "\x0f", "a\u200bb", JOINT, "two.", "a1b", "WORDb", "aabbcd",
)  # fmt: skip
ENDS = (" ", " ", "\r\n", "\ufffe", "\x02", "\n")


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> MadePage:
    made = MadePage()
    monkeypatch.setattr(page_objects, "pdfium", made.as_pdfium())
    monkeypatch.setattr(Scene, "shows", lambda _scene, box, objects: len(objects) > 1 and box[0] > LEFT_SEEN)
    return made


def test_the_words_of_made_characters_are_as_stored(page: MadePage) -> None:
    draw = random.Random("words")
    told = []
    for number in range(400):
        page.begin(_backgrounds(draw))
        prints = [_print(draw) for _ in range(2)]
        for _ in range(draw.randrange(1, 6)):
            _write(page, draw, prints)
        scene = Scene(1, BOUNDS)
        scene.coverage()
        words, hidden = words_of(1, page.characters, scene, BOUNDS, ocr=number % 8 == 0)
        told += [f"=== {number}: {hidden} hidden, pictures {scene.images}", *map(_of_word, words)]
    check(HERE / "words.txt", "\n".join(told))


def test_words_in_fonts_without_a_name_have_a_fixed_pitch_as_stored(page: MadePage) -> None:
    draw = random.Random("pitch")
    told = []
    for number in range(40):
        page.begin()
        printed, odd = Print(font=Font("")), draw.choice((0, 1, 1, 2))
        if number % 10 == 9:
            printed.matrix = TURNS[1]
        count = draw.choice((7, 8, 9, 10, 10, 20))
        for at in range(count):
            pitch = 5.0 if at >= odd else draw.choice((5.15, 5.2, 4.85, 4.8, 5.0))
            text = draw.choice(("abc", "words", "ab")) if at < count // 2 else "abcd"
            x = 0.0
            page.write(
                text + " ", [(x + i * pitch, 20.0, x + (i + 1) * pitch, 30.0) for i in range(len(text) + 1)], printed
            )
        words, _ = words_of(1, page.characters, Scene(1, BOUNDS), BOUNDS)
        told.append(f"{number}: {len(words)} words, {odd} odd: {sum(word.style.mono for word in words)} fixed")
    check(HERE / "pitch.txt", "\n".join(told))


def test_the_drawings_of_made_pages_are_as_stored(page: MadePage) -> None:
    draw = random.Random("drawings")
    told = []
    for number in range(80):
        count = draw.choice((0, 1, 2, 3, 8, 8)) if number else 0
        many = {70: 64, 71: 65, 72: 200, 73: 201, 74: MAX_RULES, 75: MAX_RULES + 1}
        count = many.get(number, count)
        page.begin(_bands(draw, count) if number in many else [_thing(draw, 0) for _ in range(count)])
        scene = Scene(1, BOUNDS)
        told.append(f"=== {number}: {scene.coverage()}")
        for name, kinds in (("pictures", (pdfium.IMAGE,)), ("all", (pdfium.IMAGE, pdfium.PATH, pdfium.SHADING))):
            boxes = scene.boxes(*kinds)
            told.append(f"{name}: {len(boxes)} {_of_boxes(boxes[:6])}")
        dashes, rules = scene.dashes(), scene.rules()
        told.append(f"dashes: {len(dashes)} {_of_boxes(dashes[:6])}")
        if rules is not None:
            told.append(f"rules: {str(rules)[:300]}")
        dark = [(x, y) for x in (0, 10, 12, 50, 100) for y in (0, 20, 21, 100, 200) if scene.dark_behind(x, y)]
        told.append(f"dark: {dark}")
    check(HERE / "drawings.txt", "\n".join(told))


def test_strokes_between_words_are_underscores_as_stored() -> None:
    draw = random.Random("underscores")
    told = []
    for number in range(200):
        size = draw.choice((10.0, 8.0))
        words: list[Word] = []
        dashes: list[Box] = []
        x = 0.0
        for text in ("add", "arc", "to"):
            width = len(text) * size / 2
            low = _mostly(draw, 100.0, 100.0 - size, 99.0 + size, 100.0 + size)
            words.append(Word(text, x, low, x + width, low + size, Style(size), _mostly(draw, "", "\n")))
            room = size * _mostly(draw, 0.5, 0.1, 0.2, 0.25, 1.0, 1.3, 1.4)
            into = size * _mostly(draw, 0.0, 0.1, 0.11, 0.09, -0.1, -0.2)
            base = 100.0 + size * _mostly(draw, 0.3, 0.11, 0.12, 0.45, 0.46)
            left, right = x + width - into, x + width + room + into
            middle = _mostly(draw, right, (left + right) / 2)
            dashes += [(left, base, middle, base + 0.5)] + [(middle, base, right, base + 0.5)] * (middle < right)
            x += width + room
        draw.shuffle(dashes)
        joined = with_underscores(words, dashes if number % 9 else [])
        told.append(f"{number}: {' '.join(map(_of_word, joined))}")
    check(HERE / "underscores.txt", "\n".join(told))


def _mostly[T](draw: random.Random, usual: T, *others: T) -> T:
    """Return what is usual three times of four, otherwise one of the others."""
    return usual if draw.random() < 0.75 else draw.choice(others)


def _print(draw: random.Random) -> Print:
    return Print(
        size=_mostly(draw, 10.0, -10.0, 1.2, 1.1, 0.0, 16.0, 16.5, 20.0),
        matrix=_mostly(draw, *TURNS),
        mode=_mostly(draw, 0, 4, 1, pdfium.INVISIBLE),
        fill=_mostly(draw, *FILLS),
        font=draw.choice((FONTS[0], *FONTS, None)),
    )


def _write(page: MadePage, draw: random.Random, prints: Sequence[Print]) -> None:
    """Put a word on the page, with one of its letters raised, moved on, or by another object now and then."""
    token = draw.choice(TOKENS)
    size = _mostly(draw, 10.0, 1.2, 1.0)
    x = _mostly(draw, draw.choice((10.0, 50.0, 40.0)), 0.0, -5.0 * len(token), -5.0 * len(token) - 1, 100.0, 101.0)
    y = _mostly(draw, draw.choice((20.0, 100.0)), 0.0, -size, -size - 1, 200.0, 201.0)
    boxes = [(x + 5 * at, y, x + 5 * at + 5, y + size) for at in range(len(token))]
    first, last = prints[0], draw.choice((prints[0], prints[-1], None))
    if draw.random() < 0.4:  # a mark of a note
        lift, high = size * draw.choice((0.15, 0.16, 0.14, 0.5)), size * draw.choice((0.8, 0.79, 0.5, 0.81))
        boxes[-1] = (boxes[-1][0], y + lift, boxes[-1][2], y + lift + high)
        last = prints[-1]
    elif draw.random() < 0.4 and len(token) > 2:  # a space that was lost
        at, room = draw.randrange(1, len(token)), size * draw.choice((0.19, 0.2, 0.3))
        boxes = [(a + room * (n >= at), b, c + room * (n >= at), d) for n, (a, b, c, d) in enumerate(boxes)]
        if len(token) > 3 and at > 1:
            more = size * draw.choice((0.05, 0.06, 0.04, 0.0))
            boxes = [(a + more * bool(n), b, c + more * bool(n), d) for n, (a, b, c, d) in enumerate(boxes)]
    elif draw.random() < 0.2:  # from right to left
        boxes.reverse()
    page.write(token[:-1], boxes[:-1], first)
    page.write(token[-1:], boxes[-1:], first if len(token) == 1 else last)
    end = draw.choice(ENDS)
    page.write(end, [boxes[-1]] * len(end), first)


def _backgrounds(draw: random.Random) -> list[Thing]:
    """Return a picture of about the share of the page that makes invisible text its OCR, and dark paths."""
    high = draw.choice((0, 0, 79.6, 80.0, 80.4))
    things = [Thing(pdfium.IMAGE, (0.0, 200.0 - high, 100.0, 200.0))] if high else []
    if draw.random() < 0.5:
        edge = draw.choice((20.0, 60.0, 25.0))
        things.append(Thing(pdfium.PATH, (0.0, 0.0, edge, edge), draw.choice(FILLS), (draw.choice((0, 1, 1)), False)))
    return things


def _thing(draw: random.Random, depth: int) -> Thing:
    kind = draw.choice((pdfium.PATH,) * 6 + (pdfium.IMAGE, pdfium.SHADING, pdfium.TEXT, pdfium.FORM))
    if kind == pdfium.FORM:
        matrix = draw.choice((TURNS[0], (2, 0, 0, 0.5, 5, 1), (0, 1, -1, 0, 50, 10), (1, 0.5, 0.25, 1, 3, 4)))
        count = 1 if depth else 2
        inner = [_thing(draw, depth + 1) if depth < 6 else Thing(pdfium.PATH, (1, 2, 5, 9)) for _ in range(count)]
        return Thing(kind, inner=inner, matrix=matrix)
    thin, short = THIN, SHORTEST
    width = draw.choice((thin, thin + 0.5, thin - 0.5, 7.5, 8.0, 8.5, 60.0, short))
    height = draw.choice((thin, thin + 0.5, 0.5, 1.0, 0.99, short, short - 1, 40.0))
    x, y = (
        draw.choice((10.0, 12.0, 18.0, 18.5, 100.0, -8.0, -9.0, 95.0)),
        draw.choice((20.0, 20.4, 20.5, 0.0, 200.0, 199.0)),
    )
    mode = draw.choice((0, 1)), draw.choice((True, False))
    return Thing(kind, (x, y, x + width, y + height), draw.choice(FILLS), mode, draw.choice((2, 4, 5, 6)))


def _bands(draw: random.Random, count: int) -> list[Thing]:
    """Return many paths, of which now and then one goes down the page."""
    boxes = [(10.0, 2.0 * (at % 90), 16.0, 2.0 * (at % 90) + 0.5) for at in range(count)]
    for _ in range(draw.choice((0, 3))):
        boxes[draw.randrange(count)] = (50.0, 20.0, 50.5, 120.0)
    boxes[-1] = (50.0, 20.0, 50.5, 120.0)
    return [Thing(pdfium.PATH, box) for box in boxes]


def _of_word(word: Word) -> str:
    style = word.style
    how = [name for name in ("bold", "mono", "invisible", "pale") if getattr(style, name)]
    box = ",".join(f"{round(each, 2):g}" for each in (word.x0, word.y0, word.x1, word.y1))
    return f"{word.text!a} {box} {round(style.size, 2):g}@{style.turn} {style.face} {' '.join(how)} {word.ends!r}"


def _of_boxes(boxes: Sequence[Box]) -> str:
    return " ".join(",".join(f"{round(each, 2):g}" for each in box) for box in boxes)
