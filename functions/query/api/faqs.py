"""`/faqs`: questions with answers that editors write; they are documents that answers are made from."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import batched
from typing import Annotated, Literal

import fastapi
from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from pydantic import ConfigDict, Field, StringConstraints, ValidationError
from pydantic.config import JsonDict

from functions.query.api.admin import CSV
from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.middleware import in_a_thread
from functions.query.api.openapi import errors
from functions.query.api.problems import field_error, in_one_line
from functions.query.api.schemas import LANGUAGE_TAG, NEXT_CURSOR, Body, DeletedOut, ErrorOut, Out, Ulid
from functions.query.bootstrap import Services
from functions.query.faqs import (
    AT_ONCE,
    FAQ_ID,
    JSON,
    MAX_BYTES,
    MAX_EXPORTED,
    CsvRow,
    Faq,
    Pair,
    csv_of,
    faq_of,
    id_of_question,
    is_faq_id,
    key_of,
    list_faqs,
    read_faq,
    rows_of,
)
from functions.query.unanswered import MAX_QUESTIONS, mark_answered
from shared.deadline import Deadline, Workers
from shared.errors import ChangedMeanwhile, DependencyError, InvalidRequest, NotAllowed, NotFound, VersionNeeded
from shared.models import DocumentStatus

router = APIRouter(prefix="/faqs", tags=["faqs"])

MAX_CSV_BYTES = 2_000_000
"""Bytes of an imported file. Lambda takes 6 MB, counted with the file as a JSON string."""
RESERVE_S = 3.0
"""Seconds of the request that an import leaves for its report."""
_CHANGED = "It was changed or deleted since it was exported."
_ETAG = re.compile(r'(?:W/)?"([^"]*)"|([^",\s]+)')
_WORKERS = Workers("import")

Question = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Answer = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]
Tag = Annotated[str, StringConstraints(max_length=200)]
TagName = Annotated[str, StringConstraints(min_length=1, max_length=40)]
FaqLanguage = Annotated[str, StringConstraints(pattern=LANGUAGE_TAG, max_length=35)]

_EXAMPLE: JsonDict = {
    "question": "Where can I park my bicycle?",
    "answer": "In the yard behind the museum; the gate is open from 7 to 22.",
    "language": "en",
    "tags": {"audience": "visitors"},
}
_CSV_LIMITS = "At most 500 rows and 2 MB, in UTF-8."
_CSV = "question,answer,language\r\nWhere can I park my bicycle?,In the yard behind the museum.,en\r\n"


class FaqBody(Body):
    """`POST /faqs`, `PUT /faqs/{faq_id}`."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    question: Question
    answer: Answer
    language: FaqLanguage = Field("", description="A language tag such as en or pt-BR; empty: it is detected.")
    department_id: Annotated[str, StringConstraints(max_length=200)] = ""
    tags: dict[TagName, Tag | list[Tag]] = Field(
        default_factory=dict, max_length=20, description="Metadata for filters."
    )

    def to_pair(self) -> Pair:
        """Return the pair as it is stored."""
        return Pair(self.question, self.answer, self.language, self.department_id, self.tags)


class NewFaqBody(FaqBody):
    """`POST /faqs`."""

    answers: list[Ulid] = Field(
        default_factory=list,
        max_length=MAX_QUESTIONS,
        description="Ids of unanswered questions (`GET /insights/unanswered`) that this one answers.",
    )


class FaqOut(Out):
    """An FAQ and the status of its ingest."""

    faq_id: str
    document_id: str = Field(description="Its id among the documents, which citations name.")
    question: str
    answer: str
    language: str
    department_id: str
    tags: dict[str, str | list[str]]
    etag: str = Field(description="Send it as `If-Match` with a change.")
    status: DocumentStatus = Field(description="PENDING until ingest has handled this version; then READY or FAILED.")
    error: ErrorOut | None

    @classmethod
    def of(cls, faq: Faq) -> "FaqOut":
        """Return an FAQ as the API shows it."""
        return cls(
            faq_id=faq.faq_id,
            document_id=faq.document_id,
            question=faq.pair.question,
            answer=faq.pair.answer,
            language=faq.pair.language,
            department_id=faq.pair.department_id,
            tags={name: value if isinstance(value, str) else list(value) for name, value in faq.pair.tags.items()},
            etag=faq.etag,
            status=faq.status,
            error=ErrorOut.model_validate(faq.error) if faq.error else None,
        )


class NewFaqOut(FaqOut):
    """A new FAQ."""

    answered: int = Field(description="Unanswered questions that it marks as answered.")


class FaqListOut(Out):
    """One page of a listing; an empty `next_cursor` ends it."""

    faqs: list[FaqOut]
    next_cursor: str


Outcome = Literal["created", "updated", "unchanged", "failed"]


class ImportedRowOut(Out):
    """What became of one row."""

    row: int = Field(description="As a spreadsheet counts: the header is row 1.")
    faq_id: str
    outcome: Outcome
    error: str = Field(description="Why it failed; empty if it did not.")


