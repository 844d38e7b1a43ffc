"""Units and currencies by the ways they are written; one name for each."""

import re

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
