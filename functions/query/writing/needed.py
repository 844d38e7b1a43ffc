"""What an answer must hold if a question asks for it: a telephone number, a percentage, a sum of money, what to do."""

import re
from collections.abc import Sequence

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
_TOLD: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = (
    (re.compile("|".join(_PATTERNS["cost"].values())), _MONEY),
    *(
        (re.compile("|".join(_PATTERNS[how].values())), of_any_language(_PATTERNS[what]))
        for how, what in (("called", "number"), ("mailed", "mail"), ("visited", "web"), ("located", "address"))
    ),
)
"""How words begin that ask for something, and what a text tells if it has it."""
_ADDRESS = of_any_language(_PATTERNS["address"])
_MOMENT = of_any_language(_PATTERNS["moment"])
_DATED = of_any_language(_PATTERNS["dated"])
_BESIDES = {"extent": _PATTERNS["duration"], "free": {"*": _MONEY.pattern}}
"""What is enough, too, beside what the patterns tell of a kind."""
_NEEDED: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = tuple(
    (of_any_language(asked), of_any_language(_PATTERNS[what], _BESIDES.get(what, {})))
    for kind, asked in _PATTERNS.items()
    if (what := kind.removeprefix("asks_")) != kind
)
_REACHED = [
    (of_any_language(_PATTERNS[f"asks_{what}"]), of_any_language(_PATTERNS[what])) for what in ("number", "mail", "web")
]
_ASKS_MEASURE = of_any_language(
    *(_PATTERNS[f"asks_{kind}"] for kind in ("distance", "weight", "power", "sound", "content", "unit_price"))
)
"""What asks for something whose unit tells it from other numbers."""
_ONCE, _RECURS = (of_any_language(_PATTERNS[kind]) for kind in ("once", "recurs"))
_INSTRUCTS, _PURPOSE = (
    {language: re.compile(pattern, re.IGNORECASE) for language, pattern in _PATTERNS[kind].items()}
    for kind in ("instructs", "purpose")
)
_ORDERED_FOR = re.compile(r"\bto (\w+)")
"""What an English order is done for, behind it: "Press … to print"."""


def tells_what(word: str, text: str) -> bool:
    """Return whether a word (folded, in lower case) asks for a price, a telephone number or an address that a text has.

    Documents seldom name them: "Ring 01632 960 417".
    """
    return any(asked.match(word) and told.search(text) for asked, told in _TOLD)


def needed_by(question: str) -> Sequence[re.Pattern[str]]:
    """Return what an answer to a question must hold."""
    return [pattern for asked, pattern in _NEEDED if asked.search(question)]


def reached_by(question: str) -> Sequence[re.Pattern[str]]:
    """Return the telephone number, e-mail address or web page that a question asks for: no other words tell them."""
    return [told for asked, told in _REACHED if asked.search(question)]


def asks_measure(question: str) -> bool:
    """Return whether a question asks for a distance, a weight, a consumption and the like, or what one thing costs."""
    return _ASKS_MEASURE.search(question) is not None


def has_address(text: str) -> bool:
    """Return whether a text has the address of a house: "12 Harbour Street"."""
    return _ADDRESS.search(text) is not None


def tells_time(text: str) -> bool:
    """Return whether a text tells a time, or after what something is; how often is none."""
    return _MOMENT.search(_RATE.sub(" ", text)) is not None or bool(days_in(text) or months_in(text))


def tells_date(text: str) -> bool:
    """Return whether a text tells a time by a date, a day, a month, or a number of them."""
    return bool(_DATED.search(_RATE.sub(" ", text)) or days_in(text) or months_in(text))


def asks_once(question: str) -> bool:
    """Return whether a question asks when something happened, not when it happens: "When did the shop open?"."""
    return _ONCE.search(question) is not None


def recurs(text: str) -> bool:
    """Return whether a text tells when something happens again and again: "open every Thursday"."""
    return _RECURS.search(text) is not None


def gives_order(text: str, language: str) -> bool:
    """Return whether a text tells the reader to do something."""
    pattern = _INSTRUCTS.get(language)
    return pattern is not None and pattern.search(text) is not None


def purposes_in(text: str, language: str, *, is_order: bool) -> Sequence[str]:
    """Return the verbs of what a text says something is done for; an English order may name it at its end."""
    pattern = _PURPOSE.get(language)
    verbs = pattern.findall(text) if pattern else []
    return _ORDERED_FOR.findall(text) if not verbs and language == "en" and is_order else verbs
