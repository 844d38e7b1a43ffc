"""Checks which of several things a claim calls more, later or the most, and which value it gives to which.

A sentence is cut into parts of which each tells one value; a claim's two things are told apart by words that only one
of two parts has. Where that leaves any doubt, nothing is said.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import permutations

from functions.query.grounding.columns import spans_of_periods
from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.measures import MAX_PARTS, ValuePart, content_words_of, parts_of
from functions.query.grounding.polarity import count_negations, direction_of
from functions.query.grounding.quantities import CURRENCIES, PERIODS, spelled_value
from functions.query.grounding.table_cells import TableCell
from functions.query.grounding.tables import Table
from functions.query.grounding.words import content_stems, has_digit, stem_of, stems_of, tokens_of, with_synonyms
from functions.query.understanding.question import word_lists
from shared.lexical import fold
from shared.text import SEPARATOR

# --- which is more, or later ---

_WORDS = word_lists("claim_words.txt")
_HIGHER, _LOWER = _WORDS["higher"], _WORDS["lower"]
_COMPARING = "|".join(sorted((*_HIGHER, *_LOWER, "faster", "slower")))
_THAN = re.compile(
    rf"\b(?P<word>{_COMPARING})\b(?:(?!\b(?:{_COMPARING})\b)[^.;])*?\sthan\s(?P<other>[^.;]+)", re.IGNORECASE
)
_EXCEEDS = re.compile(
    r"\b(?P<word>exceed(?:s|ed)?|outnumber(?:s|ed)?|surpass(?:es|ed)?|outperform(?:s|ed)?)\s(?P<other>[^.;]+)",
    re.IGNORECASE,
)
"""How a claim compares: the word next to "than", or a verb."""
_BY = re.compile(r"\bby (?:a margin of |about |some |around )?[$€£]?\Z", re.IGNORECASE)
MAX_BETWEEN = 4
"""Words between a difference and the word that compares: "3 euros a month dearer"."""
_NEXT_WORD = re.compile(r"\s+([^\W\d_]{3,})")
_MULTIPLE = "twice|double|half|(?:two|three|four|five|ten) times"
_TIMES = re.compile(
    rf"\b(?P<times>{_MULTIPLE}) as [^\W\d_]+\b(?:(?! as )[^.;])*? as (?P<other>[^.;]+)"
    rf"|\b(?P<times_of>{_MULTIPLE}) (?:(?:that|those|the [^\W\d_]+) of|what)\s"
    r"(?P<second>[^.;]+)",
    re.IGNORECASE,
)
_BEYOND = re.compile(r"\b(?:(?P<more>more than|at least|over)|(?P<less>less than|at most|under))\s+\Z", re.IGNORECASE)
_IN_TIME = re.compile(r"\b(?P<word>before|after|later than|earlier than|precedes?|follows?)\s(?P<other>[^.;]+)", re.I)
_HOW_FAST = re.compile(r"\b(?:faster|slower)\b", re.IGNORECASE)
"""Words that compare changes, not amounts: "grew faster"."""
_EARLIER = ("before", "earlier", "precede")
_UNSURE = re.compile(r"\b(?:about as|almost|nearly|more or less|rather than|other than|per)\b", re.I)
HALF = 50
MOVED = 2
"""Half, as per cent; and the values of one that moved, and that are compared at least."""
_HALF = re.compile(
    r"\b(?:(?:more than|over) half|(?P<less>(?:less|fewer) than half|under half))\b(?! (?:that|those|as|again|what)\b)"
    r"(?P<of> of)?",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\s[^\s]+\s?%?\s(?:percent\s)?to\s", re.IGNORECASE)
"""How a claim says that a share is more or less than half, and how a sentence tells that one moved."""
_THAN_NUMBER = re.compile(r"\b[^\W\d_]+ than (?:an? )?(?=[$€£]?\d|half\b|third\b|quarter\b)", re.IGNORECASE)
_MORE_OF = re.compile(r"\b(?:more|less)\s+([^\W\d_]+)\s+than\b", re.IGNORECASE)
_OF_VALUES = stems_of("share percentage proportion point number amount level rate total likely")
"""Words for any value, which a sentence need not have."""
MIN_SHARE = 0.75
"""Share of a claim's content words that the parts, their sentences and the question must have."""


