"""Everyday questions without a model: what is told first, with what, and how surely."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.writing.extractive import extract
from shared.models import SectionStart
from tests.support.query import passage


def told(question: str, *sources: Passage) -> list[str]:
    return [claim.text for claim in extract(question, sources).claims]


def of_sections(*sections: tuple[str, str], title: str = "") -> Passage:
    """Return a passage of sections, each below its title."""
    text, starts = "", []
    for name, body in sections:
        starts.append(SectionStart(char_start=len(text), path=name))
        text += f"{name}\n\n{body}\n\n"
    return passage(text.rstrip(), title=title, sections=tuple(starts))


@pytest.mark.parametrize(
    ("question", "right", "other"),
    [
        (
            "How loud is the kettle?",
            "Noise of the kettle: 52 dB.",
            "The kettle clicks when it is on a loud plate of tin.",
        ),
        ("How long may the cord be?", "The cord must not be longer than 3 m.", "The cord may stay in for two hours."),
        ("How much water does the can hold?", "The can: 2.5 litres.", "Little water in the can does no harm at 40 °C."),
    ],
)
def test_a_measure_is_told_by_its_unit(question: str, right: str, other: str):
    extract_of_both = extract(question, [passage(f"{other} {right}", score=1.0)])
    assert extract_of_both.claims[0].text == right
    assert not extract_of_both.may_be_others


def test_when_something_happened_is_not_told_by_when_it_happens():
    source = passage("The bakery is open every Friday from 7 am to noon. The bakery opened on 4 May in Mill Street.")
    assert told("When did the bakery open?", source)[0].startswith("The bakery opened on 4 May")


def test_next_year_is_named_by_its_number_in_a_title():
    report = of_sections(
        ("What went wrong", "The planned boat trip was put off for lack of wind."),
        ("Plans for 2031", "• a second landing stage\n• paint for the boathouse\n• forty members"),
    )
    assert told("What are the plans for next year?", report)[0].startswith("• a second landing stage")


@pytest.mark.parametrize(
    ("title", "address", "question"),
    [
        ("Corner Library", "In May we moved to 12 Harbour Street, with more shelves.", "Where is the corner library?"),
        ("Stadtbad", "Seit Mai finden Sie uns in der Ufergasse 4, gleich neben der Post.", "Wo ist das Stadtbad?"),
    ],
)
def test_where_what_a_document_is_about_is_its_address_tells(title: str, address: str, question: str):
    language = "de" if "Wo" in question else "en"
    text = (
        f"{address} Our corner is warm. Das Stadtbad ist warm."
        if language == "de"
        else f"{address} Our corner is warm."
    )
    assert told(question, passage(text, title=title, language=language))[0].startswith(address)


def test_a_sentence_that_only_says_the_opposite_of_something_else_is_told_with_it():
    rules = passage("Fires of wood are not allowed on the beach. Gas stoves are. The beach is raked in May.")
    assert told("Are fires of wood allowed on the beach?", rules) == [
        "Fires of wood are not allowed on the beach. Gas stoves are."
    ]


def test_how_many_there_are_is_told_by_the_row_that_counts_them():
    report = passage(
        "Helpers gave 900 hours to the ferry. New helpers of the ferry get a coat within 3 days.\n\n"
        "Figures | 2029 | 2030\nActive helpers | 12 | 17\nTrips | 88 | 91"
    )
    first, *further = told("How many helpers are there?", report)
    assert first == "Figures: Active helpers; 2029: 12; 2030: 17" or first.startswith("Active helpers")
    assert len(further) <= 1


def test_of_what_is_counted_only_what_comes_near_the_best_is_told():
    source = passage(
        "The choir has 31 singers. The hall is heated with 2 stoves. A singer brings a cup of tea at 8 pm. "
        "The choir sings 4 masses. In 1990 the choir was given a banner."
    )
    assert told("How many singers does the choir have?", source)[0].startswith("The choir has 31 singers.")
    assert len(told("How many boats does the choir have?", source)) < 4


def test_a_list_below_the_question_that_is_asked_is_told_whole():
    faq = of_sections(
        (
            "Was ist untersagt?",
            "• Schuhe auf den Matten\n• Kaugummi\n• lautes Rufen im Saal\n\nDie Matten sind aus Kork.",
        )
    )
    faq = faq._replace(language="de", sections=())
    assert told("Was ist untersagt?", faq) == ["• Schuhe auf den Matten\n• Kaugummi\n• lautes Rufen im Saal"]


def test_a_title_that_asks_the_same_in_other_words_is_the_question():
    faq = of_sections(
        ("Kann ich Schlitten leihen?", "Ja, für 4 € am Tag. Schlittschuhe verleihen wir nicht."),
        ("Wo kann ich parken?", "Am Bahnhof, für 2 € am Tag."),
    )._replace(language="de")
    assert told("Kann man Schlitten ausleihen?", faq)[0].startswith("Ja, für 4 € am Tag.")


def test_a_word_for_the_document_s_own_thing_leaves_no_doubt_about_a_row():
    manual = passage(
        "Brisa 40\n\nPedestal fan · manual\n\nThank you for choosing the Brisa 40.", title="Brisa 40", char_start=0
    )
    data = passage("Data | Value\nWeight | 6.1 kg\nPower | 40 W", n=2, title="Brisa 40", char_start=900)
    data = data._replace(document_id=manual.document_id, score=1.0)
    told_of = extract("How heavy is the pedestal fan?", [data, manual])
    assert told_of.claims[0].text.endswith("6.1 kg")
    assert not told_of.may_be_others


@pytest.mark.parametrize("question", ["Wann findet Rudern statt?", "Wann hat das Rudern geöffnet?"])
def test_small_words_of_german_leave_no_doubt_about_a_row(question: str):
    table = passage("Kurs | Zeit\nRudern | Montag 9:00\nSegeln | Freitag 8:00", language="de", score=1.0)
    found = extract(question, [table])
    assert "Montag 9:00" in found.claims[0].text
    assert not found.may_be_others


def test_a_sentence_with_the_number_that_is_asked_for_is_not_doubted_for_a_table():
    source = passage("The mill received 8,412 visitors.\n\nVisitors | 2029\nChildren | 12\nAdults | 17", score=1.0)
    found = extract("How many visitors did the mill receive?", [source])
    assert found.claims[0].text == "The mill received 8,412 visitors."
    assert not found.may_be_others


def test_what_else_is_said_of_what_may_be_is_told_with_it():
    rules = passage("Fishing is not allowed from the bridge. It is allowed from the pier. Dogs may swim.")
    assert told("Is fishing allowed?", rules) == [
        "Fishing is not allowed from the bridge. It is allowed from the pier."
    ]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Which courses are there?", "en"),
        ("List all courses", "en"),
        ("What courses do you offer?", "en"),
        ("Welche Kurse gibt es?", "de"),
    ],
)
def test_all_things_of_a_kind_are_the_rows_of_the_table_that_lists_them(question: str, language: str):
    name, about = ("Course", "Courses fill up soon.") if language == "en" else ("Kurs", "Kurse sind schnell voll.")
    rows = "Rowing | Monday | £30\nSailing | Friday | £45\nDiving | Sunday | £90"
    table = f"What we teach\n\n{name} | Day | Fee\n{rows}\n\n{about}"
    found = extract(question, [passage(table, language=language)])
    assert [claim.text.split("; ")[0] for claim in found.claims] == [
        f"{name}: Rowing",
        f"{name}: Sailing",
        f"{name}: Diving",
    ]
    assert not found.may_be_others


@pytest.mark.parametrize(
    "question",
    [
        "Which courses are cheap?",
        "Which days are there?",
        "How many courses are there?",
        "What is in course A?",
        "What goes on in a course?",
    ],
)
def test_rows_are_not_all_that_is_asked_for_under_a_condition_or_of_a_kind_that_repeats(question: str):
    table = (
        "Course | Day | Fee\nRowing | Monday | £30\nSailing | Monday | £45\nDiving | Sunday | £90\n\nCourses fill up."
    )
    assert not extract(question, [passage(table)]).selected


def test_much_and_get_name_nothing():
    table = passage("Room | Thing | Number\nHall | Sets of keys | 3\nBath | Basin | 1\n\nSigned in May.", score=1.0)
    found = extract("How many sets of keys do I get?", [table])
    assert "Number: 3" in found.claims[0].text
    assert not found.may_be_others


def test_what_is_counted_in_german_is_told_alone():
    boat = passage("Das Boot hat sechs Ruder und 2 Masten. Das Boot liegt in Halle 3.", language="de")
    assert told("Wie viele Ruder hat das Boot?", boat) == ["Das Boot hat sechs Ruder und 2 Masten."]


def test_a_column_is_named_by_the_verb_that_its_name_comes_from():
    rows = "Pottery | Dev Shah | £90\nItalian | Ann Lee | £80\nGreek | Ann Lee | £70"
    table = passage(f"Term\n\nClass | Teacher | Price\n{rows}\n\nBye.")
    assert told("Which classes does Ann Lee teach?", table) == [
        "Class: Italian; Teacher: Ann Lee",
        "Class: Greek; Teacher: Ann Lee",
    ]


def test_how_much_something_may_cost_is_told_by_a_sum():
    source = passage("The pond is dug in May and is to be ready on 18 July. The pond has a budget of €24,000 at most.")
    assert told("How much may the pond cost?", source)[0].startswith("The pond has a budget of €24,000")


def test_where_a_french_museum_is_its_address_tells():
    guide = passage(
        "Au second étage se trouve la collection du musée. 12, quai des Meuniers, à dix minutes de la gare.",
        title="Musée du Blé",
        language="fr",
    )
    assert told("Où se trouve le musée ?", guide)[0].startswith("12, quai des Meuniers")


def test_what_something_is_may_be_told_behind_what_it_was_called():
    source = passage(
        "Marlo 3 is faster than Marlo 2. Marlo runs everywhere. Marlo, formerly called Pell, is a set of chart tools."
    )
    assert told("What is Marlo?", source)[0].startswith("Marlo, formerly called Pell, is a set of chart tools.")


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        (
            "Which edition was the first with maps?",
            "Sea Almanac 4 (2009): bound in blue cloth.\n\nThis edition had maps for the first time. It sold well.",
            "Sea Almanac 4 (2009): bound in blue cloth. This edition had maps",
        ),
        (
            "What does the outing cost?",
            "In May there is an outing to the salt mine. It costs about £40 with the bus. Bring a coat.",
            "In May there is an outing to the salt mine. It costs about £40 with the bus.",
        ),
    ],
)
def test_what_does_not_say_what_it_is_about_is_told_with_the_sentence_before(question: str, text: str, first: str):
    assert told(question, passage(text))[0].startswith(first)


def test_that_something_is_said_is_about_nothing_before():
    source = passage("The barn has three doors. It is also shown that the repair of the mill would cost £900.")
    assert told("What would the repair of the mill cost?", source)[0].startswith("It is also shown")


def test_a_year_counts_nothing():
    source = passage("A guide for members who join in March 2031 or later. Members pay in May.", score=1.0)
    found = extract("How many members are there?", [source])
    assert found.may_be_others
    counted = extract("How many visitors came?", [passage("The mill had 2010 visitors in the year.", score=1.0)])
    assert not counted.may_be_others


def test_rows_that_are_asked_for_by_a_plural_are_all_the_answer():
    rows = "A1 | Weaving | 1 | Ann Lee\nA2 | Dyeing | 2 | Bo Rask\nA3 | Felt | 3 | Ann Lee"
    source = passage(f"Code | Course | Term | Led by\n{rows}\n\nThe sheds are open daily.")
    claims = extract("Which courses does Ann Lee give?", [source]).claims
    assert [("Weaving" in each.text, "Felt" in each.text, each.further) for each in claims[:2]] == [
        (True, False, False),
        (False, True, False),
    ]


def test_a_row_is_named_by_the_name_behind_its_code():
    source = passage(
        "The course is worth 90 points in all.\n\nCode | Course | Term | Points\nA1 | Weaving | 1 | 20\n"
        "A2 | Final piece | 2 | 30\nA3 | Felt | 3 | 40"
    )
    assert "Points: 30" in told("How many points is the final piece worth?", source)[0]


def test_of_a_list_of_several_things_below_its_title_all_items_are_told():
    items = "• Plain Prints words alone. This is quick.\n• Mixed Prints both.\n• Fine Prints photographs. This is slow."
    source = of_sections(("Print styles", f"Say what is printed.\n\n{items}"), ("Ink", "Shake it first."))
    assert told("what print styles can i choose", source)[0].count("•") == 3


def test_who_does_something_is_told_by_a_name():
    source = passage(
        "Learners come to all lessons in weaving.\n\nCourse | Day | Led by\nWeaving | Monday | Ann Lee\n"
        "Dyeing | Friday | Bo Rask"
    )
    assert "Ann Lee" in told("Who leads weaving?", source)[0]


def test_an_auxiliary_is_no_need():
    source = passage("For absences a note is needed in advance. The pass mark is 40.")
    assert told("What do I need to pass?", source)[0].startswith("The pass mark is 40.")


def test_a_title_of_a_number_may_have_more_words_before_its_colon():
    source = passage(
        "Atlas 2 Heron (May 2001): bound in red. With Ann Lee as editor it had 40 maps.\n\n"
        "Atlas 3 Swift (June 2004): bound in blue. With Bo Rask as editor it had 60 maps."
    )
    assert "60 maps" in told("How many maps has Atlas 3?", source)[0]


def test_what_only_names_a_numbered_part_does_not_tell_of_it():
    source = passage(
        "3. Please refer to Annex 2 for the courses.\n\nAnnex 2\n\nCourse | Points\nWeaving | 20\nFelt | 40"
    )
    assert "Annex 2 for" not in told("Which courses are in Annex 2?", source)[0]


def test_a_numbered_thing_that_only_others_like_it_are_told_of_is_doubted():
    source = passage(
        "The Atlas 2 came out in May 2001. The Atlas 3 came out in June 2004. Our Ledger 5 has lines.", score=1.0
    )
    assert extract("When did the Atlas 5 come out?", [source]).may_be_others
    assert not extract("When did the Atlas 3 come out?", [source]).may_be_others


SEASONS = """Prices

