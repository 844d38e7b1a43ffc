"""API keys of a stack's machine clients, on the command line: create, list, revoke (also on AWS).

For the operator, whose AWS credentials reach the table; a tenant's administrators have `/keys` in the API.
"""

import argparse
import re
from datetime import UTC, datetime, timedelta

from ulid import ULID

from local.operate import Target
from local.report import Reporter
from local.stack.config import LocalStackError
from shared.adapters.api_keys import DynamoApiKeys
from shared.api_keys import ClientKey, new_secret, time_of
from shared.errors import DependencyError
from shared.models import TENANT, UserRole

OPERATOR = "operator"
PAGE = 100
MAX_NAME = 100
MAX_DAYS = 36_500


def run(target: Target, report: Reporter, given: argparse.Namespace) -> int:
    """Take a step; 0 when it succeeded. Raises `LocalStackError`."""
    if not re.fullmatch(TENANT, given.tenant):
        raise LocalStackError(f"{given.tenant!r} is not a tenant's name: at most 63 letters, digits, - and _.")
    if given.step == "create" and not (1 <= len(given.name) <= MAX_NAME and given.name.isprintable()):
        raise LocalStackError(f"`keys create` needs a name of up to {MAX_NAME} characters: what uses the key.")
    if given.step == "create" and not 0 <= given.days <= MAX_DAYS:
        raise LocalStackError(f"--days is a number from 1 to {MAX_DAYS}; without it the key works until it is revoked.")
    if given.step == "revoke" and not given.name:
        raise LocalStackError("`keys revoke` needs the key's id: `keys list --tenant NAME` shows it.")
    keys = DynamoApiKeys(target.client("dynamodb"), target.outputs["ConversationsTableName"])
    try:
        if given.step == "create":
            return _create(keys, report, given.name, given.tenant, given.role, given.days)
        if given.step == "revoke":
            return _revoke(keys, report, given.tenant, given.name)
        return _list(keys, report, given.tenant)
    except DependencyError as error:
        raise LocalStackError(error.message) from error


def _create(keys: DynamoApiKeys, report: Reporter, name: str, tenant: str, role: UserRole, days: int) -> int:
    now = datetime.now(UTC)
    ends = time_of(now + timedelta(days=days)) if days else ""
    key = ClientKey(tenant, str(ULID()), name, role, OPERATOR, time_of(now), expires_at=ends)
    secret = new_secret()
    keys.create(key, secret)
    report.say(f"Key {key.key_id} ({name}): tenant {tenant}, role {role}, {_lasting(key)}.")
    report.say("This is the key, and the only time it is shown; send it as `Authorization: Bearer …`:")
    print(secret)
    return 0


def _revoke(keys: DynamoApiKeys, report: Reporter, tenant: str, key_id: str) -> int:
    if not keys.revoke(tenant, key_id):
        raise LocalStackError(f"The tenant {tenant} has no key {key_id}: `keys list --tenant {tenant}` shows its keys.")
    report.say(f"Key {key_id} is revoked: within a minute it no longer works.")
    return 0


def _list(keys: DynamoApiKeys, report: Reporter, tenant: str) -> int:
    found, cursor = keys.list(tenant, limit=PAGE)
    while cursor:
        more, cursor = keys.list(tenant, limit=PAGE, cursor=cursor)
        found = [*found, *more]
    if not found:
        report.say(f"The tenant {tenant} has no API keys.")
    for key in found:
        used = f"last used {key.last_used_at[:16]}" if key.last_used_at else "never used"
        report.say(f"{key.key_id}  {key.role:6}  {_lasting(key)}, {used}  {key.name}")
    return 0


def _lasting(key: ClientKey) -> str:
    if not key.expires_at:
        return "until revoked"
    return f"{'expired' if key.is_expired(datetime.now(UTC)) else 'until'} {key.expires_at[:10]}"
