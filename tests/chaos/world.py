"""A deployed stack seen from outside: what is in its bucket, its registry and its index."""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx

from local.client import ApiError
from local.operate import Target, laptop_target
from local.stack import sam
from local.stack.config import PINECONE_INDEX
from local.stack.laptop import Laptop
from local.stack.users import DEMO
from shared.adapters.aws import SystemClock
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.models import Document, DocumentStatus, document_id_of
from tests.support.ingest import pdf_of, prose

MARKER = re.compile(r"\bD\d{3}V\d+\b")
TENANT = DEMO.tenant


def content(number: int, version: int) -> bytes:
    """Make a small PDF of four pages whose every sentence says which document and version it belongs to."""
    return pdf_of([prose(f"D{number:03d}V{version}", sentences=12, seed=page) for page in range(4)])


@dataclass
class ChaosWorld:
    """The stack, and what should be in its bucket: key → version, 0 for deleted."""

    laptop: Laptop
    dice: random.Random
    bucket: dict[str, int] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)

    @cached_property
    def target(self) -> Target:
        return laptop_target(self.laptop)

    @cached_property
    def registry(self) -> DynamoDocumentRegistry:
        return DynamoDocumentRegistry(
            self.laptop.aws.dynamodb, self.target.outputs["DocumentsTableName"], SystemClock()
        )

    @cached_property
    def index(self) -> httpx.Client:
        headers = {"Api-Key": sam.EMULATOR_KEY}
        with httpx.Client(base_url=self.laptop.config.pinecone_url, headers=headers, trust_env=False) as control:
            host = str(control.get(f"/indexes/{PINECONE_INDEX}").raise_for_status().json()["host"])
        base = host if "://" in host else f"http://{host}"
        return httpx.Client(base_url=base, headers=headers, timeout=30, trust_env=False)

    def shorten_visibility(self, seconds: int) -> None:
        """Redeliver sooner the message of a worker that died before its first line of code (else after 36 minutes)."""
        url = self.target.outputs["QueueUrl"]
        self.laptop.aws.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(seconds)})

    # --- what happens to the bucket ------------------------------------------------------------------------------

    def put(self, number: int) -> None:
        """Upload a document, or the next version of it."""
        version = self.versions[number] = self.versions.get(number, 0) + 1
        key = self.key_of(number)
        self.laptop.aws.s3.put_object(Bucket=self.target.outputs["BucketName"], Key=key, Body=content(number, version))
        self.bucket[key] = version

    def delete(self, number: int) -> None:
        """Delete it from the bucket, or through the API."""
        key = self.key_of(number)
        # The API does not know a document that was uploaded again just after a deletion: then delete it in the bucket.
        if self.dice.random() < 0.5 or not self._deleted_by_the_api(key):
            self.laptop.aws.s3.delete_object(Bucket=self.target.outputs["BucketName"], Key=key)
        self.bucket[key] = 0

    def _deleted_by_the_api(self, key: str) -> bool:
        with self.laptop.client(DEMO) as api:
            try:
                api.delete_document(document_id_of(TENANT, key))
            except ApiError as error:
                if error.status != 404:
                    raise
                return False
        return True

    def key_of(self, number: int) -> str:
        return f"uploads/{TENANT}/chaos/{number:03d}.pdf"

    # --- what can be found ---------------------------------------------------------------------------------------

    def document(self, key: str) -> Document | None:
        return self.registry.get(TENANT, document_id_of(TENANT, key))

    def published(self, document: Document) -> Mapping[str, str]:
        """Return id → text of the published generation."""
        ids = [f"{document.document_id}#{document.generation}#{n}" for n in range(document.chunk_count)]
        fetched = self.index.get("/vectors/fetch", params={"namespace": TENANT, "ids": ids}).raise_for_status().json()
        return {name: str(vector["metadata"]["text"]) for name, vector in fetched["vectors"].items()}

    def fault_at_this_moment(self, key: str) -> str:
        """Return what is wrong with a document's published chunks right now, or an empty string."""
        while True:
            document = self.document(key)
            if document is None or not document.generation:
                return ""
            texts = self.published(document)
            again = self.document(key)
            if again is not None and again.generation == document.generation:
                break  # else it was replaced while it was read
        if len(texts) != document.chunk_count:
            return f"{key}: {document.chunk_count - len(texts)} of {document.chunk_count} chunks are missing"
        markers = {marker for text in texts.values() for marker in MARKER.findall(text)}
        return f"{key}: a mixture of {sorted(markers)}" if len(markers) != 1 else ""

    def differences(self) -> list[str]:
        """Return the differences between index and bucket."""
        return [fault for key, version in sorted(self.bucket.items()) if (fault := self._difference(key, version))]

    def _difference(self, key: str, version: int) -> str:
        document = self.document(key)
        if not version:
            gone = document is None or document.status is DocumentStatus.DELETED
            return "" if gone else f"{key}: deleted, but {document.status if document else ''}"
        if document is None or document.status is not DocumentStatus.READY:
            return f"{key}: {document.status if document else 'unknown'} {document.error if document else ''}"
        markers = {m for text in self.published(document).values() for m in MARKER.findall(text)}
        wanted = f"D{key[-7:-4]}V{version}"
        return "" if markers == {wanted} else f"{key}: {sorted(markers)} instead of {wanted}"

    def orphans(self) -> list[str]:
        """Return every vector of the tenant that belongs to no published generation."""
        known = set()
        for document in self._all_documents():
            if document.generation:
                known |= {f"{document.document_id}#{document.generation}#{n}" for n in range(document.chunk_count)}
        return [vector_id for vector_id in self._ids() if vector_id not in known]

    def waiting(self, queue: str) -> int:
        """Return how many messages a queue holds, hidden ones included."""
        names: list[Any] = [
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        ]
        found = self.laptop.aws.sqs.get_queue_attributes(QueueUrl=self.target.outputs[queue], AttributeNames=names)
        return sum(int(count) for count in found["Attributes"].values())

    def _all_documents(self) -> Iterator[Document]:
        for key in self.bucket:
            if (document := self.document(key)) is not None:
                yield document

    def _ids(self) -> Iterator[str]:
        ours = {document_id_of(TENANT, key) for key in self.bucket}
        params = {"namespace": TENANT, "prefix": ""}
        while True:
            page = self.index.get("/vectors/list", params=params).raise_for_status().json()
            yield from (each["id"] for each in page.get("vectors", []) if each["id"].partition("#")[0] in ours)
            token = page.get("pagination", {}).get("next")
            if not token:
                return
            params["paginationToken"] = token
