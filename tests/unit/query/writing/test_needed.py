"""What an answer must hold: every kind that is asked for has a pattern of what tells it."""

import pytest

from functions.query.understanding.question import patterns_of
from functions.query.writing import needed


@pytest.mark.parametrize("kind", [kind for kind in patterns_of("needed_patterns.txt") if kind.startswith("asks_")])
def test_what_is_asked_for_can_be_told(kind: str):
    assert needed._enough(kind.removeprefix("asks_")).pattern


@pytest.mark.parametrize(
    ("word", "text", "tells"),
    [
        ("phone", "Ring 01632 960 417.", True),
        ("costs", "Adults pay £5.", True),
        ("costs", "Adults pay at the gate.", False),
    ],
)
def test_a_word_asks_for_what_a_text_has(word: str, text: str, *, tells: bool):
    assert needed.tells_what(word, text) is tells


def test_an_order_is_read_in_its_language():
    assert needed.gives_order("Press the button.", "en")
    assert not needed.gives_order("Press the button.", "xx")
