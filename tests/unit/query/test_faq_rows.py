"""FAQs as rows of a CSV file: what is read, what is refused, and what a spreadsheet must not run."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.faqs import MAX_ROWS, guarded, id_of_question, rows_of, unguarded
from shared.errors import InvalidRequest


def read(text: str) -> list[tuple[int, dict[str, str]]]:
    return [(row.number, dict(row.cells)) for row in rows_of(text.encode())]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows_are_numbered_as_a_spreadsheet_shows_them_and_empty_ones_left_out(delimiter: str, mark: str) -> None:
    rows = ["Question, ANSWER ", "When?,At ten", ",", "Where?,Here", "Who?"]
    assert read(mark + "\n".join(row.replace(",", delimiter) for row in rows)) == [
        (2, {"question": "When?", "answer": "At ten"}),
        (4, {"question": "Where?", "answer": "Here"}),
        (5, {"question": "Who?"}),
    ]


@pytest.mark.parametrize(
    "header", ["question", "answer", "question,answer,colour", "question,answer,answer", "", "a,b"]
)
def test_a_header_names_known_columns_once_each_and_both_that_are_needed(header: str) -> None:
    with pytest.raises(InvalidRequest, match="The first row must name the columns"):
        read(f"{header}\nWhen?,At ten")


def test_the_most_rows_are_read_and_one_more_is_refused() -> None:
    rows = ["When?,At ten"] * MAX_ROWS
    assert len(read("\n".join(["question,answer", *rows]))) == MAX_ROWS
    with pytest.raises(InvalidRequest, match="more than 500 rows"):
        read("\n".join(["question,answer", *rows, rows[0]]))


@pytest.mark.parametrize(
    ("body", "message"), [(b"question,answer\n\xff,x", "not in UTF-8"), (b'question,answer\n"a"b,c', "at line 2")]
)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(body: bytes, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        rows_of(body)


@given(st.text(alphabet="'=+-@\t\r\n＝a1 ", max_size=6))
def test_no_cell_is_taken_for_a_formula_and_each_comes_back_as_it_was(cell: str) -> None:
    assert not re.match(r"[=+\-@\t\r\n＝＋－＠]", guarded(cell))
    assert unguarded(guarded(cell)) == cell


def test_an_imported_question_has_the_same_id_however_it_is_spaced_or_capitalised() -> None:
    first = id_of_question("When does it open?", "en")
    assert id_of_question(" WHEN  does it open? ", "EN") == first
    assert re.fullmatch("q-[0-9a-f]{24}", first)
    assert len({first, id_of_question("When does it open?", "lt"), id_of_question("When does it close?", "en")}) == 3
