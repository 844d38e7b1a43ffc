"""What differs between two answers, and why, from their receipts alone."""

import random
from copy import deepcopy
from typing import Any

import pytest

from functions.query.replaying import Answered, ReplayComparison, _value, compare
from shared.models import AnswerClaim, Document, DocumentStatus
from shared.receipts import NO_DOCUMENT, documents_of, packed, unpacked, without_documents

ASKED_AT = "2026-11-23T09:14:03.120+00:00"
OLD, NEW = "01KAR0000000000000000000000"[:26], "01M9ZZZZZZZZZZZZZZZZZZZZZZ"
NARROWED, NAMED = "a" * 32, "b" * 32
"""Documents that only the filters name."""
CLAIMS = (AnswerClaim("The bell weighs a ton.", "confirmed", (1,)),)


def candidate(name: str, *, source: int = 0, generation: str = OLD, **more: Any) -> dict[str, Any]:
    values = {
        "passage_id": f"{name}#{generation}#0",
        "document_id": name,
        "text_hash": f"hash of {name}",
        "version_id": f"version of {name}",
        "page_start": 1,
        "page_end": 1,
        "corrected": False,
        "source": source,
        "fate": "source" if source else "not_chosen",
        "score": 1.0,
        "parts": {},
        "rerank": None,
        "similarity": 0.5,
        "relevance": 0.5,
        "coverage": 1.0,
    }
    return {**values, **more}


def receipt(**more: Any) -> dict[str, Any]:
    made = {
        "searched": "How much does the bell weigh?",
        "language": "en",
        "rewritten_by": "",
        "variants": [],
        "filter": {"document_id": NAMED},
        "parts": [],
        "decision": {
            "relevant": True, "relevance": 0.7, "threshold": 0.35, "band": "high", "relaxed": False, "absent": [],
        },
        "candidates": [candidate("bell", source=1), candidate("tower")],
        "hits": 2,
        "duplicates": 0,
        "unpublished": ["crypt#g#1"],
        "unpublished_count": 1,
        "prompt": {"hash": "h", "version": "v", "model": "m"},
        "claims": [
            {"text": "", "shown": True, "verdict": "confirmed", "flags": [], "sources": [1]},
            {"text": "It is of gold.", "shown": False, "verdict": "refuted", "flags": ["words"], "sources": [1]},
        ],
    }  # fmt: skip
    whole = {
        "asked": {"filter": {"document_id": {"$in": [NARROWED, NAMED]}}},
        "history": {"messages": ["M1"], "documents": ["charter"], "summarized": False},
        "version": "1",
        "release": "a",
        "settings": {"top_k": 7, "chat_model": ""},
        "settings_hash": "s",
        "index_version": 1,
        "space": "m@2",
        "made": made,
        "mode": "generated",
        "refusal": None,
        "cached": False,
        "warnings": [],
    }
    changed = deepcopy(whole)
    for name, value in more.items():
        (changed["made"] if name in made else changed)[name] = value  # type: ignore[index]
    return changed


def document(name: str, **more: Any) -> Document:
    values: dict[str, Any] = {"generation": OLD, "version_id": f"version of {name}", **more}
    return Document("acme", name, f"uploads/acme/{name}.pdf", DocumentStatus.READY, **values)


def compared(
    now: dict[str, Any], *documents: Document, claims: Any = CLAIMS, then: dict[str, Any] | None = None
) -> ReplayComparison:
    known = {each.document_id: each for each in (document("bell"), document("tower"), *documents)}
    return compare(
        Answered(then or receipt(), CLAIMS),
        Answered(now, claims),
        asked_at=ASKED_AT,
        readable={name: name.title() for name in known},
        document_of=known.get,
    )


