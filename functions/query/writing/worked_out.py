"""What an answer without a model tells before it looks for statements: a sum, a list's length, a numbered part.

The first two need evidence that is whole: cells of one table that the question names, in one unit, and rules of
grounding that confirm the result; a list that begins and ends within its passage. Otherwise nothing is worked out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal
from itertools import groupby, takewhile
from typing import NamedTuple

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.evidence import is_foreign_in
from functions.query.grounding.judge import Verdict
from functions.query.grounding.quantities import CURRENCIES
from functions.query.grounding.sanitizing import without_markers
from functions.query.grounding.table_cells import TableCell, TableRow
from functions.query.grounding.tables import Table, tables_in
from functions.query.grounding.verify import Verifier
from functions.query.grounding.words import content_stems, is_stop_word
from functions.query.retrieval.numbered import NumberedPart, NumberedSpan
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import asking_part
from functions.query.writing.asked import Asked
from functions.query.writing.list_items import count_items, on_lines, without_item_sign
from functions.query.writing.premises import words_of_asking
from functions.query.writing.selected_rows import tables_of_document
from functions.query.writing.statements import statements_in
from functions.query.writing.whole_tables import WholeTable
from shared import lexical
from shared.dates import years_written
from shared.text import is_heading, row_cells, sentence_spans

_SUM = re.compile(r"\b(total|sum|combined|together|altogether|in all)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"\bdifference (?:between|in|of)\b|\b(?:how much|how many|by how|by what)\b.*\b(?:more|less|fewer|higher|lower|"
    r"greater|larger|smaller|longer|shorter|exceed|increas|decreas|chang|grow|grew|rise|rose|fall|fell|drop|declin)",
    re.IGNORECASE,
)
_OF_SHARES = re.compile(r"per ?cent(?!age points?)|%", re.IGNORECASE)
MAX_OPERANDS = 4
_HOW_MANY = re.compile(r"\bhow many\b|\bkiek\b|\bwie ?viele\b|\bcuánt[oa]s\b|\bcombien d", re.IGNORECASE)
MIN_NAMED = 0.5
"""Share of the question's words, by rarity, that a list's introduction, heading and section must have to be counted."""
MIN_WORDS = 3
"""Words of a question, at least, that a sentence must have to say that the table below it lists what is counted."""
_LISTS = re.compile(r"\b(?:table|list(?:s|ed)?|following|below)\b|:\Z", re.IGNORECASE)
MAX_COUNTED = 2
"""Words behind "how many", at most, one of which names the column of what is counted."""
MAX_LINES_BETWEEN = 2
"""Lines between that sentence and the table, at most: another sentence, and the table's title."""


# --- A sum or a difference of cells ---


class _Operand(NamedTuple):
    row: TableRow
    name: str
    cell: TableCell


def calculation(question: str, passages: Sequence[Passage]) -> Claim | None:
    """Return the sum or difference that a question asks for, with its figures; it quotes their rows.

    None unless the question names two to four cells of one table of the first passage's document, each by words that
    stand together in it, and grounding confirms the result. English only, as are its words of calculation.
    """
    is_sum, is_difference = _SUM.search(question), _DIFFERENCE.search(question)
    if not passages or not (is_sum or is_difference):
        return None
    for at, passage in enumerate(passages, 1):
        if passage.document_id != passages[0].document_id or passage.language not in {"", "en"}:
            continue
        text = passage.whole
        for table in tables_in(text):
            operands = _operands(table, question)
            rows = {text[each.row.start : each.row.end] for each in operands}
            # Elsewhere a cell holds two figures, or a figure stands apart from its sign: columns may be told wrongly.
            if table.columns and any(len(row_cells(row)) != len(table.columns) + 1 for row in rows):
                continue
            if not _is_of_one_unit(operands):
                continue
            told = _calculated(operands, question, adds=not is_difference)
            quotes = dict.fromkeys(text[each.row.start : each.row.end] for each in operands)
            claim = Claim(told, tuple(Reference(at, quote) for quote in quotes), "\n")
            if told and _is_confirmed(claim, question, passages):
                return claim
    return None


def _operands(table: Table, question: str) -> Sequence[_Operand]:
    """Return the cells of two to four rows in one column, or of two to four columns in one row; none if unclear."""
    asked, years = content_stems(question, "en"), Asked.of(question).years
    rows = _named(asked, [row.label for row in table.rows])
    dated = [(at, years_written(name)) for at, name in enumerate(table.columns)]
    columns = (
        [at for at, found in dated if found and years.issuperset(found)] if years else _named(asked, table.columns)
    )
    if not columns and not years and len(table.columns) <= 1:
        columns = [0]
    if len(rows) == 1 < len(columns) <= MAX_OPERANDS:
        places = [(rows[0], column) for column in columns]
    elif len(columns) == 1 < len(rows) <= MAX_OPERANDS:
        places = [(row, columns[0]) for row in rows]
    else:
        return ()
    found = [
        _Operand(table.rows[at], table.columns[column] if table.columns else "", cell)
        for at, column in places
        for cell in table.rows[at].cells
        if cell.column == column and len(cell.values) == 1 and not cell.negative
    ]
    return found if len(found) == len(places) else ()


