"""Headers and footers: lines at a page's top or bottom that recur on its neighbours.

Only lines worthless to a reader are removed. A line that recurs with other figures goes only if these are page numbers;
rows of tables, titles, sentences and lines of running text stay, and no page is emptied.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain, repeat

from functions.ingest.parsing.footnotes import SENTENCE_END, SMALLER
from functions.ingest.parsing.page_marks import counts_pages, page_number, printed_by_browser
from functions.ingest.parsing.paragraphs import has_leader
from functions.ingest.parsing.sides import (
    MAX_BARE,
    MAX_NUMBERED,
    PART_WORDS,
    SAME_PLACE,
    SET_APART,
    Sides,
    are_alike,
    key_of,
    largest_of_text,
    numbers_of,
    shared_parts,
)
from functions.ingest.parsing.wire import Line, RawPage

WINDOW = 8
"""Pages looked at on either side; chapters change their header, so the whole document is no measure."""
SHARE = 0.35
"""Share of the neighbours a line must recur on: less than half, because left and right pages differ."""
PLACE_SHARE = 0.6
"""Share of the neighbours with a line in the place of a running line, whatever it says; chapters change it."""
NEAR = 4
"""Pages on either side that may be all those with the footer of a part, such as the table of contents."""
TITLE = 1.2
"""A line this much larger than its page's text is a title: of those that recur, the first in the document stays."""
LARGER_BELOW = 1.1
"""How much larger the title on a page is than the header that repeats it."""
TIGHT = 0.45
"""Room between lines of one paragraph, in line heights; what is set apart from the text has more."""
IN_STEP = 2
"""Neighbours on which a number goes up with the pages that make it a page number; one is enough in its middle."""
CENTRED = 0.05
"""How far the middles of a line and its page may differ, as a share of half the page's width."""
MIN_OTHERS = 3
"""Pages around one from which on most of them tell where running lines stand."""
PARTED = 0.5
"""Share of the page's width that a header of two parts takes."""
LONG_NUMBER = 3
"""Digits of a number that begins a line from which on it is hardly an item's."""
MAX_TITLES = 1_000
_SENTENCE = re.compile(r"(?:\S+\s+){4,}\S*[^\W\d_]\S*[.!?]$")
_PRINTED_NUMBER = re.compile(r"[-–—]\s*\d{1,4}\s*[-–—]|[ivx]{1,5}|[A-Z]{1,2}-\d{1,3}")
"""What is hardly anything but a page number, where it ends the page in its middle: "- 2 -", "ii", "A-1"."""
_WORD = re.compile(r"[^\W\d_]{3}")
_SECTION_NUMBER = re.compile(r"^(?:\d{1,2}|[A-Z](?=\.))(?:\.\d{1,3})*\.?\s+")
LONGEST_RUNNING = 160
"""Characters of a running line, at most; a longer one must be the very same, and stays where it is the first."""
LETTER_EM = 0.55
WIDEST_LETTER_EM = 0.6
MORE_LETTERS_EM = 3
"""Width of a letter with which a line that is wider has parts set apart, in font sizes: of a running line with parts,
and of a line with a number; and what is added for the line."""
SAME_PRINT = 0.04
OVERLAPPING = 0.5
"""How much the print of two lines set tightly may differ, as a share, and how far they may overlap, in heights of a
line."""
_PART = re.compile(r"(\d+)(?= ?/ ?\d+\W*$)")
"""Which part of several a title says it is of, at its end: "3/13"."""
_COUNTED = re.compile(r"(?:\d+ )?[^\W\d_]+ \d+")
"""A word and its number, as "Week 7"; what tells a page by its number has gone before."""
_OF_PART = re.compile(r"(?i:chapter|part|section|appendix|unit|lesson)\s+[\dA-Z]|\d+\s[A-Z]{4,}")
"""What a header begins with that names a part of the document."""


def remove_running_lines(pages: Iterator[RawPage], count: int = 0) -> Iterator[tuple[RawPage, list[str]]]:
    """Yield each page of `count` without its running lines, and those lines; holds `WINDOW` pages back.

    A line is removed when its text recurs at the same height on enough neighbours, page numbers aside, or when it is
    only the page's own number or label. The repeated header of a table that continues is kept.
    """
    seen: deque[Sides] = deque()
    titles: set[str] = set()
    at = 0
    for page in chain(pages, repeat(None, WINDOW)):
        if page is not None:
            seen.append(Sides(page))
            if len(seen) - at <= WINDOW:
                continue
        elif at == len(seen):
            return
        yield _strip(seen, at, titles, count)
        at += 1
        if at > WINDOW:
            seen.popleft()
            at -= 1


