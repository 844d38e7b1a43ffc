"""`make smoke` on broken set-ups: each is red with a sentence that says what to do. The e2e suite has the good one."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from local.operate import Target
from local.report import Reporter
from local.smoke import SmokeTest, smoke
from local.stack import pinecone_index
from tests.support.openai_server import running_openai
from tests.support.pinecone_server import running_pinecone

KEY = "the-right-key"


@dataclass
class FakeAccount:
    """An account whose parts a test can break. AWS's answers have the vendor's form."""

    openai_url: str
    pinecone_url: str
    keys: dict[str, str] = field(default_factory=lambda: {"OPENAI_API_KEY": KEY, "PINECONE_API_KEY": "any"})
    dimensions: int = 384
    index: str = "recto"
    limits: str = ""
    trigger: str = "Enabled"
    ocr_trigger: str = "Enabled"
    tenants: tuple[str, ...] = ("acme",)
    subscriptions: tuple[str, ...] = ("arn:aws:sns:eu-central-1:1:alarms:2",)

    def target(self) -> Target:
        variables = {
            "RECTO_OPENAI_BASE_URL": self.openai_url,
            "RECTO_PINECONE_CONTROL_URL": self.pinecone_url,
            "RECTO_PINECONE_INDEX": self.index,
            "RECTO_EMBEDDING_MODEL": "all-MiniLM-L6-v2",
            "RECTO_EMBEDDING_DIMENSIONS": str(self.dimensions),
            "RECTO_CHAT_MODEL": "extractive-minilm",
            "RECTO_LIMIT_OVERRIDES": self.limits,
        }
        subscriptions = [{"SubscriptionArn": arn, "Endpoint": "ann@example.com"} for arn in self.subscriptions]
        users = [{"Attributes": [{"Name": "custom:tenant", "Value": tenant}]} for tenant in self.tenants]
        clients: dict[str, Any] = {
            "lambda": SimpleNamespace(
                get_function_configuration=lambda **_: {"Environment": {"Variables": variables}},
                list_event_source_mappings=lambda FunctionName: {  # noqa: N803 - boto3's
                    "EventSourceMappings": [
                        {"State": self.ocr_trigger, "UUID": "0c2"}
                        if FunctionName == "recto-ocr:live"
                        else {"State": self.trigger, "UUID": "7a1"}
                    ]
                },
            ),
            "cognito-idp": SimpleNamespace(list_users=lambda **_: {"Users": users}),
            "secretsmanager": SimpleNamespace(get_secret_value=lambda **_: {"SecretString": json.dumps(self.keys)}),
            "sns": SimpleNamespace(list_subscriptions_by_topic=lambda **_: {"Subscriptions": subscriptions}),
        }
        outputs = {
            "QueryFunctionName": "query",
            "IngestFunctionName": "recto-ingest",
            "OcrFunctionName": "recto-ocr",
            "SecretId": "keys",
            "UserPoolId": "pool",
            "UserPoolClientId": "client",
            "ApiUrl": "http://127.0.0.1:9",
            "AlarmTopicArn": "arn:aws:sns:eu-central-1:1:alarms",
        }
        return Target(clients["lambda"], cast("Any", None), clients["cognito-idp"], outputs, clients.__getitem__)


@pytest.fixture(scope="module")
def providers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with (
        running_openai(tmp_path_factory.mktemp("openai"), api_key=KEY) as openai_url,
        running_pinecone(tmp_path_factory.mktemp("pinecone")) as pinecone_url,
    ):
        pinecone_index.ensure(pinecone_url, name="recto", dimension=384)
        yield openai_url, pinecone_url


@pytest.fixture
def account(providers: tuple[str, str]) -> FakeAccount:
    return FakeAccount(*providers)


def failure_of(account: FakeAccount) -> str:
    """Run the test on an account, which must be red; return what is printed."""
    out = io.StringIO()
    assert smoke(account.target(), Reporter(Console(file=out, width=1_000))) == 1
    return out.getvalue()


def test_a_good_set_up_reaches_the_document(account: FakeAccount):
    """There is no API behind this account, so creating the test's user is the first thing that fails."""
    test = SmokeTest(account.target(), Reporter(Console(quiet=True)))
    with pytest.raises(AttributeError):
        test.run()
    assert list(test.seconds) == [
        "Settings of the query function",
        "Keys in the secret",
        "Pinecone index",
        "Embedding model",
        "Chat model extractive-minilm",
        "Ingest is on",
        "Users",
        "Alarms",
    ]


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (
            {"keys": {"OPENAI_API_KEY": "replace-me", "PINECONE_API_KEY": "any"}},
            "has no OPENAI_API_KEY: put both keys into it with `aws secretsmanager put-secret-value",
        ),
        (
            {"keys": {"OPENAI_API_KEY": "wrong", "PINECONE_API_KEY": "any"}},
            "cannot be used: the API key was refused (HTTP 401): check OPENAI_API_KEY in the secret",
        ),
        ({"index": "not-there"}, 'create it with `make index ARGS="--name not-there --dimension 384"`'),
        (
            {"dimensions": 1536},
            "has dimension 384 and metric dotproduct instead of 1536 and dotproduct: create another one with `make",
        ),
        ({"limits": '{"acme": 5}'}, "(template parameter LimitOverrides) must look like"),
        ({"trigger": "Disabled"}, "update-event-source-mapping --enabled --uuid 7a1"),
        ({"ocr_trigger": "Disabled"}, "scans would wait for ever: enable its trigger with `aws lambda update-event"),
        ({"tenants": ()}, "Nobody can sign in yet: create a user"),
        ({"tenants": ("recto-smoke-test",)}, "Nobody can sign in yet"),
        ({"subscriptions": ("PendingConfirmation",)}, "Alarms reach nobody: ann@example.com has no confirmed"),
        ({"subscriptions": ()}, "Alarms reach nobody"),
    ],
)
def test_a_broken_set_up_is_red_and_says_what_to_do(
    account: FakeAccount, broken: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
):
    for name, value in broken.items():
        setattr(account, name, value)
    printed = failure_of(account)
    assert sentence in printed
    assert "The self-test failed" in printed
    assert not capsys.readouterr().out, "no metric and no log line of ours"


def test_an_index_without_the_sparse_field_is_red(account: FakeAccount, tmp_path: Path):
    from pinecone import Pinecone

    with running_pinecone(tmp_path) as url:
        fields: Any = {"_values": {"type": "dense_vector", "dimension": 384, "metric": "dotproduct"}}
        deployment: Any = {"deployment_type": "managed", "cloud": "aws", "region": "us-east-1"}
        with Pinecone(api_key="any", host=url) as client:
            client.indexes.create(name="recto", schema={"fields": fields}, deployment=deployment, timeout=-1)
        account.pinecone_url = url
        assert "a vector with dense and sparse values is not accepted" in failure_of(account)
