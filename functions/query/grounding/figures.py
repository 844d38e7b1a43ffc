"""Checks a claim's numbers: stated by its evidence, cells of the row and column it names, or calculated."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from functions.query.grounding.arithmetic import Operand, derive
from functions.query.grounding.cells import Binding, Surroundings, bind, operands_in
from functions.query.grounding.facts import facts_in, facts_missing, known_facts
from functions.query.grounding.quantities import UNIT, unit_name
from functions.query.grounding.quotes import EvidenceSpan, facts_of, titles_of
from functions.query.grounding.tables import tables_in
from functions.query.retrieval.passages import Passage
from shared.lexical import fold
from shared.text import SEPARATOR

_UNIT_AFTER = re.compile(rf"\s+(?:[^\W\d_]+\s+)?({UNIT})(?!\w)", re.IGNORECASE)
"""A unit, also behind an adjective: "two *calendar* weeks"."""


@dataclass(frozen=True, slots=True)
class FigureCheck:
    """What the evidence says about a claim's numbers, dates and identifiers.

    `missing`: those it neither states nor yields. `conflict`: how the claim contradicts a table (see `Binding`).
    `derived`: the calculations. `is_bound`: whether a table confirms every number; `is_open`: whether it is not told
    which cell of a table a number is. `texts`: what names the bound cells.
    """

    missing: Sequence[str] = ()
    conflict: str = ""
    derived: str = ""
    is_bound: bool = False
    is_open: bool = False
    texts: Sequence[str] = ()


def check_figures(
    claim: str, spans: Sequence[EvidenceSpan], *, question: str = "", sources: Sequence[Passage] = ()
) -> FigureCheck:
    """Check the facts of a claim against its evidence."""
    known = facts_of(spans)
    facts = facts_in(claim)
    if not facts:
        return FigureCheck()
    missing = facts_missing(claim, known)
    numbers = [fact for fact in facts if fact.kind == "number"]
    in_tables = [span for span in spans if SEPARATOR in span.passage.text] if numbers else []
    around = {span: _surroundings(span, spans, question, sources) for span in in_tables}
    bindings = _bindings(claim, around)
    if any(each.conflict for each in bindings):
        # A calculated number may also stand somewhere else in the table.
        operands = list(_operands(claim, spans, around))
        free = [fact for fact in numbers if derive(claim, fact, operands) is not None]
        around = {span: replace(each, elsewhere=[*each.elsewhere, *free]) for span, each in around.items()}
        bindings = _bindings(claim, around) if free else bindings
    fitting = [each for each in bindings if not each.conflict]
    bound = frozenset[int]().union(*(each.bound for each in fitting))
    conflict = "" if bound else next((each.conflict for each in bindings if each.conflict), "")
    texts = tuple(dict.fromkeys(text for each in fitting for text in each.texts))
    missing = [fact for fact in missing if fact.start not in bound]
    if missing and texts:
        unknown = {fact.start for fact in facts_missing(claim, known_facts(texts, ""))}
        missing = [fact for fact in missing if fact.start in unknown]
    derived: list[str] = []
    if missing:
        operands = list(_operands(claim, spans, around))
        found = {fact.start: derive(claim, fact, operands) for fact in missing if fact.kind == "number"}
        derived = [each.text for each in found.values() if each is not None]
        missing = [fact for fact in missing if found.get(fact.start) is None]
    is_open = any(each.is_open for each in fitting) and not any(each.is_named for each in fitting)
    is_bound = bool(bound) and not missing and not is_open
    written = tuple(fact.text.rstrip(" .,;") for fact in missing)
    return FigureCheck(written, conflict, "; ".join(derived), is_bound, is_open, texts)


def _bindings(claim: str, around: "dict[EvidenceSpan, Surroundings]") -> list[Binding]:
    return [bind(claim, span.passage.text, span.start, span.end, each) for span, each in around.items()]


def _surroundings(
    span: EvidenceSpan, spans: Sequence[EvidenceSpan], question: str, sources: Sequence[Passage]
) -> Surroundings:
    passage = span.passage
    same = [each for each in sources if each.document_id == passage.document_id]
    scales = {table.scale for each in same for table in tables_in(each.text) if table.scale is not None}
    return Surroundings(
        _text_before(passage, same),
        scales.pop() if len(scales) == 1 else None,
        "\n".join((question, *titles_of(passage))),
        [fact for each in spans if not _is_in_table(each) for text in each.sentences for fact in facts_in(text)],
    )


def _text_before(passage: Passage, sources: Sequence[Passage]) -> str:
    """Return the text of the source that the passage continues, up to the passage; a table may begin there."""
    before = next((each for each in sources if each.char_start < passage.char_start <= each.char_end + 2), None)
    if before is None:
        return ""
    text = before.text[: passage.char_start - before.char_start]
    is_row = SEPARATOR in text.rstrip().rsplit("\n", 1)[-1]
    return text.rstrip() + ("\n" if is_row else "\n\n")


def _is_in_table(span: EvidenceSpan) -> bool:
    return any(table.start < span.end and span.start < table.end for table in tables_in(span.passage.text))


def _operands(
    claim: str, spans: Sequence[EvidenceSpan], around: "dict[EvidenceSpan, Surroundings]"
) -> Iterator[Operand]:
    cells: list[Operand] = []
    for span in spans:
        found = operands_in(claim, span.passage.text, span.start, span.end, around[span]) if span in around else []
        cells += found
        if not found:
            yield from _stated(fold(span.passage.text[span.start : span.end]))
    # A claim that names no row ("It fell by …") means the quoted ones.
    is_any_named = any(each.is_named for each in cells)
    yield from (each if is_any_named else replace(each, is_named=True) for each in cells)


def _stated(text: str) -> Iterator[Operand]:
    """Yield the numbers of a quoted text."""
    for fact in facts_in(text):
        if fact.kind == "number":
            unit = _UNIT_AFTER.match(text, fact.end)
            name = unit_name(unit[1]) if unit and not fact.unit else fact.unit
            written = text[fact.start : unit.end() if unit else fact.end]
            yield Operand(min(fact.values), written.rstrip(" .,;"), name, text)
