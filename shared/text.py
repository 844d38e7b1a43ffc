"""Finds sentences and tables in the text of a PDF, as character offsets."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from shared.abbreviations import MONTH, is_abbreviated

SEPARATOR = " | "
"""Separates the cells of a table row; ingest writes one row per line. A row has empty cells: "Total | | 5 |"."""
BOX_SIGNS = "☐☑☒"
BULLET_SIGNS = f"•▪◦●○■□➢✓▶►▸➤◆❖✔{BOX_SIGNS}"
BULLETS = f"-–*·{BULLET_SIGNS}"
BULLET_LETTER = "l"
"""The characters that bullets of many fonts are read as."""
LIST_ITEM = rf"(?:[{BULLETS}]|\(?\d{{1,3}}[.)])\s"
"""Regular expression for the start of a list item."""
CONTENTS_WORD = r"(?:contents|turinys|inhalt\w*|sommaire|[íi]ndice)"
"""Regular expression for the heading of a table of contents."""

_SMALL = "".join(filter(str.islower, map(chr, (*range(0x80, 0x250), *range(0x430, 0x530)))))
"""Small letters beyond ASCII, Latin and Cyrillic: no sentence begins with one, but with "β-carotene" some do."""
_TERMINATOR = re.compile(
    r"""(?! ENTRY) [.!?…]+ [)\]"'“‘”’»]*   # a terminator with closing brackets and quotation marks
        (?= \s+ (?: [SIGNS] \s+ )? ["'“‘„‚«»¿¡(\[]* (?: (?<=«) [ ] )? [^\W_a-zSMALL] | \s*\Z )   # … and what may follow
      | ENTRY                          # after an entry of a table of contents, with its page
      | [。！？]+ [」』）”]*            # CJK needs no space
      | \n\s*\n                        # the end of a paragraph
      | \n (?= [ \t]* (?: [BULLETS] | (?:\*\*)? \(?\d{1,3}[.)] (?:\*\*)? ) \s )   # before a list item
      | (?<=:) [ ] (?= \(?1[.)] [ ] (?!MONTH) ["'“‘„«]* [^\W\d_a-z] )   # before a list in a line: "Do this: 1. Wait."
      | \n (?= [^\n]* [ ]\|[ ] )           # before a table row
      | (?<= [ ]\| ) [^\n|]* \n            # after a table row
    """.replace("BULLETS", BULLETS)
    .replace("SIGNS", BULLET_SIGNS)
    .replace("SMALL", _SMALL)
    .replace("MONTH", MONTH)
    .replace("ENTRY", r"… [ ]? \d[\d–-]* [ ]* (?: \n | \Z )"),
    re.VERBOSE,
)

_BORDER = re.compile(r"(?:^|(?<= ))\|(?= |$)")
_NUMBER_OF_ITEM = re.compile(rf"\s*(?:[{BULLETS}]\s*)?\(?\d{{1,3}}")
_ITEM = re.compile(rf"{LIST_ITEM}|\(?[a-z\d]{{1,3}}[.)]\s")
_ANSWER = re.compile(r"Answer:\s")
"""The start of an FAQ answer, which is a statement even if it is short and has no full stop."""
_MAX_HEADING_WORDS = 12
MAX_FRAGMENT_WORDS = 2
"""Words of a sentence that is joined with one beside it; one with a number behind the first may have one more."""


def counted(number: int, noun: str) -> str:
    """Return a number with an English noun, in the plural unless it is 1: "1 page", "2 pages"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of every sentence, in order, without surrounding white space.

    A sentence ends at a terminator followed by white space and a possible sentence start, at a blank line, or before a
    list item or table row. An abbreviation, an initial, a number that counts, or that of a list item does not end it.
    """
    begin = 0
    for match in _TERMINATOR.finditer(text):
        end = match.end()
        if (
            match.group().startswith(".")
            and not match.group().startswith("..")
            and end < len(text)
            and (is_abbreviated(text, match.start()) or _NUMBER_OF_ITEM.fullmatch(text, begin, match.start()))
        ):
            continue
        yield from stripped(text, begin, end)
        begin = end
    yield from stripped(text, begin, len(text))


@lru_cache(maxsize=128)
def sentences_of(text: str) -> Sequence[tuple[int, int]]:
    """Return `sentence_spans`, kept: several steps of one answer ask for a passage's."""
    return tuple(sentence_spans(text))


def with_fragments_joined(text: str, spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Join the sentences of at most two words, or three with a number, that say nothing alone, with one beside them.

    One at the beginning of a line, or with a number, is a title run into what follows: "Resolution 6/1.", "Novena.";
    so is any other in a paragraph that begins with one without a number. Else it ends what precedes: "6 against. Lost."
    """
    joined: list[tuple[int, int]] = []
    title: int | None = None
    is_titled = False
    for at, (start, end) in enumerate(spans):
        begins = not at or "\n" in text[spans[at - 1][1] : start]
        ends = at + 1 == len(spans) or "\n" in text[end : spans[at + 1][0]]
        if begins:
            is_titled = False
        has_number = any(map(str.isdigit, text[start:end]))
        if not _is_fragment(text[start:end]):
            joined.append((start if title is None else title, end))
            title = None
        elif not ends and (begins or is_titled or has_number):
            title = start if title is None else title
            is_titled = is_titled or (begins and not has_number)
        elif title is not None or (not begins and not text.count(SEPARATOR, *joined[-1])):
            if title is None:
                title = joined.pop()[0]
            joined.append((title, end))
            title = None
        else:
            joined.append((start, end))
    return joined


def begins_with_title(text: str) -> bool:
    """Return whether a text begins with a title that is run into what follows."""
    spans = sentences_of(text)
    return len(spans) > 1 and _is_fragment(text[slice(*spans[0])]) and "\n" not in text[spans[0][1] : spans[1][0]]


def _is_fragment(sentence: str) -> bool:
    words = sentence.split()
    has_number = any(map(str.isdigit, " ".join(words[1:])))
    is_other = _ITEM.match(sentence) or any(sign in sentence for sign in (SEPARATOR, "\n", ":", ".."))
    return sentence.endswith(".") and not is_other and len(words) <= MAX_FRAGMENT_WORDS + has_number


def is_heading(sentence: str) -> bool:
    """Return whether a text between sentence borders is a heading: short, on one line, without a full stop."""
    words = sentence.split()
    return (
        len(words) <= _MAX_HEADING_WORDS
        and "\n" not in sentence
        and SEPARATOR not in sentence
        and not _ITEM.match(sentence)
        and not _ANSWER.match(sentence)
        and sentence.rstrip(")]\"'“‘”’»")[-1:] not in ".!?…:;。！？"
    )


def stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without the white space at its ends, if anything is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


# --- the rows above a table row ---

MAX_NAME_CHARACTERS = 60
"""A longer cell is text, not a column name."""
_NAME = re.compile(
    r"""(?: [^\W\d]++(?:\d{1,2}\b)? | (?:\d{1,2}\.\d{1,2}\.)?(?:19|20)\d\d\b(?:[/–-]\d\d\b)?
        | \d{1,2}(?=,?[ ](?:19|20)\d\d\b) | \W )*+""",
    re.VERBOSE,
)
"""Words ("Q1" is one), years, dates, and days before a year; a cell with any other number is data."""

_VERSION = re.compile(r"[^\W\d_a-z]\w{0,15} \d{1,2}\.\d")
"""A version: "HDMI 2.0"."""
_VERSION_ALONE = re.compile(r"v?\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?: [A-Z]{2,4})?")
"""The number of a version: "7.4", "6.8 LTS"."""
_MEASURED = re.compile(r"(?<=\w )\([^()\d]*\d+(?:[.,]\d+)? ?[^\W\d_]+[^()]*\)")
"""What is measured, in brackets behind a name: "Hours (37.5 h week)"."""
_NUMBER = re.compile(r"\d+")
TIME = re.compile(r"(?:[01]?\d|2[0-4])[:.h][0-5]\d")
"""A time of the day, alone: "06:10", "6.10", "6h10"."""
_WITH_TIME = re.compile(rf"\D{{0,3}}{TIME.pattern}\D{{0,4}}")
"""A time with the mark of a note, or a letter: "06:10*", "d 06:10"."""
_BARE = re.compile(r"\W*\d[\d\W]*")
NOTHING = "–"
"""What a cell without a value is told as."""
_NOTHING = re.compile(r"[\W_]+")
_DASH = re.compile(r"[-‐-―−]+")
_SERIES = re.compile(r"([^\W\d_]{1,3})[ -]?\d{3,6}")
_NUMBERED_THING = re.compile(r"([^\W\d_]{3,}) \d{1,3}(?: \([^()]*\))?")
"""A thing with its number, and perhaps whose it is: "Group 2 (Ms Farley)"."""
_SENTENCE_END = re.compile(r"\w{3}[.!?](?:\s|\Z)")


def table_head(text: str, start: int, *, rows: int = 1) -> Sequence[str]:
    """Return the line before the table at a position and the table's first rows; empty outside a table."""
    lines, first = _above(text, start)
    if first is None:
        return ()
    before = next((line for line in reversed(lines[:first]) if line.strip()), "")
    return tuple(line for line in (before, *lines[first : first + rows]) if line.strip())


def column_names(text: str, start: int) -> tuple[int, int] | None:
    """Return the span of the column names for a position in a row with figures; None if the names are not clear."""
    lines, first = _above(text, start)
    if first is None or first == len(lines) or not any(map(str.isdigit, row := _line(text, start))):
        return None
    names = row_cells(lines[first])
    above_the_labels, *above_the_figures = names
    if len(names) != len(row_cells(row)) or not all(map(_may_name, above_the_figures)):
        return None
    if above_the_labels and not _may_name(above_the_labels):
        return None
    begin = sum(len(line) + 1 for line in lines[:first])
    return begin, begin + len(lines[first].rstrip())


def first_row(text: str, start: int) -> tuple[int, int] | None:
    """Return the span of the first row of the table at a position; None outside a table."""
    lines, first = _above(text, start)
    if first is None:
        return None
    begin = sum(len(line) + 1 for line in lines[:first])
    return begin, begin + len(_line(text, begin).rstrip())


LONGEST_SIGN = 3
"""Characters of values that recur and are signs, which names of columns are longer than: "S", "XL"."""
MIN_DATA = 0.5
"""Share of a column's cells that must look like data for the row above them to be their names."""


def header_at(text: str, start: int) -> tuple[int, int] | None:
    """Return the span of the row that names the columns of the table at a position; None if no row clearly does.

    Its cells are names, and at least one column below is data: figures, or values that recur (Yes, No).
    """
    first = first_row(text, start)
    return first if first and _names_columns(text, first) else None


@lru_cache(maxsize=256)
def _names_columns(text: str, header: tuple[int, int]) -> bool:
    """Return whether the first row of a table names its columns; all rows of the table ask the same."""
    names, rows = row_cells(text[slice(*header)]), rows_below(text, header)
    if not rows or is_field(names) or not any(names[1:]):
        return False
    columns = list(zip(*rows, strict=True))
    if are_numbered(names, rows) or _are_numbered_things(names, columns):
        return True
    named = zip(names, columns, strict=True)
    if not all(not name or _may_name(name) or _is_version(name, column) for name, column in named):
        return False
    if any(name and name in column for name, column in zip(names, columns, strict=True)):
        return False
    return _are_of_few_values(names, rows) or any(
        name and _is_data(column) for name, column in zip(names, columns, strict=True)
    )


def _are_of_few_values(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the same values recur in several columns, as "daily", "weekly", or "S", "M"; the names are others.

    They are written otherwise: with a capital above small letters, or longer than signs.
    """
    values = [cell for row in rows for cell in row[1:] if any(map(str.isalnum, cell))]
    recurring = len(values) - len(set(values))
    others = names[1:]
    if len(others) < 2 or len(rows) <= 2 or not recurring >= MIN_DATA * len(values) > 0:
        return False
    if not all(others) or len({*others}) < len(others) or not {*values}.isdisjoint(others):
        return False
    small = sum(value[0].islower() for value in values)
    are_longer = max(map(len, values)) <= LONGEST_SIGN < min(map(len, others))
    return are_longer or (small > len(values) / 2 and not any(name[0].islower() for name in others))


def are_numbered(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a row names the columns of a timetable below it by numbers: "Stop | 4201 | 4203" above times.

    Numbers above anything else may be data as well: "Ann | 36 | 38" in a table without names.
    """
    corner, *others = names
    is_whole = len(rows) > 1 and all(len(row) == len(names) and row[0] for row in rows)
    if not is_whole or any(map(str.isdigit, corner)) or not 1 < len(others) == len(set(others)):
        return False
    if not (all(map(str.isdecimal, others)) or _is_of_one_series(others)):
        return False
    values = [cell for row in rows for cell in row[1:] if cell and not _NOTHING.fullmatch(cell)]
    times = [cell for cell in values if _WITH_TIME.fullmatch(cell)]
    is_of_times = bool(times) and (_is_timetable(rows) or not any("." in each for each in times))
    return is_of_times and all(_WITH_TIME.fullmatch(cell) or not _BARE.fullmatch(cell) for cell in values)


def _are_numbered_things(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether a row names columns of words by numbered things: "Item 34 | Item 35" above "For | Against".

    Two must be of one kind; three may be of several: "Mon 4 | Tue 5 | Wed 6".
    """
    things = [_NUMBERED_THING.fullmatch(name) for name in names[1:]]
    is_one = len({each[1] for each in things if each}) == 1
    in_words = not any(map(str.isdigit, "".join((names[0], *map("".join, columns[1:])))))
    return len(things) > 1 + (not is_one) and all(things) and in_words and len(set(names)) == len(names)


def _is_of_one_series(names: Sequence[str]) -> bool:
    """Return whether names are numbers of three digits or more behind the same letters: "L101", "L102"."""
    series = [_SERIES.fullmatch(name) for name in names]
    return all(series) and len({each[1] for each in series if each}) == 1


def _is_timetable(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the times of each column are later from row to row: "8.47" above "9.01" is no price."""
    columns = ([cell for cell in column if _WITH_TIME.fullmatch(cell)] for column in [*zip(*rows, strict=True)][1:])
    hours = [[tuple(map(int, _NUMBER.findall(cell))) for cell in column] for column in columns]
    return all(above < below for column in hours for above, below in pairwise(column))


def rows_below(text: str, header: tuple[int, int]) -> Sequence[Sequence[str]]:
    """Return the cells of the rows of a table below its header, those that have as many cells."""
    names, *rows = _rows_from(text, header[0])
    return [row for row in rows if len(row) == len(names)]


def is_header(text: str, start: int) -> bool:
    """Return whether the row at a position only names columns: it and those above it are names, not all below are.

    Of columns without figures the names stand in the first row alone.
    """
    lines, first = _above(text, start)
    if first is None:
        return False
    above = [row_cells(line) for line in (*lines[first:], _line(text, start))]
    begin = sum(len(line) + 1 for line in lines)
    below = _rows_from(text, begin)[1:]
    names = [cell for row in above for cell in row if cell]
    has_figures = any(map(str.isdigit, "".join(cell for row in below for cell in row)))
    return (
        (has_figures or len(above) == 1)
        and not any(map(is_field, above))
        and all(_may_name(name) and not _SENTENCE_END.search(name) for name in names)
        and any(cell and not _may_name(cell) for row in below for cell in row[1:])
    )


def names_data(names: Sequence[str], below: str) -> bool:
    """Return whether the rows with which a text begins have data in a column, of another form than its name.

    "3 May" above "5 May" is a row like the others.
    """
    columns = zip(*(row for row in _rows_from(below, 0) if len(row) == len(names)), strict=True)
    return any(
        any(map(str.isalpha, name)) and _is_data(column) and _form_of(name) not in map(_form_of, column)
        for name, column in list(zip(names, columns, strict=False))[1:]
    )


def _form_of(cell: str) -> str:
    return _NUMBER.sub("0", cell)


def is_field(cells: Sequence[str]) -> bool:
    """Return whether a row is the field of a form, whose first cell names the second: "Due date: | 3 May"."""
    return len(cells) == 2 and cells[0].endswith(":") and not cells[1].endswith(":")


def row_cells(row: str) -> list[str]:
    """Return the cells of a table row, empty ones too."""
    return [cell.strip() for cell in _BORDER.split(row.strip())]


def is_dash(cell: str) -> bool:
    """Return whether a cell says by a dash that there is nothing."""
    return _DASH.fullmatch(cell) is not None


def _is_data(column: Sequence[str]) -> bool:
    cells = [cell for cell in column if cell]
    with_figures = sum(any(map(str.isdigit, cell)) for cell in cells)
    return bool(cells) and max(with_figures, len(cells) - len(set(cells))) >= MIN_DATA * len(column)


def _rows_from(text: str, start: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for line in text[start:].split("\n"):
        if SEPARATOR not in line:
            break
        rows.append(row_cells(line))
    return rows


def _is_version(name: str, column: Sequence[str]) -> bool:
    """Return whether a cell is a version's number, above words only."""
    return _VERSION_ALONE.fullmatch(name) is not None and not any(map(str.isdigit, "".join(column)))


def without_measure(cell: str) -> str:
    """Return a cell without what is measured in brackets behind a name: "Hours (37.5 h week)" as "Hours"."""
    return _MEASURED.sub("", cell).rstrip()


def _may_name(cell: str) -> bool:
    is_name = _NAME.fullmatch(without_measure(cell)) or _VERSION.fullmatch(cell)
    return len(cell) <= MAX_NAME_CHARACTERS and any(map(str.isalnum, cell)) and is_name is not None


def _line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _above(text: str, at: int) -> tuple[Sequence[str], int | None]:
    """Return the lines above a position, and the index of the table's first line; None outside a table."""
    if SEPARATOR not in _line(text, at):
        return (), None
    lines = text[: text.rfind("\n", 0, at) + 1].split("\n")[:-1]
    first = len(lines)
    while first > 0 and SEPARATOR in lines[first - 1]:
        first -= 1
    return lines, first


def quoted_in(text: str, least: int = 1) -> list[str]:
    """Return what a text has in quotation marks, of `least` to 80 characters."""
    return re.findall(rf"(?<!\w)['\"‘“„`]([^'\"’‘”“`]{{{least},80}})['\"’”“`](?!\w)", text)
