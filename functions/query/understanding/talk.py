"""Questions that need no search: talk (greetings, thanks, "who are you", questions about nothing), and the collection.

A question is talk only if every one of its words is: the words stand in `texts/service_words.txt`, by language and
kind. So "Hello, what is the warranty period?" is a question with a greeting in front, which is not searched for.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


# --- Questions about the collection: how many documents there are of a kind, which, and what one of them holds ---
#
# Most look like questions about contents ("How many reports were filed?"), so one is taken only if it names documents
# in the right place, and, unless it says that it means the collection ("do we have"), only if the names of documents
# hold all its other words.

MAX_COLLECTION_WORDS = 30
"""Words of a question about the collection at most."""
MAX_BETWEEN = 4
"""Words between "how many", "which", "list" or "do you have" and what documents are called."""
Fact = Literal["pages", "uploaded", "newest", "oldest", "published", "publisher", "version", "titled"]
_FACTS: Sequence[Fact] = get_args(Fact)
"""What the registry keeps of a document."""
_OF_CARD: Sequence[Fact] = ("published", "publisher", "version")
"""What its identity card says."""

_QUOTED = re.compile(r"[\"“”„«»‘’']\s*([^\"“”„«»]{3,}?)\s*[\"“”«»‘’']")
_FILE = re.compile(r"\S+\.pdf\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class CollectionQuestion:
    """A question about the collection.

    `terms` are the words that the names of the documents must hold, or their authors if it `is_by_author`; `kinds` say
    what the documents are called ("manuals"). If it is not `certain` and no document matches, it is an ordinary
    question after all.
    """

    wants: Literal["catalogue", "summary"] | Fact
    language: str
    certain: bool
    terms: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    is_by_author: bool = False


class DocumentName(NamedTuple):
    """The words of a document's name, and what a question says beside it."""

    words: Sequence[str]
    beside: str


def document_named_in(question: str) -> DocumentName | None:
    """Return the name of a file, or else the first name in quotation marks, that a question has."""
    named = _FILE.search(question) or _QUOTED.search(question)
    if named is None:
        return None
    words = folded_words(named[0].removesuffix(".pdf"))
    return DocumentName(words, f"{question[: named.start()]} {question[named.end() :]}")


def are_years(words: Sequence[str]) -> bool:
    """Say whether there are words, and each is a year."""
    return bool(words) and all(map(_YEAR.fullmatch, words))


def kinds_of_documents(language: str, kind: Literal["noun", "reading"] = "noun") -> frozenset[str]:
    """Return the words for documents in a language, or for those that are about something."""
    return by_language(language)[0][1].words.get(kind, _NO_WORDS)


def collection_question(question: str, language: str, *, has_history: bool) -> CollectionQuestion | None:
    """Return what a question wants to know about the collection, None for any other question."""
    words = folded_words(question)
    if not words or len(words) > MAX_COLLECTION_WORDS:
        return None
    said = frozenset(words)
    for code, spoken in by_language(language):
        if "noun" not in spoken.words or said.isdisjoint(
            spoken.words["noun"]
            | spoken.words["summary"]
            | spoken.words["gist"]
            | spoken.words["pages"]
            | spoken.words["uploaded"]
            | spoken.words["published"]
            | spoken.words["publisher"]
            | spoken.words["version"]
            | spoken.words["titled"]
        ):
            continue
        found = (
            _fact(question, words, code, spoken)
            or _catalogue(words, code, spoken)
            or _summary(question, words, code, spoken, has_history=has_history)
        )
        if found:
            return found
    return None


def _fact(question: str, words: Sequence[str], language: str, spoken: ServiceWords) -> CollectionQuestion | None:
    """Return a question for what the registry keeps of a document, unless it is about any document, or a rule."""
    said = frozenset(words)
    if not said.isdisjoint(spoken.words["general"]):
        return None
    for kind in _FACTS:
        for line in spoken.of(kind):
            beginning = words[: len(line.groups)] if kind == "pages" else words
            if not (line.is_in(frozenset(beginning)) and words[0] in spoken.filler | line.words):
                continue
            known = spoken.common.union(spoken.words["any"], line.words)
            named = document_named_in(question)
            name = named.words if named else [word for word in words if word not in known]
            if name and kind in ("newest", "oldest", "titled"):
                continue
            if name and kind in _OF_CARD and said.isdisjoint(spoken.words["noun"]):
                continue  # "Which edition has single sign-on?"
            nouns = spoken.words["noun"]
            terms = tuple(word for word in name if word not in nouns)
            return CollectionQuestion(kind, language, False, terms, tuple(word for word in name if word in nouns))
    return None


def _catalogue(words: Sequence[str], language: str, spoken: ServiceWords) -> CollectionQuestion | None:
    said = frozenset(words)
    nouns, general = spoken.words["noun"], spoken.words["any"]
    at = next((number for number, word in enumerate(words) if word in nouns), None)
    if not said.isdisjoint(spoken.words["not"]):
        return None  # "Which documents are not by Ann Lee?"
    ours = [line for line in spoken.of("ours", "place") if line.is_in(said)]
    if at is None:
        return None
    leads = [line for line in spoken.of("count", "which", "list") if line.is_in(frozenset(words[:at]))]
    between = [word for word in words[:at] if not any(word in line.words for line in leads)]
    if leads and leads[0].kind != "list" and any(word in spoken.filler for word in between):
        return None
    if not leads:
        between = [word for word in between if word not in spoken.filler.union(*(line.words for line in ours))]
    if len(between) > MAX_BETWEEN or not (leads or (ours and words[0] in spoken.filler)):
        return None
    known = spoken.common.union(nouns, *(line.words for line in (*leads, *ours)))
    terms = tuple(word for word in words if word not in known)
    # "need to write" is a rule.
    by = spoken.words["by"] if said.isdisjoint(spoken.words["general"]) else _NO_WORDS
    authors = tuple(word for word in terms if word not in by)
    is_by_author = 0 < len(authors) < len(terms)
    terms = authors if is_by_author else terms
    kinds = tuple(word for word in words if word in nouns - general)
    counts = any(line.kind == "count" for line in leads)
    # "How many books are in the library?" may be about one that a document describes.
    are_ours = any(line.kind == "ours" for line in ours)
    certain = bool(leads) and (are_years(terms) or (counts and are_ours))
    return CollectionQuestion("catalogue", language, certain, terms, kinds, is_by_author)


def _summary(
    question: str, words: Sequence[str], language: str, spoken: ServiceWords, *, has_history: bool
) -> CollectionQuestion | None:
    said = frozenset(words)
    first = next((at for at, word in enumerate(words) if word not in spoken.common), len(words))
    asked = [line for line in spoken.of("summary") if line.is_in(frozenset(words[: first + 1]))]
    gist = [line for line in spoken.of("gist") if line.is_in(said) and words[0] in line.words]
    if not (asked or gist):
        return None
    known = spoken.common.union(spoken.words["any"], *(line.words for line in (*asked, *gist)))
    named = document_named_in(question)
    name = named.words if named else [word for word in words if word not in known]
    certain = bool(asked) and (bool(named) or not said.isdisjoint(spoken.words["any"]))
    if not name and (gist or (has_history and not certain)):
        return None
    return CollectionQuestion("summary", language, certain or not name, tuple(name))
