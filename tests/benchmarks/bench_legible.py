"""How well text of no language is told: false alarms on real pages, and pages with exchanged letters that are found.

    python -m tests.benchmarks.bench_legible [PDF ...]

Without files, those under $RECTO_DATASETS. The text of every page is judged as it is. Of every tenth page with 60 words
or more the letters are exchanged for each other by lot, as in a font without a table of its letters: on all of its
lines, on the first half and on the first 30 % of them; they are moved by three in the alphabet; and they are written in
Cyrillic whose CP1251 is read as Latin-1. Found is a page that counts as garbled. Exits with 1 if a page is in doubt
as it is or fewer than 90 % are found of those that are garbled as a whole.
"""

import argparse
import os
import string
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdfium2

from functions.ingest.parsing.legible import illegible_share
from functions.ingest.parsing.report import GARBLED_SHARE
from tests.support.made_pages import exchanged

EVERY = 10
FEWEST_WORDS = 60
FOUND = 0.9
_SMALL = string.ascii_lowercase
_CYRILLIC = str.maketrans("abvgdeziyklmnoprstufhc", "абвгдезийклмнопрстуфхц")


def partly_exchanged(text: str, share: float) -> str:
    """Exchange the letters of a share of the lines, the first ones, for each other; the same for the same text."""
    lines = text.split("\n")
    some = int(share * len(lines))
    return "\n".join([*(exchanged(line, text) for line in lines[:some]), *lines[some:]])


def shifted(text: str) -> str:
    """Move each letter by three in the alphabet."""
    return text.lower().translate(str.maketrans(_SMALL, _SMALL[3:] + _SMALL[:3]))


def shown_as_latin(text: str) -> str:
    """Write a text in Cyrillic letters, and read their bytes as Latin-1."""
    return text.lower().translate(_CYRILLIC).encode("cp1251", "ignore").decode("latin-1")


GARBLED: dict[str, Callable[[str], str]] = {
    "exchanged": lambda text: exchanged(text, text),
    "shifted": shifted,
    "CP1251 as Latin-1": shown_as_latin,
    "half exchanged": lambda text: partly_exchanged(text, 0.5),
    "30 % exchanged": lambda text: partly_exchanged(text, 0.3),
}
WHOLE = ("exchanged", "shifted", "CP1251 as Latin-1")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the text of each page that has any; nothing of what pdfium cannot open."""
    try:
        pdf = pypdfium2.PdfDocument(path)
    except (pypdfium2.PdfiumError, OSError):
        return
    for number in range(1, len(pdf) + 1):
        try:
            text = pdf[number - 1].get_textpage().get_text_range().replace("\r", "")
        except pypdfium2.PdfiumError:
            continue
        if text:
            yield number, text
    pdf.close()


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    root = Path(os.environ.get("RECTO_DATASETS", "."))
    files = parser.parse_args().files or sorted(root.rglob("*.pdf"))
    pages = made = in_doubt = 0
    seconds = 0.0
    found: Counter[str] = Counter()
    for path in files:
        for number, text in texts(path):
            started = time.process_time()
            share = illegible_share(text)
            seconds += time.process_time() - started
            pages += 1
            if share:
                in_doubt += 1
                sys.stdout.write(f"{share:.0%} in doubt: {path.name}, page {number}: {' '.join(text.split())[:60]}\n")
            elif pages % EVERY == 0 and len(text.split()) >= FEWEST_WORDS:
                made += 1
                found.update(name for name, garble in GARBLED.items() if illegible_share(garble(text)) >= GARBLED_SHARE)
    sys.stdout.write(
        f"{pages} pages of {len(files)} files: {in_doubt} in doubt; {1e3 * seconds / max(1, pages):.2f} ms a page\n"
    )
    for name in GARBLED:
        sys.stdout.write(f"{name}: {found[name]} of {made} found\n")
    return int(in_doubt > 0 or any(found[name] < FOUND * made for name in WHOLE))


if __name__ == "__main__":
    sys.exit(main())
