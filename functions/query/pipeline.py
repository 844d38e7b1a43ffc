"""From a question to an answer with verified quotes: `answer_events` runs the eight steps in order.

1 history → 2 rewrite → 3 cached answer → 4 embed → 5 retrieve → 6 decide → 7 generate and verify → 8 save
"""

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from functions.query import answer_cache
from functions.query.answer import (
    Answer,
    AnswerEvent,
    CitationFound,
    Delta,
    Done,
    Question,
    SourcesFound,
    SupportFound,
    spent_by,
    text_events,
)
from functions.query.decision import Band, answer_band, bands_of, confidence, is_across
from functions.query.explaining import EXPLAINED, explained
from functions.query.finding import Found, find_passages
from functions.query.grounding.sanitizing import plain_name
from functions.query.grounding.verify import Support, VerifiedClaim
from functions.query.history import HistoryContext, begin_summary, finish_summary, read_history, save_turns
from functions.query.ports import QueryPorts
from functions.query.receipts import provenance_of, receipt_of
from functions.query.retrieval.retrieve import check_fields
from functions.query.service import Served, serve, service_texts
from functions.query.structure import LEADERS, told_of
from functions.query.suggesting import Suggested, begin_suggestions, finish_suggestions
from functions.query.summarising import DocumentDigest, DocumentReader, summary_of
from functions.query.unanswered import unanswered_question
from functions.query.understanding.pointing import replaces_a_word
from functions.query.understanding.question import Understood
from functions.query.understanding.rewriting import understand
from functions.query.understanding.summary import Summarized
from functions.query.withholding import Watch
from functions.query.writing.extractive import near_claims
from functions.query.writing.generation import AskedPart, WritingRequest, WrittenAnswer, write
from functions.query.writing.localization import (
    in_others_text,
    incomplete_text,
    language_code_of,
    languages,
    not_about_text,
    page_name,
    refusal_text,
    texts_for,
)
from functions.query.writing.prompting import Preferences
from shared.deadline import Deadline, StageTimer
from shared.errors import DependencyError
from shared.language import language_of_question
from shared.models import PageStart, Principal
from shared.receipts import packed
from shared.settings import Settings

INCOMPLETE = frozenset(
    f"{part}_{how}"
    for part in ("embeddings", "dense_search", "hybrid_search", "named_documents", "second_look")
    for how in ("unavailable", "refused")
)
"""Warnings of a search that may have missed the answer: a refusal with one of them says so."""

MOST = 0.8
"""Share of the documents found that are in other languages than the question from which on a refusal says so."""
OFTEN = 0.25
"""Share of these documents from which on their language is named."""


def answer_question(question: Question, principal: Principal, ports: QueryPorts, deadline: Deadline) -> Answer:
    """Answer one question and save both turns. Raises what `answer_events` raises."""
    for event in answer_events(question, principal, ports, deadline):
        if isinstance(event, Done):
            return event.answer
    raise AssertionError("unreachable: the events end with Done or an error")


def answer_events(
    question: Question, principal: Principal, ports: QueryPorts, deadline: Deadline
) -> Iterator[AnswerEvent]:
    """Answer one question, save both turns if they are to be, and emit each part of the answer as soon as it is final.

    Raises `InvalidFilter` for a field that no passage has; `NotFound` for another user's conversation;
    `DependencyError` when the index cannot be searched and no answer to the same question is cached, or when the
    registry cannot be read; `AccessLost` when the principal may no longer read what the answer is being made from;
    `ClientDisconnected` when the client has disconnected, and then nothing is saved. Any other
    failure degrades one step and adds a warning: without embeddings the search is lexical, without the model the answer
    is extractive, without history the question is used as typed.
    """
    watch = Watch(principal.tenant, ports)
    return watch.over(_answer_events(question, principal, ports, deadline, watch))


