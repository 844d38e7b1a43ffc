"""Tells whether a sentence addresses or asks somebody: orders, "you", "I", words that speak of answers, places to call.

What a document tells its own reader is honest: where it says "you" or gives orders several times, one more of them is
no sign; what is to be told or shown to others ("tell the nurse") is no request to a model; nor is where to call.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import chain

from functions.query.grounding.instructions import plain_words, words_in_class
from functions.query.grounding.words import is_stop_word
from functions.query.understanding.question import of_any_language, patterns_of
from shared.language import FUNCTION_WORDS
from shared.lexical import is_irregular_form
from shared.text import BULLETS, SEPARATOR, sentences_of

OBJECT = (
    r"(?:an?|the|any|every|each|all|both|no|some|that|this|these|those|your|their|his|her|its|our|my|me|us|them|him|it"
    r"|only|how|why|what|whether|out|up|down|as|by|with|to|in|on|into|from"
    r"|users?|readers?|customers|visitors|people|everyone)"
)
_IMPERATIVE = re.compile(
    rf"[^\w\s]*(?:(?:please|kindly|also|always|never|now|then|do not|don['’]t|[a-z]+ly) )*([a-z]{{2,}}) "
    rf"(?:{OBJECT}|on|off|over|from|for|at|about|through|against|now|nothing|everything|anything|one|two|ten|more)\b",
    re.I,
)
"""A word before an article, pronoun or particle: an imperative, unless it is a stop word, a participle or a plural."""
_ORDER = re.compile(rf"(?<![A-Za-z])[A-Z][A-Za-z]+ {OBJECT}\b|[:e] [a-z]+ {OBJECT}\b")
"""What may be an imperative: a word with a capital, or after a colon or "please"."""
_LATER_IMPERATIVE = re.compile(
    r"[,;:–—-] +(?:(?:and|then|please|always|just|also|so|instead) )*([a-z]{2,}) "
    r"(?:an?|the|any|every|each|all|no|that|this|your|their|his|her|me|us|them|him|it|only)\b"
)
"""The same within a sentence: "Whatever the table shows, report that …"."""
FINITE = re.compile(
    r"\w+(?: (?!(?:that|which|who|what|whatever|how|if|when|where|why|you)\b)[\w'’-]+){1,3} "
    r"(?:can|could|is|are|was|were|has|have|had|will|would|may|might|must|shall|should|does|did)\b"
)
"""A sentence whose first words end in an auxiliary states something: "Eleven people can winter here"."""
_CAUSATIVE = re.compile(
    r"\W*(?:have|let|get|make) (?:them|(?:(?:the|any|all|every|your) )?"
    r"(?:users?|readers?|customers?|visitors?|people|everyone))\b",
    re.IGNORECASE,
)
"""An imperative that begins with a stop word: "Have the user …"."""
NOTE_THAT = re.compile(r"\W*(?:please )?note that\b", re.IGNORECASE)
"""What introduces a fact, as in letters: "Please note that pets are not allowed"."""
OBLIGED = frozenset(
    chain(("person", "customer", "visitor"), *map(words_in_class, ("READER", "MODEL", "REPLY", "TEXT")))
)
_MODAL = re.compile(r"[^.;:!?\n]{1,50} (?:must|should|shall|could|ought|(?:has|have|needs?|is|are) to)\b")
"""A reader, a model or an answer that must do something."""
_CAUSE = re.compile(r"\b(?:because|since|as|although|while|whereas|but) ", re.IGNORECASE)
"""What begins a clause with another subject: "ended without result because the two sides could not agree"."""
_ADDRESS_OF_A_SITE = re.compile(r"https?://|\bwww\.|\w@\w|\b[\w-]+\.(?:[\w-]+\.)*[a-z]{2,12}(?:/|\b)(?!\()")
"""A link, an e-mail address, or a name with dots, such as a domain's."""
SUBORDINATE = re.compile(
    r"\W*(?i:if|when(?:ever)?|before|after|for|while|once|whatever|as) [^,.;:!?\n]{3,120}, +"
    rf"(?=(?:please |then )?[a-z]+ {OBJECT}\b)"
)
"""What may stand before an imperative: "If somebody asks for prices, …"."""
_REFERS = re.compile(r"\W*(?:please )?\w+ (?:by|with|to|in|on|into|from|for)\b", re.IGNORECASE)
"""A word before a preposition, which may be a noun: "Refer to", "Support in"."""
_NO_IMPERATIVE = re.compile(r"(?:ing|ed|ly|ion|ity|ness|ment|[^su]s)\Z")
ADDRESS = frozenset(
    word
    for name in ("MODEL", "REPLY", "TEXT", "SAY", "TELLS", "READER", "ORDERS", "ASKED")
    for word in words_in_class(name)
)
"""Words that speak of a reader, a model, an answer, or of saying something."""
_VERBS = frozenset(word for name in ("SAY", "EDIT", "TELLS") for word in words_in_class(name))
_ITEM_SIGNS = f"{BULLETS}0123456789.() "
MIN_ADDRESSED = 3
"""Sentences with "you" or an order that make a text one that speaks to its reader, such as a manual or a leaflet."""
MIN_KNOWN = 2
"""How many of them have the one or the other, from which one more is no sign."""
_READER_SIGNS = frozenset({"you", "order"})
YOU = frozenset({"you", "your"})
READERS = frozenset(words_in_class("READER"))
FUNCTION_WORDS_OF_ENGLISH = FUNCTION_WORDS["en"]
_ALLOWS = re.compile(r"\byou (?:can|could|may)\b", re.IGNORECASE)
"""How a manual tells what its reader can do."""
_SELF = re.compile(r"\b(?:I|I['’]m|my|me)\b")
_TELEPHONE = re.compile(r"(?<![\w.,])\+?\d[\d ()/-]{7,}\d\b")
_ADDRESSED = re.compile(rf"\b(?:[Yy]ou|[Yy]our)\b|{_ADDRESS_OF_A_SITE.pattern}|{_TELEPHONE.pattern}")
_TO_OTHERS = re.compile(r"(?:tell|inform|show|write)\s+the\b|[a-z]+\s+(?:your|our)\b", re.IGNORECASE)
_TO_US = re.compile(r"(?:tell|inform|show|write)\s+(?:us|to)\b", re.IGNORECASE)
"""What a document asks its reader to tell, show or write to others: "tell the nurse", "show your ticket"."""
_OF_ANSWERS = OBLIGED.union(*map(words_in_class, ("CREATED", "ASKED", "ORDERS")))
"""Words of what is asked of a model instead: "write the story", "tell the user"."""
_NOUNS = frozenset({"display", "state", "return", "print"})
"""Words of `ADDRESS` that prose has as nouns."""
_SPEAKS = ADDRESS - _NOUNS
_PATTERNS = patterns_of("address_patterns.txt")
_CONTACT, _LURE = (of_any_language(_PATTERNS[kind]) for kind in ("contact", "lure"))
"""What a sentence that says where to call is about, and what those ask for who want to be called."""
_CONTACTING = frozenset({"call", "ring", "phone", "telephone", "write", "contact", "fax", "email"})
_LINKS = frozenset(words_in_class("LINKS"))
LABEL = re.compile(r"[^:.\n]{2,60}: \W?\w+ \w+ \w")
TAG = re.compile(r"<[a-z_]+[^<>\n]{0,40}>[^<>\n]+</")


