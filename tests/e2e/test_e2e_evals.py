"""The referee on the deployed stack: PDFs go through bucket and Lambda, and the figures are those of the pipelines."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main
from local.stack.config import PROJECT

SAMPLES = PROJECT / "local" / "samples"
MODELS = PROJECT / ".pytest_cache" / "minilm"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "pdfs").mkdir(parents=True)
    for path in SAMPLES.glob("*.pdf"):
        shutil.copy(path, folder / "pdfs")
    shutil.copy(SAMPLES / "questions.jsonl", folder)
    return folder


def retrieval(data: Path, out: Path, *more: str) -> dict[str, Any]:
    arguments = ["retrieval", "--data", str(data), "--cache", str(out.parent / "cache"), "--json", str(out), "--quiet"]
    assert main([*arguments, *more]) == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_the_deployed_stack_is_measured_and_finds_what_the_pipelines_find(
    state: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECTO_STATE", str(state))
    monkeypatch.setenv("RECTO_MODEL_CACHE", str(MODELS))
    deployed = retrieval(data, tmp_path / "stack.json")
    assert deployed["settings"]["mode"] == "laptop stack"
    assert deployed["problems"] == {}
    assert deployed["cost"]["chunks"] > 0
    assert deployed["refusals"]["answerable"]["n"] > 0

    here = retrieval(data, tmp_path / "here.json", "--in-process")
    assert here["settings"]["mode"] == "in-process"
    assert deployed["cost"]["chunks"] == here["cost"]["chunks"]
    # Quantised vectors differ a little by the batch they were made in, so that neighbours may change places.
    for metric in ("hit@5", "doc@1", "mrr"):
        assert deployed["sets"]["all"][metric] == pytest.approx(here["sets"]["all"][metric], abs=0.1)

    again = retrieval(data, tmp_path / "again.json", "--fresh")
    assert again["cost"]["ingest_seconds"]["all"] < deployed["cost"]["ingest_seconds"]["all"]
    assert again["sets"] == deployed["sets"]
