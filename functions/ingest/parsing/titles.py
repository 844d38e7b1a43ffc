"""Makes a document's title, and reads what the prescribed covers of filings with the SEC say.

A title is what a filing's cover says, else that of the metadata if it is usable and the text bears it out, else the
largest lines of the first page with what belongs to them, or else its first lines in bold or capitals, else the file
name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import dropwhile, takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from functions.ingest.parsing.authors import lists_names, names_authors, words_in_small_letters
from functions.ingest.parsing.heading_lines import MAX_LENGTH
from functions.ingest.parsing.heading_words import is_edition, opens_document
from functions.ingest.parsing.joining import join
from functions.ingest.parsing.legible import is_illegible_title
from functions.ingest.parsing.rights import is_right
from functions.ingest.parsing.text import cleaned, doubtful_share, without_note_mark
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Line
from shared import identity, lexical
from shared.dates import dates_in

MAX_TITLE = 200
MAX_NAME = 100
"""Characters of a registrant's name."""
COVER_PAGES = 3
"""Pages on which a filing's cover is looked for: a picture or a letter may precede it."""
LONGEST_DATE = 24
"""Characters of a line that is no more than a date."""
MAX_TITLE_LINES = 4
SHORT_TITLE_WORDS = 2
"""A heading of so few words takes the next largest lines with it: "HAMILTON COUNTY: HISTORIC BUILDINGS SURVEY"."""
FEW_TITLE_WORDS = 4
"""On a cover a heading of so few words takes a block that is as large with it: "Oracle Berkeley DB: Upgrade Guide"."""
COVER_LINES = 12
"""Lines of a cover at most; a page with more has headings of sections."""
MIN_BORNE_OUT = 0.5
"""Share of a metadata title's words that the first pages or the file name hold; a template's are not there."""

_NO_TITLE = re.compile(
    r"\W*(?:untitled|anonymous|unknown|no title|title|document|documento|dokument|presentation|powerpoint presentation|"
    r"slide|book|form [\w-]{1,6}|pdf|scan|test|none|null|index|default|draft)\W*\d*",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"(?:united states )?securities and exchange commission|united states|home|cover(?: page)?|support|welcome|agenda|"
    r"overview|exhibit \d[\d.]*|for (?:immediate )?release|confidential",
    re.IGNORECASE,
)
"""What stands on many documents."""
_PROGRAM = re.compile(
    r"^(?:microsoft (?:word|excel|powerpoint|publisher)|adobe \w+|wordpad|print)\s*-\s*", re.IGNORECASE
)
_FILE = re.compile(
    r"\.(?:pdf|docx?|odt|rtf|tex|dvi|ps|indd|pptx?|xlsx?|html?|txt|qxd|fm|pub|cdr|ai|wpd|pages|eps|xml|vsdx?|odp|ods|key|"
    r"psd|svg|mif|sxw|wps|glyphs)$",
    re.IGNORECASE,
)
_WORD_WITH_DIGIT = re.compile(r"[A-Za-z0-9_.-]*\d[A-Za-z0-9_.-]*")
_TEMPLATE = re.compile(r"\bexhibit 99|\bdraft\b|\bproof\b", re.IGNORECASE)
"""What metadata call a step of production; a heading says more."""
_MEANING = re.compile(r"[^\W\d_]{3,}")
_LONG_NUMBER = re.compile(r"\d{4,}")
_NUMBERED = re.compile(r"(?:\w+ )?\d{1,3}(?!\d)")
_FIRST_SECTION = re.compile(r"1\.? (?=\S)")
_NEXT_SECTION = re.compile(r"(?:1\.1|2)\.? (?=[^\W\d_])")
_MADE_BY = re.compile(r"\W*(?:generated|powered) (?:by|on)\b", re.IGNORECASE)
_ENTRY = re.compile(r"\.{3,}[\s|]*\w{1,5}$")
_ENTRY_END = 20
"""How an entry of a table of contents ends, and the characters at a line's end that are looked at for it."""
_ADDRESS = re.compile(r"\w@[\w-]+\.\w|https? ?:|\bwww\.", re.IGNORECASE)
_ENDS = (".", ":", ",", ";")
_UNCLOSED = re.compile(r"\s*\([^)]*$")
"""A remark that goes on behind the lines of the title."""
LARGER = 1.15
MUCH_LARGER = 1.3
"""Size of a title's print, and of what is added to a short one, at least, in that of the body."""
SAME_SIZE = 0.97
SAME_POINTS = 0.3
NEXT_LINE = 2.2
"""How much smaller a line may be that is as large as the largest, how many points smaller within one title, and how far
below each other its lines begin, in font sizes."""
FIRST_LINES = 6
"""Lines of a page, the first of which in bold print or capitals can be the title where none is larger."""
TITLE_MATTER = 30
KIND_LINES = 2
"""Lines above and below a title that may belong to it, and lines below that may say of what kind the document is."""
MIN_LETTERS = 3
MIN_LETTERS_SHARE = 0.4
MAX_DOUBTFUL = 0.1
"""Letters of a title and share of it that they are, at least, and share of it that may be doubtful."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is known of a document before its pages are yielded: its first pages, without and with running lines."""

    file_name: str
    metadata_title: str
    pages: Sequence[Sequence[Line]]
    running: Sequence[str]
    body_size: float
    words: Vocabulary
    metadata_author: str = ""

    @property
    def cover(self) -> Sequence[Line]:
        """The lines of the first page that has any."""
        return next(filter(None, self.pages), [])

    @property
    def text(self) -> str:
        """The text of the first pages, a line each."""
        return "\n".join(line.text for lines in self.pages for line in lines)

    @property
    def file_stem(self) -> str:
        """The words of the file's name."""
        return title_from_file_name(self.file_name).replace("-", " ")


