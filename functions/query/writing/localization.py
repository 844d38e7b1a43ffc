"""The fixed sentences Recto says itself, by language; one JSON file each under `texts/`."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

_TEXTS = Path(__file__).parents[1] / "texts"
_LANGUAGE_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French", "hr": "Croatian", "hu": "Hungarian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lv": "Latvian", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
"""Languages a model can be asked to answer in although no fixed sentences are shipped for them."""


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
    code = _code(language)
    named = texts.language_name if code in languages() else _LANGUAGE_NAMES.get(code, texts.language_name)
    return template.format(dont_know=texts.dont_know, language=named).strip()


@cache
def dont_know_sentences() -> frozenset[str]:
    """Return what a model says in each language when it does not know, folded for comparing."""
    return frozenset(comparable(texts_for(language).dont_know) for language in languages())


def comparable(sentence: str) -> str:
    """Return a sentence without what may differ in repeating it: case, apostrophes, its full stop, spaces."""
    return " ".join(sentence.replace("’", "'").casefold().split()).strip(" .!\"'*_")


def _code(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()
