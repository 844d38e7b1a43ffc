"""A document is published only when readers of the index can see it."""

from pathlib import Path

import pytest

from tests.support.ingest import ingest_stack, pdf_of, prose


def test_an_index_that_lags_is_waited_for_before_the_pointer_moves(tmp_path: Path) -> None:
    with (
        pytest.MonkeyPatch.context() as patch,
        ingest_stack(patch, tmp_path, visibility_delay_s=1.0) as lagging,
    ):
        key = "uploads/lag/doc.pdf"
        lagging.put(key, pdf_of([prose("Slow", sentences=5, seed=1)]))
        assert lagging.deliver(key) == []
        document = lagging.document(key)
        assert len(lagging.vectors("lag", key)) == document.chunk_count >= 1
