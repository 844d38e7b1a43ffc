"""`evals scifact`: a public retrieval benchmark, so that our arms can be put beside published figures.

`lexical` and `hybrid` are the product's: its words, its index, its ranking. Beside them stand a real BM25 (bm25s) and
the textbook's fusion of it with the dense ranking.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from evals.bootstrap import interval, paired_difference
from evals.cache import source_hash
from evals.commands.common import Options, context_of, embedding
from evals.metrics import ndcg_at, recall_at
from evals.readers.scifact import Beir, read_scifact
from evals.results import environment, write_json
from evals.systems import SystemContext
from evals.systems.texts import TextIndex
from local.openai.engine import Vectors

DEPTH = 10
FUSED_DEPTH = 100
RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""
PUBLISHED = {"dense": 0.645, "bm25s": 0.687}
"""nDCG@10 on the test split: all-MiniLM-L6-v2 and BM25 of BEIR."""
PAIRS = (("hybrid", "dense"), ("hybrid", "lexical"), ("hybrid", "bm25s"), ("hybrid", "rrf"), ("lexical", "bm25s"))


def scifact(options: Options) -> int:
    """Rank the abstracts for each claim by every arm; print, write with `--json`."""
    data = read_scifact(options.data, sample=options.sample)
    with embedding(options) as embedder, options.display.progress():
        context = context_of(options, embedder)
        documents, claims = _vectors(data, context)
        graph = embedder.graph
        depends_on = {
            "documents": data.documents,
            "claims": [claim.text for claim in data.claims],
            "source": source_hash("functions/query", "shared"),
            "evals": source_hash("evals/systems", "evals/commands/scifact.py"),
            "graph": graph,
        }
        arms: dict[str, list[list[str]]] = {"dense": _dense(data, documents, claims)}
        arms |= context.cache.get(
            "scifact", depends_on, lambda: _product(data, documents, claims, context), fresh=options.fresh
        )
    versions = {"graph": graph}
    if find_spec("bm25s"):
        arms["bm25s"] = _bm25s(data)
        arms["rrf"] = [fused([one, other]) for one, other in zip(arms["dense"], arms["bm25s"], strict=True)]
        versions["bm25s"] = version("bm25s")
    else:
        options.display.note("bm25s is in the dependency group `evals`; without it two arms are missing.")
    rows = {name: _rows(data, rankings) for name, rankings in arms.items()}
    result: dict[str, Any] = {
        "command": "scifact",
        "versions": {**versions, "source": source_hash("functions", "shared"), **environment()},
        "settings": {
            "documents": len(data.documents),
            "queries": len(data.claims),
            "sample": options.sample,
            "rrf": RRF_K,
        },
        "arms": {name: _summary(each, options.seed) for name, each in rows.items()},
        "differences": {
            f"{one} above {other}": _difference(rows[other], rows[one], options.seed)
            for one, other in PAIRS
            if one in rows and other in rows
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


def _vectors(data: Beir, context: SystemContext) -> tuple[Vectors, Vectors]:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        context.progress("embedding abstracts", done, len(data.documents))

    documents = context.embedder.vectors(list(data.documents.values()), advance=advance)
    return documents, context.embedder.vectors([claim.text for claim in data.claims])


def _dense(data: Beir, documents: Vectors, claims: Vectors) -> list[list[str]]:
    ids = list(data.documents)
    best = np.argsort(-(claims @ documents.T), axis=1, kind="stable")[:, :FUSED_DEPTH]
    return [[ids[at] for at in row] for row in best]


def _product(data: Beir, documents: Vectors, claims: Vectors, context: SystemContext) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {"lexical": [], "hybrid": []}
    with TextIndex(context) as index:
        index.add(data.documents, documents.tolist())
        for number, (claim, vector) in enumerate(zip(data.claims, claims.tolist(), strict=True)):
            context.progress("searching", number, len(data.claims))
            found["lexical"].append(index.ranking(claim.text, None, FUSED_DEPTH))
            found["hybrid"].append(index.ranking(claim.text, vector, FUSED_DEPTH))
    return found


def _bm25s(data: Beir) -> list[list[str]]:
    import bm25s

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
