"""From words with boxes to lines in reading order.

pdfium keeps the order of the content stream, which for most files is the reading order. So that order is kept, and only
corrected where geometry contradicts it: superscripts that broke a line, rows of a table written cell by cell, and
what `order` sets right.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, count, pairwise
from operator import itemgetter

from functions.ingest.parsing.columns import cut_between_columns, split_columns
from functions.ingest.parsing.drawn_signs import without_underlines
from functions.ingest.parsing.labelled import with_values_beside
from functions.ingest.parsing.letters import room_of_letters
from functions.ingest.parsing.line_numbers import without_line_numbers
from functions.ingest.parsing.listings import is_listing, with_typed_tables
from functions.ingest.parsing.order import (
    MARGIN,
    RIGHT_TO_LEFT,
    apart_from_table,
    in_reading_order,
    with_margins_outside,
)
from functions.ingest.parsing.placing import TALL, Placing, runs_of, span_of
from functions.ingest.parsing.ruled import Rule, Rules, fields_in, grids_of, table_in, with_fields, words_in
from functions.ingest.parsing.sideways import uprights_of, with_names
from functions.ingest.parsing.table_cells import (
    BULLETS,
    CELL_GAP_EM,
    Cell,
    Group,
    grouped,
    is_definition,
    printed_as_rows,
)
from functions.ingest.parsing.table_columns import regrouped, with_narrow_apart
from functions.ingest.parsing.table_grid import parted, with_empty_cells
from functions.ingest.parsing.table_headers import in_order, over_ruled
from functions.ingest.parsing.table_labels import join_wrapped_labels
from functions.ingest.parsing.tables import tables_in, with_items_whole, with_leaders
from functions.ingest.parsing.tagged_tables import take_placed, take_tagged, without
from functions.ingest.parsing.tags import Tags, with_likely_blocks
from functions.ingest.parsing.unruled import tables_by_room
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import (
    NO_BLOCK,
    SOFT_HYPHEN,
    Box,
    Row,
    Word,
    box_of,
    pitch_of,
    shared_height,
    without_drawn,
)
from shared.rects import pair
from shared.text import SEPARATOR

TYPEWRITTEN = 0.9
"""Share of fixed-pitch words above which a page is typewritten, so that fixed pitch marks no code."""

ITEM_MARK = re.compile(r"\d{1,2}[.)]?|\(\d{1,2}\)|\(?[a-z][.)]|[*†‡§]{1,3}")
"""The number or sign of an item or a footnote."""
MARK_GAP_EM = 3
"""Room between such a mark and its text, in font sizes."""
MAX_ITEM_ROWS = 12
"""Rows of an item that may be written before its mark."""
ANOTHER_LINE = 1
"""Room above or below a word, in its heights, that puts it on another line than the word before it; limits of sums and
parts of fractions are nearer."""
BELOW = 0.5
"""The same of a word that begins no further right than the one before it."""
MAX_BULLETS = 100
"""Bullets of a page written apart; more are the points of a chart."""
NO_ROOM = 0.4
"""Room between two words in fixed pitch that is no space, as a share of a letter's."""
BULLET_GAP_EM = 6
"""Room between a bullet and the text that was written after it, in font sizes."""
BULLET_APART_EM = 0.9
"""Room before a bullet from which on it begins another item, in font sizes."""
OVERLAPPING_EM = 0.3
"""How far the boxes of a mark and its text, or of two parts of a line, may overlap, in font sizes."""
LOWER = 0.1
"""How far the top of a word further left may reach above the bottom of the line before, in its heights, if it begins
another line."""
SHIFTED = 0.25
"""How much higher or lower than the word before it another one stands that is in another cell, in its heights."""
BACK_EM = 2
"""How far left of the word before it a word ends that begins another line at its height, in font sizes."""
ON_ONE_LINE = 0.5
"""Share of the lower one's height that two parts of one line have in common."""
MAX_ROOM = 40
"""Spaces between two words of code, at most."""


