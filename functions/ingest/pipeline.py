"""Builds one generation of a document, not yet published: download, parse, chunk, embed, upsert.

Pages are streamed: while one batch is written, the next ones are being embedded and the parser reads ahead. At most
`WINDOW` batches are held, so memory does not grow with the document.
"""

import json
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import DocumentRef
from functions.ingest.chunking import tokens
from functions.ingest.embedding import BatchEmbedder, Embedded, KnownVectors, batches, embed_new
from functions.ingest.figures import DescribedFigure
from functions.ingest.lease import InvocationTime, OutOfTime
from functions.ingest.parsing.wire import RawPage
from functions.ingest.ports import ChunkVectorCache, ObjectReader, VectorReader, VectorWriter
from functions.ingest.sources import ExtractionResult, SourceChunk, open_source, prepare
from shared.errors import DependencyError, DocumentRejected
from shared.identity import chunk_vector
from shared.models import (
    Chunk,
    DocumentError,
    DocumentStatus,
    Edits,
    Labels,
    MetadataValue,
    ObjectHead,
    PagesRead,
    SparseVector,
    Usage,
    VectorRecord,
    content_hash_of,
    vector_id_of,
)
from shared.ports import Clock, UnfinishedIngest, UsageRecorder
from shared.prices import cost_usd
from shared.settings import Settings
from shared.telemetry import logger, metrics
from shared.text import counted

WINDOW = 3
"""Batches in flight: enough to keep provider and parser busy, few enough to keep 256 × 1,536 floats each in memory."""
MAX_METADATA_BYTES = 40 * 1024
"""Pinecone's limit on one vector's metadata."""
FIRST_VISIBILITY_WAIT_S = 0.1
LONGEST_VISIBILITY_WAIT_S = 2.0
VISIBLE_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class IngestDependencies:
    """What building a generation needs, for one embedding space and one index."""

    objects: ObjectReader
    embedder: BatchEmbedder
    vectors: VectorWriter
    reader: VectorReader
    sleep: Callable[[float], None]
    clock: Clock
    settings: Settings
    cache: ChunkVectorCache | None = None
    usage: UsageRecorder | None = None


class ProgressSaver(Protocol):
    """Records how far a generation is; for people, up to which page, if that is known."""

    def __call__(self, chunks_done: int, upper_bound: int, progress: PagesRead | None = None) -> None:
        """Record it. Raises `LeaseLost`."""


@dataclass(frozen=True, slots=True)
class BuildJob:
    """One generation to build from one version of an object, in the namespace of one index version.

    Chunks under `unfinished.chunks_done` are in the index already. `save_progress` is called before every write, and
    raises `LeaseLost` if the write must not be made. `corrections` are the texts that replace
    passages, by the hash of the original text; `edits` names all passages that were ever edited. `read_pages` are the
    pages that OCR has read, by number; `figures` the figures that a model was asked about.
    """

    ref: DocumentRef
    namespace: str
    head: ObjectHead
    unfinished: UnfinishedIngest
    labels: Labels
    known: KnownVectors
    save_progress: ProgressSaver
    deadline: InvocationTime
    edits: Edits = MappingProxyType({})
    corrections: Mapping[str, str] = MappingProxyType({})
    read_pages: Mapping[int, RawPage] = MappingProxyType({})
    figures: Sequence[DescribedFigure] = ()


@dataclass(slots=True)
class BuiltGeneration:
    """A generation that is in the index and not published yet. `edited` is that of `Published`."""

    title: str
    extracted: ExtractionResult
    card: Labels = MappingProxyType({})
    chunk_count: int = 0
    token_count: int = 0
    embedded_tokens: int = 0
    reused: int = 0
    last_written: str = ""
    refused: list[str] = field(default_factory=list)
    languages: Counter[str] = field(default_factory=Counter)
    edited: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> DocumentStatus:
        """The source's status, lowered when the provider refused some of it."""
        if self.refused and self.extracted.status is DocumentStatus.READY:
            return DocumentStatus.PARTIAL
        return self.extracted.status

    @property
    def language(self) -> str:
        """The language of most of the text, as ISO 639-1; "" if unknown."""
        return max(self.languages, key=lambda name: self.languages[name], default="")

    @property
    def error(self) -> DocumentError | None:
        """The reason for the status, if there is one."""
        if self.refused and self.extracted.error is None:
            refused = f"{len(self.refused)} of {counted(self.chunk_count, 'chunk')}"
            return DocumentError("CHUNKS_REFUSED", f"{refused} could not be embedded: {self.refused[0]}")
        return self.extracted.error


