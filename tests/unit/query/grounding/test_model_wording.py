"""Claims in the words that models use: "Yes." before a statement, pronouns, numbers told otherwise."""

import pytest

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.verify import Verifier
from functions.query.writing.drafts import read_draft
from tests.support.query import CONFIRMED, MARKED, OUT, passage, verdicts_of

LIBRARY = "The library lends sledges to members in winter."


@pytest.mark.parametrize(
    ("claim", "quote", "language"),
    [
        ("Yes. The library lends sledges to members.", LIBRARY, "en"),
        ("Nein. Hunde sind im Garten nicht erlaubt.", "Hunde sind im Garten nicht erlaubt.", "de"),
        ("Not yet. The lift was not repaired.", "The lift was not repaired.", "en"),
        ("Oui. Les chiens sont admis au jardin.", "Les chiens sont admis au jardin.", "fr"),
    ],
)
def test_yes_before_a_statement_is_read_with_it(claim: str, quote: str, language: str):
    assert verdicts_of(claim, quote, language=language) == [CONFIRMED]


def test_yes_of_a_draft_is_joined_with_what_it_is_about():
    assert [claim.text for claim in read_draft("Not yet. The lift was not repaired. [1]").claims] == [
        "Not yet: The lift was not repaired."
    ]


GUIDE = "Ruth Amsel guided the choir to its first prize in its history by winning the regional contest in 2011."
DRUMMER = "Tim Wilk started his career as a drummer for a dance band in 1990."
CASES = "As of 22 February 2020, 630 cases were counted in more than two dozen villages of the valley."
DOSE = "The dose is 250 mg twice daily for adults."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        (
            "Ruth Amsel led the choir to its first prize in its history by winning the contest in 2011.",
            GUIDE,
            CONFIRMED,
        ),
        ("She guided the choir to its first prize in its history by winning the contest in 2011.", GUIDE, CONFIRMED),
        ("He started his career as a drummer for a dance band in 1990.", DRUMMER, CONFIRMED),
        ("As of 22 February 2020, 630 cases were counted in over two dozen villages of the valley.", CASES, CONFIRMED),
        ("The dose is 250 mg twice daily for children.", DOSE, MARKED),
        ("Ruth Amsel guided the town to its first prize in its history by winning the contest in 2011.", GUIDE, MARKED),
    ],
)
def test_a_pronoun_may_stand_for_a_name_and_over_for_more_than(claim: str, quote: str, verdict: str):
    assert verdicts_of(claim, quote) == [verdict]


@pytest.mark.parametrize(
    ("claim", "quotes", "verdict"),
    [
        (
            "Mira Holm played the queen in the pageant in 2016.",
            ("In 2016 she played the queen in the pageant.", "Mira Holm was born in Ebbsund."),
            CONFIRMED,
        ),
        (
            "The guard complained about the scooters.",
            ("Mr Odell complained about the scooters.", "The guard was asked to mark the ramp."),
            MARKED,
        ),
        ("Cockerels may be kept on a plot.", ("Hens may be kept on a plot.", "Cockerels are not allowed."), MARKED),
    ],
)
def test_whom_a_sentence_calls_she_another_one_may_name(claim: str, quotes: tuple[str, ...], verdict: str):
    assert verdicts_of(claim, *quotes) == [verdict]


BORN = "Edith Marlin (4 May 1851 – 19 January 1932) was a botanist from the islands."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("Edith Marlin, a botanist from the islands, was 80 years old.", BORN, MARKED),
        ("Edith Marlin, a botanist from the islands, was 81 years old.", BORN, OUT),
        ("The launch to the island goes two times daily.", "The launch to the island goes twice a day.", MARKED),
        ("The launch goes three times daily.", "The launch goes twice a day.", OUT),
        ("The bell rings at five in the morning.", "The bell rings at 05:00.", MARKED),
        ("The bell rings at six in the morning.", "The bell rings at 05:00.", OUT),
        ("She worked there for fifteen years.", "She worked there between 1874 and 1889.", MARKED),
        (
            "The duke had 3,000 men.",
            "Writers of the time give the duke 6,000 men, but historians hold half that number for likely.",
            MARKED,
        ),
        ("The workers raised £82,000 together.", "The firm was bought by 41 workers, who each put in £2,000.", MARKED),
        ("The workers raised £84,000 together.", "The firm was bought by 41 workers, who each put in £2,000.", OUT),
        ("The levy of the year before was £30,000.", "The levy was set at £31,500, an increase of 5 per cent.", MARKED),
        ("The levy of the year before was £29,000.", "The levy was set at £31,500, an increase of 5 per cent.", OUT),
        ("Three of the 17 repairs are still outstanding.", "We have completed 14 of the 17 repairs.", MARKED),
        ("Five of the 17 repairs are still outstanding.", "We have completed 14 of the 17 repairs.", OUT),
        ("The pond was opened by the CEO, Ian Reed.", "The pond was opened by chief executive Ian Reed.", MARKED),
    ],
)
def test_numbers_and_offices_may_be_told_otherwise(claim: str, quote: str, verdict: str):
    assert verdicts_of(claim, quote) == [verdict]


