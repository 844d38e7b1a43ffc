"""OpenAI's embeddings and chat, or any compatible server, behind the ports `Embedder` and `ChatModel`.

The client is the official `openai` package, imported when an adapter is built, because importing it is slow. Its own
retries are off: `Retry` decides. Responses are read as plain JSON (`with_raw_response`): compatible servers send fields
that the package's models do not know, and validating a batch of vectors with pydantic takes longer than sending it.
`OPENAI_API_KEY` and `CHAT_API_KEY` are names in the Secrets Manager secret; the key itself is an argument. Nothing is
logged here.
"""

import base64
import binascii
import contextlib
import hashlib
import json
import math
import re
import socket
import ssl
import sys
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache, partial
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

from shared.adapters.provider_health import HEALTH, without_echo
from shared.adapters.retry import Retry
from shared.adapters.secrets import ApiKey, KeyedClient
from shared.errors import (
    ConfigurationError,
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    KeyRefused,
    QuotaExhausted,
    RateLimited,
)
from shared.models import NO_USAGE, ChatMessage, Completion, Embeddings, EmbeddingSpace, Usage
from shared.reasoning import without_reasoning

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

type Ask = Callable[[dict[str, Any], "OpenAI", float], Iterator[str | Completion]]
"""Sends a body with a client, within seconds."""

KEEP_ALIVE_S = 55.0
"""Seconds an idle connection is kept: just under the minute after which load balancers drop it."""
_UNIT_TOLERANCE = 1e-6  # a vector this close to unit length is left as it came
REASONING_ROOM = 4_096
"""Output tokens for reasoning, which count against the limit: models were seen to spend 700 to 2,500 on an answer."""
_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
"""Two names of one parameter: some servers refuse the one, some the other."""
_ALSO_NAMED = {
    "json_schema": ("response_format", "text"),
    "format": ("text",),
    "effort": ("reasoning",),
    "include_usage": ("stream_options",),
}
"""Other wordings with which servers refuse a parameter."""
_REFUSING_STATUSES = (400, 422)
_SCHEMA = ("response_format", "text")
_ABOUT_THE_TEXT = frozenset({"context_length_exceeded", "content_filter", "content_policy_violation"})
"""Codes of refusals that are about what was sent, not about how."""
_OUT_OF_QUOTA = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "project_spend_limit_exceeded",
    }
)
"""Codes and types of a 429 that waiting does not help (help.openai.com, "Troubleshooting API rate limits and 429
errors", read on 2026-11-27: the type "can still be" `insufficient_quota`)."""
_WORD = re.compile(r"\w+")


