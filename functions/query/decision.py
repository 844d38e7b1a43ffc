"""The decision, before the model is called, whether any passage is relevant enough; and the confidence of an answer.

The relevance of a passage is a weighted mean of its cosine similarity to the question and of its coverage: the share of
the question's rare words that it holds. The more rare words a question has, the more coverage weighs: one of them a
little less than similarity, many up to twice as much. Neither is enough alone: similarity misses that a passage is
about another year or product, and coverage misses that it only shares words. The best passage's relevance is compared
with the threshold of the embedding model (`Settings.threshold`).

Confidence is not made of relevance: among documents that read alike, a wrong page is as relevant as the right one. It
is made of how far the cited passage is ahead in the ranking, of all others and of those of other documents.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum

from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import RankedPassage
from functions.query.retrieval.rescoring import is_latin, plain_words, signs_of
from functions.query.retrieval.retrieve import Retrieved
from functions.query.retrieval.search import Search
from shared import identity, lexical
from shared.models import Citation
from shared.settings import Settings

BANDS: Sequence[tuple[str, float]] = (("high", 0.65), ("medium", 0.5))
"""Minimum relevance of a source's band; anything lower is `low`, or `none` below the threshold."""
CONFIDENCE_BANDS: Sequence[tuple[str, float]] = (("high", 0.75), ("medium", 0.5))
"""Minimum confidence of an answer's band; anything lower is `low`."""
MIN_LEAD = -0.3
"""Lead from which on down it says no more: of 33 answers from a passage that stands further below another one 17 were
right, and of the 19 of them whose document was far ahead 13."""
NO_RIVAL, NO_OTHER_DOCUMENT = 0.5, 1.5
"""Lead where there is no passage to be ahead of, or none of another document: about the usual one, measured."""
UNCONFIRMED_WEIGHT = 0.55
"""Share of unconfirmed claims that are true, where as many true as false ones are claimed: `evals grounding`."""
DOUBTFUL_WEIGHT = 0.45
"""How many times as often the first citation is right where its document does not mention much of what the question
names (`names_what_is_missing`): 34 % instead of 73 % of 704 answers without a model. Such an answer is never sure."""
COVERAGE_WEIGHT = 2.0
"""Weight of a long question's coverage, against 1 for similarity."""
HALF_WEIGHT_RARITY = 10.0
"""Summed rarity of a question's rare words at which coverage has half of that weight: about two words."""
DECIDING_PASSAGES = 7
"""Best passages that the decision looks at, so that a larger `top_k` does not change it."""
MIN_COVERAGE = 0.45
"""Threshold of the best passage's coverage when there is no similarity: measured, a question that can be answered is
seldom refused for lack of embeddings (docs/quality.md)."""
MIN_PART_LETTERS = 6
"""Letters of a stem that counts as held where it is only a part of a word."""
MAX_NEAR_MISSES = 3
NEAR_SHARE = 0.5
"""Share of the threshold from which on a refusal shows a near miss to who asked."""

_LONG_NUMBER = re.compile(r"\d{4}|\d[,'’\u00a0\u202f]\d{3}")


