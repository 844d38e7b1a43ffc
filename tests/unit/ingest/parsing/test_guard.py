"""The clock a document is held against, and how the parent treats a child that ends, stalls or writes nonsense."""

import itertools
import os
import select
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from functions.ingest.parsing import guard, process
from functions.ingest.parsing.guard import MAX_FAILURES, MAX_SECOND_TRIES, Reader, check_file
from functions.ingest.parsing.process import (
    ALL,
    LONG_DOCUMENT_PAGES,
    PATIENCE,
    ChildFailed,
    Limits,
    Stopwatch,
    Wait,
    pages_of,
)
from functions.ingest.parsing.wire import Header, Line, RawPage, Rejected, pack
from shared.errors import DocumentRejected
from tests.support.pdfs import document, lines

Frame = Header | RawPage | Rejected


class Script:
    """Stands in for the child processes: what each one sends, by engine and first page."""

    def __init__(
        self,
        pages: int,
        *,
        bad: tuple[int, ...] = (),
        raising: tuple[int, ...] = (),
        opens: tuple[str, ...] = ("pdfium", "pypdf"),
    ) -> None:
        self.pages, self.bad, self.raising, self.opens = pages, bad, raising, opens
        self.started: list[tuple[str, int, int]] = []

    def __call__(
        self, path: Path, engine: str, limits: Limits, *, first: int = 1, last: int = 0, part: int = ALL
    ) -> "ScriptedChild":
        self.started.append((engine, first, last))
        return ScriptedChild(self._frames(engine, first, last, part))

    def _frames(self, engine: str, first: int, last: int, part: int) -> Iterator[Frame]:
        if engine not in self.opens:
            yield Rejected("DAMAGED", "no")
            return
        yield Header(self.pages, engine=engine)
        for number in pages_of(part, first, last, self.pages):
            if number in self.bad and engine == "pdfium":
                raise ChildFailed("crash")
            error = "it raised" if number in self.raising and engine == "pdfium" else ""
            yield RawPage(number, lines=[Line(f"page {number}")], engine=engine, error=error)


class ScriptedChild:
    def __init__(self, frames: Iterator[Frame]) -> None:
        self._frames = frames

    def frames(self, wait_s: Callable[[], float], earn: Callable[[float], object]) -> Iterator[Frame]:
        return self._frames

    def kill(self) -> None:
        """There is nothing to end."""


def reader_of(script: Script, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(guard, "Child", script)
    return Reader(Path("x.pdf"), Limits(), Stopwatch(25))


@pytest.mark.parametrize("bad", [1, 2, 3])
def test_a_page_that_kills_the_child_is_read_by_the_other_engine(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(4, bad=(bad,))
    reader = reader_of(script, monkeypatch)
    pages = list(reader.pages(reader.header().page_count))
    engines = [(number, "pypdf" if number == bad else "pdfium") for number in range(1, 5)]
    assert [(page.number, page.engine) for page in pages] == engines
    assert script.started == [("pdfium", 1, 0), ("pypdf", bad, bad), ("pdfium", bad + 1, 0)]
    assert reader.problems == []


def test_a_long_document_is_read_by_two_children_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.process, "has_two_cores", lambda: True)
    script = Script(LONG_DOCUMENT_PAGES + 7)
    reader = reader_of(script, monkeypatch)
    pages = list(reader.pages(reader.header().page_count))
    assert [page.number for page in pages] == list(range(1, LONG_DOCUMENT_PAGES + 8))
    assert len(script.started) == 2


def test_when_one_of_two_children_dies_a_single_one_goes_on_from_that_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.process, "has_two_cores", lambda: True)
    script = Script(LONG_DOCUMENT_PAGES, bad=(40,))
    reader = reader_of(script, monkeypatch)
    pages = list(reader.pages(reader.header().page_count))
    assert [page.number for page in pages] == list(range(1, LONG_DOCUMENT_PAGES + 1))
    assert [page.number for page in pages if page.engine == "pypdf"] == [40]
    assert script.started[2:] == [("pdfium", 40, 0), ("pypdf", 40, 40), ("pdfium", 41, 0)]


def test_after_several_failures_the_rest_is_given_up_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = reader_of(Script(50, bad=tuple(range(3, 51))), monkeypatch)
    pages = list(reader.pages(reader.header().page_count))
    assert len(pages) == 2 + MAX_FAILURES + 1
    assert reader.problems == [f"stopped after page {len(pages)}: too many pages failed"]


def test_pages_on_which_the_engine_raises_are_tried_again_so_many_times_in_a_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = reader_of(Script(20, raising=tuple(range(5, 21))), monkeypatch)
    pages = list(reader.pages(reader.header().page_count))
    assert [page.number for page in pages if page.engine == "pypdf"] == list(range(5, 5 + MAX_SECOND_TRIES))
    assert [page.number for page in pages if page.error] == list(range(5 + MAX_SECOND_TRIES, 21))


