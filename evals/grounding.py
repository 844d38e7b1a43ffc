"""`evals grounding`: which honest and which false claims are confirmed, marked as unconfirmed, or left out.

Each claim is verified as the only claim of an answer, with its quotes, against passages as they are ingested. Besides,
a simulated model that says what it is told writes whole answers: three honest claims of a group at a time, and the
labelled answers as they are. The ablation verifies every claim again without each of the rules. With a checker,
which is asked about unconfirmed claims, the figures show what it gains; its opinions are cached.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evals.claims import ClaimGroup, LabelledClaim, read_groups
from evals.display import Display
from evals.errors import EvalError
from evals.metrics import wilson
from evals.pdf_library import PdfLibrary
from evals.storage import ResultCache, environment, file_hash, source_hash, write_json
from functions.query.grounding.checking import ClaimChecking, EntailmentChecker, ModelChecker
from functions.query.grounding.judge import RULES
from functions.query.grounding.verify import Verifier
from functions.query.ports import CheckedClaims, ClaimChecker, ClaimToCheck
from functions.query.writing.generation import WritingRequest, WrittenAnswer, write
from functions.query.writing.localization import texts_for
from shared.adapters.aws import SystemClock
from shared.adapters.cross_encoder import MODEL, OnnxEntailment
from shared.adapters.openai import OpenAIChatModel
from shared.deadline import Deadline
from shared.language import language_of
from shared.models import NO_USAGE, Completion, ModelRequest
from shared.settings import Settings

Outcome = Literal["confirmed", "marked", "out", "no claim"]
SIDES = ("honest", "false")
OUTCOMES: Sequence[Outcome] = ("confirmed", "marked", "out")
ANSWER_COUNTS = ("n", "whole", "silent_holes")
SAID_TOGETHER = 3
"""Honest claims in a composed answer."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of a claim; `flags` are the verifier's findings."""

    group: ClaimGroup
    claim: LabelledClaim
    outcome: Outcome
    flags: Sequence[str]


def grounding(
    *,
    claims: Path,
    pdfs: Sequence[Path],
    json: Path | None,
    details: bool,
    ablation: bool,
    strict: bool,
    check_model: str,
    base_url: str,
    check_path: Path | None,
    check_threshold: float,
    cache: Path,
    fresh: bool,
    display: Display,
) -> int:
    """Verify every claim of a file; print, and write with `--json`."""
    results = ResultCache(cache)
    library = PdfLibrary(pdfs, results, fresh=fresh)
    opened = _opened(check_model, base_url, check_path, check_threshold, results, fresh=fresh)
    with display.progress(), opened as checker:
        display.advance("reading", 0, 1)
        groups = read_groups(claims, library.passages_of)
        pairs = _with_progress(groups, "verifying", display)
        verified = [_verify(group, claim, strict=strict, checker=checker) for group, claim in pairs]
        answers = _answers(groups, strict=strict, checker=checker, display=display)
        # With a checker the difference would be that of the rules and the checker at once.
        without = _ablation(verified, strict=strict, display=display) if ablation and checker is None else {}
    result: dict[str, Any] = {
        "command": "grounding",
        "versions": {"source": source_hash("functions", "shared"), **environment()},
        "settings": {
            "claims": claims.name,
            "strict": strict,
            "check_model": check_model or "none",
            **({"check_path": str(check_path), "check_threshold": check_threshold} if check_path else {}),
        },
        **_figures(verified),
        "answers": answers,
        "ablation": without,
    }
    _show(result, display)
    if details:
        result["details"] = [_detail(each) for each in verified]
    if json:
        write_json(json, result)
    return 0


# --- the checker ---


@dataclass(frozen=True, slots=True)
class CachedChecker:
    """A `ClaimChecker` whose opinions are cached, because a model's opinions cost time and money."""

    checker: ModelChecker
    depends_on: Mapping[str, object]
    cache: ResultCache
    fresh: bool

    def check(self, claims: Sequence[ClaimToCheck], *, timeout_s: float) -> CheckedClaims:
        """Return an opinion on each claim. Raises `DependencyError`."""
        key = {**self.depends_on, "claims": [[claim.text, *claim.quotes] for claim in claims]}
        opinions = self.cache.get(
            "opinions", key, lambda: list(self.checker.check(claims, timeout_s=timeout_s).opinions), fresh=self.fresh
        )
        return CheckedClaims(opinions)


@dataclass(frozen=True, slots=True)
class CachedEntailment:
    """A `TextEntailment` whose probabilities are cached, so that another threshold asks the model nothing."""

    model: OnnxEntailment
    file_hash: str
    cache: ResultCache
    fresh: bool

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    def entailment(self, pairs: Sequence[tuple[str, str]], *, timeout_s: float) -> Sequence[tuple[float, float]]:
        """Return the probabilities of entailment and contradiction. Raises `DependencyError`."""
        key = {"model": self.file_hash, "source": source_hash("shared/adapters/cross_encoder.py"), "pairs": pairs}
        found = self.cache.get(
            "entailment", key, lambda: list(self.model.entailment(pairs, timeout_s=timeout_s)), fresh=self.fresh
        )
        return [(entailed, contradicted) for entailed, contradicted in found]


