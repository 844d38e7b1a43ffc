"""Searching, ranking and choosing: only what is published, each text once, and what fails costs only itself."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.retrieval.filters import InvalidFilter, matches
from functions.query.retrieval.passages import Boost
from functions.query.retrieval.retrieve import MAX_HITS, ROUNDS, Retrieved, check_fields, retrieve
from functions.query.retrieval.search import QueryVariant, Search, embed_queries
from shared.deadline import Deadline
from shared.errors import DependencyUnavailable
from shared.models import Filter, Match, PublishedDocument, generation_named_by, vector_id_of
from tests.support.clock import FakeClock
from tests.support.query import FakeCache, FakeEmbedder, FakeRegistry, FakeSearch, match, query_ports

SEARCH = Search("How often is it descaled?", [1.0, 0.0], 2, "acme")


class FakeReranker:
    """Prefers long texts, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[str] = []
        self.texts: Sequence[str] = ()

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        self.asked.append(question)
        self.texts = texts
        if self.error:
            raise self.error
        return [float(len(text)) for text in texts]


class PlacedSearch(FakeSearch):
    """Answers a filter for places with the neighbours it holds."""

    def __init__(self, matches: Sequence[Match], beside: Sequence[Match], error: Exception | None = None) -> None:
        super().__init__(matches)
        self.beside = list(beside)
        self.error = error

    def query(self, **asked: object) -> Sequence[Match]:  # type: ignore[override]
        if "chunk_index" not in str(asked["filter"]):
            return super().query(**asked)  # type: ignore[arg-type]
        self.calls.append(asked)
        if self.error:
            raise self.error
        return self.beside


def found(
    matches: Sequence[Match],
    *,
    search: Search = SEARCH,
    top_k: int = 5,
    generations: dict[str, str] | None = None,
    index: FakeSearch | None = None,
    reranker: FakeReranker | None = None,
) -> Retrieved:
    return retrieve(
        search,
        tenant="acme",
        top_k=top_k,
        index=index or FakeSearch(matches),
        registry=FakeRegistry(generations),
        deadline=Deadline(FakeClock(), 20.0),
        reranker=reranker,
    )


def ids(result: Retrieved) -> list[str]:
    return [passage.document_id for passage in result.passages]


def test_the_same_text_comes_once_and_is_counted():
    result = found([match("same", n=1, score=0.9), match("same", n=2, score=0.8), match("other", n=3, score=0.7)])
    assert ids(result) == ["doc1", "doc3"]
    assert result.duplicates == 1


def test_only_the_published_generation_is_found():
    matches = [match("old", n=1, generation="g0"), match("new", n=1, generation="g1", score=0.5), match("gone", n=2)]
    result = found(matches, generations={"doc1": "g1"})
    assert [passage.text for passage in result.passages] == ["new"]
    assert (len(result.dropped), result.best_score) == (2, 0.5)


def test_stale_hits_lead_to_one_deeper_search():
    index = FakeSearch([match(f"stale {n}", n=n, generation="g0") for n in range(200)])
    assert found([], index=index, generations={}).passages == []
    assert [call["top_k"] for call in index.calls] == [100, 100, MAX_HITS, MAX_HITS]


def crowd(count: int) -> list[Match]:
    """Hits of many filings; the named one's are the last."""
    return [match(f"The sales of {n}.", n=n, score=0.9, title=f"Pear {n} report") for n in range(count)]


class WithinSearch(FakeSearch):
    """Holds one more passage of the second document, which only a search within it finds."""

    error: Exception | None = None

    def query(self, **asked: object) -> Sequence[Match]:  # type: ignore[override]
        if "document_id" not in str(asked["filter"]):
            return super().query(**asked)  # type: ignore[arg-type]
        self.calls.append(asked)
        if self.error:
            raise self.error
        name = "Orchard 2022 report"
        held = match("Inventories of Orchard in 2022 were 5 tons.", n=100, score=2.5, title=name, chunk_index=1)
        stale = match("Inventories of Orchard before.", n=100, score=2.6, generation="g0", title=name)
        return [replace(held, id="doc100#g1#1"), stale]