Period | Price per night | Stay
1 March to 15 May | £95 | 3 nights
16 May to 30 September | £148 | 7 nights
20 December to 6 January | £175 | 5 nights

A dog costs £8 a night. The last cleaning costs £90."""


@pytest.mark.parametrize(
    ("question", "price"),
    [
        ("What does a night in July cost?", "£148"),
        ("How much is it on 24 December?", "£175"),
        ("What is the price on May 10?", "£95"),
    ],
)
def test_a_row_for_a_period_has_the_months_and_days_in_it(question: str, price: str):
    found = extract(question, [passage(SEASONS, score=1.0)])
    assert price in found.claims[0].text
    assert not found.may_be_others


def test_a_german_row_for_a_period_has_its_months():
    rows = "1. März bis 15. Mai | 95 €\n16. Mai bis 30. September | 148 €"
    table = passage(f"Preise\n\nZeitraum | Preis je Nacht\n{rows}\n\nEin Hund kostet 8 € je Nacht.", language="de")
    assert "148 €" in told("Was kostet eine Nacht im Juli?", table)[0]


def test_what_the_asker_must_do_is_not_what_the_other_party_must():
    lease = passage(
        "9.1 After a year the tenants may end the lease with one month's written notice. The landlord must give two "
        "months' notice."
    )
    assert told("How much notice do I have to give to move out?", lease)[0].startswith("9.1 After a year the tenants")


def test_how_deep_something_is_is_asked_in_spanish_for_a_number():
    pool = passage(
        "• Es obligatorio ducharse.\n• El gorro es obligatorio en la parte profunda de la piscina.\n\n"
        "El vaso mide 25 metros y tiene 2,10 metros de profundidad.",
        language="es",
    )
    assert "2,10 metros" in told("¿Cómo de profunda es la piscina?", pool)[0]


def test_how_long_something_takes_is_no_time_at_which_it_is():
    source = passage(
        "The course takes two years for those who pay by the term. The fee is to be paid in parts, on 1 May and 1 July."
    )
    assert told("When do I have to pay?", source)[0].startswith("The fee is to be paid")


def test_two_rows_that_a_question_compares_are_both_the_answer():
    table = passage(
        "Room | Seats | Half day | Whole day\nElm | 120 | £310 | £540\nOak | 40 | £95 | £170\nAsh | 16 | £45 | £80"
    )
    claims = extract("What is the difference in price between Elm and Oak for a whole day?", [table]).claims
    assert [each.text.partition(";")[0] for each in claims if not each.further] == ["Elm", "Oak"]


def test_a_label_that_ends_in_a_range_needs_no_unit_if_the_question_has_its_words():
    table = passage("Extra | Price\nPlates for up to 50 | £35\nPlates for up to 120 | £70\nScreen | £25\n\nBye.")
    assert told("How much are plates for 100 people?", table)[0] == "Extra: Plates for up to 120; Price: £70"
