"""A claim's number that its evidence does not state may be calculated from it; a near one may not."""

import random
from dataclasses import replace
from decimal import Decimal

import pytest

from functions.query.grounding.arithmetic import Calculation, Operand, derive
from functions.query.grounding.calculations import may_be_calculated, multipliers_in, own_calculation
from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.figures import operands_in


def row(label: str, *values: float, unit: str = "", named: bool = True) -> list[Operand]:
    """Return the figures of a row, the newest first, in millions."""
    return [
        Operand(
            Decimal(str(value)) * 10**6,
            f"{value:,}",
            unit,
            label,
            column,
            order=(2023 - column,),
            is_named=named,
            scale=Decimal(10**6),
        )
        for column, value in enumerate(values)
    ]


def stated(*numbers: tuple[float, str]) -> list[Operand]:
    return [Operand(Decimal(str(value)), f"{value} {unit}".strip(), unit, "sentence") for value, unit in numbers]


def told(*numbers: str) -> list[Operand]:
    """Return the numbers of a sentence that says them."""
    return operands_in(f"there were {', '.join(numbers)} there")


def number_in(claim: str) -> Fact:
    return next(fact for fact in facts_in(claim) if fact.kind in {"number", "fraction"})


def calculation(claim: str, operands: list[Operand]) -> str:
    found = derive(claim, number_in(claim), operands)
    return found.text if found else ""


MAC, SERVICES = row("Mac", 7_735, 10_852), row("Services", 20_766, 19_516)


@pytest.mark.parametrize(
    ("claim", "operands", "text"),
    [
        ("Mac sales fell by $3,117 million.", MAC, "10,852 − 7,735 = 3,117"),
        ("Mac sales were $3.1 billion lower.", MAC, "10,852 − 7,735 = 3,117"),
        ("Mac sales decreased by 28.7%.", MAC, "(7,735 − 10,852) / 10,852 = -28.7 %"),
        ("Services grew about 6%.", SERVICES, "(20,766 − 19,516) / 19,516 = 6.4 %"),
        ("Together they brought in $28,501 million.", MAC[:1] + SERVICES[:1], "7,735 + 20,766 = 28,501"),
        ("Mac had a share of 37.2% of Services.", MAC[:1] + SERVICES[:1], "7,735 / 20,766 = 37.2 %"),
        ("On average they had $14,250.5 million.", MAC[:1] + SERVICES[:1], "(7,735 + 20,766) / 2 = 14,250.5"),
        ("She won 22 medals, including 11 gold.", stated(*((n, "") for n in (11, 8, 3, 6))), "11 + 8 + 3 = 22"),
        ("It takes 2.5 times as long.", stated((50, "min"), (20, "min")), "50 min / 20 min = 2.5"),
        ("That makes 80 dogs.", stated((4, "dog"), (1_990, ""), (76, "dog")), "4 dog + 76 dog = 80"),
        ("In all they paid Rs. 18.2.", stated((7.7, "inr"), (1.5, "inr"), (10.5, "inr")), "7.7 inr + 10.5 inr = 18.2"),
        ("The whole was about $31 billion.", told("$11.8 billion", "38%"), "$11.8 billion / 38% = 31.05 billion"),
        ("Thus it was about $4.5 billion.", told("$11.8 billion", "38%"), "$11.8 billion × 38% = 4.48 billion"),
        ("It had been $59.", told("$44", "down $15"), "$44 + $15 = 59"),
        ("A year ago it was $29.", told("$44", "up $15"), "$44 − $15 = 29"),
        ("About 71% of the people were asked.", told("20 of the 28 people"), "20 / 28 people = 71.4 %"),
        ("Women make up 44% of them.", operands_in("56% of them are men"), "100 − 56% = 44 %"),
        ("Two thirds did not vote.", operands_in("just a third voted"), "100 − a third = 66.67 %"),
        ("Eight people were not asked.", operands_in("20 of the 28 people were asked"), "28 people − 20 = 8"),
        ("Half of them were checked.", operands_in("two of the four people were checked"), "two / four people = 50 %"),
        ("All claims make 40.", operands_in("11 two-hop, 17 three-hop and 12 four-hop claims"), "11 + 17 + 12 = 40"),
        ("It takes half an hour.", stated((30, "min")), "30 min = half an hour"),
        ("A share cost about $10.50 each.", stated((431, "usd"), (41, "shares")), "431 usd / 41 shares = 10.51"),
        ("They have 14 days.", stated((2, "week")), "2 week = 14 days"),
        ("It takes one year.", stated((12, "month")), "12 month = one year"),
        ("It weighs 22.7 kg.", stated((50, "lb")), "50 lb = 22.7 kg"),
        ("Keep it at 4 °C.", stated((39, "f")), "39 f = 4 °C"),
        ("The trail is 26.2 miles long.", stated((42.2, "km")), "42.2 km = 26.2 miles"),
    ],
)  # fmt: skip
def test_calculations(claim: str, operands: list[Operand], text: str):
    assert calculation(claim, operands) == text


