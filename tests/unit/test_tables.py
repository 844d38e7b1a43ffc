"""What stands over a table's row: names of columns, which are told from data."""

import pytest

from shared.text import LONGEST_NAME_CHARACTERS, column_names, table_head

ABOVE = "2.2 Stores in winter\n\nWhat must be there:\n"


@pytest.mark.parametrize(
    "names",
    [
        "Stores | Unit | Minimum",
        "Form | Q1 2024 | Q2 2024",
        "(in millions, $) | September 30, 2024 | December 31, 2023",
        "Region | 2023/24 | Share (%)",
        " | Year | Notes¹",
        "Prekė | Kiekis, litrais | Žiemą",
    ],
)
def test_words_and_years_name_columns_for_every_row_with_a_figure(names: str) -> None:
    text = f"{ABOVE}{names}\nDiesel | 48,000 | 3\nPetrol | 1,900 | 4\n\nAnd so on."
    for row in ("Diesel", "Petrol"):
        found = column_names(text, text.index(row))
        assert found is not None
        assert text[slice(*found)] == names


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("Weight | 12 kg\nHeight | 40 cm", "Height"),  # the first row is data
        ("Rate | 4.5 %\nFee | 3 %", "Fee"),
        ("reviewer | A2SUAM1J3\nvote | 5", "vote"),
        ("Stores | Unit\nDiesel | litres", "Diesel"),  # no figure that wants a name
        ("Stores | Unit\nDiesel | 48,000", "Stores"),  # the names themselves
        (f"Fuel | {'x' * LONGEST_NAME_CHARACTERS}y\nDiesel | 48,000", "Diesel"),
        ("Stores |  | \nDiesel | 48,000 | 3", "Diesel"),  # a title across the table names nothing
        ("Kind | Share\nFault | 29 | 38 | 77", "Fault"),  # other columns
        ("Results | : | July\nDividend | : | 3 October", "Dividend"),
        ("No table here.\nDiesel: 48,000", "Diesel"),
    ],
)
def test_elsewhere_there_are_none(table: str, row: str) -> None:
    text = f"{ABOVE}{table}"
    assert column_names(text, text.index(row)) is None


def test_a_table_at_the_very_beginning_and_end_of_a_text() -> None:
    assert column_names("A | B\n1 | 2", 6) == (0, 5)
    assert column_names("", 0) is None


def test_the_head_of_a_table_is_the_line_before_it_and_its_first_rows() -> None:
    text = f"{ABOVE}Stores | Unit\nDiesel | 48,000\nPetrol | 1,900"
    at = text.index("Petrol")
    assert table_head(text, at) == ("What must be there:", "Stores | Unit")
    assert table_head(text, at, rows=2) == ("What must be there:", "Stores | Unit", "Diesel | 48,000")
    assert table_head(text, text.index("Stores |")) == ("What must be there:",)
    assert table_head(text, 3) == ()
