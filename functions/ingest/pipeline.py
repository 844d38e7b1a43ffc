"""From an object's bytes to vectors under a generation nobody sees yet: download, parse, chunk, embed, upsert.

Pages stream through: while one batch is written, the next ones are at the provider and the parser reads ahead. Never
more than `WINDOW` batches are held, so memory does not grow with the document.
"""

import json
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path

from functions.ingest.changes import DocumentRef
from functions.ingest.deadline import Deadline, OutOfTime
from functions.ingest.embedding import BatchEmbedder, Embedded, KnownVectors, batches, embed_what_is_new
from functions.ingest.ports import ChunkVectorCache, ObjectReader, VectorReader, VectorWriter
from functions.ingest.sources import ExtractionResult, SourceChunk, open_source
from shared.errors import DocumentRejected
from shared.identity import chunk_vector
from shared.models import (
    DocumentError,
    DocumentStatus,
    MetadataValue,
    ObjectHead,
    SparseVector,
    VectorRecord,
    vector_id_of,
)
from shared.ports import Clock, UnfinishedIngest
from shared.settings import Settings
from shared.telemetry import logger

WINDOW = 3
"""Batches in flight: enough to keep provider and parser busy, few enough to keep 256 × 1,536 floats each in memory."""
MAX_METADATA_BYTES = 40 * 1024
"""Pinecone's limit on one vector's metadata."""
DELETE_BATCH = 1_000
FIRST_LOOK_S = 0.1
VISIBLE_WITHIN_S = 30.0
SaveProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IngestDependencies:
    """What building a generation needs."""

    objects: ObjectReader
    embedder: BatchEmbedder
    vectors: VectorWriter
    reader: VectorReader
    sleep: Callable[[float], None]
    clock: Clock
    settings: Settings
    cache: ChunkVectorCache | None = None


@dataclass(slots=True)
class Built:
    """What was built: everything is in the index, nothing of it is visible yet."""

    title: str
    findings: ExtractionResult
    chunk_count: int = 0
    token_count: int = 0
    embedded_tokens: int = 0
    reused: int = 0
    last_written: str = ""
    refused: list[str] = field(default_factory=list)
    languages: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> DocumentStatus:
        """The source's status, lowered when the provider would not take some of it."""
        if self.refused and self.findings.status is DocumentStatus.READY:
            return DocumentStatus.PARTIAL
        return self.findings.status

    @property
    def language(self) -> str:
        """The language most of the text is in, as ISO 639-1; "" when it cannot be told."""
        return max(self.languages, key=lambda name: self.languages[name], default="")

    @property
    def error(self) -> DocumentError | None:
        """The reason for the status, if there is one."""
        if self.refused and self.findings.error is None:
            message = f"{len(self.refused)} of {self.chunk_count} passages could not be embedded: {self.refused[0]}"
            return DocumentError("PASSAGES_REFUSED", message)
        return self.findings.error


@dataclass(frozen=True, slots=True)
class Job:
    """One generation to build from one version, in one index version's namespace.

    Chunks under `unfinished.chunks_done` are in the index already.
    `save_progress(chunks_done, upper_bound)` is called before every write, and raises `LeaseLost` when it must not be.
    """

    subject: DocumentRef
    namespace: str
    head: ObjectHead
    unfinished: UnfinishedIngest
    labels: Mapping[str, str]
    known: KnownVectors
    save_progress: SaveProgress
    deadline: Deadline


def build(job: Job, tools: IngestDependencies) -> Built:
    """Write all of the object's chunks under the job's generation.

    Raises `DocumentRejected` (final), `DependencyError`, `NotFound` (this version is gone), `LeaseLost`, `OutOfTime`.
    """
    settings = tools.settings
    if job.head.size_bytes > settings.max_file_bytes:
        raise DocumentRejected(
            "TOO_LARGE",
            f"The file has {job.head.size_bytes:,} bytes; at most {settings.max_file_bytes:,} are taken. Split it.",
        )
    started = tools.clock.monotonic()
    with tempfile.TemporaryDirectory(prefix="recto-") as folder:
        path = Path(folder) / "object"
        tools.objects.download(job.head, path)
        downloaded = tools.clock.monotonic()
        with open_source(job.subject, path, settings) as source:
            built = Built(source.title, ExtractionResult(DocumentStatus.PROCESSING, None, 0, ()))
            _stream(job, tools, source.title, _counted(source.passages(), built), built)
            built.findings = source.findings()
    _wait_until_visible(job, tools, built.last_written)
    built.seconds = {"download_s": downloaded - started, "build_s": tools.clock.monotonic() - downloaded}
    return built


def _counted(passages: Iterable[SourceChunk], built: Built) -> Iterator[SourceChunk]:
    for passage in passages:
        built.chunk_count += 1
        built.token_count += passage.chunk.token_count
        built.languages[passage.chunk.language] += passage.chunk.token_count
        yield passage


