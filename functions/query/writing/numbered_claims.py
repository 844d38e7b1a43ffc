"""The numbered part that a question asks for ("clause 4.2"), told from its number to the next one."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.evidence import is_foreign_in
from functions.query.grounding.sanitizing import without_markers
from functions.query.retrieval.numbered import NumberedPart, NumberedSpan
from functions.query.retrieval.passages import Passage
from functions.query.writing.list_items import on_lines, without_item_sign
from shared.text import is_heading, sentence_spans

MAX_PART_CHARACTERS = 1_200
"""A longer part is told up to the end of a sentence before that."""


def part_claims(question: str, passages: Sequence[Passage]) -> Sequence[Claim]:
    """Return the numbered part that a question asks for; none if it is not there, or the question asks more."""
    part = NumberedPart.of(question)
    for number, passage in enumerate(passages, start=1) if part else ():
        span = part.span_of(passage) if part else None
        text = passage.text[span.start : span.end].strip() if span else ""
        if span and ("\n" in text or not is_heading(without_item_sign(text))):
            return list(_whole(span, number, passages, question))
    return ()


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
