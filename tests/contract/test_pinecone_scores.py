"""Scores and rankings against numpy, through the official SDK, while records come, change and go."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pinecone import Index

from tests.support.pinecone_clients import API_KEY, create_index
from tests.support.pinecone_server import running_pinecone

DIMENSION = 16
TERMS = 60


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_pinecone(tmp_path_factory.mktemp("pinecone")) as url:
        yield url


def _sparse(rng: np.random.Generator) -> dict[str, Any]:
    indices = rng.choice(TERMS, size=rng.integers(1, 8), replace=False)
    return {"indices": indices.tolist(), "values": rng.normal(size=len(indices)).round(3).tolist()}


def _overlap(left: dict[str, Any] | None, right: dict[str, Any]) -> float:
    weights = dict(zip(right["indices"], right["values"], strict=True))
    pairs = zip((left or {}).get("indices", []), (left or {}).get("values", []), strict=True)
    return float(sum(value * weights.get(index, 0.0) for index, value in pairs))


def _ranking(response: Any) -> dict[str, float]:
    return {match.id: match.score for match in response.matches}


@pytest.mark.parametrize("metric", ["dotproduct", "cosine", "euclidean"])
def test_dense_scores_are_those_of_the_metric(url: str, metric: str) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, DIMENSION)).round(3)
    question = rng.normal(size=DIMENSION).round(3)
    with Index(host=create_index(url, f"m-{metric}", dimension=DIMENSION, metric=metric), api_key=API_KEY) as index:
        index.upsert(vectors=[(str(n), row.tolist()) for n, row in enumerate(rows)])
        found = index.query(vector=question.tolist(), top_k=10)
    scores = {
        "dotproduct": rows @ question,
        "cosine": rows @ question / (np.linalg.norm(rows, axis=1) * np.linalg.norm(question)),
        "euclidean": np.square(rows - question).sum(axis=1),
    }[metric]
    best = np.argsort(scores if metric == "euclidean" else -scores)[:10]
    assert [match.id for match in found.matches] == [str(n) for n in best]
    assert [match.score for match in found.matches] == pytest.approx(scores[best].tolist(), rel=1e-4, abs=1e-5)


def test_a_euclidean_self_match_is_at_distance_zero(url: str) -> None:
    far = [1000.001 + n for n in range(DIMENSION)]
    with Index(host=create_index(url, "far", dimension=DIMENSION, metric="euclidean"), api_key=API_KEY) as index:
        index.upsert(vectors=[("far", far), ("near", [n + 0.01 for n in far])])
        found = _ranking(index.query(vector=far, top_k=2))
    assert found == {"far": 0.0, "near": pytest.approx(DIMENSION * 1e-4, rel=0.02)}


def test_sparse_and_dense_scores_add_up_whatever_happened_to_the_records(url: str) -> None:
    rng = np.random.default_rng(5)
    stored: dict[str, tuple[list[float], dict[str, Any] | None]] = {}
    with Index(host=create_index(url, "hybrid", dimension=DIMENSION), api_key=API_KEY) as index:
        for turn in range(12):
            # More than the inverted lists keep as single changes, so that they are built anew in between.
            vectors: list[dict[str, Any]] = []
            for record_id in {str(n) for n in rng.integers(0, 1_500, size=600)}:
                values, sparse = rng.normal(size=DIMENSION).round(3).tolist(), _sparse(rng)
                vectors.append({"id": record_id, "values": values})
                if rng.random() < 0.9:
                    vectors[-1]["sparse_values"] = sparse
                stored[record_id] = (values, vectors[-1].get("sparse_values"))
            index.upsert(vectors=vectors)
            gone = [record_id for record_id in stored if rng.random() < 0.1]
            index.delete(ids=gone)
            for record_id in gone:
                del stored[record_id]
            changed = next(iter(stored))
            patch = _sparse(rng)
            index.update(id=changed, sparse_values=patch)
            stored[changed] = (stored[changed][0], patch)

            question, terms = rng.normal(size=DIMENSION).round(3), _sparse(rng)
            lexical = {record_id: _overlap(sparse, terms) for record_id, (_, sparse) in stored.items()}
            hybrid = {key: float(np.dot(values, question)) + lexical[key] for key, (values, _) in stored.items()}
            found = _ranking(index.query(vector=question.tolist(), sparse_vector=terms, top_k=25))
            best = sorted(hybrid.values(), reverse=True)[:25]
            assert list(found.values()) == pytest.approx(best, rel=1e-4, abs=1e-4), turn
            assert found == {key: pytest.approx(hybrid[key], rel=1e-4, abs=1e-4) for key in found}

            only = _ranking(index.query(sparse_vector=terms, top_k=10_000))
            sharing = {key: score for key, score in lexical.items() if abs(score) > 1e-6}
            assert only == {key: pytest.approx(score, rel=1e-4, abs=1e-4) for key, score in sharing.items()}
