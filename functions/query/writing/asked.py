"""What kind of answer a question asks for, by its words; and whether a text can be one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache

from functions.query.grounding.names import ABBREVIATED
from functions.query.grounding.quantities import SPELLED
from functions.query.grounding.words import content_stems
from functions.query.understanding.days import days_in, months_in
from functions.query.understanding.question import LEAST, MOST, of_any_language, patterns_of
from functions.query.writing.needed import (
    asks_measure,
    asks_once,
    gives_order,
    has_address,
    needed_by,
    purposes_in,
    tells_time,
)
from shared import identity
from shared.identity import periods_in, with_plain_periods
from shared.text import SEPARATOR, quoted_in, row_cells


class Kind(StrEnum):
    """The kind of answer that a question asks for."""

    STEPS = "steps"
    REASON = "reason"
    LIST = "list"
    TIME = "time"
    NUMBER = "number"
    YES_NO = "yes_no"
    FACT = "fact"


_PATTERNS = patterns_of("asked_patterns.txt")
_KINDS = (Kind.REASON, Kind.STEPS, Kind.TIME, Kind.NUMBER, Kind.LIST, Kind.YES_NO)
"""The kinds that are told by question words; the first one that fits counts."""
_PAGE, _SEVERAL, _GATHERS, _WHO, _HOW_TO, _REASON, _DECIDES, _DENIES = (
    of_any_language(_PATTERNS[kind])
    for kind in ("page", "several", "gathers", "who", "way", "because", "decides", "denies")
)
_NUMBER_WORDS = frozenset("|".join(_PATTERNS["few"].values()).split("|"))
_WORD = re.compile(r"\w+")
_OPTION = re.compile(r"(?<!\S)(--?[^\W\d_][\w-]*)")
"""An option of a command, whose sign is a part of its name: "-r", "--help"."""
_WHICH = re.compile(r"\b(?:which|what) ((?:[^\W\d_]+[ -]?){1,3})", re.IGNORECASE)
"""What is asked for, in up to three words."""
_POINTED = re.compile(r"(?:this|these|that|those) ([^\W\d_]+(?: [^\W\d_]+)?)", re.IGNORECASE)
_COUNTS = of_any_language(_PATTERNS["counts"])
_HOW_MANY = re.compile(rf"(?:{_COUNTS.pattern}) (?:de |d['’])?((?:[^\W\d_]+[ -])?[^\W\d_]+)", re.IGNORECASE)
_FEW = "|".join(sorted(word for word in _NUMBER_WORDS if len(word) > 2))  # "du" is two, and French for "of the"
_AFTER_NUMBER = re.compile(
    rf"(?:(?<![\w.,])\d(?:[\d.,]*\d)?(?: (?:thousand|million|billion))?|{SPELLED.pattern}|\b(?:{_FEW})\b)"
    r"((?:[ -][^\W\d_]+){1,3})",
    re.IGNORECASE,
)
"""What is counted: the words after "how many", and those after a number."""
_YEAR_ALONE = re.compile(rf"(?<![\w.,]){identity.YEAR}(?![\w%]|[.,]\d|\s[^\W\d_]{{4}})")
"""A year that counts nothing: that of "from 1995 to 2003", not of "2010 visitors"."""
_FIGURE = re.compile(r"[\d., \u202f]*\d|[-–—]+")
"""A cell that counts, or is empty."""
_ONE = re.compile(r"(?:1|one|a|an)\b(?![.,]\d)", re.IGNORECASE)
_EXTREME = re.compile(rf"\b(?<!at )(?:({MOST})|(?:{LEAST}))\b", re.IGNORECASE)
RANKED = ("second", "third", "fourth", "fifth")
_RANKS = (*RANKED, "2nd", "3rd", "4th", "5th")
_RANK = re.compile(rf"\b({'|'.join(_RANKS)})[- ]\Z", re.IGNORECASE)
"""What before "largest" asks for the one behind it in order."""
_JUDGED = frozenset(("best", "worst", "maximum", "minimum"))
"""What has it need not have the most, or the least, of a row's figures: the best price, a maximum load of 100 kg."""
_FOR_NAME, _WHAT_ONE, _AMOUNT = (of_any_language(_PATTERNS[kind]) for kind in ("for_name", "what_one", "amount"))
"""What asks for one of several as "which" does: "what room has the most seats"."""
_COMPUTES, _CHANGES = (of_any_language(_PATTERNS[kind]) for kind in ("computes", "changes"))
"""English words of a question for how a figure changed: the year before belongs to its answer."""
_CHANGED_MOST = re.compile(rf"(?:{_CHANGES.pattern}) (?:the )?(?:{MOST}|{LEAST}|fastest)\b", re.IGNORECASE)
"""How a question asks what has changed most, which no row's figures of one year tell."""
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_ORDINAL = re.compile(r"(?<![\w.,])\d+(?:st|nd|rd|th)\b")
"""A number that says which, and not how much: a day of the month, a floor."""
_SPAN = re.compile(rf"(?<![\w.,/–-])({identity.YEAR})[/–-](\d\d(?:\d\d)?)(?![\w/–-]|[.,]\d)")
"""A year that begins in one calendar year and ends in the next: "2026/27"."""
_MEASURED = re.compile(r"(?<![^\W_])\d+(?:[.,:]\d+)*")
"""A number that is not the end of a name: not the 1 of "XTAL1"."""
_NO_FIGURE = re.compile("|".join(_PATTERNS["no_figure"].values()), re.IGNORECASE | re.MULTILINE)
_ANNOUNCES, _PART, _RAISES = (of_any_language(_PATTERNS[kind]) for kind in ("announces", "part", "raises"))
_PLACE, _SHORT = (of_any_language(_PATTERNS[kind]) for kind in ("place", "short"))
_MY_DUTY, _THEIR_DUTY = (of_any_language(_PATTERNS[kind]) for kind in ("my_duty", "their_duty"))
_CONDITIONS: Mapping[str, re.Pattern[str]] = {
    language: re.compile(rf"\b(?:{words})\b([^,;.?!]*)", re.IGNORECASE)
    for language, words in _PATTERNS["supposes"].items()
}
"""What a question or a statement supposes, by language: "falls" is a verb in English."""
_RANGE = re.compile(rf"\b({identity.YEAR})\s*(?:[-–—]|to|through)\s*(?:fiscal )?({identity.YEAR})\b", re.IGNORECASE)
MAX_YEARS = 10
"""Maximum years of a range that a question names by its first and last."""
_WHAT_IS = re.compile(
    r"(?:what (?:does|do) [^?]*?\bmean by|what is meant by|(?:what|who) (?:is|are|was)|what['’]s|what (?:does|do))"
    r" (?:an? |the )?([^?]+?)(?: mean| stand for|( do))?\W*\Z",
    re.IGNORECASE,
)
"""A question for what something is, with what that is."""
MAX_TERM_WORDS = 5
"""A question with more words asks about something, not what it is."""
_SERIES = re.compile(r",[^,;:.]{1,80},\s+(?:and|or|ir|und|oder|y|o|et|ou)\s", re.IGNORECASE)
"""The end of a list in a sentence: "…, b, and c"."""
_NAME = re.compile(r"(?<=[^\s.!?:;] )[A-ZÀ-Ž][a-zà-ž]+")
_WHO_DOES = re.compile(r"\bwho (?:has |have |had |will |would |also )?([^\W\d_]+)", re.IGNORECASE)
_DONE_BY = re.compile(r"\b((?:[^\W\d_]+ ){1,3})by\b", re.IGNORECASE)
"""The verb of who does something, and the words before "by" of what is done by somebody."""
_PAST = re.compile(r"(?:\b(?:did|were|had)|(?<=\w )was)\b(?!.*\b(?:will|expect\w*|plan\w*)\b)", re.IGNORECASE)
_CHOICE = re.compile(
    r"\b(?:why|or|if) not\b|, ?(?:and )?not [^,?]+"
    r"|^\W*(?:do|does|did|is|are|was|were|can|could|will|would|has|have|should)n['’]t\b",
    re.IGNORECASE,
)
"""What denies, and what denies nothing in a question."""
_FUTURE = re.compile(r"\b(?:will|expects?|expected to|plans? to|intends?)\b", re.IGNORECASE)
"""What asks about the past only, and what tells of the future."""


