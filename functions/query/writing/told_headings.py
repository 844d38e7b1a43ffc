"""Headings and what stands below them: which say what is asked, and which are told.

An answer without a model tells the heading without which what stands below it is misread.
"""

import re
from functools import lru_cache

from functions.query.grounding.injection import is_injected
from functions.query.grounding.words import content_stems, has_digit, other_words_of, tokens_of
from functions.query.retrieval.passages import Passage, last_title
from functions.query.understanding.days import names_days
from functions.query.understanding.question import without_relative_time
from functions.query.understanding.vocabulary import are_of_family
from functions.query.writing.asked import Asked
from functions.query.writing.list_items import is_item
from functions.query.writing.row_doubts import small_words_of
from functions.query.writing.statements import Statement
from functions.query.writing.table_words import EXCLUDES, JOINS, NOT
from shared import lexical
from shared.text import begins_with_title

_SET_APART = re.compile(
    r"(?:notes?|tips?|hint|pastaba|patarimas|hinweis|tipp|nota|consejo|remarque|astuce)\s?:?", re.IGNORECASE
)
"""Words above a text that is set apart: they say nothing about what it tells."""


MIN_OF_TITLE, MIN_OF_QUESTION = 0.75, 0.6
"""Shares of a section title's words that a question has, and of the question's that the title has, to be about that."""


def is_headed(asked: Asked, passage: Passage, section: str, language: str, *, wholly: bool = False) -> bool:
    """Return whether the title of a passage's section says what is asked, but for the document's own name.

    `wholly`: it is a question, too, and says all of that and no more.
    """
    names = " ".join((passage.title, *passage.organisations))
    question = without_relative_time(asked.text)
    return _says_what_is_asked(last_title(section), question, names, language, wholly=wholly)


@lru_cache(maxsize=2_000)
def _says_what_is_asked(title: str, question: str, names: str, language: str, *, wholly: bool) -> bool:
    """Return whether a title says what a question asks: one word must be all, of several most; `names` need not be.

    `wholly`: it must be a question with all of its words, or other words for them, at least two, and no others.
    """
    told, asked, of_document = (frozenset(content_stems(text, language)) for text in (title, question, names))
    if language != "en":  # English small words are left out already
        small = frozenset(lexical.stem(word, language) for word in small_words_of(language))
        told, asked = told - small, asked - small
    asked -= of_document - told
    told = frozenset(stem for stem in told if not has_digit(stem))
    if not told or not asked:
        return False
    meant = frozenset().union(*({stem, *other_words_of(stem, language)} for stem in told))
    is_question = title.endswith("?") and len(told) > 1 and len(told) == len(asked) and asked <= meant
    if wholly or is_question:
        return is_question
    shared = {stem for stem in told if stem in asked or any(are_of_family(stem, one, language) for one in asked)}
    is_whole = len(shared) > 1 or len(shared) == len(asked)
    return is_whole and len(shared) >= MIN_OF_TITLE * len(told) and len(shared) >= MIN_OF_QUESTION * len(asked)


def heading_to_tell(asked: Asked, passage: Passage, statement: Statement) -> tuple[int, int] | None:
    """Return where the heading stands in a passage that is told above a statement; None if there is none.

    It turns the statement ("What is not covered"), says of which day it is where a day is asked about, or names what it
    is about, as a term does.
    """
    if denying := _denying(passage, statement):
        return denying
    heading = statement.heading or _of_day(asked, passage, statement)
    return heading if heading and _names(asked, passage, heading, statement.language) else None


def _denying(passage: Passage, statement: Statement) -> tuple[int, int] | None:
    """Return where the heading stands that turns what is told below it; None if that denies something itself."""
    name = last_title(passage.section_at(passage.char_start + statement.start))
    if not _denies(name) or _denies(statement.text) or is_injected(name, 0, len(name)):
        return None
    if not JOINS.isdisjoint(tokens_of(name)):
        return None  # "Included and not included"
    lines = [found.span() for found in re.finditer(rf"^{re.escape(name)}$", passage.text, re.MULTILINE)]
    heading = next((each for each in reversed(lines) if each[1] <= statement.start), None)
    if heading is None or begins_with_title(statement.text):
        return None
    # Below its list another matter may begin: "Do not take it if … Driving. It may make you dizzy."
    above = passage.text[heading[1] : statement.start].split("\n")
    return None if any(map(is_item, above)) and not is_item(statement.text) else heading


def _denies(text: str) -> bool:
    return not (NOT | EXCLUDES).isdisjoint(tokens_of(text))


def _of_day(asked: Asked, passage: Passage, statement: Statement) -> tuple[int, int] | None:
    """Return where the heading stands that says of which day a statement tells, where a day is asked about."""
    heading = statement.heading_above
    if not names_days(asked.text, heading) or names_days(asked.text, statement.text):
        return None
    start = passage.text.rfind(heading, 0, statement.start)
    return (start, start + len(heading)) if start >= 0 else None


def _names(asked: Asked, passage: Passage, heading: tuple[int, int], language: str) -> bool:
    """Return whether a heading names what the text below it tells, rather than a section, in words not asked with."""
    text = passage.text[slice(*heading)]
    return (
        text[:1].isalnum()
        and not text[:1].isdigit()
        and not _SET_APART.fullmatch(text)
        and text.casefold() not in passage.section_at(passage.char_start + heading[0]).casefold()
        and not frozenset(content_stems(asked.text, language)).issuperset(content_stems(text, language))
        and not is_injected(passage.text, *heading)
    )
