"""Documents of every kind, each from its seed: pages as an engine gives them, and what is known of the file."""

import random
from collections.abc import Callable

from functions.ingest.parsing.wire import Header, Line, RawPage
from tests.support import varied_layouts as layouts
from tests.support.made_pages import exchanged, in_one_line, written
from tests.support.varied_layouts import SIZES, Kind, Made, press, raw
from tests.support.varied_lines import lines
from tests.support.varied_pages import Press
from tests.support.varied_running import Running, small_print
from tests.support.varied_text import LONG, OTHERS, RICH, Author


def one_page(*elements: Callable[[Press], None], least: int = 5) -> Kind:
    """Return documents of one page that has these elements, in any order, until it is full."""

    def made(pick: random.Random) -> Made:
        page = press(pick)
        page.style = page.bold() if pick.random() < 0.06 else page.style
        page.late = [] if pick.random() < 0.15 else None
        for at in range(30):
            if page.is_full or (at >= least and pick.random() < 0.15):
                break
            pick.choice(elements)(page)
        marks = page.late or []
        return Made([raw(1, [*marks, *page.words] if pick.random() < 0.5 else [*page.words, *marks])])

    return made


def pages_with(count: int, *elements: str, has_outline: bool = False) -> Kind:
    """Return documents of several pages with running lines, headings that are numbered, and what else is named."""

    def made(pick: random.Random) -> Made:
        author = Author(pick)
        title, raws, outline = author.topic(), list[RawPage](), list[tuple[int, int, str]]()
        size, leading, width = pick.choice(SIZES), pick.choice((1.15, 1.2, 1.4)), pick.choice((260.0, 400.0, 480.0))
        running, number, section, rest = Running(pick, title), 0, 0, ""
        if has_outline and pick.random() < 0.4:
            outline.append((1, 1, title))
        for at in range(1, count + 1):
            page = Press(pick, size=size if pick.random() < 0.9 else pick.choice(SIZES), leading=leading)
            page.width = width
            page.bottom = page.some(430, 560)
            if rest:
                page.prose(f"{rest} {author.clause()}.")
                rest = ""
            if pick.random() < 0.7:
                number, section = number + 1, 0
                topic = title if at == 1 else author.topic()
                outline.append(
                    (at, pick.choice((1, 1, 2)), pick.choice((f"{number} {topic}", topic, topic.upper(), "Foreword")))
                )
                page.text(f"{number} {topic}", style=page.bold(1.4))
                page.gap(0.2, 1)
            while not page.is_full:
                if pick.random() < 0.2:
                    section += 1
                    page.heading(f"{number}.{section}")
                getattr(page, pick.choice(elements))()
            if pick.random() < 0.2:
                word = pick.choice(LONG)
                page.prose(f"{author.clause().capitalize()} with {word[:5]}-")
                rest = word[5:]
            elif pick.random() < 0.4:
                page.prose(author.paragraph()[:-12])  # goes on on the next page
            if pick.random() < 0.3:
                small_print(page, f"{at} {author.sentence()}")
            raws.append(raw(at, running.on(page, at), label=running.label_of(at)))
        return Made(raws, Header(count, pick.choice(("", title, "Untitled")), outline if has_outline else []))

    return made


def book(pick: random.Random) -> Made:
    """Pages of many words, which are cut at lines' ends or only compounds are, in narrow cells, and in two."""
    cut = frozenset(word for word in RICH if len(word) > 7) if pick.random() < 0.5 else frozenset[str]()
    raws = []
    for number in range(1, 9):
        page = Press(pick, size=10)
        page.can_be_cut, page.width, page.bottom = cut, 300, 380
        while not page.is_full:
            page.prose(" ".join(page.author.rich_sentence() for _ in range(3)), justified=True)
        for _ in range(3):
            page.late_compound(pick.choice(RICH))
        for row in range(4):
            word = pick.choice(RICH)
            cell = written(60, page.y, word[: pick.randint(3, len(word) - 1)], page.style)
            rest = written(60, page.y - 11, word[len(cell[0].text) :], page.style)
            page.words += [*cell, *rest, *in_one_line(page.y, (200, "2019" if not row else "12"), (260, "7"))]
            page.y -= 26
        raws.append(raw(number, page.words))
    return Made(raws)