def is_short_for_more(sentence: str) -> bool:
    """Return whether a sentence only says the same, or the opposite, of something else: "Gas barbecues are."."""
    return _SHORT.match(sentence) is not None


def raises(text: str) -> bool:
    """Return whether a text says that something is raised."""
    return _RAISES.search(text) is not None


def has_series(text: str) -> bool:
    """Return whether a text has a list in a sentence: "a, b, and c"."""
    return _SERIES.search(text) is not None


def _years_in(question: str) -> frozenset[str]:
    """Return the years that a question names: "2019" of "FY2019" and of "Q2 2019", and those between two."""
    ranges = ((int(first), int(last)) for first, last in _RANGE.findall(with_plain_periods(question)))
    between = (str(year) for first, last in ranges if last - first < MAX_YEARS for year in range(first, last))
    return frozenset((*between, *(period[-4:] for period in periods_in(question))))


def spans_in(text: str) -> frozenset[str]:
    """Return the first calendar years of school years, seasons and the like that a text names: 2026 of "2026/27"."""
    return frozenset(first for first, last in _SPAN.findall(text) if str(int(first) + 1).endswith(last))


@dataclass(frozen=True)
class Asked:
    """A question with its kind of answer.

    `numbers` are those it names itself, `quoted` what it puts in quotes, and options ("-r"), `needed` what an answer
    must hold, `years` those it asks about. `inherited` are words of its text that it takes over from the question
    before it.
    """

    text: str
    kind: Kind
    numbers: frozenset[str]
    quoted: Sequence[re.Pattern[str]] = ()
    needed: Sequence[re.Pattern[str]] = ()
    years: frozenset[str] = frozenset()
    inherited: str = ""

    @classmethod
    @lru_cache(maxsize=128)
    def of(cls, question: str) -> "Asked":
        """Read a question."""
        text = question.strip()
        kind = next((kind for kind, pattern in _compiled() if pattern.search(text)), Kind.FACT)
        named = [re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE) for words in quoted_in(question)]
        options = [re.compile(rf"(?<![\w-]){option}(?![\w-])") for option in _OPTION.findall(question)]
        needed = () if kind is Kind.STEPS else needed_by(text)
        return cls(text, kind, frozenset(_DIGITS.findall(question)), (*named, *options), needed, _years_in(question))

    def following(self, before: str, inherited: str) -> "Asked":
        """Return the question as one that only replaces a word of the question `before`: it is of the same kind."""
        same = Asked.of(before) if self.kind is Kind.FACT and before else self
        return replace(self, kind=same.kind, needed=(*self.needed, *same.needed), inherited=inherited)

    @cached_property
    def abbreviations(self) -> Sequence[str]:
        """The abbreviations that it names, of three letters or more: "CEO"."""
        return () if self.text.isupper() else ABBREVIATED.findall(self.text)

    @cached_property
    def things(self) -> frozenset[Sequence[str]]:
        """What it asks for by "which" or "what", as content stems: the first word or words after it."""
        found = (words.split() for words in _WHICH.findall(self.text))
        stems = (content_stems(" ".join(words[:end])) for words in found for end in range(1, len(words) + 1))
        return frozenset(filter(None, stems))

    def points_to_thing(self, text: str) -> bool:
        """Return whether a text begins with what is asked for, without its name: "This release" for "which release"."""
        pointed = _POINTED.match(text)
        words = pointed[1].split() if pointed else ()
        return any(content_stems(" ".join(words[:end])) in self.things for end in (1, 2))

    @cached_property
    def for_measure(self) -> bool:
        """Whether it asks for a number with a unit that tells it from others: a distance, a weight, a unit price."""
        return asks_measure(self.text)

    @cached_property
    def for_event(self) -> bool:
        """Whether it asks when something happened: once, not again and again."""
        return self.kind is Kind.TIME and asks_once(self.text)

    @cached_property
    def for_several(self) -> bool:
        """Whether it asks for more than one of something: a list, or "which rooms have …"."""
        return self.kind is Kind.LIST or _SEVERAL.search(self.text) is not None

    @cached_property
    def for_page(self) -> bool:
        """Whether it asks for a page."""
        return _PAGE.search(self.text) is not None

    @cached_property
    def for_figure(self) -> bool:
        """Whether it asks for the figure of a year; "which region" asks for a name, unless it compares."""
        return bool(self.years) and (not self.for_name or self.gathers)

    @cached_property
    def extreme(self) -> int:
        """1 where it is asked which has the most, -1 where which has the least, else 0: which grew most, no row has."""
        if _CHANGED_MOST.search(self.text):
            return 0
        found = _EXTREME.search(self.text) if self.for_name or _WHAT_ONE.search(self.text) else None
        return 0 if found is None else 1 if found[1] else -1

    @cached_property
    def rank(self) -> int:
        """Which in order of those that have the most, or the least, it asks for: 2 for "the second largest"."""
        found = _EXTREME.search(self.text)
        before = _RANK.search(self.text[: found.start()]) if found else None
        return _RANKS.index(before[1].lower()) % len(RANKED) + 2 if before else 1

    @cached_property
    def measured(self) -> str:
        """Its text with what the most or least is asked of first: "rate of stays" of "the highest rate of stays".

        The word for most or least is last: it may be of prices.
        """
        found = _EXTREME.search(self.text)
        if found is None:
            return self.text
        return f"{self.text[found.end() :]} {self.text[: found.start()]} {found.group()}"

    @cached_property
    def without_years(self) -> str:
        """Its text without the years that it asks about."""
        return _DIGITS.sub(lambda number: " " if number.group() in self.years else number.group(), self.text)

    @cached_property
    def may_have_number(self) -> bool:
        """Whether it may name a number that is no year: in digits, or an age ("a child of four")."""
        return any(map(str.isdigit, self.without_years)) or " of " in self.text or "-year" in self.text

    @cached_property
    def extreme_of_row(self) -> int:
        """As `extreme`, where the most of a row's figures is meant: not the best, nor a maximum of so many."""
        found = _EXTREME.search(self.text)
        return 0 if found is None or found.group().lower() in _JUDGED else self.extreme

    @cached_property
    def for_name(self) -> bool:
        """Whether it asks who, where, which or why."""
        return _FOR_NAME.search(self.text) is not None

    @cached_property
    def computes(self) -> bool:
        """Whether its answer is worked out from several figures: a ratio, an average, a change."""
        return len(self.years) > 1 or _COMPUTES.search(self.text) is not None

    @cached_property
    def compares_years(self) -> bool:
        """Whether it asks how a figure changed, and names the later year only."""
        return len(self.years) == 1 and _CHANGES.search(self.text) is not None

    @cached_property
    def gathers(self) -> bool:
        """Whether its answer is to be gathered from several places; a reason stands in one."""
        return self.kind is not Kind.REASON and _GATHERS.search(self.text) is not None

    @cached_property
    def for_place(self) -> bool:
        """Whether it asks where somebody or something is."""
        return _PLACE.search(self.text) is not None

    def is_address(self, text: str) -> bool:
        """Return whether it asks where somebody or something is, and a text has an address."""
        return self.for_place and has_address(text)

    @cached_property
    def only_counts(self) -> bool:
        """Whether its answer is to be gathered only because it asks how many there are of something."""
        return self.gathers and _GATHERS.search(_COUNTS.sub(" ", self.text)) is None

    @property
    def for_amount(self) -> bool:
        """Whether it asks how many or how much, so that only a number answers it."""
        return self.kind is Kind.NUMBER and _AMOUNT.search(self.text) is not None

    def is_counted_in(self, text: str) -> bool:
        """Return whether a text tells the number of what is asked "how many" of, and nothing else is to be gathered.

        A table's row does whose label names that and whose cells are figures: "Active volunteers | 21 | 34".
        """
        if not self._counted:
            return False
        if SEPARATOR in text:
            label, *cells = row_cells(text.partition("\n")[0])
            return not self._counted.isdisjoint(content_stems(label)) and all(
                map(_FIGURE.fullmatch, filter(None, cells))
            )
        after = ((match.group(), re.split("[ -]", match[1])) for match in _AFTER_NUMBER.finditer(text))
        # "Two person screens" are no two persons: what is more than one has the question's ending, or one more.
        return any(
            not self._counted.isdisjoint(content_stems(word))
            and (_ONE.match(number) is not None or any(map(word.lower().startswith, self.words_counted)))
            for number, words in after
            for word in words
        )

    @cached_property
    def _counted(self) -> frozenset[str]:
        """The stems of these."""
        return frozenset(content_stems(" ".join(self.words_counted)))

    @cached_property
    def words_counted(self) -> frozenset[str]:
        """The words of what it asks "how many" of, in lower case, unless something else is to be gathered."""
        counted = _HOW_MANY.search(self.text)
        if counted is None or _GATHERS.search(_HOW_MANY.sub(" ", self.text)):
            return frozenset()
        return frozenset(re.split("[ -]", counted[1].lower()))

    def quotes_from(self, *texts: str) -> bool:
        """Return whether one of the texts holds what the question puts in quotes: a name, a heading, a sign."""
        return any(words.search(text) for words in self.quoted for text in texts)

    def fits(self, text: str) -> bool:
        """Return whether a text holds what is needed: a number that the question does not name, a date, an address."""
        if not all(pattern.search(text) for pattern in self.needed):
            return False
        if self.kind is Kind.NUMBER:
            return bool(self.new_numbers(text)) or not _NUMBER_WORDS.isdisjoint(_WORD.findall(text.lower()))
        if self.kind is Kind.TIME:
            return tells_time(text)
        return True

    def names_nobody(self, text: str) -> bool:
        """Return whether it asks who, and a text has no other names than its own: "Who follows Ann Lee?"."""
        if _WHO.search(self.text) is None:
            return False
        names = self._names_in(text)
        return bool(names) and all(each in self.text for each in names)

    @staticmethod
    def _names_in(text: str) -> Sequence[str]:
        return [each for each in _NAME.findall(text) if not (days_in(each) or months_in(each))]

    def names_somebody(self, text: str) -> bool:
        """Return whether it asks who, and a text has a name that is none of its own."""
        return _WHO.search(self.text) is not None and any(each not in self.text for each in self._names_in(text))

    def decides(self, text: str) -> bool:
        """Return whether it asks for yes or no, and a text says by itself what may be, must be, or is not."""
        return self.kind is Kind.YES_NO and _DECIDES.search(text) is not None

    def gives_reason(self, text: str) -> bool:
        """Return whether it asks why, and a text gives a reason."""
        return self.kind is Kind.REASON and _REASON.search(text) is not None

    def is_done_by(self, text: str) -> bool:
        """Return whether it asks who does something, and a text says by whom: "who inspected", "was inspected by"."""
        stems = self._done
        return bool(stems) and any(stems[0] in content_stems(done) for done in _DONE_BY.findall(text))

    @cached_property
    def _done(self) -> Sequence[str]:
        """The stems of what it asks who does."""
        verb = _WHO_DOES.search(self.text)
        return content_stems(verb[1]) if verb else ()

    @cached_property
    def for_way(self) -> bool:
        """Whether it asks how something is done; "how is" asks how something is."""
        return self.kind is Kind.STEPS and _HOW_TO.search(self.text) is not None

    def instructs(self, text: str, language: str) -> bool:
        """Return whether it asks how to do something, and a text tells the reader to do something."""
        return self.for_way and gives_order(text, language)

    def has_purpose(self, text: str, language: str, *, instructs: bool) -> bool:
        """Return whether it asks how to do something, and a text says what is done for it: "To print, press …".

        `instructs` is what `instructs` says of the text: an English order may name its purpose at its end.
        """
        verbs = purposes_in(text, language, is_order=instructs) if self.for_way else ()
        return bool(verbs) and not set(content_stems(" ".join(verbs), language)).isdisjoint(
            content_stems(self.text, language)
        )

    def supposes(self, text: str, language: str) -> bool:
        """Return whether a text supposes what the question does: "if you have marked an item"."""
        supposed = _supposed(self.text, language)
        if not supposed:
            return False
        of_text = (frozenset(content_stems(each, language)) for each in _CONDITIONS[language].findall(text))
        return any(2 * len(supposed & each) >= len(supposed) for each in of_text)

    def is_duty_of_others(self, text: str) -> bool:
        """Return whether it asks what the asker must do, and a text says what a contract's other party must."""
        return _THEIR_DUTY.search(text) is not None and _MY_DUTY.search(self.text) is not None

    def denies(self, text: str) -> bool:
        """Return whether it asks what is not, may not or has not, and a text denies something."""
        return self.for_denied and _DENIES.search(text) is not None

    @cached_property
    def for_denied(self) -> bool:
        """Whether it asks what is not, may not or has not."""
        asked = _CONDITIONS["en"].sub("", _CHOICE.sub("", self.text))
        return _DENIES.search(asked) is not None

    def is_too_late(self, text: str) -> bool:
        """Return whether it asks about the past only, and a text tells of the future."""
        return self._for_past and _FUTURE.search(text) is not None

    @cached_property
    def _for_past(self) -> bool:
        return _PAST.search(self.text) is not None

    def is_announced_by(self, text: str) -> bool:
        """Return whether a text only says what a part of the document tells, and no part is asked about."""
        return _ANNOUNCES.search(text) is not None and _PART.search(self.text) is None

    def defines(self, text: str) -> bool:
        """Return whether it asks what something is, and a text says so.

        "X is a …", "X, once Y, is a …", "X: …", "X, a …", "… (the “X”)".
        """
        return any(pattern.search(text) for pattern in _definitions_of(self.text))

    def is_met(self, text: str) -> bool:
        """Return whether a text has the number, in digits, or the time that is asked for."""
        if self.kind is Kind.NUMBER:
            return bool(self.new_numbers(text)) and self.fits(text)
        return self.kind is Kind.TIME and self.fits(text)

    def new_numbers(self, text: str) -> Sequence[str]:
        """Return the numbers of a text that are not in the question, and do not only say which item or page it is."""
        text = _NO_FIGURE.sub(" ", text)
        if self.for_amount:
            text = _ORDINAL.sub(" ", text)
        if self.words_counted and SEPARATOR not in text:
            text = _YEAR_ALONE.sub(" ", text)
        return [number for number in _MEASURED.findall(text) if number not in self.numbers]