def _strip(seen: deque[Sides], at: int, titles: set[str], count: int) -> tuple[RawPage, list[str]]:
    """Take the running lines of a page away; return it with their texts."""
    sides = seen[at]
    page = sides.page
    others = [other for i, other in enumerate(seen) if i != at and abs(i - at) <= WINDOW]
    enough = max(2, SHARE * len(others))
    gone = [line for side in (0, 1) for line in _running(side, sides, others, titles, count)]
    gone += [line for line in printed_by_browser(sides, count) if not any(line is one for one in gone)]
    for last in sides.last:
        if not any(last is line for line in gone):
            is_footer = _ends_every_page(last, page, others, enough)
            is_footer = is_footer or (last is sides.last[0] and _ends_with_number(sides, others, enough))
            if not is_footer and not (_is_beside_number(last, sides) and _ends_alike(last, others, enough)):
                break
            gone += _set_apart([last], [last], sides)
    gone += [
        line
        for text, line in sides.slanting.items()
        if sum(text in other.slanting for other in others) >= enough  # a watermark
    ]
    ids = {id(line) for line in gone}
    kept = [line for line in sides.placed if id(line) not in ids]
    if not any(map(str.isalpha, "".join(line.text for line in kept))):  # a page of nothing else would be lost
        gone = [line for line in gone if _is_own_number(line.text, page)]
        gone = [] if len({id(line) for line in gone}) == len(sides.placed) else gone
    ids = {id(line) for line in gone}
    removed = [line.text for line in page.lines if id(line) in ids]
    page.lines = [line for line in page.lines if id(line) not in ids]
    return page, removed


def _with_place(side: int, others: list[Sides]) -> int:
    """Return how many pages may have a header (`side` 0) or footer (1): a chapter's first page begins below it."""
    return len(others) if side else sum(bool(other.lines[0]) for other in others)


