"""What an answer is made from: steps 4 to 6 for a question and, at the same time, for each of its parts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Literal

from functions.query.answer import Question
from functions.query.decision import (
    DECIDING_PASSAGES,
    Decision,
    PassageRelevance,
    RareWords,
    coverage,
    decide,
)
from functions.query.ports import ChatModel, QueryPorts
from functions.query.retrieval.filters import both
from functions.query.retrieval.numbered import NumberedPart
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import named_documents
from functions.query.retrieval.retrieve import Retrieved, retrieve
from functions.query.retrieval.search import NOT_EMBEDDED, QueryEmbeddings, QueryVariant, Search, embed_queries
from functions.query.second_look import (
    NearStatement,
    SecondLook,
    look_again,
    statements_in_other_languages,
    statements_with_words,
)
from functions.query.understanding.model_rewriting import translate_with_model
from functions.query.understanding.question import QuestionPart, Understood, asking_part
from functions.query.understanding.spelling import corrected, corrections, stands_in
from functions.query.writing.asked import Asked, Kind
from functions.query.writing.named_items import absent_items
from functions.query.writing.prompting import within_budget
from functions.query.writing.selected_rows import selected_rows, tables_needed
from functions.query.writing.subjects import absent_subjects
from shared import identity
from shared.deadline import Deadline, StageTimer, Workers
from shared.errors import DependencyError
from shared.models import Usage, generation_named_by
from shared.settings import NEVER, Settings

NEAR_PASSAGES = 20
"""Hits whose words an answered question's misspelt ones are compared with."""
PART_COVERAGE = 0.6
"""Coverage of a part by the whole question's passages from which on they are evidence for it."""
TYPED_SHARE = 0.2
"""Share of the search that the typed question keeps beside its translation, for names that should have stayed."""

_WORKERS = Workers("part")


