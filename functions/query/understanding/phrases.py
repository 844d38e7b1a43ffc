"""The things that a question names, by rule: its words between the small words, and which of them are no verb.

There is no parser: a question is cut at its small words (`texts/part_words.txt`, `texts/follow_up_words.txt`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from functions.query.understanding.parts import Token, tokens_of
from functions.query.understanding.question import words_by_language
from shared import identity, lexical

PhraseKind = Literal["time", "code", "name", "plain"]
YEAR = re.compile(identity.YEAR)
_SHORT_PERIOD = re.compile(r"(?:[qh][1-4]|[1-4][qh]|fy)(?:'?\d\d)*(?:/\d+)?")
_PART_OF_YEAR = re.compile(r"quart|trimest|semest|half|halbj|ketvir")
_PAST_FORM = re.compile(r"\w{3,}(?:ed|en)")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A thing that a question names: the words `start` to `stop`, from `first` on with the preposition before them.

    `core` are the words that are its time, code or name; all, if it is another thing.
    """

    first: int
    start: int
    stop: int
    prep: str
    has_article: bool
    kind: PhraseKind
    core: range
    head: str
    is_asked: bool
    """Whether it follows a word that asks for it: "how many employees"."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A question as words, with the things that it names."""

    text: str
    tokens: Sequence[Token]
    phrases: Sequence[Phrase]

    def words(self, start: int, stop: int) -> str:
        """Return the text of the words `start` to `stop`."""
        return self.text[self.tokens[start].start : self.tokens[stop - 1].end] if start < stop else ""

    def with_words(self, start: int, stop: int, words: str) -> str:
        """Return the text with other words in place of the words `start` to `stop`."""
        return f"{self.text[: self.tokens[start].start]}{words}{self.text[self.tokens[stop - 1].end :]}"


def read(text: str, language: str, *, is_part: bool = False) -> Sentence:
    """Return a question as words and things; in a part of one there is no verb, and its first word may be a name."""
    tokens = tokens_of(text)
    return Sentence(text, tokens, list(_phrases(tokens, language, is_part=is_part)))


@cache
def small_words(language: str) -> Mapping[str, frozenset[str]]:
    """Return a language's small words by kind; none for a language without."""
    files = ("part_words.txt", "follow_up_words.txt")
    found = {kind: words for name in files for kind, words in words_by_language(name).get(language, {}).items()}
    if "link" not in found:
        return {}
    found["article"] = found.get("article", frozenset()) | found["own"]
    found["border"] = found["ask"] | found["help"] | found["held"] | found["noun"] | found["link"]
    return found


def _phrases(tokens: Sequence[Token], language: str, *, is_part: bool) -> Iterator[Phrase]:
    words = small_words(language)
    least = 0 if is_part else 1
    wants_verb = not is_part and _wants_verb(tokens, language)
    at = int(not is_part and bool(tokens) and tokens[0].folded in words["order"])
    while at < len(tokens):
        if _is_border(tokens[at], words) and tokens[at].folded not in words["prep"] | words["article"]:
            at += 1
            continue
        first = at
        at += tokens[at].folded in words["prep"]
        start = at
        while at < len(tokens) - 1 and tokens[at].folded in words["article"]:
            at += 1
        inner = at
        while at < len(tokens) and not _is_border(tokens[at], words):
            at += 1
        if at == inner:
            at = max(at, first + 1)
            continue
        stop = inner + _length(tokens[inner:at], language)
        is_bare = inner == first
        before = tokens[first - 1].folded if first else ""
        if is_bare and not is_part:
            if before in words["noun"]:
                # "How many employees worked in …": one word, unless a verb follows.
                stop = stop if at < len(tokens) and tokens[at].folded in words["help"] else inner + 1
            elif before in words["held"] or before in words["ask"] - words["help"]:
                # "Who leads …", "Why did they move …": a verb, or how something is.
                wants_verb = wants_verb and before not in words["held"]
                if _kind(tokens, range(inner, stop), language, least) == "plain":
                    continue
                while not tokens[inner].is_name and inner < stop - 1:
                    first = start = inner = inner + 1
        if is_bare and wants_verb and (verb := _verb_before_name(tokens, inner, stop)):
            # "Can children take Dolorex?"
            stop, at, wants_verb = verb, verb + 1, False
        elif stop - inner > 1 and not is_part and (wants_verb or _is_past(tokens[stop - 1], language)):
            stop, wants_verb = stop - 1, False
        kind = _kind(tokens, range(inner, stop), language, least)
        core = [here for here in range(inner, stop) if _kind(tokens, range(here, here + 1), language, least) == kind]
        while core and kind == "code" and core[0] > inner and tokens[core[0] - 1].is_name:
            core.insert(0, core[0] - 1)
        yield Phrase(
            first,
            start,
            stop,
            tokens[first].folded if start > first else "",
            inner > start,
            kind,
            range(core[0], core[-1] + 1) if kind != "plain" and core else range(inner, stop),
            lexical.stem(tokens[stop - 1].folded, language),
            before in words["noun"],
        )


