"""Rights to a document: their years, whose they are, and what is no right."""

import pytest

from functions.ingest.parsing.rights import is_right, rights_in


@pytest.mark.parametrize(
    ("text", "rights"),
    [
        ("Copyright (C) 2020 Plum Institute", [("2020 ", "Plum Institute", True)]),
        ("Copyright \u20ddc 2019-2021 Ann Lee. All rights reserved.", [("2019-2021 ", "Ann Lee", True)]),
        ("Copyright by Plum Society, 2013", [("", "Plum Society", True)]),
        ("\u00a9 Plum Growers Ltd", [("", "Plum Growers Ltd", False)]),
        ("(c) 2019 Ann Lee \u00a9 2021 Bo Ray", [("2019 ", "Ann Lee ", True), ("2021 ", "Bo Ray", True)]),
        ("(c) 2020 accounts", []),
        ("\u00a9 2019 St. Mary's College. All rights", [("2019 ", "St. Mary's College", True)]),
        ("see (c) Funding Percentage", []),
    ],
)
def test_a_right_has_years_and_a_holder(text: str, rights: list[tuple[str, str, bool]]) -> None:
    assert list(rights_in(text)) == rights


def test_a_line_that_begins_with_a_right_is_one() -> None:
    assert is_right("Copyright \u00a9 2013 Orchard")
    assert is_right("All rights reserved.")
    assert not is_right("Copyright Law of Graz")
