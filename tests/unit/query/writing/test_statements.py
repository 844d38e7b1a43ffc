"""Which parts of a text can be told alone, with what they belong to, and what each is."""

import pytest

from functions.query.writing.list_items import count_items, follows_in_list, is_item, on_lines
from functions.query.writing.statements import Statement, statements_of

PROPERTIES = (
    "is_question",
    "is_contents_entry",
    "is_row",
    "is_short_lines",
    "has_yes_or_no",
    "is_introduction",
    "has_items",
    "is_garbled",
    "is_cut",
)


def told(text: str) -> list[str]:
    return [each.text for each in statements_of(text, "en")]


def only(text: str) -> Statement:
    (statement,) = statements_of(text, "en")
    return statement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump is old.", ""),
        ("Question: Who keeps it", "is_question is_cut"),
        ("Who keeps the pump? (a)", "is_cut"),
        ("“Who keeps the pump?” ", "is_question"),
        ("Draining ........ 30", "is_contents_entry is_cut"),
        ("Draining the pump … 30", "is_contents_entry is_cut"),
        ("Draining it ... 30", ""),
        ("pump | old", "is_row"),
        ("pump | Yes", "is_row has_yes_or_no"),
        ("pump | -1,5 | old", "is_row has_yes_or_no"),
        ("pump | not", "is_row"),
        ("Yes: the pump is old.", ""),
        ("To drain the pump:", "is_introduction"),
        ("1. Drain the pump", "has_items"),
        ("The pump: - drain", "is_cut"),
        ("Pump\nis old", "is_short_lines is_cut"),
        ("drains the pump.", "is_cut"),
        ("The pump (which is old)", "is_cut"),
        ("The pump (which is old.)", ""),
        ("The pump; old;", ""),
        ("pump", ""),
        ("ZE” ’ ‘-11 1", "is_garbled is_cut"),
        ("ZE” ’", ""),
    ],
)
def test_what_a_statement_is_is_told_by_its_form(text: str, expected: str) -> None:
    statement = only(text)
    assert " ".join(name for name in PROPERTIES if getattr(statement, name)) == expected


@pytest.mark.parametrize(("strays", "words", "expected"), [(1, 9, False), (1, 8, True), (2, 18, False), (2, 17, True)])
def test_a_text_is_garbled_where_more_than_a_tenth_of_it_are_stray_signs(
    strays: int, words: int, expected: bool
) -> None:
    assert only(f"{'word ' * words}{'^ ' * strays}").is_garbled is expected


@pytest.mark.parametrize(("words", "pieces", "expected"), [(2, 2, False), (2, 3, True), (3, 3, False), (1, 1, False)])
def test_a_text_is_garbled_where_fewer_than_half_of_its_pieces_are_words(
    words: int, pieces: int, expected: bool
) -> None:
    assert only(f"{'Word ' * words}{'- ' * pieces}").is_garbled is expected


def test_a_statement_belongs_to_the_heading_above_it() -> None:
    text = "Manual\n\nCleaning\n\nRinse the filter weekly. It is grey."
    rinse, grey = statements_of(text, "en")
    assert (rinse.context, text[slice(*rinse.heading or (0, 0))]) == ("Cleaning", "Cleaning")
    assert (grey.context, grey.heading) == ("Cleaning", None)
    assert only("cleaning\n\nRinse the filter weekly.").heading is None
    assert told("Cleaning") == ["Cleaning"]


@pytest.mark.parametrize(
    ("between", "below", "is_heading"),
    [
        ("\n\n", "The boat was bought.", True),
        ("\n", "The boat was bought.", False),
        ("\n\n", "2. Any other business", False),
        ("\n\n", "Any other business", False),
        ("\n\n", "boat | 7,950", False),
    ],
)
def test_a_number_and_a_title_above_prose_are_a_heading(between: str, below: str, is_heading: bool) -> None:
    first, *_ = statements_of(f"1. New boats{between}{below}", "en")
    assert (first.text == below, first.context) == (is_heading, "1. New boats" if is_heading else "")


