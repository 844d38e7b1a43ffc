"""Claims that tell of one thing what is told of another, or turn what stands before a number or a condition."""

import time

import pytest

from functions.query.grounding.parts import _parts_of
from functions.query.retrieval.passages import Passage
from tests.support.query import CONFIRMED, MARKED, OUT, passage, verdicts_of


def verdict_of(claim: str, quote: str, source: Passage | None = None, question: str = "What is it?") -> str:
    return verdicts_of(claim, quote, source=source or passage(quote), question=question)[0]


YARD = "Barbecues in the yard are forbidden; on the lawn they are allowed until 9 pm."
BUSES = "Buses 4 and 7 run through Station Road; the stop at the Corn Exchange is not served."
PRICES = "Admission is €9 for adults and €4 for students; children under seven enter free."
DYES = "Together with Peter Astley she found a method of fixing dyes without heat, which Dunmore patented in 1954."
WORKS = "From 1946 to 1971 she worked at Dunmore, first as an assistant and from 1958 as head of the dye laboratory."
CAFE = "The cafe on the second floor is open during museum hours but closed on Tuesdays."
MINUTES = "Cllr Leigh asked for a count of the traffic; the clerk will write to the county."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("Barbecues in the yard are allowed until 9 pm.", YARD, MARKED),
        ("Barbecues are allowed on the lawn until 9 pm.", YARD, CONFIRMED),
        ("The stop in Station Road is not served.", BUSES, MARKED),
        ("The Corn Exchange stop is not served.", BUSES, CONFIRMED),
        ("Students enter free.", PRICES, MARKED),
        ("Children under seven do not pay.", PRICES, CONFIRMED),
        ("Peter Astley patented the method in 1954.", DYES, MARKED),
        ("Dunmore patented the method in 1954.", DYES, CONFIRMED),
        ("She was head of the dye laboratory from 1946.", WORKS, MARKED),
        ("She was head of the dye laboratory from 1958.", WORKS, CONFIRMED),
        ("Cllr Leigh will write to the county.", MINUTES, MARKED),
        ("The clerk will write to the county.", MINUTES, CONFIRMED),
    ],
)
def test_a_claim_does_not_take_the_subject_of_one_part_for_what_another_says(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("The cafe is closed on Tuesdays.", CAFE, CONFIRMED),
        ("The cafe is open on Tuesdays.", CAFE, OUT),
        ("The cafe is open during museum hours.", CAFE, CONFIRMED),
    ],
)
def test_an_opposite_is_of_its_own_part(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


FEE = "A motion to raise the annual fee from £60 to £68 was carried by 22 votes to 7."
NOTICE = "During the first six months two weeks' notice is enough; after that the notice period is three months."
ENDING = "Either party may end the tenancy after the first twelve months."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("The annual fee was raised by £68.", FEE, OUT),
        ("The annual fee goes down from £68 to £60.", FEE, OUT),
        ("The annual fee goes up from £60 to £68.", FEE, CONFIRMED),
        ("Either party may end the tenancy within the first twelve months.", ENDING, OUT),
        ("The tenancy may be ended after the first twelve months.", ENDING, CONFIRMED),
        ("After six months the notice period is three months.", NOTICE, CONFIRMED),
        ("The shop closes before 9 pm.", "The shop closes by 9 pm.", CONFIRMED),
    ],
)
def test_a_word_before_a_number_is_kept(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


MEETING = "The meeting takes place in the parish hall, unless the hall is needed for the election."
PARCEL = "A parcel can be cancelled until its label has been scanned."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("The meeting takes place in the parish hall if the hall is needed for the election.", MEETING, OUT),
        ("The meeting takes place in the parish hall even if the hall is needed for the election.", MEETING, OUT),
        ("The meeting takes place in the parish hall unless the hall is needed.", MEETING, CONFIRMED),
        ("A parcel can be cancelled once its label has been scanned.", PARCEL, OUT),
        ("A parcel can be cancelled until the label has been scanned.", PARCEL, CONFIRMED),
    ],
)
def test_unless_and_until_do_not_become_if_and_once(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


HOUSING = "The guarantee ends if the housing is opened by anyone other than a workshop."


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The guarantee ends if the housing is opened by a workshop.", OUT),
        ("The guarantee ends if the housing is opened by anyone but a workshop.", CONFIRMED),
        ("The guarantee ends if anyone except a workshop opens the housing.", CONFIRMED),
    ],
)
def test_what_is_excepted_is_not_told_like_the_rest(claim: str, verdict: str):
    assert verdict_of(claim, HOUSING) == verdict


