"""What is told of a place in one document: a section, a figure, a table or a page, or a list of all of them.

Sections are told with their pages, the sections within them and their most telling sentences; figures and tables with
their captions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from functions.query.captions import Caption, bylines_in, captions_by_number
from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.sanitizing import plain_name
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from functions.query.service import document_name, service_texts
from functions.query.summarising import (
    MAX_CHUNKS,
    MIN_OUTLINED,
    DocumentDigest,
    DocumentReader,
    ReadPassages,
    headings,
    telling_sentences,
)
from functions.query.understanding.places import (
    LAST,
    PlaceKind,
    PlaceQuestion,
    are_one,
    is_called,
    is_contents,
    lists_references,
    number_in,
)
from functions.query.understanding.talk import folded_words
from functions.query.writing.localization import with_language_note
from functions.query.writing.prompting import within_budget
from functions.query.writing.statements import statements_in
from shared import lexical
from shared.models import Filter, PageStart
from shared.text import SEPARATOR

MAX_LISTED = 60
"""Sections or captions that a list shows."""
MAX_SHOWN = 3
"""Sections or captions that are named as where something stands."""
MAX_NAME_WORDS = 6
"""Words of a heading at most that names its section by one of them: "Conclusions and further work"."""
MAX_OTHERS = 2
"""Sentences beside its caption that speak of a figure or table."""
MAX_FIRST = 3
"""Passages at the beginning of a place that are told, besides those in which a section within it begins."""
MAX_TOLD = 8
"""Passages of a place that are told at most."""
MAX_HEADING_CHARACTERS = 120
"""Of a line that names a section without having been read as a heading."""
MIN_WORDS = 3
"""Words of such a statement at least, if it is no row: a page's number and a heading tell nothing."""
MAX_ANY = 3
"""Statements of a place without a telling sentence, say a table alone."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_LABEL = re.compile(
    r"(?:(?P<sign>[^\W\d_]{2,})\s+)?"
    r"(?P<number>\d{1,3}(?:[.-]\d{1,3}){0,3}(?=[.:)\s–—-]|[^\W\d_]{2}|$)|[A-Z](?:\.?\d{1,3})?(?=[.:)\s]|$)|[IVXL]+(?=[.:)\s]|$))"
)
"""The label at the beginning of a heading: "3.1", "Chapter 4", "A", "Part II"."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document: its headings from the top, and its span in the document's text."""

    path: Sequence[str]
    start: int
    end: int
    page: str

    @property
    def name(self) -> str:
        """Its own heading."""
        return self.path[-1]


def told_of(asked: PlaceQuestion, reader: DocumentReader) -> DocumentDigest | None:
    """Return what is told of a place; None if the document has none such, so that it is an ordinary question.

    Raises `DependencyError`.
    """
    read = reader.read(reader.question.text, _on_page(asked, reader))
    if asked.wants == "one":
        tell = {"page": _page, "section": _section}.get(asked.kind, _captioned)
        return tell(asked, reader, read)
    if asked.wants == "all":
        return _outline(asked, reader, read) if asked.kind == "section" else _captions(asked, reader, read)
    if asked.wants == "authors":
        return _authors(reader, read)
    tell = {"whereabouts": _whereabouts, "headed": _headed}.get(asked.wants, _named)
    return tell(asked, reader, read)


def _on_page(asked: PlaceQuestion, reader: DocumentReader) -> Filter | None:
    """Return the filter for a page of a document with more passages than can be read at once."""
    number = _page_number(asked, reader)
    if asked.kind != "page" or asked.wants != "one" or reader.document.chunk_count <= MAX_CHUNKS or not number:
        return None
    return {"page_start": {"$lte": number}, "page_end": {"$gte": number}}


def _page_number(asked: PlaceQuestion, reader: DocumentReader) -> int:
    if asked.number == LAST:
        return reader.document.page_count
    return int(asked.number) if asked.number.isdigit() else 0


# --- A page ---


