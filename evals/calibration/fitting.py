"""Confidence: a logistic regression of "the first citation is right", and whether its figures mean what they say."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evals.bootstrap import interval
from evals.calibration.asked import Asked
from evals.calibration.curve import folds
from evals.metrics import auc
from functions.query.decision import probability

RIDGE = 0.1
"""Penalty on the squared coefficients, the constant's apart. Measured: more makes confidence too timid at both ends."""
LEAST_ROWS = 40
BINS = 5
Matrix = npt.NDArray[np.float64]


def usable(asked: Sequence[Asked], threshold: float) -> list[Asked]:
    """Return the questions that are answered with a citation, and whose expected page is known."""
    return [each for each in asked if each.features and each.right is not None and each.score >= threshold]


def fit(rows: Sequence[Asked]) -> list[float]:
    """Return constant and weights by Newton's method (Hastie, Tibshirani and Friedman 2009, section 4.4.1), ridged."""
    x = np.array([[1.0, *(each.features or ())] for each in rows])
    y = np.array([float(bool(each.right)) for each in rows])
    weights = np.zeros(x.shape[1])
    penalty = np.diag([1e-6, *[RIDGE] * (x.shape[1] - 1)])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y) + penalty @ weights
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + penalty, gradient)
        weights -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    return [float(weight) for weight in weights]


def confidence_report(asked: Sequence[Asked], threshold: float, shipped: Sequence[float] | None) -> dict[str, Any]:
    """Fit confidence to these questions and say how well it holds on documents that had no say in the fit.

    Empty when there are fewer than `LEAST_ROWS` answers, or all of them right or wrong. `shipped` is measured as it is.
    """
    rows = usable(asked, threshold)
    if len(rows) < LEAST_ROWS or len({each.right for each in rows}) < 2:
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
    if shipped is not None:
        found["shipped"] = reliability([(_estimate(shipped, each), bool(each.right)) for each in rows])
    return found


def reliability(pairs: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Return bins of equal size with their mean estimate and share right, and the figures that sum them up.

    `ece` is the expected calibration error: the mean distance of the two over the bins, by their size.
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
    return {
        "bins": bins,
        "ece": sum(each["n"] * abs(each["estimated"] - each["right"]) for each in bins) / len(ordered),
        "brier": float(np.mean([(p - right) ** 2 for p, right in ordered])),
        "auc": auc([p for p, right in ordered if right], [p for p, right in ordered if not right]),
    }


def _estimate(weights: Sequence[float], row: Asked) -> float:
    return probability(weights, row.features or ())
