"""Recto's query pipeline, asked twice: once for the whole ranking, once as it is deployed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evals.ranking import Hit, pages_by_share
from evals.systems.base import Found
from functions.query.answer import Answer, Question, Sources
from functions.query.pipeline import answer_question, events
from functions.query.ports import QueryPorts
from functions.query.retrieval.passages import Passage
from shared.deadline import Deadline
from shared.models import Filter, Principal
from shared.settings import Settings

USER = "evals"
NO_BUDGET = 10**7


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a tenant's documents; `names` maps document ids to file names."""

    ports: QueryPorts
    tenant: str
    names: Mapping[str, str]

    def search(self, question: str, k: int, *, document_id: str | None = None) -> Found:
        """Return the best `k` passages of the pipeline, and what it does with the question at its own settings.

        For the ranking nothing is refused and the context budget cuts nothing off. The answer that decides about
        refusal, and the time, are those of a second run with the settings as they are.
        """
        wanted: Filter | None = {"document_id": {"$eq": document_id}} if document_id else None
        ranked = self.ranking(question, k, filter=wanted)
        answer = self.answer(question, filter=wanted)
        return Found(
            hits=[self._hit(passage) for passage in ranked],
            snippets=[" ".join(passage.text.split())[:300] for passage in ranked],
            score=answer.decision.score if answer.decision else None,
            refused=answer.no_relevant_info,
            milliseconds=dict(answer.timings_ms),
        )

    def ranking(self, question: str, k: int, *, filter: Filter | None = None) -> Sequence[Passage]:
        """Return the best `k` passages, whatever they are worth; nothing is written from them."""
        ports = self._with(score_threshold=-1.0, context_budget_tokens=NO_BUDGET)
        asked = Question(question, top_k=k, filter=filter)
        told = events(asked, self._who, ports, Deadline(ports.clock, ports.settings.request_deadline_s))
        return next((event.sources for event in told if isinstance(event, Sources)), ())

    def answer(self, question: str, *, filter: Filter | None = None, refusing: bool = True) -> Answer:
        """Run the pipeline once; not `refusing`, it answers from whatever was found."""
        ports = self.ports if refusing else self._with(score_threshold=-1.0)
        deadline = Deadline(ports.clock, ports.settings.request_deadline_s)
        return answer_question(Question(question, filter=filter), self._who, ports, deadline)

    @property
    def _who(self) -> Principal:
        return Principal(self.tenant, USER)

    def _with(self, **changed: object) -> QueryPorts:
        # Built anew, because a copy of settings would keep the threshold that was worked out before.
        return replace(self.ports, settings=Settings.model_construct(**self.ports.settings.model_dump() | changed))

    def _hit(self, passage: Passage) -> Hit:
        starts = [(page.number, page.char_start) for page in passage.pages]
        pages = pages_by_share(starts, passage.char_start, passage.char_start + len(passage.text))
        return Hit(
            doc=self.names.get(passage.document_id, passage.document_id),
            pages=pages or range(passage.page_start, passage.page_end + 1),
            score=passage.score,
        )
