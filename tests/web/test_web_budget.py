"""What the page weighs before it shows something: 150 kB (gzip) of scripts and styles at most, nothing of pdf.js."""

import gzip
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from local.page import BUILT, HASHED
from tests.web.conftest import sign_in

BUDGET_BYTES = 150_000
KINDS = ("script", "stylesheet")


def weighed(page: Page, go: Callable[[], object], shown: Locator) -> dict[str, int]:
    """Return the compressed bytes of each script and style that is loaded until an element is shown, by address."""
    loaded: list[Request] = []
    page.on("request", lambda sent: loaded.append(sent))
    go()
    expect(shown).to_be_visible()
    page.wait_for_load_state("networkidle")
    files = [BUILT / HASHED / each.url.rpartition("/")[2] for each in loaded if each.resource_type in KINDS]
    return {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in files}


@pytest.mark.parametrize("signed_in", [False, True], ids=["start", "chat"])
def test_the_first_view_is_within_the_budget(
    browser: Browser, page_url: str, samples: dict[str, str], signed_in: bool
) -> None:
    assert samples
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    if signed_in:
        page.goto(page_url)
        sign_in(page, "editor")
        sizes = weighed(page, page.reload, page.get_by_role("textbox", name="Your question"))
    else:
        sizes = weighed(page, lambda: page.goto(page_url), page.get_by_role("button", name="Sign in"))
    context.close()
    assert sizes
    assert not [name for name in sizes if name.startswith("pdf")]
    assert sum(sizes.values()) <= BUDGET_BYTES, sizes