def _page(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    pages = {page.number: page for passage in read.passages for page in passage.pages}
    labelled = [page for page in pages.values() if page.label == asked.number]
    if asked.number == LAST:
        found = pages.get(max(pages, default=0))
    else:
        found = labelled[0] if labelled else pages.get(_page_number(asked, reader))
    texts, title = service_texts(reader.language), document_name(reader.document)
    if found is None:
        count = reader.document.page_count
        if not (count and asked.number.isdigit()):
            return None
        text = texts.no_page.format(title=title, page=asked.number, count=count)
        return reader.digest(read, (), with_language_note(text, reader.language), ())
    end = min((page.char_start for page in pages.values() if page.number > found.number), default=_end(read))
    begun = [each for each in _sections(read.passages) if found.char_start <= each.start < end]
    head = texts.of_page.format(page=_page_name(found, asked.number), title=title)
    return _told(reader, read, head, [plain_name(each.name) for each in begun], (found.char_start, end))


def _page_name(page: PageStart, asked: str) -> str:
    """Return a page as it was asked for, and as it is printed if that is another: "5 (6985)"."""
    label = page.label or str(page.number)
    return label if asked in (label, LAST) else f"{asked} ({label})"


def _end(read: ReadPassages) -> int:
    return max((passage.char_end for passage in read.passages), default=0)


# --- Sections ---


def _sections(passages: Sequence[Passage]) -> Sequence[Section]:
    """Return the sections of a document in order, each once, not where the table of contents names them."""
    begun = [(section, passage) for passage in passages for section in passage.sections]
    contents = {
        passage.page_at(section.char_start).number for section, passage in begun if is_contents(_own(section.path))
    }
    starts: dict[str, tuple[int, Passage]] = {}
    for section, passage in begun:
        if passage.page_at(section.char_start).number in contents:
            continue
        names = section.path.split(" > ")
        for depth in range(1, len(names) + 1):
            starts.setdefault(" > ".join(names[:depth]), (section.char_start, passage))
    in_order = sorted(starts.items(), key=lambda each: (each[1][0], len(each[0])))
    end = max((passage.char_end for passage in passages), default=0)
    found: list[Section] = []
    for at, (path, (start, passage)) in enumerate(in_order):
        after = (begin for other, (begin, _) in in_order[at + 1 :] if not other.startswith(f"{path} > "))
        page = passage.page_at(start)
        found.append(Section(path.split(" > "), start, next(after, end), page.label or str(page.number)))
    return found


def _own(path: str) -> str:
    return path.rpartition(" > ")[2]


def _section(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    sections = _sections(read.passages)
    found = _by_order(asked, sections, read) if asked.by_order else None
    found = found or _by_label(asked, sections, read)
    found = found or next((each for each in _by_lines(asked.sign, read) if _number_of(each.name) == asked.number), None)
    return None if found is None else _told_section(found, sections, asked, reader, read)


def _by_order(asked: PlaceQuestion, sections: Sequence[Section], read: ReadPassages) -> Section | None:
    """Return the section at a place in the order of those at the top, or of those that are called so: "Unit 1"."""
    found = _of_sign(asked.sign, sections, read) or []
    at = len(found) if asked.number == LAST else int(asked.number)
    return found[at - 1] if 0 < at <= len(found) else None


def _of_sign(sign: str, sections: Sequence[Section], read: ReadPassages) -> Sequence[Section] | None:
    """Return the sections that are called so: "Unit 1", "Unit 2"; else those at the top, None if they are not meant.

    Chapters are those with a number, if any have one.
    """
    stem = _stem(sign)
    called = [each for each in sections if stem and _sign_of(each.name) == stem]
    if called:
        numbers = {_number_of(each.name) for each in called}
        missed = [each for each in _by_lines(called[0].name.split()[0], read) if _number_of(each.name) not in numbers]
        return sorted([*called, *missed], key=lambda each: each.start)
    if stem and not is_called(sign, "tops"):
        return None
    tops = [name.rsplit(" – ", 1)[-1] for name in headings(read.passages)]
    found = [each for each in (_first_of(top, sections) for top in tops) if each is not None]
    if found and set(folded_words(found[0].name)) <= set(folded_words(read.passages[0].title)):
        found = found[1:]  # the title, printed above all of them
    numbered = [each for each in found if _number_of(each.name).isdigit()]
    return numbered if is_called(sign, "chapter") and len(numbered) >= MIN_OUTLINED else found


def _by_lines(sign: str, read: ReadPassages) -> Sequence[Section]:
    """Return what lines name as sections of this kind, where they were not read as headings: "UNIT 14: Accounting"."""
    lines: dict[str, tuple[int, str, Passage]] = {}
    for passage in read.passages:
        for line in re.finditer(r"^.+$", passage.text, re.MULTILINE):
            named = number_in(line[0], "section") if len(line[0]) <= MAX_HEADING_CHARACTERS else None
            if named is None or named[2] > 0 or not are_one(named[0], sign.casefold()):
                continue
            rest = line[0][named[3] :].lstrip(" .:–—-")
            if rest[:1].isupper() and SEPARATOR not in rest and not rest[-1].isdigit():
                lines.setdefault(named[1], (passage.char_start + line.start(), line[0].strip(), passage))
    in_order = sorted(lines.values(), key=lambda each: each[0])
    found: list[Section] = []
    for (start, heading, passage), (end, _, _) in pairwise([*in_order, (_end(read), "", read.passages[0])]):
        page = passage.page_at(start)
        found.append(Section([heading], start, end, page.label or str(page.number)))
    return found


def _number_of(name: str) -> str:
    label = _LABEL.match(name)
    return label["number"] if label else ""


def _first_of(name: str, sections: Sequence[Section]) -> Section | None:
    return next((each for each in sections if each.name == name), None)


def _by_label(asked: PlaceQuestion, sections: Sequence[Section], read: ReadPassages) -> Section | None:
    """Return the section with that number: called so, or else numbered alone."""
    number = asked.number.replace("-", ".").strip(".")
    alike: list[Section] = []
    for each in sections:
        label = _LABEL.match(each.name)
        text = label["number"] if label else _number_in_text(each, read.passages)
        if text.replace("-", ".").strip(".") != number:
            continue
        sign = _stem(label["sign"]) if label and label["sign"] else ""
        if label and label["sign"] and are_one(" ".join(folded_words(label["sign"])), asked.sign):
            return each
        is_lone_letter = text.isalpha() and not sign
        if not sign and (not is_lone_letter or _has_sibling(each, sections)):
            alike.append(each)
    is_general = is_called(asked.sign, "general") or asked.number[:1].isalpha()
    return alike[0] if alike and is_general else None


def _number_in_text(section: Section, passages: Sequence[Passage]) -> str:
    """Return the number that stands before a heading in the text, where bookmarks name it without."""
    for passage in passages:
        if passage.char_start <= section.start < passage.char_end:
            at = section.start - passage.char_start
            found = re.match(
                rf"\s*(\d{{1,3}}(?:\.\d{{1,3}})*)\.?\s+{re.escape(section.name[:12])}", passage.text[at:], re.I
            )
            return found[1] if found else ""
    return ""


def _has_sibling(section: Section, sections: Sequence[Section]) -> bool:
    """Say whether another heading of the same level begins with another letter alone: "A Data", "B Proofs"."""
    letters = {
        label["number"]
        for each in sections
        if len(each.path) == len(section.path) and (label := _LABEL.match(each.name)) and label["number"].isalpha()
    }
    return len(letters) > 1


def _stem(sign: str) -> str:
    return lexical.stem(" ".join(folded_words(sign)), "en")


def _sign_of(name: str) -> str:
    label = _LABEL.match(name)
    return _stem(label["sign"]) if label and label["sign"] else ""


def _told_section(
    found: Section, sections: Sequence[Section], asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages
) -> DocumentDigest | None:
    texts, title = service_texts(reader.language), document_name(reader.document)
    depth = len(found.path) + 1
    within = [each for each in sections if len(each.path) == depth and found.start < each.start < found.end]
    head = texts.of_place.format(name=plain_name(found.name), page=found.page, title=title)
    if asked.only_name:
        return reader.digest(read, (), with_language_note(head.rstrip(" :"), reader.language), ())
    names = [texts.on_page.format(name=plain_name(each.name), page=each.page) for each in within]
    return _told(reader, read, head, names, (found.start, found.end), [each.start for each in within])


def _named(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Tell the section whose heading has one of the names: the first name that any has."""
    sections = _sections(read.passages)
    for name in asked.names:
        for each in sections:
            words = folded_words(_LABEL.sub("", each.name, count=1))
            if words[: len(name)] == list(name) or (len(words) <= MAX_NAME_WORDS and set(name) <= set(words)):
                return _told_section(each, sections, asked, reader, read)
    return None


def _outline(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """List the sections at the top with their pages, or those that are called so: "Unit 1", "Unit 2"."""
    found = _of_sign(asked.sign, _sections(read.passages), read)
    if found is None or len(found) < MIN_OUTLINED:
        return None
    texts = service_texts(reader.language)
    head = texts.outline.format(title=document_name(reader.document))
    lines = [texts.on_page.format(name=plain_name(each.name), page=each.page) for each in found]
    if asked.counts:
        head = f"{texts.counted.format(count=len(found))}\n{head}"
    is_cut = len(read.passages) < reader.document.chunk_count
    return reader.digest(read, (), _listed(head, lines, reader.language, is_cut=is_cut), ())


def _listed(head: str, lines: Sequence[str], language: str, *, is_cut: bool = False) -> str:
    shown = [head, *(f"- {line}" for line in lines[:MAX_LISTED])]
    if len(lines) > MAX_LISTED or is_cut:
        shown.append(service_texts(language).cut_outline)
    return with_language_note("\n".join(shown), language)


def _told(
    reader: DocumentReader,
    read: ReadPassages,
    head: str,
    names: Sequence[str],
    span: tuple[int, int],
    begins: Sequence[int] = (),
) -> DocumentDigest:
    """Tell a span of the document: what is listed, and its most telling sentences, or else its first statements.

    They are from its beginning, and from where the sections within it begin.
    """
    start, end = span[0], _before_references(read.passages, span)
    held = [each for each in read.passages if each.char_start < end and each.char_end > start]
    leads = {at for at, each in enumerate(held) for begin in begins if each.char_start <= begin < each.char_end}
    chosen = [each for at, each in enumerate(held) if at < MAX_FIRST or at in leads]
    sources = within_budget(chosen[:MAX_TOLD], reader.ports.settings.context_budget_tokens)
    cut: list[Passage] = []
    for each in sources:
        # Neighbours overlap.
        cut.append(_cut(each, max(start, cut[-1].char_end) if cut and not cut[-1].corrected else start, end))
    of_each = max(1, -(-MAX_ANY // max(1, len(cut))))
    said = telling_sentences(cut, cut, of_each=of_each) or _any_statements(cut)
    shown = head if names or said else head.rstrip(" :")
    return reader.digest(read, sources if said else (), _listed(shown, names, reader.language), said)


def _before_references(passages: Sequence[Passage], span: tuple[int, int]) -> int:
    """Return where a span ends, or where a list of references in it begins that was not read as a section."""
    for passage in passages:
        for line in re.finditer(r"^.{4,40}$", passage.text, re.MULTILINE):
            start = passage.char_start + line.start()
            if span[0] < start < span[1] and lists_references(line[0]) and start > span[0] + len(line[0]):
                return start
    return span[1]


def _cut(passage: Passage, start: int, end: int) -> Passage:
    """Return the part of a passage that lies within a span of the document."""
    if passage.corrected:
        return passage
    first, last = max(0, start - passage.char_start), max(0, end - passage.char_start)
    return passage._replace(text=passage.text[first:last], char_start=passage.char_start + first)


def _any_statements(passages: Sequence[Passage]) -> Sequence[Claim]:
    found = (
        (number, statement)
        for number, passage in enumerate(passages, start=1)
        for statement in statements_in(passage)
        if not statement.is_contents_entry and (statement.is_row or len(_WORD.findall(statement.text)) >= MIN_WORDS)
    )
    return [
        Claim(" ".join(statement.text.split()), (Reference(number, statement.text),), "\n")
        for (number, statement), _ in zip(found, range(MAX_ANY), strict=False)
    ]


# --- Figures and tables ---


def _captioned(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Tell the caption of a figure or table, and what else the document says about it."""
    found = captions_by_number(read.passages, asked.kind).get(asked.number)
    if found is None:
        return None
    speaking = [] if asked.only_name else list(_speaking_of(asked, read.passages, found))
    unique = {each.chunk_id: each for each in (found.passage, *(each for each, _ in speaking))}
    sources = within_budget(list(unique.values()), reader.ports.settings.context_budget_tokens)
    numbers = {each.chunk_id: number for number, each in enumerate(sources, start=1)}
    said = [Claim(" ".join(found.text.split()), (Reference(1, found.text),), "\n")]
    said += [
        Claim(" ".join(text.split()), (Reference(numbers[passage.chunk_id], text),), "\n", further=True)
        for passage, text in speaking
        if passage.chunk_id in numbers
    ]
    return reader.digest(read, sources, "", said)


def _speaking_of(asked: PlaceQuestion, passages: Sequence[Passage], caption: Caption) -> Iterator[tuple[Passage, str]]:
    """Yield the first sentences that name the figure or table, each once."""
    told = {" ".join(caption.text.split())}
    for passage in passages:
        for statement in statements_in(passage):
            named = number_in(statement.text, asked.kind)
            text = " ".join(statement.text.split())
            if not named or named[1] != asked.number or named[2] == 0 or statement.is_row:
                continue
            if len(told) <= MAX_OTHERS and not any(text in other for other in told):
                told.add(text)
                yield passage, statement.text


def _captions(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """List the captions of a document's figures or tables, each number once."""
    found = captions_by_number(read.passages, asked.kind)
    texts, title = service_texts(reader.language), document_name(reader.document)
    if not found:
        none = texts.no_figures if asked.kind == "figure" else texts.no_tables
        return reader.digest(read, (), with_language_note(none.format(title=title), reader.language), ())
    some = texts.figures if asked.kind == "figure" else texts.tables
    lines = [texts.on_page.format(name=plain_name(each.text), page=each.page) for each in found.values()]
    is_cut = len(read.passages) < reader.document.chunk_count
    return reader.digest(
        read, (), _listed(some.format(title=title, count=len(found)), lines, reader.language, is_cut=is_cut), ()
    )


# --- Where something stands ---


def _headed(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Tell the section whose heading holds all words that are looked for."""
    sections = _sections(read.passages)
    found = _holding(asked.sought, sections, reader)
    return _told_section(found[0], sections, asked, reader, read) if found else None


def _holding(sought: Sequence[str], sections: Sequence[Section], reader: DocumentReader) -> Sequence[Section]:
    """Return the sections whose headings hold all these words, without those within another one."""
    named = [each for each in sections if _holds(each.name, sought, reader)]
    return [
        each for each in named if not any(other.start <= each.start < other.end for other in named if other != each)
    ]


def _holds(text: str, sought: Sequence[str], reader: DocumentReader) -> bool:
    language = reader.document.language or "en"
    stems = set(content_stems(" ".join(sought), language))
    return bool(stems) and stems <= set(content_stems(text, language))


def _whereabouts(asked: PlaceQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Name the sections, or else the figures and tables, whose names hold all words that are looked for."""
    texts = service_texts(reader.language)
    head = texts.stands_in.format(title=document_name(reader.document))
    named = _holding(asked.sought, _sections(read.passages), reader)[:MAX_SHOWN]
    if named:
        lines = [texts.on_page.format(name=plain_name(each.name), page=each.page) for each in named]
        return _told(reader, read, head, lines, (named[0].start, named[0].end))
    kinds: Sequence[PlaceKind] = ("figure", "table")
    captions = chain.from_iterable(captions_by_number(read.passages, kind).values() for kind in kinds)
    held = [each for each in captions if _holds(each.text, asked.sought, reader)][:MAX_SHOWN]
    lines = [texts.on_page.format(name=plain_name(each.text), page=each.page) for each in held]
    return reader.digest(read, (), _listed(head, lines, reader.language), ()) if held else None


# --- Who wrote it ---


def _authors(reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Quote the lines of the document's beginning that name its authors."""
    first = read.passages[:1]
    claims = [
        Claim(" ".join(line.split()), (Reference(1, line),), "\n") for each in first for line in bylines_in(each.text)
    ]
    return reader.digest(read, first, "", claims) if claims else None
