"""Talk that needs no search: greetings, thanks, "who are you", "which documents do you have", questions about nothing.

A question is talk only if every one of its words is: the words stand in `texts/service_words.txt`, by language and
kind. So "Hello, what is the warranty period?" is a question with a greeting in front, which is not searched for.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple, get_args

from functions.query.understanding.question import lines_of
from shared.language import FUNCTION_WORDS
from shared.lexical import fold

TalkKind = Literal["greeting", "thanks", "farewell", "identity", "documents", "abilities", "unclear"]
_NO_WORDS: frozenset[str] = frozenset()
MAX_WORDS = 16
"""Words of talk at most."""
MAX_COURTESY_WORDS = 6
"""Words of a greeting in front of a question at most."""

_WORD = re.compile(r"[^\W_]+")
_SET_OFF = re.compile(r"\s*[,.!:;…–—?]+\s+|\s+[-–—]\s+")
_SENTENCE_BORDER = re.compile(r"(?<=[.?!…])\s+(?=\S)")


class Talk(NamedTuple):
    """What kind of talk a question is, and the language it is in."""

    kind: TalkKind
    language: str


class WordLine(NamedTuple):
    """A way to say something of a kind: one word of each group, and no words but `words` and the language's fillers."""

    kind: str
    groups: Sequence[frozenset[str]]
    words: frozenset[str]

    def is_in(self, words: frozenset[str]) -> bool:
        """Say whether a word of each group is among `words`."""
        return all(words & group for group in self.groups)

    def is_said_by(self, words: frozenset[str], filler: frozenset[str]) -> bool:
        """Say whether `words` are this and nothing else."""
        return self.is_in(words) and words <= filler | self.words


class ServiceWords(NamedTuple):
    """What `texts/service_words.txt` holds of one language.

    `words` are those of each kind, `talk` those of all talk, `common` those of questions about nothing.
    """

    lines: Sequence[WordLine]
    words: Mapping[str, frozenset[str]]
    talk: frozenset[str]
    common: frozenset[str]

    @property
    def filler(self) -> frozenset[str]:
        """The words that may stand beside any others."""
        return self.words.get("filler", _NO_WORDS)

    def of(self, *kinds: str) -> Sequence[WordLine]:
        """Return the lines of these kinds."""
        return [line for line in self.lines if line.kind in kinds]


def talk_of(question: str, language: str, *, has_history: bool) -> Talk | None:
    """Return what kind of talk a question is, None for a real question.

    `language` is the question's as far as it is known; among the languages in which it is talk, that one wins. After
    something was said, a question about nothing is a follow-up, so it is "unclear" only without history.
    """
    words = folded_words(question)
    if len(words) > MAX_WORDS:
        return None
    said = frozenset(words)
    known = [(code, spoken) for code, spoken in by_language(language) if said <= spoken.talk]
    for kind in get_args(TalkKind)[:-1]:
        for code, spoken in known:
            if any(line.is_said_by(said, spoken.filler) for line in spoken.of(kind)):
                return Talk(kind, code)
    about_nothing = [code for code, spoken in known if said <= spoken.common]
    if not has_history and about_nothing:
        return Talk("unclear", about_nothing[0] if said else language)
    return None


def by_language(first: str) -> Sequence[tuple[str, ServiceWords]]:
    """Return the words of all languages: those of `first` at the front, then the English ones."""
    return _by_language(first if first in _languages() else "en")


@cache
def _by_language(first: str) -> Sequence[tuple[str, ServiceWords]]:
    return sorted(_languages().items(), key=lambda each: (each[0] != first, each[0] != "en"))


def without_courtesies(question: str) -> str:
    """Return the question without a greeting or thanks in front of it, or thanks behind it.

    They must be set off by punctuation. A greeting may also be followed by a common word ("Hello what is …"), so that a
    name that begins like one ("Hello Kitty") stays whole.
    """
    last = list(_SENTENCE_BORDER.finditer(question))[-1:]
    if last and _says(question[last[0].end() :], "thanks"):
        question = question[: last[0].start()]
    words = list(itertools.islice(_WORD.finditer(question), MAX_COURTESY_WORDS + 1))
    if not words or _folded(words[0].group()) not in _courtesy_words():
        return question
    for word, following in reversed(list(itertools.pairwise(words))):
        courtesy, between = question[: word.end()], question[word.end() : following.start()]
        if (_SET_OFF.match(between) and _says(courtesy, "greeting", "thanks")) or (
            between.isspace() and _only_greets(courtesy, following.group())
        ):
            rest = question[following.start() :]
            return without_courtesies(rest[:1].upper() + rest[1:])
    return question


def _says(text: str, *kinds: TalkKind) -> bool:
    said = frozenset(folded_words(text))
    known = (spoken for spoken in _languages().values() if said <= spoken.talk)
    return any(line.is_said_by(said, spoken.filler) for spoken in known for line in spoken.of(*kinds))


def _only_greets(text: str, following: str) -> bool:
    """Say whether a text is a greeting without any common word, and a common word of its language follows."""
    said, common = frozenset(folded_words(text)), _folded(following)
    return said <= _courtesy_words() and any(
        line.is_said_by(said, _NO_WORDS)
        for spoken in _languages().values()
        if common in spoken.filler and not said <= spoken.filler
        for line in spoken.of("greeting")
    )


def folded_words(text: str) -> list[str]:
    """Return a text's words without case and diacritics, cut at every other character."""
    return [_folded(word) for word in _WORD.findall(text)]


def _folded(word: str) -> str:
    return fold(word).casefold()


@cache
def _languages() -> Mapping[str, ServiceWords]:
    lines: dict[str, list[WordLine]] = {}
    for text in lines_of("service_words.txt"):
        code, kind, rest = text.split(" ", 2)
        groups = [frozenset(folded_words(group)) for group in rest.split("+")]
        lines.setdefault(code, []).append(WordLine(kind, groups, _NO_WORDS.union(*groups)))
    return {code: _service_words(code, lines.get(code, ())) for code in lines.keys() | FUNCTION_WORDS.keys()}


def _service_words(code: str, lines: Sequence[WordLine]) -> ServiceWords:
    words: dict[str, frozenset[str]] = {}
    for line in lines:
        words[line.kind] = words.get(line.kind, _NO_WORDS) | line.words
    function_words = frozenset(map(_folded, FUNCTION_WORDS.get(code, ())))
    common = words.get("filler", _NO_WORDS) | words.get("unclear", _NO_WORDS) | function_words
    talk = common.union(*(held for kind, held in words.items() if kind in get_args(TalkKind)))
    return ServiceWords(lines, words, talk, common)


@cache
def _courtesy_words() -> frozenset[str]:
    lines = [line for spoken in _languages().values() for line in spoken.of("greeting", "thanks")]
    return _NO_WORDS.union(*(line.words for line in lines))
