"""The numbers that stand before the items of a list: they count the items, and no source has to say them."""

import re

from functions.query.proof.dates import dates_in
from shared.lexical import fold

_NUMBER = re.compile(r"(?:\*\*|__)?\(?(\d{1,3})[.)](?:\*\*|__)?\s+(?=\S)")


def number_of_item(text: str, last: int) -> tuple[str, int]:
    """Return the number that an item begins with, as written with the space behind it, and its value.

    It has to count up from 1 or from the `last` one. Else, and where it begins a date, it is ("", last): it may be
    something that the text says.
    """
    sign = _NUMBER.match(text)
    if sign is None or int(sign[1]) not in (1, last + 1):
        return "", last
    if any(date.start < sign.end() for date in dates_in(fold(text))):
        return "", last
    return sign.group(), int(sign[1])