def title_of(beginning: Beginning, filing: "Filing | None") -> str:
    """Return the document's title, never empty."""
    if filing and filing.title:
        return filing.title
    named = usable_title(_read_again(beginning.metadata_title))
    first, more = _first_heading(beginning)
    heading = f"{first}: {more}" if more else first
    if is_illegible_title(heading, beginning.text):  # the font of headings alone may be garbled
        heading = ""
    # Neither a file's name nor cut off at a line's end; a single word may be a file's name, unless the page has it.
    may_be_file = named.isascii() and " " not in named and not _is_on_cover(named, beginning)
    is_whole = "_" not in named and not named.endswith(",") and not may_be_file
    is_more = first.lower().startswith(named.lower()) and _MEANING.search(first[len(named) :]) is not None
    if named and (not heading or (is_whole and not is_more and _is_borne_out(named, beginning))):
        return named
    title = heading or title_from_file_name(beginning.file_name)
    set_off = (line for line in beginning.cover if line.cells <= 1 and (line.bold or line.size > beginning.body_size))
    on_cover = (kind_of(line.text) for line in set_off)
    kind = kind_of(beginning.metadata_title) or next(filter(None, on_cover), "")
    return f"{title}: {kind}" if kind and kind.lower() not in title.lower() else title


def _read_again(title: str) -> str:
    """Return a title that was written in UTF-8 and read byte by byte as it should be: "PrÃ©cis" as "Précis"."""
    try:
        return title if title.isascii() else title.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return title


def _is_on_cover(word: str, beginning: Beginning) -> bool:
    return any(word.lower() in line.text.lower() for line in beginning.cover)


def _is_borne_out(title: str, beginning: Beginning) -> bool:
    """Say whether the first pages hold the words of a metadata title; a document without text cannot deny them."""
    text = beginning.text
    if not text or _TEMPLATE.search(title):
        return not text
    wanted = [word.lower() for word in _MEANING.findall(title)]
    around = "\n".join((text, *beginning.running, title_from_file_name(beginning.file_name))).lower()
    held = set(_MEANING.findall(around))
    if any(number not in around for number in _LONG_NUMBER.findall(title)):
        return False
    return not wanted or sum(word in held for word in wanted) >= MIN_BORNE_OUT * len(wanted)


