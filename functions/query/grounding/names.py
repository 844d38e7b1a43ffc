"""Finds names in a claim, and tells which of them are in no text."""

import re
from collections.abc import Iterable, Iterator

from functions.query.grounding.sanitizing import plain
from functions.query.grounding.words import is_stop_word, spelled_out_for
from shared.dates import is_month
from shared.lexical import fold

_NAME = re.compile(r"(?<![\w&])(?:[^\W\d_a-z]|[a-z][A-Z])[\w&]*(?:['’-][^\W\d_]\w*)*")
_SENTENCE_START = re.compile(r"(?:\A|[.!?…:\n(\[\"“„«'‘|*•–—-])[\s\"“„«'‘(*_-]*\Z")
_LABEL = re.compile(
    r"\A(?:[^\W\d_a-z][\w'’-]*\s+(?:(?:and|or|of|the|for|to|in|with|a)\s+)*){0,6}?[^\W\d_a-z][\w'’-]*\s*:\s"
)
ABBREVIATED = re.compile(r"\b[A-Z]{3,6}\b")
_SHORT_NAME = 2
"""Letters of a name that is too short to tell, such as "US", "TV" and "PM"."""
_CASED_NOUNS = frozenset({"de", "lb"})
"""Languages that capitalise every noun."""
_NAME_PREFIX = 4
_INFLECTED_NAME_PREFIX = 3
"""Minimum common prefix of two forms of a name; languages other than English inflect names more."""
MIN_ACRONYM = 2
MAX_ACRONYM = 6
"""Letters of an acronym, at least and at most."""
LONGEST_ENDING = 3
"""Letters that the forms of a name may differ at the end."""


def unknown_names(claim: str, texts: Iterable[str], language: str) -> list[str]:
    """Return the capitalised words inside a claim's sentences that are in none of the texts, in any form.

    Words of a label before a colon ("Payment Methods:") are no names. Empty for languages that capitalise nouns and for
    claims all in capitals.
    """
    if language in _CASED_NOUNS or claim.isupper():
        return []
    names = [name for name in names_in(claim) if len(name) > _SHORT_NAME]
    if not names:
        return []
    texts = list(texts)
    held = fold(plain("\n".join(texts))).lower()
    tokens = frozenset(re.findall(r"\w+", held))
    prefix = _NAME_PREFIX if language == "en" else _INFLECTED_NAME_PREFIX
    unknown = [name for name in names if not (_is_known_name(name, tokens, prefix) or _is_acronym_of(name, held))]
    unknown = [name for name in unknown if not (name.isupper() and _is_one_of_many(name, texts))]
    # "Care Quality Commission" is known if a text has "CQC".
    spelled = " ".join(spelled_out_for(claim, texts, ABBREVIATED)) if unknown else ""
    return [name for name in unknown if name not in spelled]


_PERIOD = re.compile(r"YTD|Q[1-4]|H[12]|FY(?:\d\d){0,2}")


def names_in(text: str) -> Iterator[str]:
    """Yield the capitalised words inside a text's sentences, but no periods and no words of a label before a colon."""
    label = _LABEL.match(text)
    for match in _NAME.finditer(text, label.end() if label else 0):
        name = match.group()
        owner = re.sub(r"['’]s\Z", "", name)
        may_be_a_word = name[1:].islower() and (owner == name or is_stop_word(owner.lower()))
        starts = may_be_a_word and _SENTENCE_START.search(text, 0, match.start())
        is_period = is_month(fold(name).lower()) or _PERIOD.fullmatch(name)
        if not starts and not name.islower() and len(name) > 1 and not is_period:
            yield name


def _is_known_name(name: str, tokens: frozenset[str], prefix: int) -> bool:
    parts = re.findall(r"\w+", fold(name).lower())
    parts = parts[:-1] if len(parts) > 1 and parts[-1] == "s" else parts
    if len(name) > 2 and name[-1] == "s" and name[:-1].isalpha() and name[:-1].isupper():
        parts = [*parts[:-1], parts[-1].removesuffix("s")]  # "DDs" are several of "DD"
    return all(part in tokens or _has_form(part, tokens, prefix) for part in parts)


def _is_one_of_many(name: str, texts: Iterable[str]) -> bool:
    """Return whether a text has a capitalised abbreviation in the plural: "DVDs" for "a DVD"."""
    return any(re.search(rf"\b{re.escape(name)}s\b", text) for text in texts)


_SHORTENED = {
    "ceo": "chief executive", "cfo": "chief financial", "coo": "chief operating", "usa": "united states"
}  # fmt: skip
"""Acronyms whose last word is often left out."""


def _is_acronym_of(name: str, held: str) -> bool:
    """Return whether a text contains the words of an acronym: "CEO" for "chief executive officer"."""
    if not name.isupper() or not MIN_ACRONYM <= len(name) <= MAX_ACRONYM:
        return False
    short = _SHORTENED.get(fold(name).lower(), "")
    words = r"\w*\W+(?:of\W+|and\W+|the\W+)?".join(map(re.escape, fold(name).lower()))
    return (bool(short) and short in held) or re.search(rf"\b{words}", held) is not None


def _has_form(part: str, tokens: frozenset[str], prefix: int) -> bool:
    if len(part) < prefix:
        return False
    stem = part[: max(prefix, len(part) - LONGEST_ENDING)]
    return any(token.startswith(stem) and abs(len(token) - len(part)) <= LONGEST_ENDING for token in tokens)
