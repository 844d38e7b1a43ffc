"""What a client sees of an error: status, code, sentence and when to come back, in its own form and language."""

from typing import Any

import pytest
from fastapi import Request

from functions.query.api.problems import Problem, error_body, field_error, language_of, problem_of, response_to
from shared.deadline import RequestTimedOut
from shared.errors import (
    ConfigurationError,
    DependencyRefused,
    DependencyTimeout,
    InvalidRequest,
    NotFound,
    QuotaExhausted,
    RateLimited,
)


def request(path: str = "/query", language: str = "", event: dict[str, Any] | None = None) -> Request:
    headers = [(b"accept-language", language.encode())] if language else []
    return Request({"type": "http", "path": path, "headers": headers, "aws.event": event})


@pytest.mark.parametrize(
    ("error", "status", "code", "wait_s"),
    [
        (InvalidRequest("n: too many"), 400, "invalid_request", 0),
        (NotFound(), 404, "not_found", 0),
        (DependencyTimeout("chat"), 504, "timeout", 1),
        (RateLimited("chat", retry_after_s=7.2), 503, "busy", 8),
        (RateLimited("chat", retry_after_s=0.2), 503, "busy", 1),
        (QuotaExhausted("chat"), 503, "quota_exhausted", 0),
        (DependencyRefused("chat"), 502, "upstream_refused", 0),
        (ConfigurationError("TableName is not set"), 500, "configuration_error", 0),
        (KeyError("secret"), 500, "internal_error", 0),
    ],
)
def test_an_error_has_its_status_code_and_time_to_come_back(
    error: Exception, status: int, code: str, wait_s: int
) -> None:
    problem = problem_of(request(), error)
    assert (problem.status, problem.code, problem.retry_after_s) == (status, code, wait_s)
    response = response_to(request(), error)
    assert response.headers.get("retry-after") == (str(wait_s) if wait_s else None)
    assert response.media_type == "application/problem+json"


@pytest.mark.parametrize("error", [ConfigurationError("TableName is not set"), KeyError("secret"), RateLimited("chat")])
def test_what_only_the_operator_may_know_is_not_told(error: Exception) -> None:
    detail = problem_of(request(), error).detail
    assert detail
    assert not any(word in detail for word in ("TableName", "secret", "KeyError"))


def test_a_request_that_was_late_and_a_dependency_that_was_are_told_apart() -> None:
    assert problem_of(request(), RequestTimedOut()).detail != problem_of(request(), DependencyTimeout("request")).detail


def test_clients_of_openai_get_errors_in_its_form_and_all_others_as_problems() -> None:
    error = InvalidRequest("n: too many")
    mine = error_body(request(), error)
    assert (mine["type"], mine["title"], mine["status"], mine["code"]) == (
        "urn:recto:problem:invalid_request", "Invalid request", 400, "invalid_request"
    )  # fmt: skip
    assert error_body(request("/v1/chat/completions"), error)["error"]["code"] == "invalid_request"
    assert error_body(request("/v1x"), error).keys() == mine.keys()


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (Problem(400, "invalid_request", "no"), ("invalid_request_error", None, "invalid_request")),
        (Problem(401, "not_authenticated", "no"), ("invalid_request_error", None, "invalid_api_key")),
        (Problem(429, "limit_reached", "no"), ("requests", None, "rate_limit_exceeded")),
        (Problem(499, "other", "no"), ("invalid_request_error", None, "other")),
        (Problem(500, "other", "no"), ("server_error", None, "other")),
        (Problem(503, "busy", "no"), ("server_error", None, "busy")),
        (
            Problem(400, "x", "no", more={"errors": [{"field": "messages.0.content.12"}, {"field": "n"}]}),
            ("invalid_request_error", "messages[0].content[12]", "x"),
        ),
        (Problem(400, "x", "no", more={"path": "filter.year"}), ("invalid_request_error", "filter.year", "x")),
    ],
)
def test_openais_form_names_the_kind_the_field_and_openais_code(
    problem: Problem, expected: tuple[str, str | None, str]
) -> None:
    error = problem.openai_body()["error"]
    assert error["message"] == "no"
    assert (error["type"], error["param"], error["code"]) == expected


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("", "en"), ("lt", "lt"), ("lt-LT,lt;q=0.9,en;q=0.8", "lt"), ("xx, LT;q=0.5", "lt"), ("xx", "en"), ("en", "en")],
)
def test_the_first_language_that_is_known_is_taken(accepted: str, language: str) -> None:
    assert language_of(request(language=accepted)) == language


def test_the_id_of_a_request_is_that_of_the_gateway() -> None:
    body = Problem(404, "not_found", "no").body(request(event={"requestContext": {"requestId": "r-1"}}))
    assert body["request_id"] == "r-1"
    assert Problem(404, "not_found", "no").body(request())["request_id"] == ""


@pytest.mark.parametrize(
    ("error", "field", "message"),
    [
        ({"loc": ("body", "n"), "msg": "too many", "type": "x"}, "n", "too many"),
        ({"loc": ("body", "a", 0, "b"), "msg": "Value error, no", "type": "x"}, "a.0.b", "no"),
        ({"loc": ("body",), "msg": "-", "type": "missing"}, "body", "A body is needed, but none was sent."),
        (
            {"loc": ("body",), "msg": "-", "type": "model_attributes_type"},
            "body",
            "A JSON object is expected, sent with",
        ),
        ({"loc": ("body", "n"), "msg": "-", "type": "int_from_float"}, "n", "A whole number is expected."),
        ({"loc": ("body", "a"), "msg": "-", "type": "model_attributes_type"}, "a", "An object is expected."),
        ({"loc": ("body", "q"), "msg": "Field required", "type": "missing"}, "q", "It is needed, but was not sent."),
        ({"loc": ("body", "q"), "msg": "-", "type": "extra_forbidden"}, "q", "It is not known here: check how"),
        ({"loc": ("body",), "msg": "-", "type": "bytes_type"}, "body", "The file itself is expected as the body"),
        ({"loc": ("body", "q"), "msg": "-", "type": "string_too_short", "ctx": {"min_length": 1}}, "q", "It must not"),
        ({"loc": ("body", "q"), "msg": "kept", "type": "string_too_short", "ctx": {"min_length": 2}}, "q", "kept"),
        ({"loc": ("body", "x" * 300), "msg": "no", "type": "x"}, "x" * 200 + "…", "no"),
        ({"loc": ("body", "x" * 200), "msg": "no", "type": "x"}, "x" * 200, "no"),
        (
            {"loc": ("body", 7), "msg": "JSON decode error", "type": "json_invalid", "ctx": {"error": "a comma"}},
            "body",
            "This is not valid JSON: a comma (at character 7).",
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_is_wrong(error: dict[str, Any], field: str, message: str) -> None:
    told = field_error(error)
    assert told["field"] == field
    assert told["message"].startswith(message)
