"""The events under events/ are shaped like AWS's own, by the models of Powertools, and agree with the template."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent, S3Event
from aws_lambda_powertools.utilities.parser.models import (
    ApiGatewayAuthorizerToken,
    APIGatewayProxyEventModel,
    CognitoPreTokenGenerationTriggerModelV1,
    EventBridgeModel,
    S3Model,
    SqsModel,
)

from functions.authorizer.credentials import context_of
from shared.models import Principal
from tests.support.template import ROOT, properties

FILES = sorted((ROOT / "events").glob("*.json"))
MODELS = {
    "s3": S3Model,
    "sqs": SqsModel,
    "api": APIGatewayProxyEventModel,
    "cognito": CognitoPreTokenGenerationTriggerModelV1,
    "authorizer": ApiGatewayAuthorizerToken,
    "schedule": EventBridgeModel,
}
OWN = "maintenance"
"""Events with this prefix are ours: what a schedule's `Input` says, or `make sweep`."""


def event(name: str) -> dict[str, Any]:
    loaded = json.loads((ROOT / "events" / f"{name}.json").read_text())
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("file", [file for file in FILES if not file.stem.startswith(OWN)], ids=lambda file: file.stem)
def test_an_event_has_the_shape_of_its_service(file: Path) -> None:
    MODELS[file.stem.partition("_")[0]].model_validate(event(file.stem))


@pytest.mark.parametrize("file", [file for file in FILES if file.stem.startswith("sqs")], ids=lambda file: file.stem)
def test_a_message_carries_the_checksum_of_its_body(file: Path) -> None:
    for record in event(file.stem)["Records"]:
        assert hashlib.md5(record["body"].encode()).hexdigest() == record["md5OfBody"]


@pytest.mark.parametrize("kind", ["put", "delete"])
def test_a_message_wraps_the_bare_s3_event(kind: str) -> None:
    (record,) = event(f"sqs_s3_{kind}")["Records"]
    assert json.loads(record["body"]) == event(f"s3_{kind}")


def test_keys_are_encoded_as_s3_does() -> None:
    assert S3Event(event("s3_put")).object_key == "uploads/acme/Pump manual (rev. B).pdf"
    assert event("s3_put")["Records"][0]["s3"]["object"]["key"] == "uploads/acme/Pump+manual+%28rev.+B%29.pdf"


def test_the_delete_comes_after_the_put_and_tells_no_size() -> None:
    put, delete = (event(name)["Records"][0] for name in ("s3_put", "s3_delete"))
    assert delete["eventName"] == "ObjectRemoved:DeleteMarkerCreated"
    assert delete["s3"]["object"]["key"] == put["s3"]["object"]["key"]
    assert delete["s3"]["object"]["sequencer"] > put["s3"]["object"]["sequencer"]
    assert "size" not in delete["s3"]["object"]


def test_the_test_event_has_no_records() -> None:
    (record,) = event("sqs_s3_test_event")["Records"]
    body = json.loads(record["body"])
    assert body["Event"] == "s3:TestEvent"
    assert "Records" not in body


@pytest.mark.parametrize("file", [file for file in FILES if file.stem.startswith("api")], ids=lambda file: file.stem)
def test_an_api_event_comes_by_a_route_of_the_template(file: Path) -> None:
    proxied = APIGatewayProxyEvent(event(file.stem))
    route = route_of(proxied)
    assert proxied.request_context.resource_path == proxied.resource == route["Path"]
    assert proxied.request_context.path == f"/{proxied.request_context.stage}{proxied.path}"
    assert bool(proxied.path_parameters) == ("{proxy+}" in route["Path"])


def route_of(proxied: APIGatewayProxyEvent) -> dict[str, Any]:
    """The template's route for an event: that of its own path, else the proxy's."""
    routes = [each["Properties"] for each in properties("QueryFunction")["Events"].values()]
    paths = {route["Path"] for route in routes}
    path = proxied.path if proxied.path in paths else "/{proxy+}"
    method = proxied.http_method.lower()
    (route,) = [each for each in routes if (each["Path"], each["Method"]) == (path, method)]
    return dict(route)


@pytest.mark.parametrize("file", [file for file in FILES if file.stem.startswith("api")], ids=lambda file: file.stem)
def test_the_authorizers_word_comes_with_every_route_that_asks_it(file: Path) -> None:
    proxied = event(file.stem)
    verified = proxied["requestContext"].get("authorizer", {})
    if "Auth" in route_of(APIGatewayProxyEvent(proxied)):
        assert verified == {}
    else:
        latency_ms = verified.pop("integrationLatency")  # API Gateway adds it, the only number
        assert isinstance(latency_ms, int)
        assert verified == context_of(Principal("demo", verified["principalId"], frozenset({"editor"})))


def test_maintenances_own_events_are_inputs_of_its_schedules() -> None:
    schedules = [each["Properties"] for each in properties("MaintenanceFunction")["Events"].values()]
    inputs = [json.loads(each["Input"]) for each in schedules if "Input" in each]
    assert all(event(file.stem) in inputs for file in FILES if file.stem.startswith(OWN))
    assert any("Input" not in each for each in schedules), "the schedule of events/schedule_maintenance.json"
