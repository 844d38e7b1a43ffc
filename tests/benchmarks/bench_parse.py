"""How fast PDFs become chunks with embeddings: pages/s and peak memory of parsing and of the whole line, with peers.

    python -m tests.benchmarks.bench_parse [--peers] [PDF ...]

Without files, those under $RECTO_DATASETS; without that, a made one of 600 pages. `--peers` runs LangChain's
PyPDFLoader and LlamaIndex's PDFReader, each with its own splitter, on the same files (the environment of the group
`evals`). The embedder is a stub, the same for all. Each system runs in a process of its own; memory is that process and
its children together. Exits with 1 if the whole line has not five times the throughput of each peer, or, on the made
file, is not as fast: its text is in whole lines of one font, the peers' best case; a typeset manual has a position for
every word or letter.
"""

import argparse
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
from shared.errors import DocumentRejected
from tests.support.pdfs import document, lines

SIZE_TOKENS, OVERLAP_TOKENS = 512, 50
BATCH = 100
FASTER = 5.0
"""Times the throughput of each peer that is wanted on files that are given."""
AS_FAST = 1.0
OURS = ("parse", "recto")
PEERS = ("langchain", "llama-index")


def made(folder: Path) -> Path:
    """Write a long document of plain prose."""
    row = "the committee met in the spring of that year and agreed that the measures had been"
    path = folder / "made.pdf"
    path.write_bytes(document([lines(*[f"{i} {row}" for i in range(50)], leading=13) for _ in range(600)]))
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


SYSTEMS = {"parse": parse, "recto": recto, "langchain": langchain, "llama-index": llama_index}


class Memory:
    """Resident memory of this process and all its children together, looked at every 20 ms; `peak_mb` is the most."""

    def __init__(self) -> None:
        self.peak_mb = 0
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
            for child in me.children():
                with contextlib.suppress(psutil.Error):
                    used += child.memory_info().rss
            self.peak_mb = max(self.peak_mb, used >> 20)


def cpu_s() -> float:
    """CPU seconds of this process and its children so far."""
    usages = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(system: str, path: Path, folder: Path) -> dict[str, object]:
    """Run one system on one file in this process, imports, vocabulary and word lists (in `folder`) aside."""
    tokens.encoding()
    if system == "langchain":
        import langchain_community.document_loaders  # noqa: F401
    elif system == "llama-index":
        give_nltk_its_data(folder)
        import llama_index.readers.file  # noqa: F401
        from llama_index.core.node_parser import SentenceSplitter

        SentenceSplitter(chunk_size=SIZE_TOKENS, chunk_overlap=OVERLAP_TOKENS).split_text("Warm. Up.")
    with Memory() as memory:
        started, used = time.perf_counter(), cpu_s()
        pages, pieces, status = SYSTEMS[system](path)
        seconds, used = time.perf_counter() - started, cpu_s() - used
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
    what = "characters" if system == "parse" else "chunks"
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
        spent: dict[str, float] = {}
        pages: dict[str, float] = {}
        for path in files or [made(Path(folder))]:
            sys.stdout.write(f"{path.name}\n")
            for system in (*OURS, *(PEERS if options.peers else ())):
                if got := apart(system, path):
                    spent[system] = spent.get(system, 0.0) + got["seconds"]
                    pages[system] = pages.get(system, 0.0) + got["pages"]
    wanted = FASTER if files else AS_FAST
    rates = {system: pages[system] / spent[system] for system in spent}
    sys.stdout.write("in all: " + ", ".join(f"{system} {rate:.0f} pages/s" for system, rate in rates.items()) + "\n")
    for peer in PEERS:
        if peer in rates:
            times = rates["recto"] / rates[peer]
            sys.stdout.write(f"recto has {times:.1f} times the throughput of {peer} ({wanted:.0f} wanted)\n")
    if options.peers and (missing := [peer for peer in PEERS if peer not in rates]):
        sys.stdout.write(f"{' and '.join(missing)} could not be run: use the environment of the group `evals`\n")
        return 1
    return 0 if all(rates["recto"] >= wanted * rates[peer] for peer in PEERS if peer in rates) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