class ImportOut(Out):
    """What became of each row of an imported file, in order."""

    created: int
    updated: int
    unchanged: int
    failed: int
    rows: list[ImportedRowOut]


async def _faq_id(faq_id: str) -> str:
    if not is_faq_id(faq_id):
        raise NotFound("There is no such FAQ.")
    return faq_id


CsvBody = Annotated[
    bytes,
    fastapi.Body(
        media_type="text/csv",
        description=_CSV_LIMITS,
        examples=[_CSV],
        json_schema_extra={"format": "binary"},  # client generators recognise this as a file
    ),
]
FaqIdDep = Annotated[str, Depends(_faq_id)]
IfMatch = Annotated[str, Header(alias="If-Match", description="The ETag that you have read, or `*`.")]


@router.post("", status_code=201, operation_id="createFaq")
def create_faq(body: NewFaqBody, principal: PrincipalDep, services: ServicesDep, response: Response) -> NewFaqOut:
    """Store a question with its answer. Answers use it as soon as its status is READY.

    It marks the unanswered questions that `answers` names as answered, so their cluster disappears.
    """
    faq_id, pair = services.new_id(), body.to_pair()
    services.registry.require_readable(principal.tenant, key_of(principal.tenant, faq_id))
    etag = services.objects.write(key_of(principal.tenant, faq_id), pair.body, content_type=JSON, replacing="")
    response.headers["ETag"] = f'"{etag}"'
    faq = FaqOut.of(faq_of(principal.tenant, faq_id, pair.body, etag, services.registry))
    answered = mark_answered(principal.tenant, body.answers, faq_id, services.unanswered, services.clock)
    return NewFaqOut(**faq.model_dump(), answered=answered)


@router.get("", operation_id="listFaqs")
def read_faqs(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str, Query(pattern=rf"^({FAQ_ID})?$")] = "",
) -> FaqListOut:
    """List the tenant's FAQs with the status of their ingest, page by page."""
    faqs, following = list_faqs(
        principal.tenant, limit=limit, after=cursor, objects=services.objects, registry=services.registry
    )
    return FaqListOut(faqs=list(map(FaqOut.of, faqs)), next_cursor=following)


@router.get(
    "/export",
    operation_id="exportFaqs",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}, "example": _CSV}}}},
)
def export_faqs(
    principal: PrincipalDep, services: ServicesDep, cursor: Annotated[str, Query(pattern=rf"^({FAQ_ID})?$")] = ""
) -> Response:
    """Return up to 1,000 FAQs as CSV; if there are more, the header `X-Next-Cursor` says so.

    A cell that a spreadsheet would run as a formula begins with an apostrophe, which the import removes again.
    """
    faqs, following = list_faqs(
        principal.tenant, limit=MAX_EXPORTED, after=cursor, objects=services.objects, registry=services.registry
    )
    headers = {"Content-Disposition": 'attachment; filename="faqs.csv"'}
    return Response(csv_of(faqs), media_type=CSV, headers=headers | ({NEXT_CURSOR: following} if following else {}))


@router.post("/import", operation_id="importFaqs")
async def import_faqs(
    body: CsvBody,
    principal: PrincipalDep,
    services: ServicesDep,
    deadline: DeadlineDep,
) -> ImportOut:
    """Create or change the FAQs of a CSV file, each row by itself, and report on each.

    Columns: question, answer, and optionally id, language, department_id, tags (JSON) and etag. A row without an id is
    identified by its question, so importing a file again changes nothing; one with an etag changes that version only.
    """
    if len(body) > MAX_CSV_BYTES:
        raise InvalidRequest(f"The file has {len(body):,} bytes; at most {MAX_CSV_BYTES:,} are accepted.")
    return await in_a_thread(lambda: _imported(body, principal.tenant, services, deadline))


@router.get("/{faq_id}", operation_id="readFaq")
def read_one(faq_id: FaqIdDep, principal: PrincipalDep, services: ServicesDep, response: Response) -> FaqOut:
    """Return an FAQ with its ETag."""
    faq = _existing(faq_id, principal.tenant, services)
    response.headers["ETag"] = f'"{faq.etag}"'
    return FaqOut.of(faq)


@router.put("/{faq_id}", operation_id="replaceFaq", responses=errors(412, 428))
def replace_faq(
    faq_id: FaqIdDep,
    body: FaqBody,
    principal: PrincipalDep,
    services: ServicesDep,
    response: Response,
    if_match: IfMatch = "",
) -> FaqOut:
    """Replace an FAQ. `If-Match` must name the version that is replaced: another version is a 412, no header a 428."""
    known = _etag_of(if_match)
    if not known:
        raise VersionNeeded
    existing = _existing(faq_id, principal.tenant, services)
    pair = body.to_pair()
    replaced = existing.etag if known == "*" else known
    etag = services.objects.write(key_of(principal.tenant, faq_id), pair.body, content_type=JSON, replacing=replaced)
    response.headers["ETag"] = f'"{etag}"'
    return FaqOut.of(faq_of(principal.tenant, faq_id, pair.body, etag, services.registry))