def test_two_equal_receipts_have_no_difference() -> None:
    assert compared(receipt()) == ReplayComparison(True, [], [])


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"release": "b"}, "code", "The code was 1 a and is 1 b."),
        (
            {"settings": {"top_k": 3, "chat_model": "m"}, "settings_hash": "t"},
            "settings",
            "Settings changed: `chat_model` was empty and is m, `top_k` was 7 and is 3.",
        ),
        ({"index_version": 2}, "index", "Index version 1 was searched, and now 2 is."),
        ({"space": "n@3"}, "embedding", "Questions were embedded in m@2, now in n@3."),
        (
            {"variants": [["bells", 0.2]]},
            "question",
            "The question was searched for in other words: by the glossary, or by words of the passages found.",
        ),
        (
            {"searched": "And its weight?", "rewritten_by": "model"},
            "question",
            "The question was searched for in other words: the model rewrote it differently.",
        ),
        (
            {"history": {"messages": [], "documents": [], "summarized": False}},
            "history",
            "Other messages of the conversation were taken into account.",
        ),
        ({"warnings": ["rerank_unavailable"]}, "degraded", "Now, not everything worked: rerank_unavailable."),
        (
            {"cached": True},
            "cache",
            "The index could not be searched, so an earlier answer was given again.",
        ),
        (
            {"prompt": {"hash": "i", "version": "w", "model": "m"}},
            "prompt",
            "The prompt's rules were v and are w.",
        ),
        ({"prompt": {"hash": "h", "version": "v", "model": "n"}}, "model", "The model was m and is n."),
        (
            {"prompt": {"hash": "i", "version": "v", "model": "m"}},
            "prompt",
            "The prompt differs, although it was made from the same sources.",
        ),
    ],
)
def test_each_cause_is_named_though_the_answer_is_the_same(changes: dict[str, Any], kind: str, text: str) -> None:
    found = compared(receipt(**changes))
    assert [(each.kind, each.text) for each in found.causes] == [(kind, text)]
    assert (found.identical, found.effects) == (True, [])


def test_a_summary_that_is_not_kept_is_told() -> None:
    then = receipt(history={"messages": ["M1"], "documents": [], "summarized": True})
    (cause,) = compared(receipt(), then=then).causes
    assert (cause.kind, "summary" in cause.text) == ("history", True)


def test_a_model_that_answers_otherwise_is_named_also_by_a_claim_that_was_dropped() -> None:
    now = receipt()
    now["made"]["claims"][1]["text"] = "It is of lead."
    found = compared(now)
    assert [each.kind for each in found.causes] == ["model"]
    assert found.identical
    other = compared(receipt(), claims=(AnswerClaim("The bell weighs two tons.", "confirmed", (1,)),))
    assert ([each.kind for each in other.causes], [each.kind for each in other.effects]) == (["model"], ["claims"])
    assert not other.identical


@pytest.mark.parametrize(
    ("found", "then", "text"),
    [
        (
            document("bell", generation=NEW, version_id="other"),
            {},
            "“Bell” was replaced by another version of the file.",
        ),
        (document("bell", generation=NEW), {}, "“Bell” was ingested again: with other labels or other settings."),
        (document("bell", generation=""), {}, "“Bell” cannot be searched at present."),
        (
            document("bell", edits={"hash of bell": "excluded"}),
            {},
            "An editor has left out or corrected passages of “Bell”, or undone that.",
        ),
        (
            document("bell", generation=NEW),
            {"corrected": True},
            "An editor has left out or corrected passages of “Bell”, or undone that.",
        ),
    ],
)
def test_what_became_of_a_document_is_told(found: Document, then: dict[str, Any], text: str) -> None:
    before = receipt(candidates=[candidate("bell", source=1, **then), candidate("tower")])
    result = compared(receipt(candidates=[candidate("tower", source=1)]), found, then=before)
    assert [each.text for each in result.causes] == [text]
    assert "sources" in [each.kind for each in result.effects]


def test_a_document_that_is_new_since_is_told_and_one_that_only_moved_up_is_not() -> None:
    then = receipt()
    new = receipt(candidates=[candidate("well", source=1, generation=NEW), *then["made"]["candidates"]])
    result = compared(new, document("well", generation=NEW))
    assert [each.text for each in result.causes] == ["“Well” was uploaded, or ingested again, since."]
    old = receipt(candidates=[candidate("well", source=1), *then["made"]["candidates"]])
    assert [each.kind for each in compared(old, document("well")).causes] == ["unknown"]


