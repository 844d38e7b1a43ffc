"""Limits of lengths and distances, found to the hundredth."""

from collections.abc import Callable


def limit_of(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where between two numbers something stops to hold that holds at the lower one, or begins to."""
    at_low = holds(low)
    assert holds(high) is not at_low, f"it is {at_low} at {low} and at {high}"
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) is at_low else (low, middle)
    return round(high, 2)
