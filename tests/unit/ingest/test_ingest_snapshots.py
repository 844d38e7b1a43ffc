"""What the ingest function asks of AWS, logs and counts in made courses of uploads, changes and deletions.

`make snapshots` stores what comes out now. What differs in each run (ids, times) is numbered or left out.
"""

import json
import logging
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from functions.ingest import bootstrap
from shared.adapters.provider_health import HEALTH
from shared.telemetry import logger, metrics
from tests.support.aws_requests import HOW, as_json, plain, recorded
from tests.support.embeddings import count_embeddings
from tests.support.ingest import Context, Stack, ingest_stack, pdf_of, prose
from tests.support.moto_aws import create_tables
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots" / "courses"
LAMP = "uploads/acme/lamp.pdf"
FAQ = "faqs/acme/lamp.json"
USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime"}
"""What every log record has."""
MASKS = (
    (r"[0-9A-HJKMNP-TV-Z]{26}", "ulid"),
    (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "uuid"),
    (r"#<time>#[0-9a-f]{8}", "mark"),
    (r'"ReceiptHandle": "[a-z]+"', "receipt"),
    (r"\b[0-9a-f]{64}\b", "sha"),
    (r"\b[0-9a-f]{32}\b", "id"),
)
TIMES = re.compile(
    r"\d{4}-\d\d-\d\d(?=#)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)?|\b1[789]\d{8}(?:\d{3})?(?:\.\d+)?\b"
)
SECONDS = re.compile(r'("(?:build|download)_s": )[\d.]+')

type Course = Callable[[Stack, "Notes"], None]


class Notes:
    """What was done, and what it was answered with, asked of AWS, logged and counted."""

    def __init__(self, asked: list[str], log: pytest.LogCaptureFixture, printed: Callable[[], str]) -> None:
        self.lines: list[str] = []
        self._asked, self._log, self._printed = asked, log, printed

    def __call__(self, what: str, done: Callable[[], object]) -> None:
        self._asked.clear()
        self._log.clear()
        self._printed()
        metrics.clear_metrics()  # of tests before this one, which no function has sent
        told = as_json(done())
        requests = [each for each in self._asked if not each.startswith(("sqs ReceiveMessage", "sqs SendMessage"))]
        counted = [each for each in self._printed().splitlines() if '"_aws"' in each and "ColdStart" not in each]
        logged = [each for each in self._log.records if each.name == logger.name]
        happened = [*requests, *map(_logged, logged), *map(_counted, counted)]
        self.lines += [f"{what}: {told}", *(f"    {each}" for each in happened)]


def _logged(record: logging.LogRecord) -> str:
    about = {name: each for name, each in vars(record).items() if name not in USUAL}
    return f"log {record.levelname} {record.getMessage()} {as_json(about)}"


def _counted(line: str) -> str:
    return (
        f"metrics {as_json({name: each for name, each in json.loads(line).items() if name not in {'_aws', 'service'}})}"
    )


def _numbered(name: str, seen: dict[str, int], hit: re.Match[str]) -> str:
    return f"<{name} {seen.setdefault(hit[0], len(seen) + 1)}>"


def _masked(lines: Sequence[str]) -> str:
    text = plain(TIMES.sub("<time>", "\n".join(lines)))
    for pattern, name in MASKS:
        seen: dict[str, int] = {}
        text = re.sub(pattern, partial(_numbered, name, seen), text)
    return SECONDS.sub(r"\1…", re.sub(r"127\.0\.0\.1:\d+", "server", text))


def uploads(stack: Stack, noted: Notes) -> None:
    """A PDF comes, comes again, is replaced, and goes."""
    stack.put(LAMP, pdf_of([prose("Lamp", sentences=6, seed=1), prose("Lens", sentences=6, seed=2)], title="Lamp"))
    noted("put", lambda: stack.deliver(LAMP))
    noted("again", lambda: stack.deliver(LAMP))
    stack.put(LAMP, pdf_of([prose("Beam", sentences=4, seed=3)], title="Beam"))
    noted("replaced", lambda: stack.deliver(LAMP))
    noted("vectors", lambda: sorted(stack.vectors("acme")))
    stack.put(LAMP, b"no PDF")
    noted("rubbish", lambda: stack.deliver(LAMP))
    stack.delete(LAMP)
    noted("deleted", lambda: stack.deliver(LAMP, event="ObjectRemoved:Delete"))
    noted("deleted again", lambda: stack.deliver(LAMP, event="ObjectRemoved:Delete"))
    noted("vectors", lambda: sorted(stack.vectors("acme")))


def others(stack: Stack, noted: Notes) -> None:
    """Other kinds of files and messages."""
    pair = {"question": "When is the lamp lit?", "answer": "At dusk.", "language": "en", "tags": {"a": ["x"]}}
    stack.put(FAQ, json.dumps(pair).encode())
    noted("faq", lambda: stack.deliver(FAQ))
    stack.put("uploads/acme/table.xlsx", b"x")
    noted("another kind", lambda: stack.deliver("uploads/acme/table.xlsx"))
    noted("elsewhere", lambda: stack.deliver("elsewhere/acme/lamp.pdf"))
    noted("never there", lambda: stack.deliver("uploads/acme/never.pdf"))
    bad = [stack.message(body) for body in ("no JSON", "{}", '{"Records": [{"s3": {}}]}')]
    noted("unreadable", lambda: stack.invoke({"Records": bad}))
    stack.put("uploads/acme/empty.pdf", pdf_of([""]))
    noted("no text", lambda: stack.deliver("uploads/acme/empty.pdf"))


def failures(stack: Stack, noted: Notes) -> None:
    """A provider refuses, and the time runs out."""
    stack.put(LAMP, pdf_of([prose("Lamp", sentences=6, seed=1)], title="Lamp"))
    for status in (401, 400):
        stack.faults(stack.openai_url, route="/v1/embeddings", kind="status", status=status, count=2)
        noted(f"answered with {status}", lambda: stack.deliver(LAMP))
    record = stack.message_for(LAMP)
    noted("no time", lambda: stack.invoke({"Records": [record]}, Context(remaining_ms=1_000)))
    noted("later", lambda: stack.deliver(LAMP))
    noted("the documents", lambda: stack.document(LAMP).status.value)


COURSES: dict[str, Course] = {each.__name__: each for each in (uploads, others, failures)}


@pytest.mark.parametrize("name", COURSES)
def test_a_course_of_events_is_as_stored(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    with ingest_stack(monkeypatch, tmp_path) as stack:
        create_tables(stack.aws.dynamodb, "ConversationsTable")
        monkeypatch.setenv("RECTO_CONVERSATIONS_TABLE", "conversations")
        monkeypatch.setattr(bootstrap, "draw", lambda: 0.4321)
        monkeypatch.setattr(bootstrap, "HEARTBEATS", 0.01)  # none, however slow the machine
        count_embeddings(monkeypatch)
        HEALTH.forget()
        bootstrap.batch()
        noted = Notes(recorded(monkeypatch, without=HOW), caplog, lambda: capsys.readouterr().out)
        COURSES[name](stack, noted)
    check(HERE / f"{name}.txt", _masked(noted.lines))


def test_each_stored_text_has_its_course() -> None:
    check_names(HERE, COURSES)
