"""What the query function does without each thing it depends on: faults on the wire, the real handler, real clients."""

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest

from functions.query import bootstrap
from tests.support.aws_wire import AwsWire, aws_on_the_wire
from tests.support.ingest import Stack, pdf_of
from tests.support.moto_aws import REGION
from tests.support.query_stack import HANDBOOK, LENS, Faulty, call, calls_of, forget_calls, query_stack, raw_call

BOILER = "uploads/acme/boiler.pdf"


@dataclass
class DegradedWorld:
    """The stack, with DynamoDB, S3 and Secrets Manager over connections that can be broken."""

    stack: Stack
    dynamodb: AwsWire
    s3: AwsWire
    secrets: AwsWire

    def fault(self, base: str, **fault: Any) -> AbstractContextManager[None]:
        return Faulty(self.stack, base, **fault)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DegradedWorld]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("faults"), GLOSSARY_TTL_S="1") as stack,
        aws_on_the_wire(patch, "dynamodb", REGION) as dynamodb,
        aws_on_the_wire(patch, "s3", REGION) as s3,
        aws_on_the_wire(patch, "secretsmanager", REGION) as secrets,
    ):
        yield DegradedWorld(stack, dynamodb, s3, secrets)
        bootstrap.reset()


@pytest.fixture
def world(running: DegradedWorld) -> DegradedWorld:
    """A container of its own for each test: clients, caches and breakers are new."""
    bootstrap.reset()
    table = running.stack.aws.dynamodb
    for item in table.scan(TableName="cache")["Items"]:
        table.delete_item(TableName="cache", Key={"pk": item["pk"]})
    forget_calls(running.stack)
    for wire in (running.dynamodb, running.s3, running.secrets):
        wire.calls.clear()
    return running


def ask(question: str = LENS, **more: Any) -> dict[str, Any]:
    status, body, _ = call("POST", "/query", {"question": question, **more})
    assert status == 200, body
    return body


def refused(question: str = LENS) -> tuple[int, dict[str, Any], dict[str, str]]:
    status, body, headers = call("POST", "/query", {"question": question})
    assert status >= 500, body
    assert headers["content-type"] == "application/problem+json"
    return status, body, headers


# --- embeddings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 500},
        {"kind": "status", "status": 429},
        {"kind": "status", "status": 429, "headers": {"Retry-After": "60"}},
        {"kind": "status", "status": 200, "body": "{not json"},
        {"kind": "status", "status": 200, "body": {"data": []}},
        {"kind": "status", "status": 401, "body": {"error": {"message": "bad key"}}},
        {"kind": "reset"},
        {"kind": "truncate"},
    ],
)
def test_without_embeddings_the_search_is_lexical(world: DegradedWorld, fault: dict[str, Any]) -> None:
    with world.fault(world.stack.openai_url, route="/v1/embeddings", **fault):
        answer = ask("How often must the lens of the lighthouse lamp be cleaned with vinegar?")
    lasts = fault.get("status") == 401
    assert f"embeddings_{'refused' if lasts else 'unavailable'}" in answer["warnings"]
    assert answer["best_score"] is None
    assert "Thursday" in answer["citations"][0]["quote"]


def test_a_transient_fault_of_the_embeddings_is_retried(world: DegradedWorld) -> None:
    with world.fault(world.stack.openai_url, route="/v1/embeddings", kind="status", status=503, count=1):
        assert ask()["warnings"] == []


# --- vectors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [{"kind": "status", "status": 503}, {"kind": "reset"}, {"kind": "truncate"}])
def test_without_the_index_an_answer_of_the_last_hour_is_given_again(
    world: DegradedWorld, fault: dict[str, Any]
) -> None:
    first = ask()
    world.stack.put(BOILER, pdf_of(["The boiler is in the cellar."]))
    world.stack.deliver(BOILER)  # something was added since, so the answer is not fresh any more
    with world.fault(world.stack.pinecone_url, route="/query", **fault):
        again = ask()
        assert again["cached"]
        assert again["answer"] == first["answer"]
        assert again["citations"] == first["citations"]
        assert "search_unavailable" in again["warnings"]
        assert again["message_id"] != first["message_id"]
        status, problem, headers = refused("Where is the boiler?")
    assert (status, problem["code"]) == (503, "unavailable")
    assert int(headers["retry-after"]) >= 1


def test_without_the_index_what_was_deleted_is_not_answered_from(world: DegradedWorld) -> None:
    key = "uploads/acme/deleted.pdf"
    question = "What is the password of the north gate?"
    world.stack.put(key, pdf_of(["The password of the north gate is swordfish and it never changes."]))
    world.stack.deliver(key)
    assert "swordfish" in ask(question)["answer"]
    assert call("DELETE", f"/documents/{world.stack.document(key).document_id}")[0] == 202
    with world.fault(world.stack.pinecone_url, route="/query", kind="status", status=503):
        status, text, _ = raw_call("POST", "/query", {"question": question})
    assert status == 503
    assert "swordfish" not in text
    world.stack.deliver(key, event="ObjectRemoved:Delete")


PARAPHRASE = "How frequently does one have to clean the lens of the light?"


@pytest.mark.parametrize("arm", ["dense", "hybrid"])
def test_one_search_of_the_two_may_fail_alone(world: DegradedWorld, arm: str) -> None:
    whole = ask(PARAPHRASE)
    bootstrap.reset()
    sparse_part = {"dense": "lacking", "hybrid": "holding"}[arm]
    fault = {"route": "/query", "kind": "status", "status": 400, "count": 1, sparse_part: "sparseVector"}
    with world.fault(world.stack.pinecone_url, **fault):
        answer = ask(f"{PARAPHRASE[:-1]} ?")  # another question for the cache, the same one for the search
    assert answer["warnings"] == [f"{arm}_search_refused"]
    assert answer["best_score"] == pytest.approx(whole["best_score"], abs=1e-3)
    assert answer["relevance"] == pytest.approx(whole["relevance"], abs=1e-3)
    assert "Thursday" in answer["citations"][0]["quote"]


