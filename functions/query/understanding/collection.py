"""Questions about the collection itself: how many documents there are of a kind, which, and what one of them holds.

They are answered from the registry. Most look like questions about contents ("How many reports were filed?"), so one is
taken only if it names documents in the right place, and, unless it says that it means the collection ("do we have"),
only if the names of documents hold all its other words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from functions.query.understanding.talk import ServiceWords, by_language, folded_words

MAX_WORDS = 30
"""Words of a question about the collection at most."""
MAX_BETWEEN = 4
"""Words between "how many", "which" or "list" and what documents are called."""

_QUOTED = re.compile(r"[\"“”„«»‘’']\s*([^\"“”„«»]{3,}?)\s*[\"“”«»‘’']")
_FILE = re.compile(r"\S+\.pdf\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class CollectionQuestion:
    """A question about the collection.

    `terms` are the words that the names of the documents must hold; `kinds` say what the documents are called
    ("manuals"). If it is not `certain` and no document matches, it is an ordinary question after all.
    """

    wants: Literal["catalogue", "summary"]
    language: str
    terms: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    certain: bool = False


def collection_question(question: str, language: str, *, has_history: bool) -> CollectionQuestion | None:
    """Return what a question wants to know about the collection, None for any other question."""
    words = folded_words(question)
    if not words or len(words) > MAX_WORDS:
        return None
    said = frozenset(words)
    for code, spoken in by_language(language):
        if "noun" not in spoken.words or said.isdisjoint(
            spoken.words["noun"] | spoken.words["summary"] | spoken.words["gist"]
        ):
            continue
        found = _catalogue(words, code, spoken) or _summary(question, words, code, spoken, has_history=has_history)
        if found:
            return found
    return None


def _catalogue(words: Sequence[str], language: str, spoken: ServiceWords) -> CollectionQuestion | None:
    said = frozenset(words)
    nouns, general = spoken.words["noun"], spoken.words["any"]
    at = next((number for number, word in enumerate(words) if word in nouns), None)
    ours = [line for line in spoken.of("ours") if line.is_in(said)]
    if at is None:
        return None
    leads = [line for line in spoken.of("count", "which", "list") if line.is_in(frozenset(words[:at]))]
    between = [word for word in words[:at] if not any(word in line.words for line in leads)]
    if leads and leads[0].kind != "list" and any(word in spoken.filler for word in between):
        return None
    if len(between) > MAX_BETWEEN or not (leads or (ours and words[0] in spoken.filler)):
        return None
    known = spoken.common.union(nouns, *(line.words for line in (*leads, *ours)))
    terms = tuple(word for word in words if word not in known)
    kinds = tuple(word for word in words if word in nouns - general)
    counts = any(line.kind == "count" for line in leads)
    only_years = bool(terms) and all(map(_YEAR.fullmatch, terms))
    return CollectionQuestion(
        "catalogue", language, terms, kinds, bool(leads) and (only_years or (counts and bool(ours)))
    )


def _summary(
    question: str, words: Sequence[str], language: str, spoken: ServiceWords, *, has_history: bool
) -> CollectionQuestion | None:
    said = frozenset(words)
    first = next((at for at, word in enumerate(words) if word not in spoken.common), len(words))
    asked = [line for line in spoken.of("summary") if line.is_in(frozenset(words[: first + 1]))]
    gist = [line for line in spoken.of("gist") if line.is_in(said) and words[0] in line.words]
    if not (asked or gist):
        return None
    known = spoken.common.union(spoken.words["any"], *(line.words for line in (*asked, *gist)))
    named = _QUOTED.search(question) or _FILE.search(question)
    name = folded_words(named.group().removesuffix(".pdf")) if named else [word for word in words if word not in known]
    certain = bool(asked) and (bool(named) or not said.isdisjoint(spoken.words["any"]))
    if not name and (gist or (has_history and not certain)):
        return None
    return CollectionQuestion("summary", language, tuple(name), certain=certain or not name)