def _is_beside(line: str) -> bool:
    """Whether a line only stands beside a title: authors, rights, an address, an edition, an entry of contents."""
    return (
        is_right(line)
        or _is_date(line)
        or _MADE_BY.match(line) is not None
        or _ADDRESS.search(line) is not None
        or _ENTRY.search(line[-_ENTRY_END:]) is not None
        or names_authors(line)
        or (is_edition(line) and not identity.kind_in(line))
    )


def _is_date(line: str) -> bool:
    """Whether a line is a day, a month or a year of one: "07-Sep-2005"."""
    folded = lexical.fold(line[:LONGEST_DATE]) if any(map(str.isdigit, line[:LONGEST_DATE])) else ""
    return any(len(line) - (found.end - found.start) <= 1 and found.year for found in dates_in(folded))


def _first_heading(beginning: Beginning) -> tuple[str, str]:
    """Return the largest lines of the first page that can be a title, and what belongs to them, "" for nothing."""
    worded = (line for line in beginning.cover if any(map(str.isalnum, line.text)))  # a rule may be typed: "––––"
    lines = [line for line in worded if not _is_beside(line.text)]
    block = _largest(lines, LARGER * beginning.body_size)
    title = _without_number(_joined(block, beginning.words), beginning)
    if not title:
        return _above_table(beginning) or _emphasised(beginning), ""
    if identity.kind_in(title) and _MEANING.search(identity.without_kind(title)):
        return title, ""
    return title, _addition(title, block, lines, beginning)


def _addition(title: str, block: Sequence[Line], lines: Sequence[Line], beginning: Beginning) -> str:
    """Return what belongs to a title that does not say what kind of document it is of, "" for nothing.

    Few words take the next largest lines with them, others a line below that says the kind.
    """
    body, words, held = beginning.body_size, beginning.words, words_in_small_letters(beginning.text)
    at = lines.index(block[0])
    before, after = lines[:at][-TITLE_MATTER:], lines[at + len(block) :][:TITLE_MATTER]
    above = [line for line in before if line.text.casefold() != title.casefold() and not lists_names(line.text, held)]
    below = list(takewhile(lambda line: not (_opens_text(line.text) or lists_names(line.text, held)), after))
    below = [line for line in below if line.text.casefold() != title.casefold()]
    count = len(title.split())
    if count <= SHORT_TITLE_WORDS or (count <= FEW_TITLE_WORDS and len(beginning.cover) <= COVER_LINES):
        least = 0.0 if count <= SHORT_TITLE_WORDS else SAME_SIZE * block[0].size
        more = _largest([*above, *below], max(least, MUCH_LARGER * body))
        if more and not more[-1].text.endswith(":") and not _only_versions(title, more):
            return _joined(more, words)
    for first in below[:KIND_LINES]:
        kind = _joined(_block_from(below, first), words)
        if identity.kind_in(kind) and (first.bold or first.size > body) and first.cells <= 1:
            return kind
    return ""


def _only_versions(title: str, more: Sequence[Line]) -> bool:
    """Whether what stands below a title says only of which version it is: "Plum Version 2.1" below "Plum Guide"."""
    told = " ".join(line.text for line in more).split()
    named = {*map(str.casefold, title.split())}
    rest = [*dropwhile(lambda word: word.casefold() in named, told)]
    return is_edition(" ".join(rest))


def _opens_text(line: str) -> bool:
    """Whether a line below a title is no part of it, but the heading of what follows: "Contents", "1 Plums"."""
    return opens_document(line) or _NUMBERED.match(line) is not None


def _without_number(title: str, beginning: Beginning) -> str:
    """Return a title without the number that it has as the first of several sections: "1 The plum" above "1.1 Uses"."""
    first = _FIRST_SECTION.match(title)
    is_one = first and any(_NEXT_SECTION.match(line.text) for lines in beginning.pages for line in lines)
    return usable_title(title[first.end() :]) if first and is_one else title


