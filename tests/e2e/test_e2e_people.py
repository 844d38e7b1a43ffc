"""What people answer, on the deployed stack: FAQs, and hand-offs from the refusal to the published answer."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.waiting import until

WAIT_S = 120.0
CALL_S = 90.0
"""Seconds that one call may take: the emulator starts a process for each function, and under load that takes long."""


@pytest.fixture
def api(laptop: Laptop) -> Iterator[ApiClient]:
    """A patient client of the demo tenant's editor."""
    with laptop.client(users.DEMO, timeout_s=CALL_S) as client:
        yield client


def test_of_two_editors_of_one_faq_one_wins_and_its_answer_is_given(api: ApiClient, laptop: Laptop) -> None:
    question = "Which knot holds the ferry at Velna?"
    made = api.request("POST", "/faqs", json={"question": question, "answer": "A clove hitch holds the ferry."})
    assert made.status_code == 201, made.text
    path, etag = f"/faqs/{made.json()['faq_id']}", made.headers["etag"]

    def change(answer: str) -> tuple[int, str]:
        with laptop.client(users.DEMO, timeout_s=CALL_S) as editor:
            body = {"question": question, "answer": answer}
            return editor.request("PUT", path, json=body, headers={"If-Match": etag}).status_code, answer

    with ThreadPoolExecutor(2) as both:
        answers = ("A bowline holds the ferry at Velna.", "A sheet bend holds the ferry at Velna.")
        results = sorted(both.map(change, answers))
    assert [status for status, _ in results] == [200, 412]

    def faq() -> dict[str, Any]:
        found: dict[str, Any] = api.request("GET", path).json()
        return found

    seen = until(faq, lambda found: found["status"] not in {"PENDING", "PROCESSING"}, within_s=WAIT_S)
    assert (seen["status"], seen["answer"]) == ("READY", results[0][1])
    answer = api.query(question)
    assert results[0][1] in answer["answer"]
    assert answer["citations"][0]["document_id"] == seen["document_id"]
    assert api.request("DELETE", path).status_code == 202
    assert api.request("GET", path).status_code == 404


@pytest.fixture
def agents(laptop: Laptop) -> Iterator[list[ApiClient]]:
    """Two agents of the demo tenant."""
    pool, made = laptop.deployed().one("AWS::Cognito::UserPool"), []
    for name in ("bea@example.com", "cem@example.com"):
        password = users.new_password()
        users.create(laptop.aws.cognito, pool, users.User(name, users.DEMO.tenant, "agent"), password=password)
        signed_in = laptop.aws.cognito.initiate_auth(
            ClientId=laptop.deployed().outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": name, "PASSWORD": password},
        )
        token = signed_in["AuthenticationResult"]["IdToken"]
        made.append(ApiClient(laptop.deployed().api_url, token, CALL_S))
    yield made
    for each in made:
        each.close()


@pytest.fixture
def mails(laptop: Laptop) -> Callable[[], list[dict[str, Any]]]:
    """What the topic of hand-offs has sent, read from a queue beside the mail address."""
    sns, sqs = laptop.aws.client("sns"), laptop.aws.client("sqs")
    (topic,) = [
        each.physical_id for each in laptop.deployed().of_type("AWS::SNS::Topic") if "handoffs" in each.physical_id
    ]
    queue = sqs.create_queue(QueueName="test-handoff-mails")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    allowed = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": arn,
        "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"Policy": policy})
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    read: list[dict[str, Any]] = []

    def look() -> list[dict[str, Any]]:
        found = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1).get("Messages", [])
        for each in found:
            read.append(json.loads(json.loads(each["Body"])["Message"]))
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=each["ReceiptHandle"])
        return read

    return look


def unanswered_questions(editor: ApiClient) -> list[str]:
    """The examples of all clusters of unanswered questions."""
    clusters = editor.request("GET", "/insights/unanswered?limit=100").json()["clusters"]
    return [example["question"] for cluster in clusters for example in cluster["examples"]]


def test_the_loop_refused_handed_off_resolved_published_answered(
    api: ApiClient, agents: list[ApiClient], mails: Callable[[], list[dict[str, Any]]]
) -> None:
    question = "Who won the national chess championship of 1987?"
    refused = api.query(question)
    assert refused["handoff_offered"]
    conversation = refused["conversation_id"]
    assert question in unanswered_questions(api)

    opened = api.request("POST", f"/conversations/{conversation}/handoff", json={"reason": "For the programme."})
    assert (opened.status_code, opened.json()["notified"]) == (201, True)
    handoff = opened.json()
    assert api.request("POST", f"/conversations/{conversation}/handoff", json={}).status_code == 200
    mailed = until(mails, lambda seen: any(each["handoff"] == handoff["handoff_id"] for each in seen), within_s=WAIT_S)
    assert {each["question"] for each in mailed} == {question}

    path = f"/handoffs/{handoff['handoff_id']}"
    with ThreadPoolExecutor(2) as both:
        claims = list(both.map(lambda agent: agent.request("POST", f"{path}/claim").status_code, agents))
    assert sorted(claims) == [200, 409]
    winner, loser = agents if claims[0] == 200 else agents[::-1]
    answer = "Rasa Petrauskaite won the national chess championship of 1987."
    assert loser.request("POST", f"{path}/resolve", json={"answer": answer}).status_code == 409
    assert winner.request("GET", path).json()["transcript"][0]["content"] == question
    for _ in range(2):
        resolved = winner.request("POST", f"{path}/resolve", json={"answer": answer, "publish": True})
        assert (resolved.status_code, resolved.json()["publication"]) == (200, "requested")
    said = [each for each in api.conversation(conversation)["messages"] if each["role"] == "agent"]
    assert [each["content"] for each in said] == [answer]

    waiting = api.request("GET", "/handoffs?status=resolved&limit=200").json()["handoffs"]
    assert handoff["handoff_id"] in {each["handoff_id"] for each in waiting}
    published = api.request("POST", f"{path}/publish", json={}).json()
    assert published["publication"] == "published"
    document_id = published["document_id"]
    assert question not in unanswered_questions(api)

    def status() -> str:
        found = api.request("GET", f"/documents/{document_id}")
        return str(found.json().get("status", "")) if found.is_success else ""

    assert until(status, lambda seen: seen not in {"", "PENDING", "PROCESSING"}, within_s=WAIT_S) == "READY"
    answered = api.query(question)
    assert "Rasa Petrauskaite" in answered["answer"]
    citation = answered["citations"][0]
    assert (citation["document_id"], citation["source_type"]) == (document_id, "resolved_query")
    assert citation["quote"].removeprefix("Answer: ") in answer
    api.delete_document(document_id)  # as if it had never been known: other tests ask, too