@pytest.mark.parametrize(
    ("claim", "quote", "language", "verdict"),
    [
        (
            "El embalse ganó 17 puntos porcentuales.",
            "El embalse terminó al 58 %, frente al 41 % de mayo.",
            "es",
            MARKED,
        ),
        ("El embalse ganó 19 puntos porcentuales.", "El embalse terminó al 58 %, frente al 41 % de mayo.", "es", OUT),
        ("Es sind 16 Plätze weniger.", "Nötig wären 41 Plätze, beantragt sind 25 Plätze.", "de", MARKED),
        ("Es sind 12 Plätze weniger.", "Nötig wären 41 Plätze, beantragt sind 25 Plätze.", "de", OUT),
    ],
)
def test_differences_are_told_in_other_languages_too(claim: str, quote: str, language: str, verdict: str):
    assert verdicts_of(claim, quote, language=language) == [verdict]


BILL = "Quarter | Power kWh\nJanuary to March | 810\nApril to June | 690"


def test_a_quarter_is_known_by_its_months():
    claim = Claim("In the second quarter 690 kWh of power were used.", (Reference(1, "April to June | 690"),))
    checker = Verifier([passage(BILL)], question="", language="en")
    assert [each.claim.verdict for each in checker.check(claim)] == [MARKED]
    assert verdicts_of("In Q1 the mill was sold.", "Jan Marek sold the mill.") == [OUT]


LEASE = "The agreement with Unity may be ended by Unity on 90 days' notice."
DESIGN = "With the engineer Paul Sorley she developed the short action."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("Calloway may end the agreement with Unity on 90 days' notice.", LEASE, MARKED),
        ("Unity may end the agreement on 90 days' notice.", LEASE, CONFIRMED),
        ("She developed the short action with Paul Sorley.", DESIGN, CONFIRMED),
    ],
)
def test_who_acts_and_who_else(claim: str, quote: str, verdict: str):
    assert verdicts_of(claim, quote) == [verdict]


@pytest.mark.parametrize(
    ("claim", "other", "quote"),
    [
        (
            "The film lasts two and a half hours.",
            "The film lasts three and a half hours.",
            "The film lasts 150 minutes.",
        ),
        ("The mill was built in the 1890s.", "The mill was built in the 1880s.", "The mill was built in 1894."),
        (
            "The mill was built in the 19th century.",
            "The mill was built in the 18th century.",
            "The mill was built in 1894.",
        ),
        (
            "She left the following year, in 1995.",
            "She left the following year, in 1997.",
            "She joined in 1994 and left a year later.",
        ),
        ("Fewer than 10 people came.", "Fewer than 8 people came.", "Nine people came."),
        (
            "She ran the school for almost 60 years.",
            "She ran the school for almost 50 years.",
            "She ran the school from 1946 to 2005.",
        ),
        (
            "All three bridges were closed.",
            "All four bridges were closed.",
            "The North, South and Mill bridges were closed.",
        ),
        ("Two people were hurt.", "Three people were hurt.", "The driver and a cyclist were hurt."),
        ("The shop is open seven days a week.", "The shop is open six days a week.", "The shop is open daily."),
        ("The fee is 50 cents.", "The fee is 5 cents.", "The fee is €0.50."),
        ("It opens at half past nine.", "It opens at half past ten.", "It opens at 9.30."),
        ("It opens at a quarter to ten.", "It opens at a quarter to nine.", "It opens at 9:45."),
        ("Membership costs £60 a year.", "Membership costs £50 a year.", "Membership costs £5 a month."),
        ("The dose may be doubled to 20 mg.", "The dose may be doubled to 30 mg.", "The dose of 10 mg may be doubled."),
        ("Zero accidents were reported.", "Seven accidents were reported.", "No accidents were reported."),
        ("The bus runs four times an hour.", "The bus runs three times an hour.", "The bus runs every 15 minutes."),
        (
            "The firm earned €4bn in FY2023.",
            "The firm earned €4bn in FY2022.",
            "In fiscal 2023 the firm earned €4 billion.",
        ),
        ("The duke led 300 men.", "The duke led 400 men.", "The duke led 300 men."),
    ],
)
def test_a_number_in_other_words_is_not_left_out_but_another_number_is(claim: str, other: str, quote: str):
    assert verdicts_of(claim, quote) != [OUT]
    assert verdicts_of(other, quote) == [OUT]