NAMED = Search("What were the inventories in Orchard's 2022 report?", [1.0, 0.0], 2, "acme", filter={"language": "en"})


def test_what_the_question_names_is_searched_by_itself_under_the_same_filter():
    index = WithinSearch([match("Orchard grew.", n=100, score=0.5, title="Orchard 2022 report"), *crowd(99)])
    result = found([], index=index, search=NAMED)
    assert result.passages[0].text == "Inventories of Orchard in 2022 were 5 tons."
    assert all("before" not in each.text for each in result.ranked), "an old generation came through"
    assert index.calls[-1]["filter"] == {"$and": [{"language": "en"}, {"document_id": {"$in": ["doc100"]}}]}


def test_a_search_within_the_named_document_that_fails_costs_only_itself():
    index = WithinSearch([match("Orchard grew.", n=100, score=0.5, title="Orchard 2022 report"), *crowd(99)])
    index.error = DependencyUnavailable("vectors")
    result = found([], index=index, search=NAMED)
    assert result.passages[0].text == "Orchard grew."
    assert result.warnings == ["named_documents_unavailable"]


def test_a_small_collection_is_searched_once():
    index = WithinSearch([match("Orchard grew.", n=100, score=0.5, title="Orchard 2022 report"), *crowd(9)])
    found([], index=index, search=NAMED)
    assert len(index.calls) == 2


def test_rescoring_can_put_a_passage_before_a_more_similar_one():
    near = match("Coffee machines are popular in many offices.", n=1, score=0.60)
    says = match("How often is it descaled? It is descaled every 90 days.", n=2, score=0.55)
    assert ids(found([near, says])) == ["doc2", "doc1"]


def test_a_boost_of_the_glossary_ranks_what_it_names_higher():
    matches = [match("a", n=1, score=0.6), match("b", n=2, score=0.5, product="X")]
    assert ids(found(matches)) == ["doc1", "doc2"]
    assert ids(found(matches, search=replace(SEARCH, boosts=[Boost({"product": "X"}, 0.3)]))) == ["doc2", "doc1"]


def test_a_reranker_decides_the_order_and_leaves_the_similarities():
    reranker = FakeReranker()
    result = found([match("short", n=1, score=0.9), match("a longer text", n=2, score=0.3)], reranker=reranker)
    assert ids(result) == ["doc2", "doc1"]
    assert [passage.score for passage in result.passages] == [0.3, 0.9]
    assert reranker.asked == [SEARCH.question]


def test_a_reranker_reads_the_lines_above_a_table_too():
    reranker = FakeReranker()
    found([match("short", n=1), match("Diesel | 48", n=2, table="Fuel\n| Litres")], reranker=reranker)
    assert reranker.texts == ["short", "Fuel\n| Litres\nDiesel | 48"]


def test_a_reranker_that_fails_leaves_the_order_and_a_warning():
    matches = [match("short", n=1, score=0.9), match("a longer text", n=2, score=0.3)]
    result = found(matches, reranker=FakeReranker(DependencyUnavailable("rerank")))
    assert ids(result) == ["doc1", "doc2"]
    assert result.warnings == ["rerank_unavailable"]


def beside(n: int, index: int, text: str, start: int, **more: str | int) -> Match:
    found = match(text, n=n, score=0.1, chunk_index=index, char_start=start, **more)
    return replace(found, id=f"doc{n}#{found.metadata['generation']}#{index}")


def test_neighbours_are_fetched_in_the_same_namespace_under_the_same_filter_and_join_the_hit():
    hit = match("second part.", n=1, chunk_index=1, char_start=10)
    index = PlacedSearch([hit], [beside(1, 0, "first part", 0), beside(1, 2, " and third", 22)])
    result = found([], index=index, search=replace(SEARCH, neighbours=1, filter={"language": "en"}))
    assert [passage.text for passage in result.passages] == ["first partsecond part. and third"]
    call = index.calls[-1]
    assert call["namespace"] == "acme"
    assert "'language': 'en'" in str(call["filter"])


