"""`evals cells`: printed cells of tables, and how they are read."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.cells import PrintedCell, outcome_of
from evals.cli import main
from functions.query.retrieval.passages import Passage
from shared.models import Match

SAMPLES = Path(__file__).parents[3] / "local" / "samples"
TEXT = "Catch by harbour, in tonnes\nHarbour | Herring | Cod\nVik | 31 | 12\nNes | 44 | 9\nThe year 2019 was wet."


def read(row: str, column: str, value: str) -> str:
    metadata = {"text": TEXT, "page_start": 1, "page_end": 1, "document_id": "d", "title": "", "chunk_index": 0}
    passage = Passage.of(Match("d#1#0", 0.8, metadata))
    return outcome_of(PrintedCell("catch.pdf", 1, row, column, value), [passage])


@pytest.mark.parametrize(
    ("row", "column", "value", "outcome"),
    [
        ("Vik", "Herring", "31", "right"),
        ("VIK", "herring", "31", "right"),
        ("Vik", "Cod", "31", "row only"),
        ("Nes", "Herring", "31", "apart"),
        ("Vik", "Herring", "3", "lost"),
        ("Vik", "Herring", "2019", "apart"),
    ],
)
def test_a_cell_is_right_in_its_row_and_under_its_column(row: str, column: str, value: str, outcome: str) -> None:
    assert read(row, column, value) == outcome


def test_cells_of_a_pdf_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = "tides-museum-annual-report.pdf"
    rows = [f'{report},3,May,Visitors,"14,905"', f'{report},3,June,Visitors,"14,905"', f"{report},3,May,Visitors,77"]
    (tmp_path / "cells.csv").write_text("\n".join(["pdf,page,row,column,value", *rows]))
    out = tmp_path / "out.json"
    given = ["--cells", str(tmp_path / "cells.csv"), "--pdfs", str(SAMPLES), "--cache", str(tmp_path / "cache")]
    assert main(["cells", *given, "--json", str(out), "--details", "--quiet"]) == 0
    result: dict[str, Any] = json.loads(out.read_text())
    assert [each["outcome"] for each in result["details"]] == ["right", "apart", "lost"]
    assert {name: result["all"][name] for name in ("n", "right", "row only", "apart", "lost")} == {
        "n": 3,
        "right": 1,
        "row only": 0,
        "apart": 1,
        "lost": 1,
    }
    assert "33" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "holds no row"),
        ("a.pdf,1,May,,4", "row 1: column is empty"),
        ("a.pdf,one,May,Sum,4", "`page` must be a number from 1, not 'one'"),
        ("a.pdf,0,May,Sum,4", "`page` must be a number from 1, not '0'"),
        ("a.pdf,1,May,Sum,4", "There is no a.pdf in"),
    ],
)
def test_a_file_in_another_form_is_explained(
    line: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(f"pdf,page,row,column,value\n{line}\n")
    given = ["--cells", str(file), "--pdfs", str(SAMPLES), "--cache", str(tmp_path)]
    assert main(["cells", *given, "--quiet"]) == 1
    assert said in capsys.readouterr().err
