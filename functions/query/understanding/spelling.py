"""Misspelt words of a question, corrected to words of the tenant's own passages.

A word may be misspelt if its language's common words do not include it and no passage holds it. It is corrected to the
nearest word of the passages that the first search has found, if one is near: nothing else knows the tenant's names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from functions.query.retrieval.passages import Passage
from shared import identity, lexical

SHORTEST = 5
"""Letters of a word that may be misspelt by one letter."""
LONG = 8
"""Letters of a word that may be misspelt by two, if not at its beginning."""

OPENINGS = ("what", "when", "where", "which", "who", "whose", "why", "how", "does", "did", "can")
"""English words that a question begins with."""
BEHIND_HOW = ("much", "many", "long", "often", "far", "old")
"""English words behind "how" that say what kind of answer is asked for."""
LEAST_OF_QUESTION = 3
"""Letters of a misspelt one of these, at least."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
LEAST_LETTERS_FURTHER = 7
"""Letters of a word that is corrected to one further down among the hits: shorter ones are near too many."""
_LETTERS = re.compile(r"[^\W\d_]{4,}")


def corrections(
    question: str, language: str, passages: Sequence[Passage], *, near: int | None = None
) -> Mapping[str, str]:
    """Map the misspelt words of a question, as typed, to words of the passages, of the first `near` if those have any.

    No passage may hold a misspelt word. Only for languages whose common words are known (`lexical.background`).
    """
    table = lexical.background(language)
    if not table or not passages:
        return {}
    unknown = [
        word
        for word in dict.fromkeys(_WORD.findall(question))
        if len(word) >= SHORTEST and word.isalpha() and not word.isupper() and not _is_common(word, language, table)
    ]
    if not unknown:
        return {}
    first, others = passages[:near], () if near is None else passages[near:]
    # The question may be in their language, though it was too short to tell.
    spoken = {each.language for each in first} - {"", language}
    unknown = [word for word in unknown if not any(_is_common(word, each, lexical.background(each)) for each in spoken)]
    text = _text(first)
    missing = [word for word in unknown if not _occurs(word.casefold(), text, language)]
    rest = _text(others) if missing else ""  # most words are in the first passages
    missing = [word for word in missing if not _occurs(word.casefold(), rest, language)]
    if not missing:
        return {}
    found: dict[str, str] = {}
    for looked_in in (text, rest):
        words = Counter(_LETTERS.findall(looked_in))
        plain = {lexical.fold(word) for word in words}
        for word in missing:
            is_sure = looked_in is text or len(word) >= LEAST_LETTERS_FURTHER
            if is_sure and not found.get(word) and lexical.fold(word).casefold() not in plain:
                found[word] = _nearest(word.casefold(), words)
    return {word: _like(word, other) for word, other in found.items() if other}


def question_words(question: str) -> Mapping[str, str]:
    """Map the misspelt first words of an English question to what they should be: "Wat time", "How mutch".

    One that may be two of them stays as it is, "hwo", and so does what may be a name: "Wat Pho", "CAD", "Wham:".
    """
    table = lexical.background("en")
    found: dict[str, str] = {}
    before = ""
    words = [*_WORD.finditer(question)][:3]
    for at, match in enumerate(words[:2]):
        word = match.group()
        wanted = BEHIND_HOW if before == "how" else () if before else OPENINGS
        before = word.lower()
        if len(word) < LEAST_OF_QUESTION or _is_common(word, "en", table):
            continue
        behind = words[at + 1].group()[:1] if at + 1 < len(words) else ""
        is_apart = question[match.end() : match.end() + 1] not in {"", " ", "?"}
        if not word[1:].islower() or (at and word[0].isupper()) or behind.isupper() or is_apart:
            continue
        near = [other for other in wanted if distance(before, other, most=1) == 1]
        if len(near) == 1:
            before = near[0]
            found[word] = _like(word, before)
    return found


def stands_in(words: Iterable[str], passages: Sequence[Passage]) -> bool:
    """Return whether the passages hold one of these words."""
    text = _text(passages)
    return any(re.search(rf"\b{re.escape(word.casefold())}\b", text) for word in words)


def corrected(text: str, words: Mapping[str, str]) -> str:
    """Return the text with these words replaced."""
    return _WORD.sub(lambda match: words.get(match.group(), match.group()), text)


def distance(one: str, other: str, *, most: int) -> int:
    """Return how many letters must be inserted, left out, replaced or swapped with the next to turn one into the other.

    The optimal string alignment distance (Damerau 1964); `most` + 1 for anything over `most`.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        before, former, row = row, before, [at]
        for column, beside in enumerate(other, start=1):
            cost = min(before[column] + 1, row[column - 1] + 1, before[column - 1] + (letter != beside))
            if at > 1 and column > 1 and letter == other[column - 2] and one[at - 2] == beside:
                cost = min(cost, former[column - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def allowed_distance(word: str) -> int:
    """Return by how many letters another spelling of a word may differ."""
    return 0 if len(word) < SHORTEST or not word.isalpha() else 1 if len(word) < LONG else 2


def _text(passages: Sequence[Passage]) -> str:
    parts = (part for each in passages for part in (each.text, each.section, identity.name_of(each.title, each.key)))
    return "\n".join(parts).casefold()


def _is_common(word: str, language: str, table: Mapping[str, float]) -> bool:
    terms = [term for spoken in {language, "en"} for term, _ in next(lexical.words_of(word, spoken), ())]
    # The stem of an English superlative keeps its ending: "lightest".
    return any(term in table or term.removesuffix("est") in table for term in terms)


def _occurs(word: str, text: str, language: str) -> bool:
    """Say whether a text holds a word, or another with its stem."""
    return word in text or (len(stem := lexical.stem(word, language)) >= SHORTEST - 1 and stem in text)


def _nearest(word: str, vocabulary: Counter[str]) -> str:
    """Return the nearest word, the most frequent of equally near ones; empty if none is near."""
    most = allowed_distance(word)
    letters = set(word)
    near = [
        (away, -count, other)
        for other, count in vocabulary.items()
        if abs(len(other) - len(word)) <= most
        and len(letters ^ set(other)) <= 2 * most
        and (away := distance(word, other, most=most)) <= most
        # Two letters and the first one make another word: "unicycle" is no "bicycle".
        and (away < 2 or other[:1] == word[:1])
    ]
    return min(near)[2] if near else ""


def _like(word: str, other: str) -> str:
    return other.capitalize() if word[:1].isupper() else other
