"""A second look before a refusal: compares the question with single statements of the best passages, by meaning.

People ask in other words than the page: "can I bring the dog?" where it says "Animals are welcome in the garden rooms."
The two share no rare word, and the vector of the whole passage is of too much else to be near the question's. That of
the one statement is near; of a short one, which may say nothing by itself ("From nine to seven."), also that of the
statement under its heading. Names and numbers have no synonyms: a passage without one of the question's is not looked
at.

People ask short questions, above all of a document that they have chosen: "What is excluded?". There is too little in
them to be near anything, so a statement may also answer if it has each of their words, in some form, or another word
for it: one of few documents chosen, or of the one document that has any such statement.
"""

import math
import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import chain
from typing import NamedTuple

from functions.query.decision import DECIDING_PASSAGES, RareWords, coverage
from functions.query.grounding.words import has_digit, is_degree, is_stop_word, other_words_of
from functions.query.retrieval.filters import documents_chosen
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.rescoring import plain_words
from functions.query.retrieval.search import Search
from functions.query.understanding.question import DEGREES
from functions.query.understanding.vocabulary import are_of_family
from functions.query.writing.asked import Asked
from functions.query.writing.needed import reached_by, tells_what
from functions.query.writing.premises import what_is_asked
from functions.query.writing.statements import Statement, statements_in
from shared import identity, lexical
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.language import FUNCTION_WORDS
from shared.models import NO_USAGE, Usage
from shared.ports import Embedder

LANGUAGES = frozenset({"en"})
"""Languages of question and passage in which a statement may answer: in others, what is near was not measured, and
MiniLM finds any two sentences near."""
MAX_STATEMENTS = 200
"""Statements that are compared at most: about 6,000 tokens, in one request; somewhat more with their headings."""
MIN_WORDS = 3
"""Words that are compared, at least: "October." is near many questions."""
MAX_HEADED_WORDS = 15
"""Words of a statement, at most, that is also compared under its heading: a longer one says what it is about."""
MAX_CHOSEN = 3
FEW_DOCUMENTS = 3
"""Documents that a question is limited to, at most, to be answered from a statement that has its words."""
MAX_WITH_WORDS = 10
"""Statements that have the words, at most: what a document says everywhere answers nothing."""
MIN_RARITY = 2.0
"""Rarity of a word that a short question's answer must have: lower than elsewhere, as it has few words."""
MIN_LETTERS = 3
FEW_PLACES = 2
"""Statements, at most, that have a code of a question in another language."""
_LEFT_OUT = re.compile(r"(?<=[^\W\d])-?0*(?=[1-9])")
"""A hyphen and zeros between a letter and the number behind it: E-03 is E3, but E1-3 is not E13."""
_CODE = re.compile(r"\w+(?:[.-]\w+)*")
_NO_CODE = re.compile(r"(?:Q|H|FY|CY)-?\d+|\d+-?[^\W\d]+", re.IGNORECASE)
"""What has a letter and a digit, and is no code: "Q3", "3rd", "5-year", "8h"."""
MORE_COMMON = 1.5
"""By how much another word for one may be less rare: a salary is pay, but most that is paid is none."""
MIN_PART_LETTERS = 5
"""Letters of a German word that may stand in a longer one."""
CLOSE = 0.05
"""What a further statement is less near than the nearest one, at most."""
TIMEOUT_S = 4.0
RESERVE_S = 2.0
"""Seconds of the request's time that are left for the steps after it."""


class NearStatement(NamedTuple):
    """A statement of a passage and its cosine similarity to the question. `number` counts from 0 in its passage."""

    passage: Passage
    number: int
    similarity: float


class SecondLook(NamedTuple):
    """The statements that are near enough, nearest first; none where nothing is, or nothing could be compared.

    `nearest` is the similarity of the nearest of all, None where none was compared.
    """

    chosen: Sequence[NearStatement]
    nearest: float | None = None
    usage: Usage = NO_USAGE
    warnings: Sequence[str] = ()


