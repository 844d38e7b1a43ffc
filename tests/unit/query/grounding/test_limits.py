"""How much of a claim its evidence must hold, how near a number stands, how far a quote reaches."""

from decimal import Decimal

import pytest

from functions.query.grounding.facts import facts_in, is_rounded
from functions.query.grounding.known_facts import is_count, is_fraction
from functions.query.grounding.merging import has_moved_number, has_number_of_another, is_merged
from functions.query.grounding.names import unknown_names
from functions.query.grounding.quotes import EvidenceSpan, find_quote, nearest_spans, quoted_spans, with_markers
from functions.query.grounding.roles import (
    invents_cause,
    is_reversed,
    turns_cause,
    turns_span,
    turns_time,
)
from functions.query.grounding.wording import has_unknown_part, is_covered, is_foreign, replacement
from functions.query.grounding.words import stems_of
from functions.query.understanding.question import lines_of
from tests.support.query import passage

WORDS = [
    "lamp", "boat", "bell", "gull", "storm", "tower", "shore", "island",
    "bridge", "market", "chapel", "meadow", "village", "keeper", "signal", "mirror",
]  # fmt: skip


def words(first: int, last: int) -> str:
    """So many of the words, counted from 0."""
    return " ".join(WORDS[first:last])


def span(text: str, **more: object) -> EvidenceSpan:
    source = passage(text, **{"title": "", **more})
    return EvidenceSpan(source, 0, len(text))


def covered(claim: str, text: str, *, question: str = "", **more: object) -> bool:
    return is_covered(
        claim, stems_of(claim, "en"), [span(text, **more)], question=question, language="en", of_row=False
    )


@pytest.mark.parametrize(
    ("said", "held", "expected"),
    [
        (1, 1, True),
        (1, 0, False),
        (2, 2, True),
        (2, 1, False),
        (3, 2, True),
        (3, 1, False),
        (6, 4, True),
        (6, 3, False),
    ],
)  # fmt: skip
def test_two_thirds_of_a_claims_words_must_be_in_its_evidence_of_a_short_one_three_quarters(
    said: int, held: int, expected: bool
) -> None:
    assert covered(words(0, said), words(0, held) or "nothing") is expected


def test_function_words_months_and_what_an_abbreviation_is_short_for_need_no_evidence() -> None:
    assert covered("lamp after whether boat", "lamp and boat")
    assert covered("lamp and boat upon quarry", "lamp and boat")
    assert not covered("lamp quarry saddle", "lamp and boat")
    assert covered("the lamp boat tower in april", "the LBT on the lamp")
    assert not covered("the lamp boat tower in april", "the LBX on the lamp")


def test_each_function_word_is_there_once_whatever_its_form() -> None:
    lines = [line for line in lines_of("function_words.txt") if ":" not in line]
    stems = [stems_of(word) for line in lines for word in line.split()]
    assert all(stems)
    assert len(frozenset().union(*stems)) == len(stems)
    assert covered("the lamp gave taken boat", "lamp boat")


def test_a_title_and_the_question_count_half() -> None:
    assert covered("", "nothing")
    assert covered(words(0, 6), words(0, 3), question=words(3, 5))
    assert not covered(words(0, 6), words(0, 3), question=words(3, 4), title="")
    assert covered(words(0, 6), words(0, 3), title=words(3, 5))
    assert covered(words(0, 6), words(0, 3), question=words(3, 4), section=words(4, 5))
    assert covered(words(0, 2), words(0, 1), question=words(1, 2))
    assert not covered(words(0, 2), "nothing", question=words(0, 2))


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (f"{words(0, 3)} {words(8, 11)} {words(3, 6)}", False),  # three in the middle
        (f"{words(0, 3)} {words(8, 12)} {words(3, 6)}", True),
        (f"{words(0, 6)} {words(8, 10)}", False),  # two at an end
        (f"{words(0, 6)} {words(8, 11)}", True),
        (f"{words(8, 10)} {words(0, 6)}", False),
        (f"{words(8, 11)} {words(0, 6)}", True),
        (f"{words(8, 10)} {words(0, 6)} {words(10, 12)}", False),
        (f"{words(8, 10)} percent according {words(10, 11)} {words(0, 6)}", True),  # what is passed over joins a run
        (f"{words(0, 2)} {words(8, 10)} {words(2, 3)}, {words(3, 6)}", False),  # three fifths of a clause
        (f"{words(0, 1)} {words(8, 9)} {words(1, 2)} {words(9, 11)}, {words(3, 6)}", False),  # two fifths
        (f"{words(0, 1)} {words(8, 10)}, {words(3, 6)}", True),  # a third
        (f"{words(8, 10)}, {words(3, 6)}", False),  # two words are no clause
        ("", False),
    ],
)
def test_a_run_or_a_clause_of_other_words_is_an_unknown_part(claim: str, expected: bool) -> None:
    assert has_unknown_part(claim, stems_of(words(0, 6), "en"), "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (words(0, 1) + " " + words(8, 10), True),  # a third is less than 0.34
        (words(0, 1) + " " + words(8, 9), False),
        (words(0, 2) + " " + words(8, 11), False),
        (f"{words(0, 4)}. {words(8, 11)}", True),  # one of its statements
        (f"{words(0, 4)}. {words(8, 10)}", False),  # which has three words at least
        (words(8, 10), True),
    ],
)
def test_a_claim_is_foreign_where_hardly_a_word_of_a_statement_is_known(claim: str, expected: bool) -> None:
    assert is_foreign(claim, stems_of(words(0, 6), "en"), "en") is expected


