"""The verbs `ask`, for one question or a conversation, and `token`."""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from rich.markup import escape

from local.cli_documents import counts_of, lines_of, name_of
from local.client import ApiClient, ApiError
from local.report import Reporter, counted
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop
from local.stack.users import USERS, laptop_user


def token(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Print a fresh ID token and nothing else, for use as `$(…)`."""
    print(laptop.token(laptop_user(arguments.tenant, arguments.role)))
    return 0


# --- what is printed -------------------------------------------------------------------------------------------------

NOT_SURE = "not sure: this may not answer your question, so check the sources"


def pages_of(citation: Mapping[str, Any]) -> str:
    """Return a citation's pages as counted, and the printed label where it differs."""
    first, last, label = citation["page_start"], citation["page_end"], citation.get("page_label") or ""
    pages = f"page {first}" if first == last else f"pages {first}–{last}"
    return f"{pages} (printed {label})" if label and label != str(first) else pages


def print_answer(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print an answer with its citations; a refusal is marked as one."""
    if answer["no_relevant_info"]:
        reporter.markup(f"[yellow]No relevant information:[/] {escape(answer['answer'])}")
        for near in answer.get("nearest") or ():
            section = f" · {near['section']}" if near["section"] else ""
            reporter.markup(f"  [dim]near: {escape(f'{_file_of(near)}{pages_of(near)} · {near["title"]}{section}')}[/]")
    else:
        reporter.say(answer["answer"])
        print_citations(answer, reporter)


def print_citations(answer: Mapping[str, Any], reporter: Reporter) -> None:
    """Print whether an answer is doubtful, its citations, what became of its claims, and its warnings."""
    if answer["band"] == "low" and answer["mode"] in {"generated", "extractive"}:
        reporter.markup(f"  [yellow]{NOT_SURE}[/]")
    for citation in answer["citations"]:
        section = f" · {citation['section']}" if citation.get("section") else ""
        where = escape(f"{_file_of(citation)}{pages_of(citation)} · {citation['title']}{section}")
        quote = escape(" ".join(str(citation["quote"]).split()))
        # Without embeddings passages are found by their words, and have no similarity.
        score = f" {citation['score']:.2f}" if citation.get("score") else ""
        model = citation.get("described_by")
        how = " · read by OCR" if citation.get("ocr") else f" · a figure, described by {escape(model)}" if model else ""
        reporter.markup(f"  [bold]{escape(f'[{citation["n"]}]')}[/] {where}[yellow]{how}[/]")
        reporter.markup(f"      [italic]“{quote}”[/]{score}")
    for claim in answer["claims"]:
        if claim["derived"]:
            reporter.markup(f"  [dim]calculated: {escape(claim['derived'])}[/]")
    if verdicts := verdicts_of(answer["support"]):
        reporter.markup(f"  [yellow]{verdicts}[/]")
    if warnings := answer.get("warnings"):
        reporter.markup(f"  [yellow]! {escape(', '.join(map(str, warnings)))}[/] [dim](docs/api.md#warnings)[/]")


def _file_of(cited: Mapping[str, Any]) -> str:
    """Return the name a cited document was uploaded under, with a comma; nothing if it is not known any more."""
    return f"{name_of(str(cited['key']))}, " if cited.get("key") else ""


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
    return f"{counted(support['claims'], 'claim')}: {told}"


def _print_end(answer: Mapping[str, Any], reporter: Reporter, *, how_to_go_on: bool) -> None:
    """Print the answer's mode and duration, and how to ask a follow-up."""
    took = sum((answer.get("timings_ms") or {}).values())
    follow_up = f" · continue with --conversation {escape(str(answer['conversation_id']))}" if how_to_go_on else ""
    reporter.markup(f"[dim]{'refused' if answer['no_relevant_info'] else answer['mode']} · {took:.0f} ms{follow_up}[/]")


# --- one question ----------------------------------------------------------------------------------------------------


def ask(laptop: Laptop, arguments: argparse.Namespace) -> int:
    """Ask one question and print the answer, with `--stream` while it is generated; without a question, converse."""
    with laptop.client(USERS[arguments.tenant], streaming=True) as api:
        if arguments.question is None:
            chat = Chat(api, laptop.report, arguments.conversation or "")
            return chat.run(laptop.config.state / "ask-history")
        optional = {"conversation_id": arguments.conversation, "top_k": arguments.top_k}
        try:
            if arguments.stream:
                return _ask_streamed(api, arguments, optional, laptop.report)
            answer = _asked(api, arguments, optional, laptop.report)
        except ApiError as error:
            if error.status == 404 and arguments.conversation:
                raise LocalStackError(f"There is no conversation {arguments.conversation} of this user.") from error
            raise
    if arguments.json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
        return 0
    print_answer(answer, laptop.report)
    _print_end(answer, laptop.report, how_to_go_on=True)
    return 0


def _asked(
    api: ApiClient, arguments: argparse.Namespace, optional: Mapping[str, Any], reporter: Reporter
) -> dict[str, Any]:
    with reporter.live("Searching"):
        return api.query(arguments.question, **optional)


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
            _print_end(data, reporter, how_to_go_on=True)
    return 0


# --- a conversation --------------------------------------------------------------------------------------------------

HELP = """/new        begin a new conversation
/sources    show what the last answer was made from
/documents  list the documents
/help       show this
/quit       leave (or Ctrl-D)

Ctrl-C cancels an answer. Anything else is a question; it may be a follow-up ("And in 2024?")."""
PROMPT = "? "


@dataclass(slots=True)
class Chat:
    """A conversation at the command line, with commands that begin with a slash."""

    api: ApiClient
    reporter: Reporter
    conversation_id: str = ""
    last: Mapping[str, Any] | None = None
    read: Callable[[str], str] = input

    def run(self, history: Path) -> int:
        """Read and answer until the end of the input."""
        interactive = sys.stdin.isatty()
        if interactive:
            self.reporter.say("Ask about the documents. /help shows the commands, Ctrl-D ends.")
        with _line_editing(history) if interactive else _plain():
            while (line := self._next_line(PROMPT if interactive else "")) is not None:
                if line in {"/quit", "/exit"}:
                    break
                if line.startswith("/"):
                    self._command(line)
                elif line:
                    self._answer(line)
        return 0

    def _next_line(self, prompt: str) -> str | None:
        """Return the next line, None at the end of the input; Ctrl-C empties the line."""
        while True:
            try:
                return self.read(prompt).strip()
            except EOFError:
                if prompt:
                    self.reporter.say()
                return None
            except KeyboardInterrupt:
                self.reporter.say("\n(Ctrl-D or /quit ends.)")

    def _command(self, line: str) -> None:
        match line.split()[0]:
            case "/help":
                self.reporter.say(HELP)
            case "/new":
                self.conversation_id, self.last = "", None
                self.reporter.say("A new conversation.")
            case "/sources":
                self._print_sources()
            case "/documents":
                self._print_documents()
            case unknown:
                self.reporter.say(f"There is no command {unknown}: /help shows all.")

    def _print_sources(self) -> None:
        if self.last is None:
            self.reporter.say("Nothing has been answered yet.")
        elif not self.last["sources"]:
            self.reporter.say("The last answer was made without sources.")
        else:
            for source in self.last["sources"]:
                score = f"{source['score']:.2f} " if source["score"] else ""
                section = f" · {source['section']}" if source["section"] else ""
                self.reporter.say(f"  {score}{_file_of(source)}{pages_of(source)} · {source['title']}{section}")

    def _print_documents(self) -> None:
        try:
            found = list(self.api.documents(limit=200))
        except (ApiError, httpx.HTTPError) as error:
            self.reporter.say(f"No list: {error or type(error).__name__}")
            return
        for line in lines_of(sorted(found, key=lambda each: name_of(str(each["key"])))):
            self.reporter.markup(line)
        self.reporter.say(f"{counts_of(found)}.")

    def _answer(self, question: str) -> None:
        try:
            self._stream(question)
        except KeyboardInterrupt:
            self.reporter.say("\nCancelled.")
        except (ApiError, httpx.HTTPError) as error:
            self.reporter.say(f"No answer: {error or type(error).__name__}")

    def _stream(self, question: str) -> None:
        """Print the answer while it comes. Raises `ApiError`."""
        written = False
        with _waiting(self.reporter) as arrived:
            for name, data in self.api.query_stream(question, conversation_id=self.conversation_id or None):
                if name == "delta":
                    arrived()
                    written = True
                    print(data["text"], end="", flush=True)
                elif name == "done":
                    arrived()
                    self.conversation_id, self.last = data["conversation_id"], data
                    if written:
                        print()
                        print_citations(data, self.reporter)
                    else:
                        print_answer(data, self.reporter)
                    _print_end(data, self.reporter, how_to_go_on=False)


@contextmanager
def _waiting(reporter: Reporter) -> Iterator[Callable[[], None]]:
    """Show on a terminal that an answer is coming, until what this yields is called."""
    if not reporter.console.is_terminal:
        yield lambda: None
        return
    status = reporter.console.status("Searching")
    status.start()
    try:
        yield status.stop
    finally:
        status.stop()


@contextmanager
def _line_editing(history: Path) -> Iterator[None]:
    """Edit lines with the arrow keys, and remember them from one run to the next; SIGTERM ends the conversation."""
    with suppress(ImportError):  # a Python without readline
        import readline

        with suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(1_000)
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        with suppress(ImportError, OSError):
            import readline

            history.touch(mode=0o600)  # questions may be confidential
            readline.write_history_file(history)


@contextmanager
def _plain() -> Iterator[None]:
    yield
