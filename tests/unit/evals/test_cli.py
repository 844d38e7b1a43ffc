"""The command line: what it takes, and what it says when it cannot."""

from pathlib import Path

import pytest

from evals.cli import main
from evals.errors import EvalError
from evals.systems.base import SYSTEMS, chosen_systems


def test_recto_is_measured_when_nobody_is_named() -> None:
    assert chosen_systems(None) == ["recto"]


def test_systems_come_with_commas_or_one_by_one_and_only_once() -> None:
    assert chosen_systems([["recto", "bm25-pages"], ["recto", "langchain"]]) == ["recto", "bm25-pages", "langchain"]
    assert chosen_systems([["all"]]) == list(SYSTEMS)


def test_an_unknown_system_is_answered_with_the_known_ones() -> None:
    with pytest.raises(EvalError, match="choose from recto, langchain, llamaindex, bm25-pages"):
        chosen_systems([["haystack"]])


@pytest.mark.parametrize(
    "arguments",
    [
        ["retrieval"],
        ["retrieval", "--data", "x", "--k", "0"],
        ["retrieval", "--data", "x", "--sample", "0"],
        ["calibrate", "--data", "x", "--lost", "2"],
        ["guess"],
    ],
)
def test_arguments_that_make_no_sense_end_with_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: python -m evals" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["retrieval", "answers", "calibrate", "documents", "chunking", "extractive", "rewrite"]
)
def test_every_command_on_data_says_what_it_expects_of_the_folder(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--data", str(tmp_path / "missing"), "--cache", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "is not a folder. --data takes a folder of this form" in said
    assert "DIR/" in said


def test_a_running_stack_is_asked_for_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECTO_STATE", str(tmp_path / "no-stack"))
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "a.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "questions.jsonl").write_text('{"question": "Why?", "doc": "a.pdf", "pages": [1]}')
    models = Path(__file__).parents[3] / ".pytest_cache" / "minilm"
    monkeypatch.setenv("RECTO_MODEL_CACHE", str(models))
    assert main(["retrieval", "--data", str(tmp_path), "--cache", str(tmp_path / "cache"), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "The laptop stack is not running" in said
    assert "--in-process" in said


def test_compare_and_report_refuse_files_that_are_no_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    file.write_text("{}")
    assert main(["compare", str(file), str(file)]) == 1
    assert "give a file written by `python -m evals" in capsys.readouterr().err
    for text in ("{}", "[1, 2]", '{"command": "chunking"}'):
        file.write_text(text)
        assert main(["report", str(file), "--out", str(tmp_path / "r")]) == 1
        assert str(file) in capsys.readouterr().err
