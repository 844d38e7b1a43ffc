"""The page in a real browser: one laptop stack for the whole suite, one Chromium, one signed-in state per role.

`RECTO_WEB_STATE=.recto` runs the suite against the stack that is already up there instead (its documents stay).
A test takes `open_page(role)` and gets a page of a fresh context, signed in. At the end every error that the page has
logged or thrown fails the test, and so does every request to another machine.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from local.page import BUILT
from local.stack import users
from local.stack.laptop import Laptop
from tests.support import browser as chromium
from tests.support import looking
from tests.support.local_stack import handle_of, mark_tests_of_stack, running_stack, upload_samples

ROLES = {"reader": users.READER, "editor": users.DEMO, "agent": users.AGENT, "admin": users.ADMIN}
WIDE = {"width": 1440, "height": 900}
PATIENCE_MS = 20_000
"""What the browser waits for is waited for so long on a busy machine; a test that passes needs none of it."""

type Opened = Callable[..., Page]
"""What `open_page` returns."""
type Look = Callable[[Page, str], None]
"""What `look` returns."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test waits for build and deploy."""
    mark_tests_of_stack(items, Path(__file__).parent)


@pytest.fixture(scope="session")
def state() -> Iterator[Path]:
    """The state folder of a stack that is up."""
    assert (BUILT / "index.html").exists(), "The page is not built: run `make web`."
    with running_stack("web") as folder:
        yield folder


@pytest.fixture(scope="session")
def laptop(state: Path) -> Laptop:
    """The stack's handle: addresses, tokens, AWS clients."""
    return handle_of(state)


@pytest.fixture(scope="session")
def page_url(laptop: Laptop) -> str:
    """The page's address, with a slash at its end."""
    return laptop.config.page_urls[0]


@pytest.fixture(scope="session")
def samples(laptop: Laptop) -> dict[str, str]:
    """The sample PDFs, uploaded and READY: file name to document id."""
    with laptop.client(users.DEMO, streaming=True) as client:
        return upload_samples(client)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        running = chromium.launch(playwright)
        yield running
        running.close()


@pytest.fixture(scope="session")
def signed_in(browser: Browser, page_url: str) -> Callable[[str], str]:
    """Sign a role's user in by the page, once in the session; return what the tab has stored then, as JSON."""
    stored: dict[str, str] = {}

    def of(role: str) -> str:
        if role not in stored:
            context = browser.new_context(locale="en-GB")
            page = context.new_page()
            page.goto(page_url)
            sign_in(page, role)
            stored[role] = page.evaluate("() => JSON.stringify({ ...sessionStorage })")
            context.close()
        return stored[role]

    return of


def sign_in(page: Page, role: str) -> None:
    """Go from the page's start to its first view, as a role's user of the laptop."""
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=ROLES[role].name).click()
    expect(page.get_by_role("navigation").first).to_be_visible()


def close_message(page: Page, text: str) -> None:
    """Close the message with this text; one that has gone by itself meanwhile (after six seconds) needs it no more."""
    message = page.get_by_role("status").get_by_text(text).locator("..")
    message.get_by_role("button", name="Close").evaluate_all("(found) => found.forEach((button) => button.click())")


@dataclass
class Heard:
    """What a test's pages complained of; `expected` are pieces of what the test provokes itself."""

    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def listen(self, page: Page, own: tuple[str, ...]) -> None:
        """Note errors of the page's scripts and console, and requests to other machines."""
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", lambda said: said.type == "error" and self.complaints.append(f"console: {said.text}"))
        page.on(
            "request",
            lambda sent: (
                sent.url.startswith(("http:", "https:", "ws"))
                and not sent.url.startswith(own)
                and self.complaints.append(f"request: {sent.url}")
            ),
        )

    def unexpected(self) -> list[str]:
        """Return what the test did not announce."""
        return [each for each in self.complaints if not any(part in each for part in self.expected)]


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What the pages of the test complain of; append to `expected` what the test provokes."""
    found = Heard()
    yield found
    assert found.unexpected() == []


@pytest.fixture
def open_page(
    browser: Browser, laptop: Laptop, page_url: str, signed_in: Callable[[str], str], heard: Heard
) -> Iterator[Opened]:
    """Return a function that opens the page: `open_page("editor", "#/documents", width=360, color_scheme="dark")`.

    Without a role nobody is signed in. More arguments are those of Playwright's `new_context`.
    """
    contexts: list[BrowserContext] = []

    def opened(
        role: str | None = "editor", address: str = "", *, width: int = 1440, height: int = 900, **more: Any
    ) -> Page:
        size = {"width": width, "height": height}
        context = browser.new_context(**{"viewport": size, "locale": "en-GB", **more})
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        if role:
            # Only if the tab has nothing of its own yet: a reload must find what the page has stored itself.
            context.add_init_script(f"if (!sessionStorage.length) Object.assign(sessionStorage, {signed_in(role)})")
        page = context.new_page()
        heard.listen(page, (page_url, laptop.config.aws_url))
        page.goto(page_url + address)
        if role:
            expect(page.get_by_role("navigation").first).to_be_visible()
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def look() -> Look:
    """Return `look(page, name)`: it writes screenshots of a view in three widths, light and dark, and runs axe."""
    return looking.look
