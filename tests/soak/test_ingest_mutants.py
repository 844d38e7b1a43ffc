"""The state machine can fail: each of these well-meant mistakes is found by it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from functions.ingest.visit import Visit
from shared.adapters import document_fence
from shared.adapters.document_fence import DynamoDocumentFence
from tests.support.ingest_kills import World
from tests.support.ingest_machine import machine_world, run_machine

Patch = pytest.MonkeyPatch
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with machine_world(tmp_path_factory.mktemp("stack")) as made:
        yield made


def publish_in_spite_of_newer_hints(patch: Patch, world: World) -> None:
    patch.setattr(document_fence, "_NOTHING_NEWER", "lease_owner = :owner")


def sweep_nothing(patch: Patch, world: World) -> None:
    patch.setattr(Visit, "_sweep", lambda *args, **kwargs: None)


def publish_before_the_last_upsert(patch: Patch, world: World) -> None:
    """Hold each upsert back until the next call to the index."""
    vectors: Any = world.batch.reconciler.tools.vectors
    inner = vectors._port

    class Lazy:
        held: Callable[[], Any] = staticmethod(lambda: None)

        def upsert(self, **kwargs: Any) -> None:
            self.flush()
            self.held = lambda: inner.upsert(**kwargs)

        def flush(self) -> None:
            held, self.held = self.held, lambda: None
            held()

        def __getattr__(self, name: str) -> Any:
            self.flush()
            return getattr(inner, name)

    patch.setattr(vectors, "_port", Lazy())


def ignore_the_sequencer(patch: Patch, world: World) -> None:
    patch.setattr(document_fence, "normal_sequencer", lambda sequencer: "")


def publish_without_the_lease(patch: Patch, world: World) -> None:
    patch.setattr(document_fence, "_NOTHING_NEWER", "attribute_exists(pk)")


def take_a_lease_that_is_held(patch: Patch, world: World) -> None:
    real = DynamoDocumentFence._try_claim

    def claim(self: Any, tenant: str, document_id: str, key: str, order: str, owner: str, lease_s: float) -> Any:
        return real(self, tenant, document_id, key, order, owner, -1_000.0)

    patch.setattr(DynamoDocumentFence, "_try_claim", claim)
    patch.setattr(document_fence, "_MINE", "attribute_exists(pk) OR lease_owner = :owner")
    patch.setattr(document_fence, "_NOTHING_NEWER", "attribute_exists(pk) OR lease_owner = :owner")


@pytest.mark.parametrize(
    "mutate",
    [
        publish_in_spite_of_newer_hints,
        sweep_nothing,
        publish_before_the_last_upsert,
        ignore_the_sequencer,
        publish_without_the_lease,
        take_a_lease_that_is_held,
    ],
)
def test_the_machine_finds(mutate: Callable[[Patch, World], None], world: World) -> None:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    with pytest.MonkeyPatch.context() as patch:
        mutate(patch, world)
        with pytest.raises((AssertionError, ExceptionGroup)):
            run_machine(world, examples=40, steps=50, seeded=7, shrink=False, on_step=count)
    print(f"found after {steps} steps")  # noqa: T201
