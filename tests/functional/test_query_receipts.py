"""The receipt of an answer through the real handler: what it was made from, for its asker only, for as long as it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from functions.query.bootstrap import services
from shared.models import Message, content_hash_of
from shared.receipts import unpacked
from shared.telemetry import VERSION
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import LENS, PAGES, call, query_stack, raw_call

UNKNOWN = "Who won the football world cup in 1998?"
FERRY = "uploads/acme/ferry.pdf"
ANN = {"tenant": "acme", "user": "ann", "groups": "reader"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("receipts")) as made:
        made.put(FERRY, pdf_of(["The ferry to Orsk leaves at eight. Its bell is cleaned every Monday."], title="Ferry"))
        assert made.deliver(FERRY) == []
        yield made


def ask(question: str, who: dict[str, str], **body: Any) -> dict[str, Any]:
    status, answer, _ = call("POST", "/query", {"question": question, **body}, **who)
    assert status == 200, answer
    return answer


def receipt_of(answer: dict[str, Any], who: dict[str, str]) -> dict[str, Any]:
    status, receipt, _ = call("GET", f"/messages/{answer['message_id']}/receipt", **who)
    assert status == 200, receipt
    return receipt


def stored(stack: Stack, user: str) -> list[dict[str, Any]]:
    items = stack.aws.dynamodb.scan(TableName="conversations")["Items"]
    return [item for item in items if item["pk"]["S"] == f"TENANT#acme#USER#{user}" and "RECEIPT" in item["sk"]["S"]]


def test_a_receipt_names_everything_the_answer_was_made_from(stack: Stack) -> None:
    answer = ask(LENS, ANN, top_k=1, fresh=True, filter={"language": "en"}, preferences={"tone": "friendly"})
    receipt = receipt_of(answer, ANN)
    assert (receipt["message_id"], receipt["conversation_id"]) == (answer["message_id"], answer["conversation_id"])
    assert receipt["question"] == receipt["searched"]["question"] == LENS
    assert receipt["asked"] == {
        "top_k": 1,
        "filter": {"language": "en"},
        "language": "",
        "mode": None,
        "preferences": {"tone": "friendly"},
    }
    assert (receipt["version"], receipt["index_version"]) == (VERSION, 1)
    assert receipt["embedding_space"].startswith("all-MiniLM-L6-v2@")
    assert receipt["settings"]["top_k"] == 7
    assert receipt["decision"]["relevance"] == pytest.approx(answer["relevance"], abs=1e-3)
    assert receipt["decision"]["threshold"] == answer["threshold"]
    chosen, other = receipt["candidates"]
    assert [chosen["passage_id"]] == [each["chunk_id"] for each in answer["sources"]]
    assert (chosen["fate"], chosen["source"], chosen["title"]) == ("source", 1, "Orsk Lighthouse Handbook")
    assert (chosen["page_start"], chosen["text_hash"]) == (1, content_hash_of("\n\n".join(PAGES)))
    assert chosen["score"] == pytest.approx(sum(chosen["parts"].values()), abs=1e-3)
    assert chosen["reasons"]
    assert (other["fate"], other["source"]) == ("not_chosen", 0)
    assert other["dropped_because"] == "enough passages ranked before it"
    assert receipt["prompt"]["model"] == answer["model"]
    assert len(receipt["prompt"]["hash"]) == 32
    assert [(each["text"], each["verdict"], each["shown"]) for each in receipt["claims"]] == [
        (each["text"], each["verdict"], True) for each in answer["claims"]
    ]
    assert receipt["claims"][0]["sources"] == [1]
    assert {each["model"] for each in receipt["spent"]} == {"extractive-minilm", "all-MiniLM-L6-v2"}
    assert (receipt["caches"]["answer"], receipt["left_out"], receipt["withheld"]) == (False, 0, False)
    assert {"rewrite", "embed", "retrieve", "decide", "generate"} <= receipt["timings_ms"].keys()


def test_an_answer_from_the_cache_tells_what_the_first_one_was_made_from(stack: Stack) -> None:
    first = ask("When was the lighthouse of Orsk built?", ANN)
    second = ask("When was the lighthouse of Orsk built?", {**ANN, "user": "bob"})
    assert second["cached"]
    one, two = receipt_of(first, ANN), receipt_of(second, {**ANN, "user": "bob"})
    assert (one["caches"]["answer"], two["caches"]["answer"]) == (False, True)
    for name in ("candidates", "claims", "decision", "prompt", "searched"):
        assert two[name] == one[name], name
    assert two["spent"] == []
    assert first["message_id"] not in json.dumps(two)


def test_a_refusal_tells_what_came_nearest(stack: Stack) -> None:
    receipt = receipt_of(ask(UNKNOWN, ANN), ANN)
    assert (receipt["mode"], receipt["refusal"], receipt["decision"]["relevant"]) == (
        "refused",
        "no_relevant_info",
        False,
    )
    assert {each["fate"] for each in receipt["candidates"]} == {"refused"}
    assert (receipt["prompt"], receipt["claims"]) == (None, [])


def test_a_follow_up_names_the_messages_it_was_understood_by(stack: Stack) -> None:
    first = ask(LENS, ANN)
    second = ask("And with what?", ANN, conversation_id=first["conversation_id"])
    receipt = receipt_of(second, ANN)
    assert first["message_id"] in receipt["history"]
    assert receipt["question"] == "And with what?"
    assert receipt["searched"]["rewritten_by"]
    assert receipt["searched"]["question"] == second["rewritten"]


def test_small_talk_has_a_receipt_without_a_search(stack: Stack) -> None:
    receipt = receipt_of(ask("Hello", ANN), ANN)
    assert (receipt["mode"], receipt["searched"], receipt["decision"], receipt["candidates"]) == (
        "service",
        None,
        None,
        [],
    )


@pytest.mark.parametrize(
    "stranger",
    [{"user": "mallory"}, {"tenant": "another"}, {"user": "eve", "groups": "admin"}],
    ids=["user", "tenant", "admin"],
)
def test_only_whoever_asked_may_read_it(stack: Stack, stranger: dict[str, str]) -> None:
    answer = ask("Hello", ANN)
    assert call("GET", f"/messages/{answer['message_id']}/receipt", **{**ANN, **stranger})[0] == 404


def test_a_question_an_unknown_message_and_an_answer_of_an_earlier_release_have_none(stack: Stack) -> None:
    answer = ask("Hello", ANN)
    question = call("GET", f"/conversations/{answer['conversation_id']}", **ANN)[1]["messages"][0]
    turns = [Message("0" * 25 + "1", "user", "Old?", "2026"), Message("0" * 25 + "2", "assistant", "Old.", "2026")]
    services().conversations.save_turns("acme", "ann", "0" * 26, title="Old", turns=turns, is_new=True)
    for unknown in (question["message_id"], "0" * 25 + "2", "0" * 26, "x"):
        status, problem, _ = call("GET", f"/messages/{unknown}/receipt", **ANN)
        assert (status, problem["code"]) == (404, "not_found")


def test_it_holds_no_words_of_documents_and_is_erased_with_its_conversation(stack: Stack) -> None:
    who = {**ANN, "user": "carol"}
    answer = ask(LENS, who)
    (item,) = stored(stack, "carol")
    kept = json.dumps(unpacked(item["receipt"]["B"]))
    assert "vinegar" not in kept
    assert "Handbook" not in kept
    assert answer["citations"][0]["document_id"] in [each["S"] for each in item["documents"]["L"]]
    assert len(item["receipt"]["B"]) < 4_000
    assert raw_call("DELETE", f"/conversations/{answer['conversation_id']}", **who)[0] == 204
    assert stored(stack, "carol") == []
    assert call("GET", f"/messages/{answer['message_id']}/receipt", **who)[0] == 404


def test_of_a_deleted_document_nothing_is_told_but_how_many_passages_there_were(stack: Stack) -> None:
    who = {**ANN, "tenant": "gone", "groups": "editor"}
    stack.put(
        "uploads/gone/cellar.pdf", pdf_of(["The cellar of Brunn is locked at nine by the porter."], title="Cellar")
    )
    assert stack.deliver("uploads/gone/cellar.pdf") == []
    answer = ask("When is the cellar of Brunn locked, and by whom?", who)
    (citation,) = answer["citations"]
    before = receipt_of(answer, who)
    assert before["candidates"][0]["title"] == "Cellar"
    assert call("DELETE", f"/documents/{citation['document_id']}", **who)[0] == 202
    receipt = receipt_of(answer, who)
    assert (receipt["candidates"], receipt["searched"], receipt["left_out"], receipt["withheld"]) == ([], None, 1, True)
    assert [each["text"] for each in receipt["claims"]] == [""]
    assert receipt["decision"] == before["decision"]
    for word in ("porter", "Cellar", citation["document_id"]):
        assert word not in json.dumps(receipt)


def restrict(document_id: str, rule: dict[str, Any] | None) -> None:
    status, body, _ = call("PATCH", f"/documents/{document_id}", {"access": rule}, **{**ANN, "groups": "admin"})
    assert status == 200, body


def test_of_a_document_that_may_not_be_read_any_more_a_receipt_tells_only_that_there_was_one(stack: Stack) -> None:
    answer = ask(LENS, ANN, top_k=1)
    before = receipt_of(answer, ANN)
    ferry = next(each["document_id"] for each in before["candidates"] if each["title"] == "Ferry")
    restrict(ferry, {"allowed_groups": ["crew"], "allowed_users": []})
    after = receipt_of(answer, ANN)
    replayed = call("POST", f"/messages/{answer['message_id']}/replay", **ANN)[1]
    restrict(ferry, None)
    assert (len(after["candidates"]), after["left_out"], after["withheld"]) == (len(before["candidates"]) - 1, 1, True)
    assert {each["text"] for each in after["claims"]} == {""}
    for shown in (after, replayed):
        assert ferry not in json.dumps(shown)
        assert "Ferry" not in json.dumps(shown)
    assert replayed["identical"]
    assert [each["text"] for each in replayed["causes"]] == ["A document is gone, or you may no longer read it."]
    assert receipt_of(answer, ANN) == before


def test_without_the_right_to_a_source_neither_receipt_nor_replay_is_shown(stack: Stack) -> None:
    answer = ask(LENS, ANN, top_k=1)
    restrict(answer["citations"][0]["document_id"], {"allowed_groups": ["keepers"], "allowed_users": []})
    shown = [
        call(method, f"/messages/{answer['message_id']}/{what}", **ANN)
        for method, what in (("GET", "receipt"), ("POST", "replay"))
    ]
    restrict(answer["citations"][0]["document_id"], None)
    assert [(status, problem["code"]) for status, problem, _ in shown] == [(403, "access_lost")] * 2
