"""FAQs over the API: written, read, listed, replaced, deleted, exported and imported."""

from typing import Any

import pytest

from functions.query import faqs
from shared.models import document_id_of
from tests.support.query_stack import call, raw_call
from tests.support.routes import FIRST_ID, Routes

PAIR = {"question": "Where?", "answer": "Here.", "language": "en", "department_id": "7", "tags": {"a": ["x", "y"]}}
KEY = f"faq/acme/{FIRST_ID}.json"


def created(api: Routes) -> dict[str, Any]:
    status, faq = api.call("POST", "/faqs", PAIR)
    assert status == 201
    return dict(faq)


def names(api: Routes, **params: str) -> tuple[list[str], str]:
    status, page = api.call("GET", "/faqs", params=params)
    assert status == 200
    return [each["faq_id"] for each in page["faqs"]], page["next_cursor"]


def test_a_new_faq_is_pending_until_its_version_is_ingested(api: Routes):
    status, faq, headers = call("POST", "/faqs", PAIR)
    etag = api.aws.s3.head_object(Bucket=api.aws.bucket, Key=KEY)["ETag"].strip('"')
    expected = {
        **PAIR,
        "faq_id": FIRST_ID,
        "document_id": document_id_of("acme", KEY),
        "etag": etag,
        "status": "PENDING",
        "error": None,
    }
    assert (status, faq) == (201, {**expected, "answered": 0})
    assert headers["etag"] == f'"{etag}"'
    api.publish(KEY, "Where? Here.", etag=etag)
    status, faq, headers = call("GET", f"/faqs/{FIRST_ID}")
    assert (status, faq["status"]) == (200, "PENDING")  # `publish` has put another body
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key=KEY, Body=b"{}")
    current = api.aws.s3.head_object(Bucket=api.aws.bucket, Key=KEY)["ETag"].strip('"')
    status, faq, headers = call("GET", f"/faqs/{FIRST_ID}")
    assert (faq["question"], faq["tags"], faq["etag"], headers["etag"]) == ("", {}, current, f'"{current}"')


def test_what_ingest_says_of_a_version_is_shown_with_that_version(api: Routes):
    published = api.publish("faq/acme/a.json", '{"question": "Q", "answer": "A"}')
    assert api.call("GET", "/faqs/a")[1]["status"] == "READY"
    assert api.call("GET", "/faqs/a")[1]["document_id"] == published.document_id
    assert api.call("GET", "/faqs/b")[0] == 404
    assert api.call("GET", "/faqs/.b")[0] == 404
    assert api.call("GET", "/faqs/a", tenant="other")[0] == 404


def test_a_version_is_replaced_only_by_who_has_read_it(api: Routes):
    faq = created(api)
    path = f"/faqs/{faq['faq_id']}"
    assert api.call("PUT", path, PAIR)[0] == 428
    status, problem = api.call("PUT", path, PAIR, headers={"If-Match": '"a", "b"'})
    assert (status, problem["detail"]) == (400, "If-Match must hold one ETag.")
    status, replaced, headers = call("PUT", path, {**PAIR, "answer": "There."}, headers={"If-Match": faq["etag"]})
    assert (status, replaced["answer"], replaced["status"]) == (200, "There.", "PENDING")
    assert replaced["etag"] != faq["etag"]
    assert headers["etag"] == f'"{replaced["etag"]}"'
    status, again = api.call("PUT", path, PAIR, headers={"If-Match": "*"})
    assert (status, again["etag"]) == (200, faq["etag"])
    assert api.call("PUT", path, {**PAIR, "answer": "W."}, headers={"If-Match": f'W/"{faq["etag"]}"'})[0] == 200
    assert api.call("PUT", "/faqs/none", PAIR, headers={"If-Match": "*"})[0] == 404


def test_a_deleted_faq_is_gone_in_every_version(api: Routes):
    published = api.publish("faq/acme/a.json", '{"question": "Q", "answer": "A"}')
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key="faq/acme/a.json", Body=b'{"question": "Q", "answer": "B"}')
    assert api.call("DELETE", "/faqs/a", headers={"If-Match": '"other"'})[0] == 412
    status, gone = api.call("DELETE", "/faqs/a")
    assert (status, gone) == (
        202,
        {"document_id": published.document_id, "status": "DELETING", "erasure_id": None},
    )
    assert "Versions" not in api.aws.s3.list_object_versions(Bucket=api.aws.bucket, Prefix="faq/")
    assert api.call("GET", f"/documents/{published.document_id}")[1]["status"] == "DELETING"
    assert api.call("DELETE", "/faqs/a")[0] == 404


def test_faqs_are_listed_by_id_and_page_by_page(api: Routes):
    for name in ("b", "a", "d", "c", "e"):
        api.publish(f"faq/acme/{name}.json", '{"question": "Q", "answer": "A"}')
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key="faq/acme/notes.txt", Body=b"x")
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key="faq/acme/sub/x.json", Body=b"{}")
    assert names(api) == (["a", "b", "c", "d", "e"], "")
    assert names(api, limit="5") == (["a", "b", "c", "d", "e"], "")
    assert names(api, limit="2") == (["a", "b"], "b")
    assert names(api, limit="2", cursor="b") == (["c", "d"], "d")
    assert names(api, limit="2", cursor="d") == (["e"], "")
    assert names(api, limit="3", cursor="b") == (["c", "d", "e"], "")
    hidden = document_id_of("acme", "faq/acme/c.json")
    rule = {"access": {"allowed_groups": ["hr"]}}
    assert api.call("PATCH", f"/documents/{hidden}", rule, groups="admin")[0] == 200
    assert names(api, limit="4") == (["a", "b", "d", "e"], "")
    assert api.call("GET", "/faqs/c")[0] == 404
    assert api.call("GET", "/faqs/c", groups="admin")[0] == 200
    (failed,) = imported(api, "id,question,answer\nc,Q?,A.\n")["rows"]
    assert failed["error"] == "You may not read what has this name, or its folder: choose another one."


