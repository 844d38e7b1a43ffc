"""What goes over the wire about questions and answers, in and out."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from functions.query.answer import Answer, Question
from functions.query.deciding.decision import Band
from functions.query.retrieval.filters import checked
from functions.query.retrieval.passages import Passage
from functions.query.understanding.normalization import normalized
from functions.query.understanding.understood import QueryMode
from functions.query.writing.localization import code_of
from functions.query.writing.refusing import Refusal
from shared.errors import InvalidRequest
from shared.models import Citation

ULID = r"^[0-9A-HJKMNP-TV-Z]{26}$"
Ulid = Annotated[str, StringConstraints(pattern=ULID)]


def _language_code(named: str) -> str:
    """Read a language code out of "lt", "lt-LT", "LT_lt" or a language's name. Raises `ValueError`."""
    if _LANGUAGE_TAG.fullmatch(named):
        return re.split("[-_]", named)[0].lower()
    if code := code_of(named):
        return code
    raise ValueError("give a language code like lt or en-GB")


_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
Language = Annotated[str, StringConstraints(max_length=35), AfterValidator(_language_code)]


class Body(BaseModel):
    """A request body: a field nobody knows is an error, not silence."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


BandOut = Literal["high", "medium", "low", "none"]
Wish = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


class PreferencesIn(Body):
    """Wishes for how the answer is written; they change its words, never its facts."""

    tone: Wish | None = Field(None, description='For example "friendly".')
    style: Wish | None = Field(None, description='For example "a short list".')
    twist: Wish | None = Field(None, description='For example "explain it to a newcomer".')
    language: Wish | None = Field(
        None,
        description='Language of the answer, a code or a name ("Lithuanian"); `language` goes before it.',
    )


class QueryBody(Body):
    """`POST /query`."""

    question: str = Field(min_length=1, description="The question, in any language.")
    conversation_id: Ulid | None = Field(None, description="Continue this conversation; absent starts one.")
    top_k: int | None = Field(None, ge=1, le=50, description="Passages to answer from at most.")
    filter: Any = Field(None, description="Metadata filter in Pinecone's language.")
    language: Language | None = Field(None, description="Language of the answer: `lt`, `lt-LT`, `Lithuanian`.")
    mode: QueryMode | None = Field(
        None,
        description="What is searched for: the `question`, or the whole `session`. Absent: as the operator has set it.",
    )
    preferences: PreferencesIn | None = Field(None, description="How a model should write the answer.")

    def asked(self) -> Question:
        """Return the question as the pipeline takes it. Raises `InvalidFilter` and `InvalidRequest`."""
        if not normalized(self.question):
            raise InvalidRequest("The question holds no text: ask something.")
        wishes = self.preferences.model_dump(exclude_none=True) if self.preferences else {}
        return Question(
            text=self.question,
            conversation_id=self.conversation_id or "",
            top_k=self.top_k,
            filter=checked(self.filter),
            language=self.language or "",
            mode=self.mode,
            preferences=wishes,
        )


class CitationOut(BaseModel):
    """A quote and where it stands."""

    n: int
    document_id: str
    title: str
    source_type: str
    page_start: int
    page_end: int
    page_label: str
    section: str
    quote: str
    char_start: int
    char_end: int
    score: float

    @classmethod
    def of(cls, citation: Citation) -> "CitationOut":
        """Show a citation."""
        return cls.model_validate(citation, from_attributes=True)


class SourceOut(BaseModel):
    """A passage the answer was made from."""

    chunk_id: str
    document_id: str
    title: str
    section: str
    page_start: int
    page_end: int
    page_label: str
    score: float
    band: BandOut

    @classmethod
    def all_of(cls, passages: Sequence[Passage], bands: Sequence[Band]) -> "list[SourceOut]":
        """Show passages, without their texts."""
        return [
            cls(
                chunk_id=passage.chunk_id,
                document_id=passage.document_id,
                title=passage.title,
                section=passage.section,
                page_start=passage.page_start,
                page_end=passage.page_end,
                page_label=passage.page_label,
                score=passage.score,
                band=band.value,
            )
            for passage, band in zip(passages, bands, strict=True)
        ]


class UsageOut(BaseModel):
    """Tokens billed for this request."""

    input_tokens: int
    output_tokens: int


class SupportOut(BaseModel):
    """How much of what was written is supported by the sources."""

    claims: int = Field(description="Statements that the writer made.")
    supported: int = Field(description="Those shown with a quote that proves them, and without a doubt.")
    dropped: int = Field(description="Those taken out, because their source does not say it.")
    flags: list[str] = Field(description="What was found wrong: one name for each finding.")


class QueryOut(BaseModel):
    """The answer with its proof."""

    answer: str
    mode: Literal["generated", "extractive", "refused"]
    no_relevant_info: bool = Field(description="Nothing was found that answers the question.")
    refusal: Refusal | None = Field(
        description="Who found nothing: the search, the model that read the sources, or the proof, which left none."
    )
    handoff_offered: bool = Field(description="A person may be asked instead.")
    citations: list[CitationOut]
    sources: list[SourceOut]
    conversation_id: str
    message_id: str
    support: SupportOut
    band: BandOut = Field(description="How near the best source is to the question.")
    confidence: float | None = Field(
        description="Estimated probability that the first citation is the right one; null where it is not known."
    )
    best_score: float | None = Field(description="Cosine similarity of the best passage; null when there was none.")
    relevance: float = Field(description="Similarity and words of the best passage together, 0 to 1.")
    threshold: float = Field(description="The relevance under which nothing is answered.")
    dropped_citations: int = Field(description="Citations the model made that did not hold and were taken out.")
    cached: bool = Field(description="The answer was given before, to the same question about the same documents.")
    rewritten: str | None = Field(description="What was searched for, where it is not the question as it was typed.")
    model: str
    finish_reason: str = Field(description="Why the model stopped writing, in its provider's word; empty without one.")
    usage: UsageOut
    warnings: list[str]
    timings_ms: dict[str, float]

    @classmethod
    def of(cls, answer: Answer) -> "QueryOut":
        """Show an answer."""
        return cls(
            answer=answer.text,
            mode=answer.mode,
            no_relevant_info=answer.no_relevant_info,
            refusal=answer.refusal,
            handoff_offered=answer.handoff_offered,
            citations=[CitationOut.of(citation) for citation in answer.citations],
            sources=SourceOut.all_of(answer.sources, answer.bands),
            conversation_id=answer.conversation_id,
            message_id=answer.message_id,
            support=SupportOut.model_validate(answer.support, from_attributes=True),
            band=answer.band.value,
            confidence=None if answer.confidence is None else round(answer.confidence, 3),
            best_score=None if answer.best_score is None else round(answer.best_score, 4),
            relevance=round(answer.relevance, 4),
            threshold=answer.threshold,
            dropped_citations=answer.dropped_citations,
            cached=answer.cached,
            rewritten=answer.rewritten or None,
            model=answer.model,
            finish_reason=answer.finish_reason,
            usage=UsageOut.model_validate(answer.usage, from_attributes=True),
            warnings=list(answer.warnings),
            timings_ms=dict(answer.timings_ms),
        )
