"""What is told of an element of one document: a section, a figure, a table or a page, or a list of all of them.

Sections are told with their pages, the sections within them and their most telling sentences; figures and tables with
their captions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from functions.query.grounding.claims import Claim
from functions.query.grounding.sanitizing import plain_name
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from functions.query.sections import (
    Section,
    end_of,
    numbered_section,
    section_at,
    sections_called,
    sections_of,
    without_number,
)
from functions.query.service import document_name, service_texts
from functions.query.summarising import (
    MAX_CHUNKS,
    DocumentDigest,
    DocumentReader,
    ReadPassages,
    quoted,
    telling_sentences,
)
from functions.query.understanding.question import shortened
from functions.query.understanding.structure import (
    LAST,
    ElementKind,
    StructureQuestion,
    lists_references,
    number_in,
    signs_of,
)
from functions.query.understanding.talk import folded_words
from functions.query.writing.list_items import is_item
from functions.query.writing.localization import page_name, texts_for, with_language_note
from functions.query.writing.prompting import within_budget
from functions.query.writing.statements import statements_in
from shared import lexical
from shared.models import Filter, PageStart, values_of
from shared.text import sentence_spans

# --- Captions of figures and tables ---

MAX_CHARACTERS = 500
"""Of a caption that is told."""
CAPTIONED: Sequence[ElementKind] = ("figure", "table")

LEADERS = re.compile(r"(?:\.[ ]?){4,}|…")
"""What leads to the page's number in a table of contents or a list of figures."""


class Caption(NamedTuple):
    """A caption: its element's number, its text, its page, and the passage that holds it."""

    number: str
    text: str
    page: PageStart
    passage: Passage


def _captions_in(passages: Sequence[Passage], kind: ElementKind) -> Iterator[Caption]:
    """Yield the captions of figures or tables."""
    for passage in passages:
        for number, start, text in _lines_in(passage.text, kind):
            page = passage.page_at(passage.char_start + start)
            yield Caption(number, _shortened(text), page, passage)


def _lines_in(text: str, kind: ElementKind) -> Iterator[tuple[str, int, str]]:
    """Yield each line that begins with the name of a figure or table and goes on like a title: number, start, text."""
    signs = "|".join(sorted(map(re.escape, signs_of(kind)), key=len, reverse=True))
    line = re.compile(rf"^[ \t]*(?:{signs}|\d+(?:\.\d+)*\.?[ ](?:{signs}))\b.*$", re.I | re.M)
    for found in line.finditer(lexical.fold(text)):
        said = text[found.start() : found.end()].strip()
        named = number_in(said, kind)
        if named is None or named[2] > 0:
            continue
        rest = said[named[3] :]
        title = rest.lstrip(" .:|–—-")
        if title and not (title[0].islower() and title == rest.lstrip()) and not LEADERS.search(said):
            yield named[1], found.start(), said


def without_captions(text: str) -> str:
    """Return a text without the lines that are captions."""
    lines = [line for kind in CAPTIONED for _, _, line in _lines_in(text, kind)]
    for line in lines:
        text = text.replace(line, "", 1)
    return text


def _shortened(text: str) -> str:
    """Return the whole sentences of a caption that are short enough, at least the first."""
    if len(text) <= MAX_CHARACTERS:
        return text
    ends = [span[1] for span in sentence_spans(text)]
    fitting = [end for end in ends if end <= MAX_CHARACTERS]
    return text[: fitting[-1]].rstrip() if fitting else shortened(text, MAX_CHARACTERS)


def captions_by_number(passages: Sequence[Passage], kind: ElementKind) -> Mapping[str, Caption]:
    """Return each number's caption: the first, or the second where the first is an entry of a list with pages."""
    found: dict[str, Caption] = {}
    for each in _captions_in(passages, kind):
        before = found.setdefault(each.number, each)
        if before is not each and before.text[-1].isdigit() and not each.text[-1].isdigit():
            found[each.number] = each
    return found


MAX_LISTED = 60
"""Sections or captions that a list shows."""
MAX_SHOWN = 3
"""Sections or captions that are named as where something stands."""
MAX_NAME_WORDS = 6
"""Words of a heading at most that names its section by one of them: "Conclusions and further work"."""
MAX_OTHERS = 2
"""Sentences beside its caption that speak of a figure or table."""
MAX_FIRST = 3
"""Passages at the beginning of an element that are told, besides those in which a section within it begins."""
MAX_TOLD = 8
"""Passages of an element that are told at most."""
MIN_WORDS = 3
"""Words of such a statement at least, if it is no row: a page's number and a heading tell nothing."""
MAX_ANY = 3
"""Statements of an element without a telling sentence, say a table alone."""

MIN_OF_ITEMS, MAX_ITEMS = 0.5, 20
"""Share of a section's text that its items must be, and how many there may be, for all to be told."""

AUTHORS_WITHIN = 3
"""Passages of a document's beginning in which its authors are looked for."""
MAX_AUTHOR_LINES = 5
"""Lines that name them, at most."""

