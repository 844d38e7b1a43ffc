"""The line from a question to an answer with its citations.

history → rewrite → remembered? → embed → retrieve → decide → generate and verify → save
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from functions.query import answer_cache
from functions.query.answer import (
    Answer,
    CitationFound,
    Delta,
    Done,
    Event,
    Question,
    Sources,
    SupportFound,
    told,
)
from functions.query.answer_cache import Kept
from functions.query.decision import Band, Decision, band_of, confidence, decide
from functions.query.history import Past, begin_summary, finished, mode_of, past_of, save
from functions.query.ports import QueryPorts
from functions.query.retrieval.filters import both
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.retrieve import Retrieved, retrieve
from functions.query.retrieval.search import Search, embed_queries
from functions.query.understanding.question import Understood
from functions.query.understanding.rewriting import understand
from functions.query.writing.generation import WritingRequest, WrittenAnswer, write
from functions.query.writing.localization import language_code_of, refusal_text
from functions.query.writing.prompting import Preferences, within_budget
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.models import FIRST_INDEX_VERSION, Principal, Usage
from shared.ports import Clock

# --- How long each stage of a request took ---


class StageTimer:
    """Adds up the milliseconds of named stages."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.timings_ms: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, errors included."""
        begun = self._clock.monotonic()
        try:
            yield
        finally:
            elapsed_ms = (self._clock.monotonic() - begun) * 1_000
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + elapsed_ms, 2)


# --- The stages of the query line that are more than one call, and what they share: warnings, times, the deadline ---