def _running(side: int, sides: Sides, others: list[Sides], titles: set[str], count: int) -> list[Line]:
    """Return the running lines at the top (`side` 0) or bottom (1) of a page."""
    page = sides.page
    enough = max(2, SHARE * len(others))
    enough_numbers = max(2, SHARE * _with_place(side, others))
    usual = sorted(other.largest for other in others)[len(others) // 2] if others else 0.0  # a listing's is smaller
    numbered = any(
        sum(first in other.numbered[side] for other in others) >= enough_numbers for first in sides.numbered[side]
    )
    found: list[Line] = []
    counting: list[Line] = []
    for i, line in enumerate(sides.lines[side]):
        counted = numbered and i == 0
        if _is_own_number(line.text, page) or counts_pages(line.text, page.number, count):
            is_running = True
        elif side == 0 and _numbers_each_page(line, sides, others):
            is_running = False
        elif line.cells >= 2 or line.column:
            is_running = counted and _recurs(line, side, page, others, IN_STEP, counted=True)
        elif len(line.text) > LONGEST_RUNNING:
            is_running = _is_said_again(line, side, others, enough, titles)
        elif counted and (
            _is_apart(line, max(sides.largest, usual))
            or _recurs(line, side, page, others, IN_STEP)
            or _counts_beside_others(line, side, sides, others)
        ):
            is_running = True
            counting = [line]  # however near the text is
        else:
            is_running = _recurs(line, side, page, others, enough) or (
                i == 0 and _has_its_place(line, side, sides, others)
            )
            is_running = is_running or (side == 1 and _ends_a_part(line, sides, others))
            is_running = is_running or (side == 0 and i == 0 and _is_above_sentence(line, sides, others))
            is_running = is_running or (side == 0 and i == 0 and _names_chapter_and_section(line, sides, others))
            is_running = is_running or (side == 0 and i == len(found) and _names_heading_below(line, sides))
            is_running = is_running or (i == 0 and _numbers_both_pages(line, side, sides, others))
            is_running = is_running or _is_in_block(line, side, sides, others)
            is_running = is_running or (side == 1 and _goes_with(line, found, sides, others))
            is_running = is_running and not (side == 0 and _is_part_of_title(line, sides))
            is_running = is_running and not (side == 0 and _first_of_its_title(line, sides, titles))
            # a title below a line that stays is the page's own
            is_running = is_running and (len(found) == i or line.size < TITLE * sides.size)
        if is_running:
            found.append(line)
            if len(titles) < MAX_TITLES:
                titles.add(key_of(line.text))  # on a page of smaller print it is no title, either
    apart = _set_apart(found, sides.lines[side], sides)
    return apart + [line for line in counting if not any(line is one for one in apart)]


def _recurs(line: Line, side: int, page: RawPage, others: list[Sides], enough: float, *, counted: bool = False) -> bool:
    """Whether enough neighbours have the line; figures that differ must be page numbers on two at least.

    With `counted` only neighbours with other figures count: a table that goes on repeats its header as it is.
    """
    key, numbers = key_of(line.text), numbers_of(line.text)
    alike = [(other.page, found) for other in others if (found := other.matching(side, key, line.y0))]
    if counted:
        alike = [(other, found) for other, found in alike if numbers_of(found.text) != numbers]
    return len(alike) >= enough and _says_nothing_new(line, page, alike)


def _is_said_again(line: Line, side: int, others: list[Sides], enough: float, titles: set[str]) -> bool:
    """Whether enough neighbours have a long line, as who printed the file; the first in the document stays."""
    key = key_of(line.text)
    alike = [found for other in others if (found := other.matching(side, key, line.y0))]
    if sum(found.text == line.text for found in alike) < enough or len(titles) >= MAX_TITLES:
        return False
    is_known = key in titles
    titles.add(key)
    return is_known


def _has_its_place(line: Line, side: int, sides: Sides, others: list[Sides]) -> bool:
    """Whether the next page, or that after it, has the very same line, and most pages have some line in its place.

    The header of a short chapter, or of every other page of a short document. It is in smaller print than the text. On
    the first of two pages it stays: it may be an address.
    """
    number = sides.page.number
    if len(others) == 1 and number < others[0].page.number:
        return False
    recurs = (
        abs(other.page.number - number) <= 2 and found.text == line.text
        for other in others
        if (found := other.matching(side, key_of(line.text), line.y0)) is not None
    )
    if not sides.has_positions or line.size >= sides.largest or not any(recurs):
        return False
    return sum(other.has_place_of(side, line) for other in others) >= PLACE_SHARE * _with_place(side, others)


def _goes_with(line: Line, found: list[Line], sides: Sides, others: list[Sides]) -> bool:
    """Whether a line stands tightly at a running one at the bottom, in its print, and on a page before it."""
    is_next = any(
        abs(one.size - line.size) < SAME_PRINT * line.size
        and one.bold == line.bold
        and max(one.y0, line.y0) - min(one.y1, line.y1) < TIGHT * (line.y1 - line.y0)
        for one in found
    )
    return is_next and any(
        alike.text == line.text and abs(alike.y0 - line.y0) < SAME_PLACE
        for other in others
        if other.page.number < sides.page.number and (alike := other.matching(1, key_of(line.text), line.y0))
    )


def _is_part_of_title(line: Line, sides: Sides) -> bool:
    """Whether a line in large print has a number that is not its page's, as the title of a slide: "Example – 3/13"."""
    own = {str(sides.page.number), sides.page.label}
    is_title = sides.has_positions and line.size >= TITLE * sides.largest and _WORD.search(line.text) is not None
    return is_title and _PART.search(line.text) is not None and not own & set(_PART.findall(line.text))


def _numbers_each_page(line: Line, sides: Sides, others: list[Sides]) -> bool:
    """Whether a line in large print names what its page is about by a word and a number of its own: "Week 7"."""
    if not sides.has_positions or line.size < TITLE * sides.largest or not _COUNTED.fullmatch(line.text):
        return False
    alike = [found for other in others if (found := other.matching(0, key_of(line.text), line.y0))]
    return all(found.text != line.text for found in alike)


def _is_in_block(line: Line, side: int, sides: Sides, others: list[Sides]) -> bool:
    """Whether a line stands in a block that most pages have in that place, set off from the text, and is known there.

    It is on a page nearby, too, or has a part in common with two of them; what chapters call themselves changes. It is
    in no larger print than the text; by a part alone in smaller print, in capitals, with a number of a chapter or a
    page number that counts.
    """
    block = sides.blocks[side]
    if not any(line is one for one in block) or line.size > largest_of_text(sides, block):
        return False
    if line.text.endswith((".", ":", ";")) or has_leader(line.text):
        return False  # it introduces something, or is an entry of a table of contents
    if len(others) < MIN_OTHERS:
        return _is_repeated(line, side, sides, others)
    alike = [other for other in others if are_alike(block, other.blocks[side])]
    if len(alike) < max(IN_STEP, PLACE_SHARE * _with_place(side, others)):
        return False
    number = sides.page.number
    at = next(i for i, one in enumerate(block) if one is line)
    texts = [other.blocks[side][at].text for other in alike]
    if any(
        abs(other.page.number - number) <= 2 and text == line.text for other, text in zip(alike, texts, strict=True)
    ):
        return True
    if line.bold or len(line.text.split()) <= PART_WORDS:
        return False
    counts = any(not sides.numbered[side].isdisjoint(other.numbered[side]) for other in alike)
    is_set_otherwise = line.size < largest_of_text(sides, block) or line.text.isupper() or _OF_PART.match(line.text)
    if not is_set_otherwise and (not counts or line.text.endswith("?") or ": " in line.text):
        return False  # "How to clean the oven", "How to use the grill" above the pages of a manual
    if shared_parts(line.text, texts, side) >= IN_STEP:
        return True
    # "CHAPTER 4. LISTS 4.2. TREES" alone, where three pages have "CHAPTER 3."
    begins = Counter([" ".join(text.split()[:PART_WORDS]) for text in texts])
    is_place = max(begins.values(), default=0) > IN_STEP
    return is_place and shared_parts(key_of(line.text), [key_of(text) for text in texts], side) >= IN_STEP


def _is_repeated(line: Line, side: int, sides: Sides, others: list[Sides]) -> bool:
    """Whether an earlier page of a short document, where the line stays, has it in the same place in such a block.

    It is in smaller print than the text, or has two parts far apart.
    """
    block = sides.blocks[side]
    at = next(i for i, one in enumerate(block) if one is line)
    if line.bold or not (line.size < largest_of_text(sides, block) or _is_parted(line, sides)):
        return False
    earlier = [other.blocks[side] for other in others if other.page.number < sides.page.number]
    return any(are_alike(block, other) and other[at].text == line.text for other in earlier)


def _is_parted(line: Line, sides: Sides) -> bool:
    """Whether a line is wide, and has room within that its letters do not take."""
    return line.x1 - line.x0 >= max(
        PARTED * sides.page.width, line.size * (LETTER_EM * len(line.text) + MORE_LETTERS_EM)
    )


def _numbers_both_pages(line: Line, side: int, sides: Sides, others: list[Sides]) -> bool:
    """Whether a document has two pages, and both have the line with their own number, not in bold.

    It is in smaller print than text, or stands below it.
    """
    if len(others) != 1 or not sides.has_positions or line.bold or line.size > sides.largest:
        return False
    if line.size == sides.largest and not side:
        return False
    page, other = sides.page, others[0].page
    found = others[0].matching(side, key_of(line.text), line.y0)
    mine, theirs = numbers_of(line.text), numbers_of(found.text) if found else ()
    differing = {pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]}
    return len(mine) == len(theirs) and differing == {(page.number, other.number)} and _has_no_sentence(line)


