"""Sums, differences and counts of an answer without a model: right and whole, or none."""

import pytest

from functions.query.grounding.verify import Verifier
from functions.query.writing.worked_out import calculation, counted_list, counted_rows, part_claims
from tests.support.query import passage

INCOME = passage(
    "Income of the station\nYears ended December 31 (in millions)\nItem | 2019 | 2018\nNet sales | $ 5,409 | $ 5,000\n"
    "Cost of sales | 3,100 | 2,900\nOther income | 20 | 15\nShare of visitors | 12% | 10%"
)
LOWER_HALF = passage(
    "Net sales | $ 5,409 | $ 5,000\nCost of sales | 3,100 | 2,900", table="Income\n(in millions)\nItem | 2019 | 2018"
)
FUEL = passage("Fuel in store\nFuel | Litres\nDiesel | 48,000\nPetrol | 1,900\nHeating oil | (300)")


@pytest.mark.parametrize(
    ("question", "source", "told"),
    [
        (
            "What is the total of diesel and petrol?",
            FUEL,
            "Diesel; Litres: 48,000; Petrol; Litres: 1,900; together: 49,900",
        ),
        (
            "How much higher were net sales in 2019 compared to 2018?",
            INCOME,
            "Net sales; 2019: $ 5,409; 2018: $ 5,000; difference: 409",
        ),
        (
            "How much higher were net sales in 2019 compared to 2018?",
            LOWER_HALF,
            "Net sales; 2019: $ 5,409; 2018: $ 5,000; difference: 409",
        ),
        (
            "What is the difference between net sales and cost of sales in 2019?",
            INCOME,
            "Net sales; 2019: $ 5,409; Cost of sales; 2019: 3,100; difference: 2,309",
        ),
        (
            "What were net sales and other income together in 2018?",
            INCOME,
            "Net sales; 2018: $ 5,000; Other income; 2018: 15; together: 5,015",
        ),
    ],
)
def test_a_sum_or_difference_of_named_cells_shows_its_figures_and_is_confirmed(question, source, told):
    claim = calculation(question, [source])
    assert claim is not None
    assert claim.text == told
    assert all(each.quote in source.text for each in claim.references)
    verifier = Verifier([source], question=question, language="en")
    (shown,) = verifier.check(claim)
    assert shown.claim.verdict == "confirmed"
    assert shown.claim.derived


@pytest.mark.parametrize(
    "question",
    [
        "What were net sales in 2019?",
        "What is the total of net sales in 2019?",
        "What is the total of net sales and wages in 2019?",
        "How much higher were net sales in 2019 than in 2017?",
        "By what percentage did net sales grow from 2018 to 2019?",
        "What is the total of net sales and the share of visitors in 2019?",
        "What is the difference between net sales, cost of sales and other income in 2019?",
    ],
)
def test_nothing_is_calculated_where_it_is_not_asked_for_or_a_cell_is_not_clear(question):
    assert calculation(question, [INCOME]) is None


def test_negative_figures_another_document_and_cells_of_two_figures_are_not_added():
    assert calculation("What is the total of petrol and heating oil?", [FUEL]) is None
    another = passage(FUEL.text, n=2, document_id="other")
    first = passage("The station has 12 rooms.", document_id="first")
    assert calculation("What is the total of diesel and petrol?", [first, another]) is None
    pairs = passage("Accuracy\nMethod | Easy | Hard\nBase | 67.8% | 42.6% (1.2%)\nOurs | 75.2% | 62.3% (2.1%)")
    assert calculation("How much higher is the accuracy of Ours than Base on Hard?", [pairs]) is None


CONTENTS = (
    "Chapter 1 The station ........ 3\n1.1 Rooms ........ 4\nChapter 2 The generator ........ 9\n"
    "Chapter 3 The boats ........ 12\nIndex ........ 30"
)
GRILLE = "To replace the grille:\n\n1. Line up the tabs.\n2. Push firmly.\n3. Close the doors."
RULES = "The station has these rules:\n• No fires.\n• No dogs.\n  – not even small ones\n• No shouting."