def is_own_title(heading: str, title: str) -> bool:
    """Whether a heading is the document's title, or its first part; the title lacks the number of a first section."""
    heading = without_note_mark(heading)
    number = _FIRST_SECTION.match(heading)
    return any(f"{title}:".startswith(f"{each}:") for each in (heading, heading[number.end() :] if number else heading))


def _above_table(beginning: Beginning) -> str:
    """Return what is printed above the pages of a table, as sheets of figures have it, "" if the cover is no table."""
    rows = sum(line.cells > 1 for line in beginning.cover)
    above = map(usable_title, beginning.running[:KIND_LINES] if 2 * rows > len(beginning.cover) else ())
    named = (title for title in above if not any(map(str.isdigit, title)))  # no page's number, and no date
    return next((title for title in named if len(_MEANING.findall(title)) > SHORT_TITLE_WORDS), "")


def _emphasised(beginning: Beginning) -> str:
    """Return the first lines of a page that are bold or in capitals as its text is not, if they can be a title."""
    lines = beginning.cover
    for is_so in (_is_bold, _is_in_capitals):
        told = [line for line in lines if is_so(line)]
        first = takewhile(lambda line: not opens_document(line.text), lines[:FIRST_LINES])
        for line in first if 2 * len(told) <= len(lines) else ():
            if is_so(line) and line.cells <= 1 and not _NUMBERED.match(line.text):
                title = _joined(_block_from(lines, line), beginning.words)
                title = title.removesuffix(".") if title.isupper() else title  # as old prints end their titles
                if " " in title and len(title) <= MAX_LENGTH and title[0].isupper() and not title.endswith(_ENDS):
                    return title
    return ""


def _is_bold(line: Line) -> bool:
    return line.bold


def _is_in_capitals(line: Line) -> bool:
    return line.text.isupper() and len(_MEANING.findall(line.text)) > 1 and not line.text[-1].isdigit()


def _largest(lines: Sequence[Line], least: float) -> list[Line]:
    """Return the first block of the largest lines that can be a title, of a size at least."""
    can_be = [line for line in lines if line.cells <= 1 and line.size >= least and usable_title(line.text)]
    large = SAME_SIZE * max((line.size for line in can_be), default=0.0)
    first = next((line for line in can_be if line.size >= large), None)
    if first is None or any(_opens_alike(line, first) for line in lines[: lines.index(first)]):
        return []
    return _block_from(lines, first)


def _opens_alike(line: Line, below: Line) -> bool:
    """Whether a line opens the text in the print of one below, which is the heading of another section then."""
    return abs(line.size - below.size) <= SAME_POINTS and line.bold == below.bold and opens_document(line.text)


def _block_from(lines: Sequence[Line], first: Line) -> list[Line]:
    """Return a line and those right below it that are printed like it."""
    block = [first]
    at = lines.index(first)
    for line in lines[at + 1 : at + MAX_TITLE_LINES]:
        last = block[-1]
        is_far = line.y0 - last.y0 > NEXT_LINE * first.size or not _is_below(last, line)
        if abs(line.size - first.size) > SAME_POINTS or is_far or line.bold != last.bold:
            break
        block.append(line)
    return block


def _is_below(line: Line, below: Line) -> bool:
    """Whether two lines begin or end at one place, or have the middle in common."""
    edges = (line.x0 - below.x0, line.x1 - below.x1, (line.x0 + line.x1 - below.x0 - below.x1) / 2)
    return min(map(abs, edges)) <= line.size


def _joined(block: Sequence[Line], words: Vocabulary) -> str:
    """Return the lines of a title as one; "" if they are too long for a title."""
    text = reduce(lambda a, b: join(a, b, words), (line.text for line in block)) if block else ""
    title = usable_title(text) if len(text) <= MAX_TITLE else ""
    return _UNCLOSED.sub("", title) or title


