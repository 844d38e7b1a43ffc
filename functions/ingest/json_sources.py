"""FAQ pairs, resolved questions and knowledge-chunk files: JSON objects, checked field by field.

    faq/{tenant}/{faq_id}.json       {"question", "answer", "language"?, "department_id"?, "tags"?}
    resolved/{tenant}/{id}.json      the same, and "conversation_id"
    knowledge/{tenant}/{path}.json   [{"metadata": {"chunk_id", "title"?, "chapter"?, "department_id"?},
                                       "languageVariants": {"en": {"text"}, …}, "embeddingStrings"?: {"semantic"},
                                       "tags"?: {"phase", "goal", "type", …}, "is_active"?}, …]

A pair is one chunk. In a knowledge file what is wrong is left out and reported by chunk and field; the rest is taken.
Languages are tags as in BCP 47 (en, pt-BR). `null` is the same as a field left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from functions.ingest import tokens
from functions.ingest.events import Subject
from functions.ingest.json_fields import KnowledgeChunk, Pair, fields_of
from functions.ingest.parsing.language import language_of
from functions.ingest.passages import Findings, Passage, Source
from shared.errors import DocumentRejected
from shared.models import (
    Chunk,
    DocumentError,
    DocumentStatus,
    MetadataValue,
    PageReport,
    SourceType,
    content_hash_of,
)

MAX_JSON_BYTES = 16 * 2**20
"""JSON is read whole, and takes some ten times its size in memory."""
MAX_TOKENS = 8_000
"""OpenAI takes 8,191 tokens a text; a passage is never cut."""
MAX_TEXT_BYTES = 32 * 1024
"""Leaves room for the other fields in the 40 KB a vector's metadata may have."""


class JsonSource:
    """Passages that were all read at opening: such files are small."""

    def __init__(self, title: str, passages: Sequence[Passage], findings: Findings) -> None:
        self._title = title
        self._passages = passages
        self._findings = findings

    @property
    def title(self) -> str:
        """The question, or the name of the file."""
        return self._title

    def passages(self) -> Iterator[Passage]:
        """Yield the passages in the order of the file."""
        return iter(self._passages)

    def findings(self) -> Findings:
        """Return what was left out, and why."""
        return self._findings


def open_json(subject: Subject, path: Path) -> Source:
    """Read a JSON object of any of the three kinds. Raises `DocumentRejected` when nothing of it can be used."""
    if path.stat().st_size > MAX_JSON_BYTES:
        raise DocumentRejected("TOO_LARGE", f"{subject.file_name}: at most {MAX_JSON_BYTES:,} bytes of JSON are taken.")
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DocumentRejected("INVALID_JSON", f"{subject.file_name} is not valid JSON: {error}") from error
    if subject.source_type is SourceType.KNOWLEDGE:
        return _open_knowledge(subject, value)
    return _open_pair(subject, value)


def _open_pair(subject: Subject, value: object) -> Source:
    try:
        pair = Pair.model_validate(value)
    except ValidationError as error:
        raise DocumentRejected("INVALID_FIELDS", f"{subject.file_name}: {fields_of(error)}") from error
    text = f"Question: {pair.question}\nAnswer: {pair.answer}"
    if trouble := _too_long(text, text):
        raise DocumentRejected("TOO_LONG", f"{subject.file_name}: {trouble}")
    metadata: dict[str, MetadataValue] = {
        **pair.tags,
        "source_id": subject.file_name.removesuffix(".json"),
        **_given(department_id=pair.department_id, conversation_id=pair.conversation_id),
    }
    language = pair.language or language_of(f"{pair.question} {pair.answer}")
    passage = Passage(_chunk_of(0, 0, text, text, language), metadata)
    report = (PageReport(1, len(text)),)
    return JsonSource(pair.question, [passage], Findings(DocumentStatus.READY, None, 1, report))


def _open_knowledge(subject: Subject, value: object) -> Source:
    if not isinstance(value, list):
        raise DocumentRejected("INVALID_FIELDS", f"{subject.file_name}: a knowledge file is a list of chunks.")
    passages: list[Passage] = []
    report: list[PageReport] = []
    seen: set[str] = set()
    position = 0
    for number, entry in enumerate(value, start=1):
        chunk, trouble = _read_chunk(entry, seen)
        if chunk is None or not chunk.is_active or not chunk.metadata.is_active:
            detail = f"chunk {_name_of(entry, number)}: {trouble}" if trouble else "inactive"
            report.append(PageReport(number, 0, "failed" if trouble else "empty", detail))
            continue
        characters = 0
        for language, variant in chunk.languageVariants.items():
            embedded = chunk.embeddingStrings.semantic or variant.text
            made = _chunk_of(len(passages), position, variant.text, embedded, language)
            passages.append(Passage(made, _knowledge_metadata(chunk)))
            position = made.char_end + 2  # a blank line between passages, as between pages
            characters += len(variant.text)
        report.append(PageReport(number, characters))
    return JsonSource(subject.file_name, passages, _knowledge_findings(subject, report, len(passages)))


def _read_chunk(entry: object, seen: set[str]) -> tuple[KnowledgeChunk | None, str]:
    """Return the chunk, or what is wrong with it."""
    try:
        chunk = KnowledgeChunk.model_validate(entry)
    except ValidationError as error:
        return None, fields_of(error)
    if chunk.metadata.chunk_id in seen:
        return None, "metadata.chunk_id: an earlier chunk of this file has it already"
    seen.add(chunk.metadata.chunk_id)
    for language, variant in chunk.languageVariants.items():
        trouble = _too_long(variant.text, chunk.embeddingStrings.semantic or variant.text)
        if trouble:
            return None, f"languageVariants.{language}.text: {trouble}"
    return chunk, ""


def _knowledge_metadata(chunk: KnowledgeChunk) -> dict[str, MetadataValue]:
    about = chunk.metadata
    return {
        **chunk.tags,
        "source_id": about.chunk_id,
        "title": about.title or about.chunk_id,
        **_given(chapter=about.chapter, department_id=about.department_id),
    }


def _knowledge_findings(subject: Subject, report: Sequence[PageReport], passages: int) -> Findings:
    failed = [page for page in report if page.state == "failed"]
    if not failed:
        return Findings(DocumentStatus.READY, None, len(report), tuple(report))
    more = f" (and {len(failed) - 1} more, see the report)" if len(failed) > 1 else ""
    error = DocumentError(
        "INVALID_CHUNKS",
        f"{len(failed)} of {len(report)} chunks of {subject.file_name} were left out: {failed[0].detail}{more}",
    )
    status = DocumentStatus.PARTIAL if passages else DocumentStatus.FAILED
    return Findings(status, error, len(report), tuple(report))


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
        return f"at most {MAX_TEXT_BYTES:,} bytes of text are taken: split it"
    if _tokens_in(embedded) > MAX_TOKENS:
        return f"at most {MAX_TOKENS:,} tokens are taken: split it"
    return ""


def _given(**values: str) -> Mapping[str, str]:
    return {name: value for name, value in values.items() if value}


def _name_of(entry: Any, number: int) -> str:
    try:
        return f"{entry['metadata']['chunk_id']!r:.80} (number {number})"
    except (TypeError, KeyError, IndexError):
        return f"number {number}"
