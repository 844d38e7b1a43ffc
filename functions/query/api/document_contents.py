"""The contents of a document: the file itself, the stored text of a page, and a report of what could not be read."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field, StringConstraints

from functions.query.api.dependencies import DeadlineDep, DocumentIdDep, PrincipalDep, ServicesDep
from functions.query.api.openapi import errors
from functions.query.api.problems import language_of
from functions.query.api.schemas import VERSION_ID, ErrorOut, Out
from functions.query.bootstrap import Services
from functions.query.extraction_report import UnreadPages, report_of
from functions.query.ports import DocumentRegistry, QueryPorts
from functions.query.retrieval.passages import Passage
from functions.query.stored_text import GenerationAddress, PageText, read_page
from shared.errors import Erased, NotFound
from shared.models import Document, DocumentStatus, Published, SourceType

router = APIRouter(prefix="/documents/{document_id}", tags=["documents"])

LINK_S = 300
"""Seconds that a link to a file can be opened."""
PDF = "application/pdf"
JSON = "application/json"
NO_DOCUMENT = "There is no such document."
_ERASED = {DocumentStatus.DELETING, DocumentStatus.DELETED}

VersionId = Annotated[str, StringConstraints(pattern=VERSION_ID)]


class ContentOut(Out):
    """A link that shows one version of the file in a browser."""

    url: str = Field(description="Opens the file, without a token, until it expires.")
    expires_in_s: int
    file_name: str
    content_type: str
    size_bytes: int
    version_id: str = Field(description="The version that the link shows.")
    changed_since: datetime | None = Field(description="When a newer version was uploaded; null if there is none.")


class PagePassageOut(Out):
    """A passage with text on the page."""

    passage_id: str = Field(description="Its id, as `chunk_id` in the sources of an answer.")
    char_start: int
    char_end: int
    section: str = Field(description="The headings that it begins below, joined by “ > ”; empty if there are none.")

    @classmethod
    def of(cls, passage: Passage) -> "PagePassageOut":
        """Return where a passage is."""
        return cls(
            passage_id=passage.chunk_id,
            char_start=passage.char_start,
            char_end=passage.char_end,
            section=passage.section,
        )


class SpanOut(Out):
    """A span of positions, the end not included."""

    char_start: int
    char_end: int


class PageTextOut(Out):
    """The stored text of a page. `text[n - char_start]` stands at the position `n` that citations use."""

    document_id: str
    version_id: str = Field(description="The version of the file that the text was read from.")
    number: int
    label: str = Field(description="The printed page number, if it is known.")
    state: str = Field(description="What was found on the page: text, empty, scanned, garbled, hidden or failed.")
    char_start: int
    char_end: int
    text: str
    complete: bool = Field(description="Whether all of the page's text is here.")
    missing: list[SpanOut] = Field(description="Spans whose passages are not in the index; the text has spaces there.")
    passages: list[PagePassageOut]

    @classmethod
    def of(cls, document: Document, number: int, page: PageText | None) -> "PageTextOut":
        """Return a page; one without passages has no text, and is complete unless it should have some."""
        report = document.report if document.source_type is SourceType.PDF else ()  # entries of a file are no pages
        state = next((each.state for each in report if each.number == number), "text")
        page = page or PageText(number, "", 0, "", (), (), complete=state != "text")
        return cls(
            document_id=document.document_id,
            version_id=document.version_id,
            number=number,
            label=page.label,
            state=state,
            char_start=page.char_start,
            char_end=page.char_start + len(page.text),
            text=page.text,
            complete=page.complete,
            missing=[SpanOut.model_validate(each) for each in page.missing],
            passages=[PagePassageOut.of(each) for each in page.passages],
        )


class RangeOut(Out):
    """Pages from the first to the last, both included."""

    first: int
    last: int


class FindingOut(Out):
    """Pages that gave no text, of one kind."""

    kind: str = Field(description="scanned, garbled, hidden, failed, not_reached or empty.")
    ranges: list[RangeOut]
    text: str
    remedy: str = Field(description="What to do about it; empty if nothing is wrong.")

    @classmethod
    def of(cls, finding: UnreadPages) -> "FindingOut":
        """Return a finding with its ranges by name."""
        ranges = [RangeOut(first=first, last=last) for first, last in finding.ranges]
        return cls(kind=finding.kind, ranges=ranges, text=finding.text, remedy=finding.remedy)


class ReportOut(Out):
    """What could be read of a document and what could not, in the language of `Accept-Language`."""

    document_id: str
    status: str
    page_count: int
    language: str = Field(description="The language of the sentences.")
    summary: str
    findings: list[FindingOut]
    error: ErrorOut | None = Field(description="Why it is not READY, in English.")


@router.get("/content", operation_id="linkDocumentContent", responses=errors(410))
def link_content(
    principal: PrincipalDep,
    document_id: DocumentIdDep,
    services: ServicesDep,
    version_id: Annotated[
        VersionId, Query(description="The version that a citation quotes; default: the one that is searched.")
    ] = "",
) -> ContentOut:
    """Return a link that opens a document's file for five minutes, in the version that was quoted."""
    document = known_document(services.registry, principal.tenant, document_id)
    current = services.objects.head(document.key)
    if current is None:
        if document.status is DocumentStatus.PENDING:
            raise NotFound("The document's file has not been uploaded yet.")
        raise Erased("The document was erased.")
    wanted = version_id or document.version_id
    shown = current
    if wanted not in ("", current.version_id):
        earlier = services.objects.head(document.key, version_id=wanted)
        if earlier is None:
            raise Erased("This version of the document was erased; the document has a newer one.")
        shown = earlier
    content_type = PDF if document.source_type is SourceType.PDF else JSON
    file_name = document.key.rpartition("/")[2]
    return ContentOut(
        url=services.objects.presigned_get(shown, expires_s=LINK_S, file_name=file_name, content_type=content_type),
        expires_in_s=LINK_S,
        file_name=file_name,
        content_type=content_type,
        size_bytes=shown.size_bytes,
        version_id=shown.version_id,
        changed_since=current.last_modified if shown.version_id != current.version_id else None,
    )


