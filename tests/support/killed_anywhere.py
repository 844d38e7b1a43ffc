"""One upload whose worker is killed after each of its external calls in turn, and what the next worker must achieve."""

import itertools
from functools import partial

from shared.adapters.index_versions import DynamoIndexVersions, configured_index_version, read_knowledge
from tests.support.ingest import pdf_of, prose
from tests.support.ingest_kills import Killed, World

_numbers = itertools.count()


def check_kills_at_every_call(world: World) -> int:
    """Raise `AssertionError` at the first violation; return how many calls an upload makes."""
    aws, settings = world.stack.aws, world.batch.reconciler.access.configured.settings
    versions = DynamoIndexVersions(
        aws.dynamodb, aws.documents_table, world.clock, partial(configured_index_version, settings)
    )
    content = pdf_of([prose("New", sentences=5, seed=n) for n in range(3)])
    for at in itertools.count():
        tenant = f"anywhere{next(_numbers)}"
        key = f"uploads/{tenant}/doc.pdf"
        world.put(key, content)
        versions.of(tenant)  # so that the pointer's own first change is over
        record, before = world.message_for(key), versions.knowledge(tenant).version
        world.wire.set(at)
        try:
            world.deliver(record)
            return at
        except Killed:
            pass
        finally:
            world.wire.clear()  # also after the last: the next test's calls are not counted on from here
        killed = read_knowledge(aws.dynamodb, aws.documents_table, tenant)
        world.clock.advance(1_000)
        assert world.deliver(record), f"killed at {at}: the next delivery failed"
        world.check_converged(key, "New")
        after = versions.knowledge(tenant).version
        assert after != before, f"killed at {at}: found under an empty tenant's version"
        # While it was being published, somebody may have asked and cached that there is nothing.
        assert not killed.changing or after != killed.version, f"killed at {at}: the change was not counted"
    raise AssertionError("unreachable: an upload ends")