_WORD = re.compile(r"[^\W\d_]{2,}")


def told_of(asked: StructureQuestion, reader: DocumentReader) -> DocumentDigest | None:
    """Return what is told of an element; None if the document has none such, so that it is an ordinary question.

    Raises `DependencyError`.
    """
    read = reader.read(reader.question.text, _on_page(asked, reader))
    if asked.wants == "one":
        tell = {"page": _page, "section": _section}.get(asked.kind, _captioned)
        return tell(asked, reader, read)
    if asked.wants == "all":
        return _outline(asked, reader, read) if asked.kind == "section" else _captions(asked, reader, read)
    if asked.wants == "authors":
        return _authors(asked, reader, read)
    tell = {"whereabouts": _whereabouts, "headed": _headed}.get(asked.wants, _named)
    return tell(asked, reader, read)


def _on_page(asked: StructureQuestion, reader: DocumentReader) -> Filter | None:
    """Return the filter for a page of a document with more passages than can be read at once."""
    number = _page_number(asked, reader)
    if asked.kind != "page" or asked.wants != "one" or reader.document.chunk_count <= MAX_CHUNKS or not number:
        return None
    return {"page_start": {"$lte": number}, "page_end": {"$gte": number}}


def _page_number(asked: StructureQuestion, reader: DocumentReader) -> int:
    if asked.number == LAST:
        return reader.document.page_count
    return int(asked.number) if asked.number.isdigit() else 0


# --- A page ---


