"""A document of 500 pages is uploaded again with one page changed: which share of its passages is embedded?"""

import sys
from pathlib import Path

import pytest

from tests.support.embeddings import count_embeddings
from tests.support.ingest import ingest_stack, pdf_of, prose

PAGES = 500
CHANGED = 250
AT_MOST = 0.02


@pytest.mark.timeout(600)
def test_one_changed_page_of_500(tmp_path: Path) -> None:
    key = "uploads/bench/manual.pdf"
    pages = [prose("Page", sentences=24, seed=n) for n in range(PAGES)]
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path) as stack:
        embedded = count_embeddings(patch)
        counts = []
        for changed in (False, True):
            if changed:
                pages[CHANGED] = prose("Changed", sentences=23, seed=7)
            embedded.clear()
            stack.put(key, pdf_of(pages, title="Manual"))
            assert stack.deliver(key) == []
            counts.append(embedded.total())
        chunks = stack.document(key).chunk_count
    share = counts[1] / chunks
    sys.stdout.write(
        f"\nre-upload: {PAGES} pages, {chunks} passages; embedded {counts[0]} at first, {counts[1]} after one page "
        f"changed ({100 * share:.2f} %)\n"
    )
    assert counts[0] == chunks
    assert 1 <= counts[1] <= AT_MOST * chunks