BONFIRES = "The proposal to ban bonfires was withdrawn by Mr Okoro before the vote."


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Rosa Lind withdrew the proposal to ban bonfires.", MARKED),
        ("Mr Okoro withdrew the proposal to ban bonfires.", CONFIRMED),
        ("The proposal to ban bonfires was withdrawn before the vote.", CONFIRMED),
    ],
)
def test_who_does_it_is_who_is_named_behind_by(claim: str, verdict: str):
    source = passage(f"Rosa Lind was in the chair. {BONFIRES}")
    assert verdict_of(claim, BONFIRES, source) == verdict


def test_sales_that_rise_by_a_share_are_no_agent():
    quote = "Net sales increased 6.9% to $4,812.5 million, driven by higher volumes."
    assert verdict_of("Net sales increased 6.9% to $4,812.5 million.", quote) == CONFIRMED


STORE = "Before winter, drain the pump completely and store it in a dry place."


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Store the pump in a damp place.", MARKED),
        ("Fill the pump completely before winter.", MARKED),
        ("Store the pump in a dry place.", CONFIRMED),
        ("Drain the pump completely before winter.", CONFIRMED),
    ],
)
def test_a_word_behind_an_article_does_not_take_the_place_of_another(claim: str, verdict: str):
    assert verdict_of(claim, STORE) == verdict


FUNDED = "The work was funded by the Vale Foundation, which had no role in the design of the study."
CONFLICTS = "Sync conflicts no longer delete the older version."


def test_having_no_role_in_something_denies_it():
    assert verdict_of("The Vale Foundation designed the study.", FUNDED) == OUT
    assert verdict_of("The Vale Foundation funded the work.", FUNDED) == CONFIRMED


def test_what_is_no_longer_done_is_not_done():
    assert verdict_of("Sync conflicts delete the older version.", CONFLICTS) == OUT


def test_parts_between_semicolons_are_denied_each_for_itself():
    quote = "The guarantee covers faults of material; it does not cover wear of seals or damage by frost."
    assert verdict_of("The guarantee does not cover wear of seals.", quote) == CONFIRMED
    assert verdict_of("The guarantee does not cover faults of material.", quote) == OUT


DELETED = "If the top browns, cover it with foil after half an hour."


def test_a_condition_behind_a_semicolon_is_one():
    quote = f"Bake the loaf for 50 minutes; {DELETED[0].lower()}{DELETED[1:]}"
    assert verdict_of("Cover it with foil after half an hour.", quote) == MARKED
    assert verdict_of(DELETED, quote) == CONFIRMED


def test_a_claim_of_all_votes_needs_them():
    quote = "The council resolved by four votes to one to accept the Garside quote."
    assert verdict_of("The council unanimously resolved to accept the Garside quote.", quote) != CONFIRMED


def test_a_number_that_is_compared_with_a_plan_needs_the_plan():
    quote = "The council expects the works to cost £240,000."
    assert verdict_of("The works cost £240,000 more than expected.", quote) != CONFIRMED


GERMAN = passage(
    "Laute Arbeiten sind in der Mittagszeit nicht erlaubt. Nur Bewohner dürfen im Hof parken.", language="de"
)
FRENCH = passage(
    "Le bonnet de bain n'est pas obligatoire. Les serveurs se trouvent en France et en Irlande.", language="fr"
)


