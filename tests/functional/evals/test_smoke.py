"""The referee on the committed sample PDFs: every command runs, and the figures are what a working Recto reaches.

The thresholds leave a margin for a question or two. Whether a change is good is for the full data to say; this only
catches what broke.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main
from evals.storage import file_hash
from tests.support.cross_encoder import cross_encoder_in
from tests.support.eval_folder import samples_in


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples_in(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evals")


def run(command: str, data: Path, shared: Path, *more: str, out: str = "") -> dict[str, Any]:
    file = shared / f"{out or command}.json"
    arguments = [command, "--data", str(data), "--cache", str(shared / "cache"), "--json", str(file), "--quiet", *more]
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.fixture(scope="module")
def retrieved(data: Path, shared: Path) -> dict[str, Any]:
    return run("retrieval", data, shared, "--in-process")


def test_the_expected_pages_are_found_on_the_samples(retrieved: dict[str, Any]) -> None:
    figures = retrieved["sets"]["all"]
    assert figures["n"] >= 8
    assert figures["hit@1"] >= 0.6
    assert figures["hit@5"] >= 0.85
    assert figures["doc@1"] >= 0.85
    low, high = figures["ci"]["hit@1"]
    assert 0.0 <= low <= figures["hit@1"] <= high <= 1.0


def test_the_result_has_the_form_that_was_promised(retrieved: dict[str, Any]) -> None:
    assert {"system", "versions", "settings", "sets", "refusals", "cost", "questions"} <= retrieved.keys()
    figures = retrieved["sets"]["all"]
    assert {"n", "hit@1", "hit@5", "hit@10", "doc@1", "doc@5", "mrr", "ndcg", "ci"} <= figures.keys()
    for row in retrieved["questions"]:
        places = [(each["doc"], each["page"]) for each in row["ranked"]]
        assert len(places) == len(set(places)) <= 10
        assert all(isinstance(each["score"], float) for each in row["ranked"])
    assert retrieved["cost"]["chunks"] > 0
    assert retrieved["problems"] == {}


def test_a_cross_encoder_reorders_what_was_found(
    data: Path, shared: Path, retrieved: dict[str, Any], tmp_path: Path
) -> None:
    words = " ".join(row["question"] for row in retrieved["questions"]).lower().replace("?", "").split()
    folder = cross_encoder_in(tmp_path / "reranker", words)
    result = run("retrieval", data, shared, "--in-process", "--rerank", str(folder), out="reranked")
    assert result["settings"]["reranker"] == file_hash(folder / "model.onnx")
    assert "reranker" not in retrieved["settings"]
    pairs = list(zip(retrieved["questions"], result["questions"], strict=True))
    places = [[[(hit["doc"], hit["page"]) for hit in row["ranked"]] for row in pair] for pair in pairs]
    assert any(before != after for before, after in places)
    assert result["sets"]["all"]["hit@5"] > 0.5  # a count of words, and no model


def test_reranking_on_the_laptop_stack_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retrieval", "--data", str(data), "--cache", str(tmp_path), "--rerank", str(tmp_path)]) == 1
    assert "--rerank needs --in-process" in capsys.readouterr().err


def test_a_second_run_gives_the_same_figures_and_embeds_nothing(
    data: Path, shared: Path, retrieved: dict[str, Any]
) -> None:
    again = run("retrieval", data, shared, "--in-process", "--fresh", out="again")
    assert again["sets"] == retrieved["sets"]
    assert again["cost"]["texts_embedded"]["computed"] == 0


def test_within_one_document_no_other_is_ranked(data: Path, shared: Path) -> None:
    result = run("retrieval", data, shared, "--in-process", "--per-document", out="one")
    about_one = [row for row in result["questions"] if row["doc"]]
    assert about_one
    for row in about_one:
        assert {each["doc"] for each in row["ranked"]} == {row["doc"]}


def test_answers_are_cited_word_for_word(data: Path, shared: Path) -> None:
    result = run("answers", data, shared)
    figures = result["sets"]["all"]
    assert figures["exact"] == 1.0
    assert figures["valid"] == 1.0
    assert figures["supported"] >= 0.95
    assert figures["on_expected_page"] >= 0.6


def test_calibration_names_a_threshold_that_keeps_what_it_promises(data: Path, shared: Path) -> None:
    result = run("calibrate", data, shared, "--lost", "0.2")
    assert 0.0 < result["chosen"]["threshold"] < 1.0
    assert result["chosen"]["answerable"] <= 0.2
    assert result["auc"]["off_topic"] >= 0.8


def test_a_result_compared_with_itself_shows_no_difference(
    retrieved: dict[str, Any], shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(shared / "retrieval.json")
    assert main(["compare", file, file, "--json", str(shared / "same.json")]) == 0
    result = json.loads((shared / "same.json").read_text())
    assert result["changed"] == []
    assert not any(figure["real"] for figure in result["sets"]["all"].values() if isinstance(figure, dict))
    assert "no difference that can be told apart from chance" in capsys.readouterr().out


def test_the_report_stands_alone_and_shows_what_failed(retrieved: dict[str, Any], shared: Path) -> None:
    assert main(["report", str(shared / "retrieval.json"), "--out", str(shared / "report")]) == 0
    page = (shared / "report.html").read_text()
    assert "<svg" in page
    assert "src=" not in page
    assert page.count("href=") == page.count('href="#')  # nothing but parts of the plots themselves
    assert "url(http" not in page
    missed = [row for row in retrieved["questions"] if row.get("gold_rank", 1) != 1]
    assert page.count('class="failure"') == len(missed)
    assert "## Refusals" in (shared / "report.md").read_text()


def test_a_folder_of_another_form_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retrieval", "--data", str(tmp_path), "--in-process", "--cache", str(tmp_path / "c")]) == 1
    said = capsys.readouterr().err
    assert "lacks pdfs and questions.jsonl" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("name", "library"), [("bm25-pages", "bm25s"), ("langchain", "langchain_community"), ("llamaindex", "llama_index")]
)
@pytest.mark.filterwarnings("default")  # what the peers' libraries are told by theirs is no fault of ours
def test_a_peer_runs_beside_and_finds_its_way(name: str, library: str, data: Path, shared: Path) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip("the peers are in the dependency group `evals`")
    result = run("retrieval", data, shared, "--in-process", "--system", f"recto,{name}", out=name)
    peer = result["others"][name]
    assert peer["problems"] == {}
    assert peer["sets"]["all"]["hit@5"] >= 0.6
    assert "hit@1" in result["differences"][name]["all"]
