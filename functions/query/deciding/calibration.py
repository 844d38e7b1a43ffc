"""What was measured for each embedding model; `python -m evals calibrate` prints it, and how sure it is."""

import math
from collections.abc import Mapping, Sequence

BANDS: Sequence[tuple[str, float]] = (("high", 0.65), ("medium", 0.5))
"""Least relevance of a band; what is under both and not under the threshold is low."""

CONFIDENCE: Mapping[str, Sequence[float]] = {
    "all-MiniLM-L6-v2": (-3.70, 4.35, 3.01, 4.49),
}
"""Coefficients of a logistic regression: the constant, then one for each of `decision.features`."""


def probability(coefficients: Sequence[float], features: Sequence[float]) -> float:
    """Return the logistic function of the weighted features."""
    constant, *weights = coefficients
    return 1 / (1 + math.exp(-constant - sum(w * x for w, x in zip(weights, features, strict=True))))
