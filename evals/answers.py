"""`evals answers`: are the answers cited, exactly quoted, supported by their quotes, and refused when they should be?

Everything is checked without a model, independently of the pipeline (`evals.answer_checks`); `claims` is the pipeline's
own verdict. `first` is what confidence estimates: the first citation stands on an expected page. `found` stands in for
correctness: at least 0.8 of the expected answer's content words occur in the answer or its quotes; of a question with
`words`, all of these in the answer itself, before what it only points to.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cache, partial
from typing import Any

from evals.answer_checks import check, recall_of
from evals.context import Options, SystemContext, open_context
from evals.data import PdfQa, PdfQuestion, exchanged, read_pdf_qa
from evals.errors import EvalError
from evals.fitting import reliability
from evals.metrics import summary
from evals.storage import environment, file_hash, source_hash
from evals.systems.recto import Asker, RectoInProcess
from functions.query.answer import Answer
from functions.query.writing.localization import languages, texts_for, without_notes
from shared.adapters.openai import OpenAIChatModel
from shared.errors import RectoError
from shared.lexical import fold
from shared.models import Citation

FOUND_FROM = 0.8
SHARES = ("valid", "exact", "supported", "claims", "on_expected_page", "first", "found")


def answers(options: Options, *, model: str, base_url: str, exchange: bool, in_process: bool) -> int:  # noqa: ARG001 - always is
    """Answer every question and check the answers; print, and write with `--json`.

    With `exchange`, questions with names and years that no document is about are asked as well.
    """
    if base_url and not model:
        raise EvalError("--base-url needs --model: say which model of that server to ask.")
    data = read_pdf_qa(options.data, sample=options.sample)
    if exchange:
        data = replace(data, questions=[*data.questions, *exchanged(data.questions, data.pdfs)])
    with open_context(options) as context, options.display.progress(), closing(RectoInProcess(context)) as system:
        run, problems = _run(system, data, context, model, base_url, fresh=options.fresh)
    result = {
        "command": "answers",
        "versions": {**system.versions, **environment()},
        "settings": {**system.settings, "model": model or "none (extractive)", "sample": options.sample},
        "sets": _summaries(run, options.seed),
        "confidence": _reliability(run),
        "problems": {**data.remarks, **problems},
        "questions": run,
    }
    _show(result, options)
    options.save(result)
    return 0


def _run(
    system: RectoInProcess, data: PdfQa, context: SystemContext, model: str, base_url: str, *, fresh: bool
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Answer the questions, and say what went wrong with the PDFs.

    Each answer is cached at once, because a model's answers cost time and money.
    """
    asker = _asker(system, model, base_url)
    depends_on = {
        "pdfs": {path.name: file_hash(path) for path in data.pdfs},
        "system": [system.settings, system.versions],
        "chat": [model, base_url],
        "evals": source_hash("evals/systems", "evals/answers.py", "evals/answer_checks.py"),
    }
    rows: list[dict[str, Any]] = []
    ingest = cache(lambda: dict(system.ingest(data.pdfs).problems))

    def made(question: PdfQuestion) -> dict[str, Any]:
        ingest()
        return _row(question, asker, model)

    for number, question in enumerate(data.questions):
        context.progress("answering", number, len(data.questions))
        key = {**depends_on, "question": asdict(question)}
        rows.append(context.cache.get("answers", key, partial(made, question), fresh=fresh))
    return rows, context.cache.get("problems", depends_on, ingest, fresh=fresh)


def _asker(system: RectoInProcess, model: str, base_url: str) -> Asker:
    if not model:
        return system.asker
    chat = OpenAIChatModel(
        base_url=base_url or os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        model=model,
    )
    return replace(system.asker, ports=replace(system.asker.ports, chat=chat))


