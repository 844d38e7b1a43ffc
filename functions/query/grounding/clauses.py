"""Compares a claim with the clause it comes from: a word that turns the meaning, left out or put in.

Such words (`texts/turning_words.txt`) say who vouches for a statement, under what condition it holds, how certain,
binding or general it is. A claim may leave out much of a sentence, but not those of the clause that it repeats.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise, takewhile

from functions.query.grounding.polarity import (
    are_opposite_anywhere,
    count_negations,
    denies_what_other_says,
    nearest_piece,
)
from functions.query.grounding.quantities import PERIODS, is_number_word, unit_name
from functions.query.grounding.words import stems_of, tokens_of, with_synonyms
from functions.query.understanding.question import lines_of

LEFT_OUT = ("possible", "some", "most", "only", "condition", "attribution")
PUT_IN = ("possible", "plan", "whole", "most", "only")
"""Kinds of words that a claim must not leave out, and must not put in."""
CONTRARY = tuple(
    pair
    for one, other in (
        ("possible", "duty"),
        ("possible", "future"),
        ("advice", "duty"),
        ("all", "some"),
        ("all", "most"),
        ("only", "some"),
        ("only", "most"),
        ("only", "main"),
    )
    for pair in ((one, other), (other, one))
)
"""Kinds of which one excludes the other in the same place."""
MIN_ALIGNED_SHARE = 0.4
"""Share of a clause's content words that a sentence must contain to be compared with it."""
MAX_BEFORE_THAT = 2
"""Clauses before a "that" among which the one that it belongs to is looked for."""
_BOUNDARY = re.compile(
    r"[;:()\[\]|]|,(?=\s)|\s[—–-]\s|\s(?=(?:if|unless|except|until|provided|when|whenever|whether|because|although|though"
    r"|while|whereas|since|but|which|who|whose|that|jei|nebent|kol|kad|kuris|kuri|nors|bet)\b)",
    re.IGNORECASE,
)
MIN_SUPPOSED_SHARE = 0.6
"""Share of a claim's content words from which a condition says the same."""
_SUPPOSING = frozenset(("if", "unless", "whether", "provided", "jei", "nebent"))
_OPEN = frozenset(("condition", "occasion", "possible", "duty", "advice", "future", "plan"))
"""Kinds of words with which a claim states no fact."""
_AFTER_GIVEN = frozenset(("by", "for", "to", "in", "with", "at", "on", "as", "from"))
"""Words after "provided" where it is no condition: "provided for the agency"."""
_COORDINATING = frozenset(("and", "but", "ir", "bet"))
_ALLOWING = frozenset(("can", "may", "cannot", "cant", "can't", "allowed", "permitted", "entitled", "able", "possible"))
_ABLE = frozenset(("allowed", "permitted", "entitled", "able"))
"""Words of allowing that a "may" before them takes back."""
_SUPPOSED = re.compile(r"\b(?:may|might|could) have\b")
_NO_TURNS = frozenset((("you", "can"), ("at", "most"), ("not", "all")))
_ALMOST = frozenset(("almost", "nearly", "virtually"))
_IN_ALL = frozenset(("in", "at"))
MIN_ABLE = 4
"""Letters before "able" in an adjective of what can be done to something."""
_ONE_OF = ("one", "of")
_CONCESSION = re.compile(r"\beven\s+(?=(?:if|when|though)\b)", re.IGNORECASE)
_NEXT_SENTENCE = re.compile(
    r"(?:(?<=[.!?])|[^.!?\n]{0,200}[.!?])\s+((?:this|that|it|which|tai)\b[^.!?\n]{1,40})[.!?]", re.IGNORECASE
)
_DENIAL = re.compile(
    r"\b(?:not (?:true|correct|so|the case)|false|untrue|wrong|incorrect|a myth|netiesa)\b", re.IGNORECASE
)
_ATTRIBUTED = re.compile(
    r"\b(?:(?:claim(?:s|ed)?|insist(?:s|ed)?|maintain(?:s|ed)?) (?:that|he|she|they)"
    r"|sa(?:ys?|id) (?:that|the|an?|he|she|it|they))\b"
    r"|\b(?:according to|in the (?:view|opinion) of)"
    r" (?!(?:the |this )?(?:document|source|text|report|article|page|table)\b)",
    re.IGNORECASE,
)
"""Other words with which a claim says who vouches for it; what it has from the document is no such thing."""
_CONSENT_KIND = "consent"
_CONSENT = re.compile(r"\b(?:consent|permi(?:ssion|ts?\b)|approv|authori[sz]|agree|licen[cs]e|allow)", re.IGNORECASE)
_WITH_CONSENT = re.compile(
    r"\b(?:with|subject to|upon|without)\b[^,.;]{0,40}?\b(?:consent|permission|approval|authori[sz]ation|licen[cs]e)\b",
    re.IGNORECASE,
)
"""Somebody's consent, and what only happens with it: "with the written consent of the landlord"."""
_BEFORE_TIMES = frozenset(("after", "before", "until", "from", "since"))
"""Words after which a number tells when, not how many: "only after five years"."""
MIN_STEMS = 3
"""Content words of a run of clauses that is looked for together."""
AFTER_ONLY = 4
"""Words behind "only" among which the number stands that it counts."""


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind, *words in map(str.split, lines_of("turning_words.txt")) for word in words}


