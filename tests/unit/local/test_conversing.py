"""The verb `ask` without a question: a conversation with commands."""

import io
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from rich.console import Console

from local.cli_ask import Chat
from local.client import ApiClient, ApiError
from local.report import Reporter
from local.stack.config import PROJECT

SUPPORT = {"claims": 1, "confirmed": 1, "unconfirmed": 0, "dropped": 0, "flags": []}
CITATION = {
    "n": 1,
    "key": "uploads/demo/a/handbook.pdf",
    "title": "The handbook",
    "page_start": 3,
    "page_end": 3,
    "quote": "It is blue.",
    "score": 0.0,
}
SOURCE = CITATION | {"section": "2 Colours"}


def done(text: str, conversation: str, **more: object) -> dict[str, Any]:
    answer = {"answer": text, "no_relevant_info": False, "citations": [CITATION], "claims": [], "sources": [SOURCE]}
    about = {"support": SUPPORT, "mode": "generated", "band": "high", "warnings": [], "timings_ms": {"embed": 2.0}}
    return answer | about | {"conversation_id": conversation} | more


class FakeApi:
    """Answers with "Blue.", word by word; `fails` is raised after the first word."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.fails: dict[str, BaseException] = {}

    def query_stream(self, question: str, conversation_id: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
        self.asked.append((question, conversation_id))
        yield "sources", {"sources": []}
        yield "delta", {"text": "It is "}
        if error := self.fails.get(question):
            raise error
        yield "delta", {"text": "blue. [1]"}
        yield "done", done("It is blue. [1]", f"C{len(self.asked)}")

    def documents(self, *, limit: int) -> Iterator[dict[str, Any]]:
        yield {"key": "uploads/demo/handbook.pdf", "title": "The handbook", "status": "READY", "page_count": 1}


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def converse(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Type lines, of which an exception is a key like Ctrl-C; return what is printed."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)

    def run(*lines: str | BaseException) -> str:
        typed = iter(lines)

        def read(_prompt: str) -> str:
            line = next(typed, EOFError())
            if isinstance(line, BaseException):
                raise line
            return line

        chat = Chat(cast("ApiClient", api), Reporter(Console(file=sys.stdout, soft_wrap=True)), read=read)
        assert chat.run(tmp_path / "history") == 0
        return capsys.readouterr().out

    return run


def test_questions_go_on_with_the_conversation_until_a_new_one_begins(
    api: FakeApi, converse: Callable[..., str]
) -> None:
    converse("What colour is it?", "", "  And why? ", "/new", "Who?")
    assert api.asked == [("What colour is it?", None), ("And why?", "C1"), ("Who?", None)]


def test_an_answer_ends_with_file_and_page_and_without_a_score_that_nobody_measured(
    converse: Callable[..., str],
) -> None:
    told = converse("What colour is it?")
    assert told.startswith("It is blue. [1]\n")
    assert "[1] a/handbook.pdf, page 3 · The handbook" in told
    assert "“It is blue.”\n" in told
    assert "0.00" not in told
    assert told.rstrip().endswith("generated · 2 ms")


def test_the_answer_is_printed_as_it_comes(api: FakeApi, converse: Callable[..., str]) -> None:
    api.fails = {"Why?": KeyboardInterrupt()}
    assert converse("Why?") == "It is \nCancelled.\n"


def test_a_cancelled_answer_does_not_end_the_conversation(api: FakeApi, converse: Callable[..., str]) -> None:
    api.fails = {"Why?": KeyboardInterrupt()}
    told = converse("What?", "Why?", "Really?")
    assert "Cancelled." in told
    assert api.asked[-1] == ("Really?", "C1")


@pytest.mark.parametrize(
    "error", [ApiError(429, "too_many_questions", "Wait a minute."), httpx.ConnectError("refused")], ids=["api", "wire"]
)
def test_an_error_is_told_and_the_conversation_goes_on(
    api: FakeApi, converse: Callable[..., str], error: Exception
) -> None:
    api.fails = {"Why?": error}
    told = converse("Why?", "What?")
    assert f"No answer: {error}" in told
    assert len(api.asked) == 2


def test_ctrl_c_at_the_prompt_empties_the_line_and_says_how_to_leave(
    api: FakeApi, converse: Callable[..., str]
) -> None:
    assert "Ctrl-D or /quit ends" in converse(KeyboardInterrupt(), "What?")
    assert len(api.asked) == 1


def test_the_commands(api: FakeApi, converse: Callable[..., str]) -> None:
    told = converse("/sources", "What?", "/sources", "/documents", "/help", "/hlep", "/quit", "never asked")
    assert "Nothing has been answered yet." in told
    assert "  a/handbook.pdf, page 3 · The handbook · 2 Colours" in told
    assert "READY" in told
    assert "1 document: 1 READY." in told
    for command in ("/new", "/sources", "/documents", "/help", "/quit"):
        assert f"\n{command} " in told or command == "/new"
    assert "There is no command /hlep" in told
    assert len(api.asked) == 1


def test_a_refusal_is_marked_as_one(api: FakeApi, converse: Callable[..., str]) -> None:
    refused = done("I found nothing.", "C1", no_relevant_info=True, citations=[], mode="refused")
    api.query_stream = lambda *_, **__: iter([("done", refused)])  # type: ignore[method-assign]
    assert converse("Who?").startswith("No relevant information: I found nothing.\n")


def test_a_stop_of_the_system_ends_the_conversation_and_keeps_its_history(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    before = signal.getsignal(signal.SIGTERM)

    def read(_prompt: str) -> str:
        signal.raise_signal(signal.SIGTERM)
        return ""

    chat = Chat(cast("ApiClient", api), Reporter(Console(file=io.StringIO())), read=read)
    with pytest.raises(SystemExit):
        chat.run(tmp_path / "history")
    assert signal.getsignal(signal.SIGTERM) == before
    assert (tmp_path / "history").stat().st_mode & 0o077 == 0


ON_A_TERMINAL = """
import signal, sys, threading
from pathlib import Path
from local.cli_ask import Chat
from local.report import Reporter

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started with it ignored

