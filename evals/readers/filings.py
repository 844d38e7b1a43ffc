"""Filings and questions that name them: `DIR/docs/*.pdf` and `DIR/qna_data.csv` (the form of KG-RAG's SEC 10-Q set)."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from evals.errors import DataError
from evals.readers.files import data_folder, sampled

FORM = """  DIR/docs/*.pdf      the documents
  DIR/qna_data.csv    a line of names on top, among them Question and Source Docs: file names without .pdf, `*` for
                      anything, with commas between them"""
_QUARTER = re.compile(r"\bQ[1-4]\b|\b(?:first|second|third|fourth) quarter\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FilingQuestion:
    """A question and the documents it is about. `set` says how they are named in it."""

    id: str
    set: str
    text: str
    docs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Filings:
    """The PDFs in the order of their names, and the questions."""

    pdfs: Sequence[Path]
    questions: Sequence[FilingQuestion]


def read_filings(folder: Path, *, sample: int | None = None) -> Filings:
    """Read a folder. Raises `DataError`. A sample is one of questions; the PDFs are all kept."""
    data_folder(folder, FORM, "docs", "qna_data.csv")
    pdfs = sorted(path for path in (folder / "docs").iterdir() if path.suffix.lower() == ".pdf")
    if not pdfs:
        raise DataError(f"{folder / 'docs'} holds no .pdf file. Expected is:\n{FORM}")
    questions = []
    with (folder / "qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=1):
            text, sources = row.get("Question"), row.get("Source Docs")
            if not text or not sources:
                raise DataError(f"{folder / 'qna_data.csv'}, row {number}: Question or Source Docs is empty.\n{FORM}")
            patterns = [pattern.strip().removesuffix(".pdf") for pattern in sources.split(",")]
            docs = frozenset(path.name for path in pdfs if any(fnmatch(path.stem, each) for each in patterns))
            if not docs:
                raise DataError(f"{folder / 'qna_data.csv'}, row {number}: no PDF in docs/ is named {sources!r}.")
            questions.append(FilingQuestion(str(number), _set(text, docs), text, docs))
    if not questions:
        raise DataError(f"{folder / 'qna_data.csv'} holds no question. Expected is:\n{FORM}")
    return Filings(pdfs, sampled(questions, sample, key=lambda question: question.id))


def _set(text: str, docs: frozenset[str]) -> str:
    if len(docs) > 1:
        return "several documents"
    return "one, quarter named" if _QUARTER.search(text) else "one, quarter not named"
