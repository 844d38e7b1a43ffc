"""Receipts and replays over the API: everything that an answer was made from, and what has changed since."""

from typing import Any

import pytest

from functions.query import bootstrap
from functions.query.writing.prompting import PROMPT_VERSION
from shared.models import Document, Message, content_hash_of
from shared.telemetry import VERSION
from tests.support.routes import NOW, Routes, routes

LENS = "How often must the lens of the lamp be cleaned?"
LAMP = "The lamp is lit at sunset. The lens of the lamp must be cleaned with vinegar every Thursday."
KEEPER = "The keeper lives in the white cottage beside the tower."
FERRY = "The ferry leaves at eight. Its bell is cleaned every Monday."
SAID = "The lens of the lamp must be cleaned with vinegar every Thursday."


@pytest.fixture
def lamp(api: Routes) -> Document:
    return api.publish("uploads/acme/lamp.pdf", LAMP, KEEPER, title="Lamp handbook")


@pytest.fixture
def ferry(api: Routes) -> Document:
    return api.publish("uploads/acme/ferry.pdf", FERRY, title="Ferry")


def asked(api: Routes, question: str = LENS, **more: Any) -> dict[str, Any]:
    status, answer = api.call("POST", "/query", {"question": question, "top_k": 2, **more})
    assert status == 200, answer
    return dict(answer)


def receipt_of(api: Routes, answer: dict[str, Any], **who: str) -> dict[str, Any]:
    status, receipt = api.call("GET", f"/messages/{answer['message_id']}/receipt", **who)
    assert status == 200, receipt
    return dict(receipt)


def test_a_receipt_names_everything_that_the_answer_was_made_from(api: Routes, lamp: Document, ferry: Document):
    answer = asked(api, preferences={"tone": "friendly"}, filter={"language": "en"})
    assert answer["answer"] == f"{SAID} [1]"
    assert answer["cost_usd"] is None  # MiniLM is not in the price file
    receipt = receipt_of(api, answer)
    settings, candidates = receipt.pop("settings"), receipt.pop("candidates")
    digest, timings = receipt.pop("settings_hash"), receipt.pop("timings_ms")
    assert receipt == {
        "message_id": answer["message_id"],
        "conversation_id": answer["conversation_id"],
        "asked_at": NOW,
        "question": LENS,
        "asked": {
            "top_k": 2,
            "filter": {"language": "en"},
            "language": "",
            "mode": None,
            "preferences": {"tone": "friendly"},
        },
        "searched": {
            "question": LENS,
            "language": "en",
            "rewritten_by": "",
            "variants": [],
            "parts": [],
            "filter": None,
        },
        "history": [],
        "version": VERSION,
        "release": "",
        "index_version": 1,
        "embedding_space": "all-MiniLM-L6-v2@2",
        "mode": "extractive",
        "refusal": None,
        "decision": {
            "relevant": True,
            "relevance": pytest.approx(answer["relevance"], abs=1e-4),
            "threshold": 0.35,
            "band": "high",
            "relaxed": False,
            "absent": [],
            "statement_similarity": None,
        },
        "hits": 3,
        "duplicates": 0,
        "unpublished": [],
        "left_out": 0,
        "withheld": False,
        "prompt": None,
        "claims": [{"text": SAID, "shown": True, "verdict": "confirmed", "flags": [], "reasons": [], "sources": [1]}],
        "confidence": pytest.approx(answer["confidence"], abs=1e-3),
        "spent": [
            {
                "model": "all-MiniLM-L6-v2",
                "input_tokens": 1,
                "output_tokens": 0,
                "cached_tokens": 0,
                "cache_write_tokens": 0,
                "reasoning_tokens": 0,
                "cost_usd": None,
            }
        ],
        "cost_usd": None,
        "caches": {"answer": False, "embedding": False, "prompt_tokens": 0},
        "warnings": [],
    }
    assert (settings["top_k"], settings["score_threshold"], settings["grounding"]) == (7, 0.35, "marked")
    assert "bucket" not in settings
    assert len(digest) == 16
    assert timings == dict.fromkeys(("history", "rewrite", "cache", "embed", "retrieve", "decide", "generate"), 0.0)

    first, second, third = candidates
    parts, reasons = first.pop("parts"), first.pop("reasons")
    assert first == {
        "passage_id": f"{lamp.document_id}#G1#0",
        "document_id": lamp.document_id,
        "title": "Lamp handbook",
        "text_hash": content_hash_of(LAMP),
        "version_id": lamp.version_id,
        "page_start": 1,
        "page_end": 1,
        "corrected": False,
        "source": 1,
        "fate": "source",
        "dropped_because": "",
        "score": pytest.approx(sum(parts.values()), abs=5e-4),
        "rerank": None,
        "similarity": 0.8,
        "relevance": pytest.approx(answer["relevance"], abs=1e-4),
        "coverage": first["coverage"],
    }
    assert 0.5 < first["coverage"] < 1
    assert parts["dense"] == 0.8
    assert [name for name, value in parts.items() if value] == ["dense", "bm25", "together", "phrases", "beside"]
    assert reasons[0] == f"it has words of the question (+{parts['bm25']:.2f})"
    amounts = [float(each.rpartition("+")[2].rstrip(")")) for each in reasons]
    assert amounts == sorted(amounts, reverse=True)
    assert (second["source"], second["fate"], second["similarity"], second["page_start"]) == (2, "source", 0.7, 2)
    assert (third["document_id"], third["source"], third["fate"], third["relevance"], third["coverage"]) == (
        ferry.document_id,
        0,
        "not_chosen",
        None,
        None,
    )
    assert third["dropped_because"] == "enough passages ranked before it"


