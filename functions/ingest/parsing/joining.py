"""How two lines of one text are joined: what the end of a line has cut is whole again, words, ranges and addresses."""

import re

from functions.ingest.parsing.paragraphs import LITTLE_WORD
from functions.ingest.parsing.text import is_cjk
from functions.ingest.parsing.vocabulary import ANDS, LONGEST, Vocabulary, ends_hyphenated

_CUT_RANGE = re.compile(r"\d[-–\u00ad]$")
"""How a line ends within a range, if a digit follows: "430–"."""
_CUT_CODE = re.compile(r"(?<![\w.,–-])\d{1,2}[-\u00ad]$")
_CODE_END = re.compile(r"[A-Z]\b|([^\W\d_A-Z]{3,})\b(?! \d)")
"""How a line ends within a compound, and what follows there: "10-" and "K", or "30-" and "day"; but the hyphen in "5-"
before "bis 12-Jährige" or "tot 10-jarigen" stands for the rest of a word."""
_SCHEME = re.compile(r"\b(?:https?|ftp):$", re.IGNORECASE)
_PATH = re.compile(r".*://|\W{0,2}/[\w.+-]+/")
"""The beginning of an address or of a file's whole name."""
_CUT_ADDRESS = re.compile(r"://\S*/[-\u00ad]$")
"""How a line ends within an address that was cut with a hyphen of its own: "https://example.org/-"."""
_ADDRESS = re.compile(r"(?:://|\bwww\.|\w@)\S*[.?&=_%~#]$")
_ONE_LABEL = re.compile(r"(?:://|\bwww\.)[\w-]*\.?$")
_HOST = re.compile(r"[A-Z\d][\w-]*\.[a-z]{2,}\b")
"""An address that ends within its host, behind one name at most, and the rest of the host: "http://CRAN." and
"R-project.org"."""
_ADDRESS_END = re.compile(r"[a-z\d][\w.~%&=?/#-]*(?=[\s,;)]|$)")
"""How a line ends within an address of the web or of mail, and what follows there: "…/rfc2119." and "txt"."""
_DOMAIN = re.compile(r"[a-z][\w-]*\.[a-z]{2,}")
"""Names with a period between them, as no sentence begins: "debian.org"."""
LONGEST_COUNTRY = 3
"""Letters of what an address may end in before a sentence's end: "org", "uk"."""
_OF_ADDRESSES = frozenset("/=&")
"""Signs that are in addresses, not in sentences."""
_HYPHENS = frozenset("-\u00ad")
_ENDS_IN_ADDRESS = frozenset(".?&=_%~#")
"""Signs in which a line may end within a word, and within an address."""
LONGEST_ADDRESS = 120
LONGEST_SUFFIX = 4
"""Characters of an address of the web that are looked at, and letters of what may follow its last period: "html"."""


def join(before: str, after: str, words: Vocabulary) -> str:
    """Join two lines of one paragraph: with a space, without one between Han or kana, or by rejoining a cut word."""
    end_of_line = before[-1:]  # asked first: most lines end in a letter or in a sentence's sign
    if end_of_line in _HYPHENS and _CUT_ADDRESS.search(before[-LONGEST_ADDRESS:]):
        return before[:-1] + after
    if ends_hyphenated(before):
        return words.join_hyphenated(before, after)
    if before and after and is_cjk(before[-1]) and is_cjk(after[0]):
        return before + after
    if after[:1].isdecimal() and _CUT_RANGE.search(before[-2:]):
        return before + after
    end = _CODE_END.match(after[:LONGEST]) if end_of_line in _HYPHENS and _CUT_CODE.search(before[-4:]) else None
    if end and end[1] not in ANDS:
        return before + after
    if before.endswith("/") and _PATH.match(before.rsplit(" ", 1)[-1]):
        is_address = "://" in before.rsplit(" ", 1)[-1]
        goes_on_here = _is_rest_of_path(after.split(" ", 1)[0], is_address=is_address)
        return before + after if goes_on_here else f"{before} {after}"
    if after[:2] == "//" and not after[2:3].isspace() and _SCHEME.search(before[-8:]):
        return before + after
    name = before.rsplit(maxsplit=1)[-1] if before.endswith(("::", "_")) else ""
    if name.rstrip(":_")[-1:].isalnum() and after[:1].isalpha():
        return before + after  # a name in a program: "std::" and "string"
    is_address = end_of_line in _ENDS_IN_ADDRESS and _ADDRESS.search(before[-LONGEST_ADDRESS:]) is not None
    if is_address and _is_rest_of_address(before.rsplit(maxsplit=1)[-1], after):
        return before + after
    return f"{before} {after}"


def _is_rest_of_path(word: str, *, is_address: bool) -> bool:
    """Whether a word may go on in an address or a path: it is no other address, and no word of a sentence.

    Behind a path any word of letters alone may be one.
    """
    is_word = word.isalpha() and (len(word) <= LITTLE_WORD or word.istitle())
    is_word = is_word or (not is_address and word.rstrip(".,;:!?)").isalpha())
    return not word.startswith("http") and not is_word


def _is_rest_of_address(address: str, after: str) -> bool:
    """Whether a line goes on in the address that the one above ends in; the words of another sentence do not."""
    rest = _ADDRESS_END.match(after)
    if rest is None:
        return _ONE_LABEL.search(address) is not None and _HOST.match(after) is not None
    if not address.endswith((".", "?")):
        return True
    if not _OF_ADDRESSES.isdisjoint(rest[0]):
        return True
    last = rest[0].rstrip(".,;)")
    of_file = "/" in address.partition("://")[2]
    of_site = len(address.rstrip(".").rpartition(".")[2]) > LONGEST_COUNTRY
    is_end = last.isalpha() and len(last) <= LONGEST_SUFFIX and (of_file or of_site)
    return address.endswith(".") and (is_end or _DOMAIN.match(last) is not None)
