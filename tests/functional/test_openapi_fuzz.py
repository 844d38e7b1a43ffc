"""A few of the requests of `make fuzz`: made from the OpenAPI document, answered as it says, never across tenants."""

from pathlib import Path

import pytest

from tests.fuzz.running import fuzz, theirs_is_untouched
from tests.fuzz.world import fuzzed_world

CASES = 150


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")  # schemathesis and hypothesis tell of what they leave out
def test_generated_requests_are_answered_as_the_document_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fuzzed_world(monkeypatch, tmp_path) as world:
        report = fuzz(world, cases=CASES, start=1)
        assert set(theirs_is_untouched(world).values()) == {True}
    assert report.failures == {}, str(report)
    assert report.sent == CASES
