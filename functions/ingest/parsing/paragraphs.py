"""Which lines are one paragraph."""

import re
from collections.abc import Sequence
from itertools import pairwise

from functions.ingest.parsing.distances import first_word
from functions.ingest.parsing.parts import Part, ends_sentence
from functions.ingest.parsing.text import cleaned, is_cjk
from functions.ingest.parsing.vocabulary import ANDS, ends_hyphenated
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import SOFT_HYPHEN
from shared.language import FUNCTION_WORDS
from shared.rects import word_count, word_starts

LEADER = re.compile(
    r"(?:\. ?){6,}|(?:(?<=\w)(?:\. ?){4,5}(?=\S)|(?<!\w)(?:\. ?){4,})(?=(?:[\W\d]*[^\W\d]+){0,3}[\W\d]*$)"
    r"|…{2,}|(?:_ ?){5,}"
)
"""Few dots with text behind them are an ellipsis, and four at a word with nothing behind."""
_SIGNED = re.compile(r"(?:By: ?)?/s/ ")
"""A signature, below which the name is printed."""
_FIELD = re.compile(r"[^\W\d_][^\s:.,]*(?: [^\s:.,]+){0,3}: .{1,40}(?<![.,;!?])")
"""A line of a form: "Tax code: 1257L", "Ordered by: Ann Lee"."""
_ADDRESS = re.compile(r"https?://|www\.")
_SECTION_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,3}){0,4})\.? +[\"“«„‘'({]*[^\W\d_]")
SPARE_EM = 2
"""How near the right edge a line ends that is full, in font sizes, where tags tell that its paragraph goes on."""
MIN_POINTS = 2
"""The number that an entry of a table of contents begins with, and points in it that no measure has: "1.5 million"."""
_LABEL = re.compile(r"[A-Z][^\W\d_]+: \S")
_ASSIGNED = re.compile(r"[^\W\d][\w.-]+ :?= \S")
"""A line that gives a name its value, as one of a list of settings: "key.base = base"."""
LONGEST_LABEL = 20
LABELLED = 6
"""How a line of an entry in fields begins, and lines on either side that are looked at for others: "Type: …"."""
_PARENTHESES = re.compile(r"\([^\W\d_][^()]*\)[,;]?\s([^\W\d_])")
"""A word in parentheses that begins a line, and the first letter behind it."""
LONGEST_NAME = 120
_SIGNATURE = re.compile(r"(?:[a-z]+ )?[\w.:]+\(")
"""Characters within which the name of a function ends, and how that begins."""
BLANK, BEHIND_BLANK = "___", 3
"""What ends a blank, and words in small letters behind it that are a sentence's, and no name of another field."""
ENTRIES = 4
NEARBY = 3
RAGGED = 0.6
"""Sentences of one line each that are entries of a list, lines on either side of one that tell whether it is an entry,
and share of the lines of such a list that had room for the next one's first word."""
FIELD_CHARACTERS = 60
"""Characters of such a line, and of the one above it, at most; those of running text are longer."""
RAGGED_CHARACTERS = 45
"""The same where the line ends in a word that wants another one."""
LITTLE_WORD = 3
"""Letters of a last word up to which the sentence goes on."""
_GOVERNING = ANDS.union(*(FUNCTION_WORDS[language] for language in ("en", "de", "fr", "es")))
HANGING = 0.8
"""How much further right than the first line of an entry the others begin, in font sizes."""
SET_OFF = 0.15
"""Room between two entries beyond that between lines of one, in font sizes."""
FAR = 0.4
"""The same from which on what follows a sentence begins anew, however full its line was."""
EVEN = 0.05
"""How much the distances of a paragraph's lines may differ, in font sizes."""
TIGHT = 0.5
"""Room between two lines of an item, in font sizes, under which one goes on though a sentence has ended."""
OUTDENT = 1.5
"""How much further left than a line that is not full the next one begins, in font sizes, that does not go on in it."""
SHORT_ENTRY = 0.5
"""Share of the width that entries which begin alike take at most."""
MIN_INDENTED = 2
"""Paragraphs of a page that tell that the first line of each is indented."""
MIN_JUSTIFIED = 3
"""Lines of a paragraph from which on the two above its last tell where all end."""
CENTRED_APART = 0.6
"""Room between centred lines that are no lines of one text, in font sizes."""
APART = 0.6
"""Room between a line in bold and another one, in heights of a line, from which on they are two texts."""
SAME_SIZE = 0.4
HYPHENATED_SIZE = 0.5
"""How much the print of two lines of one text may differ, in points, and that of two lines of one word."""
SMALLEST_EM = 4.0
"""Font size in points that is used for lines without one, or in smaller print."""
AT_EDGE = 0.3
"""How far the left edges of lines that begin alike may be apart, in font sizes."""
FARTHEST_INDENT = 6
"""Indents from there on are none of a paragraph's or an entry's, in font sizes."""
LEAST_LIKE = 0.9
MOST_LIKE = 1.12
"""How much smaller and larger the print of the next line of a text may be."""
UPWARDS = 2
"""Points that a line of the same column may begin above the one before it."""
FARTHER = 1.4
OF_LINE = 0.9
FARTHEST = 2.2
"""How far below the line above, in usual distances, a line begins that is set off; share of a line's height that is its
least distance; and how far a sentence still goes on."""
BELOW = 0.3
"""How far a line may reach into the one above it, in that one's heights."""
SPARE = 0.25
SPARE_BESIDE = 0.5
"""Room behind a line beyond the next one's first word, in font sizes, from which on that word had room; and before
entries of a list."""
AT_MARK = 0.4
"""How far a line's left edge is from that of an item's mark, in font sizes, at most, if it stands at the mark."""
ENDS_APART = 0.1
"""Points by which the ends of lines differ that are not justified."""
WIDEST_LETTER_EM = 0.6
GAP_EM = 4
"""Width of a letter in ASCII, and room behind a word from which on parts of a line are set apart, in font sizes."""
FIRST_LINES = 3
"""Lines on either side of a paragraph's beginning that tell how long its lines may be."""
EVEN_RUN = 0.2
WIDER_WORD = 1.25
"""How much the distances of a run's lines may differ, in font sizes, and how much more room than its width the next
word had if the line was ended."""