@pytest.mark.parametrize(
    ("claim", "operands"),
    [
        ("Mac sales fell by $4,117 million.", MAC),
        ("Mac sales rose by $3,117 million.", MAC),  # the other way
        ("Mac sales were $3,117 million.", MAC),  # no word of a calculation
        ("Mac sales decreased by 29.7%.", MAC),
        ("Together they brought in $28,502 million.", MAC[:1] + SERVICES[:1]),
        ("Together they brought in $18,587 million.", [*MAC, *SERVICES]),  # one of each year: two times do not add up
        ("Services grew by $1,250 million.", row("Services", 20_766, 19_516, named=False)),  # another row
        ("It was $59.", told("$44", "down $15")),  # when, it does not say
        ("It had been $29.", told("$44", "down $15")),  # the other way
        ("It had been $59.", told("$44", "$15")),
        ("In all 2,008 were sold.", stated((8, ""), (2_000, ""))),  # eight, and a year
        ("It takes one year.", stated((6, "month"))),
        ("44% of them are men.", operands_in("56% of them are men")),  # of the same
        ("Eight people were asked.", operands_in("20 of the 28 people were asked")),
        ("She won 23 medals, including 11 gold.", stated(*((n, "") for n in (11, 8, 3, 6)))),
        ("They have 15 days.", stated((2, "week"))),
        ("It weighs 23.7 kg.", stated((50, "lb"))),
        ("The total is 70.", stated((50, "min"), (20, "km"))),  # of different kinds
    ],
)
def test_no_calculation(claim: str, operands: list[Operand]):
    assert not calculation(claim, operands)


@pytest.mark.parametrize(
    ("claim", "said", "text"),
    [
        ("The cap is reached after ten days (180 divided by 18).", "ten days", "180 / 18 = ten days"),
        ("Nine of the 71 did not pass, since 62 did.", "Nine", "71 − 62 = Nine"),
        ("That is 15p more for each lunch (£2.75 − £2.60).", "15p", "£2.75 − £2.60 = 15p"),
        ("It is half an inch longer, at 3¼ inches, not 2¾.", "half an inch", "3¼ inches − 2¾ = half an inch"),
        ("From 474 packages to 848 packages the number grew by 374.", "374", "848 − 474 = 374"),
        ("Seven days come to €329, seven times the rate of €47.", "€329", "7 × €47 = €329"),
        ("Three days late costs 15 points, at five points for each day.", "15", "3 × five = 15"),
        ("With 10% off the price of €80 you pay €72.", "€72", "€80 − 10% = €72"),
        ("With 20% VAT the price of €80 is €96.", "€96", "€80 + 20% = €96"),
    ],
)  # fmt: skip
def test_a_claim_may_divide_compare_and_multiply(claim: str, said: str, text: str):
    facts = facts_in(claim)
    fact = next(each for each in facts if each.text.rstrip(" .,;").startswith(said))
    found = own_calculation(claim, fact, [each for each in facts if each is not fact])
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    ("claim", "said", "source", "text"),
    [
        ("Two days late costs 10 points.", "10", "You lose five points for each day.", "2 × five = 10"),
        ("Two weeks cost €60.", "€60", "The monthly rate is €30.", ""),
        ("With the keyhole at £140 it is £475.", "£475", "It costs £335. The keyhole costs £140.", ""),
    ],
)  # fmt: skip
def test_a_claim_may_multiply_what_its_source_tells_for_each(claim: str, said: str, source: str, text: str):
    facts = facts_in(claim)
    fact = next(each for each in facts if each.text.rstrip(" .,;") == said)
    others = [each for each in facts if each is not fact]
    found = own_calculation(claim, fact, others, [source], operands_in(source))
    assert (found.text if found else "") == text


def test_a_rest_is_told_with_a_negation():
    claim = "Nine of the 71 students did not pass, since 62 did."
    facts = sorted(facts_in(claim), key=lambda fact: fact.start)
    found = own_calculation(claim, facts[0], facts[1:])
    assert found is not None
    assert found.is_rest


def test_what_a_claim_multiplies_by():
    assert multipliers_in("For three people that is €84 (3 × €28).") == [3]
    assert multipliers_in("Three working days cost 15 points.", ["Five points for each working day."]) == [3]
    assert multipliers_in("Three working days cost 15 points.", ["Five points for each exam."]) == []
    assert multipliers_in("A week of seven days costs €329, at a daily rate of €47.") == [7]


