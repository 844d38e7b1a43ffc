"""The days and months that a text names, and whether it tells of others than those that are asked about."""

import pytest

from functions.query.understanding.days import (
    days_asked,
    days_in,
    is_in_period,
    months_in,
    tells_of_others,
    times_of_year_in,
)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Closed on Sundays.", {7}),
        ("Open Monday to Friday", {1, 2, 3, 4, 5}),
        ("Mon–Wed and Sat 9–12", {1, 2, 3, 6}),
        ("Fri-Mon", {5, 6, 7, 1}),
        ("Montags bis donnerstags", {1, 2, 3, 4}),
        ("Mo–Fr 8–12, Sa 9–12", {1, 2, 3, 4, 5, 6}),
        ("de lunes a viernes", {1, 2, 3, 4, 5}),
        ("du mardi au jeudi", {2, 3, 4}),
        ("miércoles y sábados", {3, 6}),
        ("nuo pirmadienio iki trečiadienio", {1, 2, 3}),
        ("at weekends", {6, 7}),
        ("daily except Mondays", {1, 2, 3, 4, 5, 6, 7}),
        ("He sat in the sun. Sun is good. So what? Do not. Fr. Meier", set()),
    ],
)
def test_days_are_named_by_words_and_ranges(text: str, days: set[int]):
    assert days_in(text) == days


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("closed from November to March", {11, 12, 1, 2, 3}),
        ("1 June to 31 August", {6, 7, 8}),
        ("from June 1, 2025 to the 30th of September", {6, 7, 8, 9}),
        ("May I come in May?", {5}),
        ("They march in March.", {3}),
        ("im März und Mai", {3, 5}),
        ("en février", {2}),
        ("vasarą", set()),
        ("sausio mėnesį", {1}),
    ],
)
def test_months_are_named_by_words_and_ranges(text: str, months: set[int]):
    assert months_in(text) == months


@pytest.mark.parametrize(
    "question", ["What must be paid before Friday?", "Was it open on 3 June?", "the quarter ended March 2024", "Why?"]
)
def test_limits_and_dates_are_no_day_that_is_asked_about(question: str):
    assert days_asked(question) == (frozenset(), frozenset())


@pytest.mark.parametrize(
    ("question", "text", "of_others"),
    [
        ("Who clears the snow on Thursdays?", "On Sundays the caretaker clears the snow.", True),
        ("Who clears the snow on Thursdays?", "On weekdays the tenants clear it.", False),
        ("Who clears the snow on Thursdays?", "The tenants clear the snow.", False),
        ("Is the shop open in January?", "The shop is closed from November to March.", False),
        ("Is the shop open in January?", "In May the shop opens at 8.", True),
        ("Who clears the snow?", "On Sundays the caretaker clears the snow.", False),
        ("Can I call on a Saturday in January?", "Call on Saturdays (March to October only).", False),
    ],
)
def test_a_text_about_other_days_tells_of_others(question: str, text: str, *, of_others: bool):
    assert tells_of_others(question, text) is of_others


def test_a_range_that_leaves_a_month_out_may_be_the_answer():
    question, text = "Is the camp open in October?", "The camp is open from April to July."
    assert tells_of_others(question, text)
    assert not tells_of_others(question, text, may_exclude=True)


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("16 May to 30 September", "in July", "on 15 May"),
        ("20. Dezember bis 6. Januar", "am 2. Januar", "im März"),
        ("May 16 – September 30", "on June 3", "in December"),
        ("del 13 de junio al 6 de septiembre", "en agosto", "el 10 de junio"),
        ("1er juin au 15 septembre", "en juillet", "le 20 septembre"),
    ],
)
def test_a_period_of_the_year_has_dates_and_months(label: str, inside: str, outside: str):
    assert is_in_period(inside, label) is True
    assert is_in_period(outside, label) is False


def test_what_is_no_period_has_none():
    assert is_in_period("in July", "July 2031") is None
    assert is_in_period("on Monday", "16 May to 30 September") is None
    assert list(times_of_year_in("Is it open on 24 December or in July?")) == ["24 December", "July"]
