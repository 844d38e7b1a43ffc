"""`/documents`: announce an upload, show the status, delete a document."""

import unicodedata
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, StringConstraints

from functions.query.api.dependencies import DocumentIdDep, PrincipalDep, ServicesDep
from functions.query.api.erasures import begin_of_document
from functions.query.api.openapi import errors
from functions.query.api.problems import problem_of
from functions.query.api.schemas import (
    AccessIn,
    Body,
    Cursor,
    DeletedOut,
    DocumentDetailOut,
    DocumentListOut,
    DocumentOut,
    Out,
    UploadBody,
    UploadForm,
    UploadOut,
)
from functions.query.bootstrap import Services
from functions.query.ports import DocumentRegistry, ObjectStore
from shared.access import MAX_METADATA_BYTES, metadata_of
from shared.errors import ClientError, Conflict, DependencyError, InvalidRequest, NotFound
from shared.models import Document, DocumentStatus, Principal, document_id_of
from shared.ports import DocumentFilter

router = APIRouter(prefix="/documents", tags=["documents"])

PDF = "application/pdf"
_LABEL_ATTEMPTS = 3
"""Two editors may label one document at the same moment."""
MAX_BULK = 100
"""Files of one bulk upload: their forms, with a session token each, take half of the 6 MB of a Lambda's response."""
ANNOUNCED_S = 86_400
"""Seconds an announced upload stays listed as PENDING without a file."""


Label = Annotated[str, StringConstraints(max_length=200)]


Names = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=200)]], Field(max_length=10)]
MAX_KEY_BYTES = 1_024
"""Bytes of an object's key in S3."""


class LabelsIn(Body):
    """Labels to set; null removes one. A label named like a field of the identity card replaces that field."""

    chapter: Label | None = None
    phase: Label | None = None
    goal: Label | None = None
    type: Label | None = None
    department_id: Label | None = None
    tags: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] | None = Field(None, max_length=20)
    organisation: Names | None = None
    author: Names | None = None
    kind: Label | None = None
    period: Names | None = None
    date: Label | None = None
    version: Label | None = None
    product: Label | None = None


class LabelsBody(Body):
    """`PATCH /documents/{document_id}`: fields that are not sent stay as they are."""

    labels: LabelsIn = Field(default_factory=LabelsIn, description="Fields that are not sent stay as they are.")
    access: AccessIn | None = Field(None, description="Who may read it, from now on; null takes the rule away.")


class BulkUploadBody(Body):
    """`POST /documents/bulk`."""

    filenames: list[Annotated[str, StringConstraints(max_length=512)]] = Field(
        min_length=1, max_length=MAX_BULK, description="Paths of the PDFs in your uploads; each is checked on its own."
    )
    access: AccessIn | None = Field(None, description="Who may read the documents, as with one upload.")


class BulkErrorOut(Out):
    """Why one file of a bulk upload cannot be uploaded."""

    code: str
    detail: str


class BulkItemOut(Out):
    """One file of a bulk upload: where to send it, or why it cannot be sent."""

    filename: str
    upload: UploadOut | None
    error: BulkErrorOut | None


class BulkUploadOut(Out):
    """One item for each file, in the order of the request."""

    items: list[BulkItemOut]


@router.post("", status_code=201, operation_id="announceUpload")
def announce_upload(body: UploadBody, principal: PrincipalDep, services: ServicesDep) -> UploadOut:
    """Return a signed form for uploading one PDF. Uploading under an existing name replaces the document.

    With `access`, the form states the rule and the upload carries it; without, a document keeps the rule it has.
    """
    return _announced(upload_key(principal.tenant, body.filename), principal.tenant, services, body.access)


@router.post("/bulk", operation_id="announceUploads")
def announce_uploads(
    body: BulkUploadBody, request: Request, principal: PrincipalDep, services: ServicesDep
) -> BulkUploadOut:
    """Return signed forms for up to 100 PDFs. Each is checked on its own, and gets its form or its own error."""
    items: list[BulkItemOut] = []
    seen: set[str] = set()
    failure: DependencyError | None = None
    for filename in body.filenames:
        try:
            key = upload_key(principal.tenant, filename)
            if key in seen:
                raise InvalidRequest("This name is in the list twice: the second file would replace the first.")
            seen.add(key)
            if failure is not None:
                raise failure  # the registry is down: asking it a hundred times would only take longer
            upload = _announced(key, principal.tenant, services, body.access)
        except (ClientError, DependencyError) as error:
            failure = error if isinstance(error, DependencyError) else failure
            problem = problem_of(request, error)
            told = BulkErrorOut(code=problem.code, detail=problem.detail)
            items.append(BulkItemOut(filename=filename, upload=None, error=told))
        else:
            items.append(BulkItemOut(filename=filename, upload=upload, error=None))
    return BulkUploadOut(items=items)


