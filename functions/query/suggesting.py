"""Follow-up questions suggested with an answer: only those that the documents answer.

Candidates are the model's own, or else questions of FAQs and headings near the sources. Each is searched for, and
suggested if a passage reaches the threshold. This runs while the answer is saved, which waits `WAIT_S` at most for it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from functions.query.answer import Answer, Question
from functions.query.decision import decide
from functions.query.finding import Found
from functions.query.grounding.injection import injected_spans
from functions.query.grounding.sanitizing import plain_name
from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage, last_title
from functions.query.retrieval.retrieve import Retrieved
from functions.query.retrieval.search import Search, embed_queries
from functions.query.service import service_texts
from shared.deadline import Deadline, Workers
from shared.errors import DependencyError
from shared.models import NO_USAGE, Match, PublishedDocument, SourceType, Usage
from shared.settings import Settings

WAIT_S = 0.5
"""Seconds that an answer waits for its suggestions at most."""
SEARCH_TIMEOUT_S = 2.0
RESERVE_S = 2.0
"""Seconds of the deadline reserved for saving: with less time there are no suggestions."""
MAX_CANDIDATES = 5
"""Candidates that are searched for, each with one query."""
NEAR_PASSAGES = 30
"""Hits whose headings and FAQs are candidates."""
CHECKED_PASSAGES = 5
"""Hits of a candidate's search: one of them must reach the threshold."""
NEAR_SHARE = 0.75
"""Share of the threshold that a refused question's best passage must reach: below it nothing is near."""
HEADING_CHARACTERS = (4, 80)

_NUMBER = re.compile(r"^(?:[A-Z]?\d+(?:\.\d+)*[.)]?|[IVXLC]+\.)\s+")
_WORKERS = Workers("suggestions")


class NearQuestion(NamedTuple):
    """A question that may be suggested. If it has a document, a search for the question must find that first."""

    text: str
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class Suggested:
    """Questions to ask next, the best first, and the tokens that checking them took."""

    questions: Sequence[str] = ()
    usage: Usage = NO_USAGE


def begin_suggestions(
    question: Question,
    found: Found,
    answer: Answer,
    own: Sequence[str],
    *,
    language: str,
    tenant: str,
    ports: QueryPorts,
    deadline: Deadline,
) -> Future[Suggested] | None:
    """Start to look for questions to suggest; `own` are the model's. None if that is off, or if nothing is near."""
    if not ports.settings.suggestions:
        return None
    if answer.no_relevant_info and found.decision.score < NEAR_SHARE * found.decision.threshold:
        return None
    asked = {_comparable(each) for each in (question.text, found.asked.standalone)}
    named = [NearQuestion(text) for text in own] or near_questions(found.ranked, answer, language)
    candidates = {_comparable(each.text): each for each in named if each.text and not injected_spans(each.text)}
    chosen = [candidate for name, candidate in candidates.items() if name not in asked][:MAX_CANDIDATES]
    if not chosen:
        return None
    return _WORKERS.submit(
        answerable, chosen, question, language=language, tenant=tenant, ports=ports, deadline=deadline
    )


def finish_suggestions(suggesting: Future[Suggested] | None, deadline: Deadline) -> Suggested:
    """Return what was found so far, after `WAIT_S` at most: suggestions that are late, or fail, are left out."""
    if suggesting is None:
        return Suggested()
    try:
        return suggesting.result(max(0.0, min(WAIT_S, deadline.left() - RESERVE_S)))
    except (TimeoutError, DependencyError):
        return Suggested()


def near_questions(near: Sequence[Passage], answer: Answer, language: str) -> Iterator[NearQuestion]:
    """Yield questions of FAQs among the hits, then what their documents say under headings that are not cited."""
    hits = near[:NEAR_PASSAGES]
    cited = {citation.document_id for citation in answer.citations}
    told = {_comparable(_heading(citation.section)) for citation in answer.citations}
    for passage in hits:
        is_pair = passage.source_type in {SourceType.FAQ, SourceType.RESOLVED_QUERY}
        if is_pair and passage.document_id not in cited:
            yield NearQuestion(plain_name(passage.title))
    ask = service_texts(language).what_about
    least, most = HEADING_CHARACTERS
    for passage in hits:
        heading = _heading(passage.section)
        if least <= len(heading) <= most and _comparable(heading) not in told:
            told.add(_comparable(heading))
            yield NearQuestion(ask.format(section=heading), passage.document_id)


def answerable(
    candidates: Sequence[NearQuestion],
    question: Question,
    *,
    language: str,
    tenant: str,
    ports: QueryPorts,
    deadline: Deadline,
) -> Suggested:
    """Return the candidates that the documents answer, as many as are wanted. Raises `DependencyError`."""
    settings = ports.settings
    texts = [plain_name(candidate.text) for candidate in candidates]
    embedded = embed_queries(
        texts, tenant=tenant, embedder=ports.embedder, cache=ports.cache, ttl_s=0, deadline=deadline
    )

    def look_for(candidate: NearQuestion, text: str, vector: Sequence[float]) -> _CandidateHits:
        search = Search(text, vector, settings.embedding_dimensions, ports.namespace_of(tenant), language=language)
        matches = ports.search.query(
            namespace=search.namespace,
            vector=vector,
            top_k=CHECKED_PASSAGES,
            filter=question.filter,
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=RESERVE_S),
        )
        return _CandidateHits(candidate, search, [(Passage.of(match), match) for match in matches])

    searches = [
        _WORKERS.submit(look_for, candidate, text, vector)
        for candidate, text, vector in zip(candidates, texts, embedded.vectors, strict=True)
        if vector is not None
    ]
    looked = [search.result() for search in searches]
    documents = {passage.document_id: None for each in looked for passage, _ in each.hits}
    shown = ports.registry.published_documents(tenant, list(documents), index_version=ports.index_number)
    good = (each.search.question for each in looked if _is_answered(each, shown, settings))
    return Suggested(list(islice(good, settings.suggestions)), embedded.usage)


class _CandidateHits(NamedTuple):
    """A candidate, and what the search for it has found."""

    candidate: NearQuestion
    search: Search
    hits: Sequence[tuple[Passage, Match]]


def _is_answered(looked: _CandidateHits, shown: Mapping[str, PublishedDocument], settings: Settings) -> bool:
    """Return whether what is published answers a candidate, and its own document does so best if it has one."""
    kept = [
        passage
        for passage, match in looked.hits
        if passage.document_id in shown and shown[passage.document_id].shows(passage.generation, match.metadata)
    ]
    if not kept or looked.candidate.document_id not in {"", kept[0].document_id}:
        return False
    return decide(looked.search, Retrieved(kept, kept[0].score), settings).relevant


def _heading(section: str) -> str:
    """Return the last heading of a section's path, without its number."""
    return plain_name(_NUMBER.sub("", last_title(section).strip()))


def _comparable(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
