"""`evals documents`: among many documents that read alike, does the one a question names come first?

The data: `DIR/docs/*.pdf` and `DIR/qna_data.csv`, the form of KG-RAG's SEC 10-Q set.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from evals.context import Options, SystemContext, open_context
from evals.data import csv_rows, data_folder, sampled
from evals.errors import DatasetError
from evals.metrics import hit_at, reciprocal_rank, summary
from evals.scoring import DEPTH
from evals.storage import environment, file_hash, source_hash
from evals.systems.base import System, chosen_systems, open_system

KS = (1, 3, 5)
METRICS = (*(f"doc@{k}" for k in KS), "mrr")
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


def documents(options: Options, *, systems: Sequence[Sequence[str]] | None) -> int:
    """Ask every question of every system; print, and write with `--json`."""
    data = read_filings(options.data, sample=options.sample)
    results = {}
    with open_context(options) as context:
        for name in chosen_systems(systems):
            with options.display.progress(), closing(open_system(name, context)) as system:
                results[name] = _measure(system, data, context, options)
            _show(results[name], options)
    first, *others = results.values()
    options.save({**first, "others": {each["system"]: each for each in others}})
    return 0


def _measure(system: System, data: Filings, context: SystemContext, options: Options) -> dict[str, Any]:
    depends_on = {
        "pdfs": {path.name: file_hash(path) for path in data.pdfs},
        "questions": [question.text for question in data.questions],
        "system": [system.name, system.settings, system.versions],
        "evals": source_hash("evals/systems", "evals/research/documents.py"),
    }
    ranked: list[list[str]] = context.cache.get(
        "documents", depends_on, lambda: _run(system, data, context), fresh=options.fresh
    )
    rows: list[dict[str, Any]] = [
        {
            "id": question.id,
            "set": question.set,
            "question": question.text,
            "docs": sorted(question.docs),
            "ranked": order[: max(KS)],
            **{f"doc@{k}": hit_at(order, question.docs, k) for k in KS},
            "mrr": reciprocal_rank(order, question.docs, len(order)),
        }
        for question, order in zip(data.questions, ranked, strict=True)
    ]
    return {
        "command": "documents",
        "system": system.name,
        "versions": {**system.versions, **environment()},
        "settings": {**system.settings, "pdfs": len(data.pdfs), **options.chosen},
        "sets": {
            name: summary([row for row in rows if row["set"] == name], METRICS, seed=options.seed)
            for name in sorted({row["set"] for row in rows})
        },
        "questions": rows,
    }


def _run(system: System, data: Filings, context: SystemContext) -> list[list[str]]:
    """Return the documents of each question in the order their best chunks came."""
    system.ingest(data.pdfs)
    found = []
    for number, question in enumerate(data.questions):
        context.progress(f"{system.name}: asking", number, len(data.questions))
        hits = system.search(question.text, DEPTH).hits
        found.append(list(dict.fromkeys(hit.doc for hit in hits)))
    return found


def _show(result: Mapping[str, Any], options: Options) -> None:
    rows = [
        [name, str(figures["n"]), *("{:.3f} ({:.2f}–{:.2f})".format(figures[m], *figures["ci"][m]) for m in METRICS)]
        for name, figures in result["sets"].items()
    ]
    options.display.table(f"Right document, {result['system']}", ["asked about", "n", *METRICS], rows)


def read_filings(folder: Path, *, sample: int | None = None) -> Filings:
    """Read a folder. Raises `DatasetError`. A sample is one of questions; the PDFs are all kept."""
    data_folder(folder, FORM, "docs", "qna_data.csv")
    pdfs = sorted(path for path in (folder / "docs").iterdir() if path.suffix.lower() == ".pdf")
    if not pdfs:
        raise DatasetError(f"{folder / 'docs'} holds no .pdf file. Expected is:\n{FORM}")
    questions = []
    for number, where, row in csv_rows(folder / "qna_data.csv", FORM):
        text, sources = row.get("Question"), row.get("Source Docs")
        if not text or not sources:
            raise DatasetError(f"{where}: Question or Source Docs is empty.\n{FORM}")
        patterns = [pattern.strip().removesuffix(".pdf") for pattern in sources.split(",")]
        docs = frozenset(pdf.name for pdf in pdfs if any(fnmatch(pdf.stem, each) for each in patterns))
        if not docs:
            raise DatasetError(f"{where}: no PDF in docs/ is named {sources!r}.")
        questions.append(FilingQuestion(str(number), _set(text, docs), text, docs))
    return Filings(pdfs, sampled(questions, sample, key=lambda question: question.id))


def _set(text: str, docs: frozenset[str]) -> str:
    if len(docs) > 1:
        return "several documents"
    return "one, quarter named" if _QUARTER.search(text) else "one, quarter not named"
