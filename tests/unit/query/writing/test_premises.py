"""What a question takes for granted must be in the document that answers."""

import pytest

from functions.query.retrieval.passages import Passage
from functions.query.writing.generation import WritingRequest, WrittenAnswer
from functions.query.writing.premises import missing_words, names_what_is_missing
from shared.deadline import Deadline
from shared.models import PageStart
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.query import passage, written

STATION = passage(
    "The station has 12 rooms and a mess hall. The generator burns 40 litres of diesel a day. Erasure takes a week.",
    section="Living at the station",
    language="en",
    title="Skarvnes handbook",
    pages=(PageStart(4, 100, "iv"),),
)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How many wheels does the station have?", ["wheels"]),
        ("Which airline flies to the station?", ["airline"]),
        ("How many wheels does my generator have?", ["wheels"]),
        ("Is the toddler near the generator heated?", ["toddler"]),
        ("Is the zeppelin of the station 12 mi long?", ["zeppelin"]),
        ("How often are the tyres of the generator rotated?", ["tyres", "rotated"]),
    ],
)
def test_a_question_about_what_no_source_mentions_has_a_false_premise(question: str, missing: list[str]):
    assert [word for word in missing_words(question, [STATION]) if word in missing] == missing


@pytest.mark.parametrize(
    "question",
    [
        "How many rooms does the station have?",
        "What is the average number of litres per day?",
        "How long does it take to erase?",
        "Which percentage of the rooms is described in the handbook's chapter on living?",
        "How many litres does the genrator burn at Skarvnes?",
        "What is the minimun number of rooms?",
        "How many rooms are heated at 6 o'clock?",
        "How do I get onto the station?",
        r"What is $\overline{generator}$ on page 12 of X-1000/b?",
        "Kiek ratų turi stotis?",
        "My toddler spilt juice on the generator, is it heated?",
        "",
    ],
)
def test_words_of_asking_misspelt_words_and_other_languages_say_nothing_about_it(question: str):
    assert not missing_words(question, [STATION])


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How much money is in the till?", ["till"]),
        ("How long is the station heated till?", []),
    ],
)
def test_a_till_is_a_thing_behind_an_article_and_a_time_elsewhere(question: str, missing: list[str]):
    assert list(missing_words(question, [STATION])) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Is there internet at the station?", ["internet"]),
        ("Does the station have a shop?", ["shop"]),
        ("Does the station have any mess hall cook?", []),  # a part of it is there
        ("Are there rooms at the station?", []),
        ("Is there a fee for diesel?", []),  # what is said of diesel may tell
        ("When does the station have internet?", []),
        ("Where is the shop of the station?", []),  # a common word may be said otherwise
    ],
)
def test_what_is_nowhere_is_not_there_however_common_it_is(question: str, missing: list[str]):
    assert list(missing_words(question, [STATION._replace(title="Station handbook")])) == missing


MINUTES = passage(
    "Vote on the footbridge: 8 in favour, 1 abstention (Ms Brook). Payment of fees: in May.", language="en"
)


GATE = passage("The gate has a badge scanner. Parking is behind it. Fog comes from the sea.", language="en")


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Who abstained in the vote on the footbridge?", []),
        ("Are the fees payable in May?", []),
        ("Who resigned in the vote on the footbridge?", ["resigned"]),
    ],
)
def test_a_word_of_the_same_family_mentions_it(question: str, missing: list[str]):
    assert list(missing_words(question, [MINUTES])) == missing


MANAGER = passage(
    "Ada Moor is Chief Executive Officer of the station; its Board of Trade Records is in Skarvnes. It met in May.",
    language="en",
    title="Skarvnes handbook",
)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Who is the CEO of the station?", []),
        ("Who is the ceo of the station?", []),
        ("Who keeps the BTR of the station?", []),
        ("Who is the CFO of the station?", ["CFO"]),
        ("Who is the MIM of the station?", ["MIM"]),  # "met in May" begins with these letters
    ],
)
def test_what_a_short_form_stands_for_is_there_instead_of_it(question: str, missing: list[str]):
    assert list(missing_words(question, [MANAGER])) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("wat burns in the generator of the station?", []),
        ("Hwo burns diesel in the station?", []),
        ("Zxq burns diesel in the station?", ["Zxq"]),
        ("The station burns wat?", ["wat"]),
    ],
)
def test_a_misspelt_word_of_asking_need_not_be_there(question: str, missing: list[str]):
    assert list(missing_words(question, [STATION])) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("If a zeppelin burns near the generator, how many litres do I need?", []),
        ("We have toddlers in the mess hall, how many rooms are there?", []),
        ("How many litres do I need if a toddler burns diesel?", []),
        ("If a zeppelin lands, how many litres do I need?", ["zeppelin", "lands"]),
        ("If the generator burns, how many wheels are there?", ["wheels"]),
        ("If a zeppelin lands how many litres does the generator burn?", ["zeppelin", "lands"]),
    ],
)
def test_of_the_case_that_a_question_is_about_only_a_part_need_be_mentioned(question: str, missing: list[str]):
    assert list(missing_words(question, [STATION])) == missing


