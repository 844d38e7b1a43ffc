"""`evals calibrate`: which similarity threshold to refuse at.

Three kinds of questions are told apart by the similarity of their best passage. Answerable ones, from the text, over
all documents. Unanswerable ones over all documents: near the topic, so the hardest to tell. Off-topic ones, made of the
answerable: the same questions, asked of one other document that does not hold the answer, as when somebody asks about
what was never uploaded.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from evals.bootstrap import interval
from evals.cache import file_hash, source_hash
from evals.commands.common import Options, context_of, embedding
from evals.errors import DataError
from evals.metrics import auc
from evals.readers.pdf_qa import FORM, PdfQa, PdfQuestion, read_pdf_qa
from evals.results import environment, write_json
from evals.systems import SystemContext
from evals.systems.asking import Asker
from evals.systems.recto import RectoInProcess

KINDS = ("answerable", "unanswerable", "off_topic")
STEP = 0.01


def calibrate(options: Options, *, lost: float, in_process: bool) -> int:  # noqa: ARG001 - always is
    """Ask all three kinds, draw the curve, name a threshold; print, and write with `--json`.

    The one that is named is the highest that refuses no more than the share `lost` of the answerable questions.
    """
    data = read_pdf_qa(options.data, sample=options.sample)
    if not any(question.is_ranked and question.from_text for question in data.questions):
        raise DataError(f"{options.data} holds no question that is answerable from text. Expected is:\n{FORM}")
    with embedding(options) as embedder, options.display.progress():
        context = context_of(options, embedder)
        system = RectoInProcess(context)
        try:
            depends_on = {
                "pdfs": {path.name: file_hash(path) for path in data.pdfs},
                "questions": [(each.id, each.text, each.doc, each.answerable) for each in data.questions],
                "system": [system.settings, system.versions],
                "evals": source_hash("evals/systems", "evals/commands/calibrate.py"),
            }
            scores = context.cache.get(
                "calibrate", depends_on, lambda: _scores(system, data, context), fresh=options.fresh
            )
        finally:
            system.close()
    curve = curve_of(scores)
    chosen = choose(curve, lost)
    result = {
        "command": "calibrate",
        "versions": {**system.versions, **environment()},
        "settings": {**system.settings, "lost": lost, "sample": options.sample, "seed": options.seed},
        "n": {kind: len(scores[kind]) for kind in KINDS},
        "auc": {kind: auc(scores["answerable"], scores[kind]) for kind in KINDS[1:]},
        "chosen": _at(chosen, scores, options.seed),
        "present": _at(system.threshold, scores, options.seed),
        "curve": curve,
        "scores": scores,
    }
    _show(result, options)
    if options.json:
        write_json(options.json, result)
    return 0


def curve_of(scores: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Return, for thresholds from 0 to 1, the share of each kind that lies under them."""
    return [
        {"threshold": round(step * STEP, 2), **{kind: _under(scores[kind], step * STEP) for kind in KINDS}}
        for step in range(round(1 / STEP) + 1)
    ]


def choose(curve: Sequence[Mapping[str, float]], lost: float) -> float:
    """Return the highest threshold of the curve that refuses no more than `lost` of the answerable questions."""
    return max((point["threshold"] for point in curve if point["answerable"] <= lost), default=0.0)


def _under(values: Sequence[float], threshold: float) -> float:
    return sum(value < threshold for value in values) / len(values) if values else 0.0


def _scores(system: RectoInProcess, data: PdfQa, context: SystemContext) -> dict[str, list[float]]:
    system.ingest(data.pdfs)
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    asked = [question for question in data.questions if question.from_text]
    for number, question in enumerate(asked):
        context.progress("asking", number, len(asked))
        kind = "answerable" if question.answerable else "unanswerable"
        found[kind].append(_best(system.asker, question.text, None))
        other = _other_document(question, data)
        if question.answerable and other:
            document_id = next((key for key, name in system.names.items() if name == other), "none")
            found["off_topic"].append(_best(system.asker, question.text, document_id))
    return found


def _best(asker: Asker, question: str, document_id: str | None) -> float:
    score = asker.answer(question, document_id=document_id).best_score
    return 0.0 if score is None else score


def _other_document(question: PdfQuestion, data: PdfQa) -> str:
    """Return a PDF that is not the question's, always the same one for the same question; empty if there is none."""
    others = [path.name for path in data.pdfs if path.name != question.doc]
    return others[int(sha256(question.id.encode()).hexdigest(), 16) % len(others)] if others else ""


def _at(threshold: float, scores: Mapping[str, Sequence[float]], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {"threshold": threshold, "refused": {}, "ci": {}}
    for kind in KINDS:
        value = interval([float(score < threshold) for score in scores[kind]], seed=seed)
        found["refused"][kind], found["ci"][kind] = value.mean, [value.low, value.high]
    return found


def _show(result: Mapping[str, Any], options: Options) -> None:
    rows = []
    for name in ("present", "chosen"):
        point = result[name]
        shares = [
            f"{100 * point['refused'][kind]:.1f} ({100 * point['ci'][kind][0]:.0f}–{100 * point['ci'][kind][1]:.0f})"
            for kind in KINDS
        ]
        rows.append([name, f"{point['threshold']:.2f}", *shares])
    counts = result["n"]
    columns = ["threshold", "value", *(f"{kind.replace('_', '-')} ({counts[kind]})" for kind in KINDS)]
    options.display.table("Refused, per cent (95 % interval)", columns, rows)
    options.display.say(
        f"AUC against answerable: unanswerable {result['auc']['unanswerable']:.2f}, off-topic "
        f"{result['auc']['off_topic']:.2f}. Set it with RECTO_SCORE_THRESHOLD (template parameter ScoreThreshold)."
    )