def _answer_events(
    question: Question, principal: Principal, ports: QueryPorts, deadline: Deadline, watch: Watch
) -> Iterator[AnswerEvent]:
    timer = StageTimer(ports.clock, deadline)
    check_fields(question.filter, tenant=principal.tenant, ports=ports, deadline=deadline)

    # 1. Read the conversation so far.
    with timer.stage("history"):
        history = read_history(question, principal, ports)
    watch.add(history.documents)

    # 2. Small talk and questions about the collection need no search; others are made searchable (in `searched`).
    with timer.stage("rewrite"):
        served = serve(
            question,
            history.messages,
            tenant=principal.tenant,
            requested_language=requested_language_of(question),
            ports=ports,
            deadline=deadline,
        )
    digest = None
    if served is not None and served.document is not None:
        watch.add([served.document.document_id])
        reader = DocumentReader(question, served.document, served.language, principal.tenant, ports, deadline, timer)
        digest = summary_of(reader) if served.about is None else told_of(served.about, reader)
    if digest is not None:
        outcome = yield from told(digest, reader)
    elif served is not None and served.about is None:
        outcome = Outcome(Answer(served.text, mode="service", named=[each.document_id for each in served.named]))
        watch.add(outcome.answer.named)
        yield SourcesFound(())
        yield from text_events(served.text, ())
    else:
        outcome = yield from searched(question, history, principal, ports, deadline, timer, watch)
        if served is not None and outcome.to_cache is not None and (line := whereabouts(outcome.answer, served)):
            yield Delta(line)
            outcome = replace(outcome, answer=replace(outcome.answer, text=f"{outcome.answer.text}{line}"))
    watch.add(outcome.hits)
    answer = outcome.answer
    yield SupportFound(answer.support, answer.claims, answer.band, answer.confidence)

    # 8. Save both turns, and cache the answer for the same question.
    warnings = [*history.warnings, *outcome.warnings]
    user_message_id, message_id = ports.new_id(), ports.new_id()
    answer = replace(
        answer,
        conversation_id=question.conversation_id or (ports.new_id() if question.is_saved else ""),
        message_id=message_id,
        language=outcome.language,
        rewritten=outcome.rewritten,
        warnings=tuple(warnings),
        named=(*outcome.answer.named, *history.documents),
    )
    with timer.stage("save"):
        unanswered = unanswered_question(
            question, answer, outcome.searched_for, outcome.vector, outcome.language, principal, ports
        )
        receipt = receipt_of(question, answer, history, timer.timings_ms, ports)
        of_itself = outcome.answer.named if answer.mode == "service" else ()
        spoken_of = of_itself[0] if len(of_itself) == 1 else ""
        if question.is_saved and not save_turns(
            question, user_message_id, answer, principal, ports, unanswered, packed(receipt), spoken_of
        ):
            warnings.append("not_saved")
        summarized = finish_summary(outcome.summary, deadline)
        warnings += summarized.warnings
    if outcome.suggesting is not None:
        with timer.stage("suggest"):
            suggested = finish_suggestions(outcome.suggesting, deadline)
        answer = replace(answer, suggestions=suggested.questions)
        answer = replace(answer, spent=spent_by(*answer.spent.items(), (ports.embedder.space.model, suggested.usage)))
    with timer.stage("save"):
        if outcome.to_cache is not None and not history.messages:
            answer_cache.store(outcome.to_cache, answer, ports)
    spent = spent_by(
        *answer.spent.items(), (ports.settings.rewrite_model or ports.settings.chat_model, summarized.usage)
    )
    answer = replace(answer, spent=spent, warnings=tuple(warnings), timings_ms=dict(timer.timings_ms))
    yield Done(answer, receipt)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer before it is saved.

    `rewritten` is the question that was searched for, if it is not the typed one. `to_cache` is the cache's key of a
    new answer; `summary` is a summary of the conversation that is being written meanwhile, `suggesting` the search for
    questions to ask next. `searched_for` is the text that was searched for, `vector` its embedding if it was made just
    now, `language` that of the answer. `hits` are the documents that an explanation or suggestions may show.
    """

    answer: Answer
    rewritten: str = ""
    warnings: Sequence[str] = ()
    to_cache: answer_cache.CacheLookup | None = None
    summary: Future[Summarized] | None = None
    suggesting: Future[Suggested] | None = None
    searched_for: str = ""
    vector: Sequence[float] | None = None
    language: str = ""
    hits: Sequence[str] = ()


def searched(
    question: Question,
    history: HistoryContext,
    principal: Principal,
    ports: QueryPorts,
    deadline: Deadline,
    timer: StageTimer,
    watch: Watch,
) -> Generator[AnswerEvent, None, Outcome]:
    """Answer from the documents' contents: steps 2 to 7. Raises what `answer_events` raises."""
    settings, tenant = ports.settings, principal.tenant
    requested_language = requested_language_of(question)

    # 2. Rewrite the question so that it can be searched for without the conversation.
    with timer.stage("rewrite"):
        understood = understand(
            question.text,
            history.messages,
            tenant=tenant,
            chat=ports.rewriter,
            glossary=ports.glossary,
            settings=settings,
            deadline=deadline,
            mode=question.mode or settings.query_mode,
            language=requested_language,
        )
    language = requested_language or understood.language or settings.default_language
    warnings = [*understood.warnings]

    # 3. Look for a cached answer to the same question, made since the documents last changed.
    with timer.stage("cache"):
        lookup = answer_cache.look_up(question, understood, language, principal, ports)
        # A question to be explained must be searched for.
        cached = None if question.explain or question.fresh else answer_cache.fresh_answer(lookup, tenant, ports)

    if cached is None:
        # 4 to 6. Embed the question and its parts, retrieve passages, decide whether any is relevant enough. While the
        # index is down, use a cached answer from the last hour if there is one.
        try:
            found = find_passages(
                question, understood, language=language, tenant=tenant, ports=ports, deadline=deadline, timer=timer
            )
            warnings += found.warnings
            if not (requested_language or understood.language) and found.ranked:
                # A few key words have no language of their own.
                language = found.ranked[0].language if found.ranked[0].language in languages() else language
        except DependencyError as error:
            cached = answer_cache.stale_answer(lookup, error, tenant, ports)
            warnings.append(error.warning_about("search"))

    if cached is not None:
        watch.add(cached.named)
        yield SourcesFound(cached.sources, cached.bands)
        yield from text_events(cached.text, cached.citations)
        # The documents of its suggestions are no longer known, so the reader may have lost the right to one.
        suggestions = () if lookup.is_restricted else cached.suggestions
        answer = replace(cached, suggestions=suggestions, spent=spent_by((understood.model, understood.usage)))
        return Outcome(
            answer,
            rewritten=rewritten(understood),
            warnings=[*warnings, *cached.warnings],
            searched_for=understood.search_text,
            language=language,
        )

    yield SourcesFound(found.sources, bands_of(found.decision, found.sources, settings))

    # 7. Generate the answer, verifying each claim before it is emitted; without sources the model is not called.
    summary = None
    if found.sources:
        summary = begin_summary(history, principal, ports, deadline)
        request = _writing_request(question, understood.question, found, history, language, settings)
        with timer.stage("generate"):
            written = yield from generate(request, ports, deadline)
        warnings += written.warnings
    else:
        written = refusal(found, language, settings)
    if written.refusal is not None and not INCOMPLETE.isdisjoint(found.warnings):
        written = replace(written, text=incomplete_text(written.text, language, settings))
    if written.refusal is not None and (spoken := _other_languages(found)):
        are_all = spoken.total() == len({each.document_id for each in found.ranked})
        often = [name for name, count in spoken.most_common() if count >= OFTEN * spoken.total()] or [*spoken][:1]
        text = in_others_text(written.text, often, are_all=are_all, language=language, settings=settings)
        written = replace(written, text=text)
    named = _documents_besides_sources(understood, found, written)
    watch.add(named)
    if not written.citations:
        yield from text_events(written.text, ())
    answer = _compose(written, found, named, settings)
    if question.explain:
        answer = replace(answer, explanation=explained(found, limit=EXPLAINED))
    suggesting = begin_suggestions(
        question,
        found,
        answer,
        written.suggestions,
        language=language,
        tenant=tenant,
        ports=ports,
        deadline=deadline,
    )
    shows_hits = question.explain or suggesting is not None
    return Outcome(
        answer,
        rewritten=rewritten(found.asked),
        warnings=warnings,
        to_cache=lookup,
        summary=summary,
        suggesting=suggesting,
        searched_for=found.asked.search_text,
        vector=found.search.vector if found.search else None,
        language=language,
        hits=[each.document_id for each in found.ranked] if shows_hits else (),
    )


