"""Questions for what a letter or a mark means, and the texts that say so."""

import pytest

from functions.query.writing.abbreviated import explains, sign_asked
from tests.unit.query.writing.test_statement_scores import best


@pytest.mark.parametrize(
    ("question", "sign"),
    [
        ("What does N mean in the rota?", "N"),
        ("What does the letter L stand for?", "L"),
        ("what does – mean?", "–"),
        ("Was bedeutet „K“ im Plan?", "K"),
        ("Que signifie R ?", "R"),
        ("What does HR do?", ""),
        ("What does the rota mean?", ""),
        ("What do mean values tell?", ""),
    ],
)
def test_the_sign_that_is_asked_about_is_read(question: str, sign: str):
    assert sign_asked(question) == sign


@pytest.mark.parametrize(
    ("text", "sign", "told"),
    [
        ("E = early, N = night; – = day off", "N", True),
        ("E = early, N = night; – = day off", "–", True),
        ("– means that nobody came.", "–", True),
        ("(S) sesame", "S", True),
        ("N: night", "N", True),
        ("Chloe | N | N", "N", False),
        ("IN = inside", "N", False),
    ],
)
def test_a_legend_explains_its_signs(text: str, sign: str, *, told: bool):
    assert explains(text, sign) is told


def test_a_legend_answers_before_the_rows_with_the_sign():
    rota = "Name | Mon | Tue\nChloe | N | N\nFinn | – | N"
    legend = "E = early, N = night."
    assert best("What does N mean in the rota?", legend) > 2 * best("What does N mean in the rota?", rota)
