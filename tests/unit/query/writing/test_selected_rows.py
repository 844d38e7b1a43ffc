"""A question for all that meet a condition, or two, gets all rows that do, and none where that is not certain."""

import pytest

from functions.query.writing.extractive import extract
from functions.query.writing.selected_rows import are_rows_asked_for, asks_which, selected_rows, tables_needed
from tests.support.query import passage

MENU = """Ostrava Buffet: what our dishes contain

Dish | Gluten | Milk | Sesame | Price €
Seeded toast | x | | x | 8.50
Lentil soup | | | | 6.90
Cheese plate | x | x | | 12.00
Falafel bowl | | | x | 11.50

Open every day."""
TRAINS = """Line 9

Train | From | To | Departs | Stops at | Runs
K1 | Alder | Quill | 06:10 | Novena, Birch | daily
K3 | Alder | Quill | 07:40 | Birch | Mon–Fri
K5 | Alder | Moss | 08:05 | Novena | Saturday
K7 | Quill | Alder | 09:15 | Novena | Sunday

Bicycles are carried."""
VOTE = """The new skate park

Member | Party | Vote
Adey | Green | for
Brand | Labour | against
Corri | Green | against
Dunne | Independent | abstained

The motion was lost."""
PRESENT = """Attendance

Name | Attendance
Cllr Jess | absent
Cllr Iqba | present
Cllr Kowa | absent

Minutes by the clerk."""
ROOMS = """Rooms

Room | Seats | Projector | Area m² | Price per hour
Elm | 12 | yes | 24 | €15.00
Oak | 40 | yes | 80 | €45.00
Ash | 8 | no | 16 | €10.00

Book at the desk."""
CODES = """Recipes. Allergens are marked: (G) gluten, (M) milk, (S) sesame.

Dish | Allergens | Time
Soup | G | 55 min
Tagine | none | 2 h
Flatbread | G, S | 90 min
Crumble | G, M | 50 min

Serve hot."""
BIKES = """Bike hire

Bicycle | Half day | 1 day | 3 days | Deposit
Adults
City bike | €9 | €14 | €36 | €50
Mountain bike | €16 | €24 | €63 | €150
Cargo bike | €30 | €48 | on request | €500
Children
Small bike | €5 | €8 | €20 | none
Big bike | €7 | €10 | €26 | €30

Open daily."""


def told(question: str, text: str, *, ends: bool = False) -> list[str]:
    return [row.text for row in selected_rows(question, [passage(text, table_ends=ends)])]


@pytest.mark.parametrize(
    ("question", "text", "rows"),
    [
        ("Which dishes contain sesame?", MENU, "Dish: Seeded toast; Sesame: x / Dish: Falafel bowl; Sesame: x"),
        ("Which dishes do not contain gluten?", MENU, "Dish: Lentil soup; Gluten: – / Dish: Falafel bowl; Gluten: –"),
        ("What dishes don't contain gluten?", MENU, "Dish: Lentil soup; Gluten: – / Dish: Falafel bowl; Gluten: –"),
        ("What costs less than 8 euros?", MENU, "Dish: Lentil soup; Price €: 6.90"),
        ("Which dishes cost no more than 6.90 €?", MENU, "Dish: Lentil soup; Price €: 6.90"),
        ("Which trains stop at Birch?", TRAINS, "Train: K1; Stops at: Novena, Birch / Train: K3; Stops at: Birch"),
        ("Which trains depart before 8:00?", TRAINS, "Train: K1; Departs: 06:10 / Train: K3; Departs: 07:40"),
        ("Which trains go to Alder?", TRAINS, "Train: K7; To: Alder"),
        ("Which members voted against?", VOTE, "Member: Brand; Vote: against / Member: Corri; Vote: against"),
        ("Who voted against the skate park?", VOTE, "Member: Brand; Vote: against / Member: Corri; Vote: against"),
        ("Who voted for?", VOTE, "Member: Adey; Vote: for"),
        ("Who is absent?", PRESENT, "Name: Cllr Jess; Attendance: absent / Name: Cllr Kowa; Attendance: absent"),
        ("Which rooms have at least 12 seats?", ROOMS, "Room: Elm; Seats: 12 / Room: Oak; Seats: 40"),
        ("Which rooms are larger than 20 m²?", ROOMS, "Room: Elm; Area m²: 24 / Room: Oak; Area m²: 80"),
        ("Which rooms have no projector?", ROOMS, "Room: Ash; Projector: no"),
        ("Which dishes contain sesame?", CODES, "Dish: Flatbread; Allergens: G, S"),
        ("Which dish has no allergens?", CODES, "Dish: Tagine; Allergens: none"),
    ],
)
def test_all_rows_that_meet_the_condition_are_told_with_what_they_are_and_how(
    question: str, text: str, rows: str
) -> None:
    assert " / ".join(told(question, text)) == rows


