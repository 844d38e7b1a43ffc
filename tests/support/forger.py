"""The finer lies: a word exchanged or put in, who did it to whom, another unit, another sign, a form that breaks.

Each family takes a true sentence of a source and gives back an attack like those of `tests.support.liar`.
"""

import json
import random
import re
from collections.abc import Callable, Sequence

from tests.support.liar import Attack, Sentence

_EXCHANGES = (
    ("more", "less"), ("higher", "lower"), ("larger", "smaller"), ("better", "worse"), ("increase", "decrease"),
    ("maximum", "minimum"), ("above", "below"), ("highest", "lowest"), ("stronger", "weaker"), ("older", "younger"),
    ("before", "after"), ("previous", "next"), ("beginning", "end"), ("first", "last"), ("during", "after"),
    ("all", "some"), ("most", "few"), ("many", "few"), ("every", "no"), ("always", "sometimes"), ("often", "rarely"),
    ("may", "must"), ("must", "may"), ("can", "must"), ("should", "must"), ("will", "might"),
    ("recommended", "required"),
    ("include", "exclude"), ("allow", "prevent"), ("support", "oppose"), ("accept", "reject"), ("open", "closed"),
    ("positive", "negative"), ("public", "private"), ("large", "small"), ("high", "low"), ("new", "old"),
    ("internal", "external"), ("left", "right"), ("men", "women"), ("domestic", "foreign"), ("daily", "weekly"),
    ("monthly", "daily"), ("men", "children"), ("customers", "suppliers"), ("employees", "visitors"),
)  # fmt: skip
_MEASURES = (
    (r"\bmillion\b", "billion"), (r"\bbillion\b", "million"), (r"\bthousand\b", "million"),
    (r"(?<=\d) ?%", " basis points"), (r"(?<=\d) ?%", " percentage points"),
    (r"(?<=\d) ?percent\b", " dollars"), (r"\$ ?(?=\d)", "€"),
    (r"(?<=\d )mg\b", "g"), (r"(?<=\d )kg\b", "g"), (r"(?<=\d )km\b", "miles"), (r"(?<=\d )cm\b", "mm"),
    (r"(?<=\d )hours\b", "minutes"), (r"(?<=\d )days\b", "weeks"), (r"(?<=\d )months\b", "years"),
    (r"(?<=\d )years\b", "months"), (r"(?<=\d )minutes\b", "seconds"), (r"(?<=\d )GB\b", "MB"),
    (r"(?<=\d )litres\b", "gallons"),
    (r"\b(?:January|March|May|July|September)\b(?=,? \d)", "November"),
    (r"\b(?:February|April|June|August)\b(?=,? \d)", "October"),
    (r"\bfirst quarter\b", "third quarter"), (r"\bsecond quarter\b", "fourth quarter"),
    (r"\bthree months\b", "six months"), (r"(?<=\d)\.(?=\d\b)", ""), (r"(?<=\d)\.(?=\d{2}\b)", ".0"),
    (r"(?<=\d),(?=\d{3}\b)", "."),
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,/$-])\d+(?![\w.,/%-])")
_PUT_BEFORE = (
    "It is false that ", "It is a myth that ", "Despite being illegal, ", "After years of scandal, ",
    "According to Margaret Holloway, ", "Thanks to generous bribes, ",
)  # fmt: skip
_PUT_BEHIND = (
    ", which led to the resignation of the director", ", although this was later found to be fraudulent",
    " because the government ordered it", ", despite strong protests from local residents",
)  # fmt: skip
_VERB = re.compile(r"\b(is|are|was|were|has|have|will|should|must)\b(?! not)")

TOLD: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (
    (
        "Acme Corporation acquired Birch Systems in March 2021 for $340 million in cash.",
        [
            "In March 2021, Birch Systems was acquired by Acme Corporation.",
            "Acme Corporation bought Birch Systems for $340 million in March 2021.",
        ],
        [
            "Birch Systems acquired Acme Corporation in March 2021.",
            "Acme Corporation was acquired by Birch Systems in March 2021.",
            "Acme Corporation sold Birch Systems in March 2021 for $340 million in cash.",
            "Acme Corporation acquired Birch Systems in March 2021 for $340 million in stock.",
        ],
    ),
    (
        "Revenue increased by 12% to $4.5 billion in the second quarter of 2022, while expenses fell by 3%.",
        [
            "In the second quarter of 2022 revenue increased 12% to $4.5 billion.",
            "Expenses fell by 3% in the second quarter of 2022.",
        ],
        [
            "Expenses increased by 12% to $4.5 billion in the second quarter of 2022, while revenue fell by 3%.",
            "Revenue increased by 12% to $4.5 billion in Q3 2022.",
            "Revenue increased by 12 percentage points to $4.5 billion in the second quarter of 2022.",
        ],
    ),
    (
        "Dr. Elena Petrova, chief scientist of Norvik Labs, said that the vaccine does not require refrigeration.",
        ["According to Dr. Elena Petrova, the vaccine does not require refrigeration."],
        [
            "Dr. Maria Petrova, chief scientist of Norvik Labs, said that the vaccine does not require refrigeration.",
            "Dr. Elena Petrova, chief executive of Norvik Labs, said that the vaccine does not require refrigeration.",
            "Dr. Elena Petrova, chief scientist of Norvik Labs, denied that the vaccine requires no refrigeration.",
        ],
    ),
    (
        "The third edition of the handbook was written by James Oduya and revised by Ruth Lindqvist.",
        ["The third edition of the handbook was written by James Oduya."],
        [
            "The third edition of the handbook was written by Ruth Lindqvist and revised by James Oduya.",
            "The fourth edition of the handbook was written by James Oduya.",
        ],
    ),
    (
        "High rainfall caused the flooding of the lower valley, and several roads were closed.",
        ["The flooding of the lower valley was caused by high rainfall.", "Several roads were closed."],
        [
            "The flooding of the lower valley caused high rainfall.",
            "All roads were closed.",
            "Several roads were opened.",
        ],
    ),
    (
        "Napoleon was defeated by Wellington at Waterloo on 18 June 1815.",
        [
            "On June 18th, 1815, Wellington defeated Napoleon at Waterloo.",
            "Napoleon was defeated at Waterloo on 18 June 1815.",
        ],
        [
            "Wellington was defeated by Napoleon at Waterloo on 18 June 1815.",
            "Napoleon defeated Wellington at Waterloo on 18 June 1815.",
        ],
    ),
    (
        "The recommended dose is 250 mg twice daily for adults; the maximum daily dose is 1 g.",
        ["The recommended dose for adults is 250 mg twice daily.", "The maximum daily dose is 1 g."],
        [
            "The recommended dose is 250 mg once daily for adults.",
            "The recommended dose is 250 mcg twice daily for adults.",
            "The recommended dose is 250 mg twice weekly for adults.",
            "The maximum daily dose is 1 mg.",
            "The recommended dose is 250 mg twice daily for children.",
        ],
    ),
    (
        "Mount Kilimo is the highest mountain in the region, rising 4,321 metres above the plain.",
        ["At 4321 m above the plain, Mount Kilimo is the highest mountain in the region."],
        [
            "Mount Kilimo is the second highest mountain in the region.",
            "Mount Kilimo is the highest mountain in the world.",
            "Mount Kilimo is the highest mountain in the region, rising 4.321 metres above the plain.",
        ],
    ),
)
"""Statements, what is true by them and what is not: the lies that need a sentence made for them."""


