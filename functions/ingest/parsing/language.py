"""Which language a text is in: by script, and for Latin and Cyrillic letters by the commonest small words."""

import re
from collections import Counter

SMALL_WORDS = {
    "en": "the of and to in is that for it with as are this be on by not or from at an which was have",
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
    "da": "og at det som en på er af for med den til ikke om et har de kan eller ved fra skal",
    "no": "og at det som en på er av for med den til ikke om et har de kan eller ved fra skal",
    "fi": "ja on ei että se joka ovat tai kun oli mutta myös niin voi hän kuin sen mukaan jos tämä",
    "hu": "a az és hogy nem is egy ez van de meg csak mint vagy azt ha el már lehet kell",
    "ro": "și în de la cu pe care nu este din pentru sau o un mai ce prin sunt ca al se fi",
    "tr": "ve bir bu için ile olarak da de olan daha gibi çok en ne kadar veya her sonra ise değil",
    "ru": "и в не на что с по как это к из у за от для то или так все при также быть его",
    "uk": "і в не на що з та до як це у за від для або при також бути його є які яка та",
    "bg": "и на в за да се от с е по не са като при или до това този които има може след",
}
_SETS = {name: frozenset(words.split()) for name, words in SMALL_WORDS.items()}
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
ENOUGH_HITS = 3
SAMPLE = 20_000


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of a text's language, or "" when it cannot be told.

    The language whose small words are the largest share of the words wins; three of them must be there at least.
    """
    text = text[:SAMPLE]
    by_script = _by_script(text)
    if by_script:
        return by_script
    words = Counter(_WORD.findall(text.lower()))
    total = sum(words.values())
    scores = {name: sum(words[word] for word in small) for name, small in _SETS.items()}
    # Letters only one of two close languages has decide between them.
    _prefer(scores, text, "da", "no", "æøå")
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= max(ENOUGH_HITS, 0.04 * total) else ""


def _prefer(scores: dict[str, int], text: str, first: str, second: str, letters: str) -> None:
    if scores[first] == scores[second] and any(letter in text for letter in letters):
        scores[second] -= 1


def _by_script(text: str) -> str:
    if text.isascii():
        return ""
    letters = sum(character.isalpha() for character in text)
    for name, first, last in _SCRIPTS:
        count = sum(first <= character <= last for character in text)
        # Japanese is mostly Han: a tenth of kana tells it from Chinese.
        if count and count > (0.08 if name == "ja" else 0.3) * letters:
            return name
    return ""
