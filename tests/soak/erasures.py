"""Documents and users erased while others ask, the index is re-indexed, stores fail and rounds are killed: 0 traces.

    python -W ignore -m tests.soak.erasures [--documents 200] [--users 20] [--seed 1]

Two readings: that of `python -m local erasure check`, by ids, and one by words that only the erased things hold. AWS is
moto, the vendors are the emulators; the index shows deletions late.
"""

import argparse
import itertools
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, cast

import boto3
import httpx
import pytest
from rich.console import Console

from functions.ingest import bootstrap as ingest_bootstrap
from functions.ingest.lease import InvocationTime
from functions.ingest.reindex import take_step
from functions.query import app
from functions.query.streaming_app import REQUEST_CONTEXT, FromAdapter
from local import erasure
from local.operate import Target
from local.report import Reporter
from local.serving import serving
from shared.adapters.aws import from_item
from shared.models import document_id_of
from shared.settings import Settings
from shared.telemetry import logger
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import authorized, query_stack

TENANT = "acme"
LAG_S = 0.3
ASKERS = 3
PAUSE_S = 0.2
"""Between two questions of one asker: they share a process with all that is tested."""
TRIES = 5
"""Times that an erasure is asked for."""
ROUNDS = 200
PLACES = ("harbour", "mill", "orchard", "quarry", "bakery", "foundry", "archive", "weir", "kiln", "granary")


class RoundKilled(BaseException):
    """The maintenance function is killed at this call."""


@dataclass
class ErasureWorld:
    """One run. `words` are what only the erased documents and users hold."""

    stack: Stack
    url: str
    http: httpx.Client
    draw: random.Random
    documents: dict[str, str] = field(default_factory=dict)
    users: list[str] = field(default_factory=list)
    receipts: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    asked: int = 0

    def request(self, method: str, path: str, *, user: str = "ann", groups: str = "admin", **more: Any) -> Any:
        context = {"stage": "v1", "requestId": "r", "authorizer": authorized(TENANT, user, groups)}
        headers = {REQUEST_CONTEXT.decode(): json.dumps(context)}
        return self.http.request(method, f"{self.url}{path}", headers=headers, **more)

    def ask(self, about: int, user: str) -> None:
        question = f"Who keeps the {word(about)} {PLACES[about % len(PLACES)]}?"
        answer = self.request("POST", "/query", user=user, json={"question": question})
        self.asked += 1
        if answer.status_code == 200 and about % 3 == 0:
            body = {"rating": "down", "comment": "no"}
            self.request("PUT", f"/messages/{answer.json()['message_id']}/feedback", user=user, json=body)
        if answer.status_code == 200 and about % 7 == 0:
            self.request("POST", f"/conversations/{answer.json()['conversation_id']}/handoff", user=user, json={})

    def upload(self, number: int) -> str:
        key = f"uploads/{TENANT}/{word(number)}.pdf"
        text = f"The {word(number)} {PLACES[number % len(PLACES)]} is kept by {word(number)} keeper number {number}."
        self.stack.put(key, pdf_of([text, f"Its gate opens at {number % 12 + 1} o'clock."], title=word(number)))
        while self.stack.deliver(key):
            pass
        return key


def word(number: int) -> str:
    """Return a made-up word that stands in one document only."""
    letters = "bdfgklmnprstvz"
    pick = random.Random(number)
    return "".join(pick.choice(letters) + pick.choice("aeiou") for _ in range(6)).capitalize() + "x" * (number % 2)


@contextmanager
def world_on(stack: Stack, seed: int) -> Iterator[ErasureWorld]:
    """Run the API of a stack on a port, with an index that lags."""
    visibility = f"{stack.pinecone_url}/_admin/visibility"
    cached = ingest_bootstrap.eraser, ingest_bootstrap.scan, ingest_bootstrap.reindexer
    with serving(FromAdapter(app.app), name="erasures") as url, httpx.Client(timeout=300) as http:
        stack.http.post(visibility, json={"delay_s": LAG_S}).raise_for_status()
        for each in cached:
            each.cache_clear()
        try:
            yield ErasureWorld(stack, url, http, random.Random(seed))
        finally:
            stack.http.post(visibility, json={"delay_s": 0}).raise_for_status()
            for each in cached:
                each.cache_clear()


