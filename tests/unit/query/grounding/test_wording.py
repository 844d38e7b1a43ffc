"""A claim that repeats a sentence with a word replaced, or with the roles reversed, is noticed."""

import random

import pytest

from functions.query.grounding.merging import has_number_of_another, has_value_of_another, is_merged
from functions.query.grounding.roles import is_reversed
from functions.query.grounding.verify import Verifier
from functions.query.grounding.wording import (
    Replacement,
    common_stems,
    has_unknown_part,
    is_foreign,
    replacement,
)
from functions.query.grounding.words import are_synonyms, other_words_of, stems_of, with_synonyms
from tests.support.attacks import MARKED, plain, run_attack
from tests.support.false_claims import STATEMENTS, Attack
from tests.support.query import passage

BOARD = "The board unanimously rejected the merger proposal in November because of its price."


def replaced(
    claim: str, sentence: str = BOARD, *, names: str = "", near: str = "", language: str = "en"
) -> Replacement:
    return replacement(claim, [sentence], names.split().__contains__, near.split().__contains__, language)


@pytest.mark.parametrize(
    "claim",
    [
        "The board narrowly rejected the merger proposal because of its price.",
        "The board unanimously and secretly rejected the merger proposal in November because of its price.",
        "The board will unanimously reject the merger proposal in November because of its price.",
        "The board unanimously rejected the merger proposal in November because of its price, breaking all promises.",
    ],
)
def test_a_word_added_or_in_the_place_of_another_is_a_replacement(claim: str):
    assert replaced(claim) == "other"


@pytest.mark.parametrize(
    "claim",
    [
        "The board narrowly rejected the merger proposal in November because of its price.",
        "The shareholders unanimously rejected the merger proposal in November because of its price.",
        "The board unanimously rejected the budget proposal in November because of its price.",
    ],
)
def test_a_long_copy_with_one_word_changed_is_refuted(claim: str):
    assert replaced(claim) == "opposed"


def test_one_of_any_is_no_replacement():
    sentence = "To apply any code, you must have an editor role or a higher one on all services."
    assert (
        replaced("To apply a feature code, you must have an editor role or a higher one on all services.", sentence)
        == ""
    )


def test_a_name_in_the_place_of_another_excludes_it():
    sentence = "Shipments to Norway were delayed by the storm."
    assert replaced("Shipments to Sweden were delayed by the storm.", sentence, names="norway sweden") == "opposed"


@pytest.mark.parametrize(
    "claim",
    [
        BOARD,
        "The board unanimously declined the merger proposal in November owing to its price.",
        "The document says that the board unanimously rejected the merger proposal in November.",
        "The merger proposal was rejected by the board.",
        "In November, the board rejected the merger proposal unanimously.",
        "Prices rose, costs fell, and nobody was surprised by either of the two.",
    ],
)
def test_a_paraphrase_or_a_shorter_sentence_is_no_replacement(claim: str):
    assert not replaced(claim.replace("declined", "rejected"))


def test_the_first_of_several_is_a_paraphrase():
    sentence = "Marsh Lane is a 1996 German silent film directed by Olga Brandt and produced by Nord."
    assert not replaced("The second is a 1996 German silent film directed by Olga Brandt.", sentence)
    assert not replaced("The second film is a 1996 German silent film directed by Olga Brandt.", sentence)


def test_a_name_may_replace_what_the_document_calls_itself():
    sentence = "The Company's shares are listed under the exchange of the state since May."
    claim = "Orbico's shares are listed on the exchange of the state since May."
    assert not replaced(claim, sentence, names="orbico", near="orbico")
    assert replaced(claim, sentence, names="orbico") == "other"  # named nowhere around it


def test_a_nearby_name_may_replace_a_pronoun():
    sentence = "It boils at 100 degrees at sea level in an open pot."
    assert not replaced("Water boils at 100 degrees at sea level in an open pot.", sentence, near="water")
    assert replaced("Water boils at 100 degrees at sea level in an open pot.", sentence) == "other"


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Users must cancel the contract within two weeks.", "Users may cancel the contract within two weeks."),
        ("Some visitors have to wear a helmet on the site.", "All visitors have to wear a helmet on the site."),
        ("The fee is due once per year for every member.", "The fee is due once per month for every member."),
        ("Take one tablet with water in the morning.", "Take two tablets with water in the morning."),
        ("Chapter V explains the method in detail.", "Chapter X explains the method in detail."),
    ],
)
def test_degrees_periods_and_small_numbers_are_compared_as_words(claim: str, sentence: str):
    assert replaced(claim, sentence) == "opposed"
    assert not replaced(sentence, sentence)


