"""The made passages, claims and questions of the query side's snapshot tests, and results as readable text.

The inputs are the files in `tests/unit/query/made`; each says at its top how it is written.
"""

import math
import random
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.search import Search
from local.pinecone.filters import matches as passes_filter
from local.pinecone.filters import parse_filter
from shared.models import (
    NO_USAGE,
    Embeddings,
    Filter,
    Labels,
    Match,
    Message,
    MetadataValue,
    SourceType,
    SparseVector,
    Usage,
    content_hash_of,
)
from shared.ports import CatalogueEntry
from shared.settings import Settings
from tests.support.query import FakeChat, FakeEmbedder, FakeSearch, passage, query_ports

MADE = Path(__file__).parents[1] / "unit" / "query" / "made"


# --- the passages ---


@cache
def library() -> Mapping[str, Passage]:
    """Return the made passages by id. Those of one document follow each other in its text."""
    return _passages_of("library.txt")


@cache
def unsearched() -> Mapping[str, Passage]:
    """Return the made passages that only claims are about: what a search finds does not change with them."""
    return _passages_of("unsearched.txt")


def _passages_of(name: str) -> Mapping[str, Passage]:
    found: dict[str, Passage] = {}
    ends: dict[str, int] = {}
    numbers: dict[str, int] = {}
    for entry in _read(name).split("\n=== ")[1:]:
        head, text = entry.split("\n---\n", 1)
        name, *lines = head.splitlines()
        text = text.strip()
        about = dict(line.split(":", 1) for line in lines)
        document, _, place = name.partition("/")
        begin = ends.get(document, 0)
        ends[document] = begin + len(text) + 2
        found[name] = passage(
            text,
            n=numbers.setdefault(document, len(numbers) + 1),
            title=about["title"].strip(),
            chunk_id=f"{document}#g1#{int(place) - 1}",
            document_id=document,
            section=about["section"].strip(),
            chunk_index=int(place) - 1,
            page_start=int(place) + 2,
            page_end=int(place) + 2,
            char_start=begin,
            key=about["key"].strip(),
            object_key=about["key"].strip(),
            language=about.get("language", "en").strip(),
            kind=about.get("kind", "").strip(),
            organisations=tuple(filter(None, [about.get("organisations", "").strip()])),
            periods=tuple(filter(None, about.get("periods", "").strip().split(";"))),
            score=round(0.75 - 0.02 * int(place), 2),
        )
    return found


def matches() -> list[Match]:
    """Return the made passages as the index stores them."""
    return [_match(each) for each in library().values()]


def _match(made: Passage) -> Match:
    metadata: dict[str, MetadataValue] = {
        "document_id": made.document_id,
        "generation": made.generation,
        "source_type": SourceType.PDF.value,
        "source_id": made.key,
        "title": made.title,
        "section": made.section,
        "language": made.language,
        "kind": made.kind,
        "organisation": list(made.organisations),
        "period": list(made.periods),
        "text": made.text,
        "chunk_index": made.chunk_index,
        "token_count": made.token_count,
        "page_start": made.page_start,
        "page_end": made.page_end,
        "char_start": made.char_start,
        "content_hash": content_hash_of(made.text),
    }
    return Match(made.chunk_id, 0.0, metadata)


# --- claims ---


@dataclass(frozen=True)
class Block:
    """Claims about the passages `ids`, each with its sign: "+" true, "-" false, "=" true in another language."""

    ids: Sequence[str]
    question: str
    claims: Sequence[tuple[str, str]]

    @property
    def name(self) -> str:
        """The name of its snapshot."""
        return "-".join(self.ids).replace("/", "")

    @property
    def sources(self) -> list[Passage]:
        """Its passages."""
        return [{**library(), **unsearched()}[each] for each in self.ids]


@cache
def blocks() -> Sequence[Block]:
    """Return the claims."""
    found = []
    for entry in _read("claims.txt").split("\n@ ")[1:]:
        ids, *lines = [line for line in entry.splitlines() if line]
        question = next((line[2:] for line in lines if line.startswith("? ")), "")
        found.append(Block(ids.split(), question, [(line[0], line[2:]) for line in lines if line[:2] in SIGNS]))
    return found


SIGNS = ("+ ", "- ", "= ")


