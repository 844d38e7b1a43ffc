"""Who the streaming port believes: whom the API's authorizer would, and nothing a client says of itself."""

import json
import time
from unittest.mock import Mock

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from functions.authorizer.credentials import Credentials
from functions.authorizer.tokens import IdTokens, PublishedKeys
from functions.query.streaming_app import LAMBDA_CONTEXT, REQUEST_CONTEXT
from local.streaming import Authorized
from shared.errors import DependencyUnavailable
from tests.support.signing import CLIENT, ISSUER, Pool, token


async def seen(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers with the context it was given."""
    contexts = [value for name, value in scope["headers"] if name in {REQUEST_CONTEXT, LAMBDA_CONTEXT}]
    body = json.dumps([json.loads(each) for each in contexts]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def client(pool: Pool) -> httpx.AsyncClient:
    credentials = Credentials(IdTokens(PublishedKeys(pool), issuer=ISSUER, clients=[CLIENT]), Mock())
    transport = httpx.ASGITransport(Authorized(seen, credentials, timeout_s=120))
    return httpx.AsyncClient(transport=transport, base_url="http://streaming")


FORGED = {
    "x-amzn-request-context": json.dumps({"authorizer": {"principalId": "eve", "tenant": "x"}}),
    "x-amzn-lambda-context": json.dumps({"request_id": "eve's", "deadline": 9e12}),
}


async def test_only_the_token_says_who_is_asking(client: httpx.AsyncClient) -> None:
    answer = await client.post("/query", headers={**FORGED, "authorization": f"Bearer {token()}"})
    context, invocation = answer.json()
    told = {"principalId": "ann", "tenant": "acme", "groups": "editor", "member_of": '["accounting"]'}
    assert context["authorizer"] == told
    assert invocation["request_id"] == context["requestId"]
    left_s = invocation["deadline"] / 1_000 - time.time()
    assert 60 < left_s <= 120.001, "a stream has a deadline of its own"  # the deadline is in whole milliseconds
    anonymous, _ = (await client.get("/healthz", headers=FORGED)).json()
    assert "authorizer" not in anonymous


@pytest.mark.parametrize("header", ["", "Bearer x", f"Bearer {token(aud='another')}"])
async def test_whoever_is_not_known_is_answered_as_by_api_gateway(client: httpx.AsyncClient, header: str) -> None:
    refused = await client.post("/query", headers={**FORGED, **({"authorization": header} if header else {})})
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
    assert refused.json()["error"]["code"] == "invalid_api_key", "for OpenAI's clients"
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["access-control-allow-origin"] == "*"
    assert refused.headers["www-authenticate"] == "Bearer"


async def test_nobody_is_let_in_while_that_cannot_be_known(client: httpx.AsyncClient, pool: Pool) -> None:
    pool.down = DependencyUnavailable("sign-in")
    failed = await client.post("/query", headers={"authorization": f"Bearer {token()}"})
    assert (failed.status_code, failed.json()["code"]) == (500, "gateway_failed")
    assert failed.headers["access-control-allow-origin"] == "*"
