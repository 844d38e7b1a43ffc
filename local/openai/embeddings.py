"""`POST /v1/embeddings`: checks a request as OpenAI does, and answers it with MiniLM."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from local.openai import tokens
from local.openai.engine import EmbeddingEngine, resize
from local.openai.errors import ModelApiError, invalid_type, invalid_value
from local.openai.models import CHAT_MODELS, EMBEDDING_MODELS, EmbeddingModel, known_model

# https://platform.openai.com/docs/api-reference/embeddings/create
MAX_INPUTS = 2_048
MAX_INPUT_TOKENS = 8_192
MAX_REQUEST_TOKENS = 300_000


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A valid request: its texts, and the tokens they are billed for."""

    model: EmbeddingModel
    texts: list[str]
    dimensions: int
    base64: bool
    total_tokens: int


def parse(body: Mapping[str, Any]) -> EmbeddingRequest:
    """Check a request's body. Raises `ModelApiError` with OpenAI's message."""
    name = known_model(body.get("model"))
    if name in CHAT_MODELS:
        raise ModelApiError(403, "You are not allowed to generate embeddings from this model")
    model = EMBEDDING_MODELS[name]
    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        message = f"Invalid value: '{encoding}'. Supported values are: 'float' and 'base64'."
        raise invalid_value("encoding_format", message)
    dimensions = _dimensions(model, body.get("dimensions"))
    texts, counts = _inputs(body.get("input"))
    longest, total = max(counts), sum(counts)
    if longest > MAX_INPUT_TOKENS:
        raise ModelApiError(
            400,
            f"This model's maximum context length is {MAX_INPUT_TOKENS} tokens, however you requested {longest} tokens "
            f"({longest} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
        )
    if total > MAX_REQUEST_TOKENS:
        kind = "max_tokens_per_request"
        message = f"Requested {total} tokens, max {MAX_REQUEST_TOKENS} tokens per request"
        raise ModelApiError(400, message, type=kind, code=kind)
    return EmbeddingRequest(model, texts, dimensions, encoding == "base64", total)


def answer(request: EmbeddingRequest, engine: EmbeddingEngine) -> dict[str, Any]:
    """Return the response's body; vectors are numpy rows or base64 of little-endian float32."""
    vectors = np.ascontiguousarray(resize(engine.embed(request.texts), request.dimensions), np.dtype("<f4"))
    rows = (base64.b64encode(row.tobytes()).decode() if request.base64 else row for row in vectors)
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)],
        "model": request.model.name,
        "usage": {"prompt_tokens": request.total_tokens, "total_tokens": request.total_tokens},
    }


def _dimensions(model: EmbeddingModel, wanted: object) -> int:
    if wanted is None:
        return model.dimensions
    if not model.max_dimensions:
        raise ModelApiError(400, "This model does not support specifying dimensions.")
    if isinstance(wanted, bool) or not isinstance(wanted, int):
        raise invalid_type("dimensions", "an integer", wanted)
    if wanted < 1:
        raise ModelApiError(400, f"{wanted} is less than the minimum of 1 - 'dimensions'")
    if wanted > model.max_dimensions:
        limit = f"Must be less than or equal to {model.max_dimensions}."
        raise ModelApiError(400, f"Invalid value for 'dimensions' = {wanted}. {limit}")
    return wanted


def _inputs(value: object) -> tuple[list[str], list[int]]:
    """Return the texts and their token counts. OpenAI has one message for every invalid `input`."""
    invalid = ModelApiError(
        400, "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference."
    )
    one = isinstance(value, str) or (isinstance(value, list) and value and _is_token(value[0]))
    items: Any = [value] if one else value  # one text, or one array of tokens
    if not isinstance(items, list) or not 0 < len(items) <= MAX_INPUTS or not all(items):
        raise invalid
    if all(isinstance(item, str) for item in items):
        return items, [tokens.count(item) for item in items]
    if all(isinstance(item, list) and all(map(_is_token, item)) for item in items):
        try:
            return [tokens.decode(item) for item in items], [len(item) for item in items]
        except ValueError:
            raise invalid from None
    raise invalid


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