def has_leader(text: str) -> bool:
    """Whether a line has dots or strokes that lead to a figure; few need the slow pattern to tell."""
    may_have = ".." in text or ". ." in text or "…" in text or "_" in text
    return may_have and LEADER.search(text) is not None


def leads_on(text: str) -> bool:
    """Whether a line has a leader, and it is no blank behind which a sentence goes on: "I, ____, say it is so"."""
    if not has_leader(text):
        return False
    return BLANK not in text or sum(map(str.islower, text.rpartition(BLANK)[2].split())) < BEHIND_BLANK


def _hangs(lines: Sequence[Line], i: int) -> bool:
    """Whether a line indented under the first line of an entry goes on in it, as in lists of references.

    An entry is set off from what is above it by more room than is between its own lines, or by its left edge.
    """
    above, line = lines[i - 1], lines[i]
    if above.bold != line.bold or abs(above.size - line.size) > SAME_SIZE:
        return False
    if ends_sentence(above.text) and _indents_first_lines(lines, line.x0, above.x0):
        return False
    drop = line.y0 - above.y0
    before, below = (lines[i - 2] if i > 1 else None), (lines[i + 1] if i + 1 < len(lines) else None)

    def is_set_off(first: Line | None, entry: Line) -> bool:
        return first is not None and not first.column and entry.y0 - first.y0 > drop + SET_OFF * line.size

    def is_indented(other: Line | None) -> bool:
        return other is not None and not other.column and abs(other.x0 - line.x0) < AT_EDGE * line.size

    begins = is_set_off(before, above) or (is_indented(before) and before is not None and before.y0 < above.y0)
    if below is None or below.y0 < line.y0:
        return begins
    if is_indented(below) and below.y0 - line.y0 < drop + SET_OFF * line.size:
        return begins or before is None or before.y0 > above.y0
    return begins and abs(below.x0 - above.x0) < AT_EDGE * line.size and is_set_off(line, below)


def _indents_first_lines(lines: Sequence[Line], indented: float, edge: float) -> bool:
    """Whether paragraphs of a page begin with a line at `indented` and go on at `edge`: sentences do so there."""
    going_on = [
        below
        for line, below in pairwise(lines)
        if abs(line.x0 - indented) < 1 > abs(below.x0 - edge)
        if below.text[:1].islower() and below.y0 > line.y0 and not ends_sentence(line.text)
    ]
    return len(going_on) >= MIN_INDENTED


