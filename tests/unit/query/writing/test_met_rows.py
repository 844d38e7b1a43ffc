"""The rows of a table that meet a condition: all of them and no other, or none where it is not clear which."""

import pytest

from functions.query.grounding.verify import Verifier
from functions.query.writing.generation import WritingRequest
from functions.query.writing.met_rows import met_rows
from shared.deadline import Deadline
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.query import passage, written

CABINS = passage(
    "Our cabins\n\nCabin | Beds | Price 2024 | Price 2025 | Change | Stove | Sauna\n"
    "Otter | 4 | £80 | £72 | -£8 | yes | x\nHeron | 2 | £40 | £44 | £4 | no |\n"
    "Marten | 6 | £120 | £120 | £0 | yes | x\nTotal | 12 | £240 | £236 | -£4 | |\n\nThe lake is closed in March."
)


def told(question, source=CABINS):
    found = met_rows(question, [source])
    return found and [each.text for each in found.claims]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which cabins have more than 3 beds?", ["Otter; Beds: 4", "Marten; Beds: 6"]),
        ("Which of the cabins have at most 4 beds?", ["Otter; Beds: 4", "Heron; Beds: 2"]),
        ("Which cabins have at least 6 beds?", ["Marten; Beds: 6"]),
        ("Which cabins have under 4 beds?", ["Heron; Beds: 2"]),
        ("Which cabin has a higher price in 2025 than in 2024?", ["Heron; Price 2024: £40; Price 2025: £44"]),
        ("Which cabins went down?", ["Otter; Change: -£8"]),
        ("How many cabins have a sauna?", ["Otter; Sauna: x", "Marten; Sauna: x"]),
        ("Which cabins have no sauna?", ["Heron"]),
        ("What cabins have a stove?", ["Otter; Stove: yes", "Marten; Stove: yes"]),
        ("Which cabins have more than 6 beds?", None),
        ("Which cabins cost less than 50?", None),
        ("Which boats have more than 3 beds?", None),
        ("How dear is a cabin with more than 3 beds?", None),
        ("Which cabin is best?", None),
    ],
)
def test_the_rows_of_what_is_asked_for_that_meet_the_condition_are_told(question, rows):
    assert told(question) == rows


def test_years_name_columns_of_years():
    crew = passage("Crew | 2024 | 2023\nDeck | 12 | 15\nGalley | 6 | 4\n\nMore are wanted.")
    assert told("Which crew had fewer people in 2024 than in 2023?", crew) == ["Deck; 2024: 12; 2023: 15"]


def test_a_limit_must_be_of_the_columns_unit_and_a_cross_is_no_beside_another_sign():
    hops = passage("Hop | Acid\nBravo | 15%\nCrystal | 4%\n\nHops are dried.")
    assert told("Which hops have over 10% acid?", hops) == ["Bravo; Acid: 15%"]
    assert told("Which hops have over £10?", hops) is None
    assert told("Which cabins have over 3% beds?") is None
    plans = passage("Plan | Towing\nGold | ✓\nTin | x\n\nPlans last a year.")
    assert told("Which plans include towing?", plans) == ["Gold; Towing: ✓"]


@pytest.mark.parametrize(("above", "corner"), [("", "Berth type"), ("", "Kind of berth"), ("The berths\n", "")])
def test_what_names_the_labels_may_have_more_words_or_stand_above(above, corner):
    berths = passage(f"{above}{corner} | Length | Water\nInner | 9 | yes\nOuter | 14 | no\n\nBook early.")
    assert told("Which berths have water?", berths) == ["Inner; Water: yes"]
    assert told("Which boats have water?", berths) is None


def test_each_row_is_quoted_and_confirmed():
    for question in ("Which cabins have more than 3 beds?", "Which cabins have a sauna?"):
        verifier = Verifier([CABINS], question=question, language="en")
        for claim in met_rows(question, [CABINS]).claims:
            (shown,) = verifier.check(claim)
            assert shown.claim.verdict == "confirmed"
            assert claim.references[0].quote in CABINS.text


def answer(question, source):
    request = WritingRequest(question, question, [source])
    return written(request, chat=None, settings=Settings(), deadline=Deadline(FakeClock(), 9.0))


def test_only_rows_of_a_whole_table_are_counted():
    question = "How many cabins have more than 3 beds?"
    assert answer(question, CABINS).text.endswith("\n\nCounted in this list: 2.")
    assert "Counted" not in answer(question, passage(CABINS.text.partition("\n\nThe lake")[0])).text


def test_rows_do_not_answer_a_question_with_words_that_the_document_does_not_have():
    assert answer("Which cabins have more than 3 beds?", CABINS).refusal is None
    assert answer("Which cabins near the volcano have more than 3 beds?", CABINS).refusal == "not_mentioned"


def test_another_documents_tables_and_those_in_another_language_are_not_read():
    other = passage("The harbour has a crane.", document_id="first")
    assert met_rows("Which cabins have more than 3 beds?", [other, CABINS]) is None
    assert met_rows("Which cabins have more than 3 beds?", [CABINS._replace(language="de")]) is None
