"""Chunks stay as they were where the text did: only what changed is embedded again."""

import random
from dataclasses import replace

import pytest

from functions.ingest.chunking import units
from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from shared.models import Page

WORDS = "river stone harbour engine ledger copper orchard signal winter market bridge lantern cargo".split()  # noqa: SIM905


def varied(random_: random.Random) -> str:
    """A page of paragraphs of sentences, none of them of the same length."""
    paragraphs = []
    for _ in range(random_.randint(3, 7)):
        lines = [" ".join(random_.choices(WORDS, k=random_.randint(4, 22))).capitalize() + "." for _ in range(6)]
        paragraphs.append(" ".join(lines))
    return "\n\n".join(paragraphs)


def alike(random_: random.Random) -> str:
    """A page whose sentences all have the same length, so that nothing but their words tells borders apart."""
    return " ".join(
        f"The reading {random_.randint(10_000, 99_999)} was the same as on the day before." for _ in range(24)
    )


def rows(random_: random.Random) -> str:
    """A page of short lines, of which several make a unit."""
    return "\n".join(f"- valve {random_.randint(100, 999)} is {random_.choice(WORDS)}" for _ in range(60))


@pytest.mark.parametrize("make", [varied, alike, rows])
@pytest.mark.parametrize("options", [ChunkSettings(), ChunkSettings(256, 0)])
def test_a_change_on_one_of_500_pages_makes_at_most_2_percent_of_the_chunks_new(make, options) -> None:
    random_ = random.Random(7)
    pages = [Page(number, make(random_)) for number in range(1, 501)]
    before = [chunk.content_hash for chunk in chunk_pages(pages, title="T", settings=options)]
    for changed in (250, 311):
        text = pages[changed].text
        middle = len(text) // 2
        added = "A few sentences more stand here now. " * random_.randint(1, 7)
        edited = [
            *pages[:changed],
            replace(pages[changed], text=f"{text[:middle]} {added}{text[middle:]}"),
            *pages[changed + 1 :],
        ]
        after = [chunk.content_hash for chunk in chunk_pages(edited, title="T", settings=options)]
        new = sum(content_hash not in set(before) for content_hash in after)
        assert 0 < new <= 0.02 * len(before)


def test_a_page_put_in_or_left_out_changes_only_chunks_nearby() -> None:
    random_ = random.Random(8)
    pages = [Page(number, varied(random_)) for number in range(1, 301)]
    before = {chunk.content_hash for chunk in chunk_pages(pages, title="T")}
    without = [chunk.content_hash for chunk in chunk_pages(pages[:100] + pages[101:], title="T")]
    assert sum(content_hash not in before for content_hash in without) <= 6


@pytest.mark.parametrize("make", [varied, alike, rows])
def test_how_many_pages_are_read_at_a_time_changes_no_chunk(make, monkeypatch: pytest.MonkeyPatch) -> None:
    random_ = random.Random(9)
    pages = [Page(number, make(random_), continues=number % 3 == 0) for number in range(1, 81)]
    found = []
    for characters in (1, 10_000, 10_000_000):
        monkeypatch.setattr(units, "_BATCH", characters)
        found.append(list(chunk_pages(pages, title="T", settings=ChunkSettings(128, 30))))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 80