def test_a_missing_word_among_many_that_are_there_is_no_false_premise():
    long = "How many litres of diesel does the generator of the Skarvnes station with its mess hall burn, zealously?"
    assert not missing_words(long, [STATION])


def test_what_is_asked_for_may_not_be_missing_however_much_else_is_there():
    source = passage(
        "The generator of the Skarvnes lighthouse burns diesel in winter; its mechanic sleeps beside the workshop."
    )
    known = "does the mechanic of the lighthouse at Skarvnes burn diesel in the generator of the workshop in winter"
    assert not missing_words(f"Why {known} zealously in tuxedos?", [source])
    assert missing_words(f"Which tuxedos {known} in?", [source]) == ["tuxedos"]


def test_what_the_question_explains_after_it_is_not_missing():
    question = "What is the zorbax of the generator? Define zorbax as litres per room."
    assert not missing_words(question, [STATION])
    assert missing_words("What is the zorbax of the generator?", [STATION]) == ["zorbax"]
    assert missing_words("I have a zorbax. What is the zorbax of the generator?", [STATION]) == ["zorbax"]


def test_what_is_not_mentioned_is_named_with_the_nearest_place():
    question = "How many wheels does the station have?"
    request = WritingRequest(question, question, [STATION])
    settings = Settings(handoff_offer=False)
    answer = written(request, chat=None, settings=settings, deadline=Deadline(FakeClock(), 26.0))
    assert answer.refusal == "not_mentioned"
    assert answer.text == ("“Skarvnes handbook” comes closest (page 4, printed iv), but I did not find “wheels” in it.")
    assert not answer.citations


def test_where_another_document_lacks_a_word_the_best_passages_document_answers():
    question = "What is the balance of the ACME bank account?"
    statement = passage("ACME\n\nBalance: 18.20 EUR", n=1)
    manual = passage("The balance of a bank account is a balance of an account in a bank: the account balance.", n=2)
    settings, deadline = Settings(), Deadline(FakeClock(), 26.0)
    sources = [statement, manual]
    answer = written(WritingRequest(question, question, sources), chat=None, settings=settings, deadline=deadline)
    assert (answer.refusal, answer.text) == (None, "Balance: 18.20 EUR [1]")


@pytest.mark.parametrize(
    ("word", "held", "is_there"),
    [
        ("zorgle", "zorgla", True),  # two forms of a word differ in two letters at its end
        ("zorgle", "zorg", False),
        ("zorgl", "zorglx", True),
        ("zorgw", "zorgx", True),
        ("abcdef", "abcdxy", True),
        ("abcdef", "abcxyz", False),
        ("abcde", "abcxy", False),
        ("abcd", "abcx", False),  # they have five letters at least
        ("erasure", "erase", True),
        ("zoxgwum", "zorgwum", True),  # misspelt: of seven letters six are right
        ("zoxgwu", "zorgwu", False),  # of six five
        ("xorgwump", "zorgwump", False),  # the first two are
        ("zogwumpetta", "zorgwumpetta", True),
        ("zorgle", "zorgle5", True),
        ("zorgle", "zorglewumpet", True),
        ("wumpet", "zorglewumpet", False),
        ("ab", "x", True),  # too short to be looked for
        ("abc", "x", False),
    ],
)
def test_a_word_is_there_in_another_form_or_spelling(word: str, held: str, is_there: bool):
    found = missing_words(f"Where is the {word} of the boat?", [passage(f"The boat is blue: {held}.", language="en")])
    assert list(found) == ([] if is_there else [word])


