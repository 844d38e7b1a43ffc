"""What lines tell that are told apart as headings and text: print, room, and whether one goes on in the next."""

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from math import inf
from operator import attrgetter
from unicodedata import category

from functions.ingest.parsing.distances import first_word
from functions.ingest.parsing.heading_words import CAPTION, is_label, is_label_written_out, opens_document
from functions.ingest.parsing.sections import SAME, depth_of
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import SOFT_HYPHEN
from shared.rects import word_count, word_starts

MAX_LENGTH = 120
MAX_LINES_OF_ONE = 3
LEAST_NAME = 4
"""Characters of a heading at least that a document may have many times."""
BESIDE = 2
"""Room between two parts of one row, in font sizes, above which they are cells and no one heading."""
WIDEST = 0.8
"""Room that a letter takes at most, in font sizes."""
SCATTERED = 4
MIN_SCATTERED = 3
"""Room between two words, in font sizes, beyond what their letters take, and words of a line, from which on it is
several lines beside each other."""
MIN_CAPITALS = 8
"""Letters of a line in capitals that make it a heading, though neither large nor bold; shorter ones are codes."""
LONG = 45
"""Characters of a line of prose across the page; names of companies above the titles of their tables have fewer."""
PROSE = 30
"""Characters from which on a line that is no table's counts for the body's size."""
MIN_PROSE = 600
"""Characters of prose from which on a page has a body size of its own, as an annex has."""
LETTERED = re.compile(r"^(?:[a-z]|[ivx]{1,5})[.)]\s+\W?[A-Z]")
JOINS = re.compile(r"(?:[,&]|\b(?:and|or|of|the|to|for|in|on|with|by|from))$", re.IGNORECASE)
"""How a line ends that goes on in the next one."""
LABEL = re.compile(r"(?:\w+ )?(?:notes?|warnings?|cautions?|tips?|sources?|examples?)\s*:$", re.IGNORECASE)
"""What marks a remark and names no section."""
_DOTTED = re.compile(r"\d{1,2}\.\d")
_BETWEEN_WORDS = str.maketrans("", "", " ,&")
_DIGITS = re.compile(r"\d+")
FEW_SIGNS, LONGEST_SIGN, SHORT_SIGNS = 3, 2, 1.5
"""Signs, at least, that are no words together, characters of one of them at most, and of all of them on average."""
_WORD_OF_ONE_LETTER = frozenset("aeiouy")
ANNOUNCES = re.compile(
    r"\b(?:follow\w*|below|include[sd]?|including|are|is|was|were|as|that|to|for|by|of):$", re.IGNORECASE
)
"""How a sentence ends that introduces what stands below it."""
PLAIN = re.compile(
    r"^(?:chapter|part|appendix|item|note)\s+(?:\d+[A-Z]?|[A-Z]|[IVX]+)(?:$|[\s.:,–—-]+[A-Z“\[])", re.IGNORECASE
)
"""Headings that need neither size nor weight, only room around them: "ITEM 7 - Business", "Part II"."""
COLUMNS = re.compile(
    r"\W*(?:(?:three|six|nine|twelve|\d+) (?:months|weeks)|(?:fiscal )?(?:years?|quarters?|periods?)) end(?:ed|ing)\b|"
    rf"(?:{CAPTION})\s*(?:[A-Z][.-]?)?\d|"
    r"\W*(?:in|dollars in|amounts in) (?:millions|thousands|billions)\b|"
    r"(?:(?:as of|at) )?(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)\w* \d{1,2},? (?:19|20)\d\d$",
    re.IGNORECASE,
)
"""How tables and figures are called, their columns and their unit."""
ROW_OF_FIGURES = re.compile(r"(?!.*[^\W\d_]{4})(?:\S*\d\S*[^\W\d]?\s+){2,}\S*\d\S*")
"""Three figures or more without words, as those below a chart or above what they are of: "$15.3B 42.6% $0.25"."""
LEADER = re.compile(r"(?:\. ?){4,}|…{2,}|_{4,}|\s\.{1,3} ?\d{1,4}$")
GOES_ON = re.compile(r"[a-z,;)\]]")
"""How a line begins that is no new sentence."""
LineStyle = tuple[float, bool]
"""How headings are told apart: size in half points, and whether they are bold."""
LONGEST_SENTENCE = 60
LONGEST_PLAIN = 90
TITLE = 1.4
"""Characters of a heading in large print that ends with a full stop, and of one in plain print, at most; size, in that
of the text, from which on a longer sentence is a title."""
SAME_SIZE = 0.4
"""How much the print of two lines of one item may differ, in points."""
CAPITALS_SHARE = 0.7
SIGNS_OF_CODE = frozenset("_=<>$\\{}")
"""Share of a line's characters that are letters if it is a heading in capitals, and what no such heading holds."""
FARTHER = 1.35
"""How far below the line above, in heights of a line, a heading of its own begins."""
NAME_ROOM = 0.25
"""Room above a name in bold beyond that below it, in font sizes."""
MANY, CROWDED, MOST_CROWDED, ACROSS = 8, 0.25, 3, 20
"""More headings than this on a page, and a larger share of its lines, are a slide or a form; headings alike that count
there, whatever stands below them; and width of text across the page, in font sizes."""
TIGHT, OVER_LABELS = 0.6, 0.5
"""Room above the first row of a table, in heights of the line above it, under which that line is the table's; and how
far apart their edges are then at most, in font sizes."""
LABEL_ROOM = 6
"""How far above a chapter's title its number stands at most, in heights of the title."""
FIRST_LINES = 3
"""Lines of a page of which one may be no more than "Exhibit 31.1" or "Part II", and a heading in whatever print."""
APART_SHARE = 0.5
"""Share of a page's prose in another face from which on that face says nothing: most of the page is a listing, say."""
COVER_LINES = 16
FIRST_PAGES = 3
"""Lines of a cover at most, and pages at a document's beginning of which one may be its title's."""
_YEAR = r"(?:19|20)\d\d"
_DAY = (
    rf"{_YEAR}[-–/.]\d\d?[-–/.]\d\d?\b|\b\d\d?[-–/.] ?\d\d?[-–/.] ?{_YEAR}\b"
    rf"|\b\d\d?\.?[ -](?:de )?[^\W\d_]{{3,}}\.?[ -](?:d[eo] )?{_YEAR}\b|(?<![^\W\d_])[^\W\d_]{{3,}} \d\d?,? {_YEAR}\b"
)
"""A day in figures, or with a month in any language: "2011/09/04", "7. Mai 2014", "30-Sep-2008"."""
_IS_DAY = re.compile(_DAY)
_TITLE_MATTER = re.compile(rf"@|://|\bwww\.|©|\bver[sz]\w*\.? ?\d|{_DAY}", re.IGNORECASE)
"""What stands below a title and heads nothing: an address, a version, a day of a year."""
_COUNTED = re.compile(r"(?:[IVX]{1,5}|[A-Z])\. [A-Z]")
SAME_HEADING = 0.3
NEXT_LINE = 1.7
FARTHEST_LINE = 2.2
"""How much the print of two lines of one heading may differ, in points, and how far below each other they begin at
most, in heights of a line; the same of two lines of a paragraph."""


