"""The reference page on the laptop: every route, self-contained, without a token."""

import re
from typing import Literal

from starlette.applications import Starlette
from starlette.testclient import TestClient

from functions.query.api.openapi import DocumentedApi, operations_of
from functions.query.api.schemas import HealthOut
from functions.query.app import app
from local.reference import PATH, WithReference, page

FETCHED = re.compile(r"<script|<link|<img|\bsrc=|@import|url\(")


def test_the_page_shows_every_operation_and_fetches_nothing() -> None:
    with TestClient(WithReference(Starlette(), app), base_url="http://127.0.0.1:8082") as client:
        answer = client.get(PATH)
        assert client.get("/documents").status_code == 404, "asked of the application behind it"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert FETCHED.findall(answer.text) == []
    for path, method, operation in operations_of(app.openapi()):
        article = answer.text.split(f"<article id='{operation['operationId']}'>")[1].split("</article>")[0]
        assert f"<code>{path}</code>" in article
        assert f"http://127.0.0.1:8082{path}" in article
        assert method == "get" or f"-X {method.upper()}" in article
        for status in operation["responses"]:
            assert f"<tr><td>{status}<td>" in article


def test_what_the_document_says_is_escaped() -> None:
    api = DocumentedApi(title="Recto <script>", version="1")

    @api.get("/healthz", tags=["service"], operation_id="check")
    def check(limit: Literal["<i>"] = "<i>") -> HealthOut:
        """Say <b>whether</b> it is up."""
        raise NotImplementedError

    text = page(api, "http://127.0.0.1")
    assert "Say &lt;b&gt;whether&lt;/b&gt; it is up." in text
    assert "<script" not in text
    assert "<i>" not in text
