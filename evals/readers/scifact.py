"""SciFact in BEIR's form: abstracts, claims, and which abstracts bear on them."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.errors import DataError
from evals.readers.files import data_folder, json_lines, sampled

FORM = """  DIR/corpus.jsonl             {"_id": "…", "title": "…", "text": "…"} a line
  DIR/queries_*.jsonl          {"_id": "…", "text": "…"} a line (or queries.jsonl)
  DIR/qrels/*.tsv              query-id, corpus-id, score with tabs between, and a line with these names on top"""


@dataclass(frozen=True, slots=True)
class Claim:
    """A query and the ids of the abstracts that are relevant to it."""

    id: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Beir:
    """Documents by id (title and text joined by a space, as BEIR's own runs do), and the judged queries."""

    documents: Mapping[str, str]
    claims: Sequence[Claim]


def read_scifact(folder: Path, *, sample: int | None = None) -> Beir:
    """Read a folder. Raises `DataError`. A sample is one of queries; the corpus stays whole."""
    data_folder(folder, FORM, "corpus.jsonl", "qrels")
    documents: dict[str, str] = {}
    for number, row in json_lines(folder / "corpus.jsonl"):
        try:
            documents[str(row["_id"])] = f"{row.get('title') or ''} {row['text']}".strip()
        except KeyError as error:
            raise DataError(f"{folder / 'corpus.jsonl'}, line {number}: {error} is missing.") from error
    query_files = sorted(folder.glob("queries*.jsonl"))
    qrel_files = sorted((folder / "qrels").glob("*.tsv"))
    if not query_files or not qrel_files:
        raise DataError(f"{folder} lacks {'queries*.jsonl' if qrel_files else 'qrels/*.tsv'}. Expected is:\n{FORM}")
    relevant: dict[str, set[str]] = {}
    for path in qrel_files:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if not {"query-id", "corpus-id", "score"} <= row.keys():
                    raise DataError(f"{path}: the first line must name query-id, corpus-id and score.")
                if float(row["score"]) > 0:
                    relevant.setdefault(row["query-id"], set()).add(row["corpus-id"])
    claims = [
        Claim(str(row["_id"]), str(row["text"]), frozenset(relevant[str(row["_id"])]))
        for path in query_files
        for _, row in json_lines(path)
        if str(row.get("_id")) in relevant
    ]
    if not claims:
        raise DataError(f"{folder}: no query of {query_files[0].name} has a judgement in qrels/.")
    return Beir(documents, sampled(claims, sample, key=lambda claim: claim.id))
