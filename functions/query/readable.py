"""The document registry as one reader sees it: what they may not read does not exist.

Every route and the pipeline get the registry through here (`Services.for_reader`), so none of them can forget it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from functions.query.ports import RuledRegistry
from shared.access import ADMIN, AccessReader, AccessRule, FolderRules, may_read
from shared.errors import NotAllowed
from shared.models import (
    FIRST_INDEX_VERSION,
    Document,
    Labels,
    Principal,
    PublishedDocument,
    document_id_of,
)
from shared.ports import ALL_DOCUMENTS, CatalogueEntry, DocumentFilter, DocumentPage

OUTSIDER = Principal("", "")
"""A reader who may only read what everybody in the tenant may: whoever gets an event, for example."""
LISTED = 200
"""Documents read at a time to find those that the reader may read."""
HIDDEN = PublishedDocument("")
"""The entry of a published document that the reader may not read."""


@dataclass(frozen=True, slots=True)
class ReadableDocuments:
    """Implements `DocumentRegistry` for one reader."""

    all: RuledRegistry
    reader: AccessReader = OUTSIDER

    def for_reader(self, reader: AccessReader) -> "ReadableDocuments":
        """Return the registry as another reader sees it."""
        return replace(self, reader=reader)

    @property
    def _reads_all(self) -> bool:
        return ADMIN in self.reader.groups

    # --- who may read what ---

    def unreadable(self, tenant: str, document_ids: Iterable[str]) -> Set[str]:
        """Return those of the documents that the reader may not read.

        Where documents have rules, this includes documents that the registry no longer knows: their rules are gone.
        """
        wanted = frozenset(document_ids)
        rules = self.all.rules_of(tenant, list(wanted)) if wanted and not self._reads_all else None
        if rules is None:
            return frozenset()
        return {each for each in wanted if each not in rules or not may_read(self.reader, rules[each])}

    def unreadable_keys(self, tenant: str, keys: Iterable[str]) -> Set[str]:
        """Return those of the keys whose documents, existing or not yet, the reader may not read."""
        ids = {document_id_of(tenant, key): key for key in keys}
        rules = None if self._reads_all else self.all.rules_of(tenant, list(ids))
        if rules is None:
            return frozenset()
        folders = self.all.folder_rules(tenant)
        return {
            key for name, key in ids.items() if not may_read(self.reader, rules.get(name) or folders.rules_for(key))
        }

    def is_readable(self, tenant: str, key: str) -> bool:
        """Say whether the reader may read the document with this key, existing or not yet."""
        return not self.unreadable_keys(tenant, [key])

    def require_readable(self, tenant: str, key: str) -> None:
        """Raise `NotAllowed` unless the reader may read the document with this key, existing or not yet."""
        if not self.is_readable(tenant, key):
            raise NotAllowed("You may not read what has this name, or its folder: choose another one.")

    def folder_rules(self, tenant: str) -> FolderRules:
        """Return the tenant's folder rules in force."""
        return self.all.folder_rules(tenant)

    # --- the registry ---

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, PublishedDocument]:
        """Map each published document to what may be shown of it: nothing if the reader may not read it."""
        shown = self.all.published_documents(tenant, document_ids, index_version=index_version)
        if not any(each.rules for each in shown.values()):
            return shown
        return {name: each if may_read(self.reader, each.rules) else HIDDEN for name, each in shown.items()}

    def catalogue(self, tenant: str, *, index_version: int = FIRST_INDEX_VERSION) -> Iterator[CatalogueEntry]:
        """Yield every published document that the reader may read."""
        found = self.all.catalogue(tenant, index_version=index_version)
        return (entry for entry in found if may_read(self.reader, entry.rules))

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document, tombstones included, or None."""
        document = self.all.get(tenant, document_id)
        return None if document is None or document_id in self.unreadable(tenant, [document_id]) else document

    def list(
        self, tenant: str, wanted: DocumentFilter = ALL_DOCUMENTS, *, limit: int, cursor: str = ""
    ) -> DocumentPage:
        """Return documents, newest first.

        Where documents have rules, it reads on until a page is full: gaps would show how many documents the reader may
        not read, and `q` would find words of their titles.
        """
        if self._reads_all or self.all.rules_of(tenant, ()) is None:
            return self.all.list(tenant, wanted, limit=limit, cursor=cursor)
        shown: list[Document] = []
        is_last = False
        while not is_last and len(shown) <= limit:
            page = self.all.list(tenant, wanted, limit=LISTED, cursor=cursor)
            hidden = self.unreadable(tenant, (each.document_id for each in page.documents))
            shown += (each for each in page.documents if each.document_id not in hidden)
            cursor, is_last = page.cursor, not page.cursor
        following = self.all.cursor_after(shown[limit - 1]) if len(shown) > limit else ""
        return DocumentPage(shown[:limit], following)

    def cursor_after(self, document: Document) -> str:
        """Return the cursor of the documents after this one."""
        return self.all.cursor_after(document)

    def titles(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, str]:
        """Map each document that is not deleted to its title."""
        hidden = self.unreadable(tenant, document_ids)
        return self.all.titles(tenant, [each for each in document_ids if each not in hidden])

    def versions(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        """Map each document that is not deleted to its versions."""
        found = self.all.versions(tenant, document_ids)
        hidden = self.unreadable(tenant, found)
        return {name: versions for name, versions in found.items() if name not in hidden}

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Create a PENDING item for an announced upload. Raises `NotAllowed` for a name that they may not read."""
        self.require_readable(document.tenant, document.key)
        return self.all.announce(document, expires_s=expires_s)

    def label(self, tenant: str, document_id: str, labels: Labels, *, before: Labels) -> bool:
        """Replace a document's labels if they are still those `before`; else return False."""
        if self.unreadable(tenant, [document_id]):
            return False
        return self.all.label(tenant, document_id, labels, before=before)

    def restrict(self, tenant: str, document_id: str, rule: AccessRule | None, *, before: AccessRule | None) -> bool:
        """Replace a document's own rule if it is still the one `before`; else return False."""
        if self.unreadable(tenant, [document_id]):
            return False
        return self.all.restrict(tenant, document_id, rule, before=before)

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Stop answering from a document, for every reader; None if there is none."""
        return None if self.unreadable(tenant, [document_id]) else self.all.unpublish(tenant, document_id)
