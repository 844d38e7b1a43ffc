"""Is there anything to answer from? The decision that comes before every model call, and how sure an answer is.

The relevance of a passage is a weighted mean of its cosine similarity to the question and of the share of the
question's rare words that it holds. Words count the more, the more of them there are to go by: a single rare word a
little less than similarity, many of them up to twice as much. The best passage's relevance is compared with the
threshold of the embedding model (`Settings.threshold`). Neither half is enough alone: similarity does not see that the
passage is about another year or product, and words do not see that a passage shares nothing but words.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from functions.query.retrieval.passages import Passage
from functions.query.retrieval.rescoring import is_latin, plain_words, word_positions
from functions.query.retrieval.retrieve import Retrieved
from functions.query.retrieval.search import Search
from shared import identity, lexical
from shared.models import Citation, EmbeddingSpace
from shared.settings import Settings

# --- What was measured for each embedding model; `python -m evals calibrate` prints it, and how sure it is ---

BANDS: Sequence[tuple[str, float]] = (("high", 0.65), ("medium", 0.5))
"""Least relevance of a band; what is under both and not under the threshold is low."""

CONFIDENCE: Mapping[str, Sequence[float]] = {
    "all-MiniLM-L6-v2": (-3.70, 4.35, 3.01, 4.49),
}
"""Coefficients of a logistic regression: the constant, then one for each of `decision.features`."""


def probability(coefficients: Sequence[float], features: Sequence[float]) -> float:
    """Return the logistic function of the weighted features."""
    constant, *weights = coefficients
    return 1 / (1 + math.exp(-constant - sum(w * x for w, x in zip(weights, features, strict=True))))


# --- How much of a question's words a passage holds: the half of relevance that similarity does not see ---

_GROUPING = re.compile(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")
_LONG_NUMBER = re.compile(r"\d{4}|\d[,'’\u00a0\u202f]\d{3}")


@dataclass(frozen=True, slots=True)
class RareWords:
    """How rare the rare words of a question are, by stem (`lexical.background`, from `identity.COMMON` on).

    `latin` says that it holds none of another script; `grouped` that it holds a number that may be written grouped.
    """

    rarity: Mapping[str, float]
    language: str
    latin: bool
    grouped: bool

    @classmethod
    def of(cls, question: str, language: str) -> "RareWords":
        """Read a question."""
        plain = unicodedata.normalize("NFKC", question)
        latin, grouped = is_latin(question), bool(_LONG_NUMBER.search(plain))
        table = lexical.background(language) or lexical.background("en")
        words = plain_words(_GROUPING.sub("", question) if grouped else question, latin=latin)
        rarity = {stem: table.get(stem, lexical.RAREST) for stem in (lexical.stem(word, language) for word in words)}
        rare = {stem: worth for stem, worth in rarity.items() if worth >= identity.COMMON}
        return cls(rare, language, latin, grouped)

    @property
    def sum(self) -> float:
        """How much there is to go by."""
        return sum(self.rarity.values())


def coverage(rare: RareWords, passage: Passage) -> float | None:
    """Return the share, by rarity, of a question's rare words that the passage, its section or its name holds: 0 to 1.

    None where words cannot be compared: the question has no rare ones, or the passage is in another language.
    """
    if not rare.rarity or (passage.language and rare.language and passage.language != rare.language):
        return None
    around = f"{passage.section}\n{identity.name_of(passage.title, passage.key)}"
    # Only words that begin like one that is looked for are stemmed: that is ten times faster.
    beginnings = {stem[:2] for stem in rare.rarity}
    if rare.grouped:
        words = plain_words(_GROUPING.sub("", f"{passage.text}\n{around}"), latin=rare.latin)
    else:
        kept = word_positions(passage.text, rare.latin, beginnings)
        words = [word for beginning in beginnings for word in kept[beginning]]
        words += plain_words(around, latin=rare.latin)
    held = {lexical.stem(word, rare.language) for word in set(words) if word[:2] in beginnings}
    return sum(worth for stem, worth in rare.rarity.items() if stem in held) / rare.sum


WORDS_WEIGHT = 2.0
"""Weight of the words of a long question, against 1 for similarity."""
HALF_WEIGHT_RARITY = 10.0
"""Summed rarity of a question's rare words at which they have half of that weight: about two words."""
LOOKED_AT = 7
"""Passages the decision looks at, whatever `top_k` is: who asks for more passages gets no other decision."""
LEAST_COVERAGE = 0.6
"""Share of a question's rare words that the best passage must hold when there is no similarity to go by."""
MOST_NEAR_MISSES = 3


