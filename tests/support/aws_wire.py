"""AWS on moto, over a real connection that tests can break: by service, operation and table."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import BotocoreStubber
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from local.faults import abort, drip, read_body, respond, transport_of, until_disconnected
from local.serving import serving

Kind = Literal["status", "hang", "drip", "reset"]


@dataclass
class Break:
    """Which requests fail: those whose body or target names `word`; all of the service if it is empty."""

    kind: Kind
    word: str = ""
    status: int = 500
    code: str = "InternalServerError"


@dataclass
class AwsWire:
    """One service on its own port. `breaks` are looked at for each request; `calls` counts them by operation."""

    service: str
    region: str
    breaks: list[Break] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def broken(
        self, kind: Kind, word: str = "", *, status: int = 500, code: str = "InternalServerError"
    ) -> Iterator[None]:
        """Break the wire for the length of a block."""
        rule = Break(kind, word, status, code)
        self.breaks.append(rule)
        try:
            yield
        finally:
            self.breaks.remove(rule)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await read_body(receive)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        target = headers.get("x-amz-target", scope["path"])
        self.calls[target.rsplit(".", 1)[-1]] += 1
        said = f"{target} {body.decode('utf-8', 'replace')}"
        rule = next((each for each in self.breaks if each.word in said), None)
        if rule is None:
            await self._answer(scope, headers, body, send)
        elif rule.kind == "hang":
            await until_disconnected(receive)
        elif rule.kind == "drip":
            dripping = asyncio.ensure_future(drip(send, {"etag": '"1"'}))
            await until_disconnected(receive)
            dripping.cancel()
        elif rule.kind == "reset":
            await abort(transport_of(send), receive)
        else:
            error = {"__type": f"com.amazonaws#{rule.code}", "message": "broken on purpose"}
            await respond(send, rule.status, error, headers={"content-type": "application/x-amz-json-1.0"})

    async def _answer(self, scope: Scope, headers: dict[str, str], body: bytes, send: Send) -> None:
        query = scope["query_string"].decode()
        url = f"https://{self.service}.{self.region}.amazonaws.com{scope['path']}" + (f"?{query}" if query else "")
        carried = HTTPHeaders()
        for name, value in headers.items():
            if name != "host":
                carried[name] = value
        request = AWSPreparedRequest(scope["method"], url, carried, body, False)
        answer = await run_in_threadpool(BotocoreStubber().process_request, request)
        assert answer is not None, f"moto does not serve {url}"
        status, answered, content = answer
        encoded = content.encode() if isinstance(content, str) else content
        kept = {str(name).lower(): str(value) for name, value in answered.items()} | {
            "content-length": str(len(encoded))
        }
        fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in kept.items()]
        await send({"type": "http.response.start", "status": int(status), "headers": fields})
        await send({"type": "http.response.body", "body": encoded})


@contextmanager
def aws_on_the_wire(patch: pytest.MonkeyPatch, service: str, region: str) -> Iterator[AwsWire]:
    """Serve one service; clients that are made from now on go there."""
    wire = AwsWire(service, region)
    with serving(wire, name=f"aws-{service}") as url:
        patch.setenv(f"AWS_ENDPOINT_URL_{service.upper().replace('SECRETSMANAGER', 'SECRETS_MANAGER')}", url)
        yield wire