def test_the_order_of_a_step_is_no_heading() -> None:
    text = "1. Open the front cover\n\nTwo screws hold it.\n\n2. Pull out the old filter\n\nDust may fall from it."
    assert [each.split("\n")[0] for each in told(text)][:2] == ["1. Open the front cover", "Two screws hold it."]


def test_what_stands_above_a_numbered_heading_does_not_belong_to_what_is_below_it() -> None:
    statements = statements_of("Boats\n\n1. New boats\n\nOne was bought.\n\n2. The roof\n\nIt leaks.", "en")
    assert [(each.text, each.context, each.heading) for each in statements] == [
        ("One was bought.", "1. New boats", None),
        ("It leaks.", "2. The roof", None),
    ]


@pytest.mark.parametrize(("count", "expected"), [(1, 0), (2, 0), (3, 3), (4, 4)])
def test_three_short_lines_in_a_row_are_no_headings(count: int, expected: int) -> None:
    text = "\n\n".join(["Pump", "Valve", "Hose", "Lamp"][:count])
    found = told(f"{text}\n\nAll of them are old.")
    assert found == [*([text] if expected else []), "All of them are old."]


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        ("Customer: Ann Lee", "Customer", "Ann Lee"),
        ("Due date: | 3 July 2024", "Due date", "3 July 2024"),
        ("Deposit | £1,250", "Deposit", "£1,250"),
        ("Deposit for a flat | 1,250 (in May)", "Deposit for a flat", "1,250 (in May)"),
        ("Deposit | none", "", ""),
        ("Deposit. | 1,250", "", ""),
        ("Deposit | 1,250 | 2,100", "", ""),
        ("3 | 1,250", "", ""),
        ("The deposit for one flat | 1,250", "", ""),
        ("To drain the pump: Pull it out.", "", ""),
        ("All of the seven parts: steel", "", ""),
        ("Place: Graz Date: 3 July", "", ""),
        ("https://example.test/a", "", ""),
    ],
)
def test_a_field_of_a_form_has_a_label_of_few_words_and_a_short_value(text: str, label: str, value: str) -> None:
    assert only(text).field == (label, value)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # In a form each field is a statement, and what stands between; without figures it is a run of short lines.
        (["Plum", "Ann Lee", "No: 4711", "Due: 5 EUR"], ["Plum\n\nAnn Lee", "No: 4711", "Due: 5 EUR"]),
        (["Invoice", "Number: 4711", "Customer: Ann", "Due: 3 May"], ["Number: 4711", "Customer: Ann", "Due: 3 May"]),
        (["Plum plc", "By: Ann Lee", "Title: Clerk", "Date: 3 May"], None),
        (["Orchard", "Balance: 18.20 EUR"], ["Balance: 18.20 EUR"]),
        (["Rent: 900", "Deposit: 1800", "Hours: Mon: 9-5"], ["Rent: 900", "Deposit: 1800", "Hours: Mon: 9-5"]),
        (["Orchard", "Chapter 2: Income of 2020"], []),
    ],
)  # fmt: skip
def test_the_fields_of_a_form_are_statements(lines: list[str], expected: list[str] | None) -> None:
    run = "\n\n".join(lines)
    assert told(f"{run}\n\nAll of them are old.")[:-1] == ([run] if expected is None else expected)