@pytest.mark.parametrize(
    ("question", "text"),
    [
        # Words that are not accounted for may set another condition, or turn it round.
        ("Which dishes can I eat if I am allergic to milk?", MENU),
        ("Which dishes lack sesame?", MENU),
        ("Which dishes are free from gluten?", MENU),
        ("Which desserts contain milk?", MENU),
        ("Which rooms have a working projector?", ROOMS),
        ("Which rooms cost less than 20 euros per day?", ROOMS),
        ("Who voted against the library?", VOTE),
        # Conditions that are not two, or may deny one thing or two.
        ("Which dishes contain gluten or milk?", MENU),
        ("Which dishes contain only gluten?", MENU),
        ("Which dishes contain no gluten and milk?", MENU),
        ("Which dishes contain gluten and nuts?", MENU),
        # A limit in another unit, or of nothing that the table has.
        ("Which dishes cost less than 10 dollars?", MENU),
        ("Which rooms have more than 2 beds?", ROOMS),
        ("Which rooms are over 30?", ROOMS),
        ("Which bikes cost over 60?", BIKES),
        ("Which bikes can I rent for three days or more?", BIKES),
        ("Which bikes can I not rent for 20 euros or more a day?", BIKES),
        ("Which bikes cost 14 or 24 euros a day?", BIKES),
        ("Which bikes cost less than 10 euros or more than 30 a day?", BIKES),
        # Cells that may mean more than they say, and a negation of words.
        ("Which trains run on Sunday?", TRAINS),
        ("Who was not present?", PRESENT),
        # No question for all of a kind.
        ("Which dish is the cheapest?", MENU),
        ("What is the price of the soup?", MENU),
        ("Who is the member of the Labour party?", VOTE),
    ],
)
def test_nothing_is_selected_where_a_word_of_the_question_is_not_accounted_for(question: str, text: str) -> None:
    assert told(question, text) == []


def test_marks_of_another_meaning_are_not_told() -> None:
    question = "Which dishes contain sesame?"
    assert told(question, MENU.replace("what our dishes contain", "free from allergens")) == []
    assert told(question, MENU.replace("Open every day.", "x = left out on request")) == []
    assert len(told(question, MENU.replace("Open every day.", "x = contains"))) == 2
    assert told("Which dishes contain milk?", MENU.replace("x | x | | 12.00", "x | (x) | | 12.00")) == []


def test_the_heading_of_several_things_names_none_of_them() -> None:
    text = MENU.replace("Ostrava Buffet: what our dishes contain", "Lunch and dinner dishes")
    assert told("Which lunch dishes contain milk?", text) == []
    assert told("Which dishes contain milk?", text) == ["Dish: Cheese plate; Milk: x"]


def test_a_table_that_may_go_on_is_no_list() -> None:
    question = "Which dishes contain sesame?"
    cut = MENU.partition("\n\nOpen")[0]
    rows = "Sesame roll | x | | x | 2.10\nRice bowl | | | | 7.00"
    rest = passage(rows, n=2, table="Dish | Gluten | Milk | Sesame | Price €", char_start=len(cut) + 1)
    assert told(question, cut) == []
    assert selected_rows(question, [passage(cut), rest]) == ()
    assert len(told(question, cut, ends=True)) == 2
    assert len(told(question, f"{cut}\n{rows}\n\nOpen every day.")) == 3
    assert told(question, f"{cut}\n\nPage 2\n\n{rows}\n\nOpen every day.") == []


def test_a_table_that_goes_on_overleaf_below_its_names_is_one() -> None:
    cut = MENU.partition("\n\nOpen")[0]
    text = "Dish | Gluten | Milk | Sesame | Price €\nSesame roll | x | | x | 2.10\nRice bowl | | | | 7.00\n\nEnd."
    first = passage(cut, document_id="d")
    rest = passage(text, document_id="d", char_start=first.char_end + 1)
    question = "Which dishes contain sesame?"
    assert selected_rows(question, [rest]) == selected_rows(question, [first]) == ()
    assert [row.text for row in selected_rows(question, [rest, first])] == [
        "Dish: Seeded toast; Sesame: x",
        "Dish: Falafel bowl; Sesame: x",
        "Dish: Sesame roll; Sesame: x",
    ]


