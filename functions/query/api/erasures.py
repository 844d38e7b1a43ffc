"""`/users` and `/erasures`: verified erasures of users, and the receipts of all.

The request itself erases what must be gone at once. Maintenance erases the rest within the hour, looks again, and signs
the receipt (functions/ingest/erasing.py).
"""

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Response
from pydantic import Field

from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.schemas import ULID, Out
from functions.query.bootstrap import Services
from shared.api_keys import USER_PREFIX
from shared.deadline import Deadline
from shared.erasures import Erasure, ErasureKind
from shared.errors import NotAllowed, NotFound
from shared.models import Document, Principal
from shared.telemetry import logger

router = APIRouter(tags=["erasures"])

USER_ID = r"^[A-Za-z0-9][A-Za-z0-9:._@+=-]{0,127}$"
"""Ids of users: those of Cognito, of a company's sign-in, and of API keys (`key:…`)."""
RESERVE_S = 5.0
"""Seconds at the end of a request in which it erases no further conversation."""
PAGE = 100


class ErasedStoreOut(Out):
    """What one store held, and what the last look still found there."""

    store: str
    before: int
    after: int


class ReceiptOut(Out):
    """What was erased where. `signature` is the HMAC-SHA256 of all the rest as canonical JSON."""

    version: int
    erasure_id: str
    tenant: str
    kind: Literal["document", "user"]
    subject: str
    state: Literal["running", "erased"]
    begun_at: str
    finished_at: str
    re_read_at: str = Field(description="When all stores were read for the last time.")
    settled_s: int = Field(description="Seconds that it waited for requests which began before it.")
    rounds: int
    stores: list[ErasedStoreOut]
    left: list[str] = Field(description="What is not erased or not certain yet; empty when it is finished.")
    not_erased: list[str] = Field(description="What no erasure reaches.")
    key: str = Field(description="Which key signed it: the beginning of the key's SHA-256.")
    signature: str


class ErasureOut(Out):
    """An erasure; it has a receipt after the first look, which says what is left for as long as it is running."""

    erasure_id: str
    kind: Literal["document", "user"]
    subject: str = Field(description="The id of the document or of the user.")
    state: Literal["running", "erased"]
    begun_at: str
    finished_at: str
    receipt: ReceiptOut | None

    @classmethod
    def of(cls, erasure: Erasure) -> "ErasureOut":
        """Return an erasure as the API shows it."""
        return cls(
            erasure_id=erasure.erasure_id,
            kind=erasure.kind,
            subject=erasure.subject,
            state=erasure.state,
            begun_at=erasure.begun_at,
            finished_at=erasure.finished_at,
            receipt=ReceiptOut.model_validate(dict(erasure.receipt)) if erasure.receipt else None,
        )


async def _erasure_id(erasure_id: Annotated[str, Path(json_schema_extra={"pattern": ULID})]) -> str:
    if not re.fullmatch(ULID, erasure_id):
        raise NotFound("There is no such erasure.")
    return erasure_id


async def _user_id(user_id: Annotated[str, Path(json_schema_extra={"pattern": USER_ID})]) -> str:
    if not re.fullmatch(USER_ID, user_id):
        raise NotFound("There is no such user.")
    return user_id


@router.delete("/users/me", status_code=202, operation_id="eraseMyself")
def erase_myself(
    principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep, response: Response
) -> ErasureOut:
    """Erase everything that the service keeps about you; the sign-in account stays.

    Conversations are gone at once. The receipt follows (`GET /erasures/{erasure_id}`).
    """
    return _erase_user(principal.user, principal, services, deadline, response)


@router.delete("/users/{user_id}", status_code=202, operation_id="eraseUser")
def erase_user(
    principal: PrincipalDep,
    user_id: Annotated[str, Depends(_user_id)],
    services: ServicesDep,
    deadline: DeadlineDep,
    response: Response,
) -> ErasureOut:
    """Erase everything that the service keeps about a user of your tenant, as `DELETE /users/me` does."""
    if principal.user.startswith(USER_PREFIX):
        raise NotAllowed("An API key cannot erase users: sign in as an administrator.")
    return _erase_user(user_id, principal, services, deadline, response)


@router.get("/erasures/{erasure_id}", operation_id="readErasure")
def read_erasure(
    principal: PrincipalDep, erasure_id: Annotated[str, Depends(_erasure_id)], services: ServicesDep
) -> ErasureOut:
    """Return an erasure with its receipt: your own; editors also those of documents, administrators all."""
    erasure = services.erasures.get(principal.tenant, erasure_id)
    if erasure is None or not _may_read(principal, erasure):
        raise NotFound("There is no such erasure.")
    return ErasureOut.of(erasure)


def begin_of_document(document: Document, principal: Principal, services: Services, response: Response) -> Erasure:
    """Store the erasure of a document, before anything of it is deleted."""
    begun = _begin(
        "document", document.document_id, principal, services, response, key=document.key, title=document.title
    )
    published = document.index_versions.values()
    if vectors := sum(each.chunk_count for each in published):
        services.erasures.count_before(begun, "vectors", vectors)
    return begun


def _erase_user(
    user: str, principal: Principal, services: Services, deadline: Deadline, response: Response
) -> ErasureOut:
    begun = _begin("user", user, principal, services, response)
    erased = 0
    cursor = ""
    while True:
        page, cursor = services.conversations.recent(principal.tenant, user, limit=PAGE, cursor=cursor)
        for conversation in page:
            if deadline.left() < RESERVE_S:
                cursor = ""
                break
            erased += services.conversations.erase(principal.tenant, user, conversation.conversation_id)
        if not cursor:
            break
    if erased:
        services.erasures.count_before(begun, "conversations", erased)
    return ErasureOut.of(begun)


def _begin(
    kind: ErasureKind,
    subject: str,
    principal: Principal,
    services: Services,
    response: Response,
    *,
    key: str = "",
    title: str = "",
) -> Erasure:
    erasure = Erasure(
        tenant=principal.tenant,
        erasure_id=services.new_id(),
        kind=kind,
        subject=subject,
        requested_by=principal.user,
        begun_at=services.clock.now().isoformat(timespec="milliseconds"),
        key=key,
        title=title,
    )
    begun = services.erasures.begin(erasure)
    logger.info("erasure begun", extra={"tenant": begun.tenant, "erasure_id": begun.erasure_id, "kind": kind})
    response.headers["Location"] = f"/erasures/{begun.erasure_id}"
    return begun


def _may_read(principal: Principal, erasure: Erasure) -> bool:
    if principal.user in {erasure.requested_by, erasure.subject} or "admin" in principal.groups:
        return True
    return erasure.kind == "document" and "editor" in principal.groups
