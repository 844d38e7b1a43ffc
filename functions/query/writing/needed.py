"""What an answer must hold if a question asks for it: a telephone number, an address, a percentage, a sum of money."""

import re
from collections.abc import Sequence

from functions.query.grounding.quantities import CURRENCY_SIGN
from functions.query.understanding.days import days_in, months_in

_DURATION = (
    r"(?:\d|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|several|many)\b)"
    r"(?: (?:working|calendar|full|more))?[ -]?(?:m?s|(?:milli|micro)?seconds?|secs?|min(?:ute)?s?|h|hours?|hrs?|days?"
    r"|nights?|weeks?|months?|quarters?|years?|yrs?|decades?)\b"
    r"|\b(?:until|till|since|forever|life(?:time)?|permanent\w*|indefinite\w*)\b"
    r"|\b(?:sekunden?|minuten?|std|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|bis|seit|lebenslang|unbefristet)\b"
    r"|\b(?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?|années?|jusqu|depuis)\b"
    r"|\b(?:segundos?|minutos?|horas?|días?|semanas?|meses|mes|años?|hasta|desde)\b"
)
"""How long something lasts."""
_LENGTH = r"\d ?(?:mm|cm|k?m|ft|feet|foot|in|inch(?:es)?|yards?|miles?|pages?|words?|characters?|metres?|meters?)\b"
"""How long a thing is."""
_COLOUR = (
    r"\b(?:white|black|red|green|blue|yellow|brown|gr[ae]y|orange|pink|purple|violet|silver|gold(?:en)?|beige|cream|clear"
    r"|colourless|colorless|transparent|turquoise|weiß\w*|schwarz\w*|rot\w*|grün\w*|blau\w*|gelb\w*|braun\w*|grau\w*|rosa"
    r"|lila|durchsichtig\w*|blanch?e?s?|noire?s?|rouges?|verte?s?|bleue?s?|jaunes?|brune?s?|grise?s?|blanc[oa]s?|negr[oa]s?"
    r"|roj[oa]s?|verdes?|azul(?:es)?|amarill[oa]s?|marr[oó]n(?:es)?|gris(?:es)?)\b"
)
_NO_UNIT = r"(?:o|to|and|or|of|in|on|at|by|is|are|was|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|am|pm)\b"
"""Short words after a number that say nothing of what it measures."""
_COST = r"(?:cost|price|kost|preis|cuesta|cost[oóa]|precio|co[uû]t|prix|kain)"
"""How the words begin by which a price is asked for, in the five languages."""
_MONEY = re.compile(
    rf"(?:{CURRENCY_SIGN}) ?\d|\d ?(?:{CURRENCY_SIGN}|\b(?:euros?|dollars?|pounds?|francs?)\b)", re.IGNORECASE
)
_FREE = r"\b(?:kosten(?:los|frei)\w*|gratis|umsonst|gratuite?s?|gratuit[oa]s?|inklusive|inbegriffen|inclu[ioy]\w*)\b"
_TIME = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b\d{1,2}[:h]\d\d\b|\b\d{1,2}(?:[.:]\d\d)? ?(?:am\b|pm\b|a\.m\.|p\.m\.|uhr\b|h\b|val\b)"
    r"|\b(?:day|week|month|year|hour|minute|val|met\w{1,3}|dien\w+|after|before|until|once|when)s?\b"
    r"|\b(?:(?:tag|woche|monat|jahr|stunde|minute)e?[ns]?|nach|vor|bis|ab|sobald|wenn|jours?|semaines?|mois|années?|ans?"
    r"|heures?|après|avant|dès|lorsque|quand|días?|semanas?|mes(?:es)?|años?|horas?|después|antes|hasta|cuando|desde)\b"
    r"|\bjusqu['’]|\b(?:o['’]clock|noon|midnight)\b",
    re.IGNORECASE,
)
"""What tells a time without a name of a day or month, or after what something is, in the five languages."""
_RATE = re.compile(
    r"(?:\bper|[$€£¥] ?[\d.,]+ (?:an?|each|every)) (?:\w+ )?(?:day|week|month|year|hour|minute)\b", re.IGNORECASE
)
"""What says how often, not when: "£950 per calendar month"."""
_NEEDED: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(needed, re.IGNORECASE))
    for asked, needed in (
        (
            r"\bhow (?:soon|quickly|long) (?:can|could|do|does|did|will|would|may|must|should|shall|have|has|before)\b",
            _DURATION,
        ),
        (
            r"\b(?:at )?what time\b|\bum wie ?viel uhr\b|\bà quelle heure\b|\ba qué hora\b|\bkelintą valandą\b",
            r"\d[:.h]\d\d\b|\d ?(?:am\b|pm\b|a\.m\.|p\.m\.|uhr\b|h\b|o['’]?clock|val\b)"
            r"|\b(?:noon|midnight|o['’]clock|mittags?|midi|minuit|mediodía)\b|\|",
        ),
        (r"\bhow long (?:is|are|was|were)\b", f"{_DURATION}|{_LENGTH}"),
        (
            r"\bhow (?:far|long|many (?:days|weeks|months)) (?:ahead|in advance|before(?:hand)?)\b"
            r"|\bwie lange\b|\bcombien de temps\b|\bcuánto tiempo\b",
            _DURATION,
        ),
        (
            r"\b(?:what|which) colou?rs?\b|\bwelche\w* farben?\b|\bquelles? couleurs?\b|\bqué color",
            _COLOUR,
        ),
        (
            r"\bwas kostet\b|\bwie ?viel kostet\b|\bqué cuesta\b|\bcuánto cuesta\b|\bcombien coûte",
            rf"{_MONEY.pattern}|{_FREE}|\|",
        ),
        (
            r"\bwho (?:do|can|could|should|must|shall|would) (?:i|we|you|one) (?:call|ring|phone|telephone)\b"
            r"|\b(?:phone|fax|hotline) ?(?:no|number)s?\b|\btelefon\w*nummer|\bnúmero de teléfono|\bnuméro de téléphone"
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
        (
            r"\bhow much (?:is|are|was|were) (?:the|an?|it)\b"
            r"|\bhow much (?:\w+ )?(?:does|do|did|must|will|would)\b.*\b(?:cost|pay|owe)\b"
            r"|\bwhat (?:is|are|was|were) the (?:\w+ ){0,2}(?:price|cost|fee|fare|rent|salary)s?\b"
            r"|\bwhat (?:does|do|did|will|would) .{1,60} (?:cost|pay)(?: \w+){0,4}\W*\Z",
            rf"[$€£¥₹₽₺₩₴₫₪฿₦₱%|]|\bRs\.? ?\d|(?-i:\b[A-Z]{{3}} ?\d)|\d ?(?!{_NO_UNIT})[^\W\d_]{{1,3}}\b|\d[.,]\d\d\b"
            r"|\b(?:euros?|dollars?|pounds?|pence|cents?|francs?|crowns?|rubles?|zloty|[mb]illion|free|no charge)\b"
            r"|\d (?:per|an?|each) ",
        ),
        (r"\b(?:what|which)\b.{0,30}\btemperature\b|\bin (?:celsius|fahrenheit)\b", r"°|\bdegrees?\b|\d ?[CF]\b"),
    )
)
"""What an answer must hold if a question asks for it: a telephone number, an address, a percentage, a sum of money or a
measured amount, a temperature. A row may have its unit in its header."""


def is_priced(word: str, text: str) -> bool:
    """Return whether a word asks for a price, and a text tells a sum of money."""
    return re.match(_COST, word) is not None and _MONEY.search(text) is not None


def needed_by(question: str) -> Sequence[re.Pattern[str]]:
    """Return what an answer to a question must hold."""
    return [pattern for asked, pattern in _NEEDED if asked.search(question)]


def tells_time(text: str) -> bool:
    """Return whether a text tells a time, or after what something is; how often is none."""
    return _TIME.search(_RATE.sub(" ", text)) is not None or bool(days_in(text) or months_in(text))