def test_nothing_is_calculated_with_zero():
    assert verdicts_of("Zero accidents were reported.", "Two accidents were reported.") == [OUT]


POOL = "Das Bad ist montags geschlossen, an Feiertagen aber geöffnet."
RENT_ES = "El alquiler sube de 400 a 440 euros."
RENT_IT = "L'affitto sale da 400 a 440 euro."
MUSEUM_FR = "Le musée ouvre à 9 h 30 et ferme à 18 heures."


@pytest.mark.parametrize(
    ("language", "quote", "honest", "false"),
    [
        (
            "de",
            "Die Frist beträgt drei Monate.",
            "Eine Frist von drei Monaten ist einzuhalten.",
            "Eine Frist von sechs Monaten ist einzuhalten.",
        ),
        (
            "de",
            "Die Heizung springt um 5.30 Uhr an.",
            "Die Heizung springt um halb sechs an.",
            "Die Heizung springt um halb sieben an.",
        ),
        (
            "de",
            "Der Verein zählt 212 Mitglieder, 14 mehr als im Vorjahr.",
            "Im Vorjahr hatte der Verein 198 Mitglieder.",
            "Im Vorjahr hatte der Verein 190 Mitglieder.",
        ),
        ("de", POOL, "Das Bad ist an Feiertagen geöffnet.", "Das Bad ist an Feiertagen geschlossen."),
        (
            "de",
            "Der Preis stieg von 40 auf 50 Euro.",
            "Der Preis stieg um 10 Euro.",
            "Der Preis sank von 50 auf 40 Euro.",
        ),
        ("fr", MUSEUM_FR, "Le musée ferme à 18 h 00.", "Le musée ferme à 19 heures."),
        (
            "fr",
            "La piscine est fermée le lundi.",
            "Le lundi, la piscine est fermée.",
            "La piscine est ouverte le lundi.",
        ),
        ("es", RENT_ES, "El alquiler sube 40 euros.", "El alquiler baja de 440 a 400 euros."),
        (
            "es",
            "El museo cierra a las 18:00.",
            "El museo cierra a las seis de la tarde.",
            "El museo cierra a las siete de la tarde.",
        ),
        ("it", RENT_IT, "L'affitto aumenta di 40 euro.", "L'affitto scende da 440 a 400 euro."),
    ],
)
def test_numbers_times_and_opposites_of_other_languages(language: str, quote: str, honest: str, false: str):
    assert verdicts_of(honest, quote, language=language) != [OUT]
    assert verdicts_of(false, quote, language=language) in ([OUT], [MARKED])


