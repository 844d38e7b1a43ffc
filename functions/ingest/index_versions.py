"""One document in each index version of its tenant: what is published where, what is still to be built, with which
tools.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from functions.ingest import pipeline
from functions.ingest.changes import DocumentRef
from functions.ingest.embedding import FormerVectors, KnownVectors
from functions.ingest.ports import IndexVersionRegistry
from shared.models import (
    Document,
    DocumentStatus,
    IndexVersion,
    ObjectHead,
    Published,
    generation_in,
    index_version_number_of,
)
from shared.ports import LeaseClaim, TenantIndexVersions, UnfinishedIngest

FINAL = {
    DocumentStatus.READY,
    DocumentStatus.PARTIAL,
    DocumentStatus.NEEDS_OCR,
    DocumentStatus.ENCRYPTED,
    DocumentStatus.FAILED,
}


@dataclass(frozen=True, slots=True)
class Workshop:
    """The index versions of tenants, and the tools for each: `tools` where the settings of the day name it, else
    `make`'s.
    """

    registry: IndexVersionRegistry
    tools: pipeline.IngestDependencies
    make: Callable[[IndexVersion], pipeline.IngestDependencies]

    def tools_of(self, index_version: IndexVersion) -> pipeline.IngestDependencies:
        """Return the tools that embed into the index version's space and write to its index."""
        settings = self.tools.settings
        is_set = (index_version.index, index_version.space) == (settings.pinecone_index, settings.embedding_space)
        return self.tools if is_set else self.make(index_version)


@dataclass(slots=True)
class DocumentState:
    """Where one document stands in its tenant's index versions, while one worker looks at it.

    `published` and `written` begin as the claim tells and follow what the worker does.
    """

    subject: DocumentRef
    head: ObjectHead | None
    claim: LeaseClaim
    index_versions: TenantIndexVersions
    workshop: Workshop
    published: dict[int, Published] = field(init=False)
    written: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        document = self.claim.document
        live = {index_version.number for index_version in self.index_versions.live}
        before = document.index_versions if document is not None else {}
        self.published = {number: published for number, published in before.items() if number in live}
        self.written = dict(self.claim.written)

    def settings_hash(self, index_version: IndexVersion) -> str:
        """The settings an index version would be built with now."""
        return self.workshop.tools_of(index_version).settings.ingest_settings_hash

    def is_up_to_date(self, index_version: IndexVersion) -> bool:
        """Whether the index version shows the object as it is. An older index version keeps the settings it was made
        with.
        """
        document, head = self.claim.document, self.head
        if document is None or head is None:
            return False
        published = self.published.get(index_version.number)
        newest = self.index_versions.newest
        if published is not None:
            same_settings = index_version != newest or published.settings_hash == self.settings_hash(index_version)
            return published.version_id == head.version_id and same_settings
        # What no index version may show: judged once, for all of them.
        return (
            document.status in FINAL
            and not document.generation
            and not self.published
            and document.version_id == head.version_id
            and document.settings_hash == self.settings_hash(newest)
        )

    def draft_for(self, index_version: IndexVersion, version_id: str, new_id: Callable[[], str]) -> UnfinishedIngest:
        """Return the unfinished generation of this index version, version and settings, or a new one."""
        settings_hash, unfinished = self.settings_hash(index_version), self.claim.unfinished
        wanted = (index_version.number, version_id, settings_hash)
        if (
            unfinished
            and (index_version_number_of(unfinished.generation), unfinished.version_id, unfinished.settings_hash)
            == wanted
        ):
            return unfinished
        return UnfinishedIngest(generation_in(index_version.number, new_id()), version_id, settings_hash, 0)

    def known_of(self, index_version: IndexVersion, unfinished: UnfinishedIngest) -> KnownVectors:
        """Vectors of this document to reuse: of the unfinished generation, and of what is published in the space."""
        tools, document_id = self.workshop.tools_of(index_version), self.subject.document_id
        known = []
        reached = self.written.get(unfinished.generation, 0)
        if reached > unfinished.chunks_done:
            # Written, perhaps, by a worker that died before it could note it.
            known.append(
                FormerVectors(tools.reader, index_version.namespace, document_id, unfinished.generation, reached)
            )
        shown = [
            (self.published[each.number], each) for each in self.index_versions.live if each.number in self.published
        ]
        # The version at hand, if another index version shows it already; then the one before it.
        for published, source in sorted(shown, key=lambda pair: pair[0].version_id != unfinished.version_id):
            if published.embedding_space == str(index_version.space):
                reader = self.workshop.tools_of(source).reader
                name = (source.namespace, document_id, published.generation, published.chunk_count)
                known.append(FormerVectors(reader, *name))
        return KnownVectors(known, tools.cache)

    def is_searched_by_now(self, index_version: IndexVersion) -> bool:
        """Whether a switch came while the index version was built."""
        return self.workshop.registry.of(self.subject.tenant).current.number == index_version.number

    def count_change(self) -> None:
        """Let the tenant's knowledge version tell that what is found has changed."""
        self.workshop.registry.count_change(self.subject.tenant)

    def note_published(self, index_version: IndexVersion, document: Document) -> None:
        """Remember what is about to be published in an index version."""
        self.published[index_version.number] = Published(
            document.generation,
            document.version_id,
            document.settings_hash,
            document.embedding_space,
            document.chunk_count,
        )


def sweep(
    written: Mapping[str, int],
    *,
    keep: Mapping[str, int],
    subject: DocumentRef,
    index_versions: TenantIndexVersions,
    workshop: Workshop,
) -> list[str]:
    """Delete what was written of a document but what is kept of it (generation → chunks); return what is wholly gone.

    What lies in an index version that was dropped goes with its namespace.
    """
    live = {index_version.number: index_version for index_version in index_versions.live}
    for generation, upper_bound in written.items():
        index_version = live.get(index_version_number_of(generation))
        if index_version is not None:
            vectors, start = workshop.tools_of(index_version).vectors, keep.get(generation, 0)
            pipeline.sweep(
                vectors, index_version.namespace, subject.document_id, generation, start=start, end=upper_bound
            )
    return [generation for generation in written if generation not in keep]
