"""The proof: which claims of a draft may be shown, with which quotes.

Every answer passes through here, a model's and an extractive one alike. What becomes of a claim:

    taken out   no source it names proves it: the source does not exist, its quote does not stand there and nothing near
                it does, fewer than half of its words stand there; or a number, date, share, amount, unit or identifier
                of it does not; or it says the opposite; or it has a name that no source holds; or it keeps a sentence's
                wording but for a word exchanged, put in or turned round; or its source speaks to a model there
                instead of to a reader
    flagged     it is shown, and counted as doubtful: it may say the opposite, or has a name from elsewhere
    cleaned     images, markup and addresses that no source holds are taken out of it, and the rest is checked

A quote that is shown is always cut out of the stored text; nothing a model wrote is shown as a quote.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from functions.query.grounding.claims import Claim, Reference, lead_of
from functions.query.grounding.facts import facts_in, foreign_names, missing
from functions.query.grounding.injection import is_our_own, without_injections
from functions.query.grounding.polarity import flipped
from functions.query.grounding.quotes import (
    LEAST_OVERLAP,
    Quotes,
    Stretch,
    evidence_for,
    located_stretches,
    places_of,
    quoted_stretches,
    titles_of,
    with_markers,
)
from functions.query.grounding.restatement import (
    LEAST_CLAUSE,
    QUOTED_COVERAGE,
    SAYS_NOTHING,
    contradiction,
    is_covered,
    repeats,
)
from functions.query.grounding.sanitizing import Sources, cleaned
from functions.query.grounding.wording import is_altered, is_reversed
from functions.query.grounding.words import stems_of
from functions.query.retrieval.passages import Passage
from shared.models import Citation
from shared.text import sentence_spans

DOUBTS = frozenset({"negation", "name"})
MOST_INTRODUCTION_WORDS = 15


@dataclass(frozen=True, slots=True)
class Support:
    """How much of a draft was proven. Counts of claims; `flags` names one finding each, sorted.

    `claims`: made by the writer. `supported`: shown, with a verified quote and without a doubt. `dropped`: taken out.
    What is neither was shown with a doubt. Flags: "source" (it does not exist), "quote" (it does not stand there),
    "uncited", "words", "number", "negation", "name", "instruction"; "link", "image", "html", "marker" (taken out of a
    text); "translated" (claim and source differ in language, so that only facts and quotes were compared).
    """

    claims: int = 0
    supported: int = 0
    dropped: int = 0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A claim that may be shown: its text with its markers `[n]`, and the citations that were not there before it."""

    text: str
    citations: Sequence[Citation]
    flags: Sequence[str] = ()