def _begins_indented(lines: Sequence[Line], i: int) -> bool:
    """Whether a line is indented as the first ones of a page's paragraphs, below one of a single line."""
    if i + 1 >= len(lines) or abs(lines[i].x0 - lines[i - 1].x0) > 1:
        return False
    indent, below = lines[i].x0, lines[i + 1]
    is_first = below.y0 > lines[i].y0 and HANGING * lines[i].size < indent - below.x0 < FARTHEST_INDENT * lines[i].size
    return is_first and _indents_first_lines(lines, indent, below.x0)


def joins(page: RawPage, i: int, last: Part, pitch: float, edge: float) -> bool:
    """Whether line `i` continues the part before it; `edge` is the right one of the line above."""
    above, line = page.lines[i - 1], page.lines[i]
    first = cleaned(line.text)[:1]
    if _ASSIGNED.match(line.text) and _ASSIGNED.match(last.text):
        return False
    if line.block and above.block:
        if line.block != above.block:
            return False
        if above.x1 > edge - SPARE_EM * above.size:
            return True  # no room for another word: its paragraph goes on
    is_other_field = line.boxed != above.boxed or (line.boxed and line.bold != above.bold)
    if is_other_field and not first.islower():  # else a rule may be a line below words
        return False
    if leads_on(above.text) or not line.cells or not above.cells or _is_field(line, above, last):
        return False
    if _is_next_section(last, line.text):
        return False
    if _LABEL.match(line.text[:LONGEST_LABEL]) and _is_labelled(page.lines, i):
        return False
    if ends_hyphenated(last.text):
        below = line.y0 > above.y0 - UPWARDS and abs(line.size - above.size) < HYPHENATED_SIZE
        return first.islower() or (below and last.text.endswith(SOFT_HYPHEN))
    if above.bold != line.bold and abs(above.size - line.size) > SAME_SIZE:
        return False
    if above.bold != line.bold and line.y0 - above.y1 > APART * (above.y1 - above.y0):
        return False
    if line.size and above.size and not LEAST_LIKE < line.size / above.size < MOST_LIKE and not first.islower():
        return False
    ended = ends_sentence(last.text)
    if not page.has_positions or line.y0 < above.y0 - UPWARDS:
        # Another column, or no positions: only the text decides.
        return not ended and (first.islower() or last.full)
    drop = line.y0 - above.y0
    indent = line.x0 - above.x0
    em = max(SMALLEST_EM, line.size)
    is_centred = abs(line.x0 + line.x1 - above.x0 - above.x1) < 2 * em
    is_outdented = indent < -OUTDENT * em and not is_centred
    if is_outdented and line.mono and not above.mono and _stands_between(page.lines, i):
        return False  # the name of what the next lines tell
    if drop > FARTHER * max(pitch, OF_LINE * (above.y1 - above.y0)) + 1:
        is_title = above.bold and not line.bold
        is_entry = above.mono != line.mono or (line.leads and not last.full)
        most = FARTHEST * max(pitch, above.y1 - above.y0 if last.full else 0.0)
        is_entry = is_entry or (line.apart and not above.apart and indent > HANGING * em and not last.full)
        is_entry = is_entry or (is_outdented and (not last.full or _SIGNATURE.match(line.text) is not None))
        goes = last.full or is_centred or goes_on(above.text) or line.text.partition(" ")[0] in _GOVERNING
        is_entry = is_entry or (len(last.lines) == 1 and indent > -1 and _is_short(above, edge) and not goes)
        return not ended and first.islower() and drop < most and not (is_title or is_entry)
    if line.x0 > above.x1 and line.y0 > above.y1 - BELOW * (above.y1 - above.y0):
        return False  # it stands below the line, and right of all of it
    if line.leads and last.leads and _begins_entry_of_list(page.lines, i, last, edge):
        return False
    had_room = above.x1 + first_word(line) + SPARE * em < edge
    if last.kind == "paragraph" and _is_short(above, edge) and _begin_alike(above.text, line.text):
        return False
    more = drop - _drop_above(page.lines, i, last, pitch)
    is_set_off = more > SET_OFF * em
    if last.text[-1] == ":" and not (had_room or is_set_off) and _ADDRESS.match(line.text):
        return True
    if (ended and more > FAR * em and not first.islower()) or _SIGNED.match(above.text):
        return False
    if last.kind == "list_item":
        if had_room and is_set_off and first.isupper():
            return False
        is_tight = not is_set_off and line.y0 - above.y1 < TIGHT * em
        is_under_text = last.hangs and abs(indent) < HANGING * em and is_tight and above.bold == line.bold
        is_under_text = is_under_text and last.text[-1] != "?"  # what answers a question begins anew
        if not last.full and (ended or (above.bold and not line.bold)) and not is_under_text:
            return False
        if not last.full and len(last.lines) == 1 and indent < AT_MARK * em and not first.islower() and had_room:
            return False  # a paragraph at the edge of the item's mark
        return indent > -AT_MARK * em or (not ended and (first.islower() or last.full))
    if last.hangs and line.x0 - last.hangs < AT_EDGE * em < above.x0 - last.hangs:
        return False
    if first.isupper() and line.x0 > last.begin + HANGING * em and _is_signature(last.text):
        return False  # what a function does, below its name and what it takes
    begins = last.full and len(last.lines) == 1 and last.text[-1] != "?"
    if HANGING * em < indent < FARTHEST_INDENT * em:
        if len(last.lines) == 1 and (_is_term(above, line) or _has_gap(above, max(page.width, page.height))):
            return False  # what a function is called, and at the edge of what kind it is; or a term in bold
        if begins and _hangs(page.lines, i):
            return True
        if ended or not last.full:
            return False
    is_prose = len(above.text) > FIELD_CHARACTERS and not had_room and drop <= pitch + 1
    if _is_centred_apart(above, line) and not is_prose:
        return False
    if ended and _begins_indented(page.lines, i):
        return False
    if ended and (_begins_hanging(page.lines, i) or _is_one_of_many(page.lines, i)):
        return False
    if ended and is_set_off and not first.islower() and (had_room or _is_even(page.lines, i, last)):
        return False
    if ended and had_room and not first.islower() and _is_justified(page.lines, i, last, edge):
        return False
    if last.full:
        return not (is_outdented and ((ended and is_set_off) or _is_next_term(page.lines, i)))
    if is_outdented:
        return False
    # A short line ends a paragraph, unless the next one continues in the middle of a sentence.
    inside = _PARENTHESES.match(line.text) if first == "(" and above.text[-1:].isalpha() and not had_room else None
    is_inside = inside is not None and inside[1].islower()
    is_long = len(above.text) > (RAGGED_CHARACTERS if _governs(above.text) else FIELD_CHARACTERS)
    cannot_end = is_long and not is_set_off and abs(indent) < 1 and goes_on(above.text)
    return not ended and (first.islower() or is_inside or cannot_end or is_cjk(first))


