"""The widget on a site of somebody else's, under a policy that allows no style of its own."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from local.serving import serving
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.looking import look
from tests.web.conftest import Heard, Opened

QUESTION = "How often are the coffee boilers descaled?"
SITE = """<!doctype html><html lang="en"><title>Harbour Café</title><h1>Our machines</h1>
<p>Everything about the machines of the house.</p>
<script src="{page}widget.js" data-api="{api}" data-key="{key}" data-page="{page}" data-title="The manuals"></script>"""


@pytest.fixture(scope="module")
def site(laptop: Laptop, page_url: str, samples: dict[str, str]) -> Iterator[str]:
    """A site on another origin, whose policy lets the widget's script run and reach the API."""
    assert samples
    with laptop.client(users.ADMIN, streaming=True) as admin:
        key = admin.request("POST", "/keys", json={"name": "Harbour Café", "role": "reader"}).json()["key"]
    api = laptop.config.streaming_url
    policy = f"default-src 'none'; script-src {page_url}widget.js; connect-src {api}"

    async def front(request: Request) -> HTMLResponse:
        given = key if request.query_params.get("key") != "wrong" else "rk_wrong"
        html = SITE.format(page=page_url, api=api, key=given)
        return HTMLResponse(html, headers={"content-security-policy": policy})

    with serving(Starlette(routes=[Route("/", front)]), name="site") as url:
        yield url


@pytest.fixture
def visit(open_page: Opened, site: str) -> Opened:
    def visited(query: str = "", **context: object) -> Page:
        page = open_page(None, **context)
        page.goto(f"{site}/{query}")
        page.get_by_role("button", name="Ask the documents").click()
        return page

    return visited


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Your question").fill(question)
    page.keyboard.press("Enter")


@pytest.fixture(autouse=True)
def elsewhere(heard: Heard, site: str) -> None:
    """The site is another origin, and it has no icon."""
    heard.expected.extend([site, "favicon"])


def test_a_visitor_asks_and_reads_the_quote(visit: Opened, page_url: str) -> None:
    page = visit()
    ask(page, QUESTION)
    answer = page.get_by_role("article")
    expect(answer).to_contain_text("every 12 months with citric acid")
    answer.get_by_role("button", name="Source 1").first.click()
    expect(answer.get_by_role("blockquote").first).to_contain_text("The coffee boilers are descaled every 12 months")
    link = answer.get_by_role("link", name=re.compile("^Open page")).first
    expect(link).to_have_attribute("href", re.compile(rf"^{re.escape(page_url)}#/documents/[0-9a-f]+\?page=5$"))
    look(page, "widget")
    answer.locator("summary").first.click()
    expect(answer.get_by_role("blockquote")).to_have_count(0)
    answer.get_by_role("button", name="Source 1").first.click()
    expect(answer.get_by_role("blockquote")).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Ask the documents").click()
    expect(answer).to_contain_text("every 12 months with citric acid")


def test_a_question_without_an_answer_is_refused_in_words(visit: Opened) -> None:
    page = visit()
    ask(page, "Who won the football world cup in 1998?")
    expect(page.get_by_role("article")).to_contain_text("No answer was found in the documents.")


def test_a_key_that_is_not_valid_is_told_in_words(visit: Opened, heard: Heard) -> None:
    heard.expected.append("401")
    page = visit("?key=wrong")
    ask(page, QUESTION)
    expect(page.get_by_role("alert")).to_have_text("This site may not ask at the moment.")


def test_it_closes_by_the_keyboard_and_gives_the_focus_back(visit: Opened) -> None:
    page = visit()
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Ask the documents")).to_be_focused()
