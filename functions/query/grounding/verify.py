"""Verifies the claims of a draft against its sources and decides what is shown, with which citations.

Every answer passes through here, generated or extractive. The steps for each claim:

    1. split     Remove images, markup and addresses that are in no source; split into sentences.
    2. evidence  Find the quote in each named source, or else the sentences nearest to the claim (`evidence.py`).
    3. judge     Compare the claim with them: confirmed, unconfirmed or refuted (`judge.py`).
    4. show      With the numbers of its citations, and a mark if it is unconfirmed; or drop it if it is refuted, or
                 unconfirmed and `strict`. The findings are counted either way.

Between 3 and 4 a checker may be asked about the unconfirmed ones (`checking.py`).

Quotes that are shown are always copied from the stored text, never from the model's output.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from functions.query.grounding.claims import Claim, lead_of
from functions.query.grounding.comparison import Context, texts_of
from functions.query.grounding.evidence import find_evidence
from functions.query.grounding.facts import facts_in
from functions.query.grounding.judge import Judgement, Verdict, judge
from functions.query.grounding.known_facts import known_facts, missing_facts
from functions.query.grounding.names import unknown_names
from functions.query.grounding.quotes import EvidenceSpan, NumberedCitations, titles_of, with_markers
from functions.query.grounding.sanitizing import SourceTexts, cleaned
from functions.query.grounding.statements import claims_nothing, is_yes_or_no, statement_of, talk_stems
from functions.query.grounding.words import stems_of
from functions.query.retrieval.passages import Passage
from shared.language import language_of
from shared.lexical import fold
from shared.models import AnswerClaim, Citation
from shared.text import SEPARATOR, sentence_spans, with_fragments_joined

MAX_INTRODUCTION_WORDS = 20
MIN_KNOWN_SHARE = 0.5
"""Share of the words of an introduction that the question or the next claim's evidence must have."""


_NEGATIONS = {
    language: re.compile(rf"\b(?:{words})\b")
    for language, words in {
        "de": r"nicht|nichts|kein\w*|nie|niemals|ohne|weder",
        "en": r"no|not|never|none|nor|without|\w+n['’]t|cannot",
        "es": r"no|nunca|jamas|sin|ningun\w*|nadie|nada",
        "fr": r"ne|n|pas|jamais|sans|aucun\w*|rien",
        "lt": r"ne\w*|be",
    }.items()
}
"""Words, folded, that negate a statement or its translation. Lithuanian's "ne" begins other words, too: claims with
one stay unconfirmed."""


