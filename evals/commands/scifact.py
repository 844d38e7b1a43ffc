"""`evals scifact`: a public retrieval benchmark, so that embedder and fusion can be put beside published figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evals.bootstrap import interval, paired_difference
from evals.commands.common import Options, context_of, embedding
from evals.errors import EvalError
from evals.metrics import ndcg_at, recall_at
from evals.readers.scifact import Beir, read_scifact
from evals.results import environment, write_json
from evals.systems import SystemContext

DEPTH = 10
FUSED_DEPTH = 100
RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""
PUBLISHED = {"dense": 0.645, "lexical": 0.687}
"""nDCG@10 on the test split: all-MiniLM-L6-v2 and BM25 of BEIR."""


def scifact(options: Options) -> int:
    """Rank the abstracts for each claim by the dense, the lexical and the fused arm; print, write with `--json`."""
    data = read_scifact(options.data, sample=options.sample)
    with embedding(options) as embedder, options.display.progress():
        context = context_of(options, embedder)
        dense = _dense(data, context)
        graph = embedder.graph
    lexical = _lexical(data)
    arms = {
        "dense": dense,
        "lexical": lexical,
        "hybrid": [fused([one, other]) for one, other in zip(dense, lexical, strict=True)],
    }
    rows = {name: _rows(data, rankings) for name, rankings in arms.items()}
    result: dict[str, Any] = {
        "command": "scifact",
        "versions": {**environment(), "graph": graph},
        "settings": {
            "documents": len(data.documents),
            "queries": len(data.claims),
            "sample": options.sample,
            "rrf": RRF_K,
        },
        "arms": {name: _summary(each, options.seed) for name, each in rows.items()},
        "differences": {
            f"hybrid above {name}": _difference(rows[name], rows["hybrid"], options.seed)
            for name in ("dense", "lexical")
        },
        "questions": [
            {
                "id": claim.id,
                "arms": {name: {**each[at], "ranked": arms[name][at][:DEPTH]} for name, each in rows.items()},
            }
            for at, claim in enumerate(data.claims)
        ],
    }
    _show(result, options)
    if options.json:
        write_json(options.json, result)
    return 0


def fused(rankings: Sequence[Sequence[str]], *, k: int = RRF_K) -> list[str]:
    """Return one ranking by reciprocal rank fusion: each ranking gives 1 / (k + rank); ties by first occurrence."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores, key=lambda item: -scores[item])


def _dense(data: Beir, context: SystemContext) -> list[list[str]]:
    ids = list(data.documents)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        context.progress("embedding abstracts", done, len(ids))

    documents = context.embedder.vectors([data.documents[each] for each in ids], advance=advance)
    claims = context.embedder.vectors([claim.text for claim in data.claims])
    best = np.argsort(-(claims @ documents.T), axis=1, kind="stable")[:, :FUSED_DEPTH]
    return [[ids[at] for at in row] for row in best]


def _lexical(data: Beir) -> list[list[str]]:
    try:
        import bm25s
    except ModuleNotFoundError as error:
        raise EvalError(
            "The lexical arm needs bm25s, which is in the dependency group `evals`: use .venvs/evals/bin/python."
        ) from error
    ids = list(data.documents)
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize([data.documents[each] for each in ids], stopwords="en", show_progress=False), show_progress=False
    )
    words = bm25s.tokenize([claim.text for claim in data.claims], stopwords="en", show_progress=False, return_ids=False)
    numbers, _ = index.retrieve(words, k=min(FUSED_DEPTH, len(ids)), show_progress=False)
    return [[ids[int(at)] for at in row] for row in numbers]


def _rows(data: Beir, rankings: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    return [
        {"ndcg@10": ndcg_at(ranking, claim.relevant, DEPTH), "recall@10": recall_at(ranking, claim.relevant, DEPTH)}
        for claim, ranking in zip(data.claims, rankings, strict=True)
    ]


def _summary(rows: Sequence[Mapping[str, float]], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(rows), "ci": {}}
    for metric in ("ndcg@10", "recall@10"):
        value = interval([row[metric] for row in rows], seed=seed)
        found[metric] = value.mean
        found["ci"][metric] = [value.low, value.high]
    return found


def _difference(a: Sequence[Mapping[str, float]], b: Sequence[Mapping[str, float]], seed: int) -> dict[str, Any]:
    value = paired_difference([row["ndcg@10"] for row in a], [row["ndcg@10"] for row in b], seed=seed)
    return {"mean": value.mean, "ci": [value.low, value.high], "p": value.p, "real": value.is_real}


def _show(result: Mapping[str, Any], options: Options) -> None:
    rows = [
        [
            name,
            *(f"{arm[m]:.3f} ({arm['ci'][m][0]:.3f}–{arm['ci'][m][1]:.3f})" for m in ("ndcg@10", "recall@10")),
            f"{PUBLISHED[name]:.3f}" if name in PUBLISHED else "",
        ]
        for name, arm in result["arms"].items()
    ]
    columns = ["arm", "nDCG@10", "R@10", "published nDCG@10 (test split)"]
    options.display.table(f"SciFact, {result['settings']['queries']} claims", columns, rows)
    for name, each in result["differences"].items():
        real = "real" if each["real"] else "not told apart from zero"
        options.display.say(f"{name}: {each['mean']:+.3f} ({each['ci'][0]:+.3f} to {each['ci'][1]:+.3f}), {real}")