@pytest.mark.parametrize(
    ("claim", "quote", "source", "verdict"),
    [
        ("Laute Arbeiten sind in der Mittagszeit erlaubt.", GERMAN.text.partition(". ")[0], GERMAN, OUT),
        ("Im Hof dürfen nur Bewohner parken.", GERMAN.text.partition(". ")[2], GERMAN, CONFIRMED),
        ("Im Hof dürfen Bewohner parken.", GERMAN.text.partition(". ")[2], GERMAN, MARKED),
        ("Le bonnet de bain est obligatoire.", FRENCH.text.partition(". ")[0], FRENCH, OUT),
        ("Les serveurs se trouvent exclusivement en France.", FRENCH.text.partition(". ")[2], FRENCH, MARKED),
        ("Les serveurs se trouvent en France.", FRENCH.text.partition(". ")[2], FRENCH, CONFIRMED),
    ],
)
def test_other_languages_deny_and_restrict(claim: str, quote: str, source: Passage, verdict: str):
    assert verdict_of(claim, quote, source) == verdict


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("She worked there for 25 years.", "She worked there from 1946 to 1971.", CONFIRMED),
        ("She worked there for 24 years.", "She worked there from 1946 to 1971.", OUT),
        ("Clara took her degree in 1887.", "Ada took her degree in 1889, two years after Clara.", MARKED),
        ("Clara took her degree in 1886.", "Ada took her degree in 1889, two years after Clara.", OUT),
        ("The dealer must repay €36,400.", "The dealer must repay €38,500, less €2,100 for use.", MARKED),
        ("The dealer must repay €35,400.", "The dealer must repay €38,500, less €2,100 for use.", OUT),
        ("The tour starts at 11:30.", "The tour starts daily at 11.30.", CONFIRMED),
        ("The tour starts at 11:50.", "The tour starts daily at 11.30.", OUT),
        ("The quote was accepted by 4 votes to 1.", "The quote was accepted by four votes to one.", CONFIRMED),
    ],
)
def test_numbers_that_the_words_of_the_source_tell(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


RENT = "Five weeks after delivery she noticed damp in the wall and asked the dealer for help."


def test_a_person_may_stand_for_a_pronoun():
    source = passage(f"The claimant is the buyer of a van. {RENT}")
    assert verdict_of("Five weeks after delivery the buyer noticed damp in the wall.", RENT, source) == CONFIRMED


LEAFLET = (
    "The pump is guaranteed for three years from the purchase. The guarantee covers faults of material, not wear of "
    "seals or use with salt water. To make a claim, send the pump with the receipt to the dealer, who repairs it. The "
    "guarantee ends if the housing was opened. Before winter, drain the pump and store it in a dry place. If the motor "
    "hums but stands still, switch it off and turn the shaft with a screwdriver."
)


@pytest.mark.parametrize(
    "claim", ["The dealer repairs the pump.", "You have to send the pump with the receipt to the dealer."]
)
def test_a_leaflet_may_give_several_orders_within_sentences(claim: str):
    quote = "To make a claim, send the pump with the receipt to the dealer, who repairs it."
    assert verdict_of(claim, quote, passage(LEAFLET)) != OUT


def test_a_noun_with_a_capital_begins_no_order():
    quote = "Der Vertrag verlängert sich, wenn er nicht drei Monate vor Ablauf in Textform gekündigt wird."
    text = (
        "Versichert ist der Hausrat der Wohnung gegen Brand, Sturm und Hagel. Als Sturm gilt Wind ab Stärke acht. "
        "Wertsachen sind bis zu einem Fünftel der Summe versichert. Fahrräder sind versichert, wenn sie abgeschlossen "
        f"waren. Der Selbstbehalt entfällt bei Glas. {quote}"
    )
    claim = "Der Vertrag verlängert sich ohne Kündigung in Textform."
    assert verdict_of(claim, quote, passage(text, language="de")) != OUT


FR = "Les chiens ne peuvent pas entrer dans le parc."
ES = "No hay ningún coste para los socios."
MAY = "Das Fest findet am 5. Mai 2024 im Park statt."


@pytest.mark.parametrize(
    ("claim", "quote", "language", "verdict"),
    [
        ("Les chiens peuvent entrer dans le parc.", FR, "fr", OUT),
        ("Les chiens ne peuvent entrer dans le parc.", FR, "fr", CONFIRMED),
        ("Hay coste para los socios.", ES, "es", OUT),
        ("Das Fest findet im Park statt.", MAY, "de", CONFIRMED),
    ],
)
def test_two_words_may_deny_once(claim: str, quote: str, language: str, verdict: str):
    assert verdict_of(claim, quote, passage(quote, language=language)) == verdict


VALVES = "During operation the upper valve is open and the lower valve is closed."
LANES = "The left lane is closed and the right lane is open to buses."
SMOKE = "Smoking is allowed on the terrace, while vaping is prohibited everywhere."
BUTTON = "The alarm sounds until the button is pressed."
LAPSE = "The contract renews unless either party gives notice."
PRICE = "The repair costs 40 euros excluding VAT."
CANCEL = "You can cancel the order within 14 days."


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("During operation the upper valve is open.", VALVES),
        ("The left lane is closed to buses.", LANES),
        ("Vaping is prohibited on the terrace.", SMOKE),
        ("Barbecues on the lawn are allowed.", YARD),
        ("The alarm stops when the button is pressed.", BUTTON),
        ("The contract ends if either party gives notice.", LAPSE),
        ("The repair costs 40 euros plus VAT.", PRICE),
        ("After 14 days you may no longer cancel the order.", CANCEL),
    ],
)
def test_honest_claims_in_opposite_words_are_shown(claim: str, quote: str):
    assert verdict_of(claim, quote) != OUT


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("1 game was lost.", "One of the reasons was rain; 5 games were lost."),
        ("Ships pass at 12:50.", "The toll is 12.50. Ships pass every day."),
        ("Nuns ran the school for 55 years.", "Nuns ran the school from 1910 to 1935 and the state from 1935 to 1990."),
        ("The firm claimed the refund.", "Critics allege that the firm claimed the refund."),
    ],
)
def test_numbers_and_attributions_are_not_read_into_other_words(claim: str, quote: str):
    assert verdict_of(claim, quote) != CONFIRMED


