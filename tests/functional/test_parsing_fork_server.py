"""The fork server: a child for each document at once, and nothing of one in the next, whatever is killed and when."""

import operator
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from functions.ingest.parsing import child, fork_server
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Child, ChildFailed, Limits
from tests.support.pdfs import bombs, document, lines
from tests.support.waiting import until

LIMITS = Limits(wall_s=60, page_s=20)
WAIT_S = 30.0


def written(folder: Path, pages: int, word: str = "page") -> Path:
    path = folder / f"{word}.pdf"
    path.write_bytes(document([lines(f"This is {word} {n}.") for n in range(1, pages + 1)]))
    return path


def texts(path: Path, limits: Limits = LIMITS) -> list[str]:
    with open_pdf(path, file_name=path.name, limits=limits) as parse:
        return [page.text for page in parse.pages()]


def is_over(pid: int) -> bool:
    """Whether a process has ended; whoever it was left to may not have noticed."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_for_end(*pids: int) -> None:
    until(
        lambda: [pid for pid in pids if not is_over(pid)], operator.not_, what="the end of processes", within_s=WAIT_S
    )


def ran(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Run a script in a process of its own, which has this module's names."""
    whole = f"from tests.functional.test_parsing_fork_server import *\n{script}"
    command = [sys.executable, "-c", whole, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_each_document_has_a_process_of_its_own_from_the_same_fork_server(tmp_path: Path) -> None:
    server = fork_server.get_ready().pid
    used = set()
    for word in ("first", "second"):
        with open_pdf(written(tmp_path, 50, word), file_name="x.pdf", limits=LIMITS) as parse:
            used.add(parse._reader._children[0]._process.pid)
            assert [page.text for page in parse.pages()] == [f"This is {word} {n}." for n in range(1, 51)]
    assert len(used - {server}) == 2
    assert fork_server.get_ready().pid == server


def test_the_fork_server_has_no_file_open_but_its_socket(tmp_path: Path) -> None:
    with open_pdf(written(tmp_path, 400), file_name="x.pdf", limits=LIMITS) as parse:
        next(parse.pages())
        open_files = Path(f"/proc/{fork_server.get_ready().pid}/fd").iterdir()
        kinds = sorted(str(each.readlink()).partition(":")[0] for each in open_files)
        of_child = sorted(Path(f"/proc/{parse._reader._children[0]._process.pid}/fd").iterdir())
        assert not any(str(each.readlink()).startswith("socket:") for each in of_child)
    assert kinds == ["/dev/null", "/dev/null", "/dev/null", "socket"]


def test_a_fork_server_that_was_killed_while_idle_is_replaced(tmp_path: Path) -> None:
    path = written(tmp_path, 2)
    assert len(texts(path)) == 2
    before = fork_server.get_ready().pid
    os.kill(before, signal.SIGKILL)
    assert texts(path) == ["This is page 1.", "This is page 2."]
    assert fork_server.get_ready().pid != before


def test_a_document_is_read_whole_though_the_fork_server_is_killed_in_the_middle(tmp_path: Path) -> None:
    with open_pdf(written(tmp_path, 2_000), file_name="x.pdf", limits=LIMITS) as parse:
        pages = parse.pages()
        read = [next(pages).text]
        children = [each._process.pid for each in parse._reader._children]
        os.kill(fork_server.get_ready().pid, signal.SIGKILL)
        wait_for_end(*children)
        read += [page.text for page in pages]
    assert read == [f"This is page {n}." for n in range(1, 2_001)]


def test_the_document_after_one_that_reached_its_limits_is_read_as_ever(tmp_path: Path) -> None:
    server = fork_server.get_ready().pid
    good, bad = written(tmp_path, 2), tmp_path / "bad.pdf"
    bad.write_bytes(bombs()["billion_laughs"])
    for limits in (Limits(cpu_s=0, memory_mb=64), Limits(page_s=0.01), Limits(memory_mb=1)):
        reader = Child(bad, "pdfium", limits)
        with pytest.raises(ChildFailed):
            list(reader.frames(lambda limits=limits: limits.page_s))  # type: ignore[misc]
        assert texts(good) == ["This is page 1.", "This is page 2."]
    assert fork_server.get_ready().pid == server


def test_nothing_is_left_when_the_parent_is_killed_in_the_middle_of_a_document(tmp_path: Path) -> None:
    script = """
with open_pdf(Path(sys.argv[1]), file_name="x.pdf", limits=LIMITS) as parse:
    next(parse.pages())
    print(fork_server.get_ready().pid, *(each._process.pid for each in parse._reader._children), flush=True)
    time.sleep(600)
"""
    with ran(script, written(tmp_path, 2_000)) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) >= 2
    wait_for_end(*pids)


def test_nothing_is_left_when_the_parent_ends_by_itself(tmp_path: Path) -> None:
    with ran("texts(Path(sys.argv[1]))\nprint(fork_server.get_ready().pid)", written(tmp_path, 2)) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.read())
    wait_for_end(pid)


def test_a_fork_of_this_process_has_a_fork_server_of_its_own_and_leaves_ours_alone(tmp_path: Path) -> None:
    script = """
path = Path(sys.argv[1])
assert len(texts(path)) == 2
before = fork_server.get_ready().pid
if not (forked := os.fork()):
    os._exit(0 if len(texts(path)) == 2 and fork_server.get_ready().pid != before else 1)
assert os.waitpid(forked, 0)[1] == 0
assert len(texts(path)) == 2 and fork_server.get_ready().pid == before
"""
    with ran(script, written(tmp_path, 2)) as parent:
        assert parent.wait() == 0


def test_documents_read_at_the_same_time_are_not_mixed_up(tmp_path: Path) -> None:
    paths = [written(tmp_path, 5, f"word{n}x") for n in range(12)]
    with ThreadPoolExecutor(4) as threads:
        read = list(threads.map(texts, paths))
    assert read == [[f"This is {path.stem} {n}." for n in range(1, 6)] for path in paths]


def test_a_child_that_does_not_end_when_its_output_has_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "ENDING_S", 0.05)
    sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
    sleeper.returncode = child.exit_code_of(sleeper.pid)
    assert sleeper.returncode == -signal.SIGKILL
