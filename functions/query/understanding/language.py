"""Which language a question is in. A question is too short for a text classifier: its small words and letters tell.

Ingest reads the language of whole documents another way; both give ISO 639-1 codes.
"""

import re
from pathlib import Path

from shared import lexical

_WORDS_OF = {
    name: frozenset(words)
    for name, *words in map(
        str.split, (Path(__file__).parents[1] / "texts" / "question_words.txt").read_text(encoding="utf-8").splitlines()
    )
}
_LETTERS = {
    "lt": "ėįųū", "lv": "ģķļņī", "et": "õ", "pl": "łśźżćń", "de": "ßü", "fr": "çèêœ", "es": "ñ¿¡", "pt": "ãõ",
    "sv": "å", "uk": "іїєґ", "ru": "ыэъё",
}  # fmt: skip
_SCRIPTS = (
    ("ja", "\u3040", "\u30ff"), ("ko", "\uac00", "\ud7af"), ("zh", "\u4e00", "\u9fff"), ("ar", "\u0600", "\u06ff"),
    ("he", "\u0590", "\u05ff"), ("el", "\u0370", "\u03ff"), ("hi", "\u0900", "\u097f"), ("th", "\u0e00", "\u0e7f"),
)  # fmt: skip
_SHIPPED = ("en", "lt")
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 1_000
"""Characters that are looked at."""
_LETTER_WORTH = 2
_ENOUGH = 2
"""Small words a language must have in a question; one will do for English and Lithuanian, which are asked in most."""
_SHORT_WORD = 2
"""Letters of a word that may be an abbreviation in any language."""
_CLEARLY = 1.5
"""How much commoner, per word on average (-ln of shares of texts), the words must be in the language that is chosen."""


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of a question's language, or "" when it cannot be told.

    Lithuanian typed without diacritics is told, too. Without any small word, the words of the question are looked up in
    the background tables of English and Lithuanian, the languages fixed messages are shipped in.
    """
    text = text[:_SAMPLE].lower()
    for name, first, last in _SCRIPTS:
        if any(first <= character <= last for character in text):
            return name
    words = _WORD.findall(text)
    scores = {
        name: sum(word in small for word in words)
        + _LETTER_WORTH * any(letter in text for letter in _LETTERS.get(name, ""))
        for name, small in _WORDS_OF.items()
    }
    first, second = sorted(scores, key=lambda name: -scores[name])[:2]
    enough = scores[first] >= (1 if first in _SHIPPED else _ENOUGH)
    return first if enough and scores[first] > scores[second] else _by_background(words)


def _by_background(words: list[str]) -> str:
    rarities = {name: _mean_rarity(words, name) for name in _SHIPPED}
    if not any(len(word) > _SHORT_WORD for word in words):
        return ""
    near, far = sorted(rarities, key=lambda name: rarities[name])
    return near if rarities[far] - rarities[near] > _CLEARLY else ""


def _mean_rarity(words: list[str], language: str) -> float:
    table = lexical.background(language)
    found = [
        min((table.get(term, lexical.RAREST) for term, _ in terms), default=lexical.RAREST)
        for word in words
        for terms in lexical.words_of(word, language)
    ]
    return sum(found) / len(found) if found else 0.0
