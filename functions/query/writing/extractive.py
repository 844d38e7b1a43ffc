"""The extractive answer, without a model: the statement of the passages that answers best, with what belongs to it."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.evidence import is_foreign_in
from functions.query.grounding.sanitizing import without_markers
from functions.query.grounding.table_cells import with_ticked_only
from functions.query.grounding.tables import row_text
from functions.query.grounding.words import content_stems, has_digit, is_stop_word
from functions.query.retrieval.passages import Passage, last_title
from functions.query.second_look import NearStatement
from functions.query.understanding.question import of_any_language, patterns_of
from functions.query.writing.abbreviated import Abbreviated
from functions.query.writing.asked import Asked, Kind, is_short_for_more
from functions.query.writing.cells import asked_row_text
from functions.query.writing.compared_rows import extreme_rows_first, rows_alike, with_compared_first, without_totals
from functions.query.writing.doubts import is_doubtful
from functions.query.writing.list_items import follows_in_list, is_item, on_lines, without_bullet
from functions.query.writing.named_items import ItemsTold
from functions.query.writing.needed import gives_order
from functions.query.writing.outcomes import MAX_AHEAD, asks_outcome, is_open, leaves_open, outcome_after
from functions.query.writing.row_doubts import ToldSpan, are_named
from functions.query.writing.row_scores import share_asked
from functions.query.writing.selected_rows import SelectedRow, selected_rows
from functions.query.writing.statement_scores import (
    Candidate,
    PassageSpan,
    asked_of,
    is_field_asked,
    ranking,
)
from functions.query.writing.statements import Statement, statements_in
from functions.query.writing.table_units import with_unit
from functions.query.writing.told_headings import heading_to_tell, is_headed
from functions.query.writing.whole_tables import MAX_GAP
from shared import lexical
from shared.language import language_of
from shared.text import SEPARATOR, begins_with_title, is_heading

MAX_BLOCKS = 4
"""Maximum statements that are told, with what belongs to each."""
MIN_SHARE = 0.4
"""Minimum score of a further block's statement, as a share of the best one's."""
STRONG = 0.4
"""Minimum score of the next sentence to be told with a statement, as a share of the best one's."""
MAX_GATHERED = 5
"""The same for a question that adds up, compares or lists."""
MAX_GATHERED_SHORT = 6
"""The same where the last are rows or items."""
GATHERED_SHARE = 0.1
"""Minimum score of its further blocks' statements, as a share of the best one's, until enough is said."""
TIE = 0.9
"""The same where enough is said already."""
GAIN = 0.1
"""Minimum share of the question's words, by weight, that a further statement adds; one that adds less must be a tie."""
ENOUGH = 0.75
"""Share of the question's words, by weight, from which on what is shown says enough."""
GATHERED_ENOUGH = 0.9
"""The same for a question that adds up, compares or lists."""
LITTLE = 0.5
"""The same below which the best statement is shown with what stands around it."""
WINDOW_CHARACTERS = 500
"""Maximum characters of that."""
MAX_ALIKE = 30
"""Maximum rows that are told because they tie, or share the cell that a question names; the answer says of how many."""
MAX_SECTION_CHARACTERS = 1_000
"""Maximum characters of a section that is told whole, because it says how to do what is asked."""
MAX_BLOCK_CHARACTERS = 600
"""Maximum characters of a sentence together with the next or the one before."""

_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*")
_POINTERS = patterns_of("pointing_patterns.txt")
_POINTS_BACK = re.compile(rf"(?:{'|'.join(_POINTERS['begins'].values())})\b", re.IGNORECASE)
"""The beginning of a sentence that cannot be understood without the one before."""
_TERM_ABOVE = re.compile(r"\A(-{0,2}[^\W\d][^\n.:;,!?|]{0,79}(?<=[\w)\"”]))\n(?=[^\Wa-z_][^\n]*[.!?]\Z)")
"""A term in the line above the sentence that says what it is: "Lending period", and below it "Four weeks."."""
_STANDS_FOR = of_any_language(_POINTERS["stands_for"])
"""The beginning of one that does not say who or which it is: "It is the most durable choice."."""


class Extract(NamedTuple):
    """An answer's claims; `rows` counts those of a table that are its list, if that is what it is.

    `is_open`: it only tells what was put forward or planned where it is asked whether something has come about.
    `selected`: they meet the question's condition, in which every word of it is accounted for; or none does, and they
    come nearest (`none_meets`). `may_be_others`: they are rows, perhaps others than those that are asked for.
    """

    claims: Sequence[Claim]
    rows: int = 0
    is_open: bool = False
    selected: bool = False
    none_meets: bool = False
    may_be_others: bool = False


