"""The trigger that gives a company's users their roles and tenant: what each may become, and what nobody may."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.authorizer.credentials import Credentials, context_of
from functions.authorizer.tokens import IdTokens
from functions.identity import app
from functions.identity.app import (
    MAX_KEPT,
    Company,
    claims_for,
    handler,
    kept_groups,
    read_roles,
    read_tenants,
    values_of,
)
from functions.query.api.dependencies import principal_of
from functions.query.api.roles import require_permission, roles_of
from shared.errors import NotAllowed
from shared.models import ROLES, Principal
from tests.support.template import ROOT, properties, template

VARIABLES = {
    "RECTO_IDENTITY_PROVIDER_NAME": "Company",
    "RECTO_GROUP_ROLES": "Recto-Admins=admin,Recto-Editors=editor,Everyone=reader",
    "RECTO_GROUP_TENANTS": "*=acme,Subsidiary=beta",
    "RECTO_TENANT_SOURCE": "custom:idp_groups",
}
OF_THE_COMPANY = json.dumps([{"userId": "u", "providerName": "Company", "providerType": "SAML"}])


@pytest.fixture(autouse=True)
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The function's environment as the template fills it."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    app.company.cache_clear()
    yield
    app.company.cache_clear()


def event(name: str, **attributes: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "events" / f"cognito_pre_token_{name}.json").read_text())
    found["request"]["userAttributes"] |= attributes
    return found


def claims_in_token(sent: dict[str, Any]) -> dict[str, Any]:
    """The ID token's claims as Cognito makes them of an event of version 1 and the trigger's answer."""
    answer = handler(deepcopy(sent), None)
    assert answer["request"] == sent["request"]
    said = answer["response"]["claimsOverrideDetails"] or {}
    attributes = sent["request"]["userAttributes"]
    claims = {name: value for name, value in attributes.items() if name in ("sub", "email", "custom:tenant")}
    groups = said.get("groupOverrideDetails", sent["request"]["groupConfiguration"])["groupsToOverride"]
    claims |= said.get("claimsToAddOrOverride", {})
    for name in said.get("claimsToSuppress", []):
        claims.pop(name, None)
    return claims | ({"cognito:groups": groups} if groups else {})


def principal(sent: dict[str, Any]) -> Principal:
    """Who the API takes for the user of that token, once the authorizer has verified it."""
    tokens = Mock(spec=IdTokens, claims_of=Mock(return_value=claims_in_token(sent)))
    return principal_of(
        {"requestContext": {"authorizer": context_of(Credentials(tokens, Mock()).principal_of("a-token"))}}
    )


def test_a_user_of_the_pool_keeps_what_an_administrator_gave_them() -> None:
    sent = event("pool_user")
    assert handler(deepcopy(sent), None) == sent
    assert principal(sent) == Principal("acme", sent["request"]["userAttributes"]["sub"], frozenset({"editor"}))


def test_a_companys_user_gets_the_roles_and_the_tenant_of_the_tables() -> None:
    who = principal(event("company"))
    assert (who.tenant, roles_of(who.groups)) == ("acme", {"reader", "editor"})
    assert who.groups - set(ROLES) == {"Everyone", "Recto-Editors"}, "rules of access may name the company's groups"
    require_permission("POST /documents", who.groups)
    with pytest.raises(NotAllowed):
        require_permission("GET /admin/usage", who.groups)


def test_a_companys_group_that_is_called_like_a_role_gives_none() -> None:
    who = principal(event("company", **{"custom:idp_groups": "[Recto-Editors, admin, agent]"}))
    assert "admin" not in who.groups
    assert "Recto-Editors" in who.groups
    with pytest.raises(NotAllowed):
        require_permission("GET /admin/usage", who.groups)


def test_more_groups_than_a_header_holds_are_left_out() -> None:
    many = [f"group-{number:04}" for number in range(1_000)]
    kept = kept_groups({*many, "a" * 200, "line\nbreak"})
    assert kept == many[: len(kept)]
    assert 200 < len(kept) < 1_000
    assert sum(len(each) + 3 for each in kept) <= MAX_KEPT


def test_a_named_tenant_comes_before_everybodys() -> None:
    assert principal(event("company", **{"custom:idp_groups": "[Everyone, Subsidiary]"})).tenant == "beta"


@pytest.mark.parametrize(
    "attributes",
    [
        {"custom:idp_groups": "[Accounting, Canteen]"},
        {"custom:idp_groups": ""},
        {"custom:idp_groups": "admin"},
        {"custom:idp_groups": "*"},
        {"custom:idp_groups": "recto-admins"},
        {"custom:idp_groups": "Everyone,Recto-Admins"},
        {"custom:idp_groups": "[x%2CRecto-Admins]"},
        {"identities": json.dumps([{"providerName": "Another"}])},
        {"identities": "not JSON"},
        {"identities": "{}"},
        {"identities": "[1]"},
    ],
    ids=str,
)
def test_who_has_no_known_group_or_comes_from_elsewhere_gets_no_access(attributes: dict[str, str]) -> None:
    with pytest.raises(NotAllowed):
        principal(event("company", **attributes))


def test_without_a_role_there_is_no_access_even_with_a_tenant_of_ones_own() -> None:
    """A tenant in the profile (of an account that was linked, say) opens nothing either."""
    with pytest.raises(NotAllowed):
        principal(event("company", **{"custom:idp_groups": "[Canteen]", "custom:tenant": "acme"}))


def test_the_tables_decide_the_tenant_and_not_the_profile() -> None:
    assert principal(event("company", **{"custom:tenant": "other"})).tenant == "acme"


def test_a_user_of_two_tenants_gets_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECTO_GROUP_TENANTS", "Everyone=acme,Recto-Editors=beta")
    with pytest.raises(NotAllowed):
        principal(event("company"))


def test_a_user_of_the_pool_gains_nothing_by_a_companys_attributes() -> None:
    written = {"custom:idp_groups": "[Recto-Admins]", "custom:idp_tenant": "beta"}
    assert principal(event("pool_user", **written)) == principal(event("pool_user"))


def test_an_account_of_a_provider_is_never_taken_for_one_of_the_pool() -> None:
    sent = event("company", **{"custom:tenant": "acme"})
    del sent["request"]["userAttributes"]["identities"]
    with pytest.raises(NotAllowed):
        principal(sent)


def test_an_account_that_was_linked_to_the_provider_is_the_companys() -> None:
    linked = {"cognito:user_status": "CONFIRMED", "custom:tenant": "other"}
    assert principal(event("company", **linked)).tenant == "acme"


def test_a_tenant_attribute_is_looked_up_instead_of_the_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECTO_TENANT_SOURCE", "custom:idp_tenant")
    monkeypatch.setenv("RECTO_GROUP_TENANTS", "North=acme,Everyone=beta")
    assert principal(event("company", **{"custom:idp_tenant": "North"})).tenant == "acme"
    for unknown in ("acme", "South", ""):
        with pytest.raises(NotAllowed):
            principal(event("company", **{"custom:idp_tenant": unknown}))


def test_a_refusal_is_logged_with_its_reason_and_without_the_users_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, app.logger.name):
        handler(event("company", **{"custom:idp_groups": "[Canteen]"}), None)
    (line,) = caplog.messages
    assert "Canteen" in line
    assert "ann@" not in line


# --- values and tables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ('["Everyone","Recto Admins"]', {"Everyone", "Recto Admins"}),
        ("[Everyone, Recto-Admins]", {"Everyone", "Recto-Admins"}),
        ("[Everyone,Recto+Admins,a%2Cb]", {"Everyone", "Recto Admins", "a,b"}),
        ("[Domain Users, C++]", {"Domain Users", "C++"}),
        ("[0b7e2c54-9f5e-4c55-8a60-2f5d1f2a7c10]", {"0b7e2c54-9f5e-4c55-8a60-2f5d1f2a7c10"}),
        ('["x,Recto-Admins"]', {"x,Recto-Admins"}),
        ("Recto-Admins", {"Recto-Admins"}),
        (" Recto Admins ", {"Recto Admins"}),
        ("[]", set()),
        ("[ ]", set()),
        ("", set()),
    ],
)
def test_several_values_of_an_attribute_are_told_apart(attribute: str, values: set[str]) -> None:
    assert values_of(attribute) == values


@given(st.text())
def test_whatever_a_provider_sends_gives_only_what_the_tables_name(text: str) -> None:
    company = Company.of(VARIABLES)
    said = claims_for({"sub": "u", "identities": OF_THE_COMPANY, "custom:idp_groups": text}, company)
    roles = set(said["groupOverrideDetails"]["groupsToOverride"])
    named = {"Recto-Admins", "Recto-Editors", "Everyone"}
    assert bool(roles) == bool(values_of(text) & named)
    assert said.get("claimsToAddOrOverride", {}).get("custom:tenant") in {"acme", "beta", None}


@pytest.mark.parametrize(
    "text", ["", "Admins", "Admins=", "=admin", "Admins=root", "a=reader,", "a=reader,,b=editor", "a=reader, =admin "]
)
def test_a_malformed_table_refuses_every_sign_in_and_says_which_entry(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECTO_GROUP_ROLES", text)
    with pytest.raises(ValueError, match="GroupRoles: `"):
        handler(event("company"), None)


def test_a_group_may_have_two_roles_and_an_equals_sign() -> None:
    assert read_roles("a b=editor,a b=agent,cn=x=reader") == {
        "a b": {"editor", "agent"},
        "cn=x": {"reader"},
    }


ENTRY = st.tuples(st.text("ab ,=*-", max_size=4), st.sampled_from([*ROLES, "acme", "a-1", "-a", "", "x" * 64]))


@given(st.lists(ENTRY.map("=".join), max_size=3).map(",".join))
def test_the_deploy_takes_no_table_that_the_function_refuses(text: str) -> None:
    """CloudFormation refuses a malformed table before it changes anything; empty is refused by a rule."""
    for name, read in (("GroupRoles", read_roles), ("GroupTenants", read_tenants)):
        if text and re.fullmatch(template()["Parameters"][name]["AllowedPattern"], text):
            read(text)


# --- the function -----------------------------------------------------------------------------------------------------


def test_the_template_sets_every_variable_the_function_reads() -> None:
    assert properties("IdentityFunction")["Environment"]["Variables"].keys() == VARIABLES.keys()


def test_the_function_starts_without_any_library(tmp_path: Path) -> None:
    """Cognito waits five seconds for it, cold start included; its package holds our own code only."""
    program = "import sys, functions.identity.app; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split()) - set(sys.stdlib_module_names) - {"__main__", "_distutils_hack"}
    assert {"functions", "shared"} <= loaded
    assert not loaded & {"boto3", "botocore", "pydantic", "aws_lambda_powertools", "fastapi"}