def test_tables_that_both_fit_and_are_not_alike_are_not_told() -> None:
    other = MENU + "\n\nDish | Sesame | Page\nSesame tart | x | 3\nPlain tart | | 4\n\nEnd."
    assert told("Which dishes contain sesame?", other) == []


def test_each_row_is_a_claim_that_cites_it() -> None:
    found = extract("Which dishes contain sesame?", [passage(MENU)])
    assert [claim.text for claim in found.claims] == ["Dish: Seeded toast; Sesame: x", "Dish: Falafel bowl; Sesame: x"]
    assert [claim.references[0].quote for claim in found.claims] == [
        "Seeded toast | x | | x | 8.50",
        "Falafel bowl | | | x | 11.50",
    ]
    assert (found.rows, found.selected) == (2, True)


def test_a_label_that_is_a_bare_number_is_told_with_its_whole_row() -> None:
    text = "Order\n\nPos. | Item | Qty | VAT %\n1 | Rope | 20 | 20\n2 | Handbook | 4 | 0\n3 | Paint | 6 | 20\n\nThanks."
    assert told("Which items carry no VAT?", text) == ["Pos.: 2; Item: Handbook; Qty: 4; VAT %: 0"]


CARS = "Car hire\n\nCar | Price per day (€) | Seats\nPolo | 29 | 4\nGolf | 41 | 5\nPassat | 63 | 5\n\nFuel is extra."
FREEZERS = "Storage\n\nFreezer | Temperature (°C) | Rank\nA | -18 | 1\nB | -25 | 2\nC | -5 | 4\n\nEnd."
HUTS = "Huts\n\nHut | Beds free in April | May\nAlm | 2 | 4\nBach | 5 | 1\n\nEnd."
FLATS = "Flats to let\n\nFlat | Rooms | Deposit\nA | 2 | £900\nB | 3 | £1,200\n\nEnd."
HOUSES = "Houses for sale\n\nHouse | Price\nElm | £190,000\nOak | £310,000\n\nEnd."
SHOPS = "Shops\n\nShop | Opens | Closes\nBaker | 07:00 | 18:00\nGrocer | 09:00 | 21:00\n\nEnd."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which cars can I hire for 30 days or more?", CARS),
        ("Which cars can I hire for over 3 days?", CARS),
        ("Which cars can I buy for under 50 euros?", CARS),
        ("Which huts can I book after 3 May?", HUTS),
        ("Which flats can I rent for £1,000 or less?", FLATS),
        ("Which flats have a rent under £1,000?", FLATS),
        ("Which houses can I rent for under £300,000?", HOUSES),
        ("Which houses cost over £20k?", HOUSES),
        ("Which houses cost £1 million or less?", HOUSES),
        ("How many cars can I rent for under 50 euros?", CARS),
        ("Which shops are open after 18:00?", SHOPS),
        ("Which freezers have a rank of 2 or higher?", FREEZERS),
    ],
)
def test_a_limit_of_something_else_selects_nothing(question: str, text: str) -> None:
    assert told(question, text) == []


@pytest.mark.parametrize(
    ("question", "text", "labels"),
    [
        ("Which cars can I rent for under 50 euros per day?", CARS, "Polo|Golf"),
        ("Which houses can I buy for under £300,000?", HOUSES, "Elm"),
        ("Which freezers have a temperature of -18 or lower?", FREEZERS, "A|B"),
        ("Which freezers have a temperature below -18?", FREEZERS, "B"),
        ("Which flats have a deposit of £1,000 or more?", FLATS, "B"),
    ],
)
def test_limits_of_prices_and_below_nothing(question: str, text: str, labels: str) -> None:
    assert [row.partition(";")[0].rpartition(": ")[2] for row in told(question, text)] == labels.split("|")


# --- What a reader with fresh eyes found ------------------------------------------------------------------------------

CROSSES = """Meals on board

Meal | Nuts | Milk
Bean salad | x | x
Pasta bake | x | –
Almond tart | – | –

{}"""
FREE_OF = """Canteen menu

Dish | {} | Price €
Pea stew | gluten, milk | 4.50
Chicken curry | gluten | 6.20
Fish pie | – | 5.80

Open every day."""
CAKES = """Cakes for the school fair

Cake | Egg | Hazelnut
Marble cake | x |
Apple cake | no | no
Rice bars | | x

Thank you all."""


