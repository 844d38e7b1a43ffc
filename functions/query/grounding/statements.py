"""Reads a claim as a statement: without its list number, markup and leading "Yes,"; tells if it states anything."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from functions.query.grounding.words import is_stop_word, stems_of, tokens_of
from functions.query.understanding.question import lines_of

_LIST_NUMBER = re.compile(r"\A\s*(?:\*\*|__)?\(?\d{1,2}[.)](?:\*\*|__)?\s+(?=[*_\"“„'‘(]*\s?[^\W\d_a-z])")
_BULLET = re.compile(r"\A\s*[-*•–—]\s+")
_EMPHASIS = re.compile(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
_YES_OR_NO = re.compile(
    r"\A\s*(?:(yes|taip|ja|oui|s[íì])|(no|not (?:yet|quite|necessarily|entirely)|ne|nein|noch nicht|non|pas encore)"
    r"(?!\.(?::| ?\d|\s*\|)))\b(?:\s*[,.;:!]+\s*|\s+[–—-]+\s+|\Z)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\A(?:please\s+)?note(?:\s+that\s+|:\s+)(?!the\s+(?:passage|document|text|summary)\b)|\A(?:the|this)\s+(?:(?:provided|given)\s+)?(?:passage|document|text|article|source|excerpt)\s+(?:also\s+)?"
    r"(?:describes|mentions|discusses|states|says|notes|explains|indicates|provides\s+information)\s+"
    r"(?:(?:that|about|on)\s+)?(?=\S+\s+\S)",
    re.IGNORECASE,
)
"""What an answer says of the document before the statement: "The passage says that …"."""
_SAME_SIGN = str.maketrans(
    {"‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
    | dict.fromkeys("‐‑‒−", "-")
)


_NO_NEGATION = (
    (re.compile(r"\b(?:no|not)\s+(?:later|more|longer|greater|higher)\s+than\b", re.IGNORECASE), "at most"),
    (re.compile(r"\b(?:no|not)\s+(?:earlier|less|fewer|sooner|lower)\s+than\b", re.IGNORECASE), "at least"),
    (re.compile(r"\bnot\s+(?:just|only|merely)\b", re.IGNORECASE), ""),
    (
        re.compile(r"\bat no (?:cost|charge)\b|\bfree of charge\b", re.IGNORECASE),
        "free",
    ),
    (re.compile(r"\bavoid(?:s|ed|ing)?(?= \w+ing\b)", re.IGNORECASE), "not"),
    (
        re.compile(r"\b(?:rather than|instead of|far from|(?:fail|refuse|neglect)(?:s|d|ed)? to)\b", re.IGNORECASE),
        "not",
    ),
    (re.compile(r"\bstop(?:s|ped)?(?= \w+ing\b)", re.IGNORECASE), "not"),
    (re.compile(r"\bno\.(?=:| ?\d|\s*\|)", re.IGNORECASE), "number"),
)
"""Idioms in which "no" and "not" do not negate a statement, and "No." for a number."""


@lru_cache(maxsize=1_024)
def same_signs(text: str) -> str:
    """Return a text with one kind of apostrophe, quotation mark and hyphen, and one way to say "at most"."""
    text = text.translate(_SAME_SIGN)
    for idiom, plain in _NO_NEGATION:
        text = idiom.sub(plain, text)
    return text


@lru_cache(maxsize=512)
def statement_of(claim: str) -> str:
    """Return what a claim states, without its list number, markup, a leading "Yes," or "No,", and "The text says"."""
    text = _EMPHASIS.sub("", _BULLET.sub("", _LIST_NUMBER.sub("", same_signs(claim))))
    return _FRAME.sub("", _YES_OR_NO.sub("", text)).strip()


def yes_or_no(claim: str) -> Literal["", "yes", "no"]:
    """Return whether a claim begins by answering "Yes" or "No"."""
    found = _YES_OR_NO.match(claim)
    return "" if found is None else "yes" if found[1] else "no"


def is_yes_or_no(text: str) -> bool:
    """Return whether a text is nothing but "Yes." or "No."."""
    found = _YES_OR_NO.match(text)
    return found is not None and found.end() == len(text)


def claims_nothing(claim: str) -> bool:
    """Return whether a sentence only talks about the answer: "Here is a summary of it:", "I hope this helps"."""
    words = [word for word in tokens_of(same_signs(claim)) if not is_stop_word(word)]
    return all(word in _talk() for word in words) and any(word in _talk() for word in tokens_of(same_signs(claim)))


@cache
def talk_stems(language: str) -> frozenset[str]:
    """Return the stems of the words with which a sentence only talks about the answer."""
    return stems_of(" ".join(_talk()), language)


@cache
def _talk() -> frozenset[str]:
    return frozenset(word for line in lines_of("talk_about_answers.txt") for word in line.split())


# --- steps ---

_STEP = re.compile(
    r"\A(?:the (?P<word>first|second|third|fourth|fifth|sixth) step|(?:in )?step (?P<number>\d{1,2}))"
    r"(?: is to|,| says to| tells (?:you|users) to| requires (?:you|users) to| is:)? ",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\s*(?:step )?(\d{1,2})(?:[.):]|\b)\s+(?=[^\W\d_])", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
MIN_OF_STEP = 0.6
STEP_AHEAD = 0.25
"""Share of a claim's words that a step must have to be the one that is told, and by which others must have less."""


def tells_step(claim: str) -> bool:
    """Return whether a claim tells a step by its number: "the first step is to …"."""
    return _STEP.match(claim) is not None


def step_told(claim: str, texts: Sequence[str], language: str) -> tuple[bool, str] | None:
    """Return whether a claim gives a step its own number ("the first step is to …"), and what it says of the step.

    None if it tells no step, or the evidence not surely which.
    """
    found = _STEP.match(claim)
    if found is None:
        return None
    number = _ORDINALS.index(found["word"].lower()) + 1 if found["word"] else int(found["number"])
    steps: dict[int, frozenset[str]] = {}
    at = 0
    for text in texts:
        item = _NUMBERED.match(text)
        at = int(item[1]) if item else at
        if at:
            steps[at] = steps.get(at, frozenset()) | stems_of(text, language)
    said = stems_of(claim[found.end() :], language)
    shares = sorted(((len(said & words) / len(said), at) for at, words in steps.items()), reverse=True) if said else []
    if not shares or shares[0][0] < MIN_OF_STEP:
        return None
    if len(shares) > 1 and shares[0][0] - shares[1][0] < STEP_AHEAD:
        return None
    return shares[0][1] == number, claim[found.end() :]
