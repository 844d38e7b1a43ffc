"""The score of each statement of the passages as an answer to a question: what a statement is worth.

It is BM25 (Robertson and Zaragoza 2009) over the question's words, weighted by their rarity in the language and among
the statements. Words beside it, in its heading and in its section's name count a little. The score is higher with more
of the question's words and its word pairs, and lower in lower-ranked passages and for a statement that cannot answer:
without the number that is asked for, garbled, cut. Measured by `python -m evals extractive`.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from functions.query.grounding.ranges import is_in_range_told
from functions.query.grounding.words import content_stems, other_words_of
from functions.query.retrieval.passages import Passage, last_title
from functions.query.understanding.days import days_asked, times_of_year_in
from functions.query.understanding.question import asking_part, without_scope
from functions.query.understanding.vocabulary import are_of_family
from functions.query.writing.abbreviated import Abbreviated, explains, sign_asked
from functions.query.writing.asked import Asked, Kind, has_series
from functions.query.writing.cells import (
    with_line_items,
)
from functions.query.writing.list_items import without_item_sign
from functions.query.writing.named_items import ItemsTold, is_of_other_order
from functions.query.writing.needed import recurs, tells_date
from functions.query.writing.outcomes import (
    MAX_AHEAD,
    SETTLED,
    asks_outcome,
    is_of_another_matter,
    is_settled_below,
)
from functions.query.writing.row_doubts import ToldSpan, is_content, is_of_other_days, words_asked
from functions.query.writing.row_scores import (
    ASKED_FIGURE,
    fitness_of_row,
    inherited_stems,
    is_in_period_of_row,
    is_of_thing,
    share_asked,
)
from functions.query.writing.statements import Statement, statements_in
from functions.query.writing.table_words import agrees_on_denied, denied_words
from functions.query.writing.told_headings import is_headed
from shared import lexical
from shared.text import CONTENTS_WORD, SEPARATOR, is_dash, row_cells

K1 = 0.8
B = 0.3
MAX_LENGTH = 2.0
"""Length from which on a statement is not longer for BM25, in mean lengths: a list of steps is long."""
PAIRS = 0.4
"""Bonus for two of the question's words in a row, as a share of their mean weight."""
IN_RANGE, IN_ANOTHER = 2.0, 0.5
"""Factors for a sentence with a range that a number of the question is in ("children under 6"), or with others only."""
CONTEXT = 0.4
"""Occurrences that a word in a statement's context (its table's header, its heading) counts for."""
SECTION = 0.4
"""Occurrences that a word in the name of its section, or in its document's title, counts for."""
SYNONYM = 0.4
"""Occurrences that a word's synonym counts for."""
MIN_FAMILY = 4
"""Letters that words of a family begin with, at least, for one to count for the other like a synonym."""
NEAR = 0.3
"""Occurrences that a word in the statement before or after counts for."""
FURTHER_DOWN = 0.3
"""Penalty for each rank of the sentence's passage below the first."""
QUESTION = 0.2
"""Factor for a question: a question seldom answers one."""
AFTER_QUESTION = 0.6
"""Minimum score of a sentence after a question, as a share of the question's."""
YES_OR_NO_AFTER = 1.5
"""The same of one that begins with yes or no where that is asked: the sentences behind it tell of other things, too."""
CONTENTS_ENTRY = 0.3
"""Factor for an entry of a table of contents."""
ASKED_CONTENTS_ENTRY = 4.0
"""Factor for one where a page is asked for."""
NOT_THE_KIND = 0.4
"""Factor where what is asked for, as a number, is not in the statement."""
UNDATED = 0.65
"""Factor for a statement that tells a time in words only ("after the meeting") where it is asked when."""
RECURRING = 0.4
"""Factor for one that tells when something happens again and again where it is asked when it happened."""
ANNOUNCED = 0.3
"""Factor for one that only says what a part of the document tells: "This section tells you how to …"."""
NOT_NEEDED = 0.15
"""Factor for a sentence without the unit that is asked for: of a distance, a weight (`Asked.for_measure`)."""
COUNTED = 1.5
"""Factor for a statement with a number of what is counted: "eleven people" where it is asked how many people."""
HEADED = 1.6
"""Factor for a statement in the section whose title says what is asked ("Cleaning the wand": "How do I clean …?")."""
HEADED_LIST = 2.5
"""The same for a list where one is asked for: "What are the plans?" below "Plans for 2025"."""
TITLED = 3.0
"""The same where the title is that question, as in a FAQ."""
QUOTED = 1.5
"""Factor where the statement, or its section's name, holds what the question puts in quotes."""
REASON = 1.6
"""Factor for a statement with a reason where it is asked why."""
ADDRESS, OF_DOCUMENT = 1.5, 6.0
"""Factors for an address where it is asked where something is, and where that is what the whole document is about."""
DONE_BY = 1.5
"""Factor for a statement that says by whom something is done where it is asked who does."""
OF_OTHERS = 0.4
"""Factor for what the landlord must do where the asker asks what they must."""
NAMED = 1.2
"""Factor for a statement that names somebody where it is asked who; of German nouns none is known to be a name."""
DENIED = 1.5
"""Factor for a statement that denies something where it is asked what is not so."""
ALSO_DENIED, NOT_DENIED = 2.0, 0.4
"""Factors for a statement about what the question says is not so: that it is not, and that it is."""
TOO_LATE = 0.8
"""Factor for a statement about the future where it is asked about the past."""
DEFINITION = 4.0
"""Factor for a statement that says what something is where that is asked."""
LISTED = 1.4
"""Factor for a list, or a series in a sentence, where a list is asked for."""
TITLE = 0.4
"""Factor for what is written like a title."""
INHERITED = 0.6
"""Factor for the weight of a word that a question takes over from the one before it, of which it replaces another."""
OF_CARD = 0.3
"""Factor for the weight of a word that says whose the best passage's document is: all of it is about that."""
STEPS = 1.4
"""Factor for a list's item, or a list, where steps are asked for."""
INSTRUCTION = 2.0
"""Factor for a statement that tells the reader to do something where it is asked how to do something."""
PURPOSE = 2.0
"""Factor for one that says what is done for what is asked: "To print, press …"."""
SUPPOSED = 1.5
"""Factor for one that supposes what the question does."""
FIELD = 6.0
"""Factor for the field of a form that is asked for."""
ANOTHER_MATTER = 0.3
"""Factor for what was done to something else, where it is asked whether it was done."""
OTHER_DAYS = 0.25
"""Factor for a statement about other days, or months, than the question's, itself or by its heading."""
OTHER_ORDER = 0.25
"""Factor for a statement about another one of things in order: the second release where the first is asked for."""
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
"""Factor for text that is not readable, or has no letter: "3."."""
PAGE_NUMBER = 0.1
"""Factor for what stands at the top or bottom of each page: "Minutes, page 1 of 2"."""

