"""The README and the pages of docs/ as tests see them: fenced blocks, sections, links."""

import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent

PROJECT = Path(__file__).parents[2]
PAGES = (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")))
_BLOCK = re.compile(
    r"^(?:[ ]*<!-- runs in (?P<test>[\w/.]+) -->\n)?[ ]*```(?P<language>\w+)\n(?P<body>.*?)^[ ]*```$", re.M | re.S
)


def page(name: str) -> str:
    """Return a page's text by its path, for example "docs/api.md"."""
    return (PROJECT / name).read_text(encoding="utf-8")


def blocks(language: str, *, test: str | None = None, pages: Iterable[Path] = PAGES) -> list[str]:
    """Return the fenced blocks of a language; with `test` (a path, or "" for none) those that say they run there."""
    return [
        dedent(found["body"])
        for path in pages
        for found in _BLOCK.finditer(path.read_text(encoding="utf-8"))
        if found["language"] == language and (test is None or (found["test"] or "") == test)
    ]


def commands(block: str) -> list[str]:
    """Return the commands of a shell block: continued lines joined, comments kept."""
    return [line.strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def section(name: str, heading: str) -> str:
    """Return the text of a page from a heading to the next one of its level."""
    level = heading.split(" ", 1)[0]
    body = page(name).split(f"\n{heading}\n", 1)[1]
    return re.split(rf"^{level} ", body, maxsplit=1, flags=re.M)[0]
