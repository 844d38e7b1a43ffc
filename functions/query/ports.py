"""What the query line needs from outside, in one value."""

from dataclasses import dataclass

from functions.query.understanding.glossary import GlossarySource
from shared.models import View
from shared.ports import (
    AnswerCache,
    ChatModel,
    Clock,
    ConversationStore,
    DocumentRegistry,
    Embedder,
    EmbeddingCache,
    IdFactory,
    KnowledgeVersion,
    Reranker,
    VectorSearch,
)
from shared.settings import Settings


@dataclass(frozen=True, slots=True)
class QueryPorts:
    """Everything the line needs from outside. `chat` is None where answers are extractive.

    `answers` and `knowledge` belong together: without either, no answer is kept for later. Without a `rewriter`
    follow-ups are made to stand alone by a heuristic.

    `view` is the view of the tenant's documents that is searched; `search`, `embedder` and `settings` fit it. None
    means the first one.
    """

    settings: Settings
    clock: Clock
    new_id: IdFactory
    embedder: Embedder
    cache: EmbeddingCache
    search: VectorSearch
    registry: DocumentRegistry
    conversations: ConversationStore
    chat: ChatModel | None
    view: View | None = None
    answers: AnswerCache | None = None
    knowledge: KnowledgeVersion | None = None
    rewriter: ChatModel | None = None
    glossary: GlossarySource | None = None
    reranker: Reranker | None = None