@router.get("/pages/{number}", operation_id="readDocumentPage", responses=errors(410))
def read_document_page(
    principal: PrincipalDep,
    document_id: DocumentIdDep,
    number: Annotated[int, Path(ge=1, le=1_000_000, description="The page, counted from 1.")],
    services: ServicesDep,
    deadline: DeadlineDep,
) -> PageTextOut:
    """Return the stored text of a page, with the positions that citations use.

    White space between two passages is filled in: one character as a space, two as a blank line.
    """
    document = known_document(services.registry, principal.tenant, document_id)
    ports = services.query_ports(principal.tenant, deadline)
    published = document.index_versions.get(ports.index_number)
    if published is None:
        raise NotFound("No text of this document is searched; its status says why.")
    last = document.page_count if document.source_type is SourceType.PDF else 1
    if number > last:
        raise NotFound(f"The last page of this document is {last}.")
    at = address_of(document, published, ports, services)
    page = read_page(number, at, ports.search, deadline)
    return PageTextOut.of(document.in_index_version(ports.index_number), number, page)


@router.get("/report", operation_id="reportOnDocument", responses=errors(410))
def report_on_document(
    request: Request, principal: PrincipalDep, document_id: DocumentIdDep, services: ServicesDep
) -> ReportOut:
    """Say in plain words which pages could not be read, and what to do about it."""
    document = known_document(services.registry, principal.tenant, document_id)
    language = language_of(request)
    report = report_of(document, language)
    return ReportOut(
        document_id=document_id,
        status=document.status,
        page_count=document.page_count,
        language=language,
        summary=report.summary,
        findings=[FindingOut.of(each) for each in report.findings],
        error=None if report.error is None else ErrorOut.model_validate(report.error),
    )


def address_of(document: Document, published: Published, ports: QueryPorts, services: Services) -> GenerationAddress:
    """Return where the chunks of a document's published generation are."""
    return GenerationAddress(
        ports.namespace_of(document.tenant),
        ports.settings.embedding_dimensions,
        document.document_id,
        published.generation,
        published.chunk_count,
        originals_of(document, services),
    )


def originals_of(document: Document, services: Services) -> Mapping[str, str]:
    """Return the texts of a document's edited passages as they stand in it, by their hash."""
    if not document.edits:
        return {}
    return {edit.original_hash: edit.original for edit in services.edits.of(document.tenant, document.document_id)}


def known_document(registry: DocumentRegistry, tenant: str, document_id: str) -> Document:
    """Return a document. Raises `NotFound`, or `Erased` for as long as its tombstone is kept."""
    document = registry.get(tenant, document_id)
    if document is None:
        raise NotFound(NO_DOCUMENT)
    if document.status in _ERASED:
        raise Erased("The document was erased.")
    return document