def test_a_models_answer_has_its_prompt_and_the_fate_of_every_claim(monkeypatch: pytest.MonkeyPatch):
    with routes(monkeypatch, CHAT_MODEL="gpt-4o-mini", CHAT_STRUCTURED="false") as api:
        api.publish("uploads/acme/lamp.pdf", LAMP, KEEPER, title="Lamp handbook")
        api.chat.text = f"{SAID} [1] The lens must be cleaned with vinegar every Monday. [1] The moon is a cheese. [7]"
        answer = asked(api)
        assert answer["mode"] == "generated"
        assert answer["dropped_citations"] == 2
        receipt = receipt_of(api, answer)
        prompt = receipt["prompt"]
        digest = prompt.pop("hash")
        assert (len(digest), prompt) == (
            32,
            {
                "version": PROMPT_VERSION,
                "model": "fake-model",
                "finish_reason": "stop",
                "check_model": "",
                "temperature": 0.3,
                "max_output_tokens": 2048,
                "structured": False,
                "reasoning_effort": "",
            },
        )
        shown, *dropped = receipt["claims"]
        assert (shown["text"], shown["shown"], shown["verdict"], shown["sources"]) == (SAID, True, "confirmed", [1])
        assert [(each["shown"], each["verdict"]) for each in dropped] == [(False, "refuted"), (False, "refuted")]
        assert [each["text"] for each in dropped] == [
            "The lens must be cleaned with vinegar every Monday.",
            "The moon is a cheese.",
        ]
        assert "it names a source that does not exist" in dropped[1]["reasons"]
        assert [(each["model"], each["input_tokens"], each["output_tokens"]) for each in receipt["spent"]] == [
            ("all-MiniLM-L6-v2", 1, 0),
            ("fake-model", 10, 5),
        ]


def test_a_refusal_tells_what_came_nearest(api: Routes, ferry: Document):
    answer = asked(api, "Who won the football world cup in 1998?")
    assert (answer["no_relevant_info"], answer["refusal"], answer["handoff_offered"]) == (
        True,
        "not_mentioned",
        True,
    )
    receipt = receipt_of(api, answer)
    assert (receipt["mode"], receipt["refusal"], receipt["claims"], receipt["prompt"]) == (
        "refused",
        "not_mentioned",
        [],
        None,
    )
    assert [(each["fate"], each["dropped_because"], each["source"]) for each in receipt["candidates"]] == [
        ("refused", "no passage was relevant enough to answer from", 0)
    ]
    assert receipt["decision"]["relevant"] is False


