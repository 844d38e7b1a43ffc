"""`evals beir`: how well passages about many subjects are ranked, beside the embedder alone, on data of BEIR's form.

Each passage (title and text) is a document of its own in an exact index in memory; Recto's own retrieval searches it by
vectors and words, and ranks. The measure is nDCG@k with binary gains (Thakur et al., BEIR, 2021).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.context import Options, SystemContext, open_context
from evals.data import csv_rows, data_folder, json_lines, sampled
from evals.errors import DatasetError
from evals.metrics import interval, ndcg_at, paired_difference, recall_at
from evals.research.passages import A_DAY_S, TENANT, PassagePool
from evals.storage import environment

FORM = """  DIR/corpus.jsonl       {"_id": "…", "title": "…", "text": "…"} a line
  DIR/queries*.jsonl     {"_id": "…", "text": "…"} a line
  DIR/qrels/*.tsv        query-id, corpus-id, score; the first line names the columns"""
ALONE, RECTO = "cosine alone", "recto"


@dataclass(frozen=True, slots=True)
class Query:
    """A query with the ids of the passages that are right for it."""

    id: str
    text: str
    gold: Sequence[str]


def beir(options: Options, *, k: int) -> int:
    """Search every query that has a right passage; print, and write with `--json`."""
    passages, queries = read_beir(options.data, sample=options.sample)
    with open_context(options) as context, options.display.progress():
        rows = _searched(passages, queries, k, context)
    figures: dict[str, Any] = {}
    metrics = (f"ndcg@{k}", f"recall@{k}")
    for name in (ALONE, RECTO):
        figures[name] = {}
        for metric in metrics:
            values = [row[name][metric] for row in rows]
            mean = interval(values, seed=options.seed)
            above = paired_difference([row[ALONE][metric] for row in rows], values, seed=options.seed)
            figures[name][metric] = {"mean": mean.mean, "ci": [mean.low, mean.high], "above_cosine": above.as_json()}
    options.display.table(
        f"{len(rows)} queries to {len(passages)} passages (above cosine alone; * real)",
        ["system", *metrics],
        [[name, *(_cell(figures[name][metric]) for metric in metrics)] for name in figures],
    )
    settings = {"k": k, "passages": len(passages), **options.chosen}
    options.save(
        {"command": "beir", "versions": environment(), "settings": settings, "systems": figures, "queries": rows}
    )
    return 0


def _searched(
    passages: Mapping[str, str], queries: Sequence[Query], k: int, context: SystemContext
) -> list[dict[str, Any]]:
    context.progress("embedding passages", 0, len(passages))
    pool = PassagePool(passages, context)
    vectors = context.embedder.vectors([query.text for query in queries]).tolist()
    rows = []
    for number, (query, vector) in enumerate(zip(queries, vectors, strict=True)):
        context.progress("searching", number, len(queries))
        nearest = [match.id for match in pool.query(namespace=TENANT, vector=vector, top_k=k, timeout_s=A_DAY_S)]
        ranked = {ALONE: nearest, RECTO: pool.ranked(pool.search(query.text, vector), k)}
        scores = {
            name: {f"ndcg@{k}": ndcg_at(found, query.gold, k), f"recall@{k}": recall_at(found, query.gold, k)}
            for name, found in ranked.items()
        }
        rows.append({"id": query.id, "query": query.text, **scores})
    return rows


def _cell(figure: Mapping[str, Any]) -> str:
    above = figure["above_cosine"]
    return f"{figure['mean']:.3f} ({above['mean']:+.3f}{'*' if above['real'] else ''})"


def read_beir(folder: Path, *, sample: int | None = None) -> tuple[dict[str, str], list[Query]]:
    """Return the passages by id, and the queries that have a right one. Raises `DatasetError`."""
    data_folder(folder, FORM, "corpus.jsonl", "qrels")
    try:
        passages = {
            str(row["_id"]): f"{row.get('title', '')}\n{row['text']}".strip()
            for _, row in json_lines(folder / "corpus.jsonl")
        }
        texts = {
            str(row["_id"]): str(row["text"])
            for path in sorted(folder.glob("queries*.jsonl"))
            for _, row in json_lines(path)
        }
        gold: dict[str, list[str]] = {}
        for path in sorted((folder / "qrels").glob("*.tsv")):
            for _, _, judgement in csv_rows(path, FORM, delimiter="\t"):
                if float(judgement["score"]) > 0:
                    gold.setdefault(judgement["query-id"], []).append(judgement["corpus-id"])
    except (KeyError, ValueError) as error:
        raise DatasetError(f"{folder}: {type(error).__name__} {error}. Expected is:\n{FORM}") from error
    for query, right in gold.items():
        if missing := [each for each in right if each not in passages]:
            raise DatasetError(f"{folder}: query {query} names the passage {missing[0]}, which corpus.jsonl lacks.")
    queries = [Query(key, text, gold[key]) for key, text in texts.items() if key in gold]
    if not queries:
        raise DatasetError(f"{folder} holds no query with a right passage. Expected is:\n{FORM}")
    return passages, sampled(queries, sample, key=lambda query: query.id)
