"""Recto as deployed on the laptop: PDFs go into the bucket, and the Lambda ingests them.

The questions are asked by the query pipeline in this process, on the stack's own tables and index: the API shows at
most the passages an answer was made from, and none for a refusal, while a ranking needs them all.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from evals.context import SystemContext
from evals.errors import EvalError
from evals.storage import PROJECT, file_hash, source_hash
from evals.systems.base import Ingested, SearchResult
from evals.systems.recto import Asker, query_ports, settings_shown
from functions.query.readable import ReadableDocuments
from local.client import FINAL_STATUSES
from local.report import Reporter
from local.stack import sam
from local.stack.aws import Aws, Deployed
from local.stack.config import ALIAS, LocalConfig, LocalStackError
from local.stack.laptop import Laptop
from shared.adapters.aws import SystemClock
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.openai import OpenAIEmbedder
from shared.adapters.pinecone import PineconeIndex, resolve_host
from shared.errors import RectoError
from shared.models import Document, document_id_of
from shared.settings import Settings
from shared.telemetry import VERSION

PREFIX = "uploads/evals-"
TIMEOUT_S = 1_500.0
"""Seconds without any document becoming final before it is given up; many times what a Lambda invocation lasts."""
POLL_S = 0.5


class RectoOnStack:
    """The running laptop stack. Every set of PDFs has its own tenant, so that a second run finds it ingested."""

    name = "recto"

    def __init__(self, context: SystemContext) -> None:
        self._context = context
        state = Path(os.environ.get("RECTO_STATE", PROJECT / ".recto"))
        self._config = LocalConfig.load(state, os.environ)
        laptop = Laptop(self._config, Reporter())
        try:
            deployed = laptop.deployed()
            _check_that_stack_is_current(self._config)
            self._settings = _deployed_settings(laptop.aws, deployed)
            self._index = PineconeIndex(host=resolve_host(self._settings, "local"), api_key="local")
        except (LocalStackError, BotoCoreError, ClientError, RectoError) as error:
            raise EvalError(
                f"The laptop stack cannot be used: {error}\nTo measure without it: --in-process."
            ) from error
        self._aws, self._bucket = laptop.aws, deployed.bucket
        self._registry = DynamoDocumentRegistry(laptop.aws.dynamodb, self._settings.documents_table, SystemClock())
        self._embedder = OpenAIEmbedder(
            base_url=self._settings.openai_base_url, api_key="local", space=self._settings.embedding_space
        )
        self._names: dict[str, str] = {}
        readable = ReadableDocuments(self._registry)
        self._asker = Asker(query_ports(self._settings, self._embedder, self._index, readable), "", self._names)
        self.versions: Mapping[str, str] = {"recto": VERSION, "source": source_hash("functions", "shared")}
        self.settings: Mapping[str, object] = settings_shown(self._settings, "laptop stack")

    @property
    def threshold(self) -> float:
        """The similarity under which nothing is answered."""
        return self._settings.threshold

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Put the PDFs into the bucket and wait until each has a final status in the registry."""
        # The source is part of the name, because a document that is READY is not ingested again for new code.
        content = sha256("\0".join(f"{path.name}\0{file_hash(path)}" for path in pdfs).encode()).hexdigest()
        tenant = f"evals-{content[:8]}{source_hash('functions/ingest', 'shared')[:8]}"
        self._asker = replace(self._asker, tenant=tenant)
        self._remove_others(tenant)
        keys = {f"uploads/{tenant}/{path.name}": path for path in pdfs}
        ids = {document_id_of(tenant, key): key for key in keys}
        self._names |= {document_id: keys[key].name for document_id, key in ids.items()}
        started = time.monotonic()
        for document_id, key in ids.items():
            held = self._registry.get(tenant, document_id)
            if held is None or held.status.value not in FINAL_STATUSES:
                self._aws.s3.put_object(
                    Bucket=self._bucket, Key=key, Body=keys[key].read_bytes(), ContentType="application/pdf"
                )
        documents = self._wait(tenant, list(ids), started)
        # Processor seconds of parsing, of all workers together; they lie within the time from bucket to index.
        parse_s = sum(page.seconds for document in documents for page in document.report)
        ingested = Ingested(seconds={"bucket_to_index": time.monotonic() - started, "parse": parse_s})
        for document in documents:
            name = self._names[document.document_id]
            ingested.chunks += document.chunk_count
            ingested.tokens += document.token_count
            ingested.pages |= {(name, page.number) for page in document.report if page.state == "text"}
            if document.status.value != "READY":
                reason = f": {document.error.message}" if document.error else ""
                ingested.problems[name] = f"{document.status.value}{reason}"
        return ingested

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Ask the query pipeline on the stack's index."""
        return self._asker.search(question, k, doc=doc)

    def close(self) -> None:
        """Close the connections. The stack was running before, and keeps running."""
        self._index.close()
        self._embedder.close()

    def _wait(self, tenant: str, document_ids: Sequence[str], started: float) -> list[Document]:
        final: dict[str, Document] = {}
        last_change = started
        while len(final) < len(document_ids):
            for document_id in document_ids:
                if document_id not in final:
                    document = self._registry.get(tenant, document_id)
                    if document is not None and document.status.value in FINAL_STATUSES:
                        final[document_id] = document
                        last_change = time.monotonic()
            self._context.progress("recto: ingesting through the bucket", len(final), len(document_ids))
            if time.monotonic() - last_change > TIMEOUT_S:
                waiting = ", ".join(self._names[key] for key in document_ids if key not in final)
                raise EvalError(f"Not ingested after {TIMEOUT_S:g} s: {waiting}. See `python -m local logs ingest`.")
            if len(final) < len(document_ids):
                time.sleep(POLL_S)
        return [final[document_id] for document_id in document_ids]

    def _remove_others(self, tenant: str) -> None:
        """Delete what earlier evaluations of other PDFs or other code left in the bucket; ingest removes the rest."""
        pages = self._aws.s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=PREFIX)
        for page in pages:
            for found in page.get("Contents", []):
                key = found.get("Key", "")
                if not key.startswith(f"uploads/{tenant}/"):
                    self._aws.s3.delete_object(Bucket=self._bucket, Key=key)


def _check_that_stack_is_current(config: LocalConfig) -> None:
    if sam.deployed_fingerprint(config) != sam.deployment_fingerprint(sam.source_fingerprint(config.project), config):
        raise LocalStackError(
            "The deployed code is not the code in this folder: `python -m local up` deploys it again."
        )


def _deployed_settings(aws: Aws, deployed: Deployed) -> Settings:
    """Read the settings the query function runs with from its own configuration."""
    name = f"{deployed.outputs['QueryFunctionName']}:{ALIAS}"
    configuration = aws.lambda_.get_function_configuration(FunctionName=name)
    variables = configuration.get("Environment", {}).get("Variables", {})
    given = {
        name.removeprefix("RECTO_").lower(): value
        for name, value in variables.items()
        if name.startswith("RECTO_") and value != ""
    }
    return Settings(**given)  # type: ignore[arg-type]