# --- answers that are doubtful ---

TIMES = passage(
    "A day ticket costs 7.50 euros. Dogs need a child's ticket. The bus leaves Ashby at 8:15.",
    language="en",
    title="Timetable",
)
KITA = passage(
    "Die Kita öffnet um sieben Uhr. Das Mittagessen kostet 4 Euro. Geschwisterkinder zahlen die Hälfte.",
    language="de",
    title="Rundbrief",
)


@pytest.mark.parametrize(
    ("question", "source", "is_doubtful"),
    [
        ("How much is a first class ticket?", TIMES, True),
        ("What does a ticket for a cat cost?", TIMES, True),
        ("How much is a day ticket?", TIMES, False),
        ("How often does the bus leave?", TIMES, False),
        ("What does a ticket for a dog cost?", TIMES, False),
        ("When does the bus to Ashby leave, and what does a ticket for a dog and a child cost by day?", TIMES, False),
        ("Gibt es in der Kita einen Hund?", KITA, True),
        ("Was kostet das Essen in der Kita?", KITA, False),  # a part of a longer word there
        ("Was zahlen Geschwister in der Kita?", KITA, False),
        ("Hunde?", KITA, False),  # the first word has a capital whatever it is
        ("¿Hay un perro en el autobús?", TIMES, False),  # neither its words nor its nouns are known
    ],
)
def test_an_answer_is_doubtful_where_much_of_what_the_question_names_is_missing(
    question: str, source: Passage, is_doubtful: bool
):
    assert names_what_is_missing(question, [source]) is is_doubtful


def test_a_doubtful_answer_is_given_and_marked():
    def answered(question: str) -> WrittenAnswer:
        request, deadline = WritingRequest(question, question, [TIMES]), Deadline(FakeClock(), 26)
        return written(request, chat=None, settings=Settings(), deadline=deadline)

    first, day = answered("How much is a first class ticket?"), answered("How much is a day ticket?")
    assert (first.refusal, first.doubtful) == (None, True)
    assert (day.refusal, day.doubtful) == (None, False)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Does the gate have a badge reader?", []),
        ("Does the gate have a badge-reader?", []),
        ("Does the gate have a retina reader?", ["retina", "reader"]),
        ("Is the reader behind the gate?", ["reader"]),
    ],
)
def test_behind_the_word_that_tells_which_another_word_may_stand(question: str, missing: list[str]):
    assert list(missing_words(question, [GATE])) == missing


HIRE = passage("Bikes are hired by the day. EMUI12.0 is installed.", language="en", title="Bike hire")


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the EMUI version?", []),
        ("What is the MIUI version?", ["MIUI"]),
    ],
)
def test_a_name_is_there_before_a_number(question: str, missing: list[str]):
    assert list(missing_words(question, [HIRE])) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Which bikes can I hire for 14 euros?", []),
        ("Which bikes can I hire for under 15 euros?", []),
        ("Which bikes cost 10 euros or more?", []),
        ("Which bikes can I hire for 15 euros?", ["euros"]),
        ("Which bikes can I hire for under 15 crowns?", ["crowns"]),
        ("Which bikes can I hire for under 15 pounds?", ["pounds"]),
        ("How many euros is the motor?", ["euros"]),
        ("Which motor has 250 watts?", []),
        ("Which motor has more than 200 watts?", []),
        ("Which motor has 500 watts?", ["watts"]),
        ("Which motor has 250 litres?", ["litres"]),
    ],
)
def test_a_currency_or_unit_is_there_by_its_figure_or_one_to_compare_it_with(question: str, missing: list[str]):
    hire = passage("Bikes are hired by the day for €14. The motor has 250 W.", language="en", title="Bike hire")
    assert list(missing_words(question, [hire])) == missing


def test_pounds_are_a_currency_and_a_weight():
    hire = passage("Bikes are hired by the day for £14.", language="en", title="Bike hire")
    assert not missing_words("Which bikes can I hire for under 15 pounds?", [hire])
    assert "pounds" in missing_words("How many pounds may bikes weigh?", [hire])
    assert "pounds" in missing_words("Which bikes weigh 14 pounds or less?", [hire])
    heavy = passage("Bikes weigh 30 lb each.", language="en", title="Bike hire")
    assert not missing_words("Which bikes weigh 30 pounds?", [heavy])