class Verifier:
    """Checks the claims of one draft in order against its sources (source n is `sources[n - 1]`)."""

    def __init__(self, sources: Sequence[Passage], *, question: str = "", language: str = "") -> None:
        self._sources = sources
        self._question = question
        self._language = language or "en"
        self._held = Sources(text for passage in sources for text in (passage.text, *titles_of(passage)))
        self._quotes = Quotes()
        self._support = Support()
        self._flags: list[str] = []
        self._introduction: Claim | None = None
        self._started = False
        self.dropped_citations = 0

    @property
    def support(self) -> Support:
        """What was found so far."""
        return replace(self._support, flags=tuple(sorted(self._flags)))

    @property
    def citations(self) -> Sequence[Citation]:
        """The citations that were given so far, by number."""
        return self._quotes.citations

    def check(self, claim: Claim) -> Iterator[VerifiedClaim]:
        """Yield what of a claim may be shown: nothing, or its sentences that are proven."""
        clean = cleaned(claim.text, self._held)
        findings = list(clean.findings)
        spans = [span for span in sentence_spans(clean.text) if any(map(str.isalnum, clean.text[slice(*span)]))]
        if not spans and (findings or any(map(str.isalnum, claim.text))):
            self._count(findings, "dropped")
        for number, (start, end) in enumerate(spans):
            # Cleaning may part what looked like one sentence; each has to stand by itself.
            part = replace(claim, text=clean.text[start:end])
            if number:
                part = replace(part, lead=lead_of(clean.text[spans[number - 1][1] : start]), number="")
            proven = self._checked(part, findings if number == 0 else [])
            if proven is not None:
                yield proven

    def _checked(self, claim: Claim, findings: Sequence[str]) -> VerifiedClaim | None:
        flags = list(findings)
        if not claim.references and self._may_introduce(claim.text):
            self._introduction = claim
            self._flags.extend(flags)
            return None
        stretches = self._proven(claim, flags)
        self._count(flags, "dropped" if not stretches else "" if DOUBTS & set(flags) else "supported")
        known = {each.source for each in claim.references if 1 <= each.source <= len(self._sources)}
        cited = [number for number in known if any(each.passage is self._sources[number - 1] for each in stretches)]
        self.dropped_citations += len(known) - len(cited)
        if not stretches:
            self._introduction = None
            return None
        before = len(self._quotes.citations)
        numbers = [self._quotes.number(each.passage, each.start, each.end) for each in stretches]
        introduction = self._introduced(claim, stretches)
        lead = "" if introduction or not self._started else claim.lead or " "
        self._introduction = None
        self._started = True
        text = introduction + lead + claim.number + with_markers(claim.text, numbers)
        return VerifiedClaim(text, self._quotes.citations[before:], tuple(flags))

    def _proven(self, claim: Claim, flags: list[str]) -> list[Stretch]:
        """Return the stretches that prove a claim, none if it is not proven; what was found is added to `flags`."""
        if not claim.references:
            flags.append("uncited")
            return []
        said = stems_of(claim.text, self._language) - SAYS_NOTHING
        found: list[Stretch] = []
        for reference in claim.references:
            found.extend(each for each in self._stretches(claim.text, reference, flags) if each not in found)
        untainted = [each for each in found if not each.tainted]
        if len(untainted) < len(found):
            flags.append("instruction")
        stretches = [each for each in untainted if self._bears_on(claim.text, said, each)]
        if not stretches:
            if untainted:
                flags.append("words")
            return []
        return stretches if self._stands(claim.text, said, stretches, flags) else []

    def _stretches(self, claim: str, reference: Reference, flags: list[str]) -> list[Stretch]:
        if not 1 <= reference.source <= len(self._sources):
            flags.append("source")
            self.dropped_citations += 1
            return []
        passage = self._sources[reference.source - 1]
        places = quoted_stretches(reference.quote, passage) if reference.quote.strip() else []
        if places:
            # The same words may stand in two places, and only one of them be about this.
            return [min(places, key=lambda each: (each.tainted, len(missing(claim, evidence_for([each])))))]
        if reference.quote.strip():
            flags.append("quote")
            too_short_to_tell = len(stems_of(claim, self._language)) < LEAST_CLAUSE
            if too_short_to_tell and not any(places_of(claim.rstrip(" .!?…"), passage.text)):
                return []
        return located_stretches(claim, passage, self._language)

    def _bears_on(self, claim: str, said: frozenset[str], stretch: Stretch) -> bool:
        """Say whether a stretch has to do with the claim at all: by its words, or by a fact where words cannot tell."""
        if next(places_of(claim.rstrip(" .!?…"), stretch.passage.text[stretch.start : stretch.end]), None):
            return True
        facts = facts_in(claim)
        a_fact_stands = len(missing(claim, evidence_for([stretch]))) < len(facts)
        if self._other_language(stretch):
            return a_fact_stands or not facts
        if not said:
            return a_fact_stands
        shared = len(said & (stretch.stems | stretch.context))
        return bool(said & stretch.stems) and shared >= LEAST_OVERLAP * len(said)

    def _stands(self, claim: str, said: frozenset[str], stretches: Sequence[Stretch], flags: list[str]) -> bool:
        """Check words, facts, names and negation of a claim against all its stretches together."""
        passages = [stretch.passage for stretch in stretches]
        sentences = [sentence for stretch in stretches for sentence in stretch.sentences]
        if repeats(claim, sentences):
            return True
        if is_our_own(claim):
            flags.append("instruction")
            return False
        opposed = "number" if missing(claim, evidence_for(stretches)) else contradiction(claim, sentences)
        if opposed:
            flags.append(opposed)
            return False
        if all(map(self._other_language, stretches)):
            flags.append("translated")
        else:
            flip = flipped(claim, sentences, self._language)
            if flip:
                flags.append("negation")
            if flip == "certain":
                return False
        if foreign_names(claim, _texts_of(passages), self._language):
            flags.append("name")
            if foreign_names(claim, [self._question, *_texts_of(self._sources)], self._language):
                return False
        if "translated" in flags or self._keeps_to(claim, said, stretches, sentences):
            return True
        flags.append("words")
        return False

    def _keeps_to(
        self, claim: str, said: frozenset[str], stretches: Sequence[Stretch], sentences: Sequence[str]
    ) -> bool:
        """Say whether a claim's words are its proof's, none exchanged, put in, or turned round."""
        spoken = self._language

        @cache
        def near() -> frozenset[str]:
            passages = [each.passage for each in stretches]
            return stems_of(self._question, spoken).union(*(stems_of(text, spoken) for text in _texts_of(passages)))

        return (
            is_covered(claim, said, stretches, question=self._question, language=spoken)
            and not is_reversed(claim, sentences, spoken)
            and not is_altered(claim, sentences, lambda stem: stem in near(), spoken)
        )

    def _other_language(self, stretch: Stretch) -> bool:
        spoken = stretch.passage.language
        return bool(spoken) and spoken.split("-")[0] != self._language.split("-")[0]

    def _may_introduce(self, text: str) -> bool:
        """Say whether a text without a proof may stand before the next claim: "The steps are:"."""
        return text.rstrip(" *_").endswith(":") and len(text.split()) <= MOST_INTRODUCTION_WORDS and not facts_in(text)

    def _introduced(self, claim: Claim, stretches: Sequence[Stretch]) -> str:
        if self._introduction is None:
            return ""
        text = self._introduction.text
        said = stems_of(text, self._language)
        held = stems_of(self._question, self._language).union(*(each.stems | each.context for each in stretches))
        near = [self._question, *_texts_of([each.passage for each in stretches])]
        if len(said & held) < QUOTED_COVERAGE * len(said) or foreign_names(text, near, self._language):
            self._introduction = None
            return ""
        lead = self._introduction.lead or " " if self._started else ""
        return f"{lead}{text}{claim.lead or chr(10)}"

    def _count(self, flags: Sequence[str], outcome: str) -> None:
        support = self._support
        self._support = replace(
            support,
            claims=support.claims + 1,
            supported=support.supported + (outcome == "supported"),
            dropped=support.dropped + (outcome == "dropped"),
        )
        self._flags.extend(dict.fromkeys(flags))


def _texts_of(passages: Sequence[Passage]) -> list[str]:
    """Return all that passages say to a reader."""
    return [text for passage in passages for text in (without_injections(passage.text), *titles_of(passage))]
