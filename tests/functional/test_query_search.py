"""`POST /search` and `explain`: what is found, the parts of each score, and what was dropped."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from functions.query.retrieval.filters import FIELDS
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import HANDBOOK, LENS, Faulty, call, query_stack

KEEPER = "uploads/acme/keeper.pdf"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("search")) as made:
        made.put(KEEPER, pdf_of(["The keeper polishes the brass lamp on Mondays.", "Gulls nest on the tower."]))
        made.deliver(KEEPER)
        made.put("faq/acme/tag.json", b'{"question": "Who paints?", "answer": "Bo.", "tags": {"crew": "deck"}}')
        made.deliver("faq/acme/tag.json")
        yield made


def search(**body: Any) -> dict[str, Any]:
    status, found, _ = call("POST", "/search", {"question": LENS, **body})
    assert status == 200, found
    return found


def test_each_score_is_the_sum_of_its_parts_and_told_in_words(stack: Stack):
    found = search(limit=50)
    assert found["relevant"]
    assert found["relevance"] >= found["threshold"]
    assert [each["rank"] for each in found["passages"]] == list(range(1, found["hits"] + 1))
    for each in found["passages"]:
        assert sum(each["parts"].values()) == pytest.approx(each["score"])
        assert each["parts"]["dense"] == pytest.approx(each["similarity"])
    best = found["passages"][0]
    assert best["document_id"] == stack.document(HANDBOOK).document_id
    assert (best["chosen"], best["source"], best["parts"]["together"] > 0) == (True, True, True)
    assert best["relevance"] == pytest.approx(found["relevance"])
    assert any("words of the question" in reason for reason in best["reasons"])
    assert [each["chosen"] for each in found["passages"]] == sorted(
        (each["chosen"] for each in found["passages"]), reverse=True
    )


def test_an_unpublished_hit_is_named_and_a_limit_cuts_the_list(stack: Stack):
    key = "uploads/acme/gone.pdf"
    stack.put(key, pdf_of(["The lens of the lighthouse lamp must be cleaned hourly."]))
    stack.deliver(key)
    document_id = stack.document(key).document_id
    assert document_id in {each["document_id"] for each in search()["passages"]}
    assert call("DELETE", f"/documents/{document_id}")[0] == 202
    found = search(limit=1)
    assert [name.split("#")[0] for name in found["unpublished"]] == [document_id]
    assert len(found["passages"]) == 1 < found["hits"]


def test_explain_is_for_editors_and_is_never_answered_from_the_cache(stack: Stack):
    plain = call("POST", "/query", {"question": LENS})[1]
    assert plain["explanation"] is None
    status, answer, _ = call("POST", "/query", {"question": LENS, "explain": True})
    assert (status, answer["cached"]) == (200, False)
    assert answer["explanation"]["passages"][0]["passage_id"] == answer["sources"][0]["chunk_id"]
    assert answer["explanation"]["relevance"] == pytest.approx(answer["relevance"], abs=1e-4)
    assert call("POST", "/query", {"question": LENS})[1]["cached"], "and what was explained is cached like any answer"
    assert not call("POST", "/query", {"question": LENS, "fresh": True}, groups="reader")[1]["cached"], (
        "anybody may ask anew"
    )
    assert call("POST", "/query", {"question": LENS, "explain": True}, groups="reader")[0] == 403
    assert call("POST", "/search", {"question": LENS}, groups="agent")[0] == 403
    assert call("POST", "/query", {"question": "Hello!", "explain": True})[1]["explanation"] is None


def test_without_embeddings_no_score_is_made_up(stack: Stack):
    question = "How often must the lens of the lamp in the tower be cleaned with vinegar?"
    with Faulty(stack, stack.openai_url, route="/v1/embeddings", kind="status", status=500):
        found = search(question=question)
        answer = call("POST", "/query", {"question": question})[1]
    assert found["passages"][0]["similarity"] is None
    assert found["passages"][0]["parts"]["dense"] == 0
    assert found["passages"][0]["parts"]["bm25"] > 0
    assert "embeddings_unavailable" in answer["warnings"]
    assert (answer["best_score"], answer["citations"][0]["score"], answer["sources"][0]["score"]) == (None, None, None)
    turns = call("GET", f"/conversations/{answer['conversation_id']}")[1]["messages"]
    assert turns[1]["citations"][0]["score"] is None


def test_an_unknown_field_of_a_filter_is_refused_with_those_there_are(stack: Stack):
    for path in ("/query", "/search"):
        wanted = {"$or": [{"language": "en"}, {"langauge": "en"}]}
        status, problem, _ = call("POST", path, {"question": LENS, "filter": wanted})
        assert (status, problem["code"], problem["path"]) == (422, "invalid_filter", "filter.$or[1].langauge")
        assert "document_id" in problem["detail"]
        assert call("POST", path, {"question": LENS, "filter": {"chapter": "none has it"}})[0] == 200
        assert call("POST", path, {"question": LENS, "filter": {"crew": "deck"}})[0] == 200, "a tag of a FAQ"
        assert call("POST", path, {"question": LENS, "filter": {"crew": "x"}}, tenant="other")[0] == 422


def test_every_field_that_ingest_gives_is_a_known_one(stack: Stack):
    found = stack.vectors("acme", HANDBOOK)
    # Rectangles are for showing a quote: no filter can use them.
    assert {name for metadata in found.values() for name in metadata} <= {*FIELDS, "rects"}
    assert "rects" not in FIELDS


def test_a_search_without_words_is_refused(stack: Stack):
    assert call("POST", "/search", {"question": "  "})[0] == 400
    assert call("POST", "/search", {"question": "x" * 100_000})[0] == 400


def statement_of_many_lines() -> bytes:
    """Make a PDF with a table of one page that is longer than a passage."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True)
    canvas.setFont("Helvetica-Bold", 12)
    canvas.drawString(72, 790, "Statement of stores (in thousands of crates)")
    canvas.setFont("Helvetica", 9)
    items = [f"Ordinary ship biscuit of quality number {number}" for number in range(1, 51)]
    rows = [("", "2025", "2024"), *((item, f"{n}1,205", f"{n}0,417") for n, item in enumerate(items, start=10))]
    for at, (label, one, other) in enumerate([*rows, ("Smoked herring in barrels", "3,608", "4,719")]):
        canvas.drawString(72, 770 - 14 * at, label)
        canvas.drawRightString(400, 770 - 14 * at, one)
        canvas.drawRightString(480, 770 - 14 * at, other)
    canvas.save()
    return buffer.getvalue()


def test_a_table_that_a_passage_goes_on_with_is_known_by_what_stands_above_it_to_all_who_read_it(stack: Stack):
    key = "uploads/acme/stores.pdf"
    stack.put(key, statement_of_many_lines())
    stack.deliver(key)
    asked = "How much smoked herring was in store in 2024?"
    first = search(question=asked)["passages"][0]
    assert "Smoked herring in barrels | 3,608 | 4,719" in first["text"]
    assert "2024" not in first["text"]
    assert first["table"].split("\n")[-1].endswith("2025 | 2024")
    status, answer, _ = call("POST", "/query", {"question": asked})
    assert status == 200
    assert "Smoked herring in barrels" in answer["answer"]
    assert "2024: 4,719" in answer["answer"]
    assert {each["verdict"] for each in answer["claims"]} == {"confirmed"}
    assert answer["citations"][0]["quote"] == "Smoked herring in barrels | 3,608 | 4,719"
