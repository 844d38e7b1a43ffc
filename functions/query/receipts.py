"""The receipt of an answer: everything it was made from, so that it can be explained later, and made again.

`provenance_of` records how the answer was made; it is cached with the answer. `receipt_of` adds what belongs to one
request. Passages are named by id and by the hash of their text, never copied.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Literal

from functions.query.answer import Answer, Question
from functions.query.explaining import EXPLAINED, in_final_order, parts_of
from functions.query.finding import Found
from functions.query.history import HistoryContext
from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage
from functions.query.writing.generation import WrittenAnswer
from functions.query.writing.prompting import PROMPT_VERSION
from shared.models import content_hash_of
from shared.prices import cost_usd
from shared.receipts import FORMAT, Receipt
from shared.settings import Settings
from shared.telemetry import RELEASE, VERSION

MAX_UNPUBLISHED = 50
"""The most dropped hits that a receipt names; it counts the rest."""
MAX_CLAIM_CHARACTERS = 500
SHAPING = (
    "answer_cache_ttl_s",
    "chat_api",
    "chat_model",
    "chat_structured",
    "check_model",
    "check_path",
    "check_threshold",
    "chunk_overlap_tokens",
    "chunk_size_tokens",
    "confidence_coefficients",
    "context_budget_tokens",
    "default_language",
    "diversity",
    "embedding_cache_ttl_s",
    "embedding_dimensions",
    "embedding_model",
    "grounding",
    "history_messages",
    "max_output_tokens",
    "neighbours",
    "query_mode",
    "query_variations",
    "reasoning_effort",
    "relaxed_threshold",
    "rerank_model",
    "rerank_path",
    "rewrite_model",
    "score_threshold",
    "session_messages",
    "statement_threshold",
    "suggestions",
    "summary_after_messages",
    "summary_every_turns",
    "temperature",
    "top_k",
)
"""Settings that shape an answer. Addresses, names of resources and limits are the operator's, and not in receipts."""

type Fate = Literal["source", "refused", "over_budget", "not_chosen"]
"""The fate of a candidate: the answer was made from it; it was chosen, but nothing was relevant enough, or there was no
room for it; or others ranked before it."""


def provenance_of(found: Found, written: WrittenAnswer, settings: Settings) -> dict[str, Any]:
    """Record how an answer was made: what was searched for and found, what was decided, and the verdicts of claims."""
    asked, decision, retrieved = found.asked, found.decision, found.retrieved
    dropped = list(retrieved.dropped) if retrieved else []
    return {
        "searched": asked.standalone,
        "language": asked.language,
        "rewritten_by": asked.rewritten_by,
        "variants": [[each.text, each.weight] for each in asked.variants],
        "filter": asked.filter,
        "parts": [
            {"name": each.part.name, "question": each.part.question, "status": each.status} for each in found.parts
        ],
        "decision": {
            "relevant": decision.relevant,
            "relevance": round(decision.score, 4),
            "threshold": decision.threshold,
            "band": decision.band.value,
            "relaxed": decision.relaxed,
            "absent": list(decision.absent),
            "statement_similarity": round(max(near), 4) if (near := decision.near_statements.values()) else None,
        },
        "candidates": _candidates(found),
        "hits": len(retrieved.scored) if retrieved else len(found.sources),
        "duplicates": retrieved.duplicates if retrieved else 0,
        "unpublished": dropped[:MAX_UNPUBLISHED],
        "unpublished_count": len(dropped),
        "prompt": _prompt(written, settings),
        "claims": [
            {
                "text": "" if each.shown else each.text[:MAX_CLAIM_CHARACTERS],  # what is shown stands in the answer
                "shown": each.shown,
                "verdict": each.verdict.value,
                "flags": list(each.flags),
                "sources": list(each.sources),
            }
            for each in written.fates
        ],
    }


