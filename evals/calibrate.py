"""`evals calibrate`: below which relevance to refuse, what that costs and gains, and how reliable confidence is.

Each question is asked without refusing for lack of relevance, and its relevance and first citation are recorded. A
question about a name or period that no document is about is refused at any threshold: its relevance counts as 0. There
are four kinds. Answerable: from the text, over all documents. Near the topic: the data's unanswerable ones, over all
documents. Missing: the answerable ones, asked of all documents except their own, as if it had never been uploaded.
Off-topic: the answerable ones, asked of one other document, as when somebody asks about something else.
"""

import os
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any

from evals import fitting
from evals.context import Options, SystemContext, open_context
from evals.data import FORM, PdfQa, PdfQuestion, read_pdf_qa
from evals.display import line_plot
from evals.errors import DatasetError, EvalError
from evals.fitting import ANSWERABLE, KINDS, MISSING, NEAR_TOPIC, OFF_TOPIC, ScoredQuestion, point
from evals.report import check_installed, html_page
from evals.storage import PROJECT, environment, file_hash, read_json, source_hash, write_text
from evals.systems.recto import Asker, RectoInProcess
from functions.query.answer import Answer
from functions.query.decision import features
from local.stack.config import LocalConfig
from shared.models import Filter
from shared.settings import CONFIDENCE, SCORE_THRESHOLDS

CONFIDENCES = (
    ("held_out", "fitted to other documents"),
    ("elsewhere", "fitted to other collections"),
    ("shipped", "as shipped"),
)
PARAMETER = "ScoreThreshold"
STATEMENT_PARAMETER = "StatementThreshold"
CONFIDENCE_PARAMETER = "ConfidenceCoefficients"
LAPTOP, AWS = "laptop", "aws"
DEPLOY_PARAMETERS = "deploy.parameters"
COLUMNS = ["", "value", "answerable", "near the topic", "document missing", "off-topic", "precision"]


def calibrate(
    options: Options,
    *,
    lost: float,
    write_to: str,
    html: Path | None,
    learn_from: Sequence[Path],
    in_process: bool,  # noqa: ARG001 - always is
) -> int:
    """Ask all kinds of questions, draw the curve, suggest a threshold; print, and write what was asked for.

    It suggests the highest threshold that refuses no more than the share `lost` of the answerable questions.
    `learn_from` are results of other collections: confidence is fitted on them and measured on this one.
    """
    elsewhere = [[ScoredQuestion.of(row) for row in read_json(path, "asked")["asked"]] for path in learn_from]
    if html:
        check_installed()
    data = read_pdf_qa(options.data, sample=options.sample)
    if not any(question.is_ranked and question.from_text for question in data.questions):
        raise DatasetError(f"{options.data} holds no question that is answerable from text. Expected is:\n{FORM}")
    with open_context(options) as context, options.display.progress():
        model = context.embedder.space.model
        # A model nobody has calibrated has no threshold yet, and none is needed: nothing is refused here.
        known = model in SCORE_THRESHOLDS
        with closing(RectoInProcess(context, None if known else {"score_threshold": 0.0})) as system:
            depends_on = {
                "pdfs": {path.name: file_hash(path) for path in data.pdfs},
                "questions": [(each.id, each.text, each.doc, each.pages, each.answerable) for each in data.questions],
                "system": [system.settings, system.versions],
                "evals": source_hash("evals/systems", "evals/calibrate.py"),
            }
            kept = context.cache.get(
                "calibrate", depends_on, lambda: _ask_all(system, data, context), fresh=options.fresh
            )
    asked = [ScoredQuestion.of(row) for row in kept["asked"]]
    if not fitting.scores_of(asked, ANSWERABLE):
        raise DatasetError(f"No expected page of {options.data} has text in the index: {_first_of(kept['problems'])}")
    chosen = fitting.choose(asked, lost)
    result = {
        "command": "calibrate",
        "versions": {**system.versions, **environment()},
        "settings": {
            **system.settings,
            "data": data.name,
            "lost": lost,
            "sample": options.sample,
            "seed": options.seed,
        },
        "n": {kind: sum(each.kind == kind for each in asked) for kind in KINDS},
        "auc": fitting.gaps(asked),
        "auc_similarity": fitting.gaps([replace(each, score=each.similarity or 0.0) for each in asked]),
        "present": point(system.threshold, asked, seed=options.seed) if known else None,
        "chosen": point(chosen, asked, seed=options.seed),
        "second_look": fitting.second_look_curve(asked, system.threshold, seed=options.seed) if known else [],
        "held_out": fitting.held_out(asked, lost, seed=options.seed),
        "confidence": fitting.confidence_report(
            asked, system.threshold if known else chosen, CONFIDENCE.get(model), elsewhere=elsewhere
        ),
        "curve": fitting.curve_of(asked, seed=options.seed),
        "problems": {**data.remarks, **kept["problems"]},
        "left_out": kept["left_out"],
        "asked": kept["asked"],
    }
    _show(result, options)
    options.save(result)
    if html:
        write_text(html, html_page([result]))
    few = int(lost * result["n"][ANSWERABLE]) < 1
    if few:
        options.display.say(
            f"{result['n'][ANSWERABLE]} answerable questions are too few to choose by: at most {100 * lost:g} % of "
            f"them is none, so the unluckiest one decides. Take {ceil(1 / lost)} or more, or a larger --lost."
        )
    if few and write_to:
        raise EvalError("The threshold was not written.")
    parameters = _parameters(chosen, result["confidence"])
    options.display.say(write(parameters, write_to) if write_to else preview(parameters))
    return 0