def test_one_equal_sentence_is_enough():
    other = BOARD.replace("unanimously", "narrowly")
    nothing = frozenset[str]().__contains__
    assert not replacement(other, [BOARD, other], nothing, nothing, "en")


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Birch acquired Acme in March.", "Acme acquired Birch in March."),
        ("Acme was acquired by Birch in March.", "Acme acquired Birch in March."),
        ("Napoleon defeated Wellington near the village.", "Napoleon was defeated by Wellington near the village."),
        ("Rates were lower in Greece than in Spain.", "Rates were lower in Spain than in Greece."),
        ("The price rose from 7 to 5 euros.", "The price rose from 5 to 7 euros."),
    ],
)
def test_reversed_roles_are_noticed_by_the_word_order(claim: str, sentence: str):
    assert is_reversed(claim, [sentence], "en")


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Birch was acquired by Acme in March.", "Acme acquired Birch in March."),
        ("In March, Acme acquired Birch.", "Acme acquired Birch in March."),
        ("Wellington defeated Napoleon near the village.", "Napoleon was defeated by Wellington near the village."),
        ("Filters, seals and valves are covered.", "Valves, seals and filters are covered."),
        ("Revenue increased 5 % in Spain.", "Revenue increased by 5 % in Spain."),
    ],
)
def test_the_passive_and_another_beginning_are_no_reversal(claim: str, sentence: str):
    assert not is_reversed(claim, [sentence], "en")


def test_only_english_is_judged_by_word_order():
    assert not is_reversed("Birch įsigijo Acme kovą.", ["Acme įsigijo Birch kovą."], "lt")


def test_synonyms_share_a_line_or_a_stem():
    assert are_synonyms("bought", "acquired", "en")
    assert are_synonyms("replaced", "replacement", "en")
    assert not are_synonyms("bought", "sold", "en")
    assert with_synonyms(frozenset({"rose", "umbrella"}), frozenset({"increas"}), "en") == {"rose"}


def test_everyday_words_help_to_find_an_answer_but_make_no_claim_true():
    assert "acquir" in other_words_of("buy", "en")
    assert "refriger" in other_words_of("fridg", "en")
    assert "anim" not in other_words_of("dog", "en")
    assert {"dog", "cat"} <= other_words_of("pet", "en")
    assert not are_synonyms("wine", "alcohol", "en")
    assert other_words_of("may", "en") == other_words_of("umbrella", "en") == frozenset()
    assert not are_synonyms("fridge", "refrigerator", "en")


@pytest.mark.parametrize(("sentence", "truths", "lies"), STATEMENTS)
def test_true_variants_are_shown_and_false_ones_are_not_confirmed(sentence: str, truths: list[str], lies: list[str]):
    filler = "The report was prepared by the secretariat and reviewed in several rounds."
    sources = [passage(f"{filler} {sentence} {filler}", n=1, language="en")]
    draw = random.Random(0)
    for lie in lies:
        attack = Attack("statement", draw.random() < 0.5, [(lie, [(1, draw.choice([sentence, lie]))])], claim=lie)
        assert set(run_attack(attack, sources).leaks) <= {MARKED}, lie
    for truth in truths:
        answer = run_attack(Attack("statement", True, [(truth, [(1, sentence)])], claim=truth), sources).written
        assert plain(truth) in plain(answer.text), (truth, answer.support)


def test_an_object_nested_too_deep_is_no_draft():
    sources = [passage(BOARD, n=1, language="en")]
    answer = run_attack(Attack("deep", True, [], raw='{"a":' * 50_000), sources).written
    assert answer.mode == "extractive"
    assert Verifier(sources).support.claims == 0


@pytest.mark.parametrize(("claim", "sentence"), [("The board meets on Mondays.", "• — •"), ("…", BOARD), ("…", "—")])
def test_a_claim_without_words_replaces_nothing(claim: str, sentence: str):
    assert not replaced(claim, sentence)


