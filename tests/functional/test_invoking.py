"""`make invoke` and `make sam-env`: a built function in the real Lambda loop, without a container."""

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from botocore.exceptions import ClientError
from rich.console import Console

from local import invoking
from local.report import Reporter
from local.stack import sam
from local.stack.aws import Resource
from local.stack.config import PROJECT, LocalConfig, LocalStackError
from local.stack.laptop import Laptop

HANDLER = """
import os

print("a line of its log")

def handler(event, context):
    if event.get("Records"):
        raise ValueError("no records, please")
    body = f'{{"endpoint": "{os.environ["AWS_ENDPOINT_URL"]}", "table": "{os.environ["RECTO_TABLE"]}"}}'
    return {"statusCode": 200, "body": body, "function": context.function_name}
"""
TEMPLATE = """Parameters: {}
Globals:
  Function:
    Runtime: python3.13
    Environment:
      Variables:
        RECTO_TABLE: documents
Resources: {}
"""


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    """A stack with two functions, whose package is a handler that tells its environment."""
    config = LocalConfig(project=PROJECT, state=tmp_path, aws_port=1234)
    for function in ("QueryFunction", "IngestFunction"):
        (config.build / function).mkdir(parents=True)
        (config.build / function / "told.py").write_text(HANDLER)
    (config.build / "template.yaml").write_text(TEMPLATE)
    config.logs.mkdir()
    names = {"QueryFunction": "recto-query", "IngestFunction": "recto-ingest"}

    def configuration(FunctionName: str) -> dict[str, Any]:  # noqa: N803 - boto3's
        if FunctionName.removesuffix(":live") not in names.values():
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetFunctionConfiguration")
        variables = {"Variables": {"RECTO_TABLE": "documents"}}
        about = {"FunctionName": FunctionName.removesuffix(":live"), "Handler": "told.handler"}
        return about | {"Timeout": 30, "MemorySize": 512, "Environment": variables}

    functions = [Resource(name, "AWS::Lambda::Function", physical) for name, physical in names.items()]
    deployed = SimpleNamespace(of_type=lambda _: functions)
    aws = SimpleNamespace(lambda_=SimpleNamespace(get_function_configuration=configuration))
    report = Reporter(Console(highlight=False, soft_wrap=True))
    return cast("Laptop", SimpleNamespace(config=config, report=report, aws=aws, deployed=lambda: deployed))


def invoked(laptop: Laptop, event: object, tmp_path: Path, function: str = "") -> int:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))
    return invoking.invoke(laptop, argparse.Namespace(event=file, function=function))


@pytest.fixture
def on_linux(laptop: Laptop) -> None:
    try:
        invoking.runtime_emulator(laptop.config.project)
    except LocalStackError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("on_linux")
def test_a_function_is_run_on_an_event_with_the_stacks_variables(
    laptop: Laptop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoked(laptop, {"requestContext": {}}, tmp_path) == 0
    printed = capsys.readouterr()
    head, _, response = printed.out.partition("\n")
    assert head.startswith("QueryFunction (told.handler) on ")
    assert json.loads(response) == {
        "statusCode": 200,
        "body": {"endpoint": "http://127.0.0.1:1234", "table": "documents"},
        "function": "recto-query",
    }
    assert "a line of its log" in printed.err


@pytest.mark.usefixtures("on_linux")
def test_an_error_of_the_function_is_the_response_and_the_exit_code(
    laptop: Laptop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoked(laptop, {"Records": [1]}, tmp_path) == 1
    assert '"errorMessage": "no records, please"' in capsys.readouterr().out


def test_what_cannot_be_run_is_said_in_words(laptop: Laptop, tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"of none of the functions: name one with --function \(.*IngestFunction"):
        invoked(laptop, {}, tmp_path)
    (laptop.config.build / "QueryFunction").rename(tmp_path / "away")
    with pytest.raises(LocalStackError, match="QueryFunction is not built"):
        invoked(laptop, {}, tmp_path, "QueryFunction")
    with pytest.raises(LocalStackError, match=r"no function Other; there are IngestFunction, QueryFunction\.$"):
        invoked(laptop, {}, tmp_path, "Other")
    with pytest.raises(LocalStackError, match="only with a company's sign-in"):
        invoked(laptop, {"triggerSource": "TokenGeneration_HostedAuth"}, tmp_path)
    (tmp_path / "broken.json").write_text("{")
    for name, said in (("broken.json", "is not JSON"), ("missing.json", "cannot be read: No such file")):
        with pytest.raises(LocalStackError, match=said):
            invoking.invoke(laptop, argparse.Namespace(event=tmp_path / name, function=""))


def test_the_function_of_every_example_event_is_known() -> None:
    functions = {
        path.stem: invoking.function_for(json.loads(path.read_text())) for path in (PROJECT / "events").glob("*.json")
    }
    assert functions["api_post_query"] == "QueryFunction"
    assert functions["s3_put"] == functions["sqs_s3_delete"] == "IngestFunction"
    assert functions["cognito_pre_token_company"] == "IdentityFunction"
    assert functions["sqs_ocr"] == "OcrFunction"
    assert functions["schedule_maintenance"] == functions["maintenance_rules"] == "MaintenanceFunction"


def test_a_package_older_than_the_sources_is_told_about(
    laptop: Laptop, tmp_path: Path, capsys: pytest.CaptureFixture[str], on_linux: None
) -> None:
    invoked(laptop, {"requestContext": {}}, tmp_path)
    assert "The sources have changed" in capsys.readouterr().err
    sam._record(laptop.config, sam.BUILD_RECORD, sam.source_fingerprint(PROJECT))
    invoked(laptop, {"requestContext": {}}, tmp_path)
    assert "The sources have changed" not in capsys.readouterr().err


def test_sam_local_gets_the_variables_and_a_template_that_declares_the_endpoint(
    laptop: Laptop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoking.sam_env(laptop, argparse.Namespace()) == 0
    wanted = {"RECTO_TABLE": "documents", "AWS_ENDPOINT_URL": "http://127.0.0.1:1234"}
    written = json.loads((laptop.config.state / "sam-env.json").read_text())
    assert written == {"QueryFunction": wanted, "IngestFunction": wanted}
    template = yaml.safe_load((laptop.config.build / "sam-local.yaml").read_text())
    assert template["Globals"]["Function"]["Environment"]["Variables"] == wanted
    assert "sam local invoke QueryFunction --template" in capsys.readouterr().out


def test_the_projects_own_template_can_be_given_the_endpoint() -> None:
    text = (PROJECT / "template.yaml").read_text()
    assert "        AWS_ENDPOINT_URL: http://there\n        RECTO_" in invoking.with_endpoint(text, "http://there")
    with pytest.raises(LocalStackError, match="make up"):
        invoking.with_endpoint("Resources: {}\n", "http://there")
