"""What a table says in words of one row is not said of another, and its "no" is no "yes"."""

import pytest

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.judge import Verdict
from functions.query.grounding.table_claims import CellTexts
from functions.query.grounding.tables import tables_in
from functions.query.grounding.verify import Verifier
from tests.support.query import passage

LECTURES = """Week | Topic | Lecturer | Room
6 | Hydrographs | Okoro | H12
7 | Flood frequency | Okoro | H12
8 | Rainfall models | Whitlock | PC Lab 2"""
STATIONS = """Station | Saturday | Out-of-hours return
Dublin City | closed | no
Cork | open | yes"""


def is_of_another(claim: str, text: str, elsewhere: str = "") -> bool:
    [table] = tables_in(text)
    return CellTexts(claim, table, text, table.rows, frozenset(elsewhere.split())).is_of_another


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("In week 8 rainfall models are taught by Okoro.", False),  # a row is named by its first cell, here a number
        ("Hydrographs are taught by Okoro.", False),
    ],
)
def test_numbers_name_no_row_of_words(claim: str, expected: bool) -> None:
    assert is_of_another(claim, LECTURES) is expected


TOPICS = LECTURES.replace("Week | ", "").replace("6 | ", "").replace("7 | ", "").replace("8 | ", "")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Rainfall models are taught by Okoro.", True),
        ("Rainfall models are taught by Whitlock.", False),
        ("Rainfall models are taught in PC Lab 2.", False),
        ("Rainfall models are taught by Whitlock and Okoro.", False),  # says its own cell, too
        ("Okoro teaches hydrographs, and PC Lab 2 is for rainfall models.", False),  # of the row that it names
        ("Rainfall models are not taught by Okoro.", False),
        ("Okoro teaches, before the rainfall models, something else.", False),
        ("Rainfall models are taught by somebody.", False),
    ],
)
def test_a_word_of_another_row(claim: str, expected: bool) -> None:
    assert is_of_another(claim, TOPICS) is expected


def test_what_other_evidence_says_may_be_said() -> None:
    assert not is_of_another("Rainfall models are taught by Okoro.", TOPICS, "okoro")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Dublin City takes an out-of-hours return.", True),
        ("Dublin City takes no out-of-hours return.", False),
        ("Cork takes an out-of-hours return.", False),
        ("Cork takes no out-of-hours return.", True),
        ("Unlike Dublin City, Cork takes an out-of-hours return.", False),
        ("Dublin City is in the centre.", False),  # says nothing of the column
    ],
)
def test_a_yes_or_no_answers_for_its_column(claim: str, expected: bool) -> None:
    assert is_of_another(claim, STATIONS) is expected


TRAINS = "Stop | 4201 | 4203 | 4205\nQuay | 06:10 | 07:10 | 08:10\nMill | – | 07:20 | –\nPier | 06:31 | 07:29 | 08:40"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Mill; 4201: –", False),
        ("Mill; 4203: –", True),  # a train stops there
        ("Mill; 4203: 07:20", False),
        ("Train 4201 stops at Mill.", True),
    ],
)
def test_a_cell_that_is_told_as_it_is_says_what_it_says(claim: str, expected: bool) -> None:
    assert is_of_another(claim, TRAINS) is expected


BERTHS = """Berth | Kind | Power | Lake view
202 | Single | Yes | No
E10 | Double | No | Yes
E10 | Double | Yes | Yes"""


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Berth 202 has a lake view.", True),
        ("Berth 202 has power.", False),
        ("Berth 202 has no lake view.", False),
        ("Berth E10 has power.", False),  # there are two of them
    ],
)
def test_a_row_may_be_named_by_its_code(claim: str, expected: bool) -> None:
    assert is_of_another(claim, BERTHS) is expected


def test_rows_before_the_quoted_passage_only_name_its_columns() -> None:
    text = BERTHS.replace("\nE10", "\nE11", 1)
    [table] = tables_in(text)
    begin = text.index("E10")
    quoted = [row for row in table.rows if row.start >= begin]

    def is_of_other(claim: str) -> bool:
        return CellTexts(claim, table, text, quoted, frozenset(), begin).is_of_another

    assert not is_of_other("Berth E10 is single.")
    assert is_of_other("Berth E10 has no lake view.")


PLANS = (
    "Plans\nFeature | Basic | Pro | Business\nExport to CSV | No | Yes | Yes\nSingle sign-on | No | No | Yes\n"
    "Users | 5 | 50 | Unlimited"
)
BUSES = "Stop | 701 | 703 | 705\nHarbour | 07:10 | 08:10 | 09:40\nMill | 07:25 | 08:25 | –"
HOURS = "Day | Opens | Closes\nMonday | 9:00 | 17:00\nTuesday | 9:00 | 20:00\nSunday | Closed | Closed"
ROOMS = "Room | Type | Floor | Balcony | View\n201 | double | first | yes | sea\n202 | single | first | no | court"


