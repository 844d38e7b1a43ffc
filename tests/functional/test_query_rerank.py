"""The reranker as an option: the whole line over the wire, with the emulator's reranker on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.query import bootstrap
from tests.support.cross_encoder import cross_encoder_in
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import call, calls_of, forget_calls, query_stack

MODEL = "bge-reranker-v2-m3"
QUESTION = "How often must the lens of the lamp be cleaned?"
SEA = "The sea around the island is rough in winter, and the boats stay in the harbour until the wind has turned. " * 8
LAMPS = {
    "lighthouse": f"{SEA}The lamp is lit at sunset. The lens of the lamp must be cleaned every Thursday. {SEA}",
    "ferry": "The ferry has a lamp with a lens, and a horn that is heard often.",
    "museum": "Visitors ask how often a lens of this size was made. The lamp of the museum has one from 1902.",
    "workshop": "Lamps that must be cleaned are brought to the workshop, which is open on Mondays.",
}
"""The whole of a long passage is about something else; a reranker reads the stretch that matters."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECTO_MODEL_CACHE", str(Path(__file__).parents[2] / ".pytest_cache" / "minilm"))
        with query_stack(patch, tmp_path_factory.mktemp("rerank"), ANSWER_CACHE_TTL_S="0") as stack:
            for name, text in LAMPS.items():
                stack.put(f"uploads/lamps/{name}.pdf", pdf_of([text], title=name))
                stack.deliver(f"uploads/lamps/{name}.pdf")
            yield stack


def order_of_the_emulator(stack: Stack) -> list[str]:
    """Ask the emulator itself, which loads its model meanwhile."""
    found = [(str(each["title"]), str(each["text"])) for each in stack.vectors("lamps").values()]
    body = {"model": MODEL, "query": QUESTION, "documents": [{"text": text} for _, text in found]}
    answer = stack.http.post(f"{stack.pinecone_url}/rerank", json=body, headers={"Api-Key": "pc-test"}, timeout=60)
    return [found[each["index"]][0] for each in answer.json()["data"]]


def ask() -> dict[str, Any]:
    status, answer, _ = call("POST", "/query", {"question": QUESTION}, tenant="lamps")
    assert status == 200, answer
    return answer


def test_a_reranker_reorders_the_sources(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = order_of_the_emulator(stack)
    bootstrap.reset()
    before = ask()
    monkeypatch.setenv("RECTO_RERANK_MODEL", MODEL)
    bootstrap.reset()
    forget_calls(stack)
    after = ask()
    assert calls_of(stack, stack.pinecone_url, "/rerank") == 1
    assert after["warnings"] == []
    assert [each["title"] for each in after["sources"]] == wanted
    assert sorted(wanted) == sorted(each["title"] for each in before["sources"])
    assert wanted != [each["title"] for each in before["sources"]]
    assert "Thursday" in after["citations"][0]["quote"]


def test_reranking_by_an_unknown_model_is_skipped(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap.reset()
    before = ask()
    monkeypatch.setenv("RECTO_RERANK_MODEL", "nobody-hosts-this")
    bootstrap.reset()
    after = ask()
    assert after["warnings"] == ["rerank_refused"]
    assert (after["answer"], after["sources"]) == (before["answer"], before["sources"])


def test_a_cross_encoder_in_the_function_reorders_the_sources_and_calls_nobody(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bootstrap.reset()
    before = ask()
    words = " ".join([QUESTION, *LAMPS.values()]).lower().translate(str.maketrans("", "", ".,?")).split()
    monkeypatch.setenv("RECTO_RERANK_PATH", str(cross_encoder_in(tmp_path, words)))
    bootstrap.reset()
    forget_calls(stack)
    after = ask()
    assert calls_of(stack, stack.pinecone_url, "/rerank") == 0
    assert after["warnings"] == []
    # It counts the question's words: the lighthouse has most of them, then the museum ("how often", "lens", "lamp").
    assert [each["title"] for each in after["sources"]][:2] == ["lighthouse", "museum"]
    assert sorted(each["title"] for each in after["sources"]) == sorted(each["title"] for each in before["sources"])
    assert "Thursday" in after["citations"][0]["quote"]
    status, explained, _ = call("POST", "/search", {"question": QUESTION}, tenant="lamps")
    assert status == 200
    scores = [each["rerank"] for each in explained["passages"]]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] < scores[0] <= 1


def test_two_rerankers_or_a_wrong_folder_fail_at_start(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECTO_RERANK_PATH", str(tmp_path))
    bootstrap.reset()
    status, _, _ = call("POST", "/query", {"question": QUESTION}, tenant="lamps")
    assert status == 500
    monkeypatch.setenv("RECTO_RERANK_MODEL", MODEL)
    bootstrap.reset()
    status, _, _ = call("POST", "/query", {"question": QUESTION}, tenant="lamps")
    assert status == 500
    bootstrap.reset()