def _first_of(problems: Mapping[str, str]) -> str:
    return next((f"{name}: {problem}" for name, problem in problems.items()), "do the questions name the right pages?")


# --- asking -----------------------------------------------------------------------------------------------------------


def _ask_all(system: RectoInProcess, data: PdfQa, context: SystemContext) -> dict[str, Any]:
    """Ingest the PDFs and ask every question that text can answer, as each of the four kinds.

    Questions whose pages have no text are left out: no threshold could answer them, and they would pull it down.
    """
    ingested = system.ingest(data.pdfs)
    ids = {name: document_id for document_id, name in system.names.items()}
    asked: list[ScoredQuestion] = []
    ask = partial(_ask, system.asker, threshold=system.threshold)
    from_text = [question for question in data.questions if question.from_text]
    questions = [each for each in from_text if not each.is_ranked or _is_in(ingested.pages, each)]
    for number, question in enumerate(questions):
        context.progress("asking", number, len(questions))
        kind = ANSWERABLE if question.answerable else NEAR_TOPIC
        asked.append(ask(question, kind, None))
        if not question.answerable or not question.doc:
            continue
        own, other = ids.get(question.doc, "none"), _other_document(question, data)
        if len(data.pdfs) > 1:
            asked.append(ask(question, MISSING, {"document_id": {"$ne": own}}))
            asked.append(ask(question, OFF_TOPIC, {"document_id": {"$eq": ids.get(other, "none")}}))
    left_out = len(from_text) - len(questions)
    return {"asked": [asdict(each) for each in asked], "problems": ingested.problems, "left_out": left_out}


def _is_in(pages: Set[tuple[str, int]], question: PdfQuestion) -> bool:
    return any((question.doc, page) in pages for page in question.pages)


def _ask(asker: Asker, question: PdfQuestion, kind: str, filter: Filter | None, *, threshold: float) -> ScoredQuestion:
    answer = asker.answer(question.text, filter=filter, refusing=False)
    decision = answer.decision
    score = decision.score if decision and not decision.absent else 0.0
    known, right = None, None
    if decision and kind in (ANSWERABLE, NEAR_TOPIC) and (cited := _first_source(answer)):
        known = features(decision, cited)
        right = question.answerable and asker.is_expected(question, answer.citations[:1])
    near = asker.nearest_statement(question.text, filter=filter) if score < threshold else None
    return ScoredQuestion(question.id, kind, question.doc, score, answer.best_score, known, right, near)


def _first_source(answer: Answer) -> str:
    return next(
        (
            source.chunk_id
            for citation in answer.citations[:1]
            for source in answer.sources
            if source.document_id == citation.document_id
            and source.char_start <= citation.char_start <= source.char_start + len(source.text)
        ),
        "",
    )


def _other_document(question: PdfQuestion, data: PdfQa) -> str:
    """Return a PDF that is not the question's, always the same one for the same question; empty if there is none."""
    others = [path.name for path in data.pdfs if path.name != question.doc]
    return others[int(sha256(question.id.encode()).hexdigest(), 16) % len(others)] if others else ""


# --- for people -------------------------------------------------------------------------------------------------------


def _show(result: Mapping[str, Any], options: Options) -> None:
    show = options.display
    counts, chosen = result["n"], result["chosen"]["threshold"]
    show.say(line_plot("Refused by threshold", fitting.series(result["curve"]), x_label="threshold", mark=chosen))
    show.say()
    rows = [_row(f"{each['threshold']:.2f}", "", each) for each in result["curve"][::5]]
    rows += [
        _row(name, f"{result[name]['threshold']:.2f}", result[name]) for name in ("present", "chosen") if result[name]
    ]
    held = result["held_out"]
    low, high = held["thresholds"]
    rows.append(_row("on unseen documents", f"{low:.2f}" if low == high else f"{low:.2f}–{high:.2f}", held))
    columns = [f"{name} ({counts[kind]})" for name, kind in zip(COLUMNS[2:], KINDS, strict=False)]
    for name, problem in result["problems"].items():
        show.say(f"{name}: {problem}")
    if result["left_out"]:
        show.say(f"{result['left_out']} questions are left out: no text of their expected pages is in the index.")
    show.table("Refused, per cent (95 % interval)", [*COLUMNS[:2], *columns, COLUMNS[-1]], rows)
    if result["second_look"]:
        show.say()
        rows = [
            [f"{each['similarity']:.2f}", *(fitting.cell(each, kind) for kind in KINDS)]
            for each in result["second_look"]
        ]
        title = f"Refused at the present threshold, if a statement of this similarity answers ({STATEMENT_PARAMETER})"
        show.table(title, ["similarity", *columns], rows)
    for kind, value in result["auc"].items():
        show.say(
            f"AUC, {ANSWERABLE} against {fitting.NAMES[kind]}: {value:.3f} "
            f"(similarity alone {result['auc_similarity'][kind]:.3f})"
        )
    _show_confidence(result["confidence"], options)


