"""What a warm container remembers of published generations is never older than the question that asks for them.

Writers (a worker that publishes, one that removes, the API that deletes) and a warm reader take turns at each of their
calls to DynamoDB, in every order there is. A writer may die at any of its calls.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, count
from threading import Semaphore, Thread
from typing import Any

import pytest

from functions.ingest.changes import DocumentRef
from functions.ingest.index_versions import DocumentState, IndexVersionAccess
from functions.ingest.pipeline import BuiltGeneration
from functions.ingest.publish import publish, remove
from functions.ingest.sources import ExtractionResult
from shared.adapters import index_versions
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.index_versions import DynamoIndexVersions, configured_index_version
from shared.models import Document, DocumentStatus, SourceType
from shared.ports import TenantIndexVersions
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.generations import generations
from tests.support.moto_aws import Killed, MockedAws, mocked_aws

_tenants = count()

type Work = Callable[[Any], None]
"""What is done with a DynamoDB client."""


@pytest.fixture(scope="module")
def aws() -> Iterator[MockedAws]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as mocked:
        yield mocked


class Actor:
    """Work in a thread of its own, which makes one call to DynamoDB for each step; the dead make none."""

    def __init__(self, work: Work, client: Any) -> None:
        self.client = client
        self.is_dead = self.is_done = False
        self._may_call, self._waits = Semaphore(0), Semaphore(0)
        Thread(target=self._run, args=(work,), daemon=True).start()
        self._waits.acquire()

    def step(self) -> None:
        if not self.is_done:
            self._may_call.release()
            self._waits.acquire()

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            self._waits.release()
            self._may_call.acquire()
            if self.is_dead:
                raise Killed
            return getattr(self.client, name)(**request)

        return call

    def _run(self, work: Work) -> None:
        with suppress(Killed):
            work(self)
        self.is_done = True
        self._waits.release()


@dataclass
class Stage:
    """A tenant with one published document, and a warm reader who knows its generation."""

    aws: MockedAws
    tenant: str = field(default_factory=lambda: f"turns{next(_tenants)}")
    clock: FakeClock = field(default_factory=FakeClock)
    acknowledged: bool = False
    wrong: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.key = f"uploads/{self.tenant}/d.pdf"
        self.lease = self._fence(self.aws.dynamodb).lease(self.tenant, "d", owner="worker/1", lease_s=60)
        self.claim = self.lease.claim(self.key, sequencer="")
        self.lease.publish(self.document("G1"))
        self.warm = self._registry(self.aws.dynamodb)
        assert generations(self.warm, self.tenant, ["d"]) == {"d": "G1"}

    def document(self, generation: str) -> Document:
        return Document(self.tenant, "d", self.key, DocumentStatus.READY, generation=generation)

    def true(self) -> str:
        document = self._registry(self.aws.dynamodb).get(self.tenant, "d")
        return document.generation if document is not None else ""

    def read(self, client: Any) -> str:
        self.warm._client = client
        return generations(self.warm, self.tenant, ["d"]).get("d", "")

    def publishing(self, client: Any) -> None:
        built = BuiltGeneration("", ExtractionResult(DocumentStatus.READY, None, 1, ()), 1)
        state, lease = self._state(client), replace(self.lease, _client=client)
        publish(self.document("G2"), state.index_versions.current, built, state=state, lease=lease)

    def removing(self, client: Any) -> None:
        remove(state=self._state(client), lease=replace(self.lease, _client=client))

    def deleting(self, client: Any) -> None:
        self._registry(client).unpublish(self.tenant, "d")
        self.acknowledged = True

    def _state(self, client: Any) -> DocumentState:
        wanted = partial(configured_index_version, Settings())
        registry = DynamoIndexVersions(client, self.aws.documents_table, self.clock, wanted)
        ref = DocumentRef(self.tenant, "d", self.key, SourceType.PDF)
        access = IndexVersionAccess(registry, None, None)  # type: ignore[arg-type]
        return DocumentState(ref, self.claim, TenantIndexVersions(self.tenant, wanted(self.tenant)), access)

    def _registry(self, client: Any) -> DynamoDocumentRegistry:
        return DynamoDocumentRegistry(client, self.aws.documents_table, self.clock)

    def _fence(self, client: Any) -> DynamoDocumentFence:
        return DynamoDocumentFence(client, self.aws.documents_table, self.clock)


class LosesItsLastCall:
    """A client whose last update fails: the API deletes the document, and cannot count that it has."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def update_item(self, **request: Any) -> Any:
        if "DELETE" in request["UpdateExpression"]:
            request["TableName"] = "no-such-table"
        return self.client.update_item(**request)


