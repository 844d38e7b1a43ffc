"""The scan of the logs finds what must not stand in them, in whatever form a line holds it."""

import json

import httpx
import pytest

from tests.support.log_scan import Private, listening
from tests.support.pdfs import HELLO, document

SENTENCE = "The ferry of Sund crosses the sound in eleven minutes when there is no ice."
QUESTION = "How long does the ferry take in „Lübeck“?"
TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl"


@pytest.fixture
def private() -> Private:
    made = Private()
    made.add_question(QUESTION)
    made.add_text(SENTENCE)
    made.add_secret("The-Password-9")
    return made


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"message": "answered", "question": QUESTION}),
        f"INFO asked: {QUESTION.upper()}",
        json.dumps({"message": "published", "title": "In all: crosses the sound\nin eleven MINUTES"}),
        json.dumps({"exception": f"ValueError: {SENTENCE!r}"}),
        '{"message": "cut off", "text": "' + SENTENCE,
        json.dumps({"error": ["login of", {"with": "The-Password-9"}]}),
        f"Authorization: Bearer {TOKEN}",
        json.dumps({"key": "sk-proj-12345678"}),
        json.dumps({"user": "ann@example.com"}),
    ],
)
def test_it_finds(private: Private, line: str) -> None:
    assert private.leaks(line)


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(
            {"message": "answered", "tenant": "demo", "timings_ms": {"embed": 1.5, "save": 2.5}, "citations": 2}
        ),
        json.dumps({"message": "the ferry crosses the sound"}),  # five words of a document are nobody's
        "START RequestId: 8f14e45f-ceea-467f-a0e6-1b2c3d4e5f60 Version: $LATEST",
    ],
)
def test_it_leaves_alone(private: Private, line: str) -> None:
    assert private.leaks(line) == []


def test_a_file_is_read_whatever_it_is() -> None:
    private = Private()
    private.add_file(document([HELLO.replace(b"Hello world", SENTENCE.encode())]))
    private.add_file(b"Dear reader, this letter is not a PDF at all.")
    assert private.leaks(SENTENCE)
    assert private.leaks("Dear reader, this letter is not a PDF")


def test_it_hears_what_is_asked_and_with_which_token() -> None:
    private = Private()
    transport = httpx.MockTransport(lambda _: httpx.Response(200))
    with listening(private), httpx.Client(transport=transport, base_url="http://recto") as client:
        client.post("/query", json={"question": QUESTION}, headers={"Authorization": f"Bearer {TOKEN}"})
        client.post("/query", content=b"{", headers={"Content-Type": "application/json"})
    assert private.leaks(QUESTION)
    assert private.leaks(TOKEN.split(".")[1])