@pytest.mark.parametrize(
    "legend",
    [
        "A cross shows that the meal can be eaten by people with an allergy to it.",
        "Fields are ticked where the meal is free of it.",
        "Ein Kreuz bedeutet: frei davon.", "Une croix : sans.", "Where a field is empty, ask us.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("question", ["Which meals contain nuts?", "Which meals contain no nuts?"])
def test_marks_of_which_the_text_speaks_are_not_read(question: str, legend: str) -> None:
    assert told(question, CROSSES.format("Enjoy your flight.")) != []
    assert told(question, CROSSES.format(legend)) == []


@pytest.mark.parametrize("name", ["Free of", "Without", "Frei von", "Suitable for"])
def test_a_column_of_what_is_not_in_it_answers_no_question_for_what_is(name: str) -> None:
    assert told("Which dishes contain milk?", FREE_OF.format("Contains")) == ["Dish: Pea stew; Contains: gluten, milk"]
    assert told("Which dishes contain milk?", FREE_OF.format(name)) == []


def test_empty_cells_beside_some_that_say_no_are_unknown() -> None:
    assert told("Which cakes contain no hazelnut?", CAKES) == []
    assert told("Which cakes contain hazelnut?", CAKES) == ["Cake: Rice bars; Hazelnut: x"]


def test_names_that_hold_the_word_leave_a_value_unclear() -> None:
    breads = MENU.partition("Dish |")[0] + "Bread | Contains\nRye | sesame\nStollen | nuts\nPlait | {}\n\nOpen."
    assert told("Which breads contain nuts?", breads.format("milk")) == ["Bread: Stollen; Contains: nuts"]
    assert told("Which breads contain nuts?", breads.format("hazelnuts")) == []


@pytest.mark.parametrize(
    ("further", "is_told"),
    [
        ("Pho soup | – | –\nSpring roll | x | –", True),
        ("Pho soup | – | –\nSpring roll | – | –", True),  # clearly none
        ("Pho soup | (x) | –\nSpring roll | x | –", False),
        ("Pho soup | x (sauce) | –\nSpring roll | x | –", False),
        ("Pho soup | x\nSpring roll | x | –", False),  # a row that cannot be read
    ],
)
def test_a_second_part_of_the_table_that_is_unclear_leaves_the_list_open(further: str, *, is_told: bool) -> None:
    second = f"Desserts\n\nMeal | Nuts | Milk\n{further}\n\nEnjoy."
    assert bool(told("Which meals contain nuts?", f"{CROSSES.format('')}\n{second}")) is is_told


def test_the_votes_of_two_motions_are_no_list() -> None:
    two = f"{VOTE}\n\nAmendment of the skate park\n\n{VOTE.partition(chr(10) * 2)[2]}"
    assert told("Who voted against the skate park?", two) == []


@pytest.mark.parametrize(
    "question", ["Which projector rooms cost less than 20 euros?", "Which projector rooms have 8 seats?"]
)
def test_a_column_of_marks_named_before_what_is_asked_for_is_a_second_condition(question: str) -> None:
    assert told(question, ROOMS) == []


def test_weekdays_may_be_any_day() -> None:
    assert told("Which trains run on Saturday?", TRAINS.replace("daily", "Friday").replace("Mon–Fri", "Monday")) != []
    assert told("Which trains run on Saturday?", TRAINS.replace("daily", "weekdays").replace("Mon–Fri", "Monday")) == []


ROOFS = """Solar roofs

Site | Roof m² | Roof needs work
Reims | 14,200 | no
Zwolle | 11,500 | yes

By the team."""


def test_a_word_that_another_column_has_too_is_what_is_asked_for() -> None:
    assert told("Which roofs need work?", ROOFS) == ["Site: Zwolle; Roof m²: 11,500; Roof needs work: yes"]


def test_what_is_said_above_a_table_of_other_things_denies_no_value() -> None:
    assert told("Which dishes contain sesame?", CODES.replace("Recipes.", "Ovens without a fan are hotter.")) != []


def test_a_code_stands_in_other_words_by_chance() -> None:
    assert told("Which dishes contain sesame?", CODES.replace("Tagine | none", "Tagine | less, none")) != []


# --- What a second reader found ---------------------------------------------------------------------------------------

HOTEL = """Rooms

Room | Type | Beds | Balcony | Sea view
101 | Double | 2 | No | No
201 | Double | 2 | Yes | Yes
202 | Twin | 2 | Yes | No
301 | Family | 4 | Yes | Yes
302 | Double | 2 | No | Yes

Breakfast is from seven."""
CLUB = """Subscriptions

Category | Yearly fee | May vote | May book at weekends
Adult | £240 | Yes | Yes
Student | £110 | Yes | No
Junior | £75 | No | No
Senior | £165 | Yes | Yes

Pay by March."""
ROTA = """Rota

Name | Mon 4 | Tue 5 | Wed 6
Amira | E | E | –
Bogdan | L | N | L
Chloe | N | – | N

E = early; L = late; N = night.

On call

Day | First | Second
Monday | Dev | Gosia
Tuesday | Bogdan | Gosia
Wednesday | Amira | Chloe"""
VOTES = """Record of votes

Councillor | Item 34 | Item 35
Adeyemi | For | Against
Bexley | Against | For
Corrigan | For | –

The meeting closed."""


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Which rooms have both a balcony and a sea view?", HOTEL, "201|301"),
        ("Which rooms have a balcony but no sea view?", HOTEL, "202"),
        ("Which rooms with a sea view have no balcony?", HOTEL, "302"),
        ("Which doubles have a sea view?", HOTEL, "201|302"),
        ("Which rooms have more than three beds?", HOTEL, "301"),
        ("Who may vote but not book at weekends?", CLUB, "Student"),
        ("Which Green members voted against?", VOTE, "Corri"),
        ("Which dishes contain gluten and milk?", MENU, "Cheese plate"),
        ("Which bikes cost between 10 and 20 euros for 1 day?", BIKES, "City bike|Big bike"),
        ("Which bikes cost more than €30 a day?", BIKES, "Cargo bike"),
        ("Which adult bikes cost at most €24 a day?", BIKES, "City bike|Mountain bike"),
        ("Which bikes have a deposit of less than 40 euros?", BIKES, "Small bike|Big bike"),
        ("Which bikes need a deposit of 50 euros or less?", BIKES, "City bike|Small bike|Big bike"),
        ("Which bikes need a deposit of €150 or more?", BIKES, "Mountain bike|Cargo bike"),
        ("Which bikes can I rent for under 15 euros per day?", BIKES, "City bike|Small bike|Big bike"),
        ("Which bikes have a deposit over 60?", BIKES, "Mountain bike|Cargo bike"),
        ("Welche bikes haben Deposit 30 € oder weniger?", BIKES, "Small bike|Big bike"),
        ("Who is on nights on Monday?", ROTA, "Chloe"),
        ("Who works late on Wednesday?", ROTA, "Bogdan"),
        ("Who voted for item 35?", VOTES, "Bexley"),
        ("Who voted against item 34?", VOTES, "Bexley"),
    ],
)
def test_two_conditions_groups_and_abbreviated_names(question: str, text: str, expected: str) -> None:
    labels = [row.partition(";")[0].rpartition(": ")[2] for row in told(question, text)]
    assert labels == expected.split("|")