def _writing_request(
    question: Question, typed: str, found: Found, history: HistoryContext, language: str, settings: Settings
) -> WritingRequest:
    """Return what is needed to write an answer to the question, as `typed`, from what was found."""
    # In session mode the search uses the whole session, but the model sees only the last messages.
    shown = history.messages[-settings.history_messages :] if settings.history_messages else ()
    return WritingRequest(
        typed,
        found.asked.standalone,
        found.sources,
        history=shown,
        language=language,
        preferences=Preferences.of(question.preferences),
        summary=history.summary,
        parts=[
            AskedPart(each.part.name, each.part.question, found.numbers_of(each), each.status != "unavailable")
            for each in found.parts
        ],
        sentences=near_claims(found.asked.standalone, found.sources, found.near),
        # "How much is it?" and "and the year before?" are about what was named before.
        inherited=found.asked.inherited if replaces_a_word(typed, found.asked.language) else "",
    )


def whereabouts(answer: Answer, served: Served) -> str:
    """Return the line that says where an answer's first quote stands, "" if the question does not ask for that."""
    if served.about is None or served.about.wants != "whereabouts" or not answer.citations:
        return ""
    first = answer.citations[0]
    if LEADERS.search(first.quote):
        return ""  # an entry of the table of contents names the page itself
    start = PageStart(first.page_start, first.char_start, first.page_label)
    page = page_name(start, texts_for(served.language))
    return "\n\n" + service_texts(served.language).stands_on.format(page=page, title=plain_name(first.title))


