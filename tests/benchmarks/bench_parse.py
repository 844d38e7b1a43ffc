"""How fast PDFs become chunks with embeddings: throughput, CPU time and peak memory, beside peers.

    python -m tests.benchmarks.bench_parse [--peers] [PDF ...]

Without files, those under $RECTO_DATASETS; without that, a made one of 600 pages. `--peers` runs LangChain's
PyPDFLoader and LlamaIndex's PDFReader, each with its own splitter, and MuPDF's plain text extraction on the same files
(the environment of the groups `evals` and `research`). The embedder is a stub, the same for all. Each system runs in a
process of its own, which has read a small PDF before, so that no import counts, nor the start of the parser's fork
server (its children's CPU time does); memory is that process and its children together. Exits with 1 if, over all
files, the whole line has not five times the throughput of each peer; if on any file it is not three times as fast as
LangChain; or if over all files parsing takes more than six times MuPDF's CPU time. On the made file it must only be as
fast as the peers: its text is in whole lines of one font, their best case.
"""

import argparse
import compileall
import contextlib
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import batched
from pathlib import Path
from typing import Self

import psutil

from evals.systems.peers import give_nltk_its_data
from functions.ingest.chunking import tokens
from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.report import status_of, status_of_rejection
from shared import language
from shared.errors import DocumentRejected
from tests.support.pdfs import document, lines

SIZE_TOKENS, OVERLAP_TOKENS = 512, 50
BATCH = 100
FASTER, FASTER_EACH = 5.0, 3.0
"""Times the throughput of each peer that is wanted over all files that are given, and of LangChain on each of them."""
AS_FAST = 1.0
CPU_OF_MUPDF = 6.0
"""Times the CPU time of MuPDF's text extraction that parsing may take."""
ENOUGH_S, MOST_RUNS = 1.0, 20
"""A file that takes less is run again, so often at most, and the mean counts."""
OURS = ("parse", "recto")
PEERS = ("langchain", "llama-index")
MUPDF = "mupdf"


def made(folder: Path, pages: int = 600) -> Path:
    """Write a long document of plain prose."""
    row = "the committee met in the spring of that year and agreed that the measures had been"
    path = folder / "made.pdf"
    path.write_bytes(document([lines(*[f"{i} {row}" for i in range(50)], leading=13) for _ in range(pages)]))
    return path


def stub_embedder(texts: Iterable[str]) -> int:
    """Embed in batches, keeping nothing: 1,536 bytes of hash a text. Returns how many texts there were."""
    count = 0
    for batch in batched(texts, BATCH, strict=False):
        vectors = [hashlib.shake_128(text.encode("utf-8", "replace")).digest(1536) for text in batch]
        count += len(vectors)
    return count


def parse(path: Path) -> tuple[int, int, str]:
    """Parse only; return pages, characters and status."""
    pages = characters = 0
    try:
        with open_pdf(path, file_name=path.name, limits=Limits()) as parsed:
            for page in parsed.pages():
                pages += 1
                characters += len(page.text)
            status, _ = status_of(parsed.reports, parsed.page_count, parsed.problems)
    except DocumentRejected as rejected:
        status, _ = status_of_rejection(rejected)
    return pages, characters, str(status)


def recto(path: Path) -> tuple[int, int, str]:
    """Parse, chunk and embed, page by page; return pages, chunks and status."""
    chunks = 0
    options = ChunkSettings(SIZE_TOKENS, OVERLAP_TOKENS)
    try:
        with open_pdf(path, file_name=path.name, limits=Limits()) as parsed:
            cut = chunk_pages(parsed.pages(), title=parsed.title, settings=options)
            chunks = stub_embedder(chunk.embedded_text for chunk in cut)
            status, _ = status_of(parsed.reports, parsed.page_count, parsed.problems)
            return len(parsed.reports), chunks, str(status)
    except DocumentRejected as rejected:
        status, _ = status_of_rejection(rejected)
    return 0, chunks, str(status)


def langchain(path: Path) -> tuple[int, int, str]:
    """Load with PyPDFLoader, split with RecursiveCharacterTextSplitter, embed."""
    from langchain_community.document_loaders import PyPDFLoader
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    encode = tokens.encoding().encode_ordinary
    pages = PyPDFLoader(str(path)).load()
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=SIZE_TOKENS, chunk_overlap=OVERLAP_TOKENS, length_function=lambda text: len(encode(text))
    )
    chunks = stub_embedder(part.page_content for part in splitter.split_documents(pages))
    return len(pages), chunks, ""


def llama_index(path: Path) -> tuple[int, int, str]:
    """Load with PDFReader, split with SentenceSplitter, embed."""
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.readers.file import PDFReader

    encode = tokens.encoding().encode_ordinary
    pages = PDFReader().load_data(path)
    splitter = SentenceSplitter(chunk_size=SIZE_TOKENS, chunk_overlap=OVERLAP_TOKENS, tokenizer=encode)
    nodes: Iterator[str] = (node.get_content() for node in splitter.get_nodes_from_documents(pages))
    return len(pages), stub_embedder(nodes), ""


def mupdf(path: Path) -> tuple[int, int, str]:
    """Extract the plain text of each page with MuPDF: no layout, no chunks."""
    import pymupdf

    with pymupdf.open(path) as opened:
        return len(opened), sum(len(page.get_text()) for page in opened), ""