def seen_wrong(stage: Stage, order: str, writers: Mapping[str, Work]) -> Sequence[object]:
    """Take the steps of `order`; return what the reader saw that was not true while it read.

    A letter is one call of a writer, `v` and `g` are the reader's two calls, the version and the generations; `!` is a
    whole read. Whoever has calls left at the end is dead.
    """
    actors = {name: Actor(work, stage.aws.dynamodb) for name, work in writers.items()}
    found: list[str] = []
    reader = None
    true = stage.true()
    true_meanwhile: set[str] = set()
    for step in (*order, "!", "!"):
        if step == "v":
            true_meanwhile = {true}
            reader = Actor(lambda client: found.append(stage.read(client)), stage.aws.dynamodb)
            reader.step()
        elif step == "g":
            assert reader is not None
            reader.step()
        elif step == "!":
            true_meanwhile = {true}
            found.append(stage.read(stage.aws.dynamodb))
        else:
            actors[step].step()
            true = stage.true()
            true_meanwhile.add(true)
        if found and (found[-1] not in true_meanwhile or (step == "!" and stage.acknowledged and found[-1])):
            stage.wrong.append((order, step, found, true_meanwhile))
    for actor in actors.values():
        actor.is_dead = True
        actor.step()
    return stage.wrong


def orders_with_one(writer: str) -> Iterator[str]:
    """Yield each order of up to three calls of a writer with the two of the reader."""
    for calls in range(4):
        for first, second in combinations(range(calls + 2), 2):
            yield "".join("v" if at == first else "g" if at == second else writer for at in range(calls + 2))


def orders_with_two(one: str, other: str) -> Iterator[str]:
    """Yield each order of three calls of each writer, with a read after each."""
    for places in combinations(range(6), 3):
        yield "".join((one if at in places else other) + "!" for at in range(6))


WORKS: Mapping[str, Callable[[Stage, Any], None]] = {
    "p": Stage.publishing,
    "r": Stage.removing,
    "d": Stage.deleting,
    "l": lambda stage, client: stage.deleting(LosesItsLastCall(client)),
}
CASES = ["p", "r", "d", "pd", "pl"]
"""Who writes."""


def first_wrong(aws: MockedAws, writers: str) -> Sequence[object]:
    """Return what is seen wrong in the first order of these writers' calls that shows anything wrong."""
    for order in orders_with_one(*writers) if len(writers) == 1 else orders_with_two(*writers):
        stage = Stage(aws)
        if wrong := seen_wrong(stage, order, {name: partial(WORKS[name], stage) for name in writers}):
            return wrong
    return ()


@pytest.mark.parametrize("writers", CASES)
def test_in_no_order_of_calls_a_reader_sees_what_was_gone_before_it_asked(aws: MockedAws, writers: str) -> None:
    assert first_wrong(aws, writers) == ()


BEGIN, END, ONLY_COUNT = (
    "ADD changes :one, changing :marks",
    "ADD changes :one DELETE changing :marks",
    "ADD changes :one",
)
MISTAKES: Mapping[str, Mapping[str, str]] = {
    "counted only afterwards": {END: ONLY_COUNT},
    "counted only before": {BEGIN: ONLY_COUNT},
    "counted twice, but not marked": {BEGIN: ONLY_COUNT, END: ONLY_COUNT},
}
"""What each of the two updates becomes, or none."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_seen_in_some_order(aws: MockedAws, mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    really = index_versions._count

    def count_up(client: Any, table: str, tenant: str, expression: str, *_: Any) -> dict[str, Any]:
        changed = MISTAKES[mistake].get(expression)
        return really(client, table, tenant, changed) if changed else {}

    monkeypatch.setattr(index_versions, "_count", count_up)
    assert any(first_wrong(aws, writers) for writers in CASES)


def test_a_mark_that_is_not_the_writers_own_would_hide_a_deletion(
    aws: MockedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_versions, "token_hex", lambda _: "same")
    assert first_wrong(aws, "pl")