def lay_out(
    words: list[Word],
    bounds: tuple[float, float, float, float],
    rotation: int = 0,
    rules: Rules | None = None,
    tags: Tags | None = None,
    *,
    ocr: bool = False,
) -> list[Line]:
    """Make lines of a page's words; `bounds` is the page's box (left, bottom, right, top).

    `rotation` counts the quarter turns to the right with which the page is shown; `rules` are those drawn on it, `tags`
    what the document says of its structure. With `ocr` the words are not in the order in which a program wrote them.
    """
    if not (words := without_drawn(words)):
        return []
    if sum([word.style.mono for word in words]) > TYPEWRITTEN * len(words) and not is_listing(words):
        for word in words:
            word.style = replace(word.style, mono=False)
    words = without_line_numbers(words)
    turns = Counter([word.style.turn for word in words])
    most = turns.most_common(1)[0][0]
    main = words if len(turns) == 1 else [w for w in words if w.style.turn == most]
    others, turn = sorted(turns.keys() - {most}), most & 3
    aside = {other: _rows([w for w in words if w.style.turn == other], other & 3, bounds) for other in others}
    texts = [text for other in others if not turn for text in uprights_of(aside[other], other, bounds)]
    upright = [*main, *(text.word for text in texts)]
    height = _height(bounds, turn)
    level = bounds
    if turn:
        left, bottom, right, top = bounds
        rules = rules and rules.turned(turn, right - left, top - bottom)
        level = (0.0, 0.0, _height(bounds, turn + 1), height)
        for word in upright:
            _upright(word, turn, bounds)
            word.y0, word.y1 = height - word.y1, height - word.y0
    tables: list[tuple[list[Group], Word | None]] = []
    boxes: list[Box] = []
    if tags is not None and tags.tables:
        upright, tables = take_tagged(upright, level[3], tags, partial(_rows, turn=0, bounds=level))
    if rules is not None:
        rules = without_underlines(rules, upright, level[3])
        upright, ruled_tables, boxes = _ruled_tables(upright, level, rules)
        tables += [(table, None) for table in ruled_tables]
    across = rules.across if rules is not None else ()
    if not ocr:
        by_room = tables_by_room(upright, level[3], across)
        upright, tables_of_room = take_placed(upright, by_room, partial(_rows, turn=0, bounds=level))
        tables += tables_of_room
    kept = set(map(id, upright))
    sideways = {id(text.word) for text in texts}
    rows = _rows([word for word in upright if id(word) not in sideways], 0, level)
    ruled = [box_of([row for group in table for row in group.rows]) for table, _ in tables]
    rows = in_reading_order(cut_between_columns(split_columns(rows), ruled, height), height)
    rows = with_typed_tables(with_values_beside(rows))
    rows, names = with_names(rows, [text for text in texts if id(text.word) in kept], bounds[3])
    start, end = apart_from_table(rows, height)
    placing, face = Placing(bounds, rotation, turn), _usual_face(words)
    lines = [_line(row, placing, face) for row in rows[:start]]
    numbers = count(1)
    at = start
    places = [(_place_of_table(rows, table, height, before), table) for table, before in tables]
    for place, table in sorted(places, key=itemgetter(0)):
        place = min(max(place, start), end)
        taken, whole = over_ruled(rows[at:place], table)
        lines += _lines(rows[at : max(at, place - taken)], placing, face, numbers, across)
        lines += _table_lines(whole, placing, next(numbers))
        at = max(at, place)
    lines += _lines(rows[at:end], placing, face, numbers, across)
    lines += [_line(row, placing, face) for row in rows[end:]]
    lines = with_margins_outside(with_fields(lines, boxes), height)
    # Vertical marginal notes, axis labels and what is set slanting follow the text, as lines of their own.
    within = {id(row) for text in texts if id(text.word) not in kept or text in names for row in text.lines}
    for other, rotated in aside.items():
        placing = Placing(bounds, rotation, other & 3)
        lines += [replace(_line(row, placing), cells=0) for row in rotated if id(row) not in within]
    return with_likely_blocks(lines) if tags is not None else lines


def _usual_face(words: list[Word]) -> str:
    """Return the name of the font that most of the page's words are set in."""
    return Counter([word.style.face for word in words]).most_common(1)[0][0]


def _ruled_tables(
    words: list[Word], bounds: tuple[float, float, float, float], rules: Rules
) -> tuple[list[Word], list[list[Group]], list[Box]]:
    """Take the tables whose cells are ruled out of a page's words.

    Return the other words, the tables, and where there are fields in rules that make no table.
    """
    tables: list[list[Group]] = []
    boxes: list[Box] = []
    for grid in grids_of(rules):
        held = words_in(grid, words, bounds[3])
        table, taken = table_in(grid, held, words, partial(_rows, turn=0, bounds=bounds))
        if table:
            tables.append(table)
            words = without(words, taken)
        else:
            boxes += fields_in(grid, held, rules, words, bounds)
    return words, tables, boxes


