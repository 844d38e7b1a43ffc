"""The fixed sentences Recto says itself, by language; one JSON file each under `texts/`."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from shared.lexical import fold
from shared.settings import Settings

_TEXTS = Path(__file__).parents[1] / "texts"
_LANGUAGE_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian",
    "lv": "Latvian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "th": "Thai", "tr": "Turkish",
    "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
"""Languages a model can be asked to answer in; fixed sentences are shipped for some of them."""
_OWN_NAMES = {
    "ar": "العربية", "bg": "български", "ca": "català", "cs": "čeština česky", "da": "dansk", "de": "Deutsch",
    "el": "ελληνικά", "es": "español castellano", "et": "eesti", "fi": "suomi suomeksi", "fr": "français",
    "he": "עברית", "hi": "हिन्दी", "hr": "hrvatski", "hu": "magyar magyarul", "it": "italiano", "ja": "日本語",
    "ko": "한국어", "lt": "lietuvių lietuviškai", "lv": "latviešu latviski", "nl": "Nederlands", "no": "norsk bokmål",
    "pl": "polski polsku", "pt": "português", "ro": "română", "ru": "русский русском русски",
    "sk": "slovenčina slovensky", "sl": "slovenščina slovensko", "sv": "svenska", "th": "ไทย", "tr": "Türkçe",
    "uk": "українська українською", "zh": "中文 汉语 漢語",
}  # fmt: skip
"""What they are called by those who speak them."""


class Texts(NamedTuple):
    """What is said in one language."""

    language_name: str
    no_relevant_info: str
    handoff_offer: str
    dont_know: str


@cache
def languages() -> frozenset[str]:
    """Return the language codes that texts are shipped for."""
    return frozenset(path.stem for path in _TEXTS.glob("*.json"))


@cache
def texts_for(language: str, default: str = "en") -> Texts:
    """Return the texts of `language` ("lt", "lt-LT"), or of `default` where none are shipped."""
    chosen = next((each for each in (_code(language), default, "en") if each in languages()), "en")
    return Texts(**json.loads((_TEXTS / f"{chosen}.json").read_text(encoding="utf-8")))


@cache
def rendered(name: str, language: str, default: str = "en") -> str:
    """Return the reviewed file `texts/{name}.txt` with the language's name and fixed sentences filled in."""
    template = (_TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    texts = texts_for(language, default)
    named = _LANGUAGE_NAMES.get(_code(language), texts.language_name)
    return template.format(dont_know=texts.dont_know, language=named).strip()


def comparable(sentence: str) -> str:
    """Return a sentence without what may differ in repeating it: case, apostrophes, its full stop, spaces."""
    return " ".join(sentence.replace("’", "'").casefold().split()).strip(" .!\"'*_")


def language_code_of(wish: str) -> str:
    """Return the code of the language somebody wishes for: "lt", "lt-LT", "Lithuanian", "lietuvių", "in Lithuanian".

    Empty where no language is known by that name, or where several are named.
    """
    code = _code(wish.strip())
    if code in _LANGUAGE_NAMES:
        return code
    named = {_codes_by_name().get(word, "") for word in re.split(r"[\s.,;:!?/()\"'-]+", _plain(wish))} - {""}
    return named.pop() if len(named) == 1 else ""


@cache
def _codes_by_name() -> Mapping[str, str]:
    names = [*_LANGUAGE_NAMES.items(), *_OWN_NAMES.items()]
    return {_plain(name): code for code, called in names for name in called.split()}


def _plain(name: str) -> str:
    return fold(name).casefold()


def _code(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()


# --- What is said instead of an answer, and how a model's own words for "I do not know" are told from a claim ---

Refusal = Literal["no_relevant_info", "model_does_not_know", "nothing_proven"]
"""Who found nothing: the search; the model that read the sources; or the check of its claims, which left none."""

_PATTERNS = Path(__file__).parents[1] / "texts" / "dont_know_patterns.txt"
_LOOKED_AT = 400
"""Characters of a sentence that are compared with the patterns."""
_COURTESY = "+ "
_NAMED = "SOURCES"
_LEAD = r"\W*(?:[^.!?;:\n]{0,80},\s+)?(?:(?:but|however|unfortunately|sorry|bet|deja|aber|leider|mais|pero|ale),?\s+)*"
"""What may stand before it: "Based on the sources,", "I'm sorry, but"."""


class _Said(NamedTuple):
    sentences: frozenset[str]
    patterns: re.Pattern[str]


def refusal_text(kind: Refusal, language: str, settings: Settings) -> str:
    """Return what is said in place of an answer, with the offer of a person's help where that is set."""
    texts = texts_for(language, settings.default_language)
    said = texts.no_relevant_info if kind == "no_relevant_info" else texts.dont_know
    return f"{said} {texts.handoff_offer}" if settings.handoff_offer else said


def says_it_does_not_know(sentences: Iterable[str]) -> bool:
    """Say whether sentences of a model, none of which is grounded, come to "the sources do not say" and no more."""
    ignorance, courtesy = _ignorance(), _courtesy()
    found = False
    for sentence in sentences:
        if _says(ignorance, sentence):
            found = True
        elif not _says(courtesy, sentence):
            return False
    return found


def _says(said: _Said, sentence: str) -> bool:
    return comparable(sentence) in said.sentences or said.patterns.match(_folded(sentence)) is not None


def _folded(sentence: str) -> str:
    return " ".join(fold(sentence[:_LOOKED_AT].replace("’", "'")).split())


@cache
def _ignorance() -> _Said:
    known = [texts_for(language) for language in languages()]
    fixed = frozenset(comparable(said) for texts in known for said in (texts.dont_know, texts.no_relevant_info))
    return _Said(fixed, _any_of(line for line in _lines() if not line.startswith(_COURTESY)))


@cache
def _courtesy() -> _Said:
    fixed = frozenset(comparable(texts_for(language).handoff_offer) for language in languages())
    return _Said(fixed, _any_of(line.removeprefix(_COURTESY) for line in _lines() if line.startswith(_COURTESY)))


def _any_of(lines: Iterable[str]) -> re.Pattern[str]:
    return re.compile(f"{_LEAD}(?:{'|'.join(f'(?:{line})' for line in lines)})", re.IGNORECASE)


@cache
def _lines() -> tuple[str, ...]:
    lines = [line for line in _PATTERNS.read_text(encoding="utf-8").splitlines() if line and line[:2] != "# "]
    named = next(line for line in lines if line.startswith(f"{_NAMED} = ")).partition(" = ")[2]
    return tuple(line.replace(_NAMED, named) for line in lines if not line.startswith(f"{_NAMED} = "))
