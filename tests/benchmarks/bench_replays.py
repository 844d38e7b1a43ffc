"""200 answers of every kind, each asked for again, and once more at the end: the same decision, sources and claims.

Also what a receipt weighs: its packed bytes in the table, beside those of the turns it belongs to.
"""

import statistics
import sys
import time
from collections.abc import Iterator

import pytest

from shared.receipts import MAX_BYTES
from tests.support.ingest import Stack
from tests.support.query_stack import query_stack
from tests.support.replays import DOCUMENTS, answers, put

COUNT = 200


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("replays")) as made:
        for number in range(DOCUMENTS):
            put(made, number)
        yield made


@pytest.mark.timeout(1_800)
def test_two_hundred_answers_are_the_same_again(stack: Stack) -> None:
    begun = time.perf_counter()
    asked = list(answers(COUNT))
    replayed = [asker.replay(answer) for _ in range(2) for asker, answer in asked]
    differing = [each for each in replayed if not each["identical"]]
    found = stack.aws.dynamodb.get_paginator("scan").paginate(TableName="conversations")
    items = [each for page in found for each in page["Items"] if each["sk"]["S"].startswith("RECEIPT#")]
    weights = [len(each["receipt"]["B"]) for each in items]
    modes = sorted({each["then"]["mode"] for each in replayed})
    sys.stdout.write(
        f"\n{len(asked)} answers ({', '.join(modes)}), {len(replayed)} replays in {time.perf_counter() - begun:.0f} s: "
        f"{len(differing)} differ; {len(weights)} receipts of {statistics.median(weights):.0f} bytes (median), "
        f"{max(weights)} at most\n"
    )
    assert [each["effects"] for each in differing] == []
    assert [each["causes"] for each in replayed if each["causes"]] == []
    assert max(weights) < MAX_BYTES
