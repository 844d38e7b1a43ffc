"""The items that a question names by a number: "resolution 6/3", "room 204", "code E05", "the Fold 90".

Such a number is a constraint: what is told of resolution 6/4 answers no question about 6/3. What counts, measures or
tells a time is none: it has no name before it that documents put before other numbers, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from functions.query.grounding.quantities import ORDINALS, is_unit
from functions.query.grounding.words import content_stems, is_stop_word
from functions.query.retrieval.numbered import is_sign
from functions.query.retrieval.passages import Passage
from functions.query.understanding.phrases import YEAR, is_time
from functions.query.understanding.question import patterns_of
from functions.query.writing.needed import gives_order
from functions.query.writing.statements import Statement
from shared import lexical
from shared.language import FUNCTION_WORDS, language_of
from shared.text import SEPARATOR, row_cells

MIN_SIBLINGS = 2
"""Other numbers that documents must put behind a name for one that they do not to be none."""
MIN_CODES = 3
"""Cells that are other codes with the same letters and as many digits, for one without a name to be none."""
MIN_CELL_DIGITS = 3
"""Digits from which on the cells of a table are numbers of what a question names by one as long: trains, not counts."""
SHORT_DIGITS = 3
"""A number of at most so many digits stands in many a document for something else."""
VERSION_DIGITS = 2
"""Digits of a version of something with a name at most: "Windows 10"."""

_TO, _AND, _UPWARDS, _LIMITS, _THE, _SCALES, _ARTICLES = (
    "|".join(words.values()) for words in patterns_of("item_patterns.txt").values()
)
_NUMBER = r"(?:[A-Z]{1,3}[- ]?|[A-Za-z]{1,2})?\d{1,5}(?:[/.]\d{1,5}){0,2}[A-Za-z]?"
_END = r"(?![\w%]|[.,:/-]\d)"
_ITEM = re.compile(
    rf"(?<![\w-])(?P<label>[^\W\d_]{{3,}})(?:\s(?:no|nr|núm|num)\.|\sn\.?\s?[º°o]\.?)?[\s#]+(?P<number>{_NUMBER})"
    rf"(?:{_END}|(?=-\d))"
)
_MORE = re.compile(rf"(?:\s?[,/&]\s?(?:and\s|or\s)?|\s(?:{_AND})\s)(?P<number>{_NUMBER}){_END}")
"""A further number after the first: "rooms 101, 102 and 205"."""
_WORD = re.compile(r"[^\W\d_]+")
_RANGE = re.compile(rf"\s?(?:{_TO})\s?[A-Za-z]{{0,3}}\d|\s?\+|\s(?:{_AND})\s(?:{_UPWARDS})")
"""What makes a range of a number: "to 12", "or later"."""
_UP_TO = re.compile(rf"\s?(?:{_TO})\s?(\d+)")
_SPAN = re.compile(rf"(?<![\w.,/:-])(\d{{1,5}})\s?(?:{_TO})\s?(\d{{1,5}})(?![\w/:-]|[.,]\d)")
"""A range without a name before it: "available sizes: 36–46"."""
_FROM = re.compile(rf"\b(?:{_LIMITS})(?: (?:{_THE}))?\s\Z", re.IGNORECASE)
"""What makes a limit, or one end of a range, of the name and number behind it: "up to level 5"."""
LIMIT_CHARACTERS = 20
"""Characters before a name in which a limit or an article is looked for, and before a number in which a name is."""
_SCALE = re.compile(_SCALES)
_ARTICLE = re.compile(rf"\b(?:{_ARTICLES})\s\Z", re.IGNORECASE)
_AFTER = re.compile(r"\s?([^\W\d_]+|[€$£°%])")
_OF_CLOCK = ("Uhr", "am", "pm", "val")
_COUNTED = re.compile(r"[ \u00a0]([^\W\d_]{2,})")
_OPENS = re.compile(r"(?:\A|[.!?:;|\n)])\s*\Z")
_TITLE_END = re.compile(r"\s*(?:[.:–—)]|\n|\Z)|[^.:!?|\n]{1,50}:\s")
_TOKEN = re.compile(rf"(?<![\w.,/€$£-]){_NUMBER}{_END}")
_CODE = re.compile(r"(?<![\w-])[A-Z]\d{2,3}(?![\w-])")
"""A code that needs no name before it: "E05"."""
_BEFORE = re.compile(r"([^\W\d_]{2,})\.?\s\Z")
_NAME_BEFORE = re.compile(r"(?<!\w)([^\W\d_a-z][^\W\d_]{2,}) \Z")
_ORDER = re.compile(
    rf"\b((?:[^\W\d_]+-)?(?:first|second|{'|'.join(ORDINALS)})|\d{{1,2}}(?:st|nd|rd|th)) ([^\W\d_]{{3,}})",
    re.IGNORECASE,
)
"""An ordinal with the word behind it: "the twenty-first release"."""
_WRITTEN = {"1st": "first", "2nd": "second", "3rd": "third", **{f"{n}th": each for each, n in ORDINALS.items()}}
_PERIOD = re.compile(r"(?:Q|FY|H|CY)[- ]?\d", re.IGNORECASE)


class NamedItem(NamedTuple):
    """An item that a question names, as typed; its name's stem, and its number without spaces, in small letters."""

    typed: str
    label: str
    number: str
    is_name: bool
    """Whether the name is written with a capital: "the Fold 90"."""

    def is_in(self, number: str) -> bool:
        """Return whether a number is the item's, or has it as a part: 2 in "2.1", 11 in "10/11"."""
        own, other = _key(self.number), _key(number)
        return own == other or other.startswith(f"{own}.") or own in other.split("/")

    def may_be_in_range(self, text: str) -> bool:
        """Return whether a text has a range of codes with the item's letter: "E01–E05"."""
        letters = self.number.rstrip("0123456789")
        if not letters.isalpha():
            return False
        codes = re.finditer(rf"(?<![\w-]){letters}-?\d+", text, re.IGNORECASE)
        return any(_RANGE.match(text, each.end()) for each in codes)


