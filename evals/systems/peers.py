"""Code shared by the peers: each PDF is split once, and its pieces are cached by content, versions and settings."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from evals.context import SystemContext
from evals.storage import file_hash
from evals.systems.base import Ingested
from local.openai import tokens


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk of a peer: its PDF, its page (from 1), its text, and what is embedded where that differs."""

    doc: str
    page: int
    text: str
    embedded: str

    @property
    def snippet(self) -> str:
        """The first words, on one line."""
        return " ".join(self.text.split())[:300]


class Peer:
    """The common part of every peer: it never refuses, and starts nothing that has to be stopped."""

    threshold = None

    def close(self) -> None:
        """Do nothing."""


def versions_of(*packages: str) -> dict[str, str]:
    """Return the installed versions."""
    return {package: version(package) for package in packages}


def split_all(
    pdfs: Sequence[Path],
    split: Callable[[Path], list[tuple[int, str, str]]],
    context: SystemContext,
    *,
    kind: str,
    depends_on: Mapping[str, object],
) -> tuple[list[Piece], Ingested]:
    """Return the pieces of all PDFs and what they cost so far. `split` gives `(page, text, embedded text)` of one PDF.

    The seconds are those of the run that did the work, remembered with the pieces.
    """

    def made(path: Path) -> dict[str, Any]:
        started = perf_counter()
        pieces = split(path)
        seconds = perf_counter() - started
        return {"pieces": pieces, "seconds": seconds, "tokens": sum(tokens.count(each) for _, _, each in pieces)}

    pieces: list[Piece] = []
    ingested = Ingested(seconds={"parse_and_chunk": 0.0})
    for number, path in enumerate(pdfs):
        context.progress(f"{kind}: reading {path.name}", number, len(pdfs))
        key = {"pdf": file_hash(path), "name": path.name, **depends_on}
        try:
            held = context.cache.get(f"pieces-{kind}", key, partial(made, path))
        except Exception as error:  # noqa: BLE001 - whatever a peer does with a broken file is its result
            ingested.problems[path.name] = f"{type(error).__name__}: {error}"[:300]
            continue
        pieces += [Piece(path.name, page, text, embedded) for page, text, embedded in held["pieces"]]
        ingested.seconds["parse_and_chunk"] += held["seconds"]
        ingested.tokens += held["tokens"]
        if not held["pieces"]:
            ingested.problems[path.name] = "no text found"
    context.progress(f"{kind}: reading", len(pdfs), len(pdfs))
    ingested.chunks = len(pieces)
    ingested.pages = {(piece.doc, piece.page) for piece in pieces}
    return pieces, ingested


def give_nltk_its_data(folder: Path) -> None:
    """Copy the word lists LlamaIndex ships, because NLTK refuses hard links and uv installs by hard links."""
    spec = find_spec("llama_index.core") if find_spec("llama_index") else None
    if spec is None or spec.origin is None:
        return
    shipped = Path(spec.origin).parent / "_static" / "nltk_cache"
    for part in ("corpora/stopwords", "tokenizers/punkt_tab"):
        if (shipped / part).is_dir() and not (folder / part).is_dir():
            shutil.copytree(shipped / part, folder / part)
    os.environ["NLTK_DATA"] = str(folder.resolve())