def style_of(line: Line) -> LineStyle:
    """Return how a line is set."""
    return to_half_points(line.size), line.bold


def is_below(above: Line, line: Line) -> bool:
    """Whether a line stands lower than another one, and not beside it."""
    return line.y0 > above.y0 and line.x0 < above.x1 and above.x0 < line.x1


def _is_alike(above: Line, line: Line) -> bool:
    """Whether two lines are printed alike, as those of one paragraph are."""
    capitals = is_in_capitals(above.text) == is_in_capitals(line.text)
    return capitals and style_of(above) == style_of(line) and above.apart == line.apart and not above.column


def is_in_item(item: Line, above: Line, line: Line) -> bool:
    """Whether a line goes on in the item that begins with a bullet above it, as on slides, whose print is large."""
    is_alike = abs(line.size - item.size) < SAME_SIZE and line.bold == item.bold
    return is_alike and line.x0 > item.x0 + 1 and 0 < line.y0 - above.y0 < 2 * line.size


def of_crowded_page(lines: list[Line], groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the largest headings of a page where nearly every line looks like one: a slide, a form or a menu.

    Several alike count only where plain text across the page or a table begins below them, or with a number: "2.1".
    Smaller ones in bold count that name the prose below them, as of a letter or minutes.
    """
    if len(groups) <= MANY or sum([end - start for start, end in groups]) <= CROWDED * len(lines):
        return groups
    largest = max(lines[start].size for start, _ in groups)
    are_largest = [lines[start].size * SAME >= largest for start, _ in groups]
    is_one = sum(are_largest) <= MOST_CROWDED
    texts = [lines[end] if end < len(lines) else Line("") for _, end in groups]
    is_over = [line.column > 0 or (line.x1 - line.x0 >= ACROSS * line.size > 0 and not line.bold) for line in texts]
    kept: list[tuple[int, int]] = []
    over = {start for start, end in groups if lines[start].bold and _is_over_prose(lines, start, end)}
    usual = usual_room(lines)
    styles = Counter([style_of(lines[at]) for at in over if room_above(lines, at) > usual + NAME_ROOM * lines[at].size])
    for (start, end), is_largest, has_text in zip(groups, are_largest, is_over, strict=True):
        is_told = is_largest and (is_one or has_text or _DOTTED.match(lines[start].text) is not None)
        is_of_series = start in over and styles[style_of(lines[start])] > MOST_CROWDED
        if is_told or (not is_largest and is_of_series):
            kept.append((start, end))
    # Between smaller ones that count no larger one is text.
    smallest = min((lines[start].size for start, _ in kept), default=largest)
    return [group for group in groups if group in kept or lines[group[0]].size > SAME * smallest]


def is_over_row(lines: list[Line], end: int) -> bool:
    """Whether a table begins right below the line before line `end`, at its edge."""
    last, below = lines[end - 1], lines[end]
    is_at_edge = abs(below.x0 - last.x0) < OVER_LABELS * last.size
    return below.column > 0 and is_at_edge and room_above(lines, end) < TIGHT * (last.y1 - last.y0)


def may_begin(text: str) -> bool:
    """Whether a heading may begin as a text does: with no sign of a formula, and no mark on a letter before it."""
    return text[0].isascii() or category(text[0]) not in {"Sm", "Mn", "Mc"}


def may_end_page(lines: list[Line], start: int) -> bool:
    """Whether lines that a page ends with may be a heading in the text's own size: in bold, or below no prose."""
    return lines[start].bold or not any(len(line.text) >= PROSE and not line.column for line in lines[:start])


def is_in_entry(lines: list[Line], start: int, end: int) -> bool:
    """Whether lines are of an entry of a table of contents that goes on, up to its page, in a line printed alike."""
    if any(LEADER.search(line.text) for line in lines[start:end]):
        return True
    last, below = lines[end - 1], lines[end] if end < len(lines) else None
    if below is None or not below.text[-1:].isdecimal() or LEADER.search(below.text) is None:
        return False
    is_next = 0 < below.y0 - last.y0 < FARTHEST_LINE * (last.y1 - last.y0)
    return is_next and style_of(last) == style_of(below)


def ends_paragraph(above: Line, line: Line) -> bool:
    """Whether a line is printed as the long one above it, which had no room for its first word or cuts that."""
    is_rest = line.x1 <= above.x1 + 1 or above.text.endswith(("-", SOFT_HYPHEN))
    is_rest = is_rest or (abs(line.x0 - above.x0) < 1 and above.x1 + first_word(line) > line.x1)
    is_long = len(above.text) >= LONG or (above.text.endswith(("-", SOFT_HYPHEN)) and line.text[:1].islower())
    return _is_alike(above, line) and is_long and is_rest


def is_body_apart(lines: list[Line], body: float) -> bool:
    """Whether most prose in the body's size is in another face than most of a page, so that this marks no heading."""
    prose = [line for line in lines if len(line.text) >= PROSE and to_half_points(line.size) == body]
    prose = [line for line in prose if not (line.column or line.mono or line.bold)]
    return bool(prose) and sum([line.apart for line in prose]) >= APART_SHARE * len(prose)


def without_title_matter(
    lines: list[Line], groups: list[tuple[int, int]], body: float, *, has_more: bool
) -> list[tuple[int, int]]:
    """Return a first page's headings without what belongs to its title: author, date, place, in smaller print.

    It stands above the first prose and is an address or a date, or is centred as the title is and not in bold. On a
    cover, if the document `has_more` pages, it is all but the largest print. A single letter belongs to a mark, and a
    day heads nothing there in whatever print.
    """
    if not groups:
        return groups
    is_prose = [
        len(line.text) >= LONG and line.size <= SAME * body and not (line.column or _TITLE_MATTER.search(line.text))
        for line in lines
    ]
    for start, end in groups:
        is_prose[start:end] = [False] * (end - start)
    prose = is_prose.index(True) if True in is_prose else len(lines)
    largest = max((lines[start] for start, _ in groups), key=attrgetter("size"))

    def is_matter(start: int, end: int) -> bool:
        first, text = lines[start], " ".join(line.text for line in lines[start:end])
        if len(text) == 1 or (0 < start < prose and _IS_DAY.fullmatch(text)):
            return True
        is_numbered = depth_of(text) > 0 and not _IS_DAY.fullmatch(text)
        if start > prose or first.size * SAME >= largest.size or is_numbered or opens_document(text):
            return False
        if (has_more and prose == len(lines) <= COVER_LINES) or _TITLE_MATTER.search(text):
            return True
        return not first.bold and _is_centred(first, largest)

    return [group for group in groups if not is_matter(*group)]


def is_title_page(lines: list[Line]) -> bool:
    """Whether a page has nothing but a few short lines below each other, all with the same middle."""
    middles = [line.x0 + line.x1 for line in lines]
    is_short = 1 < len(lines) <= COVER_LINES and all(len(line.text) < LONG and not line.column for line in lines)
    return is_short and max(middles) - min(middles) < 2 * min([line.size for line in lines])


def _is_centred(line: Line, title: Line) -> bool:
    """Whether two lines have one middle, and no one edge."""
    return abs(line.x0 + line.x1 - title.x0 - title.x1) < 2 * line.size and abs(line.x0 - title.x0) > 1


def room_above(lines: list[Line], i: int) -> float:
    """Return the room between a line and the one before it; infinite where that is none or stands elsewhere."""
    if not 0 < i < len(lines) or not is_below(lines[i - 1], lines[i]):
        return inf
    return lines[i].y0 - lines[i - 1].y1


def size_of_prose(lines: list[Line]) -> float:
    """Return the size that most of a page's prose is set in; 0 if it has little."""
    sizes = Counter[float]()
    for line in lines:
        if len(line.text) >= PROSE and not line.column:
            sizes[to_half_points(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes.total() >= MIN_PROSE else 0.0


def usual_room(lines: list[Line]) -> float:
    """Return the commonest room between lines of one style, in steps of half a point."""
    rooms = Counter(
        [
            to_half_points(line.y0 - above.y1)
            for above, line in pairwise(lines)
            if (above.size, above.bold, above.apart) == (line.size, line.bold, line.apart)
            if not above.column and is_below(above, line)
        ]
    )
    return rooms.most_common(1)[0][0] if rooms else 0.0


def is_in_capitals(text: str) -> bool:
    """Whether a text is in capitals, long enough that this says something, and without the signs of what is typed.

    Letters that have no small ones, as those of Chinese, say nothing.
    """
    letters = sum(map(str.isupper, text))
    is_long = letters >= max(MIN_CAPITALS, CAPITALS_SHARE * len(text))
    return text.isupper() and is_long and SIGNS_OF_CODE.isdisjoint(text)


@lru_cache(maxsize=1_024)  # a document has few
def to_half_points(size: float) -> float:
    """Round a size to half points."""
    return round(2 * size) / 2


@lru_cache(maxsize=1_024)  # each line is asked for two or three times
def masked(text: str) -> str:
    """Return a line as all those that differ in figures alone."""
    return _DIGITS.sub("#", text.lower())


def is_no_name(text: str, line: Line, body: float) -> bool:
    """Whether lines in the print of headings, the first of them `line`, are none: a sentence, a remark, a copyright.

    Sentences in bold are headings, those of risks, say, and so are those in much larger print than the text. One in the
    text's own print ends in no "by".
    """
    is_plain = not line.bold and line.size < TITLE * body
    if is_plain and line.size <= SAME * body and JOINS.search(text) and not text.isupper():
        return True
    if is_plain and ANNOUNCES.search(text):
        return True
    if _is_without_words(text):
        return True
    is_sentence = is_plain and len(text) > LONGEST_SENTENCE and text.endswith(".") and not depth_of(text)
    return is_sentence or text[0] in "[©" or (text[0] == "(" and text.find(")") == len(text) - 1)


def _is_without_words(text: str) -> bool:
    """Whether a text is of single signs, as letters of a font of signs or of notes are read: "g m X g F>"."""
    signs = text.split()
    return (
        len(signs) >= FEW_SIGNS
        and max(map(len, signs)) <= LONGEST_SIGN
        and sum(map(len, signs)) <= SHORT_SIGNS * len(signs)
        and any(sign.islower() and sign not in _WORD_OF_ONE_LETTER for sign in signs if len(sign) == 1)
    )


def is_name(text: str) -> bool:
    """Whether a text is of words alone, as what each chapter has ("Synopsis"), and marks no remark ("Note")."""
    return len(text) >= LEAST_NAME and text.translate(_BETWEEN_WORDS).isalpha() and not LABEL.match(f"{text}:")


def is_name_over_prose(lines: list[Line], i: int) -> bool:
    """Whether a line is a word or two in capitals, however short, above a long line at its edge."""
    line, below = lines[i], lines[i + 1] if i + 1 < len(lines) else None
    is_over = below is not None and len(below.text) >= LONG and abs(below.x0 - line.x0) < 1
    return (
        is_over and line.text.isupper() and is_name(line.text) and all(map(str.isupper, filter(str.isalpha, line.text)))
    )


def is_numbered_name(lines: list[Line], i: int) -> bool:
    """Whether a line begins as a section does that is counted, "II. Methods" or "A. Setup", with room on both sides."""
    line = lines[i]
    is_counted = depth_of(line.text) > 0 or _COUNTED.match(line.text) is not None
    return is_counted and min(room_above(lines, i), room_above(lines, i + 1)) > usual_room(lines)


def is_name_set_off(lines: list[Line], i: int) -> bool:
    """Whether a line is a name in capitals with room on both sides: "ACKNOWLEDGMENTS"."""
    text = lines[i].text
    is_long = is_in_capitals(text) and is_name(text)
    return is_long and min(room_above(lines, i), room_above(lines, i + 1)) > usual_room(lines)


def names_prose(lines: list[Line], start: int, end: int) -> bool:
    """Whether a line in bold, set off from what is above it, names the plain prose that begins below its edge.

    "Example 10", an entry of a table of contents and the letters of an index do not.
    """
    if not _is_over_prose(lines, start, end):
        return False
    usual = max(room_above(lines, end), usual_room(lines))
    return room_above(lines, start) > usual + NAME_ROOM * lines[start].size


def _is_over_prose(lines: list[Line], start: int, end: int) -> bool:
    """Whether a short line without a number at its end stands above plain prose that begins below its edge."""
    line, below = lines[start], lines[end] if end < len(lines) else None
    is_long_enough = LEAST_NAME <= len(line.text) <= LONGEST_SENTENCE
    if below is None or end > start + 1 or not is_long_enough or line.text[-1].isdecimal():
        return False
    is_over = is_below(line, below) and abs(below.x0 - line.x0) < 1 and len(below.text) >= LONG
    return is_over and not (below.bold or below.column or below.mono or below.leads)


def without_cells(lines: list[Line], groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs of lines without those written one after the other on one row: cells of a table's header."""
    cells: set[int] = set()
    for (start, end), (other, _) in pairwise(groups):
        left, right = lines[start], lines[other]
        are_alike = end == other and style_of(left) == style_of(right)
        if are_alike and right.x0 > left.x1 and right.y0 < left.y1 and left.y0 < right.y1:
            cells |= {start, other}
    return [group for group in groups if group[0] not in cells]


def label_above(lines: list[Line], start: int, large: float) -> int:
    """Return how many lines right above a chapter's title are no more than its number: "Chapter 2", "CHAPTER", "TWO".

    They are in print as large as `large`, or bold or in capitals at the top of the page; the title has no number.
    """
    if not start or depth_of(lines[start].text) or is_label(lines[start].text):
        return 0
    above, title = lines[start - 1], lines[start]
    if above.column or title.y0 - above.y1 > LABEL_ROOM * title.size:
        return 0
    is_seen = above.size >= large or (start <= FIRST_LINES and (above.bold or above.text.isupper()))
    if is_seen and is_label(above.text):
        return 1
    return 2 * (is_seen and start > 1 and is_label_written_out(lines[start - 2].text, above.text))


def is_scattered(line: Line, longer_side: float) -> bool:
    """Whether a line is several ones beside each other, as the titles of charts: much more room than letters."""
    words = line.text.split()
    if len(words) < MIN_SCATTERED or " " in line.place or word_count(line.place) != len(words) or depth_of(line.text):
        return False
    starts = word_starts(line.place, longer_side)
    steps = [(b - a) / (len(word) + 1) for word, (a, b) in zip(words, pairwise(starts), strict=False)]
    usual = min(sorted(steps)[len(steps) // 2], WIDEST * line.size)
    rooms = [(step - usual) * (len(word) + 1) for word, step in zip(words, steps, strict=False)]
    return max(rooms) > SCATTERED * line.size


def is_cut(line: Line) -> bool:
    """Whether a line of prose ends in the middle of a sentence."""
    return len(line.text) >= PROSE and not line.column and JOINS.search(line.text) is not None


def is_cut_by_end(line: Line, below: Line) -> bool:
    """Whether a line goes on below: in a paragraph if the next word had no room, or as the name of columns.

    A long line goes on, too, in a short one that is printed as it is.
    """
    if below.column:
        return JOINS.search(line.text) is not None
    is_next = 0 < below.y0 - line.y0 < FARTHEST_LINE * (line.y1 - line.y0) and abs(line.x0 - below.x0) < 1
    if len(line.text) >= LONG and is_next and _is_alike(line, below):
        return below.text[:1].islower() and not LETTERED.match(below.text)
    is_near = abs(line.size - below.size) < SAME_SIZE and 0 < below.y0 - line.y0 < NEXT_LINE * (line.y1 - line.y0)
    is_near = is_near and abs(line.x0 - below.x0) < 1 and below.x1 > line.x1 - 1
    return is_near and GOES_ON.match(below.text) is not None and line.x1 + first_word(below) > below.x1


def goes_on(above: Line, line: Line) -> bool:
    """Whether a line is the rest of the heading above it, which cannot end there."""
    is_rest = line.text[:1].islower() or JOINS.search(above.text) is not None or _closes_bracket(above, line)
    return is_rest and not line.column and (line.bold or line.apart) and continues_heading(above, line)


def _closes_bracket(above: Line, line: Line) -> bool:
    """Whether a line closes a bracket that the line above it has opened."""
    is_open = above.text.rfind("(") > above.text.rfind(")")
    return is_open and ")" in line.text.partition("(")[0]


def _had_room(above: Line, line: Line) -> bool:
    """Whether a line had room for the first word of the one below it, which stands further off: each is a heading."""
    is_far = line.y0 - above.y0 > FARTHER * max(line.size, above.y1 - above.y0)
    is_at_edge = abs(line.x0 - above.x0) < 1 and above.x1 + first_word(line) + line.size < line.x1
    return is_far and is_at_edge and not (depth_of(above.text) or JOINS.search(above.text) or line.text[:1].islower())


def continues_heading(above: Line, line: Line, large: float = inf) -> bool:
    """Whether a line is the second line of the heading above it; print as large as `large` needs no one face."""
    same = abs(above.size - line.size) < SAME_HEADING and above.bold == line.bold
    same = same and (above.apart == line.apart or line.size >= large)
    near = 0 <= line.y0 - above.y0 < NEXT_LINE * max(line.size, above.y1 - above.y0)
    begins = (depth_of(line.text) > 0 or LETTERED.match(line.text) is not None) and not JOINS.search(above.text)
    begins = begins and not _closes_bracket(above, line)
    is_beside = line.y0 < above.y1 and line.x0 - above.x1 > BESIDE * line.size  # as a cell is
    is_one = not (begins or is_beside or _had_room(above, line))
    return same and near and is_one and not above.text.endswith((".", ":", "!", "?"))
