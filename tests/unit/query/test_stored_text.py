"""A page put together from chunks is the page, character by character, where the positions say."""

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.query.retrieval.passages import Passage
from functions.query.stored_text import PageText, page_of
from shared.models import Chunk, Page, page_separator
from tests.support.query import passage

WORDS = ["alpha", "beta", "gamma", "delta", "žąsis", "漢字", "one", "two"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(
    lambda words: " ".join(words).capitalize() + "."
)
PARAGRAPHS = st.lists(SENTENCES, min_size=1, max_size=5).map(" ".join)
PAGES = st.lists(st.lists(PARAGRAPHS, min_size=0, max_size=4).map("\n\n".join), min_size=1, max_size=5)


def passages_of(chunks: list[Chunk]) -> list[Passage]:
    names = ("text", "char_start", "page_start", "page_end", "page_label")
    return [
        passage(
            **{name: asdict(chunk)[name] for name in names},
            chunk_index=chunk.index,
            pages=tuple(chunk.pages),
            chunk_id=f"d#g#{chunk.index}",
        )
        for chunk in chunks
    ]


def page_from(passages: list[Passage], number: int) -> PageText | None:
    own = [each for each in passages if each.page_start <= number <= each.page_end]
    following = [each for each in passages if own and each.chunk_index == own[-1].chunk_index + 1]
    return page_of(number, own, following, ends=True) if own else None


@given(texts=PAGES, overlap=st.sampled_from([0, 4]))
def test_every_page_is_put_together_exactly(texts: list[str], overlap: int) -> None:
    pages = [Page(number, text) for number, text in enumerate(texts, start=1)]
    chunks = list(chunk_pages(pages, title="", settings=ChunkSettings(24, overlap)))
    whole = ""
    for page in pages:
        whole += (page_separator(page) if page.number > 1 else "") + page.text
        found = page_from(passages_of(chunks), page.number)
        if not page.text:  # a chunk may reach over an empty page
            assert found is None or (found.text, found.complete) == ("", True)
            continue
        assert found is not None
        assert found.complete
        assert found.text.split() == page.text.split()
        assert len(found.text) == len(page.text)
        assert whole[found.char_start :] == page.text
        for at, character in enumerate(found.text):
            assert character == page.text[at] or page.text[at].isspace()


def test_a_missing_chunk_is_told_and_moves_no_position() -> None:
    sentences = [f"Sentence number {n} says something of its own about the kiln." for n in range(12)]
    text = " ".join(sentences)
    chunks = list(chunk_pages([Page(1, text)], title="", settings=ChunkSettings(32, 0)))
    lost = chunks[1]
    found = page_from(passages_of([each for each in chunks if each.index != 1]), 1)
    assert found is not None
    assert not found.complete
    (span,) = found.missing
    assert span.char_start <= lost.char_start < lost.char_end <= span.char_end
    last = chunks[-1]
    assert found.text[last.char_start : last.char_end] == last.text
    assert not found.text[lost.char_start : lost.char_end].strip()
