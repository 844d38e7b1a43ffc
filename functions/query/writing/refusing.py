"""What is said instead of an answer, and how a model's own words for "I do not know" are told from a claim."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from functions.query.writing.localization import comparable, languages, texts_for
from shared.lexical import fold
from shared.settings import Settings

Refusal = Literal["no_relevant_info", "model_does_not_know", "nothing_proven"]
"""Who found nothing: the search; the model that read the sources; or the proof, which let nothing by."""

_PATTERNS = Path(__file__).parents[1] / "texts" / "dont_know_patterns.txt"
_LOOKED_AT = 400
"""Characters of a sentence that are compared with the patterns."""
_COURTESY = "+ "
_NAMED = "SOURCES"
_LEAD = r"\W*(?:[^.!?;:\n]{0,80},\s+)?(?:(?:but|however|unfortunately|sorry|bet|deja|aber|leider|mais|pero|ale),?\s+)*"
"""What may stand before it: "Based on the sources,", "I'm sorry, but"."""


class _Said(NamedTuple):
    sentences: frozenset[str]
    patterns: re.Pattern[str]


def refusal_text(kind: Refusal, language: str, settings: Settings) -> str:
    """Return what is said in place of an answer, with the offer of a person's help where that is set."""
    texts = texts_for(language, settings.default_language)
    said = texts.no_relevant_info if kind == "no_relevant_info" else texts.dont_know
    return f"{said} {texts.handoff_offer}" if settings.handoff_offer else said


def says_it_does_not_know(sentences: Iterable[str]) -> bool:
    """Say whether sentences of a model, none of which was proven, come to "the sources do not say", and to no more."""
    ignorance, courtesy = _ignorance(), _courtesy()
    found = False
    for sentence in sentences:
        if _says(ignorance, sentence):
            found = True
        elif not _says(courtesy, sentence):
            return False
    return found


def _says(said: _Said, sentence: str) -> bool:
    return comparable(sentence) in said.sentences or said.patterns.match(_folded(sentence)) is not None


def _folded(sentence: str) -> str:
    return " ".join(fold(sentence[:_LOOKED_AT].replace("’", "'")).split())


@cache
def _ignorance() -> _Said:
    known = [texts_for(language) for language in languages()]
    fixed = frozenset(comparable(said) for texts in known for said in (texts.dont_know, texts.no_relevant_info))
    return _Said(fixed, _any_of(line for line in _lines() if not line.startswith(_COURTESY)))


@cache
def _courtesy() -> _Said:
    fixed = frozenset(comparable(texts_for(language).handoff_offer) for language in languages())
    return _Said(fixed, _any_of(line.removeprefix(_COURTESY) for line in _lines() if line.startswith(_COURTESY)))


def _any_of(lines: Iterable[str]) -> re.Pattern[str]:
    return re.compile(f"{_LEAD}(?:{'|'.join(f'(?:{line})' for line in lines)})", re.IGNORECASE)


@cache
def _lines() -> tuple[str, ...]:
    lines = [line for line in _PATTERNS.read_text(encoding="utf-8").splitlines() if line and line[:2] != "# "]
    named = next(line for line in lines if line.startswith(f"{_NAMED} = ")).partition(" = ")[2]
    return tuple(line.replace(_NAMED, named) for line in lines if not line.startswith(f"{_NAMED} = "))