@dataclass(frozen=True, slots=True)
class FoundPart:
    """What was found on one part of a question; "unavailable" if the search for it failed."""

    part: QuestionPart
    status: Literal["found", "nothing", "unavailable"]
    passages: Sequence[Passage] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The passages to answer from, none for a refusal, and why.

    `near` are the statements that a second look has found. `asked` is the question as it was searched for.
    `best_score` is the highest cosine similarity; `found_by` counts the retrieved passages by the search that found
    them (`Retrieved.found_by`). `parts` is empty if the question has none, or if nothing was found on any of them
    alone. `search` and `retrieved` are those of the whole question, None if that search failed.
    """

    asked: Understood
    sources: Sequence[Passage]
    decision: Decision
    best_score: float | None
    found_by: Mapping[str, int]
    usage: Usage
    embedding_cached: bool
    warnings: Sequence[str]
    parts: Sequence[FoundPart] = ()
    search: Search | None = None
    retrieved: Retrieved | None = None
    near: Sequence[NearStatement] = ()

    @property
    def ranked(self) -> Sequence[Passage]:
        """All hits of the whole question, best first."""
        return self.retrieved.ranked if self.retrieved else ()

    def numbers_of(self, part: FoundPart) -> Sequence[int]:
        """Return the numbers of the sources, counted from 1, that were found for a part."""
        own = {passage.chunk_id for passage in part.passages}
        return [number for number, source in enumerate(self.sources, start=1) if source.chunk_id in own]


def find_passages(
    question: Question,
    understood: Understood,
    *,
    language: str,
    tenant: str,
    ports: QueryPorts,
    deadline: Deadline,
    timer: StageTimer,
) -> Found:
    """Search for the question and its parts, and decide. Raises `DependencyError` when every search failed.

    A part whose search fails is unavailable, and the others are answered. Before a refusal, a question that could not
    be embedded is searched for again; misspelt words are corrected to words of the passages found, and the search is
    repeated once; and once in the language of these passages, if a model can translate the question. At last the
    question is compared with single statements.
    """

    def search(asked: Understood) -> Found:
        return _search(question, asked, language=language, tenant=tenant, ports=ports, deadline=deadline, timer=timer)

    found = _unless_not_embedded(search(understood), search)
    if understood.respelt:
        found = _as_typed(found, search)
        understood = found.asked
    with timer.stage("decide"):
        # Where there is an answer, its words are in the first passages; the cheaper look is enough.
        near = NEAR_PASSAGES if found.decision.relevant else None
        spelt = _spelt_right(understood, found.ranked, language, near)
    if found.decision.relevant:
        # The passages are right already; the right words also choose the right sentences.
        return found if spelt is None else replace(found, asked=spelt)
    if spelt is not None:
        found = _second(found, search, spelt)
    if not found.decision.relevant and ports.rewriter is not None:
        with timer.stage("rewrite"):
            translated = _translated(found, language, ports.rewriter, settings=ports.settings, deadline=deadline)
        is_other = translated.standalone != found.asked.standalone
        found = _second(found, search, translated) if is_other else replace(found, asked=translated)
    if not (found.decision.relevant or found.decision.absent):
        with timer.stage("compare"):
            found = _looked_again(found, question.top_k or ports.settings.top_k, ports, deadline)
    return found


def _looked_again(first: Found, top_k: int, ports: QueryPorts, deadline: Deadline) -> Found:
    """Answer from single statements that are near the question, if there are any, with their passages first.

    A question in parts is refused: a statement would answer one of them, and say nothing of the others.
    """
    settings = ports.settings
    is_off = settings.second_look_threshold >= NEVER
    if is_off or first.search is None or first.retrieved is None or first.asked.parts:
        return first
    passages = first.retrieved.passages
    said = statements_with_words(first.search, first.ranked) or statements_in_other_languages(
        first.search, first.ranked
    )
    look = SecondLook(said)
    if not look.chosen:
        look = look_again(
            first.search, passages, threshold=settings.second_look_threshold, embedder=ports.embedder, deadline=deadline
        )
    usage, warnings = first.usage + look.usage, [*first.warnings, *look.warnings]
    if not look.chosen:
        return replace(first, usage=usage, warnings=warnings)
    near = {each.passage.chunk_id: each.similarity for each in reversed(look.chosen)}
    held = [each.passage for each in look.chosen]
    chosen = _merged([[*held, *passages]])[:top_k]
    return replace(
        first,
        sources=within_budget(chosen, settings.context_budget_tokens),
        decision=first.decision.answered_by(near),
        near=look.chosen,
        usage=usage,
        warnings=[*warnings, "second_look"],
    )


def _as_typed(found: Found, search: Callable[[Understood], Found]) -> Found:
    """Search for the question with its question words as typed, and take that if it finds passages with these words."""
    asked = found.asked
    typed = {word: as_typed for as_typed, word in asked.respelt}
    as_it_was = replace(
        asked,
        standalone=corrected(asked.standalone, typed),
        variants=tuple(each._replace(text=corrected(each.text, typed)) for each in asked.variants),
        parts=tuple(part._replace(question=corrected(part.question, typed)) for part in asked.parts),
    )
    try:
        other = search(as_it_was)
    except DependencyError:
        return found
    is_meant = other.decision.relevant and stands_in(typed.values(), other.ranked)
    return replace(other if is_meant else found, usage=found.usage + other.usage)


def _unless_not_embedded(first: Found, search: Callable[[Understood], Found]) -> Found:
    """Search again before refusing for lack of a vector: the provider may have been busy, say with an ingest."""
    if first.decision.relevant or NOT_EMBEDDED not in first.warnings:
        return first
    try:
        second = search(first.asked)
    except DependencyError:
        return first
    return replace(second, usage=first.usage + second.usage)


def _second(first: Found, search: Callable[[Understood], Found], asked: Understood) -> Found:
    """Search for the question in other words; return the first result if that finds nothing relevant or fails."""
    try:
        second = search(asked)
    except DependencyError:
        return first
    usage = first.usage + second.usage
    if not second.decision.relevant:
        return replace(first, usage=usage, asked=replace(first.asked, model=asked.model, usage=asked.usage))
    return replace(second, usage=usage, warnings=list(dict.fromkeys((*first.warnings, *second.warnings))))


def _spelt_right(
    understood: Understood, passages: Sequence[Passage], language: str, near: int | None
) -> Understood | None:
    """Return the question with misspelt words corrected, None if there are none."""
    words = corrections(understood.search_text, understood.language or language, passages, near=near)
    if not words:
        return None
    return replace(
        understood,
        standalone=corrected(understood.standalone, words),
        variants=(),
        parts=tuple(part._replace(question=corrected(part.question, words)) for part in understood.parts),
    )


def _translated(found: Found, language: str, chat: ChatModel, *, settings: Settings, deadline: Deadline) -> Understood:
    """Return the question in the language of most passages found; unchanged if it is in that, or if the model fails."""
    asked = found.asked
    spoken = Counter(each.language for each in found.ranked[:NEAR_PASSAGES] if each.language).most_common(1)
    if not spoken or spoken[0][0] == (asked.language or language):
        return asked
    target = spoken[0][0]
    try:
        made = translate_with_model(asked.search_text, target, chat=chat, settings=settings, deadline=deadline)
    except DependencyError:
        return asked
    asked = replace(asked, model=made.model, usage=asked.usage + made.usage)
    if not made.question:
        return asked
    typed = QueryVariant(asked.standalone, TYPED_SHARE)
    return replace(asked, standalone=made.question, language=target, variants=(typed,), parts=())


def _search(
    question: Question,
    understood: Understood,
    *,
    language: str,
    tenant: str,
    ports: QueryPorts,
    deadline: Deadline,
    timer: StageTimer,
) -> Found:
    settings = ports.settings

    # 4. Embed the question, its variants and its parts.
    with timer.stage("embed"):
        variants = [variant.text for variant in understood.variants]
        embedded = embed_queries(
            [understood.search_text, *variants, *(part.question for part in understood.parts)],
            tenant=tenant,
            embedder=ports.embedder,
            cache=ports.cache,
            ttl_s=settings.embedding_cache_ttl_s,
            deadline=deadline,
        )

    # 5. Retrieve passages, for the parts in parallel.
    searches = _searches(question, understood, embedded, language, tenant, ports)

    def passages_of(search: Search) -> Retrieved:
        return retrieve(
            search,
            tenant=tenant,
            top_k=question.top_k or settings.top_k,
            index=ports.search,
            registry=ports.registry,
            deadline=deadline,
            reranker=ports.reranker,
        )

    with timer.stage("retrieve"):
        found = _of_one_generation(_in_parallel(passages_of, searches))
        if ports.is_restricted():
            found = [each and _of_readable(each, tenant, ports) for each in found]

    # 6. Decide whether any passage is relevant enough to answer from.
    with timer.stage("decide"):
        whole, *others = _looks(searches, found, settings)
        parts = [_judged(part, look, whole) for part, look in zip(understood.parts, others, strict=True)]
        if all(part.status != "found" for part in parts):
            parts = []
        decision = _combined([look.decision for look in (whole, *others) if look.decision])
        lists = [whole.passages if whole.is_relevant else (), *(part.passages for part in parts)]
        chosen = _merged(lists)[: question.top_k or settings.top_k]
    succeeded = [each for each in found if each]
    warnings = [*embedded.warnings, *chain.from_iterable(each.warnings for each in succeeded)]
    if None in found:
        warnings.append("part_unavailable")
    if decision.relaxed:
        warnings.append("threshold_relaxed")
    return Found(
        asked=understood,
        search=whole.search,
        retrieved=whole.retrieved,
        sources=within_budget(chosen, settings.context_budget_tokens) if decision.relevant else (),
        decision=decision,
        best_score=max((each.best_score for each in succeeded if each.best_score is not None), default=None),
        found_by=sum((Counter(each.found_by) for each in succeeded), Counter()),
        parts=parts,
        usage=embedded.usage,
        embedding_cached=embedded.cached,
        warnings=list(dict.fromkeys(warnings)),
    )


def _decide(search: Search, found: Retrieved, settings: Settings) -> Decision:
    """Decide as `decide`, and refuse what is about something else; a threshold of 0 refuses nothing."""
    decision = decide(search, found, settings)
    if settings.threshold <= 0 or not found.passages:
        return decision
    if (part := NumberedPart.of(search.question)) is not None:
        if _is_absent(part, found):
            return decision.refused_for([part.typed], found.passages)
        if not decision.relevant and part.span_of(found.passages[0]) is not None:
            decision = decision.answered_by({})
    selected = () if decision.relevant else selected_rows(search.question, found.passages)
    if any(not each.is_nearest for each in selected):
        return decision.answered_by({})
    is_verdict = Asked.of(search.question).kind is Kind.YES_NO
    if absent := absent_items(search.question, found.ranked, is_verdict=is_verdict):
        return decision.refused_for(absent, found.passages)
    if not decision.relevant:
        return decision
    organisations = {name for each in found.ranked for name in each.organisations}
    passages = found.passages[:DECIDING_PASSAGES]
    absent = absent_subjects(search.question, passages, organisations, inherited=search.inherited)
    return decision.refused_for(absent, found.passages) if absent else decision


def _is_absent(part: NumberedPart, found: Retrieved) -> bool:
    """Say whether the documents that the question names, or else the best ones, are numbered and have no such part."""
    named = named_documents({each.passage.document_id: each.parts.document for each in found.scored})
    passages = [
        each for each in found.ranked if (not named or each.document_id in named) and part.is_asked_of_passage(each)
    ]
    if any(part.span_in(each.text) for each in passages):
        return False
    documents = set(named or (each.document_id for each in found.passages[:DECIDING_PASSAGES]))
    of_each = [[each for each in passages if each.document_id == one] for one in documents]
    return any(of_each) and all(part.is_absent_from(each) for each in of_each if each)


def _searches(
    question: Question, understood: Understood, embedded: QueryEmbeddings, language: str, tenant: str, ports: QueryPorts
) -> Sequence[Search]:
    """Build the search for the question with its variants, and one for each part."""
    vector, *others = embedded.vectors
    variants = [variant._replace(vector=each) for variant, each in zip(understood.variants, others, strict=False)]
    whole = Search(
        question=understood.search_text,
        inherited=understood.inherited,
        vector=vector,
        dimensions=ports.settings.embedding_dimensions,
        namespace=ports.namespace_of(tenant),
        index_version=ports.index_number,
        language=understood.language or language,
        filter=both(question.filter, understood.filter),
        variants=variants,
        boosts=understood.boosts,
        diversity=ports.settings.diversity,
        neighbours=ports.settings.neighbours,
        tables=tables_needed(understood.search_text),
    )
    of_parts = zip(understood.parts, others[len(variants) :], strict=True)
    return [
        whole,
        *(
            replace(
                whole,
                question=part.question,
                inherited=part.inherited,
                vector=each,
                variants=(),
                tables=tables_needed(part.question),
            )
            for part, each in of_parts
        ),
    ]


def _in_parallel(retrieved_by: Callable[[Search], Retrieved], searches: Sequence[Search]) -> Sequence[Retrieved | None]:
    """Return what each search finds, None for one that fails. Raises the first one's error if all fail."""
    first, *others = searches
    futures = [_WORKERS.submit(retrieved_by, search) for search in others]
    found: list[Retrieved | None] = []
    errors: list[DependencyError] = []
    results: list[Callable[[], Retrieved]] = [partial(retrieved_by, first), *(future.result for future in futures)]
    for result in results:
        try:
            found.append(result())
        except DependencyError as error:
            found.append(None)
            errors.append(error)
    if len(errors) == len(searches):
        raise errors[0]
    return found


