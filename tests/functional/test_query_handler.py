"""The query function's real handler on API Gateway's own events: ingested PDFs, emulators on the wire, AWS on moto."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from functions.query import app, bootstrap
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import with_similarity
from functions.query.retrieval.search import Search
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.errors import DependencyUnavailable
from shared.telemetry import logger
from tests.support.ingest import Context, Stack, pdf_of
from tests.support.query_stack import EVENTS, HANDBOOK, LENS, Faulty, call, query_stack, raw_call


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    # Without the answer cache, because the same question is asked under different faults.
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("query"), ANSWER_CACHE_TTL_S="0") as made,
    ):
        yield made


def ask(question: str, **more: Any) -> dict[str, Any]:
    who = {name: more.pop(name) for name in ("tenant", "user", "groups") if name in more}
    status, body, _ = call("POST", "/query", {"question": question, **more}, **who)
    assert status == 200, body
    return body


def test_an_ingested_pdf_is_answered_from_with_page_and_quote(stack: Stack):
    answer = ask("How often must the lens of the lighthouse lamp be cleaned?")
    assert answer["mode"] == "generated"
    assert answer["model"] == "extractive-minilm"
    citation = answer["citations"][0]
    assert "vinegar every Thursday" in citation["quote"]
    assert (citation["title"], citation["page_start"]) == ("Orsk Lighthouse Handbook", 2)
    assert f"[{citation['n']}]" in answer["answer"]
    assert set(answer["timings_ms"]) == {
        "history",
        "rewrite",
        "cache",
        "embed",
        "retrieve",
        "decide",
        "generate",
        "save",
    }


def test_what_no_document_says_is_refused_without_a_chat_call(stack: Stack):
    base = stack.openai_url.removesuffix("/v1")
    stack.http.delete(f"{base}/_admin/calls")
    answer = ask("Who won the chess olympiad of 1972?")
    assert answer["no_relevant_info"]
    assert answer["handoff_offered"]
    assert not answer["citations"]
    calls = stack.http.get(f"{base}/_admin/calls").text
    assert "embeddings" in calls
    assert "chat" not in calls


def test_a_conversation_goes_on_and_is_read_back(stack: Stack):
    first = ask("When was the lighthouse of Orsk built?")
    second = ask("And where does its keeper live?", conversation_id=first["conversation_id"])
    assert "white cottage" in second["citations"][0]["quote"]
    status, body, _ = call("GET", f"/conversations/{first['conversation_id']}", params={"limit": "3"})
    assert status == 200
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["citations"][0]["page_start"] == 1
    assert body["next_cursor"]


def unavailable(*_: object) -> None:
    raise DependencyUnavailable("registry")


def test_a_citation_names_the_quoted_object_and_what_has_become_of_it(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    key, question = "uploads/acme/ferries/2024.pdf", "How many ferries does the Skarv line run in winter?"
    stack.put(key, pdf_of(["The Skarv line runs three ferries in winter and seven in summer."]))
    stack.deliver(key)
    answer = ask(question)
    citation = answer["citations"][0]
    assert (citation["key"], citation["file_name"]) == (key, "2024.pdf")
    assert citation["version_id"] == stack.document(key).version_id != ""
    assert key in [source["key"] for source in answer["sources"]]
    (rect,), (size,) = citation["rects"], citation["page_sizes"]
    assert rect["page"] == size["page"] == 1
    assert 0 < rect["x0"] < rect["x1"] < size["width"]
    assert 0 < rect["y0"] < rect["y1"] < size["height"]
    _, body, _ = call("GET", f"/conversations/{answer['conversation_id']}")
    assert body["messages"][1]["citations"][0]["rects"] == [rect]

    def shown() -> tuple[str | None, str]:
        _, body, _ = call("GET", f"/conversations/{answer['conversation_id']}")
        stored = body["messages"][1]["citations"][0]
        return stored["state"], stored["version_id"]

    quoted = citation["version_id"]
    assert shown() == ("current", quoted)
    stack.put(key, pdf_of(["The Skarv line has been closed."]))
    stack.deliver(key)
    assert shown() == ("changed", quoted)
    with monkeypatch.context() as broken:
        broken.setattr(DynamoDocumentRegistry, "versions", unavailable)
        assert shown() == (None, quoted)
    assert call("DELETE", f"/documents/{citation['document_id']}")[0] == 202
    assert shown() == ("erased", quoted)


def test_a_faq_is_cited_with_its_object(stack: Stack):
    key = "faq/acme/bicycles.json"
    stack.put(
        key, json.dumps({"question": "Where are bicycles parked?", "answer": "In the shed behind gate 4."}).encode()
    )
    stack.deliver(key)
    citation = ask("Where are bicycles parked?")["citations"][0]
    assert (citation["key"], citation["file_name"], bool(citation["version_id"])) == (key, "bicycles.json", True)
    assert (citation["rects"], citation["page_sizes"]) == ([], [])


@pytest.mark.parametrize("stranger", [{"tenant": "other"}, {"user": "bob"}])
def test_another_users_conversation_is_404(stack: Stack, stranger: dict[str, str]):
    conversation = ask("When was the lighthouse of Orsk built?")["conversation_id"]
    assert call("GET", f"/conversations/{conversation}", **stranger)[0] == 404
    status, body, _ = call("POST", "/query", {"question": "And?", "conversation_id": conversation}, **stranger)
    assert (status, body["code"]) == (404, "not_found")


def test_another_tenant_sees_nothing(stack: Stack):
    assert ask("How often must the lens of the lighthouse lamp be cleaned?", tenant="other")["no_relevant_info"]
    document_id = stack.document(HANDBOOK).document_id
    assert call("GET", f"/documents/{document_id}", tenant="other")[0] == 404
    assert call("DELETE", f"/documents/{document_id}", tenant="other")[0] == 404
    assert call("GET", "/documents", tenant="other")[1]["documents"] == []


def test_a_document_shows_its_status_and_pages(stack: Stack):
    status, body, _ = call("GET", f"/documents/{stack.document(HANDBOOK).document_id}")
    assert status == 200
    assert (body["status"], body["page_count"], [page["number"] for page in body["pages"]]) == ("READY", 2, [1, 2])
    listed = call("GET", "/documents", params={"status": "READY"})[1]["documents"]
    assert HANDBOOK in [each["key"] for each in listed]


def test_an_upload_is_announced_for_editors_only(stack: Stack):
    status, body, _ = call("POST", "/documents", {"filename": "new/plan.pdf"})
    assert (status, body["status"], body["key"]) == (201, "PENDING", "uploads/acme/new/plan.pdf")
    assert body["upload"]["fields"]["key"] == "uploads/acme/new/plan.pdf"
    assert call("GET", f"/documents/{body['document_id']}")[1]["status"] == "PENDING"
    status, body, _ = call("POST", "/documents", {"filename": "new/plan.pdf"}, groups="reader")
    assert (status, body["code"]) == (403, "not_allowed")


def test_a_deleted_document_is_unanswerable_at_once_and_its_object_is_gone(stack: Stack):
    key = "uploads/acme/short-lived.pdf"
    stack.put(key, pdf_of(["The password of the north gate is swordfish and it never changes."], title="Gates"))
    stack.deliver(key)
    question = "What is the password of the north gate?"
    assert "swordfish" in ask(question)["answer"]
    status, body, _ = call("DELETE", f"/documents/{stack.document(key).document_id}")
    assert (status, body["status"]) == (202, "DELETING")
    assert stack.vectors("acme", key), (
        "the vectors still lie in the index, so the registry alone has to stop the answer"
    )
    assert "swordfish" not in ask(question)["answer"]
    assert not stack.aws.s3.list_object_versions(Bucket=stack.aws.bucket, Prefix=key).get("Versions")
    stack.deliver(key, event="ObjectRemoved:Delete")
    assert not stack.vectors("acme", key)
    assert call("GET", f"/documents/{stack.document(key).document_id}")[0] == 404


def test_what_was_uploaded_again_after_its_deletion_can_be_deleted_before_it_is_ingested(stack: Stack):
    key = "uploads/acme/back-again.pdf"
    content = pdf_of(["The cellar of the mill is dry in winter and flooded in spring."], title="Cellar")
    stack.put(key, content)
    stack.deliver(key)
    document_id = stack.document(key).document_id
    assert call("DELETE", f"/documents/{document_id}")[0] == 202
    stack.deliver(key, event="ObjectRemoved:Delete")
    assert call("DELETE", f"/documents/{document_id}")[0] == 404, "there is neither a document nor an object"
    for _ in range(2):
        stack.put(key, content)
    status, body, _ = call("DELETE", f"/documents/{document_id}")
    assert (status, body["document_id"], body["status"]) == (202, document_id, "DELETING")
    left = stack.aws.s3.list_object_versions(Bucket=stack.aws.bucket, Prefix=key)
    assert not left.get("Versions")
    assert not left.get("DeleteMarkers")
    for event in ("ObjectCreated:Put", "ObjectRemoved:Delete"):
        stack.deliver(key, event=event)
    assert stack.document(key).status == "DELETED"
    assert not stack.vectors("acme", key)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "question"),
        ({"question": ""}, "question"),
        ({"question": "Why?", "top_k": 0}, "top_k"),
        ({"question": "Why?", "tenant": "other"}, "tenant"),
        ({"question": "Why?", "conversation_id": "x"}, "conversation_id"),
        ("{not json", "body"),
        ({"question": "Why?", "x" * 5_000: 1}, f"{'x' * 200}…"),
    ],
)
def test_a_request_in_the_wrong_form_names_its_field(stack: Stack, body: dict[str, Any] | str, field: str):
    status, problem, headers = call("POST", "/query", body)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert problem["errors"][0]["field"] == field
    assert headers["content-type"] == "application/problem+json"
    assert problem["request_id"]


@pytest.mark.parametrize("question", ["\u200b", "\x00", "\u200b \u00ad"])
def test_a_question_without_visible_text_is_a_400(stack: Stack, question: str):
    status, problem, _ = call("POST", "/query", {"question": question})
    assert (status, problem["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("question", ["???", "…", "🙂", "- -"])
def test_a_question_without_words_asks_back_and_breaks_nothing(stack: Stack, question: str):
    answer = ask(question)
    assert answer["mode"] == "service"
    assert answer["answer"].startswith("What would you like to know?")


@pytest.mark.parametrize("language", ["lt", "LT_lt", "Lithuanian", "lietuvių"])
def test_a_language_is_named_by_code_or_name(stack: Stack, language: str):
    assert ask("Who won the football world cup in 1998?", language=language)["answer"].startswith("Dokumentuose")


def test_the_detail_of_a_problem_is_in_a_sentence_of_the_clients_language(stack: Stack):
    for body in ({"question": "Who?", "filter": "x"}, {"question": "Who?", "language": "Klingon"}):
        status, english, _ = call("POST", "/query", body)
        same, lithuanian, _ = call("POST", "/query", body, headers={"Accept-Language": "lt"})
        assert same == status in (400, 422)
        assert lithuanian["detail"].endswith(english["detail"])
        assert lithuanian["detail"] != english["detail"]


def test_a_question_that_is_too_long_is_refused_with_the_limit(stack: Stack):
    status, problem, _ = call("POST", "/query", {"question": "x" * 4_001})
    assert status == 400
    assert "4000" in problem["detail"]


def test_unknown_paths_and_methods_are_problems_too(stack: Stack):
    assert call("GET", "/nothing")[1]["code"] == "not_found"
    problem = call("PUT", "/query")[1]
    assert problem["code"] == "method_not_allowed"
    assert "allowed: POST" in problem["detail"]


def test_a_path_with_a_trailing_slash_is_404(stack: Stack):
    """Behind the gateway the redirect would go to an address without the stage."""
    status, problem, headers = call("GET", "/documents/")
    assert (status, problem["code"]) == (404, "not_found")
    assert "location" not in headers


def test_a_malformed_id_is_404(stack: Stack):
    asked = ask("When was the lighthouse of Orsk built?")
    message = f"{asked['conversation_id']}%23MSG%23{asked['message_id']}"  # its key begins as the conversation's
    for path in (f"/conversations/{message}", f"/conversations/{'x' * 2_000}", f"/documents/{'a' * 2_000}"):
        assert call("GET", path)[1]["code"] == "not_found"
    assert call("DELETE", "/documents/%00")[1]["code"] == "not_found"


def test_of_a_million_wrong_fields_only_some_are_named(stack: Stack):
    status, text, _ = raw_call("POST", "/query", json.dumps({f"f{n}": 0 for n in range(50_000)}))
    assert status == 400
    assert len(text) < 10_000  # a Lambda's answer holds 6 MB


@pytest.mark.parametrize(
    ("body", "content_type", "change"),
    [
        ('{"question": "Why?"}', "text/plain", "Content-Type: application/json"),
        ("question=Why%3F", "application/x-www-form-urlencoded", "Content-Type: application/json"),
        ('["Why?"]', "application/json", "A JSON object is expected"),
        ("", "application/json", "A body is needed, but none was sent."),
        ('{"question": ', "application/json", "not valid JSON: Expecting value (at character 13)"),
        ("[" * 100_000, "application/json", "nested less deep"),
        ('{"question": "Why?", "preferences": 1}', "application/json", "preferences: An object is expected"),
        ('{"question": "Why?", "conversation_id": "x"}', "application/json", "conversation_id: An id is expected as"),
        ('{"question": "Why?", "top_k": 0}', "application/json", "top_k: 1 or more is expected."),
        ('{"question": "Why?", "language": "klingon"}', "application/json", "or the name of a known language such as"),
    ],
)
def test_a_body_that_cannot_be_read_is_answered_with_what_to_do(
    stack: Stack, body: str, content_type: str, change: str
):
    status, problem, _ = call("POST", "/query", body, headers={"Content-Type": content_type})
    assert (status, problem["code"]) == (400, "invalid_request")
    assert change in problem["detail"]


@pytest.mark.parametrize(
    "malformed",
    [
        {"body": "not base64", "isBase64Encoded": True},
        {"body": "é", "isBase64Encoded": True},
        {"headers": "x"},
        {"multiValueHeaders": {"Host": ["a:b:c"]}},
        {"multiValueHeaders": {"X-Forwarded-Port": ["443", "443"]}},
        {"multiValueQueryStringParameters": {"limit": ["\ud800"]}},
        {"multiValueQueryStringParameters": "x"},
        {"requestContext": None},
        {"httpMethod": {}},
        {"path": 1},
    ],
)
def test_an_event_that_cannot_be_read_is_a_400(stack: Stack, malformed: dict[str, Any]):
    event = json.loads((EVENTS / "api_post_query.json").read_text()) | malformed
    answer = app.handler(event, Context(function_name="query"))  # type: ignore[arg-type]
    assert (answer["statusCode"], answer["headers"]["content-type"]) == (400, "application/problem+json")
    problem = json.loads(answer["body"])
    assert problem["code"] == "invalid_request"
    assert "correct it" in problem["detail"]


@pytest.mark.parametrize(
    "missing", ["headers", "multiValueHeaders", "body", "queryStringParameters", "isBase64Encoded"]
)
def test_optional_parts_of_an_event_may_be_missing(stack: Stack, missing: str):
    event = json.loads((EVENTS / "api_get_healthz.json").read_text())
    for changed in ({**event, missing: None}, {name: value for name, value in event.items() if name != missing}):
        assert app.handler(changed, Context(function_name="query"))["statusCode"] == 200  # type: ignore[arg-type]


def test_a_preflight_is_answered_without_claims(stack: Stack):
    event = json.loads((EVENTS / "api_options_query.json").read_text())
    answer = app.handler(event, Context(function_name="query"))  # type: ignore[arg-type]
    assert answer["statusCode"] == 200


def test_similarity_can_be_worked_out_from_the_fused_score(stack: Stack):
    ports = bootstrap.services().query_ports("acme")
    question = "How often must the lens of the lighthouse lamp be cleaned with vinegar?"
    vector = ports.embedder.embed([question], timeout_s=5).vectors[0]
    search = Search(question, vector, len(vector), "acme")
    dense = {
        match.id: match.score for match in ports.search.query(namespace="acme", vector=vector, top_k=9, timeout_s=5)
    }
    fused = ports.search.query(namespace="acme", vector=vector, sparse=search.sparse, top_k=9, timeout_s=5)
    assert fused
    for passage in with_similarity(search, [Passage.of(match) for match in fused], {}):
        assert passage.score == pytest.approx(dense[passage.chunk_id], abs=1e-3)


def test_an_options_that_is_no_preflight_is_answered_too(stack: Stack):
    event = json.loads((EVENTS / "api_options_query.json").read_text())
    event["headers"] = event["multiValueHeaders"] = None
    answer = app.handler(event, Context(function_name="query"))  # type: ignore[arg-type]
    assert answer["statusCode"] == 204


def test_the_health_check_calls_nothing(stack: Stack):
    event = json.loads((EVENTS / "api_get_healthz.json").read_text())
    event["requestContext"].pop("authorizer", None)
    answer = app.handler(event, Context(function_name="query"))  # type: ignore[arg-type]
    assert json.loads(answer["body"])["status"] == "ok"


@pytest.mark.parametrize(
    ("fault", "mode"),
    [
        ({"kind": "status", "status": 500}, "extractive"),
        ({"kind": "status", "status": 429, "headers": {"Retry-After": "30"}}, "extractive"),
        ({"kind": "reset"}, "extractive"),
        ({"kind": "truncate"}, "extractive"),
    ],
)
def test_a_chat_model_that_fails_is_replaced_by_extraction(stack: Stack, fault: dict[str, Any], mode: str):
    with Faulty(stack, stack.openai_url, route="/v1/chat/completions", **fault):
        answer = ask("How often must the lens of the lighthouse lamp be cleaned?")
    assert answer["mode"] == mode
    assert "model_unavailable" in answer["warnings"]
    assert "Thursday" in answer["citations"][0]["quote"]


def test_without_an_index_the_client_gets_a_503_with_retry_after(stack: Stack):
    with Faulty(stack, stack.pinecone_url, route="/query", kind="status", status=503):
        status, problem, headers = call("POST", "/query", {"question": "Is the index there at all?"})
    assert (status, problem["code"]) == (503, "unavailable")
    assert int(headers["retry-after"]) >= 1


def test_without_embeddings_the_search_is_lexical(stack: Stack):
    with Faulty(stack, stack.openai_url, route="/v1/embeddings", kind="status", status=503):
        answer = ask("How often must the lens of the lamp be cleaned with vinegar?")
    assert "embeddings_unavailable" in answer["warnings"]
    assert "Thursday" in answer["citations"][0]["quote"]
    assert answer["best_score"] is None


def test_content_is_logged_only_where_the_setting_says_so_and_masked(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    question = f"{LENS} Tell ann@example.com."
    with caplog.at_level(logging.INFO):
        call("POST", "/query", {"question": question})
        quiet = str([vars(record) for record in caplog.records])
        caplog.clear()
        monkeypatch.setenv("RECTO_LOG_CONTENT", "true")
        bootstrap.reset()
        try:
            answer = call("POST", "/query", {"question": question})[1]["answer"]
        finally:
            monkeypatch.delenv("RECTO_LOG_CONTENT")
            bootstrap.reset()
    assert "answered" in quiet
    assert LENS not in quiet
    assert "vinegar" not in quiet
    told = next(vars(record) for record in caplog.records if record.message == "answered")
    assert told["question"] == question.replace("ann@example.com", "[e-mail]")
    assert told["answer"] == answer


def test_an_error_nobody_foresaw_leaves_its_frames_in_the_log_and_nothing_it_says(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def fail(*_: object, **__: object) -> None:
        raise ValueError(LENS)

    monkeypatch.setattr("functions.query.api.asking.answer_events", fail)
    status, problem, _ = call("POST", "/query", {"question": LENS})
    assert (status, problem["code"]) == (500, "internal_error")
    format_ = logger.registered_formatter.format
    printed = [format_(record) for record in caplog.records]
    (told,) = (line for line in printed if "unexpected error" in line)
    assert "in fail" in json.loads(told)["exception"]
    assert LENS not in "".join(printed)
