"""The functions' roles against the calls of the whole suite, which the emulator judged: nothing denied, nothing unused.

It comes last (conftest.py), so that every other test has made its calls.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from local.stack.laptop import Laptop
from tests.support.local_stack import run_local

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


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the emulator judged: the role's name, action, resource."""

    role: str
    action: str
    resource: str
    allowed: bool


@pytest.fixture(scope="module")
def calls(laptop: Laptop, state: Path, samples: dict[str, str]) -> list[Call]:
    """The functions' calls so far, those of a whole sweep among them."""
    if not laptop.config.enforce_roles:
        pytest.skip("this stack does not enforce the roles")
    swept = run_local(state, "sweep")
    assert swept.returncode == 0, swept.stderr
    lines = [json.loads(line) for line in laptop.config.calls.read_text().splitlines()]
    return [
        Call(line["who"].split("/")[1], line["action"], line["resource"], line["allowed"])
        for line in lines
        if ":assumed-role/" in line["who"]
    ]


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
    assert len({call.role for call in calls}) == 3, "ingest, maintenance and query have all made calls"
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