class Line:
    """One question on its way."""

    def __init__(self, question: Question, who: Principal, ports: QueryPorts, deadline: Deadline) -> None:
        self.question = question
        self.who = who
        self.ports = ports
        self.settings = ports.settings
        self.deadline = deadline
        self.timer = StageTimer(ports.clock)
        self.warnings: list[str] = []
        self.preferences = Preferences.of(question.preferences)
        self.language = question.language or language_code_of(self.preferences.language)
        self.index_version = ports.index_version.number if ports.index_version else FIRST_INDEX_VERSION
        self._usages: list[Usage] = []
        self._embedding_cached = False
        self._key = self._version = ""
        self._kept: Kept | None = None

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Time what happens inside, once it is certain that somebody still waits for it."""
        self.deadline.check()
        return self.timer.stage(name)

    def understand(self, past: Past) -> Understood:
        """Make the question one that can be searched for, and settle the answer's language."""
        understood = understand(
            self.question.text,
            past.history,
            tenant=self.who.tenant,
            chat=self.ports.rewriter,
            glossary=self.ports.glossary,
            settings=self.settings,
            deadline=self.deadline,
            mode=mode_of(self.question, self.settings),
            language=self.language,
        )
        self.warnings.extend(understood.warnings)
        self.language = self.language or understood.language or self.settings.default_language
        self._usages.append(understood.usage)
        return understood

    # --- answers given before ------------------------------------------------------------------------------------

    def recall(self, understood: Understood) -> Answer | None:
        """Return a fresh answer to the same question. Raises `DependencyError` when none can be checked."""
        ports = self.ports
        about = (
            understood.standalone,
            [variant.text for variant in understood.variants],
            [self.question.filter, understood.filter, understood.boosts],
            self.question.top_k,
            self.language,
            dict(self.question.preferences),
        )
        self._key = answer_cache.key_of(self.who.tenant, ports, *about)
        self._version = answer_cache.version_of(self.who.tenant, ports)
        self._kept = answer_cache.find(self._key, ports) if self._version else None
        if self._kept is None or not answer_cache.is_fresh(self._kept, self._version, ports):
            return None
        return self._kept.answer if answer_cache.still_stands(self._kept, self.who.tenant, ports) else None

    def recall_instead(self, error: DependencyError) -> Answer:
        """Return an answer of the last hour although the index is down, if what it cites is published. Else raises."""
        if error.dependency != "vectors" or self._kept is None:
            raise error
        if not answer_cache.still_stands(self._kept, self.who.tenant, self.ports, cited_only=True):
            raise error
        self.warnings.append("search_unavailable")
        return self._kept.answer

    def keep(self, answer: Answer) -> None:
        """Keep an answer for whoever asks the same; not one that lacked something on its way."""
        if not self.warnings:
            answer_cache.keep(self._key, answer, self._version, self.ports)

    # --- searching -----------------------------------------------------------------------------------------------

    def search(self, understood: Understood) -> tuple[Search, Retrieved]:
        """Embed and search. Raises `DependencyError` when the index or the registry cannot be asked."""
        texts = [understood.search_text, *(variant.text for variant in understood.variants)]
        with self.stage("embed"):
            vectors = self._embedded(texts)
        search = Search(
            question=texts[0],
            vector=vectors[0],
            dimensions=self.settings.embedding_dimensions,
            namespace=self.ports.index_version.namespace if self.ports.index_version else self.who.tenant,
            index_version=self.index_version,
            language=understood.language or self.language,
            filter=both(self.question.filter, understood.filter),
            variants=[
                variant._replace(vector=vector)
                for variant, vector in zip(understood.variants, vectors[1:], strict=True)
            ],
            boosts=understood.boosts,
            diversity=self.settings.diversity,
            neighbours=self.settings.neighbours,
        )
        with self.stage("retrieve"):
            found = retrieve(
                search,
                tenant=self.who.tenant,
                top_k=self.question.top_k or self.settings.top_k,
                index=self.ports.search,
                registry=self.ports.registry,
                deadline=self.deadline,
                reranker=self.ports.reranker,
            )
        self.warnings.extend(found.warnings)
        return search, found

    def _embedded(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        try:
            found = embed_queries(
                texts,
                tenant=self.who.tenant,
                embedder=self.ports.embedder,
                cache=self.ports.cache,
                ttl_s=self.settings.embedding_cache_ttl_s,
                deadline=self.deadline,
            )
        except DependencyError:
            self.warnings.append("embeddings_unavailable")
            return [None] * len(texts)
        self._usages.extend(each.usage for each in found)
        self._embedding_cached = all(each.cached for each in found)
        return [each.vector for each in found]

    def decide(self, search: Search, found: Retrieved) -> tuple[Decision, Sequence[Passage]]:
        """Decide whether to answer; return the passages to answer from, none for a refusal."""
        decision = decide(search, found, self.settings)
        if decision.relaxed:
            self.warnings.append("threshold_relaxed")
        if not decision.relevant:
            return decision, ()
        return decision, within_budget(found.passages, self.settings.context_budget_tokens)

    # --- answering -----------------------------------------------------------------------------------------------

    def asked(self, understood: Understood, past: Past, sources: Sequence[Passage]) -> WritingRequest:
        """Return what is written from; of a session that was read back whole, the model is shown the last messages."""
        shown = self.settings.history_messages
        return WritingRequest(
            question=understood.question,
            standalone=understood.standalone,
            sources=sources,
            history=past.history[-shown:] if shown else (),
            language=self.language,
            preferences=self.preferences,
            summary=past.summary,
        )

    def refused(self, decision: Decision, found: Retrieved) -> Answer:
        """Return the answer that there is none."""
        return Answer(
            text=refusal_text("no_relevant_info", self.language, self.settings),
            mode="refused",
            conversation_id="",
            message_id="",
            no_relevant_info=True,
            refusal="no_relevant_info",
            handoff_offered=self.settings.handoff_offer,
            best_score=found.best_score,
            relevance=decision.score,
            threshold=decision.threshold,
            usage=self._spent(),
            embedding_cached=self._embedding_cached,
            decision=decision,
        )

    def answered(
        self, written: WrittenAnswer, decision: Decision, found: Retrieved, sources: Sequence[Passage]
    ) -> Answer:
        """Return what was written: the answer, or the refusal that the sources turned out to hold none."""
        self.warnings.extend(written.warnings)
        refused = written.refusal is not None
        support = written.support
        sure = confidence(
            decision,
            written.citations,
            sources,
            claims=support.claims,
            supported=support.supported,
            space=self.settings.embedding_space,
        )
        return Answer(
            text=written.text,
            mode=written.mode,
            conversation_id="",
            message_id="",
            citations=tuple(written.citations),
            sources=() if refused else tuple(sources),
            bands=() if refused else self.bands(decision, sources),
            no_relevant_info=refused,
            refusal=written.refusal,
            handoff_offered=self.settings.handoff_offer and refused,
            best_score=found.best_score,
            relevance=decision.score,
            threshold=decision.threshold,
            model=written.model,
            finish_reason=written.finish_reason,
            usage=self._spent(written.usage),
            dropped_citations=written.dropped_citations,
            embedding_cached=self._embedding_cached,
            support=support,
            band=Band.NONE if refused else decision.band,
            confidence=None if refused else sure,
            decision=decision.missed(sources) if refused else decision,
        )

    def bands(self, decision: Decision, sources: Sequence[Passage]) -> tuple[Band, ...]:
        """Name how near each source is to the question; what only the relaxed threshold let through is low."""
        evidence = decision.evidence or {}
        scores = [
            evidence[source.chunk_id].relevance if source.chunk_id in evidence else source.score for source in sources
        ]
        relaxed = self.settings.relaxed_threshold if decision.relaxed else None
        return tuple(
            Band.LOW if relaxed is not None and score >= relaxed else band_of(score, self.settings) for score in scores
        )

    def _spent(self, *more: Usage) -> Usage:
        return total(*self._usages, *more)


def total(*spent: Usage) -> Usage:
    """Add up what was spent."""
    return Usage(sum(each.input_tokens for each in spent), sum(each.output_tokens for each in spent))


def answer_question(question: Question, who: Principal, ports: QueryPorts, deadline: Deadline) -> Answer:
    """Answer one question for one principal, and remember both turns: the last of the `events`, and their errors."""
    for event in events(question, who, ports, deadline):
        if isinstance(event, Done):
            return event.answer
    raise AssertionError("unreachable: the events end with Done or an error")


def events(question: Question, who: Principal, ports: QueryPorts, deadline: Deadline) -> Iterator[Event]:
    """Answer one question for one principal, remember both turns, and tell each thing as soon as it is certain.

    Raises `NotFound` for a conversation that is not theirs, and `DependencyError` when the index cannot be searched
    and no answer to the same question is remembered, or when the registry cannot say what is published. Embeddings that
    fail leave the search to the words, a model that fails is replaced by extraction, a history that fails by none;
    `warnings` says so. Raises `ClientDisconnected` when nobody waits any more; then nothing is remembered.
    """
    line = Line(question, who, ports, deadline)
    summing = None
    with line.stage("history"):
        past = past_of(question, who, ports, line.warnings)
    with line.stage("rewrite"):
        understood = line.understand(past)
    with line.stage("cache"):
        known = line.recall(understood)
    if known is None:
        try:
            search, found = line.search(understood)
        except DependencyError as error:
            known = line.recall_instead(error)

    if known is not None:
        answer = replace(known, cached=True, embedding_cached=False)
        yield Sources(answer.sources, answer.bands)
        yield from told(answer.text, answer.citations)
    else:
        with line.stage("decide"):
            decision, sources = line.decide(search, found)
        yield Sources(sources, line.bands(decision, sources))
        if sources:
            summing = begin_summary(past, who, ports, deadline)
            with line.stage("generate"):
                asked = line.asked(understood, past, sources)
                for piece in write(asked, chat=ports.chat, settings=ports.settings, deadline=deadline):
                    deadline.check()
                    if isinstance(piece, WrittenAnswer):
                        answer = line.answered(piece, decision, found, sources)
                        break
                    yield from map(CitationFound, piece.citations)
                    yield Delta(piece.text)
            if not answer.citations:
                yield from told(answer.text, ())
        else:
            answer = line.refused(decision, found)
            yield from told(answer.text, ())
    yield SupportFound(answer.support, answer.band, answer.confidence)

    user_message_id, message_id = ports.new_id(), ports.new_id()
    answer = replace(
        answer,
        conversation_id=question.conversation_id or ports.new_id(),
        message_id=message_id,
        rewritten=understood.standalone if understood.standalone != understood.question else "",
    )
    with line.stage("save"):
        if known is None and not past.history:
            line.keep(answer)
        if not save(question, user_message_id, answer, who, ports, deadline):
            line.warnings.append("not_saved")
        if summing is not None:
            made = finished(summing, deadline)
            line.warnings.extend(made.warnings)
            answer = replace(answer, usage=total(answer.usage, made.usage))
    yield Done(replace(answer, warnings=tuple(line.warnings), timings_ms=dict(line.timer.timings_ms)))
