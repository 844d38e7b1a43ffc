"""The page as the laptop serves it: its files, their headers, `/config.json`; and the API's routes as they were."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from local.page import PageSettings, WithPage, content_security_policy

BUCKET = "http://127.0.0.1:4566"


async def everything_else(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"the API: {request.url.path}")


async def signing_in(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"sign-in: {request.url.path}")


def served(files: Path) -> TestClient:
    api = Starlette(routes=[Route("/{path:path}", everything_else, methods=["GET", "POST"])])
    pages = Starlette(routes=[Route("/{path:path}", signing_in, methods=["GET", "POST"])])
    page = WithPage(api, PageSettings(files, [BUCKET], "client-1", "Sign in as ann."), pages)
    return TestClient(page, base_url="http://127.0.0.1:8082")


@pytest.fixture
def http(tmp_path: Path) -> Iterator[TestClient]:
    files = tmp_path / "dist"
    (files / "assets").mkdir(parents=True)
    (files / "index.html").write_text("<!doctype html><title>Recto</title>")
    (files / "assets" / "index-Bx7.js").write_text("export {};")
    (files / "widget.js").write_text("export {};")
    (tmp_path / "secret.txt").write_text("not the page's")
    with served(files) as client:
        yield client


def test_the_page_and_its_files_need_no_token(http: TestClient) -> None:
    page, script = http.get("/"), http.get("/assets/index-Bx7.js")
    assert "<title>Recto</title>" in page.text
    assert page.headers["content-type"].startswith("text/html")
    assert script.headers["content-type"].startswith("text/javascript")


def test_what_has_a_hash_in_its_name_is_kept_and_everything_else_is_asked_again(http: TestClient) -> None:
    assert "immutable" in http.get("/assets/index-Bx7.js").headers["cache-control"]
    for path in ("/", "/config.json", "/widget.js"):
        assert http.get(path).headers["cache-control"] == "no-cache", path


@pytest.mark.parametrize("path", ["/", "/assets/index-Bx7.js"])
def test_the_policy_lets_nothing_inline_run_and_nothing_else_be_reached(http: TestClient, path: str) -> None:
    policy = http.get(path).headers["content-security-policy"]
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    assert policy.startswith("default-src 'none'; ")
    assert f"connect-src 'self' {BUCKET};" in policy
    assert "frame-ancestors 'none'" in policy
    assert content_security_policy([]).count("http") == 0


def test_another_site_may_load_the_widget_and_frame_nothing(http: TestClient) -> None:
    answered = http.get("/widget.js")
    assert answered.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answered.headers["x-frame-options"] == "DENY"


def test_the_page_is_told_where_everything_is_by_the_name_it_was_called(http: TestClient) -> None:
    told = http.get("/config.json", headers={"host": "localhost:8082"}).json()
    assert told["api"] == "http://localhost:8082"
    assert told["sign_in"]["redirect_uri"] == "http://localhost:8082/"
    assert told["sign_in"]["client_id"] == "client-1"
    assert told["hint"] == "Sign in as ann."
    assert {value.split("/", 3)[2] for name, value in told["sign_in"].items() if name.endswith("_url")} == {
        "localhost:8082"
    }


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/documents", f"/faqs/{'x' * 300}", "/a%00b"],
)
def test_what_is_no_file_of_the_page_is_the_apis(http: TestClient, path: str) -> None:
    assert http.get(path).text.startswith("the API: ")


def test_only_the_pages_own_methods_are_the_pages(http: TestClient) -> None:
    assert http.post("/").text == "the API: /"
    assert http.head("/").status_code == 200


def test_sign_in_is_beside_it(http: TestClient) -> None:
    assert http.get("/sign-in").text == "sign-in: /sign-in"
    assert http.post("/sign-in/token").text == "sign-in: /sign-in/token"
    assert http.get("/sign-in-as").text == "the API: /sign-in-as"


def test_without_a_build_it_says_how_to_get_one_and_the_api_works(tmp_path: Path) -> None:
    with served(tmp_path / "dist") as client:
        answered = client.get("/")
        assert (answered.status_code, "make web" in answered.text) == (503, True)
        assert client.get("/documents").text == "the API: /documents"