def _is_short(line: Line, edge: float) -> bool:
    """Whether a line takes little of the width."""
    return line.x1 - line.x0 < SHORT_ENTRY * (edge - line.x0)


def _stands_between(lines: Sequence[Line], i: int) -> bool:
    """Whether the lines above and below one begin at one place, where it does not."""
    return i + 1 < len(lines) and abs(lines[i - 1].x0 - lines[i + 1].x0) < 1 and lines[i + 1].y0 > lines[i].y0


def _is_next_section(last: Part, text: str) -> bool:
    """Whether a line begins with the number of the section that follows the one above, as a table of contents does."""
    number, above = _SECTION_NUMBER.match(text), _SECTION_NUMBER.match(last.text)
    if number is None or above is None:
        return False
    may_measure = text[number.end() - 1].islower() and number[1].count(".") < MIN_POINTS  # "1.5 million"
    if last.full and may_measure:
        return False
    after, before = ([int(each) for each in found[1].split(".")] for found in (number, above))
    same = len(after) - 1
    if len(before) == same:
        return after == [*before, 1]
    return len(before) > 1 and after[:same] == before[:same] and after[same] == before[same] + 1


def _is_justified(lines: Sequence[Line], i: int, last: Part, edge: float) -> bool:
    """Whether the two lines above a part's last one end at the edge, so that one with room for another word ends it."""
    if len(last.lines) < MIN_JUSTIFIED or i < MIN_JUSTIFIED:
        return False
    return all(abs(line.x1 - edge) < 1 for line in lines[i - MIN_JUSTIFIED : i - 1])


def _begins_hanging(lines: Sequence[Line], i: int) -> bool:
    """Whether a line begins an entry of a list of references: the next one, which goes on in it, is indented.

    It is as near as the line above, and so is what follows: else it is a formula or a quotation.
    """
    if i + 2 >= len(lines):
        return False
    line, below, after = lines[i : i + 3]
    em = max(SMALLEST_EM, line.size)
    indent, drop = below.x0 - line.x0, line.y0 - lines[i - 1].y0
    if not HANGING * em < indent < FARTHEST_INDENT * em or ends_sentence(line.text) or line.x0 > lines[i - 1].x0 + 1:
        return False
    if (
        not 0 < below.y0 - line.y0 < drop + EVEN * em
        or abs(below.size - line.size) > SAME_SIZE
        or below.column
        or below.mono
    ):
        return False
    return after.x0 < below.x0 + 1 and 0 < after.y0 - below.y0 < 2 * drop


