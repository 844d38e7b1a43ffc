"""Units and currencies by the ways they are written; one name for each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

# --- Numbers as people write them, read into values: separators of either kind, scales, words, signs ---

NUMBER = (
    r"\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+,\d+(?!\d)"
    r"|\d{1,3}(?:[ ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*"
)
_SCALES = {
    "hundred": 2, "thousand": 3, "thousands": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "mln": 6, "mil": 6,
    "billion": 9, "billions": 9, "bn": 9, "mlrd": 9, "mrd": 9, "trillion": 12, "trillions": 12, "tn": 12, "trln": 12,
    "tukst": 3, "tukstantis": 3, "tukstanciai": 3, "tukstanciu": 3, "tukstancius": 3, "simtai": 2, "simtu": 2,
    "milijonas": 6, "milijonai": 6, "milijonu": 6, "milijonus": 6, "milijono": 6,
    "milijardas": 9, "milijardai": 9, "milijardu": 9, "milijardus": 9, "milijardo": 9, "lakh": 5, "crore": 7,
    "millionen": 6, "milliarden": 9, "milliards": 9, "millones": 6,
}  # fmt: skip
_ATTACHED = {"k": 3, "m": 6, "b": 9, "t": 12}
"""Scales of one letter: only right behind a number that has a currency sign ("$1.2M")."""
SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))

_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12, "twice": 2,
    "du": 2, "dvi": 2, "dvieju": 2, "trys": 3, "tris": 3, "triju": 3, "keturi": 4, "keturios": 4, "keturis": 4,
    "keturiu": 4, "penki": 5, "penkios": 5, "penkis": 5, "penkiu": 5, "sesi": 6, "sesios": 6, "sesis": 6, "sesiu": 6,
    "septyni": 7, "septynios": 7, "septyniu": 7, "astuoni": 8, "astuonios": 8, "astuoniu": 8, "devyni": 9,
    "devynios": 9, "devyniu": 9, "desimt": 10, "desimties": 10, "dvylika": 12, "dvidesimt": 20, "trisdesimt": 30,
    "penkiasdesimt": 50, "simtas": 100, "simta": 100,
}  # fmt: skip
_ORDINALS = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10
}  # fmt: skip
_ANY_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
SPELLED = re.compile(
    rf"\b(?:{_ANY_WORD})(?:(?:[ -]|[ ]and[ ]|[ -]hundred[ ](?:and[ ])?)(?:{_ANY_WORD}|{SCALE}))*\b", re.IGNORECASE
)
ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a number may mean. `quantum` is the worth of its last digit, for telling whether it may be a rounded one."""

    values: frozenset[Decimal]
    quantum: Decimal


def readings(digits: str, scale: str = "") -> Reading:
    """Read digits with separators, times a scale word.

    "1.234" may be a thousand and more or a decimal, by the writer's country: both values are given. "1,234" could be a
    decimal, too, but hardly anybody writes three decimals behind a comma, and it would let 1,234 pass for 1.234.
    """
    plain = re.sub(r"[\s\u00a0\u202f\u2009'’]", "", digits)
    factor = Decimal(10) ** scale_of(scale)
    forms = list(_plain_forms(plain))
    if factor > 1 and plain.count(".") == 1 and "," not in plain:
        forms = [plain]  # nobody writes "2.175 billion" for two thousand billions
    values = {Decimal(each) * factor for each in forms}
    decimals = len(re.split(r"[.,]", plain)[-1]) if re.search(r"[.,]", plain) and len(values) == 1 else 0
    if decimals and all(value == value.to_integral_value() for value in map(Decimal, forms)):
        decimals = 0
    return Reading(frozenset(value.normalize() for value in values), factor * Decimal(10) ** -decimals)


def scale_of(word: str) -> int:
    """Return the power of ten of a scale word or letter; 0 for none."""
    bare = word.strip(". ").lower()
    return _SCALES.get(bare, 0) or _ATTACHED.get(bare, 0)