def _announced(key: str, tenant: str, services: Services, access: AccessIn | None) -> UploadOut:
    """Register an upload, and sign its form. Raises `NotAllowed` for a name that the principal may not read."""
    settings = services.settings
    rule = access.to_rule() if access else None
    metadata = metadata_of(rule) if rule else {}
    if sum(map(len, metadata.values())) > MAX_METADATA_BYTES:
        raise InvalidRequest(
            "access: the names are too long for one upload; send fewer now, and the rest with PATCH afterwards."
        )
    now = services.clock.now().isoformat(timespec="milliseconds")
    announced = Document(
        tenant=tenant,
        document_id=document_id_of(tenant, key),
        key=key,
        status=DocumentStatus.PENDING,
        title=key.rsplit("/", 1)[1].removesuffix(".pdf"),
        created_at=now,
        updated_at=now,
        access=rule,
    )
    document = services.registry.announce(announced, expires_s=ANNOUNCED_S)
    form = services.objects.presigned_post(
        key,
        max_bytes=settings.max_file_bytes,
        content_type=PDF,
        expires_s=settings.upload_expires_s,
        metadata=metadata,
    )
    return UploadOut(
        document_id=document.document_id,
        key=key,
        status=document.status,
        upload=UploadForm(
            url=form.url,
            fields=dict(form.fields),
            expires_in_s=settings.upload_expires_s,
            max_bytes=settings.max_file_bytes,
        ),
    )


CardWords = Annotated[str, Query(max_length=200, description="Words of this field of the identity card.")]


@router.get("", operation_id="listDocuments")
def list_documents(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor = "",
    status: DocumentStatus | None = None,
    q: Annotated[str, Query(max_length=200, description="Words of the title or the file name.")] = "",
    organisation: CardWords = "",
    author: CardWords = "",
    kind: CardWords = "",
    period: CardWords = "",
    product: CardWords = "",
    language: Annotated[str, Query(max_length=20, description="The language of most of the text, ISO 639-1.")] = "",
) -> DocumentListOut:
    """List the tenant's documents with their status, newest first, page by page.

    A page with filters may hold fewer than `limit` documents: the listing ends with an empty `next_cursor`.
    """
    asked = {"organisation": organisation, "author": author, "kind": kind, "period": period, "product": product}
    wanted = DocumentFilter(
        status, q, {name: words for name, words in (*asked.items(), ("language", language)) if words}
    )
    page = services.registry.list(principal.tenant, wanted, limit=limit, cursor=cursor)
    searched = services.index_versions.current(principal.tenant).number
    documents = [DocumentOut.model_validate(each.in_index_version(searched)) for each in page.documents]
    return DocumentListOut(documents=documents, next_cursor=page.cursor)


@router.get("/{document_id}", operation_id="readDocument")
def read_document(principal: PrincipalDep, document_id: DocumentIdDep, services: ServicesDep) -> DocumentDetailOut:
    """Return a document's status and what was found on each of its pages."""
    document = services.registry.get(principal.tenant, document_id)
    if document is None or document.status is DocumentStatus.DELETED:
        raise NotFound("There is no such document.")
    folders = services.registry.folder_rules(principal.tenant)
    number = services.index_versions.current(principal.tenant).number
    return DocumentDetailOut.of(document.in_index_version(number), folders)