SYSTEMS = {"parse": parse, "recto": recto, "langchain": langchain, "llama-index": llama_index, MUPDF: mupdf}


class Memory:
    """Resident memory of this process and all its children together, looked at every 20 ms; `peak_mb` is the most.

    What children share counts for each of them. `cpu_s` is what looking has cost: a tenth of a core.
    """

    def __init__(self) -> None:
        self.peak_mb = 0
        self.cpu_s = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            me = psutil.Process()
            used = me.memory_info().rss
            for child in me.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    used += child.memory_info().rss
            self.peak_mb = max(self.peak_mb, used >> 20)
            self.cpu_s = time.thread_time()


def cpu_s() -> float:
    """CPU seconds of this process and its children so far, those that still run and their children included."""
    usages = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    running = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    # Those that still run are told in hundredths of a second, with the children that they have waited for.
    counted = [sum((each.user, each.system, each.children_user, each.children_system)) for each in running]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + sum(counted)


def measure(system: str, path: Path, folder: Path) -> dict[str, object]:
    """Run one system on one file in this process, after a small one made in `folder`: no import counts."""
    if system == "llama-index":
        give_nltk_its_data(folder)
    SYSTEMS[system](made(folder, pages=2))
    with Memory() as memory:
        started, used, runs = time.perf_counter(), cpu_s(), 0
        while not runs or (runs < MOST_RUNS and time.perf_counter() - started < ENOUGH_S):
            language._language_of.cache_clear()  # of each new document it must be found
            pages, pieces, status = SYSTEMS[system](path)
            runs += 1
        seconds, used = (time.perf_counter() - started) / runs, (cpu_s() - used - memory.cpu_s) / runs
    return {
        "pages": pages, "pieces": pieces, "status": status, "seconds": seconds, "cpu_s": used, "mb": memory.peak_mb
    }  # fmt: skip


def apart(system: str, path: Path) -> dict[str, float]:
    """Measure in a process of its own and print a line; {} if it failed (a peer may not read every file)."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_parse", "--one", system, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or "killed").splitlines()[-1]
        sys.stdout.write(f"  {system:12} failed: {reason[:160]}\n")
        return {}
    got: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    rate, per_cpu = got["pages"] / got["seconds"], got["pages"] / max(0.001, got["cpu_s"])
    what = "chunks" if system in {"recto", *PEERS} else "characters"
    sys.stdout.write(
        f"  {system:12} {got['pages']:5} pages {got['pieces']:9} {what:10} {got['seconds']:7.2f} s {rate:6.0f} pages/s "
        f"{per_cpu:6.0f} pages/CPU-s {got['mb']:5} MB {got['status']}\n"
    )
    sys.stdout.flush()
    return got


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--one", choices=SYSTEMS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(json.dumps(measure(options.one, options.files[0], Path(folder))) + "\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        files: list[Path] = options.files
        if not files and (datasets := os.environ.get("RECTO_DATASETS")):
            files = sorted(Path(datasets).rglob("*.pdf"))
        for room in ("functions", "shared"):  # as in the package that is deployed
            compileall.compile_dir(room, quiet=1)
        results: list[dict[str, dict[str, float]]] = []
        for path in files or [made(Path(folder))]:
            sys.stdout.write(f"{path.name}\n")
            systems = (*OURS, *((*PEERS, MUPDF) if options.peers else ()))
            results.append({system: got for system in systems if (got := apart(system, path))})
            sys.stdout.write("".join(f"  {text}\n" for text in ratios(results[-1:])))
    sys.stdout.write(f"in all, {len(results)} files\n" + "".join(f"  {text}\n" for text in ratios(results)))
    if options.peers and (missing := [name for name in (*PEERS, MUPDF) if not any(name in each for each in results)]):
        sys.stdout.write(f"could not be run: {', '.join(missing)}; `make bench` installs them\n")
        return 1
    return 0 if not options.peers or fast_enough(results, as_fast=not files) else 1


def times(results: list[dict[str, dict[str, float]]], system: str, other: str, of: str) -> float:
    """Tell how many times `other`'s seconds `system` needs for the files that both could read; 0 if there are none."""
    both = [(each[system][of], each[other][of]) for each in results if system in each and other in each]
    return sum(ours for ours, _ in both) / sum(theirs for _, theirs in both) if both else 0.0


def ratios(results: list[dict[str, dict[str, float]]]) -> Iterator[str]:
    """Say how Recto compares with each peer, and parsing with MuPDF."""
    for peer in PEERS:
        if slower := times(results, "recto", peer, "seconds"):
            cpu = times(results, "recto", peer, "cpu_s")
            yield f"recto is {1 / slower:.1f} times as fast as {peer}, and takes {cpu:.2f} of its CPU time"
    if more := times(results, "parse", MUPDF, "cpu_s"):
        yield f"parsing takes {more:.1f} times MuPDF's CPU time"


def fast_enough(results: list[dict[str, dict[str, float]]], *, as_fast: bool) -> bool:
    """Compare with what is wanted; on the made file (`as_fast`) only with the peers' own throughput."""
    wanted = AS_FAST if as_fast else FASTER
    enough = all(times(results, "recto", peer, "seconds") * wanted <= 1 for peer in PEERS)
    if as_fast or not enough:
        return enough
    each = all(times([one], "recto", "langchain", "seconds") * FASTER_EACH <= 1 for one in results)
    return each and times(results, "parse", MUPDF, "cpu_s") <= CPU_OF_MUPDF


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
