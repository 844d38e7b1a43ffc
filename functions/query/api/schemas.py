"""Request and response bodies of the API."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, StringConstraints
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema

from functions.query.answer import Answer, Mode, Question
from functions.query.decision import Band
from functions.query.explaining import ExplainedPassage, Explanation
from functions.query.retrieval.filters import MAX_VALUES, checked_filter
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import QueryMode, normalized
from functions.query.writing.localization import Refusal, language_code_of
from shared.access import MAX_NAME, MAX_NAMES, NO_FOLDERS, AccessRule, FolderRules, is_name
from shared.errors import InvalidRequest
from shared.models import Conversation, Document, FeedbackRating, FeedbackReason, Message, SourceType

DOCUMENT_ID = r"^[0-9a-f]{32}$"
ULID = r"^[0-9A-HJKMNP-TV-Z]{26}$"
VERSION_ID = r"^[A-Za-z0-9._-]{0,1024}$"
LANGUAGE_TAG = r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)?$"
ONE_LINE = r"^[^\x00-\x1f\x7f]*$"
MAX_PAGE_BYTES = 5_000_000
"""Bytes of pages in one response. Lambda allows 6 MB, counted with the body as a JSON string."""

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
LANGUAGE_PATTERN = r"^([A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*|[^0-9\x00-\x1f]{4,35})$"
"""For the OpenAPI document: a code, or the name of a language (which looks like any other words)."""


def _language_code(named: str) -> str:
    """Read a language code out of "lt", "lt-LT", "LT_lt" or a language's name. Raises `ValueError`."""
    if _LANGUAGE_TAG.fullmatch(named):
        return re.split("[-_]", named)[0].lower()
    if code := language_code_of(named):
        return code
    raise ValueError("must be a language code such as lt or en-GB, or the name of a known language such as German")


def _reader_name(name: str) -> str:
    if is_name(name):
        return name
    raise ValueError("must be the name of a group, or the id of a user")


Ulid = Annotated[str, StringConstraints(pattern=ULID)]
Cursor = Annotated[
    str,
    Field(
        max_length=1_024,
        pattern=r"^[A-Za-z0-9_=-]*$",
        description="The last page's `next_cursor`; empty for the first page.",
    ),
]
NEXT_CURSOR = "X-Next-Cursor"
"""The header of a file with more pages: the cursor of the next one."""
Language = Annotated[
    str,
    Field(max_length=35, json_schema_extra={"pattern": LANGUAGE_PATTERN, "examples": ["lt", "en-GB", "Lithuanian"]}),
    AfterValidator(_language_code),
]
GroupName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME), AfterValidator(_reader_name)]
Preference = Annotated[str, StringConstraints(max_length=200, pattern=ONE_LINE)]
Rounded3 = Annotated[float, AfterValidator(lambda value: round(value, 3))]
Rounded4 = Annotated[float, AfterValidator(lambda value: round(value, 4))]
BandOut = Literal["high", "medium", "low", "none"]


class Body(BaseModel):
    """A request body: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Out(BaseModel):
    """A response body; `model_validate` reads it from the domain's value with the same field names."""

    model_config = ConfigDict(from_attributes=True)


Absent = SkipJsonSchema[None]
"""A default that may not be sent."""


class FilterConditionIn(Body):
    """What a field of a passage must be; all that is given must hold."""

    eq: str | float | bool | Absent = Field(None, alias="$eq")
    ne: str | float | bool | Absent = Field(None, alias="$ne")
    gt: float | Absent = Field(None, alias="$gt")
    gte: float | Absent = Field(None, alias="$gte")
    lt: float | Absent = Field(None, alias="$lt")
    lte: float | Absent = Field(None, alias="$lte")
    among: list[str | float] | Absent = Field(None, alias="$in", min_length=1, max_length=MAX_VALUES)
    not_among: list[str | float] | Absent = Field(None, alias="$nin", min_length=1, max_length=MAX_VALUES)
    exists: bool | Absent = Field(None, alias="$exists")


FieldFilter = FilterConditionIn | str | float | bool
"""A value means `$eq`."""


