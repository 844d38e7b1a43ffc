"""The query function's wiring: clients are built once per container and tied to ports.

Clients connect on first use. Where containers start from a snapshot of a started one (SnapStart), the snapshot holds no
connection and no key, and each container makes its own: `before_snapshot` and `after_restore`.
"""

import random
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from contextvars import Context
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from threading import Lock

from ulid import ULID

from functions.query.grounding.checking import EntailmentChecker, ModelChecker
from functions.query.ports import (
    ApiKeyRegister,
    ChangeNotifier,
    ChatModel,
    ClaimChecker,
    ConversationStore,
    ErasureRegister,
    EventSender,
    FeedbackStore,
    HandoffStore,
    IdFactory,
    IndexVersionReader,
    KnowledgeVersion,
    ObjectStore,
    PassageEdits,
    QueryPorts,
    Reranker,
    RulesInForce,
    UnansweredLog,
    UsageLog,
)
from functions.query.readable import ReadableDocuments
from functions.query.understanding.glossary import CachedGlossaries
from shared import language
from shared.adapters.api_keys import DynamoApiKeys
from shared.adapters.aws import (
    SystemClock,
    dynamodb_client,
    events_client,
    forget_clients,
    s3_client,
    secrets_client,
    sqs_client,
)
from shared.adapters.cache import CACHE_TIMEOUT_S, DynamoAnswerCache, DynamoEmbeddingCache
from shared.adapters.conversations import DynamoConversationStore
from shared.adapters.cross_encoder import OnnxEntailment, OnnxReranker
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.erasures import DynamoErasures
from shared.adapters.events import EventBridgeSender
from shared.adapters.feedback import DynamoFeedbackStore
from shared.adapters.folder_rules import DynamoFolderRules
from shared.adapters.handoffs import DynamoHandoffStore
from shared.adapters.index_versions import DynamoIndexVersions, configured_index_version
from shared.adapters.openai import ModelTraits, OpenAIChatModel, OpenAIEmbedder
from shared.adapters.openai_responses import OpenAIResponsesModel
from shared.adapters.passage_edits import DynamoPassageEdits
from shared.adapters.pinecone import PineconeIndex, PineconeReranker, resolve_host
from shared.adapters.provider_health import HEALTH
from shared.adapters.retry import CircuitBreaker, Guard, Retry
from shared.adapters.s3 import S3Objects, S3SmallObjects
from shared.adapters.secrets import CHAT_KEYS, CHECK_API_KEY, OPENAI_API_KEY, PINECONE_API_KEY, Secret, read_secret
from shared.adapters.sqs import SqsChangeNotifier
from shared.adapters.unanswered import DynamoUnansweredLog
from shared.adapters.usage import DynamoUsage
from shared.deadline import Deadline, Workers, call_within
from shared.errors import ConfigurationError, RectoError
from shared.models import EmbeddingSpace, Principal
from shared.ports import Clock
from shared.settings import Settings
from shared.telemetry import logger