def extract(question: str, passages: Sequence[Passage], *, before: str = "", inherited: str = "") -> Extract:
    """Return the answer as claims in the order to be shown; each quotes what it is made from.

    `inherited` are the words at its end that it takes over from the question `before`, if it replaces a word of that.

    A claim is a sentence or a list, verbatim, or a table's row as "column: value". One that stands beside the answer is
    `further`.
    """
    asked = asked_of(question, passages, before=before, inherited=inherited)
    if selected := selected_rows(asked.text, passages):
        claims = [_claim_of(each, passages) for each in selected[:MAX_ALIKE]]
        none_meets = any(each.is_nearest for each in selected)
        return Extract(claims, len(selected), selected=True, none_meets=none_meets)
    blocks, rows, is_compared = _blocks(asked, passages)
    told = [_told_in(block, passages) for block in blocks if not block.further]
    is_open = (
        asks_outcome(asked.text) and bool(told) and leaves_open([text for each in told for text in each], asked.text)
    )
    spans = [ToldSpan(passages[at], *place) for each in blocks if not each.further for at, *place in each.spans]
    doubtful = is_doubtful(asked, spans, passages, is_compared=is_compared)
    return Extract(_claims(asked, blocks, passages), rows, is_open, may_be_others=doubtful)


def _told_in(block: "_Group", passages: Sequence[Passage]) -> Sequence[tuple[str, str]]:
    """Return the texts of a group's spans with their language; a row is told in none, because it says what is so."""
    texts = ((passages[at].text[start:end], passages[at].language or "en") for at, start, end in block.spans)
    return [(text, "" if SEPARATOR in text else language) for text, language in texts]


def _claim_of(selected: SelectedRow, passages: Sequence[Passage]) -> Claim:
    at, start, end = selected.span
    reference = Reference(at + 1, passages[at].text[start:end])
    return Claim(without_markers(selected.text), (reference,), "\n")


def near_claims(question: str, passages: Sequence[Passage], near: Sequence[NearStatement]) -> Sequence[Claim]:
    """Return statements that are near the question as claims: the first with what belongs to it, the others beside it.

    Of another document than the first one's none is told.
    """
    number_of = {passage.chunk_id: at for at, passage in enumerate(passages)}
    asked = asked_of(question, passages)
    said = _Said(asked.text, {}, Abbreviated(asked, passages))
    blocks: list[_Group] = []
    for each in near:
        at = number_of.get(each.passage.chunk_id)
        if at is None or each.passage.document_id != near[0].passage.document_id:
            continue
        statement = statements_in(passages[at])[each.number]
        if not said.repeats(statement):
            candidate = Candidate(at, each.number, statement, each.similarity)
            blocks.append(_Group(_block(asked, candidate, passages, said, None), further=bool(blocks)))
    return _claims(asked, blocks, passages)