def _place_of_table(rows: Sequence[Row], table: Sequence[Group], height: float, before: Word | None) -> int:
    """Return where a ruled table belongs among the page's rows: behind those above it, before those below.

    What stands beside it says nothing, nor does a header that was written last, or what stands at the page's bottom.
    So if its column begins with it, that is behind the columns on its left. Where that leaves several places, it is
    behind the word that is written `before` it, if that is known.
    """
    left, top, right, bottom = box_of([row for group in table for row in group.rows])
    lowest = 0.0
    steps: list[int] = []
    for row in rows:
        is_silent = row.y1 < min(lowest, MARGIN * height) or row.y0 >= (1 - MARGIN) * height
        if is_silent or row.x0 >= right or left >= row.x1:
            steps.append(0)
        else:
            steps.append(1 if row.y0 > top else -1)
            lowest = max(lowest, row.y0)
    wrong = list(accumulate(steps, initial=0))
    at = first = wrong.index(min(wrong))
    if before is not None:
        written = next((place for place, row in enumerate(rows, 1) if any(word is before for word in row.words)), 0)
        if wrong[written] == wrong[first]:
            return written
    for place in range(first + 1, len(rows)):
        above, row = rows[place - 1], rows[place]
        if wrong[place] > wrong[first] or above.x1 > left or rows[first].y0 >= bottom:
            break
        if row.y1 <= above.y0 and row.x1 > left:
            at = place
    while 0 < at < len(rows) and rows[at - 1].y0 <= rows[at].y0 < top:  # the short last line of a paragraph above it
        at += 1
    return at


def _lines(
    rows: list[Row], placing: Placing, usual_face: str, numbers: Iterator[int], across: Sequence[Rule]
) -> list[Line]:
    groups = with_items_whole(grouped(with_narrow_apart(with_leaders(rows))))
    lines: list[Line] = []
    at = 0
    for start, end in tables_in(groups):
        before = [row for group in groups[at:start] for row in group.rows]
        for run in parted(regrouped(groups[start:end])):
            taken, table = in_order(before, run, across)
            lines += [_line(row, placing, usual_face) for row in before[: len(before) - taken]]
            lines += _table_lines(with_empty_cells(join_wrapped_labels(table)), placing, next(numbers))
            before = []
        at = end
    return lines + [_line(row, placing, usual_face) for group in groups[at:] for row in group.rows]


def _table_lines(table: Sequence[Group], placing: Placing, number: int) -> list[Line]:
    lines: list[Line] = []
    first = printed_as_rows(table)
    for group in table:
        row, (x0, y0, x1, y1) = _line(group.rows[0], placing), group.box
        text, place = _joined_cells(group.cells, placing)
        of_code = _holds_code(group.cells)
        lines.append(Line(text, x0, y0, x1, y1, row.size, row.bold, False, len(group.cells), number, place, of_code))
        lines[-1].leads, lines[-1].names = group is first, group.names
    return lines


def _holds_code(cells: Sequence[Cell]) -> bool:
    """Whether some cells of a row are in fixed pitch, and others are not."""
    in_code = {all(word.style.mono for words in cell.lines for word in words) for cell in cells if cell.lines}
    return len(in_code) > 1


def _joined_cells(cells: Sequence[Cell], placing: Placing) -> tuple[str, str]:
    """Return the text of a table row, and the places of its cells' lines in it."""
    row = ""
    records: list[str] = []
    for number, cell in enumerate(cells):
        if number:
            row += SEPARATOR if row and not row.endswith(" ") else SEPARATOR.lstrip()
        text = cell.text
        begin = 0
        for words in cell.lines:
            for run in runs_of(words):
                start, begin = span_of(run, text, begin)
                records.append(pair(len(row) + start) + pair(begin - start) + placing.place_of(run))
        row += text
    return row.rstrip(" "), " ".join(records)


def _height(bounds: tuple[float, float, float, float], turn: int) -> float:
    left, bottom, right, top = bounds
    return right - left if turn & 1 else top - bottom


def _upright(word: Word, turn: int, bounds: tuple[float, float, float, float]) -> None:
    left, bottom, right, top = bounds
    x0, y0, x1, y1 = word.x0, word.y0, word.x1, word.y1
    if turn == 1:
        word.x0, word.x1, word.y0, word.y1 = y0 - bottom, y1 - bottom, x0 - left, x1 - left
    elif turn == 2:
        word.x0, word.x1, word.y0, word.y1 = right - x1, right - x0, y0 - bottom, y1 - bottom
    else:
        word.x0, word.x1, word.y0, word.y1 = top - y1, top - y0, right - x1, right - x0


