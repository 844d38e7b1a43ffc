"""Regular expressions by kind and language: how a text file of them is read."""

from pathlib import Path

import pytest

from functions.query.understanding import question
from functions.query.understanding.patterns import of_any_language, patterns_of


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(question, "TEXTS", tmp_path)
    return tmp_path


def test_lines_of_one_kind_and_language_are_joined_with_what_names_stand_for(texts: Path) -> None:
    (texts / "colours.txt").write_text(
        "# Colours.\nLIGHT = (?:pale|light)\n\nwarm en LIGHT red\nwarm en orange\nwarm de rot\ncold * blue\n"
    )
    assert patterns_of("colours.txt") == {
        "warm": {"en": "(?:pale|light) red|orange", "de": "rot"},
        "cold": {"*": "blue"},
    }


def test_the_patterns_of_several_kinds_match_in_any_language_and_case(texts: Path) -> None:
    (texts / "colours.txt").write_text("warm en red\nwarm de rot\ncold * blue\n")
    read = patterns_of("colours.txt")
    warm, both = of_any_language(read["warm"]), of_any_language(read["warm"], read["cold"])
    assert [bool(warm.search(text)) for text in ("Red wine", "ROT", "blue")] == [True, True, False]
    assert both.search("Blue") is not None
