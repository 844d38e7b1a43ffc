"""The cosine similarity of every passage that was found, whichever ranking found it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from functions.query.retrieval.passages import Passage
from functions.query.retrieval.searching import Search
from shared import identity


def with_similarity(search: Search, passages: Sequence[Passage], known: Mapping[str, float]) -> list[Passage]:
    """Make each passage's score its cosine similarity (0 where the question has no vector).

    `known` has those of the dense ranking, by chunk; else it is the fused score less the part of the words, which is
    worked out again from the stored text by the rule it was indexed with.
    """
    if search.vector is None:
        return [replace(passage, score=0.0) for passage in passages]
    words = dict(zip(*search.sparse, strict=True))
    return [
        replace(
            passage,
            score=known[passage.chunk_id]
            if passage.chunk_id in known
            else passage.score - _lexical_part(words, passage),
        )
        for passage in passages
    ]


def _lexical_part(words: Mapping[int, float], passage: Passage) -> float:
    return identity.passage_score(
        words,
        passage.text,
        language=passage.language,
        title=passage.title,
        key=passage.key,
        section=passage.section,
        cover=passage.cover,
    )
