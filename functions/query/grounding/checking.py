"""Asks a checker about the unconfirmed claims of an answer: once, in one call, with claims and quotes only.

What the rules refuted is never asked about, so no checker can bring it back. A failed check leaves the claims
unconfirmed and adds a warning.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol

from functions.query.grounding.injection import without_injections
from functions.query.grounding.judge import Verdict
from functions.query.grounding.quotes import EvidenceSpan
from functions.query.grounding.verify import JudgedClaim
from functions.query.ports import ChatModel, CheckedClaims, ClaimChecker, ClaimToCheck, Opinion
from functions.query.understanding.model_rewriting import fenced, json_format, object_in, object_schema
from functions.query.understanding.question import reviewed_text
from shared.deadline import Deadline
from shared.errors import DependencyError, DependencyUnavailable
from shared.models import NO_USAGE, ChatMessage, ModelRequest, Usage

MAX_WORDS = 60
"""Of a claim and of a quote. A longer claim is not checked; a longer quote is cut."""
MAX_QUOTES = 3
"""Of one claim."""
CHECK_S = 6.0
"""Seconds that a check may take."""
RESERVE_S = 2.0
"""Seconds of the deadline that it leaves for saving."""
VERDICTS: Mapping[Opinion, Verdict] = {
    "supported": Verdict.CONFIRMED,
    "contradicted": Verdict.REFUTED,
    "unclear": Verdict.UNCONFIRMED,
}
_OUTPUT_TOKENS = 32
"""Of the reply, and again for each claim."""


@dataclass
class ClaimChecking:
    """One answer's check. The fields with defaults are complete after the last claim of `checked`."""

    checker: ClaimChecker | None
    deadline: Deadline
    model: str = ""
    usage: Usage = NO_USAGE
    warnings: list[str] = field(default_factory=list)

    def checked(self, claims: Iterable[JudgedClaim]) -> Iterator[JudgedClaim]:
        """Yield the claims in order, each at once until the first unconfirmed one; the rest after the check."""
        held: list[JudgedClaim] = []
        for claim in claims:
            if held or (self.checker is not None and claim.is_unconfirmed):
                held.append(claim)
            else:
                yield claim
        opinions = self._opinions(held)
        for at, claim in enumerate(held):
            yield _with_opinion(claim, opinions[at]) if at in opinions else claim

    def _opinions(self, held: Sequence[JudgedClaim]) -> Mapping[int, Opinion]:
        asked = {at: to_check for at, claim in enumerate(held) if (to_check := question_about(claim)) is not None}
        if self.checker is None or not asked:
            return {}
        try:
            timeout_s = self.deadline.cut("check", CHECK_S, reserve_s=RESERVE_S)
            reply = self.checker.check(list(asked.values()), timeout_s=timeout_s)
        except DependencyError as error:
            self.warnings.append(error.warning_about("check"))
            return {}
        self.model, self.usage = reply.model, reply.usage
        return dict(zip(asked, reply.opinions, strict=True))


def question_about(judged: JudgedClaim) -> ClaimToCheck | None:
    """Return what a checker is asked about a claim; None if it is not unconfirmed, or cannot be asked about."""
    if not judged.is_unconfirmed or len(judged.claim.text.split()) > MAX_WORDS:
        return None
    quotes = tuple(filter(None, map(_quote, judged.spans[:MAX_QUOTES])))
    return ClaimToCheck(judged.claim.text, quotes) if quotes else None


def _with_opinion(judged: JudgedClaim, opinion: Opinion) -> JudgedClaim:
    """Return an unconfirmed claim with the verdict that follows from an opinion."""
    flags = (*judged.flags, opinion) if opinion == "contradicted" else judged.flags
    return replace(judged, judgement=replace(judged.judgement, verdict=VERDICTS[opinion]), flags=flags)


def _quote(span: EvidenceSpan) -> str:
    """Return the sentences of a span without instructions, or only the span if they are too long."""
    whole = without_injections("\n".join(span.sentences)).split()
    if len(whole) > MAX_WORDS:
        whole = without_injections(span.passage.text[span.start : span.end]).split()[:MAX_WORDS]
    return " ".join(whole)


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """Implements `ClaimChecker` with a chat model."""

    chat: ChatModel

    def check(self, claims: Sequence[ClaimToCheck], *, timeout_s: float) -> CheckedClaims:
        """Return an opinion on each claim. Raises `DependencyError`, also if the reply is not one opinion a claim."""
        listed = [{"claim": n, "text": each.text, "quotes": each.quotes} for n, each in enumerate(claims, start=1)]
        request = ModelRequest(
            [ChatMessage("system", reviewed_text("check_prompt.txt")), ChatMessage("user", fenced("claims", listed))],
            max_output_tokens=_OUTPUT_TOKENS * (len(claims) + 1),
            response_format=_response_format(),
        )
        completion = self.chat.complete(request, timeout_s=timeout_s)
        verdicts = object_in(completion.text).get("verdicts")
        rows = verdicts if isinstance(verdicts, list) else []
        numbers = [row.get("claim") for row in rows if isinstance(row, dict)]
        opinions = [
            opinion for row in rows for opinion in VERDICTS if isinstance(row, dict) and row.get("verdict") == opinion
        ]
        if numbers != list(range(1, len(claims) + 1)) or len(opinions) != len(claims):
            raise DependencyUnavailable("check", "the reply is not one verdict a claim")
        return CheckedClaims(opinions, completion.model, completion.usage)


class TextEntailment(Protocol):
    """A model of natural language inference."""

    @property
    def name(self) -> str:
        """The model's name."""

    def entailment(self, pairs: Sequence[tuple[str, str]], *, timeout_s: float) -> Sequence[tuple[float, float]]:
        """Return how likely each premise entails its hypothesis, and how likely it contradicts it (0 to 1).

        `pairs` are premises and hypotheses. Raises `DependencyError`.
        """


@dataclass(frozen=True, slots=True)
class EntailmentChecker:
    """Implements `ClaimChecker` with a model of natural language inference: what a claim's quotes say together.

    An opinion that is less likely than `threshold` (0 to 1) is "unclear".
    """

    model: TextEntailment
    threshold: float

    def check(self, claims: Sequence[ClaimToCheck], *, timeout_s: float) -> CheckedClaims:
        """Return an opinion on each claim. Raises `DependencyError`."""
        pairs = [(" ".join(claim.quotes), claim.text) for claim in claims]
        likely = self.model.entailment(pairs, timeout_s=timeout_s)
        return CheckedClaims([self._opinion(*each) for each in likely], self.model.name)

    def _opinion(self, entailed: float, contradicted: float) -> Opinion:
        if entailed >= self.threshold:
            return "supported"
        return "contradicted" if contradicted >= self.threshold else "unclear"


@cache
def _response_format() -> Mapping[str, object]:
    """Return OpenAI's structured-output option: one verdict a claim."""
    row = object_schema(claim={"type": "integer"}, verdict={"type": "string", "enum": [*VERDICTS]})
    return json_format("checked_claims", verdicts={"type": "array", "items": row})
