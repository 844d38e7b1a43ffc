"""The samples as a folder to evaluate on: `pdfs/` and `questions.jsonl`."""

import shutil
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "local" / "samples"


def samples_in(folder: Path) -> Path:
    """Copy the samples into an empty folder, and return it."""
    (folder / "pdfs").mkdir()
    for path in SAMPLES.glob("*.pdf"):
        shutil.copy(path, folder / "pdfs")
    shutil.copy(SAMPLES / "questions.jsonl", folder)
    return folder
