"""Whose page a question asks for: the names, codes and periods that it takes for granted.

"What was Tesla's revenue in 2031?" is refused, with a model or without, where no passage found is about Tesla, or none
about 2031: the filings of others, and of other years, read alike (`absent_subjects`); so is one about the pump "VP-50"
where only "VP-10" and "VP-35" stand.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile, pairwise

from functions.query.grounding.words import has_digit, is_stop_word
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import statements_asked
from functions.query.retrieval.rescoring import plain_words
from functions.query.understanding.vocabulary import document_words
from functions.query.writing.premises import (
    MIN_FORM_LETTERS,
    MIN_RARITY,
    exempt_words,
    is_identified,
    is_misspelt,
    near_words,
    what_is_asked,
    years_of_name,
)
from shared import identity, lexical
from shared.dates import years_written
from shared.language import language_of
from shared.text import SEPARATOR, row_cells

MAX_NAME_LETTERS_MORE = 3
"""Letters that a longer form of a name may have more: "Pepsi" is short for "PepsiCo", "sales" not for "Salesforce"."""
YEARS_COMPARED = 2
"""A periodic report compares its period with those of as many years before."""
MAX_DATE_WORDS = 4
"""Words of a cell that is a year or a date: "June 30, 2021", "Change since 2021"."""
HEAD_ROWS = 2
"""Lines of a table in which its columns are named, at most."""
BALANCES_COMPARED = 1
"""A balance sheet compares with one year before."""

MIN_ALIKE_CODES = 2
"""Codes of the same form from which one that is not among them is taken to be none."""
_CODE = re.compile(r"(?<![\w-])([A-Za-z]{2,6})(-?|(?<=[A-Z]) )(\d{1,3})[A-Za-z]?(?![\w-]|[.,]\d)")
"""A model, type or error: letters and a number ("VP-50", "DS411b"), after capitals also with a space between."""
_LISTED = re.compile(r"(?:/\d{1,3}\b)+")
"""Further numbers of the same letters: "VP-10/20/35"."""
_RANGE = re.compile(r"\s*(?:[–—…-]|to\b|through\b|bis\b|and (?:newer|later|above|up)\b)\s*(?:[A-Za-z]{0,6}-?\d)?")
"""What after a code makes a range of it."""
_PERIOD_CODE = re.compile(r"(?:Q|FY|H|CY)[- ]?\d", re.IGNORECASE)
_DIGIT = re.compile(r"\d")

_LANGUAGES_WITH_CAPITAL_NAMES = frozenset({"en", "es", "fr", "lt"})
_PERIODIC = frozenset({"10-K", "10-Q", "20-F", "40-F", "earnings release", "annual report", "interim report"})
"""Kinds of document that report on the periods they are named after, and compare them with earlier ones."""
_FILINGS = frozenset({"10-K", "10-Q", "8-K", "20-F", "40-F"})
"""Kinds of filing, none of which is a part of another."""
_REPORT = r"(?:form\s)?(?:10-?[KQ]|20-?F|report|filing)\b"
_AHEAD = re.compile(
    r"\b(?:expect|forecast|predict|project(?:ed|ion)|guid|outlook|plan|target|anticipat|estimat|will\b|would\b|next\b|future|"
    r"upcoming|due\b|matur|expir|schedul|remain|effective|adopt|after\b|subsequent|beyond)",
    re.IGNORECASE,
)
"""What asks about the time after a report's period."""


