"""Checks whether a claim says "every month" or "a week" of what its evidence never counts by that time."""

import re
from collections.abc import Iterable

_PER = r"\b(?:every|each|per)\s+(?:(?:single|other|full)\s+)?"
_AFTER_NUMBER = r"(?:(?<=\d\s)|(?<=\bonce\s)|(?<=\btwice\s)|(?<=\btimes\s))an?\s+"
_HOW_OFTEN = re.compile(
    rf"(?:{_PER}|{_AFTER_NUMBER})(hour|day|night|week|month|quarter|year)s?\b"
    r"|\b(hour|dai|night|week|month|quarter|year)ly\b|\b(annual)(?:ly)?\b",
    re.IGNORECASE,
)
"""How often something happens, or the time for which an amount is told: "every month", "€35 a week", "daily"."""
_FORMS = {
    "day": "days?|daily",
    "dai": "days?|daily",
    "year": "years?|yearly|annual|annum",
    "annual": "years?|yearly|annual|annum",
}


def is_of_another_time(claim: str, texts: Iterable[str]) -> bool:
    """Return whether a claim counts something by a time that none of the texts names."""
    said = {time.lower() for match in _HOW_OFTEN.finditer(claim) for time in match.groups() if time}
    whole = "\n".join(texts) if said else ""
    return any(re.search(rf"\b(?:{_FORMS.get(each, each)})", whole, re.IGNORECASE) is None for each in said)
