"""The questions a threshold is chosen by: each asked with nothing refused, and its relevance and first citation kept.

Four kinds are told apart. Answerable: from the text, over all documents. Near the topic: the unanswerable ones of the
data, over all documents. Missing: the answerable ones, asked of all documents but their own, as if it had never been
uploaded. Off-topic: the answerable ones, asked of one other document, as when somebody asks about something else.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from evals.readers.pdf_qa import PdfQa, PdfQuestion
from evals.systems import SystemContext
from evals.systems.asking import Asker
from evals.systems.recto import RectoInProcess
from functions.query.answer import Answer
from functions.query.decision import features
from shared.models import Filter

ANSWERABLE, NEAR_TOPIC, MISSING, OFF_TOPIC = "answerable", "near_topic", "missing", "off_topic"
KINDS = (ANSWERABLE, NEAR_TOPIC, MISSING, OFF_TOPIC)
GAPS = KINDS[1:]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it was asked.

    `score` is what a threshold is compared with. `features` are what confidence is made of and `right` says whether the
    first citation stands on an expected page; None where there is no citation, or the question was asked elsewhere.
    """

    id: str
    kind: str
    doc: str
    score: float
    similarity: float | None
    features: tuple[float, ...] | None = None
    right: bool | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Asked":
        """Read what was kept as JSON."""
        known = row["features"]
        return cls(**{**row, "features": None if known is None else tuple(known)})


@dataclass(frozen=True, slots=True)
class Survey:
    """All that was asked; what went wrong with which PDF; and how many questions ask for a page that has no text.

    Those are left out: whatever the threshold, they cannot be answered, and they would pull it down.
    """

    asked: Sequence[Asked]
    problems: Mapping[str, str]
    left_out: int


def ask_all(system: RectoInProcess, data: PdfQa, context: SystemContext) -> Survey:
    """Ingest the PDFs and ask every question that text can answer, in all the ways it can be asked."""
    ingested = system.ingest(data.pdfs)
    ids = {name: document_id for document_id, name in system.names.items()}
    asked: list[Asked] = []
    from_text = [question for question in data.questions if question.from_text]
    questions = [each for each in from_text if not each.is_ranked or _is_in(ingested.pages, each)]
    for number, question in enumerate(questions):
        context.progress("asking", number, len(questions))
        kind = ANSWERABLE if question.answerable else NEAR_TOPIC
        asked.append(_ask(system.asker, question, kind, None))
        if not question.answerable or not question.doc:
            continue
        own, other = ids.get(question.doc, "none"), _other_document(question, data)
        if len(data.pdfs) > 1:
            asked.append(_ask(system.asker, question, MISSING, {"document_id": {"$ne": own}}))
            asked.append(_ask(system.asker, question, OFF_TOPIC, {"document_id": {"$eq": ids.get(other, "none")}}))
    return Survey(asked, ingested.problems, len(from_text) - len(questions))


def _is_in(pages: Set[tuple[str, int]], question: PdfQuestion) -> bool:
    return any((question.doc, page) in pages for page in question.pages)


def _ask(asker: Asker, question: PdfQuestion, kind: str, filter: Filter | None) -> Asked:
    answer = asker.answer(question.text, filter=filter, refusing=False)
    decision = answer.decision
    score = decision.score if decision else 0.0
    known, right = None, None
    if decision and kind in (ANSWERABLE, NEAR_TOPIC) and (cited := _first_source(answer)):
        known = features(decision, cited)
        right = _is_on_page(question, answer, asker.names)
    return Asked(question.id, kind, question.doc, score, answer.best_score, known, right)


def _first_source(answer: Answer) -> str:
    return next(
        (
            source.chunk_id
            for citation in answer.citations[:1]
            for source in answer.sources
            if source.document_id == citation.document_id
            and source.char_start <= citation.char_start <= source.char_start + len(source.text)
        ),
        "",
    )


def _is_on_page(question: PdfQuestion, answer: Answer, names: Mapping[str, str]) -> bool:
    first = answer.citations[0]
    return (
        question.answerable
        and names.get(first.document_id) == question.doc
        and any(first.page_start <= page <= first.page_end for page in question.pages)
    )


def _other_document(question: PdfQuestion, data: PdfQa) -> str:
    """Return a PDF that is not the question's, always the same one for the same question; empty if there is none."""
    others = [path.name for path in data.pdfs if path.name != question.doc]
    return others[int(sha256(question.id.encode()).hexdigest(), 16) % len(others)] if others else ""


def scores_of(asked: Sequence[Asked], kind: str) -> list[float]:
    """Return the scores of one kind."""
    return [each.score for each in asked if each.kind == kind]