@pytest.mark.parametrize(
    "legend",
    [
        "A cross means that the meal contains it. An empty field means that it does not.",
        "Ein Kreuz bedeutet: enthalten.",
    ],
)
def test_a_legend_that_says_what_is_plain_leaves_nothing_open(legend: str) -> None:
    assert told("Which meals contain nuts?", CROSSES.format(legend)) == [
        "Meal: Bean salad; Nuts: x",
        "Meal: Pasta bake; Nuts: x",
    ]


def test_what_suits_somebody_is_not_what_something_contains() -> None:
    text = CROSSES.format("Enjoy.").replace("Meals on board", "Suitable meals").replace("Nuts", "Vegans")
    assert len(told("Which meals are suitable for vegans?", text)) == 2
    assert told("Which meals contain vegans?", text) == []


def test_nobody_is_asked_for_by_the_name_of_a_day() -> None:
    assert told("Who works on Tuesday?", ROTA.partition("On call")[2].strip() + "\n\nEnd.") == []


@pytest.mark.parametrize(
    ("question", "text", "nearest"),
    [
        ("Which bikes cost more than €100 for 1 day?", BIKES, "Cargo bike; 1 day: €48"),
        ("Which dishes cost less than 5 euros?", MENU, "Dish: Lentil soup; Price €: 6.90"),
        ("Which bikes cost more than €100 for 3 days?", BIKES, None),  # one is on request
    ],
)
def test_where_no_row_meets_a_limit_the_nearest_is_told(question: str, text: str, nearest: str | None) -> None:
    rows = selected_rows(question, [passage(text)])
    assert [(row.text, row.is_nearest) for row in rows] == ([(nearest, True)] if nearest else [])


