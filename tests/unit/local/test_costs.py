"""The cost table of the operating guide is what the command prints, from the dated price file."""

import json
import re

import pytest

from local.cli import main
from local.costs import Workload, bill
from shared.settings import Settings
from tests.support.readme import PROJECT, section

COSTS = section("docs/operating.md", "## Costs")


def test_the_table_in_the_guide_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs"]) == 0
    assert capsys.readouterr().out.strip() in COSTS


def test_every_source_of_a_price_is_named_and_dated() -> None:
    prices = json.loads((PROJECT / "shared" / "prices.json").read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", prices["as_of"])
    assert prices["as_of"] in COSTS
    vendors = {name.split("_")[0] for name in prices["usd_of_services"]} | {"openai"}
    sources = re.findall(r"^\| ([^|]+) \| [^|]*[a-z]+\.(?:com|io)/\S+", COSTS, re.M)
    assert {
        vendor for vendor in vendors if vendor not in "".join(sources).lower().replace(" ", "").replace("-", "")
    } == set()


def test_the_bill_follows_the_load_and_the_prices() -> None:
    def cost(load: Workload, model: str = "gpt-6-luna") -> tuple[float, float]:
        total = bill(load, Settings(), chat_model=model, alarms=11)[-1]
        return total.least, total.most

    idle = cost(Workload(documents=0, questions=0))
    assert idle[0] == pytest.approx(50 + 70 * 0.3 + 11 * 0.1 + 3 + 0.4, abs=1)  # the plan, and what is there all month
    least, most = cost(Workload())
    assert (145 - 5, 170 + 5) < (least, most) < (145 + 5, 170 + 5.1)
    assert cost(Workload(), "gpt-6-sol")[1] > 10 * most


def test_a_model_without_a_price_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["costs", "--chat-model", "gpt-0"]) == 1
    assert "no price for gpt-0. Add it there." in capsys.readouterr().err
