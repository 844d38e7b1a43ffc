"""Where the ingest function is wired: clients are built once per container and tied to ports."""

import time
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from ulid import ULID

from functions.ingest.delivery import Batch
from functions.ingest.embedding import BatchEmbedder
from functions.ingest.erasing import MARGIN_S, WRITERS_S, Eraser
from functions.ingest.figures import FigureDescriber, Figures
from functions.ingest.index_versions import IndexVersionAccess
from functions.ingest.lease import Heartbeat, heartbeat
from functions.ingest.pipeline import IngestDependencies
from functions.ingest.ports import ChangeQueue, ChunkVectorCache, VectorNamespaces
from functions.ingest.reading import Ocr, PageReader, provide_languages
from functions.ingest.reconcile import Reconciler
from functions.ingest.reindex import AutomaticReindex, Reindexer
from functions.ingest.repair import Comparison
from shared.adapters.aws import SystemClock, dynamodb_client, s3_client, secrets_client, sqs_client
from shared.adapters.cache import DynamoChunkVectorCache
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentRegistry, DynamoDocumentScan
from shared.adapters.erasures import DynamoErasures
from shared.adapters.folder_rules import DynamoFolderRules
from shared.adapters.index_versions import DynamoIndexVersions, DynamoReindexProgress, configured_index_version
from shared.adapters.openai import OpenAIEmbedder
from shared.adapters.openai_figures import OpenAIFigureReader
from shared.adapters.passage_edits import DynamoPassageEdits
from shared.adapters.pinecone import PineconeIndex, resolve_host
from shared.adapters.read_pages import DynamoReadPages
from shared.adapters.retry import Retry, draw
from shared.adapters.s3 import S3Objects
from shared.adapters.secrets import CHAT_KEYS, OPENAI_API_KEY, PINECONE_API_KEY, Secret, read_secret
from shared.adapters.sqs import SqsChangeQueue
from shared.adapters.traces import DynamoTraces
from shared.adapters.usage import DynamoUsage
from shared.erasures import signed, signing_key
from shared.models import EmbeddingSpace, IndexVersion
from shared.ports import Clock
from shared.settings import Settings

DOWNLOAD_READ_TIMEOUT_S = 30.0
PROBE_TIMEOUT_S = 20.0
HIDDEN_LONGER_S = 10.0
HEARTBEATS = 3
"""Seconds that a message stays hidden after its lease has expired, and times that a lease is renewed before it
would."""


@cache
def batch() -> Batch:
    """Build the batch processor from the environment."""
    return build_batch(Settings())


def build_batch(settings: Settings) -> Batch:
    """Wire the batch processor; the providers' clients are built when the first change needs them."""
    queue, keep_alive = _queue(settings), partial(heartbeat, every_s=settings.lease_s / HEARTBEATS)
    # Hidden a little longer than the lease: when a dead worker's message reappears, its lease has expired.
    return Batch(
        cache(partial(build_reconciler, settings, queue, keep_alive)),
        queue,
        draw,
        keep_alive,
        visibility_s=settings.lease_s + HIDDEN_LONGER_S,
        build_describer=cache(partial(build_describer, settings, queue)),
    )


def build_describer(settings: Settings, queue: ChangeQueue) -> FigureDescriber | None:
    """Build the describer of figures, None where no model is configured. Raises `DependencyError`."""
    if not settings.figure_model:
        return None
    clock = SystemClock()
    secret = Secret(
        partial(read_secret, secrets_client(), settings.secret_id, required=(OPENAI_API_KEY,)),
        ttl_s=settings.secret_ttl_s,
    )
    return FigureDescriber(
        objects=S3Objects(s3_client(read_timeout_s=DOWNLOAD_READ_TIMEOUT_S), settings.bucket),
        store=_described_figures(settings),
        queue=queue,
        reader=OpenAIFigureReader(
            base_url=settings.figure_base_url or settings.chat_base_url or settings.openai_base_url,
            api_key=secret.key(*CHAT_KEYS),
            model=settings.figure_model,
        ),
        usage=DynamoUsage(dynamodb_client(attempts=1), settings.conversations_table),
        clock=clock,
        max_figures=settings.figure_max_per_document,
    )


def build_reconciler(settings: Settings, queue: ChangeQueue, keep_alive: Heartbeat) -> Reconciler:
    """Build the clients of providers and tables. Raises `ConfigurationError` or `DependencyError`."""
    keys = (OPENAI_API_KEY, PINECONE_API_KEY)
    secret = Secret(
        partial(read_secret, secrets_client(), settings.secret_id, required=keys), ttl_s=settings.secret_ttl_s
    )
    clock = SystemClock()
    objects = S3Objects(s3_client(read_timeout_s=DOWNLOAD_READ_TIMEOUT_S), settings.bucket)

    def dependencies_with(settings: Settings) -> IngestDependencies:
        embedder = OpenAIEmbedder(
            base_url=settings.openai_base_url,
            api_key=secret.key(OPENAI_API_KEY),
            space=settings.embedding_space,
            retry=Retry("embeddings", attempts=1),  # `BatchEmbedder` retries, and can split a batch
        )
        pinecone_key = secret.key(PINECONE_API_KEY)
        index = PineconeIndex(host=resolve_host(settings, pinecone_key), api_key=pinecone_key)
        return IngestDependencies(
            objects=objects,
            embedder=BatchEmbedder(embedder, time.sleep, draw),
            vectors=index,
            reader=index,
            sleep=time.sleep,
            clock=clock,
            settings=settings,
            cache=_chunk_cache(settings, clock),
            # One attempt: a second one could count a batch twice.
            usage=DynamoUsage(dynamodb_client(attempts=1), settings.conversations_table),
        )

    @cache
    def dependencies_at(index: str, space: EmbeddingSpace) -> IngestDependencies:
        return dependencies_with(settings.for_space(index, space))

    return Reconciler(
        fence=DynamoDocumentFence(dynamodb_client(), settings.documents_table, clock),
        queue=queue,
        access=IndexVersionAccess(
            registry=_index_versions(settings),
            configured=dependencies_with(settings),
            build=lambda index_version: dependencies_at(*index_version.location),
        ),
        new_id=lambda: str(ULID()),
        heartbeat=keep_alive,
        apply_rules=partial(DynamoFolderRules(dynamodb_client(), settings.documents_table).apply, objects=objects),
        ocr=Ocr(_read_pages(settings), _ocr_queue(settings) if settings.ocr_queue_url else None),
        figures=Figures(_described_figures(settings), queue if settings.figure_model else None),
    )