@dataclass(frozen=True, slots=True)
class Multiple:
    """How many times as much one thing is called as another: "twice as many hours as"; where the second one begins.

    `bound` is 1 for "more than twice", -1 for "less than".
    """

    times: Decimal
    bound: int
    start: int

    def is_of(self, one: Decimal, other: Decimal) -> bool | None:
        """Return whether one value is so many times the other, rounded; None if it is near that."""
        if other <= 0 or one < 0:
            return None
        share = one / other / self.times
        if self.bound:
            return (share - 1) * self.bound >= 0
        return True if abs(share - 1) <= NEAR_MULTIPLE else None if abs(share - 1) <= UNSURE_MULTIPLE else False


NEAR_MULTIPLE, UNSURE_MULTIPLE = Decimal("0.05"), Decimal("0.2")
"""Shares by which a multiple may differ from what is told, and by which it may in doubt."""


def multiple_in(claim: str) -> Multiple | None:
    """Return what a claim says of how many times as much one thing is as another."""
    found = _TIMES.search(fold(claim))
    if found is None:
        return None
    word = (found["times"] or found["times_of"]).lower()
    beyond = _BEYOND.search(claim, 0, found.start())
    bound = (1 if beyond["more"] else -1) if beyond else 0
    times = {"twice": Decimal(2), "double": Decimal(2), "half": Decimal("0.5")}.get(word)
    return Multiple(
        times or spelled_value(word.split()[0]) or Decimal(2),
        bound,
        found.start("other" if found["other"] else "second"),
    )


@dataclass(frozen=True, slots=True)
class Relation:
    """What the evidence says of a comparison: whether it is so, and the calculation.

    `restated`: the claim with the share that it calls more or less than half.
    """

    is_so: bool
    derived: str
    restated: str = ""


