"""No line that any function or program of the stack has logged holds a question, a document's sentence or a secret.

It comes last (conftest.py), so that it reads the logs of all the others.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.metrics import series_of
from local.stack import users
from local.stack.laptop import Laptop
from shared.adapters.aws import from_item
from tests.e2e.conftest import LAST
from tests.support.local_stack import run_local
from tests.support.log_scan import Private

OF_THE_EMULATOR = ("Cognito: SAML IdP response", "[sns] SNS ")
"""The emulator tells whom Cognito signs in and what SNS mails; no function of the stack writes these lines."""
QUESTION = "How often are the coffee boilers descaled?"
UNANSWERABLE = "Who won the football world cup in 1998?"


@pytest.fixture(scope="module")
def log_lines(laptop: Laptop, samples: dict[str, str]) -> dict[str, list[str]]:
    """Every line, after an answer and a refusal of the function and of the streaming port."""
    for streaming in (False, True):
        with laptop.client(users.DEMO, streaming=streaming) as client:
            for question in (QUESTION, UNANSWERABLE):
                assert list(client.query_stream(question)) if streaming else client.query(question)
    return laptop.log_lines()


@pytest.fixture(scope="module")
def known(laptop: Laptop, private: Private) -> Private:
    """All that was asked, uploaded, answered or used as a secret: by this process, and as the stack has stored it."""
    for content in objects(laptop):
        private.add_file(content)
    table = laptop.deployed().outputs["ConversationsTableName"]
    for page in laptop.aws.dynamodb.get_paginator("scan").paginate(TableName=table):
        for item in map(from_item, page["Items"]):
            add = private.add_question if item.get("role") == "user" else private.add_text
            add(str(item.get("content", "")))
    secret = laptop.aws.secrets.get_secret_value(SecretId=laptop.deployed().outputs["SecretId"])["SecretString"]
    for value in (*json_values(secret), *json_values((laptop.config.state / users.RECORD).read_text())):
        private.add_secret(value)
    return private


def objects(laptop: Laptop) -> Iterator[bytes]:
    """Yield every version of every object, the deleted ones included."""
    bucket = laptop.deployed().bucket
    for page in laptop.aws.s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for each in page.get("Versions", []):
            found = laptop.aws.s3.get_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])
            yield found["Body"].read()


def json_values(text: str) -> list[str]:
    return [str(value) for value in json.loads(text).values()]


def test_it_comes_after_all_the_others(request: pytest.FixtureRequest) -> None:
    files = [item.path.name for item in request.session.items if item.get_closest_marker("e2e")]
    assert files == sorted(files, key=lambda name: LAST.index(name) if name in LAST else -1)


def test_every_function_has_logged_what_it_does(log_lines: dict[str, list[str]]) -> None:
    told = {name: "\n".join(lines) for name, lines in log_lines.items()}
    said = {"-ingest": '"document published"', "-query": '"answered"', "streaming": '"answered"'}
    for name, message in said.items():
        assert any(name in source and message in lines for source, lines in told.items()), name


def test_the_metrics_of_the_run_are_told_and_drawn(
    state: Path, log_lines: dict[str, list[str]], tmp_path: Path
) -> None:
    told = run_local(state, "metrics")
    assert told.returncode == 0, told.stderr
    for name in ("AnswersGenerated", "RefusedNoRelevantInfo", "IngestPublished", "EmbeddedTokens", "RetrieveTime"):
        assert name in told.stdout
    drawn = run_local(state, "metrics", "--picture", str(tmp_path / "dashboard.png"))
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "dashboard.png").stat().st_size > 20_000


def test_a_metric_has_few_dimensions(log_lines: dict[str, list[str]]) -> None:
    series = series_of(line for lines in log_lines.values() for line in lines)
    assert series
    assert {name for each in series for name, _ in each.dimensions} <= {"service", "Dependency", "function_name"}
    assert len(series) <= 90, "CloudWatch bills each of them"


def test_no_line_of_a_log_holds_content_or_a_secret(log_lines: dict[str, list[str]], known: Private) -> None:
    assert len(known.questions) >= 2
    assert len(known.runs) > 1_000
    assert known.secrets
    leaking = [
        f"{name}: {leak}: {line[:300]}"
        for name, lines in log_lines.items()
        for line in lines
        if not (name == "ministack" and any(each in line for each in OF_THE_EMULATOR))
        for leak in known.leaks(line)
    ]
    assert not leaking, "\n".join(leaking[:20])
