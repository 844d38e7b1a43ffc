"""The operator's verbs on the running stack: what failed is tried again, what a crash left is swept."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from local.client import ApiClient
from local.operate import laptop_target, maintain
from local.stack import users
from local.stack.config import PINECONE_INDEX
from local.stack.laptop import Laptop
from local.stack.sam import EMULATOR_KEY
from shared.models import document_id_of
from tests.support.local_stack import run_local
from tests.support.waiting import until

MakePdf = Callable[..., bytes]
KEY = f"uploads/{users.DEMO.tenant}/operate/quarry.pdf"


def dead_letters(laptop: Laptop) -> int:
    found = laptop.aws.sqs.get_queue_attributes(
        QueueUrl=laptop.deployed().outputs["DlqUrl"], AttributeNames=["ApproximateNumberOfMessages"]
    )
    return int(found["Attributes"]["ApproximateNumberOfMessages"])


def turn_trigger(laptop: Laptop, *, on: bool) -> None:
    triggers = laptop.aws.lambda_.list_event_source_mappings()["EventSourceMappings"]
    (trigger,) = [each for each in triggers if each["EventSourceArn"].endswith("-changes")]
    laptop.aws.lambda_.update_event_source_mapping(UUID=trigger["UUID"], Enabled=on)
    wanted = "Enabled" if on else "Disabled"
    until(
        lambda: laptop.aws.lambda_.get_event_source_mapping(UUID=trigger["UUID"])["State"] == wanted,
        what=f"the trigger is {wanted}",
    )


def receive_four_times(laptop: Laptop) -> None:
    """Spend four of a change notification's five deliveries, so that the function's own waits between them need not be
    sat through.
    """
    for _ in range(4):
        message = laptop.aws.sqs.receive_message(
            QueueUrl=laptop.deployed().outputs["QueueUrl"], VisibilityTimeout=0, WaitTimeSeconds=10
        )
        assert KEY in message["Messages"][0]["Body"]


def test_what_a_refusing_provider_left_with_the_dead_letters_is_ready_after_a_redrive(
    laptop: Laptop, api: ApiClient, pdf_about: MakePdf
) -> None:
    openai = laptop.config.openai_url.removesuffix("/v1")
    content = pdf_about("The quarry of Ost", "# Facts", "The quarry of Ost yields green marble since 1907.")
    turn_trigger(laptop, on=False)
    try:
        laptop.aws.s3.put_object(Bucket=laptop.deployed().bucket, Key=KEY, Body=content)
        receive_four_times(laptop)
        rule = {"route": "/v1/embeddings", "kind": "status", "status": 401, "body": {"error": {"message": "no key"}}}
        httpx.post(f"{openai}/_admin/faults", json=rule).raise_for_status()
    finally:
        turn_trigger(laptop, on=True)
    document_id = document_id_of(users.DEMO.tenant, KEY)
    try:
        failed = api.wait_until(document_id, lambda d: d["status"] == "FAILED")
        assert "make redrive" in failed["error"]["message"]
        until(lambda: dead_letters(laptop) == 1, what="the change notification lies with the dead letters")
    finally:
        httpx.delete(f"{openai}/_admin/faults").raise_for_status()
    told = run_local(laptop.config.state, "redrive")
    assert told.returncode == 0, told.stderr
    assert KEY in told.stdout
    assert "1 dead letter is back" in told.stdout
    assert api.wait_until(document_id, lambda d: d["status"] == "READY")["error"] is None
    assert dead_letters(laptop) == 0
    assert "There are no dead letters." in run_local(laptop.config.state, "redrive").stdout


def test_a_sweep_deletes_what_nobody_knows_of_and_leaves_the_documents(
    laptop: Laptop, api: ApiClient, samples: dict[str, str]
) -> None:
    headers = {"Api-Key": EMULATOR_KEY}
    host = httpx.get(f"{laptop.config.pinecone_url}/indexes/{PINECONE_INDEX}", headers=headers).json()["host"]
    index = host if "://" in host else f"http://{host}"
    lost = {"id": "nobody#G#0", "values": [1.0] + [0.0] * 383, "metadata": {"text": "x"}}
    body = {"namespace": users.DEMO.tenant, "vectors": [lost]}
    httpx.post(f"{index}/vectors/upsert", json=body, headers=headers).raise_for_status()
    told = run_local(laptop.config.state, "sweep")
    assert told.returncode == 0, told.stderr
    assert "1 orphan deleted" in told.stdout
    assert "0 orphans deleted" in run_local(laptop.config.state, "sweep").stdout
    question = "At what temperature is the coffee boiler of the Brunata Duo held?"
    assert "93" in " ".join(citation["quote"] for citation in api.query(question)["citations"])


def test_maintenance_has_four_schedules_that_call_it(laptop: Laptop) -> None:
    events = laptop.aws.client("events")
    asked = []
    for rule in laptop.deployed().of_type("AWS::Events::Rule"):
        name = rule.physical_id.rsplit("/", 1)[-1]
        found = events.describe_rule(Name=name)
        assert found["State"] == "ENABLED"
        if "ScheduleExpression" not in found:  # hand-offs are told by mail
            continue
        (target,) = events.list_targets_by_rule(Rule=name)["Targets"]
        assert target["Arn"].endswith(laptop.deployed().outputs["MaintenanceFunctionName"] + ":live")
        asked.append((found["ScheduleExpression"], json.loads(target.get("Input") or "{}").get("recto", "")))
    assert sorted(asked) == [
        ("rate(5 minutes)", "erase"),
        ("rate(5 minutes)", "reindex_automatically"),
        ("rate(5 minutes)", "rules"),
        ("rate(6 hours)", ""),
    ]


def test_every_document_was_built_with_the_settings_of_the_day(laptop: Laptop, samples: dict[str, str]) -> None:
    told = maintain(laptop_target(laptop), {"recto": "reindex_automatically"})
    assert (told["waiting"], told["problem"]) == ([], "")


def test_a_tenant_is_indexed_anew_switched_rolled_back_and_confirmed(
    laptop: Laptop, api: ApiClient, samples: dict[str, str]
) -> None:
    def searched() -> str:
        return run_local(laptop.config.state, "reindex", "status", "--tenant", users.DEMO.tenant).stdout

    def answered() -> bool:
        question = "At what temperature is the coffee boiler of the Brunata Duo held?"
        return "93" in " ".join(citation["quote"] for citation in api.query(question)["citations"])

    assert "queries search index version 1" in searched()
    told = run_local(laptop.config.state, "reindex", "--tenant", users.DEMO.tenant)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "queries search index version 2" in told.stdout
    assert answered()
    told = run_local(laptop.config.state, "reindex", "rollback", "--tenant", users.DEMO.tenant)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "queries search index version 1" in searched()
    assert answered()
    early = run_local(laptop.config.state, "reindex", "confirm", "--tenant", users.DEMO.tenant)
    assert early.returncode == 1
    assert "try again in" in early.stdout


def test_a_stack_without_credentials_is_told_about_in_words(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "nowhere")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    told = run_local(state, "sweep", "--stack-name", "recto")
    assert told.returncode == 1
    assert "Check the credentials" in told.stderr
    assert "Traceback" not in told.stderr


def test_the_self_test_of_a_good_stack_is_green_and_leaves_nothing_behind(laptop: Laptop, state: Path) -> None:
    ran = run_local(state, "smoke")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "The stack works" in ran.stdout
    pool = laptop.deployed().one("AWS::Cognito::UserPool")
    names = [user["Username"] for user in laptop.aws.cognito.list_users(UserPoolId=pool)["Users"]]
    assert not any("smoke" in str(name) for name in names)
