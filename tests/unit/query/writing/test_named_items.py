"""A number that a question names is a constraint: what is told of another item does not answer it."""

import pytest

from functions.query.writing.extractive import extract
from functions.query.writing.named_items import absent_items, items_named
from tests.support.query import passage

MOTIONS = (
    "Motion 12/1. That a second tank be bought for £640.\n\nResult: 7 for, 1 against. Carried.\n\n"
    "Motion 12/2. That hosepipes be allowed on Saturdays.\n\nResult: 2 for, 6 against. Rejected."
)
CODES = "Code | Meaning\nE01 | Overheated\nE02 | Tipped over\nE05 | Fan blocked"
LOCKS = "Model | Weight\nFold 90 | 1.2 kg\nChain 110 | 2.9 kg"


def absent(text: str, question: str, language: str = "en", *, is_verdict: bool = False) -> list[str]:
    return list(absent_items(question, [passage(text, language=language)], is_verdict=is_verdict))


@pytest.mark.parametrize(
    ("text", "language", "question", "expected"),
    [
        (MOTIONS, "en", "What does motion 12/9 say?", "motion 12/9"),
        (CODES, "en", "What does code E99 mean?", "code E99"),
        (CODES, "en", "The heater shows E44, what now?", "E44"),  # without its name: by the codes beside it
        ("Spin 30 | £45\nSpin 45 | £60", "en", "How much is Spin 60?", "Spin 60"),
        (LOCKS, "en", "How heavy is the Fold 120?", "Fold 120"),  # one other is enough for a name with a capital
        ("Rooms 101, 102 and 205 face the sea. Room 110 is the office.", "en", "Where is room 206?", "room 206"),
        ("Stop | 4201 | 4203\nPort | 8:00 | 9:00\n\nBus 4207 is late.", "en", "When is bus 4299 there?", "bus 4299"),
        ("Version 2.0 is of May. Version 2.1 is of June.", "en", "What is new in version 2.4?", "version 2.4"),
        (
            "Beschluss 44/27. Ein Bus. Beschluss 45/27. Ein Bad.",
            "de",
            "Was steht in Beschluss 51/27?",
            "Beschluss 51/27",
        ),
        ("La habitación 12 da al mar. La habitación 14 no.", "es", "¿Adónde da la habitación 15?", "habitación 15"),
        ("Résolution n° 1. Oui. Résolution n° 2. Non.", "fr", "Que dit la résolution n° 9 ?", "résolution n° 9"),
        ("Kabinetas 12 – gydytojas. Kabinetas 14 – slaugytoja.", "lt", "Kas yra kabinetas 15?", "kabinetas 15"),
    ],
)
def test_an_item_that_stands_nowhere_is_absent_where_others_of_its_name_stand(
    text: str, language: str, question: str, expected: str
):
    assert absent(text, question, language) == [expected]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (MOTIONS, "What does motion 12/2 say?"),
        ("Rooms 101, 102 and 205 face the sea. Room 110 is the office.", "Where is room 205?"),
        ("Rooms 101–120 are upstairs. Room 3 is the lobby. Room 5 is the bar.", "Where is room 114?"),
        ("It runs on Windows 7 or later. Windows 11 is best.", "How is it installed on Windows 10?"),
        ("It runs on Windows 10/11.", "How is it installed on Windows 11?"),
        ("Code | Meaning\nE01–E05 | Heating\nE10 | Fan\nE11 | Door\nE12 | Lock", "What does code E03 mean?"),
        ("Version 2.0 is of May. Version 2.1 is of June.", "When did version 2 appear?"),
        ("Figure 1 shows costs. Figure 2 shows income. Fig. 3 shows profit.", "What does figure 3 show?"),
        ("Type 1 is rare. Type 2 is common.", "How is Type 2 treated?"),
        ("Children aged 5 pay 3 euros. Children aged 12 pay 6 euros.", "What does a child aged 9 pay?"),
        ("Take 2 tablets. Take 3 tablets at night.", "Can I take 5 tablets?"),
        ("Open on Monday 3 May and Monday 10 May.", "Is it open on Monday 17 May?"),
        ("Section 2 is on rent. Section 3 is on heating.", "What is in section 9?"),  # `NumberedPart` knows more
        ("Team 1 won. Team 2 lost.", "How many people are in team 1 and team 3?"),
        ("The lift is at exit 4. Use exit 6 at night. Door 12 is shut.", "Where is exit 12?"),
    ],
)
def test_dates_amounts_ranges_and_what_stands_there_in_other_words_are_not_absent(text: str, question: str):
    assert not absent(text, question)


@pytest.mark.parametrize(
    ("text", "language", "question"),
    [
        ("Members may lend 2 tools; families may lend 6 tools.", "en", "Can I lend 4 tools?"),
        ("Members may lend 2 tools; families may lend 6 ladders.", "en", "Can I lend 4 saws?"),
        ("Members may lend 2 tools; families may lend 6 tools.", "en", "Can I lend 4?"),
        ("Chacun peut louer 2 skis ; un groupe peut louer 8 skis.", "fr", "Peut-on louer 5 skis ?"),
        ("Narys gali imti 2 kibirus, šeima gali imti 5 kibirus.", "lt", "Ar galiu imti 3 kibirus?"),
        ("Eine Klasse 1 und eine Klasse 2 gibt es. Es sind 4 Boote da.", "de", "Darf eine Klasse 6 Boote leihen?"),
    ],
)
def test_what_a_number_counts_is_no_item(text: str, language: str, question: str):
    assert not absent(text, question, language)


