"""Folder rules whose event was lost are noticed by their ETag."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from unittest.mock import Mock

import pytest

from functions.ingest.repair import GRACE_S, Comparison
from shared.ports import ListedObject
from tests.support.clock import FakeClock

PUT_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Bucket:
    """Implements `ObjectListing`: ETags by key."""

    def __init__(self, **etags: str) -> None:
        self.etags = {f"access/{name}.json": etag for name, etag in etags.items()}

    def folders(self, prefix: str) -> Iterator[str]:
        return iter(())

    def under(self, prefix: str, *, after: str = "") -> Iterator[ListedObject]:
        return (ListedObject(key, etag, PUT_AT) for key, etag in sorted(self.etags.items()) if key.startswith(prefix))


def sent(bucket: Bucket, in_force: dict[str, str], *, tenant: str = "", age_s: float = GRACE_S) -> list[str]:
    """Compare the rules of one tenant, or of all; return the keys of the changes that were sent."""
    clock, queue, scan = FakeClock(PUT_AT), Mock(), Mock()
    clock.advance(age_s)
    scan.entries.return_value = ()
    comparison = Comparison(scan, bucket, queue, clock, lambda name: in_force.get(name, ""))
    if tenant:
        comparison.compare(tenant, Mock(is_near=False))
    else:
        assert comparison.compare_rules() == queue.send.call_count
    return [json.loads(call.args[0])["key"] for call in queue.send.call_args_list]


@pytest.mark.parametrize("tenant", ["", "acme"])
@pytest.mark.parametrize(
    ("in_force", "age_s", "is_sent"),
    [
        ({}, GRACE_S, True),
        ({"acme": "old"}, GRACE_S, True),
        ({"acme": "new"}, GRACE_S, False),
        ({"acme": "old"}, GRACE_S - 1, False),  # its own event may be under way
    ],
)
def test_rules_that_are_not_in_force_are_sent_once_they_are_old_enough(
    tenant: str, in_force: dict[str, str], age_s: float, is_sent: bool
) -> None:
    assert sent(Bucket(acme="new"), in_force, tenant=tenant, age_s=age_s) == ["access/acme.json"] * is_sent


def test_rules_that_were_deleted_are_noticed_with_the_tenants_documents() -> None:
    assert sent(Bucket(), {"acme": "old"}, tenant="acme") == ["access/acme.json"]
    assert sent(Bucket(), {"acme": "old"}) == [], "who has none is not known here"


def test_each_tenant_is_compared_with_its_own_rules() -> None:
    bucket = Bucket(acme="1", acme2="2", bravo="3")
    bucket.etags |= {"access/notes.txt": "9", "access/deep/acme.json": "9"}
    in_force = {"acme": "1", "bravo": "1"}
    assert sent(bucket, in_force) == ["access/acme2.json", "access/bravo.json"]
    assert sent(bucket, in_force, tenant="acme") == []