def test_a_row_belongs_to_the_head_of_its_table_and_a_head_is_no_statement() -> None:
    text = "Fuel in store\nFuel | Unit | Minimum\nDiesel | litres | 48,000\nPetrol | litres | 1,900\n\nIt is old."
    diesel, petrol, old = statements_of(text, "en")
    assert (diesel.text, petrol.text, old.text) == ("Diesel | litres | 48,000", "Petrol | litres | 1,900", "It is old.")
    assert diesel.context == petrol.context == "Fuel in store\nFuel | Unit | Minimum"
    assert diesel.stems == ("diesel", "litr", "48000")
    assert {"fuel", "minimum"} <= diesel.context_stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The sentences between two steps explain the first; at most two do.
        ("Do:\n\n1. Lift.\n\nIt is in.\n\n2. Pull.\n\nIt is out.", ["Do:\n\n1. Lift.\n\nIt is in.\n\n2. Pull."]),
        (
            "Do:\n\n1. Lift.\n\nOne is up. Two is up.\n\n2. Pull.",
            ["Do:\n\n1. Lift.\n\nOne is up. Two is up.\n\n2. Pull."],
        ),
        ("Do:\n\n1. Lift.\n\nOne is up. Two is up. So is it.\n\n2. Pull.", ["Do:\n\n1. Lift."]),
        ("Do:\n\n1. Lift.\n\nIt is in.\n\n3. Pull.", ["Do:\n\n1. Lift."]),
        ("Do:\n\n• Lift.\n\nIt is in.\n\n• Pull.", ["Do:\n\n• Lift."]),
        ("Do:\n\nLift the lid.\n\nClose it.", ["Do:\n\nLift the lid."]),
        ("Do:\n\nLid\n\nClose it.", ["Do:"]),
        ("Do:\n\nNext:\n\n1. Lift.", ["Do:", "Next:\n\n1. Lift."]),
        ("• Red. It is warm.\n• Blue. It is cold.", ["• Red. It is warm.", "• Blue. It is cold."]),
        ("• Red.\n\nIt is warm.", ["• Red."]),
        ("See • red.\n• blue", ["See • red.", "• blue"]),
        ("Question: Who?\nAnswer: The keeper.", ["Question: Who?", "The keeper."]),
    ],
)
def test_a_list_is_told_with_its_introduction_and_an_item_with_what_explains_it(text: str, expected: list[str]) -> None:
    assert told(text)[: len(expected)] == expected


@pytest.mark.parametrize(("length", "expected"), [(1_200, True), (1_201, False)])
def test_a_list_has_so_many_characters_at_most(length: int, expected: bool) -> None:
    text = f"Do:\n\n1. {'lift ' * 230}."
    text = f"{text}\n2. {'p' * (length - len(text) - 5)}."
    assert len(text) == length
    assert (told(text) == [text]) is expected


@pytest.mark.parametrize(("length", "expected"), [(350, True), (351, False)])
def test_an_item_has_so_many_characters_with_what_explains_it_at_most(length: int, expected: bool) -> None:
    text = f"• Red. It is {'w' * (length - 14)}."
    assert len(text) == length
    assert (told(text) == [text]) is expected


@pytest.mark.parametrize(("length", "expected"), [(350, 1), (351, 7)])
def test_a_long_text_is_split_at_full_stops_without_capitals_behind_them(length: int, expected: int) -> None:
    text = f"{'the pump of the old lighthouse keeper is very red. ' * 7}"[: length - 1] + "."
    assert len(told(text)) == expected
    assert all(each.startswith("the pump") for each in told(text))


def test_a_split_leaves_no_part_that_is_shorter_than_forty_characters() -> None:
    text = f"{'word ' * 70}end. and {'x' * 35}. {'word ' * 10}"
    assert [len(each) >= 40 for each in told(text)] == [True] * len(told(text))
    text = f"the pump (see vol. 4.5 of the book) is old. {'word ' * 70}"
    assert told(text)[0] == "the pump (see vol. 4.5 of the book) is old."


