"""Opens an object of any kind: gives its title, its chunks, and a report of what was read.

PDFs are read page by page. FAQ pairs, resolved questions and knowledge files are JSON, checked field by field.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from functions.ingest.changes import DocumentRef
from functions.ingest.chunking import tokens
from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.ingest.figures import DescribedFigure, notes_of
from functions.ingest.parsing import fork_server
from functions.ingest.parsing.parse import PdfParse, open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.report import status_of
from functions.ingest.parsing.wire import RawPage
from shared.errors import DocumentRejected
from shared.identity import cover_of
from shared.language import language_of
from shared.models import (
    Chunk,
    DocumentError,
    DocumentStatus,
    Labels,
    MetadataValue,
    Page,
    PageReport,
    SourceType,
    content_hash_of,
)
from shared.settings import Settings
from shared.text import counted


@dataclass(frozen=True, slots=True)
class SourceChunk:
    """One chunk, and the extra fields of its vector's metadata."""

    chunk: Chunk
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """Status, error and report of a source, complete once all its chunks have been read.

    `figures` are the numbers of the pages that have some, or pictures that may be some.
    """

    status: DocumentStatus
    error: DocumentError | None
    page_count: int
    report: Sequence[PageReport]
    figures: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class ChunkSource:
    """An opened object. `chunks` come in order, the same for the same bytes and settings.

    `result` is complete when `chunks` is exhausted. `card` is the identity card of a PDF, `page_count` how many pages
    it has.
    """

    title: str
    chunks: Iterator[SourceChunk]
    result: Callable[[], ExtractionResult]
    card: Labels = MappingProxyType({})
    page_count: int = 0


def prepare(ref: DocumentRef) -> None:
    """Start what an object's reader needs, to be ready when it is downloaded."""
    if ref.source_type is SourceType.PDF:
        fork_server.get_ready()


@contextmanager
def open_source(
    ref: DocumentRef,
    path: Path,
    settings: Settings,
    read_pages: Mapping[int, RawPage] = MappingProxyType({}),
    figures: Sequence[DescribedFigure] = (),
) -> Iterator[ChunkSource]:
    """Open the downloaded object at `path` with the reader for its kind. Raises `DocumentRejected`.

    `read_pages` are the pages of a PDF that OCR has read, by number; `figures` those that a model was asked about.
    """
    suffix = ".pdf" if ref.source_type is SourceType.PDF else ".json"
    if not ref.key.lower().endswith(suffix):
        prefix = ref.key.partition("/")[0]
        raise DocumentRejected(
            "UNSUPPORTED_TYPE",
            f"{ref.file_name!r} is not a {suffix[1:].upper()} file: only files named {suffix} are read under "
            f"{prefix}/. Convert it and upload it again.",
        )
    if ref.source_type is not SourceType.PDF:
        yield open_json(ref, path)
        return
    limits = Limits(
        max_bytes=settings.max_file_bytes,
        max_pages=settings.max_pages,
        wall_s=settings.parse_timeout_s,
        memory_mb=settings.parse_memory_mb,
    )
    with open_pdf(path, file_name=ref.file_name, limits=limits, read_pages=read_pages) as pdf:
        chunks = _pdf_chunks(pdf, settings, figures)
        yield ChunkSource(pdf.title, chunks, partial(_pdf_result, pdf, figures), pdf.card, pdf.page_count)


FIGURE_GAP = 10
"""Characters left free before each description, so that positions distinguish it from the document's own text."""