@dataclass(frozen=True, slots=True)
class _SaidComparison:
    """A comparison in a claim: the words before and behind "than", and which way it goes (1 for more or later)."""

    before: str
    behind: str
    way: int
    multiple: Multiple | None = None
    in_time: bool = False
    changes: int = 0

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of facts that are compared."""
        return ("date", "time") if self.in_time else ("number",)

    def is_so(self, one: Decimal, other: Decimal) -> bool | None:
        """Return whether two values are as the claim says; None if that cannot be told."""
        if one == other:
            return None
        return self.multiple.is_of(one, other) if self.multiple else (one > other) == (self.way > 0)


@dataclass(frozen=True, slots=True)
class ComparedThings:
    """What a claim compares with what: the words before and behind "than", its word, and where that starts.

    `way` is 1 for more, -1 for less, 0 for ranks: two places higher are two less.
    """

    before: str
    behind: str
    word: str
    start: int
    way: int

    def says_how_much(self, fact: Fact, claim: str) -> bool:
        """Return whether a number is told as the difference: "3 euros a month dearer than", "… than Fox, by 3 km"."""
        between = claim[fact.end : self.start]
        is_before = fact.end <= self.start and len(between.split()) <= MAX_BETWEEN and not has_digit(between)
        return is_before or _BY.search(claim, 0, fact.start) is not None


@lru_cache(maxsize=512)
def compared_in(claim: str) -> ComparedThings | None:
    """Return what a claim compares with what."""
    plain = fold(claim)
    found = _THAN.search(plain) or _EXCEEDS.search(plain)
    if found is None:
        return None
    word = found["word"].lower()
    way = 0 if _OF_RANK.search(plain) else _way_of(word) or 1
    return ComparedThings(plain[: found.start("other")], found["other"], word, found.start("word"), way)


def _said_in(claim: str) -> _SaidComparison | None:
    if (compared := compared_in(claim)) and compared.way:
        moves = {each for token in tokens_of(claim) if (each := direction_of(token)) and not _way_of(token)}
        is_change = _HOW_FAST.search(claim) is not None or (compared.word in {"more", "less"} and bool(moves))
        changes = (moves or {1}).pop() if is_change and len(moves) < MOVED else 0
        return _SaidComparison(compared.before, compared.behind, compared.way, changes=changes)
    if multiple := multiple_in(claim):
        return _SaidComparison(claim[: multiple.start], claim[multiple.start :], 0, multiple)
    if in_time := _IN_TIME.search(claim):
        way = -1 if in_time["word"].lower().startswith(_EARLIER) else 1
        return _SaidComparison(claim[: in_time.start()], in_time["other"], way, in_time=True)
    return None


def relation_in(claim: str, sentences: Sequence[str], question: str, language: str) -> Relation | None:
    """Return what sentences say of "A is higher than B" or "A is before B"; None if they do not surely tell it."""
    plain = fold(claim)
    said = _said_in(plain)
    tells_half = _HALF.search(plain) is not None
    if not (said or tells_half) or count_negations(tokens_of(claim)) or _UNSURE.search(plain):
        return None
    prose = [text for text in dict.fromkeys(sentences) if SEPARATOR not in text]
    if tells_half and (half := _told_by_half(plain, prose, question, language)):
        return half
    if said is None or not _is_about(f"{said.before} {said.behind}", (*prose, question), language):
        return None
    parts = [parts_of(text, language) for text in prose]
    if not MOVED <= sum(map(len, parts)) <= MAX_PARTS:
        return None
    places = [(n, at) for n, each in enumerate(parts) for at in range(len(each))]
    results: dict[tuple[bool, bool], Relation] = {}
    for (n, at), (m, after) in permutations(places, 2):
        one, other = parts[n][at], parts[m][after]
        values = _values_of(one, other, said)
        order = (at > after) - (at < after) if n == m else 0
        if values is None or not _are_of(said, one, other, order, language):
            continue
        held = tuple(dict.fromkeys((prose[n], prose[m])))
        others = [each for k in {n, m} for each in parts[k] if each not in (one, other)]
        others = [each for each in others if any(fact.kind in said.kinds for fact in each.facts)]
        if (others and n != m) or not _is_about(f"{said.before} {said.behind}", (*held, question), language):
            continue  # which of the values of several sentences are compared cannot be seen
        is_sure = not _tell_of_others(said, one, other, others, language) and not any(map(_compares, held))
        is_so = said.is_so(values[0][0], values[1][0])
        if not is_sure or is_so is None or not _is_quality_told(plain, held, question, language):
            return None
        if not said.in_time and not _may_be_compared(one, other, said.changes, order):
            continue
        sign = "/" if said.multiple else ">" if values[0][0] > values[1][0] else "<"
        results[n == m, is_so] = Relation(is_so, f"{values[0][1]} {sign} {values[1][1]}")
    found_in = [each for (is_one, _), each in results.items() if is_one] or list(results.values())
    return found_in[0] if len(found_in) == 1 else None


def _tell_of_others(
    said: _SaidComparison, one: ValuePart, other: ValuePart, others: Sequence[ValuePart], language: str
) -> bool:
    """Return whether further parts with such a value have words of a claim: it may compare theirs."""
    words = frozenset(content_words_of(f"{said.before} {said.behind}", language))
    shared = one.words & other.words
    return any(not (words & each.words) <= shared for each in others)


def _told_by_half(claim: str, texts: Sequence[str], question: str, language: str) -> Relation | None:
    """Return whether a share of the evidence is more or less than half, as a claim says ("more than half", "most").

    Of several shares it is the one whose part alone has the first word behind: "more than half *disapprove*".
    """
    found = _HALF.search(claim)
    words = content_words_of(claim[found.end() :], language) if found else []
    if found is None or not words or not _is_about(_HALF.sub(" ", claim), (*texts, question), language):
        return None
    shares = [(part, share) for text in texts for part in parts_of(text, language) for share in _shares_of(part)]
    if len({part for part, _ in shares}) > 1:
        shares = [each for each in shares if words[0] in each[0].words]
    if len(shares) != 1 or min(shares[0][1].values) == HALF:
        return None
    share = shares[0][1]
    value = min(share.values)
    is_so = (value > HALF) == (found["less"] is None)
    restated = f"{claim[: found.start()]}{_written(share)}{' of' if found['of'] else ''}{claim[found.end() :]}"
    return Relation(is_so, f"{_written(share)} {'>' if value > HALF else '<'} 50 %", restated)


def _shares_of(part: ValuePart) -> Sequence[Fact]:
    """Return the shares of a part: of one that moved, what it moved to."""
    shares = [each for each in part.facts if each.unit == "percent"]
    if len(shares) == MOVED and _FROM.search(part.text):
        return [max(shares, key=lambda each: each.start)]
    return shares


def _way_of(word: str) -> int:
    """Return 1 for a word that compares upwards, -1 for one that compares downwards, 0 for any other."""
    return (word in _HIGHER or word == "faster") - (word in _LOWER or word == "slower")


_Value = tuple[Decimal, str]


def _sort_of(fact: Fact) -> tuple[str, str]:
    return fact.kind, fact.unit


def _values_of(one: ValuePart, other: ValuePart, said: _SaidComparison) -> tuple[_Value, _Value] | None:
    """Return the values of two parts; None if either has none, or several of the sort of the other's.

    What both have alike ("an hour") is not compared.
    """
    pairs = [
        (mine, theirs)
        for mine in one.facts
        for theirs in other.facts
        if mine.kind in said.kinds and _sort_of(mine) == _sort_of(theirs) and mine.text != theirs.text
    ]
    if len(pairs) != 1 or any(each.negative or each.bound for each in pairs[0]):
        return None
    mine, theirs = pairs[0]
    nouns = _noun_behind(one, mine), _noun_behind(other, theirs)
    if not mine.unit and all(nouns) and nouns[0] != nouns[1]:
        return None  # "three floors" and "five rooms"
    a, b = _value_of(mine), _value_of(theirs)
    return None if a is None or b is None else ((a, _written(mine)), (b, _written(theirs)))


def _noun_behind(part: ValuePart, fact: Fact) -> str:
    """Return the stem of the word behind a number, by which it counts."""
    found = _NEXT_WORD.match(fold(part.text), fact.end)
    return stem_of(found[1].lower(), "en") if found and content_stems(found[1], "en") else ""


def _value_of(fact: Fact) -> Decimal | None:
    if fact.kind != "date":
        return min(fact.values)
    told = fact.date
    if told is None or not told.year or not told.month or not told.day:
        return None
    return Decimal(10_000 * told.year + 100 * told.month + told.day)


def _written(fact: Fact) -> str:
    return fact.text.strip(" .,;")


def _are_of(said: _SaidComparison, one: ValuePart, other: ValuePart, order: int, language: str) -> bool:
    """Return whether the first thing of a comparison is that of one part, the second that of the other.

    `order` is 1 if the one part stands behind the other in a sentence, -1 if before it, 0 in another sentence.
    """
    mine, theirs = one.words - other.words, other.words - one.words
    first, second = content_words_of(said.before, language), content_words_of(said.behind, language)
    own = [word for word in first if word not in second]
    others = [word for word in second if word not in first]
    if not others or others[0] not in theirs:
        return False
    return _is_of(own, mine, theirs, is_later=order > 0) and _is_of(others, theirs, mine, is_later=order < 0)


def _is_of(said: Sequence[str], own: frozenset[str], others: frozenset[str], *, is_later: bool) -> bool:
    """Return whether words mean the part with words of its own (`own`), not that with the `others`.

    A later part need not repeat what an earlier one says of both: "48% of leaners voted, and 59% of Democrats".
    """
    telling = [word for word in said if word in own or (word in others and not is_later)]
    return bool(telling) and all(word in own for word in telling)


def _is_about(claim: str, texts: Sequence[str], language: str) -> bool:
    for fact in sorted((each for each in facts_in(claim) if each.start >= 0), key=lambda each: -each.start):
        claim = f"{claim[: fact.start]} {claim[fact.end :]}"
    said = frozenset(stem for stem in stems_of(claim, language) - _OF_VALUES if not _is_comparing(stem))
    held = frozenset[str]().union(*(stems_of(text, language) for text in texts))
    return len((said & held) | with_synonyms(said, held, language)) >= MIN_SHARE * len(said)


def _compares(text: str) -> bool:
    """Return whether a sentence compares by itself: its values need not be what a claim compares."""
    return any(map(_way_of, tokens_of(_THAN_NUMBER.sub(" ", text))))


def _is_quality_told(claim: str, texts: Sequence[str], question: str, language: str) -> bool:
    """Return whether the evidence has what a claim says one thing is more than another: "more *efficient* than"."""
    found = _MORE_OF.search(claim)
    said = stems_of(found[1], language) - _OF_VALUES if found else frozenset[str]()
    held = frozenset[str]().union(*(stems_of(text, language) for text in (*texts, question)))
    return said <= held | with_synonyms(said, held, language)


def _is_comparing(word: str) -> bool:
    return _way_of(word) != 0 or direction_of(word) != 0


def _may_be_compared(one: ValuePart, other: ValuePart, changes: int, order: int) -> bool:
    """Return whether both values are amounts, or both changes in the direction of a claim that compares changes.

    What rose or fell by which one does not say which is higher. The second of two parts may leave out what they do.
    """
    tokens = [tokens_of(part.text) for part in (one, other)]
    moves = [{each for token in text if (each := direction_of(token))} for text in tokens]
    if changes:
        first, second = moves if order < 0 else moves[::-1]
        return first == {changes} and (second == {changes} or (order != 0 and not second))
    return not any(moves) and not any(map(count_negations, tokens))


# --- what is the most or the least ---

_NUMBER = "three|four|five|six|seven|eight"
_OF_THESE = r"of (?:the|these|those|all(?: the)?)"
_AMONG = re.compile(
    rf" {_OF_THESE} (?P<number>{_NUMBER})(?: [^\W\d_]+){{0,2}}(?=[.!]?\s*\Z)"
    rf"|(?<=[a-z]) {_OF_THESE} listed(?: [^\W\d_]+){{0,2}}(?=[.!]?\s*\Z)"
    rf"|\A{_OF_THESE}(?: (?:{_NUMBER}))?(?: [^\W\d_]+){{0,2}}, ",
    re.IGNORECASE,
)
"""How many a claim chooses from: "the longest of the three"."""
_IN_ALL = re.compile(
    r",? (?:in|for|during) (?:both|all(?: the)?) (?:periods|years|quarters|columns|cases)[.!]?\s*\Z", re.IGNORECASE
)
_IN = re.compile(r",? (?:in|for|during|on|at)(?= )", re.IGNORECASE)
_OF_PERIOD = re.compile(r"\W*(?:(?:the|of|in|fiscal|full|year|quarter|ended)\b\W*)*", re.IGNORECASE)
"""What stands at the end of a claim before a time, or instead of one."""
MIN_COMPARED = 3
"""Rows of which one may be the most or the least."""
_MOST = "highest|largest|biggest|greatest|longest|heaviest|dearest|costliest|most (?:expensive|costly)|most"
_LEAST = "fewest|lowest|smallest|shortest|lightest|cheapest|least (?:expensive|costly)|least"
_EXTREME = re.compile(
    rf"\b(?:is|are|was|were|has|have|had) (?P<negated>not )?the (?:(?P<most>{_MOST})|(?P<least>{_LEAST}))"
    r"(?: [^\W\d_]+){0,4}[.!]?\s*\Z",
    re.IGNORECASE,
)
"""A superlative with which a claim ends: more words may restrict it, or speak of another comparison."""
_WITH_VALUE = re.compile(
    rf"\b(?<!one of )the (?:(?P<most>{_MOST})|(?P<least>{_LEAST}))\b"
    r"(?:(?!\b(?:of|with|without|under|over|above|below|among|for|from|since|than|ever|after|before|increase|decrease"
    r"|rise|fall|growth|gain|drop|change|loss|decline)\b)[^.;\d])*,? (?:at|with|weighing|costing|of)? ?[$€£]?\d",
    re.IGNORECASE,
)
"""A superlative that its figure follows: "the cheapest bicycle in the test, at 980 euros"."""
_OF_ANY = ("longest", "shortest", "highest", "lowest", "largest", "smallest", "biggest", "greatest")
_OF_WHAT_ENDS = re.compile(r"\b(?:in|is|are|was|were|at|with|costing|weighing)\b|,|(?=[$€£]?\d)")
_OF_RANK = re.compile(r"\b(?:rank\w*|places?|placed|positions?|spots?|grades?|marks?)\b", re.IGNORECASE)
"""What ends the words that a superlative is of, and figures of which less is more."""
_OTHER = re.compile(
    r"\b(?:of|with|without|than|from|among|but|ever|in|for|since|under|over|below|above|rank|place|position|increase|decrease"
    r"|rise|fall|growth|gain|drop|change|loss|losses|decline|deficit)\b",
    re.IGNORECASE,
)
"""Words behind a superlative that restrict it, or after which more is less, or a change and no figure is compared."""
_SUM = re.compile(r"\b(?:total|all|sum|average|mean|overall|subtotal)\b", re.IGNORECASE)
"""Rows that are made of the others."""
_OF_PRICE = re.compile(r"cheap|dear|cost|expensive", re.IGNORECASE)
_OF_TIME = re.compile(r"longest|shortest", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Superlative:
    """What a claim calls "the cheapest", of a table: `row` is what it calls so, `columns` those that it names."""

    claim: str
    table: Table
    row: int
    columns: frozenset[int]
    quoted: frozenset[int]

    def is_right(self) -> bool | None:
        """Return whether the row has the highest or lowest figure of the column meant; None if that cannot be told."""
        among = among_in(self.claim)
        said = _EXTREME.search(_without_ends(self.claim))
        if said is None or _OTHER.search(said.group(), said.end("most" if said["most"] else "least") - said.start()):
            return None
        if among and among["number"] and spelled_value(among["number"].lower()) != len(self.quoted):
            return None
        found = {self._is_right_in(column, said) for column in self._columns(said["most"] or said["least"])}
        return next(iter(found)) if len(found) == 1 else None

    def is_wrong_in(self, column: int) -> bool:
        """Return whether the claim gives a row's figure in a column as the most or least, and another row has more.

        "The Fjord is the cheapest bicycle, at 980 euros": any more rows that are not known could only have less.
        """
        claim = fold(self.claim)
        found = list(_WITH_VALUE.finditer(claim))
        if len(found) != 1 or count_negations(tokens_of(claim)):
            return False
        said = found[0]
        values = self._values(column)
        if self.row not in values or len(values) < MIN_COMPARED or not self._is_of_all_rows(said, column):
            return False
        best = max if said["most"] else min
        if (said["most"] or said["least"]).lower() in _OF_ANY and not self._is_named(said, column):
            others = (at for at in range(len(self.table.columns)) if at != column)
            if any(self._is_best_in(other, best) for other in others):
                return False  # it may be that of another column: "the longest trail, at 900 metres"
        among = [values[n] for n in self.quoted if n in values]
        may_be_of_few = 1 < len(among) < len(values) and values[self.row] == best(among)
        return values[self.row] != best(values.values()) and not may_be_of_few

    def _is_best_in(self, column: int, best: Callable[[Iterable[Decimal]], Decimal]) -> bool:
        values = self._values(column)
        return self.row in values and values[self.row] == best(values.values())

    def _is_of_all_rows(self, said: re.Match[str], column: int) -> bool:
        """Return whether a superlative is of all rows, because the table's names have all that it is of.

        "The cheapest Norda tariff" is of some; "the most popular tariff" has no most of a figure, nor the highest rank.
        """
        name = self.table.columns[column]
        if _OF_RANK.search(f"{name} {said.group()}") or ("per" in tokens_of(said.group())) != (
            "per" in tokens_of(name)
        ):
            return False
        known = stems_of(" ".join((*self.table.columns, self.table.caption)))
        if (said["most"] or said["least"]).lower() in {"most", "least"}:
            known = stems_of(name)
        return stems_of(_of_what(said)) <= known

    def _is_named(self, said: re.Match[str], column: int) -> bool:
        """Return whether a superlative names the column of its figure: "the lowest cost per page, at 2.6 cents"."""
        words = stems_of(_of_what(said))
        return bool(words) and words <= stems_of(self.table.columns[column])

    def _is_right_in(self, column: int | None, said: re.Match[str]) -> bool | None:
        values = self._values(column) if column is not None else {}
        if self.row not in values or len(values) < MIN_COMPARED:
            return None
        best = max if said["most"] else min
        is_best = values[self.row] == best(values.values())
        among = [values[n] for n in self.quoted if n in values]
        if not is_best and len(among) > 1 and values[self.row] == best(among):
            return None  # of those that the claim may speak of
        return is_best != (said["negated"] is not None)

    def _columns(self, word: str) -> frozenset[int | None]:
        """Return the columns that are meant: those named, one of prices or times, or the only one with figures."""
        columns = {cell.column for row in self.table.rows for cell in row.cells if cell.values}
        if self.columns:
            return frozenset(columns & self.columns)
        if _IN_ALL.search(self.claim):
            return frozenset(columns)
        if word.lower() in {"most", "fewest", "least"}:
            return frozenset()
        if units := CURRENCIES if _OF_PRICE.search(word) else PERIODS if _OF_TIME.search(word) else None:
            columns = {cell.column for row in self.table.rows for cell in row.cells if cell.unit in units}
        return frozenset(columns) if len(columns) == 1 else frozenset()

    def _values(self, column: int) -> dict[int, Decimal]:
        """Return the figure of each row in a column; none if a row has words there, or another unit.

        Where the claim says from which it chooses, the rows are those that are quoted.
        """
        rows = [(n, row) for n, row in enumerate(self.table.rows) if not _SUM.search(row.label)]
        rows = [(n, row) for n, row in rows if n in self.quoted] if among_in(self.claim) else rows
        cells = {n: _cell_in(row.cells, column) for n, row in rows}
        values = {n: cell.signed for n, cell in cells.items() if cell is not None and cell.signed is not None}
        units = {"" if cell.unit in CURRENCIES else cell.unit for cell in cells.values() if cell is not None}
        return values if len(values) == len(cells) and len(units) == 1 else {}


def _of_what(said: re.Match[str]) -> str:
    """Return what a superlative is of: "bicycle" of "the cheapest bicycle in the test"."""
    return _OF_WHAT_ENDS.split(said.string[said.end("most" if said["most"] else "least") : said.end()])[0]


def _cell_in(cells: Sequence[TableCell], column: int) -> TableCell | None:
    return next((cell for cell in cells if cell.column == column), None)


def is_superlative(text: str) -> bool:
    """Return whether a text says at its end that something is the most or the least."""
    return _EXTREME.search(_without_ends(text)) is not None


def among_in(text: str) -> re.Match[str] | None:
    """Return where a text says of how many something is the most or the least: "of the three", "Of these four, …"."""
    return _AMONG.search(_without_period(fold(text)))


def _without_ends(text: str) -> str:
    """Return a text without what it chooses from, and without the time at its end, which names columns."""
    return _without_period(_AMONG.sub("", _without_period(fold(text))))


def _without_period(text: str) -> str:
    if found := _IN_ALL.search(text):
        return text[: found.start()]
    found = next(iter(reversed(list(_IN.finditer(text)))), None)
    if found is None:
        return text
    rest = text[found.end() :]
    for start, end in reversed(spans_of_periods(text)):
        if start >= found.end():
            rest = rest[: start - found.end()] + rest[end - found.end() :]
    return text[: found.start()] if rest != text[found.end() :] and _OF_PERIOD.fullmatch(rest) else text
