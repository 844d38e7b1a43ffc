"""The ingest function with AWS on moto and both emulators on the wire, and PDFs made on the spot."""

import gc
import io
import itertools
import json
import random
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote_plus

import httpx
import pypdfium2 as pdfium
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from functions.ingest import app, bootstrap, ocr
from functions.ingest.delivery import Batch
from functions.ingest.pipeline import IngestDependencies
from shared.adapters.aws import SystemClock
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.openai import OpenAIEmbedder
from shared.adapters.openai_figures import OpenAIFigureReader
from shared.adapters.pinecone import PineconeIndex
from shared.models import Document, document_id_of
from tests.support.moto_aws import MockedAws, mocked_aws
from tests.support.openai_server import running_openai
from tests.support.pinecone_clients import create_index
from tests.support.pinecone_server import running_pinecone


def pdf_of(pages: Sequence[str], *, title: str = "", size: float = 11, invisible: bool = False) -> bytes:
    """Make a PDF with one paragraph a page, drawn or, as in the text layer of a scan, not."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    if title:
        canvas.setTitle(title)
    for text in pages:
        writer = canvas.beginText(72, 760)
        writer.setFont("Helvetica", size)
        if invisible:
            writer.setTextRenderMode(3)
        writer.textLines(textwrap.wrap(text, 85))
        canvas.drawText(writer)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def scan_of(pages: Sequence[str], *, turn: int = 0, size: float = 11) -> bytes:
    """Make a PDF whose pages are pictures of the text, turned by quarter turns to the right."""
    drawn = pdfium.PdfDocument(pdf_of(pages, size=size))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    for page in drawn:
        picture = page.render(scale=200 / 72, grayscale=True).to_pil()
        picture = picture.rotate(-90 * turn, expand=True)
        width, height = (side * 72 / 200 for side in picture.size)
        canvas.setPageSize((width, height))
        canvas.drawImage(ImageReader(picture), 0, 0, width, height)
        canvas.showPage()
    drawn.close()
    canvas.save()
    return buffer.getvalue()


def prose(marker: str, *, sentences: int, seed: int) -> str:
    """Write sentences that all begin with `marker` and otherwise differ, so that none looks like a running header."""
    pick = random.Random(f"{marker}{seed}")

    def word() -> str:
        return "".join(pick.choice(("ba", "ri", "to", "ven", "lor", "mi", "sta", "due")) for _ in range(3))

    return " ".join(f"{marker} {' '.join(word() for _ in range(6))}." for _ in range(sentences))


@dataclass
class Context:
    """What Lambda passes beside the event."""

    remaining_ms: int = 900_000
    function_name: str = "ingest"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:ingest"
    aws_request_id: str = "11111111-2222-3333-4444-555555555555"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@dataclass
class Stack:
    """The ingest function with everything around it."""

    aws: MockedAws
    pinecone_url: str
    openai_url: str
    http: httpx.Client
    messages: Iterator[int] = field(default_factory=itertools.count)
    sequencers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    ocr_queue_url: str = ""

    def put(self, key: str, data: bytes) -> None:
        self.aws.s3.put_object(Bucket=self.aws.bucket, Key=key, Body=data)

    def delete(self, key: str) -> None:
        self.aws.s3.delete_object(Bucket=self.aws.bucket, Key=key)

    def s3_event(self, key: str, *, event: str = "ObjectCreated:Put", sequencer: str = "") -> dict[str, Any]:
        about = {"key": quote_plus(key, safe="/"), "sequencer": sequencer or f"{next(self.sequencers):018X}"}
        record = {
            "eventSource": "aws:s3",
            "eventName": event,
            "s3": {"bucket": {"name": self.aws.bucket}, "object": about},
        }
        return {"Records": [record]}

    def message(self, body: str, *, receives: int = 1) -> dict[str, Any]:
        """Put a body on the queue, receive it again, and return it in Lambda's form."""
        queue = {"QueueUrl": self.aws.queue_url}
        sent = self.aws.sqs.send_message(**queue, MessageBody=body)["MessageId"]
        others: list[str] = []
        while received := self.aws.sqs.receive_message(**queue, MaxNumberOfMessages=10).get("Messages"):
            for got in received:
                if got["MessageId"] != sent:
                    others.append(got["ReceiptHandle"])
                    continue
                for each in others:  # else they would be hidden from this test, and come back in a later one
                    self.aws.sqs.change_message_visibility(**queue, ReceiptHandle=each, VisibilityTimeout=0)
                return lambda_record(got, receives=receives)
        raise AssertionError(f"the message {sent} is not in its queue")

    def message_for(self, key: str, *, event: str = "ObjectCreated:Put", receives: int = 1) -> dict[str, Any]:
        return self.message(json.dumps(self.s3_event(key, event=event)), receives=receives)

    def invoke(self, event: dict[str, Any], context: Context | None = None) -> dict[str, Any]:
        return dict(app.handler(event, cast("Any", context or Context())))

    def deliver(self, *keys: str, event: str = "ObjectCreated:Put", receives: int = 1) -> list[str]:
        """Deliver one batch with an event for each key; return the keys whose messages must come back."""
        records = [self.message_for(key, event=event, receives=receives) for key in keys]
        failed = {failure["itemIdentifier"] for failure in self.invoke({"Records": records})["batchItemFailures"]}
        for each in records:
            if each["messageId"] not in failed:  # as Lambda does
                self.aws.sqs.delete_message(QueueUrl=self.aws.queue_url, ReceiptHandle=each["receiptHandle"])
        return [key for key, record in zip(keys, records, strict=True) if record["messageId"] in failed]

    def empty_queues(self) -> None:
        """Drop every message, those that are hidden, too."""
        for url in filter(None, (self.aws.queue_url, self.ocr_queue_url)):
            self.aws.sqs.purge_queue(QueueUrl=url)

    def asked_of_ocr(self) -> list[str]:
        """Receive the requests for OCR from their queue."""
        bodies: list[str] = []
        while got := self.aws.sqs.receive_message(QueueUrl=self.ocr_queue_url, MaxNumberOfMessages=10).get("Messages"):
            for message in got:
                self.aws.sqs.delete_message(QueueUrl=self.ocr_queue_url, ReceiptHandle=message["ReceiptHandle"])
                bodies.append(message["Body"])
        return bodies

    def read_by_ocr(self, body: str, *, remaining_ms: int = 900_000) -> bool:
        """Have the OCR function read what a message asks for; False if the message must come back."""
        event = {"Records": [{"messageId": "1", "body": body}]}
        return not ocr.handler(event, cast("Any", Context(remaining_ms)))["batchItemFailures"]

    def find(self, key: str) -> Document | None:
        tenant = key.split("/")[1]
        registry = DynamoDocumentRegistry(self.aws.dynamodb, self.aws.documents_table, SystemClock())
        return registry.get(tenant, document_id_of(tenant, key))

    def document(self, key: str) -> Document:
        found = self.find(key)
        assert found is not None, f"{key} is not in the registry"
        return found

    def vectors(self, tenant: str, key: str = "") -> dict[str, dict[str, Any]]:
        """Return id → metadata of all vectors in the tenant's namespace, or of one document there."""
        found: dict[str, dict[str, Any]] = {}
        prefix = document_id_of(key.split("/")[1], key) + "#" if key else ""
        params: dict[str, str] = {"namespace": tenant, "prefix": prefix}
        while True:
            page = self._get("/vectors/list", params)
            ids = [entry["id"] for entry in page.get("vectors", [])]
            if ids:
                fetched = self._get("/vectors/fetch", {"namespace": tenant, "ids": ids})
                found |= {name: vector["metadata"] for name, vector in fetched["vectors"].items()}
            token = page.get("pagination", {}).get("next")
            if not token:
                return found
            params["paginationToken"] = token

    def faults(self, base: str, **fault: Any) -> None:
        """Make an emulator fail."""
        self.http.post(f"{base.removesuffix('/v1')}/_admin/faults", json=fault).raise_for_status()

    def _get(self, path: str, params: Any) -> dict[str, Any]:
        answer = self.http.get(f"{self.pinecone_url}{path}", params=params, headers={"Api-Key": "pc-test"})
        answer.raise_for_status()
        return dict(answer.json())


