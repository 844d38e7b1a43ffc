"""Neighbours at the wire: what comes with a hit is the tenant's own, published, and let through by the filter."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from functions.query.retrieval.retrieve import Retrieved, retrieve
from functions.query.retrieval.search import Search
from shared import lexical
from shared.adapters.pinecone import PineconeIndex
from shared.deadline import Deadline
from shared.models import VectorRecord
from tests.support.clock import FakeClock
from tests.support.pinecone_clients import API_KEY, create_index
from tests.support.pinecone_server import running_pinecone
from tests.support.query import FakeRegistry

PARTS = ["The boiler is old. ", "It is descaled every 90 days. ", "The log is in the shed. ", "Nobody reads it. "]
STARTS = [0, 19, 49, 73]
QUESTION = "How often is it descaled?"


def records(document: str, generation: str, *, word: str = "", language: str = "en") -> list[VectorRecord]:
    """A document of four passages that touch; only the second one is near to the question."""
    return [
        VectorRecord(
            f"{document}#{generation}#{n}",
            [0.0, 1.0, 0.0, 0.0] if n == 1 else [0.0, 0.0, 1.0, 0.0],
            {
                "document_id": document,
                "generation": generation,
                "chunk_index": n,
                "char_start": STARTS[n],
                "text": part.replace("90", word or "90"),
                "language": language if n != 2 else "lt",
                "token_count": 8,
            },
            lexical.document_vector(part) if n == 1 else None,
        )
        for n, part in enumerate(PARTS)
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PineconeIndex]:
    with running_pinecone(tmp_path_factory.mktemp("pinecone")) as url:
        index = PineconeIndex(host=create_index(url, "passages"), api_key=API_KEY)
        crowd = [
            VectorRecord(
                f"crowd#g1#{n}",
                [0.0, 0.9, 0.0, 0.1],
                {
                    "document_id": "crowd",
                    "generation": "g1",
                    "chunk_index": n,
                    "text": f"Crowd {n}.",
                    "char_start": 9 * n,
                },
            )
            for n in range(120)
        ]
        index.upsert(namespace="acme", records=[*records("d", "g1"), *records("d", "g0", word="30"), *crowd])
        index.upsert(namespace="evil", records=records("d", "g1", word="11"))
        yield index
        index.close()


def found(index: PineconeIndex, search: Search) -> Retrieved:
    return retrieve(
        search,
        tenant="acme",
        top_k=3,
        index=index,
        registry=FakeRegistry({"d": "g1", "crowd": "g1"}),
        deadline=Deadline(FakeClock(), 20.0),
    )


SEARCH = Search(QUESTION, [0.0, 1.0, 0.0, 0.0], 4, "acme", neighbours=1)


def test_what_stands_beside_the_hit_comes_with_it_although_no_ranking_found_it(index: PineconeIndex) -> None:
    assert found(index, replace(SEARCH, neighbours=0)).passages[0].text == PARTS[1]
    whole = found(index, SEARCH).passages[0]
    assert whole.text == "".join(PARTS[:3])
    assert (whole.chunk_id, whole.char_start) == ("d#g1#1", 0)


def test_neither_the_former_generation_nor_another_tenant_is_let_in(index: PineconeIndex) -> None:
    for neighbours in (0, 1, 3):
        text = "".join(passage.text for passage in found(index, replace(SEARCH, neighbours=neighbours)).passages)
        assert "30 days" not in text
        assert "11 days" not in text


def test_the_askers_filter_holds_for_neighbours_too(index: PineconeIndex) -> None:
    whole = found(index, replace(SEARCH, filter={"language": "en"})).passages[0]
    assert whole.text == "".join(PARTS[:2])


def test_without_a_vector_neighbours_come_all_the_same(index: PineconeIndex) -> None:
    result = found(index, replace(SEARCH, vector=None))
    assert result.passages[0].text == "".join(PARTS[:3])
    assert not result.warnings
