"""`/passages`: an editor leaves a passage out, or corrects it; the original and the editor's id are kept."""

import re
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import Field, StringConstraints

from functions.query.api.dependencies import DeadlineDep, DocumentIdDep, PrincipalDep, ServicesDep
from functions.query.api.document_contents import address_of, known_document
from functions.query.api.openapi import errors
from functions.query.api.schemas import Body, Out
from functions.query.bootstrap import Services
from functions.query.retrieval.passages import Passage
from functions.query.stored_text import passages_at
from shared.deadline import Deadline
from shared.errors import Conflict, InvalidRequest, NotFound
from shared.models import (
    EXCLUDED,
    ORIGINAL,
    Document,
    PassageChange,
    PassageEdit,
    content_hash_of,
    corrected_by,
    editorial_hash,
    vector_id_of,
)

router = APIRouter(tags=["passages"])

MAX_EDITS = 200
"""Edited passages of one document: with the longest report and labels, its item stays under DynamoDB's 400 KB."""
MAX_CORRECTION = 4_000
"""Characters of a corrected text: at two tokens a character, what an embedding model takes."""
MAX_CHANGES = 20
"""Changes of one passage that are kept, the last ones."""
_NO_PASSAGE = "There is no such passage."
_ID = re.compile(r"([0-9a-f]{32})#(?:([0-9a-f]{32})|([^#/]{1,64})#([0-9]{1,7}))")
"""A document's id with the hash of a passage's original text, or with generation and number."""


class PassageBody(Body):
    """`PATCH /passages/{passage_id}`: fields that are not sent stay as they are."""

    excluded: bool | None = Field(None, description="Whether to leave the passage out of answers.")
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CORRECTION)] | None = Field(
        None, description="The text that replaces it; null undoes the correction."
    )
    note: Annotated[str, StringConstraints(max_length=1_000)] | None = Field(None, description="Why, for editors.")


class PassageChangeOut(Out):
    """One change of a passage by an editor."""

    by: str = Field(description="The user's id.")
    at: str
    excluded: bool
    text: str = Field(description="The correction after it; empty for none.")
    note: str


class PassageOut(Out):
    """A passage as editors see it."""

    passage_id: str = Field(description="Its id now; empty if the document no longer has this text.")
    edit_id: str = Field(description="An id that stays the same as long as the text does; the path takes it, too.")
    document_id: str
    section: str
    page_start: int
    page_end: int
    page_label: str
    original: str = Field(description="The text as it stands in the document.")
    text: str = Field(description="The text that answers are made from.")
    corrected: bool
    excluded: bool
    note: str
    state: Literal["original", "applied", "pending", "not_applied"] = Field(
        description="`pending`: the correction is being embedded, and the passage left out until then. "
        "`not_applied`: the document no longer has this text."
    )
    changes: list[PassageChangeOut] = Field(description="Who changed it and when, the oldest first.")

    @classmethod
    def of(cls, edit: PassageEdit, document: Document, index_version: int) -> "PassageOut":
        """Return a passage with what its edit says, and whether that is in force."""
        state, passage_id = state_of(edit, document, index_version)
        return cls(
            passage_id=passage_id,
            edit_id=f"{edit.document_id}#{edit.original_hash}",
            document_id=edit.document_id,
            section=edit.section,
            page_start=edit.page_start,
            page_end=edit.page_end,
            page_label=edit.page_label,
            original=edit.original,
            text=edit.text or edit.original,
            corrected=edit.text != "",
            excluded=edit.excluded,
            note=edit.note,
            state=state,
            changes=[PassageChangeOut.model_validate(change) for change in edit.changes],
        )


class EditsOut(Out):
    """How editors have changed a document's passages, in the order of the text."""

    passages: list[PassageOut]


def state_of(
    edit: PassageEdit, document: Document, index_version: int
) -> tuple[Literal["original", "applied", "pending", "not_applied"], str]:
    """Say whether an edit is in force in the published generation, and the id of its passage there."""
    published = document.index_versions.get(index_version)
    if published is None:
        return "not_applied", ""
    at = edit.chunk_index if edit.generation == published.generation else published.edited.get(edit.original_hash)
    if at is None:
        return "not_applied", ""
    passage_id = vector_id_of(edit.document_id, published.generation, at)
    if edit.says == ORIGINAL and not edit.changes:
        return "original", passage_id
    is_made = published.editorial == editorial_hash(document.labels, document.edits)
    if edit.says == EXCLUDED or is_made:
        return ("original" if edit.says == ORIGINAL else "applied"), passage_id
    return "pending", passage_id


async def _passage_id(passage_id: str) -> re.Match[str]:
    found = _ID.fullmatch(passage_id)
    if found is None:
        raise NotFound(_NO_PASSAGE)
    return found


PassageIdDep = Annotated[re.Match[str], Depends(_passage_id)]


