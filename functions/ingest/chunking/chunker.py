"""Cuts the cleaned text of a document into chunks to embed, as its pages come in.

    read units (units.py) at ranked borders (borders.py) → pack them (packing.py) → count, name and place each chunk

`chunk_pages` is deterministic and holds a few chunks' worth of text at a time, however long the document is.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from string import ascii_letters

from functions.ingest.chunking import tokens
from functions.ingest.chunking.borders import token_starts
from functions.ingest.chunking.packing import Packer, Span, Unit
from functions.ingest.chunking.units import UnitReader
from shared.models import Chunk, Page, content_hash_of, page_separator

_PREFIX_TOKENS = 64  # title and section path before the embedded text: enough to tell documents apart, cheap to repeat
_HEADER_TOKENS = 128  # a repeated table header; with the largest chunk (2,048) far below the model's 8,191
_CACHED_COUNTS = 4096
_EXACT = itemgetter(Unit._fields.index("exact"))
_WORD_END = re.compile(r"(?<=[!-~]) ")  # where a token always begins, see `borders.count_cut`
LEAST_SIZE = 16
"""Tokens of a chunk at least."""
ROOM_FOR_BORDERS = 8
"""Tokens by which a unit is shorter than a chunk, whose first and last word may count more."""


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How large chunks are, in tokens of `encoding`: `size_tokens` at most, `overlap_tokens` of them repeated at most.

    The overlap is whole sentences and never more than half of the size. Raises `ValueError` for a size under 16.
    """

    size_tokens: int = 512
    overlap_tokens: int = 50
    encoding: str = "cl100k_base"

    def __post_init__(self) -> None:
        if self.size_tokens < LEAST_SIZE or self.overlap_tokens < 0:
            raise ValueError("A chunk needs at least 16 tokens and an overlap of 0 or more: correct the settings.")


def join_pages(pages: Iterable[Page]) -> str:
    """Return the document's cleaned text, which the positions of chunks and citations refer to."""
    return "".join(page.text if n == 0 else page_separator(page) + page.text for n, page in enumerate(pages))


def chunk_pages(
    pages: Iterable[Page], *, title: str, settings: ChunkSettings | None = None, language: str = ""
) -> Iterator[Chunk]:
    """Yield the chunks of a document in order, each as soon as no later page can change it.

    Every character that is not white space is in a chunk; `token_count` is exact and at most `settings.size_tokens`;
    `text == join_pages(pages)[char_start:char_end]`. Raises `ConfigurationError` if the vocabulary is missing.
    """
    settings = settings or ChunkSettings()
    encode = tokens.encoding(settings.encoding).encode_ordinary
    writer = _Writer(encode, settings, title, language)
    for page in pages:
        yield from writer.add(page)
    yield from writer.finish()


