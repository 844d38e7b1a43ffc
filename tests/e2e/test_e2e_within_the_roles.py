"""The functions' roles against the calls of the whole suite, which the emulator judged: nothing denied, nothing unused.

It comes last (conftest.py), so that every other test has made its calls.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from local.client import ApiClient
from local.stack import users
from local.stack.config import REGION
from local.stack.laptop import Laptop
from shared.adapters.conversations import DynamoConversationStore
from shared.adapters.erasures import DynamoErasures
from shared.erasures import Erasure
from shared.models import Message, document_id_of
from tests.support.local_stack import run_local
from tests.support.sample_pdfs import SampleText, make_pdf

NOT_JUDGED = {
    "logs:CreateLogStream": "the emulator writes the functions' logs itself",
    "logs:PutLogEvents": "the emulator writes the functions' logs itself",
    "xray:PutTelemetryRecords": "there is no X-Ray on the laptop",
    "xray:PutTraceSegments": "there is no X-Ray on the laptop",
    "sqs:ReceiveMessage": "the emulator polls the queue for the function",
    "sqs:DeleteMessage": "the emulator polls the queue for the function",
    "sqs:GetQueueAttributes": "the emulator polls the queue for the function",
    "sqs:SendMessage": "only a document that takes longer than one invocation is continued; tests/chaos has such ones",
    "s3:PutObject": "the emulator does not judge presigned forms",
    "s3:DeleteObjectVersion": "the emulator judges a batch delete as s3:DeleteObject, AWS by the version that is named",
}
ANSWERS_404 = {"TellGoneFromForbidden", "TellMissingGlossaries"}
"""Statements that are needed without a call: with them S3 answers 404 for a missing key, without them 403."""


TRIAL = "trial"
"""The session of this file's own calls in a function's role."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the emulator judged: the role's name, action, resource."""

    role: str
    action: str
    resource: str
    allowed: bool


@pytest.fixture(scope="module")
def calls(laptop: Laptop, state: Path, samples: dict[str, str]) -> list[Call]:
    """The functions' calls so far, those of a deletion and of a whole sweep among them.

    Both are done here once more, while nothing else runs: some rights are used by a single other test only.
    """
    if not laptop.config.enforce_roles:
        pytest.skip("this stack does not enforce the roles")
    key = f"uploads/{users.DEMO.tenant}/roles/deleted.pdf"
    content = make_pdf(SampleText({"title": "The kiln", "subtitle": "A test", "edition": "1"}, ["The kiln is cold."]))
    laptop.aws.s3.put_object(Bucket=laptop.deployed().bucket, Key=key, Body=content)
    with laptop.client(users.DEMO) as client:
        document_id = document_id_of(users.DEMO.tenant, key)
        client.wait_until_final(document_id)
        assert client.request("GET", f"/documents/{document_id}/edits").is_success
        assert client.query("Which documents do you have?")["mode"] == "service"
        assert client.request("GET", f"/documents/{document_id}/content").status_code == 200
        unknown = client.request("GET", f"/documents/{document_id}/content", params={"version_id": "never-given"})
        assert unknown.status_code == 410
        labelled = client.request("PATCH", f"/documents/{document_id}", json={"labels": {"phase": "trial"}})
        assert labelled.status_code == 200
        assert client.delete_document(document_id)["status"] == "DELETING"
        erase_what_the_api_only_began(laptop, state, client)
    swept = run_local(state, "sweep")
    assert swept.returncode == 0, swept.stderr
    lines = [json.loads(line) for line in laptop.config.calls.read_text().splitlines()]
    return [
        Call(line["who"].split("/")[1], line["action"], line["resource"], line["allowed"])
        for line in lines
        if ":assumed-role/" in line["who"] and not line["who"].endswith(f"/{TRIAL}")
    ]