def _is_above_sentence(line: Line, sides: Sides, others: list[Sides]) -> bool:
    """Whether the first line has the page's number and stands above a sentence that goes on from the page before.

    So it heads no section. Few pages of a short document have another one's header. It is in smaller print than text.
    """
    words = line.text.split()
    if not 1 < len(words) <= MAX_NUMBERED or not {words[0], words[-1]} & {str(sides.page.number), sides.page.label}:
        return False
    below = sides.placed[1] if len(sides.placed) > 1 and sides.placed[0] is line else None
    if below is None or not sides.has_positions or line.bold or line.size >= sides.largest:
        return False
    if not any(other.page.number == sides.page.number - 1 and _ends_open(other) for other in others):
        return False
    return below.text[:1].islower() and not below.column and below.y0 - line.y1 > SET_APART * (line.y1 - line.y0)


def _names_heading_below(line: Line, sides: Sides) -> bool:
    """Whether a header in small print is the very title that the page has in larger print below it, with its number."""
    if not sides.has_positions or line.mono or line.size > sides.largest or not _WORD.search(line.text):
        return False
    larger = (other.text for other in sides.placed if other.size >= LARGER_BELOW * line.size)
    return any(line.text in (title, _SECTION_NUMBER.sub("", title)) for title in larger)


