"""Erasures of users over the API: begun at once, once, and read by those whom they concern."""

from dataclasses import replace

import pytest

from functions.query import bootstrap
from shared.erasures import receipt_of, signed
from shared.models import Message
from tests.support.query_stack import call
from tests.support.routes import FIRST_ID, NOW, Routes


def saved(number: int, user: str = "ann") -> None:
    turns = [Message(f"{number:04}{'0' * 22}", "user", "Q?", NOW)]
    bootstrap.services().conversations.save_turns(
        "acme", user, f"{number:04}{'0' * 20}C0", title="T", turns=turns, is_new=True
    )


def left(user: str = "ann") -> int:
    return len(bootstrap.services().conversations.recent("acme", user, limit=200)[0])


def test_a_user_erases_everything_about_themselves(api: Routes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("functions.query.api.erasures.PAGE", 2)
    for number in range(3):
        saved(number)
    saved(9, "bob")
    status, told, headers = call("DELETE", "/users/me", groups="reader")
    assert (status, told) == (
        202,
        {
            "erasure_id": FIRST_ID,
            "kind": "user",
            "subject": "ann",
            "state": "running",
            "begun_at": NOW,
            "finished_at": "",
            "receipt": None,
        },
    )
    assert headers["location"] == f"/erasures/{FIRST_ID}"
    assert (left(), left("bob")) == (0, 1)
    erasure = bootstrap.services().erasures.get("acme", FIRST_ID)
    assert erasure is not None
    assert (erasure.before, erasure.requested_by, erasure.key, erasure.title) == ({"conversations": 3}, "ann", "", "")
    assert api.call("DELETE", "/users/me")[1]["erasure_id"] == FIRST_ID
    assert api.call("GET", f"/erasures/{FIRST_ID}") == (200, told)


def test_a_request_that_has_no_time_left_leaves_the_rest_to_maintenance(api: Routes):
    saved(1)
    assert api.call("DELETE", "/users/me", remaining_ms=5_500)[0] == 202
    assert left() == 1
    erasure = bootstrap.services().erasures.get("acme", FIRST_ID)
    assert erasure is not None
    assert erasure.before == {}


def test_only_administrators_erase_others_and_no_api_key_does(api: Routes):
    saved(1, "bob")
    assert api.call("DELETE", "/users/bob", groups="editor")[0] == 403
    status, problem = api.call("DELETE", "/users/bob", user="key:1", groups="admin")
    assert (status, problem["detail"]) == (403, "An API key cannot erase users: sign in as an administrator.")
    assert api.call("DELETE", f"/users/{'x' * 129}", groups="admin")[0] == 404
    status, told = api.call("DELETE", "/users/bob", user="root", groups="admin")
    assert (status, told["subject"], left("bob")) == (202, "bob", 0)
    assert api.call("DELETE", f"/users/{'x' * 128}", user="root", groups="admin")[0] == 202


def test_a_receipt_is_shown_to_whom_it_concerns(api: Routes):
    lamp = api.publish("uploads/acme/lamp.pdf", "The lamp.")
    of_user = api.call("DELETE", "/users/bob", user="root", groups="admin")[1]["erasure_id"]
    of_document = api.call("DELETE", f"/documents/{lamp.document_id}", user="eve", params={"verify": "true"})[1][
        "erasure_id"
    ]

    def readers(erasure_id: str) -> set[str]:
        people = (
            ("root", "admin"),
            ("boss", "admin"),
            ("bob", "reader"),
            ("eve", "editor"),
            ("ed", "editor"),
            ("al", ""),
        )
        return {
            user
            for user, groups in people
            if api.call("GET", f"/erasures/{erasure_id}", user=user, groups=groups)[0] == 200
        }

    assert readers(of_user) == {"root", "boss", "bob"}
    assert readers(of_document) == {"root", "boss", "eve", "ed"}
    assert api.call("GET", f"/erasures/{of_user}", tenant="other", groups="admin")[0] == 404
    for unknown in ("0" * 26, "x"):
        assert api.call("GET", f"/erasures/{unknown}", groups="admin")[0] == 404

    erasures = bootstrap.services().erasures
    begun = erasures.get("acme", of_user)
    assert begun is not None
    done = replace(begun, state="erased", finished_at=NOW, rounds=2, found={"messages": 7}, before={"messages": 5})
    receipt = signed(receipt_of(done, re_read_at=NOW, settled_s=60, left={}), b"key")
    erasures.save(replace(done, receipt=receipt))
    shown = api.call("GET", f"/erasures/{of_user}", user="bob")[1]
    assert (shown["state"], shown["finished_at"], shown["receipt"]) == ("erased", NOW, receipt)
    assert shown["receipt"]["stores"] == [{"store": "messages", "before": 7, "after": 0}]
    again = api.call("DELETE", "/users/bob", user="root", groups="admin")[1]
    assert again["erasure_id"] > of_document
