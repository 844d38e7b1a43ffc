"""Checks a claim's numbers: stated by its evidence, cells of the row and column it names, or calculated."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

from functions.query.grounding.arithmetic import Calculation, Operand, derive, is_otherwise
from functions.query.grounding.calculations import derive_from_dates, may_be_calculated, multipliers_in, own_calculation
from functions.query.grounding.cells import Binding, Surroundings, TableComparison, binding_of, compare_tables
from functions.query.grounding.clauses import clauses_of
from functions.query.grounding.columns import spans_of_periods
from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.known_facts import facts_missing, known_facts
from functions.query.grounding.measures import parts_of
from functions.query.grounding.polarity import count_negations, direction_of, is_verb_negation
from functions.query.grounding.quantities import UNIT_AT, is_number_word, is_unit, unit_name
from functions.query.grounding.quotes import EvidenceSpan, facts_of, titles_of
from functions.query.grounding.relations import Relation, relation_in
from functions.query.grounding.rows import Place
from functions.query.grounding.table_claims import CellTexts
from functions.query.grounding.tables import tables_in
from functions.query.grounding.words import WORD, content_stems, stems_of, tokens_of, with_synonyms
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import word_lists
from shared.dates import is_month
from shared.lexical import fold
from shared.text import SEPARATOR

_OF_FIGURES = stems_of(
    "compared versus total together combined altogether average share change difference earlier ago prior"
    " previous year quarter month period ended approximately roughly around nearly almost some"
)
"""Words that a claim may put around figures."""
_BEFORE_UNIT = tuple(map(re.compile, (r"\s+(?!(?i:an?|per|each|every)\s)[^\W\d_]+\s+", r"\s+")))
"""What stands before a unit, also an adjective: "two *calendar* weeks"."""
_CALCULATED = frozenset({"number", "fraction"})
"""Kinds of facts that a calculation may give or use."""
_ADJECTIVE = re.compile(r"-[^\W\d_]{2,}")
"""What makes a number a part of an adjective, which counts nothing: "two-hop claims"."""
_CHANGED_BY = re.compile(r"\b([^\W\d_]+)(?:\s+(?:of|by))?\s+$", re.IGNORECASE)
"""The word before an amount that may tell that something rose or fell by it: "down $1.5 billion"."""
BEFORE_CHARACTERS = 30
"""Characters before a number in which that word stands."""
_OF = re.compile(r"\s+(?:out\s+)?of\s+(?:(?:the|its|our|their|these|those|all)\s+)?")

_TELLING = word_lists("claim_words.txt")["telling"]
"""Words with which a claim may tell figures besides one other: "Students *pay* £27.50 and are *tied* in for a term"."""
MAX_TOLD_OF_CALCULATIONS = 3
"""Other words with which a claim may tell a calculation: its numbers are of no single cell."""
_LIMITS = re.compile(r"\b(?:at most|up to|no more than|no less than|double|twice|half|triple)\b", re.IGNORECASE)
_ANSWERING = word_lists("claim_words.txt")["answering"]
"""Words that tell a "yes" or "no" of a cell."""
_ANSWERED = re.compile(
    r"\b(?:can(?:not|['’]t)?|may|could|(?:do|does|is|are|was|were|will)(?: not|n['’]t)|not|no|without|plans?)\b",
    re.IGNORECASE,
)
"""What says that a "yes" or "no" of a cell is so: "*can* export", "*does not* stop"."""
_AT_MOST = re.compile(r"\bat most\b|\bno more than\b|\bmax(?:imum|\b\.?)")
"""What says "up to" in other words."""
MIN_PROSE_WORDS = 10
"""Words of a quote from one cell that is read as sentences, not as a value."""


@dataclass(frozen=True, slots=True)
class FigureCheck:
    """What the evidence says about a claim's numbers, dates and identifiers.

    `missing`: those it neither states nor yields. `conflict`: how the claim contradicts a table (see `Binding`).
    `derived`: the calculations. `is_bound`: whether a table confirms every number, or what is most or least;
    `is_open`: whether it is not told which cell of a table a number is. `texts`: what names the bound cells.
    `restated`: the claim with the evidence's numbers in the place of converted ones, if there are any. `is_rest`:
    whether a number is what a part leaves over. `is_possible`: whether some numbers of the evidence, which it may not
    mean, give all missing ones. `cell_texts`: what names the row and columns whose words, or yes or no, are told.
    `compared`: the two values of prose that are as the claim compares them.
    """

    missing: Sequence[str] = ()
    conflict: str = ""
    derived: str = ""
    is_bound: bool = False
    is_open: bool = False
    texts: Sequence[str] = ()
    restated: str = ""
    is_rest: bool = False
    is_possible: bool = False
    cell_texts: Sequence[str] = ()
    compared: str = ""


def check_figures(
    claim: str,
    spans: Sequence[EvidenceSpan],
    *,
    question: str = "",
    sources: Sequence[Passage] = (),
    language: str = "en",
) -> FigureCheck:
    """Check the facts of a claim against its evidence."""
    known = facts_of(spans)
    facts = facts_in(claim)
    missing = facts_missing(claim, known)
    numbers = [fact for fact in facts if fact.kind in _CALCULATED]
    quoted = _Quoted(claim, spans, question, sources)
    bindings = quoted.bindings()
    free: Sequence[Fact] = ()
    if numbers and any(each.conflict for each in bindings):
        # A calculated number may also stand somewhere else in the table.
        free = [fact for fact in numbers if derive(claim, fact, quoted.operands) is not None]
        bindings = quoted.bindings(free) if free else bindings
    fitting = [each for each in bindings if not each.conflict]
    bound = frozenset[int]().union(*(each.bound for each in fitting))
    # A table may go on in a second passage: what fits in one may not in the other, which has more rows.
    is_fitting = bool(bound) and all(fact.start in bound for fact in numbers if fact not in free)
    conflict = "" if is_fitting else next((each.conflict for each in bindings if each.conflict), "")
    cells = [] if conflict else list(quoted.cell_texts())
    titles = [title for span in spans for title in titles_of(span.passage)]
    others = [*filter(None, (each.texts(are_so=False) for each in cells))]
    is_of_another = any(tells_cells_only(claim, [*texts, *titles], language) for texts in others)
    if is_of_another or any(each.is_of_another for each in cells):
        conflict = "row"
    cell_texts = next(filter(None, (each.texts(are_so=True) for each in cells)), ()) if not conflict else ()
    texts = tuple(dict.fromkeys(text for each in fitting for text in each.texts))
    missing = [fact for fact in missing if fact.start not in bound]
    if missing and texts:
        unknown = {fact.start for fact in facts_missing(claim, known_facts(texts, ""))}
        missing = [fact for fact in missing if fact.start in unknown]
    stated = [fact for fact in numbers if fact not in missing]
    calculated, missing = _calculated(quoted, missing, stated)
    is_open = any(each.is_open for each in fitting) and not any(each.is_named for each in fitting)
    is_open = is_open or (not numbers and any(each.names_only for each in cells))
    is_extreme = any(each.is_extreme for each in fitting)
    is_bound = (bool(bound) or is_extreme) and not missing and not is_open
    sentences = [text for span in spans for text in span.sentences]
    is_possible = bool(missing) and all(
        may_be_calculated(claim, fact, stated, quoted.operands, sentences) for fact in missing
    )
    if not conflict and any(is_otherwise(claim, fact, quoted.operands) for fact in missing):
        conflict = "order"
    derived = "; ".join(each.text for _, each in calculated)
    relation = None if conflict else quoted.relation(language)
    if relation and not relation.is_so:
        conflict = "order"
    elif relation:  # "less than half", of 46 per cent
        missing = [fact for fact in missing if fact.kind != "fraction"]
    written = tuple(fact.text.rstrip(" .,;") for fact in missing)
    is_rest = any(each.is_rest for _, each in calculated)
    return FigureCheck(
        written,
        conflict,
        derived,
        is_bound,
        is_open,
        texts,
        (relation.restated if relation else "") or _restated(claim, calculated),
        is_rest,
        is_possible,
        cell_texts,
        relation.derived if relation and relation.is_so else "",
    )


def _calculated(
    quoted: "_Quoted", missing: list[Fact], stated: Sequence[Fact]
) -> tuple[list[tuple[Fact, Calculation]], list[Fact]]:
    """Return the missing facts of a claim that a calculation gives, each with it, and those that none gives."""
    if not missing:
        return [], []
    claim = quoted.claim
    sentences = [text for span in quoted.spans for text in span.sentences]
    calculated: list[tuple[Fact, Calculation]] = []
    ways: Sequence[Callable[[Fact], Calculation | None]] = (
        lambda fact: derive(claim, fact, quoted.operands) if fact.kind in _CALCULATED else None,
        lambda fact: own_calculation(claim, fact, stated, sentences, quoted.operands),
        lambda fact: derive_from_dates(fact, sentences, claim),
    )
    for way in ways:
        found = [(fact, each) for fact in missing if (each := way(fact)) is not None]
        calculated += found
        missing = [fact for fact in missing if fact not in {fact for fact, _ in found}]
    if missing and calculated:  # "for three people: 3 × €28"
        times = set(multipliers_in(claim, sentences))
        missing = [fact for fact in missing if not fact.values & times]
    return calculated, missing


def _restated(claim: str, calculated: Sequence[tuple[Fact, Calculation]]) -> str:
    restated = folded = fold(claim)
    for fact, calculation in sorted(calculated, key=lambda each: -each[0].start):
        if calculation.stated:
            restated = f"{restated[: fact.start]}{calculation.stated}{restated[fact.end :]}"
    return "" if restated == folded else restated


@dataclass(frozen=True)
class _Quoted:
    """The evidence of a claim, its spans in tables apart from those in prose."""

    claim: str
    spans: Sequence[EvidenceSpan]
    question: str
    sources: Sequence[Passage]

    def bindings(self, free: Sequence[Fact] = ()) -> list[Binding]:
        """Return what the tables of each passage say; numbers equal to a free one may stand anywhere."""
        return [binding_of(comparisons) for comparisons in (self._compare(free) if free else self._comparisons)]

    @cached_property
    def operands(self) -> list[Operand]:
        """The numbers of the quoted rows and of the quotes in prose."""
        cells = [operand for each in self._comparisons for table in each for operand in table.operands()]
        # A claim that names no row ("It fell by …") means the quoted ones.
        is_any_named = any(each.is_named for each in cells)
        cells = [each if is_any_named else replace(each, is_named=True) for each in cells]
        return [*cells, *(each for span in self._in_prose for each in operands_in(fold(_text_of(span))))]

    @cached_property
    def _comparisons(self) -> list[list[TableComparison]]:
        return self._compare(())

    def _compare(self, free: Sequence[Fact]) -> list[list[TableComparison]]:
        places: dict[Passage, list[Place]] = {}
        for span in self.spans:
            if span not in self._in_prose:
                places.setdefault(span.passage, []).append((span.start, span.end))
        return [
            compare_tables(self.claim, passage.text, each, self._surroundings(passage, free))
            for passage, each in places.items()
        ]

    def _surroundings(self, passage: Passage, free: Sequence[Fact]) -> Surroundings:
        same = [each for each in self.sources if each.document_id == passage.document_id]
        scales = {table.scale for each in same for table in tables_in(each.whole) if table.scale is not None}
        return Surroundings(
            _text_before(passage, same),
            scales.pop() if len(scales) == 1 else None,
            "\n".join((self.question, *titles_of(passage))),
            [*free, *(fact for span in self._in_prose for text in span.sentences for fact in facts_in(text))],
        )

    def cell_texts(self) -> Iterator[CellTexts]:
        """Yield the claim beside each table of which rows are quoted."""
        elsewhere = frozenset(content_stems(" ".join((self.question, *map(_text_of, self._in_prose)))))
        for span in self.spans:
            if span in self._in_prose:
                continue
            # The names of a table that goes on here stand before it.
            before = self._surroundings(span.passage, ()).before
            text, start, end = before + span.passage.text, span.start + len(before), span.end + len(before)
            for table in tables_in(text):
                quoted = [row for row in table.rows if row.start < end and start < row.end]
                if quoted:
                    yield CellTexts(self.claim, table, text, quoted, elsewhere, len(before))

    def relation(self, language: str) -> Relation | None:
        """Return what the quotes in prose say of the two things that a claim compares."""
        sentences = [text for span in self._in_prose for text in span.sentences]
        return relation_in(self.claim, sentences, self.question, language) if sentences else None

    @cached_property
    def _in_prose(self) -> list[EvidenceSpan]:
        return [span for span in self.spans if not _is_in_table(span)]


def tells_only(
    claim: str,
    texts: Sequence[str],
    language: str,
    *,
    is_calculated: bool = False,
    besides: frozenset[str] = frozenset(),
) -> bool:
    """Return whether a claim adds nothing to texts and its own numbers but one word, and such that tell figures.

    A claim that negates, limits or hedges adds something; words `besides` add nothing, either.
    """
    if any(clause.kinds for clause in clauses_of(claim, language)) or count_negations(tokens_of(claim)):
        return False
    limits = [] if is_calculated else _LIMITS.findall(_AT_MOST.sub("up to", claim.lower()))
    if any(limit not in _AT_MOST.sub("up to", " ".join(texts).lower()) for limit in limits):
        return False
    known = frozenset().union(_OF_FIGURES, *(stems_of(text, language) for text in texts))
    known |= with_synonyms(stems_of(claim, language), known, language)
    folded = fold(claim)
    skipped = [*spans_of_periods(folded), *((fact.start, fact.end) for fact in facts_in(claim))]
    last = max((fact.start for fact in facts_in(claim) if fact.kind == "number"), default=0)
    unknown = [
        match
        for match in WORD.finditer(folded)
        if not stems_of(match.group(), language) <= known
        and not any(start <= match.start() < end for start, end in skipped)
        and not _is_of_figure(match.group().lower())
        and match.group().lower() not in besides
    ]
    if any((match.start() and match.group()[0].isupper()) or match.start() > last for match in unknown):
        return False  # a name, or more behind the figure
    others = [match for match in unknown if match.group().lower() not in _TELLING]
    return len(others) <= (MAX_TOLD_OF_CALCULATIONS if is_calculated else 1)


def tells_cells_only(claim: str, texts: Sequence[str], language: str) -> bool:
    """Return whether a claim adds nothing to the texts of the cells whose words, or yes or no, it tells."""
    return tells_only(_ANSWERED.sub(" ", claim), texts, language, besides=_ANSWERING)


def denies_figures(claim: str) -> bool:
    """Return whether a claim denies with a verb what its numbers say; "no more than" and "without VAT" do not."""
    return any(map(is_verb_negation, tokens_of(claim)))


def _is_of_figure(word: str) -> bool:
    """Return whether a word (folded, in lower case) belongs to a number or says in which direction it changed."""
    return is_unit(word) or is_number_word(word) or is_month(word) or direction_of(word) != 0


def _text_of(span: EvidenceSpan) -> str:
    return span.passage.text[span.start : span.end]


def _text_before(passage: Passage, sources: Sequence[Passage]) -> str:
    """Return what is known to stand before a passage: the source that it continues, or the lines above its table."""
    before = next((each for each in sources if each.char_start < passage.char_start <= each.char_end + 2), None)
    if before is None:
        return passage.above
    text = before.above + before.text[: passage.char_start - before.char_start]
    is_row = SEPARATOR in text.rstrip().rsplit("\n", 1)[-1]
    return text.rstrip() + ("\n" if is_row else "\n\n")


def _is_in_table(span: EvidenceSpan) -> bool:
    text = span.passage.text
    quoted = text[span.start : span.end]
    if SEPARATOR not in quoted and len(quoted.split()) >= MIN_PROSE_WORDS:
        return False  # sentences in a cell
    return SEPARATOR in text and any(table.start < span.end and span.start < table.end for table in tables_in(text))


def operands_in(text: str) -> list[Operand]:
    """Return the numbers of a quoted text, in order."""
    stated: list[Operand] = []
    ends: list[int] = []
    for fact in sorted(facts_in(text), key=attrgetter("start")):
        if fact.kind in _CALCULATED and not _ADJECTIVE.match(text, fact.end):
            between = filter(None, (each.match(text, fact.end) for each in _BEFORE_UNIT))
            unit = next(filter(None, (UNIT_AT.match(text, each.end()) for each in between)), None)
            name = unit_name(unit.group()) if unit and not fact.unit else fact.unit
            end = unit.end() if unit else fact.end
            if stated and stated[-1].unit in {"", name} and _OF.fullmatch(text, ends[-1], fact.start):
                stated[-1] = replace(stated[-1], unit=name, is_part=True)  # "20 of the 28 people"
            change = _CHANGED_BY.search(text, max(0, fact.start - BEFORE_CHARACTERS), fact.start)
            written = text[fact.start : end].rstrip(" .,;")
            stated.append(
                Operand(min(fact.values), written, name, text, change=direction_of(change[1]) if change else 0)
            )
            ends.append(end)
    days = _days_of_parts(text)
    return [replace(each, order=days.get(each.text, ())) for each in stated] if days else stated


def _days_of_parts(text: str) -> dict[str, tuple[int, ...]]:
    """Return the day of each number of a text whose part names one: "2.9 metres on 30 December 2023 and …"."""
    days: dict[str, tuple[int, ...]] = {}
    for part in parts_of(text, "en"):
        dates = [fact.date for fact in part.facts if fact.date is not None]
        numbers = [fact for fact in part.facts if fact.kind in _CALCULATED]
        if len(dates) == len(numbers) == 1 and dates[0].year and dates[0].month and dates[0].day:
            days[numbers[0].text.rstrip(" .,;")] = (dates[0].year, dates[0].month, dates[0].day)
    return days