def replaced(claim: str, *sentences: str, near: str = "", names: str = "") -> str:
    return replacement(claim, sentences, names.split().__contains__, near.split().__contains__, "en")


def with_(text: str, at: int, word: str, instead_of: int = 1) -> str:
    """A text with a word in the place of so many of its own, from number `at` on."""
    tokens = text.split()
    return " ".join([*tokens[:at], *word.split(), *tokens[at + instead_of :]])


@pytest.mark.parametrize(
    ("count", "claim", "expected"),
    [
        (10, with_(words(0, 10), 5, "quarry"), "opposed"),  # a copy of ten words
        (9, with_(words(0, 9), 5, "quarry"), "other"),
        (4, with_(words(0, 4), 2, "quarry"), "other"),  # three of four words are copied
        (10, with_(with_(words(0, 10), 2, "quarry"), 7, "saddle"), "other"),  # eight of ten
        (8, with_(with_(words(0, 7), 2, "quarry"), 4, "saddle"), ""),  # five of seven
        (12, with_(words(0, 12), 3, "quarry", 4), "other"),  # in the place of four words
        (12, with_(words(0, 12), 3, "quarry", 5), ""),  # of five: it tells them in short
        (12, with_(words(0, 12), 6, "quarry", 0), "other"),  # put in
        (12, with_(words(0, 12), 6, "quarry saddle", 0), "other"),
        (12, with_(words(0, 12), 6, "quarry saddle kettle", 0), "other"),
        (12, with_(words(0, 12), 6, "quarry saddle kettle anvil", 0), ""),  # that is an unknown part
        (12, with_(words(0, 12), 12, "quarry", 0), "other"),
        (12, with_(words(0, 12), 6, "the", 0), ""),
    ],
)
def test_a_word_in_the_place_of_another_counts_where_the_rest_is_copied(count: int, claim: str, expected: str) -> None:
    assert replaced(claim, words(0, count)) == expected


def test_what_is_known_nearby_may_be_put_in_and_the_nearest_sentence_decides() -> None:
    said = with_(words(0, 12), 6, "quarry", 0)
    assert replaced(said, words(0, 12), near="quarri quarry") == ""
    assert replaced(with_(words(0, 10), 5, "quarry"), words(0, 10), with_(words(0, 10), 5, "quarry")) == ""
    assert replaced(words(0, 10), "") == ""
    assert replaced("", words(0, 10)) == ""
    long = " ".join(WORDS * 10)
    assert replaced(with_(long, 5, "quarry"), long) == ""  # more than can be compared


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The exam counts for 30%.", "The exam counts for 50% of the mark and the essay for 30%.", True),
        ("The exam counts for 50%.", "The exam counts for 50% of the mark and the essay for 30%.", False),
        ("The essay counts for 30%.", "The exam counts for 50% of the mark and the essay for 30%.", False),
        ("lamp 12 boat", "lamp tower 15 market chapel 12", True),
        ("lamp 12 boat", "lamp 12 tower market chapel boat 15", False),  # the lamp is right beside it
        ("lamp 12", "lamp tower 12 15", False),  # two words from it is near
        ("lamp 12", "lamp shore market chapel 12", False),  # no other number is nearer
        ("lamp 12 15", "lamp 15 market chapel 12", False),  # the claim tells the nearer one, too
        ("lamp 1999", "lamp 15 market chapel gull 1999", False),  # a year
        ("lamp 12", "lamp 1999 market chapel gull 12", False),
        ("bell 12", "lamp 15 market 12", False),  # its words are not there
        ("12", "lamp 12 boat", False),
        ("lamp boat", "boat lamp", False),
        ("lamp 1,200 boat", "lamp 1200 boat", False),
    ],
)
def test_no_other_number_stands_nearer_to_the_words_beside_a_number(claim: str, sentence: str, expected: bool) -> None:
    assert has_moved_number(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The payment date is September 6.", True),
        ("The record date is September 6.", False),
        ("The record date is September 27.", False),  # what a later part is of may stand in an earlier one
        ("The payment date is September 27.", False),
        ("The date is September 27.", False),
    ],
)
def test_a_number_is_of_the_thing_that_its_part_of_the_sentence_names(claim: str, expected: bool) -> None:
    sentence = "The record date is September 6, the payment date September 27."
    assert has_number_of_another(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Sales were 67 million in 2023.", True),
        ("Sales were 55 million in 2023.", False),
        ("Sales were 67 million in 2022.", False),
        ("Sales were 55 million in 2022.", True),
        ("Sales were 55 and 67 million in 2023 and 2022.", False),
    ],
)
def test_respectively_tells_which_number_is_of_which_year(claim: str, expected: bool) -> None:
    sentence = "Sales were 55 million and 67 million in 2023 and 2022, respectively."
    assert has_number_of_another(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("There are 12 boats.", False),
        ("There are 12 bells.", False),
        ("There are 12 quarries.", True),
        ("There are 12 kilograms.", False),
        ("There are 15 quarries.", False),
    ],
)
def test_a_number_counts_what_it_counts_in_the_source(claim: str, expected: bool) -> None:
    assert has_number_of_another(claim, ["There are 12 boats with bells."], "en") is expected


