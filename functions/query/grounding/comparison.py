"""A claim beside its evidence: what the rules of the judge ask about the two, each worked out once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from functions.query.grounding.clauses import turns
from functions.query.grounding.evidence import claim_language, passage_language
from functions.query.grounding.figures import FigureCheck, check_figures, tells_cells_only, tells_only
from functions.query.grounding.injection import without_injections
from functions.query.grounding.names import names_in
from functions.query.grounding.quotes import EvidenceSpan, titles_of
from functions.query.grounding.sanitizing import plain
from functions.query.grounding.statements import same_signs, step_told, tells_step
from functions.query.grounding.table_cells import with_ticked_only
from functions.query.grounding.wording import UNINFORMATIVE_STEMS
from functions.query.grounding.words import stems_of, tokens_of
from functions.query.retrieval.passages import Passage
from shared.lexical import fold
from shared.text import SEPARATOR

_SIGN_APART = re.compile(r"([$€£¥])\s+(?=\d)")


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds the claim: the question, all sources, and the language of the answer."""

    question: str = ""
    sources: Sequence[Passage] = ()
    language: str = "en"


@dataclass(frozen=True)
class ClaimComparison:
    """A claim beside its evidence (at least one span), with what several rules ask about them.

    `claim` is what it states; `written` is as the model wrote it.
    """

    claim: str
    spans: Sequence[EvidenceSpan]
    context: Context
    written: str = ""

    @cached_property
    def language(self) -> str:
        """The claim's own language."""
        return claim_language(self.claim, self.spans[0].passage, self.context.language)

    @cached_property
    def sentences(self) -> Sequence[str]:
        """The sentences of all spans, of options to tick with those that are ticked."""
        return [same_signs(with_ticked_only(sentence)) for span in self.spans for sentence in span.sentences]

    @cached_property
    def written_sentences(self) -> Sequence[str]:
        """The sentences of all spans, of tables the rows as they are written."""
        found = [[same_signs(text) for text in span.sentences] for span in self.spans]
        return [text for texts in found for text in [row for row in texts if SEPARATOR in row] or texts]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The claim's content words, as they are compared."""
        return stems_of(self.wording, self.language) - UNINFORMATIVE_STEMS

    @cached_property
    def repeats(self) -> bool:
        """Whether the claim is one of the sentences, all of a span's, or cells of a told row, word for word.

        A currency sign may be apart from its number.
        """
        said = {_tokens(self.claim), _tokens(same_signs(self.written))}
        texts = (*self.sentences, *(same_signs(span.statement) for span in self.spans))
        return any(_tokens(text) in said for text in texts) or any(
            _tells_cells(said, row)
            for said in (self.claim, self.written)
            for span in self.spans
            for row in map(with_ticked_only, span.told_rows)
        )

    @cached_property
    def figures(self) -> FigureCheck:
        """What the evidence says about its numbers."""
        if self.repeats:
            return FigureCheck()
        return check_figures(
            self.claim, self.spans, question=self.context.question, sources=self.context.sources, language=self.language
        )

    @property
    def wording(self) -> str:
        """The claim as its words are compared: with the evidence's numbers for converted ones."""
        told_of_step = self.step[1] if self.step is not None and self.step[0] else ""
        return self.figures.restated or told_of_step or self.claim

    @cached_property
    def step(self) -> tuple[bool, str] | None:
        """Whether it gives a step its own number, and what it tells of it; None if it tells none."""
        return step_told(self.claim, self.written_sentences, self.language) if tells_step(self.claim) else None

    @cached_property
    def has_cells(self) -> bool:
        """Whether a table confirms its numbers, or they are calculated from one."""
        figures = self.figures
        return bool(figures.texts) and (figures.is_bound or bool(figures.derived)) and not figures.is_open

    @cached_property
    def is_told(self) -> bool:
        """Whether it tells cells of a table, or a calculation with them, and adds nothing else."""
        titles = [title for span in self.spans for title in titles_of(span.passage)]
        texts = [*self.figures.texts, *self.sentences, self.context.question, *titles]
        is_calculated = bool(self.figures.derived)
        if self.figures.conflict:
            return False
        if self.has_cells and tells_only(self.claim, texts, self.language, is_calculated=is_calculated):
            return True
        is_whole = bool(self.figures.cell_texts) and not (self.figures.missing or self.figures.is_open)
        return is_whole and tells_cells_only(self.claim, [*self.figures.cell_texts, *titles], self.language)

    @cached_property
    def is_same(self) -> bool:
        """Whether its words need no comparison: it repeats a sentence, or tells a table."""
        return self.repeats or self.is_told

    @cached_property
    def is_translated(self) -> bool:
        """Whether all evidence is in another language than the claim."""
        spoken = {passage_language(span.passage, self.context.language) for span in self.spans}
        return self.language not in spoken

    @property
    def is_alike(self) -> bool:
        """Whether its words are not compared with the sentences: they are the same, or in another language."""
        return self.is_same or self.is_translated

    @cached_property
    def turns(self) -> frozenset[str]:
        """The kinds of turning words by which it differs from the clauses it repeats."""
        return frozenset() if self.is_alike else turns(self.wording, self.sentences, self.language)

    @cached_property
    def passage_stems(self) -> frozenset[str]:
        """The words of the question, the evidence's whole passages and their titles."""
        texts = [self.context.question, *texts_of([span.passage for span in self.spans])]
        return frozenset().union(*(stems_of(text, self.language) for text in texts))

    @cached_property
    def proper_words(self) -> frozenset[str]:
        """The names in the claim, its evidence, the titles and the question, folded, in lower case."""
        titles = [title for span in self.spans for title in titles_of(span.passage)]
        texts = (self.claim, *self.sentences, *titles, self.context.question)
        return frozenset(fold(name).lower() for text in texts for name in names_in(text))


def _tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text as a claim is written: in plain signs, a currency sign beside its number."""
    return tokens_of(_SIGN_APART.sub(r"\1", plain(text)))


def _tells_cells(claim: str, row: str) -> bool:
    """Return whether a claim is a row's label with some of its cells, each as the row is told: "Mill; 2024: 9"."""
    label, *cells = claim.split("; ")
    name, *told = row.split("; ")
    if not cells or label not in {name, name.partition(": ")[2]}:
        return False
    return all(": " in cell for cell in cells) and set(cells) <= set(told)


def texts_of(passages: Sequence[Passage]) -> list[str]:
    """Return the texts and titles of passages, without prompt injections."""
    return [text for passage in passages for text in (without_injections(passage.whole), *titles_of(passage))]
