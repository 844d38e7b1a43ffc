"""Which lines a quoted list is told on."""

import pytest

from functions.query.writing.list_items import on_lines


@pytest.mark.parametrize(
    "text",
    [
        "Bring:\na) a rope\nb) a lamp\nc) a map",
        "Proceed so:\n1 Open the lid.\n2 Pour the water.\n3 Close it.",
        "It asks for:\n(i) a name\n(ii) a date\n(iii) a stamp\n(iv) a fee",
        "Sorted into:\n• glass\n• paper\n• tins",
    ],
)
def test_each_item_of_a_list_is_told_on_a_line_of_its_own(text: str) -> None:
    assert on_lines(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1. Press the key. 2. Say a word. 3. Wait.", "1. Press the key.\n2. Say a word.\n3. Wait."),
        ("Wipe it weekly. • Check the seal • Oil it", "Wipe it weekly.\n• Check the seal\n• Oil it"),
        (
            "It asks for: (a) a name; (b) a date; and (c) a fee.",
            "It asks for:\n(a) a name;\n(b) a date; and\n(c) a fee.",
        ),
    ],
)
def test_items_that_the_text_runs_on_in_a_line_are_told_apart(text: str, told: str) -> None:
    assert on_lines(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "It is said in steps (1) and (2) above.",
        "It must (1) be dry, (2) be cold and (3) be dark.",
        "Telephone 555 • Fax 556 • Post box 7",
        "The hall seats 40. 2 Halls are new.",
        "See a. and b. of the annex.",
        "☐ by post ☒ by hand",
        "Plan B) is kept.",
        "Write to: a. m. Smith, b. n. Jones.",
    ],
)
def test_signs_that_make_no_list_stay_in_their_line(text: str) -> None:
    assert on_lines(text) == text


def test_a_wrapped_line_that_begins_with_a_number_goes_on() -> None:
    assert (
        on_lines("The hut has beds for\n12 Guests and one\nkeeper.") == "The hut has beds for 12 Guests and one keeper."
    )


def test_an_item_goes_on_over_its_lines_and_over_the_items_below_it() -> None:
    text = "1. Open\nthe lid.\na) by hand\nb) by key\n2. Close it."
    assert on_lines(text) == "1. Open the lid.\na) by hand\nb) by key\n2. Close it."