DYNAMODB_TIMEOUT_S = 2.0
DYNAMODB_SHARE = 1 / 12
"""Share of the deadline for one DynamoDB attempt: a request calls DynamoDB several times."""
DYNAMODB_ATTEMPTS = 2
"""Attempts per read or write: a pooled connection may be dead, and more attempts would use up the deadline."""
S3_TIMEOUT_S = 5.0
"""Deleting takes two requests; two attempts of each stay within the deadline."""
EVENTS_TIMEOUT_S = 2.0
"""A hand-off does not wait longer for its event: it is valid without."""
CACHE_OPEN_S = 10.0
GLOSSARY_TIMEOUT_S = 1.0
"""Seconds a question waits for the glossary; a late one is skipped."""
BUILD_S = 12.0
"""Seconds a request waits at most for the clients, which are built once per container with calls to two vendors."""
SECRET_S = 10.0
"""Seconds that reading the secret may take; after that, the next request builds the clients."""
PING_TIMEOUT_S = 3.0
"""Seconds that each provider has to answer when an administrator asks for their health."""
WARM_UP_S = 6.0
"""Seconds that `warm_up` waits at most: Lambda allows 10 for initialisation, and 10 for a restore."""


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes use. Vendor clients are built for the first question, so all other routes work without keys.

    `registry` shows what everybody of a tenant may read, until `for_reader` says who reads.
    """

    settings: Settings
    clock: Clock
    registry: ReadableDocuments
    conversations: ConversationStore
    feedback: FeedbackStore
    objects: ObjectStore
    changes: ChangeNotifier
    edits: PassageEdits
    index_versions: IndexVersionReader
    knowledge: KnowledgeVersion
    usage: UsageLog
    api_keys: ApiKeyRegister
    new_id: IdFactory
    handoffs: HandoffStore
    events: EventSender
    unanswered: UnansweredLog
    erasures: ErasureRegister
    rules: RulesInForce

    def for_reader(self, principal: Principal) -> "Services":
        """Return the services for one principal: the registry shows them what they may read."""
        return replace(self, registry=self.registry.for_reader(principal))

    def query_ports(self, tenant: str, deadline: Deadline | None = None) -> QueryPorts:
        """Return the pipeline's ports for the tenant's current index version, built on first use.

        Raises `ConfigurationError` or `DependencyError`.
        """
        version = self.index_versions.current(tenant)
        timeout_s = BUILD_S if deadline is None else deadline.cut("providers", BUILD_S, reserve_s=1.0)
        ports = _ports_of(version.index, version.space, timeout_s)
        return replace(
            ports,
            index_version=version,
            knowledge=self.knowledge,
            registry=self.registry,
            is_restricted=partial(self.index_versions.is_restricted, tenant),
        )

    def ask_providers(self) -> Mapping[str, date]:
        """Send each provider a cheap request, so that its health is known; return the last days of retiring models.

        Failures are in `HEALTH`. Raises `ConfigurationError` or `DependencyError` if the clients cannot be built.
        """
        ports = _ports_of(self.settings.pinecone_index, self.settings.embedding_space, BUILD_S)
        asked = [_WORKERS.submit(_last_day, client) for client in (ports.embedder, ports.chat, ports.rewriter)]
        if isinstance(ports.search, PineconeIndex):
            with suppress(RectoError):
                ports.search.ping(timeout_s=PING_TIMEOUT_S)
        return dict(filter(None, (future.result() for future in asked)))


@cache
def configured() -> Settings:
    """Read the settings from the environment, once."""
    return Settings()


@cache
def services() -> Services:
    """Build what every route needs, once."""
    settings = configured()
    clock = SystemClock()
    timeout_s = min(DYNAMODB_TIMEOUT_S, settings.request_deadline_s * DYNAMODB_SHARE)
    dynamodb = dynamodb_client(
        read_timeout_s=timeout_s,
        connect_timeout_s=timeout_s,
        attempts=DYNAMODB_ATTEMPTS,
        call_s=timeout_s * DYNAMODB_ATTEMPTS,
    )
    index_versions = DynamoIndexVersions(
        dynamodb, settings.documents_table, clock, partial(configured_index_version, settings)
    )
    conversations = DynamoConversationStore(dynamodb, settings.conversations_table)
    return Services(
        settings=settings,
        clock=clock,
        registry=ReadableDocuments(DynamoDocumentRegistry(dynamodb, settings.documents_table, clock)),
        conversations=conversations,
        feedback=DynamoFeedbackStore(dynamodb, settings.conversations_table),
        objects=S3Objects(s3_client(read_timeout_s=S3_TIMEOUT_S, attempts=2, call_s=2 * S3_TIMEOUT_S), settings.bucket),
        edits=DynamoPassageEdits(dynamodb, settings.documents_table, clock),
        changes=SqsChangeNotifier(sqs_client(), settings.queue_url),
        index_versions=index_versions,
        knowledge=index_versions,
        # One attempt: a second one could count a question twice.
        usage=DynamoUsage(
            dynamodb_client(read_timeout_s=timeout_s, connect_timeout_s=timeout_s, attempts=1, call_s=timeout_s),
            settings.conversations_table,
        ),
        api_keys=DynamoApiKeys(dynamodb, settings.conversations_table),
        new_id=lambda: str(ULID()),
        handoffs=DynamoHandoffStore(dynamodb, settings.conversations_table, conversations),
        events=EventBridgeSender(
            events_client(read_timeout_s=EVENTS_TIMEOUT_S, attempts=2, call_s=2 * EVENTS_TIMEOUT_S),
            settings.event_source,
        ),
        unanswered=DynamoUnansweredLog(dynamodb, settings.conversations_table, clock),
        rules=DynamoFolderRules(dynamodb, settings.documents_table),
        erasures=DynamoErasures(dynamodb, settings.conversations_table),
    )


def warm_up() -> None:
    """Build everything while the container starts, so that no request waits; a failed build is retried on demand."""
    language.load()
    try:
        settings = services().settings
        if not settings.is_threshold_measured:
            logger.warning("threshold not measured", extra={"embedding_model": settings.embedding_model})
        _ports_of(settings.pinecone_index, settings.embedding_space, WARM_UP_S)
    except RectoError as error:
        logger.error("not ready", extra={"code": error.code, "error": error.message})


def before_snapshot() -> None:
    """Remove connections and keys before the snapshot; imported modules, models and tables stay."""
    reset()


def after_restore() -> None:
    """Make a restored container independent of the snapshot: new clients, keys and seed, no memory of failures."""
    reset()  # again, because a build that outlasted `WARM_UP_S` may have ended since
    random.seed()  # ours is the operating system's (`retry.draw`); libraries draw their jitter from this one
    warm_up()


def register_snapshot_hooks() -> None:
    """Have Lambda's runtime call both, if it can: its package is part of the managed runtime only."""
    try:
        hooks = import_module("snapshot_restore_py")
    except ModuleNotFoundError:
        return
    hooks.register_before_snapshot(before_snapshot)
    hooks.register_after_restore(after_restore)


