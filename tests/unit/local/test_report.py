"""What the command line prints: counts have a singular."""

import pytest

from local.report import counted


@pytest.mark.parametrize(
    ("n", "words", "told"),
    [
        (0, ("erasure",), "0 erasures"),
        (1, ("erasure",), "1 erasure"),
        (1_200, ("erasure",), "1,200 erasures"),
        (1, ("entity", "entities"), "1 entity"),
        (2, ("entity", "entities"), "2 entities"),
        (1, ("dead letter is", "dead letters are"), "1 dead letter is"),
    ],
)
def test_a_count_has_a_singular(n: int, words: tuple[str, ...], told: str) -> None:
    assert counted(n, *words) == told
