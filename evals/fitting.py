"""Computes the threshold and the reliability of confidence from questions with known answers.

The curve shows what every threshold refuses and how much of the rest is right. Confidence is a logistic regression of
"the first citation is right". Both are also measured on documents that were left out of the fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from evals.metrics import auc, interval
from functions.query.decision import CONFIDENCE_BANDS, probability

ANSWERABLE, NEAR_TOPIC, MISSING, OFF_TOPIC = "answerable", "near_topic", "missing", "off_topic"
KINDS = (ANSWERABLE, NEAR_TOPIC, MISSING, OFF_TOPIC)
NAMES = {
    ANSWERABLE: "answerable",
    NEAR_TOPIC: "unanswerable, near the topic",
    MISSING: "document missing",
    OFF_TOPIC: "off-topic",
    "precision": "precision of what is answered",
}
STEP = 0.01
MIN_DOCUMENTS = 3
FOLDS = 5
RESAMPLES = 2_000
"""Resamples for each point of the curve; the figures that are printed get as many as everywhere else."""
SIMILARITIES = tuple(round(0.3 + 0.02 * step, 2) for step in range(16))
"""Similarities of a statement, of which the second look's table says what they would let through."""
RIDGE = 0.1
"""Penalty on the squared coefficients, except the constant. Measured: more makes confidence too timid at both ends."""
MIN_ROWS = 40
BINS = 5
HIGH = dict(CONFIDENCE_BANDS)["high"]


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """One question, asked as one of the four kinds (see `evals.calibrate`).

    `score` is what a threshold is compared with. `features` are what confidence is made of and `right` says whether the
    first citation stands on an expected page; None where there is no citation, or the question was asked elsewhere.
    `near` is the similarity of the nearest statement, None where the present threshold does not refuse.
    """

    id: str
    kind: str
    doc: str
    score: float
    similarity: float | None
    features: tuple[float, ...] | None = None
    right: bool | None = None
    near: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "ScoredQuestion":
        """Read what was kept as JSON."""
        known = row["features"]
        return cls(**{**row, "features": None if known is None else tuple(known)})


def scores_of(asked: Sequence[ScoredQuestion], kind: str) -> list[float]:
    """Return the scores of one kind."""
    return [each.score for each in asked if each.kind == kind]


# --- the threshold ----------------------------------------------------------------------------------------------------


def curve_of(asked: Sequence[ScoredQuestion], *, seed: int) -> list[dict[str, Any]]:
    """Return, for thresholds from 0 to 1, the share of each kind that is refused, and the precision of the answers.

    Precision: of the questions that are answered (answerable and near the topic, as the data has them), the share whose
    first citation stands on an expected page; None when nothing is answered. `ci` has 95 % intervals.
    """
    return [point(round(step * STEP, 2), asked, seed=seed, resamples=RESAMPLES) for step in range(round(1 / STEP) + 1)]


def point(threshold: float, asked: Sequence[ScoredQuestion], *, seed: int, resamples: int = 10_000) -> dict[str, Any]:
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


def second_look_curve(asked: Sequence[ScoredQuestion], threshold: float, *, seed: int) -> list[dict[str, Any]]:
    """Return, for similarities of a statement that may answer, the share of each kind that is refused all the same."""
    found = []
    for similarity in SIMILARITIES:
        row: dict[str, Any] = {"similarity": similarity, "ci": {}}
        for kind in KINDS:
            refused = [
                float(each.score < threshold and (each.near is None or each.near < similarity))
                for each in asked
                if each.kind == kind
            ]
            value = interval(refused, seed=seed, resamples=RESAMPLES)
            row[kind], row["ci"][kind] = (value.mean if refused else None), [value.low, value.high]
        found.append(row)
    return found


def choose(asked: Sequence[ScoredQuestion], lost: float) -> float:
    """Return the highest threshold, to two places, that refuses no more than `lost` of the answerable questions."""
    scores = scores_of(asked, ANSWERABLE)
    allowed = lost * len(scores) + 1e-9
    steps = (round(step * STEP, 2) for step in range(round(1 / STEP), -1, -1))
    return next((step for step in steps if sum(score < step for score in scores) <= allowed), 0.0)


def held_out(asked: Sequence[ScoredQuestion], lost: float, *, seed: int) -> dict[str, Any]:
    """Return what is refused if a document's questions are left out when the threshold for them is chosen.

    One fold a document; with fewer than `MIN_DOCUMENTS` documents, `FOLDS` folds of questions.
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


def folds(asked: Sequence[ScoredQuestion]) -> Mapping[str, str]:
    """Map question ids to folds: their document, or a part of the questions where there are few documents."""
    if len({each.doc for each in asked}) >= MIN_DOCUMENTS:
        return {each.id: each.doc for each in asked}
    return {each.id: str(int(sha256(each.id.encode()).hexdigest(), 16) % FOLDS) for each in asked}


def gaps(asked: Sequence[ScoredQuestion]) -> Mapping[str, float]:
    """Return the chance that an answerable question's score is above that of a question of each other kind (AUC)."""
    good = scores_of(asked, ANSWERABLE)
    return {kind: auc(good, scores_of(asked, kind)) for kind in KINDS[1:] if scores_of(asked, kind)}


