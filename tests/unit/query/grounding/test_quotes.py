"""A quote is found exactly, or but for white space, hyphens and typography, and in no other way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.grounding.quotes import find_quote

TEXT = "The museum opens at ten. It is closed on Mondays\nand on public holi-\ndays. “Fine” costs −5 or 15 €; see [3]."


def found(quote: str, text: str = TEXT) -> list[str]:
    return [text[start:end] for start, end in find_quote(quote, text)]


@pytest.mark.parametrize(
    ("quote", "stored"),
    [
        ("It is closed on Mondays", "It is closed on Mondays"),
        ("on Mondays and on public holidays.", "on Mondays\nand on public holi-\ndays."),
        ("on public holi-days", "on public holi-\ndays"),
        ('"The museum opens at ten."', "The museum opens at ten."),
        ('"Fine" costs', "“Fine” costs"),
        ("see (3)", "see [3]"),
        (
            "The museum opens … on public holidays",
            "The museum opens at ten. It is closed on Mondays\nand on public holi-\ndays",
        ),
    ],
)
def test_a_quote_is_found_despite_typography(quote: str, stored: str):
    assert found(quote) == [stored]


@pytest.mark.parametrize(
    ("quote", "stored"),
    [
        ("MacBook Pro .", "MacBook Pro ® ."),
        ("iPhone | $ 65,775 | (8)%", "iPhone (1) | $ 65,775 | (8)%"),
        ("iPhone $ 65,775 (8)%", "iPhone (1) | $ 65,775 | (8)%"),
        ("as on 31 March 2003", "as on 31 st March 2003"),
        ("as on 31st March 2003", "as on 31 st March 2003"),
    ],
)
def test_a_quote_may_leave_out_what_is_set_small(quote: str, stored: str):
    text = "Sales of MacBook Pro ® . Net sales:\niPhone (1) | $ 65,775 | (8)%\nStaff as on 31 st March 2003 was 7."
    assert [text[start:end] for start, end in find_quote(quote, text)] == [stored]
    assert not list(find_quote("iPhone (1) | $ 65,775 | (9)%", text))


@pytest.mark.parametrize(
    "quote",
    [
        "It is closed on Sundays",
        "it is closed on mondays",
        "The museum open",
        "useum opens at ten",
        "costs -5 or 5 €",
        "Mondays … opens at ten",
        "The museum … on Sundays",
        "",
        "…",
    ],
)
def test_another_word_letter_or_order_is_not_found(quote: str):
    assert found(quote) == []


def test_a_number_is_never_found_inside_another():
    assert found("5 %", "It was 15 %.") == []
    assert found("1.2", "It was 1.25.") == []
    assert found("000 people", "About 12,000 people.") == []
    assert found("5 %", "It was 15 % and then 5 %.") == ["5 %"]


def test_an_omission_has_a_longest_length():
    text = f"The first part. {'Words and words. ' * 200}The last part."
    assert found("The first part … The last part", text) == []


def test_an_escaped_sign_equals_the_sign():
    assert found("if a &lt; b then", "Say if a < b then stop.") == ["if a < b then"]


@given(st.text(alphabet="ab 1-\n.", min_size=1, max_size=40), st.data())
def test_every_run_of_whole_words_is_found_at_its_place(text: str, data: st.DataObject):
    words = text.split()
    if not words:
        return
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    places = list(find_quote(" ".join(words[first : last + 1]), text))
    wanted = "".join(words[first : last + 1]).replace("-", "")
    assert places or len(wanted) < 2  # one character besides hyphens is looked for only as it stands
    for start, end in places:
        assert 0 <= start < end <= len(text)
        assert "".join(text[start:end].split()).replace("-", "") == wanted


def test_a_quoted_row_may_leave_out_its_empty_cells() -> None:
    text = "| 2022 | 2021 | Change\nSales | 1,204 | | 206\nCosts | | | 1"
    assert found("Sales | 1,204 | 206", text) == ["Sales | 1,204 | | 206"]
    assert not list(find_quote("Sales | 206", text))


@pytest.mark.parametrize(
    ("quote", "text", "stored"),
    [
        ("Smith & Sons pay", "Here Smith &amp; Sons pay 5 €.", "Smith &amp; Sons pay"),
        ("a < b & c > d", "If a &lt; b &amp; c &gt; d, stop.", "a &lt; b &amp; c &gt; d"),
        ("pay 5 €", "Smith &amp; Sons pay 5 €.", "pay 5 €"),
    ],
)
def test_signs_that_a_text_spells_as_entities_are_found_where_they_stand(quote: str, text: str, stored: str):
    assert found(quote, text) == [stored]
