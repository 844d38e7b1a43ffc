"""Which follow-ups need the conversation, by their pronouns or because they say too little, and which of its words."""

import re
from collections.abc import Sequence
from itertools import pairwise

from functions.query.understanding.phrases import read, small_words
from functions.query.understanding.question import of_any_language, patterns_of
from functions.query.understanding.talk import by_language
from shared import lexical
from shared.models import Message

ADDED_TERMS = 2
MIN_CONTENT = 5.0
"""Minimum summed rarity of a question that can be searched for on its own: about one common noun."""
MAX_THIN_WORDS = 1
"""Words with a meaning that a question has at most if it says too little to be searched for."""
ANTECEDENT_CONTENT = 12.0
"""Minimum summed rarity of the words before a pronoun that refers to the question itself: "How did the cotton gin
change farming when it came?"."""
FEW_WORDS = 3
CONTENT_RARITY = 1.5
"""Minimum rarity of a content word."""
TELLING_RARITY = 3.0
"""Minimum rarity of a word that shows what the conversation is about."""
ANSWER_SHARE = 0.5
"""Weight of a word in an answer, against 1 in a question."""
DECAY_PER_TURN = 0.7
MESSAGE_CHARACTERS = 600
"""Characters of a message that are read: an answer's subject is at its beginning."""

MAX_WORDS_BETWEEN = 2
"""Words between two that are taken over together."""