def _of_readable(found: Retrieved, tenant: str, ports: QueryPorts) -> Retrieved:
    """Take the ids of documents that the reader could not read, and that are gone since, out of what was dropped."""
    if not found.dropped:
        return found
    hidden = ports.registry.unreadable(tenant, (generation_named_by(each)[0] for each in found.dropped))
    return replace(found, dropped=[each for each in found.dropped if generation_named_by(each)[0] not in hidden])


def _of_one_generation(found: Sequence[Retrieved | None]) -> Sequence[Retrieved | None]:
    """Keep the passages of each document's newest generation only.

    Each search asks by itself what is published, and a document may be replaced between two of them: an answer must not
    mix its old and new text. Generations begin with a ULID, so the newer one is the greater.
    """
    newest: dict[str, str] = {}
    for passage in chain.from_iterable(each.passages for each in found if each):
        newest[passage.document_id] = max(passage.generation, newest.get(passage.document_id, ""))
    return [
        each and replace(each, passages=[one for one in each.passages if one.generation == newest[one.document_id]])
        for each in found
    ]


@dataclass(frozen=True, slots=True)
class _Look:
    """One search, what it found, and whether that is relevant; both None if it failed."""

    search: Search
    retrieved: Retrieved | None
    decision: Decision | None

    @property
    def is_relevant(self) -> bool:
        return self.decision is not None and self.decision.relevant

    @property
    def passages(self) -> Sequence[Passage]:
        return self.retrieved.passages if self.retrieved else ()


