"""What a question says is not so: "someone who does not live in the parish", "I have not registered the bike"."""

from functools import lru_cache

from functions.query.grounding.words import is_stop_word
from functions.query.understanding.question import without_contractions
from functions.query.understanding.vocabulary import are_of_family
from functions.query.writing.table_words import DENIES, EITHER, JOINS, NOT, AskedWord, words_in

WORDS_AFTER = 4
"""Words behind a negation in which what it denies is looked for."""
WORDS_BEFORE = 3
"""Words before a word of a text in which what denies it is looked for."""
_DENIES = DENIES | {"non", "un"}


@lru_cache(maxsize=256)
def denied_words(question: str, language: str) -> tuple[AskedWord, ...]:
    """Return the content words that a question denies; none where it asks for one of two: "or not"."""
    text = without_contractions(question)
    words = words_in(text, language)
    found: list[AskedWord] = []
    for at, each in enumerate(words):
        if each.word not in NOT or (at and words[at - 1].word in EITHER | {"if", "why"}):
            continue
        last = each.end
        for other in words[at + 1 : at + 1 + WORDS_AFTER]:
            if other.word in JOINS or any(mark in text[last : other.start] for mark in ",;:.?–-"):
                break
            last = other.end
            if not is_stop_word(other.word):
                found.append(other)
    return tuple(found)


def agrees_on_denied(text: str, question: str, language: str, *, is_label: bool) -> bool | None:
    """Return whether a text denies, too, what a question denies; None if it does not speak of that.

    A sentence speaks of it with the first word that is denied: "has not answered my request". The label of a row may
    do so with any: "does not live in the parish".
    """
    denied = denied_words(question, language)
    denied = denied if is_label else denied[:1]
    words = words_in(text, language) if denied else ()
    spoken_of = False
    for at, each in enumerate(words):
        if not any(each.key == one.key or are_of_family(each.word, one.word, language) for one in denied):
            continue
        if any(before.word in _DENIES for before in words[max(0, at - WORDS_BEFORE) : at]):
            return True
        spoken_of = True
    return False if spoken_of else None
