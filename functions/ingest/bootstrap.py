"""Where the ingest function is wired: clients are built once per container and tied to ports."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial

from ulid import ULID

from functions.ingest.deadline import heartbeat
from functions.ingest.delivery import Batch
from functions.ingest.embedding import BatchEmbedder
from functions.ingest.pipeline import IngestDependencies
from functions.ingest.ports import ChangeQueue, ChunkVectorCache, VectorNamespaces
from functions.ingest.reconcile import Reconciler
from functions.ingest.reindex import AutomaticReindex, Reindexer
from functions.ingest.repair import Comparison
from shared.adapters.aws import SystemClock, dynamodb_client, s3_client, secrets_client, sqs_client
from shared.adapters.cache import DynamoChunkVectorCache
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentScan
from shared.adapters.index_versions import DynamoIndexVersions, DynamoReindexProgress, configured_index_version
from shared.adapters.openai import OpenAIEmbedder
from shared.adapters.pinecone import PineconeIndex, resolve_host
from shared.adapters.retry import Retry, draw
from shared.adapters.s3 import S3Objects
from shared.adapters.secrets import OPENAI_API_KEY, PINECONE_API_KEY, read_secret
from shared.adapters.sqs import SqsChangeQueue
from shared.models import EmbeddingSpace, IndexVersion
from shared.ports import Clock
from shared.settings import Settings

DOWNLOAD_READ_TIMEOUT_S = 30.0
PROBE_TIMEOUT_S = 20.0
Heartbeat = Callable[[Callable[[], None]], AbstractContextManager[None]]


@cache
def batch() -> Batch:
    """Build what takes messages, from the environment; what deals with a change notification is built when there is
    one.
    """
    return wire(Settings())


def chunk_cache(settings: Settings, clock: Clock) -> ChunkVectorCache | None:
    """Return the cache of passages' vectors, or None when it is switched off."""
    if not settings.chunk_cache_ttl_s:
        return None
    return DynamoChunkVectorCache(
        dynamodb_client(), settings.cache_table, clock, ttl_s=settings.chunk_cache_ttl_s, sleep=time.sleep
    )


@cache
def scan() -> DynamoDocumentScan:
    """Build the reader of the whole registry, for maintenance."""
    return DynamoDocumentScan(dynamodb_client(), Settings().documents_table, SystemClock())


@cache
def comparison() -> Comparison:
    """Build what compares the bucket with the registry; it needs no provider."""
    settings = Settings()
    listing = S3Objects(s3_client(), settings.bucket)
    return Comparison(scan(), listing, SqsChangeQueue(sqs_client(), settings.queue_url), SystemClock())


@cache
def reindexer() -> Reindexer:
    """Build what re-indexes; providers are reached for when an index version is given up."""
    settings, clock = Settings(), SystemClock()

    def namespaces(index_version: IndexVersion) -> VectorNamespaces:
        vectors = batch().reconciler.workshop.tools_of(index_version).vectors
        assert isinstance(vectors, PineconeIndex)  # noqa: S101 - as `wire` made it
        return vectors

    return Reindexer(
        index_versions=DynamoIndexVersions(
            dynamodb_client(), settings.documents_table, clock, partial(configured_index_version, settings)
        ),
        scan=scan(),
        queue=SqsChangeQueue(sqs_client(), settings.queue_url),
        clock=clock,
        wanted=partial(configured_index_version, settings),
        settings_hash=settings.ingest_settings_hash,
        namespaces=namespaces,
    )


@cache
def renewal() -> AutomaticReindex | None:
    """Build what re-indexes by itself, or None when that is switched off."""
    settings = Settings()
    if not settings.reindex_automatically:
        return None

    def probe() -> None:
        # Building the tools looks whether the index is there and fits; the model is asked for one vector.
        batch().reconciler.tools.embedder.embedder.embed(["Recto"], timeout_s=PROBE_TIMEOUT_S)

    notes = DynamoReindexProgress(dynamodb_client(), settings.documents_table)
    return AutomaticReindex(reindexer(), notes, lambda: sorted(scan().tenants()), probe)


def wire(settings: Settings) -> Batch:
    """Tie clients to ports; the providers' when the first change notification needs them."""
    queue = SqsChangeQueue(sqs_client(), settings.queue_url)

    def keep_beating(beat: Callable[[], None]) -> AbstractContextManager[None]:
        return heartbeat(beat, every_s=settings.lease_s / 3)

    # A little longer than the lease: who takes a message over finds the lease of a dead worker run out.
    return Batch(
        cache(partial(wire_reconciler, settings, queue, keep_beating)),
        queue,
        draw,
        keep_beating,
        visibility_s=settings.lease_s + 10.0,
    )


def wire_reconciler(settings: Settings, queue: ChangeQueue, keep_beating: Heartbeat) -> Reconciler:
    """Build the clients of providers and tables. Raises `ConfigurationError` or `DependencyError`."""
    secret = read_secret(secrets_client(), settings.secret_id, required=(OPENAI_API_KEY, PINECONE_API_KEY))
    clock = SystemClock()
    dynamodb = dynamodb_client()
    objects = S3Objects(s3_client(read_timeout_s=DOWNLOAD_READ_TIMEOUT_S), settings.bucket)

    def tools_with(settings: Settings) -> IngestDependencies:
        embedder = OpenAIEmbedder(
            base_url=settings.openai_base_url,
            api_key=secret[OPENAI_API_KEY],
            space=settings.embedding_space,
            retry=Retry("embeddings", attempts=1),  # `BatchEmbedder` tries again, and knows how to split
        )
        index = PineconeIndex(host=resolve_host(settings, secret[PINECONE_API_KEY]), api_key=secret[PINECONE_API_KEY])
        return IngestDependencies(
            objects=objects,
            embedder=BatchEmbedder(embedder, time.sleep, draw),
            vectors=index,
            reader=index,
            sleep=time.sleep,
            clock=clock,
            settings=settings,
            cache=chunk_cache(settings, clock),
        )

    @cache
    def tools_for(index: str, space: EmbeddingSpace) -> IngestDependencies:
        return tools_with(settings.for_space(index, space))

    return Reconciler(
        fence=DynamoDocumentFence(dynamodb, settings.documents_table, clock),
        queue=queue,
        tools=tools_with(settings),
        index_versions=DynamoIndexVersions(
            dynamodb, settings.documents_table, clock, partial(configured_index_version, settings)
        ),
        tools_for=lambda index_version: tools_for(index_version.index, index_version.space),
        new_id=lambda: str(ULID()),
        heartbeat=keep_beating,
    )
