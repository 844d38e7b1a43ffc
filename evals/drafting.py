"""Drafts questions from PDFs without a model, from parts of a document that can be turned into a question by rule.

These are questions that the document asks itself (FAQs), definitions, abbreviations, rows of tables, sentences that
state a figure, headings that name a task, and, as the least useful, other headings. Left out are garbled text, headers
and footers, rows without a name, and questions that point elsewhere ("this", "above"). The sentences are in
`templates/questions.json`, one set for each language; a document in another language gives only its own questions.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any, Literal

from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.text import doubtful_share
from functions.ingest.parsing.titles import kind_of, title_from_file_name, usable_title
from functions.query.grounding.table_cells import is_figure
from functions.query.grounding.tables import Table, tables_in
from functions.query.grounding.words import content_stems, is_stop_word
from shared.lexical import background, fold, stem
from shared.models import Block, Page
from shared.text import sentence_spans

Kind = Literal["faq", "definition", "table", "fact", "how-to", "section", "unanswerable"]
KINDS: tuple[Kind, ...] = ("faq", "definition", "table", "fact", "how-to", "section")
"""The kinds of answerable questions, the most useful first."""
PARSE_S = 300.0
MAX_PLACES = 3
"""Pages that may hold the expected words; words on more pages are not an answer."""
MIN_BODY_WORDS = 30
"""With this many words below it a heading is a section of its own."""
VERB_SHARE = 0.2
"""If at least this share of a word's uses follow "to", "can", …, it is a verb."""
LONGEST_TITLE = 14
"""The most words of a title that a question may use."""
MIN_ROWS = 3
"""The fewest rows of a table whose columns can be recognised."""
LONGEST_ANSWER = 300
NOUN_RARITY = (4.5, 8.0)
"""IDF of the nouns that unanswerable questions are about: known to everybody, but not in every text."""
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’-][^\W_]+)*")
_NUMBERING = re.compile(r"^(?:(?:\d+|[A-Z]|[IVX]+)(?:\.\d+)*[.):]?|[•▪–*-])\s+(?=\S)")
_STEP = re.compile(r"^(?:\(?\d{1,2}[.)]?|[•▪◦‣●–*-]|step \d+[:.]?)\s+(?=\S)", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_PERIOD = re.compile(r"(?:[^\W\d]{2,9}\.? |Q[1-4] ?|\d{1,2} [^\W\d]{3,9} )?(?:19|20)\d\d(?:[/–-]\d\d(?:\d\d)?)?")
"""A column's name that is a time: 2019, Dec 2015, Q3 2020, FY 2020/21."""
_REFERENCE = re.compile(
    r"\bet al\b|\b(?:pages?|vol(?:ume)?|arXiv|Proceedings|Journal|Transactions)\b.*\b(?:19|20)\d\d|\d:\d+[-–]\d",
    re.I | re.S,
)
"""An entry of a bibliography, or what cites one."""
_ABBREVIATION = re.compile(r"\(([A-Z]{2,6})\)")
_SIGNS = re.compile(r"[|_$=*\[\]…]|\s[,?)]|\(\s")
"""A sentence with one of these is not asked about: formulas, and spaces where no writer puts them."""
_CODE = re.compile(r"\w*(?:\d[^\W\d_]|[^\W\d_]\d)\w{6,}|\w{22,}|[_/\\@<>{}=]|\.\w{2,4}\b")
"""Strings that are not words: hashes, paths, addresses, glued words."""


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question with the pages and the words of its answer; no pages and no quote if nothing answers it.

    `like`: the kind of the question that an unanswerable one was made from.
    """

    kind: Kind
    question: str
    doc: str
    pages: tuple[int, ...] = ()
    answer: str = ""
    quote: str = ""
    like: Kind | None = None

    @property
    def id(self) -> str:
        """The same for the same question about the same document."""
        return sha256(f"{self.doc}\0{self.question}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class SourceDocument:
    """A PDF as ingest reads it."""

    name: str
    title: str
    language: str
    pages: Sequence[Page] = field(repr=False)

    @cached_property
    def stems(self) -> Sequence[frozenset[str]]:
        """The content words of each page."""
        return [frozenset(content_stems(page.text, self.language or "en")) for page in self.pages]

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word is written, and in which case."""
        return Counter(word for page in self.pages for word in _WORD.findall(page.text))

    @cached_property
    def lowered(self) -> Counter[str]:
        """How often each word is written, whatever its case."""
        return Counter(word.lower() for word in self.words.elements())

    @cached_property
    def pairs(self) -> Counter[tuple[str, str]]:
        """How often one word follows another, whatever their case."""
        words = (_WORD.findall(page.text.lower()) for page in self.pages)
        return Counter(pair for page in words for pair in pairwise(page))

    def running(self, title: str) -> str:
        """Return a title as in running text: words that the document often writes in lower case are in lower case."""
        words = (
            word.lower() if word[1:].islower() and self.words[word.lower()] >= self.words[word] else word
            for word in title.split(" ")
        )
        return " ".join(words)

    def places(self, quote: str) -> tuple[int, ...]:
        """Return the pages with a text, ignoring white space."""
        wanted = _squeezed(quote)
        return tuple(page.number for page in self.pages if wanted in _squeezed(page.text))


@cache
def _squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()


def read_document(path: Path) -> SourceDocument:
    """Read a PDF. Raises `DocumentRejected`."""
    with open_pdf(path, file_name=path.name, limits=Limits(wall_s=PARSE_S)) as pdf:
        return SourceDocument(path.name, pdf.title, pdf.language, tuple(pdf.pages()))


def drafts_of(document: SourceDocument) -> list[QuestionDraft]:
    """Return every question that a document gives by rule, in its order, each once."""
    sayings = sayings_of(document.language)
    found: dict[str, QuestionDraft] = {}
    for draft in _drafts(document, sayings):
        places = document.places(draft.quote)
        if 0 < len(places) <= MAX_PLACES and reads_well(draft, sayings):
            found.setdefault(draft.question.casefold(), replace(draft, pages=places))
    return list(found.values())


@cache
def sayings_of(language: str) -> Mapping[str, Any]:
    """Return the sentences of a language, empty for one that has none."""
    known: dict[str, dict[str, Any]] = json.loads(
        Path(__file__).with_name("templates").joinpath("questions.json").read_text()
    )
    return known.get(language, {})


# --- what a question can be read off ----------------------------------------------------------------------------------


def _drafts(document: SourceDocument, sayings: Mapping[str, Any]) -> Iterator[QuestionDraft]:
    headings = Counter(
        _text(page, block) for page in document.pages for block in page.blocks if block.kind == "heading"
    )
    blocks = [(page, block) for page in document.pages for block in page.blocks]
    for at, (page, block) in enumerate(blocks):
        text = _text(page, block)
        if block.kind in {"heading", "paragraph", "list_item"}:
            yield from _asked(document, sayings, blocks, at)
        if block.kind == "heading" and headings[text] == 1:
            yield from _under_heading(document, sayings, blocks, at)
        if block.kind in {"paragraph", "list_item"}:
            for start, end in sentence_spans(text):
                yield from _in_sentence(document, sayings, _NUMBERING.sub("", text[start:end]))
    yield from _in_tables(document, sayings)


def _text(page: Page, block: Block) -> str:
    return page.text[block.char_start : block.char_end]


def _asked(
    document: SourceDocument, sayings: Mapping[str, Any], blocks: Sequence[tuple[Page, Block]], at: int
) -> Iterator[QuestionDraft]:
    """Yield a question that the document asks itself and answers in the next block, or in the same one."""
    text = " ".join(_text(*blocks[at]).split())
    question, mark, rest = text.partition("?")
    question = _NUMBERING.sub("", re.sub(r"^(?:Q|F|K)\s*\d*[.:)]\s*", "", question)) + mark
    answer = rest.strip()
    if not answer and at + 1 < len(blocks) and blocks[at + 1][1].kind in {"paragraph", "list_item"}:
        answer = " ".join(_text(*blocks[at + 1]).split())
    answer = re.sub(r"^(?:A|R|Ats)\s*[.:)]\s*", "", answer)
    words = question.split()
    opening = words[0].lstrip("¿") if words else ""
    is_opened = opening[:1].isupper() and opening.lower() in sayings.get("openings", "").split()
    is_whole = is_opened and not re.search(r"[.:]|,.*,.*,", question) and not _SIGNS.search(question)
    is_answered = len(_first_sentence(answer).split()) >= 5 and answer[-1:] in ".!" and "?" not in answer
    if mark and is_whole and is_answered and 4 <= len(words) <= 25:
        is_how = bool(sayings and re.search(sayings["how_question"], question, re.IGNORECASE))
        question = f"{words[0]} {document.running(' '.join(words[1:]))}"
        yield _draft("how-to" if is_how else "faq", question, document, _first_sentence(answer))


def _under_heading(
    document: SourceDocument, sayings: Mapping[str, Any], blocks: Sequence[tuple[Page, Block]], at: int
) -> Iterator[QuestionDraft]:
    """Yield how a task is done, or what a section says."""
    heading = _NUMBERING.sub("", " ".join(_text(*blocks[at]).split())).rstrip(":")
    heading = heading.capitalize() if heading.isupper() and " " in heading else heading
    body = list(takewhile(lambda each: each[1].kind != "heading", islice(blocks, at + 1, None)))
    texts = [" ".join(_text(*each).split()) for each in body if each[1].kind in {"paragraph", "list_item"}]
    if not sayings or not texts or not _names_something(heading):
        return
    first = next((text for text in texts if _STEP.match(text)), texts[0])
    if _begins_with_verb(heading, document, sayings) and len(first.split()) > 4:
        task = document.running(heading[0].lower() + heading[1:] if heading[1:2].islower() else heading)
        yield _draft(
            "how-to", sayings["how"].format(task=task.rstrip(".")), document, _first_sentence(_STEP.sub("", first))
        )
        return
    says = _first_sentence(texts[0])
    is_long = sum(len(text.split()) for text in texts) >= MIN_BODY_WORDS
    if is_long and len(says.split()) >= 6 and says[0].isalpha() and says[-1] in ".:":
        yield _draft("section", sayings["section"].format(heading=heading), document, says)


def _names_something(heading: str) -> bool:
    """Whether a heading is two to nine words, whole, and not mostly numbers."""
    words = heading.split()
    numbers = sum(not any(map(str.isalpha, word)) or any(map(str.isdigit, word)) for word in words)
    return 2 <= len(words) <= 9 and not re.search(r"[?:]|[^\w)”\".]$", heading) and 2 * numbers < len(words)


def _in_sentence(document: SourceDocument, sayings: Mapping[str, Any], sentence: str) -> Iterator[QuestionDraft]:
    if not sayings or not 4 <= len(sentence.split()) <= 60:
        return
    if (short := _ABBREVIATION.search(sentence)) and (long := _spelt_out(sentence[: short.start()], short[1])):
        yield _draft("definition", sayings["abbreviation"].format(short=short[1]), document, sentence, answer=long)
    if (found := re.match(sayings["definition_sentence"], sentence)) and _is_term(found["term"], document):
        term = found["term"]
        if "{term}?" in sayings["definition"] and (article := found["article"]):
            term = f"{article.lower()} {term}"
        yield _draft("definition", sayings["definition"].format(term=document.running(term)), document, sentence)
    if "fact" in sayings and (stated := re.match(sayings["fact_sentence"], sentence.rstrip("."))):
        subject = stated["subject"][0].lower() + stated["subject"][1:]
        if (
            len(content_stems(subject)) > 2
            and not set(subject.split()) & set(sayings["finite"].split())
            and not _SIGNS.search(sentence)
        ):
            question = sayings["fact"].format(verb=stated["verb"], subject=subject)
            yield _draft("fact", question, document, sentence, answer=stated["value"])


def _spelt_out(before: str, short: str) -> str:
    """Return the words before an abbreviation whose first letters it is made of, "" if they are not there."""
    words = before.split()[-len(short) * 2 :]
    letters = list(short.lower())
    taken: list[str] = []
    while words and letters:
        word = words.pop()
        if word.lower().startswith(letters[-1]):
            letters.pop()
        elif len(word) > 3 or not taken:
            return ""
        taken.insert(0, word)
    is_whole = not letters and not is_stop_word(taken[0].lower()) and all(_WORD.fullmatch(word) for word in taken)
    return " ".join(taken) if is_whole else ""


def _is_term(term: str, document: SourceDocument) -> bool:
    """Whether something can be a term: a few words, not all of them small, that the document uses more than once."""
    words = term.split()
    if len(words) > 4 or not all(_WORD.fullmatch(word) for word in words) or is_stop_word(words[-1].lower()):
        return False
    return sum(_squeezed(page.text).count(term.casefold()) for page in document.pages) > 1


def _in_tables(document: SourceDocument, sayings: Mapping[str, Any]) -> Iterator[QuestionDraft]:
    """Yield a question for each cell whose row and column have names that occur once in the document."""
    if not sayings:
        return
    cells: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for page in document.pages:
        for table in tables_in(page.text):
            for row, column, value, line in _named_cells(page, table):
                cells.setdefault((row, column), set()).add((value, line))
    asked: dict[str, QuestionDraft] = {}
    for (row, column), values in cells.items():
        if len(values) == 1:
            ((value, line),) = values
            form = sayings.get("table_period" if _PERIOD.fullmatch(column) else "table", sayings["table"])
            draft = _draft("table", form.format(row=row, column=column), document, line, answer=value)
            # One question a row: the others would ask almost the same.
            asked[row] = min(draft, asked.get(row, draft), key=lambda each: each.id)
    yield from asked.values()


def _named_cells(page: Page, table: Table) -> Iterator[tuple[str, str, str, str]]:
    """Yield row, column, value and line of each cell that can be asked for: in columns of figures, or of few values."""
    rows = [row for row in table.rows if len(row.cells) == len(table.columns)]
    for at, column in enumerate(table.columns):
        values = [row.cells[at].text.strip() for row in rows]
        figures = sum(bool(row.cells[at].values) or is_figure(value) for row, value in zip(rows, values, strict=True))
        is_one_kind = figures > 0.6 * len(rows) or len(set(values)) <= len(rows) / 2
        is_named = table.columns.count(column) == 1 and (_is_name(column, most=5) or _PERIOD.fullmatch(column))
        if len(rows) < MIN_ROWS or not is_one_kind or not is_named:
            continue
        for row, value in zip(rows, values, strict=True):
            label = row.label.strip(" .:…")
            is_telling = value not in (label, column) and (len(value) > 1 or value.isdigit())
            if is_telling and _is_name(label, most=8) and any(map(str.isalnum, value)):
                yield label, column, value, page.text[row.start : row.end].strip()


def _is_name(text: str, *, most: int) -> bool:
    """Whether a cell can name a row or a column: a few words, not all of them small, no sentence."""
    words = [word.strip("(),.") for word in text.split()]
    telling = [word for word in words if len(word) > 2 and _WORD.fullmatch(word) and not is_stop_word(word.lower())]
    is_whole = text[:1].isalnum() and text[-1:] not in ".,;:?!" and not re.search(r"[:…|\[\]]|et al", text)
    return 0 < len(words) <= most and bool(telling) and is_whole and text.count("(") == text.count(")")


def _draft(kind: Kind, question: str, document: SourceDocument, quote: str, *, answer: str = "") -> QuestionDraft:
    return QuestionDraft(
        kind, " ".join(question.split()), document.name, (), (answer or quote)[:LONGEST_ANSWER].strip(), quote
    )


def _first_sentence(text: str) -> str:
    return next((text[start:end] for start, end in sentence_spans(text)), text)


def _begins_with_verb(heading: str, document: SourceDocument, sayings: Mapping[str, Any]) -> bool:
    """Whether the document writes the first word more often after "to", "can", … than after "the", "in", …"""
    word = heading.split()[0].lower()
    as_verb, as_noun = (
        sum(document.pairs[before, word] for before in sayings.get(key, "").split())
        for key in ("how_verbs", "how_nouns")
    )
    # A heading counts as neither, and so does an order ("take it out").
    return as_verb >= 3 and as_verb > 2 * as_noun and as_verb > VERB_SHARE * document.lowered[word]


# --- what reads badly -------------------------------------------------------------------------------------------------


def reads_well(draft: QuestionDraft, sayings: Mapping[str, Any]) -> bool:
    """Whether a question can be understood alone, and question and answer are whole text."""
    words = [word.strip("?.,:;“”„«»()").lower() for word in draft.question.split()]
    if any(word in sayings.get("vague", "").split() for word in words):
        return False
    if len(words) > 30 or _CODE.search(draft.question) or not content_stems(draft.question):
        return False
    return not any(_is_garbled(text) for text in (draft.question, draft.answer, draft.quote[:LONGEST_ANSWER]))


def _is_garbled(text: str) -> bool:
    """Whether a text has lost or separated letters (doubtful glyphs, many single letters), or cites literature."""
    words = text.split()
    single = sum(len(word) == 1 and word.isalpha() for word in words)
    is_doubtful = doubtful_share(text) > 0 or single > max(1, len(words) // 4)
    return is_doubtful or text.count("…") > 1 or bool(_REFERENCE.search(text))


# --- over all documents -----------------------------------------------------------------------------------------------


class Collection:
    """All documents together: which questions are ambiguous among them, and which words are in none of them."""

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self._documents = {document.name: document for document in documents}
        self._names = Counter(name for document in documents for name in _names_of(document))
        self._pages: dict[str, set[tuple[str, int]]] = {}
        for document in documents:
            for page, stems in enumerate(document.stems):
                for word in stems:
                    self._pages.setdefault(word, set()).add((document.name, page))

    def unambiguous(self, draft: QuestionDraft) -> QuestionDraft | None:
        """Return the question with its document's name if another document has all its words on a page.

        None if the document has no name that distinguishes it.
        """
        document = self._documents[draft.doc]
        stems = set(content_stems(draft.question, document.language or "en")) - _stems_of_sayings(document.language)
        pages = set.intersection(*(self._pages.get(stem, set()) for stem in stems)) if stems else set()
        if stems and all(doc == draft.doc for doc, _ in pages):
            return draft
        sayings = sayings_of(document.language)
        title = next((name for name in _names_of(document) if self._names[name] == 1), "")
        if not sayings or not title:
            return None
        named = sayings["according_to"].format(title=title)
        return replace(draft, question=re.sub(r"\s?\?$", lambda mark: f" {named}{mark[0]}", draft.question))

    def unanswerable(self, drafts: Sequence[QuestionDraft]) -> Iterator[QuestionDraft]:
        """Yield questions like the given ones about something that no page of any document names."""
        nouns = cache(self._absent_nouns)
        for draft in drafts:
            question = self._other_year(draft.question)
            if draft.kind == "definition":
                question = self._other_abbreviation(question)
            if question == draft.question and draft.kind in {"faq", "definition", "fact", "how-to"}:
                question = _other_noun(question, nouns(self._documents[draft.doc].language))
            if question != draft.question:
                yield QuestionDraft("unanswerable", question, draft.doc, like=draft.kind)

    def lacks(self, word: str) -> bool:
        """Whether no page has a word, in any form."""
        return self._pages.keys().isdisjoint(content_stems(word))

    def _other_year(self, text: str) -> str:
        def later(year: re.Match[str]) -> str:
            return next((str(each) for each in range(int(year[0]) + 9, 2100) if self.lacks(str(each))), year[0])

        return _YEAR.sub(later, text)

    def _other_abbreviation(self, text: str) -> str:
        """Return a question about an abbreviation with its letters in another order, one that no page has."""

        def turned(found: re.Match[str]) -> str:
            short = found[0]
            orders = (short[at:] + short[:at] for at in range(1, len(short)))
            return next((each for each in orders if each != short and self.lacks(each)), short)

        return re.sub(r"\b[A-Z]{3,6}\b", turned, text)

    def _absent_nouns(self, language: str) -> Sequence[str]:
        low, high = NOUN_RARITY
        endings = tuple(sayings_of(language).get("nouns", "").split())
        return [
            word
            for word, rarity in background(language).items()
            if low <= rarity <= high and len(word) > 6 and word.endswith(endings) and self.lacks(word)
            # Else it is itself a stem in that table ("practition"), and no word.
            if word != stem(fold(word), language) in background(language)
        ]


@cache
def _stems_of_sayings(language: str) -> frozenset[str]:
    """Return the content words of the sentences themselves ("said"): they do not distinguish documents."""
    forms = (str(sayings_of(language).get(kind, "")) for kind in ("section", "table", "table_period", "definition"))
    return frozenset(word for form in forms for word in content_stems(re.sub(r"\{\w+\}", " ", form), language or "en"))


def _names_of(document: SourceDocument) -> list[str]:
    """Return what a question can call a document: its title up to a colon, or its file's name."""
    by_file = title_from_file_name(document.name)
    names = [usable_title(document.title).partition(":")[0].strip(), usable_title(by_file) or kind_of(by_file)]
    return [
        name for name in dict.fromkeys(names) if name and not _CODE.search(name) and len(name.split()) <= LONGEST_TITLE
    ]


def _other_noun(text: str, nouns: Sequence[str]) -> str:
    """Return the text with its last noun, recognised by its ending, replaced by one of `nouns` with the same ending."""
    for found in reversed(list(_WORD.finditer(text))):
        same = [noun for noun in nouns if _fits(noun, found[0].lower()) and len(found[0]) > 6]
        if same:
            noun = same[int(sha256(text.encode()).hexdigest(), 16) % len(same)]
            return text[: found.start()] + (noun.capitalize() if found[0].istitle() else noun) + text[found.end() :]
    return text


def _fits(noun: str, other: str) -> bool:
    """Whether a noun can stand where another one stands: the same ending, and the same article (a, an)."""
    return noun[-4:] == other[-4:] and (noun[0] in "aeiou") == (other[0] in "aeiou")