def test_what_only_the_title_calls_so_is_something_else() -> None:
    extras = "Extras\n\nItem | Per day\nTrailer | €9\nChild seat | €4\nLock | €2\n\nEnd."
    assert told("Which bikes cost more than €5 a day?", f"{BIKES}\n\n{extras}")[0].startswith("City bike")


SYSTEMS = """Requirements

System | Desktop app | Users
Windows 10 | yes | 100
Linux | no | 50
macOS 14 | yes | 20

Ask the office."""


def test_a_column_called_system_is_not_told_as_if_somebody_spoke():
    rows = ["Windows 10; Desktop app: yes", "macOS 14; Desktop app: yes"]
    assert told("Which systems have a desktop app?", SYSTEMS) == rows
    assert [claim.text for claim in extract("Which systems have a desktop app?", [passage(SYSTEMS)]).claims] == rows


def test_a_row_whose_label_is_what_is_asked_for_is_told_whole():
    text = "Editions\n\nFunction | Basic | Team\nSingle sign-on | no | yes\nReports | yes | yes\n\nAsk us."
    assert told("Which function is single sign-on?", text) == ["Function: Single sign-on; Basic: no; Team: yes"]


def test_the_column_that_a_question_names_is_meant():
    rota = f"Rota from Monday to Wednesday\n\n{ROTA.partition(chr(10) * 2)[2]}"
    assert told("Who is on late on Wednesday?", rota) == ["Name: Bogdan; Wed 6: L"]


@pytest.mark.parametrize(
    ("question", "text", "count"),
    [
        ("How many dishes contain sesame?", MENU, 2),
        ("How many rooms have a balcony?", HOTEL, 3),
        ("How many people voted against the skate park?", VOTE, 2),
        ("How many of the bikes cost more than 20 euros for 1 day?", BIKES, 2),
        ("How many beds does room 301 have?", HOTEL, 0),
        ("How many seats has Elm?", ROOMS, 0),
        ("How many dishes cost more than 90 euros?", MENU, 0),
    ],
)
def test_rows_are_counted_where_rows_are_what_is_asked_for(question: str, text: str, count: int):
    assert len(told(question, text)) == count


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Which rooms are quiet?", HOTEL, True),
        ("How many rooms are quiet?", HOTEL, True),
        ("Which doubles are quiet?", HOTEL, True),
        ("Who is tired on Friday?", ROTA, True),
        ("Which guests are quiet?", HOTEL, False),
        ("When is breakfast?", HOTEL, False),
        ("Was the room cleaned?", HOTEL, False),
    ],
)
def test_a_question_may_ask_for_rows_though_none_can_be_selected(question: str, text: str, *, expected: bool):
    source = passage(text)
    assert are_rows_asked_for(question, [source], source.document_id) is expected


def test_a_sentence_is_no_list_of_rows():
    text = HOTEL.replace("Breakfast is from seven.", "Quiet is kept in all rooms from ten. Bicycles stand in the yard.")
    assert extract("Which rooms are quiet?", [passage(text)]).may_be_others
    assert not extract("Where do bicycles stand?", [passage(text)]).may_be_others


# --- how it is asked ---


@pytest.mark.parametrize(
    "question",
    [
        "Which dishes contain sesame?",
        "Who is absent?",
        "What costs less than 10 euros?",
        "which rooms have at least 12 seats",
        "Welche Gerichte enthalten Milch?",
        "Quels cours ont lieu le mardi ?",
    ],
)
def test_a_question_for_all_of_a_kind(question: str) -> None:
    assert asks_which(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of the soup?",
        "Who is the treasurer?",
        "Was ist die Kernzeit?",
        "Which dish has the most gluten?",
        "Which dishes contain milk or eggs?",
        "How many dishes contain milk?",
        "Which of the dishes that we had at the long table by the window last summer contain sesame?",
    ],
)
def test_a_question_for_one_thing_or_with_more_conditions(question: str) -> None:
    assert not asks_which(question)


@pytest.mark.parametrize(
    ("question", "tables"),
    [
        ("Which rooms have a balcony?", "whole"),
        ("How many rooms have a balcony?", "whole"),
        ("Which room has the most seats?", "whole"),
        ("How many common operations does each role or policy support?", "begun"),
        ("What is the maximum load?", ""),
        ("Where is the office?", ""),
    ],
)
def test_tables_are_needed_whole_where_a_missing_row_would_change_the_answer(question: str, tables: str):
    assert tables_needed(question) == tables
