"""The numbered part that a question asks for ("clause 4.2"), told from its number to the next one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.evidence import is_foreign_in
from functions.query.grounding.sanitizing import without_markers
from functions.query.grounding.words import content_stems
from functions.query.retrieval.numbered import NumberedPart, NumberedSpan
from functions.query.retrieval.passages import Passage
from functions.query.writing.extractive import extractive_claims
from functions.query.writing.statements import MAX_CHARACTERS, on_lines, without_item_sign
from shared.text import is_heading, sentence_spans

MAX_PART_CHARACTERS = 1_200
"""A longer part is told up to the end of a sentence before that."""


def part_claims(question: str, passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the numbered part that a question asks for; of a long one what answers; none if it is not there.

    Of a long part that goes on behind its passage none is told: what answers may stand there.
    """
    part = NumberedPart.of(question)
    if part is None:
        return ()
    rest = question.replace(part.typed, " ")
    for number, passage in enumerate(passages, start=1):
        span = part.span_in(passage.text)
        text = passage.text[span.start : span.end].strip() if span else ""
        if span is None or ("\n" not in text and is_heading(without_item_sign(text))):
            continue
        if len(text) <= MAX_CHARACTERS or not _share_words(rest, text, passage.language or "en"):
            return list(_whole(span, number, passages, question))
        return _inside(rest, passage._replace(text=text, table=""), number) if span.closed else ()
    return ()


def _share_words(question: str, text: str, language: str) -> bool:
    return not set(content_stems(question, language)).isdisjoint(content_stems(text, language))


def _whole(span: NumberedSpan, number: int, passages: Sequence[Passage], question: str) -> Iterator[Claim]:
    """Yield the paragraphs of a part, without sentences that are foreign to its document: they are no evidence."""
    passage = passages[number - 1]
    text = passage.text
    spans = [(span.start + start, span.start + end) for start, end in sentence_spans(text[span.start : span.end])]
    told = [each for each in spans if each[1] <= span.start + MAX_PART_CHARACTERS] or spans[:1]

    def place(each: tuple[int, int]) -> tuple[int, bool]:
        """Return the sentence's paragraph and whether it is foreign."""
        is_foreign = is_foreign_in(passage, text[slice(*each)], *each, passages, question)
        return text.count("\n", span.start, each[0]), is_foreign

    for (_, is_foreign), group in groupby(told, key=place):
        sentences = list(group)
        if not is_foreign:
            quote = text[sentences[0][0] : sentences[-1][1]]
            yield Claim(without_markers(on_lines(quote)), (Reference(number, quote),), "\n")


def _inside(question: str, part: Passage, number: int) -> Sequence[Claim]:
    return [
        replace(claim, references=[replace(each, source=number) for each in claim.references])
        for claim in extractive_claims(question, [part])
    ]
