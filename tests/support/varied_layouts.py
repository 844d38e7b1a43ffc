"""Documents of one page whose parts stand beside each other, in any order, or turned, and what is drawn there."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from functions.ingest.parsing.figures import figures_of
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.ruled import Rules
from functions.ingest.parsing.wire import Header, RawPage
from functions.ingest.parsing.words import Box, Style, Word
from tests.support.made_pages import PAGE, in_one_line, moved, width_of, written
from tests.support.varied_pages import Press
from tests.support.varied_running import small_print
from tests.support.varied_text import NOUNS, PLACES

SIZES = (8.0, 9.0, 10.0, 10.0, 10.0, 10.0, 11.0, 12.0)


class Made(NamedTuple):
    """A document as its engine gives it, and the pages that OCR has read, by number."""

    pages: list[RawPage]
    header: Header | None = None
    file_name: str = "annual_report.pdf"
    read_pages: Mapping[int, RawPage] = MappingProxyType({})


Kind = Callable[[random.Random], Made]


def press(pick: random.Random) -> Press:
    """Return an empty page of some size of print and some leading."""
    made = Press(pick, size=pick.choice(SIZES), leading=pick.choice((1.1, 1.2, 1.2, 1.35, 1.5)))
    made.width = made.some(220, 480)
    return made


def raw(number: int, words: list[Word], *, label: str = "", rotation: int = 0, rules: Rules | None = None) -> RawPage:
    """Return a page with its words laid out."""
    page = RawPage(number, label, PAGE[2], PAGE[3], lay_out(words, PAGE, rotation, rules))
    page.rotation = rotation
    return page


def columns(pick: random.Random) -> Made:
    """Two or three columns, far apart or near, written one after the other, the right one first, or line by line."""
    count = pick.choice((2, 2, 3))
    page = press(pick)
    gap = page.some(0.4 * page.em, 4 * page.em)
    width = (480 - gap * (count - 1)) / count
    if pick.random() < 0.4:
        page.heading()
    top, parts = page.y, list[list[Word]]()
    lowest = page.some(300, 600)
    for at in range(count):
        column = Press(pick, size=page.em, leading=page.leading)
        column.x, column.width, column.y, column.bottom = 60 + at * (width + gap), width, top, lowest
        while not column.is_full:
            pick.choice((column.paragraph, column.paragraph, column.paragraph, column.items, column.heading))()
        if pick.random() < 0.4:
            small_print(column, f"{at + 1} {column.author.sentence()}", at=column.y - page.some(0, 20))
        parts.append(column.words)
    order = pick.choice(("columns", "columns", "right first", "lines"))
    words = [word for part in (parts[::-1] if order == "right first" else parts) for word in part]
    if order == "lines":
        words.sort(key=lambda word: (-word.y0, word.x0))
        for before, word in zip(words, [*words[1:], words[0]], strict=True):
            before.ends = "" if before.y0 == word.y0 else before.ends or "\n"
    page.words += words
    page.y = lowest - page.some(20, 60)
    if pick.random() < 0.4:
        page.paragraph()
    return Made([raw(1, page.words)])


def out_of_order(pick: random.Random) -> Made:
    """A page whose lines were not written from the top down: headings last, boxes, figures apart, or in any order."""
    page = press(pick)
    while not page.is_full and len(page.words) < 220:
        pick.choice((page.paragraph, page.heading, page.items, page.table))()
    lines = _lines_of(page.words)
    how = pick.choice(("some last", "some first", "a box", "swapped", "any", "figures"))
    chosen = pick.sample(range(len(lines)), k=max(1, len(lines) // pick.choice((3, 6, 12))))
    moved_lines = [lines[at] for at in sorted(chosen)]
    others = [line for at, line in enumerate(lines) if at not in chosen]
    if how == "some last":
        lines = [*others, *moved_lines]
    elif how == "some first":
        lines = [*moved_lines, *others]
    elif how == "swapped":
        at = pick.randrange(1, max(2, len(lines) - 1))
        lines = [*lines[at:], *lines[:at]]
    elif how == "any":
        pick.shuffle(lines)
    elif how == "a box":
        box = Press(pick, size=0.9 * page.em)
        box.x, box.width, box.y = 430, 110, page.some(400, 700)
        box.prose(box.author.paragraph(1, 2))
        lines.insert(pick.randrange(len(lines)), box.words)
    else:
        lines += _figures_apart(page)
    return Made([raw(1, [word for line in lines for word in line])])


def _lines_of(words: Sequence[Word]) -> list[list[Word]]:
    lines: list[list[Word]] = [[]]
    for word in words:
        lines[-1].append(word)
        if word.ends:
            lines.append([])
    return [line for line in lines if line]


def _figures_apart(page: Press) -> list[list[Word]]:
    """Set labels, then all of the figures beside them: on their right, or on their left."""
    page.y, pick = 180, page.pick
    step, is_left = page.some(page.em, 2 * page.em), pick.random() < 0.3
    labels, figures = list[list[Word]](), list[list[Word]]()
    for at in range(pick.randint(3, 6)):
        labels.append(written(120, page.y, pick.choice(NOUNS), page.style))
        text = f"{at + 1}." if is_left else page.author.figure()
        x = 90 if is_left else 330 - width_of(text, page.style)
        figures.append(written(x, page.y + page.some(-0.4 * page.em, 0.4 * page.em), text, page.style))
        page.y -= step
    return [*labels, *figures] if pick.random() < 0.7 else [*figures, *labels]


def lattice(pick: random.Random) -> Made:
    """Cells on a lattice of half a letter: their edges, middles and lines meet exactly, or miss by one step."""
    page = Press(pick, size=10, leading=1.2)
    count, rights = pick.randint(2, 5), pick.random() < 0.5
    places = sorted(pick.sample(range(60, 520, 5), k=count + 1))
    for row in range(pick.randint(3, 8)):
        parts: list[list[Word]] = []
        for at, place in enumerate(places):
            if pick.random() < 0.15:
                continue
            text = pick.choice((page.author.figure(), page.author.figure(), pick.choice(PLACES), "2019", "2020 2021"))
            text = text if row and at else page.author.words(1, 2)
            x = place + pick.choice((0, 0, 0, 2.5, -2.5, 5)) - (width_of(text) if rights and at else 0)
            if parts and x < parts[-1][-1].x1 + pick.choice((0, 2.5, 5)):
                x = parts[-1][-1].x1 + pick.choice((0.5, 2.5, 4, 5, 7, 7.5, 9, 10, 11.5, 12, 15, 25))
            parts.append(written(x, page.y, text))
        words = [word for part in parts for word in part]
        if pick.random() < 0.7:
            for word in words[:-1]:
                word.ends = ""
        page.words += words
        page.y -= pick.choice((10, 11, 12, 12, 12, 13, 14, 16, 17, 18, 20, 40))
    page.paragraph()
    return Made([raw(1, page.words)])


def ruled(pick: random.Random) -> Made:
    """A table whose cells are ruled, with cells over several columns or rows, and rules that are short or missing."""
    page = press(pick)
    page.paragraph()
    rows, count = pick.randint(2, 5), pick.randint(2, 4)
    left, height = page.x, page.some(1.4 * page.em, 4 * page.em)
    xs = [left + at * 480 / count + (page.some(-20, 20) if 0 < at < count else 0) for at in range(count + 1)]
    top = PAGE[3] - page.y + page.some(0, page.em)
    ys = [top + at * height for at in range(rows + 1)]
    merged = {(pick.randrange(rows), pick.randrange(count - 1)) for _ in range(pick.choice((0, 0, 1, 2)))}
    tall = {(pick.randrange(rows - 1), pick.randrange(count)) for _ in range(pick.choice((0, 0, 0, 1)))}
    boxes, off = list[Box](), page.some(-4, 4) if pick.random() < 0.3 else 0.0
    thick = page.some(0.5, 3)
    for row, y in enumerate(ys):
        boxes += [
            (xs[at], y, xs[at + 1] + off, y + thick)
            for at in range(count)
            if (row - 1, at) not in tall and not (0 < row < rows and pick.random() < 0.04)
        ]
    is_open = pick.random() < 0.2
    for at, x in enumerate(xs):
        if is_open and at in {0, count}:
            continue
        boxes += [(x, ys[row], x + 1, ys[row + 1] + off) for row in range(rows) if (row, at - 1) not in merged]
    is_frames = pick.random() < 0.15
    frames = [(x0, y0, x1, y1) for y0, y1 in pairwise(ys) for x0, x1 in pairwise(xs)]
    for row in range(rows):
        for at in range(count):
            if pick.random() < 0.12 or (row, at - 1) in merged or (row - 1, at) in tall:
                continue
            cell = Press(pick, size=page.em, leading=1.15)
            cell.x, cell.y = xs[at] + page.some(1, 8), PAGE[3] - ys[row] - page.em - page.some(0, 3)
            cell.width = (xs[at + 2] if (row, at) in merged else xs[at + 1]) - cell.x
            text = cell.author.figure() if row and at else cell.author.words(1, 3)
            lines = pick.choice((1, 1, 1, 2, 3)) if height > 2.5 * page.em else 1
            for line in range(lines):
                more = cell.author.words(1, 2)
                cell.line(text if not line else pick.choice((cell.author.figure(), more, more.capitalize(), "12")))
            page.words += cell.words
    page.y = PAGE[3] - ys[-1] - 2 * page.em
    page.paragraph()
    rules = Rules.of([] if is_frames else boxes, frames if is_frames else [])
    return Made([raw(1, page.words, rules=rules)])


def figures(pick: random.Random) -> Made:
    """Drawings with captions above or below, their lettering, panels, and prose near them."""
    page = press(pick)
    boxes: list[Box] = []
    for number in range(1, pick.randint(2, 3)):
        page.paragraph()
        caption = f"{pick.choice(('Figure', 'Fig.', 'Chart'))} {number}{pick.choice((':', '.', ' –', ''))} "
        caption += pick.choice((page.author.topic(), page.author.sentence(), "shows the pump"))
        if is_above := pick.random() < 0.25:
            page.prose(caption)
        near = page.some(0, 48) if pick.random() < 0.5 else page.some(2, 12)
        top, high = PAGE[3] - page.y - page.em + near, page.some(25, 150)
        wide, shift = page.some(40, 420), page.some(0, 200) if pick.random() < 0.3 else 0.0
        panels = pick.choice((1, 1, 2, 3))
        for at in range(panels):
            left = page.x + shift + at * (wide / panels + page.some(0, 75))
            under = page.some(-10, 60) if at and pick.random() < 0.4 else 0.0
            bars = pick.choice((1, 1, 4))
            for bar in range(bars):
                x = left + bar * wide / panels / bars
                boxes.append((x, top + under + bar, x + wide / panels / bars - page.some(0, 9), top + under + high))
            for _ in range(pick.randint(0, 4)):
                x, y = left + pick.random() * wide / panels, PAGE[3] - top - pick.random() * high
                text = pick.choice((page.author.figure(), pick.choice(PLACES), page.author.words(2, 9)))
                page.words += written(x, y, text, page.small())
        if pick.random() < 0.2:
            boxes.append((page.x, top + high + page.some(0, 40), page.x + wide, top + high + page.some(45, 90)))
        page.y -= near + high + page.em
        if not is_above:
            page.y -= page.some(0, 48) if pick.random() < 0.5 else page.some(2, 12)
            page.prose(caption)
        page.gap(0, 2)
    page.paragraph()
    made = raw(1, page.words)
    made.lines, found = figures_of(made.lines, boxes, PAGE)
    made.figures = [(*each.box, each.caption, "") for each in found]
    made.images = round(page.some(0, 1), 2)
    return Made([made])


def slides(pick: random.Random) -> Made:
    """Slides: a large title, few words, lists, lettering of charts, and a number."""
    raws = []
    for number in range(1, 4):
        page = Press(pick, size=18, leading=1.3)
        page.centred(page.author.topic(), page.bold(pick.choice((1.2, 1.6))))
        page.gap(0.5, 2)
        pick.choice((page.items, page.table, page.centred_lines, page.items))()
        if pick.random() < 0.5:
            for _ in range(pick.randint(6, 14)):
                text = pick.choice((page.author.figure(), pick.choice(PLACES), "2019"))
                page.words += written(page.some(60, 500), page.some(80, 300), text, page.small(0.6))
        page.words += written(560, 20, str(number), page.small(0.5))
        raws.append(raw(number, page.words))
    return Made(raws, Header(3, "PowerPoint Presentation"), "Quarterly_update.pptx")


def turned(pick: random.Random) -> Made:
    """A page that is turned, or has words that run upwards, downwards or upside down; on a page of any corner."""
    page = press(pick)
    for _ in range(4):
        pick.choice((page.paragraph, page.items, page.heading))()
    turn = pick.randrange(4)
    if pick.random() < 0.5:
        page.words = [_turned(word, turn) for word in page.words]
    side = Press(pick, size=0.8 * page.em)
    side.y = 40
    side.line(side.author.words(3, 6))
    page.words += [_turned(word, pick.choice((1, 3))) for word in side.words]
    corner = pick.choice((0.0, 30.0))
    bounds = (corner, corner, PAGE[2] + corner, PAGE[3] + corner)
    lines = lay_out(moved(page.words, by=(corner, corner)), bounds, rotation := pick.randrange(4))
    made = RawPage(1, "", PAGE[2], PAGE[3], lines)
    made.rotation = rotation
    return Made([made])


def _turned(word: Word, turn: int) -> Word:
    """Turn a word with its page, by quarters to the left."""
    x0, y0, x1, y1 = word.x0, word.y0, word.x1, word.y1
    width, height = PAGE[2], PAGE[3]
    box = (
        (x0, y0, x1, y1),
        (height - y1 - 100, x0, height - y0 - 100, x1),
        (width - x1, height - y1, width - x0, height - y0),
        (y0 - 100, width - x1 + 100, y1 - 100, width - x0 + 100),
    )[turn]
    return Word(word.text, *box, replace(word.style, turn=turn), word.ends)


def lettering(pick: random.Random) -> Made:
    """A chart's labels and figures in the order they were drawn, beside text."""
    page = press(pick)
    page.paragraph()
    for _ in range(pick.randint(7, 16)):
        text = pick.choice((page.author.figure(), page.author.figure(), pick.choice(PLACES), page.author.words(1, 3)))
        page.words += written(page.some(60, 450), page.some(200, 500), text, page.style)
    page.y = 180
    page.paragraph()
    return Made([raw(1, page.words)])