@cache
def page_reader() -> PageReader:
    """Build the reader of pages by OCR; it needs no provider."""
    settings = Settings()
    objects = S3Objects(s3_client(read_timeout_s=DOWNLOAD_READ_TIMEOUT_S), settings.bucket)
    return PageReader(
        objects=objects,
        read_pages=_read_pages(settings),
        requests=_ocr_queue(settings),
        changes=_queue(settings),
        languages=settings.ocr_languages,
        max_pages=settings.ocr_max_pages,
        prepare=partial(provide_languages, settings.ocr_languages, objects),
    )


@cache
def scan() -> DynamoDocumentScan:
    """Build the reader of the whole registry, for maintenance."""
    return DynamoDocumentScan(dynamodb_client(), Settings().documents_table, SystemClock())


@cache
def comparison() -> Comparison:
    """Build the comparison of bucket and registry; it needs no provider."""
    settings = Settings()
    rules = DynamoFolderRules(dynamodb_client(), settings.documents_table)
    objects = S3Objects(s3_client(), settings.bucket)
    return Comparison(scan(), objects, _queue(settings), SystemClock(), rules.in_force)


@cache
def reindexer() -> Reindexer:
    """Build the re-indexer; it needs a provider only when an index version is dropped."""
    settings = Settings()

    def namespaces(index_version: IndexVersion) -> VectorNamespaces:
        vectors = batch().reconciler.access.dependencies_of(index_version).vectors
        assert isinstance(vectors, PineconeIndex)  # noqa: S101 - as `build_reconciler` made it
        return vectors

    return Reindexer(
        index_versions=_index_versions(settings),
        scan=scan(),
        queue=_queue(settings),
        clock=SystemClock(),
        configured=partial(configured_index_version, settings),
        settings_hash=settings.ingest_settings_hash,
        namespaces=namespaces,
    )


@cache
def eraser() -> Eraser:
    """Build the finisher of erasures; it needs a provider only when it looks for vectors."""
    settings, clock, dynamodb = Settings(), SystemClock(), dynamodb_client()

    def sign(receipt: Mapping[str, Any]) -> Mapping[str, Any]:
        secret = read_secret(secrets_client(), settings.secret_id)  # each time: a key may have been changed
        return signed(receipt, signing_key(secret))

    return Eraser(
        store=DynamoErasures(dynamodb, settings.conversations_table),
        traces=DynamoTraces(dynamodb, settings.conversations_table, settings.cache_table, settings.chunk_cache_ttl_s),
        objects=S3Objects(s3_client(), settings.bucket),
        registry=DynamoDocumentFence(dynamodb, settings.documents_table, clock),
        edits=DynamoPassageEdits(dynamodb, settings.documents_table, clock),
        access=lambda: batch().reconciler.access,
        queue=_queue(settings),
        unpublish=DynamoDocumentRegistry(dynamodb, settings.documents_table, clock).unpublish,
        sign=sign,
        clock=clock,
        settle_s=max(settings.request_deadline_s, settings.stream_timeout_s, WRITERS_S) + MARGIN_S,
    )


@cache
def automatic_reindex() -> AutomaticReindex | None:
    """Build the automatic re-indexer, or None when it is switched off."""
    settings = Settings()
    if not settings.reindex_automatically:
        return None

    def probe() -> None:
        # Building the dependencies checks that the index exists and fits; the model is asked for one vector.
        batch().reconciler.access.configured.embedder.embedder.embed(["Recto"], timeout_s=PROBE_TIMEOUT_S)

    store = DynamoReindexProgress(dynamodb_client(), settings.documents_table)
    return AutomaticReindex(reindexer(), store, lambda: sorted(scan().tenants()), probe)


def _read_pages(settings: Settings) -> DynamoReadPages:
    return DynamoReadPages(dynamodb_client(), settings.documents_table, SystemClock())


def _described_figures(settings: Settings) -> DynamoReadPages:
    return DynamoReadPages(dynamodb_client(), settings.documents_table, SystemClock(), kind="figure-")


def _ocr_queue(settings: Settings) -> SqsChangeQueue:
    return SqsChangeQueue(sqs_client(), settings.ocr_queue_url)


def _queue(settings: Settings) -> SqsChangeQueue:
    return SqsChangeQueue(sqs_client(), settings.queue_url)


def _index_versions(settings: Settings) -> DynamoIndexVersions:
    configured = partial(configured_index_version, settings)
    return DynamoIndexVersions(dynamodb_client(), settings.documents_table, SystemClock(), configured)


def _chunk_cache(settings: Settings, clock: Clock) -> ChunkVectorCache | None:
    if not settings.chunk_cache_ttl_s:
        return None
    return DynamoChunkVectorCache(dynamodb_client(), settings.cache_table, clock, ttl_s=settings.chunk_cache_ttl_s)
