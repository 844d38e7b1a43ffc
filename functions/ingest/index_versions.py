"""One document in each view of its tenant: what is published where, what is still to be built, with which tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from functions.ingest import pipeline
from functions.ingest.changes import Subject
from functions.ingest.embedding import FormerVectors, KnownVectors
from functions.ingest.ports import ViewRegistry
from shared.models import Document, DocumentStatus, ObjectHead, Published, View, generation_in, view_number_of
from shared.ports import Claim, Draft, TenantViews

FINAL = {
    DocumentStatus.READY,
    DocumentStatus.PARTIAL,
    DocumentStatus.NEEDS_OCR,
    DocumentStatus.ENCRYPTED,
    DocumentStatus.FAILED,
}


@dataclass(frozen=True, slots=True)
class Workshop:
    """The views of tenants, and the tools for each: `tools` where the settings of the day name it, else `make`'s."""

    registry: ViewRegistry
    tools: pipeline.Tools
    make: Callable[[View], pipeline.Tools]

    def tools_of(self, view: View) -> pipeline.Tools:
        """Return the tools that embed into the view's space and write to its index."""
        settings = self.tools.settings
        is_set = (view.index, view.space) == (settings.pinecone_index, settings.embedding_space)
        return self.tools if is_set else self.make(view)


@dataclass(slots=True)
class Standing:
    """Where one document stands in its tenant's views, while one worker looks at it.

    `published` and `written` begin as the claim tells and follow what the worker does.
    """

    subject: Subject
    head: ObjectHead | None
    claim: Claim
    views: TenantViews
    workshop: Workshop
    published: dict[int, Published] = field(init=False)
    written: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        document = self.claim.document
        live = {view.number for view in self.views.live}
        before = document.views if document is not None else {}
        self.published = {number: published for number, published in before.items() if number in live}
        self.written = dict(self.claim.written)

    def settings_hash(self, view: View) -> str:
        """The settings a view would be built with now."""
        return self.workshop.tools_of(view).settings.ingest_settings_hash

    def is_up_to_date(self, view: View) -> bool:
        """Whether the view shows the object as it is. An older view keeps the settings it was made with."""
        document, head = self.claim.document, self.head
        if document is None or head is None:
            return False
        published = self.published.get(view.number)
        newest = self.views.newest
        if published is not None:
            same_settings = view != newest or published.settings_hash == self.settings_hash(view)
            return published.version_id == head.version_id and same_settings
        # What no view may show: judged once, for all of them.
        return (
            document.status in FINAL
            and not document.generation
            and not self.published
            and document.version_id == head.version_id
            and document.settings_hash == self.settings_hash(newest)
        )

    def draft_for(self, view: View, version_id: str, new_id: Callable[[], str]) -> Draft:
        """Return the unfinished generation of this view, version and settings, or a new one."""
        settings_hash, draft = self.settings_hash(view), self.claim.draft
        wanted = (view.number, version_id, settings_hash)
        if draft and (view_number_of(draft.generation), draft.version_id, draft.settings_hash) == wanted:
            return draft
        return Draft(generation_in(view.number, new_id()), version_id, settings_hash, 0)

    def known_of(self, view: View, draft: Draft) -> KnownVectors:
        """Vectors of this document to use again: of the draft itself, and of what is published in the same space."""
        tools, document_id = self.workshop.tools_of(view), self.subject.document_id
        known = []
        reached = self.written.get(draft.generation, 0)
        if reached > draft.chunks_done:
            # Written, perhaps, by a worker that died before it could note it.
            known.append(FormerVectors(tools.reader, view.namespace, document_id, draft.generation, reached))
        shown = [(self.published[each.number], each) for each in self.views.live if each.number in self.published]
        # The version at hand, if another view shows it already; then the one before it.
        for published, source in sorted(shown, key=lambda pair: pair[0].version_id != draft.version_id):
            if published.embedding_space == str(view.space):
                reader = self.workshop.tools_of(source).reader
                name = (source.namespace, document_id, published.generation, published.chunk_count)
                known.append(FormerVectors(reader, *name))
        return KnownVectors(known, tools.cache)

    def is_searched_by_now(self, view: View) -> bool:
        """Whether a switch came while the view was built."""
        return self.workshop.registry.of(self.subject.tenant).current.number == view.number

    def count_change(self) -> None:
        """Let the tenant's knowledge version tell that what is found has changed."""
        self.workshop.registry.count_change(self.subject.tenant)

    def note_published(self, view: View, document: Document) -> None:
        """Remember what is about to be published in a view."""
        self.published[view.number] = Published(
            document.generation,
            document.version_id,
            document.settings_hash,
            document.embedding_space,
            document.chunk_count,
        )


def sweep(
    written: Mapping[str, int], *, keep: Mapping[str, int], subject: Subject, views: TenantViews, workshop: Workshop
) -> list[str]:
    """Delete what was written of a document but what is kept of it (generation → chunks); return what is wholly gone.

    What lies in a view that was dropped goes with its namespace.
    """
    live = {view.number: view for view in views.live}
    for generation, upper_bound in written.items():
        view = live.get(view_number_of(generation))
        if view is not None:
            vectors, start = workshop.tools_of(view).vectors, keep.get(generation, 0)
            pipeline.sweep(vectors, view.namespace, subject.document_id, generation, start=start, end=upper_bound)
    return [generation for generation in written if generation not in keep]
