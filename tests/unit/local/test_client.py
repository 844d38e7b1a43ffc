"""The API client on the wire: a small server stands for the API and for S3."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from local.client import ApiClient, ApiError, NotInTime

Reply = tuple[int, Any]
S3_SAYS = b"<Error><Code>EntityTooSmall</Code><Message>Your proposed upload is too small.</Message></Error>"


@dataclass
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeApi:
    """Answers by `reply(method, path)` and records the requests."""

    url: str = ""
    reply: Callable[[str, str], Reply] = lambda _method, _path: (200, {})
    seen: list[Seen] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[FakeApi]:
    state = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.seen.append(Seen(self.command, self.path, headers, body))
            status, answer = state.reply(self.command, self.path)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", '"abc"')
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def api(server: FakeApi) -> Iterator[ApiClient]:
    with ApiClient(server.url, "the-token") as client:
        yield client


def test_problem_details_become_a_typed_error(server: FakeApi, api: ApiClient) -> None:
    problem = {"title": "Not found", "status": 404, "detail": "No such document.", "code": "not_found"}
    server.reply = lambda *_: (404, problem | {"request_id": "r-1"})
    with pytest.raises(ApiError, match=r"404 not_found: No such document\. \(request r-1\)") as refused:
        api.document("x")
    assert (refused.value.status, refused.value.code, refused.value.request_id) == (404, "not_found", "r-1")


@pytest.mark.parametrize("answer", [{"message": "Unauthorized"}, b"<html>Unauthorized</html>"])
def test_what_the_gateway_says_by_itself_becomes_one_too(server: FakeApi, api: ApiClient, answer: object) -> None:
    server.reply = lambda *_: (401, answer)
    with pytest.raises(ApiError, match="Unauthorized") as refused:
        api.healthz()
    assert (refused.value.status, refused.value.code) == (401, "http_401")


def test_a_question_carries_the_token_and_only_what_was_given(server: FakeApi, api: ApiClient) -> None:
    api.query("Why?", top_k=3)
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/v1/query")
    assert seen.headers["authorization"] == "Bearer the-token"
    assert json.loads(seen.body) == {"question": "Why?", "top_k": 3}


def test_an_upload_posts_the_form_with_the_file_last_and_no_token_to_s3(
    server: FakeApi, api: ApiClient, tmp_path: Path
) -> None:
    form = {"url": server.url + "/bucket", "fields": {"key": "uploads/demo/a.pdf", "policy": "p"}}
    promise = {"document_id": "d1", "key": "uploads/demo/a.pdf", "status": "PENDING", "upload": form}
    server.reply = lambda _, path: (201, promise) if path.endswith("/documents") else (204, b"")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 content")
    assert api.upload(tmp_path / "a.pdf").document_id == "d1"
    announced, sent = server.seen
    assert json.loads(announced.body) == {"filename": "a.pdf"}
    assert "authorization" not in sent.headers
    assert sent.body.index(b'name="key"') < sent.body.index(b'name="policy"') < sent.body.index(b'name="file"')
    assert b"%PDF-1.7 content" in sent.body


def test_an_upload_that_s3_refuses_says_so(server: FakeApi, api: ApiClient, tmp_path: Path) -> None:
    form = {"url": server.url + "/bucket", "fields": {"key": "k"}}
    promise = {"document_id": "d1", "key": "k", "status": "PENDING", "upload": form}
    server.reply = lambda _, path: (201, promise) if path.endswith("/documents") else (400, S3_SAYS)
    (tmp_path / "a.pdf").write_bytes(b"")
    with pytest.raises(ApiError) as refused:
        api.upload(tmp_path / "a.pdf")
    assert (refused.value.code, refused.value.detail) == ("upload_refused", "Your proposed upload is too small.")


def test_the_listing_is_followed_to_its_end(server: FakeApi, api: ApiClient) -> None:
    pages = {
        "/v1/documents?limit=2": {"documents": [{"document_id": "a"}, {"document_id": "b"}], "next_cursor": "c2"},
        "/v1/documents?limit=2&cursor=c2": {"documents": [{"document_id": "c"}], "next_cursor": ""},
    }
    server.reply = lambda _, path: (200, pages[path])
    assert [d["document_id"] for d in api.documents(limit=2)] == ["a", "b", "c"]


def test_waiting_bears_with_a_document_that_is_not_known_yet(server: FakeApi) -> None:
    answers: list[Reply] = [
        (404, {"code": "not_found"}),
        (200, {"status": "PROCESSING"}),
        (200, {"status": "READY"}),
    ]
    server.reply = lambda *_: answers.pop(0)
    told: list[str] = []
    with ApiClient(server.url, wait=lambda _: None) as api:
        document = api.wait_until_final("d1", on_poll=lambda d: told.append(d["status"]))
    assert document["status"] == "READY"
    assert told == ["PROCESSING", "READY"]


def test_waiting_ends_in_time_and_names_the_last_status(server: FakeApi) -> None:
    now = [0.0]
    server.reply = lambda *_: (200, {"status": "PROCESSING"})

    def wait(seconds: float) -> None:
        now[0] += seconds

    with (
        ApiClient(server.url, clock=lambda: now[0], wait=wait) as api,
        pytest.raises(NotInTime, match="still PROCESSING after 5 s"),
    ):
        api.wait_until_final("d1", timeout_s=5)
