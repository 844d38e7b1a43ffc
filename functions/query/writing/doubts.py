"""Whether what is told is about what a question asks: other days, rows, or something else that the document speaks of.

Such an answer is told with low confidence. What ranks below because of it, and rows, are in `row_doubts.py`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from functions.query.grounding.polarity import direction_of
from functions.query.grounding.words import is_stop_word, tokens_of
from functions.query.retrieval.passages import Passage
from functions.query.understanding.phrases import is_time
from functions.query.writing.asked import Asked, Kind, raises, spans_in
from functions.query.writing.named_items import is_untold
from functions.query.writing.row_doubts import (
    ToldSpan,
    columns_of,
    is_content,
    is_of_other_days,
    may_be_others,
    unsaid,
    words_asked,
)
from functions.query.writing.selected_rows import are_rows_asked_for
from functions.query.writing.statements import statements_in
from functions.query.writing.table_words import keys_of
from shared import identity, lexical
from shared.language import language_of
from shared.text import row_cells

_YEAR = re.compile(rf"(?<![\w.,]){identity.YEAR}(?![\w.,]*\d)")
_BARE = re.compile(r"[(−–-]?\d[\d.,\s]*\)?")
"""A cell that is a figure without a unit."""
_KIND_OF = re.compile(r"\b(?:the|an?|my|our|your|his|her|their|each|every|per) ([a-z]{3,}) ([a-z]{3,})\b")
"""A word and a noun behind an article: "a half plot"."""
_ORDINALS = frozenset(("first", "second", "third", "fourth", "fifth", "sixth", "last", "final", "next", "previous"))
_THING = re.compile(r"\b(?:what|which) ([^\W\d_]+)", re.IGNORECASE)
"""What is asked for: "what colour"."""
MIN_RARITY = 4.2
"""Rarity (`lexical.background`) from which on a word names what a question is about: about 1 word in 70."""
MAX_WORDS = 4
"""Words that a question names something with, at most: each of a few says what it is about."""
TITLE_CHARACTERS = 150
"""Characters with which a document begins that say what it is about."""
MIN_SHARE = 0.2
"""Share of such words of a question, by rarity, that the document has elsewhere, for an answer to be doubtful."""


def is_doubtful(asked: Asked, told: Sequence[ToldSpan], passages: Sequence[Passage], *, is_compared: bool) -> bool:
    """Return whether an answer may be about something else than what is asked, of what was found in these passages.

    Of what has the most, all those that were not compared (`is_compared`) may be others.
    """
    if not told:
        return False
    if may_be_others(asked, told, is_compared=is_compared, named=_name_of_document(told[0].passage, passages)):
        return True
    if all(is_of_other_days(asked, each, _heading_above(each)) for each in told):
        return True
    if _lacks_its_kind(asked, told) or _is_of_other_years(asked, told) or _is_of_another_kind(asked, told, passages):
        return True
    if is_untold(asked.text, passages) or _supposes_the_opposite(asked, told):
        return True
    if told[0].is_row:
        return False
    if _says_nothing_named(asked, told, passages):
        return True
    document = told[0].passage.document_id
    is_of_rows = not asked.is_counted_in(told[0].text) and are_rows_asked_for(asked.text, passages, document)
    return is_of_rows or _is_told_elsewhere(asked, told, passages)


def _name_of_document(passage: Passage, passages: Sequence[Passage]) -> str:
    """Return what says which document a passage is of: its title, its identity card, and how it begins."""
    first = next((each for each in passages if each.document_id == passage.document_id and not each.char_start), None)
    beginning = first.text[:TITLE_CHARACTERS] if first else ""
    return "\n".join((passage.title, passage.kind, *passage.organisations, beginning))


def _lacks_its_kind(asked: Asked, told: Sequence[ToldSpan]) -> bool:
    """Return whether what an answer must hold, as a sum or any number, is in nothing told, and in none of its headers.

    What a bare figure in a row is of, its table's title may say.
    """
    if any(each.is_row and _BARE.fullmatch(cell) for each in told for cell in row_cells(each.text)[1:]):
        return False
    texts = [f"{each.text}; {'; '.join(columns_of(each))}".replace("|", ";") for each in told]
    is_uncounted = asked.for_amount and not any(each.is_row or asked.fits(each.text) for each in told)
    return is_uncounted or any(all(needed.search(text) is None for text in texts) for needed in asked.needed)


def _is_of_other_years(asked: Asked, told: Sequence[ToldSpan]) -> bool:
    """Return whether what is told, with its columns, names years, and none of the question's stands there or above."""
    if not asked.years:
        return False
    texts = [part for each in told for part in (each.text, *columns_of(each))]
    years = set(_YEAR.findall(" ".join(texts)))
    passage = told[0].passage
    if spans := spans_in(asked.text):
        others = spans_in("\n".join((*texts, passage.title, passage.key)))
        others = others or (spans_in(passage.whole) if not years else others)
        if others and spans.isdisjoint(others):
            return True
    beside = (passage.title, passage.section_at(passage.char_start + told[0].start), *passage.periods)
    return bool(years) and not any(year in text for year in asked.years for text in (*years, *beside))