def told(digest: DocumentDigest, reader: DocumentReader) -> Generator[AnswerEvent, None, Outcome]:
    """Answer with what is told of a document: its head as it is, then claims written like those of any answer."""
    question, ports, language, found = reader.question, reader.ports, reader.language, digest.found
    named = [reader.document.document_id]
    yield SourcesFound(found.sources, bands_of(found.decision, found.sources, ports.settings))
    if not found.sources:
        yield from text_events(digest.head, ())
        return Outcome(Answer(digest.head, mode="service", named=named), warnings=found.warnings, language=language)
    if digest.head:
        yield Delta(f"{digest.head}\n\n")
    request = WritingRequest(
        question.text,
        question.text,
        found.sources,
        language=language,
        preferences=Preferences.of(question.preferences),
        sentences=digest.sentences,
    )
    with reader.timer.stage("generate"):
        written = yield from generate(request, ports, reader.deadline)
        if written.refusal is not None and digest.sentences and ports.chat is not None:
            # The element is there, whatever the model makes of the question.
            quoted = yield from generate(request, replace(ports, chat=None), reader.deadline)
            warned = [*written.warnings, *quoted.warnings]
            written = replace(quoted, model=written.model, usage=written.usage, warnings=warned)
    warnings = [*found.warnings, *written.warnings]
    if written.refusal is not None and digest.head:
        return Outcome(Answer(digest.head, mode="service", named=named), warnings=warnings, language=language)
    if not written.citations:
        yield from text_events(written.text, ())
    answer = _compose(written, found, named, ports.settings)
    if digest.head:
        answer = replace(answer, text=f"{digest.head}\n\n{answer.text}")
    return Outcome(answer, warnings=warnings, language=language)


def _documents_besides_sources(understood: Understood, found: Found, written: WrittenAnswer) -> Sequence[str]:
    """Return the ids of documents, other than its sources, that an answer has words from.

    All hits, if misspelt words were corrected to their words; for a refusal the hits that it names as the nearest, and
    the passages that did not answer.
    """
    if found.asked.standalone != understood.standalone:
        return [each.document_id for each in found.ranked]
    if written.refusal is not None:
        nearest = found.decision.nearest(found.ranked)
        return [each.document_id for each in (*found.ranked[:1], *found.sources, *nearest)]
    return ()