class _NamedNumber(NamedTuple):
    """Where a text puts a number behind a name."""

    start: int
    end: int
    number: str
    is_capital: bool
    is_range: bool
    last: str = ""
    """The last number of a range: 6 of "groups 1 to 6"."""
    counted: str = ""
    """What the number may count, because no noun stands before it: "books" of "can borrow 5 books"."""

    def names(self, item: NamedItem) -> bool:
        """Return whether an item is named, by its number or in a range."""
        if self.is_span and item.number.isdigit():
            return int(self.number) <= int(item.number) <= int(self.last)
        return _key(self.number) == _key(item.number)

    def may_name(self, item: NamedItem) -> bool:
        """Return whether an item may be meant: in a range that has no known end, or as a part of the number, too."""
        is_in_open_range = self.is_range and not (self.is_span and item.number.isdigit())
        return is_in_open_range or self.names(item) or item.is_in(self.number)

    @property
    def is_span(self) -> bool:
        """Whether it is a range with both its ends."""
        return bool(self.last) and self.number.isdigit()


class _ItemSpan(NamedTuple):
    start: int
    end: int
    number: str


def items_named(question: str, language: str) -> Sequence[NamedItem]:
    """Return the items that a question names."""
    return tuple(_items_in(question, language_of(question) or language))


def _items_in(question: str, language: str) -> Iterator[NamedItem]:
    for found in _ITEM.finditer(question):
        label = lexical.stem(found["label"].lower(), language)
        others = (lexical.stem(word, language) for word in _WORD.findall(_ITEM.sub(" ", question).lower()))
        # "Which clause limits clause 3?" asks for another one.
        if not _may_name(found, language) or label in others:
            continue
        at: re.Match[str] | None = found
        while at is not None and not _RANGE.match(question, at.end()):
            typed = found[0] if at is found else f"{found['label']} {at['number']}"
            yield NamedItem(typed, label, _plain(at["number"]), _is_name(found, language))
            at = _MORE.match(question, at.end())
    named = {found["number"] for found in _ITEM.finditer(question) if _may_name(found, language)}
    yield from (NamedItem(code, "", code.lower(), False) for code in _CODE.findall(question) if code not in named)


def _may_name(found: re.Match[str], language: str) -> bool:
    label, number = found["label"].lower(), found["number"]
    words_after = _AFTER.match(found.string, found.end())
    after = words_after[1].lower() if words_after else ""
    return not (
        label in FUNCTION_WORDS.get(language, ())
        or (is_stop_word(label) and language not in FUNCTION_WORDS)
        or (is_unit(label) and not _is_name(found, language))
        or is_time(label, language)
        or label.endswith("ed")
        or label.startswith(("page", "seite", "página", "puslap"))
        or YEAR.fullmatch(number)
        or _PERIOD.match(number)
        or is_unit(after)
        or is_time(after, language)
        or not (after.isalpha() or not after)
    )


def _is_name(found: re.Match[str], language: str) -> bool:
    return language != "de" and found["label"][0].isupper() and bool(found.string[: found.start()].strip(" ¿\"'"))


