"""Sentences and tables in text that came out of a PDF, as character positions."""

import re
from collections.abc import Iterator, Sequence

SEPARATOR = " | "
"""Stands between the cells of a table's row; ingest writes a row a line."""
BULLETS = "-–•▪◦*·"
LIST_ITEM = rf"(?:[{BULLETS}]|\(?\d{{1,3}}[.)])\s"
"""How an item of a list begins, as a regular expression."""

_TERMINATOR = re.compile(
    r"""[.!?…]+ [)\]"'”’»]*            # a full stop and what closes with it
        (?= \s+ ["'“‘«(\[]* [^\W_a-z] | \s*\Z )   # then a capital, a digit, another script, or the end
      | [。！？]+ [」』）”]*            # CJK needs no space
      | \n\s*\n                        # a paragraph ends a sentence whatever it ends with
      | \n (?= [ \t]* (?: [BULLETS] | (?:\*\*)? \(?\d{1,3}[.)] (?:\*\*)? ) \s )   # so does the start of a list item
      | (?<=:) [ ] (?= \(?1[.)] [ ] ["'“‘«]* [^\W\d_a-z] )   # and that of a list inside a line: "Do this: 1. Wait."
      | \n (?= [^\n]* [ ]\|[ ] )           # every row of a table stands for itself
      | (?<= [ ]\| ) [^\n|]* \n            # and ends with its line
    """.replace("BULLETS", BULLETS),
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"""(?:^|[\s("'“‘\[])
        (?: [A-Z] | [A-Za-z](?:\.[A-Za-z])+ | e\.g | i\.e | etc | vs | cf | al | approx | ca
          | max | (?<!\d\s)min
          | figs? | eqs? | secs? | nos? | vols? | pp? | eds? | art | ch | par | ref | incl | excl | est | resp
          | dr | mr | mrs | ms | prof | st | sr | jr | inc | ltd | co | corp | llc | gen | sen | rep | gov
          | jan | feb | mar | apr | jun | jul | aug | sept? | oct | nov | dec | pvz | kt | pan | tel | str | nr
        )\.$""",
    re.VERBOSE | re.IGNORECASE,
)

_NUMBER_OF_ITEM = re.compile(r"\s*\(?\d{1,3}")
_ITEM = re.compile(rf"{LIST_ITEM}|\(?[a-z\d]{{1,3}}[.)]\s")
_ANSWER = re.compile(r"Answer:\s")
"""How the answer of an FAQ pair begins: it is a statement, however short and even without a full stop."""
_MAX_HEADING_WORDS = 12
_MAX_LIST_CHARACTERS = 600
"""Characters of a sentence with the list it announces at most."""


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of every sentence, in order, white space at the borders left out.

    A sentence ends at a terminator that is followed by white space and something that can begin one, at a blank line,
    or before a list item; a known abbreviation, an initial, or the number of a list item does not end it.
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
        yield from _stripped(text, begin, end)
        begin = end
    yield from _stripped(text, begin, len(text))


def is_abbreviated(text: str, at: int) -> bool:
    """Say whether the full stop at a position ends a known abbreviation or an initial, and so no sentence."""
    return text[at] == "." and _ABBREVIATION.search(text, max(0, at - 12), at + 1) is not None


def statement_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences that can stand alone.

    Headings are left out where there is anything else; a sentence that ends with a colon brings the list it announces.
    """
    spans = list(sentence_spans(text))
    statements: list[tuple[int, int]] = []
    at = 0
    while at < len(spans):
        start, end = spans[at]
        at += 1
        if text[end - 1] == ":":
            while at < len(spans) and _ITEM.match(text, spans[at][0]) and spans[at][1] - start <= _MAX_LIST_CHARACTERS:
                end = spans[at][1]
                at += 1
        if not _is_heading(text[start:end]):
            statements.append((start, end))
    return statements or spans


def _is_heading(sentence: str) -> bool:
    words = sentence.split()
    return (
        len(words) <= _MAX_HEADING_WORDS
        and "\n" not in sentence
        and SEPARATOR not in sentence
        and not _ITEM.match(sentence)
        and not _ANSWER.match(sentence)
        and sentence.rstrip(")]\"'”’»")[-1:] not in ".!?…:;。！？"
    )


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


# --- Tables: what stands over a row ---

MAX_NAME_CHARACTERS = 60
"""A longer cell is text, not the name of a column."""
_NAME = re.compile(
    r"(?: [^\W\d]++(?:\d{1,2}\b)? | (?:19|20)\d\d\b(?:[/–-]\d\d\b)? | \d{1,2}(?=,?[ ](?:19|20)\d\d\b) | \W )*+",
    re.VERBOSE,
)
"""Words ("Q1" is one), years and days of a year: a cell with any other number is data."""


def table_head(text: str, start: int, *, rows: int = 1) -> Sequence[str]:
    """Return the first rows of the table that a position stands in, and the line before it; empty elsewhere."""
    lines, first = _above(text, start)
    if first is None:
        return ()
    before = next((line for line in reversed(lines[:first]) if line.strip()), "")
    return tuple(line for line in (before, *lines[first : first + rows]) if line.strip())


def column_names(text: str, start: int) -> tuple[int, int] | None:
    """Return where the names of the columns stand (start, end) for a position in one of the rows with figures below.

    None where there are none that can be told from data.
    """
    lines, first = _above(text, start)
    if first is None or first == len(lines) or not any(map(str.isdigit, row := _line(text, start))):
        return None
    names = [cell.strip() for cell in lines[first].split(SEPARATOR.strip())]
    above_the_labels, *above_the_figures = names
    if len(names) != len(row.split(SEPARATOR.strip())) or not all(map(_may_name, above_the_figures)):
        return None
    if above_the_labels and not _may_name(above_the_labels):
        return None
    begin = sum(len(line) + 1 for line in lines[:first])
    return begin, begin + len(lines[first].rstrip())


def with_column_names(text: str, start: int, end: int) -> Sequence[tuple[int, int]]:
    """Return a statement's span; before a table's row that of its columns' names, without which figures say nothing."""
    names = column_names(text, start)
    return [names, (start, end)] if names else [(start, end)]


def _may_name(cell: str) -> bool:
    return len(cell) <= MAX_NAME_CHARACTERS and any(map(str.isalnum, cell)) and _NAME.fullmatch(cell) is not None


def _line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _above(text: str, at: int) -> tuple[Sequence[str], int | None]:
    """Return the lines above a position in a table, and the number of the one that begins it (all of them: its own)."""
    if SEPARATOR not in _line(text, at):
        return (), None
    lines = text[: text.rfind("\n", 0, at) + 1].split("\n")[:-1]
    first = len(lines)
    while first > 0 and SEPARATOR in lines[first - 1]:
        first -= 1
    return lines, first