def _names_chapter_and_section(line: Line, sides: Sides, others: list[Sides]) -> bool:
    """Whether a line has two parts far apart, of which one stands at its height on two neighbours: chapter and section.

    They may be other ones on each page, but most pages have such a line, as wide as this one.
    """
    if line.size > sides.largest or not sides.has_positions or len(line.text.split()) < 2 * PART_WORDS:
        return False
    if not _is_parted(line, sides):
        return False
    tops = [other.lines[0][0] for other in others if other.lines[0]]
    placed = [
        top
        for top in tops
        if abs(top.x1 - top.x0 - line.x1 + line.x0) < SAME_PLACE  # left and right pages have other margins
        and abs(top.y0 + top.y1 - line.y0 - line.y1) < line.size
    ]
    if len(placed) < PLACE_SHARE * len(others):
        return False
    words = line.text.split()
    begins, ends = words[:PART_WORDS], words[-PART_WORDS:]
    alike = [top.text.split() for top in placed]
    return max(sum(o[:PART_WORDS] == begins for o in alike), sum(o[-PART_WORDS:] == ends for o in alike)) >= IN_STEP


def _ends_open(sides: Sides) -> bool:
    """Whether the last line of a page's text, which footers and notes are no part of, ends no sentence."""
    lines = sides.page.lines
    text = [line.text for line in lines if line.size >= SMALLER * sides.largest and line.cells == 1 and not line.column]
    return bool(text) and not SENTENCE_END.search(text[-1])


def _ends_a_part(line: Line, sides: Sides, others: list[Sides]) -> bool:
    """Whether two pages nearby end with the line too, in smaller print than the text: the footer of a few pages.

    A sentence, a note with its mark, and a source or another field are none.
    """
    if SENTENCE_END.search(line.text) or line.text[:1] in "*†‡§¶" or ": " in line.text:
        return False
    near = [other for other in others if abs(other.page.number - sides.page.number) <= NEAR]
    is_small_print = sides.has_positions and line.size < sides.largest and _WORD.search(line.text)
    return bool(is_small_print) and _recurs(line, 1, sides.page, near, IN_STEP)


def _says_nothing_new(line: Line, page: RawPage, alike: list[tuple[RawPage, Line]]) -> bool:
    """Whether figures that differ are page numbers (or the same on some neighbours, as a chapter's are).

    Two pages may lie side by side on one, then the numbers go up in twos.
    """
    if all(found.text == line.text for _, found in alike):
        return True
    numbers = numbers_of(line.text)
    explained = 0
    for other, found in alike:
        step = other.number - page.number
        explained += all(b - a in {0, step, 2 * step} for a, b in zip(numbers, numbers_of(found.text), strict=False))
    return explained >= 2 and _has_no_sentence(line)


def _has_no_sentence(line: Line) -> bool:
    return _SENTENCE.match(line.text.strip().removesuffix("et al.")) is None


def _is_apart(line: Line, largest: float) -> bool:
    """Whether the page number stands away from the words beside it, or ends a line in no larger print than `largest`.

    "1 Capital of France" is a question. Lines without a place have no width.
    """
    if line.x1 == line.x0 or line.x1 - line.x0 > line.size * (WIDEST_LETTER_EM * len(line.text) + MORE_LETTERS_EM):
        return True
    *words, last = line.text.split()
    return len(words) > 1 and last.isdecimal() and line.size <= largest


def _begins_with_number(line: Line, sides: Sides) -> bool:
    """Whether a line in no larger print than the text begins with a long number, or is a number and capitals."""
    first, *words = line.text.split()
    is_long = first.isdecimal() and (len(first) >= LONG_NUMBER or line.text.isupper())
    return bool(words) and is_long and line.size <= sides.largest


def _counts_beside_others(line: Line, side: int, sides: Sides, others: list[Sides]) -> bool:
    """Whether a line may be a header ("Preface 2", "166 BRECCIA", "166 Of rocks"), and its number counts on neighbours.

    There it stands beside words that recur: the titles of sections that are numbered like their pages differ.
    """
    words = line.text.split()
    is_word_and_number = len(words) == 2 and words[1].isdecimal() and line.size <= sides.largest
    if not is_word_and_number and not _begins_with_number(line, sides):
        return False
    counted = [other for other in others if not sides.numbered[side].isdisjoint(other.numbered[side])]
    keys = Counter([key for other in counted if _WORD.search(key := key_of(other.lines[side][0].text))])
    return max(keys.values(), default=0) >= IN_STEP


