"""Who the streaming port believes: what a user pool's authorizer would, and nothing a client says of itself."""

import base64
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from starlette.types import Receive, Scope, Send

from functions.query.streaming_app import LAMBDA_CONTEXT, REQUEST_CONTEXT
from local.streaming import Authorized, NotSigned, Tokens

POOL, CLIENT, NOW = "us-east-1_pool", "client-1", 1_000_000.0
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLAIMS: dict[str, Any] = {
    "sub": "ann",
    "custom:tenant": "acme",
    "iss": f"https://cognito-idp.us-east-1.amazonaws.com/{POOL}",
    "aud": CLIENT,
    "token_use": "id",
    "exp": NOW + 60,
}


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(
    claims: Mapping[str, Any] = CLAIMS, *, key: rsa.RSAPrivateKey = KEY, kid: str = "k1", alg: str = "RS256"
) -> str:
    signed = f"{encoded(json.dumps({'alg': alg, 'kid': kid}).encode())}.{encoded(json.dumps(claims).encode())}"
    return f"{signed}.{encoded(key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def published() -> dict[str, Any]:
    numbers = KEY.public_key().public_numbers()
    n, e = (encoded(number.to_bytes((number.bit_length() + 7) // 8)) for number in (numbers.n, numbers.e))
    return {"keys": [{"kid": "k1", "kty": "RSA", "n": n, "e": e}]}


class Keys:
    """What the pool publishes, and how often it was fetched."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, url: str) -> Mapping[str, Any]:
        self.asked += 1
        return published()


def tokens(keys: Keys | None = None) -> Tokens:
    return Tokens(keys_url="http://pool", pool=POOL, client_id=CLIENT, now=lambda: NOW, fetch=keys or Keys())


def test_a_token_of_the_pool_is_believed_and_its_key_is_fetched_once():
    keys = Keys()
    verifier = tokens(keys)
    assert verifier.claims_of(token())["custom:tenant"] == "acme"
    verifier.claims_of(token())
    assert keys.asked == 1


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "a.b.c",
        "ü.ü.ü",
        token(key=OTHER_KEY),
        token(kid="k2"),
        token(alg="none"),
        token(alg="HS256"),
        token(CLAIMS | {"exp": NOW - 1}),
        token(CLAIMS | {"exp": "never"}),
        token(CLAIMS | {"aud": "another client"}),
        token(CLAIMS | {"token_use": "access"}),
        token(CLAIMS | {"iss": "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_other"}),
        ".".join(
            [token().split(".")[0], token(CLAIMS | {"custom:tenant": "other"}).split(".")[1], token().split(".")[2]]
        ),
        token().rsplit(".", 1)[0] + ".",
    ],
)
def test_anything_else_is_not(wrong: str):
    with pytest.raises(NotSigned):
        tokens().claims_of(wrong)


def test_made_up_key_ids_do_not_make_it_fetch_each_time():
    keys = Keys()
    verifier = tokens(keys)
    for n in range(5):
        with pytest.raises(NotSigned):
            verifier.claims_of(token(kid=f"made-up-{n}"))
    assert keys.asked == 1


async def seen(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers with the context it was given."""
    contexts = [value for name, value in scope["headers"] if name in {REQUEST_CONTEXT, LAMBDA_CONTEXT}]
    body = json.dumps([json.loads(each) for each in contexts]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


async def test_only_the_token_says_who_is_asking():
    app = Authorized(seen, tokens(), timeout_s=120)
    forged = {
        "x-amzn-request-context": json.dumps({"authorizer": {"claims": {"sub": "eve", "custom:tenant": "x"}}}),
        "x-amzn-lambda-context": json.dumps({"request_id": "eve's", "deadline": 9e12}),
    }
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://streaming") as client:
        context, invocation = (
            await client.post("/query", headers={**forged, "authorization": f"Bearer {token()}"})
        ).json()
        assert context["authorizer"]["claims"]["sub"] == "ann"
        assert invocation["request_id"] == context["requestId"]
        left_s = invocation["deadline"] / 1_000 - time.time()
        assert 110 < left_s <= 120.001, "a stream has a deadline of its own"  # the deadline is in whole milliseconds
        refused = await client.post("/query", headers=forged)
        assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
        anonymous, _ = (await client.get("/healthz", headers=forged)).json()
        assert "authorizer" not in anonymous
