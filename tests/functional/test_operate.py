"""Dead letters go back to the queue as they were, and each is named."""

import io
import json
from collections.abc import Iterator
from typing import Any, cast

import boto3
import pytest
from rich.console import Console

from functions.ingest.changes import change_body
from local.erasure import in_dead_letters
from local.operate import Target, redrive, redriven
from local.report import Reporter
from shared.models import document_id_of
from tests.support.moto_aws import MockedAws, mocked_aws


@pytest.fixture
def aws() -> Iterator[MockedAws]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as mocked:
        yield mocked


@pytest.fixture
def target(aws: MockedAws) -> Target:
    dead = aws.sqs.create_queue(QueueName="changes-dead")["QueueUrl"]
    nobody = cast("Any", boto3.client("lambda"))
    return Target(nobody, aws.sqs, nobody, {"DlqUrl": dead, "QueueUrl": aws.queue_url}, nobody)


def bodies_in(aws: MockedAws, url: str) -> list[str]:
    bodies = []
    while messages := aws.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in messages]
    return sorted(bodies)


def test_every_dead_letter_is_back_once_and_none_is_left(aws: MockedAws, target: Target) -> None:
    letters = sorted(change_body(f"uploads/acme/{n}.pdf") for n in range(23))
    for body in letters:
        aws.sqs.send_message(QueueUrl=target.outputs["DlqUrl"], MessageBody=body)
    keys = sorted(key for found in redriven(target) for key in found)
    assert keys == sorted(f"uploads/acme/{n}.pdf" for n in range(23))
    assert bodies_in(aws, target.outputs["QueueUrl"]) == letters
    assert bodies_in(aws, target.outputs["DlqUrl"]) == []


def test_an_interrupted_redrive_loses_nothing(aws: MockedAws, target: Target) -> None:
    for n in range(3):
        aws.sqs.send_message(QueueUrl=target.outputs["DlqUrl"], MessageBody=change_body(f"uploads/acme/{n}.pdf"))
    next(redriven(target))
    waiting = aws.sqs.get_queue_attributes(
        QueueUrl=target.outputs["DlqUrl"],
        AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    )["Attributes"]
    assert sum(map(int, waiting.values())) == 2
    assert len(bodies_in(aws, target.outputs["QueueUrl"])) == 1


def test_redrive_says_what_it_did(aws: MockedAws, target: Target) -> None:
    console = Console(file=io.StringIO(), record=True, width=200)
    reporter = Reporter(console)
    assert redrive(target, reporter) == 0
    aws.sqs.send_message(QueueUrl=target.outputs["DlqUrl"], MessageBody=change_body("faq/acme/leave.json"))
    aws.sqs.send_message(QueueUrl=target.outputs["DlqUrl"], MessageBody="no JSON")
    assert redrive(target, reporter) == 0
    told = console.export_text()
    for words in ("There are no dead letters.", "faq/acme/leave.json", "names no key", "2 dead letters are back"):
        assert words in told


def test_every_dead_letter_is_searched_for_erased_documents_and_stays(aws: MockedAws, target: Target) -> None:
    letters = [change_body(f"uploads/acme/{n}.pdf") for n in range(23)]
    s3 = {"object": {"key": "uploads/acme/a+b%C5%A1.pdf", "sequencer": "1"}}  # as S3 writes keys
    letters.append(json.dumps({"Records": [{"eventSource": "aws:s3", "s3": s3}]}))
    for body in letters:
        aws.sqs.send_message(QueueUrl=target.outputs["DlqUrl"], MessageBody=body)
    erased = {document_id_of("acme", f"uploads/acme/{name}.pdf") for name in (*range(23), "a bš", "another")}
    found = list(in_dead_letters(target, erased))
    assert len(found) == 24
    assert erased - {trace.subject for trace in found} == {document_id_of("acme", "uploads/acme/another.pdf")}
    assert bodies_in(aws, target.outputs["DlqUrl"]) == sorted(letters)
