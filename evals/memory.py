"""The parts of AWS an evaluation without the stack does without, in memory.

How faithful: parsing, chunking, embedding, the vectors' records, the index (Pinecone's emulator over HTTP), the search
and everything after it are the deployed code. Left out are the bucket, the queue, the lease on a document and DynamoDB:
each PDF is built once, by one worker, and published at once; caches and conversations are kept for the run only.
"""

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
        """Return documents by id; the cursor is the last id of the page before."""
        found = [
            document
            for (owner, key), document in sorted(self._documents.items())
            if owner == tenant and key > cursor and status in (None, document.status)
        ]
        return DocumentPage(found[:limit], found[limit - 1].document_id if len(found) > limit else "")

    def published_generations(
        self,
        tenant: str,
        document_ids: Sequence[str],
        *,
        index_version: int = FIRST_INDEX_VERSION,  # noqa: ARG002 - a run has one index version
    ) -> Mapping[str, str]:
        """Return the generation of each document that is there."""
        known = ((key, self._documents.get((tenant, key))) for key in document_ids)
        return {key: document.generation for key, document in known if document and document.generation}

    def announce(self, document: Document, *, expires_s: int) -> Document:  # noqa: ARG002 - nothing expires in a run
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

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:  # noqa: ARG002 - nothing expires in a run
        """Remember a vector."""
        self._held[key] = vector


class MemoryConversations:
    """`ConversationStore` in a dict: what a follow-up is asked with is what `save_turns` was given."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, str, str], list[Message]] = {}
        self._summaries: dict[tuple[str, str, str], tuple[str, int]] = {}

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Return the last messages. Raises `NotFound`."""
        return self.messages(tenant, user, conversation_id, limit=10**9)[0][-limit:] if limit else ()

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return the head of a conversation, or None."""
        turns = self._turns.get((tenant, user, conversation_id))
        if not turns:
            return None
        summary, upto = self._summaries.get((tenant, user, conversation_id), ("", 0))
        return Conversation(
            conversation_id,
            "",
            turns[0].created_at,
            turns[-1].created_at,
            len(turns),
            summary=summary,
            summarized=upto,
        )

    def messages(
        self, tenant: str, user: str, conversation_id: str, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[Message], str]:
        """Return messages, oldest first; the cursor counts those before. Raises `NotFound`."""
        turns = self._turns.get((tenant, user, conversation_id))
        if turns is None:
            raise NotFound(f"There is no conversation {conversation_id}.")
        start = int(cursor or 0)
        return turns[start : start + limit], str(start + limit) if start + limit < len(turns) else ""

    def save_turns(
        self,
        tenant: str,
        user: str,
        conversation_id: str,
        *,
        title: str,  # noqa: ARG002 - no title is shown
        turns: Sequence[Message],
    ) -> None:
        """Append turns."""
        self._turns.setdefault((tenant, user, conversation_id), []).extend(turns)

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Remember a summary, unless one of more messages is there."""
        if self._summaries.get((tenant, user, conversation_id), ("", 0))[1] < upto:
            self._summaries[tenant, user, conversation_id] = (summary, upto)