def rewritten(understood: Understood) -> str:
    """Return the question that was searched for, if it is not the typed one."""
    return understood.standalone if understood.standalone != understood.question else ""


def requested_language_of(question: Question) -> str:
    """Return the code of the language that the request wants the answer in, empty if it names none."""
    return question.language or language_code_of(Preferences.of(question.preferences).language)


def generate(
    request: WritingRequest, ports: QueryPorts, deadline: Deadline
) -> Generator[AnswerEvent, None, WrittenAnswer]:
    """Emit each verified claim after its new citations; return the whole answer."""
    written = write(request, chat=ports.chat, settings=ports.settings, deadline=deadline, checker=ports.checker)
    for piece in written:
        deadline.check()
        if isinstance(piece, WrittenAnswer):
            return piece
        if isinstance(piece, VerifiedClaim):
            yield from map(CitationFound, piece.citations)
        yield Delta(piece if isinstance(piece, str) else piece.text)
    raise AssertionError("unreachable: the last piece is the whole answer")


def refusal(found: Found, language: str, settings: Settings) -> WrittenAnswer:
    """Return the fixed text for "nothing relevant was found", or for "nothing is about that, the nearest is this"."""
    absent = found.decision.absent
    if absent and found.ranked:
        text = not_about_text(absent, found.ranked[0], language, settings)
        return WrittenAnswer(text, citations=(), support=Support(), mode="refused", refusal="not_mentioned")
    text = refusal_text("no_relevant_info", language, settings)
    return WrittenAnswer(text, citations=(), support=Support(), mode="refused", refusal="no_relevant_info")


def _other_languages(found: Found) -> Counter[str]:
    """Count the documents found by language if nearly all, with the nearest, are in others than the question's."""
    asked = language_of_question(found.asked.question)
    if found.ranked and found.ranked[0].language == asked:
        return Counter()
    documents = {each.document_id: each.language for each in reversed(found.ranked)}
    others = Counter(each for each in documents.values() if each and each != asked)
    is_known = asked in languages() and asked in (found.asked.language, "")
    return others if is_known and others.total() >= MOST * len(documents) else Counter()


def _compose(written: WrittenAnswer, found: Found, named: Sequence[str], settings: Settings) -> Answer:
    """Combine the written text with the decision into an answer or a refusal.

    A refusal has no sources; those that the model has read become its near misses. `named` are the documents that
    it names, as `Answer` does.
    """
    decision, sources = found.decision, found.sources
    refused = written.refusal is not None
    shown = () if refused else tuple(sources)
    judged = decision.with_near_misses(sources) if refused and sources else decision
    sure = confidence(
        decision,
        written.citations,
        shown,
        claims=written.support.claims,
        confirmed=written.support.confirmed,
        unconfirmed=written.support.unconfirmed,
        doubtful=written.doubtful,
        coefficients=settings.confidence,
    )
    across = is_across(written.citations, shown, found.asked.language)
    doubtful = written.doubtful or written.may_be_others
    return Answer(
        text=written.text,
        mode=written.mode,
        citations=tuple(written.citations),
        sources=shown,
        bands=bands_of(decision, shown, settings),
        no_relevant_info=refused,
        refusal=written.refusal,
        handoff_offered=settings.handoff_offer and refused,
        best_score=found.best_score,
        relevance=decision.score,
        threshold=decision.threshold,
        model=written.model,
        finish_reason=written.finish_reason,
        dropped_citations=written.dropped_citations,
        claims=() if refused else tuple(written.claims),
        support=written.support,
        band=Band.NONE if refused else answer_band(decision, sure, doubtful=doubtful, across=across),
        confidence=None if across else sure,
        decision=judged,
        near_misses=judged.near_misses,
        nearest=judged.nearest(sources or found.ranked) if refused else (),
        spent=spent_by(
            (found.asked.model, found.asked.usage),
            (settings.embedding_model, found.usage),
            (written.model, written.usage),
            (written.check_model, written.check_usage),
        ),
        embedding_cached=found.embedding_cached,
        found_by=found.found_by,
        named=named,
        provenance=provenance_of(found, written, settings),
    )
