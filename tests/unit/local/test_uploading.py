"""The verb `upload`: names, what is replaced, progress, and what is said when it ends early."""

import hashlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from local import cli_upload
from local.cli_upload import files_of, upload_files
from local.client import ApiClient, NotInTime, Upload
from local.report import Reporter


class FakeApi:
    """Documents that take some polls each, one after the other, as a queue with one worker does."""

    def __init__(self, polls: int = 1) -> None:
        self.known: dict[str, dict[str, Any]] = {}
        self.sent: list[str] = []
        self.lists = 0
        self._polls = polls
        self._asked: dict[str, int] = {}

    def add(self, name: str, content: bytes, pages: int = 3) -> None:
        etag = hashlib.md5(content, usedforsecurity=False).hexdigest()
        self.known[name] = document(name, "READY", etag) | {"page_count": pages}

    def announce(self, name: str) -> Upload:
        self.known.setdefault(name, document(name, "PENDING", ""))
        return Upload(name, f"uploads/demo/{name}", "", {})

    def document(self, document_id: str) -> dict[str, Any]:
        if document_id in self.sent:
            before = self.sent[: self.sent.index(document_id)]
            if all(self.known[each]["status"] == "READY" for each in before):
                asked = self._asked[document_id] = self._asked.get(document_id, 0) + 1
                self.known[document_id]["status"] = "READY" if asked > self._polls else "PROCESSING"
        return self.known[document_id]

    def documents(self, *, limit: int) -> Iterator[dict[str, Any]]:
        self.lists += 1
        return iter([self.document(name) for name in self.known])

    def send(self, promised: Upload, content: bytes, _filename: str) -> str:
        etag = hashlib.md5(content, usedforsecurity=False).hexdigest()
        self.known[promised.document_id] = document(promised.document_id, "PENDING", etag)
        self.sent.append(promised.document_id)
        return etag


def document(name: str, status: str, etag: str) -> dict[str, Any]:
    counts = {"document_id": name, "page_count": 7, "chunk_count": 9}
    return {"status": status, "etag": etag, **counts, "updated_at": "2026-11-22T14:03:00+00:00"}


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def files(tmp_path: Path) -> list[tuple[Path, str]]:
    paths = [tmp_path / f"{name}.pdf" for name in ("one", "two", "three")]
    for number, path in enumerate(paths):
        path.write_bytes(b"x" * 100 * (number + 1))
    return [(path, path.name) for path in paths]


def run(api: FakeApi, files: list[tuple[Path, str]], *, timeout_s: float = 60.0, **more: Any) -> tuple[list[Any], str]:
    told, time = io.StringIO(), Time()
    reporter = Reporter(Console(file=told, soft_wrap=True))
    try:
        results = upload_files(
            cast("ApiClient", api), files, reporter, timeout_s=timeout_s, clock=time.clock, wait=time.wait, **more
        )
    except BaseException as error:
        error.add_note(told.getvalue())
        raise
    return results, told.getvalue()


# --- names -----------------------------------------------------------------------------------------------------------


