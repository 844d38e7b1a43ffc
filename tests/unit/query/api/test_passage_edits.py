"""Passages over the API: left out, corrected, and what is known of each change."""

from typing import Any
from urllib.parse import quote

import pytest

from functions.query.api import passages
from shared.models import Document, content_hash_of
from tests.support.routes import NOW, Routes

WRONG = "The ferry sails at seven."
RIGHT = "The ferry sails at nine."


@pytest.fixture
def ferry(api: Routes) -> Document:
    return api.publish("uploads/acme/ferry.pdf", "The office is closed.", WRONG, title="Ferry")


def path_of(passage_id: str) -> str:
    return f"/passages/{quote(passage_id, safe='')}"


def edit(api: Routes, passage_id: str, **body: Any) -> dict[str, Any]:
    status, passage = api.call("PATCH", path_of(passage_id), body, user="eve")
    assert status == 200, passage
    return dict(passage)


def queued(api: Routes) -> int:
    return len(api.aws.sqs.receive_message(QueueUrl=api.aws.queue_url, MaxNumberOfMessages=10).get("Messages", []))


def test_a_correction_waits_until_it_is_embedded_and_can_be_undone(api: Routes, ferry: Document):
    passage_id = f"{ferry.document_id}#G1#1"
    edit_id = f"{ferry.document_id}#{content_hash_of(WRONG)}"
    status, original = api.call("GET", path_of(passage_id))
    expected = {
        "passage_id": passage_id,
        "edit_id": edit_id,
        "document_id": ferry.document_id,
        "section": "2 Part",
        "page_start": 2,
        "page_end": 2,
        "page_label": "ii",
        "original": WRONG,
        "text": WRONG,
        "corrected": False,
        "excluded": False,
        "note": "",
        "state": "original",
        "changes": [],
    }
    assert (status, original) == (200, expected)
    corrected = edit(api, passage_id, text=RIGHT, note="New timetable.")
    first = {"by": "eve", "at": "2026-01-01T00:00:00+00:00", "excluded": False, "text": RIGHT, "note": "New timetable."}
    expected |= {
        "text": RIGHT,
        "corrected": True,
        "note": "New timetable.",
        "state": "pending",
        "changes": [first],
    }
    assert corrected == expected
    assert queued(api) == 1
    assert api.call("GET", path_of(edit_id)) == (200, expected)
    assert api.call("GET", f"/documents/{ferry.document_id}/edits") == (200, {"passages": [expected]})

    api.clock.advance(1)
    undone = edit(api, edit_id, text=None)
    second = {"by": "eve", "at": "2026-01-01T00:00:01+00:00", "excluded": False, "text": "", "note": "New timetable."}
    assert undone == {**expected, "text": WRONG, "corrected": False, "state": "original", "changes": [first, second]}


def test_a_passage_that_is_left_out_is_so_at_once(api: Routes, ferry: Document):
    passage_id = f"{ferry.document_id}#G1#0"
    excluded = edit(api, passage_id, excluded=True)
    assert (excluded["excluded"], excluded["state"], excluded["text"]) == (True, "applied", "The office is closed.")
    assert queued(api) == 0
    sources = api.call("POST", "/query", {"question": "Is the office closed?"})[1]["sources"]
    assert passage_id not in [each["chunk_id"] for each in sources]
    api.clock.advance(1)
    again = edit(api, passage_id, excluded=False)
    assert (again["excluded"], again["state"], len(again["changes"])) == (False, "original", 2)
    api.clock.advance(1)
    same = edit(api, passage_id, text="The office is closed.")
    assert (same["corrected"], same["text"]) == (False, "The office is closed.")


def test_only_the_last_changes_are_kept(api: Routes, ferry: Document, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(passages, "MAX_CHANGES", 2)
    for at in range(3):
        api.clock.advance(1)
        told = edit(api, f"{ferry.document_id}#G1#0", note=f"note {at}")
    assert [each["note"] for each in told["changes"]] == ["note 1", "note 2"]
    assert told["note"] == "note 2"


def test_a_document_takes_so_many_edits(api: Routes, ferry: Document, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(passages, "MAX_EDITS", 1)
    edit(api, f"{ferry.document_id}#G1#0", excluded=True)
    status, problem = api.call("PATCH", path_of(f"{ferry.document_id}#G1#1"), {"excluded": True})
    assert (status, problem["detail"][:40]) == (400, "1 passages of this document are edited a")
    api.clock.advance(1)
    assert edit(api, f"{ferry.document_id}#G1#0", excluded=False)["excluded"] is False


def test_passages_of_another_version_or_of_nothing_are_not_found(api: Routes, ferry: Document):
    own = ferry.document_id
    for unknown in (f"{own}#G1#2", f"{own}#G2#0", f"{own}#{'0' * 32}", f"{'0' * 32}#G1#0", "x", f"{own}#G1#12345678"):
        assert api.call("GET", path_of(unknown))[0] == 404, unknown
        assert api.call("PATCH", path_of(unknown), {"note": "x"})[0] == 404, unknown
    edited = edit(api, f"{own}#G1#0", note="Why.")
    api.publish(ferry.key, "Quite another text.", title="Ferry", generation="G2")
    shown = api.call("GET", path_of(edited["edit_id"]))[1]
    assert (shown["state"], shown["passage_id"], shown["original"]) == ("not_applied", "", "The office is closed.")
    assert [each["at"] for each in shown["changes"]] == [NOW.replace(".000", "")]


@pytest.mark.parametrize(
    "body", [{"text": ""}, {"text": "x" * 4_001}, {"note": "x" * 1_001}, {"excluded": "perhaps"}, {"colour": "red"}]
)
def test_what_is_no_edit_is_refused(api: Routes, ferry: Document, body: dict[str, Any]):
    assert api.call("PATCH", path_of(f"{ferry.document_id}#G1#0"), body)[0] == 400
