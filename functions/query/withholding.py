"""Answers made from documents that their reader may no longer read, or that are erased: listed, but not shown.

A whole answer is withheld: once a model has written it, nobody can tell which words come from which document. Later
answers may repeat it, so an answer's documents include those of the turns it was written with.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from functions.query.answer import AnswerEvent, CitationFound, Done, SourcesFound
from functions.query.ports import QueryPorts, ReadableCatalogue
from functions.query.writing.localization import texts_for
from shared.errors import AccessLost
from shared.language import language_of
from shared.models import Message, generation_named_by

UNKNOWN = "*"
"""Among an answer's documents: there are more than are stored, so only administrators are sure to read them all."""
MAX_DOCUMENTS = 200
"""The most documents stored with an answer, besides those of its sources."""
CHECK_EVERY_S = 0.05
"""Seconds between two checks that the documents of a stream may still be read. The pieces of a cached answer come
faster; with a generated one, there is a check for each piece."""


def documents_of(message: Message) -> Set[str]:
    """Return the ids of the documents that an answer was made from; `UNKNOWN` among them if that is not known."""
    if message.role != "assistant":
        return frozenset()
    details = message.details
    chunks = [_chunk_of(each) for name in ("sources", "near_misses") for each in _list(details.get(name))]
    found = {generation_named_by(chunk)[0] for chunk in chunks} | {each.document_id for each in message.citations}
    named = details.get("documents")
    if named is None and details.get("mode") == "service":
        found.add(UNKNOWN)  # of an earlier release: it may list documents
    return (found | set(map(str, _list(named)))) - {""}


def _chunk_of(source: object) -> str:
    """Return the passage id of a stored source (in an earlier release only the id was stored), or of a near miss."""
    if isinstance(source, Mapping):
        return str(source.get("chunk_id", ""))
    return str(source[0]) if isinstance(source, list | tuple) and source else str(source)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def stored_documents(named: Iterable[str]) -> Sequence[str]:
    """Return the stored record of the documents that an answer names or follows."""
    found = sorted(set(named))
    return [UNKNOWN] if UNKNOWN in found or len(found) > MAX_DOCUMENTS else found


def unreadable_messages(tenant: str, messages: Sequence[Message], registry: ReadableCatalogue) -> Set[str]:
    """Return the ids of the answers that the reader may not, or no longer, see. Raises `DependencyError`."""
    made_from = {each.message_id: documents_of(each) for each in messages if each.role == "assistant"}
    hidden = registry.unreadable(tenant, frozenset[str]().union(*made_from.values()))
    return {name for name, documents in made_from.items() if not hidden.isdisjoint(documents)}


def readable_messages(tenant: str, messages: Sequence[Message], registry: ReadableCatalogue) -> Sequence[Message]:
    """Return the messages; one that the reader may not see says why, in its language. Raises `DependencyError`."""
    hidden = unreadable_messages(tenant, messages, registry)
    return [withheld(each) if each.message_id in hidden else _explained(each) for each in messages]


def withheld(message: Message) -> Message:
    """Return an answer without anything that was made from documents."""
    kept = {name: value for name, value in message.details.items() if name == "mode"}
    text = texts_for(str(message.details.get("language") or language_of(message.content))).withheld
    return replace(message, content=text, citations=(), claims=(), details={**kept, "withheld": True})


def _explained(message: Message) -> Message:
    """Return a message; for an erased answer, with the sentence that says so, in the answer's language."""
    if not message.details.get("erased"):
        return message
    return replace(message, content=texts_for(str(message.details.get("language", ""))).erased)


@dataclass(slots=True)
class Watch:
    """The documents that a running answer is made from, checked before each of its events."""

    tenant: str
    ports: QueryPorts
    documents: set[str] = field(default_factory=set)
    checked_at: float = float("-inf")

    def add(self, documents: Iterable[str]) -> None:
        """Check these documents, too."""
        self.documents.update(documents)

    def over(self, events: Iterable[AnswerEvent]) -> Iterator[AnswerEvent]:
        """Yield the events for as long as all documents may be read. Raises `AccessLost`."""
        for event in events:
            if isinstance(event, SourcesFound):
                self.add(each.document_id for each in event.sources)
            elif isinstance(event, CitationFound):
                self.add([event.citation.document_id])
            self._check(is_last=isinstance(event, Done))
            yield event

    def _check(self, *, is_last: bool) -> None:
        now = self.ports.clock.monotonic()
        if not self.documents or not (is_last or now - self.checked_at >= CHECK_EVERY_S):
            return
        self.checked_at = now
        if not self.ports.is_restricted():
            return
        ids = list(self.documents - {UNKNOWN})
        shown = self.ports.registry.published_documents(self.tenant, ids, index_version=self.ports.index_number)
        if any(not each.generation for each in shown.values()):
            raise AccessLost
