"""The trigger that Cognito calls before it issues tokens: a company's groups become roles and a tenant.

Users of the pool itself keep the role and tenant that an administrator gave them. Users of the company's identity
provider get what the stack's tables say about their groups, and nothing else: without a known group, without a tenant,
or with two, their token has no tenant, and the API refuses it (403).

Standard library only: Cognito waits five seconds for an answer, cold start included, and then refuses the sign-in.
"""

import json
import logging
import os
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote_plus

from shared.access import is_name
from shared.models import ROLES, TENANT

GROUPS = "custom:idp_groups"
"""The user's groups as the identity provider sent them at the last sign-in; no client lets a user write it."""
MAX_KEPT = 3_000
"""Bytes of the company's groups in a token: API Gateway takes 10,240 for all headers; base64 makes four of three."""
EVERYBODY = "*"
"""Stands in a table for every user of the provider that no other entry names."""

_ENCODED = re.compile(r"[A-Za-z0-9._*%+-]*")
"""The only characters in a form-encoded text; a list with any other character is not encoded."""

type Table = Mapping[str, frozenset[str]]

logger = logging.getLogger(__name__)
logger.setLevel(logging.INFO)
MAX_LOGGED_GROUPS = 20
"""Groups of a user that are logged."""


@dataclass(frozen=True, slots=True)
class Company:
    """The stack's parameters about the company: its provider, the two tables, and the attribute the second looks up."""

    provider: str
    roles: Table
    tenants: Table
    tenant_source: str = GROUPS

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Company":
        """Read the function's environment variables. Raises `ValueError` that names the malformed entry."""
        return cls(
            environment["RECTO_IDENTITY_PROVIDER_NAME"],
            read_roles(environment["RECTO_GROUP_ROLES"]),
            read_tenants(environment["RECTO_GROUP_TENANTS"]),
            environment["RECTO_TENANT_SOURCE"],
        )


def read_roles(text: str) -> Table:
    """Read the parameter GroupRoles. Raises `ValueError` that names the malformed entry."""
    return _read_table("GroupRoles", text, "|".join(ROLES))


def read_tenants(text: str) -> Table:
    """Read the parameter GroupTenants. Raises `ValueError` that names the malformed entry."""
    return _read_table("GroupTenants", text, TENANT)


def _read_table(name: str, text: str, right: str) -> Table:
    """Read `group=value,group=value`; a group may have several. Raises `ValueError` for what does not match `right`."""
    table: dict[str, frozenset[str]] = {}
    for entry in text.split(","):
        group, _, value = entry.rpartition("=")
        if not group or not re.fullmatch(right, value):
            raise ValueError(f"{name}: `{entry}` is not of the form group=value ({right})")
        table[group] = table.get(group, frozenset()) | {value}
    return table


def values_of(attribute: str) -> frozenset[str]:
    """Split a user attribute into its values: a JSON list, `[a, b]` (percent-encoded or not), or one value.

    Text without brackets is one value, whatever commas it has: whoever may name a group `x,Admins` must not become an
    administrator by it.
    """
    text = attribute.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return frozenset({text} - {""})
    try:
        parts = [str(each) for each in json.loads(text)]
    except ValueError:
        parts = [part.strip() for part in text[1:-1].split(",")]
        if all(map(_ENCODED.fullmatch, parts)):
            parts = [unquote_plus(part) for part in parts]
    return frozenset(parts) - {""}


def looked_up(table: Table, values: Set[str]) -> frozenset[str]:
    """Return what the table says about all the values; if it knows none of them, what it says about everybody."""
    found = frozenset[str]().union(*(table.get(value, ()) for value in values))
    return found or table.get(EVERYBODY, frozenset())


def is_of_the_pool(attributes: Mapping[str, str]) -> bool:
    """Say whether the pool itself keeps this user; both attributes are Cognito's own, nobody else can write them."""
    return "identities" not in attributes and attributes.get("cognito:user_status") != "EXTERNAL_PROVIDER"


def providers_of(attributes: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the identity providers that know this user."""
    try:
        return frozenset(str(each["providerName"]) for each in json.loads(attributes.get("identities", "[]")))
    except (ValueError, TypeError, KeyError):
        return frozenset()


def claims_for(attributes: Mapping[str, str], company: Company) -> dict[str, Any]:
    """Return what to change in the ID token of a company's user."""
    groups = values_of(attributes.get(GROUPS, ""))
    known = company.provider in providers_of(attributes)
    roles = looked_up(company.roles, groups) if known else frozenset()
    tenants = looked_up(company.tenants, values_of(attributes.get(company.tenant_source, ""))) if known else frozenset()
    if roles and len(tenants) == 1:
        (tenant,) = tenants
        return {
            "claimsToAddOrOverride": {"custom:tenant": tenant},
            "groupOverrideDetails": {"groupsToOverride": [*sorted(roles), *kept_groups(groups)]},
        }
    told = {"user": attributes.get("sub"), "groups": sorted(groups)[:MAX_LOGGED_GROUPS], "roles": sorted(roles)}
    logger.warning("no access: %s", json.dumps({**told, "tenants": sorted(tenants), "provider_known": known}))
    return {"claimsToSuppress": ["custom:tenant"], "groupOverrideDetails": {"groupsToOverride": []}}


def kept_groups(groups: Set[str]) -> list[str]:
    """Return the company's groups that access rules may name: none with the name of a role.

    Only those that fit into `MAX_KEPT` characters, in order, because a token travels in a header; others are left out.
    """
    kept: list[str] = []
    room = MAX_KEPT
    for group in sorted(name for name in groups if is_name(name) and name not in ROLES):
        room -= len(group.encode()) + 3
        if room < 0:
            logger.warning("groups left out: %d of %d are in the token", len(kept), len(groups))
            break
        kept.append(group)
    return kept


@cache
def company() -> Company:
    """Return the stack's company. Raises `ValueError`, and so refuses every sign-in, if a table is malformed."""
    return Company.of(os.environ)


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001  Lambda passes it
    """Answer one event of version 1: unchanged for the pool's own users."""
    attributes: Mapping[str, str] = event["request"]["userAttributes"]
    if not is_of_the_pool(attributes):
        event["response"] = {"claimsOverrideDetails": claims_for(attributes, company())}
    return event
