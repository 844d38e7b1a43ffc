"""The README as tests see it: its fenced blocks, its sections, its tables."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TEXT = (PROJECT / "README.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^(?P<mark><!-- runs in [^>]*-->\n)?[ ]*```(?P<language>\w+)\n(?P<body>.*?)^[ ]*```$", re.M | re.S)


def blocks(language: str, *, running: bool = False) -> list[str]:
    """Return the fenced blocks of a language; `running` keeps those marked as run by the end-to-end tests."""
    return [
        found["body"]
        for found in _BLOCK.finditer(TEXT)
        if found["language"] == language and (found["mark"] or not running)
    ]


def section(heading: str) -> str:
    """Return the text from a heading to the next one of its level."""
    level = heading.split(" ", 1)[0]
    body = TEXT.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"^{level} ", body, maxsplit=1, flags=re.M)[0]