def test_a_neighbour_that_is_not_published_or_was_not_requested_stays_out():
    hit = match("second part.", n=1, chunk_index=1, char_start=10)
    strangers = [beside(1, 0, "first part", 0, generation="g0"), beside(2, 0, "foreign", 0), beside(1, 7, "far", 22)]
    result = found([], index=PlacedSearch([hit], strangers), search=replace(SEARCH, neighbours=1))
    assert [passage.text for passage in result.passages] == ["second part."]


def test_neighbours_that_cannot_be_fetched_are_skipped_with_a_warning():
    index = PlacedSearch([match("second part.", n=1, chunk_index=1)], [], DependencyUnavailable("vectors"))
    result = found([], index=index, search=replace(SEARCH, neighbours=1))
    assert [passage.text for passage in result.passages] == ["second part."]
    assert result.warnings == ["neighbours_unavailable"]


def test_variants_share_the_score_and_cost_no_further_request():
    varied = replace(SEARCH, variants=[QueryVariant("descaling interval", 0.4, [0.0, 1.0])])
    assert varied.dense == pytest.approx([0.6 / 0.52**0.5, 0.4 / 0.52**0.5])
    index = FakeSearch([match("text")])
    found([], index=index, search=varied)
    assert len(index.calls) == 2


WORDINGS = st.lists(
    st.tuples(st.sampled_from(["descaling interval", "boiler", "how often E4"]), st.floats(0.05, 0.2)), max_size=4
)


@given(WORDINGS)
def test_the_sparse_vector_is_the_weighted_mean_of_all_variants(wordings: list[tuple[str, float]]):
    varied = replace(SEARCH, variants=[QueryVariant(text, weight, None) for text, weight in wordings])
    own = 1 - sum(weight for _, weight in wordings)
    expected: dict[int, float] = {}
    for text, share in [(SEARCH.question, own), *wordings]:
        for index, value in zip(*replace(SEARCH, question=text).sparse, strict=True):
            expected[index] = expected.get(index, 0.0) + share * value
    assert list(varied.sparse.indices) == sorted(expected)
    assert dict(zip(*varied.sparse, strict=True)) == pytest.approx(expected)
    assert varied.dense == pytest.approx([1.0, 0.0])


def test_variants_are_embedded_in_one_request_and_cached():
    embedder, cache = FakeEmbedder(), FakeCache()
    deadline = Deadline(FakeClock(), 20.0)

    def all_cached(*texts: str) -> bool:
        found = embed_queries(texts, tenant="acme", embedder=embedder, cache=cache, ttl_s=60, deadline=deadline)
        assert len(found.vectors) == len(texts)
        return found.cached

    assert not all_cached("one", "two", "one")
    assert embedder.asked == ["one", "two"]
    assert not all_cached("two", "three")
    assert embedder.asked == ["one", "two", "three"]
    assert all_cached("three", "two")


# --- two searches at once --------------------------------------------------------------------------------------------


class Arms(FakeSearch):
    """Finds one hit by the words, and another one by meaning alone."""

    def __init__(self, hybrid: Match, dense: Match) -> None:
        super().__init__()
        self.hybrid, self.dense = FakeSearch([hybrid]), FakeSearch([dense])

    def query(self, **asked: object) -> Sequence[Match]:  # type: ignore[override]
        arm = self.hybrid if asked["sparse"] else self.dense
        return arm.query(**asked)  # type: ignore[arg-type]


def test_a_hit_of_the_dense_search_alone_counts_for_the_best_score_by_its_id():
    index = Arms(match("It is descaled weekly.", n=1, score=0.2), match("Scale is taken off.", n=2, score=0.7))
    assert found([], index=index).best_score == 0.7
    assert found([], index=index, generations={"doc1": "g1", "doc2": "g9"}).best_score == pytest.approx(0.2)


