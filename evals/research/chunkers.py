"""The chunkers that are compared: ours and the libraries', each as `text -> [(start, end, embedded text)]`.

All count tokens of cl100k with the same tokenizer, which is never fetched. Where a library gives no positions, a chunk
is looked for in the text from where the last one began.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import import_module
from itertools import pairwise
from typing import Any

from evals.errors import EvalError, not_installed
from evals.storage import ResultCache
from evals.systems.peers import versions_of
from functions.ingest.chunking import tokens
from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from shared.models import Page

CutPiece = tuple[int, int, str]
Split = Callable[[str], list[CutPiece]]
PUBLISHED_OVERLAPS = {200: 0, 250: 125, 256: 0, 400: 0, 512: 50}
"""Overlap in tokens by size: 200/0 and 250/125 are Chroma's, 512/50 is our default."""


@dataclass(frozen=True, slots=True)
class Chunker:
    """A way to cut a text; `size_tokens` and `overlap_tokens` are what was asked for.

    `set_to` is the size it was given instead, so that its chunks are as large as ours on average.
    """

    name: str
    size_tokens: int
    overlap_tokens: int
    split: Split
    set_to: int = 0

    @property
    def title(self) -> str:
        """Name, size and overlap."""
        return f"{self.name} {self.set_to or self.size_tokens}/{self.overlap_tokens}"


def chunker(name: str, size: int) -> Chunker:
    """Return a chunker by name for a size in tokens. Raises `EvalError` for an unknown name or a missing library."""
    if name not in _BUILDERS:
        raise EvalError(f"There is no chunker {name!r}: choose from {', '.join(_BUILDERS)}.")
    overlap = PUBLISHED_OVERLAPS.get(size, size // 10)
    if name in _WITHOUT_OVERLAP:
        overlap = 0
    try:
        return Chunker(name, size, overlap, _BUILDERS[name](size, overlap))
    except ModuleNotFoundError as error:
        raise not_installed(f"The chunker {name}", error, group="research") from error


def mean_tokens(corpora: Iterable[str], split: Split) -> float:
    """Return how many tokens a chunk of these texts has on average."""
    sizes = [_count(text[start:end]) for text in corpora for start, end, _ in split(text)]
    return sum(sizes) / max(1, len(sizes))


def matched(each: Chunker, wanted: float, corpora: Sequence[str], kept: ResultCache) -> Chunker:
    """Return the chunker set so that its chunks have `wanted` tokens on average, with the same overlap asked for.

    Libraries fill chunks to different degrees, so the same limit does not give the same size. The chunk sizes at the
    limits that were tried are `kept`: finding them takes longer than the measurement itself.
    """
    depends_on = {
        "chunker": each.name,
        "overlap": each.overlap_tokens,
        "versions": versions_of(*_PACKAGES.get(each.name, ()), "tiktoken"),
        "texts": [sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in corpora],
    }

    def mean_at(size: int) -> float:
        return kept.get(
            "chunk-means",
            {**depends_on, "size": size},
            lambda: mean_tokens(corpora, _BUILDERS[each.name](size, each.overlap_tokens)),
        )

    low, high = int(0.8 * wanted), int(2 * wanted)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if mean_at(middle) < wanted else (low, middle)
    best = min((low, high), key=lambda size: abs(mean_at(size) - wanted))
    return replace(each, set_to=best, split=_BUILDERS[each.name](best, each.overlap_tokens))


def _count(text: str) -> int:
    return len(tokens.encoding("cl100k_base").encode_ordinary(text))


def _recto(size: int, overlap: int) -> Split:
    settings = ChunkSettings(size, overlap)

    def split(text: str) -> list[CutPiece]:
        chunks = chunk_pages([Page(1, text)], title="", settings=settings)
        return [(chunk.char_start, chunk.char_end, chunk.embedded_text) for chunk in chunks]

    return split


def _langchain(size: int, overlap: int) -> Split:
    library = import_module("langchain_text_splitters")
    splitter = library.RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, length_function=_count)
    return lambda text: _located(text, splitter.split_text(text))


def _llamaindex(size: int, overlap: int) -> Split:
    library = import_module("llama_index.core.node_parser")
    encode = tokens.encoding("cl100k_base").encode_ordinary
    splitter = library.SentenceSplitter(chunk_size=size, chunk_overlap=overlap, tokenizer=encode)
    return lambda text: _located(text, splitter.split_text(text))


def _semchunk(size: int, _overlap: int) -> Split:
    split_text = import_module("semchunk").chunkerify(_count, chunk_size=size)

    def split(text: str) -> list[CutPiece]:
        pieces, offsets = split_text(text, offsets=True)
        return [(start, end, piece) for piece, (start, end) in zip(pieces, offsets, strict=True)]

    return split


def _chonkie(size: int, _overlap: int) -> Split:
    splitter: Any = import_module("chonkie").RecursiveChunker(tokenizer=_count, chunk_size=size)
    return lambda text: [(each.start_index, each.end_index, each.text) for each in splitter(text)]


def _fixed(size: int, _overlap: int) -> Split:
    """Cut after every `size` tokens: the baseline."""
    encoding = tokens.encoding("cl100k_base")

    def split(text: str) -> list[CutPiece]:
        encoded = encoding.encode_ordinary(text)
        _, offsets = encoding.decode_with_offsets(encoded)
        borders = [*offsets[::size], len(text)]
        return [(start, end, text[start:end]) for start, end in pairwise(borders) if start < end]

    return split


_BUILDERS: dict[str, Callable[[int, int], Split]] = {
    "recto": _recto,
    "langchain": _langchain,
    "llamaindex": _llamaindex,
    "semchunk": _semchunk,
    "chonkie": _chonkie,
    "fixed": _fixed,
}
_PACKAGES = {
    "langchain": ("langchain-text-splitters",),
    "llamaindex": ("llama-index-core",),
    "semchunk": ("semchunk",),
    "chonkie": ("chonkie",),
}
_WITHOUT_OVERLAP = {"semchunk", "chonkie", "fixed"}
CHUNKERS = tuple(_BUILDERS)


def _located(text: str, pieces: Iterable[str]) -> list[CutPiece]:
    found = []
    start = 0
    for piece in pieces:
        at = text.find(piece, start)
        if at < 0:
            at = text.find(piece)
        if at < 0:
            continue  # the library changed the text; a chunk that cannot be found holds no gold either
        found.append((at, at + len(piece), piece))
        start = at + 1
    return found