@pytest.mark.parametrize(("length", "expected"), [(600, [600]), (601, [599, 1]), (1_500, [599, 599, 300])])
def test_what_has_no_border_is_split_at_a_space_or_line(length: int, expected: list[int]) -> None:
    text = ("word " * 400)[:length].rstrip().ljust(length, "x")
    assert [len(each) for each in told(text)] == expected
    assert told("x" * 700) == ["x" * 600, "x" * 100]
    assert [len(each) for each in told(f"{'x' * 298} {'y' * 400}")] == [600, 99]
    assert [len(each) for each in told(f"{'x' * 301} {'y' * 400}")] == [301, 400]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("• red", True),
        ("1. red", True),
        ("(2) Red", True),
        ("12 Red", True),
        ("12 red", False),
        ("a) red", True),
        ("red", False),
        ("1999. red", False),
    ],
)
def test_an_item_begins_with_a_mark(text: str, expected: bool) -> None:
    assert is_item(text) is expected


def test_items_keep_their_lines_when_a_text_is_put_on_one() -> None:
    assert on_lines(" Do\nthis:\n 1. Lift\n it.\n• Pull ") == "Do this:\n1. Lift it.\n• Pull"


@pytest.mark.parametrize(
    ("items", "text", "expected"),
    [
        ("1. Lift it.", "2. Pull it.", True),
        ("(1) Lift it.", "(2) Pull it.", True),
        ("1 Lift", "2 Pull", True),
        ("1. Lift it.", "3. Pull it.", False),
        ("11. Lift it.", "2. Pull it.", False),
        ("• Lift", "• Pull", True),
        ("• Lift", "- Pull", False),
        ("Lift", "Little", False),
    ],
)
def test_a_list_goes_on_with_the_next_number_or_the_same_bullet(items: str, text: str, expected: bool) -> None:
    assert follows_in_list(items, text) is expected


@pytest.mark.parametrize(
    ("items", "after", "expected"),
    [
        ("Do:\n1. Lift.\n2. Pull.\n3. Push.", "The end.", 3),
        ("1. Lift.\n3. Pull.", "The end.", 0),
        ("2. Lift.\n3. Pull.", "The end.", 0),
        ("1. Lift.\n2. Pull.", "3. Push.", 0),
        ("1. Lift.\n2. Pull.", "", 0),
        ("• Lift.\n- a bit\n- much\n• Pull.", "The end.", 2),
        ("• Lift.\n• Pull.", "• Push.", 0),
        ("a) Lift.\nb) Pull.", "The end.", 0),
        ("Lift.", "The end.", 0),
    ],
)
def test_items_are_counted_where_the_list_is_whole(items: str, after: str, expected: int) -> None:
    text = f"{items}\n\n{after}"
    assert count_items(text, 0, len(items)) == expected


def test_entries_of_a_table_of_contents_are_statements_with_their_pages() -> None:
    text = "Contents\n\nA note to you … 2\nParts and features … 4-5\nPlugging in … 6\n\nThe lid is red… It runs well."
    assert [each.text for each in statements_of(text, "en")] == [
        "A note to you … 2",
        "Parts and features … 4-5",
        "Plugging in … 6",
        "The lid is red…",
        "It runs well.",
    ]


EXCLUDED = (
    "We do not pay for:\n\n{}rust;\n\n{}wear of chains, and of tyres; or\n\n{}theft by night.\n\nReport it to us."
)


@pytest.mark.parametrize("marks", [("", "", ""), ("a ", "b ", "c "), ("(a) ", "(b) ", "(c) ")])
def test_items_that_end_with_semicolons_stay_below_what_introduces_them(marks: tuple[str, str, str]):
    whole, after = (each.text for each in statements_of(EXCLUDED.format(*marks), "en"))
    assert whole.startswith("We do not pay for:")
    assert whole.endswith("theft by night.")
    assert after == "Report it to us."


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("The kit has:\n\na red cable\n\nb blue cable\n\nKeep it dry, and out of the sun.", "b blue cable"),
        ("You need:\n\na person who can drive.\n\nThe van holds six.", "a person who can drive."),
        ("Note:\n\nThe hall is closed; the yard is open.\n\nAsk the porter.", "The hall is closed; the yard is open."),
    ],
)
def test_letters_in_their_order_begin_items(text: str, last: str):
    assert statements_of(text, "en")[0].text.endswith(last)