@lru_cache(maxsize=8)
def _kind_stems(language: str) -> frozenset[str]:
    return frozenset().union(*(stems_of(word, language) for word in _kinds()))


@dataclass(frozen=True)
class Clause:
    """A part of a sentence between two boundaries."""

    text: str
    language: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All its words, folded, in lower case."""
        return tokens_of(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return stems_of(self.text, self.language)

    @property
    def opener(self) -> str:
        """Its first word."""
        return self.words[0] if self.words else ""

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its turning words."""
        return frozenset(
            _kinds()[word]
            for at, word in enumerate(self.words)
            if word in _kinds()
            and (*self.words[max(0, at - 1) : at], word) not in _NO_TURNS
            and not (word == "possible" and at and self.words[at - 1].endswith("est"))
            and not self._says_how_often(at)
            and not self._is_given(at)
        ) | (frozenset({"some"}) if _ONE_OF in pairwise(self.words) else frozenset())

    def _says_how_often(self, at: int) -> bool:
        """Return whether a word counts times, not things: "every year"."""
        after = self.words[at + 1 : at + 2]
        return self.words[at] == "every" and bool(after) and unit_name(after[0]) in PERIODS

    def _is_given(self, at: int) -> bool:
        """Return whether a word says that something is provided, not on which condition."""
        after = self.words[at + 1] if at + 1 < len(self.words) else ""
        return self.words[at] == "provided" and after in _AFTER_GIVEN

    def says_all(self, known: frozenset[str]) -> bool:
        """Whether it says something of all: not "almost all", "in all", nor "all three", whose number is its own.

        `known`: the words of the other sentence.
        """
        return any(
            _kinds().get(word) == "all"
            and _ALMOST.isdisjoint(self.words[max(0, at - 1) : at])
            and not (at + 1 == len(self.words) and self.words[at - 1] in _IN_ALL)
            and not any(is_number_word(each) and each not in known for each in self.words[at + 1 : at + 2])
            for at, word in enumerate(self.words)
        )

    @property
    def after_all(self) -> Sequence[str]:
        """The stem of the first content word after each "all"."""
        places = (at for at, word in enumerate(self.words) if _kinds().get(word) == "all")
        later = (stems_of(" ".join(self.words[at + 1 : at + 2]), self.language) for at in places)
        return [stem for stems in later for stem in stems]

    @property
    def is_condition(self) -> bool:
        """Whether it states a condition of another clause."""
        return _kinds().get(self.opener) == "condition" and not self._is_given(0)


@lru_cache(maxsize=512)
def clauses_of(sentence: str, language: str) -> tuple[Clause, ...]:
    """Return the clauses of a sentence; a concession ("even if") is no condition."""
    plain = _CONCESSION.sub("although ", sentence)
    found = (Clause(part.strip(), language) for part in _BOUNDARY.split(plain))
    return tuple(clause for clause in found if clause.words)


def turns(claim: str, sentences: Sequence[str], language: str) -> frozenset[str]:
    """Return the kinds of turning words by which a claim differs from the clauses that it repeats, and "negation"."""
    mine = clauses_of(claim, language)
    kinds = frozenset().union(*(clause.kinds for clause in mine))
    kinds |= {_CONSENT_KIND} if _CONSENT.search(claim) else frozenset()
    said = stems_of(claim, language)
    theirs = [clauses_of(nearest_piece(sentence, said, language), language) for sentence in sentences]
    return frozenset(turn for part in _statements(mine) for turn in _turns(part, kinds, theirs))


def _statements(clauses: Sequence[Clause]) -> Iterator[Sequence[Clause]]:
    """Yield runs of clauses that hold at least three content words together."""
    run: list[Clause] = []
    for clause in clauses:
        run.append(clause)
        if len(frozenset().union(*(each.stems for each in run))) >= MIN_STEMS:
            yield run
            run = []
    if run:
        yield run