def absent_items(question: str, passages: Sequence[Passage], *, is_verdict: bool) -> Sequence[str]:
    """Return the items of a question, as typed, that stand nowhere, where others of their name and kind do.

    Of a name with a capital one other is enough, but not where a verdict is asked for: "Does it run on Windows 8?" is
    answered by what it runs on.
    """
    language = next((each.language for each in passages if each.language), "")
    items = items_named(question, language)
    # Of a clause that is not there, `NumberedPart` knows more.
    if not items or any(
        is_sign(each.typed) or _is_no_name(each, question, passages) or not _is_absent(each, passages) for each in items
    ):
        return ()
    absent = []
    for each in items:
        named, codes = _siblings(each, passages, counts=not _follows_article(question, each))
        is_version = each.is_name and each.number.isdigit() and len(each.number) <= VERSION_DIGITS
        least = 1 if each.is_name and not is_verdict else MIN_SIBLINGS
        if len(named) >= least and not (is_version and is_verdict):
            absent.append(each.typed)
        elif len(codes) >= MIN_CODES:
            absent.append(each.typed.split()[-1])
    return absent


def is_untold(question: str, passages: Sequence[Passage]) -> bool:
    """Return whether a question names an item that nothing tells of behind its name, where others of that name are."""
    language = next((each.language for each in passages if each.language), "")
    return any(
        not any(told.may_name(item) for one in passages for told in _mentions(one.whole, item.label, one.language))
        and len(_siblings(item, passages, counts=False)[0]) >= MIN_SIBLINGS
        and not _is_no_name(item, question, passages)
        for item in items_named(question, language)
        if item.is_name
    )


def _noun_after(question: str, item: NamedItem) -> str:
    """Return the word that the number of an item may count, as the question has it: "books" of "borrow 7 books"."""
    start = question.find(item.typed)
    return _word_after(question, start + len(item.typed)) if start >= 0 and item.number.isdigit() else ""


def _follows_article(question: str, item: NamedItem) -> bool:
    return _ARTICLE.search(question.partition(item.typed)[0]) is not None


def _word_after(text: str, end: int) -> str:
    """Return the content word behind a number in a text."""
    after = _COUNTED.match(text, end)
    if after is None or any(after[1].lower() in words for words in FUNCTION_WORDS.values()):
        return ""
    return after[1]


def _is_no_name(item: NamedItem, question: str, passages: Sequence[Passage]) -> bool:
    """Say whether what a question has before a number names a scale, or is no name, because the number counts."""
    if _SCALE.fullmatch(item.typed.split()[0].lower()):
        return True
    noun = _noun_after(question, item)
    if not noun or item.is_name or (noun[0].islower() and _follows_article(question, item)):
        return False
    mentions = (each for one in passages for each in _mentions(one.whole, item.label, one.language))
    # "Darf eine Gruppe 6 Tische reservieren?" has a noun behind it, even if there is a group 1.
    if not noun[0].isupper() and any(not each.counted and not each.is_range for each in mentions):
        return False
    languages = ((each, each.language or "en") for each in passages)
    return any(lexical.stem(noun.lower(), each) in _counted_in(one.whole, each) for one, each in languages)


