"""The identity card of a document: whose it is, by whom, of what kind, of when, which version, which product.

It is read off the cover, running lines, file name and metadata, by rules; what is not found is not on it. Its fields
are named like labels, and a label of the same name wins.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from functions.ingest.parsing.authors import any_word, authors_of
from functions.ingest.parsing.rights import rights_in
from functions.ingest.parsing.titles import Beginning, Filing
from shared import identity, lexical
from shared.dates import DateMention, dates_in, years_written
from shared.models import Labels

MAX_ORGANISATIONS = 3
MAX_PERIODS = 3
MAX_VALUE = 100
COVER_LINES = 60
"""Lines of the cover that are looked at; a filing's holds the symbols of its shares."""
SHORT_LINE = 90
"""Characters of a line that may state a date or a version; in a longer one it belongs to a sentence."""
MIN_DATE_SHARE = 0.33
"""Share of a line that its date is, if the document is of that date."""

_WITH_PRODUCT = frozenset(
    {
        "user manual", "installation guide", "service manual", "product description", "data sheet", "release notes",
        "reference card",
    }
)  # fmt: skip


def card_of(beginning: Beginning, title: str, filing: Filing | None) -> Labels:
    """Return what was found, by field: `organisation`, `period` and `author` are lists, `date` is ISO 8601."""
    kind = _kind(beginning, title, filing)
    day = _filing_date(filing) if filing else None
    authors = [] if filing else _authors(beginning, title)
    organisations = [_without_persons(name, authors) for name in _organisations(beginning, filing)]
    if not organisations and kind == "earnings release" and (reporting := _REPORTING.match(title)):
        organisations = [reporting[1]]
    found: dict[str, str | list[str]] = {
        "organisation": [name[:MAX_VALUE] for name in organisations][:MAX_ORGANISATIONS],
        "kind": kind,
        "period": _periods(beginning, title, filing, day)[:MAX_PERIODS],
        "date": _date(beginning) if filing is None else day.isoformat() if day else "",
        "version": "" if filing else _version(beginning, title),
        "product": _product(title) if kind in _WITH_PRODUCT else "",
        "author": authors,
    }
    return {name: value for name, value in found.items() if value}


# --- Kind ---

_ABSTRACT = re.compile(r"abstract\W*", re.IGNORECASE)
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})*\.? [^\W\d_]")
"""How a section begins, or an entry of a table of contents."""


def _kind(beginning: Beginning, title: str, filing: Filing | None) -> str:
    if filing:
        return filing.form.removesuffix("/A")
    named = (
        identity.kind_in(title)
        or identity.kind_in(beginning.file_stem, anywhere=True)
        or identity.kind_in(beginning.metadata_title)
    )
    if named:
        return named
    if any(_ABSTRACT.fullmatch(line.text) for line in beginning.cover):
        return "paper"
    large = [line.text for line in beginning.cover if line.size >= beginning.body_size and len(line.text) < SHORT_LINE]
    # A line of the title's says no more than the title, and a section is not what the document is.
    others = (text for text in large[:10] if text not in title and not _NUMBERED.match(text))
    return next(filter(None, map(identity.kind_in, others)), "")


# --- Organisations ---

