"""Ingest end to end beside the peers: pages a second and peak memory, with the same embedder on the same machine.

Each system reads, cuts, embeds and indexes the same long manual in a process of its own, so that its peak memory (with
that of its children) is its own. No vector comes from a cache. The manual is made here (RECTO_BENCH_PAGES pages, 60 by
default), or is the file named by RECTO_BENCH_PDF, for example that of Debian's `r-doc-pdf`. The peers are in the
dependency group `evals`; without it only Recto and the bare reading are measured.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

PROJECT = Path(__file__).parents[2]
BUILD_GRAPH = """
import sys
from pathlib import Path
from local.openai.build_graph import default_model_dir, ensure_graph
ensure_graph(default_model_dir(), Path(sys.argv[1]))
"""
PEERS = {"langchain": "langchain_community", "llamaindex": "llama_index"}
WORK = """
import json, logging, sys, threading, time
from contextlib import closing
from pathlib import Path
import psutil
logging.disable(logging.ERROR)
from evals.context import SystemContext
from evals.embedding import SharedEmbedder
from evals.storage import ResultCache
from evals.systems.base import open_system
name, pdf, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
# Sampled, because the kernel's own peak of a child begins with that of the process it was forked from.
me, peak, done = psutil.Process(), [0, 0], threading.Event()
def watch():
    while not done.wait(0.02):
        children = 0
        for child in me.children(recursive=True):
            try:
                children += child.memory_info().rss
            except psutil.Error:
                pass
        peak[0] = max(peak[0], me.memory_info().rss >> 20)
        peak[1] = max(peak[1], children >> 20)
with closing(SharedEmbedder(folder / "embeddings")) as embedder:
    embedder.vectors(["warm"])
    embedder.reset_cost()
    system = open_system(name, SystemContext(embedder, ResultCache(folder), folder))
    threading.Thread(target=watch, daemon=True).start()
    started = time.perf_counter()
    ingested = system.ingest([pdf])
    seconds = time.perf_counter() - started
    done.set()
    system.close()
    print(json.dumps({
        "seconds": seconds, "embedding": embedder.seconds, "chunks": ingested.chunks, "pages": len(ingested.pages),
        "peak_mb": peak[0], "child_mb": peak[1], "problems": ingested.problems,
    }))
"""


def manual(path: Path, pages: int) -> Path:
    """Write a manual of prose under headings."""
    styles = getSampleStyleSheet()
    story: list[object] = []
    for page in range(pages):
        story.append(Paragraph(f"{page + 1} Servicing unit {page + 1}", styles["Heading1"]))
        for part in range(9):
            sentences = " ".join(
                f"Before step {step} of task {page}.{part} valve {(page * 31 + part * 7 + step) % 97} is closed and "
                f"the pressure is read twice, because a reading above {20 + step} bar means that the filter is blocked."
                for step in range(3)
            )
            story.append(Paragraph(sentences, styles["BodyText"]))
        story.append(PageBreak())
    SimpleDocTemplate(str(path), pagesize=A4).build(story)  # type: ignore[arg-type]
    return path


def run(code_and_arguments: list[str], models: str) -> bytes:
    """Run code in a fresh interpreter and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "RECTO_MODEL_CACHE": models}
    command = [sys.executable, "-W", "ignore", "-c", *code_and_arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.timeout(1200)
def test_ingest_beside_the_peers(tmp_path: Path) -> None:
    given = os.environ.get("RECTO_BENCH_PDF")
    pages = int(os.environ.get("RECTO_BENCH_PAGES", "60"))
    pdf = Path(given) if given else manual(tmp_path / "manual.pdf", pages)
    systems = ["recto", *(name for name, package in PEERS.items() if find_spec(package))]
    models = os.environ.get("RECTO_MODEL_CACHE") or str(PROJECT / ".pytest_cache" / "minilm")
    run([BUILD_GRAPH, models], models)  # in a process of its own, because it takes more memory than all the rest
    results = {}
    for name in systems:
        results[name] = json.loads(run([WORK, name, str(pdf), str(tmp_path / name)], models).splitlines()[-1])
        assert results[name]["problems"] == {}
    ours = results["recto"]
    for name, each in results.items():
        own = each["seconds"] - (each["embedding"] if name != "recto" else 0.0)
        rate = each["pages"] / each["seconds"]
        ratio = f", recto {ours['pages'] / ours['seconds'] / rate:.2f} × as fast" if name != "recto" else ""
        without = f"{own:.1f} s without embedding, " if name != "recto" else ""
        sys.stdout.write(
            f"\ningest, {name}: {each['pages']} pages in {each['seconds']:.1f} s, {rate:.1f} pages/s, {without}"
            f"{each['chunks']} chunks, peak {each['peak_mb']} MB (children {each['child_mb']} MB){ratio}\n"
        )
    # Model and emulator live in this process too; the function itself is held to 512 MB by its own test.
    assert ours["peak_mb"] + ours["child_mb"] <= 1024
