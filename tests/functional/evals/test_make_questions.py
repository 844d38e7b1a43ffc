"""`evals make-questions`: what it writes can be reviewed, filled up, and read by the other commands."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evals import make_questions
from evals.cli import main
from evals.data import read_pdf_qa
from evals.errors import DatasetError
from tests.support.chat_servers import Reply, RunningServer, running_chat_server
from tests.support.eval_folder import SAMPLES


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def make(out: Path, cache: Path, *more: str) -> int:
    return main(["make-questions", "--pdfs", str(SAMPLES), "--out", str(out), "--cache", str(cache), "--quiet", *more])


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_questions_are_drafted_and_read_by_the_other_commands(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "data" / "questions.jsonl"
    assert make(out, cache, "--count", "50") == 0
    said = capsys.readouterr().out
    assert "50 questions added, 50 kept of 50" in said
    assert "too few" not in said
    data = read_pdf_qa(tmp_path / "data")
    assert len(data.questions) == 50
    assert sum(question.is_ranked for question in data.questions) == 40
    assert {question.doc for question in data.questions} == {path.name for path in SAMPLES.glob("*.pdf")}
    for row in rows_of(out):
        assert row["question"].endswith("?")
        assert row["review"] == "keep"
        assert bool(row["pages"] and row["quote"]) is row["answerable"]
    assert len({row["question"] for row in rows_of(out)}) == 50
    again = tmp_path / "again" / "questions.jsonl"
    assert make(again, cache, "--count", "50", "--fresh") == 0
    assert again.read_bytes() == out.read_bytes()


def test_a_reviewed_file_is_filled_up_and_its_lines_stay_as_they_are(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "questions.jsonl"
    assert make(out, cache, "--count", "10") == 0
    rows = rows_of(out)
    rows[0]["review"] = "drop"
    rows[1]["question"] = "How deep is the borehole, really?"
    mine = {"question": "Who cooks on Sundays?", "doc": rows[1]["doc"], "pages": [3], "mine": "kept"}
    out.write_text("\n".join(json.dumps(row) for row in (*rows, mine)))
    assert make(out, cache, "--count", "12") == 0
    now = rows_of(out)
    assert now[: len(rows) + 1] == [*rows, mine]
    assert len([row for row in now if row.get("review") != "drop"]) == 12
    assert rows[0]["question"] not in [row["question"] for row in now[1:]]
    data = read_pdf_qa(tmp_path)
    assert rows[0]["question"] not in [question.text for question in data.questions]
    assert make(out, cache, "--count", "12") == 0
    assert rows_of(out) == now


def test_a_review_that_is_neither_is_refused(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "questions.jsonl"
    assert make(out, cache, "--count", "5") == 0
    out.write_text(out.read_text().replace('"review": "keep"', '"review": "dorp"', 1))
    with pytest.raises(DatasetError, match="line 1: `review` must be keep or drop, not 'dorp'"):
        read_pdf_qa(tmp_path)


def test_ctrl_c_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    original = make_questions._read_one

    def interrupted(path: Path) -> dict[str, Any]:
        if len(read) == 1:
            raise KeyboardInterrupt
        read.append(path.name)
        return original(path)

    out, cache = tmp_path / "questions.jsonl", tmp_path / "cache"
    monkeypatch.setattr(make_questions, "_read_one", interrupted)
    assert make(out, cache, "--count", "10") == 130
    assert not out.exists()
    monkeypatch.setattr(make_questions, "_read_one", lambda path: (read.append(path.name), original(path))[1])
    assert make(out, cache, "--count", "10") == 0
    assert sorted(read) == sorted(path.name for path in SAMPLES.glob("*.pdf"))


def test_too_few_questions_are_said(tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(tmp_path / "questions.jsonl", cache, "--count", "10") == 0
    assert "8 answerable questions are too few for `evals calibrate`, which needs 40" in capsys.readouterr().out


def test_a_folder_without_pdfs_and_a_server_without_a_model_are_refused(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "questions.jsonl"
    assert main(["make-questions", "--pdfs", str(tmp_path), "--out", str(out), "--cache", str(cache)]) == 1
    assert "holds no .pdf file" in capsys.readouterr().err
    assert make(out, cache, "--base-url", "http://127.0.0.1:1/v1") == 1
    assert "--base-url needs --model" in capsys.readouterr().err


# --- with a model -----------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_chat_server() as running:
        yield running


def drafting(running: RunningServer) -> None:
    """Let the model quote each page's own words in one question and make another one up."""

    def answer(body: dict[str, Any]) -> None:
        shown = body["messages"][1]["content"]
        data = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
        if "passages" in data:
            assert len(data["passages"]) == 4
            running.reply = Reply(json.dumps({"answered": "penguins" in data["question"]}))
            return
        words = data["text"].split()[20:28]
        good = {"question": f"What about {words[0]} {words[-1]} at the site?", "answer": words[1]}
        quoted = {**good, "quote": " ".join(words), "kind": "fact"}
        invented = {
            **quoted,
            "question": f"What is invented about {words[2]} {words[3]}?",
            "quote": "words that stand nowhere",
        }
        pointing = {**quoted, "question": "What does this page say about it?"}
        asked = {
            "questions": [quoted, invented, pointing, "nonsense"],
            "unanswerable": f"How many {words[0]} zebras live here?",
        }
        if len(running.bodies) == 1:
            asked["unanswerable"] = "Where do the penguins sleep?"
        running.reply = Reply("```json\n" + json.dumps(asked) + "\n```")

    running.refuses = answer


def test_a_model_drafts_and_everything_is_checked(
    tmp_path: Path, cache: Path, server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    drafting(server)
    out = tmp_path / "questions.jsonl"
    assert make(out, cache, "--count", "10", "--model", "stub", "--base-url", server.url) == 0
    rows = rows_of(out)
    assert len(rows) == 10
    answerable = [row for row in rows if row["answerable"]]
    assert len(answerable) == 8
    assert all(row["quote"] and row["pages"] for row in answerable)
    assert not any("invented" in row["question"] or "this page" in row["question"] for row in rows)
    assert not any("penguins" in row["question"] for row in rows)  # the model found an answer to it
    assert all("zebras" in row["question"] for row in rows if not row["answerable"])
    assert server.bodies[0]["response_format"]["json_schema"]["strict"] is True
    asked = len(server.bodies)
    assert make(tmp_path / "again.jsonl", cache, "--count", "10", "--model", "stub", "--base-url", server.url) == 0
    assert len(server.bodies) == asked  # every reply is cached
    assert "name it" in capsys.readouterr().out


def test_a_model_that_fails_is_named_and_what_it_wrote_is_kept(
    tmp_path: Path, server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    drafting(server)
    answering = server.refuses

    def failing(body: dict[str, Any]) -> tuple[int, object] | None:
        return (401, {"error": {"message": "bad key"}}) if len(server.bodies) > 3 else answering(body)

    server.refuses = failing
    arguments = ("--count", "10", "--model", "stub", "--base-url", server.url)
    assert make(tmp_path / "questions.jsonl", tmp_path / "cache", *arguments) == 1
    said = capsys.readouterr().err
    assert "The model stub did not answer" in said
    assert "OPENAI_API_KEY" in said
    first = len(server.bodies)
    server.refuses = answering
    assert make(tmp_path / "questions.jsonl", tmp_path / "cache", *arguments) == 0
    contents = [body["messages"][1]["content"] for body in server.bodies]
    assert not set(contents[:3]) & set(contents[first:])
