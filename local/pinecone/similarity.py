"""MiniLM for the reranker, loaded when it is first asked: most stacks never rerank."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from local.openai.engine import Engine, open_engine


class MiniLmSimilarity:
    """Cosine similarity of texts to a query. `state` keeps the model's graph and the vectors known already."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._opening = Lock()
        self._engine: Engine | None = None

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one similarity a text, -1 to 1."""
        with self._opening:
            self._engine = self._engine or open_engine(self._state)
        vectors = self._engine.embed([query, *texts], urgent=True)
        return [float(value) for value in vectors[1:] @ vectors[0]]
