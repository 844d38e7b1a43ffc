"""`evals beir` on passages made up here."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main
from evals.errors import DatasetError
from evals.research.beir import read_beir

PASSAGES = {
    "tower": ("Orsk lighthouse", "The tower was built in 1871 of white limestone by the engineer Bergman."),
    "lamp": ("Orsk lighthouse", "The lamp burns colza oil and is lit at sunset."),
    "bridge": ("Varna bridge", "The bridge was built in 1902 of steel by the engineer Costa."),
}
QUERIES = {"1": "The lamp of the Orsk lighthouse burns oil.", "2": "Costa built a bridge of steel.", "3": "No passage."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = [{"_id": key, "title": title, "text": text} for key, (title, text) in PASSAGES.items()]
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in corpus))
    (tmp_path / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in queries))
    (tmp_path / "qrels").mkdir()
    judged(tmp_path, "1\tlamp\t1", "2\tbridge\t1", "3\ttower\t0")
    return tmp_path


def judged(folder: Path, *rows: str) -> None:
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows, ""]))


def test_every_query_with_a_right_passage_is_searched_by_recto_and_by_vectors_alone(folder: Path, tmp_path: Path):
    out = tmp_path / "out.json"
    arguments = ["beir", "--data", str(folder), "--cache", str(tmp_path / "cache"), "--json", str(out), "--quiet"]
    assert main([*arguments, "--k", "1"]) == 0
    result: dict[str, Any] = json.loads(out.read_text())
    assert [row["id"] for row in result["queries"]] == ["1", "2"]
    for system in ("recto", "cosine alone"):
        assert result["systems"][system]["ndcg@1"]["mean"] == 1
        assert result["systems"][system]["recall@1"]["mean"] == 1


def test_only_judgements_above_zero_count(folder: Path):
    passages, queries = read_beir(folder)
    assert passages["lamp"] == "\n".join(PASSAGES["lamp"])
    assert {query.id: query.gold for query in queries} == {"1": ["lamp"], "2": ["bridge"]}


def test_a_judgement_about_a_passage_that_is_missing_is_named(folder: Path):
    judged(folder, "1\twindmill\t1")
    with pytest.raises(DatasetError, match="query 1 names the passage windmill"):
        read_beir(folder)


def test_a_folder_without_a_right_passage_says_what_is_expected(folder: Path):
    judged(folder, "1\tlamp\t0")
    with pytest.raises(DatasetError, match="no query with a right passage"):
        read_beir(folder)