@lru_cache(maxsize=500)
def _supposed(question: str, language: str) -> frozenset[str]:
    """Return the stems of what a question supposes: "is marked" of "What happens if an item is marked?"."""
    pattern = _CONDITIONS.get(language)
    found = pattern.search(question) if pattern else None
    return frozenset(content_stems(found[1], language)) if found else frozenset()


@lru_cache(maxsize=500)
def _definitions_of(question: str) -> Sequence[re.Pattern[str]]:
    """Return how a text defines what a question asks to define, if it does."""
    asked = _WHAT_IS.match(question)
    words = _WORD.findall(asked[1]) if asked else []
    if asked and asked[2] and asked[1].islower():
        return ()  # What a company does is said where it is defined; of a button, "a part of the lid" is no answer.
    if not 1 <= len(words) <= MAX_TERM_WORDS:
        return ()
    term = r"[\W_]+".join(words)
    before = r"(?:^|\| )\W*(?:\(?[\da-z]{1,2}[.)]\s+|\w+\s?,\s+)?(?:(?:an?|the)\s+)?[“\"]?"
    after = (
        r"[”\"]?(?:\s*\([^()]*\)|,\s[^,.;:()]{1,60}(?=,))?(?::\s+\S|,?\s+(?:(?:this|which)\s+)?"
        r"(?:(?:is|are|was|were)\s+(?:an?|the|one|not)\b|means?\b|refers?\s+to|stands?\s+for))"
    )
    return (
        re.compile(before + term + after, re.IGNORECASE | re.MULTILINE),
        re.compile(rf"(?<!\w){term},\s+an?\s", re.IGNORECASE),
        re.compile(rf"\((?:[^()“\"]{{0,40}}[“\"]{term}[”\"]|(?:the\s+)?{term})\)", re.IGNORECASE),
    )


@cache
def _compiled() -> Sequence[tuple[Kind, re.Pattern[str]]]:
    return [(kind, of_any_language(_PATTERNS[kind])) for kind in _KINDS]
