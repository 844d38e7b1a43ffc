"""A passage: a retrieved chunk that answers may be made from, parsed from a vector's metadata."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from functions.query.retrieval.filters import matches
from shared.identity import periods_in
from shared.models import Filter, Match, PageStart, SectionStart, SourceType


class Boost(NamedTuple):
    """Adds `lift`, in units of cosine, to the score of passages whose metadata match `filter`."""

    filter: Filter
    lift: float


class Passage(NamedTuple):
    """A chunk as stored, or neighbouring chunks joined. Positions count in the document's cleaned text.

    A named tuple, because a question reads a hundred of them: a frozen dataclass takes six times as long to make.

    `organisations`, `kind` and `periods` are of the document's identity card.
    `score` is the cosine similarity to the question where `has_similarity`; `rank_score` orders passages of one search
    and means nothing else; `boost` is what the tenant's glossary adds to it. `key` is the name that searches know the
    source by (of a knowledge file, that of the passage); `object_key` and `version_id` name the object in the bucket;
    `rects` says where the lines stand on their pages (`shared.rects`). Of a
    corrected passage, `edit` is the hash of the correction, and positions count in the correction, from 0. `ocr`: some
    of it was read from pictures. `described_by` names the model whose words about a figure it is: they stand nowhere in
    the document, and positions are behind its text. `table` is what stands above the piece of a table that it begins
    with; `table_ends`: the table that it ends with is known not to go on.
    """

    chunk_id: str
    document_id: str
    generation: str
    source_type: SourceType
    title: str
    section: str
    text: str
    score: float
    chunk_index: int
    token_count: int
    page_start: int
    page_end: int
    page_label: str
    char_start: int
    content_hash: str
    key: str = ""
    object_key: str = ""
    version_id: str = ""
    rects: str = ""
    language: str = ""
    cover: str = ""
    organisations: tuple[str, ...] = ()
    kind: str = ""
    periods: tuple[str, ...] = ()
    pages: tuple[PageStart, ...] = ()
    sections: tuple[SectionStart, ...] = ()
    rank_score: float = 0.0
    boost: float = 0.0
    has_similarity: bool = True
    edit: str = ""
    ocr: bool = False
    table: str = ""
    described_by: str = ""
    table_ends: bool = False

    @property
    def corrected(self) -> bool:
        """Whether an editor has replaced its text."""
        return self.edit != ""

    @property
    def similarity(self) -> float | None:
        """The cosine similarity to the question, None where it is not known."""
        return self.score if self.has_similarity else None

    @property
    def above(self) -> str:
        """The lines that belong above its text: the title and header of the table that it goes on with."""
        return f"{self.table}\n" if self.table else ""

    @property
    def whole(self) -> str:
        """Its text below those lines: what a reader of the table sees."""
        return self.above + self.text

    @property
    def char_end(self) -> int:
        """The position after the last character."""
        return self.char_start + len(self.text)

    @classmethod
    def of(cls, match: Match, boosts: Sequence[Boost] = ()) -> "Passage":
        """Read a match's metadata; what is missing gets an empty value, because other writers may share the index."""
        metadata = match.metadata
        read = metadata.get

        def text(name: str) -> str:
            value = read(name)
            return value if isinstance(value, str) else ""

        edit, source_type, key = text("edit"), text("source_type"), text("source_id")
        pages, sections = (None, None) if edit else (metadata.get("pages"), metadata.get("sections"))
        # By their places: so many keywords take three times as long.
        return cls(
            match.id,
            text("document_id"),
            text("generation"),
            SourceType(source_type or SourceType.PDF),
            text("title"),
            text("section"),
            text("text"),
            match.score,
            _number(metadata, "chunk_index"),
            _number(metadata, "token_count"),
            _number(metadata, "page_start"),
            _number(metadata, "page_end"),
            text("page_label"),
            0 if edit else _number(metadata, "char_start"),
            text("content_hash"),
            key,
            # What was indexed before `INGEST_VERSION` 6 has the key in the bucket only where it is a PDF.
            text("object_key") or (key if source_type == SourceType.PDF else ""),
            text("version_id"),
            text("rects"),
            text("language"),
            text("cover"),
            _texts(metadata, "organisation"),
            text("kind"),
            _periods(_texts(metadata, "period")),
            tuple(map(_page, pages)) if isinstance(pages, list) else (),
            tuple(map(_section, sections)) if isinstance(sections, list) else (),
            boost=sum(boost.lift for boost in boosts if matches(boost.filter, metadata)) if boosts else 0.0,
            edit=edit,
            ocr=metadata.get("ocr") is True,
            table="" if edit else text("table"),
            described_by=text("described_by"),
        )

    def page_at(self, char: int) -> PageStart:
        """Return the page that holds the document position `char`."""
        at = bisect_right(self.pages, char, key=lambda page: page.char_start) - 1
        return self.pages[at] if at >= 0 else PageStart(self.page_start, self.char_start, self.page_label)

    def section_at(self, char: int) -> str:
        """Return the path of the section that holds the document position `char`."""
        at = bisect_right(self.sections, char, key=lambda section: section.char_start) - 1
        return self.sections[at].path if at >= 0 else "" if self.sections else self.section


def last_title(section: str) -> str:
    """Return the last title of a section's path: "Fees" of "Part 2 > Fees"."""
    return section.rpartition(" > ")[2]


# Cached, because many questions find the same passages, and neighbours share pages.
_page = lru_cache(maxsize=10_000)(PageStart.parse)
_section = lru_cache(maxsize=10_000)(SectionStart.parse)


@lru_cache(maxsize=1_000)
def _periods(named: tuple[str, ...]) -> tuple[str, ...]:
    """Return periods in their one form: an editor may have written another."""
    return tuple(dict.fromkeys(period for name in named for period in periods_in(name)))


def _texts(metadata: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = metadata.get(name, ())
    return tuple(map(str, value)) if isinstance(value, list) else (value,) if value and isinstance(value, str) else ()


def _number(metadata: Mapping[str, Any], name: str) -> int:
    value = metadata.get(name, 0)
    return int(value) if isinstance(value, (int, float)) else 0
