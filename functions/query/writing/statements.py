"""The statements of a passage: sentences, table rows and lists that can be shown alone, each with its context."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from functions.query.grounding.injection import is_injected
from functions.query.grounding.table_cells import may_name
from functions.query.grounding.tables import row_at, tables_in
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from functions.query.writing.list_items import is_item, is_step, step_number, without_item_sign
from functions.query.writing.needed import gives_order
from shared.abbreviations import is_abbreviated
from shared.text import (
    BOX_SIGNS,
    SEPARATOR,
    header_at,
    is_field,
    is_header,
    is_heading,
    names_data,
    row_cells,
    sentences_of,
    stripped,
    table_head,
    with_fragments_joined,
)

MAX_CHARACTERS = 600
"""A text without sentence borders (a table's row, a list of names) is split here, at a line or word."""
RUN_ON_CHARACTERS = 350
"""Longer statements are split even where no capital follows: `sentence_spans` needs a capital."""
MIN_CHARACTERS = 40
MAX_LIST_CHARACTERS = 1_200
"""Maximum characters of a list with its introduction."""
MIN_SHORT_LINES = 3
"""Short lines in a row from which on they are no headings, but what a table or a form is read as."""
MAX_ITEM_CHARACTERS = 350
"""Maximum characters of a list's item with the sentences that explain it."""
MAX_TITLE_CHARACTERS = 120
MAX_BETWEEN = 2
"""Maximum sentences between two steps of a list that explain the first of them."""

_QUESTION_LABEL = "Question: "
_ANSWER_LABEL = re.compile(r"(?:(?<=\n)|\A)Answer:\s+(?=\S)")
"""The beginning of an FAQ's answer. Ingest writes "Question: …", a line feed, "Answer: …"."""
_DOTS = "...."
_LEADERS = re.compile(r"(?:\.[ ]?){4,}[ |]*\d*\Z|\w[ ]?…[ |]*[\d–-]*\Z")
"""The end of an entry in a table of contents: dots and, if present, the page number."""
_FIELD = re.compile(r"^[^\W\d][^\s:]*(?: [^\s:]+){0,3}:[^\S\n]+(?!.*:\s)\S.{0,60}(?<![.!?:])$", re.MULTILINE)
"""A line of a form: "Customer: Ann Lee"; not "To remove it: Pull it out."."""
_FIELD_ROW = re.compile(rf"[^\W\d_][^\s|]*(?: [^\s|]+){{0,3}}(?<=\w){re.escape(SEPARATOR)}[(\-−$€£]*\d[^|:\n]*")
"""A row of a form: "Deposit | £1,250"."""
FORM = 0.4
"""Share of lines that are fields with a figure, two at least, from which on each field is a statement."""
_FIGURE_FIELD = re.compile(rf"[^\W\d][^\d:]{{0,40}}:\s.*[\d{BOX_SIGNS}]")
"""A form's field with its figure or boxes, which reads like a heading: "Balance: $1,438"; not "Chapter 2: Income"."""
_BORDER = re.compile(r"[.?!]['\")\]]*\s+(?=[a-z\d(\"'])")
_GOES_ON = re.compile(r";(?: \w{1,4})?\Z")
"""The end of an item behind which another one follows: "rust;", "wear; and"."""
_WITH_WORD = re.compile(r"\S*?(?:[^\W\d_]{2}|\d)\S*")
_YES_OR_NO = re.compile(
    r"\|\s*(?:yes|no|taip|ne|ja|nein|sí|oui|non|[✓✔✗✘×x]|[-+]?[\d.,%]+)\s*(?:\||$)", re.IGNORECASE | re.MULTILINE
)
_FIGURE = re.compile(r"\| [(\-−$€£]*\d")
"""The beginning of a cell that is a figure."""
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_STRAY_SIGN = re.compile(r"[\"'‘’“”`´~^\\{}\[\]¦]")
_STRAY = re.compile(r"[^\w\s]*[\"'‘’“”`´~^\\{}\[\]¦][^\w\s]*|\W*\w?[~^\\{}\[\]¦]\W*\w?\W*")
"""A piece that is left of characters that were not read: "’", "~/V", "]l."."""
MAX_STRAY = 0.1
MIN_WORDS = 0.5
"""Share of a statement's pieces between spaces that are stray at most, and that hold a word or number at least."""


@dataclass(frozen=True)
class Statement:
    """A span of a text that can be shown alone.

    `context` is what it belongs to: its table's header and the line before, or the heading above it. `list_span` is
    that of the list that it is an item of, `heading` that of a heading directly above it.
    """

    start: int
    end: int
    text: str
    context: str
    list_span: tuple[int, int] | None
    language: str
    heading: tuple[int, int] | None = None

    @cached_property
    def stems(self) -> Sequence[str]:
        """Its content words, stemmed, in order."""
        return content_stems(self.text, self.language)

    @cached_property
    def context_stems(self) -> frozenset[str]:
        """The content words of its context."""
        return frozenset(content_stems(self.context, self.language)) if self.context else frozenset()

    @cached_property
    def is_question(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip("\"'”’) ").endswith("?") or self.text.startswith(_QUESTION_LABEL)

    @cached_property
    def is_contents_entry(self) -> bool:
        """Whether it is an entry of a table of contents."""
        return _LEADERS.search(self.text) is not None

    @cached_property
    def is_row(self) -> bool:
        """Whether it is a row of a table, or has one."""
        return SEPARATOR in self.text

    @cached_property
    def field(self) -> tuple[str, str]:
        """The label and the value of a form's field, or of a row of two cells with a figure: "Customer", "Ann Lee".

        Both are empty if it is none.
        """
        if _FIELD_ROW.fullmatch(self.text):
            label, value = row_cells(self.text)
            return label, value
        if not _FIELD.fullmatch(self.text.replace(f":{SEPARATOR}", ": ")):
            return "", ""
        label, _, value = self.text.partition(":")
        return label, value.strip(" |")

    @cached_property
    def is_short_lines(self) -> bool:
        """Whether it is a run of lines that may be headings."""
        return not self.is_row and "\n" in self.text and all(map(is_heading, filter(str.strip, self.text.split("\n"))))

    @cached_property
    def is_title(self) -> bool:
        """Whether all its longer words are capitalised, as in "Appointment of Agent for Service of Process."."""
        if self.is_row or len(self.text) > MAX_TITLE_CHARACTERS or ":" in self.text:
            return False
        words = _LONG_WORD.findall(self.text)
        return len(words) > 2 and all(word[0].isupper() for word in words)

    @cached_property
    def has_yes_or_no(self) -> bool:
        """Whether it is a row that says yes or no, or has a figure."""
        return self.is_row and _YES_OR_NO.search(self.text) is not None

    @cached_property
    def is_introduction(self) -> bool:
        """Whether it only introduces something that is not in it."""
        return self.text.endswith(":")

    @cached_property
    def has_items(self) -> bool:
        """Whether it is a list with its introduction."""
        return any(is_item(line.lstrip()) for line in self.text.split("\n"))

    @cached_property
    def is_garbled(self) -> bool:
        """Whether too few of its pieces are words or numbers: "ZE” ’ ‘-11 1"."""
        return _is_garbled(self.text)

    @property
    def heading_above(self) -> str:
        """The heading that it stands below; empty for a row."""
        return "" if self.is_row else self.context

    @cached_property
    def is_cut(self) -> bool:
        """Whether it begins or ends in the middle of a sentence."""
        if self.is_row or len(self.stems) < 2:
            return False
        last = self.text.rstrip(")]\"'”’»*")[-1:]
        return self.text[:1].islower() or (last not in ".!?…:;。！？" and not is_item(self.text))


def _is_garbled(text: str) -> bool:
    pieces = text.replace(SEPARATOR, " ").split()
    if len(pieces) <= 2:
        return False
    stray = sum(_STRAY.fullmatch(piece) is not None for piece in pieces) if _STRAY_SIGN.search(text) else 0
    # A cell may be a letter or a mark alone: "Dev | – | – | E | E".
    whole = " ".join(cell for cell in row_cells(text) if len(cell) > 1) if SEPARATOR in text else text
    return stray > MAX_STRAY * len(pieces) or len(_WITH_WORD.findall(whole)) < MIN_WORDS * len(whole.split())


def statements_in(passage: Passage) -> Sequence[Statement]:
    """Return the statements of a passage; a table that it goes on with is read below the lines above it."""
    return statements_of(passage.text, passage.language or "en", passage.above)


@lru_cache(maxsize=1_000)
def statements_of(text: str, language: str, above: str = "") -> Sequence[Statement]:
    """Return the statements of a passage's text in order, without instructions to a model (injections).

    `above` are the lines above a table that the text goes on with (`Passage.above`).
    """
    return tuple(
        Statement(start, end, text[start:end], block.context, block.list_span, language, block.heading)
        for block in _blocks_below(above, text, language)
        for part in _unlabelled(text, *block.span)
        for start, end in _parts(text, *part)
        if not is_injected(text, start, end)
    )


_Span = tuple[int, int]


class _Block(NamedTuple):
    """A statement's span, its context, its list's span, and the span of a heading directly above it."""

    span: _Span
    context: str = ""
    list_span: _Span | None = None
    heading: _Span | None = None


def _blocks_below(above: str, text: str, language: str) -> Iterator[_Block]:
    """Yield the blocks of a text that other lines stand above, at their places in the text."""
    shift = len(above)

    def moved(span: _Span | None) -> _Span | None:
        return (span[0] - shift, span[1] - shift) if span and span[0] >= shift else None

    for block in _blocks(above + text, language):
        if span := moved(block.span):
            yield _Block(span, block.context, moved(block.list_span), moved(block.heading))


def _blocks(text: str, language: str) -> Iterator[_Block]:
    """Yield the blocks in order; headings and header rows only if there is nothing else."""
    spans = with_fragments_joined(text, sentences_of(text))
    found = False
    heading, at = "", 0
    above: _Span | None = None
    data_end = -1
    while at < len(spans):
        start, end = spans[at]
        at += 1
        whole = text[start:end]
        if _is_numbered_heading(text, spans, at - 1, language):
            above, heading = None, whole
            continue
        if _is_plain_heading(whole):
            at, run = _with_short_lines(text, spans, at, (start, end))
            if run is None and not _FIGURE_FIELD.match(whole):
                above, heading = None if whole[0].islower() else (start, end), whole
                continue
            found, above = True, None
            yield from (_Block(span, heading) for span in _fields(text, *(run or (start, end))))
            continue
        found, below, above = True, above, None
        if SEPARATOR in whole or whole.endswith(_DOTS):
            at, end = _with_row(text, spans, at, end)
            # A table's header is above its data: below a row of data there is none.
            if not _is_head(text, start, end, below_data=text[data_end:start] == "\n"):
                data_end = end
                yield _Block((start, end), _row_context(text, start) or heading)
        elif whole.endswith(":"):
            at, end = _with_list(text, spans, at, start, end)
            yield _Block((start, end), heading, heading=below)
        elif is_item(whole):
            at, items = _items_from(text, spans, at - 1)
            group = (start, items[-1][1])
            yield from (_Block(item, heading, group) for item in items)
        else:
            yield from (_Block(span, heading, heading=below) for span in _fields(text, start, end))
    if not found:
        yield from map(_Block, spans)


def _row_context(text: str, start: int) -> str:
    """Return the head of a row's table, and the names of its columns where they stand further above."""
    head = "\n".join(table_head(text, start))
    row = row_at(text, start)
    return "\n".join(filter(None, (head, *(name for name in (row[0].columns if row else ()) if name not in head))))


def _is_numbered_heading(text: str, spans: Sequence[_Span], at: int, language: str) -> bool:
    """Return whether a span is the title of a numbered section, with prose in paragraphs of their own below it.

    "1. Open the cover" is a step, which what is below it explains.
    """
    start, end = spans[at]
    if at + 1 == len(spans) or text[end : spans[at + 1][0]] != "\n\n" or not is_step(text, (start, end)):
        return False
    below, title = text[slice(*spans[at + 1])], without_item_sign(text[start:end])
    is_prose = SEPARATOR not in below and not is_item(below) and not is_heading(below)
    return is_prose and is_heading(title) and not gives_order(title, language)


def _is_head(text: str, start: int, end: int, *, below_data: bool) -> bool:
    """Return whether a row names the columns of rows below it."""
    cells = row_cells(text[start:end])
    if is_field(cells):
        return False
    if _names_columns(text, start, end, cells):
        return True
    if not all(map(may_name, cells)):
        return header_at(text, start) == (start, end)
    if not below_data and (is_header(text, start) or header_at(text, start) == (start, end)):
        return True
    below = text[end:].partition("\n\n")[0]
    if _FIGURE.search(below) is None or row_at(text, start) is not None:
        return False
    return any(start < table.start < end + len(below) for table in tables_in(text))


def _names_columns(text: str, start: int, end: int, cells: Sequence[str]) -> bool:
    """Return whether the row directly below is read with this one's cells as the names of its columns."""
    below = row_at(text, end + 1)
    if below is None or row_at(text, start) is not None:
        return False
    names = [cell for cell in cells[1:] if cell]
    return (
        len(names) > 1
        and all(not cell.endswith((".", ",")) and any(cell in column for column in below[0].columns) for cell in names)
        and names_data(cells, text[end + 1 :])
    )


def _is_plain_heading(span: str) -> bool:
    """Return whether a span is a heading, but no row and no entry of a table of contents."""
    return SEPARATOR not in span and is_heading(span) and not _LEADERS.search(span)


def _with_short_lines(text: str, spans: Sequence[_Span], at: int, first: _Span) -> tuple[int, _Span | None]:
    """Return the index after a run of short lines and its span, None for one or two: those are headings."""
    last = at
    while last < len(spans) and _is_plain_heading(text[slice(*spans[last])]):
        last += 1
    if last - at + 1 < MIN_SHORT_LINES:
        return at, None
    return last, (first[0], spans[last - 1][1])


def _fields(text: str, start: int, end: int) -> Iterator[_Span]:
    """Yield the lines of a form that say what they hold, and what stands between; the whole span if it is none."""
    lines = [line for line in text[start:end].split("\n") if line.strip()]
    fields = [found.span() for found in _FIELD.finditer(text, start, end)] if len(lines) > 1 else []
    figures = sum(_FIGURE_FIELD.match(text, *field) is not None for field in fields)
    if figures < max(2, FORM * len(lines)):
        yield start, end
        return
    for field_start, field_end in (*fields, (end, end)):
        for span in stripped(text, start, field_start):
            between = text[slice(*span)]
            if ":" in between or not is_heading(between):
                yield span
        if field_start < field_end:
            yield field_start, field_end
        start = field_end


def _with_row(text: str, spans: Sequence[_Span], at: int, end: int) -> tuple[int, int]:
    """Return the index after a table's row or an entry of contents that dots or full stops divide, and its end."""
    line_end = text.find("\n", end - 1)
    while at < len(spans) and spans[at][0] < (line_end if line_end >= 0 else len(text)):
        end = spans[at][1]
        at += 1
    return at, end


def _with_list(text: str, spans: Sequence[_Span], at: int, start: int, end: int) -> tuple[int, int]:
    """Return the index after the list that follows an introduction, and the list's end.

    Sentences that explain a step belong to it if the next step follows them.
    """
    last_step = 0
    first = at
    while at < len(spans) and spans[at][1] - start <= MAX_LIST_CHARACTERS:
        ahead = next(
            (
                n
                for n in range(at, min(at + 1 + (MAX_BETWEEN if last_step else 0), len(spans)))
                if is_item(text[slice(*spans[n])]) and (n == at or step_number(text, spans[n]) == last_step + 1)
            ),
            at if _is_plain_item(text, spans, first, at, end) else None,
        )
        if ahead is None:
            break
        last_step = step_number(text, spans[ahead])
        end = spans[ahead][1]
        at = ahead + 1
    if text[end - 1] == ":" and at < len(spans) and _may_explain(text, (start, end), spans[at]):
        return at + 1, spans[at][1]
    return at, end


def _is_plain_item(text: str, spans: Sequence[_Span], first: int, at: int, before: int) -> bool:
    """Return whether a span is an item without a mark, or with a bare letter; the list's first is `spans[first]`.

    It stands on a line of its own and ends with a semicolon if it is the first, else it follows such a one ("rust; |
    wear."); or the spans are "a …", "b …". `before` is the end of what precedes it.
    """
    start, end = spans[at]
    if "\n" not in text[before:start] or SEPARATOR in text[start:end]:
        return False
    if _GOES_ON.search(text, start, end) if at == first else _GOES_ON.search(text, spans[at - 1][0], before):
        return True
    lettered = [text.startswith(f"{chr(ord('a') + n)} ", place[0]) for n, place in enumerate(spans[first : at + 2])]
    return len(lettered) > 1 and all(lettered[: max(2, at - first + 1)])


def _items_from(text: str, spans: Sequence[_Span], at: int) -> tuple[int, Sequence[_Span]]:
    """Return the index after a list without an introduction, and its items, each with the sentences that explain it."""
    items: list[_Span] = []
    while at < len(spans):
        start, end = spans[at]
        if is_item(text[start:end]):
            items.append((start, end))
        elif "\n\n" in text[items[-1][1] : start] or not _may_explain(text, items[-1], spans[at]):
            break
        else:
            items[-1] = (items[-1][0], end)
        at += 1
    return at, items


def _may_explain(text: str, item: _Span, span: _Span) -> bool:
    sentence = text[slice(*span)]
    return (
        span[1] - item[0] <= MAX_ITEM_CHARACTERS
        and SEPARATOR not in sentence
        and not is_heading(sentence)
        and not sentence.endswith(":")
    )


def _unlabelled(text: str, start: int, end: int) -> Iterator[_Span]:
    """Split an FAQ's question from its answer, without the label "Answer:", so that a quote is still exact."""
    for label in _ANSWER_LABEL.finditer(text, start, end):
        question_end = len(text[: label.start()].rstrip())
        if question_end > start:
            yield start, question_end
        start = label.end()
    yield start, end


def _parts(text: str, start: int, end: int) -> Iterator[_Span]:
    is_list = is_item(text[text.rfind("\n", start, end) + 1 : end])
    if end - start <= RUN_ON_CHARACTERS or is_list:
        yield start, end
        return
    begin = start
    for border in _borders(text, start, end):
        stop = len(text[:border].rstrip())
        if stop - begin >= MIN_CHARACTERS and (end - border >= MIN_CHARACTERS or border == end):
            yield from _windows(text, begin, stop)
            begin = border


def _borders(text: str, start: int, end: int) -> Iterator[int]:
    for match in _BORDER.finditer(text, start, end):
        between_numbers = text[match.start() - 1].isdigit() and text[match.end() : match.end() + 1].isdigit()
        if not between_numbers and not is_abbreviated(text, match.start()):
            yield match.end()
    yield end


def _windows(text: str, start: int, end: int) -> Iterator[_Span]:
    while end - start > MAX_CHARACTERS:
        half, last = start + MAX_CHARACTERS // 2, start + MAX_CHARACTERS
        at = next((at for at in (text.rfind("\n", half, last), text.rfind(" ", half, last)) if at >= 0), last)
        yield start, at
        start = at + len(text[at:end]) - len(text[at:end].lstrip())
    if start < end:
        yield start, end