def covers(pick: random.Random) -> Made:
    """A cover and a page behind it: of a filing, a manual, a report, with metadata that fit or do not."""
    page = Press(pick, size=10, leading=1.4)
    title, author = "", page.author
    form = pick.choice(("10-K", "10-Q", "8-K", "20-F"))
    kind = pick.choice(("filing", "manual", "report", "letter", "paper"))
    if kind == "filing":
        page.centred("UNITED STATES", page.bold(1.2))
        page.centred("SECURITIES AND EXCHANGE COMMISSION", page.bold(1.4))
        page.centred(f"FORM {form}{pick.choice(('', '/A'))}", page.bold(1.6))
        period = pick.choice(("For the fiscal year ended", "For the quarterly period ended:", "Date of Report:"))
        page.centred(f"{period} {pick.choice(('May 31, 2021', '31 March 2020', '6/30/2019'))}")
        page.centred(pick.choice(("Commission File Number 001-1234", "Commission file no. 1-99 ACME HOLDINGS")))
        name = pick.choice(("Acme Holdings, Inc.", "A CME R ESORTS", "Borealis & Sons"))
        page.centred(name, page.bold(pick.choice((1.0, 2.0))))
        page.centred("(Exact name of registrant as specified in its charter)")
    else:
        title = f"{author.topic()}: {author.words(1, 4)}"
        page.y -= page.some(0, 200)
        shown = exchanged(title, 3) if pick.random() < 0.2 else title
        page.text(shown, style=page.bold(pick.choice((1.1, 1.15, 2, 2.6))))
        page.gap(0, 4)
        page.text(
            pick.choice(("User Manual", "Annual Report 2021", "by Ann Lee and Bo Ray", "Version 3.2.1")),
            style=page.bold(1.4),
        )
        for text in ("Model XT-300", "Revision C, March 2020", "Acme Ltd., Leeds", "12 May 2021", "© 2020 Acme GmbH"):
            if pick.random() < 0.6:
                page.line(text)
    if pick.random() < 0.7:
        for _ in range(3):
            page.paragraph()
    second = Press(pick, size=10)
    second.heading("1")
    for _ in range(4):
        second.paragraph()
    second.words = Running(pick, "Acme Ltd. Quarterly Report Q3 2021").on(second, 2)
    meta = pick.choice(
        (title, "", "Microsoft Word - draft3.doc", f"Form {form} for Acme Holdings filed 2021", "User Guide")
    )
    names = ("acme_10-K_2021.pdf", "Manual XT-300 v2.pdf", "scan0001.pdf", "2020-05-12 minutes.pdf")
    return Made([raw(1, page.words), raw(2, second.words)], Header(2, meta), pick.choice(names))


def doubtful(pick: random.Random) -> Made:
    """Pages that cannot be read, or hardly: exchanged letters, other code pages, pictures, OCR."""
    read_pages: dict[int, RawPage] = {}
    made = Made([], read_pages=read_pages)
    for number in range(1, 6):
        page = press(pick)
        for _ in range(3):
            page.paragraph()
        how = pick.choice(
            ("good", "exchanged", "code page", "private", "glued", "picture", "hidden", "pypdf", "error", "other")
        )
        one = raw(number, page.words)
        text = pick.choice(list(OTHERS.values()))
        if how == "exchanged":
            for line in one.lines[pick.choice((0, 5)) :]:
                line.text = exchanged(line.text, 7)
        elif how == "code page":
            page_of = pick.choice(("cp1251", "koi8_r", "iso8859_5"))
            one.lines = [
                Line(part, 60, 60 + 12 * at, 500, 70 + 12 * at, 10) for at, part in enumerate(_wrongly_decoded(page_of))
            ]
        elif how == "private":
            for line in one.lines[:: pick.choice((1, 2, 4))]:
                line.text = "".join(chr(0xE000 + ord(letter)) if letter.isalpha() else letter for letter in line.text)
        elif how == "glued":
            for line in one.lines[:: pick.choice((1, 3))]:
                line.text = line.text.replace(" ", "")
        elif how == "picture":
            one.lines = one.lines[: pick.choice((0, 1, 2))]
            one.images, one.paths = pick.choice((0.04, 0.07, 0.3, 0.6, 0.9, 1.0)), pick.choice((0, 400, 399))
            ocr = raw(number, page.words)
            ocr.engine, ocr.confidence = "tesseract", pick.choice((0.2, 0.5, 0.93))
            read_pages[number] = ocr
        elif how == "hidden":
            one.lines, one.hidden = one.lines[: pick.choice((0, 3))], 250
        elif how == "pypdf":
            one = RawPage(number, engine="pypdf", width=600, height=800, lines=[Line(each.text) for each in one.lines])
        elif how == "error":
            one = RawPage(number, error="RuntimeError")
        elif how == "other":
            one.lines = [Line(text, 60, 60, 540, 70, 10), *one.lines[:2]]
        one.cut = pick.random() < 0.05
        made.pages.append(one)
    return made


