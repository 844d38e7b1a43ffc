"""`make deploy`, before it builds: what would be refused is said at once, and what is kept is listed."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from rich.console import Console

from local import deploying
from local.environments import AwsAccount, Environment
from local.report import Reporter
from local.stack.config import LocalStackError
from local.stack.template import bucket_name
from tests.support.aws_emulator import deploy, emulated_account, small_template

PROD = Environment("prod", "recto-prod")
DEV = Environment("dev", "recto-dev")


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwsAccount]:
    with emulated_account(tmp_path_factory.mktemp("aws")) as running:
        # Deployed long ago: TopK had another default then, Temperature was chosen, and two parameters are gone.
        old = small_template(TopK="5", Temperature="0.3", Forgotten="x")
        deploy(running, PROD.stack, old, {"Temperature": "0.1", "OpenaiApiKey": "sk-1", "PineconeIndex": "recto-prod"})
        yield running


def checked(environment: Environment, account: AwsAccount, *given: str) -> str:
    console = Console(file=io.StringIO(), record=True, width=250)
    assert deploying.check(environment, account, given, Reporter(console)) == 0
    return console.export_text()


def test_a_new_default_that_does_not_arrive_is_listed_with_what_to_do(account: AwsAccount) -> None:
    said = checked(PROD, account)
    assert "  TopK=5, now 7 by default" in said
    assert 'To use them: make deploy PARAMETERS="TopK=7"' in said
    assert "  Temperature=0.1 (default: 0.3)" in said
    assert "sk-1" not in said
    assert "OpenaiApiKey" not in said
    assert "Forgotten" not in said


def test_a_parameter_that_is_given_is_not_listed(account: AwsAccount) -> None:
    said = checked(PROD, account, "TopK=9", "Temperature=0.3")
    assert "TopK" not in said
    assert "Temperature" not in said


def test_production_is_warned_about_any_origin_and_silent_alarms(account: AwsAccount) -> None:
    assert "Warning: any web site may call the API (CorsAllowOrigins=*)" in checked(PROD, account)
    assert "Warning: nobody is told about alarms" in checked(PROD, account)
    named = checked(PROD, account, "CorsAllowOrigins=https://example.org", "AlarmEmail=ann@example.org")
    assert "Warning" not in named
    assert "Warning" not in checked(DEV, account)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("TopK=many", "TopK=many is not possible: a number from 1 to 50 is expected"),
        ('LimitOverrides={"acme": 5}', r"LimitOverrides\) must look like"),
    ],
)
def test_a_value_that_cloudformation_or_the_functions_would_refuse_is_refused(
    account: AwsAccount, given: str, sentence: str
) -> None:
    with pytest.raises(LocalStackError, match=sentence):
        checked(DEV, account, given)


COMPANY = ("IdentityProvider=SAML", "GroupRoles=Staff=reader,Admins=admin")


@pytest.mark.parametrize("table", ["GroupTenants=", "GroupTenants=acme", "GroupRoles=Staff=chief"])
def test_a_company_that_nobody_could_sign_in_of_is_refused(account: AwsAccount, table: str) -> None:
    name, _, text = table.partition("=")
    with pytest.raises(LocalStackError, match=rf"{name}: `{text}` is not of the form"):
        checked(DEV, account, *COMPANY, "GroupTenants=*=acme", table)


def test_a_group_that_gives_no_access_is_warned_about(account: AwsAccount) -> None:
    assert checked(DEV, account, *COMPANY, "GroupTenants=*=acme") == ""
    said = checked(DEV, account, *COMPANY, "GroupTenants=Staff=acme,Staff=beta")
    assert "users in the group Staff get no access: GroupTenants gives it two tenants (acme, beta)" in said
    assert "the group Admins has a role but no tenant" in said
    assert checked(DEV, account, *COMPANY, "GroupTenants=North=acme", "TenantAttribute=site") == ""


def test_two_stacks_on_one_index_are_warned_about(account: AwsAccount) -> None:
    said = checked(DEV, account, "PineconeIndex=recto-prod")
    assert "the stack recto-prod uses the Pinecone index recto-prod, too" in said


def test_a_role_that_may_not_list_other_stacks_can_deploy(account: AwsAccount) -> None:
    def client(service: str) -> Any:
        made = account.client(service)
        if service == "cloudformation":
            made.get_paginator = refused
        return made

    def refused(_: str) -> Any:
        error = {"Error": {"Code": "AccessDenied", "Message": "not authorized to perform DescribeStacks"}}
        raise ClientError(error, "DescribeStacks")  # type: ignore[arg-type]

    assert "Warning: other stacks may not be listed" in checked(DEV, AwsAccount(account.id, account.region, client))


def test_a_first_deployment_says_nothing(account: AwsAccount) -> None:
    assert checked(DEV, account) == ""


def test_a_bucket_that_an_earlier_stack_left_is_told_before_cloudformation_fails(account: AwsAccount) -> None:
    bucket = bucket_name("recto-old", account.id, account.region)
    account.client("s3").create_bucket(Bucket=bucket)
    with pytest.raises(LocalStackError, match=r"was kept when an earlier stack(.|\n)*make destroy STACK=old"):
        checked(Environment("old", "recto-old"), account)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("UPDATE_IN_PROGRESS", "try again when that is done"),
        ("ROLLBACK_COMPLETE", "make destroy STACK=prod"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback --stack-name recto-prod"),
    ],
)
def test_a_stack_that_cannot_be_deployed_is_said_with_what_to_do(
    account: AwsAccount, status: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = {"StackName": PROD.stack, "StackStatus": status, "Parameters": []}
    monkeypatch.setattr(deploying, "find_stack", lambda *_: stack)
    with pytest.raises(LocalStackError, match=said):
        checked(PROD, account)


@pytest.mark.parametrize(("given", "said"), [("TopK", "'TopK' is not a parameter"), ("TpoK=3", "no parameter TpoK")])
def test_a_mistyped_parameter_is_refused(account: AwsAccount, given: str, said: str) -> None:
    with pytest.raises(LocalStackError, match=said):
        checked(DEV, account, given)


@pytest.mark.parametrize("name", ["Recto", "recto_dev", "1recto", "recto-", ""])
def test_a_name_no_bucket_can_have_is_refused(account: AwsAccount, name: str) -> None:
    with pytest.raises(LocalStackError, match="lower-case letters, digits and hyphens only"):
        checked(Environment("dev", name), account)


def test_a_name_that_is_too_long_for_the_bucket_is_refused_with_the_count(account: AwsAccount) -> None:
    name = "r" * 33
    assert len(bucket_name(name[:32], account.id, account.region)) == 63
    said = "has 33 characters, and a stack's name may have 32 in us-east-1: AWS allows 63 in the name of the bucket"
    with pytest.raises(LocalStackError, match=said):
        checked(Environment("dev", name), account)
