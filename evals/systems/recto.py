"""Recto without Lambda: the deployed pipelines, in this process, on Pinecone's emulator."""

import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ulid import ULID

from evals.context import SystemContext
from evals.data import PdfQuestion
from evals.storage import file_hash, source_hash
from evals.systems.base import Ingested, RankedChunk, SearchResult, pages_by_share
from evals.systems.memory import LocalObjects, MemoryEmbeddingCache, MemoryRegistry, NoConversations
from evals.systems.peers import versions_of
from functions.ingest import pipeline
from functions.ingest.changes import document_ref_of
from functions.ingest.embedding import BatchEmbedder, KnownVectors
from functions.ingest.lease import InvocationTime
from functions.query.answer import Answer, Question, SourcesFound
from functions.query.pipeline import answer_events, answer_question
from functions.query.ports import ConversationStore, QueryPorts, ReadableCatalogue
from functions.query.retrieval.passages import Passage
from local.pinecone.app import create_app
from local.pinecone.database import Database
from local.serving import serving
from local.stack import pinecone_index
from shared.adapters.aws import SystemClock
from shared.adapters.cross_encoder import MODEL, OnnxReranker
from shared.adapters.pinecone import PineconeIndex
from shared.deadline import Deadline
from shared.errors import DocumentRejected
from shared.models import Citation, DocumentStatus, Filter, Principal, VectorRecord
from shared.ports import CatalogueEntry, Embedder, UnfinishedIngest
from shared.settings import Settings
from shared.telemetry import VERSION

TENANT = "evals"
USER = "evals"
GENERATION = "1"
NO_HURRY = InvocationTime(lambda: 86_400.0)
NO_BUDGET = 10**7
NO_THRESHOLD = 1e-9
"""The threshold for runs that must not refuse for lack of relevance."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a tenant's documents by the query pipeline; `names` maps document ids to file names."""

    ports: QueryPorts
    tenant: str
    names: Mapping[str, str]

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Return the best `k` passages of the pipeline, and what it does with the question at its own settings.

        For the ranking nothing is refused, and the context budget cuts nothing off. Whether it refuses, and the time,
        come from a second run with the real settings.
        """
        document_id = next((key for key, name in self.names.items() if name == doc), "none")
        wanted: Filter | None = {"document_id": {"$eq": document_id}} if doc else None
        ranked = self.ranking(question, k, filter=wanted)
        answer = self.answer(question, filter=wanted)
        return SearchResult(
            hits=[self._ranked_chunk(passage) for passage in ranked],
            snippets=[" ".join(passage.text.split())[:300] for passage in ranked],
            score=answer.decision.score if answer.decision else None,
            refused=answer.no_relevant_info,
            milliseconds=dict(answer.timings_ms),
        )

    def ranking(self, question: str, k: int, *, filter: Filter | None = None) -> Sequence[Passage]:
        """Return the best `k` passages, however low their scores; no answer is written from them."""
        ports = self._with(score_threshold=-1.0, context_budget_tokens=NO_BUDGET)
        deadline = Deadline(ports.clock, ports.settings.request_deadline_s)
        emitted = answer_events(Question(question, top_k=k, filter=filter), self._who, ports, deadline)
        return next((event.sources for event in emitted if isinstance(event, SourcesFound)), ())

    def answer(self, question: str, *, filter: Filter | None = None, refusing: bool = True) -> Answer:
        """Run the pipeline once; unless `refusing`, it answers from any passage that is about the question's names."""
        ports = self.ports if refusing else self._with(score_threshold=NO_THRESHOLD)
        deadline = Deadline(ports.clock, ports.settings.request_deadline_s)
        return answer_question(Question(question, filter=filter), self._who, ports, deadline)

    def nearest_statement(self, question: str, *, filter: Filter | None = None) -> float | None:
        """Return the similarity of the nearest statement of a question that the threshold refuses; None if it does not.

        None, too, if a second look has nothing to compare.
        """
        ports = self._with(statement_threshold=0.0)
        deadline = Deadline(ports.clock, ports.settings.request_deadline_s)
        answer = answer_question(Question(question, filter=filter), self._who, ports, deadline)
        return max(answer.decision.near_statements.values(), default=None) if answer.decision else None

    def is_expected(self, question: PdfQuestion, citations: Sequence[Citation]) -> bool:
        """Whether one of the citations stands on a page that the question names."""
        return any(
            self.names.get(citation.document_id) == question.doc
            and any(citation.page_start <= page <= citation.page_end for page in question.pages)
            for citation in citations
        )

    @property
    def _who(self) -> Principal:
        return Principal(self.tenant, USER)

    def _with(self, **changed: object) -> QueryPorts:
        # Built anew, because a copy of settings would keep the threshold that was worked out before.
        return replace(self.ports, settings=Settings.model_construct(**self.ports.settings.model_dump() | changed))

    def _ranked_chunk(self, passage: Passage) -> RankedChunk:
        starts = [(page.number, page.char_start) for page in passage.pages]
        pages = pages_by_share(starts, passage.char_start, passage.char_start + len(passage.text))
        return RankedChunk(
            doc=self.names.get(passage.document_id, passage.document_id),
            pages=pages or range(passage.page_start, passage.page_end + 1),
            score=passage.score,
        )


