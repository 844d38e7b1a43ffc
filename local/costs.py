"""`python -m local costs`: what a month costs, from the dated price file and from what Recto does for a question.

Free tiers, taxes and data that leaves AWS are left out. Nothing was measured on an account: the amounts are counted
from the code and from runs on the laptop stack.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from shared.models import Usage
from shared.prices import cost_usd, prices_of_services

if TYPE_CHECKING:
    from shared.settings import Settings  # heavy, and `--help` needs the workload

MILLION = 1_000_000
PAGE_TOKENS, DOCUMENT_GB = 500, 0.002
VECTOR_KB = 12.0
"""1,536 floats, some 150 sparse values, the chunk's text and its metadata."""
CHUNKS_A_FULL_ONE = 1.15
"""Chunks overlap, and end with a sentence and with the page."""
ANSWER_TOKENS = (Usage(input_tokens=4_000, output_tokens=420), Usage(input_tokens=6_000, output_tokens=540))
"""Tokens of a question: instructions, sources and conversation; the answer and the model's reasoning."""
QUESTION_TOKENS = 20
FUNCTION_GB = 1.0
QUERY_S, INGEST_PAGE_S = (2.5, 4.0), 0.25
READS, WRITES = (25, 50), (31, 44)
"""DynamoDB units of a question: history, registry, caches; two turns and a receipt in a transaction, caches, usage."""
LOG_KB = (4.0, 8.0)
METRICS = 70
"""Names by function, and providers' failures by provider."""
POLLS = (500_000, 1_000_000)
"""Lambda asks the queue all month long, in five connections of 20 s."""
ROUNDS = 12 * 24 * 30
"""Maintenance, every five minutes."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A month: documents (all of them new in it) with their pages, and questions, all of them answered by the model."""

    documents: int = 1_000
    pages: int = 50
    questions: int = 100_000


class Item(NamedTuple):
    """A line of the bill: least and most, in US dollars a month."""

    name: str
    least: float
    most: float


def bill(load: Workload, settings: "Settings", *, chat_model: str, alarms: int) -> list[Item]:
    """Return what the month costs, the sum at the end. Raises `KeyError` for a model without a price."""
    items = list(_items(load, settings, chat_model, alarms))
    return [*items, Item("**Sum**", sum(each.least for each in items), sum(each.most for each in items))]


def _items(load: Workload, settings: "Settings", chat_model: str, alarms: int) -> Iterator[Item]:
    usd, questions = prices_of_services(), load.questions
    chunks = load.documents * load.pages * PAGE_TOKENS / settings.chunk_size_tokens * CHUNKS_A_FULL_ONE
    least, most = (questions * _price(chat_model, answer) for answer in ANSWER_TOKENS)
    yield Item(f"Chat model, {chat_model}", least, most)
    tokens = chunks * settings.chunk_size_tokens + questions * QUESTION_TOKENS
    embedded = _price(settings.embedding_model, Usage(input_tokens=round(tokens)))
    yield Item(f"Embeddings, {settings.embedding_model}", embedded, embedded)
    index_gb = chunks * VECTOR_KB / MILLION
    units = 2 * questions * max(0.25, index_gb) * usd["pinecone_read_unit"]  # a dense and a hybrid search
    vectors = units + chunks * VECTOR_KB * usd["pinecone_write_unit"] + index_gb * usd["pinecone_gb"]
    vectors = max(vectors, usd["pinecone_minimum"])
    yield Item("Pinecone, Standard plan", vectors, vectors)
    ingest_s = load.documents * load.pages * INGEST_PAGE_S + ROUNDS
    seconds = [(questions * each + ingest_s) * FUNCTION_GB * usd["lambda_gb_second"] for each in QUERY_S]
    requests = (questions + load.documents + ROUNDS) * usd["lambda_request"] + questions * usd["api_gateway_request"]
    yield Item("Lambda and API Gateway", seconds[0] + requests, seconds[1] + requests)
    table_gb = questions * LOG_KB[0] / MILLION
    stored = table_gb * usd["dynamodb_gb"] + load.documents * DOCUMENT_GB * usd["s3_gb"]
    units_of = [
        questions * (reads * usd["dynamodb_read_unit"] + writes * usd["dynamodb_write_unit"])
        for reads, writes in zip(READS, WRITES, strict=True)
    ]
    queued = [stored + each * usd["sqs_request"] for each in POLLS]
    yield Item("DynamoDB, S3 and SQS", units_of[0] + queued[0], units_of[1] + queued[1])
    seen = METRICS * usd["cloudwatch_metric"] + alarms * usd["cloudwatch_alarm"] + usd["cloudwatch_dashboard"]
    seen += usd["secret"]
    logged = [questions * each / MILLION * usd["cloudwatch_log_gb"] for each in LOG_KB]
    yield Item(f"CloudWatch ({METRICS} metrics, {alarms} alarms, logs), one secret", seen + logged[0], seen + logged[1])


def _price(model: str, usage: Usage) -> float:
    price = cost_usd(model, usage)
    if price is None:
        raise KeyError(f"shared/prices.json has no price for {model}.")
    return price


def table(items: list[Item]) -> str:
    """Return the bill as a Markdown table, as docs/operating.md has it."""
    lines = ["| What | USD a month |", "|---|---|"]
    for each in items:
        least, most = (f"{value:,.1f}" if value < 10 else f"{value:,.0f}" for value in (each.least, each.most))
        lines.append(f"| {each.name} | {least if least == most else f'{least} to {most}'} |")
    return "\n".join(lines)