def look_again(
    search: Search, passages: Sequence[Passage], *, threshold: float, embedder: Embedder, deadline: Deadline
) -> SecondLook:
    """Compare the question with each statement of the best passages. Never raises `DependencyError`.

    Looked at are the passages that the decision looked at. Without a vector of the question, nothing is compared.
    """
    statements = list(_statements(search, passages[:DECIDING_PASSAGES]))[:MAX_STATEMENTS]
    if search.vector is None or not statements:
        return SecondLook(())
    texts = [list(_compared(passage, statement)) for passage, _, statement in statements]
    different = list(dict.fromkeys(chain.from_iterable(texts)))
    try:
        answer = embedder.embed(different, timeout_s=deadline.cut("embeddings", TIMEOUT_S, reserve_s=RESERVE_S))
    except DependencyError as error:
        return SecondLook((), warnings=[error.warning_about("second_look")])
    vector = search.vector
    similarity = {text: math.sumprod(vector, of_text) for text, of_text in zip(different, answer.vectors, strict=True)}
    near = [
        NearStatement(passage, number, max(map(similarity.__getitem__, each)))
        for (passage, number, _), each in zip(statements, texts, strict=True)
    ]
    near.sort(key=lambda each: -each.similarity)
    nearest = near[0].similarity
    chosen = [each for each in near if each.similarity >= max(threshold, nearest - CLOSE)]
    return SecondLook(chosen[:MAX_CHOSEN], nearest, answer.usage)


def _statements(search: Search, passages: Sequence[Passage]) -> Iterator[tuple[Passage, int, Statement]]:
    """Yield the statements that may answer, of passages that hold all names and numbers of the question.

    They hold a telephone number, too, or an address, if that is asked for.
    """
    names, reached = _names_of(search), reached_by(search.question)
    for passage in passages if search.language in LANGUAGES else ():
        if passage.language and passage.language not in LANGUAGES:
            continue
        if names.rarity and (coverage(names, passage) or 0.0) < 1.0:
            continue
        if not all(pattern.search(passage.text) for pattern in reached):
            continue
        for number, statement in enumerate(statements_in(passage)):
            is_readable = not (statement.is_garbled or statement.is_contents_entry or statement.is_question)
            if is_readable and any(_compared(passage, statement)):
                yield passage, number, statement


def _compared(passage: Passage, statement: Statement) -> Iterator[str]:
    """Yield what of a statement is compared, in one line: its text and, if that is short, the same with its heading."""
    text = " ".join(statement.text.split())
    if len(plain_words(text)) >= MIN_WORDS:
        yield text
    if statement.heading is None or len(text.split()) > MAX_HEADED_WORDS:
        return
    headed = f"{' '.join(passage.text[slice(*statement.heading)].split())}: {text}"
    if len(plain_words(headed)) >= MIN_WORDS:
        yield headed


def statements_with_words(search: Search, passages: Sequence[Passage]) -> Sequence[NearStatement]:
    """Return statements that have each word of a question, in some form; best first.

    The question is about few chosen documents, or all such statements are of one document. One that has another word
    for it must be the kind of answer that is asked for. Of others those come first that are, and that have more of the
    words themselves, not above them.
    """
    chosen = documents_chosen(search.filter)
    words = _words_of(search) if chosen <= FEW_DOCUMENTS else ()
    if not RareWords.of(" ".join(words), search.language).rarity:
        return ()
    asked = Asked.of(search.question)
    found: list[tuple[tuple[bool, int, int], NearStatement]] = []
    for passage in passages:
        language = passage.language or search.language
        around = _held_in(f"{passage.section}\n{passage.table}", words, language)
        for number, statement in enumerate(statements_in(passage)):
            if statement.is_garbled or statement.is_contents_entry or statement.is_question:
                continue
            own = _held_in(statement.text, words, language)
            all_held = own | around | _held_in(statement.context, words, language)
            fits = asked.fits(statement.text)
            if own.any and all_held.is_enough(words, fits=fits):
                worth = (fits, len(own.said), len(own.meant))
                found.append((worth, NearStatement(passage, number, passage.score)))
    if not chosen and len({each.passage.document_id for _, each in found}) > 1:
        return ()
    best = max((worth for worth, _ in found), default=None)
    return [each for worth, each in found if worth == best][:MAX_CHOSEN] if len(found) <= MAX_WITH_WORDS else ()


