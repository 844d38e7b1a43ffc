"""`/documents`: promise an upload, tell the status, delete."""

import unicodedata
from typing import Annotated

from fastapi import APIRouter, Query

from functions.query.api.dependencies import DocumentId, Who, Wired, Writer
from functions.query.api.schemas import (
    DeletedOut,
    DocumentDetailOut,
    DocumentListOut,
    DocumentOut,
    UploadBody,
    UploadForm,
    UploadOut,
)
from functions.query.ports import DocumentRegistry, ObjectStore
from shared.errors import InvalidRequest, NotFound
from shared.models import Document, DocumentStatus, document_id_of

router = APIRouter(prefix="/documents")

PDF = "application/pdf"
ANNOUNCED_S = 86_400
"""Seconds a promised upload stays listed as PENDING when no file ever comes."""


@router.post("", status_code=201)
def promise_upload(body: UploadBody, who: Writer, wired: Wired) -> UploadOut:
    """Sign a form for exactly this key; uploading to a name that exists replaces the document."""
    key = upload_key(who.tenant, body.filename)
    settings = wired.settings
    form = wired.objects.presigned_post(
        key, max_bytes=settings.max_file_bytes, content_type=PDF, expires_s=settings.upload_expires_s
    )
    now = wired.clock.now().isoformat(timespec="milliseconds")
    document = wired.registry.announce(
        Document(
            tenant=who.tenant,
            document_id=document_id_of(who.tenant, key),
            key=key,
            status=DocumentStatus.PENDING,
            title=key.rsplit("/", 1)[1].removesuffix(".pdf"),
            created_at=now,
            updated_at=now,
        ),
        expires_s=ANNOUNCED_S,
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


@router.get("")
def list_documents(
    who: Who,
    wired: Wired,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str = "",
    status: DocumentStatus | None = None,
) -> DocumentListOut:
    """List the tenant's documents with their status."""
    page = wired.registry.list(who.tenant, limit=limit, cursor=cursor, status=status)
    return DocumentListOut(documents=[DocumentOut.of(each) for each in page.documents], next_cursor=page.cursor)


@router.get("/{document_id}")
def read_document(who: Who, document_id: DocumentId, wired: Wired) -> DocumentDetailOut:
    """Return a document's status and what was found on each of its pages."""
    document = wired.registry.get(who.tenant, document_id)
    if document is None or document.status is DocumentStatus.DELETED:
        raise NotFound("There is no such document.")
    return DocumentDetailOut.of(document)


@router.delete("/{document_id}", status_code=202)
def delete_document(who: Writer, document_id: DocumentId, wired: Wired) -> DeletedOut:
    """Stop answering from a document at once, and remove its object in every version; its vectors follow."""
    status = erase(who.tenant, document_id, wired.registry, wired.objects)
    if status is None:
        raise NotFound("There is no such document.")
    return DeletedOut(document_id=document_id, status=status)


def erase(tenant: str, document_id: str, registry: DocumentRegistry, objects: ObjectStore) -> DocumentStatus | None:
    """Unpublish a document and delete its object; None when there is neither. Raises `DependencyError`.

    The object of a tombstone may have been uploaded again a moment ago: it goes too, in every version.
    """
    document = registry.unpublish(tenant, document_id)
    if document is not None:
        objects.delete_all_versions(document.key)
        return document.status
    tombstone = registry.get(tenant, document_id)
    if tombstone is None or not objects.delete_all_versions(tombstone.key):
        return None
    registry.unpublish(tenant, document_id)  # for the case that ingest took the upload up before it was gone
    return DocumentStatus.DELETING


def upload_key(tenant: str, filename: str) -> str:
    """Return the object key of an upload. Raises `InvalidRequest` for a name that cannot be one."""
    name = unicodedata.normalize("NFC", filename).replace("\\", "/").strip("/ ")
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or any(unicodedata.category(c)[0] == "C" for c in name):
        raise InvalidRequest("The file name must be a plain path such as `reports/2024.pdf`.")
    if not name.lower().endswith(".pdf") or parts[-1].lower() == ".pdf":
        raise InvalidRequest("Only PDFs can be uploaded; the file name must end in `.pdf`.")
    key = f"uploads/{tenant}/{name}"
    if len(key.encode()) > 1_024:
        raise InvalidRequest("The file name is too long: S3 keys hold 1,024 bytes at most.")
    return key