def _pdf_chunks(pdf: PdfParse, settings: Settings, figures: Sequence[DescribedFigure] = ()) -> Iterator[SourceChunk]:
    """Yield the chunks page by page, as the parser gets to them; then a model's descriptions of figures."""
    limits = ChunkSettings(settings.chunk_size_tokens, settings.chunk_overlap_tokens)
    cover: str | None = None
    labels: dict[int, str] = {}
    index, end = 0, 0
    for chunk in chunk_pages(_labelled(pdf.pages(), labels), title=pdf.title, settings=limits, language=pdf.language):
        if (language := language_of(chunk.text, within=chunk.language)) != chunk.language:
            chunk = replace(chunk, language=language)
        if cover is None:
            cover = cover_of(chunk.text, language=chunk.language or "en")
        is_read = not pdf.read_by_ocr.isdisjoint(range(chunk.page_start, chunk.page_end + 1))
        yield SourceChunk(chunk, {"cover": cover, **({"ocr": True} if is_read else {})})
        index, end = chunk.index + 1, max(end, chunk.char_end)
    for at, figure in enumerate((figure for figure in figures if figure.text), index):
        chunk = _described(figure, at, end + FIGURE_GAP, pdf, labels.get(figure.page, ""))
        end = chunk.char_end
        yield SourceChunk(chunk, {"cover": cover or "", "described_by": figure.model})


def _labelled(pages: Iterator[Page], labels: dict[int, str]) -> Iterator[Page]:
    """Yield the pages, and record their printed labels by number."""
    for page in pages:
        labels[page.number] = page.label
        yield page


def _described(figure: DescribedFigure, index: int, start: int, pdf: PdfParse, label: str) -> Chunk:
    """Make a chunk of a model's words about a figure. Its caption, which stands in the page's own chunk, finds it, too.

    Its positions lie after the end of the document's text, which does not contain it.
    """
    text = figure.passage
    embedded = "\n\n".join(filter(None, (pdf.title, figure.caption, figure.text)))
    return Chunk(
        index=index,
        text=text,
        embedded_text=embedded,
        token_count=len(tokens.encoding().encode_ordinary(text)),
        page_start=figure.page,
        page_end=figure.page,
        char_start=start,
        char_end=start + len(text),
        content_hash=content_hash_of(embedded),
        page_label=label,
        language=language_of(figure.text, within=pdf.language),
    )


def _pdf_result(pdf: PdfParse, figures: Sequence[DescribedFigure] = ()) -> ExtractionResult:
    status, error = status_of(pdf.reports, pdf.page_count, pdf.problems, pdf.ocr_failed)
    notes = notes_of(figures)
    reports = [
        replace(report, detail="; ".join(filter(None, (report.detail, notes.get(report.number)))))
        for report in pdf.reports
    ]
    return ExtractionResult(status, error, pdf.page_count, tuple(reports), tuple(sorted(pdf.figures)))


MAX_LABEL = 200
_SHOWN = 5
"""The most fields of one object that an error names."""
_SHOWN_NAME = 60
_TEXTS = {
    "missing": "this field is missing",
    "string_type": "a text is expected",
    "string_too_short": "it is empty",
    "string_too_long": "at most {max_length} characters are accepted",
    "string_unicode": "it holds half of a character (a lone surrogate)",
    "string_pattern_mismatch": "a language tag is expected, such as en or pt-BR",
    "bool_type": "true or false is expected",
    "bool_parsing": "true or false is expected",
    "model_type": "an object is expected",
    "dict_type": "an object is expected",
    "too_short": "it is empty",
}
"""Pydantic's error type → our message; other types keep pydantic's."""


def _without_nulls(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: field for name, field in value.items() if field is not None}


