"""One document's lease in the hands of one worker."""

from dataclasses import dataclass

from functions.ingest.changes import DocumentRef
from functions.ingest.ports import DocumentFence
from shared.errors import DependencyError, LeaseLost
from shared.models import Document, DocumentError, DocumentStatus
from shared.ports import LeaseClaim, UnfinishedIngest
from shared.telemetry import logger


@dataclass(frozen=True, slots=True)
class Lease:
    """The fence, with document and owner filled in. Every method raises `LeaseLost` when it is another's by now."""

    fence: DocumentFence
    subject: DocumentRef
    owner: str
    seconds: float

    def claim(self, sequencer: str) -> LeaseClaim:
        """Try to take it."""
        subject = self.subject
        return self.fence.claim(
            subject.tenant,
            subject.document_id,
            subject.key,
            sequencer=sequencer,
            owner=self.owner,
            lease_s=self.seconds,
        )

    def renew(self) -> None:
        """Hold it for longer."""
        self.fence.renew(self.subject.tenant, self.subject.document_id, owner=self.owner, lease_s=self.seconds)

    def look_again(self) -> LeaseClaim:
        """Take up what was noted meanwhile."""
        return self.fence.look_again(
            self.subject.tenant, self.subject.document_id, owner=self.owner, lease_s=self.seconds
        )

    def save_progress(self, unfinished: UnfinishedIngest, *, upper_bound: int) -> None:
        """Note how far the unfinished has got, and which ids may come to be."""
        self.fence.save_progress(
            self.subject.tenant,
            self.subject.document_id,
            unfinished,
            upper_bound=upper_bound,
            owner=self.owner,
            lease_s=self.seconds,
        )

    def publish(self, document: Document) -> bool:
        """Move the generation pointer; False when something newer is noted."""
        return self.fence.publish(document, owner=self.owner)

    def publish_other(self, document: Document) -> bool:
        """Move the pointers of an index version that is not searched; False when something newer is noted."""
        return self.fence.publish_other(document, owner=self.owner)

    def fail(self, document: Document, error: DocumentError, status: DocumentStatus) -> bool:
        """Record a final failure; False when something newer is noted."""
        return self.fence.fail(document, error, owner=self.owner, status=status)

    def tombstone(self) -> bool:
        """Turn the item into a tombstone; False when something newer is noted."""
        return self.fence.tombstone(self.subject.tenant, self.subject.document_id, owner=self.owner)

    def forget_generation(self, generation: str) -> None:
        """Forget a generation whose vectors are gone."""
        self.fence.forget_generation(self.subject.tenant, self.subject.document_id, generation, owner=self.owner)

    def presume_failed(self, error: DocumentError) -> None:
        """Show FAILED in case this try ends without a word."""
        self.fence.presume_failed(self.subject.tenant, self.subject.document_id, error, owner=self.owner)

    def settle(self) -> bool:
        """Let go, everything being done; False, and still held, when something newer is noted."""
        return self.fence.release(self.subject.tenant, self.subject.document_id, owner=self.owner)

    def let_go(self, status: DocumentStatus, error: DocumentError | None = None) -> bool:
        """Let go after trouble; False when something newer had been noted. Failing that, it runs out by itself."""
        try:
            return self.fence.release(
                self.subject.tenant, self.subject.document_id, owner=self.owner, error=error, status=status
            )
        except (DependencyError, LeaseLost):
            logger.warning("the lease could not be released", extra={"document_id": self.subject.document_id})
            return True
