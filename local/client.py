"""The one API client: the demo, the command line and the end-to-end tests use it.

It uses Recto's HTTP API and nothing else, so it works with a deployed stack as well as with the laptop's.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from shared.models import OCR_PENDING

FINAL_STATUSES = frozenset({"READY", "PARTIAL", "NEEDS_OCR", "ENCRYPTED", "FAILED", "DELETED"})
"""The statuses a document keeps until its object changes."""

Json = dict[str, Any]


class ApiError(Exception):
    """The API refused or failed; the fields are those of its problem details (RFC 9457)."""

    def __init__(self, status: int, code: str, detail: str, request_id: str = "", title: str = "") -> None:
        super().__init__(f"{status} {code}: {detail or title}" + (f" (request {request_id})" if request_id else ""))
        self.status = status
        self.code = code
        self.detail = detail
        self.title = title
        self.request_id = request_id

    @classmethod
    def from_response(cls, response: httpx.Response) -> Self:
        """Read problem details, or API Gateway's own `{"message": …}` (401, 403, 502, 504)."""
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            body = {"detail": response.text[:500]}
        return cls(
            status=response.status_code,
            code=str(body.get("code") or f"http_{response.status_code}"),
            detail=str(body.get("detail") or body.get("message") or body.get("Message") or ""),
            request_id=str(body.get("request_id") or response.headers.get("x-amzn-requestid") or ""),
            title=str(body.get("title") or response.reason_phrase),
        )


class NotInTime(Exception):
    """A document did not reach a final status in the time given."""


@dataclass(frozen=True, slots=True)
class Upload:
    """An announced upload: the document's id and key, and the form to post the file with."""

    document_id: str
    key: str
    url: str
    fields: Mapping[str, str]


