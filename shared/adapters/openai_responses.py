"""OpenAI's Responses API behind the same port as chat completions (`ChatApi=responses`); nothing is stored there.

OpenAI recommends it for new work; chat completions are what every compatible server speaks, so they are the default.
Field names: `openai.types.responses` (openai 3.57) and developers.openai.com, "Responses".
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shared.adapters.openai import OpenAIChatModel, cache_key, encodable, usage_of
from shared.models import ChatMessage, Completion, ModelRequest
from shared.reasoning import without_reasoning

if TYPE_CHECKING:
    from openai import OpenAI

_TEXT_KINDS = {"output_text": "text", "refusal": "refusal"}
"""Where each part of a message holds its text."""
_FINISH_REASONS = {"max_output_tokens": "length"}
"""Reasons of incomplete responses that have another name in chat completions."""


class OpenAIResponsesModel(OpenAIChatModel):
    """`ChatModel` and `StreamingChatModel` over the Responses API."""

    def _create(self, client: "OpenAI") -> Callable[..., Any]:
        return client.responses.with_raw_response.create

    def _input(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        turns = [{"role": each.role, "content": encodable(each.content)} for each in messages]
        return {"input": turns, "store": False}

    def _options(
        self,
        request: ModelRequest,
        refused: Collection[str],  # noqa: ARG002
        *,
        is_streamed: bool,  # noqa: ARG002
    ) -> dict[str, Any]:
        options: dict[str, Any] = {"temperature": request.temperature, "max_output_tokens": request.max_output_tokens}
        if request.response_format is not None:
            options["text"] = {"format": _flat(request.response_format)}
        if self._effort:
            options["reasoning"] = {"effort": self._effort}
        if self._is_openai:
            options["prompt_cache_key"] = cache_key(request.messages)
        return options

    def _pieces(self, events: Iterator[Any]) -> Iterator[str | Completion]:
        for event in events:
            if not isinstance(event, dict):
                raise self._server.malformed("an event that is no JSON object")
            kind = event.get("type")
            if kind in ("response.output_text.delta", "response.refusal.delta"):
                yield str(event.get("delta") or "")
            elif kind in ("response.completed", "response.incomplete", "response.failed"):
                response = event.get("response")
                yield self._completion(response if isinstance(response, dict) else {})
                return
            elif kind == "error":
                raise self._server.malformed("an error in the middle of the stream")
        raise self._server.malformed("the stream ended before it was done")

    def _completion(self, answer: Mapping[str, Any]) -> Completion:
        if answer.get("status") not in ("completed", "incomplete"):
            raise self._server.malformed(f"a response with status {answer.get('status')!r}")
        stopped = str((answer.get("incomplete_details") or {}).get("reason") or "stop")
        return Completion(
            text=without_reasoning("".join(_texts(answer.get("output")))),
            finish_reason=_FINISH_REASONS.get(stopped, stopped),
            model=str(answer.get("model") or self._model),
            usage=usage_of(answer),
        )


def _flat(response_format: Mapping[str, object]) -> dict[str, object]:
    """Return a chat completion's `response_format` as `text.format`, where the schema's fields are not nested."""
    schema = response_format.get("json_schema")
    inner = schema if isinstance(schema, Mapping) else {}
    return {"type": response_format.get("type"), **inner}


def _texts(output: object) -> Iterator[str]:
    """Yield the texts of the messages; reasoning and other items have none."""
    for item in output if isinstance(output, list) else ():
        parts = item.get("content") if isinstance(item, dict) and item.get("type") == "message" else None
        for part in parts if isinstance(parts, list) else ():
            name = _TEXT_KINDS.get(part.get("type", "")) if isinstance(part, dict) else None
            if name is not None:
                yield str(part.get(name) or "")
