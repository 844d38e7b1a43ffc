"""`evals extractive` on a small made folder in Chroma's form: the figures are those that can be counted by hand."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main
from tests.support.eval_folder import samples_in

STATION = """The station stands on a ridge above the fjord. It was built in 1956 by the Halden company.

The generator burns 40 litres of diesel a day. It is serviced every second Thursday by the warden.

Visitors carry a flare pistol and six cartridges. Nobody leaves the flagged area alone."""
MUSEUM = """The museum of tides opens at ten and closes at six. On Mondays it is closed.

A ticket costs 5 euros for adults, and children pay nothing. The café sells soup and bread."""
QUESTIONS = [
    ("How much diesel does the generator burn?", "station", "The generator burns 40 litres of diesel a day."),
    ("What does a ticket cost for adults?", "museum", "A ticket costs 5 euros for adults"),
    ("What do visitors have to carry?", "station", "Visitors carry a flare pistol and six cartridges."),
    ("Who wrote the annual report of the bank?", "museum", "On Mondays it is closed."),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    texts = {"station": STATION, "museum": MUSEUM}
    folder = tmp_path / "data"
    (folder / "corpora").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "corpora" / f"{name}.md").write_text(text, encoding="utf-8", newline="")
    with (folder / "questions_df.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "references", "corpus_id"])
        for question, corpus, excerpt in QUESTIONS:
            start = texts[corpus].index(excerpt)
            gold = {"content": excerpt, "start_index": start, "end_index": start + len(excerpt)}
            rows.writerow([question, json.dumps([gold]), corpus])
    return folder


def test_a_hit_is_a_chosen_sentence_that_touches_the_gold(data: Path, tmp_path: Path):
    out = tmp_path / "out.json"
    cache = Path(__file__).parents[3] / ".pytest_cache" / "evals"
    assert main(["extractive", "--data", str(data), "--cache", str(cache), "--json", str(out), "--quiet"]) == 0
    result: dict[str, Any] = json.loads(out.read_text())
    hits = {row["question"]: row["hit@1"] for row in result["questions"]}
    assert [hits[question] for question, *_ in QUESTIONS[:3]] == [1.0, 1.0, 1.0]
    assert result["sets"]["all"]["n"] == len(QUESTIONS)
    assert result["sets"]["all"]["hit@1"] <= result["sets"]["all"]["hit@3"] <= result["sets"]["all"]["retrieved"] == 1.0
    for row in result["questions"]:
        assert all(len(each) == 3 for each in row["chosen"])


def test_answers_about_pdfs_are_counted_by_set_and_kind_of_question(tmp_path: Path):
    folder, out, invented = tmp_path / "data", tmp_path / "out.json", tmp_path / "invented.txt"
    folder.mkdir()
    invented.write_text("How many wheels does the coffee boiler of the Brunata Duo have?\n", encoding="utf-8")
    cache = Path(__file__).parents[3] / ".pytest_cache" / "evals"
    asked = ["extractive", "--data", str(samples_in(folder)), "--false-premises", str(invented)]
    assert main([*asked, "--cache", str(cache), "--json", str(out), "--quiet"]) == 0
    sets = json.loads(out.read_text())["sets"]
    assert (sets["all"]["n"], sets["all"]["refused"], sets["all"]["header"]) == (9, 0.0, 0.0)
    assert sets["all"]["found"] >= 0.8
    assert sets["all, number"]["n"] >= 5
    assert sets["false premises"]["refused"] == 1.0