class Band(StrEnum):
    """How relevant a passage is, in words (`BANDS`)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A passage that was not relevant enough, for operators. Without its text, because it is logged."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class PassageRelevance:
    """Relevance of a passage, and its parts; None where a part is not known.

    `lead` is its ranking score, in units of cosine, less that of the best other passage; `document_lead` less that of
    the best passage of another document.
    """

    relevance: float
    similarity: float | None
    coverage: float | None
    lead: float | None = None
    document_lead: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to answer, and why. `score` was compared with `threshold`.

    `relaxed` means that only the relaxed threshold was met. `relevances` is by chunk id. `near_misses` are the best
    passages of a refusal. `absent` are the question's names and years that no passage is about, if that is why.
    `near_statements` are the similarities of statements that answer although no passage is relevant enough, by the
    chunk id of their passages (`functions.query.second_look`).
    """

    relevant: bool
    score: float
    threshold: float
    band: Band
    relaxed: bool
    relevances: Mapping[str, PassageRelevance]
    near_misses: tuple[NearMiss, ...]
    absent: Sequence[str] = ()
    near_statements: Mapping[str, float] = field(default_factory=dict)

    def answered_by(self, statements: Mapping[str, float]) -> "Decision":
        """Return the decision as one to answer from statements, of passages with these ids, that are near enough.

        Without any it is to answer from the numbered part, or the rows of a table, that the question names.
        """
        return replace(self, relevant=True, band=Band.LOW, near_misses=(), near_statements=statements)

    def refused_for(self, absent: Sequence[str], passages: Sequence[Passage]) -> "Decision":
        """Return the decision as a refusal, because no passage is about what the question names."""
        misses = _near_misses(passages, self.relevances)
        return replace(self, relevant=False, relaxed=False, band=Band.NONE, near_misses=misses, absent=tuple(absent))

    def with_near_misses(self, sources: Sequence[Passage]) -> "Decision":
        """Return the decision with the best of `sources` as near misses: they do not hold the answer."""
        return replace(self, near_misses=_near_misses(sources, self.relevances))

    def nearest(self, passages: Sequence[Passage]) -> Sequence[Passage]:
        """Return the near misses among the passages that come near enough to be worth a look, one of each page."""
        known = {each.chunk_id: each for each in passages}
        places: dict[tuple[str, int], Passage] = {}
        for miss in self.near_misses:
            if miss.score >= NEAR_SHARE * self.threshold and (passage := known.get(miss.chunk_id)):
                places.setdefault((passage.document_id, passage.page_start), passage)
        return tuple(places.values())


def decide(search: Search, found: Retrieved, settings: Settings) -> Decision:
    """Decide whether to answer from the passages. Raises `ConfigurationError` for an uncalibrated model."""
    rare = RareWords.of(search.question, search.language)
    has_similarity = found.best_score is not None
    relevances = {
        each.chunk_id: _relevance_of(each, rare, found.scored, has_similarity=has_similarity) for each in found.passages
    }
    threshold = settings.threshold if has_similarity or not found.passages else MIN_COVERAGE
    score = max((relevances[each.chunk_id].relevance for each in found.passages[:DECIDING_PASSAGES]), default=0.0)
    relevant = bool(found.passages) and score >= threshold
    relaxed = False
    if has_similarity and not relevant and settings.relaxed_threshold is not None:
        relaxed = relevant = score >= settings.relaxed_threshold
    return Decision(
        relevant=relevant,
        score=score,
        threshold=threshold,
        band=Band.LOW if relaxed else band_of(score, settings) if relevant else Band.NONE,
        relaxed=relaxed,
        relevances=relevances,
        near_misses=() if relevant else _near_misses(found.passages, relevances),
    )


def relevance(similarity: float, covered: float | None, rarity: float) -> float:
    """Return the weighted mean of similarity and coverage, at most 1; the similarity alone where there is no coverage.

    `rarity` is the summed rarity of the question's rare words.
    """
    if covered is None:
        return similarity
    weight = COVERAGE_WEIGHT * rarity / (rarity + HALF_WEIGHT_RARITY)
    return (similarity + weight * covered) / (1 + weight)


@dataclass(frozen=True, slots=True)
class RareWords:
    """How rare the rare words of a question are, by stem (`lexical.background`, from `identity.MIN_RARITY` on).

    `latin` says that it holds none of another script; `has_long_number` that its numbers may be written grouped.
    `speakers` are the stems of those that may name who speaks.
    """

    rarity: Mapping[str, float]
    language: str
    latin: bool
    has_long_number: bool
    speakers: Set[str] = frozenset()

    @classmethod
    def of(cls, question: str, language: str) -> "RareWords":
        """Read a question."""
        latin = is_latin(question)
        has_long_number = bool(_LONG_NUMBER.search(unicodedata.normalize("NFKC", question)))
        table = lexical.background(language) or lexical.background("en")
        words = plain_words(identity.GROUPING.sub("", question) if has_long_number else question, latin=latin)
        rarity = {
            stem: table.get(stem, lexical.MAX_RARITY) for stem in (lexical.stem(word, language) for word in words)
        }
        rare = {stem: worth for stem, worth in rarity.items() if worth >= identity.MIN_RARITY}
        named = " ".join(identity.speakers_in(question)) if language == "en" else ""
        speakers = {lexical.stem(word, language) for word in plain_words(named, latin=latin)}
        return cls(rare, language, latin, has_long_number, rare.keys() & speakers)

    def only(self, stems: Set[str]) -> "RareWords":
        """Return those of the words that have one of the stems."""
        rarity = {stem: worth for stem, worth in self.rarity.items() if stem in stems}
        return replace(self, rarity=rarity, speakers=self.speakers & stems)

    @property
    def sum(self) -> float:
        """The summed rarity."""
        return sum(self.rarity.values())