def told_in(claim: str, text: str, label: str) -> Verdict:
    """Return the verdict on a claim that quotes the row that begins with a label."""
    row = next(line for line in text.split("\n") if line.startswith(label))
    verifier = Verifier([passage(text)], question="", language="en")
    (judged,) = verifier.judge(Claim(claim, (Reference(1, row),)))
    return judged.judgement.verdict


@pytest.mark.parametrize(
    ("claim", "text", "label"),
    [
        ("Pro can export to CSV.", PLANS, "Export"),
        ("The Basic plan has no export to CSV.", PLANS, "Export"),
        ("Export to CSV is available in Pro and Business.", PLANS, "Export"),
        ("Business has unlimited users.", PLANS, "Users"),
        ("Bus 701 stops at Mill at 07:25.", BUSES, "Mill"),
        ("Bus 705 does not stop at Mill.", BUSES, "Mill"),
        ("It is closed on Sunday.", HOURS, "Sunday"),
        ("On Tuesday it is open from 9:00 to 20:00.", HOURS, "Tuesday"),
        ("Room 201 is a double room with a balcony and a view of the sea.", ROOMS, "201"),
    ],
)
def test_words_times_and_answers_of_cells_are_confirmed(claim: str, text: str, label: str):
    assert told_in(claim, text, label) == Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("claim", "text", "label"),
    [
        ("Basic can export to CSV.", PLANS, "Export"),
        ("Pro has no export to CSV.", PLANS, "Export"),
        ("Export to CSV is available in Basic and Pro.", PLANS, "Export"),
        ("Basic has unlimited users.", PLANS, "Users"),
        ("Bus 703 stops at Mill at 07:25.", BUSES, "Mill"),
        ("It opens at 20:00 on Tuesday.", HOURS, "Tuesday"),
        ("It is open on Sunday.", HOURS, "Sunday"),
    ],
)
def test_words_times_and_answers_of_other_cells_are_refuted(claim: str, text: str, label: str):
    assert told_in(claim, text, label) == Verdict.REFUTED


def test_a_claim_that_only_names_a_row_and_a_column_of_times_tells_nothing():
    assert told_in("It is closed on Tuesday.", HOURS, "Tuesday") == Verdict.UNCONFIRMED


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The battery of the T-200 lasts at most 14 hours.", Verdict.CONFIRMED),
        ("The battery of the T-200 lasts at least 14 hours.", Verdict.REFUTED),
    ],
)
def test_a_limit_in_a_cell_is_told_as_it_is(claim: str, verdict: Verdict):
    table = "Model | T-100 | T-200\nBattery life | up to 8 h | up to 14 h\nWeight | 3.2 kg | 4.8 kg"
    assert told_in(claim, table, "Battery") == verdict


LUGGAGE = "Item | Hand luggage | Hold\nKnives | not allowed | allowed\nBatteries | allowed | not allowed"
EXAMS = "Exam | Date | Time | Room\nFrench | 14 June | 13:30 | Room 4\nLatin | 15 June | 9:00 | Room 2"


@pytest.mark.parametrize(
    ("claim", "text", "label", "verdict"),
    [
        ("Knives are allowed in hand luggage.", LUGGAGE, "Knives", Verdict.REFUTED),
        ("Knives are allowed in the hold.", LUGGAGE, "Knives", Verdict.CONFIRMED),
        ("Knives are forbidden in hand luggage.", LUGGAGE, "Knives", Verdict.UNCONFIRMED),  # in other words
        ("French is in Room 4 on 14 June.", EXAMS, "French", Verdict.CONFIRMED),  # a room is no other day
        ("On Tuesday it is open until 20:00.", HOURS, "Tuesday", Verdict.CONFIRMED),
        ("We open on Tuesday and shut at 20:00.", HOURS, "Tuesday", Verdict.CONFIRMED),
    ],
)
def test_denials_other_words_and_other_columns_are_told_apart(claim: str, text: str, label: str, verdict: Verdict):
    assert told_in(claim, text, label) == verdict


@pytest.mark.parametrize(
    ("claim", "text", "label"),
    [
        ("Sand costs £35 per tonne.", "Item | Unit | Price\nSand | tonne | 35\nApples | kg | 3", "Sand"),
        ("Mehl kostet 1,20 Euro.", "Ware | Einheit | Preis\nMehl | kg | 1,20\nMilch | Liter | 0,95", "Mehl"),
    ],
)
def test_a_price_is_not_in_the_unit_of_its_row(claim: str, text: str, label: str):
    assert told_in(claim, text, label) == Verdict.CONFIRMED


def test_min_beside_max_is_no_minute():
    table = "Month | Temperature (min) | Temperature (max)\nMay | 8 | 19\nJune | 12 | 23"
    assert told_in("In May the minimum temperature is 8 °C.", table, "May") != Verdict.REFUTED
