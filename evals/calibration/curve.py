"""What every threshold refuses and how right the rest is; which one to choose, and how it does on unseen documents."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from evals.bootstrap import interval
from evals.calibration.asked import ANSWERABLE, GAPS, KINDS, Asked, scores_of
from evals.metrics import auc

STEP = 0.01
SHOWN_STEP = 0.05
LEAST_DOCUMENTS = 3
FOLDS = 5
RESAMPLES = 2_000
"""Of each point of the curve; the figures that are named get as many as everywhere else."""


def curve_of(asked: Sequence[Asked], *, seed: int) -> list[dict[str, Any]]:
    """Return, for thresholds from 0 to 1, the share of each kind that is refused, and the precision of the answers.

    Precision: of the questions that are answered (answerable and near the topic, as the data has them), the share whose
    first citation stands on an expected page; None when nothing is answered. `ci` has 95 % intervals.
    """
    return [point(round(step * STEP, 2), asked, seed=seed, resamples=RESAMPLES) for step in range(round(1 / STEP) + 1)]


def point(threshold: float, asked: Sequence[Asked], *, seed: int, resamples: int = 10_000) -> dict[str, Any]:
    """Return one point of the curve."""
    found: dict[str, Any] = {"threshold": threshold, "ci": {}}
    for kind in KINDS:
        scores = scores_of(asked, kind)
        value = interval([float(score < threshold) for score in scores], seed=seed, resamples=resamples)
        found[kind] = value.mean if scores else None
        found["ci"][kind] = [value.low, value.high]
    right = [float(each.right) for each in asked if each.right is not None and each.score >= threshold]
    value = interval(right, seed=seed, resamples=resamples)
    found["precision"], found["answered"] = (value.mean if right else None), len(right)
    found["ci"]["precision"] = [value.low, value.high]
    return found


def choose(asked: Sequence[Asked], lost: float) -> float:
    """Return the highest threshold, to two places, that refuses no more than `lost` of the answerable questions."""
    scores = scores_of(asked, ANSWERABLE)
    allowed = lost * len(scores) + 1e-9
    steps = (round(step * STEP, 2) for step in range(round(1 / STEP), -1, -1))
    return next((step for step in steps if sum(score < step for score in scores) <= allowed), 0.0)


def held_out(asked: Sequence[Asked], lost: float, *, seed: int) -> dict[str, Any]:
    """Return what is refused when a document's questions have no say in the threshold they are measured with.

    One fold a document; with fewer than `LEAST_DOCUMENTS` documents, `FOLDS` folds of questions.
    """
    fold_of = folds(asked)
    refused: dict[str, list[float]] = {kind: [] for kind in KINDS}
    chosen = []
    for fold in sorted(set(fold_of.values())):
        threshold = choose([each for each in asked if fold_of[each.id] != fold], lost)
        chosen.append(threshold)
        for each in asked:
            if fold_of[each.id] == fold:
                refused[each.kind].append(float(each.score < threshold))
    found: dict[str, Any] = {"folds": len(chosen), "thresholds": [min(chosen), max(chosen)], "ci": {}}
    for kind in KINDS:
        value = interval(refused[kind], seed=seed)
        found[kind] = value.mean if refused[kind] else None
        found["ci"][kind] = [value.low, value.high]
    return found


def folds(asked: Sequence[Asked]) -> Mapping[str, str]:
    """Map question ids to folds: their document, or a part of the questions where there are few documents."""
    if len({each.doc for each in asked}) >= LEAST_DOCUMENTS:
        return {each.id: each.doc for each in asked}
    return {each.id: str(int(sha256(each.id.encode()).hexdigest(), 16) % FOLDS) for each in asked}


def gaps(asked: Sequence[Asked]) -> Mapping[str, float]:
    """Return the chance that an answerable question's score is above that of a question of each other kind (AUC)."""
    good = scores_of(asked, ANSWERABLE)
    return {kind: auc(good, scores_of(asked, kind)) for kind in GAPS if scores_of(asked, kind)}
