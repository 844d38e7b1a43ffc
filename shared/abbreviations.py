"""Tells the full stops that end no sentence: of abbreviations, of initials, of numbers that count ("am 3. April")."""

import re

ABBREVIATIONS = frozenset(
    """
    e.g i.e cf vs viz al approx ca resp incl excl dept eds dr mr mrs prof rev hon gen sen rep gov capt lt sgt st
    jr sr messrs bros univ assn max z.b d.h u.a o.ä bzw hrn fr med phil rer nat hrsg vgl ggf evtl
    inkl zzgl sog bspw geb mme mmes mlle pág págs sra srta dra ud uds núm ej av avda ee sig dott pvz kt t.y habil vyr
    pan m d g k žr plg
    """.split()  # noqa: SIM905
)
"""What a full stop belongs to: titles, company forms, references; English first, then German, French, Spanish, Italian,
Lithuanian. Lower case, without the last stop."""
BEFORE_NUMBER = frozenset(
    """
    no nos nr fig figs eq eqs sec secs ch chap art arts vol vols pp p tab ref refs appx para paras par col ex str
    abs bd ed kap abb ziff ext tel tél réf rs est jan feb mar apr jun jul aug sep sept oct okt nov dec dez
    mon tue wed thu fri Mo Di Mi Do Sa So
    """.split()  # noqa: SIM905
)
"""The same, but only before a number or a letter that stands for one: "No. 5" is a reference, "he said no." is not."""
UNITS = frozenset("min hr ft mt mm ms".split())  # noqa: SIM905
"""The same, but behind a number they are units, which may end a sentence: "It takes 30 min. Then stop."."""
OFTEN_LAST = frozenset("inc ltd co corp llc etc usw usf mio mrd mln mlrd tūkst".split())  # noqa: SIM905
"""The same, but they end a sentence where a word follows that begins many."""
BEGINNINGS = frozenset(
    """
    a he i if it she the they this these we when you
    aber alle als am an auf aus bei bis bitte da dafür daher danach dann das dem den der des die dies diese dieser
    dort du ein eine er es für gegen hier ich ihr ihre im in je jede jeder kein man mit nach nur ob oder ohne seit sie
    sind so sowie um und unter vom von vor wann was wegen weil wenn wer wie wir wird wo zu zum zur zwischen über
    """.split()  # noqa: SIM905
)
"""Words that begin sentences, English and German; none is a noun, so none is what a number counts."""
LONGEST_ABBREVIATION = 12
"""Characters before a full stop in which its abbreviation begins."""
_LOOKED_AT = 24
"""Characters before a full stop that tell what the number before it counts."""

_LAST_WORD = re.compile(r"[^\s(\[\"'“‘„«]+\Z")
_INITIALS = re.compile(r"(?:dipl|dr|mag)\.-[a-z]+|[a-z](?:\.-?[a-z])*", re.IGNORECASE)
"""Also titles put together: "p.m", "J.-P", "Dipl.-Ing"."""
_STREET = "str"
"""How a street's name ends in German: "Bahnhofstr. 3"."""
_NUMBER = re.compile(r"[^\S\n]+[(\[]*(?:\d|[^\W\d_]{1,4}-?\d|[B-HJ-Z](?![^\W\d_])|[IVXLC]{2,}\b)|\s*\Z")
_FIRST_WORD = re.compile(r"\s+[\"'“‘„«]*([^\W\d_]+)")

_MONTHS = "januar|jänner|februar|märz|mai|juni|juli|oktober|dezember"
_ENGLISH_MONTHS = "april|august|september|november"
MONTH = rf"(?i:{_MONTHS}|{_ENGLISH_MONTHS})\b"
"""Regular expression for a month as German writes it; four of them are English, too."""
_ROMAN = "IVX"
_COUNTS = re.compile(rf"(?:(?<![\w.,:])\d{{1,3}}|\b[{_ROMAN}]{{2,5}})\Z")
_OF_MONTH = re.compile(
    rf"\s+(?:(?i:{_MONTHS})\b|(?i:{_ENGLISH_MONTHS})\s(?:19|20)\d\d\b|\d{{1,2}}\.\s?(?:19|20)\d\d\b)"
)
_OF_ENGLISH_MONTH = re.compile(rf"\s+(?i:{_ENGLISH_MONTHS})\b")
_MONTH_BEFORE_YEAR = re.compile(r"(?<![\d.,:])\d{1,2}\.\s\d{1,2}\Z")
_YEAR = re.compile(r"\s+(?:19|20)\d\d\b")
_ARTICLE = r"\b(?i:der|die|das|dem|den|des|jede[mnrs]?|im|vom|zum|zur|beim|(?<!\bi )(?<!\d )am)"
_AFTER_ARTICLE = re.compile(rf"{_ARTICLE}\s+\w+\Z")
_IN_DATE = re.compile(
    rf"(?:{_ARTICLE}\s+|\b(?i:bis|ab|seit|und|oder)\s+|[a-z](?:tag|woch|abend),?\s+|[:(]\s*|[.\d]\s?[–/-]\s?)\w+\Z"
)


def is_abbreviated(text: str, at: int) -> bool:
    """Return whether the full stop at a position belongs to an abbreviation, an initial, or a number that counts."""
    word = _LAST_WORD.search(text, max(0, at - LONGEST_ABBREVIATION), at) if text[at] == "." else None
    if word is None:
        return False
    name = word[0].lower()
    if (len(name) == 1 or "." in name) and _INITIALS.fullmatch(name):
        return True
    if name in ABBREVIATIONS:
        return not _is_acronym(word[0], text, at + 1)
    if name in UNITS:
        is_unit = text[max(0, word.start() - 2) : word.start()].rstrip()[-1:].isdigit()
        return not is_unit and not _is_acronym(word[0], text, at + 1)
    if name in OFTEN_LAST:
        return not _begins_sentence(text, at + 1)
    if name in BEFORE_NUMBER or word[0] in BEFORE_NUMBER or name.endswith(_STREET):
        return _NUMBER.match(text, at + 1) is not None
    return (word[0][-1].isdigit() or word[0][-1] in _ROMAN) and _counts(text, at)


def _counts(text: str, at: int) -> bool:
    """Whether the number before a full stop counts what follows, as German writes "am 3. April", "im 1. Stock"."""
    before = text[max(0, at - _LOOKED_AT) : at]
    if _COUNTS.search(before) is None:
        return _MONTH_BEFORE_YEAR.search(before) is not None and _YEAR.match(text, at + 1) is not None
    if _OF_MONTH.match(text, at + 1) or (_MONTH_BEFORE_YEAR.search(before) and _YEAR.match(text, at + 1)):
        return True
    if _OF_ENGLISH_MONTH.match(text, at + 1):
        return _IN_DATE.search(before) is not None
    follows = _FIRST_WORD.match(text, at + 1) is not None and not _begins_sentence(text, at + 1)
    return follows and _AFTER_ARTICLE.search(before) is not None


def _is_acronym(word: str, text: str, at: int) -> bool:
    """Whether a word is in capitals, and the next one is not: "by HR. Then", but "DR. MARY LEE"."""
    follows = _FIRST_WORD.match(text, at)
    return word.isupper() and follows is not None and not follows[1].isupper()


def _begins_sentence(text: str, at: int) -> bool:
    """Whether a capital follows, and its word is one that begins sentences."""
    word = _FIRST_WORD.match(text, at)
    return word is not None and word[1][0].isupper() and word[1].lower() in BEGINNINGS