class Api:
    def query_stream(self, question, conversation_id):
        yield "delta", {"text": f"You asked: {question}"}
        if question == "slow":
            threading.Event().wait()  # for ever, if nobody cancels it
        yield "done", {"answer": "", "no_relevant_info": False, "citations": [], "claims": [], "sources": [],
                       "support": {"claims": 0, "confirmed": 0}, "mode": "generated", "conversation_id": "C"}

sys.exit(Chat(Api(), Reporter()).run(Path(sys.argv[1])))
"""


class Terminal:
    """A terminal with a conversation in it; whatever is awaited has the time of pytest's own limit to come."""

    def __init__(self, history: Path) -> None:
        self._seen = b""
        self._near, far = os.openpty()
        environment = {**os.environ, "TERM": "xterm"}
        command = [sys.executable, "-c", ON_A_TERMINAL, str(history)]
        self.program = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdin=far, stdout=far, stderr=far, start_new_session=True
        )
        os.close(far)

    def type(self, keys: str) -> None:
        os.write(self._near, keys.encode())

    def await_(self, text: str) -> None:
        while text.encode() not in self._seen:
            self._seen += os.read(self._near, 4096)
        self._seen = self._seen.partition(text.encode())[2]

    def cancel(self) -> None:
        """Press Ctrl-C as a person does: again, if nothing comes of it (Python may swallow it within a destructor)."""
        while True:
            os.kill(self.program.pid, signal.SIGINT)  # what Ctrl-C sends to the program in front
            if select.select([self._near], [], [], 10)[0]:
                break
        self.await_("Cancelled.")

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        os.close(self._near)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path / "history")
    yield opened
    opened.close()


def test_on_a_terminal_lines_can_be_edited_answers_cancelled_and_ctrl_d_ends(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.await_("Ctrl-D ends.")
    terminal.await_("? ")
    terminal.type("slw\x1b[Do\r")  # with one arrow to the left
    terminal.await_("You asked: slow")
    terminal.cancel()
    terminal.await_("? ")
    terminal.type("/new\r")
    terminal.await_("A new conversation.")
    terminal.await_("? ")
    terminal.type("\x1b[A\x1b[A\r")  # two lines up in the history
    terminal.await_("You asked: slow")
    terminal.cancel()
    terminal.await_("? ")
    terminal.type("\x04")
    assert terminal.program.wait(90) == 0
    assert (tmp_path / "history").read_text().splitlines()[:2] == ["slow", "/new"]
