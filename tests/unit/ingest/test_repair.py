"""What events and crashes left undone is noticed: folder rules, documents, vectors that nobody knows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Any
from unittest.mock import Mock, PropertyMock

import pytest

from functions.ingest.changes import change_body
from functions.ingest.reconcile import CRASHED
from functions.ingest.repair import (
    GRACE_S,
    STALLED_AFTER_S,
    Compared,
    Comparison,
    Reason,
    Swept,
    resume_stalled,
    sweep_orphans,
)
from shared.models import DocumentStatus
from shared.ports import DocumentEntry, ListedObject
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
    ("in_force", "past_s", "is_sent"),
    [
        ({}, 0, True),
        ({"acme": "old"}, 0, True),
        ({"acme": "new"}, 0, False),
        ({"acme": "old"}, -1, False),  # its own event may be under way
    ],
)
def test_rules_that_are_not_in_force_are_sent_once_they_are_old_enough(
    tenant: str, in_force: dict[str, str], past_s: float, is_sent: bool
) -> None:
    assert sent(Bucket(acme="new"), in_force, tenant=tenant, age_s=GRACE_S + past_s) == ["access/acme.json"] * is_sent


def test_rules_that_were_deleted_are_noticed_with_the_tenants_documents() -> None:
    assert sent(Bucket(), {"acme": "old"}, tenant="acme") == ["access/acme.json"]
    assert sent(Bucket(), {"acme": "old"}) == [], "who has none is not known here"


def test_each_tenant_is_compared_with_its_own_rules() -> None:
    bucket = Bucket(acme="1", acme2="2", bravo="3")
    bucket.etags |= {"access/notes.txt": "9", "access/deep/acme.json": "9"}
    in_force = {"acme": "1", "bravo": "1"}
    assert sent(bucket, in_force) == ["access/acme2.json", "access/bravo.json"]
    assert sent(bucket, in_force, tenant="acme") == []


# --- documents: the bucket and the registry compared ------------------------------------------------------------------

DAY_S = 86_400.0
NOW = 10_000_000.0
"""The time of the comparison, in seconds since 1970."""


def entry(key: str = "uploads/acme/a.pdf", **changes: Any) -> DocumentEntry:
    """A document that was read two days ago and is searched."""
    return DocumentEntry(key, DocumentStatus.READY, etag="1", updated_at=NOW - 2 * DAY_S)._replace(**changes)


def put(age_s: float, key: str = "uploads/acme/a.pdf", etag: str = "1") -> ListedObject:
    return ListedObject(key, etag, datetime.fromtimestamp(NOW - age_s, UTC))


def compared(
    entries: Sequence[DocumentEntry],
    objects: Sequence[ListedObject],
    *,
    near_after: int = 1_000,
    **how: Any,
) -> tuple[Compared, list[str]]:
    """What a comparison of these documents with these objects saw, and the keys of the changes that it sent."""
    scan, queue, listing = Mock(), Mock(), Mock()
    scan.entries.return_value = entries
    listing.under = lambda prefix, after="": (
        each for each in sorted(objects, key=lambda each: each.key) if each.key.startswith(prefix) and each.key > after
    )
    near = Mock()
    type(near).is_near = PropertyMock(side_effect=chain(repeat(False, near_after), repeat(True)))
    clock = FakeClock(datetime.fromtimestamp(NOW, UTC))
    found = Comparison(scan, listing, queue, clock, lambda _: "").compare("acme", near, **how)
    return found, [json.loads(call.args[0])["key"] for call in queue.send.call_args_list]


@pytest.mark.parametrize(
    ("known", "listed", "reason"),
    [
        (entry(), put(3 * DAY_S), None),  # they agree
        (None, put(3 * DAY_S), Reason.NEW),
        (entry(status=DocumentStatus.DELETED), put(3 * DAY_S), Reason.NEW),
        (entry(), put(DAY_S), Reason.REPLACED),  # put after it was read
        (entry(), put(3 * DAY_S, etag="2"), Reason.REPLACED),
        (entry(etag=""), put(DAY_S), Reason.NEW),
        (entry(etag=""), put(3 * DAY_S), Reason.NEW),
        (entry(), None, Reason.GONE),
        (entry(status=DocumentStatus.DELETED), None, None),
        (entry(status=DocumentStatus.PENDING), None, None),
        (entry(status=DocumentStatus.PROCESSING), put(DAY_S), None),  # somebody is at it
        (entry(change_pending=True), put(DAY_S), None),
        (entry(leased_until=NOW + 1), put(DAY_S), None),
        (entry(leased_until=NOW - 1), put(DAY_S), Reason.REPLACED),
        (entry(status=DocumentStatus.DELETING), put(3 * DAY_S), Reason.FAILED),
        (entry(status=DocumentStatus.DELETING, updated_at=NOW - 1_800), put(3 * DAY_S), None),
        (entry(attempt_error="TIMEOUT"), put(3 * DAY_S), Reason.FAILED),  # twice as old as at the failure
        (entry(attempt_error="TIMEOUT", updated_at=NOW - DAY_S), put(3 * DAY_S), None),
        (entry(attempt_error="TIMEOUT", updated_at=NOW - 8 * DAY_S), put(90 * DAY_S), Reason.FAILED),  # weekly
        (entry(attempt_error="TIMEOUT", updated_at=NOW - 6 * DAY_S), put(90 * DAY_S), None),
        (entry(attempt_error=CRASHED.code), put(3 * DAY_S), None),
    ],
)
def test_a_change_is_sent_where_bucket_and_registry_differ(
    known: DocumentEntry | None, listed: ListedObject | None, reason: Reason | None
) -> None:
    found, keys = compared([known] if known else [], [listed] if listed else [])
    assert dict(found.changes) == ({reason: 1} if reason else {})
    assert keys == (["uploads/acme/a.pdf"] if reason else [])
    assert (found.objects, found.young, found.finished) == (int(listed is not None), 0, True)


@pytest.mark.parametrize("error", ["TIMEOUT", CRASHED.code])
def test_on_request_a_failed_document_is_retried_at_once(error: str) -> None:
    failed = entry(attempt_error=error, updated_at=NOW - 600)
    assert compared([failed], [put(3 * DAY_S)])[1] == []
    assert compared([failed], [put(3 * DAY_S)], at_once=True)[1] == ["uploads/acme/a.pdf"]


@pytest.mark.parametrize(("past_s", "young"), [(-1, 1), (0, 0), (1, 0)])
def test_a_difference_is_left_to_its_own_event_for_a_while(past_s: float, young: int) -> None:
    age_s = GRACE_S + past_s
    for found, keys in (compared([], [put(age_s)]), compared([entry(updated_at=NOW - age_s)], [])):
        assert (found.young, len(keys)) == (young, 1 - young)


def test_young_differences_hold_up_no_older_ones() -> None:
    objects = [put(1, "uploads/acme/a.pdf"), put(GRACE_S + 1, "uploads/acme/b.pdf"), put(1, "uploads/acme/c.pdf")]
    found, keys = compared([], objects)
    assert (keys, found.young, found.objects, found.last) == (["uploads/acme/b.pdf"], 2, 3, "uploads/acme/c.pdf")


def test_the_age_of_the_oldest_object_without_a_result_is_told() -> None:
    assert compared([entry()], [put(3 * DAY_S)])[0].oldest_s == 0.0
    assert compared([], [put(0.5)])[0].oldest_s == 0.5
    assert compared([], [put(500, "uploads/acme/b.pdf"), put(900), put(700, "uploads/acme/c.pdf")])[0].oldest_s == 900
    assert compared([entry(status=DocumentStatus.PROCESSING)], [put(700)])[0].oldest_s == 700
    assert compared([entry(attempt_error="TIMEOUT")], [put(3 * DAY_S)])[0].oldest_s == 0.0
    assert compared([entry()], [])[0].oldest_s == 0.0


def test_a_round_ends_after_enough_changes_or_when_time_is_short_and_goes_on_behind_its_last_key() -> None:
    objects = [put(900, f"uploads/acme/{name}.pdf") for name in "abcde"]
    known = [entry("uploads/acme/a.pdf", updated_at=NOW)]
    first, keys = compared(known, objects, most=2)
    assert (keys, first.finished, first.last) == (
        ["uploads/acme/b.pdf", "uploads/acme/c.pdf"], False, "uploads/acme/c.pdf"
    )  # fmt: skip
    rest, keys = compared(known, objects, after=first.last)
    assert (keys, rest.finished, rest.objects) == (["uploads/acme/d.pdf", "uploads/acme/e.pdf"], True, 2)
    short, keys = compared(known, objects, near_after=3)
    assert (keys, short.finished, short.last) == (keys[:2], False, "uploads/acme/c.pdf")
    assert len(keys) == 2


def test_what_is_in_the_bucket_under_no_documents_name_is_left_alone() -> None:
    objects = [put(900, "uploads/acme/"), put(900, "faq/acme/a.json"), put(900, "uploads/bravo/a.pdf")]
    found, keys = compared([], objects)
    assert keys == ["faq/acme/a.json"]
    assert found.objects == 1


def swept(vectors: Sequence[Sequence[str]], written: Mapping[str, Mapping[str, int]], near_after: int = 9) -> Any:
    index, fence, near = Mock(), Mock(), Mock()
    index.list_ids.return_value = vectors
    fence.written.side_effect = lambda _, document_id: written.get(document_id, {})
    type(near).is_near = PropertyMock(side_effect=chain(repeat(False, near_after), repeat(True)))
    found = sweep_orphans("acme", fence=fence, vectors=index, namespace="acme", deadline=near)
    return found, [each for call in index.delete.call_args_list for each in call.kwargs["ids"]]


def test_vectors_that_the_registry_does_not_know_or_beyond_their_bound_are_deleted() -> None:
    pages = [["a#g1#0", "a#g1#1", "a#g1#2", "a#g2#0", "b#g1#0"], ["c#g1#0", "c#g1#x", "c"]]
    known = {"a": {"g1": 2}, "c": {"g1": 1}}
    assert swept(pages, known) == (Swept(8, 5), ["a#g1#2", "a#g2#0", "b#g1#0", "c#g1#x", "c"])
    assert swept(pages, known, near_after=1) == (Swept(5, 3, ("acme",)), ["a#g1#2", "a#g2#0", "b#g1#0"])
    assert swept([["a#g1#0"]], known) == (Swept(1, 0), [])


def test_a_change_is_sent_for_each_stalled_document() -> None:
    for keys in ([], ["uploads/acme/a.pdf", "uploads/acme/b.pdf"]):
        scan, queue = Mock(), Mock()
        scan.stalled.return_value = [Mock(key=key) for key in keys]
        assert resume_stalled(scan, queue) == len(keys)
        scan.stalled.assert_called_once_with(quiet_s=STALLED_AFTER_S)
        assert [call.args[0] for call in queue.send.call_args_list] == [change_body(key) for key in keys]
