"""What is asked and what is answered, as values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from functions.query.decision import Band, Decision
from functions.query.grounding.verify import Support
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import QueryMode
from functions.query.writing.localization import Refusal
from shared.models import Citation, Filter, Usage

Mode = Literal["generated", "extractive", "refused"]
NO_USAGE = Usage()
NO_SUPPORT = Support()


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked. An empty `conversation_id` starts a conversation.

    `mode` None is the one that is set; `preferences` name tone, style and the like, for a model that writes.
    """

    text: str
    conversation_id: str = ""
    top_k: int | None = None
    filter: Filter | None = None
    language: str = ""
    mode: QueryMode | None = None
    preferences: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered. `no_relevant_info` says that nothing was found, and `refusal` who found nothing.

    `rewritten` is the question that was searched for, empty when it is the one that was typed. `cached` says that text,
    citations and sources are those of an earlier answer to the same question. `confidence` is the estimated
    probability that the first citation is right, None where there is nothing to estimate; `decision` is None for a
    cached answer. `relevance` is what was compared with `threshold`. `bands` are those of the sources. `finish_reason`
    is the model provider's word for why it stopped writing, empty where no model wrote.
    """

    text: str
    mode: Mode
    conversation_id: str
    message_id: str
    citations: Sequence[Citation] = ()
    sources: Sequence[Passage] = ()
    no_relevant_info: bool = False
    refusal: Refusal | None = None
    best_score: float | None = None
    relevance: float = 0.0
    threshold: float = 0.0
    model: str = ""
    finish_reason: str = ""
    usage: Usage = NO_USAGE
    dropped_citations: int = 0
    embedding_cached: bool = False
    warnings: Sequence[str] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    rewritten: str = ""
    cached: bool = False
    support: Support = NO_SUPPORT
    band: Band = Band.NONE
    confidence: float | None = None
    bands: Sequence[Band] = ()
    handoff_offered: bool = False
    decision: Decision | None = None


# --- What the query line tells while it works: the one path behind the buffered and the streamed answer ---

_PIECES = re.compile(r".+?(?:[.!?…:;][\"”’)]*(?:\s*\[\d+\])*\s+|\n+|\Z)", re.DOTALL)
_MARKER = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages that the answer will be made from, each with its band; none when there is nothing to answer from."""

    sources: Sequence[Passage]
    bands: Sequence[Band] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer, about a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationFound:
    """A citation that the next piece bears the marker of."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class SupportFound:
    """How much of what was written is supported, and how sure the answer is."""

    support: Support
    band: Band
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer, remembered by now."""

    answer: Answer


Event = Sources | Delta | CitationFound | SupportFound | Done


def told(text: str, citations: Sequence[Citation]) -> Iterator[Delta | CitationFound]:
    """Tell a verified answer piece by piece. The deltas' texts add up to `text`; every citation is told once."""
    waiting = {citation.n: citation for citation in citations}
    for piece in _PIECES.findall(text):
        for marker in _MARKER.findall(piece):
            citation = waiting.pop(int(marker), None)
            if citation is not None:
                yield CitationFound(citation)
        yield Delta(piece)
    for citation in waiting.values():
        yield CitationFound(citation)
