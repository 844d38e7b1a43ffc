"""Where the query function is wired: clients are built once per container and tied to ports."""

from dataclasses import dataclass, replace
from functools import cache, partial
from threading import Thread

from ulid import ULID

from functions.query.pipeline import QueryPorts
from shared.adapters.aws import SystemClock, dynamodb_client, s3_client, secrets_client
from shared.adapters.cache import DynamoEmbeddingCache
from shared.adapters.conversations import DynamoConversationStore
from shared.adapters.documents import DynamoDocumentRegistry
from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.pinecone import PineconeIndex, resolve_host
from shared.adapters.s3 import S3Objects
from shared.adapters.secrets import OPENAI_API_KEY, PINECONE_API_KEY, read_secret
from shared.adapters.tenants import DynamoTenantViews, view_as_set
from shared.errors import RectoError
from shared.models import EmbeddingSpace
from shared.ports import ChatModel, Clock, ConversationStore, DocumentRegistry, ObjectStore, ViewReader
from shared.settings import Settings
from shared.telemetry import logger

DYNAMODB_READ_TIMEOUT_S = 2.0
WARM_UP_S = 6.0


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes use. Providers are reached for on the first question, so that the rest works without keys."""

    settings: Settings
    clock: Clock
    registry: DocumentRegistry
    conversations: ConversationStore
    objects: ObjectStore
    views: ViewReader

    def query_ports(self, tenant: str) -> QueryPorts:
        """Return the pipeline's ports for the tenant's current view, built on first use.

        Raises `ConfigurationError` or `DependencyError`.
        """
        view = self.views.current(tenant)
        return replace(_query_ports(view.index, view.space), view=view)


def new_ulid() -> str:
    """Return a ULID: 26 characters that sort by time, also within one millisecond of one process."""
    return str(ULID())


@cache
def services() -> Services:
    """Build clients once; settings are read from the environment."""
    settings = Settings()
    clock = SystemClock()
    dynamodb = dynamodb_client(read_timeout_s=DYNAMODB_READ_TIMEOUT_S)
    return Services(
        settings=settings,
        clock=clock,
        registry=DynamoDocumentRegistry(dynamodb, settings.documents_table, clock),
        conversations=DynamoConversationStore(dynamodb, settings.conversations_table),
        objects=S3Objects(s3_client(), settings.bucket),
        views=DynamoTenantViews(dynamodb, settings.documents_table, clock, partial(view_as_set, settings)),
    )


def warm() -> None:
    """Build everything while the container starts, when time is not the caller's; what fails is tried again later.

    Gives up waiting after `WARM_UP_S`, because Lambda ends an initialisation after 10 seconds.
    """

    def build() -> None:
        try:
            settings = services().settings
            _query_ports(settings.pinecone_index, settings.embedding_space)
        except RectoError as error:
            logger.error("not ready", extra={"code": error.code, "error": error.message})

    builder = Thread(target=build, daemon=True)
    builder.start()
    builder.join(WARM_UP_S)


@cache
def _query_ports(index: str, space: EmbeddingSpace) -> QueryPorts:
    wired = services()
    settings = wired.settings.for_space(index, space)
    settings.threshold  # noqa: B018  an uncalibrated model fails here, before anything is asked
    secret = read_secret(secrets_client(), settings.secret_id, required=(OPENAI_API_KEY, PINECONE_API_KEY))
    pinecone_key = secret[PINECONE_API_KEY]
    chat: ChatModel | None = None
    if settings.chat_model:
        chat = OpenAIChatModel(
            base_url=settings.chat_base_url or settings.openai_base_url,
            api_key=secret.get("CHAT_API_KEY") or secret[OPENAI_API_KEY],
            model=settings.chat_model,
        )
    return QueryPorts(
        settings=settings,
        clock=wired.clock,
        new_id=new_ulid,
        embedder=OpenAIEmbedder(
            base_url=settings.openai_base_url, api_key=secret[OPENAI_API_KEY], space=settings.embedding_space
        ),
        cache=DynamoEmbeddingCache(
            dynamodb_client(read_timeout_s=DYNAMODB_READ_TIMEOUT_S), settings.cache_table, wired.clock
        ),
        search=PineconeIndex(host=resolve_host(settings, pinecone_key), api_key=pinecone_key),
        registry=wired.registry,
        conversations=wired.conversations,
        chat=chat,
    )
