"""A tenant with views: who steps through a re-index, and what readers of the current view see."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from functions.ingest.reindex import Reindexer
from functions.ingest.views import Workshop
from shared.adapters.document_scan import DynamoDocumentScan
from shared.adapters.documents import DynamoDocumentRegistry
from shared.adapters.tenants import DynamoTenantViews, view_as_set
from shared.models import View, document_id_of
from shared.ports import TenantViews
from tests.support.ingest_kills import World


@dataclass
class Views:
    """One tenant of a world: the steps of a re-index, each of whose calls can be the last, and a reader."""

    world: World
    tenant: str

    def __post_init__(self) -> None:
        aws, clock = self.world.stack.aws, self.world.clock
        settings = self.world.batch.reconciler.tools.settings
        self.registry = DynamoTenantViews(aws.dynamodb, aws.documents_table, clock, partial(view_as_set, settings))
        self.documents = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, clock)
        reconciler: Any = replace(self.world.batch.reconciler, views=self.world.wire.guard(self.registry, "views"))
        self.world.batch = replace(self.world.batch, wired=lambda: reconciler)
        workshop = Workshop(self.registry, reconciler.tools, reconciler.tools_for)

        def vectors(view: View) -> Any:
            port: Any = workshop.tools_of(view).vectors
            return getattr(port, "_port", port)

        scan = DynamoDocumentScan(aws.dynamodb, aws.documents_table, clock)
        guard = self.world.wire.guard
        self.steps = Reindexer(
            views=guard(self.registry, "views"),
            scan=guard(scan, "scan"),
            queue=reconciler.queue,
            clock=clock,
            wanted=partial(view_as_set, settings),
            namespaces=lambda view: guard(vectors(view), "namespaces"),
        )
        self.vectors = vectors

    def now(self) -> TenantViews:
        return self.registry.of(self.tenant)

    def seen(self, key: str) -> dict[str, str]:
        """Return id → text of what a question put now may be answered from, all of it."""
        view, document_id = self.now().current, document_id_of(self.tenant, key)
        published = self.documents.published_generations(self.tenant, [document_id], view=view.number)
        if document_id not in published:
            return {}
        prefix = f"{document_id}#{published[document_id]}#"
        return {name: text for name, text in self.everything(view).items() if name.startswith(prefix)}

    def is_whole(self, key: str) -> bool:
        """Whether all passages of what is published in the current view are there."""
        document, view = self.world.stack.find(key), self.now().current
        published = document.views.get(view.number) if document is not None else None
        return len(self.seen(key)) == (published.chunk_count if published is not None else 0)

    def everything(self, view: View) -> dict[str, str]:
        """Return id → text of all vectors in a view's namespace, published or not."""
        index = self.vectors(view)
        ids = [name for page in index.list_ids(namespace=view.namespace, prefix="") for name in page]
        found = index.fetch(namespace=view.namespace, ids=ids) if ids else {}
        return {name: str(record.metadata["text"]) for name, record in found.items()}
