"""The line from a question to an answer with its proof.

history → rewrite → remembered? → embed → retrieve → decide → generate and verify → save
"""

from collections.abc import Iterator
from dataclasses import replace

from functions.query.answer import Answer, Mode, Question
from functions.query.deadline import Deadline
from functions.query.events import CitationFound, Delta, Done, Event, Sources, SupportFound, told
from functions.query.line import Line, total
from functions.query.remembering import begin_summary, finished, past_of, save
from functions.query.wiring import QueryPorts
from functions.query.writing.generation import Written, write
from shared.errors import DependencyError
from shared.models import Principal

__all__ = ["Answer", "Mode", "QueryPorts", "Question", "answer_question", "events"]


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
    `warnings` says so. Raises `AskerGone` when nobody waits any more; then nothing is remembered.
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
                    if isinstance(piece, Written):
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