_PAGE_NUMBER = re.compile(r"\bpage \d+ (?:of|/) \d+\W*\Z", re.IGNORECASE)
_NEEDS_TO = re.compile(r"\bneeds? to\b", re.IGNORECASE)
"""An auxiliary: "What do I need to pass?" is not about a need."""
_SAYS_YES_OR_NO = re.compile(r"(?:yes|no|ja|nein|oui|non|s[ií])\b\s*[,.:;!–—-]", re.IGNORECASE)
_NO_STEMS: frozenset[str] = frozenset()
_CONTENTS = re.compile(rf"(?:\A|> )(?:table of )?{CONTENTS_WORD}\Z", re.IGNORECASE)


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


def asked_of(question: str, passages: Sequence[Passage], *, before: str = "", inherited: str = "") -> Asked:
    """Read a question as it is compared with statements: what it asks, and line items in the statements' words.

    `inherited` are the words at its end that it takes over from the question `before`, if it replaces a word of that.
    """
    asked = Asked.of(_NEEDS_TO.sub("must", without_scope(question)))
    if inherited:
        asked = asked.following(before, inherited)
    if not asked.years:
        return asked
    # A definition names the figures that an answer is worked out from; what is stated needs none of them.
    part = asked.text if asked.computes else asking_part(question)
    return replace(asked, text=with_line_items(asked.text, part, [passage.text for passage in passages]))