def _claims(asked: Asked, blocks: Sequence["_Group"], passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the groups of spans as claims that quote them, each once."""
    claims: dict[str, Claim] = {}
    for block in blocks:
        (at, start, _), (_, _, end) = block.spans[0], block.spans[-1]
        shown = (_shown(passages[at], each.start, each.end, asked) for each in block.spans)
        text = without_markers("".join(shown).rstrip())
        reference = Reference(at + 1, passages[at].text[start:end])
        lead = "\n\n" if "\n\n" in text else "\n"  # a heading stands apart from what precedes it, too
        claims.setdefault(text, Claim(text, (reference,), lead, further=block.further))
    if len(claims) == 1 and "\n" not in (text := next(iter(claims))):
        return [replace(claims[text], text=without_bullet(text))]
    return list(claims.values())


def _shown(passage: Passage, start: int, end: int, asked: Asked) -> str:
    """Return a span on one line, with each list item on its own line and the values of a row with their columns.

    A term above what is said of it ends in a colon.
    Of figures only the columns that are asked for are told. A heading stands apart from what it is above. A space
    follows a sentence; anything else, as an item, ends its line.
    """
    quote = passage.text[start:end]
    if SEPARATOR in quote and "\n" not in quote:
        return with_ticked_only(_shown_row(passage, start, end, asked))
    term = _TERM_ABOVE.match(quote)
    if term and is_heading(term[1]) and not is_stop_word(term[1].rpartition(" ")[2].lower()):
        quote = f"{term[1]}: {quote[term.end() :]}"
    shown = on_lines(with_ticked_only(quote))
    is_sentence = quote[-1:] in ".!?…:;" and not is_item(quote)
    is_above = is_heading(quote) and (": " not in quote or passage.text[end : end + 2] == "\n\n")
    return shown + ("\n\n" if is_above else " " if is_sentence else "\n")


def _shown_row(passage: Passage, start: int, end: int, asked: Asked) -> str:
    """Return a table's row with the values' columns, of figures only those that are asked for."""
    language = passage.language or "en"
    wanted = frozenset(content_stems(asked.text, language))
    verdict = asked.kind is Kind.YES_NO
    text, start, end = passage.whole, start + len(passage.above), end + len(passage.above)
    if asked.compares_years:
        return with_unit(row_text(text, start, end), text, start)
    told = asked_row_text(
        text,
        start,
        end,
        wanted,
        asked.years,
        language,
        verdict=verdict,
        extreme=asked.extreme_of_row,
        measured=content_stems(asked.measured, language) if asked.extreme else (),
    )
    return with_unit(told or row_text(text, start, end), text, start)


def told_whole(claim: Claim, passages: Sequence[Passage]) -> Claim:
    """Return a claim that tells some cells of a row with all of them; any other claim as it is."""
    reference = claim.references[0]
    passage = passages[reference.source - 1]
    start = passage.whole.find(reference.quote)
    if SEPARATOR not in reference.quote or "\n" in reference.quote or start < 0:
        return claim
    return replace(claim, text=without_markers(row_text(passage.whole, start, start + len(reference.quote)).rstrip()))


class _Group(NamedTuple):
    """Spans of one passage that belong together; `further` if they stand beside what answers."""

    spans: Sequence[PassageSpan]
    further: bool = False


class _Blocks(NamedTuple):
    """Groups of spans; the number of rows that are a list, also of those that are too many.

    `is_compared`: the rows are those that have the most, or the least.
    """

    groups: Sequence[_Group]
    rows: int = 0
    is_compared: bool = False


def _blocks(asked: Asked, passages: Sequence[Passage]) -> _Blocks:
    """Choose the best statement with what belongs to it, and further ones of its document until enough is said.

    Or else rows that are a list. If none has a word of the question, none is chosen, unless the words cannot be
    compared: then the best passage's first one.
    """
    ranked, weights = ranking(asked, passages)
    if not ranked:
        return _Blocks(())
    best = ranked[0]
    if not best.score:
        alone = [one for one in ranked if not _would_share_words(asked.text, passages[one.passage])]
        return _Blocks([_Group([one.span]) for one in alone[:1]])
    said = _Said(asked.text, weights, Abbreviated(asked, passages))
    if asked.extreme:
        ranked = with_compared_first(asked, without_totals(asked, ranked) or ranked, passages)
    extreme = extreme_rows_first(asked, ranked, passages)
    if len(extreme) > 1:
        return _Blocks([_Group([each.span]) for each in extreme[:MAX_ALIKE]], is_compared=True)
    ranked, at_most = ([*extreme, *ranked], 1) if extreme else (ranked, MAX_GATHERED_SHORT)
    best = ranked[0]
    if alike := rows_alike(asked, ranked, passages):
        return _Blocks([_Group([each.span]) for each in alike[:MAX_ALIKE]], len(alike))
    has_figure = not asked.for_name and share_asked(asked, passages[best.passage], best.statement) > 0
    strong = {(each.passage, each.number) for each in ranked if each.score >= STRONG * best.score}
    is_list = best.statement.has_items or best.statement.list_span is not None
    # What one statement cannot say whole: items from several places, figures to work with.
    has_many = (asked.kind is Kind.LIST and not is_list) or (has_figure and asked.computes)
    # "What is the difference between Elm and Oak?" is about two rows.
    rows = [each.span for each in ranked if each.statement.is_row] if asked.gathers and best.statement.is_row else []
    named = [each for each in rows if are_named(asked.text, [ToldSpan(passages[each.passage], each.start, each.end)])]
    blocks: list[_Group] = []
    gathers = asked.gathers and not asked.is_counted_in(best.statement.text)
    for each in ranked:
        # A row that says enough answers by itself.
        gathers = gathers and said.share < (ENOUGH if best.statement.is_row else GATHERED_ENOUGH)
        statement = each.statement
        # Rows and items are short, and list what is compared; of sentences more than a few are not read.
        is_short = statement.is_row or statement.list_span is not None
        most = (MAX_GATHERED_SHORT if is_short else MAX_GATHERED) if gathers else MAX_BLOCKS
        least = GATHERED_SHARE if gathers and not (said.enough or asked.only_counts) else MIN_SHARE
        if len(blocks) >= at_most or (blocks and each.score < least * best.score):
            break
        if len(blocks) >= most:
            continue
        is_elsewhere = passages[each.passage].document_id != passages[best.passage].document_id
        if is_elsewhere or said.repeats(statement) or (blocks and statement.is_question):
            continue
        if has_figure and blocks and not (statement.is_row and asked.computes):
            continue
        is_tie = each.score >= TIE * best.score
        if not blocks or gathers or is_tie or (not said.enough and said.gain(statement) >= GAIN):
            # A list of rows goes on with rows.
            is_of_rows = statement.is_row and best.statement.is_row
            is_more = is_of_rows if best.statement.is_row and asked.for_several else has_many
            further = bool(blocks) and (said.enough if gathers else not is_more)
            if len(named) > 1 and statement.is_row:
                further = bool(blocks) and each.span not in named
            # From a second place a sentence is told alone: the next one is seldom about the question, too.
            is_alone = bool(blocks) and gathers and not statement.is_question
            spans = _block(asked, each, passages, said, None if is_alone else strong)
            blocks.append(_Group(spans, further))
            rest = _rest_of_list(spans[-1], passages)
            blocks += [_Group([rest], further)] if rest else []
    return _Blocks(blocks, is_compared=bool(extreme))


class _Said:
    """What an answer says so far, and the share of the question's words in it."""

    def __init__(self, question: str, weights: Mapping[str, float], abbreviated: Abbreviated) -> None:
        self._question = question
        self._weights = weights
        self._abbreviated = abbreviated
        self._stems: set[str] = set()
        self._texts: list[str] = []
        self._headings: set[str] = set()
        self._language = "en"
        self.share = 0.0
        """The share of the question's words, by their rarity, that is said."""

    def add(self, statement: Statement) -> None:
        """Say a statement."""
        self._language = statement.language
        self._stems.update(statement.stems, statement.context_stems, self._abbreviated.said_in(statement))
        self._texts.append(_words_of(statement.text))
        self.share = self.share_with("")

    def add_title(self, title: str) -> None:
        """Count the words of a section's title as said: what is told is all of that section."""
        self._stems.update(content_stems(title, self._language))
        self.share = self.share_with("")

    def share_with(self, title: str) -> float:
        """Return the share of the question's words that is said, or stands in the title of the document cited."""
        table = lexical.background(self._language)
        rarity = {stem: table.get(stem, lexical.MAX_RARITY) for stem in self._wanted}
        said = self._stems.union(content_stems(title, self._language))
        return sum(worth for stem, worth in rarity.items() if stem in said) / (sum(rarity.values()) or 1.0)

    def repeats(self, statement: Statement) -> bool:
        """Return whether it is said already: another table's row with one more column, a sentence with its number."""
        words = _words_of(statement.text)
        return any(f" {words} " in f" {other} " or f" {other} " in f" {words} " for other in self._texts)

    def is_first_told(self, heading: str) -> bool:
        """Return whether a heading is told for the first time, and remember it."""
        is_first = heading not in self._headings
        self._headings.add(heading)
        return is_first

    def adds(self, statement: Statement) -> bool:
        """Return whether a statement has a word of the question that is not said yet."""
        return not self._wanted.isdisjoint(frozenset(statement.stems) - self._stems)

    def asks_for(self, statement: Statement) -> bool:
        """Return whether a statement has a word of the question."""
        return not self._wanted.isdisjoint(statement.stems)

    def gain(self, statement: Statement) -> float:
        """Return the share, by weight, of the question's words that a statement would add to what is said."""
        added = statement.context_stems.union(statement.stems) - self._stems
        return sum(self._weights.get(stem, 0.0) for stem in added) / (sum(self._weights.values()) or 1.0)

    @property
    def enough(self) -> bool:
        """Whether what is said says enough."""
        return self.share >= ENOUGH

    @property
    def _wanted(self) -> frozenset[str]:
        return frozenset(content_stems(self._question, self._language))


def _words_of(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _block(
    asked: Asked, best: Candidate, passages: Sequence[Passage], said: _Said, strong: Set[tuple[int, int]] | None
) -> Sequence[PassageSpan]:
    """Say a statement with what belongs to it: its whole list, the sentence it points back to, the next sentence.

    `strong` are the statements that may be told with the one before; None tells no more than what it needs.
    """
    statement, at = best.statement, best.passage
    is_first = not said.share
    said.add(statement)
    passage = passages[at]
    if strong is not None and is_first and asked.for_way and (steps := _steps_of_section(asked, best, passages)):
        for each in steps:
            said.add(each)
        said.add_title(last_title(passage.section_at(passage.char_start + statement.start)))
        return [PassageSpan(at, each.start, each.end) for each in steps]
    if statement.list_span and (asked.kind in {Kind.STEPS, Kind.LIST} or _is_headed_list(asked, statement, passage)):
        return [PassageSpan(at, *statement.list_span)]
    if is_field_asked(frozenset(content_stems(asked.text, statement.language)), statement):
        return [best.span]
    of_passage = statements_in(passage)
    block, items = [statement], ItemsTold.of(asked.text, passages)

    def is_evidence(each: Statement) -> bool:
        if items.is_of_another(passage, each):
            return False
        return not is_foreign_in(passage, each.text, each.start, each.end, passages, asked.text)

    def may_add(one: Statement, other: Statement, added: Statement) -> bool:
        return not said.repeats(added) and _continues(passage.text, one, other) and is_evidence(added)

    before = of_passage[best.number - 1] if best.number else None
    names_it = is_first and (_STANDS_FOR.match(statement.text) is not None or asked.points_to_thing(statement.text))
    points_back = _POINTS_BACK.match(statement.text) is not None
    if before and points_back and may_add(before, statement, before) and (names_it or said.adds(before)):
        block.insert(0, before)
        said.add(before)
    after = of_passage[best.number + 1] if strong is not None and best.number + 1 < len(of_passage) else None
    tells_it = asked.decides(statement.text) or asked.is_counted_in(statement.text)
    says_enough = (
        (said.enough or tells_it)
        and asked.fits(statement.text)
        and not (is_first and asked.names_nobody(statement.text))
    )
    is_verdict = asked.kind is Kind.YES_NO
    is_strong = (at, best.number + 1) in (strong or ()) and not is_verdict
    # "Smoking is not allowed in the flat. It is allowed in the garden."
    goes_on = after is not None and (
        is_short_for_more(after.text)
        or (is_verdict and asked.decides(after.text) and _STANDS_FOR.match(after.text) is not None)
    )
    if (
        after
        # A list with an introduction of its own tells something else than the list before.
        and not (statement.has_items and after.has_items)
        and ((is_strong and not after.has_items) or said.adds(after) or not says_enough or goes_on)
        and may_add(statement, after, after)
    ):
        block.append(after)
        said.add(after)
    # A number or a time that is asked for is enough by itself: the window is the statement.
    is_little = said.share < LITTLE and (asked.is_met(statement.text) or said.share_with(passage.title) < LITTLE)
    is_of_list = statement.list_span is not None and not said.asks_for(statement)
    if strong is not None and is_first and is_little and not tells_it and is_of_list and statement.list_span:
        return [PassageSpan(at, *statement.list_span)]
    if strong is not None and is_first and is_little and not tells_it:
        block = _window(asked, passage.text, of_passage, best.number, is_evidence)
        for each in block:
            said.add(each)
    if strong is not None:
        number = of_passage.index(block[-1])
        for each in _outcome(asked, passage, of_passage[best.number :]):
            if each not in block and of_passage.index(each) == number + 1 and is_evidence(each):
                block.append(each)
                said.add(each)
                number += 1
    spans = [PassageSpan(at, each.start, each.end) for each in block]
    heading = heading_to_tell(asked, passage, block[0])
    if heading and said.is_first_told(passage.text[slice(*heading)]):
        return [PassageSpan(at, *heading), *spans]
    return spans


def _is_headed_list(asked: Asked, statement: Statement, passage: Passage) -> bool:
    """Return whether several things are asked for, and the title of a statement's section says so: "Image types"."""
    section = passage.section_at(passage.char_start + statement.start)
    return asked.for_several and is_headed(asked, passage, section, statement.language)


def _steps_of_section(asked: Asked, best: Candidate, passages: Sequence[Passage]) -> Sequence[Statement]:
    """Return the sentences of a statement's section, in order, if its title says what is asked how to do.

    None are told if it is long, has a table, or goes on in another passage; nor if it does not mostly say what to do,
    unless its title is the question, as in a FAQ.
    """
    passage, language = passages[best.passage], best.statement.language
    section = passage.section_at(passage.char_start + best.statement.start)
    if asked.for_denied or not is_headed(asked, passage, section, language):
        return ()
    holders = [each for each in passages if any(one.path == section for one in each.sections)]
    begins = any(one.path == section and one.char_start >= passage.char_start for one in passage.sections)
    told = [
        each
        for each in statements_in(passage)
        if passage.section_at(passage.char_start + each.start) == section and not _is_title_of(each, section)
    ]
    orders = sum(gives_order(each.text, language) or is_item(each.text) or each.has_items for each in told)
    says_how = 2 * orders >= len(told) or is_headed(asked, passage, section, language, wholly=True)
    is_told = begins and holders == [passage] and bool(told) and says_how
    is_short = is_told and told[-1].end - told[0].start <= MAX_SECTION_CHARACTERS
    return told if is_short and not any(each.is_row or each.is_garbled for each in told) else ()


def _is_title_of(statement: Statement, section: str) -> bool:
    words = [stem for stem in content_stems(statement.text, statement.language) if not has_digit(stem)]
    return set(content_stems(last_title(section), statement.language)).issuperset(words)


def _outcome(asked: Asked, passage: Passage, statements: Sequence[Statement]) -> Sequence[Statement]:
    """Return the statements that tell what came of the first one, if that is asked."""
    first, *after = statements[: MAX_AHEAD + 1]
    if first.is_row or not asks_outcome(asked.text) or not is_open(first.text, first.language, asked.text):
        return ()
    section = passage.section_at(passage.char_start + first.start)
    near = list(
        takewhile(
            lambda each: not each.is_row and passage.section_at(passage.char_start + each.start) == section, after
        )
    )
    return near[: outcome_after([first.text, *(each.text for each in near)], asked.text, first.language)]


def _rest_of_list(told: PassageSpan, passages: Sequence[Passage]) -> PassageSpan | None:
    """Return the items with which the passage after a list's begins, if the list ends with its passage."""
    passage = passages[told.passage]
    last_line = passage.text[told.start : told.end].rpartition("\n")[2]
    if passage.text[told.end :].strip():
        return None
    end = passage.char_start + len(passage.text)
    for at, other in enumerate(passages):
        if other.document_id == passage.document_id and 0 <= other.char_start - end <= MAX_GAP:
            first = next(iter(statements_in(other)), None)
            if first is None or first.list_span is None or other.text[: first.list_span[0]].strip():
                return None
            if follows_in_list(last_line.lstrip(), first.text):
                return PassageSpan(at, *first.list_span)
    return None


def _window(
    asked: Asked, text: str, statements: Sequence[Statement], number: int, is_evidence: Callable[[Statement], bool]
) -> list[Statement]:
    """Return a statement with those directly after and before it, in turn, a table's row alone.

    Where a number or a time is asked for, there is enough with the first one. A question, as in a FAQ, begins another
    matter.
    """

    def may_be(first: int, last: int, *, after: bool) -> bool:
        if first < 0 or last == len(statements):
            return False
        added, gap = (statements[last], last - 1) if after else (statements[first], first)
        return (
            statements[last].end - statements[first].start <= WINDOW_CHARACTERS
            and not text[statements[gap].end : statements[gap + 1].start].strip()
            and not (added.is_row or statements[number].is_row)
            and not (added.is_garbled or added.is_contents_entry)
            and not (added if after else statements[first]).is_question
            and (after or not added.is_short_lines)
            and is_evidence(added)
        )

    first = last = number
    grows = True
    while grows and not asked.is_met(text[statements[first].start : statements[last].end]):
        after = may_be(first, last + 1, after=True)
        last += after
        before = may_be(first - 1, last, after=False)
        first -= before
        grows = after or before
    return list(statements[first : last + 1])


def _continues(text: str, one: Statement, other: Statement) -> bool:
    """Return whether a statement follows another directly and is a sentence like it."""
    return (
        not text[one.end : other.start].strip()
        and other.end - one.start <= MAX_BLOCK_CHARACTERS
        and not any(each.is_row or each.is_question or each.is_garbled or each.is_cut for each in (one, other))
        and not is_item(other.text)
        and not begins_with_title(other.text)
    )


def _would_share_words(question: str, passage: Passage) -> bool:
    """Say whether an answer in this passage would share words with the question, because both are in one language."""
    language = passage.language or "en"
    known = lexical.background(language).keys()
    stems = frozenset(content_stems(question, language))
    if not known or not stems:
        return False
    question_language = language_of(question)
    return question_language == language if question_language else not known.isdisjoint(stems)
