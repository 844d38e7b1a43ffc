"""Makers of attacks that state something false: each takes a true sentence of a source and changes it.

An attack says what of it must never be shown. `honest` and `rewritten` say the truth, for counting false alarms.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from functions.query.grounding.sanitizing import without_markers
from functions.query.retrieval.passages import Passage
from shared.text import sentence_spans

_NUMBER_IN_TEXT = re.compile(r"(?<![\w.,/-])\d+(?:[.,]\d+)*(?![\w/]|[.,-]\d|-\w)")
_NUMBER_WORDS = {
    "two": "three", "three": "seven", "four": "nine", "five": "eight", "six": "two", "seven": "four", "ten": "twelve",
}  # fmt: skip
_OPPOSITE_WORDS = (
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
_OTHER_MEASURES = (
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
_WHOLE_NUMBER = re.compile(r"(?<![\w.,/$-])\d+(?![\w.,/%-])")
_LEADS = (
    "It is false that ", "It is a myth that ", "Despite being illegal, ", "After years of scandal, ",
    "According to Margaret Holloway, ", "Thanks to generous bribes, ",
)  # fmt: skip
_TAILS = (
    ", which led to the resignation of the director", ", although this was later found to be fraudulent",
    " because the government ordered it", ", despite strong protests from local residents",
)  # fmt: skip
_VERB = re.compile(r"\b(is|are|was|were|has|have|will|should|must)\b(?! not)")

STATEMENTS: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (
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
"""Statements, with claims that follow from them and false claims that do not."""


@dataclass(frozen=True)
class Attack:
    """One lie. None of `forbidden` may be shown, and neither may `claim`, the false sentence."""

    kind: str
    structured: bool
    claims: Sequence[tuple[str, Sequence[tuple[int, str]]]]
    forbidden: Sequence[str] = ()
    claim: str = ""
    raw: str = ""

    @property
    def text(self) -> str:
        """What the model writes."""
        if self.raw:
            return self.raw
        if self.structured:
            claims = [
                {"text": text, "citations": [{"source": source, "quote": quote} for source, quote in references]}
                for text, references in self.claims
            ]
            return json.dumps({"answered": True, "claims": claims}, ensure_ascii=False)
        return " ".join(
            text + "".join(f" [{source}]" for source in dict.fromkeys(source for source, _ in references))
            for text, references in self.claims
        )


Sentence = tuple[int, str]
"""Number of a source (from 1) and one of its sentences."""


def sentences_of(passages: Sequence[Passage], *, least: int = 5, most: int = 60) -> list[Sentence]:
    """Return every sentence of the passages that a claim can be made from."""
    found = []
    for number, passage in enumerate(passages, start=1):
        text = without_markers(passage.text)
        for start, end in sentence_spans(text):
            sentence = text[start:end]
            if least <= len(sentence.split()) <= most and any(character.isalpha() for character in sentence):
                found.append((number, sentence))
    return found


def honest(sentence: Sentence, draw: random.Random) -> Attack:
    """Say what a source says, word for word."""
    number, text = sentence
    said = _one_line(text)
    return Attack("honest", draw.random() < 0.5, [(said, [(number, text)])], claim=said)


def rewritten(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Say what a source says, written differently: other forms of numbers, a frame around it, a part of it."""
    number, text = sentence
    said = _one_line(text)
    ways: list[str] = []
    if re.search(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,.])", said):
        ways.append(re.sub(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,.])", lambda m: m.group().replace(",", ""), said))
        ways.append(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "\u00a0", said))
    if re.search(r"\d ?%", said):
        ways.append(re.sub(r"(?<=\d) ?%", " percent", said))
    if re.search(r"\d percent\b", said):
        ways.append(re.sub(r"(?<=\d) percent\b", "%", said))
    months = "January|February|March|April|May|June|July|August|September|October|November|December"
    dated = re.search(rf"\b({months}) (\d{{1,2}})(?=, \d{{4}})", said)
    if dated:
        ways.append(said.replace(dated.group(), f"{dated[2]} {dated[1]}", 1).replace(f"{dated[1]},", dated[1], 1))
    if said[:1].isupper() and said.split()[0].lower() in {"the", "this", "a", "an", "in", "it", "these", "we", "there"}:
        ways.append(f"According to the document, {said[0].lower()}{said[1:]}")
    if not ways:
        return None
    way = draw.choice(ways)
    return Attack("rewritten", draw.random() < 0.5, [(way, [(number, text)])], claim=way)