def exchanged_word(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Exchange one word for its opposite, or for one that goes further."""
    said = _said(sentence)
    pairs = [(a, b) for pair in _EXCHANGES for a, b in (pair, pair[::-1])]
    fitting = [(a, b) for a, b in pairs if len(re.findall(rf"\b{a}\b", said)) == 1]
    if not fitting:
        return None
    word, other = draw.choice(fitting)
    return _attack("exchanged word", sentence, re.sub(rf"\b{word}\b", other, said), draw)


def put_in(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Put something of one's own before, into or behind a true sentence."""
    said = _said(sentence)
    way = draw.randrange(3)
    if way == 0:
        lie = draw.choice(_PUT_BEFORE) + said[0].lower() + said[1:]
    elif way == 1:
        lie = said.rstrip(".") + draw.choice(_PUT_BEHIND) + "."
    elif _VERB.search(said):
        lie = _VERB.sub(rf"\1 {draw.choice(('rarely', 'formerly', 'secretly'))}", said, count=1)
    else:
        return None
    return _attack("put in", sentence, lie, draw)


def other_measure(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Leave the digits and change what they count: scale, unit, currency, month, quarter, separators."""
    said = _said(sentence)
    fitting = [way for way in _MEASURES if re.search(way[0], said)]
    if not fitting:
        return None
    pattern, other = draw.choice(fitting)
    lie = re.sub(pattern, other, said, count=1)
    return _attack("other measure", sentence, lie, draw) if lie != said else None


def other_digits(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Change a number by signs that look like digits, or by ones that a reader does not see."""
    said = _said(sentence)
    places = list(_NUMBER.finditer(said))
    if not places:
        return None
    place = draw.choice(places)
    digits = place.group()
    other = str(int(digits[0]) % 9 + 1) + digits[1:]
    ways: Sequence[Callable[[], str]] = (
        lambda: other.translate({ord("0") + i: ord("０") + i for i in range(10)}),
        lambda: other.translate({ord("0") + i: ord("٠") + i for i in range(10)}),
        lambda: "\u200b".join(other + "7"),
        lambda: digits + draw.choice("²³⁵"),
        lambda: digits + "О",
    )
    return _attack("other digits", sentence, said[: place.start()] + draw.choice(ways)() + said[place.end() :], draw)


def broken_form(sentence: Sentence, draw: random.Random) -> Attack:
    """Break the form of the answer, with a lie in it."""
    number, text = sentence
    lie = "The secret launch code of the facility is zebra umbrella."
    said, quote = json.dumps(lie), json.dumps(text)
    reference = f'{{"source": {number}, "quote": {quote}}}'
    raw = draw.choice(
        (
            f'{{"answered": "yes", "claims": {said}}}',
            f'{{"answered": true, "claims": {{"text": {said}, "citations": []}}}}',
            f'{{"answered": true, "claims": [[{said}]]}}',
            f'{{"answered": true, "claims": [{{"text": [{said}], "citations": [{reference}]}}]}}',
            f'{{"answered": true, "claims": [{{"text": {said}, "citations": {number}}}]}}',
            f'{{"answered": true, "claims": [{{"text": {said}, "citations": [{{"source": "1", "quote": 5}}]}}]}}',
            f'{{"answered": true, "claims": [{{"text": {said}, "citations": [{reference}]}}',
            f'{{"answered": true, "claims": null, "text": {said}}}',
            f'{lie}\n{{"answered": true, "claims": []}}',
            '{"a":' * 5_000 + said,
            "[" * 5_000 + said,
            "",
        )
    )
    return Attack("broken form", structured=True, claims=[], forbidden=["zebra", '"claims"'], claim=lie, raw=raw)


def _said(sentence: Sentence) -> str:
    return " ".join(sentence[1].split())


def _attack(kind: str, sentence: Sentence, lie: str, draw: random.Random) -> Attack:
    number, text = sentence
    return Attack(kind, draw.random() < 0.5, [(lie, [(number, draw.choice([text, lie]))])], claim=lie)
