"""How documents that were read are cut stays as it is stored; `make snapshots` rewrites it (decision 76)."""

import random
from pathlib import Path
from zlib import crc32

import pytest

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from shared.models import Page
from tests.support.retold import chunks_told, parsed
from tests.support.snapshots import check, check_names
from tests.support.varied_documents import document_of
from tests.support.varied_text import Author, plain_text

FOLDER = Path(__file__).parent / "snapshots"
SETTINGS = {
    "tiny": ChunkSettings(40, 10),
    "small": ChunkSettings(80, 20),
    "medium": ChunkSettings(160, 40),
    "usual": ChunkSettings(),
    "wide": ChunkSettings(300, 120),
}
READ = ("reports", "outlines", "continued", "briefs", "tables", "lists", "code", "languages", "doubtful", "columns")


@pytest.mark.parametrize("size", SETTINGS)
def test_documents_are_cut_where_they_were_cut_before(size: str) -> None:
    told: list[str] = []
    for number, kind in enumerate(READ):
        parse, pages = parsed(*document_of(kind, number % 3))
        told.append(f"=== {kind} {number % 3}")
        told.append(chunks_told(pages, SETTINGS[size], title=parse.title, language=parse.language))
    check(FOLDER / f"{size}.txt", "\n".join(told))


PLAIN = {
    "plain-tiny": ChunkSettings(24, 6),
    "plain-small": ChunkSettings(48, 12),
    "plain-medium": ChunkSettings(120, 0),
    "plain-other": ChunkSettings(96, 24, "o200k_base"),
}


@pytest.mark.parametrize("size", PLAIN)
def test_plain_text_is_cut_where_it_was_cut_before(size: str) -> None:
    told: list[str] = []
    for number in range(8):
        pick = random.Random(f"{size} {number}")
        pages = [Page(at, plain_text(pick), continues=at > 1 and pick.random() < 0.3) for at in range(1, 4)]
        told += [f"=== {number}", chunks_told(pages, PLAIN[size], title=pick.choice(("", "A title")), language="en")]
    check(FOLDER / f"{size}.txt", "\n".join(told))


def test_many_texts_are_cut_into_the_same_chunks() -> None:
    told: list[str] = []
    for number in range(80):
        pick = random.Random(f"many {number}")
        settings = ChunkSettings(size := pick.randint(16, 160), pick.randint(0, size // 2))
        pages = [Page(at, plain_text(pick), continues=pick.random() < 0.2) for at in range(1, pick.randint(2, 5))]
        title = pick.choice(("", "A title", "A title of many words " * 30))
        chunks = list(chunk_pages(pages, title=title, settings=settings))
        spans = " ".join(f"{each.char_start}-{each.char_end}-{each.content_hash}" for each in chunks)
        told.append(f"{number}: {settings.size_tokens} tokens, {len(chunks)} chunks, {crc32(spans.encode()):08x}")
    check(FOLDER / "many.txt", "\n".join(told))


@pytest.mark.parametrize("size", ["small", "medium", "usual"])
def test_a_long_document_is_cut_as_its_pages_come_in(size: str) -> None:
    """Its chunks are settled before its end is known."""
    told: list[str] = []
    for number in range(2):
        pick = random.Random(f"long {size} {number}")
        texts = ["\n\n".join(Author(pick).paragraph(2, 9) for _ in range(pick.randint(2, 9))) for _ in range(60)]
        pages = [Page(at, text, continues=pick.random() < 0.3 * number) for at, text in enumerate(texts, 1)]
        chunks = list(chunk_pages(pages, title="A book", settings=SETTINGS[size]))
        told += [
            f"{each.char_start}-{each.char_end} {each.token_count} {each.page_start}" for each in chunks[:: 3 - number]
        ]
    check(FOLDER / f"long-{size}.txt", "\n".join(told))


def test_every_stored_text_is_compared() -> None:
    check_names(FOLDER, ["many", *SETTINGS, *PLAIN, *(f"long-{size}" for size in ("small", "medium", "usual"))])