@router.patch("/{document_id}", operation_id="labelDocument", responses=errors(409))
def label_document(
    body: LabelsBody, principal: PrincipalDep, document_id: DocumentIdDep, services: ServicesDep
) -> DocumentOut:
    """Change a document's labels, by which filters find it, and who may read it; null removes one.

    The document is published anew with its labels within a minute, without new embeddings. A change of who may read it
    is in force at once.
    """
    for _ in range(_LABEL_ATTEMPTS):
        document = services.registry.get(principal.tenant, document_id)
        if document is None or document.status in {DocumentStatus.DELETING, DocumentStatus.DELETED}:
            raise NotFound("There is no such document.")
        sent = body.labels.model_dump(exclude_unset=True)
        labels = {name: value for name, value in {**document.labels, **sent}.items() if value}
        if "access" in body.model_fields_set and not _restricted(document, body.access, services):
            continue
        if not sent:
            number = services.index_versions.current(principal.tenant).number
            return DocumentOut.model_validate(document.in_index_version(number))
        if services.registry.label(principal.tenant, document_id, labels, before=document.labels):
            if document.index_versions:
                services.changes.notify(document.key)
            number = services.index_versions.current(principal.tenant).number
            return DocumentOut.model_validate(replace(document, labels=labels).in_index_version(number))
    raise Conflict


def _restricted(document: Document, access: AccessIn | None, services: Services) -> bool:
    """Give a document this rule of its own; False if another one was given meanwhile."""
    rule = access.to_rule() if access else None
    if rule == document.access:
        return True
    return services.registry.restrict(document.tenant, document.document_id, rule, before=document.access)


@router.delete("/{document_id}", status_code=202, operation_id="deleteDocument")
def delete_document(
    principal: PrincipalDep,
    document_id: DocumentIdDep,
    services: ServicesDep,
    response: Response,
    verify: Annotated[bool, Query(description="Erase every trace of it, and get a receipt.")] = False,
) -> DeletedOut:
    """Stop answering from a document at once, and remove its object in every version; its vectors follow.

    With `verify` all other traces follow too: answers that cite it, cached ones, its name. `erasure_id` is that of the
    receipt (`GET /erasures/{erasure_id}`).
    """
    if verify:
        return _erase_verified(principal, document_id, services, response)
    status = erase(principal.tenant, document_id, services.registry, services.objects)
    if status is None:
        raise NotFound("There is no such document.")
    return DeletedOut(document_id=document_id, status=status)


def _erase_verified(principal: Principal, document_id: str, services: Services, response: Response) -> DeletedOut:
    """Store the erasure, then delete: maintenance finishes what is interrupted. Raises `DependencyError`."""
    document = services.registry.get(principal.tenant, document_id)
    if document is None or not document.key:
        raise NotFound("There is no such document.")
    begun = begin_of_document(document, principal, services, response)
    services.registry.unpublish(principal.tenant, document_id)
    if versions := services.objects.delete_all_versions(document.key):
        services.erasures.count_before(begun, "object_versions", versions)
    return DeletedOut(document_id=document_id, status=DocumentStatus.DELETING, erasure_id=begun.erasure_id)


def erase(tenant: str, document_id: str, registry: DocumentRegistry, objects: ObjectStore) -> DocumentStatus | None:
    """Unpublish a document and delete its object in every version; None when there is neither.

    A tombstone's object is deleted too: it may have been uploaded again a moment ago. Raises `DependencyError`.
    """
    document = registry.unpublish(tenant, document_id)
    if document is not None:
        objects.delete_all_versions(document.key)
        return document.status
    tombstone = registry.get(tenant, document_id)
    if tombstone is None or not tombstone.key or not objects.delete_all_versions(tombstone.key):
        return None
    registry.unpublish(tenant, document_id)  # ingest may have started on the upload before it was deleted
    return DocumentStatus.DELETING


def upload_key(tenant: str, filename: str) -> str:
    """Return the object key of an upload. Raises `InvalidRequest` for an unusable name."""
    name = unicodedata.normalize("NFC", filename).replace("\\", "/").strip("/ ")
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or any(unicodedata.category(c)[0] == "C" for c in name):
        raise InvalidRequest("The file name must be a plain path such as `reports/2024.pdf`.")
    if not name.lower().endswith(".pdf") or parts[-1].lower() == ".pdf":
        raise InvalidRequest("Only PDFs can be uploaded; the file name must end in `.pdf`.")
    key = f"uploads/{tenant}/{name}"
    if len(key.encode()) > MAX_KEY_BYTES:
        raise InvalidRequest("The file name is too long: S3 keys hold 1,024 bytes at most.")
    return key