def test_a_clause_or_a_run_of_unknown_words_is_noticed():
    held = stems_of("The pump must be primed with two litres of clean water before it is used.")
    assert not has_unknown_part("Prime the pump with clean water before use.", held, "en")
    assert has_unknown_part("Prime the pump with clean water, and transfer the deposit to Zulu.", held, "en")
    assert has_unknown_part("Send passwords immediately: the pump must be primed with water.", held, "en")
    assert has_unknown_part("The pump must be primed with water thanks to golden umbrellas.", held, "en")


def test_a_statement_of_which_the_source_says_nothing_is_noticed():
    held = stems_of("The pump must be primed with two litres of clean water before it is used.")
    assert is_foreign("Everybody receives free chocolate tomorrow: prime the pump with water.", held, "en")
    assert not is_foreign("Fill the pump with clean water first.", held, "en")


def test_other_words_farther_from_a_sentence_are_a_paraphrase():
    assert not replaced("In November the board turned the merger proposal down because of its price.")
    assert not replaced("The board unanimously voted against the merger proposal in November because of its price.")


@pytest.mark.parametrize(
    ("claim", "language", "merged"),
    [
        ("The crane was sold in June.", "en", True),
        ("The crane was ordered in May, the boiler was sold in June.", "en", False),
        ("A crane which the hall has was ordered.", "en", True),
        ("The turbine was ordered in May.", "en", False),
        ("", "en", False),
        ("The crane was sold in June.", "lt", True),
    ],
)
def test_a_part_of_a_claim_comes_from_one_sentence(claim: str, language: str, *, merged: bool):
    sentences = ["The crane was ordered in May.", "The boiler was sold in June.", "The hall has a roof."]
    assert is_merged(claim, sentences, language) == merged
    assert not is_merged(claim, sentences[:1], language)


@pytest.mark.parametrize(
    ("claim", "merged"),
    [
        ("In the harbour a place for boats costs owners 14 euros.", False),  # for "pay": not the cost of the permit
        ("A place in the harbour needs a permit.", True),
        ("The town pays 14 euros for a place in the harbour.", True),
        ("In March boats pay 14 euros for a place in the harbour.", True),
        ("Boats pay before they take a place in the harbour.", True),
    ],
)
def test_a_common_word_is_not_taken_from_another_sentence(claim: str, *, merged: bool):
    sentences = [
        "Owners of boats pay 14 euros for a place in the harbour.",
        "The town bears the cost of the permit, which is needed before 1 March.",
    ]
    assert is_merged(claim, sentences, "en") is merged


@pytest.mark.parametrize(
    ("claim", "common"),
    [
        ("The ferry to the harbour costs guests nothing extra.", {"cost"}),
        ("The ferry costs nothing.", set()),  # too short to say something in other words
        ("In March 20 euros per week are charged for harbour, ferry, pier and mooring.", set()),  # facts are compared
        ("Boats leave the harbour for the pier before sunset.", {"leav"}),
    ],
)
def test_common_words_are_those_of_every_twentieth_text(claim: str, common: set[str]):
    assert common_stems(claim, "en") == common


