"""FAQs over the real handler: written, ingested, answered from, changed without losing a change, as CSV and back."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from functions.query.faqs import MAX_ROWS, guarded, key_of, unguarded
from tests.support.ingest import Stack
from tests.support.query_stack import call, query_stack, raw_call

PAIR = {"question": "Where do bicycles go at the lighthouse?", "answer": "Bicycles go into the red shed."}
CSV = {"content-type": "text/csv"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("faqs")) as made:
        yield made


def create(**more: Any) -> dict[str, Any]:
    status, body, headers = call("POST", "/faqs", {**PAIR, **more})
    assert status == 201, body
    assert headers["etag"] == f'"{body["etag"]}"'
    return body


def import_rows(text: str, **more: Any) -> dict[str, Any]:
    status, body, _ = call("POST", "/faqs/import", text, headers=CSV, **more)
    assert status == 200, body
    return body


def test_a_new_faq_is_pending_then_ready_and_answered_from_with_its_citation(stack: Stack):
    faq = create(tags={"audience": "visitors"}, language="en")
    assert faq["status"] == "PENDING"
    key = key_of("acme", faq["faq_id"])
    assert stack.deliver(key) == []
    status, body, _ = call("GET", f"/faqs/{faq['faq_id']}", groups="reader")
    assert (status, body["status"], body["answer"], body["tags"]) == (
        200, "READY", PAIR["answer"], {"audience": "visitors"},
    )  # fmt: skip
    _, answer, _ = call("POST", "/query", {"question": PAIR["question"]})
    assert "red shed" in answer["answer"]
    assert (answer["citations"][0]["source_type"], answer["citations"][0]["document_id"]) == (
        "faq",
        body["document_id"],
    )


def test_a_changed_faq_is_pending_again_and_then_answers_otherwise(stack: Stack):
    faq = create(question="What colour is the boathouse of Orsk?", answer="The boathouse of Orsk is blue.")
    key, path = key_of("acme", faq["faq_id"]), f"/faqs/{faq['faq_id']}"
    stack.deliver(key)
    changed = {"question": faq["question"], "answer": "The boathouse of Orsk is yellow."}
    status, body, _ = call("PUT", path, changed, headers={"If-Match": f'"{faq["etag"]}"'})
    assert (status, body["status"]) == (200, "PENDING")
    stack.deliver(key)
    assert call("GET", path)[1]["status"] == "READY"
    assert "yellow" in call("POST", "/query", {"question": faq["question"]})[1]["answer"]


def test_a_lost_update_is_refused(stack: Stack):
    faq = create()
    path = f"/faqs/{faq['faq_id']}"

    def change(answer: str) -> int:
        return call("PUT", path, {**PAIR, "answer": answer}, headers={"If-Match": f'"{faq["etag"]}"'})[0]

    assert change("In the yard.") == 200
    assert change("In the street.") == 412
    assert call("GET", path)[1]["answer"] == "In the yard."
    status, body, _ = call("PUT", path, {**PAIR, "answer": "In the street."})
    assert (status, body["code"]) == (428, "version_needed")
    assert call("PUT", path, {**PAIR, "answer": "Anywhere."}, headers={"If-Match": "*"})[0] == 200
    assert call("DELETE", path, headers={"If-Match": f'"{faq["etag"]}"'})[0] == 412


def test_a_deleted_faq_is_gone_at_once_also_before_its_ingest(stack: Stack):
    faq = create(question="Who feeds the gulls of Orsk?", answer="Old Marta feeds the gulls of Orsk.")
    path = f"/faqs/{faq['faq_id']}"
    status, body, _ = call("DELETE", path)
    assert (status, body["status"]) == (202, "DELETING")
    assert call("GET", path)[0] == 404
    assert call("DELETE", path)[0] == 404
    assert call("PUT", path, PAIR, headers={"If-Match": "*"})[0] == 404


def test_faqs_are_listed_page_by_page_and_other_tenants_have_none(stack: Stack):
    made = {create()["faq_id"] for _ in range(3)}
    stack.put("faq/acme/in a folder/odd name.json", json.dumps(PAIR).encode())
    seen: list[str] = []
    cursor = ""
    while True:
        _, page, _ = call("GET", "/faqs", params={"limit": "2", "cursor": cursor}, groups="reader")
        seen += [faq["faq_id"] for faq in page["faqs"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert made <= set(seen)
    assert len(seen) == len(set(seen))
    assert call("GET", "/faqs", tenant="other")[1]["faqs"] == []
    assert call("GET", f"/faqs/{seen[0]}", tenant="other")[0] == 404
    assert call("PUT", f"/faqs/{seen[0]}", PAIR, tenant="other", headers={"If-Match": "*"})[0] == 404
    assert call("DELETE", f"/faqs/{seen[0]}", tenant="other")[0] == 404


@pytest.mark.parametrize("groups", ["reader", "agent"])
def test_only_editors_write(stack: Stack, groups: str):
    assert call("POST", "/faqs", PAIR, groups=groups)[0] == 403
    assert call("POST", "/faqs/import", "question,answer\na,b\n", headers=CSV, groups=groups)[0] == 403


@pytest.mark.parametrize("faq_id", ["..", "a%2Fb", "-a", "a" * 101, "%C3%A4"])
def test_an_impossible_id_is_not_found(stack: Stack, faq_id: str):
    assert call("GET", f"/faqs/{faq_id}")[0] == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"question": ""},
        {"answer": " "},
        {"question": "x" * 1_001},
        {"answer": "x" * 8_001},
        {"language": "no language"},
        {"tags": {"a": 1}},
        {"colour": "red"},
    ],
)
def test_a_wrong_field_is_a_400(stack: Stack, wrong: dict[str, Any]):
    status, body, _ = call("POST", "/faqs", {**PAIR, **wrong})
    assert (status, body["code"]) == (400, "invalid_request")


# --- CSV ---


def test_a_file_is_imported_row_by_row_and_importing_it_again_changes_nothing(stack: Stack):
    text = (
        "\ufeffquestion;answer;language;tags\r\n"
        'When is the shop open?;"Daily, from 9; not on holidays.";en;"{""kind"": ""shop""}"\r\n'
        ";No question;;\r\n"
        "Is there a lift?;Yes.;not a tag;\r\n"
        ";;;\r\n"
        "Is there a café?;Yes, upstairs.;;[]\r\n"
        "When is the  SHOP open?;Twice.;en;\r\n"
    )
    first = import_rows(text, tenant="csv")
    assert {name: first[name] for name in ("created", "updated", "unchanged", "failed")} == {
        "created": 1, "updated": 0, "unchanged": 0, "failed": 4,
    }  # fmt: skip
    assert [row["row"] for row in first["rows"]] == [2, 3, 4, 6, 7]
    assert [row["error"].split(":")[0] for row in first["rows"]] == [
        "", "question", "language", "tags", "An earlier row has this id or question already.",
    ]  # fmt: skip
    assert import_rows(text, tenant="csv")["unchanged"] == 1
    (faq,) = call("GET", "/faqs", tenant="csv")[1]["faqs"]
    assert (faq["answer"], faq["tags"]) == ("Daily, from 9; not on holidays.", {"kind": "shop"})


def test_an_export_is_safe_in_a_spreadsheet_and_comes_back_whole(stack: Stack):
    answers = ["=HYPERLINK(1)", "+49 30", "-1 degree", "@home", "'=guarded", 'plain, with\nlines and "quotes"']
    for number, answer in enumerate(answers):
        call("POST", "/faqs", {"question": f"Question {number}?", "answer": answer}, tenant="sheet")
    status, text, headers = raw_call("GET", "/faqs/export", tenant="sheet", groups="reader")
    assert (status, headers["content-type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert not [cell for row in rows for cell in row.values() if cell[:1] in "=+-@\t\r" and cell]
    assert import_rows(text, tenant="sheet")["unchanged"] == len(answers)
    edited = text.replace("'+49 30", "+49 31")
    assert import_rows(edited, tenant="sheet")["updated"] == 1
    again = import_rows(edited.replace("+49 31", "+49 32"), tenant="sheet")
    assert [row["error"] for row in again["rows"] if row["outcome"] == "failed"] == [
        "It was changed or deleted since it was exported."
    ]
    found = {faq["answer"] for faq in call("GET", "/faqs", tenant="sheet")[1]["faqs"]}
    assert found == {*answers, "+49 31"} - {"+49 30"}


@pytest.mark.parametrize("cell", ["", "a", "=1", "'=1", "''=1", "'a", "'", "\t1", "＝1", "- x", "'- x"])
def test_a_guarded_cell_is_unguarded_to_what_it_was(cell: str):
    assert unguarded(guarded(cell)) == cell


@pytest.mark.parametrize(
    "text",
    [
        "",
        "question\nx\n",
        "question,answer,colour\nx,y,z\n",
        "question,answer,answer\nx,y,z\n",
        'question,answer\n"x,y\n',
        "question,answer\n" + "x,y\n" * (MAX_ROWS + 1),
    ],
    ids=["empty", "no answer", "unknown column", "column twice", "open quotation", "too many rows"],
)
def test_a_file_that_cannot_be_read_is_a_400(stack: Stack, text: str):
    status, body, _ = call("POST", "/faqs/import", text, headers=CSV)
    assert (status, body["code"]) == (400, "invalid_request")