def test_a_question_an_unknown_message_and_anothers_answer_have_no_receipt(api: Routes, lamp: Document):
    answer = asked(api)
    question = api.call("GET", f"/conversations/{answer['conversation_id']}")[1]["messages"][0]
    turns = [Message("0" * 25 + "1", "user", "Old?", NOW), Message("0" * 25 + "2", "assistant", "Old.", NOW)]
    bootstrap.services().conversations.save_turns("acme", "ann", "0" * 26, title="Old", turns=turns, is_new=True)
    for message_id in (question["message_id"], "0" * 25 + "2"):
        status, problem = api.call("GET", f"/messages/{message_id}/receipt")
        assert (status, problem["detail"][:27]) == (404, "This message has no receipt")
    for message_id in ("0" * 26, "x"):
        status, problem = api.call("GET", f"/messages/{message_id}/receipt")
        assert (status, problem["detail"]) == (404, "There is no such message.")
    assert api.call("GET", f"/messages/{answer['message_id']}/receipt", user="eve", groups="admin")[0] == 404
    assert api.call("GET", f"/messages/{answer['message_id']}/receipt", tenant="other")[0] == 404


def test_a_document_that_may_no_longer_be_read_is_counted_and_not_named(api: Routes, lamp: Document, ferry: Document):
    answer = asked(api)
    rule = {"access": {"allowed_groups": ["hr"]}}
    assert api.call("PATCH", f"/documents/{ferry.document_id}", rule, groups="admin")[0] == 200
    receipt = receipt_of(api, answer)
    assert [each["document_id"] for each in receipt["candidates"]] == [lamp.document_id] * 2
    assert (receipt["left_out"], receipt["withheld"], receipt["searched"]) == (1, True, None)
    assert [(each["text"], each["verdict"]) for each in receipt["claims"]] == [("", "confirmed")]
    assert (receipt["question"], receipt["hits"]) == (LENS, 3)
    assert api.call("PATCH", f"/documents/{lamp.document_id}", rule, groups="admin")[0] == 200
    status, problem = api.call("GET", f"/messages/{answer['message_id']}/receipt")
    assert (status, problem["detail"][:25]) == (403, "This receipt is not shown")


def test_the_same_documents_give_the_same_answer_again(api: Routes, lamp: Document, ferry: Document):
    answer = asked(api)
    api.clock.advance(60)
    status, replay = api.call("POST", f"/messages/{answer['message_id']}/replay")
    assert (status, replay["identical"], replay["causes"], replay["effects"]) == (200, True, [], [])
    assert replay["answer"] == answer["answer"]
    assert (replay["then"]["message_id"], replay["then"]["asked_at"]) == (answer["message_id"], NOW)
    assert replay["now"]["message_id"] > answer["message_id"]
    assert replay["now"]["asked_at"] == "2026-01-01T00:01:00.000+00:00"
    for name in ("candidates", "claims", "decision", "settings_hash", "question"):
        assert replay["now"][name] == replay["then"][name], name
    assert replay["now"]["conversation_id"] == answer["conversation_id"]
    assert api.call("GET", f"/conversations/{answer['conversation_id']}")[1]["message_count"] == 2


def test_a_replay_says_what_has_changed(api: Routes, lamp: Document, ferry: Document):
    answer = asked(api)
    api.clock.advance(60)
    api.search.matches = [each for each in api.search.matches if each.metadata["document_id"] != lamp.document_id]
    api.publish("uploads/acme/lamp.pdf", LAMP.replace("Thursday", "Friday"), title="Lamp handbook", generation="G2")
    status, replay = api.call("POST", f"/messages/{answer['message_id']}/replay")
    assert (status, replay["identical"]) == (200, False)
    assert [each["kind"] for each in replay["causes"]] == ["documents"]
    assert "Lamp handbook" in replay["causes"][0]["text"]
    assert {each["kind"] for each in replay["effects"]} >= {"claims", "candidates"}
    assert replay["answer"] == f"{SAID.replace('Thursday', 'Friday')} [1]"


def test_a_follow_up_is_replayed_with_its_history(api: Routes, lamp: Document):
    first = asked(api)
    second = asked(api, "And with what?", conversation_id=first["conversation_id"])
    receipt = receipt_of(api, second)
    said = [each["message_id"] for each in api.call("GET", f"/conversations/{first['conversation_id']}")[1]["messages"]]
    assert receipt["history"] == said[:2]
    assert receipt["searched"]["rewritten_by"] == "heuristic"
    replay = api.call("POST", f"/messages/{second['message_id']}/replay")[1]
    assert (replay["identical"], replay["now"]["history"]) == (True, said[:2])