_WORD = r"(?:[A-Z0-9][\w.&'\u2019-]{0,40})"
_LEGAL = rf"(?:{any_word('legal')}|(?<=[a-z] )(?:{any_word('short_legal')}))"
_LEGAL_NAME = re.compile(
    rf"{_WORD}(?:,? (?:&|and|of|the|{_WORD})){{0,5}}?,? {_LEGAL}(?!\w)\.?(?:,? {_LEGAL}(?!\w)\.?)*"
)
_LEGAL_END = re.compile(rf"(?:,? {_LEGAL}(?!\w)\.?)+$")
_QUOTED_NAME = re.compile(r"\b(?:UAB|AB|VšĮ|MB|ООО) ?[„“\"«]([^“”\"»\n]{2,60})[“”\"»]")
_OWN_WORD = r"(?:[A-Z][^\W\d_.,]+)"
_INSTITUTION = re.compile(
    rf"(?:{_OWN_WORD} (?:(?:of|for|and|the|&|de) )*){{0,5}}"
    rf"(?:{any_word('institution')})\b"
    rf"(?: (?:of|for)(?: the)? {_OWN_WORD}(?: (?:and |of |& )?{_OWN_WORD}){{0,4}})?"
)
_EXCHANGES = any_word("exchange").split("|")
_LISTED = re.compile(
    rf"({_WORD}(?:,? (?:&|and|of|{_WORD})){{0,4}}),? "
    rf"\((?:the )?(?:{any_word('exchange')})[^:()]{{0,30}}: ?([A-Z][A-Z.]{{0,5}})"
)
_SYMBOL = re.compile(
    r"(?:^|[|\s])(?!LLC|INC|CORP|LTD)([A-Z]{1,5})\s*\|?\s*(?:The )?(?:NASDAQ|Nasdaq|New York Stock|NYSE|Chicago Stock)"
    r"|\bsymbol,? [\u201c\"']([A-Z]{1,5})\b"
)
_REPORTING = re.compile(
    rf"({_WORD}(?:,? (?:&|and|of|{_WORD})){{0,5}}?),? (?i:reports?|reported|announces?|announced|posts?|delivers?) "
)
"""Who reports in the title of an earnings release."""
_HALF_NAME = re.compile(
    r"\b(?:the|of|and|our|this|its) (?:Company|Corporation|Department|Committee|Bank|University|Agency|Council)$"
    r"|\bnot limited$",
    re.I,
)
"""What is no whole name, and what licences say: "INCLUDING BUT NOT LIMITED TO"."""
_STRAY = re.compile(r"^(?:The )?[A-Z] (?=[A-Z]{2})|^(?:Proceedings|Findings|Journal|Copyright)\b.*?\bof (?:the )?")
"""A sign read as a letter; what a publication is called before the name of its publisher."""
_CUT_FORM = re.compile(r"\b(Inc|Co|Ltd|Corp)$")
SHORT_NAME_LINE = 70
MIN_NAMED = 3
"""Times that the first pages tell a company, if neither cover nor running lines do."""


def _organisations(beginning: Beginning, filing: Filing | None) -> list[str]:
    """Return the organisations whose document it is, the surest first, each once; a share's symbol counts as a name."""
    lines = [line.text for line in beginning.cover[:COVER_LINES]]
    text = beginning.text
    if filing:
        symbol = _SYMBOL.search("\n".join(lines)) or _SYMBOL.search(text)
        return [*filter(None, (filing.registrant, (symbol[1] or symbol[2]) if symbol else ""))]
    first = "\n".join((*(each for each in lines if len(each) < SHORT_NAME_LINE), *beginning.running))
    is_listed = any(exchange in text for exchange in _EXCHANGES)  # which is found at once
    names = [
        *(name for found in (_LISTED.finditer(text) if is_listed else ()) for name in found.groups()),
        *(right.holder for right in rights_in(f"{first}\n{text}") if _is_organisation(right.holder)),
        *(found[1] for found in _QUOTED_NAME.finditer(first)),
        *_by_frequency(_LEGAL_NAME, first, text),
        *_by_frequency(_INSTITUTION, first, text),
    ]
    return _distinct(names) or _distinct(_by_frequency(_LEGAL_NAME, text, text, least=MIN_NAMED))


def _is_organisation(name: str) -> bool:
    """Say whether a copyright holder is no person: by its legal form, or by what it is."""
    return bool(_LEGAL_END.search(name) or _INSTITUTION.search(name))


def _authors(beginning: Beginning, title: str) -> list[str]:
    found = authors_of(beginning.pages, title, beginning.metadata_author)
    return [name for name in found if not _is_organisation(name)]


def _without_persons(organisation: str, authors: Sequence[str]) -> str:
    """Return the organisation without the person whom a right names before it: "Ann Lee, Plum University"."""
    rests = (organisation.removeprefix(name).lstrip(" ,;") for name in authors if organisation.startswith(name))
    return next(filter(None, rests), organisation)


def _by_frequency(pattern: re.Pattern[str], where: str, text: str, *, least: int = 0) -> Iterator[str]:
    """Yield the names found, those that the first pages repeat most first."""
    counts = Counter({name: text.count(name) for name in dict.fromkeys(found[0] for found in pattern.finditer(where))})
    return (name for name, count in counts.most_common() if count >= least)


