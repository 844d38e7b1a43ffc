"""What the API shows of stored things: how far a citation still holds, and a document with its pages."""

from types import SimpleNamespace
from typing import Any

import pytest

from functions.query.api import schemas
from functions.query.api.schemas import DocumentDetailOut, state_of
from shared.access import AccessRule, FolderRules
from shared.models import Document, DocumentStatus, PageReport


@pytest.mark.parametrize(
    ("document_id", "version_id", "state"),
    [("a", "2", "current"), ("a", "1", "changed"), ("a", "", None), ("b", "2", "erased"), ("b", "", "erased")],
)
def test_a_citation_holds_as_long_as_its_version_is_the_documents(
    document_id: str, version_id: str, state: str | None
) -> None:
    citation: Any = SimpleNamespace(document_id=document_id, version_id=version_id)
    assert state_of(citation, {"a": {"2", "3"}}) == state


def document(pages: int = 3, **fields: Any) -> Document:
    report = [PageReport(number, 100) for number in range(1, pages + 1)]
    return Document("acme", "d", "uploads/acme/hr/d.pdf", DocumentStatus.READY, report=report, **fields)


def test_a_document_is_shown_with_its_pages_in_order() -> None:
    assert [page.number for page in DocumentDetailOut.of(document()).pages] == [1, 2, 3]
    assert DocumentDetailOut.of(document(0)).pages == []


def test_a_report_is_cut_after_the_pages_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(room: int) -> int:
        monkeypatch.setattr(schemas, "MAX_PAGE_BYTES", room)
        return len(DocumentDetailOut.of(document(40)).pages)

    one = next(room for room in range(1, 1_000) if shown(room))
    assert shown(one - 1) == 0
    assert shown(3 * one) == 3
    assert shown(3 * one - 1) == 2
    assert shown(100 * one) == 40


def test_the_rules_of_a_document_and_of_its_folder_are_shown() -> None:
    rule = AccessRule(groups=frozenset({"hr"}))
    folders = FolderRules({"uploads/acme/hr/": rule, "uploads/acme/it/": AccessRule(groups=frozenset({"it"}))})
    shown = DocumentDetailOut.of(document(access=AccessRule(users=frozenset({"ann"}))), folders)
    assert shown.access is not None
    assert shown.access.allowed_users == ["ann"]
    assert shown.folder == "uploads/acme/hr/"
    assert shown.folder_access is not None
    assert shown.folder_access.allowed_groups == ["hr"]
    bare = DocumentDetailOut.of(document())
    assert (bare.access, bare.folder, bare.folder_access) == (None, "", None)