class FilterIn(BaseModel):
    """A metadata filter in Pinecone's language. All fields must match; other names are tags and labels of your own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, FieldFilter]

    every: "list[FilterIn] | None" = Field(None, alias="$and", min_length=1)
    either: "list[FilterIn] | None" = Field(None, alias="$or", min_length=1)
    document_id: FieldFilter | Absent = None
    source_id: FieldFilter | Absent = Field(None, description="The object's key.")
    source_type: FieldFilter | Absent = Field(None, description=", ".join(f"`{each}`" for each in SourceType))
    title: FieldFilter | Absent = None
    section: FieldFilter | Absent = None
    language: FieldFilter | Absent = Field(None, description="Two-letter code.")
    page_start: FieldFilter | Absent = None
    page_end: FieldFilter | Absent = None
    chapter: FieldFilter | Absent = None
    department_id: FieldFilter | Absent = None


class DescribedAs:
    """Describes a value in the OpenAPI document as `model`; it does not change how the value is checked."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(self, _: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the model's schema."""
        return handler(self._model.__pydantic_core_schema__)


FilterField = Annotated[Any, DescribedAs(FilterIn)]
"""A filter as it came; `checked_filter` names the place of an error, which pydantic could not."""


class PreferencesIn(Body):
    """How the answer should be written; preferences change its words, never its facts."""

    tone: Preference | None = Field(None, description='For example "friendly".')
    style: Preference | None = Field(None, description='For example "a short list".')
    twist: Preference | None = Field(None, description='For example "explain it to a newcomer".')
    language: Preference | None = Field(
        None, description='A code or a name ("Lithuanian"); `language` takes precedence.'
    )


class MessageBody(Body):
    """`POST /conversations/{conversation_id}/messages`."""

    question: str = Field(min_length=1, description="The question, in any language.")
    top_k: int | None = Field(None, ge=1, le=50, description="The most passages to answer from.")
    filter: FilterField = Field(None, description="Which passages to search, by their metadata.")
    language: Language | None = Field(None, description="Language of the answer: `lt`, `lt-LT`, `Lithuanian`.")
    mode: QueryMode | None = Field(
        None, description="Search for the `question` or the `session`; default: as configured."
    )
    preferences: PreferencesIn | None = Field(None, description="How a model should write the answer.")
    explain: bool = Field(default=False, description="Explain the ranking in `explanation`; for editors only.")
    fresh: bool = Field(
        default=False, description="Search and write anew, even if the same question was answered before."
    )

    def to_question(self, conversation_id: str = "") -> Question:
        """Return the question as the pipeline takes it. Raises `InvalidFilter` and `InvalidRequest`."""
        if not normalized(self.question):
            raise InvalidRequest("The question has no text.")
        preferences = self.preferences.model_dump(exclude_none=True) if self.preferences else {}
        return Question(
            text=self.question,
            conversation_id=conversation_id,
            top_k=self.top_k,
            filter=checked_filter(self.filter),
            language=self.language or "",
            mode=self.mode,
            preferences=preferences,
            explain=self.explain,
            fresh=self.fresh,
        )


class QueryBody(MessageBody):
    """`POST /query`."""

    conversation_id: Ulid | None = Field(None, description="Continue this conversation; absent starts one.")


class RectOut(Out):
    """A rectangle on a page, in points from the top left corner of the page as it is shown (rotated, cropped)."""

    page: int = Field(description="The page's number, from 1.")
    x0: float
    y0: float
    x1: float
    y1: float


class PageSizeOut(Out):
    """A page as it is shown, in points."""

    page: int
    width: float
    height: float


class CitationOut(Out):
    """A quote and its place in the document."""

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
    score: float | None = Field(description="Cosine similarity of its passage; null where it is not known.")
    key: str = Field(description="Key of the quoted object in the bucket; empty where it is not known.")
    file_name: str = Field(description="Its file name, without folders.")
    version_id: str = Field(description="The object version that was quoted; empty where it is not known.")
    rects: list[RectOut] = Field(description="The quote's lines on their pages; none where that is not known.")
    page_sizes: list[PageSizeOut] = Field(description="The sizes of these pages.")
    corrected: bool = Field(
        description="An editor has corrected the passage: quote and positions are the correction's, not the document's."
    )
    ocr: bool = Field(description="The passage was read from pictures (OCR): letters of the quote may be wrong.")
    described_by: str = Field(
        description="The model that described a figure in these words, which do not stand in the document; else empty."
    )


CitationState = Literal["current", "changed", "erased"]


class StoredCitationOut(CitationOut):
    """A citation of an earlier answer, and what has become of the document since."""

    state: CitationState | None = Field(
        None,
        description="Whether the document is still the quoted one (`current`), another version (`changed`) or gone "
        "(`erased`); null where that is not known.",
    )