def _rows(words: list[Word], turn: int, bounds: tuple[float, float, float, float]) -> list[Row]:
    rows: list[Row] = []
    fragment: list[Word] = []
    top = bounds[3]
    for word in words:
        if turn:
            _upright(word, turn, bounds)
        else:
            word.y0, word.y1 = top - word.y1, top - word.y0
        if fragment:
            last = fragment[-1]
            # Words that stand at one height, one behind the other, need no further check.
            is_beside = word.x1 >= last.x0 and last.y0 <= word.y1 and word.y0 <= last.y1 and word.y0 <= word.y1
            room = word.x0 - last.x1
            # A line ended there, although the engine has not seen it; or these are items side by side.
            if (
                (not is_beside and _ends_before(last, word))
                or (room > CELL_GAP_EM * word.style.size and _is_at_another_height(last, word))
                or (word.text in BULLETS and room > BULLET_APART_EM * word.style.size)
            ):
                last.ends = "\n"
                _place(fragment, rows)
                fragment = []
        fragment.append(word)
        if word.ends:
            _place(fragment, rows)
            fragment = []
    if fragment:
        _place(fragment, rows)
    for row in rows:
        if room := room_of_letters(row.words):
            row.words = _whole(row.words, partial(_room_between, room))
    return _with_bullets(rows)


def _with_bullets(rows: list[Row]) -> list[Row]:
    """Return the rows with each bullet that was written apart, before the items, before the item that it stands at."""
    bullets = [row for row in rows if len(row.words) == 1 and row.words[0].text in BULLETS]
    if not 0 < len(bullets) <= MAX_BULLETS:
        return rows
    taken: set[int] = set()
    for row in rows:
        size = row.words[0].style.size
        if row.words[0].text in BULLETS or not any(map(str.isalpha, row.text)):
            continue
        for mark in bullets:
            if (
                id(mark) not in taken
                and -OVERLAPPING_EM * size <= row.x0 - mark.x1 < MARK_GAP_EM * size
                and _overlap(row, mark)
            ):
                (word,) = mark.words
                word.ends = ""
                row.words.insert(0, word)
                row.x0, row.y0, row.y1 = mark.x0, min(row.y0, mark.y0), max(row.y1, mark.y1)
                taken.add(id(mark))
                break
    return [row for row in rows if id(row) not in taken]


def _ends_before(last: Word, word: Word) -> bool:
    """Whether a line has ended before a word: it stands lower and further left, or on quite another line."""
    height = word.y1 - word.y0
    if word.x1 < last.x0 and word.y0 > last.y1 - LOWER * height:
        return True
    is_back = word.x1 < last.x0 - BACK_EM * word.style.size and word.style.size >= last.style.size  # and no mark
    if is_back and not RIGHT_TO_LEFT.search(word.text):
        return True
    if word.x0 < last.x0 + 1 and word.y0 > last.y1 + BELOW * height:
        return True
    return word.y0 > last.y1 + ANOTHER_LINE * height or word.y1 < last.y0 - ANOTHER_LINE * height


def _is_at_another_height(last: Word, word: Word) -> bool:
    """Whether two words in print of one size stand at different heights: in two cells of a row with several lines."""
    least = SHIFTED * (word.y1 - word.y0)
    is_shifted = min(abs(word.y0 - last.y0), abs(word.y1 - last.y1)) > least and word.y1 > word.y0
    return is_shifted and word.style.size == last.style.size


def _place(fragment: list[Word], rows: list[Row]) -> None:
    """Append a fragment to the row it continues (after a superscript, say), or begin a row with it."""
    new = Row.of(fragment)
    if len(fragment) == 1 and _marks(new, rows):
        return
    row = rows[-1] if rows else None
    if row and row.words[-1].ends != "-" and _overlap(row, new):
        last = row.words[-1]
        room = new.x0 - row.x1
        if len(row.words) == 1 and last.text in BULLETS:
            room = min(room, 0.0) if room < BULLET_GAP_EM * last.style.size else room
        if -OVERLAPPING_EM * max(1.0, last.style.size) <= room < CELL_GAP_EM * max(1.0, last.style.size):
            last.ends = ""
            row.words += fragment
            row.x1, row.y0, row.y1 = new.x1, min(row.y0, new.y0), max(row.y1, new.y1)
            return
    rows.append(new)


def _marks(mark: Row, rows: list[Row]) -> bool:
    """Put the number or sign of an item before the item, if it was written after it; return whether it was."""
    (word,) = mark.words
    if not (word.text in BULLETS or ITEM_MARK.fullmatch(word.text)):
        return False
    for row in rows[: -MAX_ITEM_ROWS - 1 : -1]:
        first = row.words[0]
        if -OVERLAPPING_EM * word.style.size <= row.x0 - mark.x1 < MARK_GAP_EM * first.style.size and _overlap(
            row, mark
        ):
            if first.text in BULLETS or ITEM_MARK.fullmatch(first.text):
                return False
            word.ends = ""
            row.words.insert(0, word)
            row.x0, row.y0, row.y1 = mark.x0, min(row.y0, mark.y0), max(row.y1, mark.y1)
            return True
    return False