class OpenAIEmbedder:
    """`Embedder` over the embeddings API; one request a call, vectors as base64.

    `base_url` ends in `/v1`. `timeout_s` of a call bounds all its attempts and waits together.
    """

    def __init__(
        self, *, base_url: str, api_key: str | ApiKey, space: EmbeddingSpace, retry: Retry | None = None
    ) -> None:
        self._space = space
        self._retry = retry or Retry("embeddings")
        self._server = _Server(self._retry.dependency, base_url, api_key, "OPENAI_API_KEY")

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


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request, before it is written in the words of an API."""

    messages: Sequence[ChatMessage]
    max_output_tokens: int
    temperature: float
    response_format: Mapping[str, object] | None
    is_streamed: bool = False

    @property
    def cache_key(self) -> str:
        """Requests with the same instructions share a key, so that they reach a server that holds them in its cache."""
        instructions = "".join(message.content for message in self.messages if message.role == "system")
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
        self._server = _Server(self._retry.dependency, base_url, api_key, "CHAT_API_KEY or OPENAI_API_KEY")
        self._traits = traits or ModelTraits()
        self._is_openai = urlsplit(base_url).hostname == "api.openai.com"

    @property
    def model(self) -> str:
        """The model's name as sent to the provider."""
        return self._model

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_output_tokens: int,
        temperature: float,
        timeout_s: float,
        response_format: Mapping[str, object] | None = None,
    ) -> Completion:
        """Return one completion. `timeout_s` bounds all attempts and waits together. Raises `DependencyError`."""
        request = ModelRequest(messages, max_output_tokens, temperature, response_format)

        def ask(body: dict[str, Any], client: "OpenAI", left_s: float) -> Iterator[str | Completion]:
            yield self._completion(self._server.json_of(self._create(client)(**body, timeout=left_s).content))

        for completion in self._answered(ask, request, timeout_s):
            if isinstance(completion, Completion):
                return completion
        raise AssertionError("unreachable: an answer ends with its completion or an error")

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_output_tokens: int,
        temperature: float,
        timeout_s: float,
        response_format: Mapping[str, object] | None = None,
    ) -> Iterator[str | Completion]:
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

        request = ModelRequest(messages, max_output_tokens, temperature, response_format, is_streamed=True)
        yield from self._answered(ask, request, timeout_s)

    def shuts_down_on(self, *, timeout_s: float) -> date | None:
        """Return the day on which the provider retires the model, if it says so. Raises `DependencyError`."""
        return self._server.shutdown_date(self._model, timeout_s)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def _answered(self, ask: "Ask", request: ModelRequest, timeout_s: float) -> Iterator[str | Completion]:
        """Yield the pieces and the completion; ask again, with more room, if reasoning left nothing to show."""
        end = time.monotonic() + timeout_s
        first: Completion | None = None
        for attempt in range(2):
            room = REASONING_ROOM * (attempt + self._traits.reasons)
            wanted = replace(request, max_output_tokens=request.max_output_tokens + room)
            begun, whole = False, None
            try:
                for piece in self._asked(ask, wanted, end - time.monotonic()):
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

    def _asked(self, ask: "Ask", request: ModelRequest, timeout_s: float) -> Iterator[str | Completion]:
        """Yield what `ask` yields, leaving out the optional parameters that the model refuses.

        If that helped they are left out from then on. (It may not help: an error may name the wrong parameter.)
        """
        end = time.monotonic() + timeout_s
        private = [message.content for message in request.messages]
        refused = self._traits.refused
        while True:
            sent = {name: value for name, value in self._options(request, refused).items() if name not in refused}
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

    def _options(self, request: ModelRequest, refused: Collection[str]) -> dict[str, Any]:
        """Return the parameters that can be left out, by name."""
        # OpenAI's newer models accept one name only, most other servers only the other.
        names = _LIMIT_NAMES if self._is_openai else _LIMIT_NAMES[::-1]
        limit_name = next((name for name in names if name not in refused), names[0])
        options: dict[str, Any] = {"temperature": request.temperature, limit_name: request.max_output_tokens}
        if request.response_format is not None:
            options["response_format"] = dict(request.response_format)
        if request.is_streamed:
            options["stream_options"] = {"include_usage": True}
        if self._effort:
            options["reasoning_effort"] = self._effort
        if self._is_openai:
            options["prompt_cache_key"] = request.cache_key
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
    `ChatCompletionContentPartImageParam` (openai 3.54), read on 2026-11-23: at most 50 MB of pictures in a request.
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


def _lines(body: Iterator[bytes]) -> Iterator[str]:
    """Yield the lines of a body; only at line feeds, because JSON may hold other line separators of Unicode."""
    rest = b""
    for piece in body:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines)
    yield rest.decode("utf-8", "replace")


def _finish_reason(choice: Mapping[str, Any]) -> str:
    reason = str(choice.get("finish_reason") or "").lower()
    return _FINISH_REASONS.get(reason, reason)


# --- one server --------------------------------------------------------------------------------------------------


class RefusedParameter(Exception):
    """The model refuses an optional parameter, or its value: no failure, because the call is repeated without it."""

    def __init__(self, param: str) -> None:
        super().__init__(param)
        self.param = param


