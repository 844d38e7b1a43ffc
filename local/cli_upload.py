"""The verb `upload`: sends files and watches them until questions about them can be answered."""

import argparse
import hashlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.markup import escape

from local.client import FINAL_STATUSES, ApiClient, ApiError, NotInTime, is_final
from local.report import Reporter
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop
from local.stack.users import USERS

ANSWERABLE = frozenset({"READY", "PARTIAL"})
REFUSALS = frozenset({"invalid_request", "upload_refused"})
"""Error codes that concern one file, not the stack."""
POLL_S = 0.5
PLAIN_EVERY_S = 5.0
"""Seconds between two lines of progress where there is no terminal."""
SHOWN = 5
"""Documents that are named in one line; ingest reads as many at once."""
READ_ONE_BY_ONE = 8
"""While waiting, up to this many documents are asked for one by one; for more, reading the whole list costs less."""
FIXED_BYTES = 200_000
"""The fixed cost of any document, in bytes of a file that would take as long."""
ETA_AFTER_S = 3.0
"""Seconds before which the pace says nothing yet."""

LEFT = "left as it was"
"""The note of a file whose document has other bytes and was not replaced."""

type Confirm = Callable[[str, Mapping[str, Any]], bool]
"""Says whether a file may replace the document of its name."""


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The result of one file."""

    name: str
    document: Mapping[str, Any]
    seconds: float
    note: str = ""

    @property
    def answerable(self) -> bool:
        """Whether questions about it can be answered now."""
        return self.document["status"] in ANSWERABLE


@dataclass(frozen=True, slots=True)
class _Sent:
    """A file that is in the bucket.

    `note` says that it replaces a document; `known_at` is when the document of its name had last changed before.
    """

    name: str
    document_id: str
    etag: str
    size: int
    note: str
    known_at: str = ""

    @property
    def work(self) -> int:
        """How much there is to do, in bytes."""
        return FIXED_BYTES + self.size


# --- names -----------------------------------------------------------------------------------------------------------


def files_of(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return each file with the name it is uploaded under: a folder's PDFs, recursively, under relative names.

    Files of one name keep as many of the folders above them in the name as it takes to tell them apart. Raises
    `LocalStackError` for a path without a PDF.
    """
    found: dict[Path, str] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and _is_pdf(p))
            if not inside:
                raise LocalStackError(f"There is no PDF in {path}.")
            found |= {p.resolve(): p.relative_to(path).as_posix() for p in inside}
        elif path.is_file():
            found[path.resolve()] = path.name
        else:
            raise LocalStackError(f"There is no file {path}.")
    names = list(found.values())
    while repeated := {name for name, count in Counter(names).items() if count > 1}:
        names = [
            _with_folder_above(path, name) if name in repeated else name
            for path, name in zip(found, names, strict=True)
        ]
    return list(zip(found, names, strict=True))


def left_out_of(paths: Sequence[Path]) -> list[str]:
    """Return the names of files within the folders that are no PDFs; hidden files are nobody's documents."""
    inside = [(folder, path) for folder in paths if folder.is_dir() for path in sorted(folder.rglob("*"))]
    names = [path.relative_to(folder).as_posix() for folder, path in inside if path.is_file() and not _is_pdf(path)]
    return [name for name in names if not any(part.startswith(".") for part in name.split("/"))]


def _is_pdf(path: Path) -> bool:
    return path.suffix.lower() == ".pdf"


def _with_folder_above(path: Path, name: str) -> str:
    parts = path.parts[1:]  # without the root
    return "/".join(parts[-min(len(parts), name.count("/") + 2) :])


# --- sending ---------------------------------------------------------------------------------------------------------