def usable_title(title: str) -> str:
    """Return the title cleaned, or "" when it is none: a placeholder, a file name, a number, what any document says."""
    title = _PROGRAM.sub("", _in_one_line(title))
    if _NO_TITLE.fullmatch(title) or _BOILERPLATE.fullmatch(title) or _FILE.search(title):
        return ""
    letters = sum(map(str.isalpha, title))
    unlike = (
        letters < MIN_LETTERS
        or (_WORD_WITH_DIGIT.fullmatch(title) is not None and not _is_name(title))
        or letters < MIN_LETTERS_SHARE * len(title)
        or "\\" in title
        or title.startswith(("http", "/"))
    )
    unlike = unlike or (" " in title and title.isascii() and not _MEANING.search(title))  # "EN EN"
    unlike = unlike or _is_beside(title) or opens_document(title) or identity.is_kind(title)
    if unlike or doubtful_share(title) > MAX_DOUBTFUL or is_illegible_title(title):
        return ""
    return title[:MAX_TITLE]


def _is_name(word: str) -> bool:
    """Whether a word with digits can be the name of something: "Plum2Jam", and not "2310.07609v1" or "plums_3"."""
    return (
        "_" not in word
        and _MEANING.search(word) is not None
        and sum(map(str.isalpha, word)) > sum(map(str.isdigit, word))
    )


def _in_one_line(title: str) -> str:
    """Return the title cleaned, without the mark of a note at its end."""
    return without_note_mark(" ".join(cleaned(title).split()))


def kind_of(title: str) -> str:
    """Return the title, cleaned, if it only says of what kind a document is: "User Guide"; else ""."""
    title = _in_one_line(title)
    return title if identity.is_kind(title) else ""


def title_from_file_name(file_name: str) -> str:
    """Make a title of a file name: no folder, no extension, words apart."""
    stem = PurePosixPath(file_name.replace("\\", "/")).name
    stem = _FILE.sub("", stem)
    return " ".join(cleaned(re.sub(r"[_+]+", " ", stem)).split())[:MAX_TITLE] or "Untitled"


# --- Filings with the SEC, whose covers are prescribed: 17 CFR 249.308, .308a, .310 ---


class Filing(NamedTuple):
    """What the cover of a filing says; what it does not say is empty.

    `period` is what the date ends ("fiscal year"), empty where it is that of an event.
    """

    form: str
    registrant: str
    period: str
    date: str

    @property
    def title(self) -> str:
        """The filing's title, "" without a registrant: "NIKE, Inc., Form 10-K, fiscal year ended May 31, 2021"."""
        when = f"{self.period} ended {self.date}" if self.period else f"reported {self.date}"
        named = f"{self.registrant}, Form {self.form}"
        return "" if not self.registrant else f"{named}, {when}" if self.date else named


_COMMISSION = "securitiesandexchangecommission"
_FORM = re.compile(r"\bform\s*(10-?[KQ]T?|8-?K|20-?F|40-?F|6-?K)(/A)?\b", re.IGNORECASE)
_EXACT_NAME = re.compile(
    r"\(\s*exact\s+names?\s+of\s+(?:the\s+|each\s+)?(?:registrants?|company|issuer)", re.IGNORECASE
)
_BORDERS = "\n|_\u2026"
"""The note below a registrant's name, and what may stand between the two, or begin the name's line."""
_FILE_NUMBER = re.compile(
    r"commission\s+file\s+(?:number|no\.?|\#)s?[:\s|]*[\d-]+(?:[\s|]+|$)([^\n|_\u2026]*)", re.IGNORECASE
)
_FILED_BY = re.compile(r"form [\w-]{3,4} for (?P<of>.{2,60}?) filed|10-[kq] - [\d/]+ - (?P<by>.{2,60})$", re.IGNORECASE)
"""How metadata of filings that were printed from the SEC's pages name the registrant."""
_UNFINISHED = re.compile(r"(?:&|,|\band|\bof|\bthe)$", re.IGNORECASE)
_LEGAL_FORM = re.compile(
    r"(?:incorporated|inc|corporation|corp|company|co|limited|ltd|l\.?l\.?c|plc|n\.?v|s\.?a|trust)\.?,?", re.IGNORECASE
)
_DATE = (
    r"(?P<{}>[A-Z][a-z]{{2,8}}\.? \d{{1,2}}\s?,?\s?\d{{4}}|\d{{1,2}} [A-Z][a-z]{{2,8}},? \d{{4}}"
    r"|\d\d?/\d\d?/\d{{4}})"
)
_PERIOD = re.compile(
    r"for\s+the\s+(?P<period>fiscal\s+year|year|quarterly\s+period|quarter|transition\s+period|(?:fiscal\s+)?period)"
    rf"\s+ended[\s|:,(]*{_DATE.format('ended')}|date\s+of\s+report[^\n:]*[:\n][\s|]*{_DATE.format('reported')}"
    rf"|{_DATE.format('before')}\s+date\s+of\s+report",
    re.IGNORECASE,
)
_SPLIT_CAPITALS = re.compile(r"\b([A-Z]) ([A-Z]{2,})\b")