class _Server:
    """One base URL and key: bounded calls of the official client, with its errors translated to ours.

    `private` are the texts sent, which no error message repeats. `optional` names the parameters that may be left out.
    """

    def __init__(self, dependency: str, base_url: str, api_key: str | ApiKey, key_name: str) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"The {dependency} base URL must begin with http:// or https://: {base_url!r}.")
        self._dependency = dependency
        self._base_url = base_url.rstrip("/")
        self._key_name = key_name
        self._client = KeyedClient(api_key, partial(_Connected, self._base_url))

    def call[T](self, ask: Callable[["OpenAI", float], T], left_s: float, *, private: Sequence[str]) -> T:
        """Return what `ask(client, left_s)` returns. Raises `DependencyError`."""

        def translated(connected: _Connected) -> T:
            with self._errors(private, ()):
                return ask(connected.openai, left_s)

        return self._client.call(left_s, self._dependency, translated)

    def stream[T](
        self,
        ask: Callable[["OpenAI", float], Iterator[T]],
        left_s: float,
        *,
        private: Sequence[str],
        optional: Collection[str],
    ) -> Iterator[T]:
        """Yield what `ask(client, left_s)` yields. Raises `DependencyError`."""

        def translated(connected: _Connected) -> Iterator[T]:
            with self._errors(private, optional):
                yield from ask(connected.openai, left_s)

        return self._client.stream(left_s, self._dependency, translated)

    def shutdown_date(self, model: str, timeout_s: float) -> date | None:
        """Return the model's `shutdown_date` in `GET /v1/models`: OpenAI's field, in ISO 8601 or in epoch seconds."""

        def ask(client: "OpenAI", left_s: float) -> object:
            answer = client.models.with_raw_response.retrieve(model, timeout=left_s)
            return self.json_of(answer.content).get("shutdown_date")

        try:
            named = self.call(ask, timeout_s, private=())
        except KeyRefused as error:
            HEALTH.failed(error)
            raise
        HEALTH.reached(self._dependency)
        with contextlib.suppress(ValueError):
            if isinstance(named, int):
                return datetime.fromtimestamp(named, UTC).date()
            return date.fromisoformat(str(named)[:10])
        return None

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.close()

    def json_of(self, body: bytes) -> dict[str, Any]:
        """Read an answer's JSON object. Raises `DependencyUnavailable`."""
        answer = json.loads(body)
        if not isinstance(answer, dict):
            raise self.malformed("no JSON object")
        return answer

    def events(self, body: Iterator[bytes]) -> Iterator[Mapping[str, Any] | None]:
        """Yield the JSON objects of server-sent events; None for the `[DONE]` that some servers leave out.

        Comments (to keep a connection alive), names, ids and empty events are skipped. Raises `DependencyUnavailable`.
        """
        data: list[str] = []
        for line in chain(_lines(body), ("",)):
            if line.startswith("data:"):
                data.append(line[5:])
            elif not line:
                text = "\n".join(data).strip()
                data = []
                if text == "[DONE]":
                    yield None
                    return
                if text:
                    yield self._event(text)

    def _event(self, text: str) -> Mapping[str, Any]:
        event = json.loads(text)
        if not isinstance(event, dict):
            raise self.malformed("an event that is no JSON object")
        if event.get("error"):
            raise self.malformed("an error in the middle of the stream")
        return event

    def malformed(self, what: str) -> DependencyUnavailable:
        """Return the error that says what is wrong with a response."""
        return DependencyUnavailable(self._dependency, f"the answer of {self._base_url} is malformed: {what}.")

    @contextmanager
    def _errors(self, private: Sequence[str], optional: Collection[str]) -> Iterator[None]:
        import httpx2
        import openai

        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise DependencyTimeout(self._dependency, f"{self._base_url} did not answer in time.") from error
        except (openai.APIConnectionError, httpx2.RequestError) as error:  # also what cannot be decompressed
            kind = type(error.__cause__ or error).__name__
            raise DependencyUnavailable(
                self._dependency, f"the connection to {self._base_url} failed ({kind})."
            ) from error
        except openai.APIStatusError as error:
            refused = _refused_parameter(error, optional)
            if refused:
                raise RefusedParameter(refused) from None
            raise self._refusal(error, private) from None  # its message may repeat what was sent
        except (ValueError, RecursionError) as error:  # the package lets them through: HTML, or JSON nested too deep
            raise self.malformed("no JSON") from error

    def _refusal(self, error: "APIStatusError", private: Sequence[str]) -> DependencyError:
        import openai

        dependency, status = self._dependency, error.status_code
        vendors = error.body.get("message") if isinstance(error.body, dict) else None
        said = f"HTTP {status}: {without_echo(vendors, private)}"
        retry_after_s = _retry_after_s(error.response.headers)
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return KeyRefused(
                dependency, f"the API key was refused (HTTP {status}): check {self._key_name} in the secret."
            )
        if status == 402 or not _OUT_OF_QUOTA.isdisjoint((error.code, error.type)):
            return QuotaExhausted(dependency, f"the account of {self._key_name} has no quota left (HTTP {status}).")
        if isinstance(error, openai.RateLimitError):
            return RateLimited(dependency, said, retry_after_s=retry_after_s)
        if status == 408:
            return DependencyTimeout(dependency, said, retry_after_s=retry_after_s)
        if isinstance(error, openai.ConflictError | openai.InternalServerError):
            return DependencyUnavailable(dependency, said, retry_after_s=retry_after_s)
        return DependencyRefused(dependency, said)