class ClaimOut(Out):
    """One claim of the answer, and whether its quotes confirm it."""

    text: str = Field(description="The statement as it stands in the answer, without markers.")
    verdict: Literal["confirmed", "unconfirmed"]
    citations: list[int] = Field(description="The numbers of its citations.")
    derived: str = Field(description="The calculation from the quotes that confirmed it; empty if there was none.")


class SourceOut(Out):
    """A passage that an answer was made from, or that came nearest to a refused question."""

    chunk_id: str
    document_id: str
    key: str = Field(description="Key of the object in the bucket; empty where it is not known.")
    title: str
    section: str
    page_start: int
    page_end: int
    page_label: str
    score: float | None = Field(description="Cosine similarity; null if the question could not be embedded.")
    corrected: bool = Field(description="Whether an editor has corrected its text.")
    band: BandOut

    @classmethod
    def all_of(cls, passages: Sequence[Passage], bands: Sequence[Band]) -> "list[SourceOut]":
        """Return the passages without their texts."""
        names = cls.model_fields.keys() - {"band", "key", "score"}
        return [
            cls(
                **{name: getattr(passage, name) for name in names},
                key=passage.object_key,
                score=passage.similarity,
                band=band.value,
            )
            for passage, band in zip(passages, bands, strict=True)
        ]


