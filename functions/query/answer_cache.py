"""The answer cache: the same question about the same documents under the same settings gets the same answer.

An entry is bound to the tenant's knowledge version, so any change of a document invalidates it. Before it is reused,
every document it was made from is looked up: no answer is made from a deleted or replaced document, even if the version
was not raised in time. Refusals are cached too. Answers for which something failed are not, nor are answers within a
conversation: another user must not see its traces. Where documents have rules, only readers with the same rights share
answers.
"""

import hashlib
import json
import zlib
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from functions.query.answer import DECIDED, Answer, Question
from functions.query.decision import Band, NearMiss
from functions.query.grounding.verify import Support
from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import Understood
from functions.query.writing.prompting import PROMPT_VERSION
from shared.errors import DependencyError
from shared.models import AnswerClaim, Citation, Principal, SourceType
from shared.ports import TenantKnowledge
from shared.settings import Settings

FORMAT = 8
"""Raise this when the stored form changes."""
STALE_S = 3_600
"""Seconds an answer is kept for use while the index cannot be searched, even if documents were added since."""
_NOT_STORED = {
    "conversation_id",
    "message_id",
    "spent",
    "found_by",
    "timings_ms",
    "language",
    "rewritten",
    "cached",
    "decision",
    "explanation",
}


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An earlier answer, the knowledge version it was made under, and when (seconds since the epoch)."""

    answer: Answer
    knowledge_version: str
    at_s: float


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """The key of an answer and the entry found there. An empty `knowledge_version` means that caching is off.

    `is_restricted`: documents of the tenant have access rules.
    """

    key: str
    knowledge_version: str
    cached: CachedAnswer | None
    is_restricted: bool


def look_up(
    question: Question, understood: Understood, language: str, principal: Principal, ports: QueryPorts
) -> CacheLookup:
    """Look for an answer to the same question, fresh or not. A cache that is down or unreadable is a miss."""
    tenant, knowledge = principal.tenant, _knowledge(principal.tenant, ports)
    parts = [
        FORMAT,
        PROMPT_VERSION,
        ports.index_number,
        _settings_hash(ports.settings),
        understood.standalone,
        [variant.text for variant in understood.variants],
        [part.question for part in understood.parts],
        [question.filter, understood.filter, understood.boosts],
        question.top_k,
        language,
        dict(question.preferences),
        *_access_traits(principal, knowledge.restricted),
    ]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
    key, version = f"ANS#{tenant}#{digest}", knowledge.version
    data = ports.answers.get(key) if ports.answers is not None and version else None
    cached = _decoded(data) if data is not None else None
    return CacheLookup(key, version, cached, is_restricted=bool(knowledge.restricted))


def _access_traits(principal: Principal, restricted: Set[str]) -> Sequence[object]:
    """Return what access rules can depend on in this reader: groups, and the id if a rule names users."""
    if not restricted:
        return ()
    return sorted(principal.groups), principal.user if "users" in restricted else ""


def fresh_answer(lookup: CacheLookup, tenant: str, ports: QueryPorts) -> Answer | None:
    """Return the cached answer if it is young enough and no document has changed since. Raises `DependencyError`."""
    cached = lookup.cached
    if cached is None or cached.knowledge_version != lookup.knowledge_version:
        return None
    age_s = ports.clock.now().timestamp() - cached.at_s
    is_fresh = age_s < ports.settings.answer_cache_ttl_s and _is_published(cached.answer, tenant, ports)
    return cached.answer if is_fresh else None


def stale_answer(lookup: CacheLookup, error: DependencyError, tenant: str, ports: QueryPorts) -> Answer:
    """Return an answer of the last hour if the index is down and what it cites is published; else raise `error`.

    Where documents have rules, it must be of the present knowledge version: an earlier answer may name documents, other
    than those it cites, that its reader may no longer read.
    """
    if error.dependency == "vectors" and (cached := lookup.cached):
        if lookup.is_restricted and cached.knowledge_version != lookup.knowledge_version:
            raise error
        cited = {citation.document_id for citation in cached.answer.citations}
        if _is_published(cached.answer, tenant, ports, only=cited, unedited=True):
            return cached.answer
    raise error


def store(lookup: CacheLookup, answer: Answer, ports: QueryPorts) -> None:
    """Cache an answer, unless something failed while it was made, for its fresh time and at least for `STALE_S`."""
    if ports.answers is None or not lookup.knowledge_version or not DECIDED.issuperset(answer.warnings):
        return
    stored = asdict(replace(answer, sources=(), nearest=(), decision=None, explanation=None, provenance=None))
    values = {name: value for name, value in stored.items() if name not in _NOT_STORED}
    values["sources"], values["nearest"] = _places(answer.sources), _places(answer.nearest)
    values["provenance"] = answer.provenance
    entry = {"version": lookup.knowledge_version, "at": ports.clock.now().timestamp(), "answer": values}
    data = zlib.compress(json.dumps(entry, separators=(",", ":")).encode(), level=1)
    ports.answers.put(lookup.key, data, ttl_s=max(ports.settings.answer_cache_ttl_s, STALE_S))


def _places(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Return passages without their texts, because responses show only where they stand."""
    return [each._replace(text="", cover="", rects="", pages=(), sections=())._asdict() for each in passages]


def _knowledge(tenant: str, ports: QueryPorts) -> TenantKnowledge:
    if ports.answers is None or ports.knowledge is None or not ports.settings.answer_cache_ttl_s:
        return TenantKnowledge("")
    try:
        return ports.knowledge.knowledge(tenant)
    except DependencyError:
        return TenantKnowledge("")


def _is_published(
    answer: Answer, tenant: str, ports: QueryPorts, *, only: set[str] | None = None, unedited: bool = False
) -> bool:
    """Say whether each document of the answer (or of `only`) is published in the generation it was made from.

    With `unedited`, no passage of them may ever have been edited: an edit may be younger than the answer.
    """
    made_from = {
        passage.document_id: passage.generation
        for passage in (*answer.sources, *answer.nearest)
        if only is None or passage.document_id in only
    }
    if not made_from:
        return True
    shown = ports.registry.published_documents(tenant, list(made_from), index_version=ports.index_number)
    return all(
        document in shown and shown[document].generation == generation and not (unedited and shown[document].edits)
        for document, generation in made_from.items()
    )


def _decoded(data: bytes) -> CachedAnswer | None:
    try:
        stored = json.loads(zlib.decompress(data))
        values = dict(stored["answer"])
        values["citations"] = tuple(map(Citation.of, values["citations"]))
        values["claims"] = tuple(map(AnswerClaim.of, values["claims"]))
        for name in ("sources", "nearest"):
            values[name] = tuple(
                Passage(**{**each, "source_type": SourceType(each["source_type"])}) for each in values[name]
            )
        values["support"] = Support(**{**values["support"], "flags": tuple(values["support"]["flags"])})
        values["near_misses"] = tuple(NearMiss(**each) for each in values["near_misses"])
        values["band"], values["bands"] = Band(values["band"]), tuple(map(Band, values["bands"]))
        answer = Answer(**values | {"cached": True, "embedding_cached": False})
        return CachedAnswer(answer, str(stored["version"]), float(stored["at"]))
    except (ValueError, TypeError, KeyError, zlib.error):
        return None


@cache
def _settings_hash(settings: Settings) -> str:
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:16]
