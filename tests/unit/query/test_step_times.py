"""How long each step of an answer may wait, and for how many tokens it asks: with time enough, little, and none."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace

import pytest

from functions.query import bootstrap
from functions.query.grounding.checking import ClaimChecking, ModelChecker
from functions.query.grounding.claims import Claim
from functions.query.grounding.judge import Judgement, Verdict
from functions.query.grounding.quotes import EvidenceSpan, quoted_spans
from functions.query.grounding.verify import JudgedClaim
from functions.query.ports import ClaimToCheck, QueryPorts
from functions.query.retrieval.retrieve import retrieve
from functions.query.retrieval.search import QueryVariant, Search, embed_queries, lexical_weight
from functions.query.understanding.model_rewriting import rewrite_with_model, translate_with_model
from functions.query.understanding.summary import next_summary
from functions.query.writing.generation import WritingRequest
from shared.adapters.openai import OpenAIEmbedder
from shared.deadline import Deadline
from shared.errors import DependencyTimeout
from shared.models import EmbeddingSpace, Message
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.query import (
    FakeCache,
    FakeChat,
    FakeEmbedder,
    FakeRegistry,
    FakeSearch,
    match,
    passage,
    query_ports,
    written,
)

SETTINGS = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2)
BOILER = passage("The boiler is descaled every 90 days. The valve costs 18 euros.")
SEARCH = Search("How often is it descaled?", [1.0, 0.0], 2, "acme")


def searching(left: Deadline, search: Search = SEARCH) -> list[float]:
    index = FakeSearch([match("It is descaled every 90 days.", n=n, chunk_index=1) for n in range(3)])
    retrieve(search, tenant="acme", top_k=5, index=index, registry=FakeRegistry(), deadline=left)
    return [float(str(call["timeout_s"])) for call in index.calls]


class Reranker:
    def __init__(self) -> None:
        self.timeouts: list[float] = []
        self.texts: Sequence[str] = ()

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        self.timeouts.append(timeout_s)
        self.texts = texts
        return [1.0] * len(texts)


def reranking(left: Deadline, hits: int = 3) -> Reranker:
    reranker = Reranker()
    index = FakeSearch([match(f"It is descaled every {n} days.", n=n) for n in range(hits)])
    retrieve(SEARCH, tenant="acme", top_k=5, index=index, registry=FakeRegistry(), deadline=left, reranker=reranker)
    return reranker


def embedding(left: Deadline) -> list[float]:
    embedder = FakeEmbedder()
    embed_queries(["How?"], tenant="acme", embedder=embedder, cache=FakeCache(), ttl_s=9, deadline=left)
    return embedder.timeouts


def checking(left: Deadline) -> list[float]:
    chat = FakeChat()
    claim = JudgedClaim(Claim("It is cleaned."), quoted_spans("The boiler", BOILER), Judgement(Verdict.UNCONFIRMED))
    list(ClaimChecking(ModelChecker(chat), left).checked([claim]))
    return [seconds for seconds, _, _ in chat.asked]


def of_model(ask: Callable[[FakeChat, Deadline], object]) -> Callable[[Deadline], list[float]]:
    def asked(left: Deadline) -> list[float]:
        chat = FakeChat("{}")
        ask(chat, left)
        return [seconds for seconds, _, _ in chat.asked]

    return asked


rewriting = of_model(lambda chat, left: rewrite_with_model("How?", [], chat=chat, settings=SETTINGS, deadline=left))
translating = of_model(
    lambda chat, left: translate_with_model("How?", "lt", chat=chat, settings=SETTINGS, deadline=left)
)
summing_up = of_model(lambda chat, left: next_summary("", [], chat=chat, settings=SETTINGS, deadline=left))
writing = of_model(
    lambda chat, left: written(WritingRequest("How?", "How?", [BOILER]), chat=chat, settings=SETTINGS, deadline=left)
)


@pytest.mark.parametrize(
    ("step", "left_s", "waits_s"),
    [
        (searching, 26, [8, 8]), (searching, 6, [5, 5]),
        (lambda left: reranking(left).timeouts, 26, [3]), (lambda left: reranking(left).timeouts, 6, [2]),
        (lambda left: reranking(left).timeouts, 4, []),
        (embedding, 26, [8]), (embedding, 10, [4]), (embedding, 1.5, [0.5]), (embedding, 1, []),
        (checking, 26, [6]), (checking, 5, [3]), (checking, 2, []),
        (rewriting, 26, [3]), (rewriting, 12, [3]), (rewriting, 4, [2]),
        (translating, 26, [3]), (translating, 12, [3]), (translating, 4, [2]),
        (summing_up, 26, [8]), (summing_up, 8, [5]), (summing_up, 3, []),
        (writing, 26, [24]), (writing, 5, [3]), (writing, 2, []),
    ],
)  # fmt: skip
def test_a_step_waits_so_long_and_leaves_time_for_those_after_it(
    step: Callable[[Deadline], list[float]], left_s: float, waits_s: list[float]
) -> None:
    assert step(Deadline(FakeClock(), left_s)) == pytest.approx(waits_s)


def test_a_search_without_time_for_it_fails() -> None:
    with pytest.raises(DependencyTimeout):
        searching(Deadline(FakeClock(), 1.0))


@pytest.mark.parametrize(("hits", "reranked"), [(1, 0), (2, 2), (30, 30), (31, 30)])
def test_the_best_thirty_are_reranked_and_one_alone_is_not(hits: int, reranked: int) -> None:
    assert len(reranking(Deadline(FakeClock(), 26), hits).texts) == reranked


def test_a_model_is_asked_for_so_many_tokens_and_for_the_same_answer_each_time() -> None:
    left = Deadline(FakeClock(), 26)
    chat = FakeChat('{"verdicts": [{"claim": 1, "verdict": "supported"}, {"claim": 2, "verdict": "unclear"}]}')
    ModelChecker(chat).check([ClaimToCheck("It is.", ("It is.",))] * 2, timeout_s=5)
    rewrite_with_model("How?", [], chat=chat, settings=SETTINGS, deadline=left)
    next_summary("", [], chat=chat, settings=SETTINGS, deadline=left)
    next_summary("", [], chat=chat, settings=Settings(max_output_tokens=100), deadline=left)
    written(WritingRequest("How?", "How?", [BOILER]), chat=chat, settings=SETTINGS, deadline=left)
    assert [(tokens, temperature) for _, tokens, temperature in chat.asked] == [
        (96, 0.0), (300, 0.0), (400, 0.0), (100, 0.0), (2_048, 0.3)
    ]  # fmt: skip


@pytest.mark.parametrize(("messages", "told"), [(39, 39), (40, 40), (41, 40)])
def test_a_summary_is_made_of_the_latest_forty_messages(messages: int, told: int) -> None:
    chat = FakeChat("They talk.")
    said = [
        Message(f"{n:026d}", "user", "x" * 1_001 if n == messages - 1 else f"turn {n}", "") for n in range(messages)
    ]
    next_summary("", said, chat=chat, settings=SETTINGS, deadline=Deadline(FakeClock(), 26))
    texts = [each["text"] for each in json.loads(chat.prompts[0][-1].content.split("\n")[1])["said"]]
    assert len(texts) == told
    assert texts[0] == f"turn {messages - told}"
    assert len(texts[-1]) == 1_000


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("How often is it", 1.5),
        ("How often is", 3.0),  # three words
        ("the new X-1/b_2 is it on", 1.5),  # three signs of 24 characters
        ("the new X-1/b_2 is it o", 3.0),
        ("how often is it then???", 1.5),
    ],
)
def test_words_weigh_twice_in_a_short_question_and_in_one_of_signs(text: str, weight: float) -> None:
    assert lexical_weight(text) == weight


def test_a_search_is_the_mean_of_its_wordings() -> None:
    search = Search("a", [1.0, 0.0], 2, "acme", variants=[QueryVariant("b", 0.25, [0.0, 1.0]), QueryVariant("c", 0.2)])
    one, other = search.dense or ()
    assert (one / other, one * one + other * other) == (pytest.approx(0.55 / 0.25), pytest.approx(1))
    assert sum(x * x for x in search.faint_vector) == pytest.approx(1e-12)
    assert Search("a", None, 2, "acme").dense is None


def test_the_words_of_a_claim_and_of_its_quotes_are_bounded_for_the_checker() -> None:
    chat = FakeChat()
    source = passage(" ".join(f"The boiler {n} is descaled every {n} days." for n in range(9)))
    spans: list[EvidenceSpan] = [EvidenceSpan(source, 0, len(source.text))] * 4

    def asked(words: int) -> list[ClaimToCheck]:
        claim = JudgedClaim(Claim("word " * words), spans, Judgement(Verdict.UNCONFIRMED))
        list(ClaimChecking(ModelChecker(chat), Deadline(FakeClock(), 26)).checked([claim]))
        told = json.loads(chat.prompts.pop()[-1].content.split("\n")[1]) if chat.prompts else []
        return [ClaimToCheck(each["text"], tuple(each["quotes"])) for each in told]

    (told,) = asked(60)
    assert [len(quote.split()) for quote in told.quotes] == [60, 60, 60]
    assert asked(61) == []


# --- AWS: a request calls it several times ---


@pytest.fixture
def made() -> Iterator[bootstrap.Services]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        bootstrap.reset()
        yield bootstrap.services()
        bootstrap.reset()


def limits_of(adapter: object) -> tuple[float, float, int, float]:
    """Seconds to read and to connect, attempts, and seconds in all of an adapter's AWS client."""
    client = next(value for value in vars(adapter).values() if hasattr(value, "meta"))
    config = client.meta.config
    return config.read_timeout, config.connect_timeout, config.retries["total_max_attempts"], vars(client)["_call_s"]