def test_the_same_text_in_another_generation_is_the_same_source() -> None:
    now = receipt(candidates=[candidate("bell", source=1, generation=NEW), candidate("tower")])
    result = compared(now, document("bell", generation=NEW))
    assert (result.identical, result.effects) == (True, [])
    moved = receipt(candidates=[candidate("bell", source=1, generation=NEW), candidate("tower")], index_version=2)
    assert [each.kind for each in compared(moved, document("bell", generation=NEW)).causes] == ["index"]


def test_a_document_that_may_not_be_read_is_counted_without_its_name() -> None:
    then = receipt(candidates=[candidate("secret", source=1), candidate("bell")])
    result = compared(receipt(candidates=[candidate("bell", source=1)]), then=then)
    assert [each.text for each in result.causes] == ["A document is gone, or you may no longer read it."]
    assert "secret" not in repr(result).lower()
    then = receipt(candidates=[candidate("secret", source=1), candidate("hidden"), candidate("bell")])
    result = compared(receipt(candidates=[candidate("bell", source=1)]), then=then)
    assert [each.text for each in result.causes] == ["2 documents are gone, or you may no longer read them."]


def test_scores_that_differ_in_the_last_digits_are_the_same() -> None:
    now = receipt(candidates=[candidate("bell", source=1, score=1.0004), candidate("tower", score=1.0)])
    assert compared(now).effects == []
    now = receipt(candidates=[candidate("bell", source=1, score=1.2), candidate("tower", score=1.0)])
    result = compared(now)
    assert (result.identical, [each.text for each in result.effects]) == (
        True,
        ["The candidates' scores differ by up to 0.200."],
    )


def test_a_decision_is_told_with_its_numbers() -> None:
    refused = {"relevant": False, "relevance": 0.2, "threshold": 0.35}
    now = receipt(mode="refused", refusal="no_relevant_info", decision=refused, claims=[], candidates=[], prompt=None)
    result = compared(now, claims=())
    assert result.effects[0].text == (
        "Then: answered (generated), relevance 0.700 with threshold 0.35. "
        "Now: refused (no_relevant_info), relevance 0.200 with threshold 0.35."
    )
    assert [each.kind for each in result.effects] == ["decision", "sources", "claims", "candidates"]


# --- storage and redaction ---


def test_a_packed_receipt_is_read_as_it_was_and_lists_its_documents() -> None:
    stored = packed(receipt())
    assert stored is not None
    assert unpacked(stored.data) == receipt()
    assert list(stored.documents) == documents_of(receipt()) == ["bell", "tower", "crypt", "charter", NARROWED, NAMED]


def test_one_that_is_too_large_is_not_kept() -> None:
    pick = random.Random(1)
    many = [f"{pick.getrandbits(128):032x}" for _ in range(10_000)]
    assert packed({**receipt(), "asked": {"filter": {"document_id": {"$in": many}}}}) is None


@pytest.mark.parametrize("hidden", ["bell", "tower", "crypt", "charter"])
def test_what_is_hidden_leaves_a_number_and_no_word(hidden: str) -> None:
    shown = without_documents(receipt(), {hidden, "unrelated"})
    assert hidden not in documents_of(shown)
    made = shown["made"]
    assert (made["withheld"], made["left_out"]) == (True, 0 if hidden == "charter" else 1)
    assert (made["searched"], made["variants"], made["parts"]) == ("", [], [])
    assert [each["text"] for each in made["claims"]] == ["", ""]


def test_a_filter_names_a_document_that_is_hidden_no_more() -> None:
    shown = without_documents(receipt(), {NAMED})
    assert shown["asked"]["filter"] == {"document_id": {"$in": [NARROWED, NO_DOCUMENT]}}
    assert shown["made"]["filter"] == {"document_id": NO_DOCUMENT}
    assert NAMED not in documents_of(shown)
    assert shown["made"]["claims"] == receipt()["made"]["claims"]


def test_what_is_not_in_a_receipt_changes_nothing() -> None:
    assert without_documents(receipt(), {"unrelated"}) == receipt()
    talk = {**receipt(), "made": None}
    assert without_documents(talk, {"charter"})["history"]["documents"] == []


@pytest.mark.parametrize(("value", "told"), [(None, "empty"), ("", "empty"), (True, "true"), (0, "0"), ("Low", "Low")])
def test_a_setting_is_told_as_the_settings_page_writes_it(value: object, told: str) -> None:
    assert _value(value) == told