@pytest.mark.parametrize(
    ("claim", "quotes", "language"),
    [
        ("The field has 16 seats.", ("The field has 41 seats in April and 25 seats in June.",), "en"),
        ("Mehrere Vereine haben 16 Plätze.", ("Mehrere Vereine haben 41 Plätze, einer 25 Plätze.",), "de"),
        ("El ganado tiene 16 vacas.", ("El ganado tiene 41 vacas y 25 terneros.",), "es"),
        ("Non-members may not use the sauna on Sundays.", ("Members may not use the sauna on Sundays.",), "en"),
        ("Ja-Stimmen wurden im Rathaus gezählt.", ("Stimmen wurden im Rathaus gezählt.",), "de"),
        ("The company lost money in the first half year.", ("The company made money in the first half year.",), "en"),
        (
            "The tenant may end the lease if he sells the house.",
            ("The tenant may end the lease if the landlord sells the house.",),
            "en",
        ),
        (
            "He won the silver medal in the long race of 1912.",
            ("His rival won the silver medal in the long race of 1912.",),
            "en",
        ),
        (
            "She was born in Leeds in the cold winter of 1912.",
            ("Her mother was born in Leeds in the cold winter of 1912.",),
            "en",
        ),
        ("He is known to have killed the king in 1402.", ("He is suspected to have killed the king in 1402.",), "en"),
        (
            "Guests are entitled to use the garden in summer.",
            ("Guests are forbidden to use the garden in summer.",),
            "en",
        ),
        (
            "Anna Reed sold the mill in 1916.",
            ("Otto Berg and his son sold the mill in 1916.", "Anna Reed was a painter."),
            "en",
        ),
        ("Dogs may be kept on a plot.", ("Hens may be kept on a plot.", "Dogs."), "en"),
        ("Over 40 people were hurt in the fire.", ("Almost 40 people were hurt in the fire.",), "en"),
        ("The war is over in the north of the country.", ("The war is raging in the north of the country.",), "en"),
        (
            "In Q2, 690 kWh were used.",
            ("From July to September, 690 kWh were used; from April to June 500 kWh.",),
            "en",
        ),
        ("No.", ("Dogs are allowed in the garden.",), "en"),
        (
            "The rule for children aged 5 was made on 3 May 2010.",
            ("The rule for children was made on 3 May 2010 and ends on 1 June 2015.",),
            "en",
        ),
        ("She lived in Paris for 9 years.", ("She was born between 1990 and 1999 and lived in Paris.",), "en"),
        ("The launch goes two times daily.", ("The launch goes for two hours daily.",), "en"),
        (
            "WHO approved the drug in May 1990.",
            ("The ward has a nurse. The agency approved the drug in May 1990.",),
            "en",
        ),
        ("The fee is 2,500 euros.", ("The fee is 50 euros per year; 50 euros is the deposit.",), "en"),
        ("Garantija galioja 24 dienas nuo pirkimo dienos.", ("Garantija galioja 24 men. nuo pirkimo dienos.",), "lt"),
    ],
)
def test_what_only_looks_alike_is_not_confirmed(claim: str, quotes: tuple[str, ...], language: str):
    assert CONFIRMED not in verdicts_of(claim, *quotes, language=language)


@pytest.mark.parametrize(
    "text",
    [
        "Non-residents pay a deposit of 40 euros.",
        "She lives alone in a house near the river.",
        "The duke led 300 men. They crossed the river.",
    ],
)
def test_what_repeats_its_quote_stays_confirmed(text: str):
    assert verdicts_of(text, text) == [CONFIRMED] * len(verdicts_of(text, text))


def test_a_restriction_of_place_may_be_left_out():
    assert verdicts_of("In Germany sales were 40 million euros.", "In Germany alone sales were 40 million euros.") == [
        CONFIRMED
    ]


ROAD = "The road was closed and diversions were put in place on Sunday via the valley road from Melvich to Wick."
GRANT = (
    "The charity received a large donation from a retired teacher in the autumn and spent most of it on new kitchens"
    " for the shelters in the harbour district."
)


@pytest.mark.parametrize(
    ("claim", "quotes", "verdict"),
    [
        (
            "The road was closed and diversions were established on Sunday via the valley route from Melvich to Wick.",
            (ROAD,),
            CONFIRMED,
        ),
        (
            "The road was closed and diversions were never set up on Sunday via the valley route from Melvich to Wick.",
            (ROAD,),
            OUT,
        ),
        ("The road was closed and diversions were established on Sunday via the valley.", (ROAD,), MARKED),
        (
            "The charity received a large donation from a retired banker in the autumn and spent most of it on new"
            " offices for the directors in the harbour district.",
            (GRANT,),
            MARKED,
        ),
    ],
)
def test_a_long_claim_may_differ_in_several_words(claim: str, quotes: tuple[str, ...], verdict: str):
    assert verdicts_of(claim, *quotes) == [verdict]
