"""What model calls cost, by a price file of the test's own."""

import pytest

from shared import prices
from shared.models import Usage
from shared.prices import cost_usd, total_cost_usd

LISTED = {
    "gpt-6": {"input": 2.0, "cached_input": 0.5, "cache_write": 4.0, "output": 8.0},
    "gpt-6-mini": {"input": 1.0},
}
MILLION = Usage(1_000_000, 500_000, 200_000, 100_000, 7)


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "_price_list", lambda: LISTED)


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("gpt-6", MILLION, 0.7 * 2 + 0.2 * 0.5 + 0.1 * 4 + 0.5 * 8),
        ("gpt-6-mini", MILLION, 1.0),  # what has no price of its own costs as input, output nothing
        ("gpt-6-2026-09-22", Usage(1_000_000), 2.0),
        ("gpt-6-mini-2026-09-22", Usage(1_000_000), 1.0),
        ("gpt-6", Usage(), 0.0),
        ("gpt-6-large", MILLION, None),
        ("gpt-60", MILLION, None),
        ("gpt-5", MILLION, None),
    ],
)
def test_a_call_costs_what_its_model_does(model: str, usage: Usage, cost: float | None):
    assert cost_usd(model, usage) == (cost if cost is None else pytest.approx(cost))


def test_costs_add_up_where_all_are_known():
    spent = {"gpt-6": Usage(1_000_000), "gpt-6-mini": Usage(3)}
    assert total_cost_usd(spent) == 2.000003
    assert total_cost_usd({**spent, "other": Usage(1)}) is None
    assert total_cost_usd({}) == 0


def test_services_have_prices():
    assert prices.prices_of_services()["pinecone_minimum"] > 0
