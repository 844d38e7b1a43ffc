"""The fixed sentences Recto says itself, by language; one JSON file each under `texts/`."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

_TEXTS = Path(__file__).parent / "texts"


class Texts(NamedTuple):
    """What is said in one language."""

    language_name: str
    no_relevant_info: str
    dont_know: str


@cache
def languages() -> frozenset[str]:
    """Return the language codes that texts are shipped for."""
    return frozenset(path.stem for path in _TEXTS.glob("*.json"))


@cache
def texts_for(language: str, default: str = "en") -> Texts:
    """Return the texts of `language` ("lt", "lt-LT"), or of `default` where none are shipped."""
    code = language.replace("_", "-").split("-")[0].lower()
    chosen = next((each for each in (code, default, "en") if each in languages()), "en")
    return Texts(**json.loads((_TEXTS / f"{chosen}.json").read_text(encoding="utf-8")))


@cache
def system_prompt(language: str, default: str = "en") -> str:
    """Return the reviewed system prompt with the language's fixed sentences filled in."""
    texts = texts_for(language, default)
    template = (_TEXTS / "system_prompt.txt").read_text(encoding="utf-8")
    return template.format(dont_know=texts.dont_know, language=texts.language_name).strip()