def erase_what_the_api_only_began(laptop: Laptop, state: Path, client: ApiClient) -> None:
    """Begin the erasures of a document and of a user, as an API that was killed then, and have maintenance do them."""
    key, tenant, user = f"uploads/{users.DEMO.tenant}/roles/erased.pdf", users.DEMO.tenant, "erased-trial"
    content = make_pdf(SampleText({"title": "The loom", "subtitle": "A test", "edition": "1"}, ["The loom is oiled."]))
    laptop.aws.s3.put_object(Bucket=laptop.deployed().bucket, Key=key, Body=content)
    document_id = document_id_of(tenant, key)
    client.wait_until_final(document_id)
    assert client.query("What is done to the loom?")["citations"]
    outputs = laptop.deployed().outputs
    dynamodb, conversations = laptop.aws.client("dynamodb"), outputs["ConversationsTableName"]
    store = DynamoConversationStore(dynamodb, conversations)
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    turns = [Message("0" * 26, "user", "Why?", at), Message("1".zfill(26), "assistant", "So.", at)]
    store.save_turns(tenant, user, "2".zfill(26), title="Why?", turns=turns, is_new=True)
    old = {"pk": {"S": "CHUNK#trial"}, "expires_at": {"N": "1"}}
    dynamodb.put_item(TableName=outputs["CacheTableName"], Item=old)
    for number, subject in enumerate((document_id, user)):
        DynamoErasures(dynamodb, conversations).begin(
            Erasure(
                tenant=tenant,
                erasure_id=str(number).zfill(26),
                kind="user" if subject == user else "document",
                subject=subject,
                requested_by="trial",
                begun_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                key="" if subject == user else key,
            )
        )
    finished = run_local(state, "erasure", "finish", "--settle", "1")
    assert finished.returncode == 0, finished.stderr
    checked = run_local(state, "erasure", "check")
    assert (checked.returncode, "0 traces of 2 erased ids." in checked.stdout) == (0, True), checked.stdout
    receipt = state / "RECEIPT.json"
    receipt.write_text(client.request("GET", f"/erasures/{'0' * 26}").text, encoding="utf-8")
    assert "Genuine. The document" in run_local(state, "erasure", "verify", str(receipt)).stdout


