"""What logs leave out: errors' words always, and what tells a person where questions and answers are logged."""

import json
import logging
import re

import pytest
from pydantic import BaseModel, ValidationError

from shared.telemetry import FramesFormatter, masked


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("Write to ann.smith+hr@mail.example.co.uk today.", "Write to [e-mail] today."),
        ("Mail o'brien@example.ie, or <žygis@pašto.lt>.", "Mail [e-mail], or <[e-mail]>."),
        ("Pay DE89 3704 0044 0532 0130 00 or LT121000011101001000.", "Pay [iban] or [iban]."),
        ("Pay de89370400440532013000 before the 5th.", "Pay [iban] before the 5th."),
        ("Pay DE89-3704-0044-0532-0130-00 today, please.", "Pay [iban] today, please."),
        ("From BE68 539 0075 4703 4 to DE 89 37040044 0532013000.", "From [iban] to [iban]."),
        ("GB82\u00a0WEST\u00a01234\u00a05698\u00a07654\u00a032 and 20 more", "[iban] and 20 more"),
        ("NO93 8601 1117 947 is short.", "[iban] is short."),
        ("So is NO93-8601-1117-947.", "So is [iban]."),
        ("Card 4111 1111 1111 1111, or 4111-1111-1111-1111.", "Card [card], or [card]."),
        ("4111111111111111 and 378282246310005, 3782 822463 10005", "[card] and [card], [card]"),
        ("Card 5555.5555.5555.4444 12 27 737", "Card [card] 12 27 737"),
        ("My 3 cards: 12 4111  1111  1111  1111 and 2223003122003222", "My 3 cards: 12 [card] and [card]"),
        ("Call +370 612 34567 or 0049 (30) 1234567 or 030/1234567.", "Call [phone] or [phone] or [phone]."),
        ("+1 (212) 555-0123, +44 20 7946 0958, +33.6.12.34.56.78", "[phone], [phone], [phone]"),
        ("+33 612 345 678, (030) 123 45 67, +49 (0)30\u00a01234567", "[phone], [phone], [phone]"),
        ("06 12 34 56 78, 06.12.34.56.78, 0612345678, 03012345678", "[phone], [phone], [phone], [phone]"),
        ("(212) 555-0123 or 212-555-0123", "[phone] or [phone]"),
        ("tel:+37061234567;ext=5", "tel:[phone];ext=5"),
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
        "From 06-12-2024 to 06/12/2024, 06.12.2024 14:30, 2024-06-12 08:30 or 05.06.2024 12",
        "In 2019 2020 2021 2022 2023 it was 1.234.567.890,00 EUR, or 12 345 678 901 234 in all.",
        "Amounts: 1.234.567,89 EUR; 1,234,567.00 USD; +1 234 567 EUR; -5,00 1 234 567",
        "FY 2019 2020 2021 2022 2023 and CO2 12 14 16",
        "ISBN 978-3-16-148410-0, order 20241122-0007, version 10.15.7, 192.168.100.200",
    ],
)
def test_figures_of_documents_are_kept(text: str):
    assert masked(text) == text


def test_masking_a_long_question_of_digits_takes_no_time():
    assert masked("1 " * 50_000).count("1") == 50_000


class _Body(BaseModel):
    question: int


ASKED = "Who is ill, ann@example.com?"


def logged_error() -> str:
    """Log, as the service does, an error that quotes what somebody asked."""
    try:
        try:
            _Body.model_validate({"question": ASKED})
        except ValidationError as error:
            raise KeyError(ASKED) from error
    except KeyError as error:
        about = (KeyError, error, error.__traceback__)
        record = logging.LogRecord("recto", logging.ERROR, __file__, 1, "unexpected error", (), about)
        return FramesFormatter(utc=True, serialize_stacktrace=False).format(record)


def test_an_error_nobody_foresaw_is_logged_without_what_it_says():
    line = logged_error()
    assert ASKED not in line
    told = json.loads(line)["exception"]
    assert re.search(r"ValidationError.*test_telemetry\.py.*KeyError$", told, re.S)


def test_it_is_logged_with_its_words_masked_where_content_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECTO_LOG_CONTENT", "true")
    assert "KeyError: 'Who is ill, [e-mail]?'" in json.loads(logged_error())["exception"]