@pytest.mark.parametrize(
    ("claim", "number", "operands", "expected"),
    [
        ("It spent £320 more than it took.", "£320", stated((4_270, ""), (4_590, "")), True),
        ("It spent £320 in May.", "£320", stated((4_270, ""), (4_590, "")), False),  # nothing is compared
        ("It spent £330 more than it took.", "£330", stated((4_270, ""), (4_590, "")), False),
        ("It costs €280 once the call-out is added.", "€280", stated((185, "eur"), (95, "eur")), True),
        ("It costs €280 once the call-out is added.", "€280", stated((185, "kg"), (95, "eur")), False),
        ("It is 5% more.", "5%", stated((10, "percent"), (15, "percent")), False),
        ("It spent £320 more.", "£320", stated(*((n * n, "") for n in range(14)), (320, "")), False),  # too many
    ],
)
def test_a_number_that_some_two_others_give_is_possible(
    claim: str, number: str, operands: list[Operand], expected: bool
):
    fact = next(each for each in facts_in(claim) if each.text.rstrip(" .,;") == number)
    assert may_be_calculated(claim, fact, [], operands) is expected


def test_a_number_may_be_the_sum_of_the_others_of_its_claim():
    total, *others = sorted(facts_in("Three people came: two inspectors and 1 expert."), key=lambda fact: fact.start)
    assert own_calculation("", replace(total, unit=""), others) == Calculation("two + 1 = Three people")
    assert own_calculation("", replace(total, unit=""), others[:1]) is None
    assert own_calculation("", others[0], [total, others[1]]) is None


def test_a_near_number_is_hardly_ever_calculated_by_chance():
    draw = random.Random(11)
    tries, hits = 0, 0
    forms = (
        lambda a, b: ("Sales fell by ${:,} million.", abs(a - b)),
        lambda a, b: ("Sales changed by {:.1f}%.", 100 * abs(a - b) / b),
        lambda a, b: ("Sales and costs together were ${:,} million.", a + b),
        lambda a, b: ("The share of sales is {:.1f}%.", 100 * min(a, b) / max(a, b)),
    )  # fmt: skip
    for _ in range(1_500):
        sales, costs = ([draw.randint(500, 50_000) for _ in range(4)] for _ in range(2))
        pattern, honest = draw.choice(forms)(sales[0], sales[1])
        wrong = honest * draw.uniform(1.02, 1.3) if draw.random() < 0.5 else honest * draw.uniform(0.7, 0.98)
        wrong = round(wrong, 1) if "%" in pattern else round(wrong)
        claim = pattern.format(wrong)
        tries += 1
        hits += bool(calculation(claim, [*row("Sales", *sales), *row("Costs", *costs)]))
    assert hits / tries <= 0.03


@pytest.mark.parametrize(
    ("claim", "value", "unit"),
    [
        ("It takes 2 seconds.", 2_000, "ms"), ("It takes 2 minutes.", 120, "s"), ("It takes 2 hours.", 120, "min"),
        ("It takes 2 days.", 48, "h"), ("It takes 2 weeks.", 14, "day"), ("It takes 2 years.", 24, "month"),
        ("It is 2 mm.", 2_000, "um"), ("It is 2 cm.", 20, "mm"), ("It is 2 m.", 200, "cm"), ("It is 2 km.", 2_000, "m"),
        ("It is 10 inches.", 25.4, "cm"), ("It is 10 feet.", 3.048, "m"), ("It is 10 miles.", 16.09344, "km"),
        ("It weighs 2 g.", 2_000, "mg"), ("It weighs 2 kg.", 2_000, "g"), ("It weighs 2 tonnes.", 2_000, "kg"),
        ("It weighs 10 pounds.", 4.5359237, "kg"), ("It weighs 10 ounces.", 283.49523, "g"),
        ("It holds 2 litres.", 2_000, "ml"), ("It holds 10 gallons.", 37.85412, "l"),
        ("It drives 10 mph.", 16.09344, "kmh"), ("It has 2 hectares.", 20_000, "m2"),
        ("It has 2 kW.", 2_000, "w"), ("It has 2 MW.", 2_000, "kw"), ("It has 2 MWh.", 2_000, "kwh"),
        ("It has 2 kHz.", 2_000, "hz"), ("It has 2 MHz.", 2_000, "khz"), ("It has 2 GHz.", 2_000, "mhz"),
        ("It has 2 MB.", 2_000, "kb"), ("It has 2 GB.", 2_000, "mb"), ("It has 2 TB.", 2_000, "gb"),
        ("It has 2 bar.", 200, "kpa"), ("It has 10 psi.", 68.94757, "kpa"), ("It costs 2 dollars.", 200, "cents"),
        ("It is kept at 212 °F.", 100, "c"), ("It is kept at 100 °C.", 212, "f"), ("It is kept at 32 °F.", 0, "c"),
    ],
)  # fmt: skip
def test_a_value_may_be_told_in_another_unit_and_another_value_not(claim: str, value: float, unit: str):
    said = number_in(claim)
    assert calculation(claim, stated((value, unit))) == f"{value} {unit} = {said.text.strip('.')}"
    wrong = value + 40 if value < 1 else value * 1.2
    assert not calculation(claim, stated((wrong, unit)))
    assert not calculation(claim, stated((value, "people")))