def absent_subjects(
    question: str, passages: Sequence[Passage], organisations: Collection[str] = (), *, inherited: str = ""
) -> Sequence[str]:
    """Return the names and periods of a question that no passage is about, as typed; empty if it may be answered.

    `organisations` are those on the identity cards of all documents that were found; `inherited` are words that the
    question takes over: "How does it compare to last year? Microsoft 10-Q" asks about Microsoft. Periods are looked for
    in what is of the organisation that the question names: another one's report on that year does not tell of it.
    """
    asked = _with_names(identity.with_plain_periods(what_is_asked(question)), inherited)
    known = {*organisations, *(name for each in passages for name in each.organisations)}
    named = dict.fromkeys(name for each in sorted(known) if (name := identity.organisation_in(asked, each)))
    own = [each for each in passages if any(_is_of(each, name) for name in named)]
    own = own or [each for each in passages if any(_spaced(name) in _spaced(each.text) for name in named)]
    # Where no document says whose it is, a name that is not in the text may still be the author's.
    names = _absent_names(asked, passages) if any(map(is_identified, passages)) else ()
    if names and not is_identified(passages[0]) and identity.is_own_words(passages[0].text):
        speakers = identity.speakers_in(asked)
        names = [name for name in names if not any(name in each for each in speakers)]
    absent = dict.fromkeys((*names, *(() if own else named), *(() if named else _foreign_subjects(asked, passages))))
    absent.update(dict.fromkeys(absent_codes(asked, passages)))
    return [*absent, *_absent_forms(asked, own or passages), *_absent_periods(asked, own or passages)]


def _with_names(asked: str, inherited: str) -> str:
    """Return what is asked with the words that it takes over, numbers and periods left out.

    A question about another year takes over the former one, too.
    """
    names = " ".join(word for word in inherited.split() if not has_digit(word))
    return f"{asked.rstrip(' ?')}, {names}?" if names and inherited not in asked else asked


