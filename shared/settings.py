"""One frozen `Settings`, read once from the environment. Every field says its unit, default and reason.

In the environment, `top_k` is `RECTO_TOP_K`. Each setting is a parameter of `template.yaml` or wired there, and is
listed in docs/settings.md; a test compares the three.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.errors import ConfigurationError
from shared.models import EmbeddingSpace

SCORE_THRESHOLDS = {
    # Relevance (`functions.query.decision`) below which the best passage counts as irrelevant.
    # MiniLM's is measured: `python -m evals calibrate`, docs/quality.md.
    "all-MiniLM-L6-v2": 0.35,
    # OpenAI's are unmeasured guesses: calibrate them on your own documents.
    "text-embedding-3-small": 0.30,
    "text-embedding-3-large": 0.30,
}
STATEMENT_THRESHOLDS = {
    # Similarity (`functions.query.second_look`) from which on a single statement answers in other words.
    # MiniLM's is measured (docs/quality.md); OpenAI's are unmeasured guesses, on the safe side.
    "all-MiniLM-L6-v2": 0.42,
    "text-embedding-3-small": 0.50,
    "text-embedding-3-large": 0.50,
}
CONFIDENCE = {
    # Coefficients of the confidence of an answer (`functions.query.decision`): the constant, then one for each of its
    # features. MiniLM's are measured (docs/quality.md); for other models it is unknown until somebody measures it.
    "all-MiniLM-L6-v2": (-0.85, 2.09, 0.49),
}
MEASURED_MODELS = frozenset({"all-MiniLM-L6-v2"})
"""Embedding models whose threshold was measured; for any other, the service logs a warning at start."""


class Settings(BaseSettings):
    """Everything an operator can tune, and the names of the stack's own resources."""

    model_config = SettingsConfigDict(
        env_prefix="RECTO_", frozen=True, extra="ignore", protected_namespaces=(), env_ignore_empty=True
    )

    # --- wiring, set by the template -----------------------------------------------------------------------------
    documents_table: str = Field("", description="DynamoDB table of the document registry.")
    conversations_table: str = Field("", description="DynamoDB table of conversations and their messages.")
    cache_table: str = Field("", description="DynamoDB table of caches, with TTL on `expires_at`.")
    bucket: str = Field("", description="S3 bucket of the PDFs.")
    queue_url: str = Field("", description="SQS queue of change notifications, for continuations and re-index.")
    secret_id: str = Field("", description="Secrets Manager id of a JSON object: OPENAI_API_KEY, PINECONE_API_KEY.")
    event_source: str = Field("recto", description="Source of this stack's events on the account's default bus.")
    secret_ttl_s: int = Field(
        900, ge=60, le=86_400, description="Seconds after which the keys are read again; after a refused key at once."
    )
    log_content: bool = Field(
        False, description="Also log questions and answers, masked. Off: logs outlive documents and have many readers."
    )

    # --- models --------------------------------------------------------------------------------------------------
    openai_base_url: str = Field(
        "https://api.openai.com/v1", description="Base URL of the embeddings API, and of chat unless set separately."
    )
    chat_base_url: str = Field("", description="Base URL of the chat API; empty means `openai_base_url`.")
    chat_model: str = Field("", description="Chat model; empty means answers are extractive, with no model call.")
    chat_api: Literal["chat", "responses"] = Field(
        "chat", description="API of the chat model: chat completions (every compatible server), or OpenAI's Responses."
    )
    reasoning_effort: str = Field(
        "",
        pattern="^[a-z]*$",
        description="Reasoning effort sent to the chat model (none, low, medium, high, …); empty: the model's own.",
    )
    embedding_model: str = Field("text-embedding-3-small", description="Embedding model, the same for both functions.")
    embedding_dimensions: int = Field(1536, ge=1, le=20_000, description="Dimensions of an embedding.")
    embedding_batch_inputs: int = Field(
        256, ge=1, le=2048, description="Maximum texts in one embeddings request (OpenAI's limit: 2,048)."
    )
    embedding_batch_tokens: int = Field(
        100_000, ge=8_191, le=300_000, description="Maximum tokens in one embeddings request (OpenAI's limit: 300,000)."
    )

    # --- vectors -------------------------------------------------------------------------------------------------
    pinecone_index: str = Field("recto", description="Pinecone index name.")
    pinecone_host: str = Field("", description="Data-plane host of the index; if empty, the control plane is asked.")
    pinecone_control_url: str = Field("https://api.pinecone.io", description="Pinecone control plane.")

    # --- ingest --------------------------------------------------------------------------------------------------
    chunk_size_tokens: int = Field(512, ge=64, le=2048, description="Maximum tokens in a chunk, overlap included.")
    chunk_overlap_tokens: int = Field(
        50, ge=0, le=512, description="Maximum tokens that a chunk repeats from the previous one."
    )
    chunk_cache_ttl_s: int = Field(
        0,
        ge=0,
        description="Seconds that a chunk's vector is cached for other documents with the same text; 0: off. "
        "Off by default: writing one (7 DynamoDB units, 4 millionths of a dollar) costs 0.4 times as much as embedding "
        "512 tokens by text-embedding-3-small (10 millionths), so it pays only if more than half of all chunks recur.",
    )
    max_file_bytes: int = Field(100 * 2**20, ge=1, description="Maximum bytes of an upload.")
    max_pages: int = Field(5_000, ge=1, description="Maximum pages of a document.")
    parse_timeout_s: float = Field(25.0, gt=0, description="Wall-clock seconds one parsing run may take.")
    parse_memory_mb: int = Field(320, ge=64, description="MiB of address space that the parser process may add.")
    ocr_queue_url: str = Field("", description="SQS queue of documents with pages to read by OCR; empty: no OCR.")
    ocr_languages: str = Field(
        "eng",
        pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$",
        description="Tesseract's languages, joined by `+`; those not packaged are read from the bucket's `tessdata/`.",
    )
    ocr_max_pages: int = Field(500, ge=1, description="Maximum pages of a document that are read by OCR.")
    figure_model: str = Field(
        "", description="Chat model with image input that describes figures, for searching; empty means none."
    )
    figure_base_url: str = Field("", description="Base URL of its API; empty means that of the chat API.")
    figure_max_per_document: int = Field(
        30, ge=1, le=1_000, description="Maximum figures of a document that are described; bounds what an upload costs."
    )
    lease_s: int = Field(120, ge=1, description="Seconds until a lease that is not renewed ends.")
    reindex_automatically: bool = Field(
        True, description="After a change of model, chunking or parser, re-index all documents, then switch."
    )

    # --- query ---------------------------------------------------------------------------------------------------
    top_k: int = Field(7, ge=1, le=50, description="Maximum passages that an answer is made from.")
    score_threshold: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Relevance of the best passage below which no answer is given; empty means the model's default. "
        "`python -m evals calibrate` measures it.",
    )
    relaxed_threshold: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Relevance that suffices if no passage reaches the threshold; the answer is marked. Empty: off.",
    )
    statement_threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Similarity of the question and a single statement from which on a question is answered although "
        "no passage reaches the threshold; empty means the model's default, 1 means never.",
    )
    confidence_coefficients: str = Field(
        "",
        pattern=r"^(-?\d+(\.\d+)?(,-?\d+(\.\d+)?){2})?$",
        description="Three numbers of which the confidence of answers is made, as `python -m evals calibrate` prints "
        "them; empty means the model's, if they are known.",
    )
    history_messages: int = Field(5, ge=0, le=50, description="Messages of the conversation used as history.")
    rewrite_model: str = Field(
        "", description="Chat model that rewrites follow-up questions; empty means `chat_model`. A cheap one suffices."
    )
    rewrite_timeout_s: float = Field(
        3.0, gt=0, le=20, description="Seconds for the model's rewrite; after that the rule-based rewrite is used."
    )
    rewrite_output_tokens: int = Field(300, ge=32, le=2_048, description="Maximum tokens of a rewrite.")
    query_variations: int = Field(3, ge=0, le=5, description="Maximum query variants searched besides the question.")
    query_mode: Literal["question", "session"] = Field(
        "question", description="Default search query: the question alone, or all questions of the session."
    )
    session_messages: int = Field(50, ge=1, le=200, description="Messages used as history in `session` mode.")
    summary_after_messages: int = Field(
        10, ge=2, le=1_000, description="Messages before a conversation is first summarized."
    )
    summary_every_turns: int = Field(5, ge=0, le=100, description="Turns between two summaries; 0: no summaries.")
    glossary_ttl_s: int = Field(
        60, ge=0, le=86_400, description="Seconds that a tenant's glossary is used before the bucket is checked again."
    )
    max_question_characters: int = Field(4_000, ge=1, le=100_000, description="Maximum characters of a question.")
    neighbours: int = Field(
        0, ge=0, le=3, description="Neighbouring passages added on each side of the best three passages."
    )
    diversity: float = Field(
        0.0, ge=0, le=1, description="Weight of the penalty for passages that repeat a better one; 0: off."
    )
    rerank_model: str = Field(
        "", description="Pinecone's model that reranks the best 30 passages (bge-reranker-v2-m3); empty means none."
    )
    rerank_path: str = Field(
        "",
        description="Folder of a cross-encoder (`model.onnx`, `tokenizer.json`) that reranks in the function itself; "
        "empty means none.",
    )
    context_budget_tokens: int = Field(6_000, ge=256, description="Maximum tokens of sources sent to the chat model.")
    max_output_tokens: int = Field(2_048, ge=16, description="Maximum tokens of an answer.")
    temperature: float = Field(0.3, ge=0, le=2, description="Sampling temperature; low values stay near the sources.")
    chat_structured: bool = Field(
        True,
        description="Ask the chat model for claims with quotes as JSON (response_format json_schema; a server "
        "that refuses it is asked in the prompt only). If off, ask for sentences with markers.",
    )
    request_deadline_s: float = Field(
        26.0, gt=0, le=28, description="Seconds a request may take; API Gateway times out at 29."
    )
    stream_timeout_s: float = Field(
        120.0, ge=30, le=900, description="Seconds a streamed answer may take; API Gateway allows 15 minutes."
    )
    embedding_cache_ttl_s: int = Field(
        7 * 86_400, ge=0, description="Seconds that a query embedding is cached; 0: off."
    )
    answer_cache_ttl_s: int = Field(
        300, ge=0, description="Seconds that an answer is cached, unless a document changes; 0: off."
    )
    grounding: Literal["marked", "strict"] = Field(
        "marked", description="Claims that the sources neither confirm nor refute: shown with a mark, or left out."
    )
    check_model: str = Field(
        "", description="Chat model that is asked about unconfirmed claims, with their quotes only; empty means none."
    )
    check_path: str = Field(
        "",
        description="Folder of a model of natural language inference (`model.onnx`, `tokenizer.json`, `config.json`) "
        "that is asked instead, in the function itself; empty means none.",
    )
    check_threshold: float = Field(0.9, ge=0.5, le=1, description="Probability from which that model's opinion counts.")
    check_base_url: str = Field("", description="Base URL of the check model's API; empty means that of the chat API.")
    handoff_offer: bool = Field(
        True, description="Offer a person's help if the documents have no answer; turn off if nobody can help."
    )
    suggestions: int = Field(0, ge=0, le=3, description="Maximum follow-up questions suggested with an answer.")
    unanswered_days: int = Field(
        90, ge=0, le=3_650, description="Days that refused questions are kept for `GET /insights/unanswered`; 0: none."
    )
    upload_expires_s: int = Field(900, ge=60, le=3_600, description="Seconds until an upload link expires.")
    user_questions_per_minute: int = Field(0, ge=0, description="Questions a user may ask a minute; 0: no limit.")
    conversation_questions_per_minute: int = Field(
        0, ge=0, description="Questions a conversation may have a minute; 0: no limit."
    )
    user_questions_per_day: int = Field(0, ge=0, description="Questions a user may ask a day (UTC); 0: no limit.")
    user_tokens_per_day: int = Field(0, ge=0, description="Tokens a user may use a day (UTC); 0: no limit.")
    tenant_questions_per_day: int = Field(0, ge=0, description="Questions a tenant may ask a day; 0: no limit.")
    tenant_tokens_per_day: int = Field(0, ge=0, description="Tokens a tenant may use a day; 0: no limit.")
    limit_overrides: str = Field(
        "", description='Limits of single tenants, as JSON: {"acme": {"user_questions_per_day": 500}}.'
    )
    cors_allow_origins: str = Field("*", description="Web origins that may call the API, comma-separated.")
    default_language: str = Field("en", description="Language of fixed messages when the request names none.")

    @cached_property
    def embedding_space(self) -> EmbeddingSpace:
        """Model and dimensions, which must be the same for both functions."""
        return EmbeddingSpace(self.embedding_model, self.embedding_dimensions)

    def for_space(self, index: str, space: EmbeddingSpace) -> "Settings":
        """Return these settings with the index and embedding space of an earlier index version."""
        elsewhere = index != self.pinecone_index
        named = {
            "pinecone_index": index,
            "pinecone_host": "" if elsewhere else self.pinecone_host,
            "embedding_model": space.model,
            "embedding_dimensions": space.dimensions,
        }
        if space.model != self.embedding_model and space.model in SCORE_THRESHOLDS:
            named |= {"score_threshold": None, "relaxed_threshold": None, "statement_threshold": None}
            named |= {"confidence_coefficients": ""}
        elif space.model != self.embedding_model:
            # The earlier model's threshold is unknown: the current one is better than no answers until the switch.
            named |= {"score_threshold": self.threshold, "relaxed_threshold": None, "confidence_coefficients": ""}
        return Settings.model_validate(self.model_dump() | named)

    @cached_property
    def threshold(self) -> float:
        """The score threshold: the setting, else the model's default.

        Raises `ConfigurationError` for a model without a default, and if the relaxed threshold is not lower.
        """
        threshold = self._threshold
        if self.relaxed_threshold is not None and self.relaxed_threshold >= threshold:
            raise ConfigurationError(
                f"RECTO_RELAXED_THRESHOLD is {self.relaxed_threshold:g}, which has no effect: set it below the "
                f"score threshold ({threshold:g}), or leave it empty (template parameter RelaxedThreshold)."
            )
        return threshold

    @property
    def _threshold(self) -> float:
        if self.score_threshold is not None:
            return self.score_threshold
        if self.embedding_model not in SCORE_THRESHOLDS:
            raise ConfigurationError(
                f"No score threshold is known for {self.embedding_model!r}: measure one (`python -m evals calibrate`) "
                "and set RECTO_SCORE_THRESHOLD (template parameter ScoreThreshold)."
            )
        return SCORE_THRESHOLDS[self.embedding_model]

    @property
    def second_look_threshold(self) -> float:
        """Similarity from which on a single statement answers: the setting, else the model's default, else never."""
        if self.statement_threshold is not None:
            return self.statement_threshold
        return STATEMENT_THRESHOLDS.get(self.embedding_model, NEVER)

    @property
    def confidence(self) -> Sequence[float] | None:
        """The coefficients of confidence: the setting's, else the model's; None if nobody has measured them."""
        if self.confidence_coefficients:
            return tuple(float(each) for each in self.confidence_coefficients.split(","))
        return CONFIDENCE.get(self.embedding_model)

    @property
    def is_threshold_measured(self) -> bool:
        """Whether the threshold is set by the operator, or the measured default of the model."""
        return self.score_threshold is not None or self.embedding_model in MEASURED_MODELS

    @cached_property
    def ingest_settings_hash(self) -> str:
        """16 hex digits that change when unchanged documents must be ingested again."""
        parts = (INGEST_VERSION, self.embedding_space, self.chunk_size_tokens, self.chunk_overlap_tokens)
        return hashlib.sha256(repr(tuple(map(str, parts))).encode()).hexdigest()[:16]


NEVER = 1.0
"""A similarity that no statement reaches but one that repeats the question."""

INGEST_VERSION = 36
"""Increase this when the parser or chunker changes what is stored, so that documents are ingested again."""