def _is_border(token: Token, words: Mapping[str, frozenset[str]]) -> bool:
    return (
        token.is_mark
        or token.folded in words["border"] | words["prep"] | words["article"]
        or token.folded.rpartition("-")[2] in words["held"]  # "est-elle"
    )


def _length(tokens: Sequence[Token], language: str) -> int:
    """Return how many of the words are a thing: in German, which writes nouns with a capital, those up to a noun."""
    names = [at for at, token in enumerate(tokens) if token.is_name]
    if language != "de" or not names:
        return len(tokens)
    return next((at for at in range(names[0], len(tokens)) if not tokens[at].is_name), len(tokens))


def _verb_before_name(tokens: Sequence[Token], start: int, stop: int) -> int:
    """Return where a verb stands between a thing and a name, 0 if there is no name behind two other words."""
    name = next((at for at in range(start, stop) if tokens[at].is_name), start)
    return name - 1 if name - start > 1 else 0


def _is_past(token: Token, language: str) -> bool:
    """Say whether a word is a past form in English, and so no thing: "When was the bridge built?"."""
    return language == "en" and bool(_PAST_FORM.fullmatch(token.folded) or lexical.is_irregular_form(token.text))


def _wants_verb(tokens: Sequence[Token], language: str) -> bool:
    """Say whether another verb stands behind the subject: "Does the pump leak?", but not "What is the pump?"."""
    helping = next((token.folded for token in tokens if token.folded in small_words(language)["help"]), "")
    return (
        language == "en"
        and bool(helping)
        and (tokens[0].folded == helping or helping not in {"is", "are", "was", "were"})
    )


def _kind(tokens: Sequence[Token], at: range, language: str, least: int) -> PhraseKind:
    """Return what kind of thing words name; those before the word `least` are written with a capital anyhow."""
    if any(is_time(tokens[here].folded, language) for here in at):
        return "time"
    if any(character.isdigit() for here in at for character in tokens[here].text):
        return "code"
    return "name" if language != "de" and any(tokens[here].is_name and here >= least for here in at) else "plain"


def is_time(word: str, language: str) -> bool:
    """Say whether a folded word names a time: "Mondays", "2023", "Q3"."""
    times = small_words(language).get("time", frozenset())
    forms = (word, word.removesuffix("s"), word.removesuffix("n"), word.removesuffix("en"))
    return not times.isdisjoint(forms) or bool(YEAR.fullmatch(word) or _SHORT_PERIOD.fullmatch(word))


def is_part_of_a_year(words: str) -> bool:
    """Say whether words name a part of a year: "the third quarter"."""
    return any(_PART_OF_YEAR.match(word) or _SHORT_PERIOD.fullmatch(word) for word in words.casefold().split())
