"""How well pages are read: words kept, and faults that can be counted, on some pages of each PDF.

    python -m tests.benchmarks.bench_reading [--pages N] [PDF ...]

Without files, those under $RECTO_DATASETS. A word counts as kept if the page's text, or a running line that was left
out, has it as often as both pypdf's text and pdfium's plain text have; words are runs of letters and digits, whole ones
only where a hyphen ends a line. Faults are counted in pages that have one: a bare page number at the page's begin or
end, two bullets in one paragraph, a bullet alone in a table's cell, an accent apart from its letter. Exits with 1 if
fewer than 98.5 % of the words are kept.
"""

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pypdf
import pypdfium2

from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from shared.errors import DocumentRejected
from shared.models import Page
from shared.text import SEPARATOR

KEPT = 0.985
_WORD = re.compile(r"[^\W_]+")
_CUT = re.compile(r"[-\u00ad\u2010\ufffe\x02]\s*\n\s*|[\ufffe\x02]")
_LEFT_OUT = re.compile(r"running lines left out: (.*)")
_NUMBER = re.compile(r"[-–—\s]*(?:page\s*)?\d{1,4}[-–—\s]*", re.IGNORECASE)
_BULLETS = "•▪●■➢✓"
_ACCENT = re.compile(r"[¨´ˆ˜¯˘˙˚¸ˇ]")


def words(text: str) -> Counter[str]:
    """Count the words of a text, those apart that a hyphen at a line's end joins."""
    return Counter(_WORD.findall(_CUT.sub("", text).lower()))


def blocks(page: Page, kind: str) -> Iterator[str]:
    """Yield the texts of a page's blocks of one kind."""
    return (page.text[block.char_start : block.char_end] for block in page.blocks if block.kind == kind)


def faults(page: Page) -> Iterator[str]:
    """Yield the kinds of faults that a page has."""
    texts = [page.text[block.char_start : block.char_end] for block in page.blocks]
    if any(_NUMBER.fullmatch(text) for text in texts[:1] + texts[1:][-1:]):
        yield "page number"
    prose = [text for kind in ("paragraph", "list_item") for text in blocks(page, kind)]
    if any(text.count(bullet) >= 2 for text in prose for bullet in _BULLETS):
        yield "bullets in one paragraph"
    cells = (cell for text in blocks(page, "table") for row in text.split("\n") for cell in row.split(SEPARATOR))
    if any(cell.strip() in set(_BULLETS) for cell in cells):
        yield "bullet as a cell"
    if _ACCENT.search(page.text):
        yield "accent apart"


def measure(path: Path, wanted: int) -> tuple[Counter[str], int, int]:
    """Return a file's faults (and pages looked at), the words that both other engines find, and those kept."""
    found: Counter[str] = Counter()
    agreed = kept = 0
    try:
        with open_pdf(path, file_name=path.name, limits=Limits(wall_s=300)) as parsed:
            step = max(1, parsed.page_count // wanted)
            pages = {page.number: page for page in parsed.pages() if page.number % step == step // 2}
            reports = {report.number: report for report in parsed.reports}
    except DocumentRejected:
        return found, 0, 0
    other, plain = pypdf.PdfReader(path), pypdfium2.PdfDocument(path)
    for number, page in pages.items():
        found.update(["pages", *faults(page)])
        left_out = _LEFT_OUT.search(reports[number].detail)
        ours = words(f"{page.text} {left_out[1] if left_out else ''}")
        try:
            both = words(other.pages[number - 1].extract_text()) & words(
                plain[number - 1].get_textpage().get_text_range()
            )
        except Exception as error:
            sys.stdout.write(f"  page {number}: {type(error).__name__}\n")
            continue
        agreed += both.total()
        kept += (both & ours).total()
    return found, agreed, kept


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=10, help="pages of each file, evenly spread")
    options = parser.parse_args(arguments)
    files: list[Path] = options.files or sorted(Path(os.environ.get("RECTO_DATASETS", ".")).rglob("*.pdf"))
    found: Counter[str] = Counter()
    agreed = kept = 0
    for path in files:
        here, both, ours = measure(path, options.pages)
        found, agreed, kept = found + here, agreed + both, kept + ours
        kinds = ", ".join(f"{count} {kind}" for kind, count in here.items())
        sys.stdout.write(f"{path.name}: {kinds}; {ours} of {both} words\n")
        sys.stdout.flush()
    pages = found.pop("pages", 0)
    for kind, count in found.most_common():
        sys.stdout.write(f"{kind}: {count} of {pages} pages, {count / max(1, pages):.1%}\n")
    sys.stdout.write(f"words kept: {kept} of {agreed}, {kept / max(1, agreed):.2%}\n")
    return 0 if kept >= KEPT * agreed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
