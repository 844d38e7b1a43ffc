"""How fast PDFs are parsed, and in how much memory: pages/s, and the peak of parent and child together.

    python -m tests.benchmarks.bench_parse [PDF ...]

Without files, those under $RECTO_DATASETS; without that, a made one of 600 pages.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from functions.ingest.parsing import Limits, open_pdf, status_of, status_of_rejection
from shared.errors import DocumentRejected
from tests.support.pdfs import document, lines


def made(folder: Path) -> Path:
    """Write a long document of plain prose."""
    row = "the committee met in the spring of that year and agreed that the measures had been"
    path = folder / "made.pdf"
    path.write_bytes(document([lines(*[f"{i} {row}" for i in range(50)], leading=13) for _ in range(600)]))
    return path


def measure(path: Path) -> tuple[int, int, float, str]:
    """Parse one file; return pages, characters, seconds and status."""
    started = time.perf_counter()
    pages = characters = 0
    try:
        with open_pdf(path, file_name=path.name, limits=Limits()) as parse:
            for page in parse.pages():
                pages += 1
                characters += len(page.text)
            status, _ = status_of(parse.reports, parse.page_count, parse.problems)
    except DocumentRejected as rejected:
        status, _ = status_of_rejection(rejected)
    return pages, characters, time.perf_counter() - started, str(status)


def peak_mb() -> int:
    """Peak resident memory of this process and of the largest child so far, in MiB."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) >> 10


def main(arguments: list[str]) -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(argument) for argument in arguments]
        if not files and (datasets := os.environ.get("RECTO_DATASETS")):
            files = sorted(Path(datasets).rglob("*.pdf"))
        all_pages, all_seconds, slowest = 0, 0.0, 0.0
        for path in files or [made(Path(folder))]:
            pages, characters, seconds, status = measure(path)
            all_pages, all_seconds, slowest = all_pages + pages, all_seconds + seconds, max(slowest, seconds)
            sys.stdout.write(
                f"{path.name[:44]:44} {pages:5} pages {characters:9} characters {seconds:6.2f} s {status}\n"
            )
        sys.stdout.write(
            f"{all_pages} pages, {all_pages / all_seconds:.0f} pages/s, slowest file {slowest:.2f} s, "
            f"peak {peak_mb()} MB\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
