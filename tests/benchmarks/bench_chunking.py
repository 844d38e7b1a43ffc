"""What the chunker costs, in multiples of encoding the same text once, and how its chunks end; peers beside it.

    python -m tests.benchmarks.bench_chunking [--size 512] [--overlap 50] [--tokens 300000] [PDF ...]

The text is made up (paragraphs, lists, tables, headings; the same in every run). With RECTO_DATASETS=DIR the Markdown
files under `DIR/chroma-chunking-eval/corpora` are measured too, and the text of each PDF named, which is read before
the clock runs. Peers (langchain-text-splitters, llama-index-core, semchunk, chonkie) run if they can be imported.
CPU seconds, the best of five runs, taken in turns.
Exits with 1 if the chunker costs more than twice one encode, breaks the limit, or ends more than 2 % of its chunks
inside a sentence.
"""

import argparse
import os
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from functions.ingest.chunking import tokens
from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages, join_pages
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from shared.models import Block, Page

MAX_ENCODES = 2.0
MAX_MID_SENTENCE = 0.02
SYLLABLES = "ka lo mi ter son ver al in pre con sta ble tion ment re de fu nor gra pe tu sa vi ro den ly ing ed er"
COMMON = "the of and to in a is that for it with as was on be by this are from at or an"
ENDS_WELL = re.compile(r"""[.!?…。！？:;|][)\]"'”’»」*_]*(\[\d+\])*\d{0,3}$""")

type Chunker = Callable[[str], list[str]]


def made_up_pages(least_tokens: int) -> list[Page]:
    """Return pages of text of all shapes, about `least_tokens` in all."""
    random_ = random.Random(1)
    words = ["".join(random_.choices(SYLLABLES.split(), k=random_.randint(1, 4))) for _ in range(4_000)]
    words += COMMON.split() * 150
    pages: list[Page] = []
    while sum(len(page.text) for page in pages) < 4.3 * least_tokens:
        parts: list[tuple[str, str]] = []
        if len(pages) % 3 == 0:
            parts.append(("heading", f"{len(pages)} {' '.join(random_.choices(words, k=4)).title()}"))
        for _ in range(random_.randint(3, 6)):
            lines = [" ".join(random_.choices(words, k=random_.randint(6, 30))) for _ in range(random_.randint(2, 7))]
            parts.append(("paragraph", " ".join(line.capitalize() + random_.choice(".....?!") for line in lines)))
        if len(pages) % 4 == 1:
            rows = [
                f"{random_.choice(words)} | {random_.randint(1, 9_999)} | {random_.random():.2f}" for _ in range(20)
            ]
            parts.append(("table", "\n".join(["name | count | share", *rows])))
        parts += [("list_item", f"- {' '.join(random_.choices(words, k=12))}.") for _ in range(len(pages) % 5)]
        blocks: list[Block] = []
        text = ""
        for kind, part in parts:
            text += "\n\n" if text else ""
            blocks.append(Block(kind, len(text), len(text) + len(part), part if kind == "heading" else ""))  # type: ignore[arg-type]
            text += part
        pages.append(Page(len(pages) + 1, text, blocks=blocks))
    return pages


def peers(size: int, overlap: int, count: Callable[[str], int]) -> dict[str, Chunker]:
    """Return the peers that are installed, set to the same size and overlap; say which are not."""
    found: dict[str, Chunker] = {}
    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, length_function=count)
        found["langchain"] = splitter.split_text
    except ImportError:
        sys.stdout.write("langchain-text-splitters is not installed: left out\n")
    try:
        from llama_index.core.node_parser import SentenceSplitter

        encode = tokens.encoding().encode_ordinary
        found["llama-index"] = SentenceSplitter(chunk_size=size, chunk_overlap=overlap, tokenizer=encode).split_text
    except ImportError:
        sys.stdout.write("llama-index-core is not installed: left out\n")
    try:
        import semchunk

        chunker = semchunk.chunkerify(count, chunk_size=size)
        found["semchunk"] = lambda text: list(chunker(text, overlap=overlap or None))
    except ImportError:
        sys.stdout.write("semchunk is not installed: left out\n")
    try:
        from chonkie import RecursiveChunker

        recursive = RecursiveChunker(tokenizer=tokens.encoding(), chunk_size=size)
        found["chonkie"] = lambda text: [chunk.text for chunk in recursive.chunk(text)]
    except ImportError:
        sys.stdout.write("chonkie is not installed: left out\n")
    return found


def best_seconds(runs: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Run each in turn, several times; return the least CPU seconds of each."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def mid_sentence(text: str, chunks: Sequence[str]) -> float:
    """Return the share of chunks that end neither at a sentence's end nor at the end of a line."""
    bad, position = 0, 0
    for chunk in chunks:
        found = text.find(chunk.strip(), max(0, position - 4_000))
        end = found + len(chunk.strip()) if found >= 0 else 0
        position = max(position, end)
        rest = text[end : end + 50]
        gap = rest[: len(rest) - len(rest.lstrip())]
        bad += not ENDS_WELL.search(chunk.strip()) and "\n" not in gap and bool(rest.strip())
    return bad / max(1, len(chunks))


def measure(name: str, pages: list[Page], options: ChunkSettings) -> bool:
    """Print one table; return whether our own chunker keeps its bounds."""
    encode = tokens.encoding(options.encoding).encode_ordinary
    text = join_pages(pages)
    ours: Chunker = lambda _: [chunk.text for chunk in chunk_pages(pages, title="T", settings=options)]  # noqa: E731
    chunkers = {"recto": ours, **peers(options.size_tokens, options.overlap_tokens, lambda part: len(encode(part)))}
    runs: dict[str, Callable[[], object]] = {"encode": lambda: encode(text)}
    runs |= {label: partial(chunker, text) for label, chunker in chunkers.items()}
    seconds = best_seconds(runs)
    sys.stdout.write(f"{name}: {len(encode(text))} tokens, one encode {seconds['encode'] * 1000:.0f} ms\n")
    kept = True
    for label, chunker in chunkers.items():
        chunks = chunker(text)
        sizes = [len(encode(chunk)) for chunk in chunks]
        over = sum(size > options.size_tokens for size in sizes)
        ratio, share = seconds[label] / seconds["encode"], mid_sentence(text, chunks)
        sys.stdout.write(
            f"  {label:12} {ratio:5.2f} x one encode, {len(chunks)} chunks of {sum(sizes) / len(sizes):.0f} tokens, "
            f"{over} over the limit, {share:.1%} end inside a sentence\n"
        )
        if label == "recto":
            kept = ratio <= MAX_ENCODES and not over and share <= MAX_MID_SENTENCE
    return kept


def main() -> int:
    """Measure and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--overlap", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=300_000)
    parser.add_argument("pdfs", nargs="*", type=Path, metavar="PDF")
    arguments = parser.parse_args()
    options = ChunkSettings(arguments.size, arguments.overlap)
    kept = measure("made-up text", made_up_pages(arguments.tokens), options)
    if directory := os.environ.get("RECTO_DATASETS"):
        files = sorted(Path(directory, "chroma-chunking-eval", "corpora").glob("*.md"))
        pages = [Page(number, file.read_text()) for number, file in enumerate(files, 1)]
        kept = measure("chroma-chunking-eval", pages, options) and kept
    for path in arguments.pdfs:
        with open_pdf(path, file_name=path.name, limits=Limits()) as pdf:
            pages = list(pdf.pages())
        kept = measure(path.name, pages, options) and kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
