"""One frozen `Settings`, read once from the environment. Every field says its unit, its default and why.

The names are upper-case and prefixed with `RECTO_` in the environment: `top_k` is `RECTO_TOP_K`. Each is a parameter of
`template.yaml` or wired there, and is listed in docs/settings.md; a test holds the three together.
"""

import hashlib
from functools import cached_property
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.errors import ConfigurationError
from shared.models import EmbeddingSpace

SCORE_THRESHOLDS = {
    # Relevance (`functions.query.decision`) under which the best passage is taken to say nothing about it.
    # MiniLM's is measured: `python -m evals calibrate`, docs/quality.md.
    "all-MiniLM-L6-v2": 0.35,
    # OpenAI's are guesses: no account was used to measure them. Calibrate them on documents of your own.
    "text-embedding-3-small": 0.30,
    "text-embedding-3-large": 0.30,
}
MEASURED_MODELS = frozenset({"all-MiniLM-L6-v2"})
"""Embedding models whose threshold was measured; with any other one the service says at its start that it was not."""


class Settings(BaseSettings):
    """Everything an operator can tune, and the names of the stack's own resources."""

    model_config = SettingsConfigDict(
        env_prefix="RECTO_", frozen=True, extra="ignore", protected_namespaces=(), env_ignore_empty=True
    )

    # --- wiring, set by the template -----------------------------------------------------------------------------
    documents_table: str = Field("", description="DynamoDB table of the document registry.")
    conversations_table: str = Field("", description="DynamoDB table of conversations and their messages.")
    cache_table: str = Field("", description="DynamoDB table of caches, with TTL on `expires_at`.")
    bucket: str = Field("", description="S3 bucket the PDFs lie in.")
    queue_url: str = Field("", description="SQS queue of change notifications, for continuations and re-index.")
    secret_id: str = Field("", description="Secrets Manager id of a JSON object: OPENAI_API_KEY, PINECONE_API_KEY.")
    log_content: bool = Field(
        False, description="Log questions and passages too. Off, because logs outlive documents and are read by many."
    )

    # --- models --------------------------------------------------------------------------------------------------
    openai_base_url: str = Field(
        "https://api.openai.com/v1", description="Base URL of the embeddings API (and of chat, unless set apart)."
    )
    chat_base_url: str = Field("", description="Base URL of the chat API; empty means `openai_base_url`.")
    chat_model: str = Field("", description="Chat model; empty means answers are extractive, with no model call.")
    embedding_model: str = Field("text-embedding-3-small", description="Embedding model, the same for both functions.")
    embedding_dimensions: int = Field(1536, ge=1, le=20_000, description="Dimensions of an embedding.")
    embedding_batch_inputs: int = Field(
        256, ge=1, le=2048, description="Texts in one embeddings request at most (OpenAI's limit: 2,048)."
    )
    embedding_batch_tokens: int = Field(
        100_000, ge=8_191, le=300_000, description="Tokens in one embeddings request at most (OpenAI's limit: 300,000)."
    )

    # --- vectors -------------------------------------------------------------------------------------------------
    pinecone_index: str = Field("recto", description="Pinecone index name; the embedding space is part of it.")
    pinecone_host: str = Field("", description="Data-plane host of the index; empty means ask the control plane once.")
    pinecone_control_url: str = Field("https://api.pinecone.io", description="Pinecone control plane.")

    # --- ingest --------------------------------------------------------------------------------------------------
    chunk_size_tokens: int = Field(512, ge=64, le=2048, description="Tokens in a chunk at most, overlap included.")
    chunk_overlap_tokens: int = Field(
        50, ge=0, le=512, description="Tokens a chunk repeats of the one before, at most."
    )
    chunk_cache_ttl_s: int = Field(
        0,
        ge=0,
        description="Seconds a passage's vector is kept for other documents with the same passage; 0 turns it off. "
        "Off, because writing one (7 units of DynamoDB, 4 millionths of a dollar) costs 0.4 times as much as embedding "
        "512 tokens by text-embedding-3-small (10 millionths): it pays where more than half of all passages recur.",
    )
    max_file_bytes: int = Field(100 * 2**20, ge=1, description="Bytes of an upload at most.")
    max_pages: int = Field(5_000, ge=1, description="Pages of a document at most.")
    parse_timeout_s: float = Field(25.0, gt=0, description="Wall-clock seconds one parsing run may take.")
    parse_memory_mb: int = Field(320, ge=64, description="Address space of the parsing child, in MiB above its start.")
    lease_s: int = Field(120, ge=1, description="Seconds a worker holds a document without renewing.")
    reindex_automatically: bool = Field(
        True,
        description="After a change of model, chunking or parser, build all documents anew beside the old; switch.",
    )

    # --- query ---------------------------------------------------------------------------------------------------
    top_k: int = Field(7, ge=1, le=50, description="Passages an answer is made from at most.")
    score_threshold: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Relevance (similarity and words of the best passage) under which nothing is answered; empty means "
        "the model's shipped default. `python -m evals calibrate` measures it.",
    )
    relaxed_threshold: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Relevance that is enough when nothing reaches the threshold; the answer is marked. Empty: off.",
    )
    history_messages: int = Field(5, ge=0, le=50, description="Messages of the conversation that are read back.")
    rewrite_model: str = Field(
        "", description="Chat model that makes a follow-up stand alone; empty means `chat_model`. A cheap one will do."
    )
    rewrite_timeout_s: float = Field(
        3.0, gt=0, le=20, description="Seconds the rewrite may take; then a follow-up is rewritten without the model."
    )
    rewrite_output_tokens: int = Field(300, ge=32, le=2_048, description="Tokens of a rewrite at most.")
    query_variations: int = Field(
        3, ge=0, le=5, description="Variants of a question that are searched together with it at most."
    )
    query_mode: Literal["question", "session"] = Field(
        "question", description="What is searched for when a request does not say: the question, or all that was asked."
    )
    session_messages: int = Field(50, ge=1, le=200, description="Messages that are read back where `session` is asked.")
    summary_after_messages: int = Field(
        10, ge=2, le=1_000, description="Messages a conversation must have before it is summed up."
    )
    summary_every_turns: int = Field(
        5, ge=0, le=100, description="Questions and answers between two summaries; 0 means conversations have none."
    )
    glossary_ttl_s: int = Field(
        60, ge=0, le=86_400, description="Seconds a tenant's glossary is used before the bucket is asked for changes."
    )
    max_question_characters: int = Field(4_000, ge=1, le=100_000, description="Characters of a question at most.")
    neighbours: int = Field(
        0, ge=0, le=3, description="Passages before and after each of the best three that come with it, at most."
    )
    diversity: float = Field(
        0.0, ge=0, le=1, description="How much a passage stands back for saying what a better one says; 0 turns it off."
    )
    rerank_model: str = Field(
        "", description="Pinecone's model that reranks the best 30 passages (bge-reranker-v2-m3); empty means none."
    )
    context_budget_tokens: int = Field(6_000, ge=256, description="Tokens of sources put before the model at most.")
    max_output_tokens: int = Field(2_048, ge=16, description="Tokens of an answer at most.")
    temperature: float = Field(0.3, ge=0, le=2, description="Sampling temperature; low keeps to the sources.")
    chat_structured: bool = Field(
        True,
        description="Ask the chat model for claims with quotes as JSON (response_format json_schema); off, or where "
        "the server refuses it, for sentences with markers.",
    )
    request_deadline_s: float = Field(
        26.0, gt=0, le=28, description="Seconds a request may take; API Gateway gives up at 29."
    )
    embedding_cache_ttl_s: int = Field(
        7 * 86_400, ge=0, description="Seconds a query embedding is remembered; 0 turns the cache off."
    )
    answer_cache_ttl_s: int = Field(
        300,
        ge=0,
        description="Seconds an answer is given again to the same question, unless a document changes; 0 turns it off.",
    )
    handoff_offer: bool = Field(
        True, description="Offer a person's help where the documents have no answer; off where nobody would come."
    )
    upload_expires_s: int = Field(900, ge=60, le=3_600, description="Seconds an upload link is good for.")
    cors_allow_origins: str = Field("*", description="Web origins that may call the API, with commas between them.")
    default_language: str = Field("en", description="Language of fixed messages when the request names none.")

    @cached_property
    def embedding_space(self) -> EmbeddingSpace:
        """Model and dimensions, the part of a vector's identity both functions must agree on."""
        return EmbeddingSpace(self.embedding_model, self.embedding_dimensions)

    def for_space(self, index: str, space: EmbeddingSpace) -> "Settings":
        """Return these settings with another index and embedding space: those of an index version that was built
        earlier.
        """
        elsewhere = index != self.pinecone_index
        named = {
            "pinecone_index": index,
            "pinecone_host": "" if elsewhere else self.pinecone_host,
            "embedding_model": space.model,
            "embedding_dimensions": space.dimensions,
        }
        if space.model != self.embedding_model and space.model in SCORE_THRESHOLDS:  # thresholds are those of a model
            named |= {"score_threshold": None, "relaxed_threshold": None}
        elif space.model != self.embedding_model:
            # Nobody has told the former model's: a neighbour's is nearer to the truth than no answers until the switch.
            named |= {"score_threshold": self.threshold, "relaxed_threshold": None}
        return Settings.model_validate(self.model_dump() | named)

    @cached_property
    def threshold(self) -> float:
        """The score threshold in force.

        Raises `ConfigurationError` for a model nobody has calibrated, and for a relaxed threshold that is not lower.
        """
        threshold = self._threshold
        if self.relaxed_threshold is not None and self.relaxed_threshold >= threshold:
            raise ConfigurationError(
                f"RECTO_RELAXED_THRESHOLD is {self.relaxed_threshold:g}, and would let nothing more through: set it "
                f"below the score threshold ({threshold:g}), or leave it empty (template parameter RelaxedThreshold)."
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
    def is_threshold_measured(self) -> bool:
        """Whether somebody measured the threshold in force: it is set, or shipped for a model that was measured."""
        return self.score_threshold is not None or self.embedding_model in MEASURED_MODELS

    @cached_property
    def ingest_settings_hash(self) -> str:
        """Changes when a document has to be ingested again although its bytes are the same: 16 hex digits."""
        parts = (INGEST_VERSION, self.embedding_space, self.chunk_size_tokens, self.chunk_overlap_tokens)
        return hashlib.sha256(repr(tuple(map(str, parts))).encode()).hexdigest()[:16]


INGEST_VERSION = 4
"""Raise this when parser or chunker change what is stored, so that documents are ingested again."""
