"""The laptop's two users, in the stack's own Cognito pool: one to work as, one of another tenant to test against."""

import json
import secrets
from dataclasses import dataclass

from botocore.exceptions import ClientError

from local.stack.aws import Aws, Deployed
from local.stack.config import LocalConfig, LocalStackError

TENANT_ATTRIBUTE = "custom:tenant"
RECORD = "users.json"


@dataclass(frozen=True, slots=True)
class User:
    """A user of the laptop stack."""

    name: str
    tenant: str
    group: str


DEMO = User("demo@example.com", "demo", "editor")
OTHER = User("other@example.com", "other", "editor")
USERS = {user.tenant: user for user in (DEMO, OTHER)}


def _password(config: LocalConfig) -> str:
    """Return the password of both, generated once per state folder and readable by its owner only."""
    record = config.state / RECORD
    if not record.exists():
        record.touch(mode=0o600)
        record.write_text(json.dumps({"password": f"Aa1!{secrets.token_urlsafe(18)}"}))
    password: str = json.loads(record.read_text())["password"]
    return password


def ensure(aws: Aws, config: LocalConfig, deployed: Deployed) -> None:
    """Create the missing users, with the tenant as an attribute only an administrator can write."""
    pool = deployed.one("AWS::Cognito::UserPool")
    for user in USERS.values():
        attributes = {"email": user.name, "email_verified": "true", TENANT_ATTRIBUTE: user.tenant}
        try:
            aws.cognito.admin_create_user(
                UserPoolId=pool,
                Username=user.name,
                MessageAction="SUPPRESS",
                UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "UsernameExistsException":
                raise
        password = _password(config)
        aws.cognito.admin_set_user_password(UserPoolId=pool, Username=user.name, Password=password, Permanent=True)
        aws.cognito.admin_add_user_to_group(UserPoolId=pool, Username=user.name, GroupName=user.group)


def id_token(aws: Aws, config: LocalConfig, deployed: Deployed, user: User = DEMO) -> str:
    """Sign in and return a fresh ID token (good for an hour)."""
    try:
        answer = aws.cognito.initiate_auth(
            ClientId=deployed.one("AWS::Cognito::UserPoolClient"),
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": user.name, "PASSWORD": _password(config)},
        )
    except ClientError as error:
        message = f"Could not sign in as {user.name}: {error}. `python -m local up` creates the users."
        raise LocalStackError(message) from error
    return answer["AuthenticationResult"]["IdToken"]
