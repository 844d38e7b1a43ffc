"""The numbered part of a document that a question asks for: "clause 4.2", "§ 7 Abs. 2", "Article 12", "Regel 5".

A part begins with its number, at the beginning of a line or behind a full stop, and ends before the next number that is
no part of it: 4.2 before 4.3 or 5, 4 before 5, (2) before (3).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from functions.query.retrieval.passages import Passage
from shared.language import FUNCTION_WORDS, language_of

_SIGNS = (
    r"§§?|clause|section|sec\.|article|art\.|paragraph|para\.|rule"
    r"|klausel|abschnitt|artikel|paragraf|paragraph|regel|ziffer"
    r"|cl[aá]usula|secci[oó]n|art[ií]culo|apartado|regla|article|r[eè]gle|paragraphe"
)
"""What a numbered part is called, before its number."""
_SIGNS_AFTER = r"straipsn(?:is|io|yje|į)|punkt(?:as|o|e|ą)|skirsn(?:is|io|yje|į)|taisykl(?:ė|ės|ėje|ę)"
"""The same behind its number."""
_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,3}"
_END = r"(?![\w%]|[.,]\d)"
_WITHIN = (
    r"(?:\s?\((?P<round>\d{1,2}|[a-z])\)"
    r"|,?\s(?:abs(?:atz|\.)|al(?:inéa|\.)|para(?:graph|\.)|apartado|lit\.)\s?\(?(?P<named>\d{1,2}|[a-z])\b\)?)?"
)
"""A part within a part: "(3)", "Abs. 2"."""
_ASKED = re.compile(
    rf"(?:(?<!\w)(?P<sign>{_SIGNS})\s?(?P<number>{_NUMBER}){_END}{_WITHIN}"
    rf"|(?<![\w.,])(?P<before>{_NUMBER})\s(?P<behind>{_SIGNS_AFTER})\b(?:\s(?P<part>\d{{1,2}})\sdal(?:is|yje|į)\b)?)",
    re.IGNORECASE,
)
_LINE = re.compile(
    rf"^[ \t]*(?:(?P<sign>(?i:{_SIGNS}))\s?)?(?P<number>{_NUMBER})(?P<dot>[.):]?)"
    rf"(?:\s+(?:(?P<behind>(?i:{_SIGNS_AFTER}))\b[.:]?\s*)?[–—-]?\s*(?=[^\W\d_a-z]|[\"“„‘«(])|\s*$)",
    re.MULTILINE,
)
_IN_LINE = re.compile(r"(?<=[.;!?:)”\"])\s+(?P<number>\d{1,3}(?:\.\d{1,3}){1,3})[.)]?\s+(?=[^\W\d_a-z]|[\"“„‘«(])")
"""A number of several steps behind a full stop: lines are joined to paragraphs."""
_ITEM = re.compile(r"(?:^[ \t]*|(?<=[.;!?:,)\w])\s+)\((\d{1,2}|[a-z])\)\s", re.MULTILINE)
_TO_CONTENTS = re.compile(r"(?:\.[ ]?){4,}|…|[^\W\d_][ \t|]+\d{1,4}[ \t]*$")
"""The rest of a line in a table of contents."""
_ASKING = frozenset((
    "say", "says", "said", "state", "states", "read", "reads", "cover", "covers", "regulate", "regulates",
    "contain", "contains", "mean", "means", "text", "wording", "tell", "show", "give", "quote", "explain",
    "summarise", "summarize", "please", "document", "steht", "regelt", "sagt", "besagt", "lautet", "inhalt",
    "bitte", "zeig", "zeige", "nennt", "dice", "establece", "regula", "dit", "prévoit", "stipule", "contient",
    "sako", "numato", "numatyta", "rašoma", "parašyta",
    *(word for words in FUNCTION_WORDS.values() for word in words),
))  # fmt: skip
"""Words with which a question asks for a part, and for nothing else."""
_WORDS = re.compile(r"[^\W\d_]+")
MIN_STEM = 5
"""First letters by which a word of the question is one of a document's name: "bylaws" of "Bylaw"."""
MAX_HEADING_CHARACTERS = 90
"""Of a line that begins with a number alone, without a full stop, which may be a heading."""
MIN_NUMBERED = 2
"""Other numbers of as many steps that a document must have to be one of numbered parts."""


def is_sign(words: str) -> bool:
    """Return whether words are a sign and a number that name a part: "clause 4.2"."""
    return _ASKED.search(words) is not None


class NumberedSpan(NamedTuple):
    """Where a part stands in a text; `closed` if the next one follows there."""

    start: int
    end: int
    closed: bool


class _Beginning(NamedTuple):
    number: tuple[int, ...]
    sign: str
    start: int