def side_notes(pick: random.Random) -> Made:
    """Prose with notes, marks or line numbers in the margin, written first, last or beside their lines."""
    page = press(pick)
    page.x, page.width = 120, 400
    notes: list[list[Word]] = []
    for number in range(1, 8):
        notes.append(
            written(page.some(30, 60), page.y, pick.choice((str(number), f"Art. {number}", "NEW")), page.small())
        )
        page.paragraph()
        if page.is_full:
            break
    both = [*notes, *_lines_of(page.words)]
    if pick.random() < 0.5:
        both = [*_lines_of(page.words), *notes]
    return Made([raw(1, [word for line in both for word in line])])


def typewritten(pick: random.Random) -> Made:
    """A page in fixed pitch: a letter, or a listing with numbered lines."""
    page = Press(pick, size=10, leading=1.2)
    page.style = Style(10, mono=True, face="Mono")
    is_listing = pick.random() < 0.5
    for number in range(1, 25):
        text = page.author.words(3, 8) if pick.random() < 0.85 else "x = 1;"
        number += pick.random() < 0.04
        parts = [(60.0, str(number)), (90 + page.some(0, 30), text)] if is_listing else [(60.0, text)]
        page.words += in_one_line(page.y, *parts, style=page.style)
        page.y -= 12
    return Made([raw(1, page.words)])
