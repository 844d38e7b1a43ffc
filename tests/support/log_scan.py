"""What no log may hold: questions, sentences of documents, tokens, keys, addresses; `Private.leaks` checks a line."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import httpx
import pypdf
import pytest
from pypdf.errors import PyPdfError

RUN = 6
"""So many words in a row can only come from the document."""
_WORD = re.compile(r"\w+")
_SECRETS = {
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    "a token": re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}"),
    "a key": re.compile(r"\b(?:sk-|pcsk_|rk_)[\w-]{8,}"),
}


@dataclass
class Private:
    """The questions, texts and tokens of a run."""

    questions: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    secrets: set[str] = field(default_factory=set)

    def add_question(self, text: str) -> None:
        """Add a question; a question of a single word is ignored, because it would prove nothing."""
        if len(words := _words(text)) > 1:
            self.questions.add(f" {' '.join(words)} ")

    def add_text(self, text: str) -> None:
        """Add a document's text, or an answer."""
        self.runs.update(_runs(_words(text)))

    def add_file(self, content: bytes) -> None:
        """Add an uploaded file, whatever it is."""
        try:
            pages = [page.extract_text() for page in pypdf.PdfReader(BytesIO(content)).pages]
        except PyPdfError:
            pages = [content.decode("utf-8", "ignore")]
        self.add_text("\n".join(pages))

    def add_secret(self, text: str) -> None:
        """Add a token, key or password, and the parts of a token."""
        self.secrets.update(part for part in text.split(".") if len(part) >= 8)

    def leaks(self, line: str) -> list[str]:
        """Return what a log line should not hold but does."""
        text = _readable(line)
        words = _words(text)
        joined = f" {' '.join(words)} "
        found = [f"the question{question}" for question in self.questions if question in joined]
        found += [f"a document's {run!r}" for run in _runs(words) if run in self.runs]
        found += ["a secret of this run" for secret in self.secrets if secret in line]
        return found + [what for what, pattern in _SECRETS.items() if pattern.search(text)]


@contextmanager
def listening(private: Private) -> Iterator[None]:
    """Note every question and token that this process sends by httpx."""
    send = httpx.Client.send

    def noted(client: httpx.Client, request: httpx.Request, **more: Any) -> httpx.Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme == "Bearer":
            private.add_secret(token)
        if request.headers.get("content-type") == "application/json":
            _note_question(private, request.content)
        return send(client, request, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.Client, "send", noted)
        yield


def _note_question(private: Private, body: bytes) -> None:
    try:
        sent = json.loads(body)
    except ValueError:
        return
    if isinstance(sent, dict) and isinstance(sent.get("question"), str):
        private.add_question(sent["question"])


def _readable(line: str) -> str:
    """Return a line with JSON's escapes resolved: a question must not hide in them."""
    try:
        return " ".join(_strings(json.loads(line)))
    except ValueError:
        return line


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    else:
        yield str(value)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _runs(words: list[str]) -> Iterable[str]:
    """Yield every `RUN` words that follow each other, unless most of them are numbers."""
    for at in range(len(words) - RUN + 1):
        run = words[at : at + RUN]
        if sum(word.isalpha() and len(word) > 2 for word in run) >= RUN // 2:
            yield " ".join(run)
