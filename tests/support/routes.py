"""The API's routes over the real handler and adapters, on moto and without servers: a clock that stands, ids that count
up, a search that finds what it is told, and a chat model that answers what it is told.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest

from functions.query import bootstrap
from local.pinecone.filters import matches, parse_filter
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.events import EventBridgeSender
from shared.adapters.index_versions import begin_change, end_change
from shared.errors import DependencyError
from shared.models import (
    Document,
    DocumentStatus,
    Filter,
    Match,
    MetadataValue,
    SourceType,
    content_hash_of,
    document_id_of,
)
from tests.support.clock import FakeClock
from tests.support.moto_aws import MockedAws, create_tables, mocked_aws, stale_reads
from tests.support.query import SPACE, FakeChat, FakeSearch, query_ports
from tests.support.query_stack import call

NOW = "2026-01-01T00:00:00.000+00:00"
"""Where the clock begins."""
FIRST_ID = f"1{1:025}"
"""The first id that is made; the next ones count up. Ids that begin with 0 are older."""


class FilteringSearch(FakeSearch):
    """Returns those of the prepared matches that a filter lets through."""

    def under(self, wanted: Filter | None) -> Sequence[Match]:
        passes = parse_filter(wanted or {})
        return [each for each in self.matches if matches(passes, dict(each.metadata))]


@dataclass
class Routes:
    """The routes and what lies behind them."""

    aws: MockedAws
    clock: FakeClock = field(default_factory=FakeClock)
    search: FilteringSearch = field(default_factory=FilteringSearch)
    chat: FakeChat = field(default_factory=FakeChat)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    events_fail: DependencyError | None = None

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        """Send a request; return its status and its body."""
        status, answer, _ = call(method, path, body, **more)
        return status, answer

    def send(self, _sender: EventBridgeSender, kind: str, detail: str) -> None:
        if self.events_fail:
            raise self.events_fail
        self.events.append((kind, json.loads(detail)))

    def publish(self, key: str, *texts: str, title: str = "Handbook", generation: str = "G1", **more: Any) -> Document:
        """Put an object into the bucket and publish a chunk a text, each on a page of its own."""
        tenant = key.split("/")[1]
        put = self.aws.s3.put_object(Bucket=self.aws.bucket, Key=key, Body=b"\n".join(map(str.encode, texts)))
        document_id = document_id_of(tenant, key)
        fence = DynamoDocumentFence(self.aws.dynamodb, self.aws.documents_table, self.clock)
        values = {
            "status": DocumentStatus.READY,
            "title": title,
            "version_id": put["VersionId"],
            "etag": put["ETag"].strip('"'),
            "source_type": SourceType.PDF,
            "page_count": len(texts),
            "created_at": NOW,
            "updated_at": NOW,
            "embedding_space": str(SPACE),
        }
        document = Document(tenant, document_id, key, **{**values, **more})
        lease = fence.lease(tenant, document_id, owner="m/1", lease_s=60)
        lease.claim(key, sequencer="")
        marks = begin_change(self.aws.dynamodb, self.aws.documents_table, tenant, document_id, self.clock.now())
        assert lease.publish(replace(document, generation=generation, chunk_count=len(texts)))
        end_change(self.aws.dynamodb, self.aws.documents_table, tenant, marks)
        assert lease.release()
        begin = 0
        for number, text in enumerate(texts):
            self.search.matches.append(
                Match(
                    f"{document_id}#{generation}#{number}",
                    0.8 - 0.1 * number,
                    _metadata(document, generation, number, text, begin),
                )
            )
            begin += len(text) + 2
        return document


def _metadata(document: Document, generation: str, number: int, text: str, begin: int) -> dict[str, MetadataValue]:
    return {
        "document_id": document.document_id,
        "generation": generation,
        "source_id": document.key,
        "source_type": document.source_type.value,
        "version_id": document.version_id,
        "title": document.title,
        "section": f"{number + 1} Part",
        "language": "en",
        "text": text,
        "chunk_index": number,
        "token_count": len(text.split()),
        "page_start": number + 1,
        "page_end": number + 1,
        "page_label": "i" * (number + 1),
        "pages": [f"{number + 1}|{begin}|{'i' * (number + 1)}"],
        "char_start": begin,
        "char_end": begin + len(text),
        "content_hash": content_hash_of(text),
    }


@contextmanager
def routes(patch: pytest.MonkeyPatch, **settings: str) -> Iterator[Routes]:
    """Run the routes; `settings` are RECTO_ variables."""
    with mocked_aws(patch) as aws:
        create_tables(aws.dynamodb, "ConversationsTable", "CacheTable")
        stale_reads(patch)
        made = Routes(aws)
        wiring = {
            "DOCUMENTS_TABLE": aws.documents_table,
            "CONVERSATIONS_TABLE": "conversations",
            "CACHE_TABLE": "cache",
            "BUCKET": aws.bucket,
            "QUEUE_URL": aws.queue_url,
            "SECRET_ID": aws.secret_id,
            "EMBEDDING_MODEL": SPACE.model,
            "EMBEDDING_DIMENSIONS": str(SPACE.dimensions),
        }
        for name, value in {**wiring, **settings}.items():
            patch.setenv(f"RECTO_{name}", value)
        bootstrap.reset()
        patch.setattr(bootstrap, "SystemClock", lambda: made.clock)
        ids = count(int(FIRST_ID))
        patch.setattr(bootstrap, "ULID", lambda: next(ids))
        patch.setattr(EventBridgeSender, "send", lambda sender, kind, detail: made.send(sender, kind, detail))

        def ports(*_: object) -> Any:
            own = bootstrap.services()
            return replace(
                query_ports(chat=made.chat if made.chat.text else None, settings=own.settings),
                clock=made.clock,
                new_id=own.new_id,
                conversations=own.conversations,
                search=made.search,
            )

        patch.setattr(bootstrap, "_ports_of", ports)
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # Mangum takes the thread's; an `asyncio.run` of other tests left none
        try:
            yield made
        finally:
            bootstrap.reset()
            asyncio.set_event_loop(None)
            loop.close()