def is_number_word(word: str) -> bool:
    """Say whether a word (folded, in lower case) is a number or scales one."""
    return word in _WORDS or word in _SCALES or word in _ORDINALS


def spelled(words: str) -> Decimal:
    """Return the value of a spelled-out number: "twenty-five", "three hundred and fifty", "two million"."""
    total = current = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "hundred":
            current = max(1, current) * 100
        elif word in _SCALES:
            total += max(1, current) * 10 ** _SCALES[word]
            current = 0
    return Decimal(total + current)


def ordinal(word: str) -> Decimal:
    """Return the value of "third" to "tenth"."""
    return Decimal(_ORDINALS[word.lower()])


def _plain_forms(plain: str) -> Iterator[str]:
    commas, dots = plain.count(","), plain.count(".")
    decimal, grouping = (",", ".") if plain.rfind(",") > plain.rfind(".") else (".", ",")
    if commas and dots and plain.count(decimal) == 1:
        yield plain.replace(grouping, "").replace(decimal, ".")
    elif commas + dots > 1:
        yield plain.replace(",", "").replace(".", "")
    elif commas or dots:
        whole, _, fraction = plain.replace(",", ".").partition(".")
        is_group = len(fraction) == 3 and 1 <= len(whole) <= 3 and whole != "0"
        if not (is_group and commas):
            yield f"{whole}.{fraction}"
        if is_group:
            yield whole + fraction
    else:
        yield plain


# --- Dates as people write them: 3 January 2024, Jan. 3rd, 2024-01-03, 03.01.2024, 2024 m. sausio 3 d ---

_MONTHS = {
    1: "january jan sausio sausis sausi januar enero janvier",
    2: "february feb vasario vasaris vasari februar febrero fevrier",
    3: "march mar kovo kovas kova maerz marz marzo mars",
    4: "april apr balandzio balandis balandi abril avril",
    5: "may geguzes geguze mai mayo",
    6: "june jun birzelio birzelis birzeli juni junio juin",
    7: "july jul liepos liepa juli julio juillet",
    8: "august aug rugpjucio rugpjutis rugpjuti agosto aout",
    9: "september sept sep rugsejo rugsejis rugseji septiembre septembre",
    10: "october oct spalio spalis spali oktober okt octubre octobre",
    11: "november nov lapkricio lapkritis lapkriti noviembre novembre",
    12: "december dec gruodzio gruodis gruodi dezember dez diciembre decembre",
}
_NUMBER = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NAME = "(?:" + "|".join(sorted(_NUMBER, key=len, reverse=True)) + ")"
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_TH = r"(?:st|nd|rd|th)?"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<y>{_YEAR})-(?P<mn>0[1-9]|1[0-2])-(?P<d>{_DAY})(?!\d)",
        rf"\b(?P<y>{_YEAR})[./](?P<mn>0?[1-9]|1[0-2])[./](?P<d>{_DAY})(?!\d)",
        rf"\b(?P<a>\d{{1,2}})[./-](?P<b>\d{{1,2}})[./-](?P<y>{_YEAR})(?!\d)",
        rf"\b(?P<y>{_YEAR})\s*(?:m\.?|metu)\s*(?P<m>{_NAME})\b(?:\s*(?P<d>{_DAY})(?!\d)(?:\s*d\b\.?)?)?",
        rf"\b(?P<d>{_DAY}){_TH}(?:\.(?=\s)|\s+of)?[\s-]+(?P<m>{_NAME})\b\.?(?:,?[\s-]+(?P<y>{_YEAR})(?!\d))?",
        rf"\b(?P<m>{_NAME})\b\.?\s+(?P<d>{_DAY}){_TH}(?!\d|[.,]\d)(?:\s*d\b\.?)?(?:\s*,?\s+(?P<y>{_YEAR})(?!\d))?",
        rf"\b(?P<m>{_NAME})\b\.?,?\s+(?:of\s+)?(?P<y>{_YEAR})(?!\d)",
        rf"\b(?P<y>{_YEAR})-(?P<mn>0[1-9]|1[0-2])(?![\d-])",
    )
)
_ALONE = re.compile(rf"\b(?P<m>{_NAME})\b", re.IGNORECASE)
_VERBS = frozenset({"may", "march", "mar", "mai", "mars", "dec", "sep", "jan", "okt", "dez", "juni", "juli", "liepa"})
"""Month names that are also other words: alone they are taken for a month only with a capital, "may" never."""


