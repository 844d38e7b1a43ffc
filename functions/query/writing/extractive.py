"""The extractive answer, without a model: the statement of the passages that answers best, with what belongs to it.

A statement's score is BM25 (Robertson and Zaragoza 2009) over the question's words, weighted by their rarity in the
language and among the statements. Words beside it, in its heading and in its section's name count a little. The score
is higher with more of the question's words and its word pairs, and lower in lower-ranked passages and for a statement
that cannot answer: without the number that is asked for, garbled, cut. Measured by `python -m evals extractive`.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.injection import is_injected
from functions.query.grounding.sanitizing import without_markers
from functions.query.grounding.tables import row_text
from functions.query.grounding.words import abbreviations_in, content_stems, spells_out
from functions.query.retrieval.passages import Passage
from functions.query.writing.asked import Asked, Kind, asking_part, has_series, without_scope
from functions.query.writing.cells import asked_row_text, asked_share, extreme_row, with_line_items
from functions.query.writing.statements import (
    Statement,
    follows_in_list,
    is_item,
    on_lines,
    statements_in,
    without_item_sign,
)
from shared import lexical
from shared.language import language_of
from shared.text import SEPARATOR, is_heading

MAX_BLOCKS = 4
MIN_SHARE = 0.4
"""Minimum score of a further block's statement, as a share of the best one's."""
STRONG = 0.4
"""Minimum score of the next sentence to be told with a statement, as a share of the best one's."""
MAX_GATHERED = 6
GATHERED_SHARE = 0.1
"""The same for a question that adds up, compares or lists, until enough is said."""
TIE = 0.9
"""The same where enough is said already."""
GAIN = 0.1
"""Minimum share of the question's words, by weight, that a further statement adds; one that adds less must be a tie."""
ENOUGH = 0.75
"""Share of the question's words, by weight, from which on what is shown says enough."""
LITTLE = 0.5
"""The same below which the best statement is shown with what stands around it."""
WINDOW_CHARACTERS = 500
"""Maximum characters of that."""
COMPARED = 0.5
"""Minimum score of a row to be compared with others, as a share of the best one's."""
MAX_GAP = 4
"""Maximum characters of white space between a passage and the next one of its document."""
MAX_BLOCK_CHARACTERS = 600
"""Maximum characters of a sentence together with the next or the one before."""

