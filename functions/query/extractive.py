"""An answer without a model: the sentences of the best passages that say most about the question, word for word."""

from collections.abc import Sequence

from functions.query.citations import CitedAnswer, quoted
from functions.query.passages import Passage
from functions.query.words import bm25, terms_of
from shared.sentences import statement_spans

MOST_SENTENCES = 3
LEAST_SHARE = 0.6
"""Share of the best sentence's score that a further sentence needs to be worth saying too."""
LONGEST_CHARACTERS = 600
"""A stretch without sentence borders (a table, a list of names) is quoted up to here, cut at a line or word."""


def extractive_answer(question: str, passages: Sequence[Passage]) -> CitedAnswer:
    """Choose up to three sentences by BM25 over all sentences at hand, weighted by their passage's similarity.

    The passage's title and section count half towards each of its sentences, because a sentence seldom repeats what
    its heading says. With no shared word at all, the best passage's first sentence is the answer.
    """
    sentences = [
        (passage, start, _cut(passage.text, start, end))
        for passage in passages
        for start, end in statement_spans(passage.text)
    ]
    if not sentences:
        return CitedAnswer("", (), 0)
    query = terms_of(question)
    own = bm25(query, [terms_of(passage.text[start:end]) for passage, start, end in sentences])
    context = bm25(query, [terms_of(f"{passage.title} {passage.section}") for passage, _, _ in sentences])
    scores = [
        (mine + 0.5 * around) * max(0.05, passage.score) if mine else 0.0
        for mine, around, (passage, _, _) in zip(own, context, sentences, strict=True)
    ]
    ranked = sorted(range(len(sentences)), key=lambda at: (-scores[at], at))
    best = scores[ranked[0]]
    chosen = [at for at in ranked[:MOST_SENTENCES] if scores[at] >= LEAST_SHARE * best] if best else [0]
    return quoted([sentences[at] for at in chosen])


def _cut(text: str, start: int, end: int) -> int:
    if end - start <= LONGEST_CHARACTERS:
        return end
    for border in ("\n", " "):
        at = text.rfind(border, start + LONGEST_CHARACTERS // 2, start + LONGEST_CHARACTERS)
        if at > 0:
            return at
    return start + LONGEST_CHARACTERS
