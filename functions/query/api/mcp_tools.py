"""The tools of `POST /mcp`: each stands for a route, with its rights, its limits and its function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from functions.query.answer import Question
from functions.query.api.asking import answering, whole_answer
from functions.query.api.document_contents import PageTextOut, read_document_page
from functions.query.api.documents import list_documents
from functions.query.api.openai_wire import RectoOut, citations_of, sources_below
from functions.query.api.problems import field_error, in_one_line
from functions.query.api.roles import PERMISSIONS, require_permission, roles_of
from functions.query.api.schemas import (
    DOCUMENT_ID,
    Body,
    CitationOut,
    Cursor,
    DocumentListOut,
    FilterField,
    Language,
    Out,
)
from functions.query.api.search import SearchBody, search
from functions.query.bootstrap import Services
from functions.query.retrieval.filters import checked_filter
from functions.query.understanding.question import normalized
from shared.deadline import Deadline
from shared.errors import InvalidRequest
from shared.models import DocumentStatus, Principal
from shared.text import counted


class Caller(NamedTuple):
    """Who calls a tool, with what, and until when."""

    principal: Principal
    services: Services
    deadline: Deadline


class CalledTool(NamedTuple):
    """The result of a tool: as a value, and as a text for the model."""

    result: BaseModel
    text: str


type _Call = Callable[[], CalledTool]
"""To be run in a worker thread."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `route` is the one it stands for; `prepare` reads nothing yet and is called in the loop's thread."""

    name: str
    title: str
    description: str
    route: str
    arguments: type[Body]
    result: type[BaseModel]
    prepare: Callable[[Any, Caller], _Call]

    def prepared(self, arguments: object, caller: Caller) -> _Call:
        """Return the call. Raises `InvalidRequest` and `NotAllowed`."""
        require_permission(self.route, caller.principal.groups)
        try:
            read = self.arguments.model_validate(arguments)
        except ValidationError as error:
            errors = [field_error({**each, "loc": ("arguments", *each["loc"])}) for each in error.errors()]
            raise InvalidRequest(in_one_line(errors)) from error
        return self.prepare(read, caller)

    def described(self) -> Mapping[str, Any]:
        """Return the tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": _schema_of(self.arguments, "validation"),
            "outputSchema": _schema_of(self.result, "serialization"),
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }


def permitted(tool: Tool, principal: Principal) -> bool:
    """Say whether the caller may call a tool."""
    return bool(PERMISSIONS[tool.route] & roles_of(principal.groups))


@cache
def _schema_of(model: type[BaseModel], mode: Any) -> Mapping[str, Any]:
    return model.model_json_schema(mode=mode)


# --- ask ---


class AskArguments(Body):
    """What `ask` takes."""

    question: str = Field(
        min_length=1, description="A complete question, in any language: earlier questions are not remembered."
    )
    language: Language | None = Field(None, description="Language of the answer: `lt`, `Lithuanian`.")
    top_k: int | None = Field(None, ge=1, le=50, description="The most passages to answer from.")
    filter: FilterField = Field(None, description="Which passages to search, by their metadata.")


class AskedOut(RectoOut):
    """An answer with its citations."""

    answer: str = Field(description="The text; `[1]` marks the citation with that `n`.")
    citations: list[CitationOut]


def _ask(given: AskArguments, caller: Caller) -> _Call:
    if not normalized(given.question):
        raise InvalidRequest("The question has no text.")
    question = Question(
        text=given.question,
        top_k=given.top_k,
        filter=checked_filter(given.filter),
        language=given.language or "",
        is_saved=False,
    )
    events = answering(question, caller.principal, caller.services, caller.deadline)

    def call() -> CalledTool:
        answer = whole_answer(events())
        details = RectoOut.of(answer).model_dump()
        shown = AskedOut(answer=answer.text, citations=citations_of(answer), **details)
        return CalledTool(shown, answer.text + sources_below(answer, question))

    return call


# --- search ---


class SearchArguments(Body):
    """What `search` takes."""

    question: str = Field(min_length=1, description="A question or words, in any language.")
    limit: int = Field(8, ge=1, le=20, description="Passages at most.")
    language: Language | None = Field(None, description="Language of the question, if it should not be detected.")
    filter: FilterField = Field(None, description="Which passages to search, by their metadata.")


class FoundPassageOut(Out):
    """A passage, as `POST /search` finds it, without the parts of its score."""

    passage_id: str
    document_id: str
    title: str
    section: str
    page_start: int
    page_end: int
    page_label: str
    text: str
    table: str = Field(description="Title, unit and column names of the table that the text begins in, else empty.")
    score: float
    source: bool = Field(description="Whether an answer would be made from it.")


class FoundOut(Out):
    """What a question finds, best first."""

    searched: str = Field(description="The question as it was searched for.")
    relevant: bool = Field(description="Whether `ask` would answer from these passages.")
    passages: list[FoundPassageOut]
    warnings: list[str]


def _search(given: SearchArguments, caller: Caller) -> _Call:
    body = SearchBody.model_validate(given.model_dump())

    def call() -> CalledTool:
        found = FoundOut.model_validate(search(body, caller.principal, caller.services, caller.deadline))
        texts = [
            f"{number}. {each.title}, p. {each.page_start} (document_id {each.document_id})\n"
            f"{each.table and each.table + '\n'}{each.text}"
            for number, each in enumerate(found.passages, start=1)
        ]
        return CalledTool(found, "\n\n".join(texts) or "Nothing was found.")

    return call


# --- list_documents ---


class ListArguments(Body):
    """What `list_documents` takes."""

    words: str = Field("", max_length=200, description="Words of the title or the file name.")
    status: DocumentStatus | None = None
    limit: int = Field(50, ge=1, le=200)
    cursor: Cursor = ""


def _list(given: ListArguments, caller: Caller) -> _Call:
    def call() -> CalledTool:
        page = list_documents(
            caller.principal, caller.services, given.limit, given.cursor, status=given.status, q=given.words
        )
        lines = [
            f"- {each.title} ({each.key.rsplit('/', 1)[-1]}): {each.status}, {counted(each.page_count, 'page')}, "
            f"document_id {each.document_id}"
            for each in page.documents
        ]
        if page.next_cursor:
            lines.append(f"There are more: next cursor {page.next_cursor}")
        return CalledTool(page, "\n".join(lines) or "No documents.")

    return call


# --- get_page ---


class PageArguments(Body):
    """What `get_page` takes."""

    document_id: str = Field(pattern=DOCUMENT_ID, description="As in a citation, a passage or the list.")
    page: int = Field(ge=1, le=1_000_000, description="The page, counted from 1: a citation's `page_start`.")


def _page(given: PageArguments, caller: Caller) -> _Call:
    def call() -> CalledTool:
        page = read_document_page(caller.principal, given.document_id, given.page, caller.services, caller.deadline)
        return CalledTool(page, page.text or f"There is no text on this page ({page.state}).")

    return call


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "ask",
            "Ask the documents",
            "Answer a question from the organisation's documents, in sentences that are checked against their sources, "
            "each with a quote and its page. Says so if the documents do not answer it.",
            "POST /query",
            AskArguments,
            AskedOut,
            _ask,
        ),
        Tool(
            "search",
            "Search the documents",
            "Find the passages of the organisation's documents that are nearest to a question, with text and page.",
            "POST /query",  # POST /search also shows editors how a score comes about
            SearchArguments,
            FoundOut,
            _search,
        ),
        Tool(
            "list_documents",
            "List documents",
            "List the organisation's documents with their ids and status, newest first.",
            "GET /documents",
            ListArguments,
            DocumentListOut,
            _list,
        ),
        Tool(
            "get_page",
            "Read a page",
            "Read the stored text of one page of a document, for example of a citation, to see what stands around it.",
            "GET /documents/{document_id}/pages/{number}",
            PageArguments,
            PageTextOut,
            _page,
        ),
    )
}
"""By name, in the order in which they are listed."""