_NO_STEMS: frozenset[str] = frozenset()
_CONTENTS = re.compile(r"(?:\A|> )(?:(?:table of )?contents|turinys)\Z", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*")
_POINTS_BACK = re.compile(
    r"(?:it|its|this|these|they|their|them|such|he|she|jis|ji|jie|jos|tai|šis|ši|šie|šios|jo|jų|es|sie|dies\w*|er|"
    r"esto|estos|ello|ellos|il|elle|ils|elles|ce|cela|ces)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that cannot be understood without the one before."""
_SET_APART = re.compile(
    r"(?:notes?|tips?|hint|pastaba|patarimas|hinweis|tipp|nota|consejo|remarque|astuce)\s?:?", re.IGNORECASE
)
"""Words above a text that is set apart: they say nothing about what it tells."""


class PassageSpan(NamedTuple):
    """Characters `start` to `end` of the text of passage number `passage`, counted from 0."""

    passage: int
    start: int
    end: int


class Candidate(NamedTuple):
    """A statement with its passage's number, from 0, its own number in that passage, and its score."""

    passage: int
    number: int
    statement: Statement
    score: float

    @property
    def span(self) -> PassageSpan:
        """Its place."""
        return PassageSpan(self.passage, self.statement.start, self.statement.end)


def extractive_claims(question: str, passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the answer as claims in the order to be shown; each quotes what it is made from.

    A claim is a sentence or a list, verbatim, or a table's row as "column: value". One that stands beside the answer is
    `further`.
    """
    claims: dict[str, Claim] = {}
    asked = _asked_of(question, passages)
    for block in _blocks(asked, passages):
        (at, start, _), (_, _, end) = block.spans[0], block.spans[-1]
        shown = (_shown(passages[at], each.start, each.end, asked) for each in block.spans)
        text = without_markers("".join(shown).rstrip())
        reference = Reference(at + 1, passages[at].text[start:end])
        claims.setdefault(text, Claim(text, (reference,), "\n", further=block.further))
    return list(claims.values())


def _shown(passage: Passage, start: int, end: int, asked: Asked) -> str:
    """Return a span on one line, with each list item on its own line and the values of a row with their columns.

    Of figures only the columns that are asked for are told. A heading stands apart from what it is above. A space
    follows a sentence; anything else, as an item, ends its line.
    """
    quote = passage.text[start:end]
    if SEPARATOR in quote and "\n" not in quote:
        language = passage.language or "en"
        wanted = frozenset(content_stems(asked.text, language))
        verdict = asked.kind is Kind.YES_NO
        text, start, end = passage.whole, start + len(passage.above), end + len(passage.above)
        if asked.compares_years:
            return row_text(text, start, end)
        told = asked_row_text(text, start, end, wanted, asked.years, language, verdict=verdict)
        return told or row_text(text, start, end)
    shown = on_lines(quote)
    is_sentence = quote[-1:] in ".!?…:;" and not is_item(quote)
    return shown + ("\n\n" if is_heading(quote) else " " if is_sentence else "\n")


def chosen_spans(question: str, passages: Sequence[Passage]) -> Sequence[PassageSpan]:
    """Return the spans of the answer, in the order to be shown."""
    return [span for block in _blocks(_asked_of(question, passages), passages) for span in block.spans]


def _asked_of(question: str, passages: Sequence[Passage]) -> Asked:
    """Read a question as it is compared with statements: what it asks, and line items in the statements' words."""
    asked = Asked.of(without_scope(question))
    if not asked.years:
        return asked
    # A definition names the figures that an answer is worked out from; what is stated needs none of them.
    part = asked.text if asked.computes else asking_part(question)
    return replace(asked, text=with_line_items(asked.text, part, [passage.text for passage in passages]))


class _Group(NamedTuple):
    """Spans of one passage that belong together; `further` if they stand beside what answers."""

    spans: Sequence[PassageSpan]
    further: bool = False


def _blocks(asked: Asked, passages: Sequence[Passage]) -> Sequence[_Group]:
    """Choose the best statement with what belongs to it, and further ones of its document until enough is said.

    If none has a word of the question, none is chosen, unless the words cannot be compared: then the best passage's
    first one.
    """
    ranked, weights = _ranking(asked, passages)
    if not ranked:
        return ()
    best = ranked[0]
    if not best.score:
        return [_Group([one.span]) for one in ranked if not _would_share_words(asked.text, passages[one.passage])][:1]
    said = _Said(asked.text, weights, _Abbreviated(asked, passages))
    ranked = _with_extreme_first(asked, ranked, passages)
    best, at_most = ranked[0], 1 if ranked[0] is not best else MAX_GATHERED
    has_figure = not asked.for_name and _share_asked(asked, passages[best.passage], best.statement) > 0
    strong = {(each.passage, each.number) for each in ranked if each.score >= STRONG * best.score}
    is_list = best.statement.has_items or best.statement.list_span is not None
    # What one statement cannot say whole: items from several places, figures to work with.
    has_many = (asked.kind is Kind.LIST and not is_list) or (has_figure and asked.computes)
    blocks: list[_Group] = []
    gathers = asked.gathers and not asked.is_counted_in(best.statement.text)
    for each in ranked:
        gathers = gathers and not said.enough
        most, least = (MAX_GATHERED, GATHERED_SHARE) if gathers else (MAX_BLOCKS, MIN_SHARE)
        if len(blocks) >= min(most, at_most) or (blocks and each.score < least * best.score):
            break
        statement = each.statement
        is_elsewhere = passages[each.passage].document_id != passages[best.passage].document_id
        if is_elsewhere or said.repeats(statement):
            continue
        if has_figure and blocks and not (statement.is_row and asked.computes):
            continue
        is_tie = each.score >= TIE * best.score
        if not blocks or gathers or is_tie or (not said.enough and said.gain(statement) >= GAIN):
            further = bool(blocks) and not (gathers or has_many)
            spans = _block(asked, each, passages, said, strong)
            blocks.append(_Group(spans, further))
            rest = _rest_of_list(spans[-1], passages)
            blocks += [_Group([rest], further)] if rest else []
    return blocks


def _with_extreme_first(asked: Asked, ranked: Sequence[Candidate], passages: Sequence[Passage]) -> Sequence[Candidate]:
    """Return the statements with that row first which has the most, or least, if the best ones are rows to compare."""
    best = ranked[0]
    if not (asked.extreme and best.statement.is_row):
        return ranked
    rows = {
        each.statement.start: each
        for each in ranked
        if each.passage == best.passage and each.statement.is_row and each.score >= COMPARED * best.score
    }
    passage, language = passages[best.passage], best.statement.language
    wanted = frozenset(content_stems(asked.text, language))
    shift = len(passage.above)
    starts = [shift + start for start in dict.fromkeys((best.statement.start, *rows))]
    found = extreme_row(passage.whole, starts, wanted, asked.years, language, asked.extreme)
    if found is None:
        return ranked
    chosen = found - shift
    return [rows[chosen]._replace(score=best.score), *(each for each in ranked if each is not rows[chosen])]


class _Said:
    """What an answer says so far, and the share of the question's words in it."""

    def __init__(self, question: str, weights: Mapping[str, float], abbreviated: "_Abbreviated") -> None:
        self._question = question
        self._weights = weights
        self._abbreviated = abbreviated
        self._stems: set[str] = set()
        self._texts: list[str] = []
        self._language = "en"
        self.share = 0.0
        """The share of the question's words, by their rarity, that is said."""

    def add(self, statement: Statement) -> None:
        """Say a statement."""
        self._language = statement.language
        self._stems.update(statement.stems, statement.context_stems, self._abbreviated.said_in(statement))
        self._texts.append(_words_of(statement.text))
        table = lexical.background(self._language)
        rarity = {stem: table.get(stem, lexical.MAX_RARITY) for stem in self._wanted}
        held = sum(worth for stem, worth in rarity.items() if stem in self._stems)
        self.share = held / (sum(rarity.values()) or 1.0)

    def repeats(self, statement: Statement) -> bool:
        """Return whether it is said already: another table's row with one more column, a sentence with its number."""
        words = _words_of(statement.text)
        return any(f" {words} " in f" {other} " or f" {other} " in f" {words} " for other in self._texts)

    def adds(self, statement: Statement) -> bool:
        """Return whether a statement has a word of the question that is not said yet."""
        return not self._wanted.isdisjoint(frozenset(statement.stems) - self._stems)

    def gain(self, statement: Statement) -> float:
        """Return the share, by weight, of the question's words that a statement would add to what is said."""
        added = statement.context_stems.union(statement.stems) - self._stems
        return sum(self._weights.get(stem, 0.0) for stem in added) / (sum(self._weights.values()) or 1.0)

    def is_news(self, text: str) -> bool:
        """Return whether a text has a content word that the question has not."""
        return not self._wanted.issuperset(content_stems(text, self._language))

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
    asked: Asked, best: Candidate, passages: Sequence[Passage], said: _Said, strong: Set[tuple[int, int]]
) -> Sequence[PassageSpan]:
    """Say a statement with what belongs to it: its whole list, the sentence it points back to, the next sentence."""
    statement, at = best.statement, best.passage
    is_first = not said.share
    said.add(statement)
    if statement.list_span and asked.kind in {Kind.STEPS, Kind.LIST}:
        return [PassageSpan(at, *statement.list_span)]
    passage = passages[at]
    of_passage = statements_in(passage)
    block = [statement]

    def may_add(one: Statement, other: Statement, added: Statement) -> bool:
        return not said.repeats(added) and _continues(passage.text, one, other)

    before = of_passage[best.number - 1] if best.number else None
    if before and _POINTS_BACK.match(statement.text) and may_add(before, statement, before) and said.adds(before):
        block.insert(0, before)
        said.add(before)
    after = of_passage[best.number + 1] if best.number + 1 < len(of_passage) else None
    says_enough = said.enough and asked.fits(statement.text)
    is_strong = (at, best.number + 1) in strong and asked.kind is not Kind.YES_NO
    if (
        after
        # A list with an introduction of its own tells something else than the list before.
        and not (statement.has_items and after.has_items)
        and ((is_strong and not after.has_items) or said.adds(after) or not says_enough)
        and may_add(statement, after, after)
    ):
        block.append(after)
        said.add(after)
    if is_first and said.share < LITTLE:
        block = _window(asked, passage.text, of_passage, best.number)
        for each in block:
            said.add(each)
    spans = [PassageSpan(at, each.start, each.end) for each in block]
    heading = block[0].heading
    return [PassageSpan(at, *heading), *spans] if heading and _names(passage, heading, said) else spans


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


def _window(asked: Asked, text: str, statements: Sequence[Statement], number: int) -> list[Statement]:
    """Return a statement with those directly after and before it, in turn, a table's row alone.

    Where a number or a time is asked for, there is enough with the first one.
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
            and (after or not added.is_short_lines)
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


def _names(passage: Passage, heading: tuple[int, int], said: _Said) -> bool:
    """Return whether a heading names what the text below it tells, as a term does, rather than a section."""
    text = passage.text[slice(*heading)]
    return (
        text[:1].isalnum()
        and not text[:1].isdigit()
        and not _SET_APART.fullmatch(text)
        and text.casefold() not in passage.section_at(passage.char_start + heading[0]).casefold()
        and said.is_news(text)
        and not is_injected(passage.text, *heading)
    )


def _continues(text: str, one: Statement, other: Statement) -> bool:
    """Return whether a statement follows another directly and is a sentence like it."""
    return (
        not text[one.end : other.start].strip()
        and other.end - one.start <= MAX_BLOCK_CHARACTERS
        and not any(each.is_row or each.is_question or each.is_garbled or each.is_cut for each in (one, other))
        and not is_item(other.text)
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


# --- The score of a statement ---

K1 = 0.8
B = 0.3
MAX_LENGTH = 2.0
"""Length from which on a statement is not longer for BM25, in mean lengths: a list of steps is long."""
PAIRS = 0.4
"""Bonus for two of the question's words in a row, as a share of their mean weight."""
CONTEXT = 0.4
"""Occurrences that a word in a statement's context (its table's header, its heading) counts for."""
SECTION = 0.4
"""Occurrences that a word in the name of its section counts for."""
NEAR = 0.3
"""Occurrences that a word in the statement before or after counts for."""
FURTHER_DOWN = 0.3
"""Penalty for each rank of the sentence's passage below the first."""
QUESTION = 0.2
"""Factor for a question: a question seldom answers one."""
AFTER_QUESTION = 0.6
"""Minimum score of a sentence after a question, as a share of the question's."""
CONTENTS_ENTRY = 0.3
"""Factor for an entry of a table of contents."""
ASKED_CONTENTS_ENTRY = 4.0
"""Factor for one where a page is asked for."""
NOT_THE_KIND = 0.4
"""Factor where what is asked for, as a number, is not in the statement."""
QUOTED = 1.5
"""Factor where the statement, or its section's name, holds what the question puts in quotes."""
YES_OR_NO = 1.3
"""Factor for a row that says yes or no where that is asked."""
ASKED_FIGURE = 3.0
"""Factor for the row of whose label most is asked for, with a figure of the year that is asked for; nearer to 1 for
those of whose label less is: "iPhone" comes before "Total net sales" where the iPhone's net sales are asked for."""
REASON = 1.6
"""Factor for a statement with a reason where it is asked why."""
DONE_BY = 1.5
"""Factor for a statement that says by whom something is done where it is asked who does."""
TOO_LATE = 0.8
"""Factor for a statement about the future where it is asked about the past."""
DEFINITION = 4.0
"""Factor for a statement that says what something is where that is asked."""
LISTED = 1.4
"""Factor for a list, or a series in a sentence, where a list is asked for."""
TITLE = 0.4
"""Factor for what is written like a title."""
OF_CARD = 0.3
"""Factor for the weight of a word that says whose the best passage's document is: all of it is about that."""
MIN_SPELLED_OUT = 0.6
"""Minimum share of the words that an abbreviation is short for, in the question, for it to stand for them."""
STEPS = 1.4
"""Factor for a list's item, or a list, where steps are asked for."""
INSTRUCTION = 2.0
"""Factor for a statement that tells the reader to do something where it is asked how to do something."""
PURPOSE = 2.0
"""Factor for one that says what is done for what is asked: "To print, press …"."""
SHORT_LINES = 0.3
"""Factor for a run of short lines: what a table or a title page is read as."""
NOTHING_NEW = 0.2
"""Factor for at most `MAX_HEADING_WORDS` without a full stop that only repeat the question's words."""
MAX_HEADING_WORDS = 6
INTRODUCTION = 0.4
"""Factor for a statement that introduces what does not follow."""
CUT = 0.7
"""Factor for a statement that begins or ends within a sentence."""
GARBLED = 0.1
"""Factor for text that is not readable."""


def ranked_spans(question: str, passages: Sequence[Passage]) -> Sequence[tuple[float, PassageSpan]]:
    """Return every statement of the passages with its score, best first, each text once."""
    return [(each.score, each.span) for each in ranked_statements(question, passages)]


def ranked_statements(question: str, passages: Sequence[Passage]) -> Sequence[Candidate]:
    """Return every statement of the passages, best first, each text once."""
    return _ranking(_asked_of(question, passages), passages)[0]


def _ranking(asked: Asked, passages: Sequence[Passage]) -> tuple[Sequence[Candidate], Mapping[str, float]]:
    """Return the statements, best first, and the weight of each of the question's words that any of them holds."""
    found = [
        (at, number, statement)
        for at, passage in enumerate(passages)
        for number, statement in enumerate(statements_in(passage))
    ]
    scores, weights = _scores(asked, passages, [(at, statement) for at, _, statement in found])
    ranked: dict[str, Candidate] = {}
    for place in sorted(range(len(found)), key=lambda place: -scores[place]):
        at, number, statement = found[place]
        if statement.text not in ranked:  # passages overlap: a sentence in two of them is one statement
            ranked[statement.text] = Candidate(at, number, statement, scores[place])
    return list(ranked.values()), weights


def _scores(
    asked: Asked, passages: Sequence[Passage], found: Sequence[tuple[int, Statement]]
) -> tuple[Sequence[float], Mapping[str, float]]:
    """Return a score for each statement found, and the weight of each of the question's words that any of them holds.

    BM25 of its words, where those lent by its surroundings count less; then what it is, and how far down it stands.
    """
    statements = [statement for _, statement in found]
    languages = {passage.language or "en" for passage in passages}
    of_language = {language: content_stems(asked.text, language) for language in languages}
    wanted = frozenset(stem for stems in of_language.values() for stem in stems)
    pairs = {pair for stems in of_language.values() for pair in pairwise(stems)}
    abbreviated = _Abbreviated(asked, passages)
    held = [wanted & abbreviated.said_in(each).union(each.stems) for each in statements]
    weights = _weights(wanted, languages, held)
    for stem in wanted & _words_of_card(passages[0]) if passages else ():
        weights[stem] *= OF_CARD
    whole = max((sum(weights[stem] for stem in set(stems)) for stems in of_language.values()), default=0.0) or 1.0
    mean_length = sum(len(statement.stems) for statement in statements) / len(statements) if statements else 0.0

    @cache
    def in_section(section: str, language: str) -> frozenset[str]:
        return wanted.intersection(content_stems(section, language))

    # What a statement lends to the one before and after it in its passage.
    lent = [_NO_STEMS if each.is_contents_entry else stems for each, stems in zip(statements, held, strict=True)]

    def score(number: int) -> float:
        at, statement = found[number]
        passage = passages[at]
        place = passage.section_at(passage.char_start + statement.start) if passage.sections else passage.section
        section = in_section(place, statement.language)
        before = lent[number - 1] if number and found[number - 1][0] == at else _NO_STEMS
        after = lent[number + 1] if number + 1 < len(found) and found[number + 1][0] == at else _NO_STEMS
        context = wanted & statement.context_stems
        if not (held[number] or section or before or after or context):
            return 0.0
        counts: dict[str, float] = dict.fromkeys(section, SECTION)
        counts |= dict.fromkeys(before | after, NEAR)
        counts |= dict.fromkeys(context, CONTEXT)
        stems = statement.stems
        counts |= {stem: stems.count(stem) or 1 for stem in held[number]}  # 1: by an abbreviation
        norm = K1 * (1 - B + B * min(MAX_LENGTH, len(stems) / (mean_length or 1.0)))
        bm25 = sum([weights[stem] * count * (K1 + 1) / (count + norm) for stem, count in counts.items()])
        following = pairs.intersection(pairwise(stems)) if len(counts) > 1 else ()
        bm25 += PAIRS * sum([(weights[one] + weights[other]) / 2 for one, other in following])
        return bm25 * math.sqrt(sum([weights[stem] * min(1.0, count) for stem, count in counts.items()]) / whole)

    scores = _fitted([score(number) for number in range(len(found))], asked, passages, found, wanted)
    ranks = [
        score * math.sqrt(max(0.05, passages[at].score)) / (1 + FURTHER_DOWN * at)
        for score, (at, _) in zip(scores, found, strict=True)
    ]
    return ranks, {stem: weights[stem] for stem in frozenset().union(*held)}


def _fitted(
    scores: Sequence[float],
    asked: Asked,
    passages: Sequence[Passage],
    found: Sequence[tuple[int, Statement]],
    wanted: frozenset[str],
) -> Sequence[float]:
    """Return the scores of the statements' words, weighed by what each statement is and what stands before it."""
    fitted = list(scores)
    shares: dict[int, float] = {}
    for number, (at, statement) in enumerate(found):
        if statement.is_question:
            # The text after a question (in an FAQ, an interview) answers it in other words.
            if number + 1 < len(found) and found[number + 1][0] == at:
                fitted[number + 1] = max(fitted[number + 1], AFTER_QUESTION * fitted[number])
            fitted[number] *= QUESTION
        elif fitted[number]:
            fitted[number] *= _fitness(asked, passages[at], statement, wanted)
            if share := _share_asked(asked, passages[at], statement):
                shares[number] = share
    most = max(shares.values(), default=1.0)
    for number, share in shares.items():
        fitted[number] *= 1 + (ASKED_FIGURE - 1) * share / most
    return fitted


class _Abbreviated:
    """The abbreviations of a question and its passages: what a statement says in them, or in place of them."""

    def __init__(self, asked: Asked, passages: Sequence[Passage]) -> None:
        self._asked = asked.abbreviations
        self._short_for: dict[str, frozenset[str]] = {}
        for passage in passages:
            language = passage.language or "en"
            wanted = frozenset(content_stems(asked.text, language))
            for short, words in abbreviations_in(passage.text):
                stems = frozenset(content_stems(words, language))
                if len(stems & wanted) >= MIN_SPELLED_OUT * len(stems):
                    self._short_for |= dict.fromkeys(content_stems(short, language), stems & wanted)

    def said_in(self, statement: Statement) -> frozenset[str]:
        """Return the question's words that a statement abbreviates, and the abbreviations that it spells out."""
        names = self._short_for.keys() & frozenset(statement.stems) if self._short_for else ()
        spelled = (short for short in self._asked if spells_out(statement.text, short))
        words = (content_stems(short, statement.language) for short in spelled)
        return _NO_STEMS.union(*(self._short_for[stem] for stem in names), *words)


def _words_of_card(passage: Passage) -> frozenset[str]:
    """Return the stems of the words that say whose a passage's document is, and of which kind: "PepsiCo", "10-K"."""
    return frozenset(content_stems(" ".join((*passage.organisations, passage.kind)), passage.language or "en"))


def _fitness(asked: Asked, passage: Passage, statement: Statement, wanted: frozenset[str]) -> float:
    """Return the factor for what a statement is, whatever its words."""
    fitness = 1.0
    if statement.is_contents_entry or _lists_contents(passage, statement.start):
        fitness *= ASKED_CONTENTS_ENTRY if asked.for_page else CONTENTS_ENTRY
    if not asked.fits(statement.text):
        fitness *= NOT_THE_KIND
    if asked.kind is Kind.YES_NO and statement.has_yes_or_no:
        fitness *= YES_OR_NO
    if asked.quoted and asked.quotes_from(statement.text, passage.section_at(passage.char_start + statement.start)):
        fitness *= QUOTED
    if asked.gives_reason(statement.text):
        fitness *= REASON
    if asked.is_done_by(statement.text):
        fitness *= DONE_BY
    if instructs := asked.instructs(statement.text, statement.language):
        fitness *= INSTRUCTION
    if asked.has_purpose(statement.text, statement.language, instructs=instructs):
        fitness *= PURPOSE
    if asked.is_too_late(statement.text):
        fitness *= TOO_LATE
    if asked.defines(statement.text):
        fitness *= DEFINITION
    if asked.kind is Kind.LIST and (statement.has_items or statement.list_span or has_series(statement.text)):
        fitness *= LISTED
    if statement.is_title:
        fitness *= TITLE
    short = len(statement.stems) <= MAX_HEADING_WORDS and not statement.text.endswith(".")
    if short and asked.kind is not Kind.YES_NO and not statement.has_yes_or_no and _repeats(wanted, statement):
        fitness *= NOTHING_NEW
    if statement.is_short_lines and not asked.needed:
        fitness *= SHORT_LINES
    if asked.kind is Kind.STEPS and (statement.list_span or statement.has_items):
        fitness *= STEPS
    if statement.is_introduction:
        fitness *= INTRODUCTION
    if statement.is_garbled:
        fitness *= GARBLED
    elif statement.is_cut:
        fitness *= CUT
    return fitness


def _repeats(wanted: frozenset[str], statement: Statement) -> bool:
    """Return whether a statement has only words of the question, and the number or bullet of an item."""
    return wanted.issuperset(content_stems(without_item_sign(statement.text), statement.language))


def _share_asked(asked: Asked, passage: Passage, statement: Statement) -> float:
    """Return how much of a row's label is asked for, if it has a figure of the year that is asked for; else 0."""
    if not (asked.years and statement.is_row and asked.for_figure):
        return 0.0
    wanted = frozenset(content_stems(asked.text, statement.language))
    # Tables are read only where a row may be asked for.
    text = passage.whole
    if wanted.isdisjoint(statement.stems) or not any(year in text for year in asked.years):
        return 0.0
    return asked_share(text, statement.start + len(passage.above), wanted, asked.years, statement.language)


def _lists_contents(passage: Passage, start: int) -> bool:
    """Say whether a position in a passage is in a table of contents, by its heading."""
    return _CONTENTS.search(passage.section_at(passage.char_start + start)) is not None


def _weights(wanted: frozenset[str], languages: set[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh each word of the question: its rarity among the statements times its rarity in the language.

    `held`: the question's words that each statement has.
    """
    holders = Counter(chain.from_iterable(held))
    tables = [lexical.background(language) for language in languages]
    return {
        stem: lexical.idf(len(held), holders[stem])
        * (0.5 + min((table.get(stem, lexical.MAX_RARITY) for table in tables), default=1.0) / lexical.MAX_RARITY)
        for stem in wanted
    }