def _page(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
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
    end = min((page.char_start for page in pages.values() if page.number > found.number), default=end_of(read.passages))
    begun = [each for each in sections_of(read.passages) if found.char_start <= each.start < end]
    head = texts.of_page.format(page=_page_name(found, reader), title=title)
    shown = [
        plain_name(each.text)
        for kind in CAPTIONED
        for each in captions_by_number(read.passages, kind).values()
        if each.page.number == found.number
    ]
    return _told(reader, read, head, [*(plain_name(each.name) for each in begun), *shown], (found.char_start, end))


def _page_name(page: PageStart, reader: DocumentReader) -> str:
    return page_name(page, texts_for(reader.language), set_off=True)


def _with_page(name: str, page: PageStart, reader: DocumentReader) -> str:
    """Return the name of a section or a caption with its page: "Care (page 6, printed 4)"."""
    number = page_name(page, texts_for(reader.language))
    return service_texts(reader.language).on_page.format(name=plain_name(name), page=number)


# --- Sections ---


def _section(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    found = section_at(asked.sign, asked.number, read.passages) if asked.by_order else None
    found = found or numbered_section(asked.sign, asked.number, read.passages)
    return None if found is None else _told_section(found, asked, reader, read)


def _told_section(
    found: Section, asked: StructureQuestion, reader: DocumentReader, read: ReadPassages
) -> DocumentDigest | None:
    texts, title = service_texts(reader.language), document_name(reader.document)
    depth = len(found.path) + 1
    within = [
        each for each in sections_of(read.passages) if len(each.path) == depth and found.start < each.start < found.end
    ]
    head = texts.of_section.format(name=plain_name(found.name), page=_page_name(found.page, reader), title=title)
    if asked.only_name:
        return reader.digest(read, (), with_language_note(head.rstrip(" :"), reader.language), ())
    names = [_with_page(each.name, each.page, reader) for each in within]
    return _told(reader, read, head, names, (found.start, found.end), [each.start for each in within])


def _named(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Tell the section whose heading has one of the names: the first name that any has."""
    sections = sections_of(read.passages)
    for name in asked.names:
        for each in sections:
            words = folded_words(without_number(each.name))
            if words[: len(name)] == list(name) or (len(words) <= MAX_NAME_WORDS and set(name) <= set(words)):
                return _told_section(each, asked, reader, read)
    return None


def _outline(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """List the sections at the top with their pages, or those that are called so: "Unit 1", "Unit 2"."""
    found = sections_called(asked.sign, read.passages)
    if not found:
        return None
    texts = service_texts(reader.language)
    head = texts.outline.format(title=document_name(reader.document))
    lines = [_with_page(each.name, each.page, reader) for each in found]
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
    plain = [each._replace(text=without_captions(each.text)) for each in cut]
    listed = () if names else _list_told(plain)
    said = listed or telling_sentences(plain, plain, of_each=of_each) or _any_statements(plain) or _any_statements(cut)
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


def _list_told(passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return all statements where most of the text is a list of a few items: a part of them would mislead."""
    found = [(number, each) for number, passage in enumerate(passages, 1) for each in statements_in(passage)]
    items = [each for _, each in found if is_item(each.text)]
    is_list = sum(len(each.text) for each in items) >= MIN_OF_ITEMS * sum(len(each.text) for _, each in found)
    return [quoted(number, each.text) for number, each in found] if 1 < len(items) <= MAX_ITEMS and is_list else ()


def _any_statements(passages: Sequence[Passage]) -> Sequence[Claim]:
    found = (
        (number, statement)
        for number, passage in enumerate(passages, start=1)
        for statement in statements_in(passage)
        if not statement.is_contents_entry and (statement.is_row or len(_WORD.findall(statement.text)) >= MIN_WORDS)
    )
    return [quoted(number, statement.text) for (number, statement), _ in zip(found, range(MAX_ANY), strict=False)]


# --- Figures and tables ---


def _captioned(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Tell the caption of a figure or table, and what else the document says about it."""
    found = captions_by_number(read.passages, asked.kind).get(asked.number)
    if found is None:
        return None
    speaking = [] if asked.only_name else list(_speaking_of(asked, read.passages, found))
    unique = {each.chunk_id: each for each in (found.passage, *(each for each, _ in speaking))}
    sources = within_budget(list(unique.values()), reader.ports.settings.context_budget_tokens)
    numbers = {each.chunk_id: number for number, each in enumerate(sources, start=1)}
    said = [quoted(1, found.text)]
    said += [
        quoted(numbers[passage.chunk_id], text, further=True)
        for passage, text in speaking
        if passage.chunk_id in numbers
    ]
    return reader.digest(read, sources, "", said)


def _speaking_of(
    asked: StructureQuestion, passages: Sequence[Passage], caption: Caption
) -> Iterator[tuple[Passage, str]]:
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


def _captions(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """List the captions of a document's figures or tables, each number once."""
    found = captions_by_number(read.passages, asked.kind)
    texts, title = service_texts(reader.language), document_name(reader.document)
    if not found:
        none = texts.no_figures if asked.kind == "figure" else texts.no_tables
        return reader.digest(read, (), with_language_note(none.format(title=title), reader.language), ())
    some = texts.figures if asked.kind == "figure" else texts.tables
    lines = [_with_page(each.text, each.page, reader) for each in found.values()]
    is_cut = len(read.passages) < reader.document.chunk_count
    return reader.digest(
        read, (), _listed(some.format(title=title, count=len(found)), lines, reader.language, is_cut=is_cut), ()
    )


# --- Where something stands ---


def _headed(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Tell the section whose heading holds all words that are looked for."""
    sections = sections_of(read.passages)
    found = _holding(asked.sought, sections, reader)
    return _told_section(found[0], asked, reader, read) if found else None


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


def _whereabouts(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Name the sections, or else the figures and tables, whose names hold all words that are looked for.

    Of a figure or table that is asked for, only those.
    """
    texts = service_texts(reader.language)
    head = texts.stands_in.format(title=document_name(reader.document))
    if asked.number:
        caption = captions_by_number(read.passages, asked.kind).get(asked.number)
        lines = [] if caption is None else [_with_page(caption.text, caption.page, reader)]
        return reader.digest(read, (), _listed(head, lines, reader.language), ()) if lines else None
    sections = sections_of(read.passages) if asked.kind == "section" else ()
    named = _holding(asked.sought, sections, reader)[:MAX_SHOWN]
    if named:
        lines = [_with_page(each.name, each.page, reader) for each in named]
        return _told(reader, read, head, lines, (named[0].start, named[0].end))
    kinds = CAPTIONED if asked.kind == "section" else (asked.kind,)
    captions = chain.from_iterable(captions_by_number(read.passages, kind).values() for kind in kinds)
    held = [each for each in captions if _holds(each.text, asked.sought, reader)][:MAX_SHOWN]
    lines = [_with_page(each.text, each.page, reader) for each in held]
    return reader.digest(read, (), _listed(head, lines, reader.language), ()) if held else None


# --- Who wrote it ---


def _authors(asked: StructureQuestion, reader: DocumentReader, read: ReadPassages) -> DocumentDigest | None:
    """Quote the lines of the document's beginning that name its authors, as its identity card has them."""
    names = [name for name in values_of(reader.document.labelled.get("author", "")) if name]
    title, texts = document_name(reader.document), service_texts(reader.language)
    if not names and asked.may_mean_another:
        return None
    if not names:
        return reader.digest(read, (), with_language_note(texts.no_authors.format(title=title), reader.language), ())
    wanted = [words for words in map(_words_of, names) if words]
    sources = read.passages[:AUTHORS_WITHIN]
    lines = ((number, line) for number, each in enumerate(sources, start=1) for line in each.text.split("\n"))
    told = ((number, line.strip(), _words_of(line)) for number, line in lines if len(line) <= MAX_CHARACTERS)
    first_with: dict[str, int] = {}
    for number, line, held in told:
        if any(map(held.issuperset, wanted)):
            first_with.setdefault(line, number)
    claims = [quoted(number, line) for line, number in first_with.items()][:MAX_AUTHOR_LINES]
    if claims:
        return reader.digest(read, sources, "", claims)
    sentence = texts.authors.format(title=title, fact=plain_name(", ".join(names)))
    return reader.digest(read, (), with_language_note(sentence, reader.language), ())


def _words_of(text: str) -> frozenset[str]:
    """Return the words of a name or a line, without the numbers of notes behind them."""
    return frozenset(_WORD.findall(lexical.fold(text).lower()))