def test_where_the_hybrid_search_fails_the_dense_search_is_repeated_for_the_texts():
    index = FakeSearch([match("It is descaled weekly.")], hybrid=DependencyUnavailable("vectors", "no"))
    result = found([], index=index)
    assert [passage.text for passage in result.passages] == ["It is descaled weekly."]
    assert result.best_score == 0.8
    assert result.warnings == ["hybrid_search_unavailable"]
    assert len(index.calls) == 3


def test_where_both_searches_fail_the_first_error_is_raised():
    first, second = DependencyUnavailable("vectors", "first"), DependencyUnavailable("vectors", "second")
    index = FakeSearch([match("It is descaled weekly.")], hybrid=first, again=second)
    with pytest.raises(DependencyUnavailable, match="first"):
        found([], index=index)


def test_a_vector_s_name_tells_document_and_generation():
    assert generation_named_by(vector_id_of("doc1", "g1~2", 7)) == ("doc1", "g1~2")
    assert generation_named_by("somebody else's") == generation_named_by("half#one") == ("", "")


class FilteredSearch(FakeSearch):
    """Applies the filter, as the index does."""

    def under(self, wanted: Filter | None) -> Sequence[Match]:
        return [each for each in self.matches if not wanted or matches(wanted, each.metadata)]


class SomeHidden(FakeRegistry):
    """Hides all but a few documents from the reader."""

    def __init__(self, readable: set[str]) -> None:
        super().__init__()
        self.readable = readable

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], **more: int
    ) -> dict[str, PublishedDocument]:
        return {each: PublishedDocument("g1" if each in self.readable else "") for each in document_ids}


def test_documents_of_others_do_not_crowd_out_ones_own() -> None:
    others = [match(f"It is descaled on day {n}.", n=n, score=0.9) for n in range(1, 900)]
    own = match("It is descaled in spring.", n=900, score=0.4)
    index = FilteredSearch([*others, own])
    result = retrieve(
        SEARCH,
        tenant="acme",
        top_k=3,
        index=index,
        registry=SomeHidden({"doc900"}),
        deadline=Deadline(FakeClock(), 20.0),
    )
    assert ids(result) == ["doc900"]
    assert result.dropped == [], "what is hidden is not named"
    assert result.best_score == 0.4
    assert "$nin" in str(index.calls[-1]["filter"])


def test_the_search_without_hidden_documents_ends() -> None:
    everything = [match(f"It is descaled on day {n}.", n=n, score=0.9) for n in range(1, 5_000)]
    index = FilteredSearch(everything)
    registry, deadline = SomeHidden(set()), Deadline(FakeClock(), 20.0)
    result = retrieve(SEARCH, tenant="acme", top_k=3, index=index, registry=registry, deadline=deadline)
    assert (result.passages, result.best_score, result.dropped) == ([], None, [])
    assert len(index.calls) == 2 * ROUNDS


@pytest.mark.parametrize(
    ("is_restricted", "shown", "asked", "is_field"),
    [
        (False, set[str](), 1, True),
        (True, {f"doc{n}" for n in range(1, 3_000)}, 1, True),
        (True, {"doc2999"}, ROUNDS, False),  # beyond the last round
        (True, {"doc900"}, 2, True),  # among those that are left when the first ones are left out
    ],
)
def test_a_field_is_one_that_a_passage_has_which_the_reader_may_read(
    is_restricted: bool, shown: set[str], asked: int, is_field: bool
) -> None:
    index = FilteredSearch([match(f"Day {n}.", n=n, colour="red") for n in range(1, 3_000)])
    ports = replace(query_ports(), search=index, registry=SomeHidden(shown), is_restricted=lambda: is_restricted)
    wanted: Filter = {"colour": {"$eq": "red"}, "title": {"$eq": "Handbook"}}
    raises = nullcontext() if is_field else pytest.raises(InvalidFilter, match="no passage has this field")
    with raises:
        check_fields(wanted, tenant="acme", ports=ports, deadline=Deadline(FakeClock(), 20.0))
    assert len(index.calls) == asked
