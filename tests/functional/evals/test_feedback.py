"""`evals feedback`: what users thought of answers becomes questions that the other commands read."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.cli import main
from evals.data import PdfQuestion, read_pdf_qa
from functions.query.api.feedback import RatedAnswerOut
from tests.support.eval_folder import SAMPLES, samples_in

EXAMPLES = json.loads(
    (Path(__file__).parents[3] / "functions" / "query" / "texts" / "openapi" / "conversations.json").read_text("utf-8")
)
DOC = "skarvnes-station-handbook.pdf"


def rated(n: int, rating: str, **more: Any) -> dict[str, Any]:
    """A rated answer as `GET /feedback` gives it."""
    citation = {
        "n": 1, "document_id": "d", "title": "Handbook", "source_type": "pdf", "page_start": 3, "page_end": 4,
        "page_label": "", "section": "", "quote": "Twelve.", "char_start": 0, "char_end": 7, "score": 0.7,
        "key": f"uploads/acme/manuals/{DOC}", "file_name": DOC, "version_id": "", "rects": [], "page_sizes": [],
        "corrected": False,
        "ocr": False,
        "described_by": "",
    }  # fmt: skip
    values = {
        **EXAMPLES["RatedAnswerOut"],
        "message_id": f"M{n}",
        "feedback": {"rating": rating, "reason": None, "comment": "", "updated_at": "2026-11-23T09:20:11.004Z"},
        "question": f"How many people can winter {n}?",
        "citations": [citation],
        "claims": [],
        "sources": [],
        **more,
    }
    return RatedAnswerOut.model_validate(values).model_dump()


REFUSED = {"refusal": "no_relevant_info", "citations": []}


def run(tmp_path: Path, *pages: object) -> int:
    files = []
    for number, page in enumerate(pages):
        files.append(tmp_path / f"page{number}.json")
        files[-1].write_text(json.dumps(page), "utf-8")
    out = tmp_path / "data" / "questions.jsonl"
    return main(["feedback", "--feedback", *map(str, files), "--pdfs", str(SAMPLES), "--out", str(out), "--quiet"])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with PDFs and no question yet."""
    (tmp_path / "data").mkdir()
    samples_in(tmp_path / "data")
    (tmp_path / "data" / "questions.jsonl").unlink()
    return tmp_path / "data"


def test_liked_answers_and_refusals_are_asked_again_and_disliked_ones_wait_for_a_review(
    tmp_path: Path, data: Path
) -> None:
    first = {"feedback": [rated(1, "up"), rated(2, "up", **REFUSED), rated(3, "down")], "next_cursor": "x"}
    second = {
        "feedback": [
            rated(4, "down", **REFUSED),
            rated(5, "up", rewritten="How many winter at Skarvnes?"),
            rated(6, "up", citations=[]),  # "Hello"
        ],
        "next_cursor": "",
    }
    assert run(tmp_path, first, second) == 0
    assert list(read_pdf_qa(data).questions) == [
        PdfQuestion("M1", "feedback-up", "How many people can winter 1?", DOC, (3, 4), rated(1, "up")["answer"]),
        PdfQuestion("M2", "feedback-up", "How many people can winter 2?", "", (), answerable=False),
        PdfQuestion("M5", "feedback-up", "How many winter at Skarvnes?", DOC, (3, 4), rated(1, "up")["answer"]),
    ]
    rows = [json.loads(line) for line in (data / "questions.jsonl").read_text("utf-8").splitlines()]
    assert {row["id"]: (row["review"], row["answerable"]) for row in rows if row["set"] == "feedback-down"} == {
        "M3": ("drop", True),
        "M4": ("drop", True),
    }


def test_lines_that_are_there_stay_as_they_are(tmp_path: Path, data: Path) -> None:
    page = {"feedback": [rated(3, "down")], "next_cursor": ""}
    assert run(tmp_path, page) == 0
    file = data / "questions.jsonl"
    reviewed = file.read_text("utf-8").replace('"review": "drop"', '"review": "keep"')
    file.write_text(reviewed, "utf-8")
    assert run(tmp_path, page, {"feedback": [rated(1, "up")]}) == 0
    assert file.read_text("utf-8").startswith(reviewed)
    assert [each.id for each in read_pdf_qa(data).questions] == ["M3", "M1"]


@pytest.mark.parametrize("page", [[], {}, {"feedback": [{}]}, {"feedback": ["x"]}, "none"])
def test_a_file_of_another_form_is_told(
    tmp_path: Path, data: Path, page: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, page) == 1
    assert "GET /feedback" in capsys.readouterr().err
