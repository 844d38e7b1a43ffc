"""Settings, template.yaml and docs/settings.md say the same."""

from typing import Any

import pytest

from shared.settings import Settings
from tests.support.template import ROOT, environment, settings_tables, template

VARIABLES = {name: value for name, value in environment().items() if name.startswith("RECTO_")}
PARAMETERS: dict[str, dict[str, Any]] = template()["Parameters"]
TUNED = {
    name: value["Ref"]
    for name, value in VARIABLES.items()
    if isinstance(value, dict) and value.get("Ref") in PARAMETERS
}


def field_of(variable: str) -> str:
    return variable.removeprefix("RECTO_").lower()


def test_every_setting_is_wired_and_every_variable_is_a_setting() -> None:
    assert {field_of(variable) for variable in VARIABLES} == set(Settings.model_fields)


def test_a_deploy_without_parameters_gives_the_defaults_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    defaults = Settings()
    for variable, parameter in TUNED.items():
        monkeypatch.setenv(variable, str(PARAMETERS[parameter]["Default"]))
    assert Settings() == defaults


@pytest.mark.parametrize(("variable", "parameter"), TUNED.items())
def test_a_parameter_admits_no_value_the_setting_refuses(
    variable: str, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = PARAMETERS[parameter]
    at_the_edges = [declared[edge] for edge in ("MinValue", "MaxValue") if edge in declared]
    for value in at_the_edges + declared.get("AllowedValues", []):
        monkeypatch.setenv(variable, str(value))
        Settings()


@pytest.mark.parametrize(
    ("variable", "parameter"), [pair for pair in TUNED.items() if PARAMETERS[pair[1]]["Type"] == "Number"]
)
def test_a_bound_of_a_setting_is_refused_by_the_deploy_already(variable: str, parameter: str) -> None:
    declared = PARAMETERS[parameter]
    bounds = {
        name: getattr(constraint, name)
        for constraint in Settings.model_fields[field_of(variable)].metadata
        for name in ("ge", "gt", "le")
        if hasattr(constraint, name)
    }
    if "gt" in bounds:
        assert declared["MinValue"] > bounds["gt"]
    else:
        assert declared.get("MinValue") == bounds.get("ge")
    assert declared.get("MaxValue") == bounds.get("le", declared.get("MaxValue"))


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_every_parameter_has_a_description_and_a_default(parameter: str) -> None:
    assert len(PARAMETERS[parameter]["Description"]) > 15
    assert "Default" in PARAMETERS[parameter]


def test_every_parameter_stands_in_one_group_of_the_console() -> None:
    groups = template()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]
    assert sorted(grouped) == sorted(PARAMETERS)


def test_the_settings_page_is_what_the_template_says() -> None:
    """`python -m tests.support.template` prints the tables."""
    assert settings_tables() in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
