"""Whether a chunk that covers the right page holds the evidence: page attribution on OHR-Bench's questions.

    python -m tests.benchmarks.bench_attribution [--size 512] [--overlap 50] [--show] DIR

DIR holds `questions.jsonl` and `pdfs/`. The evidence is a transcript of the page (LaTeX for tables and formulas, now
and then misread), so it is compared by letters and figures alone: each cell, line or sentence of it with the best
stretch of one chunk that covers a gold page, by the longest common subsequence. Printed is the share of questions for
which that is at least as much as each threshold; beside it what the page's raw text layer holds (nothing can hold
more), and, as a control, chunks from elsewhere in the document.

Exits with 1 if less than 97 % of the evidence is found at four fifths.
"""

import argparse
import json
import random
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.ingest.parsing import pdfium
from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from shared.models import Chunk

THRESHOLDS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.7)
PASSES, ENOUGH = 0.8, 0.97
MAX_CHARACTERS = 200_000
_TABLE = re.compile(r"\\(?:begin|end)\{\w+\}(?:\{[^}]*\})?|\x08egin\{\w+\}(?:\{[^}]*\})?|\\hline")
_CELLS = re.compile(r"\\multicolumn\{\d+\}\{[^}]*\}|\\multirow\{[^}]*\}\{[^}]*\}|\\cline\{[^}]*\}")
_PIECES = re.compile(r"&|\n|\\\\|\s-\s|\.\.\.|(?<=[a-z][.;:?])\s")
_COMMAND = re.compile(r"\\[a-zA-Z]+")


def folded(text: str) -> str:
    """Return letters and figures only, in small letters, without LaTeX's commands."""
    for name, sign in (("\\circ", "°"), ("\\times", "x"), ("\\mu", "μ"), ("×", "x"), ("\ufffe", "")):
        text = text.replace(name, sign)
    text = unicodedata.normalize("NFKC", _COMMAND.sub(" ", _CELLS.sub(" ", text))).lower()
    return "".join(re.findall(r"[^\W_]+", text))


def pieces_of(evidence: str | Sequence[str]) -> list[str]:
    """Return the cells, lines and sentences of an evidence, folded."""
    texts = [evidence] if isinstance(evidence, str) else evidence
    return [piece for text in texts for part in _PIECES.split(_TABLE.sub("\n", text)) if (piece := folded(part))]


def common(a: str, b: str) -> int:
    """Return the length of the longest common subsequence (Hyyrö's bit-parallel algorithm)."""
    places: dict[str, int] = defaultdict(int)
    for i, character in enumerate(a):
        places[character] |= 1 << i
    row = mask = (1 << len(a)) - 1
    for character in b:
        hits = row & places.get(character, 0)
        row = ((row + hits) | (row - hits)) & mask
    return len(a) - row.bit_count()


@lru_cache(maxsize=100_000)
def held(piece: str, text: str) -> float:
    """Return how much of a piece the best stretch of a text, a quarter longer than itself, holds: 0..1."""
    if piece in text:
        return 1.0
    width, step = int(1.25 * len(piece)) + 3, max(1, len(piece) // 8)
    starts = range(0, max(1, len(text) - width + step), step)
    return max(common(piece, text[start : start + width]) for start in starts) / len(piece)


def score(pieces: Sequence[str], text: str) -> float:
    """Return how much of an evidence a text holds, pieces weighed by their length."""
    return sum(len(piece) * held(piece, text) for piece in pieces) / max(1, sum(map(len, pieces)))


def raw_pages(path: Path) -> dict[int, str]:
    """Return the text layer of each page as it is, folded."""
    engine = PdfiumEngine(str(path))
    found: dict[int, str] = {}
    for number in range(1, engine.header().page_count + 1):
        page = pdfium.load_page(engine._document, number - 1)
        text = pdfium.load_text(page)
        count = min(pdfium.count_characters(text), MAX_CHARACTERS)
        found[number] = folded("".join(map(chr, (pdfium.get_unicode(text, i) for i in range(count)))))
        pdfium.close_text(text)
        pdfium.close_page(page)
    return found


def chunks_of(path: Path, options: ChunkSettings) -> list[Chunk]:
    """Parse and cut a document."""
    with open_pdf(path, file_name=path.name, limits=Limits(wall_s=300)) as parsed:
        return list(chunk_pages(parsed.pages(), title=parsed.title, settings=options))


def measured(questions: Sequence[dict[str, Any]], folder: Path, options: ChunkSettings) -> list[dict[str, Any]]:
    """Return for each question what one chunk on a gold page, the raw page, and chunks from elsewhere hold."""
    chance = random.Random(1)
    documents: dict[str, tuple[list[Chunk], dict[int, str]]] = {}
    rows: list[dict[str, Any]] = []
    for question in questions:
        path = folder / question["doc"]
        if question["doc"] not in documents:
            documents[question["doc"]] = chunks_of(path, options), raw_pages(path)
        chunks, raw = documents[question["doc"]]
        pieces, gold = pieces_of(question["evidence"]), question["pages"]
        covering = [chunk for chunk in chunks if any(chunk.page_start <= page <= chunk.page_end for page in gold)]
        apart = [c for c in chunks if not any(c.page_start - 1 <= page <= c.page_end + 1 for page in gold)]
        others = chance.sample(apart, min(3, len(apart)))
        rows.append(
            {
                "chunk": max((score(pieces, folded(chunk.text)) for chunk in covering), default=0.0),
                "page": max((score(pieces, raw.get(page, "")) for page in gold), default=0.0),
                "control": max((score(pieces, folded(chunk.text)) for chunk in others), default=0.0),
                "question": question,
            }
        )
    return rows


def main(arguments: list[str]) -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--overlap", type=int, default=50)
    parser.add_argument("--show", action="store_true", help="print the evidence that is not found")
    options = parser.parse_args(arguments)
    with (options.folder / "questions.jsonl").open(encoding="utf-8") as file:
        questions = [q for q in map(json.loads, file) if q["set"].startswith("ohr") and q.get("evidence")]
    rows = measured(questions, options.folder / "pdfs", ChunkSettings(options.size, options.overlap))
    sys.stdout.write(
        f"{len(rows)} questions; share whose evidence is held by\n  at least   one chunk   its page   control\n"
    )
    for threshold in THRESHOLDS:
        shares = [sum(row[what] >= threshold for row in rows) / len(rows) for what in ("chunk", "page", "control")]
        sys.stdout.write(f"  {threshold:8.0%}" + "".join(f"{share:11.1%}" for share in shares) + "\n")
    lost = sum(row["chunk"] < row["page"] - 0.05 and row["chunk"] < PASSES for row in rows)
    sys.stdout.write(f"{lost} of them are on the page and in none of its chunks\n")
    for row in sorted(rows, key=lambda row: row["chunk"]) if options.show else ():
        if row["chunk"] < 0.9:
            question = row["question"]
            sys.stdout.write(f"  {row['chunk']:.2f} (page {row['page']:.2f}) {question['doc']} {question['pages']} ")
            sys.stdout.write(f"{str(question['evidence'])[:120]!r}\n")
    return 0 if sum(row["chunk"] >= PASSES for row in rows) >= ENOUGH * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
