"""`evals answers`: are the answers cited, exactly quoted, supported by their quotes, and refused when they should be?

Everything is checked without a model, by means of its own (`evals.support`). `found` is a stand-in for being right: the
share of the expected answer's content words that occur in the answer or its quotes, counted as found from 0.8 on.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from evals.bootstrap import interval
from evals.cache import file_hash, source_hash
from evals.commands.common import Options, context_of, embedding
from evals.errors import EvalError
from evals.readers.pdf_qa import PdfQa, PdfQuestion, read_pdf_qa
from evals.results import environment, write_json
from evals.support import check, recall_of
from evals.systems import SystemContext
from evals.systems.asking import Asker
from evals.systems.recto import RectoInProcess
from functions.query.pipeline import Answer
from shared.adapters.openai import OpenAIChatModel
from shared.errors import RectoError

FOUND_FROM = 0.8
SHARES = ("valid", "exact", "supported", "on_expected_page", "found")


def answers(options: Options, *, model: str, base_url: str, in_process: bool) -> int:  # noqa: ARG001 - always is
    """Answer every question and check the answers; print, and write with `--json`."""
    if base_url and not model:
        raise EvalError("--base-url needs --model: say which model of that server to ask.")
    data = read_pdf_qa(options.data, sample=options.sample)
    with embedding(options) as embedder, options.display.progress():
        context = context_of(options, embedder)
        system = RectoInProcess(context)
        try:
            depends_on = {
                "pdfs": {path.name: file_hash(path) for path in data.pdfs},
                "questions": [asdict(question) for question in data.questions],
                "system": [system.settings, system.versions],
                "chat": [model, base_url],
                "evals": source_hash("evals/systems", "evals/commands/answers.py", "evals/support.py"),
            }
            run = context.cache.get(
                "answers", depends_on, lambda: _run(system, data, context, model, base_url), fresh=options.fresh
            )
        finally:
            system.close()
        result = {
            "command": "answers",
            "versions": {**system.versions, **environment()},
            "settings": {**system.settings, "model": model or "none (extractive)", "sample": options.sample},
            "sets": _summaries(run, options.seed),
            "questions": run,
        }
    _show(result, options)
    if options.json:
        write_json(options.json, result)
    return 0


def _run(
    system: RectoInProcess, data: PdfQa, context: SystemContext, model: str, base_url: str
) -> list[dict[str, Any]]:
    system.ingest(data.pdfs)
    asker = system.asker
    if model:
        chat = OpenAIChatModel(
            base_url=base_url or os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            api_key=os.environ.get("OPENAI_API_KEY", "none"),
            model=model,
        )
        asker = replace(asker, ports=replace(asker.ports, chat=chat))
    rows = []
    for number, question in enumerate(data.questions):
        context.progress("answering", number, len(data.questions))
        rows.append(_row(question, asker))
        if "model_unavailable" in rows[-1].get("warnings", ()):
            # An answer by other means is not the model's; and what is not kept is asked again next time.
            raise EvalError(
                f"The model {model} did not answer question {question.id}: check --model, --base-url, OPENAI_API_KEY."
            )
        if rows[-1]["mode"] == "failed":
            raise EvalError(f"Question {question.id} could not be answered: {rows[-1]['error']}")
    return rows


def _row(question: PdfQuestion, asker: Asker) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": question.id,
        "set": question.group if question.answerable else f"{question.set}/unanswerable",
        "question": question.text,
        "expected": question.answer,
        "answerable": question.answerable,
    }
    try:
        answer = asker.answer(question.text)
    except RectoError as error:
        return {**row, "mode": "failed", "refused": False, "answer": "", "error": error.message}
    checks = check(answer.text, answer.citations, answer.sources) if not answer.no_relevant_info else None
    row |= {
        "mode": answer.mode,
        "refused": answer.no_relevant_info,
        "answer": answer.text,
        "best_score": answer.best_score,
        "dropped_citations": answer.dropped_citations,
        "warnings": list(answer.warnings),
        "tokens": [answer.usage.input_tokens, answer.usage.output_tokens],
        "milliseconds": dict(answer.timings_ms),
        "citations": [_citation(citation, asker.names) for citation in answer.citations],
    }
    if checks is not None:
        row |= {name: getattr(checks, name) for name in ("valid", "exact", "supported")}
        if question.is_ranked:
            row["on_expected_page"] = float(_is_on_page(question, answer, asker.names))
    if question.answerable and question.answer:
        recall = recall_of(question.answer, [answer.text, *(citation.quote for citation in answer.citations)])
        row["found"] = None if recall is None else float(recall >= FOUND_FROM and not answer.no_relevant_info)
    return row


def _citation(citation: Any, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "n": citation.n,
        "doc": names.get(citation.document_id, citation.document_id),
        "pages": [citation.page_start, citation.page_end],
        "quote": citation.quote,
    }


def _is_on_page(question: PdfQuestion, answer: Answer, names: Mapping[str, str]) -> bool:
    return any(
        names.get(citation.document_id) == question.doc
        and any(citation.page_start <= page <= citation.page_end for page in question.pages)
        for citation in answer.citations
    )


def _summaries(rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in dict.fromkeys(row["set"] for row in rows):
        members = [row for row in rows if row["set"] == name]
        refused = interval([float(row["refused"]) for row in members], seed=seed)
        found[name] = {
            "n": len(members),
            "refused": refused.mean,
            "modes": dict(Counter(row["mode"] for row in members)),
            "citations": sum(len(row.get("citations", ())) for row in members),
            "dropped_citations": sum(row.get("dropped_citations", 0) for row in members),
            "tokens": sum(sum(row.get("tokens", ())) for row in members),
            "ci": {"refused": [refused.low, refused.high]},
        }
        for share in SHARES:
            values = [row[share] for row in members if row.get(share) is not None]
            if values:
                value = interval(values, seed=seed)
                found[name][share] = value.mean
                found[name]["ci"][share] = [value.low, value.high]
    return found


def _show(result: Mapping[str, Any], options: Options) -> None:
    rows = []
    for name, figures in result["sets"].items():
        shares = [f"{figures[share]:.3f}" if share in figures else "" for share in SHARES]
        rows.append([name, str(figures["n"]), f"{figures['refused']:.3f}", str(figures["citations"]), *shares])
    columns = ["set", "n", "refused", "citations", "valid", "exact", "supported", "on the page", "found"]
    options.display.table(f"Answers, {result['settings']['model']}", columns, rows)
