"""`POST /v1/embeddings`: checks a request as OpenAI does, and answers it with MiniLM."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from local.openai import errors, tokens
from local.openai.engine import EmbeddingEngine, resize
from local.openai.models import CHAT_MODELS, EMBEDDING_MODELS, EmbeddingModel

# https://platform.openai.com/docs/api-reference/embeddings/create
MAX_INPUTS = 2_048
MAX_INPUT_TOKENS = 8_192
MAX_REQUEST_TOKENS = 300_000


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A request that was found good: its texts, and the tokens they are billed for."""

    model: EmbeddingModel
    texts: list[str]
    dimensions: int
    base64: bool
    total_tokens: int


def parse(body: Mapping[str, Any]) -> EmbeddingRequest:
    """Check a request's body. Raises `ModelApiError` with OpenAI's words."""
    model = _model(body.get("model"))
    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise errors.invalid_value(
            "encoding_format",
            f"Invalid value: '{encoding}'. Supported values are: 'float' and 'base64'.",
        )
    dimensions = _dimensions(model, body.get("dimensions"))
    texts, counts = _inputs(body.get("input"))
    longest = max(counts)
    if longest > MAX_INPUT_TOKENS:
        raise errors.input_too_long(MAX_INPUT_TOKENS, longest)
    if sum(counts) > MAX_REQUEST_TOKENS:
        raise errors.request_too_long(MAX_REQUEST_TOKENS, sum(counts))
    return EmbeddingRequest(model, texts, dimensions, encoding == "base64", sum(counts))


def answer(request: EmbeddingRequest, engine: EmbeddingEngine) -> dict[str, Any]:
    """Return the response's body; vectors are numpy rows or base64 of little-endian float32."""
    vectors = np.ascontiguousarray(resize(engine.embed(request.texts), request.dimensions), np.dtype("<f4"))
    return {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.tobytes()).decode() if request.base64 else vector,
            }
            for index, vector in enumerate(vectors)
        ],
        "model": request.model.name,
        "usage": {"prompt_tokens": request.total_tokens, "total_tokens": request.total_tokens},
    }


def _model(name: object) -> EmbeddingModel:
    if name is None or name == "":
        raise errors.missing_model()
    if not isinstance(name, str):
        raise errors.invalid_type("model", "a string", name)
    if name in CHAT_MODELS:
        raise errors.ModelApiError(403, "You are not allowed to generate embeddings from this model")
    if name not in EMBEDDING_MODELS:
        raise errors.unknown_model(name)
    return EMBEDDING_MODELS[name]


def _dimensions(model: EmbeddingModel, asked: object) -> int:
    if asked is None:
        return model.dimensions
    if not model.max_dimensions:
        raise errors.ModelApiError(400, "This model does not support specifying dimensions.")
    if isinstance(asked, bool) or not isinstance(asked, int):
        raise errors.invalid_type("dimensions", "an integer", asked)
    if asked < 1:
        raise errors.ModelApiError(400, f"{asked} is less than the minimum of 1 - 'dimensions'")
    if asked > model.max_dimensions:
        raise errors.ModelApiError(
            400, f"Invalid value for 'dimensions' = {asked}. Must be less than or equal to {model.max_dimensions}."
        )
    return asked


def _inputs(value: object) -> tuple[list[str], list[int]]:
    if isinstance(value, str) or (isinstance(value, list) and value and _is_token(value[0])):
        items: list[Any] = [value]  # one text, or one array of tokens
    elif isinstance(value, list) and value:
        items = value
    else:
        raise errors.invalid_input()
    if len(items) > MAX_INPUTS or not all(items):
        raise errors.invalid_input()
    if all(isinstance(item, str) for item in items):
        return items, [tokens.count(item) for item in items]
    if all(isinstance(item, list) and all(map(_is_token, item)) for item in items):
        try:
            return [tokens.decode(item) for item in items], [len(item) for item in items]
        except ValueError:
            raise errors.invalid_input() from None
    raise errors.invalid_input()


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
