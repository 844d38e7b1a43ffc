"""Labels and values that are written column by column, on made pages."""

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.words import Style
from tests.support.made_pages import PAGE, written

BOLD = Style(size=10, bold=True)
LABELS, VALUES = ("Title", "Number", "State", "Country"), ("Consent to plums", "4711", "complete", "Ireland")


def page(
    style: Style, values: tuple[str, ...] = VALUES, colon: str = "", shift: float = 0, between: str = ""
) -> list[str]:
    words = [word for at, text in enumerate(LABELS) for word in written(50, 700 - 25 * at, text + colon, style)]
    words += written(300, 500, between) if between else []
    words += [word for at, text in enumerate(values) for word in written(200, 700 + shift - 25 * at, text)]
    return [line.text for line in lay_out(words, PAGE)]


PAIRS = [f"{label} | {value}" for label, value in zip(LABELS, VALUES, strict=True)]


def test_values_stand_behind_their_labels() -> None:
    assert page(BOLD) == PAIRS
    assert page(BOLD, VALUES[:3])[:3] == PAIRS[:3]
    assert page(Style(size=10), colon=":") == [pair.replace(" |", ": |") for pair in PAIRS]
    assert page(BOLD, between="A line of text below it all")[:4] == PAIRS


@pytest.mark.parametrize(
    "got",
    [
        page(Style(size=10)),  # no labels
        page(BOLD, VALUES[:2]),
        page(BOLD, shift=12),  # at other heights
    ],
)
def test_other_columns_stay(got: list[str]) -> None:
    assert not any(" | " in text for text in got)


def test_values_below_each_other_are_lines_of_their_own_where_the_engine_saw_no_end() -> None:
    words = [word for at, text in enumerate(LABELS) for word in written(50, 700 - 25 * at, text, BOLD)]
    values = [word for at, text in enumerate(VALUES) for word in written(200, 700 - 19 * at, text)]
    for word in values[:-1]:
        word.ends = ""
    got = [line.text for line in lay_out([*words, *values], PAGE)]
    assert not any("4711 complete" in text for text in got)
