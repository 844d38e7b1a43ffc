"""Drafts questions from PDFs with a chat model, a page at a time; every question is checked against the page.

A question whose quote is not on the page, or that points elsewhere ("this page"), is dropped. A question that the model
calls unanswerable is kept only if the model finds no answer in the pages of the whole collection that share most of its
rare words. Each reply is cached at once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from evals.drafting import Kind, QuestionDraft, SourceDocument, reads_well, sayings_of
from evals.errors import EvalError
from evals.storage import ResultCache
from functions.query.grounding.words import content_stems
from functions.query.ports import ChatModel
from functions.query.understanding.model_rewriting import fenced, object_in
from shared.errors import DependencyError
from shared.lexical import idf
from shared.models import ChatMessage, ModelRequest, Page

MIN_PAGE_WORDS = 60
LONGEST_PAGE = 8_000
"""Characters of a page that the model is shown."""
PASSAGES = 4
OUTPUT_TOKENS = 2_000
TIMEOUT_S = 120.0
_KINDS: Mapping[str, Kind] = {"fact": "fact", "table": "table", "definition": "definition", "how-to": "how-to"}
_TEXTS = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class ModelDrafter:
    """Asks `chat`; replies are cached under `made_with`, which holds all that they depend on besides the request."""

    chat: ChatModel
    made_with: Mapping[str, object]
    cache: ResultCache
    fresh: bool = False

    def drafts_of(self, document: SourceDocument, page: Page) -> tuple[list[QuestionDraft], str]:
        """Return the questions about a page, and one that the document is said not to answer ("" if there is none).

        Raises `EvalError` when the model does not answer.
        """
        shown = {"document": document.title, "text": page.text[:LONGEST_PAGE]}
        reply = self._ask("drafting_prompt.txt", "page", shown, _DRAFTS)
        given = [each for each in reply.get("questions") or () if isinstance(each, dict)]
        drafts = [draft for each in given if (draft := _draft(each, document, page))]
        unanswerable = reply.get("unanswerable")
        return drafts, " ".join(unanswerable.split()) if isinstance(unanswerable, str) else ""

    def is_answered(self, question: str, documents: Sequence[SourceDocument]) -> bool:
        """Whether the model finds an answer in the nearest pages of all documents. Raises `EvalError`."""
        passages = [page.text[:LONGEST_PAGE] for page in nearest_pages(question, documents, PASSAGES)]
        shown = {"question": question, "passages": passages}
        return self._ask("answered_prompt.txt", "passages", shown, _ANSWERED).get("answered") is not False

    def _ask(self, prompt: str, name: str, shown: object, schema: Mapping[str, object]) -> Mapping[str, Any]:
        messages = [
            ChatMessage("system", (_TEXTS / prompt).read_text("utf-8")),
            ChatMessage("user", fenced(name, shown)),
        ]
        form = {"type": "json_schema", "json_schema": schema}
        request = ModelRequest(messages, OUTPUT_TOKENS, response_format=form)

        def ask() -> str:
            try:
                return self.chat.complete(request, timeout_s=TIMEOUT_S).text
            except DependencyError as error:
                raise EvalError(
                    f"The model {self.chat.model} did not answer: {error.message} Check --model, --base-url and "
                    "OPENAI_API_KEY. What it wrote until now is kept; the same command goes on from there."
                ) from error

        depends_on = {**self.made_with, "messages": [each.content for each in messages]}
        return object_in(self.cache.get("drafting", depends_on, ask, fresh=self.fresh))


def pages_to_read(document: SourceDocument) -> list[Page]:
    """Return the pages with enough text to ask about, in a fixed order that favours none."""
    pages = [page for page in document.pages if len(page.text.split()) >= MIN_PAGE_WORDS]
    return sorted(pages, key=lambda page: sha256(f"{document.name}\0{page.number}".encode()).digest())


def nearest_pages(question: str, documents: Sequence[SourceDocument], count: int) -> list[Page]:
    """Return the pages that share most of a question's rare words."""
    wanted = set(content_stems(question))
    held = [(page, wanted & stems) for each in documents for page, stems in zip(each.pages, each.stems, strict=True)]
    holders = Counter(stem for _, stems in held for stem in stems)
    ranked = sorted(held, key=lambda each: -sum(idf(len(held), holders[stem]) for stem in each[1]))
    return [page for page, _ in ranked[:count]]


def _draft(given: Mapping[str, Any], document: SourceDocument, page: Page) -> QuestionDraft | None:
    question, answer, quote = (" ".join(str(given.get(key) or "").split()) for key in ("question", "answer", "quote"))
    kind = _KINDS.get(str(given.get("kind")), "fact")
    draft = QuestionDraft(kind, question, document.name, document.places(quote), answer, quote)
    is_whole = question.endswith("?") and answer and quote and page.number in draft.pages
    return draft if is_whole and reads_well(draft, sayings_of(document.language)) else None


def _schema(name: str, properties: Mapping[str, object]) -> Mapping[str, object]:
    return {"name": name, "strict": True, "schema": _object(properties)}


def _object(properties: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_STRING = {"type": "string"}
_DRAFT = _object(
    {"question": _STRING, "answer": _STRING, "quote": _STRING, "kind": {"type": "string", "enum": list(_KINDS)}}
)
_DRAFTS = _schema("drafts", {"questions": {"type": "array", "items": _DRAFT}, "unanswerable": _STRING})
_ANSWERED = _schema("answered", {"answered": {"type": "boolean"}})
