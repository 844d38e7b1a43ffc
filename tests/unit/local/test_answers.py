"""What the laptop prints below an answer."""

import pytest

from local.cli_ask import _print_end, print_answer, verdicts_of
from local.report import Reporter

CITATION = {"n": 1, "title": "Handbook", "page_start": 3, "page_end": 3, "quote": "It holds 2 + 3.", "score": 0.9}
ANSWER = {
    "answer": "It holds 5. [1] It is blue. [1] (unconfirmed)",
    "no_relevant_info": False,
    "citations": [CITATION],
    "claims": [
        {"text": "It holds 5.", "verdict": "confirmed", "citations": [1], "derived": "2 + 3 = 5"},
        {"text": "It is blue.", "verdict": "unconfirmed", "citations": [1], "derived": ""},
    ],
    "support": {"claims": 3, "confirmed": 1, "unconfirmed": 1, "dropped": 1, "flags": ["number"]},
    "warnings": [],
    "mode": "generated",
    "band": "high",
}


def test_the_verdicts_and_calculations_are_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(ANSWER, Reporter())
    printed = capsys.readouterr().out
    assert "calculated: 2 + 3 = 5" in printed
    assert "3 claims: 1 confirmed, 1 unconfirmed, 1 left out" in printed


@pytest.mark.parametrize(
    ("mode", "band", "doubtful"),
    [
        ("generated", "low", True),
        ("extractive", "low", True),
        ("generated", "medium", False),
        ("extractive", "high", False),
        ("service", "low", False),
    ],
)
def test_an_answer_that_is_little_sure_says_so_below_its_text(
    mode: str, band: str, doubtful: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    print_answer({**ANSWER, "mode": mode, "band": band}, Reporter())
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].startswith("  not sure: ") == doubtful


def test_a_refusal_is_not_called_unsure(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = {**ANSWER, "no_relevant_info": True, "mode": "refused", "band": "low"}
    print_answer(refusal, Reporter())
    assert "not sure" not in capsys.readouterr().out


def test_a_refusal_of_the_model_is_called_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    _print_end({**ANSWER, "no_relevant_info": True, "timings_ms": {"generate": 5.0}}, Reporter(), how_to_go_on=False)
    assert capsys.readouterr().out == "refused · 5 ms\n"


@pytest.mark.parametrize(
    ("field", "said"),
    [({"ocr": True}, "read by OCR"), ({"described_by": "gpt-x"}, "a figure, described by gpt-x"), ({}, "Handbook\n")],
)
def test_words_that_are_not_the_documents_own_are_said_to_be(
    field: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_answer({**ANSWER, "citations": [{**CITATION, **field}]}, Reporter())
    assert said in capsys.readouterr().out


def test_nothing_is_told_if_all_claims_are_confirmed() -> None:
    assert verdicts_of({"claims": 2, "confirmed": 2, "unconfirmed": 0, "dropped": 0}) == ""
