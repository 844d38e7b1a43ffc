"""The demo: from nothing to cited answers and a refusal, each checked against the facts in the sample PDFs."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from local.cli_ask import print_answer
from local.cli_stack import page_of
from local.cli_upload import upload_files
from local.client import ApiClient
from local.report import Reporter, counted
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question about the samples. `answer` is the fact as on the page; a question to refuse has no document."""

    question: str
    doc: str
    pages: tuple[int, ...]
    answer: str
    answerable: bool


def sample_questions() -> list[SampleQuestion]:
    """Read `questions.jsonl`."""
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return [SampleQuestion(**{**row, "pages": tuple(row["pages"])}) for row in rows]


def sample_pdfs() -> list[Path]:
    """Return the sample PDFs."""
    return sorted(SAMPLES.glob("*.pdf"))


def fault_of(expected: SampleQuestion, answer: Mapping[str, Any], document_ids: Mapping[str, str]) -> str:
    """Return what is wrong with an answer, or an empty string.

    An unanswerable question must be refused. Any other needs a citation of the right document whose pages include one
    of the right pages. `document_ids` maps file names to ids.
    """
    if not expected.answerable:
        return "" if answer["no_relevant_info"] else "it should have been refused"
    if answer["no_relevant_info"]:
        return "it was refused"
    if not answer["citations"]:
        return "nothing is cited"
    wanted = document_ids[expected.doc]
    for citation in answer["citations"]:
        span = range(citation["page_start"], citation["page_end"] + 1)
        if citation["document_id"] == wanted and any(page in span for page in expected.pages):
            return ""
    cited = [f"{c['title']} page {c['page_start']}" for c in answer["citations"]]
    return f"expected {expected.doc} page {expected.pages[0]}, but the answer cites {cited}"


def ask_samples(
    api: ApiClient, questions: Sequence[SampleQuestion], document_ids: Mapping[str, str], reporter: Reporter
) -> int:
    """Ask every question, print each answer with a mark, and return how many are wrong."""
    wrong = 0
    for expected in questions:
        reporter.say(f"\n? {expected.question}")
        begun = time.monotonic()
        answer = api.query(expected.question)
        seconds = time.monotonic() - begun
        print_answer(answer, reporter)
        fault = fault_of(expected, answer, document_ids)
        wrong += bool(fault)
        if fault:
            reporter.markup(f"  [red]✗ wrong: {escape(fault)}[/]")
        else:
            right = f"{expected.doc} page {expected.pages[0]}" if expected.answerable else "rightly refused"
            reporter.markup(f"  [green]✓[/] {right} [dim]{seconds:.2f} s, {answer['mode']}[/]")
    return wrong


def demo(laptop: Laptop, *, stop: bool) -> int:
    """Run the demo; 1 when an answer is wrong. The stack is left running for the page, unless `stop` or it failed."""
    begun = time.monotonic()
    laptop.up()
    done = False
    try:
        up_s = time.monotonic() - begun
        with laptop.client(streaming=True) as api:
            files = [(pdf, pdf.name) for pdf in sample_pdfs()]
            mark = time.monotonic()
            results = upload_files(api, files, laptop.report, timeout_s=180)
            upload_s = time.monotonic() - mark
            unusable = [r.name for r in results if not r.answerable]
            if unusable:
                raise LocalStackError(f"These samples cannot be queried: {', '.join(unusable)}.")
            ids = {r.name: str(r.document["document_id"]) for r in results}
            questions = sample_questions()
            mark = time.monotonic()
            wrong = ask_samples(api, questions, ids, laptop.report)
            ask_s = time.monotonic() - mark
        done = True
    finally:
        laptop.report.markup("")
        if stop or not done:
            laptop.down()
    right = len(questions) - wrong
    colour = "red" if wrong else "green"
    laptop.report.markup(
        f"[bold {colour}]{right} of {len(questions)} answers are right[/] "
        f"[dim](up {up_s:.1f} s, {counted(len(files), 'PDF')} {upload_s:.1f} s, questions {ask_s:.1f} s)[/]"
    )
    if not stop:
        laptop.report.say("The stack keeps running; `make down` stops it.")
        laptop.report.markup(f"[bold]Ask, and see the sources, in a browser:[/] {escape(page_of(laptop.config))}")
    return 1 if wrong else 0
