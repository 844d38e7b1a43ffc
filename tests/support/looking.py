"""How a view of the page looks, and what axe finds: screenshots in three widths, light and dark, and accessibility."""

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.template import ROOT

WIDTHS = {1440: 900, 768: 1024, 360: 740}
"""Widths and heights in pixels: a desktop screen, a tablet, a phone."""
SCHEMES = ("light", "dark")
SERIOUS = {"serious", "critical"}


def folder() -> Path:
    """Return where screenshots go: RECTO_SCREENSHOTS, else .recto/screenshots in the checkout."""
    chosen = Path(os.environ.get("RECTO_SCREENSHOTS", ROOT / ".recto" / "screenshots"))
    chosen.mkdir(parents=True, exist_ok=True)
    return chosen


def look(page: Page, name: str) -> None:
    """Write screenshots of the view as it is now, in three widths, light and dark, and check each for accessibility.

    Raises `AssertionError` for a serious finding of axe, or when the view is wider than the screen.
    """
    before = page.viewport_size
    found: list[str] = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            page.screenshot(path=folder() / f"{name}-{width}-{scheme}.png", animations="disabled")
            found += [f"{width} {scheme}: {each}" for each in [*serious_findings(page), *too_wide(page)]]
    page.emulate_media(color_scheme=None)
    if before:
        page.set_viewport_size(before)
    assert found == [], "\n".join(found)


def serious_findings(page: Page) -> list[str]:
    """Return what axe calls serious or critical, with the elements."""
    response = Axe().run(page).response
    return [
        f"{each['id']}: {each['help']} "
        + "; ".join(f"{node['target']} {node['html'][:160]}" for node in each["nodes"][:5])
        for each in response["violations"]
        if each["impact"] in SERIOUS
    ]


def too_wide(page: Page) -> list[str]:
    """Return a line if the view scrolls sideways."""
    sizes = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [f"the view is {sizes[0]} px wide on a screen of {sizes[1]}"] if sizes[0] > sizes[1] else []
