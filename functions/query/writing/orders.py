"""What tells a reader to do something: orders, and what they are done for."""

import re
from collections.abc import Sequence

_ORDERS = (
    "add apply ask attach avoid call change check choose clear click close complete connect contact copy create "
    "cut delete disconnect download drag draw drop edit empty enter fill find follow give go hit hold insert "
    "install keep lift log make move never open paste place plug press print pull push put read release remove "
    "replace reset restart rinse rotate run save select send set sign slide specify start stop store submit "
    "subscribe swipe switch take tap tighten touch turn type unplug update upload use verify visit wait wash wear "
    "write"
)
_AT_CLAUSE = r"(?:^|[.:;,]\s+|\n)\W*(?:(?:\d{1,2}[.)]?|[a-z][.)])\s+)?"
_INSTRUCTS = {
    "en": re.compile(
        rf"{_AT_CLAUSE}(?:(?:first|firstly|then|next|now|please|simply|just|also)[\s,]+)*"
        rf"(?:{'|'.join(_ORDERS.split())}|do not|don['’]t|be sure)\b|\byou (?:must|should|need to|have to)\b",
        re.IGNORECASE,
    ),
    "lt": re.compile(r"\w{3}kite\b"),
    "de": re.compile(
        rf"{_AT_CLAUSE}(?!(?:haben|können|müssen|werden|möchten|wollen|dürfen|sollten|sind)\b)\w+en Sie\b",
        re.IGNORECASE,
    ),
    "fr": re.compile(rf"{_AT_CLAUSE}\w{{3,}}ez\b"),
}
"""What tells the reader what to do, by language: the verbs of English manuals, the endings of other languages'."""
_PURPOSE = {
    "en": re.compile(rf"{_AT_CLAUSE}(?:in order )?to (\w+)", re.IGNORECASE),
    "lt": re.compile(r"\b(?:norint|norėdam\w+) (\w+)", re.IGNORECASE),
    "de": re.compile(r"\bum\b[^.;]{0,80}?\bzu (\w+)", re.IGNORECASE),
    "fr": re.compile(rf"{_AT_CLAUSE}pour (\w+)", re.IGNORECASE),
    "es": re.compile(rf"{_AT_CLAUSE}para (\w+)", re.IGNORECASE),
}
_ORDERED_FOR = re.compile(r"\bto (\w+)")
"""What something is done for, by language: the verb of "To print, press …"; behind an order also of "… to print"."""


def gives_order(text: str, language: str) -> bool:
    """Return whether a text tells the reader to do something."""
    pattern = _INSTRUCTS.get(language)
    return pattern is not None and pattern.search(text) is not None


def purposes_in(text: str, language: str, *, is_order: bool) -> Sequence[str]:
    """Return the verbs of what a text says something is done for; an English order may name it at its end."""
    pattern = _PURPOSE.get(language)
    verbs = pattern.findall(text) if pattern else []
    return _ORDERED_FOR.findall(text) if not verbs and language == "en" and is_order else verbs
