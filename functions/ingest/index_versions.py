"""One document in each index version of its tenant: what is published there, and what must still be built."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from functions.ingest.changes import DocumentRef
from functions.ingest.embedding import FormerVectors, KnownVectors
from functions.ingest.pipeline import IngestDependencies
from functions.ingest.ports import DocumentLease, IndexVersionRegistry
from shared.access import kinds_of, rule_of_metadata
from shared.models import (
    Document,
    DocumentStatus,
    Edits,
    IndexVersion,
    ObjectHead,
    Published,
    editorial_hash,
    generation_in,
    index_version_number_of,
)
from shared.ports import LeaseClaim, TenantIndexVersions, UnfinishedIngest


@dataclass(frozen=True, slots=True)
class IndexVersionAccess:
    """Which index versions a tenant has, and the dependencies that read and write each.

    `configured`: the dependencies for the index and space of the settings; `build` makes those for others.
    """

    registry: IndexVersionRegistry
    configured: IngestDependencies
    build: Callable[[IndexVersion], IngestDependencies]

    def dependencies_of(self, index_version: IndexVersion) -> IngestDependencies:
        """Return the dependencies that embed into the index version's space and write to its index."""
        settings = self.configured.settings
        is_configured = index_version.location == (settings.pinecone_index, settings.embedding_space)
        return self.configured if is_configured else self.build(index_version)


class Readings(NamedTuple):
    """Names of the readings of an object's pictures: pages by OCR, figures by a model; empty for none."""

    ocr: str = ""
    figures: str = ""

    @property
    def name(self) -> str:
        """Both names as one."""
        return "+".join(filter(None, self))


NOTHING_READ = Readings()