def varied(text: str, draw: random.Random) -> str:
    """Return a text with one word left out, put in, exchanged or moved, or one number changed."""
    words = text.split(" ")
    places = [at for at, word in enumerate(words) if re.search(r"\d", word)]
    way = draw.choice(("number", "number", "out", "in", "in", "exchange", "move", "cut")) if places else "word"
    if way == "word":
        way = draw.choice(("out", "out", "in", "in", "exchange", "move", "cut"))
    at = draw.randrange(len(words))
    if way == "number":
        at = draw.choice(places)
        words[at] = re.sub(r"\d", lambda digit: str((int(digit[0]) + draw.randrange(1, 10)) % 10), words[at], count=1)
    elif way == "out":
        del words[at]
    elif way == "in":
        words.insert(at, draw.choice(PUT_IN))
    elif way == "exchange":
        other = draw.randrange(len(words))
        words[at], words[other] = words[other], words[at]
    elif way == "move":
        words.insert(draw.randrange(len(words)), words.pop(at))
    else:
        words = words[: max(2, at)]
    return " ".join(words)


PUT_IN = (
    "not", "never", "only", "some", "all", "most", "about", "more", "less", "at", "least", "up", "to", "before",
    "after", "unless", "if", "when", "without", "may", "must", "should", "always", "usually", "also", "no", "every",
    "each", "first", "last", "million", "thousand", "percent", "because", "and", "or", "than", "by", "from",
    "possibly", "reportedly", "allegedly", "planned", "former", "new", "other", "second", "both", "neither",
)  # fmt: skip


# --- questions ---


class Asked(NamedTuple):
    """A question, and the language that the client names for the answer."""

    text: str
    language: str = ""


@cache
def questions() -> Mapping[str, Sequence[Asked]]:
    """Return the questions by heading."""
    found: dict[str, list[Asked]] = {}
    heading = ""
    for line in _read("questions.txt").splitlines():
        if line.startswith("# ---"):
            heading = line.strip("# -")
        elif line and not line.startswith("#"):
            language = re.match(r"(\w\w): ", line)
            found.setdefault(heading, []).append(Asked(line[4:], language[1]) if language else Asked(line))
    return found


@cache
def conversations() -> Sequence[tuple[Sequence[Message], str]]:
    """Return what was said before, and the question asked then."""
    found = []
    for entry in re.split(r"\n\n+", _read("conversations.txt").split("\n\n", 1)[1].strip()):
        *said, question = entry.splitlines()
        turns = [line.split(": ", 1) for line in said]
        roles: Mapping[str, Literal["user", "assistant"]] = {"user": "user", "bot": "assistant"}
        found.append(
            (
                [
                    Message(f"m{at}", roles[who], text, f"2026-01-01T00:00:0{at}Z")
                    for at, (who, text) in enumerate(turns)
                ],
                question.removeprefix("? "),
            )
        )
    return found


