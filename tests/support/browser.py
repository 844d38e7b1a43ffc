"""The browser of tests/web: Chromium, as found here; `python -m tests.support.browser` fetches one if need be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Playwright

from tests.support.template import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DOWNLOADED = ROOT / ".tools" / "browsers"
"""Where Playwright puts the browser that it downloads, if there is no other."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find() -> Path | None:
    """Return Chromium: the one that RECTO_CHROMIUM names, this machine's, or the downloaded one; None without any."""
    if named := os.environ.get("RECTO_CHROMIUM"):
        return Path(named)
    if installed := next(filter(None, map(shutil.which, NAMES)), None):
        return Path(installed)
    return next(iter(sorted(DOWNLOADED.glob("chromium*/chrome-*/*chrome*"))), None)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium without a window."""
    return playwright.chromium.launch(executable_path=find(), args=FLAGS)


def main() -> int:
    """Make sure that there is a browser."""
    if find() is not None:
        return 0
    sys.stderr.write(f"No Chromium was found: Playwright downloads its own into {DOWNLOADED} …\n")
    fetched = subprocess.run(
        [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"],
        env={**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADED)},
        check=False,
    )
    if fetched.returncode != 0:
        sys.stderr.write("That failed: install Chromium (Debian: chromium), or name one with RECTO_CHROMIUM.\n")
    return fetched.returncode


if __name__ == "__main__":
    sys.exit(main())
