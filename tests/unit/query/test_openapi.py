"""The OpenAPI document: complete, of one form, and true to what the routes are."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from starlette.testclient import TestClient

from functions.query.api.openapi import ERRORS, TAGS, examples, operations_of
from functions.query.api.roles import PERMISSIONS, PUBLIC
from functions.query.app import app, create_app
from shared.settings import Settings

DOCUMENT = app.openapi()
OPERATIONS = {f"{method.upper()} {path}": operation for path, method, operation in operations_of(DOCUMENT)}


def bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each JSON body and answer: its place, and its media type object."""
    for route, operation in OPERATIONS.items():
        contents = {"body": operation.get("requestBody", {}).get("content", {})}
        contents |= {status: answer.get("content", {}) for status, answer in operation["responses"].items()}
        for where, content in contents.items():
            for media_type, described in content.items():
                yield f"{route} {where} {media_type}", described


def examples_of(described: dict[str, Any]) -> list[Any]:
    """The examples beside a schema, or in the component it names."""
    named = described["schema"].get("$ref", "").rsplit("/", 1)[-1]
    shown = [described["example"]] if "example" in described else []
    shown += [each["value"] for each in described.get("examples", {}).values()]
    return (
        shown
        + described["schema"].get("examples", [])
        + DOCUMENT["components"]["schemas"].get(named, {}).get("examples", [])
    )


def test_every_operation_has_a_short_id_of_its_own() -> None:
    ids = Counter(operation["operationId"] for operation in OPERATIONS.values())
    assert [name for name, count in ids.items() if count > 1] == []
    assert [name for name in ids if not re.fullmatch(r"[a-z]+([A-Z][a-z]*){0,4}", name)] == []


def test_every_operation_stands_in_one_described_group_and_has_a_summary() -> None:
    for route, operation in OPERATIONS.items():
        assert [tag in TAGS for tag in operation["tags"]] == [True], route
        assert 5 <= len(operation["summary"]) <= 120, route
    assert [tag["name"] for tag in DOCUMENT["tags"]] == [
        tag for tag in TAGS if any(tag in each["tags"] for each in OPERATIONS.values())
    ]


def test_a_token_is_needed_but_for_the_public_routes() -> None:
    assert DOCUMENT["security"] == [{"bearer": []}]
    assert DOCUMENT["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert {route for route, operation in OPERATIONS.items() if operation.get("security") == []} == PUBLIC
    roles = {route: set(operation["x-roles"]) for route, operation in OPERATIONS.items() if "x-roles" in operation}
    assert roles == {route: set(allowed) for route, allowed in PERMISSIONS.items()}


@pytest.mark.parametrize("route", OPERATIONS)
def test_errors_have_exact_statuses_and_one_form(route: str) -> None:
    errors = {status: answer for status, answer in OPERATIONS[route]["responses"].items() if status >= "4"}
    assert all(int(status) in ERRORS for status in errors)
    assert {"400", "429", "500", "502", "503", "504"} <= errors.keys()
    assert (route in PUBLIC) == ("401" not in errors)
    if "{" in route:
        assert "404" in errors
    form = "OpenAi" if " /v1/" in route else ""
    for status, answer in errors.items():
        if route == "POST /mcp" and status in ("400", "403", "404"):  # JSON-RPC, unless it is refused before
            assert list(answer["content"]) == ["application/json", "application/problem+json"]
            continue
        assert answer == {"$ref": f"#/components/responses/{form}{ERRORS[int(status)].name}"}


def test_the_problem_is_described_once() -> None:
    described = DOCUMENT["components"]["responses"]
    forms = {"": ("application/problem+json", "Problem"), "OpenAi": ("application/json", "OpenAiError")}
    assert described.keys() == {f"{form}{kind.name}" for form in forms for kind in ERRORS.values()}
    for name, answer in described.items():
        media_type, schema = forms["OpenAi" if name.startswith("OpenAi") else ""]
        (content,) = answer["content"].items()
        assert content[0] == media_type
        assert content[1]["schema"] == {"$ref": f"#/components/schemas/{schema}"}
        assert not list(validator(schema).iter_errors(content[1]["example"]))
    assert DOCUMENT["components"]["schemas"]["Problem"]["properties"].keys() == {
        "type", "title", "status", "detail", "code", "request_id", "path", "errors", "limit", "resets_at",
    }  # fmt: skip
    assert "HTTPValidationError" not in json.dumps(DOCUMENT)


def validator(name: str) -> Any:
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    )


