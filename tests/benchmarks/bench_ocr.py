"""How well scans are read: some pages of PDFs that have text, printed and scanned by simulation, then read by OCR.

    python -m tests.benchmarks.bench_ocr [--pages N] [--show] [PDF ...]

Without files, those under $RECTO_DATASETS. Pages are drawn at 200 dpi, turned by half a degree to either side, given
noise and compressed as JPEG; a PDF of these pictures goes through the product's own steps: parsing asks for the pages
that hold no usable text, OCR reads them, parsing takes what was read. A word counts as read if the page's text, or a
running line that was left out, has it as often as both pypdf and pdfium find it in the original; words are runs of
letters and digits. Pages with fewer than 20 such words are passed over. CPU seconds are those of the OCR child.
`--show` prints the words that were lost most often. Exits with 1 if less than 95 % of all words are read.
"""

import argparse
import io
import os
import re
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pypdf
import pypdfium2
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.report import status_of
from functions.ingest.parsing.wire import OCR_ENGINE
from functions.ingest.reading import LIMITS, pages_by
from shared.errors import DocumentRejected
from shared.models import UNREAD_STATES, DocumentStatus
from tests.benchmarks.bench_reading import words

DPI = 200
SKEW_DEGREES = 0.5
NOISE = 8.0
"""Standard deviation of the grey values' noise, of 255."""
JPEG_QUALITY = 75
FEWEST_WORDS = 20
READ = 0.95
_LEFT_OUT = re.compile(r"running lines left out: (.*)")


@dataclass
class Scan:
    """A simulated scan: the words that each of its pages shows, and what came of them."""

    wanted: list[Counter[str]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    cpu_s: float = 0.0
    is_searchable: bool = False

    @property
    def total(self) -> int:
        """How many words its pages show."""
        return sum(page.total() for page in self.wanted)

    @property
    def read(self) -> int:
        """How many of them were read."""
        return self.total - self.lost.total()


def shown(path: Path, wanted: int) -> Iterator[tuple[pypdfium2.PdfPage, Counter[str]]]:
    """Yield pages, evenly spread, with the words that two engines find on them."""
    other, plain = pypdf.PdfReader(path), pypdfium2.PdfDocument(path)
    step = max(1, len(plain) // wanted)
    for index in range(step // 2, len(plain), step):
        text = plain[index].get_textpage().get_text_range()
        try:
            both = words(other.pages[index].extract_text()) & words(text)
        except Exception as error:
            sys.stdout.write(f"  page {index + 1}: {type(error).__name__}\n")
            continue
        if both.total() >= FEWEST_WORDS:
            yield plain[index], both


def scanned(page: pypdfium2.PdfPage, number: int) -> Image.Image:
    """Print a page and scan it, a little askew and with noise."""
    picture = page.render(scale=DPI / 72, may_draw_forms=True).to_pil().convert("RGB")
    askew = SKEW_DEGREES if number % 2 else -SKEW_DEGREES
    turned = picture.rotate(askew, Image.Resampling.BICUBIC, fillcolor="white")
    noise = np.random.default_rng(number).normal(0.0, NOISE, (turned.height, turned.width, 1))
    return Image.fromarray(np.clip(np.asarray(turned) + noise, 0, 255).astype(np.uint8))


def scan_of(path: Path, wanted: int, into: Path) -> Scan:
    """Write a PDF of scanned pages."""
    scan = Scan()
    canvas = Canvas(str(into), invariant=True)
    for page, both in shown(path, wanted):
        scan.wanted.append(both)
        picture = scanned(page, len(scan.wanted))
        size = picture.width * 72 / DPI, picture.height * 72 / DPI
        jpeg = io.BytesIO()
        picture.save(jpeg, "JPEG", quality=JPEG_QUALITY)
        canvas.setPageSize(size)
        canvas.drawImage(ImageReader(jpeg), 0, 0, *size)
        canvas.showPage()
    if scan.wanted:
        canvas.save()
    return scan


def read(path: Path, scan: Scan) -> None:
    """Have a scan read as ingest and the OCR function do it, and note what came of it."""
    with open_pdf(path, file_name="scan.pdf", limits=Limits()) as pdf:
        list(pdf.pages())
        asked = [report.number for report in pdf.reports if report.state in UNREAD_STATES]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {page.number: page for page in pages_by(f"{OCR_ENGINE}:eng", path, asked, LIMITS)}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    scan.asked = len(asked)
    scan.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open_pdf(path, file_name="scan.pdf", limits=Limits(), read_pages=found) as pdf:
        pages = list(pdf.pages())
        status, _error = status_of(pdf.reports, pdf.page_count, pdf.problems)
    scan.is_searchable = status is DocumentStatus.READY
    for page, report, both in zip(pages, pdf.reports, scan.wanted, strict=True):
        left_out = _LEFT_OUT.search(report.detail)
        scan.lost += both - words(f"{page.text} {left_out[1] if left_out else ''}")


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=4, help="pages of each file, evenly spread")
    parser.add_argument("--show", action="store_true", help="print the words that were lost most often")
    options = parser.parse_args(arguments)
    files: list[Path] = options.files or sorted(Path(os.environ.get("RECTO_DATASETS", ".")).rglob("*.pdf"))
    os.environ.setdefault("TESSDATA_PREFIX", str(Path(sys.prefix) / "share/tessdata"))
    scans = []
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            made = Path(folder) / "scan.pdf"
            try:
                scan = scan_of(path, options.pages, made)
            except (pypdf.errors.PyPdfError, pypdfium2.PdfiumError) as error:
                sys.stdout.write(f"{path.name}: {type(error).__name__}\n")
                continue
            if not scan.wanted:
                continue
            try:
                read(made, scan)
            except DocumentRejected as error:
                sys.stdout.write(f"{path.name}: {error}\n")
                return 1
            scans.append(scan)
            share = f"{scan.read} of {scan.total} words, {scan.read / scan.total:.1%}"
            cost = f"{scan.cpu_s / max(1, scan.asked):.1f} CPU-s a page"
            state = "searchable" if scan.is_searchable else "NOT SEARCHABLE"
            sys.stdout.write(f"{path.name}: {len(scan.wanted)} pages, {scan.asked} read, {share}, {cost}, {state}\n")
            if options.show:
                lost = ", ".join(f"{word} {count}" for word, count in scan.lost.most_common(40))
                sys.stdout.write(f"  lost: {lost}\n")
            sys.stdout.flush()
    total, found = sum(scan.total for scan in scans), sum(scan.read for scan in scans)
    pages, cpu_s = sum(scan.asked for scan in scans), sum(scan.cpu_s for scan in scans)
    searchable = sum(scan.is_searchable for scan in scans)
    sys.stdout.write(f"{searchable} of {len(scans)} files searchable; {pages} of ")
    sys.stdout.write(f"{sum(len(scan.wanted) for scan in scans)} pages read, {cpu_s / max(1, pages):.1f} CPU-s each\n")
    sys.stdout.write(f"words read: {found} of {total}, {found / max(1, total):.2%}; of the median file ")
    shares = sorted(scan.read / scan.total for scan in scans)
    sys.stdout.write(f"{shares[len(shares) // 2] if shares else 0:.2%}\n")
    return 0 if found >= READ * total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
