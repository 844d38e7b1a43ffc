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
from local.openai.extractive import as_claims, as_text, conversation_reply, pick, read_prompt
from local.openai.pictures import description


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What is sent back, whole or in chunks."""

    id: str
    created: int
    model: str
    text: str
    finish_reason: str
    prompt_tokens: int

    def head(self, kind: str) -> dict[str, Any]:
        """Return the fields that a whole response and a chunk share."""
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": "fp_extractive",
        }

    @property
    def usage(self) -> dict[str, Any]:
        """OpenAI's usage object."""
        completion = tokens.count(self.text)
        details = ("reasoning_tokens", "audio_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens")
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": dict.fromkeys(details, 0),
        }


def answer(request: ChatRequest) -> ChatAnswer:
    """Compose the answer from the sources in the prompt."""
    text = description(request.texts, request.images) if request.images else conversation_reply(request.texts)
    if not text:
        picks = pick(*read_prompt(request.texts))
        text = orjson.dumps(as_claims(picks)).decode() if request.json else as_text(picks)
    for stop in request.stops:
        text = text.split(stop, 1)[0]
    reason = "stop"
    ids = tokens.encode(text)
    if request.max_tokens is not None and len(ids) > request.max_tokens:
        text = tokens.decode(ids[: request.max_tokens]).removesuffix("\ufffd")
        reason = "length"
    identity = f"chatcmpl-{uuid.uuid4().hex[:29]}"
    return ChatAnswer(identity, int(time.time()), request.model, text, reason, request.prompt_tokens)


def whole(answer: ChatAnswer) -> dict[str, Any]:
    """Return the body of a response that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}
    return answer.head("chat.completion") | {"choices": [choice], "usage": answer.usage}


def chunks(answer: ChatAnswer, *, include_usage: bool) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed response, word by word."""

    def event(choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> bytes:
        body = answer.head("chat.completion.chunk") | {"choices": choices}
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