def build(job: BuildJob, dependencies: IngestDependencies) -> BuiltGeneration:
    """Write all of the object's chunks under the job's generation.

    Raises `DocumentRejected` (final), `DependencyError`, `NotFound` (this version is gone), `LeaseLost`, `OutOfTime`.
    """
    clock, settings = dependencies.clock, dependencies.settings
    if job.head.size_bytes > settings.max_file_bytes:
        raise DocumentRejected(
            "TOO_LARGE",
            f"The file has {job.head.size_bytes:,} bytes; at most {settings.max_file_bytes:,} are accepted. Split it.",
        )
    started = clock.monotonic()
    with tempfile.TemporaryDirectory(prefix="recto-") as folder:
        # 1. Download exactly the version that was looked at.
        path = Path(folder) / "object"
        prepare(job.ref)
        dependencies.objects.download(job.head, path)
        downloaded = clock.monotonic()
        # 2. Parse and 3. chunk: lazily, as the next steps ask for more.
        with open_source(job.ref, path, settings, job.read_pages, job.figures) as source:
            unread = ExtractionResult(DocumentStatus.PROCESSING, None, 0, ())
            built = BuiltGeneration(source.title, unread, source.card)
            # 4. Embed and 5. upsert, batch by batch.
            chunks = _counted(_edited(source.chunks, job, built), built)
            _embed_and_upsert(job, dependencies, chunks, built, source.page_count)
            built.extracted = source.result()
    # 6. Wait until the index shows what was written.
    _wait_until_visible(job, dependencies, built.last_written)
    built.seconds = {"download_s": downloaded - started, "build_s": clock.monotonic() - downloaded}
    return built


def _edited(chunks: Iterator[SourceChunk], job: BuildJob, built: BuiltGeneration) -> Iterator[SourceChunk]:
    """Replace passages by their corrections, and record which of the edited passages are there."""
    for each in chunks:
        original_hash = content_hash_of(each.chunk.text) if job.edits else ""
        if original_hash in job.edits:
            built.edited.setdefault(original_hash, each.chunk.index)
        correction = job.corrections.get(original_hash)
        yield each if correction is None else corrected(each, original_hash, correction)


def corrected(source_chunk: SourceChunk, original_hash: str, text: str) -> SourceChunk:
    """Return a chunk with another text in its place: embedded anew, under the same title and section."""
    chunk = source_chunk.chunk
    embedded = chunk.embedded_text.removesuffix(chunk.text) + text if chunk.embedded_text.endswith(chunk.text) else text
    made = replace(
        chunk,
        text=text,
        embedded_text=embedded,
        token_count=len(tokens.encoding().encode_ordinary(text)),
        content_hash=content_hash_of(embedded),
        rects="",  # the page says something else
    )
    marks = {"edit": content_hash_of(text), "original_hash": original_hash}
    return replace(source_chunk, chunk=made, metadata={**source_chunk.metadata, **marks})


def _counted(chunks: Iterator[SourceChunk], built: BuiltGeneration) -> Iterator[SourceChunk]:
    for each in chunks:
        built.chunk_count += 1
        built.token_count += each.chunk.token_count
        built.languages[each.chunk.language] += each.chunk.token_count
        yield each


def _embed_and_upsert(
    job: BuildJob,
    dependencies: IngestDependencies,
    chunks: Iterator[SourceChunk],
    built: BuiltGeneration,
    page_count: int,
) -> None:
    """Embed ahead, write in order: the chunks counted as done are always a prefix of the document.

    How many pages it has is recorded before the first of several batches is embedded.
    """
    settings = dependencies.settings
    start = done = job.unfinished.chunks_done
    furthest = 0  # page: described figures come last, and are of earlier ones

    def left() -> Iterator[SourceChunk]:
        nonlocal furthest
        for each in chunks:
            if each.chunk.index >= start:
                yield each
            else:
                furthest = max(furthest, each.chunk.page_end)

    grouped = batches(left(), max_inputs=settings.embedding_batch_inputs, max_tokens=settings.embedding_batch_tokens)
    embedding: deque[tuple[Chunk, int, Future[Embedded]]] = deque()
    is_told = not page_count or done > 0
    pool = ThreadPoolExecutor(WINDOW, thread_name_prefix="embed")
    in_time = True
    try:
        for batch in grouped:
            in_time = not job.deadline.is_near
            if not in_time:
                break  # batches already embedded are still written: they are paid for
            future = pool.submit(embed_new, batch, dependencies.embedder, job.known)
            furthest = max(furthest, *(each.chunk.page_end for each in batch))
            embedding.append((batch[-1].chunk, furthest, future))
            if len(embedding) > 1 and not is_told:
                job.save_progress(done, done, PagesRead(1, page_count))
                is_told = True
            while len(embedding) >= WINDOW or (embedding and embedding[0][-1].done()):
                done = _upsert(job, dependencies, done, *embedding.popleft(), built, page_count)
        while embedding:
            done = _upsert(job, dependencies, done, *embedding.popleft(), built, page_count)
        if not in_time:
            job.save_progress(done, done)
            raise OutOfTime(done)
    finally:
        # Do not wait: when time is short, a running request must not use up the rest of it.
        pool.shutdown(wait=False, cancel_futures=True)


