"""`/access`: the folder rules of a tenant, which say who may read the documents under a prefix."""

from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from functions.query.api.dependencies import PrincipalDep, ServicesDep
from functions.query.api.openapi import errors
from functions.query.api.schemas import AccessIn, Body, Out
from functions.query.bootstrap import Services
from functions.query.faqs import JSON
from shared.access import (
    MAX_BYTES,
    MAX_FOLDERS,
    NO_FOLDERS,
    AccessRulesInvalid,
    FolderRules,
    folder_rules_json,
    parse_folder_rules,
    rules_key,
)
from shared.errors import InvalidRequest, VersionNeeded
from shared.models import Principal
from shared.telemetry import logger

router = APIRouter(prefix="/access", tags=["administration"])


class FolderRuleIn(AccessIn):
    """Who may read the documents under a prefix."""

    prefix: Annotated[str, StringConstraints(min_length=5, max_length=1_024)] = Field(
        description="A folder of the bucket, as documents' keys begin: `uploads/acme/hr/`."
    )


class FolderRulesBody(Body):
    """`PUT /access`: all folder rules of the tenant."""

    folders: list[FolderRuleIn] = Field(max_length=MAX_FOLDERS, description="Of several, the longest prefix decides.")


class FolderRuleOut(Out):
    """Who, besides administrators, may read the documents under a prefix."""

    prefix: str
    allowed_groups: list[str]
    allowed_users: list[str]


class FolderRulesOut(Out):
    """The folder rules as they stand in the bucket."""

    folders: list[FolderRuleOut]
    etag: str = Field(description="Send it as `If-Match` with a change; empty if there are no rules.")
    in_force: bool = Field(description="Whether these are in force; if not, the former rules are.")
    errors: list[str] = Field(description="What is wrong with the file in the bucket, if something is.")

    @classmethod
    def of(cls, rules: FolderRules, etag: str, *, in_force: bool, errors: list[str] | None = None) -> "FolderRulesOut":
        """Return folder rules as the API shows them."""
        folders = [
            FolderRuleOut(prefix=prefix, allowed_groups=sorted(rule.groups), allowed_users=sorted(rule.users))
            for prefix, rule in sorted(rules.folders.items())
        ]
        return cls(folders=folders, etag=etag, in_force=in_force, errors=errors or [])


@router.get("", operation_id="readFolderRules")
def read_folder_rules(principal: PrincipalDep, services: ServicesDep, response: Response) -> FolderRulesOut:
    """Return who may read which folder. A folder without a rule is open to the tenant."""
    found = services.objects.read(rules_key(principal.tenant), max_bytes=MAX_BYTES)
    etag = found.etag if found else ""
    response.headers["ETag"] = f'"{etag}"'
    try:
        rules = parse_folder_rules(found.body or b"", principal.tenant) if found else NO_FOLDERS
    except AccessRulesInvalid as error:
        return FolderRulesOut.of(NO_FOLDERS, etag, in_force=False, errors=list(error.errors))
    return FolderRulesOut.of(rules, etag, in_force=services.registry.folder_rules(principal.tenant) == rules)


@router.put("", operation_id="replaceFolderRules", responses=errors(412, 428))
def replace_folder_rules(
    body: FolderRulesBody,
    principal: PrincipalDep,
    services: ServicesDep,
    response: Response,
    if_match: Annotated[str, Header(alias="If-Match", description="The ETag that you have read, or `*`.")] = "",
) -> FolderRulesOut:
    """Replace the folder rules; they are in force once this returns, and nothing is indexed anew.

    `If-Match` must name the version that is replaced, `""` if there was none: for another version the answer is a 412,
    without the header a 428.
    """
    if not if_match:
        raise VersionNeeded
    rules = _checked(body, principal)
    known = None if if_match.strip() == "*" else if_match.removeprefix("W/").strip().strip('"')
    key = rules_key(principal.tenant)
    etag = services.objects.write(key, folder_rules_json(rules), content_type=JSON, replacing=known)
    return _in_force(rules, etag, principal, services, response)


def _checked(body: FolderRulesBody, principal: Principal) -> FolderRules:
    """Return the rules of a body. Raises `InvalidRequest` with every error."""
    prefixes = [each.prefix for each in body.folders]
    if len(set(prefixes)) < len(prefixes):
        raise InvalidRequest("folders: a prefix is listed twice.")
    rules = FolderRules({each.prefix: each.to_rule() for each in body.folders})
    try:
        return parse_folder_rules(folder_rules_json(rules), principal.tenant)
    except AccessRulesInvalid as error:
        raise InvalidRequest("; ".join(error.errors[:10])) from error


def _in_force(
    rules: FolderRules, etag: str, principal: Principal, services: Services, response: Response
) -> FolderRulesOut:
    in_force = services.rules.apply(principal.tenant, services.objects)
    logger.info(
        "folder rules changed", extra={"tenant": principal.tenant, "by": principal.user, "folders": len(rules.folders)}
    )
    response.headers["ETag"] = f'"{etag}"'
    return FolderRulesOut.of(rules, etag, in_force=in_force == etag)