def _stream(job: Job, tools: IngestDependencies, title: str, passages: Iterator[SourceChunk], built: Built) -> None:
    """Embed ahead, write in order: what is counted as done is always a prefix of the document."""
    settings = tools.settings
    done = job.unfinished.chunks_done
    left = dropwhile(lambda passage: passage.chunk.index < done, passages)
    grouped = batches(left, max_inputs=settings.embedding_batch_inputs, max_tokens=settings.embedding_batch_tokens)
    waiting: deque[tuple[int, Future[Embedded]]] = deque()
    pool = ThreadPoolExecutor(WINDOW, thread_name_prefix="embed")
    in_time = True
    try:
        for batch in grouped:
            in_time = not job.deadline.is_near
            if not in_time:
                break  # what is embedded already is still written: it is paid for
            waiting.append(
                (batch[-1].chunk.index + 1, pool.submit(embed_what_is_new, batch, tools.embedder, job.known))
            )
            while len(waiting) >= WINDOW or (waiting and waiting[0][1].done()):
                done = _write(job, tools, title, done, *waiting.popleft(), built)
        while waiting:
            done = _write(job, tools, title, done, *waiting.popleft(), built)
        if not in_time:
            job.save_progress(done, done)
            raise OutOfTime(done)
    finally:
        # Not waited for: when time is short, a request that still runs must not use up what is left of it.
        pool.shutdown(wait=False, cancel_futures=True)


def _write(
    job: Job, tools: IngestDependencies, title: str, done: int, end: int, batch: Future[Embedded], built: Built
) -> int:
    """Write one embedded batch and return how many chunks are done. Raises `OutOfTime` if it is late."""
    try:
        # When time is short already, only what is there is taken.
        embedded = batch.result(timeout=max(0.0, job.deadline.remaining_s() - job.deadline.keep_back_s))
    except FutureTimeout:
        job.save_progress(done, done)
        raise OutOfTime(done) from None
    built.embedded_tokens += embedded.tokens
    built.reused += embedded.reused
    built.refused += [reason for _, reason in embedded.refused]
    records = []
    for passage, vector in embedded.pairs:
        metadata = metadata_of(job, title, passage, created_at=tools.clock.now().isoformat())
        if len(json.dumps(metadata, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
            built.refused.append(f"passage {passage.chunk.index} is larger than the index takes")
            continue
        vector_id = vector_id_of(job.subject.document_id, job.unfinished.generation, passage.chunk.index)
        records.append(VectorRecord(vector_id, vector, metadata, words_of(metadata)))
    job.save_progress(done, end)
    tools.vectors.upsert(namespace=job.namespace, records=records)
    built.last_written = records[-1].id if records else built.last_written
    return end


def _wait_until_visible(job: Job, tools: IngestDependencies, last_written: str) -> None:
    """Wait until readers of the index see what was written: it lags behind, and a pointer to nothing is a gap.

    Writes to a namespace become visible in their order, so the last one stands for all. Waits `VISIBLE_WITHIN_S` at
    most: a passage late by more is found late, which is better than a document that is never published.
    """
    if not last_written:
        return
    wait_s, waited_s = FIRST_LOOK_S, 0.0
    while not tools.reader.fetch(namespace=job.namespace, ids=[last_written]):
        if waited_s >= VISIBLE_WITHIN_S or job.deadline.is_near:
            logger.warning("published before it is visible", extra={"document_id": job.subject.document_id})
            return
        tools.sleep(wait_s)
        waited_s += wait_s
        wait_s = min(2 * wait_s, 2.0)


def metadata_of(job: Job, title: str, passage: SourceChunk, *, created_at: str) -> dict[str, MetadataValue]:
    """Return what is stored beside a vector; all of it can be filtered on, and the text is there whole."""
    chunk = passage.chunk
    return {
        **job.labels,
        "source_id": job.subject.key,
        "title": title,
        **passage.metadata,
        "document_id": job.subject.document_id,
        "generation": job.unfinished.generation,
        "source_type": job.subject.source_type.value,
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
        "text": chunk.text,
        "language": chunk.language,
        "created_at": created_at,
    }


def words_of(metadata: Mapping[str, MetadataValue]) -> SparseVector:
    """Return the sparse part of a vector, from nothing but its metadata: the query function works it out again."""

    def text(name: str) -> str:
        return str(metadata.get(name, ""))

    return chunk_vector(
        text("text"),
        language=text("language"),
        title=text("title"),
        key=text("source_id"),
        section=text("section"),
        cover=text("cover"),
    )


def sweep(vectors: VectorWriter, namespace: str, document_id: str, generation: str, *, start: int, end: int) -> None:
    """Delete a generation's vectors from chunk `start` to before `end`; ids that never came to be are no error."""
    for first in range(start, end, DELETE_BATCH):
        indexes = range(first, min(first + DELETE_BATCH, end))
        vectors.delete(namespace=namespace, ids=[vector_id_of(document_id, generation, index) for index in indexes])
