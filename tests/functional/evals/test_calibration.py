"""Calibration end to end: kinds of questions apart, a model behind an API, and the setting written where it counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals import calibrate as command
from evals.cli import main
from local.stack.config import LocalConfig
from tests.support.eval_folder import samples_in
from tests.support.openai_server import running_openai

KINDS = {"answerable", "near_topic", "missing", "off_topic"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples_in(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def calibrate(data: Path, cache: Path, out: Path, *more: str) -> dict[str, Any]:
    arguments = ["calibrate", "--data", str(data), "--cache", str(cache), "--json", str(out), "--quiet", *more]
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_gaps_are_told_apart_and_the_curve_only_rises(data: Path, cache: Path, tmp_path: Path) -> None:
    result = calibrate(data, cache, tmp_path / "out.json", "--lost", "0.2", "--html", str(tmp_path / "page.html"))
    assert set(result["n"]) == KINDS
    assert result["n"]["missing"] == result["n"]["off_topic"] == result["n"]["answerable"] > 0
    for kind in KINDS:
        shares = [point[kind] for point in result["curve"] if point[kind] is not None]
        assert shares == sorted(shares)
    assert result["chosen"]["answerable"] <= 0.2
    assert result["chosen"]["off_topic"] > result["chosen"]["answerable"]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "src=" not in page


def test_nothing_is_written_unless_it_is_asked_for(
    data: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECTO_STATE", str(tmp_path / "state"))
    calibrate(data, cache, tmp_path / "out.json")
    assert "Nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "state").exists()


def test_the_laptop_stack_is_deployed_with_what_was_written(
    data: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("RECTO_STATE", str(state))
    LocalConfig(state=state, parameters={"TopK": "5"}).save()
    result = calibrate(data, cache, tmp_path / "out.json", "--lost", "0.2", "--write")
    written = LocalConfig.load(state, {}).parameters
    assert written == {"TopK": "5", "ScoreThreshold": f"{result['chosen']['threshold']:.2f}"}


def test_nothing_is_written_that_one_unlucky_question_would_decide(
    data: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("RECTO_STATE", str(state))
    assert main(["calibrate", "--data", str(data), "--cache", str(cache), "--quiet", "--write"]) == 1
    assert "Take 40 or more" in capsys.readouterr().out
    assert not state.exists()


def test_a_model_behind_an_api_that_nobody_has_calibrated_can_be(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SCORE_THRESHOLDS", {})
    with running_openai(tmp_path / "openai") as url:
        remote = ("--embedding-model", "text-embedding-3-small", "--embedding-url", url)
        result = calibrate(data, tmp_path / "cache", tmp_path / "out.json", *remote, "--sample", "4")
    assert result["settings"]["embedding"] == "text-embedding-3-small@1536"
    assert result["present"] is None
    assert 0.0 < result["chosen"]["threshold"] < 1.0


def test_a_model_of_unknown_size_is_asked_about(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["calibrate", "--data", str(data), "--cache", str(tmp_path), "--embedding-model", "mystery"]
    assert main(arguments) == 1
    assert "--embedding-dimensions" in capsys.readouterr().err
