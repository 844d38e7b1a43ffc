"""`make user`: what Cognito is asked for, and what it is never asked for."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from local.stack import users
from local.stack.config import LocalStackError
from shared.models import ROLES

POOL = "us-east-1_EXAMPLE12"
ANN = users.User("ann@example.com", "acme", "editor")
ATTRIBUTES = [
    {"Name": "email", "Value": "ann@example.com"},
    {"Name": "email_verified", "Value": "true"},
    {"Name": "custom:tenant", "Value": "acme"},
]
NEW = {"UserPoolId": POOL, "Username": ANN.name, "UserAttributes": ATTRIBUTES}
PASSWORD = {"UserPoolId": POOL, "Username": ANN.name, "Password": "a-password", "Permanent": True}
GROUP = {"UserPoolId": POOL, "Username": ANN.name, "GroupName": "editor"}


@pytest.fixture
def cognito() -> Iterator[tuple[Any, Stubber]]:
    """A client that answers exactly the calls a test adds, in their order."""
    client = boto3.client("cognito-idp", "us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    with Stubber(client) as stub:
        yield client, stub
        stub.assert_no_pending_responses()


def test_a_new_user_has_tenant_role_and_password_and_gets_no_mail(cognito: tuple[Any, Stubber]) -> None:
    client, stub = cognito
    stub.add_response("admin_create_user", {}, {**NEW, "MessageAction": "SUPPRESS"})
    stub.add_response("admin_set_user_password", {}, PASSWORD)
    stub.add_response("admin_add_user_to_group", {}, GROUP)
    assert users.create(client, POOL, ANN, password="a-password")


def test_an_invitation_is_mailed_when_it_is_asked_for(cognito: tuple[Any, Stubber]) -> None:
    client, stub = cognito
    stub.add_response("admin_create_user", {}, {**NEW, "DesiredDeliveryMediums": ["EMAIL"]})
    stub.add_response("admin_add_user_to_group", {}, GROUP)
    assert users.create(client, POOL, ANN, invite=True)


HELD = {"Username": ANN.name, "UserAttributes": ATTRIBUTES}
WHO = {"UserPoolId": POOL, "Username": ANN.name}


def test_a_user_who_is_there_keeps_the_tenant(cognito: tuple[Any, Stubber]) -> None:
    client, stub = cognito
    stub.add_client_error("admin_create_user", "UsernameExistsException")
    stub.add_response("admin_get_user", HELD)
    stub.add_response("admin_list_groups_for_user", {"Groups": []}, WHO)
    stub.add_response("admin_add_user_to_group", {}, GROUP)
    assert not users.create(client, POOL, ANN)
    stub.add_client_error("admin_create_user", "UsernameExistsException")
    stub.add_response("admin_get_user", HELD)
    with pytest.raises(LocalStackError, match="cannot change"):
        users.create(client, POOL, users.User(ANN.name, "other", "admin"))


def test_a_user_who_is_there_loses_the_role_before_and_keeps_the_groups_of_rules(cognito: tuple[Any, Stubber]) -> None:
    client, stub = cognito
    stub.add_client_error("admin_create_user", "UsernameExistsException")
    stub.add_response("admin_get_user", HELD)
    held = {"Groups": [{"GroupName": name} for name in ("admin", "editor", "finance", "reader")]}
    stub.add_response("admin_list_groups_for_user", held, WHO)
    stub.add_response("admin_remove_user_from_group", {}, {**WHO, "GroupName": "admin"})
    stub.add_response("admin_remove_user_from_group", {}, {**WHO, "GroupName": "reader"})
    stub.add_response("admin_add_user_to_group", {}, GROUP)
    assert not users.create(client, POOL, ANN)


def test_an_invitation_can_be_mailed_again_until_the_user_has_a_password(cognito: tuple[Any, Stubber]) -> None:
    client, stub = cognito
    again = {**WHO, "MessageAction": "RESEND", "DesiredDeliveryMediums": ["EMAIL"]}
    stub.add_client_error("admin_create_user", "UsernameExistsException")
    stub.add_response("admin_get_user", HELD)
    stub.add_response("admin_create_user", {}, again)
    stub.add_response("admin_list_groups_for_user", {"Groups": []}, WHO)
    stub.add_response("admin_add_user_to_group", {}, GROUP)
    assert not users.create(client, POOL, ANN, invite=True)
    stub.add_client_error("admin_create_user", "UsernameExistsException")
    stub.add_response("admin_get_user", HELD)
    stub.add_client_error("admin_create_user", "UnsupportedUserStateException", expected_params=again)
    with pytest.raises(LocalStackError, match="nothing was mailed"):
        users.create(client, POOL, ANN, invite=True)


def test_the_laptop_has_a_user_of_each_role_for_the_token() -> None:
    assert {users.laptop_user("demo", role) for role in ROLES} == {
        user for user in users.LAPTOP if user.tenant == "demo"
    }
    with pytest.raises(LocalStackError, match="The tenant other has no admin here, only: editor"):
        users.laptop_user("other", "admin")
