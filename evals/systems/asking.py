"""Recto's query pipeline, asked twice: once for the whole ranking, once as it is deployed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evals.ranking import Hit, pages_by_share
from evals.systems.base import Found
from functions.query.deadline import Deadline
from functions.query.localization import texts_for
from functions.query.passages import Passage
from functions.query.pipeline import Answer, QueryPorts, Question, answer_question
from shared.models import ChatMessage, Completion, Principal, Usage
from shared.settings import Settings

USER = "evals"


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
        ranked = self.answer(question, top_k=k, document_id=document_id, everything=True)
        answer = self.answer(question, document_id=document_id)
        return Found(
            hits=[self._hit(passage) for passage in ranked.sources],
            snippets=[" ".join(passage.text.split())[:300] for passage in ranked.sources],
            best_score=answer.best_score,
            refused=answer.no_relevant_info,
            milliseconds=dict(answer.timings_ms),
        )

    def answer(
        self, question: str, *, top_k: int | None = None, document_id: str | None = None, everything: bool = False
    ) -> Answer:
        """Run the pipeline once."""
        ports = replace(self.ports, settings=_showing_everything(self.ports.settings)) if everything else self.ports
        if everything:
            ports = replace(ports, chat=_SaysNothing())
        wanted = {"document_id": {"$eq": document_id}} if document_id else None
        deadline = Deadline(ports.clock, ports.settings.request_deadline_s)
        return answer_question(
            Question(question, top_k=top_k, filter=wanted, language="en" if everything else ""),
            Principal(self.tenant, USER),
            ports,
            deadline,
        )

    def _hit(self, passage: Passage) -> Hit:
        starts = [(page.number, page.char_start) for page in passage.pages]
        pages = pages_by_share(starts, passage.char_start, passage.char_start + len(passage.text))
        return Hit(
            doc=self.names.get(passage.document_id, passage.document_id),
            pages=pages or range(passage.page_start, passage.page_end + 1),
            score=passage.score,
        )


class _SaysNothing:
    """A chat model that says it does not know, so that no answer is put together out of all the passages."""

    model = "none"

    def complete(
        self, messages: Sequence[ChatMessage], *, max_output_tokens: int, temperature: float, timeout_s: float
    ) -> Completion:
        """Return the sentence that ends it."""
        del messages, max_output_tokens, temperature, timeout_s
        return Completion(texts_for("en", "en").dont_know, "stop", self.model, Usage())


def _showing_everything(settings: Settings) -> Settings:
    # Built anew, because a copy would keep the threshold that was worked out before.
    return Settings.model_construct(
        **settings.model_dump() | {"score_threshold": -1.0, "context_budget_tokens": 10_000_000}
    )
