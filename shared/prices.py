"""What a model call costs, from `prices.json`: edit that file when prices change or another model is used."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from shared.models import Usage

_FILE = Path(__file__).with_name("prices.json")
_MILLION = 1_000_000


def cost_usd(model: str, usage: Usage) -> float | None:
    """Return the price of a call in US dollars; None for a model that the price file does not list.

    A dated name ("gpt-6-luna-2026-09-22") costs what the name without the date costs. Cached input tokens and tokens
    written to the provider's cache are part of the input tokens and have prices of their own.
    """
    prices = _prices_of(model)
    if prices is None:
        return None
    price = prices["input"]
    plain = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
    return (
        plain * price
        + usage.cached_tokens * prices.get("cached_input", price)
        + usage.cache_write_tokens * prices.get("cache_write", price)
        + usage.output_tokens * prices.get("output", 0.0)
    ) / _MILLION


def _prices_of(model: str) -> Mapping[str, float] | None:
    """Return the prices of the longest listed name that is the model's, or the model's without its date."""
    listed = _price_list()
    names = [name for name in listed if model == name or model.removeprefix(f"{name}-")[:2] == "20"]
    return listed[max(names, key=len)] if names else None


def prices_of_services() -> Mapping[str, float]:
    """Return the prices of AWS (us-east-1, arm64) and Pinecone in US dollars, each for one unit."""
    prices: Mapping[str, float] = json.loads(_FILE.read_text())["usd_of_services"]
    return prices


@cache
def _price_list() -> Mapping[str, Mapping[str, float]]:
    prices: Mapping[str, Mapping[str, float]] = json.loads(_FILE.read_text())["usd_per_million_tokens"]
    return prices


def total_cost_usd(spent: Mapping[str, Usage]) -> float | None:
    """Return the price of several models' usage; None if one of them is not listed."""
    costs = [cost_usd(model, usage) for model, usage in spent.items()]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 9) if len(known) == len(costs) else None