class ApiClient:
    """Calls each route; raises `ApiError` for every answer that is not 2xx.

    `base_url` includes the stage. `timeout_s` is for one call; API Gateway itself gives up after 29 s. `renew` returns
    a fresh token when one is refused, because an ID token lives for an hour.
    """

    def __init__(
        self,
        base_url: str,
        token: str = "",
        timeout_s: float = 30.0,
        *,
        renew: Callable[[], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        # trust_env off: requests to 127.0.0.1 must not go through a proxy that is set for the internet.
        on_this_machine = urlsplit(base_url).hostname in {"127.0.0.1", "localhost", "::1"}
        self._session = httpx.Client(timeout=timeout_s, trust_env=not on_this_machine)
        self._token = token
        self._renew = renew
        self._clock = clock
        self._wait = wait

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def request(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """Send one request and return the response whatever its status; for tests of statuses and headers."""
        given = kwargs.pop("headers", {})
        response = self._session.request(method, self.base_url + path, headers=self._authorized(given), **kwargs)
        if response.status_code == HTTPStatus.UNAUTHORIZED and self._renewed():
            response = self._session.request(method, self.base_url + path, headers=self._authorized(given), **kwargs)
        return response

    def _authorized(self, headers: Mapping[str, str]) -> dict[str, str]:
        return ({"Authorization": f"Bearer {self._token}"} if self._token else {}) | dict(headers)

    def _renewed(self) -> bool:
        """Fetch a new token if possible."""
        if self._renew is None:
            return False
        self._token = self._renew()
        return True

    def _json(self, method: str, path: str, **kwargs: Any) -> Json:
        response = self.request(method, path, **kwargs)
        if not response.is_success:
            raise ApiError.from_response(response)
        body: Json = response.json()
        return body

    # --- questions -----------------------------------------------------------------------------------------------

    def query(self, question: str, **optional: object) -> Json:
        """Ask one question; optional are `conversation_id`, `filter`, `top_k` and `language`."""
        return self._json("POST", "/query", json={"question": question, **_given(**optional)})

    def query_stream(self, question: str, **optional: object) -> Iterator[tuple[str, Json]]:
        """Ask one question and yield each event's name and data as it arrives; `done` is the last.

        Raises `ApiError` for an error before the first event, and for an `error` event.
        """
        body = {"question": question, **_given(**optional)}
        with self._stream("/query", body) as response:
            if not response.is_success:
                response.read()
                raise ApiError.from_response(response)
            name = ""
            for line in response.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    data = json.loads(value)
                    if name == "error":
                        raise ApiError(data["status"], data["code"], data["detail"], data["request_id"])
                    yield name, data

    @contextmanager
    def _stream(self, path: str, body: Json) -> Iterator[httpx.Response]:
        """Open a stream of events, a second time with a fresh token if the first was refused."""
        for renews in (True, False):
            headers = self._authorized({"Accept": "text/event-stream"})
            with self._session.stream("POST", self.base_url + path, json=body, headers=headers) as response:
                if renews and response.status_code == HTTPStatus.UNAUTHORIZED and self._renewed():
                    continue
                yield response
                return

    def conversation(self, conversation_id: str, *, limit: int | None = None, cursor: str | None = None) -> Json:
        """Return a conversation's head and one page of its messages, oldest first."""
        return self._json("GET", f"/conversations/{conversation_id}", params=_given(limit=limit, cursor=cursor))

    def receipt(self, message_id: str) -> Json:
        """Return what an answer of this user was made from."""
        return self._json("GET", f"/messages/{message_id}/receipt")

    def replay(self, message_id: str) -> Json:
        """Ask the question of an answer again; return both receipts and what differs."""
        return self._json("POST", f"/messages/{message_id}/replay")

    # --- documents -----------------------------------------------------------------------------------------------

    def announce(self, filename: str) -> Upload:
        """Ask for an upload form for one file; a name that exists replaces that document."""
        answer = self._json("POST", "/documents", json={"filename": filename})
        form = answer["upload"]
        return Upload(answer["document_id"], answer["key"], form["url"], form["fields"])

    def send(self, upload: Upload, content: bytes, filename: str = "document.pdf") -> str:
        """Post the file with its form, straight to S3, and return its ETag.

        Raises `ApiError` (`upload_refused`) with S3's message when S3 refuses the form or the file.
        """
        file = (filename, content, upload.fields.get("Content-Type", "application/pdf"))
        response = self._session.post(upload.url, data=dict(upload.fields), files={"file": file}, timeout=60.0)
        if not response.is_success:
            message = re.search(r"<Message>([^<]+)</Message>", response.text)
            raise ApiError(response.status_code, "upload_refused", message[1] if message else response.text[:500])
        return str(response.headers.get("ETag", "")).strip('"')

    def upload(self, path: Path, filename: str | None = None) -> Upload:
        """Announce a file and send it; returns once S3 has it (then call `wait_until_final`)."""
        promised = self.announce(filename or path.name)
        self.send(promised, path.read_bytes(), path.name)
        return promised

    def document(self, document_id: str) -> Json:
        """Return one document with its extraction report."""
        return self._json("GET", f"/documents/{document_id}")

    def documents_page(self, *, limit: int | None = None, cursor: str | None = None, status: str | None = None) -> Json:
        """Return one page of the listing: `documents` and `next_cursor`."""
        return self._json("GET", "/documents", params=_given(limit=limit, cursor=cursor, status=status))

    def documents(self, *, limit: int | None = None, status: str | None = None) -> Iterator[Json]:
        """Yield every document, page by page."""
        cursor: str | None = None
        while True:
            page = self.documents_page(limit=limit, cursor=cursor, status=status)
            yield from page["documents"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def delete_document(self, document_id: str) -> Json:
        """Delete a document; no answer uses it from now on."""
        return self._json("DELETE", f"/documents/{document_id}")

    def healthz(self) -> Json:
        """Return liveness and versions."""
        return self._json("GET", "/healthz")

    # --- waiting -------------------------------------------------------------------------------------------------

    def wait_until(
        self,
        document_id: str,
        done: Callable[[Json], bool],
        *,
        timeout_s: float = 120.0,
        poll_s: float = 0.4,
        on_poll: Callable[[Json], None] = lambda _: None,
    ) -> Json:
        """Poll a document until `done` is true for it; if it is not known yet (404), wait for it, too.

        Raises `NotInTime` after `timeout_s`, naming the last status seen.
        """
        deadline = self._clock() + timeout_s
        name, seen = f"Document {document_id}", "unknown to the API"
        while True:
            try:
                document = self.document(document_id)
            except ApiError as error:
                if error.status != 404:
                    raise
            else:
                on_poll(document)
                seen = str(document["status"])
                name = str(document.get("key") or document_id).rsplit("/", 1)[-1]
                if done(document):
                    return document
            if self._clock() >= deadline:
                raise NotInTime(f"{name} is still {seen} after {timeout_s:g} s.")
            self._wait(poll_s)

    def wait_until_final(
        self, document_id: str, *, timeout_s: float = 120.0, on_poll: Callable[[Json], None] = lambda _: None
    ) -> Json:
        """Poll until the document has a final status."""
        return self.wait_until(document_id, is_final, timeout_s=timeout_s, on_poll=on_poll)


def is_final(document: Mapping[str, Any]) -> bool:
    """Say whether a document's status is final; it is not while OCR reads its pages."""
    return document["status"] in FINAL_STATUSES and (document.get("error") or {}).get("code") != OCR_PENDING


def _given(**parameters: Any) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}
