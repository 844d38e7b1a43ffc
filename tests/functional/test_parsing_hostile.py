"""Whatever bytes are given, parsing ends within its limits with a true status, and good pages survive bad ones."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.ingest.parsing import fork_server
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.report import status_of
from shared.models import DocumentStatus
from tests.support.hostile_reading import LIMITS, read
from tests.support.pdfs import HELLO, bombs, deflated, document, lines, stream

BOMBS = bombs()
MEASURED = """
import json, resource, sys
from pathlib import Path
from functions.ingest.parsing import fork_server
from tests.support.hostile_reading import read
path = Path(sys.argv[1])
status, code, pages = read(path, path.read_bytes())
fork_server.close()  # its children count as ours once we have waited for it
largest_child_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([status, code, any(pages.values()), largest_child_kib]))
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_contained_and_has_a_true_status(name: str, tmp_path: Path) -> None:
    started = time.monotonic()
    (tmp_path / "bomb.pdf").write_bytes(BOMBS[name])
    # In a process of its own, because only that one's children are to be measured.
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path / "bomb.pdf")], capture_output=True, text=True, check=True
    )
    name, code, has_text, largest_child_kib = json.loads(ran.stdout)
    status = DocumentStatus(name)
    assert time.monotonic() - started < 30
    # The limit on its address space holds whatever the file asks for.
    assert largest_child_kib < 450 * 1024
    assert (status in {DocumentStatus.READY, DocumentStatus.PARTIAL}) == has_text
    assert (status is DocumentStatus.READY) == (code == "")


def test_too_many_pages_are_refused_before_they_are_read(tmp_path: Path) -> None:
    status, code, _ = read(tmp_path / "x.pdf", BOMBS["many_pages"])
    assert (status, code) == (DocumentStatus.FAILED, "TOO_MANY_PAGES")


def test_a_page_that_kills_the_child_costs_only_itself(tmp_path: Path) -> None:
    bomb = stream(deflated(b" " * (1 << 20), 512), b"/Filter/FlateDecode")
    data = document([lines("The first page."), bomb, lines("The third page.")])
    status, code, pages = read(tmp_path / "x.pdf", data)
    assert pages == {1: "The first page.", 2: "", 3: "The third page."}
    assert (status, code) == (DocumentStatus.PARTIAL, "INCOMPLETE")


def test_a_page_is_never_given_the_text_of_another(tmp_path: Path) -> None:
    """pdfium counts a page of an unknown type and cannot load it; pypdf leaves it out, and its page 2 is the third."""
    data = document([lines(f"This is page {n}.") for n in (1, 2, 3, 4)])
    before, kind, after = data.partition(b"12 0 obj\n<</Type/Page")
    assert kind
    data = before + kind.replace(b"Page", b"Pagx") + after
    status, code, pages = read(tmp_path / "x.pdf", data)
    assert pages == {1: "This is page 1.", 2: "", 3: "This is page 3.", 4: "This is page 4."}
    assert (status, code) == (DocumentStatus.PARTIAL, "INCOMPLETE")


def test_page_labels_without_end_cost_the_labels_alone(tmp_path: Path) -> None:
    loop = {9001: b"<</Kids[9001 0 R 9001 0 R]/Limits[0 99]>>"}
    data = document([lines(f"This is page {n}.") for n in range(12)], catalog=b"/PageLabels 9001 0 R", extra=loop)
    status, _, pages = read(tmp_path / "x.pdf", data)
    assert status is DocumentStatus.READY
    assert [pages[n + 1] for n in range(12)] == [f"This is page {n}." for n in range(12)]


def test_an_outline_that_is_slow_to_look_up_is_cut_short(tmp_path: Path) -> None:
    names = b"".join(b"(d%06d)[10 0 R/Fit]" % n for n in range(100_000))
    marks = {
        9001 + n: b"<</Title(S%d)/Dest(d%06d)/Next %d 0 R>>" % (n, n * 7919 % 100_000, 9002 + n) for n in range(19_000)
    }
    outline = {8000: b"<</Names[%b]>>" % names, 9000: b"<</First 9001 0 R/Last 9001 0 R>>", **marks}
    path = tmp_path / "x.pdf"
    path.write_bytes(document([HELLO], catalog=b"/Outlines 9000 0 R/Names<</Dests 8000 0 R>>", extra=outline))
    with open_pdf(path, file_name="x.pdf", limits=LIMITS) as parse:
        assert [page.text for page in parse.pages()] == ["Hello world"]
        assert "fallback" not in parse.reports[0].detail


