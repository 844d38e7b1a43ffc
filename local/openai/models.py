"""The models the emulator serves, and the checks of a request's `model`."""

from dataclasses import dataclass
from typing import Any

from local.openai.errors import ModelApiError, invalid_type

MINILM = "all-MiniLM-L6-v2"
EXTRACTIVE = "extractive-minilm"
_CREATED = 1_630_000_000  # the month MiniLM was published; any constant will do


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model's name and its vectors' size. `max_dimensions` 0 means `dimensions` may not be sent."""

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


def known_model(name: object) -> str:
    """Return the name of a model that exists. Raises `ModelApiError`: 400 for no name, 404 for an unknown one."""
    if name is None or name == "":
        raise ModelApiError(400, "you must provide a model parameter")
    if not isinstance(name, str):
        raise invalid_type("model", "a string", name)
    if name not in EMBEDDING_MODELS and name not in CHAT_MODELS:
        message = f"The model `{name}` does not exist or you do not have access to it."
        raise ModelApiError(404, message, code="model_not_found")
    return name


def describe(name: str) -> dict[str, Any]:
    """Return OpenAI's model object. Raises `ModelApiError`."""
    return {"id": known_model(name), "object": "model", "created": _CREATED, "owned_by": "recto-emulator"}


def describe_all() -> dict[str, Any]:
    """Return OpenAI's list of models."""
    return {"object": "list", "data": [describe(name) for name in (*EMBEDDING_MODELS, *CHAT_MODELS)]}
