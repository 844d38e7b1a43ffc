"""Chunkers are compared at the same mean size."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from evals.research import chunkers
from evals.research.chunkers import Split, chunker, matched, mean_tokens
from evals.storage import ResultCache

CORPORA = [
    "The pump is checked once a week. " * 400,
    "A valve is closed before the filter is changed, and only then. " * 200,
]


@pytest.mark.parametrize("wanted", [60.0, 130.0])
def test_a_chunker_is_set_to_the_mean_size_that_is_wanted(wanted: float, tmp_path: Path) -> None:
    found = matched(chunker("fixed", 200), wanted, CORPORA, ResultCache(tmp_path))
    assert mean_tokens(CORPORA, found.split) == pytest.approx(wanted, rel=0.05)
    assert found.size_tokens == 200
    assert found.title == f"fixed {found.set_to}/0"


def test_the_size_is_not_sought_again_for_the_same_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = matched(chunker("fixed", 200), 60.0, CORPORA, ResultCache(tmp_path))
    cut: list[str] = []

    def cutting(texts: Iterable[str], split: Split) -> float:
        cut.extend(texts)
        return mean_tokens(texts, split)

    monkeypatch.setattr(chunkers, "mean_tokens", cutting)
    assert matched(chunker("fixed", 200), 60.0, CORPORA, ResultCache(tmp_path)).set_to == first.set_to
    assert not cut
    matched(chunker("fixed", 200), 60.0, CORPORA[:1], ResultCache(tmp_path))
    assert cut
