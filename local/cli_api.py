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
"""Codes that speak of one file and not of the stack."""


def token(laptop: Laptop, tenant: str) -> int:
    """Print a fresh ID token and nothing else, so that `$(…)` takes it."""
    print(laptop.token(USERS[tenant]))
    return 0


# --- upload ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What came of one file."""

    name: str
    document: Mapping[str, Any]
    seconds: float
    unchanged: bool = False

    @property
    def answerable(self) -> bool:
        """Whether questions about it can be answered now."""
        return self.document["status"] in ANSWERABLE


def files_of(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file with the name it is uploaded under: folders recursively, their PDFs under relative names."""
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
    """Upload files and wait for all of them; a file that is there unchanged is not sent again.

    All are sent first, so that the queue works on them side by side. One that is not taken keeps no other out.
    """
    begun = time.monotonic()
    done: list[Uploaded] = []
    waiting: list[tuple[str, str, str]] = []
    with reporter.live("Upload") as tell:
        for number, (path, name) in enumerate(files, 1):
            tell(f"{number} of {len(files)}, {name}")
            try:
                sent = _send(api, path, name)
            except (ApiError, OSError) as error:
                if isinstance(error, ApiError) and error.code not in REFUSALS:
                    raise
                message = error.detail if isinstance(error, ApiError) else str(error)
                sent = Uploaded(name, {"status": "not taken", "error": {"message": message}}, 0.0)
            if isinstance(sent, Uploaded):
                done.append(sent)
            else:
                waiting.append((name, *sent))
    for result in done:
        _tell(result, reporter)
    for position, (name, document_id, etag) in enumerate(waiting):
        with reporter.live(f"{name} ({len(waiting) - position} to go)") as tell:
            document = api.wait_until(
                document_id,
                partial(_is_final_for, etag),
                timeout_s=timeout_s,
                on_poll=lambda d, tell=tell: tell(str(d["status"])),  # type: ignore[misc]
            )
        result = Uploaded(name, document, time.monotonic() - begun)
        _tell(result, reporter)
        done.append(result)
    return done


def _send(api: ApiClient, path: Path, name: str) -> Uploaded | tuple[str, str]:
    """Send a file and return its document's id and its ETag, or what is there when that is the same file."""
    content = path.read_bytes()
    promised = api.announce(name)
    known = api.document(promised.document_id)
    # S3's ETag of a form upload is the MD5 of the bytes: a name for them here, not a protection.
    same = known.get("etag", "").strip('"') == hashlib.md5(content, usedforsecurity=False).hexdigest()
    if same and known["status"] in ANSWERABLE:
        return Uploaded(name, known, 0.0, unchanged=True)
    return promised.document_id, api.send(promised, content, path.name)


def _is_final_for(etag: str, document: Mapping[str, Any]) -> bool:
    """Say whether the status lasts and is that of the bytes sent: what is being replaced was READY from before."""
    return document["status"] in FINAL_STATUSES and str(document.get("etag", etag)).strip('"') == etag


def _tell(result: Uploaded, reporter: Reporter) -> None:
    document = result.document
    mark = "[green]✓[/]" if result.answerable else "[red]✗[/]"
    if result.answerable:
        word = "unchanged" if result.unchanged else f"{result.seconds:.1f} s"
        about = f"{document.get('page_count', '?')} pages, {document.get('chunk_count', '?')} chunks [dim]({word})[/]"
    else:
        error = document.get("error") or {}
        about = escape(str(error.get("message") or "no reason was given"))
    reporter.markup(f"{mark} {escape(result.name)}: {document['status']}, {about}")


def upload(laptop: Laptop, paths: Sequence[Path], *, tenant: str, timeout_s: float) -> int:
    """Upload files and folders; 1 when one of them cannot be asked about."""
    files = list(files_of(paths))
    with laptop.client(USERS[tenant]) as api:
        try:
            results = upload_files(api, files, laptop.report, timeout_s=timeout_s)
        except NotInTime as error:
            raise LocalStackError(f"{error} `python -m local logs ingest` may tell why.") from error
    return 0 if all(r.answerable for r in results) else 1


# --- ask -------------------------------------------------------------------------------------------------------------


def pages_of(citation: Mapping[str, Any]) -> str:
    """Return where a citation stands: the page as counted, and as printed where that differs."""
    first, last, label = citation["page_start"], citation["page_end"], citation.get("page_label") or ""
    pages = f"page {first}" if first == last else f"pages {first}–{last}"
    return f"{pages} (printed {label})" if label and label != str(first) else pages


def print_answer(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print an answer with its citations, or the refusal clearly as one."""
    if answer["no_relevant_info"]:
        reporter.markup(f"[yellow]No relevant information:[/] {escape(str(answer['answer']))}")
        return
    reporter.say(str(answer["answer"]))
    print_citations(answer, reporter)


def print_citations(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print where an answer stands, and what was done without."""
    for citation in answer["citations"]:
        where = f"{citation['title']}, {pages_of(citation)}"
        section = f" · {citation['section']}" if citation.get("section") else ""
        reporter.markup(f"  [bold]{escape('[' + str(citation['n']) + ']')}[/] {escape(where + section)}")
        reporter.markup(
            f"      [italic]“{escape(' '.join(str(citation['quote']).split()))}”[/] {citation['score']:.2f}"
        )
    for warning in answer.get("warnings") or ():
        reporter.markup(f"  [yellow]! {escape(str(warning))}[/]")


def ask(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Ask one question and print the answer, with `--stream` as it is written."""
    with laptop.client(USERS[arguments.tenant], streaming=arguments.stream) as api:
        wanted = {"conversation_id": arguments.conversation, "top_k": arguments.top_k}
        try:
            if arguments.stream:
                return _ask_streamed(api, arguments, wanted, laptop.report)
            answer = api.query(arguments.question, **wanted)
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
    """Print how the answer was made, how long that took, and how to ask a follow-up."""
    took = sum((answer.get("timings_ms") or {}).values())
    reporter.markup(
        f"[dim]{answer['mode']} · {took:.0f} ms · go on with --conversation {escape(str(answer['conversation_id']))}[/]"
    )


def _ask_streamed(api: ApiClient, arguments: argparse.Namespace, wanted: Mapping[str, Any], reporter: Reporter) -> int:
    for name, data in api.query_stream(arguments.question, **wanted):
        if arguments.json:
            print(json.dumps({"event": name, **data}, ensure_ascii=False), flush=True)
        elif name == "delta":
            print(data["text"], end="", flush=True)
        elif name == "done":
            print()
            print_citations(data, reporter)
            _print_end(data, reporter)
    return 0