def _distinct(names: Iterable[str]) -> list[str]:
    """Return the names tidied, each once; of two of which one holds the other, the surer one."""
    kept: dict[str, str] = {}
    for name in names:
        tidy = _CUT_FORM.sub(r"\1.", _STRAY.sub("", " ".join(name.split()).strip(" ,;:/")))
        bare = _bare(tidy)
        is_symbol = tidy.isupper() and tidy.isalpha()
        is_name = is_symbol or (" " in tidy and not _HALF_NAME.search(tidy))
        if (
            is_name
            and bare
            and not any(bare == one or (not is_symbol and (bare in one or one in bare)) for one in kept)
        ):
            kept[bare] = tidy
    return list(kept.values())


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", _LEGAL_END.sub("", name)).casefold()


# --- Dates and periods ---

_STATED = re.compile(
    rf"\W{{0,2}}(?:{lexical.fold(any_word('stated'))})\b(?:(?: [^\W\d_]+){{1,3}} ?:)?[\s:.,]*"
    r"(?:v?\d+(?:\.\w+)*[\s:.,/-]*)?(?:\(?(?:on|am|le|du|el)\s+)?",
    re.IGNORECASE,
)
_OTHER_DATE = re.compile(rf"\b(?:{lexical.fold(any_word('other_date'))})\b", re.IGNORECASE)
"""What stands before the date in a line that states the document's, and what is in one that states another."""
_YEAR_ALONE = re.compile(rf"\W*({identity.YEAR})\W*")
_PLACE = re.compile(r"[A-Z][\w.'’-]*(?:(?:,? | [-–—/]{1,2} )[A-Z(][\w.'’)-]*){0,4}(?: ?[-–—/]{1,2}|,)? ?")
_DASH = re.compile(r"\)? ?(?:[-–—]|/P)")
"""What stands before and behind the date with which a release begins: "KAUNAS, May 3, 2023 – Plum, Inc. today …"."""
FIRST_LINES = 10
FEW_LINES = 25
"""Lines within which a month says of when the document is, and lines of a page at most on which a month or a year alone
does: a page of text has tables."""


def _day(mention: DateMention) -> date | None:
    try:
        return date(mention.year, mention.month, mention.day)
    except ValueError:
        return None


def _filing_date(filing: Filing) -> date | None:
    """Return the day on the cover of a filing, which is written as in America."""
    for found in dates_in(lexical.fold(filing.date)):
        if found.swapped:
            found = replace(found, month=found.day, day=found.month)
        return _day(found)
    return None


def _date(beginning: Beginning) -> str:
    """Return the date that the first page or a running line states, as exactly as it does; "" for none.

    It is most of a short line, or begins with what a date is called or with a place. Else a year alone on a cover says
    it, or the last year of a right to it.
    """
    lines = [line.text for line in beginning.cover]
    for at, text in enumerate((*lines, *beginning.running)):
        is_near_title = at < FIRST_LINES or len(lines) <= FEW_LINES
        if stated := _stated_in(text, or_month=is_near_title):
            return stated
    if len(lines) <= FEW_LINES and (year := next(filter(None, map(_YEAR_ALONE.fullmatch, lines)), None)):
        return year[1]
    rights = (right for page in beginning.pages for line in page for right in rights_in(line.text))
    return max((year for right in rights for year in years_written(right.years)), default="")


def _stated_in(line: str, *, or_month: bool) -> str:
    """Return the date that a line states: as year, month and day, year and month, or year.

    `or_month`: a month alone does; among figures it names a column.
    """
    line, is_short = line[:SHORT_LINE], len(line) < SHORT_LINE
    folded = lexical.fold(line)
    is_short = is_short and not _OTHER_DATE.search(folded)
    for found in dates_in(folded):
        is_most = is_short and found.end - found.start >= MIN_DATE_SHARE * len(folded)
        is_called = is_short and _STATED.fullmatch(folded[: found.start]) is not None
        is_dateline = _DASH.match(folded, found.end) is not None and _PLACE.fullmatch(folded[: found.start]) is not None
        if not found.year or not (
            is_called or is_dateline or (is_most and (found.day or (or_month and not line.endswith(":"))))
        ):
            continue
        is_american = found.swapped and folded[found.start : found.end].count("/") == 2
        if is_american and found.day != found.month:
            return str(found.year)  # 03/04/2022 is a day in March in some countries, and in April in others
        if not found.day:
            return f"{found.year}-{found.month:02}"
        if day := _day(found):
            return day.isoformat()
    return ""


