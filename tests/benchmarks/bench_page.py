"""How soon the page shows something, on a freshly deployed laptop stack, with an empty cache each time.

`RECTO_WEB_STATE=.recto` measures the stack that is already up there instead. The sizes are a test (test_web_budget.py).
"""

import os
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from rich.console import Console

from local.page import BUILT
from local.report import Reporter
from local.stack.config import PORTS, LocalConfig
from local.stack.laptop import Laptop
from tests.support import browser
from tests.support.local_stack import UP_LIMIT_S, free_ports

VISITS = 9
FIRST_PAINT_LIMIT_MS = 1_000
PAINTED = """() => new Promise((told) => new PerformanceObserver((list, observer) => {
  for (const { name, startTime } of list.getEntries()) {
    if (name === "first-contentful-paint") { observer.disconnect(); told(startTime); }
  }
}).observe({ type: "paint", buffered: true }))"""


@pytest.fixture(scope="module")
def page_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert (BUILT / "index.html").exists(), "The page is not built: run `make web`."
    if running := os.environ.get("RECTO_WEB_STATE"):
        yield LocalConfig.load(Path(running).resolve(), {}).page_urls[0]
        return
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    stack = Laptop(LocalConfig(state=tmp_path_factory.mktemp("stack"), **ports), Reporter(Console(quiet=True)))  # type: ignore[arg-type]
    stack.up()
    try:
        yield stack.config.page_urls[0]
    finally:
        stack.down()


@pytest.mark.timeout(UP_LIMIT_S + 120)
def test_first_paint(page_url: str) -> None:
    paints = []
    with sync_playwright() as playwright:
        running = browser.launch(playwright)
        for _ in range(VISITS + 1):
            context = running.new_context()
            page = context.new_page()
            page.goto(page_url)
            paints.append(page.evaluate(PAINTED))
            context.close()
        running.close()
    measured = paints[1:]  # the first starts the browser's processes
    median = statistics.median(measured)
    told = f"first contentful paint: median {median:.0f} ms, most {max(measured):.0f} ms, of {VISITS} visits"
    sys.stdout.write(f"\n{told}\n")
    assert median <= FIRST_PAINT_LIMIT_MS
