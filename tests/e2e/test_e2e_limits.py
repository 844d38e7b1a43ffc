"""Limits and usage on the deployed stack: a user made at the command line, and many clients of two processes."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.e2e.conftest import LIMITED_QUESTIONS, LIMITED_TENANT
from tests.support.local_stack import run_local

CLIENTS = 64
BY_LAMBDA = 4
"""Clients that ask through API Gateway: the emulator starts a process for each. The others use the streaming port."""


@pytest.fixture(scope="module")
def tokens(laptop: Laptop, state: Path) -> dict[str, str]:
    """ID tokens of a reader and an administrator of a tenant with a limit, both made with `local user`."""
    made = {}
    for role in ("reader", "admin"):
        email = f"{role}@limited.example.com"
        created = run_local(state, "user", email, "--tenant", LIMITED_TENANT, "--role", role)
        assert created.returncode == 0, created.stderr
        password = re.search(r"^Password: (\S+)$", created.stdout, re.M)
        assert password
        answer = laptop.aws.cognito.initiate_auth(
            ClientId=laptop.deployed().outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": password[1]},
        )
        made[role] = answer["AuthenticationResult"]["IdToken"]
    return made


def test_sixty_four_clients_get_the_days_questions_and_not_one_more(laptop: Laptop, tokens: dict[str, str]) -> None:
    urls = [laptop.deployed().api_url] * BY_LAMBDA + [laptop.config.streaming_url] * (CLIENTS - BY_LAMBDA)

    def status_of(url: str) -> int:
        with ApiClient(url, tokens["reader"], 60.0) as client:
            return client.request("POST", "/query", json={"question": "What is the limit?"}).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(status_of, urls))
    assert sorted(set(statuses)) == [200, 429]
    assert statuses.count(200) == LIMITED_QUESTIONS

    with ApiClient(laptop.deployed().api_url, tokens["admin"]) as admin:
        report = admin.request("GET", "/admin/usage?by=user").json()
    assert [line["questions"] for line in report["lines"]] == [LIMITED_QUESTIONS]


def test_a_reader_may_not_see_the_usage(laptop: Laptop, tokens: dict[str, str]) -> None:
    with ApiClient(laptop.deployed().api_url, tokens["reader"]) as reader:
        assert reader.request("GET", "/admin/usage").status_code == 403


def test_the_users_tenant_cannot_change(state: Path, tokens: dict[str, str]) -> None:
    changed = run_local(state, "user", "reader@limited.example.com", "--tenant", users.DEMO.tenant)
    assert changed.returncode == 1
    assert f"in the tenant {LIMITED_TENANT}, which cannot change" in changed.stderr
