"""`evals calibrate`: which relevance to refuse at, what that costs and gains, and what confidence is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import Any

from evals.cache import file_hash, source_hash
from evals.calibration.asked import ANSWERABLE, KINDS, Asked, ask_all, scores_of
from evals.calibration.curve import choose, curve_of, gaps, held_out, point
from evals.calibration.fitting import confidence_report
from evals.calibration.setting import preview, write
from evals.commands.common import Options, context_of, embedding
from evals.errors import DataError, EvalError
from evals.readers.pdf_qa import FORM, read_pdf_qa
from evals.reporting import calibration as page
from evals.reporting import text
from evals.results import environment, write_json
from evals.systems.recto import RectoInProcess
from functions.query.decision import CONFIDENCE
from shared.settings import SCORE_THRESHOLDS

COLUMNS = ["", "value", "answerable", "near the topic", "document missing", "off-topic", "precision"]


def calibrate(options: Options, *, lost: float, write_to: str, html: Path | None, in_process: bool) -> int:  # noqa: ARG001 - always is
    """Ask all kinds of questions, draw the curve, name a threshold; print, and write what was asked for.

    The one that is named is the highest that refuses no more than the share `lost` of the answerable questions.
    """
    data = read_pdf_qa(options.data, sample=options.sample)
    if not any(question.is_ranked and question.from_text for question in data.questions):
        raise DataError(f"{options.data} holds no question that is answerable from text. Expected is:\n{FORM}")
    with embedding(options) as embedder, options.display.progress():
        context = context_of(options, embedder)
        model = embedder.space.model
        # A model nobody has calibrated has no threshold yet, and none is needed: nothing is refused here.
        known = model in SCORE_THRESHOLDS
        system = RectoInProcess(context, None if known else {"score_threshold": 0.0})
        try:
            depends_on = {
                "pdfs": {path.name: file_hash(path) for path in data.pdfs},
                "questions": [(each.id, each.text, each.doc, each.pages, each.answerable) for each in data.questions],
                "system": [system.settings, system.versions],
                "evals": source_hash("evals/systems", "evals/calibration"),
            }
            kept = context.cache.get(
                "calibrate",
                depends_on,
                lambda: asdict(ask_all(system, data, context)),
                fresh=options.fresh,
            )
        finally:
            system.close()
    asked = [Asked.of(row) for row in kept["asked"]]
    if not scores_of(asked, ANSWERABLE):
        raise DataError(f"No expected page of {options.data} has text in the index: {_first_of(kept['problems'])}")
    chosen = choose(asked, lost)
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
        "auc": gaps(asked),
        "auc_similarity": gaps([_by_similarity(each) for each in asked]),
        "present": point(system.threshold, asked, seed=options.seed) if known else None,
        "chosen": point(chosen, asked, seed=options.seed),
        "held_out": held_out(asked, lost, seed=options.seed),
        "confidence": confidence_report(asked, system.threshold if known else chosen, CONFIDENCE.get(model)),
        "curve": curve_of(asked, seed=options.seed),
        "problems": {**data.remarks, **kept["problems"]},
        "left_out": kept["left_out"],
        "asked": kept["asked"],
    }
    _show(result, options)
    if options.json:
        write_json(options.json, result)
    if html:
        _write_page(html, result)
    few = int(lost * result["n"][ANSWERABLE]) < 1
    if few:
        options.display.say(
            f"{result['n'][ANSWERABLE]} answerable questions are too few to choose by: at most {100 * lost:g} % of "
            f"them is none, so the unluckiest one decides. Take {ceil(1 / lost)} or more, or a larger --lost."
        )
    if few and write_to:
        raise EvalError("The threshold was not written.")
    options.display.say(write(chosen, write_to) if write_to else preview(chosen))
    return 0


def _first_of(problems: Mapping[str, str]) -> str:
    return next((f"{name}: {problem}" for name, problem in problems.items()), "do the questions name the right pages?")


def _by_similarity(asked: Asked) -> Asked:
    """Return the same question as it would be judged by similarity alone."""
    return Asked(asked.id, asked.kind, asked.doc, asked.similarity or 0.0, asked.similarity)


def _write_page(path: Path, result: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.html(result), encoding="utf-8")
    except OSError as error:
        raise EvalError(f"The page cannot be written to {path}: {error}") from error


# --- for people ------------------------------------------------------------------------------------------------------


def _show(result: Mapping[str, Any], options: Options) -> None:
    show = options.display
    counts, chosen = result["n"], result["chosen"]["threshold"]
    show.say(text.lines("Refused by threshold", page.series(result["curve"]), x_label="threshold", mark=chosen))
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
    for kind, value in result["auc"].items():
        show.say(
            f"AUC, {ANSWERABLE} against {page.NAMES[kind]}: {value:.3f} "
            f"(similarity alone {result['auc_similarity'][kind]:.3f})"
        )
    _show_confidence(result["confidence"], options)


def _row(name: str, value: str, point: Mapping[str, Any]) -> list[str]:
    return [name, value, *(page.cell(point, key) for key in page.NAMES)]


def _show_confidence(found: Mapping[str, Any], options: Options) -> None:
    show = options.display
    if not found:
        show.say("Too few answers to say what confidence is worth.")
        return
    for key, title in (("held_out", "fitted to other documents"), ("shipped", "as shipped")):
        if key not in found:
            continue
        measured = found[key]
        rows = [
            [str(each["n"]), f"{each['estimated']:.2f}", f"{each['right']:.2f} ({_span(each['ci'])})"]
            for each in measured["bins"]
        ]
        show.say()
        show.table(f"Confidence, {title}", ["answers", "confidence", "first citation right"], rows)
        show.say(
            f"expected calibration error {measured['ece']:.3f}, Brier score {measured['brier']:.3f}, "
            f"AUC {measured['auc']:.3f}"
        )
    show.say(f"coefficients fitted to all: {', '.join(f'{each:.2f}' for each in found['coefficients'])}")


def _span(ci: Sequence[float]) -> str:
    return f"{ci[0]:.2f}–{ci[1]:.2f}"
