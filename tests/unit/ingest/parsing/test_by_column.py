"""Tables that were written column by column: all labels, then all figures."""

import pytest

from tests.support.made_pages import Piece, read

NAMES = "Apples", "Pears", "Plums", "Nuts"
LABELS: list[Piece] = [(50, 700 - 15 * at, name) for at, name in enumerate(NAMES)]


def column(x: float, *texts: str, top: float = 700) -> list[Piece]:
    return [(x, top - 15 * at, text) for at, text in enumerate(texts) if text]


def test_labels_and_then_the_columns_of_their_figures_are_rows() -> None:
    columns = [(400, 720, "2023"), *column(400, "12", "3", "(5)", "10"), (480, 720, "2022")]
    assert read(*LABELS, *columns, *column(480, "11", "—", "4", "15")) == [
        "| 2023 | 2022",
        *("Apples | 12 | 11", "Pears | 3 | —", "Plums | (5) | 4", "Nuts | 10 | 15"),
    ]


def test_columns_with_gaps_keep_each_figure_in_its_row() -> None:
    labels = column(50, *NAMES)
    out, come_in = column(400, "120", "75", "14", ""), column(450, "", "", "30", "31")
    balance = column(500, "880", "805", "821", "852")
    assert read(*labels, *out, *come_in, *balance) == [
        "Apples | 120 | | 880",
        "Pears | 75 | | 805",
        "Plums | 14 | 30 | 821",
        "Nuts | | 31 | 852",
    ]


def test_dates_before_the_labels_belong_to_their_rows_and_what_stands_around_stays_outside() -> None:
    dates = [(50.0, 730.0, "Account of Ann Lee"), *column(50, "2 May", "3 May", "5 May", "9 May")]
    labels = [(120.0, y, text) for _, y, text, *_ in LABELS]
    amounts = column(400, "12.40", "3.25", "8.10", "39.90")
    below: Piece = (120, 600, "All amounts are in euros.")
    assert read(*dates, *labels, below, *amounts) == [
        "Account of Ann Lee",
        *("2 May | Apples | 12.40", "3 May | Pears | 3.25", "5 May | Plums | 8.10", "9 May | Nuts | 39.90"),
        "All amounts are in euros.",
    ]


@pytest.mark.parametrize(
    ("values", "are_rows"),
    [
        (("INV-204", "3 May 2024", "2 June 2024", "£ 1,284.00"), True),
        (("INV-204", "3 May 2024", "2 June 2024"), False),  # a label has none
        (("Ann Lee", "Hull", "Leeds", "York"), False),
        (("1.", "2.", "3.", "4."), False),  # numbers of items
    ],
)
def test_other_values_need_one_for_each_label(values: tuple[str, ...], *, are_rows: bool) -> None:
    got = read(*LABELS, *column(400, *values))
    assert (got == [f"{name} | {value}" for name, value in zip(NAMES, values, strict=False)]) is are_rows


def test_figures_beside_prose_are_of_no_row_of_it() -> None:
    text = "A line of quite ordinary words of the text that goes on to here and on"
    prose: list[Piece] = [(50, 700 - 15 * at, text) for at in range(4)]
    assert read(*prose, *column(400, "12", "3", "5", "10"))[0] == text
