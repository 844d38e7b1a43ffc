"""The question as it is searched for: normalised, without instructions on the answer's form, with its variants.

It also reads the words and patterns of `texts/`, by which questions and texts are understood.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from functions.query.retrieval.passages import Boost
from functions.query.retrieval.search import QueryVariant
from shared import identity, lexical
from shared.models import NO_USAGE, Filter, Usage

TEXTS = Path(__file__).parents[1] / "texts"
_SPACES = re.compile(r"\s+")
# Zero-width and direction marks, soft hyphens, control characters, and lone surrogates, which UTF-8 cannot encode.
_INVISIBLE = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]"
)
CUT_WITHIN = 5
"""A text is cut at a space if there is one in the last part, of so many, of what is kept."""


def reviewed_text(name: str) -> str:
    """Return a reviewed file of `texts/`: a prompt, patterns, or a list of words."""
    return (TEXTS / name).read_text(encoding="utf-8").strip()


def lines_of(name: str, *, comment: str = "#") -> Sequence[str]:
    """Return the lines of a reviewed file, without empty lines and comments."""
    return [line for line in reviewed_text(name).splitlines() if line and not line.startswith(comment)]


@cache
def word_lists(name: str) -> Mapping[str, frozenset[str]]:
    """Return the lists of words of a reviewed file by the name with which each line begins."""
    lists: dict[str, frozenset[str]] = {}
    for kind, *words in map(str.split, lines_of(name)):
        lists[kind] = lists.get(kind, frozenset()).union(words)
    return lists


@cache
def words_by_language(name: str) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Return the words of a reviewed file by the language and the kind with which each line begins."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for language, kind, *words in map(str.split, lines_of(name)):
        found.setdefault(language, {})[kind] = frozenset(words)
    return found


def patterns_of(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the expressions of a reviewed file by kind and language; those of several lines are joined.

    A line holds a kind, a language (* for any) and an expression. "NAME = …", also of several lines, says what NAME
    stands for below it.
    """
    defined: dict[str, str] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for line in lines_of(name):
        kind, language, pattern = line.split(maxsplit=2)
        if language == "=":
            defined[kind] = f"{defined[kind]}|{pattern}" if kind in defined else pattern
            continue
        for short, meant in defined.items():
            pattern = pattern.replace(short, meant)
        found.setdefault(kind, {}).setdefault(language, []).append(pattern)
    return {kind: {language: "|".join(each) for language, each in told.items()} for kind, told in found.items()}


def of_any_language(*patterns: Mapping[str, str]) -> re.Pattern[str]:
    """Return one expression for those of all languages, of one kind or several, for letters of either case."""
    return re.compile("|".join(each for kind in patterns for each in kind.values()), re.IGNORECASE)