def filing_of(cover: str, metadata_title: str = "") -> Filing | None:
    """Read the cover of a filing, given as text, a line each; None if it is none.

    It names the commission, a form, and a registrant or a file number.
    """
    form = _FORM.search(cover) if _COMMISSION in "".join(cover.split()).lower() else None  # nearly always None
    if form is None:
        return None
    registrant, number = _above_exact_name(cover), _FILE_NUMBER.search(cover)
    if not (registrant or number):
        return None
    found = _PERIOD.search(cover)
    name = _whole_name(cover, *registrant) if registrant else number[1] if number else ""
    name = _registrant(name) or _registrant(number[1] if number else "")
    if not name and (filed := _FILED_BY.search(metadata_title)):
        name = _registrant(filed["of"] or filed["by"])
    date = _written((found["ended"] or found["reported"] or found["before"]) if found else "")
    period = " ".join(found["period"].lower().split()) if found and found["period"] else ""
    return Filing(_form(form), _mended(name), period, date)


def _form(found: re.Match[str]) -> str:
    digits, letters = re.split(r"-?(?=[A-Za-z])", found[1], maxsplit=1)
    return f"{digits}-{letters}{found[2] or ''}".upper()


def _above_exact_name(cover: str) -> tuple[str, int] | None:
    """Return what a cover has before "(Exact name of registrant …)", and where that begins."""
    for note in _EXACT_NAME.finditer(cover):
        if before := cover[: note.start()].rstrip(f" {_BORDERS}"):
            start = max(map(before.rfind, _BORDERS)) + 1
            return before[start:], start
    return None


def _whole_name(cover: str, name: str, start: int) -> str:
    """Return the registrant's name with the line before it, if that cannot be the end of something else."""
    name = name.strip()
    before = cover[:start].rstrip().rsplit("\n", 1)[-1].strip()
    is_second = _UNFINISHED.search(before) or _LEGAL_FORM.fullmatch(name)
    return f"{before} {name}" if is_second and len(before) < MAX_NAME and "|" not in before else name


def _registrant(name: str) -> str:
    """Return the name cleaned; "" if it cannot be one."""
    name = _TRANSITION.sub("", _FILE_NUMBER.sub(r"\1", name))
    name = " ".join(name.split()).replace(" .", ".").strip(" ,")
    is_name = len(name) <= MAX_NAME and any(map(str.isalpha, name)) and not _EXACT.match(name)
    return name if is_name and _COMMISSION not in name.replace(" ", "").lower() else ""


_EXACT = re.compile(r"\(|(?:commission|irs|i\.r\.s|state)\b", re.IGNORECASE)
_TRANSITION = re.compile(r"^\W*(?:for\s+the\s+)?transition\s+period\s+from\b.*?\bto\b[\W\d]*", re.IGNORECASE)
"""The line of every cover that may stand on one row with the name: "For the transition period from ___ to ___"."""


def _written(date: str) -> str:
    return " ".join(date.split()).replace(" ,", ",").capitalize() if date[:1].isalpha() else " ".join(date.split())


def _mended(name: str) -> str:
    """Join capitals that stand apart from their words, as in small capitals: "R ESORTS"."""
    if len(_SPLIT_CAPITALS.findall(name)) < 2:
        return name
    return _SPLIT_CAPITALS.sub(r"\1\2", name)