def _turns(mine: Sequence[Clause], all_kinds: frozenset[str], sentences: Sequence[Sequence[Clause]]) -> frozenset[str]:
    said = frozenset().union(*(clause.stems for clause in mine)) - _kind_stems(mine[0].language)
    compared = [
        _Aligned(mine, all_kinds, sentence, held)
        for sentence in sentences
        if sentence and len(held := _held(said, sentence)) >= max(1, MIN_ALIGNED_SHARE * len(said))
    ]
    if not compared:
        return frozenset()
    most = max(len(each.held) for each in compared)
    # A source may say something twice: one sentence that agrees is enough.
    return min((each.turns() for each in compared if len(each.held) == most), key=len)


def _held(said: frozenset[str], clauses: Sequence[Clause]) -> frozenset[str]:
    """Return the stems that some clauses hold, or hold a synonym of."""
    stems = frozenset().union(*(clause.stems for clause in clauses))
    return (said & stems) | with_synonyms(said, stems, clauses[0].language)


@dataclass(frozen=True)
class _Aligned:
    """Clauses of a claim beside a sentence that holds most of their words."""

    mine: Sequence[Clause]
    all_kinds: frozenset[str]
    sentence: Sequence[Clause]
    held: frozenset[str]

    def turns(self) -> frozenset[str]:
        used = self._used()
        theirs = [self.sentence[at] for at in used]
        return frozenset(
            (*self._left_out(theirs, used), *self._put_in(), *self._negated(theirs), *self._contrary(theirs))
        )

    def _used(self) -> list[int]:
        """Return the indices of the sentence's clauses that the claim repeats, with those between them."""
        shared = [len(_held(self.held, [clause])) for clause in self.sentence]
        best = max(range(len(shared)), key=lambda at: shared[at])
        return [
            at for at, count in enumerate(shared) if at == best or (count and 2 * count >= len(self.sentence[at].stems))
        ]

    def _left_out(self, theirs: Sequence[Clause], used: Sequence[int]) -> Iterator[str]:
        held = frozenset().union(*(clause.kinds for clause in theirs))
        for at in used:
            if self.sentence[at].opener in {"that", "kad"}:
                before = self.sentence[max(0, at - MAX_BEFORE_THAT) : at]  # "alleges, among other things, that …"
                held |= frozenset().union(*(each.kinds for each in before)) & {"attribution", "possible"}
        own = " ".join(clause.text for clause in theirs)
        if (_WITH_CONSENT.search(own) and _CONSENT_KIND not in self.all_kinds) or any(
            self._is_conditional(at) for at in used
        ):
            held |= {"condition"}
        mine = self.all_kinds | ({"condition"} if self._tells_occasion(theirs) else frozenset())
        supposed = any(_SUPPOSED.search(" ".join(clause.words)) for clause in theirs)
        told = (found[0].lower() for clause in self.mine for found in _ATTRIBUTED.finditer(clause.text))
        mine |= {"attribution"} if any(each not in own.lower() for each in told) else frozenset()
        mine |= {"possible"} if self._allows_what_they_do(theirs) and not supposed else frozenset()
        yield from (kind for kind in LEFT_OUT if kind in held and kind not in mine)

    def _tells_occasion(self, theirs: Sequence[Clause]) -> bool:
        """Return whether the claim has a word that may stand for a condition, and that the sentence has not."""
        own = frozenset(word for clause in theirs if not clause.is_condition for word in clause.words)
        said = frozenset(word for clause in self.mine for word in clause.words) - own
        return any(_kinds().get(word) == "occasion" for word in said)

    def _is_conditional(self, at: int) -> bool:
        """Return whether a clause is a condition, or conditions follow it, or begin its sentence right before it."""
        after = next(
            (each for each in self.sentence[at + 1 :] if each.is_condition or each.opener in _COORDINATING), None
        )
        before = self.sentence[: at + 1]
        last = next((each for each in reversed(before[:-1]) if not each.is_condition), None)
        begins = before[0].is_condition and (last is None or last.opener not in _COORDINATING)
        return before[-1].is_condition or (after is not None and after.is_condition) or begins

    def _allows_what_they_do(self, theirs: Sequence[Clause]) -> bool:
        """Return whether the claim says what is possible in other words; "may be entitled" is less than "entitled"."""
        held = frozenset(word for clause in theirs for word in clause.words)
        if held & {"may", "might", "could"}:
            held &= _ABLE
            return any(_ALLOWING & (frozenset(clause.words) - held) for clause in self.mine)
        return self._allows(self.mine)

    @staticmethod
    def _allows(clauses: Sequence[Clause]) -> bool:
        """Return whether some clauses say what is possible in other words: "you can", "is allowed", "cannot"."""
        return any(not _ALLOWING.isdisjoint(clause.words) for clause in clauses)

    def _put_in(self) -> Iterator[str]:
        everywhere = frozenset().union(*(clause.kinds for clause in self.sentence))
        if self._allows(self.sentence) or self._is_able() or self._only_says_can():
            everywhere |= {"possible"}
        mine = frozenset().union(*(clause.kinds for clause in self.mine))
        yield from (
            kind for kind in PUT_IN if kind in mine - everywhere and not (kind == "only" and self._is_counted())
        )
        if "all" in mine and self._is_generalised():
            yield "all"

    def _only_says_can(self) -> bool:
        """Return whether the claim says no more of what is possible than that it can be, or that it may not be."""
        words = [word for clause in self.mine for word in clause.words]
        said = [(word, after) for word, after in pairwise([*words, ""]) if _kinds().get(word) == "possible"]
        return all(word == "can" or (word, after) == ("may", "not") for word, after in said)

    def _is_able(self) -> bool:
        """Return whether the sentence has what the claim says can be done in one word: "adjustable"."""
        able = [word.removesuffix("able") for clause in self.sentence for word in clause.words if word.endswith("able")]
        said = [word for clause in self.mine for word in clause.words]
        return any(len(each) >= MIN_ABLE and word.startswith(each) for each in able for word in said)

    def _is_counted(self) -> bool:
        """Return whether the claim says "only" of a number, which is compared as a fact."""
        words = [word for clause in self.mine for word in clause.words]
        after = (words[at + 1 : at + 1 + AFTER_ONLY] for at, word in enumerate(words) if _kinds().get(word) == "only")
        counted = (takewhile(lambda each: each not in _BEFORE_TIMES, few) for few in after)
        return all(any(each.isdigit() or is_number_word(each) or each == "once" for each in few) for few in counted)

    def _is_generalised(self) -> bool:
        """Return whether the claim drops what restricts "all": "all *international* students"."""
        said = frozenset().union(*(clause.stems for clause in self.mine))
        restricting = [word for clause in self.sentence for word in clause.after_all]
        return bool(restricting) and not said & frozenset(restricting)

    def _contrary(self, theirs: Sequence[Clause]) -> Iterator[str]:
        """Yield "contrary" if a word of one kind stands where the sentence has one of a kind that it excludes."""
        stated = [clause for clause in self.mine if clause.opener != "whether"]  # "whether it will" leaves it open
        mine, held = (frozenset().union(*(clause.kinds for clause in clauses)) for clauses in (stated, theirs))
        everywhere = frozenset().union(*(clause.kinds for clause in self.sentence))
        if "only" in held or self.sentence[0].opener == "only":
            held -= {"possible"}  # "only members may" is "you must be a member"
            held -= {"duty"} if "only" in mine else set()  # "only members should": "it must be by members only"
        known = frozenset(word for clause in self.sentence for word in clause.words)
        if not any(clause.says_all(known) for clause in self.mine):
            mine -= {"all"}
        words = [word for clause in (*self.mine, *theirs) for word in clause.words]
        excluded = any(one in mine - held and other in held - mine for one, other in CONTRARY)
        if not count_negations(words) and (excluded or ("all" in mine - everywhere and "occasion" not in mine)):
            yield "contrary"

    def _negated(self, theirs: Sequence[Clause]) -> Iterator[str]:
        said = [word for clause in self.mine for word in clause.words]
        held = [word for clause in theirs for word in clause.words]
        differs = count_negations(said) % 2 != count_negations(held) % 2
        opposite = are_opposite_anywhere(said, held)
        negated = differs and denies_what_other_says(said, held, self.mine[0].language)
        if (opposite and not differs) or (negated and not opposite):
            yield "negation"


def states_supposition(claim: str, sentences: Sequence[str], language: str) -> bool:
    """Return whether a claim states as a fact what the sentence nearest to it only supposes: "if …", "unless …"."""
    mine = clauses_of(claim, language)
    said = frozenset().union(*(clause.stems for clause in mine))
    if frozenset().union(*(clause.kinds for clause in mine)) & _OPEN:
        return False
    clauses = [clause for sentence in sentences for clause in clauses_of(sentence, language)]
    shared = [len(_held(said, [clause])) for clause in clauses]
    best = max(shared, default=0)
    nearest = [clause for clause, count in zip(clauses, shared, strict=True) if count == best]
    return best >= max(2, MIN_SUPPOSED_SHARE * len(said)) and all(clause.opener in _SUPPOSING for clause in nearest)


def is_denied(text: str, end: int) -> bool:
    """Return whether the sentence after the one that ends at a place, or around it, denies it: "This is not true."."""
    after = _NEXT_SENTENCE.match(text, end)
    return after is not None and _DENIAL.search(after[1]) is not None
