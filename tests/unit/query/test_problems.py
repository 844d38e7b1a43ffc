"""What a client sees of an error: status, code, sentence and when to come back, in its own form and language."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaError, SchemaValidator

from functions.query.api.mcp_tools import TOOLS
from functions.query.api.problems import (
    SHAPES,
    Problem,
    error_body,
    field_error,
    in_one_line,
    language_of,
    problem_of,
    response_to,
)
from functions.query.api.schemas import ULID
from functions.query.app import app
from functions.query.faqs import FAQ_ID
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
        (
            {"loc": ("body", "q"), "msg": "-", "type": "string_too_short", "ctx": {"min_length": 2}},
            "q",
            "2 characters or more are expected.",
        ),
        (
            {"loc": ("query", "cursor"), "msg": "-", "type": "string_pattern_mismatch", "ctx": {"pattern": "^a$"}},
            "cursor",
            "The next_cursor of the page before is expected",
        ),
        (
            {"loc": ("body", "id"), "msg": "-", "type": "string_pattern_mismatch", "ctx": {"pattern": ULID}},
            "id",
            "An id is expected as the API gives it",
        ),
        (
            {"loc": ("body", "a"), "msg": "-", "type": "string_pattern_mismatch", "ctx": {"pattern": "^a$"}},
            "a",
            "It has another form than is expected here.",
        ),
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


# --- every kind of wrong field of every route and tool

NUMBERS: Sequence[Any] = (3, 1.5, -1, 10**9, 10**18, "9" * 5_000, float("inf"), True)
TEXTS: Sequence[Any] = ("", "?", "\n", "2026-11-22", "2026-11-22T14:03", b"\xff")
OTHERS: Sequence[Any] = (None, [], {}, ["x"] * 1_001, {str(n): "x" for n in range(99)}, object())
WRONG: Sequence[Any] = (*NUMBERS, *TEXTS, *OTHERS)
"""Values of which each field refuses some."""
OWN_WORDS = {"value_error", "json_invalid"}
"""Kinds whose message is Recto's own."""


def fields_of_routes() -> Iterator[Any]:
    """Yield pydantic's schema of each parameter and body of each route, and of the arguments of each tool."""
    routers = list(app.routes)
    while routers:
        route = routers.pop()
        routers += getattr(getattr(route, "original_router", None), "routes", ())
        dependants = [route.dependant] if isinstance(route, APIRoute) else []
        while dependants:
            each = dependants.pop()
            dependants += each.dependencies
            for field in (*each.path_params, *each.query_params, *each.header_params, *each.body_params):
                yield field._type_adapter.core_schema
    yield from (TypeAdapter(tool.arguments).core_schema for tool in TOOLS.values())


def parts_of(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and everything in it that may be checked by itself."""
    parts = schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list | tuple) else ()
    if isinstance(schema, Mapping) and isinstance(schema.get("type"), str):
        yield schema
    for part in parts:
        yield from parts_of(part)


def errors_of_routes() -> Iterator[Mapping[str, Any]]:
    """Yield what pydantic says of wrong values for every part of every field."""
    checked = {"str", "int", "bool", "date", "datetime", "list", "dict", "enum", "literal", "bytes", "float", "model"}
    for part in (each for field in fields_of_routes() for each in parts_of(field) if each["type"] in checked):
        for wrong in WRONG:
            try:
                SchemaValidator(part).validate_python(wrong)
            except ValidationError as error:
                yield from error.errors(include_url=False, include_input=False)
            except SchemaError:  # a reference to another part, which comes by itself
                break


def test_no_message_is_that_of_the_validator() -> None:
    raw, kinds = set(), set()
    for error in errors_of_routes():
        kinds.add(error["type"])
        told = field_error({**error, "loc": ("body", "a")})["message"]
        if told == error["msg"] and error["type"] not in OWN_WORDS:
            raw.add((error["type"], told))
        assert "{" not in told
    assert raw == set()
    assert {"string_pattern_mismatch", "greater_than_equal", "date_from_datetime_parsing", "timezone_aware"} <= kinds


def test_several_wrong_fields_are_told_as_one_sentence() -> None:
    wrong = [{"field": "top_k", "message": "50 or less is expected."}, {"field": "foo", "message": "It is not known."}]
    assert in_one_line(wrong) == "top_k: 50 or less is expected; foo: It is not known."
    assert in_one_line(wrong[:1]) == "top_k: 50 or less is expected."


def test_every_pattern_of_a_text_says_what_is_expected() -> None:
    patterns = {
        str(part["pattern"])
        for field in fields_of_routes()
        for part in parts_of(field)
        if part["type"] == "str" and part.get("pattern")
    }
    cursors = {r"^[A-Za-z0-9_=-]*$", rf"^({FAQ_ID})?$", rf"{ULID}|^$"}
    assert patterns - cursors == set(SHAPES)