def column(*values: int) -> list[Operand]:
    """Figures of so many rows in one column."""
    return [each for at, value in enumerate(values) for each in row(f"Row {at}", value)]


@pytest.mark.parametrize(
    ("claim", "operands", "expected"),
    [
        ("Together they had $10 million.", column(1, 2, 3, 4), True),
        ("Together they had $15 million.", column(1, 2, 3, 4, 5), False),  # of a column all are added, up to four
        ("Together they had $6 million.", column(1, 2, 3, 4), False),
        ("In all it was 17.", told(*["1", "6", "12", "20", "30", "11"]), True),  # of six numbers in prose any two
        ("In all it was 17.", told(*["1", "6", "12", "20", "30", "11", "90"]), False),
        ("In all it was 26.", told(*["1", "6", "12", "20", "30", "11", "90"]), False),
        ("In all it was 32.", told(*["1", "6", "12", "20", "30", "11", "90"]), True),  # two that follow one another
        ("In all it was 62.", told(*["1", "6", "12", "20", "30", "11", "90"]), True),  # three
        ("In all it was 3.", told(*map(str, (1, 2, 40, 50, 60, 70, 80, 90, 91, 92, 93, 94))), True),
        ("In all it was 3.", told(*map(str, (1, 2, 40, 50, 60, 70, 80, 90, 91, 92, 93, 94, 95))), False),
    ],
)
def test_so_many_numbers_may_be_added(claim: str, operands: list[Operand], expected: bool):
    assert bool(calculation(claim, operands)) is expected


@pytest.mark.parametrize(
    ("claim", "said", "text"),
    [
        ("There were 863 volunteers, 122 more than the 741 of the year before.", "122", "863 − 741 = 122"),
        ("It comes to £475.00 (£335.00 plus £140.00).", "£475.00", "£335.00 + £140.00 = £475.00"),
        ("For three people that is €84 (3 × €28).", "€84", "3 × €28 = €84"),
        ("You save 15% of the price, as you pay 85%.", "15%", "100 − 85% = 15%"),
        ("Who joins in August pays £84, half of £168.", "£84", "half of £168 = £84"),
        ("The gains add up to 116 dB, namely 14 plus 40 plus 62.", "116 dB", "14 + 40 + 62 = 116 dB"),
    ],
)
def test_a_claim_may_show_how_a_number_is_calculated(claim: str, said: str, text: str):
    facts = facts_in(claim)
    fact = next(each for each in facts if each.text.rstrip(" .,;") == said)
    found = own_calculation(claim, fact, [each for each in facts if each is not fact])
    assert found is not None
    assert found.text.replace(".;", "").rstrip(" .") == text


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("There were 863 volunteers, 132 more than the 741 of the year before.", "132"),
        ("It comes to £485.00 (£335.00 plus £140.00).", "£485.00"),
        ("There were 863 volunteers, 122 visitors and 741 guests.", "122"),  # nothing says that one is a difference
        ("You save 25% of the price, as you pay 85%.", "25%"),
        ("For three people that is €74 (3 × €28).", "€74"),
        ("Of the staff 30% work part time and 70% are women.", "70%"),  # nothing says that these are the others
        ("It has 12 tables, 8 chairs, 3 ovens and 20 spaces.", "20"),  # nothing says that one is a sum
        ("Rooms cost €40 and 3 x 2 m beds cost €120.", "€120"),  # a size, not a product
    ],
)
def test_a_claim_that_calculates_wrongly_shows_nothing(claim: str, said: str):
    facts = facts_in(claim)
    fact = next(each for each in facts if each.text.rstrip(" .,;") == said)
    assert own_calculation(claim, fact, [each for each in facts if each is not fact]) is None


def test_nothing_is_no_result():
    """Any two equal numbers would give it."""
    assert calculation("the difference is 0 boats", told("5 boats", "5 boats")) == ""