def _is_one_of_many(lines: Sequence[Line], i: int) -> bool:
    """Whether a line is one of several at one edge that each end a sentence, and each at another place."""
    em = max(SMALLEST_EM, lines[i].size)
    for start in range(max(0, i + 1 - ENTRIES), min(i, len(lines) - ENTRIES + 1)):
        some = lines[start : start + ENTRIES]
        drops = [below.y0 - line.y0 for line, below in pairwise(some)]
        ends = sorted([line.x1 for line in some])
        if (
            all(ends_sentence(line.text) and abs(line.x0 - lines[i].x0) < 1 and not line.column for line in some)
            and 0 < min(drops) > max(drops) - EVEN * em
            and all(b - a > ENDS_APART for a, b in pairwise(ends))
        ):
            return True
    return False


def _is_field(line: Line, above: Line, last: Part) -> bool:
    """Whether a line is the field of a form: below another field, or with a figure where no sentence goes on."""
    is_short = max(len(line.text), len(above.text)) <= FIELD_CHARACTERS
    if not is_short or not line.text[:1].isupper() or _FIELD.fullmatch(line.text) is None:
        return False
    has_figure = any(map(str.isdigit, line.text)) and not (last.full and last.is_open)
    return has_figure or (_FIELD.fullmatch(above.text) is not None and not goes_on(above.text))


def _is_labelled(lines: Sequence[Line], i: int) -> bool:
    """Whether several lines near line `i` begin with a word and a colon at its edge: "Name: …", "Type: …"."""
    nearby = [other for other in lines[max(0, i - LABELLED) : i + LABELLED + 1] if abs(other.x0 - lines[i].x0) < 1]
    return sum(_LABEL.match(other.text[:LONGEST_LABEL]) is not None for other in nearby) >= ENTRIES


def _begin_alike(above: str, text: str) -> bool:
    """Whether two lines begin with the same word, as entries do: "set mode on" and "set mode off"."""
    word = text.partition(" ")[0]
    return len(word) > 1 and above.startswith(f"{word} ")


def goes_on(text: str) -> bool:
    """Whether a text ends in a little word, as "divided views of": its sentence goes on."""
    last = (text.rsplit(maxsplit=1) or [""])[-1]
    return last.islower() and len(last) <= LITTLE_WORD


def _governs(text: str) -> bool:
    """Whether a text ends in an article, a preposition, an "and" or the like."""
    return text.rpartition(" ")[2] in _GOVERNING


def _begins_entry_of_list(lines: Sequence[Line], i: int, last: Part, edge: float) -> bool:
    """Whether a line that begins in bold or fixed pitch, below the edge of a part that does so, is the next entry.

    The line above had room, or nearly all lines nearby at that edge begin so: else it may be a sentence's word.
    """
    above, line = lines[i - 1], lines[i]
    em = max(SMALLEST_EM, line.size)
    if abs(line.x0 - last.begin) > 1:
        return False
    if above.x1 + first_word(line) + SPARE_BESIDE * em < edge:
        return True
    nearby = [other for other in lines[max(0, i - NEARBY) : i + NEARBY + 1] if abs(other.x0 - line.x0) < 1]
    return sum(other.leads for other in nearby) >= max(ENTRIES, len(nearby) - 1)


def ragged_entries(lines: Sequence[Line]) -> set[int]:
    """Return the lines that belong to none above, as in a list without marks: there was room for their first words.

    That is so of most lines set evenly below each other at one edge, measured by the longest of those around them; the
    lines of a paragraph, however narrow, are as long as its words allow.
    """
    found: set[int] = set()
    start = 0
    for at in range(1, len(lines) + 1):
        if at < len(lines) and _is_even_with(lines, start, at):
            continue
        if at - start >= ENTRIES and not _are_justified(lines[start:at]):
            had_room = [
                i
                for i in range(start + 1, at)
                if _had_room(lines[max(start, i - FIRST_LINES) : min(at, i + FIRST_LINES)], lines[i - 1], lines[i])
            ]
            if len(had_room) >= max(ENTRIES - 1, RAGGED * (at - start - 1)):
                found.update(had_room)
        start = at
    return found


