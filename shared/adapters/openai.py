"""OpenAI's embeddings and chat, or any compatible server, behind the ports `Embedder` and `ChatModel`.

Responses are read as plain JSON (`with_raw_response`): compatible servers send fields that the package's models do not
know, and validating a batch of vectors with pydantic takes longer than sending it.
`OPENAI_API_KEY` and `CHAT_API_KEY` are names in the Secrets Manager secret; the key itself is an argument. Nothing is
logged here.
"""

import base64
import binascii
import contextlib
import hashlib
import json
import math
import sys
import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shared.adapters.openai_server import OpenAIServer, RefusedParameter
from shared.adapters.provider_health import HEALTH
from shared.adapters.retry import Retry
from shared.adapters.secrets import ApiKey
from shared.errors import DependencyError, DependencyRefused, DependencyUnavailable
from shared.models import NO_USAGE, ChatMessage, Completion, Embeddings, EmbeddingSpace, ModelRequest, Usage
from shared.reasoning import without_reasoning

if TYPE_CHECKING:
    from openai import OpenAI

type Ask = Callable[[dict[str, Any], "OpenAI", float], Iterator[str | Completion]]
"""Sends a body with a client, within seconds."""

_UNIT_TOLERANCE = 1e-6  # a vector this close to unit length is left as it came
REASONING_ROOM = 4_096
"""Output tokens for reasoning, which count against the limit: models were seen to spend 700 to 2,500 on an answer."""
_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
"""Two names of one parameter: some servers refuse the one, some the other."""


class OpenAIEmbedder:
    """`Embedder` over the embeddings API; one request a call, vectors as base64.

    `base_url` ends in `/v1`. `timeout_s` of a call bounds all its attempts and waits together.
    """

    def __init__(
        self, *, base_url: str, api_key: str | ApiKey, space: EmbeddingSpace, retry: Retry | None = None
    ) -> None:
        self._space = space
        self._retry = retry or Retry("embeddings")
        self._server = OpenAIServer(self._retry.dependency, base_url, api_key, "OPENAI_API_KEY")

    @property
    def model(self) -> str:
        """The model's name as sent to the provider."""
        return self._space.model

    @property
    def space(self) -> EmbeddingSpace:
        """The model and dimensions asked for; an answer of another size is an error."""
        return self._space

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        """Return one unit vector a text, in order; `space.dimensions` floats each, all finite.

        Raises `DependencyError`. OpenAI's limits: 2,048 texts, 8,192 tokens per text, 300,000 tokens.
        """
        if not texts:
            return Embeddings((), Usage())
        body: dict[str, Any] = {"model": self._space.model, "input": list(map(encodable, texts))}
        if self._space.model.startswith("text-embedding-3"):
            body["dimensions"] = self._space.dimensions  # older models and other servers refuse the parameter

        def ask(client: "OpenAI", left_s: float) -> dict[str, Any]:
            create = client.embeddings.with_raw_response.create
            return self._server.json_of(create(**body, encoding_format="base64", timeout=left_s).content)

        answer = self._retry.run(partial(self._server.call, ask, private=texts), timeout_s=timeout_s)
        try:
            return Embeddings(self._vectors(answer.get("data"), len(texts)), usage_of(answer))
        except DependencyError as error:
            HEALTH.failed(error)
            raise

    def shuts_down_on(self, *, timeout_s: float) -> date | None:
        """Return the day on which the provider retires the model, if it says so. Raises `DependencyError`."""
        return self._server.shutdown_date(self._space.model, timeout_s)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _vectors(self, data: object, count: int) -> list[list[float]]:
        if not isinstance(data, list) or len(data) != count:
            got = len(data) if isinstance(data, list) else "no"
            raise self._server.malformed(f"{got} vectors for {count} texts")
        vectors: dict[int, list[float]] = {}
        for item in data:
            index = item.get("index") if isinstance(item, dict) else None
            if not isinstance(index, int) or not 0 <= index < count or index in vectors:
                raise self._server.malformed("a vector without a unique index")
            vectors[index] = self._vector(item.get("embedding"))
        return [vectors[index] for index in range(count)]

    def _vector(self, value: object) -> list[float]:
        try:
            values = _floats(value)
        except (ValueError, TypeError) as error:
            raise self._server.malformed("a vector that is neither base64 nor numbers") from error
        if len(values) != self._space.dimensions:
            raise DependencyRefused(
                "embeddings",
                f"{self._space.model} gives {len(values)} dimensions where {self._space.dimensions} are expected: set "
                "RECTO_EMBEDDING_DIMENSIONS (template parameter EmbeddingDimensions) to what the model gives.",
            )
        norm = math.sqrt(math.sumprod(values, values))
        if not math.isfinite(norm) or norm == 0.0:
            raise self._server.malformed("a vector that is not finite, or zero")
        if abs(norm - 1.0) <= _UNIT_TOLERANCE:
            return list(values)
        return [component / norm for component in values]


