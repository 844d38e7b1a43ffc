"""A user pool made by the test: its keys, and tokens signed with them, right and wrong."""

import json
import time
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

POOL = "us-east-1_pool"
ISSUER = f"https://cognito-idp.us-east-1.amazonaws.com/{POOL}"
CLIENT, COMPANY_CLIENT = "client-1", "client-2"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
HOUR_S = 3_600


def claims(**changed: Any) -> dict[str, Any]:
    """The claims of a good ID token of Ann's; a claim that is changed to None is left out."""
    now = int(time.time())
    good = {
        "sub": "ann",
        "custom:tenant": "acme",
        "cognito:groups": ["editor", "accounting"],
        "iss": ISSUER,
        "aud": CLIENT,
        "token_use": "id",
        "iat": now - HOUR_S,
        "exp": now + HOUR_S,
    }
    return {name: value for name, value in (good | changed).items() if value is not None}


def token(*, key: rsa.RSAPrivateKey = KEY, kid: str = "k1", **changed: Any) -> str:
    """A token of the pool, with these claims changed."""
    return jwt.encode(claims(**changed), key, "RS256", {"kid": kid})


def published(**keys: rsa.RSAPrivateKey) -> dict[str, Any]:
    """The document in which a pool publishes its keys: `k1`, or those given."""
    found = []
    for kid, key in (keys or {"k1": KEY}).items():
        found.append(json.loads(RSAAlgorithm.to_jwk(key.public_key())) | {"kid": kid, "alg": "RS256", "use": "sig"})
    return {"keys": found}


class Pool:
    """The keys that the pool publishes, and how often they were fetched. `down` makes every fetch fail."""

    def __init__(self) -> None:
        self.document: Mapping[str, Any] = published()
        self.asked = 0
        self.down: Exception | None = None

    def __call__(self) -> Mapping[str, Any]:
        self.asked += 1
        if self.down:
            raise self.down
        return self.document