@router.get("/passages/{passage_id}", operation_id="readPassage", responses=errors(410))
def read_passage(
    principal: PrincipalDep, passage_id: PassageIdDep, services: ServicesDep, deadline: DeadlineDep
) -> PassageOut:
    """Return a passage with its original text and its changes by editors.

    Its id is the `chunk_id` of a source, with `#` written as `%23`.
    """
    document = known_document(services.registry, principal.tenant, passage_id[1])
    edit = _found(passage_id, document, services, deadline)
    return PassageOut.of(edit, document, services.index_versions.current(principal.tenant).number)


@router.patch("/passages/{passage_id}", operation_id="editPassage", responses=errors(409, 410))
def edit_passage(
    body: PassageBody, principal: PrincipalDep, passage_id: PassageIdDep, services: ServicesDep, deadline: DeadlineDep
) -> PassageOut:
    """Leave a passage out, correct it, or undo either; from then on no answer is made from the old text.

    An edit belongs to the text: it applies as long as the document has that text, through replacements and re-indexes.
    """
    document = known_document(services.registry, principal.tenant, passage_id[1])
    found = _found(passage_id, document, services, deadline)
    if len(document.edits) >= MAX_EDITS and found.original_hash not in document.edits:
        raise InvalidRequest(f"{MAX_EDITS} passages of this document are edited already: correct the document itself.")
    sent = body.model_dump(exclude_unset=True)
    text = (sent.get("text") or "") if "text" in sent else found.text
    edit = replace(
        found,
        text=text if text != found.original else "",
        excluded=bool(sent.get("excluded", found.excluded)),
        note=sent.get("note", found.note) or "",
    )
    now = services.clock.now().isoformat()
    change = PassageChange(principal.user, now, edit.excluded, edit.text, edit.note)
    edit = replace(edit, changes=(*found.changes, change)[-MAX_CHANGES:])
    if not services.edits.save(document, edit, before=found if found.changes else None):
        raise Conflict
    after = replace(document, edits={**document.edits, edit.original_hash: edit.says})
    if _is_embedded_anew(document, after):
        services.changes.notify(document.key)
    return PassageOut.of(edit, after, services.index_versions.current(principal.tenant).number)


@router.get("/documents/{document_id}/edits", operation_id="listEdits", responses=errors(410))
def list_edits(principal: PrincipalDep, document_id: DocumentIdDep, services: ServicesDep) -> EditsOut:
    """List how editors have changed a document's passages, including changes that no longer apply."""
    document = known_document(services.registry, principal.tenant, document_id)
    number = services.index_versions.current(principal.tenant).number
    edits = services.edits.of(principal.tenant, document_id) if document.edits else ()
    return EditsOut(passages=[PassageOut.of(edit, document, number) for edit in edits])


def _is_embedded_anew(before: Document, after: Document) -> bool:
    """Say whether a searchable document's vectors have to be made anew."""
    hashes = [editorial_hash(each.labels, each.edits) for each in (before, after)]
    # A correction that stands is announced again: the last notification may have been lost.
    return bool(after.index_versions) and (hashes[0] != hashes[1] or bool(corrected_by(after.edits)))


def _found(passage_id: re.Match[str], document: Document, services: Services, deadline: Deadline) -> PassageEdit:
    """Return the passage that an id names, with its edit if it has one. Raises `NotFound`, `DependencyError`."""
    _, original_hash, generation, number = passage_id.groups()
    if original_hash:
        edit = services.edits.get(document.tenant, document.document_id, original_hash)
        if edit is None:
            raise NotFound(_NO_PASSAGE)
        return edit
    ports = services.query_ports(document.tenant, deadline)
    published = document.index_versions.get(ports.index_number)
    if published is None or published.generation != generation:
        raise NotFound("This passage is of another version of the document, or of its index: search for it again.")
    at = address_of(document, published, ports, services)
    passages = passages_at(at, [int(number)], ports.search, deadline)
    if not passages:
        raise NotFound(_NO_PASSAGE)
    return _edit_of(passages[0], document, services)


def _edit_of(passage: Passage, document: Document, services: Services) -> PassageEdit:
    """Return a passage's edit with the place where the passage is now; an empty edit if it has none."""
    original_hash = content_hash_of(passage.text)
    known = services.edits.get(document.tenant, document.document_id, original_hash)
    fresh = PassageEdit(
        document_id=document.document_id,
        original_hash=original_hash,
        original=passage.text,
        text="",
        excluded=False,
        note="",
        generation=passage.generation,
        chunk_index=passage.chunk_index,
        page_start=passage.page_start,
        page_end=passage.page_end,
        page_label=passage.page_label,
        section=passage.section,
        char_start=passage.char_start,
    )
    if known is None:
        return fresh
    return replace(fresh, text=known.text, excluded=known.excluded, note=known.note, changes=known.changes)
