"""MiniLM for the reranker, loaded when it is first asked: most stacks never rerank."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from local.openai.engine import Engine, open_engine


class MiniLmSimilarity:
    """Cosine similarity of texts to a query. `state` keeps the model's graph and the vectors known already."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one similarity a text, -1 to 1."""
        vectors = self._engine.embed([query, *texts], urgent=True)
        return [float(value) for value in vectors[1:] @ vectors[0]]

    @cached_property
    def _engine(self) -> Engine:
        return open_engine(self._state)
