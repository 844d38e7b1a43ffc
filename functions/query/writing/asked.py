"""What kind of answer a question asks for, by its words; and whether a text can be one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Kind(StrEnum):
    """The kind of answer that a question asks for."""

    STEPS = "steps"
    LIST = "list"
    TIME = "time"
    NUMBER = "number"
    CHOICE = "choice"
    YES_NO = "yes_no"
    FACT = "fact"


_PATTERNS: Mapping[Kind, Sequence[str]] = {
    Kind.STEPS: (
        r"\bhow (?:do|does|can|could|should|would|must|to|is|are)\b|\b(?:which|what)\b.{0,30}\b(?:steps|procedure)\b"
        r"|\bwhat (?:should|must|do) (?:you|i|we|one|a user|users)\b",
        r"\bkaip\b|\bkok\w* (?:veiksm|žingsn)\w*|\bką (?:reikia|turi\w*|daryti)\b",
        r"\bwie (?:kann|muss|soll|wird|werden|man|mache?)\b|\bwelche schritte\b|\bwas muss\b",
        r"\bcómo\b|\bqué pasos\b|\bqué (?:debo|hay que)\b",
        r"\bcomment\b|\bquelles étapes\b|\bque (?:dois|faut)\b",
    ),
    Kind.TIME: (
        r"^when\b(?! using)|\bwhen (?:did|do|does|is|are|was|were|will|should|must|can|has|had)\b"
        r"|\b(?:what|which) (?:\w+ )?(?:date|year|day|month|time)\b|\bsince what\b",
        r"\bkada\b|\bkuriais metais\b|\bkelint\w+\b|\bkuri\w+ dien\w+\b",
        r"\bwann\b|\bwelche\w+ (?:jahr|tag|datum|monat)\b",
        r"\bcuándo\b|\bqué (?:año|día|fecha|mes)\b",
        r"\bquand\b|\bquel\w* (?:année|jour|date|mois)\b",
    ),
    Kind.NUMBER: (
        r"\bhow (?:many|much|long|often|far|old|high|large|big|fast|deep|wide|tall|heavy)\b"
        r"|\bwhat(?:'s| is| was| are| were)? (?:the )?(?:\w+ ){0,2}(?:percentage|number|amount|share|rate|ratio|total"
        r"|temperature|voltage|capacity|price|cost|maximum|minimum|average|length|weight|size|score)\b",
        r"\bkiek\b|\bkok\w+ (?:\w+ ){0,2}(?:skaičius|dalis|suma|kaina|temperatūra|talpa|svoris|dydis)\b",
        r"\bwie ?(?:viel\w*|lange|oft|weit|alt|hoch|groß|schwer)\b",
        r"\bcuánt[oa]s?\b",
        r"\bcombien\b",
    ),
    Kind.LIST: (
        r"\b(?:list|enumerate|name) (?:all|the|of|some|two|three|four|five)\b|^(?:list|enumerate)\b"
        r"|\bwhat are\b|\bwhich are\b|\b(?:what|which) (?:\w+ ){0,2}(?:are|were)\b",
        r"\bišvardin\w+|\bkokie\b|\bkokios\b|\bkurie\b|\bkurios\b",
        r"\bwelche\b|\bnenne\b",
        r"\bcuáles\b|\benumera\b",
        r"\bquels\b|\bquelles\b|\bénumère\b",
    ),
    Kind.YES_NO: (
        r"^(?:is|are|was|were|does|do|did|can|could|should|must|may|has|have|will|would)\b",
        r"^ar\b",
        r"^(?:ist|sind|war|waren|kann|können|darf|muss|hat|haben|gibt|wird)\b",
        r"^¿?(?:es|son|está|puede|pueden|hay|tiene|debe)\b",
        r"^(?:est-ce|peut-on|y a-t-il|faut-il)\b",
    ),
}
"""The question words of English, Lithuanian, German, Spanish and French, in this order; the first kind that fits."""

_WORD_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve half both none once twice "
    "vienas viena du dvi trys keturi penki šeši septyni aštuoni devyni dešimt vienuolika dvylika "
    "ein eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf "
    "uno una dos tres cuatro cinco seis siete ocho nueve diez un deux trois quatre cinq sept huit neuf dix"
)
_NUMBER_WORDS = frozenset(_WORD_NUMBERS.split())
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"(?<!\w)['\"‘“„`]([^'\"’‘”“`]{1,80})['\"’”“`](?!\w)")
_PAGE = re.compile(
    r"\b(?:which|what) pages?\b|\bkuri\w+ puslap|\bwelche\w* seite|\bqué página|\bquelles? pages?\b", re.IGNORECASE
)
_GATHERS = re.compile(
    r"\b(?:most|least|highest|lowest|largest|smallest|longest|shortest|greatest|biggest|fewest|greater|more|less|"
    r"how many|total|sum|average|difference|compar\w+|both|all|each|list|table)\b"
    r"|\b(?:daugiausia|mažiausia|didžiaus\w+|kiek|skirtum\w+|palygin\w+|abu|visi|visos|išvardin\w+)\b"
    r"|\b(?:meisten|wenigsten|höchste\w*|größte\w*|kleinste\w*|wie ?viele|summe|unterschied|vergleich\w*|beide|alle)\b"
    r"|\b(?:mayor|menor|cuántos|cuántas|suma|diferencia|ambos|todos|todas)\b"
    r"|\b(?:plus grand|moins|combien|somme|différence|tous|toutes)\b",
    re.IGNORECASE,
)
"""Words of a question that adds up, compares or lists: its answer is seldom in one place."""
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_DATE = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b\d{1,2}[:h]\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|"
    r"april|june|july|august|september|october|november|december|day|week|month|year|hour|minute|sausio|vasario|"
    r"kovo|balandžio|gegužės|birželio|liepos|rugpjūčio|rugsėjo|spalio|lapkričio|gruodžio|met\w{1,3}|dien\w+|"
    r"val|after|before|until|once|when)s?\b",
    re.IGNORECASE,
)


_NEEDED: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(needed, re.IGNORECASE))
    for asked, needed in (
        (
            r"\b(?:phone|fax|hotline) ?(?:no|number)s?\b|\btelefon\w*nummer|\bnúmero de teléfono|\bnuméro de téléphone"
            r"|\btelephone (?:no|number)s?\b|\btelefono numer",
            r"\+?\(?\d[\d()/. -]{5,}\d",
        ),
        (r"\be-?mail address|\bel\. ?pašto adres|\bcorreo electrónico|\badresse e-?mail|\be-?mail-adresse", r"\S@\S"),
        (r"\b(?:url|web ?(?:site )?address)\b", r"\bhttps?:|\bwww\.|\w\.[a-z]{2,4}\b"),
        (
            r"\b(?:what|which|how many) (?:\w+ )?(?:percent\w*|per cent)\b|\bkiek procent"
            r"|\bwie viel prozent|\bqué porcentaje|\bquel pourcentage",
            r"%|\bper ?cent|\bprozent|\bpor ciento|\bpour cent|\bprocent",
        ),
        (r"\b(?:what|which)\b.{0,30}\btemperature\b|\bin (?:celsius|fahrenheit)\b", r"°|\bdegrees?\b|\d ?[CF]\b"),
    )
)
"""What an answer must hold if a question asks for it: a telephone number, an address, a percentage, a temperature."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its kind of answer.

    `numbers` are those it names itself, `quoted` what it puts in quotes, `needed` what an answer must hold.
    """

    text: str
    kind: Kind
    numbers: frozenset[str]
    quoted: Sequence[re.Pattern[str]] = ()
    needed: Sequence[re.Pattern[str]] = ()

    @classmethod
    def of(cls, question: str) -> "Asked":
        """Read a question."""
        text = question.strip()
        kind = next((kind for kind, pattern in _compiled() if pattern.search(text)), Kind.FACT)
        quoted = [re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE) for words in _QUOTED.findall(question)]
        needed = [pattern for asked, pattern in _NEEDED if kind is not Kind.STEPS and asked.search(text)]
        return cls(text, kind, frozenset(_DIGITS.findall(question)), quoted, needed)

    @property
    def for_page(self) -> bool:
        """Whether it asks for a page."""
        return _PAGE.search(self.text) is not None

    @property
    def gathers(self) -> bool:
        """Whether its answer is to be gathered from several places."""
        return _GATHERS.search(self.text) is not None

    def quotes_from(self, *texts: str) -> bool:
        """Return whether one of the texts holds what the question puts in quotes: a name, a heading, a sign."""
        return any(words.search(text) for words in self.quoted for text in texts)

    def fits(self, text: str) -> bool:
        """Return whether a text holds what is needed: a number that the question does not name, a date, an address."""
        if not all(pattern.search(text) for pattern in self.needed):
            return False
        if self.kind is Kind.NUMBER:
            return bool(self.new_numbers(text)) or not _NUMBER_WORDS.isdisjoint(_WORD.findall(text.lower()))
        if self.kind is Kind.TIME:
            return _DATE.search(text) is not None
        return True

    def new_numbers(self, text: str) -> Sequence[str]:
        """Return the numbers of a text that are not in the question."""
        return [number for number in _DIGITS.findall(text) if number not in self.numbers]


@cache
def _compiled() -> Sequence[tuple[Kind, re.Pattern[str]]]:
    return [(kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in _PATTERNS.items()]
