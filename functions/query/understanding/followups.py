"""Making a follow-up stand alone without a model: which ones need it, and which words of the conversation they need.

Most follow-ups name what they are about, and putting the conversation before them only hides it. So words are added to
those alone that point back ("it", "that one") or hardly say anything ("why?"), and only a few: the rarest that were
said lately. The question as it was typed keeps a share of the search. Measured on MTRAG's follow-ups, with the
product's own hybrid scores: `python -m evals rewrite`.
"""

import re
from collections.abc import Sequence

from functions.query.understanding.normalization import normalized
from shared import lexical
from shared.models import Message

TYPED_SHARE = 0.4
"""Share of the search that the question as it was typed keeps. 0.3 to 0.5 are equally good on MTRAG, 0 is worse."""
MOST_TERMS = 2
LEAST_CONTENT = 5.0
"""Rarity, summed over a question's words, under which it says too little to be searched for: about one usual noun."""
ANTECEDENT_CONTENT = 12.0
"""Rarity, summed over the words before a pronoun, from which on it stands for something in the question itself: "How
did the cotton gin change farming when it came?"."""
FEW_WORDS = 3
CONTENT_RARITY = 1.5
"""Rarity from which on a word says anything."""
TELLING_RARITY = 3.0
"""Rarity from which on a word of the conversation tells what it is about."""
ANSWER_SHARE = 0.5
"""A word of an answer counts this much of one of a question."""
DECAY_A_TURN = 0.7
MESSAGE_CHARACTERS = 600
"""Characters of a message that are looked at: an answer's subject stands at its beginning."""
SESSION_CHARACTERS = 2_000
"""Characters of a whole session that are searched for, the latest ones: about what an embedding model reads well."""

_URL = re.compile(r"(?:https?://|www\.)\S+")
_WORD = re.compile(r"[^\W_]+(?:[-'’._/][^\W_]+)*")
_POINTS_BACK = {
    "en": re.compile(
        r"\b(?:its?|itself|they|them|their|theirs|he|him|his|she|her|hers)\b"
        # "this", "that" and the like, but not where they only begin a clause ("that I …", "that is …")
        r"|\b(?:this|that|these|those|such)\b(?!\s+(?:i|you|we|they|he|she|it|is|are|was|can|could|has|have|will|would|may"
        r"|might|must|should|the|a|an|my|your|there)\b)"
        r"|\b(?:is|was|about|of|for|to|with|like|do|does|did|than|by|in|on|from)\s+(?:this|that|these|those)\b",
        re.IGNORECASE,
    ),
    # Folded, because people type without diacritics.
    "lt": re.compile(
        r"\b(?:jis|jo|jam|ji|juo|jame|jos|jai|ja|joje|jie|ju|jiems|juos|jais|juose|joms|jas|jomis|jose"
        r"|tai|to|tam|tuo|tame|tas|ta|tos|toje|tie|tiems|tais|toks|tokia|tokie|tokios|tokio|ten"
        r"|sis|sio|siam|siame|sita|sitas|sito|sioje|sie|sios|pastarasis|pastaroji)\b",
        re.IGNORECASE,
    ),
}


def points_back(question: str, language: str) -> bool:
    """Say whether the question can hardly be understood without what was said before."""
    pattern = _POINTS_BACK.get(language or "en")
    pronoun = pattern.search(lexical.fold(question)) if pattern else None
    if pronoun and _content(question[: pronoun.start()], language) < ANTECEDENT_CONTENT:
        return True
    if lexical.background(language or "en"):
        return _content(question, language) < LEAST_CONTENT
    # Without a table every word looks rare: count them.
    return len(question.split()) < FEW_WORDS


def salient_terms(question: str, history: Sequence[Message], language: str) -> list[str]:
    """Return the words of the conversation that tell best what it is about and that the question does not hold.

    A word is worth its rarity, each time it was said; less in answers, and less the longer ago.
    """
    known = _terms(question, language, 0.0)
    worth: dict[str, float] = {}
    spoken: dict[str, str] = {}
    turn = 0
    for message in reversed(history):
        share = DECAY_A_TURN**turn * (1.0 if message.role == "user" else ANSWER_SHARE)
        turn += message.role == "user"
        # A refusal is about nothing that was asked.
        if message.details.get("no_relevant_info"):
            continue
        for stem, (word, rarity) in _terms(message.content[:MESSAGE_CHARACTERS], language, TELLING_RARITY).items():
            if stem not in known:
                worth[stem] = worth.get(stem, 0.0) + share * rarity
                spoken.setdefault(stem, word)
    return [spoken[stem] for stem in sorted(worth, key=lambda stem: -worth[stem])[:MOST_TERMS]]


def standalone_question(question: str, history: Sequence[Message], language: str = "") -> str:
    """Return a question that can be searched for on its own; one that needs no help is returned as it is."""
    if not history or not points_back(question, language):
        return question
    return " ".join([question, *salient_terms(question, history, language)])


def whole_session(question: str, history: Sequence[Message]) -> str:
    """Return all that was asked, the question last; the oldest is left out where it gets too long."""
    asked = [normalized(message.content) for message in history if message.role == "user"]
    text = question
    for earlier in reversed(asked):
        if len(earlier) + 1 + len(text) > SESSION_CHARACTERS:
            break
        text = f"{earlier} {text}"
    return text


def _content(text: str, language: str) -> float:
    """Return how much a text says: the rarity of its words, summed."""
    return sum(rarity for _, rarity in _terms(text, language, CONTENT_RARITY).values())


def _terms(text: str, language: str, least: float) -> dict[str, tuple[str, float]]:
    """Map the stems of a text's words, numbers left out, to the word and its rarity, from a rarity of `least` on."""
    table = lexical.background(language or "en")
    found: dict[str, tuple[str, float]] = {}
    for match in _WORD.finditer(_URL.sub(" ", text)):
        terms = next(lexical.words_of(match.group(), language or "en"), None)
        stem = terms[0][0] if terms else ""
        rarity = table.get(stem, lexical.RAREST)
        if stem and not stem.isdigit() and rarity >= least:
            found.setdefault(stem, (match.group(), rarity))
    return found