def series(curve: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Return the curve's lines by their display names; a kind that the data does not have is left out."""
    points = {name: [(p["threshold"], p[key]) for p in curve if p.get(key) is not None] for key, name in NAMES.items()}
    return {name: line for name, line in points.items() if line}


def cell(point: Mapping[str, Any], key: str) -> str:
    """Return a share in per cent with its interval."""
    if point.get(key) is None:
        return ""
    low, high = point["ci"][key]
    return f"{100 * point[key]:.1f} ({100 * low:.0f}–{100 * high:.0f})"


# --- confidence -------------------------------------------------------------------------------------------------------


def usable(asked: Sequence[ScoredQuestion], threshold: float) -> list[ScoredQuestion]:
    """Return the questions that are answered with a citation, and whose expected page is known."""
    return [each for each in asked if each.features and each.right is not None and each.score >= threshold]


def fit(rows: Sequence[ScoredQuestion], sizes: Sequence[int] = ()) -> list[float]:
    """Return constant and weights by Newton's method (Hastie, Tibshirani and Friedman 2009, section 4.4.1), ridged.

    `sizes` are those of each row's collection: a collection counts by the root of its size, so that a large one does
    not decide alone.
    """
    counts = np.array([size**-0.5 for size in sizes] or [1.0] * len(rows))
    counts /= counts.mean()
    x = np.array([[1.0, *(each.features or ())] for each in rows])
    y = np.array([float(bool(each.right)) for each in rows])
    weights = np.zeros(x.shape[1])
    penalty = np.diag([1e-6, *[RIDGE] * (x.shape[1] - 1)])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (counts * (p - y)) + penalty @ weights
        step = np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + penalty, gradient)
        weights -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    return [float(weight) for weight in weights]


def confidence_report(
    asked: Sequence[ScoredQuestion],
    threshold: float,
    shipped: Sequence[float] | None,
    *,
    elsewhere: Sequence[Sequence[ScoredQuestion]] = (),
) -> dict[str, Any]:
    """Fit confidence to these questions and measure it on documents that were left out of the fit.

    Empty when there are fewer than `MIN_ROWS` answers, or all of them right or wrong. `shipped` is measured as it is.
    `elsewhere` are the questions of other collections: what is fitted to them alone is measured here, too.
    """
    rows = usable(asked, threshold)
    if len(rows) < MIN_ROWS or len({each.right for each in rows}) < 2:
        return {}
    fold_of = folds(rows)
    estimated: dict[str, float] = {}
    for fold in set(fold_of.values()):
        learned = [each for each in rows if fold_of[each.id] != fold]
        if len({each.right for each in learned}) < 2:
            continue
        weights = fit(learned)
        estimated |= {each.id: _estimate(weights, each) for each in rows if fold_of[each.id] == fold}
    found = {
        "n": len(rows),
        "coefficients": fit(rows),
        "held_out": reliability([(estimated[each.id], bool(each.right)) for each in rows if each.id in estimated]),
    }
    others = [usable(each, threshold) for each in elsewhere]
    if any(others):
        weights = fit([each for one in others for each in one], [len(one) for one in others for _ in one])
        found["elsewhere"] = reliability([(_estimate(weights, each), bool(each.right)) for each in rows])
    if shipped is not None:
        found["shipped"] = reliability([(_estimate(shipped, each), bool(each.right)) for each in rows])
    return found


def reliability(pairs: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Return bins of equal size with their mean estimate and share right, and summary figures.

    `ece` is the expected calibration error: the mean distance of the two over the bins, by their size. `high` counts
    the answers whose confidence is in that band, and the share of them that is right.
    """
    ordered = sorted(pairs)
    bins: list[dict[str, Any]] = []
    for part in np.array_split(np.arange(len(ordered)), min(BINS, len(ordered))):
        members = [ordered[int(at)] for at in part]
        right = interval([float(each) for _, each in members], resamples=2_000)
        bins.append(
            {
                "n": len(members),
                "estimated": float(np.mean([p for p, _ in members])),
                "right": right.mean,
                "ci": [right.low, right.high],
            }
        )
    high = [right for p, right in ordered if p >= HIGH]
    return {
        "bins": bins,
        "high": {"n": len(high), "right": float(np.mean(high)) if high else None},
        "ece": sum(each["n"] * abs(each["estimated"] - each["right"]) for each in bins) / len(ordered),
        "brier": float(np.mean([(p - right) ** 2 for p, right in ordered])),
        "auc": auc([p for p, right in ordered if right], [p for p, right in ordered if not right]),
    }


def _estimate(weights: Sequence[float], row: ScoredQuestion) -> float:
    return probability(weights, row.features or ())
