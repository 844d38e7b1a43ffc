"""What stands in for AWS when an evaluation runs without the stack.

How faithful: parsing, chunking, embedding, the vectors' records, the index (Pinecone's emulator over HTTP), the search
and everything after it are the deployed code. Left out are the bucket, the queue, the lease on a document and DynamoDB:
each PDF is built once, by one worker, and published at once; caches are kept for the run only.
"""
# ruff: noqa: ARG002 - what a port is called with is not all needed here

import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from shared.errors import NotFound
from shared.models import FIRST_INDEX_VERSION, Conversation, Document, DocumentStatus, Message, ObjectHead
from shared.ports import DocumentPage


class LocalObjects:
    """`ObjectReader` over files, by key."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    def head(self, key: str) -> ObjectHead | None:
        """Return what lies under the key, or None."""
        path = self._files.get(key)
        if path is None:
            return None
        return ObjectHead(key, "1", sha256(path.read_bytes()).hexdigest(), path.stat().st_size, "application/pdf")

    def download(self, head: ObjectHead, path: Path) -> None:
        """Copy the file. Raises `NotFound`."""
        if head.key not in self._files:
            raise NotFound(f"There is no {head.key}.")
        shutil.copyfile(self._files[head.key], path)


class MemoryRegistry:
    """`DocumentRegistry` in a dict: what is put in it is published."""

    def __init__(self) -> None:
        self._documents: dict[tuple[str, str], Document] = {}

    def put(self, document: Document) -> None:
        """Publish a document, or replace it."""
        self._documents[document.tenant, document.document_id] = document

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return a document, or None."""
        return self._documents.get((tenant, document_id))

    def list(self, tenant: str, *, limit: int, cursor: str = "", status: DocumentStatus | None = None) -> DocumentPage:
        """Return all of a tenant's documents, unfiltered: nobody turns pages here."""
        return DocumentPage([each for (owner, _), each in sorted(self._documents.items()) if owner == tenant], "")

    def published_generations(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, str]:
        """Return the generation of each document that is there."""
        known = ((key, self._documents.get((tenant, key))) for key in document_ids)
        return {key: document.generation for key, document in known if document and document.generation}

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Add a document that is new."""
        return self._documents.setdefault((document.tenant, document.document_id), document)

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Take a document out."""
        return self._documents.pop((tenant, document_id), None)


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
    """`ConversationStore` that keeps nothing: every question begins a conversation of its own."""

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Raise `NotFound`."""
        raise NotFound(f"There is no conversation {conversation_id}.")

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return None."""

    def messages(
        self, tenant: str, user: str, conversation_id: str, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[Message], str]:
        """Raise `NotFound`."""
        raise NotFound(f"There is no conversation {conversation_id}.")

    def save_turns(self, tenant: str, user: str, conversation_id: str, *, title: str, turns: Sequence[Message]) -> None:
        """Forget them."""

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Forget it."""
