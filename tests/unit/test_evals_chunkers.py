"""Chunkers are compared at the same mean size."""

import pytest

from evals.chunkers import chunker, matched, mean_tokens

CORPORA = [
    "The pump is checked once a week. " * 400,
    "A valve is closed before the filter is changed, and only then. " * 200,
]


@pytest.mark.parametrize("wanted", [60.0, 130.0])
def test_a_chunker_is_set_to_the_mean_size_that_is_wanted(wanted: float) -> None:
    found = matched(chunker("fixed", 200), wanted, CORPORA)
    assert mean_tokens(CORPORA, found.split) == pytest.approx(wanted, rel=0.05)
    assert found.size_tokens == 200
    assert found.title == f"fixed {found.set_to}/0"
