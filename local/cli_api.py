"""The verbs that call the API: token, upload, ask."""

import argparse
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape

from local.client import FINAL_STATUSES, ApiClient, ApiError, NotInTime
from local.report import Reporter
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop
from local.stack.users import USERS

ANSWERABLE = frozenset({"READY", "PARTIAL"})
REFUSALS = frozenset({"invalid_request", "upload_refused"})
"""Error codes that concern one file, not the stack."""


def token(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Print a fresh ID token and nothing else, for use as `$(…)`."""
    print(laptop.token(USERS[arguments.tenant]))
    return 0


# --- upload ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The result of one file."""

    name: str
    document: Mapping[str, Any]
    seconds: float
    unchanged: bool = False

    @property
    def answerable(self) -> bool:
        """Whether questions about it can be answered now."""
        return self.document["status"] in ANSWERABLE


def files_of(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file with the name it is uploaded under: a folder's PDFs, recursively, under relative names."""
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() == ".pdf")
            if not found:
                raise LocalStackError(f"There is no PDF in {path}.")
            yield from ((p, p.relative_to(path).as_posix()) for p in found)
        elif path.is_file():
            yield path, path.name
        else:
            raise LocalStackError(f"There is no file {path}.")


def upload_files(
    api: ApiClient, files: Sequence[tuple[Path, str]], reporter: Reporter, *, timeout_s: float
) -> list[Uploaded]:
    """Upload files and wait for all of them; an unchanged file is not sent again.

    All are sent first, so that the queue works on them in parallel. A file that is refused does not stop the others.
    """
    begun = time.monotonic()
    done: list[Uploaded] = []
    waiting: list[tuple[str, str, str]] = []
    with reporter.live("Upload") as show:
        for number, (path, name) in enumerate(files, 1):
            show(f"{number} of {len(files)}, {name}")
            try:
                sent = _send(api, path, name)
            except (ApiError, OSError) as error:
                if isinstance(error, ApiError) and error.code not in REFUSALS:
                    raise
                message = error.detail if isinstance(error, ApiError) else str(error)
                sent = Uploaded(name, {"status": "refused", "error": {"message": message}}, 0.0)
            if isinstance(sent, Uploaded):
                done.append(sent)
            else:
                waiting.append((name, *sent))
    for result in done:
        _print_uploaded(result, reporter)
    for position, (name, document_id, etag) in enumerate(waiting):
        with reporter.live(f"{name} ({len(waiting) - position} to go)") as show:
            document = api.wait_until(
                document_id,
                partial(_is_final_for, etag),
                timeout_s=timeout_s,
                on_poll=lambda d, show=show: show(str(d["status"])),  # type: ignore[misc]
            )
        result = Uploaded(name, document, time.monotonic() - begun)
        _print_uploaded(result, reporter)
        done.append(result)
    return done


def _send(api: ApiClient, path: Path, name: str) -> Uploaded | tuple[str, str]:
    """Send a file and return its document's id and its ETag; or the existing document of an unchanged file."""
    content = path.read_bytes()
    promised = api.announce(name)
    known = api.document(promised.document_id)
    # S3's ETag of a form upload is the MD5 of the bytes: it identifies them here, it protects nothing.
    same = known.get("etag", "").strip('"') == hashlib.md5(content, usedforsecurity=False).hexdigest()
    if same and known["status"] in ANSWERABLE:
        return Uploaded(name, known, 0.0, unchanged=True)
    return promised.document_id, api.send(promised, content, path.name)


def _is_final_for(etag: str, document: Mapping[str, Any]) -> bool:
    """Say whether the status is final and belongs to the bytes sent: a document being replaced was READY before."""
    return document["status"] in FINAL_STATUSES and str(document.get("etag", etag)).strip('"') == etag


def _print_uploaded(result: Uploaded, reporter: Reporter) -> None:
    document = result.document
    mark = "[green]✓[/]" if result.answerable else "[red]✗[/]"
    if result.answerable:
        word = "unchanged" if result.unchanged else f"{result.seconds:.1f} s"
        about = f"{document.get('page_count', '?')} pages, {document.get('chunk_count', '?')} chunks [dim]({word})[/]"
    else:
        about = escape(str((document.get("error") or {}).get("message") or "no reason was given"))
    reporter.markup(f"{mark} {escape(result.name)}: {document['status']}, {about}")


def upload(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Upload files and folders; 1 when one of them cannot be queried."""
    files = list(files_of(arguments.paths))
    with laptop.client(USERS[arguments.tenant]) as api:
        try:
            results = upload_files(api, files, laptop.report, timeout_s=arguments.timeout)
        except NotInTime as error:
            raise LocalStackError(f"{error} `python -m local logs ingest` may show why.") from error
    return 0 if all(r.answerable for r in results) else 1


# --- ask -------------------------------------------------------------------------------------------------------------


def pages_of(citation: Mapping[str, Any]) -> str:
    """Return a citation's pages as counted, and the printed label where it differs."""
    first, last, label = citation["page_start"], citation["page_end"], citation.get("page_label") or ""
    pages = f"page {first}" if first == last else f"pages {first}–{last}"
    return f"{pages} (printed {label})" if label and label != str(first) else pages


def print_answer(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print an answer with its citations; a refusal is marked as one."""
    if answer["no_relevant_info"]:
        reporter.markup(f"[yellow]No relevant information:[/] {escape(answer['answer'])}")
    else:
        reporter.say(answer["answer"])
        print_citations(answer, reporter)


def print_citations(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print the citations of an answer, what became of its claims, and its warnings."""
    for citation in answer["citations"]:
        section = f" · {citation['section']}" if citation.get("section") else ""
        where = escape(f"{citation['title']}, {pages_of(citation)}{section}")
        file_name = f" [dim]{escape(citation['file_name'])}[/]" if citation.get("file_name") else ""
        quote = escape(" ".join(str(citation["quote"]).split()))
        reporter.markup(f"  [bold]{escape(f'[{citation["n"]}]')}[/] {where}{file_name}")
        score = "" if citation["score"] is None else f" {citation['score']:.2f}"
        reporter.markup(f"      [italic]“{quote}”[/]{score}")
    for claim in answer["claims"]:
        if claim["derived"]:
            reporter.markup(f"  [dim]calculated: {escape(claim['derived'])}[/]")
    if verdicts := verdicts_of(answer["support"]):
        reporter.markup(f"  [yellow]{verdicts}[/]")
    for warning in answer.get("warnings") or ():
        reporter.markup(f"  [yellow]! {escape(str(warning))}[/]")


def verdicts_of(support: Mapping[str, Any]) -> str:
    """Return in words what became of the claims; empty if all were confirmed."""
    if support["confirmed"] == support["claims"]:
        return ""
    counts = (
        (support["confirmed"], "confirmed"),
        (support["unconfirmed"], "unconfirmed"),
        (support["dropped"], "left out"),
    )
    told = ", ".join(f"{count} {name}" for count, name in counts if count)
    return f"{support['claims']} claims: {told}"


def ask(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Ask one question and print the answer, with `--stream` while it is generated."""
    with laptop.client(USERS[arguments.tenant], streaming=arguments.stream) as api:
        optional = {"conversation_id": arguments.conversation, "top_k": arguments.top_k}
        try:
            if arguments.stream:
                return _ask_streamed(api, arguments, optional, laptop.report)
            answer = api.query(arguments.question, **optional)
        except ApiError as error:
            if error.status == 404 and arguments.conversation:
                raise LocalStackError(f"There is no conversation {arguments.conversation} of this user.") from error
            raise
    if arguments.json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
        return 0
    print_answer(answer, laptop.report)
    _print_end(answer, laptop.report)
    return 0


def _print_end(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print the answer's mode and duration, and how to ask a follow-up."""
    took = sum((answer.get("timings_ms") or {}).values())
    follow_up = f"go on with --conversation {escape(str(answer['conversation_id']))}"
    reporter.markup(f"[dim]{answer['mode']} · {took:.0f} ms · {follow_up}[/]")


def _ask_streamed(
    api: ApiClient, arguments: argparse.Namespace, optional: Mapping[str, Any], reporter: Reporter
) -> int:
    for name, data in api.query_stream(arguments.question, **optional):
        if arguments.json:
            print(json.dumps({"event": name, **data}, ensure_ascii=False), flush=True)
        elif name == "delta":
            print(data["text"], end="", flush=True)
        elif name == "done":
            print()
            print_citations(data, reporter)
            _print_end(data, reporter)
    return 0
