"""From ranked chunks to figures: one row for each question, means with intervals for each set, refusals, differences.

One rule turns chunks into pages, for every system. A system is asked for its best `DEPTH` chunks and gives them best
first. Each chunk counts for every page it covers, in the order of how much of the chunk stands on them where the system
knows, else in reading order. The pages are put in a row in the order of their chunks; a page keeps its first place and
is not repeated. Ranks, and the k of hit@k, count distinct pages in this row: a system with small chunks does not lose
places to ten chunks of one page, and one with chunks across pages pays a place for each page it names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from evals.data import PdfQuestion
from evals.metrics import auc, hit_at, ndcg_at, paired_difference, reciprocal_rank, summary
from evals.systems.base import RankedChunk, SearchResult

DEPTH = 50
"""Chunks asked for. Ten distinct pages need more than ten chunks; fifty is the most the query API takes."""
NDCG_DEPTH = 10
SHOWN_SNIPPETS = 5
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ranks:
    """Which ranks are reported: the k of hit@k, doc@k and chunk@k. MRR and nDCG look at the first ten pages, or k.

    hit@k: a right page among the first k pages. doc@k: the right document among theirs. chunk@k: a right page covered
    by one of the first k chunks, which favours chunks across pages and is shown because others count so.
    """

    ks: tuple[int, ...] = (1, 5, 10)

    @property
    def depth(self) -> int:
        """Pages ranked."""
        return max(*self.ks, NDCG_DEPTH)

    @property
    def metrics(self) -> list[str]:
        """The names of the figures, in the order they are shown."""
        shares = [f"{name}@{k}" for name in ("hit", "doc", "chunk") for k in self.ks]
        return [*shares, "mrr", "ndcg"]


@dataclass(frozen=True, slots=True)
class RankedPage:
    """One page in the row, with the score of the chunk that brought it there."""

    doc: str
    page: int
    score: float


def ranked_pages(hits: Iterable[RankedChunk], *, at_most: int) -> list[RankedPage]:
    """Return the distinct pages of `hits` in the order of the rule above, `at_most` of them."""
    row: dict[tuple[str, int], RankedPage] = {}
    for hit in hits:
        for page in hit.pages:
            if (hit.doc, page) not in row:
                if len(row) == at_most:
                    return list(row.values())
                row[hit.doc, page] = RankedPage(hit.doc, page, hit.score)
    return list(row.values())


def question_row(question: PdfQuestion, found: SearchResult, ranks: Ranks, indexed: frozenset[tuple[str, int]]) -> Row:
    """Return one question's result: what was ranked, and its figures if a page can be found for it.

    `gold_rank` is the place of the first right page among all that was retrieved, None if it is not there; `why` says
    what went wrong when it is not the first.
    """
    everything = ranked_pages(found.hits, at_most=1_000_000)
    ranked = everything[: ranks.depth]
    row: Row = {
        "id": question.id,
        "set": question.group,
        "question": question.text,
        "doc": question.doc,
        "pages": list(question.pages),
        "answer": question.answer,
        "answerable": question.answerable,
        "ranked": [{"doc": each.doc, "page": each.page, "score": each.score} for each in ranked],
        "retrieved": [
            {"doc": hit.doc, "pages": list(hit.pages), "score": hit.score, "text": text}
            for hit, text in list(zip(found.hits, found.snippets, strict=False))[:SHOWN_SNIPPETS]
        ],
        "score": found.score,
        "refused": found.refused,
        "milliseconds": dict(found.milliseconds),
    }
    if question.is_ranked:
        gold = {(question.doc, page) for page in question.pages}
        places = [(each.doc, each.page) for each in everything]
        row["gold_rank"] = next((rank for rank, place in enumerate(places, start=1) if place in gold), None)
        row["why"] = _why(question, row["gold_rank"], ranked, indexed)
        row |= _figures(places[: ranks.depth], gold, question.doc, ranks)
        covered = [any((hit.doc, page) in gold for page in hit.pages) for hit in found.hits]
        row |= {f"chunk@{k}": float(any(covered[:k])) for k in ranks.ks}
    return row


def _figures(places: Sequence[tuple[str, int]], gold: set[tuple[str, int]], doc: str, ranks: Ranks) -> dict[str, float]:
    documents = [place[0] for place in places]
    return {
        **{f"hit@{k}": hit_at(places, gold, k) for k in ranks.ks},
        **{f"doc@{k}": hit_at(documents, {doc}, k) for k in ranks.ks},
        "mrr": reciprocal_rank(places, gold, ranks.depth),
        "ndcg": ndcg_at(places, gold, NDCG_DEPTH),
    }


def _why(
    question: PdfQuestion, gold_rank: int | None, ranked: Sequence[RankedPage], indexed: frozenset[tuple[str, int]]
) -> str:
    if gold_rank == 1:
        return ""
    if not any((question.doc, page) in indexed for page in question.pages):
        return "no text of the expected page is in the index"
    if gold_rank is not None:
        return f"the expected page came at rank {gold_rank}"
    if any(each.doc == question.doc for each in ranked):
        return "the right document, other pages"
    return "other documents"


def summaries(rows: Sequence[Row], ranks: Ranks, *, seed: int) -> dict[str, Any]:
    """Return the means of each set with `n`, and 95 % intervals under `ci`; sets as they first occur."""
    sets: dict[str, list[Row]] = {}
    for row in rows:
        if "gold_rank" in row:
            sets.setdefault(row["set"], []).append(row)
    return {name: summary(members, ranks.metrics, seed=seed) for name, members in sets.items()}


def refusals(rows: Sequence[Row], threshold: float | None) -> dict[str, Any]:
    """Return how many answerable and unanswerable questions were refused, and what every threshold would do.

    Questions that need a picture are left out. `auc` is the chance that an answerable question's score is
    above an unanswerable one's, None without questions of both kinds. Empty for a system without scores.
    """
    asked = [row for row in rows if row["score"] is not None and not row["set"].endswith("/visual")]
    answerable = [row for row in asked if row["answerable"]]
    unanswerable = [row for row in asked if not row["answerable"]]
    if not asked:
        return {}
    good = [row["score"] for row in answerable]
    bad = [row["score"] for row in unanswerable]
    steps = [step / 100 for step in range(0, 100, 2)]
    return {
        "threshold": threshold,
        "answerable": {"n": len(answerable), "refused": sum(row["refused"] is True for row in answerable)},
        "unanswerable": {"n": len(unanswerable), "refused": sum(row["refused"] is True for row in unanswerable)},
        "auc": auc(good, bad) if good and bad else None,
        "curve": [
            {
                "threshold": step,
                "answerable_refused": mean([score < step for score in good]) if good else 0.0,
                "unanswerable_refused": mean([score < step for score in bad]) if bad else 0.0,
            }
            for step in steps
        ],
    }


def stage_milliseconds(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return median and 95th percentile of each stage of a query."""
    stages: dict[str, list[float]] = {}
    for row in rows:
        for stage, value in row["milliseconds"].items():
            stages.setdefault(stage, []).append(value)
    return {
        stage: {"p50": median(values), "p95": sorted(values)[int(0.95 * (len(values) - 1))]}
        for stage, values in stages.items()
    }


def differences(a: Sequence[Row], b: Sequence[Row], metrics: Sequence[str], *, seed: int) -> dict[str, Any]:
    """Return, for each set and figure, how much B is above A on the questions both have: n, mean, ci, p, real."""
    theirs: Mapping[str, Row] = {row["id"]: row for row in a}
    pairs = [(left, row) for row in b if "gold_rank" in row and "gold_rank" in (left := theirs.get(row["id"], {}))]
    result: dict[str, Any] = {}
    for name in dict.fromkeys(row["set"] for _, row in pairs):
        lefts, rights = zip(*((left, right) for left, right in pairs if right["set"] == name), strict=True)
        result[name] = {"n": len(lefts)}
        for metric in metrics:
            if all(metric in row for row in (*lefts, *rights)):
                values = [row[metric] for row in lefts], [row[metric] for row in rights]
                result[name][metric] = paired_difference(*values, seed=seed).as_json()
    return result