def _row(question: PdfQuestion, asker: Asker, model: str) -> dict[str, Any]:
    try:
        answer = asker.answer(question.text)
    except RectoError as error:
        raise EvalError(f"Question {question.id} could not be answered: {error.message}") from error
    if {"model_unavailable", "model_refused"} & set(answer.warnings):
        # An answer that the model did not write is not cached, so it is asked again next time.
        raise EvalError(
            f"The model {model} did not answer question {question.id}: check --model, --base-url, OPENAI_API_KEY."
        )
    row: dict[str, Any] = {
        "id": question.id,
        "set": question.group if question.answerable else f"{question.set}/unanswerable",
        "question": question.text,
        "expected": question.answer,
        "answerable": question.answerable,
        "mode": answer.mode,
        "refused": answer.no_relevant_info,
        "answer": answer.text,
        "score": answer.decision.score if answer.decision else None,
        "band": answer.band,
        "confidence": answer.confidence,
        "support": asdict(answer.support),
        "dropped_citations": answer.dropped_citations,
        "warnings": list(answer.warnings),
        "tokens": [answer.usage.input_tokens, answer.usage.output_tokens],
        "milliseconds": dict(answer.timings_ms),
        "citations": [_citation(citation, asker.names) for citation in answer.citations],
    }
    if not answer.no_relevant_info:
        checks = check(without_notes(answer.text), answer.citations, answer.sources)
        row |= {name: getattr(checks, name) for name in ("valid", "exact", "supported")}
        if answer.support.claims:
            row["claims"] = answer.support.confirmed / answer.support.claims
        if question.is_ranked:
            row["on_expected_page"] = float(asker.is_expected(question, answer.citations))
        if question.is_ranked or not question.answerable:
            row["first"] = float(question.answerable and asker.is_expected(question, answer.citations[:1]))
    if question.answerable and (question.answer or question.words):
        row["found"] = _found(question, answer)
    return row


def _found(question: PdfQuestion, answer: Answer) -> float | None:
    if question.words:
        said = _plain(_before_further(answer.text))
        return float(not answer.no_relevant_info and all(_plain(word) in said for word in question.words))
    recall = recall_of(question.answer, [answer.text, *(citation.quote for citation in answer.citations)])
    return None if recall is None else float(recall >= FOUND_FROM and not answer.no_relevant_info)


def _before_further(answer: str) -> str:
    """Return an answer without what it only points to, below the heading for that."""
    for texts in map(texts_for, languages()):
        answer = answer.partition(f"\n\n{texts.further}\n")[0]
    return answer


def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split())


def _citation(citation: Citation, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "n": citation.n,
        "doc": names.get(citation.document_id, citation.document_id),
        "pages": [citation.page_start, citation.page_end],
        "quote": citation.quote,
    }


def _reliability(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return whether confidence says how often the first citation is right; questions for pictures are left out."""
    pairs = [
        (row["confidence"], row["first"] == 1.0)
        for row in rows
        if row["confidence"] is not None and "first" in row and not row["set"].endswith("/visual")
    ]
    return reliability(pairs) if pairs else {}


def _summaries(rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in dict.fromkeys(row["set"] for row in rows):
        members = [row for row in rows if row["set"] == name]
        found[name] = {
            **summary(members, ("refused", *SHARES), seed=seed),
            "modes": dict(Counter(row["mode"] for row in members)),
            "citations": sum(len(row["citations"]) for row in members),
            "dropped_citations": sum(row["dropped_citations"] for row in members),
            "tokens": sum(sum(row["tokens"]) for row in members),
            "flags": dict(Counter(flag for row in members for flag in row["support"]["flags"])),
        }
    return found


def _show(result: Mapping[str, Any], options: Options) -> None:
    rows = []
    for name, figures in result["sets"].items():
        shares = [f"{figures[share]:.3f}" if share in figures else "" for share in SHARES]
        rows.append([name, str(figures["n"]), f"{figures['refused']:.3f}", str(figures["citations"]), *shares])
    columns = ["set", "n", "refused", "citations", "valid", "exact", "supported", "claims", "page", "first", "found"]
    options.display.table(f"Answers, {result['settings']['model']}", columns, rows)
    for name, problem in result["problems"].items():
        options.display.say(f"{name}: {problem}")
    known = result["confidence"]
    if known:
        bins = ", ".join(f"{each['estimated']:.2f} → {each['right']:.2f}" for each in known["bins"])
        options.display.say(f"confidence → first citation right: {bins}; expected calibration error {known['ece']:.3f}")
