"""The question, the answer, and the events that are emitted on the way from one to the other."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from functions.query.decision import Band, Decision, NearMiss
from functions.query.grounding.verify import Support
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import QueryMode
from functions.query.writing.localization import Refusal
from functions.query.writing.prompting import PROMPT_VERSION
from shared.models import NO_USAGE, AnswerClaim, Citation, Filter, Message, Usage
from shared.prices import total_cost_usd
from shared.receipts import Receipt

if TYPE_CHECKING:
    from functions.query.explaining import Explanation

Mode = Literal["generated", "extractive", "refused", "service"]
"""How an answer was made: by a model, from the sources' sentences, not at all; or as "service", without a search,
because the question was about the service itself or the collection."""
NO_SUPPORT = Support()
DECIDED = frozenset({"second_look", "threshold_relaxed"})
"""Warnings that tell how it was decided, not that something failed: asking again changes nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question. An empty `conversation_id` starts a conversation; a `mode` of None means the configured one.

    `preferences` (tone, style, twist, language) say how to write the answer; `explain` asks why passages rank as they
    do. `fresh` asks for an answer that is not from the cache. `history` is the conversation so far, oldest first, if
    the client sends it instead of a `conversation_id`. Without `is_saved` nothing is stored.
    """

    text: str
    conversation_id: str = ""
    top_k: int | None = None
    filter: Filter | None = None
    language: str = ""
    mode: QueryMode | None = None
    preferences: Mapping[str, str] = MappingProxyType({})
    explain: bool = False
    fresh: bool = False
    history: Sequence[Message] = ()
    is_saved: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `no_relevant_info` marks a refusal, and `refusal` names the step that refused.

    `relevance` is compared with `threshold`. `bands` are those of the sources. `confidence` is the estimated
    probability that the first citation is right, None where it cannot be estimated. `cached` means that text, citations
    and sources come from an earlier answer to the same question; `decision` is then None. `near_misses` are the best
    passages of a refusal, `nearest` those that are shown. `finish_reason` is the model provider's reason for stopping,
    empty without a model.
    `language` is the code of its language, empty where only the text shows it.
    `rewritten` is the question that was searched for, empty if it is the typed one. `spent` are the tokens by model,
    `found_by` counts the retrieved passages by the search that found them (`Retrieved.found_by`). Both ids are empty
    until the answer is saved. `suggestions` are questions to ask next. `provenance` says how an answer from the
    documents was made (`functions.query.receipts`). `named` are the ids of documents, other than its sources, that it
    names, or that the turns before it were made from.
    """

    text: str
    mode: Mode
    conversation_id: str = ""
    message_id: str = ""
    citations: Sequence[Citation] = ()
    sources: Sequence[Passage] = ()
    no_relevant_info: bool = False
    refusal: Refusal | None = None
    best_score: float | None = None
    relevance: float = 0.0
    threshold: float = 0.0
    model: str = ""
    finish_reason: str = ""
    spent: Mapping[str, Usage] = field(default_factory=dict)
    found_by: Mapping[str, int] = field(default_factory=dict)
    dropped_citations: int = 0
    embedding_cached: bool = False
    warnings: Sequence[str] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    language: str = ""
    rewritten: str = ""
    cached: bool = False
    claims: Sequence[AnswerClaim] = ()
    support: Support = NO_SUPPORT
    band: Band = Band.NONE
    confidence: float | None = None
    bands: Sequence[Band] = ()
    handoff_offered: bool = False
    decision: Decision | None = None
    suggestions: Sequence[str] = ()
    near_misses: Sequence[NearMiss] = ()
    nearest: Sequence[Passage] = ()
    explanation: "Explanation | None" = None
    named: Sequence[str] = ()
    provenance: Mapping[str, Any] | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of all models together."""
        return sum(self.spent.values(), NO_USAGE)

    @property
    def cost_usd(self) -> float | None:
        """The price of all calls in US dollars; None if one of the models is not in the price file."""
        return total_cost_usd(self.spent)


def spent_by(*calls: tuple[str, Usage]) -> dict[str, Usage]:
    """Add up the usage of calls by model; calls without tokens are left out."""
    spent: dict[str, Usage] = {}
    for model, usage in calls:
        if usage != NO_USAGE:
            spent[model] = spent.get(model, NO_USAGE) + usage
    return spent


def facts_of(answer: Answer) -> dict[str, object]:
    """Return what is logged and stored about an answer for operators; it holds no texts.

    `near_misses` are the ids and relevances of a refusal's best passages.
    """
    return {
        "mode": answer.mode,
        "no_relevant_info": answer.no_relevant_info,
        "refusal": answer.refusal,
        "best_score": answer.best_score,
        "relevance": round(answer.relevance, 4),
        "threshold": answer.threshold,
        "near_misses": [[miss.chunk_id, miss.score] for miss in answer.near_misses],
        "model": answer.model,
        "prompt_version": PROMPT_VERSION if answer.model else "",
        "finish_reason": answer.finish_reason,
        **asdict(answer.usage),
        "cost_usd": answer.cost_usd,
        "cached": answer.cached,
    }


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The passages that the answer will be made from, each with its band; none for a refusal."""

    sources: Sequence[Passage]
    bands: Sequence[Band] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer, about a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationFound:
    """A citation whose marker is in the next piece."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class SupportFound:
    """How much of the answer is supported by the sources: in all, by claim, and its band and confidence."""

    support: Support
    claims: Sequence[AnswerClaim]
    band: Band
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer, after it was saved, and its receipt."""

    answer: Answer
    receipt: Receipt = field(default_factory=dict)


AnswerEvent = SourcesFound | Delta | CitationFound | SupportFound | Done

_PIECES = re.compile(r".+?(?:[.!?…:;][\"”’)]*(?:\s*\[\d+\])*\s+|\n+|\Z)", re.DOTALL)
_MARKER = re.compile(r"\[(\d+)\]")


def text_events(text: str, citations: Sequence[Citation]) -> Iterator[Delta | CitationFound]:
    """Yield a finished answer in pieces that add up to `text`; each citation comes once, before its marker.

    Citations without a marker come last.
    """
    pending = {citation.n: citation for citation in citations}
    for piece in _PIECES.findall(text):
        for marker in _MARKER.findall(piece):
            if citation := pending.pop(int(marker), None):
                yield CitationFound(citation)
        yield Delta(piece)
    yield from map(CitationFound, pending.values())
