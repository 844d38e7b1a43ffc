"""What tells a document from its neighbours: its name, with periods as documents write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.identity import name_of, with_plain_periods


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("What is FY22 capex?", "What is fiscal 2022 capex?"),
        ("FY2021, FY 2019 and FY'98", "fiscal 2021, fiscal 2019 and fiscal 1998"),
        ("2Q23 against 4Q 2021", "Q2 2023 against Q4 2021"),
        ("Q3'22 and q1 23", "Q3 2022 and Q1 2023"),
        ("FY2023Q1", "fiscal Q1 2023"),
        ("in Q2 of FY2024", "in Q2 of fiscal 2024"),
        ("the Q1 10-Q of 2022", "the Q1 10-Q of 2022"),
        ("Q2 2023", "Q2 2023"),
        ("model 2Q2341 and Q4 12,500", "model 2Q2341 and Q4 12,500"),
    ],
)
def test_periods_are_written_out(written: str, plain: str):
    assert with_plain_periods(written) == plain


@given(st.text(alphabet="FYQ fyq'0123456789-", max_size=30))
def test_writing_periods_out_twice_changes_nothing(text: str):
    once = with_plain_periods(text)
    assert with_plain_periods(once) == once


def test_a_file_name_names_its_period_as_a_question_does():
    assert name_of("Results", "uploads/acme/ORCHARD_2023Q2_10Q.pdf") == "Results ORCHARD Q2 2023 10Q"
    assert name_of("Results", "uploads/acme/PLUM 10K FY22.pdf") == "Results PLUM 10K fiscal 2022"
