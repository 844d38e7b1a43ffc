"""What an answer must hold if a question asks for it: a telephone number, a percentage, a sum of money, what to do."""

import re
from collections.abc import Sequence
from functools import cache

from functions.query.grounding.quantities import CURRENCY_SIGN
from functions.query.understanding.days import days_in, months_in
from functions.query.understanding.question import of_any_language, patterns_of

_PATTERNS = patterns_of("needed_patterns.txt")
_MONEY = re.compile(
    rf"(?:{CURRENCY_SIGN}) ?\d|\d ?(?:{CURRENCY_SIGN}|\b(?:euros?|dollars?|pounds?|francs?)\b)", re.IGNORECASE
)
_RATE = re.compile(
    r"(?:\bper|[$€£¥] ?[\d.,]+ (?:an?|each|every)) (?:\w+ )?(?:day|week|month|year|hour|minute)\b", re.IGNORECASE
)
"""What says how often, not when: "£950 per calendar month"."""
_TOLD: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile("|".join(_PATTERNS[how].values())), what)
    for how, what in (
        ("cost", "money"), ("called", "number"), ("mailed", "mail"), ("visited", "web"), ("located", "address")
    )
)  # fmt: skip
"""How words begin that ask for something, and the kind of what a text tells if it has it."""
_BESIDES = {"extent": _PATTERNS["duration"], "free": {"*": _MONEY.pattern}}
"""What is enough, too, beside what the patterns tell of a kind."""
_NEEDED: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (of_any_language(asked), what) for kind, asked in _PATTERNS.items() if (what := kind.removeprefix("asks_")) != kind
)
_REACHED = [(of_any_language(_PATTERNS[f"asks_{what}"]), what) for what in ("number", "mail", "web")]
_ASKS_MEASURE = of_any_language(
    *(_PATTERNS[f"asks_{kind}"] for kind in ("distance", "weight", "power", "sound", "content", "unit_price"))
)
"""What asks for something whose unit tells it from other numbers."""
_ONCE = of_any_language(_PATTERNS["once"])
_ORDERED_FOR = re.compile(r"\bto (\w+)")
"""What an English order is done for, behind it: "Press … to print"."""


@cache
def _telling(kind: str) -> re.Pattern[str]:
    """Return what tells something of a kind; compiled when it is first asked for."""
    return _MONEY if kind == "money" else of_any_language(_PATTERNS[kind])


@cache
def _enough(kind: str) -> re.Pattern[str]:
    """Return what an answer must hold of a kind, or what is enough, too."""
    return of_any_language(_PATTERNS[kind], _BESIDES.get(kind, {}))


@cache
def _in_language(kind: str, language: str) -> re.Pattern[str] | None:
    pattern = _PATTERNS[kind].get(language)
    return re.compile(pattern, re.IGNORECASE) if pattern else None


def tells_what(word: str, text: str) -> bool:
    """Return whether a word (folded, in lower case) asks for a price, a telephone number or an address that a text has.

    Documents seldom name them: "Ring 01632 960 417".
    """
    return any(asked.match(word) and _telling(what).search(text) for asked, what in _TOLD)


def needed_by(question: str) -> Sequence[re.Pattern[str]]:
    """Return what an answer to a question must hold."""
    return [_enough(what) for asked, what in _NEEDED if asked.search(question)]


def reached_by(question: str) -> Sequence[re.Pattern[str]]:
    """Return the telephone number, e-mail address or web page that a question asks for: no other words tell them."""
    return [_telling(what) for asked, what in _REACHED if asked.search(question)]


def asks_measure(question: str) -> bool:
    """Return whether a question asks for a distance, a weight, a consumption and the like, or what one thing costs."""
    return _ASKS_MEASURE.search(question) is not None


def has_address(text: str) -> bool:
    """Return whether a text has the address of a house: "12 Harbour Street"."""
    return _telling("address").search(text) is not None


def tells_time(text: str) -> bool:
    """Return whether a text tells a time, or after what something is; how often is none."""
    return _telling("moment").search(_RATE.sub(" ", text)) is not None or bool(days_in(text) or months_in(text))


def tells_date(text: str) -> bool:
    """Return whether a text tells a time by a date, a day, a month, or a number of them."""
    return bool(_telling("dated").search(_RATE.sub(" ", text)) or days_in(text) or months_in(text))


def asks_once(question: str) -> bool:
    """Return whether a question asks when something happened, not when it happens: "When did the shop open?"."""
    return _ONCE.search(question) is not None


def recurs(text: str) -> bool:
    """Return whether a text tells when something happens again and again: "open every Thursday"."""
    return _telling("recurs").search(text) is not None


def gives_order(text: str, language: str) -> bool:
    """Return whether a text tells the reader to do something."""
    pattern = _in_language("instructs", language)
    return pattern is not None and pattern.search(text) is not None


def purposes_in(text: str, language: str, *, is_order: bool) -> Sequence[str]:
    """Return the verbs of what a text says something is done for; an English order may name it at its end."""
    pattern = _in_language("purpose", language)
    verbs = pattern.findall(text) if pattern else []
    return _ORDERED_FOR.findall(text) if not verbs and language == "en" and is_order else verbs