def wordings() -> Mapping[str, Sequence[str]]:
    """Return the made wordings by heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in _read("texts.txt").splitlines():
        if line.startswith("# ---"):
            heading = line.strip("# -")
        elif line and not line.startswith("#"):
            text = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), line)
            found.setdefault(heading, []).append(text.replace("⏎", "\n"))
    return found


def drafts() -> Mapping[str, tuple[Sequence[Passage], str]]:
    """Return the made answers of models by name, each with its sources."""
    found = {}
    for entry in _read("drafts.txt").split("\n=== ")[1:]:
        head, _, text = entry.partition("\n")
        name, _, ids = head.partition(" | ")
        found[name] = [library()[each] for each in ids.split()], text.strip("\n")
    return found


def filters() -> Sequence[str]:
    """Return the made filters as JSON."""
    return [line for line in _read("filters.txt").splitlines() if line and not line.startswith("#")]


def _read(name: str) -> str:
    return (MADE / name).read_text(encoding="utf-8")


# --- searching them ---

DIMENSIONS = 48


def vector_of(text: str) -> list[float]:
    """Return a unit vector that is nearer to another the more beginnings of words the two texts share."""
    values = [0.35] * DIMENSIONS
    for word in re.findall(r"\w{3,}", text.lower()):
        values[zlib.crc32(word[:5].encode()) % DIMENSIONS] += 1.0
    length = math.hypot(*values)
    return [value / length for value in values]


class MadeEmbedder(FakeEmbedder):
    """Embeds by the beginnings of words."""

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        super().embed(texts, timeout_s=timeout_s)
        return Embeddings(
            [vector_of(text) for text in texts], Usage(input_tokens=sum(len(each.split()) for each in texts))
        )


class MadeIndex(FakeSearch):
    """Searches the made passages by cosine, and by words where the query has any.

    The searches for a question's parts ask at once, so a search keeps nothing here that another one reads.
    """

    def __init__(self, **errors: Exception) -> None:
        super().__init__(matches(), **errors)

    def query(
        self,
        *,
        namespace: str,
        vector: Sequence[float],
        sparse: SparseVector | None = None,
        top_k: int,
        filter: Filter | None = None,
        timeout_s: float,
        metadata: bool = True,
        is_retry: bool = False,
    ) -> Sequence[Match]:
        found = super().query(
            namespace=namespace,
            vector=vector,
            sparse=sparse,
            top_k=len(self.matches),
            filter=filter,
            timeout_s=timeout_s,
            metadata=metadata,
            is_retry=is_retry,
        )
        return sorted(found, key=lambda each: -each.score)[:top_k]

    def near(self, vector: Sequence[float], wanted: Filter | None) -> Sequence[Match]:
        """Return the passages that a filter lets through with their cosine, best first."""
        passes = parse_filter(wanted or {})
        return sorted(
            (
                replace(each, score=math.sumprod(vector, _vectors()[each.id]))
                for each in self.matches
                if passes_filter(passes, dict(each.metadata))
            ),
            key=lambda each: -each.score,
        )


@cache
def nearest(question: str, count: int) -> Sequence[Passage]:
    """Return the passages that a search by words and beginnings of words finds, best first, with their cosine."""
    vector = vector_of(question)
    sparse = Search(question, vector, DIMENSIONS, "made").sparse
    found = MadeIndex().query(namespace="made", vector=vector, sparse=sparse, top_k=count, timeout_s=1)
    own = {each.chunk_id: each for each in library().values()}
    return [own[each.id]._replace(score=math.sumprod(vector, _vectors()[each.id])) for each in found]


def _card(made: Passage) -> Labels:
    return {
        "organisation": list(made.organisations),
        "kind": [made.kind] if made.kind else [],
        "period": list(made.periods),
    }


def made_ports(*, chat: FakeChat | None = None, **settings: Any) -> QueryPorts:
    """Return the pipeline's ports over the made passages, without waits and with ids that count up."""
    own = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=DIMENSIONS, **settings)
    documents = [
        CatalogueEntry(
            first.document_id, first.key, first.title, first.generation, 1, first.language, card=_card(first)
        )
        for first in {each.document_id: each for each in reversed(list(library().values()))}.values()
    ]
    ports = query_ports(chat=chat, settings=own, documents=documents)
    return replace(ports, search=MadeIndex(), embedder=MadeEmbedder())


@cache
def _vectors() -> Mapping[str, Sequence[float]]:
    return {made.chunk_id: vector_of(made.text) for made in library().values()}


# --- results as text ---


def told(value: object, indent: str = "") -> str:
    """Return a result as readable lines: what is empty or a default is left out, floats have three digits.

    Of a passage only its id is told; sets are sorted.
    """
    if isinstance(value, Passage):
        return f"<{value.chunk_id}>"
    named = _named(value)
    if named is not None:
        lines = [f"{indent}{name}: {told(each, indent + '  ').lstrip()}" for name, each in named if not _is_empty(each)]
        return "\n" + "\n".join(lines) if lines else "-"
    if isinstance(value, Mapping):
        lines = [
            f"{indent}{name}: {told(each, indent + '  ').lstrip()}"
            for name, each in value.items()
            if not _is_empty(each)
        ]
        return "\n" + "\n".join(lines) if lines else "{}"
    if isinstance(value, (list, tuple)):
        told_each = [told(each, indent + "  ") for each in value]
        if all("\n" not in each and len(each) < 60 for each in told_each):
            return f"[{', '.join(told_each)}]"
        return "\n" + "\n".join(f"{indent}- {each.lstrip()}" for each in told_each)
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(told(each) for each in value))}}}"
    return _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".").replace("-0", "0") if round(value, 3) == 0 else f"{value:.3f}"
    if isinstance(value, Decimal):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, bytes):
        return f"<{len(value)} bytes, {zlib.crc32(value):08x}>"
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/"
    return value.replace("\n", "⏎") if isinstance(value, str) else repr(value)


def _named(value: object) -> Iterator[tuple[str, object]] | None:
    if is_dataclass(value) and not isinstance(value, type):
        return ((each.name, getattr(value, each.name)) for each in fields(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return zip(value._fields, value, strict=True)
    return None


def _is_empty(value: object) -> bool:
    if value is None or value is False or value == NO_USAGE:
        return True
    return isinstance(value, (str, list, tuple, Mapping, Set)) and not value