def ranking(asked: Asked, passages: Sequence[Passage]) -> tuple[Sequence[Candidate], Mapping[str, float]]:
    """Return the statements, best first, each text once, and the weight of each word of the question that one holds."""
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
    pairs, alike = _own_pairs(asked, of_language), _meant_by_others(of_language)
    told = frozenset(chain.from_iterable(each.stems for each in statements))
    for stem, ones in _of_families(of_language, told).items():
        alike[stem] = {*alike.get(stem, ()), *ones}
    abbreviated, items = Abbreviated(asked, passages), ItemsTold.of(asked.text, passages)
    held = [wanted.intersection(each.stems) | (wanted & abbreviated.said_in(each)) for each in statements]
    if sign := sign_asked(asked.text):
        wanted |= {sign}
        held = [one | {sign} if explains(each.text, sign) else one for one, each in zip(held, statements, strict=True)]
    if times := times_of_year_in(asked.text):
        # "16 May to 30 September" has July.
        for number, (at, each) in enumerate(found):
            if each.is_row and is_in_period_of_row(asked.text, each.text):
                held[number] |= wanted.intersection(content_stems(" ".join(times), passages[at].language or "en"))
    weights = _weights(wanted, languages, held)
    for stem in wanted & _NO_STEMS.union(*(inherited_stems(asked, language) for language in languages)):
        weights[stem] *= INHERITED
    for stem in wanted & _words_of_card(passages[0]) if passages else ():
        weights[stem] *= OF_CARD
    whole = max((sum(weights[stem] for stem in set(stems)) for stems in of_language.values()), default=0.0) or 1.0
    mean_length = sum(len(statement.stems) for statement in statements) / len(statements) if statements else 0.0

    sections = [passages[at].section_at(passages[at].char_start + statement.start) for at, statement in found]

    @cache
    def in_section(section: str, language: str) -> frozenset[str]:
        return wanted.intersection(content_stems(section, language))

    # What a statement lends to the one before and after it in its passage.
    lent = [
        _NO_STEMS if each.is_contents_entry or each.field[0] else stems
        for each, stems in zip(statements, held, strict=True)
    ]

    def score(number: int) -> float:
        at, statement = found[number]
        passage = passages[at]
        section = in_section(sections[number], statement.language)
        before = lent[number - 1] if number and found[number - 1][0] == at else _NO_STEMS
        after = lent[number + 1] if number + 1 < len(found) and found[number + 1][0] == at else _NO_STEMS
        context = wanted & statement.context_stems
        if items.items and items.lends_words(passage, statement):
            context |= wanted & items.words
        if asked.is_address(statement.text) and _names_only_the_document(asked, passage, statement.language):
            context |= wanted
        like = _NO_STEMS.union(*(alike[stem] for stem in alike.keys() & statement.stems))
        if not (held[number] or section or before or after or context or like):
            return 0.0
        counts: dict[str, float] = dict.fromkeys(section | in_section(passage.title, statement.language), SECTION)
        counts |= dict.fromkeys(before | after, NEAR)
        counts |= dict.fromkeys(context, CONTEXT)
        counts |= dict.fromkeys(like, SYNONYM)
        stems = statement.stems
        counts |= {stem: stems.count(stem) or 1 for stem in held[number]}  # 1: by an abbreviation
        norm = K1 * (1 - B + B * min(MAX_LENGTH, len(stems) / (mean_length or 1.0)))
        bm25 = sum([weights[stem] * count * (K1 + 1) / (count + norm) for stem, count in counts.items()])
        following = pairs.intersection(pairwise(stems)) if len(counts) > 1 else ()
        bm25 += PAIRS * sum([(weights[one] + weights[other]) / 2 for one, other in following])
        return bm25 * math.sqrt(sum([weights[stem] * min(1.0, count) for stem, count in counts.items()]) / whole)

    names_days = any(days_asked(asked.text))

    for_outcome = asks_outcome(asked.text)

    def factor(number: int) -> float:
        at, statement = found[number]
        settled = 1.0
        if for_outcome and not statement.is_row:
            below = [each for place, each in found[number + 1 : number + 1 + MAX_AHEAD] if place == at]
            if is_of_another_matter(statement, asked.text):
                settled = ANOTHER_MATTER
            elif is_settled_below(statement, below, asked.text):
                settled = SETTLED
        other = 1.0
        if names_days:
            span = ToldSpan(passages[at], statement.start, statement.end)
            other = OTHER_DAYS if is_of_other_days(asked, span, statement.heading_above) else 1.0
        # "Refer to annex 1 for the fees" only names it.
        of_item = 1.0 if asked.is_announced_by(statement.text) else items.factor(passages[at], statement)
        return of_item * settled * other

    scores = _fitted([score(number) for number in range(len(found))], asked, passages, found, sections, wanted)
    nearness = [math.sqrt(max(0.05, each.score)) for each in passages]
    ranks = [
        score and score * factor(number) * nearness[at] / (1 + FURTHER_DOWN * at)
        for number, (score, (at, _)) in enumerate(zip(scores, found, strict=True))
    ]
    return ranks, {stem: weights[stem] for stem in frozenset().union(*held)}


