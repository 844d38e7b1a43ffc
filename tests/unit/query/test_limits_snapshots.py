"""The named limits, waits and weights of the query side, with what each is for; what each route takes; how it is wired.

`make snapshots` stores what comes out now. Whoever changes one of them sees it here, beside the sentence that explains
it. A module with such a limit is imported by its name: a new one without is told by the first test.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import functions.query
import functions.query.answer
import functions.query.answer_cache
import functions.query.api.admin
import functions.query.api.chat_completions
import functions.query.api.conversations
import functions.query.api.document_contents
import functions.query.api.documents
import functions.query.api.erasures
import functions.query.api.faqs
import functions.query.api.feedback
import functions.query.api.handoffs
import functions.query.api.insights
import functions.query.api.keys
import functions.query.api.mcp
import functions.query.api.mcp_tools
import functions.query.api.middleware
import functions.query.api.openai_wire
import functions.query.api.openapi
import functions.query.api.passages
import functions.query.api.problems
import functions.query.api.responses
import functions.query.api.schemas
import functions.query.api.search
import functions.query.api.sse
import functions.query.api.transcript
import functions.query.app
import functions.query.bootstrap
import functions.query.decision
import functions.query.explaining
import functions.query.extraction_report
import functions.query.faqs
import functions.query.finding
import functions.query.grounding.addressing
import functions.query.grounding.arithmetic
import functions.query.grounding.calculations
import functions.query.grounding.cells
import functions.query.grounding.checking
import functions.query.grounding.claims
import functions.query.grounding.clauses
import functions.query.grounding.columns
import functions.query.grounding.evidence
import functions.query.grounding.facts
import functions.query.grounding.figures
import functions.query.grounding.foreign
import functions.query.grounding.injection
import functions.query.grounding.instructions
import functions.query.grounding.judge
import functions.query.grounding.known_facts
import functions.query.grounding.measures
import functions.query.grounding.merging
import functions.query.grounding.names
import functions.query.grounding.overstated
import functions.query.grounding.parts
import functions.query.grounding.polarity
import functions.query.grounding.quantities
import functions.query.grounding.quotes
import functions.query.grounding.ranges
import functions.query.grounding.relations
import functions.query.grounding.roles
import functions.query.grounding.rows
import functions.query.grounding.sanitizing
import functions.query.grounding.statements
import functions.query.grounding.table_cells
import functions.query.grounding.table_claims
import functions.query.grounding.tables
import functions.query.grounding.verify
import functions.query.grounding.wording
import functions.query.grounding.words
import functions.query.handoffs
import functions.query.history
import functions.query.limits
import functions.query.pipeline
import functions.query.ports
import functions.query.readable
import functions.query.receipts
import functions.query.replaying
import functions.query.retrieval.filters
import functions.query.retrieval.neighbours
import functions.query.retrieval.numbered
import functions.query.retrieval.passages
import functions.query.retrieval.ranking
import functions.query.retrieval.rescoring
import functions.query.retrieval.retrieve
import functions.query.retrieval.search
import functions.query.second_look
import functions.query.sections
import functions.query.service
import functions.query.stored_text
import functions.query.structure
import functions.query.suggesting
import functions.query.summarising
import functions.query.unanswered
import functions.query.understanding.asked_alone
import functions.query.understanding.completing
import functions.query.understanding.days
import functions.query.understanding.glossary
import functions.query.understanding.model_rewriting
import functions.query.understanding.parts
import functions.query.understanding.phrases
import functions.query.understanding.pointing
import functions.query.understanding.question
import functions.query.understanding.rewriting
import functions.query.understanding.spelling
import functions.query.understanding.structure
import functions.query.understanding.summary
import functions.query.understanding.talk
import functions.query.understanding.vocabulary
import functions.query.withholding
import functions.query.writing.abbreviated
import functions.query.writing.asked
import functions.query.writing.cells
import functions.query.writing.compared_rows
import functions.query.writing.doubts
import functions.query.writing.drafts
import functions.query.writing.extractive
import functions.query.writing.generation
import functions.query.writing.items_in_order
import functions.query.writing.lenient_json
import functions.query.writing.list_items
import functions.query.writing.localization
import functions.query.writing.markers
import functions.query.writing.named_items
import functions.query.writing.needed
import functions.query.writing.outcomes
import functions.query.writing.premises
import functions.query.writing.prompting
import functions.query.writing.row_conditions
import functions.query.writing.row_doubts
import functions.query.writing.row_scores
import functions.query.writing.selected_rows
import functions.query.writing.statement_scores
import functions.query.writing.statements
import functions.query.writing.subjects
import functions.query.writing.table_units
import functions.query.writing.table_words
import functions.query.writing.told_headings
import functions.query.writing.whole_tables
import functions.query.writing.worked_out
from functions.query import bootstrap
from functions.query.api.openapi import operations_of
from functions.query.app import app
from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.pinecone import PineconeIndex
from shared.settings import Settings
from tests.support.aws_requests import as_json
from tests.support.limits import named_defaults, named_limits, schema_told
from tests.support.moto_aws import mocked_aws
from tests.support.snapshots import check

HERE = Path(__file__).parent / "snapshots"
LEFT_OUT = {"functions.query.app"}
"""Has no limits of its own but what it logs."""


def test_the_named_limits_are_as_stored() -> None:
    check(HERE / "limits.txt", named_limits(functions.query, Path(__file__), LEFT_OUT))


def test_the_defaults_of_parameters_and_fields_are_as_stored() -> None:
    check(HERE / "defaults.txt", named_defaults(functions.query, Path(__file__)))


def test_what_each_route_takes_and_gives_is_as_stored() -> None:
    """Each parameter and field with its type, default and limits, as the OpenAPI document has them."""
    document = app.openapi()
    lines = []
    for path, method, operation in operations_of(document):
        lines.append(
            f"{method.upper()} {path}: {' '.join(each for each in operation['responses'] if each not in EVERYWHERE)}"
        )
        lines += [
            f"  {each['in']} {each['name']}{' (needed)' if each.get('required') else ''}: {schema_told(each['schema'])}"
            for each in operation.get("parameters", [])
        ]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            lines.append(f"  body: {schema_told(content['schema'])}")
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines.append(f"{name}: {schema_told(schema)}")
        needed = schema.get("required", ())
        for field, own in schema.get("properties", {}).items():
            lines.append(f"  {field}{' (needed)' if field in needed else ''}: {schema_told(own)}")
    check(HERE / "contract.txt", "\n".join(lines))


EVERYWHERE = ("400", "401", "403", "429", "500", "502", "503", "504")
"""Statuses of nearly all routes."""


WIRED = {
    "plain": {},
    "with models": {
        "RECTO_CHAT_MODEL": "gpt-5-mini", "RECTO_CHECK_MODEL": "gpt-5-nano", "RECTO_REWRITE_MODEL": "gpt-5-nano",
        "RECTO_RERANK_MODEL": "bge-reranker-v2-m3", "RECTO_REASONING_EFFORT": "low",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", WIRED)
def test_the_query_function_is_wired_as_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which adapters are used, with which attempts, waits and sizes."""
    with mocked_aws(monkeypatch) as aws:
        for variable, value in {
            "RECTO_DOCUMENTS_TABLE": "documents", "RECTO_CONVERSATIONS_TABLE": "conversations",
            "RECTO_CACHE_TABLE": "cache", "RECTO_BUCKET": aws.bucket, "RECTO_QUEUE_URL": aws.queue_url,
            "RECTO_SECRET_ID": aws.secret_id, "RECTO_PINECONE_HOST": "https://index.example", **WIRED[name],
        }.items():  # fmt: skip
            monkeypatch.setenv(variable, value)
        monkeypatch.setattr(bootstrap, "resolve_host", lambda settings, key: settings.pinecone_host)
        bootstrap.reset()
        try:
            own = bootstrap.services()
            ports = bootstrap._build(own.settings.pinecone_index, own.settings.embedding_space)
            lines = [*_wired(ports, "ports", 0), *(() if WIRED[name] else _wired(own, "services", 0))]
            for client in (ports.search, ports.embedder, ports.chat, ports.rewriter):
                if isinstance(client, PineconeIndex | OpenAIEmbedder | OpenAIChatModel):
                    client.close()
        finally:
            bootstrap.reset()
    check(HERE / f"wired-{name.replace(' ', '-')}.txt", "\n".join(lines))


def _wired(value: Any, name: str, depth: int) -> Iterator[str]:
    """Yield what an object of ours holds, three levels deep: numbers, texts, and other objects of ours."""
    pad = "  " * depth
    if isinstance(value, Settings):
        return
    if isinstance(value, (bool, int, float, str)):
        yield f"{pad}{name}: {value}"
    elif type(value).__module__.startswith("botocore"):
        config = value.meta.config
        waits = (
            f"{config.connect_timeout} {config.read_timeout} {as_json(config.retries)} {config.max_pool_connections}"
        )
        yield f"{pad}{name}: {value.meta.service_model.service_name} {waits}"
    elif type(value).__module__.startswith(("functions.", "shared.")) and depth < DEEPEST:
        yield f"{pad}{name}: {type(value).__name__}"
        for field in _names_of(value):
            yield from _wired(getattr(value, field), field, depth + 1)


DEEPEST = 5


def _names_of(value: Any) -> list[str]:
    slots = [each for kind in type(value).__mro__ for each in getattr(kind, "__slots__", ())]
    named = [*getattr(value, "__dict__", {}), *slots]
    return sorted({each for each in named if hasattr(value, each) and not each.startswith("__")})