def test_a_name_before_a_verb_is_one():
    text = "Tray 3 holds forks, tray 9 holds spoons."
    assert absent(text, "What does tray 7 hold?") == ["tray 7"]
    assert absent(text, "What is in tray 7?") == ["tray 7"]


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (
            "Cabins 21-28 are by the lake. Cabin 40 is shut. Cabin 44 is old.",
            "Where is cabin 24?",
            "Where is cabin 52?",
        ),
        ("Cabins 21 to 28 are new. Cabin 40 is shut. Cabin 44 is old.", "Where is cabin 24?", "Where is cabin 52?"),
        ("Ski 130 is soft, ski 170 hard. Lengths: 120–180.", "Is ski 150 there?", "Is ski 190 there?"),
        ("Bay 3 is shut from 2 to 9 h. Bay 11 is free. Bay 14 is new.", "Who has bay 11?", "Who has bay 7?"),
    ],
)
def test_a_range_without_a_unit_holds_what_lies_between(text: str, inside: str, outside: str):
    assert not absent(text, inside)
    assert absent(text, outside)


@pytest.mark.parametrize(
    "question",
    ["What do children of age 9 pay?", "Is speed 4 possible?"],
)
def test_limits_and_values_on_a_scale_are_not_absent(question: str):
    text = "Age 3 is free, age 12 pays half. Speed 2 is slow. Speed 3 is fair. It can be set up to speed 6."
    assert not absent(text, question)


@pytest.mark.parametrize("code", ["F02", "F 2", "F-2", "F2"])
def test_zeros_before_a_code_and_a_space_in_it_make_no_other_one(code: str):
    table = "Code | Fault\nF1 | Door\nF2 | Fan\nF5 | Probe\nF12 | Heat"
    assert not absent(table, f"What does code {code} mean?")
    assert absent(table, "What does code F44 mean?") == ["code F44"]


def test_what_something_runs_on_answers_whether_it_runs_on_another_version():
    text = "It runs on Windows 10 and Windows 11."
    assert not absent(text, "Does it run on Windows 8?", is_verdict=True)
    assert absent(text, "How is it installed on Windows 8?") == ["Windows 8"]


def test_a_short_number_in_another_document_is_no_such_item():
    motions = passage("Plot 14 is Ann's. Plot 22 is free.", language="en")
    menu = passage("Soup: 7 euros. 57 places.", n=2, language="en")
    assert absent_items("Who has plot 57?", [motions, menu], is_verdict=False) == ["plot 57"]


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What are the fees of units 4, 5, and 6?", ["4", "5", "6"]),
        ("When is flight KX 318 met?", ["kx318"]),
        ("Which clause does not limit clause 3?", []),  # another one is asked for
        ("What did it cost in March 2027?", []),
        ("Is a room of 20 m² enough?", []),
        ("What was revenue during FY2022?", []),
        ("Which figures are on pages 100-120?", []),
    ],
)
def test_the_items_that_a_question_names(question: str, numbers: list[str]):
    assert [each.number for each in items_named(question, "en")] == numbers


@pytest.mark.parametrize(
    ("text", "language", "question", "expected"),
    [
        (MOTIONS, "en", "What does motion 12/1 say?", "second tank"),
        (MOTIONS, "en", "What was the result of motion 12/2?", "2 for, 6 against"),
        ("Programme 1 heats from 6 to 8. Programme 2 heats from 17 to 22. Programme 3 heats all day.", "en",
         "When does programme 2 heat?", "17 to 22"),
        ("Beschluss 44/27. Ein Bus wird gekauft.\n\nBeschluss 45/27. Das Bad wird teurer.", "de",
         "Was steht in Beschluss 45/27?", "teurer"),
        ("Group 9 swims outdoors. Groups 1 to 6 swim in the small pool.", "en", "Where does group 4 swim?", "small"),
        ("Acuerdo 3/1. Se compra un proyector.\n\nAcuerdo 3/2. Se alquila el local.", "es",
         "¿Qué dice el acuerdo 3/2?", "alquila"),
    ],
)  # fmt: skip
def test_what_is_told_of_the_named_item_is_told_and_nothing_of_another(
    text: str, language: str, question: str, expected: str
):
    told = " ".join(each.text for each in extract(question, [passage(text, language=language)]).claims)
    assert expected in told
    named = {each.number for each in items_named(question, language)}
    assert not any(number in told for number in {"12/1", "12/2", "44/27", "45/27", "3/1", "3/2"} - named)


def test_where_another_item_is_asked_for_what_is_told_of_it_answers():
    text = "Plot 3 is next to the pond. Plot 4 is beside plot 3."
    told = extract("Which plot is beside plot 3?", [passage(text, language="en")]).claims
    assert "Plot 4" in told[0].text


def test_a_number_of_another_series_is_not_that_of_the_item():
    rules = "Rule 7. Courts 1 and 2 have lights. Rule 8. Court 3 has none. Rule 9. Keys are at the desk."
    source = [passage(rules, language="en")]
    assert absent_items("Does court 8 have lights?", source, is_verdict=True) == ["court 8"]
    assert absent_items("Does court 3 have lights?", source, is_verdict=True) == ()