def coverage(rare: RareWords, passage: Passage) -> float | None:
    """Return the share, by rarity, of a question's rare words that a passage holds: 0 to 1.

    It holds those of its text, its section, its name, and the lines above its table; German ones also as a part of a
    longer word: "Geschwister" in "Geschwisterkinder". Who speaks need not be named in their own words.

    None where words cannot be compared: the question has no rare ones, or the passage is in another language.
    """
    if not rare.rarity or (passage.language and rare.language and passage.language != rare.language):
        return None
    around = f"{passage.section}\n{passage.table}\n{identity.name_of(passage.title, passage.key)}"
    signs, in_text = signs_of(rare.language), ""
    if rare.has_long_number:
        around = identity.GROUPING.sub("", f"{passage.text}\n{around}")
    else:
        in_text = signs.of_text(passage.text, rare.latin)
    held = _stems(around, rare)
    found = {stem: worth for stem, worth in rare.rarity.items() if stem in held or signs.of_stem(stem) in in_text}
    if rare.language == "de" and len(found) < len(rare.rarity):
        text = " ".join(plain_words(f"{passage.text}\n{around}", latin=rare.latin))
        found = {stem: worth for stem, worth in rare.rarity.items() if stem in found or _is_part(stem, text)}
    named = rare.sum
    if found and rare.speakers and identity.is_own_words(passage.text):
        named -= sum(rare.rarity[stem] for stem in rare.speakers - found.keys())
    return sum(found.values()) / named


def _is_part(stem: str, text: str) -> bool:
    """Say whether a stem is long enough to be told within a word, and stands in one."""
    return len(stem) >= MIN_PART_LETTERS and stem in text


def _stems(text: str, rare: RareWords) -> Set[str]:
    """Return the stems of those words of a text that begin like one of a question's rare words."""
    beginnings = {stem[:2] for stem in rare.rarity}
    words = set(plain_words(text, latin=rare.latin))
    return {lexical.stem(word, rare.language) for word in words if word[:2] in beginnings}


def band_of(score: float, settings: Settings) -> Band:
    """Name the band of a relevance."""
    if score < settings.threshold:
        return Band.NONE
    return next((Band(name) for name, least in BANDS if score >= least), Band.LOW)


def bands_of(decision: Decision, sources: Sequence[Passage], settings: Settings) -> tuple[Band, ...]:
    """Name the band of each source; one that only meets the relaxed threshold, or has a near statement, is low."""
    known = decision.relevances
    scores = [known[each.chunk_id].relevance if each.chunk_id in known else each.score for each in sources]
    relaxed = settings.relaxed_threshold if decision.relaxed else None
    return tuple(
        Band.LOW
        if source.chunk_id in decision.near_statements or (relaxed is not None and score >= relaxed)
        else band_of(score, settings)
        for source, score in zip(sources, scores, strict=True)
    )


def confidence(
    decision: Decision,
    citations: Sequence[Citation],
    sources: Sequence[Passage],
    *,
    claims: int,
    confirmed: int,
    unconfirmed: int = 0,
    doubtful: bool = False,
    coefficients: Sequence[float] | None,
) -> float | None:
    """Return the estimated probability that the answer's first citation is on a page that answers the question.

    `citations` and `sources` are those of the answer. The estimate is a logistic regression: `coefficients` are the
    constant, then one for each of `features` (`Settings.confidence`). It is multiplied by the share of the answer's
    claims that are confirmed, an unconfirmed one counting as `UNCONFIRMED_WEIGHT`, and by `DOUBTFUL_WEIGHT` if it is
    `doubtful`.

    None for a refusal, without citations, without coefficients, and for an answer from near statements: its passage
    was not found for its rank.
    """
    cited = next((source for citation in citations[:1] for source in sources if _holds(source, citation)), None)
    if not decision.relevant or decision.near_statements or cited is None or not claims:
        return None
    known = features(decision, cited.chunk_id)
    if coefficients is None or known is None:
        return None
    share_confirmed = min(1.0, (confirmed + UNCONFIRMED_WEIGHT * unconfirmed) / claims)
    return probability(coefficients, known) * share_confirmed * (DOUBTFUL_WEIGHT if doubtful else 1.0)