def _looks(searches: Sequence[Search], found: Sequence[Retrieved | None], settings: Settings) -> Sequence[_Look]:
    """Decide on each search: that for the whole question, then those for its parts."""
    whole, *parts = [
        _Look(search, each, None if each is None else _decide(search, each, settings))
        for search, each in zip(searches, found, strict=True)
    ]
    return [whole, *(_with_subjects_of(whole, part, parts[at + 1 :]) for at, part in enumerate(parts))]


def _with_subjects_of(whole: _Look, part: _Look, later: Sequence[_Look]) -> _Look:
    """Refuse a part that names nothing itself, where what the whole question names is absent: it asks about that.

    What a later part names is that part's own.
    """
    if whole.decision is None or part.decision is None or not part.decision.relevant:
        return part
    absent = [name for name in whole.decision.absent if not any(name in each.search.question for each in later)]
    if not absent:
        return part
    asked = asking_part(part.search.question)
    if any(identity.names_in(asked)) or identity.periods_in(asked):
        return part
    return replace(part, decision=part.decision.refused_for(absent, part.passages))


def _judged(part: QuestionPart, look: _Look, whole: _Look) -> FoundPart:
    """Say whether there is evidence for a part: from its own search, or in the whole question's passages."""
    if look.is_relevant:
        return FoundPart(part, "found", look.passages)
    if look.decision is None:
        return FoundPart(part, "unavailable")
    rare = RareWords.of(look.search.question, look.search.language)
    covering = [each for each in whole.passages if whole.is_relevant and (coverage(rare, each) or 0.0) >= PART_COVERAGE]
    return FoundPart(part, "found" if covering else "nothing", covering)


def _combined(decisions: Sequence[Decision]) -> Decision:
    """Return the best decision, with the relevances of all passages that any search has found."""
    relevances: dict[str, PassageRelevance] = {}
    for decision in reversed(decisions):
        relevances |= decision.relevances
    best = max(decisions, key=lambda decision: (decision.relevant, not decision.relaxed, decision.score))
    return best if len(decisions) == 1 else replace(best, relevances=relevances)


def _merged(lists: Sequence[Sequence[Passage]]) -> Sequence[Passage]:
    """Return the passages of all lists, the best of each first, each once."""
    in_turn = (passage for rank in zip_longest(*lists) for passage in rank if passage is not None)
    kept: dict[str, Passage] = {}
    for passage in in_turn:
        kept.setdefault(passage.chunk_id, passage)
    return list(kept.values())