RULES = "The rules are set by the board of directors. The treaty was ratified by Finland, Sweden and Norway."


@pytest.mark.parametrize(
    "claim", ["The directors set the rules.", "Norway ratified the treaty.", "The board of directors set the rules."]
)
def test_several_may_act_behind_by(claim: str):
    at = 0 if "rules" in claim else 1
    assert verdict_of(claim, f"{RULES.split('. ')[at].rstrip('.')}.", passage(RULES)) == CONFIRMED


@pytest.mark.parametrize("words", ["Ann sings and Bo dances and ", "if the door is open and ", "not a cat but "])
def test_long_sentences_are_not_compared_part_by_part(words: str):
    quote = f"{words * 400}Eve rests."
    started = time.perf_counter()
    verdict_of("Eve dances and Bo rests if the door is open.", quote)
    assert time.perf_counter() - started < 5  # parts of parts would take minutes


CAT = "Tenants may keep a cat with the written consent of the landlord."
REPAIR = "The repair costs €3.1 million, of which insurance covers all but the excess of €0.5 million."
STOP = "We stop making mowers at the end of 2027. Spare parts remain available for ten years after that."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("Tenants may keep a cat.", CAT, MARKED),
        ("Tenants may keep a cat with the landlord's consent.", CAT, CONFIRMED),
        ("Insurance covers €2.6 million of the repair.", REPAIR, MARKED),
        ("Insurance covers €2.4 million of the repair.", REPAIR, OUT),
        ("Spare parts for mowers remain available until 2037.", STOP, MARKED),
        ("Spare parts for mowers remain available until 2040.", STOP, OUT),
    ],
)
def test_consent_is_a_condition_and_what_is_left_is_possible(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Adult members and children take one tablet.", 1),
        ("Old adult members and children take one tablet.", 2),
        ("The club is open and children swim there.", 2),
        ("The club opens, which children like.", 2),
    ],
)
def test_few_words_without_a_verb_before_and_are_the_first_of_several_subjects(sentence: str, parts: int):
    assert len(_parts_of(sentence, "en")) == parts
