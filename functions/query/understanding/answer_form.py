"""Sentences that only say how to answer ("Write the answer as a list, in ascending order.") are not searched for.

The model has to know them, the documents do not hold them: their words only draw in passages about lists, orders and
formats. Measured on MMLongBench, where 45 of 164 questions have one: 11 find their page earlier without it, 4 later.
"""

import re
from pathlib import Path

from shared import identity, lexical

_LISTS: dict[str, set[str]] = {}
for _line in (Path(__file__).parents[1] / "texts" / "answer_form.txt").read_text(encoding="utf-8").splitlines():
    if not _line.startswith("#"):
        _LISTS.setdefault(_line.split()[0], set()).update(_line.split()[1:])
_BEGINS, _NAMES, _WORDS = (frozenset(_LISTS[name]) for name in ("begins", "names", "words"))
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=\S)")
_EXAMPLE = re.compile(r"\[.*?\]|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|\be\.g\.")
_GIVES_EXAMPLE = re.compile(r"for example|e\.g\.|pvz\.|pavyzdziui", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")


def searched_for(question: str, language: str = "en") -> str:
    """Return the question without the sentences after the first that only say what form the answer shall have."""
    first, *others = _SENTENCE.split(question)
    if not others:
        return question
    kept, known, left_out = [first], _stems(first, language), False
    for sentence in others:
        left_out = _is_about_the_form(sentence, known, language) or (left_out and bool(_GIVES_EXAMPLE.match(sentence)))
        if not left_out:
            kept.append(sentence)
            known |= _stems(sentence, language)
    return " ".join(kept)


def _is_about_the_form(sentence: str, known: set[str], language: str) -> bool:
    """Say whether a sentence begins as a request and, but for words of the question, speaks of the answer's form alone.

    One other word is let pass where it names the answer: people write "the answer in floqt format".
    """
    words = _words(_EXAMPLE.sub(" ", sentence))
    if sentence.endswith("?") or not words:
        return False
    names_it = not _NAMES.isdisjoint(words)
    if words[:2] in (["the", "answer"], ["your", "answer"]):
        return True
    if words[0] not in _BEGINS or not (names_it or not _WORDS.isdisjoint(words)):
        return False
    formal = _BEGINS | _NAMES | _WORDS
    table = lexical.background(language) or lexical.background("en")
    stems = [lexical.stem(word, language) for word in words if word not in formal]
    news = [stem for stem in stems if stem not in known and table.get(stem, lexical.RAREST) >= identity.COMMON]
    return len(news) <= names_it


def _words(text: str) -> list[str]:
    return _WORD.findall(lexical.fold(text).lower())


def _stems(text: str, language: str) -> set[str]:
    return {lexical.stem(word, language) for word in _words(text)}
