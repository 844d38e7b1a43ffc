"""What did not change is not embedded again."""

from collections.abc import Iterator

import pytest

from functions.ingest.embedding import REACH
from tests.support.ingest import Stack, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import World, world_of


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


def pages_of(count: int, *, changed: int = -1) -> list[str]:
    pages = [prose("Page", sentences=12, seed=n) for n in range(count)]
    if changed >= 0:
        pages[changed] = prose("Changed", sentences=11, seed=7)
    return pages


def test_one_changed_page_of_many_embeds_only_its_own_chunks(stack: Stack) -> None:
    with world_of(stack, chunk_size_tokens=128, chunk_overlap_tokens=16, embedding_batch_inputs=64) as world:
        key = "uploads/reuse/book.pdf"
        asked = record_inputs(world)
        world.put(key, pdf_of(pages_of(60), title="Book"))
        assert world.deliver(world.message_for(key))
        first = stack.document(key)
        assert sum(asked) == first.chunk_count
        asked.clear()
        world.put(key, pdf_of(pages_of(60, changed=30), title="Book"))
        assert world.deliver(world.message_for(key))
        second = stack.document(key)
        assert second.generation != first.generation
        assert 1 <= sum(asked) <= 6, f"{sum(asked)} of {second.chunk_count} chunks were embedded"
        texts = world.published(key)
        assert len(texts) == second.chunk_count
        assert any("Changed" in text for text in texts.values())


def test_pages_put_in_shift_the_rest_without_embedding_it_again(stack: Stack) -> None:
    with world_of(stack, chunk_size_tokens=128, chunk_overlap_tokens=16, embedding_batch_inputs=64) as world:
        key = "uploads/reuse/longer.pdf"
        asked = record_inputs(world)
        world.put(key, pdf_of(pages_of(60), title="Book"))
        assert world.deliver(world.message_for(key))
        asked.clear()
        longer = pages_of(60)
        longer[10:10] = [prose("Inserted", sentences=12, seed=n) for n in range(4)]
        world.put(key, pdf_of(longer, title="Book"))
        assert world.deliver(world.message_for(key))
        inserted = sum("Inserted" in text for text in world.published(key).values())
        assert inserted <= sum(asked) <= inserted + 6


def test_a_few_last_pages_of_a_long_document_are_not_embedded_again(stack: Stack) -> None:
    with world_of(stack, chunk_size_tokens=128, chunk_overlap_tokens=16, embedding_batch_inputs=64) as world:
        key = "uploads/reuse/shorter.pdf"
        asked = record_inputs(world)
        world.put(key, pdf_of(pages_of(60), title="Book"))
        assert world.deliver(world.message_for(key))
        before = sum(asked)
        asked.clear()
        world.put(key, pdf_of(pages_of(60)[52:], title="Book"))
        assert world.deliver(world.message_for(key))
        after = stack.document(key).chunk_count
        assert before - after > after + REACH, "what is left stands too near to where it stood"
        assert sum(asked) <= 2, f"{sum(asked)} of {after} chunks were embedded"


def record_inputs(world: World) -> list[int]:
    """Note the number of texts of every embeddings request."""
    asked: list[int] = []
    guarded = world.batch.reconciler.access.configured.embedder.embedder
    original = guarded._port.embed

    def embed(texts: list[str], *, timeout_s: float) -> object:
        asked.append(len(texts))
        return original(texts, timeout_s=timeout_s)

    guarded._port.embed = embed
    return asked
