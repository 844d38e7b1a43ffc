"""Answers `POST /v1/chat/completions` extractively, whole or as server-sent chunks."""

import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from local.openai import tokens
from local.openai.chat_request import ChatRequest
from local.openai.engine import EmbeddingEngine
from local.openai.extractive import as_claims, as_text, conversing, pick, read_prompt

_FINGERPRINT = "fp_extractive"


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What is sent back, whole or in chunks."""

    id: str
    created: int
    model: str
    text: str
    finish_reason: str
    prompt_tokens: int

    @property
    def usage(self) -> dict[str, Any]:
        """OpenAI's usage object."""
        completion = tokens.count(self.text)
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }


def answer(request: ChatRequest, engine: EmbeddingEngine) -> ChatAnswer:
    """Compose the answer from the sources in the prompt."""
    text = conversing(request.texts) or _answered(request, engine)
    for stop in request.stops:
        text = text.split(stop, 1)[0]
    reason = "stop"
    ids = tokens.encode(text)
    if request.max_tokens is not None and len(ids) > request.max_tokens:
        text = tokens.decode(ids[: request.max_tokens]).removesuffix("\ufffd")
        reason = "length"
    identity = f"chatcmpl-{uuid.uuid4().hex[:29]}"
    return ChatAnswer(identity, int(time.time()), request.model, text, reason, request.prompt_tokens)


def _answered(request: ChatRequest, engine: EmbeddingEngine) -> str:
    picks = pick(*read_prompt(request.texts), engine)
    return orjson.dumps(as_claims(picks)).decode() if request.json else as_text(picks)


def whole(answer: ChatAnswer) -> dict[str, Any]:
    """Return the body of a response that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None, "annotations": []}
    return {
        "id": answer.id,
        "object": "chat.completion",
        "created": answer.created,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}],
        "usage": answer.usage,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }


def chunks(answer: ChatAnswer, *, include_usage: bool) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed response, word by word."""

    def event(choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> bytes:
        body: dict[str, Any] = {
            "id": answer.id,
            "object": "chat.completion.chunk",
            "created": answer.created,
            "model": answer.model,
            "service_tier": "default",
            "system_fingerprint": _FINGERPRINT,
            "choices": choices,
        }
        if include_usage:
            body["usage"] = usage
        return b"data: " + orjson.dumps(body) + b"\n\n"

    def delta(content: dict[str, Any], finish_reason: str | None = None) -> bytes:
        return event([{"index": 0, "delta": content, "logprobs": None, "finish_reason": finish_reason}])

    yield delta({"role": "assistant", "content": "", "refusal": None})
    for piece in re.findall(r"\s*\S+|\s+\Z", answer.text):
        yield delta({"content": piece})
    yield delta({}, answer.finish_reason)
    if include_usage:
        yield event([], answer.usage)
    yield b"data: [DONE]\n\n"
