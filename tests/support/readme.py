"""The README and the pages of docs/ as tests see them: fenced blocks, sections, links."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGES = (PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md")))
_BLOCK = re.compile(r"^(?P<mark><!-- runs in [^>]*-->\n)?[ ]*```(?P<language>\w+)\n(?P<body>.*?)^[ ]*```$", re.M | re.S)


def page(name: str) -> str:
    """Return a page's text by its path, for example "docs/api.md"."""
    return (PROJECT / name).read_text(encoding="utf-8")


def blocks(language: str, *, running: bool = False) -> list[str]:
    """Return the fenced blocks of a language on all pages; `running` keeps those that the e2e tests run."""
    return [
        found["body"]
        for path in PAGES
        for found in _BLOCK.finditer(path.read_text(encoding="utf-8"))
        if found["language"] == language and (found["mark"] or not running)
    ]


def section(name: str, heading: str) -> str:
    """Return the text of a page from a heading to the next one of its level."""
    level = heading.split(" ", 1)[0]
    body = page(name).split(f"\n{heading}\n", 1)[1]
    return re.split(rf"^{level} ", body, maxsplit=1, flags=re.M)[0]