@contextmanager
def _opened(
    model: str, base_url: str, path: Path | None, threshold: float, cache: ResultCache, *, fresh: bool
) -> Iterator[ClaimChecker | None]:
    if model and path:
        raise EvalError("--check-model and --check-path name a checker each: leave one of them out.")
    if base_url and not model:
        raise EvalError("--base-url needs --check-model: say which model of that server to ask.")
    if path:
        yield EntailmentChecker(
            CachedEntailment(OnnxEntailment(path), file_hash(path / MODEL), cache, fresh), threshold
        )
        return
    if not model:
        yield None
        return
    url = base_url or os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    source = source_hash("functions/query/grounding/checking.py", "functions/query/texts/check_prompt.txt")
    key = os.environ.get("OPENAI_API_KEY", "none")
    with closing(OpenAIChatModel(base_url=url, api_key=key, model=model)) as chat:
        yield CachedChecker(ModelChecker(chat), {"model": [model, url], "source": source}, cache, fresh)


# --- single claims ---


def _verify(
    group: ClaimGroup,
    claim: LabelledClaim,
    *,
    strict: bool,
    checker: ClaimChecker | None = None,
    without: frozenset[str] = frozenset(),
) -> Verified:
    language = language_of(claim.claim.text, within="en")
    verifier = Verifier(group.sources, question=group.question, language=language, strict=strict, without=without)
    checking = ClaimChecking(checker, _deadline())
    for judged in checking.checked(verifier.judge(claim.claim)):
        verifier.show(judged)
    if checking.warnings:
        # An opinion that is missing is not the model's; the others are cached, so the next run goes on from there.
        raise EvalError(
            "The checker did not answer: see --check-model, --base-url and OPENAI_API_KEY, or --check-path."
        )
    support = verifier.support
    outcome: Outcome = "confirmed"
    if not support.claims:
        outcome = "no claim"
    elif support.dropped:
        # A claim may be verified in parts; it is worth what its worst part is worth.
        outcome = "out"
    elif support.unconfirmed:
        outcome = "marked"
    return Verified(group, claim, outcome, support.flags)


def _deadline() -> Deadline:
    return Deadline(SystemClock(), Settings().request_deadline_s)


def _with_progress(
    groups: Sequence[ClaimGroup], what: str, display: Display
) -> Iterator[tuple[ClaimGroup, LabelledClaim]]:
    pairs = [(group, claim) for group in groups for claim in group.claims]
    for number, pair in enumerate(pairs):
        display.advance(what, number, len(pairs))
        yield pair


def _figures(verified: Sequence[Verified]) -> dict[str, Any]:
    """Return the counts of honest and of false claims, and of each kind."""
    kinds: dict[str, list[Verified]] = {}
    honest_kinds = {each.claim.kind for each in verified if each.claim.is_honest}
    for each in verified:
        kind, is_honest = each.claim.kind, each.claim.is_honest
        kinds.setdefault(f"{kind} (false)" if is_honest is False and kind in honest_kinds else kind, []).append(each)
    return {
        "honest": _counts([each for each in verified if each.claim.is_honest]),
        "false": _counts([each for each in verified if each.claim.is_honest is False]),
        "kinds": {kind: _counts(members) for kind, members in sorted(kinds.items())},
    }


def _counts(verified: Sequence[Verified]) -> dict[str, Any]:
    """Return how many claims there are and what became of them, with 95 % intervals of the shares."""
    counted = Counter(each.outcome for each in verified)
    n = sum(counted[outcome] for outcome in OUTCOMES)
    return {
        "n": n,
        **{outcome: counted[outcome] for outcome in OUTCOMES},
        "no claim": counted["no claim"],
        "ci": {outcome: wilson(counted[outcome], n) for outcome in OUTCOMES},
    }


def _detail(verified: Verified) -> dict[str, Any]:
    claim = verified.claim
    return {
        "group": verified.group.name,
        "kind": claim.kind,
        "honest": claim.is_honest,
        "claim": claim.claim.text,
        "quotes": [reference.quote for reference in claim.claim.references],
        "outcome": verified.outcome,
        "flags": verified.flags,
    }


# --- without one rule ---


def _ablation(verified: Sequence[Verified], *, strict: bool, display: Display) -> dict[str, Any]:
    """Return, for each rule, the outcomes without it; only claims that have a label are verified again."""
    labelled = [each for each in verified if each.claim.is_honest is not None]
    found: dict[str, Any] = {}
    for number, rule in enumerate(RULES):
        display.advance(f"without {rule.name}", number, len(RULES))
        off = frozenset({rule.name})
        figures = _figures([_verify(each.group, each.claim, strict=strict, without=off) for each in labelled])
        found[rule.name] = {side: _plain_counts(figures[side]) for side in SIDES}
    return found