@lru_cache(maxsize=1_000)
def _counted_in(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words that stand behind a number in a text."""
    words = (_COUNTED.match(text, found.end()) for found in _TOKEN.finditer(text) if found[0].isdigit())
    return frozenset(lexical.stem(word[1].lower(), language) for word in words if word is not None)


def _is_absent(item: NamedItem, passages: Sequence[Passage]) -> bool:
    """Say whether an item stands nowhere: not behind its name or in a range, and its number not where it may be one."""
    naming, holding = set(), set()
    is_short = item.number.isdigit() and len(item.number) <= SHORT_DIGITS
    for passage in passages:
        text = f"{passage.whole}\n{passage.section}\n{passage.title}\n{passage.key}\n{passage.cover}"
        mentions = _mentions(text, item.label, passage.language)
        if any(each.may_name(item) for each in mentions) or item.may_be_in_range(text):
            return False
        if mentions and item.number.isdigit() and any(low <= int(item.number) <= high for low, high in _ranges(text)):
            return False
        if mentions or any(label == item.label for label, _ in _cells_of(passage.whole, passage.language)):
            naming.add(passage.document_id)
        if _key(item.number) in _tokens(text, of_series=not is_short):
            holding.add(passage.document_id)
    return naming.isdisjoint(holding) if is_short else not holding


@lru_cache(maxsize=1_000)
def _ranges(text: str) -> Sequence[tuple[int, int]]:
    """Return a text's ranges of plain numbers without a unit: that of "available sizes: 36–46", not of "7 to 21 h"."""
    found = ((each, _AFTER.match(text, each.end())) for each in _SPAN.finditer(text))
    return [
        (int(each[1]), int(each[2]))
        for each, after in found
        if after is None or (after[1].isalpha() and not is_unit(after[1].lower()) and after[1] not in _OF_CLOCK)
    ]


def _siblings(item: NamedItem, passages: Sequence[Passage], *, counts: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers of other items with an item's name, in texts and tables, and codes that look like it.

    Numbers that may count something are none where the item's may, too (`counts`).
    """
    found: set[str] = set()
    codes: set[str] = set()
    cells: set[str] = set()
    form = _form(item.number)
    mentions = [each for one in passages for each in _mentions(one.whole, item.label, one.language)]
    named = (each for each in mentions if not (counts and each.counted))
    found.update(each.number for each in named if each.is_capital or not item.is_name)
    for passage in passages:
        for label, number in _cells_of(passage.whole, passage.language):
            if label == item.label and _form(number)[:1] == form[:1]:
                found.add(number)
            if _form(number) == form:
                (codes if number[0].isalpha() else cells).add(number)
    if found and len(item.number) >= MIN_CELL_DIGITS and item.number.isdigit():
        found |= cells
    return frozenset(found), frozenset(codes)


def _form(number: str) -> str:
    """Return the letters of a number, and zeros for its digits."""
    return re.sub(r"\d", "0", number)


def _plain(number: str) -> str:
    return re.sub(r"(?<=[A-Za-z])[\s-]+(?=\d)", "", number).lower()


def _key(number: str) -> str:
    """Return a number without the zeros before it: E02 is E2."""
    return re.sub(r"(?<![\d.])0+(?=\d)", "", number)


@lru_cache(maxsize=1_000)
def _mentions(text: str, label: str, language: str) -> Sequence[_NamedNumber]:
    """Return where a text puts numbers behind a name, which may be a plural: "rooms 101, 102"."""
    return tuple(_mentions_in(text, label, language or "en"))


def _mentions_in(text: str, label: str, language: str) -> Iterator[_NamedNumber]:
    for found in _ITEM.finditer(text):
        if lexical.stem(found["label"].lower(), language) != label or gives_order(found[0], language):
            continue
        ahead = text[max(0, found.start() - LIMIT_CHARACTERS) : found.start()]
        is_range = _FROM.search(ahead) is not None
        is_capital = found["label"][0].isupper()
        is_noun = is_capital or _ARTICLE.search(ahead) is not None or _OPENS.search(ahead[-4:]) is not None
        at: re.Match[str] | None = found
        while at is not None:
            end = at.end()
            last = _UP_TO.match(text, end)
            is_one = is_range or _RANGE.match(text, end) is not None
            number = _plain(at["number"])
            counted = "" if is_noun or not number.isdigit() else _word_after(text, end).lower()
            yield _NamedNumber(found.start(), end, number, is_capital, is_one, last[1] if last else "", counted)
            at = _MORE.match(text, end)


@lru_cache(maxsize=1_000)
def _tokens(text: str, *, of_series: bool = True) -> frozenset[str]:
    """Return the numbers of a text that may be an item's: none before a unit, and no short one before a word.

    Those that number things with a name of their own, as 8 of "Rule 7 … Rule 8 … Rule 9", only if `of_series`.
    """
    found = [
        (_NAME_BEFORE.search(text[: each.start()][-LIMIT_CHARACTERS:]), _key(number))
        for each in _TOKEN.finditer(text)
        if not _counts(number := _plain(each[0]), text, *each.span())
    ]
    if of_series:
        return frozenset(number for _, number in found)
    numbered: dict[str, set[str]] = {}
    for name, number in found:
        numbered.setdefault(name[1] if name else "", set()).add(number)
    return frozenset(number for name, number in found if name is None or len(numbered[name[1]]) < MIN_CODES)


def _counts(number: str, text: str, start: int, end: int) -> bool:
    after = re.match(r"[ \u00a0]([^\W\d_]+|[%€$£°])", text[end : end + 20])
    if after is None or not number.isdigit():
        return False
    is_short = len(number) <= SHORT_DIGITS
    before = _BEFORE.search(text[:start][-20:])
    is_named = before is not None and not any(before[1].lower() in words for words in FUNCTION_WORDS.values())
    return not after[1].isalpha() or is_unit(after[1]) or (is_short and after[1][0].islower() and not is_named)


@lru_cache(maxsize=1_000)
def _cells_of(text: str, language: str) -> Sequence[tuple[str, str]]:
    """Return the cells of tables that are numbers or codes, with the stem of their column's name."""
    found: list[tuple[str, str]] = []
    header: Sequence[str] = ()
    for line in text.split("\n"):
        if SEPARATOR not in line:
            header = ()
            continue
        cells = row_cells(line)
        if not header:
            header = [
                lexical.stem(words[-1].lower(), language or "en") if (words := cell.split()) else "" for cell in cells
            ]
        for at, cell in enumerate(cells):
            if _TOKEN.fullmatch(cell) and not YEAR.fullmatch(cell):
                found.append((header[at] if at < len(header) else "", _plain(cell)))
    return tuple(found)


# --- What the sources tell of an item ---

OF_ITEM, OF_ANOTHER = 4.0, 0.25
"""Factors for a statement about the item that a question names, and about another one with the same name."""


@dataclass(frozen=True)
class ItemsTold:
    """The items of a question that the sources name; none if they name none of them."""

    items: Sequence[NamedItem]
    words: frozenset[str] = frozenset()
    """Their names and numbers as content stems: what is told below an item's title is told of it."""

    @classmethod
    def of(cls, question: str, passages: Sequence[Passage]) -> "ItemsTold":
        """Read a question for its sources."""
        language = next((each.language for each in passages if each.language), "")
        told = [
            item
            for item in items_named(question, language)
            if any(each.names(item) for one in passages for each in _mentions(one.whole, item.label, one.language))
        ]
        stems = (content_stems(each.typed, language) for each in told)
        return cls(told, frozenset(chain.from_iterable(stems)))

    def factor(self, passage: Passage, statement: Statement) -> float:
        """Return the factor for what a statement is about; 1 where it is about no item with such a name."""
        if not self.items:
            return 1.0
        is_told = self._is_told(passage, statement)
        return 1.0 if is_told is None else OF_ITEM if is_told else OF_ANOTHER

    def is_of_another(self, passage: Passage, statement: Statement) -> bool:
        """Return whether a statement is about another item than those that the question names."""
        return self._is_told(passage, statement) is False

    def lends_words(self, passage: Passage, statement: Statement) -> bool:
        """Return whether a statement stands below the title of an item that the question names."""
        start = statement.start + len(passage.above)
        return any(
            each.start <= start < each.end and _key(each.number) == _key(item.number)
            for item in self.items
            for each in _regions(passage.whole, item.label, passage.language)
        )

    def _is_told(self, passage: Passage, statement: Statement) -> bool | None:
        start, end = statement.start + len(passage.above), statement.end + len(passage.above)
        is_other = False
        for item in self.items:
            named = [
                each for each in _mentions(passage.whole, item.label, passage.language) if start <= each.start < end
            ]
            numbers = {each.number for each in named} or {
                each.number
                for each in _regions(passage.whole, item.label, passage.language)
                if each.start <= start < each.end
            }
            if _key(item.number) in {_key(each) for each in numbers} or any(each.may_name(item) for each in named):
                return True
            is_other = is_other or bool(numbers)
        return False if is_other else None


@lru_cache(maxsize=1_000)
def _regions(text: str, label: str, language: str) -> Sequence[_ItemSpan]:
    """Return what stands below each title with a name and a number: "Resolution 6/3. …" up to "Resolution 6/4."."""
    titles = [
        each
        for each in _mentions(text, label, language)
        if _OPENS.search(text, max(0, each.start - 4), each.start) and _TITLE_END.match(text, each.end)
    ]
    ends = [*(each.start for each in titles[1:]), len(text)]
    return tuple(_ItemSpan(each.start, end, each.number) for each, end in zip(titles, ends, strict=False))


# --- ordinals ---


def is_of_other_order(question: str, text: str) -> bool:
    """Return whether a text tells of another one of things in order: "the second release", not the first one asked for.

    English only. The word behind the ordinal must be the same, and that ordinal stand nowhere in the text.
    """
    asked = _in_order(question)
    told = _in_order(text) if asked else {}
    said = frozenset().union(*told.values())
    return any(thing in told for thing in asked if thing) and said.isdisjoint(frozenset().union(*asked.values()))


@lru_cache(maxsize=2_000)
def _in_order(text: str) -> Mapping[str, frozenset[str]]:
    """Return the ordinals of a text by the stem of the word behind them."""
    found: dict[str, frozenset[str]] = {}
    for ordinal, word in _ORDER.findall(text):
        thing = "" if is_stop_word(word.lower()) else lexical.stem(word.lower(), "en")
        order = _WRITTEN.get(ordinal.lower(), ordinal.lower())
        found[thing] = found.get(thing, frozenset()) | {order}
    return found
