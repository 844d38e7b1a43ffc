"""Which thresholds are in force, what an earlier index version keeps, and when documents are ingested again."""

from typing import Any

import pytest

from shared.errors import ConfigurationError
from shared.models import EmbeddingSpace
from shared.settings import CONFIDENCE, MEASURED_MODELS, SCORE_THRESHOLDS, Settings

MODELS = sorted(SCORE_THRESHOLDS)


def settings(**named: Any) -> Settings:
    """Return settings that no environment changes."""
    return Settings.model_validate(
        {"pinecone_index": "passages", "pinecone_host": "https://here", "embedding_model": MODELS[0]} | named
    )


@pytest.mark.parametrize("model", MODELS)
def test_a_known_model_has_a_threshold_of_its_own_that_the_setting_replaces(model: str):
    assert settings(embedding_model=model).threshold == SCORE_THRESHOLDS[model]
    assert settings(embedding_model=model, score_threshold=0.0).threshold == 0.0
    assert settings(embedding_model=model).is_threshold_measured is (model in MEASURED_MODELS)


def test_an_unknown_model_needs_a_threshold():
    with pytest.raises(ConfigurationError, match="RECTO_SCORE_THRESHOLD"):
        _ = settings(embedding_model="new").threshold
    assert not settings(embedding_model="new").is_threshold_measured
    measured = settings(embedding_model="new", score_threshold=0.5)
    assert (measured.threshold, measured.is_threshold_measured) == (0.5, True)


@pytest.mark.parametrize("model", [*MODELS, "new"])
def test_confidence_is_made_of_the_models_coefficients_or_the_settings(model: str):
    assert settings(embedding_model=model).confidence == CONFIDENCE.get(model)
    ours = settings(embedding_model=model, score_threshold=0.5, confidence_coefficients="-1.2,3,0.45")
    assert ours.confidence == (-1.2, 3.0, 0.45)
    assert ours.for_space("older", ours.embedding_space).confidence == ours.confidence
    other = next(each for each in MODELS if each != model)
    assert ours.for_space("older", EmbeddingSpace(other, 8)).confidence == CONFIDENCE.get(other)
    assert ours.for_space("older", EmbeddingSpace("old", 8)).confidence is None


@pytest.mark.parametrize("wrong", ["1", "1,2", "1,2,3,4", "1;2;3", "a,b,c", "1,2,3\n", "1, 2, 3"])
def test_coefficients_are_three_numbers(wrong: str):
    with pytest.raises(ValueError, match="confidence_coefficients"):
        settings(confidence_coefficients=wrong)


def test_a_relaxed_threshold_is_lower_than_the_threshold():
    assert settings(score_threshold=0.5, relaxed_threshold=0.49).threshold == 0.5
    assert settings(score_threshold=0.5, relaxed_threshold=0.0).threshold == 0.5
    for relaxed in (0.5, 0.51):
        with pytest.raises(ConfigurationError, match="RECTO_RELAXED_THRESHOLD"):
            _ = settings(score_threshold=0.5, relaxed_threshold=relaxed).threshold


def test_an_earlier_index_version_in_the_same_space_keeps_thresholds_and_host():
    ours = settings(score_threshold=0.5, relaxed_threshold=0.4)
    same = ours.for_space("passages", ours.embedding_space)
    assert same == ours
    moved = ours.for_space("older", ours.embedding_space)
    assert (moved.pinecone_index, moved.pinecone_host, moved.threshold) == ("older", "", 0.5)


def test_an_earlier_index_version_of_another_model_has_that_models_threshold_where_it_is_known():
    ours = settings(score_threshold=0.5, relaxed_threshold=0.4)
    known = ours.for_space("passages", EmbeddingSpace(MODELS[-1], 8))
    assert MODELS[-1] != MODELS[0]
    assert (known.threshold, known.relaxed_threshold) == (SCORE_THRESHOLDS[MODELS[-1]], None)
    assert known.embedding_space == EmbeddingSpace(MODELS[-1], 8)
    unknown = ours.for_space("passages", EmbeddingSpace("old", 8))
    assert (unknown.threshold, unknown.relaxed_threshold) == (0.5, None)


def test_documents_are_ingested_again_when_their_vectors_or_passages_would_differ():
    changes: list[dict[str, Any]] = [
        {},
        {"embedding_model": MODELS[-1]},
        {"embedding_dimensions": 8},
        {"chunk_size_tokens": 300},
        {"chunk_overlap_tokens": 7},
    ]
    hashes = {settings(**change).ingest_settings_hash for change in changes}
    assert len(hashes) == len(changes)
    assert all(len(each) == 16 for each in hashes)
    assert settings(top_k=3).ingest_settings_hash == settings().ingest_settings_hash