class UsageOut(Out):
    """Tokens billed for this request."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = Field(description="Of the input: read from the provider's cache, at a lower price.")
    cache_write_tokens: int = Field(description="Of the input: written to that cache, at a higher price.")
    reasoning_tokens: int = Field(description="Of the output: spent on reasoning, not shown.")


class SupportOut(Out):
    """How much of the written answer is supported by the sources."""

    claims: int = Field(description="Claims in the answer before verification.")
    confirmed: int = Field(description="Claims shown with a quote that confirms them.")
    unconfirmed: int = Field(description="Claims shown with a related quote that does not confirm them.")
    dropped: int = Field(description="Claims left out because their source refutes them or says nothing about them.")
    flags: list[str] = Field(description="Names of the problems found, one per finding.")


class ScorePartsOut(Out):
    """What a ranking score is the sum of, in units of cosine."""

    dense: float = Field(description="Cosine similarity to the question; 0 without its embedding.")
    bm25: float = Field(description="Words of the question in text, title, section and cover, weighted by rarity.")
    document: float = Field(description="The question names the document.")
    place: float = Field(description="The question names the page or the section.")
    glossary: float = Field(description="A boost of the tenant's glossary.")
    statement: float = Field(description="It is part of a financial statement, and the question asks for such figures.")
    together: float = Field(description="The question's words stand close together.")
    phrases: float = Field(description="They follow each other as in the question.")
    beside: float = Field(description="The passage before or after it fits, too.")


class ExplainedPassageOut(Out):
    """One hit, and why it ranks where it does."""

    rank: int
    passage_id: str
    document_id: str
    title: str
    section: str
    page_start: int
    page_end: int
    page_label: str
    text: str
    table: str = Field(description="Title, unit and column names of the table that the text begins in, else empty.")
    corrected: bool = Field(description="Whether an editor has corrected the text.")
    score: float = Field(description="The ranking score: the sum of its parts.")
    parts: ScorePartsOut
    reasons: list[str] = Field(description="The parts in words, the largest first.")
    rerank: float | None = Field(description="The reranker's score, by which it was ordered; null without one.")
    similarity: float | None = Field(description="Cosine similarity; null if the question could not be embedded.")
    coverage: float | None = Field(description="Share of the question's rare words; null if it was not chosen.")
    relevance: float | None = Field(description="What is compared with the threshold; null if it was not chosen.")
    chosen: bool = Field(description="Whether it is among the `top_k` passages that the decision looks at.")
    source: bool = Field(description="Whether an answer is made from it.")

    @classmethod
    def of(cls, explained: ExplainedPassage) -> "ExplainedPassageOut":
        """Return a hit as the API shows it."""
        passage = explained.passage
        places = ("document_id", "title", "section", "page_start", "page_end", "page_label")
        of_passage = {name: getattr(passage, name) for name in (*places, "text", "table", "corrected")}
        return cls(
            **of_passage,
            rank=explained.rank,
            passage_id=passage.chunk_id,
            score=explained.score,
            parts=ScorePartsOut(**explained.parts),
            reasons=list(explained.reasons),
            rerank=explained.rerank,
            similarity=passage.similarity,
            coverage=explained.coverage,
            relevance=explained.relevance,
            chosen=explained.is_chosen,
            source=explained.is_source,
        )


class ExplanationOut(Out):
    """How a search went."""

    searched: str = Field(description="The question as it was searched for.")
    relevant: bool = Field(description="Whether the question is answered.")
    relevance: float = Field(description="The best relevance among the first passages.")
    threshold: float = Field(description="The relevance below which the question is refused.")
    band: BandOut
    hits: int = Field(description="All published passages that were ranked.")
    passages: list[ExplainedPassageOut]
    unpublished: list[str] = Field(
        description="Ids of dropped hits: deleted, replaced, not published yet, or left out by an editor."
    )
    duplicates: int = Field(description="Hits dropped because a better one has the same text.")
    warnings: list[str]

    @classmethod
    def of(cls, explanation: Explanation) -> "ExplanationOut":
        """Return an explanation as the API shows it."""
        decision = explanation.decision
        return cls(
            searched=explanation.searched,
            relevant=decision.relevant,
            relevance=decision.score,
            threshold=decision.threshold,
            band=decision.band.value,
            hits=explanation.hits,
            passages=[ExplainedPassageOut.of(each) for each in explanation.passages],
            unpublished=list(explanation.unpublished),
            duplicates=explanation.duplicates,
            warnings=list(explanation.warnings),
        )


class QueryOut(Out):
    """The answer with its citations."""

    answer: str
    mode: Mode
    no_relevant_info: bool = Field(description="Nothing was found that answers the question.")
    refusal: Refusal | None = Field(
        description="Which step found nothing: the search, the model that read the sources, or the verification."
    )
    handoff_offered: bool = Field(description="Whether a person can be asked instead.")
    citations: list[CitationOut]
    claims: list[ClaimOut] = Field(description="The claims shown, in order; none for a refusal.")
    sources: list[SourceOut]
    nearest: list[SourceOut] = Field(
        description="Of a refusal, at most three passages that came nearest, though they do not answer the question."
    )
    conversation_id: str
    message_id: str
    support: SupportOut
    band: BandOut = Field(description="How sure the answer is; where that is unknown, how relevant its best source is.")
    confidence: Rounded3 | None = Field(description="Probability that the first citation is right; null where unknown.")
    best_score: Rounded4 | None = Field(description="Cosine similarity of the best passage; null when there was none.")
    relevance: Rounded4 = Field(description="Similarity and rare-word coverage of the best passage combined, 0 to 1.")
    threshold: float = Field(description="Relevance below which the question is refused.")
    dropped_citations: int = Field(description="The model's citations that were wrong and were removed.")
    cached: bool = Field(description="The answer is an earlier one to the same question about the same documents.")
    rewritten: str | None = Field(description="The question that was searched for, if it differs from the typed one.")
    model: str
    finish_reason: str = Field(description="The provider's reason why the model stopped; empty without a model.")
    usage: UsageOut
    cost_usd: float | None = Field(description="Price of all model calls; null if the price file lacks a model.")
    suggestions: list[str] = Field(description="Questions to ask next that the documents answer, at most three.")
    warnings: list[str]
    timings_ms: dict[str, float]
    explanation: ExplanationOut | None = Field(
        description="Why passages rank as they do; null unless `explain` was sent and something was searched for."
    )

    @classmethod
    def of(cls, answer: Answer) -> "QueryOut":
        """Return an answer as the API shows it."""
        values = {name: getattr(answer, name) for name in cls.model_fields if hasattr(answer, name)}
        changed = {
            "answer": answer.text,
            "sources": SourceOut.all_of(answer.sources, answer.bands),
            "nearest": SourceOut.all_of(answer.nearest, [Band.NONE] * len(answer.nearest)),
            "band": answer.band.value,
            "rewritten": answer.rewritten or None,
            "explanation": ExplanationOut.of(answer.explanation) if answer.explanation else None,
        }
        return cls.model_validate(values | changed)


class FeedbackOut(Out):
    """The asker's rating of an answer."""

    rating: FeedbackRating
    reason: FeedbackReason | None
    comment: str
    updated_at: str = Field(description="When it was given, ISO 8601 in UTC.")