def receipt_of(
    question: Question,
    answer: Answer,
    history: HistoryContext,
    timings_ms: Mapping[str, float],
    ports: QueryPorts,
) -> Receipt:
    """Return the receipt of an answer that is about to be saved."""
    values, digest = _settings_of(ports.settings)
    cited = {citation.document_id: None for message in history.messages for citation in message.citations}
    return {
        "format": FORMAT,
        "asked": {
            "top_k": question.top_k,
            "filter": question.filter,
            "language": question.language,
            "mode": question.mode,
            "preferences": dict(question.preferences),
        },
        "history": {
            "messages": [message.message_id for message in history.messages],
            "documents": list(cited),
            "summarized": bool(history.summary),
        },
        "version": VERSION,
        "release": RELEASE,
        "settings": dict(values),
        "settings_hash": digest,
        "index_version": ports.index_number,
        "space": str(ports.settings.embedding_space),
        "made": answer.provenance,
        "mode": answer.mode,
        "refusal": answer.refusal,
        "confidence": answer.confidence,
        "cached": answer.cached,
        "embedding_cached": answer.embedding_cached,
        "spent": {
            model: {**asdict(usage), "cost_usd": cost_usd(model, usage)} for model, usage in answer.spent.items()
        },
        "warnings": list(answer.warnings),
        "timings_ms": {stage: round(value, 1) for stage, value in timings_ms.items()},
    }


@cache
def _settings_of(settings: Settings) -> tuple[Mapping[str, Any], str]:
    """Return the settings that shape an answer, and a hash of them (16 hex digits)."""
    values = {name: getattr(settings, name) for name in SHAPING}
    values |= {"score_threshold": settings.threshold, "statement_threshold": settings.second_look_threshold}
    return values, hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def _prompt(written: WrittenAnswer, settings: Settings) -> dict[str, Any] | None:
    """Return the model, the prompt's hash and the parameters; None if no model was asked."""
    if not written.prompt_hash:
        return None
    return {
        "hash": written.prompt_hash,
        "version": PROMPT_VERSION,
        "model": written.model,
        "finish_reason": written.finish_reason,
        "check_model": written.check_model,
        "temperature": settings.temperature,
        "max_output_tokens": settings.max_output_tokens,
        "structured": settings.chat_structured,
        "reasoning_effort": settings.reasoning_effort,
    }


def _candidates(found: Found) -> list[dict[str, Any]]:
    """Return the best hits, best first, and any other sources of the question's parts.

    Only similarities that the search has computed are used: computing more would take longer than all the rest.
    """
    numbers = {source.chunk_id: at for at, source in enumerate(found.sources, start=1)}
    candidates: dict[str, dict[str, Any]] = {}
    if retrieved := found.retrieved:
        chosen = {each.chunk_id: each.similarity for each in retrieved.passages}
        unchosen: Fate = "over_budget" if found.decision.relevant else "refused"
        has_vector = found.search is not None and found.search.vector is not None
        for ranked in in_final_order(retrieved)[: max(EXPLAINED, len(chosen))]:
            passage = ranked.passage
            name = passage.chunk_id
            known = chosen.get(name, retrieved.similarities.get(name)) if has_vector else None
            candidates[name] = {
                **_named(passage, found, numbers),
                "fate": "source" if name in numbers else unchosen if name in chosen else "not_chosen",
                "score": round(ranked.score, 4),
                "parts": _rounded(parts_of(ranked, known if has_vector else 0.0)),
                **_rounded({"similarity": known, "rerank": retrieved.reranked.get(name)}),
            }
    for source in found.sources:
        if source.chunk_id not in candidates:
            candidates[source.chunk_id] = {
                **_named(source, found, numbers),
                "fate": "source",
                "score": round(source.rank_score, 4),
                **_rounded({"similarity": source.similarity}),
            }
    return list(candidates.values())


def _named(passage: Passage, found: Found, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return a passage and what the decision saw of it, without values that are as in `shared.receipts.UNSAID`."""
    said: dict[str, Any] = {
        "passage_id": passage.chunk_id,
        "document_id": passage.document_id,
        "text_hash": content_hash_of(passage.text),
        "version_id": passage.version_id,
        "page_start": passage.page_start,
        "page_end": passage.page_end,
    }
    if passage.corrected:
        said["corrected"] = True
    if number := numbers.get(passage.chunk_id):
        said["source"] = number
    if seen := found.decision.relevances.get(passage.chunk_id):
        said |= _rounded({"relevance": seen.relevance, "coverage": seen.coverage})
    return said


def _rounded(values: Mapping[str, float | None]) -> dict[str, float]:
    """Round the numbers, and leave out those that are zero or unknown."""
    return {name: round(value, 4) for name, value in values.items() if value}
