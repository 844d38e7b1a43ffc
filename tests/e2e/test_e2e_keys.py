"""An API key's life on the deployed stack: made, at work through API Gateway and the streaming port, revoked."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.client import ApiClient, ApiError
from local.stack import users
from local.stack.config import PROJECT
from local.stack.laptop import Laptop
from shared.api_keys import SECRET
from tests.support.local_stack import run_local
from tests.support.log_scan import Private
from tests.support.readme import blocks, commands
from tests.support.waiting import until

QUESTION = "How often are the coffee boilers descaled?"
ADMIN = users.User("admin@demo.example.com", users.DEMO.tenant, "admin")
KEPT_S = 3
"""Seconds that API Gateway keeps a policy during this test, instead of the template's (test_authorizer.py)."""
REFUSED_WITHIN_S = 60


@dataclass(frozen=True, slots=True)
class Stack:
    laptop: Laptop
    private: Private

    @property
    def url(self) -> str:
        return self.laptop.deployed().api_url

    def admin(self) -> ApiClient:
        return ApiClient(self.url, users.id_token(self.laptop.aws, self.laptop.config, self.laptop.deployed(), ADMIN))

    def create(self, **body: Any) -> dict[str, Any]:
        with self.admin() as admin:
            answer = admin.request("POST", "/keys", json={"name": "A test", **body})
        assert answer.status_code == 201, answer.text
        key: dict[str, Any] = answer.json()
        self.private.add_secret(key["key"])  # no log may hold it
        return key

    def revoke(self, key: dict[str, Any]) -> None:
        with self.admin() as admin:
            assert admin.request("DELETE", f"/keys/{key['key_id']}").status_code == 204


@pytest.fixture(scope="module")
def stack(laptop: Laptop, private: Private) -> Iterator[Stack]:
    """The stack with an administrator, whose gateway forgets within seconds."""
    aws, deployed = laptop.aws, laptop.deployed()
    pool = deployed.one("AWS::Cognito::UserPool")
    users.create(aws.cognito, pool, ADMIN, password=users.password_of(laptop.config.state))
    (authorizer,) = aws.apigateway.get_authorizers(restApiId=deployed.api_id)["items"]
    assert 0 < authorizer["authorizerResultTtlInSeconds"] < REFUSED_WITHIN_S

    def keep(seconds: int) -> None:
        aws.apigateway.update_authorizer(
            restApiId=deployed.api_id,
            authorizerId=authorizer["id"],
            patchOperations=[{"op": "replace", "path": "/authorizerResultTtlInSeconds", "value": str(seconds)}],
        )

    keep(KEPT_S)
    yield Stack(laptop, private)
    keep(authorizer["authorizerResultTtlInSeconds"])


def test_a_key_asks_until_it_is_revoked_and_is_useless_within_a_minute(stack: Stack, samples: dict[str, str]) -> None:
    key = stack.create(role="reader")
    with (
        ApiClient(stack.url, key["key"], 60.0) as api,
        ApiClient(stack.laptop.config.streaming_url, key["key"], 60.0) as streaming,
    ):
        answer = api.query(QUESTION)
        assert "12 months" in answer["answer"]
        conversation = api.request("GET", f"/conversations/{answer['conversation_id']}")
        assert conversation.status_code == 200
        *_, (name, done) = streaming.query_stream(QUESTION)
        assert (name, done["answer"]) == ("done", answer["answer"])
        refused = api.request("POST", "/documents", json={"filename": "a.pdf"})
        assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
        with stack.admin() as admin:
            assert admin.request("GET", f"/conversations/{answer['conversation_id']}").status_code == 404
            (listed,) = [
                each for each in admin.request("GET", "/keys").json()["keys"] if each["key_id"] == key["key_id"]
            ]
            assert listed["last_used_at"]
            report = admin.request("GET", "/admin/usage?by=user").json()
        assert f"key:{key['key_id']}" in {line["key"] for line in report["lines"]}
        assert api.request("GET", "/documents").status_code == 200, "API Gateway keeps this answer"
        stack.revoke(key)
        with pytest.raises(ApiError) as gone:
            list(streaming.query_stream(QUESTION))
        assert gone.value.status == 401
        refused = until(
            lambda: api.request("GET", "/documents"),
            lambda answer: answer.status_code == 401,
            what="the refusal",
            within_s=REFUSED_WITHIN_S,
        )
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["access-control-allow-origin"] == "*"


def test_a_key_of_one_tenant_sees_nothing_of_another(stack: Stack, state: Path, samples: dict[str, str]) -> None:
    made = run_local(state, "keys", "create", "Other", "--tenant", users.OTHER.tenant, "--role", "admin")
    assert made.returncode == 0, made.stderr
    secret = made.stdout.splitlines()[-1]
    assert SECRET.fullmatch(secret)
    stack.private.add_secret(secret)
    with ApiClient(stack.url, secret) as other:
        assert not set(samples.values()) & {each["document_id"] for each in other.documents()}
        assert other.request("GET", f"/documents/{next(iter(samples.values()))}").status_code == 404
        managed = other.request("GET", "/keys")
        assert (managed.status_code, managed.json()["code"]) == (403, "not_allowed")


def test_the_commands_of_the_guide_make_and_list_a_key(stack: Stack, state: Path) -> None:
    (block,) = blocks("bash", test="tests/e2e/test_e2e_keys.py", pages=[PROJECT / "docs" / "operating.md"])
    made, listed = (run_local(state, *shlex.split(line)[3:]) for line in commands(block))
    assert made.returncode == listed.returncode == 0, made.stderr + listed.stderr
    secret = made.stdout.splitlines()[-1]
    stack.private.add_secret(secret)
    with ApiClient(stack.url, secret) as client:
        assert client.request("GET", "/documents").status_code == 200
    assert "Open WebUI" in listed.stdout
    assert secret not in listed.stdout


@pytest.mark.parametrize("key", ["rk_", f"rk_{'A' * 43}", "sk-proj-something"])
def test_a_made_up_key_is_a_401(stack: Stack, key: str) -> None:
    with ApiClient(stack.url, key) as nobody:
        answer = nobody.request("GET", "/documents")
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
