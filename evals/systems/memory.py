"""Replaces AWS when an evaluation runs without the stack.

Parsing, chunking, embedding, the vectors' records, the index (Pinecone's emulator over HTTP), the search and everything
after it are the deployed code. Left out are the bucket, the queue, the lease on a document and DynamoDB: each PDF is
built once, by one worker, and published at once; caches are kept for the run only.
"""
# ruff: noqa: ARG002 - what a port is called with is not all needed here

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from hashlib import sha256
from pathlib import Path

from shared.errors import NotFound
from shared.models import FIRST_INDEX_VERSION, ObjectHead, PublishedDocument
from shared.ports import CatalogueEntry


class LocalObjects:
    """`ObjectReader` over files, by key."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    def head(self, key: str) -> ObjectHead | None:
        """Return what lies under the key, or None."""
        path = self._files.get(key)
        if path is None:
            return None
        return ObjectHead(key, "1", sha256(path.read_bytes()).hexdigest(), path.stat().st_size)

    def download(self, head: ObjectHead, path: Path) -> None:
        """Copy the file. Raises `NotFound`."""
        if head.key not in self._files:
            raise NotFound(f"There is no {head.key}.")
        shutil.copyfile(self._files[head.key], path)


class MemoryRegistry:
    """`ReadableCatalogue` in a dict: what is put in it is published."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], CatalogueEntry] = {}

    def put(self, tenant: str, entry: CatalogueEntry) -> None:
        """Publish a document."""
        self._entries[tenant, entry.document_id] = entry

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, PublishedDocument]:
        """Return each document that is there."""
        held = ((key, self._entries.get((tenant, key))) for key in document_ids)
        return {key: entry.published for key, entry in held if entry is not None}

    def catalogue(self, tenant: str, *, index_version: int = FIRST_INDEX_VERSION) -> Iterator[CatalogueEntry]:
        """Yield all documents of the tenant."""
        yield from (entry for (owner, _), entry in self._entries.items() if owner == tenant)

    def unreadable(self, tenant: str, document_ids: Iterable[str]) -> Set[str]:
        """Return none: evaluations read everything."""
        return frozenset()


class MemoryEmbeddingCache:
    """`EmbeddingCache` in a dict."""

    def __init__(self) -> None:
        self._held: dict[str, Sequence[float]] = {}

    def get(self, key: str) -> Sequence[float] | None:
        """Return a vector, or None."""
        return self._held.get(key)

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:
        """Remember a vector."""
        self._held[key] = vector


class NoConversations:
    """The part of `ConversationHistory` that a question outside any conversation needs: its turns are not kept."""

    def save_turns(self, *_: object, **__: object) -> None:
        """Forget them."""