def is_month(word: str) -> bool:
    """Say whether a word (folded, in lower case) names a month."""
    return word in _NUMBER


@dataclass(frozen=True, slots=True)
class Date:
    """A date, possibly in part: 0 where a part is not said. `swapped` when day and month may be the other way round."""

    year: int
    month: int
    day: int
    start: int
    end: int
    swapped: bool = False


def dates_in(text: str) -> Iterator[Date]:
    """Yield the dates of a folded text (no diacritics), in order, none overlapping another."""
    found: list[Date] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not any(match.start() < each.end and match.end() > each.start for each in found):
                found.extend(_dates(match))
    for match in _ALONE.finditer(text):
        name = match.group()
        doubtful = name.lower() in _VERBS and (name.lower() == "may" or not name[0].isupper())
        if not doubtful and not any(match.start() < each.end and match.end() > each.start for each in found):
            found.append(Date(0, _NUMBER[name.lower()], 0, *match.span()))
    return iter(sorted(found, key=lambda date: date.start))


def agrees(said: Date, held: Date) -> bool:
    """Say whether every part of a date that was said stands in the date that is held."""
    ways = [(held.month, held.day)] + ([(held.day, held.month)] if held.swapped else [])
    mine = [(said.month, said.day)] + ([(said.day, said.month)] if said.swapped else [])
    parts = any(
        (not month or month == other_month) and (not day or day == other_day)
        for month, day in mine
        for other_month, other_day in ways
    )
    return parts and (not said.year or not held.year or said.year == held.year)


def _dates(match: "re.Match[str]") -> Iterator[Date]:
    parts = match.groupdict()
    year = int(parts.get("y") or 0)
    if parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        if first <= 31 and second <= 12:
            yield Date(year, second, first, *match.span(), swapped=first <= 12)
        elif first <= 12 and second <= 31:
            yield Date(year, first, second, *match.span())
        return
    month = int(parts["mn"]) if parts.get("mn") else _NUMBER[parts["m"].lower()]
    yield Date(year, month, int(parts.get("d") or 0), *match.span())