def _plain_counts(counts: Mapping[str, Any]) -> dict[str, int]:
    return {outcome: counts[outcome] for outcome in OUTCOMES}


# --- whole answers ---


@dataclass(frozen=True, slots=True)
class _ToldModel:
    """A chat model that says what it is told."""

    text: str
    model: str = "told"

    def complete(self, request: ModelRequest, *, timeout_s: float) -> Completion:  # noqa: ARG002
        return Completion(self.text, "stop", self.model, NO_USAGE)


def _answers(
    groups: Sequence[ClaimGroup], *, strict: bool, checker: ClaimChecker | None, display: Display
) -> dict[str, dict[str, int]]:
    """Return how many honest answers came through whole, and how many lost a claim without saying so, by kind.

    Answers that only say that they do not know are left out.
    """
    told = [each for group in groups for each in _honest_answers(group)]
    counted: dict[str, dict[str, int]] = {}
    for number, (kind, group, claims) in enumerate(told):
        display.advance("writing answers", number, len(told))
        answer = _written(group, claims, strict=strict, checker=checker)
        if answer.refusal != "model_does_not_know":
            counts = counted.setdefault(kind, dict.fromkeys(ANSWER_COUNTS, 0))
            counts["n"] += 1
            counts["whole"] += answer.mode == "generated" and not answer.support.dropped
            counts["silent_holes"] += answer.support.dropped > 0 and not _says_so(answer)
    return counted


def _honest_answers(group: ClaimGroup) -> Iterator[tuple[str, ClaimGroup, Sequence[LabelledClaim]]]:
    """Yield the honest answers that can be made from a group, with their kind."""
    honest = [claim for claim in group.claims if claim.is_honest]
    if not group.is_answer:
        for at in range(0, len(honest) - SAID_TOGETHER + 1, SAID_TOGETHER):
            yield f"{SAID_TOGETHER} honest claims", group, honest[at : at + SAID_TOGETHER]
    elif honest and len(honest) == len(group.claims):
        yield honest[0].kind, group, honest


def _says_so(answer: WrittenAnswer) -> bool:
    return answer.refusal is not None or answer.text.endswith(texts_for("en").left_out)


def _written(
    group: ClaimGroup, claims: Sequence[LabelledClaim], *, strict: bool, checker: ClaimChecker | None
) -> WrittenAnswer:
    reply = {"answered": True, "claims": [_as_told(claim) for claim in claims]}
    request = WritingRequest(group.question, group.question, group.sources)
    pieces = write(
        request,
        chat=_ToldModel(json.dumps(reply)),
        settings=Settings(grounding="strict" if strict else "marked"),
        deadline=_deadline(),
        checker=checker,
    )
    return next(piece for piece in pieces if isinstance(piece, WrittenAnswer))


def _as_told(claim: LabelledClaim) -> dict[str, Any]:
    citations = [{"source": each.source, "quote": each.quote} for each in claim.claim.references]
    return {"text": claim.claim.number + claim.claim.text, "citations": citations}


# --- what is printed ---


def _show(result: Mapping[str, Any], display: Display) -> None:
    rows = [_row(name, result[name]) for name in SIDES]
    rows += [_row(f"  {kind}", counts) for kind, counts in result["kinds"].items()]
    display.table(f"Claims of {result['settings']['claims']}", ["claims", "n", *OUTCOMES, "no claim"], rows)
    if result["answers"]:
        rows = [[kind, *(str(counts[name]) for name in ANSWER_COUNTS)] for kind, counts in result["answers"].items()]
        display.table("Honest answers", ["answers", *ANSWER_COUNTS], rows)
    if result["ablation"]:
        rows = [_changes(rule, result, counts) for rule, counts in result["ablation"].items()]
        columns = [f"{side} {outcome}" for side in SIDES for outcome in OUTCOMES]
        display.table("Without one rule: more or fewer", ["without", *columns], rows)


def _changes(rule: str, result: Mapping[str, Any], counts: Mapping[str, Any]) -> list[str]:
    changes = [counts[side][outcome] - result[side][outcome] for side in SIDES for outcome in OUTCOMES]
    return [rule, *(f"{change:+d}" if change else "" for change in changes)]


def _row(name: str, counts: Mapping[str, Any]) -> list[str]:
    shares = []
    for outcome in OUTCOMES:
        low, high = counts["ci"][outcome]
        share = counts[outcome] / counts["n"] if counts["n"] else 0.0
        shares.append(f"{counts[outcome]} = {100 * share:.0f} % ({100 * low:.0f}–{100 * high:.0f})")
    return [name, str(counts["n"]), *shares, str(counts["no claim"])]