@pytest.mark.parametrize(
    ("question", "text", "count"),
    [
        ("How many steps are required to replace the grille?", GRILLE, 3),
        ("How many rules does the station have?", RULES, 3),
    ],
)
def test_a_whole_list_that_is_asked_for_is_counted_and_told(question, text, count):
    counted = counted_list(question, [passage(f"{text}\n\nThe lamp is lit at dusk.")])
    assert counted is not None
    assert counted.items == count
    assert counted.claim.text.splitlines()[0] == text.partition("\n")[0]
    assert counted.claim.references[0].quote == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do I replace the grille?", f"{GRILLE}\n\nThe lamp is lit at dusk."),
        ("How many lamps does the station have?", f"{RULES}\n\nIt is lit at dusk."),
        ("How many steps are required to replace the grille?", GRILLE),
        ("How many steps are required to replace the grille?", f"{GRILLE}\n\n4. Lock them."),
        (
            "How many steps are required to replace the grille?",
            "To replace the grille:\n\n2. Push.\n3. Close.\n\nEnd.",
        ),
        ("How many rules does the station have?", f"The station has 14 rules.\n\n{RULES}\n\nThe lamp is lit at dusk."),
    ],
)
def test_a_list_is_not_counted_that_is_not_asked_for_or_not_whole_or_whose_number_is_told(question, text):
    assert counted_list(question, [passage(text)]) is None


DUTIES = (
    "Duty | Keeper | Guest\nLighting the lamp | Yes | No\nOpening the gate | Yes | Yes\nRinging the bell | Yes | No"
)
LISTED = f"Table 2 lists the common duties of each keeper.\n\nTable 2 Duties\n\n{DUTIES}\n\nThe bell is old."


def test_the_rows_of_a_table_are_counted_below_the_sentence_that_says_what_it_lists():
    counted = counted_rows("How many common duties does each keeper have?", [passage(LISTED)])
    assert counted is not None
    assert (counted.items, counted.claim.text) == (3, "Table 2 lists the common duties of each keeper.")
    again = LISTED.replace("Ringing", "Duty | Keeper | Guest\nRinging")  # overleaf the names are repeated
    counted = counted_rows("How many common duties does each keeper have?", [passage(again)])
    assert counted is not None
    assert counted.items == 3


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which common duties does each keeper have?", LISTED),
        ("How many common duties does each keeper not have?", LISTED),
        ("How many common duties does each guest have?", LISTED),
        ("How many keepers have common duties?", LISTED),
        (
            "How many common duties does each keeper have?",
            LISTED.replace("lists the", "has the").replace("Table 2", "It"),
        ),
        ("How many common duties does each keeper have?", LISTED.partition("\n\nThe bell")[0]),
        ("How many common duties does each keeper have?", LISTED.replace("Ringing the bell", "Opening the gate")),
        ("How many common duties does each keeper have?", LISTED.replace("Table 2 Duties", "A.\n\nB.\n\nC.")),
    ],
)
def test_rows_are_not_counted_unless_a_sentence_says_so_and_the_table_is_whole(question, text):
    assert counted_rows(question, [passage(text)]) is None


# --- a numbered part ---

LEASE = (
    "3. Rent\n\n3.1 The tenant pays £900 a month. 3.2 Rent is due on the first day.\n\n"
    "4. Pets\n\n4.1 One cat may be kept."
)


def told(question, *passages):
    return [claim.text for claim in part_claims(question, passages)]


def test_the_part_is_told_alone_from_whichever_passage_it_is_in():
    other = passage("Rent is due on the first day of the month.", n=2)
    claims = part_claims("What does clause 3.2 say?", [other, passage(LEASE)])
    assert [(each.text, each.references[0].source) for each in claims] == [("3.2 Rent is due on the first day.", 2)]


def test_a_part_is_told_with_its_parts_each_paragraph_by_itself():
    assert told("section 3", passage(LEASE)) == [
        "3. Rent",
        "3.1 The tenant pays £900 a month. 3.2 Rent is due on the first day.",
    ]


def test_a_question_that_asks_more_is_no_question_for_the_part():
    lease = passage(LEASE, title="Lease of Fern Court", language="en")
    assert told("What does clause 3.2 of the lease say?", lease) == ["3.2 Rent is due on the first day."]
    assert told("What do you process under clause 3.2 of the GDPR?", lease) == []
    assert told("Was steht in § 4.1?", lease) == [], "it is in another language"


def test_nothing_is_told_of_a_part_that_is_not_there_or_is_only_a_heading():
    assert told("What does clause 3.7 say?", passage(LEASE)) == []
    assert told("What does clause 6 say?", passage("5.1 Pay.\n\n6. Keys")) == []
    assert told("When is rent due?", passage(LEASE)) == []