def _own_pairs(asked: Asked, of_language: Mapping[str, Sequence[str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring words of a question, without those that it takes over."""
    return frozenset(
        pair
        for language, stems in of_language.items()
        for pair in pairwise(stems)
        if inherited_stems(asked, language).isdisjoint(pair)
    )


def _meant_by_others(of_language: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Return the words of a question that each of their synonyms may stand for."""
    meant: dict[str, set[str]] = {}
    for language, stems in of_language.items():
        for stem in frozenset(stems):
            for other in other_words_of(stem, language):
                meant.setdefault(other, set()).add(stem)
    return meant


def _of_families(of_language: Mapping[str, Sequence[str]], stems: Set[str]) -> Mapping[str, Set[str]]:
    """Return the words of a question that stems of the statements are of a family with: "registration", "register"."""
    meant: dict[str, set[str]] = {}
    for language, asked in of_language.items():
        beginnings: dict[str, list[str]] = {}
        for stem in frozenset(asked):
            if len(stem) >= MIN_FAMILY:
                beginnings.setdefault(stem[:MIN_FAMILY], []).append(stem)
        for stem in stems:
            for one in beginnings.get(stem[:MIN_FAMILY], ()):
                if one != stem and are_of_family(one, stem, language):
                    meant.setdefault(stem, set()).add(one)
    return meant


def _fitted(
    scores: Sequence[float],
    asked: Asked,
    passages: Sequence[Passage],
    found: Sequence[tuple[int, Statement]],
    sections: Sequence[str],
    wanted: frozenset[str],
) -> Sequence[float]:
    """Return the scores of the statements' words, weighed by what each statement is and what stands before it.

    `sections` are the statements' own.
    """
    fitted = list(scores)
    shares: dict[int, float] = {}
    for number, (at, statement) in enumerate(found):
        if statement.is_question:
            # The text after a question (in an FAQ, an interview) answers it in other words.
            if number + 1 < len(found) and found[number + 1][0] == at:
                answers = (
                    asked.kind is Kind.YES_NO
                    and _SAYS_YES_OR_NO.match(found[number + 1][1].text)
                    and is_headed(asked, passages[at], sections[number + 1], statement.language)
                )
                share = YES_OR_NO_AFTER if answers else AFTER_QUESTION
                fitted[number + 1] = max(fitted[number + 1], share * fitted[number])
            fitted[number] *= QUESTION
        elif fitted[number]:
            fitted[number] *= _fitness(asked, passages[at], statement, sections[number], wanted)
            if share := share_asked(asked, passages[at], statement):
                shares[number] = share
    most = max(shares.values(), default=1.0)
    for number, share in shares.items():
        fitted[number] *= 1 + (ASKED_FIGURE - 1) * share / most
    return fitted


def _names_only_the_document(asked: Asked, passage: Passage, language: str) -> bool:
    """Return whether a question names nothing but its document: "Where is the museum?" of the museum's report."""
    names = content_stems(" ".join((passage.title, *passage.organisations)), language)
    words = [each for each in words_asked(asked.text, language) if is_content(each, language)]
    return all(each.key in names or lexical.stem(each.word, language) in names for each in words)


def _words_of_card(passage: Passage) -> frozenset[str]:
    """Return the stems of the words that say whose a passage's document is, and of which kind: "PepsiCo", "10-K"."""
    return frozenset(content_stems(" ".join((*passage.organisations, passage.kind)), passage.language or "en"))


def _fitness(asked: Asked, passage: Passage, statement: Statement, section: str, wanted: frozenset[str]) -> float:
    """Return the factor for what a statement is, whatever its words; `section` is where it stands."""
    fitness = fitness_of_row(asked, passage, statement, wanted) if statement.is_row else 1.0
    if asked.may_have_number and not statement.is_row:
        in_range = is_in_range_told(statement.text, asked.without_years, statement.language)
        # "At least 16 years" answers whether somebody of 15 may.
        fitness *= 1.0 if in_range is None else IN_RANGE if in_range or asked.kind is Kind.YES_NO else IN_ANOTHER
    in_contents = statement.is_contents_entry or _is_of_contents(section)
    if in_contents:
        fitness *= ASKED_CONTENTS_ENTRY if asked.for_page else CONTENTS_ENTRY
    fits = asked.fits(statement.text) or (statement.is_row and _fits_with_header(asked, statement))
    if not fits:
        # The unit of a row may stand where nobody looks for it.
        may_measure = statement.is_row and bool(asked.new_numbers(statement.text))
        fitness *= NOT_NEEDED if asked.for_measure and not may_measure else NOT_THE_KIND
    if asked.kind is Kind.TIME and fits and not tells_date(statement.text):
        fitness *= UNDATED
    if asked.for_event and recurs(statement.text):
        fitness *= RECURRING
    if asked.is_announced_by(statement.text) and not (asked.kind is Kind.NUMBER and fits):
        fitness *= ANNOUNCED
    if asked.quoted and asked.quotes_from(statement.text, section):
        fitness *= QUOTED
    if is_of_other_order(asked.text, statement.text):
        fitness *= OTHER_ORDER
    if not asked.for_page and is_headed(asked, passage, section, statement.language):
        is_list = asked.for_several and (statement.has_items or statement.list_span is not None)
        is_asked = is_headed(asked, passage, section, statement.language, wholly=True)
        fitness *= TITLED if is_asked else HEADED_LIST if is_list else HEADED
    if asked.is_counted_in(statement.text):
        fitness *= COUNTED
    if asked.is_address(statement.text):
        fitness *= OF_DOCUMENT if _names_only_the_document(asked, passage, statement.language) else ADDRESS
    if asked.gives_reason(statement.text):
        fitness *= REASON
    if asked.is_done_by(statement.text):
        fitness *= DONE_BY
    if statement.language != "de" and asked.names_somebody(statement.text):
        fitness *= NAMED
    if instructs := asked.instructs(statement.text, statement.language):
        fitness *= INSTRUCTION
    if asked.has_purpose(statement.text, statement.language, instructs=instructs):
        fitness *= PURPOSE
    if asked.supposes(statement.text, statement.language):
        fitness *= SUPPOSED
    if asked.denies(statement.text) or asked.denies(last_title(section)):
        fitness *= DENIED
    if asked.kind is not Kind.YES_NO and denied_words(asked.text, statement.language):
        above = f"{last_title(section)}\n{statement.heading_above}"
        fitness *= _agreement(asked, statement, wanted, above)
    if asked.is_duty_of_others(statement.text):
        fitness *= OF_OTHERS
    if asked.is_too_late(statement.text):
        fitness *= TOO_LATE
    if asked.defines(statement.text) or ((sign := sign_asked(asked.text)) and explains(statement.text, sign)):
        fitness *= DEFINITION
    if asked.kind is Kind.LIST and (statement.has_items or statement.list_span or has_series(statement.text)):
        fitness *= LISTED
    if _PAGE_NUMBER.search(statement.text):
        fitness *= PAGE_NUMBER
    if statement.is_title:
        fitness *= TITLE
    short = len(statement.stems) <= MAX_HEADING_WORDS and not statement.text.endswith(".")
    may_repeat = asked.kind is Kind.YES_NO or statement.has_yes_or_no or is_of_thing(asked, statement)
    if short and not may_repeat and _repeats(wanted, statement):
        fitness *= NOTHING_NEW
    elif is_field_asked(wanted, statement) and not in_contents and fits:
        fitness *= FIELD
    if statement.is_short_lines and not asked.needed:
        fitness *= SHORT_LINES
    if asked.kind is Kind.STEPS and (statement.list_span or statement.has_items):
        fitness *= STEPS
    if statement.is_introduction:
        fitness *= INTRODUCTION
    if statement.is_garbled or not (statement.is_row or any(map(str.isalpha, statement.text))):
        fitness *= GARBLED
    elif statement.is_cut:
        fitness *= CUT
    return fitness


def _fits_with_header(asked: Asked, row: Statement) -> bool:
    """Return whether a row holds what is needed with its header and what stands above, which may have its unit."""
    lines = row.context.split("\n")
    header = "\n".join(line for line in lines if SEPARATOR in line or (asked.needed and not line.endswith(".")))
    return bool(header) and asked.fits(f"{header}\n{row.text}")


def _agreement(asked: Asked, statement: Statement, wanted: frozenset[str], above: str) -> float:
    """Return the factor for whether a statement, or the heading above it, denies what the question says is not so.

    A row that is named tells itself what it has not: "Which buses don't stop at Marle?" "Marle | 7.15 | –".
    """
    is_row, language = statement.is_row, statement.language
    told = statement.text.partition(SEPARATOR)[0] if is_row else statement.text
    if is_row and wanted.issuperset(content_stems(told, language)):
        return 1.0
    agrees = agrees_on_denied(told, asked.text, language, is_label=is_row)
    return ALSO_DENIED if agrees else NOT_DENIED if agrees is False and not asked.denies(above) else 1.0


def _repeats(wanted: frozenset[str], statement: Statement) -> bool:
    """Return whether a statement tells nothing that the question does not, but perhaps the number of an item.

    A field says nothing new if its value is in the question, at least in part, but its label is not: "Employee: Ann
    Lee" does not tell Ann Lee's tax code.
    """
    label, value = (frozenset(content_stems(part, statement.language)) for part in statement.field)
    if value:
        only_names = bool(wanted & value) and wanted.isdisjoint(label) and not wanted <= value
        return wanted >= value or only_names
    if statement.is_row and any(
        cell and not (is_dash(cell) or content_stems(cell, statement.language)) for cell in row_cells(statement.text)
    ):
        return False  # "Dev | – | E"
    return wanted.issuperset(content_stems(without_item_sign(statement.text), statement.language))


def is_field_asked(wanted: frozenset[str], statement: Statement) -> bool:
    """Return whether a statement is a form's field whose whole label is asked for: "Invoice number: 4711"."""
    label, value = (content_stems(part, statement.language) for part in statement.field)
    return bool(label) and wanted.issuperset(label) and not (value and wanted.issuperset(value))


@lru_cache(maxsize=1_000)
def _is_of_contents(section: str) -> bool:
    """Say whether a section is a table of contents, by its title."""
    return _CONTENTS.search(section) is not None


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