class MessageOut(Out):
    """One turn."""

    message_id: str
    role: str
    content: str
    created_at: str
    citations: list[StoredCitationOut]
    claims: list[ClaimOut]
    feedback: FeedbackOut | None = Field(None, description="Your rating of this answer, if you gave one.")
    mode: Mode | None = Field(None, description="How an answer was made; null for questions and people's answers.")
    refusal: Refusal | None = Field(None, description="Which step found nothing, if the question was refused.")
    band: BandOut | None = Field(None, description="How sure an answer is; null where none was recorded.")
    cached: bool = Field(default=False, description="It was an earlier answer to the same question.")
    withheld: bool = Field(
        default=False, description="It is not shown: you may no longer read a document that it was made from."
    )

    @classmethod
    def of(cls, message: Message, versions: Mapping[str, Collection[str]] | None) -> "MessageOut":
        """Return a message; `versions` as `DocumentRegistry.versions` gives them, None if they are not known."""
        kept = {
            name: message.details[name]
            for name in ("mode", "refusal", "band", "cached", "withheld")
            if message.details.get(name)
        }
        shown = cls.model_validate(message).model_copy(update=kept)
        if versions is not None:
            for citation in shown.citations:
                citation.state = state_of(citation, versions)
        return shown


def state_of(citation: CitationOut, versions: Mapping[str, Collection[str]]) -> CitationState | None:
    """Say whether the quoted version is still the document's; None for a citation that names no version."""
    if citation.document_id not in versions:
        return "erased"
    if not citation.version_id:
        return None
    return "current" if citation.version_id in versions[citation.document_id] else "changed"


class ConversationOut(Out):
    """A conversation with one page of its messages."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int
    messages: list[MessageOut]
    next_cursor: str

    @classmethod
    def of(
        cls,
        conversation: Conversation,
        messages: Sequence[Message],
        next_cursor: str,
        versions: Mapping[str, Collection[str]] | None,
    ) -> "ConversationOut":
        """Return a conversation with one page of its messages; `versions` as in `MessageOut.of`."""
        shown = [MessageOut.of(message, versions) for message in messages]
        return cls(**asdict(conversation), messages=shown, next_cursor=next_cursor)


class AccessIn(Body):
    """Who may read: members of any of the groups, and the users. Administrators always may."""

    allowed_groups: list[GroupName] = Field(
        default_factory=list, max_length=MAX_NAMES, description='Names of groups; `"*"` is everybody in the tenant.'
    )
    allowed_users: list[GroupName] = Field(
        default_factory=list, max_length=MAX_NAMES, description="Ids of users, as `GET /admin/usage` names them."
    )

    def to_rule(self) -> AccessRule:
        """Return the rule."""
        return AccessRule(frozenset(self.allowed_groups), frozenset(self.allowed_users))


class AccessOut(Out):
    """Who may read, besides administrators."""

    allowed_groups: list[str]
    allowed_users: list[str]

    @classmethod
    def of(cls, rule: AccessRule | None) -> "AccessOut | None":
        """Return a rule as the API shows it."""
        return None if rule is None else cls(allowed_groups=sorted(rule.groups), allowed_users=sorted(rule.users))


class UploadBody(Body):
    """`POST /documents`."""

    access: AccessIn | None = Field(
        None,
        description="Who may read the document; absent: as its folder's rule says, or else everybody in the tenant.",
    )

    filename: str = Field(
        min_length=5,
        max_length=512,
        description="Path of the PDF in your uploads, with folders.",
        json_schema_extra={"pattern": r"\.[pP][dD][fF]$"},
    )


class UploadForm(Out):
    """A form to post the file with: these fields first, the file last, in the field `file`."""

    url: str
    fields: dict[str, str]
    expires_in_s: int
    max_bytes: int


class UploadOut(Out):
    """Where to send the file, and the document's id."""

    document_id: str
    key: str
    status: str
    upload: UploadForm


class ErrorOut(Out):
    """Why a document is not READY."""

    code: str
    message: str


class PageOut(Out):
    """What was found on one page."""

    number: int
    characters: int
    state: str
    detail: str
    seconds: float
    doubtful: float = Field(description="Share of the text that looks wrong: glued words, bad decoding.")
    pictured: float = Field(description="Share of the page that is covered by pictures.")
    text_layer: bool = Field(description="Whether the page holds any text, visible or hidden.")