@dataclass(slots=True)
class DocumentState:
    """What is published and written of one document, while one worker reconciles it.

    `published` (by number of the index version) and `written` (generation → upper bound of its chunks) start with the
    values of the claim and follow what the worker does. `readings` are those of the object as it is now.
    """

    ref: DocumentRef
    claim: LeaseClaim
    index_versions: TenantIndexVersions
    access: IndexVersionAccess
    readings: Readings = NOTHING_READ
    published: dict[int, Published] = field(init=False)
    written: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        live = {each.number for each in self.index_versions.live}
        before = self.claim.document.index_versions if self.claim.document is not None else {}
        self.published = {number: published for number, published in before.items() if number in live}
        self.written = dict(self.claim.written)

    def settings_hash(self, index_version: IndexVersion) -> str:
        """Return the hash of the settings that the index version would be built with now."""
        return self.access.dependencies_of(index_version).settings.ingest_settings_hash

    @property
    def editorial(self) -> str:
        """A hash of the labels and corrections that the document's vectors must hold."""
        document = self.claim.document
        return editorial_hash(document.labels, document.edits) if document is not None else ""

    @property
    def edits(self) -> Edits:
        """The editors' changes of its passages."""
        return self.claim.document.edits if self.claim.document is not None else {}

    @property
    def ocr(self) -> str:
        """The name of the readings that a generation is made with."""
        return self.readings.name

    @property
    def was_erased(self) -> bool:
        """Whether the claim is a late event's, on the tombstone of an erased document, which has no name."""
        return self.claim.document is not None and not self.claim.document.key

    def is_up_to_date(self, index_version: IndexVersion, head: ObjectHead) -> bool:
        """Whether the index version shows the object as it is. Only the newest one follows a change of settings."""
        document, newest = self.claim.document, self.index_versions.newest
        if document is None:
            return False
        published = self.published.get(index_version.number)
        if published is not None:
            same_settings = index_version != newest or published.settings_hash == self.settings_hash(index_version)
            same_editorial = published.editorial == self.editorial
            same_text = published.version_id == head.version_id and published.ocr == self.ocr
            return same_text and same_settings and same_editorial
        # A document is rejected once, for all index versions.
        return (
            document.status.is_final
            and not document.generation
            and not self.published
            and document.version_id == head.version_id
            and document.ocr == self.ocr
            and document.settings_hash == self.settings_hash(newest)
        )

    def unfinished_for(
        self, index_version: IndexVersion, version_id: str, new_id: Callable[[], str]
    ) -> UnfinishedIngest:
        """Return the unfinished generation of this index version, object version, settings and labels, or a new one."""
        settings_hash, found = f"{self.settings_hash(index_version)}{self.editorial}{self.ocr}", self.claim.unfinished
        wanted = (index_version.number, version_id, settings_hash)
        if found and (index_version_number_of(found.generation), found.version_id, found.settings_hash) == wanted:
            return found
        return UnfinishedIngest(generation_in(index_version.number, new_id()), version_id, settings_hash, 0)

    def known_vectors(self, index_version: IndexVersion, unfinished: UnfinishedIngest) -> KnownVectors:
        """Return this document's reusable vectors: of the unfinished generation, and published ones in its space."""
        dependencies, document_id = self.access.dependencies_of(index_version), self.ref.document_id
        former = []
        reached = self.written.get(unfinished.generation, 0)
        if reached > unfinished.chunks_done:
            # Perhaps written by a worker that died before it could record its progress.
            name = (index_version.namespace, document_id, unfinished.generation)
            former.append(FormerVectors(dependencies.reader, *name, reached))
        shown = [
            (self.published[each.number], each) for each in self.index_versions.live if each.number in self.published
        ]
        # First the same object version, if another index version has it already; then the one before.
        for published, source in sorted(shown, key=lambda pair: pair[0].version_id != unfinished.version_id):
            if published.embedding_space == str(index_version.space):
                reader = self.access.dependencies_of(source).reader
                name = (source.namespace, document_id, published.generation)
                former.append(FormerVectors(reader, *name, published.chunk_count))
        return KnownVectors(former, dependencies.cache)

    def new_document(self, index_version: IndexVersion, head: ObjectHead) -> Document:
        """Return what is known about the document before it is read."""
        before = self.claim.document
        return Document(
            tenant=self.ref.tenant,
            document_id=self.ref.document_id,
            key=self.ref.key,
            status=DocumentStatus.PROCESSING,
            title=self.ref.file_name,
            version_id=head.version_id,
            etag=head.etag,
            size_bytes=head.size_bytes,
            source_type=self.ref.source_type,
            embedding_space=str(index_version.space),
            settings_hash=self.settings_hash(index_version),
            labels=before.labels if before is not None else {},
            editorial=self.editorial,
            edits=self.edits,
            ocr=self.ocr,
        )

    def is_searched_by_now(self, index_version: IndexVersion) -> bool:
        """Whether a switch has made this index version the searched one meanwhile. Reads the tenant's pointer."""
        return self.access.registry.of(self.ref.tenant).current.number == index_version.number

    @contextmanager
    def change(self) -> Iterator[None]:
        """Give the tenant a new knowledge version before and after the block, which changes what can be found.

        If the block fails, its write may still arrive: the mark stays, and readers look the document up each time.
        """
        marks = self.access.registry.begin_change(self.ref.tenant, self.ref.document_id)
        yield
        self.access.registry.end_change(self.ref.tenant, marks)

    def take_rule(self, head: ObjectHead, lease: DocumentLease) -> None:
        """Put the rule in force that a new object version states in its metadata, before its text can be found.

        A version's rule is applied once, so that it does not undo later changes. A version without one changes nothing.
        """
        rule, document = rule_of_metadata(head.metadata), self.claim.document
        if rule is None or (document is not None and document.access_version == head.version_id):
            return
        marks = self.access.registry.begin_change(self.ref.tenant, self.ref.document_id, restricts=kinds_of((rule,)))
        lease.take_rule(rule, head.version_id)
        self.access.registry.end_change(self.ref.tenant, marks)

    def count_change(self) -> None:
        """Give the tenant a new knowledge version: what can be found has changed."""
        self.access.registry.count_change(self.ref.tenant)
