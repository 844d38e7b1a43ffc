"""A document that is replaced while people ask about it; `make chaos` does this a thousand times."""

from rich.console import Console

from local.report import Reporter
from local.stack.laptop import Laptop
from tests.support.replacing import replace_under_readers


def test_every_answer_is_of_one_whole_version_while_the_document_is_replaced(laptop: Laptop) -> None:
    observed = replace_under_readers(laptop, queries=120, report=Reporter(Console(quiet=True)))
    assert not observed.faults
    assert observed.replacements >= 2
    assert observed.answers.total() == observed.answers["red"] + observed.answers["blue"] == 120