def _foreign_subjects(question: str, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the subjects of a question that stand nowhere, where the best passage's document says whose it is.

    They are others' names, also of common words or of capitals: "Best Buy", "AMCOR", "3M"; initials of words that stand
    there are none.
    """
    is_carded = bool(passages) and bool(passages[0].organisations)
    if not is_carded or any(each.language not in {"", "en"} for each in passages):
        return ()
    typed = (name.split() for name in identity.subjects_in(question))
    names = [" ".join(dropwhile(lambda word: is_stop_word(word.lower()), words)) for words in typed]
    stems = {name: [lexical.stem(word, "en") for word in plain_words(name, latin=False)] for name in names}
    beginnings = {stem[:2] for each in stems.values() for stem in each}
    if not beginnings:
        return ()
    organisations = {name for each in passages for name in each.organisations}
    words = [
        plain_words(" ".join((each.text, each.section, each.table, identity.name_of(each.title, each.key), each.cover)))
        for each in passages
    ]
    words += map(plain_words, organisations)
    held = [
        f" {' '.join(lexical.stem(word, 'en') if word[:2] in beginnings else word for word in each)} " for each in words
    ]
    initials = ["".join(word[0] for word in each) for each in words]
    exempt, terms = exempt_words()["en"].stems, document_words(question)

    def is_held(name: str) -> bool:
        return (
            exempt.issuperset(stems[name])
            or any(f" {' '.join(stems[name])} " in each for each in held)
            or (name.isalpha() and name.isupper() and any(_joined(name) in each for each in initials))
            or any(_joined(each).startswith(_joined(name)) for each in organisations)
            or any(name in phrase for phrase in terms)
        )

    return [name for name in names if not is_held(name)]


def _absent_forms(question: str, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the kinds of filing that a question names ("8-K") where all passages are of filings of other kinds."""
    kinds = {each.kind for each in passages}
    forms = identity.kinds_asked(question)
    return sorted(forms & _FILINGS) if kinds <= _FILINGS and forms.isdisjoint(kinds) else ()


def absent_codes(question: str, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the codes of a question ("VP-50") that stand nowhere, where at least two others of their form stand.

    Of one form are those with the same letters and as many digits: "VP-10", "VP-35". Where one of the question's codes
    with these letters is told, or a range of them ("VP-10 to VP-60"), none is absent.
    """
    asked = {_code_of(found): found[0] for found in _CODE.finditer(question) if not _PERIOD_CODE.match(found[0])}
    if not asked:
        return ()
    texts = [f"{each.whole}\n{each.section}\n{each.title}\n{each.key}\n{each.cover}" for each in passages]
    told = [found for text in texts for found in _CODE.finditer(text)]
    codes = {_code_of(found) for found in told}
    for found in told:
        if more := _LISTED.match(found.string, found.end()):
            codes.update(f"{found[1].lower()}{number}" for number in more[0][1:].split("/"))
    # A word and a number apart may be anything: "EUR 50", "AGE 9".
    forms = Counter(_DIGIT.sub("0", code) for code in {_code_of(found) for found in told if found[2] != " "})
    there = {code.rstrip("0123456789") for code in asked if code in codes}
    there |= {found[1].lower() for found in told if _RANGE.match(found.string, found.end())}
    return [
        typed
        for code, typed in asked.items()
        if code.rstrip("0123456789") not in there and forms[_DIGIT.sub("0", code)] >= MIN_ALIKE_CODES
    ]


def _code_of(found: re.Match[str]) -> str:
    return f"{found[1]}{found[3]}".lower()


def _is_of(passage: Passage, name: str) -> bool:
    """Say whether a name stands in the title, the file name or the organisations of the passage's document."""
    words = plain_words(f"{identity.name_of(passage.title, passage.key)} {' '.join(passage.organisations)}")
    return any(_joined(name) in (one, one + other) for one, other in pairwise([*words, ""]))


def _absent_periods(question: str, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the periods that no passage is about; all years if each lies outside the reports' periods.

    A report that is named after its period mentions other years in passing: when a debt falls due, when a contract was
    signed. So one outside must be named as a period there: "fiscal 2009", "the year ended June 30, 2009". The latest
    period asked about must be told of by a report, unless the question looks ahead.
    """
    asked = identity.periods_in(question)
    reports = [each for each in asked if _names_report_of(each, question)]
    if untold := [each for each in reports if not any(_is_report_of(each, passage) for passage in passages)]:
        return untold
    quarters = [period for period in asked if period.startswith("Q")]
    untold = [period for period in quarters if not any(_tells_of_quarter(each, period) for each in passages)]
    if untold and untold == quarters:
        return untold
    years = list(dict.fromkeys(years_written(question)))
    kinds = statements_asked(question)
    compared = BALANCES_COMPARED if "balance" in kinds and "cash" not in kinds else YEARS_COMPARED
    outside = [year for year in years if not any(_is_about(each, year, compared) for each in passages)]
    if len(outside) == len(years):
        return outside
    latest = max(years)
    looks_ahead = _AHEAD.search(question) or language_of(question) not in {"", "en"}
    if not quarters and not looks_ahead and not any(_reaches(each, latest, question) for each in passages):
        return [latest]
    return [
        year for year in years if not any(_mentions(each, year) or _is_about(each, year, compared) for each in passages)
    ]


def _names_report_of(period: str, question: str) -> bool:
    """Say whether a question names a report by its period: "the Q3 2022 10-Q", "the report for fiscal 2022"."""
    before, behind = rf"{period}(?:['\u2019]s)?\s{_REPORT}", rf"{_REPORT}\s(?:for|of|from)\s(?:fiscal\s)?{period}\b"
    return re.search(rf"\b{before}|\b{behind}", question, re.IGNORECASE) is not None


def _is_report_of(period: str, passage: Passage) -> bool:
    """Say whether a passage is of the report on a period, or may be because its document is of none."""
    if passage.kind not in _PERIODIC or not passage.periods:
        return True
    return period in passage.periods or any(each[-4:] == period for each in passage.periods)


def _tells_of_quarter(passage: Passage, quarter: str) -> bool:
    """Say whether a report is of a quarter, or compares with it, or may tell of it because it is of no period."""
    if passage.kind not in _PERIODIC or not passage.periods:
        return True
    number, year = quarter.split()
    told = {quarter, f"{number} {int(year) + 1}", *((year,) if number == "Q4" else ())}
    return not told.isdisjoint(passage.periods) or quarter in identity.periods_in(passage.text)


def _reaches(passage: Passage, year: str, question: str) -> bool:
    """Say whether a report's periods reach a year; a later year's quarter does not tell of a whole fiscal year."""
    if passage.kind not in _PERIODIC or not passage.periods:
        return True
    last = max(int(period[-4:]) for period in passage.periods)
    is_of_quarter = all(period.startswith("Q") for period in passage.periods)
    return last == int(year) or (last > int(year) and not (is_of_quarter and f"fiscal {year}" in question))


def _mentions(passage: Passage, year: str) -> bool:
    around = (passage.section, passage.cover, passage.title, passage.key, *passage.periods)
    return year in passage.text or any(year in text for text in around)


def _is_about(passage: Passage, year: str, compared: int) -> bool:
    periods = years_of_name(passage.title, passage.key) | {int(period[-4:]) for period in passage.periods}
    if not periods:
        return _mentions(passage, year)
    if any(period - compared <= int(year) <= period for period in periods):
        return True
    if int(year) > max(periods) + 1 or compared == BALANCES_COMPARED:
        return False
    if int(year) == max(periods) + 1 and _mentions(passage, year):  # what is expected of it
        return True
    if int(year) < min(periods) and _has_cell_of(passage, year):
        return True
    before = r"(?:fiscal(?: years?)?|years? ended|ended [^\W\d_]+ \d+,)"
    return re.search(rf"{before}\s(?:\d{{4}},? (?:and )?)*{year}\b", passage.text, re.IGNORECASE) is not None


def _has_cell_of(passage: Passage, year: str) -> bool:
    """Say whether a table has a column or a row of a year: its first two lines, or a label, name it or a date in it."""
    if year not in passage.whole:
        return False
    lines = passage.whole.split("\n")
    for at, line in enumerate(lines):
        if SEPARATOR in line and year in line:
            is_head = at < HEAD_ROWS or SEPARATOR not in lines[at - 1] or SEPARATOR not in lines[at - HEAD_ROWS]
            cells = row_cells(line) if is_head else row_cells(line)[:1]
            if any(cell.endswith(year) and len(cell.split()) <= MAX_DATE_WORDS for cell in cells):
                return True
    return False


def _spaced(text: str) -> str:
    return f" {' '.join(plain_words(text, latin=False))} "


def _absent_names(question: str, passages: Sequence[Passage]) -> Sequence[str]:
    language = language_of(question) or next((each.language for each in passages if each.language), "")
    if language not in _LANGUAGES_WITH_CAPITAL_NAMES or any(each.language not in {"", language} for each in passages):
        return ()
    table = lexical.background(language)
    rare = {
        name: words
        for name in identity.names_in(question)
        if (words := [word for word in plain_words(name, latin=False) if _rarity(table, word, language) >= MIN_RARITY])
    }
    if not rare:
        return ()
    held = near_words([word for words in rare.values() for word in words], passages)
    joined = {_joined(" ".join((each.title, each.key, each.cover, *each.organisations))) for each in passages}

    exempt = exempt_words().get(language)

    def is_held(word: str) -> bool:
        stem = lexical.stem(word, language)
        return (exempt is not None and exempt.has(word, stem)) or any(
            lexical.stem(other, language) == stem or _is_short_for(word, other) or is_misspelt(word, other)
            for other in held[word[:2]]
        )

    return [
        name
        for name, words in rare.items()
        if not any(map(is_held, words)) and not any(_joined(name) in each for each in joined)
    ]


def _rarity(table: Mapping[str, float], word: str, language: str) -> float:
    return table.get(lexical.stem(word, language), lexical.MAX_RARITY)


def _is_short_for(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return (
        len(shorter) >= MIN_FORM_LETTERS
        and len(longer) - len(shorter) <= MAX_NAME_LETTERS_MORE
        and longer.startswith(shorter)
    )


@lru_cache(maxsize=5_000)
def _joined(text: str) -> str:
    return "".join(plain_words(text))
