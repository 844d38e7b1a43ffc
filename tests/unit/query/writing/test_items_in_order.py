"""Items that are asked for by their order: told if it is sure which list and which item are meant, and else not."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.writing.items_in_order import item_in_order
from shared.models import SectionStart
from tests.support.query import passage

CLEANING = """Cleaning the filter

1. Switch the appliance off.
2. Pull the frame out.
3. Rinse the mesh.
4. Let it dry for a day."""
DRAINING = """Draining the hose

1. Remove the tank.
2. Break out the cap.
3. Push the hose onto the spout.

It is quiet then."""
LEVELS = """Our courses have these language levels:

• A1: a few words
• A2: everyday talk
• B1: travelling

Ask us for a test."""


def of_sections(*texts: str, n: int = 0, index: int = 0) -> Passage:
    """A passage of sections, each below its title."""
    text, starts = "", []
    for each in texts:
        starts.append(SectionStart(char_start=len(text), path=each.split("\n", 1)[0]))
        text += f"{each}\n\n"
    return passage(
        text.rstrip(), n=n, title="Kestrel dehumidifier", sections=tuple(starts), document_id="d", chunk_index=index
    )


MANUAL = (of_sections(CLEANING, DRAINING),)


def told(question: str, passages: tuple[Passage, ...] = MANUAL) -> str:
    item = item_in_order(question, passages)
    return item.text if item else ""


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("What is the first step of cleaning the filter?", "1. Switch the appliance off."),
        ("What's the third step when I clean the filter?", "3. Rinse the mesh."),
        ("What is the last step of cleaning the filter?", "4. Let it dry for a day."),
        ("Name the second step of draining the hose of the dehumidifier.", "2. Break out the cap."),
        ("What is the fifth step of cleaning the filter?", ""),
        ("What is the first step of cleaning the tank?", ""),
        ("What is the first step?", ""),
        ("What was the first year of cleaning?", ""),
        ("When is the first cleaning of the filter due?", ""),
    ],
)
def test_an_item_is_told_by_its_number_in_the_list_that_is_named(question: str, item: str) -> None:
    assert told(question) == item


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("What happens right after the mesh is rinsed?", "4. Let it dry for a day."),
        ("What do I do before I pull out the frame?", "1. Switch the appliance off."),
        ("What comes after the tank is removed?", "2. Break out the cap."),
        ("What happens after it has dried for a day?", ""),
        ("What happens after the guarantee ends?", ""),
        ("What happens after the appliance?", ""),  # a word of an item
    ],
)
def test_the_item_next_to_another_is_told(question: str, item: str) -> None:
    assert told(question) == item


def test_a_name_with_an_ordinal_is_no_order() -> None:
    aid = of_sections("First aid\n\n1. Call the warden.\n2. Do not move the person.\n\nThe box is in the hall.")
    assert told("What is first aid?", (aid,)) == ""
    assert told("What is the first step of first aid?", (aid,)) == "1. Call the warden."


def test_a_list_without_numbers_is_counted_from_its_introduction() -> None:
    levels = (of_sections(LEVELS),)
    assert told("What is the third language level?", levels) == "• B1: travelling"
    assert told("What is the last language level?", levels) == "• B1: travelling"
    nested = (of_sections(LEVELS.replace("• B1", "• with letters\n• B1")),)
    assert told("What is the third language level?", nested) == ""


def test_a_list_that_goes_on_in_the_next_passage_is_one() -> None:
    first, second = CLEANING.split("\n3. ")
    above = of_sections(f"{first}")
    below = passage(
        f"3. {second}\n\nCare is all.",
        n=9,
        section="Cleaning the filter",
        document_id="d",
        chunk_index=1,
        title="Kestrel",
    )
    assert told("What is the fourth step of cleaning the filter?", (below, above)) == "4. Let it dry for a day."
    assert told("What is the last step of cleaning the filter?", (below, above)) == "4. Let it dry for a day."
    assert told("What is the last step of cleaning the filter?", (above,)) == ""  # more may follow
    unnamed = below._replace(section="Care")
    assert told("What is the last step of cleaning the filter?", (unnamed, above)) == "4. Let it dry for a day."


def test_of_two_lists_that_may_be_meant_none_is_told() -> None:
    other = of_sections(CLEANING.replace("mesh", "fleece"))._replace(document_id="e")
    assert told("What is the third step of cleaning the filter?", (*MANUAL, other)) == ""
    assert (
        told("What is the third step of cleaning the filter?", (of_sections(f"{CLEANING}\n\n1. Another.\n2. List."),))
        == ""
    )
