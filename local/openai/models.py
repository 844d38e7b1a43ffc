"""The models the emulator answers for, and what each may be asked."""

from dataclasses import dataclass
from typing import Any

from local.openai import errors

MINILM = "all-MiniLM-L6-v2"
EXTRACTIVE = "extractive-minilm"
_CREATED = 1_630_000_000  # the month MiniLM was published; any constant will do


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A name clients ask for, and its vectors' size. `max_dimensions` 0 means `dimensions` may not be sent."""

    name: str
    dimensions: int
    max_dimensions: int


EMBEDDING_MODELS = {
    model.name: model
    for model in (
        EmbeddingModel(MINILM, 384, 20_000),  # Pinecone's limit: what an index can hold, the padding can fill
        EmbeddingModel("text-embedding-3-small", 1_536, 1_536),
        EmbeddingModel("text-embedding-3-large", 3_072, 3_072),
        EmbeddingModel("text-embedding-ada-002", 1_536, 0),
    )
}
CHAT_MODELS = (EXTRACTIVE,)


def describe(name: str) -> dict[str, Any]:
    """Return OpenAI's model object. Raises `ModelApiError` 404 for an unknown name."""
    if name not in EMBEDDING_MODELS and name not in CHAT_MODELS:
        raise errors.unknown_model(name)
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "recto-emulator"}


def describe_all() -> dict[str, Any]:
    """Return OpenAI's list of models."""
    return {"object": "list", "data": [describe(name) for name in (*EMBEDDING_MODELS, *CHAT_MODELS)]}