@lru_cache(maxsize=64)
def _addressed(text: str) -> tuple[int, frozenset[str]]:
    """Return how many sentences of a text speak to its reader, and which of their signs it has several times."""
    cells = [cell for start, end in sentences_of(text) for cell in text[start:end].split(SEPARATOR)]
    found = [signs for cell in cells if (signs := frozenset(_reader_signs(cell)))]
    counts = Counter(chain.from_iterable(found))
    known = (sign for sign, count in counts.items() if count >= MIN_KNOWN and len(found) >= MIN_ADDRESSED)
    return len(found), frozenset(known)


def _reader_signs(sentence: str) -> Iterator[str]:
    if not plain_words(sentence).isdisjoint(YOU):
        yield "you"
    if is_imperative(sentence.lstrip(_ITEM_SIGNS)) or _orders_later(sentence):
        yield "order"


def may_address(text: str, start: int, end: int, addresses: Set[str]) -> bool:
    """Return whether a sentence may have a sign that it asks or addresses somebody; `addresses`: those of its text."""
    return (
        text[end - 1] in "?>"
        or "!" in text[start:end]
        or _ORDER.search(text, start, end) is not None
        or SUBORDINATE.match(text, start, end) is not None
        or _ADDRESSED.search(text, start, end) is not None
        or _LATER_IMPERATIVE.search(text, start, end) is not None
        or FUNCTION_WORDS_OF_ENGLISH.isdisjoint(text[start:end].lower().split())
        or (bool(addresses) and any(map(text[start:end].lower().__contains__, addresses)))
    )


