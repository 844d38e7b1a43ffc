"""Sentence borders in text as PDFs give it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text import sentence_spans, statement_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith paid 3.5 million. He left.", ["Dr. Smith paid 3.5 million.", "He left."]),
        ("See Fig. 3 and e.g. No. 4. Done.", ["See Fig. 3 and e.g. No. 4.", "Done."]),
        ("The U.S. Treasury paid. J. R. Tolkien wrote.", ["The U.S. Treasury paid.", "J. R. Tolkien wrote."]),
        ("“Yes.” She left (at ten.) Then it rained…", ["“Yes.”", "She left (at ten.)", "Then it rained…"]),
        ("Heading\n\nText here.", ["Heading", "Text here."]),
        ("Items:\n- one\n- two\n3) three", ["Items:", "- one", "- two", "3) three"]),
        ("Do this:\n1. Wait.\n2. Go on.", ["Do this:", "1. Wait.", "2. Go on."]),
        ("Do this: 1. Wait. 2. Go on.", ["Do this:", "1. Wait.", "2. Go on."]),
        ("Other duties (max. 20 hours, min. 2). Done.", ["Other duties (max. 20 hours, min. 2).", "Done."]),
        ("It takes 30 min. Then stop.", ["It takes 30 min.", "Then stop."]),
        ("一。二！", ["一。", "二！"]),
        ("no borders at all", ["no borders at all"]),
        ("It draws 1.5 kW. (See page 3.) Done.", ["It draws 1.5 kW.", "(See page 3.)", "Done."]),
        ("J. Smith of Acme Inc. Paris signed.", ["J. Smith of Acme Inc. Paris signed."]),
        ("Žalia šviesa dega. Ąžuolas auga.", ["Žalia šviesa dega.", "Ąžuolas auga."]),
        ("", []),
    ],
)
def test_borders(text: str, expected: list[str]):
    assert sentences(text) == expected


@given(st.text(alphabet="aA1 .!?\n-•。é\u200b", max_size=200))
def test_every_visible_character_is_in_exactly_one_sentence(text: str):
    spans = list(sentence_spans(text))
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join(text[start:end] for start, end in spans).replace(" ", "").replace("\n", "") == text.replace(
        " ", ""
    ).replace("\n", "")


def statements(text: str) -> list[str]:
    return [text[start:end] for start, end in statement_spans(text)]


def test_a_heading_says_nothing_by_itself():
    assert statements("5.2 The pilot boat\n\nThe repair costs 1.9 million crowns.") == [
        "The repair costs 1.9 million crowns."
    ]
    assert statements("Only a heading") == ["Only a heading"]


def test_a_colon_brings_the_list_it_announces():
    assert statements("Carry with you:\n- a flare pistol\n- six cartridges\n\nThen go.") == [
        "Carry with you:\n- a flare pistol\n- six cartridges",
        "Then go.",
    ]


def test_each_row_of_a_table_stands_for_itself():
    assert sentences("See below.\nName | Price\nBolt | 2 €\nNut | 1 €\nThat is all.") == [
        "See below.",
        "Name | Price",
        "Bolt | 2 €",
        "Nut | 1 €",
        "That is all.",
    ]