def lambda_record(message: Mapping[str, Any], *, receives: int = 1) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": {"ApproximateReceiveCount": str(receives)},
        "eventSource": "aws:sqs",
    }


def close_clients(batch: Batch) -> None:
    """Close what a Lambda leaves open for its whole life: the clients of every index version."""
    if (describer := batch.build_describer()) is not None and isinstance(describer.reader, OpenAIFigureReader):
        describer.reader.close()
    access = batch.reconciler.access
    for each in [access.configured, *(held for held in gc.get_objects() if type(held) is IngestDependencies)]:
        for client in (each.vectors, each.embedder.embedder):
            if isinstance(client, PineconeIndex | OpenAIEmbedder):
                client.close()


BUILT = (
    bootstrap.batch,
    bootstrap.page_reader,
    bootstrap.scan,
    bootstrap.comparison,
    bootstrap.reindexer,
    bootstrap.eraser,
    bootstrap.automatic_reindex,
)


@contextmanager
def ingest_stack(
    patch: pytest.MonkeyPatch, folder: Path, *, visibility_delay_s: float = 0.0, with_ocr: bool = False
) -> Iterator[Stack]:
    """Run everything the ingest function talks to, and set its environment."""
    with (
        running_pinecone(folder / "pinecone", visibility_delay_s=visibility_delay_s) as pinecone_url,
        running_openai(folder / "openai") as openai_url,
        mocked_aws(patch) as aws,
        httpx.Client(timeout=10) as http,
    ):
        create_index(pinecone_url, "recto", dimension=384)
        settings = {
            "DOCUMENTS_TABLE": aws.documents_table,
            "BUCKET": aws.bucket,
            "QUEUE_URL": aws.queue_url,
            "SECRET_ID": aws.secret_id,
            "OPENAI_BASE_URL": openai_url,
            "PINECONE_CONTROL_URL": pinecone_url,
            "EMBEDDING_MODEL": "all-MiniLM-L6-v2",
            "EMBEDDING_DIMENSIONS": "384",
        }
        for name, value in settings.items():
            patch.setenv(f"RECTO_{name}", value)
        stack = Stack(aws, pinecone_url, openai_url, http)
        if with_ocr:
            stack.ocr_queue_url = aws.sqs.create_queue(QueueName="ocr")["QueueUrl"]
            patch.setenv("RECTO_OCR_QUEUE_URL", stack.ocr_queue_url)
        forget_built()
        try:
            yield stack
        finally:
            close_clients(bootstrap.batch())
            forget_built()


def forget_built() -> None:
    """Let the ingest and maintenance functions build everything anew from the environment."""
    for built in BUILT:
        built.cache_clear()
