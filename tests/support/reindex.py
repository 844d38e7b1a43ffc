"""A tenant with index versions: who steps through a re-index, and what readers of the current index version see."""

import itertools
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from functions.ingest.reindex import Reindexer
from shared.adapters.document_registry import DynamoDocumentRegistry, DynamoDocumentScan
from shared.adapters.index_versions import DynamoIndexVersions, configured_index_version
from shared.errors import Conflict
from shared.models import IndexVersion, document_id_of
from shared.ports import TenantIndexVersions
from tests.support.generations import generations
from tests.support.ingest_kills import World

_numbers = itertools.count()


@dataclass
class IndexVersions:
    """One tenant: the steps of a re-index, which can be killed at any call, and a reader."""

    world: World
    tenant: str

    def __post_init__(self) -> None:
        aws, clock = self.world.stack.aws, self.world.clock
        settings = self.world.batch.reconciler.access.configured.settings
        self.registry = DynamoIndexVersions(
            aws.dynamodb, aws.documents_table, clock, partial(configured_index_version, settings)
        )
        self.documents = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, clock)
        guard = self.world.wire.guard
        access = replace(self.world.batch.reconciler.access, registry=guard(self.registry, "index_versions"))
        self.world.told.change(access=access)

        def vectors(index_version: IndexVersion) -> Any:
            port: Any = access.dependencies_of(index_version).vectors
            return getattr(port, "_port", port)

        scan = DynamoDocumentScan(aws.dynamodb, aws.documents_table, clock)
        self.steps = Reindexer(
            index_versions=guard(self.registry, "index_versions"),
            scan=guard(scan, "scan"),
            queue=self.world.told.queue,
            clock=clock,
            configured=partial(configured_index_version, settings),
            settings_hash=settings.ingest_settings_hash,
            namespaces=lambda index_version: guard(vectors(index_version), "namespaces"),
        )
        self.vectors = vectors

    def now(self) -> TenantIndexVersions:
        return self.registry.of(self.tenant)

    def seen(self, key: str) -> dict[str, str]:
        """Return id → text of all passages that a question asked now may be answered from."""
        index_version, document_id = self.now().current, document_id_of(self.tenant, key)
        published = generations(self.documents, self.tenant, [document_id], index_version=index_version.number)
        if document_id not in published:
            return {}
        prefix = f"{document_id}#{published[document_id]}#"
        return {name: text for name, text in self.everything(index_version).items() if name.startswith(prefix)}

    def is_whole(self, key: str) -> bool:
        """Whether all chunks of the generations published in the current index version are there."""
        document, index_version = self.world.stack.find(key), self.now().current
        published = document.index_versions.get(index_version.number) if document is not None else None
        return len(self.seen(key)) == (published.chunk_count if published is not None else 0)

    def everything(self, index_version: IndexVersion) -> dict[str, str]:
        """Return id → text of all vectors in an index version's namespace, published or not."""
        index = self.vectors(index_version)
        ids = [name for page in index.list_ids(namespace=index_version.namespace, prefix="") for name in page]
        found = index.fetch(namespace=index_version.namespace, ids=ids) if ids else {}
        return {name: str(record.metadata["text"]) for name, record in found.items()}


def lost_by_a_reindex_during_a_first_upload(world: World, at: int) -> str:
    """Re-index and switch while a document is uploaded for the first time, at its worker's `at`-th call.

    Return what is wrong with the search results afterwards; raise `IndexError` when the worker makes fewer calls.
    """
    tenant = f"first{next(_numbers)}"
    index_versions, key = IndexVersions(world, tenant), f"faq/{tenant}/a.json"
    world.put(key, b'{"question": "Is it there?", "answer": "It is."}')
    came = []

    def drain() -> None:
        while (record := world.queue.receive()) is not None:
            world.deliver(record)

    def interfere(_name: str) -> None:
        if len(world.wire.calls) - 1 == at:
            came.append(at)
            world.wire.fault = lambda name: None
            index_versions.steps.start(tenant)
            drain()
            with suppress(Conflict):
                index_versions.steps.switch(tenant)

    with world.wire.faulty(interfere):
        world.deliver(world.message_for(key))
    if not came:
        raise IndexError(at)
    drain()
    if index_versions.now().current.number == 1:
        index_versions.steps.switch(tenant)
    if not index_versions.is_whole(key):
        return "chunks are missing"
    return "" if index_versions.seen(key) else "it is not found"
