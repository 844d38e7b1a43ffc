"""Chat servers that speak OpenAI's API, each in its own way: their whole answers and their chunks, on a free port.

What each sends was taken from its source, its documentation, or the threads named with it.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from typing import Any

Content = str | list[dict[str, Any]] | None
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(frozen=True)
class Reply:
    """A model's reply: its content, and its reasoning if the server sends that separately.

    `message` holds further fields of the message. A content that is a list is sent part by part.
    """

    content: Content
    thoughts: str = ""
    finish_reason: str = "stop"
    message: dict[str, Any] = field(default_factory=dict)

    @property
    def pieces(self) -> Sequence[Content]:
        """The content in pieces of one to seventeen characters, so that tags and names are cut anywhere."""
        if not isinstance(self.content, str):
            return [[part] for part in self.content or ()]
        sizes, at, pieces = cycle((3, 1, 17, 2, 9)), 0, []
        while at < len(self.content):
            size = next(sizes)
            pieces.append(self.content[at : at + size])
            at += size
        return pieces


Events = list[dict[str, Any] | str]
"""Chunks; a str goes out as it is, as a line."""


@dataclass(frozen=True)
class ChatServer:
    """One kind of server. `whole` and `chunks` say how it sends a reply."""

    name: str
    whole: Callable[[Reply], dict[str, Any]]
    chunks: Callable[[Reply], Events]
    prefix: str = "data: "
    done: bool = True


def _message(reply: Reply, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": reply.content, **more, **reply.message}


def _whole(reply: Reply, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1"}
    return head | {"choices": [choice], "usage": USAGE} | more


def _chunk(delta: Any, finish_reason: str | None = None, choice: dict[str, Any] | None = None, **more: Any) -> Any:
    each = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason, **(choice or {})}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-1",
        "choices": [each],
    } | more


def _openai(reply: Reply) -> Events:
    """The role first, an obfuscation in each chunk, the usage last in a chunk without choices (API reference)."""
    texts = [_chunk({"content": piece}, obfuscation="x7Yz", usage=None) for piece in reply.pieces]
    first = _chunk({"role": "assistant", "content": "", "refusal": None}, usage=None)
    usage = _chunk({}) | {"choices": [], "usage": USAGE}
    return [first, *_extra(reply), *texts, _chunk({}, reply.finish_reason, usage=None), usage]


_SAFE = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}


def _azure(reply: Reply) -> Events:
    """Filter results: first without choices, in each chunk, last without a delta (openai-python #1677)."""
    first = {"id": "", "object": "", "created": 0, "model": "", "choices": []}
    first["prompt_filter_results"] = [{"prompt_index": 0, "content_filter_results": _SAFE}]
    texts = [_chunk({"content": piece}, choice={"content_filter_results": _SAFE}) for piece in reply.pieces]
    offsets = {"check_offset": 44, "start_offset": 44, "end_offset": 198}
    last = {"index": 0, "finish_reason": None, "content_filter_results": _SAFE, "content_filter_offsets": offsets}
    annotation = {"id": "", "object": "", "created": 0, "model": "", "choices": [last], "usage": None}
    role = _chunk({"role": "assistant"})
    return [first, role, *_extra(reply), *texts, _chunk({}, reply.finish_reason), annotation]


def _azure_whole(reply: Reply) -> dict[str, Any]:
    whole = _whole(reply, _message(reply, refusal=None), prompt_filter_results=[{"content_filter_results": _SAFE}])
    whole["choices"][0]["content_filter_results"] = _SAFE
    return whole


def _bedrock(reply: Reply) -> Events:
    """gpt-oss thinks in a tag of the content on the runtime endpoint (promptfoo #9587, cherry-studio #10225)."""
    tagged = Reply(_tagged(reply), finish_reason=reply.finish_reason, message=reply.message)
    texts = [_chunk({"content": piece}) for piece in tagged.pieces]
    first = _chunk({"role": "assistant", "content": ""})
    return [first, *_extra(reply), *texts, _chunk({"content": ""}, reply.finish_reason, usage=USAGE)]


def _tagged(reply: Reply) -> Content:
    if isinstance(reply.content, str) and reply.thoughts:
        return f"<reasoning>{reply.thoughts}</reasoning>{reply.content}"
    return reply.content


def _vllm(reply: Reply) -> Events:
    """`reasoning` (once `reasoning_content`); a chunk may hold the last thought and the first word (vllm #43933)."""
    thoughts = [_chunk({"reasoning": piece, "reasoning_content": piece}) for piece in (reply.thoughts, "\n") if piece]
    texts = [_chunk({"content": piece}) for piece in reply.pieces]
    if texts:
        texts[0]["choices"][0]["delta"]["reasoning_content"] = reply.thoughts
    first = _chunk({"role": "assistant", "content": ""})
    last = _chunk({"content": ""}, reply.finish_reason, choice={"stop_reason": None, "token_ids": None})
    usage = _chunk({}) | {"choices": [], "usage": USAGE | {"prompt_tokens_details": None}}
    return [first, *thoughts, *_extra(reply), *texts, last, usage]


def _ollama(reply: Reply) -> Events:
    """The role in every chunk, thoughts in `reasoning`, the last piece together with the reason to stop."""
    thoughts = [_chunk({"role": "assistant", "content": "", "reasoning": reply.thoughts})]
    texts = [_chunk({"role": "assistant", "content": piece}, system_fingerprint="fp_ollama") for piece in reply.pieces]
    chunks = [*thoughts, *_extra(reply), *texts]
    chunks[-1]["choices"][0]["finish_reason"] = reply.finish_reason
    return chunks


def _litellm(reply: Reply) -> Events:
    """Thoughts in two fields (docs: reasoning content); comments keep the connection alive; nulls where all is done."""
    blocks = [{"type": "thinking", "thinking": reply.thoughts, "signature": ""}]
    thoughts = _chunk(
        {"role": "assistant", "content": "", "reasoning_content": reply.thoughts, "thinking_blocks": blocks}
    )
    texts = [_chunk({"content": piece, "provider_specific_fields": None}) for piece in reply.pieces]
    last = _chunk({"content": None, "role": None, "tool_calls": None}, reply.finish_reason)
    return [": keep-alive", thoughts, *_extra(reply), ": keep-alive", *texts, last]


def _llama_cpp(reply: Reply) -> Events:
    """Null content first, usage and timings with the reason to stop (ask-openai.nvim, harmony notes)."""
    thoughts = [_chunk({"reasoning_content": piece}) for piece in (reply.thoughts[:9], reply.thoughts[9:])]
    texts = [_chunk({"content": piece}, timings={"predicted_n": 1}) for piece in reply.pieces]
    first = _chunk({"role": "assistant", "content": None})
    last = _chunk({}, reply.finish_reason, usage=USAGE, timings={"prompt_n": 100, "predicted_ms": 933.63})
    return [first, *thoughts, *_extra(reply), *texts, last]


def _extra(reply: Reply) -> Events:
    """The further fields of a message, in a delta of their own."""
    return [_chunk(reply.message)] if reply.message else []


SERVERS = (
    ChatServer("OpenAI", lambda reply: _whole(reply, _message(reply, refusal=None, annotations=[])), _openai),
    ChatServer("Azure", _azure_whole, _azure),
    ChatServer("Bedrock", lambda reply: _whole(reply, _message(reply, content=_tagged(reply))), _bedrock),
    ChatServer(
        "vLLM",
        lambda reply: _whole(
            reply, _message(reply, reasoning=reply.thoughts, reasoning_content=reply.thoughts), prompt_logprobs=None
        ),
        _vllm,
    ),
    ChatServer("Ollama", lambda reply: _whole(reply, _message(reply, reasoning=reply.thoughts)), _ollama),
    ChatServer(
        "LiteLLM",
        lambda reply: _whole(
            reply,
            _message(
                reply,
                reasoning_content=reply.thoughts,
                thinking_blocks=[{"type": "thinking", "thinking": reply.thoughts}],
                tool_calls=None,
                function_call=None,
            ),
        ),
        _litellm,
        prefix="data:",  # as Alibaba's gateway writes it (gptel #592)
        done=False,
    ),
    ChatServer(
        "llama.cpp",
        lambda reply: _whole(reply, _message(reply, reasoning_content=reply.thoughts), timings={"prompt_n": 100}),
        _llama_cpp,
    ),
)
"""A message's own fields come last, so that a reply can replace any."""


@dataclass
class RunningServer:
    """A server that answers every request with the reply that is set, in the form of the kind that is set."""

    url: str
    kind: ChatServer = SERVERS[0]
    reply: Reply = Reply("")
    refuses: Callable[[dict[str, Any]], tuple[int, object] | None] = lambda _body: None
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def response(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        """Return status, content type and body of the answer to a request."""
        self.bodies.append(body)
        refused = self.refuses(body)
        if refused is not None:
            return refused[0], "application/json", json.dumps(refused[1]).encode()
        if not body.get("stream"):
            return 200, "application/json", json.dumps(self.kind.whole(self.reply)).encode()
        events = self.kind.chunks(self.reply)
        lines = [each if isinstance(each, str) else self.kind.prefix + json.dumps(each) for each in events]
        lines += [f"{self.kind.prefix}[DONE]"] if self.kind.done else []
        return 200, "text/event-stream; charset=utf-8", "".join(f"{line}\n\n" for line in lines).encode()


@contextmanager
def running_chat_server() -> Iterator[RunningServer]:
    """Yield a server on a free port; `url` ends in `/v1`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, kind, content = running.response(body)
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        running = RunningServer(f"http://127.0.0.1:{http.server_port}/v1")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield running
        finally:
            http.shutdown()
            thread.join()