@dataclass(frozen=True, slots=True)
class Support:
    """How much of a draft is grounded: counts of claims by verdict, and the findings, sorted.

    `dropped` claims were refuted or have no evidence, and are not shown. Flags: "source" (does not exist), "quote" (not
    in the source), "uncited", "words", "number", "negation", "name", "instruction"; "link", "image", "html", "marker"
    (removed from a text); "translated" (claim and source differ in language, so only facts and quotes were compared).
    """

    claims: int = 0
    confirmed: int = 0
    unconfirmed: int = 0
    dropped: int = 0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict, neither shown nor dropped yet. `introduction` is a line that may stand before it."""

    claim: Claim
    spans: Sequence[EvidenceSpan]
    judgement: Judgement
    flags: Sequence[str] = ()
    introduction: Claim | None = None

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it is shown with a mark, if at all."""
        return self.judgement.verdict is Verdict.UNCONFIRMED


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A claim to show: `text` with what stands before it, markers `[n]` and mark; and its new citations."""

    text: str
    citations: Sequence[Citation]
    claim: AnswerClaim
    flags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ClaimFate:
    """What became of a claim of a draft, shown or not: its verdict, its findings, the numbers of its sources."""

    text: str
    verdict: Verdict
    shown: bool
    flags: Sequence[str] = ()
    sources: Sequence[int] = ()


class Verifier:
    """Verifies the claims of one draft in order against its sources (source n is `sources[n - 1]`).

    `mark` is written after an unconfirmed claim, unless such claims are dropped (`strict`). With `quotes` the claims
    are the sources' own sentences, and a title run into one is no claim beside it. `without` switches rules of the
    judge off by name, to measure what they are worth.
    """

    def __init__(
        self,
        sources: Sequence[Passage],
        *,
        question: str = "",
        language: str = "",
        mark: str = "",
        strict: bool = False,
        quotes: bool = False,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._sources = sources
        self._mark = mark
        self._strict = strict
        self._quotes = quotes
        self._without = without
        self._context = Context(question, sources, language or "en")
        self._source_texts = SourceTexts(text for passage in sources for text in (passage.text, *titles_of(passage)))
        self._citations = NumberedCitations()
        self._support = Support()
        self._flags: list[str] = []
        self._fates: list[ClaimFate] = []
        self._introduction: Claim | None = None
        self._started = False
        self.dropped_citations = 0

    @property
    def support(self) -> Support:
        """The counts and findings so far."""
        return replace(self._support, flags=tuple(sorted(self._flags)))

    @property
    def fates(self) -> Sequence[ClaimFate]:
        """What became of the claims so far, in their order."""
        return tuple(self._fates)

    @property
    def citations(self) -> Sequence[Citation]:
        """The citations so far, by number."""
        return self._citations.citations

    def check(self, claim: Claim) -> Iterator[VerifiedClaim]:
        """Yield the sentences of a claim that are shown."""
        for judged in self.judge(claim):
            verified = self.show(judged)
            if verified is not None:
                yield verified

    def judge(self, claim: Claim) -> Iterator[JudgedClaim]:
        """Yield the sentences of a claim with their verdicts."""
        clean = cleaned(claim.text, self._source_texts)
        findings = list(clean.findings)
        whole = tuple(sentence_spans(clean.text))
        spans = with_fragments_joined(clean.text, whole) if self._quotes else whole
        sentences = [span for span in spans if any(map(str.isalnum, clean.text[slice(*span)]))]
        if len(sentences) > 1 and is_yes_or_no(clean.text[slice(*sentences[0])]):
            sentences[:2] = [(sentences[0][0], sentences[1][1])]  # alone it claims nothing
        if sentences and self._quotes and all(SEPARATOR in reference.quote for reference in claim.references):
            sentences = [(sentences[0][0], sentences[-1][1])]  # a table's row, with full stops in its cells: "2. OG"
        if not sentences and (findings or any(map(str.isalnum, claim.text))):
            self._count(findings, Verdict.REFUTED)
            self._fates.append(ClaimFate(clean.text, Verdict.REFUTED, shown=False, flags=findings))
        for number, (start, end) in enumerate(sentences):
            # Cleaning may split a sentence; each part is verified separately.
            part = replace(claim, text=clean.text[start:end])
            if number:
                part = replace(part, lead=lead_of(clean.text[sentences[number - 1][1] : start]), number="")
            flags = [] if number else findings
            judged = self._judged(part, flags)
            if self._introduces(judged):
                self._introduction = part
                self._flags.extend(flags)
            else:
                yield replace(judged, introduction=self._introduction)
                self._introduction = None

    def show(self, judged: JudgedClaim) -> VerifiedClaim | None:
        """Return a claim as it is shown, None if it is dropped; count it either way. Claims come in their order."""
        verdict = judged.judgement.verdict
        is_dropped = verdict is Verdict.REFUTED or (self._strict and judged.is_unconfirmed)
        self._count(judged.flags, Verdict.REFUTED if is_dropped else verdict)
        self._count_dropped_citations(judged.claim, [] if is_dropped else judged.spans)
        cited = {at for at, source in enumerate(self._sources, 1) for span in judged.spans if span.passage is source}
        cited |= {each.source for each in judged.claim.references if self._is_source(each.source)}
        text, flags = judged.claim.text.rstrip(), tuple(judged.flags)
        self._fates.append(ClaimFate(text, verdict, not is_dropped, flags, sorted(cited)))
        return None if is_dropped else self._shown(judged)

    def _judged(self, claim: Claim, findings: Sequence[str]) -> JudgedClaim:
        original = claim.original if claim.original and _is_translation(claim) else ""
        sought = replace(claim, text=original) if original else claim
        evidence = find_evidence(sought, self._sources, self._context.language, self._context.question)
        self.dropped_citations += evidence.unknown_sources
        judgement = judge(claim.text, evidence.spans, self._context, original=claim.original, without=self._without)
        if original and judgement.verdict is Verdict.UNCONFIRMED:
            judgement = self._by_original(claim, judgement, evidence.spans)
        flags = (*findings, *evidence.findings, *judgement.findings)
        return JudgedClaim(claim, evidence.spans, judgement, flags)

    def _by_original(self, claim: Claim, judgement: Judgement, spans: Sequence[EvidenceSpan]) -> Judgement:
        """Judge a translated claim by the same statement in the source's language.

        It confirms the claim if nothing but the language is in doubt and both have the same facts and negations.
        """
        original = judge(claim.original, spans, self._context, without=self._without)
        is_refuted = original.verdict is Verdict.REFUTED
        is_same = judgement.findings == ("translated",) and _say_the_same(claim.text, claim.original)
        if is_refuted or (is_same and original.verdict is Verdict.CONFIRMED):
            findings = tuple(dict.fromkeys((*judgement.findings, *original.findings)))
            return Judgement(original.verdict, findings, original.derived)
        return judgement

    # --- show or drop ---

    def _shown(self, judged: JudgedClaim) -> VerifiedClaim:
        claim, spans, introduction = judged.claim, judged.spans, judged.introduction
        before = len(self.citations)
        numbers = list(dict.fromkeys(self._citations.number_of(span) for span in spans))
        lead = claim.lead or " " if self._started else ""
        if introduction is not None and self._is_introduction_known(introduction.text, spans):
            before_it = introduction.lead or " " if self._started else ""
            lead = f"{before_it}{introduction.number}{introduction.text}{claim.lead or '\n'}"
        self._started = True
        text = lead + claim.number + with_markers(claim.text, numbers)
        if judged.is_unconfirmed and self._mark:
            text += f" {self._mark}"
        verdict, derived = judged.judgement.verdict.value, judged.judgement.derived
        said = AnswerClaim(claim.text.rstrip(), verdict, tuple(numbers), derived)
        return VerifiedClaim(text, self.citations[before:], said, tuple(judged.flags))

    def _introduces(self, judged: JudgedClaim) -> bool:
        """Return whether a sentence is no claim, but may introduce the next one: "The steps are:".

        A sentence about something that its own quotes speak of, or contradict, is a claim.
        """
        text = judged.claim.text
        if claims_nothing(statement_of(text)):
            return True
        if not text.rstrip(" *_").endswith(":") or len(text.split()) > MAX_INTRODUCTION_WORDS or facts_in(text):
            return False
        return not judged.spans or _is_only_unlike(judged.judgement)

    def _is_introduction_known(self, text: str, spans: Sequence[EvidenceSpan]) -> bool:
        """Return whether an introduction is about the question or the next claim's evidence, which do not refute it."""
        said = stems_of(text, self._context.language) - talk_stems(self._context.language)
        question = stems_of(self._context.question, self._context.language)
        held = question.union(*(span.stems | span.title_stems for span in spans))
        near = [self._context.question, *texts_of([span.passage for span in spans])]
        if len(said & held) < MIN_KNOWN_SHARE * len(said) or unknown_names(text, near, self._context.language):
            return False
        judgement = judge(text, spans, self._context, without=self._without)
        return judgement.verdict is not Verdict.REFUTED or _is_only_unlike(judgement)

    def _count(self, flags: Sequence[str], verdict: Verdict) -> None:
        support = self._support
        self._support = replace(
            support,
            claims=support.claims + 1,
            confirmed=support.confirmed + (verdict is Verdict.CONFIRMED),
            unconfirmed=support.unconfirmed + (verdict is Verdict.UNCONFIRMED),
            dropped=support.dropped + (verdict is Verdict.REFUTED),
        )
        self._flags.extend(dict.fromkeys(flags))

    def _count_dropped_citations(self, claim: Claim, spans: Sequence[EvidenceSpan]) -> None:
        named = {each.source for each in claim.references if self._is_source(each.source)}
        cited = {number for number in named if any(span.passage is self._sources[number - 1] for span in spans)}
        self.dropped_citations += len(named - cited)

    def _is_source(self, number: int) -> bool:
        return 1 <= number <= len(self._sources)


def _is_only_unlike(judgement: Judgement) -> bool:
    """Return whether a claim was refuted only because its words are not in the evidence, which says nothing else."""
    return judgement.verdict is Verdict.REFUTED and judgement.findings == ("words",)


def _is_translation(claim: Claim) -> bool:
    spoken, source = language_of(claim.text), language_of(claim.original)
    return bool(spoken and source) and spoken != source


def _say_the_same(text: str, original: str) -> bool:
    """Return whether a translation has the facts of its original, and negates if that does; False if unknown."""
    negations = _NEGATIONS.get(language_of(text)), _NEGATIONS.get(language_of(original))
    if None in negations or missing_facts(text, known_facts([original], original)):
        return False
    negates = {
        bool(each and each.search(fold(side).lower())) for each, side in zip(negations, (text, original), strict=True)
    }
    said = frozenset[object]().union(*(fact.values for fact in facts_in(text)))
    return len(negates) == 1 and all(said & fact.values for fact in facts_in(original) if fact.values)