def test_a_control_plane_that_is_down_at_the_start_is_tried_again(world: DegradedWorld) -> None:
    with world.fault(world.stack.pinecone_url, route="/indexes", kind="status", status=503):
        status, problem, headers = refused()
    assert (status, problem["code"]) == (503, "unavailable")
    assert int(headers["retry-after"]) >= 1
    assert "Thursday" in ask()["answer"]


# --- the chat model --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 500},
        {"kind": "status", "status": 429},
        {"kind": "status", "status": 429, "headers": {"Retry-After": "60"}},
        {"kind": "status", "status": 200, "body": "half an ans"},
        {"kind": "status", "status": 200, "body": {"choices": []}},
        {"kind": "status", "status": 404, "body": {"error": {"message": "no such model"}}},
        {"kind": "reset"},
        {"kind": "truncate"},
    ],
)
def test_without_the_model_the_answer_is_extractive(world: DegradedWorld, fault: dict[str, Any]) -> None:
    with world.fault(world.stack.openai_url, route="/v1/chat/completions", **fault):
        answer = ask()
    assert answer["mode"] == "extractive"
    assert "Thursday" in answer["citations"][0]["quote"]
    lasts = fault.get("status") == 404
    assert set(answer["warnings"]) & ({"model_refused"} if lasts else {"model_unavailable", "answer_cut_short"})


def test_an_answer_with_warnings_is_not_cached(world: DegradedWorld) -> None:
    with world.fault(world.stack.openai_url, route="/v1/chat/completions", kind="status", status=500):
        ask()
    again = ask()
    assert not again["cached"]
    assert again["mode"] == "generated"


# --- DynamoDB --------------------------------------------------------------------------------------------------------

TROUBLE = [("status", {"status": 500}), ("reset", {}), ("status", {"status": 400, "code": "ThrottlingException"})]


@pytest.mark.parametrize(("kind", "more"), TROUBLE)
def test_without_conversations_the_answer_has_a_warning(world: DegradedWorld, kind: Any, more: dict[str, Any]) -> None:
    first = ask()
    with world.dynamodb.broken(kind, '"conversations"', **more):
        answer = ask("And when is the lamp lit?", conversation_id=first["conversation_id"])
    assert answer["warnings"] == ["history_unavailable", "not_saved"]
    assert "sunset" in answer["answer"]


@pytest.mark.parametrize(("kind", "more"), TROUBLE)
def test_without_the_cache_everything_is_answered_anew(world: DegradedWorld, kind: Any, more: dict[str, Any]) -> None:
    with world.dynamodb.broken(kind, '"cache"', **more):
        first, second = ask(), ask()
    assert not first["cached"]
    assert not second["cached"]
    assert first["warnings"] == second["warnings"] == []


@pytest.mark.parametrize("operation", ["BatchGetItem", '"documents"'])
@pytest.mark.parametrize(("kind", "more"), TROUBLE)
def test_without_the_registry_nothing_is_answered_not_even_from_the_cache(
    world: DegradedWorld, operation: str, kind: Any, more: dict[str, Any]
) -> None:
    ask()  # kept
    bootstrap.reset()
    with world.dynamodb.broken(kind, operation, **more):
        status, problem, headers = refused()
    assert status == 503
    assert "registry" in problem["detail"]
    assert int(headers["retry-after"]) >= 1
    assert "Thursday" in ask()["answer"]


# --- secrets and glossary --------------------------------------------------------------------------------------------


def test_without_the_secret_the_client_gets_a_503_and_the_secret_is_read_again(world: DegradedWorld) -> None:
    with world.secrets.broken("status", status=500):
        status, problem, headers = refused()
    assert (status, problem["code"]) == (503, "unavailable")
    assert "secrets" in problem["detail"]
    assert int(headers["retry-after"]) >= 1
    assert "Thursday" in ask()["answer"]


@pytest.mark.parametrize("kind", ["status", "hang", "reset"])
def test_without_the_glossary_questions_are_not_expanded(world: DegradedWorld, kind: Any) -> None:
    begun = time.monotonic()
    with world.s3.broken(kind, "glossary/"):
        answer = ask()
    assert answer["warnings"] == ["glossary_unavailable"]
    assert "Thursday" in answer["answer"]
    assert time.monotonic() - begun < 4


# --- problems --------------------------------------------------------------------------------------------------------


def test_a_problem_names_no_vendor_and_repeats_no_question(world: DegradedWorld) -> None:
    secret_question = "Where does Ann Example of Orsk keep her silver?"
    body = {"error": {"message": f"we choked on {secret_question}"}}
    with world.fault(world.stack.pinecone_url, route="/query", kind="status", status=500, body=body):
        _, text, _ = raw_call("POST", "/query", {"question": secret_question})
    problem = json.loads(text)
    assert problem["detail"] == "The service's vectors part cannot answer right now."
    assert "silver" not in text


def test_a_problem_is_in_the_language_that_is_accepted(world: DegradedWorld) -> None:
    with world.fault(world.stack.pinecone_url, route="/query", kind="status", status=500):
        _, problem, _ = call("POST", "/query", {"question": LENS}, headers={"Accept-Language": "lt-LT, en;q=0.5"})
    assert problem["detail"] == "Tarnybos dalis „vectors“ šiuo metu negali atsakyti."
    assert problem["code"] == "unavailable"
    assert calls_of(world.stack, world.stack.openai_url, "/v1/chat/completions") == 0
    assert world.stack.document(HANDBOOK)