def _checked_tag(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        text = f"a text of at most {MAX_LABEL} characters is expected, or a list of such texts"
        raise PydanticCustomError("tag", "{text}", {"text": text}) from None


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Label = Annotated[str, StringConstraints(max_length=MAX_LABEL)]
Language = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$", max_length=35)]
"""A language tag as BCP 47 has them; an underscore counts as a hyphen."""
TagName = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Tags = Annotated[
    dict[TagName, Annotated[Label | list[Label], WrapValidator(_checked_tag)]], BeforeValidator(_without_nulls)
]


class JsonFields(BaseModel):
    """Any object of a JSON source."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: object) -> object:
        return _without_nulls(value)


class QuestionAnswer(JsonFields):
    """A question with its answer."""

    question: Text
    answer: Text
    language: Label = ""
    department_id: Label = ""
    conversation_id: Label = ""
    tags: Tags = Field(default_factory=dict)


class LanguageVariant(JsonFields):
    """A chunk's text in one language."""

    text: Text


class ChunkMetadata(JsonFields):
    """A chunk's metadata."""

    chunk_id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    title: Label = ""
    chapter: Label = ""
    department_id: Label = ""
    is_active: bool = True


class EmbeddingStrings(JsonFields):
    """What is embedded in place of the text."""

    semantic: Text | None = None


class KnowledgeChunk(JsonFields):
    """One entry of a knowledge file."""

    metadata: ChunkMetadata
    languageVariants: dict[Language, LanguageVariant] = Field(min_length=1)  # noqa: N815 - the format's own name
    embeddingStrings: EmbeddingStrings = Field(default_factory=EmbeddingStrings)  # noqa: N815 - the format's own name
    tags: Tags = Field(default_factory=dict)
    is_active: bool = True


def _fields_of(error: ValidationError) -> str:
    """Name every field that is wrong and what is expected there, never its value."""
    found = error.errors(include_url=False, include_input=False)
    problems = dict.fromkeys(f"{_place_of(each['loc'])}: {_text_of(each)}" for each in found)
    return "; ".join(list(problems)[:_SHOWN])


def _place_of(path: tuple[int | str, ...]) -> str:
    # `[key]` is pydantic's marker for a field's own name; a name may be of any length.
    return ".".join(str(part)[:_SHOWN_NAME] for part in path if part != "[key]") or "the object"


def _text_of(found: Any) -> str:
    text: str = _TEXTS.get(found["type"], found["msg"])
    return text.format_map(found.get("ctx", {}))


MAX_JSON_BYTES = 16 * 2**20
"""Bytes of a JSON object: it is read whole, and takes some ten times its size in memory."""
MAX_TOKENS = 8_000
"""OpenAI accepts 8,191 tokens a text; a chunk of a JSON source is never cut."""
MAX_TEXT_BYTES = 32 * 1024
"""Leaves room for the other fields in the 40 KB a vector's metadata may have."""


def open_json(ref: DocumentRef, path: Path) -> ChunkSource:
    """Read a JSON object of any of the three kinds. Raises `DocumentRejected` if none of it can be used."""
    if path.stat().st_size > MAX_JSON_BYTES:
        raise DocumentRejected("TOO_LARGE", f"{ref.file_name}: at most {MAX_JSON_BYTES:,} bytes of JSON are accepted.")
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DocumentRejected("INVALID_JSON", f"{ref.file_name} is not valid JSON: {error}") from error
    if ref.source_type is SourceType.KNOWLEDGE:
        return _open_knowledge(ref, value)
    return _open_pair(ref, value)


def _open_pair(ref: DocumentRef, value: object) -> ChunkSource:
    try:
        pair = QuestionAnswer.model_validate(value)
    except ValidationError as error:
        raise DocumentRejected("INVALID_FIELDS", f"{ref.file_name}: {_fields_of(error)}") from error
    text = f"Question: {pair.question}\nAnswer: {pair.answer}"
    if problem := _too_long(text, text):
        raise DocumentRejected("TOO_LONG", f"{ref.file_name}: {problem}")
    metadata: dict[str, MetadataValue] = {
        **pair.tags,
        "source_id": ref.file_name.removesuffix(".json"),
        **_non_empty(department_id=pair.department_id, conversation_id=pair.conversation_id),
    }
    language = pair.language or language_of(f"{pair.question} {pair.answer}")
    source_chunk = SourceChunk(_chunk_of(0, 0, text, text, language), metadata)
    report = (PageReport(1, len(text)),)
    result = ExtractionResult(DocumentStatus.READY, None, 1, report)
    return ChunkSource(pair.question, iter([source_chunk]), lambda: result)


def _open_knowledge(ref: DocumentRef, value: object) -> ChunkSource:
    if not isinstance(value, list):
        raise DocumentRejected("INVALID_FIELDS", f"{ref.file_name}: a knowledge file is a list of chunks.")
    chunks: list[SourceChunk] = []
    report: list[PageReport] = []
    seen: set[str] = set()
    position = 0
    for number, entry in enumerate(value, start=1):
        chunk, problem = _read_chunk(entry, seen)
        if chunk is None or not chunk.is_active or not chunk.metadata.is_active:
            detail = f"chunk {_name_of(entry, number)}: {problem}" if problem else "inactive"
            report.append(PageReport(number, 0, "failed" if problem else "empty", detail))
            continue
        characters = 0
        for language, variant in chunk.languageVariants.items():
            embedded = chunk.embeddingStrings.semantic or variant.text
            made = _chunk_of(len(chunks), position, variant.text, embedded, language)
            chunks.append(SourceChunk(made, _knowledge_metadata(chunk)))
            position = made.char_end + 2  # a blank line between chunks, as between pages
            characters += len(variant.text)
        report.append(PageReport(number, characters))
    result = _knowledge_result(ref, report, len(chunks))
    return ChunkSource(ref.file_name, iter(chunks), lambda: result)


def _read_chunk(entry: object, seen: set[str]) -> tuple[KnowledgeChunk | None, str]:
    """Return the entry, checked, or what is wrong with it."""
    try:
        chunk = KnowledgeChunk.model_validate(entry)
    except ValidationError as error:
        return None, _fields_of(error)
    if chunk.metadata.chunk_id in seen:
        return None, "metadata.chunk_id: an earlier chunk of this file has it already"
    seen.add(chunk.metadata.chunk_id)
    for language, variant in chunk.languageVariants.items():
        problem = _too_long(variant.text, chunk.embeddingStrings.semantic or variant.text)
        if problem:
            return None, f"languageVariants.{language}.text: {problem}"
    return chunk, ""


def _knowledge_metadata(chunk: KnowledgeChunk) -> dict[str, MetadataValue]:
    about = chunk.metadata
    return {
        **chunk.tags,
        "source_id": about.chunk_id,
        "title": about.title or about.chunk_id,
        **_non_empty(chapter=about.chapter, department_id=about.department_id),
    }


def _knowledge_result(ref: DocumentRef, report: Sequence[PageReport], chunk_count: int) -> ExtractionResult:
    failed = [page for page in report if page.state == "failed"]
    if not failed:
        return ExtractionResult(DocumentStatus.READY, None, len(report), tuple(report))
    more = f" (and {len(failed) - 1} more, see the report)" if len(failed) > 1 else ""
    error = DocumentError(
        "INVALID_CHUNKS",
        f"{len(failed)} of {counted(len(report), 'chunk')} of {ref.file_name} {'was' if len(failed) == 1 else 'were'} "
        f"left out: {failed[0].detail}{more}",
    )
    status = DocumentStatus.PARTIAL if chunk_count else DocumentStatus.FAILED
    return ExtractionResult(status, error, len(report), tuple(report))


def _chunk_of(index: int, position: int, text: str, embedded: str, language: str) -> Chunk:
    return Chunk(
        index=index,
        text=text,
        embedded_text=embedded,
        token_count=_tokens_in(embedded),
        page_start=1,
        page_end=1,
        char_start=position,
        char_end=position + len(text),
        content_hash=content_hash_of(embedded),
        language=language,
    )


def _tokens_in(text: str) -> int:
    return len(tokens.encoding().encode_ordinary(text))


def _too_long(text: str, embedded: str) -> str:
    if len(text.encode()) > MAX_TEXT_BYTES:
        return f"at most {MAX_TEXT_BYTES:,} bytes of text are accepted: split it"
    if _tokens_in(embedded) > MAX_TOKENS:
        return f"at most {MAX_TOKENS:,} tokens are accepted: split it"
    return ""


def _non_empty(**values: str) -> Mapping[str, str]:
    return {name: value for name, value in values.items() if value}


def _name_of(entry: Any, number: int) -> str:
    try:
        return f"{entry['metadata']['chunk_id']!r:.80} (number {number})"
    except (TypeError, KeyError, IndexError):
        return f"number {number}"