def _record_usage(tenant: str, tokens: int, dependencies: IngestDependencies) -> None:
    """Record the tokens of a batch when they are spent, published or not. A failure is only logged."""
    if dependencies.usage is None or not tokens:
        return
    model, usage = dependencies.settings.embedding_model, Usage(input_tokens=tokens)
    metrics.add_metric("EmbeddedTokens", MetricUnit.Count, tokens)
    metrics.add_metric("CostUsd", MetricUnit.Count, cost_usd(model, usage) or 0.0)
    try:
        dependencies.usage.record(tenant, "", {model: usage}, questions=0, now=dependencies.clock.now())
    except DependencyError as error:
        logger.error("usage not counted", extra={"tenant": tenant, "tokens": tokens, "error": error.message})


def _upsert(
    job: BuildJob,
    dependencies: IngestDependencies,
    done: int,
    last: Chunk,
    page: int,
    batch: Future[Embedded],
    built: BuiltGeneration,
    page_count: int,
) -> int:
    """Write the chunks from `done` to `last`; return how many are done. Raises `OutOfTime` if they come too late."""
    end = last.index + 1
    try:
        # When time is short already, only a batch that is ready is written.
        embedded = batch.result(timeout=max(0.0, job.deadline.remaining_s() - job.deadline.keep_back_s))
    except FutureTimeout:
        job.save_progress(done, done)
        raise OutOfTime(done) from None
    built.embedded_tokens += embedded.tokens
    _record_usage(job.ref.tenant, embedded.tokens, dependencies)
    built.reused += embedded.reused
    built.refused += [reason for _, reason in embedded.refused]
    records = list(_records_of(embedded, job, built, dependencies.clock))
    job.save_progress(done, end, PagesRead(page, page_count) if page_count else None)
    dependencies.vectors.upsert(namespace=job.namespace, records=records)
    built.last_written = records[-1].id if records else built.last_written
    return end


def _records_of(embedded: Embedded, job: BuildJob, built: BuiltGeneration, clock: Clock) -> Iterator[VectorRecord]:
    """Yield the record of each embedded chunk; one that is too large for the index counts as refused."""
    for each, vector in embedded.pairs:
        metadata = metadata_of(job, built, each, created_at=clock.now().isoformat())
        if not _fits(metadata):
            metadata.pop("rects", None)  # the text without its place on the page is better than neither
        if "rects" not in metadata and not _fits(metadata):
            built.refused.append(f"chunk {each.chunk.index} is larger than the index accepts")
            continue
        vector_id = vector_id_of(job.ref.document_id, job.unfinished.generation, each.chunk.index)
        yield VectorRecord(vector_id, vector, metadata, _sparse_vector_of(metadata))


def _fits(metadata: Mapping[str, MetadataValue]) -> bool:
    return len(json.dumps(metadata, ensure_ascii=False).encode()) <= MAX_METADATA_BYTES


def _wait_until_visible(job: BuildJob, dependencies: IngestDependencies, last_written: str) -> None:
    """Wait until the index, which is eventually consistent, returns the last vector written.

    Writes to a namespace become visible in order, so the last one is enough. Waits `VISIBLE_WITHIN_S` at most: a chunk
    that becomes visible later is better than a document that is never published.
    """
    if not last_written:
        return
    wait_s, waited_s = FIRST_VISIBILITY_WAIT_S, 0.0
    while not dependencies.reader.fetch(namespace=job.namespace, ids=[last_written]):
        if waited_s >= VISIBLE_WITHIN_S or job.deadline.is_near:
            logger.warning("published before its vectors are visible", extra={"document_id": job.ref.document_id})
            return
        dependencies.sleep(wait_s)
        waited_s += wait_s
        wait_s = min(2 * wait_s, LONGEST_VISIBILITY_WAIT_S)


def metadata_of(
    job: BuildJob, built: BuiltGeneration, source_chunk: SourceChunk, *, created_at: str
) -> dict[str, MetadataValue]:
    """Return a vector's metadata: every field can be filtered on, and `text` is the whole chunk."""
    chunk = source_chunk.chunk
    return {
        **built.card,
        **job.labels,
        "source_id": job.ref.key,
        "title": built.title,
        **source_chunk.metadata,
        "document_id": job.ref.document_id,
        "object_key": job.ref.key,
        "version_id": job.head.version_id,
        "generation": job.unfinished.generation,
        "source_type": job.ref.source_type.value,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "page_label": chunk.page_label,
        "pages": [str(page) for page in chunk.pages],
        "section": chunk.section,
        "sections": [str(section) for section in chunk.sections],
        "chunk_index": chunk.index,
        "token_count": chunk.token_count,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "content_hash": chunk.content_hash,
        **({"rects": chunk.rects} if chunk.rects else {}),
        **({"table": chunk.table} if chunk.table else {}),
        "text": chunk.text,
        "language": chunk.language,
        "created_at": created_at,
    }


def _sparse_vector_of(metadata: Mapping[str, MetadataValue]) -> SparseVector:
    """Return a vector's sparse part, from its metadata alone, so that the query function can compute it again."""

    def text(name: str) -> str:
        return str(metadata.get(name, ""))

    return chunk_vector(
        text("text"),
        language=text("language"),
        title=text("title"),
        key=text("source_id"),
        section=text("section"),
        cover=text("cover"),
        table=text("table"),
    )
