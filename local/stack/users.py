"""Users in a stack's Cognito pool; the laptop has one for each role, and one of another tenant to test against."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from local.stack.aws import Aws, Deployed
from local.stack.config import DEMO_ROLE, LocalConfig, LocalStackError
from shared.models import ROLES

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient

TENANT_ATTRIBUTE = "custom:tenant"
RECORD = "users.json"
_BY_MAIL: dict[str, Any] = {"DesiredDeliveryMediums": ["EMAIL"]}  # Cognito's default is SMS


@dataclass(frozen=True, slots=True)
class User:
    """A user of the laptop stack."""

    name: str
    tenant: str
    group: str


DEMO = User("demo@example.com", "demo", DEMO_ROLE)
READER = User("reader@example.com", "demo", "reader")
AGENT = User("agent@example.com", "demo", "agent")
ADMIN = User("admin@example.com", "demo", "admin")
OTHER = User("other@example.com", "other", "editor")
LAPTOP = (DEMO, READER, AGENT, ADMIN, OTHER)
"""The laptop's users, who all have one password."""
USERS = {user.tenant: user for user in (DEMO, OTHER)}
"""The user that the verbs act as, by tenant."""


def laptop_user(tenant: str, role: str) -> User:
    """Return the laptop's user of a tenant with a role. Raises `LocalStackError` where there is none."""
    for user in LAPTOP:
        if (user.tenant, user.group) == (tenant, role):
            return user
    there_are = ", ".join(user.group for user in LAPTOP if user.tenant == tenant)
    raise LocalStackError(f"The tenant {tenant} has no {role} here, only: {there_are}.")


def password_of(state: Path) -> str:
    """Return the password of all these users, generated once per state folder and readable by its owner only."""
    record = state / RECORD
    if not record.exists():
        record.touch(mode=0o600)
        record.write_text(json.dumps({"password": new_password()}))
    password: str = json.loads(record.read_text())["password"]
    return password


def create(
    cognito: "CognitoIdentityProviderClient", pool: str, user: User, *, password: str = "", invite: bool = False
) -> bool:
    """Create a user with tenant and role, or give an existing one this role only; return whether the user is new.

    With a `password` the account is ready at once; with `invite` Cognito mails a temporary one, again if the user has
    not signed in yet. The tenant of an existing user cannot change: it is an attribute that can be written only once.
    Raises `LocalStackError`.
    """
    attributes = {"email": user.name, "email_verified": "true", TENANT_ATTRIBUTE: user.tenant}
    request: dict[str, Any] = _BY_MAIL if invite else {"MessageAction": "SUPPRESS"}
    try:
        cognito.admin_create_user(
            UserPoolId=pool,
            Username=user.name,
            UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
            **request,
        )
        is_new = True
    except cognito.exceptions.UsernameExistsException:
        held = cognito.admin_get_user(UserPoolId=pool, Username=user.name)["UserAttributes"]
        tenant = next((each.get("Value", "") for each in held if each["Name"] == TENANT_ATTRIBUTE), "")
        if tenant != user.tenant:
            raise LocalStackError(
                f"{user.name} already exists, in the tenant {tenant or '(none)'}, which cannot change: "
                "delete the user first, or use another address."
            ) from None
        is_new = False
        if invite:
            _invite_again(cognito, pool, user)
        _take_other_roles(cognito, pool, user)
    if password:
        cognito.admin_set_user_password(UserPoolId=pool, Username=user.name, Password=password, Permanent=True)
    cognito.admin_add_user_to_group(UserPoolId=pool, Username=user.name, GroupName=user.group)
    return is_new


def _invite_again(cognito: "CognitoIdentityProviderClient", pool: str, user: User) -> None:
    """Mail another temporary password, because the first is valid for three days. Raises `LocalStackError`."""
    try:
        cognito.admin_create_user(UserPoolId=pool, Username=user.name, MessageAction="RESEND", **_BY_MAIL)
    except cognito.exceptions.UnsupportedUserStateException:
        raise LocalStackError(
            f"{user.name} already has a password of their own, so nothing was mailed or changed: "
            "without --invite the role and a new password are set, and the password is printed."
        ) from None


def _take_other_roles(cognito: "CognitoIdentityProviderClient", pool: str, user: User) -> None:
    """Take the user out of the groups of other roles: rights add up. Groups that only rules of access name stay."""
    held = cognito.admin_list_groups_for_user(UserPoolId=pool, Username=user.name)["Groups"]
    for name in sorted({each["GroupName"] for each in held} & set(ROLES) - {user.group}):
        cognito.admin_remove_user_from_group(UserPoolId=pool, Username=user.name, GroupName=name)


def new_password() -> str:
    """Return a random password that satisfies the pool's policy."""
    return f"Aa1!{secrets.token_urlsafe(18)}"


def ensure(aws: Aws, config: LocalConfig, deployed: Deployed) -> None:
    """Create the laptop's users."""
    pool = deployed.one("AWS::Cognito::UserPool")
    for user in LAPTOP:
        create(aws.cognito, pool, user, password=password_of(config.state))


def id_token(aws: Aws, config: LocalConfig, deployed: Deployed, user: User = DEMO) -> str:
    """Sign in and return a new ID token (valid for an hour)."""
    try:
        answer = aws.cognito.initiate_auth(
            ClientId=deployed.outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": user.name, "PASSWORD": password_of(config.state)},
        )
    except ClientError as error:
        message = f"Could not sign in as {user.name}: {error}. `python -m local up` creates the users."
        raise LocalStackError(message) from error
    return answer["AuthenticationResult"]["IdToken"]