_URL = re.compile(r"(?:https?://|www\.)\S+")
_WORD = re.compile(r"[^\W_]+(?:[-'’._/][^\W_]+)*")
POINTS_AT_A_THING = re.compile(r"its?|they|them|their", re.IGNORECASE)
"""English pronouns in whose place the name of a thing may stand."""
_PATTERNS = patterns_of("pointing_patterns.txt")
_POINTS_BACK = {
    language: re.compile(pattern, re.NOFLAG if language == "de" else re.IGNORECASE)
    for language, pattern in _PATTERNS["back"].items()
}
_STANDS_FOR_NOTHING = {language: re.compile(pattern, re.IGNORECASE) for language, pattern in _PATTERNS["idle"].items()}
"""Pronouns that only hold a place."""
_PART_OF = of_any_language(_PATTERNS["part"])
_OWN_THING = re.compile(
    r"\b(?i:the|an?|my|your|our|any|every|each|which|many|much|all)\s+\w+|(?<=\w\s)[A-Z0-9]\w+|\w*\d\w*"
)
"""How a thing begins that a pronoun behind it, in the same question, may stand for."""
_CLAUSE = re.compile(
    r"[,;:]|\b(?:if|when|while|because|after|before|and|or|but|that|which|who|where|unless|until|once|as|since|so)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\b(?:i|you|we)\b", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(r"(?:this|that|these|those|such)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:its|their|his|her)(?=\s+\w)", re.IGNORECASE)


def pronoun_of(question: str, language: str) -> re.Match[str] | None:
    """Return the first pronoun of the question that stands for something said before."""
    pattern = _POINTS_BACK.get(language or "en")
    text = question if language == "de" else lexical.fold(question)
    if pattern is None or len(text) != len(question):
        return None
    nothing = _STANDS_FOR_NOTHING.get(language or "en")
    idle = {found.start(found.lastindex or 0) for found in nothing.finditer(text)} if nothing else set[int]()
    return next(
        (
            found
            for found in pattern.finditer(text)
            if found.start() not in idle
            and not _names_a_document_or_time(text[found.start() :], language or "en")
            and not _has_its_thing(text, found, language or "en")
        ),
        None,
    )


def _names_a_document_or_time(text: str, language: str) -> bool:
    """Say whether a text begins with "this report" or "this year", which everyone understands."""
    words = [word.casefold() for word in _WORD.findall(text[:60])]
    demonstrative = next((at for at, word in enumerate(words[:2]) if word in {"this", "that", "these", "those"}), None)
    if demonstrative is None or len(words) < demonstrative + 2:
        return False
    noun = words[demonstrative + 1]
    documents = by_language(language)[0][1].words.get("noun", frozenset())
    return noun in small_words(language).get("known", ()) or noun in documents


def _has_its_thing(text: str, pronoun: re.Match[str], language: str) -> bool:
    """Say whether a pronoun stands for something in its own question: "What does the pump do if it is dry?"."""
    before = text[: pronoun.start()]
    if _content(before, language) >= ANTECEDENT_CONTENT:
        return True
    if language == "fr":
        # "Les chats sont-ils permis ?"
        return pronoun[0].startswith("-") and any(each.has_article for each in read(before, language).phrases)
    if language != "en" or _DEMONSTRATIVE.search(pronoun[0]):
        return False
    thing = next(iter(_OWN_THING.finditer(before)), None)
    if thing is not None and _POSSESSIVE.match(text, pronoun.start()):
        return True
    border = list(_CLAUSE.finditer(before))[-1:]
    if not border:
        return False
    if thing is not None and thing.end() <= border[0].start():
        return True
    earlier = _CLAUSE.sub(" ", before[: border[0].start()])
    return not _SPEAKER.search(earlier) and bool(_terms(earlier, language, CONTENT_RARITY))


def names_another_thing(question: str, pronoun: re.Match[str], language: str) -> bool:
    """Say whether a question names a thing beside a pronoun, which may stand for nothing: "Is it dark in the cellar?".

    What belongs to it is none ("its lid"), nor a time. One that does or has something is surely a thing: "Does it …?".
    """
    words, asked = small_words(language), read(question, language)
    for at, (before, token) in enumerate(pairwise(asked.tokens), 2):
        if token.start == pronoun.start() and before.folded in words.get("act", ()):
            done = asked.tokens[at].folded if at < len(asked.tokens) else ""
            return done in words.get("weather", ())  # "Does it rain?" speaks of nothing
    owned = {
        token.start
        for at, token in enumerate(asked.tokens)
        if pronoun.start() in {each.start for each in asked.tokens[max(at - 1, 0) : at + 1]}
    }
    times = words.get("known", frozenset())
    things = (each for each in asked.phrases if each.kind != "time" and asked.tokens[each.stop - 1].folded not in times)
    return any(asked.tokens[each.first].start not in owned for each in things)


def points_back(question: str, language: str) -> bool:
    """Say whether the question depends on what was said before."""
    if _refers_back(question, language):
        return True
    words = question.split()
    said = [word.casefold() for word in _WORD.findall(lexical.fold(question))]
    if 0 < len(said) < FEW_WORDS and said[0] in small_words(language or "en").get("ask", ()):
        return True
    if not lexical.background(language or "en"):
        # Without a table every word looks rare, so words are counted.
        return len(words) < FEW_WORDS
    terms = _terms(question, language, CONTENT_RARITY)
    names = any(any(map(str.isdigit, word)) or (word[:1].isupper() and language != "de") for word in words[1:])
    return not names and len(terms) <= MAX_THIN_WORDS and sum(rarity for _, rarity in terms.values()) < MIN_CONTENT


def _refers_back(question: str, language: str) -> bool:
    """Say whether a pronoun of the question stands for something that was said before."""
    return pronoun_of(question, language) is not None


def replaces_a_word(question: str, language: str) -> bool:
    """Say whether a follow-up names something itself, in place of what was named before: "and on Sundays?".

    Or a part of that: "How much of that came from grants?".
    """
    question = _PART_OF.sub(" ", question)
    return bool(_terms(question, language, TELLING_RARITY)) and not _refers_back(question, language)


def salient_terms(question: str, history: Sequence[Message], language: str) -> list[str]:
    """Return the words that best show what the conversation is about and that the question lacks.

    A word's weight is the sum of its rarity over its uses, lower in answers and in earlier turns.
    """
    known = _terms(question, language, TELLING_RARITY)
    weights: dict[str, float] = {}
    spoken: dict[str, str] = {}
    turn = 0
    for message in reversed(history):
        share = DECAY_PER_TURN**turn * (1.0 if message.role == "user" else ANSWER_SHARE)
        turn += message.role == "user"
        # A refusal says nothing about the subject.
        if message.details.get("no_relevant_info"):
            continue
        for stem, (word, rarity) in _terms(message.content[:MESSAGE_CHARACTERS], language, TELLING_RARITY).items():
            if stem not in known and not _is_small(word, language):
                weights[stem] = weights.get(stem, 0.0) + share * rarity
                spoken.setdefault(stem, word)
    return [spoken[stem] for stem in sorted(weights, key=lambda stem: -weights[stem])[:ADDED_TERMS]]


def _is_small(word: str, language: str) -> bool:
    """Say whether a word only asks or helps, alone or with a pronoun: "wozu", "est-elle"."""
    border = small_words(language or "en").get("border", frozenset())
    return border.issuperset(lexical.fold(word).casefold().split("-"))


def together(terms: Sequence[str], history: Sequence[Message], language: str) -> str:
    """Return words as they stood together in the conversation ("the Town of Danville"), or with commas between them."""
    words = small_words(language or "en")
    joining = "|".join(map(re.escape, sorted(words.get("prep", frozenset()) | words.get("article", frozenset()))))
    if len(terms) > 1 and joining:
        run = rf"\b(?:{'|'.join(map(re.escape, terms))})\b"
        near = re.compile(rf"({run})(?: (?:{joining})){{0,{MAX_WORDS_BETWEEN}}} (?!\1\b){run}")
        for message in reversed(history):
            if found := near.search(message.content[:MESSAGE_CHARACTERS]):
                return found[0]
    return ", ".join(terms)


def _content(text: str, language: str) -> float:
    """Return the summed rarity of a text's content words."""
    return sum(rarity for _, rarity in _terms(text, language, CONTENT_RARITY).values())


def _terms(text: str, language: str, min_rarity: float) -> dict[str, tuple[str, float]]:
    """Map the stems of a text's words that are rare enough, numbers left out, to the word and its rarity."""
    table = lexical.background(language or "en")
    found: dict[str, tuple[str, float]] = {}
    for match in _WORD.finditer(_URL.sub(" ", text)):
        terms = next(lexical.words_of(match.group(), language or "en"), None)
        stem = terms[0][0] if terms else ""
        rarity = table.get(stem, lexical.MAX_RARITY)
        if any(map(str.isalpha, stem)) and rarity >= min_rarity:
            found.setdefault(stem, (match.group(), rarity))
    return found
