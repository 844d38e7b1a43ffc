"""Finds the rows of a table that a claim names: by the words of their labels, or else by what it quotes."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from functions.query.grounding.facts import Fact
from functions.query.grounding.ranges import holds_number
from functions.query.grounding.table_cells import TableRow
from functions.query.grounding.tables import Table
from functions.query.grounding.words import WORD, content_stems
from shared.lexical import fold

MIN_LABEL_SHARE = 0.5
CLEAR_LABEL_SHARE = 0.75
"""Shares of a long label's words that may name its row, and that do, if no label is named in full."""
_SAME_BEGINNING = 5
"""Letters that two forms of a word have in common: "weighs", "Weight"."""
_OF_PERIODS = frozenset({"ended", "ending"})
"""Words of periods that name no row, though a label has them: "Balance at *end* of period"."""
_CODE = re.compile(r"\A\s*(?:[A-Z]\d{1,2}|[A-Z](?=[ .)])|\d{1,2}(?:\.\d{1,2})+|\d{1,2}(?=[.)]))[.)]?\s+(?=\w{2})")
"""The number of a row, before its label: "D1 Any one item"."""
_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_OPTIONAL = re.compile(r",? net of .*|\b(?:total|, net)\b|(?:less|plus|add):", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
EITHER = re.compile(
    r"(\w+)\s*(?:/|\bor\s)?\((loss|losses|deficit|expense|income|benefit|provision|decrease|increase|used|gain|gains)\b[^)]*\)",
    re.IGNORECASE,
)
"""What a figure is called above zero and, in brackets, below: "income (loss)"."""

Place = tuple[int, int]
"""Start and end in a text."""
LONGEST_ENDING = 3
"""Letters by which the forms of a label's word may differ in length."""


@dataclass(frozen=True, slots=True)
class RowMention:
    """Where a claim names a row, and which rows have that name."""

    start: int
    rows: frozenset[int]


@dataclass(frozen=True, slots=True)
class NamedRows:
    """The rows that a claim names. `by`: whole labels, most or part of one, or only the quote."""

    mentions: Sequence[RowMention]
    by: Literal["label", "most", "part", "quote"]


@dataclass(frozen=True)
class RowFinder:
    """One claim beside one table, of which the places `quoted` are quoted."""

    claim: str
    table: Table
    quoted: Sequence[Place]

    @cached_property
    def rows(self) -> NamedRows:
        """The rows that the claim names; if it names none, the quoted ones."""
        rows = self.table.rows
        said = frozenset(self.places)
        for names_of in (words_of, _needed_words_of):
            words = [self._form_said(names_of, row) for row in rows]
            named = {each for each in words if each and each <= said}
            named = {each for each in named if self._is_said_besides(each, [other for other in named if each < other])}
            if len(named) > 1:  # "Loans total 5.1": the column "Total"
                named -= {each for each in named if each in map(words_of, self.table.columns)}
            weak = frozenset(content_stems(self.table.caption)) - {"total"}
            if named:
                return NamedRows(self._mentions({each for each in named if not each <= weak} or named, words), "label")
        share = {each: len(each & said) / len(each) for each in words if len(each & said) > 1}
        best = max(share.values(), default=0.0)
        if best >= MIN_LABEL_SHARE:
            likely = {each for each in share if share[each] == best}
            by: Literal["most", "part"] = "most" if best >= CLEAR_LABEL_SHARE and len(likely) == 1 else "part"
            return NamedRows(self._mentions(likely, words), by)
        quoted = frozenset(n for n, row in enumerate(rows) if self.is_quoted(row))
        if by_own_word := self._named_by_own_word(quoted):
            return NamedRows(by_own_word, "most")
        return NamedRows([RowMention(0, quoted)] if quoted else [], "quote")

    def _named_by_own_word(self, quoted: frozenset[int]) -> Sequence[RowMention]:
        """Return the mentions of quoted rows by a word that no other label has: "dries", "Largest drying load"."""
        words = [words_of(row.label) for row in self.table.rows]
        counts = Counter(word for each in words for word in each)
        found = {n: {word for word in words[n] if counts[word] == 1 and word in self.places} for n in quoted}
        first = {n: min(min(self.places[word]) for word in own) for n, own in found.items() if own}
        mentions = [RowMention(start, frozenset({n})) for n, start in first.items()]
        return _joined(sorted(mentions, key=_place_of), self.claim)

    def _is_said_besides(self, words: frozenset[str], longer: Sequence[frozenset[str]]) -> bool:
        """Return whether a claim says all words of a label once more than the longer labels do that contain them."""
        return all(len(self.places[word]) > len(longer) for word in words)

    def _form_said(self, names_of: "Callable[[str], frozenset[str]]", row: TableRow) -> frozenset[str]:
        """Return the words of a label, or of its other form ("net loss" of "Net income (loss)") if that is said."""
        forms = [names_of(label) for label in (row.label, EITHER.sub(r"\2", row.label))]
        said = next((form for form in forms if form and form <= self.places.keys()), forms[0])
        return said or names_of(row.group)

    @cached_property
    def places(self) -> "dict[str, list[int]]":
        """The places of each content word of the claim, and of each label's word that begins like one of them."""
        places = _places(self.claim)
        words = frozenset[str]().union(*(words_of(row.label) for row in self.table.rows))
        for word in words - places.keys():
            if len(word) >= _SAME_BEGINNING:
                like = [said for said in places if said[:_SAME_BEGINNING] == word[:_SAME_BEGINNING]]
                if like and abs(len(like[0]) - len(word)) <= LONGEST_ENDING:
                    places[word] = places[like[0]]
        return places

    def _mentions(self, named: set[frozenset[str]], words: Sequence[frozenset[str]]) -> Sequence[RowMention]:
        places = self.places
        found: list[RowMention] = []
        for each in named:
            rows = self._of_group(frozenset(n for n, other in enumerate(words) if other == each))
            others = frozenset[str]().union(*(other for other in named if other != each))
            own = [place for word in (each - others or each) for place in places.get(word, ())]
            found += [RowMention(place, rows) for place in own]
        return _joined(sorted(found, key=_place_of), self.claim)

    def _of_group(self, rows: frozenset[int]) -> frozenset[int]:
        """Return those of equally named rows whose group the claim names; all if it names none."""
        said = frozenset(self.places)
        shares = {}
        for n in rows:
            row = self.table.rows[n]
            shares[n] = _share(words_of(row.group) - words_of(row.label), said)
        best = max(shares.values())
        return frozenset(n for n, share in shares.items() if share == best) if best >= MIN_LABEL_SHARE else rows

    def is_quoted(self, row: TableRow) -> bool:
        """Return whether a quoted place lies in a row."""
        return any(row.start < end and start < row.end for start, end in self.quoted)


def rows_within(fact: Fact, table: Table) -> frozenset[int]:
    """Return the rows whose label is a range that a number lies in: "three years" in "2 to 5 years"."""
    head = f"{table.caption} {' '.join(table.columns)}".lower()
    return frozenset(n for n, row in enumerate(table.rows) if holds_number(row.label, fact, head))


def _place_of(mention: RowMention) -> tuple[int, Sequence[int]]:
    """Return where a mention stands; of two in one place, the one of the upper row is first."""
    return mention.start, sorted(mention.rows)


def _joined(mentions: Sequence[RowMention], claim: str) -> Sequence[RowMention]:
    """Join names that follow one another ("Mac net sales", "iPhone, Mac and Services"): they mean any of their rows."""
    joined: list[RowMention] = []
    end = 0
    for each in mentions:
        if joined and len(WORD.findall(claim[end : each.start])) <= 2 and not _DIGIT.search(claim, end, each.start):
            before = joined.pop()
            joined.append(RowMention(before.start, before.rows | each.rows))
        else:
            joined.append(each)
        end = each.start
    return joined


def _share(words: frozenset[str], said: frozenset[str]) -> float:
    return len(words & said) / len(words) if words else 0.0


def words_of(label: str) -> frozenset[str]:
    """Return the words and numbers of a label, without its own number ("D1") and what stands in brackets."""
    folded = _CODE.sub("", fold(label))
    return frozenset(content_stems(_BRACKETS.sub(" ", folded))) or frozenset(content_stems(folded))


def _needed_words_of(label: str) -> frozenset[str]:
    """Return the words and numbers of a label, without what may be left out."""
    return frozenset(content_stems(_OPTIONAL.sub(" ", _BRACKETS.sub(" ", fold(label)))))


def _places(text: str) -> dict[str, list[int]]:
    """Return the places of each content word of a text."""
    places: dict[str, list[int]] = {}
    for match in re.finditer(r"\w[\w.,/-]*\w|\w", fold(text)):
        for stem in () if match.group().lower() in _OF_PERIODS else content_stems(match.group()):
            places.setdefault(stem, []).append(match.start())
    return places
