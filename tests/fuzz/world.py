"""Two tenants who have everything that the API can make, in texts and keys that name whose it is."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from functions.query import bootstrap
from functions.query.api.openapi import operations_of
from functions.query.app import app
from shared.telemetry import logger
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import query_stack
from tests.support.signed_in import SignedIn, token_of

OURS, THEIRS = "acme", "umbermarsh"
"""The tenant that asks, and the other one. Nothing that `OURS` is sent may hold the name of `THEIRS`."""
THEIR_PAGES = ["The bells of Umbermarsh ring at nine. The Umbermarsh lens is polished with salt every Monday."]
THEIR_KEY = f"uploads/{THEIRS}/{THEIRS}-bells.pdf"
WRITTEN = {"question", "answer", "title", "comment", "reason", "contact", "name", "text", "content", "resolution"}
"""Fields of bodies that people write; those of `THEIRS` begin with the tenant's name."""
ROUNDS = 2
"""Times that each example is sent: in the second round, what the first one made can be named."""


class World:
    """The application, and every id that the two tenants' things have, by the name of a path's parameter."""

    def __init__(self, application: ASGIApp, document: dict[str, Any], stack: Stack) -> None:
        self.application = application
        self.document = document
        self.stack = stack
        self.ids: dict[str, set[str]] = defaultdict(set)

    def fill(self) -> None:
        """Send the example of each body as both tenants, and remember the ids that come back."""
        with TestClient(self.application, raise_server_exceptions=False) as client:
            for _ in range(ROUNDS):
                for tenant in (OURS, THEIRS):
                    self._send_examples(client, tenant)

    def _send_examples(self, client: TestClient, tenant: str) -> None:
        headers = {"Authorization": f"Bearer {token_of(tenant, 'ann', 'admin')}", "If-Match": "*"}
        pick = random.Random(tenant)
        for path, method, operation in operations_of(self.document):
            named = [each["name"] for each in operation.get("parameters", []) if each["in"] == "path"]
            if method == "delete" or not all(self.ids[name] for name in named):
                continue
            values = {name: pick.choice(sorted(self.ids[name])) for name in named}
            body = self._example(operation, tenant)
            answer = client.request(method, path.format(**values), headers=headers, json=body)
            if answer.is_success and "json" in answer.headers.get("content-type", ""):
                for name, value in ids_in(answer.json()):
                    self.ids[name].add(value)

    def _example(self, operation: Mapping[str, Any], tenant: str) -> Any:
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            return None
        name = content["schema"].get("$ref", "").rsplit("/", 1)[-1]
        example = self.document["components"]["schemas"].get(name, {}).get("examples", [None])[0]
        return marked(example, tenant) if tenant == THEIRS else example

    def as_theirs(self, method: str, path: str, body: Any = None) -> str:
        """Send a request of the other tenant's; return the text of the answer."""
        with TestClient(self.application) as client:
            headers = {"Authorization": f"Bearer {token_of(THEIRS, 'bea', 'admin')}"}
            return client.request(method, path, headers=headers, json=body).text


def marked(value: Any, tenant: str, name: str = "") -> Any:
    """Return an example in which what people write says whose it is."""
    if isinstance(value, dict):
        return {key: marked(each, tenant, key) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, tenant, name) for each in value]
    if name == "filename":
        return f"{tenant}/{value}"
    return f"{tenant} {value}" if name in WRITTEN and isinstance(value, str) else value


def ids_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of every id in a JSON value."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name.endswith("_id") and isinstance(each, str) and each:
                yield name, each
            else:
                yield from ids_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from ids_in(each)


@contextmanager
def fuzzed_world(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[World]:
    """Run the application on moto and the emulators, with both tenants' things in it."""
    # A busy machine's DynamoDB may be slow; that is no failure of the API's.
    patch.setattr(bootstrap, "DYNAMODB_TIMEOUT_S", 20.0)
    patch.setattr(bootstrap, "DYNAMODB_SHARE", 1.0)
    # Some lines for each request would hide the progress; an error is still logged.
    patch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    level = logger.log_level
    logger.setLevel("ERROR")
    with query_stack(patch, folder) as stack:
        stack.put(THEIR_KEY, pdf_of(THEIR_PAGES, title="Umbermarsh Bells"))
        assert stack.deliver(THEIR_KEY) == []
        world = World(SignedIn(app), json.loads(json.dumps(app.openapi())), stack)
        world.fill()
        try:
            yield world
        finally:
            logger.setLevel(level)