def _are_justified(lines: Sequence[Line]) -> bool:
    """Whether so many lines end at one edge that they are running text."""
    edge = max([line.x1 for line in lines]) - 1
    return sum([line.x1 > edge for line in lines]) > (1 - RAGGED) * len(lines)


def _is_even_with(lines: Sequence[Line], start: int, at: int) -> bool:
    """Whether a line goes on in the run that begins at `start`: in its print, at its edge and as near as the others."""
    line, above, first = lines[at], lines[at - 1], lines[start]
    if line.column or line.mono or line.figure or not line.cells or abs(line.x0 - first.x0) > 1:
        return False
    drop = line.y0 - above.y0
    is_near = 0 < drop < 2 * line.size and abs(drop - (lines[start + 1].y0 - first.y0)) < EVEN_RUN * line.size
    return is_near and abs(line.size - first.size) < SAME_SIZE and line.bold == first.bold


def _had_room(around: Sequence[Line], above: Line, line: Line) -> bool:
    """Whether the first word of a line had more than enough room behind the line above it; two near are longer."""
    return (
        above.x1 + WIDER_WORD * first_word(line) + SPARE_BESIDE * line.size < sorted([other.x1 for other in around])[-2]
    )


def _drop_above(lines: Sequence[Line], i: int, last: Part, pitch: float) -> float:
    """Return the distance between the last two lines of a part that may go on in line `i`.

    For one line it is the page's, or less below a line in the same print at the same edge, as in notes below a table.
    """
    if i == 1:
        return pitch
    above, before = lines[i - 1], lines[i - 2]
    drop = above.y0 - before.y0
    if len(last.lines) == 1 and (drop > pitch or before.size != above.size or abs(before.x0 - above.x0) > 1):
        return pitch
    return drop if drop > 0 else pitch


def _is_even(lines: Sequence[Line], i: int, last: Part) -> bool:
    """Whether the lines below line `i` are as far from each other as those of the part above it."""
    if len(last.lines) == 1 or i < 2 or i + 1 == len(lines) or lines[i + 1].column:
        return False
    below, above = lines[i + 1].y0 - lines[i].y0, lines[i - 1].y0 - lines[i - 2].y0
    return abs(below - above) < EVEN * lines[i].size and lines[i + 1].size == lines[i].size


def _is_centred_apart(above: Line, line: Line) -> bool:
    """Whether two lines are centred, neither of them as wide as the other, and there is room between them."""
    em = max(SMALLEST_EM, line.size)
    is_centred = abs(line.x0 + line.x1 - above.x0 - above.x1) < em and abs(line.x0 - above.x0) > 2 * em
    return is_centred and line.y0 - above.y1 > CENTRED_APART * em


def _is_term(above: Line, line: Line) -> bool:
    """Whether a line is a term in bold, and the one below it is not in bold and no remark in brackets."""
    is_short = len(above.text) <= RAGGED_CHARACTERS and sum(map(str.isalpha, above.text)) > 1
    return above.bold and not line.bold and is_short and line.text[:1] != "("


def _is_next_term(lines: Sequence[Line], i: int) -> bool:
    """Whether a line is a term as one further up is: what is said of either is indented below it.

    The term further up ends no sentence, so it is not the last line of a paragraph above one that begins indented.
    """
    line, above = lines[i], lines[i - 1]
    term = next((each for each in reversed(lines[: i - 1]) if abs(each.x0 - above.x0) > 1), None)
    below = lines[i + 1] if i + 1 < len(lines) else None
    if term is None or below is None or ends_sentence(term.text) or ends_sentence(line.text):
        return False
    is_alike = abs(term.x0 - line.x0) < 1 > abs(below.x0 - above.x0) and term.y0 < above.y0 < line.y0 < below.y0
    return is_alike and term.x1 < above.x1 and cleaned(line.text)[:1].isupper()


def _has_gap(line: Line, longer_side: float) -> bool:
    """Whether there is much more room within a line than running text has, so that parts of it are set apart."""
    words = line.text.split()
    if not line.place or " " in line.place or word_count(line.place) != len(words):
        return False
    starts = word_starts(line.place, longer_side)
    return any(
        after - start > line.size * ((WIDEST_LETTER_EM if word.isascii() else 1) * len(word) + GAP_EM)
        for word, (start, after) in zip(words, pairwise(starts), strict=False)
    )


def _is_signature(text: str) -> bool:
    """Whether a text is the name of a function and what it takes: "class shop.Order(number, day=None)"."""
    return text[-1] == ")" and "(" in text[:LONGEST_NAME] and _SIGNATURE.match(text) is not None