class NumberedPart(NamedTuple):
    """A part as a question names it: as typed, its sign in small letters, its number, and the part within it or "".

    `beside` are the question's other words, without those that ask for a part; `language` is the question's, or "".
    """

    typed: str
    sign: str
    number: tuple[int, ...]
    within: str = ""
    beside: frozenset[str] = frozenset()
    language: str = ""

    @classmethod
    def of(cls, question: str) -> "NumberedPart | None":
        """Return the part that a question asks for; None if it names none, or several."""
        found = list(_ASKED.finditer(question))
        if len(found) != 1:
            return None
        each = found[0]
        within = each["round"] or each["named"] or each["part"] or ""
        sign, number = each["sign"] or each["behind"], each["number"] or each["before"]
        beside = frozenset(_WORDS.findall(question.replace(each[0], " ").casefold())) - _ASKING
        return cls(each[0], sign.casefold(), _steps(number), within.casefold(), beside, language_of(question))

    def is_asked_of(self, name: str, language: str) -> bool:
        """Say whether a question asks for the part, in a language and of a document by its name, and for nothing else.

        "What do you process under Article 6 of the GDPR?" asks for no part of the documents.
        """
        words = _WORDS.findall(name.casefold())
        named = all(any(each.startswith(word[:MIN_STEM]) for each in words) for word in self.beside)
        return named and not (self.language and language and self.language != language.split("-")[0])

    def is_asked_of_passage(self, passage: Passage) -> bool:
        """Say the same of the document that a passage is from."""
        return self.is_asked_of(f"{passage.title} {passage.key}", passage.language)

    def span_of(self, passage: Passage) -> NumberedSpan | None:
        """Return where the part stands in a passage, None if it is not there or not asked of its document."""
        return self.span_in(passage.text) if self.is_asked_of_passage(passage) else None

    def span_in(self, text: str) -> NumberedSpan | None:
        """Return where the part stands in a text, None if it does not begin there."""
        beginnings = self._beginnings(text)
        for at, each in enumerate(beginnings):
            if each.number != self.number:
                continue
            after = (
                other.start
                for other in beginnings[at + 1 :]
                if other.number > self.number and other.number[: len(self.number)] != self.number
            )
            end = next(after, None)
            whole = NumberedSpan(each.start, len(text) if end is None else end, end is not None)
            span = _item_in(text, whole, self.within) if self.within else whole
            if span is not None:
                return span
        return None

    def is_absent_from(self, passages: Sequence[Passage]) -> bool:
        """Say whether a document is numbered in this way, and has no such part; `passages` are what is known of it.

        Not of one of which passages are missing between those that are known.
        """
        known = sorted({each.chunk_index for each in passages})
        if known != list(range(len(known))) or any(self._is_mentioned(each.whole) for each in passages):
            return False
        if not self.within and any(self._has_number(each.whole) for each in passages):
            return False
        if self.within and (parent := self._replace(within="")):
            spans = [(each.text, span) for each in passages if (span := parent.span_in(each.text))]
            items = {item for text, span in spans for item, _ in _items_in(text, span)}
            if len(items) >= MIN_NUMBERED:
                return self.within not in items
        steps = len(self.number)
        numbers = {each.number for passage in passages for each in self._beginnings(passage.text)}
        alike = {number for number in numbers if len(number) == steps}
        return len(alike) >= MIN_NUMBERED and self.number not in {number[:steps] for number in numbers}

    def _has_number(self, text: str) -> bool:
        number = re.escape(".".join(map(str, self.number)))
        return re.search(rf"(?<![\d.,€$£]){number}(?!\d|[.,]\d|\s?[€$£%])", text) is not None

    def _is_mentioned(self, text: str) -> bool:
        """Say whether a text names the part: "see clause 4.2"."""
        named = (NumberedPart.of(found[0]) for found in _ASKED.finditer(text))
        return any(
            each.number[: len(self.number)] == self.number and each.within == (self.within or each.within)
            for each in named
            if each is not None
        )

    def _beginnings(self, text: str) -> Sequence[_Beginning]:
        """Return the beginnings of numbered parts in a text, in order; with the part's sign only, if it has any."""
        found = sorted(_beginnings_in(text), key=lambda each: each.start)
        signed = [each for each in found if each.sign == self.sign]
        return signed or found


def _beginnings_in(text: str) -> Iterator[_Beginning]:
    for found in _LINE.finditer(text):
        number = _steps(found["number"])
        line = text[found.end("number") : _end_of_line(text, found.end("number"))]
        sign = found["sign"] or found["behind"] or ""
        is_bare = len(number) == 1 and not sign and not found["dot"]
        is_heading = len(line) <= MAX_HEADING_CHARACTERS and line.strip()[-1:].isalpha()
        if not _TO_CONTENTS.search(line) and (is_heading or not is_bare):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            yield _Beginning(number, sign.casefold(), start)
    for found in _IN_LINE.finditer(text):
        yield _Beginning(_steps(found["number"]), "", found.start("number"))


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _items_in(text: str, span: NumberedSpan) -> Iterator[tuple[str, int]]:
    """Yield the items "(1)", "(a)" of a part with their places."""
    for found in _ITEM.finditer(text, span.start, span.end):
        yield found[1].casefold(), text.index("(", found.start())


def _item_in(text: str, whole: NumberedSpan, item: str) -> NumberedSpan | None:
    """Return the span of an item of a part, up to the next item of its kind."""
    items = [each for each in _items_in(text, whole) if each[0].isdigit() == item.isdigit()]
    for (name, start), (_, end) in pairwise([*items, ("", whole.end)]):
        if name == item:
            return NumberedSpan(start, end, end < whole.end or whole.closed)
    return None


def _steps(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))