def test_files_of_one_name_keep_the_folder_that_tells_them_apart(tmp_path: Path) -> None:
    for name in ("2023/q1/report.pdf", "2024/q1/report.pdf", "2024/other.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    single = [tmp_path / "2023/q1/report.pdf", tmp_path / "2024/q1/report.pdf"]
    assert [name for _, name in files_of(single)] == ["2023/q1/report.pdf", "2024/q1/report.pdf"]
    folders = [tmp_path / "2023", tmp_path / "2024"]
    assert [name for _, name in files_of(folders)] == ["2023/q1/report.pdf", "other.pdf", "2024/q1/report.pdf"]


def test_a_file_that_is_named_twice_is_uploaded_once(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(b"x")
    found = files_of([tmp_path / "report.pdf", tmp_path / "." / "report.pdf", tmp_path])
    assert [name for _, name in found] == ["report.pdf"]


# --- replacing -------------------------------------------------------------------------------------------------------


def test_a_document_of_the_same_name_is_not_replaced_without_consent(files: list[tuple[Path, str]]) -> None:
    api = FakeApi()
    api.add("one.pdf", b"other content", pages=12)
    asked: list[tuple[str, int]] = []

    def refuse(name: str, known: Mapping[str, Any]) -> bool:
        asked.append((name, known["page_count"]))
        return False

    _, told = run(api, files, may_replace=refuse)
    assert asked == [("one.pdf", 12)]
    assert api.sent == ["two.pdf", "three.pdf"]
    assert "one.pdf: READY, 12 pages" in told
    assert "(left as it was)" in told


def test_what_replaces_a_document_is_said(files: list[tuple[Path, str]]) -> None:
    api = FakeApi()
    api.add("one.pdf", b"other content")
    _, told = run(api, files)
    assert api.sent == ["one.pdf", "two.pdf", "three.pdf"]
    assert told.count("replaces the earlier file of this name") == 1


def test_nobody_is_asked_about_the_same_bytes(files: list[tuple[Path, str]]) -> None:
    api = FakeApi()
    api.add("one.pdf", files[0][0].read_bytes())
    _, told = run(api, files, may_replace=lambda *_: pytest.fail("It was asked."))
    assert "(unchanged)" in told


def test_yes_to_all_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[str] = []
    answers = iter(["n", "a"])
    monkeypatch.setattr("builtins.input", lambda question: (questions.append(question), next(answers))[1])
    asking = cli_upload._Asking()
    known = document("a.pdf", "READY", "e")
    assert [asking(name, known) for name in ("a.pdf", "b.pdf", "c.pdf")] == [False, True, True]
    assert questions[0].startswith("a.pdf already exists with other content (7 pages, of 2026-11-22 14:03 UTC).")
    assert len(questions) == 2


@pytest.mark.parametrize(("replaces", "is_replaced"), [(True, True), (False, False)])
def test_a_script_replaces_nothing_unless_it_says_so(
    files: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch, replaces: bool, is_replaced: bool
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    api = FakeApi()
    api.add("one.pdf", b"other content")
    run(api, files, may_replace=cli_upload._confirming(replaces=replaces))
    assert ("one.pdf" in api.sent) is is_replaced


# --- progress --------------------------------------------------------------------------------------------------------


def test_results_come_in_the_order_in_which_documents_are_ready(files: list[tuple[Path, str]]) -> None:
    api = FakeApi()
    looks = iter(["PROCESSING"])  # at one.pdf, once

    def look(key: str) -> dict[str, Any]:
        if len(api.sent) < 3:
            return api.known[key]
        return api.known[key] | {"status": next(looks, "READY") if key == "one.pdf" else "READY"}

    api.document = look  # type: ignore[method-assign]
    results, _ = run(api, files)
    assert [each.name for each in results] == ["two.pdf", "three.pdf", "one.pdf"]


def test_progress_names_what_is_read_what_waits_and_the_time_left(
    files: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_upload, "PLAIN_EVERY_S", 0.0)
    results, told = run(FakeApi(polls=10), files)
    assert all(each.answerable for each in results)
    assert "Ingest: 0 of 3 done after 0 s; reading one.pdf; 2 wait" in told
    # One and a half of three small files took 5 s.
    assert "1 of 3 done after 5 s; about 5 s to go; reading two.pdf; 1 waits" in told


def test_the_time_left_is_not_told_of_what_should_have_been_ready_long_ago() -> None:
    time = Time()
    watch = cli_upload._Watch(Reporter(Console(quiet=True)), time.clock)
    watch.add(cli_upload._Sent("scan.pdf", "k", "e", 100, ""))
    watch.done_work, time.now = 10 * cli_upload.FIXED_BYTES, 10.0
    watch.changed = time.now
    assert "to go" in watch.progress()
    time.wait(20)
    assert watch.progress() == "0 of 1 done after 30 s; 1 waits"


def test_many_documents_are_watched_by_the_list_and_the_last_ones_singly(tmp_path: Path) -> None:
    files = []
    for number in range(12):
        (tmp_path / f"{number}.pdf").write_bytes(b"x" * number)
        files.append((tmp_path / f"{number}.pdf", f"{number}.pdf"))
    api = FakeApi()
    api.add("another.pdf", b"of somebody else")
    results, _ = run(api, files)
    assert [each.name for each in results] == [name for _, name in files]
    assert 0 < api.lists < 12


def test_without_a_terminal_a_line_of_progress_is_rare(files: list[tuple[Path, str]]) -> None:
    _, told = run(FakeApi(polls=200), files, timeout_s=1_000)  # some 600 polls in no time
    assert told.count("Ingest:") == 1


def test_a_file_of_which_nothing_could_be_stored_has_failed_at_once(files: list[tuple[Path, str]]) -> None:
    class Refused(FakeApi):
        """Each document fails before its bytes are looked at: a provider refuses the key."""

        def document(self, document_id: str) -> dict[str, Any]:
            if document_id not in self.sent:
                return self.known[document_id]
            later = {"updated_at": "2026-11-22T14:05:00+00:00", "error": {"message": "The API key was refused."}}
            return document(document_id, "FAILED", "") | later

    results, told = run(Refused(), files)
    assert [each.document["status"] for each in results] == ["FAILED"] * len(files)
    assert "The API key was refused." in told


def test_a_last_attempt_is_waited_for_although_it_is_said_to_have_crashed(files: list[tuple[Path, str]]) -> None:
    class Trying(FakeApi):
        def document(self, document_id: str) -> dict[str, Any]:
            found = super().document(document_id)
            if found["status"] != "PROCESSING":
                return found
            later = {"updated_at": "2026-11-22T14:05:00+00:00", "error": {"code": "CRASHED", "message": "It crashed."}}
            return found | {"status": "FAILED", "etag": ""} | later

    results, _ = run(Trying(polls=5), files)
    assert [each.document["status"] for each in results] == ["READY"] * len(files)


def test_a_time_out_names_the_files_and_what_to_do(files: list[tuple[Path, str]]) -> None:
    with pytest.raises(NotInTime) as late:
        run(FakeApi(polls=1_000), files, timeout_s=120)
    told = str(late.value)
    assert told.startswith(
        "Nothing has changed for 2 min, and these are not ready: one.pdf (PROCESSING), two.pdf (PENDING)"
    )
    assert "python -m local logs ingest" in told
    assert "--timeout 240" in told


def test_a_document_that_became_ready_counts_as_progress(files: list[tuple[Path, str]]) -> None:
    results, _ = run(FakeApi(polls=60), files, timeout_s=40)  # each takes 30 s, all of them 90
    assert len(results) == 3


def test_interrupted_while_waiting_it_says_what_goes_on(files: list[tuple[Path, str]]) -> None:
    api = FakeApi(polls=2)
    looks = iter(range(100))

    def look(key: str) -> dict[str, Any]:
        if len(api.sent) == 3 and next(looks) == 8:
            raise KeyboardInterrupt
        return FakeApi.document(api, key)

    api.document = look  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt) as ended:
        run(api, files)
    (told,) = ended.value.__notes__
    assert "1 of 3 sent are done; 2 are in the bucket and will still be read" in told
    assert "not sent" not in told


def test_interrupted_while_sending_it_says_what_was_not_sent(files: list[tuple[Path, str]]) -> None:
    api = FakeApi()
    send = api.send

    def send_one(promised: Upload, content: bytes, filename: str) -> str:
        if api.sent:
            raise KeyboardInterrupt
        return send(promised, content, filename)

    api.send = send_one  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt) as ended:
        run(api, files)
    (told,) = ended.value.__notes__
    assert "0 of 1 sent are done; 1 is in the bucket and will still be read" in told
    assert "Not sent: 2. The same command sends them, and sends nothing twice." in told


def test_an_empty_file_is_refused_and_not_announced(tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").touch()
    api = FakeApi()
    results, told = run(api, [(tmp_path / "empty.pdf", "empty.pdf")])
    assert [each.answerable for each in results] == [False]
    assert "empty.pdf: refused, the file is empty." in told
    assert api.known == {}