def _says_nothing_named(asked: Asked, told: Sequence[ToldSpan], passages: Sequence[Passage]) -> bool:
    """Return whether nothing that a question names is said by what is told, or around it; or not what it counts.

    Of another language's words none can be there.
    """
    first = told[0].passage
    language = first.language or "en"
    if language_of(asked.text) not in {"", first.language or language_of(first.text) or language}:
        return False
    words = [each for each in words_asked(asked.text, language) if is_content(each, language)]
    names = {key for thing in (_THING.findall(asked.text) if asked.needed else ()) for key in keys_of(thing, language)}
    table = lexical.background(language)
    words = [each for each in words if each.key not in names and not is_time(each.word, language)]
    words = [each for each in words if table.get(each.key, lexical.MAX_RARITY) >= MIN_RARITY]
    sections = (each.passage.section_at(each.passage.char_start + each.start) for each in told)
    texts = (*(each.text for each in told), *map(_heading_above, told), *sections, *map(_before, told))
    said = "\n".join((*texts, _name_of_document(first, passages)))
    missing = unsaid(words, said, language)
    counted = [each for each in words if each.word in map(lexical.fold, asked.words_counted)]
    return any(one and all(each in missing for each in one) for one in (words, counted))


def _supposes_the_opposite(asked: Asked, told: Sequence[ToldSpan]) -> bool:
    """Return whether it is asked why or when something fell, and what is told only rose, or the other way round."""
    if asked.kind not in {Kind.REASON, Kind.TIME}:
        return False
    supposed, said = (_directions_in(text) for text in (asked.text, "\n".join(each.text for each in told)))
    return len(supposed) == 1 and bool(said) and supposed.isdisjoint(said)


def _directions_in(text: str) -> frozenset[int]:
    """Return the directions of the words of rising and falling in a text: 1, -1."""
    words = (word for word in tokens_of(text) if not is_stop_word(word))
    return frozenset(filter(None, (*map(direction_of, words), int(raises(text)))))


def _is_of_another_kind(asked: Asked, told: Sequence[ToldSpan], passages: Sequence[Passage]) -> bool:
    """Return whether the question names one of several kinds, and what is told another: a half plot, a full plot.

    The document has both, or they are numbered: the first, the second study.
    """
    said = " ".join((*(each.text for each in told), *map(_heading_above, told)))
    language = told[0].passage.language or "en"
    kinds = _kinds_in(asked.text) if language == "en" else {}
    for noun, named in kinds.items():
        others = _kinds_in(said).get(noun, frozenset())
        if not others or not named.isdisjoint(re.findall(r"[^\W\d_]+", said.lower())):
            continue
        document = " ".join(each.whole for each in passages if each.document_id == told[0].passage.document_id).lower()
        # A stem may end in another letter than its word: "studi".
        has_both = any(re.search(rf"\b{kind} {noun[:-1]}", document) for kind in named)
        if has_both or (named <= _ORDINALS and others <= _ORDINALS):
            return True
    return False


def _kinds_in(text: str) -> Mapping[str, frozenset[str]]:
    """Return the words between an article and a noun, by the noun: "half" of "a half plot"."""
    found: dict[str, set[str]] = {}
    for kind, noun in _KIND_OF.findall(text.lower()):
        if not (is_stop_word(kind) or is_stop_word(noun)):
            found.setdefault(lexical.stem(noun, "en"), set()).add(kind)
    return {noun: frozenset(kinds) for noun, kinds in found.items()}


def _heading_above(told: ToldSpan) -> str:
    """Return the heading that what is told stands below; empty if it is a row, or itself a heading."""
    return next((each.heading_above for each in statements_in(told.passage) if each.start == told.start), "")


def _is_told_elsewhere(asked: Asked, told: Sequence[ToldSpan], passages: Sequence[Passage]) -> bool:
    """Return whether much of what a question names stands in the answer's document, but not where the answer does.

    "What does breakfast cost?" is not answered by what a taxi costs, if breakfast is spoken of elsewhere. What is not
    there at all may be there in other words.
    """
    first = told[0].passage
    language = first.language or "en"
    table = lexical.background(language)
    words = [each for each in words_asked(asked.text, language) if is_content(each, language)]
    rarity = {each.key: table.get(each.key, lexical.MAX_RARITY) for each in words if not is_time(each.word, language)}
    sections = (each.passage.section_at(each.passage.char_start + each.start) for each in told)
    texts = (*(each.text for each in told), *map(_heading_above, told), *sections, _before(told[0]))
    said = "\n".join((*texts, first.title, first.kind, *first.organisations))
    rare = [each for each in unsaid(words, said, language) if rarity.get(each.key, 0) >= MIN_RARITY]
    # What colour something has, a colour tells.
    things = _THING.findall(asked.text) if asked.needed else []
    wanted = {key for thing in things for key in keys_of(thing, language)}
    rare = [each for each in rare if each.key not in wanted]
    if not rare or len(rarity) > MAX_WORDS:
        return False
    document = "\n".join(each.whole for each in passages if each.document_id == first.document_id)
    elsewhere = {each.key for each in rare}.intersection(keys_of(document, language))
    return sum(rarity[key] for key in elsewhere) > MIN_SHARE * sum(rarity.values())


def _before(told: ToldSpan) -> str:
    """Return the statement before what is told: it may name what that is about."""
    pairs = pairwise(statements_in(told.passage))
    return next((before.text for before, after in pairs if after.start == told.start), "")
