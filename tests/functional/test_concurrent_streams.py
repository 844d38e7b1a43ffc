"""64 streams at once through the laptop's streaming port: none mixed with another, none lost."""

import asyncio
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from functions.authorizer.credentials import Credentials
from functions.authorizer.tokens import IdTokens, PublishedKeys
from functions.query.answer import Answer, AnswerEvent, Delta, Done, Question, SourcesFound
from functions.query.streaming_app import app
from local.serving import serving
from local.streaming import Authorized
from shared.models import Principal
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.query_stack import events_of
from tests.support.signing import CLIENT, ISSUER, Pool, token

STREAMS, PIECES = 64, 12
LIMIT_S = 60.0
"""Far longer than it takes: whoever waits for it has lost a stream."""


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The port, with a pipeline that marks each piece with user and question, and goes on only once all are asked."""
    all_asked = threading.Barrier(STREAMS)

    def marked(question: Question, principal: Principal, *_: object) -> Iterator[AnswerEvent]:
        mark = f"{principal.tenant}/{principal.user}/{question.text}"
        yield SourcesFound(())
        for piece in range(PIECES):
            if piece == PIECES // 2:
                all_asked.wait(LIMIT_S)
            yield Delta(f"{mark}/{piece} ")
        yield Done(Answer(mark, mode="service", message_id=mark))

    settings = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2)
    usage = SimpleNamespace(record=lambda *_, **__: None)
    services = SimpleNamespace(settings=settings, clock=FakeClock(), usage=usage, query_ports=lambda *_: None)
    services.for_reader = lambda _: services
    monkeypatch.setattr("functions.query.api.dependencies.services", lambda: services)
    monkeypatch.setattr("functions.query.api.asking.answer_events", marked)
    credentials = Credentials(IdTokens(PublishedKeys(Pool()), issuer=ISSUER, clients=[CLIENT]), Mock())
    with serving(Authorized(app, credentials, timeout_s=120), name="streaming") as url:
        yield url


def request_of(number: int) -> dict[str, Any]:
    """The request of one of the clients: half of them are OpenAI's."""
    who = {"authorization": f"Bearer {token(sub=f'user-{number}')}"}
    if number % 2:
        messages = [{"role": "user", "content": f"question-{number}"}]
        return {
            "url": "/v1/chat/completions",
            "json": {"model": "recto", "messages": messages, "stream": True},
            "headers": who,
        }
    return {
        "url": "/query",
        "json": {"question": f"question-{number}"},
        "headers": who | {"accept": "text/event-stream"},
    }


def text_of(number: int, body: str) -> str:
    """The streamed text, whose stream must have come to its end."""
    if number % 2:
        *lines, last = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
        assert last == "[DONE]"
        return "".join(json.loads(line)["choices"][0]["delta"].get("content", "") for line in lines)
    events = events_of(body)
    assert events[-1][0] == "done"
    return "".join(data["text"] for name, data in events if name == "delta")


async def test_no_stream_is_mixed_with_another_nor_lost(port: str) -> None:
    limits = httpx.Limits(max_connections=STREAMS)
    async with httpx.AsyncClient(base_url=port, limits=limits, timeout=2 * LIMIT_S, trust_env=False) as client:
        answers = await asyncio.gather(*(client.post(**request_of(number)) for number in range(STREAMS)))
    for number, answer in enumerate(answers):
        assert answer.status_code == 200, answer.text
        mark = f"acme/user-{number}/question-{number}"
        assert text_of(number, answer.text) == "".join(f"{mark}/{piece} " for piece in range(PIECES))