class _Writer:
    def __init__(self, encode: Callable[[str], list[int]], settings: ChunkSettings, title: str, language: str) -> None:
        self._encode = encode
        self._count_short = lru_cache(_CACHED_COUNTS)(self._count)  # chunks begin and end with the same few words
        self._size = settings.size_tokens
        self._title = " ".join(title.split())
        self._language = language
        # a little under the size: the first and last word of a chunk may count more than they do in the running text
        self._reader = UnitReader(encode, settings.size_tokens - ROOM_FOR_BORDERS)
        self._packer = Packer(settings.size_tokens, settings.overlap_tokens)
        self._prefixes: dict[str, str] = {}
        self._index = 0

    def add(self, page: Page) -> Iterator[Chunk]:
        units = self._reader.add(page)
        if units is None:
            return
        self._packer.extend(units)
        if spans := self._packer.settled():
            yield from chain.from_iterable(map(self._chunks_of, spans))
            self._reader.discard_before(self._packer.discard_settled())

    def finish(self) -> Iterator[Chunk]:
        self._packer.extend(self._reader.finish())
        yield from chain.from_iterable(map(self._chunks_of, self._packer.finish(self._reader.end())))

    def _chunks_of(self, span: Span) -> Iterator[Chunk]:
        """Yield the chunk: with less overlap if it is too long, cut in two if even that is not enough."""
        first, own, end = span
        unit = Unit(*self._packer.units[own])
        for begin in range(first, own + 1):
            start, text, count = self._measure(begin, end)
            if not text:  # a blank line of code on its own
                return
            if count <= self._size:
                yield self._chunk(start, text, count, unit)
                return
        if end - own > 1:
            middle = (own + end) // 2
            yield from self._chunks_of(Span(own, own, middle))
            yield from self._chunks_of(Span(middle, middle, end))
            return
        start, text, _ = self._measure(own, end)
        edges = [0, *token_starts(text, 0, len(text), self._size // 4), len(text)]
        for begin, stop in pairwise(edges):
            if part_text := text[begin:stop].rstrip():
                yield self._chunk(start + begin, part_text, self._count(part_text), unit)

    def _measure(self, first: int, end: int) -> tuple[int, str, int]:
        """Return start, text and exact token count of some units; only the ends, which the cut changed, are encoded.

        The text's end is trimmed.
        """
        packer, reader, count = self._packer, self._reader, self._count_short
        units = packer.units
        start, cut, *_ = units[first]
        next_start, stop_cut, *_ = units[end]
        text = reader.trimmed(start, next_start)
        is_last_blank = len(text) <= units[end - 1][1] - start  # then the end of the unit before it was trimmed as well
        if end - first == 1 or is_last_blank or not all(map(_EXACT, units[first + 1 : end])):
            return start, text, self._count(text)
        tokens = packer.total[end] - packer.total[first]
        if cut < start:
            limit = units[first + 1][1] - start
            space = _WORD_END.search(text, 1, limit)
            word = text[: space.start() if space else limit]
            tokens += count(word) - count(reader.text(cut, start) + word)
        if start + len(text) != stop_cut:
            tail = units[end - 1][1] - start
            if text[-1] in ".:!?" and text[-2] in ascii_letters:  # a word and its stop are never one token
                begin = len(text) - 1
            else:
                begin = text.rfind(" ", tail + 1)
                begin = begin if begin > 0 and "!" <= text[begin - 1] <= "~" else tail
            tokens += count(text[begin:]) - count(reader.text(start + begin, stop_cut))
        return start, text, tokens

    def _count(self, text: str) -> int:
        return len(self._encode(text))

    def _chunk(self, start: int, text: str, count: int, own: Unit) -> Chunk:
        table = self._above(own.header, text) if own.header else ""
        embedded = self._prefix(own.section)
        if table:
            embedded += table + "\n"
        embedded += text
        pages = self._reader.pages_between(start, start + len(text))
        index = self._index
        self._index += 1
        return Chunk(
            index=index,
            text=text,
            embedded_text=embedded,
            token_count=count,
            page_start=pages[0].number,
            page_end=pages[-1].number,
            char_start=start,
            char_end=start + len(text),
            content_hash=content_hash_of(embedded),
            page_label=pages[0].label,
            section=own.section,
            language=self._language,
            pages=pages,
            sections=self._reader.sections_between(start, start + len(text)),
            rects=self._reader.rects_between(start, start + len(text)),
            table=table,
        )

    def _above(self, header: str, text: str) -> str:
        """Return the lines above a table that a piece of it lacks: none for its first piece."""
        return self._clip("\n".join(line for line in header.split("\n") if line not in text), _HEADER_TOKENS)

    def _prefix(self, section: str) -> str:
        """Return the lines before a chunk's embedded text: the title, never twice, and the section path."""
        prefix = self._prefixes.get(section)
        if prefix is None:
            lines = [section] if self._title and section.startswith(self._title) else [self._title, section]
            prefix = self._clip("\n".join(line for line in lines if line), _PREFIX_TOKENS)
            prefix = self._prefixes[section] = prefix + "\n\n" if prefix else ""
        return prefix

    def _clip(self, text: str, most_tokens: int) -> str:
        """Return `text`, or its beginning if it is longer than `most_tokens`."""
        text = text[: 16 * most_tokens]
        if len(text) <= most_tokens and text.isascii():  # no token is shorter than a byte
            return text
        while self._count(text) > most_tokens:
            text = text[: len(text) * 3 // 4].rstrip()
        return text
