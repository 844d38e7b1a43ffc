"""The emulated model without the computation: arbitrary unit vectors for tests that do not search; counts texts."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from local.openai.engine import EmbeddingEngine, Vectors

DIMENSIONS = 384


def count_embeddings(patch: pytest.MonkeyPatch) -> Counter[str]:
    """Return text → how often the emulator embeds it from now on; a text's vector is the same each time."""
    counted: Counter[str] = Counter()

    def embed(_engine: EmbeddingEngine, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        counted.update(texts)
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        made = np.stack([np.random.default_rng(each).standard_normal(DIMENSIONS) for each in seeds])
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    patch.setattr(EmbeddingEngine, "embed", embed)
    return counted