def test_a_file_the_first_engine_cannot_open_is_given_to_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = reader_of(Script(2, opens=("pypdf",)), monkeypatch)
    assert reader.header().engine == "pypdf"
    assert [page.engine for page in reader.pages(2)] == ["pypdf", "pypdf"]


def test_a_file_neither_can_open_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        reader_of(Script(2, opens=()), monkeypatch).header()
    assert rejected.value.reason_code == "DAMAGED"


def test_the_stopwatch_counts_only_while_it_runs() -> None:
    now = [0.0]
    watch = Stopwatch(10, lambda: now[0])
    now[0] = 4
    watch.pause()
    now[0] = 1_000
    watch.resume()
    now[0] = 1_003
    assert watch.left_s == 3
    watch.earn(2)
    assert watch.left_s == 5


def test_seconds_in_which_a_child_has_no_core_do_not_count_up_to_a_limit() -> None:
    now, without_core = [100.0], [7.0]
    wait = Wait(5, lambda: without_core[0], lambda: now[0])
    now[0] = 104
    assert (wait.left_s, wait.without_core_s) == (1, 0)
    now[0] = 106
    assert wait.left_s == 0
    without_core[0] = 10
    assert (wait.left_s, wait.without_core_s) == (2, 3)
    now[0], without_core[0] = 100 + PATIENCE * 5, 1_000
    assert (wait.left_s, wait.without_core_s) == (0, PATIENCE * 5)


def test_a_document_is_given_the_seconds_in_which_its_child_had_no_core(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_core = itertools.count()
    monkeypatch.setattr(process.Child, "_without_core_s", lambda _: next(without_core) * 1_000.0)

    def slow(reads: Any, writes: Any, errors: Any, timeout_s: float) -> Any:
        """Say that nothing is there yet, so that each look becomes a wait, however fast the child is."""
        return select.select(reads, writes, errors, timeout_s) if timeout_s else ([], [], [])

    monkeypatch.setattr(process, "select", SimpleNamespace(select=slow))
    path = tmp_path / "x.pdf"
    path.write_bytes(document([lines("One line.")]))
    earned: list[float] = []
    child = process.Child(path, "pdfium", Limits())
    frames = list(child.frames(lambda: 60.0, earned.append))
    assert [type(frame) for frame in frames] == [Header, RawPage]
    assert len(earned) == 3  # one for each of them, and one for the end
    assert 0 < sum(earned) < 60


def test_what_a_child_has_written_already_is_read_without_waiting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(document([lines("One line.")] * 3))
    child = process.Child(path, "pdfium", Limits())
    written = b""
    while not written.endswith(pack("done", {})):
        written += os.read(child._pipe, 1 << 16)
    os.close(child._pipe)
    child._pipe, again = os.pipe()
    os.write(again, written)
    os.close(again)

    def never(*_: object) -> NoReturn:
        raise AssertionError("it was waited for")

    monkeypatch.setattr(process.Child, "_without_core_s", never)
    earned: list[float] = []
    assert len(list(child.frames(lambda: 60.0, earned.append))) == 4
    assert earned == [0.0] * 5


def test_new_text_earns_time_and_repeated_text_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    watch = Stopwatch(10, lambda: now[0])
    monkeypatch.setattr(guard, "Child", Script(1))
    reader = Reader(Path("x.pdf"), Limits(), watch)
    page = RawPage(1, lines=[Line("x" * 2_000)])
    reader._earn(page)
    assert watch.left_s == pytest.approx(10.02)
    reader._earn(page)
    assert watch.left_s == pytest.approx(10.02)


@pytest.mark.parametrize(
    ("data", "code"), [(b"", "EMPTY"), (b"hello", "NOT_A_PDF"), (b"%PDF-1.7" + b" " * 2_000, "TOO_LARGE")]
)
def test_size_and_mark_are_looked_at_before_any_child_is_started(data: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(data)
    with pytest.raises(DocumentRejected) as rejected:
        check_file(path, Limits(max_bytes=1_000))
    assert rejected.value.reason_code == code


def test_the_mark_may_stand_behind_other_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(b"\n" * 1_000 + b"%PDF-1.4")
    check_file(path, Limits())


@pytest.mark.parametrize(("allowed_s", "left_s"), [(-1, 0), (0, 0), (0.5, 0.5)])
def test_a_wait_begins_with_what_is_allowed(allowed_s: float, left_s: float) -> None:
    assert Wait(allowed_s, lambda: 0.0, lambda: 100.0).left_s == left_s