def run(stack: Stack, documents: int, users: int, seed: int, say: Callable[[str], None]) -> list[str]:
    """Erase so many documents and users while others stay; return what is left, in words."""
    total = documents + max(2, documents // 4)
    with world_on(stack, seed) as world:
        keys = [world.upload(number) for number in range(total)]
        say(f"{total} documents are ingested")
        everybody = [f"user-{number:04d}-{seed}-of-the-soak" for number in range(2 * users)]
        world.documents = {document_id_of(TENANT, key): key for key in keys[:documents]}
        world.users = everybody[:users]
        for number, user in itertools.product(range(3), everybody):
            world.ask(world.draw.randrange(total) if number else 0, user)
        for number in range(documents):
            world.ask(number, everybody[number % len(everybody)])
        say(f"{world.asked} questions of {len(everybody)} users")
        with load(world, everybody[users:], total):
            erase(world)
        say(f"{len(world.receipts)} erasures begun, {world.asked} questions by now")
        finish(world, say)
        return [*world.failures, *left(world)]


@contextmanager
def load(world: ErasureWorld, users: Sequence[str], documents: int) -> Iterator[None]:
    """Have users ask about everything meanwhile."""
    ended = threading.Event()

    def asking(seed: int) -> None:
        draw = random.Random(seed)
        while not ended.wait(PAUSE_S):
            world.ask(draw.randrange(documents), draw.choice(users))

    threads = [threading.Thread(target=asking, args=(each,)) for each in range(ASKERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def erase(world: ErasureWorld) -> None:
    """Begin all erasures, with faults: events lost and doubled, a re-index begun, an index that fails."""
    reindexing = len(world.documents) // 2
    for number, (document_id, key) in enumerate(world.documents.items()):
        if number == reindexing:
            take_step(ingest_bootstrap.reindexer(), "start", TENANT)
        if number % 9 == 4:
            world.stack.faults(world.stack.pinecone_url, kind="status", status=503, count=2, seed=number)
        begin_erasure(world, document_id, f"/documents/{document_id}", params={"verify": "true"})
        for _ in range(world.draw.choice((0, 1, 1, 2))):
            world.stack.deliver(key, event="ObjectRemoved:Delete")
    for user in world.users:
        begin_erasure(world, user, "/users/me", user=user, groups="")


def begin_erasure(world: ErasureWorld, subject: str, path: str, **more: Any) -> None:
    """Ask for an erasure, again where the service is busy, as whoever wants it would."""
    status = 0
    for _ in range(TRIES):
        answer = world.request("DELETE", path, **more)
        status = answer.status_code
        if status == 202:
            world.receipts[subject] = answer.json()["erasure_id"]
            return
    world.failures.append(f"{path}: {status}")


def finish(world: ErasureWorld, say: Callable[[str], None]) -> None:
    """Make rounds, killing some, and deliver what is in the queue, until every erasure is finished."""
    begun, rounds, killed = time.monotonic(), 0, 0
    eraser = replace(ingest_bootstrap.eraser(), settle_s=LAG_S, visible_s=2 * LAG_S)
    for rounds in range(1, ROUNDS + 1):
        pump(world)
        say(f"round {rounds}, {time.monotonic() - begun:.0f} s")
        time.sleep(LAG_S)
        if rounds % 3 == 1:
            killed += kill(eraser, world.draw.randrange(1, 15))
            continue
        if not eraser.run(InvocationTime(lambda: 900.0))["unfinished"]:
            break
    say(
        f"{len(world.receipts)} erasures finished in {rounds} rounds, {killed} killed, {time.monotonic() - begun:.0f} s"
    )


def kill(eraser: Any, after: int) -> bool:
    """Kill a round at its n-th call of a store; say whether it came so far."""
    calls = itertools.count(1)

    class Killing:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            def called(*values: Any, **named: Any) -> Any:
                if next(calls) == after and name not in {"hold", "let_go"}:
                    raise RoundKilled
                return getattr(self.inner, name)(*values, **named)

            return called

    fragile = {name: Killing(getattr(eraser, name)) for name in ("store", "traces", "objects", "registry", "edits")}
    try:
        replace(eraser, **fragile).run(InvocationTime(lambda: 900.0))
    except RoundKilled:
        return True
    return False


def pump(world: ErasureWorld) -> None:
    """Deliver the change notifications that are in the queue."""
    sqs, url = world.stack.aws.sqs, world.stack.aws.queue_url
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=600).get("Messages"):
        for message in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            record = world.stack.message(message["Body"])
            sqs.delete_message(QueueUrl=url, ReceiptHandle=record["receiptHandle"])
            world.stack.invoke({"Records": [record]})


def left(world: ErasureWorld) -> list[str]:
    """Return every trace, and every erasure without a receipt that says so."""
    aws = world.stack.aws
    outputs = {
        "DocumentsTableName": aws.documents_table,
        "ConversationsTableName": "conversations",
        "CacheTableName": "cache",
        "BucketName": aws.bucket,
        "SecretId": aws.secret_id,
        "DlqUrl": aws.sqs.create_queue(QueueName="dead")["QueueUrl"],
    }
    target = Target(
        cast("Any", None), aws.sqs, cast("Any", None), outputs, lambda name: boto3.client(cast("Any", name))
    )
    found = [str(trace) for trace in erasure.traces(target, list(world.receipts), Settings())]
    for subject, erasure_id in world.receipts.items():
        state = world.request("GET", f"/erasures/{erasure_id}").json()
        if state["state"] != "erased" or state["receipt"]["left"]:
            found.append(f"{subject}: {state['receipt'] and state['receipt']['left']}")
    return found + list(words_left(world))


def words_left(world: ErasureWorld) -> Iterator[str]:
    """Yield where a word of an erased document stands in what is not what somebody has asked."""
    words = [key.rpartition("/")[2].removesuffix(".pdf") for key in world.documents.values()]
    for table in (world.stack.aws.documents_table, "conversations", "cache"):
        for page in boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table):
            for item in map(from_item, page["Items"]):
                if item.get("role") == "user" or "question" in item or ("title" in item and "CONV#" in item["sk"]):
                    continue
                said = {name: value for name, value in item.items() if name != "asked"}
                text = erasure._text_of(said)
                yield from (f"{table} {item['pk']} {item.get('sk')}: {each}" for each in words if each in text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    report = Reporter(Console(file=sys.stdout, highlight=False, soft_wrap=True))
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, Path(folder)) as stack,
        redirect_stdout(StringIO()),  # the functions' logs
    ):
        patch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
        logger.setLevel("CRITICAL")
        found = run(stack, given.documents, given.users, given.seed, report.say)
    for line in found[:50]:
        report.say(line)
    report.say(f"{len(found)} traces of {given.documents} documents and {given.users} users.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