_WAYS = {
    "percent": "%|percent|per cent|percentage|pct|prozent|procentas|procentai|procentu|procento|procentus|proc.|proc",
    "pp": "percentage points|percentage point|pp|p.p.|procentiniai punktai|procentinio punkto|procentiniu punktu|"
    "procentiniais punktais|procentinius punktus",
    "bp": "basis points|basis point|bps|bp",
    "usd": "us dollars|u.s. dollars|dollars|dollar|usd|doleriai|doleriu",
    "eur": "euros|euro|eur|eurai|euru|eurus",
    "gbp": "pounds sterling|gbp",
    "jpy": "yen|jpy",
    "cents": "cents|cent",
    "ltl": "litai|litu|ltl|lt",
    "chf": "chf|swiss francs|francs",
    "km": "kilometres|kilometre|kilometers|kilometer|km|kilometrai|kilometru",
    "m": "metres|metre|meters|meter|m|metrai|metru",
    "cm": "centimetres|centimetre|centimeters|centimeter|cm",
    "mm": "millimetres|millimetre|millimeters|millimeter|mm",
    "ug": "micrograms|microgram|mcg|µg|μg|ug",
    "um": "micrometres|micrometers|microns|µm|μm|um",
    "nm": "nanometres|nanometers|nm",
    "mi": "miles|mile",
    "ft": "feet|foot|ft",
    "in": "inches|inch",
    "kg": "kilograms|kilogram|kilogrammes|kg|kilogramai|kilogramu",
    "g": "grams|gram|grammes|g|gramai|gramu",
    "mg": "milligrams|milligram|mg",
    "t": "tonnes|tonne|tons|ton",
    "lb": "pounds|pound|lbs|lb",
    "oz": "ounces|ounce|oz",
    "l": "litres|litre|liters|liter|l|litrai|litru",
    "ml": "millilitres|millilitre|milliliters|milliliter|ml",
    "gal": "gallons|gallon",
    "c": "°c|degrees celsius|degree celsius|degrees c",
    "f": "°f|degrees fahrenheit|degrees f",
    "deg": "°|degrees|degree",
    "k": "kelvin|kelvins",
    "w": "watts|watt|w",
    "kw": "kilowatts|kilowatt|kw",
    "mw": "megawatts|megawatt|mw",
    "kwh": "kilowatt hours|kilowatt-hours|kwh",
    "mwh": "megawatt hours|megawatt-hours|mwh",
    "v": "volts|volt|v",
    "mv": "millivolts|mv",
    "a": "amperes|ampere|amps|amp",
    "ma": "milliamperes|milliamps|ma",
    "hz": "hertz|hz",
    "khz": "kilohertz|khz",
    "mhz": "megahertz|mhz",
    "ghz": "gigahertz|ghz",
    "db": "decibels|decibel|db",
    "pa": "pascals|pascal|pa",
    "kpa": "kilopascals|kpa",
    "bar": "bars|bar",
    "psi": "psi",
    "b": "bytes|byte",
    "bit": "bits|bit",
    "kb": "kilobytes|kilobyte|kb",
    "mb": "megabytes|megabyte|mb",
    "gb": "gigabytes|gigabyte|gb",
    "tb": "terabytes|terabyte|tb",
    "ms": "milliseconds|millisecond|ms",
    "s": "seconds|second|secs|sec|s|sekundes|sekundziu",
    "min": "minutes|minute|mins|min|minutes|minuciu",
    "h": "hours|hour|hrs|hr|h|valandos|valandu|val.",
    "day": "days|day|dienos|dienu|dienas|diena",
    "week": "weeks|week|savaites|savaiciu|savaite",
    "month": "months|month|menesiai|menesiu|menesius|menesi|menuo|men.",
    "year": "years|year|metai|metu|metus",
    "people": "people|persons|person|zmones|zmoniu",
    "employees": "employees|employee|darbuotojai|darbuotoju",
    "pages": "pages|page|puslapiai|puslapiu",
    "x": "times|fold|x|×",
    "m2": "square metres|square meters|m2|m²|sq m",
    "km2": "square kilometres|square kilometers|km2|km²",
    "m3": "cubic metres|cubic meters|m3|m³",
    "ha": "hectares|hectare|ha",
    "kmh": "km/h|kph|kilometres per hour|kilometers per hour",
    "mph": "mph|miles per hour",
    "rpm": "rpm",
    "ppm": "ppm",
    "shares": "shares|share",
}
_NAMES: dict[str, str] = {}
for _name, _ways in _WAYS.items():
    for _way in _ways.split("|"):
        _NAMES.setdefault(_way, _name)
_NAMES |= {"$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}

SIGNS = r"US\$|[$€£¥]|\b(?:USD|EUR|GBP|JPY|CHF|LTL)\b"
UNIT = "|".join(
    re.escape(way).replace(r"\ ", r"[\s-]")
    for way in sorted(_NAMES, key=len, reverse=True)
    if way not in {"$", "us$", "¥"}
)


def is_unit(word: str) -> bool:
    """Say whether a word (folded, in lower case) is a unit or a currency."""
    return word in _NAMES


def canonical(written: str) -> str:
    """Return the one name of a unit or currency, however it is written; unknown ones are their own."""
    key = re.sub(r"[\s-]+", " ", written.strip().lower())
    return _NAMES.get(key) or _NAMES.get(key.rstrip(".")) or key