def normalized(text: str) -> str:
    """Return the text in NFC, single-spaced, without invisible characters: the form that is embedded and cached.

    Idempotent. Diacritics stay as typed: BM25 also compares without them.
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", _INVISIBLE.sub("", text))).strip()


_NOT = re.compile(
    r"\b(?:(ca)n|(wo)n|(do|does|did|is|are|was|were|has|have|had|could|would|should|must|need)n)['\u2019]?t\b"
    r"( (?:I|you|he|she|it|we|they|there)\b)?",
    re.IGNORECASE,
)
_AFTER_PRONOUN = re.compile(r"\b(I|you|he|she|it|we|they|there|that|what|who)['\u2019](ll|ve|re|m|d)\b", re.IGNORECASE)
_VERBS = {"ll": "will", "ve": "have", "re": "are", "m": "am", "d": "would"}


def without_contractions(question: str) -> str:
    """Return an English question with "not" and the verbs after pronouns written out.

    "What if I don't?" asks about nothing that is called "don".
    """

    def written_out(found: re.Match[str]) -> str:
        verb = found[3] or (found[1] + "n" if found[1] else found[2][:1] + "ill")
        return f"{verb}{found[4] or ''} not"

    whole = _AFTER_PRONOUN.sub(lambda found: f"{found[1]} {_VERBS[found[2].lower()]}", question)
    return _NOT.sub(written_out, whole)


def shortened(text: str, characters: int) -> str:
    """Return at most `characters` of the text, cut at a space if there is one in the last fifth."""
    if len(text) <= characters:
        return text
    cut = text[:characters]
    space = cut.rfind(" ", characters - characters // CUT_WITHIN)
    return (cut[:space] if space > 0 else cut).rstrip()


# --- Sentences that only say how to answer ("Write the answer as a list, in ascending order.") are not searched for ---

_BEGINS, _NAMES, _WORDS = (word_lists("answer_form.txt")[name] for name in ("begins", "names", "words"))
MOST = (
    "most|highest|largest|longest|greatest|biggest|best|maximum|heaviest|widest|deepest|tallest|dearest|loudest|hottest"
    "|thickest"
)
LEAST = "least|lowest|smallest|shortest|fewest|worst|minimum|lightest|narrowest|cheapest|quietest|coldest"
"""English words for what has the most, or the least, of something."""
DEGREES = frozenset(f"{MOST}|{LEAST}".split("|"))
SENTENCE_BORDER = re.compile(r"(?<=[.?!])\s+(?=\S)")
_EXAMPLE = re.compile(r"\[.*?\]|\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|\be\.g\.")
_GIVES_EXAMPLE = re.compile(r"for example|e\.g\.|pvz\.|pavyzdziui", re.IGNORECASE)
_ROLE = re.compile(
    r"(?:assume|imagine|pretend|suppose)(?: that)? you are |act as "
    r"|you are an? (?:[\w-]+ ){0,3}(?:analyst|assistant|expert|professional|researcher)\b",
    re.IGNORECASE,
)
"""How a sentence begins that only says as whom to answer."""
_WORD = re.compile(r"[^\W\d_]+")


def without_answer_form(question: str, language: str = "en") -> str:
    """Return the question without sentences, after the first, that only request a form of the answer."""
    first, *others = SENTENCE_BORDER.split(question)
    while others and _ROLE.match(first):
        first, *others = others
    if not others:
        return first
    kept, known, left_out = [first], _stems(first, language), False
    for sentence in others:
        left_out = _is_about_the_form(sentence, known, language) or (left_out and bool(_GIVES_EXAMPLE.match(sentence)))
        if not left_out:
            kept.append(sentence)
            known |= _stems(sentence, language)
    return " ".join(kept)


def _is_about_the_form(sentence: str, known: set[str], language: str) -> bool:
    """Say whether a sentence begins as a request and adds nothing to the question but words about the answer's form.

    A sentence that names the answer may have one other word: people write "the answer in floqt format".
    """
    words = _words(_EXAMPLE.sub(" ", sentence))
    if sentence.endswith("?") or not words:
        return False
    names_it = not _NAMES.isdisjoint(words)
    if words[:2] in (["the", "answer"], ["your", "answer"]):
        return True
    if words[0] not in _BEGINS or not (names_it or not _WORDS.isdisjoint(words)):
        return False
    formal = _BEGINS | _NAMES | _WORDS
    table = lexical.background(language) or lexical.background("en")
    stems = [lexical.stem(word, language) for word in words if word not in formal]
    news = [stem for stem in stems if stem not in known and table.get(stem, lexical.MAX_RARITY) >= identity.MIN_RARITY]
    return len(news) <= names_it


def _words(text: str) -> list[str]:
    return _WORD.findall(lexical.fold(text).lower())


def _stems(text: str, language: str) -> set[str]:
    return {lexical.stem(word, language) for word in _words(text)}


# --- The sentences that ask ---

_CONDITION = re.compile(r"if\b", re.IGNORECASE)
"""How a sentence begins that says what to do where the question does not fit."""
_PREPARES, _DOES, _ON_ANSWERING, _RELATIVE = (
    of_any_language(patterns_of("asked_patterns.txt")[kind])
    for kind in ("prepares", "does", "on_answering", "relative")
)


def without_relative_time(question: str) -> str:
    """Return a question without "next year" and the like, which a document names by their date."""
    return _RELATIVE.sub(" ", question)


def asking_part(question: str) -> str:
    """Return the sentences that ask, without definitions, conditions and what says where and how to look."""
    return " ".join(_PREPARES.sub("", sentence) for sentence in _asking_sentences(question))


def explaining_part(question: str) -> str:
    """Return the sentences after those that ask: definitions, and what says where and how to look."""
    sentences, asking = SENTENCE_BORDER.split(question), _asking_sentences(question)
    return " ".join(sentences[max(map(sentences.index, asking), default=0) + 1 :])


def _asking_sentences(question: str) -> Sequence[str]:
    sentences = SENTENCE_BORDER.split(question)
    return [each for each in sentences if each.endswith("?") and not _CONDITION.match(each)] or sentences[:1]


def without_scope(question: str) -> str:
    """Return a question without what says where and how to look for the answer."""

    def without(prepares: re.Match[str]) -> str:
        return prepares.group() if _DOES.match(prepares.group()) else ""

    sentences = [each for each in SENTENCE_BORDER.split(question) if not _ON_ANSWERING.match(each)]
    return " ".join(_PREPARES.sub(without, sentence) for sentence in sentences) or question


class QuestionPart(NamedTuple):
    """One part of a question: what to call it, and the question to search for.

    `inherited` are the words at its end that it takes over from what was said before.
    """

    name: str
    question: str
    inherited: str = ""


QueryMode = Literal["question", "session"]
"""What is searched for: the standalone question, or all of the user's messages in the conversation."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A question made searchable.

    `question` is the typed one, normalised; `standalone` needs no conversation; `inherited` are its words
    that the heuristic took over from it; `search_text` is the part that is embedded and searched for. `variants` are
    `query_variations` at most; `standalone` has the remaining share. `filter` and `boosts` come from the tenant's
    glossary. `language` is the question's (ISO 639-1), empty if it is not recognised. `parts` are two to four questions
    that are searched for besides, if it is a comparison or several questions in one; `split_by` says who has looked for
    them. `rewritten_by` is empty if the question is searched for as typed. `respelt` are misspelt question words, each
    with its correction.
    """

    question: str
    standalone: str
    inherited: str = ""
    language: str = ""
    variants: tuple[QueryVariant, ...] = ()
    filter: Filter | None = None
    boosts: tuple[Boost, ...] = ()
    parts: tuple[QuestionPart, ...] = ()
    split_by: Literal["", "rule", "model"] = ""
    rewritten_by: Literal["", "heuristic", "model"] = ""
    respelt: tuple[tuple[str, str], ...] = ()
    model: str = ""
    usage: Usage = NO_USAGE
    warnings: tuple[str, ...] = ()

    @property
    def search_text(self) -> str:
        """The standalone question without sentences that only say how to answer, its periods written out."""
        return identity.with_plain_periods(without_answer_form(self.standalone, self.language or "en"))
