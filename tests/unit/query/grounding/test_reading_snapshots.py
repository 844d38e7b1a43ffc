"""What grounding reads in the made passages and wordings, sentence by sentence: facts, dates, clauses, tables, orders.

`make snapshots` stores what comes out now.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.query.grounding.claims import statement_spans_of
from functions.query.grounding.clauses import clauses_of
from functions.query.grounding.columns import is_change, mentions_in, period_of, spans_of_periods
from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.figures import operands_in
from functions.query.grounding.foreign import is_stray
from functions.query.grounding.injection import injected_spans, is_prompt_rule, reported_spans
from functions.query.grounding.names import names_in
from functions.query.grounding.polarity import count_negations, direction_of, has_opposite
from functions.query.grounding.quantities import is_unit, unit_name
from functions.query.grounding.sanitizing import SourceTexts, cleaned, plain_name, without_markers
from functions.query.grounding.statements import claims_nothing, statement_of, yes_or_no
from functions.query.grounding.tables import Table, row_text, tables_in
from functions.query.grounding.words import (
    abbreviations_in,
    content_stems,
    is_degree,
    is_stop_word,
    other_words_of,
    tokens_of,
)
from functions.query.retrieval.passages import Passage
from shared.dates import DateMention, dates_in
from shared.text import sentence_spans
from tests.support.made_library import library, told, unsearched, wordings
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots" / "readings"


PASSAGES = {**library(), **unsearched()}


@pytest.mark.parametrize("name", PASSAGES)
def test_what_is_read_in_a_made_passage_is_as_stored(name: str) -> None:
    passage = PASSAGES[name]
    lines = [line for table in tables_in(passage.text) for line in _of_table(table, passage.text)]
    for start, end in sentence_spans(passage.text):
        lines += _of_sentence(passage.text[start:end], passage.language, has_stems=False)
        lines += _of_place(passage, start, end)
    check(HERE / f"{name.replace('/', '')}.txt", "\n".join(lines))


@pytest.mark.parametrize("heading", wordings())
def test_what_is_read_in_made_wordings_is_as_stored(heading: str) -> None:
    lines: list[str] = []
    for text in wordings()[heading]:
        lines += _of_sentence(text, "en")
        lines += [line for table in tables_in(text) for line in _of_table(table, text)]
        lines += _of_text(text)
    check(HERE / f"{_name(heading)}.txt", "\n".join(lines))


def test_each_stored_text_has_its_input() -> None:
    check_names(HERE, [*(each.replace("/", "") for each in PASSAGES), *map(_name, wordings())])


def _name(heading: str) -> str:
    return f"wordings-{heading.replace(' ', '-').replace(',', '')}"


def _of_sentence(text: str, language: str, *, has_stems: bool = True) -> Iterator[str]:
    yield f"> {text if has_stems or len(text) < 60 else text[:60] + '…'}".replace("\n", "⏎")
    if facts := facts_in(text):
        yield "  facts: " + "; ".join(map(_of_fact, facts))
    if dates := dates_in(text):
        yield "  dates: " + "; ".join(map(_of_date, dates))
    clauses = clauses_of(text, language)
    if any(each.kinds for each in clauses):
        yield "  clauses: " + " / ".join(
            f"{each.text.strip()[:25]} {told(each.kinds) if each.kinds else ''}" for each in clauses
        ).replace("\n", "⏎")
    if has_stems and (operands := operands_in(text)):
        yield "  operands: " + "; ".join(
            f"{told(each.value)}{f' {each.unit}' if each.unit else ''}" for each in operands
        )
    words = tokens_of(text)
    about = {
        "stems": " ".join(content_stems(text, language)) if has_stems else "",
        "negations": str(count_negations(words) or ""),
        "directions": " ".join(f"{word}{direction_of(word):+}" for word in words if direction_of(word)),
        "opposites": " ".join(word for word in words if has_opposite(word)) if has_stems else "",
        "degrees": " ".join(word for word in words if is_degree(word)) if has_stems else "",
        "units": " ".join(f"{word}={unit_name(word)}" for word in words if is_unit(word)) if has_stems else "",
        "names": ", ".join(names_in(text)),
        "periods": ", ".join(text[start:end] for start, end in spans_of_periods(text)),
        "abbreviations": ", ".join(f"{short} = {long}" for short, long in abbreviations_in(text)),
    }
    for name, value in about.items():
        if value:
            yield f"  {name}: {value}".replace("\n", "⏎")


def _of_fact(fact: Fact) -> str:
    values = told(fact.values)
    return f"{fact.text.strip()} = {fact.kind} {values}{f' {fact.unit}' if fact.unit else ''}@{fact.start}"


def _of_date(date: DateMention) -> str:
    return f"{date.year}-{date.month}-{date.day}@{date.start}-{date.end}"


def _of_table(table: Table, text: str) -> Iterator[str]:
    yield f"table {table.start}-{table.end}"
    yield f"  caption: {table.caption}".replace("\n", "⏎")
    words = ", of words" if table.names_words else ""
    yield f"  columns: {' | '.join(table.columns)}{words}" + (f" × {table.scale}" if table.scale is not None else "")
    for row in table.rows:
        shown = [f"{each.column}:{'-' * each.negative}{each.text}{told(each.values)}{each.unit}" for each in row.cells]
        of_group = f" ({row.group} × {row.scale})" if row.group or row.scale is not None else ""
        yield f"  | {row.label}{of_group} | {' | '.join(shown)}".replace("\n", "⏎")
        yield f"    {row_text(text, row.start, row.end)}"
    yield "  periods: " + "; ".join(
        told(period_of(column)).replace("\n", " ") + ("(change)" if is_change(column) else "")
        for column in table.columns
    )
    for asked in ("in 2023", "in the third quarter of 2024", "in 2022 and 2021", "a year earlier", "for adults"):
        found = mentions_in(asked, table.columns, context=text[: table.start], own_words=frozenset())
        if found:
            yield f"  {asked}: {', '.join(told(sorted(each.columns)) for each in found)}"


def _of_place(passage: Passage, start: int, end: int) -> Iterator[str]:
    text = passage.text
    others = [each for each in PASSAGES.values() if each.document_id == passage.document_id and each is not passage]
    near = ["", passage.title, *(each.text for each in others)]
    findings = [
        *("injected" for begin, stop in injected_spans(text) if begin < end and stop > start),
        *("reported" for begin, stop in reported_spans(text) if begin < end and stop > start),
        *["stray"] * is_stray(text[start:end], text, start, end, near),
    ]
    if findings:
        yield f"  ! {', '.join(findings)}"


def _of_text(text: str) -> Iterator[str]:
    clean = cleaned(text, SourceTexts(["See www.example.com for more."]))
    about = {
        "cleaned": clean.text if clean.text != text else "",
        "findings": ", ".join(sorted(clean.findings)),
        "without markers": without_markers(text) if without_markers(text) != text else "",
        "plain name": plain_name(text) if plain_name(text) != text else "",
        "statement": statement_of(text) if statement_of(text) != text else "",
        "yes or no": yes_or_no(text),
        "claims nothing": "yes" if claims_nothing(text) else "",
        "prompt rule": "yes" if is_prompt_rule(text) else "",
        "injected": ", ".join(text[slice(*each)] for each in injected_spans(text)),
        "reported": ", ".join(text[slice(*each)] for each in reported_spans(text)),
        "spans": " ".join(f"{start}-{end}" for start, end in statement_spans_of(text)),
    }
    for name, value in about.items():
        if value:
            yield f"  {name}: {value}".replace("\n", "⏎")


def test_the_words_of_each_kind_are_as_stored() -> None:
    words = sorted({word for made in library().values() for word in tokens_of(made.text) if made.language == "en"})
    alike = {word: sorted(other_words_of(stem, "en")) for word in words for stem in content_stems(word)}
    lines = [f"stop: {' '.join(word for word in words if is_stop_word(word))}"]
    lines += [f"{word}: {' '.join(others)}" for word, others in alike.items() if others]
    check(HERE.parent / "words.txt", "\n".join(lines))