def test_pages_read_before_the_time_limit_are_kept(tmp_path: Path) -> None:
    slow = stream(deflated(b"q 1 0 0 1 0 0 cm 0 0 m 1 1 l S Q\n" * 10_000, 20), b"/Filter/FlateDecode")
    data = document([lines("The first page."), *[slow] * 40])
    path = tmp_path / "x.pdf"
    path.write_bytes(data)
    with open_pdf(path, file_name="x.pdf", limits=Limits(wall_s=1.5)) as parse:
        pages = [page.text for page in parse.pages()]
        status, error = status_of(parse.reports, parse.page_count, parse.problems)
    assert pages[0] == "The first page."
    assert len(pages) < 41
    assert status is DocumentStatus.PARTIAL
    assert error is not None
    assert "time limit" in error.message


def test_the_time_a_slow_consumer_takes_is_not_counted(tmp_path: Path) -> None:
    now = [0.0]
    path = tmp_path / "x.pdf"
    path.write_bytes(document([lines(f"Page number {i}.") for i in range(40)]))
    with open_pdf(path, file_name="x.pdf", limits=Limits(wall_s=10), clock=lambda: now[0]) as parse:
        count = 0
        for _ in parse.pages():
            now[0] += 1_000
            count += 1
        assert (count, parse.problems) == (40, [])


def test_a_text_without_end_is_cut_and_the_cut_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(document([lines(*["many words on a line of text"] * 50) for _ in range(30)]))
    with open_pdf(path, file_name="x.pdf", limits=Limits(max_characters=5_000)) as parse:
        texts = [page.text for page in parse.pages()]
        status, _ = status_of(parse.reports, parse.page_count, parse.problems)
    assert sum(map(len, texts)) < 10_000
    assert status is DocumentStatus.PARTIAL


def test_no_child_outlives_its_parse(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(document([HELLO] * 500))
    with open_pdf(path, file_name="x.pdf", limits=LIMITS) as parse:
        children = parse._reader._children
        assert children
        next(parse.pages())
    assert all(child._process.returncode is not None for child in children)


def test_the_child_knows_no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-children")
    fork_server.close()  # so that the next one starts in this environment
    path = tmp_path / "x.pdf"
    path.write_bytes(document([HELLO] * 2_000))
    with open_pdf(path, file_name="x.pdf", limits=LIMITS) as parse:
        child = parse._reader._children[-1]
        pids = child._process.pid, fork_server.get_ready().pid
        environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in pids]
    for environment in environments:
        assert b"PYTHONPATH" in environment
        assert b"not-for-children" not in environment


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "EMPTY"),
        (b"PK\x03\x04 a zip file", "NOT_A_PDF"),
        (b"%PDF-1.7\nnothing that could be read", "DAMAGED"),
        (document([HELLO]) + b" " * 2_000_000, "TOO_LARGE"),
    ],
)
def test_what_is_no_pdf_is_refused_with_a_reason(data: bytes, code: str, tmp_path: Path) -> None:
    status, got, _ = read(tmp_path / "x.pdf", data, Limits(max_bytes=1_000_000))
    assert (status, got) == (DocumentStatus.FAILED, code)


WHOLE = document([lines("A page of text."), lines("And one more.")], title="A title")


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300).map(lambda tail: b"%PDF-1.4\n" + tail),
        st.tuples(st.integers(9, len(WHOLE) - 1), st.binary(min_size=1, max_size=40)).map(
            lambda cut: WHOLE[: cut[0]] + cut[1] + WHOLE[cut[0] + len(cut[1]) :]
        ),
        st.integers(10, len(WHOLE) - 1).map(lambda end: WHOLE[:end]),
    )
)
def test_any_bytes_are_parsed_or_refused_within_the_limits(tmp_path: Path, data: bytes) -> None:
    started = time.monotonic()
    status, code, pages = read(tmp_path / "x.pdf", data)
    assert time.monotonic() - started < 25
    assert (status is DocumentStatus.READY) == (code == "")
    assert status is not DocumentStatus.READY or any(pages.values())
