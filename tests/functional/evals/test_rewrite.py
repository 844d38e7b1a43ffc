"""`evals rewrite` on a conversation made up here: each form of the question is searched, beside the last turn."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main

PASSAGES = {
    "tower": "Orsk lighthouse. The tower was built in 1871 of white limestone by the engineer Bergman.",
    "lamp": "Orsk lighthouse. The lamp burns colza oil and is lit at sunset.",
    "bridge": "Varna bridge. The bridge was built in 1902 of steel by the engineer Costa.",
    "dam": "Tolka dam. The dam was built in 1955 of concrete by the engineer Ruiz.",
}
TALK = [("Where is the Varna bridge?", "It crosses the river near the mill.")]


def write(folder: Path) -> Path:
    def lines(name: str, *rows: dict[str, Any]) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def task(key: str, question: str, gold: list[str]) -> dict[str, Any]:
        turns = [
            {"speaker": who, "text": text} for pair in TALK for who, text in zip(("user", "agent"), pair, strict=True)
        ]
        return {
            "task_id": key,
            "input": [*turns, {"speaker": "user", "text": question}],
            "contexts": [{"document_id": each, "text": PASSAGES[each]} for each in gold],
            "answerability": ["ANSWERABLE"],
            "Collection": "c",
        }

    lines(
        "dev.jsonl",
        task("a<::>1", "When was it built?", ["bridge"]),
        task("b<::>1", "When is the lamp of the Orsk lighthouse lit?", ["lamp"]),
        task("c<::>1", "Who built the tower of the Orsk lighthouse?", ["tower"]),
        task("d<::>1", "Of which material is the Tolka dam?", ["dam"]),
    )
    lines("rewrites/x_lastturn.jsonl", {"_id": "9", "text": "|user|: When was it built?"})
    lines("rewrites/x_questions.jsonl", {"_id": "9", "text": f"|user|: {TALK[0][0]}\n|user|: When was it built?"})
    lines("rewrites/x_rewrite.jsonl", {"_id": "9", "text": "|user|: When was the Varna bridge built?"})
    return folder


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("mtrag")
    out = folder / "out.json"
    arguments = [
        "rewrite",
        "--data",
        str(write(folder)),
        "--cache",
        str(folder / "cache"),
        "--json",
        str(out),
        "--quiet",
    ]
    assert main([*arguments, "--k", "1"]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_the_follow_up_finds_what_the_conversation_is_about_and_new_subjects_lose_nothing(result: dict[str, Any]):
    rows = {row["id"]: row["forms"] for row in result["questions"]["conversations"]}
    assert rows["a<::>1"]["recto"]["recall@1"] == 1
    for key in ("b<::>1", "c<::>1", "d<::>1"):
        assert rows[key]["recto"]["recall@1"] == rows[key]["last turn"]["recall@1"] == 1
        assert rows[key]["recto"]["text"] == rows[key]["last turn"]["text"]


def test_every_form_has_its_figures_with_the_difference_to_the_last_turn(result: dict[str, Any]):
    for part, metrics in (("conversations", {"recall@1", "ndcg@1"}), ("human_rewrites", {"cosine", "overlap@1"})):
        forms = result[part]["forms"]
        assert set(forms) == {"last turn", "recto", "recto, session", "all turns"}
        for figures in forms.values():
            assert set(figures) == metrics
            assert all(len(each["halves"]) == 2 for each in figures.values())
        assert all(each["above_last_turn"]["mean"] == 0 for each in forms["last turn"].values())


def test_the_rewrite_is_nearer_to_the_persons_than_the_turn_as_typed(result: dict[str, Any]):
    (row,) = result["questions"]["human_rewrites"]
    assert row["forms"]["recto"]["cosine"] > row["forms"]["last turn"]["cosine"]
    assert row["forms"]["recto"]["overlap@1"] == 1
