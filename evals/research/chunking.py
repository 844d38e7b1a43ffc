"""`evals chunking`: how much of the gold excerpts the retrieved chunks hold, and how much else."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np

from evals.context import Options, SystemContext, open_context
from evals.display import plus_minus
from evals.errors import EvalError
from evals.metrics import paired_difference, summary
from evals.research.chroma import ChunkingData, SpanQuestion, read_chroma, score
from evals.research.chunkers import CHUNKERS, Chunker, CutPiece, chunker, matched, mean_tokens
from evals.storage import ResultCache, environment, source_hash
from evals.systems.peers import give_nltk_its_data

METRICS = ("recall", "precision", "iou", "precision_omega")


def chunking(
    options: Options, *, k: int, chunkers: Sequence[str], sizes: Sequence[int], same_mean: bool = False
) -> int:
    """Run the published protocol for each chunker and size; print, and write with `--json`.

    With `same_mean` the others are set to the size at which their chunks are as large as ours on average.
    """
    data = read_chroma(options.data, sample=options.sample)
    give_nltk_its_data(options.cache / "nltk")
    wanted = [chunker(name, size) for size in sizes for name in (chunkers or CHUNKERS)]
    if same_mean:
        wanted = _same_mean(wanted, list(data.corpora.values()), ResultCache(options.cache))
    results: dict[str, dict[str, Any]] = {}
    with open_context(options) as context, options.display.progress():
        for each in wanted:
            results[each.title] = _measure(each, data, k, context, options)
    differences = _differences(wanted, results, options.seed)
    _show(results, differences, options)
    options.save(
        {
            "command": "chunking",
            "versions": {**environment(), "source": source_hash("functions/ingest", "shared")},
            "settings": {"k": k, "same_mean": same_mean, "embedding": str(context.embedder.space), **options.chosen},
            "chunkers": results,
            "differences": differences,
        }
    )
    return 0


def _same_mean(wanted: Sequence[Chunker], corpora: Sequence[str], kept: ResultCache) -> list[Chunker]:
    """Set the other chunkers to our mean size. Raises `EvalError` when ours is not among them."""
    means = {each.size_tokens: mean_tokens(corpora, each.split) for each in wanted if each.name == "recto"}
    if any(each.size_tokens not in means for each in wanted):
        raise EvalError("--same-mean compares with Recto's chunks: put recto among --chunkers.")
    return [each if each.name == "recto" else matched(each, means[each.size_tokens], corpora, kept) for each in wanted]


def _measure(each: Chunker, data: ChunkingData, k: int, context: SystemContext, options: Options) -> dict[str, Any]:
    started = perf_counter()
    pieces: list[tuple[str, CutPiece]] = []
    for name, text in data.corpora.items():
        context.progress(f"{each.title}: cutting {name}", 0, 1)
        pieces += [(name, piece) for piece in each.split(text)]
    cut_s = perf_counter() - started
    retrieved = _retrieved([piece[2] for _, piece in pieces], data.questions, k, context, each.title)
    by_corpus: dict[str, list[CutPiece]] = {}
    for name, piece in pieces:
        by_corpus.setdefault(name, []).append(piece)
    rows = [
        _row(question, [pieces[at] for at in best], by_corpus.get(question.corpus, []))
        for question, best in zip(data.questions, retrieved, strict=True)
    ]
    return {
        **summary(rows, METRICS, seed=options.seed),
        "chunks": len(pieces),
        "mean_characters": mean(end - start for _, (start, end, _) in pieces),
        "mean_tokens": mean_tokens(data.corpora.values(), each.split),
        "cut_seconds": cut_s,
        "questions": rows,
    }


def _retrieved(
    texts: Sequence[str], questions: Sequence[SpanQuestion], k: int, context: SystemContext, title: str
) -> list[list[int]]:
    """Return the numbers of each question's `k` nearest chunks over all corpora, best first."""
    chunks = context.embedder.vectors(texts, advance=partial(context.progress, f"{title}: embedding"))
    query_vectors = context.embedder.vectors([question.text for question in questions])
    nearest = np.argsort(-(query_vectors @ chunks.T), axis=1, kind="stable")[:, :k]
    return [[int(at) for at in row] for row in nearest]


def _row(question: SpanQuestion, best: Sequence[tuple[str, CutPiece]], corpus: Sequence[CutPiece]) -> dict[str, Any]:
    here = [(start, end) for name, (start, end, _) in best if name == question.corpus]
    elsewhere = sum(end - start for name, (start, end, _) in best if name != question.corpus)
    # Only chunks that may touch the gold are looked at closely.
    near = [
        (start, end)
        for start, end, _ in corpus
        if any(start < gold_end and end > gold_start for gold_start, gold_end in question.gold)
    ]
    scores = score(question.gold, here, elsewhere=elsewhere, all_chunks=near)
    return {"id": question.id, **{metric: getattr(scores, metric) for metric in METRICS}}


def _differences(wanted: Sequence[Chunker], results: Mapping[str, Mapping[str, Any]], seed: int) -> dict[str, Any]:
    """Return, for each chunker, how much ours of the same size is above it."""
    ours = {each.size_tokens: each.title for each in wanted if each.name == "recto"}
    found: dict[str, Any] = {}
    for each in wanted:
        if each.name == "recto" or each.size_tokens not in ours:
            continue
        mine, theirs = (results[title]["questions"] for title in (ours[each.size_tokens], each.title))
        found[each.title] = {
            metric: paired_difference(
                [row[metric] for row in theirs], [row[metric] for row in mine], seed=seed
            ).as_json()
            for metric in METRICS
        }
    return found


def _show(results: Mapping[str, Mapping[str, Any]], differences: Mapping[str, Any], options: Options) -> None:
    rows = [
        [
            title,
            str(result["chunks"]),
            f"{result['mean_tokens']:.0f}",
            *(plus_minus(result, metric, percent=True) for metric in METRICS),
            *(_above(differences.get(title, {}).get(metric)) for metric in ("recall", "iou")),
        ]
        for title, result in results.items()
    ]
    options.display.table(
        "Chunking, per cent; + is how much Recto's is above (* the 95 % interval leaves zero out)",
        ["size/overlap set", "chunks", "tokens", "recall", "precision", "IoU", "precision Ω", "recall +", "IoU +"],
        rows,
    )


def _above(ours: Mapping[str, Any] | None) -> str:
    """Say how much ours is above."""
    return f"{100 * ours['mean']:+.2f}{'*' if ours['real'] else ''}" if ours else ""
