"""What is masked where questions and answers are logged."""

import pytest

from shared.telemetry import masked


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("Write to ann.smith+hr@mail.example.co.uk today.", "Write to [e-mail] today."),
        ("Pay DE89 3704 0044 0532 0130 00 or LT121000011101001000.", "Pay [iban] or [iban]."),
        ("Card 4111 1111 1111 1111, or 4111-1111-1111-1111.", "Card [card], or [card]."),
        ("Call +370 612 34567 or 0049 (30) 1234567 or 030/1234567.", "Call [phone] or [phone] or [phone]."),
    ],
)
def test_what_tells_a_person_is_masked(text: str, logged: str):
    assert masked(text) == logged


@pytest.mark.parametrize(
    "text",
    [
        "Revenue rose from $1,231 million in 2021 to $7,735 million on 30 June 2022.",
        "Pages 12-15 of ISO 27001, section 4.2, part BD-2 at 60 degrees",
        "Document 01M829MD8D47YNVAZZGSS3WZPY has 0.05 mm of play at 0.5-0.7 bar.",
    ],
)
def test_figures_of_documents_are_kept(text: str):
    assert masked(text) == text