def reset() -> None:
    """Close the clients and forget them, so that the next use rebuilds them."""
    with _building_lock:
        for future in _building.values():
            if future.done() and future.exception() is None:
                ports = future.result()
                checker = ports.checker.chat if isinstance(ports.checker, ModelChecker) else None
                for client in (ports.search, ports.embedder, ports.chat, ports.rewriter, ports.reranker, checker):
                    if isinstance(client, PineconeIndex | OpenAIEmbedder | OpenAIChatModel | PineconeReranker):
                        client.close()
        _building.clear()
    HEALTH.forget()
    for cached in (configured, services, _secret, _guard, _traits, _cache_breaker, _glossaries):
        cached.cache_clear()
    forget_clients()


_building: dict[tuple[str, EmbeddingSpace], Future[QueryPorts]] = {}
_building_lock = Lock()
_WORKERS = Workers("build")


def _ports_of(index: str, space: EmbeddingSpace, timeout_s: float) -> QueryPorts:
    """Return the ports of one index, built once in a worker thread; a request waits `timeout_s` at most."""
    key = index, space
    with _building_lock:
        future = _building.get(key)
        if future is None or (future.done() and future.exception() is not None):
            # In an empty context: other requests wait for this build too, so the first one's deadline must not bind it.
            future = _building[key] = Context().run(_WORKERS.submit, _build, index, space)
    return future.result() if future.done() else call_within(timeout_s, "providers", future.result)


def _build(index: str, space: EmbeddingSpace) -> QueryPorts:
    common = services()
    settings = common.settings.for_space(index, space)
    settings.threshold  # noqa: B018  an uncalibrated model fails here, before any call
    secret = _secret()
    pinecone_key = secret.key(PINECONE_API_KEY)
    half_s = CACHE_TIMEOUT_S / 2
    cache_client = dynamodb_client(read_timeout_s=half_s, connect_timeout_s=half_s, attempts=1, call_s=CACHE_TIMEOUT_S)
    cache_args = cache_client, settings.cache_table, common.clock
    return QueryPorts(
        settings=settings,
        clock=common.clock,
        new_id=common.new_id,
        embedder=OpenAIEmbedder(
            base_url=settings.openai_base_url,
            api_key=secret.key(OPENAI_API_KEY),
            space=settings.embedding_space,
            retry=Retry("embeddings", guard=_guard("embeddings")),
        ),
        cache=DynamoEmbeddingCache(*cache_args, breaker=_cache_breaker()),
        answers=DynamoAnswerCache(*cache_args, breaker=_cache_breaker()),
        search=PineconeIndex(host=resolve_host(settings, pinecone_key), api_key=pinecone_key, guard=_guard("vectors")),
        registry=common.registry,
        conversations=common.conversations,
        glossary=_glossaries(),
        chat=_chat_model(settings.chat_model, settings, secret, attempts=2),
        # One attempt: falling back to the heuristic is better than spending the deadline on a second one.
        rewriter=_chat_model(
            settings.chat_model and (settings.rewrite_model or settings.chat_model), settings, secret, attempts=1
        ),
        reranker=_reranker(settings, secret),
        checker=_checker(settings, secret),
    )