class Band(StrEnum):
    """How relevant a passage is, in words (`calibration.BANDS`)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A passage that was not relevant enough, for whoever looks after the documents. No text, because it is logged."""

    chunk_id: str
    document_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Relevance of a passage and its parts: `similarity` and `coverage`, None where they cannot be had."""

    relevance: float
    similarity: float | None
    coverage: float | None


NOTHING = Evidence(0.0, None, None)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to answer, and why. `score` is what was compared with `threshold`.

    `relaxed` says that only the relaxed threshold let it through. `evidence` is that of each passage, by chunk id;
    `near_misses` are the best passages of a refusal. `rarity` is the summed rarity of the question's rare words.
    """

    relevant: bool
    score: float
    threshold: float
    band: Band
    relaxed: bool = False
    evidence: Mapping[str, Evidence] | None = None
    near_misses: tuple[NearMiss, ...] = ()
    rarity: float = 0.0

    def missed(self, sources: Sequence[Passage]) -> "Decision":
        """Return the decision with the best of `sources` as near misses: they turned out not to hold the answer."""
        return replace(self, near_misses=_near_misses(sources, self.evidence or {}))


def decide(search: Search, found: Retrieved, settings: Settings) -> Decision:
    """Decide whether the passages are worth answering from. Raises `ConfigurationError` for an uncalibrated model."""
    rare = RareWords.of(search.question, search.language)
    evidence = {
        passage.chunk_id: _evidence(passage, rare, similar=found.best_score is not None) for passage in found.passages
    }
    threshold = settings.threshold if found.best_score is not None or not found.passages else LEAST_COVERAGE
    score = max((evidence[each.chunk_id].relevance for each in found.passages[:LOOKED_AT]), default=0.0)
    relevant = bool(found.passages) and score >= threshold
    relaxed = False
    if found.best_score is not None and not relevant and settings.relaxed_threshold is not None:
        relaxed = relevant = score >= settings.relaxed_threshold
    return Decision(
        relevant=relevant,
        score=score,
        threshold=threshold,
        band=Band.LOW if relaxed else band_of(score, settings) if relevant else Band.NONE,
        relaxed=relaxed,
        evidence=evidence,
        near_misses=() if relevant else _near_misses(found.passages, evidence),
        rarity=rare.sum,
    )


def relevance(similarity: float, covered: float | None, rarity: float) -> float:
    """Return the weighted mean of similarity and coverage, at most 1; the similarity alone where there is no coverage.

    `rarity` is the summed rarity of the question's rare words.
    """
    if covered is None:
        return similarity
    weight = WORDS_WEIGHT * rarity / (rarity + HALF_WEIGHT_RARITY)
    return (similarity + weight * covered) / (1 + weight)


def band_of(score: float, settings: Settings) -> Band:
    """Name the band of a relevance."""
    if score < settings.threshold:
        return Band.NONE
    return next((Band(name) for name, least in BANDS if score >= least), Band.LOW)


def confidence(
    decision: Decision,
    citations: Sequence[Citation],
    sources: Sequence[Passage],
    *,
    claims: int,
    supported: int,
    space: EmbeddingSpace,
) -> float | None:
    """Return the estimated probability that the answer's first citation stands on a page that answers the question.

    `citations` and `sources` are those of the answer. The estimate is fitted to labelled questions for each embedding
    model (`calibration.CONFIDENCE`), and multiplied by the share of the answer's claims that are supported. None for a
    refusal, for an answer without citations, and for models nobody has calibrated.
    """
    cited = next((source for citation in citations[:1] for source in sources if _holds(source, citation)), None)
    if not decision.relevant or cited is None or not claims or space.model not in CONFIDENCE:
        return None
    known = features(decision, cited.chunk_id)
    if known is None:
        return None
    return probability(CONFIDENCE[space.model], known) * min(1.0, supported / claims)


def features(decision: Decision, chunk_id: str) -> tuple[float, float, float] | None:
    """Return what confidence is made of: similarity, coverage and lead of the cited passage; None without similarity.

    Its lead is how much more relevant it is than the best of the others (negative when one of them is more relevant).
    """
    evidence = decision.evidence or {}
    cited = evidence.get(chunk_id)
    if cited is None or cited.similarity is None:
        return None
    others = [each.relevance for key, each in evidence.items() if key != chunk_id]
    covered = cited.relevance if cited.coverage is None else cited.coverage
    return (cited.similarity, covered, cited.relevance - max(others, default=0.0))


def _holds(source: Passage, citation: Citation) -> bool:
    return (
        source.document_id == citation.document_id
        and source.char_start <= citation.char_start <= source.char_start + len(source.text)
    )


def _evidence(passage: Passage, rare: RareWords, *, similar: bool) -> Evidence:
    covered = coverage(rare, passage)
    if not similar:
        return Evidence(covered or 0.0, None, covered)
    return Evidence(relevance(passage.score, covered, rare.sum), passage.score, covered)


def _near_misses(passages: Sequence[Passage], evidence: Mapping[str, Evidence]) -> tuple[NearMiss, ...]:
    nearest = sorted(passages, key=lambda each: -evidence[each.chunk_id].relevance)[:MOST_NEAR_MISSES]
    return tuple(
        NearMiss(each.chunk_id, each.document_id, round(evidence[each.chunk_id].relevance, 4)) for each in nearest
    )