class _Connected:
    """The official client, and the sockets it has opened.

    A closed socket stays open in the kernel while a thread waits on it, so the server would go on working for an
    abandoned call until that thread's timeout. Therefore `close` shuts the connections down first; httpx's documented
    `trace` extension reports their sockets.
    """

    def __init__(self, base_url: str, api_key: str) -> None:
        import httpx2
        import openai

        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._lock = Lock()
        self.openai = openai.OpenAI(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            http_client=openai.DefaultHttpx2Client(
                verify=_tls_context(),
                limits=httpx2.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=KEEP_ALIVE_S),
                event_hooks={"request": [self._watch]},
            ),
        )

    def close(self) -> None:
        """Close all connections, also those in use."""
        with self._lock:
            sockets = list(self._sockets)
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.openai.close()

    def _watch(self, request: Any) -> None:
        request.extensions["trace"] = self._opened

    def _opened(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._sockets.add(info["return_value"].get_extra_info("socket"))


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the one context of all clients: loading the certificates takes 20 ms of CPU."""
    import httpx2

    return httpx2.create_ssl_context()


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    # OpenAI sends both, in numbers; an HTTP date (RFC 9110) from another server is ignored.
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return max(0.0, float(headers[name])) * unit_s
    return None


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot encode: a PDF's text may hold half a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _refused_parameter(error: "APIStatusError", optional: Collection[str]) -> str:
    """Return the optional parameter that a 400 or 422 is about, or an empty string.

    Servers agree on neither `code` nor `param` (OpenAI: `unsupported_value`; LiteLLM: null, "400"; FastAPI: a path in
    `detail`; others: prose), so what they name decides: `param` first, else the message.
    """
    if error.status_code not in _REFUSING_STATUSES:
        return ""
    for named in (str(error.param or ""), error.response.text):
        for word in _WORD.findall(named):
            for name in (word, *_ALSO_NAMED.get(word, ())):
                if name in optional:
                    return str(name)
    if str(error.param or "None") != "None" or error.code in _ABOUT_THE_TEXT:
        return ""
    # An error that names nothing is most likely about the schema: what few servers know, and each in its own way.
    return next((name for name in _SCHEMA if name in optional), "")


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