def _row(name: str, value: str, point: Mapping[str, Any]) -> list[str]:
    return [name, value, *(fitting.cell(point, key) for key in fitting.NAMES)]


def _show_confidence(found: Mapping[str, Any], options: Options) -> None:
    show = options.display
    if not found:
        show.say("Too few answers to say what confidence is worth.")
        return
    for key, title in CONFIDENCES:
        if key not in found:
            continue
        measured = found[key]
        rows = [
            [str(each["n"]), f"{each['estimated']:.2f}", "{:.2f} ({:.2f}–{:.2f})".format(each["right"], *each["ci"])]
            for each in measured["bins"]
        ]
        show.say()
        show.table(f"Confidence, {title}", ["answers", "confidence", "first citation right"], rows)
        show.say(
            f"expected calibration error {measured['ece']:.3f}, Brier score {measured['brier']:.3f}, "
            f"AUC {measured['auc']:.3f}, in band high {_shown_share(measured['high'])}"
        )
    show.say(f"coefficients fitted to all: {_as_setting(found['coefficients'])}")


def _shown_share(high: Mapping[str, Any]) -> str:
    return f"{high['right']:.2f} of {high['n']} right" if high["n"] else "none"


# --- writing down what was measured -----------------------------------------------------------------------------------


def _parameters(threshold: float, confidence: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the parameters to set: the threshold, and coefficients, empty where those of the model are as good.

    They must estimate better, on documents that were left out, than the model's own and than the share that is right,
    and a lead must never make an answer less sure.
    """
    coefficients = ""
    if confidence and all(weight >= 0 for weight in confidence["coefficients"][1:]):
        held_out = confidence["held_out"]
        right = sum(each["n"] * each["right"] for each in held_out["bins"]) / sum(
            each["n"] for each in held_out["bins"]
        )
        best_known = confidence["shipped"]["brier"] if "shipped" in confidence else right * (1 - right)
        if held_out["brier"] < best_known:
            coefficients = _as_setting(confidence["coefficients"])
    return {PARAMETER: f"{threshold:.2f}", CONFIDENCE_PARAMETER: coefficients}


def _as_setting(coefficients: Sequence[float]) -> str:
    return ",".join(f"{each:.2f}" for each in coefficients)


def state_folder() -> Path:
    """Return the folder the laptop stack keeps its settings in."""
    return Path(os.environ.get("RECTO_STATE", PROJECT / ".recto"))


def preview(parameters: Mapping[str, str]) -> str:
    """Say what can be written, where, and how it takes effect."""
    return (
        f"Nothing was written. What was measured ({_listed(parameters)}) goes\n"
        f"  with --write {LAPTOP}  into {_shown(state_folder() / 'config.json')} (then: python -m local up)\n"
        f"  with --write {AWS}     into {DEPLOY_PARAMETERS} (then: make deploy)"
    )


def write(parameters: Mapping[str, str], target: str, *, project: Path = PROJECT) -> str:
    """Save parameters and say where; empty ones are removed. Raises `EvalError` when they cannot be saved."""
    given = {name: value for name, value in parameters.items() if value}
    try:
        if target == LAPTOP:
            config = LocalConfig.load(state_folder(), {})
            kept = {name: value for name, value in config.parameters.items() if name not in parameters}
            replace(config, parameters=kept | given).save()
            return f"{_listed(parameters)} is in {_shown(state_folder() / 'config.json')}; now: python -m local up"
        path = project / DEPLOY_PARAMETERS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept_lines = [line for line in lines if line.partition("=")[0].strip() not in parameters]
        added = [f"{name}={value}" for name, value in given.items()]
        path.write_text("\n".join([*kept_lines, *added]) + "\n", encoding="utf-8")
    except OSError as error:
        raise EvalError(f"The setting cannot be written: {error}") from error
    return f"{_listed(parameters)} is in {DEPLOY_PARAMETERS}; now: make deploy"


def _listed(parameters: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items() if value)


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
