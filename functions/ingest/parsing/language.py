"""Which language a text is in: by script, and for Latin and Cyrillic letters by the commonest small words."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Set

SMALL_WORDS = {
    "en": "the of and to in is that for it with as are this be on by not or from at an which was have "
    "a i you we they he she your our their what how when who if can will has do does no all more than its these about",
    "de": "der die und den das ist von mit für auf ein eine nicht des im zu dem sich auch als werden wird oder bei",
    "fr": "le la les des et est une dans pour que qui du au sur par pas avec sont ce cette ou plus vous",
    "es": "el los las del que en por una con para es se su al como más este esta son ha pero sus",
    "it": "il di che la per una con non del della sono gli nel dei alla più anche come questo si le ed",
    "pt": "o os as do da dos das que em para uma com não por mais se ao como são pela pelo também ou",
    "nl": "de het een van en in is dat op te voor met zijn aan niet ook door er bij wordt naar deze of",
    "lt": "ir yra kad į iš su bei arba tai kaip už apie nuo po jo jų ar buvo turi taip pat būti pagal ne gali",
    "lv": "un ir ar no par uz tiek ka kas vai pie tā to nav kā lai pēc šī var arī bet ja līdz",
    "et": "ja on ei et see kui mis oma ka või ning selle mida kes siis aga oli tema seda välja",
    "pl": "i w na z do się nie jest że to oraz dla od przez przy lub jak są po za o może tym ich",
    "cs": "a v na se je že s z do pro to jako o by jsou ve k nebo při které být po tak aby",
    "sk": "a v na sa je že s z do pre to ako o by sú vo k alebo pri ktoré byť po tak aby",
    "sv": "och att det som en på är av för med den till inte om ett har de kan eller vid från ska",
    "da": "og at det som en på er af for med den til ikke om et har de kan eller ved fra skal også efter blev",
    "no": "og at det som en på er av for med den til ikke om et har de kan eller ved fra skal også etter ble",
    "fi": "ja on ei että se joka ovat tai kun oli mutta myös niin voi hän kuin sen mukaan jos tämä",
    "hu": "a az és hogy nem is egy ez van de meg csak mint vagy azt ha el már lehet kell",
    "ro": "și în de la cu pe care nu este din pentru sau o un mai ce prin sunt ca al se fi",
    "tr": "ve bir bu için ile olarak da de olan daha gibi çok en ne kadar veya her sonra ise değil",
    "ru": "и в не на что с по как это к из у за от для то или так все при также быть его",
    "uk": "і в не на що з та до як це у за від для або при також бути його є які яка та",
    "bg": "и на в за да се от с е по не са като при или до това този които има може след",
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _name, _words in SMALL_WORDS.items():
    for _small in set(_words.split()):
        _LANGUAGES_OF.setdefault(_small, []).append(_name)
_OWN_LETTERS = {
    "cs": "áéěíýčřšůž", "da": "æøå", "et": "äõöü", "fi": "äö", "hu": "áéíóöőúü", "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž",
    "no": "æøå", "pl": "ąćęłńóśźż", "ro": "ăâîșțşţ", "sk": "áäčéíľšťýž", "sv": "åäö", "tr": "çğıöşü",
}  # fmt: skip
"""Languages that are hardly written at length without one of these letters."""
_UNIQUE = {
    name: {letter for letter in letters if sum(letter in other for other in _OWN_LETTERS.values()) == 1}
    for name, letters in _OWN_LETTERS.items()
}
_LETTER_WORTH = 0.5
"""What a letter that no other of these languages has adds to the small words."""
_WITHOUT_LETTERS = 0.4
"""What the small words of such a language are worth where none of its letters is seen."""
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", "\u3040", "\u30ff"),
    ("ko", "\uac00", "\ud7af"),
    ("zh", "\u4e00", "\u9fff"),
    ("ar", "\u0600", "\u06ff"),
    ("he", "\u0590", "\u05ff"),
    ("el", "\u0370", "\u03ff"),
    ("hi", "\u0900", "\u097f"),
    ("th", "\u0e00", "\u0e7f"),
    ("hy", "\u0530", "\u058f"),
    ("ka", "\u10a0", "\u10ff"),
)
_ANY_SCRIPT = re.compile("[" + "".join(f"{first}-{last}" for _, first, last in _SCRIPTS) + "]")
SAMPLE = 20_000
_ENOUGH = 1.0
"""Small words, each weighed by how few languages have it, that must speak for a language."""
_ENOUGH_SHARE = 0.04
"""Share of a text's words that must be small words of its language."""
_FEWEST = 2
"""Different small words there must be: one that is repeated may be a name or mean something else."""
_ENOUGH_TO_DIFFER = 2.5
"""What must speak for a language that is not that of the whole: a table may hold a few foreign words."""
_CLEARLY = 2.0
"""How many times stronger the words must speak for a part's own language than for the language of the whole."""


def language_of(text: str, *, within: str = "") -> str:
    """Return the ISO 639-1 code of a text's language, or "" when it cannot be told.

    Small words tell: different ones, each the more the fewer languages have it. `within` is the language of the whole
    that the text is a part of: it is returned unless the text clearly speaks another.
    """
    text = text[:SAMPLE]
    if by_script := _by_script(text):
        return by_script
    lower = text.lower()
    counts = Counter(_WORD.findall(lower))
    small = {word: counts[word] for word in counts.keys() & _LANGUAGES_OF.keys()}
    scores = _scores(small, set(lower))
    best = max(SMALL_WORDS, key=lambda name: scores[name])
    told_by = [count for word, count in small.items() if best in _LANGUAGES_OF[word]]
    enough = _ENOUGH_TO_DIFFER if within and best != within else _ENOUGH
    if scores[best] < enough or len(told_by) < _FEWEST or sum(told_by) < _ENOUGH_SHARE * counts.total():
        return within
    return best if scores[best] >= _CLEARLY * scores[within] else within


def _scores(small: Mapping[str, int], letters: Set[str]) -> defaultdict[str, float]:
    """Weigh each language: its small words that are there, a little more when they are there often, and its letters."""
    scores: defaultdict[str, float] = defaultdict(float)
    for word, count in small.items():
        names = _LANGUAGES_OF[word]
        for name in names:
            scores[name] += (1 + math.log(count)) / len(names)
    for name, own in _OWN_LETTERS.items():
        if not letters.isdisjoint(own):
            scores[name] += _LETTER_WORTH * len(letters & _UNIQUE[name])
        else:
            scores[name] *= _WITHOUT_LETTERS
    return scores


def _by_script(text: str) -> str:
    if not _ANY_SCRIPT.search(text):
        return ""
    letters = sum(map(str.isalpha, text))
    for name, first, last in _SCRIPTS:
        count = sum(first <= character <= last for character in text)
        # Japanese is mostly Han: a tenth of kana tells it from Chinese.
        if count and count > (0.08 if name == "ja" else 0.3) * letters:
            return name
    return ""
