"""A tenant with views: who steps through a re-index, and what readers of the current view see."""

import itertools
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from functions.ingest.reindex import Reindexer
from functions.ingest.views import Workshop
from shared.adapters.document_registry import DynamoDocumentRegistry, DynamoDocumentScan
from shared.adapters.index_versions import DynamoTenantViews, view_as_set
from shared.errors import Conflict
from shared.models import View, document_id_of
from shared.ports import TenantViews
from tests.support.ingest_kills import World

_numbers = itertools.count()


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
            settings_hash=settings.ingest_settings_hash,
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


def lost_by_a_reindex_during_a_first_upload(world: World, at: int) -> str:
    """Re-index and switch while a document is uploaded for the first time, at its worker's `at`-th call.

    Return what is wrong afterwards with what is found of it; raise `IndexError` when the worker makes fewer calls.
    """
    tenant = f"first{next(_numbers)}"
    views, key = Views(world, tenant), f"faq/{tenant}/a.json"
    world.put(key, b'{"question": "Is it there?", "answer": "It is."}')
    came = []

    def drain() -> None:
        while (record := world.queue.receive()) is not None:
            world.deliver(record)

    def interfere(_name: str) -> None:
        if len(world.wire.calls) - 1 == at:
            came.append(at)
            world.wire.fault = lambda name: None
            views.steps.start(tenant)
            drain()
            with suppress(Conflict):
                views.steps.switch(tenant)

    world.wire.clear()
    world.wire.fault = interfere
    try:
        world.deliver(world.message_for(key))
    finally:
        world.wire.fault = lambda name: None
    if not came:
        raise IndexError(at)
    drain()
    if views.now().current.number == 1:
        views.steps.switch(tenant)
    if not views.is_whole(key):
        return "passages are missing"
    return "" if views.seen(key) else "it is not found"
