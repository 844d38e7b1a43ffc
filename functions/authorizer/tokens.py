"""ID tokens of the user pool: signature, issuer, client, kind and expiry are verified before a claim is believed."""

import json
import time
from collections.abc import Callable, Collection, Mapping
from http.client import HTTPException
from threading import Lock
from typing import Any
from urllib.request import ProxyHandler, build_opener

import jwt

from shared.errors import DependencyUnavailable, NotAuthenticated

ALGORITHMS = ("RS256",)
"""How Cognito signs. A token never chooses: `none`, and HS256 with the public key as its secret, are refused."""
KIND = "id"
"""The `token_use` of an ID token; access tokens are for Cognito's own API."""
REQUIRED = ("aud", "exp", "iss", "sub", "token_use")
MIN_REFETCH_S = 10.0
"""Seconds between two fetches of the pool's keys: made-up key ids must not cause a fetch per request."""
FETCH_S = 5.0
"""Seconds that one attempt waits; there are two, because everybody is kept out without the keys."""
MAX_DOCUMENT_BYTES = 100_000
"""Cognito publishes two keys, about 1 KB."""

_UNREADABLE = (jwt.PyJWTError, ValueError, TypeError, RecursionError)
"""What reading an untrusted token may raise: PyJWT does not wrap everything, for example deeply nested JSON."""


class PublishedKeys:
    """The keys that the pool publishes, fetched once, and again if a token names another one. Thread-safe."""

    def __init__(
        self, fetch: Callable[[], Mapping[str, Any]], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch = fetch
        self._monotonic = monotonic
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = float("-inf")
        self._lock = Lock()

    def get(self, key_id: str) -> jwt.PyJWK | None:
        """Return a key, None if the pool has no such key. Raises `DependencyUnavailable` if they cannot be fetched."""
        with self._lock:
            if key_id not in self._keys and self._monotonic() - self._fetched_at >= MIN_REFETCH_S:
                self._keys = _signing_keys(self._fetch())
                self._fetched_at = self._monotonic()  # not after a failure: the next token tries again
            return self._keys.get(key_id)


def _signing_keys(document: Mapping[str, Any]) -> dict[str, jwt.PyJWK]:
    """Read a JSON Web Key Set (RFC 7517); keys that are not RSA's are left out."""
    try:
        keys = [each for each in document["keys"] if each.get("kty") == "RSA"]
        return {str(each["kid"]): jwt.PyJWK(each, ALGORITHMS[0]) for each in keys}
    except (*_UNREADABLE, KeyError, AttributeError) as error:
        raise DependencyUnavailable("sign-in", "the pool's keys are unreadable") from error


class IdTokens:
    """Verifies the ID tokens of one user pool (`issuer`) for its `clients`."""

    def __init__(self, keys: PublishedKeys, *, issuer: str, clients: Collection[str]) -> None:
        self._keys = keys
        self._issuer = issuer
        self._clients = list(clients)

    def claims_of(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a token. Raises `NotAuthenticated`, and `DependencyUnavailable` without the keys."""
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
        except _UNREADABLE as error:
            raise NotAuthenticated("This is no token.") from error
        key = self._keys.get(str(key_id))
        if key is None:
            raise NotAuthenticated("The token is signed by an unknown key.")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._clients,
                issuer=self._issuer,
                # Cognito's clock may be ahead of ours: a token is good from the moment it is signed.
                options={"require": list(REQUIRED), "verify_iat": False},
            )
        except _UNREADABLE as error:
            raise NotAuthenticated(f"The token is not valid: {type(error).__name__}.") from error
        if claims["token_use"] != KIND:
            raise NotAuthenticated("This is no ID token.")
        return claims


def fetched(url: str) -> Mapping[str, Any]:
    """Fetch a JSON document. Raises `DependencyUnavailable`."""
    try:
        try:
            document = _document_at(url)
        except (OSError, HTTPException):
            document = _document_at(url)
    except (OSError, HTTPException, ValueError) as error:
        raise DependencyUnavailable("sign-in", f"the pool's keys cannot be fetched: {type(error).__name__}") from error
    if not isinstance(document, dict):
        raise DependencyUnavailable("sign-in", "the pool's keys are unreadable")
    return document


def _document_at(url: str) -> object:
    # Without proxies: Lambda has none, and on the laptop the pool is on the same machine.
    with build_opener(ProxyHandler({})).open(url, timeout=FETCH_S) as response:
        return json.loads(response.read(MAX_DOCUMENT_BYTES))
