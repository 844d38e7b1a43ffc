"""A figure that a model described is found, and every citation of it says so; the page's text has none of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.query import bootstrap
from shared.adapters.openai_figures import OpenAIFigureReader
from shared.models import Completion, Usage
from tests.functional.test_ingest_figures import finish, put, renew, report, send, take
from tests.support.ingest import Stack
from tests.support.query_stack import call, query_stack

MODEL = "extractive-minilm"
KEY = "uploads/ice/aletsch.pdf"
SEEN = "A bar chart of the ice: the tongue of Aletsch lost 1.3 kilometres between 1930 and 2000, most of it after 1980."
QUESTION = "How many kilometres did the tongue of Aletsch lose between 1930 and 2000?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    def describe(_self: OpenAIFigureReader, _picture: bytes, *, caption: str, timeout_s: float) -> Completion:
        assert caption
        assert timeout_s > 0
        return Completion(SEEN, "stop", MODEL, Usage(100, 10))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECTO_MODEL_CACHE", str(Path(__file__).parents[2] / ".pytest_cache" / "minilm"))
        patch.setattr(OpenAIFigureReader, "describe", describe)
        with query_stack(
            patch, tmp_path_factory.mktemp("figures"), ANSWER_CACHE_TTL_S="0", FIGURE_MODEL=MODEL
        ) as stack:
            renew()  # the batch was built before these settings
            take(stack)
            assert send(stack, put(stack, KEY, report(1)))
            finish(stack)
            bootstrap.reset()
            yield stack


def test_a_citation_of_a_description_names_the_model(stack: Stack) -> None:
    status, answer, _ = call("POST", "/query", {"question": QUESTION}, tenant="ice")
    assert status == 200, answer
    assert "1.3 kilometres" in answer["answer"]
    (citation,) = [each for each in answer["citations"] if "1.3 kilometres" in each["quote"]]
    assert citation["described_by"] == MODEL
    assert (citation["page_start"], citation["rects"]) == (1, [])
    described = [vector for vector in stack.vectors("ice").values() if "described_by" in vector]
    assert [vector["described_by"] for vector in described] == [MODEL]
    start = citation["char_start"] - int(described[0]["char_start"])
    assert str(described[0]["text"])[start:].startswith(citation["quote"])


def test_a_filter_leaves_descriptions_out(stack: Stack) -> None:
    wanted = {"question": QUESTION, "filter": {"described_by": {"$exists": False}}}
    status, answer, _ = call("POST", "/query", wanted, tenant="ice")
    assert status == 200, answer
    assert all(not each["described_by"] for each in answer["citations"])
    assert "1.3 kilometres" not in json.dumps(answer["citations"])


def test_the_pages_text_is_the_documents_own(stack: Stack) -> None:
    document_id = stack.document(KEY).document_id
    status, page, _ = call("GET", f"/documents/{document_id}/pages/1", tenant="ice")
    assert status == 200, page
    assert "Glaciers move" in page["text"]
    assert "Figure 1:" in page["text"]
    assert "1.3 kilometres" not in page["text"]
    assert page["complete"] is True
