"""Which vectors are swept: those of generations that are no longer published, and those beyond the published chunks."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from functions.ingest.changes import DocumentRef
from functions.ingest.publish import can_be_published, delete_vectors, publish, sweep
from shared.models import Document, DocumentStatus, EmbeddingSpace, IndexVersion, SourceType
from shared.ports import TenantIndexVersions

REF = DocumentRef("acme", "d", "uploads/acme/a.pdf", SourceType.PDF)
FIRST = IndexVersion(1, "acme", "index", EmbeddingSpace("small", 512))
SECOND = IndexVersion(2, "acme~2", "index", EmbeddingSpace("large", 512))


class Deleted:
    """Notes which ids were deleted in which namespace; `dependencies_of` as `IndexVersionAccess` has it."""

    def __init__(self) -> None:
        self.ids: dict[str, list[str]] = {}

    def dependencies_of(self, _: IndexVersion) -> Any:
        return SimpleNamespace(vectors=self)

    def delete(self, *, namespace: str, ids: list[str]) -> None:
        assert ids
        self.ids.setdefault(namespace, []).extend(ids)


def deleted(written: dict[str, int], keep: dict[str, int], other: IndexVersion | None = SECOND) -> dict[str, list[str]]:
    access: Any = Deleted()
    delete_vectors(written, keep=keep, ref=REF, index_versions=TenantIndexVersions("acme", FIRST, other), access=access)
    found: dict[str, list[str]] = access.ids
    return found


def test_all_vectors_of_what_is_not_kept_are_deleted_where_they_lie() -> None:
    assert deleted({"g1": 2, "g2~2": 1}, {}) == {"acme": ["d#g1#0", "d#g1#1"], "acme~2": ["d#g2~2#0"]}
    assert deleted({}, {}) == {}


@pytest.mark.parametrize(("kept", "gone"), [(0, ["d#g1#0", "d#g1#1"]), (1, ["d#g1#1"]), (2, []), (3, [])])
def test_of_what_is_kept_only_vectors_beyond_its_chunks_are_deleted(kept: int, gone: list[str]) -> None:
    assert deleted({"g1": 2}, {"g1": kept}) == ({"acme": gone} if gone else {})


def test_vectors_of_a_dropped_index_version_go_with_its_namespace() -> None:
    assert deleted({"g2~2": 1, "g1": 1}, {}, other=None) == {"acme": ["d#g1#0"]}


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("searched", [FIRST, SECOND])
def test_a_document_is_only_said_to_be_published_if_its_pointer_moved(searched: IndexVersion, published: bool) -> None:
    document = Document("acme", "d", REF.key, DocumentStatus.READY, generation="g1")
    built: Any = SimpleNamespace(seconds={}, embedded_tokens=1, reused=0)
    lease, state = Mock(), MagicMock(published={}, index_versions=TenantIndexVersions("acme", FIRST, SECOND))
    lease.publish.return_value = lease.publish_other.return_value = published
    assert publish(document, searched, built, state=state, lease=lease) is published


def test_after_a_sweep_all_generations_but_the_published_are_forgotten() -> None:
    access, lease = Deleted(), Mock()
    published = SimpleNamespace(generation="g2", chunk_count=1)
    state: Any = SimpleNamespace(
        published={1: published}, written={"g1": 1, "g2": 3}, ref=REF, access=access,
        index_versions=TenantIndexVersions("acme", FIRST, None),
    )  # fmt: skip
    sweep(state=state, lease=lease)
    assert access.ids == {"acme": ["d#g1#0", "d#g2#1", "d#g2#2"]}
    assert [call.args for call in lease.forget_generation.call_args_list] == [("g1",)]


@pytest.mark.parametrize(
    ("status", "chunks", "source", "expected"),
    [
        (DocumentStatus.READY, 1, SourceType.PDF, True),
        (DocumentStatus.PARTIAL, 1, SourceType.PDF, True),
        (DocumentStatus.FAILED, 1, SourceType.PDF, False),
        (DocumentStatus.READY, 0, SourceType.PDF, False),
        (DocumentStatus.READY, 0, SourceType.KNOWLEDGE, True),
        (DocumentStatus.FAILED, 0, SourceType.KNOWLEDGE, False),
    ],
)
def test_what_has_nothing_to_be_found_cannot_be_published(
    status: DocumentStatus, chunks: int, source: SourceType, expected: bool
) -> None:
    document: Any = SimpleNamespace(status=status, chunk_count=chunks, source_type=source)
    assert can_be_published(document) is expected