def _chat_model(name: str, settings: Settings, secret: Secret, *, attempts: int) -> ChatModel | None:
    """Return the client of a chat model, None without a name."""
    if not name:
        return None
    adapter = OpenAIResponsesModel if settings.chat_api == "responses" else OpenAIChatModel
    return adapter(
        base_url=settings.chat_base_url or settings.openai_base_url,
        api_key=secret.key(*CHAT_KEYS),
        model=name,
        reasoning_effort=settings.reasoning_effort,
        retry=Retry("chat", attempts=attempts, guard=_guard("chat")),
        traits=_traits(name),
    )


def _checker(settings: Settings, secret: Secret) -> ClaimChecker | None:
    """Return what checks unconfirmed claims, None without a model that writes and one that checks.

    Raises `ConfigurationError` if two models would check.
    """
    if settings.check_model and settings.check_path:
        raise ConfigurationError(
            "RECTO_CHECK_MODEL and RECTO_CHECK_PATH name a checker each: leave one of them empty (template parameters "
            "CheckModel and CheckPath)."
        )
    if not settings.chat_model:
        return None
    guard = _guard("check")
    if settings.check_path:
        return EntailmentChecker(OnnxEntailment(Path(settings.check_path), guard=guard), settings.check_threshold)
    if not settings.check_model:
        return None
    chat = OpenAIChatModel(
        base_url=settings.check_base_url or settings.chat_base_url or settings.openai_base_url,
        api_key=secret.key(CHECK_API_KEY, *CHAT_KEYS),
        model=settings.check_model,
        # One attempt: an unchecked claim is marked, which is better than waiting twice.
        retry=Retry("check", attempts=1, guard=guard),
    )
    return ModelChecker(chat)


def _reranker(settings: Settings, secret: Secret) -> Reranker | None:
    """Return the configured reranker, if there is one. Raises `ConfigurationError` if there are two."""
    guard = _guard("rerank")
    if settings.rerank_model and settings.rerank_path:
        raise ConfigurationError(
            "RECTO_RERANK_MODEL and RECTO_RERANK_PATH name a reranker each: leave one of them empty (template "
            "parameters RerankModel and RerankPath)."
        )
    if settings.rerank_path:
        return OnnxReranker(Path(settings.rerank_path), guard=guard)
    if not settings.rerank_model:
        return None
    return PineconeReranker(
        base_url=settings.pinecone_control_url,
        api_key=secret.key(PINECONE_API_KEY),
        model=settings.rerank_model,
        guard=guard,
    )


def _last_day(client: object) -> tuple[str, date] | None:
    """Return a model and the day on which its provider retires it, if it says so."""
    if isinstance(client, OpenAIEmbedder | OpenAIChatModel):
        with suppress(RectoError):  # many compatible servers have no such route
            day = client.shuts_down_on(timeout_s=PING_TIMEOUT_S)
            return (client.model, day) if day else None
    return None


@cache
def _secret() -> Secret:
    """The providers' keys, shared by all clients."""
    settings = services().settings

    def read() -> Mapping[str, str]:
        with closing(secrets_client(call_s=SECRET_S)) as secrets:  # a snapshot must hold no connection
            return read_secret(secrets, settings.secret_id, required=(OPENAI_API_KEY, PINECONE_API_KEY))

    return Secret(read, ttl_s=settings.secret_ttl_s)


@cache
def _guard(dependency: str) -> Guard:
    """One retry budget and circuit breaker per vendor, shared by all index versions."""
    return Guard.of(dependency)


@cache
def _traits(model: str) -> ModelTraits:  # noqa: ARG001  what `cache` tells apart
    """What is known about a chat model, shared by the clients that answer and rewrite."""
    return ModelTraits()


@cache
def _cache_breaker() -> CircuitBreaker:
    return CircuitBreaker("cache", failures_to_open=1, open_s=CACHE_OPEN_S)


@cache
def _glossaries() -> CachedGlossaries:
    """One cache for all tenants and index versions."""
    settings = services().settings
    client = s3_client(read_timeout_s=GLOSSARY_TIMEOUT_S, connect_timeout_s=GLOSSARY_TIMEOUT_S, attempts=1)
    objects = S3SmallObjects(client, settings.bucket)
    return CachedGlossaries(objects, services().clock, ttl_s=settings.glossary_ttl_s)
