"""The title of a document: from its metadata if that is sane, else its first heading, else its file name."""

import re
from pathlib import PurePosixPath

from functions.ingest.parsing.text import doubt, plain

MAX_TITLE = 200
_NO_TITLE = re.compile(
    r"(?:untitled|unknown|no title|title|document|documento|dokument|presentation|powerpoint presentation|slide|book|"
    r"form [\w-]{1,6}|pdf|scan|test|none|null|index|default|draft)\W*\d*",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"^(?:microsoft (?:word|excel|powerpoint|publisher)|adobe \w+|wordpad|print)\s*-\s*", re.IGNORECASE
)
_FILE = re.compile(
    r"\.(?:pdf|docx?|odt|rtf|tex|dvi|ps|indd|pptx?|xlsx?|html?|txt|qxd|fm|pub|cdr|ai|wpd|pages|eps|xml)$", re.IGNORECASE
)
_CODE = re.compile(r"[\W\d_]*|[A-Za-z0-9_.-]*\d[A-Za-z0-9_.-]*")


def sane_title(title: str) -> str:
    """Return the title cleaned, or "" when it is none: a placeholder, a file name, a number, a program's name."""
    title = " ".join(plain(title).split())
    title = _PROGRAM.sub("", title)
    if _NO_TITLE.fullmatch(title) or _FILE.search(title) or _CODE.fullmatch(title):
        return ""
    letters = sum(character.isalpha() for character in title)
    if (
        letters < 3
        or letters < 0.4 * len(title)
        or doubt(title) > 0.1
        or "\\" in title
        or title.startswith(("http", "/"))
    ):
        return ""
    return title[:MAX_TITLE]


def title_from_file_name(file_name: str) -> str:
    """Make a title of a file name: no folder, no extension, words apart."""
    stem = PurePosixPath(file_name.replace("\\", "/")).name
    stem = _FILE.sub("", stem)
    return " ".join(plain(re.sub(r"[_+]+", " ", stem)).split())[:MAX_TITLE] or "Untitled"
