"""A second look before a refusal: compares the question with single statements of the best passages, by meaning.

People ask in other words than the page: "can I bring the dog?" where it says "Animals are welcome in the garden rooms."
The two share no rare word, and the vector of the whole passage is of too much else to be near the question's. That of
the one statement is near. Names and numbers have no synonyms: a passage without one of the question's is not looked at.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from functions.query.decision import DECIDING_PASSAGES, RareWords, coverage
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.rescoring import plain_words
from functions.query.retrieval.search import Search
from functions.query.writing.statements import Statement, statements_in
from shared import identity, lexical
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.models import NO_USAGE, Usage
from shared.ports import Embedder

LANGUAGES = frozenset({"en"})
"""Languages of question and passage in which a statement may answer: in others, what is near was not measured, and
MiniLM finds any two sentences near."""
MAX_STATEMENTS = 200
"""Statements that are compared at most: about 6,000 tokens, in one request."""
MIN_WORDS = 3
"""Words of a statement, at least: "October." is near many questions."""
MAX_CHOSEN = 3
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
    texts = [" ".join(statement.text.split()) for _, _, statement in statements]
    different = list(dict.fromkeys(texts))
    try:
        answer = embedder.embed(different, timeout_s=deadline.cut("embeddings", TIMEOUT_S, reserve_s=RESERVE_S))
    except DependencyError as error:
        return SecondLook((), warnings=[error.warning_about("second_look")])
    vectors = dict(zip(different, answer.vectors, strict=True))
    near = [
        NearStatement(passage, number, math.sumprod(search.vector, vectors[text]))
        for (passage, number, _), text in zip(statements, texts, strict=True)
    ]
    near.sort(key=lambda each: -each.similarity)
    nearest = near[0].similarity
    chosen = [each for each in near if each.similarity >= max(threshold, nearest - CLOSE)]
    return SecondLook(chosen[:MAX_CHOSEN], nearest, answer.usage)


def _statements(search: Search, passages: Sequence[Passage]) -> Iterator[tuple[Passage, int, Statement]]:
    """Yield the statements that may answer, of passages that hold all names and numbers of the question."""
    names = _names_of(search)
    for passage in passages if search.language in LANGUAGES else ():
        if passage.language and passage.language not in LANGUAGES:
            continue
        if names.rarity and (coverage(names, passage) or 0.0) < 1.0:
            continue
        for number, statement in enumerate(statements_in(passage)):
            is_readable = not (statement.is_garbled or statement.is_contents_entry or statement.is_question)
            if is_readable and len(plain_words(statement.text)) >= MIN_WORDS:
                yield passage, number, statement


def _names_of(search: Search) -> RareWords:
    """Return those of the question's rare words that are written like a name, or hold a digit."""
    rare = RareWords.of(search.question, search.language)
    words = (word for token in identity.marked_words_in(search.question) for word in plain_words(token))
    stems = {lexical.stem(word, search.language) for word in words}
    return rare.only(stems)
