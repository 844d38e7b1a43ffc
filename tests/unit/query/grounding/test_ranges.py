"""Ranges in labels and sentences, compared with the numbers and ages that a question names."""

import pytest

from functions.query.grounding.ranges import is_in_range, is_in_range_told


@pytest.mark.parametrize(
    ("label", "question", "is_in"),
    [
        ("6 to 9 years", "What is the dose for an 8 year old?", True),
        ("6 to 9 years (20 to 28 kg)", "What is the dose for an 8 year old?", True),
        ("Child 6 to 14", "What is the price for a child of four?", False),
        ("Child 6 to 14", "What is the price for my seven-year-old?", True),
        ("Lots 6 to 14", "What is the price for my seven-year-old?", None),
        ("65 and over", "What does a 70 year old pay?", True),
        ("29 to 8 days before", "What is kept 20 days before?", True),
        ("8751H-8", "What is the voltage of the 8751H?", None),
        ("2.5 to 4kg", "What does a dog of 3 kg get?", True),
        ("5 kg or less", "What does a dog of 6 kg get?", False),
        ("5 kilograms to 8 kilograms", "What does a dog of 6 kg get?", True),
        ("over 2nd", "What does a child of 4 pay?", None),
    ],
)
def test_a_label_is_compared_with_an_age(label: str, question: str, *, is_in: bool | None):
    assert is_in_range(label, question) is is_in


@pytest.mark.parametrize(
    ("sentence", "question", "is_in"),
    [
        ("Children under 6 cannot take part.", "What is the price for a child of 4?", True),
        ("Riders must be at least 16 years old.", "Can my 15 year old ride?", False),
        ("Under 6 years: nothing; 6 to 9 years: one tablet.", "How many for an 8 year old?", True),
        ("Riders must be at least 16 years old.", "Can 15 people ride?", None),
        ("Riders must be brave.", "Can my 15 year old ride?", None),
    ],
)
def test_a_sentence_is_compared_by_its_ranges(sentence: str, question: str, *, is_in: bool | None):
    assert is_in_range_told(sentence, question) is is_in