def features(decision: Decision, chunk_id: str) -> tuple[float, float] | None:
    """Return the features of confidence: the cited passage's lead over all others, and over those of other documents.

    The first is at least `MIN_LEAD`: a document's best sentence often stands in its second passage.

    None where the ranking is not known, or has no similarity in it.
    """
    cited = decision.relevances.get(chunk_id)
    if cited is None or cited.similarity is None or cited.lead is None or cited.document_lead is None:
        return None
    return (max(cited.lead, MIN_LEAD), cited.document_lead)


def is_across(citations: Sequence[Citation], sources: Sequence[Passage], language: str) -> bool:
    """Return whether the first citation is in another language than the question's: confidence was not measured so."""
    cited = next((source for citation in citations[:1] for source in sources if _holds(source, citation)), None)
    return cited is not None and bool(language) and cited.language not in {"", language}


def answer_band(decision: Decision, sure: float | None, *, doubtful: bool = False, across: bool = False) -> Band:
    """Name the band of an answer: that of its confidence, or of the best source where it is not known.

    Where it is `across` languages the lower of both: a product's name alone may lead to its passage.
    """
    if doubtful:
        return Band.LOW
    if across and sure is not None:
        bands = {answer_band(decision, sure), answer_band(decision, None)}
        return next(each for each in (Band.NONE, Band.LOW, Band.MEDIUM, Band.HIGH) if each in bands)
    if sure is None or decision.relaxed or decision.near_statements:
        return decision.band
    return next((Band(name) for name, least in CONFIDENCE_BANDS if sure >= least), Band.LOW)


def probability(coefficients: Sequence[float], features: Sequence[float]) -> float:
    """Return the logistic function of the weighted features."""
    constant, *weights = coefficients
    return 1 / (1 + math.exp(-constant - sum(w * x for w, x in zip(weights, features, strict=True))))


def _holds(source: Passage, citation: Citation) -> bool:
    return (
        source.document_id == citation.document_id
        and source.char_start <= citation.char_start <= source.char_start + len(source.text)
    )


def _relevance_of(
    passage: Passage, rare: RareWords, scored: Sequence[RankedPassage], *, has_similarity: bool
) -> PassageRelevance:
    covered = coverage(rare, passage)
    if not has_similarity:
        return PassageRelevance(covered or 0.0, None, covered)
    lead, document_lead = _leads(passage, scored)
    known = relevance(passage.score, covered, rare.sum)
    return PassageRelevance(known, passage.score, covered, lead, document_lead)


def _leads(passage: Passage, scored: Sequence[RankedPassage]) -> tuple[float | None, float | None]:
    """Return a passage's lead over all others and over those of other documents; None if it was not ranked."""
    own = next((each.score for each in scored if each.passage.chunk_id == passage.chunk_id), None)
    if own is None:
        return None, None
    others = (each.score for each in scored if each.passage.chunk_id != passage.chunk_id)
    foreign = (each.score for each in scored if each.passage.document_id != passage.document_id)
    rival, foreign_rival = next(others, None), next(foreign, None)
    return (
        NO_RIVAL if rival is None else own - rival,
        NO_OTHER_DOCUMENT if foreign_rival is None else own - foreign_rival,
    )


def _near_misses(passages: Sequence[Passage], relevances: Mapping[str, PassageRelevance]) -> tuple[NearMiss, ...]:
    nearest = sorted(passages, key=lambda each: -relevances[each.chunk_id].relevance)[:MAX_NEAR_MISSES]
    return tuple(NearMiss(each.chunk_id, round(relevances[each.chunk_id].relevance, 4)) for each in nearest)