@pytest.mark.parametrize(("place", "described"), list(bodies()), ids=[place for place, _ in bodies()])
def test_every_body_and_answer_has_an_example_that_fits(place: str, described: dict[str, Any]) -> None:
    shown = examples_of(described)
    assert shown, f"add one to functions/query/texts/openapi/, under the schema's name: {place}"
    schema = {**described["schema"], "components": DOCUMENT["components"]}
    for example in shown:
        assert [error.message for error in jsonschema_rs.Draft202012Validator(schema).iter_errors(example)] == []


def test_every_example_is_of_a_schema_that_is_used() -> None:
    assert examples().keys() <= DOCUMENT["components"]["schemas"].keys()


def test_a_client_need_not_send_what_has_a_default() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            assert "default" not in described or field in schema["required"], (name, field)
    assert "Default: `false`." in DOCUMENT["components"]["schemas"]["QueryBody"]["properties"]["explain"]["description"]


def test_a_stream_is_no_second_type_of_the_answer() -> None:
    streamed = [operation for operation in OPERATIONS.values() if "x-event-stream" in operation]
    assert OPERATIONS["POST /query"] in streamed
    for operation in streamed:
        assert list(operation["responses"]["200"]["content"]) == ["application/json"]


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ("UploadBody", {"filename": "a.PDF"}, True),
        ("UploadBody", {"filename": "a.txt"}, False),
        ("QueryBody", {"question": "x", "language": "lt-LT"}, True),
        ("QueryBody", {"question": "x", "language": "7"}, False),
        ("QueryBody", {"question": "x", "filter": {"page_start": {"$gte": 3}, "goal": "arrive"}}, True),
        ("QueryBody", {"question": "x", "filter": {"page_start": {"$above": 3}}}, False),
        ("QueryBody", {"question": "x", "filter": {"page_start": None}}, False),
        ("QueryBody", {"question": "x", "filter": {"$or": []}}, False),
        ("QueryBody", {"question": "x", "filter": ["en"]}, False),
    ],
)
def test_the_schema_knows_the_limits_that_the_service_checks(schema: str, value: Any, fits: bool) -> None:
    assert validator(schema).is_valid(value) is fits


def test_a_cursor_of_other_characters_is_refused_by_its_pattern() -> None:
    (cursor,) = [each for each in OPERATIONS["GET /documents"]["parameters"] if each["name"] == "cursor"]
    assert re.fullmatch(cursor["schema"]["pattern"], "RG9jLTE_-==")
    assert not re.fullmatch(cursor["schema"]["pattern"], "a b")


def test_it_is_served_without_a_token_and_may_be_kept() -> None:
    with TestClient(app, base_url="https://api.example.com") as client:
        answer = client.get("/openapi.json")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert answer.json()["servers"] == [{"url": "https://api.example.com", "description": "This deployment."}]
        assert answer.json()["paths"] == DOCUMENT["paths"]
        again = client.get("/openapi.json", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_it_is_not_made_before_it_is_asked_for() -> None:
    from functions.query.app import create_app, settings  # a fresh one: the others' has been made

    assert "_document" not in vars(create_app(settings))


def test_the_document_is_the_same_whenever_it_is_made() -> None:
    assert create_app(Settings()).openapi() == DOCUMENT
