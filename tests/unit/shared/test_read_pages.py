"""Pages that OCR has read, one item each: kept by object version, read by one worker, erased with the document."""

import os
from collections.abc import Iterator

import pytest

from shared.adapters.read_pages import MAX_PAGE_BYTES, DynamoReadPages
from tests.support.clock import FakeClock
from tests.support.moto_aws import MockedAws, mocked_aws, stale_reads

ONE = ("acme", "d1", "v1")


@pytest.fixture(scope="module")
def aws() -> Iterator[MockedAws]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as mocked:
        stale_reads(patch)
        yield mocked


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def pages(aws: MockedAws, clock: FakeClock) -> Iterator[DynamoReadPages]:
    made = DynamoReadPages(aws.dynamodb, aws.documents_table, clock)
    yield made
    for document_id in ("d1", "d2"):
        made.erase("acme", document_id)


def test_pages_are_kept_by_number_and_version_until_the_reading_is_named(pages: DynamoReadPages):
    assert (pages.pages(*ONE), pages.numbers(*ONE), pages.reading(*ONE)) == ({}, set(), "")
    assert pages.save(*ONE, 12, b"twelve")
    assert pages.save(*ONE, 3, b"three")
    assert pages.save(*ONE, 3, b"three again")
    assert pages.save("acme", "d1", "v2", 4, b"four")
    assert pages.save("acme", "d2", "v1", 5, b"five")
    assert pages.pages(*ONE) == {3: b"three again", 12: b"twelve"}
    assert pages.numbers(*ONE) == {3, 12}
    assert pages.begin(*ONE, seconds=10)
    pages.finish(*ONE, "R1")
    assert pages.reading(*ONE) == "R1"
    assert (pages.reading("acme", "d1", "v2"), pages.reading("rival", "d1", "v1")) == ("", "")
    assert pages.numbers(*ONE) == {3, 12}, "neither the worker nor the name is a page"


def test_figures_are_kept_beside_pages_and_apart_from_them(pages: DynamoReadPages, aws: MockedAws, clock: FakeClock):
    figures = DynamoReadPages(aws.dynamodb, aws.documents_table, clock, kind="figure-")
    pages.save(*ONE, 1, b"a page")
    figures.save(*ONE, 2, b"a figure")
    figures.finish(*ONE, "F1")
    assert (pages.pages(*ONE), figures.pages(*ONE)) == ({1: b"a page"}, {2: b"a figure"})
    assert (pages.reading(*ONE), figures.reading(*ONE)) == ("", "F1")


def test_one_worker_reads_until_its_time_is_over_or_it_gives_back(pages: DynamoReadPages, clock: FakeClock):
    assert pages.begin(*ONE, seconds=10)
    assert pages.begin("acme", "d1", "v2", seconds=10)
    clock.advance(10)
    assert not pages.begin(*ONE, seconds=10)
    clock.advance(0.5)
    assert pages.begin(*ONE, seconds=10)
    assert not pages.begin(*ONE, seconds=10)
    pages.end(*ONE)
    assert pages.begin(*ONE, seconds=10)


def test_a_page_that_does_not_fit_is_not_kept(pages: DynamoReadPages):
    assert not pages.save(*ONE, 1, os.urandom(MAX_PAGE_BYTES + 1))
    assert pages.save(*ONE, 2, b"x" * (2 * MAX_PAGE_BYTES))
    assert pages.numbers(*ONE) == {2}


def test_erasing_keeps_one_version_if_it_is_told_to(pages: DynamoReadPages):
    for version in ("v1", "v2"):
        pages.save("acme", "d1", version, 1, version.encode())
        pages.finish("acme", "d1", version, version)
    pages.save("acme", "d2", "v1", 1, b"other")
    pages.erase("acme", "d1", keep_version="v2")
    assert (pages.numbers(*ONE), pages.reading(*ONE)) == (set(), "")
    assert (pages.pages("acme", "d1", "v2"), pages.reading("acme", "d1", "v2")) == ({1: b"v2"}, "v2")
    pages.erase("acme", "d1")
    assert pages.numbers("acme", "d1", "v2") == set()
    assert pages.numbers("acme", "d2", "v1") == {1}
