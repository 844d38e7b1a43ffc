"""What the laptop stack reads from template.yaml as text is what a YAML reader finds."""

import re
from pathlib import Path

import pytest

from local.environments import read_environment
from local.stack.config import LocalStackError
from local.stack.template import (
    LENGTHS,
    bucket_name,
    check_parameters,
    longest_stack_name,
    names_of_stack,
    parameter_defaults,
)
from tests.support.template import template


def test_the_defaults_are_those_of_the_template() -> None:
    expected = {name: str(given["Default"]) for name, given in template()["Parameters"].items()}
    assert parameter_defaults() == expected


def test_the_templates_own_defaults_are_possible() -> None:
    check_parameters(parameter_defaults())


@pytest.mark.parametrize("name", [name for name, given in template()["Parameters"].items() if "AllowedValues" in given])
def test_every_allowed_value_of_the_template_is_possible(name: str) -> None:
    for value in template()["Parameters"][name]["AllowedValues"]:
        check_parameters({name: str(value)})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("TopK", "abc", "a number from 1 to 50"),
        ("TopK", "0", "a number from 1 to 50"),
        ("MaxPages", "inf", "a number of 1 or more"),
        ("Grounding", "lax", "marked or strict"),
        ("Ocr", "True", "true or false"),
        ("SnapStart", "yes", "none or on"),
        ("EmbeddingModel", "", "something"),
        ("OpenaiBaseUrl", "localhost:8000", "what matches ^https?://.+$"),
        ("ScoreThreshold", "2", "empty or a number from -1 to 1"),
        ("Nosuch", "1", "no parameter Nosuch"),
    ],
)
def test_a_value_that_cloudformation_would_refuse_is_refused_before_anything_is_built(
    name: str, value: str, expected: str
) -> None:
    with pytest.raises(LocalStackError, match=re.escape(expected)):
        check_parameters({name: value})


def test_every_name_made_of_the_stacks_has_a_known_length() -> None:
    made = set()
    for resource in template()["Resources"].values():
        for key, value in resource.get("Properties", {}).items():
            if key.endswith(("Name", "Domain")) and "${AWS::StackName}" in str(value):
                made.add(key)
    assert made <= names_of_stack().keys() <= LENGTHS.keys()


def test_the_bucket_leaves_a_stack_27_characters_in_any_region() -> None:
    assert longest_stack_name() == (27, "BucketName")
    assert longest_stack_name("us-east-1") == (32, "BucketName")
    assert len(bucket_name("r" * 27, "1" * 12, "ap-southeast-1")) == 63


def test_an_environment_is_read_with_its_region(tmp_path: Path) -> None:
    (tmp_path / "samconfig.toml").write_text(
        'version = 0.1\n[dev.global.parameters]\nstack_name = "a"\n[dev.deploy.parameters]\nregion = "eu-north-1"\n'
    )
    environment = read_environment("dev", tmp_path)
    assert (environment.stack, environment.region) == ("a", "eu-north-1")


def test_an_unknown_environment_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LocalStackError, match="no environment stage: choose STACK from default, dev, local, prod"):
        read_environment("stage")