def _is_of_one_unit(operands: Sequence[_Operand]) -> bool:
    """Return whether there are operands, all of one unit; money may be marked in the first row only."""
    units = {each.cell.unit for each in operands}
    return len(units) == 1 or (len(units) == 2 and "" in units and not units.isdisjoint(CURRENCIES))


def _named(asked: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return which names stand in a question word by word, in its order; of names within each other the longest."""
    stems = {at: content_stems(name, "en") for at, name in enumerate(names)}
    taken: dict[int, int] = {}
    for at, words in sorted(stems.items(), key=lambda each: -len(each[1])):
        places = (range(n, n + len(words)) for n in range(len(asked) - len(words) + 1) if words)
        for place in places:
            if tuple(asked[place.start : place.stop]) == tuple(words) and taken.keys().isdisjoint(place):
                taken |= dict.fromkeys(place, at)
                break
    return list(dict.fromkeys(taken[place] for place in sorted(taken)))


def _calculated(operands: Sequence[_Operand], question: str, *, adds: bool) -> str:
    """Return "Net sales; 2019: 5,409; 2018: 5,000; difference: 409", empty if it is not clear what is asked for."""
    values = [Decimal(next(iter(each.cell.values))) for each in operands]
    labels = " ".join(each.row.label for each in operands)
    is_share = operands[0].cell.unit == "percent"
    if adds:
        is_named_so = all(word.lower() in labels.lower() for word in _SUM.findall(question))
        result = None if is_named_so or is_share else sum(values, Decimal(0))
    else:
        is_for_share = _OF_SHARES.search(question) is not None and not is_share
        result = None if len(values) != 2 or is_for_share else abs(values[0] - values[1])
    if result is None:
        return ""
    rows = dict.fromkeys(" ".join(each.row.label.split()) for each in operands)
    cells = [
        "; ".join((row, *(_told(each) for each in operands if " ".join(each.row.label.split()) == row))) for row in rows
    ]
    unit = " percentage points" if is_share else ""
    return f"{'; '.join(cells)}; {'together' if adds else 'difference'}: {result:,}{unit}"


def _told(operand: _Operand) -> str:
    name = " ".join(operand.name.split())
    return f"{name}: {operand.cell.text}" if name else operand.cell.text


def _is_confirmed(claim: Claim, question: str, passages: Sequence[Passage]) -> bool:
    judged = list(Verifier(passages, question=question, language="en").judge(claim))
    return len(judged) == 1 and judged[0].judgement.verdict is Verdict.CONFIRMED


# --- The items of a list ---


class CountedList(NamedTuple):
    """A list that a question asks to count, as a claim that quotes it, and the number of its items."""

    claim: Claim
    items: int


def counted_list(question: str, passages: Sequence[Passage]) -> CountedList | None:
    """Return the list whose introduction, heading and section name what a question asks to count; None if unclear.

    A sentence with a number that names as much of it answers better.
    """
    if not _HOW_MANY.search(question):
        return None
    asked = Asked.of(asking_part(question))
    best, best_share = None, 0.0
    for at, passage in enumerate(passages):
        language = passage.language or "en"
        weights = _weights(_HOW_MANY.sub(" ", asked.text), language)
        held = frozenset(content_stems(f"{passage.text}\n{passage.title}", language))
        for each in _lists_of(passage):
            share = _share(weights, each.names)
            if each.items and max(best_share, MIN_NAMED) < share and held.union(each.names).issuperset(weights):
                best, best_share = CountedList(_claim_of(at, passage.text[slice(*each.span)]), each.items), share
        for statement in statements_in(passage):
            is_alone = not statement.has_items and statement.list_span is None
            share = _share(weights, statement.context_stems.union(statement.stems))
            if is_alone and share >= best_share and asked.is_met(statement.text):
                best, best_share = None, share
    return best


def counted_rows(question: str, passages: Sequence[Passage]) -> CountedList | None:
    """Return the sentence that says that the table below it lists what a question counts, and how many rows that has.

    "How many common operations do roles support?" above "Table 2 lists the common operations that roles support." The
    sentence has all words of the question, the first column is named after what is counted, each row's label is
    another, and the whole table is at hand. None if one of these is not so.
    """
    asked = asking_part(question)
    named = [*takewhile(lambda word: not is_stop_word(word.lower()), _HOW_MANY.split(asked, 1)[-1].split())][
        :MAX_COUNTED
    ]
    if not (_HOW_MANY.search(asked) and named) or Asked.of(asked).for_denied:
        return None
    for at, passage in enumerate(passages):
        language = passage.language or "en"
        words = _weights(_HOW_MANY.sub(" ", asked), language).keys()
        counted = frozenset(content_stems(" ".join(named), language))
        lines = [
            each
            for each in statements_in(passage)
            if not each.is_row and _LISTS.search(each.text) and words <= frozenset(each.stems)
        ]
        if len(words) < MIN_WORDS or not lines:
            continue
        below = [each for each in tables_of_document([passage], passage.document_id) if each.rows]
        pieces = _one_below(lines[0].end, below, passage)
        labels = [row.cells[0] for each in pieces for row in each.rows]
        if not pieces or counted.isdisjoint(content_stems(pieces[0].names[0], language)):
            continue
        if all(each.is_whole and each.is_named for each in pieces) and len({*labels}) == len(labels):
            return CountedList(_claim_of(at, lines[0].text), len(labels))
    return None


def _one_below(end: int, tables: Sequence[WholeTable], passage: Passage) -> Sequence[WholeTable]:
    """Return the pieces of the first table below a place, if that stands near it: each repeats the names of columns."""

    def between(start: int, table: WholeTable) -> Sequence[str]:
        lines = passage.text[start : table.rows[0].start].split("\n")
        return [line for line in lines if line.strip() and row_cells(line) != list(table.names)]

    found: list[WholeTable] = []
    for table in tables:
        if table.rows[0].start < end:
            continue
        limit = 0 if found else MAX_LINES_BETWEEN
        if (found and table.names != found[0].names) or len(between(end, table)) > limit:
            break
        found.append(table)
        end = table.rows[-1].end
    return found


def _weights(text: str, language: str) -> Mapping[str, float]:
    """Return the rarity of the words of a question, without words of asking."""
    rarity, asking = lexical.background(language), words_of_asking(language)
    stems = content_stems(text, language)
    return {stem: rarity.get(stem, lexical.MAX_RARITY) for stem in stems if stem not in asking}


def _share(weights: Mapping[str, float], stems: Set[str]) -> float:
    return sum(weight for stem, weight in weights.items() if stem in stems) / (sum(weights.values()) or 1.0)


def _claim_of(at: int, quote: str) -> Claim:
    return Claim(without_markers(on_lines(quote)), (Reference(at + 1, quote),), "\n")


class _List(NamedTuple):
    """The span of a list, the stems of what names it, and the number of its items, 0 if that is not clear."""

    span: tuple[int, int]
    names: frozenset[str]
    items: int


def _lists_of(passage: Passage) -> Iterator[_List]:
    seen: set[tuple[int, int]] = set()
    for statement in statements_in(passage):
        span = statement.list_span or ((statement.start, statement.end) if statement.has_items else None)
        if span is None or span in seen:
            continue
        seen.add(span)
        introduction = "" if statement.list_span else statement.text.partition("\n")[0]
        section = passage.section_at(passage.char_start + statement.start)
        names = content_stems(f"{introduction}\n{statement.context}\n{section}", statement.language)
        yield _List(span, frozenset(names), count_items(passage.text, *span))


# --- A numbered part ---

MAX_PART_CHARACTERS = 1_200
"""A longer part is told up to the end of a sentence before that."""


def part_claims(question: str, passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the numbered part that a question asks for; none if it is not there, or the question asks more."""
    part = NumberedPart.of(question)
    for number, passage in enumerate(passages, start=1) if part else ():
        span = part.span_of(passage) if part else None
        text = passage.text[span.start : span.end].strip() if span else ""
        if span and ("\n" in text or not is_heading(without_item_sign(text))):
            return list(_whole(span, number, passages, question))
    return ()


def _whole(span: NumberedSpan, number: int, passages: Sequence[Passage], question: str) -> Iterator[Claim]:
    """Yield the paragraphs of a part, without sentences that are foreign to its document: they are no evidence."""
    passage = passages[number - 1]
    text = passage.text
    spans = [(span.start + start, span.start + end) for start, end in sentence_spans(text[span.start : span.end])]
    told = [each for each in spans if each[1] <= span.start + MAX_PART_CHARACTERS] or spans[:1]

    def place(each: tuple[int, int]) -> tuple[int, bool]:
        """Return the sentence's paragraph and whether it is foreign."""
        is_foreign = is_foreign_in(passage, text[slice(*each)], *each, passages, question)
        return text.count("\n", span.start, each[0]), is_foreign

    for (_, is_foreign), group in groupby(told, key=place):
        sentences = list(group)
        if not is_foreign:
            quote = text[sentences[0][0] : sentences[-1][1]]
            yield Claim(without_markers(on_lines(quote)), (Reference(number, quote),), "\n")