class LabelsOut(Out):
    """A document's labels; each is a field that filters can name."""

    chapter: str = ""
    phase: str = ""
    goal: str = ""
    type: str = ""
    department_id: str = ""
    tags: list[str] = []
    organisation: list[str] = []
    author: list[str] = []
    kind: str = ""
    period: list[str] = []
    date: str = ""
    version: str = ""
    product: str = ""


class CardOut(Out):
    """What a document is, as found on it or as a label of that name says; filters can use each field."""

    organisation: list[str] = Field([], description="Whose document it is; a company's stock symbol counts as a name.")
    author: list[str] = Field([], description="Persons or teams who wrote it.")
    kind: str = Field("", description="`10-K`, `user manual`, `paper`, …")
    period: list[str] = Field([], description='Like "2022" or "Q2 2023": fiscal periods, and those in the file name.')
    date: str = Field("", description="The end of its period, or when it was published: 2021, 2021-03 or 2021-03-15.")
    version: str = ""
    product: str = ""


class ProgressOut(Out):
    """How far a document has been read."""

    page: int
    page_count: int


class DocumentOut(Out):
    """A document's status."""

    document_id: str
    key: str
    title: str
    language: str
    status: str
    source_type: str
    page_count: int
    chunk_count: int
    token_count: int
    size_bytes: int
    etag: str
    error: ErrorOut | None
    progress: ProgressOut | None = Field(None, description="Of a long document, while it is being read.")
    labels: LabelsOut
    identity: CardOut
    created_at: str
    updated_at: str


class DocumentDetailOut(DocumentOut):
    """A document's status with its extraction report, page by page."""

    access: AccessOut | None = Field(None, description="Its own rule; null without one.")
    folder: str = Field("", description="The folder whose rule applies, too; empty without one.")
    folder_access: AccessOut | None = Field(None, description="That folder's rule.")
    pages: list[PageOut]

    @classmethod
    def of(cls, document: Document, folders: FolderRules = NO_FOLDERS) -> "DocumentDetailOut":
        """Return a document with its report, cut after the pages that fit into one response."""
        folder = folders.folder_of(document.key)
        pages: list[PageOut] = []
        room = MAX_PAGE_BYTES
        for each in document.report:
            page = PageOut.model_validate(each)
            room -= len(json.dumps(page.model_dump_json(), ensure_ascii=False).encode())
            if room < 0:
                break
            pages.append(page)
        return cls(
            **DocumentOut.model_validate(document).model_dump(),
            access=AccessOut.of(document.access),
            folder=folder,
            folder_access=AccessOut.of(folders.folders.get(folder)),
            pages=pages,
        )


class DocumentListOut(Out):
    """One page of a listing; an empty `next_cursor` ends it."""

    documents: list[DocumentOut]
    next_cursor: str


class DeletedOut(Out):
    """The document is unpublished; its object and vectors are being removed."""

    document_id: str
    status: str
    erasure_id: str | None = Field(None, description="Of the receipt that `verify` asked for; null without it.")


class HealthOut(Out):
    """The function is up."""

    status: Literal["ok"]
    version: str
    embedding_space: str
    chat_model: str


class UsageLineOut(Out):
    """The usage of one user, model or day."""

    key: str = Field(description="User id (empty: ingest), model or day (UTC), as asked for with `by`.")
    questions: int = Field(description="Questions answered or refused; 0 by model.")
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float = Field(description="Price of the calls whose model is in the price file.")
    unpriced_calls: int = Field(description="Calls whose model is not in the price file.")


class UsageReportOut(Out):
    """Usage of the tenant from one day to another, both included."""

    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    by: Literal["user", "model", "day"]
    lines: list[UsageLineOut]
    total: UsageLineOut


class ProviderOut(Out):
    """A provider as one container of the function sees it."""

    dependency: Literal["chat", "check", "embeddings", "rerank", "vectors"]
    status: Literal["ok", "degraded"]
    since: datetime = Field(description="When its present state began.")
    kind: str = Field(description="Code of the last failure: upstream_refused, quota_exhausted, busy, timeout, …")
    message: str = Field(description="The last failure, in words.")
    failures: int = Field(description="Failures in a row.")


class AdminHealthOut(Out):
    """How the providers answered this container's last calls; a reranker that it has not called yet is missing."""

    status: Literal["ok", "degraded"]
    version: str
    providers: list[ProviderOut]
    warnings: list[str] = Field(description="What is wrong with the set-up, and models that will be shut down soon.")