def granted(laptop: Laptop) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield role, statement, action and resources of everything the deployed roles allow."""
    iam = laptop.aws.client("iam")
    for role in laptop.deployed().of_type("AWS::IAM::Role"):
        for policy in iam.list_role_policies(RoleName=role.physical_id)["PolicyNames"]:
            found = iam.get_role_policy(RoleName=role.physical_id, PolicyName=policy)["PolicyDocument"]
            document: dict[str, Any] = json.loads(found) if isinstance(found, str) else found
            for statement in document["Statement"]:
                for action in as_list(statement["Action"]):
                    yield role.physical_id, statement["Sid"], action, as_list(statement["Resource"])


def as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def test_no_call_of_a_function_was_denied(calls: list[Call]) -> None:
    assert len({call.role for call in calls}) == 5, "authorizer, ingest, maintenance, OCR and query have all made calls"
    assert [call for call in calls if not call.allowed] == []


def test_every_right_of_a_role_was_used(laptop: Laptop, calls: list[Call]) -> None:
    unused = [
        f"{role}: {sid}: {action}"
        for role, sid, action, resources in granted(laptop)
        if action not in NOT_JUDGED
        and sid not in ANSWERS_404
        and not any(
            (call.role, call.action) == (role, action) and any(fnmatchcase(call.resource, each) for each in resources)
            for call in calls
        )
    ]
    assert not unused, "\n".join(unused)


# --- kinds of items and prefixes: docs/decisions/0019 ----------------------------------------------------------------


@pytest.fixture(scope="module")
def stores(laptop: Laptop) -> Callable[[str, str], Any]:
    """Return a function that makes a client of `dynamodb` or `s3` with the credentials of a role of the template."""
    if not laptop.config.enforce_roles:
        pytest.skip("this stack does not enforce the roles")
    names = {each.logical_id: each.physical_id for each in laptop.deployed().of_type("AWS::IAM::Role")}

    @cache
    def client(role: str, service: str) -> Any:
        arn = laptop.aws.client("iam").get_role(RoleName=names[role])["Role"]["Arn"]
        session = laptop.aws.client("sts").assume_role(RoleArn=arn, RoleSessionName=TRIAL)["Credentials"]
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=laptop.config.aws_url,
            aws_access_key_id=session["AccessKeyId"],
            aws_secret_access_key=session["SecretAccessKey"],
            aws_session_token=session["SessionToken"],
            config=Config(proxies={}, s3={"addressing_style": "path"}),
        )

    return client


def is_allowed(call: Callable[..., Any], **request: Any) -> bool:
    try:
        call(**request)
    except ClientError as error:
        if not error.response["Error"]["Code"].startswith("AccessDenied"):
            raise
        return False
    return True


@pytest.mark.parametrize(
    ("role", "table", "key", "allowed"),
    [
        ("QueryRole", "DocumentsTable", "TENANT#trial", True),
        ("QueryRole", "DocumentsTable", "STACK", False),
        ("QueryRole", "ConversationsTable", "TENANT#trial#USER#u", True),
        ("QueryRole", "ConversationsTable", "USAGE#trial", False),  # it is counted and listed, never read by key
        ("QueryRole", "ConversationsTable", "KEY#trial", True),
        ("AuthorizerRole", "ConversationsTable", "KEY#trial", True),
        ("AuthorizerRole", "ConversationsTable", "TENANT#trial#KEYS", False),
        ("AuthorizerRole", "ConversationsTable", "TENANT#trial#USER#u", False),
        ("QueryRole", "CacheTable", "ANS#trial", True),
        ("QueryRole", "CacheTable", "CHUNK#trial", False),
        ("IngestRole", "DocumentsTable", "TENANT#trial", True),
        ("IngestRole", "DocumentsTable", "STACK", False),
        ("MaintenanceRole", "DocumentsTable", "STACK", True),
        ("MaintenanceRole", "DocumentsTable", "OCR#trial", False),
        ("MaintenanceRole", "ConversationsTable", "TENANT#trial#USER#u", True),
        ("MaintenanceRole", "ConversationsTable", "KEY#trial", False),
        ("MaintenanceRole", "ConversationsTable", "TENANT#trial#KEYS", False),
    ],
)
def test_a_role_reads_its_own_kinds_of_items_only(
    laptop: Laptop, stores: Callable[[str, str], Any], role: str, table: str, key: str, allowed: bool
) -> None:
    name = laptop.deployed().outputs[f"{table}Name"]
    item = {"pk": {"S": key}} | ({} if table == "CacheTable" else {"sk": {"S": "TRIAL"}})
    assert is_allowed(stores(role, "dynamodb").get_item, TableName=name, Key=item) is allowed


def test_ingest_writes_no_conversation(laptop: Laptop, stores: Callable[[str, str], Any]) -> None:
    table = laptop.deployed().outputs["ConversationsTableName"]
    item = {"pk": {"S": "TENANT#trial#USER#u"}, "sk": {"S": "TRIAL"}}
    assert not is_allowed(stores("IngestRole", "dynamodb").update_item, TableName=table, Key=item)


@pytest.mark.parametrize(("prefix", "allowed"), [("uploads/trial/", True), ("glossary/", False), ("", False)])
def test_documents_are_listed_and_nothing_else(
    laptop: Laptop, stores: Callable[[str, str], Any], prefix: str, allowed: bool
) -> None:
    named = {"Bucket": laptop.deployed().bucket, **({"Prefix": prefix} if prefix else {})}
    assert is_allowed(stores("QueryRole", "s3").list_object_versions, **named) is allowed
    assert is_allowed(stores("MaintenanceRole", "s3").list_objects_v2, **named) is allowed
