"""The stored text of one page, put together again from the chunks of the published generation.

Chunks are exact spans of the document's cleaned text, so the page's text and every position in it are exact, too. Only
the white space between two chunks is not stored: it is filled in at its length, so that positions stay right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from functions.query.ports import VectorSearch
from functions.query.retrieval.neighbours import filter_for
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.retrieve import SEARCH_TIMEOUT_S
from shared.deadline import Deadline
from shared.models import Filter, Match, PageStart

MAX_CHUNKS = 400
"""Chunks of one page that are read: with their texts, they stay under Pinecone's 4 MB per response."""
PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class GenerationAddress:
    """Where the chunks of one generation of a document are, and how many there should be.

    `originals` are the texts of corrected passages as they stand in the document, by their hash: a page's text and
    positions are the document's.
    """

    namespace: str
    dimensions: int
    document_id: str
    generation: str
    chunk_count: int
    originals: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TextSpan:
    """From the first character's position to the position after the last."""

    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page. `text[n - char_start]` is the character at the document's position `n`.

    `passages` are the chunks that reach into the page, in order. `missing` are the spans whose chunks are not in the
    index (`text` has spaces there); `complete` says that there is none, and that the page ends where the text ends.
    """

    number: int
    label: str
    char_start: int
    text: str
    passages: Sequence[Passage]
    missing: Sequence[TextSpan]
    complete: bool


def read_page(number: int, at: GenerationAddress, index: VectorSearch, deadline: Deadline) -> PageText | None:
    """Read a page's chunks, and the next one, which shows that none is missing; None if no chunk reaches into it.

    Raises `DependencyError`.
    """
    wanted: Filter = {"page_start": {"$lte": number}, "page_end": {"$gte": number}}
    found = [each for each in _read(at, wanted, MAX_CHUNKS, index, deadline) if not each.described_by]
    if not found:
        return None
    last = found[-1]
    is_cut = last.page_end == number and last.chunk_index + 1 < at.chunk_count
    following = passages_at(at, [last.chunk_index + 1], index, deadline) if is_cut else []
    return page_of(number, found, following, ends=bool(following) or not is_cut)


def passages_at(
    at: GenerationAddress, chunks: Sequence[int], index: VectorSearch, deadline: Deadline
) -> Sequence[Passage]:
    """Return those chunks of the generation that are in the index, in order. Raises `DependencyError`."""
    if not chunks:
        return []
    wanted = filter_for([(at.document_id, at.generation, number) for number in chunks], None)
    return _read(at, wanted, len(chunks), index, deadline)


def page_of(number: int, passages: Sequence[Passage], following: Sequence[Passage], *, ends: bool) -> PageText:
    """Put a page together from the chunks that reach into it, in order.

    `following` is the chunk after them, if it is in the index; `ends` says that no chunk of the page can come after.
    """
    starts = {page.number: page for each in (*passages, *following) for page in each.pages}
    own = starts.get(number, PageStart(number, passages[0].char_start, passages[0].page_label))
    stop = min((page.char_start for page in starts.values() if page.number > number), default=passages[-1].char_end)
    text, missing, before = "", [], -1
    for each in passages:
        end = own.char_start + len(text)
        gap = each.char_start - end
        if gap > 0 and each.chunk_index != before + 1:
            missing.append(TextSpan(end, each.char_start))
        text += _white(gap) + each.text[max(0, -gap) :]
        before = each.chunk_index
    text = text[: stop - own.char_start].rstrip()
    return PageText(number, own.label, own.char_start, text, passages, missing, ends and not missing)


def _white(length: int) -> str:
    return PARAGRAPH if length == len(PARAGRAPH) else " " * length


def _read(
    at: GenerationAddress, wanted: Filter, at_most: int, index: VectorSearch, deadline: Deadline
) -> Sequence[Passage]:
    """Return the generation's chunks that a filter matches, in order."""
    own = {"document_id": {"$eq": at.document_id}, "generation": {"$eq": at.generation}}
    matches = index.query(
        namespace=at.namespace,
        vector=[1.0, *[0.0] * (at.dimensions - 1)],
        top_k=at_most,
        filter={"$and": [own, wanted]},
        timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=1.0),
    )
    passages = [Passage.of(_as_written(match, at.originals)) for match in matches]
    return sorted(passages, key=lambda each: each.chunk_index)


def _as_written(match: Match, originals: Mapping[str, str]) -> Match:
    """Return a chunk with the document's own text in place of a correction."""
    original = originals.get(str(match.metadata.get("original_hash", "")))
    if not match.metadata.get("edit") or original is None:
        return match
    return replace(match, metadata={**match.metadata, "text": original, "edit": ""})