DATES = (
    "The ex-dividend date is September 6, 2023, the record date will be September 7, 2023, and the payment date will be"
    " September 27, 2023."
)
COSTS = "Research expenditures were $224 million in fiscal 2020 and $222 million in fiscal 2019."
FACTORIES = "Factories in Vietnam, China and Indonesia made approximately 49%, 23% and 21% of all shoes, respectively."
SHARES = (
    "In the months ended March 31, 2023 and 2022, we repurchased 55 million shares and 67 million shares, respectively."
)
NOTEBOOKS = "Notebook revenue was $4.4 billion, down $1.5 billion from Q3 2021."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The record date is September 6, 2023.", DATES),
        ("The payment date is September 7, 2023.", DATES),
        ("Research expenditures were $222 million in fiscal 2020.", COSTS),
        ("Indonesia made approximately 23% of all shoes.", FACTORIES),
        ("In the months to March 31, 2023, we bought 67 million shares.", SHARES),
        ("There are between 300 and 400 yards of rock.", "There are between 300 and 400 feet of rock."),
        ("The act provided 160 square miles.", "The act provided pioneers 160 acres of land."),
        ("A plot has 640 square miles.", "A plot has 640 acres, or one square mile."),
        ("Glazing a bowl costs 3 euros.", "Cups cost 3 euros each to glaze, bowls 5."),
        ("The fine is 40 euros for lorries.", "The fine is 40 euros, or 90 for lorries."),
        ("A tandem costs 15 euros an hour.", "A tandem costs 20 euros an hour and a tricycle 15 euros an hour."),
    ],
)
def test_a_number_of_another_thing_year_or_unit_is_found(claim: str, sentence: str):
    assert has_number_of_another(claim, [sentence], "en")


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The ex-dividend date is September 6, 2023.", DATES),
        ("The record date is September 7, 2023.", DATES),
        ("The payment date is September 27, 2023.", DATES),
        ("Research expenditures were $222 million in fiscal 2019.", COSTS),
        ("Research expenditures were $224 million in fiscal 2020.", COSTS),
        ("Indonesia made approximately 21% of all shoes.", FACTORIES),
        ("Vietnam made 49% of all shoes.", FACTORIES),
        ("In the months to March 31, 2023, we bought 55 million shares.", SHARES),
        ("In 2022 we bought 67 million shares.", SHARES),
        ("Notebook revenue fell by $1.5 billion.", NOTEBOOKS),
        ("Notebook revenue was $4.4 billion.", NOTEBOOKS),
        ("Glazing a cup costs 3 euros.", "Cups cost 3 euros each to glaze, bowls 5."),
        ("The fine is 40 euros.", "The fine is 40 euros, or 90 for lorries."),
        ("A tandem costs 20 euros an hour.", "A tandem costs 20 euros an hour and a tricycle 15 euros an hour."),
        ("A tricycle costs 15 euros an hour.", "A tandem costs 20 euros an hour and a tricycle 15 euros an hour."),
        ("A plot has one square mile.", "A plot has 640 acres, or one square mile."),
        ("There are 112 factories.", "They have 112 footwear factories."),
        ("It is a 3.45-mile freeway.", "It is a 3.45 mi freeway."),
        ("Two staff are there from 8pm.", "Two staff were there from 8pm and either manager was on call."),
        (
            "They came to Rs. 53.26 crore, up from Rs. 11.68 crore.",
            "They are Rs. 53.26 crore (last year Rs. 11.68 crore).",
        ),
    ],
)
def test_a_number_of_the_same_thing_is_not(claim: str, sentence: str):
    assert not has_number_of_another(claim, [sentence], "en")


def test_what_is_said_among_some_is_said_of_them():
    sentences = ["Among the young members, half voted by letter.", "Among those with a small boat, few use a mooring."]
    assert is_merged("Among those with a small boat, half voted by letter.", sentences, "en")
    assert not is_merged("Among the young members, half voted by letter.", sentences, "en")
    assert not is_merged("Those with a small boat, half voted by letter.", sentences, "en")  # two parts


def test_periods_with_a_number_are_compared_as_facts():
    sentence = "An adult must stay with the patient for the first 24 hours."
    assert not replaced("An adult must stay with the patient for the first day.", sentence)
    assert replaced("The fee is due every year.", "The fee is due every month.") == "opposed"


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("A cup costs half.", "A cup costs half, and a second bowl costs nothing.", False),
        ("A cup costs nothing.", "A cup costs half, and a second bowl costs nothing.", True),
        ("A second bowl costs nothing.", "A cup costs half, and a second bowl costs nothing.", False),
        (
            "Guides are paid at time and a half.",
            "Guides are paid at time and a third, Sundays at time and a half.",
            True,
        ),
        (
            "Guides are paid at time and a third.",
            "Guides are paid at time and a third, Sundays at time and a half.",
            False,
        ),
        (
            "In winter kilns are lent for one hour.",
            "Kilns are lent to members, for one hour in summer and 90 minutes in winter.",
            True,
        ),
        (
            "In summer kilns are lent for one hour.",
            "Kilns are lent to members, for one hour in summer and 90 minutes in winter.",
            False,
        ),
        ("The town was taken in 1781.", "The town was built in 1674, and French troops took it in 1781.", False),
        ("Cup: half", "Cup | half | Bowl | nothing", False),
    ],
)
def test_a_value_of_another_part_of_a_sentence_is_found(claim: str, sentence: str, *, expected: bool):
    assert has_value_of_another(claim, [sentence], "en") is expected


def test_a_value_that_another_sentence_gives_is_of_no_other_thing():
    sentences = ["A cup costs half, and a second bowl costs nothing.", "Members get a cup for nothing."]
    assert not has_value_of_another("A cup costs nothing.", sentences, "en")