@router.delete("/{faq_id}", status_code=202, operation_id="deleteFaq", responses=errors(412))
def delete_faq(faq_id: FaqIdDep, principal: PrincipalDep, services: ServicesDep, if_match: IfMatch = "") -> DeletedOut:
    """Stop answering from an FAQ at once, and remove its object in every version; with `If-Match` only this one."""
    existing = _existing(faq_id, principal.tenant, services)
    if _etag_of(if_match) not in {"", "*", existing.etag}:
        raise ChangedMeanwhile
    services.registry.unpublish(principal.tenant, existing.document_id)
    services.objects.delete_all_versions(key_of(principal.tenant, faq_id))
    services.registry.unpublish(principal.tenant, existing.document_id)  # ingest may have published it meanwhile
    return DeletedOut(document_id=existing.document_id, status=DocumentStatus.DELETING)


def _existing(faq_id: str, tenant: str, services: Services) -> Faq:
    faq = read_faq(tenant, faq_id, services.objects, services.registry)
    if faq is None:
        raise NotFound("There is no such FAQ.")
    return faq


def _etag_of(header: str) -> str:
    """Return the ETag of an `If-Match` header, "*" or "". Raises `InvalidRequest` for more than one."""
    found = _ETAG.findall(header)
    if len(found) > 1:
        raise InvalidRequest("If-Match must hold one ETag.")
    return "".join(found[0]) if found else ""


# --- import ---


def _imported(body: bytes, tenant: str, services: Services, deadline: Deadline) -> ImportOut:
    done: list[ImportedRowOut] = []
    seen: set[str] = set()
    for some in batched(rows_of(body), AT_ONCE, strict=False):
        started: list[ImportedRowOut | Future[ImportedRowOut]] = []
        for row in some:
            faq_id, read = _read(row)
            if deadline.left() < RESERVE_S:
                read = "There was no time left for this row: import the file again."
            elif faq_id in seen and isinstance(read, Pair):
                read = "An earlier row has this id or question already."
            seen.add(faq_id)
            if isinstance(read, str):
                started.append(_failed(row, faq_id, read))
            else:
                started.append(_WORKERS.submit(_stored, row, faq_id, read, tenant, services))
        done += [each if isinstance(each, ImportedRowOut) else each.result() for each in started]
    counts = {outcome: sum(row.outcome == outcome for row in done) for outcome in _OUTCOMES}
    return ImportOut(**counts, rows=done)


_OUTCOMES: Sequence[Outcome] = ("created", "updated", "unchanged", "failed")


def _read(row: CsvRow) -> tuple[str, Pair | str]:
    """Return a row's id, and its pair or what is wrong with it."""
    cells = {name: value for name, value in row.cells.items() if name not in {"id", "etag"}}
    faq_id = row.cells.get("id", "").strip()
    if faq_id and not is_faq_id(faq_id):
        return "", "id: 1 to 100 letters, digits, dots, hyphens and underscores are expected"
    try:
        tags = json.loads(cells.pop("tags", "") or "{}")
    except (ValueError, RecursionError):
        return faq_id, "tags: a JSON object is expected"
    try:
        pair = FaqBody.model_validate({**cells, "tags": tags}).to_pair()
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        told = [field_error({**each, "loc": ("row", *each["loc"])}) for each in wrong[:5]]
        return faq_id, in_one_line(told)
    return faq_id or id_of_question(pair.question, pair.language), pair


def _stored(row: CsvRow, faq_id: str, pair: Pair, tenant: str, services: Services) -> ImportedRowOut:
    key, exported = key_of(tenant, faq_id), row.cells.get("etag", "").strip().strip('"')
    objects = services.objects
    try:
        services.registry.require_readable(tenant, key)
        current = objects.read(key, max_bytes=MAX_BYTES)
        etag = current.etag if current else ""
        if exported not in {"", etag}:
            return _failed(row, faq_id, _CHANGED)
        if current and Pair.of(current.body or b"") == pair:
            return ImportedRowOut(row=row.number, faq_id=faq_id, outcome="unchanged", error="")
        objects.write(key, pair.body, content_type=JSON, replacing=etag)
    except ChangedMeanwhile:
        return _failed(row, faq_id, _CHANGED)
    except NotAllowed as error:
        return _failed(row, faq_id, error.message)
    except DependencyError as error:
        return _failed(row, faq_id, f"It could not be stored ({error.code}): import the file again.")
    return ImportedRowOut(row=row.number, faq_id=faq_id, outcome="updated" if etag else "created", error="")


def _failed(row: CsvRow, faq_id: str, error: str) -> ImportedRowOut:
    return ImportedRowOut(row=row.number, faq_id=faq_id, outcome="failed", error=error)