def test_calls_to_aws_are_bounded_so_that_several_fit_into_a_request(made: bootstrap.Services) -> None:
    assert limits_of(made.conversations) == (2.0, 2.0, 2, 4.0)
    assert limits_of(made.usage) == (2.0, 2.0, 1, 2.0)  # a second attempt could count a question twice
    assert limits_of(made.objects) == (5.0, 2.0, 2, 10.0)
    assert limits_of(made.events) == (2.0, 2.0, 2, 4.0)


def test_with_a_short_deadline_a_call_to_dynamodb_takes_a_twelfth_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECTO_REQUEST_DEADLINE_S", "12")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    bootstrap.reset()
    assert limits_of(bootstrap.services().conversations) == (1.0, 1.0, 2, 2.0)
    bootstrap.reset()


def test_a_reset_closes_the_clients_that_were_built(made: bootstrap.Services) -> None:
    class Embedder(OpenAIEmbedder):
        closed = 0

        def close(self) -> None:
            self.closed += 1
            super().close()

    space = EmbeddingSpace("m", 2)
    embedder = Embedder(base_url="http://127.0.0.1:9/v1", api_key="k", space=space)
    built: Future[QueryPorts] = Future()
    built.set_result(replace(query_ports(), embedder=embedder))
    bootstrap._building["index", space] = built
    bootstrap.reset()
    assert embedder.closed == 1
    assert not bootstrap._building
