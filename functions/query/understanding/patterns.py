"""The regular expressions of `texts/` that are told by kind and language, of which several modules read some."""

import re
from collections.abc import Mapping

from functions.query.understanding.question import lines_of


def patterns_of(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the expressions of a reviewed file by kind and language; those of several lines are joined.

    A line holds a kind, a language (* for any) and an expression. "NAME = …" says what NAME stands for below it.
    """
    defined: dict[str, str] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for line in lines_of(name):
        kind, language, pattern = line.split(maxsplit=2)
        if language == "=":
            defined[kind] = pattern
            continue
        for short, meant in defined.items():
            pattern = pattern.replace(short, meant)
        found.setdefault(kind, {}).setdefault(language, []).append(pattern)
    return {kind: {language: "|".join(each) for language, each in told.items()} for kind, told in found.items()}


def of_any_language(*patterns: Mapping[str, str]) -> re.Pattern[str]:
    """Return one expression for those of all languages, of one kind or several, for letters of either case."""
    return re.compile("|".join(each for kind in patterns for each in kind.values()), re.IGNORECASE)
