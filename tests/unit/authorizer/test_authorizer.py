"""The authorizer: a header in, a policy for the whole API out."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from functions.authorizer import app
from functions.authorizer.credentials import MAX_CHARACTERS, USE_NOTED_EVERY, Credentials, context_of
from functions.authorizer.tokens import IdTokens, PublishedKeys
from functions.query.api.dependencies import principal_of
from shared.api_keys import ClientKey, hash_of, new_secret, time_of
from shared.errors import DependencyUnavailable, NotAllowed, NotAuthenticated
from shared.models import Principal
from tests.support.clock import FakeClock
from tests.support.ingest import Context
from tests.support.signing import CLIENT, ISSUER, Pool, token
from tests.support.template import ROOT, properties, template

ARN = "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/v1/GET/documents/x"
WHOLE_API = "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/v1/*"


@pytest.fixture
def pool() -> Pool:
    return Pool()


SECRET = new_secret()
NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
ID = f"{1:026d}"
KEY = ClientKey("acme", ID, "Open WebUI", "agent", "ann", time_of(NOW - timedelta(days=1)))


class Keys:
    """The stored keys, what was noted of their use, and how often they were asked for. `down` makes calls fail."""

    def __init__(self) -> None:
        self.held = {SECRET: KEY}
        self.asked = 0
        self.used: list[datetime] = []
        self.down: set[str] = set()

    def find(self, secret: str) -> ClientKey | None:
        self.asked += 1
        if "find" in self.down:
            raise DependencyUnavailable("api_keys")
        return self.held.get(secret)

    def mark_used(self, secret: str, *, at: datetime, unless_since: datetime) -> None:
        if "mark_used" in self.down:
            raise DependencyUnavailable("api_keys")
        assert unless_since == at - USE_NOTED_EVERY
        self.used.append(at)
        self.held[secret] = replace(self.held[secret], last_used_at=time_of(at))


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture(autouse=True)
def credentials(pool: Pool, keys: Keys, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Credentials:
    tokens = IdTokens(PublishedKeys(pool), issuer=ISSUER, clients=[CLIENT])
    made = Credentials(tokens, lambda: keys, now=clock.now)
    monkeypatch.setattr(app, "credentials", lambda: made)
    return made


def answer(header: str | None) -> dict[str, Any]:
    event = {"type": "TOKEN", "methodArn": ARN} | ({} if header is None else {"authorizationToken": header})
    found = app.handler(event, Context(function_name="authorizer"))
    return json.loads(json.dumps(found))  # as Lambda sends it


def effect(policy: dict[str, Any]) -> str:
    (statement,) = policy["policyDocument"]["Statement"]
    assert statement["Action"] == "execute-api:Invoke"
    # It is kept for every request with this header: a policy for one method would refuse all others.
    assert statement["Resource"] == WHOLE_API
    return str(statement["Effect"])


@pytest.mark.parametrize("prefix", ["Bearer ", "bearer  ", "BEARER ", "", "  "])
def test_a_good_token_opens_the_whole_api_and_says_who_it_is(prefix: str) -> None:
    policy = answer(f"{prefix}{token()}")
    assert effect(policy) == "Allow"
    # API Gateway adds the principal's id to the context.
    told = {"authorizer": policy["context"] | {"principalId": policy["principalId"]}}
    assert principal_of({"requestContext": told}) == Principal("acme", "ann", frozenset({"editor", "accounting"}))


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic YW5uOnNlY3JldA==",
        "Bearer a b",
        "Bearer ü",
        "x" * (MAX_CHARACTERS + 1),
        "Bearer " + "x." * 100_000,
        "null",
    ],
)
def test_every_other_header_is_denied_everything(header: str | None) -> None:
    policy = answer(header)
    assert effect(policy) == "Deny"
    assert (policy["principalId"], policy["context"]) == ("nobody", {})


def test_a_denial_tells_the_log_why_and_never_what_was_sent(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = token(aud="another-client")
    assert effect(answer(f"Bearer {wrong}")) == "Deny"
    assert wrong.split(".")[2] not in capsys.readouterr().out


def test_what_api_gateway_is_told_is_flat_text() -> None:
    told = context_of(Principal("acme", "ann", frozenset({"reader", "admin"})))
    assert told == {"principalId": "ann", "tenant": "acme", "groups": "admin,reader"}
    told = context_of(Principal("acme", "ann", frozenset({"x,admin", "reader", "Küche 2"})))
    assert told["groups"] == "reader"
    assert json.loads(told["member_of"]) == ["Küche 2", "x,admin"]
    assert all(isinstance(value, str) for value in told.values())


def test_a_group_that_is_no_role_cannot_smuggle_one_in() -> None:
    policy = answer(token(**{"cognito:groups": ["x,admin", "reader"]}))
    assert policy["context"]["groups"] == "reader"
    who = principal_of({"requestContext": {"authorizer": policy["context"] | {"principalId": "ann"}}})
    assert who.groups == {"x,admin", "reader"}


@pytest.mark.parametrize("groups", [None, "admin", 7, {"admin": 1}])
def test_groups_that_are_no_list_are_none(groups: object) -> None:
    assert answer(token(**{"cognito:groups": groups}))["context"]["groups"] == ""


def test_a_user_without_a_tenant_is_known_and_refused_by_the_api() -> None:
    """With a sentence that says what to do, and 403 instead of 401: another token would not help."""
    policy = answer(token(**{"custom:tenant": None}))
    assert effect(policy) == "Allow"
    with pytest.raises(NotAllowed):
        principal_of({"requestContext": {"authorizer": {"principalId": "ann", **policy["context"]}}})


def test_what_cannot_be_verified_now_is_an_error_that_api_gateway_does_not_keep(pool: Pool) -> None:
    pool.down = DependencyUnavailable("sign-in")
    with pytest.raises(DependencyUnavailable):
        answer(f"Bearer {token()}")
    pool.down = None
    assert effect(answer(f"Bearer {token()}")) == "Allow"


def test_without_a_token_the_pool_is_not_asked(pool: Pool, credentials: Credentials) -> None:
    for header in ("", "Bearer", "x" * 20_000):
        with pytest.raises(NotAuthenticated):
            credentials.principal_of(header)
    assert pool.asked == 0


# --- API keys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["Bearer ", "bearer ", ""])
def test_a_key_opens_the_whole_api_as_a_user_of_its_own(prefix: str, pool: Pool) -> None:
    policy = answer(f"{prefix}{SECRET}")
    assert effect(policy) == "Allow"
    told = {"authorizer": policy["context"] | {"principalId": policy["principalId"]}}
    assert principal_of({"requestContext": told}) == Principal("acme", f"key:{ID}", frozenset({"agent"}))
    assert pool.asked == 0


@pytest.mark.parametrize(
    "wrong",
    [
        new_secret(),
        SECRET[:-1],
        f"{SECRET}A",
        SECRET.upper(),
        "rk_",
        f"rk_{'A' * 9_000}",
        hash_of(SECRET),
        f"{SECRET}.a.b",
        "sk-proj-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH",
    ],
    # Not the keys themselves: each process makes its own, and xdist's workers have to agree on the tests' names.
    ids=["another", "shorter", "longer", "upper case", "no secret", "huge", "hash", "token", "OpenAI's"],
)
def test_any_other_key_is_denied(wrong: str) -> None:
    assert effect(answer(f"Bearer {wrong}")) == "Deny"


def test_a_text_that_is_no_key_is_not_looked_up(keys: Keys) -> None:
    answer("Bearer rk_short")
    assert keys.asked == 0


def test_a_revoked_key_is_denied_with_the_next_question_to_the_authorizer(keys: Keys) -> None:
    assert effect(answer(SECRET)) == "Allow"
    del keys.held[SECRET]
    assert effect(answer(SECRET)) == "Deny"


def test_a_key_opens_nothing_from_the_moment_it_expires(keys: Keys, clock: FakeClock) -> None:
    keys.held[SECRET] = replace(KEY, expires_at=time_of(NOW + timedelta(hours=1)))
    clock.advance(3_599)
    assert effect(answer(SECRET)) == "Allow"
    clock.advance(1)
    assert effect(answer(SECRET)) == "Deny"


def test_a_key_of_an_unknown_role_is_no_readers(keys: Keys) -> None:
    keys.held[SECRET] = replace(KEY, role=cast("Any", "root"))
    assert effect(answer(SECRET)) == "Deny"


def test_the_time_of_use_costs_a_write_in_five_minutes_at_most(keys: Keys, clock: FakeClock) -> None:
    for _ in range(10):
        answer(SECRET)
        clock.advance(60)
    assert keys.used == [NOW, NOW + timedelta(minutes=6)]


def test_a_use_that_cannot_be_noted_keeps_nobody_out(keys: Keys) -> None:
    keys.down = {"mark_used"}
    assert effect(answer(SECRET)) == "Allow"


def test_while_keys_cannot_be_read_nobody_is_let_in_or_called_a_liar(keys: Keys) -> None:
    keys.down = {"find"}
    with pytest.raises(DependencyUnavailable):
        answer(SECRET)
    assert effect(answer(token())) == "Allow", "tokens need no key"


def test_the_log_holds_no_key(keys: Keys, capsys: pytest.CaptureFixture[str]) -> None:
    keys.down = {"mark_used"}
    answer(SECRET)
    wrong = new_secret()
    answer(wrong)
    logged = capsys.readouterr().out
    assert not [secret for secret in (SECRET, wrong) if secret in logged or hash_of(secret) in logged]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.undo()
    app.credentials.cache_clear()
    monkeypatch.setenv("RECTO_TOKEN_ISSUER", ISSUER)
    monkeypatch.setenv("RECTO_TOKEN_CLIENTS", CLIENT)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    yield monkeypatch
    app.credentials.cache_clear()


@pytest.mark.parametrize(
    ("emulator", "url"),
    [
        ("", f"{ISSUER}/.well-known/jwks.json"),
        ("http://127.0.0.1:4566", "http://127.0.0.1:4566/us-east-1_pool/.well-known/jwks.json"),
    ],
)
def test_the_keys_are_those_that_the_issuer_publishes(
    environment: pytest.MonkeyPatch, pool: Pool, emulator: str, url: str
) -> None:
    asked = []

    def fetch(address: str) -> Any:
        asked.append(address)
        return pool.document

    environment.setattr(app, "fetched", fetch)
    if emulator:
        environment.setenv("AWS_ENDPOINT_URL", emulator)
    assert effect(answer(token())) == "Allow"
    assert asked == [url]


def test_a_cold_start_for_a_token_loads_no_client_of_aws() -> None:
    """Half of what it would load; only the first API key of a container waits for it."""
    code = "import sys, functions.authorizer.app; print({'boto3', 'pydantic', 'fastapi'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"


# --- what the template says of it -------------------------------------------------------------------------------------


def test_api_gateway_forgets_a_policy_within_a_minute() -> None:
    """So long lives what was revoked: the seconds it is kept, and those that the call before took."""
    declared = properties("Api")["Auth"]
    authorizer = declared["Authorizers"][declared["DefaultAuthorizer"]]
    assert authorizer["FunctionPayloadType"] == "TOKEN"
    assert authorizer["Identity"]["Header"] == "Authorization"
    kept_s = authorizer["Identity"]["ReauthorizeEvery"]
    assert 0 < kept_s + properties("AuthorizerFunction")["Timeout"] <= 60


def test_a_denial_is_a_401_with_the_same_code_as_a_missing_token() -> None:
    answers = properties("Api")["GatewayResponses"]
    for kind in ("UNAUTHORIZED", "ACCESS_DENIED"):
        assert answers[kind]["StatusCode"] == 401
        assert answers[kind]["ResponseParameters"]["Headers"]["WWW-Authenticate"] == "'Bearer'"
        body = json.loads(answers[kind]["ResponseTemplates"]["application/json"])
        assert (body["status"], body["code"]) == (401, "not_authenticated")


def test_every_client_of_the_pool_that_is_deployed_is_known() -> None:
    variables = properties("AuthorizerFunction")["Environment"]["Variables"]
    separator, (always, *others) = variables["RECTO_TOKEN_CLIENTS"]["Fn::Join"]
    assert separator == ","
    known = {name["Ref"]: condition for condition, name, _ in (each["Fn::If"] for each in others)}
    assert all(each["Fn::If"][2] == {"Ref": "AWS::NoValue"} for each in others)
    clients = {
        name: each.get("Condition")
        for name, each in template()["Resources"].items()
        if each["Type"].endswith("::UserPoolClient")
    }
    assert {always["Ref"]: None} | known == clients