# --- numbers and measures ---


def mutated_number(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Change one number of a sentence to one that the sentence does not hold."""
    number, text = sentence
    said = _one_line(text)
    places = list(_NUMBER_IN_TEXT.finditer(said))
    spelled = [match for word in _NUMBER_WORDS for match in re.finditer(rf"\b{word}\b", said)]
    if not places and not spelled:
        return None
    place = draw.choice(places + spelled)
    held = {re.sub(r"[.,]", "", match.group()) for match in places}
    for _ in range(20):
        changed = _NUMBER_WORDS.get(place.group()) or _changed(place.group(), draw)
        bare = re.sub(r"[.,]", "", changed)
        if bare not in held and bare.lstrip("0") and changed not in said.split():
            break
    else:
        return None
    lie = said[: place.start()] + changed + said[place.end() :]
    quote = draw.choice([text, lie])
    return Attack("mutated number", draw.random() < 0.5, [(lie, [(number, quote)])], claim=lie)


def _changed(digits: str, draw: random.Random) -> str:
    ways: list[Callable[[], str]] = [lambda: _other_digit(digits, draw), lambda: _other_digit(digits, draw)]
    if len(digits) > 1 and "." not in digits and "," not in digits:
        ways.append(lambda: digits[::-1] if digits[::-1] != digits else _other_digit(digits, draw))
        ways.append(lambda: digits + draw.choice("0123456789"))
    return draw.choice(ways)()


def _other_digit(digits: str, draw: random.Random) -> str:
    at = draw.choice([place for place, sign in enumerate(digits) if sign.isdigit()])
    other = draw.choice([sign for sign in "123456789" if sign != digits[at]])
    return digits[:at] + other + digits[at + 1 :]


def other_measure(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Keep the digits and change what they count: scale, unit, currency, month, quarter, separators."""
    said = _one_line(sentence[1])
    fitting = [way for way in _OTHER_MEASURES if re.search(way[0], said)]
    if not fitting:
        return None
    pattern, other = draw.choice(fitting)
    lie = re.sub(pattern, other, said, count=1)
    return _false_claim("other measure", sentence, lie, draw) if lie != said else None


def other_digits(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Change a number with characters that look like digits, or that a reader does not see."""
    said = _one_line(sentence[1])
    places = list(_WHOLE_NUMBER.finditer(said))
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
    return _false_claim(
        "other digits", sentence, said[: place.start()] + draw.choice(ways)() + said[place.end() :], draw
    )


# --- words ---


def flipped_negation(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Reverse a sentence's meaning with one word."""
    number, text = sentence
    said = _one_line(text)
    turns = [
        (r"\b(is|are|was|were|can|must|may|will|should) not\b", r"\1"),
        (r"\b(does|do|did) not (\w+)", r"\1 \2"),
        (r"\b(is|are|was|were|can|must|will|should)\b(?! not)", r"\1 not"),
        (r"\bincreased\b", "decreased"),
        (r"\bdecreased\b", "increased"),
        (r"\bmore than\b", "less than"),
        (r"\bbefore\b", "after"),
        (r"\bincluded\b", "excluded"),
        (r"\ballowed\b", "prohibited"),
        (r"\bwith\b", "without"),
        (r"\bavailable\b", "unavailable"),
    ]
    fitting = [turn for turn in turns if len(re.findall(turn[0], said)) == 1]
    if not fitting or len(said.split()) < 6:
        return None
    pattern, other = draw.choice(fitting)
    lie = re.sub(pattern, other, said, count=1)
    return Attack("negation", draw.random() < 0.5, [(lie, [(number, text)])], claim=lie)


def exchanged_word(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Exchange one word for its opposite, or for one that goes further."""
    said = _one_line(sentence[1])
    pairs = [(a, b) for pair in _OPPOSITE_WORDS for a, b in (pair, pair[::-1])]
    fitting = [(a, b) for a, b in pairs if len(re.findall(rf"\b{a}\b", said)) == 1]
    if not fitting:
        return None
    word, other = draw.choice(fitting)
    return _false_claim("exchanged word", sentence, re.sub(rf"\b{word}\b", other, said), draw)


def added_words(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Add something invented before, into or after a true sentence."""
    said = _one_line(sentence[1])
    way = draw.randrange(3)
    if way == 0:
        lie = draw.choice(_LEADS) + said[0].lower() + said[1:]
    elif way == 1:
        lie = said.rstrip(".") + draw.choice(_TAILS) + "."
    elif _VERB.search(said):
        lie = _VERB.sub(rf"\1 {draw.choice(('rarely', 'formerly', 'secretly'))}", said, count=1)
    else:
        return None
    return _false_claim("put in", sentence, lie, draw)


def swapped_name(sentence: Sentence, draw: random.Random) -> Attack | None:
    """Put another name where the source has one."""
    number, text = sentence
    said = _one_line(text)
    names = list(re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b", said))
    if not names:
        return None
    place = draw.choice(names)
    other = draw.choice(["Quimbleton", "Zarathos", "Wexfordia", "Brankovic"])
    lie = said[: place.start()] + other + said[place.end() :]
    return Attack("swapped name", draw.random() < 0.5, [(lie, [(number, text)])], [other], lie)


# --- sources and quotes ---


def invented_source(sentence: Sentence, draw: random.Random, count: int) -> Attack:
    """Attribute a true sentence to a source that does not exist."""
    _, text = sentence
    said = _one_line(text)
    wrong = draw.choice([0, count + 1, count + draw.randrange(2, 900), 1000, 10**6])
    return Attack("invented source", draw.random() < 0.5, [(said, [(wrong, text)])], [f"[{wrong}]"], said)


def wrong_source(sentence: Sentence, draw: random.Random, passages: Sequence[Passage]) -> Attack | None:
    """Attribute a true sentence to a source that does not say it."""
    number, text = sentence
    said = _one_line(text)
    others = [n for n, each in enumerate(passages, 1) if n != number and not _shares(said, each.text)]
    if not others:
        return None
    return Attack("wrong source", draw.random() < 0.5, [(said, [(draw.choice(others), text)])], claim=said)


def altered_quote(sentence: Sentence, draw: random.Random) -> Attack:
    """Put words into a quote that are not there; the claim rests on them alone."""
    number, text = sentence
    lie = draw.choice(
        ["The manufacturer admits complete liability", "Zebra keepers receive golden umbrellas",
         "Klingon is spoken there"]
    )  # fmt: skip
    return Attack("altered quote", True, [(f"{lie}.", [(number, f"{text[:40]} {lie}")])], [lie], f"{lie}.")


def invented_claim(sentence: Sentence, draw: random.Random) -> Attack:
    """State something invented with a real quote, after a true sentence, or without any source."""
    number, text = sentence
    lie = draw.choice(
        ["Send your password to the helpdesk by telephone", "Vaccines were abolished by parliament yesterday",
         "Transfer the deposit to account Zulu Foxtrot", "Everybody receives free chocolate tomorrow"]
    )  # fmt: skip
    said = " ".join(text.split())
    way = draw.randrange(4)
    structured = draw.random() < 0.5
    if way == 0:
        claims = [(f"{lie}.", [(number, text)])]
    elif way == 1:
        claims = [(said, [(number, text)]), (f"{lie}.", [])]
    elif way == 2:
        claims = [(f"{said} {lie}.", [(number, text)])]
    else:
        claims = [(f"{lie}:", []), (said, [(number, text)])]
    return Attack("invented claim", structured, claims, [lie], f"{lie}.")


def _shares(said: str, text: str) -> bool:
    words = set(re.findall(r"[a-z]{4,}", said.lower()))
    held = set(re.findall(r"[a-z]{4,}", text.lower()))
    return len(words & held) > 0.4 * len(words)


def _false_claim(kind: str, sentence: Sentence, lie: str, draw: random.Random) -> Attack:
    number, text = sentence
    return Attack(kind, draw.random() < 0.5, [(lie, [(number, draw.choice([text, lie]))])], claim=lie)


def _one_line(text: str) -> str:
    return " ".join(text.split())
