"""What came of something: whether a sentence tells it, or only what was put forward, asked, planned or left to decide.

"Was the sale approved?" is not settled by "The station is to be sold.", but by the line below that: "Vote: … Lost."
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from functions.query.grounding.words import content_stems, other_words_of
from functions.query.understanding.question import patterns_of
from functions.query.writing.statements import Statement
from shared.language import FUNCTION_WORDS, language_of
from shared.text import begins_with_title, sentences_of

SETTLED = 1.5
"""Factor for what was put forward where it is asked whether it has come about, and what came of it is told below."""
MAX_AHEAD = 3
"""Statements behind what was put forward that may tell what came of it."""

_SUBJECT = re.compile(r"\A(?:the|der|die|das|el|la|le) ([^\W\d_]{4})", re.IGNORECASE)
"""The beginning of what a sentence is about: "The proposal" of what was proposed."""
_LABELLED = re.compile(r"\A[^\W\d_]+\s?:\s")
"""The beginning of a line that adds to what stands above: "Vote: 3 in favour"."""
_ANY_LANGUAGE = "*"


_PATTERNS = patterns_of("outcome_patterns.txt")
_UNDER_WAY, _AUXILIARY, _REFERS, _INSERTED, _BORDER = (
    re.compile(_PATTERNS[kind][_ANY_LANGUAGE], re.IGNORECASE)
    for kind in ("under_way", "auxiliary", "refers", "inserted", "border")
)


@cache
def _pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Return the pattern of a kind in a language, compiled when it is first asked for."""
    pattern = _PATTERNS[kind].get(language)
    return re.compile(pattern, re.NOFLAG if kind == "open" else re.IGNORECASE) if pattern else None


@lru_cache(maxsize=256)
def asks_outcome(question: str) -> bool:
    """Return whether a question asks whether something has come about: "Was the sale approved?"."""
    pattern = _pattern("asked", language_of(question))
    return pattern is not None and pattern.search(question.strip()) is not None


def is_settled_below(first: Statement, below: Sequence[Statement], question: str) -> bool:
    """Return whether it is asked what came of what a statement puts forward, and those below it tell that."""
    if first.is_row or not asks_outcome(question) or not is_open(first.text, first.language, question):
        return False
    # "Each guest shall pay a tax" is not what is asked about in "Has the grant been paid?".
    if _matter_of(question, first.language).isdisjoint((*first.stems, *first.context_stems)):
        return False
    return outcome_after([first.text, *(each.text for each in below)], question, first.language) > 0


def is_of_another_matter(statement: Statement, question: str) -> bool:
    """Return whether a statement has of a question for an outcome what was done, and nothing of what it was done to.

    "The minutes were approved" tells nothing of "Was the sale approved?".
    """
    if statement.is_row or not asks_outcome(question):
        return False
    language = statement.language
    matter = _matter_of(question, language)
    others = frozenset().union(*(other_words_of(stem, language) for stem in matter))
    held = frozenset((*statement.stems, *statement.context_stems))
    return bool(matter) and held.isdisjoint(matter | others) and not held.isdisjoint(_stems_done(question, language))


def _matter_of(question: str, language: str) -> frozenset[str]:
    stems = frozenset(content_stems(question, language)) - _stems_done(question, language)
    return stems - frozenset(FUNCTION_WORDS.get(language, ()))


def is_open(text: str, language: str, question: str = "") -> bool:
    """Return whether a text only tells what was put forward, asked, planned or left to decide.

    "It was agreed that the fee shall be £10." tells that it was agreed, if that is the question.
    """
    pattern = _pattern("open", language)
    if pattern is None:
        return False
    asked = _stems_done(question, language)
    sentences = [text[start:end] for start, end in sentences_of(text)][begins_with_title(text) :]
    clauses = [clause for sentence in sentences for clause in _BORDER.split(sentence)]
    return all(_is_clause_open(clause, pattern, asked, language) for clause in clauses)


def _is_clause_open(clause: str, pattern: re.Pattern[str], asked: frozenset[str], language: str) -> bool:
    if asked and _UNDER_WAY.search(clause) and asked.isdisjoint(_stems_done(clause, language)):
        return True
    opens = pattern.search(clause)
    if opens is None:
        return False
    rest = _INSERTED.sub("", clause)
    if rest != clause and not asked.isdisjoint(content_stems(rest, language)):
        return _is_clause_open(rest, pattern, asked, language)
    told = [clause[: opens.start()]]
    for auxiliary in _AUXILIARY.finditer(clause):
        again = pattern.search(clause, auxiliary.start())
        told.append(clause[auxiliary.end() : again.start() if again else len(clause)])
    return all(asked.isdisjoint(content_stems(each, language)) for each in told)


@lru_cache(maxsize=256)
def _stems_done(question: str, language: str) -> frozenset[str]:
    pattern = _pattern("done", language)
    words = pattern.findall(question) if pattern else ()
    return frozenset(stem for word in words for stem in content_stems(word, language))


def leaves_open(told: Sequence[tuple[str, str]], question: str) -> bool:
    """Return whether an answer's texts, with their languages, do not tell what came of what is asked about.

    The one with most of the question's words is open, and none behind it tells what came of that.
    """

    def share(at: int) -> int:
        text, language = told[at]
        stems = frozenset(content_stems(text, language))
        is_done = not stems.isdisjoint(_stems_done(question, language))
        return len(stems.intersection(content_stems(question, language))) + is_done

    best = max(range(len(told)), key=share)
    text, language = told[best]
    return is_open(text, language, question) and not outcome_after(
        [text for text, _ in told[best:]], question, language
    )


def outcome_after(texts: Sequence[str], question: str, language: str) -> int:
    """Return how many of the texts behind what is open must be told for what came of it; 0 if they do not tell it.

    It stands below a label, refers to what stands before, or has a word of the question or of the title above it.
    """
    first, *after = texts
    title = first[slice(*sentences_of(first)[0])] if begins_with_title(first) else ""
    asked = question.split(maxsplit=1)[-1]  # without "was", "wurde", "fue", "ar"
    small = FUNCTION_WORDS.get(language, ())  # "la" is none of the matter's words
    stems = content_stems(f"{asked} {title}", language)
    known = frozenset(stem for stem in stems if not stem.isdigit() and stem not in small)
    told = 0
    for number, text in enumerate(after[:MAX_AHEAD], start=1):
        subject = _SUBJECT.match(text)
        is_about = (
            bool(_REFERS.match(text))
            or (subject is not None and re.search(rf"\b{subject[1]}", first, re.IGNORECASE) is not None)
            or not known.isdisjoint(content_stems(text, language))
        )
        if begins_with_title(text) or (told and not is_about):
            break
        if (is_about or _LABELLED.match(text)) and not is_open(text, language, question):
            told = number
    return told