def _periods(beginning: Beginning, title: str, filing: Filing | None, day: date | None) -> list[str]:
    """Return the periods that a document is about, as its file name has them first: "2022" or "Q2 2023"."""
    named = identity.periods_in(beginning.file_stem)
    if filing is None:
        named += identity.periods_in(f"{title}\n{beginning.metadata_title}")
    elif day and filing.period:
        fiscal = _fiscal_period(day, beginning.text, is_annual=filing.form.startswith(("10-K", "20-F", "40-F")))
        quarters = [period for period in named if period.startswith("Q")]
        named = [*(quarters or ([] if fiscal.startswith("Q") else named)), fiscal]
    elif day:
        named = []  # of an event; its date says when
    quarters = [period for period in named if period.startswith("Q")]
    return list(dict.fromkeys((*quarters, *named)))


_LENGTHS: Sequence[tuple[int, re.Pattern[str]]] = tuple(
    (quarter, re.compile(rf"\b(?:{words})(?: fiscal)? (?:months|weeks)(?: periods?)? ended", re.IGNORECASE))
    for quarter, words in ((3, "nine|thirty-?nine|39|40"), (2, "six|twenty-?six|26|27"), (1, "three|thirteen|13"))
)
MIN_TOLD = 2
BORDER_DAYS = 10
"""Fiscal periods end some days before or after a month does."""


def _fiscal_period(end: date, text: str, *, is_annual: bool) -> str:
    """Name the fiscal period that ends on a day; a quarter by the longest stretch of months that the report tells.

    A year that ends in January or February is called after its own or the former year: as the text does more often.
    """
    quarter = (
        4 if is_annual else next((each for each, pattern in _LENGTHS if len(pattern.findall(text)) >= MIN_TOLD), 0)
    )
    month = end - timedelta(days=BORDER_DAYS)
    if not quarter:
        return f"Q{(month.month + 2) // 3} {month.year}"
    months = month.year * 12 + month.month - 1 + 3 * (4 - quarter)
    year, last = divmod(months, 12)
    if last < 2 and _times_named(text, year - 1) > _times_named(text, year):
        year -= 1
    return str(year) if is_annual else f"Q{quarter} {year}"


def _times_named(text: str, year: int) -> int:
    return len(re.findall(rf"\bfiscal(?: year)? {year}\b", text, re.IGNORECASE))


# --- Version and product ---

_VERSION = re.compile(
    rf"\b(?:{any_word('version')})"
    r"(?: (?:no\.?|number))?[ :|.]*"
    r"(?P<named>[vV]?\d{1,3}(?:\.\d+)*[a-z]?)(?![\w/-])|\b[vV](?:\. ?)?(?P<marked>\d{1,3}(?:\.\d+)+)(?!\w)",
    re.IGNORECASE,
)
_END_OF_NAME = re.compile(r"[\dA-Za-z][_ ]?[vV](\d{1,2}(?:\.\d+)*)$")


def _version(beginning: Beginning, title: str) -> str:
    """Return the version that title, file name or a short line of the first two pages states, without "v"."""
    stem = beginning.file_name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    named = re.compile(rf"{re.escape(title)} (\d{{1,3}}(?:\.\d+)+[a-z]?)")
    lines = (line for lines in beginning.pages[:2] for line in lines if len(line.text) < SHORT_LINE and not line.mono)
    for text in (title, *(line.text for line in lines), stem.replace("_", " ")):
        if found := _VERSION.search(text):
            return (found["named"] or found["marked"]).lstrip("vV")
        if found := named.fullmatch(text):
            return found[1]
    found = _END_OF_NAME.search(stem)
    return found[1] if found else ""


def _product(title: str) -> str:
    """Return what a manual is of: its title without what says that it is a manual."""
    bare = _VERSION.sub("", identity.without_kind(title)).strip(" :,.-\u2013|")
    return bare if any(map(str.isalpha, bare)) and len(bare) <= MAX_VALUE else ""
