"""ID tokens: the pool's are believed, and there is no other way in."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import given
from hypothesis import strategies as st

from functions.authorizer.tokens import MIN_REFETCH_S, IdTokens, PublishedKeys, fetched
from shared.errors import DependencyUnavailable, NotAuthenticated
from tests.support.signing import (
    CLIENT,
    COMPANY_CLIENT,
    HOUR_S,
    ISSUER,
    KEY,
    OTHER_KEY,
    Pool,
    claims,
    published,
    token,
)


class Stopwatch:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def tokens(pool: Pool | None = None, monotonic: Callable[[], float] = time.monotonic) -> IdTokens:
    keys = PublishedKeys(pool or Pool(), monotonic=monotonic)
    return IdTokens(keys, issuer=ISSUER, clients=[CLIENT, COMPANY_CLIENT])


@pytest.mark.parametrize("client", [CLIENT, COMPANY_CLIENT])
def test_a_token_of_either_client_is_believed_and_the_keys_are_fetched_once(client: str) -> None:
    pool = Pool()
    verifier = tokens(pool)
    assert verifier.claims_of(token(aud=client))["custom:tenant"] == "acme"
    verifier.claims_of(token())
    assert pool.asked == 1


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def assembled(header: object, body: object, sign: Callable[[bytes], bytes] = lambda _: b"") -> str:
    signed = f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(body).encode())}"
    return f"{signed}.{encoded(sign(signed.encode()))}"


def signed_with_the_public_key(form: serialization.PublicFormat, encoding: serialization.Encoding) -> str:
    secret = KEY.public_key().public_bytes(encoding, form)
    return assembled(
        {"alg": "HS256", "kid": "k1"}, claims(), lambda data: hmac.new(secret, data, hashlib.sha256).digest()
    )


def spliced(first: str, second: str) -> str:
    """The claims of the second token under the signature of the first."""
    return ".".join([first.split(".")[0], second.split(".")[1], first.split(".")[2]])


def long_ago() -> int:
    return int(time.time()) - HOUR_S


WRONG: dict[str, Callable[[], str]] = {
    "empty": lambda: "",
    "no token": lambda: "a.b.c",
    "not ASCII": lambda: "ü.ü.ü",
    "two parts": lambda: token().rsplit(".", 1)[0],
    "four parts": lambda: f"{token()}.x",
    "no signature": lambda: f"{token().rsplit('.', 1)[0]}.",
    "tampered signature": lambda: token()[:-8] + "AAAAAAAA",
    "another's claims": lambda: spliced(token(), token(**{"custom:tenant": "other"})),
    "another's key": lambda: token(key=OTHER_KEY),
    "unknown key": lambda: token(kid="k2"),
    "no key id": lambda: jwt.encode(claims(), KEY, "RS256"),
    "alg none": lambda: assembled({"alg": "none", "kid": "k1"}, claims()),
    "alg None, signed": lambda: spliced(assembled({"alg": "nOnE", "kid": "k1"}, {}), token()),
    "alg HS256, PEM": lambda: signed_with_the_public_key(
        serialization.PublicFormat.SubjectPublicKeyInfo, serialization.Encoding.PEM
    ),
    "alg HS256, DER": lambda: signed_with_the_public_key(serialization.PublicFormat.PKCS1, serialization.Encoding.DER),
    "alg RS512": lambda: jwt.encode(claims(), KEY, "RS512", {"kid": "k1"}),
    "a key in the header": lambda: jwt.encode(
        claims(), OTHER_KEY, "RS256", {"kid": "k2", "jwk": published(k2=OTHER_KEY)["keys"][0]}
    ),
    "expired": lambda: token(exp=long_ago()),
    "never expires": lambda: token(exp=None),
    "expires when?": lambda: token(exp="tomorrow"),
    "not valid yet": lambda: token(nbf=int(time.time()) + HOUR_S),
    "another pool": lambda: token(iss=ISSUER.replace("pool", "other")),
    "another region": lambda: token(iss=ISSUER.replace("east", "west")),
    "an issuer that ends alike": lambda: token(iss="https://evil.example/us-east-1_pool"),
    "no issuer": lambda: token(iss=None),
    "another client": lambda: token(aud="client-3"),
    "no client": lambda: token(aud=None),
    "access token": lambda: token(token_use="access"),
    "access token of a client": lambda: token(token_use="access", aud=None, client_id=CLIENT),
    "of no kind": lambda: token(token_use=None),
    "no user": lambda: token(sub=None),
    "deeply nested": lambda: f"{encoded(b'[' * 5_000)}.{encoded(b'{}')}.AAAA",
    "a list": lambda: assembled(["RS256"], ["ann"]),
    "a key id that is no text": lambda: assembled({"alg": "RS256", "kid": {"k": 1}}, claims()),
    "a critical extension": lambda: jwt.encode(claims(), KEY, "RS256", {"kid": "k1", "crit": ["x"], "x": 1}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_anything_else_is_not(wrong: str) -> None:
    with pytest.raises(NotAuthenticated):
        tokens().claims_of(WRONG[wrong]())


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=60), st.integers(0, 2))
def test_garbage_is_refused_and_breaks_nothing(garbage: str, part: int) -> None:
    parts = token().split(".")
    parts[part] = garbage
    with pytest.raises(NotAuthenticated):
        tokens().claims_of(".".join(parts))


def test_a_token_that_is_a_moment_younger_than_our_clock_is_good() -> None:
    assert tokens().claims_of(token(iat=int(time.time()) + 60))["sub"] == "ann"


# --- the keys ---------------------------------------------------------------------------------------------------------


def test_made_up_key_ids_do_not_make_it_fetch_each_time() -> None:
    pool, clock = Pool(), Stopwatch()
    verifier = tokens(pool, clock)
    for n in range(50):
        with pytest.raises(NotAuthenticated):
            verifier.claims_of(token(kid=f"made-up-{n}"))
    assert pool.asked == 1
    clock.now += MIN_REFETCH_S
    with pytest.raises(NotAuthenticated):
        verifier.claims_of(token(kid="made-up"))
    assert pool.asked == 2
    verifier.claims_of(token())
    assert pool.asked == 2, "a known key needs no fetch"


def test_a_new_key_of_the_pool_is_found_and_one_it_withdrew_is_not_believed_after_that() -> None:
    pool, clock = Pool(), Stopwatch()
    verifier = tokens(pool, clock)
    verifier.claims_of(token())
    pool.document = published(k2=OTHER_KEY)
    clock.now += MIN_REFETCH_S
    assert verifier.claims_of(token(key=OTHER_KEY, kid="k2"))["sub"] == "ann"
    with pytest.raises(NotAuthenticated):
        verifier.claims_of(token())


def test_while_the_keys_cannot_be_fetched_nobody_is_let_in_or_called_a_liar() -> None:
    pool = Pool()
    pool.down = DependencyUnavailable("sign-in")
    verifier = tokens(pool)
    for _ in range(2):
        with pytest.raises(DependencyUnavailable):
            verifier.claims_of(token())
    pool.down = None
    assert verifier.claims_of(token())["sub"] == "ann"
    pool.down = DependencyUnavailable("sign-in")
    assert verifier.claims_of(token())["sub"] == "ann", "known keys stay known"


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": ["k1"]}, {"keys": [{"kty": "RSA", "kid": "k1"}]}])
def test_a_document_without_keys_is_the_pools_failure(document: dict[str, Any]) -> None:
    pool = Pool()
    pool.document = document
    with pytest.raises(DependencyUnavailable):
        tokens(pool).claims_of(token())


def test_only_rsa_keys_are_keys() -> None:
    secret = {"kty": "oct", "kid": "k1", "k": encoded(b"secret" * 8)}
    pool = Pool()
    pool.document = {"keys": [secret, *published(k2=KEY)["keys"]]}
    forged = jwt.encode(claims(), b"secret" * 8, "HS256", {"kid": "k1"})
    with pytest.raises(NotAuthenticated):
        tokens(pool).claims_of(forged)


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = {"/keys": (200, b'{"keys": []}'), "/text": (200, b"<html>"), "/list": (200, b"[]")}.get(
            self.path, (500, b"")
        )
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_the_keys_are_fetched_over_http_and_every_failure_is_the_pools() -> None:
    with HTTPServer(("127.0.0.1", 0), _Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        assert fetched(f"{base}/keys") == {"keys": []}
        for path in ("/text", "/list", "/gone"):
            with pytest.raises(DependencyUnavailable):
                fetched(base + path)
        server.shutdown()
    with pytest.raises(DependencyUnavailable):
        fetched(f"{base}/keys")
