"""Sentence borders in text as PDFs give it, and the names of a table's columns, which are told from data."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.abbreviations import is_abbreviated
from shared.text import (
    MAX_NAME_CHARACTERS,
    are_numbered,
    begins_with_title,
    column_names,
    counted,
    header_at,
    is_field,
    is_header,
    is_heading,
    quoted_in,
    row_cells,
    sentence_spans,
    table_head,
    with_fragments_joined,
    without_measure,
)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith paid 3.5 million. He left.", ["Dr. Smith paid 3.5 million.", "He left."]),
        ("See Fig. 3 and e.g. No. 4. Done.", ["See Fig. 3 and e.g. No. 4.", "Done."]),
        ("The U.S. Treasury paid. J. R. Tolkien wrote.", ["The U.S. Treasury paid.", "J. R. Tolkien wrote."]),
        ("“Yes.” She left (at ten.) Then it rained…", ["“Yes.”", "She left (at ten.)", "Then it rained…"]),
        ("Heading\n\nText here.", ["Heading", "Text here."]),
        ("Items:\n- one\n- two\n3) three", ["Items:", "- one", "- two", "3) three"]),
        ("Do this:\n1. Wait.\n2. Go on.", ["Do this:", "1. Wait.", "2. Go on."]),
        ("• 1. Wait.\n• 2. Go on.", ["• 1. Wait.", "• 2. Go on."]),
        ("Do this: 1. Wait. 2. Go on.", ["Do this:", "1. Wait.", "2. Go on."]),
        ("Other duties (max. 20 hours, min. 2). Done.", ["Other duties (max. 20 hours, min. 2).", "Done."]),
        ("It takes 30 min. Then stop.", ["It takes 30 min.", "Then stop."]),
        ("一。二！", ["一。", "二！"]),
        ("no borders at all", ["no borders at all"]),
        ("It draws 1.5 kW. (See page 3.) Done.", ["It draws 1.5 kW.", "(See page 3.)", "Done."]),
        ("J. Smith of Acme Inc. Paris signed.", ["J. Smith of Acme Inc. Paris signed."]),
        ("Žalia šviesa dega. Ąžuolas auga.", ["Žalia šviesa dega.", "Ąžuolas auga."]),
        ("", []),
        # German writes what counts with a full stop: before a month, or behind an article and before a noun.
        ("Am 3. April ist zu. Dann nicht.", ["Am 3. April ist zu.", "Dann nicht."]),
        (
            "Vom 30. Juni bis 5. August 2027, Montag, 9. August.",
            ["Vom 30. Juni bis 5. August 2027, Montag, 9. August."],
        ),
        ("Am 03. 05. 2027 ist zu.", ["Am 03. 05. 2027 ist zu."]),
        ("Im 1. Stock tagt die 3. Klasse zum 15. Mal.", ["Im 1. Stock tagt die 3. Klasse zum 15. Mal."]),
        ("Im II. Quartal. Im XX. Jahrhundert.", ["Im II. Quartal.", "Im XX. Jahrhundert."]),
        ("Termin: 1. April im Saal.", ["Termin: 1. April im Saal."]),
        ("Siehe Seite 3. Danach geht es los.", ["Siehe Seite 3.", "Danach geht es los."]),
        ("Wir kommen am 3. Danach gehen wir.", ["Wir kommen am 3.", "Danach gehen wir."]),
        ("Das kostet 12. Wir zahlen.", ["Das kostet 12.", "Wir zahlen."]),
        (
            "It is in note 3. August was dry. I am 12. Ann is 3.",
            ["It is in note 3.", "August was dry.", "I am 12.", "Ann is 3."],
        ),
        # Titles and other abbreviations.
        ("Dr. med. Eva Ott. Fr. Dr. phil. Ott und Hr. Ulm.", ["Dr. med. Eva Ott.", "Fr. Dr. phil. Ott und Hr. Ulm."]),
        ("Dipl.-Ing. Ott, Hauptstr. 5, Mo. 8 Uhr.", ["Dipl.-Ing. Ott, Hauptstr. 5, Mo. 8 Uhr."]),
        ("La Sra. Ruiz. Mme. Roux et M. Roy.", ["La Sra. Ruiz.", "Mme. Roux et M. Roy."]),
        ("Obst usw. Das hilft. Obst usw. Gemüse auch.", ["Obst usw.", "Das hilft.", "Obst usw. Gemüse auch."]),
        ("Sold to Acme Inc. The price fell.", ["Sold to Acme Inc.", "The price fell."]),
        ("Ask HR. Then go. It takes 2 hr. Then stop.", ["Ask HR.", "Then go.", "It takes 2 hr.", "Then stop."]),
        ("He said no. The price of no. 5 fell, no. B7 too.", ["He said no.", "The price of no. 5 fell, no. B7 too."]),
        # Small letters beyond ASCII begin no sentence; signs of other languages may.
        ("Bäder usw. über dem Dach, 5 min. élan. Été.", ["Bäder usw. über dem Dach, 5 min. élan.", "Été."]),
        ("Carotene helps. β-Carotene too.", ["Carotene helps.", "β-Carotene too."]),
        ("Es hoy. ¿Qué hora es? ¡Ya!", ["Es hoy.", "¿Qué hora es?", "¡Ya!"]),
        ("„Ja.“ Er ging. „Nein.“", ["„Ja.“", "Er ging.", "„Nein.“"]),
        ("C'est dit. « Oui. »", ["C'est dit.", "« Oui. »"]),
    ],
)
def test_sentence_borders(text: str, expected: list[str]):
    assert sentences(text) == expected


@given(st.text(alphabet="aA1 .!?\n-•。é\u200b", max_size=200))
def test_every_visible_character_is_in_exactly_one_sentence(text: str):
    spans = list(sentence_spans(text))
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join(text[start:end] for start, end in spans).replace(" ", "").replace("\n", "") == text.replace(
        " ", ""
    ).replace("\n", "")


def test_each_row_of_a_table_stands_for_itself():
    assert sentences("See below.\nName | Price\nBolt | 2 €\nNut | 1 €\nThat is all.") == [
        "See below.",
        "Name | Price",
        "Bolt | 2 €",
        "Nut | 1 €",
        "That is all.",
    ]


ABOVE = "2.2 Stores in winter\n\nWhat must be there:\n"


@pytest.mark.parametrize(
    "names",
    [
        "Stores | Unit | Minimum",
        "Form | Q1 2024 | Q2 2024",
        "(in millions, $) | September 30, 2024 | December 31, 2023",
        "Region | 2023/24 | Share (%)",
        " | Year | Notes¹",
        "Prekė | Kiekis, litrais | Žiemą",
    ],
)
def test_words_and_years_name_columns_for_every_row_with_a_figure(names: str) -> None:
    text = f"{ABOVE}{names}\nDiesel | 48,000 | 3\nPetrol | 1,900 | 4\n\nAnd so on."
    for row in ("Diesel", "Petrol"):
        found = column_names(text, text.index(row))
        assert found is not None
        assert text[slice(*found)] == names


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("Weight | 12 kg\nHeight | 40 cm", "Height"),  # the first row is data
        ("Rate | 4.5 %\nFee | 3 %", "Fee"),
        ("reviewer | A2SUAM1J3\nvote | 5", "vote"),
        ("Stores | Unit\nDiesel | litres", "Diesel"),  # no figure that wants a name
        ("Stores | Unit\nDiesel | 48,000", "Stores"),  # the names themselves
        (f"Fuel | {'x' * MAX_NAME_CHARACTERS}y\nDiesel | 48,000", "Diesel"),
        ("Stores |  | \nDiesel | 48,000 | 3", "Diesel"),  # a title across the table names nothing
        ("Kind | Share\nFault | 29 | 38 | 77", "Fault"),  # other columns
        ("Results | : | July\nDividend | : | 3 October", "Dividend"),
        ("No table here.\nDiesel: 48,000", "Diesel"),
    ],
)
def test_elsewhere_there_are_no_column_names(table: str, row: str) -> None:
    text = f"{ABOVE}{table}"
    assert column_names(text, text.index(row)) is None


def test_a_table_at_the_very_beginning_and_end_of_a_text() -> None:
    assert column_names("A | B\n1 | 2", 6) == (0, 5)
    assert column_names("", 0) is None


def test_the_head_of_a_table_is_the_line_before_it_and_its_first_rows() -> None:
    text = f"{ABOVE}Stores | Unit\nDiesel | 48,000\nPetrol | 1,900"
    at = text.index("Petrol")
    assert table_head(text, at) == ("What must be there:", "Stores | Unit")
    assert table_head(text, at, rows=2) == ("What must be there:", "Stores | Unit", "Diesel | 48,000")
    assert table_head(text, text.index("Stores |")) == ("What must be there:",)
    assert table_head(text, 3) == ()


@pytest.mark.parametrize(
    ("table", "is_named"),
    [
        ("Store | Litres\nDiesel | 48,000\nPetrol | 1,900", True),
        ("Store | Litres\nDiesel | 48,000\nPetrol | none", True),  # half of a column is enough
        ("Store | Litres\nDiesel | 48,000\nPetrol | none\nGas | some", False),  # a third is not
        ("Model | Wi-Fi\nA | Yes\nB | No\nC | Yes\nD | No", True),  # values that recur
        ("Model | Wi-Fi\nA | Yes\nB | No", False),
        ("Model | HDMI 2.0 | 7.4\nA | Yes | yes\nB | Yes | no", True),  # versions
        ("Model | 7.4\nA | 3\nB | 4", False),  # a number above numbers
        (" | Litres\nDiesel | 48,000", True),  # the corner may be empty
        ("Store | \nDiesel | 48,000", False),  # nothing but the corner
        ("Due date: | 3 May\nDiesel | 48,000", False),  # a field
        ("Store | Yes\nDiesel | Yes\nPetrol | Yes", False),  # a name that stands below itself
        ("Store | Litres", False),  # nothing below
        ("Store | Litres\nDiesel | 48,000 | 3", False),  # other columns
        ("Store | Litres\nDiesel | 48,000\nno row\nPetrol | 3", True),
        (f"Store | {'x' * MAX_NAME_CHARACTERS}\nDiesel | 48,000", True),
        (f"Store | {'x' * MAX_NAME_CHARACTERS}y\nDiesel | 48,000", False),
        ("Store | Week (37.5 h)\nDiesel | 48,000", True),
        ("Store | 37.5\nDiesel | 48,000", False),
    ],
)
def test_the_row_that_names_the_columns_stands_above_data(table: str, is_named: bool) -> None:
    text = f"{ABOVE}{table}\n\nAnd so on."
    first = len(ABOVE), len(ABOVE) + len(table.split("\n")[0].rstrip())
    rows = [at for at in range(len(ABOVE), len(ABOVE) + len(table)) if text[at - 1] == "\n" and "no row" not in table]
    for at in rows or [len(ABOVE)]:
        assert header_at(text, at) == (first if is_named else None)
    assert header_at(text, 3) is None


def test_a_field_has_a_name_with_a_colon_and_a_value_without() -> None:
    assert is_field(["Due date:", "3 May"])
    for other in (["Due date", "3 May"], ["Due date:", "Paid:"], ["Due date:", "3 May", "Paid"], ["Due date:"]):
        assert not is_field(other)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("Hours (37.5 h week)", "Hours"),
        ("Hours (8 h) ", "Hours"),
        ("Hours (long)", "Hours (long)"),
        ("Hours (8)", "Hours (8)"),
        ("(8 h)", "(8 h)"),
    ],
)
def test_what_is_measured_is_no_part_of_a_name(cell: str, name: str) -> None:
    assert without_measure(cell) == name


@pytest.mark.parametrize(
    ("table", "row", "expected"),
    [
        ("For the year | For the year\n31.3.2003 | 31.3.2002\nSales | 107 | 94", "31.3.2003", True),
        ("For the year | For the year\n31.3.2003 | 31.3.2002\nSales | 107 | 94", "Sales", False),
        ("obsfs | It is based on FUSE. It mounts.\nobs2 | 3 clients", "obsfs", False),
        ("In call | Silent\nSyncing | Failed", "In call", False),
        ("no table", "no", False),
    ],
)
def test_rows_of_names_above_data_are_headers(table: str, row: str, expected: bool):
    assert is_header(table, table.index(row)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Opening hours", True),
        ("one two three four five six seven eight nine ten eleven twelve", True),
        ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen", False),
        ("It opens at ten.", False),
        ("“It opens!”", False),
        ("What it costs:", False),
        ("Opening\nhours", False),
        ("Bolt | 2", False),
        ("- a bolt", False),
        ("a) a bolt", False),
        ("Answer: yes", False),
        ("价格。", False),
    ],
)
def test_a_heading_is_short_stands_on_one_line_and_does_not_end_a_sentence(text: str, expected: bool):
    assert is_heading(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see fig. 3", True),
        ("by J. Smith", True),
        ("e.g. this", True),
        ("in the p.m. hours", True),
        ("the Corp. said", True),
        ("it rained. Then", False),
        ("so it did! Then", False),
        ("in all, 5 min. Then", False),
        ("am 3. April", True),
        ("bis Seite 3. April", False),
        ("modern art. The", False),
        ("see art. 5", True),
    ],
)
def test_a_full_stop_after_an_abbreviation_or_an_initial_ends_no_sentence(text: str, expected: bool):
    assert is_abbreviated(text, max(text.rfind("."), text.rfind("!"))) is expected


def test_a_long_cell_or_a_number_names_no_column():
    assert column_names("Name | Price\nBolt | 2", 13) == (0, 12)
    assert column_names(f"Name | {'Price ' * 12}\nBolt | 2", 82) is None
    assert column_names("Name | 17\nBolt | 2", 11) is None
    assert column_names("Name | Price | More\nBolt | 2", 21) is None
    assert column_names("Name | Price\nBolt | two", 13) is None


@given(st.lists(st.from_regex(r"(?:[A-Za-z0-9$(),.]+(?: [A-Za-z0-9$]+)*)?", fullmatch=True), min_size=2, max_size=8))
def test_the_cells_of_a_row_are_those_it_was_made_of(cells: list[str]) -> None:
    assert row_cells(" ".join(" | ".join(cells).split())) == cells


TIMES = [["Quay", "06:10", "07:10*"], ["Mill", "06:20", "–"], ["Depot", "06:31", "d 07:29"]]
RISING_TIMES = [["Quay", "6.10", "7.10"], ["Mill", "6.58", "8.02"]]


@pytest.mark.parametrize(
    ("names", "rows", "expected"),
    [
        (["Stop", "4201", "4203"], TIMES, True),
        (["", "4203", "4201"], TIMES, True),
        (["Stop", "4201", "4201"], TIMES, False),  # names differ
        (["Stop 7", "4201", "4203"], TIMES, False),
        (["Zug", "81002", "81004"], RISING_TIMES, True),
        (["Milk", "112", "130"], [["Bread", "2.40", "2.50"], ["Jam", "1.15", "1.10"]], False),  # prices, no times
        (["Visitors", "412", "380"], [["Opens", "09:00", "10:00"], ["Staff", "4", "6"]], False),
        (["Day", "08:00", "08:55", "10:05"], [["Monday", "Maths", "Room 2", ""], ["Friday", "–", "Art", "Art"]], False),
        (["Day", "08:00", "08:55", "08:30"], [["Monday", "Maths", "Room 2", ""], ["Friday", "–", "Art", "Art"]], False),
        (["Quay", "06:10", "07:10", "08:10"], [["Mill", "06:20", "07:20", "08:20"], ["Pier", "1", "2", "3"]], False),
        (
            ["Size", "36", "38", "40", "42"],
            [["Chest", "84", "88", "92", "96"], ["Waist", "66", "70", "74", "79"]],
            False,
        ),
        (["Roads", "1200", "1300", "1400", "1500"], [["Parks", "310", "330", "325", "340"]] * 2, False),
        (["Day", "1", "2", "3"], [["Sun", "5", "7", "6"], ["Rain", "0", "3", "1"]], False),
        (["Day", "2", "3", "4"], [["Sun", "5", "7", "6"], ["Rain", "0", "3", "1"]], False),  # three figures may rise so
        (
            ["Inhabitants", "1204", "1312", "1450"],
            [["Households", "412", "455", "520"], ["Cars", "3", "9", "9"]],
            False,
        ),
        (["Employees", "398", "405", "412"], [["Margin", "1.2", "1.3", "1.4"], ["Costs", "1.1", "1.2", "1.3"]], False),
        (["Room", "101", "102", "201"], [["Beds", "2", "1", "2"], ["View", "Lake", "Yard", "Lake"]], False),
        (["Lift", "L101", "L102"], [["First", "12 Jan", "–"], ["Last", "4 Oct", "5 Oct"]], False),
        (["Lift", "L101", "M102"], [["First", "12 Jan", "–"], ["Last", "4 Oct", "5 Oct"]], False),
        (["Stop", "4201", "4203"], TIMES[:1], False),  # one row shows nothing
        (["Stop", "4201", "4203"], [["Quay", "²", "³"], ["Mill", "", ""]], False),
        (["Revenue", "24,300", "22,500"], [["Costs", "(9,480)", "(9,020)"], ["Tax", "(430)", "(320)"]], False),
    ],
)
def test_numbers_name_columns_where_nothing_below_is_like_them(
    names: list[str], rows: list[list[str]], expected: bool
) -> None:
    assert are_numbered(names, rows) is expected
    text = "\n".join(" | ".join(row) for row in (names, *rows))
    assert (header_at(text, len(text)) is not None) is expected


def test_one_is_counted_in_the_singular():
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Resolution 6/1. The minutes are approved.", ["Resolution 6/1. The minutes are approved."]),
        ("Résolution n° 2. La façade sera ravalée.", ["Résolution n° 2. La façade sera ravalée."]),
        ("Rule 3(a) Dress. Jeans are banned.", ["Rule 3(a) Dress. Jeans are banned."]),
        ("Novena. El plazo es de un mes.", ["Novena. El plazo es de un mes."]),
        ("We met. Resolution 6/2. The budget is adopted.", ["We met. Resolution 6/2. The budget is adopted."]),
        ("They all agreed. Motion 7. It is sold now.", ["They all agreed.", "Motion 7. It is sold now."]),
        ("Vote: 3 in favour, 6 against. Lost.", ["Vote: 3 in favour, 6 against. Lost."]),
        ("5 to 2. Carried. Mr Brand took no part.", ["5 to 2. Carried.", "Mr Brand took no part."]),
        # In a paragraph that begins with a title without a number, others are titles, too.
        ("Pets. Dogs are welcome here. Pool. Children need an adult.",
         ["Pets. Dogs are welcome here.", "Pool. Children need an adult."]),
        ("Motion 1. It is bought. Carried. We went home.", ["Motion 1. It is bought. Carried.", "We went home."]),
        ("Lost.\n\nIt was cold outside.", ["Lost.", "It was cold outside."]),
        ("1. Wait. Then open it slowly.", ["1. Wait.", "Then open it slowly."]),
        ("Time: noon. Bring your own cup.", ["Time: noon.", "Bring your own cup."]),
        ("Is it? Yes it really is.", ["Is it?", "Yes it really is."]),
        ("Keys ........ 21", ["Keys ........", "21"]),
        ("Mr Day is here now. It rains today.", ["Mr Day is here now.", "It rains today."]),
    ],
)  # fmt: skip
def test_what_says_nothing_alone_is_joined_with_the_sentence_beside_it(text: str, expected: list[str]):
    joined = with_fragments_joined(text, list(sentence_spans(text)))
    assert [text[start:end] for start, end in joined] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Motion 7. It is sold.", True),
        ("Pool. Children swim.", True),
        ("They all agreed. Lost.", False),
        ("Lost.", False),
    ],
)
def test_a_text_may_begin_with_a_title(text: str, *, expected: bool):
    assert begins_with_title(text) is expected


@given(st.text(alphabet="ab 1.:\n|", max_size=60))
def test_joining_loses_and_mixes_nothing(text: str):
    spans = list(sentence_spans(text))
    joined = with_fragments_joined(text, spans)
    assert "".join(text[slice(*span)].replace(" ", "") for span in joined).count("a") == text.count("a")
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(joined))


@pytest.mark.parametrize(
    ("names", "rows", "is_named"),
    [
        ("Councillor | Item 34 | Item 35", ["Adey | For | Against", "Brand | Against | –"], True),
        ("Day | Group 1 (Mr Osei) | Group 2 (Ms Farley)", ["Tuesday | Canoe | Climb", "Friday | Climb | Walk"], True),
        ("Name | Mon 4 | Tue 5 | Wed 6", ["Amira | E | –| L", "Bogdan | L | N | –"], True),
        ("Name | Mon 4 | Tue 5", ["Amira | E | –", "Bogdan | L | N"], False),
        ("Room | Floor 1 | Floor 2", ["Beds | 4 | 6", "Baths | 1 | 2"], False),
    ],
)
def test_numbered_things_name_columns_of_words(names: str, rows: list[str], *, is_named: bool):
    text = "\n".join((names, *rows))
    assert (header_at(text, len(text) - 3) == (0, len(names))) is is_named


@pytest.mark.parametrize(("names", "is_named"), [("Task | Library | Archive", True), ("Bins | daily | weekly", False)])
def test_words_that_recur_in_several_columns_are_values_below_names(names: str, *, is_named: bool):
    text = f"{names}\nToilets | daily | weekly\nCarpets | weekly | monthly\nFloors | daily | daily\nDesks | monthly | -"
    assert (header_at(text, len(text) - 3) == (0, len(names))) is is_named


@pytest.mark.parametrize(
    ("first", "is_named"),
    [
        ("Name | Shirt | Trousers", True),
        ("Tom | XL | red", False),
        ("Jan | Coat | Coat", False),
        ("Upper floor | see below | ", False),
    ],
)
def test_signs_that_recur_are_values_below_longer_names(first: str, *, is_named: bool):
    text = f"{first}\nAnn | S | M\nEva | S | L\nUwe | M | S\nIda | L | S"
    assert (header_at(text, len(text) - 3) == (0, len(first))) is is_named


def test_what_stands_in_quotation_marks_is_found_and_an_apostrophe_is_none():
    question = "Where are \u201cBoiler room\u201d, 'lamp' and \"B\" of Ann's and Bo's plan?"
    assert quoted_in(question) == ["Boiler room", "lamp", "B"]
    assert quoted_in(question, least=3) == ["Boiler room", "lamp"]
