"""OpenAI's embeddings and chat, or any server that speaks like it, behind the ports `Embedder` and `ChatModel`.

`OPENAI_API_KEY` and `CHAT_API_KEY` are the names in the Secrets Manager secret; the key itself is an argument.
Nothing is logged here.
"""

import base64
import binascii
import math
import sys
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack
from urllib.parse import urlsplit

from shared.adapters.openai_errors import RefusedParameter
from shared.adapters.openai_http import JsonClient, Wire
from shared.errors import DependencyRefused
from shared.models import ChatMessage, Completion, Embeddings, EmbeddingSpace, Usage

_UNIT_TOLERANCE = 1e-6  # a vector this close to unit length is left as it came
_TUNABLE = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Names of one parameter that some servers refuse, and the other name."""
_OPTIONAL = {"response_format": ("response_format", "json_schema"), "stream_options": ("stream_options",)}
"""Parameters that can be done without, and the words by which servers complain of them without naming them."""


class OpenAIEmbedder:
    """`Embedder` over `POST {base_url}/embeddings`; one request a call, vectors as base64.

    `base_url` ends in `/v1`. `timeout_s` of a call bounds all its attempts and waits together.
    """

    def __init__(self, *, base_url: str, api_key: str, space: EmbeddingSpace, **wire: Unpack[Wire]) -> None:
        self._space = space
        self._client = JsonClient(
            dependency="embeddings", base_url=base_url, api_key=api_key, key_name="OPENAI_API_KEY", **wire
        )

    @property
    def space(self) -> EmbeddingSpace:
        """The model and dimensions asked for; an answer of another size is an error."""
        return self._space

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        """Return one unit vector a text, in order; `space.dimensions` floats each, all finite.

        Raises `DependencyError`. OpenAI takes 2,048 texts, 8,192 tokens a text and 300,000 tokens at most.
        """
        if not texts:
            return Embeddings((), Usage())
        body: dict[str, Any] = {"model": self._space.model, "input": list(texts), "encoding_format": "base64"}
        if self._space.model.startswith("text-embedding-3"):
            body["dimensions"] = self._space.dimensions  # older models and other servers refuse the parameter
        answer = self._client.post("/embeddings", body, private=texts, timeout_s=timeout_s)
        return Embeddings(self._vectors(answer.get("data"), len(texts)), _usage(answer))

    def _vectors(self, data: object, count: int) -> list[list[float]]:
        if not isinstance(data, list) or len(data) != count:
            got = len(data) if isinstance(data, list) else "no"
            raise self._client.malformed(f"{got} vectors for {count} texts")
        vectors: dict[int, list[float]] = {}
        for item in data:
            index = item.get("index") if isinstance(item, dict) else None
            if not isinstance(index, int) or not 0 <= index < count or index in vectors:
                raise self._client.malformed("a vector without an index of its own")
            vectors[index] = self._vector(item.get("embedding"))
        return [vectors[index] for index in range(count)]

    def _vector(self, value: object) -> list[float]:
        try:
            values = _floats(value)
        except (ValueError, TypeError) as error:
            raise self._client.malformed("a vector that is neither base64 nor numbers") from error
        if len(values) != self._space.dimensions:
            raise DependencyRefused(
                "embeddings",
                f"{self._space.model} gives {len(values)} dimensions where {self._space.dimensions} are expected: set "
                "RECTO_EMBEDDING_DIMENSIONS (template parameter EmbeddingDimensions) to what the model gives.",
            )
        norm = math.sqrt(math.sumprod(values, values))
        if not math.isfinite(norm) or norm == 0.0:
            raise self._client.malformed("a vector that is not finite, or zero")
        if abs(norm - 1.0) <= _UNIT_TOLERANCE:
            return list(values)
        return [component / norm for component in values]


class OpenAIChatModel:
    """`ChatModel` and `StreamingChatModel` over `POST {base_url}/chat/completions`.

    `base_url` ends in `/v1`. A parameter the model turns out not to take (reasoning models: `temperature`; many
    servers: `response_format`) is left out from then on.
    """

    def __init__(self, *, base_url: str, api_key: str, model: str, **wire: Unpack[Wire]) -> None:
        self._model = model
        self._monotonic = wire.get("monotonic", time.monotonic)
        settings: Wire = {"max_attempts": 2, **wire}
        key_name = "CHAT_API_KEY or OPENAI_API_KEY"
        self._client = JsonClient(dependency="chat", base_url=base_url, api_key=api_key, key_name=key_name, **settings)
        # OpenAI's newer models take only the one name, most other servers only the other.
        is_openai = urlsplit(base_url).hostname == "api.openai.com"
        self._limit_name = "max_completion_tokens" if is_openai else "max_tokens"
        self._refused: frozenset[str] = frozenset()

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
        deadline = self._monotonic() + timeout_s
        private = [message.content for message in messages]
        while True:
            body, sent = self._body(messages, max_output_tokens, temperature, response_format)
            left_s = deadline - self._monotonic()
            try:
                answer = self._client.post(
                    "/chat/completions", body, private=private, timeout_s=left_s, optional=_optional(sent)
                )
            except RefusedParameter as error:
                self._do_without(error, sent)
            else:
                return self._completion(answer)

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_output_tokens: int,
        temperature: float,
        timeout_s: float,
        response_format: Mapping[str, object] | None = None,
    ) -> Iterator[str | Completion]:
        """Yield the text as it is written, piece by piece, and the whole `Completion` last. Raises `DependencyError`.

        `timeout_s` bounds everything from the first attempt to the last piece.
        """
        deadline = self._monotonic() + timeout_s
        private = [message.content for message in messages]
        while True:
            body, sent = self._body(messages, max_output_tokens, temperature, response_format, streamed=True)
            left_s = deadline - self._monotonic()
            events = self._client.stream(
                "/chat/completions", body, private=private, timeout_s=left_s, optional=_optional(sent)
            )
            try:
                yield from self._pieces(events)
            except RefusedParameter as error:
                self._do_without(error, sent)
            else:
                return

    def _body(
        self,
        messages: Sequence[ChatMessage],
        max_output_tokens: int,
        temperature: float,
        response_format: Mapping[str, object] | None,
        *,
        streamed: bool = False,
    ) -> tuple[dict[str, Any], frozenset[str]]:
        """Return the request, and the names of what it could do without."""
        wanted: dict[str, Any] = {"temperature": temperature, self._limit_name: max_output_tokens}
        if response_format is not None:
            wanted["response_format"] = dict(response_format)
        if streamed:
            wanted["stream_options"] = {"include_usage": True}
        sent = {name: value for name, value in wanted.items() if name not in self._refused}
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        return body | ({"stream": True} if streamed else {}) | sent, frozenset(sent)

    def _do_without(self, error: RefusedParameter, sent: frozenset[str]) -> None:
        """Leave a refused parameter out from now on. Raises the error where it was not among those that can go."""
        if error.param not in sent:
            raise error
        self._refused |= {error.param}
        other = _TUNABLE.get(error.param)
        if other is not None and other not in self._refused:
            self._limit_name = other

    def _pieces(self, events: Iterator[Any]) -> Iterator[str | Completion]:
        text: list[str] = []
        finish_reason, model, usage = "", self._model, Usage()
        for event in events:
            if isinstance(event.get("error"), dict):
                raise self._client.malformed("an error in the middle of the stream")
            model = str(event.get("model") or model)
            if event.get("usage"):
                usage = _usage(event)
            for choice in event.get("choices") or ():
                delta = choice.get("delta") or {}
                piece = delta.get("content") or delta.get("refusal") or ""
                finish_reason = str(choice.get("finish_reason") or finish_reason)
                if piece:
                    text.append(str(piece))
                    yield text[-1]
        yield Completion("".join(text), finish_reason or "stop", model, usage)

    def _completion(self, answer: Mapping[str, Any]) -> Completion:
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text = message.get("content") or message.get("refusal") or ""
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise self._client.malformed("no message") from error
        if not isinstance(text, str):
            raise self._client.malformed("a message that is no text")
        return Completion(
            text=text,
            finish_reason=str(choice.get("finish_reason") or "stop"),
            model=str(answer.get("model") or self._model),
            usage=_usage(answer),
        )


def _optional(sent: frozenset[str]) -> Mapping[str, Sequence[str]]:
    return {name: words for name, words in _OPTIONAL.items() if name in sent}


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


def _usage(answer: Mapping[str, Any]) -> Usage:
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) else 0

    return Usage(count("prompt_tokens"), count("completion_tokens"))
