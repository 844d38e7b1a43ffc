"""The letter or mark that a question asks the meaning of: N of "What does N mean?", which no word of a text shares."""

import re
from functools import lru_cache

_SIGN = r"[A-Z]{1,3}\d?|[^\w\s?\"“”'‘’«»„]"
_ASKS = re.compile(
    r"(?P<english>(?i:\bwhat (?:does|do)))"
    r"|(?i:\b(?:was (?:bedeutet|heißt)|wofür steht|que (?:signifie|veut dire)|qué significa|ką reiškia))"
)
_NAMED = re.compile(
    r"\s(?i:(?:the|an?|der|die|das|la|el|le|une?)\s)?"
    r"(?i:(?:letter|code|symbol|mark|sign|abbreviation|buchstabe|zeichen|kürzel|abkürzung|lettre|signe|letra|signo|raidė"
    rf"|ženklas)\s)?[\"“'‘«„]?(?P<sign>{_SIGN})[\"”'’»“]?(?!\w)(?P<rest>.*)",
    re.DOTALL,
)
_MEAN = re.compile(r"\s(?:mean|stand for)\b")
_EXPLAINS = (
    r"(?:\s?[=:]\s?|\s[–—-]\s|\s(?:means?|stands? for|bedeutet|steht für|signifie|veut dire|significa|reiškia)\s)\S"
)


@lru_cache(maxsize=256)
def sign_asked(question: str) -> str:
    """Return the letters or the mark that a question asks the meaning of; empty if it asks for that of none."""
    if (asks := _ASKS.search(question)) is None or (named := _NAMED.match(question, asks.end())) is None:
        return ""
    return "" if asks["english"] and not _MEAN.match(named["rest"]) else named["sign"]


def explains(text: str, sign: str) -> bool:
    """Return whether a text says what a sign means: "N = night", "– means that …", "(S) sesame"."""
    letters = re.escape(sign)
    pattern = rf"(?<![\w{letters}]){letters}[\"”'’]?{_EXPLAINS}|\({letters}\)\s\w"
    return re.search(pattern, text) is not None