def query_ports(
    settings: Settings, embedder: Embedder, index: PineconeIndex, registry: ReadableCatalogue
) -> QueryPorts:
    """Wire the query pipeline: conversations and query embeddings are kept for the run only, and no model answers."""
    return QueryPorts(
        settings=settings,
        clock=SystemClock(),
        new_id=lambda: str(ULID()),
        embedder=embedder,
        cache=MemoryEmbeddingCache(),
        search=index,
        registry=registry,
        conversations=cast("ConversationStore", NoConversations()),
        chat=None,
    )


def settings_shown(settings: Settings, mode: str) -> dict[str, object]:
    """Return the settings that influence the figures, as results name them."""
    return {
        "mode": mode,
        "chunk_size_tokens": settings.chunk_size_tokens,
        "chunk_overlap_tokens": settings.chunk_overlap_tokens,
        "top_k": settings.top_k,
        "threshold": settings.threshold,
        "embedding": str(settings.embedding_space),
    }


class RectoInProcess:
    """Ingest and query pipelines wired to each other. An index of its own, in a temporary folder, for each run."""

    name = "recto"

    def __init__(
        self,
        context: SystemContext,
        overrides: Mapping[str, object] | None = None,
        *,
        rerank_path: Path | None = None,
    ) -> None:
        self._context = context
        self._exit = ExitStack()
        space = context.embedder.space
        # Not read from the environment: a shell's variables must not change a figure.
        chosen = {"embedding_model": space.model, "embedding_dimensions": space.dimensions, **(overrides or {})}
        self._settings = Settings.model_construct(**chosen)  # type: ignore[arg-type]
        folder = Path(self._exit.enter_context(tempfile.TemporaryDirectory(prefix="recto-evals-")))
        url = self._exit.enter_context(serving(create_app(Database(folder)), name="Pinecone"))
        pinecone_index.ensure(url, dimension=space.dimensions)
        self._index = _CountingIndex(url)
        self._exit.callback(self._index.close)
        self.registry = MemoryRegistry()
        self.names: dict[str, str] = {}
        ports = query_ports(self._settings, context.embedder, self._index, self.registry)
        if rerank_path is not None:
            ports = replace(ports, reranker=OnnxReranker(rerank_path))
        self.asker = Asker(ports, TENANT, self.names)
        self.versions: Mapping[str, str] = {
            "recto": VERSION,
            "source": source_hash("functions", "shared"),
            **versions_of("pypdfium2", "pypdf", "onnxruntime"),
        }
        self.settings: Mapping[str, object] = {
            **settings_shown(self._settings, "in-process"),
            "graph": context.embedder.graph,
            **({"reranker": file_hash(rerank_path / MODEL)} if rerank_path is not None else {}),
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
            vectors=self._index,
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
        ingested.seconds |= {"embed": embedder.seconds - before, "upsert": self._index.seconds}
        ingested.tokens = embedder.tokens - tokens_before
        ingested.pages = {(self.names[document_id], page) for document_id, page in self._index.pages}
        return ingested

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Ask the query pipeline."""
        return self.asker.search(question, k, doc=doc)

    def close(self) -> None:
        """Stop the emulator and remove its folder."""
        self._exit.close()

    def _ingest(self, path: Path, key: str, dependencies: pipeline.IngestDependencies, ingested: Ingested) -> None:
        ref, head = document_ref_of(key), dependencies.objects.head(key)
        if ref is None or head is None:
            ingested.problems[path.name] = "the key is not one that is ingested"
            return
        unfinished = UnfinishedIngest(GENERATION, head.version_id, "", 0)
        job = pipeline.BuildJob(ref, TENANT, head, unfinished, {}, KnownVectors(), lambda *_: None, NO_HURRY)
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
        if built.chunk_count:
            self.registry.put(
                TENANT,
                CatalogueEntry(
                    ref.document_id,
                    key,
                    built.title,
                    GENERATION,
                    built.chunk_count,
                    built.language,
                    card=built.card,
                    page_count=built.extracted.page_count,
                ),
            )


class _CountingIndex(PineconeIndex):
    """An index that counts the seconds of writing and remembers which pages were written, by document id."""

    def __init__(self, host: str) -> None:
        super().__init__(host=host, api_key="local")
        self.pages: set[tuple[str, int]] = set()
        self.seconds = 0.0

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        """Write records."""
        started = time.perf_counter()
        super().upsert(namespace=namespace, records=records)
        self.seconds += time.perf_counter() - started
        for record in records:
            first, last = record.metadata["page_start"], record.metadata["page_end"]
            if isinstance(first, int) and isinstance(last, int):
                self.pages |= {(str(record.metadata["document_id"]), page) for page in range(first, last + 1)}