def _first_of_its_title(line: Line, sides: Sides, titles: set[str]) -> bool:
    """Whether a line is a title not seen before; it is remembered."""
    if line.size < TITLE * sides.size or len(titles) >= MAX_TITLES or not _WORD.search(line.text):
        return False
    before = len(titles)
    titles.add(key_of(line.text))
    return len(titles) > before


def _set_apart(found: list[Line], side: list[Line], sides: Sides) -> list[Line]:
    """Return the lines of `found` that are not set tightly against the page's other text."""
    if not sides.has_positions or not found:
        return found
    block = list(side)
    ids = {id(line) for line in block}
    rest = [line for line in sides.placed if id(line) not in ids]
    while joined := [line for line in block if _is_tight_in(rest, line)]:
        block = [line for line in block if not any(line is one for one in joined)]
        rest += joined
    return [line for line in found if any(line is one for one in block) or not _WORD.search(line.text)]


def _is_tight_in(rest: list[Line], line: Line) -> bool:
    """Whether a line is set tightly against another; only those near it are looked at closely."""
    y0, y1, reach = line.y0, line.y1, TIGHT * max(1.0, line.y1 - line.y0)
    near = [other for other in rest if other.y0 - y1 < reach and y0 - other.y1 < reach]
    return any(_tight(line, other) for other in near)


def _tight(a: Line, b: Line) -> bool:
    if a.bold != b.bold or abs(a.size - b.size) > SAME_PRINT * max(a.size, b.size) or a.x0 >= b.x1 or b.x0 >= a.x1:
        return False
    height = max(1.0, min(a.y1 - a.y0, b.y1 - b.y0))
    room = max(a.y0, b.y0) - min(a.y1, b.y1)
    return -OVERLAPPING * height <= room < TIGHT * height


def _ends_every_page(line: Line, page: RawPage, others: list[Sides], enough: float) -> bool:
    """Whether the last line is the page number or address a browser prints below the text, wherever that ends."""
    if line.cells >= 2 or line.column or len(line.text) > LONGEST_RUNNING:
        return False
    key = key_of(line.text)
    alike = [(other.page, found) for other in others if (found := other.ends.get(key))]
    if _PRINTED_NUMBER.fullmatch(line.text) and _is_centred(line, page):
        return True
    if len(key) <= MAX_BARE and page_number(line.text):
        return _is_own_number(line.text, page) or _counts_pages(line, page, alike)
    if len(alike) < enough or not _says_nothing_new(line, page, alike):
        return False
    return "://" in line.text or any(found.text != line.text for _, found in alike)


def _ends_with_number(sides: Sides, others: list[Sides], enough: float) -> bool:
    """Whether the last line, which may be in cells, has a number that counts with the pages, as theirs has."""
    line = sides.last[0]
    if not (line.text.isdecimal() or _is_apart(line, sides.largest)):
        recurs = sum(key_of(line.text) in other.ends for other in others) >= IN_STEP
        if not recurs or not _begins_with_number(line, sides):
            return False
    return any(sum(first in other.ends_counted for other in others) >= enough for first in sides.ends_counted)


def _is_beside_number(line: Line, sides: Sides) -> bool:
    """Whether the page's other last line is its printed number, as of a footer in two lines."""
    others = [other for other in sides.last if other is not line]
    return any(_PRINTED_NUMBER.fullmatch(other.text) and _is_centred(other, sides.page) for other in others)


def _ends_alike(line: Line, others: list[Sides], enough: float) -> bool:
    """Whether enough neighbours end with the very same line, wherever on the page their text ends."""
    alike = (other.ends.get(key_of(line.text)) for other in others)
    return sum(found is not None and found.text == line.text for found in alike) >= enough


def _is_centred(line: Line, page: RawPage) -> bool:
    return page.has_positions and abs(line.x0 + line.x1 - page.width) < CENTRED * page.width


def _counts_pages(line: Line, page: RawPage, alike: list[tuple[RawPage, Line]]) -> bool:
    """Whether a bare number goes up with the pages: one that is counted from another page than the first."""
    if not page_number(line.text):
        return False
    first, *rest = numbers_of(line.text) or (0,)
    in_step = [numbers_of(found.text) == (first + other.number - page.number, *rest) for other, found in alike]
    return sum(in_step) >= (1 if _is_centred(line, page) else IN_STEP)


def _is_own_number(text: str, page: RawPage) -> bool:
    number = page_number(text)
    is_roman = number.isalpha() and number.islower() and len(number) > 1 and numbers_of(number) == (page.number,)
    return is_roman or number.lower() in {str(page.number), page.label.lower()} - {""}
