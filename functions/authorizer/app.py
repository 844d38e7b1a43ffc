"""The authorizer Lambda: API Gateway sends the `Authorization` header and gets a policy, which it keeps for a while.

A wrong token or key is answered with a policy that denies (the template makes it a 401), because API Gateway keeps that
as well; raising "Unauthorized" would count as a failure of this function, and happen again for each request. An error
that is raised, for example because the pool's keys cannot be fetched, ends in a 500: nobody is let in unverified.
"""

import os
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from functions.authorizer.credentials import ClientKeys, Credentials, context_of
from functions.authorizer.tokens import IdTokens, PublishedKeys, fetched
from shared.errors import NotAuthenticated
from shared.telemetry import logger

KEYS_PATH = "/.well-known/jwks.json"
DYNAMODB_S = 4.0
"""Seconds that one attempt of a call waits; there are two, and the function has 25 for all."""


@cache
def credentials() -> Credentials:
    """Build the identifier of callers, once, from the function's environment variables."""
    issuer = os.environ["RECTO_TOKEN_ISSUER"]
    emulator = os.environ.get("AWS_ENDPOINT_URL")
    pool = issuer.rsplit("/", 1)[-1]
    published = PublishedKeys(partial(fetched, (f"{emulator}/{pool}" if emulator else issuer) + KEYS_PATH))
    clients = os.environ["RECTO_TOKEN_CLIENTS"].split(",")
    return Credentials(IdTokens(published, issuer=issuer, clients=clients), _api_keys)


@cache
def _api_keys() -> ClientKeys:
    """Build the reader of API keys, once, at the first API key: DynamoDB's client would take most of a cold start."""
    from shared.adapters.api_keys import DynamoApiKeys
    from shared.adapters.aws import dynamodb_client

    client = dynamodb_client(read_timeout_s=DYNAMODB_S, connect_timeout_s=DYNAMODB_S, attempts=2)
    return DynamoApiKeys(client, os.environ["RECTO_CONVERSATIONS_TABLE"])


@logger.inject_lambda_context(clear_state=True)
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001  the decorator reads it
    """Answer one event of a TOKEN authorizer."""
    whole_api = f"{'/'.join(event['methodArn'].split('/')[:2])}/*"
    try:
        principal = credentials().principal_of(str(event.get("authorizationToken", "")))
    except NotAuthenticated as error:
        logger.info("refused", extra={"reason": error.message})
        return _policy("Deny", whole_api, {"principalId": "nobody"})
    return _policy("Allow", whole_api, context_of(principal))


def _policy(effect: str, resource: str, told: Mapping[str, str]) -> dict[str, Any]:
    """Return the policy. It is kept for every request with the same header, so it covers all methods and paths."""
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": resource}
    return {
        "principalId": told["principalId"],
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": {name: value for name, value in told.items() if name != "principalId"},
    }