def _overlap(a: Row, b: Row) -> bool:
    return shared_height(a, b) > ON_ONE_LINE * max(0.1, min(a.y1 - a.y0, b.y1 - b.y0))


def _line(row: Row, placing: Placing, usual_face: str = "") -> Line:
    words = _whole(row.words, _room_of_mono) if row.mono else row.words
    style = words[0].style
    size, bold = style.size, style.bold
    apart = style.face != usual_face != ""
    mono, leads = row.mono, False
    if [word for word in words if word.style is not style]:  # a list, because that is twice as fast as `any`
        bold = bold and _is_bold(words)
        apart = apart and all(word.style.face == style.face for word in words)
        leads = (style.bold or style.mono) and not (bold or mono) and _is_led(words)
        size = _usual_size(words)
        plain = [word for word in words if not word.style.mono and word.text.isalpha()]
        if plain and not mono and any(word.style.mono for word in words):
            size = max(size, _usual_size(plain))  # code in it may be smaller
    text = _spaced(words) if mono else " ".join([word.text for word in words])
    text += SOFT_HYPHEN if words[-1].ends == "-" else ""
    place = _place_of(words, row, size, text, placing)
    cells = 0 if is_definition(row) else 1
    line = Line(text, row.x0, row.y0, row.x1, row.y1, size, bold, mono, cells, place=place, apart=apart, leads=leads)
    if len(blocks := {word.block for word in words if word.block != NO_BLOCK}) == 1:
        ((line.block, line.level),) = blocks
    return line


def _usual_size(words: Sequence[Word]) -> float:
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[word.style.size] += len(word.text)
    return sizes.most_common(1)[0][0]


def _is_led(words: Sequence[Word]) -> bool:
    """Whether most of a line's words stand behind those in bold or fixed pitch that it begins with."""
    plain = [word for word in words if not (word.style.bold or word.style.mono)]
    return 2 * sum([len(word.text) for word in plain]) > sum([len(word.text) for word in words])


def _is_bold(words: Sequence[Word]) -> bool:
    """Whether a line is bold but for its code, as "The command `ls` here": a label before code makes none ("Type:")."""
    code = [not word.style.bold for word in words]
    if not any(code):
        return True
    if not all(word.style.bold or word.style.mono for word in words):
        return False
    if not code[-1]:
        return True
    is_labelled = any(word.text.endswith(":") and is_code for word, is_code in zip(words, code[1:], strict=False))
    in_code = sum([len(word.text) for word, is_code in zip(words, code, strict=True) if is_code])
    return not is_labelled and 2 * in_code < sum([len(word.text) for word in words])


def _place_of(words: list[Word], row: Row, size: float, text: str, placing: Placing) -> str:
    """Return the place of a line; a record for each of its runs, if it has several."""
    starts = [word.x0 for word in words]
    if row.y1 - row.y0 < TALL * size and starts == sorted(starts):  # nearly always
        return placing.place((row.x0, row.y0, row.x1, row.y1), starts)
    runs = runs_of(words)
    if len(runs) == 1:
        return placing.place_of(runs[0])
    records: list[str] = []
    end = 0
    for run in runs:
        start, end = span_of(run, text, end)
        records.append(pair(start) + pair(end - start) + placing.place_of(run))
    return " ".join(records)


def _room_between(letters: float, word: Word) -> float:
    return letters * max(1.0, word.style.size)


def _room_of_mono(word: Word) -> float:
    return NO_ROOM * (word.x1 - word.x0) / len(word.text)


def _whole(words: list[Word], room: Callable[[Word], float]) -> list[Word]:
    """Return the words of a line with those joined that have less room between them: "-", "map"."""
    whole = [words[0]]
    for word in words[1:]:
        last, most = whole[-1], room(word)
        if last.style == word.style and -most < word.x0 - last.x1 < most:
            box = box_of([last, word])
            whole[-1] = Word(last.text + word.text, *box, last.style, word.ends, last.mark, last.block)
        else:
            whole.append(word)
    return whole


def _spaced(words: list[Word]) -> str:
    """Join words of a fixed-pitch font with as many spaces as there is room for, because columns in code matter."""
    pitch = pitch_of(words)
    parts = [words[0].text]
    for before, word in pairwise(words):
        room = round((word.x0 - before.x1) / pitch) if pitch > 0 else 1
        parts += [" " * min(MAX_ROOM, max(1, room)), word.text]
    return "".join(parts)