def upload_files(
    api: ApiClient,
    files: Sequence[tuple[Path, str]],
    reporter: Reporter,
    *,
    timeout_s: float,
    may_replace: Confirm = lambda _name, _document: True,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> list[Uploaded]:
    """Upload files and wait for all of them; an unchanged file is not sent again.

    All are sent first, so that the queue works on them in parallel. A file that is refused does not stop the others.
    Raises `NotInTime` when nothing has changed for `timeout_s`. If interrupted, it says what continues without it.
    """
    done: list[Uploaded] = []
    watch = _Watch(reporter, clock)
    try:
        for number, (path, name) in enumerate(files, 1):
            sent = _send_or_refuse(api, path, name, reporter, f"{number} of {len(files)}, {name}", may_replace)
            if isinstance(sent, _Sent):
                watch.add(sent)
            else:
                done.append(sent)
                _print_uploaded(sent, reporter)
        watch.until_final(api, timeout_s, wait)
    except KeyboardInterrupt:
        _print_what_goes_on(watch, len(files) - len(done) - watch.total, reporter)
        raise
    return done + watch.results


def _send_or_refuse(
    api: ApiClient, path: Path, name: str, reporter: Reporter, position: str, may_replace: Confirm
) -> _Sent | Uploaded:
    try:
        return _send(api, path, name, reporter, position, may_replace)
    except (ApiError, OSError) as error:
        if isinstance(error, ApiError) and error.code not in REFUSALS:
            raise
        message = error.detail if isinstance(error, ApiError) else str(error)
        return Uploaded(name, {"status": "refused", "error": {"message": message}}, 0.0)


def _send(
    api: ApiClient, path: Path, name: str, reporter: Reporter, position: str, may_replace: Confirm
) -> _Sent | Uploaded:
    """Send a file, unless the document of its name has the same bytes or may not be replaced."""
    with reporter.live("Upload") as show:
        show(position)
        content = path.read_bytes()
        if not content:
            # An announced document would stay in the list, waiting for bytes that the bucket does not take.
            return Uploaded(name, {"status": "refused", "error": {"message": "the file is empty."}}, 0.0)
        promised = api.announce(name)
        known = api.document(promised.document_id)
    before = str(known.get("etag", "")).strip('"')
    # S3's ETag of a form upload is the MD5 of the bytes: it identifies them here, it protects nothing.
    same = before == hashlib.md5(content, usedforsecurity=False).hexdigest()
    if same and known["status"] in ANSWERABLE:
        return Uploaded(name, known, 0.0, "unchanged")
    replaces = bool(before) and not same and known["status"] in FINAL_STATUSES - {"DELETED"}
    if replaces and not may_replace(name, known):
        return Uploaded(name, known, 0.0, LEFT)
    with reporter.live("Upload"):
        etag = api.send(promised, content, path.name)
    note = "replaces the earlier file of this name" if replaces else ""
    return _Sent(name, promised.document_id, etag, len(content), note, str(known.get("updated_at", "")))


# --- watching --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Watch:
    """The files that were sent, and their results so far."""

    reporter: Reporter
    clock: Callable[[], float]
    waiting: dict[str, _Sent] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    results: list[Uploaded] = field(default_factory=list)
    done_work: int = 0
    begun: float = field(init=False)
    changed: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.changed = self.clock()

    @property
    def total(self) -> int:
        return len(self.waiting) + len(self.results)

    def add(self, sent: _Sent) -> None:
        self.waiting[sent.document_id] = sent
        self.statuses[sent.document_id] = "PENDING"

    def until_final(self, api: ApiClient, timeout_s: float, wait: Callable[[float], None]) -> None:
        """Poll all documents until each has a final status. Raises `NotInTime`."""
        self.changed = self.clock()
        with self.reporter.live("Ingest", every_s=PLAIN_EVERY_S) as show:
            while self.waiting:
                for document in self._documents(api):
                    self._look(document)
                if not self.waiting:
                    return
                show(self.progress())
                if self.clock() - self.changed >= timeout_s:
                    raise NotInTime(self._late(timeout_s))
                wait(POLL_S)

    def _documents(self, api: ApiClient) -> Iterator[Mapping[str, Any]]:
        """Yield the documents as they are now: a few are read one by one, many from the list."""
        if len(self.waiting) > READ_ONE_BY_ONE:
            yield from (each for each in api.documents(limit=200) if each["document_id"] in self.waiting)
        else:
            yield from (api.document(document_id) for document_id in list(self.waiting))

    def _look(self, document: Mapping[str, Any]) -> None:
        document_id = str(document["document_id"])
        sent = self.waiting[document_id]
        if _is_final_for(sent, document):
            result = Uploaded(sent.name, document, self.clock() - self.begun, sent.note)
            del self.waiting[document_id]
            self.results.append(result)
            self.done_work += sent.work
            self.changed = self.clock()
            _print_uploaded(result, self.reporter)
        elif document["status"] != self.statuses[document_id]:
            self.statuses[document_id] = str(document["status"])
            self.changed = self.clock()

    def progress(self) -> str:
        """Return how many are done, which are being read, how many wait, and how long it may take."""
        reading = [sent.name for key, sent in self.waiting.items() if self.statuses[key] == "PROCESSING"]
        queued = len(self.waiting) - len(reading)
        parts = [f"{len(self.results)} of {self.total} done after {duration(self.clock() - self.begun)}"]
        if left := self._seconds_left():
            parts.append(f"about {duration(left)} to go")
        if reading:
            parts.append(f"reading {_listed(reading)}")
        if queued:
            parts.append(f"{queued} {'waits' if queued == 1 else 'wait'}")
        return "; ".join(parts)

    def _seconds_left(self) -> float:
        """Return the seconds that the rest takes at the pace so far; 0 while nothing can be said.

        A document that is being read counts as half done: several are read at once, and the smallest are ready first.
        """
        elapsed = self.clock() - self.begun
        if not self.done_work or elapsed < ETA_AFTER_S:
            return 0.0
        half_done = sum(sent.work for key, sent in self.waiting.items() if self.statuses[key] == "PROCESSING") / 2
        left = sum(sent.work for sent in self.waiting.values()) - half_done
        seconds = elapsed * left / (self.done_work + half_done)
        # What should have been done long ago (a scan waits for OCR) has no pace.
        return seconds if self.clock() - self.changed < seconds else 0.0

    def _late(self, timeout_s: float) -> str:
        names = _listed([f"{sent.name} ({self.statuses[key]})" for key, sent in self.waiting.items()])
        return (
            f"Nothing has changed for {duration(timeout_s)}, and these are not ready: {names}.\n"
            "They are in the bucket and will still be read: `python -m local documents` shows how far they are, "
            f"`python -m local logs ingest` why, and --timeout {2 * timeout_s:g} waits longer."
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def duration(seconds: float) -> str:
    """Return a duration as people say it: "40 s" or "3 min"."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _is_final_for(sent: _Sent, document: Mapping[str, Any]) -> bool:
    """Say whether the status is final and belongs to the bytes sent: a document being replaced was READY before.

    One that failed before anything of it was stored has no ETag, but has changed since. While its last attempt runs, it
    is said to have crashed.
    """
    etag = str(document.get("etag", sent.etag)).strip('"')
    is_running = (document.get("error") or {}).get("code") == "CRASHED"
    is_its = etag == sent.etag or (not etag and not is_running and document.get("updated_at", "") != sent.known_at)
    return is_final(document) and is_its


# --- what is printed -------------------------------------------------------------------------------------------------


def _print_uploaded(result: Uploaded, reporter: Reporter) -> None:
    document = result.document
    mark = "[green]✓[/]" if result.answerable else "[red]✗[/]"
    if result.answerable:
        notes = ", ".join(filter(None, (f"{result.seconds:.1f} s" if result.seconds else "", result.note)))
        counts = f"{_counted(document, 'page')}, {_counted(document, 'chunk')}"
        about = f"{counts} [dim]({escape(notes)})[/]"
    else:
        about = escape(str((document.get("error") or {}).get("message") or "no reason was given"))
    reporter.markup(f"{mark} {escape(result.name)}: {document['status']}, {about}")


def _counted(document: Mapping[str, Any], unit: str) -> str:
    count = document.get(f"{unit}_count", "?")
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _print_what_goes_on(watch: _Watch, unsent: int, reporter: Reporter) -> None:
    reporter.say()
    if waiting := len(watch.waiting):
        are = "are" if waiting > 1 else "is"
        reporter.say(
            f"{len(watch.results)} of {watch.total} sent are done; {waiting} {are} in the bucket and will still be "
            "read: `python -m local documents` shows how far."
        )
    if unsent:
        reporter.say(f"Not sent: {unsent}. The same command sends them, and sends nothing twice.")


def upload(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Upload files and folders; 1 when one of them cannot be queried, or was not replaced since nobody could say so."""
    files = files_of(arguments.paths)
    if renamed := [name for path, name in files if "/" in name and path in map(Path.resolve, arguments.paths)]:
        laptop.report.say(f"Files of the same name keep their folder's name: {_listed(renamed)}.")
    if left_out := left_out_of(arguments.paths):
        laptop.report.say(f"Not uploaded, because they are not PDFs: {_listed(left_out)}.")
    confirm = _confirming(replaces=arguments.replace)
    with laptop.client(USERS[arguments.tenant], streaming=True) as api:
        results = upload_files(api, files, laptop.report, timeout_s=arguments.timeout, may_replace=confirm)
    kept = [each.name for each in results if each.note == LEFT]
    if kept and not sys.stdin.isatty():
        laptop.report.say(f"Not replaced, because nobody could be asked: {_listed(kept)}. --replace replaces them.")
        return 1
    return 0 if all(each.answerable for each in results) else 1


def _confirming(*, replaces: bool) -> Confirm:
    """Return what decides whether a document of the same name is replaced: a script must say so with --replace."""
    if replaces or not sys.stdin.isatty():
        return lambda _name, _document: replaces
    return _Asking()


class _Asking:
    """Asks before a document is replaced by other bytes; "a" answers for all that follow."""

    def __init__(self) -> None:
        self._always = False

    def __call__(self, name: str, document: Mapping[str, Any]) -> bool:
        if self._always:
            return True
        known = f"{_counted(document, 'page')}, of {str(document['updated_at'])[:16].replace('T', ' ')} UTC"
        answer = input(f"{name} already exists with other content ({known}). Replace it? [y/N/a = yes to all] ")
        self._always = answer.strip().lower() in {"a", "all"}
        return self._always or answer.strip().lower() in {"y", "yes"}