MORE_RUSSIAN = (
    "Руководство считает, что риски не были существенными. Что касается прибыли, она выросла на пять процентов, как и "
    "было предусмотрено. Это не является предложением для покупателей."
)


def _wrongly_decoded(code_page: str) -> list[str]:
    words = (OTHERS["ru"] + " " + MORE_RUSSIAN).encode(code_page).decode("latin-1").split()
    return [" ".join(words[at : at + 6]) for at in range(0, len(words), 6)]


def languages(pick: random.Random) -> Made:
    """Text of another language, its words cut at lines' ends."""
    language = pick.choice(list(OTHERS))
    page = press(pick)
    page.width = page.some(180, 480)
    for _ in range(3):
        text = OTHERS[language]
        if language == "ja":
            lines = [text[at : at + 20] for at in range(0, len(text), 20)]
            for line in lines:
                page.line(line)
        else:
            page.prose(text, indent=page.some(0, 20))
        page.gap(0, 1)
    return Made([raw(1, page.words)])


KINDS: dict[str, tuple[Kind, int, int]] = {
    "paragraphs": (one_page(Press.paragraph, Press.paragraph, Press.centred_lines), 8, 28),
    "references": (one_page(Press.references, Press.paragraph, Press.marked), 7, 40),
    "headings": (one_page(Press.heading, Press.paragraph), 10, 44),
    "lists": (one_page(Press.items, Press.paragraph, Press.items), 9, 36),
    "tables": (one_page(Press.table, Press.table, Press.paragraph), 20, 80),
    "forms": (one_page(Press.form, Press.contents, Press.paragraph, Press.sections), 7, 40),
    "broken": (one_page(Press.broken, Press.broken, Press.paragraph), 8, 40),
    "indexes": (one_page(Press.index, Press.index, Press.heading), 4, 20),
    "code": (one_page(Press.code, Press.paragraph, Press.spaced_out, Press.marked, Press.mixed), 9, 50),
    "cells": (one_page(Press.wordy_table, Press.wordy_table, Press.paragraph, Press.spread), 14, 36),
    "lattice": (layouts.lattice, 6, 140),
    "columns": (layouts.columns, 14, 44),
    "order": (layouts.out_of_order, 16, 60),
    "ruled": (layouts.ruled, 20, 90),
    "figures": (layouts.figures, 16, 90),
    "lettering": (layouts.lettering, 8, 40),
    "slides": (layouts.slides, 5, 20),
    "turned": (layouts.turned, 8, 30),
    "margins": (layouts.side_notes, 6, 16),
    "typewritten": (layouts.typewritten, 5, 20),
    "covers": (covers, 14, 60),
    "doubtful": (doubtful, 7, 30),
    "languages": (languages, 6, 20),
    "lines": (lines, 6, 120),
    "reports": (pages_with(9, "paragraph", "items", "table"), 2, 12),
    "volumes": (pages_with(19, "paragraph", "broken"), 1, 4),
    "outlines": (pages_with(6, "paragraph", has_outline=True), 3, 10),
    "briefs": (pages_with(2, "paragraph", "items", "form"), 6, 30),
    "books": (book, 1, 8),
    "continued": (pages_with(3, "table", "paragraph", "references"), 5, 20),
}
"""The kinds of documents, how many of each are stored as they are read, and of how many more a line is stored."""


def document_of(kind: str, number: int) -> Made:
    """Return a document; it is the same wherever and whenever it is made."""
    return KINDS[kind][0](random.Random(f"{kind} {number}"))