def test_an_export_can_be_imported_again(api: Routes):
    imported(api, 'id,question,answer\na,=1+1?,A.\nb,"Is it ""so"", then?",A.\n')
    created(api)
    status, text, headers = raw_call("GET", "/faqs/export")
    assert (status, headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert headers["content-disposition"] == 'attachment; filename="faqs.csv"'
    assert "x-next-cursor" not in headers
    header, third, first, second = text.splitlines()
    assert header == "id,question,answer,language,department_id,tags,etag"
    assert first.startswith("a,'=1+1?,A.,,,,")
    assert second.startswith('b,"Is it ""so"", then?",A.,,,,')
    assert third.startswith(f'{FIRST_ID},Where?,Here.,en,7,"{{""a"": [""x"", ""y""]}}",')
    assert imported(api, text) == {
        "created": 0,
        "updated": 0,
        "unchanged": 3,
        "failed": 0,
        "rows": [
            {"row": 2, "faq_id": FIRST_ID, "outcome": "unchanged", "error": ""},
            {"row": 3, "faq_id": "a", "outcome": "unchanged", "error": ""},
            {"row": 4, "faq_id": "b", "outcome": "unchanged", "error": ""},
        ],
    }


def imported(api: Routes, text: str, **more: Any) -> dict[str, Any]:
    status, told = api.call("POST", "/faqs/import", text, headers={"Content-Type": "text/csv"}, **more)
    assert status == 200, told
    return dict(told)


def test_each_row_of_an_import_has_its_own_outcome(api: Routes):
    faq = created(api)
    rows = [
        "id,question,answer,language,department_id,tags,etag",
        f"{FIRST_ID},Where?,There.,en,7,,{faq['etag']}",
        f"{FIRST_ID},Where?,There.,en,7,,",
        "new,Who?,Bo.,,,,",
        ",When?,At 5.,EN,,,",
        ", WHEN? ,At 6.,en,,,",
        "../x,Why?,So.,,,,",
        "t,Why?,So.,,,{,",
        "u,Why?,So.,,,[1],",
        "v,,So.,klingon!,,,",
        ",,,,,,",
        "w,How?,So.,,,,stale",
    ]
    told = imported(api, "\n".join(rows))
    assert [told[name] for name in ("created", "updated", "unchanged", "failed")] == [2, 1, 0, 7]
    assert [(each["row"], each["outcome"]) for each in told["rows"]] == [
        (2, "updated"),
        (3, "failed"),
        (4, "created"),
        (5, "created"),
        (6, "failed"),
        (7, "failed"),
        (8, "failed"),
        (9, "failed"),
        (10, "failed"),
        (12, "failed"),
    ]
    ids = {each["row"]: each["faq_id"] for each in told["rows"]}
    assert ids == {
        2: FIRST_ID,
        3: FIRST_ID,
        4: "new",
        5: ids[6],
        6: faqs.id_of_question("When?", "en"),
        7: "",
        8: "t",
        9: "u",
        10: "v",
        12: "w",
    }
    errors = {each["row"]: each["error"] for each in told["rows"]}
    assert errors[3] == errors[6] == "An earlier row has this id or question already."
    assert errors[7].startswith("id: 1 to 100 letters")
    assert errors[8] == "tags: a JSON object is expected"
    assert errors[9] == "tags: An object is expected."
    assert [part.split(":")[0] for part in errors[10].split("; ")] == ["question", "language"]
    assert errors[12] == "It was changed or deleted since it was exported."
    assert api.call("GET", "/faqs/new")[1]["answer"] == "Bo."


def test_an_import_that_has_no_time_left_says_so_of_each_row(api: Routes):
    (row,) = imported(api, "question,answer\nWho?,Bo.\n", remaining_ms=2_500)["rows"]
    assert row["error"] == "There was no time left for this row: import the file again."


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("question\nWho?\n", "The first row must name the columns"),
        ("question,answer,colour\nWho?,Bo.,red\n", "The first row must name the columns"),
        ("question,answer,answer\nWho?,Bo.,Al.\n", "The first row must name the columns"),
        ('question,answer\n"Who?,Bo.\n', "The file is not readable as CSV at line 2"),
        ("question,answer\n" + "Who?,Bo.\n" * 501, "The file has more than 500 rows"),
        ("question,answer\n" + "x" * 1_999_985, "The file has 2,000,001 bytes; at most 2,000,000 are accepted."),
    ],
)
def test_a_file_that_is_no_import_is_refused_as_a_whole(api: Routes, text: str, wrong: str):
    status, problem = api.call("POST", "/faqs/import", text, headers={"Content-Type": "text/csv"})
    assert (status, problem["detail"][: len(wrong)]) == (400, wrong)


def test_a_new_faq_marks_the_questions_that_it_answers(api: Routes):
    status, faq = api.call("POST", "/faqs", {**PAIR, "answers": ["0" * 26, "0" * 25 + "1", "0" * 26]})
    assert (status, faq["answered"]) == (201, 2)
    marked = api.aws.dynamodb.scan(TableName="conversations")["Items"]
    assert {each["sk"]["S"] for each in marked} == {f"MSG#{'0' * 26}", f"MSG#{'0' * 25}1"}
    assert {each["answered_by"]["S"] for each in marked} == {FIRST_ID}
    assert {int(each["expires_at"]["N"]) for each in marked} == {1_767_225_600 + 400 * 86_400}