def statements_in_other_languages(search: Search, passages: Sequence[Passage]) -> Sequence[NearStatement]:
    """Return statements of passages in other languages than the question's that have its names and codes; best first.

    Either all of its words but the small ones are there as they are ("Who is Ona Petraitienė?"), or it names a code
    that stands in few places ("The machine shows E12, what should I do?").
    """
    typed = search.question.split()
    written = [each for at, each in enumerate(typed) if has_digit(each) or (at and not each.islower())]
    marked = {word for each in written for word in plain_words(each, latin=False)}
    codes = _codes_in(" ".join(written))
    words = frozenset(_words_of(search, rarity=0.0))
    if not marked:
        return ()
    with_all, with_codes = [], []
    for passage in passages:
        if passage.language in ("", search.language):
            continue
        around = set(plain_words(f"{passage.section}\n{passage.table}", latin=False))
        for number, statement in enumerate(statements_in(passage)):
            said = set(plain_words(statement.text, latin=False))
            has_codes = bool(codes) and codes <= _codes_in(statement.text)
            if statement.is_garbled or statement.is_contents_entry or (said.isdisjoint(marked) and not has_codes):
                continue
            found = NearStatement(passage, number, passage.score)
            if words and words <= said | around:
                with_all.append(found)
            if has_codes:
                with_codes.append(found)
    return with_all[:MAX_CHOSEN] or (with_codes if len(with_codes) <= FEW_PLACES else ())


def _codes_in(text: str) -> Set[str]:
    """Return the codes of a text in lower case, with their letters and the number behind them as one: E-03 is E3."""
    codes = (_LEFT_OUT.sub("", found[0]).lower() for found in _CODE.finditer(text) if not _NO_CODE.fullmatch(found[0]))
    return frozenset(code for code in codes if has_digit(code) and not code.isdigit())


def _words_of(search: Search, *, rarity: float = MIN_RARITY) -> Sequence[str]:
    """Return the words of at least a rarity, and the numbers, that an answer must have: none of the small ones.

    Numbers alone are too little.
    """
    table = lexical.background(search.language) or lexical.background("en")
    small = {word for each in FUNCTION_WORDS.get(search.language, ()) for word in plain_words(each)}
    words = [
        word
        for word in dict.fromkeys(plain_words(what_is_asked(search.question), latin=False))
        if word.isdigit()
        or (
            len(word) >= MIN_LETTERS
            and not (word in small or is_stop_word(word) or is_degree(word))
            and table.get(lexical.stem(word, search.language), lexical.MAX_RARITY) >= rarity
        )
    ]
    return [] if all(map(str.isdigit, words)) else words


class _HeldWords(NamedTuple):
    """The words that a text has: those that it says, in some form, and those for which it has another word."""

    said: frozenset[str] = frozenset()
    meant: frozenset[str] = frozenset()

    def __or__(self, other: "_HeldWords") -> "_HeldWords":
        return _HeldWords(self.said | other.said, self.meant | other.meant)

    @property
    def any(self) -> bool:
        """Whether the text has any of the words."""
        return bool(self.said or self.meant)

    def is_enough(self, words: Sequence[str], *, fits: bool) -> bool:
        """Say whether all words are there; as other ones only in a text that fits the question."""
        return len(self.said | self.meant if fits else self.said) == len(words)


def _held_in(text: str, words: Sequence[str], language: str) -> _HeldWords:
    """Return those of the words that a text has."""
    if not text:
        return _HeldWords()
    there = set(plain_words(text, latin=False))
    table = lexical.background(language)
    stems = {stem: table.get(stem, lexical.MAX_RARITY) for stem in (lexical.stem(word, language) for word in there)}

    def is_said(word: str) -> bool:
        stem = lexical.stem(word, language)
        return any(are_of_family(word, other, language) for other in there) or (
            language == "de" and len(stem) >= MIN_PART_LETTERS and any(stem in other for other in there)
        )

    def is_meant(word: str) -> bool:
        stem = lexical.stem(word, language)
        least = table.get(stem, lexical.MAX_RARITY) - MORE_COMMON
        others = other_words_of(stem, language) - _degree_stems(language)
        return tells_what(word, text) or any(stems.get(other, 0.0) >= least for other in others)

    said = frozenset(filter(is_said, words))
    return _HeldWords(said, frozenset(filter(is_meant, words)) - said)


@cache
def _degree_stems(language: str) -> frozenset[str]:
    """Return the stems of words for the most or the least: "highest" is said of all that is counted."""
    return frozenset(lexical.stem(word, language) for word in DEGREES)


def _names_of(search: Search) -> RareWords:
    """Return those of the question's rare words that are written like a name, or hold a digit."""
    rare = RareWords.of(search.question, search.language)
    words = (word for token in identity.marked_words_in(search.question) for word in plain_words(token))
    stems = {lexical.stem(word, search.language) for word in words}
    return rare.only(stems)
