"""The handlers in the real Lambda loop: the Runtime Interface Emulator of the aws-sam-cli wheel, without Docker.

The emulator speaks Lambda's runtime API to `awslambdaric`, as the service does: the handler is found by the name the
template gives, loaded under the variables the template sets, and its answer crosses the process border as JSON.
"""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.template import ROOT, environment, properties

START_S = 30.0
MACHINE = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())


def emulator() -> Path:
    """Find the emulator of this processor in the SAM venv that `make setup` installs."""
    if sys.platform != "linux" or MACHINE is None:
        pytest.skip(f"the Runtime Interface Emulator runs on Linux, arm64 or x86_64, not {platform.platform()}")
    found = sorted((ROOT / ".venvs" / "sam").glob(f"lib/python*/site-packages/samcli/local/rapid/*rie-{MACHINE}"))
    assert found, "No Runtime Interface Emulator under .venvs/sam: run `make setup`."
    return found[-1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert isinstance(port, int)
        return port


class _Secrets(BaseHTTPRequestHandler):
    """All of AWS that a handler asks for while it starts: its keys. Anything else is refused."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        asked = self.headers.get("X-Amz-Target") == "secretsmanager.GetSecretValue"
        keys = {"OPENAI_API_KEY": "a-key", "PINECONE_API_KEY": "a-key"}
        body = json.dumps({"Name": "keys", "SecretString": json.dumps(keys)} if asked else {"__type": "Refused"})
        self.send_response(200 if asked else 400)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Secrets) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def variables(function: str, aws: str) -> dict[str, str]:
    """Return what Lambda would set: the template's plain values, a name, and a region with no account behind it."""
    declared = environment() | properties(function)["Environment"]["Variables"]
    return {name: value for name, value in declared.items() if isinstance(value, str)} | {
        "AWS_LAMBDA_FUNCTION_NAME": function,
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(properties(function)["Timeout"]),
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_ENDPOINT_URL": aws,
        "RECTO_DOCUMENTS_TABLE": "documents",
        "RECTO_CONVERSATIONS_TABLE": "conversations",
        "RECTO_CACHE_TABLE": "cache",
        "RECTO_BUCKET": "uploads",
        "RECTO_QUEUE_URL": f"{aws}/hints",
        "RECTO_SECRET_ID": "keys",
        "RECTO_PINECONE_HOST": "http://127.0.0.1:1",
        "RECTO_OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "RECTO_IDENTITY_PROVIDER_NAME": "Company",
        "RECTO_GROUP_ROLES": "Recto-Editors=editor",
        "RECTO_GROUP_TENANTS": "*=acme",
        "RECTO_TENANT_SOURCE": "custom:idp_groups",
        "RECTO_TOKEN_ISSUER": "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_EXAMPLE01",
        "RECTO_TOKEN_CLIENTS": "4example23client45id678901",
        "PYTHONPATH": str(ROOT),
        "PATH": os.environ["PATH"],
    }


class Lambda:
    """One function under the emulator. It takes one invocation at a time, like one slot of Lambda."""

    def __init__(self, port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.port, self.process, self.log = port, process, log

    def invoke(self, event: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/2015-03-31/functions/function/invocations", json.dumps(event).encode()
        )
        with urllib.request.urlopen(request, timeout=START_S) as response:
            answer = json.load(response)
        assert isinstance(answer, dict), answer
        assert "errorType" not in answer, f"{answer}\n{self.log.read_text()}"
        return answer

    def wait_until_it_listens(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        pytest.fail(f"The emulator did not listen within {START_S:.0f} s.\n{self.log.read_text()}")


@contextmanager
def running(function: str, aws: str, directory: Path) -> Iterator[Lambda]:
    port, log = free_port(), directory / "log"
    command = [
        str(emulator()),
        f"--runtime-interface-emulator-address=127.0.0.1:{port}",
        f"--runtime-api-address=127.0.0.1:{free_port()}",
        *[sys.executable, "-m", "awslambdaric", properties(function)["Handler"]],
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=directory, env=variables(function, aws), stdout=output, stderr=output, start_new_session=True
        )
    started = Lambda(port, process, log)
    try:
        started.wait_until_it_listens()
        yield started
    finally:
        # The emulator's own group: it, and the runtime it started.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def query(aws: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lambda]:
    with running("QueryFunction", aws, tmp_path_factory.mktemp("query")) as function:
        yield function


@pytest.fixture(scope="module")
def ingest(aws: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lambda]:
    with running("IngestFunction", aws, tmp_path_factory.mktemp("ingest")) as function:
        yield function


@pytest.fixture(scope="module")
def identity(aws: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lambda]:
    with running("IdentityFunction", aws, tmp_path_factory.mktemp("identity")) as function:
        yield function


@pytest.fixture(scope="module")
def authorizer(aws: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lambda]:
    with running("AuthorizerFunction", aws, tmp_path_factory.mktemp("authorizer")) as function:
        yield function


def event(name: str) -> dict[str, Any]:
    loaded = json.loads((ROOT / "events" / f"{name}.json").read_text())
    assert isinstance(loaded, dict)
    return loaded


def test_the_query_function_says_that_it_is_up(query: Lambda) -> None:
    answer = query.invoke(event("api_get_healthz"))
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["status"] == "ok"


def test_the_query_function_answers_a_preflight(query: Lambda) -> None:
    answer = query.invoke(event("api_options_query"))
    assert answer["statusCode"] == 200
    headers = {name.lower(): value for name, value in answer["headers"].items()}
    assert headers["access-control-allow-origin"] in ("*", "https://example.org")


def test_the_query_function_refuses_a_request_without_claims(query: Lambda) -> None:
    without = event("api_get_documents")
    del without["requestContext"]["authorizer"]
    answer = query.invoke(without)
    assert answer["statusCode"] == 401
    assert json.loads(answer["body"])["code"] == "not_authenticated"


def test_the_ingest_function_lets_the_test_event_of_s3_pass(ingest: Lambda) -> None:
    assert ingest.invoke(event("sqs_s3_test_event")) == {"batchItemFailures": []}


def test_the_identity_function_gives_a_companys_user_role_and_tenant(identity: Lambda) -> None:
    sent = event("cognito_pre_token_company")
    said = {
        "claimsToAddOrOverride": {"custom:tenant": "acme"},
        "groupOverrideDetails": {"groupsToOverride": ["editor", "Everyone", "Recto-Editors"]},
    }
    assert identity.invoke(sent) == {**sent, "response": {"claimsOverrideDetails": said}}


def test_the_identity_function_leaves_a_user_of_the_pool_alone(identity: Lambda) -> None:
    assert identity.invoke(event("cognito_pre_token_pool_user")) == event("cognito_pre_token_pool_user")


def test_the_authorizer_denies_a_header_that_holds_no_token(authorizer: Lambda) -> None:
    policy = authorizer.invoke(event("authorizer_token"))
    (statement,) = policy["policyDocument"]["Statement"]
    assert (policy["principalId"], statement["Effect"]) == ("nobody", "Deny")
    assert statement["Resource"] == "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/v1/*"