class ModelTraits:
    """What is known about a chat model; adapters of the same model share it, for as long as the container lives.

    `refused` are optional parameters that it refuses; `reasons` says that it spends output tokens on reasoning.
    """

    def __init__(self) -> None:
        self.refused: frozenset[str] = frozenset()
        self.reasons = False


def cache_key(messages: Iterable[ChatMessage]) -> str:
    """Return what requests with the same instructions share, so that they reach a server that has them in its cache."""
    instructions = "".join(message.content for message in messages if message.role == "system")
    return hashlib.sha256(instructions.encode("utf-8", "replace")).hexdigest()[:16]


class OpenAIChatModel:
    """`ChatModel` and `StreamingChatModel` over the chat completions API.

    `base_url` ends in `/v1`. A parameter that the model refuses (reasoning models: `temperature`; many servers:
    `response_format`) is left out from then on. `reasoning_effort` is sent unless it is empty. A model that reasons
    gets `REASONING_ROOM` more tokens; an answer that is empty because it had too few is requested once more.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | ApiKey,
        model: str,
        reasoning_effort: str = "",
        retry: Retry | None = None,
        traits: ModelTraits | None = None,
    ) -> None:
        self._model = model
        self._effort = reasoning_effort
        self._retry = retry or Retry("chat", attempts=2)
        self._server = OpenAIServer(self._retry.dependency, base_url, api_key, "CHAT_API_KEY or OPENAI_API_KEY")
        self._traits = traits or ModelTraits()
        self._is_openai = urlsplit(base_url).hostname == "api.openai.com"

    @property
    def model(self) -> str:
        """The model's name as sent to the provider."""
        return self._model

    def complete(self, request: ModelRequest, *, timeout_s: float) -> Completion:
        """Return one completion. `timeout_s` bounds all attempts and waits together. Raises `DependencyError`."""

        def ask(body: dict[str, Any], client: "OpenAI", left_s: float) -> Iterator[str | Completion]:
            yield self._completion(self._server.json_of(self._create(client)(**body, timeout=left_s).content))

        for completion in self._answered(ask, request, timeout_s, is_streamed=False):
            if isinstance(completion, Completion):
                return completion
        raise AssertionError("unreachable: an answer ends with its completion or an error")

    def stream(self, request: ModelRequest, *, timeout_s: float) -> Iterator[str | Completion]:
        """Yield the text piece by piece as it is written, then the whole `Completion`. Raises `DependencyError`.

        The pieces may contain the model's reasoning, which cannot be told apart before it ends; the whole does not.
        `timeout_s` bounds everything from the first attempt to the last piece.
        """

        def ask(body: dict[str, Any], client: "OpenAI", left_s: float) -> Iterator[str | Completion]:
            response = self._create(client)(**body, stream=True, timeout=left_s).http_response
            with contextlib.closing(response):
                kind = response.headers.get("content-type", "")
                if "json" in kind:  # a server that does not stream
                    yield self._completion(self._server.json_of(response.read()))
                elif "text/event-stream" in kind:
                    yield from self._pieces(self._server.events(response.iter_bytes()))
                else:
                    raise self._server.malformed("no stream of events")

        yield from self._answered(ask, request, timeout_s, is_streamed=True)

    def shuts_down_on(self, *, timeout_s: float) -> date | None:
        """Return the day on which the provider retires the model, if it says so. Raises `DependencyError`."""
        return self._server.shutdown_date(self._model, timeout_s)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _answered(
        self, ask: "Ask", request: ModelRequest, timeout_s: float, *, is_streamed: bool
    ) -> Iterator[str | Completion]:
        """Yield the pieces and the completion; ask again, with more room, if reasoning left nothing to show."""
        end = time.monotonic() + timeout_s
        first: Completion | None = None
        for attempt in range(2):
            room = REASONING_ROOM * (attempt + self._traits.reasons)
            wanted = replace(request, max_output_tokens=request.max_output_tokens + room)
            begun, whole = False, None
            try:
                for piece in self._asked(ask, wanted, end - time.monotonic(), is_streamed=is_streamed):
                    if isinstance(piece, Completion):
                        whole = piece
                    else:
                        begun = True
                        yield piece
            except DependencyError:
                if first is None or not first.text:
                    raise
                whole = replace(first, usage=NO_USAGE)
            if whole is None:
                raise self._server.malformed("no completion")
            usage = whole.usage if first is None else first.usage + whole.usage
            whole = replace(whole, usage=usage)
            self._traits.reasons |= usage.reasoning_tokens > 0
            if begun or not _came_short(whole) or (attempt and whole.text):
                yield whole  # when the call has ended: a reader that stops here abandons nothing
                return
            first = whole
        assert first is not None  # noqa: S101 - both attempts came short
        error = DependencyUnavailable(
            self._retry.dependency,
            f"{self._model} wrote nothing, twice (finish_reason {first.finish_reason!r}, reasoning tokens: "
            f"{first.usage.reasoning_tokens}): lower RECTO_REASONING_EFFORT, or raise the limit of output tokens.",
        )
        error.usage = first.usage
        HEALTH.failed(error)
        raise error

    def _asked(
        self, ask: "Ask", request: ModelRequest, timeout_s: float, *, is_streamed: bool
    ) -> Iterator[str | Completion]:
        """Yield what `ask` yields, leaving out the optional parameters that the model refuses.

        If that helped they are left out from then on. (It may not help: an error may name the wrong parameter.)
        """
        end = time.monotonic() + timeout_s
        private = [message.content for message in request.messages]
        refused = self._traits.refused
        while True:
            options = self._options(request, refused, is_streamed=is_streamed)
            sent = {name: value for name, value in options.items() if name not in refused}
            body = {"model": self._model, **self._input(request.messages), **sent}
            call = partial(self._server.stream, partial(ask, body), private=private, optional=sent)
            try:
                yield from self._retry.stream(call, timeout_s=end - time.monotonic())
            except RefusedParameter as error:
                refused |= {error.param}
            else:
                self._traits.refused |= refused
                return

    # What follows is in the words of the chat completions API; `OpenAIResponsesModel` says the same in its own.

    def _create(self, client: "OpenAI") -> Callable[..., Any]:
        return client.chat.completions.with_raw_response.create

    def _input(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        return {"messages": [{"role": each.role, "content": _content(each)} for each in messages]}

    def _options(self, request: ModelRequest, refused: Collection[str], *, is_streamed: bool) -> dict[str, Any]:
        """Return the parameters that can be left out, by name."""
        # OpenAI's newer models accept one name only, most other servers only the other.
        names = _LIMIT_NAMES if self._is_openai else _LIMIT_NAMES[::-1]
        limit_name = next((name for name in names if name not in refused), names[0])
        options: dict[str, Any] = {"temperature": request.temperature, limit_name: request.max_output_tokens}
        if request.response_format is not None:
            options["response_format"] = dict(request.response_format)
        if is_streamed:
            options["stream_options"] = {"include_usage": True}
        if self._effort:
            options["reasoning_effort"] = self._effort
        if self._is_openai:
            options["prompt_cache_key"] = cache_key(request.messages)
        return options

    def _pieces(self, events: Iterator[Any]) -> Iterator[str | Completion]:
        text: list[str] = []
        finish_reason, model, usage = "", self._model, Usage()
        for event in events:
            if event is None:
                finish_reason = finish_reason or "stop"
                break
            model = str(event.get("model") or model)
            if event.get("usage"):
                usage = usage_of(event)
            for choice in _choices(event):
                piece = self._text_of(choice, "delta", "message")
                finish_reason = _finish_reason(choice) or finish_reason
                if piece:
                    text.append(piece)
                    yield piece
        if not finish_reason:
            raise self._server.malformed("the stream ended before it was done")
        yield Completion(without_reasoning("".join(text)), finish_reason, model, usage)

    def _completion(self, answer: Mapping[str, Any]) -> Completion:
        choice = next(iter(_choices(answer)), None)
        if choice is None or not choice.get("message"):
            raise self._server.malformed("no message")
        text = self._text_of(choice, "message")
        return Completion(
            text=without_reasoning(text),
            finish_reason=_finish_reason(choice) or "stop",
            model=str(answer.get("model") or self._model),
            usage=usage_of(answer),
        )

    def _text_of(self, choice: Mapping[str, Any], *names: str) -> str:
        try:
            return _text_of(next((choice[name] for name in names if choice.get(name)), {}))
        except (TypeError, AttributeError, LookupError) as error:
            raise self._server.malformed("a message that is no text") from error


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Return a message's text, or its text and pictures as parts: PNG as data URLs, at `detail` "high".

    As in "Images and vision" (developers.openai.com/api/docs/guides/images-vision) and in the package's
    `ChatCompletionContentPartImageParam` (openai 3.57), read on 2026-11-23: at most 50 MB of pictures in a request.
    """
    text = encodable(message.content)
    if not message.images:
        return text
    urls = [f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in message.images]
    shown = [{"type": "image_url", "image_url": {"url": url, "detail": "high"}} for url in urls]
    return [{"type": "text", "text": text}, *shown]


# --- a message in the forms of many servers -------------------------------------------------------------------------


_TEXT_PARTS = (None, "text", "output_text")
"""Types of a content's parts that are text; thoughts come as parts of their own ("thinking", "reasoning")."""
_FINISH_REASONS = {
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filtered", "guardrail_intervened", "safety", "prohibited_content"), "content_filter"),
    **dict.fromkeys(("end_turn", "stop_sequence", "eos", "eos_token", "completed", "complete"), "stop"),
}
"""OpenAI's names for finish reasons that other servers pass on from their models."""


def _text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, or a delta's: its content, else the arguments of a call, else its refusal.

    Some servers make a tool of the JSON schema. Thoughts in fields of their own (`reasoning_content`, `reasoning`,
    `thinking_blocks`) are never read. Raises `TypeError` for content of any other form.
    """
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(map(_text_of_part, content))
    if content and not isinstance(content, str):
        raise TypeError("content that is no text")
    return content or _arguments(message) or str(message.get("refusal") or "")


def _text_of_part(part: object) -> str:
    if isinstance(part, dict) and part.get("type") in _TEXT_PARTS:
        part = part.get("text")
    return part if isinstance(part, str) else ""


def _arguments(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or [{"function": message.get("function_call")}]
    function = calls[0].get("function") or {}
    arguments = function.get("arguments") or ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _choices(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the choices; Azure sends events without any, or with one that has no delta."""
    choices = answer.get("choices")
    return [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else ()


def _finish_reason(choice: Mapping[str, Any]) -> str:
    reason = str(choice.get("finish_reason") or "").lower()
    return _FINISH_REASONS.get(reason, reason)


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot encode: a PDF's text may hold half a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _came_short(answer: Completion) -> bool:
    """Say whether the limit left no room for the answer, or reasoning took the rest of it."""
    if not answer.text:
        return answer.finish_reason != "content_filter"
    return answer.finish_reason == "length" and answer.usage.reasoning_tokens > 0


def _floats(value: object) -> array[float] | list[float]:
    if isinstance(value, str):
        floats = array("f")
        try:
            floats.frombytes(base64.b64decode(value, validate=True))
        except binascii.Error as error:
            raise ValueError("not base64") from error
        if sys.byteorder == "big":
            floats.byteswap()  # OpenAI's are little-endian
        return floats
    if isinstance(value, list):
        return [float(component) for component in value]
    raise TypeError("not a vector")


def usage_of(answer: Mapping[str, Any]) -> Usage:
    """Read the tokens of either API: `prompt_tokens` and `completion_tokens`, or `input_tokens` and `output_tokens`."""
    usage = _object(answer.get("usage"))
    read, written = ("input", "output") if "input_tokens" in usage else ("prompt", "completion")
    reading, writing = _object(usage.get(f"{read}_tokens_details")), _object(usage.get(f"{written}_tokens_details"))
    return Usage(
        _count(usage, f"{read}_tokens"),
        _count(usage, f"{written}_tokens"),
        cached_tokens=_count(reading, "cached_tokens"),
        cache_write_tokens=_count(reading, "cache_write_tokens"),
        reasoning_tokens=_count(writing, "reasoning_tokens"),
    )


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0
