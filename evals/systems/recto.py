"""Recto without Lambda: the same pipelines, in this process, on Pinecone's emulator."""

import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ulid import ULID

from evals.cache import source_hash
from evals.emulator import running_index
from evals.memory import LocalObjects, MemoryConversations, MemoryEmbeddingCache, MemoryRegistry
from evals.systems.asking import Asker
from evals.systems.base import Found, Ingested, SystemContext
from evals.systems.chunked import versions_of
from functions.ingest import pipeline
from functions.ingest.changes import document_ref_of
from functions.ingest.deadline import Deadline
from functions.ingest.embedding import BatchEmbedder, KnownVectors
from functions.query.ports import QueryPorts
from shared.adapters.aws import SystemClock
from shared.adapters.pinecone import PineconeIndex
from shared.errors import DocumentRejected
from shared.models import Document, DocumentStatus, VectorRecord
from shared.ports import UnfinishedIngest
from shared.settings import Settings
from shared.telemetry import VERSION

TENANT = "evals"
GENERATION = "1"
NO_HURRY = Deadline(lambda: 86_400.0)


class RectoInProcess:
    """Ingest and query pipelines wired to each other. An index of its own, in a temporary folder, for each run."""

    name = "recto"

    def __init__(self, context: SystemContext, overrides: Mapping[str, object] | None = None) -> None:
        self._context = context
        self._exit = ExitStack()
        space = context.embedder.space
        # Not read from the environment: what a shell happens to hold must not change a figure.
        chosen = {"embedding_model": space.model, "embedding_dimensions": space.dimensions, **(overrides or {})}
        self._settings = Settings.model_construct(**chosen)  # type: ignore[arg-type]
        folder = self._exit.enter_context(tempfile.TemporaryDirectory(prefix="recto-evals-"))
        serving = running_index(Path(folder), dimensions=space.dimensions)
        index = PineconeIndex(host=self._exit.enter_context(serving), api_key="local")
        self._index = index
        self._exit.callback(index.close)
        self._writer = _TimedWriter(index)
        self.registry = MemoryRegistry()
        self.names: dict[str, str] = {}
        ports = QueryPorts(
            settings=self._settings,
            clock=SystemClock(),
            new_id=lambda: str(ULID()),
            embedder=context.embedder,
            cache=MemoryEmbeddingCache(),
            search=index,
            registry=self.registry,
            conversations=MemoryConversations(),
            chat=None,
        )
        self.asker = Asker(ports, TENANT, self.names)
        self.versions: Mapping[str, str] = {
            "recto": VERSION,
            "source": source_hash("functions", "shared"),
            **versions_of("pypdfium2", "pypdf", "onnxruntime"),
        }
        self.settings: Mapping[str, object] = {
            "mode": "in-process",
            "chunk_size_tokens": self._settings.chunk_size_tokens,
            "chunk_overlap_tokens": self._settings.chunk_overlap_tokens,
            "top_k": self._settings.top_k,
            "threshold": self._settings.threshold,
            "embedding": str(space),
            "graph": context.embedder.graph,
        }

    @property
    def threshold(self) -> float:
        """The similarity under which nothing is answered."""
        return self._settings.threshold

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Build each PDF's vectors with the ingest pipeline, and publish them."""
        keys = {path: f"uploads/{TENANT}/{path.name}" for path in pdfs}
        embedder = self._context.embedder
        dependencies = pipeline.IngestDependencies(
            objects=LocalObjects({key: path for path, key in keys.items()}),
            embedder=BatchEmbedder(embedder, time.sleep, random.random),
            vectors=self._writer,
            reader=self._index,
            sleep=time.sleep,
            clock=SystemClock(),
            settings=self._settings,
        )
        before, tokens_before = embedder.seconds, embedder.tokens
        ingested = Ingested(seconds={"parse": 0.0, "build": 0.0})
        for number, path in enumerate(pdfs):
            self._context.progress(f"recto: ingesting {path.name}", number, len(pdfs))
            self._ingest(path, keys[path], dependencies, ingested)
        self._context.progress("recto: ingesting", len(pdfs), len(pdfs))
        ingested.seconds |= {"embed": embedder.seconds - before, "upsert": self._writer.seconds}
        ingested.tokens = embedder.tokens - tokens_before
        ingested.pages = self._writer.pages(self.names)
        return ingested

    def search(self, question: str, k: int, *, doc: str | None = None) -> Found:
        """Ask the query pipeline."""
        document_id = next((key for key, name in self.names.items() if name == doc), "none") if doc else None
        return self.asker.search(question, k, document_id=document_id)

    def close(self) -> None:
        """Stop the emulator and remove its folder."""
        self._exit.close()

    def _ingest(self, path: Path, key: str, dependencies: pipeline.IngestDependencies, ingested: Ingested) -> None:
        ref, head = document_ref_of(key), dependencies.objects.head(key)
        if ref is None or head is None:
            ingested.problems[path.name] = "the key is not one that is ingested"
            return
        unfinished = UnfinishedIngest(GENERATION, head.version_id, "", 0)
        job = pipeline.BuildJob(ref, TENANT, head, unfinished, {}, KnownVectors(), lambda _done, _bound: None, NO_HURRY)
        self.names[ref.document_id] = path.name
        started = time.perf_counter()
        try:
            built = pipeline.build(job, dependencies)
        except DocumentRejected as rejected:
            ingested.problems[path.name] = f"{rejected.reason_code}: {rejected.message}"
            return
        finally:
            ingested.seconds["build"] += time.perf_counter() - started
        ingested.chunks += built.chunk_count
        ingested.seconds["parse"] += sum(page.seconds for page in built.extracted.report)
        if built.status is not DocumentStatus.READY:
            reason = f": {built.error.message}" if built.error else ""
            ingested.problems[path.name] = f"{built.status.value}{reason}"
        self.registry.put(
            Document(
                TENANT,
                ref.document_id,
                key,
                built.status,
                title=built.title,
                generation=GENERATION if built.chunk_count else "",
                chunk_count=built.chunk_count,
                page_count=built.extracted.page_count,
            )
        )


class _TimedWriter:
    """A `VectorWriter` that counts its seconds and remembers which pages were written."""

    def __init__(self, index: PineconeIndex) -> None:
        self._index = index
        self._pages: set[tuple[str, int]] = set()
        self.seconds = 0.0

    def pages(self, names: Mapping[str, str]) -> set[tuple[str, int]]:
        """Return the pages that some chunk covers, by file name."""
        return {(names[document_id], page) for document_id, page in self._pages}

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        """Write records."""
        started = time.perf_counter()
        self._index.upsert(namespace=namespace, records=records)
        self.seconds += time.perf_counter() - started
        for record in records:
            first, last = record.metadata["page_start"], record.metadata["page_end"]
            if isinstance(first, int) and isinstance(last, int):
                self._pages |= {(str(record.metadata["document_id"]), page) for page in range(first, last + 1)}

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        """Delete records."""
        self._index.delete(namespace=namespace, ids=ids)

    def list_ids(self, *, namespace: str, prefix: str) -> Iterator[Sequence[str]]:
        """Yield ids."""
        return self._index.list_ids(namespace=namespace, prefix=prefix)
