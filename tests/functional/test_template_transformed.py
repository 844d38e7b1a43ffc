"""The template as AWS gets it: what SAM makes of it, which cfn-lint does not see when it reads the template itself."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from local.stack.sam import stamped
from tests.support.template import ROOT

TRANSLATOR = ROOT / ".venvs" / "aws-emulator" / "bin" / "python"
TRANSLATE = """
import json, sys
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

print(json.dumps(Translator({}, Parser()).translate(yaml_parse(sys.stdin.read()), json.loads(sys.argv[1]))))
"""
ENVIRONMENT = {"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "eu-central-1"}
FUNCTIONS = (
    "AuthorizerFunction",
    "IngestFunction",
    "MaintenanceFunction",
    "OcrFunction",
    "QueryFunction",
    "QueryStreamFunction",
)
GRADUAL = {"DeploymentPreference": "Canary10Percent5Minutes"}


def run(*command: str | Path, text: str = "") -> str:
    done = subprocess.run(command, input=text, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def made_anew(release: str = "1", **parameters: str) -> dict[str, Any]:
    """What SAM makes of the template, stamped as a deployment stamps it."""
    assert TRANSLATOR.exists(), "No translator under .venvs/aws-emulator: run `make setup`."
    packaged = (ROOT / "template.yaml").read_text().replace("CodeUri: functions/", "CodeUri: s3://artifacts/package")
    found = json.loads(run(TRANSLATOR, "-c", TRANSLATE, json.dumps(parameters), text=stamped(packaged, release)))
    assert isinstance(found, dict)
    return found


made = cache(made_anew)
"""What it once made of the same; do not change it. It takes a process of some seconds."""


def versions(template: dict[str, Any]) -> set[str]:
    return {name for name, each in template["Resources"].items() if each["Type"] == "AWS::Lambda::Version"}


@pytest.mark.parametrize("parameters", [{}, GRADUAL, GRADUAL | {"Streaming": "true"}])
def test_what_sam_makes_of_the_template_has_no_error(parameters: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "made.json"
    file.write_text(json.dumps(made(**parameters)))
    run(Path(sys.executable).with_name("cfn-lint"), "--non-zero-exit-code", "error", file)


def test_everything_calls_the_alias() -> None:
    template = made()
    callers = {
        "AWS::Lambda::Permission": "FunctionName",
        "AWS::Lambda::EventSourceMapping": "FunctionName",
        "AWS::Events::Rule": "Targets",
    }
    found = {
        name: json.dumps(each["Properties"][callers[each["Type"]]])
        for name, each in template["Resources"].items()
        if each["Type"] in callers and each["Properties"].get("Principal") != "cognito-idp.amazonaws.com"
    }
    del found["HandoffRule"]  # it sends a mail, and calls no function
    routes = {
        f"{method} {path}": json.dumps(operation)
        for path, operations in template["Resources"]["Api"]["Properties"]["Body"]["paths"].items()
        for method, operation in operations.items()
        if "lambda:path" in json.dumps(operation)
    }
    assert len(found) >= 10
    assert len(routes) >= 7
    assert [name for name, called in (found | routes).items() if "FunctionAliaslive" not in called] == []


def test_a_release_publishes_a_version_of_every_function_and_the_old_ones_stay() -> None:
    first, second = made("2026-11-22T21:00:00Z"), made("2026-11-22T22:00:00Z")
    for template in (first, second):
        assert sorted(name.partition("Version")[0] for name in versions(template)) == sorted(FUNCTIONS)
        assert {template["Resources"][name]["DeletionPolicy"] for name in versions(template)} == {"Retain"}
    assert not versions(first) & versions(second)
    assert versions(first) == versions(made_anew("2026-11-22T21:00:00Z")), "nothing else makes one"


def test_only_the_stamp_publishes_a_changed_parameter() -> None:
    """SAM does not look at parameters' values; once it does, the stamp can go."""
    assert versions(made("1", ChatModel="gpt-6-luna")) == versions(made("1"))


def test_a_deployment_at_once_needs_no_codedeploy() -> None:
    template = made()
    assert not [each["Type"] for each in template["Resources"].values() if "CodeDeploy" in each["Type"]]
    assert not [name for name, each in template["Resources"].items() if "UpdatePolicy" in each]


def test_a_gradual_deployment_is_of_the_query_functions_and_two_alarms_stop_it() -> None:
    resources = made(**GRADUAL)["Resources"]
    groups = {name for name, each in resources.items() if each["Type"] == "AWS::CodeDeploy::DeploymentGroup"}
    assert groups == {"QueryFunctionDeploymentGroup", "QueryStreamFunctionDeploymentGroup"}
    for name in groups:
        group = resources[name]["Properties"]
        assert "CodeDeployDefault.Lambda${ConfigName}" in json.dumps(group["DeploymentConfigName"])
        assert GRADUAL["DeploymentPreference"] in json.dumps(group["DeploymentConfigName"])
        alarms = [each["Name"]["Ref"] for each in group["AlarmConfiguration"]["Alarms"]]
        assert alarms == [name.replace("FunctionDeploymentGroup", "ErrorsAlarm"), "ApiErrorsAlarm"]
        assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
        alias = resources[name.replace("DeploymentGroup", "Aliaslive")]
        assert alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]["DeploymentGroupName"] == {"Ref": name}
    assert resources["QueryStreamFunctionDeploymentGroup"]["Condition"] == "Streamed"
    (role,) = (each for name, each in resources.items() if name == "CodeDeployServiceRole")
    assert "AWSCodeDeployRoleForLambda" in json.dumps(role["Properties"]["ManagedPolicyArns"])
    assert role["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {
        "Service": ["codedeploy.amazonaws.com"]
    }