def test_a_part_of_a_claim_whose_words_no_sentence_has_together_is_merged() -> None:
    sentences = ["The lamp lights the shore.", "The bell warns the boat."]
    assert is_merged("The lamp warns the boat.", sentences, "en")
    assert not is_merged("The bell warns the boat and the lamp lights the shore.", sentences, "en")
    assert not is_merged("The lamp is on a quarry.", sentences, "en")
    assert not is_merged("The quarry is old.", sentences, "en")


# --- facts ---


@pytest.mark.parametrize(
    ("fact", "claim", "sentences", "expected"),
    [
        ("two", "They have two films.", ["One film.", "Another."], True),
        ("two", "They have two films.", ["One film and the other film."], True),
        ("two", "They have two films.", ["One film and another."], True),
        ("two", "They have two long good films.", ["A film, a film."], True),
        ("two", "They have two very long and good films.", ["A film, a film."], False),
        ("two", "They have two kg of films.", ["A film, a film."], False),
        ("two", "They have two big litres of it.", ["A film.", "A film."], False),
        ("ten", "They have ten films.", ["A film. " * 10], True),
        ("ten", "They have ten films.", ["A film. " * 9], False),
        ("eleven", "They have eleven films.", ["A film. " * 11], False),
        ("one", "They have one film.", ["A film."], False),
        ("2", "They have 2 films.", ["A film.", "A film."], False),
        ("three", "They have two films.", ["A film."] * 3, False),
        ("two", "They are two", ["A film.", "A film."], False),
        ("two", "They have two men.", ["The men, the men."], False),
    ],
)
def test_a_number_in_words_may_count_what_the_sentences_name(
    fact: str, claim: str, sentences: list[str], expected: bool
) -> None:
    assert is_count(fact, claim, sentences) is expected


@pytest.mark.parametrize(
    ("claim", "value", "expected"),
    [
        ("about 48,000", 48_500, True),
        ("about 48,000", 48_501, False),
        ("about 48,000", 47_500, True),
        ("about 48,000", 47_499, False),
        ("48,000", 48_001, False),
        ("$4.2 billion", 4_250_000_000, True),
        ("$4.2 billion", 4_250_000_001, False),
        ("about 5", Decimal("5.2"), True),
        ("about 5", Decimal("5.3"), False),  # a twentieth of it at most
        ("about 20", 21, True),
        ("about 20", 22, False),
        ("about 10.50", Decimal("10.55"), True),
        ("about 10.50", Decimal("10.56"), False),
        ("more than 400", 439, True),
        ("more than 400", 399, False),
        ("more than 400", 445, False),
        ("less than 430", 421, True),
        ("less than 430", 419, False),
        ("more than 400", 400, True),
    ],
)
def test_a_rounded_number_is_near_to_its_last_digit(claim: str, value: int | Decimal, expected: bool) -> None:
    (said,) = (fact for fact in facts_in(claim) if fact.kind == "number")
    assert is_rounded(said, Decimal(value)) is expected