def is_contact(sentence: str) -> bool:
    """Return whether a sentence says where to call or write to, and asks for nothing else: "Service line: 0345 …"."""
    if not has_address(sentence) or _CONTACT.search(sentence) is None or _LURE.search(sentence) is not None:
        return False
    orders = [found[1].lower() for found in _LATER_IMPERATIVE.finditer(sentence)]
    orders += [found[1].lower()] if is_imperative(sentence) and (found := _IMPERATIVE.match(sentence)) else []
    return all(word in _CONTACTING for word in orders) and _SELF.search(sentence) is None


def has_address(sentence: str) -> bool:
    """Return whether a sentence holds a link, an e-mail address or a telephone number."""
    return (_ADDRESS_OF_A_SITE.search(sentence) or _TELEPHONE.search(sentence)) is not None


def signs_in_prose(sentence: str, text: str) -> Sequence[str]:
    """Return what shows that a sentence of prose asks or addresses somebody, but for what its text has several times.

    An order counts twice in a text that otherwise speaks to nobody. Where a sentence holds an address or a telephone
    number, each sign counts: who lures asks for a call.
    """
    found = list(_prose_signs(sentence))
    if _READER_SIGNS.isdisjoint(found):
        return found
    number, known = _addressed(text)
    if "order" in found and number <= 1:
        return [*found, "order"]
    return found if has_address(sentence) else [each for each in found if each not in known]


def _prose_signs(sentence: str) -> Iterator[str]:
    words = plain_words(sentence)
    if not words.isdisjoint(_SPEAKS):
        yield "address"
    if not words.isdisjoint(YOU) and not _ALLOWS.search(sentence):
        yield "you"
    if "!" in sentence:
        yield "!"
    if not words.isdisjoint(OBLIGED) and _obliges(sentence):
        yield "obliged"
    is_order = is_imperative(sentence) and not (_REFERS.match(sentence) and has_address(sentence))
    if is_order or _orders_later(sentence):
        yield "order"


def count_signs(sentence: str, text: str) -> int:
    """Count the signs that a sentence, a heading or a cell asks or addresses somebody."""
    words = plain_words(sentence)
    signs = int(not words.isdisjoint(ADDRESS)) + sentence.endswith("?") + 2 * bool(TAG.match(sentence))
    if is_imperative(sentence) and not _REFERS.match(sentence):
        signs += (1 + sentence.endswith(":")) * ("order" not in _addressed(text)[1])
    signs += not words.isdisjoint(OBLIGED) and _obliges(sentence)
    if signs or not words.isdisjoint(YOU):
        signs += _ADDRESS_OF_A_SITE.search(sentence) is not None
    if signs:
        signs += (not words.isdisjoint(YOU)) + bool(LABEL.match(sentence))
    return signs


def _obliges(sentence: str) -> bool:
    """Return whether a reader, a model or an answer must do something by a sentence."""
    clauses = (_CAUSE.split(each.group())[-1] for each in _MODAL.finditer(sentence))
    return any(not plain_words(clause).isdisjoint(OBLIGED) for clause in clauses)


def _orders_later(sentence: str) -> bool:
    """Return whether an order stands within a sentence: "Before winter, drain the pump"."""
    return any(_is_verb(each[1]) for each in _LATER_IMPERATIVE.finditer(sentence))


def is_imperative(sentence: str) -> bool:
    """Return whether a sentence begins with an order."""
    if _CAUSATIVE.match(sentence):
        return True
    if NOTE_THAT.match(sentence):
        return False
    found = _IMPERATIVE.match(sentence)
    return found is not None and not FINITE.match(sentence) and _is_verb(found[1].lower())


def _is_verb(word: str) -> bool:
    """Return whether a word before an object may be an imperative."""
    return (
        not is_stop_word(word)
        and word not in _LINKS
        and not word.endswith("day")
        and not is_irregular_form(word)
        and (word in _VERBS or not _NO_IMPERATIVE.search(word))
    )


def is_for_others(request: str) -> bool:
    """Return whether a request asks a reader to tell, show or write something to others of the document."""
    to_others = _TO_OTHERS.match(request) is not None and plain_words(request).isdisjoint(_OF_ANSWERS)
    return (to_others or _TO_US.match(request) is not None) and (not has_address(request) or is_contact(request))
