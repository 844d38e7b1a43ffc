"""Answers given before: the same question about the same documents under the same settings is not worked out twice.

An answer is kept under the tenant's knowledge version, so that it dies when any document changes; and before it is
given again, every document it was made from is looked up, so that what was deleted or replaced is never answered from,
even where the version was not counted up in time. Refusals are kept too. Not kept is what was written with something
missing (`warnings`), or with a conversation before it: another asker must not see its traces.
"""

import hashlib
import json
import zlib
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from functions.query.answer import Answer
from functions.query.decision import Band
from functions.query.grounding.verify import Support
from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage
from shared.errors import DependencyError
from shared.models import FIRST_INDEX_VERSION, Citation, SourceType
from shared.settings import Settings

FORM = 2
"""Raise this when the form of what is kept changes."""
STALE_S = 3_600
"""Seconds an answer is kept for the time when the index cannot be searched, whatever has been added since."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer given before, the knowledge version it was made under, and when (seconds of the epoch)."""

    answer: Answer
    version: str
    at: float


def key_of(tenant: str, ports: QueryPorts, *about: object) -> str:
    """Return the key: tenant, index version, every setting, and all that the answer depends on besides (`about`)."""
    index_version = ports.index_version.number if ports.index_version else FIRST_INDEX_VERSION
    parts = json.dumps([FORM, index_version, _settings_hash(ports.settings), *about], sort_keys=True, default=str)
    return f"ANS#{tenant}#{hashlib.sha256(parts.encode()).hexdigest()}"


def version_of(tenant: str, ports: QueryPorts) -> str:
    """Return the tenant's knowledge version, empty when there is no cache, or the version cannot be read."""
    if ports.answers is None or ports.knowledge is None or not ports.settings.answer_cache_ttl_s:
        return ""
    try:
        return ports.knowledge.version(tenant)
    except DependencyError:
        return ""


def find(key: str, ports: QueryPorts) -> Kept | None:
    """Return what is kept under the key, fresh or not. A cache that is down, or holds nonsense, holds nothing."""
    data = ports.answers.get(key) if ports.answers is not None else None
    if data is None:
        return None
    try:
        return _kept_of(json.loads(zlib.decompress(data)))
    except (ValueError, TypeError, KeyError, zlib.error):
        return None


def is_fresh(kept: Kept, version: str, ports: QueryPorts) -> bool:
    """Say whether the answer is young enough, and no document has changed since."""
    age_s = ports.clock.now().timestamp() - kept.at
    return kept.version == version and age_s < ports.settings.answer_cache_ttl_s


def still_stands(kept: Kept, tenant: str, ports: QueryPorts, *, cited_only: bool = False) -> bool:
    """Say whether every document the answer was made from is published as it was. Raises `DependencyError`.

    `cited_only` looks at those alone whose words are in the answer.
    """
    cited = {citation.document_id for citation in kept.answer.citations}
    made_from = {
        source.document_id: source.generation
        for source in kept.answer.sources
        if not cited_only or source.document_id in cited
    }
    if not made_from:
        return True
    index_version = ports.index_version.number if ports.index_version else FIRST_INDEX_VERSION
    published = ports.registry.published_generations(tenant, list(made_from), index_version=index_version)
    return all(published.get(document) == generation for document, generation in made_from.items())


def keep(key: str, answer: Answer, version: str, ports: QueryPorts) -> None:
    """Keep an answer for the time it is fresh, and for the hour after it."""
    if ports.answers is None or not version or answer.warnings:
        return
    kept = {"version": version, "at": ports.clock.now().timestamp(), "answer": _plain(answer)}
    data = zlib.compress(json.dumps(kept, separators=(",", ":")).encode(), level=1)
    ports.answers.put(key, data, ttl_s=max(ports.settings.answer_cache_ttl_s, STALE_S))


def _plain(answer: Answer) -> dict[str, Any]:
    left_out = {"conversation_id", "message_id", "usage", "timings_ms", "warnings", "rewritten", "cached", "sources"}
    left_out |= {"decision"}
    values = {name: value for name, value in asdict(answer).items() if name not in left_out}
    # The texts stay in the index: what is shown of a source is where it stands.
    bare = [replace(source, text="", cover="", pages=(), sections=()) for source in answer.sources]
    return values | {"sources": [asdict(source) for source in bare]}


def _kept_of(stored: dict[str, Any]) -> Kept:
    values = dict(stored["answer"])
    values["citations"] = tuple(_of(Citation, each) for each in values["citations"])
    values["sources"] = tuple(_of(Passage, each) for each in values["sources"])
    values["support"] = Support(**{**values["support"], "flags": tuple(values["support"]["flags"])})
    values["band"], values["bands"] = Band(values["band"]), tuple(map(Band, values["bands"]))
    return Kept(Answer(conversation_id="", message_id="", **values), str(stored["version"]), float(stored["at"]))


def _of[T](kind: type[T], values: dict[str, Any]) -> T:
    return kind(**{**values, "source_type": SourceType(values["source_type"])})


@cache
def _settings_hash(settings: Settings) -> str:
    return hashlib.sha256(settings.model_dump_json().encode()).hexdigest()[:16]