@pytest.mark.parametrize(
    ("claim", "text", "language", "expected"),
    [
        ("It is run by Nordia.", "Nordias", "en", []),
        ("It is run by Nordia.", "Nor", "en", ["Nordia"]),
        ("It is run by Nordiatan.", "Nordia it", "en", []),  # two letters less
        ("It is run by Nordiatani.", "Nordiat it", "en", []),
        ("It is run by Nordiatani.", "Nordia it", "en", ["Nordiatani"]),
        ("It is run by Nordiatani.", "Nordiatanixyz", "en", []),
        ("It is run by Nordiatani.", "Nordiatanixyzw", "en", ["Nordiatani"]),
        ("It is run by Jono.", "Jonas", "lt", []),
        ("It is run by Jono.", "Jonas", "en", ["Jono"]),
        ("It is run by Ann.", "Anna", "en", ["Ann"]),
        ("It is run by US.", "nothing", "en", []),
        ("It is run by the CEO.", "chief of executive officers", "en", []),
        ("It is run by the CFO.", "chief executive officer", "en", ["CFO"]),
        ("IT IS RUN BY NORDIA.", "nothing", "en", []),
        ("Payment Methods: cash by Nordia", "nothing", "en", ["Nordia"]),
        ("In March of FY22 and Q3, sales rose.", "nothing", "en", []),
        ("It is Nordia's.", "Nordia", "en", []),
    ],
)
def test_a_name_is_known_in_another_form_but_not_by_its_beginning(
    claim: str, text: str, language: str, expected: list[str]
) -> None:
    assert unknown_names(claim, [text], language) == expected


def test_a_part_of_a_whole_in_words_is_a_fraction() -> None:
    assert is_fraction("four in five", "It is four in five of them.")
    assert is_fraction("four", "It is four in five of them.")
    assert not is_fraction("five", "It is four in five of them.")
    assert not is_fraction("4", "It is 4 of them.")


# --- quotes ---

LAMP = "The lamp is lit at sunset. The bell is rung. The keeper cleans the lens with vinegar on every Thursday."


@pytest.mark.parametrize(("length", "expected"), [(1_200, 1), (1_201, 0)])
def test_a_quote_is_so_long_at_most(length: int, expected: int) -> None:
    text = "word " * 400
    quote = text[: length - 1].rstrip().ljust(length, "x")
    assert len(list(find_quote(quote, f"{quote} and more"))) == expected


@pytest.mark.parametrize(("places", "expected"), [(4, 4), (5, 5), (6, 5)])
def test_so_many_places_of_a_quote_are_found_at_most(places: int, expected: int) -> None:
    assert len(list(find_quote("the lamp is lit", "So the lamp is lit. " * places))) == expected
    assert len(list(find_quote("the lamp-is lit", "So the lamp is lit. " * places))) == expected


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("5 lamps", "15 lamps", 0),
        ("1.2", "it is 1.25", 0),
        ("1.2", "it is 1.2.", 1),
        ("25", "it is 1.25", 0),
        ("25", "a .25", 1),
        ("it is 1", "it is 1.2", 0),
        ("it is 1", "it is 1.", 1),
        ("it is 1", "it is 1,b", 1),
        ("lamp", "lamps", 0),
        ("lamp", "lamp", 1),
        ("the lamp … at sunset", LAMP.lower(), 1),
        ("the … sunset", LAMP.lower(), 0),  # parts of one word
        ("the lamp … the bell … the keeper … the lens … every Thursday", LAMP.lower(), 0),  # five parts
        ("the lamp … the bell … the keeper … with vinegar", LAMP.lower(), 1),
        ("the bell … the lamp", LAMP.lower(), 0),
        ("-", "a - b", 1),
        ("- -", "a -- b", 0),
    ],
)
def test_a_quote_begins_and_ends_with_whole_words_and_its_parts_follow_one_another(
    quote: str, text: str, expected: int
) -> None:
    assert len(list(find_quote(quote, text))) == expected


@pytest.mark.parametrize(
    ("quote", "expected"),
    [("bell is", "The bell is rung."), ("bell is rung", "bell is rung"), ("rung", "The bell is rung.")],
)
def test_a_quote_of_two_words_is_widened_to_its_sentence(quote: str, expected: str) -> None:
    (found,) = quoted_spans(quote, passage(LAMP))
    assert LAMP[found.start : found.end] == expected


def nearest(claim: str, text: str = LAMP) -> list[str]:
    source = passage(text)
    return [text[each.start : each.end] for each in nearest_spans(claim, source, "en")]


