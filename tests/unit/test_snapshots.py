"""A snapshot fails with its differences, and is only rewritten on request."""

from pathlib import Path

import pytest

from tests.support import snapshots
from tests.support.snapshots import Rewriting, check, check_names


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Rewriting, "asked_for", True)
    check(path := tmp_path / "made" / "pages.txt", "one\ntwo\fhalf\nthree")
    monkeypatch.setattr(Rewriting, "asked_for", False)
    return path


def test_the_same_text_passes(stored: Path) -> None:
    check(stored, "one\ntwo\fhalf\nthree\n")


@pytest.mark.parametrize("now", ["one\ntwo\nhalf\nthree", "one\ntwo\fhalf \nthree", "one\r\ntwo\fhalf\nthree", ""])
def test_another_text_fails_and_is_not_stored(stored: Path, now: str) -> None:
    before = stored.read_bytes()
    with pytest.raises(pytest.fail.Exception):
        check(stored, now)
    assert stored.read_bytes() == before


def test_a_failure_shows_what_differs(stored: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"make snapshots(.|\n)*\n-three\n\+four\n") as failure:
        check(stored, "one\ntwo\fhalf\nfour")
    assert "\n-one" not in str(failure.value)


def test_a_long_difference_is_cut(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SHOWN_LINES", 4)
    with pytest.raises(pytest.fail.Exception, match=r"… and \d+ more lines$"):
        check(stored, "1\n2\n3\n4\n5\n6")


def test_a_missing_snapshot_fails(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="new"):
        check(tmp_path / "new.txt", "new")


def test_what_no_test_makes_any_more_is_noticed_and_removed_on_request(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_names(stored.parent, ["pages"])
    for names in ([], ["pages", "missing"]):
        with pytest.raises(AssertionError):
            check_names(stored.parent, names)
    monkeypatch.setattr(Rewriting, "asked_for", True)
    check_names(stored.parent, [])
    assert not stored.exists()
