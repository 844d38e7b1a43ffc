"""Questions for all things that meet a condition: "Which dishes contain sesame?", "Who is absent?"."""

import re

from functions.query.understanding.question import DEGREES

MAX_WORDS = 14
"""Words of such a question at most: a longer one sets more than two conditions."""
_OPENS = re.compile(
    r"\W*(?:(?:which|list)\b|what (?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|the"
    r"|an?)\b)|who (?!(?:is|are|was|were) (?:the|our|your|my|an?)\b)|welche[rs]?\b|wer\b|was (?!ist|sind|war)"
    r"|quel(?:le)?s?\b|qui\b|qué\b|quiénes\b|cuáles\b|kurie\b|kurios\b|kas\b)",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:or|if|except|only|unless|oder|wenn|nur|ou|si|o|arba|jei)\b", re.IGNORECASE)
_LIMIT = re.compile(r"\bat (?:least|most)\b")
_WORD = re.compile(r"\w+")


_COUNTS = {
    "how many": "which", "wie viele": "welche", "combien de": "quels", "combien d'": "quels ", "cuántos": "qué",
    "cuántas": "qué", "kiek": "kurie",
}  # fmt: skip
"""How a question for a number of things begins, and how one for the things does."""


def which_are_counted(question: str) -> str:
    """Return a question for how many things meet a condition as one for the things; empty if it is none."""
    plain = question.strip().replace("’", "'")
    for how_many, which in _COUNTS.items():
        if plain.lower().startswith(how_many):
            return which + plain[len(how_many) :]
    return ""


def asks_which(question: str) -> bool:
    """Say whether a question asks which things meet a condition, or two, by how it begins and what it does without."""
    words = _WORD.findall(_LIMIT.sub(" ", question.lower()))
    return (
        len(words) <= MAX_WORDS
        and _OPENS.match(question) is not None
        and _MORE.search(question) is None
        and DEGREES.isdisjoint(words)
    )