def test_the_nearest_sentence_has_a_fifth_of_a_claims_words() -> None:
    assert nearest("bell is rung") == ["bell is rung."]
    assert nearest("The bell is a quarry, a saddle, a kettle, an anvil.") == ["The bell is rung."]
    assert nearest("The bell is a quarry, a saddle, a kettle, an anvil, a chisel.") == []
    assert nearest("The gull is hungry.") == []


def test_sentences_with_the_facts_that_a_claim_lacks_are_added_up_to_two() -> None:
    text = "The lamp has 12 wicks. The bell has 15 clappers. The boat has 17 oars. The tower has 19 steps."
    claim = "The lamp with wicks has 12, the bell 15, the boat 17, the tower 19."
    found = nearest(claim, text)
    assert len(found) == 3
    assert found[0] == "The lamp has 12 wicks."
    assert nearest("The lamp has 12 wicks.", text) == ["The lamp has 12 wicks."]
    assert nearest("The lamp has 15 wicks.", text) == ["The lamp has 12 wicks."]


def test_markers_stand_behind_a_claim_each_once() -> None:
    assert with_markers("It is lit. ", [2, 1, 2]) == "It is lit. [2] [1]"
    assert with_markers("It is lit.", []) == "It is lit."


# --- roles ---


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The boat followed the lamp.", "The lamp followed the boat.", True),
        ("The boat was followed by the lamp.", "The lamp followed the boat.", False),
        ("The lamp was followed by the boat.", "The lamp followed the boat.", True),
        ("The lamp followed the boat.", "The boat was followed by the lamp.", False),
        ("The boat and the lamp.", "The lamp and the boat.", False),
        ("The boat is larger than the lamp.", "The lamp is larger than the boat.", True),
        ("From the boat to the lamp it is far.", "From the lamp to the boat it is far.", True),
        ("On 12 May the lamp followed the boat.", "The lamp followed the boat on 12 May.", False),
        ("In 2019 the lamp followed the boat.", "The lamp followed the boat in 2019.", False),
        ("Bell followed the lamp.", "The lamp followed the boat.", False),
    ],
)
def test_who_does_what_to_whom_may_not_be_turned_round(claim: str, sentence: str, expected: bool) -> None:
    assert is_reversed(claim, [sentence], "en") is expected
    assert not is_reversed(claim, [sentence], "lt")
    assert not is_reversed(claim, [sentence, claim], "en")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The lamp went out because of the storm.", False),
        ("The storm came because the lamp went out.", True),
        ("The lamp caused the storm.", True),
        ("The storm caused the lamp to go out.", False),
        ("The lamp went out.", False),
        ("Because of the storm the lamp went out.", False),
        ("The tower shook because of the market on the island.", False),  # of something else
    ],
)
def test_a_cause_is_not_what_the_source_gives_as_the_effect(claim: str, expected: bool) -> None:
    assert turns_cause(claim, ["The lamp went out because of the storm."], "en") is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The lamp went out because of the storm.", "The lamp went out.", True),
        ("The lamp went out because of the storm.", "The lamp went out due to the storm.", False),
        ("The lamp went out because of the storm.", "The storm caused the lamp to go out.", False),
        ("The lamp went out.", "The storm came.", False),
    ],
)
def test_a_cause_that_no_sentence_gives_is_invented(claim: str, sentence: str, expected: bool) -> None:
    assert invents_cause(claim, [sentence]) is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The bell rang before the lamp was lit.", True),
        ("The lamp was lit before the bell rang.", False),
        ("The bell rang after the lamp was lit.", False),
        ("After the bell rang, the lamp was lit.", True),
        ("Before the bell rang, the lamp was lit.", False),
        ("The bell rang.", False),
        ("Before and after, the bell rang.", False),
    ],
)
def test_what_is_before_is_not_what_the_source_puts_after(claim: str, expected: bool) -> None:
    assert turns_time(claim, ["The lamp was lit before the bell rang."], "en") is expected


def test_the_beginning_of_a_time_is_not_its_end() -> None:
    assert turns_span("It ran from 2019 to 2012.", ["It ran from 2012 to 2019."])
    assert turns_span("It ran from May 3, 2019 until 2012.", ["It ran from 2012 to May 3, 2019."])
    assert not turns_span("It ran from 2012 to 2019.", ["It ran from 2012 to 2019."])
    assert not turns_span("It ran from 2013 to 2012.", ["It ran from 2012 to 2019."])
    assert not turns_span("It ran from 2019 to 2012.", ["It ran from 2012 to 2019, not from 2019 to 2012."])
